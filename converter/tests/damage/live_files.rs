//! Live files: the data that a killed process had in memory is used, impossible data is reported,
//! and nothing panics.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod damage;

use std::fs;
use std::path::Path;

use tracer_format::BlockKind;
use tracer_format::tags::{append_tag, tag};
use tumit_converter::convert::{ConvertError, ConvertOptions};
use tumit_converter::run::{Loss, OpenRun};
use tumit_converter::tools::dump::list;
use tumit_test_support::synthetic_live_file::{HEADER_BYTES, SLOT_BYTES, SyntheticLiveFile, SyntheticSlot};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, process_id};

use crate::mark_runs::{marks, schema};

/// A file with two blocks of one thread, 0..3 and 3..6, without an end.
fn file() -> SyntheticFile {
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema());
    file.thread(0, 2, "main");
    file.records(0, 0, &marks(0..3));
    file.records(0, 1, &marks(3..6));
    file
}

/// The live file of `file` with marks 6..9 as the third block.
fn live_file() -> SyntheticLiveFile {
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    live.slot(2, &SyntheticSlot { sequence: 2, records: marks(6..9), ..SyntheticSlot::default() });
    live
}

fn folder(file: &SyntheticFile, live: &SyntheticLiveFile) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    live.save(folder.path(), "a.live");
    folder
}

/// All records: thread, event and fields.
fn list_records(run: &OpenRun) -> Vec<String> {
    let mut lines = Vec::new();
    list::<ConvertError>(run, &ConvertOptions::default(), |record| {
        let fields: Vec<String> = record.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        lines.push(format!("{} {} {}", record.thread, record.event, fields.join(" ")));
        Ok(())
    })
    .unwrap();
    lines
}

fn open(folder: &Path) -> (Vec<String>, Vec<Loss>) {
    let run = OpenRun::open(folder).unwrap();
    (list_records(&run), run.losses())
}

fn expected(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|n| format!("main mark n={n}")).collect()
}

/// The losses without the one that every run without an end has.
fn unexpected_losses(losses: &[Loss]) -> Vec<String> {
    losses.iter().filter(|loss| !matches!(loss, Loss::NotEnded { .. })).map(ToString::to_string).collect()
}

#[test]
fn live_slots_are_blocks_of_their_streams() {
    let mut live = live_file();
    live.thread(1, 3, "late");
    live.string(7, "seven");
    let mut named = SyntheticRecords::default();
    named.record(1, 1095, &7u32.to_le_bytes());
    live.slot(0, &SyntheticSlot { stream: 1, records: named, ..SyntheticSlot::default() });
    let folder = folder(&file(), &live);
    let (lines, losses) = open(folder.path());
    assert_eq!(lines, [expected(0..9), vec!["late named what=seven".to_owned()]].concat());
    assert!(matches!(&losses[..], [Loss::NotEnded { live_records: 4, .. }]), "{losses:?}");
    assert!(losses[0].to_string().ends_with("; 4 records come from its live file"), "{}", losses[0]);
}

#[test]
fn flushed_records_are_read_once() {
    let mut live = live_file();
    let records = marks(3..9);
    let flushed = u32::try_from(records.payload.len() / 2).unwrap();
    live.slot(2, &SyntheticSlot { sequence: 2, records, flushed: (flushed, 3, 1050), ..SyntheticSlot::default() });
    let folder = folder(&file(), &live);
    let run = OpenRun::open(folder.path()).unwrap();
    assert_eq!(list_records(&run), expected(0..9));
    let block = run.processes[0].streams[0].blocks.last().unwrap();
    assert_eq!((block.header.first_ticks, block.header.last_ticks, block.header.records), (1050, 1080, 3));
}

#[test]
fn a_block_of_the_file_replaces_its_part_of_a_slot() {
    // The process was killed after it wrote the block and before it updated the slot. Meanwhile it
    // continued to record.
    let mut live = live_file();
    live.slot(2, &SyntheticSlot { sequence: 1, records: marks(3..8), ..SyntheticSlot::default() });
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!(lines, expected(0..8));
    assert!(matches!(&losses[..], [Loss::NotEnded { live_records: 2, .. }]), "{losses:?}");
    // The slot contains the same block, less than the block, or different records.
    for (records, reported) in [(marks(3..6), 0), (marks(3..5), 0), (marks(4..9), 1)] {
        live.slot(2, &SyntheticSlot { sequence: 1, records, ..SyntheticSlot::default() });
        let (lines, losses) = open(folder(&file(), &live).path());
        assert_eq!(lines, expected(0..6));
        assert!(matches!(&losses[0], Loss::NotEnded { live_records: 0, .. }), "{losses:?}");
        assert_eq!(losses.len(), 1 + reported, "{losses:?}");
    }
}

