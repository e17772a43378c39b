//! [`PieceBlocks`] in blocks of packed pieces, each with a summary.

use std::ops::Range;

use super::piece::FunctionPiece;
use super::piece_bytes::{self, PieceBytes, PieceMemory};
use crate::query::{EntityId, EntityList, QueryError, SeriesColumn, TimeRange, ValueRange, VariableSample};

/// Pieces per block. A block is read at once, and has sums.
const BLOCK: usize = 256;

/// A piece with its number in the function.
#[derive(Clone, Copy, Debug, PartialEq)]
struct NumberedPiece {
    number: usize,
    piece: FunctionPiece,
}

/// Pieces without overlap, in order of time. Adjacent pieces have different values, or a gap
/// between them.
#[derive(Debug, Default)]
pub(crate) struct PieceBlocks {
    blocks: Vec<PieceBlock>,
    len: usize,
}

/// Up to [`BLOCK`] pieces, and their summary.
#[derive(Debug)]
struct PieceBlock {
    from: i64,
    to: i64,
    sum: PieceSum,
    bytes: PieceBytes,
}

/// The summary of some pieces.
#[derive(Clone, Copy, Debug)]
struct PieceSum {
    min: f64,
    max: f64,
    integral_sum: f64,
    covered_time: i64,
}

impl PieceSum {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral_sum: 0.0, covered_time: 0 };

    fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            integral_sum: self.integral_sum + other.integral_sum,
            covered_time: self.covered_time + other.covered_time,
        }
    }

    /// The summary of a piece, clipped to a time range.
    #[expect(clippy::cast_precision_loss, reason = "the unit of an integral")]
    fn of(piece: &FunctionPiece, time_range: TimeRange) -> Self {
        let covered_time = (piece.to.min(time_range.to.0) - piece.from.max(time_range.from.0)).max(0);
        Self { min: piece.value, max: piece.value, integral_sum: piece.value * covered_time as f64, covered_time }
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn column(self) -> Option<SeriesColumn> {
        let mean = self.integral_sum / (self.covered_time as f64);
        (self.min <= self.max).then(|| SeriesColumn {
            min: self.min,
            max: self.max,
            mean: mean.clamp(self.min, self.max),
        })
    }
}

/// Collects pieces in order of time.
#[derive(Debug)]
pub(crate) struct StepWriter<'a> {
    steps: PieceBlocks,
    /// The latest pieces, which are not yet in a block.
    open_pieces: Vec<FunctionPiece>,
    memory: &'a PieceMemory,
}

impl<'a> StepWriter<'a> {
    pub(crate) fn new(memory: &'a PieceMemory) -> Self {
        Self { steps: PieceBlocks::default(), open_pieces: Vec::new(), memory }
    }

    /// Appends a piece. It is merged with the previous piece if that one has the same value and
    /// ends at its start.
    pub(crate) fn push(&mut self, piece: FunctionPiece) -> Result<(), QueryError> {
        match self.open_pieces.last_mut() {
            Some(before) if before.to == piece.from && before.value.to_bits() == piece.value.to_bits() => {
                before.to = piece.to;
            }
            _ => {
                // The last piece stays out of the block, because it may become longer.
                if self.open_pieces.len() > BLOCK {
                    self.seal(BLOCK)?;
                }
                self.open_pieces.push(piece);
            }
        }
        Ok(())
    }

    fn seal(&mut self, pieces: usize) -> Result<(), QueryError> {
        let rest = self.open_pieces.split_off(pieces);
        let pieces = std::mem::replace(&mut self.open_pieces, rest);
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return Ok(()) };
        let sum = pieces.iter().fold(PieceSum::EMPTY, |all, piece| all.join(PieceSum::of(piece, piece.life())));
        let bytes = self.memory.put(piece_bytes::pack(&pieces))?;
        self.steps.len += pieces.len();
        self.steps.blocks.push(PieceBlock { from: first.from, to: last.to, sum, bytes });
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<PieceBlocks, QueryError> {
        while !self.open_pieces.is_empty() {
            self.seal(BLOCK.min(self.open_pieces.len()))?;
        }
        self.steps.blocks.shrink_to_fit();
        Ok(self.steps)
    }
}

