//! `tumit dump` and `tumit info` on runs that have ended: filters, the text of values, dropped
//! records, and the memory that a large run needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tests::programs::{output, tumit};
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, PayloadCodec, cause};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

use super::{info, run, stderr, stdout};

const SPEC: &str = "trace big; level NET { event send { to: u32, what: string } } level CPU { span step { n: u32 } }";

/// Rounds in a block.
const BLOCK: u32 = 200;

/// Two processes with two threads each: `rounds` sends and steps, one of each per millisecond, and
/// a loss.
fn save_large_run(folder: &Path, rounds: u32, text: usize) -> PathBuf {
    let mut schema = tumit::compile_text("big.tumit", SPEC).0.unwrap().schema();
    schema.sources.clear();
    let path = folder.join("big.tmt");
    for rank in 0..2 {
        let mut file =
            SyntheticFile::new(&SyntheticProcess { domain: "one".to_owned(), ..SyntheticProcess::rank(rank) }, &schema);
        file.codec = PayloadCodec::Lz4;
        let body = [&u16::try_from(text).unwrap().to_le_bytes()[..], &vec![b'x'; text]].concat();
        for stream in 0..2u32 {
            file.thread(stream, u64::from(stream) + 7, if stream == 0 { "main" } else { "worker" });
        }
        for (sequence, round) in (0..rounds).step_by(BLOCK as usize).enumerate() {
            for stream in 0..2u32 {
                let mut records = SyntheticRecords::default();
                if round == BLOCK {
                    let dropped = DroppedRecords {
                        count: 9,
                        bytes: 300,
                        first_ticks: 150_000_000,
                        last_ticks: 190_000_000,
                        cause: cause::NO_BUFFER,
                    };
                    records.record(ID_DROPPED - 1, u64::from(round) * 1_000_000, &dropped.encode());
                    records.count = 0;
                }
                for n in round..(round + BLOCK).min(rounds) {
                    let at = u64::from(n) * 1_000_000 + 10 * rank + u64::from(stream);
                    records.record(0, at, &[&n.to_le_bytes()[..], &body].concat());
                    records.record(1, at + 100, &n.to_le_bytes());
                    records.record(2, at + 200, &[]);
                }
                file.records(stream, sequence as u64, &records);
            }
        }
        file.end();
        file.save(&path, &format!("{rank}.tmt"));
    }
    path
}

#[test]
fn dump_filters_by_level_event_thread_and_time_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = save_large_run(folder.path(), 1000, 3);
    let lines = |args: &[&str]| {
        let out = run(&[&["dump"], args].concat(), &path);
        assert_eq!(stderr(&out), "", "{args:?}");
        stdout(&out).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = lines(&[]);
    assert_eq!(all.len(), 12_000);
    assert_eq!(lines(&["--level", "net"]).len(), 4000);
    assert_eq!(lines(&["--level", "big.CPU", "--process", "1"]).len(), 4000);
    assert_eq!(lines(&["--level", "NET", "--level", "CPU"]).len(), 12_000);
    assert_eq!(lines(&["--event", "step", "--thread", "worker"]).len(), 4000);
    assert_eq!(lines(&["--event", "step.end", "--event", "send", "--thread", "7", "--process", "0"]).len(), 2000);
    assert_eq!(lines(&["--limit", "5"]), all[..5]);
    assert_eq!(lines(&["-n", "0"]), [""; 0]);
    let between = lines(&["--interval", "0.5..0.50200005"]);
    assert_eq!(between.len(), 2 * 12 + 4);
    assert_eq!(between, all[6000..6028]);
    assert_eq!(lines(&["--interval", "999ms..", "--interval", "..1ns"]).len(), 12 + 1);
    assert_eq!(lines(&["--interval", "..0"]).len(), 0, "the end is excluded");
    assert_eq!(lines(&["--interval", "990ms..", "--limit", "3"]), all[11_880..11_883]);
    for (args, message) in [
        (["--event", "sent"], "no spec of this run has an event `sent`; did you mean `send`?"),
        (["--level", "NTE"], "no spec of this run has a level `NTE`; did you mean `NET`?"),
        (["--interval", "5"], "expected a time range FROM..TO"),
        (["--interval", "2..1"], "`2..1`: expected the start before the end; example: `1s..2s`"),
        (["--interval", "1y.."], "instead of `y`"),
    ] {
        let out = run(&[&["dump"], &args[..]].concat(), &path);
        assert!(out.status.code() == Some(2) && stderr(&out).contains(message), "{}", stderr(&out));
    }
}

