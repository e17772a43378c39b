//! The links that start or end in a state, and the states at the endpoints of a link.

use tumit_viewer::query::{
    ContainerId, EntityId, GlobalNanos, LinkEntity, PajeTypeKind, QueryError, StateEntity, TimeRange, TimelineSource,
};

/// A time range that overlaps all entities that touch another one.
fn widen(range: TimeRange) -> TimeRange {
    let (from, to) = (range.from.0.saturating_sub(1), range.to.0.saturating_add(1));
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

/// All links of a source that overlap a time range.
fn links(source: &dyn TimelineSource, range: TimeRange) -> Result<Vec<LinkEntity>, QueryError> {
    let mut all = Vec::new();
    for ty in source.model().types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        all.extend(source.links(ty.id, range, usize::MAX)?.items);
    }
    Ok(all)
}

/// The links that start or end in a container in a time range, at its start or at its end.
///
/// # Errors
/// If the source fails.
pub(super) fn links_in(
    source: &dyn TimelineSource,
    container: ContainerId,
    life: TimeRange,
    limit: usize,
) -> Result<Vec<EntityId>, QueryError> {
    let is_within = |end: ContainerId, time: GlobalNanos| end == container && life.from <= time && time <= life.to;
    let touches = |link: &LinkEntity| is_within(link.start, link.start_time) || is_within(link.end, link.end_time);
    Ok(links(source, widen(life))?.into_iter().filter(touches).map(|link| link.id).take(limit).collect())
}

/// The states at both endpoints of a link. They include states that end or begin there. `list`
/// returns the states of a container in a time range.
///
/// # Errors
/// If the source fails.
pub(super) fn states_at_endpoints(
    source: &dyn TimelineSource,
    link: EntityId,
    list: impl Fn(ContainerId, TimeRange) -> Vec<StateEntity>,
) -> Result<Vec<EntityId>, QueryError> {
    let TimeRange { from, to } = source.facts(link)?.life;
    let life = widen(TimeRange { from: from.min(to), to: from.max(to) });
    let mut ids = Vec::new();
    if let Some(link) = links(source, life)?.into_iter().find(|candidate| candidate.id == link) {
        for (container, time) in [(link.start, link.start_time), (link.end, link.end_time)] {
            let instant = widen(TimeRange { from: time, to: time });
            ids.extend(list(container, instant).into_iter().map(|state| state.id));
        }
    }
    Ok(ids)
}