impl PieceBlocks {
    /// Number of pieces.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Least and largest value.
    pub(crate) fn range(&self) -> Option<ValueRange> {
        let all = self.blocks.iter().fold(PieceSum::EMPTY, |all, block| all.join(block.sum));
        (!self.blocks.is_empty()).then_some(ValueRange { min: all.min, max: all.max })
    }

    fn read(&self, block: usize) -> Result<Vec<FunctionPiece>, QueryError> {
        let Some(block) = self.blocks.get(block) else { return Ok(Vec::new()) };
        piece_bytes::unpack(&block.bytes.read()?, block.from).ok_or(QueryError::PutAside)
    }

    /// Piece number `index`.
    pub(crate) fn piece(&self, index: usize) -> Result<FunctionPiece, QueryError> {
        self.read(index / BLOCK)?.get(index % BLOCK).copied().ok_or(QueryError::Unknown { kind: "sample" })
    }

    /// The pieces that overlap a time range, as samples of a variable. The number of the first
    /// sample of the function is `base`.
    pub(crate) fn samples(
        &self,
        base: u32,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        let EntityList { total, items } = self.overlapping_pieces(time_range, limit)?;
        let items = items.into_iter().map(|NumberedPiece { number, piece }| VariableSample {
            id: EntityId::Sample(base + number as u32),
            life: piece.life(),
            value: piece.value,
        });
        Ok(EntityList { total, items: items.collect() })
    }

    /// Number of pieces that overlap a time range, and the first `limit` of them. It costs O(log
    /// n), plus the listed pieces.
    fn overlapping_pieces(&self, time_range: TimeRange, limit: usize) -> Result<EntityList<NumberedPiece>, QueryError> {
        let blocks = self.blocks_in(time_range);
        if blocks.is_empty() {
            return Ok(EntityList { total: 0, items: Vec::new() });
        }
        let (first, last) = (blocks.start, blocks.end);
        // The first and the last block may extend beyond the time range. The blocks between them do
        // not.
        let low = self.read(first)?.partition_point(|piece| piece.to <= time_range.from.0) + first * BLOCK;
        let high = self.read(last - 1)?.partition_point(|piece| piece.from < time_range.to.0) + (last - 1) * BLOCK;
        let (mut items, end) = (Vec::new(), high.min(low.saturating_add(limit)));
        for block in first..last {
            if block * BLOCK >= end {
                break;
            }
            let pieces = (block * BLOCK..).zip(self.read(block)?);
            let pieces = pieces.map(|(number, piece)| NumberedPiece { number, piece });
            items.extend(pieces.filter(|piece| (low..end).contains(&piece.number)));
        }
        Ok(EntityList { total: high.saturating_sub(low) as u64, items })
    }

    /// The blocks that overlap a time range.
    fn blocks_in(&self, time_range: TimeRange) -> Range<usize> {
        let first = self.blocks.partition_point(|block| block.to <= time_range.from.0);
        first..self.blocks.partition_point(|block| block.from < time_range.to.0).max(first)
    }

