//! The recorded events as functions in the program's own terms, with counts that do not depend on
//! the recorder.
//!
//! Each function counts the entities that `md.tumit` makes of its event, and records the event.
//! Only this module knows both.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use tracer_rt::Date;

use crate::physics::Balance;

pub(crate) use events::{Gate, Kind, Phase};
pub(crate) use tracer_rt::now;

/// One safe function for each event of the spec. Unit tests record nothing.
mod events {
    #[cfg(not(test))]
    tracer_rt::events!("md.tumit");
    #[cfg(test)]
    tracer_rt::events!("md.tumit", off = [APP, COM, SYNC]);
}

use events::{app, com, sync};

/// The location of an action: a node and the number of a thread in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadAddress {
    pub(crate) node: u16,
    pub(crate) thread: u16,
}

/// A mutex or semaphore of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncObject {
    pub(crate) node: u16,
    pub(crate) number: u16,
}

/// A node begins.
pub(crate) fn node_made(node: u16) {
    count(&[(&COUNTS.containers, 1), (&COUNTS.variables, 1)]);
    app::node_made(node);
}

/// A thread begins.
pub(crate) fn thread_made(ThreadAddress { node, thread }: ThreadAddress, role: &str) {
    count(&[(&COUNTS.containers, 1), (&COUNTS.threads, 1)]);
    app::thread_made(node, thread, role);
}

/// A thread ends: it has no more work.
pub(crate) fn thread_ended(ThreadAddress { node, thread }: ThreadAddress) {
    count(&[]);
    app::thread_ended(node, thread);
}

/// A piece of work is done on a processor that was requested at `queued` and acquired at `since`;
/// both are equal if a processor was free.
#[track_caller]
pub(crate) fn record_work(
    ThreadAddress { node, thread }: ThreadAddress,
    phase: Phase,
    queued: Date,
    since: Date,
    units: u64,
) {
    count(&[(&COUNTS.states, 1 + u64::from(queued != since)), (&COUNTS.variables, 2)]);
    app::worked(node, thread, phase, queued, since, units);
}

/// Node 0 orders a step. With `redistribute`, the nodes first exchange atoms.
#[track_caller]
pub(crate) fn record_order(step: u32, redistribute: bool) {
    count(&[(&COUNTS.events, 1)]);
    app::ordered(step, redistribute);
}

/// Node 0 has added up the reports.
pub(crate) fn record_balance(step: u32, balance: &Balance) {
    count(&[(&COUNTS.variables, 2)]);
    app::measured(step, balance.kinetic, balance.potential);
}

/// A message leaves.
#[track_caller]
pub(crate) fn post(ThreadAddress { node, thread }: ThreadAddress, stamp: u64, kind: Kind, bytes: usize) {
    count(&[]);
    com::post(node, thread, stamp, kind, bytes.try_into().unwrap_or(u32::MAX));
}

/// A message was received.
pub(crate) fn record_receipt(ThreadAddress { node, thread }: ThreadAddress, stamp: u64, kind: Kind, since: Date) {
    count(&[(&COUNTS.states, 1), (&COUNTS.links, 1)]);
    com::received(node, thread, stamp, kind, since);
}

/// A mutex is created.
pub(crate) fn mutex_made(SyncObject { node, number }: SyncObject) {
    count(&[(&COUNTS.containers, 1), (&COUNTS.states, 1)]);
    sync::mutex_made(node, number);
}

/// A thread waits for a mutex.
pub(crate) fn mutex_blocks(ThreadAddress { node, thread }: ThreadAddress, object: SyncObject, owner: u16) {
    count(&[(&COUNTS.states, 1)]);
    sync::mutex_blocks(node, thread, object.number, owner);
}

/// A thread owns a mutex.
pub(crate) fn mutex_locked(
    ThreadAddress { node, thread }: ThreadAddress,
    object: SyncObject,
    ticket: u64,
    woken: bool,
) {
    count(&[(&COUNTS.states, 1), (&COUNTS.links, u64::from(woken))]);
    sync::mutex_locked(node, thread, object.number, ticket, woken);
}

/// A thread unlocks a mutex; `ticket` is that of the next owner.
pub(crate) fn mutex_unlocked(
    ThreadAddress { node, thread }: ThreadAddress,
    object: SyncObject,
    ticket: u64,
    wakes: bool,
) {
    count(&[(&COUNTS.states, 1)]);
    sync::mutex_unlocked(node, thread, object.number, ticket, wakes);
}

/// A semaphore is created.
pub(crate) fn semaphore_made(SyncObject { node, number }: SyncObject) {
    count(&[(&COUNTS.containers, 1), (&COUNTS.states, 1)]);
    sync::semaphore_made(node, number);
}

/// A thread waits in P.
pub(crate) fn semaphore_blocks(ThreadAddress { node, thread }: ThreadAddress, object: SyncObject) {
    count(&[(&COUNTS.states, 2)]);
    sync::semaphore_blocks(node, thread, object.number);
}

/// P is done.
pub(crate) fn semaphore_down(
    ThreadAddress { node, thread }: ThreadAddress,
    object: SyncObject,
    ticket: u64,
    woken: bool,
    gate: Gate,
) {
    count(&[(&COUNTS.states, 1), (&COUNTS.links, u64::from(woken))]);
    sync::semaphore_down(node, thread, object.number, ticket, woken, gate);
}

/// V is done.
pub(crate) fn semaphore_up(
    ThreadAddress { node, thread }: ThreadAddress,
    object: SyncObject,
    ticket: u64,
    wakes: bool,
    gate: Gate,
) {
    count(&[(&COUNTS.states, 1)]);
    sync::semaphore_up(node, thread, object.number, ticket, wakes, gate);
}

/// The expected numbers of entities of each kind in the trace. An arrow is counted at its end.
#[derive(Debug)]
pub(crate) struct Counts {
    records: AtomicU64,
    containers: AtomicU64,
    threads: AtomicU64,
    states: AtomicU64,
    links: AtomicU64,
    events: AtomicU64,
    variables: AtomicU64,
}

/// Counts of this run. The program itself is a container too.
static COUNTS: Counts = Counts {
    records: AtomicU64::new(0),
    containers: AtomicU64::new(1),
    threads: AtomicU64::new(0),
    states: AtomicU64::new(0),
    links: AtomicU64::new(0),
    events: AtomicU64::new(0),
    variables: AtomicU64::new(0),
};

/// Counts a record and the entities that it makes.
fn count(shows: &[(&AtomicU64, u64)]) {
    COUNTS.records.fetch_add(1, Ordering::Relaxed);
    for (counter, number) in shows {
        counter.fetch_add(*number, Ordering::Relaxed);
    }
}

/// The counts so far.
pub(crate) fn counts() -> &'static Counts {
    &COUNTS
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        write!(
            f,
            "containers={} threads={} states={} links={} events={} variables={} records={}",
            get(&self.containers),
            get(&self.threads),
            get(&self.states),
            get(&self.links),
            get(&self.events),
            get(&self.variables),
            get(&self.records)
        )
    }
}
