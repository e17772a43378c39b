//! A million records take less than 200 MB, whatever they are; with little memory for notes the result is the same.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and tells the peak")]

#[path = "support/synthetic.rs"]
mod synthetic;

use converter::paje::write::Writer;
use converter::pipeline::{Options, convert};
use converter::run::Run;
use synthetic::{About, File, Records};

const SPEC: &str = r#"
trace load;
level L {
    event enter { thread: u32, what: string }
    event leave { thread: u32, since: date }
    event send { thread: u32, key: u64 }
    event receive { thread: u32, key: u64 }
    event begin { task: u64 }
    event end { task: u64 }
    event ask { thread: u32, key: u64 }
    event answer { thread: u32, key: u64 }
}
paje {
    container program "Program" {
        container thread[thread: u32] "Thread {thread}" { state doing "Doing" }
        container task[task: u64] "Task {task}" { state doing "Doing" }
        container desk[desk: u32] "Desk {desk}";
        link message "Message" from thread to thread
        link request "Request" from thread, desk to thread, desk
    }
}
rule enter -> push doing = what on thread[thread];
rule leave -> pop doing on thread[thread] -> push doing = "waiting" on thread[thread] at since -> pop doing on thread[thread];
rule send -> start message key (key) from thread[thread];
rule receive -> end message key (key) to thread[thread];
rule begin -> create task[task] -> push doing = "work" on task[task];
rule end -> destroy task[task];
rule ask -> start request key (key) from thread[thread];
rule answer -> end request key (key) to desk[thread];
"#;

/// Set in the process whose memory is measured.
const CHILD: &str = "TUMIT_TEST_MEMORY_RUN";
const RECORDS: u64 = 1_000_000;
const STREAMS: u32 = 16;
const LIMIT_KILOBYTES: u64 = 200_000;

fn write_run(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = File::new(&About::new(1), &schema);
    for stream in 0..STREAMS {
        file.thread(stream, u64::from(stream), "worker");
    }
    let per_stream = RECORDS / u64::from(STREAMS);
    for block in 0..per_stream / 2500 {
        for stream in 0..STREAMS {
            let mut records = Records::default();
            let thread = stream.to_le_bytes();
            for at in (block * 2500..(block + 1) * 2500).step_by(4) {
                let ticks = 1_000_000 + at * 100 + u64::from(stream);
                // Stream s sends to stream s + 1.
                let key = at * u64::from(STREAMS) + u64::from(stream);
                let from = at * u64::from(STREAMS) + u64::from((stream + STREAMS - 1) % STREAMS);
                records.record(0, ticks, &[&thread[..], &2u16.to_le_bytes(), b"ok"].concat());
                records.record(2, ticks + 100, &[&thread[..], &key.to_le_bytes()].concat());
                records.record(3, ticks + 200, &[&thread[..], &from.to_le_bytes()].concat());
                records.record(1, ticks + 300, &[&thread[..], &(ticks + 250).to_le_bytes()].concat());
            }
            file.records(stream, block, &records);
        }
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Every record is the start of a link that never ends, as when the files of all receivers are missing.
fn write_run_without_ends(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = File::new(&About::new(1), &schema);
    file.thread(0, 1, "worker");
    for block in 0..RECORDS / 2500 {
        let mut records = Records::default();
        for at in block * 2500..(block + 1) * 2500 {
            records.record(2, 1_000_000 + at, &[&0u32.to_le_bytes()[..], &at.to_le_bytes()].concat());
        }
        file.records(0, block, &records);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// A container after the other, each with a record of its beginning and of its end.
fn write_run_of_tasks(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = File::new(&About::new(1), &schema);
    file.thread(0, 1, "worker");
    for block in 0..RECORDS / 2500 {
        let mut records = Records::default();
        for at in block * 2500..(block + 1) * 2500 {
            records.record(if at % 2 == 0 { 4 } else { 5 }, 1_000_000 + at, &(at / 2).to_le_bytes());
        }
        file.records(0, block, &records);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Links whose Pajé type depends on both ends, which the first pass notes one by one, and some without an end.
fn write_run_of_requests(folder: &std::path::Path, requests: u64) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = File::new(&About::new(1), &schema);
    for stream in 0..2 {
        file.thread(stream, stream.into(), "worker");
    }
    for (block, first) in (0..requests).step_by(1000).enumerate() {
        let (mut asks, mut answers) = (Records::default(), Records::default());
        for at in first..first + 1000 {
            let key = at.to_le_bytes();
            asks.record(6, 1_000_000 + at * 10, &[&0u32.to_le_bytes()[..], &key].concat());
            if at % 100 != 99 {
                answers.record(7, 1_000_005 + at * 10, &[&1u32.to_le_bytes()[..], &key].concat());
            }
        }
        file.records(0, block as u64, &asks);
        file.records(1, block as u64, &answers);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Checks the memory of this process, which has converted a run.
fn check_peak() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < LIMIT_KILOBYTES, "{kilobytes} kB");
    println!("peak {kilobytes} kB");
}

/// Runs the test of this name in a process of its own, on this run.
fn in_a_process(test: &str, folder: &std::path::Path) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("peak "), "{text}");
    println!("{text}");
}

#[test]
fn a_million_links_without_end_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = Run::open(std::path::Path::new(&folder)).unwrap();
        let report = convert(&run, &Options::default(), &mut Writer::new(std::io::sink())).unwrap();
        assert_eq!((report.counts.unmatched_starts, report.counts.links), (RECORDS, 0));
        check_peak();
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run_without_ends(folder.path());
        in_a_process("a_million_links_without_end_in_bounded_memory", folder.path());
    }
}

#[test]
fn a_million_records_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = Run::open(std::path::Path::new(&folder)).unwrap();
        let mut writer = Writer::new(std::io::sink());
        let report = convert(&run, &Options::default(), &mut writer).unwrap();
        assert_eq!((report.counts.records, report.counts.links), (RECORDS, RECORDS / 4));
        assert!(report.is_clean(), "{:?}", report.lines());
        check_peak();
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run(folder.path());
        in_a_process("a_million_records_in_bounded_memory", folder.path());
    }
}

#[test]
fn half_a_million_containers_that_end_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = Run::open(std::path::Path::new(&folder)).unwrap();
        let report = convert(&run, &Options::default(), &mut Writer::new(std::io::sink())).unwrap();
        assert_eq!((report.counts.records, report.counts.containers), (RECORDS, RECORDS / 2 + 1));
        assert!(report.is_clean(), "{:?}", report.lines());
        check_peak();
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run_of_tasks(folder.path());
        in_a_process("half_a_million_containers_that_end_in_bounded_memory", folder.path());
    }
}

#[test]
fn the_result_does_not_depend_on_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    write_run_of_requests(folder.path(), 20_000);
    let run = Run::open(folder.path()).unwrap();
    let mut texts = Vec::new();
    for memory in [0, 10_000, 1 << 30] {
        let mut options = Options::default();
        options.memory = memory;
        let mut writer = Writer::new(Vec::new());
        let report = convert(&run, &options, &mut writer).unwrap();
        assert_eq!((report.counts.links, report.counts.unmatched_starts), (19_800, 200));
        texts.push(writer.into_inner());
    }
    assert!(texts[0] == texts[1] && texts[1] == texts[2]);
    assert!(String::from_utf8_lossy(&texts[0]).lines().filter(|line| line.starts_with("16 ")).count() == 19_800);
}
