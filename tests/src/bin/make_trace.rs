//! Generates the trace for measurements of the tools with the real recorder: irregular, of any
//! length. `--help` prints the usage.
//!
//! Each thread counts its own simulated time. It advances by pseudo-random steps with a fixed seed,
//! so the trace is the same everywhere. States last from 50 ns to milliseconds, and every few
//! thousand states a thread is idle for up to 20 ms. Most states are calls, up to twelve deep, of a
//! thousand functions, some of them rare. Each thread sends a message to the next thread about
//! every 200 µs, or every PERIOD nanoseconds.
//!
//! With `--processes`, the program starts itself once for each process, and each process records
//! its share of the threads. All of them read one clock.

#![expect(clippy::print_stdout, reason = "a command prints its result")]

use std::cell::Cell;
use std::ops::Range;
use std::process::{Command, ExitCode, Stdio};

use tumit_test_support::xorshift::XorshiftGenerator;

tracer_rt::events!("src/bin/make_trace.tumit");

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// The clock's value at the start. Each thread counts from here, so values of the clock decrease
/// from one thread to another. The recorder takes a decrease of smaller values for the wrap of a
/// 32-bit counter.
const CLOCK_START: u64 = 1 << 32;

fn current_nanos() -> u64 {
    CLOCK_START + NOW.get()
}

fn random_generator(seed: u64) -> XorshiftGenerator {
    XorshiftGenerator(0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_add(1).wrapping_mul(0xBF58_476D_1CE4_E5B9))
}

/// A duration from 50 ns, mostly short, rarely long. Each power of two up to `max_count` of them is
/// equally likely.
fn random_duration(random: &mut XorshiftGenerator, max_count: u64) -> u64 {
    50 + (random.bits() & ((1 << (4 + random.below(max_count))) - 1))
}

const PHASES: [Phase; 5] = [Phase::Start, Phase::Compute, Phase::Exchange, Phase::Check, Phase::Write];
const DEEPEST: usize = 12;
/// States of a thread after which it waits until all records are written. The writer thread stores
/// blocks without packing when it is far behind, so the size of a run would depend on the load of
/// the machine.
const FLUSH_PERIOD: u64 = 50_000;
/// Nanoseconds between the first records of two successive threads.
const BIRTH: u64 = 1_000;

/// One side of a thread's messages. The sender and the receiver compute the same times and sizes.
struct MessageSchedule {
    sender: u64,
    n: u32,
    random: XorshiftGenerator,
    is_sender: bool,
    /// Average nanoseconds between messages.
    period: u64,
    /// Timestamp and size in bytes of the next message.
    next: (u64, u32),
}

impl MessageSchedule {
    fn new(sender: u32, threads: u32, is_sender: bool, period: u64) -> Self {
        let random = random_generator(!u64::from(sender));
        // The first message is due when the last thread has started.
        let n = (u64::from(threads) * BIRTH / period) as u32;
        let mut messages = Self { sender: sender.into(), n, random, is_sender, period, next: (0, 0) };
        messages.advance();
        messages
    }

