//! Compares the store with a plain implementation of the definitions.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, DrawStyle, ExtraField, ExtraValue, KeyId, PajeEvent, PajeTypeKind, TypeId, ValueId, VariableOp,
};

use super::TraceStore;
use crate::query::{EntityId, StateLaneId, TimeRange, TimelineSource as _, ValueRange};

const THREAD: TypeId = TypeId(1);
const ACTIVITY: TypeId = TypeId(2);
const LOAD: TypeId = TypeId(3);
const MESSAGE: TypeId = TypeId(4);
const FAULT: TypeId = TypeId(5);

fn timestamp(time: i64) -> GlobalNanos {
    GlobalNanos(time)
}

fn span(from: i64, to: i64) -> TimeRange {
    TimeRange { from: timestamp(from), to: timestamp(to) }
}

fn define(ty: TypeId, kind: PajeTypeKind, parent: TypeId, name: &str) -> PajeEvent<'_> {
    PajeEvent::DefineType { ty, kind, parent, name, color: None, style: DrawStyle::NONE }
}

fn model() -> Vec<PajeEvent<'static>> {
    let mut events = vec![
        define(THREAD, PajeTypeKind::Container, TypeId::ROOT, "Thread"),
        define(ACTIVITY, PajeTypeKind::State, THREAD, "Activity"),
        define(LOAD, PajeTypeKind::Variable, THREAD, "Load"),
        define(MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, TypeId::ROOT, "Message"),
        define(FAULT, PajeTypeKind::Event, THREAD, "Fault"),
    ];
    let values = [(0, ACTIVITY, "work"), (1, ACTIVITY, "wait"), (2, MESSAGE, "data"), (3, FAULT, "page")];
    events.extend(values.map(|(value, ty, name)| PajeEvent::DefineValue {
        value: ValueId(value),
        ty,
        name,
        color: None,
        style: DrawStyle::NONE,
        category: None,
    }));
    events.extend([("thread 10", 1), ("thread 2", 2)].map(|(name, id)| PajeEvent::CreateContainer {
        time: timestamp(0),
        container: ContainerId(id),
        ty: THREAD,
        parent: ContainerId::ROOT,
        name,
        extra: &[],
    }));
    events
}

fn push(time: i64, container: u32, value: u32, extra: &'static [ExtraField<'static>]) -> PajeEvent<'static> {
    PajeEvent::PushState {
        time: timestamp(time),
        container: ContainerId(container),
        ty: ACTIVITY,
        value: ValueId(value),
        extra,
        source: None,
    }
}

fn pop(time: i64, container: u32) -> PajeEvent<'static> {
    PajeEvent::PopState { time: timestamp(time), container: ContainerId(container), ty: ACTIVITY }
}

