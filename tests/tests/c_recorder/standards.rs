//! Compiles and runs the C header with every standard that it supports, and decodes the records.

use std::path::Path;

use tests::lang::c::{C99, CCompiler, EVERY, GNU99, build, build_with_shared_recorder, folder, record};
use tests::programs::{succeed, tumit};
use tests::run::{ProcessFile, read};
use tracer_format::block::BlockHeader;
use tracer_format::tags::{integer, tag};
use tracer_format::{BlockKind, PayloadCodec};

const TYPES: &str = include_str!("../../cases/types/spec.tumit");
const DRIVE_TYPES: &str = include_str!("../../cases/types/drive.c");
const TICK: &str = "trace t;\nlevel L { event tick { n: u64 } event say { text: string } }\n";

fn single_file(run: &Path) -> ProcessFile {
    let mut files = read(run);
    assert_eq!(files.len(), 1, "one process, one file");
    files.remove(0)
}

#[test]
fn every_standard_compiles_clean_and_records_the_same() {
    let mut all = Vec::new();
    for (number, compiler) in EVERY.into_iter().enumerate() {
        let folder = folder();
        // Each compiler optimises one standard, because that takes up to four times as long.
        let level = match number {
            0 | 11 => "-O2",
            6 | 8 => "-O3",
            _ => "-O0",
        };
        let program =
            build(folder.path(), compiler, TYPES, DRIVE_TYPES, &[level]).unwrap_or_else(|error| panic!("{error}"));
        let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
        assert_eq!(file.totals(), (28, 0));
        assert_eq!(file.process[&tag::WRITER], b"c 0.1.0");
        assert_eq!(file.thread_name(0), "main");
        assert!(file.anchors.len() >= 2, "at the start and at the end");
        all.push(file.texts());
    }
    assert!(all.iter().all(|texts| *texts == all[0]));
    let expected = [
        "numbers a=Unsigned(255) b=Unsigned(65535) c=Unsigned(4294967295) d=Unsigned(18446744073709551615) e=Signed(-128) f=Signed(-32768) g=Signed(-2147483648) h=Signed(-9223372036854775808)",
        "floats a=Single(1.5) b=Double(-2.25)",
        "others yes=Bool(true) where=Pointer(0) tint=green",
        "texts name=\"north\" what=\"héllo\" data=Bytes([0, 1, 2])",
        "placed @drive n=Unsigned(7)",
        "silent n=Unsigned(100)",
    ];
    for line in expected {
        assert!(all[0].iter().any(|text| text == line), "`{line}` is not among {:#?}", all[0]);
    }
}

#[test]
fn build_options_remove_tracing() {
    let folder = folder();
    for flag in ["-DTUMIT_OFF", "-DTYPES_OFF_ALL"] {
        let program = build(folder.path(), C99, TYPES, DRIVE_TYPES, &[flag]).unwrap_or_else(|error| panic!("{error}"));
        let run = record(&program, folder.path(), "off.tmt", &[]);
        if flag == "-DTUMIT_OFF" {
            assert!(!run.exists(), "nothing was recorded");
        } else {
            let texts = single_file(&run).texts();
            assert!(texts.iter().all(|text| text.starts_with("loud") || text.starts_with("silent")), "{texts:?}");
        }
    }
}

#[test]
fn levels_follow_the_environment() {
    let folder = folder();
    let program = build(folder.path(), C99, TYPES, DRIVE_TYPES, &[]).unwrap_or_else(|error| panic!("{error}"));
    let levels = [("TUMIT_LEVELS", "ALL=off,types.QUIET=on,LOUD=off")];
    let texts = single_file(&record(&program, folder.path(), "run.tmt", &levels)).texts();
    assert_eq!(
        texts,
        ["silent n=Unsigned(0)", "silent n=Unsigned(1)", "silent n=Unsigned(2)", "silent n=Unsigned(100)"]
    );
    let (garbled, run) = ("ALL=off, LOUD,QUIET=maybe", folder.path().join("garbled.tmt"));
    let output = std::process::Command::new(program)
        .env("TUMIT_LEVELS", garbled)
        .env("TUMIT_TRACE", run)
        .output()
        .expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("is not valid: write").count(), 2, "{errors}");
    assert!(errors.contains("TUMIT_LEVELS: `LOUD` is not") && errors.contains("`QUIET=maybe` is not"), "{errors}");
}

