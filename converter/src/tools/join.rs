//! Joins several runs: parts of a job in several folders, and live files in a different folder than
//! their runs.
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
//! use tumit_converter::run::OpenRun;
//! use tumit_converter::tools::join::mark_as_merged;
//!
//! let mut runs = vec![OpenRun::open(path)?, OpenRun::open(path)?];
//! assert!(!mark_as_merged(&mut runs), "the processes belong to one launch");
//! assert_eq!(OpenRun::join(runs).processes.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _, Write};

use tracer_format::block::append_block;
use tracer_format::tags::{append_tag, tag};
use tracer_format::{BlockHeader, BlockKind, PREAMBLE_BYTES, PROCESS_STREAM};

use super::repair::{self, RepairError};
use crate::run::{LiveLogEntry, MovedLiveFiles, ProcessInRun, RunReadError};
use crate::run::{OpenRun, RunOpenError};

/// Makes the processes of several launches one launch, because readers show only one launch.
/// Returns whether the processes changed.
pub fn mark_as_merged(runs: &mut [OpenRun]) -> bool {
    let processes = || runs.iter().flat_map(|run| &run.processes);
    let launches: BTreeSet<_> = processes().map(ProcessInRun::launch_id).collect();
    let id = processes().next().map(|process| process.id);
    let is_changed = launches.len() > 1;
    if is_changed {
        for process in runs.iter_mut().flat_map(|run| &mut run.processes) {
            process.merged_run = id;
        }
    }
    is_changed
}

/// Copies the file of these processes and adds the ids of their merged run. The contents of a live
/// file are appended; only a file of one process can have one. Blocks are copied unchanged.
///
/// # Errors
/// If the file cannot be read or the copy cannot be written.
pub fn copy_with_merged_run(processes: &[&ProcessInRun], out: &mut dyn Write) -> Result<(), RepairError> {
    let Some(first) = processes.first() else { return Ok(()) };
    let entries = processes.iter().filter_map(|process| {
        let mut payload = Vec::new();
        append_tag(&mut payload, tag::MERGED_RUN, &process.merged_run?);
        let stream = PROCESS_STREAM - process.part.unwrap_or(0);
        Some(LiveLogEntry { kind: BlockKind::Process, stream, entries: 1, in_file: false, payload })
    });
    if first.live.is_some() {
        return repair::write_after(first, entries.collect(), out);
    }
    let read_error = |source| RunReadError { file: first.path.clone(), offset: 0, source };
    let mut file = File::open(&first.path).map_err(read_error)?;
    let mut start = vec![0; PREAMBLE_BYTES];
    file.read_exact(&mut start).map_err(read_error)?;
    // `next_sequence` is 0 for all but one process of a sorted file.
    let sequence = processes.iter().map(|process| process.next_sequence).max().unwrap_or(0);
    for (sequence, entry) in (sequence..).zip(entries) {
        let bytes = u32::try_from(entry.payload.len()).map_err(io::Error::other)?;
        let header = BlockHeader {
            kind: entry.kind as u8,
            stream: entry.stream,
            records: entry.entries,
            sequence,
            raw_bytes: bytes,
            stored_bytes: bytes,
            ..BlockHeader::default()
        };
        append_block(&mut start, &header, &entry.payload);
    }
    out.write_all(&start)?;
    io::copy(&mut file, out)?;
    Ok(())
}

impl OpenRun {
    /// The processes of several runs as one run, sorted by rank. Processes without a rank follow,
    /// sorted by file name.
    #[must_use]
    pub fn join(runs: Vec<Self>) -> Self {
        let mut merged_run = Self { is_folder: true, ..Self::default() };
        for run in runs {
            merged_run.path = if merged_run.path.as_os_str().is_empty() { run.path } else { merged_run.path };
            merged_run.processes.extend(run.processes);
            merged_run.unreadable_files.extend(run.unreadable_files);
            merged_run.empty_live.extend(run.empty_live);
            merged_run.copies.extend(run.copies);
        }
        let key = |process: &ProcessInRun| {
            (process.rank.is_none(), process.rank, process.path.file_name().map(ToOwned::to_owned))
        };
        merged_run.processes.sort_by_cached_key(key);
        merged_run
    }

    /// Joins a process in one of these runs with its live file in another. The live file is then
    /// read together with the file of the process, and is no longer a process of its own. Processes
    /// that ended in order are unchanged.
    ///
    /// # Errors
    /// When a run has to be opened again and this fails.
    pub fn adopt_live_files(runs: &mut [Self]) -> Result<(), RunOpenError> {
        let is_live_alone = |process: &&ProcessInRun| process.live_alone && process.id != [0; 16];
        let lives = runs.iter().flat_map(|run| &run.processes).filter(is_live_alone);
        let lives: MovedLiveFiles = lives.map(|process| (process.id, process.path.clone())).collect();
        let is_open =
            |process: &ProcessInRun| !process.live_alone && !process.has_ended && lives.contains_key(&process.id);
        let has_live = |process: &ProcessInRun| process.live.as_ref().is_some_and(|live| live.is_used);
        let mut files = Vec::new();
        for run in &mut *runs {
            if run.processes.iter().any(|process| is_open(process) && !has_live(process)) {
                *run = Self::open_with(&run.path, &lives)?;
            }
            let adopted = run.processes.iter().filter(|process| is_open(process) && has_live(process));
            files.extend(adopted.map(|process| process.id));
        }
        for run in runs {
            run.processes.retain(|process| !(process.live_alone && files.contains(&process.id)));
        }
        Ok(())
    }
}
