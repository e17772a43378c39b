//! Timestamps are equal in all commands. Also: the time of day, several launches in one folder, and
//! permissions of files that are derived from private runs.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tests::programs::{output, succeed, tumit};
use tracer_format::entries::ClockAnchor;
use tracer_format::tags::{append_tag, tag};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace pair;
level COM {
    event work { rank_: u32, n: u32 }
    event send { rank_: u32, n: u32, key: u32 }
    event receive { rank_: u32, n: u32, key: u32 }
}
paje {
    container program "Program" {
        container process[rank_: u32] "Rank {rank_}" { event done "Done" }
        link message "Message" from process to process
    }
}
rule work -> mark done = "work" on process[rank_] with { n };
rule send -> start message key (key) from process[rank_] -> mark done = "send" on process[rank_] with { n };
rule receive -> end message key (key) to process[rank_] -> mark done = "receive" on process[rank_] with { n };
"#;

const STEPS: u32 = 3000;

/// Two processes on one clock. The second receives each message of the first up to 40 µs before it
/// was sent, and several records of a stream have the same timestamp.
fn write_run(folder: &Path) {
    let (spec, diagnostics) = tumit::compile_text("pair.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    for rank in 0..2u32 {
        let mut file = SyntheticFile::new(
            &SyntheticProcess { domain: "one".to_owned(), ..SyntheticProcess::rank(rank.into()) },
            &schema,
        );
        file.thread(0, 10 + u64::from(rank), "main");
        for block in 0..STEPS / 100 {
            let mut records = SyntheticRecords::default();
            for step in block * 100..(block + 1) * 100 {
                let early = if rank == 1 { u64::from(step * 7919 % 40_000) } else { 0 };
                let at = 1_000_000 + u64::from(step) * 50_000 - early;
                let n = (rank * STEPS + step) * 3;
                let body = |n: u32| [rank.to_le_bytes(), n.to_le_bytes()].concat();
                records.record(0, at, &body(n));
                let message = [body(n + 1), step.to_le_bytes().to_vec()].concat();
                records.record(if rank == 0 { 1 } else { 2 }, at, &message);
                records.record(0, at, &body(n + 2));
            }
            file.records(0, block.into(), &records);
        }
        file.end();
        file.save(folder, &format!("{rank}.tmt"));
    }
}

fn objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
}

/// Timestamps in nanoseconds, by record number.
type TimestampTable = BTreeMap<u64, i64>;

fn timestamps_by_dump(run: &Path, args: &[&str]) -> TimestampTable {
    let text = succeed(tumit().arg("dump").arg(run).arg("--json").args(args));
    let dates = |record: Value| (record["fields"]["n"].as_u64().unwrap(), record["time_ns"].as_i64().unwrap());
    objects(&text).map(dates).collect()
}

fn timestamps_by_convert(run: &Path, args: &[&str]) -> TimestampTable {
    let text = output(tumit().arg("convert").arg(run).args(["-o", "-", "--format", "json"]).args(args)).stdout;
    let events = text.split(|byte| *byte == b'\n').map(|line| String::from_utf8(line.to_vec()).unwrap());
    let dates = |line: String| {
        let number = |key: &str| {
            let (_, rest) = line.split_once(&format!("\"{key}\":")).unwrap();
            rest.split([',', '}']).next().unwrap().replace('.', "").parse::<i64>().unwrap()
        };
        (u64::try_from(number("n")).unwrap(), number("time"))
    };
    events.filter(|line| line.contains("\"kind\":\"Event\"")).map(dates).collect()
}

