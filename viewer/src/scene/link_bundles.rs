//! Arrows for links that are too many to be listed. Each arrow represents a number of links, and
//! all links are in an arrow.
//!
//! An arrow combines links that look alike: they connect the same two rows, and each endpoint lies
//! in the same time bin. If there are too many arrows, the bins become wider. If they
//! are wide already, adjacent rows are combined. The memory therefore does not grow with the trace,
//! and no link is left out.

use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::diagram_context::DiagramContext;
use super::placed_link::{NEAR, PlacedLink, RowSpan, is_seen};
use crate::query::{EntityId, GlobalNanos, LinkCount, QueryError, TimeRange, TypeId};
use tumit_paje::RgbColor;

/// Maximum number of arrows.
const MOST: usize = 1 << 15;
/// The time bins become wider while the image has at least this many of them. After that,
/// rows are combined.
const MIN_BINS: i64 = 16;
/// The distance of an endpoint outside the image is rounded to this many bits.
const FAR_BITS: u32 = 3;

/// The visible properties of an arrow.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ArrowKey {
    ty: TypeId,
    /// Numbers of the rows of the start and the end, or of groups of rows.
    start_row: usize,
    end_row: usize,
    /// Numbers of the bins of the start and the end.
    start_bin: i64,
    end_bin: i64,
    color: (u8, u8, u8),
    size: u32,
    is_dimmed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct ArrowLinks {
    count: u64,
    /// The link with the smallest number.
    first: EntityId,
}

/// Combines counted links into arrows.
pub(crate) struct ArrowCounts<'a> {
    context: &'a DiagramContext<'a>,
    arrows: FxHashMap<ArrowKey, ArrowLinks>,
    /// The exponent of the requested bins, and the current exponent of the arrows.
    query_exponent: u8,
    exponent: u8,
    /// Binary logarithm of the number of rows in a group.
    row_bits: u32,
}

