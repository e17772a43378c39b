//! Unpacking: combines columns to records, all of them or those of some types.

use super::column_constants::MAX_PARTS;
use super::column_constants::method;
use super::column_layout::{BodyPart, PartCount};
use super::numbers::{self, ByteReader};
use crate::format_constants::RECORD_HEAD_BYTES;

/// The columns of a block of records that were read.
#[derive(Debug)]
pub struct BlockColumns {
    kinds: Vec<UnpackedType>,
    /// For each record the position of its type in `kinds`, two bytes each.
    order: Vec<u8>,
}

/// A record type of the block and its columns. Each record takes the next value of each column.
#[derive(Debug)]
struct UnpackedType {
    id: u16,
    count: usize,
    deltas: ValueIterator,
    columns: Vec<UnpackedColumn>,
}

/// One part of the records of a type.
#[derive(Debug)]
struct UnpackedColumn {
    part: BodyPart,
    counts: ValueIterator,
    values: ValueIterator,
}

/// Values that are taken one by one.
#[derive(Debug, Default)]
struct ValueIterator {
    bytes: Vec<u8>,
    position: usize,
}

impl ValueIterator {
    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let value = self.bytes.get(self.position..)?.first_chunk::<N>()?;
        self.position += N;
        Some(*value)
    }

    fn take(&mut self, bytes: usize) -> Option<&[u8]> {
        let slice = self.bytes.get(self.position..)?.get(..bytes)?;
        self.position += bytes;
        Some(slice)
    }
}

/// Records of constant sizes, concatenated as in the payload.
#[derive(Clone, Debug, Default)]
pub struct FixedSizeRows {
    /// The bytes of the records.
    pub bytes: Vec<u8>,
    /// Offset of each record in `bytes`, and the end of the last one.
    pub starts: Vec<u32>,
    /// Timestamp of each record, in ticks from the start of the block.
    pub ticks: Vec<u64>,
    /// Position of each record in the block.
    pub places: Vec<u32>,
}

/// The size of the records of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSize {
    /// The id of the record type.
    pub id: u16,
    /// Bytes of a record, with its head.
    pub bytes: usize,
}

/// A record type of a block, and the number of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct TypeRecords {
    pub id: u16,
    pub count: usize,
}

/// The values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnBytes<'c> {
    /// Bytes of a value.
    pub width: usize,
    /// The values, one after the other.
    pub bytes: &'c [u8],
}

impl FixedSizeRows {
    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
        self.ticks.clear();
        self.places.clear();
    }
}

/// The number of bytes that may still be allocated.
/// The columns together are not larger than the payload.
struct AllocationBudget(usize);

impl AllocationBudget {
    fn spend(&mut self, count: usize, width: usize) -> Option<()> {
        self.0 = self.0.checked_sub(count.checked_mul(width)?)?;
        Some(())
    }
}

/// Unpacks the `raw_bytes` bytes of a payload into `out`.
/// `None` if the columns do not form such a payload.
/// Linear time. The memory is at most about three times `raw_bytes`, also for invalid columns.
pub(crate) fn unpack(stored_bytes: &[u8], raw_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut columns = BlockColumns::read(stored_bytes, raw_bytes, |_, _| true)?;
    if columns.kinds.iter().all(|kind| kind.size().is_some()) {
        let mut rows = FixedSizeRows { bytes: std::mem::take(out), ..FixedSizeRows::default() };
        columns.rows(&mut rows, |_| true)?;
        *out = rows.bytes;
        return (out.len() == raw_bytes).then_some(());
    }
    out.clear();
    out.reserve_exact(raw_bytes);
    let BlockColumns { kinds, order } = &mut columns;
    for number in order.chunks_exact(2) {
        kinds.get_mut(number_of(number))?.push_record(out)?;
    }
    (out.len() == raw_bytes).then_some(())
}

