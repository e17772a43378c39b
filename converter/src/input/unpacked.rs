//! Memory of unpacked blocks, which all readers of the program share.
//!
//! A packed block may be 255 times as large when it is unpacked, and a run may have any number of streams, each of which
//! holds a block. Unpacked blocks therefore share a budget. A block for which there is no room is held in pieces: the
//! reader unpacks it again for each piece, so that it costs time instead of memory. Results are the same.
//!
//! Bound: the budget (1 GiB, or `TUMIT_BLOCK_MEMORY` in MiB) and half of it for pieces, 4 KiB for each further stream,
//! and the block that a thread is unpacking (16 MiB). A stream with longer records has
//! pieces of up to four times its longest record.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// MiB of the budget.
const BUDGET: usize = 1024;
/// Bytes of the least piece.
const LEAST_PIECE: usize = 4096;

/// Bytes that are in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Readers of streams.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// The budget in bytes.
fn budget() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let asked = std::env::var("TUMIT_BLOCK_MEMORY").ok().and_then(|text| text.trim().parse::<usize>().ok());
        asked.unwrap_or(BUDGET).saturating_mul(1 << 20)
    })
}

/// Bytes of records that wait for earlier ones, of all streams: beyond these they go to a file.
pub(crate) fn waiting_budget() -> usize {
    budget() / 4
}

/// Memory of the budget, which is given back when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Memory(usize);

impl Memory {
    /// So many bytes, if there is room.
    pub(super) fn take(bytes: usize) -> Option<Self> {
        let before = USED.fetch_add(bytes, Relaxed);
        let memory = Self(bytes);
        (before.saturating_add(bytes) <= budget()).then_some(memory)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.0 > 0 {
            USED.fetch_sub(self.0, Relaxed);
        }
    }
}

/// A reader among all that share the budget.
#[derive(Debug)]
pub(super) struct Sharer;

impl Sharer {
    pub(super) fn new() -> Self {
        READERS.fetch_add(1, Relaxed);
        Self
    }

    /// Bytes of a piece, when there is no room for a whole block.
    pub(super) fn piece(&self) -> usize {
        (budget() / 2 / READERS.load(Relaxed).max(1)).max(LEAST_PIECE)
    }
}

impl Drop for Sharer {
    fn drop(&mut self) {
        READERS.fetch_sub(1, Relaxed);
    }
}