impl<'a> ArrowCounts<'a> {
    pub(crate) fn new(context: &'a DiagramContext<'a>) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a width in time")]
        let near_nanos = (context.scale.nanos() as f64 * f64::from(NEAR / context.view.width.max(1.0))) as i64;
        #[expect(clippy::cast_possible_truncation, reason = "a number of bits")]
        let exponent = near_nanos.max(1).ilog2() as u8;
        Self { context, arrows: FxHashMap::default(), query_exponent: exponent, exponent, row_bits: 0 }
    }

    /// The binary logarithm of the required resolution of endpoints in nanoseconds.
    pub(crate) fn query_exponent(&self) -> u8 {
        self.query_exponent
    }

    /// Adds equal links with their colour and size.
    pub(crate) fn add(&mut self, ty: TypeId, links: &LinkCount, (color, size): (RgbColor, f32)) {
        let layout = self.context.layout;
        let (Some(start), Some(end)) = (layout.index_of(links.start), layout.index_of(links.end)) else { return };
        if start == end && layout.rows[start].is_folded || !is_seen(self.context, start, end) {
            return;
        }
        let color = if links.is_reversed { self.context.theme.alert } else { color };
        let exponent_difference = self.exponent - self.query_exponent;
        let key = ArrowKey {
            ty,
            start_row: start >> self.row_bits,
            end_row: end >> self.row_bits,
            start_bin: self.nearby_bin(links.start_bin >> exponent_difference),
            end_bin: self.nearby_bin(links.end_bin >> exponent_difference),
            color: (color.red, color.green, color.blue),
            size: size.to_bits(),
            is_dimmed: self.context.options.dimmed_values.contains(&links.value),
        };
        put(&mut self.arrows, key, ArrowLinks { count: links.count, first: links.first });
        while self.arrows.len() > MOST && self.coarsen() {}
    }

    /// Numbers of the first and last bin in the image.
    fn visible_bins(&self) -> RangeInclusive<i64> {
        let TimeRange { from, to } = self.context.view.time_range;
        from.0 >> self.exponent..=to.0.saturating_sub(1) >> self.exponent
    }

    /// Returns the bin, or one near it if it lies outside the image, because its exact distance
    /// is barely visible.
    fn nearby_bin(&self, bin: i64) -> i64 {
        let (first, last) = self.visible_bins().into_inner();
        let rounded = |exponent_difference: i64| {
            let bits = exponent_difference.checked_ilog2().map_or(0, |bits| (bits + 1).saturating_sub(FAR_BITS));
            exponent_difference >> bits << bits
        };
        match bin {
            _ if bin < first => first.saturating_sub(rounded(first.saturating_sub(bin))),
            _ if bin > last => last.saturating_add(rounded(bin.saturating_sub(last))),
            _ => bin,
        }
    }

    /// Combines similar arrows. Returns whether that is possible.
    fn coarsen(&mut self) -> bool {
        let (first, last) = self.visible_bins().into_inner();
        let all_rows = self.context.layout.rows.len() >> self.row_bits == 0;
        let longer = last - first >= MIN_BINS || all_rows;
        if longer && self.exponent == 63 {
            return false;
        }
        let (of_bins, of_rows) = if longer { (1, 0) } else { (0, 1) };
        self.exponent += of_bins;
        self.row_bits += of_rows;
        let mut arrows = FxHashMap::default();
        std::mem::take(&mut self.arrows).into_iter().for_each(|(key, links)| {
            let (start_row, end_row) = (key.start_row >> of_rows, key.end_row >> of_rows);
            let (start_bin, end_bin) = (key.start_bin >> of_bins, key.end_bin >> of_bins);
            put(&mut arrows, ArrowKey { start_row, end_row, start_bin, end_bin, ..key }, links);
        });
        self.arrows = arrows;
        true
    }

    /// Returns the arrows. Those that represent most links are last and drawn on top.
    pub(crate) fn finish(self) -> Result<Vec<PlacedLink>, QueryError> {
        let mut arrows: Vec<_> = self.arrows.iter().map(|(&key, &links)| (links, key)).collect();
        arrows.sort_unstable();
        arrows.into_iter().map(|(links, key)| self.placed_link(key, links)).collect()
    }

    fn placed_link(&self, key: ArrowKey, links: ArrowLinks) -> Result<PlacedLink, QueryError> {
        let layout = self.context.layout;
        let rows = |group: usize| {
            let first = group << self.row_bits;
            RowSpan { first, last: (first + (1 << self.row_bits) - 1).min(layout.rows.len() - 1) }
        };
        let edge = |bin: i64| {
            let timestamp = i128::from(bin) << self.exponent;
            GlobalNanos(timestamp.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        };
        let height = |RowSpan { first, last }| layout.rows[first.midpoint(last)].anchor();
        let x = |bin: i64| (self.context.scale.x(edge(bin)) + self.context.scale.x(edge(bin.saturating_add(1)))) / 2.0;
        let (start_rows, end_rows) = (rows(key.start_row), rows(key.end_row));
        let (low, high) = (key.start_bin.min(key.end_bin), key.start_bin.max(key.end_bin).saturating_add(1));
        let (mut from, mut to) = (x(key.start_bin), x(key.end_bin));
        if key.start_row == key.end_row && key.start_bin == key.end_bin {
            // Within a row, and too short to distinguish the endpoints: drawn along the bin.
            (from, to) = (self.context.scale.x(edge(low)), self.context.scale.x(edge(high)));
        }
        let mut life = TimeRange { from: edge(low), to: edge(high) };
        if links.count == 1 {
            // A single link is drawn at its exact position.
            let TimeRange { from: start, to: end } = self.context.source.facts(links.first)?.life;
            (from, to) = (self.context.scale.x(start), self.context.scale.x(end));
            life = TimeRange { from: start.min(end), to: start.max(end) };
        }
        Ok(PlacedLink {
            id: links.first,
            ty: key.ty,
            life,
            from: (from, height(start_rows)),
            to: (to, height(end_rows)),
            start_rows,
            end_rows,
            color: RgbColor { red: key.color.0, green: key.color.1, blue: key.color.2 },
            size: f32::from_bits(key.size),
            is_dimmed: key.is_dimmed,
            count: links.count,
        })
    }
}

fn put(arrows: &mut FxHashMap<ArrowKey, ArrowLinks>, key: ArrowKey, links: ArrowLinks) {
    match arrows.entry(key) {
        Entry::Occupied(mut entry) => {
            let sum = entry.get_mut();
            *sum = ArrowLinks { count: sum.count + links.count, first: sum.first.min(links.first) };
        }
        Entry::Vacant(new) => _ = new.insert(links),
    }
}
