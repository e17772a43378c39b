//! [`write`](write()): all containers and entities of a trace as rows of text, each written when it has ended.
//!
//! Memory is that of the simulation: what is open, names, and containers. Rows of one state type and depth, one variable or
//! one event type in one container come in order; for any other order, sort.

mod columns;
mod csv;
mod details;
mod early;
mod frames;
pub mod hierarchy;
mod json;
mod pj_dump;
mod row;
#[cfg(test)]
mod tests;
mod writer;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use tumit_converter::convert::ConvertError;
use tumit_converter::convert::wall_clock;

use crate::input::options::{OpenError, OpenOptions};
use crate::input::trace::Input;
use crate::sim::Simulation;
use columns::Columns;
use row::Form;
use writer::{Out, Writer};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One table with a header: the columns of `pj_dump`, then numbers of containers, then the extra fields.
    Csv,
    /// An object a line.
    Json,
    /// The rows of `pj_dump -l 9 -e 1e300`.
    PjDump,
    /// The same with the user's fields, as `pj_dump -u`.
    PjDumpWithFields,
}

/// What was written.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Account {
    /// Rows, without the header.
    pub rows: u64,
    /// What was wrong with the trace: a sentence each.
    pub faults: Vec<String>,
    /// What a user should know beside.
    pub remarks: Vec<String>,
}

/// Writes all containers and entities of the trace at `path` to `out`, which needs no buffer of its own.
///
/// # Errors
/// When there is nothing there, or nothing that is a trace, and when `out` fails.
pub fn write(path: &Path, options: &OpenOptions, format: Format, out: &mut dyn Write) -> Result<Account, OpenError> {
    write_out(path, options, format, Out::Stream(out))
}

/// The same to a file, from where it stands on: faster than [`write`](write()), as what was written can be taken back from a regular file, and so
/// most runs need not be read twice.
///
/// # Errors
/// As [`write`](write()).
pub fn write_to_file(path: &Path, options: &OpenOptions, format: Format, file: &File) -> Result<Account, OpenError> {
    let mut out = file;
    let out = Out::of_file(&mut out).map_err(ConvertError::Write)?;
    write_out(path, options, format, out)
}

fn write_out(path: &Path, options: &OpenOptions, format: Format, out: Out<'_>) -> Result<Account, OpenError> {
    let input = Input::find(path, options)?;
    let start = match &input {
        Input::Run(run) if options.wall_clock => wall_clock::early_start_of(run, options.clock),
        _ => None,
    };
    if options.wall_clock && start.is_none() {
        return Err(OpenError::NoWallClock { path: path.to_owned() });
    }
    match format {
        Format::Csv => write_as(csv::Csv { start }, input, options, out),
        Format::Json => write_as(json::Json { start }, input, options, out),
        Format::PjDump | Format::PjDumpWithFields => {
            let user_fields = format == Format::PjDumpWithFields;
            let of_run = input.is_records(options);
            let options = OpenOptions { as_pj_dump: true, ..options.clone() };
            write_as(pj_dump::PjDump { of_run, user_fields }, input, &options, out)
        }
    }
}

fn write_as<F: Form>(form: F, mut input: Input, options: &OpenOptions, out: Out<'_>) -> Result<Account, OpenError> {
    let mut simulation = Simulation::into_entities("0", Writer::new(form, out));
    if F::IS_PEER {
        simulation = simulation.as_pj_dump(!input.is_records(options));
    }
    if F::HAS_HEADER {
        input.announce(&mut simulation)?;
    }
    let mut told = input.feed(options, &mut simulation)?;
    told.faults.extend(simulation.found().iter().map(crate::sim::Found::sentence));
    let Columns { late, .. } = simulation.entities().columns();
    if !late.is_empty() {
        let names: Vec<&str> = late.iter().map(String::as_str).collect();
        told.faults.push(format!(
            "fields that the trace defined after its first entity are not in the table: {}; they are in JSON lines",
            names.join(", ")
        ));
    }
    Ok(Account { rows: simulation.entities().rows(), faults: told.faults, remarks: told.remarks })
}
