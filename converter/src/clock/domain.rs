//! Processes that read one hardware clock, and what is known of it.

pub(crate) mod extent;
pub(crate) mod lifetime;
pub(crate) mod map;
pub(crate) mod rate;
pub(crate) mod resolution;
pub(crate) mod step_ticks;
pub(crate) mod timestamp_map;

use std::collections::BTreeMap;

use super::units::{NANOS, NANOS_PER_SECOND};
use crate::run::Process;
use crate::run::Run;
use map::{ClockMap, Knot};
use step_ticks::{Region, Sets};
use timestamp_map::Leap;

/// A hardware clock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Domain {
    /// Its name in the files; the file's name when it has none.
    pub name: String,
    /// Kind of clock.
    pub kind: &'static str,
    /// Ticks per second.
    pub hz: u64,
    /// What it can tell apart, nanoseconds: a tick, or several, where it only shows multiples of so many.
    pub granularity_nanos: f64,
    /// Processes that read it.
    pub processes: usize,
    /// How it was brought to the time line.
    pub status: Status,
    /// Bursts that say where it is.
    pub bursts: usize,
    /// What its clock showed more than the reference's at the first burst, nanoseconds.
    pub offset_nanos: f64,
    /// How much faster than the reference it ran, from the first burst to the last, in millionths.
    pub drift_ppm: f64,
    /// What the fit leaves, nanoseconds: half of the fastest messages are nearer to what the model says; with samples alone, half of the faster
    /// exchanges (before a conversion has judged them, the root mean square over the pairs' offsets),
    pub residual_nanos: f64,
    /// and 95 % are nearer than this.
    pub residual_p95_nanos: f64,
    /// Largest departure of the clock from a straight line, nanoseconds.
    pub departure_nanos: f64,
    /// That departure over the run: dates, and nanoseconds that the clock was ahead of the line.
    pub curve: Vec<(i64, f64)>,
    /// How wide the corridor is in which a line for it could lie, between the fastest messages to and fro, nanoseconds.
    pub corridor_nanos: f64,
    /// How far its dates can be off, by causality alone, nanoseconds; `None` when that does not bound them.
    pub certified_nanos: Option<f64>,
    /// Ordered pairs of domains, this one among them, whose messages or samples were used.
    pub edges: usize,
    /// Pairs on the way to the reference.
    pub hops: usize,
    /// Messages to and from it.
    pub messages: u64,
    /// How often it began again at 0, as a counter of 32 bits; its recorders have unwrapped it.
    pub clock_wraps: u64,
    /// It stood for several processes, whose clocks turned out to differ.
    pub was_split: bool,
    /// Nothing says how fast it runs: a tick is taken for a nanosecond.
    pub rate_is_unknown: bool,
    /// What it drifts over the run is more than what the clocks cannot tell apart.
    pub(crate) drift_shows: bool,
    /// Where it was set: date on the run's time line, and by how much forward, nanoseconds.
    pub sets: Vec<(i64, i64)>,
    /// The map.
    pub map: ClockMap,
    /// Samples that its processes took with processes that are not in the run.
    pub(crate) absent_samples: u64,
    /// What it was set by as its own processes tell; the map knows.
    pub(crate) told_sets: Sets,
    /// Within which bounds it runs faster than `hz` says, as its readings beside the system's clock tell.
    pub(crate) rates: Option<(f64, f64)>,
    /// What its bursts say, where there are some: the map goes through these before dates are counted from the start of the run.
    pub(crate) knots: Vec<Knot>,
    /// Where messages told that it was set back: the line leaps.
    pub(crate) leaps: Vec<Leap>,
}

/// Where the dates of a domain come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// All others follow it.
    Reference,
    /// Sync samples at two bursts or more: offset and drift.
    Bursts,
    /// Sync samples of one burst: offset only.
    OneBurst,
    /// Messages, to and fro.
    Messages,
    /// Sync samples and messages.
    BurstsAndMessages,
    /// Messages in one direction only, somewhere on the way to the reference: no message is reversed, but all may have taken
    /// longer than it seems.
    OneWay,
    /// Readings of the real-time clock: good to milliseconds at best.
    RealTime,
    /// Nothing relates it to the reference.
    Isolated,
    /// Correction was switched off.
    Off,
}

