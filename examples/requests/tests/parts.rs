//! Each request is in the run, in related parts; each part begins and ends on one thread.

use std::collections::BTreeMap;
use std::process::Command;

use tumit_test_support::decoded_run::read_run;

#[test]
fn requests_are_recorded_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let mut program = Command::new(env!("CARGO_BIN_EXE_requests"));
    let output = program.env_remove("TUMIT_LEVELS").env("TUMIT_TRACE", &run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = &read_run(&run).files[0];
    let mut parts: BTreeMap<u64, (u64, u32)> = BTreeMap::new();
    for stream in file.streams.values() {
        let mut running = None;
        for record in &stream.records {
            match record.name.as_str() {
                "request.begin" => {
                    let task = record.get("task").number();
                    assert_eq!(running.replace(task), None, "parts of one thread do not overlap");
                    let part = parts.entry(task).or_insert((record.get("number").number(), 0));
                    assert_eq!(part.0, record.get("number").number(), "each task is one request");
                    part.1 += 1;
                }
                "request.end" => assert_eq!(running.take(), Some(record.get("task").number())),
                _ => assert!(running.is_some(), "all other records are within requests"),
            }
        }
        assert_eq!(running, None);
    }
    let mut numbers: Vec<u64> = parts.values().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    // A read waits once and a write twice, unless the store is ready at once.
    assert!(parts.values().all(|(number, parts)| (1..=2 + u32::from(number % 3 == 0)).contains(parts)), "{parts:?}");
    assert!(parts.values().any(|(_, parts)| *parts > 1), "{parts:?}");
}
