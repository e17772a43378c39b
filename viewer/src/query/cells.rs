//! Mixtures of values: cells, and the memory of their shares. A picture has a hundred thousand mixtures, which would be as many pieces of
//! memory: those of cells that are made together lie one behind the other, in pieces that all these cells hold together.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::ValueId;

/// Shares that have a piece of memory together: those of more cells begin a new one.
const PIECE: usize = 1 << 12;

/// A value and nanoseconds.
type Share = (ValueId, i64);

/// `(value, nanoseconds)`, as a list. One share alone, as most columns have once a picture is of few states, needs no memory beside the
/// list; that of more may be shared with the lists of other cells, until it is changed.
#[derive(Clone, Default)]
pub struct Shares(List);

#[derive(Clone, Default)]
enum List {
    #[default]
    None,
    One([Share; 1]),
    Part {
        of: Arc<Vec<Share>>,
        from: u32,
        len: u32,
    },
    Own(Vec<Share>),
}

impl Shares {
    /// No shares.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the list, which is its own from then on.
    fn change(&mut self, how: impl FnOnce(&mut Vec<Share>)) {
        let mut own = match std::mem::take(&mut self.0) {
            List::Own(own) => own,
            other => Self(other).to_vec(),
        };
        how(&mut own);
        self.0 = List::Own(own);
    }

    /// Appends a share.
    pub fn push(&mut self, share: (ValueId, i64)) {
        match self.0 {
            List::None => self.0 = List::One([share]),
            List::One(_) | List::Part { .. } | List::Own(_) => self.change(|own| own.push(share)),
        }
    }

    /// Leaves those for which `is_kept` holds.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&(ValueId, i64)) -> bool) {
        if !self.iter().all(&mut is_kept) {
            self.change(|own| own.retain(is_kept));
        }
    }

    /// Leaves the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            match &mut self.0 {
                List::Part { len: old, .. } => *old = u32::try_from(len).unwrap_or(*old),
                List::None | List::One(_) | List::Own(_) => self.change(|own| own.truncate(len)),
            }
        }
    }
}

impl Deref for Shares {
    type Target = [(ValueId, i64)];

    fn deref(&self) -> &[(ValueId, i64)] {
        match &self.0 {
            List::None => &[],
            List::One(one) => one,
            List::Part { of, from, len } => {
                let from = *from as usize;
                of.get(from..from + *len as usize).unwrap_or(&[])
            }
            List::Own(own) => own,
        }
    }
}

impl DerefMut for Shares {
    fn deref_mut(&mut self) -> &mut [(ValueId, i64)] {
        if matches!(self.0, List::Part { .. }) {
            self.change(|_| ());
        }
        match &mut self.0 {
            List::One(one) => one,
            List::Own(own) => own,
            List::None | List::Part { .. } => &mut [],
        }
    }
}

impl std::fmt::Debug for Shares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for Shares {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Shares {}

impl From<Vec<(ValueId, i64)>> for Shares {
    fn from(shares: Vec<(ValueId, i64)>) -> Self {
        match shares[..] {
            [] => Self::new(),
            [share] => Self(List::One([share])),
            _ => Self(List::Own(shares)),
        }
    }
}

impl FromIterator<(ValueId, i64)> for Shares {
    fn from_iter<I: IntoIterator<Item = (ValueId, i64)>>(shares: I) -> Self {
        Vec::from_iter(shares).into()
    }
}

impl IntoIterator for Shares {
    type Item = (ValueId, i64);
    type IntoIter = std::vec::IntoIter<(ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        match self.0 {
            List::Own(own) => own.into_iter(),
            other => Self(other).to_vec().into_iter(),
        }
    }
}

impl<'a> IntoIterator for &'a Shares {
    type Item = &'a (ValueId, i64);
    type IntoIter = std::slice::Iter<'a, (ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Shares {
    type Item = &'a mut (ValueId, i64);
    type IntoIter = std::slice::IterMut<'a, (ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Exact shares of time: for one lane and one column of pixels, how much of the column each value takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// Largest first, of equal ones the lower value first; only values that occur.
    pub shares: Shares,
    /// Nanoseconds of all values that are not listed, together.
    pub rest: i64,
}

impl Cell {
    /// The `most` largest of these shares, in order, and the others as the rest.
    pub fn of(mut shares: impl AsMut<[(ValueId, i64)]>, most: usize) -> Self {
        let shares = shares.as_mut();
        let order = |a: &(ValueId, i64), b: &(ValueId, i64)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
        if most < shares.len() {
            shares.select_nth_unstable_by(most, order);
        }
        let (largest, others) = shares.split_at_mut(most.min(shares.len()));
        largest.sort_unstable_by(order);
        let shares = match *largest {
            [] => Shares::new(),
            [share] => Shares(List::One([share])),
            _ => Shares(List::Own(largest.to_vec())),
        };
        Self { shares, rest: others.iter().map(|share| share.1).sum() }
    }

