//! Repaired files: they have the same contents as the run before, need no live file, and need no
//! repair.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tracer_format::block::append_block;
use tracer_format::{BLOCK_MAGIC, BlockHeader, BlockKind, PROCESS_STREAM};
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_converter::run::{Loss, OpenRun};
use tumit_converter::tools::dump::list;
use tumit_converter::tools::repair::{FileRepair, write};
use tumit_test_support::synthetic_live_file::{HEADER_BYTES, SyntheticLiveFile, SyntheticSlot};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, process_id};

use crate::mark_runs::{marks, schema};

fn named(id: u32, ticks: u64) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    records.record(1, ticks, &id.to_le_bytes());
    records
}

fn file() -> SyntheticFile {
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    file.thread(0, 2, "main");
    assert_eq!(file.string("one"), 1);
    file.records(0, 0, &marks(0..3));
    file.records(1, 0, &named(1, 1015));
    file.records(0, 1, &marks(3..6));
    file
}

/// A live file with names 1 (which the file also has) and 2, the rest of block 1 of stream 0, its
/// block 2, and a block of stream 1.
fn live_file() -> SyntheticLiveFile {
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    live.string(1, "one");
    live.log_is_in_file();
    live.string(2, "two");
    live.thread(1, 3, "late");
    live.slot(0, &SyntheticSlot { sequence: 2, records: marks(8..12), dropped: 4, ..SyntheticSlot::default() });
    live.slot(1, &SyntheticSlot { stream: 1, sequence: 1, records: named(2, 1101), ..SyntheticSlot::default() });
    live.slot(3, &SyntheticSlot { sequence: 1, records: marks(3..8), ..SyntheticSlot::default() });
    live
}

fn list_records(run: &OpenRun) -> Vec<String> {
    let mut lines = Vec::new();
    list::<ConvertError>(run, &ConvertOptions::default(), |record| {
        let fields: Vec<String> = record.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(format!("{} {} {} {}", record.time.0, record.thread, record.event, fields.join(" ")));
        Ok(())
    })
    .unwrap();
    lines
}

/// Repairs the first process of a folder in place, like the command. Returns the run before and
/// after.
fn repaired(folder: &Path) -> (OpenRun, OpenRun) {
    let before = OpenRun::open(folder).unwrap();
    let repair = FileRepair::of(&before.processes[0]).expect("there is something to do");
    let mut bytes = Vec::new();
    write(&before.processes[0], &mut bytes).unwrap();
    let listed_before = list_records(&before);
    fs::write(&repair.file, bytes).unwrap();
    if let Some(live) = &repair.live {
        fs::remove_file(live).unwrap();
    }
    let after = OpenRun::open(folder).unwrap();
    assert_eq!(list_records(&after), listed_before);
    assert_eq!(FileRepair::of(&after.processes[0]), None, "once is enough");
    (before, after)
}

#[test]
fn live_blocks_go_into_the_file() {
    let folder = tempfile::tempdir().unwrap();
    file().save(folder.path(), "a.tmt");
    live_file().save(folder.path(), "a.live");
    let (before, after) = repaired(folder.path());
    let lines = list_records(&after);
    assert_eq!(lines.iter().filter(|line| line.contains("mark")).count(), 12);
    assert!(lines.iter().any(|line| line.ends_with("late named what=two")), "{lines:?}");
    let process = &after.processes[0];
    assert_eq!(process.streams[0].blocks.iter().map(|block| block.header.sequence).collect::<Vec<_>>(), [0, 1, 2, 3]);
    let totals = process.totals.unwrap();
    assert_eq!((process.dropped_records(), totals.written_records, totals.dropped), (4, 14, 4));
    let repair = process.repair.unwrap();
    assert_eq!((repair.has_no_end, repair.damaged_bytes, repair.live_records), (true, 0, 7));
    assert!(before.losses().iter().any(|loss| matches!(loss, Loss::NotEnded { .. })));
    assert!(matches!(&after.losses()[..], [Loss::Dropped { records: 4, .. }]), "{:?}", after.losses());
    // The good blocks have the same bytes, up to the first new block.
    let (old, new) = (file().bytes, fs::read(folder.path().join("a.tmt")).unwrap());
    assert_eq!(new[..old.len()], old);
}

