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

use crate::args::Command;

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

/// Runs one.
pub(crate) fn run(command: Command) -> anyhow::Result<Status> {
    match command {
        Command::Check(args) => check::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Doc(args) => doc::run(&args),
        Command::Gen(args) => generate::run(&args),
        Command::Level(args) => level::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Sync(args) => sync::run(&args),
        Command::Repair(args) => repair::run(&args),
        Command::Cut(args) => cut::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::View(args) => view::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Index(args) => index::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}
