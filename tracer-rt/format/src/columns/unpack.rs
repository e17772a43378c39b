//! Unpacking: columns, put together to records again.

use super::numbers::{self, Input};
use super::shape::{Form, Part};
use super::{MAX_PARTS, method};
use crate::RECORD_HEAD_BYTES;

/// A record type of the block, and its columns, of which the records take one value after the other.
struct Kind {
    id: u16,
    count: usize,
    dates: Values,
    columns: Vec<(Part, Values, Values)>,
}

/// Values that are taken one by one.
#[derive(Default)]
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
    let mut input = Input(stored);
    let mut kinds = read_kinds(&mut input)?;
    let mut budget = Budget(raw_bytes);
    let records = input.u32()? as usize;
    budget.spend(records, RECORD_HEAD_BYTES)?;
    let mut order = Vec::new();
    numbers::read(&mut input, records, 2, &mut order)?;
    for number in order.chunks_exact(2) {
        kinds.get_mut(number_of(number))?.count += 1;
    }
    for kind in &mut kinds {
        kind.read(&mut input, &mut budget)?;
    }
    if !input.0.is_empty() || budget.0 != 0 {
        return None;
    }
    out.clear();
    if kinds.iter().all(|kind| kind.size().is_some()) {
        return scatter(&kinds, &order, raw_bytes, out);
    }
    out.reserve_exact(raw_bytes);
    for number in order.chunks_exact(2) {
        kinds.get_mut(number_of(number))?.push_record(out)?;
    }
    (out.len() == raw_bytes).then_some(())
}

/// Puts together records whose sizes are constant: column by column, which is a short loop for each, not record by record.
fn scatter(kinds: &[Kind], order: &[u8], raw_bytes: usize, out: &mut Vec<u8>) -> Option<()> {
    let mut places: Vec<(usize, Vec<u32>)> = Vec::new();
    let mut bytes = 0usize;
    for kind in kinds {
        let size = kind.size()?;
        bytes = bytes.checked_add(size.checked_mul(kind.count)?)?;
        places.push((size, Vec::with_capacity(kind.count)));
    }
    if bytes != raw_bytes {
        return None;
    }
    let mut at = 0;
    for number in order.chunks_exact(2) {
        let (size, starts) = places.get_mut(number_of(number))?;
        starts.push(u32::try_from(at).ok()?);
        at += *size;
    }
    out.resize(raw_bytes, 0);
    for (kind, (_, starts)) in kinds.iter().zip(&places) {
        let id = kind.id.to_le_bytes();
        for start in starts {
            *out.get_mut(*start as usize..)?.first_chunk_mut()? = id;
        }
        put(out, starts, size_of::<u16>(), kind.dates.bytes.as_chunks::<4>().0)?;
        let mut from = RECORD_HEAD_BYTES;
        for (part, _, values) in &kind.columns {
            let bytes = &values.bytes;
            let width = part.bytes()?;
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
    }
    Some(())
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
            columns.push((read_part(input)?, Values::default(), Values::default()));
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
        self.columns.iter().try_fold(RECORD_HEAD_BYTES, |sum, (part, ..)| sum.checked_add(part.bytes()?))
    }

    fn read(&mut self, input: &mut Input<'_>, budget: &mut Budget) -> Option<()> {
        numbers::read(input, self.count, 4, &mut self.dates.bytes)?;
        for (part, counts, values) in &mut self.columns {
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
            if part.is_bytes() {
                read_bytes(input, count, &mut values.bytes)?;
            } else {
                numbers::read(input, count, part.width, &mut values.bytes)?;
            }
        }
        Some(())
    }

    fn push_record(&mut self, out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.dates.next::<4>()?);
        for (part, counts, values) in &mut self.columns {
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
