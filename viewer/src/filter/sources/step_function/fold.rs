//! From pieces that overlap to [`Steps`]: what all that are there at a time come to.
//!
//! [`Merge`] brings the pieces of many lists in order of their starts, page by page; a [`Fold`] keeps what is there at the date that it has come
//! to, and writes a piece whenever that changes. Memory is for what is there at one time, and for a page of each list.
//!
//! Exact: each value is computed from the pieces that are there at that time alone, by a tree over them, never by adding to and taking
//! from the value before; so nothing drifts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::{Piece, Room, Steps, Writer};
use crate::filter::language::ast::Operation;
use crate::query::{Interval, QueryError};

/// What the pieces that are there at one time come to.
#[derive(Clone, Copy, Debug)]
struct Node {
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Node {
    const EMPTY: Self = Self { count: 0, sum: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY };

    fn one(value: f64) -> Self {
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
    fn value(self, operation: Operation) -> Option<f64> {
        match operation {
            _ if self.count == 0 => None,
            Operation::Count => Some(self.count as f64),
            Operation::Sum => Some(self.sum),
            Operation::Mean => Some(self.sum / self.count as f64),
            Operation::Min => Some(self.min),
            Operation::Max => Some(self.max),
        }
    }
}

/// What is there, and what it came to so far.
#[derive(Debug)]
pub(crate) struct Fold<'a> {
    operation: Operation,
    /// The value where nothing is.
    none: Option<f64>,
    within: (i64, i64),
    now: i64,
    tree: Tree,
    /// When what is in the tree ends, and where it is there.
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    /// What stays to the end.
    staying: Node,
    steps: Writer<'a>,
}

impl<'a> Fold<'a> {
    /// Of pieces within an interval. Where there is none, the value is `none`.
    pub(crate) fn new(operation: Operation, within: Interval, none: Option<f64>, room: &'a Room) -> Self {
        Self {
            operation,
            none,
            within: (within.from.0, within.to.0),
            now: within.from.0,
            tree: Tree::new(),
            ends: BinaryHeap::new(),
            staying: Node::EMPTY,
            steps: Writer::new(room),
        }
    }

    /// Adds a piece, which begins no earlier than those before it. What has no duration does not count.
    pub(crate) fn add(&mut self, piece: &Piece) -> Result<(), QueryError> {
        let (first, last) = self.within;
        let (from, to) = (piece.from.max(first), piece.to.min(last));
        if from >= to {
            return Ok(());
        }
        self.come_to(from)?;
        if to == last {
            self.staying = self.staying.join(Node::one(piece.value));
        } else {
            let place =
                if self.operation == Operation::Count { self.tree.count() } else { self.tree.fill(piece.value) };
            self.ends.push(Reverse((to, place)));
        }
        Ok(())
    }

    fn come_to(&mut self, date: i64) -> Result<(), QueryError> {
        while let Some(&Reverse((end, place))) = self.ends.peek().filter(|end| end.0.0 <= date) {
            self.write_up_to(end)?;
            self.ends.pop();
            if self.operation == Operation::Count { self.tree.discount() } else { self.tree.clear(place) }
        }
        self.write_up_to(date)
    }

    fn write_up_to(&mut self, date: i64) -> Result<(), QueryError> {
        if date > self.now {
            let value = self.staying.join(self.tree.root()).value(self.operation);
            if let Some(value) = value.or(self.none) {
                self.steps.push(Piece { from: self.now, to: date, value })?;
            }
            self.now = date;
        }
        Ok(())
    }

    /// The value at all times.
    pub(crate) fn finish(mut self) -> Result<Steps, QueryError> {
        self.come_to(self.within.1)?;
        self.steps.finish()
    }
}

/// What is there, as the leaves of a tree whose root is what all of it comes to.
#[derive(Debug)]
struct Tree {
    /// The root is the second, the children of each are at twice its place, the leaves are the second half.
    nodes: Vec<Node>,
    /// Numbers of the leaves that nothing is at.
    free: Vec<usize>,
}

impl Tree {
    fn new() -> Self {
        Self { nodes: vec![Node::EMPTY; 2], free: vec![0] }
    }

    fn root(&self) -> Node {
        self.nodes[1]
    }

    /// One more, of which nothing but its number matters.
    fn count(&mut self) -> usize {
        self.nodes[1].count += 1;
        0
    }

    fn discount(&mut self) {
        self.nodes[1].count -= 1;
    }

    /// Gives the number of its leaf.
    fn fill(&mut self, value: f64) -> usize {
        let leaf = self.free.pop().unwrap_or_else(|| self.grow());
        self.set(leaf, Node::one(value));
        leaf
    }

    fn clear(&mut self, leaf: usize) {
        self.set(leaf, Node::EMPTY);
        self.free.push(leaf);
    }

    fn set(&mut self, leaf: usize, node: Node) {
        let mut at = self.nodes.len() / 2 + leaf;
        self.nodes[at] = node;
        while at > 1 {
            at /= 2;
            self.nodes[at] = self.nodes[2 * at].join(self.nodes[2 * at + 1]);
        }
    }

    /// Twice as many leaves: all that there is becomes the left half. Gives the number of one that is free.
    fn grow(&mut self) -> usize {
        let leaves = self.nodes.len() / 2;
        let mut nodes = vec![Node::EMPTY; 4 * leaves];
        nodes[2 * leaves..3 * leaves].copy_from_slice(&self.nodes[leaves..]);
        for at in (1..2 * leaves).rev() {
            nodes[at] = nodes[2 * at].join(nodes[2 * at + 1]);
        }
        self.nodes = nodes;
        self.free.extend((leaves + 1..2 * leaves).rev());
        leaves
    }
}

/// Pieces by start, page by page, each with the number of what it counts for; none at their end.
pub(crate) type List<'a> = Box<dyn FnMut() -> Result<Option<Vec<(u32, Piece)>>, QueryError> + 'a>;

/// The pieces of many lists in order of their starts.
pub(crate) struct Merge<'a> {
    lists: Vec<(List<'a>, std::vec::IntoIter<(u32, Piece)>)>,
    /// The start of the next piece of each list, and which list it is.
    next: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> Merge<'a> {
    pub(crate) fn new(lists: Vec<List<'a>>) -> Result<Self, QueryError> {
        let lists = lists.into_iter().map(|list| (list, Vec::new().into_iter())).collect();
        let mut merge = Self { lists, next: BinaryHeap::new() };
        for list in 0..merge.lists.len() {
            if let Some(start) = merge.start(list)? {
                merge.next.push(Reverse((start, list)));
            }
        }
        Ok(merge)
    }

    /// Where the next piece of a list begins.
    fn start(&mut self, list: usize) -> Result<Option<i64>, QueryError> {
        let (more, page) = &mut self.lists[list];
        loop {
            if let Some((_, piece)) = page.as_slice().first() {
                return Ok(Some(piece.from));
            }
            match more()? {
                Some(pieces) => *page = pieces.into_iter(),
                None => return Ok(None),
            }
        }
    }

    /// The next piece.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, Piece)>, QueryError> {
        let Some(&Reverse((_, list))) = self.next.peek() else { return Ok(None) };
        let piece = self.lists[list].1.next();
        match (self.start(list)?, self.next.peek_mut()) {
            // One step down the heap instead of a way out and a way in.
            (Some(start), Some(mut top)) => *top = Reverse((start, list)),
            (_, Some(top)) => _ = PeekMut::pop(top),
            _ => {}
        }
        Ok(piece)
    }
}
