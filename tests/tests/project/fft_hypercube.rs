//! The Fourier transform on a hypercube: the numbers of the algorithm, in the views of `ParaGraph`
//! and in the report of `tumit diagnose`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::programs::{count, mpirun, output, succeed, tumit};
use tests::report_numbers;
use tumit_test_support::pj_dump::PjDumpRows;

use crate::examples::{build_c, convert};

const RANKS: u64 = 16;
const DIMENSIONS: u64 = 4;
const POINTS: u64 = 1024;
/// Two rounds of a forward and an inverse transform.
const TRANSFORMS: u64 = 4;
/// Bytes of a message: the complex numbers of a block.
const BLOCK: u64 = POINTS / RANKS * 16;
/// This rank computes its butterflies four times.
const SLOW: &str = "Rank 5";

fn build(folder: &Path) -> PathBuf {
    build_c(folder, "fft-hypercube", "mpicc", &["-std=c11", "-D_GNU_SOURCE", "-Wshadow"])
}

/// The rows of the table of a view, by heading.
fn table(run: &Path, view: &str, options: &[&str]) -> Vec<BTreeMap<String, String>> {
    let mut command = tumit();
    command.arg("view").arg(run).args(["--perspective", view, "-o", "-", "--format", "csv"]).args(options);
    let text = succeed(&mut command);
    let mut lines = text.lines();
    let headings = csv_fields(lines.next().expect("a heading"));
    lines.map(|line| headings.iter().cloned().zip(csv_fields(line)).collect()).collect()
}

/// The fields of a line. Headings with a comma are in quotes.
fn csv_fields(line: &str) -> Vec<String> {
    let parts = line.split('"').enumerate();
    let text: String =
        parts.map(|(index, part)| if index % 2 == 1 { part.replace(',', "\u{1}") } else { part.into() }).collect();
    text.split(',').map(|field| field.replace('\u{1}', ",")).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    let text = row.get(column).unwrap_or_else(|| panic!("no `{column}` in {row:?}"));
    text.parse().unwrap_or_else(|_| panic!("`{column}` is no number in {row:?}"))
}

#[test]
fn views_of_the_transform_have_the_numbers_of_the_algorithm() {
    let dir = tempfile::tempdir().unwrap();
    let fft = build(dir.path());
    // Ranks outnumber cores here, and other programs may delay them, seldom three times.
    let is_found = (0..3).any(|number| {
        let run = dir.path().join(format!("fft{number}.tmt"));
        let mut job = mpirun(u32::try_from(RANKS).unwrap());
        job.arg(&fft).args(["--points", &POINTS.to_string(), "--pace", "20000", "--slow", "5"]);
        let stdout = succeed(job.env("TUMIT_TRACE", &run).current_dir(dir.path()));
        let messages = TRANSFORMS * RANKS * DIMENSIONS;
        assert_eq!((count(&stdout, "ranks"), count(&stdout, "transforms")), (RANKS, TRANSFORMS));
        assert_eq!((count(&stdout, "links"), count(&stdout, "bytes")), (messages, messages * BLOCK));
        let rows = convert(&run, &[]);
        for (kind, name) in [("State", "states"), ("Link", "links")] {
            assert_eq!(rows.count(kind), count(&stdout, name), "{name}");
        }
        assert_eq!(rows.reversed_links(), 0);
        tasks_nest(&rows, count(&stdout, "task-states"));
        messages_are_on_the_hypercube(&run, messages);
        tasks_are_numbered(&run, count(&stdout, "tasks"));
        all_categories_occur(&run);
        if number == 0 {
            the_commands_of_the_report_print_its_numbers(dir.path(), "fft0.tmt");
        }
        the_slow_rank_is_found(&run)
    });
    assert!(is_found, "the report does not name the slow rank");
}

/// Each stage is within a transform of its rank. No other task contains a task.
fn tasks_nest(rows: &PjDumpRows, expected: u64) {
    let tasks = || rows.of("State").filter(|row| row[2] == "Task");
    assert_eq!(tasks().count() as u64, expected);
    let time = |text: &String| text.parse::<f64>().unwrap();
    let (outer, inner): (Vec<_>, Vec<_>) = tasks().partition(|row| row[6].parse::<f64>().unwrap() == 0.0);
    let transforms: Vec<_> = outer.iter().filter(|row| row[7].ends_with(" transform")).collect();
    assert_eq!(transforms.len() as u64, TRANSFORMS * RANKS);
    assert_eq!(inner.len() as u64, TRANSFORMS * RANKS * (DIMENSIONS + 2));
    for stage in inner {
        let is_within =
            |row: &[String]| row[1] == stage[1] && time(&row[3]) <= time(&stage[3]) && time(&stage[4]) <= time(&row[4]);
        assert_eq!(transforms.iter().filter(|row| is_within(row)).count(), 1, "{stage:?}");
    }
}

