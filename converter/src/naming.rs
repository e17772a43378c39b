//! The names of processes and threads, for display and for lookup.

pub(crate) mod unique_names;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::run::OpenRun;
use crate::run::{ProcessInRun, StreamInRun, ThreadName};
use unique_names::process_keys;

impl OpenRun {
    /// The key of a process, unique in the run: its rank, or its process id if it has no rank. If
    /// several processes have the same key, the process id is appended to ranks, then the host,
    /// then an ordinal in order of start: `3/4711`, `1@node7`, `1#2`. `process` is its position in
    /// the run.
    #[must_use]
    pub fn process_key(&self, process: usize) -> String {
        let keys = self.keys.get_or_init(|| process_keys(self));
        keys.get(process).cloned().unwrap_or_default()
    }

    /// As [`Self::process_key`], with its kind: `rank 3`, `rank 3/4711` or `pid 4711`.
    #[must_use]
    pub fn process_name(&self, process: usize) -> String {
        let ranked = self.processes.get(process).is_some_and(|process| process.rank.is_some());
        format!("{} {}", if ranked { "rank" } else { "pid" }, self.process_key(process))
    }

    /// The positions of the processes with this name. These are all processes of a rank (`3`,
    /// `rank 3`); if there are none, those with this process id (`4711`, `pid 4711`); those with
    /// both (`3/4711`); or the one with this key ([`Self::process_key`]).
    #[must_use]
    pub fn processes_named(&self, name: &str) -> Vec<usize> {
        if name.contains(['@', '#']) {
            let is_called = |process: &usize| self.process_name(*process) == name || self.process_key(*process) == name;
            return (0..self.processes.len()).filter(is_called).collect();
        }
        let (name, is_pid) = match (name.strip_prefix("rank "), name.strip_prefix("pid ")) {
            (Some(rank), _) => (rank, false),
            (_, Some(pid)) => (pid, true),
            _ => (name, false),
        };
        let number = |text: &str| text.trim().parse::<u64>().ok();
        if let Some((rank, pid)) = name.split_once('/') {
            let (Some(rank), Some(pid)) = (number(rank), number(pid)) else { return Vec::new() };
            return self.with_rank(rank).filter(|process| self.processes[*process].pid == pid).collect();
        }
        let Some(number) = number(name) else { return Vec::new() };
        let of_rank: Vec<usize> = self.with_rank(number).filter(|_| !is_pid).collect();
        if !of_rank.is_empty() {
            return of_rank;
        }
        (0..self.processes.len()).filter(|process| self.processes[*process].pid == number).collect()
    }

    /// The positions of the processes with this rank. Processes are in order of rank, those without
    /// one last.
    fn with_rank(&self, rank: u64) -> Range<usize> {
        let first = |is_before: &dyn Fn(u64) -> bool| {
            self.processes.partition_point(|process| process.rank.is_some_and(is_before))
        };
        first(&|other| other < rank)..first(&|other| other <= rank)
    }
}

impl ProcessInRun {
    /// Number of threads with a stream. A thread may have several streams of different kinds, for
    /// its signal handlers and for records that are overwritten. Streams of one kind belong to
    /// different threads, even if their thread ids are equal, because systems reuse thread ids.
    #[must_use]
    pub fn threads(&self) -> usize {
        let mut kinds: BTreeMap<u64, [usize; 4]> = BTreeMap::new();
        let mut nameless = 0;
        for stream in &self.streams {
            match stream.tid {
                Some(tid) => {
                    kinds.entry(tid).or_default()[usize::from(stream.signal) + 2 * usize::from(stream.overwrites)] += 1;
                }
                None => nameless += 1,
            }
        }
        nameless + kinds.values().filter_map(|counts| counts.iter().max()).sum::<usize>()
    }
}

impl StreamInRun {
    /// The displayed name. A thread without a name is `main` if its thread id is the process id.
    /// The others are `worker 1`, `worker 2` and so on, in order of creation.
    #[must_use]
    pub fn thread_name(&self) -> String {
        match self.thread.default_name {
            _ if !self.name.is_empty() => self.name.clone(),
            ThreadName::Tid => format!("thread {}", self.shown_tid()),
            ThreadName::Main => "main".to_owned(),
            ThreadName::Worker(number) => format!("worker {number}"),
        }
    }

