//! [`FilterChain`]: an ordered list of filters, each on or off, for a trace; and the file that
//! stores it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::language::ast::FilterExpr;
use super::language::error::FilterError;
use crate::query::TimelineSource;

/// Latest version of the file; later versions are rejected. Only the page uses the fields `page`,
/// `trace` and `names`.
///
/// The versions differ in the language: see [`FilterExpr::from_version_1`]. A file has version 1 if
/// its expressions have the same meaning in both.
const VERSION: u64 = 2;

/// A correct file, for error messages.
const EXAMPLE: &str = r#"{ "format": "tumit-view", "version": 1, "filters": ["hide type Thread", { "filter": "cut 0.2..0.4", "on": false }] }"#;

/// Filters in the order in which they wrap a trace. The first filter wraps the trace itself.
///
/// Switching a filter off, moving it or removing it loses nothing, because the sources are built
/// again around the same trace.
///
/// ```
/// use tumit_viewer::filter::{FilterChain, FilterExpr};
///
/// let cut: FilterExpr = "cut 1s..2s".parse()?;
/// let mut chain = FilterChain::from_iter([cut]);
/// chain.filters[0].is_on = false;
/// assert_eq!(FilterChain::from_text(&chain.to_text())?, chain);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilterChain {
    /// Applied one after another, the first one to the trace itself.
    pub filters: Vec<ChainEntry>,
}

/// A filter of a chain.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainEntry {
    /// Kept while it is off, so that the user can switch it on again.
    pub filter: FilterExpr,
    /// Whether the filter is on.
    pub is_on: bool,
}

/// A filter of a chain that could not be applied.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("filter {}, `{filter_text}`: {error}", filter_index + 1)]
#[non_exhaustive]
pub struct FilterFailure {
    /// Its index in the chain, from 0.
    pub filter_index: usize,
    /// Its expression.
    pub filter_text: String,
    /// The reason.
    pub error: FilterError,
}

/// The reason why a file of filters cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FilterFileError {
    /// The system could not read or write the file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The text of the file is invalid.
    #[error("{}: {error}", path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// The invalid field.
        error: FilterFieldError,
    },
}

/// An invalid field of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilterFieldError {
    /// The field, such as `filters[2].on`. Empty if the whole file is invalid.
    pub field: String,
    /// The expected and the found content.
    pub reason: String,
}

impl fmt::Display for FilterFieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.field.is_empty() {
            write!(f, "`{}`: ", self.field)?;
        }
        f.write_str(&self.reason)
    }
}

impl std::error::Error for FilterFieldError {}

impl From<FilterExpr> for ChainEntry {
    fn from(filter: FilterExpr) -> Self {
        Self { filter, is_on: true }
    }
}

impl FromIterator<FilterExpr> for FilterChain {
    fn from_iter<I: IntoIterator<Item = FilterExpr>>(filters: I) -> Self {
        Self { filters: filters.into_iter().map(ChainEntry::from).collect() }
    }
}

impl FilterChain {
    /// Wraps a trace in all filters that are on.
    ///
    /// # Errors
    /// The first filter that names something that the trace does not contain.
    pub fn apply(&self, source: Arc<dyn TimelineSource>) -> Result<Arc<dyn TimelineSource>, FilterFailure> {
        let mut active_filters = self.filters.iter().enumerate().filter(|(_, entry)| entry.is_on);
        active_filters.try_fold(source, |source, (filter_index, entry)| {
            entry.filter.apply(&source).map_err(|error| FilterFailure::new(filter_index, entry, error))
        })
    }

    /// Wraps a trace in the filters that are on and that name only contents of the trace. Returns
    /// the other filters as problems. This is for chains that were made for another run of a
    /// program.
    pub fn apply_known(&self, source: Arc<dyn TimelineSource>) -> (Arc<dyn TimelineSource>, Vec<FilterFailure>) {
        let (mut source, mut problems) = (source, Vec::new());
        for (filter_index, entry) in self.filters.iter().enumerate().filter(|(_, entry)| entry.is_on) {
            match entry.filter.apply(&source) {
                Ok(filtered) => source = filtered,
                Err(error) => problems.push(FilterFailure::new(filter_index, entry, error)),
            }
        }
        (source, problems)
    }

