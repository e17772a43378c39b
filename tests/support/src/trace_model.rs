//! A trace as plain lists, a source built from it, and a comparison of each query's answer with a
//! scan of the lists.
//!
//! Everything is identified by name, so that no ids or structures are shared with the tested code.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use tumit_viewer::query::{
    ContainerId, EntityId, EventValueCount, GlobalNanos, PajeTypeKind, StateLaneId, TimeRange, TimelineSource, TypeId,
};

/// End of the random traces.
pub const END: i64 = 1000;

/// A container. Containers refer to each other by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelContainer {
    /// Unique name.
    pub name: String,
    /// Name of the parent.
    pub parent: String,
    /// Name of the type.
    pub ty: &'static str,
    /// Start and end.
    pub life: (i64, i64),
}

/// A state. It refers to its container, type and value by name.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelState {
    /// Name of the container.
    pub container: String,
    /// Name of the type.
    pub ty: String,
    /// Number of states around it.
    pub depth: u32,
    /// Start and end.
    pub life: (i64, i64),
    /// Name of the value.
    pub value: String,
}

/// A point event.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelEvent {
    /// Name of the container.
    pub container: String,
    /// In nanoseconds.
    pub timestamp: i64,
    /// Name of the value.
    pub value: String,
}

/// A link with one field, `Bytes`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLink {
    /// Names of the containers at its start and end.
    pub ends: (String, String),
    /// Timestamps of the start and the end. The end may be first.
    pub life: (i64, i64),
    /// The value of its field.
    pub bytes: i64,
}

/// A value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSample {
    /// Name of the container.
    pub container: String,
    /// Name of the type.
    pub ty: String,
    /// Start and end.
    pub life: (i64, i64),
    /// The number from the start to the end.
    pub value: f64,
}

/// A trace. The root is called `world` and comes first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelTrace {
    /// All containers. Parents come before their children.
    pub places: Vec<ModelContainer>,
    /// States of all containers, in any order.
    pub states: Vec<ModelState>,
    /// All point events.
    pub events: Vec<ModelEvent>,
    /// Links between any containers, in any order.
    pub links: Vec<ModelLink>,
    /// All values of variables.
    pub samples: Vec<ModelSample>,
    /// Start and end of the trace.
    pub extent: (i64, i64),
    /// Whether lists of one container may contain entities of one timestamp in any order.
    pub merged: bool,
}

/// Overlap as [`TimelineSource`] defines it. An entity without duration is found at its own
/// timestamp.
#[must_use]
pub fn meets(life: (i64, i64), range: (i64, i64)) -> bool {
    let (from, to) = (life.0.min(life.1), life.0.max(life.1));
    from < range.1 && (to > range.0 || from == to && from == range.0)
}

/// The time range of a pair.
#[must_use]
pub fn time_range_of((from, to): (i64, i64)) -> TimeRange {
    TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) }
}

fn bounds(life: TimeRange) -> (i64, i64) {
    (life.from.0, life.to.0)
}

impl ModelTrace {
    /// Names of a container and all containers below it.
    #[must_use]
    pub fn below(&self, name: &str) -> BTreeSet<String> {
        let mut names = BTreeSet::from([name.to_owned()]);
        // Parents come before their children.
        for place in &self.places {
            if names.contains(&place.parent) {
                names.insert(place.name.clone());
            }
        }
        names
    }

    /// Keeps these containers, with the entities in and between them.
    pub fn retain_containers(&mut self, names: &BTreeSet<String>) {
        self.places.retain(|place| names.contains(&place.name));
        self.states.retain(|state| names.contains(&state.container));
        self.events.retain(|event| names.contains(&event.container));
        self.samples.retain(|sample| names.contains(&sample.container));
        self.links.retain(|link| names.contains(&link.ends.0) && names.contains(&link.ends.1));
    }
}

/// Queries of a source by names.
struct NamedQueries<'a> {
    source: &'a dyn TimelineSource,
    ids: BTreeMap<String, ContainerId>,
    types: BTreeMap<String, (TypeId, PajeTypeKind)>,
}

