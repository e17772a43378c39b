//! Selection of the records of a run: options that several commands share.

use std::collections::BTreeSet;

use anyhow::bail;
use tumit::diagnostics::did_you_mean;
use tumit_converter::run::OpenRun;
use tumit_converter::run::StreamInRun;
use tumit_converter::tools::dump::RecordSelection;
use tumit_paje::time_range::OpenTimeRange;

use crate::option_values::time_range_option::{self, time_range};
use crate::text_table;

/// The filters. A record passes if it matches one value of each given filter.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct RecordFilters {
    /// Only records of this event or span; upper and lower case are equal
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,

    /// Only records of threads with this name, label or thread id
    #[arg(long, value_name = "NAME")]
    thread: Vec<String>,

    /// Only records of the process with this rank, and of its children; of the process with this
    /// pid if no rank matches; or of the process with both, as RANK/PID
    #[arg(long, value_name = "RANK|PID|RANK/PID")]
    process: Vec<String>,

    /// Only records of this level; upper and lower case are equal
    #[arg(long, value_name = "LEVEL")]
    level: Vec<String>,

    #[arg(long = "interval", value_name = "RANGE", value_parser = time_range, allow_hyphen_values = true, help = time_range_option::HELP)]
    time_ranges: Vec<OpenTimeRange>,
}

impl RecordFilters {
    /// Whether there are no filters. All records then pass.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { event, thread, process, level, time_ranges } = self;
        event.is_empty() && thread.is_empty() && process.is_empty() && level.is_empty() && time_ranges.is_empty()
    }

    /// The filters in the form of the library. A level or event that no spec of the run has is a
    /// mistake, not an empty result. So is a process or thread that the run does not have.
    pub(crate) fn selection(&self, run: &OpenRun) -> anyhow::Result<RecordSelection> {
        let schemas = || run.processes.iter().flat_map(|process| &process.providers).map(|provider| &provider.schema);
        let levels: BTreeSet<&str> =
            schemas().flat_map(|schema| &schema.levels).map(|level| level.name.as_str()).collect();
        let events: BTreeSet<&str> =
            schemas().flat_map(|schema| &schema.records).map(|kind| kind.name.as_str()).collect();
        for name in &self.level {
            let level_name = name.rsplit('.').next().unwrap_or(name);
            if !levels.iter().any(|level| level.eq_ignore_ascii_case(level_name)) {
                bail!("no spec of this run has a level `{name}`{}", suggest_name(level_name, &levels));
            }
        }
        let spans = events.iter().filter_map(|event| event.split_once('.')).map(|(span, _)| span);
        let events: BTreeSet<&str> = events.iter().copied().chain(spans).collect();
        let has_event = |name: &String| events.iter().any(|event| event.eq_ignore_ascii_case(name));
        if let Some(name) = self.event.iter().find(|name| !has_event(name)) {
            bail!("no spec of this run has an event `{name}`{}", suggest_name(name, &events));
        }
        self.check_processes(run)?;
        let mut selection = RecordSelection::default();
        selection.levels.clone_from(&self.level);
        selection.events.clone_from(&self.event);
        selection.processes.clone_from(&self.process);
        selection.threads.clone_from(&self.thread);
        selection.times.clone_from(&self.time_ranges);
        Ok(selection)
    }
}

impl RecordFilters {
    fn check_processes(&self, run: &OpenRun) -> anyhow::Result<()> {
        if let Some(name) = self.process.iter().find(|name| run.processes_named(name).is_empty()) {
            let names = (0..run.processes.len()).map(|process| run.process_name(process));
            bail!("this run has no process `{name}`; its processes are {}", list_names(names));
        }
        let mut processes: Vec<usize> = self.process.iter().flat_map(|name| run.processes_named(name)).collect();
        if self.process.is_empty() {
            processes = (0..run.processes.len()).collect();
        }
        let streams = || processes.iter().flat_map(|process| &run.processes[*process].streams);
        if let Some(name) = self.thread.iter().find(|name| !streams().any(|stream| stream.is_called(name))) {
            let subject = if self.process.is_empty() { "this run has" } else { "these processes have" };
            let names: BTreeSet<String> = streams().map(StreamInRun::thread_name).collect();
            match did_you_mean(name, names.iter().map(String::as_str)) {
                Some(help) => bail!("{subject} no thread `{name}`; {help}"),
                None => bail!("{subject} no thread `{name}`; the threads are {}", list_names(names.into_iter())),
            }
        }
        Ok(())
    }
}

/// The first of these names, as a list.
fn list_names(names: impl Iterator<Item = String>) -> String {
    const MAX_LISTED: usize = 8;
    let names: Vec<String> = names.collect();
    let first =
        names.iter().take(MAX_LISTED).map(|name| text_table::printable_name(name)).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 if names.is_empty() => "none".to_owned(),
        0 => first,
        more => format!("{first} and {more} more; `tumit info --all` lists them"),
    }
}

/// A suggestion for a mistyped name.
fn suggest_name(name: &str, names: &BTreeSet<&str>) -> String {
    did_you_mean(name, names.iter().copied()).map_or_else(String::new, |help| format!("; {help}"))
}
