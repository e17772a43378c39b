//! Measures the longest duration of a call that records, compared with a call that only reads the
//! clock. Also measures whether two threads record twice as much as one.
//!
//! ```console
//! $ cargo bench -p tracer-rt --bench pauses                    # histograms, page faults, scaling
//! $ cargo bench -p tracer-rt --bench pauses -- --smoke         # a short run, as a test
//! $ cargo bench -p tracer-rt --bench pauses -- --rate 100000   # events per second
//! ```
//!
//! A loop reads the clock until the next event is due, and measures the time of the event.
//! The empty loop does the same without an event, so its histogram shows the disturbances of the
//! machine. Each way to record runs in its own process, because a process has one recorder. The
//! processes take turns of one second each, so that all of them have the same disturbances. Context
//! switches and page faults are counts of the system for the recording thread. They show whether
//! the system interrupted the thread during a long call. The remaining long calls on a busy machine
//! come from the recorder or from interrupts, which the empty loop has, too.

#![expect(clippy::print_stdout, reason = "it is what a bench is for")]
#![expect(clippy::unwrap_used, reason = "a bench that cannot run says so by a panic")]

use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tracer_rt::SlotLocation;

tracer_rt::events!("benches/record.tumit");

/// Ways to run the loop, in the order of the columns.
const WAYS: [&str; 3] = ["empty", "private", "mapped"];
const GOAL_NANOS: u64 = 5_000;

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
    let rate = value("--rate").map_or(1_000_000, |text| text.parse().unwrap());
    let time = Duration::from_millis(if smoke { 50 } else { 1000 });
    match value("--way") {
        Some("scaling") => scaling(if smoke { 2 } else { 600 }),
        Some(way) => print!("{}", measure(way, rate, time).lines()),
        None => compare(rate, time, if smoke { 1 } else { 10 }),
    }
}

/// The measurements of the loop, in one process or several.
#[derive(Clone, Default)]
struct PauseCounts {
    /// Numbers of calls, indexed by [`bucket`] of their nanoseconds.
    buckets: Vec<u64>,
    longest: u64,
    /// Number of calls longer than the goal.
    long: u64,
    /// Number of these calls in which the system interrupted the thread.
    interrupted: u64,
    faults: u64,
    switches: u64,
    dropped: u64,
}

/// The bucket of a duration. Buckets are one eighth of a power of two wide.
fn bucket(nanos: u64) -> usize {
    let nanos = nanos.max(8);
    let power = nanos.ilog2() as usize;
    power * 8 + (nanos >> (power - 3) & 7) as usize
}

/// The shortest duration of a bucket.
fn nanos_of(bucket: usize) -> u64 {
    (8 + (bucket as u64 & 7)) << (bucket / 8 - 3)
}

impl PauseCounts {
    fn new() -> Self {
        Self { buckets: vec![0; 64 * 8], ..Self::default() }
    }

    fn lines(&self) -> String {
        let Self { longest, long, interrupted, faults, switches, dropped, .. } = self;
        let mut lines = format!("longest {longest}\nlong {long}\ninterrupted {interrupted}\nfaults {faults}\n");
        lines += &format!("switches {switches}\ndropped {dropped}\n");
        let counts = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        lines.extend(counts.map(|(bucket, count)| format!("{bucket} {count}\n")));
        lines
    }

    fn add_lines(&mut self, lines: &str) {
        for (name, number) in lines.lines().filter_map(|line| line.split_once(' ')) {
            let number: u64 = number.parse().unwrap();
            match name {
                "longest" => self.longest = self.longest.max(number),
                "long" => self.long += number,
                "interrupted" => self.interrupted += number,
                "faults" => self.faults += number,
                "switches" => self.switches += number,
                "dropped" => self.dropped += number,
                bucket => self.buckets[bucket.parse::<usize>().unwrap()] += number,
            }
        }
    }

