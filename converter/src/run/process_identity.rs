//! Which files of a run belong to one process of the operating system, and which of their streams
//! to one thread.
//!
//! A process has several files if it has several recorders: its own one and that of `tumit record`.
//! Each recorder writes a file with other specs.

use rustc_hash::FxHashMap;

use super::process::{ProcessInRun, StreamInRun};
use super::thread_identity::{first_ticks, last_ticks};

/// For each file, the first file of the same process. O(n) in the number of files, if few of them
/// have the same process id on one host.
///
/// Files belong to one process if they agree in launch, merged run, host, process id, rank and
/// clock, were written at the same time, and have no spec in common. Their parents may differ: a
/// process has another parent as soon as its parent has ended. Programs in containers of the system
/// may have equal process ids at the same time, but the files of their recorders have specs in
/// common.
pub(super) fn first_files(processes: &[ProcessInRun]) -> Vec<usize> {
    // The files of each process with a host and a process id.
    let mut by_id: FxHashMap<(&str, u64), Vec<Vec<usize>>> = FxHashMap::default();
    let mut first_files: Vec<usize> = (0..processes.len()).collect();
    for (index, process) in processes.iter().enumerate() {
        if process.pid == 0 || process.host.is_empty() {
            continue;
        }
        let groups = by_id.entry((&process.host, process.pid)).or_default();
        let fits = |files: &&mut Vec<usize>| files.iter().all(|file| are_one_process(&processes[*file], process));
        match groups.iter_mut().find(fits) {
            Some(files) => {
                first_files[index] = files.first().copied().unwrap_or(index);
                files.push(index);
            }
            None => groups.push(vec![index]),
        }
    }
    first_files
}

/// For each file and stream, the number of its thread in its process. Threads of later files follow
/// those of earlier ones, unless they have the same thread id at the same time.
pub(crate) fn thread_numbers(processes: &[ProcessInRun], first_files: &[usize]) -> Vec<Vec<u32>> {
    let mut threads: FxHashMap<usize, ThreadList<'_>> = FxHashMap::default();
    let later_files = first_files.iter().enumerate().filter(|(file, first)| file != *first);
    later_files.for_each(|(_, first)| _ = threads.entry(*first).or_default());
    let numbers = processes.iter().zip(first_files).map(|(process, first)| match threads.get_mut(first) {
        Some(threads) => threads.add(process),
        None => process.streams.iter().map(|stream| stream.thread.number).collect(),
    });
    numbers.collect()
}

/// The threads of a process with several files.
#[derive(Debug, Default)]
struct ThreadList<'a> {
    /// By thread id: the number of a thread and a stream of it, in order of the files.
    by_tid: FxHashMap<u64, Vec<(u32, &'a StreamInRun)>>,
    count: u32,
}

impl<'a> ThreadList<'a> {
    /// The number of the thread of each stream of a further file.
    fn add(&mut self, process: &'a ProcessInRun) -> Vec<u32> {
        let mut of_file: FxHashMap<u32, u32> = FxHashMap::default();
        let mut new_threads = Vec::new();
        let numbers = process.streams.iter().map(|stream| {
            *of_file.entry(stream.thread.number).or_insert_with(|| {
                let number = self.find(stream).unwrap_or_else(|| {
                    self.count += 1;
                    self.count - 1
                });
                new_threads.push((number, stream));
                number
            })
        });
        let numbers = numbers.collect();
        for (number, stream) in new_threads {
            self.by_tid.entry(stream.shown_tid()).or_default().push((number, stream));
        }
        numbers
    }

    /// The thread of earlier files to which a stream belongs: the last one with its thread id at
    /// the same time. A thread without a recorded end may last as long as its process.
    fn find(&self, stream: &StreamInRun) -> Option<u32> {
        stream.tid?;
        let threads = self.by_tid.get(&stream.shown_tid())?;
        let ends_before = |thread: &StreamInRun, other: &StreamInRun| {
            thread.end.is_some_and(|end| end.0.max(last_ticks(thread)) < first_ticks(other))
        };
        let overlaps = |(_, other): &&(u32, &StreamInRun)| !ends_before(other, stream) && !ends_before(stream, other);
        let latest = threads.iter().filter(overlaps).max_by_key(|(_, other)| first_ticks(other));
        latest.map(|(number, _)| *number)
    }
}

fn are_one_process(a: &ProcessInRun, b: &ProcessInRun) -> bool {
    let identity = |process: &ProcessInRun| (process.rank, process.clock_kind, process.merged_run);
    identity(a) == identity(b)
        && (&a.launch, &a.clock_domain) == (&b.launch, &b.clock_domain)
        && a.id != b.id
        && have_other_specs(a, b)
        && overlap(a, b)
}

fn have_other_specs(a: &ProcessInRun, b: &ProcessInRun) -> bool {
    let has_spec = |process: &ProcessInRun, name: &str| process.providers.iter().any(|spec| spec.schema.name == name);
    let is_other = |name: &str| !has_spec(b, name);
    !b.providers.is_empty() && !a.providers.is_empty() && a.providers.iter().all(|spec| is_other(&spec.schema.name))
}

fn overlap(a: &ProcessInRun, b: &ProcessInRun) -> bool {
    let lifetime = |process: &ProcessInRun| {
        let blocks = process.streams.iter().filter_map(|stream| stream.blocks.first());
        let ticks = blocks.map(|block| block.header.first_ticks);
        let begin = ticks.chain(process.anchors.iter().map(|anchor| anchor.ticks)).min()?;
        Some((begin, process.last_known_ticks()?))
    };
    match (lifetime(a), lifetime(b)) {
        (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
        _ => false,
    }
}
