//! The tasks of a child process: `child TOOL TASK …`. The C programs (`c/loop.h`) have the same
//! tasks with the same names.
//!
//! - `pair ROUNDS BURST`, `span ROUNDS BURST`: prints `ns N`, the minimum time per event of all
//!   bursts, without the loop.
//! - `regular EVENTS`, `irregular EVENTS`: records this number of events and exits normally.
//! - `instructions EVENTS`: records this number of events and exits without handlers.
//! - `kill WITNESS`: records 100,000 events per second until it is killed.
//! - `paced RATE MILLIS`: records RATE events per second of CPU time, or without pauses if RATE is
//!   0. It stops after MILLIS of the thread's CPU time, prints `calls N` and the wall time as
//!   `seconds S`, and exits normally.
//!
//! `child busy` keeps a processor busy until its parent kills it.

use std::hint::black_box;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tracer_rt::SlotLocation;

use crate::recorder::{Recorder, WitnessCounters};
use crate::recorders::{Chrome, Fastrace, Limit, Puffin, Tracy, Tumit};

/// Events of `paced` between two readings of the thread's CPU time.
const PACED_BURST: u64 = 1000;

pub fn run(tool: &str, words: &[String]) {
    // The tool writes its file into the working folder of the child.
    match tool {
        "limit" => perform(Limit, words),
        "mapped" => perform(Tumit::new("run.tmt", SlotLocation::Mapped), words),
        "private" => perform(Tumit::new("run.tmt", SlotLocation::Private), words),
        "tracy" => perform(Tracy::new(), words),
        "fastrace" => {
            let witness = (words[0] == "kill").then(|| WitnessCounters::open(&words[1]));
            perform(Fastrace::new(witness), words);
        }
        "puffin" => perform(Puffin::new("run.puffin"), words),
        "chrome" => perform(Chrome::new("run.json"), words),
        "busy" => busy(),
        other => panic!("no tool `{other}`"),
    }
}

fn perform(mut recorder: impl Recorder, words: &[String]) {
    let number = |index: usize| words[index].parse::<u64>().expect("a number");
    match words[0].as_str() {
        "pair" => println!("ns {}", least(&mut recorder, number(1), number(2), |recorder, n| recorder.pair(n, n & 15))),
        "span" => println!("ns {}", least(&mut recorder, number(1), number(2), |recorder, _| recorder.span())),
        "regular" => count(&mut recorder, number(1), |n, _| (n, n & 15)),
        "irregular" => count(&mut recorder, number(1), |_, random| (random, random >> 32)),
        "instructions" => {
            (0..number(1)).for_each(|n| recorder.pair(black_box(n), n & 15));
            // SAFETY: the call ends the process without handlers, so that pending writes cost
            // nothing.
            unsafe { libc::_exit(0) };
        }
        "kill" => until_killed(&mut recorder, &WitnessCounters::open(&words[1])),
        "paced" => paced(&mut recorder, number(1), number(2)),
        other => panic!("no task `{other}`"),
    }
}

#[inline(always)]
fn least<R: Recorder>(recorder: &mut R, rounds: u64, burst: u64, event: impl Fn(&mut R, u64)) -> f64 {
    let (mut best_empty, mut best) = (f64::INFINITY, f64::INFINITY);
    let nanos_per_event = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / burst as f64;
    for _ in 0..rounds {
        let start = Instant::now();
        (0..burst).for_each(|n| _ = black_box(n));
        best_empty = best_empty.min(nanos_per_event(start));
        let start = Instant::now();
        (0..burst).for_each(|n| event(recorder, black_box(n)));
        best = best.min(nanos_per_event(start));
        recorder.flush();
        std::thread::sleep(Duration::from_millis(20));
    }
    best - best_empty
}

fn count(recorder: &mut impl Recorder, events: u64, values: impl Fn(u64, u64) -> (u64, u64)) {
    let mut random = 88_172_645_463_325_252u64;
    for n in 0..events {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (first, second) = values(n, random);
        recorder.pair(first, second);
        if n % 20_000 == 19_999 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    recorder.end();
}

fn until_killed(recorder: &mut impl Recorder, witness: &WitnessCounters) {
    let (start, mut n) = (Instant::now(), 0u64);
    loop {
        while start.elapsed() < Duration::from_micros(10 * n) {}
        recorder.pair(n, n & 15);
        n += 1;
        witness.0[0].store(n, Ordering::Release);
    }
}

/// Records at a rate of the thread's CPU time. By wall time, a thread on a busy machine would
/// record less.
fn paced(recorder: &mut impl Recorder, rate: u64, millis: u64) {
    let (begin, start, limit) = (Instant::now(), thread_cpu_nanos(), millis * 1_000_000);
    let mut calls = 0u64;
    loop {
        (calls..calls + PACED_BURST).for_each(|n| recorder.pair(black_box(n), n & 15));
        calls += PACED_BURST;
        let scheduled = (calls * 1_000_000_000).checked_div(rate).unwrap_or(0);
        let mut used = thread_cpu_nanos() - start;
        while used < scheduled {
            used = thread_cpu_nanos() - start;
        }
        if used >= limit {
            break;
        }
    }
    println!("calls {calls}\nseconds {}", begin.elapsed().as_secs_f64());
    recorder.end();
}

fn thread_cpu_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a local of the right type.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A loop that keeps a processor busy. The kernel ends it with the parent, which may panic.
fn busy() -> ! {
    // SAFETY: the call changes nothing in memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let mut turns = 0u64;
    loop {
        turns = black_box(turns.wrapping_add(1));
    }
}
