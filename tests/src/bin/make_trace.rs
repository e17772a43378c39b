//! Generates the trace for measurements of the tools with the real recorder: irregular, of any
//! length.
//!
//! ```console
//! $ cargo run --release -p tests --bin make_trace -- big.tmt 1000000 64          # states, threads
//! $ cargo run --release -p tests --bin make_trace -- links.tmt 1000000 64 20000  # 10 x messages
//! ```
//!
//! Each thread counts its own simulated time. It advances by pseudo-random steps with a fixed seed,
//! so the trace is the same everywhere. States last from 50 ns to milliseconds, and every few
//! thousand states a thread is idle for up to 20 ms. Most states are calls, up to twelve deep, of a
//! thousand functions, some of them rare. Each thread sends a message to the next thread about
//! every 200 µs (or every number of nanoseconds of the fourth argument).

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::cell::Cell;
use std::process::ExitCode;

tracer_rt::events!("src/bin/make_trace.tumit");

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

fn current_nanos() -> u64 {
    NOW.get()
}

/// An xorshift generator. It gives the same numbers everywhere.
struct XorShift(u64);

impl XorShift {
    fn of(seed: u64) -> Self {
        Self(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_add(1).wrapping_mul(0xBF58_476D_1CE4_E5B9))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A duration from 50 ns, mostly short, rarely long. Each power of two up to `max_count` of
    /// them is equally likely.
    fn duration(&mut self, max_count: u64) -> u64 {
        50 + (self.next() & ((1 << (4 + self.below(max_count))) - 1))
    }
}

const PHASES: [Phase; 5] = [Phase::Start, Phase::Compute, Phase::Exchange, Phase::Check, Phase::Write];
const DEEPEST: usize = 12;
/// Nanoseconds between the first records of two successive threads.
const BIRTH: u64 = 1_000;

/// One side of a thread's messages. The sender and the receiver compute the same times and sizes.
struct MessageSchedule {
    sender: u64,
    n: u32,
    random: XorShift,
    is_sender: bool,
    /// Average nanoseconds between messages.
    period: u64,
    /// Timestamp and size in bytes of the next message.
    next: (u64, u32),
}

impl MessageSchedule {
    fn new(sender: u32, threads: u32, is_sender: bool, period: u64) -> Self {
        let random = XorShift::of(!u64::from(sender));
        // The first message is due when the last thread has started.
        let n = (u64::from(threads) * BIRTH / period) as u32;
        let mut messages = Self { sender: sender.into(), n, random, is_sender, period, next: (0, 0) };
        messages.advance();
        messages
    }

    fn advance(&mut self) {
        let (wait, latency) = (self.random.below(self.period / 2), 1_000 + self.random.duration(12));
        let bytes = 8 << self.random.below(16);
        let sent = u64::from(self.n + 1) * self.period + wait + self.sender;
        self.next = (if self.is_sender { sent } else { sent + latency }, bytes);
    }
}

/// A running thread.
struct TraceWorker {
    thread: u32,
    to: u32,
    from: u32,
    out: MessageSchedule,
    into: MessageSchedule,
}

impl TraceWorker {
    fn new(thread: u32, threads: u32, period: u64) -> Self {
        let (to, from) = ((thread + 1) % threads, (thread + threads - 1) % threads);
        Self {
            thread,
            to,
            from,
            out: MessageSchedule::new(thread, threads, true, period),
            into: MessageSchedule::new(from, threads, false, period),
        }
    }

    /// Advances to `date`. Messages that are due before are sent and received.
    fn go_to(&mut self, date: u64) {
        loop {
            let is_out = self.out.next.0 <= self.into.next.0;
            let schedule = if is_out { &mut self.out } else { &mut self.into };
            let (timestamp, bytes) = schedule.next;
            if timestamp > date {
                break;
            }
            NOW.set(NOW.get().max(timestamp));
            if is_out {
                work::send(self.thread, self.to, schedule.n, bytes);
            } else {
                work::receive(self.thread, self.from, schedule.n, bytes);
            }
            schedule.n += 1;
            schedule.advance();
        }
        NOW.set(date);
    }

    /// Runs until it has recorded `states` states.
    fn run(&mut self, states: u64, functions: &[String]) {
        let thread = self.thread;
        let mut random = XorShift::of(thread.into());
        NOW.set(u64::from(thread) * BIRTH + 1);
        calls::born(thread);
        let (mut recorded, mut depth) = (0, 0);
        while recorded < states {
            self.go_to(NOW.get() + random.duration(14));
            match random.below(100) {
                0..45 if depth < DEEPEST => {
                    let max_count = 1 + random.below(functions.len() as u64);
                    calls::enter(thread, functions[random.below(max_count) as usize].as_str());
                    depth += 1;
                    recorded += 1;
                }
                0..80 if depth > 0 => {
                    calls::leave(thread);
                    depth -= 1;
                }
                80..96 => {
                    work::turns(thread, PHASES[random.below(5) as usize]);
                    recorded += 1;
                }
                96..100 => work::load(thread, random.below(1000) as u32),
                _ => {}
            }
            if random.below(4000) == 0 {
                self.go_to(NOW.get() + random.below(20_000_000));
            }
        }
        for _ in 0..depth {
            self.go_to(NOW.get() + 100);
            calls::leave(thread);
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |at: usize, default: u32| arguments.get(at).map_or(Some(default), |text| text.parse().ok());
    let (Some(folder), Some(states), Some(threads @ 1..), Some(period @ 2..)) =
        (arguments.get(1), number(2, 1_000_000), number(3, 64), number(4, 200_000))
    else {
        eprintln!("usage: make_trace FOLDER [STATES [THREADS [NANOSECONDS FROM MESSAGE TO MESSAGE]]]");
        return ExitCode::FAILURE;
    };
    tracer_rt::set_clock(current_nanos, 1_000_000_000);
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(folder.into());
    config.policies = vec![("all".into(), tracer_rt::OverflowPolicy::Block)];
    if let Err(why) = tracer_rt::start(config) {
        eprintln!("make_trace: {why}");
        return ExitCode::FAILURE;
    }
    let functions: Vec<String> = (0..1000).map(|number| format!("function_{number}")).collect();
    let workers = std::thread::available_parallelism().map_or(2, usize::from) as u32;
    for first in (0..threads).step_by(workers as usize) {
        std::thread::scope(|scope| {
            for thread in first..threads.min(first + workers) {
                let functions = &functions;
                let states = states / threads + u32::from(thread < states % threads);
                scope.spawn(move || TraceWorker::new(thread, threads, period.into()).run(states.into(), functions));
            }
        });
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    println!("{folder}: {} records, {} dropped", counts.written, counts.dropped);
    ExitCode::from(u8::from(counts.dropped > 0))
}
