//! The index and the store in memory give the same answers for the same events. Damaged files are
//! detected. The work does not grow with the trace.

mod dense_lanes;
mod long_lanes;

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, DrawStyle, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, SourcePosition, TypeId,
    ValueId, VariableOp,
};
use tumit_viewer::index::{IndexError, IndexKey, IndexReader};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{EntityId, QueryError, SeriesColumn, StateLaneId, TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::sim::Simulation;
use tumit_viewer::store::TraceStore;

const THREADS: u32 = 5;
const EVER: TimeRange = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };
const KEY: IndexKey = IndexKey { size: 1, content: 2, options: 3 };

/// An xorshift generator. It gives the same numbers everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Five threads with nested states of few and of 300 values, with gaps, fields, source locations
/// and references; unordered events; variables; crossing links.
fn send(states: u64, sink: &mut dyn PajeSink) {
    let mut send = |event: PajeEvent<'_>| sink.event(&event).expect("it can be written");
    let (thread, calls, phases, load, note, message) =
        (TypeId(1), TypeId(2), TypeId(3), TypeId(4), TypeId(5), TypeId(6));
    for (ty, kind, parent) in [
        (thread, PajeTypeKind::Container, TypeId::ROOT),
        (calls, PajeTypeKind::State, thread),
        (phases, PajeTypeKind::State, thread),
        (load, PajeTypeKind::Variable, thread),
        (note, PajeTypeKind::Event, thread),
        (message, PajeTypeKind::Link { start: thread, end: thread }, TypeId::ROOT),
    ] {
        let name = &format!("type {}", ty.0);
        send(PajeEvent::DefineType { ty, kind, parent, name, color: None, look: DrawStyle::NONE });
    }
    for value in 0..306 {
        let ty =
            [calls, phases, note, message][(value >= 300) as usize + (value >= 304) as usize + (value >= 305) as usize];
        let (value, name) = (ValueId(value), &format!("value {value}"));
        send(PajeEvent::DefineValue { value, ty, name, color: None, look: DrawStyle::NONE });
    }
    for number in 1..=THREADS {
        send(PajeEvent::CreateContainer {
            time: GlobalNanos(i64::from(number)),
            container: ContainerId(number),
            ty: thread,
            parent: ContainerId::ROOT,
            name: &format!("thread {number}"),
            extra: &[ExtraField { name: "core", value: ExtraValue::Integer(i64::from(number) - 3) }],
        });
    }
    let (mut random, mut now, mut depth) = (Random(88_172_645_463_325_252), 10_i64, [0_u32; THREADS as usize + 1]);
    for step in 0..states {
        now += random.below(40) as i64 * random.below(3) as i64;
        let time = GlobalNanos(now);
        // The first thread has most of the states.
        let number =
            (1 + random.below(2 * u64::from(THREADS)) as u32).checked_sub(THREADS).filter(|&at| at > 0).unwrap_or(1);
        let container = ContainerId(number);
        let other = ContainerId(1 + number % THREADS);
        let text = format!("text {}", step % 50);
        let extra = [
            ExtraField { name: "on", value: ExtraValue::Container(other) },
            ExtraField { name: "what", value: ExtraValue::Text(&text) },
            ExtraField { name: "share", value: ExtraValue::Float(step as f64 / 7.0) },
        ];
        let extra: &[ExtraField<'_>] = if step % 5 == 0 { &extra } else { &[] };
        let source = (step % 3 == 0).then_some(SourcePosition { file: "main.c", line: (step % 11) as u32 });
        match random.below(10) {
            0..4 if depth[number as usize] < 6 => {
                depth[number as usize] += 1;
                let value = ValueId(random.below(1 + random.0 % 300) as u32);
                send(PajeEvent::PushState { time, container, ty: calls, value, extra, source });
            }
            0..6 if depth[number as usize] > 0 => {
                depth[number as usize] -= 1;
                send(PajeEvent::PopState { time, container, ty: calls });
            }
            6 | 7 => {
                let value = ValueId(300 + random.below(4) as u32);
                send(PajeEvent::SetState { time, container, ty: phases, value, extra, source });
            }
            8 => {
                let value = random.below(1000) as f64 - 300.0;
                send(PajeEvent::Variable { time, container, ty: load, op: VariableOp::Set, value });
                let time = GlobalNanos(now - random.below(100) as i64);
                send(PajeEvent::NewEvent { time, container, ty: note, value: ValueId(304), extra, source });
            }
            _ => {
                let (holder, value, key) = (ContainerId::ROOT, ValueId(305), KeyId(step));
                let (ty, late) = (message, GlobalNanos(now + random.below(5_000) as i64 - 100));
                let (start, end) = (container, other);
                send(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
                send(PajeEvent::EndLink { time: late, container: holder, ty, value, end, key, extra, source: None });
            }
        }
    }
    sink.finish(GlobalNanos(now)).expect("it can be written");
}

fn store(states: u64) -> TraceStore {
    let mut simulation = Simulation::new("trace");
    send(states, &mut simulation);
    simulation.into_store()
}

/// Writes the events to an index.
fn write_index(path: &Path, states: u64) {
    IndexReader::write(path, KEY, "trace", |sink| {
        send(states, sink);
        Ok(())
    })
    .expect("room for it");
}

/// Compares all answers that are lists, over all time and over windows. Numbers of entities must
/// also agree.
fn compare(a: &dyn TimelineSource, b: &dyn TimelineSource) -> Result<(), QueryError> {
    assert_eq!(a.summary(), b.summary());
    assert_eq!(a.model(), b.model());
    assert_eq!(a.containers(), b.containers());
    let extent = a.summary().extent;
    let length = extent.to.0 - extent.from.0;
    let part = |from: i64, to: i64| TimeRange {
        from: GlobalNanos(extent.from.0 + length * from / 100),
        to: GlobalNanos(extent.from.0 + length * to / 100 + 1),
    };
    let windows = [EVER, part(10, 11), part(37, 92), part(50, 50)];
    for container in a.containers().iter() {
        for ty in &a.model().types {
            let (container, ty) = (container.id, ty.id);
            let depths = [a.depths(container, ty), b.depths(container, ty)];
            b.links(ty, EVER, 0)?;
            assert_eq!(depths[0], depths[1]);
            for &window in &windows {
                for depth in 0..a.depths(container, ty) {
                    let lane = StateLaneId { container, ty, depth };
                    assert_eq!(a.states(lane, window, usize::MAX)?, b.states(lane, window, usize::MAX)?);
                    assert_eq!(a.states(lane, window, 3)?, b.states(lane, window, 3)?);
                    for columns in [1, 90] {
                        assert_eq!(a.cells(&[lane], window, columns)?, b.cells(&[lane], window, columns)?);
                    }
                }
                assert_eq!(a.events(container, ty, window, 1000)?, b.events(container, ty, window, 1000)?);
                for (columns, most) in [(1, usize::MAX), (40, 2)] {
                    let counts = |of: &dyn TimelineSource| of.event_counts(container, ty, window, columns, most);
                    assert_eq!(counts(a)?, counts(b)?);
                }
                for exponent in [0, 6, 63] {
                    assert_eq!(
                        dense_lanes::counted(a, ty, window, exponent)?,
                        dense_lanes::counted(b, ty, window, exponent)?
                    );
                }
                assert_eq!(a.samples(container, ty, window, 1000)?, b.samples(container, ty, window, 1000)?);
                assert_eq!(a.links(ty, window, 1000)?, b.links(ty, window, 1000)?);
            }
            // These methods cannot report damage. The next query can.
            let ranges = [a.range(ty), b.range(ty)];
            b.links(ty, EVER, 0)?;
            assert_eq!(ranges[0], ranges[1]);
        }
        assert_eq!(a.facts(EntityId::Container(container.id))?, b.facts(EntityId::Container(container.id))?);
    }
    let (counts, containers) = (a.summary(), a.containers());
    let numbers = |count: u64| (0..count as u32).step_by((count as usize / 60).max(1));
    let entities = numbers(counts.states)
        .map(EntityId::State)
        .chain(numbers(counts.events).map(EntityId::Event))
        .chain(numbers(counts.links).map(EntityId::Link))
        .chain(numbers(counts.samples).map(EntityId::Sample))
        .chain(containers.iter().map(|container| EntityId::Container(container.id)));
    for id in entities {
        assert_eq!(a.facts(id)?, b.facts(id)?);
        for limit in [4, 500] {
            assert_eq!(a.related_entities(id, limit)?, b.related_entities(id, limit)?, "{id:?}");
        }
    }
    assert!(b.facts(EntityId::State(counts.states as u32)).is_err());
    Ok(())
}

#[test]
fn index_and_store_give_the_same_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for states in [0, 1, 300, 3_000] {
        let path = folder.path().join(format!("{states}.tmtx"));
        write_index(&path, states);
        let store = store(states);
        compare(&store, &IndexReader::open_file(&path, KEY).expect("it was just written")).expect("the index is whole");
        compare(&store, &IndexReader::map_file(&path, KEY).expect("it was just written")).expect("the index is whole");
    }
    let left = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(left, 4, "only the indexes are left");
}

#[test]
fn indexes_of_other_traces_and_other_files_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_index(&path, 100);
    let other = IndexKey { content: 9, ..KEY };
    assert!(matches!(IndexReader::open_file(&path, other), Err(IndexError::Useless(why)) if why.contains("changed")));
    std::fs::write(&path, "%EventDef PajeDefineContainerType 0\n").expect("room for it");
    assert!(matches!(IndexReader::open_file(&path, KEY), Err(IndexError::Foreign)));
    assert!(matches!(IndexReader::open_file(&folder.path().join("none"), KEY), Err(IndexError::Io(_))));
}

