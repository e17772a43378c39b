//! The sections of the gathered data, one byte stream per lane, and the encoding of their values.

use std::io;
use std::sync::Arc;

use tumit_paje::{ContainerId, TypeId, ValueId};
use tumit_spill::byte_streams::{ByteStreamReader, FinishedByteStream};
use tumit_spill::varint;

/// The section of one lane: its entities in a byte stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneSummary {
    pub(crate) container: ContainerId,
    pub(crate) ty: TypeId,
    pub(crate) depth: u32,
    pub(crate) byte_stream: usize,
    pub(crate) rows: u64,
    /// States: end of the last one. Events: timestamp of the last one. Variables: start of the last
    /// sample.
    pub(crate) last: i64,
    /// Variables: end of the last sample.
    pub(crate) end: i64,
    /// Events: whether all arrived in order of their timestamps.
    pub(crate) is_sorted: bool,
}

/// A lane with its entities.
pub(crate) struct GatheredLane {
    pub(crate) lane: LaneSummary,
    /// Number of its first entity.
    pub(crate) base: u32,
    pub(crate) rows: Arc<FinishedByteStream>,
}

/// A value with its detail row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetailedValue {
    pub(crate) value: u64,
    /// 0 if the entity has no details.
    pub(crate) detail: u64,
}

/// Writes a value, and the detail row if there is one.
pub(crate) fn write_value(out: &mut Vec<u8>, value: ValueId, detail: u32) {
    varint::push(out, u64::from(value.0) << 1 | u64::from(detail != 0));
    if detail != 0 {
        varint::push(out, detail.into());
    }
}

/// Reads the bytes that [`write_value`] writes.
pub(crate) fn read_value(from: &mut ByteStreamReader<'_>) -> io::Result<DetailedValue> {
    let value = from.number()?;
    let detail = if value & 1 == 1 { from.number()? } else { 0 };
    Ok(DetailedValue { value: value >> 1, detail })
}
