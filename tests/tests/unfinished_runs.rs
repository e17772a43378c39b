//! Commands on runs without an orderly end, or before their end: they show and repair them, and
//! switch their levels.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking; children speak")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::programs::{losses, output, succeed, tumit};
use tracer_format::record::DroppedRecords;
use tracer_format::tags::{append_integer, tag};
use tracer_format::{ID_LOST, PayloadCodec, cause};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

tracer_rt::events!("tests/ticks.tumit");

const PROGRAM: &str = "TUMIT_TEST_PROGRAM";

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    if std::env::var_os(LIMIT).is_some() {
        return under_limit();
    }
    let tick = |thread: u64| {
        for n in 0.. {
            app::tick(n, thread);
            extra::more(n);
            if thread == 0 && n % 100 == 0 {
                app::word(if n % 200 == 0 { "even" } else { "odd" });
                println!("ticks {n}");
            }
            if n % 10 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    std::thread::spawn(move || tick(1));
    tick(0);
}

const LIMIT: &str = "TUMIT_TEST_LIMIT";

/// Records more than the file size limit allows.
fn under_limit() {
    let mut noise = 1u64;
    for n in 0..400_000 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        app::tick(noise, noise.rotate_left(20));
        if n % 4000 == 0 {
            tracer_rt::flush();
        }
    }
}

#[test]
fn losses_on_a_full_disk_are_reported_with_place_and_cause() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    // A limit on the size of files has the effect of a full disk: there is room for the live file,
    // and for a part of the file.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 4000 && exec \"$@\"", "sh"]).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(PROGRAM, "1").env(LIMIT, "1").env("TUMIT_TRACE", &run).env("TUMIT_MEMORY", "1M");
    succeed(&mut command);
    let [lost, told] = losses(&run);
    assert!(lost > 0 && lost == told, "{told} of {lost}");
    output(tumit().arg("repair").arg(&run));
    assert_eq!(losses(&run), [lost, lost], "repaired");
}

