//! `tumit profile`: shows calls, total and self time of states, and their call tree.

mod difference_report;
mod phase_report;
mod report;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use tumit_perspectives::execution::categories::CategoryTable;
use tumit_profile::call_tree::{CallTree, ROOT};
use tumit_profile::difference::ProfileDifference;
use tumit_profile::flame_graph::{FlameGraphOptions, difference_flame_graph, flame_graph};
use tumit_profile::formats;
use tumit_profile::phases::PhaseList;
use tumit_profile::profile::{Profile, state_types};
use tumit_profile::value_names::ValueGroups;
use tumit_viewer::export::{self, ImageFormat};
use tumit_viewer::filter::{FilterChain, NamePattern};
use tumit_viewer::query::{GlobalNanos, OpenTimeRange, TimeRange, TimelineSource, TypeId};
use tumit_viewer::style::theme::ThemeKind;
use tumit_viewer::text::time_display::{duration, timestamp};

use super::exit_status::ExitStatus;
use crate::option_values::time_range_option::{self, time_range};
use crate::output_file::OutputFile;
use crate::printed_diagnostics::PrintedDiagnostics;
use crate::progress::ProgressDisplay;
use crate::run_options::{RunOptions, index_choice};
use crate::stored_categories::StoredCategories;
use crate::term;
use crate::view_filters::FilterOptions;
use difference_report::difference_report;
use phase_report::{phase_csv, phase_json, phase_text};
use report::{ReportSettings, report};

/// Shows the profile of a trace: calls, total and self time per value, and the call tree
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  tumit profile run.tmt                                    values by self time, and the call tree
  tumit profile run.tmt --type Function --tree bottom-up   who calls the functions that take the time
  tumit profile run.tmt --group 'MPI_*' --interval 0.2..   all MPI calls as one value, from 0.2 s on
  tumit profile run.tmt --group-by category                busy, overhead and idle time
  tumit profile run.tmt --filter 'only container Node 1'   one node
  tumit profile run.tmt -o flame.svg                       a flame graph; also .png
  tumit profile before.tmt --compare after.tmt             what has become slower; -o FILE.svg draws it
  tumit profile run.tmt --phase 'step*'                    each iteration: duration, imbalance, outliers
  tumit profile run.tmt --format folded | flamegraph.pl    for other tools
  tumit profile run.tmt --format speedscope -o run.json    for https://www.speedscope.app

A state is a call of its value; a state inside of another one is called by it. Total time is the time during which a call is open,
and a recursive call adds nothing. Self time counts a call only while no call inside of it is open. Shares refer to the lifetime of
the containers within the time range. Durations (shortest, mean, median, longest) are those of whole calls; the median of
more than 4,096 calls has an error of at most 0.8 %. Imbalance is the largest total time of a container divided by the mean over the
containers.
In the bottom-up tree, callers are below the calls, and share their self time.
CSV has times in seconds, JSON in nanoseconds.
Exit status: 0 success, 1 the trace has dropped, missing or damaged data, or errors (the rest was counted), 2 could not run.")]
pub(crate) struct Args {
    /// A run folder (NAME.tmt), or a Pajé file of any tool
    path: PathBuf,

    #[arg(long, value_name = "RANGE", value_parser = time_range, allow_hyphen_values = true, help = time_range_option::HELP)]
    interval: Option<OpenTimeRange>,

    /// Compares the trace with another one: the other is `after`, this one is `before`
    #[arg(long, value_name = "TRACE")]
    compare: Option<PathBuf>,

    /// Lists the occurrences of these values, such as iterations, instead of the profile: the n-th
    /// occurrences of all containers are the n-th phase
    #[arg(long, value_name = "NAME", conflicts_with_all = ["compare", "group", "group_by", "tree"])]
    phase: Option<String>,

    /// The state types, with * and ? [default: all]
    #[arg(long = "type", value_name = "NAME")]
    state_type: Option<String>,

    /// Sums up the values that match this pattern, such as 'MPI_*'; can be repeated
    #[arg(long, value_name = "PATTERN", conflicts_with = "group_by")]
    group: Vec<String>,

