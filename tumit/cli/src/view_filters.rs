//! Filters of a picture or of statistics: the options that commands share.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tumit_viewer::filter::{Chain, Entry, Filter, Part};
use tumit_viewer::query::TimelineSource;

use crate::term;

/// What to make of a trace before it is shown.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct ViewFilters {
    /// Filters what is shown, as in 'hide value Wait* of Activity'; several act in turn
    #[arg(long, value_name = "EXPRESSION", value_parser = filter, help_heading = "Filters")]
    filter: Vec<Filter>,

    /// Filters what is shown by the filters of this file (.tumit-view), before those of --filter
    #[arg(long, value_name = "FILE", help_heading = "Filters")]
    filters: Option<PathBuf>,

    /// Keeps the filters of both options in this file (.tumit-view). A file that holds something
    /// else is left alone
    #[arg(long, value_name = "FILE", help_heading = "Filters")]
    save_filters: Option<PathBuf>,
}

/// A wrong interval, too.
pub(crate) fn interval(text: &str) -> Result<Part, String> {
    text.parse().map_err(|expected: String| format!("expected {expected}"))
}

/// A time, as a value of an option.
pub(crate) fn time(text: &str) -> Result<i64, String> {
    tumit_viewer::text::time::parse(text).map_err(|expected| format!("expected {expected}"))
}

/// A wrong expression is told with what could have been written.
fn filter(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|error: tumit_viewer::filter::FilterError| error.to_string())
}

impl ViewFilters {
    /// Whether none of the options was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter.is_empty() && self.filters.is_none() && self.save_filters.is_none()
    }

    /// The filters of both options; read before a long trace is.
    pub(crate) fn chain(&self, traces: &[PathBuf]) -> anyhow::Result<Chain> {
        // Filters that were saved from a private trace are private.
        traces.iter().for_each(|trace| tumit_converter::run::output_permissions::note_input(trace));
        let mut chain = self.filters.as_deref().map(Chain::read).transpose()?.unwrap_or_default();
        chain.filters.extend(self.filter.iter().cloned().map(Entry::from));
        if let Some(path) = &self.save_filters {
            tumit_viewer::generated_file::FILTERS.write(path, &chain.to_text()).context("the filters were not kept")?;
        }
        Ok(chain)
    }

    /// Puts them around a trace. One of the file that names what this trace has not is told and left out: the file may be of another
    /// run. One of the command line is a mistake.
    pub(crate) fn apply(
        &self,
        chain: &Chain,
        source: Arc<dyn TimelineSource>,
    ) -> anyhow::Result<Arc<dyn TimelineSource>> {
        let typed = chain.filters.len() - self.filter.len();
        let (source, problems) = chain.apply_known(source);
        for problem in problems {
            if problem.at >= typed {
                return Err(problem.error.into());
            }
            let file = self.filters.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            term::note(&format!("tumit: {file}: left out {problem}"));
        }
        Ok(source)
    }
}
