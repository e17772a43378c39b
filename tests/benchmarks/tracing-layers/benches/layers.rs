//! Compares the costs of `tumit-tracing`, `tracing-chrome` and `fastrace`. Run it in the folder of
//! its package:
//!
//! ```console
//! $ cargo bench                                # nanoseconds, and ratios to `tumit-tracing`
//! $ cargo bench -- --smoke                     # the same, in a moment, to see that it runs
//! $ cargo bench -- --instructions              # instructions of the recording thread, by valgrind
//! ```
//!
//! The recorders run in turns, and the fastest round of each counts. `registry` is a subscriber
//! without a layer: its cost is a part of `tumit-tracing` and `tracing-chrome`.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fastrace::Span;
use fastrace::collector::{Config, Reporter, SpanContext, SpanRecord};
use fastrace::local::LocalSpan;
use fastrace::prelude::Event;
use tracing::{Dispatch, debug, info, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Clone, Copy, PartialEq)]
enum Recorder {
    Registry,
    Tumit,
    Chrome,
    Fastrace,
}

const RECORDERS: [(Recorder, &str); 4] = [
    (Recorder::Registry, "registry"),
    (Recorder::Tumit, "tumit-tracing"),
    (Recorder::Chrome, "tracing-chrome"),
    (Recorder::Fastrace, "fastrace"),
];

/// An operation, and the goal of `tumit-tracing` in nanoseconds.
const OPERATIONS: [(&str, Option<f64>); 4] = [
    ("event with two fields", Some(100.0)),
    ("enter and exit", Some(120.0)),
    ("new span", None),
    ("disabled", Some(0.6)),
];

/// Runs an operation of `tracing`.
fn run_tracing(operation: usize, rounds: u64) {
    let span = info_span!("request", number = 7);
    for round in 0..rounds {
        let round = black_box(round);
        match operation {
            0 => info!(round, share = 0.5),
            1 => drop(span.enter()),
            2 => drop(info_span!("part", round).entered()),
            _ => debug!(round, share = 0.5),
        }
    }
}

/// Runs an operation of `fastrace`. It has no spans that a thread enters again, and nothing is
/// recorded outside of a root.
fn run_fastrace(operation: usize, rounds: u64) {
    let root = (operation != 3).then(|| Span::root("root", SpanContext::random()));
    let _guard = root.as_ref().map(Span::set_local_parent);
    for round in 0..rounds {
        let round = black_box(round);
        match operation {
            0 | 3 => LocalSpan::add_event(
                Event::new("event").with_properties(|| [("round", round.to_string()), ("share", 0.5.to_string())]),
            ),
            _ => drop(LocalSpan::enter_with_local_parent("part")),
        }
    }
}

/// A reporter that drops its input.
struct NoReporter;

impl Reporter for NoReporter {
    fn report(&mut self, _spans: Vec<SpanRecord>) {}
}

struct Recorders {
    registry: Dispatch,
    tumit: Dispatch,
    chrome: Dispatch,
    chrome_file: tracing_chrome::FlushGuard,
}

impl Recorders {
    fn start(folder: &Path) -> Self {
        let mut config = tracer_rt::RecorderConfig::default();
        config.folder = Some(folder.join("run.tmt"));
        tracer_rt::start(config).expect("the folder can be written");
        let file = folder.join("run.json");
        let (chrome, chrome_file) = tracing_chrome::ChromeLayerBuilder::new().file(file).include_args(true).build();
        fastrace::set_reporter(NoReporter, Config::default().report_interval(Duration::from_millis(10)));
        let registry = || tracing_subscriber::registry().with(LevelFilter::INFO);
        Self {
            registry: Dispatch::new(registry()),
            tumit: Dispatch::new(registry().with(tumit_tracing::layer())),
            chrome: Dispatch::new(registry().with(chrome)),
            chrome_file,
        }
    }

    fn run(&self, recorder: Recorder, operation: usize, rounds: u64) {
        let subscriber = match recorder {
            Recorder::Registry => &self.registry,
            Recorder::Tumit => &self.tumit,
            Recorder::Chrome => &self.chrome,
            Recorder::Fastrace => return run_fastrace(operation, rounds),
        };
        tracing::dispatcher::with_default(subscriber, || run_tracing(operation, rounds));
    }

    /// The recorded items are written, so that no queue is full.
    fn flush(&self) {
        tracer_rt::flush();
        self.chrome_file.flush();
        fastrace::flush();
    }

    /// The nanoseconds of a round: the fastest of several series.
    fn nanoseconds(&self, recorder: Recorder, operation: usize, rounds: u64, series: u32) -> f64 {
        let times = (0..series).map(|_| {
            self.flush();
            let start = Instant::now();
            self.run(recorder, operation, rounds);
            start.elapsed().as_secs_f64() * 1e9 / rounds as f64
        });
        times.fold(f64::INFINITY, f64::min)
    }
}

/// The instructions of a round of this thread, by callgrind: those of a long run minus those of a
/// short one. `None` without valgrind.
fn instructions(recorder: usize, operation: usize, folder: &Path) -> Option<f64> {
    let count = |rounds: u64| {
        let program = std::env::current_exe().ok()?;
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=calls", "-q"]);
        valgrind.arg(program).arg("--only").args([recorder as u64, operation as u64, rounds].map(|n| n.to_string()));
        valgrind.current_dir(folder).output().ok().filter(|output| output.status.success())?;
        // The first thread records.
        let text = std::fs::read_to_string(folder.join("calls-01")).ok()?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
        total.trim().parse::<f64>().ok()
    };
    // The start of the program varies by a million instructions.
    let (few, many) = (1_000, 201_000);
    Some((count(many)? - count(few)?) / (many - few) as f64)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let folder = tempfile::tempdir().expect("a folder for the runs");
    if has("--instructions") {
        return print(|recorder, operation| instructions(recorder, operation, folder.path()).unwrap_or(f64::NAN));
    }
    let recorders = Recorders::start(folder.path());
    if let Some(only) = arguments.iter().position(|argument| argument == "--only") {
        let [recorder, operation, rounds] = [1, 2, 3].map(|next| arguments[only + next].parse().expect("a number"));
        return recorders.run(RECORDERS[recorder as usize].0, operation as usize, rounds);
    }
    let (rounds, series) = if has("--smoke") || has("--test") { (100, 1) } else { (20_000, 60) };
    print(|recorder, operation| recorders.nanoseconds(RECORDERS[recorder].0, operation, rounds, series));
    println!("dropped by tumit-tracing: {}", tracer_rt::counts().dropped);
}

/// Prints a row per operation. `cost` gets the numbers of a recorder and of an operation.
fn print(cost: impl Fn(usize, usize) -> f64) {
    print!("{:22}", "");
    RECORDERS.iter().for_each(|(_, name)| print!(" {name:>15} {:>7}", "ratio"));
    println!(" {:>6}", "goal");
    for (number, (operation, goal)) in OPERATIONS.iter().enumerate() {
        let costs: Vec<f64> = (0..RECORDERS.len()).map(|recorder| cost(recorder, number)).collect();
        print!("{operation:22}");
        costs.iter().for_each(|cost| print!(" {cost:15.1} {:7.2}", cost / costs[1]));
        println!(" {:>6}", goal.map_or_else(|| "–".to_owned(), |goal| goal.to_string()));
    }
}
