//! Selects the codec of a payload: columns, LZ4 or raw.

use tracer_format::PayloadCodec;
use tracer_format::columns::{BlockPacker, RecordShape, layouts};

/// A block is stored raw if packing would save less than one tenth.
const MIN_SAVING_DIVISOR: usize = 10;
/// Shorter payloads are stored raw.
const SHORT_BYTES: usize = 256;
/// If a block becomes this many times smaller, the shorter checksum and write save the time of
/// packing.
const CHEAP_RATIO: usize = 4;

/// The effort of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompressionEffort {
    /// No packing, because time matters.
    None,
    /// LZ4, for names and schemas.
    Texts,
    /// Columns, for records. LZ4 if columns save too little.
    Records,
    /// Columns, if packing the last block saved as much time in the write as it took.
    Fastest,
}

/// Packs payloads and reuses its memory.
#[derive(Debug)]
pub(crate) struct PayloadPacker {
    /// Created when the first spec is known.
    packer: Option<BlockPacker>,
    packed_bytes: Vec<u8>,
    /// The last packed block is [`CHEAP_RATIO`] times smaller.
    cheap: bool,
}

impl PayloadPacker {
    pub(crate) const fn new() -> Self {
        Self { packer: None, packed_bytes: Vec::new(), cheap: false }
    }

    /// Reads the record types of a spec from the payload of its `schema` block.
    /// If that fails, records of the spec are packed by LZ4.
    pub(crate) fn read_schema(&mut self, payload: &[u8]) {
        let Some((base, schema)) = payload.split_first_chunk::<4>() else { return };
        let Some(layouts) = schema.get(4..).and_then(layouts) else { return };
        let packer = self.packer.get_or_insert_default();
        for (id, layout) in (u32::from_le_bytes(*base)..).zip(layouts) {
            packer.add_type(RecordShape { id: id as u16, parts: layout.parts });
        }
    }

    /// Returns the stored form of the payload and its codec.
    pub(crate) fn pack<'a>(&'a mut self, payload: &'a [u8], effort: CompressionEffort) -> (PayloadCodec, &'a [u8]) {
        let no_time = effort == CompressionEffort::None || effort == CompressionEffort::Fastest && !self.cheap;
        if no_time || payload.len() < SHORT_BYTES {
            return (PayloadCodec::Raw, payload);
        }
        let worthwhile = payload.len() - payload.len() / MIN_SAVING_DIVISOR;
        let by_columns = match &mut self.packer {
            Some(packer) if effort != CompressionEffort::Texts => {
                packer.pack(payload).filter(|packed| packed.len() < worthwhile)
            }
            _ => None,
        };
        if effort != CompressionEffort::Texts {
            self.cheap = by_columns.is_some_and(|packed| packed.len() * CHEAP_RATIO < payload.len());
        }
        if let Some(packed) = by_columns {
            return (PayloadCodec::Columns, packed);
        }
        // The buffer never shrinks, so that only new bytes are set to zero.
        let room = lz4_flex::block::get_maximum_output_size(payload.len()).max(self.packed_bytes.len());
        self.packed_bytes.resize(room, 0);
        // The buffer is large enough for any payload. If packing fails all the same, the payload is
        // stored raw.
        let packed = lz4_flex::block::compress_into(payload, &mut self.packed_bytes).unwrap_or(usize::MAX);
        if packed < worthwhile {
            (PayloadCodec::Lz4, &self.packed_bytes[..packed])
        } else {
            (PayloadCodec::Raw, payload)
        }
    }
}
