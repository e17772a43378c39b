//! Removed whole blocks: the losses that follow from the rest of the file are reported, and no
//! others.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use tracer_format::block::decode_block;
use tracer_format::entries::{ClockAnchor, SyncSample};
use tracer_format::{BlockHeader, BlockKind, PREAMBLE_BYTES};
use tumit_converter::convert::ConvertOptions;
use tumit_converter::run::MissingEnd;
use tumit_converter::run::{Loss, OpenRun};
use tumit_converter::tools::dump::RecordSelection;
use tumit_converter::tools::info;
use tumit_converter::tools::repair::write;
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, peer};

use crate::mark_runs::schema;

/// One piece of a file.
#[derive(Clone, Copy, Debug)]
enum FilePart {
    Name,
    Anchor,
    Sync,
    /// A block of records: its stream, and the number of records.
    Records(u32, u32),
}

fn piece() -> impl Strategy<Value = FilePart> {
    prop_oneof![
        1 => Just(FilePart::Name),
        1 => Just(FilePart::Anchor),
        1 => Just(FilePart::Sync),
        4 => (0..4u32, 1..30u32).prop_map(|(stream, count)| FilePart::Records(stream, count)),
    ]
}

/// A file of these pieces, without and with its end.
fn file(pieces: &[FilePart]) -> (Vec<u8>, Vec<u8>) {
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    let mut next = [0u64; 4];
    let mut name = file.string("first");
    for (piece, number) in pieces.iter().zip(1u64..) {
        let ticks = number * 1000;
        match *piece {
            FilePart::Name => name = file.string(&format!("name {number}")),
            FilePart::Anchor => {
                file.anchor(ClockAnchor { ticks, monotonic_nanos: ticks, real_nanos: ticks, bracket: 1 });
            }
            FilePart::Sync => {
                file.sync(&[SyncSample {
                    peer: peer(1),
                    t1: ticks,
                    t2: ticks,
                    t3: ticks,
                    t4: ticks,
                    ..SyncSample::default()
                }]);
            }
            FilePart::Records(stream, count) => {
                let sequence = &mut next[stream as usize];
                if *sequence == 0 {
                    file.thread(stream, 10 + u64::from(stream), &format!("thread {stream}"));
                }
                let mut records = SyntheticRecords::default();
                for n in 0..count {
                    let (kind, value) = if n % 3 == 0 { (1, name) } else { (0, n) };
                    records.record(kind, ticks + u64::from(n), &value.to_le_bytes());
                }
                file.records(stream, *sequence, &records);
                *sequence += 1;
            }
        }
    }
    let open = file.bytes.clone();
    file.end();
    (open, file.bytes)
}

/// The blocks of a file with their places.
fn blocks(bytes: &[u8]) -> Vec<(Range<usize>, BlockHeader)> {
    let (mut position, mut blocks) = (PREAMBLE_BYTES, Vec::new());
    while position < bytes.len() {
        let header = decode_block(&bytes[position..]).unwrap().header;
        blocks.push((position..position + header.block_bytes(), header));
        position += header.block_bytes();
    }
    blocks
}

/// The losses that `info` and all other commands report for a file with these bytes.
fn reported_losses(bytes: &[u8]) -> (tempfile::TempDir, OpenRun, Vec<Loss>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.tmt"), bytes).unwrap();
    let run = OpenRun::open(folder.path()).unwrap();
    let mut losses = run.losses();
    losses.extend(info::count(&run, &ConvertOptions::default()).unwrap().unreadable_files);
    (folder, run, losses)
}

fn without(bytes: &[u8], cut: &Range<usize>) -> Vec<u8> {
    [&bytes[..cut.start], &bytes[cut.end..]].concat()
}

