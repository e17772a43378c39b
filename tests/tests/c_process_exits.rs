//! After every kind of process exit, a C run is readable. A witness outside the process (a page
//! shared with the test) counts the calls that returned. The records in the run and the reported
//! losses add up to that number.

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use tests::lang::c::{CCompiler, GNU99, build, folder};
use tests::programs::{losses, mpirun, output, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::tags::{integer, tag};

const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: interned } }\n";

/// The program. The variable `WITNESS` names the witness file, with the count in its first word.
/// The first argument selects the kind of exit.
const PROGRAM: &str = include_str!("../c_programs/process_exits.c");

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
struct Outcome {
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
    let left: Vec<_> = std::fs::read_dir(&run).expect("a run").map(|entry| entry.expect("an entry").path()).collect();
    assert!(left.iter().all(|path| path.extension().is_some_and(|end| end == "tmt")), "{left:?}");
    read(&run)
}

fn run(folder: &Path, program: &Path, way: &str, environment: &[(&str, &str)]) -> Outcome {
    let output = output(&mut launch(folder, program, way, environment));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome { status: output.status, errors, files: collect(folder), witness: witness(folder) }
}

fn sums(files: &[ProcessFile]) -> (u64, u64) {
    let totals: Vec<_> = files.iter().map(ProcessFile::totals).collect();
    let recorded: usize = files.iter().flat_map(|file| file.records.values()).map(Vec::len).sum();
    assert_eq!(totals.iter().map(|total| total.0).sum::<u64>(), recorded as u64, "the end says what is there");
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
            let (recorded, lost) = sums(&outcome.files);
            assert!(outcome.witness >= 12_000, "{way}");
            // The record of the call in which the handler forked may belong to the parent or to the
            // child.
            let more = (recorded + lost).wrapping_sub(outcome.witness);
            assert!(
                lost == 0 && more <= u64::from(way == "fork-in-handler"),
                "{compiler:?} {extra:?} {way}: {recorded} + {lost} of {}: {}",
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
                    outcome.files.iter().any(|other| other.process_integer(tag::PID) == parent)
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
#include <stdlib.h>
#include <sys/wait.h>
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
fn threads_and_processes_have_ends_and_launches_have_ids() {
    let folder = folder();
    let program =
        build(folder.path(), GNU99, TICK, ENDS, &["-D_GNU_SOURCE", "-O0"]).unwrap_or_else(|error| panic!("{error}"));
    for (arguments, files) in [(&[][..], 2), (&["killed"], 2), (&["", "with a child"], 4)] {
        let mut command = Command::new(&program);
        command.args(arguments).env_remove("TUMIT_LAUNCH_ID").env("TUMIT_TRACE", folder.path().join("run.tmt"));
        let is_killed = output(&mut command).status.signal() == Some(SIGABRT);
        assert_eq!(is_killed, arguments.len() == 1);
        let found = collect(folder.path());
        assert_eq!(found.len(), files);
        for file in &found {
            // The oracle compares ends with records. A cancelled thread may never have recorded.
            let is_child = file.process.contains_key(&tag::PARENT_ID);
            let ended = file.streams.keys().filter(|stream| file.thread_end(**stream).is_some()).count();
            assert_eq!(ended, if is_child { 0 } else { file.streams.len() - 1 }, "all threads but the first");
            assert!(is_child || ended >= 2);
            let end = file.end.as_ref().and_then(|end| end.get(&tag::PROCESS_END));
            assert_eq!(end.is_none(), is_killed && !is_child, "the orderly end");
        }
        let ids: BTreeSet<_> = found.iter().map(|file| &file.process[&tag::LAUNCH]).collect();
        assert_eq!(ids.len(), 1, "children are of the launch: {ids:?}");
        assert_eq!(ids.first().map(|id| id.len()), Some(32));
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
    let twice = format!("'{0}' && '{0}'", program.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &twice]).env_remove("TUMIT_LAUNCH_ID").env("TUMIT_TRACE", folder.path().join("run.tmt"));
    succeed(&mut shell);
    let found = collect(folder.path());
    let ids: BTreeSet<_> = found.iter().map(|file| &file.process[&tag::LAUNCH]).collect();
    assert_eq!((found.len(), ids.len()), (4, 2), "a shell makes no launch");
}

/// The first thread ends by `pthread_exit`. Then the writer thread is the only thread.
const FIRST_THREAD_EXITS: &str = r#"
#include "t_trace.h"
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
    let program = build(folder.path(), GNU99, TICK, FIRST_THREAD_EXITS, &["-D_GNU_SOURCE", "-O0"])
        .unwrap_or_else(|error| panic!("{error}"));
    // The writer thread may poll just at the end of the thread. The minimum of several runs
    // excludes other delays.
    let late = || {
        succeed(Command::new(&program).env("TUMIT_TRACE", folder.path().join("run.tmt")));
        let found = collect(folder.path());
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        let file = &found[0];
        let ticks: Vec<u64> = file.records.values().flatten().map(|record| record.ticks).collect();
        let end = file.end.as_ref().and_then(|end| end.get(&tag::PROCESS_END)).expect("it ended in order");
        let end = u64::from_le_bytes(end.as_slice().try_into().expect("eight bytes"));
        (end - ticks[1]) as f64 / (ticks[1] - ticks[0]) as f64
    };
    let least = (0..5).map(|_| late()).fold(f64::INFINITY, f64::min);
    assert!(least < 2.0, "it lasts {least} times its own 20 ms longer");
}

#[test]
fn kills_at_any_moment_lose_and_tear_no_records() {
    kills(12);
}

#[test]
#[ignore = "takes minutes; cargo test --workspace --test c_process_exits -- --ignored a_thousand_kills"]
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
            let (recorded, lost) = sums(&collect(folder.path()));
            let returned = witness(folder.path());
            // Each of the three threads may have published one record of a call that did not
            // return.
            assert!((returned..=returned + 3).contains(&(recorded + lost)), "{recorded} + {lost}, {returned} returned");
            std::fs::remove_dir_all(run).expect("the run can go");
        }
    }
}

