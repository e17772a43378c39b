//! The arguments of `tumit convert`.

use std::path::PathBuf;

use tumit_picl::PiclStyle;

use super::paje_style::PajeStyleOptions;
use crate::run_options::{ClockOptions, ConvertChoices, LaunchChoice, ResourceOptions, StrictOption};
use crate::view_filters::FilterOptions;

/// Converts runs, Pajé, PICL and Alog traces to Pajé, PICL or other text, and to tables of entities
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit convert run.tmt -o run.paje                    by the rules of the recorded spec, clocks corrected
  tumit convert run.tmt -o - | pj_dump                 to standard output
  tumit convert run.tmt --rules other.tumit -o x.paje  an old run with other rules
  tumit convert run.tmt -o x.paje --unit ms --precision 3 --header old  for a reader that needs these
  tumit convert run.tmt --text-output by-hand -o run.txt  the lines of `output text \"by-hand\"` of the spec
  tumit convert run.tmt -o run.csv                     containers, states, events, variables, links: a row each
  tumit convert run.paje -o run.json                   the same as JSON, an object per line; IN may be any Pajé file
  tumit convert x.paje -o y.paje --filter 'hide value Wait*'  Pajé text in order of time, repaired, filtered
  tumit convert x.picl -o x.paje                       a PICL or Alog trace (ParaGraph, Upshot)
  tumit convert run.tmt -o run.picl                    PICL for ParaGraph; --format picl-old writes its old format
  tumit convert run.paje -o - --pj-dump                the rows of `pj_dump -l 9 -e 1e300`
  tumit convert millis.paje --unit ms -o run.csv       a Pajé file with timestamps in milliseconds

Rows are in the order in which entities end; docs/entities.md describes the columns. The file gets its name only when it is
complete. Dropped, missing and damaged data and repairs are reported on standard error.
Exit status: 0 success, 1 the run has dropped, missing or damaged data (the rest was converted), 2 could not run.")]
pub(crate) struct Args {
    /// The run (a folder NAME.tmt or one of its process files), or a Pajé, PICL or Alog file
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,

    /// Output file, which ends in .paje, .trace, .picl, .csv, .json or .jsonl; - is standard output
    #[arg(short, long = "output", alias = "out", value_name = "FILE")]
    pub(super) out: PathBuf,

    /// Format of the output [default: by the ending of the file; paje for standard output]
    #[arg(long, value_enum, conflicts_with = "pj_dump")]
    pub(super) format: Option<OutputFormat>,

    /// Writes the rows of `pj_dump -l 9 -e 1e300` with the same digits, in the order in which
    /// entities end
    #[arg(long)]
    pub(super) pj_dump: bool,

    /// Appends the user's fields to the rows of --pj-dump, as `pj_dump -u` does
    #[arg(long, requires = "pj_dump")]
    pub(super) user_fields: bool,

    /// Writes the parent of each container and entity type to FILE, as `pj_dump --entity-hierarchy`
    /// does
    #[arg(long, value_name = "FILE", requires = "pj_dump")]
    pub(super) entity_hierarchy: Option<PathBuf>,

    /// Writes the parent of each type and value to FILE, as `pj_dump --type-hierarchy` does
    #[arg(long, value_name = "FILE", requires = "pj_dump")]
    pub(super) type_hierarchy: Option<PathBuf>,

    /// Writes timestamps of tables as the time of day in UTC: 2026-11-25T13:18:31.000000042Z; for
    /// runs only
    #[arg(long, conflicts_with = "pj_dump")]
    pub(super) wall_clock: bool,

    #[command(flatten)]
    pub(super) launch: LaunchChoice,

    #[command(flatten)]
    pub(super) clock_options: ClockOptions,

    /// Uses the rules of this spec instead of the recorded ones
    #[arg(long, value_name = "SPEC")]
    pub(super) rules: Option<String>,

    /// Writes this text output of the spec instead of the result of its rules; for tables, the
    /// output must be Pajé text
    #[arg(long, value_name = "NAME")]
    pub(super) text_output: Option<String>,

    #[command(flatten)]
    pub(super) resources: ResourceOptions,

    #[command(flatten)]
    pub(super) strict: StrictOption,

    #[command(flatten)]
    pub(super) style: PajeStyleOptions,

    #[command(flatten)]
    pub(super) filters: FilterOptions,
}

impl Args {
    pub(super) fn convert_choices(&self) -> ConvertChoices<'_> {
        ConvertChoices {
            clock_options: self.clock_options,
            resources: self.resources,
            rules: self.rules.as_deref(),
            text_output: self.text_output.as_deref(),
        }
    }
}

/// The format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum OutputFormat {
    /// Pajé text, or the lines of --text-output
    Paje,
    /// A table of all containers and entities
    Csv,
    /// A JSON object per container or entity, each on its own line
    Json,
    /// PICL (ParaGraph) in its new format
    Picl,
    /// PICL in the compact form of its old format, with microseconds
    PiclOld,
    /// PICL in the verbose form of its old format, with microseconds
    PiclVerbose,
}

impl OutputFormat {
    /// The form of PICL, if the output is PICL.
    pub(super) fn picl(self) -> Option<PiclStyle> {
        match self {
            Self::Picl => Some(PiclStyle::New),
            Self::PiclOld => Some(PiclStyle::OldCompact),
            Self::PiclVerbose => Some(PiclStyle::OldVerbose),
            Self::Paje | Self::Csv | Self::Json => None,
        }
    }
}
