//! Links that are too many to be listed: as many arrows as a picture can hold, each of which stands for a number of them, and all together for
//! all. What is alike to the eye is one arrow: from one row to another, each end in one stretch of time.
//!
//! When there are too many arrows, stretches of time become longer; when those are long, rows side by side become one. So memory does not grow
//! with the trace, and no link is left out.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::chart::Context;
use super::links::{NEAR, PlacedLink, is_seen};
use crate::query::{EntityId, GlobalNanos, Interval, LinkCount, QueryError, TypeId};
use tumit_paje::Color;

/// Arrows, at most.
const MOST: usize = 1 << 15;
/// Stretches of time become longer while the picture has at least so many; then rows are put together.
const LEAST_STRETCHES: i64 = 16;
/// An end outside of the picture is told to this many bits of how far it is.
const FAR_BITS: u32 = 3;

/// What an arrow is, to the eye.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    ty: TypeId,
    /// Numbers of the rows, or of groups of them.
    rows: (usize, usize),
    /// Numbers of the stretches of start and end.
    bins: (i64, i64),
    color: (u8, u8, u8),
    size: u32,
    dimmed: bool,
}

/// The arrows while links are counted.
pub(crate) struct Gathered<'a> {
    context: &'a Context<'a>,
    arrows: FxHashMap<Key, (u64, EntityId)>,
    /// The exponent of the stretches that are asked for, and of those that arrows have by now.
    asked: u8,
    exponent: u8,
    /// Of the number of rows that are one.
    row_bits: u32,
}

impl<'a> Gathered<'a> {
    pub(crate) fn new(context: &'a Context<'a>) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a width in time")]
        let near = (context.scale.nanos() as f64 * f64::from(NEAR / context.view.width.max(1.0))) as i64;
        #[expect(clippy::cast_possible_truncation, reason = "a number of bits")]
        let exponent = near.max(1).ilog2() as u8;
        Self { context, arrows: FxHashMap::default(), asked: exponent, exponent, row_bits: 0 }
    }

    /// Two to the power of this are the nanoseconds to which ends of links are worth knowing.
    pub(crate) fn asked(&self) -> u8 {
        self.asked
    }

    /// Takes links that are alike, and how they are drawn.
    pub(crate) fn add(&mut self, ty: TypeId, links: &LinkCount, (color, size): (Color, f32)) {
        let layout = self.context.layout;
        let (Some(start), Some(end)) = (layout.index_of(links.start), layout.index_of(links.end)) else { return };
        if start == end && layout.rows[start].folded || !is_seen(self.context, (start, end)) {
            return;
        }
        let color = if links.reversed { self.context.theme.alert } else { color };
        let by = self.exponent - self.asked;
        let key = Key {
            ty,
            rows: (start >> self.row_bits, end >> self.row_bits),
            bins: (self.near(links.start_bin >> by), self.near(links.end_bin >> by)),
            color: (color.red, color.green, color.blue),
            size: size.to_bits(),
            dimmed: self.context.options.dimmed.contains(&links.value),
        };
        put(&mut self.arrows, key, (links.count, links.first));
        while self.arrows.len() > MOST && self.coarsen() {}
    }

    /// Numbers of the first and the last stretch in the picture.
    fn seen(&self) -> (i64, i64) {
        let Interval { from, to } = self.context.view.interval;
        (from.0 >> self.exponent, to.0.saturating_sub(1) >> self.exponent)
    }

    /// The stretch itself, or one near it if it is outside of the picture: how far outside hardly shows.
    fn near(&self, bin: i64) -> i64 {
        let (first, last) = self.seen();
        let rough = |by: i64| {
            let bits = by.checked_ilog2().map_or(0, |bits| (bits + 1).saturating_sub(FAR_BITS));
            by >> bits << bits
        };
        match bin {
            _ if bin < first => first.saturating_sub(rough(first.saturating_sub(bin))),
            _ if bin > last => last.saturating_add(rough(bin.saturating_sub(last))),
            _ => bin,
        }
    }

    /// Makes one of arrows that are nearly alike. Whether it can.
    fn coarsen(&mut self) -> bool {
        let (first, last) = self.seen();
        let all_rows = self.context.layout.rows.len() >> self.row_bits == 0;
        let longer = last - first >= LEAST_STRETCHES || all_rows;
        if longer && self.exponent == 63 {
            return false;
        }
        let (of_bins, of_rows) = if longer { (1, 0) } else { (0, 1) };
        self.exponent += of_bins;
        self.row_bits += of_rows;
        let mut arrows = FxHashMap::default();
        std::mem::take(&mut self.arrows).into_iter().for_each(|(key, links)| {
            let rows = (key.rows.0 >> of_rows, key.rows.1 >> of_rows);
            let bins = (key.bins.0 >> of_bins, key.bins.1 >> of_bins);
            put(&mut arrows, Key { rows, bins, ..key }, links);
        });
        self.arrows = arrows;
        true
    }

    /// The arrows, those that stand for most links last, as they are drawn over the others.
    pub(crate) fn finish(self) -> Result<Vec<PlacedLink>, QueryError> {
        let mut arrows: Vec<_> = self.arrows.iter().map(|(&key, &links)| (links, key)).collect();
        arrows.sort_unstable();
        arrows.into_iter().map(|(links, key)| self.placed(key, links)).collect()
    }

    fn placed(&self, key: Key, (count, id): (u64, EntityId)) -> Result<PlacedLink, QueryError> {
        let layout = self.context.layout;
        let rows = |group: usize| {
            let first = group << self.row_bits;
            (first, (first + (1 << self.row_bits) - 1).min(layout.rows.len() - 1))
        };
        let edge = |bin: i64| {
            let date = i128::from(bin) << self.exponent;
            GlobalNanos(date.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
        };
        let height = |(first, last): (usize, usize)| layout.rows[first.midpoint(last)].anchor();
        let x = |bin: i64| (self.context.scale.x(edge(bin)) + self.context.scale.x(edge(bin.saturating_add(1)))) / 2.0;
        let rows = [rows(key.rows.0), rows(key.rows.1)];
        let (low, high) = (key.bins.0.min(key.bins.1), key.bins.0.max(key.bins.1).saturating_add(1));
        let (mut from, mut to) = (x(key.bins.0), x(key.bins.1));
        if key.rows.0 == key.rows.1 && key.bins.0 == key.bins.1 {
            // Within a row, and too short to be told: along the stretch.
            (from, to) = (self.context.scale.x(edge(low)), self.context.scale.x(edge(high)));
        }
        let mut life = Interval { from: edge(low), to: edge(high) };
        if count == 1 {
            // One that is alone is where it is.
            let Interval { from: start, to: end } = self.context.source.facts(id)?.life;
            (from, to) = (self.context.scale.x(start), self.context.scale.x(end));
            life = Interval { from: start.min(end), to: start.max(end) };
        }
        Ok(PlacedLink {
            id,
            ty: key.ty,
            life,
            from: (from, height(rows[0])),
            to: (to, height(rows[1])),
            rows,
            color: Color { red: key.color.0, green: key.color.1, blue: key.color.2 },
            size: f32::from_bits(key.size),
            dimmed: key.dimmed,
            count,
        })
    }
}

fn put(arrows: &mut FxHashMap<Key, (u64, EntityId)>, key: Key, (count, first): (u64, EntityId)) {
    match arrows.entry(key) {
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            *known = (known.0 + count, known.1.min(first));
        }
        Entry::Vacant(new) => _ = new.insert((count, first)),
    }
}
