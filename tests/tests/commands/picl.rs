//! PICL and Alog traces as inputs of all commands, and PICL as the output of `tumit convert`.

mod sends_and_numbers;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tests::programs::{molecular_dynamics, output, succeed, tumit, workspace};

fn case(name: &str) -> PathBuf {
    workspace().join("converter/picl/tests/cases").join(name)
}

/// Exit status, standard output and standard error of the command.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let out = output(tumit().args(args).current_dir(folder));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (out.status.code(), text(&out.stdout), text(&out.stderr))
}

/// The rows of states, links and some events, sorted.
fn rows(folder: &Path, file: &str) -> Vec<String> {
    let (_, out, _) = run(folder, &["convert", file, "-o", "-", "--format", "csv"]);
    let is_kept = |line: &&str| line.starts_with("State,") || line.starts_with("Link,");
    // The numbers of containers differ between traces.
    let cells = |line: &str| line.split(',').take(10).map(str::to_owned).collect::<Vec<_>>().join(",");
    let mut rows: Vec<String> = out.lines().filter(is_kept).map(cells).collect();
    assert!(rows.len() > 3, "{file}: {out}");
    rows.sort();
    rows
}

#[test]
fn every_command_reads_picl_and_alog() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["conceptual.picl", "mpicl.picl", "old-verbose.picl", "upshot.alog"] {
        fs::copy(case(name), dir.path().join(name)).unwrap();
        let (code, out, errors) = run(dir.path(), &["check", name]);
        assert!(code == Some(0) && out.contains("is correct"), "{out}{errors}");
        let (code, out, errors) = run(dir.path(), &["stats", name]);
        assert!(code == Some(0) && errors.is_empty() && out.contains("State"), "{out}{errors}");
        let (code, _, errors) = run(dir.path(), &["view", name, "-o", "x.svg"]);
        assert!(code == Some(0), "{errors}");
        assert!(fs::read_to_string(dir.path().join("x.svg")).unwrap().contains("<svg"));
        let (code, _, errors) = run(dir.path(), &["index", name, "-o", "x.tmtx"]);
        assert!(code == Some(0) && errors.contains("x.tmtx: made"), "{errors}");
        fs::remove_file(dir.path().join("x.tmtx")).unwrap();
        // The Pajé file has no faults, and the same entities.
        let (code, _, errors) = run(dir.path(), &["convert", name, "-o", "x.paje"]);
        assert_eq!((code, errors.as_str()), (Some(0), ""), "{name}");
        let (code, out, _) = run(dir.path(), &["check", "--strict", "x.paje"]);
        assert!(code == Some(0) && out.contains("is correct"), "{name}: {out}");
        if name != "old-verbose.picl" {
            assert_eq!(rows(dir.path(), name), rows(dir.path(), "x.paje"), "{name}");
        }
    }
    let (code, _, errors) = run(dir.path(), &["dump", "conceptual.picl"]);
    assert!(code == Some(2) && errors.contains("PICL (new format), not a run"), "{errors}");
    let (code, _, errors) = run(dir.path(), &["convert", "conceptual.picl", "-o", "x.paje", "--rules", "x.tumit"]);
    assert!(code == Some(2), "{errors}");
    let (code, _, errors) = run(dir.path(), &["fmt", "--check", "conceptual.picl"]);
    assert!(code == Some(2) && errors.contains("PICL (new format), not a spec"), "{errors}");
}

#[test]
fn picl_comes_from_pipes_and_compressed_files() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(case("mpicl.picl"), dir.path().join("x.picl")).unwrap();
    let expected = rows(dir.path(), "x.picl");
    for program in ["gzip", "zstd", "bzip2", "xz"] {
        let Ok(out) = Command::new(program).args(["-c", "x.picl"]).current_dir(dir.path()).output() else { continue };
        // The name is that of traces of TAU, too.
        fs::write(dir.path().join("x.trc"), &out.stdout).unwrap();
        assert_eq!(rows(dir.path(), "x.trc"), expected, "{program}");
    }
    fs::copy(case("mpicl.picl"), dir.path().join("y.trc")).unwrap();
    assert_eq!(rows(dir.path(), "y.trc"), expected);
    let mut command = tumit();
    command.args(["stats", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(case("mpicl.picl")).unwrap()).unwrap();
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success() && String::from_utf8_lossy(&out.stdout).contains("idle"));
}

