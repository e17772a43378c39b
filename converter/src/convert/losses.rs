//! The losses of a run, and their texts.

use std::fmt;
use std::path::PathBuf;

use super::gaps;
use crate::run::{LiveError, ProcessInRun};
use crate::run::{Loss, OpenRun};

impl OpenRun {
    /// All losses of the run, by file. Empty if nothing is missing or damaged.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        let mut losses: Vec<Loss> =
            self.unreadable.iter().map(|message| Loss::Unreadable { message: message.clone() }).collect();
        losses.extend(self.copies.iter().map(|(file, of)| Loss::Copy { file: file.clone(), of: of.clone() }));
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
                    why: first.why.to_string(),
                });
            }
            losses.extend(gaps::of_process(process, clocks.as_ref().map(|clocks| clocks.map(number))));
            if process.dropped() > 0 {
                losses.push(Loss::Dropped { file: file(), records: process.dropped() });
            }
            if let Some(repaired) = process.repaired.filter(|repaired| repaired.damaged_bytes > 0) {
                losses.push(Loss::LeftOut { file: file(), bytes: repaired.damaged_bytes });
            }
            if process.live_alone {
                losses.push(Loss::LiveAlone { file: file() });
            }
            if !process.ended {
                let live_records = process.live.as_ref().map_or(0, |live| live.records);
                losses.push(match process.end {
                    Some(_) => Loss::FileFull { file: file(), live_records },
                    None => Loss::NotEnded { file: file(), live_records },
                });
            }
            if process.has_lost_buffers() {
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
            Self::Unreadable { message } => f.write_str(message),
            Self::Copy { file, of } => {
                write!(f, "{}: holds the same process as {}; left out", file.display(), of.display())
            }
            Self::MissingRanks { first, missing: 1, ranks } => {
                write!(f, "rank {first} of {ranks} left no file: was it killed, or is its file on another machine?")
            }
            Self::MissingRanks { first, missing, ranks } => {
                write!(
                    f,
                    "{missing} of {ranks} ranks left no file, the first of them {first}: are theirs on other machines?"
                )
            }
            Self::Damage { file, offset, bytes, pieces, why } => {
                write!(f, "{}: {bytes} damaged bytes, from byte {offset}: {why}", file.display())?;
                if *pieces > 1 { write!(f, " ({pieces} pieces)") } else { Ok(()) }
            }
            Self::MissingBlocks { .. }
            | Self::MissingPart { .. }
            | Self::MissingRecords { .. }
            | Self::MissingTables { .. }
            | Self::NotDescribed { .. }
            | Self::Undecodable { .. } => gaps::tell(self, f),
            Self::Dropped { file, records } => write!(f, "{}: {records} records were dropped", file.display()),
            Self::NotEnded { file, live_records } => {
                write!(f, "{}: the process did not end in order (killed, or still running)", file.display())?;
                match live_records {
                    0 => Ok(()),
                    1 => write!(f, "; 1 record is from its live file"),
                    count => write!(f, "; {count} records are from its live file"),
                }
            }
            Self::FileFull { file, live_records } => write!(
                f,
                "{}: the process ended in order, but its file could not take all (was the disk full?); from its live file: {live_records} records. Use `tumit repair`, which brings both together",
                file.display()
            ),
            Self::Buffers { file, mapped: true } => write!(
                f,
                "{}: its live file is missing: what was in it alone when the process was killed (or is, if it still runs) is not here, and cannot be counted",
                file.display()
            ),
            Self::Buffers { file, mapped: false } => write!(
                f,
                "{}: what was in the private buffers of the process when it was killed (or is, if it still runs) is not here, and cannot be counted",
                file.display()
            ),
            Self::Live { file, faults, bytes, records, why } => {
                write!(f, "{}: {why}", file.display())?;
                if *faults > 1 {
                    write!(f, " (and {} more like it)", faults - 1)?;
                }
                if *bytes > 0 { write!(f, "; {bytes} bytes, {records} records not used") } else { Ok(()) }
            }
            Self::LeftOut { file, bytes } => {
                write!(f, "{}: {bytes} damaged bytes were left out when it was repaired", file.display())
            }
            Self::LiveAlone { file } => {
                let whose = file.with_extension("tmt");
                let whose = whose.file_name().unwrap_or_default().to_string_lossy();
                write!(
                    f,
                    "{}: the process's file {whose} is missing or empty; this is what its live file holds",
                    file.display()
                )
            }
        }
    }
}

/// The losses of a live file.
fn live_loss(process: &ProcessInRun) -> Option<Loss> {
    let missing = || {
        let file = process.live_path.clone().filter(|_| !process.ended)?;
        let why = LiveError::Missing.to_string();
        Some(Loss::Live { file, faults: 1, bytes: 0, records: 0, why })
    };
    let Some(live) = &process.live else { return missing() };
    let first = live.faults.first()?;
    Some(Loss::Live {
        file: live.path.clone(),
        faults: live.faults.len(),
        bytes: live.faults.iter().map(|fault| fault.bytes).sum(),
        records: live.lost_records,
        why: first.why.to_string(),
    })
}
