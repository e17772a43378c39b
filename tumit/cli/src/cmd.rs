//! The subcommands.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod cut;
pub(crate) mod doc;
pub(crate) mod dump;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod generate;
pub(crate) mod index;
pub(crate) mod info;
pub(crate) mod level;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod repair;
pub(crate) mod stats;
pub(crate) mod sync;
pub(crate) mod view;

use std::process::ExitCode;

/// The result of a subcommand that could run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Success.
    Done,
    /// The input has mistakes, or dropped, missing or damaged data. The rest of it was used.
    InputHasMistakes,
    /// Could not run.
    CouldNotRun,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(match status {
            ExitStatus::Done => 0,
            ExitStatus::InputHasMistakes => 1,
            ExitStatus::CouldNotRun => 2,
        })
    }
}
