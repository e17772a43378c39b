//! Rules for the ends of threads and processes change containers that do not belong to one thread.

use std::path::Path;

use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::run::OpenRun;
use tumit_paje::write::PajeWriter;
use tumit_test_support::pj_dump;
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace pool;
level L { event take { slot: u8 } }
paje {
    container machine "Machine" {
        container slot[slot: u8] "Slot {slot}" { state owner "Owner" }
        container worker[id: u64] "Worker {id}" { event ended "Ended"; state phase "Phase" { closing "Closing" } }
        variable running "Running"
    }
}
rule take -> set owner = thread_name on slot[slot] -> add running = 1 on machine;
rule thread.end -> subtract running = 1 on machine -> mark ended = thread_name on worker[tid];
also rule thread.end -> reset owner on slot[0] when tid == 7;
rule process.end -> set phase = closing on worker[99] with { pid } -> destroy slot[1];
"#;

/// A process with a thread that ends, and one that lasts as long as the process.
fn save(folder: &Path) {
    let (spec, diagnostics) = tumit::compile_text("pool.tumit", SPEC);
    let spec = spec.unwrap_or_else(|| panic!("{}", diagnostics.render(false)));
    assert_eq!(diagnostics.render(false).matches("warning").count(), 0, "{}", diagnostics.render(false));
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &spec.schema());
    let take = |ticks: u64, slot: u8| {
        let mut records = SyntheticRecords::default();
        records.record(0, ticks, &[slot]);
        records
    };
    file.ended_thread(0, 7, "short", 1_250);
    file.records(0, 0, &take(1_000, 0));
    file.thread(1, 8, "long");
    file.records(1, 0, &take(1_100, 1));
    file.end_at(3_000);
    file.save(folder, "a.tmt");
}

#[test]
fn rules_react_to_the_ends_of_threads_and_processes() {
    let folder = tempfile::tempdir().unwrap();
    save(folder.path());
    let run = OpenRun::open(folder.path()).unwrap();
    for by_record in [false, true] {
        let mut options = ConvertOptions::default();
        options.by_record = by_record;
        let mut writer = PajeWriter::new(Vec::new());
        let report = convert(&run, &options, &mut writer).unwrap();
        assert!(report.is_clean(), "{:?}", report.all_diagnostics());
        // The ends are not records.
        assert_eq!(report.counts.records, 2);
        let rows = pj_dump::rows(&writer.into_inner());
        let has = |start: &str, rest: &str| rows.iter().any(|row| row.starts_with(start) && row.contains(rest));
        assert!(has("State, Slot 0, Owner, 0.000000000, 0.000000250", "short"), "{rows:#?}");
        assert!(has("Event, Worker 7, Ended, 0.000000250", "short"), "{rows:#?}");
        // A thread without a recorded end ends with its process, before the rules of the process
        // run.
        assert!(has("State, Slot 1, Owner, 0.000000100, 0.000002000", "long"), "{rows:#?}");
        assert!(has("Event, Worker 8, Ended, 0.000002000", "long"), "{rows:#?}");
        assert!(has("State, Worker 99, Phase, 0.000002000, 0.000002000", "Closing"), "{rows:#?}");
        let running: Vec<&String> = rows.iter().filter(|row| row.starts_with("Variable, Machine, Running")).collect();
        assert!(running.iter().any(|row| row.ends_with(", 2.000000000")), "{running:#?}");
        assert!(
            running.iter().any(|row| row.starts_with("Variable, Machine, Running, 0.000000250, 0.000002000")),
            "{running:#?}"
        );
    }
}
