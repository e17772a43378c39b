//! `tumit index`: writes the index of a trace, so that it opens faster.

use std::path::PathBuf;

use tumit_viewer::{IndexChoice, make_index};

use super::exit_status::ExitStatus;
use crate::run_options::RunOptions;
use crate::{printed_diagnostics, term};

/// Indexes a large run or Pajé file, so that it opens faster
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit index run.tmt                        writes run.tmt/index.tmtx, which `tumit view run.tmt` then reads
  tumit index big.paje                       writes big.paje.tmtx
  tumit index big.paje -o /scratch/big.tmtx
  tumit index big.paje.gz -o big.tmtx        then: tumit view big.paje.gz --index big.tmtx

`tumit view` indexes large traces automatically. Indexing needs bounded memory. The index is built again if the trace changes, or
is opened with other clock options or rules. It can be removed at any time.
Exit status: 0 success, 1 the trace has dropped, missing or damaged data, or errors (the rest is in the index), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt), or a Pajé, PICL or Alog file
    path: PathBuf,

    /// Writes the index to this file; required for a pipe or a compressed file [default: inside the
    /// run, or in the folder of the Pajé file; the user's cache folder if that is write-protected]
    #[arg(short, long, alias = "index", value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    run: RunOptions,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let index = args.output.as_ref().map_or(IndexChoice::Auto, |path| IndexChoice::At(path.clone()));
    let Some(result) = args.run.open(&args.path, index, make_index)? else { return Ok(ExitStatus::InputHasMistakes) };
    printed_diagnostics::print(&result.summary.diagnostics);
    let (path, verb) = (result.path.display(), if result.was_there { "is there already" } else { "made" });
    let entities = result.summary.states + result.summary.events + result.summary.links + result.summary.samples;
    let entity_bytes = result.bytes as f64 / entities.max(1) as f64;
    term::note(&format!("{path}: {verb}, {} bytes for {entities} entities, {entity_bytes:.1} each", result.bytes));
    Ok(if result.summary.is_intact() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}
