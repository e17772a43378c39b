//! Side tables for properties that few entities have: extra fields and source positions.
//!
//! An entity refers to its row by number; row 0 means no fields. Each text is stored once. Equal
//! source positions share a row.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use tumit_paje::{ContainerId, ExtraField, ExtraValue, SourcePosition};

use crate::query::SourceLine;
use crate::query::entity_facts::{DetailValue, EntityDetail};

/// Texts in one buffer, each stored once.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct TextPool {
    buffer: String,
    ends: Vec<u64>,
    /// Number of a text by its hash. If two texts have the same hash, they replace each other here,
    /// and are stored again each time.
    #[serde(skip)]
    numbers: HashMap<u64, u32>,
    #[serde(skip)]
    hasher: RandomState,
}

impl TextPool {
    /// The number of a text. A new text is stored.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(&number) = self.numbers.get(&hash)
            && self.get(number) == text
        {
            return number;
        }
        let number = self.push(text);
        self.numbers.insert(hash, number);
        number
    }

    fn push(&mut self, text: &str) -> u32 {
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.buffer.push_str(text);
        self.ends.push(self.buffer.len() as u64);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        let index = number as usize;
        let from = index.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        self.ends.get(index).map_or("", |&to| &self.buffer[from..to as usize])
    }

    /// Frees data that is only needed while texts are added.
    fn seal(&mut self) {
        self.numbers = HashMap::new();
        self.buffer.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Value of an extra field, as stored.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
enum StoredValue {
    Text(u32),
    Integer(i64),
    Float(f64),
    Container(ContainerId),
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct StoredField {
    name: u32,
    value: StoredValue,
}

#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct DetailRow {
    fields_end: u64,
    file: u32,
    line: u32,
}

/// Stands for no source position.
const NO_FILE: u32 = u32::MAX;

#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct DetailTable {
    rows: Vec<DetailRow>,
    fields: Vec<StoredField>,
    texts: TextPool,
    /// Rows that contain only a source position.
    places: HashMap<(u32, u32), u32>,
    /// Keys of links and their texts, if the file has texts. Readers number the keys in ascending
    /// order.
    keys: Vec<(u64, u32)>,
}

impl Default for DetailTable {
    fn default() -> Self {
        let empty_row = DetailRow { fields_end: 0, file: NO_FILE, line: 0 };
        Self {
            rows: vec![empty_row],
            fields: Vec::new(),
            texts: TextPool::default(),
            places: HashMap::new(),
            keys: Vec::new(),
        }
    }
}

impl DetailTable {
    /// The row of an entity with these extra fields and this source position.
    pub(crate) fn add(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        let (file, line) = source.map_or((NO_FILE, 0), |place| (self.texts.intern(place.file), place.line));
        if extra.is_empty() {
            if file == NO_FILE {
                return 0;
            }
            if let Some(&row) = self.places.get(&(file, line)) {
                return row;
            }
        }
        for field in extra {
            let name = self.texts.intern(field.name);
            let value = match field.value {
                ExtraValue::Text(text) => StoredValue::Text(self.texts.intern(text)),
                ExtraValue::Integer(number) => StoredValue::Integer(number),
                ExtraValue::Float(number) => StoredValue::Float(number),
                ExtraValue::Container(container) => StoredValue::Container(container),
            };
            self.fields.push(StoredField { name, value });
        }
        let row = u32::try_from(self.rows.len()).unwrap_or(0);
        if row != 0 {
            self.rows.push(DetailRow { fields_end: self.fields.len() as u64, file, line });
            if extra.is_empty() {
                self.places.insert((file, line), row);
            }
        }
        row
    }

