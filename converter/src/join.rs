//! Several runs as one: the parts of a job that were recorded into several folders, and live files that are in another folder than their runs.

use crate::input::{Lives, Process};
use crate::run::{OpenError, Run};

impl Run {
    /// The processes of several runs as one run, by rank, those without one by the names of their files.
    #[must_use]
    pub fn join(runs: Vec<Self>) -> Self {
        let mut joined = Self { is_folder: true, ..Self::default() };
        for run in runs {
            joined.path = if joined.path.as_os_str().is_empty() { run.path } else { joined.path };
            joined.processes.extend(run.processes);
            joined.unreadable.extend(run.unreadable);
            joined.empty_live.extend(run.empty_live);
            joined.copies.extend(run.copies);
        }
        let key =
            |process: &Process| (process.rank.is_none(), process.rank, process.path.file_name().map(ToOwned::to_owned));
        joined.processes.sort_by_cached_key(key);
        joined
    }

    /// Brings together what of a process is in one of these runs, and its live file that is in another: the live file is read with
    /// the process's own file, and no process of its own any more. Of a process that ended in order, nothing is changed.
    ///
    /// # Errors
    /// When a run that has to be opened again cannot be.
    pub fn adopt_live_files(runs: &mut [Self]) -> Result<(), OpenError> {
        let alone = |process: &&Process| process.live_alone && process.id != [0; 16];
        let lives = runs.iter().flat_map(|run| &run.processes).filter(alone);
        let lives: Lives = lives.map(|process| (process.id, process.path.clone())).collect();
        let is_open = |process: &Process| !process.live_alone && !process.ended && lives.contains_key(&process.id);
        let has_live = |process: &Process| process.live.as_ref().is_some_and(|live| live.used);
        let mut found = Vec::new();
        for run in &mut *runs {
            if run.processes.iter().any(|process| is_open(process) && !has_live(process)) {
                *run = Self::open_with(&run.path, &lives)?;
            }
            let adopted = run.processes.iter().filter(|process| is_open(process) && has_live(process));
            found.extend(adopted.map(|process| process.id));
        }
        for run in runs {
            run.processes.retain(|process| !(process.live_alone && found.contains(&process.id)));
        }
        Ok(())
    }
}
