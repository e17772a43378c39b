//! [`CausalityReport`]: the statistics and diagnostics of the causal pass.

use crate::clock::RunClocks;
use crate::clock::steps::from_messages::OF_TICKS;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// A shift of this size means that the clock model is wrong, nanoseconds.
pub(crate) const LARGE_NANOS: i64 = 10_000;

/// Statistics of the causal pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CausalityReport {
    /// Complete links.
    pub links: u64,
    /// Links that ended before they started.
    pub reversals: u64,
    /// Links with an end that had to be moved: the reversed ones, and those with a start that was
    /// moved after their end.
    pub moved_links: u64,
    /// Parts of collective operations that wait for other parts.
    pub parts: u64,
    /// Parts that ended before a part began for which they wait.
    pub reversed_parts: u64,
    /// Parts with an end that had to be moved.
    pub moved_parts: u64,
    /// The largest shift of a timestamp, nanoseconds.
    pub largest_nanos: i64,
    /// Links and parts that contradict the order of their own streams and may still be reversed.
    pub circular: u64,
}

impl CausalityReport {
    /// Whether the number or the size of the shifts shows that the clock model is wrong.
    pub(super) fn is_suspicious(&self) -> bool {
        (self.reversals + self.reversed_parts) * 1000 > self.links + self.parts || self.largest_nanos >= LARGE_NANOS
    }

    /// The result for links that all end later than they start.
    pub(crate) fn of_forward(links: u64) -> Self {
        Self { links, ..Self::default() }
    }

    /// Whether the largest shift exceeds the known error bounds of the clocks.
    fn is_impossible(&self, clocks: &RunClocks) -> bool {
        let mut certain = clocks.domains[1..].iter().map(|domain| domain.error_bound_nanos);
        let certain = certain.try_fold(0.0, |max_bound, bound| bound.map(|bound| f64::max(max_bound, bound)));
        #[expect(clippy::cast_precision_loss, reason = "the number is only compared with a bound")]
        let exceeds_bounds = |certain: f64| self.largest_nanos as f64 > 2.0 * certain + OF_TICKS * clocks.granularity();
        clocks.domains.len() > 1 && self.largest_nanos >= LARGE_NANOS && certain.is_some_and(exceeds_bounds)
    }

    fn moved_text(&self) -> String {
        let Self { links, reversals: reversed, parts, reversed_parts, largest_nanos, .. } = *self;
        #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
        let micros = largest_nanos as f64 * 1e-3;
        let reversed_links = format!("{reversed} of {links} links ended before they started");
        let reversed_parts = match parts {
            0 => String::new(),
            _ => format!(
                "; {reversed_parts} of {parts} parts of collective operations ended before those began for which they wait"
            ),
        };
        format!("{reversed_links}{reversed_parts}; timestamps were moved by up to {micros:.1} us to order them")
    }

    /// Errors of the order of links.
    pub(crate) fn errors(&self, clocks: &RunClocks) -> Vec<TraceDiagnostic> {
        let Self { links, parts, circular, .. } = *self;
        let mut errors = Vec::new();
        let clock_error = |text: String| TraceDiagnostic::error(DiagnosticKind::Clock, text);
        if circular > 0 {
            let all = match parts {
                0 => format!("{links} links"),
                _ => format!("{links} links and {parts} parts of collective operations"),
            };
            let text = format!(
                "{circular} of {all} contradict the order of the records in their streams, so no timestamps can order them; check whether the keys of the rules pair the right endpoints"
            );
            errors.push(TraceDiagnostic::error(DiagnosticKind::Link, text));
        }
        if self.is_impossible(clocks) {
            errors.push(clock_error(format!(
                "the clock model is wrong by more than its error bounds: {}",
                self.moved_text()
            )));
        } else if self.is_odd(clocks) && clocks.claim_all() {
            errors.push(clock_error(format!("the clock model is wrong: {}", self.moved_text())));
        }
        errors
    }

    /// Whether there are suspicious shifts that the resolution of the clocks does not explain.
    fn is_odd(&self, clocks: &RunClocks) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "the number is only compared with a bound")]
        let is_beyond_ticks = self.largest_nanos as f64 > OF_TICKS * clocks.granularity();
        self.is_suspicious() && is_beyond_ticks
    }

    /// A warning if the shifts are suspicious, but the clocks claim no precision.
    pub(crate) fn warning(&self, clocks: &RunClocks) -> Option<TraceDiagnostic> {
        let is_warning = self.is_odd(clocks) && !self.is_impossible(clocks) && !clocks.claim_all();
        let text = || format!("the clock model is wrong: {}", self.moved_text());
        is_warning.then(|| TraceDiagnostic::warning(DiagnosticKind::Clock, text()))
    }
}
