//! `tumit profile`: calls, times and call trees in all formats.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::programs::{output, succeed, tumit};

/// Two threads of 10 s. `main` calls `work` twice, the second time with a recursive call. The other
/// thread only works.
const CALLS: &str = "\
12 0 t1 F main\n12 1 t1 F work\n13 3 t1 F\n12 4 t1 F work\n12 5 t1 F work\n13 6 t1 F\n13 8 t1 F\n13 10 t1 F\n\
12 0 t2 F work\n13 4 t2 F\n";

fn trace(folder: &Path) -> PathBuf {
    let definitions = "0 T 0 Thread\n2 F T Function\n5 main F main \"0 0 1\"\n5 work F work \"0 1 0\"\n\
                       6 0 t1 0 T first\n6 0 t2 0 T second\n";
    let mut lines: Vec<&str> = CALLS.lines().collect();
    lines.sort_by_key(|line| line.split(' ').nth(1).and_then(|time| time.parse::<u64>().ok()));
    let end = "7 10 T t1\n7 10 T t2\n";
    let text = format!("{}{definitions}{}\n{end}", include_str!("../../../viewer/tests/header.paje"), lines.join("\n"));
    let path = folder.join("calls.paje");
    fs::write(&path, text).expect("the folder is writable");
    path
}

fn profile(options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    succeed(tumit().arg("profile").arg(trace(folder.path())).args(options))
}

#[test]
fn values_have_calls_times_durations_and_imbalance() {
    let csv = profile(&["--csv"]);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(
        rows[0],
        "type,value,calls,total,share,self,self_share,duration_min,duration_mean,duration_median,duration_max,imbalance,\
         most_time_in"
    );
    // `work` takes 6 s in the first thread, and 4 s in the second one. A recursive call of 1 s adds
    // nothing.
    assert!(rows[1] == "Function,work,4,10,0.5,10,0.5,1,2.75,2,4,1.2,first", "{csv}");
    assert_eq!(rows[2], "Function,main,1,10,0.5,4,0.2,10,10,10,10,2,first");
    let text = profile(&[]);
    assert!(text.starts_with("calls, 0 s to 10.00 s\n\nFunction of 2 containers\n"), "{text}");
    // States are nested, so the tree is shown.
    assert!(text.contains("    work\n") && text.contains("top-down"), "{text}");
}

#[test]
fn trees_show_callees_or_callers() {
    let lines = |options: &[&str]| {
        let text = profile(options);
        let (_, tree) = text.split_once("Calls, ").expect("there is a tree");
        tree.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<String>>()
    };
    assert_eq!(
        lines(&["--tree", "top-down", "--min-share", "0"]),
        [
            "71.4 % 10.00 s 4.000 s 1 main",
            "42.9 % 6.000 s 5.000 s 2 work",
            "7.1 % 1.000 s 1.000 s 1 work",
            "28.6 % 4.000 s 4.000 s 1 work"
        ]
    );
    assert_eq!(
        lines(&["--tree", "bottom-up", "--min-share", "10"]),
        [
            "71.4 % 10.00 s 4 work",
            "35.7 % 5.000 s 2 main",
            "28.6 % 4.000 s 1 main",
            "2 lines with less than 10.0 % (--min-share), or more than 50 levels deep, are left out"
        ]
    );
}

#[test]
fn values_are_summed_up_by_pattern() {
    let rows = profile(&["--group", "*", "--csv"]);
    // The time in nested calls of the same group counts once.
    assert!(rows.lines().nth(1).is_some_and(|row| row.starts_with("Function,*,5,14,0.7,14,0.7,")), "{rows}");
}

#[test]
fn a_time_range_cuts_times_but_not_durations() {
    let rows = profile(&["--interval", "2..5", "--csv"]);
    assert!(rows.contains("Function,work,3,4,"), "{rows}");
    assert!(rows.contains("Function,main,1,3,0.5,1,"), "{rows}");
    assert!(rows.lines().nth(1).is_some_and(|row| row.contains(",2,3.333")), "{rows}");
}

#[test]
fn other_tools_get_paths_with_self_times() {
    assert_eq!(
        profile(&["--format", "folded"]),
        "main 4000000000\nmain;work 5000000000\nmain;work;work 1000000000\nwork 4000000000\n"
    );
    let file: Value = serde_json::from_str(&profile(&["--format", "speedscope"])).expect("it is JSON");
    let profile = &file["profiles"][0];
    assert_eq!(profile["endValue"], 14_000_000_000_u64);
    assert_eq!(profile["samples"], serde_json::json!([[0], [0, 1], [0, 1, 1], [1]]));
    assert_eq!(file["shared"]["frames"][1]["name"], "work");
}

#[test]
fn json_has_the_values_and_the_nodes_of_the_tree() {
    let file: Value = serde_json::from_str(&profile(&["--json"])).expect("it is JSON");
    let profile = &file["profiles"][0];
    assert_eq!((&profile["type"], &profile["existence"]), (&"Function".into(), &20_000_000_000_u64.into()));
    let calls = profile["calls"].as_array().expect("it is a list");
    let callers: Vec<_> = calls.iter().map(|call| (call["id"].as_u64(), call["caller"].as_u64())).collect();
    assert_eq!(callers, [(Some(0), None), (Some(1), Some(0)), (Some(2), Some(1)), (Some(3), None)]);
    assert_eq!(calls[1]["self"], 5_000_000_000_u64);
}

