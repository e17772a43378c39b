//! Reduction (thesis P53, papers S31): the count, sum, mean, minimum or maximum of the entities below each container of a type, at each
//! moment, as a new variable or state of that container.
//!
//! Cost: the entities concerned are read once, when the filter is made: O(n log n), 24 bytes for each of those below one container
//! while it is computed, and 24 for each change of the result. Queries then cost what those of any variable or state do.

use std::collections::BTreeMap;
use std::sync::Arc;

use converter::paje::{Look, PajeEvent};
use rustc_hash::FxHashMap;

use super::layer::Layer;
use super::pattern::{self, Patterns};
use super::steps::{Piece, Steps, life};
use super::{FilterError, Form, Operation, Reduction, attribute, tree, walk};
use crate::color;
use crate::query::{
    self, Cell, Cells, Color, ContainerId, ContainerInfo, EntityId, EventCount, Facts, FreeNumbers, GlobalNanos,
    Interval, Lane, LinkVisitor, Listed, Model, QueryError, Sample, SeriesColumn, State, Summary, TimelineSource,
    TypeId, TypeInfo, TypeKind, ValueId, ValueInfo,
};
use crate::rows::general;
use crate::store::Store;

/// A state with more values than this cannot be told by colour.
const MOST_VALUES: usize = 1000;

/// The result for one container.
struct Outcome {
    container: ContainerId,
    ty: TypeId,
    /// Number of its first sample.
    base: u32,
    steps: Steps,
}

/// Results as states: simulated like those of a trace, and kept in a store of their own.
struct States {
    store: Store,
    /// Number of the first state.
    base: u32,
    /// The first of the new values.
    first: ValueId,
    /// The containers in the store.
    of: FxHashMap<(ContainerId, TypeId), ContainerId>,
}

struct Reduced {
    inner: Arc<dyn TimelineSource>,
    model: Arc<Model>,
    list: Arc<Vec<ContainerInfo>>,
    /// The new types are from here on.
    first: TypeId,
    results: Vec<Outcome>,
    states: Option<States>,
    free: FreeNumbers,
    text: String,
}

/// Makes the new variable or state.
pub(super) fn apply(
    inner: &Arc<dyn TimelineSource>,
    reduction: &Reduction,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (mut model, list) = (inner.model().as_ref().clone(), inner.containers());
    let what = Wanted::new(&model, reduction)?;
    // Of no entities there are none, and their bytes are none; a variable without a value is not 0.
    let none = match reduction.operation {
        Operation::Count => Some(0.0),
        Operation::Sum if what.field.is_some() => Some(0.0),
        _ => None,
    };
    let owners = pattern::container_types(&model, &reduction.per)?;
    let first = TypeId(model.types.len() as u32);
    let name = reduction.name();
    let mut free = inner.free_numbers();
    let mut results = Vec::new();
    for owner in owners {
        let ty = TypeId(model.types.len() as u32);
        let kind = if reduction.form == Form::State { TypeKind::State } else { TypeKind::Variable };
        let chosen = color::distinct(&[(TypeId::ROOT, name.as_str())], &[None]).pop();
        let color = chosen.filter(|_| kind == TypeKind::Variable);
        model.types.push(TypeInfo { id: ty, kind, parent: owner, name: name.clone(), color, look: Look::NONE });
        for at in (0..list.len()).filter(|&at| list[at].ty == owner) {
            let below = &list[at..tree::end(&list, at)];
            let pieces = what.pieces(inner.as_ref(), below)?;
            let steps = Steps::reduce(pieces, reduction.operation, list[at].life, none);
            results.push(Outcome { container: list[at].id, ty, base: free.sample, steps });
            if reduction.form == Form::Variable {
                free.sample = free.sample.saturating_add(results.last().map_or(0, |result| result.steps.len()) as u32);
            }
        }
    }
    let mut states = None;
    if reduction.form == Form::State {
        let made = States::new(&mut model, &mut results, free.state)?;
        free.state = free.state.saturating_add(made.store.summary().states as u32);
        states = Some(made);
    }
    results.sort_by_key(|result| (result.container, result.ty));
    let text = reduction.to_string();
    Ok(Arc::new(Reduced { inner: Arc::clone(inner), model: Arc::new(model), list, first, results, states, free, text }))
}

