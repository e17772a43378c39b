//! `tumit diagnose`: the report of an execution with known costs.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tests::programs::{output, succeed, tumit};
use tests::report_numbers;

const HEADER: &str = include_str!("../../../viewer/tests/header.paje");

/// Two nodes with a rank each. Rank 0 works for 8 of 10 s and then sends; rank 1 works for 1 s and
/// waits in a receive from 1 s to 9 s. The message is sent at 8 s.
const BODY: &str = "0 N 0 Node
0 R N Rank
2 S R Activity
4 M 0 R R Message
6 0 n0 0 N \"Node 0\"
6 0 n1 0 N \"Node 1\"
6 0 r0 n0 R \"rank 0\"
6 0 r1 n1 R \"rank 1\"
11 0 r0 S work
11 0 r1 S work
11 1 r1 S MPI_Recv
11 8 r0 S MPI_Send
15 8 0 M r0 data k
16 9 0 M r1 data k
11 9 r0 S MPI_Finalize
11 9 r1 S work
7 10 R r0
7 10 R r1
7 10 N n0
7 10 N n1
";

fn trace(folder: &Path, body: &str) {
    fs::write(folder.join("a.paje"), [HEADER, body].concat()).unwrap();
}

fn report(folder: &Path, options: &[&str]) -> String {
    succeed(tumit().args(["diagnose", "a.paje"]).args(options).current_dir(folder))
}

#[test]
fn the_report_names_cost_cause_and_command() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    let text = report(dir.path(), &[]);
    for expected in [
        "a, 0 s to 10.00 s, 2 × Rank",
        "Parallel efficiency            50.0 %",
        "Load balance                 62.5 %",
        "Communication efficiency     80.0 %",
        "Node: Node 0 is 60.0 % above the mean (3.000 s more busy time); Node 1 is least busy",
        "35.0 % late sender, in `MPI_Recv`: 7.000 s in 1 wait",
        "caused by rank 0 (100.0 % of it), mostly in `work`",
        "Critical path: 10.00 s, of which 1.000 s in messages",
        "by category: busy 90.0 %",
        "> tumit diagnose a.paje --section critical-path --format csv",
        "drawing: tumit view a.paje --perspective critical-path -o path.svg",
        "guessed from their names",
    ] {
        assert!(text.contains(expected), "`{expected}` is missing in:\n{text}");
    }
}

/// Each command prints the numbers of its section, with the options of the report.
#[test]
fn the_commands_of_the_report_print_its_numbers() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    fs::write(dir.path().join("b.paje"), [HEADER, COLLECTIVES].concat()).unwrap();
    let filters = r#"{ "format": "tumit-view", "version": 1, "filters": ["hide value MPI_Finalize"] }"#;
    fs::write(dir.path().join("a filter.tumit-view"), filters).unwrap();
    for (trace, options) in [
        ("a.paje", &[][..]),
        ("b.paje", &[]),
        ("a.paje", &["--interval", "0.5..9.5"]),
        ("a.paje", &["--interval", "-1s..8s", "--unit", "s"]),
        ("a.paje", &["--option", "level=Node", "--option", "several=fractional"]),
        ("a.paje", &["--category", "busy=MPI_Re*", "--category", "idle=MPI_S* of Activity"]),
        ("a.paje", &["--filter", "hide container rank 1", "--what-if", "wor*=12.5"]),
        ("a.paje", &["--filters", "a filter.tumit-view", "--what-if", "MPI_Send=50"]),
        ("a.paje", &["--phase", "MPI*", "--option", "tasks=Activity"]),
        ("b.paje", &["--option", "stateless=busy"]),
    ] {
        let report = succeed(tumit().args(["diagnose", trace]).args(options).current_dir(dir.path()));
        let [commands, numbers] = report_numbers::check(dir.path(), &report);
        assert!(commands >= 4 && numbers >= 8, "{options:?}: {commands} commands, {numbers} numbers:\n{report}");
    }
}

