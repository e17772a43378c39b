//! C programs with behaviour that a recorder may not expect: they close foreign file descriptors,
//! end threads abruptly, jump out of signal handlers, start a thousand threads, create children
//! without the C library.
//! The recorder changes nothing of the program, and loses no record silently.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use tests::lang::c::{CCompiler, GNU99, build, folder};
use tests::programs::{losses, output, record_count, succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::tags::tag;

const SPEC: &str =
    "trace t;\nlevel L {\n    event tick { n: u64 }\n    event bytes { v: [u8] }\n    event name { s: interned }\n}\n";
const CLANG: CCompiler = CCompiler { command: "clang", flags: &["-std=gnu11"] };
const PROGRAM: &str =
    concat!(include_str!("../../c_programs/unusual_signals.c"), include_str!("../../c_programs/unusual_programs.c"));

/// A command that runs the program in its folder.
fn program(folder: &Path, compiler: CCompiler, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    linked(folder, compiler, &[], arguments, environment)
}

/// The same, compiled and linked with these flags.
fn linked(
    folder: &Path,
    compiler: CCompiler,
    flags: &[&str],
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Command {
    let program = build(folder, compiler, SPEC, PROGRAM, &[&["-D_GNU_SOURCE", "-O1"], flags].concat());
    let mut command = Command::new(program.unwrap_or_else(|error| panic!("{error}")));
    command.args(arguments).current_dir(folder).env("TUMIT_TRACE", folder.join("run.tmt"));
    for name in ["TUMIT_LEVELS", "TUMIT_POLICY", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_START"] {
        command.env_remove(name);
    }
    command.envs(environment.iter().copied());
    command
}

/// Runs the program, and reads its records.
fn run(compiler: CCompiler, arguments: &[&str], environment: &[(&str, &str)]) -> Vec<ProcessFile> {
    let folder = folder();
    let output = output(&mut program(folder.path(), compiler, arguments, environment));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler:?} {arguments:?} {environment:?}: {}: {errors}", output.status);
    read(&folder.path().join("run.tmt"))
}

/// Numbers of written and dropped records of a run with one process.
fn totals(compiler: CCompiler, arguments: &[&str], environment: &[(&str, &str)]) -> (u64, u64) {
    let files = run(compiler, arguments, environment);
    assert_eq!(files.len(), 1, "{arguments:?}");
    files[0].totals()
}

#[test]
fn the_recorder_never_uses_files_of_the_program() {
    for buffers in ["mapped", "private"] {
        let environment = [("TUMIT_BUFFERS", buffers), ("TUMIT_POLICY", "all=block")];
        assert_eq!(totals(GNU99, &["descriptors"], &environment), (1_000_020, 0), "{buffers}");
        assert_eq!(totals(GNU99, &["low"], &environment), (20, 0), "{buffers}");
    }
}

#[test]
fn cancelled_threads_and_destructors_of_threads_lose_no_records() {
    for compiler in [GNU99, CLANG] {
        // One record, and one in each of the four rounds of destructors.
        assert_eq!(totals(compiler, &["keys"], &[]), (1 + 20 * 5, 0), "{compiler:?}");
        for how in ["cancelled", "cancelled late"] {
            let (_, dropped) = totals(compiler, &[how], &[("TUMIT_POLICY", "all=block")]);
            assert_eq!(dropped, 0, "{compiler:?} {how}");
        }
    }
}

#[test]
fn a_handler_may_jump_out_of_a_record() {
    for compiler in [GNU99, CLANG] {
        assert_eq!(totals(compiler, &["jumps"], &[]), (10 + 100 + 10_000, 0), "{compiler:?}");
    }
}

#[test]
fn a_thousand_threads_lose_no_records() {
    // The memory has 256 slots; the result does not depend on the speed of the writer thread.
    assert_eq!(totals(GNU99, &["together", "1000"], &[]), (2000, 0));
    assert_eq!(totals(GNU99, &["alone", "2000"], &[]), (2000, 0));
    // The writer thread must write while the threads are created one after the other.
    assert_eq!(totals(GNU99, &["alone", "10000"], &[("TUMIT_POLICY", "all=block")]), (10_000, 0));
    assert_eq!(totals(GNU99, &["together", "1000"], &[("TUMIT_BUFFERS", "private")]), (2000, 0));
}

#[test]
fn a_child_without_fork_handlers_does_not_change_the_trace() {
    assert_eq!(totals(GNU99, &["child"], &[("TUMIT_POLICY", "all=block")]), (100_010, 0));
}

#[test]
fn errno_and_processor_affinity_of_the_program_do_not_change() {
    let _ = run(GNU99, &["errors"], &[("TUMIT_MEMORY", "256K")]);
    assert_eq!(totals(GNU99, &["pinned"], &[]), (10, 0));
}

#[test]
fn a_level_that_starts_off_is_switched_on_from_outside() {
    let folder = folder();
    let environment = [("TUMIT_LEVELS", "all=off"), ("TUMIT_START", "1")];
    let mut command = program(folder.path(), GNU99, &["standby"], &environment);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let _ = succeed(tumit().args(["level", &child.id().to_string(), "L", "on", "--timeout", "60"]));
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(read(&folder.path().join("run.tmt"))[0].totals(), (7, 0), "the first ten were off");
}

#[test]
fn a_process_that_ends_at_once_records_its_clock_rate() {
    let file = &run(GNU99, &["early"], &[])[0];
    let separation =
        file.anchors.last().zip(file.anchors.first()).map(|(last, first)| last.monotonic_nanos - first.monotonic_nanos);
    assert!(file.process_integer(tag::CLOCK_HZ) != Some(0) || separation >= Some(100_000), "{:?}", file.anchors);
}

#[test]
fn signal_handlers_may_call_all_functions() {
    for compiler in [GNU99, CLANG] {
        let _ = run(compiler, &["calls"], &[]);
        let _ = run(compiler, &["later"], &[]);
    }
}

#[test]
fn a_handler_may_interrupt_another_handler() {
    // In a static program the unwinder has a lock, which the interrupted handler may hold.
    for flags in [&[][..], &["-static"]] {
        let folder = folder();
        let output = succeed(&mut linked(folder.path(), GNU99, flags, &["storm"], &[]));
        let emitted: u64 = output.trim().strip_prefix("emitted ").and_then(|count| count.parse().ok()).unwrap_or(0);
        let run = folder.path().join("run.tmt");
        assert_eq!(record_count(&run) + losses(&run)[0], emitted, "{flags:?}");
    }
}

#[test]
fn records_made_while_the_end_is_written_are_counted() {
    for compiler in [GNU99, CLANG] {
        let folder = folder();
        let output = output(&mut program(folder.path(), compiler, &["ending"], &[]));
        let (written, dropped) = read(&folder.path().join("run.tmt"))[0].totals();
        assert_eq!(written + dropped, 1 + 10 + 1000, "{compiler:?}: {dropped} dropped");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            dropped > 0 && stderr.contains(&format!("tumit: {dropped} records were dropped")),
            "{compiler:?}: {dropped}: {stderr}"
        );
    }
}

