//! Pieces as bytes, stored in memory up to a limit, and beyond it in an unnamed file that is
//! deleted with the filter.
//!
//! A piece takes one or two bytes for its value, as the difference from the previous one, if both
//! are whole numbers; otherwise nine bytes. Its duration takes one to four bytes. A gap before it,
//! if any, takes as many.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::FunctionPiece;
use crate::query::QueryError;

/// Whole numbers up to 2⁵³ are stored as differences.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Flags of a piece: its value is stored as the bits of a float; a gap precedes it.
const BITS: u64 = 1;
const GAP: u64 = 2;

/// The limit of bytes in memory, and the file for further bytes. Shared by all steps of a filter.
#[derive(Debug)]
pub(crate) struct PieceMemory {
    memory: usize,
    kept: AtomicUsize,
    file: Mutex<Option<Arc<File>>>,
    end: AtomicU64,
}

/// Some stored bytes.
#[derive(Debug)]
pub(crate) enum PieceBytes {
    Kept(Box<[u8]>),
    Aside { file: Arc<File>, at: u64, len: u32 },
}

impl PieceMemory {
    /// With a limit of `memory` bytes in memory.
    pub(crate) fn new(memory: usize) -> Self {
        Self { memory, kept: AtomicUsize::new(0), file: Mutex::new(None), end: AtomicU64::new(0) }
    }

    pub(crate) fn put(&self, bytes: Vec<u8>) -> Result<PieceBytes, QueryError> {
        if self.kept.fetch_add(bytes.len(), Ordering::Relaxed) < self.memory {
            return Ok(PieceBytes::Kept(bytes.into_boxed_slice()));
        }
        let put = || -> std::io::Result<PieceBytes> {
            let file = {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                match &*file {
                    Some(file) => Arc::clone(file),
                    None => Arc::clone(file.insert(Arc::new(tempfile::tempfile()?))),
                }
            };
            let len = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
            let at = self.end.fetch_add(u64::from(len), Ordering::Relaxed);
            file.write_all_at(&bytes, at)?;
            Ok(PieceBytes::Aside { file, at, len })
        };
        put().map_err(|_why| QueryError::PutAside)
    }
}

impl PieceBytes {
    pub(crate) fn read(&self) -> Result<std::borrow::Cow<'_, [u8]>, QueryError> {
        match self {
            Self::Kept(bytes) => Ok(bytes.as_ref().into()),
            Self::Aside { file, at, len } => {
                let mut bytes = vec![0; *len as usize];
                file.read_exact_at(&mut bytes, *at).map_err(|_why| QueryError::PutAside)?;
                Ok(bytes.into())
            }
        }
    }
}

/// The value as an integer, if it is whole. Minus zero is excluded, because it would lose its sign.
fn integer_value(value: f64) -> Option<i64> {
    let fits = value.fract() == 0.0 && value.abs() <= LARGEST && (value != 0.0 || value.is_sign_positive());
    #[expect(clippy::cast_possible_truncation, reason = "the number is whole, and fits")]
    fits.then_some(value as i64)
}

pub(crate) fn pack(pieces: &[FunctionPiece]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(pieces.len() * 6);
    let (mut date, mut number) = (pieces.first().map_or(0, |piece| piece.from), 0);
    for piece in pieces {
        let gap = piece.from.abs_diff(date);
        let mark = if gap > 0 { GAP } else { 0 };
        match integer_value(piece.value) {
            Some(value) => {
                let difference = value - number;
                push(&mut bytes, ((difference << 1) ^ (difference >> 63)).cast_unsigned() << 2 | mark);
                number = value;
            }
            None => {
                push(&mut bytes, mark | BITS);
                bytes.extend(piece.value.to_bits().to_le_bytes());
            }
        }
        push(&mut bytes, piece.to.abs_diff(piece.from));
        if gap > 0 {
            push(&mut bytes, gap);
        }
        date = piece.to;
    }
    bytes.shrink_to_fit();
    bytes
}

/// Decodes the pieces. The first one begins at `date`. `None` if [`pack`] cannot have produced the
/// bytes.
pub(crate) fn unpack(mut bytes: &[u8], mut date: i64) -> Option<Vec<FunctionPiece>> {
    let mut pieces = Vec::with_capacity(super::BLOCK);
    let mut number = 0_i64;
    while !bytes.is_empty() {
        let head = pop(&mut bytes)?;
        let value = if head & BITS != 0 {
            let (bits, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            f64::from_bits(u64::from_le_bytes(*bits))
        } else {
            let zigzag = head >> 2;
            number = number.checked_add((zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed())?;
            #[expect(clippy::cast_precision_loss, reason = "the number was a float")]
            let value = number as f64;
            value
        };
        let length = pop(&mut bytes)?;
        let gap = if head & GAP != 0 { pop(&mut bytes)? } else { 0 };
        let from = date.checked_add_unsigned(gap)?;
        date = from.checked_add_unsigned(length)?;
        pieces.push(FunctionPiece { from, to: date, value });
    }
    Some(pieces)
}

/// Appends a varint: seven bits per byte, lowest first.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn pop(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
