//! How a trace is opened: the options that commands which count or index it share.

use std::path::{Path, PathBuf};

use viewer::{IndexChoice, OpenError, OpenOptions};

use crate::cmd::convert::{Causal, Clock, is_mistake};
use crate::progress::Bar;
use crate::{spec_files, term};

/// How a run becomes a picture.
#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// How clocks of different hosts are brought together
    #[arg(long, value_enum, default_value_t, help_heading = "Runs")]
    clock: Clock,
    /// Moves dates later where a link still ends before it starts
    #[arg(long, value_enum, default_value_t, help_heading = "Runs")]
    causal: Causal,
    /// Uses the rules of this spec instead of those recorded with the run
    #[arg(long, value_name = "SPEC", help_heading = "Runs")]
    rules: Option<String>,
    /// Takes this text output of the spec, which must be Pajé text, instead of what the rules for Pajé make
    #[arg(long = "output", value_name = "NAME", help_heading = "Runs")]
    output: Option<String>,
}

impl RunOptions {
    /// Opens a trace, or does what else `open` does with it, with progress told. Nothing when the user's spec has mistakes, which have
    /// been told.
    pub(crate) fn open<T>(
        &self,
        path: &Path,
        index: IndexChoice,
        open: impl FnOnce(&Path, &OpenOptions) -> Result<T, OpenError>,
    ) -> anyhow::Result<Option<T>> {
        let mut options = OpenOptions::default();
        options.clock = self.clock.into();
        options.causal = self.causal == Causal::On;
        options.output.clone_from(&self.output);
        options.index = index;
        if let Some(path) = &self.rules {
            let Some(spec) = spec_files::compile(path)? else { return Ok(None) };
            options.rules = Some(spec);
        }
        let bar = Bar::new(if path.is_dir() { "{human_len} records" } else { "{total_bytes}" });
        options.progress = bar.teller();
        let opened = open(path, &options);
        drop(bar);
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(OpenError::Convert(error)) if is_mistake(&error) => {
                term::error(&error.into());
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What `--index` says.
pub(crate) fn index_choice(path: Option<&PathBuf>) -> IndexChoice {
    match path {
        None => IndexChoice::Auto,
        Some(path) if path.as_os_str() == "none" => IndexChoice::None,
        Some(path) => IndexChoice::At(path.clone()),
    }
}
