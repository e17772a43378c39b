//! The results of subcommands, and their exit codes.

use std::process::ExitCode;

/// The result of a subcommand that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Success.
    Done,
    /// The input has mistakes, or dropped, missing or damaged data. The rest of it was used.
    InputHasMistakes,
    /// The input cannot be read, or the output cannot be written.
    CouldNotRun,
    /// The exit status of a program that the subcommand has run.
    Program(u8),
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Done => 0,
            ExitStatus::InputHasMistakes => 1,
            ExitStatus::CouldNotRun => 2,
            ExitStatus::Program(status) => status,
        })
    }
}