impl BlockColumns {
    /// Reads the stored payload of a block of this codec, with `raw_bytes` bytes according to its
    /// header. Timestamps are always read. `is_selected` selects the other columns by the id of the
    /// record type and the position of the part in its records ([`super::RecordShape`]). Other
    /// columns are skipped, and their values are not checked.
    ///
    /// `None` if the columns do not form such a payload. Linear time. The memory is at most about
    /// three times `raw_bytes`, also for invalid columns.
    pub fn read(
        stored_bytes: &[u8],
        raw_bytes: usize,
        mut is_selected: impl FnMut(u16, usize) -> bool,
    ) -> Option<Self> {
        let mut input = ByteReader(stored_bytes);
        let mut kinds = read_kinds(&mut input)?;
        let mut budget = AllocationBudget(raw_bytes);
        let records = input.u32()? as usize;
        budget.spend(records, RECORD_HEAD_BYTES)?;
        let mut order = Vec::new();
        numbers::read(&mut input, records, 2, &mut order)?;
        for number in order.as_chunks().0 {
            kinds.get_mut(usize::from(u16::from_le_bytes(*number)))?.count += 1;
        }
        for kind in &mut kinds {
            kind.read(&mut input, &mut budget, &mut is_selected)?;
        }
        (input.0.is_empty() && budget.0 == 0).then_some(Self { kinds, order })
    }

    /// Number of records.
    #[must_use]
    pub fn records(&self) -> usize {
        self.order.len() / 2
    }

    /// The record types in the stored payload of a block of this codec, with their sizes.
    /// `None` if a size is not constant, or the columns are damaged. Reads only the start.
    #[must_use]
    pub fn sizes(stored_bytes: &[u8]) -> Option<Vec<TypeSize>> {
        let kinds = read_kinds(&mut ByteReader(stored_bytes))?;
        kinds.iter().map(|kind| Some(TypeSize { id: kind.id, bytes: kind.size()? })).collect()
    }

    /// Combines the records of the types that `is_selected` selects.
    /// This works column by column, with one short loop for each column. `None` if one of their
    /// columns was not read, or their sizes are not constant.
    pub fn rows(&self, out: &mut FixedSizeRows, is_selected: impl Fn(u16) -> bool) -> Option<()> {
        out.clear();
        let mut targets = Vec::with_capacity(self.kinds.len());
        let mut bytes = 0usize;
        for kind in &self.kinds {
            let is_wanted = kind.count > 0 && is_selected(kind.id);
            let (size, room) = if is_wanted { (kind.size()?, kind.count) } else { (0, 0) };
            bytes = bytes.checked_add(size.checked_mul(room)?)?;
            let deltas = kind.deltas.bytes.as_chunks::<4>().0;
            targets.push(UnpackTarget { is_wanted, size, deltas, next: 0, starts: Vec::with_capacity(room) });
        }
        u32::try_from(bytes).ok()?;
        let count = targets.iter().map(|target| target.starts.capacity()).sum();
        out.starts.reserve(count + 1);
        out.ticks.reserve(count);
        out.places.reserve(count);
        let (mut at, mut ticks) = (0usize, 0u64);
        for (position, number) in self.order.as_chunks().0.iter().enumerate() {
            let target = targets.get_mut(usize::from(u16::from_le_bytes(*number)))?;
            ticks = ticks.wrapping_add(u32::from_le_bytes(*target.deltas.get(target.next)?).into());
            target.next += 1;
            if target.is_wanted {
                let start = at as u32;
                target.starts.push(start);
                out.starts.push(start);
                out.ticks.push(ticks);
                out.places.push(position as u32);
                at += target.size;
            }
        }
        out.starts.push(at as u32);
        out.bytes.resize(bytes, 0);
        for (kind, target) in self.kinds.iter().zip(&targets).filter(|(_, target)| target.is_wanted) {
            kind.scatter(&target.starts, &mut out.bytes)?;
        }
        Some(())
    }

    /// The record types in the order of the block.
    pub fn kinds(&self) -> impl Iterator<Item = TypeRecords> {
        self.kinds.iter().map(|kind| TypeRecords { id: kind.id, count: kind.count })
    }

    /// For each record the position of its type in [`Self::kinds`].
    pub fn order(&self) -> impl ExactSizeIterator<Item = u16> {
        self.order.as_chunks().0.iter().map(|number| u16::from_le_bytes(*number))
    }