/// Files with each byte changed (of the zeros that fill pages, only some), and of many lengths. A
/// file that is read as a whole is rejected. A file that is read on demand gives the same answers
/// or errors.
#[test]
fn damage_is_detected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_index(&path, 40);
    let good = std::fs::read(&path).expect("it was just written");
    let whole = store(40);
    let damaged = folder.path().join("damaged.tmtx");
    for at in (0..good.len()).filter(|&at| good[at] != 0 || at % 16 == 0) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        std::fs::write(&damaged, &bytes).expect("room for it");
        assert!(IndexReader::open_file(&damaged, KEY).is_err(), "byte {at}");
        if at % 211 == 0
            && let Ok(index) = IndexReader::map_file(&damaged, KEY)
        {
            let answered = compare(&whole, &index);
            assert!(matches!(answered, Ok(()) | Err(QueryError::Damaged)), "byte {at}: {answered:?}");
            assert_eq!(answered.is_err(), !damaged.exists(), "what is damaged is removed");
        }
    }
    for length in (0..good.len()).step_by(61).chain([good.len() - 1]) {
        std::fs::write(&damaged, &good[..length]).expect("room for it");
        assert!(
            IndexReader::open_file(&damaged, KEY).is_err() && IndexReader::map_file(&damaged, KEY).is_err(),
            "{length} bytes"
        );
    }
    let longer = [good.as_slice(), b"x"].concat();
    std::fs::write(&damaged, longer).expect("room for it");
    assert!(IndexReader::open_file(&damaged, KEY).is_err());
}