impl Reduction {
    /// The name of the new type: the given one, else made of what is reduced.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let operation = self.operation.word();
            let of = if self.values.is_any() {
                self.of.to_string()
            } else {
                self.values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
            };
            let mut letters = operation.chars();
            let operation =
                letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
            format!("{operation} of {of}")
        })
    }
}

/// What is to be reduced.
struct Wanted {
    types: Vec<(TypeId, TypeKind)>,
    /// Values that count; all without.
    values: Option<Vec<ValueId>>,
    /// The field that is reduced, for what has no value of its own.
    field: Option<String>,
}

impl Wanted {
    fn new(model: &Model, reduction: &Reduction) -> Result<Self, FilterError> {
        let lasting = |ty: &TypeInfo| !matches!(ty.kind, TypeKind::Container | TypeKind::Event);
        let of = Patterns::new(vec![reduction.of.clone()]);
        let mut types = pattern::types(model, &of, "type of states, links or variables", lasting)?;
        let variables = types.iter().any(|ty| model.types[ty.index()].kind == TypeKind::Variable);
        let (mut values, mut field) = (None, None);
        if reduction.operation == Operation::Count {
            if !reduction.values.is_any() {
                let (of, named) = pattern::values(model, &reduction.values, Some(&reduction.of))?;
                (types, values) = (of, Some(named));
            }
        } else if !variables {
            let mut fields = reduction.values.iter().map(ToString::to_string);
            field = fields.next().filter(|field| field != "*" && fields.next().is_none());
            if field.is_none() {
                let of = reduction.of.to_string();
                return Err(FilterError::NoField { of });
            }
        }
        let types = types.into_iter().map(|ty| (ty, model.types[ty.index()].kind)).collect();
        Ok(Self { types, values, field })
    }

    fn number(&self, source: &dyn TimelineSource, id: EntityId) -> Result<Option<f64>, QueryError> {
        let Some(name) = &self.field else { return Ok(Some(1.0)) };
        let facts = source.facts(id)?;
        Ok(attribute::field(&facts, name).and_then(|text| text.trim().parse().ok()))
    }

    fn fits(&self, value: ValueId) -> bool {
        self.values.as_ref().is_none_or(|values| values.contains(&value))
    }

    /// What is in some containers, as pieces.
    fn pieces(&self, source: &dyn TimelineSource, below: &[ContainerInfo]) -> Result<Vec<Piece>, QueryError> {
        let mut pieces = Vec::new();
        for &(ty, kind) in &self.types {
            if matches!(kind, TypeKind::Link { .. }) {
                self.links(source, ty, below, &mut pieces)?;
                continue;
            }
            for info in below {
                if kind == TypeKind::Variable {
                    walk::samples(source, (info.id, ty), walk::EVER, |sample| {
                        pieces.push(Piece { from: sample.life.from.0, to: sample.life.to.0, value: sample.value });
                        Ok(())
                    })?;
                }
                for depth in 0..source.depths(info.id, ty) {
                    walk::states(source, Lane { container: info.id, ty, depth }, walk::EVER, |state| {
                        if self.fits(state.value)
                            && let Some(value) = self.number(source, state.id)?
                        {
                            pieces.push(Piece { from: state.life.from.0, to: state.life.to.0, value });
                        }
                        Ok(())
                    })?;
                }
            }
        }
        Ok(pieces)
    }