    /// Sums up values by a property
    #[arg(long, value_enum, value_name = "PROPERTY")]
    group_by: Option<GroupChoice>,

    /// The call tree of a text or an image [default: top-down for nested states, otherwise none]
    #[arg(long, value_enum, value_name = "DIRECTION")]
    tree: Option<TreeChoice>,

    /// The smallest part of the time in a line of the tree, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0, value_parser = percent)]
    min_share: f64,

    /// The format of the result [default: that of the file name, otherwise text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<ProfileFormat>,

    /// The same as --format csv
    #[arg(long, conflicts_with = "format")]
    csv: bool,

    /// The same as --format json
    #[arg(long, conflicts_with_all = ["format", "csv"])]
    json: bool,

    /// Writes the result to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// The width of an image, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(100..=20_000))]
    width: u32,

    #[command(flatten)]
    stored_categories: StoredCategories,

    /// Keeps an index of the trace in this file, so that it opens at once the next time; `none`
    /// reads the trace into memory [default: automatic for large traces, see `tumit index --help`]
    #[arg(long, value_name = "PATH|none")]
    index: Option<PathBuf>,

    #[command(flatten)]
    run: RunOptions,

    #[command(flatten)]
    filters: FilterOptions,
}

/// The property by which values are summed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GroupChoice {
    /// The part of the name before the first of _ : . / and blank
    Prefix,
    /// Busy, overhead or idle
    Category,
}

/// The direction of a call tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum TreeChoice {
    /// Below each value are the values that it calls
    TopDown,
    /// Below each value are its callers
    BottomUp,
    /// No tree
    None,
}

/// The format of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ProfileFormat {
    /// For people
    Text,
    /// A row per value
    Csv,
    /// All numbers, and the call tree
    Json,
    /// Lines of stacks and self times, for flamegraph.pl and others
    Folded,
    /// For speedscope
    Speedscope,
    /// A flame graph
    Svg,
    /// A flame graph
    Png,
}

/// Maximum number of values in an error message.
const MAX_LISTED_VALUES: usize = 12;
/// Steps of the progress of one state type.
const PROGRESS_STEPS: u64 = 1000;
/// Maximum length of the chains of callers in a bottom-up tree.
const MAX_CALLERS: u32 = 64;

fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .trim()
        .trim_end_matches('%')
        .trim_end()
        .parse::<f64>()
        .map_err(|_error| "expected a number from 0 to 100")?;
    if (0.0..=100.0).contains(&number) { Ok(number) } else { Err("expected a number from 0 to 100".to_owned()) }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<ExitStatus> {
    let format = args.format()?;
    let mut traces = vec![args.path.clone()];
    traces.extend(args.compare.clone());
    let chain = args.filters.chain(&traces)?;
    let mut profiled = Vec::new();
    for path in &traces {
        let Some(trace) = args.profiled_trace(path, &chain)? else { return Ok(ExitStatus::InputHasMistakes) };
        profiled.push(trace);
    }
    let bytes = match profiled.as_slice() {
        [before, after] => args.difference_bytes(before, after, format)?,
        [ProfiledTrace { phases: Some(phases), source, name, .. }, ..] => match format {
            ProfileFormat::Csv => phase_csv(source.as_ref(), phases),
            ProfileFormat::Json => phase_json(source.as_ref(), phases),
            _ => phase_text(source.as_ref(), name, phases),
        }
        .into_bytes(),
        [trace, ..] => args.bytes(trace, format)?,
        [] => Vec::new(),
    };
    args.write(&bytes)?;
    let mut is_intact = true;
    for trace in &mut profiled {
        let summary = trace.source.summary();
        trace.printed.print_new(&summary);
        is_intact &= summary.is_intact();
    }
    Ok(if is_intact { ExitStatus::Done } else { ExitStatus::InputHasMistakes })
}

