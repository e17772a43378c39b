//! Scans a file in one pass. Every block is checked. Bytes between valid blocks are damage.

use std::fs::File;
use std::io;

use tracer_format::block::{BlockHeader, DecodedBlock, decode_block, find_block};
use tracer_format::{BLOCK_MAGIC, FormatError, HEADER_BYTES, PREAMBLE_BYTES};

use super::read_at::read_at;

const CHUNK_BYTES: usize = 1 << 20;

/// A finding of a scan.
pub(crate) enum ScanItem<'a> {
    /// A block with a correct checksum.
    Block { offset: u64, block: DecodedBlock<'a> },
    /// Bytes that belong to no valid block. They may begin with the head of a block with a wrong
    /// checksum.
    Damage { offset: u64, bytes: u64, reason: FormatError, head: Option<BlockHeader> },
}

/// Scans the blocks of a file of `length` bytes, after its preamble.
///
/// After damage, the scan searches for the next block magic. A hostile file can contain magics
/// without blocks. The work for these is limited to a multiple of the file length. The rest of the
/// file then counts as damage.
pub(crate) fn scan(file: &File, length: u64, visit_item: &mut dyn FnMut(ScanItem<'_>)) -> io::Result<()> {
    let mut window = FileWindow { file, length, start: 0, bytes: Vec::new() };
    let mut offset = PREAMBLE_BYTES as u64;
    let mut damage: Option<DamageStart> = None;
    let mut budget = length.saturating_mul(16).saturating_add(1 << 26);
    while offset < length {
        match block_at(&mut window, offset)? {
            Ok(block) => {
                if let Some(DamageStart { from, block: RejectedBlock { reason, head } }) = damage.take() {
                    visit_item(ScanItem::Damage { offset: from, bytes: offset - from, reason, head });
                }
                let next = offset + block.header.block_bytes() as u64;
                visit_item(ScanItem::Block { offset, block });
                offset = next;
            }
            Err(block) => {
                budget = budget.saturating_sub(cost(block.head.as_ref()));
                let from = damage.get_or_insert(DamageStart { from: offset, block }).from;
                let next = if budget == 0 { None } else { next_magic(&mut window, offset + 1, length)? };
                let Some(next) = next else {
                    return end_in_damage(&mut window, from, length, damage, visit_item);
                };
                offset = next;
            }
        }
    }
    Ok(())
}

/// The start of a damaged range.
struct DamageStart {
    from: u64,
    block: RejectedBlock,
}

/// Bytes that are no valid block.
struct RejectedBlock {
    reason: FormatError,
    /// The head at their start, if it is well-formed.
    head: Option<BlockHeader>,
}

/// Number of bytes that were examined to reject a block.
fn cost(head: Option<&BlockHeader>) -> u64 {
    HEADER_BYTES as u64 + head.map_or(0, |head| head.stored_bytes.into())
}

fn block_at<'w>(window: &'w mut FileWindow<'_>, offset: u64) -> io::Result<Result<DecodedBlock<'w>, RejectedBlock>> {
    let head = window.get(offset, HEADER_BYTES)?;
    let header = match BlockHeader::decode(head) {
        Ok(header) => header,
        Err(reason) => return Ok(Err(RejectedBlock { reason, head: None })),
    };
    let block_bytes = HEADER_BYTES + header.stored_bytes as usize;
    Ok(decode_block(window.get(offset, block_bytes)?).map_err(|why| RejectedBlock { reason: why, head: Some(header) }))
}

fn next_magic(window: &mut FileWindow<'_>, mut from: u64, length: u64) -> io::Result<Option<u64>> {
    while from < length {
        let bytes = window.get(from, CHUNK_BYTES)?;
        if let Some(offset) = find_block(bytes, 0) {
            return Ok(Some(from + offset as u64));
        }
        // A magic may cross the end of the examined bytes.
        let step = bytes.len().saturating_sub(BLOCK_MAGIC.len() - 1).max(1);
        from += step as u64;
    }
    Ok(None)
}

/// Reports damage up to the end of the file. Zeros up to the end are no damage, but space that was
/// reserved and not used.
fn end_in_damage(
    window: &mut FileWindow<'_>,
    from: u64,
    length: u64,
    damage: Option<DamageStart>,
    visit: &mut dyn FnMut(ScanItem<'_>),
) -> io::Result<()> {
    let mut offset = from;
    while offset < length {
        let bytes = window.get(offset, CHUNK_BYTES)?;
        if bytes.is_empty() {
            break;
        }
        if bytes.iter().any(|&byte| byte != 0) {
            if let Some(DamageStart { from, block: RejectedBlock { reason, head } }) = damage {
                visit(ScanItem::Damage { offset: from, bytes: length - from, reason, head });
            }
            return Ok(());
        }
        offset += bytes.len() as u64;
    }
    Ok(())
}

/// The part of a file that was read last.
struct FileWindow<'f> {
    file: &'f File,
    /// Size of the file.
    length: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl FileWindow<'_> {
    /// Up to `length` bytes from `offset`; fewer at the end of the file.
    fn get(&mut self, offset: u64, length: usize) -> io::Result<&[u8]> {
        let inside = offset.checked_sub(self.start).and_then(|position| usize::try_from(position).ok());
        let start = match inside {
            Some(start) if start + length <= self.bytes.len() => start,
            _ => {
                let mut buffer = std::mem::take(&mut self.bytes);
                let left = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
                buffer.resize(length.max(CHUNK_BYTES).min(left), 0);
                let filled = read_at(self.file, &mut buffer, offset)?;
                buffer.truncate(filled);
                self.bytes = buffer;
                self.start = offset;
                0
            }
        };
        let end = self.bytes.len().min(start + length);
        Ok(&self.bytes[start..end])
    }
}
