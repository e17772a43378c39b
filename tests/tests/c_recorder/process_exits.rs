//! After every kind of process exit, a C run is readable. A witness outside the process (a page
//! shared with the test) counts the calls that returned. The records in the run and the reported
//! losses add up to that number.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use tests::lang::c::{CCompiler, GNU99, build, build_with_shared_recorder, folder};
use tests::programs::{mpirun, output, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;

mod levels;
mod limits;

const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: interned } }\n";

/// The program. The variable `WITNESS` names the witness file, with the count in its first word.
/// The first argument selects the kind of exit.
const PROGRAM: &str = include_str!("../../c_programs/process_exits.c");

const SIGABRT: i32 = 6;
const SIGKILL: i32 = 9;
const SIGSEGV: i32 = 11;
const SIGTERM: i32 = 15;

const CLANG: CCompiler = CCompiler { command: "clang", flags: &["-std=gnu11"] };

fn program(folder: &Path, compiler: CCompiler, extra: &[&str]) -> PathBuf {
    build(folder, compiler, TICK, PROGRAM, &[&["-D_GNU_SOURCE", "-O1"], extra].concat())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The final state of a run.
struct ExitedProgram {
    status: ExitStatus,
    errors: String,
    files: Vec<ProcessFile>,
    witness: u64,
}

fn launch(folder: &Path, program: &Path, way: &str, environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(program);
    command.arg(way).current_dir(folder).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", folder.join("run.tmt"));
    command.env("WITNESS", folder.join("witness")).envs(environment.iter().copied());
    std::fs::write(folder.join("witness"), [0; 4096]).expect("a writable folder");
    command
}

fn witness(folder: &Path) -> u64 {
    let page = std::fs::read(folder.join("witness")).expect("the witness is there");
    u64::from_le_bytes(*page.first_chunk().expect("a page"))
}

/// Repairs the run with the `tumit` command, and reads it with the oracle.
fn collect(folder: &Path) -> Vec<ProcessFile> {
    let run = folder.join("run.tmt");
    succeed(tumit().arg("repair").arg(&run));
    let paths: Vec<_> = std::fs::read_dir(&run).expect("a run").map(|entry| entry.expect("an entry").path()).collect();
    assert!(paths.iter().all(|path| path.extension().is_some_and(|end| end == "tmt")), "{paths:?}");
    read(&run)
}

fn run(folder: &Path, program: &Path, way: &str, environment: &[(&str, &str)]) -> ExitedProgram {
    let output = output(&mut launch(folder, program, way, environment));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    ExitedProgram { status: output.status, errors, files: collect(folder), witness: witness(folder) }
}

fn sums(files: &[ProcessFile]) -> (u64, u64) {
    let totals: Vec<_> = files.iter().map(ProcessFile::totals).collect();
    let recorded: usize = files.iter().flat_map(|file| file.records.values()).map(Vec::len).sum();
    assert_eq!(totals.iter().map(|total| total.0).sum::<u64>(), recorded as u64, "the end has the number of records");
    (recorded as u64, totals.iter().map(|total| total.1).sum())
}

#[test]
fn every_process_exit_loses_no_records() {
    for (compiler, extra) in [(GNU99, &[][..]), (CLANG, &[]), (GNU99, &["-DTUMIT_NO_THREAD"]), (GNU99, &["-static"])] {
        let folder = folder();
        let program = program(folder.path(), compiler, extra);
        let all = extra.is_empty() && compiler.command == "gcc";
        let ways = [
            ("return", None),
            ("exit", None),
            ("exit-in-thread", None),
            ("_exit", None),
            ("quick_exit", None),
            ("main-leaves", None),
            ("exec", None),
            ("finish", None),
            ("abort", Some(SIGABRT)),
            ("segv", Some(SIGSEGV)),
            ("term", Some(SIGTERM)),
            ("kill", Some(SIGKILL)),
            ("fork", None),
            ("fork-exec", None),
            ("fork-in-handler", None),
        ];
        // The other builds differ only in a part of the exits.
        for (way, signal) in
            ways.into_iter().filter(|(way, _)| all || ["return", "kill", "fork", "main-leaves"].contains(way))
        {
            let outcome = run(folder.path(), &program, way, &[]);
            assert_eq!(outcome.status.signal(), signal, "{compiler:?} {extra:?} {way}: {}", outcome.errors);
            assert!(signal.is_some() || outcome.status.success(), "{way}: {}", outcome.errors);
            let (recorded, dropped) = sums(&outcome.files);
            assert!(outcome.witness >= 12_000, "{way}");
            // The record of the call in which the handler forked may belong to the parent or to the
            // child.
            let surplus = (recorded + dropped).wrapping_sub(outcome.witness);
            assert!(
                dropped == 0 && surplus <= u64::from(way == "fork-in-handler"),
                "{compiler:?} {extra:?} {way}: {recorded} + {dropped} of {}: {}",
                outcome.witness,
                outcome.errors
            );
            if way.starts_with("fork") {
                let ids: Vec<_> = outcome.files.iter().map(|file| &file.process[&tag::PROCESS_ID]).collect();
                let parent = |file: &ProcessFile| file.process.get(&tag::PARENT_ID).cloned();
                let linked = outcome.files.iter().filter_map(parent).filter(|parent| ids.contains(&parent)).count();
                let files = if way == "fork-exec" { 3 } else { 2 };
                assert_eq!((outcome.files.len(), linked), (files, 1), "children name their parent");
                // Includes programs that other programs of the run started.
                let of_pid = |file: &&ProcessFile| {
                    let parent = file.process_integer(tag::PARENT_PID);
                    outcome.files.iter().any(|file| file.process_integer(tag::PID) == parent)
                };
                assert_eq!(outcome.files.iter().filter(of_pid).count(), files - 1, "{way}");
            }
            std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        }
    }
}

/// Threads that end in three ways, and a forked child; with an argument, also the same program as a
/// child.
const ENDS: &str = r#"
#include "t_trace.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *returns(void *n) { t_tick((uint64_t)(uintptr_t)n); return NULL; }
static void *exits(void *n) { t_tick((uint64_t)(uintptr_t)n); pthread_exit(NULL); return NULL; }
static void *is_cancelled(void *n) { t_tick((uint64_t)(uintptr_t)n); for (;;) { pause(); } return NULL; }
int main(int count, char **arguments) {
    void *(*const ways[])(void *) = {returns, exits, is_cancelled};
    pthread_t threads[3];
    uintptr_t n;
    t_tick(0);
    for (n = 0; n < 3; n++) {
        if (pthread_create(&threads[n], NULL, ways[n], (void *)(n + 1)) != 0) { return 1; }
    }
    pthread_cancel(threads[2]);
    for (n = 0; n < 3; n++) { pthread_join(threads[n], NULL); }
    t_tick(4);
    if (fork() == 0) { t_tick(5); exit(0); }
    wait(NULL);
    if (count > 2 && system(arguments[0]) != 0) { return 1; }
    if (count > 1 && arguments[1][0] == 'k') { abort(); }
    return 0;
}
"#;

#[test]
fn ends_of_threads_and_processes_and_ids_of_launches_are_recorded() {
    let folder = folder();
    let program = build_with_shared_recorder(folder.path(), GNU99, TICK, ENDS, &["-D_GNU_SOURCE", "-O0"])
        .unwrap_or_else(|error| panic!("{error}"));
    for (arguments, files) in [(&[][..], 2), (&["killed"], 2), (&["", "with a child"], 4)] {
        let mut command = Command::new(&program);
        command.args(arguments).env_remove("TUMIT_LAUNCH_ID").env("TUMIT_TRACE", folder.path().join("run.tmt"));
        let is_killed = output(&mut command).status.signal() == Some(SIGABRT);
        assert_eq!(is_killed, arguments.len() == 1);
        let outcome = collect(folder.path());
        assert_eq!(outcome.len(), files);
        for file in &outcome {
            // The oracle compares ends with records. A cancelled thread may never have recorded.
            let is_child = file.process.contains_key(&tag::PARENT_ID);
            let with_end = file.streams.keys().filter(|stream| file.thread_end(**stream).is_some()).count();
            assert_eq!(with_end, if is_child { 0 } else { file.streams.len() - 1 }, "all threads but the first");
            assert!(is_child || with_end >= 2);
            let end = file.end.as_ref().and_then(|end| end.get(&tag::PROCESS_END));
            assert_eq!(end.is_none(), is_killed && !is_child, "the orderly end");
        }
        let ids: BTreeSet<_> = outcome.iter().map(|file| &file.process[&tag::LAUNCH]).collect();
        assert_eq!(ids.len(), 1, "children are of the launch: {ids:?}");
        assert_eq!(ids.first().map(|id| id.len()), Some(32));
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
    let twice = format!("'{0}' && '{0}'", program.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &twice]).env_remove("TUMIT_LAUNCH_ID").env("TUMIT_TRACE", folder.path().join("run.tmt"));
    succeed(&mut shell);
    let outcome = collect(folder.path());
    let ids: BTreeSet<_> = outcome.iter().map(|file| &file.process[&tag::LAUNCH]).collect();
    assert_eq!((outcome.len(), ids.len()), (4, 2), "a shell makes no launch");
}

/// The first thread ends by `pthread_exit`. Then the writer thread is the only thread.
const FIRST_THREAD_EXITS: &str = r#"
#include "t_trace.h"
#include <pthread.h>
#include <unistd.h>
int main(void) {
    t_tick(0);
    usleep(20000);
    t_tick(1);
    pthread_exit(NULL);
}
"#;

#[test]
fn the_writer_thread_does_not_keep_a_process_alive() {
    let folder = folder();
    let program = build_with_shared_recorder(folder.path(), GNU99, TICK, FIRST_THREAD_EXITS, &["-D_GNU_SOURCE", "-O0"])
        .unwrap_or_else(|error| panic!("{error}"));
    // The writer thread may poll just at the end of the thread. The minimum of several runs
    // excludes other delays.
    let relative_delay = || {
        succeed(Command::new(&program).env("TUMIT_TRACE", folder.path().join("run.tmt")));
        let outcome = collect(folder.path());
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        let file = &outcome[0];
        let ticks: Vec<u64> = file.records.values().flatten().map(|record| record.ticks).collect();
        let end = file.end.as_ref().and_then(|end| end.get(&tag::PROCESS_END)).expect("it ended in order");
        let end = u64::from_le_bytes(end.as_slice().try_into().expect("eight bytes"));
        (end - ticks[1]) as f64 / (ticks[1] - ticks[0]) as f64
    };
    let delay = (0..5).map(|_| relative_delay()).fold(f64::INFINITY, f64::min);
    assert!(delay < 2.0, "it lasts {delay} times its own 20 ms longer");
}

#[test]
fn kills_at_any_moment_lose_no_records() {
    kills(12);
}

#[test]
#[ignore = "takes minutes; cargo test --workspace --test c_recorder -- --ignored process_exits::a_thousand_kills"]
fn a_thousand_kills_lose_nothing() {
    kills(1_000);
}

fn kills(times: u64) {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for round in 0..times {
        let (way, memory) = (["forever", "forever-flush"][round as usize % 2], ["16M", "256K"][round as usize / 2 % 2]);
        let mut command = launch(folder.path(), &program, way, &[("TUMIT_MEMORY", memory)]);
        let mut child = command.spawn().expect("it starts");
        while witness(folder.path()) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros(round % 40 * 3_137 + round));
        child.kill().expect("it can be killed");
        assert_eq!(child.wait().expect("it ended").signal(), Some(SIGKILL));
        let run = folder.path().join("run.tmt");
        if run.exists() {
            let (recorded, dropped) = sums(&collect(folder.path()));
            let returned = witness(folder.path());
            // Each of the three threads may have published one record of a call that did not
            // return.
            assert!(
                (returned..=returned + 3).contains(&(recorded + dropped)),
                "{recorded} + {dropped}, {returned} returned"
            );
            std::fs::remove_dir_all(run).expect("the run can go");
        }
    }
}

