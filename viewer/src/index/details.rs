//! Extra fields and source positions: rows of bytes, found by their number. An entity refers to its row; row 0 is "nothing".
//!
//! A row begins with a number:
//! 0: then come the file's text plus 1 or 0, the line, the number of fields, and for each its name, kind and value;
//! 1, 2: two rows that are to be read as one, the two ends of a link: their numbers, or how far before this row they are;
//! 3 and more: only values, of a row that is as the one with this number less 3 in all else.
//! A row that was written shortly before is not written again, but referred to.

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::io;

use rustc_hash::FxHashMap;
use tumit_paje::{ContainerId, Extra, ExtraValue, Source};

use super::bit_fields::{put, take};
use super::format::{Header, Place, TableRef};
use super::image::Image;
use super::packed_table::{Table, TableWriter};
use super::page_writer::Output;
use super::sort::Sorter;
use super::temporary_streams::{Room, Streams};
use crate::query::details::{Detail, FieldValue};

/// Bytes of texts, and number of source positions, that are known again when they come again.
const KNOWN_TEXT_BYTES: usize = 8 << 20;
const KNOWN_PLACES: usize = 1 << 17;
/// Rows that are as others but for their values, and whole rows, that are known again when they come again.
const KNOWN_SHAPES: usize = 1 << 12;
const KNOWN_ROWS: usize = 1 << 12;
/// Bytes of a row that is known again.
const KNOWN_ROW_BYTES: usize = 40;
/// What a row begins with.
const FULL: u64 = 0;
const BOTH: u64 = 1;
const BOTH_BEFORE: u64 = 2;
const VALUES: u64 = 3;
/// Numbers of rows up to this one are as short as differences, and the same from row to row.
const SHORT: u32 = 1 << 14;

/// Items of any length: their bytes, and their lengths.
#[derive(Clone, Copy, Debug)]
struct Items {
    bytes: usize,
    lengths: usize,
}

impl Items {
    fn new(streams: &mut Streams) -> Self {
        Self { bytes: streams.open(), lengths: streams.open() }
    }

    fn push(self, streams: &mut Streams, item: &[u8]) {
        streams.append(self.bytes, |out| out.extend_from_slice(item));
        streams.append(self.lengths, |out| put(out, item.len() as u64));
    }

    /// Where each item begins, and where the last ends; and the bytes.
    fn write(self, streams: &Streams, count: u64, room: &Room, out: &mut Output) -> io::Result<(TableRef, Place)> {
        let mut begins = TableWriter::<1>::new(room, out)?;
        let (mut lengths, mut at) = (streams.read(self.lengths)?, 0);
        for _ in 0..count {
            begins.push(out, [at])?;
            at += lengths.number()?;
        }
        begins.push(out, [at])?;
        let begins = begins.finish(out, 0)?;
        let place = Place { at: out.align()?, len: at };
        streams.read(self.bytes)?.copy_to(out)?;
        Ok((begins, place))
    }
}

/// Takes rows and texts while a trace is read.
#[derive(Debug)]
pub(crate) struct DetailWriter {
    rows: Items,
    /// Rows so far, with row 0.
    count: u32,
    texts: Items,
    text_count: u32,
    known_texts: HashMap<Box<str>, u32>,
    known_bytes: usize,
    /// Rows that hold only a source position.
    places: FxHashMap<(u32, u32), u32>,
    /// Rows by all but their values.
    shapes: FxHashMap<Box<[u8]>, u32>,
    known_rows: KnownRows,
    keys: Sorter<2, 1>,
    /// Containers that rows of open entities refer to.
    references: FxHashMap<u32, Vec<ContainerId>>,
    row: Vec<u8>,
    values: Vec<u8>,
}

/// The rows that came last, as far as they do not get in each other's way: each has one place.
#[derive(Debug, Default)]
struct KnownRows(Vec<(u32, Box<[u8]>)>);

impl KnownRows {
    /// The number of a row that is known; else it has `number` from now on.
    fn number(&mut self, row: &[u8], number: u32) -> u32 {
        if row.len() > KNOWN_ROW_BYTES {
            return number;
        }
        if self.0.is_empty() {
            self.0.resize_with(KNOWN_ROWS, || (0, Box::default()));
        }
        let place = rustc_hash::FxBuildHasher.hash_one(row) as usize >> 16;
        let (known, bytes) = &mut self.0[place % KNOWN_ROWS];
        if **bytes == *row {
            return *known;
        }
        *known = number;
        if bytes.len() == row.len() {
            bytes.copy_from_slice(row);
        } else {
            *bytes = row.into();
        }
        number
    }
}

