//! Columns of numbers, in groups.
//!
//! A group stores each number, or its difference to the previous number, as a distance from a base.
//! All distances have the bit width that makes the group smallest. Numbers that need more bits
//! follow as exceptions. A sample of the numbers decides between numbers and differences. The best
//! width is counted exactly. (Bit packing with exceptions is the idea of PFOR: Zukowski, Héman,
//! Nes, Boncz, "Super-Scalar RAM-CPU Cache Compression", 2006.)

use super::column_constants::method;
use super::column_constants::{DIFFERENCES, GROUP};

/// Sign-extends a number of `width` bytes.
/// Differences in two's complement are then as short as possible.
pub(super) const fn extend(value: u64, width: u8) -> i64 {
    let shift = 64 - 8 * width as u32;
    ((value << shift) as i64) >> shift
}

/// Moves the sign of a number to the lowest bit.
pub(super) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Inverts [`zigzag`].
pub(super) const fn unzigzag(code: u64) -> i64 {
    (code >> 1) as i64 ^ -((code & 1) as i64)
}

/// Size in bytes of a number with seven bits per byte.
const fn varint_bytes(value: u64) -> usize {
    (bits(value | 1) as usize).div_ceil(7)
}

const fn bits(value: u64) -> u32 {
    64 - value.leading_zeros()
}

pub(super) fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The storage of a group and its approximate size in bytes.
#[derive(Clone, Copy)]
struct NumberPacking {
    base: i64,
    width: u32,
    bytes: usize,
    exceptions: bool,
}

/// Size in bytes of an exception, by the bits of its distance.
/// A distance of 64 bits is probably negative and may be shorter.
const EXCEPTION_BYTES: [u16; 65] = {
    let mut bytes = [0; 65];
    let mut bits = 0;
    while bits <= 64 {
        bytes[bits] = 1 + (bits as u16 + 1).div_ceil(7);
        bits += 1;
    }
    bytes
};

/// The best width for the distances of the numbers from a base. Linear time.
fn plan(numbers: &[i64], base: i64) -> NumberPacking {
    // How many distances need each number of bits.
    let mut counts = [0u16; 65];
    let mut union = 0;
    for number in numbers {
        let distance = number.wrapping_sub(base) as u64;
        union |= distance;
        counts[bits(distance) as usize] += 1;
    }
    let widest = bits(union) as usize;
    let mut best =
        NumberPacking { base, width: widest as u32, bytes: (numbers.len() * widest).div_ceil(8), exceptions: false };
    let mut exceptions = 0;
    for width in (0..widest).rev() {
        exceptions += usize::from(counts[width + 1] * EXCEPTION_BYTES[width + 1]);
        let bytes = (numbers.len() * width).div_ceil(8) + exceptions;
        if bytes < best.bytes {
            best = NumberPacking { base, width: width as u32, bytes, exceptions: true };
        }
        if exceptions >= best.bytes {
            break;
        }
    }
    best.bytes += varint_bytes(zigzag(base));
    best
}

/// The best plan, with distances from the minimum or from the most frequent number.
fn best_plan(numbers: &[i64]) -> NumberPacking {
    let min = numbers.iter().copied().min().unwrap_or(0);
    let from_min = plan(numbers, min);
    let usual = frequent_value(numbers).filter(|usual| *usual != min);
    match usual.map(|usual| plan(numbers, usual)) {
        Some(from_usual) if from_usual.bytes < from_min.bytes => from_usual,
        _ => from_min,
    }
}

/// A number that probably most of the numbers equal, from three samples.
fn frequent_value(numbers: &[i64]) -> Option<i64> {
    let quantile = |quarter: usize| numbers.get(numbers.len() * quarter / 4).copied();
    let (first, second, third) = (quantile(1)?, quantile(2)?, quantile(3)?);
    if first == second || first == third { Some(first) } else { (second == third).then_some(second) }
}

