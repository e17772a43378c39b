//! [`RecordSearch`]: the records next to a time, found by queries of short time ranges.

use std::ops::Range;
use std::sync::Arc;

use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeId,
};

use super::record_slices::{RecordList, RecordSlices, record_lists};
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// Entities per request. If a list has more, the time range is too long.
const MAX_PER_LIST: usize = 512;

/// Links per request. Most links that overlap a short time range begin and end outside of it.
const MAX_LINKS: usize = 1 << 16;

/// Maximum number of records in memory: many times as many as a list shows.
const MAX_RECORDS: usize = 4096;

/// The kind of a record, in the order of records with equal timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TraceRecordKind {
    StateEnd,
    Receive,
    StateBegin,
    Event,
    Send,
}

/// The begin or end of a state, an event, or an endpoint of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TraceRecord {
    pub(crate) time: i64,
    pub(crate) kind: TraceRecordKind,
    container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) entity: EntityId,
}

impl TraceRecord {
    pub(crate) fn container(&self) -> EntityId {
        EntityId::Container(self.container)
    }
}

/// Some records by time.
#[derive(Debug, Default)]
pub(crate) struct FoundRecords {
    pub(crate) records: Vec<TraceRecord>,
    /// Whether there are more records at one timestamp than a list may have.
    pub(crate) is_cut: bool,
}

impl FoundRecords {
    fn is_full(&self) -> bool {
        self.is_cut || self.records.len() > MAX_RECORDS
    }
}

/// The containers and types that have records.
pub(crate) struct RecordSearch<'a> {
    source: &'a dyn TimelineSource,
    lists: Arc<RecordSlices>,
    links: Vec<TypeId>,
    extent: TimeRange,
    /// The length of the time range with which a search begins.
    first_nanos: i64,
    containers: RecordContainers<'a>,
}

/// The view lists the records of these containers.
#[derive(Clone, Copy, Debug)]
enum RecordContainers<'a> {
    All,
    /// Those of the chosen units.
    Units(&'a Execution),
    /// Those of one unit.
    Unit(&'a Execution, u32),
}

impl RecordContainers<'_> {
    fn contain(self, container: ContainerId) -> bool {
        match self {
            Self::All => true,
            Self::Units(execution) => execution.units().owner(container).is_some(),
            Self::Unit(execution, unit) => execution.units().owner(container) == Some(unit),
        }
    }

    /// The key of the lists of these containers. An execution has one choice of units.
    fn key(self) -> String {
        match self {
            Self::All => "records".to_owned(),
            Self::Units(_) => "records of units".to_owned(),
            Self::Unit(_, unit) => format!("records of unit {unit}"),
        }
    }
}

impl<'a> RecordSearch<'a> {
    /// The records of all containers, of the chosen units, or of one unit.
    ///
    /// # Errors
    /// The errors of the source.
    pub(crate) fn new(execution: &'a Execution, unit: Option<usize>) -> Result<Self, PerspectiveError> {
        let (source, model) = (execution.source(), execution.model());
        let containers = match unit.and_then(|unit| u32::try_from(unit).ok()) {
            Some(unit) => RecordContainers::Unit(execution, unit),
            None if execution.units().is_restricted() => RecordContainers::Units(execution),
            None => RecordContainers::All,
        };
        let is_link = |kind: PajeTypeKind| matches!(kind, PajeTypeKind::Link { .. });
        let links = model.types.iter().filter(|ty| is_link(ty.kind)).map(|ty| ty.id).collect();
        let (extent, summary) = (execution.extent(), source.summary());
        let of_states = summary.states.saturating_mul(2).saturating_add(summary.events);
        let records = of_states.saturating_add(summary.links.saturating_mul(2));
        let lists = execution.derived(&containers.key(), || {
            let lists = record_lists(source, model, |container| containers.contain(container));
            Ok(RecordSlices::new(lists, extent, of_states))
        })?;
        let nanos =
            i64::try_from(u64::try_from(extent.to.0.saturating_sub(extent.from.0)).unwrap_or(0) / records.max(1));
        let first_nanos = nanos.unwrap_or(i64::MAX).saturating_mul(32).max(1);
        Ok(Self { source, lists, links, extent, first_nanos, containers })
    }

    /// The last `count` records until a time, the time included.
    pub(crate) fn records_before(&self, time: i64, count: usize) -> Result<FoundRecords, QueryError> {
        let end = time.min(self.extent.to.0).saturating_add(1);
        let mut found = self.nearest_records(count, |nanos| end.saturating_sub(nanos).max(self.extent.from.0)..end)?;
        let first = found.records.len().saturating_sub(count);
        found.records.drain(..first);
        Ok(found)
    }

