//! Clock samples over a program's own channel: processes in Rust, in C, and both together. Each has
//! a clock of its own that is seconds off and runs faster or slower. The true timestamps of all
//! samples are known.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use tests::lang::c::{C99, CCompiler, CXX11, build};
use tests::programs::{mpirun, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;
use tracer_rt::clock_sync::{self, DuplexStream, StreamLinks, SyncGroup, SyncLink as _};

tracer_rt::events!("tests/clock_samples.tumit");

const SPEC: &str = include_str!("clock_samples.tumit");
const PROGRAM: &str = include_str!("clock_samples.c");
const ARGUMENTS: &str = "TUMIT_TEST_PROCESS";
/// Exchanges with a peer in a burst, unless specified otherwise.
const EXCHANGES: usize = 300;

static BASE: AtomicI64 = AtomicI64::new(0);
static OFFSET: AtomicI64 = AtomicI64::new(0);
static PPM: AtomicI64 = AtomicI64::new(0);
/// The step of the clock. It is longer than the time between two readings of the clocks, so that no
/// other gap between records equals the step.
static AHEAD: AtomicI64 = AtomicI64::new(0);
const SET_NANOS: i64 = 1_000_000_000;

fn truth() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as i64
}

fn ticks() -> u64 {
    let gone = truth() - BASE.load(Ordering::Relaxed);
    let drift = gone / 1000 * PPM.load(Ordering::Relaxed) / 1000;
    (OFFSET.load(Ordering::Relaxed) + gone + drift + AHEAD.load(Ordering::Relaxed)) as u64
}

/// Records a timestamp and the true time, read closely together.
fn mark() {
    let read = || {
        let before = truth();
        let at = tracer_rt::now();
        (before, at, truth() - before)
    };
    let (before, at, width) = (0..1000).map(|_| read()).find(|(.., width)| *width < 10_000).unwrap_or_else(read);
    app::mark(at, (before + width / 2) as u64);
}

fn rest() {
    std::thread::sleep(Duration::from_millis(150));
}

/// Connects a socket to each other process.
fn meet(folder: &Path, me: u32, all: u32) -> Vec<Option<UnixStream>> {
    let path = |number| folder.join(format!("{number}.sock"));
    let listener = UnixListener::bind(path(me)).unwrap();
    let mut streams: Vec<Option<UnixStream>> = (0..all).map(|_| None).collect();
    for peer in 0..me {
        let mut stream = (0..10_000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(2));
            UnixStream::connect(path(peer)).ok()
        });
        stream.as_mut().unwrap().write_all(&[me as u8]).unwrap();
        streams[peer as usize] = stream;
    }
    for _ in me + 1..all {
        let (mut stream, _) = listener.accept().unwrap();
        let mut who = [0];
        stream.read_exact(&mut who).unwrap();
        streams[usize::from(who[0])] = Some(stream);
    }
    streams
}

