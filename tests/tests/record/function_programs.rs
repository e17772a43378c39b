//! Programs that are compiled with `-finstrument-functions` or `-fxray-instrument`.

use std::collections::BTreeMap;

use tests::programs::{succeed, tumit};

use crate::record_folder::RecordFolder;

/// Calls of all kinds: nested, inlined, recursive, skipped by `longjmp`, in a signal handler, in a
/// thread, and in a child process. Line numbers are part of the test.
const CALLS: &str = r#"#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf target;
volatile int sum;
static inline __attribute__((always_inline)) void add(int number) { sum += number; }
static int inner(int number) { add(number); return number + 1; }
int outer(int number) {
    return inner(number) + inner(number);
}
int recurse(int depth) { return depth == 0 ? 0 : recurse(depth - 1) + 1; }
__attribute__((noinline)) void jump(void) { longjmp(target, 1); }
void handler(int number) { sum += number; }
void *work(void *argument) { sum += outer(1); return argument; }
int main(void) {
    pthread_t thread;
    volatile int i;
    int status = 0;
    for (i = 0; i < 10; i++) {
        if (setjmp(target) == 0) jump();
    }
    sum += outer(2);
    if (recurse(200) != 200) return 1;
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    if (pthread_create(&thread, NULL, work, NULL) != 0 || pthread_join(thread, NULL) != 0) return 2;
    if (fork() == 0) exit(outer(3) == 8 ? 5 : 4);
    if (wait(&status) < 0 || WEXITSTATUS(status) != 5) return 3;
    puts("done");
    return 0;
}
"#;

/// The number of states of each function, and the sum of their depths.
pub(crate) fn calls(folder: &RecordFolder, run: &str) -> BTreeMap<String, usize> {
    let csv = succeed(tumit().arg("convert").arg(folder.file(run)).args(["-o", "-", "--format", "csv"]));
    let mut calls = BTreeMap::new();
    for line in csv.lines().filter(|line| line.starts_with("State,") && line.contains(",Function,")) {
        // A name with commas is quoted.
        let name = line.split_once('"').and_then(|(_, rest)| rest.split('"').next());
        let name = name.unwrap_or_else(|| line.split(',').nth(7).unwrap());
        *calls.entry(name.to_owned()).or_default() += 1;
    }
    calls
}

#[test]
fn the_calls_of_a_c_program_are_exact() {
    for (compiler, level) in [("gcc", "-O0"), ("gcc", "-O2"), ("clang", "-O2")] {
        let folder = RecordFolder::new();
        let flags = ["-finstrument-functions", "-g", level, "-pthread", "-D_GNU_SOURCE"];
        let program = folder.compile(compiler, "program", CALLS, &flags).display().to_string();
        let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"done\n"[..]), "{messages}");
        assert!(messages.contains("functions attached to"), "{messages}");
        let calls = calls(&folder, "run.tmt");
        let count = |name: &str| calls.get(name).copied().unwrap_or(0);
        let counts = ["main", "outer", "inner", "add", "jump", "handler", "work"].map(count);
        assert_eq!(counts, [1, 3, 6, 6, 10, 1, 1], "{compiler} {level}: {calls:?}");
        // `main` contains 127 calls of `recurse`.
        assert_eq!(count("recurse"), 127, "{compiler} {level}");
        assert!(messages.contains("74 calls were not recorded, because they are in too many"), "{messages}");
        let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
        assert!(dump.contains("program.c:13"), "the position of the calls of `inner`: {dump}");
        let info = succeed(tumit().arg("info").arg(folder.file("run.tmt")));
        assert!(info.contains("Nothing is dropped, missing or damaged."), "{info}");
    }
}

/// 1000 short calls, and two long ones that contain 10 of them each.
const LIMITS: &str = "
#include <unistd.h>
volatile int sum;
void tiny(void) { sum++; }
void slow(void) { int i; for (i = 0; i < 10; i++) tiny(); usleep(30000); }
int main(void) {
    int i;
    slow();
    slow();
    for (i = 0; i < 1000; i++) tiny();
    return 0;
}
";

