//! Fits of the clocks of a run to its messages and samples, and the accuracy of the result.

pub(crate) mod causality_bounds;
mod clock_fit;
mod corrections;
mod fit_result;
mod inputs;
mod line_fit;
pub(crate) mod rebase;
pub(crate) mod refinement;
mod residuals;
pub(crate) mod sample_bounds;
pub(crate) mod uncorrected_clocks;
mod wander_estimate;

pub(crate) use corrections::{DomainCorrections, apply_correction};
