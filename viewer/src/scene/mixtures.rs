//! Mixtures of the states of lanes, one per pixel column. With few values, they have all shares;
//! with many, the largest and the sum of the others.

use super::diagram_context::DiagramContext;
use super::primitives::{MixtureColumns, OTHERS};
use crate::query::{MixtureCell, QueryError, StateLaneId, TimeRange, TypeId, ValueId, lanes_at_once};

/// If a type has more values than this, only the largest shares of a mixture are drawn. The others
/// are combined.
const MANY_VALUES: usize = 16;
/// Maximum number of separate shares. No row is high enough to distinguish more.
const MAX_SHARES: usize = 8;
/// Above this number of lanes, the mean is computed from the largest shares of each lane.
const MANY_LANES: usize = 64;
/// The same limit for a quick image.
const SEVERAL_LANES: usize = 16;

/// The values of each column, and their shares of its height.
pub(crate) type ValueMixtures = MixtureColumns<ValueId>;

/// The mean mixture of some lanes of one type. `lane_count` is the number of lanes that fill the
/// height.
pub(crate) fn mean_mixtures(
    context: &DiagramContext<'_>,
    lanes: &[StateLaneId],
    lane_count: usize,
) -> Result<ValueMixtures, QueryError> {
    match lanes {
        [lane] if has_many(context, lane.ty) => largest_shares(context, *lane, lane_count),
        [first, ..] if lanes.len() > MANY_LANES && has_many(context, first.ty) => {
            mean_of_largest(context, lanes, lane_count)
        }
        [first, ..] if is_quick(context, first.ty, lanes.len()) => mean_of_largest(context, lanes, lane_count),
        _ => mean(context, lanes, lane_count),
    }
}

/// The mean mixture of some lanes, for exactly these columns and any number of values.
pub(crate) fn exact_mixtures(
    context: &DiagramContext<'_>,
    lanes: &[StateLaneId],
    max_values: usize,
) -> Result<ValueMixtures, QueryError> {
    mean(context, lanes, max_values)
}

/// Whether this number of lanes of a type is approximated as for more lanes, because the image must
/// be quick.
pub(crate) fn is_quick(context: &DiagramContext<'_>, ty: TypeId, lanes: usize) -> bool {
    context.view.is_quick && (SEVERAL_LANES + 1..=MANY_LANES).contains(&lanes) && has_many(context, ty)
}

fn has_many(context: &DiagramContext<'_>, ty: TypeId) -> bool {
    context.model.values.iter().filter(|value| value.ty == ty).nth(MANY_VALUES).is_some()
}

/// For each pixel column, the largest shares of a lane in the aligned column around its middle, and
/// the rest.
///
/// The aligned column is one to two pixels wide. Its mixture is exact, is cheap for any number of
/// values and states, and does not flicker when the view moves.
fn largest_shares(
    context: &DiagramContext<'_>,
    lane: StateLaneId,
    max_values: usize,
) -> Result<ValueMixtures, QueryError> {
    let aligned_columns = AlignedColumns::new(context, 1, max_values);
    let cells = aligned_columns.cells(context, &[lane])?;
    let mut mixtures =
        ValueMixtures::with_room(context.columns() as usize, cells.iter().map(|cell| cell.shares.len() + 1).sum());
    for cell in aligned_columns.column_indexes(context).map(|column| cells.get(column)) {
        let (shares, rest) = cell.map_or((&[][..], 0), |cell| (&cell.shares[..], cell.unlisted_time));
        let unlisted_share = (rest > 0).then_some((OTHERS, rest));
        mixtures.push(
            shares
                .iter()
                .copied()
                .chain(unlisted_share)
                .map(|(value, nanos)| (value, share(nanos, aligned_columns.column_nanos))),
        );
    }
    Ok(mixtures)
}

/// For each pixel column, the mean of the [`largest_shares`] of each lane.
fn mean_of_largest(
    context: &DiagramContext<'_>,
    lanes: &[StateLaneId],
    max_values: usize,
) -> Result<ValueMixtures, QueryError> {
    let aligned_columns = AlignedColumns::new(context, lanes.len(), max_values);
    let mut sums = LaneSums::new(context, aligned_columns.count as usize);
    for chunk in lanes.chunks(lanes_at_once(aligned_columns.count)) {
        sums.add(&aligned_columns.cells(context, chunk)?, aligned_columns.column_nanos);
    }
    let (mixtures, mut spread) = (sums.finish(), ValueMixtures::default());
    let columns: Vec<&[(ValueId, f32)]> = mixtures.iter().collect();
    for column in aligned_columns.column_indexes(context) {
        spread.push(columns.get(column).copied().unwrap_or_default().iter().copied());
    }
    Ok(spread)
}

/// For each pixel column, the mean mixture of some lanes. With many values, it has the largest
/// shares and the rest.
fn mean(context: &DiagramContext<'_>, lanes: &[StateLaneId], max_values: usize) -> Result<ValueMixtures, QueryError> {
    let columns = context.columns();
    #[expect(clippy::cast_precision_loss, reason = "the result is a position in pixels")]
    let column_nanos = whole_of(context.scale.nanos() as f64 / f64::from(columns), lanes.len(), max_values);
    let mut sums = LaneSums::new(context, columns as usize);
    for chunk in lanes.chunks(lanes_at_once(columns)) {
        sums.add(&context.source.cells(chunk, context.view.time_range, columns)?.cells, column_nanos);
    }
    Ok(sums.finish())
}

