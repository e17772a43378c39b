//! The simulated machine of a working node: one or several processors of a given speed.
//!
//! All nodes of the demonstration share the cores of one computer, perhaps only two. Their real
//! computing times would show the scheduler of that computer, not the placement of the atoms.
//! So each node has processors of its own, and its threads queue for them in order of arrival. Each
//! piece of work lasts as long as on such a processor: the real computation comes first (it needs a
//! fraction of the time), then the thread sleeps until the time for the number of work units has
//! passed. If this computer lets a piece sleep too long, the next ones are shortened.
//! Waits, messages, locks and their order are real; durations of work are paced.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracer_rt::Date;

use crate::trace::{self, Phase, ThreadAddress};

/// The costs of work per item, in units. A unit is the test of one pair's distance.
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

/// A thread releases its processor after this many units, as under a time slice.
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
    /// Tickets issued, and tickets returned: a ticket may run when fewer than `processors` earlier
    /// ones are out.
    tickets: u64,
    back: u64,
    free: Vec<Processor>,
    started: Instant,
    /// The time since which no thread has or wants a processor, and the sum of earlier such
    /// durations.
    idle_since: Instant,
    idle: Duration,
    /// Pieces of work, and the longest delay at the end of one.
    pieces: u64,
    delay: Duration,
}

/// A processor that no thread has.
#[derive(Clone, Copy, Debug)]
struct Processor {
    /// The planned end of its last piece of work. The next one begins at that time, even if it has
    /// passed because this computer was late.
    until: Instant,
    /// The time at which the last thread released it.
    back: Date,
}

/// The usage of a node's processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// The share of time during which no thread of the node had work.
    pub(crate) idle: f64,
    /// Pieces of work done.
    pub(crate) pieces: u64,
    /// The longest delay of the end of a piece after its planned end.
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

    /// Does a piece of work on a processor of this node: waits for a processor, computes, and stays
    /// until the time for the units that `work` returns has passed.
    ///
    /// `work` must not wait for another thread, because that may need the processor.
    /// Never wait for another thread inside: it may need the processor.
    #[track_caller]
    pub(crate) fn run<T>(&self, place: ThreadAddress, phase: Phase, work: impl FnOnce() -> (T, u64)) -> T {
        let queued = trace::now();
        let (begins, since) = self.take_processor(queued);
        let (result, units) = work();
        let ends = begins + self.unit.saturating_mul(units.try_into().unwrap_or(u32::MAX));
        std::thread::sleep(ends.saturating_duration_since(Instant::now()));
        trace::record_work(place, phase, queued, since, units);
        self.give_processor_back(ends);
        result
    }

    /// Waits for a processor. Returns the begin of the work, and the timestamp since which the
    /// thread has the processor: that of the request if one was free, otherwise that of its release
    /// by another thread.
    fn take_processor(&self, requested: Date) -> (Instant, Date) {
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
            queue.free.swap_remove(longest_free.expect("the queue admits at most one thread per processor"));
        queue.pieces += 1;
        (processor.until.max(now), processor.back.max(requested))
    }

    fn give_processor_back(&self, ends: Instant) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        // Without pacing there is no planned end.
        let until = if self.unit.is_zero() { now } else { ends };
        queue.free.push(Processor { until, back: trace::now() });
        queue.back += 1;
        queue.delay = queue.delay.max(now - until);
        if queue.tickets == queue.back {
            queue.idle_since = now;
        }
        self.released.notify_all();
    }

    /// The usage so far.
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
                        machine.run(ThreadAddress { node: 1, thread }, Phase::Integrate, || {
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
        machine.run(ThreadAddress { node: 1, thread: 0 }, Phase::Integrate, || ((), 500));
        assert!(started.elapsed() >= Duration::from_millis(5));
    }
}
