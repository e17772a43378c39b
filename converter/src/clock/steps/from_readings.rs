//! Clock steps from readings of the processes.
//!
//! About once a second a process reads its clock together with the system's clock, which is never
//! set. It also reads them a tenth of a second before and after a step. Between two such readings,
//! a clock with a step gains or loses more against the system's clock than by any drift.
//!
//! If the real-time clock went forward together with the clock, the system's clock stood still (a
//! laptop that slept), and there is no step. A clock that the program supplies may be the real-time
//! clock itself, which may be set. For such a clock, only more than ten seconds count as sleep.
//!
//! The exact place of a step is found among the records. After a forward step, no record has a
//! timestamp in the skipped range. After a backward step, many records have the same timestamp,
//! because recorders never go back.

use std::sync::Arc;

use crate::clock::ClockDomain;
use crate::clock::domain::step_ticks::{ClockStep, StepFreeTicks};
use crate::clock::domain::stream_extent::TickRange;
use crate::run::OpenRun;
use crate::run::{ProcessInRun, RunStreamReader, StreamInRun, open_shared};
use tracer_format::ClockKind;
use tracer_format::entries::ClockAnchor;

/// Constant part of the allowed deviation of a clock without a step from the system's clock, after
/// correction of the mean drift. Nanoseconds.
const NOISE: f64 = 200_000.0;
/// Further part of the allowed deviation, as a fraction of the time between two readings. The
/// system's clock itself is bent by this much.
const BENT: f64 = 700e-6;
/// Maximum error of the nominal rate of a clock, as a fraction.
const WRONG_RATE: f64 = 5e-3;
/// Maximum number of steps of a clock. With more steps, the clock is not usable, and none are
/// reported.
const MAX_JUMPS: usize = 32;
/// Shortest sleep of a machine, nanoseconds.
const SHORTEST_SLEEP: f64 = 10e9;
/// A gap between timestamps is the place of a forward step if it covers this fraction of the step.
const MIN_SHARE: f64 = 0.9;

/// The steps of a domain's clock. Reads the records near the steps.
pub(crate) fn find(run: &OpenRun, members: &[usize], domain: &ClockDomain) -> StepFreeTicks {
    // The process with readings over the longest time is used.
    let covered_nanos = |process: &&ProcessInRun| {
        let timestamps = process.anchors.iter().map(|anchor| anchor.monotonic_nanos);
        timestamps.clone().max().unwrap_or(0) - timestamps.min().unwrap_or(0)
    };
    let Some(longest) = members.iter().map(|member| &run.processes[*member]).max_by_key(covered_nanos) else {
        return StepFreeTicks::default();
    };
    let may_be_set = longest.clock_kind.is_none_or(|kind| kind == ClockKind::User);
    let jumps = jumps(&longest.anchors, domain.hz, domain.resolution_nanos, may_be_set);
    if jumps.len() > MAX_JUMPS {
        return StepFreeTicks::default();
    }
    let members: Vec<&ProcessInRun> = members.iter().map(|member| &run.processes[*member]).collect();
    let locate = |jump: &ObservedStep| ClockStep {
        ticks: jump.locate(&members).unwrap_or(jump.from.midpoint(jump.last_tick())),
        size: jump.size,
    };
    let mut steps: Vec<ClockStep> = jumps.iter().map(locate).collect();
    steps.sort_by_key(|step| step.ticks);
    StepFreeTicks::new(&steps)
}

/// A clock step between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ObservedStep {
    /// Ticks at the reading before the step.
    from: u64,
    /// Ticks at the reading after the step.
    to: u64,
    /// Size of the step in ticks. Positive if it is forward.
    size: i64,
}

/// The time between two readings, nanoseconds.
struct ReadingInterval<'r> {
    first: &'r ClockAnchor,
    last: &'r ClockAnchor,
    by_clock: f64,
    /// By the system's clock.
    by_system: f64,
    by_real_time: f64,
}

