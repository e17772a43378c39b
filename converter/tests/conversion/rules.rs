//! Rules of real specs over synthetic runs. The results of `pj_dump` are compared with rows
//! computed by hand.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io;

use tracer_format::PayloadCodec;
use tumit_converter::convert::{ConvertOptions, convert, convert_to_text};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::write::PajeWriter;
use tumit_paje::{ContainerId, PajeEvent, PajeSink};
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticRecords};

use crate::single_thread::run_of;

fn paje_of(run: &OpenRun) -> (Vec<String>, ConversionReport) {
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(run, &ConvertOptions::default(), &mut writer).unwrap();
    assert_eq!(writer.backward_events(), 0);
    let text = writer.into_inner();
    // The result is the same without a thread that reads ahead.
    let mut without_text = PajeWriter::new(Vec::new());
    let mut options = ConvertOptions::default();
    options.threads = std::num::NonZeroUsize::new(1);
    convert(run, &options, &mut without_text).unwrap();
    assert!(without_text.into_inner() == text);
    // Definitions of events come first.
    let definitions = text.split(|byte| *byte == b'\n').map(|line| line.starts_with(b"%")).collect::<Vec<_>>();
    assert!(definitions.is_sorted_by(|a, b| a >= b));
    let rows = pj_dump::rows(&text);
    // Our own reader accepts the text, too, and loses nothing.
    let mut again = PajeWriter::new(Vec::new());
    tumit_paje::read::read(&text[..], &mut again).unwrap();
    assert_eq!(pj_dump::rows(&again.into_inner()), rows);
    (rows, report)
}

