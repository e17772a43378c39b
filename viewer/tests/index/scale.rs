//! The cost of queries does not grow with the trace.

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::AlignedTimeRange;
use tumit_paje::{ContainerId, PajeEvent, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::IndexReader;
use tumit_viewer::query::{StateLaneId, TimelineSource};

use super::events::{create_container, define_type, define_value};
use super::{KEY, write_index};

const THREAD: TypeId = TypeId(1);
const CALLS: TypeId = TypeId(2);
const CONTAINERS: u32 = 100_000;
const VALUES: u32 = 10_000;
const LEVELS: u32 = 100;

/// An image costs a few blocks per edge, for any number of states.
#[test]
fn cells_touch_few_blocks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lane = StateLaneId { container: ContainerId(1), ty: TypeId(3), depth: 0 };
    for states in [15_000, 45_000] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, states);
        let index = IndexReader::map_file(&path, KEY).expect("it was just written");
        let (before, columns) = (index.blocks_read(), 16);
        let extent = index.summary().extent;
        let cells = index.cells(&[lane], extent, columns).expect("the lane is there").cells;
        assert_eq!(cells.len(), columns as usize);
        let touched = index.blocks_read() - before;
        assert!(touched <= 2 * u64::from(columns), "{touched} blocks for {columns} columns of {states} states");
    }
}

/// 10⁵ containers, 10⁴ values and 100 levels: the cost of a query for one lane does not depend on
/// the others.
#[test]
fn a_lane_costs_the_same_beside_many_containers_values_and_levels() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    IndexReader::write_events(&path, KEY, "many", many_events()).expect("room for it");
    let index = IndexReader::map_file(&path, KEY).expect("it was just written");
    assert_eq!(index.depths(ContainerId(1), CALLS), LEVELS);
    assert_eq!(index.summary().states, u64::from(LEVELS + CONTAINERS - 2 + 2 * VALUES));
    let lane = |container, depth| StateLaneId { container: ContainerId(container), ty: CALLS, depth };
    let before = index.blocks_read();
    for lane in [lane(1, LEVELS - 1), lane(CONTAINERS / 2, 0)] {
        let cells = index.largest_shares(&[lane], index.extent(), 1, 8).expect("the lane is there").cells;
        assert_eq!(cells[0].shares.len(), 1);
    }
    assert!(index.blocks_read() - before <= 4, "{} blocks for two lanes of one state", index.blocks_read() - before);
    // Each value has 5 ns, twice.
    let whole = index.cells(&[lane(CONTAINERS, 0)], index.extent(), 1).expect("the lane is there").cells;
    assert_eq!((whole[0].shares.len(), whole[0].shares[0].1), (VALUES as usize, 10));
    let AlignedTimeRange { range: around, columns, .. } = index.extent().align_to_columns(1_000);
    let before = index.blocks_read();
    let cells = index.largest_shares(&[lane(CONTAINERS, 0)], around, columns, 8).expect("the lane is there").cells;
    assert!(cells.iter().all(|cell| cell.shares.len() <= 8));
    let (touched, states) = (index.blocks_read() - before, u64::from(2 * VALUES));
    assert!(touched <= states / 64 + 4 * u64::from(columns), "{touched} blocks for {columns} columns");
}

/// The first container has all levels, the last one has all values twice on one level.
fn many_events() -> Vec<PajeEvent<'static>> {
    let mut events = vec![
        define_type(THREAD, PajeTypeKind::Container, TypeId::ROOT),
        define_type(CALLS, PajeTypeKind::State, THREAD),
    ];
    events.extend((0..VALUES).map(|value| define_value(value, CALLS)));
    events.extend((1..=CONTAINERS).map(|number| create_container(number, THREAD)));
    let mut now = 0;
    let mut push = |events: &mut Vec<PajeEvent<'_>>, container, value| {
        now += 10;
        let (time, value, container) = (GlobalNanos(now), ValueId(value), ContainerId(container));
        events.push(PajeEvent::PushState { time, container, ty: CALLS, value, extra: &[], source: None });
    };
    (0..LEVELS).for_each(|level| push(&mut events, 1, level));
    (2..CONTAINERS).for_each(|container| push(&mut events, container, container % VALUES));
    for step in 0..2 * VALUES {
        push(&mut events, CONTAINERS, step % VALUES);
        let time = GlobalNanos(i64::from(LEVELS + CONTAINERS - 2 + step + 1) * 10 + 5);
        events.push(PajeEvent::PopState { time, container: ContainerId(CONTAINERS), ty: CALLS });
    }
    events
}
