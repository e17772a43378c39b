//! The cases of real writers: `tests/cases/README.md` names the rules.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

mod common;

use std::path::Path;

use common::{Entities, read, rewrite};
use tumit_picl::{PiclFaultKind, PiclStyle, TraceFormat};

fn case(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)).unwrap()
}

fn read_case(name: &str) -> (Entities, Vec<(PiclFaultKind, u64)>) {
    let text = case(name);
    read(&text, TraceFormat::of(&text).unwrap())
}

#[track_caller]
fn assert_has(entities: &Entities, expected: &[&str]) {
    for line in expected {
        assert!(entities.lines.iter().any(|entity| entity == line), "missing: {line}\n{}", entities.lines.join("\n"));
    }
}

#[test]
fn traces_of_conceptual_are_read() {
    let (entities, faults) = read_case("conceptual.picl");
    assert_eq!(faults, []);
    assert_has(
        &entities,
        &[
            // Two requests are completed at the same time.
            "node 0 Activity send wait data=1 30000..40000",
            "node 1 Activity wait data=0 20000..40000",
            "node 2 Activity barrier operation=1 collective=barrier communicator=0 40000..60000",
            "node 3 Activity allreduce operation=0 collective=all-to-all communicator=all bytes=8 50000..70000",
            // The number of a request stays, even if the call takes no time.
            "node 0 Activity send begin end_data=1 20000..20000",
            "node 3 Text message text=all is  well here 70000",
            "node 3 Task 1 70000..80000",
            "node 0 Activity finished 90000..100000",
            "Message node 0 bytes=4096 type=1 10000 -> node 1 40000",
            "Message node 0 bytes=512 type=1 70000 -> node 3 90000",
            "program Definition process subset data=-812 0 0 1 2 0",
        ],
    );
    assert_eq!(entities.of(&["Message"]).len(), 3);
    assert_eq!(entities.end, 100_000);
}

#[test]
fn traces_of_pastix_are_read() {
    let (entities, faults) = read_case("pastix.picl");
    // It announces no data for the size of memory, and writes a begin without an end.
    assert_eq!(faults, [(PiclFaultKind::DataCount, 6), (PiclFaultKind::BeginWithoutEnd, 6)]);
    assert_has(
        &entities,
        &[
            "node 0 Task 15 250000..3000000",
            "node 1 Task 16 15000..500000",
            "node 1 Task 0 2000000..3500000",
            "Message node 0 bytes=2048 type=88 1760000 -> node 1 2000000",
            "node 0 Record trace level data=4 4 0 0",
        ],
    );
}

#[test]
fn traces_of_mpicl_are_read() {
    let (entities, faults) = read_case("mpicl.picl");
    assert_eq!(faults, []);
    assert_has(
        &entities,
        &[
            "node 0 Task 3: solver 200000..4000000",
            "node 0 Activity send 1000000..1200000",
            "node 0 Activity probe data=6 1 0 1200000..1300000",
            "node 0 Activity receive 3000000..3100000",
            "node 0 Activity trace flush 4100000..4500000",
            "node 0 Mark 7 data=11 12 4000000",
            "node 0 Record time statistics data=-21 1 200 5000000",
            "node 1 Activity idle 100000..200000",
            "node 1 Activity wait data=-1 -1 -1 500000..1400000",
            "node 1 Activity pack 1400000..1500000",
            "node 1 Activity send begin end_data=44 1600000..1700000",
            "node 1 Activity send wait data=44 1700000..3100000",
            "node 1 Activity broadcast operation=0 is_root=0 collective=one-to-all communicator=all bytes=8 3200000..3400000",
            "node 1 Activity file access 3500000..3600000",
            "node 1 Text message text=half done 3700000",
            "Message node 1 bytes=16 type=6 1600000 -> node 0 3100000",
        ],
    );
}

#[test]
fn traces_of_parasol_are_read() {
    let (entities, faults) = read_case("parasol.picl");
    assert_eq!(faults, [(PiclFaultKind::DataCount, 8)]);
    assert_has(
        &entities,
        &[
            "Message node 2 bytes=200 type=4 90000000 -> node 0 120000000",
            "Message node 1 bytes=100 type=4 100000000 -> node 0 130000000",
            "node 0 Activity idle 130000000..200000000",
        ],
    );
}

