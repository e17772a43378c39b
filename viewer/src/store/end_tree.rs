//! Finds the spans that overlap a time range, in a list sorted by start. It consists of a tree of
//! largest ends, and of the sorted ends.
//!
//! Counting costs two binary searches. Each span that is found costs O(log n), independent of the
//! number of skipped spans. A span without duration counts as one nanosecond long, so that it is
//! found at its timestamp. Therefore callers pass *effective* ends, see
//! [`effective_end`](crate::query::effective_end).

use crate::query::TimeRange;

/// Children per node of the tree.
const FAN: usize = 16;

/// The tree of one list. The list itself stays with its owner.
#[derive(Debug, Default)]
pub(crate) struct EndTree {
    /// `levels[0][i]` is the largest end of spans `16 i .. 16 (i + 1)`. Each level groups 16
    /// elements of the previous one.
    levels: Vec<Vec<i64>>,
    sorted_ends: Vec<i64>,
}

impl EndTree {
    /// Builds the tree from the effective ends, in the order of the list. O(n log n).
    pub(crate) fn new(mut ends: Vec<i64>) -> Self {
        let mut levels = Vec::new();
        let mut level = group(&ends);
        while !level.is_empty() {
            let next = if level.len() > 1 { group(&level) } else { Vec::new() };
            levels.push(level);
            level = next;
        }
        ends.sort_unstable();
        Self { levels, sorted_ends: ends }
    }

    /// Number of spans that overlap. `started` is the number of spans that start before the end of
    /// the time range.
    pub(crate) fn count(&self, started_count: usize, time_range: TimeRange) -> u64 {
        // All spans that ended by `from` also started before `to`.
        (started_count - self.sorted_ends.partition_point(|&end| end <= time_range.from.0)) as u64
    }

    /// Positions of the spans that overlap, in order. `end` returns the effective end of a
    /// position.
    pub(crate) fn overlapping_spans<'a>(
        &'a self,
        started_count: usize,
        time_range: TimeRange,
        end: impl Fn(usize) -> i64 + 'a,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut position = 0;
        std::iter::from_fn(move || {
            while position < started_count {
                let skip = self.skip_size(position, time_range.from.0);
                if skip > 0 {
                    position += skip;
                } else {
                    position += 1;
                    if end(position - 1) > time_range.from.0 {
                        return Some(position - 1);
                    }
                }
            }
            None
        })
    }

    /// Size of the largest group that begins at `position` and has ended by `from`; 0 if there is
    /// none.
    fn skip_size(&self, position: usize, from: i64) -> usize {
        let (mut group_size, mut size) = (0, FAN);
        for level in &self.levels {
            if !position.is_multiple_of(size) || level[position / size] > from {
                break;
            }
            group_size = size;
            size *= FAN;
        }
        group_size
    }
}

fn group(ends: &[i64]) -> Vec<i64> {
    ends.chunks(FAN).map(|chunk| chunk.iter().copied().max().unwrap_or(i64::MIN)).collect()
}