    /// The displayed name, with an ordinal if several threads of the process have the name:
    /// `pool (#2)`.
    #[must_use]
    pub fn distinct_name(&self) -> String {
        let name = self.thread_name();
        if self.thread.ordinal == 0 { name } else { format!("{name} (#{})", self.thread.ordinal) }
    }

    /// The thread id, with an ordinal if earlier threads of the process had the same id: `4711`,
    /// `4711#2`.
    #[must_use]
    pub fn thread_key(&self) -> String {
        let tid = self.tid.unwrap_or(0);
        match self.thread.reuse {
            0 => tid.to_string(),
            reuse => format!("{tid}#{}", u64::from(reuse) + 1),
        }
    }

    /// Whether its thread has this name, label or thread id.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        let is_label = !self.label.is_empty() && self.label == name;
        let tid = name.strip_prefix("thread ").filter(|_| self.name.is_empty()).unwrap_or(name);
        let is_name = self.thread_name() == name || self.distinct_name() == name;
        is_label || is_name || self.shown_tid().to_string() == tid || self.thread_key() == tid
    }

    /// The thread id of the operating system, or the stream number if it is unknown.
    pub(crate) fn shown_tid(&self) -> u64 {
        self.tid.unwrap_or_else(|| u64::from(self.number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(rank: Option<u64>, pid: u64) -> ProcessInRun {
        let mut process = ProcessInRun::default();
        (process.rank, process.pid) = (rank, pid);
        process
    }

    #[test]
    fn processes_of_one_rank_have_different_names() {
        let run = OpenRun {
            processes: vec![
                process(Some(0), 70),
                process(Some(0), 71),
                process(Some(1), 72),
                process(Some(72), 1),
                process(None, 5),
            ],
            ..OpenRun::default()
        };
        let names: Vec<String> = (0..5).map(|process| run.process_name(process)).collect();
        assert_eq!(names, ["rank 0/70", "rank 0/71", "rank 1", "rank 72", "pid 5"]);
        for (process, name) in names.iter().enumerate() {
            assert_eq!(run.processes_named(name), [process], "{name}");
        }
        for (name, expected) in [
            ("0", &[0, 1][..]),
            ("rank 0", &[0, 1]),
            ("71", &[1]),
            ("0/71", &[1]),
            ("1", &[2]),
            ("pid 1", &[3]),
            // A rank comes before a process id.
            ("72", &[3]),
            ("pid 72", &[2]),
            ("5", &[4]),
            ("99", &[]),
            ("1/71", &[]),
            ("x", &[]),
            ("/", &[]),
        ] {
            assert_eq!(run.processes_named(name), expected, "{name}");
        }
    }

    #[test]
    fn reused_thread_ids_belong_to_other_threads() {
        let stream = |tid: Option<u64>, signal: bool, overwrites: bool| {
            let mut stream = StreamInRun::default();
            (stream.tid, stream.signal, stream.overwrites) = (tid, signal, overwrites);
            stream
        };
        let count = |streams: Vec<StreamInRun>| {
            let mut process = process(None, 1);
            process.streams = streams;
            process.threads()
        };
        assert_eq!(count(vec![]), 0);
        assert_eq!(count(vec![stream(Some(7), false, false); 3]), 3);
        let one = vec![stream(Some(7), false, false), stream(Some(7), true, false), stream(Some(7), false, true)];
        assert_eq!(count(one.clone()), 1);
        assert_eq!(count([one, vec![stream(Some(7), false, true), stream(Some(8), true, false)]].concat()), 3);
        assert_eq!(count(vec![stream(None, false, false); 2]), 2);
    }

    #[test]
    fn threads_are_found_by_name_label_and_id() {
        let mut stream = StreamInRun::default();
        (stream.tid, stream.label) = (Some(7), "io".to_owned());
        assert!(["7", "thread 7", "io"].iter().all(|name| stream.is_called(name)));
        (stream.name, stream.label) = ("main".to_owned(), String::new());
        assert!(stream.is_called("main") && stream.is_called("7"));
        assert!(["thread 7", "io", ""].iter().all(|name| !stream.is_called(name)));
    }
}
