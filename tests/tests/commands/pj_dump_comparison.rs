//! Compares our reader and simulation with `pj_dump`, which shares no code with them: equal rows of
//! every file that it accepts, and a message for every file that it rejects.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use tests::programs::{molecular_dynamics, output, succeed, tumit, workspace};
use tumit_test_support::paje_text::{Mistake, StepNumbers, generate};
use tumit_viewer::OpenOptions;
use tumit_viewer::tables::{TableAccount, TableFormat, write};

/// The number of compared files.
const FILES: u32 = 400;

/// The sorted rows of `pj_dump`; `Err` with its message when it rejects the file.
fn pj_dump_rows(path: &Path) -> Result<Vec<String>, String> {
    let output = output(Command::new("pj_dump").args(["-l", "9", "-e", "1e300"]).arg(path));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        return Err(text + &String::from_utf8_lossy(&output.stderr));
    }
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    let kinds = ["Container, ", "State, ", "Variable, ", "Event, ", "Link, "];
    match rows.iter().find(|row| !kinds.iter().any(|kind| row.starts_with(kind))) {
        Some(row) => Err(row.clone()),
        None => {
            rows.sort();
            Ok(rows)
        }
    }
}

/// Our sorted rows, and the diagnostics.
fn tumit_rows(path: &Path) -> (Vec<String>, TableAccount) {
    let mut out = Vec::new();
    let account = write(path, &OpenOptions::default(), TableFormat::PjDump, &mut out).unwrap();
    let mut rows: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    rows.sort();
    assert_eq!(rows.len() as u64, account.rows);
    (rows, account)
}

fn difference(expected: &[String], actual: &[String]) -> Option<String> {
    let lacks = |rows: &[String], others: &[String]| {
        rows.iter().filter(|row| others.binary_search(row).is_err()).take(5).cloned().collect::<Vec<_>>().join("\n  ")
    };
    (expected != actual)
        .then(|| format!("only pj_dump:\n  {}\nonly ours:\n  {}", lacks(expected, actual), lacks(actual, expected)))
}

fn steps() -> impl Strategy<Value = (u64, Vec<StepNumbers>)> {
    (any::<u64>(), prop::collection::vec(any::<StepNumbers>(), 0..250))
}

