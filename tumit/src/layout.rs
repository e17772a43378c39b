//! The byte layout of each event, from its declared parameters, and its limit.

use tracer_format::schema::{FieldType, RecordType};

/// Largest fixed part of a record in bytes: with id, delta and source position. It must fit into a block of any recorder.
pub(crate) const MAX_FIXED_BYTES: usize = 32 * 1024;
/// Most values that an array can count: its length has 16 bits.
pub(crate) const MAX_ELEMENTS: u64 = 65_535;

/// Size in bytes of a record without what its counted fields hold.
pub(crate) fn fixed_bytes(record: &RecordType) -> usize {
    let site = if record.located { 4 } else { 0 };
    let fields = record.fields.iter().map(|field| field_bytes(field.ty));
    fields.fold(tracer_format::RECORD_HEAD_BYTES + site, usize::saturating_add)
}

/// Size of a field, or of its length where it is counted.
pub(crate) fn field_bytes(ty: FieldType) -> usize {
    ty.bytes().unwrap_or(2)
}