#[test]
fn records_of_detached_threads_are_in_the_run() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for _ in 0..5 {
        let outcome = run(folder.path(), &program, "detached", &[]);
        assert!(outcome.status.success(), "{}", outcome.errors);
        let (recorded, dropped) = sums(&outcome.files);
        let page = std::fs::read(folder.path().join("witness")).expect("the witness");
        let before = u64::from_le_bytes(*page[8..].first_chunk().expect("what main saw when it left"));
        assert!(recorded + dropped >= before, "{recorded} + {dropped} of the {before} calls before the end");
        assert!(recorded + dropped <= outcome.witness + 3);
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
}

#[test]
fn an_aborted_job_keeps_its_records() {
    let folder = folder();
    let mpicc = CCompiler { command: "mpicc", flags: &["-std=gnu99"] };
    let source = r#"
#define TUMIT_MPI
#include "t_trace.h"
int main(int argc, char **argv) {
    int rank, n;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (n = 0; n < 10000; n++) { t_tick((uint64_t)n); }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) { MPI_Abort(MPI_COMM_WORLD, 3); }
    for (;;) { pause(); }
}
"#;
    let program = build(folder.path(), mpicc, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut command = mpirun(2);
    let output = command.arg(&program).env("TUMIT_TRACE", folder.path().join("run.tmt")).output().expect("mpirun");
    assert!(!output.status.success());
    let files = collect(folder.path());
    assert_eq!(files.len(), 2);
    assert_eq!(sums(&files), (20_000, 0));
}

