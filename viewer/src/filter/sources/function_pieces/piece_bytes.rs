//! Pieces as bytes, stored in memory up to a limit, and beyond it in an unnamed file that is
//! deleted with the filter.
//!
//! A piece takes one or two bytes for its value, as the difference from the previous one, if both
//! are whole numbers; otherwise nine bytes. Its duration takes one to four bytes. A gap before it,
//! if any, takes as many.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tumit_spill::spool::Spool;
use tumit_spill::varint;

use super::piece::FunctionPiece;
use crate::query::QueryError;

/// Whole numbers up to 2⁵³ are stored as differences.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Flags of a piece: its value is stored as the bits of a float; a gap precedes it.
const BITS: u64 = 1;
const GAP: u64 = 2;

/// Maximum bytes of the results of a filter in memory.
pub(crate) const MEMORY_LIMIT: usize = 64 << 20;

/// The limit of bytes in memory, and the file for further bytes. Shared by all steps of a filter.
#[derive(Debug)]
pub(crate) struct PieceMemory {
    limit: usize,
    in_memory: AtomicUsize,
    spool: Arc<Spool>,
}

/// Some stored bytes.
#[derive(Debug)]
pub(crate) enum PieceBytes {
    InMemory(Box<[u8]>),
    InFile { spool: Arc<Spool>, offset: u64, length: usize },
}

impl PieceMemory {
    /// With a limit of `limit` bytes in memory.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, in_memory: AtomicUsize::new(0), spool: Arc::default() }
    }

    pub(crate) fn put(&self, bytes: Vec<u8>) -> Result<PieceBytes, QueryError> {
        if self.in_memory.fetch_add(bytes.len(), Ordering::Relaxed) < self.limit {
            return Ok(PieceBytes::InMemory(bytes.into_boxed_slice()));
        }
        let offset = self.spool.append(&bytes).map_err(|_why| QueryError::PutAside)?;
        Ok(PieceBytes::InFile { spool: Arc::clone(&self.spool), offset, length: bytes.len() })
    }
}

impl PieceBytes {
    pub(crate) fn read(&self) -> Result<std::borrow::Cow<'_, [u8]>, QueryError> {
        match self {
            Self::InMemory(bytes) => Ok(bytes.as_ref().into()),
            Self::InFile { spool, offset, length } => {
                let mut bytes = vec![0; *length];
                spool.read_exact_at(&mut bytes, *offset).map_err(|_why| QueryError::PutAside)?;
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
    let (mut timestamp, mut number) = (pieces.first().map_or(0, |piece| piece.from), 0);
    for piece in pieces {
        let gap = piece.from.abs_diff(timestamp);
        let mark = if gap > 0 { GAP } else { 0 };
        match integer_value(piece.value) {
            Some(value) => {
                let difference = value - number;
                varint::push(&mut bytes, varint::zigzag(difference) << 2 | mark);
                number = value;
            }
            None => {
                varint::push(&mut bytes, mark | BITS);
                bytes.extend(piece.value.to_bits().to_le_bytes());
            }
        }
        varint::push(&mut bytes, piece.to.abs_diff(piece.from));
        if gap > 0 {
            varint::push(&mut bytes, gap);
        }
        timestamp = piece.to;
    }
    bytes.shrink_to_fit();
    bytes
}

/// Decodes the pieces. The first one begins at `timestamp`. `None` if [`pack`] cannot have produced
/// the bytes.
pub(crate) fn unpack(mut bytes: &[u8], mut timestamp: i64) -> Option<Vec<FunctionPiece>> {
    // A piece takes at least two bytes.
    let mut pieces = Vec::with_capacity(bytes.len() / 2);
    let mut number = 0_i64;
    while !bytes.is_empty() {
        let head = varint::take(&mut bytes)?;
        let value = if head & BITS != 0 {
            let (bits, rest) = bytes.split_first_chunk()?;
            bytes = rest;
            f64::from_bits(u64::from_le_bytes(*bits))
        } else {
            number = number.checked_add(varint::unzigzag(head >> 2))?;
            #[expect(clippy::cast_precision_loss, reason = "the number was a float")]
            let value = number as f64;
            value
        };
        let length = varint::take(&mut bytes)?;
        let gap = if head & GAP != 0 { varint::take(&mut bytes)? } else { 0 };
        let from = timestamp.checked_add_unsigned(gap)?;
        timestamp = from.checked_add_unsigned(length)?;
        pieces.push(FunctionPiece { from, to: timestamp, value });
    }
    Some(pieces)
}
