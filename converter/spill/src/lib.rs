//! Data that exceeds its memory budget, in temporary files.

pub mod endpoint_map;
pub mod map;
mod run_file;
pub mod spool;