#[test]
fn strict_c99_names_the_missing_definition() {
    let folder = folder();
    let strict = CCompiler { command: "gcc", flags: &["-std=c99"] };
    let source = "#include \"t_trace.h\"\nint main(void) { t_tick(1); return 0; }\n";
    build(folder.path(), strict, TICK, source, &[]).expect("the header comes first");
    let late = format!("#include <stdio.h>\n{source}");
    let error = build(folder.path(), strict, TICK, &late, &[]).expect_err("too late for the system's headers");
    assert!(error.contains("compile with -D_GNU_SOURCE"), "{error}");
    build(folder.path(), C99, TICK, &late, &[]).expect("with the macro all is well");
}

#[test]
fn threads_fill_blocks_and_lose_nothing() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <pthread.h>
static void *work(void *argument) {
    uint64_t n, first = *(const uint64_t *)argument;
    tumit1_set_thread_name(first == 0 ? "zero" : "other");
    for (n = 0; n < 40000; n++) { t_tick(first + n); }
    return NULL;
}
int main(void) {
    pthread_t threads[4];
    uint64_t first[4];
    unsigned i;
    for (i = 0; i < 4; i++) {
        first[i] = 1000000u * i;
        if (pthread_create(&threads[i], NULL, work, &first[i]) != 0) { return 1; }
    }
    for (i = 0; i < 1000; i++) { t_say("main speaks"); if (i % 250 == 0) { tumit1_flush(); } }
    for (i = 0; i < 4; i++) { pthread_join(threads[i], NULL); }
    return 0;
}
"#;
    let program = build_with_shared_recorder(folder.path(), GNU99, TICK, source, &["-O1"])
        .unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!(file.totals(), (161_000, 0));
    assert_eq!(file.records.len(), 5);
    for (stream, records) in &file.records {
        match file.thread_name(*stream).as_str() {
            "main" => assert_eq!(records.len(), 1000),
            name => {
                assert!(name == "zero" || name == "other", "{name}");
                let number =
                    |text: &str| text.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().expect("a number");
                let all: Vec<_> = records.iter().map(|record| number(&record.text)).collect();
                let expected: Vec<_> = (all[0]..all[0] + 40_000).collect();
                assert_eq!(all, expected, "in order, none missing, none twice");
            }
        }
    }
    // The scheduler determines the times of the writes. A block of a quarter of a slot or more is
    // packed by columns unless more than half of all slots wait; this program uses 35 of 256. Some
    // blocks are large, even if slots are often written before they are full.
    let large = |block: &&BlockHeader| block.kind == BlockKind::Records as u8 && block.raw_bytes >= 16_384;
    let large: Vec<_> = file.blocks.iter().filter(large).collect();
    assert!(!large.is_empty(), "{:#?}", file.blocks);
    assert!(large.iter().all(|block| block.codec == PayloadCodec::Columns as u8), "{large:#?}");
}

#[test]
fn records_that_are_too_long_are_truncated_and_counted() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
static char text[70001];
int main(void) {
    memset(text, 'x', sizeof text - 1);
    t_tick(1);
    t_say(text); /* 70000 bytes: no slot holds them */
    t_tick(2);
    text[60000] = 0;
    t_say(text);
    t_tick(3);
    return 0;
}
"#;
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[]));
    assert_eq!((file.totals(), file.truncated, file.dropped_reports.len()), ((5, 0), 1, 0));
    let truncated = file.end.as_ref().and_then(|end| integer(end.get(&tag::RECORDS_TRUNCATED)?));
    assert_eq!(truncated, Some(1));
    let texts = file.texts();
    assert!(texts[1].ends_with("xxx\" (truncated)") && !texts[3].contains("truncated"), "{:?}", &texts[1][65_000..]);
}

