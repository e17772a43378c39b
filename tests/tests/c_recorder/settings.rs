//! Settings of the recorder by a C program or its environment: the place of waiting records, the
//! waiting time, the levels. Also: recording makes no system call and causes no page fault.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::lang::c::{CCompiler, GNU99, build, build_with_shared_recorder, folder, record};
use tests::programs::{output, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::cause;
use tracer_format::tags::tag;

const TWO: &str =
    "trace t;\nlevel COM { event tick { n: u64 } event say { text: interned } }\nlevel APP { event step { n: u64 } }\n";

const CLANG: CCompiler = CCompiler { command: "clang", flags: &["-std=gnu11"] };

fn program(folder: &Path, compiler: CCompiler, source: &str) -> PathBuf {
    build_with_shared_recorder(folder, compiler, TWO, source, &["-D_GNU_SOURCE", "-O1"])
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs the program with these settings; returns its standard error.
fn run(folder: &Path, program: &Path, environment: &[(&str, &str)]) -> String {
    let mut command = Command::new(program);
    command.current_dir(folder).env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", folder.join("run.tmt"));
    let output = output(command.envs(environment.iter().copied()));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    errors
}

fn single_file(run: &Path) -> ProcessFile {
    let mut files = read(run);
    assert_eq!(files.len(), 1);
    files.remove(0)
}

fn count(file: &ProcessFile, name: &str) -> u64 {
    file.records.values().flatten().filter(|record| record.text.starts_with(name)).count() as u64
}

#[test]
fn programs_of_one_job_step_share_a_folder_unless_the_step_is_a_shell() {
    let place = folder();
    let program = program(place.path(), GNU99, "#include \"t_trace.h\"\nint main(void) { t_tick(1); return 0; }\n");
    for (tasks, folders) in [("2", 1), ("1", 2)] {
        let place = folder();
        for rank in ["0", "1"] {
            let step = [("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_PROCID", rank), ("SLURM_NTASKS", tasks)];
            let mut command = Command::new(&program);
            command.current_dir(place.path()).env_remove("TUMIT_TRACE").env_remove("TUMIT_LEVELS");
            succeed(command.env_remove("PMIX_NAMESPACE").envs(step));
        }
        assert_eq!(std::fs::read_dir(place.path()).expect("a folder").count(), folders, "{tasks} tasks");
    }
}

#[test]
fn a_level_with_policy_block_waits_for_free_memory() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <pthread.h>
static void *work(void *unused) {
    uint64_t n;
    for (n = 0; n < 50000; n++) { t_tick(n); t_step(n); }
    return unused;
}
int main(void) {
    pthread_t other;
    if (pthread_create(&other, NULL, work, NULL) != 0) { return 1; }
    (void)work(NULL);
    return pthread_join(other, NULL);
}
"#;
    for compiler in [GNU99, CLANG] {
        let program = program(folder.path(), compiler, source);
        let policy = ("TUMIT_POLICY", "all=block, t.APP = drop,COM=sleep");
        let levels = ("TUMIT_LEVELS", "APP=on,XYZ=on");
        for buffers in ["mapped", "private"] {
            let settings = [("TUMIT_MEMORY", "128K"), ("TUMIT_BUFFERS", buffers), policy, levels];
            let errors = run(folder.path(), &program, &settings);
            assert_eq!(errors.matches("`COM=sleep` is not valid").count(), 1, "{errors}");
            assert_eq!(errors.matches("no spec that this program uses has a level `XYZ`").count(), 1, "{errors}");
            let file = single_file(&folder.path().join("run.tmt"));
            assert_eq!(count(&file, "tick"), 100_000, "records that a thread waits for are all there");
            let dropped = file.totals().1;
            assert!(dropped > 0, "two slots cannot hold what nobody waits for");
            assert_eq!(count(&file, "step") + dropped, 100_000);
            assert!(file.dropped_reports.iter().all(|report| report.cause == cause::NO_BUFFER));
            std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
        }
    }
}

#[test]
fn settings_of_the_program_take_effect() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <sys/wait.h>
int main(void) {
    char folder[] = "own.tmt";
    struct tumit1_config config;
    struct tumit1_stats stats;
    pid_t child;
    memset(&config, 0, sizeof config);
    config.folder_ = folder;
    config.live_folder_ = "live/below";
    config.policies_ = "COM=block";
    config.memory_bytes_ = 300000;
    if (tumit1_start(&config) != 0 || tumit1_start(NULL) != EALREADY) { return 1; }
    memset(folder, '?', sizeof folder - 1); /* it was copied */
    t_tick(1);
    tumit1_get_stats(&stats);
    if (stats.slots_ != 4 || !stats.mapped_ || stats.slots_full_ != 0 || stats.in_live_file_ != 0) { return 2; }
    if (!tumit1_session.may_wait_ || access("live/below", F_OK) != 0 || chdir("/") != 0) { return 3; }
    child = fork();
    if (child == 0) {
        t_tick(2);
        tumit1_get_stats(&stats);
        return stats.slots_ == 4 && stats.mapped_ ? 0 : 4;
    }
    tumit1_finish();
    return tumit1_start(&config) == EALREADY && waitpid(child, &(int){0}, 0) == child ? 0 : 5;
}
"#;
    // The source reads the session, which is no part of the interface.
    let program =
        build(folder.path(), GNU99, TWO, source, &["-D_GNU_SOURCE"]).unwrap_or_else(|error| panic!("{error}"));
    let settings = [("TUMIT_BUFFERS", "mapped"), ("TUMIT_MEMORY", "1M"), ("TUMIT_LIVE", "nowhere")];
    run(folder.path(), &program, &settings);
    assert!(!folder.path().join("run.tmt").exists() && !folder.path().join("nowhere").exists());
    let files = read(&folder.path().join("own.tmt"));
    assert_eq!(files.len(), 2, "the child's is there, too, wherever it went");
    assert!(files.iter().all(|file| file.process.contains_key(&tag::LIVE_PATH) && file.totals() == (1, 0)));
    assert_eq!(std::fs::read_dir(folder.path().join("live/below")).expect("a folder").count(), 0);
}

