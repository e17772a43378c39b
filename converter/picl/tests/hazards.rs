//! Lines that real traces contain although they are wrong or unusual.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]
#![allow(dead_code, reason = "the module of common code has more functions")]

mod common;

use common::{Entities, read, rewrite};
use tumit_picl::{PiclFaultKind, PiclReadError, PiclReader, PiclStyle, TraceFormat};

fn old(text: &str) -> (Entities, Vec<(PiclFaultKind, u64)>) {
    read(text.as_bytes(), TraceFormat::OldPicl)
}

fn new(text: &str) -> (Entities, Vec<(PiclFaultKind, u64)>) {
    read(text.as_bytes(), TraceFormat::NewPicl)
}

#[test]
fn times_can_be_negative_and_unsorted() {
    let (entities, faults) = old("15 1 0 0 3\n15 0 -15 1 1\n15 0 0 1 2\n");
    assert_eq!(faults, []);
    let marks: Vec<&String> = entities.lines.iter().filter(|line| line.contains("Mark")).collect();
    assert_eq!(marks, ["node 1 Mark 1 -15000", "node 1 Mark 2 0", "node 0 Mark 3 1000000000"]);
}

#[test]
fn small_steps_back_in_time_are_noise() {
    // The second record is 2 µs earlier than the first.
    let text = "-3 5 0.000010 0 0 0\n-4 5 0.000008 0 0 0\n-3 5 0.000020 0 0 0\n-4 5 0.000030 0 0 0\n";
    let (entities, faults) = new(text);
    assert_eq!(faults, []);
    assert_eq!(entities.of(&["Task"]), ["node 0 Task 5 10000..10000", "node 0 Task 5 20000..30000"]);
    let (entities, _) = old("7 0 100 0 5\n8 0 98 0 1 5 8\n4 0 50 1 0 5 8\n");
    assert_eq!(entities.of(&["Message"]), ["Message node 1 bytes=8 type=5 50000 -> node 0 100000"]);
}

#[test]
fn statistics_enclose_calls_with_two_or_four_numbers() {
    for (first, second) in [("0 5", "0 25"), ("0 95 0 5", "0 95 0 25")] {
        let (entities, faults) =
            old(&format!("4 0 100 0 1 7 8\n11 0 100 0 {first}\n11 0 120 0 {second}\n6 0 130 1 0 7 8\n"));
        assert_eq!(faults, []);
        assert!(entities.lines.contains(&"node 0 Activity send 100000..120000".to_owned()));
        assert!(entities.lines.contains(&"node 0 Variable Communication time (s) 0.000025 120000".to_owned()));
    }
    // Statistics that are not those of a call.
    let (entities, _) = old("4 0 100 0 1 7 8\n11 0 900 0 0 5\n11 0 1200 0 0 25\n6 0 130 1 0 7 8\n");
    assert!(!entities.lines.iter().any(|line| line.contains("Activity send")));
}

#[test]
fn lists_of_marks_can_be_damaged() {
    let (entities, faults) = old("22 0 1 0 2 7 8\n22 0 2 0 2 7 8x 9\n22 0 3 0 -1\n22 0 4 0\n");
    assert_eq!(faults, [(PiclFaultKind::DamagedMarks, 2), (PiclFaultKind::LostMarks, 3)]);
    assert!(entities.lines.contains(&"node 0 Mark list data=7 8 1000".to_owned()), "{:?}", entities.lines);
    assert!(entities.lines.contains(&"node 0 Mark list data=2 7 8x 9 2000".to_owned()), "{:?}", entities.lines);
}

#[test]
fn a_send_to_all_nodes_is_expanded() {
    let text = "4 0 10 1 -1 5 8\n8 0 20 0 1 5 8\n8 0 30 2 1 5 8\n4 0 5 -32768 -1 6 8\n6 0 40 2 -32768 6 8\n";
    let (entities, faults) = old(text);
    // Nodes 0 and 1 do not receive the message of the host.
    assert_eq!(faults, [(PiclFaultKind::UnmatchedSend, 4)]);
    let expected = [
        "Message host bytes=8 type=6 5000 -> node 0 never",
        "Message host bytes=8 type=6 5000 -> node 1 never",
        "Message host bytes=8 type=6 5000 -> node 2 40000",
        "Message node 1 bytes=8 type=5 10000 -> node 0 20000",
        "Message node 1 bytes=8 type=5 10000 -> node 2 30000",
    ];
    assert_eq!(entities.of(&["Message"]), expected);
}

