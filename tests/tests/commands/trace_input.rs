//! Dialects of Pajé text, and the supported sources of a trace.

mod split;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tests::lang::c::{C99, build, record};
use tests::programs::{tumit, workspace};

fn corpus(name: &str) -> String {
    fs::read_to_string(workspace().join("tests/paje").join(name)).unwrap()
}

/// Runs the command in a folder with these bytes on standard input.
fn run(folder: &Path, args: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut command = tumit();
    command.args(args).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut pipe, input) = (child.stdin.take().unwrap(), input.to_vec());
    // A command that rejects its input closes the pipe.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn rows(folder: &Path, file: &str) -> Vec<String> {
    let (_, out, errors) = run(folder, &["convert", file, "-o", "-", "--format", "csv"], b"");
    assert_eq!(errors, "", "{file}");
    let mut rows: Vec<String> = out.lines().map(str::to_owned).collect();
    rows.sort();
    rows
}

#[test]
fn single_quotes_and_other_names_of_parents_are_read() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("q.paje"), corpus("single-quotes.paje")).unwrap();
    fs::write(dir.path().join("e.paje"), corpus("event-type-parent.paje")).unwrap();
    let quotes = rows(dir.path(), "q.paje").join("\n");
    assert!(
        quotes.contains("State,Thread 0,Thread State,1.000000000,2.000000000,1.000000000,0,Running it,"),
        "{quotes}"
    );
    assert!(quotes.contains("Container,0,Worker thread,0.000000000,2.000000000,2.000000000,,Thread 0,"), "{quotes}");
    let events = rows(dir.path(), "e.paje").join("\n");
    assert!(events.contains("Event,Tremblay,marks,0.750000000,0.750000000,0.000000000,,checkpoint,"), "{events}");
    for file in ["q.paje", "e.paje"] {
        let (code, out, _) = run(dir.path(), &["check", file], b"");
        assert!(code == Some(0) && out.contains("can be read completely"), "{out}");
    }
}

#[test]
fn traces_come_from_pipes_and_compressed_files() {
    let dir = tempfile::tempdir().unwrap();
    let text = corpus("two-nodes.paje");
    fs::write(dir.path().join("x.paje"), &text).unwrap();
    let expected = rows(dir.path(), "x.paje");
    let from_input = |bytes: &[u8]| {
        let (code, out, errors) = run(dir.path(), &["convert", "-", "-o", "-", "--format", "csv"], bytes);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        let mut rows: Vec<String> = out.lines().map(str::to_owned).collect();
        rows.sort();
        rows
    };
    assert!(from_input(text.as_bytes()) == expected);
    for program in ["gzip", "zstd", "bzip2", "xz"] {
        let Ok(out) = Command::new(program).args(["-c", "x.paje"]).current_dir(dir.path()).output() else { continue };
        fs::write(dir.path().join("x.packed"), &out.stdout).unwrap();
        assert!(rows(dir.path(), "x.packed") == expected, "{program}");
        assert!(from_input(&out.stdout) == expected, "{program}");
        let (code, out, errors) = run(dir.path(), &["check", "--input-limit", "1K", "x.packed"], b"");
        assert!(code == Some(2) && errors.contains("--input-limit SIZE"), "{program}: {out}{errors}");
    }
    // Of truncated data, the part before the cut is read: here the definitions and some of 100,000
    // events.
    let states: String = (0..100_000).map(|number| format!("27 {number} 7 h x{}\n", number * 7919 % 1000)).collect();
    let long = corpus("event-type-parent.paje") + &states;
    fs::write(dir.path().join("long.paje"), long).unwrap();
    let packed = Command::new("gzip").args(["-c", "long.paje"]).current_dir(dir.path()).output().unwrap().stdout;
    let (code, out, errors) =
        run(dir.path(), &["convert", "-", "-o", "-", "--format", "csv"], &packed[..packed.len() / 2]);
    let events = out.lines().filter(|line| line.starts_with("Event,")).count();
    assert!(code == Some(1) && errors.contains("damaged or cut short"), "{errors}");
    assert!((1_000..90_000).contains(&events), "{events}");
    // An output of a private file is private. The mode of its copy does not matter.
    let private = dir.path().join("private.gz");
    fs::write(&private, &packed).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    let (code, _, errors) = run(dir.path(), &["convert", "private.gz", "-o", "private.csv"], b"");
    let mode = fs::metadata(dir.path().join("private.csv")).unwrap().permissions().mode();
    assert!(code != Some(2) && mode & 0o077 == 0, "{mode:o} {errors}");
    let (code, _, errors) = run(dir.path(), &["stats", "-"], &packed[..20]);
    assert!(code == Some(2) && errors.contains("damaged or cut short"), "{errors}");
}

