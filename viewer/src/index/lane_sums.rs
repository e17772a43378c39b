//! [`IndexLaneSums`]: the times of values in state lanes, in total and in columns.

use rustc_hash::FxHashMap;
use tumit_paje::ValueId;

use super::file::index_bytes::IndexBytes;
use super::lanes::states::{DENSE_VALUES, IndexStateLane, IndexTimeSums};
use super::mixtures::few_values::FewValuesWalk;
use super::mixtures::many_values::ManyValuesWalk;
use super::mixtures::overview::{CellRequest, OverviewTable};
use crate::parallel_map::map_parts;
use crate::query::{MixtureCell, MixtureCellWriter, StateLaneId, TimeRange};

/// Minimum number of cells per thread.
const CELLS_PER_THREAD: usize = 1 << 13;
/// Fixed cost of a lane, in cells: finding its sums, which may have thousands of values.
const CELLS_PER_LANE: usize = 1 << 6;

/// Lanes with at most this many values use arrays of half the size.
const FEWER: usize = DENSE_VALUES / 2;

/// If a trace has more values per requested lane than this, and few lanes are requested, times are
/// summed in a hash map instead of an array over all values.
const VALUES_PER_LANE: usize = 64;

/// Minimum number of lanes per thread, for `cells` cells per lane.
fn lanes_per_thread(cells: u32) -> usize {
    CELLS_PER_THREAD.div_ceil((cells as usize).saturating_add(CELLS_PER_LANE))
}

/// Sums over the state lanes that `find` finds in an index.
pub(super) struct IndexLaneSums<'a, F> {
    pub(super) index_bytes: &'a IndexBytes,
    /// The start of the trace in nanoseconds.
    pub(super) origin: i64,
    /// The number of values of the trace.
    pub(super) values: usize,
    pub(super) find: F,
}

impl<'a, F: Fn(StateLaneId) -> Option<IndexStateLane<'a>> + Sync> IndexLaneSums<'a, F> {
    /// The cells of some lanes.
    pub(super) fn cells(&self, lanes: &[StateLaneId], request: CellRequest) -> Vec<MixtureCell> {
        let columns = request.columns as usize;
        let all = lanes.len().saturating_mul(columns);
        let mut parts = map_parts(lanes, lanes_per_thread(request.columns), |part, is_first| {
            self.part_of_cells(part, request, if is_first { all } else { part.len() * columns })
        })
        .into_iter();
        let mut cells = parts.next().unwrap_or_default();
        parts.for_each(|mut part| cells.append(&mut part));
        cells
    }

    /// The cells of some lanes, in a list with capacity for `room` cells.
    fn part_of_cells(&self, lanes: &[StateLaneId], request: CellRequest, room: usize) -> Vec<MixtureCell> {
        let mut cells = MixtureCellWriter::new(room, self.values);
        let (mut times, mut blocks) = (IndexTimeSums::default(), Vec::new());
        let CellRequest { time_range, columns, max_shares } = request;
        let overview = OverviewTable::new(self.index_bytes, request, self.origin);
        for &lane in lanes {
            let end = cells.len() + columns as usize;
            if let Some(lane) = (self.find)(lane) {
                let number = lane.record.extra.checked_sub(1);
                if number.zip(overview.as_ref()).is_none_or(|(number, overview)| !overview.cells(number, &mut cells)) {
                    let columns = time_range.columns(columns);
                    if let Some(walk) = FewValuesWalk::<FEWER>::new(&lane) {
                        walk.cells(columns, max_shares, &mut blocks, &mut cells);
                    } else if let Some(walk) = FewValuesWalk::<DENSE_VALUES>::new(&lane) {
                        walk.cells(columns, max_shares, &mut blocks, &mut cells);
                    } else {
                        ManyValuesWalk::new(&lane).cells(columns, max_shares, &mut times, &mut cells);
                    }
                }
            }
            cells.fill(end);
        }
        cells.finish()
    }

    /// The total time of each value in some lanes, by value. Only values that occur are listed.
    pub(super) fn times(&self, lanes: &[StateLaneId], time_range: TimeRange) -> Vec<(ValueId, i64)> {
        let values = self.values;
        if lanes.len() < lanes_per_thread(0).min(values / VALUES_PER_LANE) {
            let mut times: FxHashMap<u32, i64> = FxHashMap::default();
            self.add_times(lanes, time_range, |value, time| {
                let sum = times.entry(value).or_default();
                *sum = sum.wrapping_add(time);
            });
            let times = times.into_iter().filter(|time| (time.0 as usize) < values && time.1 > 0);
            let mut times: Vec<(ValueId, i64)> = times.map(|(value, time)| (ValueId(value), time)).collect();
            times.sort_unstable();
            return times;
        }
        let parts = map_parts(lanes, lanes_per_thread(0), |part, _| {
            let mut times = vec![0_i64; values];
            self.add_times(part, time_range, |value, time| {
                if let Some(sum) = times.get_mut(value as usize) {
                    *sum = sum.wrapping_add(time);
                }
            });
            times
        });
        let sum = |value: usize| parts.iter().fold(0_i64, |sum, times| sum.wrapping_add(times[value]));
        (0_u32..).map(ValueId).zip((0..values).map(sum)).filter(|time| time.1 > 0).collect()
    }

    /// Adds the time of each value in some lanes.
    fn add_times(&self, lanes: &[StateLaneId], time_range: TimeRange, mut add_time: impl FnMut(u32, i64)) {
        let mut sums = Vec::new();
        for lane in lanes.iter().filter_map(|&lane| (self.find)(lane)) {
            match FewValuesWalk::<DENSE_VALUES>::new(&lane) {
                Some(walk) => walk.add_times(time_range, &mut add_time),
                None => ManyValuesWalk::new(&lane).add_times(time_range, &mut sums, &mut add_time),
            }
        }
    }
}