/// A process is killed while a part of a slot is being written, after its thread has moved on to
/// the next slot. The number of the next slot counts a block that was never written. No record is
/// missing, so no loss may be reported.
#[test]
fn a_gap_of_sequence_numbers_after_a_live_block_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    file().save(folder.path(), "a.tmt");
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    live.thread(1, 3, "late");
    live.slot(0, &SyntheticSlot { sequence: 2, records: marks(6..9), ..SyntheticSlot::default() });
    live.slot(1, &SyntheticSlot { sequence: 4, records: marks(9..12), ..SyntheticSlot::default() });
    live.save(folder.path(), "a.live");
    let (_, after) = repaired(folder.path());
    let process = &after.processes[0];
    assert_eq!(process.streams[0].blocks.iter().map(|block| block.header.sequence).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(after.losses().is_empty(), "{:?}", after.losses());
}

#[test]
fn damage_is_left_out_and_counted_and_gaps_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = file();
    file.thread(1, 3, "late");
    file.end();
    let magics: Vec<usize> = (0..file.bytes.len()).filter(|at| file.bytes[*at..].starts_with(&BLOCK_MAGIC)).collect();
    // Process, schema, stream, strings, records of streams 0, 1, 0, stream, end.
    assert_eq!(magics.len(), 9);
    file.bytes[magics[4] + 70] ^= 1;
    let damaged = (magics[5] - magics[4]) as u64;
    file.save(folder.path(), "a.tmt");
    let (_, after) = repaired(folder.path());
    let losses = after.losses();
    assert!(losses.iter().any(|loss| matches!(loss, Loss::LeftOut { bytes, .. } if *bytes == damaged)), "{losses:?}");
    assert!(losses.iter().any(|loss| matches!(loss, Loss::MissingBlocks { stream: 0, blocks: 1, .. })), "{losses:?}");
    let missing =
        |loss: &Loss| matches!(loss, Loss::MissingRecords { records: 3, written_records: 7, place: None, .. });
    assert!(losses.iter().any(missing), "{losses:?}");
    assert_eq!(losses.len(), 3);
    let totals = after.processes[0].totals.unwrap();
    assert_eq!((totals.written_records, totals.dropped), (7, 0), "the numbers of the end block");
}

#[test]
fn names_of_a_damaged_file_come_from_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = file();
    let strings = (0..file.bytes.len()).filter(|at| file.bytes[*at..].starts_with(&BLOCK_MAGIC)).nth(3).unwrap();
    assert_eq!(file.bytes[strings + 12], BlockKind::Strings as u8);
    file.bytes[strings + 80] ^= 1;
    file.save(folder.path(), "a.tmt");
    live_file().save(folder.path(), "a.live");
    let (_, after) = repaired(folder.path());
    assert!(list_records(&after).iter().any(|line| line.ends_with("named what=one")), "{:?}", list_records(&after));
}

/// The head of a live file gives a smaller number of names in the file than there are, and the log
/// has other texts for some of them. The names in the file are used, before and after the repair.
#[test]
fn names_of_the_file_win_over_names_of_the_log() {
    let with_log = |change: &dyn Fn(&mut SyntheticLiveFile)| {
        let folder = tempfile::tempdir().unwrap();
        file().save(folder.path(), "a.tmt");
        let mut live = live_file();
        change(&mut live);
        live.save(folder.path(), "a.live");
        list_records(&repaired(folder.path()).1)
    };
    let unchanged = with_log(&|_| {});
    assert!(unchanged.iter().any(|line| line.ends_with("named what=one")), "{unchanged:?}");
    let in_file = 64;
    assert!(live_file().bytes[in_file] > 0, "names that the file has");
    assert_eq!(with_log(&|live| live.bytes[in_file] = 0), unchanged);
    let text = (0..live_file().bytes.len()).find(|at| live_file().bytes[*at..].starts_with(b"one")).unwrap();
    assert_eq!(with_log(&|live| live.bytes[text] ^= 1), unchanged);
    let damage = |live: &mut SyntheticLiveFile| (live.bytes[in_file], live.bytes[text]) = (0, b'0');
    assert_eq!(with_log(&damage), unchanged);
}

