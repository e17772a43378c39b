//! What a conversion did, and what went wrong without stopping it.

use crate::clock::{Causality, Clocks};
use crate::run::Loss;
use crate::time::GlobalNanos;

/// Numbers of things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
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
    /// Links dated to end before their start.
    pub reversed_links: u64,
    /// Starts of links without an end, left out.
    pub unmatched_starts: u64,
    /// Ends of links without a start, left out.
    pub unmatched_ends: u64,
    /// Pops of states that were not open, left out.
    pub pops_of_nothing: u64,
    /// States of which nobody knows what they were, as records before them are lost.
    pub unknown_states: u64,
    /// Dates before the first record, moved to it.
    pub early_dates: u64,
    /// Records dated before the one that their stream recorded before them; they got its date.
    pub backward_records: u64,
    /// Values that could not be computed; their arrows were left out.
    pub not_computable: u64,
    /// Arrows `on existing` containers that were not there, left out as the rules say.
    pub without_container: u64,
    /// Records of which no schema speaks, or that could not be decoded.
    pub unknown_records: u64,
    /// Records that recorders dropped.
    pub dropped_records: u64,
}

/// The account of a conversion.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Numbers.
    pub counts: Counts,
    /// The largest date.
    pub end: GlobalNanos,
    /// What is missing from the run or damaged in it.
    pub losses: Vec<Loss>,
    /// What else a user should know: one sentence each.
    pub remarks: Vec<String>,
    /// The clock model.
    pub clocks: Clocks,
    /// Links that ended before they started by sync samples alone, if there were links and dates were then corrected by them.
    pub reversed_coarse: Option<u64>,
    /// What the causal pass did, if there were links and it was wanted.
    pub causality: Option<Causality>,
}

impl Report {
    /// Whether nothing was lost, damaged or left out.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.faults().is_empty()
    }

    /// What was lost, damaged, left out or moved, one line each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        self.losses.iter().map(ToString::to_string).chain(self.repairs()).collect()
    }

    /// Everything to tell the user, one line each: losses, repairs, remarks.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.faults().into_iter().chain(self.remarks.iter().cloned()).collect()
    }

    /// What was left out or moved.
    fn repairs(&self) -> Vec<String> {
        let counts = &self.counts;
        let mut lines = Vec::new();
        let mut say = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => lines.push(format!("1 {one}")),
            count => lines.push(format!("{count} {many}")),
        };
        let (one, many) = ("link start without an end: left out", "link starts without an end: left out");
        say(counts.unmatched_starts, one, many);
        let (one, many) = ("link end without a start: left out", "link ends without a start: left out");
        say(counts.unmatched_ends, one, many);
        let (one, many) = ("pop of a state that was not open: left out", "pops of states that were not open: left out");
        say(counts.pops_of_nothing, one, many);
        let (one, many) = (
            "state is not known, as records are lost: shown as `unknown (records lost)`",
            "states are not known, as records are lost: shown as `unknown (records lost)`",
        );
        say(counts.unknown_states, one, many);
        let (one, many) = ("date before the first record: moved to it", "dates before the first record: moved to it");
        say(counts.early_dates, one, many);
        let (one, many) = (
            "record is dated before the one recorded before it: it got that date",
            "records are dated before the ones recorded before them: they got those dates",
        );
        say(counts.backward_records, one, many);
        let (one, many) = ("value could not be computed: left out", "values could not be computed: left out");
        say(counts.not_computable, one, many);
        let (one, many) = ("record could not be decoded: left out", "records could not be decoded: left out");
        say(counts.unknown_records, one, many);
        lines
    }
}
