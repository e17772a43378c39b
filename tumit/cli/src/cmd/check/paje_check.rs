//! `tumit check` of Pajé text: each kind of mistake with its first line, the text of this line, and
//! the correct form.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;
use tumit_paje::read::{PajeReadError, PajeReader, TraceLine};
use tumit_paje::{DiagnosticSeverity, excerpt};
use tumit_viewer::sim::{EntityCounts, Simulation};

use crate::cmd::ExitStatus;
use crate::option_values::time_unit::TimeUnitChoice;
use crate::progress::ProgressDisplay;

/// A kind of mistake, or of a construct that some readers do not support. It is no
/// `TraceDiagnostic`: `--json` prints it with its advice and its number of lines, and its keys
/// never change.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PajeFinding {
    /// A name for programs, which never changes.
    pub(super) name: String,
    pub(super) severity: DiagnosticSeverity,
    pub(super) message: String,
    pub(super) advice: &'static str,
    /// The first line with the mistake, from 1.
    pub(super) line: u64,
    /// The part of a split trace that has the line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) part: String,
    #[serde(rename = "found")]
    pub(super) text: String,
    /// Number of lines with the mistake.
    pub(super) count: u64,
}

/// Figures of the contents of a file.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct PajeContents {
    pub(super) lines: u64,
    /// Whether the file was read to its end.
    #[serde(rename = "complete")]
    pub(super) is_complete: bool,
    pub(super) containers: u64,
    pub(super) states: u64,
    pub(super) events: u64,
    pub(super) variables: u64,
    pub(super) links: u64,
}

/// The result of a check.
#[derive(Clone, Debug)]
pub(super) struct PajeReport {
    pub(super) findings: Vec<PajeFinding>,
    pub(super) contents: PajeContents,
    pub(super) warning_subject: &'static str,
}

impl PajeReport {
    pub(super) fn count(&self, severity: DiagnosticSeverity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    pub(super) fn status(&self, is_strict: bool) -> ExitStatus {
        let is_right = self.count(DiagnosticSeverity::Error) == 0 && (!is_strict || self.findings.is_empty());
        if is_right { ExitStatus::Done } else { ExitStatus::InputHasMistakes }
    }

    /// The report as text for the terminal.
    pub(super) fn text(&self, file: &str) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let PajeFinding { severity, message, advice, line, part, text: found, count, .. } = finding;
            let file = if part.is_empty() { file.to_owned() } else { format!("{file}: {part}") };
            let found = if found.is_empty() { String::new() } else { format!(" (`{found}`)") };
            let repetition = if *count > 1 { format!(", {count} times from this line on") } else { String::new() };
            text += &format!(
                "{file}:{line}: {severity}: {message}{found}{repetition}\n    the producer of the file should {advice}\n"
            );
        }
        let PajeContents { lines, is_complete, containers, states, events, variables, links } = self.contents;
        let (errors, warnings) = (self.count(DiagnosticSeverity::Error), self.count(DiagnosticSeverity::Warning));
        let subject = self.warning_subject;
        let verdict = match (errors, warnings) {
            (0, 0) => "is correct".to_owned(),
            (0, warnings) => {
                format!(
                    "can be read completely; {} about {subject}",
                    super::finding_counts::finding_count(warnings, "warning")
                )
            }
            (errors, 0) => format!("has {} of errors", super::finding_counts::finding_count(errors, "kind")),
            (errors, warnings) => {
                format!(
                    "has {} of errors, and {} about {subject}",
                    super::finding_counts::finding_count(errors, "kind"),
                    super::finding_counts::finding_count(warnings, "warning")
                )
            }
        };
        let end = if is_complete { "" } else { "; reading stopped at this line" };
        let counts = [
            (lines, "line"),
            (containers, "container"),
            (states, "state"),
            (events, "event"),
            (variables, "variable value"),
            (links, "link"),
        ];
        let counts = counts.map(|(number, noun)| super::finding_counts::finding_count(number, noun)).join(", ");
        text += &format!("{file}: {verdict}: {counts}{end}\n");
        text
    }
}