impl DetailWriter {
    pub(crate) fn new(room: &Room, streams: &mut Streams) -> Self {
        let (rows, texts) = (Items::new(streams), Items::new(streams));
        rows.push(streams, &[]);
        Self {
            rows,
            count: 1,
            texts,
            text_count: 0,
            known_texts: HashMap::new(),
            known_bytes: 0,
            places: FxHashMap::default(),
            shapes: FxHashMap::default(),
            known_rows: KnownRows::default(),
            keys: Sorter::new(room),
            references: FxHashMap::default(),
            row: Vec::new(),
            values: Vec::new(),
        }
    }

    fn push_text(&mut self, streams: &mut Streams, text: &str) -> u32 {
        let number = self.text_count;
        self.text_count = self.text_count.saturating_add(1);
        self.texts.push(streams, text.as_bytes());
        number
    }

    fn intern(&mut self, streams: &mut Streams, text: &str) -> u32 {
        if let Some(&number) = self.known_texts.get(text) {
            return number;
        }
        if self.known_bytes > KNOWN_TEXT_BYTES {
            self.known_texts.clear();
            self.known_bytes = 0;
        }
        let number = self.push_text(streams, text);
        self.known_bytes += text.len() + 48;
        self.known_texts.insert(text.into(), number);
        number
    }

    /// The row of an entity with these extra fields and this source position.
    pub(crate) fn add(&mut self, streams: &mut Streams, extra: &[Extra<'_>], source: Option<Source<'_>>) -> u32 {
        let place = source.map(|place| (self.intern(streams, place.file), place.line));
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
        [file, line.into(), extra.len() as u64].into_iter().for_each(|number| put(&mut row, number));
        let mut references = Vec::new();
        for field in extra {
            put(&mut row, self.intern(streams, field.name).into());
            let (kind, value) = match field.value {
                ExtraValue::Text(text) => (0, self.intern(streams, text).into()),
                ExtraValue::Integer(number) => (1, (number.wrapping_shl(1) ^ (number >> 63)).cast_unsigned()),
                ExtraValue::Float(number) => (2, number.to_bits().swap_bytes()),
                ExtraValue::Container(container) => {
                    references.push(container);
                    (3, container.0.into())
                }
            };
            row.push(kind);
            put(&mut values, value);
        }
        let number = self.push_shaped(streams, &mut row, &values, references.is_empty());
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

    /// A row from its shape, all but the values, and those. It may be one that is known only if nobody must tell it from another.
    fn push_shaped(&mut self, streams: &mut Streams, shape: &mut Vec<u8>, values: &[u8], may_share: bool) -> u32 {
        let Some(&like) = self.shapes.get(shape.as_slice()) else {
            let number = self.push_full(streams, shape, values);
            if self.shapes.len() >= KNOWN_SHAPES {
                self.shapes.clear();
            }
            self.shapes.insert(shape.as_slice().into(), number);
            return number;
        };
        shape.clear();
        put(shape, VALUES + u64::from(like));
        shape.extend_from_slice(values);
        if may_share { self.push_or_known(streams, shape) } else { self.push(streams, shape) }
    }

    /// A row with all that it says: names and kinds from its shape, the values between them.
    fn push_full(&mut self, streams: &mut Streams, mut shape: &[u8], mut values: &[u8]) -> u32 {
        let mut row = Vec::with_capacity(1 + shape.len() + values.len());
        put(&mut row, FULL);
        for _ in 0..3 {
            put(&mut row, take(&mut shape).unwrap_or(0));
        }
        while let (Some(name), Some((&kind, behind))) = (take(&mut shape), shape.split_first()) {
            put(&mut row, name);
            row.push(kind);
            put(&mut row, take(&mut values).unwrap_or(0));
            shape = behind;
        }
        self.push(streams, &row)
    }

    fn push(&mut self, streams: &mut Streams, row: &[u8]) -> u32 {
        let number = self.count;
        // Numbers have 32 bits; what comes later has no fields.
        let Some(next) = number.checked_add(1) else { return 0 };
        self.count = next;
        self.rows.push(streams, row);
        number
    }

    /// The same, unless there is such a row.
    fn push_or_known(&mut self, streams: &mut Streams, row: &[u8]) -> u32 {
        let known = self.known_rows.number(row, self.count);
        if known == self.count { self.push(streams, row) } else { known }
    }

    /// A row with the fields of two others, and the source of the first that has one.
    pub(crate) fn join(&mut self, streams: &mut Streams, first: u32, second: u32) -> u32 {
        self.forget(first);
        self.forget(second);
        if second == 0 {
            return first;
        }
        if first == 0 {
            return second;
        }
        let mut row = Vec::new();
        if first.max(second) <= SHORT {
            [BOTH, first.into(), second.into()].into_iter().for_each(|number| put(&mut row, number));
            return self.push_or_known(streams, &row);
        }
        let before = |row: u32| u64::from(self.count.wrapping_sub(row));
        [BOTH_BEFORE, before(first), before(second)].into_iter().for_each(|number| put(&mut row, number));
        self.push(streams, &row)
    }

    /// Containers that a row refers to. The entity has ended: they are forgotten.
    pub(crate) fn references(&mut self, row: u32) -> Vec<ContainerId> {
        if row == 0 { Vec::new() } else { self.references.remove(&row).unwrap_or_default() }
    }

    pub(crate) fn forget(&mut self, row: u32) {
        if !self.references.is_empty() {
            self.references.remove(&row);
        }
    }

    /// Keeps the text that a file uses for a link key.
    pub(crate) fn name_key(&mut self, streams: &mut Streams, key: u64, text: &str) {
        let number = self.push_text(streams, text);
        self.keys.push([key, number.into()]);
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.keys.flush()
    }

    /// Writes everything.
    pub(crate) fn write(self, streams: &Streams, room: &Room, out: &mut Output, header: &mut Header) -> io::Result<()> {
        (header.detail_rows, header.detail_bytes) = self.rows.write(streams, self.count.into(), room, out)?;
        (header.text_ends, header.text_bytes) = self.texts.write(streams, self.text_count.into(), room, out)?;
        let (mut keys, mut table) = (self.keys.finish()?, TableWriter::<2>::new(room, out)?);
        while let Some(row) = keys.next()? {
            table.push(out, row)?;
        }
        header.keys = table.finish(out, 0)?;
        Ok(())
    }
}

/// Reads rows from an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Details<'a>(pub(super) &'a Image);

impl<'a> Details<'a> {
    fn item(&self, begins: TableRef, bytes: Place, number: u64) -> &'a [u8] {
        let begins = Table::<1>::new(self.0, begins);
        if number + 1 >= begins.rows() {
            return &[];
        }
        let ([from], [to]) = (begins.row(number), begins.row(number + 1));
        if from >= to || to > bytes.len {
            return &[];
        }
        self.0.bytes(bytes.at.saturating_add(from), (to - from) as usize)
    }

    fn text(&self, number: u64) -> String {
        let header = &self.0.header;
        String::from_utf8_lossy(self.item(header.text_ends, header.text_bytes, number)).into_owned()
    }

    /// The text of a link key; `k` and its number where the trace had no text.
    pub(crate) fn key(&self, key: u64) -> String {
        let keys = Table::<2>::new(self.0, self.0.header.keys);
        let row = keys.lower(0, key);
        if row < keys.rows() {
            let [found, text] = keys.row(row);
            if found == key {
                return self.text(text);
            }
        }
        format!("k{key}")
    }

    /// All of a row.
    pub(crate) fn detail(&self, row: u32) -> Detail {
        let mut detail = Detail::default();
        if row != 0 {
            self.read(row.into(), true, &mut detail);
        }
        detail
    }

    fn row(&self, row: u64) -> &'a [u8] {
        self.item(self.0.header.detail_rows, self.0.header.detail_bytes, row)
    }

