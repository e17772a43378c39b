//! Long lanes of many values: rows of sums at some distance, and the largest shares of columns of many widths.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, Look, PajeEvent, TypeId, TypeKind, ValueId};
use tumit_viewer::index::Index;
use tumit_viewer::query::{Interval, Lane, TimelineSource};
use tumit_viewer::store::Store;

use super::{KEY, Random};

const THREAD: TypeId = TypeId(1);
const STATE: TypeId = TypeId(2);

fn names(values: u32) -> Vec<String> {
    (0..values).map(|value| format!("value {value}")).collect()
}

/// Threads with states of these values.
fn definitions(names: &[String]) -> Vec<PajeEvent<'_>> {
    let (color, look) = (None, Look::NONE);
    let define = |ty, kind, parent, name| PajeEvent::DefineType { ty, kind, parent, name, color, look };
    let types = [define(THREAD, TypeKind::Container, TypeId::ROOT, "T"), define(STATE, TypeKind::State, THREAD, "S")];
    let values = (0..).map(ValueId).zip(names);
    let values = values.map(|(value, name)| PajeEvent::DefineValue { value, ty: STATE, name, color, look });
    types.into_iter().chain(values).collect()
}

/// Long lanes have rows of sums at some distance, and the largest shares of columns of many widths.
#[test]
fn long_lanes_of_many_values() {
    let lane = Lane { container: ContainerId(1), ty: STATE, depth: 0 };
    let names = names(500);
    let mut events = definitions(&names);
    let (time, container, ty) = (GlobalNanos(0), ContainerId(1), STATE);
    let parent = ContainerId::ROOT;
    events.push(PajeEvent::CreateContainer { time, container, ty: THREAD, parent, name: "t", extra: &[] });
    let (mut random, mut now) = (Random(1), 0);
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
    Index::write_events(&path, KEY, "long", events.iter().copied()).expect("room for it");
    let index = Index::map_file(&path, KEY).expect("it was just written");
    let store = Store::from_events("long", events);
    for (from, to, columns) in [(0, now, 1), (0, now, 3), (1, now - 1, 40), (now / 3, now / 2, 7), (7, 8, 2)] {
        let window = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
        assert_eq!(index.cells(&[lane], window, columns), store.cells(&[lane], window, columns));
        // Columns that are kept, and their neighbours, which are not.
        for columns in [1, 5, 60, 130, 300, 777, 2_000] {
            let (around, aligned) = window.aligned(columns);
            for (window, columns) in [(around, aligned), (window, columns)] {
                for most in [0, 1, 8, 9] {
                    let [found, expected] =
                        [&index as &dyn TimelineSource, &store].map(|of| of.largest(&[lane], window, columns, most));
                    assert_eq!(found, expected, "{window:?} {columns} {most}");
                }
            }
        }
    }
    // Before the trace, and behind.
    for (from, to) in [(-(1 << 40), -(1 << 39)), (-(1 << 16), 1 << 18), (1 << 40, 1 << 41)] {
        let window = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
        assert_eq!(index.largest(&[lane], window, 64, 8), store.largest(&[lane], window, 64, 8));
    }
    let before = index.touched();
    let whole = Interval { from: GlobalNanos(0), to: GlobalNanos(now) };
    index.cells(&[lane], whole, 1).expect("the lane is there");
    // Sums of 500 values come every 21 blocks.
    assert!(index.touched() - before <= 21 + 2, "the whole lane is two rows of sums, and what is behind the last");
    // A picture costs what it shows: nine rows a column, 64 of them a block.
    let (around, columns) = whole.aligned(500);
    let before = index.touched();
    index.largest(&[lane], around, columns, 8).expect("the lane is there");
    let touched = index.touched() - before;
    assert!(touched <= u64::from(columns) * 9 / 64 + 3, "{touched} blocks for {columns} columns");
}

/// Each lane has columns of the widths that suit it, in tables that all lanes share: where it has none, its own sums are asked.
#[test]
fn long_lanes_beside_longer_ones() {
    let names = names(40);
    let mut events = definitions(&names);
    // One has sixteen times as many states as the other, in the same time; a third is as dense as the first, and short.
    const STATES: i64 = 131_072;
    let parent = ContainerId::ROOT;
    for (container, every, last) in [(1, 1, STATES), (2, 16, STATES), (3, 1, STATES / 16)] {
        let (time, container, ty) = (GlobalNanos(0), ContainerId(container), STATE);
        events.push(PajeEvent::CreateContainer { time, container, ty: THREAD, parent, name: "t", extra: &[] });
        let mut random = Random(7);
        for at in (0..last).step_by(every) {
            let (time, value) = (GlobalNanos(at * 100), ValueId(random.below(40) as u32));
            events.push(PajeEvent::SetState { time, container, ty, value, extra: &[], source: None });
        }
        events.push(PajeEvent::ResetState { time: GlobalNanos(last * 100), container, ty });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    let sorted = {
        let date = |event: &PajeEvent<'_>| match event {
            PajeEvent::SetState { time, .. } | PajeEvent::ResetState { time, .. } => time.0,
            _ => i64::MIN,
        };
        events.sort_by_key(date);
        events
    };
    Index::write_events(&path, KEY, "long", sorted.iter().copied()).expect("room for it");
    let index = Index::map_file(&path, KEY).expect("it was just written");
    let store = Store::from_events("long", sorted);
    let lanes = [1, 2, 3].map(|container| Lane { container: ContainerId(container), ty: STATE, depth: 0 });
    for (from, to) in [(0, STATES * 100), (STATES * 90, STATES * 100), (STATES * 50, STATES * 51)] {
        let window = Interval { from: GlobalNanos(from), to: GlobalNanos(to) };
        for columns in [20, 90, 300, 700, 1_400, 3_000] {
            let (around, columns) = window.aligned(columns);
            for lane in lanes {
                let [found, expected] =
                    [&index as &dyn TimelineSource, &store].map(|of| of.largest(&[lane], around, columns, 8));
                assert_eq!(found, expected, "{lane:?} {window:?} {columns}");
            }
        }
    }
}