/// Another program may shorten the file while it is mapped: queries fail, and the program
/// continues.
#[test]
fn a_mapped_file_that_is_truncated_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let whole = store(3_000);
    for (length, is_read_before) in [(0, true), (5_000, true), (5_000, false), (40_961, true), (u64::MAX, true)] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, 3_000);
        let bytes = std::fs::metadata(&path).expect("it was just written").len();
        let index = IndexReader::map_file(&path, KEY).expect("it was just written");
        if is_read_before {
            compare(&whole, &index).expect("the index is whole");
        }
        let file = std::fs::File::options().write(true).open(&path).expect("it is there");
        file.set_len(length.min(bytes - 3)).expect("it can be shortened");
        let answered = compare(&whole, &index);
        assert!(matches!(answered, Err(QueryError::Damaged)), "{length} of {bytes} bytes: {answered:?}");
        assert!(!path.exists(), "what is damaged is removed");
    }
}

/// An image costs a few blocks per edge, for any number of states.
#[test]
fn cells_touch_few_blocks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lane = StateLaneId { container: ContainerId(1), ty: TypeId(3), depth: 0 };
    for states in [15_000, 45_000] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, states);
        let index = IndexReader::map_file(&path, KEY).expect("it was just written");
        let (before, columns) = (index.touched(), 16);
        let extent = index.summary().extent;
        let cells = index.cells(&[lane], extent, columns).expect("the lane is there").cells;
        assert_eq!(cells.len(), columns as usize);
        let touched = index.touched() - before;
        assert!(touched <= 2 * u64::from(columns), "{touched} blocks for {columns} columns of {states} states");
    }
}

