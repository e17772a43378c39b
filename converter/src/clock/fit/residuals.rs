//! The size of a fit's residuals.

/// Absolute residuals of a fit, nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FitResiduals {
    pub(crate) median: f64,
    /// The 95th percentile.
    pub(crate) p95: f64,
}

impl FitResiduals {
    pub(crate) fn of(residuals: &mut [f64]) -> Self {
        residuals.sort_by(f64::total_cmp);
        let percentile = |share: usize| residuals.get(residuals.len() * share / 100).copied().unwrap_or(0.0);
        Self { median: percentile(50), p95: percentile(95) }
    }
}
