//! What is missing from a run or damaged in it.

use std::path::PathBuf;

use crate::time::GlobalNanos;

/// Where the missing last records of a process were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEnd {
    /// The stream, if it can only be one.
    pub stream: Option<u32>,
    /// They are not before this date, the earliest last one of the streams.
    pub after: Option<GlobalNanos>,
}

/// One thing that is missing from a run or damaged in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// A file could not be used at all.
    Unreadable {
        /// Names the file and says why.
        message: String,
    },
    /// A file is a copy of another, or of a part of it, and was left out.
    Copy {
        /// The copy.
        file: PathBuf,
        /// The file that is used.
        of: PathBuf,
    },
    /// Ranks of the job left no file.
    MissingRanks {
        /// The first of them.
        first: u64,
        /// How many are missing.
        missing: u64,
        /// How many the job had.
        ranks: u64,
    },
    /// A piece of a file is damaged.
    Damage {
        /// The file.
        file: PathBuf,
        /// Where the first damage begins.
        offset: u64,
        /// Bytes damaged in this file.
        bytes: u64,
        /// Number of pieces.
        pieces: usize,
        /// What is wrong with the first piece.
        why: String,
    },
    /// Blocks of a stream are missing.
    MissingBlocks {
        /// The file.
        file: PathBuf,
        /// The stream.
        stream: u32,
        /// How many blocks.
        blocks: u64,
        /// Between which dates; the first is not known at the beginning of the stream.
        dates: (Option<GlobalNanos>, GlobalNanos),
    },
    /// Records of a stream were damaged or missing in the run of which the file was made.
    MissingPart {
        /// The file.
        file: PathBuf,
        /// The stream.
        stream: u32,
        /// In how many places.
        places: usize,
        /// Between which dates; not known at the beginning and at the end of the stream.
        dates: (Option<GlobalNanos>, Option<GlobalNanos>),
    },
    /// The process said at its end that it had written more records than there are.
    MissingRecords {
        /// The file.
        file: PathBuf,
        /// How many are missing.
        records: u64,
        /// How many it wrote.
        written: u64,
        /// Where they were, unless missing or damaged blocks say that already.
        place: Option<MissingEnd>,
    },
    /// Blocks of a file that hold no records are missing.
    MissingTables {
        /// The file.
        file: PathBuf,
        /// How many blocks.
        blocks: u64,
    },
    /// Nothing describes what is there.
    NotDescribed {
        /// The file.
        file: PathBuf,
        /// What has no description: a part of a sentence.
        what: String,
    },
    /// Records of good blocks cannot be decoded.
    Undecodable {
        /// The file.
        file: PathBuf,
        /// How many, as the blocks' heads say.
        records: u64,
        /// What is wrong with the first.
        why: String,
    },
    /// The recorder dropped records.
    Dropped {
        /// The file.
        file: PathBuf,
        /// How many.
        records: u64,
    },
    /// The process did not end in order: it was killed, or still runs.
    NotEnded {
        /// The file.
        file: PathBuf,
        /// Records that its live file had and its file had not: they are used.
        live_records: u64,
    },
    /// The process ended in order, but its file could not take all records.
    FileFull {
        /// The file.
        file: PathBuf,
        /// Records that are in its live file and not in its file: they are used.
        live_records: u64,
    },
    /// What the buffers of a process that did not end in order held.
    Buffers {
        /// The file.
        file: PathBuf,
        /// They were in a live file, which is missing; else in private memory.
        mapped: bool,
    },
    /// Something in the live file of a process that did not end in order could not be used.
    Live {
        /// The live file.
        file: PathBuf,
        /// How many things.
        faults: usize,
        /// Bytes that could not be used.
        bytes: u64,
        /// Records that were to be in them.
        records: u64,
        /// What is wrong with the first.
        why: String,
    },
    /// A repair left damage out of a file.
    LeftOut {
        /// The file.
        file: PathBuf,
        /// How many bytes.
        bytes: u64,
    },
    /// Of a process there is a live file only: what it wrote to its file before is missing.
    LiveAlone {
        /// The live file.
        file: PathBuf,
    },
}
