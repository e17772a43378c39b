//! [`DurationHistogram`]: the distribution of durations in bounded memory.

use rustc_hash::FxHashMap;

/// Binary digits of a duration that distinguish the buckets of one power of two.
const BUCKET_DIGITS: u32 = 6;
/// Durations below this number of nanoseconds have a bucket of their own.
const EXACT: u64 = 1 << (BUCKET_DIGITS + 1);

/// Maximum number of durations that are stored one by one.
const MAX_STORED: usize = 4096;

/// Durations in nanoseconds: number, sum, minimum and maximum are exact. Quantiles of up to 4,096
/// durations are exact, too. Quantiles of more durations have a relative error of at most 1/128
/// (0.8 %), and none below 128 ns.
///
/// More durations are counted in buckets, 64 for each power of two, so that the memory does not
/// depend on their number.
///
/// ```
/// use tumit_profile::duration_histogram::DurationHistogram;
///
/// let mut durations = DurationHistogram::default();
/// (1..=100).for_each(|nanos| durations.add(nanos));
/// assert_eq!((durations.count(), durations.quantile(0.5)), (100, Some(50)));
/// assert_eq!((durations.min(), durations.mean(), durations.max()), (Some(1), Some(50.5), Some(100)));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationHistogram {
    count: u64,
    sum: i128,
    min: i64,
    max: i64,
    /// All durations. Empty if they are in buckets.
    stored: Vec<i64>,
    buckets: FxHashMap<u16, u64>,
}

fn bucket(nanos: u64) -> u16 {
    if nanos < EXACT {
        return nanos as u16;
    }
    let power = nanos.ilog2();
    let digits = (nanos >> (power - BUCKET_DIGITS)) - (1 << BUCKET_DIGITS);
    (EXACT + (u64::from(power - BUCKET_DIGITS - 1) << BUCKET_DIGITS) + digits) as u16
}

/// The middle of a bucket.
fn bucket_middle(bucket: u16) -> i64 {
    let bucket = u64::from(bucket);
    let Some(number) = bucket.checked_sub(EXACT) else { return bucket.cast_signed() };
    let shift = (number >> BUCKET_DIGITS) + 1;
    let digits = (number & ((1 << BUCKET_DIGITS) - 1)) + (1 << BUCKET_DIGITS);
    ((digits << shift) + ((1 << shift) >> 1)).cast_signed()
}

impl DurationHistogram {
    /// Adds a duration. A negative one counts as 0.
    pub fn add(&mut self, nanos: i64) {
        let nanos = nanos.max(0);
        self.min = if self.count == 0 { nanos } else { self.min.min(nanos) };
        self.max = self.max.max(nanos);
        self.count += 1;
        self.sum += i128::from(nanos);
        self.store(nanos);
    }

    fn store(&mut self, nanos: i64) {
        if self.buckets.is_empty() && self.stored.len() < MAX_STORED {
            return self.stored.push(nanos);
        }
        for nanos in self.stored.drain(..).chain([nanos]) {
            *self.buckets.entry(bucket(nanos.cast_unsigned())).or_default() += 1;
        }
    }

    /// Adds all durations of another histogram.
    #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        if !other.buckets.is_empty() {
            for nanos in self.stored.drain(..) {
                *self.buckets.entry(bucket(nanos.cast_unsigned())).or_default() += 1;
            }
        }
        for (&bucket, &count) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += count;
        }
        other.stored.iter().for_each(|&nanos| self.store(nanos));
    }

    /// Number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The shortest duration. `None` if there are no durations.
    pub fn min(&self) -> Option<i64> {
        (self.count > 0).then_some(self.min)
    }

    /// The longest duration. `None` if there are no durations.
    pub fn max(&self) -> Option<i64> {
        (self.count > 0).then_some(self.max)
    }

    /// The mean. `None` if there are no durations.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The smallest duration that the given share of all durations does not exceed, with the error
    /// above. `None` if there are no durations. A share of 0 gives the minimum, 1 the maximum. The
    /// cost is at most that of sorting 4,096 numbers.
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let rank = ((share.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        if self.buckets.is_empty() {
            let mut sorted = self.stored.clone();
            sorted.sort_unstable();
            return sorted.get(rank as usize - 1).copied();
        }
        let mut buckets: Vec<(u16, u64)> = self.buckets.iter().map(|(&bucket, &count)| (bucket, count)).collect();
        buckets.sort_unstable();
        let mut smaller = 0;
        let bucket = buckets.iter().find(|(_, count)| {
            smaller += count;
            smaller >= rank
        })?;
        Some(bucket_middle(bucket.0).clamp(self.min, self.max))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy as _, any, prop_assert, prop_oneof};
    use proptest::proptest;

    use super::{DurationHistogram, MAX_STORED};

    proptest! {
        #[test]
        fn quantiles_have_an_error_below_one_percent(
            // All magnitudes are equally frequent.
            nanos in proptest::collection::vec(
                (0_u32..63, any::<i64>()).prop_map(|(shift, nanos)| (nanos & i64::MAX) >> shift), 1..40),
            // Up to 4,096 durations are exact.
            repetitions in prop_oneof![Just(1), Just(60), Just(200)],
            split in 0_usize..8_000,
            share in 0.0_f64..=1.0,
        ) {
            let nanos = nanos.repeat(repetitions);
            let (mut all, mut others) = (DurationHistogram::default(), DurationHistogram::default());
            for (index, nanos) in nanos.iter().enumerate() {
                if index < split { all.add(*nanos) } else { others.add(*nanos) }
            }
            all.merge(&others);
            let mut sorted = nanos.clone();
            sorted.sort_unstable();
            let rank = (share * sorted.len() as f64).ceil() as usize;
            let exact = sorted[rank.saturating_sub(1)];
            let quantile = all.quantile(share).expect("there are durations");
            let error = if nanos.len() <= MAX_STORED { 0.0 } else { exact as f64 / 128.0 };
            prop_assert!(exact.abs_diff(quantile) as f64 <= error, "{exact} {quantile}");
            prop_assert!(all.min() == sorted.first().copied() && all.max() == sorted.last().copied());
        }
    }
}
