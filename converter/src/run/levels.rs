//! The levels that a recording process has, as its live file tells.

use std::path::Path;

use tracer_format::{BlockKind, Schema};

use super::live::entries_of;

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
    pub fn all_of(schema: &Schema) -> Vec<Self> {
        let name =
            |level: &tracer_format::schema::LevelInfo| Self { trace: schema.name.clone(), level: level.name.clone() };
        schema.levels.iter().map(name).collect()
    }
}

/// The levels of the specs that a live file's log of names has; none when it cannot be read.
#[must_use]
pub fn levels_of_live(path: &Path) -> Vec<LevelName> {
    let entries = entries_of(path).unwrap_or_default();
    let schemas = entries.iter().filter(|entry| entry.kind == BlockKind::Schema);
    // Behind the base id and the number of ids.
    let schemas = schemas.filter_map(|entry| Schema::decode(entry.payload.get(8..)?).ok());
    schemas.flat_map(|schema| LevelName::all_of(&schema)).collect()
}
