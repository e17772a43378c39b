//! The values of one field of many links.
//!
//! Links that follow each other are in the same blocks, and their rows of extra fields have the
//! same shapes. The reader keeps the last block of each table and the place of the field in each
//! shape.

use rustc_hash::FxHashMap;
use tumit_spill::varint;

use super::details::{BOTH, BOTH_BEFORE, FULL, IndexDetails, VALUES};
use super::file::file_layout::{BLOCK, LaneRecord};
use super::file::index_bytes::IndexBytes;
use super::file::packed_table::{PackedTable, TableBlock};
use super::lanes::links::{COLUMNS, IndexLinks};
use crate::query::entity_facts::DetailValue;
use crate::query::{EntityId, QueryError};

/// The place of a field in the values of a row, and its kind.
#[derive(Clone, Copy)]
struct FieldPlace {
    offset: usize,
    kind: u8,
}

/// The value of a field of each of some links. `locate` finds the table of a link, and its row
/// there.
pub(super) fn values(
    index_bytes: &IndexBytes,
    ids: &[EntityId],
    field: &str,
    locate: impl Fn(u32) -> Option<(LaneRecord, u64)>,
) -> Result<Vec<Option<DetailValue>>, QueryError> {
    let mut reader = LinkFieldReader::new(index_bytes, field);
    let value = |id: &EntityId| {
        let EntityId::Link(number) = *id else { return Ok(None) };
        let row = reader.detail_row(number, &locate).ok_or(QueryError::Unknown { kind: "link" })?;
        Ok(reader.value(row))
    };
    ids.iter().map(value).collect()
}

struct LinkFieldReader<'a> {
    index_bytes: &'a IndexBytes,
    field: &'a str,
    details: IndexDetails<'a>,
    links: Option<(LaneRecord, IndexLinks<'a>)>,
    link_block: Option<(u64, TableBlock<'a, COLUMNS>)>,
    begins: PackedTable<'a, 1>,
    begin_block: Option<(u64, TableBlock<'a, 1>)>,
    /// The place of the field by the row that has the shape.
    places: FxHashMap<u64, Option<FieldPlace>>,
}

impl<'a> LinkFieldReader<'a> {
    fn new(index_bytes: &'a IndexBytes, field: &'a str) -> Self {
        Self {
            index_bytes,
            field,
            details: IndexDetails(index_bytes),
            links: None,
            link_block: None,
            begins: PackedTable::new(index_bytes, index_bytes.header.detail_rows),
            begin_block: None,
            places: FxHashMap::default(),
        }
    }

    /// The value of the field in a row of extra fields. It equals [`IndexDetails::field`].
    fn value(&mut self, row: u32) -> Option<DetailValue> {
        if row == 0 { None } else { self.value_in(row.into(), true) }
    }

    /// The row of extra fields of a link.
    fn detail_row(&mut self, number: u32, locate: impl Fn(u32) -> Option<(LaneRecord, u64)>) -> Option<u32> {
        let inside =
            |record: &LaneRecord| number.checked_sub(record.base).map(u64::from).filter(|row| *row < record.table.rows);
        let (links, row) = match self.links.and_then(|(record, links)| Some((links, inside(&record)?))) {
            Some(links_and_row) => links_and_row,
            None => {
                let (record, row) = locate(number)?;
                let links = IndexLinks::new(self.index_bytes, record);
                (self.links, self.link_block) = (Some((record, links)), None);
                (links, row)
            }
        };
        let (block, index) = (row / BLOCK as u64, (row % BLOCK as u64) as usize);
        let block = match self.link_block {
            Some((cached_number, cached)) if cached_number == block => cached,
            _ => {
                let read = links.block(block);
                self.link_block = Some((block, read));
                read
            }
        };
        Some(IndexLinks::detail(&block, index))
    }

    /// The bytes of a row, as [`IndexDetails::row`].
    fn row(&mut self, row: u64) -> &'a [u8] {
        let (number, index) = (row / BLOCK as u64, (row % BLOCK as u64) as usize);
        if self.begin_block.is_none_or(|(cached_number, _)| cached_number != number) {
            self.begin_block = Some((number, self.begins.block(number)));
        }
        match &self.begin_block {
            // The end of the row is the begin of the next one, in the same block.
            Some((_, block)) if index + 1 < block.len => {
                let column = &block.columns[0];
                self.details.row_bytes(column.get(index), column.get(index + 1))
            }
            _ => self.details.row(row),
        }
    }

    fn value_in(&mut self, row: u64, may_join: bool) -> Option<DetailValue> {
        let mut bytes = self.row(row);
        let kind = varint::take(&mut bytes)?;
        match kind {
            FULL => self.details.field(u32::try_from(row).ok()?, self.field),
            BOTH | BOTH_BEFORE => {
                let rows = [varint::take(&mut bytes)?, varint::take(&mut bytes)?];
                for part in rows.into_iter().filter(|_| may_join) {
                    let part = if kind == BOTH { part } else { row.checked_sub(part)? };
                    let value = self.value_in(part, false);
                    if value.is_some() {
                        return value;
                    }
                }
                None
            }
            _ => {
                let place = self.place(kind - VALUES)?;
                for _ in 0..place.offset {
                    varint::take(&mut bytes)?;
                }
                Some(self.details.value(place.kind, varint::take(&mut bytes)?))
            }
        }
    }

    /// The place of the field in rows that have the shape of a full row.
    fn place(&mut self, full_row: u64) -> Option<FieldPlace> {
        if let Some(place) = self.places.get(&full_row) {
            return *place;
        }
        let place = self.find_place(full_row);
        self.places.insert(full_row, place);
        place
    }

    fn find_place(&self, full_row: u64) -> Option<FieldPlace> {
        let mut shape = self.details.row(full_row);
        if varint::take(&mut shape)? != FULL {
            return None;
        }
        let (_file, _line, count) = (varint::take(&mut shape)?, varint::take(&mut shape)?, varint::take(&mut shape)?);
        for before in 0..count {
            let name = varint::take(&mut shape)?;
            let (&kind, after) = shape.split_first()?;
            shape = after;
            varint::take(&mut shape)?;
            if self.details.text(name).eq_ignore_ascii_case(self.field) {
                return Some(FieldPlace { offset: usize::try_from(before).ok()?, kind });
            }
        }
        None
    }
}