#[test]
fn generated_files_give_the_rows_of_pj_dump() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("generated.paje");
    let counts = std::cell::RefCell::new(BTreeMap::<&str, (u64, u64)>::new());
    let mut runner = TestRunner::new(Config { cases: FILES, failure_persistence: None, ..Config::default() });
    let result = runner.run(&steps(), |(style, steps)| {
        let generated = generate(style, &steps, None);
        std::fs::write(&path, &generated.text).unwrap();
        for (&property, &count) in &generated.counts {
            let sum = counts.borrow().get(property).copied().unwrap_or_default();
            counts.borrow_mut().insert(property, (sum.0 + count, sum.1 + 1));
        }
        let expected = match pj_dump_rows(&path) {
            Ok(rows) => rows,
            Err(message) => {
                return Err(TestCaseError::fail(format!("pj_dump refuses it: {message}\n{}", generated.text)));
            }
        };
        let (actual, account) = tumit_rows(&path);
        if let Some(difference) = difference(&expected, &actual) {
            return Err(TestCaseError::fail(format!("{difference}\n{:?}\n{}", account.errors(), generated.text)));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    let lines = counts["lines"].0;
    println!("{FILES} files, {lines} lines. Of what readers may see differently:");
    for (property, (count, files)) in counts.iter().filter(|(property, _)| **property != "lines") {
        println!("{:6.2} % of lines, {:5.1} % of files: {property}", share(*count, lines), share(*files, FILES.into()));
    }
    for property in [
        "containers created before their parents",
        "containers destroyed before the last timestamps in inner ones",
        "containers destroyed with open states",
        "containers that end before they begin",
        "containers without alias",
        "timestamps before 0",
        "timestamps before that of an earlier line",
        "timestamps equal to that of the preceding line",
        "definitions after events",
        "lines about destroyed containers",
        "links with the end before the start in the file",
        "links that end before they start",
        "resets without a state",
        "sets and resets of several states",
        "states nested deeper than 8",
        "the last line does not have the largest timestamp",
        "values beyond 32 bits",
        "values without declaration",
        "variables changed twice at a timestamp",
    ] {
        assert!(counts.contains_key(property), "no file has {property}");
    }
}

#[test]
fn mistakes_that_pj_dump_rejects_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.paje");
    let mut runner = TestRunner::deterministic();
    for &mistake in Mistake::ALL {
        for _ in 0..3 {
            let (style, steps) = steps().new_tree(&mut runner).unwrap().current();
            // Values after lines with timestamps are a separate mistake, so the style without
            // them is used.
            let generated = generate(style & !1, &steps, Some(mistake));
            std::fs::write(&path, &generated.text).unwrap();
            assert!(pj_dump_rows(&path).is_err(), "pj_dump takes {mistake:?}:\n{}", generated.text);
            let check = output(tumit().args(["check", "--json"]).arg(&path));
            let text = String::from_utf8(check.stdout).unwrap();
            let is_reported =
                text.lines().any(|line| line.contains("\"kind\":\"fault\"") && line.contains(mistake.message_part()));
            assert!(is_reported, "{mistake:?} is not reported:\n{text}\n{}", generated.text);
            let strict = output(tumit().args(["check", "--strict"]).arg(&path));
            assert_eq!(strict.status.code(), Some(1), "{mistake:?}");
        }
    }
}

#[test]
fn lines_that_only_pj_dump_rejects_give_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weak.paje");
    let good = std::fs::read_to_string(corpus("two-nodes.paje")).unwrap();
    let last = "4 1.0 T t00\n";
    for (line, message) in [
        ("5 0.9 S \"thread 0.0\" w\n", "by its name instead of its identifier (`thread 0.0`)"),
        ("5 0.9 Activity t00 w\n", "by its name instead of its identifier (`Activity`)"),
        ("3 0.8 more T n0 more\n4 0.9 Thread more\n", "by its name instead of its identifier (`Thread`)"),
        ("3 0.9 more N / \"at the root\"\n", "by its name instead of its identifier (`/`)"),
        ("3 0.9 0 T n0 zero\n", "identifier `0` of the root is used for another"),
        ("%EventDef PajeStartTrace 90\n% Time date\n%EndEventDef\n", "that some readers do not know"),
    ] {
        std::fs::write(&path, good.replacen(last, &format!("{line}{last}"), 1)).unwrap();
        assert!(pj_dump_rows(&path).is_err(), "pj_dump takes {line}");
        for (args, status) in [(&["check"][..], 0), (&["check", "--strict"], 1)] {
            let out = output(tumit().args(args).arg(&path));
            let stdout = String::from_utf8(out.stdout).unwrap();
            assert!(stdout.contains("warning: ") && stdout.contains(message), "{line}: {stdout}");
            assert_eq!(out.status.code(), Some(status), "{line}: {stdout}");
        }
    }
}

fn corpus(name: &str) -> PathBuf {
    workspace().join("tests/paje").join(name)
}

#[test]
fn files_of_other_producers_give_the_rows_of_pj_dump() {
    for (name, rows) in [
        ("two-nodes.paje", 16),
        ("simgrid-smpi.trace", 199),
        ("simgrid-sizes.trace", 217),
        ("simgrid-platform.trace", 462),
    ] {
        let path = corpus(name);
        let expected = pj_dump_rows(&path).unwrap_or_else(|message| panic!("pj_dump refuses {name}: {message}"));
        let (actual, account) = tumit_rows(&path);
        assert_eq!(difference(&expected, &actual), None, "{name}");
        assert_eq!((actual.len(), account.errors()), (rows, Vec::new()), "{name}");
    }
}

#[test]
fn files_that_only_pj_dump_rejects_are_read() {
    // Links of the topology lack a user field: all of them are read.
    let path = corpus("simgrid-platform-sizes.trace");
    assert!(pj_dump_rows(&path).is_err());
    let (rows, account) = tumit_rows(&path);
    assert_eq!(rows, tumit_rows(&corpus("simgrid-platform.trace")).0);
    assert!(account.errors()[0].text.contains("fewer values than its definition has fields"), "{:?}", account.errors());
    assert_eq!(account.errors().len(), 1);
    // The fields have old names, and all states come after the end of their containers.
    let path = corpus("starpu-schedule.trace");
    assert!(pj_dump_rows(&path).is_err());
    let (rows, account) = tumit_rows(&path);
    assert_eq!(rows.len(), 3);
    let message = "6 operations were ignored: their containers have ended or never existed (the first in line ";
    assert!(account.errors().len() == 1 && account.errors()[0].text.starts_with(message), "{:?}", account.errors());
}

