//! Our reader and simulation against `pj_dump`, which shares no code with them: the same rows of every file that it takes, and a
//! sentence about every file that it refuses.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside test functions")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, TestRunner};
use tests::paje_text::{Mistake, Step, generate};
use tests::programs::{molecular_dynamics, output, succeed, tumit, workspace};
use viewer::OpenOptions;
use viewer::entities::{Account, Format, write};

/// How many files are compared.
const FILES: u32 = 400;

/// The sorted rows of `pj_dump`; `Err` with what it says when it refuses.
fn theirs(path: &Path) -> Result<Vec<String>, String> {
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

/// Our sorted rows, and what was said.
fn ours(path: &Path) -> (Vec<String>, Account) {
    let mut out = Vec::new();
    let account = write(path, &OpenOptions::default(), Format::PjDump, &mut out).unwrap();
    let mut rows: Vec<String> = String::from_utf8(out).unwrap().lines().map(str::to_owned).collect();
    rows.sort();
    assert_eq!(rows.len() as u64, account.rows);
    (rows, account)
}

fn difference(theirs: &[String], ours: &[String]) -> Option<String> {
    let lacks = |rows: &[String], others: &[String]| {
        rows.iter().filter(|row| others.binary_search(row).is_err()).take(5).cloned().collect::<Vec<_>>().join("\n  ")
    };
    (theirs != ours).then(|| format!("only pj_dump:\n  {}\nonly ours:\n  {}", lacks(theirs, ours), lacks(ours, theirs)))
}

fn steps() -> impl Strategy<Value = (u64, Vec<Step>)> {
    (any::<u64>(), prop::collection::vec(any::<Step>(), 0..250))
}

#[test]
fn generated_files_give_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("generated.paje");
    let counts = std::cell::RefCell::new(BTreeMap::<&str, (u64, u64)>::new());
    let mut runner = TestRunner::new(Config { cases: FILES, failure_persistence: None, ..Config::default() });
    let result = runner.run(&steps(), |(style, steps)| {
        let made = generate(style, &steps, None);
        std::fs::write(&path, &made.text).unwrap();
        for (&what, &count) in &made.counts {
            let sum = counts.borrow().get(what).copied().unwrap_or_default();
            counts.borrow_mut().insert(what, (sum.0 + count, sum.1 + 1));
        }
        let theirs = match theirs(&path) {
            Ok(rows) => rows,
            Err(said) => return Err(TestCaseError::fail(format!("pj_dump refuses it: {said}\n{}", made.text))),
        };
        let (ours, account) = ours(&path);
        if let Some(difference) = difference(&theirs, &ours) {
            return Err(TestCaseError::fail(format!("{difference}\n{:?}\n{}", account.faults, made.text)));
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let counts = counts.into_inner();
    let lines = counts["lines"].0;
    println!("{FILES} files, {lines} lines. Of what readers may see differently:");
    for (what, (count, files)) in counts.iter().filter(|(what, _)| **what != "lines") {
        println!("{:6.2} % of lines, {:5.1} % of files: {what}", share(*count, lines), share(*files, FILES.into()));
    }
    for what in [
        "containers created before their parents",
        "containers destroyed before what is in those inside",
        "containers destroyed with something open",
        "containers that end before they begin",
        "containers without alias",
        "dates before an earlier line's",
        "dates equal to the line before",
        "definitions after events",
        "lines about destroyed containers",
        "links of which the end stands first",
        "links that end before they start",
        "resets of nothing",
        "sets and resets of several states",
        "states nested deeper than 8",
        "the last line has not the largest date",
        "values without declaration",
        "variables changed twice at a date",
    ] {
        assert!(counts.contains_key(what), "no file has {what}");
    }
}

#[test]
fn whatever_pj_dump_refuses_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.paje");
    let mut runner = TestRunner::deterministic();
    for &mistake in Mistake::ALL {
        for _ in 0..3 {
            let (style, steps) = steps().new_tree(&mut runner).unwrap().current();
            // Values after lines of dates are another mistake.
            let made = generate(style & !1, &steps, Some(mistake));
            std::fs::write(&path, &made.text).unwrap();
            assert!(theirs(&path).is_err(), "pj_dump takes {mistake:?}:\n{}", made.text);
            let found = output(tumit().args(["check", "--json"]).arg(&path));
            let text = String::from_utf8(found.stdout).unwrap();
            let told = text.lines().any(|line| line.contains("\"kind\":\"fault\"") && line.contains(mistake.says()));
            assert!(told, "{mistake:?} is not told:\n{text}\n{}", made.text);
            let strict = output(tumit().args(["check", "--strict"]).arg(&path));
            assert_eq!(strict.status.code(), Some(1), "{mistake:?}");
        }
    }
}

fn corpus(name: &str) -> PathBuf {
    workspace().join("tests/paje").join(name)
}

#[test]
fn files_of_producers_give_the_same_rows() {
    for (name, rows) in [
        ("two-nodes.paje", 16),
        ("simgrid-smpi.trace", 199),
        ("simgrid-sizes.trace", 217),
        ("simgrid-platform.trace", 462),
    ] {
        let path = corpus(name);
        let theirs = theirs(&path).unwrap_or_else(|said| panic!("pj_dump refuses {name}: {said}"));
        let (ours, account) = ours(&path);
        assert_eq!(difference(&theirs, &ours), None, "{name}");
        assert_eq!((ours.len(), account.faults), (rows, Vec::new()), "{name}");
    }
}

#[test]
fn files_that_pj_dump_refuses_are_read() {
    // Links of the topology lack a user field: all of them are read.
    let path = corpus("simgrid-platform-sizes.trace");
    assert!(theirs(&path).is_err());
    let (rows, account) = ours(&path);
    assert_eq!(rows, ours(&corpus("simgrid-platform.trace")).0);
    assert!(account.faults[0].contains("fewer values than its definition has fields"), "{:?}", account.faults);
    assert_eq!(account.faults.len(), 1);
    // Old names of fields; all states come when their containers are gone.
    let path = corpus("starpu-schedule.trace");
    assert!(theirs(&path).is_err());
    let (rows, account) = ours(&path);
    assert_eq!(rows.len(), 3);
    assert_eq!(account.faults, ["6 operations were left out: their containers have ended or never existed"]);
}

#[test]
fn our_examples_give_the_same_rows_as_runs_and_as_files() {
    let folder = tempfile::tempdir().unwrap();
    let (run, paje) = (folder.path().join("run.tmt"), folder.path().join("run.paje"));
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run));
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    let theirs = theirs(&paje).unwrap();
    assert!(theirs.len() > 1000);
    for path in [&run, &paje] {
        let (ours, account) = ours(path);
        assert_eq!(difference(&theirs, &ours), None, "{}", path.display());
        assert_eq!(account.faults, Vec::<String>::new());
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn share(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole as f64
}
