//! Results of expressions, formats and minor features of the language, over synthetic runs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tumit_converter::convert::{ConvertOptions, convert, convert_to_text, own_paje_output};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

use crate::single_thread::run_of;

/// The lines of the run's only text output.
fn lines(run: &OpenRun, output: &str) -> (Vec<String>, ConversionReport) {
    let mut text = Vec::new();
    let mut options = ConvertOptions::default();
    options.output = Some(output.to_owned());
    let report = convert_to_text(run, &options, &mut text).unwrap();
    (String::from_utf8(text).unwrap().lines().map(str::to_owned).collect(), report)
}

fn rows(run: &OpenRun) -> (Vec<String>, ConversionReport) {
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(run, &ConvertOptions::default(), &mut writer).unwrap();
    (pj_dump::rows(&writer.into_inner()), report)
}

/// Evaluates expressions over one record with a field of each kind.
fn values(expressions: &[&str]) -> Vec<String> {
    let list = expressions.join(", ");
    let template = vec!["@"; expressions.len()].join("|");
    let text = format!(
        "trace t;\nenum color {{ red = 3, green, blue = 300 }}\nconst BASE = 2 * (3 + 4);\nconst NAME = \"n{{BASE}}\";\n\
         level L {{ event e {{ n: i32, x: f64, yes: bool, where: pointer, tint: color, what: string, data: bytes,\n\
         list: [i16], pair: [color; 2], since: date }} }}\n\
         output text \"o\" {{ rule e -> \"{template}\" {list}; }}\n"
    );
    let (_folder, run) = run_of("t.tumit", &text, |_, records| {
        let mut body = Vec::new();
        body.extend((-7i32).to_le_bytes());
        body.extend(2.5f64.to_le_bytes());
        body.push(1);
        body.extend(0xABu64.to_le_bytes());
        body.extend(4u16.to_le_bytes());
        body.extend([6, 0]);
        body.extend("h\u{e9}llo".as_bytes());
        body.extend([3, 0, 9, 8, 255]);
        body.extend([2, 0]);
        body.extend([10i16, -20].iter().flat_map(|value| value.to_le_bytes()));
        body.extend([300u16, 77].iter().flat_map(|value| value.to_le_bytes()));
        body.extend(1_500_000_000u64.to_le_bytes());
        records.record(0, 1_000_000_000, &body);
    });
    let (lines, _) = lines(&run, "o");
    lines[0].split('|').map(str::to_owned).collect()
}

#[test]
fn elements_functions_and_constants_have_their_values() {
    let table = [
        ("list[0]", "10"),
        ("list[len(list) - 1]", "-20"),
        ("list[2]", "?"),
        ("data[2]", "255"),
        ("pair[0]", "blue"),
        ("pair[1]", "77"),
        ("number(pair[0])", "300"),
        ("number(pair[1])", "77"),
        ("number(tint)", "4"),
        ("number(color.blue)", "300"),
        ("number(where)", "171"),
        ("number(yes)", "1"),
        ("color(3)", "red"),
        ("color(n + 11)", "green"),
        ("color(5)", "5"),
        ("len(what)", "5"),
        ("len(data)", "3"),
        ("len(pair)", "2"),
        ("len(NAME)", "3"),
        ("abs(n)", "7"),
        ("abs(-x)", "2.5"),
        ("min(n, BASE)", "-7"),
        ("max(x, n)", "2.5"),
        ("max(since, date)", "0.500000000"),
        ("floor(-x)", "-3"),
        ("ceil(-x)", "-2"),
        ("round(x)", "3"),
        ("round(x * 1e300)", "?"),
        ("BASE % 5", "4"),
        ("NAME", "n14"),
        ("tint == color.green and pair[0] != color.red", "true"),
    ];
    let expressions: Vec<&str> = table.iter().map(|(expression, _)| *expression).collect();
    for ((expression, expected), value) in table.iter().zip(values(&expressions)) {
        assert_eq!(value, *expected, "{expression}");
    }
}

