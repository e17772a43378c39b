//! Offsets of the first and the last burst, if their messages are slow.
//!
//! A burst with slow messages gives only wide bounds on the offset. [`crate::clock::samples`]
//! removes slow bursts between others. The first and the last burst are needed for the timestamps
//! beyond the others. Their offset is replaced by the value within their bounds that is nearest to
//! the prediction of the other bursts.

use crate::clock::burst::ClockOffset;
use crate::clock::limits::MIN_WANDER;

/// Nanoseconds per second. Wander is given per square root of a second.
const NANOS: f64 = 1e9;

/// Corrects the first and the last offset if the other bursts are more precise. O(bursts).
pub(crate) fn correct_edges(offsets: &mut [ClockOffset], tick: f64) {
    let others = |all: &[ClockOffset]| all[1..].to_vec();
    if let Some(offset) = offsets.first().and_then(|end| predicted_offset(*end, &others(offsets), tick)) {
        offsets[0].offset = offset;
    }
    offsets.reverse();
    if let Some(offset) = offsets.first().and_then(|end| predicted_offset(*end, &others(offsets), tick)) {
        offsets[0].offset = offset;
    }
    offsets.reverse();
}

/// The offset of a burst at an end as the others predict it, limited to the bounds of the burst.
/// `None` if the prediction is not more precise. `later_offsets` starts with the nearest burst.
fn predicted_offset(end: ClockOffset, later_offsets: &[ClockOffset], tick: f64) -> Option<f64> {
    let (&nearest, later_values) = later_offsets.split_first()?;
    let gap = (nearest.local - end.local).abs();
    // A burst at this distance gives a sufficiently precise slope.
    let distant_offset =
        *later_values.iter().find(|far| (far.local - nearest.local).abs() >= gap).or(later_values.last())?;
    let span = (distant_offset.local - nearest.local).abs();
    let times = gap / span;
    // The common part of all round trips does not count. It is the same in both directions, or it
    // is the same error in each burst.
    let best = later_offsets.iter().map(|other| other.half_trip).fold(end.half_trip, f64::min);
    let slow = end.half_trip - best;
    let noise = noise(later_offsets).unwrap_or(nearest.half_trip).min(nearest.half_trip) + tick;
    let max_deviation = noise * (1.0 + 2.0 * times) + MIN_WANDER * NANOS * (gap / NANOS).powf(1.5);
    if !(span > 0.0 && max_deviation < slow) {
        return None;
    }
    let predicted = nearest.offset
        + (nearest.offset - distant_offset.offset) / (nearest.local - distant_offset.local)
            * (end.local - nearest.local);
    // A larger contradiction means that there is a clock step in between.
    ((predicted - end.offset).abs() <= end.half_trip + max_deviation)
        .then(|| predicted.clamp(end.offset - end.half_trip, end.offset + end.half_trip))
}

/// Twice the median distance of a burst from the line between its neighbours. Needs at least four
/// bursts.
fn noise(bursts: &[ClockOffset]) -> Option<f64> {
    if bursts.len() < 4 {
        return None;
    }
    let distances = bursts.windows(3).map(|three| {
        let [before, here, behind] = [three[0], three[1], three[2]];
        let fraction = (here.local - before.local) / (behind.local - before.local);
        (here.offset - before.offset - fraction * (behind.offset - before.offset)).abs()
    });
    let mut distances: Vec<f64> = distances.filter(|distance| distance.is_finite()).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 2).map(|distance| 2.0 * distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts of a clock that drifts by 40 ppm. Each is given by a time in seconds, an error in
    /// microseconds, and half of its round trip in microseconds.
    fn offsets(bursts: &[(f64, f64, f64)]) -> Vec<ClockOffset> {
        let offset = |&(timestamp, distances, half): &(f64, f64, f64)| {
            let local = timestamp * 1e9;
            ClockOffset { local, offset: 40e-6 * local + distances * 1e3, half_trip: half * 1e3 }
        };
        bursts.iter().map(offset).collect()
    }

    fn deviations(bursts: &[(f64, f64, f64)]) -> Vec<f64> {
        let mut steadied = offsets(bursts);
        correct_edges(&mut steadied, 1.0);
        steadied.iter().map(|offset| ((offset.offset - 40e-6 * offset.local) / 1e3).round()).collect()
    }

    #[test]
    fn slow_edge_bursts_are_corrected_by_the_others() {
        assert_eq!(deviations(&[(0.0, 500.0, 505.0), (1.0, 0.0, 5.0), (2.0, 0.0, 5.0)]), [0.0, 0.0, 0.0]);
        assert_eq!(deviations(&[(0.0, 0.0, 5.0), (1.0, 0.0, 5.0), (2.0, -500.0, 505.0)]), [0.0, 0.0, 0.0]);
        // The result stays within the bounds of the burst.
        assert_eq!(deviations(&[(0.0, 510.0, 500.0), (1.0, 0.0, 5.0), (2.0, 0.0, 5.0)]), [10.0, 0.0, 0.0]);
    }

    #[test]
    fn delays_of_all_bursts_have_no_effect() {
        let mut bursts: Vec<(f64, f64, f64)> =
            (0..8).map(|n| (f64::from(n) * 5.0, f64::from(n % 3) * 0.4, 50.0)).collect();
        bursts[0] = (0.0, 50.0, 100.0);
        assert!(deviations(&bursts)[0].abs() <= 2.0, "{:?}", deviations(&bursts));
    }

    #[test]
    fn edge_bursts_without_better_data_are_kept() {
        assert_eq!(deviations(&[(0.0, 500.0, 505.0), (1.0, 0.0, 5.0)]), [500.0, 0.0]);
        assert_eq!(deviations(&[(0.0, 4.0, 6.0), (1.0, 0.0, 5.0), (2.0, 0.0, 5.0)]), [4.0, 0.0, 0.0]);
        // The burst is far away, and the others are near each other.
        assert_eq!(deviations(&[(0.0, 50.0, 60.0), (100.0, 0.0, 5.0), (100.1, 0.0, 5.0)]), [50.0, 0.0, 0.0]);
        // A clock step.
        assert_eq!(deviations(&[(0.0, 3000.0, 505.0), (1.0, 0.0, 5.0), (2.0, 0.0, 5.0)]), [3000.0, 0.0, 0.0]);
    }
}
