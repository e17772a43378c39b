//! The modes of the diagram as files: `tumit view --perspective utilization-gantt`, `space-time`,
//! `task-gantt` and `critical-path`.

use std::fs;
use std::path::Path;

use tests::programs::{output, tumit};

const HEADER: &str = include_str!("../../../../viewer/tests/header.paje");

/// Two nodes with two and three threads. Node 1 begins at 1 s and ends at 3 s of 4 s.
const NODES: &str = "0 N 0 Node
0 T N Thread
2 S T Activity
2 K T Task
4 M 0 T T Message
6 0 n0 0 N \"Node 0\"
6 0 a n0 T a
6 0 b n0 T b
6 1 n1 0 N \"Node 1\"
6 1 c n1 T c
6 1 d n1 T d
6 1 e n1 T e
11 0 a S work
11 0 a K solve
11 0 b S Wait
11 1 c S work
11 1 d S work
11 1 e S Wait
15 1 0 M a data k
11 2 b S work
11 2 d S Wait
16 2 0 M c data k
11 3 a S Wait
7 3 T c
7 3 T d
7 3 T e
7 3 N n1
7 4 T a
7 4 T b
7 4 N n0
";

fn view(folder: &Path, args: &[&str]) -> (String, String) {
    fs::write(folder.join("a.paje"), [HEADER, NODES].concat()).unwrap();
    let out = output(tumit().args(["view", "a.paje"]).args(args).current_dir(folder));
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{args:?}: {error}");
    (String::from_utf8_lossy(&out.stdout).into_owned(), error)
}

fn csv(folder: &Path, name: &str, options: &[&str]) -> Vec<String> {
    let args = [&["--perspective", name, "-o", "-", "--format", "csv"], options].concat();
    view(folder, &args).0.lines().map(str::to_owned).collect()
}

/// The seconds per category in a table with the columns `category` and `duration`, the latter last.
fn seconds(rows: &[String], category: &str) -> f64 {
    let rows = rows.iter().filter(|row| row.split(',').any(|cell| cell == category));
    rows.map(|row| row.rsplit(',').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// The numbers of the legend of an SVG image, such as `busy 50 %`.
fn legend(svg: &str) -> String {
    let texts = svg.split("<text").skip(1).filter_map(|text| text.split_once('>')?.1.split_once("</text>"));
    texts.map(|(text, _)| text).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_gantt_chart_has_the_numbers_of_the_other_views() {
    let dir = tempfile::tempdir().unwrap();
    for options in [&[][..], &["--option", "level=Node"], &["--option", "level=Node", "--option", "several=fractional"]]
    {
        let summary = csv(dir.path(), "utilization-summary", options);
        let busy: Vec<f64> =
            summary[1..].iter().map(|row| row.split(',').nth(4).unwrap().parse::<f64>().unwrap()).collect();
        let mean = busy.iter().sum::<f64>() / busy.len() as f64;
        let args = [&["--perspective", "utilization-gantt", "-o", "g.svg"], options].concat();
        view(dir.path(), &args);
        let svg = fs::read_to_string(dir.path().join("g.svg")).unwrap();
        let expected = format!("busy {mean:.1} %");
        assert!(legend(&svg).contains(&expected), "{options:?}: {expected} is not in {}", legend(&svg));
        let gantt = csv(dir.path(), "utilization-gantt", options);
        if !options.contains(&"several=fractional") {
            let time = 100.0 * seconds(&gantt, "busy") / (4.0 * busy.len() as f64);
            assert!((time - mean).abs() < 1e-9, "{options:?}: {time} is not {mean}");
        }
    }
    // The time before the begin and after the end of a unit is idle.
    let rows = csv(dir.path(), "utilization-gantt", &["--option", "level=Node"]);
    let of_node: Vec<&String> = rows.iter().filter(|row| row.starts_with("Node 1,")).collect();
    assert_eq!(of_node, ["Node 1,idle,0,1,1", "Node 1,busy,1,3,2", "Node 1,idle,3,4,1"]);
    let part = csv(dir.path(), "utilization-gantt", &["--option", "level=Node", "--option", "several=fractional"]);
    assert_eq!(part[..2], ["unit,part,category,start,end,duration", "Node 0,a,busy,0,3,3"]);
}

#[test]
fn modes_have_tables_and_orders() {
    let dir = tempfile::tempdir().unwrap();
    let rows = csv(dir.path(), "space-time", &["--interval", "1..4"]);
    assert_eq!(rows[0], "unit,activity,receiver,\"size, bytes\",start,end,duration");
    assert!(rows.contains(&"a,message,c,,1,2,1".to_owned()) && rows.contains(&"a,busy,,,1,3,2".to_owned()), "{rows:?}");
    assert_eq!(csv(dir.path(), "task-gantt", &[])[..2], ["unit,task,start,end,duration", "a,solve,0,4,4"]);
    let path = csv(dir.path(), "critical-path", &[]);
    assert_eq!(path[0], "by,name,time,\"time, %\"");
    for by in ["state,work,", "Thread,b,", "category,busy,"] {
        assert!(path.iter().any(|row| row.starts_with(by)), "{by}: {path:?}");
    }
    let units = |order: &str| {
        let option = format!("order={order}");
        let rows = csv(dir.path(), "utilization-gantt", &["--option", &option]);
        let mut units: Vec<String> = rows[1..].iter().map(|row| row.split(',').next().unwrap().to_owned()).collect();
        units.dedup();
        units.concat()
    };
    assert_eq!((units("natural"), units("gray")), ("abcde".to_owned(), "abdce".to_owned()));
    // Rows move among their siblings.
    view(dir.path(), &["--perspective", "utilization-gantt", "--option", "order=gray", "-o", "o.svg"]);
    let svg = legend(&fs::read_to_string(dir.path().join("o.svg")).unwrap());
    assert!(svg.contains("Node 1 d c e"), "{svg}");
}

#[test]
fn modes_have_palettes_and_moving_times() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["utilization-gantt", "space-time", "task-gantt", "critical-path"] {
        let image = |options: &[&str]| {
            let args = [&["--perspective", name, "-o", "m.svg"], options].concat();
            view(dir.path(), &args);
            fs::read_to_string(dir.path().join("m.svg")).unwrap()
        };
        let grey = image(&["--monochrome"]);
        assert_ne!(grey, image(&[]), "{name}");
        assert_eq!(grey, image(&["--option", "palette=monochrome"]), "{name}");
        let moving = image(&["--mode", "moving", "--at", "2", "--option", "width=500ms"]);
        assert!(legend(&moving).contains("1.5"), "{name}: {}", legend(&moving));
        let (_, note) = view(dir.path(), &["--perspective", name, "-o", "m.svg", "--at", "2"]);
        assert!(note.contains("--at has no effect"), "{name}: {note}");
    }
}