/// A program that records until it is killed.
struct Running {
    folder: tempfile::TempDir,
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(settings: &[(&str, &Path)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture", "--test-threads=1"]);
        for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY"] {
            command.env_remove(variable);
        }
        command.env(PROGRAM, "1").env("TUMIT_TRACE", folder.path().join("run.tmt"));
        command.envs(settings.iter().copied()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { folder, child, lines }
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run.tmt")
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Waits until the program has printed its progress this many times, and returns the last
    /// number of ticks.
    fn wait(&mut self, times: usize) -> u64 {
        let ticks =
            self.lines.by_ref().map_while(Result::ok).filter_map(|line| line.rsplit_once("ticks ")?.1.parse().ok());
        ticks.take(times).last().expect("it speaks")
    }

    /// Waits until the program has recorded more than `ticks` ticks, and skips earlier output.
    fn wait_beyond(&mut self, ticks: u64) -> u64 {
        loop {
            let said = self.wait(1);
            if said > ticks {
                return said;
            }
        }
    }

    /// Kills the program, and returns the number of ticks that had been recorded at least.
    fn kill(&mut self) -> u64 {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let rest = self.lines.by_ref().map_while(Result::ok);
        rest.filter_map(|line| line.rsplit_once("ticks ")?.1.parse().ok()).last().unwrap_or(0)
    }

    fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.run()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(args: &[&str], path: &Path) -> Output {
    output(tumit().args(&args[..1]).arg(path).args(&args[1..]))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Checks that the ticks of each thread in `tumit dump --json` have no gaps from 0; returns their
/// numbers.
fn ticks(path: &Path) -> BTreeMap<u64, u64> {
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    for line in stdout(&run(&["dump", "--json", "--event", "tick"], path)).lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let of = |name: &str| record["fields"][name].as_u64().unwrap();
        let next = next.entry(of("thread")).or_default();
        assert_eq!(of("n"), *next, "thread {}", of("thread"));
        *next += 1;
    }
    next
}

fn info(path: &Path) -> Value {
    serde_json::from_str(&stdout(&run(&["info", "--json"], path))).unwrap()
}

#[test]
fn a_killed_program_is_read_and_repaired() {
    let mut some = false;
    for moment in 1..4 {
        let mut program = Running::start(&[]);
        let waited = program.wait(moment * 3);
        let said = program.kill().max(waited);
        let path = program.run();
        assert!(ticks(&path)[&0] > said, "{:?} of {said}", ticks(&path));
        let told = info(&path);
        assert_eq!(told["processes"][0]["state"], "unfinished");
        assert_eq!(told["processes"][0]["buffers"], "mapped");
        // There are none if the process was killed just after the writer thread had written.
        let live = told["processes"][0]["live"]["records"].as_u64().unwrap();
        assert_eq!(told["losses"].as_array().map(Vec::len), Some(1), "{told}");

        let before = run(&["dump"], &path);
        assert_eq!(before.status.code(), Some(1));
        let files = || program.files("tmt").iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>();
        let untouched = files();
        let plan = succeed(tumit().arg("repair").arg(&path).arg("--dry-run"));
        assert!(plan.contains("gets an end") && plan.contains("from its live file") == (live > 0), "{plan}");
        some |= live > 0;
        assert_eq!((files(), program.files("live").len()), (untouched, 1));

        let copy = program.folder.path().join("copy.tmt");
        succeed(tumit().arg("repair").arg(&path).arg("-o").arg(&copy));
        assert_eq!(program.files("live").len(), 1);
        succeed(tumit().arg("repair").arg(&path));
        assert_eq!(program.files("live").len(), 0);
        for repaired in [&path, &copy] {
            let after = run(&["dump"], repaired);
            assert_eq!((after.status.code(), &after.stdout), (Some(0), &before.stdout), "{}", stderr(&after));
            assert_eq!(info(repaired)["processes"][0]["state"], "repaired");
            let again = files();
            assert!(succeed(tumit().arg("repair").arg(repaired)).contains("nothing to repair"));
            assert_eq!(files(), again);
            // A file of a process that was killed right after it had created its live file.
            let early = repaired.join("early.live");
            fs::write(&early, [0; 8192]).unwrap();
            assert_eq!(run(&["dump"], repaired).status.code(), Some(0));
            assert!(succeed(tumit().arg("repair").arg(repaired)).contains("early.live: is removed"));
            assert!(!early.exists() && files() == again);
        }
        assert!(fs::read_dir(&copy).unwrap().count() == 1);
        for command in ["convert", "sync", "view"] {
            let target = program.folder.path().join("out.svg");
            let mut call = tumit();
            call.arg(command).arg(&path);
            match command {
                "convert" => call.arg("-o").arg(program.folder.path().join("out.paje")),
                "view" => call.arg("-o").arg(target),
                _ => &mut call,
            };
            succeed(&mut call);
        }
    }
    assert!(some, "three times nothing in the live file");
}

#[test]
fn a_live_file_in_another_folder_is_collected() {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut program = Running::start(&[("TUMIT_LIVE", elsewhere.path())]);
    let waited = program.wait(3);
    let said = program.kill().max(waited);
    assert_eq!(program.files("live").len(), 0);
    assert!(ticks(&program.run())[&0] > said);
    let live: Vec<PathBuf> = fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(live.len(), 1);
    // The live file is moved away: a repair ends no process with its last records elsewhere.
    let hidden = elsewhere.path().join("hidden");
    fs::rename(&live[0], &hidden).unwrap();
    let refused = run(&["repair"], &program.run());
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("its last records are in"), "{}", stderr(&refused));
    fs::rename(&hidden, &live[0]).unwrap();
    succeed(tumit().arg("repair").arg(program.run()));
    assert!(ticks(&program.run())[&0] > said && !live[0].exists());
}

#[test]
fn a_running_program_is_read_at_one_moment_and_not_disturbed() {
    let mut program = Running::start(&[]);
    let mut before = 0;
    for round in 0..4 {
        let said = program.wait_beyond(before);
        let now = ticks(&program.run())[&0];
        assert!(now > said && now > before, "round {round}: {now} after {before}, {said} said");
        before = now;
    }
    assert_eq!(info(&program.run())["processes"][0]["state"], "running");
    let refused = run(&["repair"], &program.run());
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains(&format!("process {} is still recording", program.pid())),
        "{}",
        stderr(&refused)
    );
    let told = run(&["repair", "-n"], &program.run());
    assert_eq!((told.status.code(), stderr(&told)), (Some(2), stderr(&refused)), "what would be done");
    let copy = program.folder.path().join("copy.tmt");
    succeed(tumit().arg("repair").arg(program.run()).arg("-o").arg(&copy));
    assert!(ticks(&copy)[&0] > before);
    assert_eq!(info(&copy)["processes"][0]["state"], "repaired");
    let said = program.wait_beyond(ticks(&copy)[&0]);
    program.kill();
    assert!(ticks(&program.run())[&0] > said, "it went on as if nothing had been");
}

#[test]
fn levels_are_switched_from_outside() {
    let mut program = Running::start(&[]);
    program.wait(2);
    let (path, pid) = (program.run(), program.pid());
    let more = || stdout(&run(&["dump", "--level", "extra"], &path)).lines().count();
    assert_eq!(more(), 0);
    let now = || ticks(&path)[&0];
    succeed(tumit().args(["level", &pid, "EXTRA", "on", "--timeout", "60"]));
    program.wait_beyond(now());
    assert!(more() > 0);
    succeed(tumit().arg("level").arg(&path).args(["back.extra", "off", "--timeout", "60"]));
    // A record that was being made during the switch still appears.
    program.wait_beyond(now());
    let then = more();
    program.wait_beyond(now());
    assert_eq!(more(), then, "switched off");

    let signal = |name: &str| assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
    signal("-STOP");
    let unheard = output(tumit().args(["level", &pid, "EXTRA", "on", "--timeout", "0"]));
    assert!(
        unheard.status.code() == Some(2) && stderr(&unheard).contains("the request is withdrawn"),
        "{}",
        stderr(&unheard)
    );
    signal("-CONT");
    program.wait_beyond(now());
    program.wait_beyond(now());
    assert_eq!(more(), then, "not switched on");

    let unknown = output(tumit().args(["level", &pid, "EXTRAS", "on"]));
    assert_eq!(unknown.status.code(), Some(1), "{}", stderr(&unknown));
    assert!(stderr(&unknown).contains("no level `EXTRAS`; did you mean `EXTRA`?"), "{}", stderr(&unknown));
    let wrong = output(tumit().args(["level", &pid, "A=on,B", "on"]));
    assert_eq!(wrong.status.code(), Some(2));
    program.kill();
    for (target, told) in
        [(path.to_str().unwrap(), "no process on this machine is recording"), (&pid, "there is no process")]
    {
        let gone = output(tumit().args(["level", target, "APP", "off"]));
        assert_eq!(gone.status.code(), Some(2));
        assert!(stderr(&gone).contains(told), "{}", stderr(&gone));
    }
    let mut private = Running::start(&[("TUMIT_BUFFERS", Path::new("private"))]);
    private.wait(2);
    for target in [private.pid().as_str(), private.run().to_str().unwrap()] {
        let refused = output(tumit().args(["level", target, "APP", "off"]));
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("private"), "{}", stderr(&refused));
    }
}