#[test]
fn receives_of_any_source_are_paired() {
    let (entities, faults) = old("4 0 10 1 0 5 8\n4 0 20 2 0 6 8\n6 0 30 0 -1 -1 8\n6 0 40 0 -1 6 8\n");
    assert_eq!(faults, []);
    assert_eq!(entities.of(&["Message"]).len(), 2);
}

#[test]
fn messages_received_before_they_are_sent_are_paired() {
    let (entities, faults) = old("6 0 10 1 0 5 8\n4 0 20 0 1 5 8\n6 0 30 1 0 5 8\n");
    assert_eq!(faults, [(PiclFaultKind::EarlyReceive, 1), (PiclFaultKind::UnmatchedReceive, 3)]);
    assert_eq!(entities.of(&["Message"]), ["Message node 0 bytes=8 type=5 20000 -> node 1 10000"]);
}

#[test]
fn unknown_records_are_kept_as_events() {
    let text = "-3 -901 0.0 0 0 0\n-3 -4711 0.1 0 0 2 2 5 6\n-77 3 0.2 0 0 1 2 9\n";
    let (entities, faults) = new(text);
    assert_eq!(faults, [(PiclFaultKind::UnknownKey, 2)]);
    let expected =
        ["node 0 Record unknown -4711 begin data=5 6 100000000", "node 0 Record unknown record -77 data=3 9 200000000"];
    assert_eq!(entities.of(&["Record"]), expected);
}

#[test]
fn values_need_not_be_announced() {
    let text = "-2 -911 0.1 0 0 3 \"%d %s %s\" 11 two  words\n-2 5 0.2 0 0 0 17\n-3 -21 0.3 0 0 4 8 1 1 0\n\
                -4 -21 0.4 0 0 0\n-3 -51 0.3 1 0 3 2 1 0 0\n-4 -51 0.5 1 0 4 2 8 1 0 0\n";
    let (entities, faults) = new(text);
    assert_eq!(faults, [(PiclFaultKind::DataCount, 2)]);
    assert!(entities.lines.contains(&"node 0 Text message text=two  words 100000000".to_owned()));
    assert!(entities.lines.contains(&"node 0 Mark 5 data=17 200000000".to_owned()));
    assert_eq!(entities.of(&["Message"]), ["Message node 0 bytes=8 type=1 300000000 -> node 1 500000000"]);
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let text = "-3 5 0.1 0 0 0\nxyz\n-4 5 0.2 0\n\n-4 5 0.3 0 0 0\n-3 -21 0.4 0 0 2 2 8 1\n";
    let (entities, faults) = new(text);
    let expected = [(PiclFaultKind::Head, 2), (PiclFaultKind::MissingData, 6), (PiclFaultKind::BeginWithoutEnd, 6)];
    assert_eq!(faults, expected);
    assert_eq!(entities.of(&["Task"]), ["node 0 Task 5 100000000..300000000"]);
}

#[test]
fn the_first_fault_stops_a_strict_reader() {
    let text = b"-3 5 0.1 0 0 0\nxyz\n-4 5 0.3 0 0 0\n";
    let error = PiclReader::new(&text[..], TraceFormat::NewPicl)
        .stop_at_first_fault()
        .read(&mut Entities::default())
        .unwrap_err();
    let PiclReadError::Strict(fault) = &error else { panic!("{error}") };
    assert_eq!((fault.kind, fault.line, fault.excerpt.as_str()), (PiclFaultKind::Head, 2, "xyz"));
    assert!(error.to_string().starts_with("line 2: expected the start of a record"), "{error}");
    // A message without a receive is found when all lines are read.
    let text = b"4 0 1 0 1 5 8\n15 0 2 1 3\n";
    let error = PiclReader::new(&text[..], TraceFormat::OldPicl)
        .stop_at_first_fault()
        .read(&mut Entities::default())
        .unwrap_err();
    assert!(error.to_string().starts_with("line 1: message that is sent, but not received"), "{error}");
}

