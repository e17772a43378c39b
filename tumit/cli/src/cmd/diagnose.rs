//! `tumit diagnose`: reports where an execution loses time, and why.

mod context;
mod report;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use tumit_perspectives::analysis::diagnosis::{Diagnosis, phases};
use tumit_perspectives::analysis::diagnosis_tables::DiagnosisSection;
use tumit_perspectives::analysis::path_shares::ShorterStates;
use tumit_perspectives::chart_text;
use tumit_perspectives::execution::Execution;
use tumit_perspectives::execution::categories::{CategoryRule, CategoryTable};
use tumit_perspectives::options::ParsedOptions;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange};

use super::exit_status::ExitStatus;
use crate::option_values::category_option::{CATEGORY_HELP, category};
use crate::option_values::time_range_option::{self, time_range};
use crate::printed_diagnostics::PrintedDiagnostics;
use crate::run_options::{RunOptions, index_choice};
use crate::stored_categories::StoredCategories;
use crate::term;
use crate::view_filters::FilterOptions;
use context::{CommandContext, ReportOptions};
use report::DiagnosisReport;

/// Reports where an execution loses time: efficiency, imbalance, waits with their causes, and the
/// critical path
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit diagnose run.tmt                                   the whole run
  tumit diagnose run.tmt --phase 'step*'                   also the efficiency of each phase
  tumit diagnose run.tmt --what-if 'MPI_*=50'              the largest gain if MPI took half the time
  tumit diagnose run.paje --category 'idle=Wait*'          the states in which the program waits
  tumit diagnose run.paje --option level=Thread            the threads instead of the processes
  tumit diagnose run.tmt --json > report.json              all numbers, for programs
  tumit diagnose run.tmt --section waits --format csv      a section as a table

Each state counts as busy, overhead (communication, synchronisation) or idle (waiting). Categories are guessed from the names
of states; --category corrects a guess. Parallel efficiency is the mean busy time divided by the length of the time range. It is
the product of load balance (mean busy time divided by the largest) and communication efficiency. After `>`, the report has the
command that prints the numbers of a section, with the same options. A late sender is a receive that
begins before the message is sent; a late receiver is a send that must wait for its receive. The critical path is the longest chain
of activities that wait for each other: only changes on it make the program faster.
Exit status: 0 success, 1 the trace has dropped, missing or damaged data, or errors (the rest was examined), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt), or a Pajé, PICL or Alog file
    path: PathBuf,

    #[arg(long, value_name = "RANGE", value_parser = time_range, allow_hyphen_values = true, help = time_range_option::HELP)]
    interval: Option<OpenTimeRange>,

    /// Reports the efficiency of each occurrence of these values, such as iterations; the values
    /// are those of a state type for tasks (`--option tasks=TYPE`)
    #[arg(long, value_name = "NAME")]
    phase: Option<String>,

    /// Estimates the largest gain if states took less time: NAME may contain * and ?, PERCENT is
    /// from 0 to 100; can be repeated
    #[arg(long, value_name = "NAME=PERCENT", value_parser = shorter_states)]
    what_if: Vec<ShorterStates>,

    #[arg(long, value_name = "CATEGORY=NAME", value_parser = category, help = CATEGORY_HELP)]
    category: Vec<CategoryRule>,

    #[command(flatten)]
    stored_categories: StoredCategories,

    /// Selects the containers and states that are examined: level=TYPE (containers), states=TYPE,
    /// tasks=TYPE, several=any-busy|fractional (units with several children),
    /// stateless=idle|busy|overhead (times without a state)
    #[arg(long, value_name = "NAME=VALUE", value_parser = crate::option_values::category_option::name_value)]
    option: Vec<(String, String)>,

    /// The format of the report; csv needs --section [default: text]
    #[arg(long, value_enum)]
    format: Option<ReportFormat>,

    /// Prints this section only
    #[arg(long, value_name = "NAME", value_parser = section())]
    section: Option<DiagnosisSection>,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Keeps an index of the trace in this file, so that it opens at once the next time; `none`
    /// reads the trace into memory [default: automatic for large traces, see `tumit index --help`]
    #[arg(long, value_name = "PATH|none")]
    index: Option<PathBuf>,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    filters: FilterOptions,
}

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ReportFormat {
    /// For people
    Text,
    /// The table of a section, with times in seconds
    Csv,
    /// All numbers, with times in nanoseconds
    Json,
}

