//! `tumit view --perspective`: views of `ParaGraph` as files, and the texts about them.

use std::fs;
use std::path::Path;

use tests::programs::{output, tumit};

const HEADER: &str = include_str!("../../../../viewer/tests/header.paje");

/// Two ranks. Rank 0 works from 0 s to 3 s, rank 1 from 1 s to 2 s of 4 s. A message is pending
/// from 1 s to 2 s.
const BODY: &str = "0 R 0 Rank
2 S R Activity
4 M 0 R R Message
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
11 0 r0 S work
11 0 r1 S Wait
11 1 r1 S work
15 1 0 M r0 data k
11 2 r1 S Wait
16 2 0 M r1 data k
11 3 r0 S Wait
7 4 R r0
7 4 R r1
";

fn trace(folder: &Path) {
    fs::write(folder.join("a.paje"), [HEADER, BODY].concat()).unwrap();
}

fn call(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let out = output(tumit().arg("view").args(args).current_dir(folder));
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8(out.stderr).unwrap())
}

#[test]
fn a_view_is_written_in_all_formats() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    let files = ["k.svg", "k.png", "k.html", "k.csv", "k.json"];
    let mut args = vec!["a.paje", "--perspective", "utilization-summary", "--width", "640", "--theme", "dark"];
    for file in files {
        args.extend(["--export", file]);
    }
    let (status, printed, error) = call(dir.path(), &args);
    assert_eq!((status, printed.as_str()), (Some(0), ""), "{error}");
    let read = |file: &str| fs::read(dir.path().join(file)).unwrap();
    let text = |file: &str| String::from_utf8(read(file)).unwrap();
    assert!(text("k.svg").starts_with("<svg ") && text("k.svg").contains("width=\"640\" height=\"360\""));
    assert!(text("k.svg").contains("<title>rank 1: busy 25 %, overhead 0 %, idle 75 %</title>"), "{}", text("k.svg"));
    assert!(read("k.png").starts_with(b"\x89PNG"));
    // A chart has no ruler, so the page does not zoom.
    assert!(text("k.html").starts_with("<!doctype html>") && !text("k.html").contains("<script>"));
    assert!(text("k.json").starts_with("{\"title\":\"Utilization summary\""), "{}", text("k.json"));
    let lines: Vec<String> = text("k.csv").lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0], "unit,busy,overhead,idle,\"busy, %\",\"overhead, %\",\"idle, %\"");
    assert_eq!(lines[2], "rank 1,1,0,3,25,0,75");
}

/// The definition of a start with its size and its receiver, and three messages. The second one and
/// the third one are never received. The receiver of the third one is unknown.
const UNRECEIVED: &str = "%EventDef PajeStartLink 20
% Time date
% Container string
% Type string
% StartContainer string
% Value string
% Key string
% Bytes int
% SentToContainer string
%EndEventDef
";