/// Checks all queries over a time range.
///
/// # Errors
/// The first answer that differs from the lists.
pub fn check(
    source: &Arc<dyn TimelineSource>,
    trace: &ModelTrace,
    range: (i64, i64),
    columns: u32,
) -> Result<(), TestCaseError> {
    let (list, model) = (source.containers(), source.model());
    let queries = NamedQueries {
        source: source.as_ref(),
        ids: list.iter().map(|info| (info.name.clone(), info.id)).collect(),
        types: model.types.iter().map(|ty| (ty.name.clone(), (ty.id, ty.kind))).collect(),
    };
    let names: BTreeMap<ContainerId, &String> = list.iter().map(|info| (info.id, &info.name)).collect();
    let containers: BTreeSet<_> =
        list.iter().map(|i| (i.name.clone(), names[&i.parent].clone(), bounds(i.life))).collect();
    let expected: BTreeSet<_> = trace.places.iter().map(|p| (p.name.clone(), p.parent.clone(), p.life)).collect();
    prop_assert_eq!(containers, expected);
    for (index, info) in list.iter().enumerate().skip(1) {
        let above = list[..index].iter().rposition(|above| above.depth < info.depth);
        prop_assert_eq!(above.map(|above| list[above].id), Some(info.parent), "depth first");
    }
    prop_assert_eq!(bounds(source.extent()), trace.extent);
    let summary = source.summary();
    prop_assert_eq!(
        (summary.containers, summary.states, summary.events, summary.links, summary.samples),
        (
            trace.places.len() as u64 - 1,
            trace.states.len() as u64,
            trace.events.len() as u64,
            trace.links.len() as u64,
            trace.samples.len() as u64
        )
    );
    for place in &trace.places {
        for (ty, (_, kind)) in &queries.types {
            match kind {
                PajeTypeKind::State => queries.states(trace, &place.name, ty, range, columns)?,
                PajeTypeKind::Variable => queries.samples(trace, &place.name, ty, range, columns)?,
                PajeTypeKind::Event => queries.events(trace, &place.name, ty, range, columns)?,
                _ => {}
            }
        }
    }
    queries.links(trace, range)?;
    queries.link_counts(trace, range)
}

