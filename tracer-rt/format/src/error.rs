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
        version: u16,
        /// Newest version that this crate reads.
        supported: u16,
    },
    /// The bytes end too early.
    Truncated {
        /// Bytes needed.
        needed_bytes: usize,
        /// Bytes found.
        available_bytes: usize,
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
        stored_checksum: u32,
        /// The computed checksum.
        computed_checksum: u32,
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
        /// The id as the record has it.
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
        /// Number of the stream, as block headers have it.
        stream: u32,
    },
}

impl std::fmt::Display for FormatError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotARun => write!(f, "not a Tumit run file (its first bytes are not `±TUMIT`)"),
            Self::Version { version, supported } => {
                write!(f, "format version {version}, but this program reads versions 1 to {supported}")
            }
            Self::Truncated { needed_bytes, available_bytes: version } => {
                write!(f, "cut short: {needed_bytes} bytes expected, {version} found")
            }
            Self::NoBlock => write!(f, "no block starts here"),
            Self::BadSize { found: version } => write!(f, "the block size of {version} bytes is out of range"),
            Self::Checksum { stored_checksum, computed_checksum } => {
                write!(
                    f,
                    "the block is damaged: its checksum is {computed_checksum:08x}, expected {stored_checksum:08x}"
                )
            }
            Self::UnknownCodec(codec) => {
                write!(f, "unknown codec {codec}, perhaps of a newer recorder; read the file with a newer tumit")
            }
            Self::BadPacking { codec } => {
                write!(f, "codec {codec} cannot unpack the block: the program that wrote it is faulty")
            }
            Self::UnknownRecord { id, offset } => write!(f, "no schema defines record id {id} at byte {offset}"),
            Self::BadRecord { offset } => write!(f, "the record at byte {offset} extends beyond the end of its block"),
            Self::NoOwner { stream } => {
                write!(f, "the process of stream {stream} is unknown: its description is missing")
            }
            Self::BadSchema(reason) => write!(f, "the schema cannot be decoded: {reason}"),
        }
    }
}

impl std::error::Error for FormatError {}
