//! `tumit merge --sort`: one file in the order of timestamps, with the same contents.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tests::programs::{output, succeed, tumit};
use tracer_format::block::{decode_block, unpack};
use tracer_format::{BlockKind, PREAMBLE_BYTES};

const RAW_TIMESTAMPS: [&str; 4] = ["--clock", "none", "--causal", "off"];

fn record(path: &Path, states: &str) {
    succeed(Command::new(env!("CARGO_BIN_EXE_make_trace")).arg(path).args([states, "6"]));
}

/// The records with the timestamps of the clocks alone: the two processes here are unrelated.
fn dumped(run: &Path) -> Vec<Value> {
    let text = succeed(tumit().arg("dump").arg(run).arg("--json").args(RAW_TIMESTAMPS));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Two runs, joined without sorting, and sorted.
fn joined_and_sorted(folder: &Path, states: [&str; 2]) -> (PathBuf, PathBuf) {
    let parts: Vec<PathBuf> = ["a.tmt", "b.tmt"].iter().map(|name| folder.join(name)).collect();
    parts.iter().zip(states).for_each(|(part, states)| record(part, states));
    let (joined, sorted) = (folder.join("joined.tmt"), folder.join("sorted.tmt"));
    succeed(tumit().arg("merge").args(&parts).arg("-o").arg(&joined));
    let stdout = succeed(tumit().arg("merge").args(&parts).args(RAW_TIMESTAMPS).arg("--sort").arg("-o").arg(&sorted));
    assert!(stdout.contains("2 processes"), "{stdout}");
    (joined, sorted)
}

#[test]
fn a_sorted_run_has_the_same_records_in_time_order() {
    let folder = tempfile::tempdir().unwrap();
    let (joined, sorted) = joined_and_sorted(folder.path(), ["20000", "8000"]);
    let files: Vec<_> = std::fs::read_dir(&sorted).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1, "{files:?}");

    let (expected, sorted_records) = (dumped(&joined), dumped(&sorted));
    assert!(expected.len() > 50_000);
    assert_eq!(sorted_records.len(), expected.len());
    assert!(sorted_records.iter().zip(&expected).all(|(a, b)| a == b));
    let dates: Vec<i64> = sorted_records.iter().map(|record| record["time_ns"].as_i64().unwrap()).collect();
    assert!(dates.is_sorted());

    // The processes' messages have the same keys, which is reported.
    let converted = |run: &Path| output(tumit().arg("convert").arg(run).args(RAW_TIMESTAMPS).args(["-o", "-"])).stdout;
    let text = converted(&joined);
    assert!(text.len() > 1_000_000 && text == converted(&sorted));

    let count = in_order(&std::fs::read(&files[0]).unwrap());
    assert_eq!(count, expected.len());

    // The second reader, based on FORMAT.md.
    let reader = tests::programs::workspace().join("tests/python_reader/dump.py");
    let (second, first) = (succeed(Command::new("python3").arg(reader).arg(&sorted)), &sorted_records);
    let second: Vec<Value> = second.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(second.len(), first.len());
    let key = |record: &Value| (record["time_ns"].as_i64(), record["tid"].as_u64(), record.to_string());
    let by_date = |records: &[Value]| {
        let mut keys: Vec<_> = records.iter().map(key).collect();
        keys.sort();
        keys
    };
    assert!(by_date(&second) == by_date(first));
}

/// Reads a sorted file from the start as FORMAT.md describes: a block waits until one begins
/// after its end. Checks the order and returns the number of records.
fn in_order(bytes: &[u8]) -> usize {
    let (mut position, mut last_first) = (PREAMBLE_BYTES, 0);
    let mut blocks: VecDeque<(u64, usize, Vec<u64>)> = VecDeque::new();
    let (mut latest, mut count, mut most) = (0u64, 0, 0);
    let mut emit_before = |blocks: &mut VecDeque<(u64, usize, Vec<u64>)>, before: u64| {
        let mut dates: Vec<u64> = Vec::new();
        for (_, _, records) in blocks.iter_mut() {
            let rest = records.split_off(records.partition_point(|date| *date < before));
            dates.append(&mut std::mem::replace(records, rest));
        }
        blocks.retain(|(_, _, records)| !records.is_empty());
        dates.sort_unstable();
        for date in dates {
            assert!(date >= latest);
            latest = date;
            count += 1;
        }
    };
    let schema = schema_of(bytes);
    while position < bytes.len() {
        let block = decode_block(&bytes[position..]).unwrap();
        position += block.header.block_bytes();
        if block.header.kind != BlockKind::Records as u8 {
            continue;
        }
        assert!(block.header.first_ticks >= last_first, "a block begins before the one in front of it");
        last_first = block.header.first_ticks;
        emit_before(&mut blocks, last_first);
        let mut buffer = Vec::new();
        let payload = unpack(&block.header, block.stored_body, &mut buffer).unwrap();
        let kind = |id: u16| schema.records.get(usize::from(id) - 1);
        let records = tracer_format::RecordIterator::new(payload, last_first, kind);
        let dates: Vec<u64> = records.map(|record| record.unwrap().ticks).collect();
        assert_eq!((dates[0], dates[dates.len() - 1]), (block.header.first_ticks, block.header.last_ticks));
        blocks.push_back((last_first, payload.len(), dates));
        most = most.max(blocks.iter().map(|(_, size, _)| size).sum());
    }
    emit_before(&mut blocks, u64::MAX);
    // A slice, and the rest of the previous one.
    assert!(most <= 2 << 20, "{most} bytes had to be held");
    count
}

