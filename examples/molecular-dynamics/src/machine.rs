//! The machine that a working node pretends to be: a processor or a few, of a given speed.
//!
//! All nodes of the demonstration share the cores of one computer, perhaps only two. Their real computing times would show
//! the scheduler of that computer, not the placement of the atoms. So each node has processors of its own, for which its
//! threads queue in order of arrival, and each piece of work lasts as long as it would there: the real computation is
//! done first (it needs a fraction of the time), then the thread sleeps until the piece's number of work units has
//! passed. A piece that this computer let sleep too long is made up for by the next ones. Waits, messages, locks and
//! their order are real; durations of work are paced.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracer_rt::Date;

use crate::trace::{self, Phase, Place};

/// What a piece of work costs per item, in units. A unit is the test of one pair's distance.
pub(crate) mod cost {
    /// An atom moved by half a time step.
    pub(crate) const MOVE: u64 = 8;
    /// An atom's force added to the node's.
    pub(crate) const ADD: u64 = 1;
    /// An atom's coordinates packed into a message.
    pub(crate) const PACK: u64 = 4;
    /// An atom sorted into its cell.
    pub(crate) const SORT: u64 = 8;
}

/// A thread gives its processor back after this many units, as under a time slice.
pub(crate) const SLICE: u64 = 30_000;

/// The processors of one node.
#[derive(Debug)]
pub(crate) struct Machine {
    processors: u64,
    /// Wall time of one unit; zero switches pacing off.
    unit: Duration,
    queue: Mutex<Queue>,
    released: Condvar,
}

#[derive(Debug)]
struct Queue {
    /// Tickets given out, and tickets given back: a ticket may run when fewer than `processors` before it are out.
    tickets: u64,
    back: u64,
    free: Vec<Processor>,
    started: Instant,
    /// Since when no thread has or wants a processor, and how long that was so before.
    idle_since: Instant,
    idle: Duration,
    /// Pieces of work, and the longest delay at the end of one.
    pieces: u64,
    delay: Duration,
}

/// A processor that no thread has.
#[derive(Clone, Copy, Debug)]
struct Processor {
    /// When its last piece of work was to end. The next one may begin then, even if that was some time ago because this
    /// computer was late.
    until: Instant,
    /// When it was given back.
    back: Date,
}

/// How a node's processors were used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// Part of the time during which no thread of the node had work.
    pub(crate) idle: f64,
    /// Pieces of work done.
    pub(crate) pieces: u64,
    /// The longest delay of the end of a piece behind when it was to end.
    pub(crate) delay: Duration,
}

impl Machine {
    /// A machine of this many processors; a unit of work lasts `unit`.
    pub(crate) fn new(processors: u32, unit: Duration) -> Self {
        let now = Instant::now();
        let queue = Queue {
            tickets: 0,
            back: 0,
            free: vec![Processor { until: now, back: trace::now() }; processors as usize],
            started: now,
            idle_since: now,
            idle: Duration::ZERO,
            pieces: 0,
            delay: Duration::ZERO,
        };
        Self { processors: processors.into(), unit, queue: Mutex::new(queue), released: Condvar::new() }
    }

    /// Does a piece of work on a processor of this node: waits for one, computes, and stays until the units that `work`
    /// returns have passed.
    ///
    /// Never wait for another thread inside: it may need the processor.
    #[track_caller]
    pub(crate) fn run<T>(&self, place: Place, phase: Phase, work: impl FnOnce() -> (T, u64)) -> T {
        let queued = trace::now();
        let (begins, since) = self.take_processor(queued);
        let (result, units) = work();
        let ends = begins + self.unit.saturating_mul(units.try_into().unwrap_or(u32::MAX));
        std::thread::sleep(ends.saturating_duration_since(Instant::now()));
        trace::worked(place, phase, queued, since, units);
        self.give_processor_back(ends);
        result
    }

    /// Waits for a processor. Returns when work begins there, and since when the thread has it: since it asked, if one was
    /// free, else since another thread gave it back.
    fn take_processor(&self, asked: Date) -> (Instant, Date) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let ticket = queue.tickets;
        if ticket == queue.back {
            let idle = now - queue.idle_since;
            queue.idle += idle;
        }
        queue.tickets += 1;
        let mut queue = self
            .released
            .wait_while(queue, |queue| ticket >= queue.back + self.processors)
            .unwrap_or_else(PoisonError::into_inner);
        let longest_free = (0..queue.free.len()).min_by_key(|&at| queue.free[at].until);
        let processor =
            queue.free.swap_remove(longest_free.expect("the queue lets in no more threads than processors"));
        queue.pieces += 1;
        (processor.until.max(now), processor.back.max(asked))
    }

    fn give_processor_back(&self, ends: Instant) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        // Without pacing there is no time to keep to.
        let until = if self.unit.is_zero() { now } else { ends };
        queue.free.push(Processor { until, back: trace::now() });
        queue.back += 1;
        queue.delay = queue.delay.max(now - until);
        if queue.tickets == queue.back {
            queue.idle_since = now;
        }
        self.released.notify_all();
    }

    /// How it was used so far.
    pub(crate) fn usage(&self) -> Usage {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let pending = if queue.tickets == queue.back { queue.idle_since.elapsed() } else { Duration::ZERO };
        let idle = (queue.idle + pending).as_secs_f64() / queue.started.elapsed().as_secs_f64();
        Usage { idle, pieces: queue.pieces, delay: queue.delay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn no_more_threads_work_than_there_are_processors() {
        let machine = Machine::new(2, Duration::from_nanos(1));
        let working = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..6 {
                let (machine, working) = (&machine, &working);
                scope.spawn(move || {
                    for _ in 0..20 {
                        machine.run(Place { node: 1, thread }, Phase::Integrate, || {
                            assert!(working.fetch_add(1, Ordering::SeqCst) < 2);
                            std::thread::yield_now();
                            working.fetch_sub(1, Ordering::SeqCst);
                            ((), 1000)
                        });
                    }
                });
            }
        });
        assert_eq!(machine.usage().pieces, 120);
    }

    #[test]
    fn work_lasts_as_long_as_its_units() {
        let machine = Machine::new(1, Duration::from_micros(10));
        let started = Instant::now();
        machine.run(Place { node: 1, thread: 0 }, Phase::Integrate, || ((), 500));
        assert!(started.elapsed() >= Duration::from_millis(5));
    }
}
