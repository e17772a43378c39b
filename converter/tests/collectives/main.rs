//! Collective operations of random programs: their parts are matched, and the corrected timestamps
//! respect their dependences.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeMap;

use proptest::prelude::*;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, cause};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticProcess, SyntheticRecords};

use program::{FoundPart, KINDS, OperationChoice, PartCollector, Program};

fn choices(ranks: usize, count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<OperationChoice>> {
    let work = prop::collection::vec(0i64..20_000, ranks);
    prop::collection::vec((0usize..4, 1u32..1 << ranks, 0usize..ranks, work), count)
}

fn rank_of_one_clock(rank: usize) -> SyntheticProcess {
    SyntheticProcess { rank: Some(rank as u64), ..SyntheticProcess::new(100 + rank as u64) }
}

fn ticks(_rank: usize, time: i64) -> u64 {
    time.cast_unsigned()
}

fn parts_of(run: &OpenRun, options: &ConvertOptions) -> (Vec<FoundPart>, ConversionReport) {
    let mut sink = PartCollector::default();
    let report = convert(run, options, &mut sink).unwrap();
    (sink.parts, report)
}

/// The parts of each operation, by number.
fn by_operation(parts: &[FoundPart]) -> BTreeMap<u64, Vec<&FoundPart>> {
    let mut operations: BTreeMap<u64, Vec<&FoundPart>> = BTreeMap::new();
    for part in parts {
        operations.entry(part.number("operation").unwrap()).or_default().push(part);
    }
    operations
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_of_one_operation_have_one_number(choices in choices(4, 1..40)) {
        let program = Program::new(4, &choices);
        let folder = tempfile::tempdir().unwrap();
        let run = program.write(folder.path(), rank_of_one_clock, ticks, |_, _, _| {});
        let (parts, _) = parts_of(&run, &ConvertOptions::default());
        let operations = by_operation(&parts);
        prop_assert_eq!(operations.len(), program.operations.len());
        prop_assert!(operations.keys().copied().eq(0..program.operations.len() as u64));
        for parts in operations.values() {
            let number = parts[0].number("truth").unwrap();
            let expected = &program.operations[number as usize];
            prop_assert_eq!(parts.len(), expected.members.len());
            for part in parts {
                prop_assert_eq!(part.number("truth"), Some(number));
                prop_assert_eq!(part.fields["collective"].as_str(), KINDS[expected.kind]);
                prop_assert_eq!(part.number("communicator"), Some(expected.communicator.into()));
                let bytes = match expected.kind {
                    1 => Some(100),
                    3 => Some(8 * u64::from(expected.communicator)),
                    _ => None,
                };
                prop_assert_eq!(part.number("bytes"), bytes);
                let has_root = matches!(expected.kind, 1 | 2);
                let root = format!("Rank {}", expected.root);
                prop_assert_eq!(part.fields.get("root"), has_root.then_some(&root));
                prop_assert_eq!(part.number("is_root"), has_root.then_some((part.container == root).into()));
            }
        }
    }
}

#[test]
fn other_readers_accept_the_parts() {
    let choices = [(0, 0b11, 0, vec![10, 20]), (1, 0b11, 1, vec![5, 1]), (2, 0b11, 0, vec![1, 7]), (3, 0b10, 0, vec![1, 1])];
    let program = Program::new(2, &choices);
    let folder = tempfile::tempdir().unwrap();
    let run = program.write(folder.path(), rank_of_one_clock, ticks, |_, _, _| {});
    let mut writer = PajeWriter::new(Vec::new());
    convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    let text = writer.into_inner();
    let rows = pj_dump::rows(&text);
    assert_eq!(rows.iter().filter(|row| row.starts_with("State")).count(), 7, "{rows:?}");
    let text = String::from_utf8(text).unwrap();
    for field in ["operation int", "collective string", "communicator int", "is_root int", "bytes int", "RootContainer string"] {
        assert!(text.contains(&format!("% {field}\n")) || text.contains(&format!("%       {field}\n")), "{field}: {text}");
    }
}

#[test]
fn parts_after_missing_records_have_no_number() {
    let choices: Vec<OperationChoice> = (0..6).map(|_| (0, 0b11, 0, vec![10, 20])).collect();
    let program = Program::new(2, &choices);
    let folder = tempfile::tempdir().unwrap();
    let lost = program.operations[2].times[1][0];
    let run = program.write(folder.path(), rank_of_one_clock, ticks, |rank, _, records| {
        if rank == 1 {
            // The third operation is lost.
            *records = without_operation(&program, lost.cast_unsigned());
        }
    });
    let (parts, report) = parts_of(&run, &ConvertOptions::default());
    let numbers = |rank: &str| -> Vec<Option<u64>> {
        parts.iter().filter(|part| part.container == rank).map(|part| part.number("operation")).collect()
    };
    assert_eq!(numbers("Rank 0"), [0, 1, 2, 3, 4, 5].map(Some));
    assert_eq!(numbers("Rank 1"), [Some(0), Some(1), None, None, None]);
    assert_eq!(report.counts.unmatched_parts, 3);
    assert!(report.errors().iter().any(|error| error.to_string().contains("cannot be counted")), "{:?}", report.errors());
}

/// The records of rank 1 without those of the operation that it enters at `lost`.
fn without_operation(program: &Program, lost: u64) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    let schema = program::spec().schema();
    for (number, operation) in program.operations.iter().enumerate() {
        let [enter, leave] = operation.times[1].map(i64::cast_unsigned);
        if enter == lost {
            let report = DroppedRecords {
                count: 2,
                bytes: 40,
                first_ticks: enter,
                last_ticks: leave,
                cause: cause::NO_BUFFER,
            };
            records.record(ID_DROPPED - 1, leave, &report.encode());
            continue;
        }
        let mut body = (number as u64).to_le_bytes().to_vec();
        body.extend(operation.communicator.to_le_bytes());
        body.extend(0u32.to_le_bytes());
        records.record(program::record_id(&schema, "barrier.begin"), enter, &body);
        records.record(program::record_id(&schema, "barrier.end"), leave, &[]);
    }
    records
}