#[test]
fn private_buffers_lose_only_unwritten_records() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let environment = [("TUMIT_BUFFERS", "private")];
    let missing = |way| {
        let outcome = run(folder.path(), &program, way, &environment);
        let (recorded, lost) = sums(&outcome.files);
        assert_eq!(lost, 0);
        assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(0));
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        outcome.witness.checked_sub(recorded).expect("no record without a call")
    };
    for way in ["return", "exit", "main-leaves", "fork"] {
        assert_eq!(missing(way), 0, "{way}");
    }
    // A program that runs longer than a second may have all its records in the file when it is
    // killed.
    assert!((0..20).any(|_| missing("kill") > 0), "what was not written cannot be there");
}

#[test]
fn full_memory_drops_the_newest_and_counts_them() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for (way, buffers) in [("flood", "mapped"), ("flood", "private"), ("flood-kill", "mapped")] {
        let outcome = run(folder.path(), &program, way, &[("TUMIT_MEMORY", "128K"), ("TUMIT_BUFFERS", buffers)]);
        let (recorded, lost) = sums(&outcome.files);
        assert!(lost > 0, "{way}: two slots cannot hold what a loop records");
        assert_eq!(recorded + lost, outcome.witness, "{way} {buffers}");
        if way == "flood" {
            let told: u64 = outcome.files[0].lost.iter().map(|lost| lost.count).sum();
            assert_eq!(told, lost, "told at the place");
            assert!(outcome.files[0].lost.iter().all(|lost| lost.cause == tracer_format::cause::NO_BUFFER));
            assert!(outcome.errors.contains("records were dropped"), "{}", outcome.errors);
        }
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
}

#[test]
fn threads_that_still_run_are_in_the_run() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for _ in 0..5 {
        let outcome = run(folder.path(), &program, "detached", &[]);
        assert!(outcome.status.success(), "{}", outcome.errors);
        let (recorded, lost) = sums(&outcome.files);
        let page = std::fs::read(folder.path().join("witness")).expect("the witness");
        let before = u64::from_le_bytes(*page[8..].first_chunk().expect("what main saw when it left"));
        assert!(recorded + lost >= before, "{recorded} + {lost} of the {before} calls before the end");
        assert!(recorded + lost <= outcome.witness + 3);
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
}

#[test]
fn a_limit_of_the_file_size_is_no_signal() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    for (way, memory, mapped) in [("limit-first", "16M", 2), ("limit-later", "1M", 1), ("limit-later", "16M", 1)] {
        let outcome = run(folder.path(), &program, way, &[("TUMIT_MEMORY", memory)]);
        assert!(outcome.status.success(), "{way}: {:?} {}", outcome.status, outcome.errors);
        let (recorded, lost) = sums(&outcome.files);
        assert_eq!(recorded + lost, outcome.witness, "{way}");
        // Records that the file cannot take stay in the live file, while that has room.
        assert!(recorded > 0 && (lost > 0) != (way == "limit-later" && memory == "16M"), "{way}: {recorded} + {lost}");
        assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(mapped));
        // The place and cause of the loss are reported, also after the live file has been merged
        // into the file.
        let run = folder.path().join("run.tmt");
        assert_eq!(losses(&run), [lost, lost], "{way}");
        if mapped == 1 {
            output(tumit().arg("repair").arg(&run));
            assert_eq!(losses(&run), [lost, lost], "{way}, repaired");
        }
        std::fs::remove_dir_all(run).expect("the run can go");
    }
}