#[test]
fn compact_traces_of_old_picl_are_read() {
    let (entities, faults) = read_case("old-compact.picl");
    let expected = [
        (PiclFaultKind::DamagedMarks, 21),
        (PiclFaultKind::LostMarks, 22),
        (PiclFaultKind::UnmatchedSend, 34),
        (PiclFaultKind::UnknownKey, 40),
        (PiclFaultKind::TraceFull, 41),
    ];
    assert_eq!(faults, expected);
    assert_has(
        &entities,
        &[
            "host Record load data=0 -1 -40000",
            "node 0 Activity compute -15000..1700000",
            "node 0 Activity send 100000..150000",
            "node 1 Activity receive 160000..180000",
            "node 0 Task 3 location=17 parameter=5 200000..1000000",
            "node 0 Mark 42 300000",
            "node 0 Activity wait 400000..900000",
            "node 0 Activity sync operation=1 collective=barrier communicator=all 1100000..1300000",
            "node 0 Activity barrier location=0 parameter=0 operation=0 collective=barrier communicator=all 1100000..1300000",
            "node 0 Activity trace flush 1500000..1700000",
            "node 0 Activity finished 1700000..1900000",
            "node 0 Variable Bytes sent 64 1400000",
            "node 1 Text message text=all is  well 700000",
            "node 1 Record unknown 47 data=1 2 3 1400000",
            "node 1 Record probe data=7 180000",
            "node 1 Activity unknown (trace memory full) 1500000..1900000",
            "Message node 0 bytes=64 type=7 100000 -> node 1 160000",
            // The clock was cut off, so the second of two records is 2 µs earlier.
            "Message node 1 bytes=4 type=900000001 500000 -> node 2 600000",
        ],
    );
}

#[test]
fn verbose_traces_of_old_picl_are_read() {
    let (entities, faults) = read_case("old-verbose.picl");
    assert_eq!(faults, []);
    assert_has(
        &entities,
        &[
            "node 0 Activity send 100000..150000",
            "node 0 Task 3 location=17 parameter=5 200000..1000000",
            "node 0 Mark 42 300000",
            "node 0 Activity wait 400000..900000",
            "node 0 Mark list data=4 5 6 1310000",
            "node 0 Text message text=all is  well 1320000",
            "node 0 Variable Communication time (s) 0.00055 900000",
            "Message node 1 bytes=16 type=9 500000 -> node 0 900000",
        ],
    );
}

#[test]
fn traces_of_upshot_are_read() {
    let (entities, faults) = read_case("upshot.alog");
    assert_eq!(faults, []);
    assert_has(
        &entities,
        &[
            "master State Rhode Island 10000..60000",
            "master State Idle time 30000..50000",
            "process 1 State Rhode Island 20000..80000",
            "master Event 30: checkpoint data=17 step 17 45000",
            // The timer rolls over after 40 s.
            "process 1 Event 31 40000800000",
            "Message master bytes=256 type=12 40000 -> process 1 70000",
        ],
    );
}

/// Kinds of entities that both formats can represent.
const KEPT: &[&str] = &["Activity", "Task", "Mark", "Text", "Message"];

#[test]
fn written_traces_have_the_same_entities() {
    for name in ["conceptual.picl", "pastix.picl", "mpicl.picl", "parasol.picl"] {
        let text = case(name);
        let rewritten_text = rewrite(&text, TraceFormat::NewPicl, PiclStyle::New);
        let (first, _) = read(&text, TraceFormat::NewPicl);
        let (second, _) = read(&rewritten_text, TraceFormat::of(&rewritten_text).unwrap());
        assert_eq!(first.lines.len(), second.lines.len(), "{name}");
        let all = [KEPT, &["Record", "Definition"]].concat();
        assert_eq!(first.of(&all), second.of(&all), "{name}");
        assert_eq!(rewrite(&rewritten_text, TraceFormat::NewPicl, PiclStyle::New), rewritten_text, "{name}");
    }
    for style in [PiclStyle::OldCompact, PiclStyle::OldVerbose] {
        for name in ["old-compact.picl", "old-verbose.picl"] {
            let again = rewrite(&case(name), TraceFormat::OldPicl, style);
            let (first, _) = read_case(name);
            let (second, _) = read(&again, TraceFormat::of(&again).unwrap());
            assert_eq!(first.of(KEPT), second.of(KEPT), "{name} {style:?}");
            // The end of the trace of a node is added if it is missing.
            let is_kept = |line: &String| second.of(&["Record"]).contains(line);
            let records = first.of(&["Record"]);
            // Labels are those of the form that is written.
            let has_labels = name == "old-verbose.picl";
            let is_same_form = has_labels == (style == PiclStyle::OldVerbose);
            assert!(!is_same_form || records.iter().all(is_kept), "{name} {records:?}");
            assert_eq!(rewrite(&again, TraceFormat::OldPicl, style), again, "{name}");
        }
    }
}

#[test]
fn the_old_format_becomes_the_new_one() {
    let again = rewrite(&case("old-verbose.picl"), TraceFormat::OldPicl, PiclStyle::New);
    let (first, _) = read_case("old-verbose.picl");
    let (second, faults) = read(&again, TraceFormat::of(&again).unwrap());
    assert_eq!(faults, []);
    assert_eq!(first.of(KEPT), second.of(KEPT));
}