fn schema_of(bytes: &[u8]) -> tracer_format::Schema {
    let mut position = PREAMBLE_BYTES;
    loop {
        let block = decode_block(&bytes[position..]).unwrap();
        position += block.header.block_bytes();
        if block.header.kind == BlockKind::Schema as u8 {
            let mut buffer = Vec::new();
            return tracer_format::Schema::decode(&unpack(&block.header, block.stored_body, &mut buffer).unwrap()[8..])
                .unwrap();
        }
    }
}

#[test]
fn all_commands_read_a_sorted_run() {
    let folder = tempfile::tempdir().unwrap();
    let (joined, sorted) = joined_and_sorted(folder.path(), ["3000", "1000"]);
    let info = succeed(tumit().arg("info").arg(&sorted));
    let processes = info.split("\n\n").nth(1).expect("the table of processes follows the times");
    assert_eq!(processes.matches("\npid ").count(), 2, "{info}");
    // Cutting separates the processes again.
    let all = dumped(&joined);
    let part = folder.path().join("part.tmt");
    succeed(tumit().arg("cut").arg(&sorted).args(["--level", "WORK", "-o"]).arg(&part));
    let cut = dumped(&part);
    let expected = all.iter().filter(|record| record["level"] == "WORK").count();
    assert_eq!((cut.len(), std::fs::read_dir(&part).unwrap().count()), (expected, 2));
    // Joining and sorting once more changes nothing.
    let again = folder.path().join("again.tmt");
    succeed(tumit().arg("merge").arg(&sorted).arg("-o").arg(&again));
    assert!(dumped(&again) == all);
    let twice = folder.path().join("twice.tmt");
    succeed(tumit().arg("merge").arg(&sorted).args(RAW_TIMESTAMPS).arg("--sort").arg("-o").arg(&twice));
    assert!(dumped(&twice) == all);

    // In a damaged sorted file the good parts are read, and no records are invented; it cannot be
    // repaired.
    let file = sorted.join("sorted.tmt");
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 100].fill(0xA5);
    std::fs::write(&file, bytes).unwrap();
    let dump = output(tumit().arg("dump").arg(&sorted).arg("--json"));
    assert_eq!(dump.status.code(), Some(1));
    let text = String::from_utf8(dump.stdout).unwrap();
    let good: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(good.len() < all.len() && good.len() > all.len() / 2, "{} of {}", good.len(), all.len());
    let mut whole = all.iter();
    assert!(good.iter().all(|record| whole.any(|record_of_run| record_of_run == record)));
    let repair = output(tumit().arg("repair").arg(&sorted));
    assert_eq!(repair.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&repair.stderr).contains("sort its original run again"));
}

#[test]
fn states_after_dropped_records_are_unknown_in_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    succeed(Command::new(env!("CARGO_BIN_EXE_make_trace")).arg(&run).args(["20000", "1"]));
    let csv = |run: &Path| {
        let output = output(tumit().arg("convert").arg(run).args(["-o", "-", "--format", "csv"]));
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (status, text) = csv(&run);
    assert!(status == Some(0) && !text.contains("unknown"));
    let file = std::fs::read_dir(&run).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let (status, text) = csv(&run);
    let unknown = text.lines().filter(|line| line.contains("unknown (records dropped or missing)")).count();
    // Calls and the phase, once each.
    assert_eq!((status, unknown), (Some(1), 2));
}
