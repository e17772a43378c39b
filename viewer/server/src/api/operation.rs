//! The collective operation of a state, for the inspector and for the marks over the diagram.

use serde_json::{Value, json};

use super::FilteredTrace;
use tumit_viewer::query::{EntityFacts, EntityId, OperationFacts, OperationPart, QueryError};
use tumit_viewer::scene::wire::entity;

/// Maximum number of parts in an answer. Few screens have room for as many rows.
const MAX_PARTS: usize = 1024;

/// The collective operation of a state with these facts. Null if it is no part of a known
/// operation.
///
/// If the operation has more than [`MAX_PARTS`] parts, those of the nearest containers are listed,
/// in the order in which containers were created. All other facts are of all parts.
pub(super) fn operation_json(trace: &FilteredTrace, facts: &EntityFacts) -> Result<Value, QueryError> {
    let Some(operation) = OperationFacts::of(trace.source.as_ref(), facts)? else { return Ok(Value::Null) };
    let part = |id: EntityId| part_json(trace, id);
    let place = operation.parts.iter().position(|part| part.id == facts.id);
    let shown_parts = nearest_parts(&operation.parts, facts.id);
    Ok(json!({
        "kind": operation.kind.word(),
        "bytes": operation.bytes,
        "count": operation.parts.len(),
        "place": place.map(|place| place + 1),
        "spread": operation.entry_spread(),
        "first": part(operation.first.id)?,
        "last": part(operation.last.id)?,
        "root": operation.root.map(part).transpose()?,
        "parts": shown_parts.iter().map(|listed| part(listed.id)).collect::<Result<Vec<Value>, _>>()?,
    }))
}

/// The parts near one of them, by the time at which they enter.
fn nearest_parts(parts: &[OperationPart], state: EntityId) -> Vec<OperationPart> {
    if parts.len() <= MAX_PARTS {
        return parts.to_vec();
    }
    // States are numbered by container.
    let mut by_container = parts.to_vec();
    by_container.sort_unstable_by_key(|part| part.id);
    let nearest = by_container.partition_point(|part| part.id < state);
    let first = nearest.saturating_sub(MAX_PARTS / 2).min(by_container.len() - MAX_PARTS);
    let mut nearest = by_container[first..first + MAX_PARTS].to_vec();
    nearest.sort_unstable_by_key(|part| (part.enter, part.id));
    nearest
}

/// A part with its container and the containers above, the nearest last. If a row is folded, one of
/// these is visible.
fn part_json(trace: &FilteredTrace, id: EntityId) -> Result<Value, QueryError> {
    let facts = trace.source.facts(id)?;
    let containers = trace.outline.ancestors(facts.container).into_iter().chain([facts.container]);
    Ok(json!({
        "id": entity(id),
        "name": facts.container_path.last(),
        "containers": containers.map(|container| container.0).collect::<Vec<u32>>(),
        "enter": facts.life.from.0.saturating_sub(trace.origin),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tumit_viewer::query::GlobalNanos;

    #[test]
    fn the_listed_parts_are_the_nearest_ones_by_entry() {
        // Later containers enter earlier.
        let part =
            |number: u32| OperationPart { id: EntityId::State(number), enter: GlobalNanos(10_000 - i64::from(number)) };
        let mut parts: Vec<OperationPart> = (0..3000).map(part).collect();
        parts.reverse();
        for (near, first) in [(0, 0), (1500, 988), (2999, 1976)] {
            let listed = nearest_parts(&parts, EntityId::State(near));
            let expected: Vec<OperationPart> = (first..first + 1024).rev().map(part).collect();
            assert_eq!(listed, expected);
        }
        assert_eq!(nearest_parts(&parts[..5], EntityId::State(0)), parts[..5]);
    }
}
