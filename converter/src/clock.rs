//! From the clocks of the processes to one time line.
//!
//! Processes that read one hardware clock form a *domain*, which has one rate and one map. The reference domain is that of
//! the first process (the lowest rank). Exchanges of messages between domains (*sync samples*) give the offsets of the
//! others; where there are none, the readings of the real-time clock do.

mod bursts;
mod map;
mod solve;

pub use map::ClockMap;

use std::collections::BTreeMap;

use crate::input::Process;
use crate::run::Run;
use bursts::Burst;
use map::Knot;

/// How clocks are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Not at all: each date is what its process's clock said.
    None,
    /// By the sync samples: offsets at each burst, linear between bursts.
    #[default]
    Bursts,
}

/// The clock model of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Clocks {
    /// The domains; the reference is the first.
    pub domains: Vec<Domain>,
    /// The domain of each process.
    pub domain_of: Vec<usize>,
    /// What a user should know about the correction: one sentence each.
    pub remarks: Vec<String>,
}

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
    /// Root mean square of what the fit leaves of the pairs' offsets, nanoseconds.
    pub residual_nanos: f64,
    /// The map.
    pub map: ClockMap,
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
            Self::OneBurst => "one burst",
            Self::RealTime => "real-time clock",
            Self::Isolated => "isolated",
            Self::Off => "not corrected",
        }
    }
}

const NANOS_PER_SECOND: f64 = 1e9;

impl Clocks {
    /// The model of a run; dates are not yet counted from its start (see [`Clocks::start_at`]).
    #[must_use]
    pub fn new(run: &Run, method: Method) -> Self {
        let (mut domains, domain_of) = domains_of(run);
        let mut remarks = Vec::new();
        let anchors: Vec<Option<(u64, u64)>> = first_anchors(run, &domain_of, domains.len());
        if method == Method::Bursts && domains.len() > 1 {
            let bursts = bursts::collect(run, &domain_of, domains.len());
            correct(&mut domains, &bursts, &anchors, &mut remarks);
        } else if method == Method::None && domains.len() > 1 {
            domains.iter_mut().for_each(|domain| domain.status = Status::Off);
            remarks.push(format!("clocks are not corrected: dates of {} clocks are as each clock says", domains.len()));
        }
        Self { domains, domain_of, remarks }
    }

    /// The map of a process's clock.
    #[must_use]
    pub fn map(&self, process: usize) -> &ClockMap {
        &self.domains[self.domain_of[process]].map
    }

    /// Counts all dates from this one on, in nanoseconds of the model before.
    pub fn start_at(&mut self, nanos: i64) {
        for domain in &mut self.domains {
            domain.map.shift(-i128::from(nanos));
        }
    }
}

/// Groups processes by the clock that they read.
fn domains_of(run: &Run) -> (Vec<Domain>, Vec<usize>) {
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
                processes: 0,
                status: Status::Isolated,
                bursts: 0,
                offset_nanos: 0.0,
                drift_ppm: 0.0,
                residual_nanos: 0.0,
                map: ClockMap::linear(1_000_000_000),
            });
            domains.len() - 1
        });
        let domain = &mut domains[number];
        domain.processes += 1;
        if domain.hz == 0 {
            domain.hz = process.clock_hz;
        }
        domain_of.push(number);
    }
    for (number, domain) in domains.iter_mut().enumerate() {
        if domain.hz == 0 {
            let members =
                run.processes.iter().zip(&domain_of).filter(|(_, of)| **of == number).map(|(process, _)| process);
            domain.hz = rate_from_anchors(members).unwrap_or(1_000_000_000);
        }
        domain.map = ClockMap::linear(domain.hz);
        if number == 0 {
            domain.status = Status::Reference;
        }
    }
    (domains, domain_of)
}

/// Ticks per second, from the first and the last anchor of a domain.
fn rate_from_anchors<'p>(processes: impl Iterator<Item = &'p Process>) -> Option<u64> {
    let anchors = processes.flat_map(|process| &process.anchors);
    let (mut first, mut last) = (None, None);
    for anchor in anchors {
        let point = (anchor.ticks, anchor.monotonic_nanos);
        first = Some(first.map_or(point, |first: (u64, u64)| first.min(point)));
        last = Some(last.map_or(point, |last: (u64, u64)| last.max(point)));
    }
    let ((t0, n0), (t1, n1)) = (first?, last?);
    let nanos = u128::from(n1.checked_sub(n0).filter(|nanos| *nanos > 0)?);
    u64::try_from(u128::from(t1 - t0) * 1_000_000_000 / nanos).ok().filter(|hz| *hz > 0)
}

/// The first reading of the real-time clock in each domain: ticks and nanoseconds.
fn first_anchors(run: &Run, domain_of: &[usize], domains: usize) -> Vec<Option<(u64, u64)>> {
    let mut first: Vec<Option<(u64, u64)>> = vec![None; domains];
    for (process, &domain) in run.processes.iter().zip(domain_of) {
        for anchor in &process.anchors {
            let point = (anchor.ticks, anchor.real_nanos);
            first[domain] = Some(first[domain].map_or(point, |before| before.min(point)));
        }
    }
    first
}

/// Gives each domain but the reference its knots.
fn correct(domains: &mut [Domain], bursts: &[Burst], anchors: &[Option<(u64, u64)>], remarks: &mut Vec<String>) {
    let fit = bursts::fit(domains, bursts);
    let (reference, others) = domains.split_at_mut(1);
    let reference = &reference[0];
    for (number, domain) in others.iter_mut().enumerate() {
        let number = number + 1;
        let offsets = &fit.offsets[number];
        if offsets.is_empty() {
            by_real_time(reference, domain, anchors[0], anchors[number]);
            remarks.push(match domain.status {
                Status::RealTime => format!(
                    "clock `{}` has no sync samples: its dates come from the real-time clock and may be off by milliseconds",
                    domain.name
                ),
                _ => format!("nothing relates clock `{}` to the others: its dates are as it says", domain.name),
            });
            continue;
        }
        let knots: Vec<Knot> = offsets.iter().map(|offset| fit.knot(number, offset)).collect();
        domain.map = ClockMap::through(domain.hz, &knots);
        domain.bursts = knots.len();
        domain.status = if knots.len() > 1 { Status::Bursts } else { Status::OneBurst };
        domain.residual_nanos = fit.residuals[number];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        domain.offset_nanos = fit.absolute_offset(number, &first);
        if last.local > first.local {
            domain.drift_ppm = (last.offset - first.offset) / (last.local - first.local) * 1e6;
        }
        if domain.drift_ppm.abs() > 500.0 {
            remarks.push(format!(
                "clock `{}` runs {:+.0} ppm against the reference, more than real clocks do: its bursts are too close together or its clock was set",
                domain.name, domain.drift_ppm
            ));
        }
    }
}

fn by_real_time(reference: &Domain, domain: &mut Domain, ours: Option<(u64, u64)>, theirs: Option<(u64, u64)>) {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
    let there = i128::from(theirs.1) - i128::from(ours.1) + i128::from(reference.map.global_from_ticks(ours.0));
    let here = i128::from(domain.map.global_from_ticks(theirs.0));
    domain.map.shift(there - here);
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    {
        domain.offset_nanos = (here - there) as f64;
    }
    domain.status = Status::RealTime;
}