impl NamedQueries<'_> {
    fn value(&self, value: tumit_viewer::query::ValueId) -> String {
        self.source.model().values[value.index()].name.clone()
    }

    fn states(
        &self,
        trace: &ModelTrace,
        at: &str,
        ty: &str,
        range: (i64, i64),
        columns: u32,
    ) -> Result<(), TestCaseError> {
        let (container, id) = (self.ids[at], self.types[ty].0);
        let depths = self.source.depths(container, id);
        let mine: Vec<&ModelState> =
            trace.states.iter().filter(|state| state.container == at && state.ty == ty).collect();
        prop_assert!(mine.iter().all(|state| state.depth < depths), "{at} {ty} {depths}");
        for depth in 0..depths {
            let lane = StateLaneId { container, ty: id, depth };
            let mine: Vec<&ModelState> = mine.iter().copied().filter(|state| state.depth == depth).collect();
            let cells = self.source.cells(&[lane], time_range_of(range), columns).expect("the lane is there").cells;
            prop_assert_eq!(cells.len(), columns as usize);
            for (column, cell) in (0..i64::from(columns)).zip(&cells) {
                let edge = |column: i64| range.0 + (range.1 - range.0) * column / i64::from(columns);
                let (from, to) = (edge(column), edge(column + 1).max(edge(column) + 1));
                let mut expected: BTreeMap<String, i64> = BTreeMap::new();
                for state in &mine {
                    let time = state.life.1.min(to) - state.life.0.max(from);
                    if time > 0 && state.life.1.min(trace.extent.1) > state.life.0.max(trace.extent.0) {
                        *expected.entry(state.value.clone()).or_default() += time;
                    }
                }
                let found: BTreeMap<String, i64> = cell.shares.iter().map(|s| (self.value(s.0), s.1)).collect();
                prop_assert_eq!(&found, &expected, "{} {} depth {} column {}", at, ty, depth, column);
                prop_assert!(cell.shares.is_sorted_by(|a, b| a.1 >= b.1));
                prop_assert_eq!(found.len(), cell.shares.len());
            }
            let listed = self.source.states(lane, time_range_of(range), usize::MAX).expect("the lane is there");
            let mut expected: Vec<_> =
                mine.iter().filter(|s| meets(s.life, range)).map(|s| (s.life.0, s.life.1, s.value.clone())).collect();
            let mut found: Vec<_> =
                listed.items.iter().map(|s| (s.life.from.0, s.life.to.0, self.value(s.value))).collect();
            prop_assert!(found.is_sorted_by_key(|state| state.0));
            prop_assert_eq!(listed.total, expected.len() as u64);
            if trace.merged {
                expected.sort();
                found.sort();
            }
            prop_assert_eq!(&found, &expected, "{} {} depth {}", at, ty, depth);
            let first = self.source.states(lane, time_range_of(range), 2).expect("the lane is there");
            prop_assert_eq!(first.total, listed.total);
            prop_assert_eq!(&first.items[..], &listed.items[..listed.items.len().min(2)]);
            for state in &listed.items {
                let facts = self.source.facts(state.id).expect("it was listed");
                prop_assert_eq!((facts.life, facts.container), (state.life, container));
                prop_assert_eq!(facts.name, self.value(state.value));
            }
        }
        Ok(())
    }

    fn events(
        &self,
        trace: &ModelTrace,
        at: &str,
        ty: &str,
        range: (i64, i64),
        columns: u32,
    ) -> Result<(), TestCaseError> {
        let listed = self
            .source
            .events(self.ids[at], self.types[ty].0, time_range_of(range), usize::MAX)
            .expect("the container is there");
        let mine = trace.events.iter().filter(|e| e.container == at && (range.0..range.1).contains(&e.timestamp));
        let mut expected: Vec<_> = mine.map(|e| (e.timestamp, e.value.clone())).collect();
        let mut events: Vec<_> = listed.items.iter().map(|mark| (mark.time.0, self.value(mark.value))).collect();
        prop_assert!(events.is_sorted_by_key(|mark| mark.0));
        expected.sort();
        events.sort();
        prop_assert_eq!(events, expected);
        for mark in &listed.items {
            prop_assert_eq!(self.source.facts(mark.id).expect("it was listed").container, self.ids[at]);
        }
        let (container, ty) = (self.ids[at], self.types[ty].0);
        for most in [1, usize::MAX] {
            let counts =
                self.source.event_counts(container, ty, time_range_of(range), columns, most).expect("it is there");
            prop_assert_eq!(counts.len(), columns as usize);
            for (column, count) in (0_u32..).zip(&counts) {
                let (from, to) = bounds(time_range_of(range).column(column, columns));
                let mut expected: BTreeMap<String, u64> = BTreeMap::new();
                for event in trace.events.iter().filter(|e| e.container == at && (from..to).contains(&e.timestamp)) {
                    *expected.entry(event.value.clone()).or_default() += 1;
                }
                prop_assert_eq!(count.total, expected.values().sum::<u64>());
                prop_assert_eq!(count.values.len(), expected.len().min(most));
                let is_sorted = count.values.is_sorted_by_key(|part| (Reverse(part.count), part.value));
                prop_assert!(is_sorted);
                prop_assert_eq!(count.values.first().map(|part| part.count), expected.values().copied().max());
                for &EventValueCount { value, count: number } in &count.values {
                    prop_assert_eq!(Some(&number), expected.get(&self.value(value)));
                }
            }
        }
        Ok(())
    }

    fn link_counts(&self, trace: &ModelTrace, range: (i64, i64)) -> Result<(), TestCaseError> {
        let (ty, _) = self.types["Message"];
        let ids: BTreeMap<ContainerId, &String> = self.ids.iter().map(|(name, id)| (*id, name)).collect();
        for exponent in [0, 5, 63] {
            let mut counts: BTreeMap<_, u64> = BTreeMap::new();
            let mut firsts = BTreeSet::new();
            let counted = self.source.link_counts(ty, time_range_of(range), exponent, &mut |links| {
                let key = (ids[&links.start].clone(), ids[&links.end].clone(), links.start_bin, links.end_bin);
                *counts.entry((key, links.is_reversed)).or_default() += links.count;
                firsts.insert(links.first);
                Ok(())
            });
            prop_assert_eq!(counted, Ok(()));
            let mut expected: BTreeMap<_, u64> = BTreeMap::new();
            for link in trace.links.iter().filter(|link| meets(link.life, range)) {
                let (start, end) = link.ends.clone();
                let key = (start, end, link.life.0 >> exponent, link.life.1 >> exponent);
                *expected.entry((key, link.life.1 < link.life.0)).or_default() += 1;
            }
            prop_assert_eq!(counts, expected);
            for first in firsts {
                prop_assert!(self.source.facts(first).is_ok());
            }
        }
        Ok(())
    }

    fn links(&self, trace: &ModelTrace, range: (i64, i64)) -> Result<(), TestCaseError> {
        let (ty, _) = self.types["Message"];
        let listed = self.source.links(ty, time_range_of(range), usize::MAX).expect("the type is there");
        let ids: BTreeMap<ContainerId, &String> = self.ids.iter().map(|(name, id)| (*id, name)).collect();
        let mut links: Vec<_> = listed
            .items
            .iter()
            .map(|l| (l.start_time.0, l.end_time.0, ids[&l.start].clone(), ids[&l.end].clone()))
            .collect();
        prop_assert!(links.is_sorted_by_key(|link| link.0.min(link.1)));
        let inside = trace.links.iter().filter(|link| meets(link.life, range));
        let mut expected: Vec<_> = inside.map(|l| (l.life.0, l.life.1, l.ends.0.clone(), l.ends.1.clone())).collect();
        links.sort();
        expected.sort();
        prop_assert_eq!(links, expected);
        prop_assert_eq!(listed.total, listed.items.len() as u64);
        for link in &listed.items {
            let facts = self.source.facts(link.id).expect("it was listed");
            let bytes = facts.fields.iter().find(|field| field.0 == "Bytes").and_then(|field| field.1.parse().ok());
            let numbers = self.source.number_fields(&[link.id], "bytes").expect("it was listed");
            prop_assert_eq!(numbers, [bytes] as [Option<f64>; 1]);
        }
        Ok(())
    }

    fn samples(
        &self,
        trace: &ModelTrace,
        at: &str,
        ty: &str,
        range: (i64, i64),
        columns: u32,
    ) -> Result<(), TestCaseError> {
        let (container, id) = (self.ids[at], self.types[ty].0);
        let mine: Vec<&ModelSample> = trace.samples.iter().filter(|s| s.container == at && s.ty == ty).collect();
        let listed = self.source.samples(container, id, time_range_of(range), usize::MAX).expect("it is there");
        let found: Vec<_> = listed.items.iter().map(|s| (s.life.from.0, s.life.to.0, s.value)).collect();
        let expected: Vec<_> =
            mine.iter().filter(|s| meets(s.life, range)).map(|s| (s.life.0, s.life.1, s.value)).collect();
        prop_assert_eq!(found, expected, "{} {}", at, ty);
        for sample in &listed.items {
            let facts = self.source.facts(sample.id).expect("it was listed");
            prop_assert_eq!((facts.life, facts.container), (sample.life, container));
        }
        let series = self.source.series(container, id, time_range_of(range), columns).expect("it is there");
        for (column, found) in (0..i64::from(columns)).zip(&series) {
            let edge = |column: i64| range.0 + (range.1 - range.0) * column / i64::from(columns);
            let (from, to) = (edge(column), edge(column + 1).max(edge(column) + 1));
            let inside: Vec<(f64, i64)> = mine
                .iter()
                .map(|s| (s.value, s.life.1.min(to) - s.life.0.max(from)))
                .filter(|part| part.1 > 0)
                .collect();
            let Some(found) = found else {
                prop_assert!(inside.is_empty(), "{at} {ty} column {column}");
                continue;
            };
            if inside.is_empty() {
                // A value without duration is seen at its timestamp.
                prop_assert!(mine.iter().any(|s| s.life.0 == s.life.1 && meets(s.life, (from, to))));
                continue;
            }
            let time: i64 = inside.iter().map(|part| part.1).sum();
            let mean = inside.iter().map(|part| part.0 * part.1 as f64).sum::<f64>() / time as f64;
            prop_assert!((found.mean - mean).abs() < 1e-9, "{} {mean}", found.mean);
            let least = inside.iter().map(|part| part.0).fold(f64::INFINITY, f64::min);
            let most = inside.iter().map(|part| part.0).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(found.min <= least && found.max >= most, "{found:?} {least} {most}");
            if mine.iter().all(|s| s.life.0 < s.life.1) {
                prop_assert_eq!((found.min, found.max), (least, most));
            }
        }
        Ok(())
    }
}