#[test]
#[ignore = "the other tests run it, in a process of its own"]
fn child() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let words: Vec<&str> = arguments.split(' ').collect();
    let [me, all, folder, offset, ppm, base, act] = words[..] else { panic!("{words:?}") };
    let (me, all): (u32, u32) = (me.parse().unwrap(), all.parse().unwrap());
    for (to, text) in [(&OFFSET, offset), (&PPM, ppm), (&BASE, base)] {
        to.store(text.parse().unwrap(), Ordering::Relaxed);
    }
    let streams = meet(Path::new(folder), me, all);
    // Each socket becomes two handles, like a pair of pipes.
    let streams =
        streams.into_iter().map(|stream| stream.map(|stream| DuplexStream(stream.try_clone().unwrap(), stream)));
    let mut group = SyncGroup::new(StreamLinks::new(streams), me, all);
    let mut config = tracer_rt::RecorderConfig::default();
    if std::env::var_os("MACHINE_CLOCK").is_none() {
        assert!(tracer_rt::set_clock(ticks, 1_000_000_000));
        config.clock_domain = Some(format!("clock {me}"));
    }
    tracer_rt::start(config).unwrap();
    mark();
    if act == "fork" {
        // SAFETY: no other thread of this process has a lock that the child needs.
        let child = unsafe { libc::fork() };
        if child != 0 {
            let mut status = -1;
            // SAFETY: the pointer is to a local of the right type.
            unsafe { libc::waitpid(child, &raw mut status, 0) };
            return assert_eq!(status, 0);
        }
    }
    if act == "silent" && me == all - 1 {
        tracer_rt::finish();
    }
    if act == "measure" {
        measure(&mut group, me);
    }
    for _ in 0..2 {
        if act == "star" {
            let mut link = group.into_inner();
            let peers: Vec<u32> = (0..all - 1).collect();
            let done =
                if me == all - 1 { clock_sync::ask(&mut link, &peers) } else { clock_sync::answer(&mut link, all - 1) };
            done.unwrap();
            group = SyncGroup::new(link, me, all);
        } else {
            group.sync().unwrap();
        }
        rest();
        if act == "set" && me == 1 {
            AHEAD.store(SET_NANOS, Ordering::Relaxed);
        }
        mark();
        rest();
    }
    let points = if act == "points" { 500 } else { 0 };
    for _ in 0..points {
        group.sync_point().unwrap();
        std::thread::sleep(Duration::from_millis(4));
    }
    mark();
    if act == "fork" {
        // SAFETY: ends the process in order.
        unsafe { libc::exit(0) };
    }
}

/// Prints the best and the median duration of twenty bursts, and the duration of a point.
fn measure(group: &mut SyncGroup<impl clock_sync::SyncLink>, me: u32) {
    const POINTS: u32 = 1_000_000;
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let start = Instant::now();
            group.sync().unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    let start = Instant::now();
    for _ in 0..POINTS {
        group.sync_point().unwrap();
    }
    let point = start.elapsed() / POINTS;
    if me == 0 {
        eprintln!("a burst: {:?}, at best {:?}; a point: {point:?}", times[10], times[0]);
    }
}

/// One of the programs that take part.
#[derive(Clone)]
enum Process {
    Rust,
    C(PathBuf),
}

impl Process {
    fn start(&self, arguments: &[String], run: &Path, environment: &[(&str, &str)]) -> Child {
        let mut command = match self {
            Self::Rust => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", "child", "--ignored", "--nocapture"]).env(ARGUMENTS, arguments.join(" "));
                command
            }
            Self::C(program) => {
                let mut command = Command::new(program);
                command.args(arguments);
                command
            }
        };
        for variable in ["TUMIT_LEVELS", "TUMIT_SYNC_EXCHANGES", "TUMIT_SYNC_SECONDS"] {
            command.env_remove(variable);
        }
        command.env("TUMIT_TRACE", run).envs(environment.iter().copied()).stdout(Stdio::null()).spawn().unwrap()
    }
}

/// A clock: its reading at the base time, and its drift in millionths.
#[derive(Clone, Copy)]
struct Clock {
    offset: i64,
    ppm: i64,
}

/// The clock of process `me`.
fn clock(me: usize) -> Clock {
    let me = me as i64;
    Clock { offset: 10_000_000_000 + me * 3_000_000_000, ppm: [0, 40, -50, 25, -10][me as usize % 5] }
}

struct Job {
    run: PathBuf,
    base: i64,
    /// In the order of the processes' numbers.
    files: Vec<ProcessFile>,
    _folder: tempfile::TempDir,
}

fn run(processes: &[Process], act: &str, environment: &[(&str, &str)]) -> Job {
    let folder = tempfile::tempdir().unwrap();
    let (run, base) = (folder.path().join("run.tmt"), truth());
    let children: Vec<Child> = (0..)
        .zip(processes)
        .map(|(me, process)| {
            let Clock { offset, ppm } = clock(me);
            let path = folder.path().display().to_string();
            let numbers = [me as i64, processes.len() as i64, offset, ppm, base].map(|number| number.to_string());
            let [me, all, offset, ppm, base] = numbers;
            process.start(&[me, all, path, offset, ppm, base, act.to_owned()], &run, environment)
        })
        .collect();
    for (me, mut child) in children.into_iter().enumerate() {
        assert!(child.wait().unwrap().success(), "process {me}");
    }
    let mut files = read(&run);
    files.sort_by_key(|file| file.process[&tag::CLOCK_DOMAIN].clone());
    Job { run, base, files, _folder: folder }
}

