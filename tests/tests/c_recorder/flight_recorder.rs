//! A level of a C program that overwrites keeps its newest records after every kind of exit, and
//! reports the number of older ones. A witness outside the process counts the calls of each thread
//! that returned.
//! Every check detects recorders that are broken on purpose.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tests::lang::c::{CCompiler, GNU99, build, folder};
use tests::programs::{output, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::cause;
use tracer_format::tags::{integer, tag};
use tumit_test_support::xorshift::XorshiftGenerator;

const SPEC: &str = "trace t;\nlevel L { event tick { n: u64, m: u64 } event noise { n: u64, noise: u64 } }\n\
                    level K { event step { n: u64 } }\n";
const PROGRAM: &str = include_str!("../../c_programs/flight_recorder.c");
const CLANG: CCompiler = CCompiler { command: "clang", flags: &["-std=gnu11"] };
/// Sixteen slots. Eight of them may be kept, so that each of six streams has one.
const SMALL: &str = "1M";

/// A program in a separate folder.
struct OverwritingProgram {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl OverwritingProgram {
    fn new(compiler: CCompiler, extra: &[&str]) -> Self {
        let folder = folder();
        let program = build(folder.path(), compiler, SPEC, PROGRAM, &[&["-D_GNU_SOURCE", "-O1"], extra].concat());
        Self { program: program.unwrap_or_else(|error| panic!("{error}")), folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Command {
        let _ = std::fs::remove_dir_all(self.run());
        let _ = std::fs::remove_dir_all(self.path().join("run.tmt.disk"));
        std::fs::write(self.path().join("witness"), [0; 4096]).expect("a writable folder");
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.path()).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", self.run());
        command.env("WITNESS", self.path().join("witness")).env("TUMIT_MEMORY", SMALL);
        command.env("TUMIT_POLICY", "L=overwrite").envs(settings.iter().copied());
        command
    }

    fn run(&self) -> PathBuf {
        self.path().join("run.tmt")
    }

    /// The number of returned calls of each thread.
    fn witnessed(&self) -> [u64; 3] {
        let page = std::fs::read(self.path().join("witness")).expect("the witness");
        [0, 1, 2].map(|thread| u64::from_le_bytes(*page[8 * thread..].first_chunk().expect("a page")))
    }

    /// Repairs the run with the `tumit` command, and reads it with the oracle.
    fn collect(&self) -> ProcessFile {
        succeed(tumit().arg("repair").arg(self.run()));
        let mut files = read(&self.run());
        assert_eq!(files.len(), 1);
        files.remove(0)
    }
}

/// The numbers that a thread recorded. Both events have two integers; `noise` belongs to the first
/// thread.
fn ticks(file: &ProcessFile, thread: u64) -> Vec<u64> {
    let word = |bytes: &[u8], offset: usize| u64::from_le_bytes(*bytes[offset..].first_chunk().expect("an integer"));
    let records = file.records.values().flatten().filter(|record| !record.text.starts_with("step"));
    let of_thread = records.filter(|record| {
        let owner = if record.text.starts_with("noise") { 0 } else { word(&record.bytes, 8) };
        owner == thread
    });
    of_thread.map(|record| word(&record.bytes, 0)).collect()
}

/// Begin and end of each stretch of consecutive numbers.
fn stretches(ticks: &[u64]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for n in ticks {
        match all.last_mut() {
            Some((_, end)) if *end == *n => *end = n + 1,
            _ => all.push((*n, n + 1)),
        }
    }
    all
}

/// Checks that the records are the newest ones of each thread, in at most `most_stretches`
/// stretches, up to the last call that returned (or one more if the process was killed). Records
/// and reported losses add up to all calls.
/// `None` is for records requested continuously: while many of them wait for the writer thread, the
/// newest find no room.
fn check(program: &OverwritingProgram, most_stretches: Option<usize>, killed: bool) -> ProcessFile {
    let file = program.collect();
    let (written, dropped) = file.totals();
    let (mut recorded, mut emitted, mut uncertain) = (0, 0, 0);
    for (thread, called) in program.witnessed().into_iter().enumerate() {
        let ticks = ticks(&file, thread as u64);
        let stretches = stretches(&ticks);
        assert!(most_stretches.is_none_or(|most| stretches.len() <= most), "thread {thread}: {stretches:?}");
        assert!(stretches.windows(2).all(|pair| pair[0].1 < pair[1].0), "in order");
        recorded += ticks.len() as u64;
        let Some((_, end)) = stretches.last().filter(|_| most_stretches.is_some()) else {
            // All slots of this thread may have been older than those of the others.
            (emitted, uncertain) = (emitted + called, uncertain + u64::from(killed && called > 0));
            continue;
        };
        assert!((called..=called + u64::from(killed)).contains(end), "thread {thread}: up to {end} of {called}");
        emitted += end;
    }
    let steps = file.records.values().flatten().filter(|record| record.text.starts_with("step")).count() as u64;
    assert_eq!(written, recorded + steps, "the end has the number of records");
    assert!(dropped > 0, "much more than there is room for");
    assert!((emitted..=emitted + uncertain).contains(&(recorded + dropped)), "{recorded} + {dropped} of {emitted}");
    let ring = file.streams.values().filter(|tags| tags.get(&tag::OVERWRITTEN).and_then(|tag| integer(tag)) == Some(1));
    assert!(ring.count() >= 1, "streams are marked as overwritten");
    file
}

/// Checks that each report of dropped records has a time range and the cause.
fn check_reports(file: &ProcessFile) {
    assert_eq!(file.dropped_reports.iter().map(|report| report.count).sum::<u64>(), file.totals().1);
    assert!(
        file.dropped_reports
            .iter()
            .all(|report| report.cause == cause::OVERWRITTEN && report.first_ticks <= report.last_ticks)
    );
}

fn ends_in_order(program: &OverwritingProgram) {
    for buffers in ["mapped", "private"] {
        assert!(output(&mut program.command(&["return"], &[("TUMIT_BUFFERS", buffers)])).status.success());
        check_reports(&check(program, Some(1), false));
    }
}

fn written_on_request(program: &OverwritingProgram) {
    // Records requested twice, and those kept at the end.
    for buffers in ["mapped", "private"] {
        assert!(output(&mut program.command(&["dump"], &[("TUMIT_BUFFERS", buffers)])).status.success());
        check_reports(&check(program, Some(2), false));
    }
    let killed = output(&mut program.command(&["dump-kill"], &[]));
    assert_eq!(killed.status.signal(), Some(9));
    check(program, Some(2), true);
    // If a process leaves no live file, its file contains only the requested records.
    output(&mut program.command(&["dump-leave"], &[("TUMIT_BUFFERS", "private")]));
    let file = read(&program.run()).remove(0);
    let stretches = stretches(&ticks(&file, 0));
    let reported: u64 = file.dropped_reports.iter().map(|report| report.count).sum();
    let recorded: u64 = stretches.iter().map(|(from, to)| to - from).sum();
    assert_eq!(stretches.iter().map(|(_, to)| *to).collect::<Vec<_>>(), [60_100, 120_000]);
    assert_eq!(recorded + reported, 120_000);
}

fn killed_by_itself(program: &OverwritingProgram) {
    for (way, signal) in [("segv", 11), ("abort", 6), ("kill", 9)] {
        assert_eq!(output(&mut program.command(&[way], &[])).status.signal(), Some(signal));
        check(program, Some(1), true);
    }
}

fn killed_at_any_moment(program: &OverwritingProgram) {
    for round in 0..10_u64 {
        let (way, memory) =
            (["forever", "dump forever"][round as usize % 2], [SMALL, "256K", "128K"][round as usize % 3]);
        let mut child = program.command(&[way], &[("TUMIT_MEMORY", memory)]).spawn().expect("it starts");
        // Each thread makes more records than there is room for.
        while program.witnessed()[1] < 30_000 || program.witnessed()[2] < 30_000 {
            assert!(child.try_wait().expect("it started").is_none(), "it ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(round * 3_137));
        child.kill().expect("it can be killed");
        assert_eq!(child.wait().expect("it ended").signal(), Some(9));
        check(program, (way == "forever").then_some(1), true);
    }
}

/// If neither the file nor a live file has room, the newest records are dropped. The rest of the
/// check holds.
fn on_a_full_disk(program: &OverwritingProgram) {
    // Sizes too small for a live file; then sizes for it and a part of the file.
    let disks = ["size=100k", "size=300k", "size=1300k", "size=1500k"].map(|size| ["disk", size]);
    let limits = ["60000", "250000", "1300000", "1600000"].map(|size| ["limit", size]);
    for way in disks.into_iter().chain(limits) {
        let output = output(&mut program.command(&way, &[]));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let file = program.collect();
        let ((written, dropped), emitted) = (file.totals(), program.witnessed()[0]);
        assert_eq!(written, ticks(&file, 0).len() as u64, "the end has the number of records");
        let mapped = file.process_integer(tag::BUFFERS) == Some(1);
        // Space was reserved for the end of the file, which reports the losses; otherwise the live
        // file reports them.
        let has_end = file.end.as_ref().and_then(|tags| tags.get(&tag::REPAIRED)).is_none();
        assert!(has_end || mapped, "{way:?}");
        assert_eq!(written + dropped, emitted, "{way:?}");
        assert_eq!(mapped, ["size=1300k", "size=1500k", "1300000", "1600000"].contains(&way[1]), "{way:?}");
        let stretches = stretches(&ticks(&file, 0));
        assert!(
            !mapped || stretches.last().is_some_and(|(_, end)| *end == emitted),
            "{way:?}: {stretches:?} of {emitted}"
        );
    }
}

/// Full disks, file size limits and removed folders, with any memory size, in both modes, for
/// levels that overwrite or drop. Records and reported losses add up to all calls.
fn full_disks_add_up(program: &OverwritingProgram, times: u64) {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    // Each run tries other cases, and a failure prints the seed.
    let mut random = XorshiftGenerator(u64::from(since.subsec_nanos()) << 20 | 1);
    for number in 0..times {
        let name = format!("disk {number}, seed {}", random.0);
        let memory = 128 << random.below(6);
        // Less than the live file needs, or enough for it and a part of the file.
        let kilobytes = random.below(2) * (memory + 400) + 100 + random.below(3000);
        let (size, bytes) = (format!("size={kilobytes}k"), (kilobytes << 10).to_string());
        let way = match random.below(4) {
            0 => ["gone", ""],
            1 => ["disk", &size],
            _ => ["limit", &bytes],
        };
        let policy = ["L=overwrite", "L=drop"][random.below(2) as usize];
        let buffers = ["mapped", "private"][random.below(2) as usize];
        let memory = format!("{memory}K");
        let settings = [("TUMIT_MEMORY", &*memory), ("TUMIT_POLICY", policy), ("TUMIT_BUFFERS", buffers)];
        let output = output(&mut program.command(&way, &settings));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {way:?} {settings:?}: {:?} {errors}", output.status);
        let file = program.collect();
        let ((written, dropped), emitted) = (file.totals(), program.witnessed()[0]);
        assert_eq!(
            written,
            ticks(&file, 0).len() as u64,
            "{name}: {way:?} {settings:?}: the end has the number of records"
        );
        assert_eq!(
            (written + dropped, emitted),
            (emitted, 120_000),
            "{name}: {way:?} {settings:?}: {written} + {dropped}: {errors}"
        );
    }
}

#[test]
fn records_and_reported_losses_add_up_on_full_disks() {
    full_disks_add_up(&OverwritingProgram::new(GNU99, &[]), 16);
    // One of the first attempts detects it; their number depends on chance.
    let broken = OverwritingProgram::new(GNU99, &["-DTUMIT1_BROKEN_FLIGHT_RECORDER=1"]);
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| full_disks_add_up(&broken, 200))).is_err());
}

#[test]
#[ignore = "takes minutes; cargo test --workspace --test c_recorder -- --ignored flight_recorder::a_thousand"]
fn a_thousand_full_disks_add_up() {
    full_disks_add_up(&OverwritingProgram::new(GNU99, &[]), 1_000);
}

/// A check and its name.
type Check = (&'static str, fn(&OverwritingProgram));

const CHECKS: [Check; 5] = [
    ("ends in order", ends_in_order),
    ("written on request", written_on_request),
    ("killed by itself", killed_by_itself),
    ("killed at any moment", killed_at_any_moment),
    ("on a full disk", on_a_full_disk),
];

#[test]
fn overwriting_keeps_the_newest_records() {
    let program = OverwritingProgram::new(GNU99, &[]);
    for (name, check) in CHECKS {
        println!("{name}");
        check(&program);
    }
    for (compiler, extra) in [
        (CLANG, &[][..]),
        (GNU99, &["-DTUMIT_NO_THREAD"]),
        (GNU99, &["-DTUMIT_CLOCK()=clock_now()", "-include", "clock.h"]),
    ] {
        let program = if extra.len() > 1 { with_own_clock(extra) } else { OverwritingProgram::new(compiler, extra) };
        ends_in_order(&program);
        killed_by_itself(&program);
    }
}

/// A program with a user clock and small timestamps.
fn with_own_clock(extra: &[&str]) -> OverwritingProgram {
    let folder = folder();
    let clock = "#include <stdint.h>\nstatic __inline__ uint64_t clock_now(void) { static uint64_t now; return __atomic_add_fetch(&now, 1u, __ATOMIC_RELAXED); }\n";
    std::fs::write(folder.path().join("clock.h"), clock).expect("a writable folder");
    let include = format!("-I{}", folder.path().display());
    let extra = [&["-D_GNU_SOURCE", "-O1", &include], extra].concat();
    let program = build(folder.path(), GNU99, SPEC, PROGRAM, &extra).unwrap_or_else(|error| panic!("{error}"));
    OverwritingProgram { folder, program }
}

#[test]
fn injected_faults_are_detected() {
    for broken in ["-DTUMIT1_BROKEN_FLIGHT_RECORDER=1", "-DTUMIT1_BROKEN_FLIGHT_RECORDER=2"] {
        let program = OverwritingProgram::new(GNU99, &[broken]);
        for (name, check) in CHECKS {
            let has_failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&program))).is_err();
            assert!(has_failed, "{broken}: {name}");
        }
    }
}
