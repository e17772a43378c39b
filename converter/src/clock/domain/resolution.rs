//! The resolution of a clock, if it is lower than its tick.
//!
//! A clock that is read in whole microseconds may count nanoseconds. A clock that the system
//! updates at each interrupt (`CLOCK_MONOTONIC_COARSE`) stands still for milliseconds, and this
//! time need not be a round number.

use std::collections::BTreeMap;

use tracer_format::ClockKind;

use super::lifetime::lifetime;
use crate::run::{ProcessInRun, RunStreamReader, open_shared};

/// Minimum number of different timestamps for a common divisor to be significant.
const MIN_DIFFERENT_TIMESTAMPS: usize = 8;
/// A clock is coarse if at least one in `STILL` readings equals the reading before it, and most
/// other differences are multiples of its step.
const STILL: usize = 10;
/// Relative error allowed for these multiples.
const ROUGHLY: f64 = 1e-3;
/// Relative error allowed for the multiples of a clock that seldom stands still. No program is that
/// punctual.
const NEARLY: f64 = 3e-5;
/// A difference of more steps than this is ignored.
const MAX_STEP_RATIO: u64 = 50;
/// Minimum number of multiples if the clock often stands still.
const SEEN: usize = 16;
/// Minimum number of multiples if it seldom stands still.
const SEEN_MOVING: usize = 64;
/// Minimum step in ticks if it seldom stands still.
const TICKS: u64 = 1000;
/// The shortest difference between two readings may be up to this many steps.
const AT_LEAST: u64 = 64;
/// Number of differences after which the search stops.
const MAX_DIFFERENCES: usize = 1024;
/// Longest step of a real clock, nanoseconds. Longer regular steps are invented timestamps.
const LONGEST: f64 = 20e6;
/// Shortest step that is not a round number, nanoseconds. Systems do not interrupt themselves more
/// often.
const SHORTEST: f64 = 50e3;
/// Limits of the search: processes per clock, streams per process, records per stream.
const PROCESSES: usize = 4;
const STREAMS: usize = 4;
const RECORDS: usize = 4096;

/// The resolution in ticks of the clock of these processes, which has `hz` ticks per second.
///
/// Examines timestamps of blocks, samples and readings. For clocks that the program supplies, also
/// examines timestamps of records.
pub(crate) fn of(processes: &[&ProcessInRun], hz: u64) -> u64 {
    let timestamps = processes.iter().flat_map(|process| {
        let blocks = process.streams.iter().flat_map(|stream| &stream.blocks).filter(|block| block.header.records > 0);
        let blocks = blocks.flat_map(|block| [block.header.first_ticks, block.header.last_ticks]);
        samples(process, hz).chain(blocks).chain(process.anchors.iter().map(|anchor| anchor.ticks))
    });
    let common = common_divisor(timestamps);
    let may_be_coarse = |process: &&&ProcessInRun| process.clock_kind.is_none_or(|kind| kind == ClockKind::User);
    let mut steps = TickSteps::default();
    for process in processes.iter().filter(may_be_coarse).take(PROCESSES) {
        steps.add(samples(process, hz));
        // A read error is ignored here. The passes that read the whole file report it.
        let Ok(file) = open_shared(&process.path) else { continue };
        for stream in process.streams.iter().take(STREAMS) {
            let mut reader = RunStreamReader::new(process, stream, std::sync::Arc::clone(&file));
            let next = || reader.advance().ok().flatten().map(|record| record.ticks.0);
            steps.add(std::iter::from_fn(next).take(RECORDS));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "steps are short")]
    let may_be = |step: &u64| (SHORTEST..=LONGEST).contains(&(*step as f64 * 1e9 / hz.max(1) as f64));
    steps.coarse_step().filter(may_be).map_or(common, |step| step.max(common))
}

/// Ticks at which a process sent a request or received a reply. Impossible samples are left out,
/// because samples may be wrong.
fn samples(process: &ProcessInRun, hz: u64) -> impl Iterator<Item = u64> {
    let lifetime = lifetime(process, hz);
    let can_be = move |ticks: u64| lifetime.is_none_or(|lifetime| lifetime.contains(ticks));
    let samples = process.sync.iter().map(|sample| (sample.t1, sample.t4));
    samples.filter(move |(t1, t4)| t1 <= t4 && can_be(*t1) && can_be(*t4)).flat_map(|(t1, t4)| [t1, t4])
}

