//! Process names that are unique in a run.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::run::OpenRun;
use crate::run::{ProcessInRun, first_ticks};

/// By process: a key that is unique in the run.
///
/// The key is the rank, or the process id if there is no rank. If several processes have the same
/// key, the process id, the host and an ordinal in order of start are appended until the keys
/// differ.
pub(crate) fn process_keys(run: &OpenRun) -> Vec<String> {
    let processes = &run.processes;
    let mut ranks: FxHashMap<u64, usize> = FxHashMap::default();
    processes.iter().filter_map(|process| process.rank).for_each(|rank| *ranks.entry(rank).or_default() += 1);
    let base = |process: &ProcessInRun| match process.rank {
        Some(rank) if ranks.get(&rank).is_some_and(|count| *count > 1) => format!("{rank}/{}", process.pid),
        Some(rank) => rank.to_string(),
        None => process.pid.to_string(),
    };
    let mut keys: Vec<String> = processes.iter().map(base).collect();
    let group = |keys: &[String]| {
        let mut groups: BTreeMap<(bool, &str), Vec<usize>> = BTreeMap::new();
        for (index, (key, process)) in keys.iter().zip(processes).enumerate() {
            groups.entry((process.rank.is_some(), key)).or_default().push(index);
        }
        groups.into_values().filter(|places| places.len() > 1).collect::<Vec<_>>()
    };
    for places in group(&keys) {
        let hosts: BTreeSet<&str> = places.iter().map(|index| processes[*index].host.as_str()).collect();
        if hosts.len() > 1 {
            places.into_iter().for_each(|index| keys[index] = format!("{}@{}", keys[index], processes[index].host));
        }
    }
    for mut places in group(&keys) {
        places.sort_by_key(|index| start_key(&processes[*index]));
        for (ordinal, index) in (1..).zip(places) {
            keys[index] = format!("{}#{ordinal}", keys[index]);
        }
    }
    keys
}

/// Start of a process for sorting processes with one name: by the wall clock if it is known.
fn start_key(process: &ProcessInRun) -> (u64, u64) {
    let real_nanos = process.anchors.first().map_or(0, |anchor| anchor.real_nanos);
    (real_nanos, process.streams.iter().map(first_ticks).min().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_streams::stream;

    #[test]
    fn no_two_processes_have_one_key() {
        let process = |rank: Option<u64>, pid: u64, host: &str, ticks: u64| {
            let mut process = ProcessInRun::default();
            (process.rank, process.pid, process.host) = (rank, pid, host.to_owned());
            process.streams = vec![stream(0, pid, (ticks, ticks))];
            process
        };
        let processes = vec![
            process(Some(0), 70, "a", 0),
            process(Some(0), 71, "a", 0),
            process(Some(1), 1, "a", 0),
            process(Some(1), 1, "b", 0),
            process(Some(2), 1, "a", 5),
            process(Some(2), 1, "a", 4),
            process(None, 1, "a", 3),
            process(None, 1, "a", 2),
            process(None, 1, "b", 1),
            process(None, 9, "b", 1),
        ];
        let run = OpenRun { processes, ..OpenRun::default() };
        let keys = process_keys(&run);
        let expected =
            ["0/70", "0/71", "1/1@a", "1/1@b", "2/1#2", "2/1#1", "1@a#2", "1@a#1", "1@b", "9"].map(str::to_owned);
        assert_eq!(keys, expected);
        for (index, key) in keys.iter().enumerate() {
            assert_eq!(run.processes_named(&run.process_name(index)), [index], "{key}");
        }
    }
}
