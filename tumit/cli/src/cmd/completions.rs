//! `tumit completions`: prints scripts that complete command lines in a shell.

use std::io::Write as _;

use anyhow::Context as _;
use clap_complete::Shell;

use super::exit_status::ExitStatus;
use crate::term;

/// Prints a script for a shell that completes commands, options and values
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit completions bash > ~/.local/share/bash-completion/completions/tumit
  tumit completions zsh > ~/.zfunc/_tumit        needs `fpath+=~/.zfunc` before compinit in ~/.zshrc
  tumit completions fish > ~/.config/fish/completions/tumit.fish
  source <(tumit completions bash)               for the running shell only")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, mut command: clap::Command) -> anyhow::Result<ExitStatus> {
    // The script is generated in memory first, because the generators panic on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "tumit", &mut script);
    let mut out = term::stdout();
    out.write_all(&script).context("cannot write")?;
    out.flush().context("cannot write")?;
    Ok(ExitStatus::Done)
}
