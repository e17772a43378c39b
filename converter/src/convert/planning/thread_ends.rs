//! Ends of threads and processes.
//!
//! An end is not a record: its timestamp is in the tables of the file. A process ends at its
//! orderly end. Without one, it ends at its last known timestamp, see
//! `ProcessInRun::last_known_ticks`. A thread without a recorded end ends with its process.

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::ConversionPlan;
use crate::rules::stream_facts::ThreadKey;

/// The end of a process or of one of its threads, in one of its files. At equal timestamps, threads
/// end before processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EndEvent {
    /// Corrected timestamp.
    pub(crate) time: i64,
    pub(crate) is_process: bool,
    /// The thread. For the end of a process, the number of the thread is 0.
    pub(crate) identity: ThreadKey,
    /// The first stream of the thread or process.
    pub(crate) stream: u32,
    /// Raw timestamp.
    pub(crate) raw: i64,
    /// Whether no later file of the process has an end of the same thread or process.
    pub(crate) is_last: bool,
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
    /// For each file, the end of its process and those of threads with a recorded end. If a rule
    /// uses `thread.end` or `process.end`, also the ends of the threads without one: these end with
    /// their process. O(n log n) in the number of streams.
    pub(crate) fn of(plan: &ConversionPlan<'_>) -> Self {
        // The end of each file, by its number.
        let mut file_ends: Vec<(usize, EndEvent)> = Vec::new();
        let mut threads: FxHashMap<(usize, u32), ThreadEnd> = FxHashMap::default();
        let has_threads = (0..plan.streams.len()).any(|stream| plan.source(stream).1.end.is_some());
        let has_rules = plan.has_end_rules();
        let is_shared = plan.has_shared_processes();
        let (mut last_file, mut last_known_ticks) = (None, None);
        for (stream, facts) in plan.streams.iter().enumerate() {
            let (process, source) = plan.source(stream);
            let Some(block) = source.blocks.last() else { continue };
            let (records, timestamp_map) = (source.records(), &plan.timestamp_maps[stream]);
            let last_raw = plan.raw_timestamp(stream, block.header.last_ticks);
            let last = timestamp_map.correct(last_raw, records.saturating_sub(1));
            let (file, identity) = (facts.process, facts.identity);
            if last_file != Some(file) {
                (last_file, last_known_ticks) = (Some(file), process.last_known_ticks());
            }
            let stream_number = u32::try_from(stream).unwrap_or(u32::MAX);
            let ending = |ticks: Option<u64>| {
                let raw = ticks.map_or(last_raw, |ticks| plan.raw_timestamp(stream, ticks).max(last_raw));
                let time = if ticks.is_some() { timestamp_map.correct(raw, records).max(last) } else { last };
                EndEvent { time, is_process: false, identity, stream: stream_number, raw, is_last: true }
            };
            let of_process = ThreadKey { thread: 0, ..identity };
            let of_process = EndEvent { is_process: true, identity: of_process, ..ending(last_known_ticks) };
            match file_ends.last_mut().filter(|(known_file, _)| *known_file == file) {
                Some((_, entry)) => entry.extend(&of_process),
                None => file_ends.push((file, of_process)),
            }
            if has_threads || has_rules {
                let of_thread = ending(source.end.map(|end| end.0));
                let is_recorded = source.end.is_some();
                let entry = threads.entry((file, identity.thread));
                let entry = entry.or_insert(ThreadEnd { end: of_thread, is_recorded });
                entry.end.extend(&of_thread);
                entry.is_recorded |= is_recorded;
            }
        }
        let thread_ends = threads.into_iter().filter_map(|((file, _), thread)| {
            if thread.is_recorded {
                return Some(thread.end);
            }
            // Another file may have an earlier end of the thread. Streams are in order of their
            // files.
            let is_needed = has_rules || is_shared;
            let file_end = file_ends.binary_search_by_key(&file, |(number, _)| *number).ok().filter(|_| is_needed)?;
            let EndEvent { time, raw, .. } = file_ends[file_end].1;
            Some(EndEvent { time, raw, ..thread.end })
        });
        let mut events: Vec<EndEvent> = thread_ends.collect();
        events.extend(file_ends.into_iter().map(|(_, end)| end));
        events.sort_unstable();
        if is_shared {
            mark_last_ends(&mut events);
        }
        Self { events, has_threads }
    }
}

/// Marks the last end of each thread and process. There is one for each file.
fn mark_last_ends(events: &mut [EndEvent]) {
    let mut ended = FxHashSet::default();
    for end in events.iter_mut().rev() {
        end.is_last = ended.insert((end.is_process, end.identity));
    }
}

impl EndEvent {
    fn extend(&mut self, other: &Self) {
        self.time = self.time.max(other.time);
        self.raw = self.raw.max(other.raw);
    }
}
