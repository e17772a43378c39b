//! Positions of records and blocks in their stream.

use tracer_format::ID_DROPPED;
use tracer_format::record::DroppedRecords;
use tumit_paje::time::LocalTicks;

/// The position of a record in a block, which can be kept.
#[derive(Clone, Debug)]
pub(crate) struct RecordPosition {
    pub(crate) id: u16,
    pub(crate) ticks: LocalTicks,
    pub(crate) site: u32,
    pub(crate) ordinal: u64,
    pub(super) start: u32,
    pub(super) length: u32,
    /// Whether the recorder truncated it.
    pub(crate) is_truncated: bool,
}

/// The position of a block in its stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockPosition {
    /// Its number, from 1.
    pub(crate) number: usize,
    pub(crate) first_ticks: u64,
    pub(crate) last_ticks: u64,
    /// Position of its first record in the stream.
    pub(crate) first_ordinal: u64,
}

impl RecordPosition {
    /// A gap before the record with this position. Its body is that of a `dropped` record.
    pub(crate) const fn of_gap(ticks: u64, ordinal: u64) -> Self {
        let (ticks, length) = (LocalTicks(ticks), DroppedRecords::BYTES as u32);
        Self { id: ID_DROPPED, ticks, site: 0, ordinal, start: 0, length, is_truncated: false }
    }

    /// A record with `length` bytes of fields, which are stored outside a block.
    pub(crate) const fn outside_block((id, ticks): (u16, LocalTicks), site: u32, ordinal: u64, length: u32) -> Self {
        Self { id, ticks, site, ordinal, start: 0, length, is_truncated: false }
    }

    /// Whether it is a gap.
    pub(crate) const fn is_gap(&self) -> bool {
        self.id == ID_DROPPED
    }

    /// The bytes of the record in its block.
    pub(crate) fn body<'b>(&self, block: &'b [u8]) -> &'b [u8] {
        let start = self.start as usize;
        &block[start..start + self.length as usize]
    }
}
