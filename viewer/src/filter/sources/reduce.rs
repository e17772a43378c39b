//! Reduction (thesis P53, papers S31): the count, sum, mean, minimum or maximum of the entities below each container of a type, at each
//! moment, as a new variable or state of that container.
//!
//! Cost: the entities concerned are read once, when the filter is made, in order of time: O(n log n), in memory for what is there at one
//! time; about five bytes for each change of the result, in a file where they are many. Queries then cost what those of any variable or state do.

pub(crate) mod gather;
mod states;

use std::sync::Arc;

use tumit_paje::Look;

use self::gather::Wanted;
use self::states::States;
use super::layer::Layer;
use super::step_function::{Room, Steps, life};
use crate::filter::language::ast::{Form, Reduction};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern;
use crate::query::tree;
use crate::query::{
    Cell, Cells, ContainerId, ContainerInfo, EntityId, Facts, FreeNumbers, Interval, Lane, Listed, Model, QueryError,
    Sample, SeriesColumn, State, Summary, TimelineSource, TypeId, TypeInfo, TypeKind, ValueId,
};
use crate::style::palette;

/// Bytes of a result that stay in memory.
pub(crate) const KEPT: usize = 64 << 20;

/// The result for one container.
struct Outcome {
    container: ContainerId,
    ty: TypeId,
    /// Number of its first sample.
    base: u32,
    steps: Steps,
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
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    reduction: &Reduction,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (mut model, list) = (inner.model().as_ref().clone(), inner.containers());
    let what = Wanted::new(inner.as_ref(), reduction)?;
    let owners = pattern::container_types(&model, &reduction.per)?;
    let first = TypeId(model.types.len() as u32);
    let name = reduction.name();
    let mut free = inner.free_numbers();
    let (mut results, room) = (Vec::new(), Room::new(KEPT));
    for owner in owners {
        let ty = TypeId(model.types.len() as u32);
        let kind = if reduction.form == Form::State { TypeKind::State } else { TypeKind::Variable };
        let chosen = palette::distinct(&[(TypeId::ROOT, name.as_str())], &[None]).pop();
        let color = chosen.filter(|_| kind == TypeKind::Variable);
        model.types.push(TypeInfo { id: ty, kind, parent: owner, name: name.clone(), color, look: Look::NONE });
        let owned: Vec<_> =
            (0..list.len()).filter(|&at| list[at].ty == owner).map(|at| at..tree::end(&list, at)).collect();
        for (below, steps) in owned.iter().zip(what.steps(inner.as_ref(), &list, &owned, &room)?) {
            let (container, base) = (list[below.start].id, free.sample);
            if reduction.form == Form::Variable {
                free.sample = free.sample.saturating_add(steps.len() as u32);
            }
            results.push(Outcome { container, ty, base, steps });
        }
    }
    let mut states = None;
    if reduction.form == Form::State {
        let made = States::new(&mut model, &mut results, free.state, reduction)?;
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
            match self.end {
                Some(end) => format!("{operation} of {of} {}", end.word()),
                None => format!("{operation} of {of}"),
            }
        })
    }
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
                let (place, piece) =
                    ((result.container, result.ty), result.steps.piece((number - result.base) as usize));
                Some(piece.and_then(|piece| self.facts_of(id, place, life(&piece), piece.value.to_string())))
            }
            (EntityId::State(number), Some(states)) if number >= states.base => {
                Some(self.facts_of_state(id, states, number - states.base))
            }
            _ => None,
        }
    }

    fn facts_of_state(&self, id: EntityId, states: &States, number: u32) -> Result<Facts, QueryError> {
        let within = states.store.facts(EntityId::State(number))?;
        let place = states.owner(within.container).ok_or(QueryError::Unknown { what: "state" })?;
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

    fn keeps(&self, ty: TypeId) -> bool {
        !self.is_new(ty)
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
            Some(states) => u32::from(states.has(container, ty)),
            None => 0,
        }
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        if !lanes.iter().any(|lane| self.is_new(lane.ty)) {
            return self.inner.cells(lanes, interval, columns);
        }
        crate::filter::sources::entity_filter::check(interval, columns)?;
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

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        if !self.is_new(lane.ty) {
            return self.inner.states(lane, interval, limit);
        }
        let within = self.states.as_ref().and_then(|states| Some((states, states.lane(lane)?)));
        let Some((states, within)) = within else { return Ok(crate::filter::sources::hide::none()) };
        let mut listed = states.store.states(within, interval, limit)?;
        for state in &mut listed.items {
            state.value = states.value(state.value);
            if let EntityId::State(number) = &mut state.id {
                *number += states.base;
            }
        }
        Ok(listed)
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
        crate::filter::sources::entity_filter::check(interval, 1)?;
        let Some(result) = self.result(container, ty) else { return Ok(crate::filter::sources::hide::none()) };
        let (total, pieces) = result.steps.overlapping(interval, limit)?;
        let items = pieces.into_iter().map(|(at, piece)| Sample {
            id: EntityId::Sample(result.base + at as u32),
            life: life(&piece),
            value: piece.value,
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
        crate::filter::sources::entity_filter::check(interval, columns)?;
        match self.result(container, ty) {
            Some(result) => result.steps.columns(interval, columns),
            None => Ok(vec![None; columns as usize]),
        }
    }

    fn range(&self, ty: TypeId) -> Option<(f64, f64)> {
        if !self.is_new(ty) {
            return self.inner.range(ty);
        }
        let ranges = self.results.iter().filter(|result| result.ty == ty).filter_map(|result| result.steps.range());
        ranges.reduce(crate::filter::sources::variable_range::join)
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
