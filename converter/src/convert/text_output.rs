//! Text outputs of specs.

use std::io::{self, Write};

use tracer_format::Schema;

use super::columnar::evaluate::Purpose;
use super::columnar::single_records::Due;
use super::job::Job;
use super::merge_pass::Records;
use super::options::{ConvertError, Options};
use super::plan::plan;
use super::text_lines::write_lines;
use super::time_order::Taking;
use super::timestamps::fine_dates;
use crate::report::{Counts, Report};
use crate::rules::spec_of;
use crate::run::Run;

/// The text output that replaces the rules of a run. The specs of all processes have no tree and no
/// rules, and this output begins with Pajé definitions.
#[must_use]
pub fn own_paje_output(run: &Run) -> Option<String> {
    let mut found: Option<String> = None;
    let mut known: Vec<&Schema> = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        if known.contains(&&provider.schema) {
            continue;
        }
        known.push(&provider.schema);
        let spec = spec_of(&provider.schema, &mut Vec::new());
        let is_bare = spec.containers.is_empty() && spec.actions().next().is_none();
        let paje = spec.outputs.iter().find(|output| output.prologue.trim_start().starts_with("%EventDef"));
        let name = paje.filter(|_| is_bare)?.name.clone();
        if found.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
    }
    found
}

/// Writes the text output named by [`Options::output`]: its prologue and its lines in order of
/// time.
///
/// # Errors
/// When there is no such output, the run cannot be read, or the text cannot be written.
pub fn convert_to_text(run: &Run, options: &Options, out: &mut dyn Write) -> Result<Report, ConvertError> {
    let report = write_text(run, options, &mut |text, _| out.write_all(text))?;
    out.flush()?;
    Ok(report)
}

/// A function that takes texts of whole lines, each with the process of its record.
pub(crate) type WriteLines<'a> = dyn FnMut(&[u8], Option<usize>) -> io::Result<()> + 'a;

/// Writes a text output.
pub(crate) fn write_text(run: &Run, options: &Options, write: &mut WriteLines<'_>) -> Result<Report, ConvertError> {
    let mut job = Job::new(run, options);
    let (mut plan, mut model, mut symbols) = plan(run, options, &mut job.clocks, &mut job.remarks)?;
    let (survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    if let Some(dates) = fine_dates(run, options)? {
        plan.fines = dates.fines;
        job.clocks = dates.clocks;
        job.causality = dates.causality;
        job.remarks.extend(dates.remarks);
    }
    for prologue in &plan.prologues {
        write(prologue.as_bytes(), None)?;
        // The first line starts on a line of its own.
        if !prologue.is_empty() && !prologue.ends_with('\n') {
            write(b"\n", None)?;
        }
    }
    let mut line = String::new();
    let mut counts = Counts::default();
    for once in &survey.once {
        write(once.as_bytes(), None)?;
        counts.lines += 1;
    }
    let take = |due: Due<'_>| {
        let Some(scope) = due.scope(&plan) else { return Ok(()) };
        counts.lines += write_lines(&scope, due.only, &symbols, &mut line);
        write(line.as_bytes(), Some(scope.stream.process))?;
        line.clear();
        Ok(())
    };
    let end = job.records(&plan, (floors, Taking::RECORDS, Purpose::Records), &mut Records(take))?;
    Ok(job.report(counts, end))
}