    /// Links under way to or from some containers; each once.
    fn links(
        &self,
        source: &dyn TimelineSource,
        ty: TypeId,
        below: &[ContainerInfo],
        pieces: &mut Vec<Piece>,
    ) -> Result<(), QueryError> {
        let ids: rustc_hash::FxHashSet<ContainerId> = below.iter().map(|info| info.id).collect();
        walk::links(source, ty, walk::EVER, |link| {
            if (ids.contains(&link.start) || ids.contains(&link.end))
                && self.fits(link.value)
                && let Some(value) = self.number(source, link.id)?
            {
                let (a, b) = (link.start_time.0, link.end_time.0);
                pieces.push(Piece { from: a.min(b), to: a.max(b), value });
            }
            Ok(())
        })
    }
}

impl States {
    /// Gives each different value a state value, and simulates the steps as states.
    fn new(model: &mut Model, results: &mut [Outcome], base: u32) -> Result<Self, FilterError> {
        let mut values: BTreeMap<(TypeId, i64), f64> = BTreeMap::new();
        for result in results.iter() {
            for piece in result.steps.pieces() {
                values.insert((result.ty, ordered(piece.value)), piece.value);
                if values.len() > MOST_VALUES {
                    return Err(FilterError::TooManyValues { most: MOST_VALUES });
                }
            }
        }
        let first = ValueId(model.values.len() as u32);
        let place: BTreeMap<(TypeId, i64), u32> = values.keys().zip(0..).map(|(&key, at)| (key, at)).collect();
        let mut shades: BTreeMap<TypeId, (usize, usize)> = BTreeMap::new();
        for (ty, _) in values.keys() {
            shades.entry(*ty).or_default().1 += 1;
        }
        for (id, (&(ty, _), value)) in (first.0..).zip(&values) {
            let (at, of) = shades.entry(ty).or_default();
            let color = shade(*at, *of);
            *at += 1;
            model.values.push(ValueInfo { id: ValueId(id), ty, name: general(*value), color, look: Look::NONE });
        }
        let mut events = Vec::new();
        let mut of = FxHashMap::default();
        for (at, result) in (1..).zip(results.iter()) {
            let (container, ty) = (ContainerId(at), TypeId(2));
            of.insert((result.container, result.ty), container);
            for piece in result.steps.pieces() {
                let Interval { from, to } = life(piece);
                let value = ValueId(place[&(result.ty, ordered(piece.value))]);
                events
                    .push((from, PajeEvent::PushState { time: from, container, ty, value, extra: &[], source: None }));
                events.push((to, PajeEvent::PopState { time: to, container, ty }));
            }
        }
        // Stable: of one container and date, the end of one state stays before the start of the next.
        events.sort_by_key(|event| event.0);
        let store = simulated(results.len() as u32, values.len() as u32, &events);
        for result in results {
            result.steps = Steps::default();
        }
        Ok(Self { store, base, first, of })
    }

    /// The lane in the store.
    fn lane(&self, lane: Lane) -> Option<Lane> {
        let container = *self.of.get(&(lane.container, lane.ty))?;
        Some(Lane { container, ty: TypeId(2), depth: lane.depth })
    }

    fn value(&self, value: ValueId) -> ValueId {
        ValueId(self.first.0 + value.0)
    }
}

/// A float as an integer of the same order.
fn ordered(value: f64) -> i64 {
    let bits = value.to_bits().cast_signed();
    if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
}

