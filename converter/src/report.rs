//! The result of a conversion, and the problems that did not stop it.

use std::mem::{self, Discriminant};

use crate::clock::{CausalityReport, RunClocks};
use crate::run::Loss;
use tumit_paje::time::GlobalNanos;

/// Maximum number of losses of one kind that are listed.
const TOLD_OF_A_KIND: usize = 8;

/// The texts of losses, one line each. Of each kind, the first ones are listed, followed by the
/// number of the others. Kinds are in the order of their first occurrence.
#[must_use]
pub fn told(losses: &[Loss]) -> Vec<String> {
    let mut kinds: Vec<(Discriminant<Loss>, Vec<String>, usize)> = Vec::new();
    for loss in losses {
        let kind = mem::discriminant(loss);
        let at = kinds.iter().position(|known| known.0 == kind).unwrap_or(kinds.len());
        if at == kinds.len() {
            kinds.push((kind, Vec::new(), 0));
        }
        let (_, lines, more) = &mut kinds[at];
        if lines.len() < TOLD_OF_A_KIND {
            lines.push(loss.to_string());
        } else {
            *more += 1;
        }
    }
    let of_kind = |(_, lines, more): (_, Vec<String>, usize)| {
        lines
            .into_iter()
            .chain((more > 0).then(|| format!("… and {more} more of this kind: `tumit info --json` lists all of them")))
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Counts of a conversion.
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
    /// Link starts without an end. They are left out.
    pub unmatched_starts: u64,
    /// Link ends without a start. They are left out.
    pub unmatched_ends: u64,
    /// Pops of states that were not open. They are left out.
    pub pops_of_nothing: u64,
    /// Unknown states, because preceding records are missing.
    pub unknown_states: u64,
    /// Timestamps before the first record. They are moved to it.
    pub early_dates: u64,
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
    /// Records that recorders dropped.
    pub dropped_records: u64,
}

/// The report of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConversionReport {
    /// Numbers.
    pub counts: ConversionCounts,
    /// The last timestamp.
    pub end: GlobalNanos,
    /// Dropped, missing or damaged data of the run.
    pub losses: Vec<Loss>,
    /// Other information for the user: one sentence each.
    pub remarks: Vec<String>,
    /// References by value that several processes match: one sentence each, with the place of the
    /// rule.
    pub ambiguous: Vec<String>,
    /// The clock model.
    pub clocks: RunClocks,
    /// Links that end before they start by the sync samples alone. `None` if there are no links, or
    /// if they did not correct the clocks.
    pub reversed_coarse: Option<u64>,
    /// The result of the causal correction. `None` if there are no links or it was not requested.
    pub causality: Option<CausalityReport>,
    /// Errors in the lines of a Pajé text output that was merged with the rules.
    pub text_faults: Vec<String>,
}

impl ConversionReport {
    /// Whether nothing is missing, damaged or left out.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults().is_empty()
    }

    /// Missing, damaged, omitted or moved data, one line each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let of_run = told(&self.losses).into_iter().chain(self.repairs());
        let of_run = of_run.chain(self.ambiguous.iter().cloned()).chain(self.clock_faults());
        of_run.chain(self.text_faults.iter().cloned()).collect()
    }

    /// Faults of the clocks, the sync samples or the order of links, with their treatment, one line
    /// each.
    #[must_use]
    pub fn clock_faults(&self) -> Vec<String> {
        let of_order = self.causality.map(|found| found.faults(&self.clocks)).unwrap_or_default();
        let beyond = (self.end == GlobalNanos::LAST).then(|| {
            "the run lasts for more than 292 years, and later timestamps are moved to this limit: \
             the program gave a wrong rate for its clock, or its clock was stepped (`tumit info` \
             shows the rate)"
                .to_owned()
        });
        self.clocks.faults().into_iter().chain(of_order).chain(beyond).collect()
    }

    /// All messages for the user, one line each: losses, corrections, remarks.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.faults().into_iter().chain(self.remarks.iter().cloned()).collect()
    }

    /// The corrections: data that were left out or moved.
    fn repairs(&self) -> Vec<String> {
        let counts = &self.counts;
        let mut lines = Vec::new();
        let mut say = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => lines.push(format!("1 {one}")),
            count => lines.push(format!("{count} {many}")),
        };
        let (one, many) = ("link start without an end: omitted", "link starts without an end: omitted");
        say(counts.unmatched_starts, one, many);
        let (one, many) = ("link end without a start: omitted", "link ends without a start: omitted");
        say(counts.unmatched_ends, one, many);
        let (one, many) = ("pop of a state that was not open: omitted", "pops of states that were not open: omitted");
        say(counts.pops_of_nothing, one, many);
        let (one, many) = (
            "state is unknown, because records are dropped or missing: shown as `unknown (records lost)`",
            "states are unknown, because records are dropped or missing: shown as `unknown (records lost)`",
        );
        say(counts.unknown_states, one, many);
        let (one, many) =
            ("timestamp before the first record: moved to it", "timestamps before the first record: moved to it");
        say(counts.early_dates, one, many);
        let (one, many) = (
            "record has a timestamp before that of its predecessor: moved to it",
            "records have timestamps before those of their predecessors: moved to them",
        );
        say(counts.backward_records, one, many);
        let (one, many) = ("value could not be computed: omitted", "values could not be computed: omitted");
        say(counts.not_computable, one, many);
        let (one, many) = ("record could not be decoded: omitted", "records could not be decoded: omitted");
        say(counts.unknown_records, one, many);
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn some_losses_of_a_frequent_kind_are_listed() {
        let dropped = |at: u64| Loss::Dropped { file: PathBuf::from(format!("{at}.tmt")), records: at };
        let ended = |at: u64| Loss::NotEnded { file: PathBuf::from(format!("{at}.tmt")), live_records: 0 };
        let losses: Vec<Loss> = (2..32).map(dropped).zip((2..10).map(ended).cycle()).flat_map(<[_; 2]>::from).collect();
        let told = told(&losses);
        assert_eq!(told.len(), 2 * (TOLD_OF_A_KIND + 1));
        assert_eq!(told[0], "2.tmt: 2 records were dropped");
        assert!(told[8].starts_with("… and 22 more of this kind"), "{}", told[8]);
        assert!(told[9].contains("did not end in order") && told[17].starts_with("… and 22 more"), "{told:?}");
        assert_eq!(super::told(&losses[..16]).len(), 16);
    }
}
