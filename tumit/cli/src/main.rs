//! The `tumit` command: a thin file per subcommand, all real work in the libraries.

mod args;
mod cmd;
mod help;
mod option_values;
mod output_file;
mod output_path;
mod printed_diagnostics;
mod progress;
mod record_filters;
mod run_options;
mod signals;
mod spec_files;
mod stored_categories;
mod term;
mod text_table;
mod trace_input;
mod view_filters;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};

fn main() -> ExitCode {
    // Help texts are laid out only when they may be printed.
    let matches = args::Args::command()
        .try_get_matches()
        .unwrap_or_else(|_| help::in_terminal(args::Args::command()).get_matches());
    let args =
        args::Args::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut args::Args::command()).exit());
    trace_input::limit_to(args.input_limit);
    tumit_perspectives::series_filter::provide_series();
    match args.command.run() {
        Ok(cmd::ExitStatus::Done) if trace_input::was_cut_short() => cmd::ExitStatus::InputHasMistakes.into(),
        Ok(status) => status.into(),
        Err(error) if term::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            term::error(&error);
            cmd::ExitStatus::CouldNotRun.into()
        }
    }
}
