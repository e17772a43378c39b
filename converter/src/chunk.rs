//! Records of a stream that stay records: a part of a block, in order of timestamp.

use tracer_format::record::Lost;
use tracer_format::{ID_LOST, RECORD_HEAD_BYTES};

use crate::plan::Plan;
use crate::reorder::Item;
use crate::rules::{Program, Scope};

/// Records of a stream in order of date.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// The records, one behind the other: id, four bytes, the source position where its type has one, fields.
    pub(crate) bytes: Vec<u8>,
    /// Where each begins; one more says where the last ends.
    pub(crate) starts: Vec<u32>,
    /// When each is due.
    pub(crate) dates: Vec<i64>,
    /// Coarse dates; empty where they are the same.
    pub(crate) times: Vec<i64>,
    /// Position of the first in the stream, and of the others from there; none of those when they follow each other.
    pub(crate) first: u64,
    pub(crate) places: Vec<u32>,
    /// Number of the block in the stream, from 1.
    pub(crate) block: usize,
    /// Of chunks put together record by record: what is to be known of each.
    pub(crate) details: Vec<Detail>,
}

/// What is not the same for all records of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Detail {
    ordinal: u64,
    block: usize,
    /// The arrow that has this date, if not all that have none of their own.
    only: Option<u16>,
}

/// A record that is due, or one arrow of it that has a date of its own, or a gap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due<'a> {
    pub(crate) stream: usize,
    /// Record id in its file.
    pub(crate) id: u16,
    /// `None` of a gap: it is no record, but stands for records that are missing here.
    pub(crate) program: Option<&'a Program>,
    /// Id of its source position.
    pub(crate) site: u32,
    /// Position in the stream, from 0.
    pub(crate) ordinal: u64,
    /// When it is due.
    pub(crate) date: i64,
    /// The record's own date.
    pub(crate) time: i64,
    /// The arrow; `None` for all that have no date of their own.
    pub(crate) only: Option<u16>,
    /// How many blocks of the stream were read when it came.
    pub(crate) blocks_read: usize,
    /// The bytes of its fields.
    pub(crate) body: &'a [u8],
}

impl<'a> Due<'a> {
    /// Whether this is the mark of the truncated record that follows.
    pub(crate) fn is_truncation(&self) -> bool {
        self.program.is_none() && Lost::decode(self.body).is_some_and(|lost| lost.is_truncation())
    }

    /// The record in its surroundings; `None` of a gap.
    #[inline]
    pub(crate) fn scope(&self, plan: &'a Plan<'_>) -> Option<Scope<'a>> {
        Some(plan.scope(self.stream, self.program?, self.time, (self.site, self.ordinal), self.body))
    }
}

impl Chunk {
    pub(crate) fn add(&mut self, item: &Item, body: &[u8], is_located: bool, block: usize) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.bytes.extend_from_slice(&item.place.id.to_le_bytes());
        self.bytes.extend_from_slice(&[0; RECORD_HEAD_BYTES - 2]);
        if is_located {
            self.bytes.extend_from_slice(&item.place.site.to_le_bytes());
        }
        self.bytes.extend_from_slice(body);
        self.starts.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
        self.dates.push(item.date);
        self.times.push(item.time);
        self.details.push(Detail { ordinal: item.place.ordinal, block, only: item.only });
    }

    /// The record at this place, which is of this stream.
    #[inline]
    pub(crate) fn due<'a>(&'a self, at: usize, stream: usize, plan: &'a Plan<'_>, table: &[u32]) -> Option<Due<'a>> {
        let row = self.bytes.get(*self.starts.get(at)? as usize..*self.starts.get(at + 1)? as usize)?;
        let (head, mut body) = row.split_first_chunk::<RECORD_HEAD_BYTES>()?;
        let id = u16::from_le_bytes([head[0], head[1]]);
        let program = plan.program_in(table, id);
        if program.is_none() && id != ID_LOST {
            return None;
        }
        let mut site = 0;
        if program.is_some_and(|program| program.located) {
            let (number, fields) = body.split_first_chunk()?;
            (site, body) = (u32::from_le_bytes(*number), fields);
        }
        let date = *self.dates.get(at)?;
        let time = self.times.get(at).copied().unwrap_or(date);
        let (ordinal, blocks_read, only) = match self.details.get(at) {
            Some(detail) => (detail.ordinal, detail.block, detail.only),
            None => (self.first + self.places.get(at).map_or(at as u64, |place| u64::from(*place)), self.block, None),
        };
        Some(Due { stream, id, program, site, ordinal, date, time, only, blocks_read, body })
    }
}
