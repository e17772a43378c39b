//! `tumit gen`.

use super::Status;

/// Generates tracing code
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

#[expect(clippy::unnecessary_wraps, reason = "the shape of every subcommand")]
pub(crate) fn run(_args: &Args) -> anyhow::Result<Status> {
    Ok(Status::CouldNotRun)
}