#[test]
fn a_run_and_its_paje_file_give_the_rows_of_pj_dump() {
    let folder = tempfile::tempdir().unwrap();
    let (run, paje) = (folder.path().join("run.tmt"), folder.path().join("run.paje"));
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run));
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    let expected = pj_dump_rows(&paje).unwrap();
    assert!(expected.len() > 1000);
    for path in [&run, &paje] {
        let (actual, account) = tumit_rows(path);
        assert_eq!(difference(&expected, &actual), None, "{}", path.display());
        assert!(account.errors().is_empty(), "{:?}", account.errors());
    }
}

#[test]
fn texts_of_a_run_equal_those_of_its_paje_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    succeed(Command::new(env!("CARGO_BIN_EXE_make_trace")).arg(file("run.tmt")).args(["300", "2"]));
    std::fs::write(
        file("texts.tumit"),
        "trace texts;\nlevel messages { event send { n: u32 } }\n\
         paje { container program \"Pro\\ngram, \\\"all\\\"\" { event log \"Log,\\nbook\" state now \"\\tNow\" variable load \"\" } }\n\
         rule send -> mark log = \"say \\\"{n}\\\", then\\nrest\" on program -> set now = \"it's # 5 %\" on program;\n",
    )
    .unwrap();
    let convert = |to: &str, more: &[&str]| {
        let mut command = tumit();
        command.arg("convert").arg(file("run.tmt")).arg("--rules").arg(file("texts.tumit")).arg("-o").arg(file(to));
        output(command.args(more))
    };
    let out = convert("run.paje", &[]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let out = convert("run.txt", &["--pj-dump"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let expected = pj_dump_rows(&file("run.paje")).unwrap();
    assert!(expected.iter().any(|row| row.ends_with("', then rest") || row.ends_with("'; then rest")), "{expected:?}");
    let text = std::fs::read_to_string(file("run.txt")).unwrap();
    let mut actual: Vec<String> = text.lines().map(str::to_owned).collect();
    actual.sort();
    assert_eq!(difference(&expected, &actual), None);
}

#[test]
fn negative_starts_and_invalid_numbers_are_read_as_by_pj_dump() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("early.paje");
    let good = std::fs::read_to_string(corpus("two-nodes.paje")).unwrap();
    let first = "3 0.0 n0 N 0 \"Node 0\"\n";
    let (head, tail) = good.split_once(first).unwrap();
    let definition = "%EventDef PajeDefineVariableType 80\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
         %EventDef PajeSetVariable 81\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         %EventDef PajeAddVariable 82\n% Time date\n% Type string\n% Container string\n% Value double\n%EndEventDef\n\
         %EventDef PajePushState 83\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         %EventDef PajePopState 84\n% Time date\n% Type string\n% Container string\n%EndEventDef\n\
         80 V T Load\n3 -7 n T n0 N\n";
    let early = "5 -3.5 S n w\n83 -3 S n b\n84 -3 S n\n83 -3 S n c\n84 -3 S n\n84 -3 S n\n83 -2 S n d\n83 -1 S n e\n84 -0.5 S n\n\
         81 -3 V n 1\n81 -1 V n 2\n81 0.1 V n 1e39\n82 0.2 V n -1e39\n81 0.3 V n -1e39\n81 0.4 V n 1\n\
         7 -3 L 0 n m e1\n8 -2 L 0 n m e1\n7 -0.5 L 0 n m e2\n8 0.1 L 0 n m e2\n";
    std::fs::write(&path, [head, first, definition, early, tail].concat()).unwrap();
    let expected = pj_dump_rows(&path).unwrap();
    for row in [
        "State, N, Activity, -1.000000000, -0.500000000, 0.000000000, 1.000000000, e",
        "Variable, N, Load, -1.000000000, 0.100000000, 0.000000000, 2.000000000",
        "Variable, N, Load, 0.100000000, 0.200000000, 0.100000000, inf",
        "Variable, N, Load, 0.200000000, 0.300000000, 0.100000000, -nan",
        "Variable, N, Load, 0.300000000, 0.400000000, 0.100000000, -inf",
        "Link, 0, Message, -0.500000000, 0.100000000, 0.000000000, m, N, N, e2",
    ] {
        assert!(expected.iter().any(|expected_row| expected_row == row), "{row}\n{expected:#?}");
    }
    let (actual, account) = tumit_rows(&path);
    assert_eq!(difference(&expected, &actual), None);
    assert!(!account.errors().iter().any(|error| error.text.contains("finite")), "{:?}", account.errors());
}

/// A header with one definition of each kind, and one container `c`.
const HEAD: &str = include_str!("pj-dump-header.paje");

#[test]
fn unusual_numbers_and_ends_are_read_as_by_pj_dump() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.paje");
    let check = |name: &str, text: &str| {
        std::fs::write(&path, text).unwrap();
        let (expected, (actual, account)) = (pj_dump_rows(&path).unwrap(), tumit_rows(&path));
        if let Some(difference) = difference(&expected, &actual) {
            panic!("{name}: {difference}\n{:?}", account.errors());
        }
        account
    };
    let definitions = HEAD.find("0 CT 0").unwrap();
    check("a header", &HEAD[..definitions]);
    check("containers", HEAD);
    check("a definition at the end", &format!("{HEAD}3 1 c S a\n2 b S B \"1 0 0\"\n"));
    check("nothing but a definition", &format!("{}0 CT 0 Cont\n", &HEAD[..definitions]));
    check("an empty word at the end", &format!("{HEAD}4 1 c E \"\"\n5 9 c CT\n"));
    check("an empty name", &format!("{HEAD}1 1 d 0 CT \"\"\n5 9 c CT\n"));
    let words = "abc 1,5 2x . - -0 +1e2x 0x10 0x1.8p3 0x inf -inf nan infinite 1e39 1e400 1e-50 16777217 0.1";
    for word in words.split(' ') {
        let text = format!("{HEAD}6 1 c V 5\n6 2 c V {word}\n7 3 c V {word}\n8 4 c V 1\n5 9 c CT\n");
        let has_errors = !check(&format!("value {word}"), &text).errors().is_empty();
        assert_eq!(
            has_errors,
            word.parse().map_or(!word.starts_with("0x1"), |value: f64| !value.is_finite()) || word == "0x1.8p3",
            "{word}"
        );
    }
    let dates = "1x 1,5 .5 1. +2 1e 1e-3 15E-1z 0.12345678901234567890 1.9999999999999 9007199.254740993 123456789.123456789 9131231.820725461 9007199254740993 1e18 1e60";
    for date in dates.split(' ') {
        check(&format!("date {date}"), &format!("{HEAD}4 {date} c E e\n3 {date} c S a\n5 1e61 c CT\n"));
    }
}

