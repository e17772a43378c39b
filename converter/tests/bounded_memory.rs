//! A million records of any kind take less than 200 MB. With little memory for link endpoints the
//! result is the same. A stream takes one to two kilobytes.

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test fails by panicking and tells the peak")]

use std::hash::{Hash as _, Hasher as _};
use std::num::NonZeroUsize;

use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, PayloadCodec};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

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
    event noise { text: string }
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

/// Environment variable that is set in the process with the measured memory.
const CHILD: &str = "TUMIT_TEST_MEMORY_RUN";
const RECORDS: u64 = 1_000_000;
const STREAMS: u32 = 16;
const LIMIT_KILOBYTES: u64 = 200_000;

fn write_run(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    for stream in 0..STREAMS {
        file.thread(stream, u64::from(stream), "worker");
    }
    let per_stream = RECORDS / u64::from(STREAMS);
    for block in 0..per_stream / 2500 {
        for stream in 0..STREAMS {
            let mut records = SyntheticRecords::default();
            let thread = stream.to_le_bytes();
            for time in (block * 2500..(block + 1) * 2500).step_by(4) {
                let ticks = 1_000_000 + time * 100 + u64::from(stream);
                // Stream s sends to stream s + 1.
                let key = time * u64::from(STREAMS) + u64::from(stream);
                let from = time * u64::from(STREAMS) + u64::from((stream + STREAMS - 1) % STREAMS);
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

/// Every record is the start of a link that never ends, as if the files of all receivers were
/// missing.
fn write_run_without_ends(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 1, "worker");
    for block in 0..RECORDS / 2500 {
        let mut records = SyntheticRecords::default();
        for at in block * 2500..(block + 1) * 2500 {
            records.record(2, 1_000_000 + at, &[&0u32.to_le_bytes()[..], &at.to_le_bytes()].concat());
        }
        file.records(0, block, &records);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// One container after another, each with a record of its beginning and of its end.
fn write_run_of_tasks(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 1, "worker");
    for block in 0..RECORDS / 2500 {
        let mut records = SyntheticRecords::default();
        for at in block * 2500..(block + 1) * 2500 {
            records.record(if at % 2 == 0 { 4 } else { 5 }, 1_000_000 + at, &(at / 2).to_le_bytes());
        }
        file.records(0, block, &records);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Links with a Pajé type that depends on both endpoints, which the first pass stores one by one.
/// Some have no end.
fn write_run_of_requests(folder: &std::path::Path, requests: u64) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    for stream in 0..2 {
        file.thread(stream, stream.into(), "worker");
    }
    for (block, first) in (0..requests).step_by(1000).enumerate() {
        let (mut asks, mut answers) = (SyntheticRecords::default(), SyntheticRecords::default());
        for time in first..first + 1000 {
            let key = time.to_le_bytes();
            asks.record(6, 1_000_000 + time * 10, &[&0u32.to_le_bytes()[..], &key].concat());
            if time % 100 != 99 {
                answers.record(7, 1_000_005 + time * 10, &[&1u32.to_le_bytes()[..], &key].concat());
            }
        }
        file.records(0, block as u64, &asks);
        file.records(1, block as u64, &answers);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Streams of [`write_run_of_threads`].
const THREADS: u32 = 40_000;

/// Threads with two records each, one after another.
fn write_run_of_threads(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    for stream in 0..THREADS {
        file.thread(stream, u64::from(stream) + 1, "");
        let mut records = SyntheticRecords::default();
        let ticks = 1_000_000 + u64::from(stream) * 100;
        records.record(0, ticks, &[&stream.to_le_bytes()[..], &2u16.to_le_bytes(), b"ok"].concat());
        records.record(1, ticks + 50, &[stream.to_le_bytes().as_slice(), &(ticks + 20).to_le_bytes()].concat());
        file.records(stream, 0, &records);
    }
    file.end();
    file.save(folder, "a.tmt");
}

/// Streams of [`write_run_of_large_blocks`].
const LARGE: u32 = 32;

/// Each stream has one block of 4 MiB, which is stored in about ten kilobytes.
fn write_run_of_large_blocks(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.codec = PayloadCodec::Lz4;
    let text = [&60_000_u16.to_le_bytes()[..], &[b'a'; 60_000]].concat();
    for stream in 0..LARGE {
        file.thread(stream, stream.into(), "worker");
        let mut records = SyntheticRecords::default();
        for at in 0..70 {
            records.record(8, 1_000_000 + at * 100 + u64::from(stream), &text);
        }
        let key = u64::from(stream).to_le_bytes();
        records.record(2, 2_000_000, &[&stream.to_le_bytes()[..], &key].concat());
        records.record(3, 2_000_001, &[&stream.to_le_bytes()[..], &key].concat());
        file.records(stream, 0, &records);
    }
    file.end();
    assert!(file.bytes.len() < 2_000_000);
    file.save(folder, "a.tmt");
}

/// Blocks of all codecs with short and long records, records with moved timestamps, and a drop
/// block.
fn write_run_of_all_kinds(folder: &std::path::Path) {
    let schema = tumit::compile_text("load.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    for stream in 0..6_u32 {
        file.thread(stream, stream.into(), "worker");
        file.codec = [PayloadCodec::Raw, PayloadCodec::Lz4, PayloadCodec::Columns][stream as usize % 3];
        let thread = stream.to_le_bytes();
        for block in 0..3_u64 {
            let mut records = SyntheticRecords::default();
            for time in block * 600..(block + 1) * 600 {
                let ticks = 1_000_000 + time * 100 + u64::from(stream);
                if stream < 3 {
                    let text = vec![b'x'; if time % 97 == 0 { 20_000 } else { 3 }];
                    let length = u16::try_from(text.len()).unwrap().to_le_bytes();
                    records.record(0, ticks, &[&thread[..], &length, &text].concat());
                    records.record(1, ticks + 50, &[&thread[..], &(ticks + 20).to_le_bytes()].concat());
                } else {
                    let key = (time * 8 + u64::from(stream)).to_le_bytes();
                    records.record(2, ticks, &[&thread[..], &key].concat());
                    records.record(3, ticks + 50, &[&thread[..], &key].concat());
                }
                if time == 700 {
                    let dropped =
                        DroppedRecords { count: 3, bytes: 9, first_ticks: ticks, last_ticks: ticks + 50, cause: 1 };
                    records.record(ID_DROPPED - 1, ticks + 60, &dropped.encode());
                }
            }
            file.records(stream, block, &records);
        }
    }
    file.end_with_dropped(18);
    file.save(folder, "a.tmt");
}

/// Checks the memory of this process, which has converted a run.
fn check_peak() {
    check_peak_below(LIMIT_KILOBYTES);
}

/// As [`check_peak`], with another limit in kilobytes.
fn check_peak_below(limit: u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < limit, "{kilobytes} kB");
    println!("peak {kilobytes} kB");
}

/// Runs the test with this name in its own process, on this run.
fn in_a_process(test: &str, folder: &std::path::Path) {
    in_a_process_with(test, folder, "1024");
}

/// As [`in_a_process`], with a budget for unpacked blocks in MiB. Returns the output of the
/// process.
fn in_a_process_with(test: &str, folder: &std::path::Path, budget: &str) -> String {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, folder)
        .env("TUMIT_BLOCK_MEMORY", budget)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("peak "), "{text}");
    println!("{text}");
    text.into_owned()
}

#[test]
fn many_large_blocks_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let mut options = ConvertOptions::default();
        options.threads = NonZeroUsize::new(2);
        let report = convert(&run, &options, &mut PajeWriter::new(std::io::sink())).unwrap();
        let streams = u64::from(LARGE);
        assert_eq!((report.counts.records, report.counts.links), (72 * streams, streams));
        // Whole blocks would need 100 MB more.
        check_peak_below(160_000);
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run_of_large_blocks(folder.path());
        in_a_process_with("many_large_blocks_in_bounded_memory", folder.path(), "32");
    }
}

#[test]
fn many_streams_are_converted_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let mut options = ConvertOptions::default();
        options.threads = NonZeroUsize::new(2);
        let report = convert(&run, &options, &mut PajeWriter::new(std::io::sink())).unwrap();
        assert_eq!(report.counts.records, 2 * u64::from(THREADS));
        // The code and the tables without streams take about 15 MB. A stream takes up to 2 kB.
        check_peak_below(15_000 + u64::from(THREADS) * 2);
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run_of_threads(folder.path());
        in_a_process("many_streams_are_converted_in_bounded_memory", folder.path());
    }
}