/// A plan with width 0 if all numbers are equal.
fn constant(numbers: &[i64]) -> Option<NumberPacking> {
    let base = *numbers.first()?;
    let differs = numbers.iter().fold(0, |sum, number| sum | (number ^ base));
    (differs == 0).then_some(NumberPacking { base, width: 0, bytes: 0, exceptions: false })
}

/// One of this many numbers is in the sample that decides between numbers and differences.
const SAMPLE: usize = 4;

/// Whether differences make a group smaller.
fn prefers_steps(values: &[i64], steps: &[i64]) -> bool {
    let sample = |numbers: &[i64]| {
        let mut some = [0; GROUP / SAMPLE];
        let picked = numbers.iter().skip(SAMPLE / 2).step_by(SAMPLE);
        let count = some.iter_mut().zip(picked).map(|(target, number)| *target = *number).count();
        let min = some[..count].iter().copied().min().unwrap_or(0);
        plan(&some[..count], min)
    };
    if values.len() < GROUP / SAMPLE {
        return best_plan(steps).bytes < best_plan(values).bytes;
    }
    sample(steps).bytes < sample(values).bytes
}

/// Appends numbers of `width` bytes in groups. Linear time.
pub(super) fn push_groups(out: &mut Vec<u8>, values: &[u64], width: u8) {
    let mut previous = 0;
    for group in values.chunks(GROUP) {
        let (mut plain, mut steps) = ([0; GROUP], [0; GROUP]);
        for ((value, plain), step) in group.iter().zip(&mut plain).zip(&mut steps) {
            *plain = extend(*value, width);
            *step = extend(value.wrapping_sub(previous), width);
            previous = *value;
        }
        let (plain, steps) = (&plain[..group.len()], &steps[..group.len()]);
        if let Some(plan) = constant(plain) {
            push_group(out, plain, plan, 0);
        } else if let Some(plan) = constant(steps) {
            push_group(out, steps, plan, DIFFERENCES);
        } else if prefers_steps(plain, steps) {
            push_group(out, steps, best_plan(steps), DIFFERENCES);
        } else {
            push_group(out, plain, best_plan(plain), 0);
        }
    }
}

fn push_group(out: &mut Vec<u8>, numbers: &[i64], plan: NumberPacking, order: u8) {
    out.push(plan.width as u8 | order);
    push_varint(out, zigzag(plan.base));
    let count_at = out.len();
    out.push(0);
    if plan.width > 0 {
        push_bits(out, numbers, plan);
    }
    if !plan.exceptions {
        return;
    }
    for (index, number) in numbers.iter().enumerate() {
        let distance = number.wrapping_sub(plan.base);
        if bits(distance as u64) > plan.width {
            out[count_at] += 1;
            out.push(index as u8);
            push_varint(out, zigzag(distance));
        }
    }
}

/// Appends the lowest `plan.width` bits of each distance. The width is at least 1.
fn push_bits(out: &mut Vec<u8>, numbers: &[i64], plan: NumberPacking) {
    let mut packed = [0; GROUP * 8];
    let mask = u64::MAX >> (64 - plan.width);
    let (mut word, mut filled, mut words) = (0u64, 0, packed.chunks_exact_mut(8));
    for number in numbers {
        let distance = number.wrapping_sub(plan.base) as u64 & mask;
        word |= distance << filled;
        filled += plan.width;
        if filled >= 64 {
            if let Some(target) = words.next() {
                target.copy_from_slice(&word.to_le_bytes());
            }
            filled -= 64;
            // The rest of the number that did not fit. 0 if it fits exactly.
            word = distance.checked_shr(plan.width - filled).unwrap_or(0);
        }
    }
    if let Some(target) = words.next() {
        target.copy_from_slice(&word.to_le_bytes());
    }
    out.extend_from_slice(&packed[..(numbers.len() * plan.width as usize).div_ceil(8)]);
}

