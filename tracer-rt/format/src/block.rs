//! Blocks: the unit of writing, checking, skipping, and recovery after damage.
//!
//! ```
//! use tracer_format::block::{append_block, decode_block};
//! use tracer_format::{BlockHeader, BlockKind};
//!
//! let payload = b"payload";
//! let bytes = payload.len() as u32;
//! let header = BlockHeader {
//!     kind: BlockKind::Process as u8,
//!     raw_bytes: bytes,
//!     stored_bytes: bytes,
//!     ..BlockHeader::default()
//! };
//! let mut file = Vec::new();
//! append_block(&mut file, &header, payload);
//! let block = decode_block(&file)?;
//! assert_eq!(block.stored_body, payload);
//!
//! // The checksum detects damage.
//! file[tracer_format::HEADER_BYTES] ^= 1;
//! assert!(decode_block(&file).is_err());
//! # Ok::<(), tracer_format::FormatError>(())
//! ```

use crate::bytes::{u32_at, u64_at};
use crate::checksum::crc32c;
use crate::columns::BlockColumns;
use crate::error::FormatError;
use crate::format_constants::{BLOCK_ALIGN, BLOCK_MAGIC, HEADER_BYTES, MAX_PAYLOAD_BYTES};

/// The kind of a block's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockKind {
    /// Tagged fields of the process.
    Process = 1,
    /// The schema of one provider.
    Schema = 2,
    /// Tagged fields of a stream.
    Stream = 3,
    /// Interned strings.
    Strings = 4,
    /// Source positions.
    Sites = 5,
    /// Records of a stream.
    Records = 6,
    /// Sync samples.
    Sync = 7,
    /// Clock anchors.
    Anchors = 8,
    /// The process ended in order.
    End = 9,
}

impl BlockKind {
    /// The kind with this number in a file.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Process,
            2 => Self::Schema,
            3 => Self::Stream,
            4 => Self::Strings,
            5 => Self::Sites,
            6 => Self::Records,
            7 => Self::Sync,
            8 => Self::Anchors,
            9 => Self::End,
            _ => return None,
        })
    }
}

/// The storage method of a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum PayloadCodec {
    /// Unchanged.
    #[default]
    Raw = 0,
    /// One LZ4 block without a size prefix.
    Lz4 = 1,
    /// Records in columns. See [`crate::columns`].
    Columns = 2,
}

impl PayloadCodec {
    /// The codec with this number in a file.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Raw,
            1 => Self::Lz4,
            2 => Self::Columns,
            _ => return None,
        })
    }
}

/// Flags of a header.
pub mod flag {
    /// The sequence numbers missing before this block are those of overwritten blocks.
    /// No block is missing.
    pub const OVERWRITTEN: u8 = 1;
    /// The block begins with a `dropped` record of damaged or missing records in the original of
    /// this file.
    pub const MISSING: u8 = 2;
}

/// The header of a block, decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockHeader {
    /// Number of the kind; see [`BlockKind::from_number`].
    pub kind: u8,
    /// Number of the codec; see [`PayloadCodec`].
    pub codec: u8,
    /// Bits of [`flag`].
    pub flags: u8,
    /// Stream, or [`crate::PROCESS_STREAM`].
    pub stream: u32,
    /// Number of records or entries in the payload.
    pub records: u32,
    /// Position among the blocks of its stream.
    pub sequence: u64,
    /// Size of the unpacked payload in bytes.
    pub raw_bytes: u32,
    /// Size of the stored payload in bytes.
    pub stored_bytes: u32,
    /// Number of records dropped so far in this stream.
    pub dropped: u64,
    /// Timestamp of the first record, local ticks.
    pub first_ticks: u64,
    /// Timestamp of the last record, local ticks.
    pub last_ticks: u64,
}

impl BlockHeader {
    /// Returns the 64 bytes before `payload` (as stored), with the checksum.
    #[must_use]
    pub fn encode(&self, payload: &[u8]) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&BLOCK_MAGIC);
        bytes[12] = self.kind;
        bytes[13] = self.codec;
        bytes[14] = self.flags;
        bytes[16..20].copy_from_slice(&self.stream.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.records.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.raw_bytes.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.stored_bytes.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.dropped.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.first_ticks.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.last_ticks.to_le_bytes());
        let crc = crc32c(crc32c(0, &bytes), payload);
        bytes[8..12].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header and checks its magic and sizes, but not its checksum.
    /// For readers that index a file before they read payloads.
    ///
    /// # Errors
    /// If the magic is missing, there are too few bytes, or a size is out of range.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let Some(b) = bytes.first_chunk::<HEADER_BYTES>() else {
            return Err(FormatError::Truncated { needed_bytes: HEADER_BYTES, available_bytes: bytes.len() });
        };
        if b[..8] != BLOCK_MAGIC {
            return Err(FormatError::NoBlock);
        }
        let header = Self {
            kind: b[12],
            codec: b[13],
            flags: b[14],
            stream: u32_at(b, 16),
            records: u32_at(b, 20),
            sequence: u64_at(b, 24),
            raw_bytes: u32_at(b, 32),
            stored_bytes: u32_at(b, 36),
            dropped: u64_at(b, 40),
            first_ticks: u64_at(b, 48),
            last_ticks: u64_at(b, 56),
        };
        for size in [header.raw_bytes, header.stored_bytes] {
            if size as usize > MAX_PAYLOAD_BYTES {
                return Err(FormatError::BadSize { found: u64::from(size) });
            }
        }
        Ok(header)
    }

    /// Size of the whole block in the file, with padding.
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        (HEADER_BYTES + self.stored_bytes as usize).next_multiple_of(BLOCK_ALIGN)
    }
}

