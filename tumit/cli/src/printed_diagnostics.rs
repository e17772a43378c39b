//! Diagnostics about a trace, printed on standard error.

use tumit_paje::TraceDiagnostic;
use tumit_viewer::query::TraceSummary;

use crate::term;

/// Prints each diagnostic as one line.
pub(crate) fn print<'d>(diagnostics: impl IntoIterator<Item = &'d TraceDiagnostic>) {
    for diagnostic in diagnostics {
        term::note(&format!("tumit: {diagnostic}"));
    }
}

/// The diagnostics that are already printed.
#[derive(Debug)]
pub(crate) struct PrintedDiagnostics(Vec<TraceDiagnostic>);

impl PrintedDiagnostics {
    /// Prints all diagnostics.
    pub(crate) fn of(summary: &TraceSummary) -> Self {
        let mut printed = Self(Vec::new());
        printed.print_new(summary);
        printed
    }

    /// Prints new diagnostics. One is added, for example, when an index turns out to be damaged
    /// during a query and is built again.
    pub(crate) fn print_new(&mut self, summary: &TraceSummary) {
        for diagnostic in &summary.diagnostics {
            if !self.0.contains(diagnostic) {
                print([diagnostic]);
                self.0.push(diagnostic.clone());
            }
        }
    }
}
