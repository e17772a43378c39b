//! Packing: splits the records of a block into columns.

use lz4_flex::block::{CompressTable, compress_into_with_table, get_maximum_output_size};

use super::column_constants::method;
use super::column_constants::{GROUP, MAX_PARTS};
use super::column_layout::{BodyPart, PartCount, RecordShape};
use super::numbers::push_groups;
use crate::format_constants::{FIRST_RESERVED_ID, RECORD_HEAD_BYTES};

/// Marks an id without a record type.
const UNKNOWN: u16 = u16::MAX;
/// Number of the format's own record types, which are the first ones in `kinds`.
const OWN: usize = 2;

/// A known record type and the values of its records in the current block.
#[derive(Debug)]
struct PackedType {
    shape: RecordShape,
    /// The number of the type in the block, if the block contains it.
    number: Option<u16>,
    deltas: Vec<u64>,
    columns: Vec<PackedColumn>,
}

#[derive(Debug, Default)]
struct PackedColumn {
    /// The counts, for counted parts.
    counts: Vec<u64>,
    numbers: Vec<u64>,
    bytes: Vec<u8>,
}

/// Packs blocks of records by columns.
/// Reuses its memory, about eight times the size of the largest block.
#[derive(Debug)]
pub struct BlockPacker {
    kinds: Vec<PackedType>,
    /// Positions in `kinds` by id, or [`UNKNOWN`]. Higher ids are unknown, except the format's own.
    by_id: Vec<u16>,
    /// The record types of this block, in the order of their numbers.
    present: Vec<usize>,
    order: Vec<u64>,
    out: Vec<u8>,
    tools: PackingMemory,
}

impl Default for BlockPacker {
    fn default() -> Self {
        let mut packer = Self {
            kinds: Vec::new(),
            by_id: Vec::new(),
            present: Vec::new(),
            order: Vec::new(),
            out: Vec::new(),
            tools: PackingMemory::default(),
        };
        RecordShape::format_shapes().into_iter().for_each(|shape| packer.add_type(shape));
        packer
    }
}

impl BlockPacker {
    /// Adds a record type. The first shape of an id applies.
    pub fn add_type(&mut self, shape: RecordShape) {
        if self.kind_of(shape.id).is_some() {
            return;
        }
        if shape.id < FIRST_RESERVED_ID {
            let id = usize::from(shape.id);
            self.by_id.resize(self.by_id.len().max(id + 1), UNKNOWN);
            self.by_id[id] = self.kinds.len() as u16;
        }
        let columns = shape.parts.iter().map(|_| PackedColumn::default()).collect();
        self.kinds.push(PackedType { shape, number: None, deltas: Vec::new(), columns });
    }

    #[inline]
    fn kind_of(&self, id: u16) -> Option<usize> {
        match self.by_id.get(usize::from(id)) {
            Some(kind) => (*kind != UNKNOWN).then_some(usize::from(*kind)),
            // The format's own types are few, and their records are rare.
            None => self.kinds.iter().take(OWN).position(|kind| kind.shape.id == id),
        }
    }

    /// Packs the payload of a `records` block by columns. Linear time.
    /// `None` if it contains a record of an unknown type, does not end with a complete record, or
    /// would not become smaller.
    pub fn pack(&mut self, payload: &[u8]) -> Option<&[u8]> {
        self.clear_buffers();
        let split = self.split_into_columns(payload);
        if split.is_some() {
            self.join_columns();
        }
        let parts: usize =
            self.present.iter().filter_map(|index| self.kinds.get(*index)).map(|kind| kind.columns.len()).sum();
        let split = split.filter(|()| parts <= MAX_PARTS && self.present.len() <= MAX_PARTS);
        split.map(|()| self.out.as_slice()).filter(|packed| packed.len() < payload.len())
    }

    fn clear_buffers(&mut self) {
        self.out.clear();
        self.order.clear();
        for index in self.present.drain(..) {
            let Some(kind) = self.kinds.get_mut(index) else { continue };
            kind.number = None;
            kind.deltas.clear();
            for column in &mut kind.columns {
                column.counts.clear();
                column.numbers.clear();
                column.bytes.clear();
            }
        }
    }

    fn split_into_columns(&mut self, payload: &[u8]) -> Option<()> {
        let mut remainder = payload;
        while !remainder.is_empty() {
            let head = remainder.first_chunk::<RECORD_HEAD_BYTES>()?;
            let id = u16::from_le_bytes([head[0], head[1]]);
            let index = self.kind_of(id)?;
            let kind = self.kinds.get_mut(index)?;
            let number = *kind.number.get_or_insert_with(|| {
                self.present.push(index);
                (self.present.len() - 1) as u16
            });
            self.order.push(u64::from(number));
            kind.deltas.push(u64::from(u32::from_le_bytes([head[2], head[3], head[4], head[5]])));
            remainder = &remainder[RECORD_HEAD_BYTES..];
            for (part, column) in kind.shape.parts.iter().zip(&mut kind.columns) {
                remainder = column.take(*part, remainder)?;
            }
        }
        Some(())
    }

    fn join_columns(&mut self) {
        let Self { kinds, present, order, out, tools, .. } = self;
        out.extend_from_slice(&(present.len() as u16).to_le_bytes());
        for kind in present.iter().filter_map(|index| kinds.get(*index)) {
            out.extend_from_slice(&kind.shape.id.to_le_bytes());
            out.extend_from_slice(&(kind.shape.parts.len() as u16).to_le_bytes());
            for part in &kind.shape.parts {
                out.push(part.code());
                if let PartCount::Fixed(count) = part.form {
                    out.extend_from_slice(&count.to_le_bytes());
                }
            }
        }
        out.extend_from_slice(&(order.len() as u32).to_le_bytes());
        push_numbers(out, order, 2, tools);
        for kind in present.iter().filter_map(|index| kinds.get(*index)) {
            push_numbers(out, &kind.deltas, 4, tools);
            for (part, column) in kind.shape.parts.iter().zip(&kind.columns) {
                push_numbers(out, &column.counts, 2, tools);
                push_numbers(out, &column.numbers, part.width, tools);
                push_bytes(out, &column.bytes, tools);
            }
        }
    }
}

