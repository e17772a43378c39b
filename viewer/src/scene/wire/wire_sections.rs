//! Mixtures and bands as bytes, which are the largest part of an image. They are encoded column by
//! column, at the resolution of the screen or, if that is too large to send at once, in wider
//! columns.
//!
//! Numbers of one kind are in one section, so that similar numbers are adjacent and compress
//! better. A number is a sequence of bytes with seven bits each, lowest first. The eighth bit is
//! set if more bytes follow.

use super::{SceneCells, VariableBand};

/// The resolution of sent mixtures and bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnDetail {
    /// Number of pixel columns that are combined. Mixtures have their mean; bands have minimum,
    /// maximum and mean.
    pub columns: usize,
    /// Edges lie on multiples of a pixel divided by this number.
    pub steps: u16,
}

/// The detail of sections, and the pixels per scene unit of the image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnScale {
    pub(crate) detail: ColumnDetail,
    pub(crate) resolution: f32,
}

impl ColumnDetail {
    /// The levels of detail, from smoothed edges over whole pixels to columns that are 16 pixels
    /// wide.
    pub const ALL: [Self; 9] = [
        Self { columns: 1, steps: 4 },
        Self { columns: 1, steps: 1 },
        Self { columns: 2, steps: 1 },
        Self { columns: 3, steps: 1 },
        Self { columns: 4, steps: 1 },
        Self { columns: 6, steps: 1 },
        Self { columns: 8, steps: 1 },
        Self { columns: 12, steps: 1 },
        Self { columns: 16, steps: 1 },
    ];

    /// Whether no pixel columns are combined.
    #[must_use]
    pub const fn has_all_columns(self) -> bool {
        self.columns == 1
    }
}

/// The sections of an image.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WireSections {
    /// Mixtures are run-length coded. For each run: the number of adjacent pixel columns with the
    /// same mixture.
    pub(crate) runs: Vec<u8>,
    /// For each run: the number of parts of its mixture.
    pub(crate) counts: Vec<u8>,
    /// For each part: its paint. The parts of a mixture are in order from bottom to top.
    pub(crate) paints: Vec<u8>,
    /// For each part: its height, in steps.
    pub(crate) heights: Vec<u8>,
    /// For each column of a band: the heights of its upper edge, its lower edge and its mean above
    /// the floor, in steps.
    /// Each is the difference to the column before in zigzag form: `2n` for `n` at least 0,
    /// `-2n - 1` for a negative `n`.
    pub(crate) bands: Vec<u8>,
}

impl WireSections {
    /// All sections, in the order in which they are sent.
    pub(crate) fn all(&self) -> [&[u8]; 5] {
        [&self.runs, &self.counts, &self.paints, &self.heights, &self.bands]
    }

    /// Estimates the compressed size in bytes: the size of an entropy code of the bytes.
    pub(crate) fn compressed_size(&self) -> usize {
        self.all().into_iter().map(entropy).sum()
    }

    /// Appends the mixtures of an image. `paints` contains the paint of each place of the palette.
    /// Returns the number of steps of their height.
    pub(crate) fn cells(
        &mut self,
        cells: &SceneCells,
        paints: &[i64],
        ColumnScale { detail, resolution }: ColumnScale,
    ) -> i64 {
        let steps = steps(cells.frame.height, resolution, detail);
        let mut column_mean = ColumnMean { sums: vec![0.0; paints.len()], palette_places: Vec::new(), columns: 0 };
        let (mut run, mut now, mut then) = (0, Vec::new(), Vec::new());
        let mut last: Option<&[(u16, f32)]> = None;
        let mut columns = cells.columns.iter().peekable();
        while columns.peek().is_some() {
            let group = columns.by_ref().take(detail.columns);
            let before = column_mean.columns;
            if detail.has_all_columns() {
                let Some(column) = group.last() else { break };
                column_mean.columns += 1;
                // Many columns equal the one before.
                if last.is_some_and(|last| last == column) {
                    run += 1;
                    continue;
                }
                last = Some(column);
                quantise(column.iter().copied(), steps, paints, &mut now);
            } else {
                group.for_each(|column| column_mean.add(column));
                quantise(column_mean.take_mean(column_mean.columns - before, steps), steps, paints, &mut now);
            }
            if run > 0 && now != then {
                self.run(run, &then);
                run = 0;
            }
            run += column_mean.columns - before;
            std::mem::swap(&mut now, &mut then);
        }
        if run > 0 {
            self.run(run, &then);
        }
        i64::from(steps)
    }

    fn run(&mut self, length: usize, parts: &[(i64, u16)]) {
        push(&mut self.runs, length as u64);
        push(&mut self.counts, parts.len() as u64);
        for &(paint, height) in parts {
            push(&mut self.paints, paint.unsigned_abs());
            push(&mut self.heights, u64::from(height));
        }
    }

