//! Clock domains: groups of processes that read one hardware clock, and the properties of each
//! clock.

pub(crate) mod lifetime;
pub(crate) mod rate;
pub(crate) mod resolution;
pub(crate) mod step_ticks;
pub(crate) mod stream_extent;
pub(crate) mod tick_map;
pub(crate) mod timestamp_map;

use std::collections::BTreeMap;

use super::limits::RateBounds;
use super::time_constants::{NANOS, NANOS_PER_SECOND};
use crate::run::OpenRun;
use crate::run::ProcessInRun;
use step_ticks::{StepFreeTicks, StepRegion};
use tick_map::{ClockMap, MapKnot};
use timestamp_map::LineLeap;

/// A hardware clock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClockDomain {
    /// The name in the files. If they give none, the name of the file.
    pub name: String,
    /// Kind of clock.
    pub kind: &'static str,
    /// Ticks per second.
    pub hz: u64,
    /// The resolution of the clock in nanoseconds: one tick, or several if it shows only multiples.
    pub resolution_nanos: f64,
    /// Number of processes that read the clock.
    pub processes: usize,
    /// The source of the correction.
    pub status: TimestampSource,
    /// Number of bursts that measure the offset.
    pub bursts: usize,
    /// Offset from the reference clock at the first burst, in nanoseconds. Positive if this clock
    /// shows a later time.
    pub offset_nanos: f64,
    /// Drift against the reference from the first burst to the last, in parts per million.
    pub drift_ppm: f64,
    /// Median residual of the fit in nanoseconds, over the fastest messages. With samples alone,
    /// over the faster half of the exchanges. Before a conversion, the root mean square over the
    /// offsets of pairs.
    pub residual_nanos: f64,
    /// The 95th percentile of the same residuals, in nanoseconds.
    pub residual_p95_nanos: f64,
    /// Largest deviation of the clock from a straight line, nanoseconds.
    pub deviation_nanos: f64,
    /// The deviation from a straight line over the run.
    pub deviations: Vec<ClockDeviation>,
    /// Width of the corridor in which the line of the clock can lie, between the fastest messages
    /// in both directions. In nanoseconds.
    pub corridor_nanos: f64,
    /// Bound on the timestamp error by causality alone, in nanoseconds. `None` if causality does
    /// not bound the error.
    pub error_bound_nanos: Option<f64>,
    /// Ordered pairs of domains that include this one and have used messages or samples.
    pub edges: usize,
    /// Number of pairs on the path to the reference.
    pub hops: usize,
    /// Number of messages to and from this domain.
    pub messages: u64,
    /// How often a 32-bit counter began again at 0. The recorders have unwrapped it.
    pub clock_wraps: u64,
    /// The domain was split into one domain per process, because the clocks of the processes
    /// differ.
    pub was_split: bool,
    /// The rate of the clock is unknown. A tick is taken for a nanosecond.
    pub rate_is_unknown: bool,
    /// The drift over the run exceeds the resolution of the clocks.
    pub(crate) drift_shows: bool,
    /// The steps of the clock, in order of time.
    pub clock_steps: Vec<TimelineStep>,
    /// The map from ticks to timestamps.
    pub map: ClockMap,
    /// Number of samples that involve a process that is not in the run.
    pub(crate) absent_samples: u64,
    /// The clock steps that the domain's own processes recorded. The map includes them.
    pub(crate) observed_steps: StepFreeTicks,
    /// Bounds on the rate error relative to `hz`, from readings of the clock together with the
    /// system's clock.
    pub(crate) rates: Option<RateBounds>,
    /// The points of ticks and time that the bursts give, if there are any. The map connects them
    /// by lines. Their times do not count from the start of the run yet.
    pub(crate) knots: Vec<MapKnot>,
    /// Forward leaps of `map`. Each follows a backward step of the clock that messages show.
    pub(crate) leaps: Vec<LineLeap>,
}

/// The deviation of a clock from a straight line at a timestamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockDeviation {
    /// The timestamp on the run's time line, nanoseconds.
    pub timestamp: i64,
    /// The nanoseconds by which the clock is ahead of the line.
    pub nanos: f64,
}

/// A clock step on the run's time line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimelineStep {
    /// The timestamp of the step, nanoseconds.
    pub timestamp: i64,
    /// The size of the step, nanoseconds. Positive if it is forward.
    pub size: i64,
}

