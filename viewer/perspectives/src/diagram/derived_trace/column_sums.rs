//! [`ColumnSums`]: the time of each value in columns of time, summed over many states.

use tumit_viewer::query::{GlobalNanos, MixtureCell, TimeRange, ValueId};

use crate::execution::category_sums::index_at_or_after;

/// Values above which sums are sparse. Fewer values have a sum per column.
const DENSE_VALUES: usize = 64;

/// The time of each value in columns of time, summed over states.
///
/// A state is added in O(1), however many columns it spans. A state that begins at `b` and is not
/// yet over at an edge `t` has contributed `t − b`. The sums of `b`, and the numbers of the states,
/// therefore determine the time until `t`. All sums wrap around. A time in a column fits into 63
/// bits, so that it is exact.
pub(super) struct ColumnSums {
    /// The edges of adjacent columns. They ascend, and there are at least two.
    edges: Vec<i64>,
    values: usize,
    changes: EdgeChanges,
}

/// The states that begin minus those that end, after the edge before and until this one.
#[derive(Clone, Copy, Default)]
struct EdgeChange {
    count: i64,
    /// The sum of their times since the first edge.
    times: i64,
}

enum EdgeChanges {
    /// For each value, a change per edge.
    Dense(Vec<EdgeChange>),
    /// Value, edge and change, in any order.
    Sparse(Vec<(u32, u32, EdgeChange)>),
}

impl EdgeChange {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.times = self.times.wrapping_add(other.times);
    }

    /// The time until an edge.
    fn nanos_before(self, time: i64) -> i64 {
        self.count.wrapping_mul(time).wrapping_sub(self.times)
    }
}

impl ColumnSums {
    /// Empty sums of values below `values` between edges.
    pub(super) fn new(edges: Vec<i64>, values: usize) -> Self {
        let is_dense = values <= DENSE_VALUES;
        let changes = if is_dense {
            EdgeChanges::Dense(vec![EdgeChange::default(); values * edges.len()])
        } else {
            EdgeChanges::Sparse(Vec::new())
        };
        Self { edges, values, changes }
    }

    /// The edges of the columns.
    pub(super) fn edges(&self) -> &[i64] {
        &self.edges
    }

    /// The time range of all columns.
    pub(super) fn range(&self) -> TimeRange {
        TimeRange { from: GlobalNanos(self.edges[0]), to: GlobalNanos(self.edges[self.edges.len() - 1]) }
    }

    /// Adds a state. Its time range is within that of all columns.
    pub(super) fn add(&mut self, from: i64, to: i64, value: ValueId) {
        for (time, count) in [(from, 1), (to, -1)] {
            self.add_change(index_at_or_after(&self.edges, time), time, count, value);
        }
    }

    /// Adds a time to a column. It is at most the width of the column.
    pub(super) fn add_to_column(&mut self, column: usize, nanos: i64, value: ValueId) {
        let from = self.edges[column];
        if nanos > 0 {
            self.add_change(column, from, 1, value);
            self.add_change(column + 1, from.wrapping_add(nanos), -1, value);
        }
    }

    /// Adds the begin or the end of a state, after the edge before and until this one.
    fn add_change(&mut self, edge: usize, time: i64, count: i64, value: ValueId) {
        let since = time.wrapping_sub(self.edges[0]);
        let change = EdgeChange { count, times: if count > 0 { since } else { since.wrapping_neg() } };
        match &mut self.changes {
            EdgeChanges::Dense(changes) => {
                let place = changes.get_mut(value.index() * self.edges.len() + edge);
                place.into_iter().for_each(|sum| sum.add(change));
            }
            EdgeChanges::Sparse(changes) => {
                changes.push((value.0, u32::try_from(edge).unwrap_or(u32::MAX), change));
            }
        }
    }

