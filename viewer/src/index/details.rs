//! Extra fields and source positions: rows of bytes, found by number. An entity refers to its row;
//! row 0 means no fields.
//!
//! A row begins with a number:
//!
//! - 0: a full row. Then follow the number of the source file's text plus 1 (0 for none), the line,
//!   the number of fields, and per field its name, kind and value.
//! - 1 or 2: two rows that are read as one, for the two endpoints of a link. Then follow their
//!   numbers (1), or their distances before this row (2).
//! - 3 or more: values only. Everything other than the values is as in the row with this number
//!   minus 3.
//!
//! A row that equals a recent one is not written again; the entity refers to the recent one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, SourcePosition};
use tumit_spill::byte_streams::ByteStreams;
use tumit_spill::row_sorter::RowSorter;
use tumit_spill::temporary_space::TemporarySpace;
use tumit_spill::varint;

use super::file::file_layout::{IndexHeader, PageBytes, TableRef};
use super::file::index_bytes::IndexBytes;
use super::file::packed_table::{PackedTable, PackedTableWriter};
use super::file::page_writer::PageWriter;
use crate::query::SourceLine;
use crate::query::entity_facts::{DetailValue, EntityDetail};

/// Bytes of texts in the cache of texts. The next constant: number of source positions in their
/// cache.
const CACHED_TEXT_BYTES: usize = 8 << 20;
const KNOWN_PLACES: usize = 1 << 17;
/// Number of shapes in the cache of shapes; a shape is a row without its values. The next constant:
/// number of slots in the cache of whole rows.
const KNOWN_SHAPES: usize = 1 << 12;
const CACHED_ROWS: usize = 1 << 12;
/// Maximum bytes of a row in the cache.
const CACHED_ROW_BYTES: usize = 40;
/// The first number of a row.
pub(super) const FULL: u64 = 0;
pub(super) const BOTH: u64 = 1;
pub(super) const BOTH_BEFORE: u64 = 2;
pub(super) const VALUES: u64 = 3;
/// Row numbers up to this one are written directly. They are as short as distances, and equal pairs
/// give equal rows, which the cache of whole rows finds.
const MAX_DIRECT_ROW: u32 = 1 << 14;

/// Items of any length: the byte streams of their bytes and of their lengths.
#[derive(Clone, Copy, Debug)]
struct ByteItems {
    bytes: usize,
    lengths: usize,
}

impl ByteItems {
    fn new(byte_streams: &mut ByteStreams) -> Self {
        Self { bytes: byte_streams.open(), lengths: byte_streams.open() }
    }

    fn push(self, byte_streams: &mut ByteStreams, item: &[u8]) {
        byte_streams.append(self.bytes, |out| out.extend_from_slice(item));
        byte_streams.append(self.lengths, |out| varint::push(out, item.len() as u64));
    }

    /// Writes the beginning of each item and the end of the last one as a table, and then the
    /// bytes.
    fn write(
        self,
        byte_streams: &ByteStreams,
        count: u64,
        room: &TemporarySpace,
        out: &mut PageWriter,
    ) -> io::Result<(TableRef, PageBytes)> {
        let mut begins = PackedTableWriter::<1>::new(room, out)?;
        let (mut lengths, mut position) = (byte_streams.read(self.lengths)?, 0);
        for _ in 0..count {
            begins.push(out, [position])?;
            position += lengths.number()?;
        }
        begins.push(out, [position])?;
        let begins = begins.finish(out, 0)?;
        let place = PageBytes { offset: out.align()?, len: position };
        byte_streams.read(self.bytes)?.for_each_portion(|bytes| out.write(bytes))?;
        Ok((begins, place))
    }
}

/// Stores rows and texts while a trace is read.
#[derive(Debug)]
pub(crate) struct DetailTableWriter {
    rows: ByteItems,
    /// Number of rows so far, including row 0.
    count: u32,
    texts: ByteItems,
    text_count: u32,
    cached_texts: HashMap<Box<str>, u32>,
    cached_bytes: usize,
    /// Rows that contain only a source position.
    places: FxHashMap<(u32, u32), u32>,
    /// Rows by shape; a shape is a row without its values.
    shapes: FxHashMap<Box<[u8]>, u32>,
    cached_rows: RecentRows,
    keys: RowSorter<2, 1>,
    /// Containers that rows of open entities refer to.
    references: FxHashMap<u32, Vec<ContainerId>>,
    row: Vec<u8>,
    values: Vec<u8>,
}

/// A cache of recent rows, with one slot per hash. A row replaces the row in its slot.
#[derive(Debug, Default)]
struct RecentRows(Vec<(u32, Box<[u8]>)>);

