//! A process with several recorders, such as its own one and that of `tumit record`, has a file for
//! each. Its rows are those of one process.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tracer_format::Schema;
use tracer_format::tags::{append_tag, tag};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

/// The spec of the program.
const OWN: &str = r#"
trace own;
level L { event phase { name: string } }
paje {
    container program "Program" {
        container process[rank: u64] "Rank {rank}" {
            container thread[tid: u64] "Thread {tid}" = stream { state phase "Phase" }
        }
    }
}
rule phase -> set phase = name on thread[rank, tid];
rule thread.end -> ignore;
"#;

/// The spec of a library. A call refers to another rank by its number.
const LIBRARY: &str = r#"
trace library;
level L { event call { root: u64 } }
paje {
    container program "Program" {
        container process[rank: u64] "Rank {rank}" {
            event called "Called"
            container thread[tid: u64] "Thread {tid}" = stream { event call "Call" }
        }
    }
}
rule call -> mark call = "call" on thread[rank, tid] -> mark called = "called" on process[root];
rule process.end -> mark called = "end" on process[rank];
"#;

fn schema(text: &str) -> Schema {
    let (spec, diagnostics) = tumit::compile_text("spec.tumit", text);
    spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false))).schema()
}

/// A file with a record of each of some threads, from `ticks` on.
fn save(folder: &Path, number: u8, process: &SyntheticProcess, text: &str, threads: &[u64], ticks: u64) {
    let add_id = |tags: &mut Vec<u8>| append_tag(tags, tag::PROCESS_ID, &[number + 1; 16]);
    let mut file = SyntheticFile::with_tags(process, &schema(text), add_id);
    for (stream, tid) in (0u32..).zip(threads) {
        // The program's recorder does not note the ends of threads.
        match text {
            LIBRARY => file.ended_thread(stream, *tid, "", ticks + 100),
            _ => file.thread(stream, *tid, ""),
        }
        let mut records = SyntheticRecords::default();
        let root = &1_u64.to_le_bytes()[..];
        let name = [&3_u16.to_le_bytes()[..], b"run"].concat();
        records.record(0, ticks + u64::from(stream), if text == OWN { &name } else { root });
        if text == OWN {
            records.record(0, ticks + 200, &name);
        }
        file.records(stream, 0, &records);
    }
    file.end_at(ticks + 1_000);
    file.save(folder, &format!("{number}.tmt"));
}

fn rows(folder: &Path) -> Vec<String> {
    let run = OpenRun::open(folder).unwrap();
    let texts = [false, true].map(|by_record| {
        let mut options = ConvertOptions::default();
        options.by_record = by_record;
        let mut writer = PajeWriter::new(Vec::new());
        let report = convert(&run, &options, &mut writer).unwrap();
        assert_eq!(report.counts.ambiguous, 0, "{:?}", report.all_diagnostics());
        writer.into_inner()
    });
    assert!(texts[0] == texts[1]);
    pj_dump::rows(&texts[0])
}

/// The names of the containers of a type, sorted, with the names of their parents.
fn containers(rows: &[String], ty: &str) -> Vec<String> {
    let cells = rows.iter().map(|row| row.split(", ").collect::<Vec<_>>());
    let of_type = cells.filter(|cells| cells[0] == "Container" && cells[2] == ty);
    let mut names: Vec<String> = of_type.map(|cells| format!("{} of {}", cells[6], cells[1])).collect();
    names.sort_unstable();
    names
}

fn rank(rank: u64) -> SyntheticProcess {
    SyntheticProcess { domain: "one".to_owned(), ..SyntheticProcess::rank(rank) }
}

#[test]
fn files_of_one_process_share_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    // The main thread has the id of the process. Each recorder sees a thread of its own.
    for number in [0, 1] {
        let (process, main) = (rank(number), 100 + number);
        let file = u8::try_from(number).unwrap();
        save(folder.path(), 2 * file, &process, LIBRARY, &[main, 7], 1_000);
        save(folder.path(), 2 * file + 1, &process, OWN, &[main, 8], 1_050);
    }
    let rows = rows(folder.path());
    assert_eq!(containers(&rows, "process"), ["Rank 0 of Program", "Rank 1 of Program"], "{rows:#?}");
    let threads = |rank: u64, main: u64| [main, 7, 8].map(|tid| format!("Thread {tid} of Rank {rank}"));
    let mut expected = [threads(0, 100), threads(1, 101)].concat();
    expected.sort_unstable();
    assert_eq!(containers(&rows, "thread"), expected, "{rows:#?}");
    let count = |start: &str| rows.iter().filter(|row| row.starts_with(start)).count();
    assert_eq!((count("Event, Rank 1, Called"), count("Event, Rank 0, Called")), (4 + 1, 1), "{rows:#?}");
    let run = OpenRun::open(folder.path()).unwrap();
    assert_eq!((run.first_files(), run.distinct_processes().count()), (vec![0, 0, 2, 2], 2));
    assert!(run.rank_diagnostic().is_none());
}

#[test]
fn files_of_different_processes_have_their_own_rows() {
    // One spec in both: two programs in containers of the system. No common time: the process id
    // was used again, or the process has called exec.
    for (text, ticks) in [(OWN, 1_200), (LIBRARY, 5_000)] {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), 0, &rank(1), OWN, &[101], 1_000);
        save(folder.path(), 1, &rank(1), text, &[101], ticks);
        let run = OpenRun::open(folder.path()).unwrap();
        assert_eq!(run.first_files(), [0, 1]);
        assert!(run.rank_diagnostic().is_some());
    }
}
