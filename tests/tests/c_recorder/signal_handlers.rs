//! Signal handlers of C programs that record while the interrupted code cannot be entered again: in
//! the allocator before the very first record, and between the recorder's part of a `fork` and the
//! `fork`. The program does not hang, and no record is dropped silently. Recorders that are broken
//! on purpose are detected.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};

use tests::lang::c::{CCompiler, GNU99, build, folder};
use tests::programs::{output, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::cause;
use tracer_format::tags::tag;

const SPEC: &str = "trace t;\nlevel L { event tick { n: u64 } }\n";
const PROGRAM: &str = include_str!("../../c_programs/signal_handlers.c");
const SIGALRM: i32 = 14;
const CLANG: CCompiler = CCompiler { command: "clang", flags: &["-std=gnu11"] };

/// Runs the program, which ends itself after `patience` seconds.
fn run(folder: &Path, compiler: CCompiler, extra: &[&str], place: &str, patience: &str) -> (ExitStatus, String) {
    let program = build(folder, compiler, SPEC, PROGRAM, &[&["-D_GNU_SOURCE", "-O1"], extra].concat());
    let mut command = Command::new(program.unwrap_or_else(|error| panic!("{error}")));
    let _ = std::fs::remove_dir_all(folder.join("run.tmt"));
    command.args([place, patience]).current_dir(folder).env("TUMIT_TRACE", folder.join("run.tmt"));
    for name in ["TUMIT_LEVELS", "TUMIT_POLICY", "TUMIT_MEMORY", "TUMIT_BUFFERS"] {
        command.env_remove(name);
    }
    let output = output(&mut command);
    (output.status, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The parent's file, then that of a child.
fn record_files(folder: &Path, compiler: CCompiler, extra: &[&str], place: &str) -> Vec<ProcessFile> {
    let (status, errors) = run(folder, compiler, extra, place, "100");
    assert!(status.success(), "{compiler:?} {extra:?} {place}: {status}: {errors}");
    let mut files = read(&folder.join("run.tmt"));
    files.sort_by_key(|file| file.process.contains_key(&tag::PARENT_ID));
    for file in &files {
        let reported: u64 = file.dropped_reports.iter().map(|report| report.count).sum();
        assert_eq!(reported, file.totals().1, "records of losses say what the end says: {:?}", file.dropped_reports);
        assert!(file.dropped_reports.iter().all(|report| report.cause == cause::NESTED), "{:?}", file.dropped_reports);
    }
    files
}

#[test]
fn the_first_record_may_be_made_in_a_signal_handler() {
    let ways: [(CCompiler, &[&str]); 4] =
        [(GNU99, &["-DOWN_MALLOC"]), (GNU99, &["-DTUMIT_NO_THREAD"]), (CLANG, &["-O2"]), (GNU99, &["-static"])];
    for (compiler, extra) in ways {
        let folder = folder();
        // A handler in a thread of a started session causes no loss.
        for (place, recorded, dropped) in [("first", 10, 1), ("only", 0, 1), ("thread", 11, 0)] {
            let files = record_files(folder.path(), compiler, extra, place);
            let totals: Vec<_> = files.iter().map(ProcessFile::totals).collect();
            assert_eq!(totals, [(recorded, dropped)], "{compiler:?} {extra:?} {place}");
        }
    }
}

#[test]
fn a_handler_records_during_a_fork() {
    let folder = folder();
    let files = record_files(folder.path(), GNU99, &[], "fork");
    let totals: Vec<_> = files.iter().map(ProcessFile::totals).collect();
    assert_eq!(totals, [(20, 5000), (10, 0)]);
}

/// A handler ends the process while the recorder is working and has its lock: it calls `exit` where
/// the lock would be released.
const EXITS: &str = r#"#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include "t_trace.h"
static int armed_;
int pthread_mutex_unlock(pthread_mutex_t *lock) {
    static int (*next)(pthread_mutex_t *);
    if (armed_) {
        armed_ = 0;
        exit(7);
    }
    *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    return next(lock);
}
int main(void) {
    uint64_t n;
    alarm(100);
    for (n = 0; n < 1000; n++) { t_tick(n); }
    armed_ = 1;
    t_say("new");
    return 0;
}
"#;

#[test]
fn a_handler_may_end_the_process_during_the_recorders_work() {
    const SAYS: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: interned } }\n";
    for (compiler, flag) in [(GNU99, "-O2"), (CLANG, "-O2"), (GNU99, "-DTUMIT_NO_THREAD")] {
        let folder = folder();
        let program = build(folder.path(), compiler, SAYS, EXITS, &["-D_GNU_SOURCE", flag]);
        let mut command = Command::new(program.unwrap_or_else(|error| panic!("{error}")));
        let run = folder.path().join("run.tmt");
        let output = output(command.env("TUMIT_TRACE", &run).env_remove("TUMIT_LEVELS"));
        assert_eq!(output.status.code(), Some(7), "{compiler:?} {flag}: {}", output.status);
        succeed(tumit().arg("repair").arg(&run));
        assert_eq!(read(&run)[0].totals(), (1000, 0), "{compiler:?} {flag}");
    }
}

#[test]
fn injected_faults_are_detected() {
    let folder = folder();
    let broken = ["-DTUMIT1_BROKEN_HANDLER_DETECTION", "-DOWN_MALLOC"];
    let (status, _) = run(folder.path(), GNU99, &broken, "first", "100");
    assert_eq!(status.code(), Some(7), "the allocator was entered twice");
    let (status, _) = run(folder.path(), GNU99, &broken, "fork", "1");
    assert_eq!(status.signal(), Some(SIGALRM), "it waits for itself");
}