#[test]
fn faults_have_lines_and_remedies_and_stop_strict_checks() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x.picl"), "-3 5 0.1 0 0 0\n-4 5 0.2 0 0 0\nxyz\n-3 -999 0.3 0 0 0\n").unwrap();
    let (code, out, _) = run(dir.path(), &["check", "x.picl"]);
    assert_eq!(code, Some(1));
    assert!(out.contains("x.picl:3: error: expected the start of a record"), "{out}");
    assert!(out.contains("(`xyz`)\n    the producer of the file should repair or delete the line"), "{out}");
    assert!(out.contains("x.picl:4: warning: unknown type of record"), "{out}");
    let (code, out, _) = run(dir.path(), &["check", "--strict", "x.picl"]);
    assert!(code == Some(1) && out.contains("x.picl:3:") && !out.contains("x.picl:4:"), "{out}");
    assert!(out.contains("reading stopped at this line"), "{out}");
    let (code, out, _) = run(dir.path(), &["check", "--json", "x.picl"]);
    assert!(code == Some(1) && out.contains("\"line\":3") && out.contains("\"Head\""), "{out}");
    // Other commands read the rest.
    let (code, out, errors) = run(dir.path(), &["convert", "x.picl", "-o", "-"]);
    assert!(code == Some(1) && errors.contains("line 3: expected the start of a record"), "{errors}");
    assert!(out.contains("\"5\""), "{out}");
}

/// A command that ends with status 1 at the first problem of its input, and writes nothing.
fn assert_strict(folder: &Path, args: &[&str], expected: &[&str]) {
    let (code, out, errors) = run(folder, args);
    assert_eq!(code, Some(1), "{args:?}: {out}{errors}");
    assert!(out.is_empty() && errors.lines().count() == 1, "{args:?}: {out}{errors}");
    expected.iter().for_each(|part| assert!(errors.contains(part), "{args:?}: {errors}"));
}

#[test]
fn the_first_problem_ends_each_strict_command() {
    let dir = tempfile::tempdir().unwrap();
    // The unknown record in line 4 is a warning, and the line that is no record an error.
    let picl = "-3 5 0.1 0 0 0\n-4 5 0.2 0 0 0\nxyz\n-3 -999 0.3 0 0 0\n".to_owned();
    let alog = fs::read_to_string(case("upshot.alog")).unwrap() + "xyz\n";
    for (name, text, line) in [("x.picl", &picl, 3), ("x.alog", &alog, alog.lines().count())] {
        fs::write(dir.path().join(name), text).unwrap();
        let expected = &format!("{name}: line {line}: expected the start of a record");
        let commands: [&[&str]; 9] = [
            &["stats", name],
            &["diagnose", name],
            &["index", name, "-o", "out.tmtx"],
            &["view", name, "-o", "out.svg"],
            &["view", name, "--no-open", "--until-idle", "1"],
            &["convert", name, "-o", "out.paje"],
            &["convert", name, "-o", "out.csv"],
            &["convert", name, "-o", "-", "--pj-dump"],
            &["convert", name, "-o", "out.paje", "--filter", "hide value a"],
        ];
        for command in commands {
            let args: Vec<&str> = command.iter().copied().chain(["--strict"]).collect();
            assert_strict(dir.path(), &args, &[expected, "to correct this, repair or delete the line"]);
            let written = command.iter().find(|name| name.starts_with("out."));
            assert!(written.is_none_or(|name| !fs::exists(dir.path().join(name)).unwrap()), "{command:?}");
        }
        // Without the option, the rest is read, and the problems are counted.
        let (code, out, errors) = run(dir.path(), &["stats", name]);
        assert!(code == Some(1) && !out.is_empty() && errors.contains("expected the start of a record"), "{errors}");
    }
    let (code, _, errors) = run(dir.path(), &["view", "x.picl", "--follow", "--strict"]);
    assert!(code == Some(2) && errors.contains("--strict"), "{errors}");
    // A trace without problems is not changed by the option.
    fs::copy(case("conceptual.picl"), dir.path().join("good.picl")).unwrap();
    let (code, out, errors) = run(dir.path(), &["stats", "--strict", "good.picl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(out, run(dir.path(), &["stats", "good.picl"]).1);
}

#[test]
fn strict_has_one_meaning_for_text_pipes_and_runs() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), &["convert", case("conceptual.picl").to_str().unwrap(), "-o", "x.paje"]);
    let text = fs::read_to_string(dir.path().join("x.paje")).unwrap();
    let line = text.lines().count();
    // A construct that other readers reject is a problem, too.
    fs::write(dir.path().join("y.paje"), text.trim_end()).unwrap();
    let expected = [format!("y.paje: line {line}: last line without a line end"), "end the last line".to_owned()];
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_strict(dir.path(), &["stats", "--strict", "y.paje"], &expected);
    let (code, _, errors) = run(dir.path(), &["index", "y.paje", "-o", "y.tmtx"]);
    assert_eq!(code, Some(0), "{errors}");
    // An index does not hide the problems of its trace.
    assert_strict(dir.path(), &["stats", "--strict", "y.paje", "--index", "y.tmtx"], &expected);
    let mut command = tumit();
    command.args(["stats", "--strict", "-"]).current_dir(dir.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.trim_end().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(1) && errors.contains("last line without a line end"), "{errors}");

    let trace = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &trace).current_dir(dir.path()));
    for args in
        [&["stats", "run.tmt"][..], &["dump", "run.tmt"], &["sync", "run.tmt"], &["convert", "run.tmt", "-o", "-"]]
    {
        let (code, out, errors) = run(dir.path(), args);
        assert_eq!(code, Some(0), "{args:?}: {errors}");
        let strict: Vec<&str> = args.iter().copied().chain(["--strict"]).collect();
        let (code, strict_out, errors) = run(dir.path(), &strict);
        assert!(code == Some(0) && (out == strict_out || args[0] == "sync"), "{args:?}: {errors}");
    }
    // Half of a file is missing.
    let process = fs::read_dir(&trace).unwrap().map(|entry| entry.unwrap().path());
    let process = process.filter(|path| path.extension().is_some_and(|ending| ending == "tmt")).max().unwrap();
    let bytes = fs::read(&process).unwrap();
    fs::write(&process, &bytes[..bytes.len() / 2]).unwrap();
    for args in
        [&["stats", "run.tmt"][..], &["dump", "run.tmt"], &["cut", "run.tmt", "-o", "cut.tmt", "--interval", "..1"]]
    {
        let strict: Vec<&str> = args.iter().copied().chain(["--strict"]).collect();
        assert_strict(dir.path(), &strict, &["tumit: run.tmt: ", "(--strict ends at the first problem)"]);
        assert!(!fs::exists(dir.path().join("cut.tmt")).unwrap(), "{args:?}");
    }
}

