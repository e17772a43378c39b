//! Damaged runs: any truncated file and any flipped byte is reported and causes no failure.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tracer_format::{BLOCK_MAGIC, BlockHeader, HEADER_BYTES, PREAMBLE_BYTES, PayloadCodec};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::{Loss, OpenRun, RunOpenError};
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace small;
level L {
    event begin { thread: u32, what: string }
    event end { thread: u32, since: date }
    event send { key: u64 }
    event receive { key: u64 }
    span step { n: u32 }
}
paje {
    container program "Program" {
        container thread[thread: u32] "Thread {thread}" { state doing "Doing" }
        link message "Message" from program to program
    }
}
rule begin -> push doing = what on thread[thread];
rule end -> pop doing on thread[thread] -> push doing = "ended" on thread[thread] at since;
rule send -> start message key (key) from program;
rule receive -> end message key (key) to program;
"#;

fn spec() -> tumit::Spec {
    tumit::compile_text("small.tumit", SPEC).0.unwrap()
}

/// A small run of two blocks of records in one file.
fn small(codec: PayloadCodec) -> Vec<u8> {
    run_of(codec, 1)
}

/// A run with two blocks. Each contains the same records `times` times.
fn run_of(codec: PayloadCodec, times: u64) -> Vec<u8> {
    let mut schema = spec().schema();
    // The conversion gets its rules as an option. Compiling them thousands of times would take
    // minutes.
    schema.sources.clear();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.codec = codec;
    file.thread(0, 2, "main");
    let begin = [&3u32.to_le_bytes()[..], &2u16.to_le_bytes(), b"go"].concat();
    let end = [&3u32.to_le_bytes()[..], &1050u64.to_le_bytes()].concat();
    for block in 0..2u64 {
        let mut records = SyntheticRecords::default();
        for time in block * times..(block + 1) * times {
            let ticks = 1000 + time * 100;
            records.record(0, ticks, &begin);
            records.record(2, ticks + 10, &time.to_le_bytes());
            records.record(4, ticks + 20, &7u32.to_le_bytes());
            records.record(3, ticks + 30, &time.to_le_bytes());
            records.record(1, ticks + 60, &end);
            records.record(5, ticks + 70, &[]);
        }
        file.records(0, block, &records);
    }
    file.end();
    file.bytes
}

/// Checks the rules that any stream of operations has to obey.
#[derive(Default)]
struct OperationChecker {
    now: i64,
    /// Open states by container and type.
    depths: std::collections::BTreeMap<(u32, u32), i64>,
    alive: i64,
    links: i64,
    /// Containers created so far.
    containers: u64,
}

impl PajeSink for OperationChecker {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        if let Some(GlobalNanos(time)) = event.time() {
            assert!(time >= self.now, "{time} after {}", self.now);
            self.now = time;
        }
        match event {
            PajeEvent::SetState { container, ty, .. } => drop(self.depths.insert((container.0, ty.0), 1)),
            PajeEvent::PushState { container, ty, .. } => *self.depths.entry((container.0, ty.0)).or_default() += 1,
            PajeEvent::PopState { container, ty, .. } => *self.depths.entry((container.0, ty.0)).or_default() -= 1,
            PajeEvent::CreateContainer { .. } => (self.alive, self.containers) = (self.alive + 1, self.containers + 1),
            PajeEvent::DestroyContainer { .. } => self.alive -= 1,
            PajeEvent::StartLink { .. } => self.links += 1,
            PajeEvent::EndLink { .. } => self.links -= 1,
            _ => {}
        }
        assert!(self.depths.values().all(|depth| *depth >= 0));
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> std::io::Result<()> {
        // The last container ends with the run. If damage leaves no container, the process still
        // has an end.
        assert!(if self.containers > 0 { end.0 == self.now } else { end.0 >= self.now }, "{end:?} {}", self.now);
        assert!(self.depths.values().all(|depth| *depth == 0));
        assert_eq!((self.alive, self.links), (0, 0));
        Ok(())
    }
}

