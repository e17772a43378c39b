//! Encodes the values of a span or an event as the bytes of a record.
//!
//! The crate `tracing` knows the types of fields only when it visits their values. The visitor
//! therefore encodes each value at once, and collects the types as the *signature*.

use std::cell::Cell;
use std::error::Error;
use std::fmt::{self, Debug, Write as _};
use std::ops::Range;

use tracing_core::Field;
use tracing_core::field::Visit;

/// Number of fields that a signature can contain. Further fields are not recorded.
pub(crate) const MAX_FIELDS: usize = 32;
/// Maximum size in bytes of all values of a record. Texts are cut to it.
pub(crate) const MAX_RECORD_BYTES: usize = 60_000;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EncodedType {
    I64 = 1,
    U64 = 2,
    F64 = 3,
    Bool = 4,
    Text = 5,
    Bytes = 6,
    /// An interned text.
    Interned = 7,
}

const TYPES: [EncodedType; 7] = [
    EncodedType::I64,
    EncodedType::U64,
    EncodedType::F64,
    EncodedType::Bool,
    EncodedType::Text,
    EncodedType::Bytes,
    EncodedType::Interned,
];

/// The types of the recorded fields: four bits for each field of the callsite, 0 without a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signature(u128);

impl Signature {
    pub(crate) const fn with(self, field: usize, ty: EncodedType) -> Self {
        Self(self.0 | (ty as u128) << (field * 4))
    }

    fn type_of(self, field: usize) -> Option<EncodedType> {
        let code = (self.0 >> (field * 4) & 0xF) as usize;
        TYPES.get(code.wrapping_sub(1)).copied()
    }

    /// The fields with a value, by their index in the callsite.
    pub(crate) fn fields(self) -> impl Iterator<Item = (usize, EncodedType)> {
        (0..MAX_FIELDS).filter_map(move |field| Some((field, self.type_of(field)?)))
    }
}

/// Encodes the values of one record.
#[derive(Debug)]
pub(crate) struct FieldEncoder {
    pub(crate) bytes: Vec<u8>,
    pub(crate) signature: Signature,
    /// The bytes before the first value.
    start: usize,
    /// The index of the next field, if all fields come in the order of the callsite.
    next: usize,
    /// Field and position of each value, if a field came after one with a higher index.
    places: Option<Vec<(usize, usize)>>,
}

thread_local! {
    /// The memory of the last record.
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl FieldEncoder {
    /// An encoder in the memory of the thread, after the bytes `head`.
    ///
    /// A value may record events itself while it is formatted. These use new memory, as all events
    /// do in destructors of thread-local variables.
    pub(crate) fn new(head: &[u8]) -> Self {
        let mut bytes = BUFFER.try_with(Cell::take).unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(head);
        Self { bytes, signature: Signature::default(), start: head.len(), next: 0, places: None }
    }

    /// Gives the memory back to the thread.
    pub(crate) fn release(self) {
        // If the variable is destroyed, the memory is freed.
        let _ = BUFFER.try_with(|buffer| buffer.set(self.bytes));
    }

    /// Adds the type of a value. Returns false if the value cannot be recorded.
    #[inline]
    fn begin(&mut self, field: &Field, ty: EncodedType) -> bool {
        let index = field.index();
        if index >= MAX_FIELDS {
            return false;
        }
        if index < self.next || self.places.is_some() {
            return self.begin_unordered(index, ty);
        }
        self.next = index + 1;
        self.signature = self.signature.with(index, ty);
        true
    }

    #[cold]
    fn begin_unordered(&mut self, index: usize, ty: EncodedType) -> bool {
        if self.signature.type_of(index).is_some() {
            return false;
        }
        let (start, bytes) = (self.start, &self.bytes);
        let places = self.places.get_or_insert_with(|| {
            let values = values(self.signature, &bytes[start..]);
            values.map(|(field, value)| (field, start + value.start)).collect()
        });
        places.push((index, bytes.len()));
        self.signature = self.signature.with(index, ty);
        true
    }

    /// Ends the record: sorts its values if they did not come in the order of their fields.
    pub(crate) fn finish(&mut self) {
        let Some(mut places) = self.places.take() else { return };
        let unsorted = self.bytes[self.start..].to_vec();
        let ends: Vec<usize> = places.iter().skip(1).map(|place| place.1).chain([self.bytes.len()]).collect();
        let mut values: Vec<_> = places.drain(..).zip(ends).map(|((field, start), end)| (field, start..end)).collect();
        values.sort_unstable_by_key(|(field, _)| *field);
        self.bytes.truncate(self.start);
        for (_, value) in values {
            self.bytes.extend_from_slice(&unsorted[value.start - self.start..value.end - self.start]);
        }
    }

    fn number(&mut self, field: &Field, ty: EncodedType, bytes: [u8; 8]) {
        if self.begin(field, ty) {
            self.bytes.extend_from_slice(&bytes);
        }
    }

    fn text(&mut self, field: &Field, ty: EncodedType, write: impl FnOnce(&mut CutText<'_>)) {
        if !self.begin(field, ty) {
            return;
        }
        let place = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 2]);
        let room = MAX_RECORD_BYTES.saturating_sub(self.bytes.len());
        write(&mut CutText { bytes: &mut self.bytes, room });
        let length = (self.bytes.len() - place - 2) as u16;
        self.bytes[place..place + 2].copy_from_slice(&length.to_le_bytes());
    }
}