fn count_missing(losses: &[Loss]) -> u64 {
    let missing = losses.iter().filter_map(|loss| match loss {
        Loss::MissingRecords { records, .. } => Some(*records),
        _ => None,
    });
    missing.sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Removes any block of a file that its process ended.
    #[test]
    fn all_removed_blocks_are_reported(pieces in prop::collection::vec(piece(), 0..20)) {
        let (_, file_bytes) = file(&pieces);
        let (_, _, losses) = reported_losses(&file_bytes);
        prop_assert!(losses.is_empty(), "{losses:?}");
        let blocks = blocks(&file_bytes);
        for (cut, header) in &blocks {
            let left = without(&file_bytes, cut);
            let (_folder, run, losses) = reported_losses(&left);
            if header.kind == BlockKind::End as u8 {
                prop_assert!(matches!(losses[..], [Loss::NotEnded { .. }]), "{losses:?}");
                continue;
            }
            if header.kind != BlockKind::Records as u8 {
                prop_assert!(losses.iter().any(|loss| matches!(loss, Loss::MissingTables { blocks: 1, .. })), "{losses:?}");
                prop_assert_eq!(count_missing(&losses), 0);
                continue;
            }
            prop_assert_eq!(count_missing(&losses), u64::from(header.records));
            let is_later = |other: &BlockHeader| {
                other.kind == header.kind && other.stream == header.stream && other.sequence > header.sequence
            };
            let is_gap = blocks.iter().any(|(_, other)| is_later(other));
            let gap = |loss: &Loss| matches!(loss, Loss::MissingBlocks { stream, blocks: 1, .. } if *stream == header.stream);
            prop_assert_eq!(losses.iter().any(gap), is_gap, "{:?}", losses);
            prop_assert_eq!(losses.len(), 1 + usize::from(is_gap));
            // A repaired file reports the same.
            let mut repaired = Vec::new();
            write(&run.processes[0], &mut repaired).unwrap();
            prop_assert_eq!(count_missing(&reported_losses(&repaired).2), u64::from(header.records));
        }
    }

    /// A file without an end says nothing about later blocks, but shows gaps before its last block.
    #[test]
    fn a_file_without_an_end_reports_only_gaps_before_its_last_block(pieces in prop::collection::vec(piece(), 0..20)) {
        let (open, _) = file(&pieces);
        let (_, _, losses) = reported_losses(&open);
        prop_assert!(matches!(losses[..], [Loss::NotEnded { .. }]), "{losses:?}");
        let blocks = blocks(&open);
        for (cut, header) in &blocks {
            let is_records = header.kind == BlockKind::Records as u8;
            let is_later = |other: &BlockHeader| {
                let same = is_records == (other.kind == BlockKind::Records as u8);
                same && (!is_records || other.stream == header.stream) && other.sequence > header.sequence
            };
            let has_later = blocks.iter().any(|(_, other)| is_later(other));
            let describes = matches!(BlockKind::from_number(header.kind), Some(BlockKind::Process | BlockKind::Stream));
            let (_, _, losses) = reported_losses(&without(&open, cut));
            prop_assert_eq!(losses.len() > 1, has_later || describes, "{:?} {:?}", header, losses);
        }
    }
}

