//! Very many events and links. Their counts come from stored numbers and, at the edges, from single
//! rows, and equal those of the rows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, DrawStyle, KeyId, PajeEvent, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::IndexReader;
use tumit_viewer::query::{EntityId, LinkCount, QueryError, TimeRange, TimelineSource};
use tumit_viewer::store::TraceStore;

use super::{EVER, KEY, Random};

const THREAD: TypeId = TypeId(1);
const NOTE: TypeId = TypeId(2);
const MESSAGE: TypeId = TypeId(3);
const HERE: ContainerId = ContainerId(1);

/// Equal links and their total number, independent of the parts in which they were counted.
type Counted = BTreeMap<(ContainerId, ContainerId, ValueId, i64, i64, bool), (u64, EntityId)>;

/// The counts of links, with parts added up.
pub(crate) fn counted(
    source: &dyn TimelineSource,
    ty: TypeId,
    window: TimeRange,
    exponent: u8,
) -> Result<Counted, QueryError> {
    let mut all = Counted::new();
    source.link_counts(ty, window, exponent, &mut |links: &LinkCount| {
        let key = (links.start, links.end, links.value, links.start_bin, links.end_bin, links.reversed);
        let (count, first) = all.entry(key).or_insert((0, links.first));
        (*count, *first) = (*count + links.count, links.first.min(*first));
        Ok(())
    })?;
    Ok(all)
}

/// Threads with `number` events and links. Links last up to `long` ns, and some of them end before
/// they start.
fn events(number: u64, values: u32, threads: u32, long: u64, seed: u64) -> (Vec<PajeEvent<'static>>, i64) {
    let define =
        |ty, kind, parent| PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, look: DrawStyle::NONE };
    let mut all = vec![
        define(THREAD, PajeTypeKind::Container, TypeId::ROOT),
        define(NOTE, PajeTypeKind::Event, THREAD),
        define(MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, TypeId::ROOT),
    ];
    all.extend((0..values + 2).map(|value| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: if value < values { NOTE } else { MESSAGE },
        name: "value",
        color: None,
        look: DrawStyle::NONE,
    }));
    all.extend((1..=threads).map(|container| PajeEvent::CreateContainer {
        time: GlobalNanos(0),
        container: ContainerId(container),
        ty: THREAD,
        parent: ContainerId::ROOT,
        name: "thread",
        extra: &[],
    }));
    let (mut random, mut now) = (Random(seed), 0_i64);
    let (extra, source): (&[_], _) = (&[], None);
    for step in 0..number {
        // Bursts, and long times without entities.
        now += if random.below(200) == 0 { random.below(50_000) } else { random.below(60) } as i64;
        let time = GlobalNanos(now);
        let value = ValueId(random.below(u64::from(values)) as u32);
        all.push(PajeEvent::NewEvent { time, container: HERE, ty: NOTE, value, extra, source });
        let (holder, ty, key, value) =
            (ContainerId::ROOT, MESSAGE, KeyId(step), ValueId(values + random.below(2) as u32));
        let mut any = || ContainerId(1 + random.below(u64::from(threads)) as u32);
        let (start, end) = (any(), any());
        let late = GlobalNanos(now + random.below(long) as i64 - 20);
        all.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
        all.push(PajeEvent::EndLink { time: late, container: holder, ty, value, end, key, extra, source });
    }
    (all, now)
}