#[test]
fn placeholders_have_width_alignment_precision_and_base() {
    let table = [
        ("\"{n:05}\"", "-0007"),
        ("\"[{what:8}]\"", "[h\u{e9}llo   ]"),
        ("\"[{what:>8.2}]\"", "[      h\u{e9}]"),
        ("\"[{tint:^9}]\"", "[  green  ]"),
        ("\"{x:.3} {x:e}\"", "2.500 2.5e0"),
        ("\"{where:x} {where:06X} {list[0]:b}\"", "ab 0000AB 1010"),
        ("\"{since:.3}\"", "0.500"),
        ("\"{list} {yes:6}/\"", "[10, -20] true  /"),
    ];
    let expressions: Vec<&str> = table.iter().map(|(expression, _)| *expression).collect();
    for ((expression, expected), value) in table.iter().zip(values(&expressions)) {
        assert_eq!(value, *expected, "{expression}");
    }
}

#[test]
fn existing_containers_are_not_made_and_ignored_events_not_shown() {
    let text = "trace t;\nlevel L { event start { n: u16 } event work { n: u16 } event noise { n: u16 } }\n\
                paje { container node[n: u16] \"Node {n:03}\" { event log state mode { busy } } }\n\
                rule start -> create node[n];\n\
                rule work -> mark log = \"work\" on existing node[n] -> set mode = busy on existing node[n];\n\
                rule noise -> ignore;\n";
    let (_folder, run) = run_of("t.tumit", text, |_, records| {
        records.record(1, 1_000, &7u16.to_le_bytes());
        records.record(0, 2_000, &1u16.to_le_bytes());
        records.record(1, 3_000, &1u16.to_le_bytes());
        records.record(2, 4_000, &1u16.to_le_bytes());
        records.record(1, 5_000, &8u16.to_le_bytes());
    });
    let (rows, report) = rows(&run);
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    assert_eq!(report.counts.without_container, 4);
    assert_eq!(
        rows,
        [
            "Container, 0, 0, 0, 4e-06, 4e-06, 0",
            "Container, 0, node, 1e-06, 4e-06, 3e-06, Node 001",
            "Event, Node 001, log, 0.000002000, work",
            "State, Node 001, mode, 0.000002000, 0.000004000, 0.000002000, 0.000000000, busy",
        ]
    );
}

#[test]
fn lines_once_come_first_and_conditions_hold_for_lines() {
    // The first line starts a new line after the prologue.
    for end in ["\\n", ""] {
        lines_once(end);
    }
}

fn lines_once(end: &str) {
    let text = "trace t;\nlevel L { event e { n: u16 } }\n\
                output text \"o\" {\n prologue \"headEND\"\n\
                rule e -> once \"first @ of @\" n % 2, event -> \"line @\" n when n > 1 -> once \"big\" when n > 2;\n}\n"
        .replace("END", end);
    let (_folder, run) = run_of("t.tumit", &text, |_, records| {
        for n in 1..5u16 {
            records.record(0, u64::from(n) * 1_000, &n.to_le_bytes());
        }
    });
    let (lines, report) = lines(&run, "o");
    assert_eq!(lines, ["head", "first 1 of e", "first 0 of e", "big", "line 2", "line 3", "line 4"]);
    assert_eq!(report.counts.lines, 6);
}

#[test]
fn parts_of_an_async_span_are_linked() {
    let text = "trace t;\nlevel L { span fetch async { n: u16 } }\n";
    let begin = |task: u64, n: u16| [&task.to_le_bytes()[..], &n.to_le_bytes()].concat();
    let folder = tempfile::tempdir().unwrap();
    let spec = tumit::compile_text("t.tumit", text).0.unwrap();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(42), &spec.schema());
    file.thread(0, 43, "one");
    file.thread(1, 44, "two");
    let (mut first_records, mut second_records) = (SyntheticRecords::default(), SyntheticRecords::default());
    first_records.record(0, 1_000, &begin(1, 5));
    first_records.record(1, 2_000, &1u64.to_le_bytes());
    first_records.record(0, 2_500, &begin(2, 6));
    first_records.record(1, 2_600, &2u64.to_le_bytes());
    second_records.record(0, 3_000, &begin(1, 5));
    second_records.record(1, 4_000, &1u64.to_le_bytes());
    file.records(0, 0, &first_records);
    file.records(1, 0, &second_records);
    file.end();
    file.save(folder.path(), "a.tmt");
    let (rows, report) = rows(&OpenRun::open(folder.path()).unwrap());
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let links: Vec<&String> = rows.iter().filter(|row| row.starts_with("Link")).collect();
    assert_eq!(
        links,
        ["Link, pid 42, Continuation, 0.000001000, 0.000002000, 0.000001000, Continuation, one, two, k0"]
    );
    assert_eq!(rows.iter().filter(|row| row.starts_with("State")).count(), 3);
}

