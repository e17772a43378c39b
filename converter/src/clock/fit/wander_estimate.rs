//! The wander of clocks, estimated from a fit.

use super::fit_result::FitResult;
use crate::clock::graph::interpolate;
use crate::clock::limits::{WANDER_SAFETY_FACTOR, resolution_error};

/// The wander of corrections is measured over these fractions of a run (1/4, 1/8, 1/16).
const LAGS: [usize; 3] = [4, 8, 16];
/// Noise of the differences of corrections, in nanoseconds.
const CORRECTION_NOISE: f64 = 2000.0;

/// The largest wander that is consistent with a fit, per square root of a second.
pub(crate) fn largest_wander(fit_result: &FitResult) -> f64 {
    fit_result.fit.wander.max(wander_of_corrections(fit_result)) * WANDER_SAFETY_FACTOR
}

/// The wander of the corrections of a fit over long times, per square root of a second. For a clock
/// with wander `w`, the variance of `x(t + T) - 2 x(t) + x(t - T)` is `2/3 w² T³`.
fn wander_of_corrections(fit_result: &FitResult) -> f64 {
    let seconds = fit_result.span.nanos() * 1e-9;
    let free =
        (0..fit_result.joins.len()).filter(|domain| fit_result.joins[*domain].is_some_and(|joined| joined.hops > 0));
    let free: Vec<usize> = free.collect();
    let of_lag = |parts: usize| {
        let total = |domain: usize, knot: usize| -> f64 {
            fit_result.rounds.iter().map(|round| interpolate(&round[domain], knot as f64 / parts as f64)).sum()
        };
        let change = |domain: usize, knot: usize| {
            let change = total(domain, knot + 1) - 2.0 * total(domain, knot) + total(domain, knot - 1);
            (change.abs() - CORRECTION_NOISE - resolution_error(fit_result.tick)).max(0.0)
        };
        let squares = free.iter().flat_map(|domain| (1..parts).map(move |knot| change(*domain, knot).powi(2)));
        let mean = squares.sum::<f64>() / (free.len() * (parts - 1)).max(1) as f64;
        (1.5 * mean).sqrt() * 1e-9 / (seconds / parts as f64).powf(1.5)
    };
    LAGS.into_iter().map(of_lag).fold(0.0, f64::max)
}
