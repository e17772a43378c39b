//! [`first_finding`]: reads a trace until its first problem.

use std::path::{Path, PathBuf};

use tumit_converter::convert::ConvertError;
use tumit_paje::read::{FaultSummary, PajeReadError, PajeReader, TraceLine};
use tumit_paje::{DiagnosticKind, DiagnosticSeverity, TraceDiagnostic, excerpt};
use tumit_picl::{PiclReadError, PiclReader, TraceFormat};

use super::open_options::{OpenOptions, TraceOpenError};
use super::trace::{CountingReader, TraceInputFile, reader};
use crate::sim::{EntityCounts, SimFault, Simulation};

/// Reads a trace until its first problem, and returns it. `None` if the trace has none.
///
/// The problems of text are all that `tumit check` reports, with warnings about constructs that
/// other readers reject. A run is converted as a whole, because most of its losses are known at its
/// end only. Its problems are all errors and warnings of the conversion. Notes are no problems.
///
/// ```
/// use tumit_viewer::{OpenOptions, first_finding};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("example.paje");
/// # let body = "0 T 0 Thread\n2 S T Activity\n6 0 t 0 T main\n13 2 t S\n7 3 T t\n";
/// # std::fs::write(&path, format!("{header}{body}"))?;
/// // Line 4 after the header ends a state that has not begun.
/// let finding = first_finding(&path, &OpenOptions::default())?.expect("the trace has a mistake");
/// assert!(finding.text.contains("found no state to end (`13 2 t S`)"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If there is no trace at the path, or it cannot be read.
pub fn first_finding(path: &Path, options: &OpenOptions) -> Result<Option<TraceDiagnostic>, TraceOpenError> {
    let mut simulation = Simulation::into_entities("0", EntityCounts::default());
    let finding = match TraceInputFile::find(path, options)? {
        TraceInputFile::Paje(path, input) => {
            let reader = reader(CountingReader::new(input, options), options).with_parts_beside(&path);
            return finding_of_text(reader.remember_keys(), &mut simulation).map_err(|source| text_error(path, source));
        }
        TraceInputFile::Picl(path, input, format) => {
            finding_of_picl(path, (CountingReader::new(input, options), format), &mut simulation)?
        }
        run @ TraceInputFile::Run(_) => {
            let diagnostics = run.feed(options, &mut simulation)?.diagnostics;
            diagnostics.into_iter().find(|diagnostic| diagnostic.severity != DiagnosticSeverity::Note)
        }
    };
    Ok(finding.or_else(|| simulation.faults().first().map(SimFault::diagnostic)))
}

fn text_error(path: PathBuf, error: PajeReadError) -> TraceOpenError {
    match error {
        PajeReadError::Sink { source, .. } => ConvertError::Write(source).into(),
        source => TraceOpenError::Read { path, source },
    }
}

fn finding_of_picl(
    path: PathBuf,
    (input, format): (CountingReader<'_>, TraceFormat),
    simulation: &mut Simulation<EntityCounts>,
) -> Result<Option<TraceDiagnostic>, TraceOpenError> {
    match PiclReader::new(input, format).stop_at_first_fault().read(simulation) {
        Ok(_) => Ok(None),
        Err(PiclReadError::Strict(fault)) => Ok(Some(fault.diagnostic())),
        Err(PiclReadError::Sink(source)) => Err(ConvertError::Write(source).into()),
        Err(source) => Err(TraceOpenError::Picl { path, source }),
    }
}

fn finding_of_text(
    mut reader: PajeReader<CountingReader<'_>>,
    simulation: &mut Simulation<EntityCounts>,
) -> Result<Option<TraceDiagnostic>, PajeReadError> {
    loop {
        let has_more = reader.next(simulation)?;
        if let Some(fault) = reader.faults().next() {
            return Ok(Some(fault.diagnostic()));
        }
        if simulation.kinds_of_faults() > 0 {
            let line = excerpt(String::from_utf8_lossy(reader.bytes()).trim());
            return Ok(simulation.faults().first().map(|fault| diagnostic_in_line(fault, &line)));
        }
        if !has_more {
            break;
        }
    }
    let report = reader.finish(simulation)?;
    let of_text = report.faults.iter().chain(&report.notes).map(|fault| (fault.line, FaultSummary::diagnostic(fault)));
    let of_operations = simulation.faults().into_iter();
    let of_operations = of_operations.map(|fault| (TraceLine::of(fault.line).line, diagnostic_in_line(&fault, "")));
    Ok(of_text.chain(of_operations).min_by_key(|(line, _)| *line).map(|(_, diagnostic)| diagnostic))
}

/// The diagnostic of a fault that the operation of a line has.
fn diagnostic_in_line(fault: &SimFault, text: &str) -> TraceDiagnostic {
    let line = TraceLine::of(fault.line).line;
    let of_file = if fault.file.is_empty() { String::new() } else { format!(" of {}", fault.file) };
    let quotation = if text.is_empty() { String::new() } else { format!(" (`{text}`)") };
    let (problem, advice) = (fault.fault.description(), fault.fault.advice());
    let text = format!("line {line}{of_file}: {problem}{quotation}; the producer of the file should {advice}");
    TraceDiagnostic::error(DiagnosticKind::Operation, text).at_line(&fault.file, line)
}

#[cfg(test)]
mod tests {
    use super::{OpenOptions, first_finding};

    const HEADER: &str = include_str!("../../tests/header.paje");
    const TREE: &str = "0 T 0 Thread\n2 S T Activity\n4 L 0 T T Message\n5 w S work \"0 1 0\"\n5 m L msg \"0 1 0\"\n\
                        6 0 t 0 T main\n";

    fn first_finding_in(text: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let path = folder.path().join("x.paje");
        std::fs::write(&path, text).expect("the file can be written");
        first_finding(&path, &OpenOptions::default()).expect("the file can be read").map(|finding| finding.text)
    }

    #[test]
    fn the_first_problem_of_text_ends_the_reading() {
        let line = HEADER.lines().count() + TREE.lines().count() + 1;
        assert_eq!(first_finding_in(&format!("{HEADER}{TREE}11 1 t S w\n13 2 t S\n7 3 T t\n")), None);
        // A line that cannot be read, before an operation without effect, and the reverse.
        let unread =
            first_finding_in(&format!("{HEADER}{TREE}11 1 q S w\n13 2 t S\n7 3 T t\n")).expect("it has a mistake");
        assert!(unread.starts_with(&format!("line {line}: line with a container that was not created")), "{unread}");
        let empty =
            first_finding_in(&format!("{HEADER}{TREE}13 1 t S\n11 2 q S w\n7 3 T t\n")).expect("it has a mistake");
        assert!(
            empty.starts_with(&format!("line {line}: pop of a state found no state to end (`13 1 t S`)")),
            "{empty}"
        );
        assert!(empty.contains("the producer of the file should pop only"), "{empty}");
    }

    #[test]
    fn problems_at_the_end_have_their_lines() {
        let line = HEADER.lines().count() + TREE.lines().count() + 1;
        let open = first_finding_in(&format!("{HEADER}{TREE}15 1 0 L t m k\n7 3 T t\n")).expect("it has a mistake");
        assert!(open.starts_with(&format!("line {line}: link has only one endpoint")), "{open}");
        let cut = first_finding_in(&format!("{HEADER}{TREE}7 3 T t")).expect("it has a mistake");
        assert!(cut.contains("last line without a line end"), "{cut}");
    }
}
