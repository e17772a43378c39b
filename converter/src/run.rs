//! A recorded run: a folder with one file per process.
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
//!
//! let run = OpenRun::open(path)?;
//! assert_eq!(run.processes[0].rank, Some(0));
//! assert_eq!(run.processes[0].streams[0].records(), 2);
//! assert!(run.losses().is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod active_recorders;
mod code_names;
mod error;
mod file_scan;
mod launch;
mod live_levels;
pub(crate) mod live_recovery;
mod live_snapshot;
mod loss;
mod memory_budget;
mod name_recovery;
pub mod output_permissions;
mod process;
pub(crate) mod process_builder;
mod process_file;
pub(crate) mod process_identity;
mod read_at;
pub(crate) mod stream_reader;
mod stream_table;
mod thread_identity;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustc_hash::FxHashMap;
use tracer_format::block::flag;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

pub use code_names::keep_symbols;
pub use error::RunReadError;
pub use live_levels::{LevelName, levels_of_live};
pub use live_snapshot::{LiveError, LiveFault};
pub use process::{
    BlockIndex, DamagedRange, LiveFileUse, ProcessInRun, ProviderInRun, RecordTotals, RepairSummary, StreamInRun,
    TornRanges,
};
pub use tumit_symbols::{SYMBOL_FILE, SymbolList};

pub(crate) use file_scan::{ScanItem, scan};
pub use launch::{Launch, LaunchSelection, RealTimeRange};
pub(crate) use live_snapshot::LiveLogEntry;
pub use loss::{Loss, MissingEnd};
pub(crate) use memory_budget::{BudgetShare, waiting_budget};
pub(crate) use name_recovery::missing_names;
pub(crate) use process::{MovedLiveFiles, RecordTypePosition, ThreadName};
pub(crate) use read_at::open_shared;
pub(crate) use stream_reader::{BlockPosition, RecordPosition, RunStreamReader, is_gap};
pub(crate) use thread_identity::first_ticks;
pub(crate) use tumit_spill::spool::Spool;

/// A file that is left out, because another file contains the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCopy {
    /// The file that is left out.
    pub copy: PathBuf,
    /// The file that is used instead.
    pub used_file: PathBuf,
}

/// An opened run: the tables of its files and the positions of their records. Records stay in the
/// files.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenRun {
    /// The folder, or the one file that was opened.
    pub path: PathBuf,
    /// Its processes in order of rank, then those without a rank in order of file name.
    pub processes: Vec<ProcessInRun>,
    /// The reason for each file that is not part of the run.
    pub unreadable_files: Vec<TraceDiagnostic>,
    /// Live files of processes that ended before they recorded anything.
    pub empty_live: Vec<PathBuf>,
    /// Files left out as copies.
    pub copies: Vec<FileCopy>,
    /// The launches of the folder in order of time, including those that are not read.
    pub launches: Vec<Launch>,
    /// Whether a whole folder was opened, not one file of it.
    pub(crate) is_folder: bool,
    /// The names of the code addresses.
    pub(crate) symbols: SymbolList,
    /// For each process: its key, computed at the first use.
    pub(crate) keys: OnceLock<Vec<String>>,
}

/// The reason why a run could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunOpenError {
    /// The system could not read a file or folder.
    #[error(transparent)]
    Read(#[from] RunReadError),
    /// The folder holds no process files.
    #[error("{}: no process files (`*.tmt`) in this folder; name the folder that `TUMIT_TRACE` named", path.display())]
    NoFiles {
        /// The folder.
        path: PathBuf,
    },
    /// The file is a spec.
    #[error("{0} is a spec, not a trace: `tumit check {0}` checks it", path.display())]
    Spec {
        /// The file.
        path: PathBuf,
    },
    /// The folder has no launch of this number.
    #[error("{}: the run has {count} launches but no launch {number}; `tumit info` lists them", path.display())]
    NoLaunch {
        /// The folder.
        path: PathBuf,
        /// The requested number.
        number: usize,
        /// The number of launches.
        count: usize,
    },
    /// None of the files is usable.
    #[error("{first}{}", others_text(*count))]
    NothingUsable {
        /// The error of the first file.
        first: String,
        /// Number of files.
        count: usize,
    },
}

/// Whether a file is a spec by its name.
#[must_use]
pub fn is_spec(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tumit")) && path.is_file()
}

/// The diagnostic about a file that is not part of the run.
fn not_read(file: &Path, text: String) -> TraceDiagnostic {
    TraceDiagnostic::error(DiagnosticKind::Damage, text).in_file(file)
}

fn others_text(count: usize) -> String {
    if count > 1 { format!(" (and {} more files of this kind)", count - 1) } else { String::new() }
}

