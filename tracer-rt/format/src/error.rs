//! Errors in the bytes of a file.

/// A damaged or invalid piece of a file. The caller adds the offset of the piece.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormatError {
    /// The file magic is missing.
    NotARun,
    /// The format version is not one that this crate reads.
    Version {
        /// Version of the file.
        found: u16,
        /// Newest version that this crate reads.
        supported: u16,
    },
    /// The bytes end too early.
    Truncated {
        /// Bytes needed.
        needed: usize,
        /// Bytes found.
        found: usize,
    },
    /// There is no block magic at the start of a block.
    NoBlock,
    /// A size in the header is out of range.
    BadSize {
        /// The size found.
        found: u64,
    },
    /// The checksum differs.
    Checksum {
        /// The stored checksum.
        stored: u32,
        /// The computed checksum.
        computed: u32,
    },
    /// The payload's codec is unknown.
    UnknownCodec(u8),
    /// The stored payload has the right checksum but cannot be unpacked by its codec.
    BadPacking {
        /// Number of the codec.
        codec: u8,
    },
    /// A record id without a record type.
    UnknownRecord {
        /// The id.
        id: u16,
        /// Offset in the payload.
        offset: usize,
    },
    /// A record or entry extends beyond the end of its payload.
    BadRecord {
        /// Offset in the payload.
        offset: usize,
    },
    /// The schema's bytes cannot be decoded.
    BadSchema(String),
    /// A stream without a process number in a file of several processes.
    NoOwner {
        /// The stream.
        stream: u32,
    },
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotARun => write!(f, "not a Tumit run file (its first bytes are not `±TUMIT`)"),
            Self::Version { found, supported } => {
                write!(f, "format version {found}, but this program reads versions 1 to {supported}")
            }
            Self::Truncated { needed, found } => write!(f, "cut short: {needed} bytes expected, {found} found"),
            Self::NoBlock => write!(f, "no block starts here"),
            Self::BadSize { found } => write!(f, "a block of {found} bytes is out of range"),
            Self::Checksum { stored, computed } => {
                write!(f, "checksum {computed:08x} where {stored:08x} was expected: the block is damaged")
            }
            Self::UnknownCodec(codec) => {
                write!(f, "unknown codec {codec}: perhaps a newer recorder wrote this; read it with a newer tumit")
            }
            Self::BadPacking { codec } => {
                write!(f, "the block cannot be unpacked by its codec, {codec}: whoever wrote it made a mistake")
            }
            Self::UnknownRecord { id, offset } => write!(f, "record id {id} at byte {offset} is in no schema"),
            Self::BadRecord { offset } => write!(f, "the record at byte {offset} passes the end of its block"),
            Self::NoOwner { stream } => write!(f, "nothing says which process stream {stream} is of"),
            Self::BadSchema(why) => write!(f, "the schema cannot be decoded: {why}"),
        }
    }
}

impl std::error::Error for FormatError {}
