//! The options of views: orders, colours, times, and notes about values without effect.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tests::programs::{output, tumit};

const HEADER: &str = include_str!("../../../../viewer/tests/header.paje");

/// Four ranks. Rank `n` sends to rank `n ^ 1` and back, and rank 3 to rank 0. Rank 0 is in a send
/// at 1.5 s, and rank 1 in a receive.
fn trace() -> String {
    let mut body = "0 R 0 Rank\n2 S R Activity\n2 K R Task\n4 M 0 R R Message\n".to_owned();
    for rank in 0..4 {
        let peer = rank ^ 1;
        _ = write!(body, "6 0 r{rank} 0 R \"rank {rank}\"\n11 0 r{rank} S work\n");
        _ = writeln!(body, "11 0 r{rank} K \"step {}\"", 10 - rank);
        _ = write!(body, "15 1 0 M r{rank} data k{rank}\n16 2 0 M r{peer} data k{rank}\n");
    }
    body.push_str("15 1 0 M r3 data z\n16 3 0 M r0 data z\n11 1 r0 S MPI_Send\n11 1 r1 S MPI_Recv\n");
    body.push_str("11 2 r0 S work\n11 2 r1 S work\n");
    (0..4).for_each(|rank| body.push_str(&format!("7 4 R r{rank}\n")));
    let mut lines: Vec<&str> = body.lines().collect();
    // Definitions have no times.
    let time = |line: &&str| match line.split(' ').next() {
        Some("0" | "2" | "4") => -1.0,
        _ => line.split(' ').nth(1).unwrap().parse().unwrap(),
    };
    lines.sort_by(|a, b| f64::total_cmp(&time(a), &time(b)));
    format!("{HEADER}{}\n", lines.join("\n"))
}

fn view(folder: &Path, args: &[&str]) -> (String, String) {
    fs::write(folder.join("a.paje"), trace()).unwrap();
    let out = output(tumit().args(["view", "a.paje", "--perspective"]).args(args).current_dir(folder));
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{args:?}: {error}");
    (String::from_utf8_lossy(&out.stdout).into_owned(), error)
}

fn csv(folder: &Path, args: &[&str]) -> Vec<String> {
    view(folder, &[args, &["-o", "-", "--format", "csv"]].concat()).0.lines().map(str::to_owned).collect()
}

fn svg(folder: &Path, args: &[&str]) -> String {
    view(folder, &[args, &["-o", "i.svg"]].concat());
    fs::read_to_string(folder.join("i.svg")).unwrap()
}

#[test]
fn links_of_a_network_have_directions() {
    let dir = tempfile::tempdir().unwrap();
    let pairs = ["rank 0,rank 1,1", "rank 1,rank 0,1", "rank 2,rank 3,1", "rank 3,rank 0,1", "rank 3,rank 2,1"];
    for name in ["communication-matrix", "animation"] {
        assert_eq!(csv(dir.path(), &[name, "--at", "1.5"])[1..], pairs, "{name}");
    }
    let network = |topology: &str| csv(dir.path(), &["network", "--at", "1.5", "--option", topology])[1..].to_vec();
    assert_eq!(network("topology=unit"), pairs);
    // In a hypercube, the message from rank 3 to rank 0 passes rank 2.
    let hypercube = ["rank 0,rank 1,1", "rank 1,rank 0,1", "rank 2,rank 0,1", "rank 2,rank 3,1", "rank 3,rank 2,2"];
    assert_eq!(network("topology=hamming"), hypercube);
    // In Gray order, ranks 3 and 2 have the places 2 and 3: the message from rank 3 to rank 0 has
    // one hop.
    let gray = csv(dir.path(), &["network", "--at", "1.5", "--option", "order=gray"])[1..].to_vec();
    assert!(gray.contains(&"rank 3,rank 0,1".to_owned()), "{gray:?}");
}

#[test]
fn options_change_orders_and_colours() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let tasks = |sort: &str| {
        let option = format!("sort={sort}");
        let rows = csv(dir, &["task-summary", "--option", &option]);
        rows[1..].iter().map(|row| row.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tasks("number")[0], "step 10");
    assert_eq!(tasks("name"), ["step 7", "step 8", "step 9", "step 10"]);
    let image = svg(dir, &["animation", "--at", "1.5", "--option", "color=distance", "--option", "layout=circle"]);
    for text in ["1 hop", "2 hops", "sending", "receiving", "rank 0: sending", "rank 1: receiving"] {
        assert!(image.contains(text), "{text}: {image}");
    }
    let peers = csv(dir, &["statistical-summary", "--option", "unit=rank 0"]);
    assert_eq!(peers[0].split(',').next(), Some("peer"));
    assert_eq!(peers.len(), 3, "{peers:?}");
    let portrait = ["phase-portrait", "--option", "unit=rank 2", "--mode", "moving", "--at", "2"];
    let rows = csv(dir, &portrait);
    assert!(rows[1..].iter().all(|row| row.ends_with(",step 8")), "{rows:?}");
    let lights = svg(dir, &["utilization-summary", "--option", "palette=traffic-lights"]);
    assert_ne!(lights, svg(dir, &["utilization-summary"]));
    assert_eq!(csv(dir, &["trace-records", "--at", "1"])[0].split(',').next(), Some("present"));
}

#[test]
fn options_without_effect_are_not_offered() {
    let dir = tempfile::tempdir().unwrap();
    let offers = |name: &str, option: &str| {
        view(dir.path(), &[name, "--option", "help"]).0.contains(&format!("--option {option}=VALUE"))
    };
    assert!(offers("traffic", "level") && !offers("traffic", "states") && !offers("traffic", "tasks"));
    assert!(offers("kiviat", "states") && !offers("kiviat", "tasks"));
    assert!(offers("task-count", "tasks") && !offers("task-count", "stateless"));
    assert!(offers("phase-portrait", "tasks") && offers("animation", "several"));
}

#[test]
fn unknown_names_and_times_outside_are_reported() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("order.txt"), "rank 2\nrank 9\n").unwrap();
    fs::write(dir.path().join("places.txt"), "rank 2 0.1 0.1\nrank 8 0.5 0.5\nrank 9 0.5 0.6\n").unwrap();
    let note = |args: &[&str]| view(dir.path(), &[args, &["-o", "i.svg", "-o", "i.csv"]].concat()).1;
    for name in ["kiviat", "utilization-gantt"] {
        let text = note(&[name, "--option", "order=order.txt"]);
        assert!(text.contains("names `rank 9`, which is no unit"), "{name}: {text}");
    }
    let text = note(&["animation", "--option", "layout=places.txt"]);
    assert!(text.contains("2 names of no unit, such as `rank 8`"), "{text}");
    assert!(note(&["kiviat", "--at", "5"]).contains("after the trace, which ends at 4"));
    assert!(note(&["kiviat", "--at", "-1"]).contains("before the trace, which begins at 0"));
    assert!(note(&["kiviat", "--at", "3", "--interval", "0..2"]).contains("after the time range, which ends at 2"));
    for name in ["utilization-summary", "concurrency-profile", "task-summary", "task-surface"] {
        assert!(note(&[name, "--at", "1"]).contains("--at has no effect"), "{name}");
    }
    assert!(!note(&["utilization-count", "--at", "1"]).contains("no effect"));
    // The width of a moving time range has a default.
    assert!(note(&["utilization-count", "--mode", "moving", "--at", "2"]).contains("wrote i.csv"));
}
