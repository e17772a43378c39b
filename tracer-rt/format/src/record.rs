//! Records: iteration over the payload of a `records` block, and the values of fields.
//!
//! ```
//! use tracer_format::record::{RecordIterator, Value, value};
//! use tracer_format::schema::{FieldInfo, FieldType, RecordKind, RecordType, Scalar};
//!
//! let ty = FieldType::One(Scalar::U8);
//! let (name, fields) = ("tick".to_owned(), vec![FieldInfo { name: "n".to_owned(), ty }]);
//! let kind = RecordKind::Event;
//! let record_type = RecordType { name, level: 0, kind, has_location: false, fields };
//!
//! // Id 1, five ticks after the start of the block, and the field.
//! let payload = [1, 0, 5, 0, 0, 0, 42];
//! let mut records = RecordIterator::new(&payload, 1000, |_| Some(&record_type));
//! let record = records.next().unwrap()?;
//! assert_eq!((record.id, record.ticks), (1, 1005));
//! assert_eq!(value(ty, record.body), Some(Value::Unsigned(42)));
//! assert!(records.next().is_none());
//! # Ok::<(), tracer_format::FormatError>(())
//! ```

use crate::bytes::{u32_at, u64_at};
use crate::cause;
use crate::error::FormatError;
use crate::format_constants::{ID_DROPPED, ID_WIDE_TIMESTAMP, RECORD_HEAD_BYTES};
use crate::schema::{FieldInfo, FieldType, RecordType, Scalar};

/// A record with undecoded fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord<'a> {
    /// Record id in this file, or [`ID_DROPPED`].
    pub id: u16,
    /// Timestamp, local ticks.
    pub ticks: u64,
    /// Source position: an id of the `sites` blocks. 0 if unknown or not recorded.
    pub site: u32,
    /// The fields' bytes.
    pub body: &'a [u8],
}

/// The contents of a `dropped` record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DroppedRecords {
    /// Number of missing records.
    pub count: u64,
    /// Size of the missing records in bytes.
    pub bytes: u64,
    /// Timestamp of the first missing record, local ticks.
    pub first_ticks: u64,
    /// Timestamp of the last missing record, local ticks.
    pub last_ticks: u64,
    /// Bits of [`crate::cause`].
    pub cause: u32,
}

impl DroppedRecords {
    /// Size of the body in bytes.
    pub const BYTES: usize = 36;

    /// Encodes the body of the record.
    #[must_use]
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (offset, word) in [(0, self.count), (8, self.bytes), (16, self.first_ticks), (24, self.last_ticks)] {
            bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..].copy_from_slice(&self.cause.to_le_bytes());
        bytes
    }

    /// The mark before a truncated record with this timestamp. It has the number of bytes that were
    /// cut.
    #[must_use]
    pub const fn of_truncated(bytes: u64, ticks: u64) -> Self {
        Self { count: 0, bytes, first_ticks: ticks, last_ticks: ticks, cause: cause::TRUNCATED }
    }

    /// Whether this is the mark in front of a truncated record. No record is missing there.
    #[must_use]
    pub const fn is_truncation(&self) -> bool {
        self.count == 0 && self.cause == cause::TRUNCATED
    }

    /// Reads a body of [`DroppedRecords::BYTES`] bytes.
    #[must_use]
    pub fn decode(body: &[u8]) -> Option<Self> {
        let b = body.first_chunk::<{ Self::BYTES }>()?;
        Some(Self {
            count: u64_at(b, 0),
            bytes: u64_at(b, 8),
            first_ticks: u64_at(b, 16),
            last_ticks: u64_at(b, 24),
            cause: u32_at(b, 32),
        })
    }
}

/// Iterates over the records of an unpacked payload. Ends after an error.
#[derive(Clone, Debug)]
pub struct RecordIterator<'a, F> {
    payload: &'a [u8],
    position: usize,
    ticks: u64,
    record_type: F,
}

impl<'a, 't, F: Fn(u16) -> Option<&'t RecordType>> RecordIterator<'a, F> {
    /// Creates the iterator.
    /// `first_ticks` is that of the block header, and `record_type` returns the type of an id.
    pub const fn new(payload: &'a [u8], first_ticks: u64, record_type: F) -> Self {
        Self { payload, position: 0, ticks: first_ticks, record_type }
    }