#[test]
fn missing_blocks_and_dropped_records_are_reported() {
    let mut live = live_file();
    live.slot(2, &SyntheticSlot { sequence: 4, records: marks(6..9), dropped: 5, ..SyntheticSlot::default() });
    live.slot(3, &SyntheticSlot { stream: 9, dropped: 2, ..SyntheticSlot::default() });
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!(lines, expected(0..9));
    assert!(losses.iter().any(|loss| matches!(loss, Loss::MissingBlocks { stream: 0, blocks: 2, .. })), "{losses:?}");
    assert!(losses.iter().any(|loss| matches!(loss, Loss::Dropped { records: 7, .. })), "{losses:?}");
}

#[test]
fn a_live_file_in_another_folder_is_found() {
    let other_folder = tempfile::tempdir().unwrap();
    let mut file = file();
    let path = other_folder.path().join("x.live");
    // The path is in the process block itself.
    let about = SyntheticProcess::new(1);
    let mut other = SyntheticFile::with_tags(&about, &schema(), |tags| {
        append_tag(tags, 13, path.to_str().unwrap().as_bytes());
    });
    other.thread(0, 2, "main");
    other.records(0, 0, &marks(0..3));
    other.records(0, 1, &marks(3..6));
    std::mem::swap(&mut file, &mut other);
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    live_file().save(other_folder.path(), "x.live");
    assert_eq!(open(folder.path()).0, expected(0..9));
    // The live file is moved to its usual name next to the process file.
    fs::rename(&path, folder.path().join("a.live")).unwrap();
    assert_eq!(open(folder.path()).0, expected(0..9));
    fs::remove_file(folder.path().join("a.live")).unwrap();
    let (lines, losses) = open(folder.path());
    assert_eq!(lines, expected(0..6));
    assert!(unexpected_losses(&losses)[0].contains("x.live: it does not exist"), "{losses:?}");
}

#[test]
fn a_live_file_is_used_only_for_its_own_unfinished_process() {
    let mut ended_file = file();
    ended_file.end();
    assert_eq!(
        open(folder(&ended_file, &live_file()).path()),
        (expected(0..6), Vec::new()),
        "it ended: nothing is missing"
    );

    let mut other_process = live_file();
    other_process.put(16, &process_id(2));
    let (lines, losses) = open(folder(&file(), &other_process).path());
    assert_eq!(lines, expected(0..6));
    assert!(unexpected_losses(&losses)[0].contains("a.live: it belongs to another process"), "{losses:?}");

    let lone = folder(&file(), &live_file());
    fs::rename(lone.path().join("a.live"), lone.path().join("b.live")).unwrap();
    let (lines, losses) = open(lone.path());
    assert_eq!(lines, expected(0..6));
    assert!(unexpected_losses(&losses)[0].contains("b.live: it belongs to another process"), "{losses:?}");

    // A process file that is opened alone is also read with its live file.
    let pair = folder(&file(), &live_file());
    assert_eq!(open(&pair.path().join("a.tmt")).0, expected(0..9));
}

#[test]
fn a_file_without_a_process_block_takes_the_process_of_the_log() {
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    let mut tags = Vec::new();
    append_tag(&mut tags, tag::PROCESS_ID, &process_id(1));
    append_tag(&mut tags, tag::HOST, b"there");
    let live_file = file();
    live.slot(0, &SyntheticSlot { records: marks(0..3), ..SyntheticSlot::default() });
    let empty = tempfile::tempdir().unwrap();
    fs::write(empty.path().join("a.tmt"), &live_file.bytes[..tracer_format::PREAMBLE_BYTES]).unwrap();
    live.save(empty.path(), "a.live");
    assert!(unexpected_losses(&open(empty.path()).1)[0].contains("another process"));
    live.entry(BlockKind::Process, u32::MAX, &tags);
    live.schema(&schema());
    live.thread(0, 2, "main");
    live.save(empty.path(), "a.live");
    let run = OpenRun::open(empty.path()).unwrap();
    assert_eq!(list_records(&run), expected(0..3));
    assert_eq!(run.processes[0].host, "there");
}

#[test]
fn names_that_the_file_has_are_newer() {
    let mut file = file();
    let id = file.string("new");
    let mut live = live_file();
    live.thread(0, 2, "old name");
    live.string(id, "old");
    live.log_is_in_file();
    let run = OpenRun::open(folder(&file, &live).path()).unwrap();
    assert_eq!(run.processes[0].streams[0].name, "main");
    assert_eq!(run.processes[0].strings[1].as_deref(), Some("new"));
    let mut live = live_file();
    live.thread(0, 2, "renamed");
    let run = OpenRun::open(folder(&file, &live).path()).unwrap();
    assert_eq!(run.processes[0].streams[0].name, "renamed");
}