/// A store of such events in so many containers, in which values are named by their numbers.
fn simulated(containers: u32, values: u32, events: &[(GlobalNanos, PajeEvent<'_>)]) -> Store {
    let names: Vec<String> = (0..values).map(|value| value.to_string()).collect();
    let define = |ty, kind, parent| PajeEvent::DefineType { ty, kind, parent, name: "", color: None, look: Look::NONE };
    let types = [define(TypeId(1), TypeKind::Container, TypeId::ROOT), define(TypeId(2), TypeKind::State, TypeId(1))];
    let named = (0..).zip(&names).map(|(value, name)| PajeEvent::DefineValue {
        value: ValueId(value),
        ty: TypeId(2),
        name,
        color: None,
        look: Look::NONE,
    });
    let time = events.first().map_or(GlobalNanos(0), |event| event.0);
    let made = (1..=containers).map(|at| {
        let (container, ty, parent) = (ContainerId(at), TypeId(1), ContainerId::ROOT);
        PajeEvent::CreateContainer { time, container, ty, parent, name: "", extra: &[] }
    });
    Store::from_events("", types.into_iter().chain(named).chain(made).chain(events.iter().map(|event| event.1)))
}

/// Shade number `at` of so many, from a light to a dark blue: more is darker.
fn shade(at: usize, of: usize) -> Color {
    const LIGHT: [f64; 3] = [236.0, 241.0, 247.0];
    const DARK: [f64; 3] = [8.0, 64.0, 129.0];
    #[expect(clippy::cast_precision_loss, reason = "a shade")]
    let part = at as f64 / (of.max(2) - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a channel")]
    let channel = |of: usize| (LIGHT[of] + (DARK[of] - LIGHT[of]) * part).round() as u8;
    Color { red: channel(0), green: channel(1), blue: channel(2) }
}

impl Reduced {
    fn is_new(&self, ty: TypeId) -> bool {
        (self.first.0..self.model.types.len() as u32).contains(&ty.0)
    }

    fn result(&self, container: ContainerId, ty: TypeId) -> Option<&Outcome> {
        let found = self.results.binary_search_by_key(&(container, ty), |result| (result.container, result.ty)).ok()?;
        Some(&self.results[found])
    }

    fn own(&self, id: EntityId) -> Option<Result<Facts, QueryError>> {
        match (id, &self.states) {
            (EntityId::Sample(number), None) if number >= self.inner.free_numbers().sample => {
                let of = |r: &&Outcome| (r.base..r.base + r.steps.len() as u32).contains(&number);
                let Some(result) = self.results.iter().find(of) else {
                    return Some(Err(QueryError::Unknown { what: "sample" }));
                };
                let piece = &result.steps.pieces()[(number - result.base) as usize];
                Some(self.facts_of(id, (result.container, result.ty), life(piece), piece.value.to_string()))
            }
            (EntityId::State(number), Some(states)) if number >= states.base => {
                Some(self.facts_of_state(id, states, number - states.base))
            }
            _ => None,
        }
    }

    fn facts_of_state(&self, id: EntityId, states: &States, number: u32) -> Result<Facts, QueryError> {
        let within = states.store.facts(EntityId::State(number))?;
        let mut places = states.of.iter().filter(|(_, container)| **container == within.container);
        let place = *places.next().ok_or(QueryError::Unknown { what: "state" })?.0;
        let value = within.name.parse().ok().map(|value| states.value(ValueId(value)));
        let value = value.and_then(|value| self.model.values.get(value.index()));
        self.facts_of(id, place, within.life, value.map_or_else(String::new, |value| value.name.clone()))
    }

    fn facts_of(
        &self,
        id: EntityId,
        (container, ty): (ContainerId, TypeId),
        life: Interval,
        name: String,
    ) -> Result<Facts, QueryError> {
        let owner = self.inner.facts(EntityId::Container(container))?;
        let mut type_path = owner.type_path;
        type_path.push(self.model.types[ty.index()].name.clone());
        let fields = vec![("filter".to_owned(), self.text.clone())];
        Ok(Facts { id, name, type_path, container_path: owner.container_path, container, life, fields, source: None })
    }
}

impl Layer for Reduced {
    fn inner(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn summary(&self) -> Summary {
        let mut summary = self.inner.summary();
        match &self.states {
            Some(states) => summary.states += states.store.summary().states,
            None => summary.samples += self.results.iter().map(|result| result.steps.len() as u64).sum::<u64>(),
        }
        summary
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        if self.is_new(ty) { Vec::new() } else { self.inner.members_with(container, ty) }
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        match &self.states {
            _ if !self.is_new(ty) => self.inner.depths(container, ty),
            Some(states) => u32::from(states.of.contains_key(&(container, ty))),
            None => 0,
        }
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        if !lanes.iter().any(|lane| self.is_new(lane.ty)) {
            return self.inner.cells(lanes, interval, columns);
        }
        super::pick::check(interval, columns)?;
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            if !self.is_new(lane.ty) {
                cells.extend(self.inner.cells(&[lane], interval, columns)?.cells);
                continue;
            }
            let within = self.states.as_ref().and_then(|states| Some((states, states.lane(lane)?)));
            let Some((states, within)) = within else {
                cells.extend((0..columns).map(|_| Cell::default()));
                continue;
            };
            let mut found = states.store.cells(&[within], interval, columns)?.cells;
            for share in found.iter_mut().flat_map(|cell| &mut cell.shares) {
                share.0 = states.value(share.0);
            }
            cells.extend(found);
        }
        Ok(Cells { columns, cells })
    }

    fn times(&self, lanes: &[Lane], interval: Interval) -> Result<Vec<(ValueId, i64)>, QueryError> {
        if !lanes.iter().any(|lane| self.is_new(lane.ty)) {
            return self.inner.times(lanes, interval);
        }
        query::times(|lanes| Layer::cells(self, lanes, interval, 1), lanes)
    }

    fn largest(&self, lanes: &[Lane], interval: Interval, columns: u32, most: usize) -> Result<Cells, QueryError> {
        if !lanes.iter().any(|lane| self.is_new(lane.ty)) {
            return self.inner.largest(lanes, interval, columns, most);
        }
        let mut cells = Layer::cells(self, lanes, interval, columns)?;
        cells.cells.iter_mut().for_each(|cell| cell.keep(most));
        Ok(cells)
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        if !self.is_new(lane.ty) {
            return self.inner.states(lane, interval, limit);
        }
        let within = self.states.as_ref().and_then(|states| Some((states, states.lane(lane)?)));
        let Some((states, within)) = within else { return Ok(super::hidden::none()) };
        let mut listed = states.store.states(within, interval, limit)?;
        for state in &mut listed.items {
            state.value = states.value(state.value);
            if let EntityId::State(number) = &mut state.id {
                *number += states.base;
            }
        }
        Ok(listed)
    }

    // Events and links are those within.
    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
        most: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        self.inner.event_counts(container, ty, interval, columns, most)
    }

    fn link_counts(
        &self,
        ty: TypeId,
        interval: Interval,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        self.inner.link_counts(ty, interval, exponent, visit)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Sample>, QueryError> {
        if !self.is_new(ty) {
            return self.inner.samples(container, ty, interval, limit);
        }
        super::pick::check(interval, 1)?;
        let Some(result) = self.result(container, ty) else { return Ok(super::hidden::none()) };
        let range = result.steps.overlapping(interval);
        let total = range.len() as u64;
        let items = range.take(limit).map(|at| {
            let piece = &result.steps.pieces()[at];
            Sample { id: EntityId::Sample(result.base + at as u32), life: life(piece), value: piece.value }
        });
        Ok(Listed { total, items: items.collect() })
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        if !self.is_new(ty) {
            return self.inner.series(container, ty, interval, columns);
        }
        super::pick::check(interval, columns)?;
        let result = self.result(container, ty);
        Ok((0..columns).map(|at| result?.steps.column(interval.column(at, columns))).collect())
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        if !self.is_new(ty) {
            return self.inner.range(ty);
        }
        let ranges = self.results.iter().filter(|result| result.ty == ty).filter_map(|result| result.steps.range());
        ranges.reduce(super::range::join)
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
        self.own(id).unwrap_or_else(|| self.inner.facts(id))
    }

    fn related(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        match self.own(id) {
            Some(facts) => facts.map(|_| Vec::new()),
            None => self.inner.related(id, limit),
        }
    }

    fn is_dense(&self, lane: Lane, interval: Interval, most: usize) -> Result<bool, QueryError> {
        if self.is_new(lane.ty) {
            return Ok(Layer::states(self, lane, interval, 0)?.total > most as u64);
        }
        self.inner.is_dense(lane, interval, most)
    }

    fn free_numbers(&self) -> FreeNumbers {
        self.free
    }
}