#[test]
fn picl_is_written_and_read_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::copy(case("conceptual.picl"), dir.path().join("x.picl")).unwrap();
    let (code, _, errors) = run(dir.path(), &["convert", "x.picl", "-o", "y.picl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert_eq!(rows(dir.path(), "x.picl"), rows(dir.path(), "y.picl"));
    // Over Pajé text.
    run(dir.path(), &["convert", "x.picl", "-o", "x.paje"]);
    let (code, _, errors) = run(dir.path(), &["convert", "x.paje", "-o", "z.picl"]);
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(rows(dir.path(), "x.picl"), rows(dir.path(), "z.picl"));
    for format in ["picl-old", "picl-verbose"] {
        let (code, _, errors) = run(dir.path(), &["convert", "x.picl", "-o", "old.picl", "--format", format]);
        assert_eq!(code, Some(0), "{errors}");
        let (code, out, _) = run(dir.path(), &["check", "old.picl"]);
        assert!(code == Some(0) && out.contains("3 links"), "{format}: {out}");
    }
    let (code, _, errors) = run(dir.path(), &["convert", "x.picl", "-o", "y.picl", "--precision", "3"]);
    assert!(code == Some(2) && errors.contains("needs Pajé text"), "{errors}");
}

#[test]
fn a_run_becomes_picl() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &trace).current_dir(dir.path()));
    let (code, _, errors) = run(dir.path(), &["convert", "run.tmt", "-o", "run.picl"]);
    assert_eq!(code, Some(0), "{errors}");
    let (code, out, errors) = run(dir.path(), &["check", "run.picl"]);
    assert!(code == Some(0), "{out}{errors}");
    let figure = |name: &str| {
        let (_, out, _) = run(dir.path(), &["convert", name, "-o", "-", "--format", "csv"]);
        (
            out.lines().filter(|line| line.starts_with("Link,")).count(),
            out.lines().filter(|line| line.starts_with("State,")).count(),
        )
    };
    let (links, states) = figure("run.tmt");
    let (links_again, states_again) = figure("run.picl");
    assert_eq!(links, links_again);
    // Each node also computes until it has finished.
    assert!(links > 0 && states_again >= states, "{states} {states_again}");
}

