//! [`RecordSlices`]: the lists of a trace that have records in each slice of time.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{
    ContainerId, GlobalNanos, NestedLaneGroup, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource,
    TypeId, TypeModel, entity_walk,
};

/// Minimum number of lists for windows. A search in fewer lists examines all of them.
const MIN_LISTS: usize = 1 << 13;
/// Approximate maximum number of records in all windows, with four bytes each. If there are more,
/// all windows are removed.
const MAX_RECORDS: u64 = 1 << 26;
/// Mean number of records per slice.
const RECORDS_PER_SLICE: u64 = 1 << 8;
/// Minimum length of a window, in lengths of the requested time range. A search repeats its request
/// with longer time ranges, which are then in the same window.
const RANGES_PER_WINDOW: i64 = 16;
/// Lists that a thread reads at a time, at least.
const LISTS_AT_ONCE: usize = 1 << 8;

/// The states of a lane, or the events of a type in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordList {
    States(StateLaneId),
    Events(ContainerId, TypeId),
}

/// The lists of a trace, and those with records in slices of windows of time.
///
/// A window is read when a search needs it. It takes one query per list, and all its records. The
/// first window has about as many records as there are lists. Each further one is twice as long, so
/// that few windows contain all records.
#[derive(Debug)]
pub(super) struct RecordSlices {
    lists: Vec<RecordList>,
    /// The timestamps of all records.
    extent: Range<i64>,
    /// The length of the first window. 0 without windows: each list may have records at any time.
    first_nanos: i64,
    /// The maximum length of a window.
    max_nanos: i64,
    /// Approximate number of all records.
    records: u64,
    windows: Mutex<Vec<Arc<SliceWindow>>>,
}

/// A window of time, divided into slices of equal length, except for the last one.
#[derive(Debug)]
struct SliceWindow {
    range: Range<i64>,
    /// The length of a slice.
    slice_nanos: u64,
    /// The place of the first list of each slice, and the end.
    starts: Vec<usize>,
    /// The indexes of the lists, slice by slice.
    members: Vec<u32>,
}

impl RecordSlices {
    /// The slices of a trace with approximately `records` records in some lists. It reads nothing.
    pub(super) fn new(lists: Vec<RecordList>, extent: TimeRange, records: u64) -> Self {
        Self::with_windows(lists, extent, records, MIN_LISTS)
    }

    fn with_windows(lists: Vec<RecordList>, extent: TimeRange, records: u64, min_lists: usize) -> Self {
        let extent = extent.from.0..extent.to.0.saturating_add(1);
        let nanos = i128::from(extent.end) - i128::from(extent.start);
        // The mean length of a time range with a number of records.
        let nanos_of = |count: u64| {
            i64::try_from(nanos.saturating_mul(i128::from(count)) / i128::from(records.max(1)))
                .unwrap_or(i64::MAX)
                .max(1)
        };
        let first_nanos = if lists.len() < min_lists { 0 } else { nanos_of(lists.len() as u64) };
        Self { lists, extent, first_nanos, max_nanos: nanos_of(MAX_RECORDS), records, windows: Mutex::default() }
    }

    /// The lists that may have records at timestamps in a range, in order.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn lists(&self, source: &dyn TimelineSource, range: &Range<i64>) -> Result<Vec<RecordList>, QueryError> {
        let range = range.start.max(self.extent.start)..range.end.min(self.extent.end);
        if range.is_empty() {
            return Ok(Vec::new());
        }
        if self.first_nanos == 0 || range.end.saturating_sub(range.start) > self.max_nanos {
            return Ok(self.lists.clone());
        }
        let members = self.window(source, &range)?.members(&range);
        Ok(members.into_iter().map(|list| self.lists[list as usize]).collect())
    }

    /// Approximate number of records in a range.
    fn records_in(&self, range: &Range<i64>) -> u64 {
        let nanos = |range: &Range<i64>| u128::from(range.end.abs_diff(range.start));
        let records = u128::from(self.records) * nanos(range) / nanos(&self.extent).max(1);
        u64::try_from(records).unwrap_or(u64::MAX)
    }

    /// A window that contains a range.
    fn window(&self, source: &dyn TimelineSource, range: &Range<i64>) -> Result<Arc<SliceWindow>, QueryError> {
        let windows = || self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let contains = |window: &&Arc<SliceWindow>| window.range.start <= range.start && range.end <= window.range.end;
        let nanos = {
            let windows = windows();
            if let Some(window) = windows.iter().find(contains) {
                return Ok(Arc::clone(window));
            }
            self.first_nanos.saturating_mul(1 << windows.len().min(32))
        };
        let length = range.end.saturating_sub(range.start);
        let nanos = nanos.max(length.saturating_mul(RANGES_PER_WINDOW)).min(self.max_nanos).max(length);
        let beside = (nanos - length) / 2;
        let start = range.start.saturating_sub(beside).max(self.extent.start);
        let end = range.end.saturating_add(beside).min(self.extent.end);
        let window = Arc::new(SliceWindow::new(source, &self.lists, start..end, self.records_in(&(start..end)))?);
        let mut windows = windows();
        let records: usize = windows.iter().map(|window| window.members.len()).sum();
        if records as u64 > MAX_RECORDS {
            windows.clear();
        }
        windows.push(Arc::clone(&window));
        Ok(window)
    }
}