    /// Appends a band. Returns the number of steps of a unit.
    pub(crate) fn band(&mut self, band: &VariableBand, ColumnScale { detail, resolution }: ColumnScale) -> f32 {
        let scale = resolution * f32::from(detail.steps.max(2));
        let mut before = [0i64; 3];
        for group in band.columns.chunks(detail.columns) {
            let fold =
                |of: fn(&[f32; 3]) -> f32, with: fn(f32, f32) -> f32| group.iter().map(of).reduce(with).unwrap_or(0.0);
            #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
            let mean = fold(|column| column[2], |a, b| a + b) / group.len() as f32;
            let now = [fold(|column| column[0], f32::min), fold(|column| column[1], f32::max), mean];
            for (y, before) in now.into_iter().zip(&mut before) {
                #[expect(clippy::cast_possible_truncation, reason = "a height within an image; larger ones saturate")]
                let height = ((band.floor - y) * scale).round() as i64;
                let difference = height - std::mem::replace(before, height);
                push(&mut self.bands, ((difference << 1) ^ (difference >> 63)).cast_unsigned());
            }
        }
        scale
    }
}

/// Computes the mean of some columns.
struct ColumnMean {
    /// Indexed by the place in the palette.
    sums: Vec<f32>,
    /// Places in the palette that occur.
    palette_places: Vec<u16>,
    /// Number of all columns so far.
    columns: usize,
}

impl ColumnMean {
    fn add(&mut self, column: &[(u16, f32)]) {
        self.columns += 1;
        for &(place, share) in column {
            let Some(sum) = self.sums.get_mut(usize::from(place)) else { continue };
            if *sum == 0.0 {
                self.palette_places.push(place);
            }
            *sum += share;
        }
    }

    /// Returns the mean of `columns` columns. Parts lower than a step are left out and their height
    /// goes to the others, because a mean of many columns has many small parts.
    fn take_mean(&mut self, columns: usize, steps: u16) -> impl Iterator<Item = (u16, f32)> {
        self.palette_places.sort_unstable();
        self.palette_places.dedup();
        let share = |place: u16| self.sums[usize::from(place)];
        let all: f32 = self.palette_places.iter().map(|&place| share(place)).sum();
        #[expect(clippy::cast_precision_loss, reason = "a number of pixels is small")]
        let columns = columns.max(1) as f32;
        let largest = self.palette_places.iter().map(|&place| share(place)).fold(0.0, f32::max);
        let min_share = (columns / f32::from(steps)).min(largest);
        let drawn_sum: f32 =
            self.palette_places.iter().map(|&place| share(place)).filter(|&share| share >= min_share).sum();
        let scale = if drawn_sum > 0.0 { all / drawn_sum / columns } else { 0.0 };
        let Self { sums, palette_places, .. } = self;
        palette_places.drain(..).filter_map(move |place| {
            let share = std::mem::take(&mut sums[usize::from(place)]);
            (share >= min_share).then_some((place, share * scale))
        })
    }
}

/// Number of steps of a height. It is at least one, so that every item is visible.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a height within an image; larger ones saturate"
)]
fn steps(height: f32, resolution: f32, detail: ColumnDetail) -> u16 {
    (height * resolution * f32::from(detail.steps)).round().clamp(1.0, f32::from(u16::MAX)) as u16
}

/// Rounds the edges of stacked parts to steps, so that errors do not add up. A non-empty column is
/// at least one step high.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the number of steps")]
fn quantise(parts: impl Iterator<Item = (u16, f32)>, steps: u16, paints: &[i64], output: &mut Vec<(i64, u16)>) {
    output.clear();
    let (mut sum, mut edge, mut largest) = (0.0, 0, (0.0, 0));
    for (place, share) in parts {
        let paint = paints.get(usize::from(place)).copied().unwrap_or(0);
        sum += share;
        if share > largest.0 {
            largest = (share, paint);
        }
        // Rounded, without a call for each part.
        let next = ((sum * f32::from(steps) + 0.5) as u16).min(steps);
        if next > edge {
            match output.last_mut() {
                Some(last) if last.0 == paint => last.1 += next - edge,
                _ => output.push((paint, next - edge)),
            }
            edge = next;
        }
    }
    if output.is_empty() && largest.0 > 0.0 {
        output.push((largest.1, 1));
    }
}

fn push(section: &mut Vec<u8>, mut number: u64) {
    while number > 127 {
        section.push((number & 127 | 128) as u8);
        number >>= 7;
    }
    section.push(number as u8);
}

