//! The times at which a number of units is in a category, for the minimap.

use tumit_paje::category::ActivityCategory;
use tumit_perspectives::execution::activity::UnitCounts;
use tumit_viewer::query::TimeRange;

/// The time range is divided into this number of bins, which the minimap shows.
const BINS: u32 = 512;

/// The share of each bin of a time range in which the number of units in a category is from
/// `minimum` to `maximum`. Units that count as fractions are rounded down, as in the concurrency
/// profile.
#[expect(clippy::cast_precision_loss, reason = "a share is rounded")]
pub(super) fn shares(
    counts: &UnitCounts,
    range: TimeRange,
    category: ActivityCategory,
    (minimum, maximum): (i64, i64),
) -> Vec<f64> {
    let Some(index) = ActivityCategory::COUNTED.iter().position(|counted| *counted == category) else {
        return Vec::new();
    };
    let fits = |value: i64| (minimum..=maximum).contains(&(value / counts.denominator));
    let columns = range.columns(BINS).zip(counts.steps.columns(range, BINS));
    let share = |(column, step): (TimeRange, _)| {
        let step: tumit_perspectives::execution::step_function::StepColumn<3> = step;
        let (low, high) = (step.extremes.min[index], step.extremes.max[index]);
        if fits(low) && fits(high) {
            return 1.0;
        }
        if high / counts.denominator < minimum || low / counts.denominator > maximum {
            return 0.0;
        }
        let pieces = counts.steps.pieces(column).filter(|piece| fits(piece.values[index]));
        let nanos: i64 = pieces.map(|piece| piece.nanos()).sum();
        nanos as f64 / column.to.0.saturating_sub(column.from.0).max(1) as f64
    };
    columns.map(share).collect()
}

#[cfg(test)]
mod tests {
    use tumit_paje::category::ActivityCategory::{Busy, Ignored};
    use tumit_perspectives::execution::activity::UnitCounts;
    use tumit_perspectives::execution::step_function::StepFunction;
    use tumit_viewer::query::{GlobalNanos, TimeRange};

    use super::{BINS, shares};

    #[test]
    fn the_share_of_a_bin_is_the_time_with_as_many_units() {
        let steps =
            StepFunction::from_deltas([0, 0, 2], vec![(1024, [1, 0, -1]), (1025, [1, 0, -1]), (2048, [-2, 0, 2])]);
        let counts = UnitCounts::new(steps, 1);
        let range = TimeRange { from: GlobalNanos(0), to: GlobalNanos(i64::from(BINS) * 8) };
        let shares_of = |least, most| shares(&counts, range, Busy, (least, most));
        let (none, one, two) = (shares_of(0, 0), shares_of(1, 1), shares_of(2, 2));
        assert_eq!((none[127], none[128], none[256]), (1.0, 0.0, 1.0));
        assert_eq!((one[128], two[128], two[129], two[256]), (0.125, 0.875, 1.0, 0.0));
        for bin in 0..BINS as usize {
            assert!((none[bin] + one[bin] + two[bin] - 1.0).abs() < 1e-12 && shares_of(0, 2)[bin] == 1.0, "{bin}");
        }
        assert!(shares(&counts, range, Ignored, (0, 2)).is_empty());
    }
}
