//! [`Early`]: what `pj_dump` shows of entities that begin before date 0.
//!
//! It shows what its window holds, which begins at 0, and of each type in a container the last entity before. Which one that is,
//! is known at the end only.

use std::collections::BTreeMap;

use super::row::{Kind, Row};

/// Rows that may be the last before 0, by kind, container and type: as many as there are such places.
#[derive(Debug, Default)]
pub(crate) struct Early(BTreeMap<(Kind, u32, u32), (u32, Vec<u8>)>);

impl Early {
    /// Whether a row is to be kept here: entities begin before 0, containers are shown whenever they begin.
    pub(crate) fn takes(row: &Row<'_>) -> bool {
        row.start < 0 && row.kind != Kind::Container
    }

    /// Keeps a row that `write` writes, unless a later one is kept.
    pub(crate) fn keep(&mut self, row: &Row<'_>, write: impl FnOnce(&mut Vec<u8>)) {
        let (early, text) = self.0.entry((row.kind, row.container.number, row.type_id.0)).or_default();
        // States end in another order than they begin; all else comes in order.
        if row.early >= *early {
            *early = row.early;
            text.clear();
            write(text);
        }
    }

    /// Adds all rows to a text, and says how many they were.
    pub(crate) fn drain(&mut self, out: &mut Vec<u8>) -> u64 {
        let rows = std::mem::take(&mut self.0);
        for (_, text) in rows.values() {
            out.extend_from_slice(text);
        }
        rows.len() as u64
    }
}
