//! [`Steps`]: a function of time that is constant piece by piece, packed: about five bytes a piece, which are put aside in a file where they
//! are many.
//!
//! What makes one of entities is in [`fold`], where its bytes are in [`packed`].

mod fold;
mod packed;

pub(crate) use fold::{Fold, List, Merge};
pub(crate) use packed::Room;

use self::packed::Bytes;
use crate::query::{GlobalNanos, Interval, QueryError, SeriesColumn};

/// Pieces per block: what is read at once, and has sums.
const BLOCK: usize = 256;

/// Something with a value that lasts from one date to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub from: i64,
    pub to: i64,
    pub value: f64,
}

/// Pieces that do not overlap, by date. Neighbours differ in value, or a gap lies between them.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    blocks: Vec<Block>,
    len: usize,
}

/// So many pieces, and what they come to.
#[derive(Debug)]
struct Block {
    from: i64,
    to: i64,
    sum: Sum,
    bytes: Bytes,
}

/// What some pieces come to.
#[derive(Clone, Copy, Debug)]
struct Sum {
    min: f64,
    max: f64,
    integral: f64,
    covered: i64,
}

impl Sum {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0, covered: 0 };

    fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            integral: self.integral + other.integral,
            covered: self.covered + other.covered,
        }
    }

    /// Of the part of a piece that is in an interval.
    #[expect(clippy::cast_precision_loss, reason = "the unit of an integral")]
    fn of(piece: &Piece, from: i64, to: i64) -> Self {
        let covered = (piece.to.min(to) - piece.from.max(from)).max(0);
        Self { min: piece.value, max: piece.value, integral: piece.value * covered as f64, covered }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn column(self) -> Option<SeriesColumn> {
        let mean = self.integral / (self.covered as f64);
        (self.min <= self.max).then(|| SeriesColumn {
            min: self.min,
            max: self.max,
            mean: mean.clamp(self.min, self.max),
        })
    }
}

/// Pieces while they come, by date.
#[derive(Debug)]
pub(crate) struct Writer<'a> {
    steps: Steps,
    /// The last of them, not yet in a block.
    open: Vec<Piece>,
    room: &'a Room,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(room: &'a Room) -> Self {
        Self { steps: Steps::default(), open: Vec::new(), room }
    }

    /// Appends a piece, which makes one with the last where that has its value and ends where it begins.
    pub(crate) fn push(&mut self, piece: Piece) -> Result<(), QueryError> {
        match self.open.last_mut() {
            Some(before) if before.to == piece.from && before.value.to_bits() == piece.value.to_bits() => {
                before.to = piece.to;
            }
            _ => {
                // The last piece stays outside: it may become longer.
                if self.open.len() > BLOCK {
                    self.seal(BLOCK)?;
                }
                self.open.push(piece);
            }
        }
        Ok(())
    }

    fn seal(&mut self, pieces: usize) -> Result<(), QueryError> {
        let rest = self.open.split_off(pieces);
        let pieces = std::mem::replace(&mut self.open, rest);
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Ok(()) };
        let sum = pieces.iter().fold(Sum::EMPTY, |all, piece| all.join(Sum::of(piece, piece.from, piece.to)));
        let bytes = self.room.put(packed::pack(&pieces))?;
        self.steps.len += pieces.len();
        self.steps.blocks.push(Block { from: first.from, to: last.to, sum, bytes });
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Steps, QueryError> {
        while !self.open.is_empty() {
            self.seal(BLOCK.min(self.open.len()))?;
        }
        self.steps.blocks.shrink_to_fit();
        Ok(self.steps)
    }
}

impl Steps {
    /// How many pieces.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Least and largest value.
    pub(crate) fn range(&self) -> Option<(f64, f64)> {
        let all = self.blocks.iter().fold(Sum::EMPTY, |all, block| all.join(block.sum));
        (!self.blocks.is_empty()).then_some((all.min, all.max))
    }

    /// The pieces of a block.
    fn read(&self, block: usize) -> Result<Vec<Piece>, QueryError> {
        let Some(found) = self.blocks.get(block) else { return Ok(Vec::new()) };
        packed::unpack(&found.bytes.read()?, found.from).ok_or(QueryError::PutAside)
    }

    /// Piece number `at`.
    pub(crate) fn piece(&self, at: usize) -> Result<Piece, QueryError> {
        self.read(at / BLOCK)?.get(at % BLOCK).copied().ok_or(QueryError::Unknown { what: "sample" })
    }

    /// How many pieces overlap an interval, and the first of them with their numbers. O(log n), and those that are listed.
    pub(crate) fn overlapping(
        &self,
        interval: Interval,
        limit: usize,
    ) -> Result<(u64, Vec<(usize, Piece)>), QueryError> {
        let (first, last) = self.within(interval);
        if first == last {
            return Ok((0, Vec::new()));
        }
        // The first and the last block may stick out of the interval; those between them do not.
        let low = self.read(first)?.partition_point(|piece| piece.to <= interval.from.0) + first * BLOCK;
        let high = self.read(last - 1)?.partition_point(|piece| piece.from < interval.to.0) + (last - 1) * BLOCK;
        let (mut items, end) = (Vec::new(), high.min(low.saturating_add(limit)));
        for block in first..last {
            if block * BLOCK >= end {
                break;
            }
            let numbered = (block * BLOCK..).zip(self.read(block)?);
            items.extend(numbered.filter(|piece| (low..end).contains(&piece.0)));
        }
        Ok((high.saturating_sub(low) as u64, items))
    }

