//! [`write`](write()): all containers and entities of a trace as rows of text. A row is written
//! when its entity has ended.
//!
//! The memory is that of the simulation: open entities, names and containers. The rows of one state
//! type and depth, one variable or one event type in one container are in order. For any other
//! order, sort the rows.
//!
//! ```
//! use tumit_viewer::OpenOptions;
//! use tumit_viewer::tables::{TableFormat, write};
//!
//! # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
//! # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
//! #             11 0 t S w\n14 2 t S\n7 3 T t\n";
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("example.paje");
//! # std::fs::write(&path, format!("{header}{body}"))?;
//! let mut rows = Vec::new();
//! let account = write(&path, &OpenOptions::default(), TableFormat::Json, &mut rows)?;
//! assert_eq!((account.rows, account.errors().len()), (3, 0));
//! assert!(String::from_utf8(rows)?.lines().any(|row| row.contains("\"value\":\"work\"")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod details;
mod early_rows;
mod extra_columns;
pub mod hierarchy;
mod json;
mod pj_dump;
mod row;
mod row_frames;
mod row_kind;
mod row_writer;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tumit_converter::convert::ConvertError;
use tumit_converter::convert::wall_clock;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

use crate::input::open_options::{OpenOptions, TraceOpenError};
use crate::input::trace::TraceInputFile;
use crate::sim::{SimFault, Simulation};
use extra_columns::ExtraColumns;
use row::RowForm;
use row_writer::{RowOutput, RowWriter};

/// The output formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableFormat {
    /// One table with a header: the columns of `pj_dump`, the numbers of containers, and the extra
    /// fields.
    Csv,
    /// One JSON object per line.
    Json,
    /// The rows of `pj_dump -l 9 -e 1e300`.
    PjDump,
    /// The same rows with the user's fields, as `pj_dump -u` prints them.
    PjDumpWithFields,
}

/// A summary of the written rows.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TableAccount {
    /// Number of rows without the header.
    pub rows: u64,
    /// Diagnostics about the trace and its table, errors first.
    pub diagnostics: Vec<TraceDiagnostic>,
}

impl TableAccount {
    /// Only the errors, without warnings and notes.
    #[must_use]
    pub fn errors(&self) -> Vec<&TraceDiagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect()
    }
}

/// Writes all containers and entities of the trace at `path` to `out`. `out` needs no buffer.
///
/// # Errors
/// If there is no trace at `path`, or if `out` fails.
pub fn write(
    path: &Path,
    options: &OpenOptions,
    format: TableFormat,
    out: &mut dyn Write,
) -> Result<TableAccount, TraceOpenError> {
    write_out(path, options, format, RowOutput::Stream(out))
}

/// Writes the same to a file, from its current position.
/// This is faster than [`write`](write()): written data can be removed from a regular file, so most
/// runs need not be read twice.
///
/// # Errors
/// As [`write`](write()).
pub fn write_to_file(
    path: &Path,
    options: &OpenOptions,
    format: TableFormat,
    file: &File,
) -> Result<TableAccount, TraceOpenError> {
    let mut out = file;
    let out = RowOutput::of_file(&mut out).map_err(ConvertError::Write)?;
    write_out(path, options, format, out)
}

fn write_out(
    path: &Path,
    options: &OpenOptions,
    format: TableFormat,
    out: RowOutput<'_>,
) -> Result<TableAccount, TraceOpenError> {
    let input = TraceInputFile::find(path, options)?;
    let start = match &input {
        TraceInputFile::Run(run) if options.wall_clock => wall_clock::early_start_of(run, options.convert.clock),
        _ => None,
    };
    if options.wall_clock && start.is_none() {
        return Err(TraceOpenError::NoWallClock { path: path.to_owned() });
    }
    match format {
        TableFormat::Csv => write_as(csv::CsvForm { start }, input, options, out),
        TableFormat::Json => write_as(json::JsonForm { start }, input, options, out),
        TableFormat::PjDump | TableFormat::PjDumpWithFields => {
            let user_fields = format == TableFormat::PjDumpWithFields;
            let of_run = input.is_records(options);
            let options = OpenOptions { as_pj_dump: true, ..options.clone() };
            write_as(pj_dump::PjDumpForm { of_run, user_fields }, input, &options, out)
        }
    }
}

fn write_as<F: RowForm>(
    form: F,
    mut input: TraceInputFile,
    options: &OpenOptions,
    out: RowOutput<'_>,
) -> Result<TableAccount, TraceOpenError> {
    let mut simulation = Simulation::into_entities("0", RowWriter::new(form, out));
    if F::IS_PEER {
        simulation = simulation.mimicking_pj_dump(!input.is_records(options));
    }
    if F::HAS_HEADER {
        input.announce(&mut simulation)?;
    }
    let mut outcome = input.feed(options, &mut simulation)?;
    outcome.diagnostics.extend(simulation.faults().iter().map(SimFault::diagnostic));
    let ExtraColumns { late_names, .. } = simulation.entities().columns();
    if !late_names.is_empty() {
        let names: Vec<&str> = late_names.iter().map(String::as_str).collect();
        let text = format!(
            "fields that the trace defines after its first entity are not in the table: {}; JSON lines contain them",
            names.join(", ")
        );
        outcome.diagnostics.push(TraceDiagnostic::error(DiagnosticKind::File, text));
    }
    // The sort is stable.
    outcome.diagnostics.sort_by_key(|diagnostic| !diagnostic.is_error());
    Ok(TableAccount { rows: simulation.entities().rows(), diagnostics: outcome.diagnostics })
}
