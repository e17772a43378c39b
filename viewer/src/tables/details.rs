//! Extra fields and source positions of the entities that are open; their memory is used again when they end.

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::{Extra, ExtraValue, Source};

/// Numbers for the names of fields.
#[derive(Debug, Default)]
pub(crate) struct Names {
    names: Vec<String>,
    // As many as the trace defines fields.
    numbers: FxHashMap<String, u32>,
}

impl Names {
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

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldValue {
    /// In [`Detail::text`].
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
pub(crate) struct Field {
    pub(crate) name: u32,
    /// Whether it came with the end of a link whose start has a field of the same name.
    pub(crate) at_end: bool,
    pub value: FieldValue,
}

/// What one entity has.
#[derive(Debug, Default)]
pub(crate) struct Detail {
    pub fields: Vec<Field>,
    texts: String,
    file: u32,
    /// 0 when there is no source position.
    pub(crate) line: Option<u32>,
}

impl Detail {
    fn keep(&mut self, text: &str) -> FieldValue {
        let from = self.texts.len() as u32;
        self.texts.push_str(text);
        FieldValue::Text { from, to: self.texts.len() as u32 }
    }

    pub(crate) fn text(&self, from: u32, to: u32) -> &str {
        self.texts.get(from as usize..to as usize).unwrap_or("")
    }

    /// File of the source position.
    pub(crate) fn file(&self) -> Option<&str> {
        self.line.map(|_| self.text(0, self.file))
    }

    fn take_source(&mut self, source: Source<'_>) {
        // The file's name stands first.
        self.texts.push_str(source.file);
        (self.file, self.line) = (self.texts.len() as u32, Some(source.line));
    }

    fn clear(&mut self) {
        self.fields.clear();
        self.texts.clear();
        (self.file, self.line) = (0, None);
    }
}

/// Details by number, from 1.
#[derive(Debug, Default)]
pub(crate) struct Details {
    details: Vec<Detail>,
    free: Vec<u32>,
    pub(crate) names: Names,
}

impl Details {
    /// Keeps what an entity has.
    pub(crate) fn add(&mut self, extra: &[Extra<'_>], source: Option<Source<'_>>) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.details.push(Detail::default());
            self.details.len() as u32
        });
        let Some(detail) = self.details.get_mut(number as usize - 1) else { return 0 };
        if let Some(source) = source {
            detail.take_source(source);
        }
        for extra in extra {
            let value = match extra.value {
                ExtraValue::Text(text) => detail.keep(text),
                ExtraValue::Integer(number) => FieldValue::Integer(number),
                ExtraValue::Float(number) => FieldValue::Float(number),
                ExtraValue::Container(container) => FieldValue::Container(container.0),
            };
            detail.fields.push(Field { name: self.names.number(extra.name), at_end: false, value });
        }
        number
    }

    /// What has this number.
    pub(crate) fn get(&self, number: u32) -> Option<&Detail> {
        self.details.get((number as usize).checked_sub(1)?)
    }

    /// Both ends of a link under one number.
    pub(crate) fn join(&mut self, start: u32, end: u32) -> u32 {
        if start == 0 || end == 0 {
            return start.max(end);
        }
        let Some(taken) = self.details.get_mut(end as usize - 1).map(std::mem::take) else { return start };
        if let Some(detail) = self.details.get_mut(start as usize - 1) {
            if detail.line.is_none()
                && let Some((file, line)) = taken.file().zip(taken.line)
            {
                let FieldValue::Text { to, .. } = prefix(detail, file) else { return start };
                (detail.file, detail.line) = (to, Some(line));
            }
            let from_start: FxHashSet<u32> = detail.fields.iter().map(|field| field.name).collect();
            for field in &taken.fields {
                let value = match field.value {
                    FieldValue::Text { from, to } => detail.keep(taken.text(from, to)),
                    other => other,
                };
                let at_end = from_start.contains(&field.name);
                detail.fields.push(Field { value, at_end, ..*field });
            }
        }
        if let Some(place) = self.details.get_mut(end as usize - 1) {
            *place = taken;
        }
        self.forget(end);
        start
    }

    /// Nobody asks for this number again.
    pub(crate) fn forget(&mut self, number: u32) {
        if let Some(detail) = (number as usize).checked_sub(1).and_then(|at| self.details.get_mut(at)) {
            detail.clear();
            self.free.push(number);
        }
    }
}

/// Puts a text before all others.
fn prefix(detail: &mut Detail, text: &str) -> FieldValue {
    let by = text.len() as u32;
    detail.texts.insert_str(0, text);
    for field in &mut detail.fields {
        if let FieldValue::Text { from, to } = &mut field.value {
            *from += by;
            *to += by;
        }
    }
    FieldValue::Text { from: 0, to: by }
}
