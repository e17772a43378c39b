//! The evaluation of rules by columns of a block.

pub(crate) mod evaluate;
pub(crate) mod ops;
pub(crate) mod single_records;
pub(crate) mod stream_cursor;