#[test]
fn a_live_file_can_stand_for_a_file_that_could_not_be_written() {
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    let mut tags = Vec::new();
    append_tag(&mut tags, tag::PROCESS_ID, &process_id(1));
    live.entry(BlockKind::Process, u32::MAX, &tags);
    live.schema(&schema());
    live.thread(0, 2, "main");
    live.slot(0, &SyntheticSlot { records: marks(0..3), ..SyntheticSlot::default() });
    live.put(2048 + 8 * 255, &4u64.to_le_bytes());
    let folder = tempfile::tempdir().unwrap();
    live.save(folder.path(), "a.live");
    for empty in [false, true] {
        if empty {
            fs::write(folder.path().join("a.tmt"), b"").unwrap();
        }
        let (lines, losses) = open(folder.path());
        assert_eq!(lines, expected(0..3));
        assert!(losses.iter().any(|loss| matches!(loss, Loss::LiveAlone { .. })), "{losses:?}");
        assert!(losses.iter().any(|loss| matches!(loss, Loss::Dropped { records: 4, .. })), "{losses:?}");
        assert!(!losses.iter().any(|loss| matches!(loss, Loss::Unreadable { .. })), "{losses:?}");
    }
}

#[test]
fn a_slot_counts_the_blocks_that_were_made_of_it() {
    // Marks 0..3 and 3..6 are blocks 0 and 1 of the file. The slot contained both, and marks none,
    // one or both of them as written.
    for (blocks, flushed) in [(0u64, (0, 0, 0)), (1, (30, 3, 1020)), (2, (60, 6, 1050))] {
        let mut live = SyntheticLiveFile::new(process_id(1), 2);
        live.slot(1, &SyntheticSlot { sequence: 0, records: marks(0..8), flushed, ..SyntheticSlot::default() });
        live.put(SyntheticLiveFile::slot_at(1) + 30, &u16::try_from(blocks).unwrap().to_le_bytes());
        let (lines, losses) = open(folder(&file(), &live).path());
        assert_eq!(lines, expected(0..8), "{blocks} blocks");
        assert_eq!(unexpected_losses(&losses), Vec::<String>::new());
    }
}

#[test]
fn processes_that_ended_before_they_recorded_lost_nothing() {
    let (header, zeros) = (SyntheticLiveFile::new(process_id(2), 4), vec![0; HEADER_BYTES + 4 * SLOT_BYTES]);
    for early in [&[][..], &zeros, &header.bytes] {
        let folder = folder(&file(), &live_file());
        let path = folder.path().join("b.live");
        fs::write(&path, early).unwrap();
        let run = OpenRun::open(folder.path()).unwrap();
        assert_eq!(
            (list_records(&run), unexpected_losses(&run.losses())),
            (expected(0..9), Vec::new()),
            "{} bytes",
            early.len()
        );
        assert_eq!(run.empty_live, [path.as_path()]);
        let other_folder = tempfile::tempdir().unwrap();
        fs::rename(&path, other_folder.path().join("b.live")).unwrap();
        let error = OpenRun::open(other_folder.path()).unwrap_err().to_string();
        assert!(error.contains("before it recorded anything"), "{error}");
    }
    // If any byte is not zero, something may be missing.
    let mut torn = zeros;
    torn[HEADER_BYTES + 17] = 1;
    let folder = folder(&file(), &live_file());
    fs::write(folder.path().join("b.live"), torn).unwrap();
    let run = OpenRun::open(folder.path()).unwrap();
    assert!(
        run.empty_live.is_empty() && unexpected_losses(&run.losses())[0].contains("not a live file"),
        "{:?}",
        run.losses()
    );
}

#[test]
fn names_that_were_being_written_are_no_damage() {
    let mut file = file();
    let file_bytes = file.bytes.len();
    file.string("new");
    for (in_log, faults) in [(true, 0), (false, 1)] {
        let mut live = live_file();
        live.string(1, "new");
        let pair = folder(&file, &live);
        fs::write(pair.path().join("a.tmt"), &file.bytes[..file_bytes + 70]).unwrap();
        if !in_log {
            fs::remove_file(pair.path().join("a.live")).unwrap();
        }
        let run = OpenRun::open(pair.path()).unwrap();
        assert_eq!(run.processes[0].damage.len(), faults);
        assert!(!in_log || run.processes[0].strings[1].as_deref() == Some("new"));
    }
}