/// The aligned columns of an image.
struct AlignedColumns {
    time_range: TimeRange,
    count: u32,
    /// Nanoseconds of a full column of all lanes that fill the height.
    column_nanos: f64,
}

impl AlignedColumns {
    fn new(context: &DiagramContext<'_>, lanes: usize, lane_count: usize) -> Self {
        let alignment = context.view.time_range.align_to_columns(context.columns());
        let (time_range, count) = (alignment.range, alignment.columns);
        let length = i128::from(time_range.to.0) - i128::from(time_range.from.0);
        #[expect(clippy::cast_precision_loss, reason = "the result is a position in pixels")]
        let column_nanos = whole_of(length as f64 / f64::from(count), lanes, lane_count);
        Self { time_range, count, column_nanos }
    }

    fn cells(&self, context: &DiagramContext<'_>, lanes: &[StateLaneId]) -> Result<Vec<MixtureCell>, QueryError> {
        Ok(context.source.largest_shares(lanes, self.time_range, self.count, MAX_SHARES)?.cells)
    }

    /// For each pixel column, the index of the aligned column around its middle.
    fn column_indexes(&self, context: &DiagramContext<'_>) -> impl Iterator<Item = usize> {
        let (from, count) = (self.time_range.from.0, u64::from(self.count).max(1));
        let length = self.time_range.to.0.wrapping_sub(from).cast_unsigned();
        // The width is a whole number of nanoseconds, unless timestamps are too large.
        let width = if length % count == 0 { length / count } else { 0 };
        context.view.time_range.columns(context.columns()).map(move |part| {
            let before = part.from.0.midpoint(part.to.0 - 1).wrapping_sub(from).cast_unsigned();
            let index = before.checked_div(width);
            let index =
                index.unwrap_or_else(|| (u128::from(before) * u128::from(count) / u128::from(length.max(1))) as u64);
            usize::try_from(index).unwrap_or(usize::MAX)
        })
    }
}

/// The sum of the mixtures of several lanes.
struct LaneSums {
    columns: usize,
    /// A row for each value that occurs, value after value.
    rows: Vec<f32>,
    values: Vec<ValueId>,
    /// The index of each value's row. `u32::MAX` if it has none.
    places: Vec<u32>,
    unlisted_shares: Vec<f32>,
}

impl LaneSums {
    fn new(context: &DiagramContext<'_>, columns: usize) -> Self {
        let places = vec![u32::MAX; context.model.values.len()];
        Self { columns, rows: Vec::new(), values: Vec::new(), places, unlisted_shares: vec![0.0; columns] }
    }

    /// Adds cells, lane by lane, as shares of `column_nanos`.
    fn add(&mut self, cells: &[MixtureCell], column_nanos: f64) {
        for (cell, column) in cells.iter().zip((0..self.columns).cycle()) {
            self.unlisted_shares[column] += share(cell.unlisted_time, column_nanos);
            for &(value, nanos) in &cell.shares {
                let Some(place) = self.places.get_mut(value.index()) else { continue };
                if *place == u32::MAX {
                    *place = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
                    self.values.push(value);
                    self.rows.resize(self.rows.len() + self.columns, 0.0);
                }
                self.rows[*place as usize * self.columns + column] += share(nanos, column_nanos);
            }
        }
    }

    /// Returns the mixtures. With many values, they have the largest shares and the rest.
    fn finish(&self) -> ValueMixtures {
        let mut mixtures = ValueMixtures::default();
        let mut shares: Vec<(ValueId, f32)> = Vec::new();
        for (column, mut unlisted_share) in self.unlisted_shares.iter().copied().enumerate() {
            let row = self.rows.iter().skip(column).step_by(self.columns);
            shares.clear();
            shares.extend(row.zip(&self.values).filter(|share| *share.0 > 0.0).map(|(share, value)| (*value, *share)));
            if shares.len() > MAX_SHARES && self.values.len() > MANY_VALUES {
                let largest_first = |a: &(ValueId, f32), b: &(ValueId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
                // Of up to a thousand shares, only a few must be sorted.
                shares.select_nth_unstable_by(MAX_SHARES, largest_first);
                shares[..MAX_SHARES].sort_unstable_by(largest_first);
                unlisted_share += shares.drain(MAX_SHARES..).map(|share| share.1).sum::<f32>();
            }
            mixtures.push(shares.drain(..).chain((unlisted_share > 0.0).then_some((OTHERS, unlisted_share))));
        }
        mixtures
    }
}

/// Nanoseconds of a full column of `lane_count` containers in some lanes. Limited to the full value
/// of a cell, for a lane of very many containers.
#[expect(clippy::cast_precision_loss, reason = "the result is a position in pixels")]
fn whole_of(column: f64, lanes: usize, lane_count: usize) -> f64 {
    let column_nanos = column * lane_count as f64;
    if lanes == 1 { column_nanos.min(i64::MAX as f64) } else { column_nanos }
}

/// A share of a column.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the result is a position in pixels")]
fn share(nanos: i64, column_nanos: f64) -> f32 {
    (nanos as f64 / column_nanos).min(1.0) as f32
}
