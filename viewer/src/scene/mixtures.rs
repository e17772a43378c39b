//! Mixtures of the states of lanes, one for each column of pixels: of few values all shares, of many the largest and all others as one.

use super::chart::Context;
use super::{Columns, OTHERS};
use crate::query::{Cell, Interval, Lane, QueryError, TypeId, ValueId, lanes_at_once};

/// Where a type has more values than these, only the largest shares of a mixture are drawn, and the others as one.
const MANY_VALUES: usize = 16;
/// So many then: no row is so high that more could be told apart.
const MOST_SHARES: usize = 8;
/// The mean of more lanes than these is that of what their rows show.
const MANY_LANES: usize = 64;
/// The same where the picture is wanted soon.
const SEVERAL_LANES: usize = 16;

/// What each column shows: values, and their shares of its height.
pub(crate) type Mixtures = Columns<ValueId>;

/// The mean of the mixtures of some lanes of one type, `of` being how many lanes would fill the height.
pub(crate) fn of(context: &Context<'_>, lanes: &[Lane], of: usize) -> Result<Mixtures, QueryError> {
    match lanes {
        [lane] if has_many(context, lane.ty) => largest(context, *lane, of),
        [first, ..] if lanes.len() > MANY_LANES && has_many(context, first.ty) => mean_of_largest(context, lanes, of),
        [first, ..] if is_quick(context, first.ty, lanes.len()) => mean_of_largest(context, lanes, of),
        _ => mean(context, lanes, of),
    }
}

/// The mean of the mixtures of some lanes, of just these columns however many values there are.
pub(crate) fn exact(context: &Context<'_>, lanes: &[Lane], of: usize) -> Result<Mixtures, QueryError> {
    mean(context, lanes, of)
}

/// Whether so many lanes of a type are drawn as if there were more of them, because the picture is wanted soon.
pub(crate) fn is_quick(context: &Context<'_>, ty: TypeId, lanes: usize) -> bool {
    context.view.quick && (SEVERAL_LANES + 1..=MANY_LANES).contains(&lanes) && has_many(context, ty)
}

fn has_many(context: &Context<'_>, ty: TypeId) -> bool {
    context.model.values.iter().filter(|value| value.ty == ty).nth(MANY_VALUES).is_some()
}

/// For each pixel column, the largest shares of a lane in the aligned column around its middle, and the rest.
///
/// That column is one to two pixels wide. Its mixture is exact, costs little however many values and states there are, and
/// does not flicker when the picture is moved.
fn largest(context: &Context<'_>, lane: Lane, of: usize) -> Result<Mixtures, QueryError> {
    let aligned = Aligned::new(context, 1, of);
    let cells = aligned.cells(context, &[lane])?;
    let mut mixtures =
        Mixtures::with_room(context.columns() as usize, cells.iter().map(|cell| cell.shares.len() + 1).sum());
    for cell in aligned.around(context).map(|at| cells.get(at)) {
        let (shares, rest) = cell.map_or((&[][..], 0), |cell| (&cell.shares[..], cell.rest));
        let others = (rest > 0).then_some((OTHERS, rest));
        mixtures.push(shares.iter().copied().chain(others).map(|(value, nanos)| (value, share(nanos, aligned.whole))));
    }
    Ok(mixtures)
}

/// For each pixel column, the mean of what [`largest`] shows of each lane.
fn mean_of_largest(context: &Context<'_>, lanes: &[Lane], of: usize) -> Result<Mixtures, QueryError> {
    let aligned = Aligned::new(context, lanes.len(), of);
    let mut sums = Sums::new(context, aligned.count as usize);
    for some in lanes.chunks(lanes_at_once(aligned.count)) {
        sums.add(&aligned.cells(context, some)?, aligned.whole);
    }
    let (mixtures, mut spread) = (sums.finish(), Mixtures::default());
    let columns: Vec<&[(ValueId, f32)]> = mixtures.iter().collect();
    for at in aligned.around(context) {
        spread.push(columns.get(at).copied().unwrap_or_default().iter().copied());
    }
    Ok(spread)
}

/// For each pixel column, the mean of the mixtures of some lanes: of many values the largest, and the rest.
fn mean(context: &Context<'_>, lanes: &[Lane], of: usize) -> Result<Mixtures, QueryError> {
    let columns = context.columns();
    #[expect(clippy::cast_precision_loss, reason = "the last step before pixels")]
    let whole = whole_of(context.scale.nanos() as f64 / f64::from(columns), lanes.len(), of);
    let mut sums = Sums::new(context, columns as usize);
    for some in lanes.chunks(lanes_at_once(columns)) {
        sums.add(&context.source.cells(some, context.view.interval, columns)?.cells, whole);
    }
    Ok(sums.finish())
}