#[test]
fn removed_and_unwritable_folders_do_not_disturb_the_program() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let outcome = run(folder.path(), &program, "unlink", &[]);
    assert!(outcome.status.success() && outcome.errors.contains("is created again"), "{}", outcome.errors);
    assert_eq!(sums(&outcome.files), (outcome.witness, 0));
    std::fs::write(folder.path().join("plain"), "").expect("a file");
    let mut command = launch(folder.path(), &program, "return", &[]);
    let output = command.env("TUMIT_TRACE", folder.path().join("plain/run.tmt")).output().expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(errors.contains(&format!("{} records were dropped", witness(folder.path()))), "{errors}");
}

#[test]
fn live_files_may_be_in_another_folder() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let elsewhere = folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    let outcome = run(folder.path(), &program, "kill", &[("TUMIT_LIVE", elsewhere.to_str().expect("UTF-8"))]);
    assert_eq!(sums(&outcome.files), (outcome.witness, 0));
    assert!(outcome.files[0].process.contains_key(&tag::LIVE_PATH));
    std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    let outcome = run(folder.path(), &program, "kill", &[("TUMIT_LIVE", "/proc/none")]);
    assert_eq!(outcome.files[0].process_integer(tag::BUFFERS), Some(2), "private, since mapping failed");
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
fn a_library_that_is_unloaded_takes_its_recorder_with_it() {
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
fn levels_pauses_and_statistics() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
int main(void) {
    struct tumit1_stats stats;
    t_tick(1);
    tumit1_pause();
    t_tick(2);
    (void)tumit1_set_level("L", 1);
    t_tick(3);
    tumit1_resume();
    t_tick(4);
    tumit1_flush();
    tumit1_get_stats(&stats);
    if (stats.written_ != 2 || stats.dropped_ != 0 || stats.streams_ != 1 || stats.blocks_ != 1 || !stats.mapped_ || !stats.helper_ ||
        stats.slots_ != 256 || stats.slots_free_ >= 256) { return 1; }
    tumit1_finish();
    t_tick(5);
    tumit1_get_stats(&stats);
    return stats.helper_ == 0 && stats.written_ == 2 ? 0 : 2;
}
"#;
    let program = build(folder.path(), GNU99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let files = read(&tests::lang::c::record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!(files[0].texts(), ["tick n=Unsigned(1)", "tick n=Unsigned(4)"]);
    assert_eq!(integer(&files[0].end.as_ref().expect("an end")[&tag::RECORDS_WRITTEN]), Some(2));
}

#[test]
fn levels_are_switched_from_outside() {
    let folder = folder();
    let program = program(folder.path(), GNU99, &[]);
    let mut child = launch(folder.path(), &program, "gently", &[]).spawn().expect("it starts");
    let run = folder.path().join("run.tmt");
    let calls_after = |before: u64| {
        while witness(folder.path()) <= before {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    calls_after(0);
    let unknown = output(tumit().args(["level", &child.id().to_string(), "NONE", "off", "--timeout", "60"]));
    let said = output(tumit().args(["level", &child.id().to_string(), "L", "off", "--timeout", "60"]));
    let again = output(tumit().args(["level", &run.display().to_string(), "L", "off", "--timeout", "60"]));
    calls_after(witness(folder.path()));
    child.kill().expect("it can be killed");
    child.wait().expect("it ended");
    for (said, good) in [(&unknown, false), (&said, true), (&again, true)] {
        assert_eq!(said.status.success(), good, "{}", String::from_utf8_lossy(&said.stderr));
    }
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("no level `NONE`"), "{unknown:?}");
    let (recorded, lost) = sums(&collect(folder.path()));
    assert!(recorded + lost < witness(folder.path()), "calls went on, records did not");
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
            let layout = tracer_format::live::LiveLayout::decode(&bytes).expect("a whole head");
            let used = u64::from_le_bytes(*bytes[tracer_format::live::head::LOG_USED..].first_chunk().expect("a word"));
            assert!(layout.process_id != [0; 16] && used > 0, "{}", path.display());
        }
        let _ = std::fs::remove_dir_all(&run);
    }
}