fn messages_are_on_the_hypercube(run: &Path, messages: u64) {
    let rank = |name: &String| name.strip_prefix("Rank ").unwrap().parse::<u32>().unwrap();
    let pairs = table(run, "communication-matrix", &["--mode", "range"]);
    assert_eq!(pairs.len() as u64, RANKS * DIMENSIONS);
    for pair in &pairs {
        assert_eq!((rank(&pair["from"]) ^ rank(&pair["to"])).count_ones(), 1, "{pair:?}");
        assert_eq!(number(pair, "messages"), TRANSFORMS as f64);
        assert_eq!(number(pair, "bytes"), (TRANSFORMS * BLOCK) as f64);
    }
    let mut command = tumit();
    command.arg("view").arg(run).args(["--perspective", "hypercube", "--mode", "range", "-o", "-", "--format", "json"]);
    let chart: Value = serde_json::from_str(&succeed(&mut command)).unwrap();
    let paint = |label: &str| {
        let mut items = chart["legend"].as_array().unwrap().iter();
        items.find(|item| item["label"].as_str().unwrap().starts_with(label)).unwrap()["paint"].clone()
    };
    let edges = chart["panels"][0]["panel"]["edges"].as_array().unwrap();
    assert_eq!(edges.len() as u64, RANKS * DIMENSIONS);
    assert_ne!(paint("physical"), paint("virtual"));
    assert!(edges.iter().all(|edge| edge["paint"] == paint("physical")), "{edges:?}");
    let summary = table(run, "statistical-summary", &[]);
    let all = &summary[0];
    for (column, expected) in [
        ("messages sent", messages),
        ("messages received", messages),
        ("bytes sent", messages * BLOCK),
        ("smallest length, bytes", BLOCK),
        ("largest length, bytes", BLOCK),
        ("hops", messages),
        ("mean hops", 1),
        ("maximum hops", 1),
    ] {
        assert_eq!(number(all, column), expected as f64, "{column}");
    }
}

/// Tasks have the numbers of the program, from 0, in the order of their begin.
fn tasks_are_numbered(run: &Path, expected: u64) {
    let tasks = table(run, "task-summary", &[]);
    let numbers: Vec<String> = (0..expected).map(|number| number.to_string()).collect();
    let task_names: Vec<&str> = tasks.iter().map(|task| task["task"].split(' ').next().unwrap()).collect();
    assert_eq!(task_names, numbers);
    // Each stage takes part in both rounds, and a task ends after it began.
    assert!(tasks.iter().all(|task| number(task, "first begin") < number(task, "last end")));
}

/// All categories occur, and the shares of each rank are a whole.
fn all_categories_occur(run: &Path) {
    let ranks = table(run, "utilization-summary", &[]);
    assert_eq!(ranks.len() as u64, RANKS);
    for rank in &ranks {
        let [busy, overhead, idle] = ["busy, %", "overhead, %", "idle, %"].map(|column| number(rank, column));
        assert!(
            busy > 0.0 && overhead > 0.0 && idle > 0.0 && (busy + overhead + idle - 100.0).abs() < 1e-6,
            "{rank:?}"
        );
    }
}

fn the_commands_of_the_report_print_its_numbers(folder: &Path, run: &str) {
    for options in [
        &["--phase", "*transform"][..],
        &["--interval", "1ms..", "--clock", "none"],
        &["--category", "busy=MPI_Wait", "--filter", "hide container Rank 5", "--option", "several=fractional"],
    ] {
        let report = succeed(tumit().args(["diagnose", run]).args(options).current_dir(folder));
        let [commands, numbers] = report_numbers::check(folder, &report);
        assert!(commands >= 6 && numbers >= 20, "{commands} {numbers}: {report}");
    }
}

/// Whether the report names the slow rank as the cause of the imbalance, and the critical path
/// follows it. The other contents of the report do not depend on delays.
fn the_slow_rank_is_found(run: &Path) -> bool {
    let text = succeed(tumit().args(["diagnose", "--json", "--phase", "*transform"]).arg(run));
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["level"], report["units"].as_u64()), (&"process".into(), Some(RANKS)));
    assert_eq!(report["unmatched_collectives"].as_array().map(Vec::len), Some(0));
    let waits = &report["waits"][0];
    assert_eq!((&waits["kind"], &waits["state"]), (&"late sender".into(), &"MPI_Wait".into()), "{waits}");
    assert!(waits["waiting_line"].as_str().unwrap().contains("fft.c:"), "{waits}");
    // An occurrence of a transform on all ranks is one phase, although its stages are tasks, too.
    let phases = report["phases"].as_array().unwrap().iter();
    let mut phases: Vec<&str> = phases.map(|phase| phase["name"].as_str().unwrap()).collect();
    phases.sort_unstable();
    let expected = ["1 Forward transform 1", "1 Forward transform 2", "8 Inverse transform 1", "8 Inverse transform 2"];
    assert_eq!(phases, expected);
    let imbalance = report["imbalances"].as_array().unwrap().last().unwrap();
    let path = [&report["path_units"][0], &report["path_values"][0]];
    imbalance["busiest"] == SLOW
        && imbalance["excess"].as_f64().unwrap() > 0.5
        && path[0]["name"] == SLOW
        && path[1]["name"] == "Butterflies"
}

#[test]
fn mistakes_of_the_command_line_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let fft = build(dir.path());
    for (ranks, options, expected) in [
        (3, &[][..], "the number of ranks is 3, and must be a power of two"),
        (4, &["--points", "1000"], "--points is 1000, and must be a power of two of at least 8"),
        (2, &["--points", "2"], "must be a power of two of at least 4"),
        (2, &["--slow", "2"], "--slow is 2, and must be one of the ranks 0 to 1"),
        (1, &["--pace", "fast"], "--pace needs a number from 0 to 1073741824"),
        (1, &["--rounds"], "--rounds needs a number from 1 to"),
        (1, &["--ranks", "3"], "unknown option `--ranks`"),
    ] {
        let mut job = mpirun(ranks);
        let out = output(job.arg(&fft).args(options).env("TUMIT_TRACE", dir.path().join("x.tmt")));
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(!out.status.success() && error.contains(expected), "{ranks} {options:?}: {error}");
    }
}
