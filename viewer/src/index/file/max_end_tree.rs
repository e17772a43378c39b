//! Finds the rows of a table sorted by start that overlap a time range, from the largest end per
//! block and per 16 nodes. Links and the lookup of entities use it.
//!
//! The cost does not grow with the number of skipped rows.

use std::io;
use std::ops::{ControlFlow, Range};

use super::file_layout::BLOCK;
use super::index_bytes::IndexBytes;
use super::packed_table::{PackedTable, TableBlock};
use super::page_writer::PageWriter;

/// Children per node.
const FAN: u64 = 16;

/// Collects the largest ends.
#[derive(Debug, Default)]
pub(crate) struct MaxEndTreeWriter {
    blocks: Vec<i64>,
    rows: usize,
}

impl MaxEndTreeWriter {
    /// Adds the end of the next row.
    pub(crate) fn push(&mut self, end: i64) {
        match self.blocks.last_mut() {
            Some(most) if !self.rows.is_multiple_of(BLOCK) => *most = end.max(*most),
            _ => self.blocks.push(end),
        }
        self.rows += 1;
    }

    /// Writes all levels, lowest first. Returns their position.
    pub(crate) fn finish(self, out: &mut PageWriter) -> io::Result<u64> {
        let offset = out.align()?;
        let mut level = self.blocks;
        loop {
            for most in &level {
                out.write(&most.to_le_bytes())?;
            }
            if level.len() <= 1 {
                return Ok(offset);
            }
            level = level.chunks(FAN as usize).filter_map(|group| group.iter().copied().max()).collect();
        }
    }
}

/// The tree of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaxEndTree<'a> {
    pub(crate) index_bytes: &'a IndexBytes,
    /// Offset of the lowest level in the file, in bytes.
    pub(crate) offset: u64,
}

impl<'a> MaxEndTree<'a> {
    /// Number of blocks from `block` on that can be skipped, because all their ends are at most
    /// `from`. `blocks` is the number of all blocks.
    fn skippable_blocks(&self, block: u64, blocks: u64, from: i64) -> u64 {
        let (mut block_count, mut size, mut nodes, mut level) = (0, 1, blocks, self.offset);
        while nodes > 0 && block.is_multiple_of(size) && self.largest_end(level, block / size) <= from {
            block_count = size;
            if nodes == 1 {
                break;
            }
            level = level.saturating_add(8 * nodes);
            nodes = nodes.div_ceil(FAN);
            size *= FAN;
        }
        block_count
    }

    fn largest_end(&self, level: u64, node: u64) -> i64 {
        self.index_bytes.word(level.saturating_add(8 * node)).cast_signed()
    }

    /// Visits the rows of a range that end after `from`, in order, until `visit` breaks.
    pub(crate) fn visit<const K: usize>(
        &self,
        table: PackedTable<'a, K>,
        rows: Range<u64>,
        from: i64,
        end: impl Fn(&TableBlock<'a, K>, usize) -> i64,
        mut visit: impl FnMut(&TableBlock<'a, K>, usize) -> ControlFlow<()>,
    ) {
        let (mut number, blocks) = (rows.start / BLOCK as u64, table.blocks());
        while number < blocks && number * (BLOCK as u64) < rows.end {
            let block_count = self.skippable_blocks(number, blocks, from);
            if block_count > 0 {
                number += block_count;
                continue;
            }
            let block = table.block(number);
            let first = rows.start.saturating_sub(block.row) as usize;
            for index in first..block.len.min((rows.end - block.row) as usize) {
                if end(&block, index) > from && visit(&block, index).is_break() {
                    return;
                }
            }
            number += 1;
        }
    }
}