#[test]
fn two_slots_with_one_sequence_number_are_reported() {
    let mut live = live_file();
    live.slot(3, &SyntheticSlot { sequence: 2, records: marks(20..22), ..SyntheticSlot::default() });
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!(lines, expected(0..9));
    assert!(unexpected_losses(&losses)[0].contains("block 2 of stream 0, which another slot contains"), "{losses:?}");
    assert!(losses.iter().any(|loss| matches!(loss, Loss::Live { bytes: 20, records: 2, .. })), "{losses:?}");
}

#[test]
fn a_block_that_was_being_written_is_no_damage() {
    let mut file = file();
    let file_bytes = file.bytes.len();
    file.records(0, 2, &marks(6..9));
    for cut in [file_bytes + 64, file.bytes.len() - 9] {
        let pair = folder(&file, &live_file());
        fs::write(pair.path().join("a.tmt"), &file.bytes[..cut]).unwrap();
        let (lines, losses) = open(pair.path());
        assert_eq!((lines, unexpected_losses(&losses)), (expected(0..9), Vec::new()), "cut at {cut}");
        // Without the slot, damage is reported.
        SyntheticLiveFile::new(process_id(1), 4).save(pair.path(), "a.live");
        let (lines, losses) = open(pair.path());
        assert_eq!(lines, expected(0..6));
        assert!(unexpected_losses(&losses)[0].contains("cut short"), "cut at {cut}: {losses:?}");
    }
}

#[test]
fn a_released_slot_that_overwrites_is_no_second_block() {
    let mut live = live_file();
    live.slot(3, &SyntheticSlot { sequence: 1, records: marks(20..26), ..SyntheticSlot::default() });
    assert_eq!(
        unexpected_losses(&open(folder(&file(), &live).path()).1).len(),
        1,
        "a block that is otherwise in the file"
    );
    // A slot that overwrites was copied and then released. The block of the file has its records.
    live.put(SyntheticLiveFile::slot_at(3) + 60, &2u32.to_le_bytes());
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!((lines, unexpected_losses(&losses)), (expected(0..9), Vec::new()));
}

#[test]
fn overwritten_records_are_counted_and_no_block_is_missing() {
    let mut live = live_file();
    // Blocks 2 to 8 were overwritten. Block 8 is in slot 1. 20 records are counted as dropped, and
    // the 5 records of slot 1 are not counted yet.
    live.put(72, &20u64.to_le_bytes());
    let given_up =
        SyntheticSlot { sequence: 8, records: marks(20..25), flushed: (0, 0, 20), ..SyntheticSlot::default() };
    live.slot(1, &given_up);
    live.put(SyntheticLiveFile::slot_at(1) + 60, &3u32.to_le_bytes());
    live.slot(2, &SyntheticSlot { sequence: 9, records: marks(30..33), ..SyntheticSlot::default() });
    live.put(SyntheticLiveFile::slot_at(2) + 60, &2u32.to_le_bytes());
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!(lines, [expected(0..6), expected(30..33)].concat());
    assert_eq!(unexpected_losses(&losses).len(), 1, "{losses:?}");
    let dropped =
        |live: &SyntheticLiveFile| OpenRun::open(folder(&file(), live).path()).unwrap().processes[0].dropped_records();
    assert_eq!(dropped(&live), 25);
    // Now they are counted.
    live.put(72, &25u64.to_le_bytes());
    assert_eq!(dropped(&live), 25);
    // In a slot that does not overwrite, the gap is seven missing blocks.
    live.put(SyntheticLiveFile::slot_at(2) + 60, &1u32.to_le_bytes());
    let (_, losses) = open(folder(&file(), &live).path());
    assert!(
        unexpected_losses(&losses).iter().any(|loss| loss.contains("7 blocks of stream 0 are missing")),
        "{losses:?}"
    );
}

#[test]
fn slots_may_be_divided() {
    // Two slots of 8,192 bytes. The first is divided, so its second half has a head.
    let mut live = SyntheticLiveFile::new(process_id(1), 4);
    live.put(32, &8192u32.to_le_bytes());
    live.put(36, &2u32.to_le_bytes());
    live.put(SyntheticLiveFile::slot_at(0) + 60, &4u32.to_le_bytes());
    live.slot(1, &SyntheticSlot { sequence: 2, records: marks(6..9), ..SyntheticSlot::default() });
    live.slot(2, &SyntheticSlot { sequence: 3, records: marks(9..12), ..SyntheticSlot::default() });
    // A slot that is not divided contains no further heads, even if its bytes look like one.
    live.slot(3, &SyntheticSlot { sequence: 4, records: marks(12..15), ..SyntheticSlot::default() });
    let (lines, losses) = open(folder(&file(), &live).path());
    assert_eq!(lines, expected(0..12));
    assert!(unexpected_losses(&losses).is_empty(), "{losses:?}");
}
