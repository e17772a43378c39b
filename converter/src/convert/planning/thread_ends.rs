//! Ends of threads and processes.
//!
//! An end is not a record: its timestamp is in the tables of the file. A process ends at its
//! orderly end. Without one, it ends at its last known timestamp, see
//! `ProcessInRun::last_known_ticks`. A thread without a recorded end ends with its process.

use rustc_hash::FxHashMap;

use super::plan::ConversionPlan;
use crate::rules::referent_table::NO_PROCESS;

/// The end of a process or of one of its threads. At equal timestamps, threads end before
/// processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EndEvent {
    /// Corrected timestamp.
    pub(crate) time: i64,
    pub(crate) is_process: bool,
    pub(crate) process: u32,
    /// Number of the thread in its process; 0 for a process.
    pub(crate) thread: u32,
    /// The first stream of the thread or process.
    pub(crate) stream: u32,
    /// Raw timestamp.
    pub(crate) raw: i64,
}

/// All ends in a run.
#[derive(Debug, Default)]
pub(crate) struct EndEvents {
    /// In order of time.
    pub(crate) events: Vec<EndEvent>,
    /// At least one thread has a recorded end.
    pub(crate) has_threads: bool,
}

/// The end of a thread, collected from its streams.
struct ThreadEnd {
    /// The later of its recorded end and its last record.
    end: EndEvent,
    is_recorded: bool,
}

impl EndEvents {
    /// The ends of all processes and of the threads with a recorded end. If a rule uses
    /// `thread.end` or `process.end`, also the ends of the threads without one: these end with
    /// their process. O(n log n) in the number of streams.
    pub(crate) fn of(plan: &ConversionPlan<'_>) -> Self {
        let mut events: Vec<EndEvent> = Vec::new();
        let mut threads: FxHashMap<(u32, u32), ThreadEnd> = FxHashMap::default();
        let has_threads = (0..plan.streams.len()).any(|stream| plan.source(stream).1.end.is_some());
        let has_rules = plan.has_end_rules();
        let (mut last_process, mut last_known_ticks) = (None, None);
        for (stream, facts) in plan.streams.iter().enumerate() {
            let (process, source) = plan.source(stream);
            let Some(block) = source.blocks.last() else { continue };
            let (records, timestamp_map) = (source.records(), &plan.timestamp_maps[stream]);
            let last_raw = plan.raw_timestamp(stream, block.header.last_ticks);
            let last = timestamp_map.correct(last_raw, records.saturating_sub(1));
            let number = u32::try_from(facts.process).unwrap_or(NO_PROCESS);
            if last_process != Some(number) {
                (last_process, last_known_ticks) = (Some(number), process.last_known_ticks());
            }
            let stream_number = u32::try_from(stream).unwrap_or(u32::MAX);
            let ending = |ticks: Option<u64>| {
                let raw = ticks.map_or(last_raw, |ticks| plan.raw_timestamp(stream, ticks).max(last_raw));
                let time = if ticks.is_some() { timestamp_map.correct(raw, records).max(last) } else { last };
                EndEvent { time, is_process: false, process: number, thread: facts.thread, stream: stream_number, raw }
            };
            let of_process = EndEvent { is_process: true, thread: 0, ..ending(last_known_ticks) };
            match events.last_mut().filter(|known| known.process == number) {
                Some(known) => known.extend(&of_process),
                None => events.push(of_process),
            }
            if has_threads || has_rules {
                let of_thread = ending(source.end.map(|end| end.0));
                let is_recorded = source.end.is_some();
                let known = threads.entry((number, facts.thread));
                let known = known.or_insert(ThreadEnd { end: of_thread, is_recorded });
                known.end.extend(&of_thread);
                known.is_recorded |= is_recorded;
            }
        }
        let processes: Vec<EndEvent> = if has_rules { events.clone() } else { Vec::new() };
        events.extend(threads.into_values().filter_map(|thread| {
            if thread.is_recorded {
                return Some(thread.end);
            }
            // Streams are in order of their processes.
            let process = processes.binary_search_by_key(&thread.end.process, |ending| ending.process).ok()?;
            let EndEvent { time, raw, .. } = processes[process];
            Some(EndEvent { time, raw, ..thread.end })
        }));
        events.sort_unstable();
        Self { events, has_threads }
    }
}

impl EndEvent {
    fn extend(&mut self, other: &Self) {
        self.time = self.time.max(other.time);
        self.raw = self.raw.max(other.raw);
    }
}