    fn read(&self, row: u64, may_join: bool, detail: &mut Detail) -> Option<()> {
        let mut rest = self.row(row);
        let like = match take(&mut rest)? {
            FULL => None,
            kind @ (BOTH | BOTH_BEFORE) => {
                let both = [take(&mut rest)?, take(&mut rest)?];
                for part in both.into_iter().filter(|_| may_join) {
                    self.read(if kind == BOTH { part } else { row.checked_sub(part)? }, false, detail);
                }
                return Some(());
            }
            like => Some(self.row(like - VALUES)),
        };
        // Another row says what the values are.
        let (mut shape, mut values) = (like.unwrap_or(rest), like.is_some().then_some(rest));
        if like.is_some() && take(&mut shape)? != FULL {
            return None;
        }
        let (file, line, count) = (take(&mut shape)?, take(&mut shape)?, take(&mut shape)?);
        if let Some(file) = file.checked_sub(1)
            && detail.source.is_none()
        {
            detail.source = Some((self.text(file), line as u32));
        }
        for _ in 0..count {
            let name = self.text(take(&mut shape)?);
            let (&kind, behind) = shape.split_first()?;
            shape = behind;
            let own = take(&mut shape)?;
            let value = values.as_mut().map_or(Some(own), take)?;
            let value = match kind {
                0 => FieldValue::Text(self.text(value)),
                1 => FieldValue::Integer((value >> 1).cast_signed() ^ -((value & 1).cast_signed())),
                2 => FieldValue::Float(f64::from_bits(value.swap_bytes())),
                _ => FieldValue::Container(ContainerId(value as u32)),
            };
            detail.fields.push((name, value));
        }
        Some(())
    }
}
