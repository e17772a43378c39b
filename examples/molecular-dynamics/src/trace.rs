//! What is recorded, as functions in the program's own words, and a count of it that owes nothing to the recorder.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Who does something: a node and the number of a thread in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: u16,
    pub(crate) thread: u16,
}

/// A mutex or semaphore of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SyncObject {
    pub(crate) node: u16,
    pub(crate) number: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Integrate,
    LocalForces,
    InternodeForces,
    Accumulate,
    Pack,
    Sort,
    Collect,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Order,
    Report,
    Work,
    Coordinates,
    Forces,
    Atoms,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Blocked,
    Closed,
    Open,
}

#[derive(Clone, Copy)]
pub(crate) struct Date;
pub(crate) fn now() -> Date {
    Date
}
pub(crate) fn begin(_: Place, _: Phase) {}
pub(crate) fn finish(_: Place, _: Phase, _: u64) {}
pub(crate) fn queued(_: Place, _: Date) {}
pub(crate) fn mutex_made(_: SyncObject) {}
pub(crate) fn mutex_blocks(_: Place, _: SyncObject, _: u16) {}
pub(crate) fn mutex_locked(_: Place, _: SyncObject, _: u64, _: bool) {}
pub(crate) fn mutex_unlocked(_: Place, _: SyncObject, _: u64, _: bool) {}
pub(crate) fn semaphore_made(_: SyncObject) {}
pub(crate) fn semaphore_blocks(_: Place, _: SyncObject) {}
pub(crate) fn semaphore_down(_: Place, _: SyncObject, _: u64, _: bool, _: Gate) {}
pub(crate) fn semaphore_up(_: Place, _: SyncObject, _: u64, _: bool, _: Gate) {}
pub(crate) fn post(_: Place, _: u64, _: Kind, _: usize) {}
pub(crate) fn received(_: Place, _: u64, _: Kind, _: usize, _: Date) {}
pub(crate) fn node_made(_: u16) {}
pub(crate) fn thread_made(_: Place, _: &str) {}
pub(crate) fn thread_ended(_: Place) {}
pub(crate) fn ordered(_: u32, _: crate::message::Order) {}
pub(crate) fn measured(_: u32, _: &crate::physics::Balance) {}
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts;
impl Counts {
    pub(crate) fn now() -> Self {
        Self
    }
}
impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "todo")
    }
}