#[test]
fn a_record_has_the_same_timestamp_in_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    write_run(&run);
    let mut all = Vec::new();
    for args in [&[][..], &["--clock", "none"], &["--causal", "off"], &["--clock", "none", "--causal", "off"]] {
        let (by_convert, by_dump) = (timestamps_by_convert(&run, args), timestamps_by_dump(&run, args));
        assert_eq!(by_convert.len(), STEPS as usize * 6);
        let differing = by_convert.iter().zip(&by_dump).filter(|(a, b)| a != b).count();
        assert_eq!((by_convert.len(), differing), (by_dump.len(), 0), "{args:?}");
        all.push(by_convert);
    }
    let moved_records: Vec<(&u64, &i64)> = all[1].iter().filter(|(n, date)| all[3][n] != **date).collect();
    assert!(moved_records.len() > 1000, "links put in order move dates, of {} records", moved_records.len());

    // Time ranges that begin and end at moved timestamps.
    for record in [moved_records[3], moved_records[moved_records.len() / 2], moved_records[moved_records.len() - 5]] {
        let time = format!("{0}ns..{1}ns", record.1, record.1 + 700_000);
        let expected: Vec<u64> = all[1]
            .iter()
            .filter(|(_, date)| (*record.1..=record.1 + 700_000).contains(*date))
            .map(|(n, _)| *n)
            .collect();
        let args = ["--clock", "none", "--interval", &time];
        let numbers: Vec<u64> = timestamps_by_dump(&run, &args).into_keys().collect();
        assert_eq!(numbers, expected, "{time}");
        let part = folder.path().join(format!("part{}.tmt", record.0));
        succeed(tumit().arg("cut").arg(&run).arg("-o").arg(&part).args(args));
        let records: Vec<u64> = timestamps_by_dump(&part, &["--clock", "none"]).into_keys().collect();
        assert_eq!(records, expected, "cut {time}");
        assert!(expected.contains(record.0));
    }
    let off = ["--clock", "none", "--causal", "off", "--interval", "10ms..20ms"];
    let expected = timestamps_by_dump(&run, &off);
    let part = folder.path().join("off.tmt");
    succeed(tumit().arg("cut").arg(&run).arg("-o").arg(&part).args(off));
    assert!(timestamps_by_dump(&part, &off[..4]).into_keys().eq(expected.into_keys()));
}

/// 2025-11-25T13:18:31.5Z
const NOON: u64 = 1_764_076_711_500_000_000;

