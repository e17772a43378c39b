//! Bounds on the wander of a clock. The rate of a clock is a random walk, and a few of its standard
//! deviations are allowed.

/// Number of allowed standard deviations.
const SIGMAS: f64 = 5.0;

/// The allowed wander of a clock. All times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WanderAllowance {
    /// The possible change of a rate in one nanosecond. It grows with the square root of the time.
    step: f64,
}

impl WanderAllowance {
    /// `wander` is the standard deviation of the rate's change in one second.
    pub(crate) fn new(wander: f64) -> Self {
        Self { step: SIGMAS * wander * 1e-9f64.sqrt() }
    }

    /// Maximum distance of a clock from the chord through its positions `time_before` earlier and
    /// `time_after` later.
    pub(crate) fn off_chord(self, time_before: f64, time_after: f64) -> f64 {
        self.step * time_before * time_after / (3.0 * (time_before + time_after)).max(f64::MIN_POSITIVE).sqrt()
    }

    /// Maximum difference between the mean rate of a piece and the mean rate of a longer time
    /// around it. The longer time consists of `time_before`, the piece, and `time_after`.
    pub(crate) fn off_mean(self, time_before: f64, piece: f64, time_after: f64) -> f64 {
        let time = time_before + piece + time_after;
        let inner = piece * (time_before * time_before - time_before * time_after + time_after * time_after);
        self.step * ((time_before.powi(3) + time_after.powi(3) + inner) / 3.0).max(0.0).sqrt() / time
    }

    /// Maximum difference between the mean rates of two pieces that are `gap` apart.
    pub(crate) fn rate_difference(self, interval: f64, gap: f64, other_interval: f64) -> f64 {
        self.step * (gap + (interval + other_interval) / 3.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds up many small independent changes of the rate. Each acts on the result in proportion to
    /// `effect`.
    fn sum_changes(span: f64, effect: impl Fn(f64) -> f64) -> f64 {
        const STEPS: u32 = 20_000;
        let step = span / f64::from(STEPS);
        let squares = (0..STEPS).map(|step_number| effect((f64::from(step_number) + 0.5) * step).powi(2) * step);
        SIGMAS * squares.sum::<f64>().sqrt()
    }

    #[test]
    fn the_allowances_are_those_of_a_random_walk() {
        let allowance = WanderAllowance { step: SIGMAS };
        let assert_close =
            |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 1e-3, "{value} {expected}");
        // A change of the rate tilts all later positions. Relative to the chord this is a hat
        // function.
        let (before, after) = (30.0, 70.0);
        let hat = |position: f64| {
            if position < before { position * after / 100.0 } else { (100.0 - position) * before / 100.0 }
        };
        assert_close(allowance.off_chord(before, after), sum_changes(100.0, hat));
        // Mean rates from 0 to 100 and from 30 to 50: the fraction of each that follows a change.
        let part = |from: f64, to: f64, position: f64| ((to - position) / (to - from)).clamp(0.0, 1.0);
        assert_close(
            allowance.off_mean(30.0, 20.0, 50.0),
            sum_changes(100.0, |position| part(0.0, 100.0, position) - part(30.0, 50.0, position)),
        );
        assert_close(
            allowance.rate_difference(20.0, 10.0, 40.0),
            sum_changes(70.0, |position| part(0.0, 20.0, position) - part(30.0, 70.0, position)),
        );
        assert_eq!(allowance.off_chord(0.0, 0.0), 0.0);
    }
}
