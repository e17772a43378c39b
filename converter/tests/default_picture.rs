//! Records without rules become states and marks of their threads.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/pj_dump.rs"]
mod pj_dump;
#[path = "support/synthetic.rs"]
mod synthetic;

use converter::paje::write::Writer;
use converter::pipeline::{Options, convert};
use converter::run::Run;
use synthetic::{About, File, Records};
use tracer_format::schema::{Field, FieldType, LevelInfo, RecordKind, RecordType, Scalar, Schema};

fn schema() -> Schema {
    let record = |name: &str, kind, fields| RecordType { name: name.into(), level: 0, kind, located: false, fields };
    let n = vec![Field { name: "n".into(), ty: FieldType::One(Scalar::U32) }];
    Schema {
        version: tracer_format::schema::SCHEMA_VERSION,
        name: "plain".into(),
        levels: vec![LevelInfo { name: "APP".into(), enabled: true }],
        records: vec![
            record("step.begin", RecordKind::Begin, n.clone()),
            record("step.end", RecordKind::End, vec![]),
            record("tick", RecordKind::Event, n),
        ],
        ..Schema::default()
    }
}

#[test]
fn spans_are_states_and_events_marks() {
    let folder = tempfile::tempdir().unwrap();
    let mut file = File::new(&About::new(42), &schema());
    file.thread(0, 43, "worker");
    let mut records = Records::default();
    records.record(0, 1_000, &5u32.to_le_bytes());
    records.record(2, 1_500, &6u32.to_le_bytes());
    records.record(1, 2_000, &[]);
    file.records(0, 0, &records);
    file.end();
    file.save(folder.path(), "a.tmt");

    let run = Run::open(folder.path()).unwrap();
    let mut writer = Writer::new(Vec::new());
    let report = convert(&run, &Options::default(), &mut writer).unwrap();
    assert!(report.is_clean(), "{:?}", report.lines());
    assert_eq!(report.counts.records, 3);
    let rows = pj_dump::rows(&writer.into_inner());
    assert_eq!(
        rows,
        [
            "Container, 0, 0, 0, 1e-06, 1e-06, 0",
            "Container, 0, Process, 0, 1e-06, 1e-06, Process 42",
            "Container, Process 42, Thread, 0, 1e-06, 1e-06, worker",
            "Event, worker, Event, 0.000000500, tick, 6",
            "State, worker, Span, 0.000000000, 0.000001000, 0.000001000, 0.000000000, step, 5",
        ]
    );
}
