//! [`CategorySums`]: the time per category between timestamps, summed over many timelines.

use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::execution::category_timeline::{CategoryTimeline, CategoryTimes, number};

/// The time per category between adjacent timestamps, summed over timelines.
///
/// A timeline is added in O(changes), however many timestamps there are. A piece that begins at `b`
/// and is not yet over at a timestamp `t` has contributed `t − b`. The sums of `b`, and the numbers
/// of the pieces, therefore determine the time until `t`.
pub(crate) struct CategorySums<'a> {
    /// Ascending.
    timestamps: &'a [i64],
    /// The pieces that begin, minus those that end, after the timestamp before and until this one.
    changes: Vec<[PieceChanges; 3]>,
}

/// The pieces that begin, minus those that end.
#[derive(Clone, Copy, Debug, Default)]
struct PieceChanges {
    count: i64,
    /// The sum of their times since the first timestamp.
    times: i128,
}

impl<'a> CategorySums<'a> {
    pub(crate) fn new(timestamps: &'a [i64]) -> Self {
        Self { timestamps, changes: vec![<[PieceChanges; 3]>::default(); timestamps.len()] }
    }

    pub(crate) fn add(&mut self, timeline: &CategoryTimeline) {
        let (Some(&first), Some(&last)) = (self.timestamps.first(), self.timestamps.last()) else { return };
        let mut before = None;
        for piece in timeline.pieces(TimeRange { from: GlobalNanos(first), to: GlobalNanos(last) }) {
            let position = index_at_or_after(self.timestamps, piece.from);
            let time = i128::from(piece.from) - i128::from(first);
            for (category, count) in [(before, -1), (number(piece.category), 1)] {
                if let Some(category) = category {
                    let changes = &mut self.changes[position][category];
                    changes.count += count;
                    changes.times += i128::from(count) * time;
                }
            }
            before = number(piece.category);
        }
    }

    /// The sums between adjacent timestamps.
    pub(crate) fn times(&self) -> impl Iterator<Item = CategoryTimes> {
        let first = self.timestamps.first().copied().unwrap_or(0);
        let mut open = <[PieceChanges; 3]>::default();
        let mut before: Option<CategoryTimes> = None;
        self.timestamps.iter().zip(&self.changes).filter_map(move |(timestamp, changes)| {
            let mut until = [0; 3];
            for category in 0..3 {
                open[category].count += changes[category].count;
                open[category].times += changes[category].times;
                let time = i128::from(*timestamp) - i128::from(first);
                until[category] = i128::from(open[category].count) * time - open[category].times;
            }
            let low = before.replace(until)?;
            Some([until[0] - low[0], until[1] - low[1], until[2] - low[2]])
        })
    }
}

/// The index of the first of some timestamps at or after `time`, which is at most the last one. The
/// timestamps ascend, and there is at least one.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a wrong guess is corrected"
)]
pub(crate) fn index_at_or_after(list: &[i64], time: i64) -> usize {
    let (first, last) = (list[0], list[list.len() - 1]);
    // Timestamps are usually the edges of equal columns.
    let (offset, length) = (i128::from(time) - i128::from(first), i128::from(last) - i128::from(first));
    let guess = |offset: u64, length: u64| (offset as f64 / length as f64 * (list.len() - 1) as f64).ceil() as usize;
    let guess = match (u64::try_from(offset), u64::try_from(length)) {
        (Ok(offset), Ok(length)) if length > 0 => guess(offset, length).min(list.len() - 1),
        _ => 0,
    };
    let is_first = list[guess] >= time && guess.checked_sub(1).is_none_or(|before| list[before] < time);
    if is_first { guess } else { list.partition_point(|timestamp| *timestamp < time) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_paje::category::ActivityCategory;

    use super::{CategorySums, CategoryTimeline};

    proptest! {
        #[test]
        fn sums_equal_those_of_each_timeline(
            timelines in prop::collection::vec(prop::collection::vec((0..9_i64, 0..3_usize), 0..40), 0..5),
            edges in prop::collection::vec(-20..200_i64, 0..12),
            (start, columns, width) in (-20..100_i64, 1..20_i64, 1..20_i64),
        ) {
            let timelines: Vec<CategoryTimeline> = timelines.iter().map(|changes| {
                let (mut timeline, mut time) = (CategoryTimeline::new(ActivityCategory::Idle), 0);
                for (step, category) in changes {
                    time += step;
                    timeline.set(time, ActivityCategory::COUNTED[*category]);
                }
                timeline
            }).collect();
            let mut edges = edges;
            edges.sort_unstable();
            let equal: Vec<i64> = (0..=columns).map(|column| start + column * width).collect();
            for edges in [edges, equal] {
                let mut sums = CategorySums::new(&edges);
                timelines.iter().for_each(|timeline| sums.add(timeline));
                let mut expected = vec![[0; 3]; edges.len().saturating_sub(1)];
                for timeline in &timelines {
                    for (sum, times) in expected.iter_mut().zip(timeline.times_between(&edges)) {
                        *sum = [sum[0] + times[0], sum[1] + times[1], sum[2] + times[2]];
                    }
                }
                prop_assert_eq!(sums.times().collect::<Vec<_>>(), expected);
            }
        }
    }
}
