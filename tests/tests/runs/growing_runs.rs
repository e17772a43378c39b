//! A program is viewed while it runs: its recorded events are visible, and after its end the trace
//! is final.

use std::io::{BufRead as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tests::programs::child_test;
use tumit_viewer::OpenOptions;
use tumit_viewer::open::background_read::{CurrentTrace, TraceAvailability, TraceSnapshot, follow};

use crate::app;

/// Records as many events as each line of its input specifies.
#[test]
#[ignore = "the other test runs it, in a process of its own"]
fn child() {
    if std::env::var_os("TUMIT_FOLLOWED").is_none() {
        return;
    }
    for line in std::io::stdin().lock().lines() {
        (0..line.unwrap().parse().unwrap()).for_each(|n| app::tick(n, 0));
    }
}

fn start(run: &std::path::Path) -> (Child, ChildStdin) {
    let mut command = child_test(module_path!());
    command.env("TUMIT_FOLLOWED", "1");
    command.env("TUMIT_TRACE", run).env_remove("TUMIT_BUFFERS").stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().unwrap();
    let input = child.stdin.take().unwrap();
    (child, input)
}

/// Waits until a generation of the trace fulfils a condition, even on a slow machine.
fn wait(current: &CurrentTrace, is_reached: impl Fn(&TraceSnapshot) -> bool) -> TraceSnapshot {
    for _ in 0..30_000 {
        let now = current.snapshot();
        if is_reached(&now) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("five minutes for {:?}, {:?}", current.snapshot(), current.source().summary());
}

#[test]
fn a_run_grows_while_its_processes_record_and_is_final_when_they_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run.tmt");
    let cancel = Arc::new(AtomicBool::new(false));
    let mut options = OpenOptions::default();
    options.cancel = Some(Arc::clone(&cancel));
    let current = follow(&run, &options, Box::new(|outcome| panic!("{outcome:?}")));
    assert!(matches!(current.snapshot().availability, TraceAvailability::Awaited(_)), "it has not begun");

    let events = |now: &TraceSnapshot| now.source.summary().events;
    let (mut first, mut input) = start(&run);
    writeln!(input, "10").unwrap();
    let now = wait(&current, |now| events(now) == 10);
    assert_eq!(now.availability, TraceAvailability::Growing { running_processes: 1, processes: 1 });
    assert!(now.availability.sentence().is_some_and(|text| text.contains("provisional")));
    writeln!(input, "5").unwrap();
    let more = wait(&current, |now| events(now) == 15);
    assert!(more.generation > now.generation);

    // A second process of the run starts, then the first ends.
    let (mut second, mut third) = start(&run);
    writeln!(third, "7").unwrap();
    wait(&current, |now| {
        events(now) == 22 && now.availability == TraceAvailability::Growing { running_processes: 2, processes: 2 }
    });
    drop(input);
    assert!(first.wait().unwrap().success());
    wait(&current, |now| {
        events(now) == 22 && now.availability == TraceAvailability::Growing { running_processes: 1, processes: 2 }
    });
    drop(third);
    assert!(second.wait().unwrap().success());
    let last =
        wait(&current, |now| now.availability == TraceAvailability::Growing { running_processes: 0, processes: 2 });
    let read = tumit_viewer::open(&run, &OpenOptions::default()).unwrap().summary();
    assert_eq!(last.source.summary(), read, "as if it had not been followed");
    cancel.store(true, Ordering::Relaxed);
}
