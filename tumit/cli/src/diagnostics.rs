//! Diagnostics about a trace, printed on standard error.

use tumit_viewer::query::TraceSummary;

use crate::term;

/// The diagnostics that are already printed.
#[derive(Debug)]
pub(crate) struct PrintedDiagnostics(Vec<String>);

impl PrintedDiagnostics {
    /// Prints all diagnostics.
    pub(crate) fn of(summary: &TraceSummary) -> Self {
        let mut told = Self(Vec::new());
        told.rest(summary);
        told
    }

    /// Prints new diagnostics. One is added, for example, when an index turns out to be damaged
    /// during a query and is built again.
    pub(crate) fn rest(&mut self, summary: &TraceSummary) {
        for remark in &summary.remarks {
            if !self.0.contains(remark) {
                term::note(&format!("tumit: {remark}"));
                self.0.push(remark.clone());
            }
        }
    }
}
