//! Tables of entities, and `tumit check` of Pajé files, as a user sees them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tests::lang::c::{C99, build, record};
use tests::programs::{molecular_dynamics, output, succeed, tumit, workspace};

fn corpus(name: &str) -> PathBuf {
    workspace().join("tests/paje").join(name)
}

fn convert(input: &Path, args: &[&str], folder: &Path) -> Output {
    output(tumit().arg("convert").arg(input).args(args).current_dir(folder))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The events of self-tracing have a second spec. The table contains the rows of both, like the
/// Pajé text.
#[test]
fn the_table_has_the_records_of_all_specs() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run).env("TUMIT_LEVELS", "TUMIT=on"));
    let converted = convert(&run, &["-o", "a.paje"], dir.path());
    assert_eq!(converted.status.code(), Some(0), "{}", text(&converted.stderr));
    let by_paje = convert(&dir.path().join("a.paje"), &["-o", "-", "--pj-dump"], dir.path());
    let direct = convert(&run, &["-o", "-", "--pj-dump"], dir.path());
    assert_eq!((direct.status.code(), text(&direct.stderr).as_str()), (Some(0), ""));
    let sorted = |out: &Output| {
        let mut rows: Vec<String> = text(&out.stdout).lines().map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    let (direct, by_paje) = (sorted(&direct), sorted(&by_paje));
    assert_eq!(direct.len(), by_paje.len());
    let kinds = |rows: &[String]| -> Vec<String> {
        rows.iter().map(|row| row.split(',').take(3).collect::<Vec<_>>().join(",")).collect()
    };
    assert_eq!(kinds(&direct), kinds(&by_paje));
    let statistics = output(tumit().arg("stats").arg(&run));
    assert!(statistics.status.success() && !text(&statistics.stderr).contains("omitted"), "{statistics:?}");
}

#[test]
fn a_run_becomes_tables() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run.tmt");
    succeed(molecular_dynamics().args(["--steps", "2"]).env("TUMIT_TRACE", &run));
    for (args, name) in
        [(&["-o", "a.csv"][..], "a.csv"), (&["-o", "a.jsonl"], "a.jsonl"), (&["-o", "a.txt", "--pj-dump"], "a.txt")]
    {
        let out = convert(&run, args, dir.path());
        assert_eq!((out.status.code(), text(&out.stderr).as_str()), (Some(0), ""), "{args:?}");
        assert!(out.stdout.is_empty() && dir.path().join(name).is_file());
    }
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let (csv, json, rows) = (read("a.csv"), read("a.jsonl"), read("a.txt"));
    let lines = rows.lines().count();
    assert!(lines > 1000);
    assert_eq!((csv.lines().count(), json.lines().count()), (lines + 1, lines), "no name has a line end");
    // The same rows in the same order, with the fields of the rules.
    for ((csv, json), row) in csv.lines().skip(1).zip(json.lines()).zip(rows.lines()) {
        let object: Value = serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"));
        let kind = object["kind"].as_str().unwrap();
        assert!(csv.starts_with(&format!("{kind},")) && row.starts_with(&format!("{kind}, ")), "{csv}\n{json}\n{row}");
        if kind == "State" {
            let value = object["value"].as_str().unwrap();
            assert!(
                csv.contains(&format!(",{value},")) && row.ends_with(&format!(", {value}")),
                "{csv}\n{json}\n{row}"
            );
        }
    }
    assert!(csv.lines().next().unwrap().contains(",waits for"), "{}", csv.lines().next().unwrap());
    // The output to standard output is the same.
    let out = convert(&run, &["-o", "-", "--format", "csv"], dir.path());
    assert_eq!(text(&out.stdout), csv);
    let one_thread = convert(&run, &["-o", "-", "--format", "csv", "--threads", "1"], dir.path());
    assert_eq!(one_thread.stdout, out.stdout, "for any number of threads");
}

#[test]
fn a_paje_file_becomes_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let file = corpus("two-nodes.paje");
    let out = convert(&file, &["-o", "x.csv"], dir.path());
    assert_eq!(out.status.code(), Some(0));
    let table = fs::read_to_string(dir.path().join("x.csv")).unwrap();
    assert!(table.contains("\nState,thread 0.0,Activity,0.000000000,0.500000000,0.500000000,0,working,"), "{table}");
}

#[test]
fn paje_text_that_a_spec_writes_becomes_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let spec = r#"trace t;
level L { event hit { size: u32 } }
output text "mine" {
    prologue "%EventDef PajeDefineEventType 1\n% Alias string\n% Type string\n% Name string\n%EndEventDef\n%EventDef PajeNewEvent 2\n% Time date\n% Type string\n% Container string\n% Value string\n% Size int\n%EndEventDef\n1 E 0 Hit\n"
    rule hit -> "2 @ E 0 struck @" date, size;
}
"#;
    let source = "#include \"t_trace.h\"\nint main(void) { t_hit(7); t_hit(8); return 0; }\n";
    let program = build(dir.path(), C99, spec, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = record(&program, dir.path(), "run.tmt", &[]);
    for args in [&["-o", "x.csv"][..], &["-o", "x.csv", "--text-output", "mine", "--format", "csv"]] {
        let out = convert(&run, args, dir.path());
        assert_eq!((out.status.code(), text(&out.stderr).as_str()), (Some(0), ""));
        let table = fs::read_to_string(dir.path().join("x.csv")).unwrap();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[0].ends_with(",EndContainerId,Size") && lines.len() == 4, "{table}");
        assert!(lines[1].starts_with("Event,0,Hit,") && lines[1].ends_with(",struck,,,,0,,,,7"), "{table}");
    }
    let out = convert(&run, &["-o", "x.csv", "--text-output", "other", "--format", "csv"], dir.path());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("it has `mine`"), "{}", text(&out.stderr));
}