    /// For each record its ticks from the start of the block.
    pub fn ticks(&self) -> impl Iterator<Item = u64> {
        let mut deltas: Vec<_> = self.kinds.iter().map(|kind| kind.deltas.bytes.as_chunks::<4>().0.iter()).collect();
        let mut ticks = 0u64;
        self.order().map(move |kind| {
            let delta = deltas.get_mut(usize::from(kind)).and_then(Iterator::next);
            ticks = ticks.wrapping_add(delta.map_or(0, |delta| u32::from_le_bytes(*delta)).into());
            ticks
        })
    }

    /// Writes the ticks of all records from the start of the block to `out`. Linear time.
    pub fn write_ticks(&self, out: &mut Vec<u64>) {
        out.clear();
        out.extend(self.ticks());
    }

    /// The ticks from the start of the block to its last record.
    #[must_use]
    pub fn length(&self) -> u64 {
        let deltas = self.kinds.iter().flat_map(|kind| kind.deltas.bytes.as_chunks().0);
        deltas.fold(0, |sum: u64, delta| sum.wrapping_add(u32::from_le_bytes(*delta).into()))
    }

    /// The values of a part of the records of one type, in the order of the records.
    /// `None` if there are none, they were not read, or their sizes differ.
    #[must_use]
    pub fn column(&self, id: u16, part: usize) -> Option<ColumnBytes<'_>> {
        let kind = self.kinds.iter().find(|kind| kind.id == id && kind.count > 0)?;
        let UnpackedColumn { part, values, .. } = kind.columns.get(part)?;
        let width = part.bytes()?;
        let is_full = values.bytes.len() == kind.count.checked_mul(width)?;
        is_full.then_some(ColumnBytes { width, bytes: &values.bytes })
    }
}

/// The destination of the records of a type.
struct UnpackTarget<'k> {
    is_wanted: bool,
    size: usize,
    deltas: &'k [[u8; 4]],
    /// Number of records of the type so far.
    next: usize,
    starts: Vec<u32>,
}

/// Copies the values of a column into the records at `starts`, `from` bytes after each start.
fn put<const N: usize>(out: &mut [u8], starts: &[u32], from: usize, values: &[[u8; N]]) -> Option<()> {
    if values.len() != starts.len() {
        return None;
    }
    for (start, value) in starts.iter().zip(values) {
        *out.get_mut(*start as usize + from..)?.first_chunk_mut()? = *value;
    }
    Some(())
}

impl BodyPart {
    /// The size of the part in bytes, if it is the same in all records.
    fn bytes(self) -> Option<usize> {
        match self.form {
            PartCount::One => Some(self.width.into()),
            PartCount::Fixed(count) => (count as usize).checked_mul(self.width.into()),
            PartCount::Counted => None,
        }
    }
}

fn number_of(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(usize::MAX, |bytes| u16::from_le_bytes(*bytes).into())
}

fn read_kinds(input: &mut ByteReader<'_>) -> Option<Vec<UnpackedType>> {
    let mut kinds = Vec::new();
    let mut parts = MAX_PARTS;
    for _ in 0..input.u16()? {
        let id = input.u16()?;
        let mut columns = Vec::new();
        for _ in 0..input.u16()? {
            parts = parts.checked_sub(1)?;
            columns.push(UnpackedColumn {
                part: read_part(input)?,
                counts: ValueIterator::default(),
                values: ValueIterator::default(),
            });
        }
        kinds.push(UnpackedType { id, count: 0, deltas: ValueIterator::default(), columns });
    }
    Some(kinds)
}

fn read_part(input: &mut ByteReader<'_>) -> Option<BodyPart> {
    let code = input.u8()?;
    let form = match code >> 2 {
        0 => PartCount::One,
        1 => PartCount::Fixed(input.u32()?),
        2 => PartCount::Counted,
        _ => return None,
    };
    Some(BodyPart { width: 1 << (code & 3), form })
}

impl UnpackedType {
    /// The size of the records in bytes, if it is constant.
    fn size(&self) -> Option<usize> {
        let parts = self.columns.iter().map(|column| column.part);
        parts.into_iter().try_fold(RECORD_HEAD_BYTES, |sum, part| sum.checked_add(part.bytes()?))
    }

