//! The result of a conversion, and the problems that did not stop it.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::report::loss_diagnostics;
//! use tumit_converter::run::OpenRun;
//!
//! let file = path.join("0.tmt");
//! let bytes = std::fs::read(&file)?;
//! std::fs::write(&file, &bytes[..bytes.len() - 8])?;
//! let diagnostics = loss_diagnostics(&OpenRun::open(path)?.losses());
//! assert!(diagnostics.iter().all(|diagnostic| diagnostic.is_error()));
//! assert!(diagnostics[0].to_string().contains("damaged bytes"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::mem::{self, Discriminant};

use crate::clock::{CausalityReport, RunClocks};
use crate::run::Loss;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Maximum number of losses of one kind that are listed.
const LISTED_PER_KIND: usize = 8;

/// The diagnostics of losses. Of each kind of loss, the first ones are listed, followed by the
/// number of the others. Kinds are in the order of their first occurrence.
#[must_use]
pub fn loss_diagnostics(losses: &[Loss]) -> Vec<TraceDiagnostic> {
    struct LossesOfKind {
        kind: Discriminant<Loss>,
        diagnostics: Vec<TraceDiagnostic>,
        /// Number of losses that are not listed.
        unlisted_count: usize,
    }
    let mut kinds: Vec<LossesOfKind> = Vec::new();
    for loss in losses {
        let kind = mem::discriminant(loss);
        let index = kinds.iter().position(|losses| losses.kind == kind).unwrap_or(kinds.len());
        if index == kinds.len() {
            kinds.push(LossesOfKind { kind, diagnostics: Vec::new(), unlisted_count: 0 });
        }
        let LossesOfKind { diagnostics, unlisted_count, .. } = &mut kinds[index];
        if diagnostics.len() < LISTED_PER_KIND {
            diagnostics.push(loss.diagnostic());
        } else {
            *unlisted_count += 1;
        }
    }
    let of_kind = |LossesOfKind { diagnostics: listed, unlisted_count: others, .. }| {
        let text = format!("… and {others} more of this kind: `tumit info --json` lists all of them");
        let summary = listed.first().filter(|_| others > 0).map(|first| TraceDiagnostic::error(first.kind, text));
        listed.into_iter().chain(summary)
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

impl Loss {
    /// The diagnostic of the loss: an error.
    #[must_use]
    pub fn diagnostic(&self) -> TraceDiagnostic {
        let (kind, file) = match self {
            Self::Unreadable { reason } => return reason.clone(),
            Self::Copy { file, .. } => (DiagnosticKind::File, Some(file)),
            Self::MissingRanks { .. } => (DiagnosticKind::Loss, None),
            Self::Damage { file, .. }
            | Self::Undecodable { file, .. }
            | Self::Live { file, .. }
            | Self::LeftOut { file, .. } => (DiagnosticKind::Damage, Some(file)),
            Self::MissingBlocks { file, .. }
            | Self::MissingPart { file, .. }
            | Self::MissingRecords { file, .. }
            | Self::MissingTables { file, .. }
            | Self::NotDescribed { file, .. }
            | Self::Dropped { file, .. }
            | Self::NotEnded { file, .. }
            | Self::FileFull { file, .. }
            | Self::Buffers { file, .. }
            | Self::LiveAlone { file } => (DiagnosticKind::Loss, Some(file)),
        };
        let diagnostic = TraceDiagnostic::error(kind, self.to_string());
        match file {
            Some(file) => diagnostic.in_file(file),
            None => diagnostic,
        }
    }
}

/// Numbers of input and output items, and of repaired or dropped ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionCounts {
    /// Records read.
    pub records: u64,
    /// Pajé operations sent.
    pub paje_events: u64,
    /// Lines of a text output.
    pub lines: u64,
    /// Containers created.
    pub containers: u64,
    /// Complete links.
    pub links: u64,
    /// Links that end before they start by their final timestamps.
    pub reversed_links: u64,
    /// Link starts without an end. Only sinks that keep them receive them
    /// ([`keeps_open_links`](tumit_paje::PajeSink::keeps_open_links)).
    pub unmatched_starts: u64,
    /// Link ends without a start. They are left out.
    pub unmatched_ends: u64,
    /// Parts of unknown collective operations, because records before them are missing.
    pub unmatched_parts: u64,
    /// Pops of states that were not open. They are left out.
    pub pops_of_nothing: u64,
    /// Unknown states, because preceding records are missing.
    pub unknown_states: u64,
    /// Timestamps before the first record. They are moved to it.
    pub early_timestamps: u64,
    /// Records with a timestamp before that of their predecessor in the stream. They get the
    /// timestamp of the predecessor.
    pub backward_records: u64,
    /// Values that could not be computed. Their actions are left out.
    pub not_computable: u64,
    /// Actions `on existing` containers that did not exist. They are left out, as the rules demand.
    pub without_container: u64,
    /// Actions that were left out because they name a process or thread by values that several
    /// have.
    pub ambiguous: u64,
    /// Records without a schema, or that could not be decoded.
    pub unknown_records: u64,
    /// Records that are in no file, because a recorder had no room for them.
    pub dropped_records: u64,
}

/// Everything that is reported to the user about a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConversionReport {
    /// Numbers.
    pub counts: ConversionCounts,
    /// The last timestamp.
    pub end: GlobalNanos,
    /// Dropped, missing or damaged data of the run.
    pub losses: Vec<Loss>,
    /// Warnings and notes for the user.
    pub diagnostics: Vec<TraceDiagnostic>,
    /// References by value that several processes match, with the place of the rule.
    pub ambiguous: Vec<TraceDiagnostic>,
    /// The clock model.
    pub clocks: RunClocks,
    /// Links that end before they start by the sync samples alone. `None` if there are no links, or
    /// if they did not correct the clocks.
    pub reversed_by_samples: Option<u64>,
    /// The result of the causal correction. `None` if there are no links or it was not requested.
    pub causality: Option<CausalityReport>,
    /// Errors in the lines of a Pajé text output that was merged with the rules.
    pub text_errors: Vec<TraceDiagnostic>,
}

