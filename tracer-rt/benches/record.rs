//! Measures the cost of a record against the lower limit: reading the clock and storing the bytes.
//!
//! ```console
//! $ cargo bench -p tracer-rt              # ns per event, ratio to the limit, bytes per event
//! $ cargo bench -p tracer-rt -- --smoke            # the same, in a moment, to see that it runs
//! $ cargo bench -p tracer-rt -- --only record --events 100000   # only one, for callgrind
//! ```
//!
//! All variants run in turns in one process, and the fastest round of each counts.
//! On a shared machine the ratio is reliable, not the time. To get the instructions per event, run
//! one variant twice with different `--events` under `valgrind --tool=callgrind
//! --separate-threads=yes` and take the difference for thread 1. Thread 2 is the writer thread.

#![expect(clippy::print_stdout, reason = "it is what a bench is for")]

use std::cell::Cell;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

tracer_rt::events!("benches/record.tumit");

/// The lower limit: writes a record of the same 22 bytes into a buffer of the thread, with one
/// bounds check.
mod limit {
    use super::Cell;

    const BYTES: usize = 1 << 16;

    struct BenchBuffer {
        position: Cell<usize>,
        last: Cell<u64>,
        bytes: Cell<*mut u8>,
    }

    thread_local! {
        static BUFFER: BenchBuffer = const {
            BenchBuffer { position: Cell::new(BYTES), last: Cell::new(0), bytes: Cell::new(std::ptr::null_mut()) }
        };
    }

    #[inline(always)]
    pub(super) fn record(first: u64, second: u64) {
        BUFFER.with(|buffer| {
            let mut position = buffer.position.get();
            if position + 22 > BYTES {
                position = begin(buffer);
            }
            let now = clock();
            let delta = now.wrapping_sub(buffer.last.get()) as u32;
            let place = buffer.bytes.get().wrapping_add(position);
            // SAFETY: 22 bytes are left in the buffer; byte arrays have no alignment.
            unsafe { place.cast::<[u8; 2]>().write(7u16.to_le_bytes()) };
            // SAFETY: as above.
            unsafe { place.wrapping_add(2).cast::<[u8; 4]>().write(delta.to_le_bytes()) };
            // SAFETY: as above.
            unsafe { place.wrapping_add(6).cast::<[u8; 8]>().write(first.to_le_bytes()) };
            // SAFETY: as above.
            unsafe { place.wrapping_add(14).cast::<[u8; 8]>().write(second.to_le_bytes()) };
            buffer.last.set(now);
            buffer.position.set(position + 22);
        });
    }

    #[cold]
    fn begin(buffer: &BenchBuffer) -> usize {
        if buffer.bytes.get().is_null() {
            buffer.bytes.set(Box::leak(vec![0u8; BYTES].into_boxed_slice()).as_mut_ptr());
        }
        0
    }

    #[inline(always)]
    pub(super) fn clock() -> u64 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction.
        return unsafe { core::arch::x86_64::_rdtsc() };
        #[cfg(not(target_arch = "x86_64"))]
        return tracer_rt::now().ticks();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum BenchVariant {
    Empty,
    Clock,
    Limit,
    Record,
    State,
    Disabled,
}

const VARIANTS: [(BenchVariant, &str); 6] = [
    (BenchVariant::Empty, "empty"),
    (BenchVariant::Clock, "clock"),
    (BenchVariant::Limit, "limit"),
    (BenchVariant::Record, "record"),
    (BenchVariant::State, "state"),
    (BenchVariant::Disabled, "disabled"),
];

fn run(variant: BenchVariant, events: u64) {
    match variant {
        BenchVariant::Empty => (0..events).for_each(|n| {
            black_box(n);
        }),
        BenchVariant::Clock => (0..events).for_each(|n| {
            black_box(n);
            black_box(limit::clock());
        }),
        BenchVariant::Limit => (0..events).for_each(|n| limit::record(black_box(n), n)),
        BenchVariant::Record => (0..events).for_each(|n| on::pair(black_box(n), n)),
        BenchVariant::State => (0..events).for_each(|n| on::state((black_box(n) & 3) as u16)),
        BenchVariant::Disabled => (0..events).for_each(|n| off::pair_off(black_box(n), n)),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        arguments
            .iter()
            .position(|argument| argument == name)
            .and_then(|index| arguments.get(index + 1))
            .map(String::as_str)
    };
    let smoke = arguments.iter().any(|argument| argument == "--smoke");
    let folder = std::env::temp_dir().join(format!("tumit-bench-{}.tmt", std::process::id()));
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.clone());
    config.memory_bytes = Some(64 << 20);
    if let Err(error) = tracer_rt::start(config) {
        println!("cannot record: {error}");
        std::process::exit(2);
    }
    let events = value("--events").and_then(|text| text.parse().ok()).unwrap_or(BURST);
    match value("--only").and_then(|only| VARIANTS.iter().find(|(_, name)| *name == only)) {
        Some((variant, _)) => {
            run(*variant, events);
            let _ = std::fs::remove_dir_all(&folder);
            // At once, so that writing the remaining records does not count among the thread's
            // instructions.
            // SAFETY: ends the process without any handler.
            unsafe { libc::_exit(0) };
        }
        None => compare(events, if smoke { 3 } else { 400 }, &folder),
    }
    tracer_rt::finish();
    let _ = std::fs::remove_dir_all(&folder);
}

