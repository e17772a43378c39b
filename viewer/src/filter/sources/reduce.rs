//! Reduction: count, sum, mean, minimum or maximum of the entities below each container of a type,
//! at each moment. The result is a new variable or state of that container. [`add_variables`] adds
//! variables that another package computed.
//!
//! Cost: the entities are read once in order of time, when the filter is made. This takes O(n log
//! n) time, and memory for the entities that exist at one time. Each change of the result takes
//! about five bytes, in a file if there are many changes. Queries then cost as much as for any
//! variable or state.

mod container_reduction;
pub(crate) mod reduce_input;
mod result_states;

use std::sync::Arc;

use tumit_paje::{DrawStyle, RgbColor};

use self::container_reduction::ContainerReduction;
use self::reduce_input::ReduceInput;
use self::result_states::ResultStates;
use super::function_pieces::{FunctionPiece, MEMORY_LIMIT, PieceMemory, StepWriter};
use super::layer::FilterLayer;
use super::{entity_filter, hide};
use crate::filter::language::ast::{Reduction, ReductionForm};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern;
use crate::filter::series_provider::{ProvidedSeries, ProvidedSteps};
use crate::query::container_tree;
use crate::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, FirstFreeNumbers, MixtureCell, MixtureCells,
    OperationPart, PajeTypeKind, QueryError, SeriesColumn, StateEntity, StateLaneId, TimeRange, TimelineSource,
    TraceSummary, TypeId, TypeInfo, TypeModel, ValueId, ValueRange, VariableSample,
};
use crate::style::palette;

struct ReduceSource {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    list: Arc<Vec<ContainerInfo>>,
    /// The new types begin here.
    first: TypeId,
    results: Vec<ContainerReduction>,
    states: Option<ResultStates>,
    free_numbers: FirstFreeNumbers,
    text: String,
}

/// Adds the new variable or state.
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    reduction: &Reduction,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (mut model, list) = (inner.model().as_ref().clone(), inner.containers());
    let input = ReduceInput::new(inner.as_ref(), reduction)?;
    let owners = pattern::container_types(&model, &reduction.group_type)?;
    let first = TypeId(model.types.len() as u32);
    let name = reduction.name();
    let mut free_numbers = inner.free_numbers();
    let (mut results, memory) = (Vec::new(), PieceMemory::new(MEMORY_LIMIT));
    for owner in owners {
        let ty = TypeId(model.types.len() as u32);
        let kind = if reduction.form == ReductionForm::State { PajeTypeKind::State } else { PajeTypeKind::Variable };
        let color = variable_color(&name).filter(|_| kind == PajeTypeKind::Variable);
        model.types.push(TypeInfo { id: ty, kind, parent: owner, name: name.clone(), color, style: DrawStyle::NONE });
        let subtrees: Vec<_> = (0..list.len())
            .filter(|&index| list[index].ty == owner)
            .map(|index| index..container_tree::end(&list, index))
            .collect();
        for (below, steps) in subtrees.iter().zip(input.steps(inner.as_ref(), &list, &subtrees, &memory)?) {
            let (container, base) = (list[below.start].id, free_numbers.sample);
            if reduction.form == ReductionForm::Variable {
                free_numbers.sample = free_numbers.sample.saturating_add(steps.len() as u32);
            }
            results.push(ContainerReduction { container, ty, base, steps });
        }
    }
    let mut states = None;
    if reduction.form == ReductionForm::State {
        let result_states = ResultStates::new(&mut model, &mut results, free_numbers.state, reduction)?;
        free_numbers.state = free_numbers.state.saturating_add(result_states.store.summary().states as u32);
        states = Some(result_states);
    }
    results.sort_by_key(|result| (result.container, result.ty));
    let text = reduction.to_string();
    Ok(Arc::new(ReduceSource {
        inner: Arc::clone(inner),
        model: Arc::new(model),
        list,
        first,
        results,
        states,
        free_numbers,
        text,
    }))
}