impl Job {
    fn id(&self, me: usize) -> u64 {
        u64::from_le_bytes(*self.files[me].process[&tag::PROCESS_ID].first_chunk().unwrap())
    }

    /// The true time at a reading of a process's clock.
    fn true_date(&self, me: usize, ticks: u64) -> i64 {
        let Clock { offset, ppm } = clock(me);
        let gone = (ticks as i64 - offset) as f64 / (1.0 + ppm as f64 * 1e-6);
        self.base + gone as i64
    }

    /// Checks that every process has `exchanges` samples of each burst with each of these peers,
    /// and that all of them are true.
    fn check(&self, peers: &[&[usize]], bursts: usize, exchanges: usize) {
        const ROUNDING: i64 = 3000;
        assert_eq!(self.files.len(), peers.len());
        for (me, (file, peers)) in self.files.iter().zip(peers).enumerate() {
            assert_eq!(file.sync.len(), peers.len() * bursts * exchanges, "process {me}");
            for &peer in *peers {
                for burst in 0..bursts {
                    let found = file.sync.iter().filter(|s| s.burst == burst as u32 && s.peer == self.id(peer));
                    assert_eq!(found.count(), exchanges, "process {me} with {peer}, burst {burst}");
                }
            }
            for sample in &file.sync {
                let peer = peers.iter().copied().find(|peer| self.id(*peer) == sample.peer).unwrap();
                let dates = [(me, sample.t1), (peer, sample.t2), (peer, sample.t3), (me, sample.t4)]
                    .map(|(of, ticks)| self.true_date(of, ticks));
                assert!(dates.windows(2).all(|two| two[0] <= two[1] + ROUNDING), "process {me} with {peer}: {dates:?}");
                assert!(dates[0] > self.base && dates[3] < self.base + 600_000_000_000, "{dates:?}");
            }
        }
    }

    fn sync(&self) -> Vec<Value> {
        let text = succeed(tumit().args(["sync", "--json"]).arg(&self.run));
        serde_json::from_str::<Value>(&text).unwrap()["clocks"].as_array().unwrap().clone()
    }

    /// The largest difference between the corrected timestamps of the marks and the true time, in
    /// nanoseconds.
    fn spread(&self, clock: &str) -> i64 {
        let dumped = tumit().arg("dump").arg(&self.run).args(["--clock", clock]).output().unwrap();
        let text = String::from_utf8(dumped.stdout).unwrap();
        let errors = text.lines().filter_map(|line| {
            let value = |name| line.split_whitespace().find_map(|word| word.strip_prefix(name));
            let truth: i64 = value("truth=")?.parse().ok()?;
            let (seconds, nanos) = value("at=")?.split_once('.')?;
            let sign = if seconds.starts_with('-') { -1 } else { 1 };
            let date = seconds.parse::<i64>().ok()? * 1_000_000_000 + sign * nanos.parse::<i64>().ok()?;
            Some(date - (truth - self.base))
        });
        let errors: Vec<i64> = errors.collect();
        assert!(errors.len() > 3, "{text}");
        errors.iter().max().unwrap() - errors.iter().min().unwrap()
    }

    fn check_corrected(&self, bursts: u64) {
        const BOUND: i64 = 300_000;
        let clocks = self.sync();
        assert_eq!(clocks.len(), self.files.len());
        for clock in clocks.iter().filter(|clock| clock["status"] != "reference") {
            assert!(clock["status"] == "bursts" && clock["bursts"] == bursts, "{clock}");
        }
        for by in ["bursts", "graph"] {
            let spread = self.spread(by);
            assert!(spread < BOUND, "{by}: {spread} ns");
        }
        let spread = self.spread("none");
        assert!(spread > 1_000_000_000, "as they are: {spread} ns");
    }
}