/// A folder with one file.
fn folder_with(name: &str, text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), text).unwrap();
    dir
}

/// The rows of the table of a view.
fn table(folder: &Path, file: &str, perspective: &str, options: &[&str]) -> Vec<String> {
    let args = [&["view", file, "--perspective", perspective, "-o", "-", "--format", "csv"], options].concat();
    let (code, out, errors) = run(folder, &args);
    assert_eq!(code, Some(0), "{args:?}: {errors}");
    out.lines().map(str::to_owned).collect()
}

#[test]
fn activities_have_the_documented_categories() {
    // Node 0 finishes at 3 of 4 ms, and its file access is overhead.
    let text = "-3 -901 0.0 0 0 0\n-3 -901 0.0 1 0 0\n-3 -221 0.001 0 0 0\n-4 -221 0.002 0 0 0\n\
                -4 -901 0.003 0 0 0\n-4 -901 0.004 1 0 0\n";
    let dir = folder_with("x.picl", text);
    let rows = table(dir.path(), "x.picl", "utilization-summary", &[]);
    assert_eq!(rows[1], "node 0,0.002,0.001,0.001,50,25,25", "{rows:?}");
    let (code, _, errors) = run(dir.path(), &["convert", "x.picl", "-o", "x.paje"]);
    assert_eq!(code, Some(0), "{errors}");
    let paje = fs::read_to_string(dir.path().join("x.paje")).unwrap();
    for (name, category) in [("finished", "idle"), ("file access", "overhead"), ("compute", "busy")] {
        let is_defined = |line: &str| line.contains(&format!("\"{name}\"")) && line.contains(category);
        assert!(paje.lines().any(is_defined), "{name}: {paje}");
    }
    assert!(
        paje.lines().any(|line| line.contains("unknown (trace memory full)") && line.contains("ignored")),
        "{paje}"
    );
}

