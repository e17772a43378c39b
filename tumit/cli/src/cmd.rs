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

/// How a subcommand ended when it could run at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done.
    Done,
    /// The input has mistakes or losses; what was good was used.
    InputHasMistakes,
    /// Could not run.
    CouldNotRun,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Done => 0,
            Status::InputHasMistakes => 1,
            Status::CouldNotRun => 2,
        })
    }
}
