//! Collective operations of random programs: their parts are matched, and the corrected timestamps
//! respect their dependences.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod program;

use std::collections::BTreeMap;

use proptest::prelude::*;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, cause};
use tumit_converter::clock::CorrectionMethod;
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
fn newer_rules_find_the_operations_of_an_older_run() {
    let choices: Vec<OperationChoice> = (0..20).map(|at| (at % 4, 0b111, at, vec![10, 20, 30])).collect();
    let mut program = Program::new(3, &choices);
    program.spec = program::older_spec();
    let folder = tempfile::tempdir().unwrap();
    let run = program.write(folder.path(), rank_of_one_clock, ticks, |_, _, _| {});
    assert!(parts_of(&run, &ConvertOptions::default()).0.iter().all(|part| part.number("operation").is_none()));
    let mut options = ConvertOptions::default();
    options.rules = Some(program::spec());
    let (parts, _) = parts_of(&run, &options);
    assert_eq!(by_operation(&parts).len(), 20);
    assert!(by_operation(&parts).values().all(|parts| parts.len() == 3));
}

#[test]
fn other_readers_accept_the_parts() {
    let choices =
        [(0, 0b11, 0, vec![10, 20]), (1, 0b11, 1, vec![5, 1]), (2, 0b11, 0, vec![1, 7]), (3, 0b10, 0, vec![1, 1])];
    let program = Program::new(2, &choices);
    let folder = tempfile::tempdir().unwrap();
    let run = program.write(folder.path(), rank_of_one_clock, ticks, |_, _, _| {});
    let mut writer = PajeWriter::new(Vec::new());
    convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    let text = writer.into_inner();
    let rows = pj_dump::rows(&text);
    assert_eq!(rows.iter().filter(|row| row.starts_with("State")).count(), 7, "{rows:?}");
    let text = String::from_utf8(text).unwrap();
    for field in
        ["operation int", "collective string", "communicator int", "is_root int", "bytes int", "RootContainer string"]
    {
        assert!(
            text.contains(&format!("% {field}\n")) || text.contains(&format!("%       {field}\n")),
            "{field}: {text}"
        );
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
    assert!(
        report.errors().iter().any(|error| error.to_string().contains("cannot be counted")),
        "{:?}",
        report.errors()
    );
}

/// A clock that is wrong: nanoseconds ahead, and parts per million too fast.
type WrongClock = (i64, i64);

fn wrong_ticks(clocks: &[WrongClock]) -> impl Fn(usize, i64) -> u64 {
    |rank, time| {
        let (ahead, ppm) = clocks[rank];
        (time + 5_000_000 + ahead + time * ppm / 1_000_000).cast_unsigned()
    }
}

/// Checks the dependences of all operations by the timestamps of their parts.
fn violations(parts: &[FoundPart]) -> Vec<String> {
    let mut violations = Vec::new();
    for (number, parts) in by_operation(parts) {
        let last = parts.iter().map(|part| part.enter).max().unwrap();
        let of_root = parts.iter().find(|part| part.number("is_root") == Some(1)).map(|part| part.enter);
        for part in &parts {
            let is_root = part.number("is_root") == Some(1);
            let earliest = match part.fields["collective"].as_str() {
                "barrier" | "all-to-all" => Some(last),
                "one-to-all" => of_root.filter(|_| !is_root),
                _ => Some(last).filter(|_| is_root),
            };
            if earliest.is_some_and(|earliest| part.leave < earliest) || part.leave < part.enter {
                violations.push(format!("operation {number}: {part:?} ends before {earliest:?}"));
            }
        }
    }
    violations
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn corrected_timestamps_respect_all_operations(
        choices in choices(5, 1..60),
        clocks in prop::collection::vec((-1_000_000i64..1_000_000, -50i64..50), 5),
        // Whether the processes claim to share a clock.
        is_shared in any::<bool>(),
    ) {
        let program = Program::new(5, &choices);
        let folder = tempfile::tempdir().unwrap();
        let process = |rank: usize| match is_shared {
            true => rank_of_one_clock(rank),
            false => SyntheticProcess::rank(rank as u64),
        };
        let run = program.write(folder.path(), process, wrong_ticks(&clocks), |_, _, _| {});
        let (parts, report) = parts_of(&run, &ConvertOptions::default());
        prop_assert_eq!(violations(&parts), Vec::<String>::new());
        let causality = report.causality.unwrap_or_default();
        prop_assert_eq!(causality.circular, 0);
        // The operations are those of the program for any clocks.
        for parts in by_operation(&parts).values() {
            let number = parts[0].number("truth");
            prop_assert!(parts.iter().all(|part| part.number("truth") == number));
        }
    }
}

#[test]
fn operations_alone_align_clocks() {
    let work = |at: i64| (0..4).map(|rank| (at * 7919 + rank * 104_729) % 20_000).collect();
    let choices: Vec<OperationChoice> = (0..2000).map(|at| (at % 2 * 3, 0b1111, 0, work(at as i64))).collect();
    let program = Program::new(4, &choices);
    let folder = tempfile::tempdir().unwrap();
    let clocks = [(0, 0), (3_000_000, 5), (-2_000_000, -20), (700_000, 0)];
    let process = |rank: usize| SyntheticProcess::rank(rank as u64);
    let run = program.write(folder.path(), process, wrong_ticks(&clocks), |_, _, _| {});
    let (parts, _) = parts_of(&run, &ConvertOptions::default());
    assert_eq!(violations(&parts), Vec::<String>::new());
    let error = |part: &FoundPart| {
        let operation = &program.operations[part.number("truth").unwrap() as usize];
        let rank: usize = part.container["Rank ".len()..].parse().unwrap();
        part.enter - operation.times[rank][0]
    };
    let errors: Vec<i64> = parts.iter().map(error).collect();
    let spread = errors.iter().max().unwrap() - errors.iter().min().unwrap();
    assert!(spread < 20_000, "clocks differ by {spread} ns, and by 5 ms before the correction");
}

#[test]
fn without_correction_wrong_clocks_violate_operations() {
    let choices: Vec<OperationChoice> = (0..10).map(|_| (0, 0b11, 0, vec![10, 20])).collect();
    let program = Program::new(2, &choices);
    let folder = tempfile::tempdir().unwrap();
    let run = program.write(folder.path(), rank_of_one_clock, wrong_ticks(&[(0, 0), (500_000, 0)]), |_, _, _| {});
    let mut options = ConvertOptions::default();
    options.has_causal_pass = false;
    options.clock = CorrectionMethod::None;
    let (parts, _) = parts_of(&run, &options);
    assert_eq!(violations(&parts).len(), 10);
}

/// The records of rank 1 without those of the operation that it enters at `lost`.
fn without_operation(program: &Program, lost: u64) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    let schema = program::spec().schema();
    for (number, operation) in program.operations.iter().enumerate() {
        let [enter, leave] = operation.times[1].map(i64::cast_unsigned);
        if enter == lost {
            let report =
                DroppedRecords { count: 2, bytes: 40, first_ticks: enter, last_ticks: leave, cause: cause::NO_BUFFER };
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