    /// Minimum, maximum and mean of each column. The mean is over the time that has a value. Each
    /// column costs O(log n), plus the number of blocks in it.
    pub(crate) fn columns(&self, time_range: TimeRange, columns: u32) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        // The number and the pieces of a block. Adjacent columns usually have an edge in the same
        // block.
        let mut previous: Option<(usize, Vec<FunctionPiece>)> = None;
        let column = |column_range: TimeRange| {
            let blocks = self.blocks_in(column_range);
            let mut sum = PieceSum::EMPTY;
            for (number, block) in blocks.clone().zip(&self.blocks[blocks]) {
                if column_range.from.0 <= block.from && block.to <= column_range.to.0 {
                    sum = sum.join(block.sum);
                    continue;
                }
                if previous.as_ref().is_none_or(|previous| previous.0 != number) {
                    previous = Some((number, self.read(number)?));
                }
                let Some((_, pieces)) = &previous else { continue };
                let low = pieces.partition_point(|piece| piece.to <= column_range.from.0);
                let inside = pieces[low..].iter().take_while(|piece| piece.from < column_range.to.0);
                sum = inside.fold(sum, |all, piece| all.join(PieceSum::of(piece, column_range)));
            }
            Ok(sum.column())
        };
        time_range.columns(columns).map(column).collect()
    }

    /// All pieces, block by block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<FunctionPiece, QueryError>> + '_ {
        (0..self.blocks.len()).flat_map(|block| match self.read(block) {
            Ok(pieces) => pieces.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::GlobalNanos;
    use proptest::prelude::*;

    fn pieces() -> impl Strategy<Value = Vec<FunctionPiece>> {
        let value = prop_oneof![
            (-3_i32..4).prop_map(f64::from),
            any::<f64>().prop_filter("a mean", |value| value.abs() < 1e280),
            Just(1e200)
        ];
        let piece = (prop_oneof![4 => Just(0_i64), 1 => 1_i64..1_000_000], 1_i64..1_000_000, value);
        prop::collection::vec(piece, 0..1_500).prop_map(|list| {
            let mut timestamp = -500_000_000;
            let mut pieces: Vec<FunctionPiece> = Vec::new();
            for (gap, length, value) in list {
                let (from, to) = (timestamp + gap, timestamp + gap + length);
                match pieces.last_mut() {
                    Some(before) if before.to == from && before.value.to_bits() == value.to_bits() => before.to = to,
                    _ => pieces.push(FunctionPiece { from, to, value }),
                }
                timestamp = to;
            }
            pieces
        })
    }

    fn build(pieces: &[FunctionPiece], memory: &PieceMemory) -> PieceBlocks {
        let mut writer = StepWriter::new(memory);
        for piece in pieces {
            // The two halves are merged again.
            let middle = piece.from.midpoint(piece.to);
            if middle > piece.from {
                writer.push(FunctionPiece { to: middle, ..*piece }).expect("the pieces can be written");
            }
            writer.push(FunctionPiece { from: middle, ..*piece }).expect("the pieces can be written");
        }
        writer.finish().expect("the pieces can be written")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn packed_functions_round_trip(pieces in pieces(), memory in prop_oneof![Just(0_usize), Just(2_000), Just(usize::MAX)],
            from in -600_000_000_i64..600_000_000, length in 1_i64..900_000_000, columns in 1_u32..40, limit in 0_usize..900)
        {
            let memory = PieceMemory::new(memory);
            let steps = build(&pieces, &memory);
            prop_assert_eq!(steps.len(), pieces.len());
            prop_assert_eq!(steps.iter().collect::<Result<Vec<_>, _>>().unwrap(), pieces.clone());
            let time_range = TimeRange { from: GlobalNanos(from), to: GlobalNanos(from + length) };
            let numbered_pieces = pieces.iter().copied().enumerate().map(|(number, piece)| NumberedPiece { number, piece });
            let inside: Vec<NumberedPiece> =
                numbered_pieces.filter(|numbered_piece| numbered_piece.piece.from < time_range.to.0 && numbered_piece.piece.to > from).collect();
            let list = steps.overlapping_pieces(time_range, limit).unwrap();
            prop_assert_eq!(list.total, inside.len() as u64);
            prop_assert_eq!(&list.items[..], &inside[..inside.len().min(limit)]);
            for NumberedPiece { number, piece } in inside.iter().step_by(97) {
                prop_assert_eq!(steps.piece(*number).unwrap(), *piece);
            }
            for (column, result) in time_range.columns(columns).zip(steps.columns(time_range, columns).unwrap()) {
                let overlapping_pieces = pieces.iter().filter(|piece| piece.from < column.to.0 && piece.to > column.from.0);
                let expected = overlapping_pieces.fold(PieceSum::EMPTY, |expected, piece| expected.join(PieceSum::of(piece, column))).column();
                prop_assert_eq!(result.map(|of| (of.min, of.max)), expected.map(|of| (of.min, of.max)));
                if let (Some(result), Some(expected)) = (result, expected) {
                    let largest = expected.min.abs().max(expected.max.abs());
                    prop_assert!((result.mean - expected.mean).abs() <= largest * 1e-9, "{} {}", result.mean, expected.mean);
                }
            }
        }
    }
}
