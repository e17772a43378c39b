//! A sorted run gives the same conversion result as the run, with other clocks. This includes
//! losses and damage.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tracer_format::entries::SyncSample;
use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, cause};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_converter::tools::sort::sort;
use tumit_paje::write::PajeWriter;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords, peer};

const SPEC: &str = r#"
trace talk;
level L {
    event enter { what: interned }
    event leave { note: string, since: date, marks: [date] }
    event send { to: u32, n: u32 }
    event receive { from: u32, n: u32 }
}
paje {
    container program "Program" {
        container process[rank: u32] "Process {rank}" {
            container thread[tid: u64] "Thread {tid}" { state doing "Doing" event note "Note" }
        }
        link message "Message" from thread to thread
    }
}
rule enter -> push doing = what on thread[rank, tid] with { at = date };
rule leave -> pop doing on thread[rank, tid] -> push doing = "waits" on thread[rank, tid] at since -> pop doing on thread[rank, tid]
           -> mark note = note on thread[rank, tid] with { since, first = marks[0] };
rule send -> start message key (rank, to, n) from thread[rank, tid];
rule receive -> end message key (from, rank, n) to thread[rank, tid];
"#;

/// The clock of a process, as a function of true time in nanoseconds.
#[derive(Clone, Copy)]
struct Skew {
    hz: u64,
    offset: u64,
}

impl Skew {
    fn ticks(self, nanos: u64) -> u64 {
        u64::try_from(u128::from(nanos) * u128::from(self.hz) / 1_000_000_000).unwrap() + self.offset
    }
}

/// A record of seven dropped records before these ticks.
fn append_drops(records: &mut SyntheticRecords, ticks: u64) {
    let (first_ticks, last_ticks) = (ticks, ticks + 10);
    let dropped = DroppedRecords { count: 7, bytes: 99, first_ticks, last_ticks, cause: cause::NO_BUFFER };
    (records.first, records.last) = (last_ticks, last_ticks);
    records.payload.extend_from_slice(&ID_DROPPED.to_le_bytes());
    records.payload.extend_from_slice(&[0; 4]);
    records.payload.extend_from_slice(&dropped.encode());
}

/// A block of 300 records. Thread 0 sends and receives, thread 1 enters and leaves. `names` are the
/// ids of the texts of thread 1.
fn thread_block(rank: u32, skew: Skew, stream: u32, block: u64, names: &[u32], has_drops: bool) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    let start = block * 3_000_000 + 1000;
    if has_drops {
        append_drops(&mut records, skew.ticks(start - 500));
        records.count = 1;
    }
    for step in 0..300u64 {
        let now = start + step * 10_000 + u64::from(stream) * 3000;
        let n = u32::try_from(block * 300 + step).unwrap();
        let other = 1 - rank;
        match (stream, (step + u64::from(rank)) % 2) {
            // At even steps, one process sends and the other receives 2 µs later.
            (0, 0) => records.record(2, skew.ticks(now), &[other.to_le_bytes(), n.to_le_bytes()].concat()),
            (0, _) => {
                records.record(3, skew.ticks(now + 2000), &[other.to_le_bytes(), n.to_le_bytes()].concat());
            }
            (_, 0) => records.record(0, skew.ticks(now), &names[usize::from(step % 3 == 0)].to_le_bytes()),
            _ => {
                let since = skew.ticks(now - 4000).to_le_bytes();
                let body = [&2u16.to_le_bytes()[..], b"ok", &since, &1u16.to_le_bytes(), &since].concat();
                records.record(1, skew.ticks(now), &body);
            }
        }
    }
    records.count -= u32::from(has_drops);
    records
}

/// Two processes with two threads each that send messages to each other. The offsets of their
/// clocks differ by seconds, and their rates differ.
fn write_run(folder: &Path, losses: bool) {
    let (spec, diagnostics) = tumit::compile_text("talk.tumit", SPEC);
    let schema = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema();
    let skews = [Skew { hz: 1_000_000_000, offset: 5_000_000_000 }, Skew { hz: 2_500_010_000, offset: 77_000_000_000 }];
    for (rank, skew) in (0u32..).zip(skews) {
        let mut file =
            SyntheticFile::new(&SyntheticProcess { hz: skew.hz, ..SyntheticProcess::rank(rank.into()) }, &schema);
        // Samples at both ends. The order of values is then the same before and after messages
        // correct the clocks.
        let [here, there] = skews;
        let sample = |burst: u32, nanos: u64| SyncSample {
            burst,
            exchange: 0,
            peer: peer(101),
            t1: here.ticks(nanos),
            t2: there.ticks(nanos + 200),
            t3: there.ticks(nanos + 300),
            t4: here.ticks(nanos + 500),
        };
        if rank == 0 {
            file.sync(&[sample(0, 0), sample(1, 18_000_000)]);
        }
        let names: Vec<u32> = ["run", "talk"].iter().map(|name| file.string(&format!("{name} of {rank}"))).collect();
        file.thread(0, 10 + u64::from(rank), "main");
        file.thread(1, 20 + u64::from(rank), "helper");
        for (stream, block) in (0..6u64).flat_map(|block| [(0u32, block), (1, block)]) {
            let has_drops = losses && block == 3 && stream == 0;
            let records = thread_block(rank, skew, stream, block, &names, has_drops);
            let before = file.bytes.len();
            file.records(stream, block, &records);
            if losses && block == 2 && stream == 1 && rank == 1 {
                file.bytes[before + 100] ^= 0xFF;
            }
        }
        if losses {
            file.end_with_dropped(7);
        } else {
            file.end();
        }
        file.save(folder, &format!("rank{rank}.tmt"));
    }
}

