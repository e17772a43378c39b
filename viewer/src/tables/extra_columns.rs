//! [`ExtraColumns`]: the extra fields of a table.

use std::collections::{BTreeSet, HashSet};

use rustc_hash::FxHashMap;
use tumit_paje::{EventOperation, FieldSet};

use super::details::{FieldNames, RowField};

/// The columns of extra fields, in order of announcement.
#[derive(Debug, Default)]
pub(crate) struct ExtraColumns {
    announced: Vec<(String, EventOperation)>,
    /// The names of each operation as a set, for look-up.
    names: [HashSet<String>; 7],
    pub(crate) titles: Vec<String>,
    /// The index in `titles`, by the number of the name and [`RowField::at_end`].
    indexes: FxHashMap<(u32, bool), usize>,
    /// Whether there are source locations.
    pub(crate) source: bool,
    /// Names that were announced after the header was written.
    pub(crate) late_names: BTreeSet<String>,
    is_closed: bool,
}

impl ExtraColumns {
    /// Announces fields of an operation.
    pub(crate) fn announce(&mut self, shape: &FieldSet<'_>) {
        if self.is_closed {
            return;
        }
        self.source |= shape.source;
        for &(name, _) in shape.fields {
            if !self.names[place(shape.operation)].contains(name) {
                self.names[place(shape.operation)].insert(name.to_owned());
                self.announced.push((name.to_owned(), shape.operation));
            }
        }
    }

    /// Ends the list of columns. Titles that are in `reserved_names`, or that occur twice, get a
    /// number.
    pub(crate) fn close(&mut self, reserved_names: &[&str], names: &mut FieldNames) {
        self.is_closed = true;
        let announced = std::mem::take(&mut self.announced);
        let announced_names = std::mem::take(&mut self.names);
        let mut titles: HashSet<String> = reserved_names.iter().map(|&title| title.to_owned()).collect();
        for (name, operation) in &announced {
            let number = names.number(name);
            let at_end = *operation == EventOperation::EndLink
                && announced_names[place(EventOperation::StartLink)].contains(name);
            if self.indexes.contains_key(&(number, at_end)) {
                continue;
            }
            self.indexes.insert((number, at_end), self.titles.len());
            let base_title = if at_end { format!("{name}_end") } else { name.clone() };
            let alternatives = (2..).map(|number| format!("{base_title}_{number}"));
            let title = std::iter::once(base_title.clone()).chain(alternatives).find(|title| !titles.contains(title));
            titles.extend(title.clone());
            self.titles.push(title.unwrap_or(base_title));
        }
    }

    /// The index of the column of a field. `None` if the field was announced after the first
    /// entity.
    pub(crate) fn index_of(&self, field: &RowField) -> Option<usize> {
        self.indexes.get(&(field.name, field.at_end)).copied()
    }

    /// Whether [`Self::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Position of an operation in `names`.
const fn place(operation: EventOperation) -> usize {
    match operation {
        EventOperation::CreateContainer => 0,
        EventOperation::SetState => 1,
        EventOperation::PushState => 2,
        EventOperation::ResetState => 3,
        EventOperation::StartLink => 4,
        EventOperation::EndLink => 5,
        EventOperation::NewEvent => 6,
    }
}
