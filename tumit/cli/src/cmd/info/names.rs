//! Names that recorders changed: too long ones, and those beyond the maximum number.

use tumit_converter::run::OpenRun;
use tumit_converter::run::ProcessInRun;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of bytes that recorders keep of an interned text, and the maximum by which a
/// truncated text is shorter. Truncation never splits a character.
const MOST_BYTES: usize = 4096;
const LESS_BYTES: usize = 3;

/// The names that replace those beyond the table, in the Rust recorder and in the C recorder.
const TOO_MANY: [&str; 2] = ["(too many different strings)", "(more names than the recorder keeps)"];

/// An error for each process with missing names.
pub(super) fn missing_name_sentences(run: &OpenRun) -> Vec<TraceDiagnostic> {
    let said = |process: &ProcessInRun| {
        let text = TOO_MANY.into_iter().find(|text| names(process).any(|name| name == *text))?;
        let file = process.path.display();
        let text = format!(
            "{file}: the process has more different names than a recorder keeps; further names are shown as `{text}`"
        );
        Some(TraceDiagnostic::error(DiagnosticKind::Name, text).in_file(&process.path))
    };
    run.processes.iter().filter_map(said).collect()
}

/// Number of names of a process with the length at which recorders truncate them.
pub(super) fn long_names(process: &ProcessInRun) -> usize {
    names(process).filter(|name| (MOST_BYTES - LESS_BYTES..=MOST_BYTES).contains(&name.len())).count()
}

/// A warning for each process with possibly truncated names.
pub(super) fn cut(run: &OpenRun) -> Vec<TraceDiagnostic> {
    let said = |process: &ProcessInRun| {
        let count = long_names(process);
        let names = if count == 1 { "name" } else { "names" };
        let file = process.path.display();
        let text =
            format!("{file}: {count} {names} may be truncated: recorders keep {MOST_BYTES} bytes of an interned text");
        (count > 0).then(|| TraceDiagnostic::warning(DiagnosticKind::Name, text).in_file(&process.path))
    };
    run.processes.iter().filter_map(said).collect()
}

fn names(process: &ProcessInRun) -> impl Iterator<Item = &str> {
    process.strings.iter().flatten().map(|name| &**name)
}