/// Opens and converts a file. `None` when nothing is usable.
fn convert_bytes(folder: &std::path::Path, options: &ConvertOptions, bytes: &[u8]) -> Option<ConversionReport> {
    let path = folder.join("a.tmt");
    std::fs::write(&path, bytes).unwrap();
    let run = match OpenRun::open(folder) {
        Ok(run) => run,
        Err(RunOpenError::NothingUsable { first, .. }) => {
            assert!(first.contains("a.tmt"), "{first}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    Some(convert(&run, options, &mut OperationChecker::default()).unwrap())
}

fn options() -> ConvertOptions {
    let mut options = ConvertOptions::default();
    options.rules = Some(spec());
    options
}

#[test]
fn a_whole_run_is_clean() {
    for codec in [PayloadCodec::Raw, PayloadCodec::Lz4, PayloadCodec::Columns] {
        let folder = tempfile::tempdir().unwrap();
        let report = convert_bytes(folder.path(), &options(), &small(codec)).unwrap();
        assert!(report.is_clean(), "{:?}", report.all_diagnostics());
        assert_eq!((report.counts.records, report.counts.links), (12, 2));
    }
}

#[test]
fn every_truncation_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let options = options();
    let bytes = small(PayloadCodec::Raw);
    let last = (0..bytes.len()).rfind(|at| bytes[*at..].starts_with(&BLOCK_MAGIC)).unwrap();
    let end = last + HEADER_BYTES + BlockHeader::decode(&bytes[last..]).unwrap().stored_bytes as usize;
    for cut in 0..bytes.len() {
        let report = convert_bytes(folder.path(), &options, &bytes[..cut]);
        assert_eq!(report.is_some(), cut >= PREAMBLE_BYTES, "cut at {cut}");
        let Some(report) = report else { continue };
        let unended = report.losses.iter().any(|loss| matches!(loss, Loss::NotEnded { .. }));
        // The padding after the last block contains no information.
        assert_eq!(unended, cut < end, "cut at {cut}: {:?}", report.all_diagnostics());
    }
}

#[test]
fn every_flipped_byte_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let options = options();
    for codec in [PayloadCodec::Raw, PayloadCodec::Lz4, PayloadCodec::Columns] {
        let bytes = small(codec);
        let mut silent = Vec::new();
        for position in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[position] ^= 0x41;
            if convert_bytes(folder.path(), &options, &bytes).is_some_and(|report| report.is_clean()) {
                silent.push(position);
            }
        }
        // Only bytes without a meaning: the zeros of the preamble and the padding between blocks.
        assert!(silent.iter().all(|at| *at < PREAMBLE_BYTES || bytes[*at] == 0), "{silent:?}");
        assert!(silent.len() < 80, "{silent:?}");
    }
}

/// A writer of an invalid block also computes its checksum, so the columns themselves are checked.
#[test]
fn invalid_columns_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = run_of(PayloadCodec::Columns, 20);
    let magics: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&BLOCK_MAGIC)).collect();
    let header = |at: usize| BlockHeader::decode(&bytes[at..]).unwrap();
    let victim = magics.into_iter().rfind(|at| header(*at).codec == PayloadCodec::Columns as u8).unwrap();
    let stored = victim + HEADER_BYTES..victim + HEADER_BYTES + header(victim).stored_bytes as usize;
    let (mut refused, mut reported) = (0, 0);
    for position in stored.clone() {
        for byte in [0, 0x41, 0x7F, 0x80, 0xFF] {
            let mut bytes = bytes.clone();
            bytes[position] = byte;
            let head = header(victim).encode(&bytes[stored.clone()]);
            bytes[victim..victim + HEADER_BYTES].copy_from_slice(&head);
            let report = convert_bytes(folder.path(), &options(), &bytes).unwrap();
            refused += u32::from(report.counts.records < 240);
            reported += u32::from(!report.is_clean());
        }
    }
    assert!(refused > 100 && reported >= refused, "{refused} {reported}");
}

