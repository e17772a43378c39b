//! One pass, where two are not needed: for sinks that can take back what they took ([`Sink::can_begin_anew`]).
//!
//! What the first of two passes finds is found on the way or put right at the end ([`Once`]). Where that turns out not to be enough, all that was
//! sent is taken back, and the run is converted in two passes: what comes out is always what two passes make. Whether it is worth trying is
//! seen from the rules and from the clocks.

use super::first_pass::survey::Survey;
use super::job::Job;
use super::options::ConvertError;
use super::paje_pass::make;
use super::plan::Plan;
use super::second_pass::Once;
use crate::clock::{Causality, Method};
use crate::report::Report;
use crate::rules::{Arrow, Model, Op, Program, Symbols};
use tumit_paje::Sink;

/// Whether one pass may do: a first one would be there for the ends of links and for values alone, and no date would be moved.
pub(crate) fn is_possible(job: &Job<'_>, plan: &Plan<'_>, model: &Model) -> bool {
    let has_one_clock = job.options.clock != Method::Graph || job.clocks.domains.len() < 2;
    let is_plain = |arrow: &Arrow| match &arrow.op {
        // Its name has to be known where the container is used before it is created.
        Op::Create { .. } => arrow.with.is_empty(),
        Op::Link { link, .. } => !model.links[*link].is_partial && model.links[*link].variants.len() == 1,
        _ => true,
    };
    let mut arrows = plan.programs.iter().flat_map(|program| &program.arrows);
    plan.programs.iter().any(Program::is_surveyed)
        && !plan.programs.iter().any(|program| program.dated)
        && arrows.all(is_plain)
        && has_one_clock
        && !job.run.may_have_gaps()
}

/// Converts in one pass; `None` when two are needed, and what was sent is void.
pub(crate) fn convert(
    mut job: Job<'_>,
    plan: &Plan<'_>,
    model: &Model,
    symbols: &mut Symbols,
    sink: &mut dyn Sink,
) -> Result<Option<Report>, ConvertError> {
    job.total = plan.records();
    let is_graph = job.options.clock == Method::Graph;
    let (mut survey, once) = (Survey::default(), Once::new(job.options.causal || is_graph));
    let floors = vec![None; plan.streams.len()];
    let made = make(&mut job, plan, model, (&mut survey, symbols), (floors, Some(once)), sink)?;
    let Some((counts, end)) = made else { return Ok(None) };
    job.counts.links = counts.links;
    job.counts.unmatched_starts = counts.unmatched_starts;
    job.counts.unmatched_ends = counts.unmatched_ends;
    // All links end later than they start, so that there was nothing to correct.
    if counts.links > 0 {
        job.reversed_coarse = (is_graph && job.clocks.domain_of.len() > 1).then_some(0);
        job.causality = job.options.causal.then(|| Causality::of_forward(counts.links));
    }
    job.note_reversed(counts.reversed_links);
    Ok(Some(job.report(counts, end)))
}
