//! What C programs do that a recorder may not expect: they close files that are not theirs, end threads without a word, jump out of signal
//! handlers, start a thousand threads, make children behind the back of the C library. Nothing of theirs is touched, nothing is lost silently.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use tests::lang::c::{Compiler, GNU99, build, folder};
use tests::programs::{output, succeed, tumit};
use tests::run::{ProcessFile, read};

const SPEC: &str =
    "trace t;\nlevel L {\n    event tick { n: u64 }\n    event bytes { v: [u8] }\n    event name { s: interned }\n}\n";
const CLANG: Compiler = Compiler { command: "clang", flags: &["-std=gnu11"] };
const PROGRAM: &str = include_str!("../exits/edges.c");

/// The program, to be run in its folder.
fn program(folder: &Path, compiler: Compiler, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let program = build(folder, compiler, SPEC, PROGRAM, &["-D_GNU_SOURCE", "-O2"]);
    let mut command = Command::new(program.unwrap_or_else(|error| panic!("{error}")));
    command.args(arguments).current_dir(folder).env("TUMIT_TRACE", folder.join("run.tmt"));
    for name in ["TUMIT_LEVELS", "TUMIT_POLICY", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_START"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    command
}

/// Runs it, and reads what it recorded.
fn run(compiler: Compiler, arguments: &[&str], environment: &[(&str, &str)]) -> Vec<ProcessFile> {
    let folder = folder();
    let output = output(&mut program(folder.path(), compiler, arguments, environment));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler:?} {arguments:?} {environment:?}: {}: {errors}", output.status);
    read(&folder.path().join("run.tmt"))
}

/// Records written and lost, of a run of one process.
fn totals(compiler: Compiler, arguments: &[&str], environment: &[(&str, &str)]) -> (u64, u64) {
    let files = run(compiler, arguments, environment);
    assert_eq!(files.len(), 1, "{arguments:?}");
    files[0].totals()
}

#[test]
fn files_of_the_program_are_never_taken_for_ours() {
    for buffers in ["mapped", "private"] {
        let environment = [("TUMIT_BUFFERS", buffers), ("TUMIT_POLICY", "all=block")];
        assert_eq!(totals(GNU99, &["descriptors"], &environment), (1_000_020, 0), "{buffers}");
        assert_eq!(totals(GNU99, &["low"], &environment), (20, 0), "{buffers}");
    }
}

#[test]
fn threads_end_without_a_word() {
    for compiler in [GNU99, CLANG] {
        // One record, and one in each of the four rounds of destructors.
        assert_eq!(totals(compiler, &["keys"], &[]), (1 + 20 * 5, 0), "{compiler:?}");
        let (_, lost) = totals(compiler, &["cancelled"], &[("TUMIT_POLICY", "all=block")]);
        assert_eq!(lost, 0, "{compiler:?}");
    }
}

#[test]
fn a_handler_jumps_out_of_a_record() {
    for compiler in [GNU99, CLANG] {
        assert_eq!(totals(compiler, &["jumps"], &[]), (10 + 100 + 10_000, 0), "{compiler:?}");
    }
}

#[test]
fn a_thousand_threads_have_room() {
    // Memory for 256 slots; nothing depends on how soon the helper writes.
    assert_eq!(totals(GNU99, &["together", "1000"], &[]), (2000, 0));
    assert_eq!(totals(GNU99, &["alone", "2000"], &[]), (2000, 0));
    assert_eq!(totals(GNU99, &["together", "1000"], &[("TUMIT_BUFFERS", "private")]), (2000, 0));
}

#[test]
fn a_bare_child_leaves_the_trace_alone() {
    assert_eq!(totals(GNU99, &["child"], &[("TUMIT_POLICY", "all=block")]), (100_010, 0));
}

#[test]
fn errno_and_processors_are_the_programs_own() {
    let _ = run(GNU99, &["errors"], &[("TUMIT_MEMORY", "256K")]);
    assert_eq!(totals(GNU99, &["pinned"], &[]), (10, 0));
}

#[test]
fn what_was_off_from_the_start_is_switched_on_from_outside() {
    let folder = folder();
    let environment = [("TUMIT_LEVELS", "all=off"), ("TUMIT_START", "1")];
    let mut command = program(folder.path(), GNU99, &["standby"], &environment);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let _ = succeed(tumit().args(["level", &child.id().to_string(), "L", "on", "--timeout", "60"]));
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(read(&folder.path().join("run.tmt"))[0].totals(), (7, 0), "the first ten were off");
}
