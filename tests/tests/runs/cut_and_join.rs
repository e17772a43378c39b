//! Smaller and joined runs: `tumit cut` keeps the records that `tumit dump` selects, and a joined
//! run contains the records of its inputs.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tests::programs::{output, succeed, tumit};

/// A run of four threads with some ten thousand records.
fn record(path: &Path) {
    succeed(Command::new(env!("CARGO_BIN_EXE_make_trace")).arg(path).args(["6000", "4"]));
}

/// The records, with timestamps relative to the first of them.
fn list_records(path: &Path, filters: &[&str]) -> Vec<Value> {
    let text = succeed(tumit().arg("dump").arg(path).arg("--json").args(filters));
    let mut records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let first = records.first().map_or(0, |record| record["time_ns"].as_i64().unwrap());
    for record in &mut records {
        record["time_ns"] = (record["time_ns"].as_i64().unwrap() - first).into();
    }
    records
}

#[test]
fn a_cut_run_has_exactly_the_selected_records() {
    let folder = tempfile::tempdir().unwrap();
    let full_run = folder.path().join("whole.tmt");
    record(&full_run);
    let all = list_records(&full_run, &[]).len();
    let thread = list_records(&full_run, &[])[0]["tid"].to_string();
    let cases: [&[&str]; 6] = [
        &["--level", "calls"],
        &["--event", "send", "--event", "receive"],
        &["--interval", "2ms..5ms"],
        &["--interval", "..1ms", "--interval", "4ms.."],
        &["--thread", &thread],
        &["--thread", &thread, "--level", "WORK", "--interval", "1ms.."],
    ];
    for (number, filters) in cases.iter().enumerate() {
        let part = folder.path().join(format!("part{number}.tmt"));
        let stdout = succeed(tumit().arg("cut").arg(&full_run).arg("-o").arg(&part).args(*filters));
        let expected = list_records(&full_run, filters);
        assert!(!expected.is_empty() && expected.len() < all, "{filters:?}: {} of {all}", expected.len());
        assert!(list_records(&part, &[]) == expected, "{filters:?}");
        assert!(stdout.contains(&format!("{} records", expected.len())) && stdout.contains("left out"), "{stdout}");
        // The cut run is packed as well as the whole, so that it is not larger.
        let bytes = |path: &Path| -> u64 {
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
        };
        assert!(bytes(&part) < bytes(&full_run));
        // It is a valid run.
        succeed(tumit().arg("info").arg(&part));
    }
}

#[test]
fn joined_runs_have_the_records_of_their_parts() {
    let folder = tempfile::tempdir().unwrap();
    let parts: Vec<_> = ["a.tmt", "b.tmt"].iter().map(|name| folder.path().join(name)).collect();
    parts.iter().for_each(|part| record(part));
    let full_run = folder.path().join("whole.tmt");
    let stdout = succeed(tumit().arg("merge").args(&parts).arg("-o").arg(&full_run));
    let pid_of = |record: &Value| record["pid"].as_u64().unwrap();
    let joined = list_records(&full_run, &[]);
    for part in &parts {
        let expected = list_records(part, &[]);
        let pid = pid_of(&expected[0]);
        let records_of_process: Vec<&Value> = joined.iter().filter(|record| pid_of(record) == pid).collect();
        assert_eq!(records_of_process.len(), expected.len());
        assert!(
            records_of_process.iter().zip(&expected).all(|(a, b)| a["fields"] == b["fields"] && a["tid"] == b["tid"])
        );
    }
    assert!(stdout.contains("2 processes"), "{stdout}");
    // One process given twice is an error, and no output remains.
    let twice = folder.path().join("twice.tmt");
    let refused = output(tumit().arg("merge").args([&parts[0], &parts[0]]).arg("-o").arg(&twice));
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("are files of the same process"));
    let names: Vec<String> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.contains("twice")), "{names:?}");
}

#[test]
fn mistakes_in_the_filters_of_cut_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let full_run = folder.path().join("whole.tmt");
    record(&full_run);
    let part = folder.path().join("part.tmt");
    for (filters, expected) in [
        (&[][..], "no filter is given"),
        (&["--event", "sennd"], "did you mean `send`"),
        (&["--thread", "nobody"], "this run has no thread `nobody`"),
    ] {
        let refused = output(tumit().arg("cut").arg(&full_run).arg("-o").arg(&part).args(filters));
        assert_eq!(refused.status.code(), Some(2));
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(stderr.contains(expected), "{stderr}");
        assert!(!part.exists());
    }
    let refused = output(tumit().arg("cut").arg(&full_run).arg("-o").arg(&full_run).args(["--interval", "..1"]));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is the input"));
}
