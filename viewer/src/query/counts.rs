//! Point events and links as numbers, where they are too many to be listed: [`EventCount`], [`LinkCount`], and how they are counted of any
//! lists, so that each source has an answer, in memory that does not grow with the number of entities.

use rustc_hash::FxHashMap;

use super::{ContainerId, EntityId, Interval, Link, Listed, Mark, QueryError, TimelineSource, TypeId, ValueId};
use crate::query::walk;

/// Entities of a stretch, about. A filter may have to look through a whole interval to list its beginning.
const STRETCH: u64 = 1 << 16;

/// Point events of one column, by value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// All of them.
    pub total: u64,
    /// How many of each value, the most frequent first, those of equal number by value.
    pub values: Vec<(ValueId, u64)>,
}

impl EventCount {
    /// From numbers by value, in any order; of equal values they add up.
    pub fn of(parts: impl IntoIterator<Item = (ValueId, u64)>, most: usize) -> Self {
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        for (value, number) in parts {
            *numbers.entry(value).or_default() += number;
        }
        let mut values: Vec<_> = numbers.into_iter().filter(|part| part.1 > 0).collect();
        let total = values.iter().map(|part| part.1).sum();
        values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        values.truncate(most);
        Self { total, values }
    }
}

/// Links that are alike: of one value, from one container to another, each end in one stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinkCount {
    /// Where they start.
    pub start: ContainerId,
    /// Where they end.
    pub end: ContainerId,
    /// Their value.
    pub value: ValueId,
    /// Number of the stretch in which they start: the date, shifted right by the exponent that was asked for.
    pub start_bin: i64,
    /// Number of the stretch in which they end.
    pub end_bin: i64,
    /// Whether their end comes before their start.
    pub reversed: bool,
    /// How many they are.
    pub count: u64,
    /// The one of them with the least number.
    pub first: EntityId,
}

impl LinkCount {
    /// A link alone.
    pub(crate) fn one(link: &Link, exponent: u8) -> Self {
        let bin = |date: i64| date >> exponent.min(63);
        Self {
            start: link.start,
            end: link.end,
            value: link.value,
            start_bin: bin(link.start_time.0),
            end_bin: bin(link.end_time.0),
            reversed: link.end_time < link.start_time,
            count: 1,
            first: link.id,
        }
    }
}

/// Whoever is given counts of links, one after the other.
pub type LinkVisitor<'a> = dyn FnMut(&LinkCount) -> Result<(), QueryError> + 'a;

/// Counts events column by column, as they are listed by `ask`.
pub(crate) fn events(
    ask: impl Fn(Interval, usize) -> Result<Listed<Mark>, QueryError>,
    interval: Interval,
    columns: u32,
    most: usize,
) -> Result<Vec<EventCount>, QueryError> {
    // What refuses an interval refuses it at once.
    ask(interval, 0)?;
    let count = |column: Interval| {
        let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
        each(
            &ask,
            |mark| (mark.id, mark.time.0),
            column,
            |mark| {
                *numbers.entry(mark.value).or_default() += 1;
                Ok(())
            },
        )?;
        Ok(EventCount::of(numbers, most))
    };
    if columns == 0 { Err(QueryError::EmptyInterval) } else { interval.columns(columns).map(count).collect() }
}

/// Counts links, as they are listed by `ask`.
pub(crate) fn links(
    ask: impl Fn(Interval, usize) -> Result<Listed<Link>, QueryError>,
    interval: Interval,
    exponent: u8,
    visit: &mut LinkVisitor<'_>,
) -> Result<(), QueryError> {
    let key = |link: &Link| (link.id, link.start_time.0.min(link.end_time.0));
    each(ask, key, interval, |link| visit(&LinkCount::one(link, exponent)))
}

/// Visits each entity of an interval once, stretch by stretch; `key` gives its number and the date at which it begins.
fn each<T>(
    ask: impl Fn(Interval, usize) -> Result<Listed<T>, QueryError>,
    key: impl Fn(&T) -> (EntityId, i64),
    interval: Interval,
    mut visit: impl FnMut(&T) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let total = ask(interval, 0)?.total;
    // No narrower than a nanosecond: stretches would overlap.
    let width = interval.to.0.abs_diff(interval.from.0);
    let stretches = u32::try_from(total.div_ceil(STRETCH).min(width)).unwrap_or(u32::MAX);
    for stretch in interval.columns(stretches) {
        // What began before the first stretch belongs to that.
        let is_first = stretch.from == interval.from;
        let mut visit = |item: &T| if is_first || key(item).1 >= stretch.from.0 { visit(item) } else { Ok(()) };
        walk::pages(stretch, &ask, &key, &mut visit)?;
    }
    Ok(())
}

/// How many links of each value overlap an interval.
///
/// # Errors
/// As [`TimelineSource::link_counts`].
pub(crate) fn link_values(
    source: &dyn TimelineSource,
    ty: TypeId,
    interval: Interval,
) -> Result<FxHashMap<ValueId, u64>, QueryError> {
    let mut numbers: FxHashMap<ValueId, u64> = FxHashMap::default();
    source.link_counts(ty, interval, 63, &mut |count| {
        *numbers.entry(count.value).or_default() += count.count;
        Ok(())
    })?;
    Ok(numbers)
}