/// A trace and its profiles.
struct ProfiledTrace {
    name: String,
    source: Arc<dyn TimelineSource>,
    profiles: Vec<Profile>,
    /// The phases, if the user requests them instead of the profiles.
    phases: Option<PhaseList>,
    printed: PrintedDiagnostics,
}

impl ProfiledTrace {
    fn type_name(&self, profile: &Profile) -> String {
        self.source.model().types.get(profile.ty.index()).map(|info| info.name.clone()).unwrap_or_default()
    }

    /// The profiles of the state types that both traces have, by their names.
    fn differences(&self, after: &Self) -> Vec<(String, ProfileDifference)> {
        let named =
            |trace: &Self| -> Vec<String> { trace.profiles.iter().map(|profile| trace.type_name(profile)).collect() };
        let names_after = named(after);
        let pairs = self.profiles.iter().zip(named(self)).filter_map(|(before, name)| {
            let index = names_after.iter().position(|other| *other == name)?;
            Some((name, ProfileDifference::new(before, &after.profiles[index])))
        });
        pairs.collect()
    }
}

/// The profiles of some state types. Long work shows its progress.
fn profiles(
    source: &dyn TimelineSource,
    types: &[TypeId],
    range: TimeRange,
    groups: &ValueGroups,
) -> anyhow::Result<Vec<Profile>> {
    let display = ProgressDisplay::new("the states");
    let callback = display.callback();
    let profile = |(index, &ty): (usize, &TypeId)| {
        let report = |share: f64| {
            if let Some(callback) = &callback {
                let finished = index as u64 * PROGRESS_STEPS + (share * PROGRESS_STEPS as f64) as u64;
                callback(finished, types.len() as u64 * PROGRESS_STEPS);
            }
        };
        Ok(Profile::new(source, ty, range, groups, &report)?)
    };
    types.iter().enumerate().map(profile).collect()
}

/// The occurrences of the values with a name.
fn phases(source: &dyn TimelineSource, types: &[TypeId], range: TimeRange, name: &str) -> anyhow::Result<PhaseList> {
    let list = PhaseList::new(source, types, range, &NamePattern::new(name))?;
    if list.phases.is_empty() {
        let model = source.model();
        let mut known: Vec<&str> =
            model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        known.truncate(MAX_LISTED_VALUES);
        bail!("--phase: no state is called `{name}` in this time range; the trace has {}", known.join(", "));
    }
    Ok(list)
}

impl Args {
    /// Opens a trace and computes its profiles. `None` if `--strict` rejects it.
    fn profiled_trace(&self, path: &Path, chain: &FilterChain) -> anyhow::Result<Option<ProfiledTrace>> {
        let opened = self.run.open(path, index_choice(self.index.as_ref()), tumit_viewer::open)?;
        let Some(source) = opened else { return Ok(None) };
        let summary = source.summary();
        let printed = PrintedDiagnostics::of(&summary);
        let rules = self.stored_categories.rules_before(source.as_ref(), &[]);
        let source = self.filters.apply(chain, source)?;
        let extent = source.extent();
        let mut range = self.interval.map_or(Ok(extent), |range| range.intersection(extent))?;
        // A trace without duration counts as its first nanosecond.
        range.to = range.to.max(GlobalNanos(range.from.0.saturating_add(1)));
        let groups = match self.group_by {
            Some(GroupChoice::Prefix) => ValueGroups::Prefix,
            Some(GroupChoice::Category) => ValueGroups::Category(CategoryTable::new(&source.model(), &rules)),
            None if self.group.is_empty() => ValueGroups::None,
            None => ValueGroups::Patterns(self.group.iter().map(NamePattern::new).collect()),
        };
        let types = self.types(source.as_ref())?;
        let phases = self.phase.as_ref().map(|name| phases(source.as_ref(), &types, range, name)).transpose()?;
        let profiles = match phases {
            Some(_) => Vec::new(),
            None => profiles(source.as_ref(), &types, range, &groups)?,
        };
        Ok(Some(ProfiledTrace { name: summary.name, source, profiles, phases, printed }))
    }

