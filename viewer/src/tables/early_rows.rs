//! [`EarlyRows`]: the rows that `pj_dump` prints of entities that begin before timestamp 0.
//!
//! It prints the entities in its time window, which begins at 0, and the last entity before it of
//! each type in each container. The last entity is known only at the end.

use std::collections::BTreeMap;

use super::row::EntityRow;
use super::row_kind::RowKind;

/// Candidates for the last row before 0, by kind, container and type. There is one per such
/// combination.
#[derive(Debug, Default)]
pub(crate) struct EarlyRows(BTreeMap<(RowKind, u32, u32), (u32, Vec<u8>)>);

impl EarlyRows {
    /// Whether a row must be stored here: its entity begins before 0. Containers are printed in any
    /// case.
    pub(crate) fn is_early(row: &EntityRow<'_>) -> bool {
        row.start < 0 && row.kind != RowKind::Container
    }

    /// Stores a row that `write` formats, unless a later one is stored.
    pub(crate) fn store(&mut self, row: &EntityRow<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        let (early, text) = self.0.entry((row.kind, row.container.number, row.type_id.0)).or_default();
        // States end in a different order than they begin. All other kinds are in order.
        if row.early_position >= *early {
            *early = row.early_position;
            text.clear();
            write(text);
        }
    }

    /// Appends all rows to a text. Returns their number.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) -> u64 {
        let rows = std::mem::take(&mut self.0);
        for (_, text) in rows.values() {
            out.extend_from_slice(text);
        }
        rows.len() as u64
    }
}