    /// Reads a file of filters (`*.tumit-view`).
    ///
    /// # Errors
    /// The file cannot be read, or has an invalid field.
    pub fn read(path: &Path) -> Result<Self, FilterFileError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| FilterFileError::Io { path: path.to_owned(), source })?;
        Self::from_text(&text).map_err(|error| FilterFileError::Content { path: path.to_owned(), error })
    }

    /// Reads the text of a file of filters.
    ///
    /// # Errors
    /// The invalid field, with the expected content.
    pub fn from_text(text: &str) -> Result<Self, FilterFieldError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| FilterFieldError::new("", format!("expected JSON: {error}")))?;
        Self::from_value(&value)
    }

    /// Whether a text is the content of a filter file, with or without the fields of the page.
    /// False if a later Tumit wrote it.
    pub(crate) fn is_own_text(text: &str) -> bool {
        serde_json::from_str::<Value>(text).is_ok_and(|value| {
            value["format"] == "tumit-view" && value["version"].as_u64().is_some_and(|version| version <= VERSION)
        })
    }

    /// The version of a file with these filters: the earliest version that can express them.
    fn version(&self) -> u64 {
        if self.filters.iter().all(|entry| entry.filter.is_version_1()) { 1 } else { VERSION }
    }

    /// The text of a file of filters: JSON, one filter per line.
    #[must_use]
    pub fn to_text(&self) -> String {
        let version = self.version();
        let mut text = format!("{{\n  \"format\": \"tumit-view\",\n  \"version\": {version},\n  \"filters\": [");
        for (filter_index, entry) in self.filters.iter().enumerate() {
            text.push_str(if filter_index > 0 { ",\n    " } else { "\n    " });
            text.push_str(&entry.value().to_string());
        }
        text.push_str(if self.filters.is_empty() { "]\n}\n" } else { "\n  ]\n}\n" });
        text
    }

    fn from_value(value: &Value) -> Result<Self, FilterFieldError> {
        let error = |field: &str, expected: &str, value: &Value| {
            FilterFieldError::new(field, format!("expected {expected}, found {}", shorten_value(value)))
        };
        let Value::Object(object) = value else { return Err(error("", "an object", value)) };
        let get = |field: &str| object.get(field).unwrap_or(&Value::Null);
        if get("format") != "tumit-view" {
            return Err(error("format", "\"tumit-view\"", get("format")));
        }
        let version = match get("version").as_u64() {
            Some(version @ 1..=VERSION) => version,
            Some(version) if version > VERSION => {
                let reason = format!("version {version} is of a later Tumit; this one reads versions 1 to {VERSION}");
                return Err(FilterFieldError::new("version", reason));
            }
            _ => return Err(error("version", "1 or 2", get("version"))),
        };
        if let Some(unknown_field) = object
            .keys()
            .find(|key| !["format", "version", "filters", "page", "trace", "names"].contains(&key.as_str()))
        {
            let why =
                "this field does not exist; the fields are format, version, filters, page, trace and names".to_owned();
            return Err(FilterFieldError::new(unknown_field, why));
        }
        let Value::Array(filters) = get("filters") else {
            return Err(error("filters", "a list", get("filters")));
        };
        let entry = |(filter_index, value): (usize, &Value)| {
            ChainEntry::from_value(value, &format!("filters[{filter_index}]"), version)
        };
        Ok(Self { filters: filters.iter().enumerate().map(entry).collect::<Result<_, _>>()? })
    }
}

impl FilterFieldError {
    /// An error about the form of the file, with an example of the correct form.
    fn new(field: &str, reason: impl fmt::Display) -> Self {
        Self { field: field.to_owned(), reason: format!("{reason}; example: `{EXAMPLE}`") }
    }
}

impl FilterExpr {
    /// Reads an expression of a file of version 1. If that fails, reads it in the current language,
    /// because a user may have edited the file.
    ///
    /// # Errors
    /// If the expression is valid in neither version.
    pub fn parse_any_version(text: &str) -> Result<Self, FilterError> {
        Self::from_version_1(text).or_else(|_| text.parse())
    }
}

/// A value for an error message, shortened.
fn shorten_value(value: &Value) -> String {
    const MAX_CHARACTERS: usize = 40;
    let text = value.to_string();
    match (value, text.char_indices().nth(MAX_CHARACTERS)) {
        (Value::Null, _) => "nothing".to_owned(),
        (_, Some((end, _))) => format!("{}…", &text[..end]),
        _ => text,
    }
}

impl ChainEntry {
    /// The JSON value: a string if the filter is on, an object if it is off.
    fn value(&self) -> Value {
        let text = self.filter.to_string();
        if self.is_on { Value::String(text) } else { json!({ "filter": text, "on": false }) }
    }

    fn from_value(value: &Value, field: &str, version: u64) -> Result<Self, FilterFieldError> {
        let wrong = |name: &str, expected: &str, value: &Value| {
            FilterFieldError::new(
                &format!("{field}{name}"),
                format!("expected {expected}, found {}", shorten_value(value)),
            )
        };
        let (text, is_on, name) = match value {
            Value::String(text) => (text, true, ""),
            Value::Object(object) => {
                if let Some(key) = object.keys().find(|key| !["filter", "on"].contains(&key.as_str())) {
                    let reason = "this field does not exist; the fields are filter and on".to_owned();
                    return Err(FilterFieldError::new(&format!("{field}.{key}"), reason));
                }
                let value = object.get("filter").unwrap_or(&Value::Null);
                let Value::String(text) = value else { return Err(wrong(".filter", "an expression", value)) };
                let on = match object.get("on") {
                    None => true,
                    Some(Value::Bool(on)) => *on,
                    Some(value) => return Err(wrong(".on", "true or false", value)),
                };
                (text, on, ".filter")
            }
            _ => return Err(wrong("", "an expression, or an object with `filter` and `on`", value)),
        };
        let filter = if version == 1 { FilterExpr::parse_any_version(text) } else { text.parse() }.map_err(
            |error: FilterError| FilterFieldError { field: format!("{field}{name}"), reason: error.to_string() },
        )?;
        Ok(Self { filter, is_on })
    }
}

impl FilterFailure {
    fn new(filter_index: usize, entry: &ChainEntry, error: FilterError) -> Self {
        Self { filter_index, filter_text: entry.filter.to_string(), error }
    }
}

impl Serialize for FilterChain {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let filters: Vec<Value> = self.filters.iter().map(ChainEntry::value).collect();
        json!({ "format": "tumit-view", "version": self.version(), "filters": filters }).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for FilterChain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::from_value(&value).map_err(serde::de::Error::custom)
    }
}