/// Adds variables with given names and values.
pub(crate) fn add_variables(
    inner: &Arc<dyn TimelineSource>,
    variables: Vec<(String, ProvidedSeries)>,
    text: &str,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let (mut model, list, mut free_numbers) =
        (inner.model().as_ref().clone(), inner.containers(), inner.free_numbers());
    let first = TypeId(model.types.len() as u32);
    let (mut results, memory) = (Vec::new(), PieceMemory::new(MEMORY_LIMIT));
    let colors = variable_colors(&model, &variables);
    for ((name, series), color) in variables.into_iter().zip(colors) {
        let (ty, kind, color) = (TypeId(model.types.len() as u32), PajeTypeKind::Variable, Some(color));
        model.types.push(TypeInfo { id: ty, kind, parent: series.container_type, name, color, style: DrawStyle::NONE });
        for ProvidedSteps { container, steps, end } in series.steps {
            let mut writer = StepWriter::new(&memory);
            let ends = steps.iter().skip(1).map(|next| next.0).chain([end]);
            for (&(from, value), to) in steps.iter().zip(ends).filter(|((from, _), to)| from < to) {
                writer.push(FunctionPiece { from: from.0, to: to.0, value })?;
            }
            let (steps, base) = (writer.finish()?, free_numbers.sample);
            free_numbers.sample = free_numbers.sample.saturating_add(steps.len() as u32);
            results.push(ContainerReduction { container, ty, base, steps });
        }
    }
    results.sort_by_key(|result| (result.container, result.ty));
    let (inner, model, states, text) = (Arc::clone(inner), Arc::new(model), None, text.to_owned());
    Ok(Arc::new(ReduceSource { inner, model, list, first, results, states, free_numbers, text }))
}

/// Colours that differ from those of all other types, if there are enough.
fn variable_colors(model: &TypeModel, variables: &[(String, ProvidedSeries)]) -> Vec<RgbColor> {
    let colored_types = model.types.iter().filter(|ty| ty.color.is_some()).map(|ty| (ty.name.as_str(), ty.color));
    let new = variables.iter().map(|(name, series)| (name.as_str(), series.color));
    let (names, colors): (Vec<_>, Vec<_>) =
        colored_types.chain(new).map(|(name, color)| ((TypeId::ROOT, name), color)).unzip();
    let assigned = palette::assign_colors(&names, &colors);
    assigned[assigned.len() - variables.len()..].to_vec()
}

fn variable_color(name: &str) -> Option<RgbColor> {
    palette::assign_colors(&[(TypeId::ROOT, name)], &[None]).pop()
}