#[test]
fn calls_beyond_a_limit_are_counted() {
    let folder = RecordFolder::new();
    let flags = ["-finstrument-functions", "-O1"];
    let program = folder.compile("gcc", "program", LIMITS, &flags).display().to_string();
    let recorded = |options: &[&str]| {
        let arguments = [&["--overwrite", "-o", "run.tmt"], options, &["--", &program]].concat();
        let (output, messages) = folder.recorded(&arguments);
        assert!(output.status.success(), "{messages}");
        let calls = calls(&folder, "run.tmt");
        (["main", "slow", "tiny"].map(|name| calls.get(name).copied().unwrap_or(0)), messages)
    };
    assert_eq!(recorded(&[]).0, [1, 2, 1020]);
    let (counts, messages) = recorded(&["--function-rate", "100"]);
    assert_eq!(counts, [1, 2, 100], "{messages}");
    let text = "920 calls were not recorded, because the functions were called too often (--function-rate): `tiny`";
    assert!(messages.contains(text), "{messages}");
    assert_eq!(folder.event_count("run.tmt", "rate_exceeded"), 1);
    let (counts, messages) = recorded(&["--function-depth", "2"]);
    assert_eq!(counts, [1, 2, 1000], "{messages}");
    assert!(messages.contains("20 calls were not recorded, because they are in too many other calls"), "{messages}");
    let (counts, messages) = recorded(&["--function-minimum", "10ms"]);
    assert_eq!(counts, [1, 2, 0], "{messages}");
    assert!(messages.contains("1\u{202f}020 calls were not recorded, because they were too short"), "{messages}");
    assert_eq!(recorded(&["--functions", "!t*"]).0, [1, 2, 0]);
    assert_eq!(recorded(&["--functions", "*;!tin?"]).0, [1, 2, 0]);
    assert_eq!(recorded(&["--functions", "tiny;main"]).0, [1, 0, 1020]);
    let (output, messages) = folder.recorded(&["--functions", "a;;b", "--", &program]);
    assert!(output.status.code() == Some(2) && messages.contains("a pattern is empty"), "{messages}");
}

/// Ends without destructors, in the way that the argument selects. A child process of `vfork` has
/// the memory of the recorder, and does not end the recording.
const ENDS: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
void work(void) { }
void handler(int number) { (void)number; work(); _exit(6); }
int main(int argc, char **argv) {
    if (vfork() == 0) _exit(0);
    wait(NULL);
    work();
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 0: _exit(6);
    case 1: _Exit(6);
    case 2: quick_exit(6);
    case 3: signal(SIGUSR1, handler); raise(SIGUSR1);
    }
    return 1;
}
"#;

#[test]
fn a_process_that_ends_without_destructors_has_a_complete_file() {
    let folder = RecordFolder::new();
    let program = folder.compile("gcc", "program", ENDS, &["-finstrument-functions"]).display().to_string();
    for (way, works) in [("0", 1), ("1", 1), ("2", 1), ("3", 2)] {
        let (output, messages) = folder.recorded(&["--overwrite", "-o", "run.tmt", "--", &program, way]);
        assert_eq!(output.status.code(), Some(6), "{way}: {messages}");
        assert!(!messages.contains("killed"), "{way}: {messages}");
        let calls = calls(&folder, "run.tmt");
        assert_eq!((calls.get("main"), calls.get("work")), (Some(&1), Some(&works)), "{way}: {calls:?}");
    }
}

/// A signal arrives while the recorder reads the symbols for the first function. The stack of the
/// handler is above that of the recorder, as after `longjmp`.
const INTERRUPTED: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define HIDDEN __attribute__((no_instrument_function))
volatile int is_armed, signals;
void second(void) { signals++; }
HIDDEN void handler(int number) { (void)number; second(); }
/* The recorder calls it when it reads the symbols. */
HIDDEN int fstat(int file, struct stat *status) {
    if (is_armed) {
        is_armed = 0;
        raise(SIGUSR1);
    }
    return (int)syscall(SYS_fstat, file, status);
}
void first(void) { second(); }
HIDDEN int main(void) {
    static struct sigaction action;
    char stack[65536];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    action.sa_handler = handler;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    alarm(20);
    is_armed = 1;
    first();
    return signals == 2 ? 0 : 1;
}
"#;

#[test]
fn a_handler_does_not_wait_for_a_lock_of_its_thread() {
    let folder = RecordFolder::new();
    let flags = ["-finstrument-functions", "-rdynamic"];
    let program = folder.compile("gcc", "program", INTERRUPTED, &flags).display().to_string();
    let (output, messages) = folder.recorded(&["--functions", "!x*", "-o", "run.tmt", "--", &program]);
    assert_eq!(output.status.code(), Some(0), "{messages}");
    // The call of the handler is not recorded.
    let calls = calls(&folder, "run.tmt");
    assert_eq!((calls.get("first"), calls.get("second")), (Some(&1), Some(&1)), "{calls:?}");
}

/// A library of C++ with overloads, a template and an exception.
const LIBRARY: &str = r#"
#include <stdexcept>
namespace heat {
int step(int n) { if (n > 2) throw std::runtime_error("end"); return n; }
double step(double t) { return t; }
template <class T> T twice(T t) { return step(t) + step(t); }
}
extern "C" int run() {
    try {
        for (int n = 1;; n++) heat::twice(n);
    } catch (const std::exception &) {
    }
    return heat::twice(1.0) == 2.0 ? 7 : 1;
}
"#;