    /// Leaves the `most` largest shares; the others become the rest.
    pub fn keep(&mut self, most: usize) {
        self.rest += self.shares.iter().skip(most).map(|share| share.1).sum::<i64>();
        self.shares.truncate(most);
    }
}

/// Cells of several lanes, `columns` for each, lane by lane.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Cells {
    pub columns: u32,
    pub cells: Vec<Cell>,
}

/// Cells while they are made.
pub(crate) struct CellWriter {
    cells: Vec<Cell>,
    /// What becomes a piece of memory.
    shares: Vec<Share>,
    /// The cells that have their shares in it: number of the cell, first share, and how many.
    waiting: Vec<(usize, u32, u32)>,
    /// Bits that the number of any value has.
    value_bits: u32,
    /// A mixture while it is put in order: of each value the time and, below, the number, turned over.
    keys: Vec<u64>,
}

impl CellWriter {
    /// With room for some cells, of a model with so many values.
    pub(crate) fn new(room: usize, values: usize) -> Self {
        let value_bits = usize::BITS - values.leading_zeros();
        Self { cells: Vec::with_capacity(room), shares: Vec::new(), waiting: Vec::new(), value_bits, keys: Vec::new() }
    }

    /// How many cells there are.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Appends empty cells, until there are so many.
    pub(crate) fn fill(&mut self, len: usize) {
        self.cells.resize_with(len, Cell::default);
    }

    /// Appends a cell of one value, or of none: time that has no place in a list is the rest.
    pub(crate) fn push_one(&mut self, share: (ValueId, i64), most: usize) {
        self.cells.push(match most {
            0 => Cell { shares: Shares::new(), rest: share.1 },
            _ => Cell { shares: Shares(List::One([share])), rest: 0 },
        });
    }

    /// Appends a cell of shares that are in order.
    #[inline]
    pub(crate) fn push(&mut self, mut shares: impl ExactSizeIterator<Item = (ValueId, i64)>, rest: i64) {
        let len = shares.len();
        let list = match len {
            1 => shares.next().map_or(List::None, |share| List::One([share])),
            _ => List::None,
        };
        if len > 1 {
            self.make_room(len);
            self.waiting.push((self.cells.len(), self.shares.len() as u32, len as u32));
            self.shares.extend(shares);
        }
        self.cells.push(Cell { shares: Shares(list), rest });
    }

    /// Appends shares to the last cell that has any, or gives a later one its first: as many as there may be, and the others as the rest.
    pub(crate) fn append(&mut self, cell: usize, shares: impl Iterator<Item = (ValueId, i64)>, most: usize, rest: i64) {
        if cell >= self.cells.len() {
            return;
        }
        if self.waiting.last().is_none_or(|last| last.0 != cell) {
            self.make_room(most.min(PIECE));
            self.wait(cell, 0);
        }
        let Some((_, from, len)) = self.waiting.last_mut() else { return };
        let (known, mut rest) = (*from as usize, rest);
        for share in shares {
            if self.shares.len() - known < most {
                self.shares.push(share);
            } else {
                rest = rest.wrapping_add(share.1);
            }
        }
        *len = (self.shares.len() - known) as u32;
        self.cells[cell].rest = self.cells[cell].rest.wrapping_add(rest);
    }

    /// Appends a cell of shares in any order: the `most` largest, and the others as the rest.
    pub(crate) fn push_unordered(&mut self, shares: impl Iterator<Item = (ValueId, i64)> + Clone, most: usize) {
        let (bits, mask) = (self.value_bits, (1 << self.value_bits) - 1);
        let mut all = 0;
        self.keys.clear();
        self.keys.extend(shares.clone().map(|(value, time)| {
            all |= time;
            time.cast_unsigned() << bits | (mask & !u64::from(value.0))
        }));
        // Both must be in one number, which is soon compared.
        let is_fit = all >= 0 && all.leading_zeros() > bits;
        if !is_fit || self.keys.len() < 2 {
            let Cell { shares, rest } = Cell::of(shares.collect::<Vec<_>>(), most);
            return self.push(shares.iter().copied(), rest);
        }
        let others = self.keys.len().saturating_sub(most);
        if 0 < others && others < self.keys.len() {
            self.keys.select_nth_unstable(others);
        }
        let rest = self.keys[..others].iter().map(|key| (key >> bits).cast_signed()).sum();
        self.keys[others..].sort_unstable();
        let len = self.keys.len() - others;
        self.make_room(len);
        self.cells.push(Cell { shares: Shares::new(), rest });
        self.wait(self.cells.len() - 1, len);
        let share = |key: &u64| (ValueId((mask & !key) as u32), (key >> bits).cast_signed());
        self.shares.extend(self.keys[others..].iter().rev().map(share));
    }

