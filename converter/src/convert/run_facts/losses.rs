//! The losses of a run, and their texts.

use std::fmt;
use std::path::PathBuf;

use super::gaps;
use crate::run::{LiveError, Loss, OpenRun, ProcessInRun};

impl OpenRun {
    /// All losses of the run, by file. Empty if nothing is missing or damaged.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        let mut losses: Vec<Loss> =
            self.unreadable_files.iter().map(|diagnostic| Loss::Unreadable { reason: diagnostic.clone() }).collect();
        losses.extend(
            self.copies.iter().map(|file| Loss::Copy { file: file.copy.clone(), used_file: file.used_file.clone() }),
        );
        losses.extend(self.missing_ranks());
        let clocks = gaps::clocks(self);
        for (number, process) in self.processes.iter().enumerate() {
            // A sorted file has several processes.
            let file = || match process.part {
                Some(_) => PathBuf::from(format!("{}: {}", process.path.display(), self.process_name(number))),
                None => process.path.clone(),
            };
            if let Some(first) = process.damage.first() {
                losses.push(Loss::Damage {
                    file: file(),
                    offset: first.offset,
                    bytes: process.damaged_bytes(),
                    pieces: process.damage.len(),
                    reason: first.reason.to_string(),
                });
            }
            losses.extend(gaps::of_process(process, clocks.as_ref().map(|clocks| clocks.map(number))));
            if process.dropped_records() > 0 {
                losses.push(Loss::Dropped { file: file(), records: process.dropped_records() });
            }
            if let Some(repaired) = process.repair.filter(|repaired| repaired.damaged_bytes > 0) {
                losses.push(Loss::LeftOut { file: file(), bytes: repaired.damaged_bytes });
            }
            if process.live_alone {
                losses.push(Loss::LiveAlone { file: file() });
            }
            if !process.has_ended {
                let live_records = process.live.as_ref().map_or(0, |live| live.records);
                losses.push(match process.end {
                    Some(_) => Loss::FileFull { file: file(), live_records },
                    None => Loss::NotEnded { file: file(), live_records },
                });
            }
            if process.has_missing_buffers() {
                losses.push(Loss::Buffers { file: file(), mapped: process.buffers == Some(1) });
            }
            losses.extend(live_loss(process));
        }
        losses
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { reason } => f.write_str(&reason.text),
            Self::Copy { file, used_file } => {
                write!(f, "{}: contains the same process as {}; not used", file.display(), used_file.display())
            }
            Self::MissingRanks { first, missing_count: 1, ranks } => {
                write!(
                    f,
                    "rank {first} of {ranks} has no file; the process was killed, or its file is on another machine"
                )
            }
            Self::MissingRanks { first, missing_count, ranks } => {
                write!(
                    f,
                    "{missing_count} of {ranks} ranks have no file, the first of them is rank {first}; their files may be on other machines"
                )
            }
            Self::Damage { file, offset, bytes, pieces, reason: why } => {
                write!(f, "{}: {bytes} damaged bytes from byte {offset}: {why}", file.display())?;
                if *pieces > 1 { write!(f, " ({pieces} places)") } else { Ok(()) }
            }
            Self::MissingBlocks { .. }
            | Self::MissingPart { .. }
            | Self::MissingRecords { .. }
            | Self::MissingTables { .. }
            | Self::NotDescribed { .. }
            | Self::Undecodable { .. } => gaps::write_loss(self, f),
            Self::Dropped { file, records } => write!(f, "{}: {records} records were dropped", file.display()),
            Self::LeftOut { file, bytes } => {
                write!(f, "{}: the repair omitted {bytes} damaged bytes", file.display())
            }
            Self::NotEnded { .. }
            | Self::FileFull { .. }
            | Self::Buffers { .. }
            | Self::Live { .. }
            | Self::LiveAlone { .. } => write_live_loss(self, f),
        }
    }
}

/// Writes the text of a loss of a process without an orderly end, or of a live file.
fn write_live_loss(loss: &Loss, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match loss {
        Loss::NotEnded { file, live_records } => {
            write!(f, "{}: the process did not end in order (it was killed, or still runs)", file.display())?;
            match live_records {
                0 => Ok(()),
                1 => write!(f, "; 1 record comes from its live file"),
                count => write!(f, "; {count} records come from its live file"),
            }
        }
        Loss::FileFull { file, live_records } => write!(
            f,
            "{}: the process ended in order, but its file is incomplete, perhaps because the disk was full; {live_records} records come from its live file; `tumit repair` writes both to one file",
            file.display()
        ),
        Loss::Buffers { file, mapped: true } => write!(
            f,
            "{}: its live file is missing: records that were only in the live file when the process was killed (or are, if it still runs) are missing, and their number is unknown",
            file.display()
        ),
        Loss::Buffers { file, mapped: false } => write!(
            f,
            "{}: records that were in the private buffers of the process when it was killed (or are, if it still runs) are missing, and their number is unknown",
            file.display()
        ),
        Loss::Live { file, faults, bytes, records, reason } => {
            write!(f, "{}: {reason}", file.display())?;
            if *faults > 1 {
                write!(f, " (and {} more of this kind)", faults - 1)?;
            }
            if *bytes > 0 { write!(f, "; {bytes} bytes and {records} records are not used") } else { Ok(()) }
        }
        Loss::LiveAlone { file } => {
            let process_file = file.with_extension("tmt");
            let process_file = process_file.file_name().unwrap_or_default().to_string_lossy();
            write!(
                f,
                "{}: the process file {process_file} is missing or empty; only the records of the live file are read",
                file.display()
            )
        }
        _ => Ok(()),
    }
}

/// The losses of a live file.
fn live_loss(process: &ProcessInRun) -> Option<Loss> {
    let missing = || {
        let file = process.live_path.clone().filter(|_| !process.has_ended)?;
        let reason = LiveError::Missing.to_string();
        Some(Loss::Live { file, faults: 1, bytes: 0, records: 0, reason })
    };
    let Some(live) = &process.live else { return missing() };
    let first = live.faults.first()?;
    Some(Loss::Live {
        file: live.path.clone(),
        faults: live.faults.len(),
        bytes: live.faults.iter().map(|fault| fault.bytes).sum(),
        records: live.unreadable_records,
        reason: first.reason.to_string(),
    })
}
