//! Records in columns: the codec that keeps runs small.
//!
//! A block of records is split by record type and field. Each column of numbers is stored in
//! groups, as distances from a base with the number of bits that most of them need. This takes
//! about the time of a general-purpose compressor, and the result is a third to a tenth of its
//! size. The block contains the layout of its records, so that unpacking needs no schema.
//! `FORMAT.md` defines the bytes.
//!
//! ```
//! use tracer_format::columns::{BlockColumns, BlockPacker, RecordShape};
//! use tracer_format::schema::{FieldInfo, FieldType, RecordKind, RecordType, Scalar};
//!
//! let field = FieldInfo { name: "n".to_owned(), ty: FieldType::One(Scalar::U32) };
//! let (name, kind) = ("tick".to_owned(), RecordKind::Event);
//! let record_type = RecordType { name, level: 0, kind, has_location: false, fields: vec![field] };
//!
//! // A hundred records: id, ticks since the previous record, and the field.
//! let mut payload = Vec::new();
//! for n in 0..100u32 {
//!     payload.extend_from_slice(&1u16.to_le_bytes());
//!     payload.extend_from_slice(&10u32.to_le_bytes());
//!     payload.extend_from_slice(&n.to_le_bytes());
//! }
//! let mut packer = BlockPacker::default();
//! packer.add_type(RecordShape::of(1, &record_type).unwrap());
//! let packed = packer.pack(&payload).unwrap();
//! assert!(packed.len() < payload.len() / 10);
//!
//! let columns = BlockColumns::read(packed, payload.len(), |_, _| true).unwrap();
//! assert_eq!((columns.records(), columns.length()), (100, 1000));
//! let numbers = columns.column(1, 0).unwrap();
//! assert_eq!((numbers.width, numbers.bytes[4 * 99]), (4, 99));
//! ```

mod column_constants;
mod column_layout;
mod numbers;
mod pack;
mod unpack;

#[cfg(all(test, feature = "schema"))]
mod tests;

pub use column_layout::{BodyPart, PartCount, RecordShape, TypeLayout, layouts};
pub use pack::BlockPacker;
pub(crate) use unpack::unpack;
pub use unpack::{BlockColumns, ColumnBytes, FixedSizeRows, TypeRecords, TypeSize};