#[test]
fn messages_that_are_never_received_stay_in_the_queue() {
    let dir = tempfile::tempdir().unwrap();
    let received = "15 1 0 M r0 data k\n";
    let sent = format!("{received}20 1.5 0 M r0 data u 64 r1\n15 1.5 0 M r1 data v\n");
    let text = [HEADER, UNRECEIVED, &BODY.replace(received, &sent)].concat();
    fs::write(dir.path().join("a.paje"), &text).unwrap();
    let line = text.lines().position(|line| line.starts_with("20 1.5")).unwrap() + 1;
    // The same in memory and from an index, and both when it is made and when it is opened.
    for index in ["none", "a.tmtx", "a.tmtx"] {
        let queues = |time: &str| {
            let args =
                ["a.paje", "--perspective", "message-queues", "--at", time, "--index", index, "--export", "q.csv"];
            let (status, _, errors) = call(dir.path(), &args);
            assert_eq!(status, Some(1), "{errors}");
            let count = format!(
                "2 links have only one endpoint: views show starts as pending until the end of the trace, and no ends (the first in line {line})"
            );
            assert!(errors.contains(&count), "{errors}");
            fs::read_to_string(dir.path().join("q.csv")).unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(queues("1"), ["rank 0,0,0,0,0", "rank 1,1,1,0,0", "unknown receiver,0,0,0,0"]);
        assert_eq!(queues("1.5"), ["rank 0,0,0,0,0", "rank 1,2,2,64,64", "unknown receiver,1,1,0,0"]);
        assert_eq!(queues("4"), ["rank 0,0,0,0,0", "rank 1,1,2,64,64", "unknown receiver,1,1,0,0"]);
    }
    let csv = |name: &str, option: &[&str]| {
        let args = [&["a.paje", "--perspective", name, "-o", "-", "--format", "csv"], option].concat();
        call(dir.path(), &args).1
    };
    assert_eq!(csv("communication-matrix", &["--at", "3"]).lines().nth(1), Some("rank 0,rank 1,1,64"));
    assert_eq!(csv("communication-matrix", &["--mode", "range"]).lines().nth(1), Some("rank 0,rank 1,1,0"));
    let queue = |filter: &str| csv("message-queues", &["--at", "3", "--filter", filter]);
    assert!(queue("cut ..2.5").contains("rank 1,1,2,64,64"), "{}", queue("cut ..2.5"));
    assert!(!queue("cut ..1.2").contains("unknown receiver"), "{}", queue("cut ..1.2"));
    assert!(queue("only where key = u of Message").contains("rank 1,1,1,64,64"));
    // Statistics and text have the received message only.
    let stats = output(tumit().args(["stats", "a.paje", "--csv"]).current_dir(dir.path()));
    let stats = String::from_utf8_lossy(&stats.stdout).into_owned();
    let links: Vec<&str> = stats.lines().filter(|line| line.starts_with("link,")).collect();
    assert!(matches!(links[..], [line] if line.contains(",1,")), "{stats}");
    output(tumit().args(["convert", "a.paje", "-o", "b.paje"]).current_dir(dir.path()));
    let strict = output(tumit().args(["check", "--strict", "b.paje"]).current_dir(dir.path()));
    assert_eq!(strict.status.code(), Some(0), "pj_dump accepts the text: {}", String::from_utf8_lossy(&strict.stdout));
}

#[test]
fn messages_of_picl_that_are_never_received_are_in_the_queue_of_their_receiver() {
    let dir = tempfile::tempdir().unwrap();
    // Node 0 sends two messages to node 1, which receives one, and one to node 7, which has no
    // records.
    let sends: String = [(1, 1), (2, 1), (3, 7)].map(|(at, to)| format!("4 {at} 0 0 {to} 5 64\n")).concat();
    let text = format!("1 0 0 0 0 0 0\n1 0 0 1 0 0 0\n{sends}6 4 0 1 0 5 64\n13 9 0 0\n13 9 0 1\n");
    fs::write(dir.path().join("a.picl"), text).unwrap();
    let args = ["a.picl", "--perspective", "message-queues", "--at", "8", "--export", "q.csv"];
    let (status, _, errors) = call(dir.path(), &args);
    assert_eq!(status, Some(0), "{errors}");
    assert!(errors.contains("message that is sent, but not received"), "{errors}");
    let rows = fs::read_to_string(dir.path().join("q.csv")).unwrap();
    let rows: Vec<&str> = rows.lines().skip(1).collect();
    assert_eq!(rows, ["node 0,0,0,0,0", "node 1,1,2,64,128", "unknown receiver,1,1,64,64"]);
}

#[test]
fn time_options_and_categories_select_the_contents() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    let table = |args: &[&str]| {
        let all = [&["a.paje", "-o", "-", "--format", "csv", "--perspective"], args].concat();
        let (status, printed, error) = call(dir.path(), &all);
        assert_eq!(status, Some(0), "{error}");
        (printed, error)
    };
    let busy = |args: &[&str]| table(args).0.lines().find(|line| line.starts_with("busy,")).unwrap().to_owned();
    assert_eq!(busy(&["utilization-meter", "--at", "1500ms"]), "busy,2,100");
    assert_eq!(busy(&["utilization-meter", "--at", "2.5"]), "busy,1,50");
    assert_eq!(busy(&["utilization-meter", "--mode", "range"]), "busy,1,50");
    assert_eq!(busy(&["utilization-meter", "--at", "1.5", "--category", "idle=work of Act*"]), "busy,0,0");
    let pending = |time: &str| table(&["message-queues", "--at", time]).0.lines().nth(2).unwrap().to_owned();
    assert!(pending("1.5").starts_with("rank 1,1,") && pending("2.5").starts_with("rank 1,0,"), "{}", pending("1.5"));
}