#[test]
fn a_pipe_or_compressed_file_is_indexed_at_a_given_place() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.paje"), corpus("two-nodes.paje")).unwrap();
    let packed = Command::new("gzip").args(["-c", "x.paje"]).current_dir(dir.path()).output().unwrap().stdout;
    fs::write(dir.path().join("x.gz"), &packed).unwrap();
    // The index is found again by the content: a file, standard input, the page's export.
    for (args, input, verb) in [
        (&["index", "x.gz", "-o", "x.tmtx"][..], &b""[..], "made"),
        (&["index", "x.gz", "-o", "x.tmtx"], b"", "is there already"),
        (&["index", "-", "-o", "x.tmtx"], &packed, "is there already"),
    ] {
        let (code, out, errors) = run(dir.path(), args, input);
        assert!(code == Some(0) && errors.contains(&format!("x.tmtx: {verb}")), "{args:?}: {out}{errors}");
    }
    let modified = fs::metadata(dir.path().join("x.tmtx")).unwrap().modified().unwrap();
    let (code, _, errors) = run(dir.path(), &["view", "x.gz", "--index", "x.tmtx", "-o", "x.svg"], b"");
    assert!(code == Some(0), "{errors}");
    assert_eq!(fs::metadata(dir.path().join("x.tmtx")).unwrap().modified().unwrap(), modified, "it is used");
    // Another trace has another index.
    let second_trace = corpus("event-type-parent.paje");
    let (code, _, errors) = run(dir.path(), &["index", "-", "-o", "x.tmtx"], second_trace.as_bytes());
    assert!(code == Some(0) && errors.contains("x.tmtx: made"), "{errors}");
    let (code, _, errors) = run(dir.path(), &["index", "x.gz"], b"");
    assert!(code == Some(2) && errors.contains("name the index with `-o PATH`"), "{errors}");
}

#[test]
fn input_that_is_no_trace_is_reported_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("archive")).unwrap();
    fs::write(dir.path().join("archive/traces.otf2"), b"\x03\x23\0\0").unwrap();
    fs::write(dir.path().join("c.json"), "{\"traceEvents\": []}").unwrap();
    let sparse = fs::File::create(dir.path().join("sparse")).unwrap();
    sparse.set_len(1 << 30).unwrap();
    for (file, words) in [
        ("archive", "This is an OTF2 archive."),
        ("archive/traces.otf2", "This is an OTF2 archive."),
        ("c.json", "This is a Chrome trace (JSON)."),
        ("/dev/zero", "only NUL bytes"),
        ("sparse", "binary data"),
    ] {
        let (code, _, errors) = run(dir.path(), &["stats", file], b"");
        assert!(code == Some(2) && errors.contains(words), "{file}: {errors}");
    }
    // Random bytes can look like another format.
    for (file, words) in
        [("/dev/zero", "NUL"), ("sparse", "NUL"), ("/dev/urandom", "`/dev/urandom`"), ("c.json", "Chrome")]
    {
        let (code, out, errors) = run(dir.path(), &["check", file], b"");
        assert!(code == Some(2) && errors.contains(words), "{file}: {out}{errors}");
    }
    let (code, _, errors) = run(dir.path(), &["stats", "-"], &b"y\n".repeat(1 << 20));
    assert!(code == Some(2) && errors.contains("starts with `y`"), "{errors}");
}

/// A header in the order of `tests/src/paje_text`.
fn header() -> String {
    corpus("single-quotes.paje").lines().filter(|line| line.starts_with('%')).map(|line| format!("{line}\n")).collect()
}

#[test]
fn converted_paje_text_is_in_time_order() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "{}%EventDef PajePushState 11\n% Time date\n% Type string\n% Container string\n% Value string\n%EndEventDef\n\
         %EventDef PajePopState 12\n% Time date\n% Type string\n% Container string\n%EndEventDef\n\
         1 T 0 Thread\n3 S T State\n6 r S Run \"1 0 0\"\n6 w S Wait \"0 1 0\"\n7 0 b T 0 B\n7 0 a T 0 A\n\
         11 4 S b r\n11 5 S b w\n12 7 S b\n12 9 S b\n11 1 S a w\n11 1 S a r\n12 1 S a\n12 3 S a\n10 3 S a r\n",
        header()
    );
    fs::write(dir.path().join("x.paje"), text).unwrap();
    let (code, _, errors) = run(dir.path(), &["convert", "x.paje", "-o", "y.paje"], b"");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(rows(dir.path(), "x.paje"), rows(dir.path(), "y.paje"));
    let (code, out, errors) = run(dir.path(), &["check", "--strict", "y.paje"], b"");
    assert_eq!(code, Some(0), "{out}{errors}");
    let pj_dump = Command::new("pj_dump").arg("y.paje").current_dir(dir.path()).output();
    assert!(pj_dump.is_ok_and(|out| out.status.success()));
    let filtered = ["convert", "x.paje", "-o", "f.paje", "--unit", "ms", "--filter", "hide value Wait of State"];
    assert_eq!(run(dir.path(), &filtered, b"").0, Some(0));
    let rows = rows(dir.path(), "f.paje").join("\n");
    assert!(rows.contains("State,B,State,0.004000000,0.009000000") && !rows.contains("Wait"), "{rows}");
}

