//! Launches: a program that runs twice with one trace folder makes a run folder with two launches.
//! Readers show one of them.
//!
//! Process files with equal launch ids belong to one launch. Files of older recorders have no id,
//! and form one launch together. The processes of a merged run form one launch.
//!
//! Launches that overlap in time are joined, because programs that run at the same time are one
//! recording. Examples are a server and its client, or parts of a job that are started by hand on
//! several nodes. A process that still runs counts until now, a killed one until its last known
//! timestamp.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::convert::launches::LaunchSelection;
//! use tumit_converter::run::OpenRun;
//!
//! let run = OpenRun::open_launches(path, "1".parse()?)?;
//! assert_eq!(run.launches.len(), 1);
//! assert!(OpenRun::open_launches(path, "2".parse()?).is_err());
//! assert_eq!("all".parse::<LaunchSelection>()?, LaunchSelection::All);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use super::wall_clock;
use crate::run::ProcessInRun;
pub use crate::run::{Launch, LaunchSelection, RealTimeRange};
use crate::run::{OpenRun, RunOpenError};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

impl OpenRun {
    /// Opens the selected launches of a run folder. [`OpenRun::open`] opens the latest launch.
    ///
    /// # Errors
    /// The errors of [`OpenRun::open`], or if the folder has no launch with this number.
    pub fn open_launches(path: impl AsRef<std::path::Path>, launches: LaunchSelection) -> Result<Self, RunOpenError> {
        let mut run = Self::open_with(path.as_ref(), &crate::run::MovedLiveFiles::new())?;
        run.select_launches(launches)?;
        Ok(run)
    }

    /// Removes the processes of all other launches.
    pub(crate) fn select_launches(&mut self, selection: LaunchSelection) -> Result<(), RunOpenError> {
        let now = wall_clock::current_time();
        let members = launches_of(&self.processes, |process| now.filter(|_| process.is_running()));
        let count = members.len();
        let selected_launch = match selection {
            LaunchSelection::All => None,
            LaunchSelection::Latest => Some(count),
            LaunchSelection::Number(number) if number.get() <= count => Some(number.get()),
            LaunchSelection::Number(number) => {
                return Err(RunOpenError::NoLaunch { path: self.path.clone(), number: number.get(), count });
            }
        };
        let launch = |(number, members): (usize, &LaunchMembers)| Launch {
            number: number + 1,
            time: members.time,
            processes: members.processes.len(),
            is_read: selected_launch.is_none_or(|selected| selected == number + 1),
        };
        self.launches = members.iter().enumerate().map(launch).collect();
        if let Some(selected) = selected_launch.filter(|_| count > 1) {
            let processes = &members[selected - 1].processes;
            let mut position = 0;
            self.processes.retain(|_| {
                position += 1;
                processes.contains(&(position - 1))
            });
        }
        Ok(())
    }

    /// A note that names the launch that is read, if the folder has several.
    #[must_use]
    pub fn launch_diagnostic(&self) -> Option<TraceDiagnostic> {
        let count = self.launches.len();
        if count < 2 {
            return None;
        }
        let mut read = self.launches.iter().filter(|launch| launch.is_read);
        let (Some(launch), None) = (read.next(), read.next()) else {
            let text = format!("all {count} launches of the run are read as one; `--launch N` selects one of them");
            return Some(TraceDiagnostic::note(DiagnosticKind::File, text));
        };
        let began = launch.time.map(|time| format!(" (began {})", wall_clock::text(time.start))).unwrap_or_default();
        let latest = if launch.number == count { ", the latest," } else { "" };
        let text = format!(
            "launch {} of {count}{began}{latest} is read; `--launch N` selects another one (1 to {count}), `--launch all` all of them",
            launch.number
        );
        Some(TraceDiagnostic::note(DiagnosticKind::File, text))
    }
}