impl RecentRows {
    /// The number of an equal row in the cache. Otherwise adds the row to the cache under `number`,
    /// and returns `number`.
    fn number(&mut self, row: &[u8], number: u32) -> u32 {
        if row.len() > CACHED_ROW_BYTES {
            return number;
        }
        if self.0.is_empty() {
            self.0.resize_with(CACHED_ROWS, || (0, Box::default()));
        }
        let place = rustc_hash::FxBuildHasher.hash_one(row) as usize >> 16;
        let (cached_row, bytes) = &mut self.0[place % CACHED_ROWS];
        if **bytes == *row {
            return *cached_row;
        }
        *cached_row = number;
        if bytes.len() == row.len() {
            bytes.copy_from_slice(row);
        } else {
            *bytes = row.into();
        }
        number
    }
}

impl DetailTableWriter {
    pub(crate) fn new(room: &TemporarySpace, byte_streams: &mut ByteStreams) -> Self {
        let (rows, texts) = (ByteItems::new(byte_streams), ByteItems::new(byte_streams));
        rows.push(byte_streams, &[]);
        Self {
            rows,
            count: 1,
            texts,
            text_count: 0,
            cached_texts: HashMap::new(),
            cached_bytes: 0,
            places: FxHashMap::default(),
            shapes: FxHashMap::default(),
            cached_rows: RecentRows::default(),
            keys: RowSorter::new(&room.part(2)),
            references: FxHashMap::default(),
            row: Vec::new(),
            values: Vec::new(),
        }
    }

    fn push_text(&mut self, byte_streams: &mut ByteStreams, text: &str) -> u32 {
        let number = self.text_count;
        self.text_count = self.text_count.saturating_add(1);
        self.texts.push(byte_streams, text.as_bytes());
        number
    }

    fn intern(&mut self, byte_streams: &mut ByteStreams, text: &str) -> u32 {
        if let Some(&number) = self.cached_texts.get(text) {
            return number;
        }
        if self.cached_bytes > CACHED_TEXT_BYTES {
            self.cached_texts.clear();
            self.cached_bytes = 0;
        }
        let number = self.push_text(byte_streams, text);
        self.cached_bytes += text.len() + 48;
        self.cached_texts.insert(text.into(), number);
        number
    }