#[test]
fn a_missing_block_is_counted_and_the_rest_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = small(PayloadCodec::Raw);
    let magics: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(&BLOCK_MAGIC)).collect();
    // Process, schema, stream, records, records, end.
    assert_eq!(magics.len(), 6);
    bytes[magics[3] + 100] ^= 1;
    let report = convert_bytes(folder.path(), &options(), &bytes).unwrap();
    assert_eq!(report.counts.records, 6);
    let (first, second) = (&report.losses[0], &report.losses[1]);
    let length = (magics[4] - magics[3]) as u64;
    assert!(
        matches!(first, Loss::Damage { offset, bytes, pieces: 1, .. } if *offset == magics[3] as u64 && *bytes == length),
        "{first:?}"
    );
    assert!(matches!(second, Loss::MissingBlocks { stream: 0, blocks: 1, .. }), "{second:?}");
    assert!(first.to_string().contains(&format!("from byte {}", magics[3])), "{first}");
}

#[test]
fn garbage_between_blocks_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = small(PayloadCodec::Raw);
    let position = (PREAMBLE_BYTES..bytes.len()).rfind(|at| bytes[*at..].starts_with(&BLOCK_MAGIC)).unwrap();
    let mut damaged = bytes[..position].to_vec();
    damaged.extend(std::iter::repeat_n(0xB1, 1001));
    damaged.extend(&bytes[position..]);
    let report = convert_bytes(folder.path(), &options(), &damaged).unwrap();
    assert_eq!(report.counts.records, 12);
    assert_eq!(report.losses.len(), 1, "{:?}", report.losses);
}

#[test]
fn a_file_that_is_no_run_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let error = OpenRun::open(folder.path()).unwrap_err();
    assert!(matches!(error, RunOpenError::NoFiles { .. }), "{error}");
    let error = OpenRun::open(folder.path().join("missing.tmt")).unwrap_err();
    assert!(error.to_string().contains("missing.tmt"), "{error}");
    std::fs::write(folder.path().join("x.tmt"), b"%EventDef PajeDefineContainerType 0\n").unwrap();
    let error = OpenRun::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("not a Tumit run file"), "{error}");
}

/// The losses of a folder with these files, and the number of records that are used.
fn losses_of(files: &[(&str, &[u8])]) -> (Vec<Loss>, u64) {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let run = OpenRun::open(folder.path()).unwrap();
    let report = convert(&run, &options(), &mut OperationChecker::default()).unwrap();
    assert_eq!(report.losses, run.losses());
    (report.losses, report.counts.records)
}

#[test]
fn a_copy_of_a_file_is_ignored_and_reported() {
    let bytes = small(PayloadCodec::Raw);
    let last = (0..bytes.len()).rfind(|at| bytes[*at..].starts_with(&BLOCK_MAGIC)).unwrap();
    for (first, second, copy) in [(&bytes[..], &bytes[..], "b.tmt"), (&bytes[..last - 300], &bytes[..], "a.tmt")] {
        let (losses, records) = losses_of(&[("a.tmt", first), ("b.tmt", second)]);
        assert_eq!(records, 12);
        assert!(matches!(&losses[..], [Loss::Copy { file, .. }] if file.ends_with(copy)), "{losses:?}");
    }
}

#[test]
fn missing_ranks_are_reported_and_repeated_ones_are_no_loss() {
    let rank = |pid, rank| {
        let about = SyntheticProcess { rank: Some(rank), ranks: Some(4), ..SyntheticProcess::new(pid) };
        let mut schema = spec().schema();
        schema.sources.clear();
        let mut file = SyntheticFile::new(&about, &schema);
        file.end();
        file.bytes
    };
    let (first_rank, other, third_rank) = (rank(1, 1), rank(2, 3), rank(3, 3));
    let (losses, _) = losses_of(&[("1.tmt", &first_rank), ("2.tmt", &other)]);
    assert_eq!(losses, [Loss::MissingRanks { first: 0, missing_count: 2, ranks: 4 }]);
    let (losses, _) = losses_of(&[("1.tmt", &first_rank), ("2.tmt", &other), ("3.tmt", &third_rank)]);
    assert_eq!(losses, [Loss::MissingRanks { first: 0, missing_count: 2, ranks: 4 }]);
    let (losses, _) =
        losses_of(&[("0.tmt", &rank(7, 0)), ("1.tmt", &first_rank), ("2.tmt", &rank(8, 2)), ("3.tmt", &other)]);
    assert_eq!(losses, []);
}