/// The bytes that are not read yet.
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl<'a> ByteReader<'a> {
    pub(super) fn u8(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }

    pub(super) fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(head)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

/// Reads a column of `count` numbers of `width` bytes each and appends it to `out`.
/// The caller has checked `count`.
pub(super) fn read(input: &mut ByteReader<'_>, count: usize, width: u8, out: &mut Vec<u8>) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    match input.u8()? {
        method::PLAIN => out.extend_from_slice(input.take(count.checked_mul(width.into())?)?),
        method::GROUPS => read_groups(input, count, width, out)?,
        method::DICTIONARY if width > 1 => {
            let entries = usize::from(input.u16()?);
            if entries == 0 || entries > count {
                return None;
            }
            let (mut dictionary, mut indices) = (Vec::new(), Vec::new());
            read_simple(input, entries, width, &mut dictionary)?;
            read_simple(input, count, 2, &mut indices)?;
            match width {
                2 => look_up::<2>(&dictionary, &indices, out)?,
                4 => look_up::<4>(&dictionary, &indices, out)?,
                _ => look_up::<8>(&dictionary, &indices, out)?,
            }
        }
        _ => return None,
    }
    Some(())
}

/// Appends the dictionary entries with these indices.
fn look_up<const N: usize>(dictionary: &[u8], indices: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let dictionary = dictionary.as_chunks::<N>().0;
    let indices = indices.as_chunks().0;
    let start = out.len();
    out.resize(start + indices.len() * N, 0);
    for (target, index) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(indices) {
        *target = *dictionary.get(usize::from(u16::from_le_bytes(*index)))?;
    }
    Some(())
}

/// Skips a column that [`read`] would read.
pub(super) fn skip(input: &mut ByteReader<'_>, count: usize, width: u8) -> Option<()> {
    if count == 0 {
        return Some(());
    }
    match input.u8()? {
        method::PLAIN => _ = input.take(count.checked_mul(width.into())?)?,
        method::GROUPS => skip_groups(input, count)?,
        method::DICTIONARY if width > 1 => {
            let entries = usize::from(input.u16()?);
            if entries == 0 || entries > count {
                return None;
            }
            skip_simple(input, entries, width)?;
            skip_simple(input, count, 2)?;
        }
        _ => return None,
    }
    Some(())
}

fn skip_simple(input: &mut ByteReader<'_>, count: usize, width: u8) -> Option<()> {
    match input.0.first()? {
        &method::DICTIONARY => None,
        _ => skip(input, count, width),
    }
}

fn skip_groups(input: &mut ByteReader<'_>, count: usize) -> Option<()> {
    let mut remaining_numbers = count;
    while remaining_numbers > 0 {
        let numbers = remaining_numbers.min(GROUP);
        remaining_numbers -= numbers;
        let width = usize::from(input.u8()? & !DIFFERENCES);
        input.varint()?;
        let exceptions = input.u8()?;
        if width > 64 {
            return None;
        }
        input.take((numbers * width).div_ceil(8))?;
        for _ in 0..exceptions {
            input.u8()?;
            input.varint()?;
        }
    }
    Some(())
}

/// Reads a column without a dictionary.
fn read_simple(input: &mut ByteReader<'_>, count: usize, width: u8, out: &mut Vec<u8>) -> Option<()> {
    match input.0.first()? {
        &method::DICTIONARY => None,
        _ => read(input, count, width, out),
    }
}

fn read_groups(input: &mut ByteReader<'_>, count: usize, width: u8, out: &mut Vec<u8>) -> Option<()> {
    let mut numbers = [0; GROUP];
    let (mut remaining_numbers, mut previous) = (count, 0u64);
    while remaining_numbers > 0 {
        let numbers = &mut numbers[..remaining_numbers.min(GROUP)];
        remaining_numbers -= numbers.len();
        if read_group(input, numbers)? {
            for number in &mut *numbers {
                previous = number.wrapping_add(previous);
                *number = previous;
            }
        } else if let Some(last) = numbers.last() {
            previous = *last;
        }
        match width {
            1 => out.extend(numbers.iter().map(|number| *number as u8)),
            2 => append(out, numbers, |number| (number as u16).to_le_bytes()),
            4 => append(out, numbers, |number| (number as u32).to_le_bytes()),
            _ => append(out, numbers, u64::to_le_bytes),
        }
    }
    Some(())
}

