//! Traces that are shown while they grow: read, followed, cut and replaced.

#![allow(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::fs::OpenOptions as FileOptions;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tumit_paje::diagnostic_texts;
use tumit_viewer::open::background_read::{CurrentTrace, OpenedTrace, TraceAvailability, TraceSnapshot, begin, follow};
use tumit_viewer::query::GlobalNanos;
use tumit_viewer::{IndexChoice, OpenOptions, TraceOpenError, open};

const HEADER: &str = include_str!("header.paje");
/// A thread. Its states are lines after this text.
const BEGINNING: &str = "0 T 0 Thread\n2 S T State\n5 w S work \"0 1 0\"\n5 i S idle \"1 0 0\"\n6 0 t 0 T t\n";

/// States number `from` to `to`, each one second long. The last one is open.
fn states(from: u32, to: u32) -> String {
    (from..to).map(|at| format!("11 {at} t S {}\n", if at % 2 == 0 { "w" } else { "i" })).collect()
}

/// Waits until a condition of the trace holds. The limit of five minutes is for slow machines.
fn wait(current: &CurrentTrace, condition: impl Fn(&TraceSnapshot) -> bool) -> TraceSnapshot {
    for _ in 0..30_000 {
        let now = current.snapshot();
        if condition(&now) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("five minutes for {:?}", current.snapshot());
}

fn count(now: &TraceSnapshot) -> u64 {
    now.source.summary().states
}

fn append(path: &Path, text: &str) {
    FileOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn cancellable() -> (OpenOptions, Arc<AtomicBool>) {
    let cancel = Arc::new(AtomicBool::new(false));
    let mut options = OpenOptions::default();
    options.cancel = Some(Arc::clone(&cancel));
    (options, cancel)
}

#[test]
fn a_growing_file_is_followed_by_whole_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.paje");
    let (options, cancel) = cancellable();
    let current = follow(&path, &options, Box::new(|outcome| panic!("{outcome:?}")));
    let first = current.snapshot();
    assert!(
        matches!(&first.availability, TraceAvailability::Awaited(text) if text.contains("growing.paje")),
        "{first:?}"
    );
    assert_eq!((count(&first), first.source.summary().name.as_str()), (0, "growing"));

    // With a link that has not arrived.
    let open_link = "4 L 0 T T Link\n5 v L size \"0 0 1\"\n15 0 0 L t v k\n";
    std::fs::write(&path, format!("{HEADER}{BEGINNING}{open_link}{}", states(0, 3))).unwrap();
    let grown = wait(&current, |now| count(now) == 3);
    assert_eq!(grown.availability, TraceAvailability::Growing { running_processes: 0, processes: 0 });
    assert!(grown.generation > first.generation);
    // The earlier source still answers from its own generation.
    assert_eq!(count(&first), 0);

    assert!(grown.source.summary().is_intact(), "an open link is no error");

    // An incomplete line is read when it is complete.
    append(&path, "11 5 t S");
    append(&path, " i\n11 7 t S w\nno event\n");
    let more = wait(&current, |now| count(now) == 5 && !now.source.summary().is_intact());
    assert_eq!(more.source.extent().to, GlobalNanos(7_000_000_001), "the last state has just begun");
    let diagnostic = &more.source.summary().diagnostics[0];
    assert!(diagnostic.is_error() && diagnostic.text.contains("line"), "{diagnostic}");
    assert_eq!(count(&grown), 3);

    // A new file in its place is read from the start. So is the same file after it was cut.
    let other = folder.path().join("other.paje");
    std::fs::write(&other, format!("{HEADER}{BEGINNING}{}", states(0, 1))).unwrap();
    std::fs::rename(&other, &path).unwrap();
    wait(&current, |now| count(now) == 1);
    append(&path, &states(1, 9));
    wait(&current, |now| count(now) == 9);
    FileOptions::new().write(true).open(&path).unwrap().set_len(HEADER.len() as u64).unwrap();
    append(&path, BEGINNING);
    append(&path, &states(0, 2));
    wait(&current, |now| count(now) == 2);

    // If the file is removed or empty, the last generation stays, with a report. It continues with
    // the next data.
    let is_kept_because = |reason: &'static str| {
        move |now: &TraceSnapshot| {
            count(now) == 2
                && matches!(&now.availability, TraceAvailability::Interrupted(text) if text.contains(reason))
        }
    };
    FileOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    wait(&current, is_kept_because("cut short"));
    append(&path, HEADER);
    append(&path, BEGINNING);
    std::thread::sleep(Duration::from_millis(300));
    assert!(
        is_kept_because("cut short")(&current.snapshot()),
        "containers alone replace nothing: {:?}",
        current.snapshot()
    );
    std::fs::remove_file(&path).unwrap();
    wait(&current, is_kept_because("removed"));
    std::fs::write(&path, format!("{HEADER}{BEGINNING}{}", states(0, 5))).unwrap();
    let again = wait(&current, |now| count(now) == 5);
    assert_eq!(again.availability, TraceAvailability::Growing { running_processes: 0, processes: 0 });
    cancel.store(true, Ordering::Relaxed);
}