#[test]
fn missing_blocks_are_reported_with_their_places() {
    let pieces = [FilePart::Records(0, 5), FilePart::Records(0, 6), FilePart::Records(0, 7)];
    let (_, file_bytes) = file(&pieces);
    let blocks: Vec<_> =
        blocks(&file_bytes).into_iter().filter(|(_, header)| header.kind == BlockKind::Records as u8).collect();
    let texts = |cut: usize| {
        let losses = reported_losses(&without(&file_bytes, &blocks[cut].0)).2;
        losses.iter().map(|loss| loss.to_string().rsplit_once("a.tmt: ").unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    let of = |count: u32| format!("{count} of the 18 records that the process wrote are missing");
    assert_eq!(texts(0), ["1 block of stream 0 is missing, before 0.000000000 s".to_owned(), of(5)]);
    let middle = "1 block of stream 0 is missing, between 0.000000004 s and 0.000002000 s";
    assert_eq!(texts(1), [middle.to_owned(), of(6)]);
    assert_eq!(texts(2), [of(7) + ": the last ones of stream 0, after 0.000001005 s"]);
}

/// Places of missing records of a stream: the range from the first such place to the end of the
/// last one.
fn places(run: &OpenRun) -> Vec<(u32, Option<i64>, Option<i64>)> {
    let place = |loss: Loss| match loss {
        Loss::MissingBlocks { stream, from, to, .. } => Some((stream, from.map(|from| from.0), Some(to.0))),
        Loss::MissingPart { stream, from, to, .. } => Some((stream, from.map(|from| from.0), to.map(|to| to.0))),
        _ => None,
    };
    run.losses().into_iter().filter_map(place).collect()
}

/// The number of missing records, and the place of the last ones.
fn missing_records(run: &OpenRun) -> Option<(u64, Option<MissingEnd>)> {
    run.losses().into_iter().find_map(|loss| match loss {
        Loss::MissingRecords { records, place, .. } => Some((records, place)),
        _ => None,
    })
}

/// Losses in `dropped` records: stream, number of records, first and last timestamp.
fn losses_in_records(run: &OpenRun) -> Vec<(usize, u64, i64, i64)> {
    let census = info::count(run, &ConvertOptions::default()).unwrap();
    census.losses.iter().map(|range| (range.stream, range.records, range.first.0, range.last.0)).collect()
}

fn cut(run: &OpenRun, selection: &RecordSelection, folder: &Path) -> OpenRun {
    tumit_converter::tools::cut::cut(run, &ConvertOptions::default(), selection, folder).unwrap();
    OpenRun::open(folder).unwrap()
}

/// A copy that was cut or sorted reports the same losses as its original, at the same places.
#[test]
fn copied_runs_report_the_losses_of_their_originals() {
    // Two streams with alternating blocks.
    let pieces: Vec<FilePart> = (0..10).map(|at| FilePart::Records(at % 2, 20)).collect();
    let (open, file_bytes) = file(&pieces);
    let of_stream = |stream: u32| {
        let is_of = |header: &BlockHeader| header.kind == BlockKind::Records as u8 && header.stream == stream;
        let stream_blocks = blocks(&file_bytes).into_iter().filter(|(_, header)| is_of(header));
        stream_blocks.map(|(range, _)| range).collect::<Vec<_>>()
    };
    let (first_blocks, second_blocks) = (of_stream(0), of_stream(1));
    // Name, removed blocks, and the losses in the `dropped` records of each copy. They contain no
    // unknown losses.
    type LossFields = (usize, u64, i64, i64);
    type Case<'b> = (&'b str, Vec<&'b Range<usize>>, Vec<LossFields>);
    let cases: [Case<'_>; 7] = [
        ("first", vec![&first_blocks[0]], vec![(0, 20, 1000, 1000)]),
        ("middle", vec![&first_blocks[2]], vec![(0, 20, 2019, 6000)]),
        ("last", vec![&first_blocks[4]], vec![]),
        ("two in one stream", vec![&first_blocks[1], &first_blocks[3]], vec![(0, 0, 19, 8000)]),
        ("two streams", vec![&first_blocks[2], &second_blocks[2]], vec![(0, 0, 2019, 6000), (1, 0, 3019, 7000)]),
        ("middle and last", vec![&first_blocks[2], &first_blocks[4]], vec![(0, 40, 2019, 6000)]),
        ("all last ones", vec![&first_blocks[4], &second_blocks[4]], vec![]),
    ];
    for (name, cut_out, expected) in cases {
        for bytes in [&file_bytes, &open] {
            let mut left = bytes.clone();
            for range in cut_out.iter().rev() {
                left.drain((*range).clone());
            }
            let folder = tempfile::tempdir().unwrap();
            let original = folder.path().join("original.tmt");
            std::fs::write(&original, left).unwrap();
            let run = OpenRun::open(&original).unwrap();
            let missing = (bytes == &file_bytes).then(|| cut_out.len() as u64 * 20);
            assert_eq!(missing_records(&run).map(|(records, _)| records), missing, "{name}");
            let sorted = folder.path().join("sorted.tmt");
            tumit_converter::tools::sort::sort(
                &run,
                &ConvertOptions::default(),
                std::fs::File::create(&sorted).unwrap(),
            )
            .unwrap();
            let copy = cut(&run, &RecordSelection::default(), &folder.path().join("cut.tmt"));
            let again = cut(&copy, &RecordSelection::default(), &folder.path().join("again.tmt"));
            for copy in [OpenRun::open(&sorted).unwrap(), copy, again] {
                assert_eq!(places(&copy), places(&run), "{name}");
                assert_eq!(missing_records(&copy), missing_records(&run), "{name}");
                let count = |loss: &LossFields| (loss.0, if missing.is_some() { loss.1 } else { 0 }, loss.2, loss.3);
                assert_eq!(losses_in_records(&copy), expected.iter().map(count).collect::<Vec<_>>(), "{name}");
            }
        }
    }
}

/// A part does not report losses outside of it.
#[test]
fn parts_of_a_run_report_their_own_gaps() {
    let pieces: Vec<FilePart> = (0..6).map(|at| FilePart::Records(at % 2, 20)).collect();
    let (_, file_bytes) = file(&pieces);
    let is_records = |header: &BlockHeader| header.kind == BlockKind::Records as u8;
    let records: Vec<_> = blocks(&file_bytes).into_iter().filter(|(_, header)| is_records(header)).collect();
    let missing_in_part = |at: usize, select: &dyn Fn(&mut RecordSelection)| {
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("original.tmt");
        std::fs::write(&original, without(&file_bytes, &records[at].0)).unwrap();
        let mut selection = RecordSelection::default();
        select(&mut selection);
        let part = cut(&OpenRun::open(&original).unwrap(), &selection, &folder.path().join("cut.tmt"));
        (missing_records(&part).map_or(0, |(records, _)| records), places(&part).len())
    };
    // The third block is from stream 0, between 19 ns and 4000 ns. The last block is from stream 1.
    let from_to = |from: i64, to: i64| {
        move |selection: &mut RecordSelection| {
            selection.times.push(TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }.into());
        }
    };
    assert_eq!(missing_in_part(2, &from_to(0, 10)), (0, 0));
    assert_eq!(missing_in_part(2, &from_to(0, 100)), (20, 1));
    assert_eq!(missing_in_part(2, &from_to(2000, 2010)), (20, 1));
    assert_eq!(missing_in_part(2, &from_to(4001, 9000)), (0, 0));
    assert_eq!(missing_in_part(2, &|selection| selection.threads.push("11".to_owned())), (0, 0));
    assert_eq!(missing_in_part(2, &|selection| selection.threads.push("10".to_owned())), (20, 1));
    assert_eq!(missing_in_part(5, &from_to(0, 1000)), (0, 0));
    assert_eq!(missing_in_part(5, &from_to(0, 9000)), (20, 0));
}
