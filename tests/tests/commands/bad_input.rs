//! Wrong input gives one clear message and a non-zero exit status, and leaves no incomplete file
//! under the final name.

use std::fs;
use std::path::Path;
use std::process::Output;

use tests::programs::{molecular_dynamics, output, succeed, tumit};
use tracer_format::block::decode_block;
use tracer_format::{BlockKind, PREAMBLE_BYTES};

/// Runs `tumit` in an empty folder and checks that it fails with `status` and prints all of
/// `words`.
fn fails(folder: &Path, args: &[&str], status: i32, words: &[&str]) -> Output {
    let out = output(tumit().args(args).current_dir(folder));
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.code(), Some(status), "tumit {args:?} said: {stderr}");
    for word in words {
        assert!(stderr.contains(word), "tumit {args:?} did not say `{word}`:\n{stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
    out
}

fn names(folder: &Path) -> Vec<String> {
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name().to_string_lossy().into_owned();
    let mut names: Vec<_> = fs::read_dir(folder).expect("the folder is there").map(name).collect();
    names.sort();
    names
}

#[test]
fn a_missing_file_gives_one_message_and_no_output() {
    let dir = tempfile::tempdir().unwrap();
    for args in [
        &["check", "none.tumit"][..],
        &["gen", "c", "none.tumit", "-o", "x.h"],
        &["info", "none.tmt"],
        &["dump", "none.tmt"],
        &["convert", "none.tmt", "-o", "x.paje"],
        &["view", "none.paje", "-o", "x.svg"],
    ] {
        let out = fails(dir.path(), args, 2, &[args[1].split('.').next().unwrap_or("none")]);
        assert!(out.stdout.is_empty());
    }
    assert!(names(dir.path()).is_empty(), "left behind: {:?}", names(dir.path()));
}

#[test]
fn mistakes_in_a_spec_are_reported_with_their_lines() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("a.tumit"),
        "trace a;\nlevel COM {\n    event post { node: u17 }\n    event post { x: u8 }\n}\n",
    )
    .unwrap();
    let out = fails(dir.path(), &["check", "a.tumit"], 1, &["a.tumit:3", "a.tumit:4", "u17", "post"]);
    assert!(String::from_utf8_lossy(&out.stderr).matches("error").count() >= 2, "both mistakes in one run");
    fails(dir.path(), &["gen", "c", "a.tumit", "-o", "a.h"], 1, &["u17"]);
    assert_eq!(names(dir.path()), ["a.tumit"]);
}

#[test]
fn a_truncated_run_gives_its_intact_part_and_reports_the_loss() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "4"]).env("TUMIT_TRACE", &run).current_dir(dir.path()));
    let file = fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() * 2 / 3]).unwrap();
    let out = fails(dir.path(), &["convert", "run.tmt", "-o", "run.paje"], 1, &[".tmt"]);
    assert!(out.stdout.is_empty());
    tumit_test_support::pj_dump::accept(&dir.path().join("run.paje"));
    let rows = tumit_test_support::pj_dump::PjDumpRows::read(&dir.path().join("run.paje"));
    assert!(rows.count("State") > 100, "what was good is there");
}

/// Removed whole blocks leave no damaged bytes; the sequence numbers and the end of the file reveal
/// them.
#[test]
fn every_command_reports_removed_blocks() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "4"]).env("TUMIT_TRACE", &run).current_dir(dir.path()));
    let file = fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&file).unwrap();
    assert!(
        succeed(tumit().args(["info", "run.tmt"]).current_dir(dir.path()))
            .contains("Nothing is dropped, missing or damaged")
    );
    let (mut position, mut blocks) = (PREAMBLE_BYTES, Vec::new());
    while position < bytes.len() {
        let header = decode_block(&bytes[position..]).unwrap().header;
        blocks.push((position..position + header.block_bytes(), header));
        position += header.block_bytes();
    }
    for (kind, words) in [
        (BlockKind::Process, &["block with names", "the file does not describe its process and the clock"][..]),
        (
            BlockKind::Schema,
            &["block with names", "the file does not describe the spec of its records", "cannot be decoded"],
        ),
        (BlockKind::Stream, &["block with names", "the file does not describe the thread of stream"]),
        (BlockKind::Strings, &["block with names"]),
        (BlockKind::Records, &["records that the process wrote are missing"]),
    ] {
        // The first block of a stream describes it. Later blocks add the end of its thread.
        let mut of_kind = blocks.iter().filter(|(_, header)| header.kind == kind as u8 && header.records > 0);
        let block = if kind == BlockKind::Stream { of_kind.next() } else { of_kind.next_back() };
        let (cut, header) = block.unwrap_or_else(|| panic!("no block of kind {kind:?}"));
        fs::write(&file, [&bytes[..cut.start], &bytes[cut.end..]].concat()).unwrap();
        let info = output(tumit().args(["info", "run.tmt"]).current_dir(dir.path()));
        let stdout = String::from_utf8_lossy(&info.stdout).into_owned();
        assert_eq!(info.status.code(), Some(1), "{kind:?}: {stdout}");
        for word in words {
            assert!(stdout.contains(word), "{kind:?}: {stdout}");
        }
        assert!(!stdout.contains("Nothing is dropped"), "{stdout}");
        if kind == BlockKind::Records {
            assert!(stdout.contains(&format!("{} of the ", header.records)), "{stdout}");
        }
        fails(dir.path(), &["dump", "run.tmt"], 1, words);
        fails(dir.path(), &["convert", "run.tmt", "-o", "run.paje"], 1, &words[..1]);
        let repaired = fails(dir.path(), &["repair", "run.tmt"], 1, &[words[0], "this cannot be repaired"]);
        assert!(String::from_utf8_lossy(&repaired.stdout).contains("nothing that can be repaired"));
        fails(dir.path(), &["repair", "run.tmt", "-o", "copy.tmt"], 1, &words[..1]);
        let copy = output(tumit().args(["info", "copy.tmt"]).current_dir(dir.path()));
        assert_eq!(copy.status.code(), Some(1));
        fs::remove_dir_all(dir.path().join("copy.tmt")).unwrap();
    }
}

