//! PICL and Alog traces as inputs of all commands, and PICL as the output of `tumit convert`.

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
