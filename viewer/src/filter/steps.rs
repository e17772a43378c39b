//! [`Steps`]: a function of time that is constant piece by piece, made from overlapping pieces by a reduction.
//!
//! Exact: each value is computed from the pieces that are there at that time alone, by a tree over them, never by adding to and taking
//! from the value before; so nothing drifts.

use super::Operation;
use crate::query::{GlobalNanos, Interval, SeriesColumn};

/// Pieces per block of sums.
const BLOCK: usize = 64;

/// Something with a value that lasts from one date to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) from: i64,
    pub(super) to: i64,
    pub(super) value: f64,
}

/// Pieces that do not overlap, by date. Neighbours differ in value, or a gap lies between them.
#[derive(Debug, Default)]
pub(super) struct Steps {
    pieces: Vec<Piece>,
    blocks: Vec<Block>,
}

/// What a block of pieces comes to.
#[derive(Clone, Copy, Debug)]
struct Block {
    min: f64,
    max: f64,
    integral: f64,
    covered: i64,
}

impl Block {
    const EMPTY: Self = Self { min: f64::INFINITY, max: f64::NEG_INFINITY, integral: 0.0, covered: 0 };

    fn join(self, other: Self) -> Self {
        Self {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            integral: self.integral + other.integral,
            covered: self.covered + other.covered,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "the unit of an integral")]
    fn of(piece: &Piece, from: i64, to: i64) -> Self {
        let covered = (piece.to.min(to) - piece.from.max(from)).max(0);
        Self { min: piece.value, max: piece.value, integral: piece.value * covered as f64, covered }
    }
}

/// What the pieces that are there at one time come to.
#[derive(Clone, Copy, Debug)]
struct Node {
    count: u32,
    sum: f64,
    min: f64,
    max: f64,
}