const DEFINITIONS: &str = "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
    %EventDef PajeDefineStateType 2\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
    %EventDef PajeCreateContainer 6\n% Time date\n% Alias string\n% Container string\n% Type string\n% Name string\n%EndEventDef\n\
    %EventDef PajeSetState 11\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef\n";

#[test]
fn the_good_lines_of_a_paje_file_with_a_bad_line_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "{DEFINITIONS}\
        0 t1 0 \"Node\"\n2 t2 t1 \"Activity\"\n6 0.0 c1 0 t1 \"node 1\"\n11 0.5 c1 t2 working\n99 no such event\n11 1.5 c1 t2 idle\n11 2.5 c1 t2 working\n"
    );
    fs::write(dir.path().join("bad.paje"), text).unwrap();
    let out = fails(dir.path(), &["view", "bad.paje", "-o", "bad.svg"], 1, &["line 28", "99"]);
    assert!(out.stdout.is_empty());
    let svg = fs::read_to_string(dir.path().join("bad.svg")).unwrap();
    assert!(svg.contains("node 1") && svg.contains("working"), "the good part is drawn");
}

#[test]
fn timestamps_that_are_not_in_seconds_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "0 t1 0 Node\n2 t2 t1 Activity\n6 0.0 c1 0 t1 n\n11 5 c1 t2 a\n11 20000.5 c1 t2 b\n11 30000 c1 t2 a\n";
    fs::write(dir.path().join("ms.paje"), format!("{DEFINITIONS}{lines}")).unwrap();
    for command in [
        &["stats", "ms.paje"][..],
        &["view", "ms.paje", "-o", "ms.svg"],
        &["convert", "ms.paje", "-o", "/dev/null", "--format", "csv"],
    ] {
        let seconds = output(tumit().args(command).current_dir(dir.path()));
        let stderr = String::from_utf8_lossy(&seconds.stderr);
        assert!(
            seconds.status.success() && stderr.contains("line 28: ") && stderr.contains("--unit ms"),
            "{command:?} {stderr}"
        );
        for unit in ["ms", "s"] {
            let with_unit = output(tumit().args(command).args(["--unit", unit]).current_dir(dir.path()));
            let stderr = String::from_utf8_lossy(&with_unit.stderr);
            assert!(with_unit.status.success() && !stderr.contains("unit"), "{command:?} --unit {unit}: {stderr}");
        }
    }
    // Hours in whole seconds are plausible.
    fs::write(dir.path().join("h.paje"), format!("{DEFINITIONS}{}", lines.replace("20000.5", "20000"))).unwrap();
    let hours = output(tumit().args(["stats", "h.paje"]).current_dir(dir.path()));
    assert!(hours.status.success() && hours.stderr.is_empty(), "{}", String::from_utf8_lossy(&hours.stderr));
    // Timestamps with more decimals than nanoseconds in milliseconds have are seconds.
    let precise = lines.replace("n\n11 5 ", "n\n11 5.1234567 ");
    fs::write(dir.path().join("s.paje"), format!("{DEFINITIONS}{precise}")).unwrap();
    let precise = output(tumit().args(["stats", "s.paje"]).current_dir(dir.path()));
    assert!(precise.status.success() && precise.stderr.is_empty(), "{}", String::from_utf8_lossy(&precise.stderr));
}

#[test]
fn messages_about_files_that_are_no_traces_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("image.paje"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    fails(dir.path(), &["view", "image.paje", "-o", "x.svg"], 2, &["image.paje"]);
    fs::create_dir(dir.path().join("empty.tmt")).unwrap();
    fails(dir.path(), &["convert", "empty.tmt", "-o", "x.paje"], 2, &["empty.tmt"]);
    assert_eq!(names(dir.path()), ["empty.tmt", "image.paje"]);
}

#[test]
fn a_port_in_use_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    fs::write(dir.path().join("a.paje"), "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n0 t1 0 \"Node\"\n").unwrap();
    fails(dir.path(), &["view", "a.paje", "--no-open", "--port", &port], 2, &[&port]);
}