impl PackedColumn {
    /// Takes the values of a part and returns the bytes after them.
    #[inline]
    fn take<'a>(&mut self, part: BodyPart, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (count, bytes) = match part.form {
            PartCount::One => return self.take_one(part.width, bytes),
            PartCount::Fixed(count) => (count as usize, bytes),
            PartCount::Counted => {
                let (count, bytes) = bytes.split_first_chunk()?;
                let count = u16::from_le_bytes(*count);
                self.counts.push(count.into());
                (usize::from(count), bytes)
            }
        };
        let (values, bytes) = bytes.split_at_checked(count.checked_mul(part.width.into())?)?;
        if part.width == 1 {
            self.bytes.extend_from_slice(values);
        } else {
            self.numbers.extend(values.chunks_exact(part.width.into()).map(number));
        }
        Some(bytes)
    }

    #[inline]
    fn take_one<'a>(&mut self, width: u8, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (value, bytes) = bytes.split_at_checked(width.into())?;
        self.numbers.push(number(value));
        Some(bytes)
    }
}

/// A little-endian number of 1, 2, 4 or 8 bytes.
#[inline]
fn number(bytes: &[u8]) -> u64 {
    match *bytes {
        [a] => a.into(),
        [a, b] => u16::from_le_bytes([a, b]).into(),
        [a, b, c, d] => u32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

/// Memory that is reused.
#[derive(Debug)]
struct PackingMemory {
    lz4: Lz4Table,
    packed_bytes: Vec<u8>,
    /// A hash table of the entries' numbers, from 1.
    cells: Vec<u16>,
    entries: Vec<u64>,
    indices: Vec<u64>,
    other: Vec<u8>,
}

impl Default for PackingMemory {
    fn default() -> Self {
        Self {
            lz4: Lz4Table(CompressTable::default()),
            packed_bytes: Vec::new(),
            cells: vec![0; CELLS],
            entries: Vec::new(),
            indices: Vec::new(),
            other: Vec::new(),
        }
    }
}

struct Lz4Table(CompressTable);

impl std::fmt::Debug for Lz4Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lz4Table")
    }
}

const CELLS: usize = 1 << 12;
/// Maximum number of entries of a dictionary: half of the places, so that few collide.
const ENTRIES: usize = CELLS / 2;

/// Appends a column of numbers by the shortest method: groups, dictionary, or unchanged.
fn push_numbers(out: &mut Vec<u8>, values: &[u64], width: u8, tools: &mut PackingMemory) {
    if values.is_empty() {
        return;
    }
    let start = out.len();
    out.push(method::GROUPS);
    push_groups(out, values, width);
    let plain_bytes = values.len() * usize::from(width);
    // Numbers that are close to each other take less than two bytes. Only other numbers may have
    // few distinct values.
    if width > 2 && values.len() >= GROUP && out.len() - start > values.len() * 3 / 2 && tools.look_up(values) {
        let other = &mut tools.other;
        other.clear();
        other.push(method::DICTIONARY);
        other.extend_from_slice(&(tools.entries.len() as u16).to_le_bytes());
        other.push(method::GROUPS);
        push_groups(other, &tools.entries, width);
        other.push(method::GROUPS);
        push_groups(other, &tools.indices, 2);
        if other.len() < out.len() - start {
            out.truncate(start);
            out.extend_from_slice(other);
        }
    }
    if out.len() - start > plain_bytes {
        out.truncate(start);
        out.push(method::PLAIN);
        values.iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()[..width.into()]));
    }
}

impl PackingMemory {
    /// Numbers the distinct values in order of appearance.
    /// Returns false if there are too many for a dictionary to save space.
    fn look_up(&mut self, values: &[u64]) -> bool {
        self.cells.fill(0);
        self.entries.clear();
        self.indices.clear();
        let max_entries = ENTRIES.min(values.len() / 2);
        for value in values {
            let hash = value.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - CELLS.trailing_zeros());
            let mut index = hash as usize;
            let index = loop {
                let cell = &mut self.cells[index];
                if *cell == 0 {
                    if self.entries.len() == max_entries {
                        return false;
                    }
                    self.entries.push(*value);
                    *cell = self.entries.len() as u16;
                    break *cell - 1;
                }
                if self.entries[usize::from(*cell) - 1] == *value {
                    break *cell - 1;
                }
                index = (index + 1) % CELLS;
            };
            self.indices.push(u64::from(index));
        }
        true
    }
}

fn push_bytes(out: &mut Vec<u8>, bytes: &[u8], tools: &mut PackingMemory) {
    if bytes.is_empty() {
        return;
    }
    // The buffer never shrinks, so that only new bytes are set to zero.
    let room = get_maximum_output_size(bytes.len()).max(tools.packed_bytes.len());
    tools.packed_bytes.resize(room, 0);
    // The buffer is large enough for any input. If packing fails all the same, the bytes stay
    // unchanged.
    let packed = compress_into_with_table(bytes, &mut tools.packed_bytes, &mut tools.lz4.0).unwrap_or(usize::MAX);
    if packed + 4 < bytes.len() {
        out.push(method::LZ4);
        out.extend_from_slice(&(packed as u32).to_le_bytes());
        out.extend_from_slice(&tools.packed_bytes[..packed]);
    } else {
        out.push(method::PLAIN);
        out.extend_from_slice(bytes);
    }
}