const SPEC: &str = "trace big; level NET { event send { to: u32, what: string } } level CPU { span step { n: u32 } }";

/// Rounds in a block.
const BLOCK: u32 = 200;

/// Two processes with two threads each: `rounds` sends and steps, one of each per millisecond, and
/// a loss.
fn big(folder: &Path, rounds: u32, text: usize) -> PathBuf {
    let mut schema = tumit::compile_text("big.tumit", SPEC).0.unwrap().schema();
    schema.sources.clear();
    let path = folder.join("big.tmt");
    for rank in 0..2 {
        let mut file =
            SyntheticFile::new(&SyntheticProcess { domain: "one".to_owned(), ..SyntheticProcess::rank(rank) }, &schema);
        file.codec = PayloadCodec::Lz4;
        let what = [&u16::try_from(text).unwrap().to_le_bytes()[..], &vec![b'x'; text]].concat();
        for stream in 0..2u32 {
            file.thread(stream, u64::from(stream) + 7, if stream == 0 { "main" } else { "worker" });
        }
        for (sequence, round) in (0..rounds).step_by(BLOCK as usize).enumerate() {
            for stream in 0..2u32 {
                let mut records = SyntheticRecords::default();
                if round == BLOCK {
                    let lost = DroppedRecords {
                        count: 9,
                        bytes: 300,
                        first_ticks: 150_000_000,
                        last_ticks: 190_000_000,
                        cause: cause::NO_BUFFER,
                    };
                    records.record(ID_LOST - 1, u64::from(round) * 1_000_000, &lost.encode());
                    records.count = 0;
                }
                for n in round..(round + BLOCK).min(rounds) {
                    let at = u64::from(n) * 1_000_000 + 10 * rank + u64::from(stream);
                    records.record(0, at, &[&n.to_le_bytes()[..], &what].concat());
                    records.record(1, at + 100, &n.to_le_bytes());
                    records.record(2, at + 200, &[]);
                }
                file.records(stream, sequence as u64, &records);
            }
        }
        file.end();
        file.save(&path, &format!("{rank}.tmt"));
    }
    path
}

