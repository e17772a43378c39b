//! The index and the store in memory give the same answers for the same events. Damaged files are
//! detected. The work does not grow with the trace.

mod damage;
mod dense_lanes;
mod events;
mod long_lanes;
mod operations;
mod scale;
mod source_comparison;

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, SourcePosition, TypeId, ValueId,
    VariableOp,
};
use tumit_viewer::index::{IndexError, IndexKey, IndexReader};
use tumit_viewer::layout::{ContainerOutline, LayoutOptions};
use tumit_viewer::query::{EntityId, SeriesColumn, StateLaneId, TimeRange, TimelineSource};
use tumit_viewer::scene::{DocumentOptions, document};
use tumit_viewer::sim::Simulation;
use tumit_viewer::store::TraceStore;

use tumit_test_support::xorshift::XorshiftGenerator;

use self::events::{create_container, define_type, define_value, send_events};
use self::source_comparison::compare;

const EVER: TimeRange = TimeRange { from: GlobalNanos(i64::MIN), to: GlobalNanos(i64::MAX) };
const KEY: IndexKey = IndexKey { size: 1, content: 2, options: 3 };

fn store(states: u64) -> TraceStore {
    let mut simulation = Simulation::new("trace");
    send_events(states, &mut simulation);
    simulation.into_store()
}

/// Writes the events to an index.
fn write_index(path: &Path, states: u64) {
    IndexReader::write(path, KEY, "trace", |sink| {
        send_events(states, sink);
        Ok(())
    })
    .expect("room for it");
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
    let file_count = std::fs::read_dir(folder.path()).expect("the folder is there").count();
    assert_eq!(file_count, 4, "only the indexes are left");
}

#[test]
fn indexes_of_other_traces_and_other_files_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_index(&path, 100);
    let other = IndexKey { content: 9, ..KEY };
    assert!(
        matches!(IndexReader::open_file(&path, other), Err(IndexError::Useless(reason)) if reason.contains("changed"))
    );
    std::fs::write(&path, "%EventDef PajeDefineContainerType 0\n").expect("room for it");
    assert!(matches!(IndexReader::open_file(&path, KEY), Err(IndexError::Foreign)));
    assert!(matches!(IndexReader::open_file(&folder.path().join("none"), KEY), Err(IndexError::Io(_))));
}

/// An image of the whole trace, as a command draws it. Returns its number of primitives and its
/// notes.
fn draw(source: &dyn TimelineSource) -> (usize, Vec<String>) {
    let outline = ContainerOutline::new(source).expect("the source is whole");
    let time_range = source.extent();
    let options = DocumentOptions { time_range, width: 900.0, height: Some(600.0), resolution: 1.0, titles: false };
    let scene = document(source, &outline, &LayoutOptions::default(), options).expect("the source is whole");
    (scene.items.len(), scene.notes)
}

#[test]
fn traces_of_one_entity_and_of_none_are_drawn() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for states in [0, 1, 2] {
        let path = folder.path().join("a.tmtx");
        write_index(&path, states);
        let index = IndexReader::open_file(&path, KEY).expect("it was just written");
        assert_eq!(draw(&index), draw(&store(states)), "{states}");
    }
}