/// An image of the whole trace, as a command draws it. Returns its number of primitives and its
/// notes.
fn picture(source: &dyn TimelineSource) -> (usize, Vec<String>) {
    let outline = ContainerOutline::new(source).expect("the source is whole");
    let interval = source.extent();
    let of = DocumentOptions { interval, width: 900.0, height: Some(600.0), resolution: 1.0, titles: false };
    let scene = document(source, &outline, &LayoutOptions::default(), of).expect("the source is whole");
    (scene.items.len(), scene.notes)
}

#[test]
fn traces_of_one_entity_and_of_none_are_drawn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for states in [0, 1, 2] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, states);
        let index = IndexReader::open_file(&path, KEY).expect("it was just written");
        assert_eq!(picture(&index), picture(&store(states)), "{states}");
    }
}

/// 10⁵ containers, 10⁴ values and 100 levels: the cost of a query for one lane does not depend on
/// the others.
#[test]
fn many_containers_values_and_levels() {
    const CONTAINERS: u32 = 100_000;
    const VALUES: u32 = 10_000;
    const LEVELS: u32 = 100;
    let (thread, calls, parent) = (TypeId(1), TypeId(2), ContainerId::ROOT);
    let define =
        |ty, kind, parent| PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, look: DrawStyle::NONE };
    let mut events =
        vec![define(thread, PajeTypeKind::Container, TypeId::ROOT), define(calls, PajeTypeKind::State, thread)];
    let value = |value| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: calls,
        name: "value",
        color: None,
        look: DrawStyle::NONE,
    };
    events.extend((0..VALUES).map(value));
    let (time, name, extra): (_, _, &[_]) = (GlobalNanos(0), "thread", &[]);
    let container =
        |number| PajeEvent::CreateContainer { time, container: ContainerId(number), ty: thread, parent, name, extra };
    events.extend((1..=CONTAINERS).map(container));
    let mut now = 0;
    let mut push = |events: &mut Vec<PajeEvent<'_>>, container, value| {
        now += 10;
        let (time, value, container) = (GlobalNanos(now), ValueId(value), ContainerId(container));
        events.push(PajeEvent::PushState { time, container, ty: calls, value, extra: &[], source: None });
    };
    // The first container has all levels, the last one has all values twice on one level.
    (0..LEVELS).for_each(|level| push(&mut events, 1, level));
    (2..CONTAINERS).for_each(|container| push(&mut events, container, container % VALUES));
    for step in 0..2 * VALUES {
        push(&mut events, CONTAINERS, step % VALUES);
        let time = GlobalNanos(i64::from(LEVELS + CONTAINERS - 2 + step + 1) * 10 + 5);
        events.push(PajeEvent::PopState { time, container: ContainerId(CONTAINERS), ty: calls });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    IndexReader::write_events(&path, KEY, "many", events).expect("room for it");
    let index = IndexReader::map_file(&path, KEY).expect("it was just written");
    assert_eq!(index.depths(ContainerId(1), calls), LEVELS);
    assert_eq!(index.summary().states, u64::from(LEVELS + CONTAINERS - 2 + 2 * VALUES));
    let lane = |container, depth| StateLaneId { container: ContainerId(container), ty: calls, depth };
    let before = index.touched();
    for lane in [lane(1, LEVELS - 1), lane(CONTAINERS / 2, 0)] {
        let cells = index.largest(&[lane], index.extent(), 1, 8).expect("the lane is there").cells;
        assert_eq!(cells[0].shares.len(), 1);
    }
    assert!(index.touched() - before <= 4, "{} blocks for two lanes of one state", index.touched() - before);
    // Each value has 5 ns, twice.
    let whole = index.cells(&[lane(CONTAINERS, 0)], index.extent(), 1).expect("the lane is there").cells;
    assert_eq!((whole[0].shares.len(), whole[0].shares[0].1), (VALUES as usize, 10));
    let (around, columns) = index.extent().align_to_columns(1_000);
    let before = index.touched();
    let cells = index.largest(&[lane(CONTAINERS, 0)], around, columns, 8).expect("the lane is there").cells;
    assert!(cells.iter().all(|cell| cell.shares.len() <= 8));
    let (touched, states) = (index.touched() - before, u64::from(2 * VALUES));
    assert!(touched <= states / 64 + 4 * u64::from(columns), "{touched} blocks for {columns} columns");
}