/// Without this check, the repaired file would appear to have several processes, none of them with
/// the streams.
#[test]
fn a_damaged_log_makes_no_other_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = file();
    file.bytes.truncate(file.bytes.len() / 2);
    file.save(folder.path(), "a.tmt");
    let mut live = live_file();
    // The stream of the log's first entry, a name. It is not a valid process number in this file.
    live.bytes[HEADER_BYTES + 4] ^= 1;
    live.save(folder.path(), "a.live");
    let (_, after) = repaired(folder.path());
    assert!(list_records(&after).len() > 5, "{:?}", list_records(&after));
}

#[test]
fn a_live_file_alone_becomes_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut live = SyntheticLiveFile::new(process_id(1), 2);
    let mut tags = Vec::new();
    tracer_format::tags::append_tag(&mut tags, tracer_format::tags::tag::PROCESS_ID, &process_id(1));
    live.entry(BlockKind::Process, u32::MAX, &tags);
    live.schema(&schema());
    live.thread(0, 2, "main");
    live.slot(0, &SyntheticSlot { records: marks(0..3), ..SyntheticSlot::default() });
    live.save(folder.path(), "a.live");
    let (_, after) = repaired(folder.path());
    assert_eq!(after.losses(), []);
    assert!(after.processes[0].path.ends_with("a.tmt"));
}

#[test]
fn a_whole_file_needs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = file();
    file.end();
    file.save(folder.path(), "a.tmt");
    assert_eq!(FileRepair::of(&OpenRun::open(folder.path()).unwrap().processes[0]), None);
    // A remaining live file of a process that ended is removed, and no file is written.
    live_file().save(folder.path(), "a.live");
    let repair = FileRepair::of(&OpenRun::open(folder.path()).unwrap().processes[0]).unwrap();
    assert!(!repair.needs_rewrite() && repair.live.is_some_and(|live| live.ends_with("a.live")));
    let mut other = live_file();
    other.put(16, &process_id(2));
    other.save(folder.path(), "a.live");
    assert_eq!(
        FileRepair::of(&OpenRun::open(folder.path()).unwrap().processes[0]),
        None,
        "another process may need it"
    );
}

#[test]
fn numbers_may_be_as_large_as_they_can() {
    let mut file = file();
    // A block of names with the largest possible number, and streams with more losses than the sum
    // can count.
    let blocks =
        [(BlockKind::Strings, PROCESS_STREAM, u64::MAX), (BlockKind::Records, 0, 2), (BlockKind::Records, 1, 9)];
    for (kind, stream, sequence) in blocks {
        let header = BlockHeader { kind: kind as u8, stream, sequence, dropped: u64::MAX, ..BlockHeader::default() };
        append_block(&mut file.bytes, &header, &[]);
    }
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    let (_, after) = repaired(folder.path());
    assert_eq!(after.processes[0].dropped_records(), u64::MAX);
    let mut writer = tumit_paje::write::PajeWriter::new(Vec::new());
    let report = tumit_converter::convert::convert(&after, &ConvertOptions::default(), &mut writer).unwrap();
    assert_eq!(report.counts.dropped_records, u64::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// After any damage of both files, a repair keeps all listed records, and a second repair
    /// changes nothing.
    #[test]
    fn any_damage_is_repaired(flips in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), any::<u8>()), 0..6), cut in any::<prop::sample::Index>(), cuts in any::<bool>()) {
        let (mut file, mut live) = (file(), live_file());
        let used = SyntheticLiveFile::slot_at(3) + 130;
        for (which, position, flip) in flips {
            if which {
                let at = position.index(file.bytes.len());
                file.bytes[at] ^= flip;
            } else {
                let at = position.index(used);
                live.bytes[at] ^= flip;
            }
        }
        if cuts {
            let cut = cut.index(file.bytes.len());
            file.bytes.truncate(cut);
        }
        let folder = tempfile::tempdir().unwrap();
        file.save(folder.path(), "a.tmt");
        live.save(folder.path(), "a.live");
        if let Ok(run) = OpenRun::open(folder.path())
            && run.processes.len() == 1
        {
            repaired(folder.path());
        }
    }
}