impl Reduction {
    /// The name of the new type: the given one, or one derived from the operation and the reduced
    /// types.
    #[must_use]
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| {
            let operation = self.operation.word();
            let of = if self.values.is_any() {
                self.types.to_string()
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

impl ReduceSource {
    fn is_new(&self, ty: TypeId) -> bool {
        (self.first.0..self.model.types.len() as u32).contains(&ty.0)
    }

    fn result(&self, container: ContainerId, ty: TypeId) -> Option<&ContainerReduction> {
        let index = self.results.binary_search_by_key(&(container, ty), |result| (result.container, result.ty)).ok()?;
        Some(&self.results[index])
    }

    fn own_entity(&self, id: EntityId) -> Option<Result<EntityFacts, QueryError>> {
        match (id, &self.states) {
            (EntityId::Sample(number), None) if number >= self.inner.free_numbers().sample => {
                let of = |r: &&ContainerReduction| (r.base..r.base + r.steps.len() as u32).contains(&number);
                let Some(result) = self.results.iter().find(of) else {
                    return Some(Err(QueryError::Unknown { kind: "sample" }));
                };
                let piece = result.steps.piece((number - result.base) as usize);
                Some(piece.and_then(|piece| {
                    self.facts_of(id, result.container, result.ty, piece.life(), piece.value.to_string())
                }))
            }
            (EntityId::State(number), Some(states)) if number >= states.base => {
                Some(self.facts_of_state(id, states, number - states.base))
            }
            _ => None,
        }
    }

    fn facts_of_state(&self, id: EntityId, states: &ResultStates, number: u32) -> Result<EntityFacts, QueryError> {
        let store_facts = states.store.facts(EntityId::State(number))?;
        let (container, ty) = states.owner(store_facts.container).ok_or(QueryError::Unknown { kind: "state" })?;
        let value = store_facts.name.parse().ok().map(|value| states.value(ValueId(value)));
        let value = value.and_then(|value| self.model.values.get(value.index()));
        self.facts_of(id, container, ty, store_facts.life, value.map_or_else(String::new, |value| value.name.clone()))
    }

    fn facts_of(
        &self,
        id: EntityId,
        container: ContainerId,
        ty: TypeId,
        life: TimeRange,
        name: String,
    ) -> Result<EntityFacts, QueryError> {
        let owner = self.inner.facts(EntityId::Container(container))?;
        let mut type_path = owner.type_path;
        type_path.push(self.model.types[ty.index()].name.clone());
        let fields = vec![("filter".to_owned(), self.text.clone())];
        Ok(EntityFacts {
            id,
            name,
            type_path,
            container_path: owner.container_path,
            container,
            life,
            fields,
            source: None,
        })
    }
}

impl FilterLayer for ReduceSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        !self.is_new(ty)
    }

    fn summary(&self) -> TraceSummary {
        let mut summary = self.inner.summary();
        match &self.states {
            Some(states) => summary.states += states.store.summary().states,
            None => summary.samples += self.results.iter().map(|result| result.steps.len() as u64).sum::<u64>(),
        }
        summary
    }

    fn model(&self) -> Arc<TypeModel> {
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

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        if !lanes.iter().any(|lane| self.is_new(lane.ty)) {
            return self.inner.cells(lanes, time_range, columns);
        }
        entity_filter::check(time_range, columns)?;
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            if !self.is_new(lane.ty) {
                cells.extend(self.inner.cells(&[lane], time_range, columns)?.cells);
                continue;
            }
            let within = self.states.as_ref().and_then(|states| Some((states, states.lane(lane)?)));
            let Some((states, within)) = within else {
                cells.extend((0..columns).map(|_| MixtureCell::default()));
                continue;
            };
            let mut cells_of_lane = states.store.cells(&[within], time_range, columns)?.cells;
            for share in cells_of_lane.iter_mut().flat_map(|cell| &mut cell.shares) {
                share.0 = states.value(share.0);
            }
            cells.extend(cells_of_lane);
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        if !self.is_new(lane.ty) {
            return self.inner.states(lane, time_range, limit);
        }
        let within = self.states.as_ref().and_then(|states| Some((states, states.lane(lane)?)));
        let Some((states, within)) = within else { return Ok(hide::empty_list()) };
        let mut list = states.store.states(within, time_range, limit)?;
        for state in &mut list.items {
            state.value = states.value(state.value);
            if let EntityId::State(number) = &mut state.id {
                *number += states.base;
            }
        }
        Ok(list)
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        if !self.is_new(ty) {
            return self.inner.samples(container, ty, time_range, limit);
        }
        entity_filter::check(time_range, 1)?;
        let Some(result) = self.result(container, ty) else { return Ok(hide::empty_list()) };
        result.steps.samples(result.base, time_range, limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        if !self.is_new(ty) {
            return self.inner.series(container, ty, time_range, columns);
        }
        entity_filter::check(time_range, columns)?;
        match self.result(container, ty) {
            Some(result) => result.steps.columns(time_range, columns),
            None => Ok(vec![None; columns as usize]),
        }
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        if !self.is_new(ty) {
            return self.inner.value_range(ty);
        }
        let ranges = self.results.iter().filter(|result| result.ty == ty).filter_map(|result| result.steps.range());
        ranges.reduce(ValueRange::join)
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        self.own_entity(id).unwrap_or_else(|| self.inner.facts(id))
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        match self.own_entity(id) {
            Some(facts) => facts.map(|_| Vec::new()),
            None => self.inner.related_entities(id, limit),
        }
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        match self.own_entity(id) {
            Some(facts) => facts.map(|_| Vec::new()),
            None => self.inner.operation_parts(id),
        }
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        if self.is_new(lane.ty) {
            return Ok(FilterLayer::states(self, lane, time_range, 0)?.total > limit as u64);
        }
        self.inner.is_dense(lane, time_range, limit)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.free_numbers
    }
}
