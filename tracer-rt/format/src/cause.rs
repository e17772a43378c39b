//! Reasons for dropped records, as bits of a `dropped` record.
//!
//! ```
//! use tracer_format::cause;
//!
//! // A handler interrupted one record, and for another one no buffer was free.
//! let bits = cause::NESTED | cause::NO_BUFFER;
//! assert_eq!(bits, 5);
//! ```

/// No buffer was free.
pub const NO_BUFFER: u32 = 1;
/// The record is larger than a block.
pub const OVERSIZE: u32 = 2;
/// A signal handler interrupted a record of its own thread.
pub const NESTED: u32 = 4;
/// The file could not be written.
pub const WRITE_FAILED: u32 = 8;
/// Newer records overwrote them, because their level has the policy `overwrite`.
pub const OVERWRITTEN: u32 = 16;
/// They are damaged or missing in the original of this file.
pub const DAMAGED: u32 = 32;
/// No record is missing: the next record is truncated.
pub const TRUNCATED: u32 = 64;