#[test]
fn images_are_flame_graphs() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let image = folder.path().join("flame.svg");
    succeed(tumit().arg("profile").arg(trace(folder.path())).arg("-o").arg(&image));
    let text = fs::read_to_string(&image).expect("the image exists");
    assert!(text.contains("work: 6.000 s (42.9 %), self 5.000 s, 2 calls"), "{text}");
    let png = folder.path().join("flame.png");
    succeed(tumit().arg("profile").arg(trace(folder.path())).arg("-o").arg(&png));
    assert!(fs::read(&png).expect("the image exists").starts_with(b"\x89PNG"));
}

#[test]
fn errors_name_the_remedy() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = trace(folder.path());
    let error = |options: &[&str]| {
        let output = output(tumit().arg("profile").arg(&path).args(options));
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let missing = error(&["--type", "Funktion"]);
    assert!(missing.contains("no state type is called `Funktion`; the trace has Function"), "{missing}");
    assert!(error(&["--format", "png"]).contains("-o FILE.png"));
    assert!(error(&["--min-share", "200"]).contains("expected a number from 0 to 100"));
}

#[test]
fn two_traces_are_compared_by_name_and_path() {
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let before = trace(folder.path());
    let after = folder.path().join("after.paje");
    // The first call of `work` takes 3 s instead of 2 s.
    let text = fs::read_to_string(&before).expect("the trace exists").replace("13 3 t1 F", "13 4 t1 F");
    let mut lines: Vec<&str> = text.lines().collect();
    let start = lines.iter().position(|line| line.starts_with("12 4 t1")).expect("the second call begins");
    let end = lines.iter().position(|line| *line == "13 4 t1 F").expect("the first call ends");
    if start < end {
        lines.swap(start, end);
    }
    fs::write(&after, lines.join("\n") + "\n").expect("the folder is writable");
    let compare =
        |options: &[&str]| succeed(tumit().arg("profile").arg(&before).arg("--compare").arg(&after).args(options));
    assert_eq!(
        compare(&["--csv"]),
        "type,value,calls_before,calls_after,total_before,total_after,self_before,self_after\n\
         Function,main,1,1,10,10,4,3\nFunction,work,4,4,10,11,10,11\n"
    );
    assert_eq!(
        compare(&["--format", "folded"]),
        "main 4000000000 3000000000\nmain;work 5000000000 6000000000\nmain;work;work 1000000000 1000000000\n\
         work 4000000000 4000000000\n"
    );
    let report = compare(&[]);
    assert!(report.contains("calls (before) and after (after)"), "{report}");
    assert!(report.contains("+1.000 s") && report.contains("−25.0 %"), "{report}");
    let file: Value = serde_json::from_str(&compare(&["--json"])).expect("it is JSON");
    assert_eq!(file["profiles"][0]["calls"][1]["after"]["self"], 6_000_000_000_u64);
    assert!(compare(&["--format", "svg"]).contains("before: 6.000 s"));
    let bottom_up =
        output(tumit().arg("profile").arg(&before).arg("--compare").arg(&after).args(["--tree", "bottom-up"]));
    assert!(String::from_utf8_lossy(&bottom_up.stderr).contains("omit `--tree bottom-up`"));
}

#[test]
fn phases_are_the_nth_occurrences_in_all_containers() {
    assert_eq!(
        profile(&["--phase", "work", "--csv"]),
        "value,number,from,to,containers,duration_mean,duration_max,max_in,self_mean,is_outlier\n\
         work,1,0.0,4.0,2,3.0,4.0,second,3.0,false\nwork,2,4.0,8.0,1,4.0,4.0,first,3.0,false\n"
    );
    assert!(profile(&["--phase", "w*"]).contains("work 1"));
    let json: Value = serde_json::from_str(&profile(&["--phase", "work", "--json"])).expect("it is JSON");
    assert_eq!(json[1]["duration_max"], 4e9);
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let output = output(tumit().arg("profile").arg(trace(folder.path())).args(["--phase", "step"]));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("no state is called `step` in this time range; the trace has main, work"), "{error}");
}

#[test]
fn a_deep_recursion_gives_short_texts() {
    const DEPTH: usize = 3_000;
    let folder = tempfile::tempdir().expect("there is a temporary folder");
    let path = folder.path().join("deep.paje");
    let mut text = include_str!("../../../viewer/tests/header.paje").to_owned();
    text.push_str("0 T 0 Thread\n2 F T Function\n5 a F a \"0 1 0\"\n5 b F b \"0 0 1\"\n6 0 t 0 T t\n");
    (0..DEPTH).for_each(|time| text.push_str(&format!("12 {time} t F {}\n", ["a", "b"][time % 2])));
    (DEPTH..2 * DEPTH).for_each(|time| text.push_str(&format!("13 {time} t F\n")));
    text.push_str(&format!("7 {} T t\n", 2 * DEPTH));
    fs::write(&path, text).expect("the folder is writable");
    let profile = |options: &[&str]| succeed(tumit().arg("profile").arg(&path).args(options));
    let report = profile(&[]);
    assert!(report.lines().count() < 70, "{report}");
    assert!(report.contains("950 lines with less than 1.0 % (--min-share), or more than 50 levels deep"), "{report}");
    let stacks = profile(&["--format", "folded"]);
    let self_time = |line: &str| line.rsplit_once(' ').map_or(0, |(_, nanos)| nanos.parse::<u64>().expect("a number"));
    assert_eq!(stacks.lines().count(), 1_000);
    // The innermost call has no callee, so all self times are the time in any call.
    assert_eq!(stacks.lines().map(self_time).sum::<u64>(), (2 * DEPTH as u64 - 1) * 1_000_000_000);
    let image = folder.path().join("deep.png");
    succeed(tumit().arg("profile").arg(&path).arg("-o").arg(&image));
}