#[test]
fn quiet_threads_and_clocks_are_checked_every_second() {
    let folder = folder();
    let source = r#"
#ifdef OWN
#include <stdint.h>
static uint64_t count(void);
#define TUMIT_CLOCK() count()
#endif
#include "t_trace.h"
#include <signal.h>
#ifdef OWN
static uint64_t count(void) {
    static uint64_t dates;
    return __atomic_add_fetch(&dates, 1u, __ATOMIC_RELAXED);
}
#endif
int main(void) {
    const struct timespec pause = {0, 20000000};
    struct tumit1_stats stats;
    uint64_t bytes;
    alarm(300); /* ends the program if the writer thread does not stop */
    t_tick(1);
    t_say("quiet");
    do {
        nanosleep(&pause, NULL);
        tumit1_get_stats(&stats);
    } while (stats.written_ != 2);
    bytes = stats.file_bytes_;
    do {
        nanosleep(&pause, NULL);
        tumit1_get_stats(&stats);
    } while (stats.file_bytes_ == bytes);
    return raise(SIGKILL);
}
"#;
    for extra in [&[][..], &["-DOWN"]] {
        let program = build(folder.path(), GNU99, TWO, source, extra).unwrap_or_else(|error| panic!("{error}"));
        let mut command = Command::new(&program);
        command.env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_BUFFERS", "private");
        assert_eq!(output(&mut command).status.signal(), Some(9));
        // Reads the file directly: there was no repair, and there is no live file.
        let file = single_file(&folder.path().join("run.tmt"));
        assert_eq!(file.texts(), ["tick n=Unsigned(1)", "say text=\"quiet\""]);
        // Anchors are written at the start (twice if the clock rate is unknown), soon after it,
        // with the records of the quiet thread, and then each second. On a loaded machine they may
        // be late, but never early.
        let at_start = if file.process_integer(tag::CLOCK_KIND) == Some(1) { 2 } else { 1 };
        assert!(file.anchors.len() >= at_start + 3, "{:?}", file.anchors);
        for (seconds, anchor) in (0..).zip(&file.anchors[at_start..]) {
            let passed = anchor.monotonic_nanos - file.anchors[0].monotonic_nanos;
            // A clock that counts calls does not follow the time. Its readings before and after the
            // call are written, too.
            assert!(
                passed >= seconds * 1_000_000_000 || !extra.is_empty(),
                "more than one a second: {:?}",
                file.anchors
            );
        }
        assert!(file.anchors.windows(2).all(|pair| pair[0].ticks < pair[1].ticks));
        assert!(file.end.is_none());
        std::fs::remove_dir_all(folder.path().join("run.tmt")).expect("the run can go");
    }
}

