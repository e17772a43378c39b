//! The threads of a process: which streams belong to one thread, and their order.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::process::{ProcessInRun, StreamInRun, ThreadIdentity, ThreadName};

/// The number of kinds of streams. A thread has at most one stream of each kind.
const KINDS: usize = 4;

fn kind(stream: &StreamInRun) -> usize {
    usize::from(stream.signal) + 2 * usize::from(stream.overwrites)
}

pub(crate) fn first_ticks(stream: &StreamInRun) -> u64 {
    stream.blocks.first().map_or(u64::MAX, |block| block.header.first_ticks)
}

pub(crate) fn last_ticks(stream: &StreamInRun) -> u64 {
    stream.blocks.last().map_or(u64::MAX, |block| block.header.last_ticks)
}

/// Sets the thread identity of each stream of a process. O(n log n).
///
/// A thread has at most one stream of each kind. Several streams with one thread id and one kind
/// therefore belong to consecutive threads: operating systems reuse thread ids.
pub(crate) fn set_threads(process: &mut ProcessInRun) {
    let reuses = reuses(&process.streams);
    let mut numbers: FxHashMap<(u64, u32), u32> = FxHashMap::default();
    let mut workers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut threads = 0u32;
    for (stream, reuse) in process.streams.iter_mut().zip(reuses) {
        let mut next = || {
            threads = threads.saturating_add(1);
            threads - 1
        };
        let number = match stream.tid {
            Some(tid) => *numbers.entry((tid, reuse)).or_insert_with(next),
            None => next(),
        };
        let default_name = match stream.tid {
            // The thread of this stream is unknown. It may be a thread that has a name.
            None => ThreadName::Tid,
            _ if !stream.name.is_empty() => ThreadName::Tid,
            Some(tid) if tid == process.pid && reuse == 0 => ThreadName::Main,
            _ => {
                let count = u32::try_from(workers.len()).unwrap_or(u32::MAX);
                ThreadName::Worker(*workers.entry(number).or_insert(count.saturating_add(1)))
            }
        };
        stream.thread = ThreadIdentity { number, reuse, default_name, ordinal: 0 };
    }
    set_ordinals(&mut process.streams);
}

/// Numbers the threads with equal names. Names that the recorder gives (`main`, `worker 1`) are
/// unique, unless the program gives such a name to a thread.
fn set_ordinals(streams: &mut [StreamInRun]) {
    let names: Vec<String> = streams.iter().map(StreamInRun::thread_name).collect();
    let mut threads: FxHashMap<&str, BTreeMap<u32, u32>> = FxHashMap::default();
    for (stream, name) in streams.iter().zip(&names) {
        threads.entry(name).or_default().insert(stream.thread.number, 0);
    }
    for ordinals in threads.values_mut().filter(|threads| threads.len() > 1) {
        ordinals.values_mut().zip(1..).for_each(|(ordinal, number)| *ordinal = number);
    }
    for (stream, name) in streams.iter_mut().zip(&names) {
        stream.thread.ordinal = threads[name.as_str()][&stream.thread.number];
    }
}

