//! Mixtures of values: cells, and the memory of their shares.
//!
//! An image has up to 100,000 mixtures. To avoid as many allocations, cells that are built together
//! store their shares one after another in shared blocks of memory.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tumit_paje::ValueId;

/// Number of shares in a block of memory.
const PIECE: usize = 1 << 12;

/// A value, and its time in nanoseconds.
type ValueShare = (ValueId, i64);

/// A list of values and their times in nanoseconds.
/// A single share, which most columns have when few states are visible, needs no allocation. A
/// longer list may share its memory with other cells until it is changed.
#[derive(Clone, Default)]
pub struct ValueShares(ShareList);

#[derive(Clone, Default)]
enum ShareList {
    #[default]
    None,
    One([ValueShare; 1]),
    Part {
        block: Arc<Vec<ValueShare>>,
        from: u32,
        len: u32,
    },
    Own(Vec<ValueShare>),
}

impl ValueShares {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the list. It has its own memory from then on.
    fn change(&mut self, edit: impl FnOnce(&mut Vec<ValueShare>)) {
        let mut list = match std::mem::take(&mut self.0) {
            ShareList::Own(list) => list,
            list => Self(list).to_vec(),
        };
        edit(&mut list);
        self.0 = ShareList::Own(list);
    }

    /// Appends a share.
    pub fn push(&mut self, share: (ValueId, i64)) {
        match self.0 {
            ShareList::None => self.0 = ShareList::One([share]),
            ShareList::One(_) | ShareList::Part { .. } | ShareList::Own(_) => self.change(|list| list.push(share)),
        }
    }

    /// Keeps the shares for which `is_kept` returns `true`.
    pub fn retain(&mut self, mut is_kept: impl FnMut(&(ValueId, i64)) -> bool) {
        if !self.iter().all(&mut is_kept) {
            self.change(|list| list.retain(is_kept));
        }
    }

    /// Keeps the first `len` shares.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            match &mut self.0 {
                ShareList::Part { len: old, .. } => *old = u32::try_from(len).unwrap_or(*old),
                ShareList::None | ShareList::One(_) | ShareList::Own(_) => self.change(|list| list.truncate(len)),
            }
        }
    }
}

impl Deref for ValueShares {
    type Target = [(ValueId, i64)];

    fn deref(&self) -> &[(ValueId, i64)] {
        match &self.0 {
            ShareList::None => &[],
            ShareList::One(share) => share,
            ShareList::Part { block, from, len } => {
                let from = *from as usize;
                block.get(from..from + *len as usize).unwrap_or(&[])
            }
            ShareList::Own(list) => list,
        }
    }
}

impl DerefMut for ValueShares {
    fn deref_mut(&mut self) -> &mut [(ValueId, i64)] {
        if matches!(self.0, ShareList::Part { .. }) {
            self.change(|_| ());
        }
        match &mut self.0 {
            ShareList::One(share) => share,
            ShareList::Own(list) => list,
            ShareList::None | ShareList::Part { .. } => &mut [],
        }
    }
}

impl std::fmt::Debug for ValueShares {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for ValueShares {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ValueShares {}

impl From<Vec<(ValueId, i64)>> for ValueShares {
    fn from(shares: Vec<(ValueId, i64)>) -> Self {
        match shares[..] {
            [] => Self::new(),
            [share] => Self(ShareList::One([share])),
            _ => Self(ShareList::Own(shares)),
        }
    }
}

impl FromIterator<(ValueId, i64)> for ValueShares {
    fn from_iter<I: IntoIterator<Item = (ValueId, i64)>>(shares: I) -> Self {
        Vec::from_iter(shares).into()
    }
}

impl IntoIterator for ValueShares {
    type Item = (ValueId, i64);
    type IntoIter = std::vec::IntoIter<(ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        match self.0 {
            ShareList::Own(list) => list.into_iter(),
            list => Self(list).to_vec().into_iter(),
        }
    }
}

impl<'a> IntoIterator for &'a ValueShares {
    type Item = &'a (ValueId, i64);
    type IntoIter = std::slice::Iter<'a, (ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut ValueShares {
    type Item = &'a mut (ValueId, i64);
    type IntoIter = std::slice::IterMut<'a, (ValueId, i64)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

/// Exact shares of time: the time of each value in one lane and one pixel column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MixtureCell {
    /// The values that occur, by decreasing time. Of equal times, the lower value comes first.
    pub shares: ValueShares,
    /// Total nanoseconds of all values that are not listed.
    pub unlisted_time: i64,
}

impl MixtureCell {
    /// Creates a cell of the `max_shares` largest shares, in order. The others become the rest.
    pub fn of(mut shares: impl AsMut<[(ValueId, i64)]>, max_shares: usize) -> Self {
        let shares = shares.as_mut();
        let order = |a: &(ValueId, i64), b: &(ValueId, i64)| b.1.cmp(&a.1).then(a.0.cmp(&b.0));
        if max_shares < shares.len() {
            shares.select_nth_unstable_by(max_shares, order);
        }
        let (largest, unlisted_shares) = shares.split_at_mut(max_shares.min(shares.len()));
        largest.sort_unstable_by(order);
        let shares = match *largest {
            [] => ValueShares::new(),
            [share] => ValueShares(ShareList::One([share])),
            _ => ValueShares(ShareList::Own(largest.to_vec())),
        };
        Self { shares, unlisted_time: unlisted_shares.iter().map(|share| share.1).sum() }
    }

