//! [`RecordSlices`]: the lists of a trace that have records in each slice of time.

use std::ops::Range;

use tumit_viewer::parallel_map::map_indexes;
use tumit_viewer::query::{
    ContainerId, GlobalNanos, NestedLaneGroup, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource,
    TypeId, TypeModel, entity_walk,
};

/// Lists below which a search examines all of them.
const MIN_LISTS: usize = 1 << 13;
/// Records above which a search examines all lists. They take four bytes each.
const MAX_RECORDS: u64 = 1 << 26;
/// Mean number of records per slice.
const RECORDS_PER_SLICE: u64 = 1 << 8;
/// Lists that a thread reads at a time, at least.
const LISTS_AT_ONCE: usize = 1 << 8;

/// The states of a lane, or the events of a type in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordList {
    States(StateLaneId),
    Events(ContainerId, TypeId),
}

/// The lists of a trace, and those with records in each slice of time. Without slices, each list
/// may have records at any time.
#[derive(Debug, Default)]
pub(super) struct RecordSlices {
    lists: Vec<RecordList>,
    extent: Option<TimeRange>,
    /// The place of the first list of each slice, and the end. Empty without slices.
    starts: Vec<usize>,
    /// The indexes of the lists, slice by slice.
    members: Vec<u32>,
}

impl RecordSlices {
    /// Reads the timestamps of all records if there are many lists and not too many records.
    ///
    /// # Errors
    /// The errors of the source.
    pub(super) fn new(
        source: &dyn TimelineSource,
        lists: Vec<RecordList>,
        extent: TimeRange,
        records: u64,
    ) -> Result<Self, QueryError> {
        if lists.len() < MIN_LISTS || records > MAX_RECORDS {
            return Ok(Self { lists, ..Self::default() });
        }
        let count = usize::try_from(records / RECORDS_PER_SLICE).unwrap_or(usize::MAX).max(1);
        Self::with_slices(source, lists, extent, count)
    }

    fn with_slices(
        source: &dyn TimelineSource,
        lists: Vec<RecordList>,
        extent: TimeRange,
        count: usize,
    ) -> Result<Self, QueryError> {
        let slices = map_indexes(lists.len(), LISTS_AT_ONCE, |list| {
            let mut slices = Vec::new();
            visit_times(source, lists[list], extent, |time| slices.push(slice(extent, count, time)))?;
            slices.sort_unstable();
            slices.dedup();
            Ok(slices)
        });
        let slices: Vec<Vec<usize>> = slices.into_iter().collect::<Result<_, QueryError>>()?;
        let mut starts = vec![0; count + 1];
        slices.iter().flatten().for_each(|slice| starts[slice + 1] += 1);
        (0..count).for_each(|slice| starts[slice + 1] += starts[slice]);
        let (mut next, mut members) = (starts.clone(), vec![0; starts[count]]);
        for (slices, list) in slices.iter().zip(0..) {
            for slice in slices {
                members[next[*slice]] = list;
                next[*slice] += 1;
            }
        }
        Ok(Self { lists, extent: Some(extent), starts, members })
    }

    /// The lists that may have records at timestamps in a range, in order.
    pub(super) fn lists(&self, range: &Range<i64>) -> Vec<RecordList> {
        let Some(extent) = self.extent.filter(|_| !range.is_empty()) else { return self.lists.clone() };
        let place = |time| slice(extent, self.starts.len() - 1, time);
        let members = self.starts[place(range.start)]..self.starts[place(range.end - 1) + 1];
        let mut members = self.members[members].to_vec();
        members.sort_unstable();
        members.dedup();
        members.into_iter().map(|list| self.lists[list as usize]).collect()
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
    for info in source.containers().iter().filter(|info| is_selected(info.id)) {
        let types = source.types_in(info.id);
        let has_type = |ty: &&TypeId| types.as_ref().is_none_or(|types| types.contains(ty));
        lists.extend(events.iter().filter(has_type).map(|ty| RecordList::Events(info.id, *ty)));
    }
    lists
}

/// The slice of a timestamp. Slices have equal lengths.
fn slice(extent: TimeRange, count: usize, time: i64) -> usize {
    let offset = i128::from(time.clamp(extent.from.0, extent.to.0)) - i128::from(extent.from.0);
    let nanos = (i128::from(extent.to.0) - i128::from(extent.from.0)).max(1);
    let number = u64::try_from(offset * count as i128 / nanos).unwrap_or(0);
    usize::try_from(number).unwrap_or(usize::MAX).min(count - 1)
}

/// Visits the timestamps of the records of a list.
fn visit_times(
    source: &dyn TimelineSource,
    list: RecordList,
    extent: TimeRange,
    mut visit: impl FnMut(i64),
) -> Result<(), QueryError> {
    let (from, to) = (extent.from.0.saturating_sub(1), extent.to.0.saturating_add(1));
    let all = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
    match list {
        RecordList::States(lane) => entity_walk::states(source, lane, all, |state| {
            visit(state.life.from.0);
            visit(state.life.to.0);
            Ok(())
        }),
        RecordList::Events(container, ty) => entity_walk::events(source, (container, ty), all, |event| {
            visit(event.time.0);
            Ok(())
        }),
    }
}

#[cfg(test)]
mod tests {
    use tumit_test_support::table_trace::example_program;
    use tumit_viewer::query::TimelineSource;

    use super::{RecordList, RecordSlices, record_lists, visit_times};

    #[test]
    fn slices_have_the_lists_of_all_their_records() {
        let program = example_program(2, 3, 4);
        let (extent, model) = (program.extent(), program.model());
        let lists = record_lists(&program, &model, |_| true);
        assert!(lists.len() > 3, "{lists:?}");
        for count in [1, 2, 7, 100] {
            let slices = RecordSlices::with_slices(&program, lists.clone(), extent, count).expect("no error");
            let nanos = extent.to.0 - extent.from.0;
            for part in 0..20 {
                let range = extent.from.0 + nanos * part / 20..extent.from.0 + nanos * (part + 2) / 20 + 1;
                let found = slices.lists(&range);
                let has_records = |list: &&RecordList| {
                    let mut has_some = false;
                    let visit = |time| has_some |= range.contains(&time);
                    visit_times(&program, **list, extent, visit).expect("no error");
                    has_some
                };
                assert!(lists.iter().filter(has_records).all(|list| found.contains(list)), "{count} {range:?}");
                assert!(found.is_sorted_by_key(|list| lists.iter().position(|other| other == list)));
            }
        }
    }
}