/// Steps between readings. `may_be_set` means that the clock may be set together with the real-time
/// clock.
#[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
fn jumps(anchors: &[ClockAnchor], hz: u64, granularity: f64, may_be_set: bool) -> Vec<ObservedStep> {
    let mut anchors: Vec<&ClockAnchor> = anchors.iter().collect();
    anchors.sort_by_key(|anchor| anchor.monotonic_nanos);
    let tick = 1e9 / hz.max(1) as f64;
    let intervals = anchors.windows(2).map(|pair| {
        let elapsed = |of: fn(&ClockAnchor) -> u64| (i128::from(of(pair[1])) - i128::from(of(pair[0]))) as f64;
        ReadingInterval {
            first: pair[0],
            last: pair[1],
            by_clock: elapsed(|a| a.ticks) * tick,
            by_system: elapsed(|a| a.monotonic_nanos),
            by_real_time: elapsed(|a| a.real_nanos),
        }
    });
    let intervals: Vec<ReadingInterval<'_>> = intervals.filter(|interval| interval.by_system > 0.0).collect();
    let mut rates: Vec<f64> = intervals
        .iter()
        .filter(|interval| interval.by_system > 1e7)
        .map(|interval| interval.by_clock / interval.by_system - 1.0)
        .collect();
    rates.sort_by(f64::total_cmp);
    // A clock that does not follow the system's clock (a simulator's clock, for example) has no
    // detectable steps. The nominal rate may be slightly wrong.
    let Some(rate) = rates.get(rates.len() / 2).copied().filter(|rate| rates.len() > 2 && rate.abs() < WRONG_RATE)
    else {
        return Vec::new();
    };
    let usual = rates.iter().filter(|other| (**other - rate).abs() < WRONG_RATE).count();
    if usual * 2 <= rates.len() {
        return Vec::new();
    }
    // A clock may have ticks of a millisecond. The usual deviation between two readings is not a
    // step.
    let lead = |interval: &ReadingInterval<'_>| interval.by_clock - interval.by_system * (1.0 + rate);
    let mut usual: Vec<f64> = intervals.iter().map(|interval| lead(interval).abs()).collect();
    usual.sort_by(f64::total_cmp);
    let noise = NOISE.max(usual.get(usual.len() / 2).map_or(0.0, |usual| 5.0 * usual)) + 2.0 * granularity;
    let jumps = intervals.iter().filter_map(|interval| {
        let &ReadingInterval { first, last, by_clock, by_system, by_real_time } = interval;
        let lead = lead(interval);
        let of_real = by_clock - by_real_time * (1.0 + rate);
        let read = (first.bracket + last.bracket) as f64 * tick;
        let is_alone = of_real.abs() > lead.abs() / 2.0 && of_real * lead > 0.0;
        // A clock never goes back because of sleep.
        let is_with_real_time = lead < 0.0 || (may_be_set && lead < SHORTEST_SLEEP);
        let is_set = lead.abs() > noise + BENT * by_system + read && (is_alone || is_with_real_time);
        #[expect(clippy::cast_possible_truncation, reason = "ticks within a run; saturates")]
        let size = (lead / tick).round() as i64;
        is_set.then_some(ObservedStep { from: first.ticks, to: last.ticks, size })
    });
    jumps.collect()
}

impl ObservedStep {
    /// The last possible tick of the step. After a backward step, recorders repeat the last
    /// timestamp until the clock reaches it again.
    fn last_tick(&self) -> u64 {
        self.to.saturating_add_signed(self.size.saturating_neg()).max(self.from)
    }

    /// The first tick after the step, from the records of the processes.
    fn locate(&self, processes: &[&ProcessInRun]) -> Option<u64> {
        let range = TickRange { first: self.from, last: self.to.max(self.last_tick()) };
        // The readings themselves are ticks that the clock showed.
        let mut ticks: Vec<u64> = vec![self.from, self.to];
        for process in processes {
            let file = open_shared(&process.path).ok()?;
            for stream in &process.streams {
                read_between(process, stream, &file, range, &mut ticks);
            }
        }
        ticks.sort_unstable();
        if self.size < 0 {
            let longest = ticks.chunk_by(|a, b| a == b).max_by_key(|same| same.len()).filter(|same| same.len() > 2)?;
            return longest[0].checked_add(1);
        }
        #[expect(clippy::cast_precision_loss, reason = "ticks within a run are far below 2^53")]
        let covers_step = |gap: u64| gap as f64 >= self.size as f64 * MIN_SHARE;
        let widest = ticks.windows(2).max_by_key(|pair| pair[1] - pair[0])?;
        covers_step(widest[1] - widest[0]).then_some(widest[0] + 1)
    }
}