    /// The cell of each column, with all its values.
    pub(super) fn cells(self) -> Vec<MixtureCell> {
        let Self { edges, values, changes } = self;
        let mut columns: Vec<Vec<(ValueId, i64)>> = vec![Vec::new(); edges.len() - 1];
        match changes {
            EdgeChanges::Dense(changes) => {
                let of_values = changes.chunks(edges.len()).zip(0..).take(values);
                for (changes, value) in of_values {
                    let changes = changes.iter().copied().enumerate();
                    add_shares(&edges, ValueId(value), changes, &mut columns);
                }
            }
            EdgeChanges::Sparse(mut changes) => {
                changes.sort_unstable_by_key(|(value, edge, _)| (*value, *edge));
                for of_value in changes.chunk_by(|one, next| one.0 == next.0) {
                    let changes = of_value.iter().map(|(_, edge, change)| (*edge as usize, *change));
                    add_shares(&edges, ValueId(of_value[0].0), changes, &mut columns);
                }
            }
        }
        columns.into_iter().map(|shares| MixtureCell::of(shares, usize::MAX)).collect()
    }
}

/// Adds the times of a value to the columns. The changes are those at some edges, which ascend.
/// Several changes may be at the same edge.
fn add_shares(
    edges: &[i64],
    value: ValueId,
    changes: impl Iterator<Item = (usize, EdgeChange)>,
    columns: &mut [Vec<(ValueId, i64)>],
) {
    let (mut open, mut low) = (EdgeChange::default(), 0_i64);
    let mut changes = changes.peekable();
    let Some(mut edge) = changes.peek().map(|(edge, _)| *edge) else { return };
    while edge < edges.len() {
        while let Some((_, change)) = changes.next_if(|(at, _)| *at == edge) {
            open.add(change);
        }
        let until = open.nanos_before(edges[edge].wrapping_sub(edges[0]));
        let time = until.wrapping_sub(low);
        if let Some(column) = edge.checked_sub(1).filter(|_| time > 0) {
            columns[column].push((value, time));
        }
        low = until;
        // Columns without an open state are skipped.
        edge = if open.count == 0 { changes.peek().map_or(edges.len(), |(next, _)| *next) } else { edge + 1 };
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tumit_viewer::query::{MixtureCell, ValueId};

    use super::{ColumnSums, DENSE_VALUES};

    proptest! {
        #[test]
        fn sums_equal_a_count_of_nanoseconds(
            states in prop::collection::vec((0..90_i64, 0..90_i64, 0..4_u32), 0..40),
            widths in prop::collection::vec(1..20_i64, 1..12),
            is_sparse in any::<bool>(),
        ) {
            let edges: Vec<i64> = [0].into_iter().chain(widths.iter().scan(0, |edge, width| {
                *edge += width;
                Some(*edge)
            })).collect();
            let end = edges[edges.len() - 1];
            let mut sums = ColumnSums::new(edges.clone(), if is_sparse { DENSE_VALUES + 1 } else { 4 });
            let mut times = vec![[0_i64; 4]; edges.len() - 1];
            for (number, (from, nanos, value)) in states.into_iter().enumerate() {
                let (from, to) = (from.min(end), (from + nanos).min(end));
                if number % 2 == 0 {
                    sums.add(from, to, ValueId(value));
                } else {
                    for (column, width) in edges.windows(2).enumerate() {
                        let inside = to.min(width[1]) - from.max(width[0]);
                        sums.add_to_column(column, inside, ValueId(value));
                    }
                }
                for time in from..to {
                    let column = edges.partition_point(|edge| *edge <= time) - 1;
                    times[column][value as usize] += 1;
                }
            }
            let expected: Vec<MixtureCell> = times.iter().map(|times| {
                let shares = (0..).map(ValueId).zip(times.iter().copied()).filter(|(_, time)| *time > 0);
                MixtureCell::of(shares.collect::<Vec<_>>(), usize::MAX)
            }).collect();
            prop_assert_eq!(sums.cells(), expected);
        }
    }
}