    /// Writes the result to the output file or to standard output.
    fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let Some(path) = &self.output else {
            let mut out = term::stdout();
            out.write_all(bytes)?;
            out.flush()?;
            return Ok(());
        };
        let file = OutputFile::create(path)?;
        (&file).write_all(bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
        file.finish()
    }

    /// The format, from the options or the name of the output file. It is checked before a long
    /// trace is read.
    fn format(&self) -> anyhow::Result<ProfileFormat> {
        let extension = self.output.as_ref().and_then(|path| path.extension()).map(|text| text.to_string_lossy());
        let named = match extension.as_deref().map(str::to_lowercase).as_deref() {
            Some("csv") => Some(ProfileFormat::Csv),
            Some("json") => Some(ProfileFormat::Json),
            Some("folded") => Some(ProfileFormat::Folded),
            Some("svg") => Some(ProfileFormat::Svg),
            Some("png") => Some(ProfileFormat::Png),
            _ => None,
        };
        let chosen = match (self.csv, self.json) {
            (true, _) => Some(ProfileFormat::Csv),
            (_, true) => Some(ProfileFormat::Json),
            _ => self.format,
        };
        let format = chosen.or(named).unwrap_or(ProfileFormat::Text);
        if matches!(format, ProfileFormat::Svg | ProfileFormat::Png) && self.tree == Some(TreeChoice::None) {
            bail!("an image shows a tree: omit `--tree none`");
        }
        if format == ProfileFormat::Png && self.output.is_none() {
            bail!("--format png writes an image: name its file by `-o FILE.png`");
        }
        if format == ProfileFormat::Speedscope && self.compare.is_some() {
            bail!("speedscope shows one trace: omit `--compare`, or choose another format");
        }
        if self.tree == Some(TreeChoice::BottomUp) && self.compare.is_some() {
            bail!("--compare shows calls top-down: omit `--tree bottom-up`");
        }
        let is_table = matches!(format, ProfileFormat::Text | ProfileFormat::Csv | ProfileFormat::Json);
        if self.phase.is_some() && !is_table {
            bail!("--phase prints a table: choose `--format text`, `csv` or `json`");
        }
        if self.index.is_some() && self.compare.is_some() {
            bail!("--index names the index of one trace, but --compare opens two: omit `--index`");
        }
        Ok(format)
    }

    /// The state types that the user chooses.
    fn types(&self, source: &dyn TimelineSource) -> anyhow::Result<Vec<TypeId>> {
        let all = state_types(source);
        let Some(name) = &self.state_type else { return Ok(all) };
        let model = source.model();
        let type_name = |ty: TypeId| model.types.get(ty.index()).map_or("", |info| info.name.as_str());
        let pattern = NamePattern::new(name);
        let chosen: Vec<TypeId> = all.iter().copied().filter(|&ty| pattern.fits(type_name(ty))).collect();
        if chosen.is_empty() {
            let names: Vec<&str> = all.iter().map(|&ty| type_name(ty)).collect();
            let names = if names.is_empty() { "no states".to_owned() } else { names.join(", ") };
            bail!("--type: no state type is called `{name}`; the trace has {names}");
        }
        Ok(chosen)
    }

    /// The result for one trace.
    fn bytes(&self, trace: &ProfiledTrace, format: ProfileFormat) -> anyhow::Result<Vec<u8>> {
        let ProfiledTrace { name, source, profiles, .. } = trace;
        let source = source.as_ref();
        Ok(match format {
            ProfileFormat::Text => {
                let settings = ReportSettings { trace: name, min_share: self.min_share / 100.0 };
                report(source, profiles, &settings, |profile| self.shown_tree(profile)).into_bytes()
            }
            ProfileFormat::Csv => formats::csv(source, profiles).into_bytes(),
            ProfileFormat::Json => formats::json(source, name, profiles).into_bytes(),
            ProfileFormat::Folded => formats::folded(profiles).into_bytes(),
            ProfileFormat::Speedscope => formats::speedscope(source, name, profiles).into_bytes(),
            ProfileFormat::Svg => self.image(trace, ImageFormat::Svg)?,
            ProfileFormat::Png => self.image(trace, ImageFormat::Png)?,
        })
    }

