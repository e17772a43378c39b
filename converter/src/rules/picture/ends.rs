//! Ends of threads and processes: the containers that belong to them end with them, and with these their open states.
//!
//! The timestamps are known from the tables of the files, so that an end is no record: it is done before the first operation after it.
//! A process ends at its orderly end, or if it has recorded none, with the last record of its threads.

use std::cmp::Reverse;
use std::io;

use rustc_hash::FxHashMap;

use super::super::referents::{BY_KEYS, NO_PROCESS};
use super::super::value::KeyPart;
use super::Picture;
use crate::paje::ContainerId;
use crate::plan::Plan;
use crate::time::GlobalNanos;

/// A container, as long as its number is still that of this id.
type Place = (usize, ContainerId);

/// When threads and processes end, and the containers that end with them.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// The last one first.
    due: Vec<End>,
    /// When the next one is due; later than all timestamps if there is none.
    pub(super) next: i64,
    /// The last end of all.
    last: i64,
    has_threads: bool,
    of_process: FxHashMap<u32, Vec<Place>>,
    of_thread: FxHashMap<(u32, u32), Vec<Place>>,
}

/// The end of a process, or of one of its threads. Of equal timestamps, threads end before processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    time: i64,
    is_process: bool,
    process: u32,
    thread: u32,
}

impl Ends {
    /// Those of a run. O(n log n) in the number of its streams that have an end.
    pub(super) fn of(plan: &Plan<'_>) -> Self {
        let mut due: Vec<End> = Vec::new();
        let mut threads: FxHashMap<(u32, u32), (i64, bool)> = FxHashMap::default();
        let has_threads = (0..plan.streams.len()).any(|stream| plan.source(stream).1.end.is_some());
        for (at, facts) in plan.streams.iter().enumerate() {
            let (process, stream) = plan.source(at);
            let Some(block) = stream.blocks.last() else { continue };
            let (records, fine) = (stream.records(), &plan.fines[at]);
            let raw = plan.date(at, block.header.last_ticks);
            let last = fine.date(raw, records.saturating_sub(1));
            let end_of = |ticks: u64| fine.date(plan.date(at, ticks).max(raw), records).max(last);
            let number = u32::try_from(facts.process).unwrap_or(NO_PROCESS);
            let of_process = process.end.map_or(last, |end| end_of(end.0));
            match due.last_mut().filter(|end| end.process == number) {
                Some(end) => end.time = end.time.max(of_process),
                None => due.push(End { time: of_process, is_process: true, process: number, thread: 0 }),
            }
            if has_threads {
                let end = stream.end.map(|end| end_of(end.0));
                let thread = threads.entry((number, facts.thread)).or_default();
                *thread = (thread.0.max(end.unwrap_or(last)), thread.1 || end.is_some());
            }
        }
        let ended = threads.into_iter().filter(|(_, (_, has_end))| *has_end);
        due.extend(ended.map(|((process, thread), (time, _))| End { time, is_process: false, process, thread }));
        due.sort_unstable_by_key(|end| Reverse(*end));
        let last = due.first().map_or(0, |end| end.time);
        let next = due.last().map_or(i64::MAX, |end| end.time);
        Self { due, next, last, has_threads, ..Self::default() }
    }

    /// Notes a container that was created; `is_stream` says that it shows what a thread does, `is_outer` that what holds it belongs to
    /// no process.
    pub(super) fn note(&mut self, of: KeyPart, (is_stream, is_outer): (bool, bool), place: Place) {
        let KeyPart::Of { process, thread } = of else { return };
        if process == NO_PROCESS {
            return;
        }
        if is_outer {
            self.of_process.entry(process).or_default().push(place);
        }
        if is_stream && self.has_threads && thread != 0 && thread != BY_KEYS {
            self.of_thread.entry((process, thread - 1)).or_default().push(place);
        }
    }

    fn take(&mut self, before: i64) -> Option<(i64, Vec<Place>)> {
        let end = self.due.pop_if(|end| end.time < before)?;
        self.next = self.due.last().map_or(i64::MAX, |end| end.time);
        let places = match end.is_process {
            true => self.of_process.remove(&end.process),
            false => self.of_thread.remove(&(end.process, end.thread)),
        };
        Some((end.time, places.unwrap_or_default()))
    }
}

impl Picture<'_> {
    /// The last end of a process.
    pub(crate) const fn last_end(&self) -> i64 {
        self.ends.last
    }

    /// Does the ends that are due before an operation at this time.
    #[cold]
    #[inline(never)]
    pub(super) fn end_before(&mut self, time: i64) -> io::Result<()> {
        while let Some((time, places)) = self.ends.take(time) {
            self.now = GlobalNanos(time);
            for (number, id) in places.into_iter().rev() {
                if self.instances.is_living(number, id) {
                    self.destroy(number)?;
                }
            }
        }
        Ok(())
    }
}