#[test]
fn a_section_is_printed_in_each_format() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    let csv = report(dir.path(), &["--section", "efficiency", "--format", "csv"]);
    assert!(csv.starts_with("factor,\"efficiency, %\"\nparallel efficiency,50\nload balance,62.5\n"), "{csv}");
    let text = report(dir.path(), &["--section", "waits"]);
    assert!(text.contains("late sender") && !text.contains("Efficiency"), "{text}");
    let json: Value = serde_json::from_str(&report(dir.path(), &["--section", "waits", "--format", "json"])).unwrap();
    assert_eq!(json["wait_nanos"], 7_000_000_000_u64);
    assert!(json.get("efficiency").is_none(), "{json}");
}

/// A phase has the same efficiency and waits as its time range.
#[test]
fn phases_have_all_factors_and_their_waits() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    let csv = report(
        dir.path(),
        &["--phase", "work", "--option", "tasks=Activity", "--section", "phases", "--format", "csv"],
    );
    let expected = "phase,\"from, s\",\"to, s\",\"parallel efficiency, %\",\"load balance, %\",\
                    \"communication efficiency, %\",\"serialisation, %\",\"transfer, %\",\"waits, s\"\n\
                    work 1,0,8,56.25,56.25,100,100,100,7\n\
                    work 2,9,10,50,50,100,100,100,0\n";
    assert_eq!(csv, expected);
    let text = report(dir.path(), &["--phase", "work", "--option", "tasks=Activity", "--section", "phases"]);
    assert!(text.contains("Serialisation  Transfer    Waits\n"), "{text}");
    assert!(text.lines().any(|line| line.contains("work 1 ") && line.ends_with("7.000 s")), "{text}");
}

/// The message of a `PICL` trace takes no time within the resolution of its clock, and rank 1 waits
/// for it.
#[test]
fn the_path_follows_a_message_without_latency() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "1 0 0 0 4 4 0\n1 0 0 1 4 4 0\n4 0 3000 0 1 1 8\n7 0 0 1 1\n8 0 3000 1 0 1 8\n13 0 3001 0\n13 0 4000 1\n";
    fs::write(dir.path().join("tie.picl"), text).unwrap();
    let options = ["diagnose", "tie.picl", "--section", "critical-path", "--format", "json"];
    let json: Value = serde_json::from_str(&succeed(tumit().args(options).current_dir(dir.path()))).unwrap();
    assert_eq!((&json["path_nanos"], &json["path_transit"]), (&4_000_000.into(), &0.into()), "{json}");
    let shares = |name: &str| -> Vec<i64> {
        json[name].as_array().unwrap().iter().map(|share| share["nanos"].as_i64().unwrap()).collect()
    };
    assert_eq!((shares("path_units"), shares("path_categories")), (vec![3_000_000, 1_000_000], vec![4_000_000]));
}

/// The path is shorter than the time range if all units are idle at the end.
#[test]
fn the_report_explains_the_ends_of_the_path() {
    let dir = tempfile::tempdir().unwrap();
    let body = "0 R 0 Rank\n2 S R Activity\n6 1 r0 0 R \"rank 0\"\n11 1 r0 S compute\n11 3 r0 S finished\n\
                7 4 R r0\n";
    trace(dir.path(), body);
    let text = report(dir.path(), &["--section", "critical-path"]);
    assert!(text.contains("\nCritical path: 2.000 s") || text.starts_with("Critical path: 2.000 s"), "{text}");
    assert!(text.contains("It ends before the time range: then, all units are idle."), "{text}");
    let csv = report(dir.path(), &["--section", "waits", "--format", "csv"]);
    assert!(csv.ends_with("\nall,,0,0,0,,,,,,,,,,,\n"), "{csv}");
}

/// A sender waits from 1 to 3 s for its receiver.
const LATE_RECEIVER: &str = "0 R 0 Rank
2 S R Activity
4 M 0 R R Message
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
11 0 r0 S compute
11 0 r1 S compute
11 1 r0 S MPI_Ssend
15 1 0 M r0 data k
11 3 r1 S MPI_Recv
16 3.1 0 M r1 data k
11 3.1 r0 S compute
11 3.1 r1 S compute
7 4 R r0
7 4 R r1
";

#[test]
fn the_critical_path_goes_through_a_late_receiver() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), LATE_RECEIVER);
    let text = report(dir.path(), &["--what-if", "compute=10"]);
    for expected in [
        "late receiver, in `MPI_Ssend`: 2.000 s in 1 wait",
        "If `compute` took 10 % less time: the path ends at most 390.0 ms earlier; `compute` takes 3.900 s of it",
        "by unit: rank 1 75.0 %, rank 0 25.0 %",
    ] {
        assert!(text.contains(expected), "`{expected}` is missing in:\n{text}");
    }
}

