//! [`SizeScale`]: the colour code of message sizes, as a legend (`ParaGraph`'s colour code).

use super::axis_numbers::bytes_text;
use crate::chart::{ChartPaint, LegendItem};

/// Maximum number of bins. More shades of one colour look alike.
pub(crate) const MAX_BINS: usize = 8;

/// A scale of sizes with bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeScale {
    /// The smallest size of each bin, ascending.
    limits: [u64; MAX_BINS],
    /// The number of bins, at least 1.
    bins: usize,
}

impl SizeScale {
    /// A scale for sizes in bytes. Its limits are powers of two. `None` if there are no sizes.
    pub(crate) fn new(sizes: impl IntoIterator<Item = u64>) -> Option<Self> {
        let logarithms = sizes.into_iter().map(|size| size.max(1).ilog2());
        let (first, last) = logarithms.fold(None, |range: Option<(u32, u32)>, logarithm| {
            let (low, high) = range.unwrap_or((logarithm, logarithm));
            Some((low.min(logarithm), high.max(logarithm)))
        })?;
        let step = (last - first + 1).div_ceil(8);
        let mut scale = Self { limits: [u64::MAX; MAX_BINS], bins: ((last - first) / step + 1) as usize };
        for (limit, exponent) in scale.limits.iter_mut().zip((first..=last).step_by(step as usize)) {
            *limit = 1_u64.checked_shl(exponent).unwrap_or(u64::MAX);
        }
        Some(scale)
    }

    /// A scale with chosen limits between its bins: ascending, above 0, and less than [`MAX_BINS`].
    pub(crate) fn with_limits(limits: &[u64]) -> Self {
        let mut scale = Self { limits: [u64::MAX; MAX_BINS], bins: limits.len().min(MAX_BINS - 1) + 1 };
        scale.limits[0] = 0;
        scale.limits[1..].iter_mut().zip(limits).for_each(|(place, limit)| *place = *limit);
        scale
    }

    /// The number of the bin of a size. Sizes beyond the scale are in the first or last bin.
    #[expect(clippy::cast_possible_truncation, reason = "there are few bins")]
    pub(crate) fn bin(&self, size: u64) -> u32 {
        self.limits[..self.bins].partition_point(|limit| *limit <= size).saturating_sub(1) as u32
    }

    /// The paint of a size.
    pub(crate) fn paint(&self, size: u64) -> ChartPaint {
        self.paint_of_bin(self.bin(size))
    }

    #[expect(clippy::cast_precision_loss, reason = "there are few bins")]
    fn paint_of_bin(&self, bin: u32) -> ChartPaint {
        ChartPaint::Size(if self.bins < 2 { 1.0 } else { bin as f32 / (self.bins - 1) as f32 })
    }

    /// The paint and the limits of each bin, in bytes.
    pub(crate) fn legend(&self) -> Vec<LegendItem> {
        self.legend_with(bytes_text)
    }

    /// As [`Self::legend`], with `text` for the limits.
    pub(crate) fn legend_with(&self, text: impl Fn(u64) -> String) -> Vec<LegendItem> {
        let limit = |bin: usize| text(self.limits[bin]);
        let item = |(number, bin): (u32, usize)| LegendItem {
            paint: self.paint_of_bin(number),
            label: if bin + 1 == self.bins {
                format!("{} and more", limit(bin))
            } else if self.limits[bin] == 0 {
                format!("less than {}", limit(bin + 1))
            } else {
                format!("{} to {}", limit(bin), limit(bin + 1))
            },
        };
        (0..).zip(0..self.bins).map(item).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::SizeScale;

    proptest! {
        #[test]
        fn larger_sizes_are_in_later_bins(mut sizes in prop::collection::vec(any::<u64>().prop_map(|n| n >> (n % 64)), 1..40)) {
            sizes.sort_unstable();
            let scale = SizeScale::new(sizes.iter().copied()).unwrap();
            let bins: Vec<u32> = sizes.iter().map(|size| scale.bin(*size)).collect();
            prop_assert!(bins.is_sorted());
            prop_assert_eq!(bins[0], 0);
            prop_assert_eq!(bins[bins.len() - 1] as usize + 1, scale.legend().len());
            prop_assert!(scale.legend().len() <= 8);
        }
    }

    #[test]
    fn limits_of_bins_are_written_in_binary_units() {
        let chosen = SizeScale::with_limits(&[1000, 2048]);
        assert_eq!([0, 999, 1000, 2048].map(|size| chosen.bin(size)), [0, 0, 1, 2]);
        let labels: Vec<String> = chosen.legend().into_iter().map(|item| item.label).collect();
        assert_eq!(labels, ["less than 1000 B", "1000 B to 2 KiB", "2 KiB and more"]);
        assert_eq!(SizeScale::new([]), None);
        assert_eq!(SizeScale::new([0, 0]).unwrap().legend()[0].label, "1 B and more");
    }

    #[test]
    fn the_limits_of_bins_are_powers_of_two() {
        let scale = SizeScale::new([100, 5_000, 1_000_000]).expect("there are sizes");
        let labels: Vec<String> = scale.legend().into_iter().map(|item| item.label).collect();
        assert_eq!(labels[..2], ["64 B to 256 B", "256 B to 1 KiB"]);
        assert_eq!(scale.bin(255), 0);
    }
}