/// Appends the numbers as `N` bytes each, in a loop without branches.
#[inline]
fn append<const N: usize>(out: &mut Vec<u8>, numbers: &[u64], bytes: impl Fn(u64) -> [u8; N]) {
    let start = out.len();
    out.resize(start + numbers.len() * N, 0);
    for (target, number) in out[start..].as_chunks_mut::<N>().0.iter_mut().zip(numbers) {
        *target = bytes(*number);
    }
}

/// Reads the numbers of a group. Returns whether they are differences.
fn read_group(input: &mut ByteReader<'_>, numbers: &mut [u64]) -> Option<bool> {
    let head = input.u8()?;
    let width = u32::from(head & !DIFFERENCES);
    let base = unzigzag(input.varint()?) as u64;
    let exceptions = input.u8()?;
    if width > 64 {
        return None;
    }
    let packed = input.take((numbers.len() * width as usize).div_ceil(8))?;
    match width {
        0 => numbers.fill(base),
        1..=MAX_WORD_BITS => read_bits(packed, width as usize, base, numbers)?,
        _ => read_wide_bits(packed, width, base, numbers),
    }
    for _ in 0..exceptions {
        let index = usize::from(input.u8()?);
        *numbers.get_mut(index)? = base.wrapping_add(unzigzag(input.varint()?) as u64);
    }
    Some(head & DIFFERENCES != 0)
}

/// Maximum bits of a number that lies within eight bytes for each start bit.
const MAX_WORD_BITS: u32 = 57;

/// Reads numbers of at most [`MAX_WORD_BITS`] bits.
/// Each number comes from the eight bytes that begin with its first bit. Each width has its own
/// loop, in which all offsets are constants.
fn read_bits(bytes: &[u8], width: usize, base: u64, numbers: &mut [u64]) -> Option<()> {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width => read_bits_of::<$width>(bytes, base, numbers),)*
                _ => None,
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
        30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57)
}

/// Numbers per step. They end at a whole byte.
const TOGETHER: usize = 8;

fn read_bits_of<const WIDTH: usize>(packed: &[u8], base: u64, numbers: &mut [u64]) -> Option<()> {
    // Bytes after the last number are not part of any number.
    let mut bytes = [0; GROUP * 8 + 8];
    bytes.get_mut(..packed.len())?.copy_from_slice(packed);
    let mask = u64::MAX >> (64 - WIDTH);
    let number = |bytes: &[u8], offset: usize| -> Option<u64> {
        let word = u64::from_le_bytes(*bytes.get(offset * WIDTH / 8..)?.first_chunk()?);
        Some(base.wrapping_add(word >> (offset * WIDTH % 8) & mask))
    };
    let mut remainder = &bytes[..];
    let (eights, last) = numbers.as_chunks_mut::<TOGETHER>();
    for eight in eights {
        let (these, _) = remainder.split_at_checked(WIDTH + 8)?;
        for (index, target) in eight.iter_mut().enumerate() {
            *target = number(these, index)?;
        }
        remainder = remainder.get(WIDTH..)?;
    }
    for (index, target) in last.iter_mut().enumerate() {
        *target = number(remainder, index)?;
    }
    Some(())
}

/// Reads numbers of more than [`MAX_WORD_BITS`] bits.
fn read_wide_bits(mut packed: &[u8], width: u32, base: u64, numbers: &mut [u64]) {
    let mask = u64::MAX.checked_shr(64 - width).unwrap_or(0);
    let (mut word, mut filled) = (0u128, 0);
    for number in numbers {
        if filled < width {
            let (bytes, rest) = packed.split_at(packed.len().min(8));
            let mut next = [0; 8];
            next[..bytes.len()].copy_from_slice(bytes);
            word |= u128::from(u64::from_le_bytes(next)) << filled;
            filled += 64;
            packed = rest;
        }
        *number = base.wrapping_add(word as u64 & mask);
        word >>= width;
        filled -= width;
    }
}