/// Writes an index with so little memory that it is written in several pieces.
fn write_with_little(path: &Path, name: &str, events: &[PajeEvent<'_>]) {
    let send = |sink: &mut dyn PajeSink| {
        events.iter().try_for_each(|event| sink.event(event))?;
        sink.finish(events.iter().filter_map(PajeEvent::time).max().unwrap_or(GlobalNanos(0)))
    };
    IndexReader::write_within(path, KEY, name, 1 << 16, send).expect("room for it");
}

/// Four lanes of 20,000 states: of five values without gaps; of five with gaps and states without
/// duration; of forty; of twelve. And two variables of 20,000 samples.
fn four_lanes() -> Vec<PajeEvent<'static>> {
    let (thread, activity, load) = (TypeId(1), TypeId(2), TypeId(3));
    let define =
        |ty, kind, parent| PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, look: DrawStyle::NONE };
    let mut events =
        vec![define(thread, PajeTypeKind::Container, TypeId::ROOT), define(activity, PajeTypeKind::State, thread)];
    events.push(define(load, PajeTypeKind::Variable, thread));
    let value = |value| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: activity,
        name: "value",
        color: None,
        look: DrawStyle::NONE,
    };
    events.extend((0..40).map(value));
    events.extend((1..=4).map(|container| PajeEvent::CreateContainer {
        time: GlobalNanos(0),
        container: ContainerId(container),
        ty: thread,
        parent: ContainerId::ROOT,
        name: "thread",
        extra: &[],
    }));
    let (mut random, mut now) = (Random(7), 0);
    for step in 0..80_000_u64 {
        now += (random.below(90) / 3) as i64 * if random.below(500) == 0 { 1_000 } else { 1 };
        let (time, container, ty) = (GlobalNanos(now), ContainerId(1 + (step % 4) as u32), activity);
        let value = ValueId(random.below([5, 5, 40, 12][(step % 4) as usize]) as u32);
        events.push(PajeEvent::SetState { time, container, ty, value, extra: &[], source: None });
        if container.0 > 1 && random.below(8) == 0 {
            events.push(PajeEvent::ResetState { time: GlobalNanos(now), container, ty });
        }
        if step % 2 == 0 {
            let (op, value) = (VariableOp::Set, random.below(1_000) as f64 / 8.0);
            events.push(PajeEvent::Variable { time, container, ty: load, op, value });
        }
    }
    events
}

