//! The levels of a recording process, from its live file.

use std::path::Path;

use tracer_format::{BlockKind, Schema};

use super::live_snapshot::entries_of;

/// A level of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelName {
    /// Name of the trace.
    pub trace: String,
    /// Name of the level.
    pub level: String,
}

impl LevelName {
    /// The levels of a spec.
    #[must_use]
    pub fn from_schema(schema: &Schema) -> Vec<Self> {
        let name =
            |level: &tracer_format::schema::LevelInfo| Self { trace: schema.name.clone(), level: level.name.clone() };
        schema.levels.iter().map(name).collect()
    }
}

/// The levels of the specs in the log of names of a live file. Empty if the file cannot be read.
#[must_use]
pub fn levels_of_live(path: &Path) -> Vec<LevelName> {
    let entries = entries_of(path).unwrap_or_default();
    let schemas = entries.iter().filter(|entry| entry.kind == BlockKind::Schema);
    // The payload starts with the base id and the number of ids.
    let schemas = schemas.filter_map(|entry| Schema::decode(entry.payload.get(8..)?).ok());
    schemas.flat_map(|schema| LevelName::from_schema(&schema)).collect()
}