#[test]
fn impossible_outputs_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    let file = corpus("two-nodes.paje");
    for (args, words) in [
        (&["-o", "x.txt"][..], "expected .paje"),
        (&["-o", "x.csv", "--filter", "hide value a of b"], "filters need Pajé text"),
        (&["-o", "x.csv", "--clock", "none"], "are for runs only"),
        (&["-o", "none/x.csv"], "none/x.csv"),
    ] {
        let out = convert(&file, args, dir.path());
        assert_eq!(out.status.code(), Some(2), "{args:?}: {}", text(&out.stderr));
        assert!(text(&out.stderr).contains(words), "{args:?}: {}", text(&out.stderr));
    }
    fs::write(dir.path().join("not.paje"), "{}").unwrap();
    let out = convert(&dir.path().join("not.paje"), &["-o", "x.csv"], dir.path());
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("This is JSON."));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    // Errors in a file are reported, and the rest is written.
    let out = convert(&corpus("simgrid-platform-sizes.trace"), &["-o", "x.csv"], dir.path());
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stderr).contains("first in line 143"), "{}", text(&out.stderr));
    assert!(fs::read_to_string(dir.path().join("x.csv")).unwrap().lines().count() > 400);
}

#[test]
fn a_full_disk_is_an_error() {
    let out = output(
        tumit()
            .args(["convert", "-o", "-", "--format", "csv"])
            .arg(corpus("simgrid-platform.trace"))
            .stdout(fs::File::options().write(true).open("/dev/full").expect("this system has it")),
    );
    assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
    assert!(text(&out.stderr).contains("No space left"), "{}", text(&out.stderr));
}

#[test]
fn check_reports_the_mistakes_of_a_paje_file() {
    let dir = tempfile::tempdir().unwrap();
    let good = corpus("two-nodes.paje");
    let stdout = succeed(tumit().arg("check").arg(&good));
    assert!(stdout.contains("two-nodes.paje: is correct: 85 lines, 6 containers, 8 states"), "{stdout}");
    let mut wrong_text = fs::read_to_string(&good).unwrap();
    wrong_text.push_str("5 1.5 S n7 w\n5 2 S t00 w\n5 1.75 S nobody w\n");
    let path = dir.path().join("wrong");
    fs::write(&path, wrong_text).unwrap();
    let out = output(tumit().args(["check", "--json"]).arg(&path));
    assert_eq!(out.status.code(), Some(1));
    let rows: Vec<Value> = text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let short: Vec<_> = rows
        .iter()
        .map(|object| (object["name"].as_str().unwrap_or(""), object["line"].as_u64(), object["count"].as_u64()))
        .collect();
    assert_eq!(
        short,
        [
            ("EarlyDestruction", Some(80), Some(2)),
            ("UnknownContainer", Some(86), Some(2)),
            ("EarlyEnd", Some(87), Some(1)),
            ("Disorder", Some(88), Some(1)),
            ("", None, None)
        ]
    );
    assert_eq!((&rows[1]["found"], &rows[1]["severity"]), (&"n7".into(), &"error".into()));
    assert!(rows[0]["advice"].as_str().is_some_and(|advice| advice.contains("after the last event in it")));
    let summary = &rows[4];
    assert_eq!((&summary["errors"], &summary["warnings"], &summary["states"]), (&2.into(), &2.into(), &9.into()));
    // Strict mode ends at the first diagnostic.
    let out = output(tumit().args(["check", "--strict"]).arg(&path));
    let stdout = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1));
    assert!(stdout.contains("wrong:86: error: line with a container that was not created (`n7`)\n"), "{stdout}");
    assert!(!stdout.contains(":87:") && stdout.ends_with("reading stopped at this line\n"), "{stdout}");
    // Checks a spec, a missing file and a wrong one together.
    fs::write(dir.path().join("a.tumit"), "trace a;\nlevel L { event e {} }\n").unwrap();
    let out = output(tumit().args(["check", "a.tumit", "none.paje", "wrong"]).current_dir(dir.path()));
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("none.paje") && text(&out.stdout).contains("`a` is correct"));
}

#[test]
fn all_measured_conversions_process_the_same_entities() {
    let stdout = succeed(Command::new(env!("CARGO_BIN_EXE_measure_conversion")).arg("--smoke"));
    let units = |path: &str| -> u64 {
        let line = stdout.lines().find(|line| line.split_whitespace().next() == Some(path));
        line.and_then(|line| line.split_whitespace().nth(1))
            .unwrap_or_else(|| panic!("{path}: {stdout}"))
            .parse()
            .unwrap()
    };
    assert!(units("run-paje") > 2000, "{stdout}");
    assert_eq!(units("run-paje"), units("run-entities"));
    assert!(units("paje-entities") > 2000, "{stdout}");
    // Rows of the run and of its Pajé text.
    assert_eq!(units("run-csv"), units("paje-csv"));
}