/// A text of limited length. It is cut between characters.
struct CutText<'b> {
    bytes: &'b mut Vec<u8>,
    room: usize,
}

impl fmt::Write for CutText<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut length = text.len().min(self.room);
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        self.bytes.extend_from_slice(&text.as_bytes()[..length]);
        // After a cut, nothing more is appended.
        self.room = if length < text.len() { 0 } else { self.room - length };
        Ok(())
    }
}

impl Visit for FieldEncoder {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number(field, EncodedType::F64, value.to_le_bytes());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, EncodedType::I64, value.to_le_bytes());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, EncodedType::U64, value.to_le_bytes());
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.record_debug(field, &value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.record_debug(field, &value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        if self.begin(field, EncodedType::Bool) {
            self.bytes.push(u8::from(value));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, EncodedType::Text, |text| {
            let _ = text.write_str(value);
        });
    }

    fn record_bytes(&mut self, field: &Field, value: &[u8]) {
        self.text(field, EncodedType::Bytes, |text| {
            let length = value.len().min(text.room);
            text.bytes.extend_from_slice(&value[..length]);
        });
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(field, EncodedType::Text, |text| {
            // An implementation that fails has written a part of its text.
            let _ = write!(text, "{value:?}");
        });
    }
}

/// The values in encoded bytes, by field.
fn values(signature: Signature, bytes: &[u8]) -> impl Iterator<Item = (usize, Range<usize>)> {
    let mut start = 0;
    signature.fields().map(move |(field, ty)| {
        let length = match ty {
            EncodedType::I64 | EncodedType::U64 | EncodedType::F64 => 8,
            EncodedType::Bool => 1,
            EncodedType::Interned => 4,
            EncodedType::Text | EncodedType::Bytes => {
                let count = bytes.get(start..start + 2).map_or(0, |count| u16::from_le_bytes([count[0], count[1]]));
                2 + usize::from(count)
            }
        };
        let value = start..start + length;
        start = value.end;
        (field, value)
    })
}

/// Replaces values by `new` ones, and adds those of further fields. Both are encoded.
pub(crate) fn merged(old: (Signature, &[u8]), new: (Signature, &[u8])) -> (Signature, Vec<u8>) {
    let (mut signature, mut bytes) = (Signature::default(), Vec::new());
    let old_values: Vec<_> = values(old.0, old.1).collect();
    let new_values: Vec<_> = values(new.0, new.1).collect();
    for field in 0..MAX_FIELDS {
        let of = |values: &[(usize, Range<usize>)]| {
            values.iter().find(|(of, _)| *of == field).map(|(_, value)| value.clone())
        };
        let value = match (of(&new_values), of(&old_values)) {
            (Some(value), _) => new.0.type_of(field).zip(new.1.get(value)),
            (None, Some(value)) => old.0.type_of(field).zip(old.1.get(value)),
            (None, None) => None,
        };
        if let Some((ty, value)) = value {
            signature = signature.with(field, ty);
            bytes.extend_from_slice(value);
        }
    }
    (signature, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_values_replace_earlier_ones() {
        let old =
            Signature::default().with(0, EncodedType::Text).with(2, EncodedType::Bool).with(3, EncodedType::Interned);
        let new = Signature::default().with(1, EncodedType::U64).with(2, EncodedType::Text);
        let (signature, bytes) = merged((old, b"\x02\0hi\x01\x09\0\0\0"), (new, b"\x07\0\0\0\0\0\0\0\x01\0x"));
        let types: Vec<_> = signature.fields().collect();
        let expected = [EncodedType::Text, EncodedType::U64, EncodedType::Text, EncodedType::Interned];
        assert_eq!(types, expected.into_iter().enumerate().collect::<Vec<_>>());
        assert_eq!(bytes, b"\x02\0hi\x07\0\0\0\0\0\0\0\x01\0x\x09\0\0\0");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let mut bytes = Vec::new();
        let mut text = CutText { bytes: &mut bytes, room: 4 };
        assert!(text.write_str("aé").and_then(|()| text.write_str("éb")).is_ok());
        assert!(text.write_str("c").is_ok(), "nothing follows a cut");
        assert_eq!(bytes, "aé".as_bytes());
    }
}
