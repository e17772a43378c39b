//! Opens the file of a process: collects its tables and the positions of its blocks.

use std::fs::File;
use std::path::{Path, PathBuf};

use tracer_format::block::decode_block;
use tracer_format::tags::{TagIterator, tag};
use tracer_format::{BlockKind, FormatError, PREAMBLE_BYTES, PayloadCodec, check_preamble};

use super::error::RunReadError;
use super::file_scan::scan;
use super::live_snapshot::{LiveError, LiveSnapshot};
use super::name_recovery::process_id;
use super::process::{MovedLiveFiles, ProcessInRun};
use super::process_builder::ProcessBuilder;
use super::read_at::read_at;
use tumit_spill::spool::Spool;

/// The reason why a file is not part of a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunFileError {
    #[error(transparent)]
    Read(#[from] RunReadError),
    #[error("{}: {reason}", file.display())]
    Format { file: PathBuf, reason: FormatError },
}

impl ProcessInRun {
    /// Scans a file and collects the tables of each of its processes. `spool` keeps the data of
    /// live files. `lives` are live files that are not at the path which their process file names.
    pub(crate) fn open(path: &Path, spool: &mut Spool, lives: &MovedLiveFiles) -> Result<Vec<Self>, RunFileError> {
        let read_error = |offset| move |source| RunReadError { file: path.to_path_buf(), offset, source };
        let file = File::open(path).map_err(read_error(0))?;
        let mut head = vec![0; FIRST_BYTES];
        let filled = read_at(&file, &mut head, 0).map_err(read_error(0))?;
        let head = &head[..filled];
        check_preamble(head).map_err(|reason| RunFileError::Format { file: path.to_path_buf(), reason })?;
        // The live file is read first, because data that move to the process file in the meantime
        // are found there.
        let first = first_block(head);
        let known_live_file = first.and_then(process_id).and_then(|id| lives.get(&id)).cloned();
        let live = live_file(path, first).or(known_live_file);
        let snapshot = live.map(|live| (LiveSnapshot::copy(&live, spool), live));
        let length = file.metadata().map_err(read_error(0))?.len();
        let mut building = ProcessBuilder::default();
        scan(&file, length, &mut |item| building.add_item(item)).map_err(read_error(PREAMBLE_BYTES as u64))?;
        match snapshot {
            Some((snapshot, live)) if !building.process.has_ended => {
                building.add_live_file(snapshot, live, Some(&file)).map_err(read_error(0))?;
            }
            // A live file elsewhere can belong to the run from which this file was copied.
            Some((Ok(snapshot), live))
                if snapshot.header.process_id == building.process.id && live == path.with_extension("live") =>
            {
                building.process.left_live = Some(live);
            }
            _ => {}
        }
        Ok(building.finish_all(path, length))
    }

    /// A process from its live file alone, if its process file is missing or empty.
    pub(crate) fn open_live(path: &Path, spool: &mut Spool) -> Result<Self, LiveError> {
        let snapshot = LiveSnapshot::copy(path, spool)?;
        if snapshot.is_empty() {
            return Err(LiveError::Empty);
        }
        let mut building = ProcessBuilder::default();
        let adopted = building.add_live_file(Ok(snapshot), path.to_path_buf(), None);
        adopted.map_err(|error| LiveError::Unreadable(error.to_string()))?;
        let mut process = building.finish(path, 0);
        process.live_alone = true;
        match process.live.take() {
            Some(live) if live.is_used => process.live = Some(live),
            other => {
                return Err(other
                    .and_then(|live| live.faults.into_iter().next())
                    .map_or(LiveError::NotLive, |f| f.reason));
            }
        }
        Ok(process)
    }
}

/// Number of bytes that are read first. A process block is smaller.
const FIRST_BYTES: usize = 1 << 16;

/// The payload of the process block, if it is the first block and intact.
fn first_block(head: &[u8]) -> Option<&[u8]> {
    let block = decode_block(head.get(PREAMBLE_BYTES..)?).ok()?;
    (block.header.kind == BlockKind::Process as u8 && block.header.codec == PayloadCodec::Raw as u8)
        .then_some(block.stored_body)
}

/// The live file of a process file: at the path in the process block, otherwise in the same folder.
fn live_file(path: &Path, tags: Option<&[u8]>) -> Option<PathBuf> {
    let recorded = tags.and_then(|tags| TagIterator(tags).find(|(number, _)| *number == tag::LIVE_PATH));
    let recorded = recorded.map(|(_, bytes)| PathBuf::from(String::from_utf8_lossy(bytes).into_owned()));
    let default = path.with_extension("live");
    let there = |path: &PathBuf| std::fs::symlink_metadata(path).is_ok();
    recorded.filter(there).or_else(|| Some(default).filter(there))
}
