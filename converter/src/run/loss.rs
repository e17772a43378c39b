//! Data that is missing from a run or damaged.

use std::path::PathBuf;

use tumit_paje::TraceDiagnostic;
use tumit_paje::time::GlobalNanos;

/// The position of the missing last records of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingEnd {
    /// The stream, if only one is possible.
    pub stream: Option<u32>,
    /// They are not earlier than this: the earliest last timestamp of the streams.
    pub min_timestamp: Option<GlobalNanos>,
}

/// Missing or damaged data of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names explain the fields; `file` and `stream` are the place of the loss")]
pub enum Loss {
    /// A file could not be used at all.
    Unreadable { reason: TraceDiagnostic },
    /// A file is a copy of another, or of a part of it, and was left out.
    Copy { file: PathBuf, used_file: PathBuf },
    /// Ranks of the job left no file.
    MissingRanks { first: u64, missing_count: u64, ranks: u64 },
    /// A piece of a file is damaged.
    Damage {
        file: PathBuf,
        /// The byte at which the first damage begins.
        offset: u64,
        /// Bytes damaged in this file.
        bytes: u64,
        /// Number of pieces.
        pieces: usize,
        /// The error of the first piece.
        reason: String,
    },
    /// Blocks of a stream are missing.
    MissingBlocks {
        file: PathBuf,
        stream: u32,
        blocks: u64,
        /// The last timestamp before them. `None` if the first blocks are missing.
        from: Option<GlobalNanos>,
        /// The first timestamp after them.
        to: GlobalNanos,
    },
    /// Records of a stream are damaged or missing in the run from which the file was made.
    MissingPart {
        file: PathBuf,
        stream: u32,
        places: usize,
        /// The last timestamp before them. `None` at the start of the stream.
        from: Option<GlobalNanos>,
        /// The first timestamp after them. `None` at the end of the stream.
        to: Option<GlobalNanos>,
    },
    /// The process wrote more records than the file has, by the count in its end block.
    MissingRecords {
        file: PathBuf,
        records: u64,
        written_records: u64,
        /// Their position, unless missing or damaged blocks explain it.
        place: Option<MissingEnd>,
    },
    /// Blocks without records are missing.
    MissingTables { file: PathBuf, blocks: u64 },
    /// A description is missing.
    NotDescribed {
        file: PathBuf,
        /// The missing description, as a part of a sentence.
        subject: String,
    },
    /// Records of intact blocks cannot be decoded.
    Undecodable {
        file: PathBuf,
        /// The number of records by the headers of the blocks.
        records: u64,
        /// The error of the first record.
        reason: String,
    },
    /// The recorder dropped records.
    Dropped { file: PathBuf, records: u64 },
    /// The process did not end in order: it was killed or still runs.
    NotEnded {
        file: PathBuf,
        /// Records that only the live file has. They are used.
        live_records: u64,
    },
    /// The process ended in order, but its file has no room for all records.
    FileFull {
        file: PathBuf,
        /// Records that only the live file has. They are used.
        live_records: u64,
    },
    /// The buffers of a process that did not end in order are missing.
    Buffers {
        file: PathBuf,
        /// Whether they were in a live file, which is missing. Otherwise they were in private
        /// memory.
        mapped: bool,
    },
    /// A part of the live file of a process that did not end in order cannot be used.
    Live {
        file: PathBuf,
        /// The number of parts.
        faults: usize,
        /// The number of unusable bytes.
        bytes: u64,
        /// The number of records in them.
        records: u64,
        /// The error of the first part.
        reason: String,
    },
    /// A repair left damage out of a file.
    LeftOut { file: PathBuf, bytes: u64 },
    /// The process file is missing. Only the live file exists.
    LiveAlone { file: PathBuf },
}