    fn calls(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The duration that `millionths` of a million calls do not exceed.
    fn percentile(&self, millionths: u64) -> u64 {
        let mut remaining_calls = self.calls() * millionths / 1_000_000;
        for (bucket, count) in self.buckets.iter().enumerate() {
            match remaining_calls.checked_sub(*count) {
                Some(rest) => remaining_calls = rest,
                None => return nanos_of(bucket),
            }
        }
        self.longest
    }

    fn above_goal(&self) -> u64 {
        self.long
    }
}

/// Reads the counter that the recorder reads.
#[inline(always)]
fn clock() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    return unsafe { core::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return tracer_rt::now().ticks();
}

/// Runs the loop in this process.
fn measure(way: &str, rate: u64, time: Duration) -> PauseCounts {
    let folder = std::env::temp_dir().join(format!("tumit-pauses-{}.tmt", std::process::id()));
    if way != "empty" {
        start(&folder, if way == "mapped" { SlotLocation::Mapped } else { SlotLocation::Private });
    }
    let ticks_per_second = ticks_per_second();
    let run = |counts: &mut PauseCounts, time: Duration| {
        if way == "empty" {
            run_loop(counts, rate, ticks_per_second, time, |n| _ = black_box(n));
        } else {
            run_loop(counts, rate, ticks_per_second, time, |n| on::pair(black_box(n), n));
        }
    };
    // A warm-up: the recorder learns how many slots are in use, and the loop itself settles.
    run(&mut PauseCounts::new(), time / 2);
    let mut counts = PauseCounts::new();
    let before = usage();
    run(&mut counts, time);
    let after = usage();
    (counts.faults, counts.switches) = (after.faults - before.faults, after.switches - before.switches);
    if way != "empty" {
        counts.dropped = tracer_rt::counts().dropped;
        tracer_rt::finish();
        let _ = std::fs::remove_dir_all(&folder);
    }
    counts
}

fn start(folder: &std::path::Path, buffers: SlotLocation) {
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.to_owned());
    config.memory_bytes = Some(64 << 20);
    config.buffers = Some(buffers);
    tracer_rt::start(config).unwrap();
}

#[inline(always)]
fn run_loop(counts: &mut PauseCounts, rate: u64, ticks_per_second: u64, time: Duration, event: impl Fn(u64)) {
    let step = ticks_per_second / rate;
    let end = clock() + u64::try_from(u128::from(ticks_per_second) * time.as_nanos() / 1_000_000_000).unwrap();
    // Nanoseconds per tick as a fixed-point number (32.32 bits), so that the loop needs no
    // division.
    let scale = (1_000_000_000u128 << 32) / u128::from(ticks_per_second);
    let long = ticks_per_second * GOAL_NANOS / 1_000_000_000;
    let (mut next_event, mut now, mut n) = (clock(), clock(), 0u64);
    let mut preempted = usage().preempted;
    while now < end {
        let before = std::mem::replace(&mut now, clock());
        if now - before > long {
            // The thread was interrupted while it waited, not in the next call.
            preempted = usage().preempted;
            now = clock();
        }
        if now < next_event {
            continue;
        }
        // After a pause of the machine, the missed events are not made up.
        next_event = now + step;
        event(n);
        let nanos = ((u128::from(clock() - now) * scale) >> 32) as u64;
        counts.buckets[bucket(nanos)] += 1;
        counts.longest = counts.longest.max(nanos);
        n += 1;
        if nanos > GOAL_NANOS {
            counts.long += 1;
            let previous = std::mem::replace(&mut preempted, usage().preempted);
            counts.interrupted += u64::from(preempted != previous);
            now = clock();
        }
    }
}

fn ticks_per_second() -> u64 {
    let (start, ticks) = (Instant::now(), clock());
    while start.elapsed() < Duration::from_millis(50) {}
    let ticks = clock() - ticks;
    u64::try_from(u128::from(ticks) * 1_000_000_000 / start.elapsed().as_nanos()).unwrap()
}

/// Counts of the system for this thread.
struct ThreadUsage {
    faults: u64,
    switches: u64,
    /// Number of involuntary switches among these.
    preempted: u64,
}

fn usage() -> ThreadUsage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let usage = unsafe { usage.assume_init() };
    let sum = |a: i64, b: i64| (a + b).cast_unsigned();
    ThreadUsage {
        faults: sum(usage.ru_minflt, usage.ru_majflt),
        switches: sum(usage.ru_nvcsw, usage.ru_nivcsw),
        preempted: usage.ru_nivcsw.cast_unsigned(),
    }
}