/// Reports truncated records. `None` if `count` is 0.
#[must_use]
pub fn truncation_diagnostic(count: u64) -> Option<TraceDiagnostic> {
    let records = if count == 1 { "1 record is".to_owned() } else { format!("{count} records are") };
    let cut = "the longest texts, bytes or arrays of a record are cut if it is larger than a slot of the recorder";
    let text = format!("{records} truncated: {cut}; `tumit dump` marks such records");
    (count > 0).then(|| TraceDiagnostic::warning(DiagnosticKind::Record, text))
}

impl OpenRun {
    /// Opens a run folder, or one file of it: checks every block and collects the tables. The
    /// records stay in the files. If the folder has several [launches](crate::convert::launches),
    /// the latest is opened.
    ///
    /// # Errors
    /// If no file is usable. Damage is no error; see [`OpenRun::losses`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RunOpenError> {
        Self::open_launches(path, LaunchSelection::Latest)
    }

    /// As [`Self::open`], for all launches. `lives` are live files that were moved.
    pub(crate) fn open_with(path: &Path, lives: &MovedLiveFiles) -> Result<Self, RunOpenError> {
        if is_spec(path) {
            return Err(RunOpenError::Spec { path: path.to_path_buf() });
        }
        let RunFiles { process: files, live } = RunFiles::in_run(path)?;
        if files.is_empty() && live.is_empty() {
            return Err(RunOpenError::NoFiles { path: path.to_path_buf() });
        }
        for input in std::iter::once(path).chain(files.iter().chain(&live).map(PathBuf::as_path)) {
            output_permissions::note_input(input);
        }
        let mut run = Self { path: path.to_path_buf(), is_folder: path.is_dir(), ..Self::default() };
        let mut spool = Spool::default();
        let mut live_only = live;
        live_only.retain(|live| files.binary_search(&live.with_extension("tmt")).is_err());
        for file in &files {
            match ProcessInRun::open(file, &mut spool, lives) {
                Ok(processes) => run.processes.extend(processes),
                Err(error) => {
                    let live = Some(file.with_extension("live")).filter(|live| live.is_file());
                    // If the process file is still empty, all data are in the live file.
                    if live.is_none() || file.metadata().is_ok_and(|file| file.len() > 0) {
                        run.unreadable_files.push(not_read(file, error.to_string()));
                    }
                    live_only.extend(live);
                }
            }
        }
        for file in &live_only {
            match ProcessInRun::open_live(file, &mut spool) {
                Ok(process) => run.processes.push(process),
                Err(LiveError::Empty) => run.empty_live.push(file.clone()),
                Err(why) => run.unreadable_files.push(not_read(file, format!("{}: {why}", file.display()))),
            }
        }
        if run.processes.is_empty() {
            let empty_file_error = |file: &PathBuf| not_read(file, format!("{}: {}", file.display(), LiveError::Empty));
            run.unreadable_files.extend(run.empty_live.iter().map(empty_file_error));
            let count = run.unreadable_files.len();
            return Err(RunOpenError::NothingUsable { first: run.unreadable_files.swap_remove(0).text, count });
        }
        run.leave_out_copies();
        run.processes.sort_by(|a, b| {
            let key = |process: &ProcessInRun| (process.rank.is_none(), process.rank);
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        run.symbols = code_names::resolve(&mut run.processes, path);
        Ok(run)
    }

    /// The names and source positions of the code addresses in the run.
    #[must_use]
    pub fn symbols(&self) -> &SymbolList {
        &self.symbols
    }

    /// Keeps the file with the most records of each process. A file of an unknown process has id 0
    /// and is always kept.
    fn leave_out_copies(&mut self) {
        let records = |process: &ProcessInRun| process.streams.iter().map(StreamInRun::records).sum::<u64>();
        let mut processes: Vec<ProcessInRun> = Vec::new();
        let mut places: FxHashMap<[u8; 16], usize> = FxHashMap::default();
        for process in std::mem::take(&mut self.processes) {
            let same = if process.id == [0; 16] { None } else { places.get(&process.id).copied() };
            let Some(other) = same.and_then(|index| processes.get_mut(index)) else {
                places.insert(process.id, processes.len());
                processes.push(process);
                continue;
            };
            let out = if records(&process) > records(other) { std::mem::replace(other, process) } else { process };
            self.copies.push(FileCopy { copy: out.path, used_file: other.path.clone() });
        }
        self.processes = processes;
    }

    /// For each file in `processes`, the position of the first file of the same process of the
    /// operating system. A process has several files if it has several recorders, such as its own
    /// one and that of `tumit record`. O(n) in the number of files, if few of them have the same
    /// process id on one host.
    #[must_use]
    pub fn first_files(&self) -> Vec<usize> {
        process_identity::first_files(&self.processes)
    }

    /// The first file of each process of the operating system.
    pub fn distinct_processes(&self) -> impl Iterator<Item = &ProcessInRun> {
        let first_files = self.first_files();
        self.processes
            .iter()
            .enumerate()
            .filter(move |(file, _)| first_files[*file] == *file)
            .map(|(_, process)| process)
    }

    /// Reports the number of truncated records, if there are any.
    #[must_use]
    pub fn truncation_diagnostic(&self) -> Option<TraceDiagnostic> {
        let count = self.processes.iter().fold(0, |sum: u64, process| sum.saturating_add(process.truncated_records));
        truncation_diagnostic(count)
    }

    /// The ranks of the job without a file.
    pub(crate) fn missing_ranks(&self) -> Option<Loss> {
        let ranks = self.processes.iter().filter_map(|process| process.ranks).max()?;
        // One file alone does not show whether the others exist.
        if !self.is_folder {
            return None;
        }
        let there: BTreeSet<u64> = self.processes.iter().filter_map(|process| process.rank).collect();
        let missing_count = ranks.saturating_sub(there.range(..ranks).count() as u64);
        let first = there.iter().zip(0..).find(|(rank, index)| *rank != index).map_or(there.len() as u64, |(_, at)| at);
        (missing_count > 0).then_some(Loss::MissingRanks { first, missing_count, ranks })
    }

    /// The process of the run that forked this one, or started it as another program. It is
    /// identified by the parent's id, or by the parent's process id and host if only one process
    /// has these.
    #[must_use]
    pub fn parent_of(&self, process: &ProcessInRun) -> Option<&ProcessInRun> {
        if process.parent_id.is_some() {
            return self.processes.iter().find(|other| Some(other.id) == process.parent_id);
        }
        let is_parent = |other: &&ProcessInRun| Some(other.pid) == process.parent_pid && other.host == process.host;
        let mut parents = self.processes.iter().filter(is_parent);
        parents.next().filter(|_| parents.next().is_none())
    }

    /// A warning about the first rank that several processes have. Their rows are distinct.
    #[must_use]
    pub fn rank_diagnostic(&self) -> Option<TraceDiagnostic> {
        let (rank, times) = self.same_rank()?;
        let text = format!(
            "{times} processes have rank {rank}: `MPI_Comm_spawn` started several MPI worlds, or the folder has several runs; each process has its own rows"
        );
        Some(TraceDiagnostic::warning(DiagnosticKind::Name, text))
    }

    /// The first rank that several processes have, and their number. Children of a rank are not
    /// counted.
    fn same_rank(&self) -> Option<(u64, usize)> {
        let is_child = |process: &ProcessInRun| process.parent_id.is_some() || self.parent_of(process).is_some();
        let parents = self.distinct_processes().filter(|process| !is_child(process));
        let mut ranks: Vec<u64> = parents.filter_map(|process| process.rank).collect();
        ranks.sort_unstable();
        ranks.chunk_by(|a, b| a == b).find(|same| same.len() > 1).map(|same| (same[0], same.len()))
    }

    /// Whether records are missing from streams, by the headers of the blocks. The blocks are not
    /// decoded for this.
    pub(crate) fn may_have_gaps(&self) -> bool {
        self.processes.iter().any(|process| {
            let blocks = process.streams.iter().flat_map(|stream| &stream.blocks);
            process.dropped_records() > 0
                || !process.damage.is_empty()
                || process
                    .streams
                    .iter()
                    .any(|stream| stream.missing_blocks > 0 || !stream.inherited_losses().is_empty())
                || blocks.into_iter().any(|block| block.header.flags & flag::OVERWRITTEN != 0)
        })
    }

    /// The name of the run: that of its folder, without its extension.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_stem().map_or_else(|| "run".to_owned(), |name| name.to_string_lossy().into_owned())
    }
}

#[derive(Default)]
struct RunFiles {
    process: Vec<PathBuf>,
    live: Vec<PathBuf>,
}

impl RunFiles {
    fn in_run(path: &Path) -> Result<Self, RunReadError> {
        let error = |source| RunReadError { file: path.to_path_buf(), offset: 0, source };
        let mut files = Self::default();
        if !std::fs::metadata(path).map_err(error)?.is_dir() {
            files.process.push(path.to_path_buf());
            return Ok(files);
        }
        for entry in std::fs::read_dir(path).map_err(error)? {
            let file = entry.map_err(error)?.path();
            match file.extension().and_then(|ending| ending.to_str()) {
                Some("tmt") if file.is_file() => files.process.push(file),
                Some("live") if file.is_file() => files.live.push(file),
                _ => {}
            }
        }
        files.process.sort();
        files.live.sort();
        Ok(files)
    }
}
