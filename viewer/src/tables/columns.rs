//! [`Columns`]: which extra fields a table has.

use std::collections::{BTreeSet, HashSet};

use rustc_hash::FxHashMap;
use tumit_paje::{Operation, Shape};

use super::details::{Field, Names};

/// The columns of extra fields, in order of announcement.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    announced: Vec<(String, Operation)>,
    /// The names of each operation as a set, for look-ups.
    known: [HashSet<String>; 7],
    pub(crate) titles: Vec<String>,
    /// By number of the name and [`Field::at_end`]: the index in `titles`.
    indexes: FxHashMap<(u32, bool), usize>,
    /// Whether there are source positions.
    pub(crate) source: bool,
    /// Names that came too late.
    pub(crate) late: BTreeSet<String>,
    is_closed: bool,
}

impl Columns {
    /// These fields will come.
    pub(crate) fn announce(&mut self, shape: &Shape<'_>) {
        if self.is_closed {
            return;
        }
        self.source |= shape.source;
        for &(name, _) in shape.fields {
            if !self.known[place(shape.operation)].contains(name) {
                self.known[place(shape.operation)].insert(name.to_owned());
                self.announced.push((name.to_owned(), shape.operation));
            }
        }
    }

    /// No column comes after this. Titles that are among `taken`, or twice, get a number.
    pub(crate) fn close(&mut self, taken: &[&str], names: &mut Names) {
        self.is_closed = true;
        let announced = std::mem::take(&mut self.announced);
        let known = std::mem::take(&mut self.known);
        let mut titles: HashSet<String> = taken.iter().map(|&title| title.to_owned()).collect();
        for (name, operation) in &announced {
            let number = names.number(name);
            let at_end = *operation == Operation::EndLink && known[place(Operation::StartLink)].contains(name);
            if self.indexes.contains_key(&(number, at_end)) {
                continue;
            }
            self.indexes.insert((number, at_end), self.titles.len());
            let plain = if at_end { format!("{name}_end") } else { name.clone() };
            let numbered = (2..).map(|number| format!("{plain}_{number}"));
            let title = std::iter::once(plain.clone()).chain(numbered).find(|title| !titles.contains(title));
            titles.extend(title.clone());
            self.titles.push(title.unwrap_or(plain));
        }
    }

    /// The index of the column of a field. `None` if the field was announced after the first entity.
    pub(crate) fn index_of(&self, field: &Field) -> Option<usize> {
        self.indexes.get(&(field.name, field.at_end)).copied()
    }

    /// Whether [`Self::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }
}

/// Position of an operation in `known`.
const fn place(operation: Operation) -> usize {
    match operation {
        Operation::CreateContainer => 0,
        Operation::SetState => 1,
        Operation::PushState => 2,
        Operation::ResetState => 3,
        Operation::StartLink => 4,
        Operation::EndLink => 5,
        Operation::NewEvent => 6,
    }
}
