//! Comparison of all answers of two sources.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, TypeId};
use tumit_viewer::query::{EntityId, QueryError, StateLaneId, TimeRange, TimelineSource};

use super::EVER;
use super::dense_lanes::counted;

/// Compares all answers that are lists, over all time and over time ranges. Numbers of entities
/// must also agree.
pub(crate) fn compare(a: &dyn TimelineSource, b: &dyn TimelineSource) -> Result<(), QueryError> {
    assert_eq!(a.summary(), b.summary());
    assert_eq!(a.model(), b.model());
    assert_eq!(a.containers(), b.containers());
    let extent = a.summary().extent;
    let length = extent.to.0 - extent.from.0;
    let range = |from: i64, to: i64| TimeRange {
        from: GlobalNanos(extent.from.0 + length * from / 100),
        to: GlobalNanos(extent.from.0 + length * to / 100 + 1),
    };
    let time_ranges = [EVER, range(10, 11), range(37, 92), range(50, 50)];
    for container in a.containers().iter() {
        for ty in &a.model().types {
            compare_lane(a, b, container.id, ty.id, &time_ranges)?;
        }
        assert_eq!(a.facts(EntityId::Container(container.id))?, b.facts(EntityId::Container(container.id))?);
    }
    compare_entities(a, b)
}

/// Compares the answers about a container and a type.
fn compare_lane(
    a: &dyn TimelineSource,
    b: &dyn TimelineSource,
    container: ContainerId,
    ty: TypeId,
    time_ranges: &[TimeRange],
) -> Result<(), QueryError> {
    let depths = [a.depths(container, ty), b.depths(container, ty)];
    b.links(ty, EVER, 0)?;
    assert_eq!(depths[0], depths[1]);
    for &time_range in time_ranges {
        for depth in 0..a.depths(container, ty) {
            let lane = StateLaneId { container, ty, depth };
            assert_eq!(a.states(lane, time_range, usize::MAX)?, b.states(lane, time_range, usize::MAX)?);
            assert_eq!(a.states(lane, time_range, 3)?, b.states(lane, time_range, 3)?);
            for columns in [1, 90] {
                assert_eq!(a.cells(&[lane], time_range, columns)?, b.cells(&[lane], time_range, columns)?);
            }
        }
        assert_eq!(a.events(container, ty, time_range, 1000)?, b.events(container, ty, time_range, 1000)?);
        for (columns, limit) in [(1, usize::MAX), (40, 2)] {
            let counts = |source: &dyn TimelineSource| source.event_counts(container, ty, time_range, columns, limit);
            assert_eq!(counts(a)?, counts(b)?);
        }
        for exponent in [0, 6, 63] {
            assert_eq!(counted(a, ty, time_range, exponent)?, counted(b, ty, time_range, exponent)?);
        }
        assert_eq!(a.samples(container, ty, time_range, 1000)?, b.samples(container, ty, time_range, 1000)?);
        assert_eq!(a.links(ty, time_range, 1000)?, b.links(ty, time_range, 1000)?);
        assert_eq!(a.open_links(ty, time_range)?, b.open_links(ty, time_range)?);
    }
    // These methods cannot report damage. The next query can.
    let ranges = [a.value_range(ty), b.value_range(ty)];
    b.links(ty, EVER, 0)?;
    assert_eq!(ranges[0], ranges[1]);
    Ok(())
}

/// Compares the facts and the related entities of some entities of each kind.
fn compare_entities(a: &dyn TimelineSource, b: &dyn TimelineSource) -> Result<(), QueryError> {
    let (counts, containers) = (a.summary(), a.containers());
    let numbers = |count: u64| (0..count as u32).step_by((count as usize / 60).max(1));
    let mut open_links = 0;
    for ty in &a.model().types {
        open_links += a.open_links(ty.id, EVER)?.len() as u64;
    }
    let entities = numbers(counts.states)
        .map(EntityId::State)
        .chain(numbers(open_links).map(EntityId::OpenLink))
        .chain(numbers(counts.events).map(EntityId::Event))
        .chain(numbers(counts.links).map(EntityId::Link))
        .chain(numbers(counts.samples).map(EntityId::Sample))
        .chain(containers.iter().map(|container| EntityId::Container(container.id)));
    for id in entities {
        let facts = a.facts(id)?;
        assert_eq!(facts, b.facts(id)?);
        for (name, _) in facts.fields.iter().chain([&("absent".to_owned(), String::new())]) {
            let text = facts.fields.iter().find(|field| field.0.eq_ignore_ascii_case(name));
            let expected = text.and_then(|(_, text)| text.trim().parse::<f64>().ok()).map(f64::to_bits);
            for source in [a, b] {
                let numbers = source.number_fields(&[id], &name.to_uppercase())?;
                let bits: Vec<Option<u64>> = numbers.into_iter().map(|number| number.map(f64::to_bits)).collect();
                assert_eq!(bits, [expected], "{id:?} {name}");
            }
        }
        for limit in [4, 500] {
            assert_eq!(a.related_entities(id, limit)?, b.related_entities(id, limit)?, "{id:?}");
        }
    }
    assert!(b.facts(EntityId::State(counts.states as u32)).is_err());
    assert!(b.facts(EntityId::OpenLink(open_links as u32)).is_err());
    Ok(())
}
