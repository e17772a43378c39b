//! Names that recorders changed: too long ones, and those beyond the maximum number.

use tumit_converter::run::{OpenRun, ProcessInRun};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of bytes that recorders keep of an interned text.
const MAX_NAME_BYTES: usize = 4096;
/// Maximum by which a truncated text is shorter, because truncation never splits a character.
const MAX_CHARACTER_REST: usize = 3;

/// The names that replace those beyond the table, in the Rust recorder and in the C recorder.
const TOO_MANY: [&str; 2] = ["(too many different strings)", "(more names than the recorder keeps)"];

/// An error for each process with missing names.
pub(super) fn missing_name_errors(run: &OpenRun) -> Vec<TraceDiagnostic> {
    let diagnostic = |process: &ProcessInRun| {
        let text = TOO_MANY.into_iter().find(|text| names(process).any(|name| name == *text))?;
        let file = process.path.display();
        let text = format!(
            "{file}: the process has more different names than a recorder keeps; further names are shown as `{text}`"
        );
        Some(TraceDiagnostic::error(DiagnosticKind::Name, text).in_file(&process.path))
    };
    run.processes.iter().filter_map(diagnostic).collect()
}

/// Number of names of a process with the length at which recorders truncate them.
pub(super) fn long_names(process: &ProcessInRun) -> usize {
    names(process).filter(|name| (MAX_NAME_BYTES - MAX_CHARACTER_REST..=MAX_NAME_BYTES).contains(&name.len())).count()
}

/// A warning for each process with possibly truncated names.
pub(super) fn truncated_name_warnings(run: &OpenRun) -> Vec<TraceDiagnostic> {
    let diagnostic = |process: &ProcessInRun| {
        let count = long_names(process);
        let names = if count == 1 { "name" } else { "names" };
        let file = process.path.display();
        let text = format!(
            "{file}: {count} {names} may be truncated: recorders keep {MAX_NAME_BYTES} bytes of an interned text"
        );
        (count > 0).then(|| TraceDiagnostic::warning(DiagnosticKind::Name, text).in_file(&process.path))
    };
    run.processes.iter().filter_map(diagnostic).collect()
}

fn names(process: &ProcessInRun) -> impl Iterator<Item = &str> {
    process.strings.iter().flatten().map(|name| &**name)
}