/// The processes of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LaunchMembers {
    /// See [`Launch::time`].
    time: Option<RealTimeRange>,
    /// Positions in the run.
    processes: Vec<usize>,
}

/// The launches in order of time, with the positions of their processes. `running_time` returns the
/// current time for a process that still runs. It is called only if there are several launch ids.
fn launches_of(processes: &[ProcessInRun], running_time: impl Fn(&ProcessInRun) -> Option<i64>) -> Vec<LaunchMembers> {
    let mut by_id: BTreeMap<LaunchKey<'_>, LaunchMembers> = BTreeMap::new();
    for (number, process) in processes.iter().enumerate() {
        let members = by_id.entry(process.launch_id()).or_default();
        members.time = join_ranges(members.time, process.real_time());
        members.processes.push(number);
    }
    if by_id.len() > 1 {
        for LaunchMembers { time, processes: members } in by_id.values_mut() {
            let now = members.iter().find_map(|member| running_time(&processes[*member]));
            if let (Some(time), Some(now)) = (time.as_mut(), now) {
                time.end = now.max(time.end);
            }
        }
    }
    let mut all: Vec<LaunchMembers> = by_id.into_values().collect();
    // Groups without a time come last and join the latest launch: they may belong to it.
    all.sort_by_key(|members| (members.time.is_none(), members.time, members.processes[0]));
    let mut launches: Vec<LaunchMembers> = Vec::new();
    for members in all {
        let overlaps = |previous_launch: &LaunchMembers| {
            members.time.is_none() || previous_launch.time.zip(members.time).is_some_and(|(a, b)| b.start <= a.end)
        };
        match launches.last_mut().filter(|previous_launch| overlaps(previous_launch)) {
            Some(previous_launch) => {
                previous_launch.time = join_ranges(previous_launch.time, members.time);
                previous_launch.processes.extend(members.processes);
            }
            None => launches.push(members),
        }
    }
    launches
}

fn join_ranges(range: Option<RealTimeRange>, other_range: Option<RealTimeRange>) -> Option<RealTimeRange> {
    match (range, other_range) {
        (Some(range), Some(other_range)) => {
            Some(RealTimeRange { start: range.start.min(other_range.start), end: range.end.max(other_range.end) })
        }
        (range, other_range) => range.or(other_range),
    }
}

/// The key that groups processes. Groups that overlap in time are joined to launches afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaunchKey<'p> {
    /// The launch id that the recorder wrote.
    Recorded(&'p str),
    /// The id of the merged run.
    Merged([u8; 16]),
}

impl ProcessInRun {
    pub(crate) fn launch_id(&self) -> LaunchKey<'_> {
        self.merged_run.map_or(LaunchKey::Recorded(&self.launch), LaunchKey::Merged)
    }

    /// From the first reading of the real-time clock to the last known timestamp.
    fn real_time(&self) -> Option<RealTimeRange> {
        let first = self.anchors.iter().min_by_key(|anchor| anchor.ticks)?;
        let last = self.anchors.iter().max_by_key(|anchor| anchor.ticks)?;
        let narrow = |nanos: u64| i64::try_from(nanos).unwrap_or(i64::MAX);
        let (start, last_reading) = (narrow(first.real_nanos), narrow(last.real_nanos));
        let ticks = u128::from(self.last_known_ticks().unwrap_or(0).saturating_sub(last.ticks));
        // Without a nominal rate, the readings of the monotonic clock give it.
        let (nanos, per_ticks) = match self.clock_hz {
            0 => (last.monotonic_nanos.saturating_sub(first.monotonic_nanos), last.ticks - first.ticks),
            hz => (1_000_000_000, hz),
        };
        let after = (ticks * u128::from(nanos)).checked_div(per_ticks.into()).unwrap_or(0);
        let end = last_reading.saturating_add(i64::try_from(after).unwrap_or(i64::MAX));
        Some(RealTimeRange { start, end: end.max(start) })
    }
}

