//! What a user should know of a trace, on standard error.

use tumit_viewer::query::Summary;

use crate::term;

/// The remarks that were told.
#[derive(Debug)]
pub(crate) struct Told(Vec<String>);

impl Told {
    /// Tells all.
    pub(crate) fn of(summary: &Summary) -> Self {
        let mut told = Self(Vec::new());
        told.rest(summary);
        told
    }

    /// Tells what has come since: an index that turned out to be damaged while it was asked has been made anew.
    pub(crate) fn rest(&mut self, summary: &Summary) {
        for remark in &summary.remarks {
            if !self.0.contains(remark) {
                term::note(&format!("tumit: {remark}"));
                self.0.push(remark.clone());
            }
        }
    }
}