impl SliceWindow {
    /// Reads the timestamps of the records in a range, which has approximately `records` records.
    fn new(
        source: &dyn TimelineSource,
        lists: &[RecordList],
        range: Range<i64>,
        records: u64,
    ) -> Result<Self, QueryError> {
        let nanos = range.end.abs_diff(range.start).max(1);
        let slice_nanos = nanos.div_ceil((records / RECORDS_PER_SLICE).max(1));
        let count = usize::try_from(nanos.div_ceil(slice_nanos)).unwrap_or(usize::MAX);
        let mut window = Self { range, slice_nanos, starts: vec![0; count + 1], members: Vec::new() };
        // The slices with records, and the lists that have them, some lists at a time.
        let parts = map_indexes(lists.len().div_ceil(LISTS_AT_ONCE), 1, |part| {
            let first = part * LISTS_AT_ONCE;
            let mut slices: Vec<(usize, u32)> = Vec::new();
            for (list, number) in lists[first..].iter().take(LISTS_AT_ONCE).zip(first..) {
                let number = u32::try_from(number).unwrap_or(u32::MAX);
                visit_times(source, *list, &window.range, |time| {
                    // The timestamps of most lists ascend.
                    let slice = (window.slice(time), number);
                    if slices.last() != Some(&slice) {
                        slices.push(slice);
                    }
                })?;
            }
            Ok(slices)
        });
        let parts: Vec<Vec<(usize, u32)>> = parts.into_iter().collect::<Result<_, QueryError>>()?;
        parts.iter().flatten().for_each(|(slice, _)| window.starts[slice + 1] += 1);
        (0..count).for_each(|slice| window.starts[slice + 1] += window.starts[slice]);
        window.members = vec![0; window.starts[count]];
        let mut next = window.starts.clone();
        for (slice, list) in parts.into_iter().flatten() {
            window.members[next[slice]] = list;
            next[slice] += 1;
        }
        Ok(window)
    }

    /// The indexes of the lists that may have records in a range within the window, in order.
    fn members(&self, range: &Range<i64>) -> Vec<u32> {
        let members = self.starts[self.slice(range.start)]..self.starts[self.slice(range.end - 1) + 1];
        let mut members = self.members[members].to_vec();
        members.sort_unstable();
        members.dedup();
        members
    }

    /// The slice of a timestamp in the window.
    fn slice(&self, time: i64) -> usize {
        let offset = time.max(self.range.start).abs_diff(self.range.start);
        usize::try_from(offset / self.slice_nanos).unwrap_or(usize::MAX).min(self.starts.len() - 2)
    }
}

/// The lists of the states of some containers, and those of their events.
pub(super) fn record_lists(
    source: &dyn TimelineSource,
    model: &TypeModel,
    is_selected: impl Fn(ContainerId) -> bool,
) -> Vec<RecordList> {
    let mut lists = Vec::new();
    for NestedLaneGroup { container, ty, depths } in source.state_lane_groups() {
        let lanes = (0..depths).map(|depth| RecordList::States(StateLaneId { container, ty, depth }));
        lists.extend(lanes.filter(|_| is_selected(container)));
    }
    let events: Vec<TypeId> = model.types.iter().filter(|ty| ty.kind == PajeTypeKind::Event).map(|ty| ty.id).collect();
    // Without event types, the types of the containers are not read.
    let containers = source.containers();
    let with_events = if events.is_empty() { &[][..] } else { &containers[..] };
    for info in with_events.iter().filter(|info| is_selected(info.id)) {
        let types = source.types_in(info.id);
        let has_type = |ty: &&TypeId| types.as_ref().is_none_or(|types| types.contains(ty));
        lists.extend(events.iter().filter(has_type).map(|ty| RecordList::Events(info.id, *ty)));
    }
    lists
}