impl Status {
    /// As users read it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Bursts => "bursts",
            Self::OneBurst => "start only",
            Self::Messages => "messages",
            Self::BurstsAndMessages => "bursts+messages",
            Self::OneWay => "one-way",
            Self::RealTime => "real-time clock",
            Self::Isolated => "isolated",
            Self::Off => "not corrected",
        }
    }
}

impl Domain {
    /// From one of its ticks to another, nanoseconds at the rate that it says it has.
    pub(crate) fn nanos_between(&self, from: u64, to: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "within a run far below 2^53")]
        let ticks = (i128::from(to) - i128::from(from)) as f64;
        ticks / self.hz.max(1) as f64 * NANOS_PER_SECOND
    }

    /// Dates what its processes told that the clock was set by.
    pub(crate) fn date_sets(&mut self) {
        let mut before = 0;
        let set = |region: &Region| {
            let by = i128::from(before) - i128::from(region.more);
            before = region.more;
            let nanos = by * i128::from(NANOS) / i128::from(self.hz.max(1));
            (self.map.global_from_ticks(region.ticks), i64::try_from(nanos).unwrap_or(i64::MAX))
        };
        self.sets = self.told_sets.regions().iter().map(set).collect();
    }
}

/// Groups processes by the clock that they read.
pub(crate) fn domains_of(run: &Run) -> (Vec<Domain>, Vec<usize>) {
    let mut numbers = BTreeMap::new();
    let mut domains: Vec<Domain> = Vec::new();
    let mut domain_of = Vec::new();
    for process in &run.processes {
        let kind = process.clock_kind.map_or("unknown clock", |kind| kind.name());
        let name = if process.clock_domain.is_empty() {
            process.path.display().to_string()
        } else {
            process.clock_domain.clone()
        };
        let number = *numbers.entry((name.clone(), kind)).or_insert_with(|| {
            domains.push(Domain {
                name,
                kind,
                hz: 0,
                granularity_nanos: 0.0,
                processes: 0,
                status: Status::Isolated,
                bursts: 0,
                offset_nanos: 0.0,
                drift_ppm: 0.0,
                residual_nanos: 0.0,
                residual_p95_nanos: 0.0,
                departure_nanos: 0.0,
                curve: Vec::new(),
                corridor_nanos: 0.0,
                certified_nanos: None,
                edges: 0,
                hops: 0,
                messages: 0,
                clock_wraps: 0,
                was_split: false,
                rate_is_unknown: false,
                drift_shows: false,
                sets: Vec::new(),
                map: ClockMap::linear(1_000_000_000),
                absent_samples: 0,
                told_sets: Sets::default(),
                rates: None,
                knots: Vec::new(),
                leaps: Vec::new(),
            });
            domains.len() - 1
        });
        let domain = &mut domains[number];
        domain.processes += 1;
        domain.clock_wraps = domain.clock_wraps.max(process.clock_wraps);
        if domain.hz == 0 {
            domain.hz = process.clock_hz;
        }
        domain_of.push(number);
    }
    let mut members: Vec<Vec<&Process>> = vec![Vec::new(); domains.len()];
    run.processes.iter().zip(&domain_of).for_each(|(process, domain)| members[*domain].push(process));
    for (number, (domain, members)) in domains.iter_mut().zip(members).enumerate() {
        if domain.hz == 0 {
            let anchors = members.iter().flat_map(|process| &process.anchors);
            let rate = rate::from_anchors(anchors);
            domain.rate_is_unknown = rate.is_none();
            domain.hz = rate.unwrap_or(1_000_000_000);
        }
        #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
        {
            domain.granularity_nanos = resolution::of(&members, domain.hz) as f64 * 1e9 / domain.hz as f64;
        }
        domain.map = ClockMap::linear(domain.hz);
        if number == 0 {
            domain.status = Status::Reference;
        }
    }
    (domains, domain_of)
}
