//! Sizes, numbers and magics of the format.

/// Version of the byte format, independent of the version of the crates.
pub const FORMAT_VERSION: u16 = 1;
/// First bytes of every file.
pub const FILE_MAGIC: [u8; 8] = *b"\xB1TUMIT\r\n";
/// First bytes of every block.
pub const BLOCK_MAGIC: [u8; 8] = *b"\xB1TMTBLK\n";
/// Size of the preamble in bytes.
pub const PREAMBLE_BYTES: usize = 16;
/// Size of a block header in bytes.
pub const HEADER_BYTES: usize = 64;
/// Alignment of blocks in bytes.
pub const BLOCK_ALIGN: usize = 8;
/// Largest raw payload that a reader accepts, in bytes.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 24;
/// Size of a record's id and delta in bytes.
pub const RECORD_HEAD_BYTES: usize = 6;
/// The stream number of blocks of the whole process.
pub const PROCESS_STREAM: u32 = u32::MAX;
/// Maximum number of processes of a file.
/// Blocks of process `n` have the stream number `PROCESS_STREAM - n`.
pub const MAX_PROCESSES: u32 = 1 << 16;

/// The number of the process with blocks of this stream number.
/// `None` if it is the number of a stream.
#[must_use]
pub const fn process_of_block(stream: u32) -> Option<u32> {
    let number = PROCESS_STREAM - stream;
    if number < MAX_PROCESSES { Some(number) } else { None }
}

/// Record id of a record that sets the timestamp: an absolute timestamp follows.
pub const ID_WIDE_TIMESTAMP: u16 = 0xFFFF;
/// Record id of a report of missing records.
pub const ID_DROPPED: u16 = 0xFFFE;
/// First record id that is reserved for the format.
pub const FIRST_RESERVED_ID: u16 = 0xFFF0;
