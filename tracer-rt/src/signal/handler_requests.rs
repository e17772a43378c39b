//! Requests deferred from signal handlers that interrupted the recorder.
//! The writer thread executes them within 0.1 s.
//!
//! A request takes no lock and allocates no memory.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

pub(crate) const FLUSH: u32 = 1;
pub(crate) const DUMP: u32 = 2;
pub(crate) const PAUSE: u32 = 4;
pub(crate) const RESUME: u32 = 8;

static REQUESTS: AtomicU32 = AtomicU32::new(0);

/// Adds a request for the writer thread.
pub(crate) fn request(request: u32) {
    let opposite_request = if request == PAUSE { RESUME } else { PAUSE };
    if request >= PAUSE {
        REQUESTS.fetch_and(!opposite_request, Ordering::Relaxed);
    }
    REQUESTS.fetch_or(request, Ordering::Release);
}

/// Requested switches of levels, for at most eight names. The last request for a name applies.
static SWITCHES: [DeferredSwitch; 8] = [const { DeferredSwitch::new() }; 8];
/// Number of the next request, which gives the order of the requests.
static TICKET: AtomicU64 = AtomicU64::new(0);
const NAME_BYTES: usize = 64;

/// Phases of a switch.
/// No thread touches a switch in work, because its owner might be the interrupted thread.
const FREE: u32 = 0;
const IN_WORK: u32 = 1;
const WAITS: u32 = 2;

struct DeferredSwitch {
    phase: AtomicU32,
    is_on: AtomicBool,
    length: AtomicU32,
    ticket: AtomicU64,
    name: [AtomicU8; NAME_BYTES],
}

impl DeferredSwitch {
    const fn new() -> Self {
        Self {
            phase: AtomicU32::new(FREE),
            is_on: AtomicBool::new(false),
            length: AtomicU32::new(0),
            ticket: AtomicU64::new(0),
            name: [const { AtomicU8::new(0) }; NAME_BYTES],
        }
    }

    /// Takes the switch if it is in the phase `from`.
    fn take_in_phase(&self, from: u32) -> bool {
        self.phase.compare_exchange(from, IN_WORK, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn set(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
        self.ticket.store(TICKET.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        self.phase.store(WAITS, Ordering::Release);
    }

    fn name(&self) -> impl Iterator<Item = u8> + '_ {
        self.name[..self.length.load(Ordering::Relaxed) as usize].iter().map(|byte| byte.load(Ordering::Relaxed))
    }
}

/// Requests a switch of a level. Returns false if the name is too long or too many switches wait.
pub(crate) fn request_level(name: &str, is_on: bool) -> bool {
    if name.len() > NAME_BYTES {
        return false;
    }
    for switch in SWITCHES.iter().filter(|switch| switch.take_in_phase(WAITS)) {
        if switch.name().eq(name.bytes()) {
            switch.set(is_on);
            return true;
        }
        switch.phase.store(WAITS, Ordering::Release);
    }
    let Some(switch) = SWITCHES.iter().find(|switch| switch.take_in_phase(FREE)) else { return false };
    for (to, byte) in switch.name.iter().zip(name.bytes()) {
        to.store(byte, Ordering::Relaxed);
    }
    switch.length.store(name.len() as u32, Ordering::Relaxed);
    switch.set(is_on);
    true
}

/// Takes the waiting switches, in the order of their requests.
pub(crate) fn take_switches() -> Vec<(String, bool)> {
    let mut switches: Vec<(u64, String, bool)> = Vec::new();
    for switch in SWITCHES.iter().filter(|switch| switch.take_in_phase(WAITS)) {
        let name = String::from_utf8_lossy(&switch.name().collect::<Vec<u8>>()).into_owned();
        switches.push((switch.ticket.load(Ordering::Relaxed), name, switch.is_on.load(Ordering::Relaxed)));
        switch.phase.store(FREE, Ordering::Release);
    }
    switches.sort_unstable();
    switches.into_iter().map(|(_, name, on)| (name, on)).collect()
}

/// Takes the waiting requests, as bits.
pub(crate) fn take_requests() -> u32 {
    if REQUESTS.load(Ordering::Relaxed) == 0 { 0 } else { REQUESTS.swap(0, Ordering::Acquire) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::CURSOR;

    #[test]
    fn requests_of_handlers_are_deferred_to_the_writer_thread() {
        // As in a handler that interrupted a record.
        CURSOR.with(|cursor| {
            let previous_state = cursor.begin_work();
            crate::flush();
            crate::dump();
            crate::pause();
            crate::resume();
            for turn in 0..20 {
                crate::set_level("later.APP", turn % 2 == 0);
                crate::set_level("later.NET", turn % 2 == 1);
            }
            assert!(!request_level(&"x".repeat(65), true), "longer than any level");
            assert_eq!((0..20).filter(|n| request_level(&format!("later.L{n}"), true)).count(), 6, "eight names wait");
            cursor.end_work(previous_state);
        });
        assert_eq!(REQUESTS.load(Ordering::Relaxed), FLUSH | DUMP | RESUME, "the last word counts");
        let waiting = |name: &str| SWITCHES.iter().find(|switch| switch.name().eq(name.bytes())).unwrap();
        assert!(
            !waiting("later.APP").is_on.load(Ordering::Relaxed) && waiting("later.NET").is_on.load(Ordering::Relaxed)
        );
        crate::writer::thread::serve_deferred();
        assert_eq!(REQUESTS.load(Ordering::Relaxed), 0);
        assert!(SWITCHES.iter().all(|switch| switch.phase.load(Ordering::Relaxed) == FREE));
        crate::flush();
        assert_eq!(REQUESTS.load(Ordering::Relaxed), 0, "outside of handlers it is done at once");
    }
}
