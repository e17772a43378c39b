//! [`Columns`]: which extra fields a table has.

use std::collections::BTreeSet;

use converter::paje::{Operation, Shape};

use super::details::Names;

/// A column of an extra field.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) title: String,
    /// Number of the field's name.
    pub(super) name: u32,
    /// Of the end of a link whose start has such a field, too.
    pub(super) at_end: bool,
}

/// The columns of extra fields, in order of announcement.
#[derive(Debug, Default)]
pub(super) struct Columns {
    announced: Vec<(String, Operation)>,
    pub(super) columns: Vec<Column>,
    /// Whether there are source positions.
    pub(super) source: bool,
    /// Names that came too late.
    pub(super) late: BTreeSet<String>,
    is_closed: bool,
}

impl Columns {
    /// These fields will come.
    pub(super) fn announce(&mut self, shape: &Shape<'_>) {
        if self.is_closed {
            return;
        }
        self.source |= shape.source;
        for &(name, _) in shape.fields {
            if !self.announced.iter().any(|(known, operation)| known == name && *operation == shape.operation) {
                self.announced.push((name.to_owned(), shape.operation));
            }
        }
    }

    /// No column comes after this. Titles that are among `taken`, or twice, get a number.
    pub(super) fn close(&mut self, taken: &[&str], names: &mut Names) {
        self.is_closed = true;
        let announced = std::mem::take(&mut self.announced);
        let has = |name: &str, operation| announced.iter().any(|known| known.0 == name && known.1 == operation);
        for (name, operation) in &announced {
            let number = names.number(name);
            let at_end = *operation == Operation::EndLink && has(name, Operation::StartLink);
            if self.columns.iter().any(|column| column.name == number && column.at_end == at_end) {
                continue;
            }
            let plain = if at_end { format!("{name}_end") } else { name.clone() };
            let is_taken =
                |title: &str| taken.contains(&title) || self.columns.iter().any(|column| column.title == title);
            let numbered = (2..).map(|number| format!("{plain}_{number}"));
            let title = std::iter::once(plain.clone()).chain(numbered).find(|title| !is_taken(title));
            self.columns.push(Column { title: title.unwrap_or(plain), name: number, at_end });
        }
    }

    /// Whether [`Self::close`] was called.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }
}
