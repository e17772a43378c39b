//! The command line. The options of each subcommand are in its own file.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::cmd;
use crate::option_values::byte_sizes::ByteSize;
use crate::trace_input::DEFAULT_LIMIT;

/// Makes the behaviour of parallel programs visible: describes, records, converts and shows events.
#[derive(Debug, Parser)]
#[command(name = "tumit", version, disable_help_subcommand = true)]
#[command(after_help = "\
A first run:
  tumit check app.tumit                    checks the description of the events
  tumit doc app.tumit -o app.html          a reference of the events, as a page
  tumit gen c app.tumit -o app_trace.h     tracing functions for C (in Rust: the macro events!)
  TUMIT_TRACE=run.tmt ./app                the program records into the folder run.tmt/
  tumit record -o run.tmt -- mpirun ./app  records an MPI program without a description of its events
  tumit view run.tmt                       shows the trace in a browser
  tumit stats run.tmt                      statistics of the trace, as a table

Exit status: 0 success, 1 the input has mistakes, or dropped, missing or damaged data, 2 could not run.")]
pub(crate) struct Args {
    /// Maximum size of a trace from a pipe or a compressed file, in bytes or with K, M or G, such
    /// as 500M; the trace is copied to TMPDIR
    #[arg(long, global = true, value_name = "SIZE", default_value = DEFAULT_LIMIT, hide_short_help = true)]
    pub(crate) input_limit: ByteSize,

    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The subcommands, in the order in which a user meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Check(cmd::check::Args),
    Explain(cmd::explain::Args),
    Fmt(cmd::fmt::Args),
    Doc(cmd::doc::Args),
    Gen(cmd::generate::Args),
    Record(cmd::record::Args),
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
    Profile(cmd::profile::Args),
    Diagnose(cmd::diagnose::Args),
    Index(cmd::index::Args),
    Completions(cmd::completions::Args),
    Man(cmd::man::Args),
}

impl CliCommand {
    /// Runs the subcommand.
    pub(crate) fn run(self) -> anyhow::Result<cmd::ExitStatus> {
        match self {
            Self::Check(args) => cmd::check::run(&args),
            Self::Explain(args) => cmd::explain::run(&args),
            Self::Fmt(args) => cmd::fmt::run(&args),
            Self::Doc(args) => cmd::doc::run(&args),
            Self::Gen(args) => cmd::generate::run(&args),
            Self::Record(args) => cmd::record::run(&args),
            Self::Level(args) => cmd::level::run(&args),
            Self::Info(args) => cmd::info::run(&args),
            Self::Dump(args) => cmd::dump::run(&args),
            Self::Sync(args) => cmd::sync::run(&args),
            Self::Repair(args) => cmd::repair::run(&args),
            Self::Cut(args) => cmd::cut::run(&args),
            Self::Merge(args) => cmd::merge::run(&args),
            Self::Convert(args) => cmd::convert::run(&args),
            Self::View(args) => cmd::view::run(&args),
            Self::Stats(args) => cmd::stats::run(&args),
            Self::Profile(args) => cmd::profile::run(&args),
            Self::Diagnose(args) => cmd::diagnose::run(&args),
            Self::Index(args) => cmd::index::run(&args),
            Self::Completions(args) => cmd::completions::run(&args, Args::command()),
            Self::Man(args) => cmd::man::run(&args, Args::command()),
        }
    }
}