fn in_c(folder: &Path, compiler: CCompiler, extra: &[&str]) -> Process {
    Process::C(build(folder, compiler, SPEC, PROGRAM, extra).unwrap_or_else(|error| panic!("{error}")))
}

/// The peers that each of two and of four processes queries: for each pair of numbers that differ
/// in one bit, the lower one queries.
const TWO: [&[usize]; 2] = [&[1], &[]];
const FOUR: [&[usize]; 4] = [&[1, 2], &[3], &[3], &[]];

#[test]
fn processes_in_rust_compare_their_clocks() {
    let job = run(&[Process::Rust, Process::Rust], "all", &[]);
    job.check(&TWO, 2, EXCHANGES);
    job.check_corrected(2);
    let four = vec![Process::Rust; 4];
    let job = run(&four, "all", &[("TUMIT_SYNC_EXCHANGES", "40")]);
    job.check(&FOUR, 2, 40);
    job.check_corrected(2);
    // A process that is not the reference queries all others: one burst each time.
    let job = run(&four, "star", &[("TUMIT_SYNC_EXCHANGES", "40")]);
    job.check(&[&[], &[], &[], &[0, 1, 2]], 2, 40);
    job.check_corrected(2);
}

#[test]
fn processes_in_c_compare_their_clocks() {
    for compiler in [C99, CXX11, CCompiler { command: "clang", flags: &["-std=gnu11"] }] {
        let folder = tempfile::tempdir().unwrap();
        let c = in_c(folder.path(), compiler, &[]);
        let job = run(&vec![c.clone(); 4], "all", &[]);
        job.check(&FOUR, 2, EXCHANGES);
        job.check_corrected(2);
        let job = run(&vec![c; 3], "star", &[("TUMIT_SYNC_EXCHANGES", "35")]);
        job.check(&[&[], &[], &[0, 1]], 2, 35);
        job.check_corrected(2);
    }
}

#[test]
fn rust_and_c_use_the_same_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    for (processes, act) in [
        ([Process::Rust, c.clone(), c.clone(), Process::Rust], "all"),
        ([c.clone(), Process::Rust, Process::Rust, c.clone()], "all"),
    ] {
        let job = run(&processes, act, &[("TUMIT_SYNC_EXCHANGES", "50")]);
        job.check(&FOUR, 2, 50);
        job.check_corrected(2);
    }
    for pair in [[Process::Rust, c.clone()], [c, Process::Rust]] {
        let job = run(&pair, "star", &[("TUMIT_SYNC_EXCHANGES", "50")]);
        job.check(&[&[], &[0]], 2, 50);
    }
}

#[test]
fn processes_without_exchanges_stay_in_step() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    let off_folder = tempfile::tempdir().unwrap();
    let off = in_c(off_folder.path(), C99, &["-DTUMIT_OFF"]);
    let four = [Process::Rust, c.clone(), c.clone(), Process::Rust];
    let job = run(&four, "all", &[("MACHINE_CLOCK", "1")]);
    assert!(job.files.len() == 4 && job.files.iter().all(|file| file.sync.is_empty()), "one clock");
    let job = run(&four, "all", &[("TUMIT_SYNC_EXCHANGES", "0")]);
    job.check(&[&[] as &[usize]; 4], 2, 0);
    let job = run(&[c.clone(), Process::Rust], "star", &[("TUMIT_SYNC_EXCHANGES", "0")]);
    job.check(&[&[] as &[usize]; 2], 2, 0);
    assert!(job.sync().iter().all(|clock| clock["status"] != "bursts"), "without samples");
    // The last process has ended its recording; the others compare their clocks.
    let silent: [&[usize]; 4] = [&[1, 2], &[], &[], &[]];
    for last in [Process::Rust, c.clone()] {
        let processes = [c.clone(), Process::Rust, c.clone(), last];
        run(&processes, "silent", &[("TUMIT_SYNC_EXCHANGES", "20")]).check(&silent, 2, 20);
    }
    for pair in [[off.clone(), Process::Rust], [Process::Rust, off.clone()], [off, c]] {
        let job = run(&pair, "star", &[]);
        assert!(job.files.len() == 1 && job.files[0].sync.is_empty(), "a peer without a recorder");
    }
}