#[test]
fn modes_of_the_diagram_are_drawn() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    for name in ["utilization-gantt", "space-time", "critical-path"] {
        let file = format!("{name}.svg");
        let (status, _, error) = call(dir.path(), &["a.paje", "--perspective", name, "-o", &file]);
        assert_eq!(status, Some(0), "{name}: {error}");
        assert!(fs::read_to_string(dir.path().join(file)).unwrap().contains("rank 1"), "{name}");
    }
}

/// An entity without duration at the last timestamp does not prolong the table of a mode.
#[test]
fn tables_of_modes_end_with_the_trace() {
    let dir = tempfile::tempdir().unwrap();
    let mark = "3 E R Mark \"0 1 0\"\n6 0 r0 0 R \"rank 0\"\n11 0 r0 S work\n17 4 r0 E x\n7 4 R r0\n";
    let text = [HEADER, "0 R 0 Rank\n2 S R Activity\n", mark].concat();
    fs::write(dir.path().join("e.paje"), text).unwrap();
    let args = ["e.paje", "--perspective", "utilization-gantt", "-o", "-", "--format", "csv"];
    let (_, printed, error) = call(dir.path(), &args);
    assert_eq!(printed, "unit,category,start,end,duration\nrank 0,busy,0,4,4\n", "{error}");
}

#[test]
fn the_views_and_their_options_are_listed() {
    let dir = tempfile::tempdir().unwrap();
    let (status, printed, _) = call(dir.path(), &["--perspective", "list"]);
    assert_eq!(status, Some(0));
    for number in 1..=30 {
        let line = format!("G{number} ");
        assert_eq!(printed.lines().filter(|text| text.starts_with(&line)).count(), 1, "{line}\n{printed}");
    }
    // Lines are whole.
    assert!(printed.contains("card files, and Rust types that implement `PerspectiveView`\n"), "{printed}");
    for asked in ["help", "list"] {
        let (status, printed, _) = call(dir.path(), &["--perspective", "kiviat", "--option", asked]);
        assert_eq!(status, Some(0));
        assert!(printed.starts_with("Kiviat diagram: ") && printed.contains("--option order=VALUE"), "{printed}");
    }
    // The error about an unknown option has the same list.
    for view in ["kiviat", "animation", "task-gantt"] {
        let (_, printed, _) = call(dir.path(), &["--perspective", view, "--option", "help"]);
        let names = printed.lines().filter_map(|line| line.strip_prefix("  --option ")?.strip_suffix("=VALUE"));
        let mut expected: Vec<&str> = names.collect();
        let (_, _, error) = call(dir.path(), &["a.paje", "--perspective", view, "-o", "k.svg", "--option", "size=2"]);
        let mut listed: Vec<&str> = error
            .trim()
            .rsplit("its options are ")
            .next()
            .unwrap_or("")
            .lines()
            .next()
            .unwrap_or("")
            .split(", ")
            .collect();
        expected.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, expected, "{error}");
    }
}

