//! Categories from a spec to the views, and the filters `category` and `series`.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::lang::c::{GNU99, build, record};
use tests::programs::{output, succeed, tumit};

const HEADER: &str = include_str!("../../../viewer/tests/header.paje");

/// Rank 0 works from 0 s to 3 s, rank 1 from 1 s to 2 s of 4 s. A message of 100 bytes is pending
/// from 1 s to 2 s.
const BODY: &str = "%EventDef PajeStartLink 18
% Time date
% Container string
% Type string
% StartContainer string
% Value string
% Key string
% Bytes int
%EndEventDef
%EventDef PajeDefineEntityValue 19
% Alias string
% Type string
% Name string
% Color color
% Category string
%EndEventDef
0 R 0 Rank
2 S R Activity
4 M 0 R R Message
19 park S \"Parked lock\" \"0 0 1\" Busy
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
11 0 r0 S work
11 0 r1 S Wait
11 1 r1 S work
18 1 0 M r0 data k 100
11 2 r1 S Wait
16 2 0 M r1 data k
11 3 r0 S park
7 4 R r0
7 4 R r1
";

/// Two values that records determine, a declared one, and a span without a rule.
const SPEC: &str = r#"trace t;
level APP {
    event call { name: string }
    event done;
    span lull;
}
paje {
    category idle lull, Blocked*
    container thread[pid: u64, tid: u64] "Thread" = stream {
        state call "Call" { quiet "Quiet period" category idle }
        category overhead Exchange of call
    }
}
rule call -> push call = "{name}" on thread[pid, tid]
          -> push call = quiet on thread[pid, tid] when name == "none";
rule done -> pop call on thread[pid, tid];
"#;

const PROGRAM: &str = r#"
#include "t_trace.h"
int main(void) {
    const char *names[] = {"Blocked in solve", "Exchange", "solve", "none"};
    for (int i = 0; i < 4; i++) { t_call(names[i]); t_done(); }
    { t_lull_begin(); t_lull_end(); }
    t_done();
    return 0;
}
"#;

fn trace(folder: &Path) {
    fs::write(folder.join("a.paje"), [HEADER, BODY].concat()).unwrap();
}

/// The busy units at 3.5 s with these filters and options.
fn busy(folder: &Path, options: &[&str]) -> String {
    let view = ["view", "a.paje", "--perspective", "utilization-meter", "--at", "3.5", "-o", "-", "--format", "csv"];
    let printed = succeed(tumit().args(view).args(options).current_dir(folder));
    printed.lines().find(|line| line.starts_with("busy,")).unwrap().to_owned()
}

