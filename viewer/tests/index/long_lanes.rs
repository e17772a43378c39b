//! Long lanes of many values: regular rows of sums, and the largest shares of columns of many
//! widths.

use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::AlignedTimeRange;
use tumit_paje::{ContainerId, DrawStyle, PajeEvent, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::IndexReader;
use tumit_viewer::query::{StateLaneId, TimeRange, TimelineSource};
use tumit_viewer::store::TraceStore;

use super::KEY;
use tumit_test_support::xorshift::XorshiftGenerator;

const THREAD: TypeId = TypeId(1);
const STATE: TypeId = TypeId(2);

fn names(values: u32) -> Vec<String> {
    (0..values).map(|value| format!("value {value}")).collect()
}

/// Threads with states of these values.
fn definitions(names: &[String]) -> Vec<PajeEvent<'_>> {
    let (color, style) = (None, DrawStyle::NONE);
    let define = |ty, kind, parent, name| PajeEvent::DefineType { ty, kind, parent, name, color, style };
    let types =
        [define(THREAD, PajeTypeKind::Container, TypeId::ROOT, "T"), define(STATE, PajeTypeKind::State, THREAD, "S")];
    let values = (0..).map(ValueId).zip(names);
    let values =
        values.map(|(value, name)| PajeEvent::DefineValue { value, ty: STATE, name, color, style, category: None });
    types.into_iter().chain(values).collect()
}

/// Long lanes have regular rows of sums, and the largest shares of columns of many widths.
#[test]
fn sums_and_shares_of_a_long_lane_equal_those_of_the_store() {
    let lane = StateLaneId { container: ContainerId(1), ty: STATE, depth: 0 };
    let names = names(500);
    let mut events = definitions(&names);
    let (time, container, ty) = (GlobalNanos(0), ContainerId(1), STATE);
    let parent = ContainerId::ROOT;
    events.push(PajeEvent::CreateContainer { time, container, ty: THREAD, parent, name: "t", extra: &[] });
    let (mut random, mut now) = (XorshiftGenerator(1), 0);
    for _ in 0..40_000 {
        now += random.below(1_000) as i64;
        let value = ValueId(random.below(1 + random.0 % 500) as u32);
        events.push(PajeEvent::SetState { time: GlobalNanos(now), container, ty, value, extra: &[], source: None });
        if random.below(1000) == 0 {
            events.push(PajeEvent::ResetState { time: GlobalNanos(now + 5), container, ty });
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    IndexReader::write_events(&path, KEY, "long", events.iter().copied()).expect("room for it");
    let index = IndexReader::map_file(&path, KEY).expect("it was just written");
    let store = TraceStore::from_events("long", events);
    for (from, to, columns) in [(0, now, 1), (0, now, 3), (1, now - 1, 40), (now / 3, now / 2, 7), (7, 8, 2)] {
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        assert_eq!(index.cells(&[lane], time_range, columns), store.cells(&[lane], time_range, columns));
        // Columns that are stored, and adjacent ones that are not.
        for columns in [1, 5, 60, 130, 300, 777, 2_000] {
            let AlignedTimeRange { range: around, columns: aligned, .. } = time_range.align_to_columns(columns);
            for (time_range, columns) in [(around, aligned), (time_range, columns)] {
                for limit in [0, 1, 8, 9] {
                    let [found, expected] = [&index as &dyn TimelineSource, &store]
                        .map(|source| source.largest_shares(&[lane], time_range, columns, limit));
                    assert_eq!(found, expected, "{time_range:?} {columns} {limit}");
                }
            }
        }
    }
    // Before and after the trace.
    for (from, to) in [(-(1 << 40), -(1 << 39)), (-(1 << 16), 1 << 18), (1 << 40, 1 << 41)] {
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        assert_eq!(index.largest_shares(&[lane], time_range, 64, 8), store.largest_shares(&[lane], time_range, 64, 8));
    }
    let before = index.blocks_read();
    let whole = TimeRange { from: GlobalNanos(0), to: GlobalNanos(now) };
    index.cells(&[lane], whole, 1).expect("the lane is there");
    // Rows of sums of 500 values come every 21 blocks.
    assert!(
        index.blocks_read() - before <= 21 + 2,
        "the whole lane is two rows of sums, and the states after the last"
    );
    // The cost of an image depends on its columns: nine rows per column, 64 of them per block.
    let AlignedTimeRange { range: around, columns, .. } = whole.align_to_columns(500);
    let before = index.blocks_read();
    index.largest_shares(&[lane], around, columns, 8).expect("the lane is there");
    let touched = index.blocks_read() - before;
    assert!(touched <= u64::from(columns) * 9 / 64 + 3, "{touched} blocks for {columns} columns");
}

/// Each lane has columns of suitable widths, in tables that all lanes share. For other widths, its
/// own sums are used.
#[test]
fn shares_of_lanes_of_different_densities_equal_those_of_the_store() {
    let names = names(40);
    let mut events = definitions(&names);
    // The first lane has sixteen times as many states as the second in the same time. The third is
    // as dense as the first, but short.
    const STATES: i64 = 131_072;
    let parent = ContainerId::ROOT;
    for (container, stride, last) in [(1, 1, STATES), (2, 16, STATES), (3, 1, STATES / 16)] {
        let (time, container, ty) = (GlobalNanos(0), ContainerId(container), STATE);
        events.push(PajeEvent::CreateContainer { time, container, ty: THREAD, parent, name: "t", extra: &[] });
        let mut random = XorshiftGenerator(7);
        for at in (0..last).step_by(stride) {
            let (time, value) = (GlobalNanos(at * 100), ValueId(random.below(40) as u32));
            events.push(PajeEvent::SetState { time, container, ty, value, extra: &[], source: None });
        }
        events.push(PajeEvent::ResetState { time: GlobalNanos(last * 100), container, ty });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    let sorted = {
        let timestamp = |event: &PajeEvent<'_>| match event {
            PajeEvent::SetState { time, .. } | PajeEvent::ResetState { time, .. } => time.0,
            _ => i64::MIN,
        };
        events.sort_by_key(timestamp);
        events
    };
    IndexReader::write_events(&path, KEY, "long", sorted.iter().copied()).expect("room for it");
    let index = IndexReader::map_file(&path, KEY).expect("it was just written");
    let store = TraceStore::from_events("long", sorted);
    let lanes = [1, 2, 3].map(|container| StateLaneId { container: ContainerId(container), ty: STATE, depth: 0 });
    for (from, to) in [(0, STATES * 100), (STATES * 90, STATES * 100), (STATES * 50, STATES * 51)] {
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) };
        for columns in [20, 90, 300, 700, 1_400, 3_000] {
            let AlignedTimeRange { range: around, columns, .. } = time_range.align_to_columns(columns);
            for lane in lanes {
                let [found, expected] = [&index as &dyn TimelineSource, &store]
                    .map(|source| source.largest_shares(&[lane], around, columns, 8));
                assert_eq!(found, expected, "{lane:?} {time_range:?} {columns}");
            }
        }
    }
}