/// Writes an index with so little memory that it is written in several pieces.
fn write_with_little_memory(path: &Path, name: &str, events: &[PajeEvent<'_>]) {
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
    let mut events = vec![
        define_type(thread, PajeTypeKind::Container, TypeId::ROOT),
        define_type(activity, PajeTypeKind::State, thread),
    ];
    events.push(define_type(load, PajeTypeKind::Variable, thread));
    events.extend((0..40).map(|value| define_value(value, activity)));
    events.extend((1..=4).map(|number| create_container(number, thread)));
    let (mut random, mut now) = (XorshiftGenerator(7), 0);
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

/// Open links of two types: more than the memory of the index may hold, in no order of time.
#[test]
fn open_links_of_an_index_equal_those_of_the_store() {
    let (thread, message, signal) = (TypeId(1), TypeId(2), TypeId(3));
    let link = PajeTypeKind::Link { start: thread, end: thread };
    let mut events = vec![define_type(thread, PajeTypeKind::Container, TypeId::ROOT)];
    events.extend([message, signal].map(|ty| define_type(ty, link, TypeId::ROOT)));
    events.extend([define_value(0, message), define_value(1, signal)]);
    events.extend((1..=3).map(|number| create_container(number, thread)));
    const LINKS: u64 = 9_000;
    let fields: Vec<[ExtraField<'_>; 2]> = (0..LINKS)
        .map(|n| {
            let destination = ContainerId(1 + (n % 3) as u32);
            [
                ExtraField { name: "bytes", value: ExtraValue::Integer(n as i64) },
                ExtraField { name: "sent to", value: ExtraValue::Container(destination) },
            ]
        })
        .collect();
    let (mut random, holder, source) = (XorshiftGenerator(3), ContainerId::ROOT, None);
    let mut expected = [0; 2];
    for (n, fields) in (0..).zip(&fields) {
        let (ty, value) = if n % 3 == 0 { (signal, ValueId(1)) } else { (message, ValueId(0)) };
        let time = GlobalNanos(random.below(1_000_000) as i64 - 500_000);
        let (start, end, key) = (ContainerId(1 + (n % 2) as u32), ContainerId(3), KeyId(n));
        let extra = &fields[..(n % 3) as usize];
        events.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
        if n % 5 == 0 {
            let extra = &[];
            events.push(PajeEvent::EndLink { time, container: holder, ty, value, end, key, extra, source });
        } else {
            expected[usize::from(ty == signal)] += 1;
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("open.tmtx");
    write_with_little_memory(&path, "trace", &events);
    let store = TraceStore::from_events("trace", events);
    let index = IndexReader::open_file(&path, KEY).expect("it was just written");
    compare(&store, &index).expect("the index is whole");
    let all = index.open_links(message, EVER).expect("the index is whole");
    assert_eq!([all.len(), index.open_links(signal, EVER).expect("whole").len()], expected);
    assert!(all.is_sorted_by_key(|link| link.start_time));
    assert!(all.iter().any(|link| link.destination == Some(ContainerId(3))));
    assert!(index.open_links(TypeId(9), EVER).is_err());
    // The extent contains the last start.
    let last = all.last().map(|link| link.start_time);
    assert!(last < Some(index.extent().to));
    assert_eq!(index.summary().links, LINKS / 5);
    assert!(index.summary().diagnostics[0].text.contains("links have only one endpoint"));
}

/// Fields of links: equal ones and different ones. There are enough links that rows are also
/// identified by their distance.
#[test]
fn fields_of_many_links_equal_those_of_the_store() {
    let (thread, message) = (TypeId(1), TypeId(2));
    let mut events = vec![
        define_type(thread, PajeTypeKind::Container, TypeId::ROOT),
        define_type(message, PajeTypeKind::Link { start: thread, end: thread }, TypeId::ROOT),
        define_value(0, message),
    ];
    events.extend((1..=2).map(|number| create_container(number, thread)));
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
        let extra = if n % 11 == 0 { &[][..] } else { &fields[..] };
        events.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
        let time = GlobalNanos(time.0 + 25);
        events.push(PajeEvent::EndLink { time, container: holder, ty, value, end, key, extra: &fields[..1], source });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    write_with_little_memory(&path, "links", &events);
    let (store, index) =
        (TraceStore::from_events("links", events), IndexReader::map_file(&path, KEY).expect("it was just written"));
    let all: Vec<EntityId> = (0..LINKS as u32).map(EntityId::Link).collect();
    for field in ["bytes", "N", "key", "absent"] {
        let numbers = index.number_fields(&all, field);
        assert_eq!(numbers, store.number_fields(&all, field), "{field}");
        assert_eq!(
            numbers.expect("the index is whole").iter().flatten().count() > 1_000,
            field == "bytes" || field == "N"
        );
    }
    assert!(index.number_fields(&[EntityId::Link(LINKS as u32)], "bytes").is_err());
    for link in (0..LINKS as u32).step_by(7).chain(LINKS as u32 - 100..LINKS as u32).map(EntityId::Link) {
        let facts = index.facts(link).expect("the index is whole");
        assert_eq!(Ok(&facts), store.facts(link).as_ref());
        let bytes = facts.fields.iter().find(|field| field.0 == "bytes").and_then(|field| field.1.parse::<f64>().ok());
        assert_eq!(
            (index.number_fields(&[link], "Bytes"), store.number_fields(&[link], "Bytes")),
            (Ok(vec![bytes]), Ok(vec![bytes]))
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Time ranges of all lengths down to some nanoseconds, in few and in very many columns;
    /// several lanes at a time.
    #[test]
    fn index_and_store_agree_for_any_columns(
        (at, length) in (-20_i64..1_020, 0_u32..22), (columns, limit) in (1_u32..400, 0_usize..9), shift in any::<u8>(),
    ) {
        static SOURCES: LazyLock<(TraceStore, IndexReader)> = LazyLock::new(|| {
            let (folder, events) = (tempfile::tempdir().expect("a temporary folder"), four_lanes());
            let path = folder.path().join("a.tmtx");
            write_with_little_memory(&path, "four", &events);
            (TraceStore::from_events("four", events), IndexReader::map_file(&path, KEY).expect("it was just written"))
        });
        let (store, index) = &*SOURCES;
        let extent = store.extent();
        let from = extent.from.0 + (extent.to.0 - extent.from.0) * at / 1_000 + i64::from(shift);
        let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + (1 << length) + i64::from(shift) / 16) };
        let lane = |container| StateLaneId { container: ContainerId(container), ty: TypeId(2), depth: 0 };
        let lanes: Vec<StateLaneId> = (1..=4).cycle().take(4 + 40 * usize::from(shift % 2)).map(lane).collect();
        prop_assert_eq!(index.cells(&lanes, time_range, columns), store.cells(&lanes, time_range, columns));
        prop_assert_eq!(index.largest_shares(&lanes, time_range, columns, limit), store.largest_shares(&lanes, time_range, columns, limit));
        prop_assert_eq!(index.times(&lanes, time_range), store.times(&lanes, time_range));
        prop_assert_eq!(index.states(lanes[1], time_range, 50), store.states(lanes[1], time_range, 50));
        for container in [1, 2, 3].map(ContainerId) {
            let [answers, expected] = [index as &dyn TimelineSource, store]
                .map(|source| source.series(container, TypeId(3), time_range, columns).expect("the type is there"));
            prop_assert_eq!(answers.len(), expected.len());
            for (answer, expected) in answers.into_iter().zip(expected) {
                let extremes = |column: SeriesColumn| (column.min, column.max);
                prop_assert_eq!(answer.map(extremes), expected.map(extremes));
                // Parts are added in another order.
                let mean = |column: Option<SeriesColumn>| column.map_or(0.0, |column| column.mean);
                prop_assert!((mean(answer) - mean(expected)).abs() <= 1e-9 * mean(expected).abs());
            }
        }
    }
}