fn small() -> TraceStore {
    const WAITS: &[ExtraField<'static>] =
        &[ExtraField { name: "waits for", value: ExtraValue::Container(ContainerId(2)) }];
    let mut events = model();
    let link = (ContainerId::ROOT, MESSAGE, ValueId(2), KeyId(7));
    events.extend([
        push(10, 1, 0, &[]),
        push(20, 1, 1, WAITS),
        push(22, 2, 0, &[]),
        PajeEvent::StartLink {
            time: timestamp(25),
            container: link.0,
            ty: link.1,
            value: link.2,
            start: ContainerId(2),
            key: link.3,
            extra: &[ExtraField { name: "size", value: ExtraValue::Integer(64) }],
            source: None,
        },
        pop(30, 2),
        PajeEvent::EndLink {
            time: timestamp(40),
            container: link.0,
            ty: link.1,
            value: link.2,
            end: ContainerId(1),
            key: link.3,
            extra: &[],
            source: None,
        },
        pop(40, 1),
        pop(60, 1),
        PajeEvent::Variable {
            time: timestamp(60),
            container: ContainerId(2),
            ty: LOAD,
            op: VariableOp::Set,
            value: 2.0,
        },
        PajeEvent::Variable {
            time: timestamp(80),
            container: ContainerId(2),
            ty: LOAD,
            op: VariableOp::Add,
            value: 4.0,
        },
        PajeEvent::NewEvent {
            time: timestamp(100),
            container: ContainerId(1),
            ty: FAULT,
            value: ValueId(3),
            extra: &[],
            source: None,
        },
    ]);
    TraceStore::from_events("small", events)
}

#[test]
fn a_summary_counts_entities_and_containers_are_depth_first() {
    let store = small();
    let summary = store.summary();
    assert_eq!((summary.containers, summary.states, summary.events, summary.links, summary.samples), (2, 3, 1, 1, 2));
    assert_eq!(summary.diagnostics, []);
    // The event at the last timestamp is inside the extent.
    assert_eq!(summary.extent, span(0, 101));
    assert_eq!(store.events(ContainerId(1), FAULT, summary.extent, 9).unwrap().total, 1);
    let names: Vec<(String, u32)> = store.containers().iter().map(|c| (c.name.clone(), c.depth)).collect();
    assert_eq!(names, [("small".to_owned(), 0), ("thread 2".to_owned(), 1), ("thread 10".to_owned(), 1)]);
}

#[test]
fn cells_are_shares_of_time() {
    let store = small();
    let lane = |depth| StateLaneId { container: ContainerId(1), ty: ACTIVITY, depth };
    let cells = store.cells(&[lane(0), lane(1), lane(2)], span(0, 80), 4).unwrap().cells;
    let shares: Vec<Vec<(u32, i64)>> =
        cells.iter().map(|cell| cell.shares.iter().map(|&(value, time)| (value.0, time)).collect()).collect();
    let (work, wait) = (|time| vec![(0, time)], |time| vec![(1, time)]);
    assert_eq!(shares[..4], [work(10), work(20), work(20), vec![]]);
    assert_eq!(shares[4..8], [vec![], wait(20), vec![], vec![]]);
    assert!(shares[8..].iter().all(Vec::is_empty));
    assert_eq!(store.depths(ContainerId(1), ACTIVITY), 2);
}

#[test]
fn related_entities_are_linked_or_referenced() {
    let store = small();
    let states = |container, depth| {
        let lane = StateLaneId { container: ContainerId(container), ty: ACTIVITY, depth };
        store.states(lane, span(0, 100), 9).unwrap().items
    };
    let (work, wait, owner) = (states(1, 0)[0].id, states(1, 1)[0].id, states(2, 0)[0].id);
    let link = store.links(MESSAGE, span(0, 100), 9).unwrap().items[0].id;
    assert_eq!(store.related_entities(wait, 9).unwrap(), [EntityId::Container(ContainerId(2)), owner, link]);
    assert_eq!(store.related_entities(owner, 9).unwrap(), [wait, link]);
    assert_eq!(store.related_entities(link, 9).unwrap(), [owner, work, wait]);
    let facts = store.facts(wait).unwrap();
    assert_eq!(facts.fields, [("waits for".to_owned(), "thread 2".to_owned())]);
    assert_eq!(facts.type_path, ["Thread", "Activity"]);
    assert_eq!(facts.container_path, ["thread 10"]);
    let facts = store.facts(link).unwrap();
    let fields = [("from", "thread 2"), ("to", "thread 10"), ("key", "k7"), ("size", "64")];
    assert_eq!(facts.fields, fields.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn variables_are_steps() {
    let store = small();
    let columns = store.series(ContainerId(2), LOAD, span(40, 100), 3).unwrap();
    assert_eq!(columns[0], None);
    assert_eq!(columns[1].map(|column| column.mean), Some(2.0));
    assert_eq!(columns[2].map(|column| (column.min, column.max)), Some((6.0, 6.0)));
    assert_eq!(store.value_range(LOAD), Some(ValueRange { min: 2.0, max: 6.0 }));
    assert_eq!(store.samples(ContainerId(2), LOAD, span(60, 61), 9).unwrap().total, 1);
}