#[test]
fn processes_of_a_node_are_containers_of_their_own() {
    let text = "-3 -901 0.0 0 0 0\n-3 -901 0.0 0 1 0\n-3 -21 0.1 0 0 4 2 8 1 0 1\n-4 -21 0.2 0 0 0\n\
                -3 -52 0.1 0 1 3 2 1 0 0\n-4 -52 0.3 0 1 4 2 8 1 0 0\n";
    let (entities, faults) = new(text);
    assert_eq!(faults, []);
    let expected = ["Message node 0/process 0 bytes=8 type=1 100000000 -> node 0/process 1 300000000"];
    assert_eq!(entities.of(&["Message"]), expected);
}

#[test]
fn states_of_alog_need_a_definition() {
    let text = "-1 0 0 0 0 0 test\n-13 0 3 4 0 0 green\n3 0 0 0 0 1\n-13 0 5 6 0 0 red:x late one\n5 0 0 0 0 2\n-101 0 0 1 0 3 12\n";
    let (entities, faults) = read(text.as_bytes(), TraceFormat::Alog);
    let expected = [
        (PiclFaultKind::StateDefinition, 2),
        (PiclFaultKind::LateDefinition, 4),
        (PiclFaultKind::BeginWithoutEnd, 5),
        (PiclFaultKind::MissingData, 6),
    ];
    assert_eq!(faults, expected);
    assert!(entities.lines.contains(&"process 0 State late one 2000..2000".to_owned()), "{:?}", entities.lines);
}

#[test]
fn messages_at_the_same_time_keep_their_order_when_they_are_written() {
    // Node 1 receives two messages at 1 µs. Only the second call has a duration.
    let text = "1 0 0 0 4 4 0\n4 0 0 0 1 2 8\n4 0 0 0 1 5 8\n1 0 1 1 4 4 0\n6 0 1 1 0 2 8\n19 0 1 0 0\n\
                6 0 1 1 0 5 8\n11 0 1 1 0 0\n11 0 2 1 0 1\n19 0 3 1 0\n";
    let again = rewrite(text.as_bytes(), TraceFormat::OldPicl, PiclStyle::OldCompact);
    assert_eq!(String::from_utf8(again).unwrap(), text);
}

#[test]
fn states_of_several_nodes_at_the_same_time_keep_their_order_when_they_are_written() {
    // The first state of node 1 has no duration, so it is written before the state of node 0.
    let text = "-3 -901 0.000000000 0 0 0\n-3 -901 0.000000000 1 0 0\n-3 -55 0.000004000 1 0 0\n\
                -4 -55 0.000004000 1 0 0\n-3 7 0.000004000 0 0 0\n-3 7 0.000004000 1 0 0\n\
                -4 7 0.000005000 0 0 0\n-4 7 0.000005000 1 0 0\n-4 -901 0.000006000 0 0 0\n-4 -901 0.000006000 1 0 0\n";
    let again = rewrite(text.as_bytes(), TraceFormat::NewPicl, PiclStyle::New);
    assert_eq!(String::from_utf8(again).unwrap(), text);
}

#[test]
fn the_end_of_a_call_is_written_before_another_message_at_the_same_time() {
    let text = "4 0 0 0 1 2 8\n4 0 0 0 1 5 8\n6 0 1 1 0 2 8\n11 0 1 1 0 0\n11 0 5 1 0 4\n6 0 5 1 0 5 8\n";
    let again = rewrite(text.as_bytes(), TraceFormat::OldPicl, PiclStyle::OldCompact);
    let (entities, _) = read(&again, TraceFormat::OldPicl);
    assert!(entities.lines.contains(&"node 1 Activity receive 1000..5000".to_owned()), "{:?}", entities.lines);
}