#[test]
fn scarce_memory_gives_smaller_buffers() {
    let folder = folder();
    let output = output(&mut program(folder.path(), GNU99, &["little"], &[]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("the program continues with 4194304"),
        "{}: {stderr}",
        output.status
    );
    assert_eq!(read(&folder.path().join("run.tmt"))[0].totals(), (10, 0));
}

#[test]
fn locked_memory_gives_smaller_buffers() {
    let folder = folder();
    let mut command = program(folder.path(), GNU99, &["locked"], &[]);
    let owner = std::fs::metadata(folder.path()).expect("it is there").uid();
    if owner == 0 {
        // The limit does not apply to root.
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).expect("it is ours");
        command.uid(65534);
    }
    let output = output(&mut command);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read(&folder.path().join("run.tmt"))[0].totals(), (10, 0), "{output:?}");
}

#[test]
fn instrumentation_hooks_of_functions_may_record() {
    const PROGRAM: &str = "#include \"t_trace.h\"
        #define PLAIN __attribute__((no_instrument_function))
        PLAIN void __cyg_profile_func_enter(void *function, void *caller) { (void)function; (void)caller; t_tick(1); }
        PLAIN void __cyg_profile_func_exit(void *function, void *caller) { (void)function; (void)caller; t_tick(2); }
        __attribute__((noinline)) static int work(int n) { return n + 1; }
        int main(void) { int i, sum = 0; for (i = 0; i < 1000; i++) sum += work(i); return sum == 0; }\n";
    for compiler in [GNU99, CLANG] {
        for optimised in ["-O0", "-O2"] {
            let folder = folder();
            let flags = ["-D_GNU_SOURCE", "-finstrument-functions", optimised];
            let program =
                build(folder.path(), compiler, SPEC, PROGRAM, &flags).unwrap_or_else(|error| panic!("{error}"));
            let run = folder.path().join("run.tmt");
            let _ = succeed(Command::new(program).env("TUMIT_TRACE", &run));
            // The end of `main` is the last record.
            assert_eq!(read(&run)[0].totals(), (2 + 2 * 1000, 0), "{compiler:?} {optimised}");
        }
    }
}

#[test]
fn a_child_records_into_the_requested_folder() {
    let folder = folder();
    let _ = succeed(&mut program(folder.path(), GNU99, &["elsewhere"], &[]));
    let counts = |run| -> Vec<u64> { read(&folder.path().join(run)).iter().map(|file| file.totals().0).collect() };
    assert_eq!(counts("other.tmt"), [3]);
    let mut of_parent = counts("run.tmt");
    of_parent.sort_unstable();
    assert_eq!(of_parent, [2, 4]);
}

#[test]
fn policies_of_unknown_levels_are_reported() {
    let folder = folder();
    let output = output(&mut program(folder.path(), GNU99, &["errors"], &[("TUMIT_POLICY", "L=block,NOBODY=block")]));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("TUMIT_POLICY: no spec that this program uses has a level `NOBODY`"), "{errors}");
}

#[test]
fn records_dropped_at_the_start_are_counted_in_a_killed_run() {
    for compiler in [GNU99, CLANG] {
        for _ in 0..10 {
            let folder = folder();
            let output = output(&mut program(folder.path(), compiler, &["beginning"], &[]));
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            let emitted: u64 =
                printed.trim().strip_prefix("emitted ").and_then(|count| count.parse().ok()).unwrap_or(0);
            let run = folder.path().join("run.tmt");
            let [records, dropped] = [record_count(&run), losses(&run)[0]];
            assert_eq!(records + dropped, emitted, "{records} + {dropped}: {printed}");
        }
    }
}