/// The greatest common divisor of the differences between the first timestamp and the others.
fn common_divisor(mut timestamps: impl Iterator<Item = u64>) -> u64 {
    let Some(first) = timestamps.next() else { return 1 };
    let (mut divisor, mut last, mut different) = (0, first, 1);
    for timestamp in timestamps {
        different += usize::from(timestamp != last);
        last = timestamp;
        divisor = greatest_common_divisor(divisor, timestamp.abs_diff(first));
        if divisor == 1 {
            return 1;
        }
    }
    if different < MIN_DIFFERENT_TIMESTAMPS { 1 } else { divisor.max(1) }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The number of occurrences of the most frequent difference, in steps. Records at a regular beat
/// say nothing about the clock.
fn most_alike(differences: &[u64], step: f64) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for step_ticks in differences {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
        let steps = (*step_ticks as f64 / step).round() as u64;
        *counts.entry(steps).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// Differences between consecutive readings of a clock.
#[derive(Debug, Default)]
struct TickSteps {
    zero_count: usize,
    forward_steps: Vec<u64>,
}

impl TickSteps {
    fn add(&mut self, readings: impl Iterator<Item = u64>) {
        let mut last: Option<u64> = None;
        for reading in readings {
            match last.and_then(|last| reading.checked_sub(last)) {
                Some(0) => self.zero_count += 1,
                Some(step_ticks) => self.forward_steps.push(step_ticks),
                // The clock went back. This is not a step.
                None => {}
            }
            last = Some(reading);
        }
    }

    /// The step of a coarse clock, in ticks.
    fn coarse_step(&self) -> Option<u64> {
        let min_step = *self.forward_steps.iter().min()?;
        let small_steps: Vec<u64> = self
            .forward_steps
            .iter()
            .copied()
            .filter(|step_ticks| step_ticks / min_step <= MAX_STEP_RATIO)
            .take(MAX_DIFFERENCES)
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let multiples = |step: f64, tolerance: f64| {
            let is_multiple = |step_ticks: &&u64| {
                let steps = **step_ticks as f64 / step;
                (steps - steps.round()).abs() * step <= tolerance * **step_ticks as f64 + 1.5
            };
            small_steps.iter().filter(is_multiple).count()
        };
        let is_still = self.zero_count * STILL >= self.zero_count + self.forward_steps.len();
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let is_step = |step: f64| {
            let (near_multiples, exact_multiples) = (multiples(step, ROUGHLY), multiples(step, NEARLY));
            is_still && near_multiples >= SEEN && near_multiples * 10 >= small_steps.len() * 9
                || step >= TICKS as f64
                    && exact_multiples >= SEEN_MOVING
                    && exact_multiples * 20 >= small_steps.len() * 19
                    && most_alike(&small_steps, step) * 5 < small_steps.len() * 2
        };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of it"
        )]
        (1..=AT_LEAST)
            .map(|part| min_step as f64 / part as f64)
            .find(|step| is_step(*step))
            .map(|step| step.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_divisor_is_the_resolution_of_a_clock() {
        let timestamps = [7u64, 9, 10, 13, 20, 21, 34, 50, 51].map(|timestamp| 1_000_000 * timestamp + 5);
        assert_eq!(common_divisor(timestamps.into_iter()), 1_000_000);
        assert_eq!(common_divisor(timestamps[..5].iter().copied()), 1);
        assert_eq!(common_divisor(timestamps.into_iter().chain([8])), 1);
        assert_eq!(common_divisor([3; 20].into_iter()), 1);
        assert_eq!(common_divisor([].into_iter()), 1);
    }

    #[test]
    fn irregular_steps_give_their_mean_resolution() {
        // Read every 0.3 ms or so; it moves about every 4 ms.
        let low_resolution = |reading: u64| {
            let now = reading * 300_000 + reading * 7919 % 90_000;
            (now as f64 / 3_999_998.7).floor() * 3_999_998.7 + (now / 100_000_000) as f64 * 200.0
        };
        let mut steps = TickSteps::default();
        steps.add((0..1000).map(|reading| low_resolution(reading) as u64));
        let step = steps.coarse_step().unwrap();
        assert!(step.abs_diff(4_000_000) < 5000, "{step}");
        // The step is also found if the clock moves between all readings.
        let mut moving = TickSteps::default();
        moving.add((0..300u64).map(|reading| (((reading * 31 + reading * reading % 29) as f64) * 100_000.3) as u64));
        assert!(
            moving.zero_count == 0 && moving.coarse_step().unwrap().abs_diff(100_000) < 3,
            "{:?}",
            moving.coarse_step()
        );
        // Records at a regular beat prove nothing.
        let mut beat = TickSteps::default();
        beat.add((0..1000u64).map(|reading| reading * 10_000 + reading / 300 * 1_200_000));
        assert_eq!(beat.coarse_step(), None);
        // Few such steps prove nothing. A clock that nearly always moves proves nothing either.
        let mut few = TickSteps::default();
        few.add((0..100).map(|reading| low_resolution(reading) as u64));
        assert_eq!(few.coarse_step(), None);
        // A clock that shows any time between the steps is not coarse.
        let mut exact = TickSteps::default();
        exact.add((0..1000).flat_map(|reading| [reading * 1_000_000 + reading * reading * 7919 % 50_021; 2]));
        assert_eq!(exact.coarse_step(), None);
    }
}
