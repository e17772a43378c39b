//! The corrected timestamps of a run without its Pajé operations.

use super::job::Job;
use crate::clock::{Causality, Clocks, Fine, Method};
use crate::options::{ConvertError, Options};
use crate::plan::plan;
use crate::rules::Op;
use crate::run::Run;

/// The dates of a run by its links.
pub(crate) struct FineDates {
    /// By stream.
    pub(crate) fines: Vec<Fine>,
    pub(crate) clocks: Clocks,
    pub(super) causality: Option<Causality>,
    pub(crate) remarks: Vec<String>,
}

impl FineDates {
    /// What is wrong with the clocks, the samples or the order of links: one sentence each.
    pub(crate) fn faults(&self) -> Vec<String> {
        let of_order = self.causality.map(|found| found.faults(&self.clocks)).unwrap_or_default();
        self.clocks.faults().into_iter().chain(of_order).collect()
    }
}

/// What the links of the rules for Pajé say of the dates of a run, for outputs that have no links themselves. `None` when
/// there are no such rules, or nothing is wanted of them.
pub(crate) fn fine_dates(run: &Run, options: &Options) -> Result<Option<FineDates>, ConvertError> {
    let options = Options { output: None, progress: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    // Processes that say to have one clock may turn out to have several.
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
