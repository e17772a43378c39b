//! The corrected timestamps of a run without its Pajé operations.

use crate::clock::{CausalityReport, CorrectionMethod, RunClocks, TimestampMap};
use crate::convert::job::ConversionJob;
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::convert::planning::plan::{ConversionSetup, plan};
use crate::rules::ActionOp;
use crate::run::OpenRun;
use tumit_paje::TraceDiagnostic;

/// The corrected timestamps of a run.
pub(crate) struct CorrectedTimestamps {
    /// The correction of each stream.
    pub(crate) timestamp_maps: Vec<TimestampMap>,
    pub(crate) clocks: RunClocks,
    pub(crate) causality: Option<CausalityReport>,
    /// Warnings that the clocks do not contain.
    pub(crate) diagnostics: Vec<TraceDiagnostic>,
}

impl CorrectedTimestamps {
    /// Errors of the clocks, the samples and the order of links.
    pub(crate) fn errors(&self) -> Vec<TraceDiagnostic> {
        let of_order = self.causality.map(|report| report.errors(&self.clocks)).unwrap_or_default();
        self.clocks.errors().into_iter().chain(of_order).collect()
    }
}

/// Corrects the timestamps of a run by the links of its rules for Pajé, for outputs without links.
/// `None` if the rules have no links or no correction is requested.
pub(crate) fn corrected_timestamps(
    run: &OpenRun,
    options: &ConvertOptions,
) -> Result<Option<CorrectedTimestamps>, ConvertError> {
    let options = ConvertOptions { output: None, progress: None, ..options.clone() };
    let mut job = ConversionJob::new(run, &options);
    // Processes with one clock id can turn out to have different clocks.
    if !options.has_causal_pass && (options.clock != CorrectionMethod::Graph || job.clocks.domain_of.len() < 2) {
        return Ok(None);
    }
    let ConversionSetup { mut plan, mut model, mut symbols } = plan(run, &options, &mut job.clocks, &mut Vec::new())?;
    let mut actions = plan.programs.iter().flat_map(|program| &program.actions);
    if !actions.any(|action| matches!(action.op, ActionOp::Link { .. })) {
        return Ok(None);
    }
    job.survey(&mut plan, &mut model, &mut symbols)?;
    let ConversionJob { clocks, causality, diagnostics, .. } = job;
    Ok(Some(CorrectedTimestamps { timestamp_maps: plan.timestamp_maps, clocks, causality, diagnostics }))
}