/// Fields of links: equal ones and different ones. There are enough links that rows are also
/// identified by their distance.
#[test]
fn fields_of_many_links() {
    let (thread, message) = (TypeId(1), TypeId(2));
    let define =
        |ty, kind, parent| PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, look: DrawStyle::NONE };
    let mut events = vec![
        define(thread, PajeTypeKind::Container, TypeId::ROOT),
        define(message, PajeTypeKind::Link { start: thread, end: thread }, TypeId::ROOT),
        PajeEvent::DefineValue { value: ValueId(0), ty: message, name: "value", color: None, look: DrawStyle::NONE },
    ];
    events.extend((1..=2).map(|container| PajeEvent::CreateContainer {
        time: GlobalNanos(0),
        container: ContainerId(container),
        ty: thread,
        parent: ContainerId::ROOT,
        name: "thread",
        extra: &[],
    }));
    const LINKS: u64 = 12_000;
    let fields: Vec<[ExtraField<'_>; 2]> = (0..LINKS)
        .map(|n| {
            let kind = if n % 7 == 0 { ExtraValue::Text("large") } else { ExtraValue::Integer(8 << (n % 16)) };
            [
                ExtraField { name: "bytes", value: kind },
                ExtraField { name: "n", value: ExtraValue::Integer(n as i64 / 3) },
            ]
        })
        .collect();
    for (n, fields) in (0..).zip(&fields) {
        let (holder, ty, value, key) = (ContainerId::ROOT, message, ValueId(0), KeyId(n));
        let source = (n % 5 == 0).then_some(SourcePosition { file: "a.c", line: 10 + n as u32 % 3 });
        let (start, end, time) = (ContainerId(1), ContainerId(2), GlobalNanos(10 * n as i64));
        let all = if n % 11 == 0 { &[][..] } else { &fields[..] };
        events.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra: all, source });
        let time = GlobalNanos(time.0 + 25);
        events.push(PajeEvent::EndLink { time, container: holder, ty, value, end, key, extra: &fields[..1], source });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_with_little(&path, "links", &events);
    let (store, index) =
        (TraceStore::from_events("links", events), IndexReader::map_file(&path, KEY).expect("it was just written"));
    for link in (0..LINKS as u32).step_by(7).chain(LINKS as u32 - 100..LINKS as u32).map(EntityId::Link) {
        assert_eq!(index.facts(link), store.facts(link));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Windows of all lengths down to some nanoseconds, in few and in very many columns; several
    /// lanes at a time.
    #[test]
    fn index_and_store_agree_for_any_columns(
        (at, length) in (-20_i64..1_020, 0_u32..22), (columns, most) in (1_u32..400, 0_usize..9), shift in any::<u8>(),
    ) {
        static BOTH: LazyLock<(TraceStore, IndexReader)> = LazyLock::new(|| {
            let (folder, events) = (tempfile::tempdir().expect("a temporary folder"), four_lanes());
            let path = folder.path().join("a.tmtx");
            write_with_little(&path, "four", &events);
            (TraceStore::from_events("four", events), IndexReader::map_file(&path, KEY).expect("it was just written"))
        });
        let (store, index) = &*BOTH;
        let extent = store.extent();
        let from = extent.from.0 + (extent.to.0 - extent.from.0) * at / 1_000 + i64::from(shift);
        let window = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + (1 << length) + i64::from(shift) / 16) };
        let lane = |container| StateLaneId { container: ContainerId(container), ty: TypeId(2), depth: 0 };
        let lanes: Vec<StateLaneId> = (1..=4).cycle().take(4 + 40 * usize::from(shift % 2)).map(lane).collect();
        prop_assert_eq!(index.cells(&lanes, window, columns), store.cells(&lanes, window, columns));
        prop_assert_eq!(index.largest(&lanes, window, columns, most), store.largest(&lanes, window, columns, most));
        prop_assert_eq!(index.times(&lanes, window), store.times(&lanes, window));
        prop_assert_eq!(index.states(lanes[1], window, 50), store.states(lanes[1], window, 50));
        for container in [1, 2, 3].map(ContainerId) {
            let [found, expected] = [index as &dyn TimelineSource, store]
                .map(|of| of.series(container, TypeId(3), window, columns).expect("the type is there"));
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.into_iter().zip(expected) {
                let ends = |column: SeriesColumn| (column.min, column.max);
                prop_assert_eq!(found.map(ends), expected.map(ends));
                // Parts are added in another order.
                let mean = |column: Option<SeriesColumn>| column.map_or(0.0, |column| column.mean);
                prop_assert!((mean(found) - mean(expected)).abs() <= 1e-9 * mean(expected).abs());
            }
        }
    }
}
