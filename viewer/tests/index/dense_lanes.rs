//! Very many events and links. Their counts come from stored numbers and, at the edges, from single
//! rows, and equal those of the rows.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, KeyId, PajeEvent, PajeTypeKind, TypeId, ValueId};
use tumit_viewer::index::IndexReader;
use tumit_viewer::query::{EntityId, LinkCount, QueryError, TimeRange, TimelineSource};
use tumit_viewer::store::TraceStore;

use tumit_test_support::xorshift::XorshiftGenerator;

use super::events::{create_container, define_type, define_value};
use super::{EVER, KEY};

const THREAD: TypeId = TypeId(1);
const NOTE: TypeId = TypeId(2);
const MESSAGE: TypeId = TypeId(3);
const FIRST_THREAD: ContainerId = ContainerId(1);

/// Equal links and their total number, independent of the parts in which they were counted.
type LinkTotals = BTreeMap<(ContainerId, ContainerId, ValueId, i64, i64, bool), (u64, EntityId)>;

/// The counts of links, with parts added up.
pub(crate) fn counted(
    source: &dyn TimelineSource,
    ty: TypeId,
    time_range: TimeRange,
    exponent: u8,
) -> Result<LinkTotals, QueryError> {
    let mut counts = LinkTotals::new();
    source.link_counts(ty, time_range, exponent, &mut |links: &LinkCount| {
        let key = (links.start, links.end, links.value, links.start_bin, links.end_bin, links.is_reversed);
        let (count, first) = counts.entry(key).or_insert((0, links.first));
        (*count, *first) = (*count + links.count, links.first.min(*first));
        Ok(())
    })?;
    Ok(counts)
}

/// Threads with `number` events and links. Links last up to `max_duration` ns, and some of them end
/// before they start.
fn events(number: u64, values: u32, threads: u32, max_duration: u64, seed: u64) -> (Vec<PajeEvent<'static>>, i64) {
    let mut events = vec![
        define_type(THREAD, PajeTypeKind::Container, TypeId::ROOT),
        define_type(NOTE, PajeTypeKind::Event, THREAD),
        define_type(MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, TypeId::ROOT),
    ];
    events.extend((0..values + 2).map(|value| define_value(value, if value < values { NOTE } else { MESSAGE })));
    events.extend((1..=threads).map(|number| create_container(number, THREAD)));
    let (mut random, mut now) = (XorshiftGenerator(seed), 0_i64);
    let (extra, source): (&[_], _) = (&[], None);
    for step in 0..number {
        // Bursts, and long times without entities.
        now += if random.below(200) == 0 { random.below(50_000) } else { random.below(60) } as i64;
        let time = GlobalNanos(now);
        let value = ValueId(random.below(u64::from(values)) as u32);
        events.push(PajeEvent::NewEvent { time, container: FIRST_THREAD, ty: NOTE, value, extra, source });
        let (holder, ty, key, value) =
            (ContainerId::ROOT, MESSAGE, KeyId(step), ValueId(values + random.below(2) as u32));
        let mut random_thread = || ContainerId(1 + random.below(u64::from(threads)) as u32);
        let (start, end) = (random_thread(), random_thread());
        let end_time = GlobalNanos(now + random.below(max_duration) as i64 - 20);
        events.push(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
        events.push(PajeEvent::EndLink { time: end_time, container: holder, ty, value, end, key, extra, source });
    }
    (events, now)
}

/// An index and a store of the same events.
fn index_and_store(events: Vec<PajeEvent<'_>>) -> (IndexReader, TraceStore) {
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
        max_duration in prop_oneof![Just(100_u64), Just(300_000)],
        seed in 1_u64..u64::MAX,
        ranges in prop::collection::vec((0.0_f64..1.0, 0.0_f64..1.0, 1_u32..60), 6),
    ) {
        let (events, end) = events(number, values, threads, max_duration, seed);
        let (index, store) = index_and_store(events);
        let nanos = |share: f64| (share * end as f64) as i64;
        let time_ranges = ranges.iter().map(|&(from, length, columns)| {
            let from = nanos(from);
            (TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + 1 + nanos(length * length)) }, columns)
        });
        for (time_range, columns) in time_ranges.chain([(EVER, 3), (store.summary().extent, 50)]) {
            for exponent in [0, 4, 9, 13, 17, 24, 63] {
                let counts = counted(&index, MESSAGE, time_range, exponent).expect("it is whole");
                let expected = counted(&store, MESSAGE, time_range, exponent).expect("it is whole");
                let total: u64 = expected.values().map(|links| links.0).sum();
                prop_assert_eq!(total, store.links(MESSAGE, time_range, 0).expect("it is there").total);
                prop_assert_eq!(counts, expected, "{:?} {}", time_range, exponent);
            }
            for limit in [0, 2, usize::MAX] {
                let found = index.event_counts(FIRST_THREAD, NOTE, time_range, columns, limit);
                prop_assert_eq!(found, store.event_counts(FIRST_THREAD, NOTE, time_range, columns, limit), "{:?}", time_range);
            }
        }
    }
}

/// The cost of a count depends on the query, not on the number of entities.
#[test]
fn counts_touch_few_blocks() {
    let (events, end) = events(100_000, 4, 3, 100, 5);
    let (index, store) = index_and_store(events);
    let whole = TimeRange { from: GlobalNanos(0), to: GlobalNanos(end + 1) };
    let middle = TimeRange { from: GlobalNanos(end / 5), to: GlobalNanos(end / 5 * 4) };
    for time_range in [whole, middle] {
        let before = index.blocks_read();
        let exponent = (end / 100).ilog2() as u8;
        let counts = counted(&index, MESSAGE, time_range, exponent).expect("it is whole");
        let touched = index.blocks_read() - before;
        assert!(touched < 200, "{touched} blocks of {} for links", 100_000 / 64);
        assert_eq!(counts, counted(&store, MESSAGE, time_range, exponent).expect("it is whole"));
        let before = index.blocks_read();
        let found = index.event_counts(FIRST_THREAD, NOTE, time_range, 4, 9).expect("it is whole");
        let touched = index.blocks_read() - before;
        // At most a thousand events at each edge, and the blocks in between.
        assert!(touched <= 4 * (2 * 17 + 4), "{touched} blocks of {} for events", 100_000 / 64);
        assert_eq!(found, store.event_counts(FIRST_THREAD, NOTE, time_range, 4, 9).expect("it is whole"));
    }
}

/// With any wrong byte, the counts are correct, or the query fails.
#[test]
fn damaged_counts_are_detected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.tmtx");
    let (events, _) = events(9_000, 3, 2, 100, 9);
    IndexReader::write_events(&path, KEY, "dense", events.iter().copied()).expect("room for it");
    let (original, store) =
        (std::fs::read(&path).expect("it was just written"), TraceStore::from_events("dense", events));
    let answers = |source: &dyn TimelineSource| -> Result<_, QueryError> {
        Ok((counted(source, MESSAGE, EVER, 63)?, source.event_counts(FIRST_THREAD, NOTE, EVER, 1, 9)?))
    };
    let (expected, mut rejected) = (answers(&store), 0);
    for position in (0..original.len()).step_by(997) {
        let mut bytes = original.clone();
        bytes[position] ^= 0x55;
        std::fs::write(&path, &bytes).expect("room for it");
        let Ok(index) = IndexReader::map_file(&path, KEY) else { continue };
        let found = answers(&index);
        assert!(found == expected || found == Err(QueryError::Damaged), "byte {position}");
        rejected += usize::from(found.is_err());
    }
    assert!(rejected > 0, "no changed byte belongs to a count");
}