/// Rank 0 holds a mutex until 2 s, for which rank 1 waits. Later, a clock is synchronised.
const LOCK: &str = "0 R 0 Rank
2 S R Activity
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
11 0 r0 S \"holds mutex\"
11 0 r1 S \"wait for mutex\"
11 2 r0 S compute
11 2 r1 S compute
11 3 r0 S \"clock synchronisation\"
11 3 r1 S Blocked
11 3.5 r0 S compute
7 4 R r0
7 4 R r1
";

/// A thread waits for a mutex. The state of the mutex names its owner.
const RELATED_LOCK: &str = "%EventDef PajePushState 41
% Time date
% Container string
% Type string
% Value string
% WaitsForContainer string
%EndEventDef
%EventDef PajeSetState 42
% Time date
% Container string
% Type string
% Value string
% OwnedByContainer string
%EndEventDef
0 R 0 Rank
0 X 0 Mutex
2 S R Activity
2 O X Ownership
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
6 0 x 0 X \"the mutex\"
11 0 r0 S compute
11 0 r1 S compute
42 0.5 x O Owned r1
41 1 r0 S Stalled x
13 3 r0 S
7 4 R r0
7 4 R r1
7 4 X x
";

#[test]
fn a_wait_for_a_lock_names_the_holder() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), LOCK);
    let text = report(dir.path(), &[]);
    let expected = "wait for a lock, in `wait for mutex`: 2.000 s in 1 wait\n    caused by rank 0 (100.0 % of it)";
    assert!(text.contains(expected), "{text}");
    for state in ["`clock synchronisation`", "`Blocked`", "`holds mutex`: "] {
        assert!(!text.contains(state), "{state} is no wait for a lock:\n{text}");
    }
    trace(dir.path(), RELATED_LOCK);
    let text = report(dir.path(), &[]);
    let expected = "wait for a lock, in `Stalled`: 2.000 s in 1 wait\n    caused by rank 1 (100.0 % of it)";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn work_outside_of_states_has_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let body = LATE_RECEIVER.replace("11 0 r0 S compute\n11 0 r1 S compute\n", "").replace("S compute", "S MPI_Recv");
    trace(dir.path(), &body);
    let text = report(dir.path(), &[]);
    assert!(text.contains("No unit is ever busy.") && text.contains("`--option stateless=busy`"), "{text}");
    let text = report(dir.path(), &["--option", "stateless=busy"]);
    assert!(text.contains("Parallel efficiency            50.0 %"), "{text}");
}

/// In each report, serialisation times transfer is the communication efficiency.
#[test]
fn the_factors_of_the_efficiency_multiply() {
    let dir = tempfile::tempdir().unwrap();
    for body in [BODY, COLLECTIVES, LATE_RECEIVER, LOCK] {
        trace(dir.path(), body);
        for options in [&[][..], &["--option", "several=fractional"], &["--interval", "0.7..3.3"]] {
            let json: Value = serde_json::from_str(&report(dir.path(), &[options, &["--json"]].concat())).unwrap();
            let [communication, serialisation, transfer, parallel, balance] =
                ["communication", "serialisation", "transfer", "parallel", "load_balance"]
                    .map(|name| json["efficiency"][name].as_f64().unwrap());
            assert!((serialisation * transfer - communication).abs() < 1e-12, "{json}");
            assert!((balance * communication - parallel).abs() < 1e-12, "{json}");
            assert!(serialisation <= 1.0 && transfer <= 1.0, "{json}");
        }
    }
}