/// The size in bytes of an entropy code of the bytes.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
fn entropy(bytes: &[u8]) -> usize {
    let mut counts = [0u32; 256];
    bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
    let total = bytes.len() as f64;
    let bits: f64 = counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) * (total / f64::from(count)).log2())
        .sum();
    (bits / 8.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{MixtureColumns, OutlineRect, SceneStroke};
    use crate::style::theme::ColorWithOpacity;
    use proptest::prelude::*;
    use tumit_paje::RgbColor;

    const WHOLE: ColumnScale = ColumnScale { detail: ColumnDetail { columns: 1, steps: 1 }, resolution: 1.0 };

    fn cells(height: f32, columns: MixtureColumns<u16>) -> SceneCells {
        SceneCells { frame: OutlineRect::new(0.0, 0.0, 10.0, height), palette: Vec::new(), values: Vec::new(), columns }
    }

    fn numbers(section: &[u8]) -> Vec<u64> {
        let (mut numbers, mut number, mut shift) = (Vec::new(), 0, 0);
        for &byte in section {
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                numbers.push(number);
                (number, shift) = (0, 0);
            }
        }
        numbers
    }

    /// The columns as the page decodes them: paints with heights.
    fn read(sections: &WireSections) -> Vec<Vec<(u64, u64)>> {
        let mut parts = numbers(&sections.paints).into_iter().zip(numbers(&sections.heights));
        let runs = numbers(&sections.runs).into_iter().zip(numbers(&sections.counts));
        runs.flat_map(|(run, many)| vec![parts.by_ref().take(many as usize).collect(); run as usize]).collect()
    }

    #[test]
    fn equal_columns_are_sent_once_and_neighbours_of_one_paint_are_one() {
        let column = vec![(0, 0.5), (1, 0.25), (2, 0.25)];
        let cells = cells(8.0, [column.clone(), column, Vec::new()].into_iter().collect());
        let mut sections = WireSections::default();
        assert_eq!(sections.cells(&cells, &[3, 200, 200], WHOLE), 8);
        assert_eq!(sections.runs, [2, 1]);
        assert_eq!(sections.counts, [2, 0]);
        assert_eq!(sections.paints, [3, 0x80 | 72, 1]);
        assert_eq!(sections.heights, [4, 4]);
    }

    #[test]
    fn every_entity_is_visible() {
        let mut sections = WireSections::default();
        sections.cells(&cells(13.0, [vec![(0, 1e-4), (1, 2e-4)]].into_iter().collect()), &[5, 6], WHOLE);
        assert_eq!(read(&sections), [[(6, 1)]]);
    }

    #[test]
    fn bands_are_differences() {
        let paint = ColorWithOpacity::from_opaque(RgbColor { red: 1, green: 2, blue: 3 });
        let columns = vec![[1.0, 4.0, 2.0], [0.0, 5.0, 3.0], [2.0, 5.0, 2.5]];
        let band = VariableBand {
            x: 0.5,
            step: 1.0,
            columns,
            floor: 5.0,
            band_paint: paint,
            fill: paint,
            line: SceneStroke { paint, width: 1.5 },
        };
        let mut sections = WireSections::default();
        assert!((sections.band(&band, WHOLE) - 2.0).abs() < f32::EPSILON);
        assert_eq!(sections.bands, [16, 4, 12, 4, 3, 3, 7, 0, 2]);
        let mut sections = WireSections::default();
        sections.band(&band, ColumnScale { detail: ColumnDetail { columns: 2, steps: 1 }, resolution: 1.0 });
        assert_eq!(sections.bands, [20, 0, 10, 7, 0, 0], "the maximum, the minimum, the mean of two");
    }

    #[test]
    fn each_step_shows_the_extremes_of_its_columns() {
        let columns = [vec![(0, 0.5), (1, 0.4)], vec![(0, 0.7), (2, 0.2)], vec![(0, 0.6), (1, 0.3)]];
        let mut sections = WireSections::default();
        sections.cells(
            &cells(10.0, columns.into_iter().collect()),
            &[4, 5, 6],
            ColumnScale { detail: ColumnDetail { columns: 3, steps: 1 }, resolution: 1.0 },
        );
        // The means are 0.6, 0.23 and 0.07.
        assert_eq!(read(&sections), vec![vec![(4, 6), (5, 3)]; 3]);
    }

    proptest! {
        /// Each edge is correct to half a step.
        #[test]
        fn edges_are_rounded(
            columns in proptest::collection::vec(proptest::collection::btree_map(0u16..6, 1u32..100, 0..6), 1..40),
            height in 1.0f32..40.0,
        ) {
            let shares: Vec<Vec<(u16, f32)>> = columns
                .iter()
                .map(|column| column.iter().map(|(&place, &part)| (place, part as f32 / 600.0)).collect())
                .collect();
            let cells = cells(height, shares.iter().cloned().collect());
            let mut sections = WireSections::default();
            let paints = [1, 2, 3, 4, 5, 6];
            let steps = sections.cells(&cells, &paints, ColumnScale { detail: ColumnDetail { columns: 1, steps: 2 }, resolution: 1.0 }) as f32;
            let decoded = read(&sections);
            prop_assert_eq!(decoded.len(), columns.len());
            for (expected, decoded) in shares.iter().zip(&decoded) {
                let mut edge = 0.0;
                for place in 0..6u16 {
                    let all = expected.iter().filter(|part| part.0 <= place).map(|part| part.1).sum::<f32>();
                    edge += decoded.iter().filter(|part| part.0 == u64::from(place) + 1).map(|part| part.1 as f32).sum::<f32>();
                    let is_single = decoded.len() == 1 && decoded[0].1 == 1;
                    let exact = all * steps;
                    prop_assert!((edge - exact).abs() <= 0.501 || is_single && exact < 0.501, "{edge} {exact}");
                }
            }
        }
    }
}