#[test]
fn following_a_split_trace_reports_the_files_that_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("root.paje");
    let creates = "%EventDef PajeCreateContainer 60\n% Time date\n% Alias string\n% Type string\n% Container string\n\
                   % Name string\n% Filename string\n%EndEventDef\n";
    let part = "60 0 u T 0 u part.paje\n";
    std::fs::write(&path, format!("{creates}{HEADER}{BEGINNING}{part}{}", states(0, 3))).unwrap();
    std::fs::write(folder.path().join("part.paje"), "").unwrap();
    let (options, cancel) = cancellable();
    let current = follow(&path, &options, Box::new(|outcome| panic!("{outcome:?}")));
    let now = wait(&current, |now| count(now) == 3);
    let texts = diagnostic_texts(&now.source.summary().diagnostics).join("\n");
    assert!(texts.contains("`--follow` does not read the file that this trace names"), "{texts}");
    cancel.store(true, Ordering::Relaxed);
}

#[test]
fn a_file_that_is_no_trace_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.json");
    std::fs::write(&path, "{}\n".repeat(2000)).unwrap();
    let (sender, receiver) = mpsc::channel();
    let current = follow(&path, &OpenOptions::default(), Box::new(move |outcome| sender.send(outcome).unwrap()));
    let message = receiver.recv().unwrap().unwrap_err().to_string();
    assert!(message.contains("data.json") && message.contains("JSON"), "{message}");
    assert_eq!(count(&current.snapshot()), 0);
}

#[test]
fn a_large_trace_is_shown_from_its_beginning_while_it_opens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.paje");
    std::fs::write(&path, format!("{HEADER}{BEGINNING}{}", states(0, 10_000))).unwrap();
    let (mut options, _) = cancellable();
    // A file with an explicit index path counts as large.
    options.index = IndexChoice::At(folder.path().join("large.tmtx"));
    let (sender, receiver) = mpsc::channel();
    let on_end = move |outcome| sender.send(outcome).unwrap();
    let OpenedTrace::Going(current) = begin(&path, &options, Box::new(on_end)).unwrap() else {
        panic!("it was opened at once")
    };
    let summary = receiver.recv().unwrap().unwrap();
    let now = current.snapshot();
    assert_eq!((summary.states, count(&now), &now.availability), (10_000, 10_000, &TraceAvailability::Final));
    // Two generations of its begin, after 4,096 and 8,192 operations, and the whole trace.
    assert_eq!(now.generation, 1 + 2 + 1);
    // The next time, the whole trace is there at once.
    let again = begin(&path, &options, Box::new(|_| panic!("the index is complete"))).unwrap();
    let OpenedTrace::Whole(source) = again else { panic!("it has an index") };
    assert_eq!(source.summary(), open(&path, &options).unwrap().summary());
}

#[test]
fn a_cancelled_opening_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large.paje");
    std::fs::write(&path, format!("{HEADER}{BEGINNING}{}", states(0, 10_000))).unwrap();
    let (mut options, cancel) = cancellable();
    options.index = IndexChoice::At(folder.path().join("large.tmtx"));
    tumit_viewer::index::abandon(&cancel);
    let (sender, receiver) = mpsc::channel();
    let on_end = move |outcome| sender.send(outcome).unwrap();
    assert!(matches!(begin(&path, &options, Box::new(on_end)).unwrap(), OpenedTrace::Going(_)));
    assert!(matches!(receiver.recv().unwrap(), Err(TraceOpenError::Cancelled)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
