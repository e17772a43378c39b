//! Extra fields and source locations of open entities. Their memory is reused when the entities
//! end.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::{ExtraField, ExtraValue, SourcePosition};

/// Numbers for the names of fields.
#[derive(Debug, Default)]
pub(crate) struct FieldNames {
    names: Vec<String>,
    // Limited by the number of fields that the trace defines.
    numbers: FxHashMap<String, u32>,
}

impl FieldNames {
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        &self.names[number as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RowValue {
    /// A range of [`RowDetails::text`].
    Text {
        from: u32,
        to: u32,
    },
    Integer(i64),
    Float(f64),
    /// The number of a container.
    Container(u32),
}

/// An extra field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowField {
    pub(crate) name: u32,
    /// Whether it belongs to the end of a link with a start that has a field of the same name.
    pub(crate) at_end: bool,
    pub value: RowValue,
}

/// The fields and source location of one entity.
#[derive(Debug, Default)]
pub(crate) struct RowDetails {
    pub fields: Vec<RowField>,
    texts: String,
    file: u32,
    /// Line of the source location, if there is one.
    pub(crate) line: Option<u32>,
}

impl RowDetails {
    fn add_text(&mut self, text: &str) -> RowValue {
        let from = self.texts.len() as u32;
        self.texts.push_str(text);
        RowValue::Text { from, to: self.texts.len() as u32 }
    }

    pub(crate) fn text(&self, from: u32, to: u32) -> &str {
        self.texts.get(from as usize..to as usize).unwrap_or("")
    }

    /// File of the source location.
    pub(crate) fn file(&self) -> Option<&str> {
        self.line.map(|_| self.text(0, self.file))
    }

    fn take_source(&mut self, source: SourcePosition<'_>) {
        // The file's name is stored first.
        self.texts.push_str(source.file);
        (self.file, self.line) = (self.texts.len() as u32, Some(source.line));
    }

    fn clear(&mut self) {
        self.fields.clear();
        self.texts.clear();
        (self.file, self.line) = (0, None);
    }
}

/// Details by number. Numbers start at 1.
#[derive(Debug, Default)]
pub(crate) struct RowDetailTable {
    details: Vec<RowDetails>,
    free_rows: Vec<u32>,
    pub(crate) names: FieldNames,
}

impl RowDetailTable {
    /// Stores the details of an entity. Returns their number.
    pub(crate) fn add(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        let number = self.free_rows.pop().unwrap_or_else(|| {
            self.details.push(RowDetails::default());
            self.details.len() as u32
        });
        let Some(detail) = self.details.get_mut(number as usize - 1) else { return 0 };
        if let Some(source) = source {
            detail.take_source(source);
        }
        for extra in extra {
            let value = match extra.value {
                ExtraValue::Text(text) => detail.add_text(text),
                ExtraValue::Integer(number) => RowValue::Integer(number),
                ExtraValue::Float(number) => RowValue::Float(number),
                ExtraValue::Container(container) => RowValue::Container(container.0),
            };
            detail.fields.push(RowField { name: self.names.number(extra.name), at_end: false, value });
        }
        number
    }

    /// Returns the details with a number.
    pub(crate) fn get(&self, number: u32) -> Option<&RowDetails> {
        self.details.get((number as usize).checked_sub(1)?)
    }

    /// Combines the details of both endpoints of a link under one number.
    pub(crate) fn join(&mut self, start: u32, end: u32) -> u32 {
        if start == 0 || end == 0 {
            return start.max(end);
        }
        let Some(last) = self.details.get_mut(end as usize - 1).map(std::mem::take) else { return start };
        if let Some(detail) = self.details.get_mut(start as usize - 1) {
            if detail.line.is_none()
                && let Some((file, line)) = last.file().zip(last.line)
            {
                let RowValue::Text { to, .. } = prefix(detail, file) else { return start };
                (detail.file, detail.line) = (to, Some(line));
            }
            let from_start: FxHashSet<u32> = detail.fields.iter().map(|field| field.name).collect();
            for field in &last.fields {
                let value = match field.value {
                    RowValue::Text { from, to } => detail.add_text(last.text(from, to)),
                    other => other,
                };
                let at_end = from_start.contains(&field.name);
                detail.fields.push(RowField { value, at_end, ..*field });
            }
        }
        if let Some(place) = self.details.get_mut(end as usize - 1) {
            *place = last;
        }
        self.free_row(end);
        start
    }

    /// Frees the details with this number.
    pub(crate) fn free_row(&mut self, number: u32) {
        if let Some(detail) = (number as usize).checked_sub(1).and_then(|index| self.details.get_mut(index)) {
            detail.clear();
            self.free_rows.push(number);
        }
    }
}

/// Inserts a text before all others.
fn prefix(detail: &mut RowDetails, text: &str) -> RowValue {
    let offset = text.len() as u32;
    detail.texts.insert_str(0, text);
    for field in &mut detail.fields {
        if let RowValue::Text { from, to } = &mut field.value {
            *from += offset;
            *to += offset;
        }
    }
    RowValue::Text { from: 0, to: offset }
}