#[test]
fn mistakes_are_reported_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    for (args, expected) in [
        (&["--perspective", "kiviat"][..], "add `-o kiviat.svg`"),
        (&["--perspective", "kivat", "-o", "k.svg"], "did you mean `kiviat`?"),
        (&["--perspective", "kiviat", "-o", "k.pdf"], "the format of `k.pdf` is unknown"),
        (&["--perspective", "kiviat", "-o", "k.svg", "--option", "size=2"], "no option `size`"),
        (&["--perspective", "kiviat", "-o", "k.svg", "--option", "order"], "expected NAME=VALUE"),
        (&["--perspective", "kiviat", "-o", "k.svg", "--mode", "range"], "its modes are at"),
        (&["--perspective", "kiviat", "-o", "k.svg", "--category", "lazy=Wait"], "busy, overhead, idle, ignored"),
        (
            &["--perspective", "utilization-count", "-o", "k.svg", "--option", "width=abc"],
            "a time in seconds, or with a unit",
        ),
        (&["--perspective", "utilization-gantt", "-o", "k.svg", "--collectives"], "leave out one of the two options"),
        (&["--perspective", "animation", "-o", "k.svg", "--option", "layout=disc"], "circle, ring, "),
        (&["--perspective", "animation", "-o", "k.svg", "--option", "bins=64,32"], "ascending numbers of bytes"),
        (
            &["--perspective", "kiviat", "-o", "k.svg", "--option", "palette=blue"],
            "standard, traffic-lights, monochrome",
        ),
        // Also an option without an effect on the view must fit the trace.
        (&["--perspective", "animation", "-o", "k.svg", "--option", "topology=mesh2:0x3"], "mesh2:RxC"),
        (&["--perspective", "animation", "-o", "k.svg", "--option", "topology=mesh2:x"], "mesh2:RxC"),
        (&["--perspective", "animation", "-o", "k.svg", "--option", "topology=mesh2:1x1"], "places for 2 units"),
        (&["--perspective", "space-time", "-o", "k.svg", "--option", "topology=mesh2:1x1"], "places for 2 units"),
        (&["--perspective", "animation", "-o", "k.svg", "--option", "tasks=none"], "no state type is called `none`"),
        (&["--perspective", "kiviat", "-o", "k.svg", "--category", "idle=Sleep*"], "no state is called `Sleep*`"),
        (
            &["--perspective", "kiviat", "-o", "k.svg", "--category", "idle=* of Activty"],
            "no state type is called `Activty`, did you mean `Activity`?",
        ),
        (&["--perspective", "task-count", "-o", "k.svg"], "--option tasks=TYPE"),
        (&["--perspective", "color-code", "-o", "k.svg"], "a feature of other views"),
        (&["--at", "1", "-o", "k.svg"], "--perspective <NAME>"),
        (&["-o", "-", "--format", "csv"], "need --perspective"),
    ] {
        let (status, printed, error) = call(dir.path(), &[&["a.paje"], args].concat());
        assert!(status == Some(2) && printed.is_empty() && error.contains(expected), "{args:?}: {status:?} {error}");
    }
    let (status, _, error) = call(dir.path(), &["--perspective", "kiviat", "-o", "k.svg"]);
    assert!(status == Some(2) && error.contains("needs a trace"), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_view_shows_the_units_of_some_containers() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path());
    let table = |units: &str| {
        let option = format!("units={units}");
        let options = ["-o", "-", "--format", "csv", "--perspective", "utilization-summary", "--option", &option];
        call(dir.path(), &[&["a.paje"], &options[..]].concat())
    };
    let (status, printed, error) = table("rank 1");
    assert_eq!(status, Some(0), "{error}");
    let units: Vec<&str> = printed.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(units, ["rank 1"], "{printed}");
    assert_eq!(table("rank 0, rank *").1.lines().count(), 3);
    for (units, text) in [
        ("rank 7", "no container is called `rank 7`; did you mean"),
        ("rank 1 of", "`rank 1 of` is not a value of the option `units`: expected names of containers"),
        ("", "is not a value of the option `units`"),
    ] {
        let (status, _, error) = table(units);
        assert!(status != Some(0) && error.contains(text), "{units}: {error}");
    }
    // The number of units is in the image, and the messages to other units are left out.
    let args = ["a.paje", "--perspective", "utilization-count", "--option", "units=rank 1", "-o", "u.svg"];
    assert_eq!(call(dir.path(), &args).0, Some(0));
    let image = fs::read_to_string(dir.path().join("u.svg")).unwrap();
    assert!(image.contains("1 of 2 units; "), "{image}");
    let args = ["a.paje", "--perspective", "utilization-gantt", "--option", "units=rank 1", "-o", "g.svg"];
    assert_eq!(call(dir.path(), &args).0, Some(0));
    let image = fs::read_to_string(dir.path().join("g.svg")).unwrap();
    assert!(image.contains("rank 1") && !image.contains("rank 0"), "{image}");
    let args = ["a.paje", "--perspective", "communication-matrix", "--option", "units=rank 1", "-o", "m.svg"];
    let (status, _, error) = call(dir.path(), &args);
    assert!(status != Some(0) && error.contains("links between the chosen units"), "{error}");
}
