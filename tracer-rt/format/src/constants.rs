//! Sizes, numbers and first bytes that the format fixes.

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