/// Adds the ticks of a stream's records within a range.
fn read_between(
    process: &ProcessInRun,
    stream: &StreamInRun,
    file: &Arc<std::fs::File>,
    range: TickRange,
    ticks: &mut Vec<u64>,
) {
    let mut reader = RunStreamReader::new(process, stream, Arc::clone(file));
    reader.skip_before(|last| last < range.first);
    // A read error is ignored here. The passes that read the whole file report it.
    while let Ok(Some(record)) = reader.advance() {
        if record.ticks.0 > range.last {
            break;
        }
        if record.ticks.0 >= range.first {
            ticks.push(record.ticks.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Readings once a second of a clock of 2 GHz that runs 30 ppm fast.
    fn readings(extra_nanos: impl Fn(u64) -> i64, slept: u64) -> Vec<ClockAnchor> {
        let reading = |second: u64| {
            let monotonic_nanos = 5_000_000_000 + second * 1_000_000_000;
            let asleep = if second > 6 { slept } else { 0 };
            let ticks = 2 * (monotonic_nanos + asleep) + 60_000 * second;
            ClockAnchor {
                ticks: ticks.saturating_add_signed(2 * extra_nanos(second)),
                monotonic_nanos,
                real_nanos: 1_700_000_000_000_000_000 + monotonic_nanos + asleep,
                bracket: 100,
            }
        };
        (0..12).map(reading).collect()
    }

    #[test]
    fn clock_steps_are_found_and_drift_and_sleep_are_not() {
        assert_eq!(jumps(&readings(|_| 0, 0), 2_000_000_000, 0.0, false), []);
        assert_eq!(jumps(&readings(|_| 0, 60_000_000_000), 2_000_000_000, 0.0, false), [], "the machine slept");
        // A real-time clock with a forward or backward step. A forward step of a minute may also be
        // sleep of the machine.
        for (step, is_set) in [(5_000_000i64, true), (-3_000_000_000, true), (60_000_000_000, false)] {
            let mut real_readings = readings(|second| if second > 6 { step } else { 0 }, 0);
            real_readings[7..]
                .iter_mut()
                .for_each(|reading| reading.real_nanos = reading.real_nanos.saturating_add_signed(step));
            let steps = jumps(&real_readings, 2_000_000_000, 0.0, true);
            assert_eq!(steps.len(), usize::from(is_set), "{step} {steps:?}");
            assert_eq!(jumps(&real_readings, 2_000_000_000, 0.0, false).len(), usize::from(step < 0), "{step}");
        }
        let simulated = readings(|second| 7_000_000_000 * i64::try_from(second * second % 5).unwrap_or(0), 0);
        assert_eq!(jumps(&simulated, 2_000_000_000, 0.0, false), [], "the clock drifts from the system's clock");
        let low_resolution = readings(|second| -i64::try_from(second * second * 370_000 % 1_000_000).unwrap_or(0), 0);
        assert_eq!(
            jumps(&low_resolution, 2_000_000_000, 0.0, false),
            [],
            "the clock has a resolution of a millisecond"
        );
        let jumped = jumps(&readings(|second| if second > 3 { 5_000_000 } else { 0 }, 0), 2_000_000_000, 0.0, false);
        assert_eq!(jumped.len(), 1, "{jumped:?}");
        assert!((jumped[0].size - 10_000_000).abs() < 1000, "{jumped:?}");
        let stood_still =
            jumps(&readings(|second| if second > 3 { 5_000_000 } else { 0 }, 0), 2_000_000_000, 4e6, false);
        assert_eq!(stood_still, [], "the clock advances every 4 ms");
        let back = jumps(&readings(|second| if second > 3 { -3_000_000_000 } else { 0 }, 0), 2_000_000_000, 0.0, false);
        assert_eq!(back.len(), 1, "{back:?}");
        assert!((back[0].size + 6_000_000_000).abs() < 1000, "{back:?}");
    }

    proptest! {
        #[test]
        fn ticks_never_go_back(
            mut steps in prop::collection::vec((0u64..1 << 40, -1i64 << 38..1 << 38), 0..5),
            mut ticks in prop::collection::vec(0u64..1 << 41, 0..100),
        ) {
            steps.sort_unstable();
            let steps: Vec<ClockStep> = steps.into_iter().map(|(ticks, size)| ClockStep { ticks, size }).collect();
            ticks.extend(steps.iter().flat_map(|step| [step.ticks, step.ticks.saturating_sub(1), step.ticks + 1]));
            ticks.sort_unstable();
            let step_free = StepFreeTicks::new(&steps);
            let mapped: Vec<u64> = ticks.iter().map(|ticks| step_free.without_steps(*ticks)).collect();
            prop_assert!(mapped.is_sorted());
        }
    }
}
