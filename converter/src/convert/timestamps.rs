//! The corrected timestamps of a run without its Pajé operations.

use super::job::Job;
use super::options::{ConvertError, Options};
use super::plan::plan;
use crate::clock::{Causality, Clocks, Fine, Method};
use crate::rules::Op;
use crate::run::Run;

/// The corrected timestamps of a run.
pub(crate) struct FineDates {
    /// The correction of each stream.
    pub(crate) fines: Vec<Fine>,
    pub(crate) clocks: Clocks,
    pub(crate) causality: Option<Causality>,
    pub(crate) remarks: Vec<String>,
}

impl FineDates {
    /// Faults of the clocks, the samples and the order of links, one sentence each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let of_order = self.causality.map(|found| found.faults(&self.clocks)).unwrap_or_default();
        self.clocks.faults().into_iter().chain(of_order).collect()
    }
}

/// Corrects the timestamps of a run by the links of its rules for Pajé, for outputs without links.
/// `None` if the rules have no links or no correction is requested.
pub(crate) fn fine_dates(run: &Run, options: &Options) -> Result<Option<FineDates>, ConvertError> {
    let options = Options { output: None, progress: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    // Processes with one clock id can turn out to have different clocks.
    if !options.causal && (options.clock != Method::Graph || job.clocks.domain_of.len() < 2) {
        return Ok(None);
    }
    let (mut plan, mut model, mut symbols) = plan(run, &options, &mut job.clocks, &mut Vec::new())?;
    let mut arrows = plan.programs.iter().flat_map(|program| &program.arrows);
    if !arrows.any(|arrow| matches!(arrow.op, Op::Link { .. })) {
        return Ok(None);
    }
    job.survey(&mut plan, &mut model, &mut symbols)?;
    let Job { clocks, causality, remarks, .. } = job;
    Ok(Some(FineDates { fines: plan.fines, clocks, causality, remarks }))
}
