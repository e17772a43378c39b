//! What can be typed; each subcommand's options live in its own file.

use clap::{Parser, Subcommand};

use crate::cmd;
use crate::sizes::Bytes;
use crate::trace_input::DEFAULT_LIMIT;

/// See what parallel programs do: describe events, record them, convert them, look at them.
#[derive(Debug, Parser)]
#[command(name = "tumit", version, disable_help_subcommand = true)]
#[command(after_help = "\
A first run:
  tumit check app.tumit                    is the description of the events right?
  tumit doc app.tumit -o app.html          a reference of the events
  tumit gen c app.tumit -o app_trace.h     tracing functions for C (Rust: the events! macro)
  TUMIT_TRACE=run.tmt ./app                records into the folder run.tmt/
  tumit view run.tmt                       look at it in a browser
  tumit stats run.tmt                      what it comes to, as a table

Exit status: 0 done, 1 the input has mistakes or losses, 2 could not run.")]
pub(crate) struct Args {
    /// Bytes that a trace from a pipe or a compressed file may have, as 500M or 20G; it is copied
    /// to TMPDIR
    #[arg(long, global = true, value_name = "SIZE", default_value = DEFAULT_LIMIT, hide_short_help = true)]
    pub(crate) input_limit: Bytes,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands, in the order in which a user meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Check(cmd::check::Args),
    Explain(cmd::explain::Args),
    Fmt(cmd::fmt::Args),
    Doc(cmd::doc::Args),
    Gen(cmd::generate::Args),
    Level(cmd::level::Args),
    Info(cmd::info::Args),
    Dump(cmd::dump::Args),
    Sync(cmd::sync::Args),
    Repair(cmd::repair::Args),
    Cut(cmd::cut::Args),
    Merge(cmd::merge::Args),
    Convert(cmd::convert::Args),
    View(cmd::view::Args),
    Stats(cmd::stats::Args),
    Index(cmd::index::Args),
    Completions(cmd::completions::Args),
    Man(cmd::man::Args),
}
