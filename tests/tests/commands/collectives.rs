//! Collective operations: the table of `tumit stats`, and images that show each operation as one.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::programs::{output, succeed, tumit};

const HEADER: &str = include_str!("../../../viewer/tests/header.paje");

/// The definition of a state with the fields of a part.
const PART: &str = "%EventDef PajePushState 40
% Time date
% Container string
% Type string
% Value string
% operation int
% collective string
% communicator string
% bytes int
%EndEventDef
";

/// Three ranks, which exchange data in steps of 10 s. In each step, rank 2 enters 2 s after rank 0.
fn trace(folder: &Path, steps: u32) {
    let mut text = [HEADER, PART, "0 R 0 Rank\n2 S R Calls\n5 x S MPI_Alltoall \"1 0 0\"\n"].concat();
    for rank in 0..3 {
        text.push_str(&format!("6 0 r{rank} 0 R \"rank {rank}\"\n"));
    }
    for step in 0..steps {
        for rank in 0..3 {
            let enter = 10 * step + 2 + rank;
            text.push_str(&format!("40 {enter} r{rank} S x {step} all-to-all world 64\n"));
        }
        for rank in 0..3 {
            text.push_str(&format!("13 {} r{rank} S\n", 10 * step + 8));
        }
    }
    for rank in 0..3 {
        text.push_str(&format!("7 {} R r{rank}\n", 10 * steps));
    }
    fs::write(folder.join("a.paje"), text).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    succeed(tumit().args(arguments).current_dir(folder))
}

#[test]
fn statistics_have_a_table_of_operations() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), 4);
    let text = run(dir.path(), &["stats", "a.paje"]);
    let table_start = text.find("Collective").expect("a table");
    let table: Vec<Vec<&str>> = text[table_start..]
        .lines()
        .take(2)
        .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
        .collect();
    let heads = [
        "Collective",
        "Value",
        "Kind",
        "Communicator",
        "Operations",
        "Parts",
        "Size",
        "Wait",
        "Mean wait",
        "Longest wait",
        "at",
        "in",
    ];
    assert_eq!(table[0], heads, "{text}");
    let cells = [
        "Calls",
        "MPI_Alltoall",
        "all-to-all",
        "world",
        "4",
        "12",
        "768",
        "12.00 s",
        "1.000 s",
        "2.000 s",
        "2.000000 s",
        "rank 0",
    ];
    assert_eq!(table[1], cells, "{text}");
    let json = run(dir.path(), &["stats", "a.paje", "--json", "--interval", "12..20"]);
    let rows: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = rows.iter().find(|row| row["kind"] == "collective").unwrap();
    assert_eq!((&row["count"], &row["parts"], &row["wait"]), (&1.into(), &3.into(), &3.0.into()));
    let csv = run(dir.path(), &["stats", "a.paje", "--csv", "--by", "container", "--filter", "hide container rank 2"]);
    assert_eq!(csv.lines().filter(|line| line.starts_with("collective,")).count(), 2, "{csv}");
    assert!(csv.contains(",all-to-all,world,4,4.0,1.0,1.0\n"), "{csv}");
}

#[test]
fn traces_without_operations_have_no_table_of_operations() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), 4);
    let text = fs::read_to_string(dir.path().join("a.paje")).unwrap();
    let state_lines: Vec<String> = (text.lines())
        .filter(|line| *line != "% collective string")
        .map(|line| line.replace(" all-to-all world", " world"))
        .collect();
    fs::write(dir.path().join("a.paje"), state_lines.join("\n") + "\n").unwrap();
    for options in [&[][..], &["--csv"], &["--json"]] {
        let text = run(dir.path(), &[&["stats", "a.paje"], options].concat());
        assert!(text.contains("MPI_Alltoall"), "{text}");
        assert!(!text.contains("all-to-all") && !text.to_lowercase().contains("collective"), "{text}");
    }
}

#[test]
fn images_show_each_operation_as_one() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), 4);
    let draw =
        |options: &[&str]| run(dir.path(), &[&["view", "a.paje", "-o", "-", "--format", "svg"], options].concat());
    let (plain_image, joined) = (draw(&[]), draw(&["--collectives"]));
    let sentence = "MPI_Alltoall: all-to-all of 3 parts, rank 2 enters last, 2.000 s after the first";
    assert!(!plain_image.contains("enters last"), "{plain_image}");
    // The title of each part and of the disc of each operation.
    assert_eq!(joined.matches(sentence).count(), 4 * (3 + 1), "{joined}");
}

#[test]
fn a_note_gives_the_reason_why_no_operation_is_joined() {
    let dir = tempfile::tempdir().unwrap();
    let draw = |options: &[&str]| {
        let arguments = [&["view", "a.paje", "-o", "a.svg", "--collectives"], options].concat();
        let output = output(tumit().args(arguments).current_dir(dir.path()));
        let is_joined = fs::read_to_string(dir.path().join("a.svg")).unwrap().contains("enters last");
        (String::from_utf8(output.stderr).unwrap(), is_joined)
    };
    trace(dir.path(), 400);
    let (message, is_joined) = draw(&[]);
    let note = "400 collective operations are too many to be joined by lines; choose a shorter interval";
    assert!(message.contains(note) && !is_joined, "{message}");
    let (message, is_joined) = draw(&["--width", "600"]);
    let note =
        "no part of a collective operation is wide enough to be drawn alone; choose another or a shorter interval";
    assert!(message.contains(note) && !is_joined, "{message}");
    let (message, is_joined) = draw(&["--interval", "100..150"]);
    assert!(!message.contains("operation") && is_joined, "{message}");
    let text = fs::read_to_string(dir.path().join("a.paje")).unwrap();
    fs::write(dir.path().join("a.paje"), text.replace("% collective", "% other")).unwrap();
    let (message, is_joined) = draw(&[]);
    assert!(message.contains("no state has the fields of a collective operation") && !is_joined, "{message}");
    let error = output(tumit().args(["view", "a.paje", "--collectives"]).current_dir(dir.path()));
    assert!(String::from_utf8(error.stderr).unwrap().contains("--output"), "the option needs an image");
}
