//! What a clock can tell apart, beyond its ticks: one that is read in whole microseconds may count nanoseconds, and one that the system sets at each of
//! its interrupts (`CLOCK_MONOTONIC_COARSE`) stands still for milliseconds, whose number is not even round.

use std::collections::BTreeMap;

use tracer_format::ClockKind;

use super::lifetime::life;
use crate::run::{Process, StreamReader, open_shared};

/// From fewer dates a common divisor tells nothing.
const FEW: usize = 8;
/// A clock that stood still from one reading to the next in one of so many at least is coarse,
const STILL: usize = 10;
/// if it went on by multiples of its steps, up to this part of them, in most other cases;
const ROUGHLY: f64 = 1e-3;
/// one that seldom stood still, if it went on by nearly exact multiples. No program is that punctual.
const NEARLY: f64 = 3e-5;
/// So many steps at once tell nothing,
const MANY: u64 = 50;
/// nor do so few readings,
const SEEN: usize = 16;
/// and so few where it seldom stood still;
const SEEN_MOVING: usize = 64;
/// nor do steps of so few ticks.
const TICKS: u64 = 1000;
/// The shortest time between two readings may be so many steps.
const AT_LEAST: u64 = 64;
/// So many readings are enough.
const ENOUGH: usize = 1024;
/// No clock stands still for longer than this, nanoseconds: what is dated so evenly was made up.
const LONGEST: f64 = 20e6;
/// Nor does one of odd times stand still for less than this: systems do not interrupt themselves so often.
const SHORTEST: f64 = 50e3;
/// Of each clock so many processes are looked at, streams of each, and records of each of these.
const PROCESSES: usize = 4;
const STREAMS: usize = 4;
const RECORDS: usize = 4096;

/// Ticks that the clock of these processes, with so many in a second, cannot tell apart. Looks at dates of blocks, samples and readings, and of clocks that programs gave at some records.
pub(crate) fn of(processes: &[&Process], hz: u64) -> u64 {
    let dates = processes.iter().flat_map(|process| {
        let blocks = process.streams.iter().flat_map(|stream| &stream.blocks).filter(|block| block.header.records > 0);
        let blocks = blocks.flat_map(|block| [block.header.first_ticks, block.header.last_ticks]);
        samples(process, hz).chain(blocks).chain(process.anchors.iter().map(|anchor| anchor.ticks))
    });
    let common = common(dates);
    let may_be_coarse = |process: &&&Process| process.clock_kind.is_none_or(|kind| kind == ClockKind::User);
    let mut steps = Steps::default();
    for process in processes.iter().filter(may_be_coarse).take(PROCESSES) {
        steps.add(samples(process, hz));
        // What cannot be read is told by those who read it all.
        let Ok(file) = open_shared(&process.path) else { continue };
        for stream in process.streams.iter().take(STREAMS) {
            let mut reader = StreamReader::new(process, stream, std::sync::Arc::clone(&file));
            let next = || reader.advance().ok().flatten().map(|place| place.ticks.0);
            steps.add(std::iter::from_fn(next).take(RECORDS));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "steps are short")]
    let may_be = |step: &u64| (SHORTEST..=LONGEST).contains(&(*step as f64 * 1e9 / hz.max(1) as f64));
    steps.common().filter(may_be).map_or(common, |step| step.max(common))
}

/// When a process asked and was answered, as far as it can be true: samples may be wrong.
fn samples(process: &Process, hz: u64) -> impl Iterator<Item = u64> {
    let life = life(process, hz);
    let can_be = move |ticks: u64| life.is_none_or(|(first, last)| first <= ticks && ticks <= last);
    let samples = process.sync.iter().map(|sample| (sample.t1, sample.t4));
    samples.filter(move |(t1, t4)| t1 <= t4 && can_be(*t1) && can_be(*t4)).flat_map(|(t1, t4)| [t1, t4])
}