/// A process of a launch. It records three events, one per millisecond, `seconds` after [`NOON`].
fn write_launch(folder: &Path, launch: &str, pid: u64, seconds: u64) {
    let (spec, diagnostics) = tumit::compile_text("pair.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let about = SyntheticProcess { domain: "one".to_owned(), ..SyntheticProcess::new(pid) };
    let mut file = SyntheticFile::with_tags(&about, &schema, |tags| {
        if !launch.is_empty() {
            append_tag(tags, tag::LAUNCH, launch.as_bytes());
        }
    });
    file.thread(0, pid, "main");
    let start = (1 + seconds) * 1_000_000_000;
    let anchor =
        ClockAnchor { ticks: start, monotonic_nanos: start, real_nanos: NOON + seconds * 1_000_000_000, bracket: 0 };
    file.anchor(anchor);
    let mut records = SyntheticRecords::default();
    for n in 0..3u32 {
        let body = [0u32.to_le_bytes(), n.to_le_bytes()].concat();
        records.record(0, start + u64::from(n) * 1_000_000, &body);
    }
    file.records(0, 0, &records);
    file.end();
    file.save(folder, &format!("{pid}.tmt"));
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A run of two launches: the first one has one process, the second one has two.
fn two_launches(folder: &Path) -> PathBuf {
    let run = folder.join("run.tmt");
    write_launch(&run, "second", 1, 60);
    write_launch(&run, "first", 2, 0);
    write_launch(&run, "second", 3, 60);
    run
}

#[test]
fn the_latest_launch_is_read_unless_another_is_selected() {
    let folder = tempfile::tempdir().unwrap();
    let run = two_launches(folder.path());
    let info = |args: &[&str]| -> Value {
        serde_json::from_str(&succeed(tumit().arg("info").arg(&run).arg("--json").args(args))).unwrap()
    };
    let all = info(&[]);
    let launches = all["launches"].as_array().unwrap();
    let processes: Vec<u64> = launches.iter().map(|launch| launch["processes"].as_u64().unwrap()).collect();
    assert_eq!((processes, all["records"].as_u64()), (vec![1, 2], Some(6)), "{all}");
    assert_eq!(launches[0]["start"], "2025-11-25T13:18:31.500000000Z");
    assert_eq!(all["start"], "2025-11-25T13:19:31.500000000Z");
    assert_eq!((&launches[0]["read"], &launches[1]["read"]), (&Value::from(false), &Value::from(true)));
    let launch = "launch 2 of 2 (began 2025-11-25T13:19:31.500000000Z), the latest, is read";
    for (args, records, message) in [
        (&[][..], 6, launch),
        (&["--launch", "1"], 3, "launch 1 of 2 (began"),
        (&["--launch", "all"], 9, "all 2 launches of the run are read as one"),
    ] {
        assert_eq!(info(args)["records"], records, "{args:?}");
        for command in
            [&["dump"][..], &["convert", "-o", "-"], &["convert", "-o", "-", "--format", "csv"], &["stats"], &["sync"]]
        {
            let out = output(tumit().arg(command[0]).arg(&run).args(&command[1..]).args(args));
            assert!(out.status.success() && stderr(&out).contains(message), "{command:?} {args:?}: {}", stderr(&out));
        }
        let dumped = succeed(tumit().arg("dump").arg(&run).args(args));
        assert_eq!(dumped.lines().count(), records, "{dumped}");
    }
    let wrong = output(tumit().arg("dump").arg(&run).args(["--launch", "3"]));
    assert!(
        wrong.status.code() == Some(2) && stderr(&wrong).contains("has 2 launches but no launch 3"),
        "{}",
        stderr(&wrong)
    );
}

#[test]
fn an_index_contains_the_selected_launch() {
    let folder = tempfile::tempdir().unwrap();
    let run = two_launches(folder.path());
    let index = folder.path().join("run.tmtx");
    let indexed = |launch: &str| {
        let mut command = tumit();
        command.arg("stats").arg(&run).args(["--csv", "--launch", launch, "--index"]).arg(&index);
        succeed(&mut command)
    };
    let counts = |text: &str| text.lines().nth(1).map(|row| row.split(',').nth(5).unwrap_or_default().to_owned());
    let (first, all_passes) = (indexed("1"), indexed("all"));
    assert_ne!(first, all_passes);
    assert_eq!((counts(&indexed("1")), counts(&indexed("all"))), (counts(&first), counts(&all_passes)));
}

#[test]
fn a_cut_launch_is_a_run_and_a_merged_run_is_one_launch() {
    let folder = tempfile::tempdir().unwrap();
    let run = two_launches(folder.path());
    let (single_run, joined) = (folder.path().join("one.tmt"), folder.path().join("joined.tmt"));
    succeed(tumit().arg("cut").arg(&run).arg("-o").arg(&single_run).args(["--launch", "1"]));
    assert_eq!(succeed(tumit().arg("dump").arg(&single_run)).lines().count(), 3);
    // A merged run is one launch, and so are its copies. A later merge counts.
    let [third, sorted, again, cut] =
        ["third", "sorted", "again", "cut"].map(|name| folder.path().join(name).with_extension("tmt"));
    write_launch(&third, "third", 4, 120);
    succeed(tumit().arg("merge").arg(&run).arg("-o").arg(&joined));
    succeed(tumit().arg("merge").args([&joined, &third]).arg("-o").arg(&again));
    succeed(tumit().arg("merge").args([&run, &third]).arg("--sort").arg("-o").arg(&sorted));
    succeed(tumit().arg("cut").arg(&again).arg("-o").arg(&cut).args(["--thread", "main"]));
    for (path, records) in [(&joined, 9), (&again, 12), (&sorted, 12), (&cut, 12)] {
        assert_eq!(succeed(tumit().arg("dump").arg(path)).lines().count(), records, "{}", path.display());
        let info = succeed(tumit().arg("info").arg(path));
        assert!(info.contains("Nothing is dropped, missing or damaged") && !info.contains("launch"), "{info}");
    }
    let sorted_again = folder.path().join("sorted-again.tmt");
    write_launch(&folder.path().join("fourth.tmt"), "fourth", 5, 180);
    succeed(tumit().arg("merge").args([&sorted, &folder.path().join("fourth.tmt")]).arg("-o").arg(&sorted_again));
    assert_eq!(succeed(tumit().arg("dump").arg(&sorted_again)).lines().count(), 15);
}

#[test]
fn runs_without_launch_ids_are_one_launch() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("old.tmt");
    write_launch(&run, "", 1, 60);
    write_launch(&run, "", 2, 0);
    let out = output(tumit().arg("dump").arg(&run));
    assert_eq!(String::from_utf8_lossy(&out.stdout).lines().count(), 6);
    assert!(!stderr(&out).contains("launch"), "{}", stderr(&out));
}

#[test]
fn commands_show_the_time_of_day_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    write_launch(&run, "one", 1, 0);
    let dumped = succeed(tumit().arg("dump").arg(&run).arg("--wall-clock"));
    assert!(dumped.lines().nth(1).unwrap().starts_with("2025-11-25T13:18:31.501000000Z  "), "{dumped}");
    let json = succeed(tumit().arg("dump").arg(&run).args(["--wall-clock", "--json"]));
    assert!(objects(&json).all(|record| record["time"].as_str().unwrap().starts_with("2025-11-25T13:18:31.50")));
    let info = succeed(tumit().arg("info").arg(&run));
    assert!(info.contains("began 2025-11-25T13:18:31.500000000Z"), "{info}");
    for (format, expected) in [
        ("csv", ",2025-11-25T13:18:31.502000000Z,2025-11-25T13:18:31.502000000Z,0."),
        ("json", "\"time\":\"2025-11-25T13:18:31.502000000Z\""),
    ] {
        let table = succeed(tumit().arg("convert").arg(&run).args(["-o", "-", "--wall-clock", "--format", format]));
        assert!(table.contains(expected), "{table}");
    }
    let stats = succeed(tumit().arg("stats").arg(&run).arg("--wall-clock"));
    assert!(stats.starts_with("run, 2025-11-25T13:18:31.500000000Z to 2025-11-25T13:18:31.502000001Z"), "{stats}");
    let paje = folder.path().join("x.paje");
    succeed(tumit().arg("convert").arg(&run).arg("-o").arg(&paje));
    for args in [&["stats"][..], &["convert", "-o", "-", "--format", "csv"]] {
        let out = output(tumit().arg(args[0]).arg(&paje).args(&args[1..]).arg("--wall-clock"));
        assert!(out.status.code() == Some(2) && stderr(&out).contains("only runs have"), "{}", stderr(&out));
    }
}

