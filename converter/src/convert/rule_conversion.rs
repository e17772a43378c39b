//! A conversion by the rules for Pajé alone.

use super::job::Job;
use super::options::{ConvertError, Options};
use super::paje_pass::make;
use super::plan::plan;
use super::single_pass;
use crate::report::Report;
use crate::run::Run;
use tumit_paje::Sink;

/// As [`convert`](super::convert), without the text outputs of the spec.
pub(crate) fn convert_rules(run: &Run, options: &Options, sink: &mut dyn Sink) -> Result<Report, ConvertError> {
    let options = Options { output: None, ..options.clone() };
    let mut job = Job::new(run, &options);
    let (mut plan, mut model, mut symbols) = plan(run, &options, &mut job.clocks, &mut job.remarks)?;
    if sink.can_begin_anew() && single_pass::is_possible(&job, &plan, &model) {
        match single_pass::convert(job, &plan, &model, &mut symbols, sink)? {
            Some(report) => return Ok(report),
            None => sink.begin_anew()?,
        }
        job = Job::new(run, &options);
        (plan, model, symbols) = self::plan(run, &options, &mut job.clocks, &mut job.remarks)?;
    }
    let (mut survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    let made = make(&mut job, &plan, &model, (&mut survey, &mut symbols), (floors, None), sink)?;
    // Only what is made at once may be void.
    let (counts, end) = made.unwrap_or_default();
    job.note_reversed(counts.reversed_links);
    Ok(job.report(counts, end))
}