/// Pajé's own instructions, recorded and converted without a rule of the user.
#[test]
fn the_standard_spec_writes_paje() {
    let text = tumit::load::standard("std:paje").unwrap();
    let spec = tumit::compile_text("std:paje", text).0.unwrap();
    let id = |name: &str| u16::try_from(spec.records.iter().position(|record| record.name == name).unwrap()).unwrap();
    let (_folder, run) = run_of("std:paje", text, |file, records| {
        let mut ticks = 1_000;
        let mut call = |event: &str, texts: &[&str], rest: &[u8]| {
            let mut body = Vec::new();
            for text in texts {
                body.extend(file.string(text).to_le_bytes());
            }
            body.extend(rest);
            records.record(id(event), ticks, &body);
            ticks += 1_000;
        };
        let color: Vec<u8> = [0.5f32, 0.25, 1.0].iter().flat_map(|part| part.to_le_bytes()).collect();
        for _ in 0..2 {
            call("define_container_type", &["T", "0", "Thread"], &[]);
            call("define_state_type", &["S", "T", "Activity"], &[]);
            call("define_value", &["W", "S", "Working hard"], &color);
        }
        call("define_event_type", &["E", "T", "Mark"], &[]);
        call("define_value", &["M", "E", "here"], &color);
        call("define_variable_type", &["V", "T", "Load"], &color);
        call("define_link_type", &["L", "0", "T", "T", "Message"], &[]);
        call("create_container", &["t1", "T", "0", "Thread one"], &[]);
        call("create_container", &["t2", "T", "0", "Thread two"], &[]);
        call("push_state", &["S", "t1", "W"], &[0, 0]);
        call("new_event", &["E", "t1", "M"], &[2, 0, b'h', b'i']);
        call("start_link", &["L", "0", "t1", "m"], &[&7u64.to_le_bytes()[..], &[0, 0]].concat());
        call("end_link", &["L", "0", "t2", "m"], &[&7u64.to_le_bytes()[..], &[0, 0]].concat());
        call("set_variable", &["V", "t2"], &3.0f64.to_le_bytes());
        call("add_variable", &["V", "t2"], &1.5f64.to_le_bytes());
        call("pop_state", &["S", "t1"], &[0, 0]);
        call("destroy_container", &["T", "t1"], &[]);
        call("destroy_container", &["T", "t2"], &[]);
    });
    assert_eq!(own_paje_output(&run).as_deref(), Some("paje"));
    let mut options = ConvertOptions::default();
    options.output = Some("paje".to_owned());
    let mut text = Vec::new();
    let report = convert_to_text(&run, &options, &mut text).unwrap();
    assert!(report.is_clean(), "{:?}", report.all_diagnostics());
    let rows = pj_dump::rows(&text);
    let has = |start: &str| assert!(rows.iter().any(|row| row.starts_with(start)), "no `{start}` in {rows:#?}");
    has("State, Thread one, Activity, 0.000012000");
    has("Event, Thread one, Mark, 0.000013000, here");
    has("Link, 0, Message, 0.000014000, 0.000015000");
    has("Variable, Thread two, Load, 0.000017000, 0.000020000");
    let again = &text[..];
    let mut sink = PajeWriter::new(Vec::new());
    tumit_paje::read::read(again, &mut sink).unwrap();
    // A spec with its own rules does not need this output.
    let (_folder, other) = run_of("t.tumit", "trace t; level L { event e; }", |_, records| records.record(0, 1, &[]));
    assert_eq!(own_paje_output(&other), None);
}