    /// Begins a new piece of memory where so many shares would make this one too large.
    fn make_room(&mut self, len: usize) {
        if !self.shares.is_empty() && self.shares.len() + len > PIECE {
            self.seal();
            self.shares.reserve_exact(PIECE.max(len));
        }
    }

    fn wait(&mut self, cell: usize, len: usize) {
        self.waiting.push((cell, self.shares.len() as u32, len as u32));
    }

    /// Gives the cells that wait their shares.
    fn seal(&mut self) {
        let of = Arc::new(std::mem::take(&mut self.shares));
        for (cell, from, len) in self.waiting.drain(..) {
            self.cells[cell].shares = match of.get(from as usize..) {
                Some([share, ..]) if len == 1 => Shares(List::One([*share])),
                _ if len == 0 => continue,
                _ => Shares(List::Part { of: Arc::clone(&of), from, len }),
            };
        }
    }

    /// All cells.
    pub(crate) fn finish(mut self) -> Vec<Cell> {
        self.shares.shrink_to_fit();
        self.seal();
        self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Mixtures of some values with some time, of at most 2^58 ns or of any.
    fn mixtures() -> impl Strategy<Value = Vec<Vec<Share>>> {
        let time = prop_oneof![1_i64..20, 1_i64..1 << 58, Just(i64::MAX / 2)];
        let mixture = prop::collection::btree_map(0_u32..400, time, 0..60);
        let list = mixture.prop_map(|of| of.into_iter().map(|(value, time)| (ValueId(value), time)).collect());
        prop::collection::vec(list, 0..200)
    }

    proptest! {
        #[test]
        fn cells_that_share_memory_are_as_each_alone(mixtures in mixtures(), most in 0_usize..70) {
            // Two that together pass the largest time cannot be the rest of one cell.
            let is_sum = |of: &Vec<Share>| of.iter().try_fold(0_i64, |sum, share| sum.checked_add(share.1)).is_some();
            let mixtures: Vec<Vec<Share>> = mixtures.into_iter().filter(is_sum).collect();
            let mut cells = CellWriter::new(0, 400);
            for of in &mixtures {
                cells.push_unordered(of.iter().copied(), most);
            }
            let expected: Vec<Cell> = mixtures.into_iter().map(|of| Cell::of(of, most)).collect();
            let found = cells.finish();
            prop_assert_eq!(&found, &expected);
            let mut kept = found.clone();
            kept.iter_mut().for_each(|cell| cell.keep(3));
            for (kept, whole) in kept.iter().zip(&found) {
                prop_assert_eq!(&kept.shares[..], &whole.shares[..whole.shares.len().min(3)]);
                prop_assert_eq!(kept.shares.iter().map(|share| share.1).sum::<i64>() + kept.rest,
                    whole.shares.iter().map(|share| share.1).sum::<i64>() + whole.rest);
            }
        }

        #[test]
        fn a_changed_list_changes_no_other(mixtures in mixtures()) {
            let mut cells = CellWriter::new(0, 400);
            mixtures.iter().for_each(|of| cells.push(of.iter().copied(), 0));
            let mut found = cells.finish();
            for cell in found.iter_mut().step_by(2) {
                cell.shares.push((ValueId(1000), 1));
                cell.shares.retain(|share| share.0 != ValueId(0));
                cell.shares.iter_mut().for_each(|share| share.1 = 7);
            }
            for (at, (cell, of)) in found.into_iter().zip(mixtures).enumerate() {
                let changed = of.iter().map(|share| share.0).filter(|&value| value != ValueId(0));
                let changed = changed.chain([ValueId(1000)]).map(|value| (value, 7)).collect();
                prop_assert_eq!(cell.shares.into_iter().collect::<Vec<_>>(), if at % 2 == 0 { changed } else { of });
            }
        }
    }
}
