//! `tumit check` of PICL and Alog traces.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;
use tumit_picl::{PiclFault, PiclReadError, PiclReader, TraceFormat};
use tumit_viewer::sim::{EntityCounts, Simulation};

use super::paje_check::{PajeContents, PajeFinding, PajeReport};

/// Number of first bytes that determine the format.
const FORMAT_BYTES: u64 = 1 << 12;

/// The format of a file, if it is a PICL or Alog trace.
pub(crate) fn picl_format(path: &Path) -> Option<TraceFormat> {
    let file = File::open(path).ok().filter(|_| path.is_file())?;
    let mut first = Vec::new();
    // A file that cannot be read is reported by its reader.
    file.take(FORMAT_BYTES).read_to_end(&mut first).ok()?;
    TraceFormat::of_file(&first, path)
}

/// Checks a trace. With `is_strict`, reading stops at the first finding.
pub(super) fn check((path, place): (&str, &Path), format: TraceFormat, is_strict: bool) -> anyhow::Result<PajeReport> {
    let cannot_read = || format!("cannot read `{path}`");
    let file = File::open(place).with_context(cannot_read)?;
    let mut simulation = Simulation::into_entities("0", EntityCounts::default());
    let reader = PiclReader::new(BufReader::new(file), format);
    let reader = if is_strict { reader.stop_at_first_fault() } else { reader };
    let (faults, lines) = match reader.read(&mut simulation) {
        Ok(report) => (report.faults, report.lines),
        Err(PiclReadError::Strict(fault)) => {
            let line = fault.line;
            return Ok(report(vec![fault], line, false, &EntityCounts::default()));
        }
        Err(error) => return Err(anyhow::Error::new(error).context(cannot_read())),
    };
    Ok(report(faults, lines, true, simulation.entities()))
}

fn report(faults: Vec<PiclFault>, lines: u64, is_complete: bool, counts: &EntityCounts) -> PajeReport {
    let finding = |fault: PiclFault| PajeFinding {
        name: fault.kind.name().to_owned(),
        severity: fault.kind.severity(),
        message: fault.kind.description().to_owned(),
        advice: fault.kind.advice(),
        line: fault.line,
        part: String::new(),
        text: fault.excerpt,
        count: fault.count,
    };
    let EntityCounts { containers, states, events, samples, links, .. } = *counts;
    PajeReport {
        findings: faults.into_iter().map(finding).collect(),
        contents: PajeContents { lines, is_complete, containers, states, events, variables: samples, links },
        warning_subject: "the contents",
    }
}
