//! A memory budget for unpacked blocks, shared by all readers of the process.
//!
//! An unpacked block may be 255 times as large as the packed one. A run may have any number of
//! streams, and each reader holds one block. All unpacked blocks therefore share a budget. If there
//! is no room for a block, the reader holds it in pieces and unpacks it again for each piece. This
//! takes time instead of memory. The results are the same.
//!
//! Limits: the budget (1 GiB, or `TUMIT_BLOCK_MEMORY` in MiB), half of the budget for pieces, 4 KiB
//! for each further stream, and the block that a thread is unpacking (16 MiB). A stream with longer
//! records has pieces of up to four times its longest record. Records that wait for earlier ones
//! have a quarter of the budget more; further ones go to a temporary file.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Default budget in MiB.
const BUDGET: usize = 1024;
/// Minimum size of a piece in bytes.
const MIN_PIECE_BYTES: usize = 4096;

/// Bytes in use.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Number of stream readers.
static READERS: AtomicUsize = AtomicUsize::new(0);

/// The budget in bytes.
fn budget() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let setting = std::env::var("TUMIT_BLOCK_MEMORY").ok().and_then(|text| text.trim().parse::<usize>().ok());
        setting.unwrap_or(BUDGET).saturating_mul(1 << 20)
    })
}

/// Bytes of records that wait for earlier ones, in all streams. Further ones go to a file.
pub(crate) fn waiting_budget() -> usize {
    budget() / 4
}

/// A share of the budget; dropping it returns the share.
#[derive(Debug, Default)]
pub(crate) struct BudgetShare(usize);

impl BudgetShare {
    /// Reserves bytes of the budget; `None` if they exceed it.
    pub(super) fn reserve(bytes: usize) -> Option<Self> {
        let before = USED.fetch_add(bytes, Relaxed);
        let memory = Self(bytes);
        (before.saturating_add(bytes) <= budget()).then_some(memory)
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        if self.0 > 0 {
            USED.fetch_sub(self.0, Relaxed);
        }
    }
}

/// Counts a stream reader among those that share the budget.
#[derive(Debug)]
pub(super) struct BudgetUser;

impl BudgetUser {
    pub(super) fn new() -> Self {
        READERS.fetch_add(1, Relaxed);
        Self
    }

    /// Size of a piece in bytes, used if a whole block exceeds the budget.
    pub(super) fn piece(&self) -> usize {
        (budget() / 2 / READERS.load(Relaxed).max(1)).max(MIN_PIECE_BYTES)
    }
}

impl Drop for BudgetUser {
    fn drop(&mut self) {
        READERS.fetch_sub(1, Relaxed);
    }
}
