//! FORMAT.md is enough to write a reader: `tests/python_reader`, based on that document alone, and
//! `tumit dump --json` agree on every run: ended, killed, running and damaged, of both recorders.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tests::corpus::{CorpusCase, cases};
use tests::lang::{c, rust};
use tests::programs::{child_test, molecular_dynamics, output, succeed, tumit, workspace};
use tracer_format::block::{decode_block, find_block};
use tracer_format::entries::ClockAnchor;
use tracer_format::{BlockKind, PREAMBLE_BYTES, PayloadCodec};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

use crate::app;

/// Records by process and thread, in order.
type Records = BTreeMap<(u64, u64), Vec<Value>>;

/// Records, exit status and messages of a reader.
fn records(command: &mut Command) -> (Records, Option<i32>, String) {
    let output = output(command);
    let mut records = Records::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let key = (record["pid"].as_u64().unwrap(), record["tid"].as_u64().unwrap());
        records.entry(key).or_default().push(record);
    }
    (records, output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Fields of these programs that are timestamps, and the timestamp of a record.
const DATES: [&str; 3] = ["time_ns", "queued", "since"];

/// Whether two records are equal; timestamps may differ by two nanoseconds, as tumit multiplies by
/// a rounded rate.
fn same(first: &Value, second: &Value) -> bool {
    let (Value::Object(first), Value::Object(second)) = (first, second) else { return first == second };
    let same_member = |(name, value): (&String, &Value)| {
        let Some(second_value) = second.get(name) else { return false };
        let dates = value.as_i64().zip(second_value.as_i64()).filter(|_| DATES.contains(&name.as_str()));
        dates.map_or_else(|| same(value, second_value), |(a, b)| a.abs_diff(b) <= 2)
    };
    first.len() == second.len() && first.iter().all(same_member)
}

/// Compares the results of both readers for a run, and returns the number of records.
fn compare(run: &Path, name: &str) -> usize {
    let (tumit, status, tumit_errors) = records(tumit().args(["dump", "--json", "--clock", "none"]).arg(run));
    let mut second = Command::new("python3");
    second.arg(workspace().join("tests/python_reader/dump.py")).arg(run).env("PYTHONDONTWRITEBYTECODE", "1");
    let (python, other_status, python_errors) = records(&mut second);
    let words = format!("{name}\n{tumit_errors}\n{python_errors}");
    for key in tumit.keys().chain(python.keys()).collect::<BTreeSet<_>>() {
        let none = Vec::new();
        let (tumit, python) = (tumit.get(key).unwrap_or(&none), python.get(key).unwrap_or(&none));
        for (number, (tumit, python)) in tumit.iter().zip(python).enumerate() {
            assert!(same(tumit, python), "record {number} of {key:?}:\n{tumit}\n{python}\n{words}");
        }
        assert_eq!(tumit.len(), python.len(), "records of {key:?}: {words}");
    }
    // A clock that went back is a fault of the run, not of the file. The second reader judges only
    // the file.
    let went_back = tumit_errors.contains("its clock went back") && other_status == Some(0);
    assert_eq!(status, if went_back { Some(1) } else { other_status }, "{words}");
    tumit.values().map(Vec::len).sum()
}

fn environment(case: &CorpusCase) -> Vec<(&str, &str)> {
    case.environments[0].iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn the_python_reader_agrees_on_every_case_in_rust() {
    let mut records = 0;
    for case in cases().iter().filter(|case| case.has("rust")) {
        let folder = c::folder();
        let run =
            rust::record(env!("CARGO_BIN_EXE_trace_driver").as_ref(), &case.name, folder.path(), &environment(case));
        // A case with all levels off records nothing, and makes no run.
        if run.exists() {
            records += compare(&run, &case.name);
        }
    }
    assert!(records > 50_000, "{records}");
}

#[test]
fn the_python_reader_agrees_on_cases_in_c() {
    for name in
        ["types", "strings", "interned", "located", "spans-async", "clock-wide", "threads-many", "blocks", "fork"]
    {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let folder = c::folder();
        case.generate(&tumit::codegen::c::CBackend, folder.path());
        let (program, include) = (folder.path().join("drive"), format!("-I{}", folder.path().display()));
        c::C99.compile(&[&case.file("drive.c")], &program, &[&include, "-O0"]).unwrap();
        let run = c::record(&program, folder.path(), "run.tmt", &environment(&case));
        assert!(compare(&run, name) > 0, "{name}");
    }
}

#[test]
fn the_python_reader_agrees_on_the_examples() {
    let folder = c::folder();
    let run = folder.path().join("md.tmt");
    succeed(molecular_dynamics().args(["--steps", "6"]).env("TUMIT_TRACE", &run));
    assert!(compare(&run, "molecular dynamics") > 1000);
    let codecs = codecs(&run);
    assert!(codecs.contains(&(PayloadCodec::Columns as u8)), "{codecs:?}");

    let source = workspace().join("examples/taktuk");
    let header = folder.path().join("taktuk_trace.h");
    succeed(tumit().args(["gen", "c"]).arg(source.join("taktuk.tumit")).arg("-o").arg(header));
    let (program, include) = (folder.path().join("taktuk"), format!("-I{}", folder.path().display()));
    c::GNU99.compile(&[&source.join("taktuk.c")], &program, &[&include]).unwrap();
    let run = c::record(&program, folder.path(), "taktuk.tmt", &[]);
    assert!(compare(&run, "taktuk") > 100);
}

/// Writes a run of four records. The clock has 2 GHz. The rate is known only from anchors, and the
/// machine sleeps between two of them.
pub(crate) fn run_with_sleep(folder: &Path) -> PathBuf {
    let (spec, _) = tumit::compile_text("hello.tumit", "trace hello; level APP { event greeting { n: u32 } }");
    let process = SyntheticProcess { hz: 0, ..SyntheticProcess::new(7) };
    let mut file = SyntheticFile::new(&process, &spec.unwrap().schema());
    file.thread(0, 7, "main");
    for (nanos, ticks) in [(0, 0), (20, 40), (41, 82), (541, 90), (562, 132), (583, 174)] {
        let (monotonic_nanos, ticks) = (1 + nanos * 1_000_000, 1 + ticks * 1_000_000);
        file.anchor(ClockAnchor { ticks, monotonic_nanos, real_nanos: monotonic_nanos, bracket: 0 });
    }
    let mut records = SyntheticRecords::default();
    (0..4_u32).for_each(|n| records.record(0, 1 + u64::from(n) * 2_000_000, &n.to_le_bytes()));
    file.records(0, 0, &records);
    file.end();
    let run = folder.join("run.tmt");
    file.save(&run, "7.tmt");
    run
}

#[test]
fn the_python_reader_ignores_anchors_around_a_sleep() {
    let folder = c::folder();
    let run = run_with_sleep(folder.path());
    assert_eq!(compare(&run, "a sleep"), 4);
    let dump = succeed(tumit().args(["dump", "--json", "--clock", "none"]).arg(&run));
    assert!(dump.lines().last().unwrap().contains("\"time_ns\":3000000"), "{dump}");
}

/// The codecs of the blocks of records of a run.
fn codecs(run: &Path) -> BTreeSet<u8> {
    let files = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "tmt"));
    let mut codecs = BTreeSet::new();
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let mut position = PREAMBLE_BYTES;
        while let Ok(block) = decode_block(&bytes[position.min(bytes.len())..]) {
            if block.header.kind == BlockKind::Records as u8 {
                codecs.insert(block.header.codec);
            }
            position += block.header.block_bytes();
        }
    }
    codecs
}

