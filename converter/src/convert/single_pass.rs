//! A conversion in one pass, for sinks that can discard their input ([`PajeSink::can_restart`]).
//!
//! The facts that a first pass would find are found on the way or corrected at the end
//! ([`SinglePassState`]). If this fails, the sink discards everything and the run is converted in
//! two passes. The result always equals that of two passes. The rules and the clocks determine
//! whether one pass is worth trying.

use super::first_pass::survey::FirstPassResult;
use super::job::ConversionJob;
use super::options::ConvertError;
use super::paje_pass::{PajePassResult, PassRequirements, run_paje_pass};
use super::planning::plan::ConversionPlan;
use super::second_pass::SinglePassState;
use crate::clock::{CausalityReport, CorrectionMethod};
use crate::report::ConversionReport;
use crate::rules::{ActionOp, ProgramAction, RecordProgram, RuleModel, Symbols};
use tumit_paje::PajeSink;

/// Whether one pass may be sufficient. A first pass would only find link endpoints and values, and
/// no timestamp would be changed.
pub(crate) fn is_possible(job: &ConversionJob<'_>, plan: &ConversionPlan<'_>, model: &RuleModel) -> bool {
    let has_one_clock = job.options.clock != CorrectionMethod::Graph || job.clocks.domains.len() < 2;
    // The first pass finds the begins and ends of their parts.
    let corrects_order = job.options.has_causal_pass || job.options.clock == CorrectionMethod::Graph;
    let is_plain = |action: &ProgramAction| match &action.op {
        _ if action.collective.is_some() && corrects_order => false,
        // The fields give the container its name. The name must be known earlier, because the
        // container may be used before it is created.
        ActionOp::Create { .. } => action.fields.is_empty(),
        ActionOp::Link { link, .. } => !model.links[*link].is_partial && model.links[*link].variants.len() == 1,
        _ => true,
    };
    let mut actions = plan.programs.iter().flat_map(|program| &program.actions);
    plan.programs.iter().any(RecordProgram::is_surveyed)
        && !plan.programs.iter().any(|program| program.sets_timestamps)
        && actions.all(is_plain)
        && has_one_clock
        && !job.run.may_have_gaps()
}

/// Converts in one pass. `None` if two passes are needed. The operations that were sent are then
/// void.
pub(crate) fn convert(
    mut job: ConversionJob<'_>,
    plan: &ConversionPlan<'_>,
    model: &RuleModel,
    symbols: &mut Symbols,
    sink: &mut dyn PajeSink,
) -> Result<Option<ConversionReport>, ConvertError> {
    job.total = plan.records();
    let is_graph = job.options.clock == CorrectionMethod::Graph;
    let (mut survey, once) =
        (FirstPassResult::default(), SinglePassState::new(job.options.has_causal_pass || is_graph));
    let requirements = PassRequirements {
        floors: vec![None; plan.streams.len()],
        single_pass: Some(once),
        keeps_open_links: sink.keeps_open_links(),
    };
    let outcome = run_paje_pass(&mut job, plan, model, &mut survey, symbols, requirements, sink)?;
    let Some(PajePassResult { counts, end }) = outcome else { return Ok(None) };
    job.counts.links = counts.links;
    job.counts.unmatched_starts = counts.unmatched_starts;
    job.counts.unmatched_ends = counts.unmatched_ends;
    // All links end after they start, so there was nothing to correct.
    if counts.links > 0 {
        job.reversed_by_samples = (is_graph && job.clocks.domain_of.len() > 1).then_some(0);
        job.causality = job.options.has_causal_pass.then(|| CausalityReport::of_forward(counts.links));
    }
    job.note_reversed(counts.reversed_links);
    Ok(Some(job.report(counts, end)))
}
