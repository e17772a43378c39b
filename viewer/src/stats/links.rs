//! Communication: who sent how much to whom, and how long it took.

use std::collections::BTreeMap;

use super::Durations;
use crate::query::walk;
use crate::query::{ContainerId, EntityId, Interval, QueryError, TimelineSource, TypeId, ValueId};

/// The links of one value from one container to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exchange {
    /// From start to end, in nanoseconds; negative where clocks were not corrected.
    pub durations: Durations,
    /// Sum of the field that tells their sizes, where there is one.
    pub size: Option<f64>,
}

/// Where a link starts and ends, and its value.
type Ends = (ContainerId, ContainerId, ValueId);

/// The links of a type that overlap an interval, by ends and value: the matrix of communication. Each link is read; with a field,
/// its facts are.
///
/// # Errors
/// As [`TimelineSource::links`].
pub fn exchanges(
    source: &dyn TimelineSource,
    ty: TypeId,
    interval: Interval,
    field: Option<&str>,
) -> Result<BTreeMap<Ends, Exchange>, QueryError> {
    let mut all: BTreeMap<Ends, (Vec<i64>, Option<f64>)> = BTreeMap::new();
    walk::links(source, ty, interval, |link| {
        let (nanos, sum) = all.entry((link.start, link.end, link.value)).or_default();
        nanos.push(link.end_time.0.saturating_sub(link.start_time.0));
        if let Some(field) = field
            && let Some(size) = number(source, link.id, field)?
        {
            *sum = Some(sum.unwrap_or(0.0) + size);
        }
        Ok(())
    })?;
    Ok(all
        .into_iter()
        .map(|(ends, (nanos, size))| (ends, Exchange { durations: nanos.into_iter().collect(), size }))
        .collect())
}

/// The number in a field of an entity.
pub fn number(source: &dyn TimelineSource, id: EntityId, field: &str) -> Result<Option<f64>, QueryError> {
    let facts = source.facts(id)?;
    let text = facts.fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
    Ok(text.and_then(|(_, text)| text.trim().parse().ok()))
}

/// The field of a link type that tells sizes, by its name: the first link of the interval that has one of the usual names decides.
///
/// # Errors
/// As [`TimelineSource::links`].
pub fn size_field(source: &dyn TimelineSource, ty: TypeId, interval: Interval) -> Result<Option<String>, QueryError> {
    const NAMES: [&str; 4] = ["bytes", "size", "length", "volume"];
    const LOOKED_AT: usize = 100;
    for link in source.links(ty, interval, LOOKED_AT)?.items {
        let facts = source.facts(link.id)?;
        let usual = |name: &String| NAMES.iter().any(|usual| name.eq_ignore_ascii_case(usual));
        if let Some((name, _)) = facts.fields.into_iter().find(|(name, _)| usual(name)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
