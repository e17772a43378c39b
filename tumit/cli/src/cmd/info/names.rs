//! Names that recorders could not keep as they were: too long, or too many.

use tumit_converter::run::Process;
use tumit_converter::run::Run;

/// Bytes of an interned text that recorders keep, and how many less it may be: a character is not cut.
const MOST_BYTES: usize = 4096;
const LESS_BYTES: usize = 3;

/// What stands for names beyond the table of the Rust recorder, and of that for C.
const TOO_MANY: [&str; 2] = ["(too many different strings)", "(more names than the recorder keeps)"];

/// A sentence for each process some of whose names are missing.
pub(super) fn replaced(run: &Run) -> Vec<String> {
    let said = |process: &Process| {
        let text = TOO_MANY.into_iter().find(|text| names(process).any(|name| name == *text))?;
        let file = process.path.display();
        Some(format!("{file}: it had more different names than a recorder keeps: the others are shown as `{text}`"))
    };
    run.processes.iter().filter_map(said).collect()
}

/// How many names of a process have the length at which recorders cut them.
pub(super) fn long_names(process: &Process) -> usize {
    names(process).filter(|name| (MOST_BYTES - LESS_BYTES..=MOST_BYTES).contains(&name.len())).count()
}

/// A sentence for each process some of whose names may have been longer.
pub(super) fn cut(run: &Run) -> Vec<String> {
    let said = |process: &Process| {
        let count = long_names(process);
        let names = if count == 1 { "name" } else { "names" };
        let file = process.path.display();
        (count > 0)
            .then(|| format!("{file}: {count} {names} may be cut: of an interned text, {MOST_BYTES} bytes are kept"))
    };
    run.processes.iter().filter_map(said).collect()
}

fn names(process: &Process) -> impl Iterator<Item = &str> {
    process.strings.iter().flatten().map(|name| &**name)
}
