//! The settings of a recording as text: for users (`--dry-run`), for shells (`--print-env`).

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;

use tumit_preload::attachment::Attachment;
use tumit_preload::environment::{
    OPEN_MPI_LIST, RecordingEnvironment, RecordingSettings, VariableLookup, has_several_nodes, open_mpi_list,
};
use tumit_preload::program_command::ProgramCommand;
use tumit_preload::recorders::names;

use crate::cmd::exit_status::ExitStatus;
use crate::term;

/// One line per program: the recorder, or the reason why there is none. The first line also names
/// the folder.
pub(crate) fn attachment_lines(command: &ProgramCommand, attachment: &Attachment, folder: &str) -> Vec<String> {
    let mut lines = attachment.lines();
    let recorders = names(&attachment.recorders);
    if lines.is_empty() {
        lines.push(match (&command.program_file_option, command.submits) {
            (Some(option), _) => format!("{recorders} attached to the programs in the file of the option `{option}`"),
            (None, true) => format!("{recorders} attached to the job"),
            (None, false) => {
                format!("the command contains no program: {recorders} attached to all programs that it starts")
            }
        });
    }
    if !attachment.is_useless() {
        lines[0].push_str(&format!("; writing {folder}"));
    }
    lines
}

/// Prints the settings and the command of a recording.
pub(crate) fn print_dry_run(
    environment: &RecordingEnvironment,
    command: &ProgramCommand,
    attachment: &Attachment,
    folder: &Path,
) -> anyhow::Result<ExitStatus> {
    let mut out = term::stdout();
    for line in attachment_lines(command, attachment, &folder.display().to_string()) {
        writeln!(out, "# {line}")?;
    }
    for warning in &environment.warnings {
        writeln!(out, "# warning: {warning}")?;
    }
    if let Some(launcher) = &command.launcher {
        writeln!(out, "# {} starts the ranks", launcher.name)?;
    }
    for (name, value) in &environment.variables {
        writeln!(out, "{name}={} \\", quoted(value))?;
    }
    let words: Vec<String> = environment.words.iter().map(|word| quoted(word)).collect();
    writeln!(out, "{}", words.join(" "))?;
    out.flush()?;
    Ok(ExitStatus::Done)
}

/// Prints the settings as commands of a shell. The list for Open MPI is a comment on a machine that
/// runs no job on several nodes, because Open MPI 4 refuses it together with the option `-x`.
pub(crate) fn print_variables(settings: &RecordingSettings, lookup: VariableLookup<'_>) -> anyhow::Result<ExitStatus> {
    let variables = settings.variables(lookup);
    let mut out = term::stdout();
    for (name, value) in &variables {
        writeln!(out, "export {name}={}", quoted(value))?;
    }
    let earlier = lookup(OPEN_MPI_LIST).map(|value| value.to_string_lossy().into_owned());
    let list = open_mpi_list(&variables, earlier.as_deref());
    let comment = if has_several_nodes(lookup) { "" } else { "# Open MPI on several nodes: " };
    writeln!(out, "{comment}export {OPEN_MPI_LIST}={}", quoted(OsStr::new(&list)))?;
    out.flush()?;
    Ok(ExitStatus::Done)
}

/// A word in the notation of shells.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::quoted;

    #[test]
    fn shells_read_words_back() {
        for word in ["a", "a b", "it's", "", "$HOME", "a;b", "x=1,2", "\"", "\\", "é"] {
            let command = format!("printf %s {}", quoted(OsStr::new(word)));
            let output = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), word);
        }
    }
}