    /// The row of an entity with these extra fields and this source position.
    pub(crate) fn add(
        &mut self,
        byte_streams: &mut ByteStreams,
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> u32 {
        let place = source.map(|place| (self.intern(byte_streams, place.file), place.line));
        if extra.is_empty() {
            let Some(place) = place else { return 0 };
            if let Some(&row) = self.places.get(&place) {
                return row;
            }
        }
        let (mut row, mut values) = (std::mem::take(&mut self.row), std::mem::take(&mut self.values));
        row.clear();
        values.clear();
        let (file, line) = place.map_or((0, 0), |(file, line)| (u64::from(file) + 1, line));
        [file, line.into(), extra.len() as u64].into_iter().for_each(|number| varint::push(&mut row, number));
        let mut references = Vec::new();
        for field in extra {
            varint::push(&mut row, self.intern(byte_streams, field.name).into());
            let (kind, value) = match field.value {
                ExtraValue::Text(text) => (0, self.intern(byte_streams, text).into()),
                ExtraValue::Integer(number) => (1, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()),
                ExtraValue::Float(number) => (2, number.to_bits().swap_bytes()),
                ExtraValue::Container(container) => {
                    references.push(container);
                    (3, container.0.into())
                }
            };
            row.push(kind);
            varint::push(&mut values, value);
        }
        let number = self.push_shaped(byte_streams, &mut row, &values, references.is_empty());
        (self.row, self.values) = (row, values);
        if number != 0 && !references.is_empty() {
            self.references.insert(number, references);
        }
        if let Some(place) = place.filter(|_| extra.is_empty()) {
            if self.places.len() >= KNOWN_PLACES {
                self.places.clear();
            }
            self.places.insert(place, number);
        }
        number
    }

    /// Stores a row, given as shape and values. `may_share` allows an equal earlier row instead. It
    /// is false if the row refers to containers, because these references are kept by row number.
    fn push_shaped(
        &mut self,
        byte_streams: &mut ByteStreams,
        shape: &mut Vec<u8>,
        values: &[u8],
        may_share: bool,
    ) -> u32 {
        let Some(&shape_row) = self.shapes.get(shape.as_slice()) else {
            let number = self.push_full(byte_streams, shape, values);
            if self.shapes.len() >= KNOWN_SHAPES {
                self.shapes.clear();
            }
            self.shapes.insert(shape.as_slice().into(), number);
            return number;
        };
        shape.clear();
        varint::push(shape, VALUES + u64::from(shape_row));
        shape.extend_from_slice(values);
        if may_share { self.push_unless_cached(byte_streams, shape) } else { self.push(byte_streams, shape) }
    }

    /// Stores a complete row: names and kinds from its shape, with the values between them.
    fn push_full(&mut self, byte_streams: &mut ByteStreams, mut shape: &[u8], mut values: &[u8]) -> u32 {
        let mut row = Vec::with_capacity(1 + shape.len() + values.len());
        varint::push(&mut row, FULL);
        for _ in 0..3 {
            varint::push(&mut row, varint::take(&mut shape).unwrap_or(0));
        }
        while let (Some(name), Some((&kind, after))) = (varint::take(&mut shape), shape.split_first()) {
            varint::push(&mut row, name);
            row.push(kind);
            varint::push(&mut row, varint::take(&mut values).unwrap_or(0));
            shape = after;
        }
        self.push(byte_streams, &row)
    }

    fn push(&mut self, byte_streams: &mut ByteStreams, row: &[u8]) -> u32 {
        let number = self.count;
        // Row numbers have 32 bits. Rows after the last number have no fields.
        let Some(next) = number.checked_add(1) else { return 0 };
        self.count = next;
        self.rows.push(byte_streams, row);
        number
    }

    /// Stores a row, unless an equal one is in the cache.
    fn push_unless_cached(&mut self, byte_streams: &mut ByteStreams, row: &[u8]) -> u32 {
        let number = self.cached_rows.number(row, self.count);
        if number == self.count { self.push(byte_streams, row) } else { number }
    }

    /// A row with the fields of two others, and with the source position of the first one that has
    /// any.
    pub(crate) fn join(&mut self, byte_streams: &mut ByteStreams, first: u32, second: u32) -> u32 {
        self.free_row(first);
        self.free_row(second);
        if second == 0 {
            return first;
        }
        if first == 0 {
            return second;
        }
        let mut row = Vec::new();
        if first.max(second) <= MAX_DIRECT_ROW {
            [BOTH, first.into(), second.into()].into_iter().for_each(|number| varint::push(&mut row, number));
            return self.push_unless_cached(byte_streams, &row);
        }
        let before = |row: u32| u64::from(self.count.wrapping_sub(row));
        [BOTH_BEFORE, before(first), before(second)].into_iter().for_each(|number| varint::push(&mut row, number));
        self.push(byte_streams, &row)
    }

    /// Removes and returns the containers that a row refers to, after its entity has ended.
    pub(crate) fn references(&mut self, row: u32) -> Vec<ContainerId> {
        if row == 0 { Vec::new() } else { self.references.remove(&row).unwrap_or_default() }
    }

    pub(crate) fn free_row(&mut self, row: u32) {
        if !self.references.is_empty() {
            self.references.remove(&row);
        }
    }

    /// Stores the text that a file uses for a link key.
    pub(crate) fn name_key(&mut self, byte_streams: &mut ByteStreams, key: u64, text: &str) {
        let number = self.push_text(byte_streams, text);
        self.keys.push([key, number.into()]);
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.keys.flush()
    }

    /// Writes all rows, texts and link keys.
    pub(crate) fn write(
        self,
        byte_streams: &ByteStreams,
        room: &TemporarySpace,
        out: &mut PageWriter,
        header: &mut IndexHeader,
    ) -> io::Result<()> {
        (header.detail_rows, header.detail_bytes) = self.rows.write(byte_streams, self.count.into(), room, out)?;
        (header.text_ends, header.text_bytes) = self.texts.write(byte_streams, self.text_count.into(), room, out)?;
        let (mut keys, mut table) = (self.keys.finish()?, PackedTableWriter::<2>::new(room, out)?);
        while let Some(row) = keys.next()? {
            table.push(out, row)?;
        }
        header.keys = table.finish(out, 0)?;
        Ok(())
    }
}

/// Reads rows from an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexDetails<'a>(pub(super) &'a IndexBytes);

impl<'a> IndexDetails<'a> {
    fn item(&self, begins: TableRef, bytes: PageBytes, number: u64) -> &'a [u8] {
        let begins = PackedTable::<1>::new(self.0, begins);
        if number + 1 >= begins.rows() {
            return &[];
        }
        let ([from], [to]) = (begins.row(number), begins.row(number + 1));
        self.part(bytes, from, to)
    }