fn convert_folder(folder: &Path) -> (String, ConversionReport) {
    let mut writer = PajeWriter::new(Vec::new());
    let report = convert(&OpenRun::open(folder).unwrap(), &ConvertOptions::default(), &mut writer).unwrap();
    (String::from_utf8(writer.into_inner()).unwrap(), report)
}

fn sorted(run: &Path, into: &Path, threads: usize) {
    std::fs::create_dir_all(into).unwrap();
    let mut options = ConvertOptions::default();
    options.threads = std::num::NonZeroUsize::new(threads);
    let mut bytes = Vec::new();
    sort(&OpenRun::open(run).unwrap(), &options, &mut bytes).unwrap();
    std::fs::write(into.join("all.tmt"), bytes).unwrap();
}

#[test]
fn a_sorted_run_converts_to_the_same_operations() {
    for losses in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let (run, one, two) = (folder.path().join("run"), folder.path().join("one"), folder.path().join("two"));
        write_run(&run, losses);
        sorted(&run, &one, 1);
        for threads in [2, 5] {
            sorted(&run, &two, threads);
            // The result is the same for any number of threads.
            assert!(std::fs::read(one.join("all.tmt")).unwrap() == std::fs::read(two.join("all.tmt")).unwrap());
        }
        let (expected, before) = convert_folder(&run);
        let (events, after) = convert_folder(&one);
        assert_eq!((before.clocks.domains.len(), after.clocks.domains.len()), (2, 1));
        assert_eq!(before.counts, after.counts, "losses: {losses}");
        assert_eq!(expected.contains("unknown (records dropped or missing)"), losses);
        assert_eq!(before.counts.unknown_states > 0, losses);
        for (number, (a, b)) in expected.lines().zip(events.lines()).enumerate() {
            assert_eq!(a, b, "line {}", number + 1);
        }
        assert_eq!(expected.len(), events.len());
        assert_eq!(after.counts.dropped_records, if losses { 14 } else { 0 });
        // A second sort changes only the zero of timestamps, which is the same here.
        let again = folder.path().join("again");
        sorted(&one, &again, 2);
        assert!(convert_folder(&again).0 == events);
    }
}

#[test]
fn every_cut_of_a_sorted_file_is_survived_and_no_record_changes_its_process() {
    let folder = tempfile::tempdir().unwrap();
    let (run, sorted_run) = (folder.path().join("run"), folder.path().join("one"));
    write_run(&run, false);
    sorted(&run, &sorted_run, 1);
    let file_bytes = std::fs::read(sorted_run.join("all.tmt")).unwrap();
    let path = sorted_run.join("all.tmt");
    for cut in (16..file_bytes.len()).step_by(file_bytes.len() / 97) {
        std::fs::write(&path, &file_bytes[..cut]).unwrap();
        let Ok(run) = OpenRun::open(&sorted_run) else { continue };
        assert!(!run.losses().is_empty());
        let mut writer = PajeWriter::new(Vec::new());
        convert(&run, &ConvertOptions::default(), &mut writer).unwrap();
    }
    // Any one block is removed. The remaining records of a thread are those that the thread
    // recorded.
    let starts: Vec<usize> = (0..file_bytes.len())
        .step_by(8)
        .filter(|at| file_bytes[*at..].starts_with(&tracer_format::BLOCK_MAGIC))
        .collect();
    for pair in starts.windows(2) {
        let bytes = [&file_bytes[..pair[0]], &file_bytes[pair[1]..]].concat();
        std::fs::write(&path, bytes).unwrap();
        let Ok(run) = OpenRun::open(&sorted_run) else { continue };
        for process in &run.processes {
            for stream in process.streams.iter().filter(|stream| !stream.name.is_empty()) {
                let tid = stream.tid.unwrap();
                assert!(process.rank.is_none_or(|rank| rank == tid % 10), "thread {tid} of {:?}", process.rank);
            }
        }
    }
}