/// Whether a file is Pajé text: by its name, or by its first bytes.
pub(crate) fn is_paje(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    match ending {
        "paje" | "trace" => return path.is_file(),
        "tumit" => return false,
        _ if !path.is_file() => return false,
        _ => {}
    }
    // No spec begins like this. A file that cannot be opened is reported by its reader.
    let Ok(file) = File::open(path) else { return false };
    let mut start = Vec::new();
    let read = BufReader::new(file).take(1 << 16).read_to_end(&mut start);
    let lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_start);
    read.is_ok()
        && lines.into_iter().find(|line| !line.is_empty() && line[0] != b'#').is_some_and(|line| line[0] == b'%')
}

/// Checks a file. With `is_strict`, reading stops at the first finding.
pub(super) fn check(
    (name, path): (&str, &Path),
    unit: Option<TimeUnitChoice>,
    is_strict: bool,
) -> anyhow::Result<PajeReport> {
    let cannot_read = || format!("cannot read `{name}`");
    let file = File::open(path).with_context(cannot_read)?;
    let total = file.metadata().map_or(0, |metadata| metadata.len());
    let mut input = BufReader::with_capacity(1 << 18, file);
    input.fill_buf().with_context(cannot_read)?;
    let mut reader =
        PajeReader::new(input).with_parts_beside(path).in_unit(unit.unwrap_or_default().into()).remember_keys();
    if unit.is_some() {
        reader = reader.trusting_unit();
    }
    let mut simulation = Simulation::into_entities("0", EntityCounts::default());
    let bar = ProgressDisplay::new("{total_bytes}");
    let (progress, mut finished_bytes) = (bar.callback(), 0);
    // Texts of the lines in which the simulation found a new kind of mistake.
    let mut texts: Vec<(u64, String)> = Vec::new();
    let mut kinds = 0;
    loop {
        let has_more = reader.next(&mut simulation).map_err(|error| read_error_message(error, name))?;
        if simulation.kinds_of_faults() > kinds {
            kinds = simulation.kinds_of_faults();
            texts.push((reader.number(), excerpt(String::from_utf8_lossy(reader.bytes()).trim())));
        }
        if !has_more || (is_strict && (kinds > 0 || reader.kinds_of_faults() > 0)) {
            break;
        }
        finished_bytes += reader.bytes().len() as u64 + 1;
        if let Some(progress) = &progress
            && reader.lines().is_multiple_of(1 << 16)
        {
            progress(finished_bytes.min(total), total);
        }
    }
    let stopped = is_strict && (kinds > 0 || reader.kinds_of_faults() > 0);
    let lines = reader.lines();
    let findings: Vec<_> = if stopped {
        reader.faults().cloned().collect()
    } else {
        let report = reader.finish(&mut simulation).map_err(|error| read_error_message(error, name))?;
        report.faults.into_iter().chain(report.notes).collect()
    };
    // Open states and links at the end of an incomplete reading are no mistake, because the
    // simulation was not ended.
    Ok(report(findings, simulation.faults(), &texts, lines, !stopped, simulation.entities()))
}

fn report(
    read: Vec<tumit_paje::read::FaultSummary>,
    simulated: Vec<tumit_viewer::sim::SimFault>,
    texts: &[(u64, String)],
    lines: u64,
    is_complete: bool,
    counts: &EntityCounts,
) -> PajeReport {
    let read = read.into_iter().map(|fault| PajeFinding {
        name: fault.kind.name().to_owned(),
        severity: fault.diagnostic().severity,
        message: fault.kind.description().to_owned(),
        advice: fault.kind.advice(),
        line: fault.line,
        part: fault.file,
        text: fault.excerpt,
        count: fault.count,
    });
    let simulated = simulated.into_iter().map(|finding| PajeFinding {
        name: format!("{:?}", finding.fault),
        severity: finding.diagnostic().severity,
        message: finding.fault.description().to_owned(),
        advice: finding.fault.advice(),
        line: TraceLine::of(finding.line).line,
        part: finding.file,
        text: texts.iter().find(|(line, _)| *line == finding.line).map_or_else(String::new, |(_, text)| text.clone()),
        count: finding.count,
    });
    let mut findings: Vec<PajeFinding> = read.chain(simulated).collect();
    findings.sort_by(|a, b| (&a.part, a.line).cmp(&(&b.part, b.line)));
    let EntityCounts { containers, states, events, samples, links, .. } = *counts;
    PajeReport {
        findings,
        contents: PajeContents { lines, is_complete, containers, states, events, variables: samples, links },
        warning_subject: "problems of other readers",
    }
}

fn read_error_message(error: PajeReadError, name: &str) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("cannot read `{name}`"))
}