/// Visits the timestamps in a range of the records of a list.
fn visit_times(
    source: &dyn TimelineSource,
    list: RecordList,
    range: &Range<i64>,
    mut visit: impl FnMut(i64),
) -> Result<(), QueryError> {
    // A state does not overlap a time range that begins at its end.
    let overlap = TimeRange { from: GlobalNanos(range.start.saturating_sub(1)), to: GlobalNanos(range.end) };
    let mut visit_inside =
        |time: GlobalNanos| Some(time.0).filter(|time| range.contains(time)).into_iter().for_each(&mut visit);
    match list {
        RecordList::States(lane) => entity_walk::states(source, lane, overlap, |state| {
            visit_inside(state.life.from);
            visit_inside(state.life.to);
            Ok(())
        }),
        RecordList::Events(container, ty) => entity_walk::events(source, (container, ty), overlap, |event| {
            visit_inside(event.time);
            Ok(())
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tumit_test_support::table_trace::{TableTrace, example_program};
    use tumit_viewer::filter::FilterLayer;
    use tumit_viewer::query::{EntityList, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource};

    use super::{RecordList, RecordSlices, record_lists, visit_times};

    /// Counts the states that are read.
    struct CountingSource(TableTrace, AtomicUsize);

    impl FilterLayer for CountingSource {
        fn inner_source(&self) -> &dyn TimelineSource {
            &self.0
        }

        fn states(
            &self,
            lane: StateLaneId,
            time_range: TimeRange,
            limit: usize,
        ) -> Result<EntityList<StateEntity>, QueryError> {
            let states = self.0.states(lane, time_range, limit)?;
            self.1.fetch_add(states.items.len(), Ordering::Relaxed);
            Ok(states)
        }
    }

    #[test]
    fn slices_have_the_lists_of_all_their_records() {
        let program = example_program(2, 3, 4);
        let (extent, model) = (program.extent(), program.model());
        let lists = record_lists(&program, &model, |_| true);
        assert!(lists.len() > 3, "{lists:?}");
        for records in [1, 40, 300, 100_000] {
            let slices = RecordSlices::with_windows(lists.clone(), extent, records, 1);
            let nanos = extent.to.0 - extent.from.0;
            for part in 0..20 {
                let range = extent.from.0 + nanos * part / 20..extent.from.0 + nanos * (part + 2) / 20 + 1;
                let found = slices.lists(&program, &range).expect("no error");
                let has_records = |list: &&RecordList| {
                    let mut has_some = false;
                    visit_times(&program, **list, &range, |_| has_some = true).expect("no error");
                    has_some
                };
                assert!(lists.iter().filter(has_records).all(|list| found.contains(list)), "{records} {range:?}");
                assert!(found.is_sorted_by_key(|list| lists.iter().position(|other| other == list)));
            }
        }
    }

    #[test]
    fn a_search_reads_the_states_around_its_time() {
        let source = CountingSource(example_program(2, 3, 60), AtomicUsize::new(0));
        let (extent, model, state_count) = (source.0.extent(), source.0.model(), source.0.states.len());
        let lists = record_lists(&source, &model, |_| true);
        let slices = RecordSlices::with_windows(lists, extent, 2 * state_count as u64, 1);
        let middle = i64::midpoint(extent.from.0, extent.to.0);
        let states_read = |time: i64| {
            let old_count = source.1.load(Ordering::Relaxed);
            let lists = slices.lists(&source, &(time..time + 1000)).expect("no error");
            assert!(lists.len() < slices.lists.len());
            source.1.load(Ordering::Relaxed) - old_count
        };
        let first = states_read(middle);
        assert!(0 < first && first * 10 < state_count, "{first} of {state_count}");
        assert_eq!(states_read(middle + 5000), 0, "the window is in memory");
        // All windows together are few, so that each state is read a few times at most.
        let nanos = extent.to.0 - extent.from.0;
        let sum: usize = (0..1000).map(|part| states_read(extent.from.0 + nanos * part / 1001)).sum();
        assert!(sum < 3 * state_count, "{sum} of {state_count}");
    }
}