#[test]
fn the_result_does_not_depend_on_the_memory_for_blocks() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let mut options = ConvertOptions::default();
        for threads in [1, 3] {
            options.threads = NonZeroUsize::new(threads);
            let mut writer = PajeWriter::new(Vec::new());
            let report = convert(&run, &options, &mut writer).unwrap();
            assert_eq!((report.counts.records, report.counts.links), (21_600, 5400));
            let mut hasher = std::hash::DefaultHasher::new();
            (writer.into_inner(), report.all_diagnostics()).hash(&mut hasher);
            println!("result {}", hasher.finish());
        }
        check_peak();
    } else {
        let folder = tempfile::tempdir().unwrap();
        write_run_of_all_kinds(folder.path());
        let rows_with = |budget: &str| {
            let text = in_a_process_with("the_result_does_not_depend_on_the_memory_for_blocks", folder.path(), budget);
            text.lines().filter(|line| line.starts_with("result")).map(str::to_owned).collect::<Vec<_>>()
        };
        let whole = rows_with("1024");
        assert!(whole.len() == 2 && whole[0] == whole[1]);
        assert_eq!(rows_with("0"), whole, "all blocks in pieces");
    }
}

#[test]
fn a_million_links_without_end_in_bounded_memory() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let report = convert(&run, &ConvertOptions::default(), &mut PajeWriter::new(std::io::sink())).unwrap();
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
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let mut writer = PajeWriter::new(std::io::sink());
        let report = convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
        assert_eq!((report.counts.records, report.counts.links), (RECORDS, RECORDS / 4));
        assert!(report.is_clean(), "{:?}", report.all_diagnostics());
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
        let run = OpenRun::open(std::path::Path::new(&folder)).unwrap();
        let report = convert(&run, &ConvertOptions::default(), &mut PajeWriter::new(std::io::sink())).unwrap();
        assert_eq!((report.counts.records, report.counts.containers), (RECORDS, RECORDS / 2 + 1));
        assert!(report.is_clean(), "{:?}", report.all_diagnostics());
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
    let run = OpenRun::open(folder.path()).unwrap();
    let mut texts = Vec::new();
    for memory in [0, 10_000, 1 << 30] {
        let mut options = ConvertOptions::default();
        options.memory = memory;
        let mut writer = PajeWriter::new(Vec::new());
        let report = convert(&run, &options, &mut writer).unwrap();
        assert_eq!((report.counts.links, report.counts.unmatched_starts), (19_800, 200));
        texts.push(writer.into_inner());
    }
    assert!(texts[0] == texts[1] && texts[1] == texts[2]);
    assert!(String::from_utf8_lossy(&texts[0]).lines().filter(|line| line.starts_with("16 ")).count() == 19_800);
}
