//! [`CombinedSteps`]: a number that changes at timestamps, such as a field of the latest event.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use tumit_viewer::query::TimeRange;

/// How the numbers of several containers become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Combination {
    #[default]
    Sum,
    Mean,
    Smallest,
    Largest,
}

/// A number that changes at timestamps. It has no value before the first one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CombinedSteps {
    /// The timestamps, ascending and distinct.
    times: Vec<i64>,
    values: Vec<f64>,
}

/// A number over a time range. If it has no value there, all are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NumberSummary {
    /// The mean over the time in which there is a value.
    pub(super) mean: f64,
    pub(super) minimum: f64,
    pub(super) maximum: f64,
    /// The value at the end.
    pub(super) last: f64,
}

/// The present numbers of several containers.
#[derive(Debug, Default)]
struct PresentNumbers {
    by_container: FxHashMap<u32, f64>,
    /// How often each number occurs, by its bits in order.
    numbers: BTreeMap<u64, usize>,
    sum: f64,
}

/// Bits that are ordered as the numbers are.
fn ordered_bits(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn number_of_bits(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits & !(1 << 63) } else { !bits })
}

impl PresentNumbers {
    fn set(&mut self, container: u32, number: f64) {
        if let Some(old) = self.by_container.insert(container, number) {
            self.sum -= old;
            let bits = ordered_bits(old);
            if let Some(count) = self.numbers.get_mut(&bits) {
                *count -= 1;
                if *count == 0 {
                    self.numbers.remove(&bits);
                }
            }
        }
        self.sum += number;
        *self.numbers.entry(ordered_bits(number)).or_default() += 1;
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    fn combine(&self, combination: Combination) -> f64 {
        let end = |bits: Option<(&u64, &usize)>| bits.map_or(0.0, |(bits, _)| number_of_bits(*bits));
        match combination {
            Combination::Sum => self.sum,
            Combination::Mean => self.sum / self.by_container.len().max(1) as f64,
            Combination::Smallest => end(self.numbers.first_key_value()),
            Combination::Largest => end(self.numbers.last_key_value()),
        }
    }
}

impl CombinedSteps {
    /// The combination of the latest number of each container. `events` are timestamps, containers
    /// and numbers, by time.
    pub(super) fn from_events(events: impl Iterator<Item = (i64, u32, f64)>, combination: Combination) -> Self {
        let (mut steps, mut present) = (Self::default(), PresentNumbers::default());
        for (time, container, number) in events {
            present.set(container, number);
            let value = present.combine(combination);
            if steps.times.last() == Some(&time) {
                steps.values.pop();
            } else {
                steps.times.push(time);
            }
            steps.values.push(value);
        }
        steps
    }

    /// The summary of a time range. Of an empty time range, the values at its start.
    pub(super) fn summary(&self, range: TimeRange) -> NumberSummary {
        let end = self.times.partition_point(|time| *time < range.to.0);
        let first = self.times.partition_point(|time| *time <= range.from.0).saturating_sub(1);
        let mut summary: Option<NumberSummary> = None;
        let (mut integral, mut nanos) = (0.0, 0.0);
        for index in first..end.max(first + 1).min(self.times.len()) {
            if self.times[index] > range.from.0 && self.times[index] >= range.to.0 {
                break;
            }
            let value = self.values[index];
            let from = self.times[index].max(range.from.0);
            let to = self.times.get(index + 1).map_or(range.to.0, |next| (*next).min(range.to.0));
            #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
            let length = to.saturating_sub(from).max(0) as f64;
            integral += value * length;
            nanos += length;
            let old = summary.unwrap_or(NumberSummary { mean: value, minimum: value, maximum: value, last: value });
            let (minimum, maximum) = (old.minimum.min(value), old.maximum.max(value));
            let mean = if nanos > 0.0 { (integral / nanos).clamp(minimum, maximum) } else { value };
            summary = Some(NumberSummary { mean, minimum, maximum, last: value });
        }
        summary.unwrap_or_default()
    }

    /// The value at a time, or 0 before the first one.
    pub(super) fn at(&self, time: i64) -> f64 {
        let steps = self.times.partition_point(|step| *step <= time);
        steps.checked_sub(1).map_or(0.0, |index| self.values[index])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_viewer::query::{GlobalNanos, TimeRange};

    use super::{Combination, CombinedSteps};

    /// The combination at a time, from the latest event of each container.
    fn expected(events: &[(i64, u32, f64)], time: i64, combination: Combination) -> Option<f64> {
        let latest = |container: u32| {
            events.iter().rev().find(|event| event.0 <= time && event.1 == container).map(|event| event.2)
        };
        let present: Vec<f64> = (0..4).filter_map(latest).collect();
        let sum: f64 = present.iter().sum();
        if present.is_empty() {
            return None;
        }
        Some(match combination {
            Combination::Sum => sum,
            Combination::Mean => sum / present.len() as f64,
            Combination::Smallest => present.iter().copied().fold(f64::INFINITY, f64::min),
            Combination::Largest => present.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    proptest! {
        #[test]
        fn steps_equal_the_latest_event_of_each_container(
            mut events in prop::collection::vec((-20..60_i64, 0..4_u32, -9..9_i32), 0..40),
            kind in 0..4_usize,
            (from, nanos) in (-30..70_i64, 0..30_i64),
        ) {
            events.sort_by_key(|event| event.0);
            let events: Vec<(i64, u32, f64)> = events.into_iter().map(|(time, of, number)| (time, of, f64::from(number))).collect();
            let combination =
                [Combination::Sum, Combination::Mean, Combination::Smallest, Combination::Largest][kind];
            let steps = CombinedSteps::from_events(events.iter().copied(), combination);
            let values: Vec<f64> =
                (from..from + nanos.max(1)).filter_map(|time| expected(&events, time, combination)).collect();
            let summary = steps.summary(TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + nanos) });
            if values.is_empty() {
                prop_assert_eq!(summary, super::NumberSummary::default());
                return Ok(());
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!((summary.mean - mean).abs() < 1e-9, "{} {}", summary.mean, mean);
            prop_assert_eq!(summary.minimum, values.iter().copied().fold(f64::INFINITY, f64::min));
            prop_assert_eq!(summary.maximum, values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            prop_assert_eq!(Some(&summary.last), values.last());
            prop_assert_eq!(steps.at(from), expected(&events, from, combination).unwrap_or(0.0));
        }
    }
}