/// Events of one round.
/// They fill several slots, so that all of the recorder's work on the thread counts. They are few
/// enough that a round mostly runs undisturbed.
const BURST: u64 = 20_000;

/// Runs all variants in turns and prints the fastest round of each.
fn compare(events: u64, rounds: u32, folder: &Path) {
    let mut best = [f64::INFINITY; VARIANTS.len()];
    let mut file_bytes = 0;
    for _ in 0..rounds {
        for (number, (variant, _)) in VARIANTS.iter().enumerate() {
            let before = bytes_in(folder);
            let start = Instant::now();
            run(*variant, events);
            best[number] = best[number].min(start.elapsed().as_secs_f64() * 1e9 / events as f64);
            // The next variant must not include the remaining work of the writer thread.
            tracer_rt::flush();
            if *variant == BenchVariant::Record {
                file_bytes = bytes_in(folder) - before;
            }
        }
    }
    let nanos = |selected: BenchVariant| {
        let number = VARIANTS.iter().position(|(variant, _)| *variant == selected).unwrap_or(0);
        best[number]
    };
    let loop_alone = nanos(BenchVariant::Empty);
    for (variant, name) in VARIANTS {
        println!(
            "{name:<10} {:6.2} ns",
            nanos(variant) - if variant == BenchVariant::Empty { 0.0 } else { loop_alone }
        );
    }
    let net = |variant| nanos(variant) - loop_alone;
    println!("record / limit      {:.2} (goal: at most 1.25)", net(BenchVariant::Record) / net(BenchVariant::Limit));
    println!("disabled            {:.2} ns (goal: at most 0.5)", net(BenchVariant::Disabled));
    println!("bytes per event     22 in memory, {:.1} in the file", file_bytes as f64 / events as f64);
    let regular = bytes_per_event(folder, events, regular);
    println!("  regular trace     {regular:.2} in the file (goal: at most 5)");
    println!(
        "  irregular trace   {:.2} in the file (goal: at most 11)",
        bytes_per_event(folder, events, irregular_events)
    );
    let counts = tracer_rt::counts();
    println!("written {} dropped {}", counts.written, counts.dropped);
}

/// Bytes in the file per event of a workload. The workload returns the number of its events.
fn bytes_per_event(folder: &Path, events: u64, workload: fn(u64) -> u64) -> f64 {
    tracer_rt::flush();
    let before = bytes_in(folder);
    let mut events_written = 0;
    // Not faster than the writer thread packs, because blocks without time for packing are stored
    // raw.
    while events_written < 10 * events {
        events_written += workload(events / 4);
        tracer_rt::flush();
    }
    (bytes_in(folder) - before) as f64 / events_written as f64
}

/// A loop with a span around each iteration and an event in it.
/// The numbers increase or stay constant.
fn regular(events: u64) -> u64 {
    for n in 0..events / 3 {
        let _span = on::step(n, n / 8);
        busy_wait(100);
        on::pair(n * 64, 7);
        busy_wait(300);
    }
    events / 3 * 3
}

/// Events at irregular times, each for one of a thousand objects far apart in memory, with sizes of
/// all magnitudes.
fn irregular_events(events: u64) -> u64 {
    thread_local! { static STATE: Cell<u64> = const { Cell::new(0x2545_F491_4F6C_DD1D) } }
    let random = || {
        STATE.with(|state| {
            let mut word = state.get();
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            state.set(word);
            word
        })
    };
    for _ in 0..events {
        let thing = (random() % 1000).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        on::pair(thing, random() & u64::MAX >> (32 + random() % 32));
        busy_wait(random() % 1000);
    }
    events
}

fn busy_wait(ticks: u64) {
    let start = limit::clock();
    while limit::clock().wrapping_sub(start) < ticks {
        std::hint::spin_loop();
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|data| data.len()).sum()
}