/// A clock step in a short run is reported, and the corrected clock follows it.
#[test]
fn a_clock_step_in_a_run_of_less_than_a_second_is_reported_and_corrected() {
    let folder = tempfile::tempdir().unwrap();
    for process in [Process::Rust, in_c(folder.path(), C99, &[])] {
        let job = run(&vec![process; 2], "set", &[]);
        let told = tumit().args(["sync", "--json"]).arg(&job.run).output().unwrap();
        assert_eq!(told.status.code(), Some(1), "it is a fault");
        let told: Value = serde_json::from_slice(&told.stdout).unwrap();
        let faults = told["faults"].to_string();
        assert!(faults.contains("was stepped by +1000.0") && faults.matches("was stepped").count() == 1, "{faults}");
        let spread = job.spread("graph");
        assert!(spread < 1_000_000, "{spread} ns");
    }
}

/// Samples taken after a fork belong to the children: their files contain them, with the ids of the
/// children.
#[test]
fn forked_children_compare_their_clocks() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &[]);
    let mut job = run(&[c, Process::Rust], "fork", &[("TUMIT_SYNC_EXCHANGES", "20")]);
    let (children, parents) = job.files.drain(..).partition(|file| file.process.contains_key(&tag::PARENT_ID));
    job.files = parents;
    job.check(&[&[], &[]], 2, 20);
    job.files = children;
    job.check(&TWO, 2, 20);
}

/// A channel that transmits wrong data causes an error on that side, and no sample.
#[test]
fn tcp_works_and_wrong_data_gives_an_error_and_no_sample() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.path().join("run.tmt"));
    tracer_rt::start(config).unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (peer, _) = listener.accept().unwrap();
    let mut link = StreamLinks::tcp([None, Some(stream)]).unwrap();
    assert!(peer.set_nodelay(true).is_ok() && link.send(0, &[0; 24]).is_err(), "there is no stream to 0");
    let there = std::thread::spawn(move || {
        let mut link = StreamLinks::new([Some(peer)]);
        // Both ends are in one process with one clock, so that there is nothing to measure.
        clock_sync::answer(&mut link, 0).unwrap();
        let mut message = [1; 24];
        link.receive(0, &mut message).unwrap();
        link.send(0, &message.map(|byte| !byte)).unwrap();
        link.into_inner().remove(0).unwrap()
    });
    clock_sync::ask(&mut link, &[1]).unwrap();
    let error = clock_sync::ask(&mut link, &[1]).unwrap_err();
    assert!(error.to_string().starts_with("peer 1 sent 0x"), "{error}");
    drop(there.join().unwrap());
    assert!(clock_sync::ask(&mut link, &[1]).is_err(), "the peer is gone");
    assert!(link.into_inner()[1].as_ref().unwrap().nodelay().unwrap());
    tracer_rt::finish();
}

#[test]
#[ignore = "measures, for docs/clock-samples.md: --ignored --nocapture costs"]
fn costs() {
    for processes in [2, 4] {
        for exchanges in ["0", "10", "30", "300", "1000"] {
            eprint!("{processes} processes, {exchanges} exchanges: ");
            let job = run(&vec![Process::Rust; processes], "measure", &[("TUMIT_SYNC_EXCHANGES", exchanges)]);
            let bytes: u64 = job.files.iter().map(|file| std::fs::metadata(&file.path).unwrap().len()).sum();
            eprintln!("  {} bytes a burst in all files", bytes / 22);
        }
    }
}