/// A program without the option, which loads the library at a path relative to its folder.
const LOADER: &str = r#"
#include <dlfcn.h>
int main(void) {
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*run)(void) = library ? (int (*)(void))dlsym(library, "run") : 0;
    return run ? run() : 2;
}
"#;

#[test]
fn functions_of_cxx_in_a_loaded_library_have_their_declarations() {
    for compiler in ["g++", "clang++"] {
        let folder = RecordFolder::new();
        let flags = ["-finstrument-functions", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id"];
        let exclude = ["-finstrument-functions-exclude-file-list=/usr/"];
        let exclude = if compiler == "g++" { &exclude[..] } else { &[] };
        let library = folder.compile(compiler, "library.so", LIBRARY, &[&flags[..], exclude].concat());
        // The recorder finds the demangler in the libraries of the program.
        let flags = ["-ldl", "-Wl,--no-as-needed", "-lstdc++"];
        let program = folder.compile("gcc", "program", LOADER, &flags).display().to_string();
        let arguments = ["--with", "functions", "--functions", "heat::twice<int>", "-o", "twice.tmt", "--", &program];
        let (output, messages) = folder.recorded(&arguments);
        assert_eq!(output.status.code(), Some(7), "{messages}");
        assert_eq!(calls(&folder, "twice.tmt"), BTreeMap::from([("int heat::twice<int>(int)".to_owned(), 3)]));
        let (output, messages) = folder.recorded(&["--with", "functions", "-o", "run.tmt", "--", &program]);
        assert_eq!(output.status.code(), Some(7), "{messages}");
        assert!(
            messages.contains("program` are not recorded: it was compiled without -finstrument-functions and"),
            "{messages}"
        );
        let expected = |calls: &BTreeMap<String, usize>| {
            let names = ["run", "heat::step(int)", "heat::step(double)", "int heat::twice<int>(int)"];
            let counts = names.map(|name| calls.get(name).copied().unwrap_or(0));
            assert_eq!(counts, [1, 5, 2, 3], "{compiler}: {calls:?}");
        };
        expected(&calls(&folder, "run.tmt"));
        // Without the symbols in the run folder, the program is read again.
        let symbols = folder.file("run.tmt").join("symbols.tsv");
        let symbol_text = std::fs::read_to_string(&symbols).unwrap();
        std::fs::remove_file(&symbols).unwrap();
        expected(&calls(&folder, "run.tmt"));
        let dump = succeed(tumit().arg("dump").arg(folder.file("run.tmt")));
        assert!(dump.contains("library.so.c:6"), "calls of `step`: {dump}");
        // The debugging information is moved to a separate file.
        let path = library.display().to_string();
        let _ = succeed(folder.command("objcopy").args(["--only-keep-debug", &path, "library.debug"]));
        let _ = succeed(folder.command("objcopy").args(["--strip-all", "--add-gnu-debuglink=library.debug", &path]));
        expected(&calls(&folder, "run.tmt"));
        std::fs::remove_file(&library).unwrap();
        let unresolved = calls(&folder, "run.tmt");
        let is_address = |name: &String| name.starts_with("library.so+0x");
        assert!(unresolved.values().sum::<usize>() >= 11 && unresolved.keys().all(is_address), "{unresolved:?}");
        // A run on another host has its symbols, and so has a run that is made of it.
        std::fs::write(&symbols, symbol_text).unwrap();
        expected(&calls(&folder, "run.tmt"));
        let _ = succeed(tumit().arg("merge").arg(folder.file("run.tmt")).arg("-o").arg(folder.file("copy.tmt")));
        expected(&calls(&folder, "copy.tmt"));
    }
}

/// A procedure of a module, and one outside of modules.
const FORTRAN: &str = "
module heat
contains
  subroutine step(n)
    integer, intent(inout) :: n
    n = n + 1
  end subroutine
end module
subroutine outside(n)
  use heat
  integer, intent(inout) :: n
  call step(n)
end subroutine
program main
  integer :: i, n = 0
  do i = 1, 3
    call outside(n)
  end do
  if (n /= 3) stop 1
end program
";

#[test]
fn functions_of_fortran_have_their_names() {
    let folder = RecordFolder::new();
    let source = folder.file("program.f90");
    std::fs::write(&source, FORTRAN).unwrap();
    let program = folder.file("program").display().to_string();
    let compile = ["-finstrument-functions", "-g", "-o", &program];
    let _ = succeed(folder.command("gfortran").arg(&source).args(compile));
    let (output, messages) = folder.recorded(&["-o", "run.tmt", "--", &program]);
    assert!(output.status.success(), "{messages}");
    let calls = calls(&folder, "run.tmt");
    assert_eq!((calls.get("heat::step"), calls.get("outside")), (Some(&3), Some(&3)), "{calls:?}");
}
