//! States after losses: unknown states are drawn as unknown until the state is certain. No state is
//! invented.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use tracer_format::record::DroppedRecords;
use tracer_format::{BlockKind, HEADER_BYTES, ID_DROPPED, cause};
use tumit_converter::convert::{ConvertOptions, convert};
use tumit_converter::report::ConversionReport;
use tumit_converter::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

const SPEC: &str = r#"
trace doing;
level L {
    event enter { thread: u32, what: string }
    event leave { thread: u32 }
    event leave_to { thread: u32, what: string }
    event become { thread: u32, what: string }
    event idle { thread: u32 }
}
paje { container thread[thread: u32] "Thread {thread}" { state doing "Doing" } }
rule enter -> push doing = what on thread[thread];
rule leave -> pop doing on thread[thread];
rule leave_to -> pop doing = what on thread[thread];
rule become -> set doing = what on thread[thread];
rule idle -> reset doing on thread[thread];
"#;

const UNKNOWN: &str = "unknown (records dropped or missing)";

/// The open states after each event, as `timestamp container: outermost/…/innermost`, computed like
/// a reader of Pajé.
#[derive(Default)]
struct Stacks {
    names: Vec<(u32, String)>,
    containers: Vec<String>,
    open: Vec<Vec<String>>,
    lines: Vec<String>,
    events_before_values: bool,
    seen_events: bool,
}

impl Stacks {
    fn change(&mut self, time: GlobalNanos, container: u32, change: impl FnOnce(&mut Vec<String>)) {
        let stack = &mut self.open[container as usize - 1];
        change(stack);
        self.lines.push(format!("{} {}: {}", time.0, self.containers[container as usize - 1], stack.join("/")));
    }
}

