//! How a payload is stored: by columns, by LZ4, or as it is, whichever is worth its time.

use tracer_format::Codec;
use tracer_format::columns::{Packer, Shape, layouts};

/// Blocks are stored raw when packing would save less than a tenth.
const WORTHWHILE: usize = 10;
/// Shorter payloads stay as they are.
const SHORT_BYTES: usize = 256;
/// Checksum and writing of so much smaller a block save the time that packing takes.
const CHEAP: usize = 4;

/// How hard to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Not at all: time counts.
    None,
    /// By LZ4: for names and schemas.
    Texts,
    /// By columns, and where that does not help, by LZ4: for records.
    Records,
    /// By columns, if that made the last block so small that it takes no longer than writing it all would.
    Hurry,
}

/// Packs payloads; keeps its memory.
#[derive(Debug)]
pub(crate) struct Packing {
    /// Made when the first spec is known.
    packer: Option<Packer>,
    packed: Vec<u8>,
    /// The last block that was packed is [`CHEAP`] times smaller.
    cheap: bool,
}

impl Packing {
    pub(crate) const fn new() -> Self {
        Self { packer: None, packed: Vec::new(), cheap: false }
    }

    /// Learns the record types of a spec from the payload of its `schema` block. One that cannot be read leaves its records to LZ4.
    pub(crate) fn learn(&mut self, payload: &[u8]) {
        let Some((base, schema)) = payload.split_first_chunk::<4>() else { return };
        let Some(layouts) = schema.get(4..).and_then(layouts) else { return };
        let packer = self.packer.get_or_insert_default();
        for (id, layout) in (u32::from_le_bytes(*base)..).zip(layouts) {
            packer.learn(Shape { id: id as u16, parts: layout.parts });
        }
    }

    /// The payload as it is to be stored, and its codec.
    pub(crate) fn pack<'a>(&'a mut self, payload: &'a [u8], effort: Effort) -> (Codec, &'a [u8]) {
        let no_time = effort == Effort::None || effort == Effort::Hurry && !self.cheap;
        if no_time || payload.len() < SHORT_BYTES {
            return (Codec::Raw, payload);
        }
        let worthwhile = payload.len() - payload.len() / WORTHWHILE;
        let by_columns = match &mut self.packer {
            Some(packer) if effort != Effort::Texts => packer.pack(payload).filter(|packed| packed.len() < worthwhile),
            _ => None,
        };
        if effort != Effort::Texts {
            self.cheap = by_columns.is_some_and(|packed| packed.len() * CHEAP < payload.len());
        }
        if let Some(packed) = by_columns {
            return (Codec::Columns, packed);
        }
        // Only ever grows: what is there from before needs no zeros again.
        let room = lz4_flex::block::get_maximum_output_size(payload.len()).max(self.packed.len());
        self.packed.resize(room, 0);
        // The buffer is large enough for anything; should it fail all the same, the payload stays as it is.
        let packed = lz4_flex::block::compress_into(payload, &mut self.packed).unwrap_or(usize::MAX);
        if packed < worthwhile { (Codec::Lz4, &self.packed[..packed]) } else { (Codec::Raw, payload) }
    }
}
