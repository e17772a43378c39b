//! Actions with any timestamps: all operations are written, in order.

use proptest::prelude::*;
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace dates;
level L { event waited { other: date } event plain { } }
paje { container program "Program" { event seen "Seen" { own, other, plain } } }
rule waited -> mark seen = other on program at other -> mark seen = own on program;
rule plain -> mark seen = plain on program;
"#;

#[derive(Default)]
struct TimestampLog(Vec<(i64, u32)>);

impl PajeSink for TimestampLog {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        if let PajeEvent::NewEvent { time, value, .. } = event {
            self.0.push((time.0, value.0));
        }
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        Ok(())
    }
}

/// By stream and block: steps between records, and the distance of the action's own timestamp, if
/// it has one.
type TimestampSteps = Vec<Vec<Vec<(u64, Option<i64>)>>>;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_operation_is_lost_and_timestamps_never_decrease(
        streams in prop::collection::vec(
            prop::collection::vec(prop::collection::vec((0u64..50, prop::option::of(-400i64..100)), 1..12), 0..5), 1..4)
    ) {
        let streams: TimestampSteps = streams;
        let spec = tumit::compile_text("dates.tumit", SPEC).0.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &spec.schema());
        // The first record of all determines the start of the run.
        let mut first = SyntheticRecords::default();
        first.record(1, 1_000, &[]);
        file.records(99, 0, &first);
        let mut expected = vec![(0i64, 2u32)];
        for (stream, blocks) in streams.iter().enumerate() {
            let mut now = 1_000u64;
            for (sequence, block) in blocks.iter().enumerate() {
                let mut records = SyntheticRecords::default();
                for (step, other) in block {
                    now += step;
                    let timestamp = i64::try_from(now).unwrap() - 1_000;
                    if let Some(other) = other {
                        let other = now.saturating_add_signed(*other);
                        records.record(0, now, &other.to_le_bytes());
                        // An earlier timestamp than that of the first record is replaced by it.
                        expected.push(((i64::try_from(other).unwrap() - 1_000).max(0), 1));
                        expected.push((timestamp, 0));
                    } else {
                        records.record(1, now, &[]);
                        expected.push((timestamp, 2));
                    }
                }
                file.records(u32::try_from(stream).unwrap(), sequence as u64, &records);
            }
        }
        file.end();
        file.save(folder.path(), "a.tmt");
        let run = OpenRun::open(folder.path()).unwrap();
        let mut options = ConvertOptions::default();
        options.rules = Some(spec);
        let mut log = TimestampLog::default();
        convert(&run, &options, &mut log).unwrap();
        prop_assert!(log.0.is_sorted_by_key(|(timestamp, _)| *timestamp));
        let mut entries = log.0;
        entries.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(entries, expected);
    }
}
