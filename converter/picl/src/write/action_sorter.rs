//! [`ActionSorter`]: the actions of a trace in order of time. Actions of the same time keep the
//! order of their events.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_spill::row_sorter::{RowSorter, SortedRows};
use tumit_spill::temporary_space::TemporarySpace;

use crate::model::trace_action::ACTION_WORDS;
use crate::model::{TraceAction, TraceActionKind, TraceUnit, TraceUnits};

/// Memory of the actions that are sorted, in bytes.
const SORT_MEMORY: usize = 64 << 20;

/// Sorts actions, and numbers their units.
pub(super) struct ActionSorter {
    units: TraceUnits,
    rows: RowSorter<ACTION_WORDS, 2>,
    sequence: u64,
    /// The time of the last action.
    last: i64,
}

impl ActionSorter {
    pub(super) fn new() -> Self {
        Self { units: TraceUnits::default(), rows: new_rows(), sequence: 0, last: i64::MIN }
    }

    /// The next position in the sequence.
    pub(super) fn next_position(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// An action with the next position in the sequence.
    pub(super) fn action(
        &mut self,
        time: GlobalNanos,
        kind: TraceActionKind,
        value: u32,
        words: [i64; 3],
    ) -> TraceAction {
        TraceAction { time: time.0, line: self.next_position(), kind, unit: 0, value, words }
    }

    /// Adds an action of a unit.
    pub(super) fn push(&mut self, unit: TraceUnit, action: TraceAction) -> io::Result<()> {
        let unit = self.units.number(unit);
        self.last = self.last.max(action.time);
        self.rows.push(TraceAction { unit, ..action }.to_words());
        self.rows.flush()
    }

    /// The number of a unit.
    pub(super) fn number(&mut self, unit: TraceUnit) -> u32 {
        self.units.number(unit)
    }

    /// The units of all actions.
    pub(super) const fn units(&self) -> &TraceUnits {
        &self.units
    }

    /// Whether there are actions, and all of them are before `time`.
    pub(super) const fn is_before(&self, time: GlobalNanos) -> bool {
        time.0 > self.last && self.last != i64::MIN
    }

    /// Takes all actions, in order.
    pub(super) fn take(&mut self) -> io::Result<SortedRows<ACTION_WORDS, 2>> {
        std::mem::replace(&mut self.rows, new_rows()).finish()
    }
}

fn new_rows() -> RowSorter<ACTION_WORDS, 2> {
    RowSorter::new(&TemporarySpace::in_system_folder(SORT_MEMORY))
}
