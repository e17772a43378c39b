//! The bar of progress, on a terminal only.

use std::sync::Arc;

use converter::pipeline::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::term;

/// A bar that is gone when this is dropped; none where nobody looks.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar over work that is counted in `unit`: an indicatif placeholder with its word.
    pub(crate) fn new(unit: &str) -> Self {
        Self(term::is_interactive().then(|| {
            let style = ProgressStyle::with_template(&format!("{{bar:40}} {{percent}}% of {unit}, {{eta}} left"));
            ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }))
    }

    /// What the worker calls with steps done and steps in all.
    pub(crate) fn teller(&self) -> Option<Progress> {
        let bar = self.0.clone()?;
        Some(Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        }))
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