fn both(events: Vec<PajeEvent<'_>>) -> (IndexReader, TraceStore) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    // With so little memory that the data go through files, in several parts.
    IndexReader::write_within(&path, KEY, "dense", 1 << 16, |sink| {
        events.iter().try_for_each(|event| sink.event(event))?;
        sink.finish(events.last().and_then(PajeEvent::time).unwrap_or(GlobalNanos(0)))
    })
    .expect("room for it");
    // The mapping stays valid after the file is removed.
    (IndexReader::map_file(&path, KEY).expect("it was just written"), TraceStore::from_events("dense", events))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn counts_are_those_of_the_rows(
        number in prop_oneof![500_u64..3_000, 9_000_u64..14_000],
        values in prop_oneof![1_u32..20, 200_u32..300],
        threads in 1_u32..7,
        long in prop_oneof![Just(100_u64), Just(300_000)],
        seed in 1_u64..u64::MAX,
        places in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0, 1_u32..60), 6),
    ) {
        let (events, end) = events(number, values, threads, long, seed);
        let (index, store) = both(events);
        let place = |part: f64| (part * end as f64) as i64;
        let windows = places.iter().map(|&(from, length, columns)| {
            let from = place(from);
            (TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + 1 + place(length * length)) }, columns)
        });
        for (window, columns) in windows.chain([(EVER, 3), (store.summary().extent, 50)]) {
            for exponent in [0, 4, 9, 13, 17, 24, 63] {
                let found = counted(&index, MESSAGE, window, exponent).expect("it is whole");
                let expected = counted(&store, MESSAGE, window, exponent).expect("it is whole");
                let all: u64 = expected.values().map(|links| links.0).sum();
                prop_assert_eq!(all, store.links(MESSAGE, window, 0).expect("it is there").total);
                prop_assert_eq!(found, expected, "{:?} {}", window, exponent);
            }
            for most in [0, 2, usize::MAX] {
                let found = index.event_counts(HERE, NOTE, window, columns, most);
                prop_assert_eq!(found, store.event_counts(HERE, NOTE, window, columns, most), "{:?}", window);
            }
        }
    }
}

/// The cost of a count depends on the query, not on the number of entities.
#[test]
fn counts_touch_few_blocks() {
    let (events, end) = events(100_000, 4, 3, 100, 5);
    let (index, store) = both(events);
    let whole = TimeRange { from: GlobalNanos(0), to: GlobalNanos(end + 1) };
    let part = TimeRange { from: GlobalNanos(end / 5), to: GlobalNanos(end / 5 * 4) };
    for window in [whole, part] {
        let before = index.touched();
        let exponent = (end / 100).ilog2() as u8;
        let found = counted(&index, MESSAGE, window, exponent).expect("it is whole");
        let touched = index.touched() - before;
        assert!(touched < 200, "{touched} blocks of {} for links", 100_000 / 64);
        assert_eq!(found, counted(&store, MESSAGE, window, exponent).expect("it is whole"));
        let before = index.touched();
        let found = index.event_counts(HERE, NOTE, window, 4, 9).expect("it is whole");
        let touched = index.touched() - before;
        // At most a thousand events at each edge, and the blocks in between.
        assert!(touched <= 4 * (2 * 17 + 4), "{touched} blocks of {} for events", 100_000 / 64);
        assert_eq!(found, store.event_counts(HERE, NOTE, window, 4, 9).expect("it is whole"));
    }
}

/// With any wrong byte, the counts are correct, or the query fails.
#[test]
fn damaged_counts_are_detected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    let (events, _) = events(9_000, 3, 2, 100, 9);
    IndexReader::write_events(&path, KEY, "dense", events.iter().copied()).expect("room for it");
    let (good, store) = (std::fs::read(&path).expect("it was just written"), TraceStore::from_events("dense", events));
    let answers = |of: &dyn TimelineSource| -> Result<_, QueryError> {
        Ok((counted(of, MESSAGE, EVER, 63)?, of.event_counts(HERE, NOTE, EVER, 1, 9)?))
    };
    let (expected, mut refused) = (answers(&store), 0);
    for at in (0..good.len()).step_by(997) {
        let mut bytes = good.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&path, &bytes).expect("room for it");
        let Ok(index) = IndexReader::map_file(&path, KEY) else { continue };
        let found = answers(&index);
        assert!(found == expected || found == Err(QueryError::Damaged), "byte {at}");
        refused += usize::from(found.is_err());
    }
    assert!(refused > 0, "some of them are where counts are");
}
