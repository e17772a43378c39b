//! Damaged live files: impossible data is reported, and nothing panics.

use std::fs;

use proptest::prelude::*;
use tracer_format::ID_DROPPED;
use tumit_converter::run::Loss;
use tumit_test_support::synthetic_live_file::{HEAD_BYTES, HEADER_BYTES, SLOT_BYTES, SyntheticLiveFile, SyntheticSlot};
use tumit_test_support::synthetic_run::SyntheticRecords;

use super::{expected, file, folder, live_file, open, unexpected_losses};
use crate::mark_runs::marks;

/// Each case changes the records or the head of a slot, and gives the expected report.
#[test]
fn impossible_slots_are_reported() {
    let slot_start = SyntheticLiveFile::slot_at(2);
    let record = |n: usize| slot_start + HEAD_BYTES + n * 10;
    let cases: [(&str, usize, &[u8], u32, &str); 8] = [
        ("an unknown id", record(1), &[0xEE], 7, "are damaged after 10 of 30 bytes: no schema defines record id 238"),
        ("id 0", record(0), &[0, 0], 6, "are damaged after 0 of 30 bytes"),
        ("a date after the last", record(2) + 2, &[0xFF; 4], 8, "outside 1070..1080"),
        ("too many bytes", slot_start, &4033u32.to_le_bytes(), 6, "4033 bytes in use, but the slot has space for 4032"),
        (
            "more flushed than there is",
            slot_start + 24,
            &31u32.to_le_bytes(),
            6,
            "31 bytes already written, but only 30 in use",
        ),
        ("no stream", slot_start + 56, &[0xFF; 4], 6, "no stream"),
        ("half a record", slot_start, &29u32.to_le_bytes(), 8, "are damaged after 20 of 29 bytes"),
        ("bytes that nobody wrote", slot_start, &64u32.to_le_bytes(), 9, "are damaged after 30 of 64 bytes"),
    ];
    for (case, place, bytes, intact, message) in cases {
        let mut live = live_file();
        live.put(place, bytes);
        let (lines, losses) = open(folder(&file(), &live).path());
        assert_eq!(lines, expected(0..intact), "{case}");
        assert!(unexpected_losses(&losses).iter().any(|loss| loss.contains(message)), "{case}: {losses:?}");
    }
}

#[test]
fn impossible_headers_are_reported() {
    let cases: [(usize, &[u8], &str); 9] = [
        (0, b"x", "not a live file"),
        (8, &[2, 0], "version 2"),
        (32, &4095u32.to_le_bytes(), "slots of 4095 bytes"),
        (32, &(1u32 << 30).to_le_bytes(), "slots of 1073741824 bytes"),
        (36, &u32::MAX.to_le_bytes(), "4294967295 slots"),
        (36, &(1u32 << 20).to_le_bytes(), "1048572 slots beyond"),
        (40, &0u32.to_le_bytes(), "names at bytes 0"),
        (48, &0u64.to_le_bytes(), "slots at 0"),
        (56, &u64::MAX.to_le_bytes(), "of 4096 bytes of names"),
    ];
    for (at, bytes, message) in cases {
        let mut live = live_file();
        live.put(at, bytes);
        let (lines, losses) = open(folder(&file(), &live).path());
        assert!(lines.starts_with(&expected(0..6)), "{message}");
        assert!(unexpected_losses(&losses).iter().any(|loss| loss.contains(message)), "{message}: {losses:?}");
    }
    let pipe = folder(&file(), &live_file());
    fs::remove_file(pipe.path().join("a.live")).unwrap();
    fs::create_dir(pipe.path().join("a.live")).unwrap();
    assert!(unexpected_losses(&open(pipe.path()).1)[0].contains("not a live file"));
}

/// A live file with names, two streams and a partly flushed slot.
fn full_live_file() -> SyntheticLiveFile {
    let mut live = live_file();
    live.thread(1, 3, "late");
    live.string(7, "seven");
    let mut named = SyntheticRecords::default();
    named.record(1, 5_000_000_000, &7u32.to_le_bytes());
    named.payload.extend(ID_DROPPED.to_le_bytes());
    named.payload.extend([0; 40]);
    live.slot(0, &SyntheticSlot { stream: 1, records: named, dropped: 3, ..SyntheticSlot::default() });
    live.slot(
        1,
        &SyntheticSlot { sequence: 1, records: marks(3..6), flushed: (30, 3, 1050), ..SyntheticSlot::default() },
    );
    live
}

#[test]
fn every_truncation_is_survived_and_reported() {
    let pair = folder(&file(), &full_live_file());
    let run = open(pair.path());
    assert_eq!((run.0.len(), unexpected_losses(&run.1).len()), (10, 1), "{run:?}");
    let bytes = full_live_file().bytes;
    let used = SyntheticLiveFile::slot_at(2) + HEAD_BYTES + 30;
    for cut in (0..bytes.len()).filter(|cut| *cut < 128 || cut % 61 == 0 || cut.abs_diff(used) < 40) {
        fs::write(pair.path().join("a.live"), &bytes[..cut]).unwrap();
        let (lines, losses) = open(pair.path());
        assert!(expected(0..6).iter().all(|line| lines.contains(line)), "cut at {cut}");
        // A cut after the last record loses no records, but the header counts the missing slots.
        assert!(lines.len() < 10 || cut >= used, "cut at {cut}");
        assert!(losses.iter().any(|loss| matches!(loss, Loss::Live { .. })), "cut at {cut}: {losses:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// No damage causes a failure. The records of the file remain, and none is listed twice.
    #[test]
    fn flipped_bytes_are_survived(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6), head in any::<bool>()) {
        let mut live = full_live_file();
        for (position, flip) in flips {
            // Most of the file is empty, so the cases select used bytes.
            let places: Vec<usize> = (0..80)
                .chain(HEADER_BYTES..HEADER_BYTES + 64)
                .chain((0..4).flat_map(|slot| SyntheticLiveFile::slot_at(slot)..SyntheticLiveFile::slot_at(slot) + HEAD_BYTES + 60))
                .collect();
            let at = if head { places[position.index(places.len())] } else { position.index(live.bytes.len()) };
            live.bytes[at] ^= flip;
        }
        let pair = folder(&file(), &live);
        let (lines, _) = open(pair.path());
        for line in expected(0..6) {
            prop_assert!(lines.iter().any(|other| other.ends_with(line.trim_start_matches("main"))), "{:?}", lines);
        }
        prop_assert!(lines.len() <= 6 + 4 * (SLOT_BYTES / 10));
    }
}
