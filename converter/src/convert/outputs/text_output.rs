//! Text outputs of specs.

use std::io::{self, Write};

use tracer_format::Schema;

use super::timestamps::corrected_timestamps;
use crate::convert::columns::evaluate::PassKind;
use crate::convert::columns::single_records::RecordRef;
use crate::convert::job::ConversionJob;
use crate::convert::merge_pass::RecordVisitorFn;
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::convert::planning::plan::{ConversionSetup, plan};
use crate::convert::read_ahead::PassSelection;
use crate::convert::template_lines::write_lines;
use crate::convert::time_order::ordered_item::ItemSelection;
use crate::report::{ConversionCounts, ConversionReport};
use crate::rules::spec_of;
use crate::run::OpenRun;

/// The text output that replaces the rules of a run. The specs of all processes have no tree and no
/// rules, and this output begins with Pajé definitions.
#[must_use]
pub fn own_paje_output(run: &OpenRun) -> Option<String> {
    let mut output_name: Option<String> = None;
    let mut schemas: Vec<&Schema> = Vec::new();
    for provider in run.processes.iter().flat_map(|process| &process.providers) {
        if schemas.contains(&&provider.schema) {
            continue;
        }
        schemas.push(&provider.schema);
        let spec = spec_of(&provider.schema, &mut Vec::new());
        let is_bare = spec.containers.is_empty() && spec.actions().next().is_none();
        let paje = spec.outputs.iter().find(|output| output.prologue.trim_start().starts_with("%EventDef"));
        let name = paje.filter(|_| is_bare)?.name.clone();
        if output_name.get_or_insert_with(|| name.clone()) != &name {
            return None;
        }
    }
    output_name
}

/// Writes the text output named by [`ConvertOptions::output`]: its prologue and its lines in order
/// of time.
///
/// # Errors
/// If there is no such output, the run cannot be read, or the text cannot be written.
///
/// ```
/// # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
/// # let folder = tempfile::tempdir()?;
/// # let text = "trace heat; level APP { event step { n: u32 } }";
/// # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
/// # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
/// # file.thread(0, 1, "main");
/// # let mut records = SyntheticRecords::default();
/// # records.record(0, 1_000, &5u32.to_le_bytes());
/// # records.record(0, 2_000, &6u32.to_le_bytes());
/// # file.records(0, 0, &records);
/// # file.end();
/// # file.save(folder.path(), "0.tmt");
/// # let path = folder.path();
/// use tumit_converter::convert::{ConvertOptions, convert_to_text};
/// use tumit_converter::run::OpenRun;
///
/// let rules = r#"
///     trace heat; level APP { event step { n: u32 } }
///     output text "numbers" { rule step -> "n is @" n; }
/// "#;
/// let mut options = ConvertOptions::default();
/// options.rules = tumit::compile_text("heat.tumit", rules).0;
/// options.output = Some("numbers".to_owned());
/// let mut out = Vec::new();
/// convert_to_text(&OpenRun::open(path)?, &options, &mut out)?;
/// assert_eq!(String::from_utf8(out)?, "n is 5\nn is 6\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn convert_to_text(
    run: &OpenRun,
    options: &ConvertOptions,
    out: &mut dyn Write,
) -> Result<ConversionReport, ConvertError> {
    let report = write_text(run, options, &mut |text, _| out.write_all(text))?;
    out.flush()?;
    Ok(report)
}

/// A function that takes texts of whole lines, each with the process of its record.
pub(crate) type LineWriter<'a> = dyn FnMut(&[u8], Option<usize>) -> io::Result<()> + 'a;

/// Writes a text output.
pub(crate) fn write_text(
    run: &OpenRun,
    options: &ConvertOptions,
    write: &mut LineWriter<'_>,
) -> Result<ConversionReport, ConvertError> {
    let mut job = ConversionJob::new(run, options);
    let ConversionSetup { mut plan, mut model, mut symbols } =
        plan(run, options, &mut job.clocks, &mut job.diagnostics)?;
    let (survey, floors) = job.survey(&mut plan, &mut model, &mut symbols)?;
    if let Some(timestamps) = corrected_timestamps(run, options)? {
        plan.timestamp_maps = timestamps.timestamp_maps;
        job.clocks = timestamps.clocks;
        job.causality = timestamps.causality;
        job.diagnostics.extend(timestamps.diagnostics);
    }
    for prologue in &plan.prologues {
        write(prologue.as_bytes(), None)?;
        // The first line starts on a line of its own.
        if !prologue.is_empty() && !prologue.ends_with('\n') {
            write(b"\n", None)?;
        }
    }
    let mut line = String::new();
    let mut counts = ConversionCounts::default();
    for once in &survey.unique_lines {
        write(once.as_bytes(), None)?;
        counts.lines += 1;
    }
    let write_record = |record: RecordRef<'_>| {
        let Some(scope) = record.scope(&plan) else { return Ok(()) };
        counts.lines += write_lines(&scope, record.single_action, &symbols, &mut line);
        write(line.as_bytes(), Some(scope.stream.process))?;
        line.clear();
        Ok(())
    };
    let selection = PassSelection { floors, item_selection: ItemSelection::RECORDS, pass_kind: PassKind::Records };
    let end = job.records(&plan, selection, &mut RecordVisitorFn(write_record))?;
    Ok(job.report(counts, end))
}