#[test]
fn a_live_file_contains_all_that_a_reader_needs() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <signal.h>
#include <stdio.h>
int main(int argc, char **argv) {
    uint64_t n;
    char text[160];
    (void)argv;
    tumit1_set_thread_name("the only one");
    (void)tumit1_intern("known before");
    for (n = 0; n < (argc > 1 ? 2000 : 20); n++) { /* the log of names has 64 KiB in so little memory */
        snprintf(text, sizeof text, "name %u %0100u", (unsigned)n, 0u);
        t_say(text);
    }
    return raise(SIGKILL);
}
"#;
    let program = program(folder.path(), GNU99, source);
    for (argument, names) in [(None, 20), (Some("many"), 2000)] {
        let mut command = Command::new(&program);
        command.args(argument).env("TUMIT_TRACE", folder.path().join("run.tmt")).env("TUMIT_MEMORY", "256K");
        assert!(!output(&mut command).status.success());
        let run = folder.path().join("run.tmt");
        let files: Vec<_> =
            std::fs::read_dir(&run).expect("a run").map(|entry| entry.expect("an entry").path()).collect();
        let sorted_file = files.iter().find(|path| path.extension().is_some_and(|end| end == "tmt")).expect("the file");
        let mut repair = tumit();
        repair.arg("repair").arg(&run);
        if argument.is_none() {
            std::fs::remove_file(sorted_file).expect("it can go"); // as if it could never be made
            assert_eq!(output(&mut repair).status.code(), Some(2), "it could lie elsewhere");
            repair.arg("--force");
        }
        succeed(&mut repair);
        let file = single_file(&run);
        let text = |n: usize| format!("say text=\"name {n} {:0100}\"", 0);
        assert_eq!(file.texts(), (0..names).map(text).collect::<Vec<_>>());
        assert_eq!((file.thread_name(0).as_str(), file.schemas.len()), ("the only one", 1));
        assert!(file.strings.values().any(|text| text == "known before"));
        std::fs::remove_dir_all(&run).expect("the run can go");
    }
}

#[test]
fn a_level_switch_applies_to_libraries_loaded_later() {
    let folder = folder();
    let library =
        "#include \"late_trace.h\"\nvoid work(uint64_t n);\nvoid work(uint64_t n) { late_a(n); late_b(n); }\n";
    let spec = "trace late;\nlevel A { event a { n: u64 } }\nlevel B { event b { n: u64 } }\n";
    build(folder.path(), GNU99, spec, library, &["-fPIC", "-shared"]).unwrap_or_else(|error| panic!("{error}"));
    std::fs::rename(folder.path().join("drive"), folder.path().join("lib.so")).expect("a library");
    let source = r#"
#include "t_trace.h"
#include <dlfcn.h>
int main(void) {
    void *library;
    void (*work)(uint64_t);
    (void)tumit1_set_level("late.A", 0);
    (void)tumit1_set_level("B", 0);
    (void)tumit1_set_level("b", 1);
    t_tick(0);
    library = dlopen("./lib.so", RTLD_NOW);
    if (library == NULL) { fputs(dlerror(), stderr); return 1; }
    *(void **)(void *)&work = dlsym(library, "work");
    work(7);
    return 0;
}
"#;
    let program =
        build(folder.path(), GNU99, TWO, source, &["-rdynamic", "-ldl"]).unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[("TUMIT_LEVELS", "late.b=off")]));
    assert_eq!(file.texts(), ["tick n=Unsigned(0)", "b n=Unsigned(7)"]);
}

#[test]
fn the_recording_thread_makes_no_system_calls_and_has_no_page_faults() {
    let folder = folder();
    let source = include_str!("../../c_programs/steady_state.c");
    let flags = ["-D_GNU_SOURCE", "-O1"];
    let program = build(folder.path(), GNU99, TWO, source, &flags).unwrap_or_else(|error| panic!("{error}"));
    for rate in ["100000", "1000000"] {
        let text = succeed(Command::new(&program).arg(rate).env("TUMIT_TRACE", folder.path().join("run.tmt")));
        let numbers: Vec<u64> = text.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        println!("{rate}: records, calls to the system and page faults in the last window, windows: {numbers:?}");
        let [records, calls, faults, windows] = numbers[..] else { panic!("{text}") };
        assert!(windows > 0 && records == windows * 40_000, "{text}");
        assert!(calls == 0 && faults == 0, "{rate} events a second are not recorded without calls and page faults");
    }
}