#[test]
fn a_category_and_a_time_range_change_the_numbers() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    let busy = report(dir.path(), &["--category", "busy=MPI_Recv"]);
    assert!(busy.contains("Waits: none"), "{busy}");
    let balanced: Value =
        serde_json::from_str(&report(dir.path(), &["--interval", "0..1", "--json"])).expect("valid JSON");
    assert_eq!((&balanced["efficiency"]["parallel"], &balanced["efficiency"]["imbalance"]), (&1.0.into(), &0.0.into()));
    assert_eq!(balanced["imbalances"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_gain_is_at_most_the_part_of_the_critical_path() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    let text = report(dir.path(), &["--what-if", "wor*=50", "--what-if", "MPI_*=25%"]);
    // The path is 8 s of work, a message of 1 s, and 1 s of work.
    let expected = "If `wor*` took 50 % less time: the path ends at most 4.500 s earlier; `wor*` takes 9.000 s of it";
    assert!(text.contains(expected), "{text}");
    // A shorter send or receive may shorten the message, too.
    let expected = "If `MPI_*` took 25 % less time: the path ends at most 250.0 ms earlier; `MPI_*` takes 0 ns of it";
    assert!(text.contains(expected), "{text}");
    let json: Value = serde_json::from_str(&report(dir.path(), &["--what-if", "work=10", "--json"])).unwrap();
    assert_eq!(json["what_ifs"][0]["gain"], 900_000_000);
}

/// The report of two processes with two workers each, which are busy for 5 s or 9 s until `end`.
fn report_of_workers(end: u32) -> String {
    let thread = |process: u32, name: &str, busy: u32| {
        let alias = format!("{process}{}", name.replace(' ', ""));
        format!(
            "6 0 {alias} p{process} T \"{name}\"\n11 0 {alias} S work\n11 {busy} {alias} S wait\n7 {end} T {alias}\n"
        )
    };
    let mut events = vec!["0 P 0 Process".to_owned(), "0 T P Thread".to_owned(), "2 S T Activity".to_owned()];
    for process in 0..2 {
        events.push(format!("6 0 p{process} 0 P \"rank {process}\""));
        let ends = [("main", 1), ("worker 1", 5), ("worker 2", 5 + 4 * process)];
        events.extend(ends.map(|(name, end)| thread(process, name, end).trim_end().to_owned()));
    }
    let mut lines: Vec<String> = events.iter().flat_map(|event| event.lines().map(str::to_owned)).collect();
    let time = |line: &String| match line.split(' ').next() {
        Some("6" | "7" | "11") => line.split(' ').nth(1).and_then(|time| time.parse::<u32>().ok()).unwrap_or(0) + 1,
        _ => 0,
    };
    lines.sort_by_key(time);
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), &(lines.join("\n") + "\n"));
    report(dir.path(), &[])
}

#[test]
fn threads_of_one_purpose_are_compared_within_a_process() {
    // Of rank 1, the workers are busy for 5 s and 9 s: the mean is 7 s.
    let text = report_of_workers(10);
    let expected =
        "Thread in rank 1: worker 2 is 28.6 % above the mean (2.000 s more busy time); worker 1 is least busy";
    assert!(text.contains(expected), "{text}");
    // Of a long program, these 2 s are less than 5 %.
    let text = report_of_workers(100);
    assert!(!text.contains("Thread in rank"), "{text}");
}

#[test]
fn mistakes_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), BODY);
    for (options, expected) in [
        (&["--category", "lazy=x"][..], "the categories are busy, overhead, idle, ignored"),
        (&["--category", "idle"], "expected CATEGORY=NAME"),
        (&["--option", "level=Core"], "no container type is called `Core`; the trace has Node, Rank"),
        (&["--option", "size=3"], "has no option `size`"),
        (&["--option", "palette=monochrome"], "its options are level, units, states, tasks, several, stateless\n"),
        (&["--option", "tasks=none"], "no state type is called `none`; the trace has Activity"),
        (&["--category", "idle=Nonsense"], "no state is called `Nonsense`; the trace has work, MPI_Recv"),
        (&["--phase", "step*"], "the view needs states of tasks"),
        (&["--what-if", "work"], "expected NAME=PERCENT"),
        (&["--what-if", "work=120"], "120 % is not between 0 and 100 %"),
        (&["--format", "csv"], "add `--section NAME`; the sections are overview, efficiency,"),
        (&["--section", "phases"], "add `--phase 'step*'`"),
        (&["--section", "what-if"], "add `--what-if 'MPI_*=50'`"),
        (&["--section", "wait"], "possible values: overview"),
        (&["--what-if", "sleep=10"], "no state is called `sleep`; the trace has work"),
    ] {
        let out = output(tumit().args(["diagnose", "a.paje"]).args(options).current_dir(dir.path()));
        let error = String::from_utf8(out.stderr).unwrap();
        assert!(out.status.code() == Some(2) && error.contains(expected), "{options:?}: {error}");
    }
    let tasks = BODY.replace("11 9 r1 S work\n", "2 T R Task\n11 9 r1 S work\n11 9 r1 T one\n");
    trace(dir.path(), &tasks);
    let out = output(tumit().args(["diagnose", "a.paje", "--phase", "work"]).current_dir(dir.path()));
    let error = String::from_utf8(out.stderr).unwrap();
    let expected = "choose its state type by `--option tasks=Activity`; by default, the trace has one";
    assert!(error.contains(expected), "{error}");
}