#[test]
fn a_spec_assigns_categories_to_declared_and_other_values() {
    let folder = tempfile::tempdir().unwrap();
    let program = build(folder.path(), GNU99, SPEC, PROGRAM, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = record(&program, folder.path(), "run.tmt", &[]);
    let paje = folder.path().join("run.paje");
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    let text = fs::read_to_string(&paje).unwrap();
    assert!(text.contains("% Category string\n%EndEventDef"), "{text}");
    let category = |name: &str| {
        let line = text.lines().find(|line| line.contains(&format!("\"{name}\""))).unwrap_or_else(|| panic!("{text}"));
        line.rsplit('"').next().unwrap().trim().to_owned()
    };
    for (name, expected) in [
        ("Blocked in solve", "idle"),
        ("Exchange", "overhead"),
        ("solve", ""),
        ("none", ""),
        ("Quiet period", "idle"),
        ("lull", "idle"),
    ] {
        assert_eq!(category(name), expected, "{name}");
    }
    // A reader of Pajé text gets the same categories, and other readers accept the field.
    let again = succeed(tumit().arg("convert").arg(&paje).args(["-o", "-", "--format", "paje"]));
    assert_eq!(again.matches(" idle\n").count(), text.matches(" idle\n").count());
    succeed(tumit().arg("check").arg(&paje));
    if let Ok(rows) = Command::new("pj_dump").arg(&paje).output() {
        assert!(rows.status.success(), "{}", String::from_utf8_lossy(&rows.stderr));
    }
    for (option, expected) in [("--rules", "Blocked"), ("--rules", "Quiet")] {
        let changed = SPEC.replace("category idle lull, Blocked*", "category busy Blocked*");
        fs::write(folder.path().join("changed.tumit"), changed).unwrap();
        let rules = folder.path().join("changed.tumit");
        let out = succeed(tumit().arg("convert").arg(&run).args(["-o", "-"]).arg(option).arg(&rules));
        let line = out.lines().find(|line| line.contains(expected)).unwrap();
        assert!(line.ends_with(if expected == "Quiet" { "idle" } else { "busy" }), "{line}");
    }
}

#[test]
fn the_origins_of_a_category_have_their_order() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    // The name `Parked lock` is that of idle states. The trace says that it is busy.
    assert_eq!(busy(dir.path(), &[]), "busy,1,50");
    assert_eq!(busy(dir.path(), &["--filter", "category idle park*"]), "busy,0,0");
    assert_eq!(busy(dir.path(), &["--filter", "category busy Wait of Activity"]), "busy,2,100");
    assert_eq!(busy(dir.path(), &["--filter", "category idle of Activity", "--category", "busy=Wait"]), "busy,1,50");
    let report = |filter: &str| {
        let json = succeed(tumit().args(["diagnose", "a.paje", "--json", "--filter", filter]).current_dir(dir.path()));
        let report: Value = serde_json::from_str(&json).unwrap();
        report["efficiency"]["parallel"].as_f64().unwrap_or_else(|| panic!("{json}"))
    };
    assert!(report("category idle Parked*") < report("category busy Parked*"));
    let error = |filter: &str| {
        let out = output(tumit().args(["stats", "a.paje", "--filter", filter]).current_dir(dir.path()));
        assert_eq!(out.status.code(), Some(2));
        String::from_utf8(out.stderr).unwrap()
    };
    assert!(error("category lazy Wait").contains("expected busy, overhead, idle or ignored, found `lazy`"));
    assert!(error("category idle data").contains("no value is called `data`"), "{}", error("category idle data"));
    fs::write(dir.path().join("b.paje"), [HEADER, &BODY.replace(" Busy\n", " lazy\n")].concat()).unwrap();
    let check = output(tumit().args(["check", "b.paje"]).current_dir(dir.path()));
    let text = String::from_utf8(check.stdout).unwrap() + &String::from_utf8(check.stderr).unwrap();
    assert!(text.contains("invalid category of a value"), "{text}");
}

#[test]
fn series_are_variables_of_all_commands() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    let filters = ["--filter", "series busy, pending-bytes", "--filter", "series incoming-messages per unit"];
    let stats = succeed(tumit().args(["stats", "a.paje", "--json"]).args(filters).current_dir(dir.path()));
    let mean = |name: &str| {
        let rows = stats.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let row = rows
            .filter(|row| row["kind"] == "variable")
            .find(|row| row["type"] == name)
            .unwrap_or_else(|| panic!("{stats}"));
        (row["mean"].as_f64().unwrap(), row["max"].as_f64().unwrap())
    };
    assert_eq!(mean("Busy units"), (1.25, 2.0));
    assert_eq!(mean("Pending bytes"), (25.0, 100.0));
    assert_eq!(mean("Incoming messages").1, 1.0);
    let svg = dir.path().join("a.svg");
    let keep = ["--filter", "keep Rank with max of Incoming messages > 0"];
    succeed(tumit().args(["view", "a.paje", "-o", "a.svg"]).args(filters).args(keep).current_dir(dir.path()));
    let image = fs::read_to_string(svg).unwrap();
    assert!(image.contains("Busy units") && image.contains("Incoming messages"), "the rows of the variables");
    assert!(image.contains("rank 1") && !image.contains("rank 0"), "only rank 1 receives");
    succeed(tumit().args(["convert", "a.paje", "-o", "b.paje"]).args(filters).current_dir(dir.path()));
    succeed(tumit().args(["convert", "b.paje", "-o", "b.csv"]).current_dir(dir.path()));
    let rows = fs::read_to_string(dir.path().join("b.csv")).unwrap();
    assert!(rows.lines().any(|row| row.contains("Busy units") && row.contains('2')), "{rows}");
    let out = output(tumit().args(["stats", "a.paje", "--filter", "series active-tasks"]).current_dir(dir.path()));
    let error = String::from_utf8(out.stderr).unwrap();
    assert!(error.contains("the series needs states of tasks, but the trace has none"), "{error}");
    assert!(error.contains("by `with tasks = TYPE`; example: `series busy, pending-messages`"), "{error}");
}
