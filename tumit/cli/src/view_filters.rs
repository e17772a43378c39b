//! Filters of an image or of statistics: options that several commands share.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tumit_viewer::filter::{ChainEntry, FilterChain, FilterExpr};
use tumit_viewer::query::TimelineSource;

use crate::term;

/// Filters of a trace.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct FilterOptions {
    /// Applies this filter to the trace, such as 'hide value Wait* of Activity'; several filters
    /// act in their order
    #[arg(long, value_name = "EXPRESSION", value_parser = filter, help_heading = "Filters")]
    filter: Vec<FilterExpr>,

    /// Applies the filters of this file (.tumit-view), before those of --filter
    #[arg(long, value_name = "FILE", help_heading = "Filters")]
    filters: Option<PathBuf>,

    /// Saves the filters of both options to this file (.tumit-view); a file with other contents is
    /// not replaced
    #[arg(long, value_name = "FILE", help_heading = "Filters")]
    save_filters: Option<PathBuf>,
}

/// A filter expression, as a value of an option. The error describes the expected form.
fn filter(text: &str) -> Result<FilterExpr, String> {
    text.parse().map_err(|error: tumit_viewer::filter::FilterError| error.to_string())
}

impl FilterOptions {
    /// Whether none of the options was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.filter.is_empty() && self.filters.is_none() && self.save_filters.is_none()
    }

    /// The arguments that give the same filters.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if let Some(path) = &self.filters {
            arguments.extend(["--filters".to_owned(), path.display().to_string()]);
        }
        self.filter.iter().for_each(|filter| arguments.extend(["--filter".to_owned(), filter.to_string()]));
        arguments
    }

    /// The filters of both options. They are read before a long trace.
    pub(crate) fn chain(&self, traces: &[PathBuf]) -> anyhow::Result<FilterChain> {
        // Filters that were saved for a private trace are private.
        traces.iter().for_each(|trace| tumit_converter::run::output_permissions::note_input(trace));
        let mut chain = self.filters.as_deref().map(FilterChain::read).transpose()?.unwrap_or_default();
        chain.filters.extend(self.filter.iter().cloned().map(ChainEntry::from));
        if let Some(path) = &self.save_filters {
            tumit_viewer::generated_file::FILTERS
                .write(path, &chain.to_text())
                .context("the filters were not saved")?;
        }
        Ok(chain)
    }

    /// Applies the filters to a trace. A filter of the file that names a missing element is
    /// reported and left out, because the file may be of another run. Such a filter of the command
    /// line is an error.
    pub(crate) fn apply(
        &self,
        chain: &FilterChain,
        source: Arc<dyn TimelineSource>,
    ) -> anyhow::Result<Arc<dyn TimelineSource>> {
        let typed = chain.filters.len() - self.filter.len();
        let (source, problems) = chain.apply_known(source);
        for problem in problems {
            if problem.filter_index >= typed {
                return Err(problem.error.into());
            }
            let file = self.filters.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            term::note(&format!("tumit: {file}: ignored {problem}"));
        }
        Ok(source)
    }
}
