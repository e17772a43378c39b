//! Damaged, incomplete and unfinished runs: the rest is read, and each loss is counted.

mod damaged_files;
mod live_files;
mod mark_runs;
mod missing_blocks;
mod repaired_files;
