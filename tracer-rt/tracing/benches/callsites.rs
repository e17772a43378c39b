//! Measures the cost of spans and events against reading the clock.
//!
//! ```console
//! $ cargo bench -p tumit-tracing              # ns and ratio to one reading of the clock
//! $ cargo bench -p tumit-tracing -- --smoke           # the same, in a moment, to see that it runs
//! $ cargo bench -p tumit-tracing -- --only event --rounds 100000     # only one, for callgrind
//! ```
//!
//! The variants run in turns, and the fastest round of each counts. `registry` is the cost of a
//! subscriber without a layer. The difference to it is the cost of this package.

#![expect(clippy::print_stdout, reason = "it is what a bench is for")]

use std::hint::black_box;
use std::time::Instant;

use tracing::{debug, info, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;

#[derive(Clone, Copy, PartialEq)]
enum BenchVariant {
    Clock,
    Event,
    Text,
    Enter,
    Span,
    Disabled,
}

const VARIANTS: [(BenchVariant, &str); 6] = [
    (BenchVariant::Clock, "clock"),
    (BenchVariant::Event, "event"),
    (BenchVariant::Text, "text"),
    (BenchVariant::Enter, "enter"),
    (BenchVariant::Span, "span"),
    (BenchVariant::Disabled, "disabled"),
];

/// Runs a variant. An event has two fields, `enter` is an entry and an exit of one span, `span`
/// creates and closes it, too.
fn run(variant: BenchVariant, rounds: u64) {
    let span = info_span!("request", number = 7);
    for round in 0..rounds {
        let round = black_box(round);
        match variant {
            BenchVariant::Clock => {
                black_box(tracer_rt::now());
            }
            BenchVariant::Event => info!(round, share = 0.5),
            BenchVariant::Text => info!(round, "a message"),
            BenchVariant::Enter => drop(span.enter()),
            BenchVariant::Span => drop(info_span!("part", round).entered()),
            BenchVariant::Disabled => debug!(round, share = 0.5),
        }
    }
}

/// The nanoseconds of a round: the fastest of several series.
fn measure(variant: BenchVariant, rounds: u64, series: u32) -> f64 {
    let times = (0..series).map(|_| {
        // All slots are free, so that no record of the series is dropped.
        tracer_rt::flush();
        let start = Instant::now();
        run(variant, rounds);
        start.elapsed().as_secs_f64() * 1e9 / rounds as f64
    });
    times.fold(f64::INFINITY, f64::min)
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).cloned()
    };
    let is_smoke = arguments.iter().any(|argument| argument == "--smoke" || argument == "--test");
    let default_rounds = if is_smoke { 100 } else { 20_000 };
    let rounds = value("--rounds").and_then(|text| text.parse().ok()).unwrap_or(default_rounds);
    let series = if is_smoke || value("--only").is_some() { 1 } else { 100 };
    let folder = tempfile::tempdir().expect("a folder for the run");
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.path().join("run.tmt"));
    tracer_rt::start(config).expect("the folder can be written");
    let registry = tracing_subscriber::registry().with(LevelFilter::INFO);
    let recorder = tracing_subscriber::registry().with(LevelFilter::INFO).with(tumit_tracing::layer());
    let (registry, recorder) = (tracing::Dispatch::new(registry), tracing::Dispatch::new(recorder));
    if let Some(only) = value("--only") {
        let variant = VARIANTS.iter().find(|(_, name)| *name == only).expect("a variant");
        return tracing::dispatcher::with_default(&recorder, || run(variant.0, rounds));
    }
    let clock = measure(BenchVariant::Clock, rounds, series);
    println!("{:10} {:>12} {:>12} {:>14}", "", "registry, ns", "recorded, ns", "clock readings");
    for (variant, name) in VARIANTS {
        let bare = tracing::dispatcher::with_default(&registry, || measure(variant, rounds, series));
        let recorded = tracing::dispatcher::with_default(&recorder, || measure(variant, rounds, series));
        println!("{name:10} {bare:12.1} {recorded:12.1} {:14.1}", recorded / clock);
    }
    println!("dropped: {}", tracer_rt::counts().dropped);
}