/// All entities that a source lists.
///
/// # Panics
/// If a query fails.
pub fn entities(source: &dyn TimelineSource) -> BTreeSet<EntityId> {
    let ever = time_range_of((i64::MIN, i64::MAX));
    let (model, list) = (source.model(), source.containers());
    let mut all: BTreeSet<EntityId> = list.iter().map(|info| EntityId::Container(info.id)).collect();
    for ty in &model.types {
        for id in list.iter().map(|info| info.id) {
            for depth in 0..source.depths(id, ty.id) {
                let lane = StateLaneId { container: id, ty: ty.id, depth };
                all.extend(source.states(lane, ever, usize::MAX).expect("it is there").items.iter().map(|s| s.id));
            }
            if ty.kind == PajeTypeKind::Event {
                all.extend(source.events(id, ty.id, ever, usize::MAX).expect("there").items.iter().map(|e| e.id));
            }
            if ty.kind == PajeTypeKind::Variable {
                all.extend(source.samples(id, ty.id, ever, usize::MAX).expect("there").items.iter().map(|s| s.id));
            }
        }
        if matches!(ty.kind, PajeTypeKind::Link { .. }) {
            all.extend(source.links(ty.id, ever, usize::MAX).expect("it is there").items.iter().map(|l| l.id));
        }
    }
    all
}