/// Packs values one after the other.
fn body(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

const TAKTUK: &str = include_str!("../../../tumit/tests/good/taktuk.tumit");
const BY_HAND: &str = include_str!("../../../tumit/tests/good/taktuk-by-hand.tumit");

fn node_thread(node: u16, thread: u16) -> Vec<u8> {
    [node.to_le_bytes(), thread.to_le_bytes()].concat()
}

/// Node 1 packs and posts a message. Node 2 receives it, after waiting since an earlier time.
fn taktuk(file: &mut SyntheticFile, records: &mut SyntheticRecords) {
    let master = file.string("Master").to_le_bytes();
    let slave = file.string("Slave").to_le_bytes();
    let stamp = 7u64.to_le_bytes();
    let (first_node, second_node) = (node_thread(1, 10), node_thread(2, 20));
    records.record(0, 1_000_000_000, &body(&[&first_node, &master]));
    records.record(0, 1_000_000_100, &body(&[&second_node, &slave]));
    records.record(1, 1_000_000_200, &first_node);
    records.record(2, 1_000_000_300, &body(&[&first_node, &stamp, &64u32.to_le_bytes()]));
    records.record(3, 1_000_000_400, &body(&[&second_node, &stamp, &1_000_000_150u64.to_le_bytes()]));
    records.record(6, 1_000_000_500, &body(&[&1u16.to_le_bytes(), &0.5f64.to_le_bytes(), &[2, 0, b'o', b'k']]));
    records.record(6, 1_000_000_600, &body(&[&1u16.to_le_bytes(), &(-1f64).to_le_bytes(), &[0, 0]]));
}

#[test]
fn the_taktuk_example_gives_the_expected_rows() {
    let (_folder, run) = run_of("test.tumit", TAKTUK, taktuk);
    let (rows, report) = paje_of(&run);
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    assert_eq!(report.counts.links, 1);
    let expected = [
        "Container, 0, 0, 0, 6e-07, 6e-07, 0",
        "Container, 0, program, 0, 6e-07, 6e-07, Program",
        "Container, Node 1, thread, 0, 6e-07, 6e-07, Master 10, Master",
        "Container, Node 2, thread, 1e-07, 6e-07, 5e-07, Slave 20, Slave",
        "Container, Program, node, 0, 6e-07, 6e-07, Node 1",
        "Container, Program, node, 1e-07, 6e-07, 5e-07, Node 2",
        "Link, Program, Message, 0.000000300, 0.000000400, 0.000000100, Message, Master 10, Slave 20, k0, 64",
        "State, Master 10, Activity, 0.000000000, 0.000000600, 0.000000600, 0.000000000, working",
        "State, Master 10, Activity, 0.000000200, 0.000000300, 0.000000100, 1.000000000, packing",
        "State, Slave 20, Activity, 0.000000100, 0.000000600, 0.000000500, 0.000000000, working",
        "State, Slave 20, Activity, 0.000000150, 0.000000400, 0.000000250, 1.000000000, receiving",
        "Variable, Node 1, Residual, 0.000000500, 0.000000600, 0.000000100, 0.500000000",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_text_output_is_in_time_order() {
    let (_folder, run) = run_of("test.tumit", BY_HAND, taktuk);
    let mut options = ConvertOptions::default();
    options.output = Some("by-hand".to_owned());
    let mut out = Vec::new();
    let report = convert_to_text(&run, &options, &mut out).unwrap();
    assert_eq!(report.counts.lines, 2);
    let out = String::from_utf8(out).unwrap();
    // The prologue has no line end, so the converter adds one.
    let lines = out.strip_prefix("%EventDef PajePushState 12\n…\n").unwrap();
    assert_eq!(lines, "12 0.000000150 T2.20 A R\n13 0.000000400 T2.20 A\n");

    options.output = Some("other".to_owned());
    let error = convert_to_text(&run, &options, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "the spec has no text output `other`; it has `by-hand`");
}

const EVERYTHING: &str = r#"
trace all;
enum color { red, green }
level L {
    event begin { thread: u32, what: string, n: i64 }
    event end { thread: u32, what: string }
    event all { thread: u32 }
    event style located { thread: u32, color: color }
    event add { thread: u32, by: i32 }
    event send { thread: u32, key: u64 }
    event receive { thread: u32, key: u64 }
    event hand { thread: u32, key: u64 }
    event take { key: u64 }
    event wait { thread: u32 }
    event quit { thread: u32 }
}
paje {
    container program "Program" {
        container thread[thread: u32] "T{thread}" {
            state doing "Doing" { idle #101010 }
            event seen "Seen" { red #ff0000, green "Green!" }
            variable count "Count"
            container part[name: string] "{name}" { state inner "Inner" }
        }
        container lock "Lock";
        link message "Message" from thread to thread
        link grant "Grant" from thread, lock to thread, lock
    }
}
rule begin -> push doing = what on thread[thread] with { n, twice = n * 2, text = "n is {n}" };
rule end -> pop doing what on thread[thread];
rule all -> reset doing on thread[thread];
rule style -> mark seen = color on thread[thread];
rule add -> add count = by on thread[thread];
rule send -> start message key (key) from thread[thread];
rule receive -> end message key (key) to thread[thread];
rule hand -> start grant key (key) from thread[thread];
rule take -> end grant key (key) to lock;
rule wait -> push doing = "waiting" on thread[thread] waits for lock owned by thread[thread + 1];
rule quit -> destroy thread[thread];
"#;

fn text(text: &str) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap().to_le_bytes(), text.as_bytes()].concat()
}

fn convert_thread(write: impl FnOnce(&mut SyntheticRecords)) -> (Vec<String>, ConversionReport) {
    let (_folder, run) = run_of("test.tumit", EVERYTHING, |_, records| {
        records.record(2, 0, &9u32.to_le_bytes());
        write(records);
        records.record(2, 1000, &9u32.to_le_bytes());
    });
    let (rows, report) = paje_of(&run);
    // Every thread has a counter that begins at zero.
    let first = |row: &String| row.starts_with("Variable") && row.ends_with(", 0.000000000");
    (rows.into_iter().filter(|row| !row.starts_with("Container") && !first(row)).collect(), report)
}

#[test]
fn labels_are_computed_and_pop_to_unwinds_to_its_value() {
    let number = 1u32.to_le_bytes();
    let (rows, report) = convert_thread(|records| {
        records.record(0, 100, &body(&[&number, &text("a"), &5i64.to_le_bytes()]));
        records.record(0, 200, &body(&[&number, &text("b"), &(-5i64).to_le_bytes()]));
        records.record(0, 300, &body(&[&number, &text("idle"), &0i64.to_le_bytes()]));
        records.record(1, 400, &body(&[&number, &text("nothing")]));
        records.record(1, 500, &body(&[&number, &text("a")]));
        records.record(1, 600, &body(&[&number, &text("a")]));
    });
    assert_eq!(report.counts.pops_of_nothing, 2);
    assert!(!report.is_clean());
    assert_eq!(
        rows,
        [
            "State, T1, Doing, 0.000000100, 0.000000500, 0.000000400, 0.000000000, a, 5, 10, n is 5",
            "State, T1, Doing, 0.000000200, 0.000000500, 0.000000300, 1.000000000, b, -5, -10, n is -5",
            "State, T1, Doing, 0.000000300, 0.000000500, 0.000000200, 2.000000000, idle, 0, 0, n is 0",
        ]
    );
}

#[test]
fn reset_and_states_left_open() {
    let number = 1u32.to_le_bytes();
    let (rows, report) = convert_thread(|records| {
        records.record(0, 100, &body(&[&number, &text("a"), &[0; 8]]));
        records.record(0, 200, &body(&[&number, &text("b"), &[0; 8]]));
        records.record(2, 300, &number);
        records.record(0, 400, &body(&[&number, &text("c"), &[0; 8]]));
    });
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let ends: Vec<&str> = rows.iter().map(|row| row.split(", ").nth(4).unwrap()).collect();
    assert_eq!(ends, ["0.000000300", "0.000000300", "0.000001000"]);
}

#[test]
fn unmatched_links_are_left_out_and_keys_may_return() {
    let key = |thread: u32, key: u64| body(&[&thread.to_le_bytes(), &key.to_le_bytes()]);
    let (rows, report) = convert_thread(|records| {
        records.record(5, 100, &key(1, 7));
        records.record(6, 200, &key(2, 7));
        records.record(5, 300, &key(1, 7));
        records.record(6, 400, &key(3, 7));
        records.record(5, 500, &key(1, 8));
        records.record(6, 600, &key(2, 9));
        records.record(6, 700, &key(2, 10));
    });
    assert_eq!((report.counts.unmatched_starts, report.counts.unmatched_ends), (1, 2));
    assert_eq!(
        rows,
        [
            "Link, Program, Message, 0.000000100, 0.000000200, 0.000000100, Message, T1, T2, k0",
            "Link, Program, Message, 0.000000300, 0.000000400, 0.000000100, Message, T1, T3, k1",
        ]
    );
}

/// A sink that keeps the starts of links that never end.
#[derive(Default)]
struct OpenLinkSink {
    starts: Vec<(i64, ContainerId)>,
    ends: usize,
    is_settled: bool,
}

impl PajeSink for OpenLinkSink {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        match event {
            PajeEvent::StartLink { time, start, .. } => self.starts.push((time.0, *start)),
            PajeEvent::EndLink { .. } => self.ends += 1,
            _ => {}
        }
        Ok(())
    }

    fn keeps_open_links(&self) -> bool {
        true
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        self.is_settled = true;
        Ok(())
    }

    fn finish(&mut self, _: GlobalNanos) -> io::Result<()> {
        assert!(self.is_settled, "endpoints are settled before the end");
        Ok(())
    }
}

#[test]
fn a_sink_can_keep_starts_without_an_end_in_containers_that_exist() {
    let key = |thread: u32, key: u64| body(&[&thread.to_le_bytes(), &key.to_le_bytes()]);
    for by_record in [false, true] {
        let (_folder, run) = run_of("test.tumit", EVERYTHING, |_, records| {
            // Thread 9 has no container yet, and the start does not create one.
            records.record(5, 50, &key(9, 1));
            records.record(5, 100, &key(1, 7));
            records.record(6, 200, &key(2, 7));
            records.record(5, 300, &key(1, 8));
            records.record(6, 400, &key(1, 9));
        });
        let mut options = ConvertOptions::default();
        options.by_record = by_record;
        let mut sink = OpenLinkSink::default();
        let report = convert(&run, &options, &mut sink).unwrap();
        assert_eq!((report.counts.unmatched_starts, report.counts.unmatched_ends, report.counts.links), (2, 1, 1));
        let times: Vec<i64> = sink.starts.iter().map(|start| start.0).collect();
        // Timestamps begin at the first record.
        assert_eq!((times, sink.ends), (vec![50, 250], 1));
        assert_eq!(sink.starts[0].1, sink.starts[1].1);
    }
}

#[test]
fn links_between_several_types_of_container() {
    let (rows, report) = convert_thread(|records| {
        records.record(7, 100, &body(&[&1u32.to_le_bytes(), &5u64.to_le_bytes()]));
        records.record(8, 200, &5u64.to_le_bytes());
    });
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    assert_eq!(rows, ["Link, Program, Grant, 0.000000100, 0.000000200, 0.000000100, Grant, T1, Lock, k0"]);
}

#[test]
fn counters_begin_at_zero_and_marks_have_colours() {
    let add = |by: i32| body(&[&1u32.to_le_bytes(), &by.to_le_bytes()]);
    let (rows, report) = convert_thread(|records| {
        records.record(4, 100, &add(3));
        records.record(4, 200, &add(-1));
        // The source position precedes the fields.
        records.record(3, 300, &body(&[&0u32.to_le_bytes(), &1u32.to_le_bytes(), &[1]]));
    });
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    assert_eq!(
        rows,
        [
            "Event, T1, Seen, 0.000000300, Green!",
            "Variable, T1, Count, 0.000000100, 0.000000200, 0.000000100, 3.000000000",
            "Variable, T1, Count, 0.000000200, 0.000001000, 0.000000800, 2.000000000",
        ]
    );
}

#[test]
fn relations_name_containers() {
    let (_folder, run) = run_of("test.tumit", EVERYTHING, |_, records| records.record(9, 5, &1u32.to_le_bytes()));
    let mut writer = PajeWriter::new(Vec::new());
    convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner()).unwrap();
    assert!(text.contains("% WaitsForContainer string\n% OwnedByContainer string\n"), "{text}");
    let id_of = |name: &str| {
        let line = text.lines().find(|line| line.starts_with("6 ") && line.ends_with(name)).unwrap();
        line.split(' ').nth(2).unwrap()
    };
    let (lock, owner) = (id_of("\"Lock\""), id_of("\"T2\""));
    assert!(text.lines().any(|line| line.ends_with(&format!(" {lock} {owner}"))), "{text}");
}

#[test]
fn a_container_may_end_early_and_begin_again() {
    let number = 1u32.to_le_bytes();
    let (_folder, run) = run_of("test.tumit", EVERYTHING, |_, records| {
        records.record(0, 100, &body(&[&number, &text("a"), &[0; 8]]));
        records.record(10, 200, &number);
        records.record(0, 300, &body(&[&number, &text("b"), &[0; 8]]));
    });
    let (rows, _) = paje_of(&run);
    let threads: Vec<&String> = rows.iter().filter(|row| row.contains(", thread, ")).collect();
    assert_eq!(
        threads,
        ["Container, Program, thread, 0, 1e-07, 1e-07, T1", "Container, Program, thread, 2e-07, 2e-07, 0, T1"]
    );
}

#[test]
fn a_rule_for_one_end_of_a_span_leaves_no_default_for_the_other() {
    let text = "trace a;\nlevel L { span half {} span bare {} }\npaje { container program \"Program\" { event log \"Log\" } }\n\
                rule half.begin -> mark log = \"begun\" on program;\n";
    // Records are half.begin, half.end, bare.begin, bare.end.
    let (_folder, run) = run_of("test.tumit", text, |_, records| {
        for (id, at) in [(0, 1000), (2, 1001), (3, 1003), (1, 1004)] {
            records.record(id, at, &[]);
        }
    });
    let (rows, report) = paje_of(&run);
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let shown_rows: Vec<&String> = rows.iter().filter(|row| !row.starts_with("Container")).collect();
    assert_eq!(shown_rows.len(), 2, "{rows:?}");
    assert!(shown_rows.iter().any(|row| row.starts_with("Event, Program, Log,") && row.ends_with("begun")), "{rows:?}");
    assert!(shown_rows.iter().any(|row| row.starts_with("State, main, Span,") && row.ends_with("bare")), "{rows:?}");
}

#[test]
fn numbers_that_paje_cannot_hold_are_left_out_and_counted() {
    let text = "trace a;\nlevel L { event measured { value: f64 } }\npaje { container program \"Program\" { variable v \"V\" } }\n\
                rule measured -> set v = value on program;\n";
    let (_folder, run) = run_of("test.tumit", text, |_, records| {
        for (at, value) in [1.5, f64::NAN, f64::INFINITY, 2.5].into_iter().enumerate() {
            records.record(0, 1000 + at as u64, &value.to_le_bytes());
        }
    });
    let (rows, report) = paje_of(&run);
    let values: Vec<&str> =
        rows.iter().filter(|row| row.starts_with("Variable")).filter_map(|row| row.rsplit(", ").next()).collect();
    assert_eq!(values, ["1.500000000", "2.500000000"], "{rows:?}");
    assert_eq!(report.counts.not_computable, 2);
    assert!(!report.is_clean());
    let message = "the rules of `a` could not compute 2 values of `measured` from its field `value`";
    assert!(report.diagnostics.iter().any(|diagnostic| diagnostic.text == message), "{:?}", report.diagnostics);
}

#[test]
fn a_state_whose_value_cannot_be_computed_is_left_out_and_counted() {
    let text = "trace a;\nlevel L { event e { n: i32 } }\npaje { container program \"Program\" { state s \"S\" event m \"M\" } }\n\
                rule e -> set s = 10 / n on program -> mark m = 10 / n on program;\n";
    let (_folder, run) = run_of("test.tumit", text, |_, records| {
        for (at, n) in [5_i32, 0].into_iter().enumerate() {
            records.record(0, 1000 + at as u64, &n.to_le_bytes());
        }
    });
    let (rows, report) = paje_of(&run);
    let shown_rows: Vec<&str> =
        rows.iter().filter(|row| !row.starts_with("Container")).filter_map(|row| row.rsplit(", ").next()).collect();
    assert_eq!(shown_rows, ["2", "2"], "{rows:?}");
    assert_eq!(report.counts.not_computable, 2);
    let message = "the rules of `a` could not compute 2 values of `e` from its field `n`";
    assert!(report.diagnostics.iter().any(|diagnostic| diagnostic.text == message), "{:?}", report.diagnostics);
}

#[test]
fn one_field_is_the_value_of_two_types() {
    let text = "trace a;\nlevel L { event e { what: interned } }\npaje { container program \"Program\" { state s \"S\" event m \"M\" } }\n\
                rule e -> mark m = what on program -> push s = what on program;\n";
    let (_folder, run) = run_of("test.tumit", text, |file, records| {
        file.codec = PayloadCodec::Columns;
        let words = ["one", "two"].map(|word| file.string(word));
        for at in 0..10 {
            records.record(0, 1000 + at as u64, &words[at % 2].to_le_bytes());
        }
    });
    let (rows, report) = paje_of(&run);
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let count =
        |kind: &str, value: &str| rows.iter().filter(|row| row.starts_with(kind) && row.ends_with(value)).count();
    let counts = ["one", "two"].map(|value| [count("Event", value), count("State", value)]);
    assert_eq!(counts, [[5, 5], [5, 5]], "{rows:?}");
}
