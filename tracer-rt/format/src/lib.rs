#![doc = include_str!("../FORMAT.md")]
#![forbid(unsafe_code)]

pub mod block;
mod bytes;
pub mod cause;
pub mod checksum;
mod clock_kind;
pub mod columns;
pub mod entries;
mod error;
mod format_constants;
pub mod live_file;
mod preamble;
pub mod record;
pub mod record_values;
pub mod schema;
mod schema_encoding;
pub mod tags;
pub mod write;

pub use block::{BlockHeader, BlockKind, DecodedBlock, PayloadCodec};
pub use clock_kind::ClockKind;
pub use error::FormatError;
pub use format_constants::{
    BLOCK_ALIGN, BLOCK_MAGIC, FILE_MAGIC, FIRST_RESERVED_ID, FORMAT_VERSION, HEADER_BYTES, ID_DROPPED,
    ID_WIDE_TIMESTAMP, MAX_PAYLOAD_BYTES, MAX_PROCESSES, PREAMBLE_BYTES, PROCESS_STREAM, RECORD_HEAD_BYTES,
    process_of_block,
};
pub use preamble::{check_preamble, preamble};
pub use record::{RawRecord, RecordIterator, Value};
pub use schema::{FieldType, RecordType, Schema};