/// A block with a correct checksum.
#[derive(Clone, Copy, Debug)]
pub struct DecodedBlock<'a> {
    /// Decoded and checked.
    pub header: BlockHeader,
    /// The stored payload, packed by [`BlockHeader::codec`].
    pub stored_body: &'a [u8],
}

/// Reads the block at the start of `bytes`.
///
/// # Errors
/// Any [`FormatError`] of blocks. Nothing is allocated.
pub fn decode_block(bytes: &[u8]) -> Result<DecodedBlock<'_>, FormatError> {
    let header = BlockHeader::decode(bytes)?;
    let needed_bytes = HEADER_BYTES + header.stored_bytes as usize;
    let Some(stored_body) = bytes.get(HEADER_BYTES..needed_bytes) else {
        return Err(FormatError::Truncated { needed_bytes, available_bytes: bytes.len() });
    };
    let mut head = [0; HEADER_BYTES];
    head.copy_from_slice(&bytes[..HEADER_BYTES]);
    head[8..12].fill(0);
    let computed_checksum = crc32c(crc32c(0, &head), stored_body);
    let expected = u32_at(bytes, 8);
    if computed_checksum != expected {
        return Err(FormatError::Checksum { stored_checksum: expected, computed_checksum });
    }
    Ok(DecodedBlock { header, stored_body })
}

/// Returns the payload of a block: as stored, or unpacked into `buffer`.
/// The old contents of `buffer` are overwritten.
///
/// # Errors
/// If the codec is unknown, or if the unpacked size differs from the header. The contents of
/// `buffer` are then undefined. It grows to the raw size in the header, which
/// [`BlockHeader::decode`] limits.
pub fn unpack<'b>(
    header: &BlockHeader,
    stored_bytes: &'b [u8],
    buffer: &'b mut Vec<u8>,
) -> Result<&'b [u8], FormatError> {
    let size = header.raw_bytes as usize;
    let bad = FormatError::BadPacking { codec: header.codec };
    if size > MAX_PAYLOAD_BYTES {
        return Err(FormatError::BadSize { found: size as u64 });
    }
    match PayloadCodec::from_number(header.codec).ok_or(FormatError::UnknownCodec(header.codec))? {
        PayloadCodec::Raw => return if stored_bytes.len() == size { Ok(stored_bytes) } else { Err(bad) },
        PayloadCodec::Lz4 => {
            buffer.clear();
            buffer.resize(size, 0);
            let filled = lz4_flex::block::decompress_into(stored_bytes, buffer).unwrap_or(usize::MAX);
            if filled != size {
                return Err(bad);
            }
        }
        PayloadCodec::Columns => crate::columns::unpack(stored_bytes, size, buffer).ok_or(bad)?,
    }
    Ok(buffer)
}

/// Reads the columns of a block of records for which `is_selected` returns true. See
/// [`BlockColumns::read`]. `None` if the block has another codec or is damaged.
pub fn columns(header: &BlockHeader, body: &[u8], is_selected: impl FnMut(u16, usize) -> bool) -> Option<BlockColumns> {
    let size = header.raw_bytes as usize;
    let fits = size <= MAX_PAYLOAD_BYTES && header.codec == PayloadCodec::Columns as u8;
    if fits { BlockColumns::read(body, size, is_selected) } else { None }
}

/// Appends a block with this header and stored payload, padded.
pub fn append_block(out: &mut Vec<u8>, header: &BlockHeader, stored_bytes: &[u8]) {
    out.extend_from_slice(&header.encode(stored_bytes));
    out.extend_from_slice(stored_bytes);
    out.resize(out.len().next_multiple_of(BLOCK_ALIGN), 0);
}

/// Offset of the next block magic at or after `from`.
/// Searches at every byte, because padding may be missing after damage.
#[must_use]
pub fn find_block(bytes: &[u8], from: usize) -> Option<usize> {
    let tail = bytes.get(from..)?;
    tail.windows(BLOCK_MAGIC.len()).position(|window| window == BLOCK_MAGIC).map(|offset| from + offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip_detects_every_flipped_bit(payload in proptest::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), bit in 0u8..8) {
            let header = BlockHeader {
                kind: BlockKind::Records as u8,
                stream: 3,
                records: 7,
                sequence: 9,
                raw_bytes: u32::try_from(payload.len()).unwrap(),
                stored_bytes: u32::try_from(payload.len()).unwrap(),
                dropped: 2,
                flags: flag::OVERWRITTEN,
                first_ticks: 10,
                last_ticks: 20,
                ..BlockHeader::default()
            };
            let mut bytes = Vec::new();
            append_block(&mut bytes, &header, &payload);
            let block = decode_block(&bytes).unwrap();
            prop_assert_eq!(block.header, header);
            prop_assert_eq!(block.stored_body, &payload[..]);
            prop_assert_eq!(bytes.len(), header.block_bytes());
            let checked = HEADER_BYTES + payload.len();
            bytes[at.index(checked)] ^= 1 << bit;
            prop_assert!(decode_block(&bytes).is_err());
        }
    }

    #[test]
    fn blocks_are_found_after_damage() {
        let mut bytes = vec![1, 2, 3];
        append_block(&mut bytes, &BlockHeader::default(), &[]);
        assert_eq!(find_block(&bytes, 0), Some(3));
        assert_eq!(find_block(&bytes, 4), None);
        assert_eq!(find_block(&bytes, 1000), None);
    }
}
