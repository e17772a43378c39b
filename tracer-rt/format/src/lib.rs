#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

pub mod block;
pub mod checksum;
pub mod columns;
pub mod entries;
pub mod live;
pub mod record;
pub mod schema;
pub mod tags;
pub mod typed;
pub mod write;

pub use block::{Block, BlockHeader, BlockKind, Codec, FormatError};
pub use record::{RawRecord, Records, Value};
pub use schema::{FieldType, RecordType, Schema};

/// Version of the byte format; apart from the version of the crates.
pub const FORMAT_VERSION: u16 = 1;
/// First bytes of every file.
pub const FILE_MAGIC: [u8; 8] = *b"\xB1TUMIT\r\n";
/// First bytes of every block.
pub const BLOCK_MAGIC: [u8; 8] = *b"\xB1TMTBLK\n";
/// Size of the preamble in bytes.
pub const PREAMBLE_BYTES: usize = 16;
/// Size of a block header in bytes.
pub const HEADER_BYTES: usize = 64;
/// Blocks start at multiples of this.
pub const BLOCK_ALIGN: usize = 8;
/// Largest raw payload that a reader accepts, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 24;
/// Size of a record's id and delta in bytes.
pub const RECORD_HEAD_BYTES: usize = 6;
/// The stream number of blocks that belong to the whole process.
pub const PROCESS_STREAM: u32 = u32::MAX;
/// How many processes a file can hold: the blocks of the one with number `n` have the stream `PROCESS_STREAM - n`.
pub const MAX_PROCESSES: u32 = 1 << 16;

/// The number of the process whose block has this stream; `None` when it is the number of a stream.
#[must_use]
pub const fn process_of_block(stream: u32) -> Option<u32> {
    let number = PROCESS_STREAM - stream;
    if number < MAX_PROCESSES { Some(number) } else { None }
}
/// Record id: the date that follows is absolute.
pub const ID_WIDE_DATE: u16 = 0xFFFF;
/// Record id: records are missing here.
pub const ID_LOST: u16 = 0xFFFE;
/// Record ids from here on are the format's own.
pub const FIRST_RESERVED_ID: u16 = 0xFFF0;

/// Why records were lost, as bits of a `lost` record.
pub mod cause {
    /// No buffer was free.
    pub const NO_BUFFER: u32 = 1;
    /// The record is larger than a block.
    pub const OVERSIZE: u32 = 2;
    /// A signal handler interrupted a record of its own thread.
    pub const NESTED: u32 = 4;
    /// The file could not be written.
    pub const WRITE_FAILED: u32 = 8;
    /// Newer records took their place: the level is told to overwrite.
    pub const OVERWRITTEN: u32 = 16;
    /// They are damaged or missing in the file of which this one was made.
    pub const DAMAGED: u32 = 32;
    /// No record is missing: the record that follows is truncated.
    pub const TRUNCATED: u32 = 64;
}

/// Which clock a process read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ClockKind {
    /// The time-stamp counter of x86.
    Tsc = 1,
    /// The generic timer of ARM.
    ArmCounter = 2,
    /// `CLOCK_MONOTONIC_RAW`, in nanoseconds.
    MonotonicRaw = 3,
    /// `CLOCK_MONOTONIC`, in nanoseconds.
    Monotonic = 4,
    /// A clock that the program gave.
    User = 5,
}

impl ClockKind {
    /// The kind with this number in a file.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        match number {
            1 => Some(Self::Tsc),
            2 => Some(Self::ArmCounter),
            3 => Some(Self::MonotonicRaw),
            4 => Some(Self::Monotonic),
            5 => Some(Self::User),
            _ => None,
        }
    }

    /// The name that users see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tsc => "TSC",
            Self::ArmCounter => "ARM counter",
            Self::MonotonicRaw => "MONOTONIC_RAW",
            Self::Monotonic => "MONOTONIC",
            Self::User => "user clock",
        }
    }
}

/// The first bytes of a file of this version.
#[must_use]
pub fn preamble() -> [u8; PREAMBLE_BYTES] {
    let mut bytes = [0; PREAMBLE_BYTES];
    bytes[..8].copy_from_slice(&FILE_MAGIC);
    bytes[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
    bytes
}

/// Checks the first bytes of a file and returns its format version.
///
/// # Errors
/// When the magic is another's or damaged, or the version is newer than this crate.
pub fn check_preamble(bytes: &[u8]) -> Result<u16, FormatError> {
    let Some(head) = bytes.first_chunk::<PREAMBLE_BYTES>() else {
        return Err(FormatError::Truncated { needed: PREAMBLE_BYTES, found: bytes.len() });
    };
    if head[..8] != FILE_MAGIC {
        return Err(FormatError::NotARun);
    }
    let version = u16::from_le_bytes([head[8], head[9]]);
    if version > FORMAT_VERSION || version == 0 {
        return Err(FormatError::Version { found: version, supported: FORMAT_VERSION });
    }
    Ok(version)
}