#[test]
fn files_derived_from_a_private_run_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mode = |name: &str| fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
    let private = |name: &str, mode: u32| fs::set_permissions(path(name), Permissions::from_mode(mode)).unwrap();
    let tumit = || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "umask 022; exec \"$0\" \"$@\""]).arg(tumit().get_program()).current_dir(folder.path());
        command
    };
    write_launch(&path("run.tmt"), "one", 1, 0);
    succeed(tumit().args(["convert", "run.tmt", "-o", "open.paje"]));
    assert_eq!(mode("open.paje"), 0o644);
    private("run.tmt", 0o700);
    fs::copy(path("open.paje"), path("own.paje")).unwrap();
    private("own.paje", 0o640);
    let long = format!("{}.svg", "x".repeat(251));
    for args in [
        "convert run.tmt -o a.paje",
        "convert run.tmt -o a.csv",
        &format!("view run.tmt -o a.svg -o {long}"),
        "view run.tmt -o b.svg --filter 'hide value work' --save-filters a.tumit-view",
        "index run.tmt -o a.tmtx",
        "cut run.tmt -o a.tmt --event work",
        "merge run.tmt -o b.tmt",
        "merge run.tmt -o c.tmt --sort",
        "repair run.tmt -o d.tmt",
        "sync run.tmt -o c.svg",
        "convert own.paje -o own.csv",
    ] {
        let words: Vec<String> = args
            .split('\'')
            .enumerate()
            .flat_map(|(at, part)| {
                if at % 2 == 1 { vec![part.to_owned()] } else { part.split_whitespace().map(str::to_owned).collect() }
            })
            .collect();
        succeed(tumit().args(words));
    }
    for file in ["a.paje", "a.csv", "a.svg", &long, "b.svg", "a.tmtx", "c.svg"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    for run in ["a.tmt", "b.tmt", "c.tmt", "d.tmt"] {
        assert_eq!(mode(run), 0o700, "{run}");
    }
    assert_eq!((mode("own.csv"), mode("a.tumit-view")), (0o640, 0o600));
    assert!(
        !fs::read_dir(folder.path()).unwrap().any(|entry| entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.'))
    );
}

#[test]
fn a_spec_given_as_a_trace_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("pair.tumit");
    fs::write(&spec, SPEC).unwrap();
    for args in [
        "info",
        "dump",
        "sync",
        "stats",
        "view --no-open",
        "index",
        "convert -o x.csv",
        "convert -o x.paje",
        "cut -o x.tmt --event work",
        "merge -o x.tmt",
        "repair",
    ] {
        let mut words = args.split(' ');
        let out = output(tumit().arg(words.next().unwrap()).arg(&spec).args(words).current_dir(folder.path()));
        let expected = format!("{0} is a spec, not a trace: `tumit check {0}` checks it", spec.display());
        assert!(out.status.code() == Some(2) && stderr(&out).contains(&expected), "{args}: {}", stderr(&out));
    }
}
