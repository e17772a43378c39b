//! Names that recorders changed: too long ones, and those beyond the maximum number.

use tumit_converter::run::OpenRun;
use tumit_converter::run::ProcessInRun;

/// Maximum number of bytes that recorders keep of an interned text, and the maximum by which a
/// truncated text is shorter. Truncation never splits a character.
const MOST_BYTES: usize = 4096;
const LESS_BYTES: usize = 3;

/// The names that replace those beyond the table, in the Rust recorder and in the C recorder.
const TOO_MANY: [&str; 2] = ["(too many different strings)", "(more names than the recorder keeps)"];

/// A sentence for each process with missing names.
pub(super) fn replaced(run: &OpenRun) -> Vec<String> {
    let said = |process: &ProcessInRun| {
        let text = TOO_MANY.into_iter().find(|text| names(process).any(|name| name == *text))?;
        let file = process.path.display();
        Some(format!(
            "{file}: the process has more different names than a recorder keeps; further names are shown as `{text}`"
        ))
    };
    run.processes.iter().filter_map(said).collect()
}

/// Number of names of a process with the length at which recorders truncate them.
pub(super) fn long_names(process: &ProcessInRun) -> usize {
    names(process).filter(|name| (MOST_BYTES - LESS_BYTES..=MOST_BYTES).contains(&name.len())).count()
}

/// A sentence for each process with possibly truncated names.
pub(super) fn cut(run: &OpenRun) -> Vec<String> {
    let said = |process: &ProcessInRun| {
        let count = long_names(process);
        let names = if count == 1 { "name" } else { "names" };
        let file = process.path.display();
        (count > 0).then(|| {
            format!("{file}: {count} {names} may be truncated: recorders keep {MOST_BYTES} bytes of an interned text")
        })
    };
    run.processes.iter().filter_map(said).collect()
}

fn names(process: &ProcessInRun) -> impl Iterator<Item = &str> {
    process.strings.iter().flatten().map(|name| &**name)
}