/// Sources of a domain's correction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimestampSource {
    /// The reference clock. All other clocks are corrected to it.
    Reference,
    /// Sync samples of at least two bursts. They give offset and drift.
    Bursts,
    /// Sync samples of one burst. They give the offset only.
    OneBurst,
    /// Messages in both directions.
    Messages,
    /// Sync samples and messages.
    BurstsAndMessages,
    /// Messages in one direction only, for at least one pair on the path to the reference. No
    /// message is reversed, but the latency of the messages is unknown.
    OneWay,
    /// Readings of the real-time clock, with errors of at least milliseconds.
    RealTime,
    /// No data relates the clock to the reference.
    Isolated,
    /// Correction was switched off.
    Off,
}

impl TimestampSource {
    /// The name in reports.
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

impl ClockDomain {
    /// A domain without processes. Its rate is not known yet.
    fn new(name: String, kind: &'static str) -> Self {
        Self {
            name,
            kind,
            hz: 0,
            resolution_nanos: 0.0,
            processes: 0,
            status: TimestampSource::Isolated,
            bursts: 0,
            offset_nanos: 0.0,
            drift_ppm: 0.0,
            residual_nanos: 0.0,
            residual_p95_nanos: 0.0,
            deviation_nanos: 0.0,
            deviations: Vec::new(),
            corridor_nanos: 0.0,
            error_bound_nanos: None,
            edges: 0,
            hops: 0,
            messages: 0,
            clock_wraps: 0,
            was_split: false,
            rate_is_unknown: false,
            drift_shows: false,
            clock_steps: Vec::new(),
            map: ClockMap::linear(1_000_000_000),
            absent_samples: 0,
            observed_steps: StepFreeTicks::default(),
            rates: None,
            knots: Vec::new(),
            leaps: Vec::new(),
        }
    }

    /// Computes the rate, if the files do not give it, the resolution and the map of the clock.
    fn set_rate(&mut self, members: &[&ProcessInRun]) {
        if self.hz == 0 {
            let rate = rate::from_anchors(members.iter().flat_map(|process| &process.anchors));
            self.rate_is_unknown = rate.is_none();
            self.hz = rate.unwrap_or(1_000_000_000);
        }
        #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53")]
        {
            self.resolution_nanos = resolution::of(members, self.hz) as f64 * 1e9 / self.hz as f64;
        }
        self.map = ClockMap::linear(self.hz);
    }

    /// Nanoseconds between two ticks of the domain, by its nominal rate.
    pub(crate) fn nanos_between(&self, from: u64, to: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
        let ticks = (i128::from(to) - i128::from(from)) as f64;
        ticks / self.hz.max(1) as f64 * NANOS_PER_SECOND
    }

    /// Computes the timestamps and sizes of the recorded clock steps.
    pub(crate) fn set_steps(&mut self) {
        let mut before = 0;
        let step = |region: &StepRegion| {
            let ticks = i128::from(before) - i128::from(region.correction);
            before = region.correction;
            let nanos = ticks * i128::from(NANOS) / i128::from(self.hz.max(1));
            TimelineStep {
                timestamp: self.map.global_from_ticks(region.ticks),
                size: i64::try_from(nanos).unwrap_or(i64::MAX),
            }
        };
        self.clock_steps = self.observed_steps.regions().iter().map(step).collect();
    }
}

/// The processes of a run, grouped by the clock that they read.
pub(crate) struct ProcessDomains {
    pub(crate) domains: Vec<ClockDomain>,
    pub(crate) domain_of: Vec<usize>,
}

/// Groups processes by the clock that they read.
pub(crate) fn domains_of(run: &OpenRun) -> ProcessDomains {
    let mut numbers = BTreeMap::new();
    let mut domains: Vec<ClockDomain> = Vec::new();
    let mut domain_of = Vec::new();
    for process in &run.processes {
        let kind = process.clock_kind.map_or("unknown clock", |kind| kind.name());
        let name = if process.clock_domain.is_empty() {
            process.path.display().to_string()
        } else {
            process.clock_domain.clone()
        };
        let number = *numbers.entry((name.clone(), kind)).or_insert_with(|| {
            domains.push(ClockDomain::new(name, kind));
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
    let mut members: Vec<Vec<&ProcessInRun>> = vec![Vec::new(); domains.len()];
    run.processes.iter().zip(&domain_of).for_each(|(process, domain)| members[*domain].push(process));
    for (number, (domain, members)) in domains.iter_mut().zip(members).enumerate() {
        domain.set_rate(&members);
        if number == 0 {
            domain.status = TimestampSource::Reference;
        }
    }
    ProcessDomains { domains, domain_of }
}