impl ConversionReport {
    /// Whether nothing is missing, damaged or left out.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.errors().is_empty()
    }

    /// Missing, damaged, omitted or moved data.
    #[must_use]
    pub fn errors(&self) -> Vec<TraceDiagnostic> {
        let of_run = loss_diagnostics(&self.losses).into_iter().chain(self.repairs());
        let of_run = of_run.chain(self.ambiguous.iter().cloned()).chain(self.clock_errors());
        of_run.chain(self.text_errors.iter().cloned()).collect()
    }

    /// Errors of the clocks, the sync samples or the order of links, with their treatment.
    #[must_use]
    pub fn clock_errors(&self) -> Vec<TraceDiagnostic> {
        let of_order = self.causality.map(|causality| causality.errors(&self.clocks)).unwrap_or_default();
        let end_error = (self.end == GlobalNanos::LAST).then_some({
            "the run lasts for more than 292 years, and later timestamps are moved to this limit: \
             the program gave a wrong rate for its clock, or its clock was stepped (`tumit info` \
             shows the rate)"
        });
        let end_error = end_error.map(|text| TraceDiagnostic::error(DiagnosticKind::Clock, text));
        self.clocks.errors().into_iter().chain(of_order).chain(end_error).collect()
    }

    /// All diagnostics: first the errors, then the warnings and notes.
    #[must_use]
    pub fn all_diagnostics(&self) -> Vec<TraceDiagnostic> {
        self.errors().into_iter().chain(self.diagnostics.iter().cloned()).collect()
    }

    /// The corrections: data that were left out or moved.
    fn repairs(&self) -> Vec<TraceDiagnostic> {
        let counts = &self.counts;
        let mut repairs = Vec::new();
        let mut add = |kind: DiagnosticKind, count: u64, singular: &str, plural: &str| match count {
            0 => {}
            1 => repairs.push(TraceDiagnostic::error(kind, format!("1 {singular}"))),
            count => repairs.push(TraceDiagnostic::error(kind, format!("{count} {plural}"))),
        };
        let (singular, plural) = (
            "link start without an end: pending in views, a send in PICL, omitted from Pajé text",
            "link starts without an end: pending in views, sends in PICL, omitted from Pajé text",
        );
        add(DiagnosticKind::Link, counts.unmatched_starts, singular, plural);
        let (singular, plural) = ("link end without a start: omitted", "link ends without a start: omitted");
        add(DiagnosticKind::Link, counts.unmatched_ends, singular, plural);
        let (singular, plural) =
            ("pop of a state that was not open: omitted", "pops of states that were not open: omitted");
        add(DiagnosticKind::Operation, counts.pops_of_nothing, singular, plural);
        let (singular, plural) = (
            "state is unknown, because records are dropped or missing: shown as `unknown (records dropped or missing)`",
            "states are unknown, because records are dropped or missing: shown as `unknown (records dropped or missing)`",
        );
        add(DiagnosticKind::Loss, counts.unknown_states, singular, plural);
        let (singular, plural) = (
            "part of a collective operation cannot be counted, because records are dropped or missing: shown without its operation; `key (…)` in its rule makes counting unnecessary",
            "parts of collective operations cannot be counted, because records are dropped or missing: shown without their operations; `key (…)` in their rules makes counting unnecessary",
        );
        add(DiagnosticKind::Loss, counts.unmatched_parts, singular, plural);
        let (singular, plural) =
            ("timestamp before the first record: moved to it", "timestamps before the first record: moved to it");
        add(DiagnosticKind::Record, counts.early_timestamps, singular, plural);
        let (singular, plural) = (
            "record has a timestamp before that of its predecessor: moved to it",
            "records have timestamps before those of their predecessors: moved to them",
        );
        add(DiagnosticKind::Record, counts.backward_records, singular, plural);
        let (singular, plural) = ("value could not be computed: omitted", "values could not be computed: omitted");
        add(DiagnosticKind::Rule, counts.not_computable, singular, plural);
        let (singular, plural) = ("record could not be decoded: omitted", "records could not be decoded: omitted");
        add(DiagnosticKind::Damage, counts.unknown_records, singular, plural);
        repairs
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tumit_paje::diagnostic_texts;

    use super::*;

    #[test]
    fn some_losses_of_a_frequent_kind_are_listed() {
        let dropped = |number: u64| Loss::Dropped { file: PathBuf::from(format!("{number}.tmt")), records: number };
        let not_ended = |number: u64| Loss::NotEnded { file: PathBuf::from(format!("{number}.tmt")), live_records: 0 };
        let losses: Vec<Loss> =
            (2..32).map(dropped).zip((2..10).map(not_ended).cycle()).flat_map(<[_; 2]>::from).collect();
        let diagnostics = loss_diagnostics(&losses);
        assert!(diagnostics.iter().all(|diagnostic| diagnostic.is_error() && diagnostic.kind == DiagnosticKind::Loss));
        let texts = diagnostic_texts(&diagnostics);
        assert_eq!(texts.len(), 2 * (LISTED_PER_KIND + 1));
        assert_eq!(texts[0], "2.tmt: 2 records were dropped");
        assert!(texts[8].starts_with("… and 22 more of this kind"), "{}", texts[8]);
        assert!(texts[9].contains("did not end in order") && texts[17].starts_with("… and 22 more"), "{texts:?}");
        assert_eq!(loss_diagnostics(&losses[..16]).len(), 16);
    }
}
