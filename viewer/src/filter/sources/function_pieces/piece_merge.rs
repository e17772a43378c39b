//! Combines overlapping pieces into [`PieceBlocks`], with the combined value of all pieces at each
//! time.
//!
//! [`PieceMerge`] merges the pieces of many lists by start, page by page. A [`PieceFold`] stores
//! the pieces that exist at its current time, and writes a piece whenever the combined value
//! changes. Memory is needed for the pieces that exist at one time, and for one page per list.
//!
//! The result is exact: each value is computed only from the pieces that exist at that time, with a
//! tree over them. It is never computed by adding to or subtracting from the previous value, so no
//! rounding errors accumulate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::blocks::{PieceBlocks, StepWriter};
use super::piece::FunctionPiece;
use super::piece_bytes::PieceMemory;
use crate::filter::language::ast::ReduceOperation;
use crate::query::{QueryError, TimeRange};

/// The combined value of some pieces.
#[derive(Clone, Copy, Debug)]
struct FoldNode {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl FoldNode {
    const EMPTY: Self = Self { count: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn of_value(value: f64) -> Self {
        Self { count: 1, sum: value, min: value, max: value }
    }

    fn join(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of entities")]
    fn value(self, operation: ReduceOperation) -> Option<f64> {
        match operation {
            _ if self.count == 0 => None,
            ReduceOperation::Count => Some(self.count as f64),
            ReduceOperation::Sum => Some(self.sum),
            ReduceOperation::Mean => Some(self.sum / self.count as f64),
            ReduceOperation::Min => Some(self.min),
            ReduceOperation::Max => Some(self.max),
        }
    }
}

/// The pieces that exist at the current time, and the result so far.
#[derive(Debug)]
pub(crate) struct PieceFold<'a> {
    operation: ReduceOperation,
    /// The value at times without a piece.
    default_value: Option<f64>,
    time_range: TimeRange,
    time: i64,
    tree: FoldTree,
    /// The end and the leaf of each piece in the tree, the earliest end first.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    /// Pieces that last to the end of the time range.
    staying: FoldNode,
    steps: StepWriter<'a>,
}

impl<'a> PieceFold<'a> {
    /// Starts with no piece in a time range. `default_value` is the value at times without a piece.
    pub(crate) fn new(
        operation: ReduceOperation,
        time_range: TimeRange,
        default_value: Option<f64>,
        memory: &'a PieceMemory,
    ) -> Self {
        Self {
            operation,
            default_value,
            time_range,
            time: time_range.from.0,
            tree: FoldTree::new(),
            ends: BinaryHeap::new(),
            staying: FoldNode::EMPTY,
            steps: StepWriter::new(memory),
        }
    }

    /// Adds a piece. It must not begin before the previous ones. A piece without duration is
    /// ignored.
    pub(crate) fn add(&mut self, piece: &FunctionPiece) -> Result<(), QueryError> {
        let (first, last) = (self.time_range.from.0, self.time_range.to.0);
        let (from, to) = (piece.from.max(first), piece.to.min(last));
        if from >= to {
            return Ok(());
        }
        self.advance_to(from)?;
        if to == last {
            self.staying = self.staying.join(FoldNode::of_value(piece.value));
        } else {
            let place =
                if self.operation == ReduceOperation::Count { self.tree.count() } else { self.tree.fill(piece.value) };
            self.ends.push(Reverse((to, place)));
        }
        Ok(())
    }

    fn advance_to(&mut self, timestamp: i64) -> Result<(), QueryError> {
        while let Some(&Reverse((end, place))) = self.ends.peek().filter(|end| end.0.0 <= timestamp) {
            self.write_up_to(end)?;
            self.ends.pop();
            if self.operation == ReduceOperation::Count { self.tree.discount() } else { self.tree.clear(place) }
        }
        self.write_up_to(timestamp)
    }

    fn write_up_to(&mut self, timestamp: i64) -> Result<(), QueryError> {
        if timestamp > self.time {
            let value = self.staying.join(self.tree.root()).value(self.operation);
            if let Some(value) = value.or(self.default_value) {
                self.steps.push(FunctionPiece { from: self.time, to: timestamp, value })?;
            }
            self.time = timestamp;
        }
        Ok(())
    }