/// For each stream: the number of earlier threads with the same thread id.
fn reuses(streams: &[StreamInRun]) -> Vec<u32> {
    let mut reuses = vec![0; streams.len()];
    let mut of_tid: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let mut places: FxHashMap<u64, usize> = FxHashMap::default();
    for (index, stream) in streams.iter().enumerate() {
        let Some(tid) = stream.tid else { continue };
        // Most thread ids have one stream. Only the others get a list.
        if let Some(first) = places.get(&tid) {
            of_tid.entry(tid).or_insert_with(|| vec![*first]).push(index);
        } else {
            places.insert(tid, index);
        }
    }
    for mut places in of_tid.into_values() {
        places.sort_by_key(|index| (first_ticks(&streams[*index]), *index));
        let mut kinds: [Vec<usize>; KINDS] = Default::default();
        places.iter().for_each(|index| kinds[kind(&streams[*index])].push(*index));
        // Each stream of the most frequent kind belongs to a different thread. If several kinds are
        // equally frequent, the ordinary kind decides.
        let leaders = kinds.iter().rev().max_by_key(|streams| streams.len()).cloned().unwrap_or_default();
        for index in places {
            let start = match leaders.binary_search_by_key(&(first_ticks(&streams[index]), index), |leader| {
                (first_ticks(&streams[*leader]), *leader)
            }) {
                Ok(found) => found + 1,
                Err(_) => {
                    leaders.partition_point(|leader| first_ticks(&streams[*leader]) <= last_ticks(&streams[index]))
                }
            };
            reuses[index] = u32::try_from(start.saturating_sub(1)).unwrap_or(u32::MAX);
        }
    }
    reuses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_streams::stream;

    #[test]
    fn threads_with_equal_names_have_ordinals_in_order_of_creation() {
        let named = |number, tid, name: &str| {
            let mut stream = stream(number, tid, (0, 9));
            stream.name = name.to_owned();
            stream
        };
        let mut signal = named(4, 9, "pool");
        signal.signal = true;
        let streams = vec![
            named(0, 1, ""),
            named(1, 9, "pool"),
            named(2, 8, "io"),
            named(3, 7, "pool"),
            signal,
            named(5, 6, "worker 1"),
            named(6, 5, ""),
        ];
        let mut process = ProcessInRun { pid: 1, streams, ..ProcessInRun::default() };
        set_threads(&mut process);
        let names: Vec<String> = process.streams.iter().map(StreamInRun::distinct_name).collect();
        let expected = ["main", "pool (#1)", "io", "pool (#2)", "pool (#1)", "worker 1 (#1)", "worker 1 (#2)"];
        assert_eq!(names, expected);
        assert!(process.streams[3].is_called("pool") && process.streams[3].is_called("pool (#2)"));
        assert!(!process.streams[3].is_called("pool (#1)"));
    }

    fn threads_of(streams: Vec<StreamInRun>) -> Vec<(u32, u32, String)> {
        let mut process = ProcessInRun { pid: 1, streams, ..ProcessInRun::default() };
        set_threads(&mut process);
        let identity = |stream: &StreamInRun| (stream.thread.number, stream.thread.reuse, stream.thread_name());
        process.streams.iter().map(identity).collect()
    }

    #[test]
    fn unnamed_threads_are_workers_in_order_of_creation() {
        let mut named = stream(3, 8, (0, 9));
        named.name = "io".to_owned();
        let mut signal = stream(4, 7, (5, 5));
        signal.signal = true;
        let threads = threads_of(vec![
            stream(0, 1, (0, 9)),
            stream(1, 9, (0, 9)),
            stream(2, 7, (0, 9)),
            named,
            signal,
            stream(5, 6, (8, 9)),
        ]);
        let names: Vec<&str> = threads.iter().map(|(.., name)| name.as_str()).collect();
        assert_eq!(names, ["main", "worker 1", "worker 2", "io", "worker 2", "worker 3"]);
        assert_eq!(threads.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [0, 1, 2, 3, 2, 4]);
    }

    #[test]
    fn a_reused_thread_id_belongs_to_another_thread() {
        let signal = |number, ticks| {
            let mut stream = stream(number, 7, ticks);
            stream.signal = true;
            stream
        };
        let threads = threads_of(vec![
            stream(0, 7, (0, 9)),
            stream(1, 7, (20, 29)),
            stream(2, 7, (40, 49)),
            signal(3, (19, 22)),
            signal(4, (45, 45)),
            stream(5, 8, (0, 9)),
        ]);
        assert_eq!(threads.iter().map(|(_, reuse, _)| *reuse).collect::<Vec<_>>(), [0, 1, 2, 1, 2, 0]);
        assert_eq!(threads.iter().map(|(number, ..)| *number).collect::<Vec<_>>(), [0, 1, 2, 1, 2, 3]);
    }
}
