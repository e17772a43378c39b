//! A conversion with the Pajé rules alone.

use crate::convert::job::ConversionJob;
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::convert::paje_pass::{PajePassResult, PassRequirements, run_paje_pass};
use crate::convert::planning::plan::{ConversionSetup, plan};
use crate::convert::single_pass;
use crate::report::ConversionReport;
use crate::run::OpenRun;
use tumit_paje::PajeSink;

/// As [`convert`](crate::convert::convert), without the text outputs of the spec.
pub(crate) fn convert_rules(
    run: &OpenRun,
    options: &ConvertOptions,
    sink: &mut dyn PajeSink,
) -> Result<ConversionReport, ConvertError> {
    let options = ConvertOptions { output: None, ..options.clone() };
    let mut job = ConversionJob::new(run, &options);
    let ConversionSetup { mut plan, mut model, mut symbols } =
        plan(run, &options, &mut job.clocks, &mut job.diagnostics)?;
    if sink.can_restart() && single_pass::is_possible(&job, &plan, &model) {
        match single_pass::convert(job, &plan, &model, &mut symbols, sink)? {
            Some(report) => return Ok(report),
            None => sink.restart()?,
        }
        job = ConversionJob::new(run, &options);
        ConversionSetup { plan, model, symbols } = self::plan(run, &options, &mut job.clocks, &mut job.diagnostics)?;
    }
    let (mut survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    let requirements = PassRequirements { floors, single_pass: None, keeps_open_links: sink.keeps_open_links() };
    let result = run_paje_pass(&mut job, &plan, &model, &mut survey, &mut symbols, requirements, sink)?;
    // Only a single pass can return `None`.
    let PajePassResult { counts, end } = result.unwrap_or_default();
    job.note_reversed(counts.reversed_links);
    Ok(job.report(counts, end))
}