impl Node {
    const EMPTY: Self = Self { count: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn join(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    fn value(self, operation: Operation) -> Option<f64> {
        match operation {
            _ if self.count == 0 => None,
            Operation::Count => Some(f64::from(self.count)),
            Operation::Sum => Some(self.sum),
            Operation::Mean => Some(self.sum / f64::from(self.count)),
            Operation::Min => Some(self.min),
            Operation::Max => Some(self.max),
        }
    }
}

impl Steps {
    /// Reduces pieces, which may overlap, within an interval. Where there is none, the value is `none`. What has no duration does not count.
    /// O(n log n).
    pub(super) fn reduce(mut pieces: Vec<Piece>, operation: Operation, within: Interval, none: Option<f64>) -> Self {
        let (first, last) = (within.from.0, within.to.0);
        pieces.retain_mut(|piece| {
            (piece.from, piece.to) = (piece.from.max(first), piece.to.min(last));
            piece.from < piece.to
        });
        pieces.sort_by(|a, b| a.from.cmp(&b.from).then(a.to.cmp(&b.to)).then(a.value.total_cmp(&b.value)));
        let mut ends: Vec<u32> = (0..pieces.len() as u32).collect();
        ends.sort_by_key(|&at| pieces[at as usize].to);
        let mut tree = Tree::new(most_at_once(&pieces, &ends));
        let mut place = vec![0_usize; pieces.len()];
        let mut steps = Self::default();
        let (mut begun, mut ended, mut now) = (0, 0, first);
        loop {
            while let Some(&at) = ends.get(ended).filter(|&&at| pieces[at as usize].to <= now) {
                tree.clear(place[at as usize]);
                ended += 1;
            }
            while let Some(piece) = pieces.get(begun).filter(|piece| piece.from <= now) {
                place[begun] = tree.fill(piece.value);
                begun += 1;
            }
            let next_end = ends.get(ended).map_or(last, |&at| pieces[at as usize].to);
            let next = pieces.get(begun).map_or(last, |piece| piece.from).min(next_end);
            if next <= now {
                break;
            }
            if let Some(value) = tree.root().value(operation).or(none) {
                steps.push(Piece { from: now, to: next, value });
            }
            now = next;
        }
        steps.seal();
        steps
    }

    fn push(&mut self, piece: Piece) {
        match self.pieces.last_mut() {
            Some(before) if before.to == piece.from && before.value.to_bits() == piece.value.to_bits() => {
                before.to = piece.to;
            }
            _ => self.pieces.push(piece),
        }
    }

    fn seal(&mut self) {
        self.pieces.shrink_to_fit();
        let of = |chunk: &[Piece]| {
            chunk.iter().fold(Block::EMPTY, |all, piece| all.join(Block::of(piece, piece.from, piece.to)))
        };
        self.blocks = self.pieces.chunks(BLOCK).map(of).collect();
    }

    /// How many pieces.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// By date.
    pub(super) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Least and largest value.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let all = self.blocks.iter().fold(Block::EMPTY, |all, &block| all.join(block));
        (!self.blocks.is_empty()).then_some((all.min, all.max))
    }

    /// Positions of the pieces that overlap an interval. O(log n).
    pub(super) fn overlapping(&self, interval: Interval) -> std::ops::Range<usize> {
        let first = self.pieces.partition_point(|piece| piece.to <= interval.from.0);
        first..self.pieces.partition_point(|piece| piece.from < interval.to.0).max(first)
    }

    /// Least, largest and mean value over an interval, the mean over the time that has one. O(log n + n / 64).
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub(super) fn column(&self, interval: Interval) -> Option<SeriesColumn> {
        let range = self.overlapping(interval);
        if range.is_empty() {
            return None;
        }
        let clipped = |at: usize, all: Block| all.join(Block::of(&self.pieces[at], interval.from.0, interval.to.0));
        let (low, high) = (range.start.div_ceil(BLOCK), range.end / BLOCK);
        // The pieces at both ends may stick out; blocks between them do not.
        let all = if low + 2 >= high {
            range.fold(Block::EMPTY, |all, at| clipped(at, all))
        } else {
            let (low, high) = (low + 1, high - 1);
            let edges = (range.start..low * BLOCK).chain(high * BLOCK..range.end);
            let sum = edges.fold(Block::EMPTY, |all, at| clipped(at, all));
            self.blocks[low..high].iter().fold(sum, |all, &block| all.join(block))
        };
        let mean = all.integral / (all.covered as f64);
        Some(SeriesColumn { min: all.min, max: all.max, mean: mean.clamp(all.min, all.max) })
    }
}

/// The life of a piece.
pub(super) fn life(piece: &Piece) -> Interval {
    Interval { from: GlobalNanos(piece.from), to: GlobalNanos(piece.to) }
}

/// How many pieces are there at one time, at most.
fn most_at_once(pieces: &[Piece], ends: &[u32]) -> usize {
    let (mut ended, mut most) = (0, 0);
    for (begun, piece) in pieces.iter().enumerate() {
        while ends.get(ended).is_some_and(|&at| pieces[at as usize].to <= piece.from) {
            ended += 1;
        }
        most = most.max(begun + 1 - ended);
    }
    most
}

/// What is there, as the leaves of a tree whose root is what all of it comes to.
struct Tree {
    nodes: Vec<Node>,
    free: Vec<usize>,
}

impl Tree {
    fn new(leaves: usize) -> Self {
        let leaves = leaves.max(1).next_power_of_two();
        Self { nodes: vec![Node::EMPTY; 2 * leaves], free: (leaves..2 * leaves).rev().collect() }
    }

    fn root(&self) -> Node {
        self.nodes[1]
    }

    fn fill(&mut self, value: f64) -> usize {
        // There are as many leaves as are ever needed at once.
        let at = self.free.pop().unwrap_or(self.nodes.len() / 2);
        self.set(at, Node { count: 1, sum: value, min: value, max: value });
        at
    }

    fn clear(&mut self, at: usize) {
        self.set(at, Node::EMPTY);
        self.free.push(at);
    }

    fn set(&mut self, mut at: usize, node: Node) {
        self.nodes[at] = node;
        while at > 1 {
            at /= 2;
            self.nodes[at] = self.nodes[2 * at].join(self.nodes[2 * at + 1]);
        }
    }
}