    fn part(&self, bytes: PageBytes, from: u64, to: u64) -> &'a [u8] {
        if from >= to || to > bytes.len {
            return &[];
        }
        self.0.slice(bytes.offset.saturating_add(from), (to - from) as usize)
    }

    /// The bytes of a row, given its begin and end.
    pub(super) fn row_bytes(&self, begin: u64, end: u64) -> &'a [u8] {
        self.part(self.0.header.detail_bytes, begin, end)
    }

    pub(super) fn text(&self, number: u64) -> Cow<'a, str> {
        let header = &self.0.header;
        String::from_utf8_lossy(self.item(header.text_ends, header.text_bytes, number))
    }

    /// The text of a link key, or `k` and its number if the trace has no text for it.
    pub(crate) fn key(&self, key: u64) -> String {
        let keys = PackedTable::<2>::new(self.0, self.0.header.keys);
        let row = keys.lower_bound(0, key);
        if row < keys.rows() {
            let [row_key, text] = keys.row(row);
            if row_key == key {
                return self.text(text).into_owned();
            }
        }
        format!("k{key}")
    }

    /// All fields of a row, and its source position.
    pub(crate) fn detail(&self, row: u32) -> EntityDetail {
        let mut detail = EntityDetail::default();
        self.visit(row, &mut |item| match item {
            RowItem::Source { file, line } if detail.source.is_none() => {
                detail.source = Some(SourceLine { file: self.text(file).into_owned(), line });
            }
            RowItem::Source { .. } => {}
            RowItem::Field { name, kind, value } => {
                detail.fields.push((self.text(name).into_owned(), self.value(kind, value)));
            }
        });
        detail
    }

    /// The first field of a row with this name, in upper or lower case.
    pub(crate) fn field(&self, row: u32, name: &str) -> Option<DetailValue> {
        let mut value_parts = None;
        self.visit(row, &mut |item| {
            if let RowItem::Field { name: number, kind, value } = item
                && value_parts.is_none()
                && self.text(number).eq_ignore_ascii_case(name)
            {
                value_parts = Some((kind, value));
            }
        });
        value_parts.map(|(kind, value)| self.value(kind, value))
    }

    pub(super) fn value(&self, kind: u8, value: u64) -> DetailValue {
        match kind {
            0 => DetailValue::Text(self.text(value).into_owned()),
            1 => DetailValue::Integer((value >> 1).cast_signed() ^ -((value & 1).cast_signed())),
            2 => DetailValue::Float(f64::from_bits(value.swap_bytes())),
            _ => DetailValue::Container(ContainerId(value as u32)),
        }
    }

    pub(super) fn row(&self, row: u64) -> &'a [u8] {
        self.item(self.0.header.detail_rows, self.0.header.detail_bytes, row)
    }

    /// Visits the source position and the fields of a row.
    fn visit(&self, row: u32, visit: &mut impl FnMut(RowItem)) {
        if row != 0 {
            self.read(row.into(), true, visit);
        }
    }

    fn read(&self, row: u64, may_join: bool, visit: &mut impl FnMut(RowItem)) -> Option<()> {
        let mut bytes = self.row(row);
        let shape_row = match varint::take(&mut bytes)? {
            FULL => None,
            kind @ (BOTH | BOTH_BEFORE) => {
                let rows = [varint::take(&mut bytes)?, varint::take(&mut bytes)?];
                for part in rows.into_iter().filter(|_| may_join) {
                    self.read(if kind == BOTH { part } else { row.checked_sub(part)? }, false, visit);
                }
                return Some(());
            }
            like => Some(self.row(like - VALUES)),
        };
        // The names and kinds are in another row.
        let (mut shape, mut values) = (shape_row.unwrap_or(bytes), shape_row.is_some().then_some(bytes));
        if shape_row.is_some() && varint::take(&mut shape)? != FULL {
            return None;
        }
        let (file, line, count) = (varint::take(&mut shape)?, varint::take(&mut shape)?, varint::take(&mut shape)?);
        if let Some(file) = file.checked_sub(1) {
            visit(RowItem::Source { file, line: line as u32 });
        }
        for _ in 0..count {
            let name = varint::take(&mut shape)?;
            let (&kind, after) = shape.split_first()?;
            shape = after;
            let number = varint::take(&mut shape)?;
            let value = values.as_mut().map_or(Some(number), varint::take)?;
            visit(RowItem::Field { name, kind, value });
        }
        Some(())
    }
}

/// A part of a row. Numbers of texts stand for texts.
#[derive(Clone, Copy, Debug)]
enum RowItem {
    Source { file: u64, line: u32 },
    Field { name: u64, kind: u8, value: u64 },
}
