//! The bar of progress, on a terminal only.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use tumit_converter::convert::Progress;

use crate::term;

/// A bar that is gone when this is dropped; none where nobody looks.
#[derive(Debug)]
pub(crate) struct Bar(Option<ProgressBar>);

/// Work that has not gone on for so long says too little of what is left.
const SOON: Duration = Duration::from_millis(500);

impl Bar {
    /// A bar over work that is counted in `unit`: an indicatif placeholder with its word.
    pub(crate) fn new(unit: &str) -> Self {
        Self(term::is_interactive().then(|| {
            let style = ProgressStyle::with_template(&format!("{{bar:40}} {{percent}}% of {unit}{{left}}"));
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&left(state.pos(), state.len(), state.elapsed(), state.eta()));
            });
            ProgressBar::new(0).with_style(style)
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

/// How long it will still take; nothing while that is not known.
fn left(done: u64, all: Option<u64>, elapsed: Duration, estimate: Duration) -> String {
    let is_known = done > 0 && all.is_some_and(|all| done < all) && elapsed >= SOON;
    if !is_known {
        return String::new();
    }
    match estimate {
        // Rounded, it would be no time at all.
        soon if soon < Duration::from_secs(1) => ", less than a second left".to_owned(),
        estimate => format!(", {} left", HumanDuration(estimate)),
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, left};

    #[test]
    fn nothing_is_estimated_before_something_is_known() {
        let seconds = Duration::from_secs;
        assert_eq!(left(0, Some(100), seconds(9), seconds(0)), "");
        assert_eq!(left(0, Some(0), seconds(9), seconds(0)), "");
        assert_eq!(left(1, Some(100), Duration::from_millis(20), seconds(2)), "");
        assert_eq!(left(1, None, seconds(1), seconds(9)), "");
        assert_eq!(left(100, Some(100), seconds(1), seconds(0)), "");
        assert_eq!(left(50, Some(100), seconds(4), seconds(4)), ", 4 seconds left");
        assert_eq!(left(99, Some(100), seconds(4), Duration::from_millis(40)), ", less than a second left");
    }
}