impl PajeSink for Stacks {
    fn event(&mut self, event: &PajeEvent<'_>) -> std::io::Result<()> {
        let name = |value: u32| self.names.iter().find(|(id, _)| *id == value).unwrap().1.clone();
        self.seen_events |= event.time().is_some();
        match *event {
            PajeEvent::DefineValue { value, name, .. } => {
                assert!(self.names.iter().all(|(id, _)| *id != value.0));
                self.events_before_values |= self.seen_events;
                self.names.push((value.0, name.to_owned()));
            }
            PajeEvent::CreateContainer { name, .. } => {
                self.containers.push(name.to_owned());
                self.open.push(Vec::new());
            }
            PajeEvent::SetState { time, container, value, .. } => {
                let name = name(value.0);
                self.change(time, container.0, |stack| *stack = vec![name]);
            }
            PajeEvent::PushState { time, container, value, .. } => {
                let name = name(value.0);
                self.change(time, container.0, |stack| stack.push(name));
            }
            PajeEvent::PopState { time, container, .. } => {
                self.change(time, container.0, |stack| drop(stack.pop().unwrap()));
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _end: GlobalNanos) -> std::io::Result<()> {
        assert!(self.open.iter().all(Vec::is_empty));
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Step {
    Enter(u32, &'static str),
    Leave(u32),
    LeaveTo(u32, &'static str),
    Become(u32, &'static str),
    Idle(u32),
}

fn add(records: &mut SyntheticRecords, ticks: u64, step: Step) {
    let text = |thread: u32, what: &str| {
        let length = u16::try_from(what.len()).unwrap().to_le_bytes();
        [&thread.to_le_bytes()[..], &length, what.as_bytes()].concat()
    };
    match step {
        Step::Enter(thread, what) => records.record(0, ticks, &text(thread, what)),
        Step::Leave(thread) => records.record(1, ticks, &thread.to_le_bytes()),
        Step::LeaveTo(thread, what) => records.record(2, ticks, &text(thread, what)),
        Step::Become(thread, what) => records.record(3, ticks, &text(thread, what)),
        Step::Idle(thread) => records.record(4, ticks, &thread.to_le_bytes()),
    }
}

fn block(from: u64, steps: &[Step]) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    for (at, step) in (from..).step_by(10).zip(steps) {
        add(&mut records, at, *step);
    }
    records
}

/// The loss of the second of three blocks, which has timestamps 100 to 199.
#[derive(Clone, Copy, PartialEq, Debug)]
enum BlockDefect {
    /// The recorder dropped its records and reports this.
    Dropped,
    /// It is not in the file.
    Missing,
    /// One of its bytes is wrong.
    Damaged,
    /// Its checksum is correct, but its contents are invalid.
    Senseless,
}

fn run_with(loss: BlockDefect, before: &[Step], after: &[Step]) -> Vec<u8> {
    let schema = tumit::compile_text("doing.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 2, "main");
    file.thread(1, 3, "other");
    file.records(0, 0, &block(0, before));
    // Another thread without losses.
    file.records(1, 0, &block(5, &[Step::Enter(9, "calm")]));
    let hidden = block(100, &[Step::Idle(1), Step::Enter(1, "hidden"), Step::Enter(2, "hidden")]);
    let start = file.bytes.len();
    match loss {
        BlockDefect::Dropped | BlockDefect::Missing => {}
        BlockDefect::Damaged => {
            file.records(0, 1, &hidden);
            let byte = &mut file.bytes[start + HEADER_BYTES + 7];
            *byte ^= 0x55;
        }
        BlockDefect::Senseless => {
            let mut senseless = hidden.clone();
            senseless.payload[..2].copy_from_slice(&999u16.to_le_bytes());
            file.records(0, 1, &senseless);
        }
    }
    let mut last = SyntheticRecords::default();
    if loss == BlockDefect::Dropped {
        let dropped =
            DroppedRecords { count: 3, bytes: 60, first_ticks: 100, last_ticks: 120, cause: cause::NO_BUFFER };
        (last.first, last.last) = (120, 120);
        last.payload.extend_from_slice(&ID_DROPPED.to_le_bytes());
        last.payload.extend_from_slice(&[0; 4]);
        last.payload.extend_from_slice(&dropped.encode());
        // The delta counts from the timestamp of the `dropped` record.
        let mut rest = block(200, after);
        rest.payload[2..6].copy_from_slice(&80u32.to_le_bytes());
        last.payload.extend_from_slice(&rest.payload);
        (last.count, last.last) = (rest.count, rest.last);
    } else {
        last = block(200, after);
    }
    file.records(0, if loss == BlockDefect::Dropped { 1 } else { 2 }, &last);
    if loss == BlockDefect::Dropped {
        file.end_with_dropped(3);
    } else {
        file.end();
    }
    file.bytes
}

fn state_lines(bytes: &[u8]) -> (Vec<String>, ConversionReport, bool) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.tmt"), bytes).unwrap();
    let run = OpenRun::open(folder.path()).unwrap();
    let mut stacks = Stacks::default();
    let report = convert(&run, &ConvertOptions::default(), &mut stacks).unwrap();
    let calm: Vec<&String> = stacks.lines.iter().filter(|line| line.contains("Thread 9")).collect();
    assert_eq!(calm[0], "5 Thread 9: calm");
    // Its state is unchanged until the end.
    assert!(calm.len() == 2 && calm[1].ends_with("Thread 9: "), "{calm:?}");
    let lines = stacks.lines.iter().filter(|line| !line.contains("Thread 9")).cloned().collect();
    (lines, report, stacks.events_before_values)
}

#[test]
fn a_loss_makes_states_unknown_until_something_is_certain() {
    for loss in [BlockDefect::Dropped, BlockDefect::Missing, BlockDefect::Damaged, BlockDefect::Senseless] {
        let before = [Step::Enter(1, "run"), Step::Enter(1, "send"), Step::Become(2, "wait")];
        let after = [
            Step::Leave(1),
            Step::Enter(1, "new"),
            Step::Leave(1),
            Step::LeaveTo(1, "run"),
            Step::Become(1, "known"),
            Step::Leave(1),
            Step::Leave(1),
        ];
        let (lines, report, late) = state_lines(&run_with(loss, &before, &after));
        // The recorder reports the begin of a drop, and a block with a correct head gives its
        // begin. In the other cases, the state is unknown after the last record before the loss.
        let from = match loss {
            BlockDefect::Dropped | BlockDefect::Senseless => 100,
            BlockDefect::Missing | BlockDefect::Damaged => 20,
        };
        let end = 260;
        let expected = [
            "0 Thread 1: run".to_owned(),
            "10 Thread 1: run/send".to_owned(),
            "20 Thread 2: wait".to_owned(),
            format!("{from} Thread 1: run"),
            format!("{from} Thread 1: {UNKNOWN}"),
            format!("{from} Thread 2: {UNKNOWN}"),
            // The first `leave` ends an unknown state, and the state below it is also unknown.
            format!("210 Thread 1: {UNKNOWN}/new"),
            format!("220 Thread 1: {UNKNOWN}"),
            "240 Thread 1: known".to_owned(),
            "250 Thread 1: ".to_owned(),
            format!("{end} Thread 2: "),
        ];
        assert_eq!(lines, expected, "{loss:?}");
        assert_eq!((report.counts.unknown_states, report.counts.pops_of_nothing), (2, 1), "{loss:?}");
        assert!(!report.is_clean());
        assert!(
            report.errors().iter().any(|error| error.text.starts_with("2 states are unknown")),
            "{:?}",
            report.errors()
        );
        // Only a block with a correct head and invalid contents is detected late.
        assert_eq!(late, loss == BlockDefect::Senseless, "{loss:?}");
    }
}

/// A copy reports exactly the unknown states of its original.
#[test]
fn copied_runs_have_the_same_unknown_states() {
    for loss in [BlockDefect::Dropped, BlockDefect::Missing, BlockDefect::Damaged, BlockDefect::Senseless] {
        let before = [Step::Enter(1, "run"), Step::Become(2, "wait")];
        let bytes = run_with(loss, &before, &[Step::Leave(1), Step::Enter(1, "new"), Step::Idle(1)]);
        let folder = tempfile::tempdir().unwrap();
        let original = folder.path().join("original.tmt");
        std::fs::write(&original, &bytes).unwrap();
        let run = OpenRun::open(&original).unwrap();
        let sorted = folder.path().join("sorted.tmt");
        tumit_converter::tools::sort::sort(&run, &ConvertOptions::default(), std::fs::File::create(&sorted).unwrap())
            .unwrap();
        let cut = folder.path().join("cut.tmt");
        let all = tumit_converter::tools::dump::RecordSelection::default();
        tumit_converter::tools::cut::cut(&run, &ConvertOptions::default(), &all, &cut).unwrap();
        for copy in [sorted, cut.join("original.tmt")] {
            assert_eq!(
                state_lines(&std::fs::read(&copy).unwrap()).0,
                state_lines(&bytes).0,
                "{loss:?}, {}",
                copy.display()
            );
        }
    }
}

#[test]
fn states_that_dropped_records_may_have_opened_are_unknown() {
    // The first record of thread 1 is after the loss.
    let after = [
        Step::Enter(1, "inner"),
        Step::Leave(1),
        Step::Leave(1),
        Step::Enter(1, "more"),
        Step::Idle(1),
        Step::Leave(1),
    ];
    let (lines, report, _) =
        state_lines(&run_with(BlockDefect::Missing, &[Step::Enter(3, "a"), Step::Idle(3)], &after));
    let expected = [
        "0 Thread 3: a",
        "10 Thread 3: ",
        // It is unknown whether it is still idle.
        "10 Thread 3: unknown (records dropped or missing)",
        "200 Thread 1: inner",
        "210 Thread 1: ",
        "220 Thread 1: unknown (records dropped or missing)",
        "230 Thread 1: unknown (records dropped or missing)/more",
        "240 Thread 1: unknown (records dropped or missing)",
        "240 Thread 1: ",
        "250 Thread 3: ",
    ];
    assert_eq!(lines, expected);
    // After `idle` the state is certain again. The last `leave` is an error of the program.
    assert_eq!((report.counts.unknown_states, report.counts.pops_of_nothing), (2, 1));
}

#[test]
fn a_loss_of_the_last_block_makes_states_unknown_to_the_end() {
    let schema = tumit::compile_text("doing.tumit", SPEC).0.unwrap().schema();
    for is_complete in [false, true] {
        let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
        file.thread(0, 2, "main");
        file.thread(1, 3, "other");
        file.records(0, 0, &block(0, &[Step::Enter(1, "run"), Step::Become(2, "wait"), Step::Idle(3)]));
        let start = file.bytes.len();
        file.records(0, 1, &block(100, &[Step::Become(1, "hidden"), Step::Become(2, "hidden")]));
        if !is_complete {
            file.bytes[start + HEADER_BYTES + 7] ^= 0x55;
        }
        // Another thread without losses, which lasts longer.
        file.records(1, 0, &block(5, &[Step::Enter(9, "calm")]));
        file.records(1, 1, &block(400, &[Step::Enter(8, "late")]));
        file.end();
        let folder = tempfile::tempdir().unwrap();
        file.save(folder.path(), "a.tmt");
        let mut stacks = Stacks::default();
        let report = convert(&OpenRun::open(folder.path()).unwrap(), &ConvertOptions::default(), &mut stacks).unwrap();
        let states_of = |thread: &str| -> Vec<&str> {
            stacks.lines.iter().filter(|line| line.contains(thread)).map(String::as_str).collect()
        };
        assert_eq!(report.is_clean(), is_complete);
        assert_eq!(states_of("Thread 9"), ["5 Thread 9: calm", "400 Thread 9: "]);
        if is_complete {
            assert_eq!(states_of("Thread 2"), ["10 Thread 2: wait", "110 Thread 2: hidden", "400 Thread 2: "]);
            assert_eq!(report.counts.unknown_states, 0);
            continue;
        }
        // Open states are unknown after the last good record.
        let unknown = |thread: u32| format!("20 Thread {thread}: {UNKNOWN}");
        assert_eq!(states_of("Thread 1"), ["0 Thread 1: run", &unknown(1), "400 Thread 1: "]);
        assert_eq!(states_of("Thread 2"), ["10 Thread 2: wait", &unknown(2), "400 Thread 2: "]);
        assert_eq!(report.counts.unknown_states, 2);
    }
}

#[test]
fn a_stack_belongs_to_the_stream_that_changed_it_last() {
    let schema = tumit::compile_text("doing.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 2, "main");
    file.thread(1, 3, "other");
    file.records(0, 0, &block(0, &[Step::Enter(1, "a")]));
    // The other thread takes over thread 1. The loss of the first one concerns thread 2 only.
    file.records(1, 0, &block(20, &[Step::Enter(1, "c")]));
    file.records(0, 1, &block(30, &[Step::Enter(2, "b")]));
    file.records(0, 3, &block(200, &[Step::Enter(2, "d")]));
    file.end();
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    let run = OpenRun::open(folder.path()).unwrap();
    let mut stacks = Stacks::default();
    convert(&run, &ConvertOptions::default(), &mut stacks).unwrap();
    let expected = [
        "0 Thread 1: a",
        "20 Thread 1: a/c",
        "30 Thread 2: b",
        "30 Thread 2: unknown (records dropped or missing)",
        "200 Thread 2: unknown (records dropped or missing)/d",
    ];
    assert_eq!(stacks.lines[..5], expected);
}

#[test]
fn a_run_without_losses_has_no_unknown_states() {
    let schema = tumit::compile_text("doing.tumit", SPEC).0.unwrap().schema();
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), &schema);
    file.thread(0, 2, "main");
    file.records(0, 0, &block(0, &[Step::Enter(1, "a")]));
    file.process_block(BlockKind::Anchors, 0, &[]);
    file.end();
    let folder = tempfile::tempdir().unwrap();
    file.save(folder.path(), "a.tmt");
    let mut stacks = Stacks::default();
    let report = convert(&OpenRun::open(folder.path()).unwrap(), &ConvertOptions::default(), &mut stacks).unwrap();
    assert!(report.is_clean() && stacks.names.iter().all(|(_, name)| name != UNKNOWN), "{:?}", stacks.names);
}
