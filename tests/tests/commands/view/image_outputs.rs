//! Images on standard output, and statistics of empty traces.

use std::fs;
use std::path::Path;

use tests::programs::{output, tumit};

/// The definitions of a container and a state.
const DEFINITIONS: &str = "%EventDef PajeDefineContainerType 1
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 2
% Alias string
% ContainerType string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajePushState 4
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajePopState 5
% Time date
% Container string
% Type string
%EndEventDef
1 T 0 Thread
2 S T State
";

const STATES: &str = "3 0 t T 0 main
4 0.1 t S busy
5 0.4 t S
";

fn call(folder: &Path, args: &[&str]) -> (Option<i32>, Vec<u8>, String) {
    let out = output(tumit().args(args).current_dir(folder));
    (out.status.code(), out.stdout, String::from_utf8(out.stderr).unwrap())
}

#[test]
fn images_go_to_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.paje"), [DEFINITIONS, STATES].concat()).unwrap();
    for (format, begin) in [("svg", &b"<svg"[..]), ("png", b"\x89PNG"), ("html", b"<!doctype html>")] {
        let file = format!("b.{format}");
        let (status, image, error) = call(dir.path(), &["view", "a.paje", "-o", "-", "--format", format]);
        assert!(status == Some(0) && image.to_ascii_lowercase().starts_with(&begin.to_ascii_lowercase()), "{error}");
        assert_eq!((call(dir.path(), &["view", "a.paje", "-o", &file]).0, error.as_str()), (Some(0), ""));
        assert!(fs::read(dir.path().join(file)).unwrap() == image, "{format}");
    }
    // The extension of a file gives its format, `--format` that of all other outputs.
    let arguments = ["view", "a.paje", "-o", "c.svg", "-o", "plain", "-o", "-", "--format", "png"];
    assert!(call(dir.path(), &arguments).1.starts_with(b"\x89PNG"));
    assert!(fs::read(dir.path().join("plain")).unwrap().starts_with(b"\x89PNG"));
    assert!(fs::read(dir.path().join("c.svg")).unwrap().starts_with(b"<svg"));
}

#[test]
fn an_image_without_a_unique_format_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.paje"), [DEFINITIONS, STATES].concat()).unwrap();
    for (args, expected) in [
        (&["-o", "-"][..], "name the format with --format svg, --format png or --format html"),
        (&["-o", "-", "-o", "-", "--format", "svg"], "standard output is used for several images"),
        (&["-o", "b.svg", "--format", "png"], "the ending of `b.svg` gives another format than --format"),
        (&["-o", "plain"], "`plain` has no known extension"),
        (&["--format", "svg"], "--output <FILE>"),
    ] {
        let (status, image, error) = call(dir.path(), &[&["view", "a.paje"], args].concat());
        assert!(status == Some(2) && image.is_empty() && error.contains(expected), "{args:?}: {error}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn statistics_of_an_empty_trace_are_reported_as_empty() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.paje"), DEFINITIONS).unwrap();
    let empty = "a: the trace is empty: it has no states, events, links or variables\n";
    let text = |args: &[&str]| {
        let (status, text, error) = call(dir.path(), &[&["stats", "a.paje"], args].concat());
        assert_eq!(status, Some(0), "{error}");
        (String::from_utf8(text).unwrap(), error)
    };
    assert_eq!(text(&[]), (empty.to_owned(), String::new()));
    let message = format!("tumit: {empty}");
    let (rows, error) = text(&["--csv"]);
    assert!(rows.starts_with("kind,type,") && rows.lines().count() == 1 && error == message, "{rows}{error}");
    assert_eq!(text(&["--json"]), (String::new(), message));
    // A trace without duration has one timestamp.
    fs::write(dir.path().join("a.paje"), [DEFINITIONS, "3 0.5 t T 0 main\n4 0.5 t S busy\n5 0.5 t S\n"].concat())
        .unwrap();
    let rows = text(&[]).0;
    assert!(rows.starts_with("a, at ") && rows.contains("busy") && !rows.contains("1 ns"), "{rows}");
    // An empty time range within a trace is valid.
    fs::write(dir.path().join("a.paje"), [DEFINITIONS, STATES].concat()).unwrap();
    assert_eq!(text(&["--interval", "0.05..0.08"]).0.lines().next(), Some("a, 50.00 ms to 80.00 ms"));
}

#[test]
fn the_median_of_an_even_number_of_durations_is_the_lower_one() {
    let dir = tempfile::tempdir().unwrap();
    let states = "3 0 t T 0 main\n4 0 t S busy\n5 1 t S\n4 1 t S busy\n5 4 t S\n";
    fs::write(dir.path().join("a.paje"), [DEFINITIONS, states].concat()).unwrap();
    let row: serde_json::Value = serde_json::from_slice(&call(dir.path(), &["stats", "a.paje", "--json"]).1).unwrap();
    assert_eq!((&row["duration_mean"], &row["duration_median"]), (&2.0.into(), &1.0.into()));
    let help = String::from_utf8(call(dir.path(), &["stats", "--help"]).1).unwrap();
    assert!(
        help.split_whitespace().collect::<Vec<_>>().join(" ").contains("the median is the lower one of the middle two")
    );
}

#[test]
fn constant_names_of_containers_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let spec = |container: &str| {
        let rule = format!("rule work -> \"4 @ {container} S busy\" date -> \"5 @ t S\" date;");
        let create = "rule start -> \"3 @ t@ T 0 Thread\" date, n;";
        format!(
            "trace demo;\nlevel L {{ event start {{ n: u32 }} event work; }}\noutput text \"paje\" {{\nprologue \
             \"\"\"\n{DEFINITIONS}3 0 t T 0 main\n\"\"\"\n{create}\n{rule}\n}}\n"
        )
    };
    // By alias, by name, by a name that a record completes, and by a parameter.
    for container in ["t", "main", "t17", "Thread", "0"] {
        fs::write(dir.path().join("a.tumit"), spec(container)).unwrap();
        assert_eq!(call(dir.path(), &["check", "a.tumit"]).2, "", "{container}");
    }
    fs::write(dir.path().join("a.tumit"), spec("x1")).unwrap();
    let (_, _, error) = call(dir.path(), &["check", "a.tumit"]);
    assert!(error.contains("[T0084]: no line of output `paje` creates the container `x1`"), "{error}");
    assert!(error.contains("a.tumit:38:14"), "{error}");
    // Typed rules make containers of the same trace, and programs name those of `std:paje`.
    let typed = "paje { container node[n: u32] \"x{n}\" { state s { on } } }\nrule start -> set s = on on node[n];\n\
                 rule work -> ignore;\n";
    fs::write(dir.path().join("a.tumit"), spec("x1") + typed).unwrap();
    assert_eq!(call(dir.path(), &["check", "a.tumit"]).2, "");
    fs::write(dir.path().join("a.tumit"), "trace demo;\nuse \"std:paje\";\n").unwrap();
    assert_eq!(call(dir.path(), &["check", "a.tumit"]).2, "");
}