#[test]
fn dumps_are_filtered() {
    let folder = tempfile::tempdir().unwrap();
    let path = big(folder.path(), 1000, 3);
    let lines = |args: &[&str]| {
        let out = run(&[&["dump"], args].concat(), &path);
        assert_eq!(stderr(&out), "", "{args:?}");
        stdout(&out).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = lines(&[]);
    assert_eq!(all.len(), 12_000);
    assert_eq!(lines(&["--level", "net"]).len(), 4000);
    assert_eq!(lines(&["--level", "big.CPU", "--process", "1"]).len(), 4000);
    assert_eq!(lines(&["--level", "NET", "--level", "CPU"]).len(), 12_000);
    assert_eq!(lines(&["--event", "step", "--thread", "worker"]).len(), 4000);
    assert_eq!(lines(&["--event", "step.end", "--event", "send", "--thread", "7", "--process", "0"]).len(), 2000);
    assert_eq!(lines(&["--limit", "5"]), all[..5]);
    assert_eq!(lines(&["-n", "0"]), [""; 0]);
    let between = lines(&["--interval", "0.5..0.50200005"]);
    assert_eq!(between.len(), 2 * 12 + 4);
    assert_eq!(between, all[6000..6028]);
    assert_eq!(lines(&["--interval", "999ms..", "--interval", "..1ns"]).len(), 12 + 1);
    assert_eq!(lines(&["--interval", "..0"]).len(), 0, "the end is excluded");
    assert_eq!(lines(&["--interval", "990ms..", "--limit", "3"]), all[11_880..11_883]);
    for (args, told) in [
        (["--event", "sent"], "no spec of this run has an event `sent`; did you mean `send`?"),
        (["--level", "NTE"], "no spec of this run has a level `NTE`; did you mean `NET`?"),
        (["--interval", "5"], "expected a time range FROM..TO"),
        (["--interval", "2..1"], "`2..1`: expected the start before the end; example: `1s..2s`"),
        (["--interval", "1y.."], "found `y`"),
    ] {
        let out = run(&[&["dump"], &args[..]].concat(), &path);
        assert!(out.status.code() == Some(2) && stderr(&out).contains(told), "{}", stderr(&out));
    }
}

/// Lists are JSON lists, texts are unambiguous, and floats without a JSON number are words.
#[test]
fn dumps_show_lists_and_unusual_values() {
    const SPEC: &str = "trace odd; enum side { left, right } level L {
        event lists { small: [u8; 3], names: [interned], sides: [side], at: [pointer] }
        event floats { one: f64, two: f32, all: [f64] }
        event texts { name: interned, text: string, raw: bytes }
    }";
    let mut schema = tumit::compile_text("odd.tumit", SPEC).0.unwrap().schema();
    schema.sources.clear();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 7, "main");
    let comma = file.string("a, b");
    let mut records = SyntheticRecords::default();
    // No name; an empty one; then one with a comma and the two that it resembles.
    let [a, b] = [file.string("a"), file.string("b")];
    for names in [&[][..], &[0], &[comma], &[a, b]] {
        let ids: Vec<u8> = names.iter().flat_map(|id| id.to_le_bytes()).collect();
        let count = u16::try_from(names.len()).unwrap().to_le_bytes();
        let at = [&1u16.to_le_bytes()[..], &0x1f_u64.to_le_bytes()].concat();
        records.record(0, 10, &[&[1, 2, 255][..], &count, &ids, &[2, 0, 1, 9], &at].concat());
    }
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5];
    let all: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (one, two) = (f64::NEG_INFINITY.to_le_bytes(), f32::NAN.to_le_bytes());
    records.record(1, 11, &[&one[..], &two, &4u16.to_le_bytes(), &all].concat());
    let quote = file.string("q\"\\\n\u{1}");
    records.record(2, 12, &[&quote.to_le_bytes()[..], &[2, 0, b's', 0xff, 2, 0, 0, 0xab]].concat());
    file.records(0, 0, &records);
    file.end();
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "odd.tmt");
    let text = stdout(&run(&["dump"], folder.path()));
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("main").unwrap().1.trim()).collect();
    let rest = r#"sides=["right", 9] at=["0x1f"]"#;
    assert_eq!(lines[0], format!("lists   small=[1, 2, 255] names=[] {rest}"));
    assert_eq!(lines[1], format!(r#"lists   small=[1, 2, 255] names=[""] {rest}"#));
    assert_eq!(lines[2], format!(r#"lists   small=[1, 2, 255] names=["a, b"] {rest}"#));
    assert_eq!(lines[3], format!(r#"lists   small=[1, 2, 255] names=["a", "b"] {rest}"#));
    assert_eq!(lines[4], "floats  one=-inf two=NaN all=[NaN, inf, -inf, -0.5]");
    let json = stdout(&run(&["dump", "--json"], folder.path()));
    let fields: Vec<Value> =
        json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].take()).collect();
    for (at, names) in [&[][..], &[""], &["a, b"], &["a", "b"]].into_iter().enumerate() {
        let expected =
            serde_json::json!({ "small": [1, 2, 255], "names": names, "sides": ["right", 9], "at": ["0x1f"] });
        assert_eq!(fields[at], expected);
    }
    let expected = serde_json::json!({ "one": "-inf", "two": "NaN", "all": ["NaN", "inf", "-inf", -0.5] });
    assert_eq!(fields[4], expected);
    let expected = serde_json::json!({ "name": "q\"\\\n\u{1}", "text": "s\u{fffd}", "raw": "00ab" });
    assert_eq!(fields[5], expected);
}

/// A file of a killed process, and the output of `tumit info`.
fn killed(buffers: u64, names: &[&str]) -> (Value, String) {
    let mut schema = tumit::compile_text("one.tumit", "trace one; level L { event e { n: u8 } }").0.unwrap().schema();
    schema.sources.clear();
    let mut file = SyntheticFile::with_tags(&SyntheticProcess::new(1), &schema, |tags| {
        append_integer(tags, tag::BUFFERS, buffers);
    });
    file.thread(0, 7, "main");
    for name in names {
        file.string(name);
    }
    let mut records = SyntheticRecords::default();
    records.record(0, 10, &[1]);
    file.records(0, 0, &records);
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    let told = (info(folder.path()), stdout(&run(&["info"], folder.path())));
    let repaired = run(&["repair", "--force"], folder.path());
    assert!(repaired.status.success(), "{}", stderr(&repaired));
    // A repair restores nothing of it.
    assert_eq!(info(folder.path())["processes"][0]["uncounted"], told.0["processes"][0]["uncounted"]);
    told
}

#[test]
fn records_in_private_buffers_are_reported_as_unknown() {
    for (buffers, where_) in [(0, "private buffers"), (1, "its live file is missing"), (2, "private buffers")] {
        let (told, text) = killed(buffers, &[]);
        assert_eq!(told["processes"][0]["uncounted"], true);
        for word in ["unknown", "are missing, and their number is unknown", where_] {
            assert!(text.contains(word), "{text}");
        }
    }
}

#[test]
fn names_that_could_not_be_stored_are_reported() {
    let said = |names: &[&str]| killed(1, names).1;
    let (long, wide) = ("x".repeat(4096), "é".repeat(2047) + "x");
    let text = said(&[&long, &wide, "short"]);
    assert!(text.contains("2 names may be truncated: recorders keep 4096 bytes of an interned text"), "{text}");
    assert!(!said(&[&long[..4092]]).contains("may be truncated"));
    for word in ["(too many different strings)", "(more names than the recorder keeps)"] {
        assert!(said(&["a", word]).contains(&format!("are shown as `{word}`")));
    }
}

#[test]
fn a_run_with_truncated_names_is_not_called_complete() {
    let mut schema = tumit::compile_text("one.tumit", "trace one; level L { event e { n: u8 } }").0.unwrap().schema();
    schema.sources.clear();
    for (length, expected) in [(4096, "No other data was lost or damaged."), (100, "Nothing was lost or damaged.")] {
        let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
        file.thread(0, 7, "main");
        file.string(&"x".repeat(length));
        file.end();
        let folder = tempfile::tempdir().unwrap();
        file.save(folder.path(), "a.tmt");
        let text = stdout(&run(&["info"], folder.path()));
        assert!(
            text.contains("may be truncated") == (length == 4096) && text.ends_with(&format!("\n{expected}\n")),
            "{text}"
        );
        assert_eq!(info(folder.path())["long_names"], u64::from(length == 4096));
    }
}

#[test]
fn losses_are_shown_with_cause_and_timestamps() {
    let folder = tempfile::tempdir().unwrap();
    let path = big(folder.path(), 400, 3);
    let told = info(&path);
    assert_eq!(told["records"], 4800);
    let lost = &told["lost"][0];
    assert_eq!((lost["records"].as_u64(), lost["bytes"].as_u64()), (Some(9), Some(300)));
    assert_eq!((lost["first_ns"].as_i64(), lost["last_ns"].as_i64()), (Some(150_000_000), Some(190_000_000)));
    assert_eq!(lost["causes"], serde_json::json!(["no free buffer"]));
    assert_eq!(told["lost"].as_array().map(Vec::len), Some(4));
    let send = told["events"].as_array().unwrap().iter().find(|event| event["event"] == "send").unwrap();
    // Id, delta, `to`, and the text with its length.
    assert_eq!(send["memory_bytes_per_record"].as_f64(), Some(15.0));
    let text = stdout(&run(&["info"], &path));
    for word in ["cause", "no free buffer", "0.150000000", "0.190000000", "residual", "bytes"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_large_run_is_shown_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = big(folder.path(), 6_000, 4000);
    let sizes = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    println!("{} bytes in files, 96 MB of text", sizes.sum::<u64>());
    for command in [&["dump", "--limit", "30000"][..], &["dump", "--json", "--interval", "5.."], &["info"]] {
        let mut words = vec![tumit().get_program().to_str().unwrap().to_owned(), command[0].to_owned()];
        words.push(path.display().to_string());
        words.extend(command[1..].iter().map(|word| (*word).to_owned()));
        // Kilobytes of writable memory. The program's text does not count: it depends on the build.
        let line = "ulimit -d 12000 && exec \"$@\" > /dev/null";
        let out = output(Command::new("sh").args(["-c", line, "sh"]).args(&words));
        assert!(out.status.success(), "{command:?}: {}", stderr(&out));
    }
}