    /// The result for two traces.
    fn difference_bytes(
        &self,
        before: &ProfiledTrace,
        after: &ProfiledTrace,
        format: ProfileFormat,
    ) -> anyhow::Result<Vec<u8>> {
        let differences = before.differences(after);
        if differences.is_empty() {
            bail!("{} and {} have no state type of the same name", before.name, after.name);
        }
        let names = [before.name.as_str(), after.name.as_str()];
        let image = |format: ImageFormat| {
            let deepest = differences.iter().max_by_key(|(_, difference)| image_priority(&difference.tree_after));
            let Some((ty, difference)) = deepest else { bail!("{} has no states", after.name) };
            let options = FlameGraphOptions {
                title: format!("{ty}: {} compared with {}", after.name, before.name),
                subtitle: "orange: more time, blue: less time, grey: less than 5 % change".to_owned(),
                width: self.width as f32,
                theme: ThemeKind::Light,
            };
            Ok(export::encode(&difference_flame_graph(difference, &options), format, 1.0)?)
        };
        Ok(match format {
            ProfileFormat::Text => {
                let has_tree = |difference: &ProfileDifference| match self.tree {
                    None => is_nested(&difference.tree_after),
                    Some(choice) => choice != TreeChoice::None,
                };
                difference_report(names, &differences, self.min_share / 100.0, has_tree).into_bytes()
            }
            ProfileFormat::Csv => formats::difference_csv(&differences).into_bytes(),
            ProfileFormat::Json => formats::difference_json(names, &differences).into_bytes(),
            ProfileFormat::Folded => formats::difference_folded(&differences).into_bytes(),
            ProfileFormat::Speedscope => bail!("speedscope shows one trace"),
            ProfileFormat::Svg => image(ImageFormat::Svg)?,
            ProfileFormat::Png => image(ImageFormat::Png)?,
        })
    }

    /// The tree to show, and its direction.
    fn shown_tree(&self, profile: &Profile) -> Option<(CallTree, &'static str)> {
        match self.tree {
            None if is_nested(&profile.tree) => Some((profile.tree.clone(), "top-down")),
            Some(TreeChoice::TopDown) => Some((profile.tree.clone(), "top-down")),
            Some(TreeChoice::BottomUp) => Some((profile.tree.bottom_up(MAX_CALLERS), "bottom-up")),
            None | Some(TreeChoice::None) => None,
        }
    }

    /// The flame graph of one state type.
    fn image(&self, trace: &ProfiledTrace, format: ImageFormat) -> anyhow::Result<Vec<u8>> {
        let Some(profile) = trace.profiles.iter().max_by_key(|profile| image_priority(&profile.tree)) else {
            bail!("{} has no states", trace.name)
        };
        let (tree, direction) = self.shown_tree(profile).unwrap_or_else(|| (profile.tree.clone(), "top-down"));
        let TimeRange { from, to } = profile.time_range;
        let length = to.0.saturating_sub(from.0);
        let noun = if profile.containers == 1 { "container" } else { "containers" };
        let options = FlameGraphOptions {
            title: format!("{}: {}", trace.name, trace.type_name(profile)),
            subtitle: format!(
                "{} {noun}, {} from {}, {direction}",
                profile.containers,
                duration(length),
                timestamp(from, (length / 1000).max(1))
            ),
            width: self.width as f32,
            theme: ThemeKind::Light,
        };
        Ok(export::encode(&flame_graph(&tree, &profile.names, &options), format, 1.0)?)
    }
}

fn is_nested(tree: &CallTree) -> bool {
    tree.nodes().iter().any(|node| node.depth > 1)
}

/// An image shows the state type with the largest priority: nested states before others, then those
/// with the most time.
fn image_priority(tree: &CallTree) -> (bool, i128) {
    (is_nested(tree), tree.nodes()[ROOT].total)
}
