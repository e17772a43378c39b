//! The pass that sends Pajé operations.

use super::columnar::evaluate::Purpose;
use super::columnar::ops::{Act, Turn};
use super::columnar::single_records::Due;
use super::first_pass::survey::Survey;
use super::job::Job;
use super::merge_pass::Visit;
use super::options::ConvertError;
use super::plan::Plan;
use super::read_ahead::Floors;
use super::second_pass::event_headers::announce;
use super::second_pass::{Once, Picture};
use super::time_order::Taking;
use crate::report::Counts;
use crate::rules::{Model, Symbols};
use tumit_paje::Sink;
use tumit_paje::channel::relay;

/// The second pass for Pajé, or the only one. `None` if the operations that were sent are void.
/// With several threads, the rules run in another thread and the sink stays in this one.
pub(crate) fn make(
    job: &mut Job<'_>,
    plan: &Plan<'_>,
    model: &Model,
    known: (&mut Survey, &mut Symbols),
    how: How,
    sink: &mut dyn Sink,
) -> Result<Option<(Counts, i64)>, ConvertError> {
    if !job.options.may_use(3) {
        return picture(job, plan, model, known, how, sink);
    }
    let (mut sender, taker) = relay();
    std::thread::scope(|scope| {
        let rules = scope.spawn(move || picture(job, plan, model, known, how, &mut sender));
        let taken = taker.run(sink);
        let made = rules.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        // If the sink fails, the rules fail as well. The error of the sink is the cause.
        taken?;
        made
    })
}

/// The minimum timestamps of the streams, and the requirements of a single pass.
pub(crate) type How = (Floors, Option<Once>);

/// Runs the rules over all records and sends the Pajé operations. Returns the counters and the last
/// timestamp. `None` if the operations that were sent are void.
fn picture(
    job: &mut Job<'_>,
    plan: &Plan<'_>,
    model: &Model,
    (survey, symbols): (&mut Survey, &mut Symbols),
    (floors, once): How,
    sink: &mut dyn Sink,
) -> Result<Option<(Counts, i64)>, ConvertError> {
    announce(&plan.programs, survey, sink)?;
    let mut picture = Picture::begin(plan, model, survey, symbols, sink, (job.run.may_have_gaps(), once))?;
    let purpose = match once {
        _ if job.options.by_record => Purpose::Records,
        Some(_) => Purpose::Once,
        None => Purpose::Picture(model),
    };
    let end = job.records(plan, (floors, Taking::ALL, purpose), &mut picture);
    if picture.is_void() {
        return Ok(None);
    }
    let end = end?.max(picture.last_end());
    let Some((counts, explanations)) = picture.finish(end)? else { return Ok(None) };
    job.remarks.extend(explanations.failed);
    job.ambiguous = explanations.ambiguous;
    Ok(Some((counts, end)))
}

impl Visit for Picture<'_> {
    fn record(&mut self, due: Due<'_>) -> Result<(), ConvertError> {
        let stream = u32::try_from(due.stream).unwrap_or(u32::MAX);
        match due.scope(self.plan) {
            Some(scope) => self.record(&scope, due.only, due.date, (stream, due.ordinal))?,
            None if due.is_truncation() => {}
            None => self.gap(stream, due.date)?,
        }
        Ok(())
    }

    fn know(&mut self, number: u32, act: Act) {
        self.know(number, act);
    }

    #[inline(always)]
    fn ready(&mut self, turn: Turn) -> Result<(), ConvertError> {
        Ok(self.ready(turn)?)
    }

    fn wide(&mut self, turn: Turn, words: &[u64]) -> Result<(), ConvertError> {
        Ok(self.wide(turn, words)?)
    }
}