    /// Offset of the next record in the payload.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.position
    }

    fn read(&mut self) -> Result<RawRecord<'a>, FormatError> {
        loop {
            let start = self.position;
            let bad = FormatError::BadRecord { offset: start };
            let bytes = &self.payload[start..];
            let Some(head) = bytes.first_chunk::<RECORD_HEAD_BYTES>() else { return Err(bad) };
            let id = u16::from_le_bytes([head[0], head[1]]);
            let ticks = self.ticks.wrapping_add(u64::from(u32_at(head, 2)));
            let body = &bytes[RECORD_HEAD_BYTES..];
            if id == ID_WIDE_TIMESTAMP {
                let Some(ticks) = body.first_chunk::<8>() else { return Err(bad) };
                self.ticks = u64::from_le_bytes(*ticks);
                self.position = start + RECORD_HEAD_BYTES + 8;
                if self.position >= self.payload.len() {
                    return Err(FormatError::BadRecord { offset: self.position });
                }
                continue;
            }
            let (site, length) = if id == ID_DROPPED {
                (0, DroppedRecords::BYTES)
            } else {
                let Some(kind) = (self.record_type)(id) else {
                    return Err(FormatError::UnknownRecord { id, offset: start });
                };
                let Some(length) = body_bytes(kind, body) else { return Err(bad) };
                let site = if kind.has_location && body.len() >= 4 { u32_at(body, 0) } else { 0 };
                (site, length)
            };
            let Some(body) = body.get(..length) else { return Err(bad) };
            self.position = start + RECORD_HEAD_BYTES + length;
            self.ticks = ticks;
            let skip = if site_bytes(id, &self.record_type) { 4 } else { 0 };
            return Ok(RawRecord { id, ticks, site, body: &body[skip..] });
        }
    }
}

fn site_bytes<'t>(id: u16, record_type: &impl Fn(u16) -> Option<&'t RecordType>) -> bool {
    id != ID_DROPPED && record_type(id).is_some_and(|kind| kind.has_location)
}

impl<'a, 't, F: Fn(u16) -> Option<&'t RecordType>> Iterator for RecordIterator<'a, F> {
    type Item = Result<RawRecord<'a>, FormatError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.position >= self.payload.len() {
            return None;
        }
        let record = self.read();
        if record.is_err() {
            self.position = self.payload.len();
        }
        Some(record)
    }
}

/// Size in bytes of the part after id and delta. `None` if it extends beyond the end of `body`.
fn body_bytes(kind: &RecordType, body: &[u8]) -> Option<usize> {
    let mut position = if kind.has_location { 4 } else { 0 };
    for field in &kind.fields {
        position += field_bytes(field.ty, body.get(position..)?)?;
    }
    (position <= body.len()).then_some(position)
}

pub(crate) fn field_bytes(ty: FieldType, bytes: &[u8]) -> Option<usize> {
    if let Some(fixed) = ty.bytes() {
        return Some(fixed);
    }
    let count = usize::from(u16::from_le_bytes(*bytes.first_chunk::<2>()?));
    Some(match ty {
        FieldType::Variable(scalar) => 2 + count * scalar.bytes()?,
        FieldType::One(_) | FieldType::Fixed(..) => 2 + count,
    })
}

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Any unsigned integer.
    Unsigned(u64),
    /// Any signed integer.
    Signed(i64),
    /// A 32-bit float, separate so that it prints with its original digits.
    Single(f32),
    /// A 64-bit float.
    Double(f64),
    /// True or false.
    Bool(bool),
    /// A timestamp, local ticks.
    Date(u64),
    /// An address.
    Pointer(u64),
    /// A value of an enum of the schema.
    Enum {
        /// Index of the enum.
        index: u32,
        /// Number of the value.
        value: u16,
    },
    /// An id of the process's strings.
    Interned(u32),
    /// Text, perhaps not valid UTF-8.
    Text(&'a [u8]),
    /// The content of a `bytes` field, without its count.
    Bytes(&'a [u8]),
    /// An array; read its elements with [`array_elements`].
    Array(Scalar, &'a [u8]),
}

/// Iterates over the values of a record's body (without its source position).
pub fn values<'a>(fields: &'a [FieldInfo], body: &'a [u8]) -> impl Iterator<Item = Value<'a>> + 'a {
    let mut position = 0;
    fields.iter().map_while(move |field| {
        let rest = body.get(position..)?;
        let length = field_bytes(field.ty, rest)?;
        let bytes = rest.get(..length)?;
        position += length;
        value(field.ty, bytes)
    })
}

/// Decodes the value of a field. `bytes` has exactly the size of the field.
#[must_use]
pub fn value(ty: FieldType, bytes: &[u8]) -> Option<Value<'_>> {
    match ty {
        FieldType::One(scalar) => scalar_value(scalar, bytes),
        FieldType::Fixed(scalar, _) => Some(Value::Array(scalar, bytes)),
        FieldType::Variable(scalar) => Some(Value::Array(scalar, bytes.get(2..)?)),
    }
}