/// Three ranks: a broadcast with a late root, and a barrier of two of them.
const COLLECTIVES: &str = "%EventDef PajePushState 40
% Time date
% Container string
% Type string
% Value string
% operation int
% is_root int
% collective string
% communicator string
% bytes int
%EndEventDef
0 R 0 Rank
2 S R Activity
6 0 r0 0 R \"rank 0\"
6 0 r1 0 R \"rank 1\"
6 0 r2 0 R \"rank 2\"
11 0 r0 S work
11 0 r1 S work
11 0 r2 S work
40 1 r0 S MPI_Bcast 0 0 one-to-all world 8
40 4 r1 S MPI_Bcast 0 1 one-to-all world 8
13 5 r0 S
13 5 r1 S
40 6 r2 S MPI_Bcast 0 0 one-to-all world 8
13 6.5 r2 S
40 7 r0 S MPI_Barrier 1 0 barrier pair 0
40 9 r2 S MPI_Barrier 1 0 barrier pair 0
13 9 r0 S
13 9.5 r2 S
7 10 R r0
7 10 R r1
7 10 R r2
";

#[test]
fn collective_operations_are_counted_with_their_waits() {
    let dir = tempfile::tempdir().unwrap();
    trace(dir.path(), COLLECTIVES);
    let text = report(dir.path(), &[]);
    let row = |state: &str| {
        let row = text.lines().find(|line| line.trim_start().starts_with(state) && line.contains("rank"));
        row.unwrap_or_else(|| panic!("{text}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(text.contains("Collective operations") && !text.contains("Guessed"), "{text}");
    assert_eq!(row("MPI_Bcast"), "MPI_Bcast one-to-all world 1 1.000 s 3.000 s rank 1 (100.0 %)");
    assert_eq!(row("MPI_Barrier"), "MPI_Barrier barrier pair 1 1.000 s 2.000 s rank 2 (100.0 %)");
    let json: Value = serde_json::from_str(&report(dir.path(), &["--json"])).expect("valid JSON");
    let bcast = &json["collectives"][0];
    assert_eq!((&bcast["state"], &bcast["kind"]), (&"MPI_Bcast".into(), &"one-to-all".into()));
    assert_eq!((&bcast["wait_nanos"], &bcast["bytes"]), (&3_000_000_000u64.into(), &24.into()));
    // The matrix shows the data of the broadcast.
    let matrix = ["view", "a.paje", "--perspective", "communication-matrix", "--option", "collectives=only"];
    let out = dir.path().join("matrix.csv");
    succeed(tumit().args(matrix).arg("-o").arg(&out).current_dir(dir.path()));
    let rows = fs::read_to_string(out).unwrap();
    assert!(rows.contains("rank 1,rank 0,1,8") && rows.contains("rank 1,rank 2,1,8"), "{rows}");
}

#[test]
fn guessed_operations_are_marked() {
    let dir = tempfile::tempdir().unwrap();
    let trace_text: String = COLLECTIVES
        .lines()
        .filter(|line| {
            !line.contains("MPI_Bcast")
                && !line.starts_with('%')
                && !line.starts_with("13 5 ")
                && !line.starts_with("13 6.5")
        })
        .map(|line| match line.strip_prefix("40 ") {
            Some(rest) => format!("12 {}\n", rest.split_whitespace().take(4).collect::<Vec<_>>().join(" ")),
            None => format!("{line}\n"),
        })
        .collect();
    trace(dir.path(), &trace_text);
    let text = report(dir.path(), &[]);
    assert!(text.contains("Guessed from the names and the order of states: MPI_Barrier."), "{text}");
}