#[test]
fn losses_on_a_full_disk_are_counted_and_the_file_stays_readable() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <signal.h>
#include <sys/resource.h>
int main(void) {
    const struct rlimit small = {100000, RLIM_INFINITY}, large = {RLIM_INFINITY, RLIM_INFINITY};
    uint64_t n, noise = 1;
    signal(SIGXFSZ, SIG_IGN);
    for (n = 0; n < 200000; n++) {
        if (n == 100) { setrlimit(RLIMIT_FSIZE, &small); }
        if (n == 150000) { setrlimit(RLIMIT_FSIZE, &large); }
        noise = noise * 6364136223846793005u + 1442695040888963407u;
        t_tick(noise);
        if (n % 5000 == 4999) { tumit1_flush(); }
    }
    return 0;
}
"#;
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    // Records that the file cannot take wait in the live file. Without one, a full slot is dropped.
    assert_eq!(single_file(&record(&program, folder.path(), "mapped.tmt", &[])).totals(), (200_000, 0));
    let file = single_file(&record(&program, folder.path(), "private.tmt", &[("TUMIT_BUFFERS", "private")]));
    let (written, dropped) = file.totals();
    assert_eq!(written + dropped, 200_000);
    assert!(dropped > 100_000 && written > 40_000, "{written} written, {dropped} dropped");
    assert_eq!(file.dropped_reports.iter().map(|report| report.count).sum::<u64>(), dropped, "told at the place");
    assert!(file.dropped_reports.iter().all(|report| report.cause == tracer_format::cause::WRITE_FAILED));
}

#[test]
fn a_folder_that_cannot_be_created_gives_one_message() {
    let folder = folder();
    let source = "#include \"t_trace.h\"\nint main(void) { t_tick(1); t_tick(2); return 0; }\n";
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let output = std::process::Command::new(program).env("TUMIT_TRACE", "/dev/null/run.tmt").output().expect("it runs");
    assert!(output.status.success(), "the program itself is not disturbed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("cannot create the run folder /dev/null/run.tmt: Not a directory"), "{errors}");
    assert!(errors.contains("2 records were dropped"), "{errors}");
}

#[test]
fn a_forked_child_has_its_own_file() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    pid_t child;
    t_say("parent");
    t_tick(1);
    child = fork();
    if (child == 0) { t_tick(100); t_say("parent"); exit(0); }
    t_tick(2);
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
"#;
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut files = read(&record(&program, folder.path(), "run.tmt", &[]));
    files.sort_by_key(|file| file.process.contains_key(&tag::PARENT_ID));
    let [parent, child] = &files[..] else { panic!("two files") };
    assert_eq!(child.process[&tag::PARENT_ID], parent.process[&tag::PROCESS_ID]);
    assert_eq!(parent.texts(), ["say text=\"parent\"", "tick n=Unsigned(1)", "tick n=Unsigned(2)"]);
    assert_eq!(child.texts(), ["tick n=Unsigned(100)", "say text=\"parent\""]);
    assert_ne!(parent.process_integer(tag::PID), child.process_integer(tag::PID));
}

#[test]
fn records_of_signal_handlers_are_stored_or_counted() {
    let folder = folder();
    let source = r#"
#include "t_trace.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static volatile sig_atomic_t seen;
static void handle(int number) { (void)number; seen++; t_tick(7); }
int main(void) {
    struct itimerval often;
    unsigned long n = 0;
    memset(&often, 0, sizeof often);
    often.it_interval.tv_usec = often.it_value.tv_usec = 50;
    t_tick(0);
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    while (seen < 500) { t_say("main"); n++; }
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_REAL, &often, NULL);
    { FILE *f = fopen("calls", "w"); if (f != NULL) { fprintf(f, "%lu", n + 1 + (unsigned long)seen); fclose(f); } }
    return 0;
}
"#;
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    // A loop that only records waits for the writer thread, even if that runs late.
    let file = single_file(&record(&program, folder.path(), "run.tmt", &[("TUMIT_POLICY", "all=block")]));
    let calls: u64 = std::fs::read_to_string(folder.path().join("calls")).expect("a count").parse().expect("a number");
    let (written, dropped) = file.totals();
    assert_eq!(written + dropped, calls, "each call is in the file or counted as dropped");
    assert_eq!(file.dropped_reports.iter().map(|report| report.count).sum::<u64>(), dropped);
    assert!(file.dropped_reports.iter().all(|report| report.cause == tracer_format::cause::NESTED));
}