    /// Returns the combined value over the whole time range.
    pub(crate) fn finish(mut self) -> Result<PieceBlocks, QueryError> {
        self.advance_to(self.time_range.to.0)?;
        self.steps.finish()
    }
}

/// Pieces as the leaves of a binary tree; the root is their combined value.
#[derive(Debug)]
struct FoldTree {
    /// Node 1 is the root. Node n has children 2n and 2n + 1. The second half of the nodes are the
    /// leaves.
    nodes: Vec<FoldNode>,
    /// Numbers of the free leaves.
    free_leaves: Vec<usize>,
}

impl FoldTree {
    fn new() -> Self {
        Self { nodes: vec![FoldNode::EMPTY; 2], free_leaves: vec![0] }
    }

    fn root(&self) -> FoldNode {
        self.nodes[1]
    }

    /// Counts one more piece, without its value.
    fn count(&mut self) -> usize {
        self.nodes[1].count += 1;
        0
    }

    fn discount(&mut self) {
        self.nodes[1].count -= 1;
    }

    /// Adds a value, and returns the number of its leaf.
    fn fill(&mut self, value: f64) -> usize {
        let leaf = self.free_leaves.pop().unwrap_or_else(|| self.grow());
        self.set(leaf, FoldNode::of_value(value));
        leaf
    }

    fn clear(&mut self, leaf: usize) {
        self.set(leaf, FoldNode::EMPTY);
        self.free_leaves.push(leaf);
    }

    fn set(&mut self, leaf: usize, node: FoldNode) {
        let mut node_index = self.nodes.len() / 2 + leaf;
        self.nodes[node_index] = node;
        while node_index > 1 {
            node_index /= 2;
            self.nodes[node_index] = self.nodes[2 * node_index].join(self.nodes[2 * node_index + 1]);
        }
    }

    /// Doubles the number of leaves. The existing tree becomes the left half. Returns the number of
    /// a free leaf.
    fn grow(&mut self) -> usize {
        let leaves = self.nodes.len() / 2;
        let mut nodes = vec![FoldNode::EMPTY; 4 * leaves];
        nodes[2 * leaves..3 * leaves].copy_from_slice(&self.nodes[leaves..]);
        for node_index in (1..2 * leaves).rev() {
            nodes[node_index] = nodes[2 * node_index].join(nodes[2 * node_index + 1]);
        }
        self.nodes = nodes;
        self.free_leaves.extend((leaves + 1..2 * leaves).rev());
        leaves
    }
}

/// A piece and its result container.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnedPiece {
    /// The index of the result container.
    pub(crate) owner: u32,
    pub(crate) piece: FunctionPiece,
}

/// Gives pieces in order of their starts, page by page; `None` at the end.
pub(crate) type PieceList<'a> = Box<dyn FnMut() -> Result<Option<Vec<OwnedPiece>>, QueryError> + 'a>;

struct MergedList<'a> {
    next_page: PieceList<'a>,
    /// The rest of the current page.
    page: std::vec::IntoIter<OwnedPiece>,
}

/// Merges the pieces of many lists in order of their starts.
pub(crate) struct PieceMerge<'a> {
    lists: Vec<MergedList<'a>>,
    /// The start of the next piece of each list, and the index of the list.
    next: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> PieceMerge<'a> {
    pub(crate) fn new(lists: Vec<PieceList<'a>>) -> Result<Self, QueryError> {
        let list = |next_page| MergedList { next_page, page: Vec::new().into_iter() };
        let lists = lists.into_iter().map(list).collect();
        let mut merge = Self { lists, next: BinaryHeap::new() };
        for list in 0..merge.lists.len() {
            if let Some(start) = merge.start(list)? {
                merge.next.push(Reverse((start, list)));
            }
        }
        Ok(merge)
    }

    /// The start of the next piece of a list.
    fn start(&mut self, list: usize) -> Result<Option<i64>, QueryError> {
        let list = &mut self.lists[list];
        loop {
            if let Some(first) = list.page.as_slice().first() {
                return Ok(Some(first.piece.from));
            }
            match (list.next_page)()? {
                Some(pieces) => list.page = pieces.into_iter(),
                None => return Ok(None),
            }
        }
    }

    pub(crate) fn next(&mut self) -> Result<Option<OwnedPiece>, QueryError> {
        let Some(&Reverse((_, list))) = self.next.peek() else { return Ok(None) };
        let piece = self.lists[list].page.next();
        match (self.start(list)?, self.next.peek_mut()) {
            // Replacing the top sifts once; a pop and a push would sift twice.
            (Some(start), Some(mut top)) => *top = Reverse((start, list)),
            (_, Some(top)) => _ = PeekMut::pop(top),
            _ => {}
        }
        Ok(piece)
    }
}