/// Lists are JSON lists, texts are unambiguous, and floats without a JSON number are words.
#[test]
fn dump_shows_lists_and_unusual_values_unambiguously() {
    const SPEC: &str = "trace odd; enum side { left, right } level L {
        event lists { small: [u8; 3], names: [interned], sides: [side], at: [pointer] }
        event floats { one: f64, two: f32, all: [f64] }
        event texts { name: interned, text: string, raw: bytes }
    }";
    let mut schema = tumit::compile_text("odd.tumit", SPEC).0.unwrap().schema();
    schema.sources.clear();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 7, "main");
    let comma = file.string("a, b");
    let mut records = SyntheticRecords::default();
    // No name; an empty one; then one with a comma and the two that it resembles.
    let [a, b] = [file.string("a"), file.string("b")];
    for names in [&[][..], &[0], &[comma], &[a, b]] {
        let ids: Vec<u8> = names.iter().flat_map(|id| id.to_le_bytes()).collect();
        let count = u16::try_from(names.len()).unwrap().to_le_bytes();
        let at = [&1u16.to_le_bytes()[..], &0x1f_u64.to_le_bytes()].concat();
        records.record(0, 10, &[&[1, 2, 255][..], &count, &ids, &[2, 0, 1, 9], &at].concat());
    }
    let floats = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5];
    let all: Vec<u8> = floats.iter().flat_map(|value| value.to_le_bytes()).collect();
    let (f64_bytes, f32_bytes) = (f64::NEG_INFINITY.to_le_bytes(), f32::NAN.to_le_bytes());
    records.record(1, 11, &[&f64_bytes[..], &f32_bytes, &4u16.to_le_bytes(), &all].concat());
    let quote = file.string("q\"\\\n\u{1}");
    records.record(2, 12, &[&quote.to_le_bytes()[..], &[2, 0, b's', 0xff, 2, 0, 0, 0xab]].concat());
    file.records(0, 0, &records);
    file.end();
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "odd.tmt");
    let text = stdout(&run(&["dump"], folder.path()));
    let lines: Vec<&str> = text.lines().map(|line| line.split_once("main").unwrap().1.trim()).collect();
    let rest = r#"sides=["right", 9] at=["0x1f"]"#;
    assert_eq!(lines[0], format!("lists   small=[1, 2, 255] names=[] {rest}"));
    assert_eq!(lines[1], format!(r#"lists   small=[1, 2, 255] names=[""] {rest}"#));
    assert_eq!(lines[2], format!(r#"lists   small=[1, 2, 255] names=["a, b"] {rest}"#));
    assert_eq!(lines[3], format!(r#"lists   small=[1, 2, 255] names=["a", "b"] {rest}"#));
    assert_eq!(lines[4], "floats  one=-inf two=NaN all=[NaN, inf, -inf, -0.5]");
    let json = stdout(&run(&["dump", "--json"], folder.path()));
    let fields: Vec<Value> =
        json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["fields"].take()).collect();
    for (at, names) in [&[][..], &[""], &["a, b"], &["a", "b"]].into_iter().enumerate() {
        let expected =
            serde_json::json!({ "small": [1, 2, 255], "names": names, "sides": ["right", 9], "at": ["0x1f"] });
        assert_eq!(fields[at], expected);
    }
    let expected = serde_json::json!({ "one": "-inf", "two": "NaN", "all": ["NaN", "inf", "-inf", -0.5] });
    assert_eq!(fields[4], expected);
    let expected = serde_json::json!({ "name": "q\"\\\n\u{1}", "text": "s\u{fffd}", "raw": "00ab" });
    assert_eq!(fields[5], expected);
}

#[test]
fn losses_are_shown_with_cause_and_timestamps() {
    let folder = tempfile::tempdir().unwrap();
    let path = save_large_run(folder.path(), 400, 3);
    let report = info(&path);
    assert_eq!(report["records"], 4800);
    let dropped = &report["dropped"][0];
    assert_eq!((dropped["records"].as_u64(), dropped["bytes"].as_u64()), (Some(9), Some(300)));
    assert_eq!((dropped["first_ns"].as_i64(), dropped["last_ns"].as_i64()), (Some(150_000_000), Some(190_000_000)));
    assert_eq!(dropped["causes"], serde_json::json!(["no free buffer"]));
    assert_eq!(report["dropped"].as_array().map(Vec::len), Some(4));
    let send = report["events"].as_array().unwrap().iter().find(|event| event["event"] == "send").unwrap();
    // Id, delta, `to`, and the text with its length.
    assert_eq!(send["memory_bytes_per_record"].as_f64(), Some(15.0));
    let text = stdout(&run(&["info"], &path));
    for word in ["cause", "no free buffer", "0.150000000", "0.190000000", "residual", "bytes"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn a_large_run_is_shown_in_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = save_large_run(folder.path(), 6_000, 4000);
    let sizes = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    println!("{} bytes in files, 96 MB of text", sizes.sum::<u64>());
    for command in [&["dump", "--limit", "30000"][..], &["dump", "--json", "--interval", "5.."], &["info"]] {
        let mut words = vec![tumit().get_program().to_str().unwrap().to_owned(), command[0].to_owned()];
        words.push(path.display().to_string());
        words.extend(command[1..].iter().map(|word| (*word).to_owned()));
        // Kilobytes of writable memory. The program's text does not count: it depends on the build.
        let line = "ulimit -d 12000 && exec \"$@\" > /dev/null";
        let out = output(Command::new("sh").args(["-c", line, "sh"]).args(&words));
        assert!(out.status.success(), "{command:?}: {}", stderr(&out));
    }
}