#[test]
fn a_backward_clock_is_reported() {
    let folder = folder();
    // The clock runs backwards within a slot and, because slots are small, between slots: all
    // records get the latest timestamp.
    let source = r#"
#include "t_trace.h"
static uint64_t now = 1000000;
static uint64_t ticks(void) { return now--; }
int main(void) {
    int i;
    if (tumit1_set_clock(ticks, 1000, "my clock") != 0) { return 1; }
    for (i = 0; i < 20000; i++) { t_tick((uint64_t)i); }
    return 0;
}
"#;
    let program =
        build_with_shared_recorder(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
    let run = record(&program, folder.path(), "run.tmt", &[]);
    let file = single_file(&run);
    let records = &file.records[&0];
    assert_eq!(records.len(), 20_000);
    assert!(records.iter().all(|record| record.ticks == records[0].ticks));
    let info = succeed(tumit().arg("info").arg(&run));
    assert!(info.contains("its clock went back: 19999 records have the timestamp of their predecessor"), "{info}");
}

#[test]
fn a_counter_of_32_bits_goes_on_after_it_wraps() {
    let folder = folder();
    // The writer thread and the anchors read the counter as well.
    let counter = r#"
#include <stdint.h>
static uint32_t now;
static uint64_t ticks(void) { return __atomic_add_fetch(&now, 1u << 28, __ATOMIC_RELAXED); }
"#;
    let run_time = r#"
#include "t_trace.h"
int main(void) {
    uint32_t n;
    if (tumit1_set_clock(ticks, 1000000000, NULL) != 0) { return 1; }
    for (n = 0; n < 100; n++) { t_tick(n); }
    return 0;
}
"#;
    let compile_time = r#"
#define TUMIT_CLOCK() ticks()
#define TUMIT_CLOCK_HZ 1000000000
#include "t_trace.h"
int main(void) {
    uint32_t n;
    for (n = 0; n < 100; n++) { t_tick(n); }
    return 0;
}
"#;
    for source in [run_time, compile_time] {
        let program = build(folder.path(), C99, TICK, &format!("{counter}{source}"), &[]);
        let run = record(&program.unwrap_or_else(|error| panic!("{error}")), folder.path(), "run.tmt", &[]);
        let info = succeed(tumit().arg("info").arg(&run));
        let file = single_file(&run);
        std::fs::remove_dir_all(run).expect("the run can go");
        let records = &file.records[&0];
        let steps: Vec<u64> = records.windows(2).map(|pair| pair[1].ticks - pair[0].ticks).collect();
        // Each clock reading of the recorder between two records adds a step.
        assert!(steps.len() == 99 && steps.iter().all(|step| step % (1 << 28) == 0 && *step > 0), "{steps:?}");
        let wraps = records[99].ticks >> 32;
        assert!(wraps >= 6, "{wraps}");
        assert!(info.contains("is a counter of 32 bits and restarted at 0"), "{info}");
    }
}

#[test]
fn a_program_may_supply_the_clock() {
    let folder = folder();
    let run_time = r#"
#include "t_trace.h"
static uint64_t now = 10;
static uint64_t ticks(void) { return now += 5000000000u; }
int main(void) {
    if (tumit1_set_clock(ticks, 1000, "my clock") != 0) { return 1; }
    t_tick(1);
    t_tick(2);
    return tumit1_set_clock(ticks, 1000, "too late") == -1 ? 0 : 2;
}
"#;
    let compile_time = r#"
#include <stdint.h>
static uint64_t now = 10;
static uint64_t ticks(void) { return now += 5000000000u; }
#define TUMIT_CLOCK() ticks()
#define TUMIT_CLOCK_HZ 1000
#define TUMIT_CLOCK_DOMAIN "my clock"
#include "t_trace.h"
int main(void) { t_tick(1); t_tick(2); return 0; }
"#;
    for source in [run_time, compile_time] {
        let program = build(folder.path(), C99, TICK, source, &[]).unwrap_or_else(|error| panic!("{error}"));
        let run = record(&program, folder.path(), "run.tmt", &[]);
        let file = single_file(&run);
        std::fs::remove_dir_all(run).expect("the run can go");
        assert_eq!(file.process_integer(tag::CLOCK_KIND), Some(5));
        assert_eq!(file.process_integer(tag::CLOCK_HZ), Some(1000));
        assert_eq!(file.process[&tag::CLOCK_DOMAIN], b"my clock");
        let records = &file.records[&0];
        assert_eq!(records[1].ticks - records[0].ticks, 5_000_000_000, "beyond 32 bits: a wide timestamp");
    }
}