    fn read(
        &mut self,
        input: &mut ByteReader<'_>,
        budget: &mut AllocationBudget,
        is_selected: &mut impl FnMut(u16, usize) -> bool,
    ) -> Option<()> {
        numbers::read(input, self.count, 4, &mut self.deltas.bytes)?;
        for (index, UnpackedColumn { part, counts, values }) in self.columns.iter_mut().enumerate() {
            let width = usize::from(part.width);
            let count = match part.form {
                PartCount::One => self.count,
                PartCount::Fixed(count) => self.count.checked_mul(count as usize)?,
                PartCount::Counted => {
                    budget.spend(self.count, 2)?;
                    numbers::read(input, self.count, 2, &mut counts.bytes)?;
                    counts.bytes.chunks_exact(2).map(number_of).sum()
                }
            };
            budget.spend(count, width)?;
            match (part.is_bytes(), is_selected(self.id, index)) {
                (true, true) => read_bytes(input, count, &mut values.bytes)?,
                (true, false) => skip_bytes(input, count)?,
                (false, true) => numbers::read(input, count, part.width, &mut values.bytes)?,
                (false, false) => numbers::skip(input, count, part.width)?,
            }
        }
        Some(())
    }

    /// Copies the values of the type into the records at `starts`.
    fn scatter(&self, starts: &[u32], out: &mut [u8]) -> Option<()> {
        let id = self.id.to_le_bytes();
        for (start, delta) in starts.iter().zip(self.deltas.bytes.as_chunks::<4>().0) {
            let [a, b, c, d] = *delta;
            *out.get_mut(*start as usize..)?.first_chunk_mut()? = [id[0], id[1], a, b, c, d];
        }
        let mut from = RECORD_HEAD_BYTES;
        for UnpackedColumn { part, values, .. } in &self.columns {
            let bytes = &values.bytes;
            let width = part.bytes()?;
            if bytes.len() != width.checked_mul(starts.len())? {
                return None;
            }
            match width {
                1 => put(out, starts, from, bytes.as_chunks::<1>().0)?,
                2 => put(out, starts, from, bytes.as_chunks::<2>().0)?,
                4 => put(out, starts, from, bytes.as_chunks::<4>().0)?,
                8 => put(out, starts, from, bytes.as_chunks::<8>().0)?,
                0 => {}
                width => {
                    for (start, value) in starts.iter().zip(bytes.chunks_exact(width)) {
                        out.get_mut(*start as usize + from..)?.get_mut(..width)?.copy_from_slice(value);
                    }
                }
            }
            from += width;
        }
        Some(())
    }

    fn push_record(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.deltas.next::<4>()?);
        for UnpackedColumn { part, counts, values } in &mut self.columns {
            match (part.form, part.width) {
                (PartCount::One, 1) => out.extend_from_slice(&values.next::<1>()?),
                (PartCount::One, 2) => out.extend_from_slice(&values.next::<2>()?),
                (PartCount::One, 4) => out.extend_from_slice(&values.next::<4>()?),
                (PartCount::One, _) => out.extend_from_slice(&values.next::<8>()?),
                (PartCount::Fixed(count), width) => {
                    out.extend_from_slice(values.take((count as usize).checked_mul(width.into())?)?);
                }
                (PartCount::Counted, width) => {
                    let count = counts.next::<2>()?;
                    out.extend_from_slice(&count);
                    out.extend_from_slice(values.take(usize::from(u16::from_le_bytes(count)) * usize::from(width))?);
                }
            }
        }
        Some(())
    }
}

fn read_bytes(input: &mut ByteReader<'_>, count: usize, out: &mut Vec<u8>) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    match input.u8()? {
        method::PLAIN => out.extend_from_slice(input.take(count)?),
        method::LZ4 => {
            let bytes = input.u32()? as usize;
            out.resize(count, 0);
            let filled = lz4_flex::block::decompress_into(input.take(bytes)?, out).ok()?;
            if filled != count {
                return None;
            }
        }
        _ => return None,
    }
    Some(())
}

/// Skips bytes that [`read_bytes`] would read.
fn skip_bytes(input: &mut ByteReader<'_>, count: usize) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    let bytes = match input.u8()? {
        method::PLAIN => count,
        method::LZ4 => input.u32()? as usize,
        _ => return None,
    };
    input.take(bytes).map(|_| ())
}