#[cfg(test)]
mod tests {
    use tracer_format::entries::ClockAnchor;

    use super::*;

    fn process(launch: &str, from: u64, to: u64) -> ProcessInRun {
        let mut process = ProcessInRun::default();
        process.launch = launch.to_owned();
        let anchor = |ticks| ClockAnchor { ticks, monotonic_nanos: ticks, real_nanos: 1000 + ticks, bracket: 0 };
        process.anchors = if to > 0 { vec![anchor(from), anchor(to)] } else { Vec::new() };
        process
    }

    fn members(processes: &[ProcessInRun]) -> Vec<Vec<usize>> {
        launches_of(processes, |_| None).into_iter().map(|members| members.processes).collect()
    }

    #[test]
    fn ids_and_overlap_make_launches() {
        // Two consecutive launches; the order of files does not matter.
        let two = [process("b", 50, 60), process("a", 1, 9), process("b", 55, 70), process("a", 2, 8)];
        assert_eq!(members(&two), [[1, 3], [0, 2]]);
        // A server and its client.
        assert_eq!(members(&[process("a", 1, 100), process("b", 50, 60)]), [[0, 1]]);
        // Older files have no id: they form one launch.
        assert_eq!(members(&[process("", 1, 9), process("", 50, 60)]), [[0, 1]]);
        assert_eq!(members(&[process("", 1, 9), process("new", 50, 60)]), [[0], [1]]);
        // A process without a time belongs to the latest launch.
        assert_eq!(members(&[process("x", 0, 0), process("a", 1, 9), process("b", 50, 60)]), [vec![1], vec![2, 0]]);
        assert_eq!(members(&[process("x", 0, 0), process("y", 0, 0)]), [[0, 1]]);
    }

    #[test]
    fn a_process_runs_until_its_last_known_timestamp_or_until_now() {
        let mut server = process("server", 1, 9);
        let client = process("client", 50, 60);
        assert_eq!(members(&[server.clone(), client.clone()]), [[0], [1]]);
        let running = |process: &ProcessInRun| (process.launch == "server").then_some(1070);
        let launches = launches_of(&[server.clone(), client.clone()], running);
        assert_eq!(
            launches,
            [LaunchMembers { time: Some(RealTimeRange { start: 1001, end: 1070 }), processes: vec![0, 1] }]
        );
        // It was killed; its live file has a later reading than its file.
        server.last_known = Some(tumit_paje::time::LocalTicks(55));
        assert_eq!(members(&[server.clone(), client.clone()]), [[0, 1]]);
        server.clock_hz = 500_000_000;
        assert_eq!(launches_of(&[server, client], |_| None)[0].time.unwrap().end, 1009 + 2 * (55 - 9));
    }

    #[test]
    fn one_launch_is_kept() {
        let run = || OpenRun { processes: vec![process("b", 50, 60), process("a", 1, 9)], ..OpenRun::default() };
        let selected = |selection| {
            let mut run = run();
            run.select_launches(selection)
                .map(|()| run.processes.iter().map(|process| process.launch.clone()).collect::<Vec<_>>())
        };
        assert_eq!(selected(LaunchSelection::Latest).unwrap(), ["b"]);
        assert_eq!(selected("1".parse().unwrap()).unwrap(), ["a"]);
        assert_eq!(selected("ALL".parse().unwrap()).unwrap(), ["b", "a"]);
        assert!(selected("3".parse().unwrap()).unwrap_err().to_string().contains("has 2 launches but no launch 3"));
        assert!("0".parse::<LaunchSelection>().is_err() && "x".parse::<LaunchSelection>().is_err());
        let mut run = run();
        run.select_launches(LaunchSelection::Latest).unwrap();
        let launch = run.launch_diagnostic().unwrap().text;
        assert!(
            launch.starts_with("launch 2 of 2 (began 1970-01-01T00:00:00.000001050Z), the latest, is read"),
            "{launch}"
        );
    }
}
