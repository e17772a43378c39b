//! The byte layout of each event, computed from its declared parameters, and its size limit.

use tracer_format::schema::{FieldType, RecordType};

/// Maximum size in bytes of the fixed part of a record, with id, delta and source position.
///
/// A record with this size fits into a block of any recorder.
pub(crate) const MAX_FIXED_BYTES: usize = 32 * 1024;
/// Maximum number of elements of an array. The length of an array has 16 bits.
pub(crate) const MAX_ELEMENTS: u64 = 65_535;

/// Size in bytes of a record without the contents of its counted fields.
pub(crate) fn fixed_bytes(record: &RecordType) -> usize {
    let site = if record.has_location { 4 } else { 0 };
    let fields = record.fields.iter().map(|field| field_bytes(field.ty));
    fields.fold(tracer_format::RECORD_HEAD_BYTES + site, usize::saturating_add)
}

/// Size in bytes of a field. For a counted field, the size of its length.
pub(crate) fn field_bytes(ty: FieldType) -> usize {
    ty.bytes().unwrap_or(2)
}
