//! `tumit info` reports that records or names may be missing or truncated and their number is
//! unknown.

use serde_json::Value;
use tracer_format::tags::{append_integer, tag};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

use super::{info, run, stderr, stdout};

/// A file of a killed process, and the output of `tumit info`.
fn killed(buffers: u64, names: &[&str]) -> (Value, String) {
    let mut schema = tumit::compile_text("one.tumit", "trace one; level L { event e { n: u8 } }").0.unwrap().schema();
    schema.sources.clear();
    let mut file = SyntheticFile::with_tags(&SyntheticProcess::new(1), &schema, |tags| {
        append_integer(tags, tag::BUFFERS, buffers);
    });
    file.thread(0, 7, "main");
    for name in names {
        file.string(name);
    }
    let mut records = SyntheticRecords::default();
    records.record(0, 10, &[1]);
    file.records(0, 0, &records);
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    let report = (info(folder.path()), stdout(&run(&["info"], folder.path())));
    let repaired = run(&["repair", "--force"], folder.path());
    assert!(repaired.status.success(), "{}", stderr(&repaired));
    // A repair restores nothing of it.
    assert_eq!(info(folder.path())["processes"][0]["uncounted"], report.0["processes"][0]["uncounted"]);
    report
}

#[test]
fn records_in_private_buffers_are_reported_as_unknown() {
    for (buffers, reason) in [(0, "private buffers"), (1, "its live file is missing"), (2, "private buffers")] {
        let (report, text) = killed(buffers, &[]);
        assert_eq!(report["processes"][0]["uncounted"], true);
        for word in ["unknown", "are missing, and their number is unknown", reason] {
            assert!(text.contains(word), "{text}");
        }
    }
}

#[test]
fn truncated_and_unstored_names_are_reported() {
    let info_text = |names: &[&str]| killed(1, names).1;
    let (long, wide) = ("x".repeat(4096), "é".repeat(2047) + "x");
    let text = info_text(&[&long, &wide, "short"]);
    assert!(text.contains("2 names may be truncated: recorders keep 4096 bytes of an interned text"), "{text}");
    assert!(!info_text(&[&long[..4092]]).contains("may be truncated"));
    for word in ["(too many different strings)", "(more names than the recorder keeps)"] {
        assert!(info_text(&["a", word]).contains(&format!("are shown as `{word}`")));
    }
}

#[test]
fn a_run_with_truncated_names_is_not_called_complete() {
    let mut schema = tumit::compile_text("one.tumit", "trace one; level L { event e { n: u8 } }").0.unwrap().schema();
    schema.sources.clear();
    for (length, expected) in
        [(4096, "No other data is dropped, missing or damaged."), (100, "Nothing is dropped, missing or damaged.")]
    {
        let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
        file.thread(0, 7, "main");
        file.string(&"x".repeat(length));
        file.end();
        let folder = tempfile::tempdir().unwrap();
        file.save(folder.path(), "a.tmt");
        let text = stdout(&run(&["info"], folder.path()));
        assert!(
            text.contains("may be truncated") == (length == 4096) && text.ends_with(&format!("\n{expected}\n")),
            "{text}"
        );
        assert_eq!(info(folder.path())["long_names"], u64::from(length == 4096));
    }
}