    /// A row with the fields of two others, and with the source position of the first one that has
    /// any.
    pub(crate) fn join(&mut self, first: u32, second: u32) -> u32 {
        if second == 0 || first == second {
            return first;
        }
        if first == 0 {
            return second;
        }
        let fields: Vec<StoredField> = self.fields_of(first).iter().chain(self.fields_of(second)).copied().collect();
        let place = [first, second].map(|row| self.rows[row as usize]).into_iter().find(|row| row.file != NO_FILE);
        self.fields.extend(fields);
        let row = u32::try_from(self.rows.len()).unwrap_or(0);
        if row != 0 {
            let (file, line) = place.map_or((NO_FILE, 0), |place| (place.file, place.line));
            self.rows.push(DetailRow { fields_end: self.fields.len() as u64, file, line });
        }
        row
    }

    fn fields_of(&self, row: u32) -> &[StoredField] {
        let index = row as usize;
        let Some(before) = index.checked_sub(1) else { return &[] };
        self.rows
            .get(index)
            .map_or(&[], |row| &self.fields[self.rows[before].fields_end as usize..row.fields_end as usize])
    }

    /// All fields of a row, and its source position.
    pub(crate) fn detail(&self, row: u32) -> EntityDetail {
        let fields = self.fields_of(row).iter();
        let fields = fields.map(|field| (self.texts.get(field.name).to_owned(), self.value(field.value)));
        EntityDetail { fields: fields.collect(), source: self.source(row) }
    }

    /// The first field of a row with this name, in upper or lower case.
    pub(crate) fn field(&self, row: u32, name: &str) -> Option<DetailValue> {
        let fields = self.fields_of(row).iter();
        let mut fields = fields.filter(|field| self.texts.get(field.name).eq_ignore_ascii_case(name));
        fields.next().map(|field| self.value(field.value))
    }

    fn value(&self, value: StoredValue) -> DetailValue {
        match value {
            StoredValue::Text(text) => DetailValue::Text(self.texts.get(text).to_owned()),
            StoredValue::Integer(number) => DetailValue::Integer(number),
            StoredValue::Float(number) => DetailValue::Float(number),
            StoredValue::Container(container) => DetailValue::Container(container),
        }
    }

    /// Containers that a row refers to.
    pub(crate) fn references(&self, row: u32) -> impl Iterator<Item = ContainerId> {
        self.fields_of(row).iter().filter_map(|field| match field.value {
            StoredValue::Container(container) => Some(container),
            _ => None,
        })
    }

    fn source(&self, row: u32) -> Option<SourceLine> {
        let row = self.rows.get(row as usize)?;
        (row.file != NO_FILE).then(|| SourceLine { file: self.texts.get(row.file).to_owned(), line: row.line })
    }

    /// Stores the text that a file uses for a link key.
    pub(crate) fn name_key(&mut self, key: u64, text: &str) {
        let number = self.texts.push(text);
        self.keys.push((key, number));
    }

    /// The text of a link key, or `k` and its number if the trace has no text for it.
    pub(crate) fn key(&self, key: u64) -> String {
        match self.keys.binary_search_by_key(&key, |entry| entry.0) {
            Ok(index) => self.texts.get(self.keys[index].1).to_owned(),
            Err(_) => format!("k{key}"),
        }
    }

    /// Ends the adding of rows, and frees unused memory.
    pub(crate) fn seal(&mut self) {
        self.texts.seal();
        self.places = HashMap::new();
        self.keys.sort_unstable();
        self.keys.shrink_to_fit();
        self.rows.shrink_to_fit();
        self.fields.shrink_to_fit();
    }
}

/// A column of row numbers, which takes no memory while all are 0.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct DetailColumn(Vec<u32>);

impl DetailColumn {
    /// Sets the number of the entity at `index`. Indexes must increase.
    pub(crate) fn push(&mut self, index: usize, row: u32) {
        if row != 0 {
            self.0.resize(index, 0);
            self.0.push(row);
        }
    }

    /// The row of the entity at `index`.
    pub(crate) fn get(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn permute(&mut self, order: &[u32]) {
        if !self.0.is_empty() {
            self.0 = order.iter().map(|&from| self.get(from as usize)).collect();
        }
    }

    pub(crate) fn seal(&mut self) {
        self.0.shrink_to_fit();
    }
}