#[test]
fn points_take_samples_when_the_last_ones_are_old() {
    let folder = tempfile::tempdir().unwrap();
    let c = in_c(folder.path(), C99, &["-DTUMIT_SYNC_EXCHANGES=10", "-DTUMIT_SYNC_SECONDS=3600"]);
    let seconds = [("TUMIT_SYNC_SECONDS", "1"), ("TUMIT_SYNC_EXCHANGES", "10")];
    for processes in [[Process::Rust, c.clone(), Process::Rust], [c.clone(), Process::Rust, c.clone()]] {
        let job = run(&processes, "points", &seconds);
        let bursts = job.files[0].sync.iter().map(|sample| sample.burst).max().unwrap() as usize + 1;
        assert!((3..=2 + 5).contains(&bursts), "{bursts} bursts");
        job.check(&[&[1, 2], &[], &[]], bursts, 10);
    }
    // The interval of an hour is not over, at compile time or at run time.
    run(&vec![c; 3], "points", &[]).check(&[&[1, 2], &[], &[]], 2, 10);
    let job = run(&[Process::Rust, Process::Rust], "points", &[("TUMIT_SYNC_SECONDS", "0")]);
    job.check(&TWO, 2, EXCHANGES);
}

/// Ranks with clocks of their own that call a point in a loop. `TUMIT_MPI_LATE` gives rank 1 other
/// options.
const MPI: &str = r#"
#define TUMIT_MPI
#include "samples_trace.h"
#include <stdlib.h>
static int64_t base, offset;
static int64_t truth(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}
static uint64_t ticks(void) { return (uint64_t)(offset + truth() - base); }
int main(int argc, char **argv) {
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK")), i, took = 0;
    char domain[16];
    base = atoll(argv[1]);
    offset = 10000000000 + (int64_t)rank * 3000000000;
    if (rank != 0) { setenv("TUMIT_SYNC_EXCHANGES", "77", 1); setenv("TUMIT_SYNC_SECONDS", "0", 1); }
    snprintf(domain, sizeof domain, "clock %d", rank);
    if (tumit1_set_clock(ticks, 1000000000u, domain) != 0) { return 1; }
    MPI_Init(&argc, &argv);
    for (i = 0; i < 500; i++) {
        struct timespec pause = {0, 4000000};
        took += tumit1_mpi_sync_point();
        (void)nanosleep(&pause, NULL);
    }
    samples_mark(tumit1_now(), (uint64_t)truth());
    MPI_Finalize();
    if (rank == 0) { printf("took %d\n", took); }
    return 0;
}
"#;

#[test]
fn ranks_take_samples_in_between_and_the_options_of_rank_0_count() {
    for (command, flags) in [("mpicc", &["-std=gnu99"][..]), ("mpicxx", &["-std=c++11", "-x", "c++"][..])] {
        let folder = tempfile::tempdir().unwrap();
        let program =
            build(folder.path(), CCompiler { command, flags }, SPEC, MPI, &[]).unwrap_or_else(|e| panic!("{e}"));
        for (seconds, exchanges) in [("1", "15"), ("0", "15"), ("1", "0")] {
            let run = folder.path().join(format!("{seconds}-{exchanges}.tmt"));
            let mut job = mpirun(3);
            job.arg(&program).arg(truth().to_string()).current_dir(folder.path()).env("TUMIT_TRACE", &run);
            let said = succeed(job.env("TUMIT_SYNC_SECONDS", seconds).env("TUMIT_SYNC_EXCHANGES", exchanges));
            let took: usize = said.trim().strip_prefix("took ").unwrap().parse().unwrap();
            assert_eq!(took > 0, (seconds, exchanges) == ("1", "15"), "{said}");
            let mut files = read(&run);
            files.sort_by_key(|file| file.process_integer(tag::RANK));
            let bursts = if exchanges == "0" { 0 } else { took + 2 };
            let of_each = bursts * exchanges.parse::<usize>().unwrap();
            assert_eq!([0, 1, 2].map(|rank: usize| files[rank].sync.len()), [2 * of_each, 0, 0], "{took} in between");
        }
    }
}