#[test]
fn an_unloaded_library_ends_its_recorder() {
    let folder = folder();
    let library = "#include \"t_trace.h\"\nvoid work(uint64_t n);\nvoid work(uint64_t n) { t_tick(n); }\n";
    build(folder.path(), GNU99, TICK, library, &["-fPIC", "-shared"]).unwrap_or_else(|error| panic!("{error}"));
    std::fs::rename(folder.path().join("drive"), folder.path().join("lib.so")).expect("a library");
    let source = r#"
#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
static int threads(void) {
    DIR *folder = opendir("/proc/self/task");
    int count = -2;
    while (folder != NULL && readdir(folder) != NULL) { count++; }
    closedir(folder);
    return count;
}
int main(void) {
    int round;
    for (round = 0; round < 20; round++) {
        void *library = dlopen("./lib.so", RTLD_NOW);
        void (*work)(uint64_t);
        uint64_t n;
        if (library == NULL) { fputs(dlerror(), stderr); return 1; }
        *(void **)(void *)&work = dlsym(library, "work");
        for (n = 0; n < 5000; n++) { work(n); }
        dlclose(library);
        if (threads() != 1) { return 2; }
    }
    return 0;
}
"#;
    let path = folder.path().join("main.c");
    std::fs::write(&path, source).expect("a writable folder");
    let program = folder.path().join("main");
    GNU99.compile(&[&path], &program, &["-ldl"]).unwrap_or_else(|error| panic!("{error}"));
    let _ = tests::lang::c::record(&program, folder.path(), "run.tmt", &[]);
    let files = read(&folder.path().join("run.tmt"));
    assert_eq!((files.len(), sums(&files)), (20, (100_000, 0)));
}

#[test]
fn a_process_killed_at_its_start_leaves_no_incomplete_live_file() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let run = folder.path().join("run.tmt");
    for round in 0..40_u64 {
        let mut child = launch(folder.path(), &program, "forever", &[]).spawn().expect("it starts");
        std::thread::sleep(Duration::from_micros(400 + round * 60));
        child.kill().expect("it can be killed");
        child.wait().expect("it ended");
        for entry in std::fs::read_dir(&run).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|end| end == "tmt") {
                continue;
            }
            assert!(path.extension().is_some_and(|end| end == "live"), "{}", path.display());
            let bytes = std::fs::read(&path).expect("a file");
            let layout = tracer_format::live_file::LiveLayout::decode(&bytes).expect("a whole head");
            let used =
                u64::from_le_bytes(*bytes[tracer_format::live_file::head::LOG_USED..].first_chunk().expect("a word"));
            assert!(layout.process_id != [0; 16] && used > 0, "{}", path.display());
        }
        let _ = std::fs::remove_dir_all(&run);
    }
}