#[test]
fn states_after_the_destruction_in_the_file_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    let text = format!(
        "{}%EventDef PajeDestroyContainer 8\n% Time date\n% Type string\n% Name string\n%EndEventDef\n\
         1 T 0 Thread\n3 S T State\n6 r S Run \"1 0 0\"\n7 0 c T 0 C\n8 5 T c\n10 1 S c r\n",
        header()
    );
    fs::write(dir.path().join("x.paje"), text).unwrap();
    let (code, out, errors) = run(dir.path(), &["convert", "x.paje", "-o", "-", "--format", "csv"], b"");
    assert!(out.contains("State,C,State,1.000000000,5.000000000,"), "{out}");
    assert!(code == Some(0) && errors.contains("an earlier line destroys"), "{errors}");
}

#[test]
fn texts_that_paje_cannot_have_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        format!("{}1 T 0 Thread\n3 S T State\n6 r S 'a \"b\"' \"1 0 0\"\n7 0 c T 0 \"dir\\\"\n10 1 S c r\n", header());
    fs::write(dir.path().join("x.paje"), text).unwrap();
    let (code, _, errors) = run(dir.path(), &["convert", "x.paje", "-o", "y.paje"], b"");
    assert!(code == Some(0) && errors.starts_with("tumit: 1 text was changed"), "{errors}");
    let (code, out, errors) = run(dir.path(), &["check", "--strict", "y.paje"], b"");
    assert_eq!(code, Some(0), "{out}{errors}");
    let (code, _, errors) = run(dir.path(), &["convert", "y.paje", "-o", "z.paje"], b"");
    assert_eq!((code, errors.as_str()), (Some(0), ""));
}

#[test]
fn a_starpu_schedule_is_drawn_completely() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.paje"), corpus("starpu-schedule.trace")).unwrap();
    let (code, out, errors) = run(dir.path(), &["convert", "x.paje", "-o", "-", "--format", "csv"], b"");
    assert_eq!(code, Some(0), "{errors}");
    let state = |worker, from, to, value| format!("State,{worker},Worker State,{from},{to},{value}");
    for state in [
        state(1, "0.000500000", "0.002000000", "0.001500000,0,Running_0"),
        state(1, "0.002000000", "0.003000000", "0.001000000,0,Idle"),
        state(1, "0.003000000", "0.006000000", "0.003000000,0,Running_2"),
        state(1, "0.006000000", "0.006000000", "0.000000000,0,Idle"),
        state(0, "0.001000000", "0.004000000", "0.003000000,0,Running_1"),
        state(0, "0.004000000", "0.006000000", "0.002000000,0,Idle"),
    ] {
        assert_eq!(out.lines().filter(|row| row.starts_with(&state)).count(), 1, "{state}: {out}");
    }
    assert_eq!(out.lines().filter(|row| row.starts_with("State,")).count(), 6, "{out}");
    let warned = "6 times, first in line 45: line in a container that an earlier line destroys; the line is used";
    assert!(errors.contains(warned) && errors.lines().count() == 1, "{errors}");
    let (code, out, errors) = run(dir.path(), &["check", "x.paje"], b"");
    assert!(code == Some(0) && out.contains("an earlier line destroys"), "{out}{errors}");
}

const HYBRID: &str = "\
trace hyb;
use \"std:paje\";
level APP {
    event start { node: u32 }
    event phase { node: u32, p: string }
}
paje {
    container node[node: u32] \"Node {node}\" {
        state act \"Activity\"
    }
}
rule start -> create node[node];
rule phase -> set act = \"{p}\" on node[node];
";

#[test]
fn typed_rules_and_generic_instructions_contribute_to_one_trace() {
    let dir = tempfile::tempdir().unwrap();
    let source = "\
#include \"hyb_trace.h\"
int main(void) {
  hyb_start(0); hyb_phase(0, \"init\");
  hyb_define_container_type(\"G\", \"node\", \"Gen\");
  hyb_create_container(\"g1\", \"G\", \"node 0\", \"generic 1\");
  hyb_define_state_type(\"S\", \"G\", \"S\"); hyb_set_state(\"S\", \"g1\", \"v\", \"\");
  hyb_create_container(\"g2\", \"G\", \"node 9\", \"generic 2\");
  hyb_phase(0, \"comp\");
  return 0;
}
";
    let program = build(dir.path(), C99, HYBRID, source, &[]).unwrap();
    let run_path = record(&program, dir.path(), "run.tmt", &[]);
    let file = run_path.to_str().unwrap();
    let (_, out, errors) = run(dir.path(), &["convert", file, "-o", "-", "--format", "csv"], b"");
    for row in ["State,Node 0,Activity,", "State,generic 1,S,", "Container,Node 0,Gen,", "Container,0,node,"] {
        assert!(out.contains(row), "{row}: {out}{errors}");
    }
    assert!(!out.contains("set_state"), "{out}");
    assert!(errors.contains("node 9") && errors.contains("text output `paje`"), "{errors}");
    let (_, paje, _) = run(dir.path(), &["convert", file, "-o", "-"], b"");
    fs::write(dir.path().join("y.paje"), paje).unwrap();
    let (code, out, errors) = run(dir.path(), &["check", "--strict", "y.paje"], b"");
    assert_eq!(code, Some(0), "{out}{errors}");
}