#[test]
fn collective_operations_have_roots_sizes_and_subsets() {
    // Node 0 enters 2 s before the root, which is node 1.
    let text = "-3 -901 0 0 0 0\n-3 -785 1 0 0 3 2 100 1 -1\n-4 -785 4 0 0 1 2 100\n-4 -901 5 0 0 0\n\
                -3 -901 0 1 0 0\n-3 -785 3 1 0 3 2 100 1 -1\n-4 -785 4 1 0 1 2 100\n-4 -901 5 1 0 0\n";
    let dir = folder_with("bc.picl", text);
    let (code, out, errors) = run(dir.path(), &["diagnose", "bc.picl"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("wait at a collective operation, in `broadcast`: 2.000 s in 1 wait"), "{out}");
    assert!(!out.contains("Guessed"), "{out}");
    let rows = table(dir.path(), "bc.picl", "communication-matrix", &["--option", "collectives=add"]);
    assert!(rows.iter().any(|row| row.starts_with("node 1,node 0,1,100")), "{rows:?}");
    let (code, _, errors) = run(dir.path(), &["view", "bc.picl", "--collectives", "-o", "x.svg"]);
    assert!(code == Some(0) && !errors.contains("no state has the fields"), "{errors}");
    // All data are written again.
    let (code, _, errors) = run(dir.path(), &["convert", "bc.picl", "-o", "again.picl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let again = fs::read_to_string(dir.path().join("again.picl")).unwrap();
    for record in ["-3 -785 1.000000000 0 0 3 2 100 1 -1", "-4 -785 4.000000000 1 0 1 2 100"] {
        assert!(again.contains(record), "{again}");
    }

    // Two subsets and all nodes have barriers of their own. Node 3 is late in its subset.
    let barrier = |node: i64, subset: i64, from: f64, to: f64| {
        format!("-3 -402 {from} {node} 0 1 2 {subset}\n-4 -402 {to} {node} 0 0\n")
    };
    let mut text = "-202 -812 0.0 -1 -1 3 2 0 0 1\n".to_owned();
    for node in 0..4 {
        text += &format!("-3 -901 0.0 {node} 0 0\n");
        text += &if node < 2 { barrier(node, 0, 1.0, 1.1) } else { String::new() };
        text += &barrier(node, -1, 5.0, 5.1);
        text += &if node >= 2 { barrier(node, 1, if node == 3 { 8.0 } else { 7.0 }, 8.1) } else { String::new() };
        text += &format!("-4 -901 10.0 {node} 0 0\n");
    }
    let dir = folder_with("sub.picl", &text);
    let (_, out, _) = run(dir.path(), &["diagnose", "sub.picl"]);
    assert!(out.contains("wait at a collective operation, in `barrier`: 1.000 s in 1 wait"), "{out}");
    assert!(out.contains("caused by node 3") && !out.contains("not examined"), "{out}");

    // Old PICL has the root as the parameter of the block.
    let old = "1 0 0 0 4 4 0\n20 0 1000 0 -2 7 1\n21 0 4000 0 -2 7 1\n19 0 5000 0 0\n\
               1 0 0 1 4 4 0\n20 0 3000 1 -2 7 1\n21 0 4000 1 -2 7 1\n19 0 5000 1 0\n";
    let dir = folder_with("old.trc", old);
    let (_, out, _) = run(dir.path(), &["diagnose", "old.trc"]);
    assert!(out.contains("in `broadcast`: 2.000 ms in 1 wait") && out.contains("caused by node 1"), "{out}");
}

/// The records of Alog do not describe operations.
#[test]
fn operations_of_alog_are_marked_as_guesses() {
    let mut text = "-1 0 0 0 0 0 MPE\n-2 0 0 4 0 0\n-3 0 0 2 0 0\n-8 0 0 1 0 0\n\
                    -13 0 3 4 0 0 green:boxes MPI_Allreduce\n-13 0 5 6 0 0 red Compute\n"
        .to_owned();
    for (event, node, time) in
        [(5, 0, 10), (5, 1, 10), (6, 0, 20), (3, 0, 20), (6, 1, 40), (3, 1, 40), (4, 0, 50), (4, 1, 50)]
    {
        text += &format!("{event} {node} 0 0 0 {time}\n");
    }
    let dir = folder_with("x.alog", &text);
    let (code, out, errors) = run(dir.path(), &["diagnose", "x.alog"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(out.contains("Guessed from the names and the order of states: MPI_Allreduce."), "{out}");
    let note = "The operations of MPI_Allreduce are guessed from the names and the order of states.";
    let matrix = ["view", "x.alog", "--perspective", "communication-matrix", "-o", "-", "--format", "csv"];
    let (code, out, errors) = run(dir.path(), &[&matrix[..], &["--option", "collectives=only"]].concat());
    assert!(code == Some(0) && errors.contains(note), "{out}{errors}");
    // The diagnosis of the page marks them by this field.
    let (_, out, _) = run(dir.path(), &["diagnose", "x.alog", "--json"]);
    assert!(out.contains(r#""is_guess":true"#) || out.contains(r#""is_guess": true"#), "{out}");
}

#[test]
fn different_numbers_of_parts_are_reported() {
    let text = "-3 -901 0 0 0 0\n-3 -402 1 0 0 0\n-4 -402 2 0 0 0\n-3 -402 3 0 0 0\n-4 -402 4 0 0 0\n\
                -4 -901 5 0 0 0\n-3 -901 0 1 0 0\n-3 -402 1 1 0 0\n-4 -402 2 1 0 0\n-4 -901 5 1 0 0\n";
    let dir = folder_with("x.picl", text);
    let (code, out, _) = run(dir.path(), &["check", "x.picl"]);
    assert!(
        code == Some(0) && out.contains("x.picl:2: warning: collective operations with different numbers"),
        "{out}"
    );
    assert!(out.contains("barrier: 1 and 2 parts"), "{out}");
}

#[test]
fn records_without_a_process_make_no_unit() {
    let text = "-3 -901 0 0 -1 0\n-3 7 1 0 0 0\n-4 7 2 0 0 0\n-4 -901 4 0 -1 0\n\
                -3 -901 0 1 -1 0\n-3 -601 1 1 0 0\n-4 -601 2 1 0 0\n-4 -901 4 1 -1 0\n";
    let dir = folder_with("x.picl", text);
    let rows = table(dir.path(), "x.picl", "utilization-summary", &[]);
    assert_eq!(rows[1..], ["node 0,4,0,0,100,0,0", "node 1,3,0,1,75,0,25"], "{rows:?}");
}

#[test]
fn the_host_is_shown_but_is_no_unit() {
    let text = "3 0 0 -32768 0 -1\n4 0 100 -32768 0 1 8\n11 0 100 -32768 0 0\n11 0 300 -32768 0 200\n\
                1 0 0 0 4 4 0\n6 0 400 0 -32768 1 8\n4 0 500 0 1 7 8\n19 0 1000 0 0\n\
                1 0 0 1 4 4 0\n6 0 600 1 0 7 8\n19 0 1000 1 0\n";
    let dir = folder_with("x.trc", text);
    let rows = table(dir.path(), "x.trc", "utilization-summary", &[]);
    assert_eq!(rows.len(), 3, "{rows:?}");
    let host = table(dir.path(), "x.trc", "utilization-summary", &["--option", "level=Host"]);
    assert!(host.len() == 2 && host[1].starts_with("host,0,0.0002,"), "{host:?}");
    let (code, out, _) = run(dir.path(), &["check", "--strict", "x.trc"]);
    assert!(code == Some(0) && out.contains("2 links"), "{out}");
    let (_, out, _) = run(dir.path(), &["convert", "x.trc", "-o", "-", "--format", "csv"]);
    assert!(out.contains("Message from host") && out.contains("host"), "{out}");
    // The host keeps its number.
    let (_, out, _) = run(dir.path(), &["convert", "x.trc", "-o", "-", "--format", "picl-old"]);
    assert!(out.contains("4 0 100 -32768 0 1 8\n") && out.contains("3 0 0 -32768 0 -1\n"), "{out}");
    assert!(!out.contains("1 0 0 -32768") && !out.contains("19 0 1000 -32768"), "{out}");
}

#[test]
fn messages_received_before_they_are_sent_are_counted_for_each_pair() {
    let text = "-3 -901 0.0 0 0 0\n-3 -21 0.01 0 0 4 2 64 1 1 0\n-4 -21 0.011 0 0 0\n\
                -3 -21 0.02 0 0 4 2 64 1 1 0\n-4 -21 0.021 0 0 0\n-4 -901 0.05 0 0 0\n\
                -3 -901 0.0 1 0 0\n-3 -52 0.005 1 0 3 2 1 0 0\n-4 -52 0.009 1 0 4 2 64 1 0 0\n\
                -3 -52 0.01 1 0 3 2 1 0 0\n-4 -52 0.015 1 0 4 2 64 1 0 0\n-4 -901 0.05 1 0 0\n";
    let dir = folder_with("x.picl", text);
    let (code, out, _) = run(dir.path(), &["check", "x.picl"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("x.picl:9: warning: message that is received before it is sent"), "{out}");
    assert!(out.contains("from node 0 to node 1, at most 5000.000 µs before"), "{out}");
    assert!(out.contains("2 times") && out.contains("`--causal` do not change this trace"), "{out}");
    let (_, _, errors) = run(dir.path(), &["stats", "x.picl"]);
    assert!(errors.contains("2 times, first in line 9: message that is received before"), "{errors}");
    let (code, _, errors) = run(dir.path(), &["stats", "--strict", "x.picl"]);
    assert!(code == Some(1) && errors.contains("line 9: message that is received before"), "{errors}");
}

#[test]
fn receives_of_any_type_have_the_value_of_their_send() {
    let text = "1 0 0 0 4 4 0\n4 0 100 0 1 7 64\n4 0 200 0 1 8 64\n1 0 0 1 4 4 0\n6 0 300 1 -1 8 64\n\
                6 0 400 1 0 -1 64\n13 0 900 0\n13 0 900 1\n";
    let dir = folder_with("any.trc", text);
    let (code, out, errors) = run(dir.path(), &["stats", "--strict", "any.trc"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    let (_, out, errors) = run(dir.path(), &["view", "any.trc", "-o", "x.svg"]);
    assert!(!errors.contains("value") && !out.contains("value"), "{out}{errors}");
}

#[test]
fn a_damaged_first_line_does_not_hide_the_format() {
    for name in ["s.trc", "s.picl", "s.txt"] {
        let dir = folder_with(name, "garbage first line\n4 0 100 0 1 7 64\n6 0 200 1 0 7 64\n");
        let (code, out, _) = run(dir.path(), &["check", name]);
        assert!(code == Some(1) && out.contains(&format!("{name}:1: error: expected the start of a record")), "{out}");
        let (code, _, errors) = run(dir.path(), &["view", name, "-o", "x.svg"]);
        assert!(code == Some(1) && errors.contains("line 1: expected the start of a record"), "{errors}");
    }
}

#[test]
fn unknown_data_are_kept_and_written_again() {
    let text = "-3 -901 0.0 0 0 0\n-3 -51 0.1 0 0 5 2 7 99 3 4 5\n-4 -51 0.2 0 0 6 2 64 7 1 0 88 77\n\
                -3 -21 0.1 1 0 6 2 64 7 0 0 55 66\n-4 -21 0.15 1 0 1 2 9\n-3 30 0.3 0 0 1 2 65536\n-4 30 0.4 0 0 0\n\
                -2 -4711 0.5 0 0 2 \"%s %d\" x 5\n-4 -901 1.0 0 0 0\n";
    let dir = folder_with("x.picl", text);
    run(dir.path(), &["convert", "x.picl", "-o", "x.paje"]);
    for source in ["x.picl", "x.paje"] {
        let (_, out, _) = run(dir.path(), &["convert", source, "-o", "-", "--format", "picl"]);
        for record in [
            "-3 -51 0.100000000 0 0 5 2 7 99 3 4 5",
            "-4 -51 0.200000000 0 0 6 2 64 7 1 0 88 77",
            "-3 -21 0.100000000 1 0 6 2 64 7 0 0 55 66",
            "-4 -21 0.150000000 1 0 1 2 9",
            "-3 30 0.300000000 0 0 1 2 65536",
            "-2 -4711 0.500000000 0 0 2 \"%s %d\" x 5",
        ] {
            assert!(out.contains(&format!("{record}\n")), "{source}: {record}\n{out}");
        }
    }
}

#[test]
fn written_runs_keep_their_shares_and_collective_operations() {
    let dir = tempfile::tempdir().unwrap();
    let paje = "%EventDef PajeDefineContainerType 0\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeDefineStateType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajeDefineEntityValue 2\n% Alias string\n% Type string\n% Name string\n% Category string\n%EndEventDef\n\
                %EventDef PajeCreateContainer 3\n% Time date\n% Alias string\n% Type string\n% Container string\n% Name string\n%EndEventDef\n\
                %EventDef PajePushState 4\n% Time date\n% Container string\n% Type string\n% Value string\n%EndEventDef\n\
                %EventDef PajePopState 5\n% Time date\n% Container string\n% Type string\n%EndEventDef\n\
                %EventDef PajeDestroyContainer 6\n% Time date\n% Type string\n% Name string\n%EndEventDef\n\
                %EventDef PajePushState 7\n% Time date\n% Container string\n% Type string\n% Value string\n% operation int\n\
                % collective string\n% communicator string\n% is_root int\n% bytes int\n%EndEventDef\n\
                0 R 0 Rank\n1 S R State\n2 w S Solve busy\n2 h S Halo overhead\n2 q S Queue idle\n2 c S MPI_Bcast overhead\n\
                3 0 a R 0 \"Rank 0\"\n3 0 b R 0 \"Rank 1\"\n\
                4 0 a S w\n4 0 b S w\n4 1 a S h\n4 1.5 a S w\n5 1.75 a S\n5 2 a S\n4 2 b S q\n5 3 b S\n\
                7 3 a S c 0 one-to-all world 0 64\n7 4 b S c 0 one-to-all world 1 64\n5 5 a S\n5 5 b S\n\
                5 6 a S\n5 7 b S\n6 8 R a\n6 10 R b\n";
    fs::write(dir.path().join("x.paje"), paje).unwrap();
    let (code, _, errors) = run(dir.path(), &["convert", "x.paje", "-o", "x.picl"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let shares = |file: &str| {
        let rows = table(dir.path(), file, "utilization-summary", &[]);
        rows[1..].iter().map(|row| row.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(shares("x.paje"), shares("x.picl"), "{}", fs::read_to_string(dir.path().join("x.picl")).unwrap());
    let (_, out, _) = run(dir.path(), &["diagnose", "x.picl"]);
    assert!(out.contains("in `broadcast`: 1.000 s in 1 wait"), "{out}");
    // The names of the states are those of tasks, and the communicator is a subset with its nodes.
    let text = fs::read_to_string(dir.path().join("x.picl")).unwrap();
    assert!(text.contains(" 9 MPI_Bcast\n") && text.contains("-202 -812 0.000000000 -1 -1 3 2 0 0 1\n"), "{text}");
}
