//! Quantiles of the durations of states and links.

use std::collections::BTreeMap;

use crate::query::entity_walk;
use crate::query::{ContainerId, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId, ValueId};

/// Durations in nanoseconds, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Durations(Vec<i64>);

impl FromIterator<i64> for Durations {
    fn from_iter<I: IntoIterator<Item = i64>>(nanos: I) -> Self {
        let mut all: Vec<i64> = nanos.into_iter().collect();
        all.sort_unstable();
        Self(all)
    }
}

impl Durations {
    /// Number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// All durations, sorted.
    pub(crate) fn into_nanos(self) -> Vec<i64> {
        self.0
    }

    /// The mean. `None` if there are no durations.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub fn mean(&self) -> Option<f64> {
        let sum: i128 = self.0.iter().map(|&nanos| i128::from(nanos)).sum();
        (!self.0.is_empty()).then(|| sum as f64 / self.0.len() as f64)
    }

    /// The smallest duration that the given share of all durations does not exceed. `None` if there
    /// are no durations. A share of 0 gives the minimum, 1 the maximum.
    #[must_use]
    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
    pub fn quantile(&self, share: f64) -> Option<i64> {
        let rank = (share.clamp(0.0, 1.0) * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied()
    }
}

/// Whole durations of the states that overlap a time range, by value, over all depths. Reads each
/// state, and uses 8 bytes for each.
///
/// # Errors
/// As [`TimelineSource::states`].
pub(crate) fn durations(
    source: &dyn TimelineSource,
    containers: &[ContainerId],
    ty: TypeId,
    time_range: TimeRange,
) -> Result<BTreeMap<ValueId, Durations>, QueryError> {
    let mut all: BTreeMap<ValueId, Vec<i64>> = BTreeMap::new();
    for &container in containers {
        for depth in 0..source.depths(container, ty) {
            entity_walk::states(source, StateLaneId { container, ty, depth }, time_range, |state| {
                all.entry(state.value).or_default().push(state.life.to.0.saturating_sub(state.life.from.0));
                Ok(())
            })?;
        }
    }
    Ok(all.into_iter().map(|(value, nanos)| (value, nanos.into_iter().collect())).collect())
}

#[cfg(test)]
mod tests {
    use super::Durations;

    #[test]
    fn quantiles_are_durations_that_occur() {
        let all: Durations = (1..=100).rev().collect();
        assert_eq!([0.0, 0.01, 0.5, 0.99, 1.0].map(|share| all.quantile(share)), [1, 1, 50, 99, 100].map(Some));
        assert_eq!((all.mean(), all.count()), (Some(50.5), 100));
        let none = Durations::default();
        assert_eq!((none.quantile(0.5), none.mean()), (None, None));
        let durations: Durations = std::iter::once(7).collect();
        assert_eq!((durations.quantile(0.5), durations.quantile(0.99)), (Some(7), Some(7)));
    }
}