    /// The first `count` records after a time.
    pub(crate) fn records_after(&self, time: i64, count: usize) -> Result<FoundRecords, QueryError> {
        let start = time.saturating_add(1).max(self.extent.from.0);
        let end = self.extent.to.0.saturating_add(1);
        let mut found = self.nearest_records(count, |nanos| start..start.saturating_add(nanos).min(end))?;
        found.records.truncate(count);
        Ok(found)
    }

    /// The records of a time range that has at least `count` records and not too many. `part` gives
    /// the time range of a length; it grows and shrinks until it fits.
    fn nearest_records(&self, count: usize, part: impl Fn(i64) -> Range<i64>) -> Result<FoundRecords, QueryError> {
        let longest = part(i64::MAX);
        // The records of `low` nanoseconds are too few, those of `high` too many.
        let (mut low, mut high) = (0_i64, None);
        let (mut best, mut nanos) = (FoundRecords::default(), self.first_nanos);
        loop {
            let range = part(nanos);
            let mut records = self.collect(&range)?;
            if records.is_cut && nanos <= low.saturating_add(1) {
                // A single timestamp has too many records.
                records.records.append(&mut best.records);
                records.records.sort_unstable();
                records.records.dedup();
                return Ok(records);
            }
            if records.is_cut {
                high = Some(nanos);
            } else if records.records.len() >= count || range == longest {
                return Ok(records);
            } else {
                (low, best) = (nanos, records);
            }
            nanos = high.map_or_else(|| nanos.saturating_mul(4), |high| low + ((high - low) / 2).max(1));
        }
    }

    /// All records at timestamps in a range, by time. If there are too many, some of them.
    fn collect(&self, range: &Range<i64>) -> Result<FoundRecords, QueryError> {
        let mut found = FoundRecords::default();
        if range.is_empty() {
            return Ok(found);
        }
        for list in self.lists.lists(self.source, range)? {
            self.collect_list(list, range, &mut found)?;
            if found.is_full() {
                break;
            }
        }
        self.collect_links(range, &mut found)?;
        found.is_cut |= found.records.len() > MAX_RECORDS;
        found.records.sort_unstable();
        Ok(found)
    }

    /// Adds the records of a list of states or events.
    fn collect_list(&self, list: RecordList, range: &Range<i64>, records: &mut FoundRecords) -> Result<(), QueryError> {
        match list {
            RecordList::States(lane) => {
                let states = self.source.states(lane, overlap_range(range), MAX_PER_LIST)?;
                records.is_cut |= states.total > states.items.len() as u64;
                for state in states.items {
                    let TimeRange { from, to } = state.life;
                    let ends = [(from.0, TraceRecordKind::StateBegin), (to.0, TraceRecordKind::StateEnd)];
                    for (time, kind) in ends.into_iter().filter(|(time, _)| range.contains(time)) {
                        let (container, ty, entity) = (lane.container, lane.ty, state.id);
                        records.records.push(TraceRecord { time, kind, container, ty, entity });
                    }
                }
            }
            RecordList::Events(container, ty) => {
                let events = self.source.events(container, ty, overlap_range(range), MAX_PER_LIST)?;
                records.is_cut |= events.total > events.items.len() as u64;
                for event in events.items.into_iter().filter(|event| range.contains(&event.time.0)) {
                    let (time, kind, entity) = (event.time.0, TraceRecordKind::Event, event.id);
                    records.records.push(TraceRecord { time, kind, container, ty, entity });
                }
            }
        }
        Ok(())
    }

    fn collect_links(&self, range: &Range<i64>, records: &mut FoundRecords) -> Result<(), QueryError> {
        for ty in &self.links {
            if records.is_full() {
                break;
            }
            let links = self.source.links(*ty, overlap_range(range), MAX_LINKS)?;
            records.is_cut |= links.total > links.items.len() as u64;
            for link in links.items {
                let ends = [
                    (link.start_time.0, TraceRecordKind::Send, link.start),
                    (link.end_time.0, TraceRecordKind::Receive, link.end),
                ];
                for (time, kind, container) in ends {
                    if range.contains(&time) && self.containers.contain(container) {
                        records.records.push(TraceRecord { time, kind, container, ty: *ty, entity: link.id });
                    }
                }
            }
        }
        Ok(())
    }
}

/// A time range that overlaps all entities that begin or end in a range. An entity does not overlap
/// a time range that begins at its end.
fn overlap_range(range: &Range<i64>) -> TimeRange {
    TimeRange { from: GlobalNanos(range.start.saturating_sub(1)), to: GlobalNanos(range.end) }
}
