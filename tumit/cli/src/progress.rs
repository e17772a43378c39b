//! The progress bar, on a terminal only.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use tumit_converter::convert::ProgressFn;

use crate::term;

/// A progress bar that is removed when dropped. There is none without a terminal.
#[derive(Debug)]
pub(crate) struct ProgressDisplay(Option<ProgressBar>);

/// Minimum duration of work before an estimate. An estimate from less work is too inaccurate.
const SOON: Duration = Duration::from_millis(500);

impl ProgressDisplay {
    /// A bar for work that is counted in `unit`, an indicatif placeholder with its noun.
    pub(crate) fn new(unit: &str) -> Self {
        Self(term::is_interactive().then(|| {
            let style = ProgressStyle::with_template(&format!("{{bar:40}} {{percent}}% of {unit}{{left}}"));
            let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
            let style = style.with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&remaining_time(state.pos(), state.len(), state.elapsed(), state.eta()));
            });
            ProgressBar::new(0).with_style(style)
        }))
    }

    /// The callback for the worker, with the number of completed steps and of all steps.
    pub(crate) fn callback(&self) -> Option<ProgressFn> {
        let bar = self.0.clone()?;
        Some(Arc::new(move |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        }))
    }
}

/// The estimated remaining time. Empty while it is unknown.
fn remaining_time(finished_work: u64, total_work: Option<u64>, elapsed: Duration, estimate: Duration) -> String {
    let is_known =
        finished_work > 0 && total_work.is_some_and(|total_work| finished_work < total_work) && elapsed >= SOON;
    if !is_known {
        return String::new();
    }
    match estimate {
        // A rounded value would be zero.
        soon if soon < Duration::from_secs(1) => ", less than a second left".to_owned(),
        estimate => format!(", {} left", HumanDuration(estimate)),
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, remaining_time};

    #[test]
    fn nothing_is_estimated_before_something_is_known() {
        let seconds = Duration::from_secs;
        assert_eq!(remaining_time(0, Some(100), seconds(9), seconds(0)), "");
        assert_eq!(remaining_time(0, Some(0), seconds(9), seconds(0)), "");
        assert_eq!(remaining_time(1, Some(100), Duration::from_millis(20), seconds(2)), "");
        assert_eq!(remaining_time(1, None, seconds(1), seconds(9)), "");
        assert_eq!(remaining_time(100, Some(100), seconds(1), seconds(0)), "");
        assert_eq!(remaining_time(50, Some(100), seconds(4), seconds(4)), ", 4 seconds left");
        assert_eq!(remaining_time(99, Some(100), seconds(4), Duration::from_millis(40)), ", less than a second left");
    }
}
