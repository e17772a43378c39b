//! `tumit index`.

use std::path::PathBuf;

use viewer::{IndexChoice, OpenError, OpenOptions, make_index};

use super::Status;
use super::convert::{Causal, Clock, is_mistake};
use crate::progress::Bar;
use crate::{spec_files, term};

/// Prepares a large run or Pajé file, so that it opens at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit index run.tmt                        makes run.tmt/index.tmtx; `tumit view run.tmt` then opens at once
  tumit index big.paje                       makes big.paje.tmtx
  tumit index big.paje --index /scratch/big.tmtx

`tumit view` does this by itself for large traces. The index is made in bounded memory, and made anew when the trace
changes, or is opened with other clocks or rules. It can be removed at any time.
Exit status: 0 done, 1 the trace has losses or faults (the rest is in the index), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt) or a Pajé file, also of other tools
    path: PathBuf,

    /// Makes the index here [default: beside the trace, or inside the run; else in the user's cache folder]
    #[arg(long, value_name = "PATH")]
    index: Option<PathBuf>,

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

pub(crate) fn run(args: &Args) -> anyhow::Result<Status> {
    let mut options = OpenOptions::default();
    options.clock = args.clock.into();
    options.causal = args.causal == Causal::On;
    options.output.clone_from(&args.output);
    if let Some(path) = &args.index {
        options.index = IndexChoice::At(path.clone());
    }
    if let Some(path) = &args.rules {
        let Some(spec) = spec_files::compile(path)? else { return Ok(Status::InputHasMistakes) };
        options.rules = Some(spec);
    }
    let bar = Bar::new(if args.path.is_dir() { "{human_len} records" } else { "{total_bytes}" });
    options.progress = bar.teller();
    let made = make_index(&args.path, &options);
    drop(bar);
    let made = match made {
        Ok(made) => made,
        Err(OpenError::Convert(error)) if is_mistake(&error) => {
            term::error(&error.into());
            return Ok(Status::InputHasMistakes);
        }
        Err(error) => return Err(error.into()),
    };
    for remark in &made.summary.remarks {
        term::note(&format!("tumit: {remark}"));
    }
    let (path, verb) = (made.path.display(), if made.was_there { "is there already" } else { "made" });
    let entities = made.summary.states + made.summary.events + made.summary.links + made.summary.samples;
    let each = made.bytes as f64 / entities.max(1) as f64;
    term::note(&format!("{path}: {verb}, {} bytes for {entities} entities, {each:.1} each", made.bytes));
    Ok(if made.summary.intact { Status::Done } else { Status::InputHasMistakes })
}