    fn advance(&mut self) {
        let (wait, latency) = (self.random.below(self.period / 2), 1_000 + random_duration(&mut self.random, 12));
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

    /// Advances to `now`. Messages that are due before are sent and received.
    fn go_to(&mut self, now: u64) {
        loop {
            let is_out = self.out.next.0 <= self.into.next.0;
            let schedule = if is_out { &mut self.out } else { &mut self.into };
            let (timestamp, bytes) = schedule.next;
            if timestamp > now {
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
        NOW.set(now);
    }

    /// Runs until it has recorded `states` states.
    fn run(&mut self, states: u64, functions: &[String]) {
        let thread = self.thread;
        let mut random = random_generator(thread.into());
        NOW.set(u64::from(thread) * BIRTH + 1);
        calls::born(thread);
        let (mut recorded, mut flushed, mut depth) = (0, 0, 0);
        while recorded < states {
            if recorded - flushed >= FLUSH_PERIOD {
                flushed = recorded;
                tracer_rt::flush();
            }
            self.go_to(NOW.get() + random_duration(&mut random, 14));
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

const HELP: &str = "\
Generates a trace for measurements, the same on every machine.

usage: make_trace [--processes N] FOLDER [STATES [THREADS [PERIOD]]]

  FOLDER         the run folder, such as big.tmt
  STATES         states of all threads together: 1000000 by default, half as many as records
  THREADS        threads of all processes together: 64 by default
  PERIOD         nanoseconds from message to message of a thread: 200000 by default
  --processes N  divides the threads among N processes, each with a file of its own: 1 by default
  --process I    records only the threads of process I, from 0; used with --processes

examples:
  make_trace big.tmt 10000000 64
  make_trace links.tmt 1000000 64 20000                    # ten times as many messages
  make_trace --processes 1000 many.tmt 3000000 1000        # 1,000 processes of one thread
";

/// The arguments of the command.
struct TraceArguments {
    folder: String,
    states: u32,
    threads: u32,
    period: u32,
    processes: u32,
    /// The process that this program records. Without it, the program starts all of them.
    process: Option<u32>,
}

impl TraceArguments {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut options, mut operands, mut words) = ([None; 2], Vec::new(), words);
        while let Some(word) = words.next() {
            let option = match word.as_str() {
                "--processes" => &mut options[0],
                "--process" => &mut options[1],
                _ if word.starts_with('-') => return Err(format!("there is no option `{word}`")),
                _ => {
                    operands.push(word);
                    continue;
                }
            };
            *option = Some(number(&word, &words.next().unwrap_or_default(), 0)?);
        }
        if operands.len() > 4 {
            return Err(format!("`{}` is one argument too many", operands[4]));
        }
        let operand = |index: usize, name: &str, default: u32, least: u32| {
            operands.get(index).map_or(Ok(default), |text| number(name, text, least))
        };
        let threads = operand(2, "THREADS", 64, 1)?;
        let processes = options[0].unwrap_or(1);
        if !(1..=threads).contains(&processes) {
            return Err(format!("--processes is from 1 to the number of threads, {threads}"));
        }
        if options[1].is_some_and(|process| process >= processes) {
            return Err(format!("--process is below --processes, {processes}"));
        }
        Ok(Self {
            states: operand(1, "STATES", 1_000_000, 0)?,
            period: operand(3, "PERIOD", 200_000, 2)?,
            process: options[1].or((processes == 1).then_some(0)),
            folder: operands.into_iter().next().ok_or("the run folder is missing")?,
            threads,
            processes,
        })
    }

    fn threads_of(&self, process: u32) -> Range<u32> {
        let first = |process: u32| (u64::from(process) * u64::from(self.threads) / u64::from(self.processes)) as u32;
        first(process)..first(process + 1)
    }
}

fn number(name: &str, text: &str, least: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| *number >= least);
    number.ok_or_else(|| format!("{name} is a whole number from {least}, not `{text}`"))
}

fn worker_count() -> u32 {
    std::thread::available_parallelism().map_or(2, usize::from) as u32
}

/// Records the threads of one process. Returns the number of written and of dropped records.
fn record(arguments: &TraceArguments, process: u32) -> Result<(u64, u64), String> {
    let &TraceArguments { states, threads, period, processes, .. } = arguments;
    tracer_rt::set_clock(current_nanos, 1_000_000_000);
    let mut config = tracer_rt::RecorderConfig::default();
    config.folder = Some(arguments.folder.clone().into());
    config.policies = vec![("all".into(), tracer_rt::OverflowPolicy::Block)];
    config.clock_domain = (processes > 1).then(|| "make_trace".to_owned());
    tracer_rt::start(config).map_err(|why| why.to_string())?;
    let functions: Vec<String> = (0..1000).map(|number| format!("function_{number}")).collect();
    let Range { start, end } = arguments.threads_of(process);
    let workers = worker_count();
    for first in (start..end).step_by(workers as usize) {
        std::thread::scope(|scope| {
            for thread in first..end.min(first + workers) {
                let functions = &functions;
                let states = states / threads + u32::from(thread < states % threads);
                scope.spawn(move || TraceWorker::new(thread, threads, period.into()).run(states.into(), functions));
            }
        });
    }
    tracer_rt::finish();
    let counts = tracer_rt::counts();
    Ok((counts.written, counts.dropped))
}

/// Starts all processes, a few at a time. Returns the number of written and of dropped records.
fn record_all(arguments: &TraceArguments, words: &[String]) -> Result<(u64, u64), String> {
    let program = std::env::current_exe().map_err(|why| why.to_string())?;
    let (mut written, mut dropped) = (0, 0);
    let processes: Vec<u32> = (0..arguments.processes).collect();
    for some in processes.chunks(worker_count() as usize) {
        let start = |process: &u32| {
            Command::new(&program).args(words).args(["--process", &process.to_string()]).stdout(Stdio::piped()).spawn()
        };
        let children: Vec<_> = some.iter().map(start).collect();
        for (process, child) in some.iter().zip(children) {
            let output = child.and_then(std::process::Child::wait_with_output).map_err(|why| why.to_string())?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let line = text.rsplit(": ").next().unwrap_or_default();
            let mut counts = line.split_whitespace().filter_map(|word| word.parse::<u64>().ok());
            let (Some(of_written), Some(of_dropped)) = (counts.next(), counts.next()) else {
                return Err(format!("process {process} ended with {}", output.status));
            };
            (written, dropped) = (written + of_written, dropped + of_dropped);
        }
    }
    Ok((written, dropped))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let outcome = TraceArguments::parse(words.iter().cloned()).and_then(|arguments| {
        let counts = match arguments.process {
            Some(process) => record(&arguments, process),
            None => record_all(&arguments, &words),
        };
        counts.map(|counts| (arguments, counts))
    });
    match outcome {
        Ok((TraceArguments { folder, .. }, (written, dropped))) => {
            println!("{folder}: {written} records, {dropped} dropped");
            ExitCode::from(u8::from(dropped > 0))
        }
        Err(why) => {
            eprintln!("make_trace: {why}; `make_trace --help` prints the usage");
            ExitCode::FAILURE
        }
    }
}