proptest! {
    #![proptest_config(Config { cases: 40, failure_persistence: None, ..Config::default() })]

    #[test]
    fn timestamps_of_any_length_are_read_as_by_pj_dump(
        dates in prop::collection::vec(("[0-9]{1,17}(\\.[0-9]{0,25})?", prop::option::of(-25i32..20)), 1..100),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dates.paje");
        let text = |(digits, exponent): (String, Option<i32>)| digits + &exponent.map_or(String::new(), |by| format!("e{by}"));
        let mut dates: Vec<String> = dates.into_iter().map(text).collect();
        let value = |date: &str| date.parse::<f64>().unwrap();
        dates.sort_by(|a, b| value(a).total_cmp(&value(b)));
        // Removes timestamps that differ by less than the error of a reader, because they could be
        // out of order.
        dates.dedup_by(|next, date| value(next) <= value(date) * (1.0 + 1e-12));
        let lines: String = dates.iter().map(|date| format!("3 {date} c S a\n")).collect();
        std::fs::write(&path, format!("{HEAD}{lines}5 1e60 c CT\n")).unwrap();
        let (expected, (actual, _)) = (pj_dump_rows(&path).unwrap(), tumit_rows(&path));
        prop_assert_eq!(difference(&expected, &actual), None);
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn share(part: u64, total: u64) -> f64 {
    100.0 * part as f64 / total as f64
}
