//! The pass that sends Pajé operations.

use super::columns::evaluate::PassKind;
use super::columns::ops::{OpTemplate, PendingOp};
use super::columns::single_records::RecordRef;
use super::first_pass::survey::FirstPassResult;
use super::job::ConversionJob;
use super::merge_pass::RecordVisitor;
use super::options::ConvertError;
use super::planning::plan::ConversionPlan;
use super::read_ahead::{MinTimestamps, PassSelection};
use super::second_pass::event_headers::announce;
use super::second_pass::{Emitter, SinglePassState};
use super::time_order::ordered_item::ItemSelection;
use crate::report::ConversionCounts;
use crate::rules::{RuleModel, Symbols};
use tumit_paje::PajeSink;
use tumit_paje::channel::relay;

/// The result of a pass that sent Pajé operations.
#[derive(Debug, Default)]
pub(crate) struct PajePassResult {
    pub(crate) counts: ConversionCounts,
    /// The last timestamp.
    pub(crate) end: i64,
}

/// The second pass for Pajé, or the only one. `None` if the operations that were sent are void.
/// With several threads, the rules run in another thread and the sink stays in this one.
pub(crate) fn run_paje_pass(
    job: &mut ConversionJob<'_>,
    plan: &ConversionPlan<'_>,
    model: &RuleModel,
    survey: &mut FirstPassResult,
    symbols: &mut Symbols,
    requirements: PassRequirements,
    sink: &mut dyn PajeSink,
) -> Result<Option<PajePassResult>, ConvertError> {
    if !job.options.may_use(3) {
        return emitter(job, plan, model, survey, symbols, requirements, sink);
    }
    let (mut sender, taker) = relay();
    std::thread::scope(|scope| {
        let rules = scope.spawn(move || emitter(job, plan, model, survey, symbols, requirements, &mut sender));
        let sink_result = taker.run(sink);
        let result = rules.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the sink fails, the rules fail as well. The error of the sink is the cause.
        sink_result?;
        result
    })
}

/// The requirements of a pass that sends Pajé operations.
pub(crate) struct PassRequirements {
    pub(crate) floors: MinTimestamps,
    /// The requirements of a single pass.
    pub(crate) single_pass: Option<SinglePassState>,
    /// Whether the sink keeps the starts of links that never end.
    pub(crate) keeps_open_links: bool,
}

/// Runs the rules over all records and sends the Pajé operations. `None` if the operations that
/// were sent are void.
fn emitter(
    job: &mut ConversionJob<'_>,
    plan: &ConversionPlan<'_>,
    model: &RuleModel,
    survey: &mut FirstPassResult,
    symbols: &mut Symbols,
    PassRequirements { floors, single_pass, keeps_open_links }: PassRequirements,
    sink: &mut dyn PajeSink,
) -> Result<Option<PajePassResult>, ConvertError> {
    announce(&plan.programs, survey, sink)?;
    let mut emitter = Emitter::begin(plan, model, survey, symbols, sink, single_pass)?;
    emitter.keeps_open_links = keeps_open_links;
    let pass_kind = match single_pass {
        _ if job.options.by_record => PassKind::Records,
        Some(_) => PassKind::SinglePass,
        None => PassKind::SecondPass(model),
    };
    let end = job.records(plan, PassSelection { floors, item_selection: ItemSelection::ALL, pass_kind }, &mut emitter);
    if emitter.is_void() {
        return Ok(None);
    }
    let end = end?.max(emitter.last_end());
    let Some((counts, explanations)) = emitter.finish(end)? else { return Ok(None) };
    job.diagnostics.extend(explanations.failures);
    job.ambiguous = explanations.ambiguous;
    Ok(Some(PajePassResult { counts, end }))
}

impl RecordVisitor for Emitter<'_> {
    fn visit_record(&mut self, record: RecordRef<'_>) -> Result<(), ConvertError> {
        match record.scope(self.plan) {
            Some(scope) => self.record(&scope, record.single_action, record.corrected_time, record.position())?,
            None if record.is_truncation() => {}
            None => self.handle_gap(record.position().stream, record.corrected_time)?,
        }
        Ok(())
    }

    fn visit_template(&mut self, number: u32, template: OpTemplate) {
        self.set_template(number, template);
    }

    #[inline(always)]
    fn visit_operation(&mut self, op: PendingOp) -> Result<(), ConvertError> {
        Ok(self.perform_short(op)?)
    }

    fn visit_wide(&mut self, op: PendingOp, words: &[u64]) -> Result<(), ConvertError> {
        Ok(self.perform_wide(op, words)?)
    }
}