/// Reads the elements of a fixed or counted array. `bytes` has no count.
pub fn array_elements(scalar: Scalar, bytes: &[u8]) -> impl Iterator<Item = Value<'_>> {
    bytes.chunks_exact(scalar.bytes().unwrap_or(1).max(1)).filter_map(move |chunk| scalar_value(scalar, chunk))
}

pub(crate) fn scalar_value(scalar: Scalar, b: &[u8]) -> Option<Value<'_>> {
    let unsigned = || {
        let mut word = [0; 8];
        word.get_mut(..b.len())?.copy_from_slice(b);
        Some(u64::from_le_bytes(word))
    };
    Some(match scalar {
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => Value::Unsigned(unsigned()?),
        Scalar::I8 => Value::Signed(i64::from(i8::from_le_bytes(*b.first_chunk()?))),
        Scalar::I16 => Value::Signed(i64::from(i16::from_le_bytes(*b.first_chunk()?))),
        Scalar::I32 => Value::Signed(i64::from(i32::from_le_bytes(*b.first_chunk()?))),
        Scalar::I64 => Value::Signed(i64::from_le_bytes(*b.first_chunk()?)),
        Scalar::F32 => Value::Single(f32::from_le_bytes(*b.first_chunk()?)),
        Scalar::F64 => Value::Double(f64::from_le_bytes(*b.first_chunk()?)),
        Scalar::Bool => Value::Bool(unsigned()? != 0),
        Scalar::Date => Value::Date(unsigned()?),
        Scalar::Pointer => Value::Pointer(unsigned()?),
        Scalar::Enum { index, .. } => Value::Enum { index, value: u16::try_from(unsigned()?).ok()? },
        Scalar::Interned => Value::Interned(u32::try_from(unsigned()?).ok()?),
        Scalar::String => Value::Text(b.get(2..)?),
        Scalar::Bytes => Value::Bytes(b.get(2..)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::RecordKind;

    fn kind() -> RecordType {
        let field = |name: &str, ty| FieldInfo { name: name.into(), ty };
        RecordType {
            name: "all".into(),
            level: 0,
            kind: RecordKind::Event,
            has_location: true,
            fields: vec![
                field("a", FieldType::One(Scalar::U16)),
                field("b", FieldType::One(Scalar::String)),
                field("c", FieldType::Variable(Scalar::I8)),
                field("d", FieldType::Fixed(Scalar::U16, 2)),
            ],
        }
    }

    fn record(delta: u32) -> Vec<u8> {
        let mut out = vec![5, 0];
        out.extend(delta.to_le_bytes());
        out.extend([9, 0, 0, 0]);
        out.extend([1, 1, 2, 0, b'h', b'i', 1, 0, 0xFF, 3, 0, 4, 0]);
        out
    }

    #[test]
    fn records_are_walked_and_decoded() {
        let kind = kind();
        let mut payload = record(0);
        payload.extend(ID_WIDE_TIMESTAMP.to_le_bytes());
        payload.extend([0; 4]);
        payload.extend(1_000_000u64.to_le_bytes());
        payload.extend(record(7));
        let records: Vec<_> =
            RecordIterator::new(&payload, 100, |id| (id == 5).then_some(&kind)).map(Result::unwrap).collect();
        assert_eq!((records[0].ticks, records[1].ticks, records[0].site), (100, 1_000_007, 9));
        let values: Vec<_> = values(&kind.fields, records[0].body).collect();
        assert_eq!(values[0], Value::Unsigned(257));
        assert_eq!(values[1], Value::Text(b"hi"));
        let Value::Array(scalar, bytes) = values[2] else { panic!("an array") };
        assert_eq!(array_elements(scalar, bytes).next(), Some(Value::Signed(-1)));
        let Value::Array(scalar, bytes) = values[3] else { panic!("an array") };
        assert_eq!(array_elements(scalar, bytes).last(), Some(Value::Unsigned(4)));
    }

    #[test]
    fn every_cut_is_an_error_or_the_end() {
        let kind = kind();
        let payload = [record(0), record(1)].concat();
        for cut in 0..payload.len() {
            let mut records = RecordIterator::new(&payload[..cut], 0, |_| Some(&kind));
            let complete_count = records.by_ref().take_while(Result::is_ok).count();
            assert_eq!(complete_count, usize::from(cut >= payload.len() / 2), "cut at {cut}");
        }
    }

    #[test]
    fn dropped_records_round_trip() {
        let dropped = DroppedRecords { count: 1, bytes: 2, first_ticks: 3, last_ticks: 4, cause: 5 };
        assert_eq!(DroppedRecords::decode(&dropped.encode()), Some(dropped));
        assert!(!dropped.is_truncation() && DroppedRecords::of_truncated(7, 8).is_truncation());
    }
}
