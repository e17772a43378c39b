//! Counts of point events and links, for cases in which they are too many to be listed:
//! [`EventCount`] and [`LinkCount`].
//!
//! The functions count the entities of any lists, so that each source has an answer. Their memory
//! does not grow with the number of entities.

use rustc_hash::FxHashMap;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, ValueId};

use super::entities::{EntityId, EntityList, EventEntity, LinkEntity};
use super::entity_pages;
use super::error::QueryError;

/// Approximate number of entities in a time column of a scan. To list the begin of a time range, a
/// filter may have to scan the whole time range.
const ENTITIES_PER_COLUMN: u64 = 1 << 16;

/// Point events of one column, by value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// Number of all events.
    pub total: u64,
    /// The number of events of each value. The most frequent come first, those of equal number by
    /// value.
    pub values: Vec<EventValueCount>,
}

/// The number of events of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct EventValueCount {
    pub value: ValueId,
    pub count: u64,
}

impl EventCount {
    /// Creates a count from numbers by value, in any order. Numbers of equal values are added.
    pub fn of(parts: impl IntoIterator<Item = EventValueCount>, max_count: usize) -> Self {
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        for EventValueCount { value, count } in parts {
            *numbers.entry(value).or_default() += count;
        }
        let parts = numbers.into_iter().filter(|part| part.1 > 0);
        let mut values: Vec<_> = parts.map(|(value, count)| EventValueCount { value, count }).collect();
        let total = values.iter().map(|part| part.count).sum();
        values.sort_unstable_by(|a, b| b.count.cmp(&a.count).then(a.value.cmp(&b.value)));
        values.truncate(max_count);
        Self { total, values }
    }
}

/// A number of links with the same value, containers and time bins at both endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkCount {
    /// The container in which they start.
    pub start: ContainerId,
    /// The container in which they end.
    pub end: ContainerId,
    /// The value that all of them have.
    pub value: ValueId,
    /// Number of the bin in which they start: the timestamp, shifted right by the requested
    /// exponent.
    pub start_bin: i64,
    /// Number of the bin in which they end.
    pub end_bin: i64,
    /// Whether they end before they start.
    pub is_reversed: bool,
    /// The number of these links.
    pub count: u64,
    /// The link with the smallest number.
    pub first: EntityId,
}

impl LinkCount {
    /// Creates a count of one link. The bins are its timestamps, shifted right by `exponent`.
    pub fn of_link(link: &LinkEntity, exponent: u8) -> Self {
        let bin = |timestamp: i64| timestamp >> exponent.min(63);
        Self {
            start: link.start,
            end: link.end,
            value: link.value,
            start_bin: bin(link.start_time.0),
            end_bin: bin(link.end_time.0),
            is_reversed: link.end_time < link.start_time,
            count: 1,
            first: link.id,
        }
    }
}

/// A function that receives the counts of links one by one.
pub type LinkVisitor<'a> = dyn FnMut(&LinkCount) -> Result<(), QueryError> + 'a;

/// Counts the events that `list` lists, column by column.
pub(crate) fn events(
    list: impl Fn(TimeRange, usize) -> Result<EntityList<EventEntity>, QueryError>,
    time_range: TimeRange,
    columns: u32,
    max_count: usize,
) -> Result<Vec<EventCount>, QueryError> {
    // Fails at once if the source rejects the time range.
    list(time_range, 0)?;
    let count = |column: TimeRange| {
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        visit_each_once(
            &list,
            |mark| (mark.id, mark.time.0),
            column,
            |mark| {
                *numbers.entry(mark.value).or_default() += 1;
                Ok(())
            },
        )?;
        let numbers = numbers.into_iter().map(|(value, count)| EventValueCount { value, count });
        Ok(EventCount::of(numbers, max_count))
    };
    if columns == 0 { Err(QueryError::EmptyTimeRange) } else { time_range.columns(columns).map(count).collect() }
}

/// Counts the links that `list` lists.
pub(crate) fn links(
    list: impl Fn(TimeRange, usize) -> Result<EntityList<LinkEntity>, QueryError>,
    time_range: TimeRange,
    exponent: u8,
    visit: &mut LinkVisitor<'_>,
) -> Result<(), QueryError> {
    let key = |link: &LinkEntity| (link.id, link.start_time.0.min(link.end_time.0));
    visit_each_once(list, key, time_range, |link| visit(&LinkCount::of_link(link, exponent)))
}

/// Visits each entity of a time range once, column by column. `key` returns its number and the
/// timestamp at which it begins.
fn visit_each_once<T>(
    list: impl Fn(TimeRange, usize) -> Result<EntityList<T>, QueryError>,
    key: impl Fn(&T) -> (EntityId, i64),
    time_range: TimeRange,
    mut visit: impl FnMut(&T) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let total = list(time_range, 0)?.total;
    // A column is at least one nanosecond wide. Otherwise, columns would overlap.
    let width = time_range.to.0.abs_diff(time_range.from.0);
    let columns = u32::try_from(total.div_ceil(ENTITIES_PER_COLUMN).min(width)).unwrap_or(u32::MAX);
    for column in time_range.columns(columns) {
        // Entities that began before the first column belong to it.
        let is_first = column.from == time_range.from;
        let mut visit = |item: &T| if is_first || key(item).1 >= column.from.0 { visit(item) } else { Ok(()) };
        entity_pages::visit(column, &list, &key, &mut visit)?;
    }
    Ok(())
}