/// The aligned columns of a picture.
struct Aligned {
    interval: Interval,
    count: u32,
    /// Nanoseconds of a column, of all lanes that fill the height.
    whole: f64,
}

impl Aligned {
    fn new(context: &Context<'_>, lanes: usize, of: usize) -> Self {
        let (interval, count) = context.view.interval.aligned(context.columns());
        let length = i128::from(interval.to.0) - i128::from(interval.from.0);
        #[expect(clippy::cast_precision_loss, reason = "the last step before pixels")]
        let whole = whole_of(length as f64 / f64::from(count), lanes, of);
        Self { interval, count, whole }
    }

    fn cells(&self, context: &Context<'_>, lanes: &[Lane]) -> Result<Vec<Cell>, QueryError> {
        Ok(context.source.largest(lanes, self.interval, self.count, MOST_SHARES)?.cells)
    }

    /// For each pixel column, the number of the aligned one around its middle.
    fn around(&self, context: &Context<'_>) -> impl Iterator<Item = usize> {
        let (from, count) = (self.interval.from.0, u64::from(self.count).max(1));
        let length = self.interval.to.0.wrapping_sub(from).cast_unsigned();
        // Wherever dates allow it, they are of whole nanoseconds.
        let width = if length % count == 0 { length / count } else { 0 };
        context.view.interval.columns(context.columns()).map(move |part| {
            let before = part.from.0.midpoint(part.to.0 - 1).wrapping_sub(from).cast_unsigned();
            let at = before.checked_div(width);
            let at = at.unwrap_or_else(|| (u128::from(before) * u128::from(count) / u128::from(length.max(1))) as u64);
            usize::try_from(at).unwrap_or(usize::MAX)
        })
    }
}

/// Mixtures of several lanes, added up.
struct Sums {
    columns: usize,
    /// A row for each value that occurs.
    rows: Vec<f32>,
    values: Vec<ValueId>,
    /// The row of each value; `u32::MAX` where it has none.
    places: Vec<u32>,
    others: Vec<f32>,
}

impl Sums {
    fn new(context: &Context<'_>, columns: usize) -> Self {
        let places = vec![u32::MAX; context.model.values.len()];
        Self { columns, rows: Vec::new(), values: Vec::new(), places, others: vec![0.0; columns] }
    }

    /// Adds cells, lane by lane, as parts of `whole`.
    fn add(&mut self, cells: &[Cell], whole: f64) {
        for (cell, column) in cells.iter().zip((0..self.columns).cycle()) {
            self.others[column] += share(cell.rest, whole);
            for &(value, nanos) in &cell.shares {
                let Some(place) = self.places.get_mut(value.index()) else { continue };
                if *place == u32::MAX {
                    *place = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
                    self.values.push(value);
                    self.rows.resize(self.rows.len() + self.columns, 0.0);
                }
                self.rows[*place as usize * self.columns + column] += share(nanos, whole);
            }
        }
    }

    /// The mixtures: of many values the largest, and the rest.
    fn finish(&self) -> Mixtures {
        let mut mixtures = Mixtures::default();
        let mut shares: Vec<(ValueId, f32)> = Vec::new();
        for (column, mut others) in self.others.iter().copied().enumerate() {
            let row = self.rows.iter().skip(column).step_by(self.columns);
            shares.clear();
            shares.extend(row.zip(&self.values).filter(|share| *share.0 > 0.0).map(|(share, value)| (*value, *share)));
            if shares.len() > MOST_SHARES && self.values.len() > MANY_VALUES {
                let largest_first = |a: &(ValueId, f32), b: &(ValueId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
                // Of a thousand, most need no order.
                shares.select_nth_unstable_by(MOST_SHARES, largest_first);
                shares[..MOST_SHARES].sort_unstable_by(largest_first);
                others += shares.drain(MOST_SHARES..).map(|share| share.1).sum::<f32>();
            }
            mixtures.push(shares.drain(..).chain((others > 0.0).then_some((OTHERS, others))));
        }
        mixtures
    }
}

/// Nanoseconds of a full column of `of` containers in some lanes; of a lane that stands for very many, what its cells say is full.
#[expect(clippy::cast_precision_loss, reason = "the last step before pixels")]
fn whole_of(column: f64, lanes: usize, of: usize) -> f64 {
    let whole = column * of as f64;
    if lanes == 1 { whole.min(i64::MAX as f64) } else { whole }
}

/// A part of a column.
#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the last step before pixels")]
fn share(nanos: i64, whole: f64) -> f32 {
    (nanos as f64 / whole).min(1.0) as f32
}