fn child(way: &str, rate: u64, smoke: bool) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--way", way, "--rate", &rate.to_string()]).args(smoke.then_some("--smoke"));
    for variable in ["TUMIT_LEVELS", "TUMIT_MEMORY", "TUMIT_BUFFERS", "TUMIT_LIVE", "TUMIT_POLICY", "TUMIT_TRACE"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn compare(rate: u64, time: Duration, rounds: u32) {
    let smoke = time < Duration::from_millis(100);
    let mut all = vec![PauseCounts::new(); WAYS.len()];
    for _ in 0..rounds {
        for (counts, way) in all.iter_mut().zip(WAYS) {
            counts.add_lines(&child(way, rate, smoke));
        }
    }
    println!("{rate} events a second, {rounds} x {time:?} for each way, in turns\n");
    let row = |name: &str, values: Vec<String>| {
        println!("{name:<26}{}", values.iter().map(|value| format!("{value:>14}")).collect::<String>());
    };
    let numbers = |of: &dyn Fn(&PauseCounts) -> u64| all.iter().map(|counts| of(counts).to_string()).collect();
    row("a call takes", WAYS.map(str::to_owned).to_vec());
    for exponent in 3..30 {
        let counts: Vec<u64> = all.iter().map(|counts| counts.buckets[exponent * 8..][..8].iter().sum()).collect();
        if counts.iter().any(|count| *count > 0) {
            let name =
                format!("{:>8} to {:>8} ns", if exponent == 3 { 0 } else { 1 << exponent }, (2u64 << exponent) - 1);
            row(&name, counts.iter().map(u64::to_string).collect());
        }
    }
    println!();
    row("calls", numbers(&PauseCounts::calls));
    for (name, millionths) in [("p50, ns", 500_000), ("p99, ns", 990_000), ("p99.99, ns", 999_900)] {
        row(name, numbers(&|counts| counts.percentile(millionths)));
    }
    row("longest, ns", numbers(&|counts| counts.longest));
    row("above 5 us", numbers(&|counts| counts.above_goal()));
    row("  preempted meanwhile", numbers(&|counts| counts.interrupted));
    row("  not preempted", numbers(&|counts| counts.above_goal() - counts.interrupted));
    let per_million = |m: &PauseCounts| (m.above_goal() - m.interrupted) as f64 * 1e6 / m.calls() as f64;
    row("  of a million calls", all.iter().map(|counts| format!("{:.1}", per_million(counts))).collect());
    row("page faults", numbers(&|counts| counts.faults));
    row("context switches", numbers(&|counts| counts.switches));
    row("records dropped", numbers(&|counts| counts.dropped));
    println!(
        "\ngoal: nothing of ours above 5 us at p99.99 (100 of a million, beyond what the empty loop has); no page fault\n"
    );
    print!("{}", child("scaling", rate, smoke));
}

/// Events of a thread in a round.
/// They fill several slots, and they are few enough that two processors sometimes run the whole
/// round undisturbed.
const BURST: u64 = 20_000;

/// Compares two threads with one, for a loop that only reads the clock and for one that records.
/// The fastest round of each counts.
fn scaling(rounds: u32) {
    let folder = std::env::temp_dir().join(format!("tumit-scaling-{}.tmt", std::process::id()));
    start(&folder, SlotLocation::Mapped);
    let mut best = [[0.0f64; 2]; 2];
    for _ in 0..rounds {
        for (threads, best) in [1, 2].into_iter().zip(&mut best) {
            let clock_alone = rate_of_threads(threads, |n| _ = black_box((n, clock())));
            let recording = rate_of_threads(threads, |n| on::pair(black_box(n), n));
            // The next round must not include the remaining work of the writer thread.
            tracer_rt::flush();
            *best = [best[0].max(clock_alone), best[1].max(recording)];
        }
    }
    println!("{:<26}{:>14}{:>14}{:>14}", "millions a second", "one thread", "two threads", "ratio");
    for (index, name) in ["clock read", "events recorded"].into_iter().enumerate() {
        let (first_best, second_best) = (best[0][index], best[1][index]);
        println!("{name:<26}{:>14.1}{:>14.1}{:>14.2}", first_best / 1e6, second_best / 1e6, second_best / first_best);
    }
    println!("records dropped {}", tracer_rt::counts().dropped);
    tracer_rt::finish();
    let _ = std::fs::remove_dir_all(&folder);
}

/// Events per second of `threads` threads that start together.
fn rate_of_threads(threads: u32, event: impl Fn(u64) + Sync) -> f64 {
    let (ready, event) = (AtomicU32::new(0), &event);
    let spans: Vec<(Instant, Instant)> = std::thread::scope(|scope| {
        let start = || {
            // The first event creates the stream and its first slot before the start.
            event(0);
            ready.fetch_add(1, Ordering::AcqRel);
            while ready.load(Ordering::Acquire) < threads {
                std::hint::spin_loop();
            }
            let start = Instant::now();
            (0..BURST).for_each(event);
            (start, Instant::now())
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(start)).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let (start, end) = (spans.iter().map(|span| span.0).min().unwrap(), spans.iter().map(|span| span.1).max().unwrap());
    (BURST * u64::from(threads)) as f64 / (end - start).as_secs_f64()
}
