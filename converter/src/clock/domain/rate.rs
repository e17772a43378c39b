//! The rate of a clock, from anchors: readings of the clock together with the system's monotonic
//! clock.

use tracer_format::entries::ClockAnchor;

use crate::clock::limits::RateBounds;

/// Shortest time between two anchors from which a rate is computed, nanoseconds.
const APART: i128 = 10_000_000;
/// A rate between two anchors that differs from the median by more than one part in `ODD` is
/// ignored: the machine slept, or the clock was set.
const ODD: i128 = 200;

/// An anchor, or the distance between two anchors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct AnchorPoint {
    /// Nanoseconds of the system's monotonic clock.
    nanos: i128,
    ticks: i128,
}

impl AnchorPoint {
    fn elapsed_since(self, earlier: Self) -> Self {
        Self { nanos: self.nanos - earlier.nanos, ticks: self.ticks - earlier.ticks }
    }
}

/// Ticks per second. The mean over all pairs of neighbouring anchors with a usual rate; if there
/// are fewer than three pairs, the rate between the first anchor and the last.
pub(crate) fn from_anchors<'a>(anchors: impl Iterator<Item = &'a ClockAnchor>) -> Option<u64> {
    let mut points: Vec<AnchorPoint> = anchors
        .map(|anchor| AnchorPoint { nanos: anchor.monotonic_nanos.into(), ticks: anchor.ticks.into() })
        .collect();
    points.sort_unstable();
    let steps = points.windows(2).map(|pair| pair[1].elapsed_since(pair[0]));
    let steps: Vec<AnchorPoint> = steps.filter(|step| step.nanos > APART && step.ticks > 0).collect();
    let rate = |step: AnchorPoint| step.ticks * 1_000_000_000 / step.nanos;
    let mut rates: Vec<i128> = steps.iter().copied().map(rate).collect();
    rates.sort_unstable();
    let duration = points.first().zip(points.last()).map(|(first, last)| last.elapsed_since(*first));
    let usual = rates.get(rates.len() / 2).copied().filter(|_| rates.len() > 2);
    let all = match usual {
        Some(usual) => {
            let even = steps.into_iter().filter(|step| (rate(*step) - usual).abs() <= usual / ODD);
            even.fold(AnchorPoint::default(), |sum, step| AnchorPoint {
                nanos: sum.nanos + step.nanos,
                ticks: sum.ticks + step.ticks,
            })
        }
        None => duration?,
    };
    (all.nanos > 0 && all.ticks > 0).then(|| rate(all)).and_then(|hz| u64::try_from(hz).ok()).filter(|hz| *hz > 0)
}

/// Largest rate error of a real clock.
const MAX_RATE: f64 = 500e-6;
/// Error of an anchor beyond the time that it took to read, nanoseconds.
const NOISE: f64 = 20_000.0;
/// Largest rate error of the system's monotonic clock, which NTP keeps near to the truth.
const SYSTEM: f64 = 25e-6;

/// Bounds on the rate error of a clock with nominal rate `hz`, from its first anchor and its last.
/// `without_steps` removes clock steps from ticks. `None` if the anchors are too close together, or
/// the clock does not follow real time.
pub(crate) fn bounds<'a>(
    anchors: impl Iterator<Item = &'a ClockAnchor>,
    without_steps: impl Fn(u64) -> u64,
    hz: u64,
) -> Option<RateBounds> {
    let mut readings: Vec<&ClockAnchor> = anchors.collect();
    readings.sort_by_key(|anchor| anchor.monotonic_nanos);
    let (first, last) = (readings.first()?, readings.last()?);
    #[expect(clippy::cast_precision_loss, reason = "differences within a run are far below 2^53")]
    let (by_system, by_clock, uncertainty) = {
        let tick = 1e9 / hz.max(1) as f64;
        let ticks = i128::from(without_steps(last.ticks)) - i128::from(without_steps(first.ticks));
        let uncertainty = (first.bracket as f64 + last.bracket as f64) * tick;
        ((last.monotonic_nanos - first.monotonic_nanos) as f64, ticks as f64 * tick, uncertainty)
    };
    let (rate, error) = (by_clock / by_system - 1.0, SYSTEM + (2.0 * NOISE + uncertainty) / by_system);
    // The clock does not follow real time, or the anchors are too close together.
    (rate.abs() < MAX_RATE && error < MAX_RATE).then_some(RateBounds { low: rate - error, high: rate + error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_bound_a_rate() {
        // 2 GHz, 40 ppm fast.
        let reading = |second: u64| ClockAnchor {
            ticks: 2_000_080_000 * second,
            monotonic_nanos: 1_000_000_000 * second,
            bracket: 2000,
            ..ClockAnchor::default()
        };
        let readings: Vec<ClockAnchor> = (1..20).map(reading).collect();
        let RateBounds { low, high } = bounds(readings.iter(), |ticks| ticks, 2_000_000_000).unwrap();
        assert!((f64::midpoint(low, high) - 40e-6).abs() < 1e-9 && high - low < 60e-6, "{low} {high}");
        assert_eq!(bounds(readings[..1].iter(), |ticks| ticks, 2_000_000_000), None);
        // A clock that goes back during a reading makes the bracket as wide as its type.
        let back = readings.iter().map(|reading| ClockAnchor { bracket: u64::MAX, ..*reading }).collect::<Vec<_>>();
        assert_eq!(bounds(back.iter(), |ticks| ticks, 2_000_000_000), None);
        assert_eq!(bounds(readings.iter(), |ticks| ticks, 1_000_000_000), None);
    }

    #[test]
    fn sleep_of_the_machine_does_not_change_the_rate() {
        // 2.4 GHz; for a minute the system's clock stood still.
        let reading = |second: u64, slept: u64| ClockAnchor {
            ticks: 2_400_000_000 * (second + slept),
            monotonic_nanos: 1_000_000_000 * second,
            ..ClockAnchor::default()
        };
        let readings: Vec<ClockAnchor> =
            (1..20).map(|second| reading(second, if second > 7 { 60 } else { 0 })).collect();
        assert_eq!(from_anchors(readings.iter()), Some(2_400_000_000));
        assert_eq!(from_anchors(readings[..2].iter()), Some(2_400_000_000));
        assert_eq!(from_anchors(readings[..1].iter()), None);
    }
}