    /// Keeps the `max_shares` largest shares. The others are added to the rest.
    pub(crate) fn keep_largest(&mut self, max_shares: usize) {
        self.unlisted_time += self.shares.iter().skip(max_shares).map(|share| share.1).sum::<i64>();
        self.shares.truncate(max_shares);
    }
}

/// Cells of several lanes, `columns` for each, lane by lane.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names explain the fields")]
pub struct MixtureCells {
    pub columns: u32,
    pub cells: Vec<MixtureCell>,
}

/// A cell with shares in the block in progress.
struct PendingCell {
    index: usize,
    /// Index of its first share in the block.
    from: u32,
    /// Number of its shares.
    len: u32,
}

/// Builds cells.
pub(crate) struct MixtureCellWriter {
    cells: Vec<MixtureCell>,
    /// The block of memory in progress.
    shares: Vec<ValueShare>,
    /// The cells with shares in the block.
    pending_cells: Vec<PendingCell>,
    /// Number of bits of the largest value.
    value_bits: u32,
    /// Sort keys of a mixture: the time of each value and, in the lower bits, the inverted value.
    keys: Vec<u64>,
}

impl MixtureCellWriter {
    /// Creates a writer with room for `room` cells, for a model with `values` values.
    pub(crate) fn new(room: usize, values: usize) -> Self {
        let value_bits = usize::BITS - values.leading_zeros();
        Self {
            cells: Vec::with_capacity(room),
            shares: Vec::new(),
            pending_cells: Vec::new(),
            value_bits,
            keys: Vec::new(),
        }
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Appends empty cells until there are `len`.
    pub(crate) fn fill(&mut self, len: usize) {
        self.cells.resize_with(len, MixtureCell::default);
    }

    /// Appends a cell of one value. If the list may have no shares (`max_shares` is 0), the time
    /// becomes the rest.
    pub(crate) fn push_one(&mut self, share: (ValueId, i64), max_shares: usize) {
        self.cells.push(match max_shares {
            0 => MixtureCell { shares: ValueShares::new(), unlisted_time: share.1 },
            _ => MixtureCell { shares: ValueShares(ShareList::One([share])), unlisted_time: 0 },
        });
    }

    /// Appends a cell of sorted shares.
    #[inline]
    pub(crate) fn push(&mut self, mut shares: impl ExactSizeIterator<Item = (ValueId, i64)>, unlisted_time: i64) {
        let len = shares.len();
        let list = match len {
            1 => shares.next().map_or(ShareList::None, |share| ShareList::One([share])),
            _ => ShareList::None,
        };
        if len > 1 {
            self.make_room(len);
            self.wait(self.cells.len(), len);
            self.shares.extend(shares);
        }
        self.cells.push(MixtureCell { shares: ValueShares(list), unlisted_time });
    }

    /// Appends shares to the last cell that has any, or to a later cell without shares. The cell
    /// gets at most `max_shares` shares; the others are added to the rest.
    pub(crate) fn append(
        &mut self,
        cell: usize,
        shares: impl Iterator<Item = (ValueId, i64)>,
        max_shares: usize,
        unlisted_time: i64,
    ) {
        if cell >= self.cells.len() {
            return;
        }
        if self.pending_cells.last().is_none_or(|last| last.index != cell) {
            self.make_room(max_shares.min(PIECE));
            self.wait(cell, 0);
        }
        let Some(pending) = self.pending_cells.last_mut() else { return };
        let (from, mut rest) = (pending.from as usize, unlisted_time);
        for share in shares {
            if self.shares.len() - from < max_shares {
                self.shares.push(share);
            } else {
                rest = rest.wrapping_add(share.1);
            }
        }
        pending.len = (self.shares.len() - from) as u32;
        self.cells[cell].unlisted_time = self.cells[cell].unlisted_time.wrapping_add(rest);
    }

    /// Appends a cell of unsorted shares: the `max_shares` largest, and the others as the rest.
    pub(crate) fn push_unordered(&mut self, shares: impl Iterator<Item = (ValueId, i64)> + Clone, max_shares: usize) {
        let (bits, mask) = (self.value_bits, (1 << self.value_bits) - 1);
        let mut time_bits = 0;
        self.keys.clear();
        self.keys.extend(shares.clone().map(|(value, time)| {
            time_bits |= time;
            time.cast_unsigned() << bits | (mask & !u64::from(value.0))
        }));
        // Time and value must fit into one 64-bit number, so that comparison is fast.
        let is_fit = time_bits >= 0 && time_bits.leading_zeros() > bits;
        if !is_fit || self.keys.len() < 2 {
            let MixtureCell { shares, unlisted_time } = MixtureCell::of(shares.collect::<Vec<_>>(), max_shares);
            return self.push(shares.iter().copied(), unlisted_time);
        }
        let unlisted_count = self.keys.len().saturating_sub(max_shares);
        if 0 < unlisted_count && unlisted_count < self.keys.len() {
            self.keys.select_nth_unstable(unlisted_count);
        }
        let rest = self.keys[..unlisted_count].iter().map(|key| (key >> bits).cast_signed()).sum();
        self.keys[unlisted_count..].sort_unstable();
        let len = self.keys.len() - unlisted_count;
        self.make_room(len);
        self.cells.push(MixtureCell { shares: ValueShares::new(), unlisted_time: rest });
        self.wait(self.cells.len() - 1, len);
        let share = |key: &u64| (ValueId((mask & !key) as u32), (key >> bits).cast_signed());
        self.shares.extend(self.keys[unlisted_count..].iter().rev().map(share));
    }

    /// Starts a new block of memory if `len` more shares would make this one too large.
    fn make_room(&mut self, len: usize) {
        if !self.shares.is_empty() && self.shares.len() + len > PIECE {
            self.seal();
            self.shares.reserve_exact(PIECE.max(len));
        }
    }

    fn wait(&mut self, cell: usize, len: usize) {
        self.pending_cells.push(PendingCell { index: cell, from: self.shares.len() as u32, len: len as u32 });
    }

    /// Assigns the shares of the block to their cells.
    fn seal(&mut self) {
        let block = Arc::new(std::mem::take(&mut self.shares));
        for PendingCell { index, from, len } in self.pending_cells.drain(..) {
            self.cells[index].shares = match block.get(from as usize..) {
                Some([share, ..]) if len == 1 => ValueShares(ShareList::One([*share])),
                _ if len == 0 => continue,
                _ => ValueShares(ShareList::Part { block: Arc::clone(&block), from, len }),
            };
        }
    }

    /// Returns all cells.
    pub(crate) fn finish(mut self) -> Vec<MixtureCell> {
        self.shares.shrink_to_fit();
        self.seal();
        self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Mixtures of up to 60 values. Times are below 2^58 ns, or very large.
    fn mixtures() -> impl Strategy<Value = Vec<Vec<ValueShare>>> {
        let time = prop_oneof![1_i64..20, 1_i64..1 << 58, Just(i64::MAX / 2)];
        let mixture = prop::collection::btree_map(0_u32..400, time, 0..60);
        let list = mixture.prop_map(|of| of.into_iter().map(|(value, time)| (ValueId(value), time)).collect());
        prop::collection::vec(list, 0..200)
    }

    proptest! {
        #[test]
        fn cells_that_share_memory_equal_separate_cells(mixtures in mixtures(), max_shares in 0_usize..70) {
            // Shares with a sum above the largest time cannot be the rest of one cell.
            let is_sum = |of: &Vec<ValueShare>| of.iter().try_fold(0_i64, |sum, share| sum.checked_add(share.1)).is_some();
            let mixtures: Vec<Vec<ValueShare>> = mixtures.into_iter().filter(is_sum).collect();
            let mut cells = MixtureCellWriter::new(0, 400);
            for of in &mixtures {
                cells.push_unordered(of.iter().copied(), max_shares);
            }
            let expected: Vec<MixtureCell> = mixtures.into_iter().map(|of| MixtureCell::of(of, max_shares)).collect();
            let cells = cells.finish();
            prop_assert_eq!(&cells, &expected);
            let mut short_cells = cells.clone();
            short_cells.iter_mut().for_each(|cell| cell.keep_largest(3));
            for (short_cell, cell) in short_cells.iter().zip(&cells) {
                prop_assert_eq!(&short_cell.shares[..], &cell.shares[..cell.shares.len().min(3)]);
                prop_assert_eq!(short_cell.shares.iter().map(|share| share.1).sum::<i64>() + short_cell.unlisted_time,
                    cell.shares.iter().map(|share| share.1).sum::<i64>() + cell.unlisted_time);
            }
        }

        #[test]
        fn a_changed_list_changes_no_other(mixtures in mixtures()) {
            let mut cells = MixtureCellWriter::new(0, 400);
            mixtures.iter().for_each(|of| cells.push(of.iter().copied(), 0));
            let mut cells = cells.finish();
            for cell in cells.iter_mut().step_by(2) {
                cell.shares.push((ValueId(1000), 1));
                cell.shares.retain(|share| share.0 != ValueId(0));
                cell.shares.iter_mut().for_each(|share| share.1 = 7);
            }
            for (cell_index, (cell, of)) in cells.into_iter().zip(mixtures).enumerate() {
                let expected = of.iter().map(|share| share.0).filter(|&value| value != ValueId(0));
                let expected = expected.chain([ValueId(1000)]).map(|value| (value, 7)).collect();
                prop_assert_eq!(cell.shares.into_iter().collect::<Vec<_>>(), if cell_index % 2 == 0 { expected } else { of });
            }
        }
    }
}