/// The greatest common divisor of what dates are behind the first.
fn common(mut dates: impl Iterator<Item = u64>) -> u64 {
    let Some(first) = dates.next() else { return 1 };
    let (mut divisor, mut last, mut different) = (0, first, 1);
    for date in dates {
        different += usize::from(date != last);
        last = date;
        divisor = greatest_common_divisor(divisor, date.abs_diff(first));
        if divisor == 1 {
            return 1;
        }
    }
    if different < FEW { 1 } else { divisor.max(1) }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many readings were the same number of steps apart. What is recorded at a beat says nothing of its clock.
fn most_alike(apart: &[u64], step: f64) -> usize {
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for by in apart {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
        let steps = (*by as f64 / step).round() as u64;
        *counts.entry(steps).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// How a clock went on from each reading to the next.
#[derive(Debug, Default)]
struct Steps {
    still: usize,
    forward: Vec<u64>,
}

impl Steps {
    fn add(&mut self, readings: impl Iterator<Item = u64>) {
        let mut last: Option<u64> = None;
        for reading in readings {
            match last.and_then(|last| reading.checked_sub(last)) {
                Some(0) => self.still += 1,
                Some(by) => self.forward.push(by),
                // It went back, which is no step.
                None => {}
            }
            last = Some(reading);
        }
    }

    /// The step of a coarse clock.
    fn common(&self) -> Option<u64> {
        let least = *self.forward.iter().min()?;
        let near: Vec<u64> = self.forward.iter().copied().filter(|by| by / least <= MANY).take(ENOUGH).collect();
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let multiples = |step: f64, off: f64| {
            let is_multiple = |by: &&u64| {
                let steps = **by as f64 / step;
                (steps - steps.round()).abs() * step <= off * **by as f64 + 1.5
            };
            near.iter().filter(is_multiple).count()
        };
        let is_still = self.still * STILL >= self.still + self.forward.len();
        #[expect(clippy::cast_precision_loss, reason = "few steps")]
        let is_step = |step: f64| {
            let (rough, exact) = (multiples(step, ROUGHLY), multiples(step, NEARLY));
            is_still && rough >= SEEN && rough * 10 >= near.len() * 9
                || step >= TICKS as f64
                    && exact >= SEEN_MOVING
                    && exact * 20 >= near.len() * 19
                    && most_alike(&near, step) * 5 < near.len() * 2
        };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of it"
        )]
        (1..=AT_LEAST)
            .map(|part| least as f64 / part as f64)
            .find(|step| is_step(*step))
            .map(|step| step.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_of_whole_milliseconds() {
        let dates = [7u64, 9, 10, 13, 20, 21, 34, 50, 51].map(|date| 1_000_000 * date + 5);
        assert_eq!(common(dates.into_iter()), 1_000_000);
        assert_eq!(common(dates[..5].iter().copied()), 1);
        assert_eq!(common(dates.into_iter().chain([8])), 1);
        assert_eq!(common([3; 20].into_iter()), 1);
        assert_eq!(common([].into_iter()), 1);
    }

    #[test]
    fn a_clock_that_stands_still_for_odd_times() {
        // Read every 0.3 ms or so; it moves about every 4 ms.
        let coarse = |reading: u64| {
            let now = reading * 300_000 + reading * 7919 % 90_000;
            (now as f64 / 3_999_998.7).floor() * 3_999_998.7 + (now / 100_000_000) as f64 * 200.0
        };
        let mut steps = Steps::default();
        steps.add((0..1000).map(|reading| coarse(reading) as u64));
        let found = steps.common().unwrap();
        assert!(found.abs_diff(4_000_000) < 5000, "{found}");
        // It is seen also where it moves between all readings.
        let mut moving = Steps::default();
        moving.add((0..300u64).map(|reading| (((reading * 31 + reading * reading % 29) as f64) * 100_000.3) as u64));
        assert!(moving.still == 0 && moving.common().unwrap().abs_diff(100_000) < 3, "{:?}", moving.common());
        // What is recorded at a beat proves nothing.
        let mut beat = Steps::default();
        beat.add((0..1000u64).map(|reading| reading * 10_000 + reading / 300 * 1_200_000));
        assert_eq!(beat.common(), None);
        // Few such steps prove nothing; nor does a clock that nearly always moves,
        let mut few = Steps::default();
        few.add((0..100).map(|reading| coarse(reading) as u64));
        assert_eq!(few.common(), None);
        // nor one that shows any time between.
        let mut fine = Steps::default();
        fine.add((0..1000).flat_map(|reading| [reading * 1_000_000 + reading * reading * 7919 % 50_021; 2]));
        assert_eq!(fine.common(), None);
    }
}