    /// The blocks that overlap an interval.
    fn within(&self, interval: Interval) -> (usize, usize) {
        let first = self.blocks.partition_point(|block| block.to <= interval.from.0);
        (first, self.blocks.partition_point(|block| block.from < interval.to.0).max(first))
    }

    /// Least, largest and mean value over each of some columns, the mean over the time that has one. O(log n) for each, and what is in it by
    /// blocks.
    pub(crate) fn columns(&self, interval: Interval, columns: u32) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        // Neighbours mostly have an edge in one block.
        let mut kept: Option<(usize, Vec<Piece>)> = None;
        let column = |part: Interval| {
            let (first, last) = self.within(part);
            let mut all = Sum::EMPTY;
            for (number, block) in (first..).zip(&self.blocks[first..last]) {
                if part.from.0 <= block.from && block.to <= part.to.0 {
                    all = all.join(block.sum);
                    continue;
                }
                if kept.as_ref().is_none_or(|kept| kept.0 != number) {
                    kept = Some((number, self.read(number)?));
                }
                let Some((_, pieces)) = &kept else { continue };
                let low = pieces.partition_point(|piece| piece.to <= part.from.0);
                let inside = pieces[low..].iter().take_while(|piece| piece.from < part.to.0);
                all = inside.fold(all, |all, piece| all.join(Sum::of(piece, part.from.0, part.to.0)));
            }
            Ok(all.column())
        };
        interval.columns(columns).map(column).collect()
    }

    /// All pieces, block by block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<Piece, QueryError>> + '_ {
        (0..self.blocks.len()).flat_map(|block| match self.read(block) {
            Ok(pieces) => pieces.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }
}

/// The life of a piece.
pub(crate) fn life(piece: &Piece) -> Interval {
    Interval { from: GlobalNanos(piece.from), to: GlobalNanos(piece.to) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> impl Strategy<Value = Vec<Piece>> {
        let value = prop_oneof![
            (-3_i32..4).prop_map(f64::from),
            any::<f64>().prop_filter("a mean", |value| value.abs() < 1e280),
            Just(1e200)
        ];
        let one = (prop_oneof![4 => Just(0_i64), 1 => 1_i64..1_000_000], 1_i64..1_000_000, value);
        prop::collection::vec(one, 0..1_500).prop_map(|list| {
            let mut date = -500_000_000;
            let mut pieces: Vec<Piece> = Vec::new();
            for (gap, length, value) in list {
                let (from, to) = (date + gap, date + gap + length);
                match pieces.last_mut() {
                    Some(before) if before.to == from && before.value.to_bits() == value.to_bits() => before.to = to,
                    _ => pieces.push(Piece { from, to, value }),
                }
                date = to;
            }
            pieces
        })
    }

    fn made(pieces: &[Piece], room: &Room) -> Steps {
        let mut writer = Writer::new(room);
        for piece in pieces {
            // Halves become one again.
            let middle = piece.from.midpoint(piece.to);
            if middle > piece.from {
                writer.push(Piece { to: middle, ..*piece }).expect("there is room");
            }
            writer.push(Piece { from: middle, ..*piece }).expect("there is room");
        }
        writer.finish().expect("there is room")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn what_is_packed_is_what_was_there(pieces in pieces(), memory in prop_oneof![Just(0_usize), Just(2_000), Just(usize::MAX)],
            from in -600_000_000_i64..600_000_000, length in 1_i64..900_000_000, columns in 1_u32..40, limit in 0_usize..900)
        {
            let room = Room::new(memory);
            let steps = made(&pieces, &room);
            prop_assert_eq!(steps.len(), pieces.len());
            prop_assert_eq!(steps.iter().collect::<Result<Vec<_>, _>>().unwrap(), pieces.clone());
            let interval = Interval { from: GlobalNanos(from), to: GlobalNanos(from + length) };
            let inside: Vec<(usize, Piece)> =
                pieces.iter().copied().enumerate().filter(|(_, piece)| piece.from < interval.to.0 && piece.to > from).collect();
            let (total, listed) = steps.overlapping(interval, limit).unwrap();
            prop_assert_eq!(total, inside.len() as u64);
            prop_assert_eq!(&listed[..], &inside[..inside.len().min(limit)]);
            for (at, piece) in inside.iter().step_by(97) {
                prop_assert_eq!(steps.piece(*at).unwrap(), *piece);
            }
            for (column, found) in interval.columns(columns).zip(steps.columns(interval, columns).unwrap()) {
                let there = pieces.iter().filter(|piece| piece.from < column.to.0 && piece.to > column.from.0);
                let all = there.fold(Sum::EMPTY, |all, piece| all.join(Sum::of(piece, column.from.0, column.to.0))).column();
                prop_assert_eq!(found.map(|of| (of.min, of.max)), all.map(|of| (of.min, of.max)));
                if let (Some(found), Some(all)) = (found, all) {
                    let most = all.min.abs().max(all.max.abs());
                    prop_assert!((found.mean - all.mean).abs() <= most * 1e-9, "{} {}", found.mean, all.mean);
                }
            }
        }
    }
}
