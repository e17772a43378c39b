//! Unpacking: columns, put together to records again, all of them or those of some types.

use super::numbers::{self, Input};
use super::shape::{Form, Part};
use super::{MAX_PARTS, method};
use crate::constants::RECORD_HEAD_BYTES;

/// The records of a block by columns, as far as they were asked for.
#[derive(Debug)]
pub struct Columns {
    kinds: Vec<Kind>,
    /// By record: the position of its type in `kinds`, two bytes each.
    order: Vec<u8>,
}

/// A record type of the block, and its columns, of which the records take one value after the other.
#[derive(Debug)]
struct Kind {
    id: u16,
    count: usize,
    dates: Values,
    columns: Vec<Column>,
}

/// One part of the records of a type.
#[derive(Debug)]
struct Column {
    part: Part,
    counts: Values,
    values: Values,
}

/// Values that are taken one by one.
#[derive(Debug, Default)]
struct Values {
    bytes: Vec<u8>,
    at: usize,
}

impl Values {
    fn next<const N: usize>(&mut self) -> Option<[u8; N]> {
        let value = self.bytes.get(self.at..)?.first_chunk::<N>()?;
        self.at += N;
        Some(*value)
    }

    fn take(&mut self, bytes: usize) -> Option<&[u8]> {
        let taken = self.bytes.get(self.at..)?.get(..bytes)?;
        self.at += bytes;
        Some(taken)
    }
}

/// Records of constant sizes, put together: one behind the other, as in the payload.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// Where in `bytes` each begins; one more says where the last ends.
    pub starts: Vec<u32>,
    /// The date of each, in ticks from the beginning of the block.
    pub ticks: Vec<u64>,
    /// The position of each in the block.
    pub places: Vec<u32>,
}

impl Rows {
    fn clear(&mut self) {
        self.bytes.clear();
        self.starts.clear();
        self.ticks.clear();
        self.places.clear();
    }
}

/// What may still be allocated: no column is longer than what it becomes a part of.
struct Budget(usize);

impl Budget {
    fn spend(&mut self, count: usize, width: usize) -> Option<()> {
        self.0 = self.0.checked_sub(count.checked_mul(width)?)?;
        Some(())
    }
}

/// Fills `out` with the `raw_bytes` bytes of a payload; `None` when the columns are not those of such a payload. Linear; memory
/// is at most some three times `raw_bytes`, whatever the columns say.
pub(crate) fn unpack(stored: &[u8], raw_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut columns = Columns::read(stored, raw_bytes, |_, _| true)?;
    if columns.kinds.iter().all(|kind| kind.size().is_some()) {
        let mut rows = Rows { bytes: std::mem::take(out), ..Rows::default() };
        columns.rows(&mut rows, |_| true)?;
        *out = rows.bytes;
        return (out.len() == raw_bytes).then_some(());
    }
    out.clear();
    out.reserve_exact(raw_bytes);
    let Columns { kinds, order } = &mut columns;
    for number in order.chunks_exact(2) {
        kinds.get_mut(number_of(number))?.push_record(out)?;
    }
    (out.len() == raw_bytes).then_some(())
}

impl Columns {
    /// Reads the stored payload of a block of this codec, of which the header says that it has `raw_bytes` bytes. Dates are always
    /// read; of the other columns, those for which `wanted` holds, which is asked with the id of the record type and the position of the
    /// part in its records ([`super::Shape`]). The others are skipped, without a look at their values.
    ///
    /// `None` when the columns are not those of such a payload. Linear; memory is at most some three times `raw_bytes`, whatever they say.
    pub fn read(stored: &[u8], raw_bytes: usize, mut wanted: impl FnMut(u16, usize) -> bool) -> Option<Self> {
        let mut input = Input(stored);
        let mut kinds = read_kinds(&mut input)?;
        let mut budget = Budget(raw_bytes);
        let records = input.u32()? as usize;
        budget.spend(records, RECORD_HEAD_BYTES)?;
        let mut order = Vec::new();
        numbers::read(&mut input, records, 2, &mut order)?;
        for number in order.as_chunks().0 {
            kinds.get_mut(usize::from(u16::from_le_bytes(*number)))?.count += 1;
        }
        for kind in &mut kinds {
            kind.read(&mut input, &mut budget, &mut wanted)?;
        }
        (input.0.is_empty() && budget.0 == 0).then_some(Self { kinds, order })
    }

    /// Number of records.
    #[must_use]
    pub fn records(&self) -> usize {
        self.order.len() / 2
    }