/// The parser of the name of a section.
fn section() -> impl TypedValueParser<Value = DiagnosisSection> {
    let words = DiagnosisSection::ALL.map(DiagnosisSection::word);
    PossibleValuesParser::new(words).map(|word| {
        let named = DiagnosisSection::ALL.into_iter().find(|section| section.word() == word);
        named.unwrap_or(DiagnosisSection::Overview)
    })
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    args.check_format()?;
    let chain = args.filters.chain(std::slice::from_ref(&args.path))?;
    let mut settings = ParsedOptions::parse_for_execution("diagnose", &args.option)?;
    let opened = args.run.open(&args.path, index_choice(args.index.as_ref()), tumit_viewer::open)?;
    let Some(source) = opened else { return Ok(ExitStatus::InputHasMistakes) };
    settings.categories = args.stored_categories.rules_before(source.as_ref(), &args.category);
    let summary = source.summary();
    let mut printed = PrintedDiagnostics::of(&summary);
    let filtered = args.filters.apply(&chain, Arc::clone(&source))?;
    let range = args.interval.map_or(Ok(filtered.extent()), |range| range.intersection(filtered.extent()))?;
    let execution = Execution::new(filtered, settings)?;
    CategoryTable::check_rules(execution.model(), &args.category).context("--category")?;
    let range = execution.range_of_contents(range);
    let phases = args.phase.as_ref().map_or(Ok(Vec::new()), |name| phases(&execution, name))?;
    let diagnosis = Diagnosis::new(&execution, range, &phases, &args.what_if)?;
    let text = args.text(&diagnosis, &summary.name)?;
    let mut out = term::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    printed.print_new(&source.summary());
    Ok(if summary.is_intact() { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

impl Args {
    fn format(&self) -> ReportFormat {
        self.format.unwrap_or(if self.json { ReportFormat::Json } else { ReportFormat::Text })
    }

    /// The format is checked before a long trace is read.
    fn check_format(&self) -> anyhow::Result<()> {
        if self.format() == ReportFormat::Csv && self.section.is_none() {
            let names = DiagnosisSection::ALL.map(DiagnosisSection::word).join(", ");
            bail!("--format csv prints the table of a section: add `--section NAME`; the sections are {names}");
        }
        if self.section == Some(DiagnosisSection::Phases) && self.phase.is_none() {
            bail!("--section phases needs the names of the phases: add `--phase 'step*'`");
        }
        if self.section == Some(DiagnosisSection::WhatIf) && self.what_if.is_empty() {
            bail!("--section what-if needs an assumed change: add `--what-if 'MPI_*=50'`");
        }
        Ok(())
    }

    /// The report in the requested format.
    fn text(&self, diagnosis: &Diagnosis, name: &str) -> anyhow::Result<String> {
        match (self.format(), self.section) {
            (ReportFormat::Csv, Some(section)) => Ok(chart_text::csv(&section.table(diagnosis))),
            (ReportFormat::Json, None) => {
                Ok(serde_json::to_string_pretty(diagnosis).context("the report cannot be written")? + "\n")
            }
            (ReportFormat::Json, Some(section)) => {
                let mut all = serde_json::to_value(diagnosis).context("the report cannot be written")?;
                if let Some(members) = all.as_object_mut() {
                    members.retain(|name, _| section.json_members().contains(&name.as_str()));
                }
                Ok(serde_json::to_string_pretty(&all).context("the report cannot be written")? + "\n")
            }
            (ReportFormat::Csv | ReportFormat::Text, section) => {
                let context = CommandContext::new(&ReportOptions {
                    path: &self.path,
                    interval: self.interval,
                    range: TimeRange { from: GlobalNanos(diagnosis.from), to: GlobalNanos(diagnosis.to) },
                    run: &self.run,
                    filters: &self.filters,
                    categories: &self.category,
                    options: &self.option,
                    phase: self.phase.as_deref(),
                    what_ifs: self.what_if.iter().map(what_if_text).collect(),
                });
                Ok(DiagnosisReport { diagnosis, name, context: &context }.text(section))
            }
        }
    }
}

/// The text of an assumed change, as [`shorter_states`] parses it.
fn what_if_text(change: &ShorterStates) -> String {
    format!("{}={}", change.values.as_str(), change.percent)
}

/// Parses `NAME=PERCENT`. A name may contain `=`.
fn shorter_states(text: &str) -> Result<ShorterStates, String> {
    let expected = "expected NAME=PERCENT, such as `MPI_*=50`";
    let (name, percent) = text.rsplit_once('=').ok_or(expected)?;
    let percent = percent.trim().trim_end_matches('%').trim_end();
    let Ok(number) = percent.parse::<f64>() else { return Err(format!("`{percent}` is no number; {expected}")) };
    if !(0.0..=100.0).contains(&number) {
        return Err(format!("{percent} % is not between 0 and 100 %"));
    }
    if name.trim().is_empty() {
        return Err(format!("the name before `=` is missing; {expected}"));
    }
    Ok(ShorterStates::new(NamePattern::new(name.trim()), number))
}
