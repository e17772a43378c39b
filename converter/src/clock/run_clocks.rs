//! The clock model of a run.

use super::clock_diagnostics::step_errors;
use super::domain::step_ticks;
use super::domain::tick_map::ClockMap;
use super::domain::timestamp_map::LineLeap;
use super::domain::{ClockDomain, TimestampSource};
use tumit_paje::TraceDiagnostic;

/// How clocks are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CorrectionMethod {
    /// No correction: timestamps are those of the clock of each process.
    None,
    /// By the sync samples: offsets at each burst, linear between bursts.
    Bursts,
    /// By sync samples and messages, over the graph of all processes that exchange them.
    #[default]
    Graph,
}

/// The clock model of a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunClocks {
    /// The domains; the reference is the first.
    pub domains: Vec<ClockDomain>,
    /// The domain of each process.
    pub domain_of: Vec<usize>,
    /// Warnings and notes about the correction.
    pub diagnostics: Vec<TraceDiagnostic>,
    /// Errors in the clock data of processes, and their treatment.
    pub(crate) data_errors: Vec<TraceDiagnostic>,
    /// The fitted wander of the clocks: the standard deviation of the change of a clock's rate over
    /// one second. The rate is a random walk.
    pub wander: Option<f64>,
}

impl RunClocks {
    /// Whether samples or messages determine all clocks. If not, the converter has warned that
    /// timestamps are approximate.
    pub(crate) fn claim_all(&self) -> bool {
        let is_good = |status| {
            matches!(
                status,
                TimestampSource::Reference
                    | TimestampSource::Bursts
                    | TimestampSource::Messages
                    | TimestampSource::BurstsAndMessages
            )
        };
        self.domains.len() > 1 && self.domains.iter().all(|domain| is_good(domain.status))
    }

    /// The resolution of the clock with the lowest resolution, in nanoseconds.
    pub(crate) fn granularity(&self) -> f64 {
        self.domains.iter().map(|domain| domain.resolution_nanos).fold(0.0, f64::max)
    }

    /// Errors of the clocks and samples of the run, and their treatment.
    #[must_use]
    pub fn errors(&self) -> Vec<TraceDiagnostic> {
        self.data_errors.iter().cloned().chain(step_errors(&self.domains)).collect()
    }

    /// The forward leaps of the timestamps of a domain, in order of time.
    pub(crate) fn leaps(&self, domain: usize) -> Vec<LineLeap> {
        let ClockDomain { map, observed_steps, leaps, .. } = &self.domains[domain];
        let at_step = |region: &step_ticks::StepRegion| {
            let ticks = i64::try_from(region.ticks).ok()?;
            leap(|leap_ticks| map.global_from_ticks(u64::try_from(leap_ticks).unwrap_or(0)), ticks)
        };
        let mut all: Vec<LineLeap> =
            observed_steps.regions().iter().filter_map(at_step).chain(leaps.iter().copied()).collect();
        all.sort_unstable_by_key(|leap| leap.timestamp);
        all
    }

    /// The map of a process's clock.
    #[must_use]
    pub fn map(&self, process: usize) -> &ClockMap {
        &self.domains[self.domain_of[process]].map
    }

    /// Makes this time the zero of all timestamps. It is in nanoseconds of the previous zero.
    pub(crate) fn start_at(&mut self, nanos: i128) {
        for domain in &mut self.domains {
            domain.map.shift(-nanos);
            for step in &mut domain.clock_steps {
                let timestamp = i128::from(step.timestamp).saturating_sub(nanos);
                step.timestamp = i64::try_from(timestamp).unwrap_or(if timestamp < 0 { i64::MIN } else { i64::MAX });
            }
        }
    }
}

/// The leap of timestamps at `raw`, if it is large enough to report. `timestamp` maps ticks or
/// raw timestamps.
pub(crate) fn leap(timestamp: impl Fn(i64) -> i64, raw: i64) -> Option<LineLeap> {
    const SMALLEST: i64 = 1000;
    let (before, after) = (timestamp(raw.saturating_sub(1)), timestamp(raw));
    let distance = after.saturating_sub(before);
    (distance > SMALLEST).then_some(LineLeap { timestamp: after, distance })
}
