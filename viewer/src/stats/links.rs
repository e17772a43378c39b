//! Communication: number, sizes and durations of links between containers.

use std::collections::BTreeMap;

use super::Durations;
use crate::query::entity_walk;
use crate::query::{ContainerId, EntityId, QueryError, TimeRange, TimelineSource, TypeId, ValueId};

/// The links of one value from one container to another.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LinkTraffic {
    /// From start to end, in nanoseconds. Negative for a link that ends before it starts, without
    /// clock correction.
    pub durations: Durations,
    /// Sum of the size field, if there is one.
    pub size: Option<f64>,
}

/// The containers of a link, and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LinkTrafficKey {
    /// The container in which the links start.
    pub start: ContainerId,
    /// The container in which they end.
    pub end: ContainerId,
    /// The value that all of them have.
    pub value: ValueId,
}

/// The communication matrix: the links of a type that overlap a time range, by endpoints and value.
/// Reads each link, and its facts if `field` is given.
///
/// # Errors
/// As [`TimelineSource::links`].
pub(crate) fn link_traffic(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
    field: Option<&str>,
) -> Result<BTreeMap<LinkTrafficKey, LinkTraffic>, QueryError> {
    let mut all: BTreeMap<LinkTrafficKey, (Vec<i64>, Option<f64>)> = BTreeMap::new();
    entity_walk::links(source, ty, time_range, |link| {
        let key = LinkTrafficKey { start: link.start, end: link.end, value: link.value };
        let (nanos, sum) = all.entry(key).or_default();
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
        .map(|(ends, (nanos, size))| (ends, LinkTraffic { durations: nanos.into_iter().collect(), size }))
        .collect())
}

/// Reads a field of an entity as a number. `None` if it has no such field or no number in it.
pub fn number(source: &dyn TimelineSource, id: EntityId, field: &str) -> Result<Option<f64>, QueryError> {
    Ok(source.number_fields(&[id], field)?.into_iter().next().flatten())
}

/// The name of the size field of a link type: a field with one of the usual names. It is found in
/// the first links of the time range, or in the first ones that never end.
///
/// # Errors
/// As [`TimelineSource::links`].
pub fn size_field(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
) -> Result<Option<String>, QueryError> {
    const NAMES: [&str; 4] = ["bytes", "size", "length", "volume"];
    // Number of links that are examined. Links of a type usually have the same fields.
    const EXAMINED: usize = 100;
    let links = source.links(ty, time_range, EXAMINED)?.items.into_iter().map(|link| link.id);
    let open_links = source.open_links(ty, time_range)?.into_iter().take(EXAMINED).map(|link| link.id);
    for id in links.chain(open_links) {
        let facts = source.facts(id)?;
        let usual = |name: &String| NAMES.iter().any(|usual| name.eq_ignore_ascii_case(usual));
        if let Some((name, _)) = facts.fields.into_iter().find(|(name, _)| usual(name)) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