const PROGRAM: &str = "TUMIT_TEST_PROGRAM";

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    if std::env::var_os(PROGRAM).is_none() {
        return;
    }
    let tick = |thread: u64| {
        for n in 0.. {
            app::tick(n, thread);
            if n % 100 == 0 {
                app::word(&format!("word {}", n % 700));
            }
            if thread == 0 && n % 2000 == 0 {
                println!("ticks {n}");
            }
            if n % 100 == 0 {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    };
    std::thread::spawn(move || tick(1));
    tick(0);
}

/// A program that records until it is killed, and prints its progress.
struct EndlessProgram {
    folder: tempfile::TempDir,
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl EndlessProgram {
    fn start(mut command: Command, folder: tempfile::TempDir) -> Self {
        for variable in ["TUMIT_LEVELS", "TUMIT_BUFFERS", "TUMIT_LIVE"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_MEMORY", "1M");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { folder, child, lines }
    }

    /// Starts the Rust program with a policy for its level.
    fn rust(policy: &str) -> Self {
        let mut command = child_test(module_path!());
        command.env(PROGRAM, "1");
        command.env("TUMIT_POLICY", format!("APP={policy}"));
        Self::start(command, c::folder())
    }

    fn c() -> Self {
        let folder = c::folder();
        let spec = std::fs::read_to_string(workspace().join("tests/tests/runs/ticks.tumit")).unwrap();
        let program = c::build(folder.path(), c::C99, &spec, C_PROGRAM, &[]).unwrap();
        let mut command = Command::new(program);
        command.env_remove("TUMIT_POLICY");
        Self::start(command, folder)
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("run.tmt")
    }

    fn wait(&mut self, times: usize) {
        let lines = self.lines.by_ref().map_while(Result::ok).filter(|line| line.contains("ticks ")).take(times);
        assert_eq!(lines.count(), times, "it speaks");
    }

    fn signal(&self, name: &str) {
        succeed(Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]));
    }

    /// Stops the program. A thread completes a write first, so this waits until all have stopped.
    fn stop(&self) {
        self.signal("STOP");
        let stopped = |task: std::fs::DirEntry| {
            let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        while !std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().all(|task| stopped(task.unwrap()))
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for EndlessProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const C_PROGRAM: &str = r#"
#include "back_trace.h"
#include <stdio.h>
#include <time.h>

int main(void) {
    struct timespec rest = {0, 1000000};
    char word[32];
    uint64_t n;
    for (n = 0;; n++) {
        back_tick(n, 0);
        if (n % 100 == 0) {
            snprintf(word, sizeof word, "word %u", (unsigned)(n % 700));
            back_word(word);
            nanosleep(&rest, NULL);
        }
        if (n % 2000 == 0) {
            printf("ticks %u\n", (unsigned)n);
            fflush(stdout);
        }
    }
}
"#;

#[test]
fn the_python_reader_agrees_on_killed_programs() {
    for moment in [1, 3, 8] {
        // The program waits for a writer thread that runs late.
        let mut program = EndlessProgram::rust("block");
        program.wait(moment);
        program.kill();
        let live = std::fs::read_dir(program.run()).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(live.filter(|path| path.extension().is_some_and(|ending| ending == "live")).count(), 1);
        assert!(compare(&program.run(), &format!("killed after {moment}")) > 2000 * (moment - 1));
    }
    // Long enough to overwrite the oldest records.
    let mut program = EndlessProgram::rust("overwrite");
    program.wait(40);
    program.kill();
    assert!(compare(&program.run(), "killed, overwriting") > 2000);
    let mut program = EndlessProgram::c();
    program.wait(8);
    program.kill();
    assert!(compare(&program.run(), "killed, in C") > 0);
}

#[test]
fn the_python_reader_agrees_on_running_programs() {
    let mut program = EndlessProgram::rust("block");
    for moment in 0..3 {
        program.wait(2);
        // Both readers see the same state.
        program.stop();
        assert!(compare(&program.run(), &format!("running {moment}")) > 2000 * moment);
        program.signal("CONT");
    }
}

#[test]
fn the_python_reader_agrees_on_damaged_files() {
    let folder = c::folder();
    let case = cases().into_iter().find(|case| case.name == "threads-many").unwrap();
    let run = rust::record(env!("CARGO_BIN_EXE_trace_driver").as_ref(), &case.name, folder.path(), &environment(&case));
    let path = std::fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    let record_count = compare(&run, "before the damage");
    let bytes = std::fs::read(&path).unwrap();
    let mut fewer = 0;
    let starts: Vec<usize> =
        std::iter::successors(find_block(&bytes, 0), |position| find_block(&bytes, position + 1)).collect();
    let of = |kind: BlockKind| {
        let of_kind =
            |position: &&usize| decode_block(&bytes[**position..]).is_ok_and(|block| block.header.kind == kind as u8);
        starts.iter().filter(of_kind).copied().collect::<Vec<_>>()
    };
    let (names, records) = (of(BlockKind::Stream), of(BlockKind::Records));
    // In the name of a thread, and in a block of records: magic, checksum, kind, sizes, payload.
    for start in [names[names.len() / 2], records[records.len() / 2]] {
        for offset in [0, 8, 12, 32, 36, 70] {
            let mut damaged = bytes.clone();
            damaged[start + offset] ^= 0x41;
            std::fs::write(&path, &damaged).unwrap();
            fewer +=
                usize::from(compare(&run, &format!("byte {offset} of the block at {start} flipped")) < record_count);
        }
    }
    assert!(fewer >= 6, "{fewer}");
    for length in [bytes.len() - 1, bytes.len() / 2, starts[1] + 10] {
        std::fs::write(&path, &bytes[..length]).unwrap();
        compare(&run, &format!("cut to {length} bytes"));
    }
}
