//! Records of a block that are evaluated one by one.

use tracer_format::record::DroppedRecords;
use tracer_format::{ID_DROPPED, RECORD_HEAD_BYTES};

use crate::convert::planning::plan::{ConversionPlan, RecordOrigin};
use crate::convert::time_order::ordered_item::OrderedItem;
use crate::rules::{RecordProgram, RecordScope};

/// Records of a stream in order of their timestamps.
#[derive(Debug, Default)]
pub(crate) struct RowBatch {
    /// The records without gaps: id, four unused bytes, source position if the type has one,
    /// fields.
    pub(crate) bytes: Vec<u8>,
    /// The start of each record, and the end of the last one.
    pub(crate) starts: Vec<u32>,
    /// The corrected timestamp at which each record is processed.
    pub(crate) corrected_times: Vec<i64>,
    /// The raw timestamps. Empty if they equal `corrected_times`.
    pub(crate) raw: Vec<i64>,
    /// The position of the first record in the stream, and the distances of the others from it. The
    /// distances are empty if the records are consecutive.
    pub(crate) first: u64,
    pub(crate) places: Vec<u32>,
    /// Number of the block in the stream, from 1.
    pub(crate) block: usize,
    /// The details of each record, in batches that were assembled record by record.
    pub(crate) details: Vec<RowDetail>,
}

/// Data that differ between the records of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowDetail {
    ordinal: u64,
    block: usize,
    /// The only action to run, if it has a timestamp of its own. `None`: all others.
    single_action: Option<u16>,
}

/// The place of a record in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordPlace {
    pub(crate) stream: u32,
    /// Position in the stream, from 0.
    pub(crate) ordinal: u64,
}

/// A record to process, one action of a record at a time of its own, or a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordRef<'a> {
    pub(crate) stream: usize,
    /// The record id in the file.
    pub(crate) id: u16,
    /// `None` for a gap, where records are missing.
    pub(crate) program: Option<&'a RecordProgram>,
    /// The id of the source position.
    pub(crate) site: u32,
    /// Position in the stream, from 0.
    pub(crate) ordinal: u64,
    /// The corrected timestamp at which it is processed.
    pub(crate) corrected_time: i64,
    /// The raw timestamp of the record.
    pub(crate) raw: i64,
    /// The only action to run. `None` for all actions without a timestamp of their own.
    pub(crate) single_action: Option<u16>,
    /// The number of blocks of the stream that had been read.
    pub(crate) blocks_read: usize,
    /// The bytes of the fields.
    pub(crate) body: &'a [u8],
}

impl<'a> RecordRef<'a> {
    #[inline]
    pub(crate) fn position(&self) -> RecordPlace {
        RecordPlace { stream: u32::try_from(self.stream).unwrap_or(u32::MAX), ordinal: self.ordinal }
    }

    /// Whether this marks the next record as truncated.
    pub(crate) fn is_truncation(&self) -> bool {
        self.program.is_none() && DroppedRecords::decode(self.body).is_some_and(|report| report.is_truncation())
    }

    /// The record with its program and stream. `None` for a gap.
    #[inline]
    pub(crate) fn scope(&self, plan: &'a ConversionPlan<'_>) -> Option<RecordScope<'a>> {
        let origin = RecordOrigin { site: self.site, ordinal: self.ordinal };
        Some(plan.scope(self.stream, self.program?, self.raw, origin, self.body))
    }
}

impl RowBatch {
    pub(crate) fn add(&mut self, item: &OrderedItem, body: &[u8], is_located: bool, block: usize) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.bytes.extend_from_slice(&item.position.id.to_le_bytes());
        self.bytes.extend_from_slice(&[0; RECORD_HEAD_BYTES - 2]);
        if is_located {
            self.bytes.extend_from_slice(&item.position.site.to_le_bytes());
        }
        self.bytes.extend_from_slice(body);
        self.starts.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        self.corrected_times.push(item.corrected_time);
        self.raw.push(item.record_time);
        self.details.push(RowDetail { ordinal: item.position.ordinal, block, single_action: item.single_action });
    }

    /// The record at this index of the batch, as a record of this stream.
    #[inline]
    pub(crate) fn record_at<'a>(
        &'a self,
        position: usize,
        stream: usize,
        plan: &'a ConversionPlan<'_>,
        table: &[u32],
    ) -> Option<RecordRef<'a>> {
        let row = self.bytes.get(*self.starts.get(position)? as usize..*self.starts.get(position + 1)? as usize)?;
        let (head, mut body) = row.split_first_chunk::<RECORD_HEAD_BYTES>()?;
        let id = u16::from_le_bytes([head[0], head[1]]);
        let program = plan.program_in(table, id);
        if program.is_none() && id != ID_DROPPED {
            return None;
        }
        let mut site = 0;
        if program.is_some_and(|program| program.has_location) {
            let (number, fields) = body.split_first_chunk()?;
            (site, body) = (u32::from_le_bytes(*number), fields);
        }
        let corrected_time = *self.corrected_times.get(position)?;
        let raw = self.raw.get(position).copied().unwrap_or(corrected_time);
        let (ordinal, blocks_read, single_action) = match self.details.get(position) {
            Some(detail) => (detail.ordinal, detail.block, detail.single_action),
            None => (
                self.first + self.places.get(position).map_or(position as u64, |position| u64::from(*position)),
                self.block,
                None,
            ),
        };
        Some(RecordRef { stream, id, program, site, ordinal, corrected_time, raw, single_action, blocks_read, body })
    }
}