    /// The record types of the stored payload of a block of this codec: each with its id and the size of its records, their heads
    /// included. `None` when a size is not constant, or the columns are damaged. Reads the beginning alone.
    #[must_use]
    pub fn sizes(stored: &[u8]) -> Option<Vec<(u16, usize)>> {
        let kinds = read_kinds(&mut Input(stored))?;
        kinds.iter().map(|kind| Some((kind.id, kind.size()?))).collect()
    }

    /// Puts together the records of the types for which `wanted` holds: column by column, which is a short loop for each, not record by
    /// record. `None` when one of their columns was not read, or their sizes are not constant.
    pub fn rows(&self, out: &mut Rows, wanted: impl Fn(u16) -> bool) -> Option<()> {
        out.clear();
        let mut targets = Vec::with_capacity(self.kinds.len());
        let mut bytes = 0usize;
        for kind in &self.kinds {
            let is_wanted = kind.count > 0 && wanted(kind.id);
            let (size, room) = if is_wanted { (kind.size()?, kind.count) } else { (0, 0) };
            bytes = bytes.checked_add(size.checked_mul(room)?)?;
            let deltas = kind.dates.bytes.as_chunks::<4>().0;
            targets.push(Target { is_wanted, size, deltas, next: 0, starts: Vec::with_capacity(room) });
        }
        u32::try_from(bytes).ok()?;
        let wanted = targets.iter().map(|target| target.starts.capacity()).sum();
        out.starts.reserve(wanted + 1);
        out.ticks.reserve(wanted);
        out.places.reserve(wanted);
        let (mut at, mut ticks) = (0usize, 0u64);
        for (place, number) in self.order.as_chunks().0.iter().enumerate() {
            let target = targets.get_mut(usize::from(u16::from_le_bytes(*number)))?;
            ticks = ticks.wrapping_add(u32::from_le_bytes(*target.deltas.get(target.next)?).into());
            target.next += 1;
            if target.is_wanted {
                let start = at as u32;
                target.starts.push(start);
                out.starts.push(start);
                out.ticks.push(ticks);
                out.places.push(place as u32);
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

    /// The record types, in the order in which the block has them: their ids, and how many records there are of each.
    pub fn kinds(&self) -> impl Iterator<Item = (u16, usize)> {
        self.kinds.iter().map(|kind| (kind.id, kind.count))
    }

    /// By record: the position of its type among [`Self::kinds`].
    pub fn order(&self) -> impl ExactSizeIterator<Item = u16> {
        self.order.as_chunks().0.iter().map(|number| u16::from_le_bytes(*number))
    }

    /// By record: its ticks from the beginning of the block.
    pub fn each_ticks(&self) -> impl Iterator<Item = u64> {
        let mut deltas: Vec<_> = self.kinds.iter().map(|kind| kind.dates.bytes.as_chunks::<4>().0.iter()).collect();
        let mut ticks = 0u64;
        self.order().map(move |kind| {
            let delta = deltas.get_mut(usize::from(kind)).and_then(Iterator::next);
            ticks = ticks.wrapping_add(delta.map_or(0, |delta| u32::from_le_bytes(*delta)).into());
            ticks
        })
    }

    /// Fills in the ticks of all records from the beginning of the block. Linear.
    pub fn ticks(&self, out: &mut Vec<u64>) {
        out.clear();
        out.extend(self.each_ticks());
    }

    /// The ticks from the beginning of the block to its last record.
    #[must_use]
    pub fn length(&self) -> u64 {
        let deltas = self.kinds.iter().flat_map(|kind| kind.dates.bytes.as_chunks().0);
        deltas.fold(0, |sum: u64, delta| sum.wrapping_add(u32::from_le_bytes(*delta).into()))
    }

    /// The values of a part of the records of one type, in the order of the records, and the size of each in bytes; `None` when there
    /// are none, they were not read, or their sizes differ.
    #[must_use]
    pub fn column(&self, id: u16, part: usize) -> Option<(usize, &[u8])> {
        let kind = self.kinds.iter().find(|kind| kind.id == id && kind.count > 0)?;
        let Column { part, values, .. } = kind.columns.get(part)?;
        let bytes = part.bytes()?;
        (values.bytes.len() == kind.count.checked_mul(bytes)?).then_some((bytes, &values.bytes))
    }
}

/// Where the records of a type go.
struct Target<'k> {
    is_wanted: bool,
    size: usize,
    deltas: &'k [[u8; 4]],
    /// How many of its records were met.
    next: usize,
    starts: Vec<u32>,
}

/// Puts the values of a column into the records that begin here, so many bytes behind their beginning.
fn put<const N: usize>(out: &mut [u8], starts: &[u32], from: usize, values: &[[u8; N]]) -> Option<()> {
    if values.len() != starts.len() {
        return None;
    }
    for (start, value) in starts.iter().zip(values) {
        *out.get_mut(*start as usize + from..)?.first_chunk_mut()? = *value;
    }
    Some(())
}

impl Part {
    /// Its size in each record, when it is the same in all.
    fn bytes(self) -> Option<usize> {
        match self.form {
            Form::One => Some(self.width.into()),
            Form::Fixed(count) => (count as usize).checked_mul(self.width.into()),
            Form::Counted => None,
        }
    }
}

fn number_of(bytes: &[u8]) -> usize {
    bytes.first_chunk().map_or(usize::MAX, |bytes| u16::from_le_bytes(*bytes).into())
}

fn read_kinds(input: &mut Input<'_>) -> Option<Vec<Kind>> {
    let mut kinds = Vec::new();
    let mut parts = MAX_PARTS;
    for _ in 0..input.u16()? {
        let id = input.u16()?;
        let mut columns = Vec::new();
        for _ in 0..input.u16()? {
            parts = parts.checked_sub(1)?;
            columns.push(Column { part: read_part(input)?, counts: Values::default(), values: Values::default() });
        }
        kinds.push(Kind { id, count: 0, dates: Values::default(), columns });
    }
    Some(kinds)
}

fn read_part(input: &mut Input<'_>) -> Option<Part> {
    let code = input.u8()?;
    let form = match code >> 2 {
        0 => Form::One,
        1 => Form::Fixed(input.u32()?),
        2 => Form::Counted,
        _ => return None,
    };
    Some(Part { width: 1 << (code & 3), form })
}

impl Kind {
    /// The size of its records, when it is constant.
    fn size(&self) -> Option<usize> {
        let parts = self.columns.iter().map(|column| column.part);
        parts.into_iter().try_fold(RECORD_HEAD_BYTES, |sum, part| sum.checked_add(part.bytes()?))
    }

    fn read(
        &mut self,
        input: &mut Input<'_>,
        budget: &mut Budget,
        wanted: &mut impl FnMut(u16, usize) -> bool,
    ) -> Option<()> {
        numbers::read(input, self.count, 4, &mut self.dates.bytes)?;
        for (at, Column { part, counts, values }) in self.columns.iter_mut().enumerate() {
            let width = usize::from(part.width);
            let count = match part.form {
                Form::One => self.count,
                Form::Fixed(count) => self.count.checked_mul(count as usize)?,
                Form::Counted => {
                    budget.spend(self.count, 2)?;
                    numbers::read(input, self.count, 2, &mut counts.bytes)?;
                    counts.bytes.chunks_exact(2).map(number_of).sum()
                }
            };
            budget.spend(count, width)?;
            match (part.is_bytes(), wanted(self.id, at)) {
                (true, true) => read_bytes(input, count, &mut values.bytes)?,
                (true, false) => skip_bytes(input, count)?,
                (false, true) => numbers::read(input, count, part.width, &mut values.bytes)?,
                (false, false) => numbers::skip(input, count, part.width)?,
            }
        }
        Some(())
    }

    /// Puts its values into the records that begin here.
    fn scatter(&self, starts: &[u32], out: &mut [u8]) -> Option<()> {
        let id = self.id.to_le_bytes();
        for (start, delta) in starts.iter().zip(self.dates.bytes.as_chunks::<4>().0) {
            let [a, b, c, d] = *delta;
            *out.get_mut(*start as usize..)?.first_chunk_mut()? = [id[0], id[1], a, b, c, d];
        }
        let mut from = RECORD_HEAD_BYTES;
        for Column { part, values, .. } in &self.columns {
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
        out.extend_from_slice(&self.dates.next::<4>()?);
        for Column { part, counts, values } in &mut self.columns {
            match (part.form, part.width) {
                (Form::One, 1) => out.extend_from_slice(&values.next::<1>()?),
                (Form::One, 2) => out.extend_from_slice(&values.next::<2>()?),
                (Form::One, 4) => out.extend_from_slice(&values.next::<4>()?),
                (Form::One, _) => out.extend_from_slice(&values.next::<8>()?),
                (Form::Fixed(count), width) => {
                    out.extend_from_slice(values.take((count as usize).checked_mul(width.into())?)?);
                }
                (Form::Counted, width) => {
                    let count = counts.next::<2>()?;
                    out.extend_from_slice(&count);
                    out.extend_from_slice(values.take(usize::from(u16::from_le_bytes(count)) * usize::from(width))?);
                }
            }
        }
        Some(())
    }
}

fn read_bytes(input: &mut Input<'_>, count: usize, out: &mut Vec<u8>) -> Option<()> {
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

/// Passes over what [`read_bytes`] would read.
fn skip_bytes(input: &mut Input<'_>, count: usize) -> Option<()> {
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
