//! [`DiagramLayer`]: a trace with the states and links of a derived trace in its rows. All rows and
//! all other entities are those of the trace itself.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::RgbColor;
use tumit_viewer::filter::FilterLayer;
use tumit_viewer::query::{
    ContainerId, EntityFacts, EntityId, EntityList, FirstFreeNumbers, LinkCount, LinkEntity, LinkVisitor, MixtureCell,
    MixtureCells, OpenLinkEntity, OperationPart, PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange,
    TimelineSource, TraceSummary, TypeId, TypeInfo, TypeModel, ValueId, ValueInfo,
};

/// The changes of a trace by a derived trace.
#[derive(Default)]
pub(super) struct LayerParts<'a> {
    /// The containers of the trace that the units of the derived trace stand for, in order.
    pub(super) units: Vec<ContainerId>,
    /// The containers that lose their states to the derived trace.
    pub(super) without_states: FxHashSet<ContainerId>,
    /// Changes the colours of the states of the trace.
    pub(super) state_color: Option<&'a dyn Fn(RgbColor) -> RgbColor>,
    /// The height of the derived states, relative to other states.
    pub(super) state_height: Option<f32>,
    /// The colour and the width of the derived links without a width of their own.
    pub(super) link_style: Option<(RgbColor, f32)>,
}

/// A trace with the states and links of a derived trace. The derived trace has its own numbers of
/// types, values, containers and states; the layer converts them.
pub(super) struct DiagramLayer {
    inner: Arc<dyn TimelineSource>,
    derived_source: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    /// The types of states and links of the derived trace, in the order of the layer's types.
    types: Vec<TypeId>,
    first_type: u32,
    first_value: u32,
    /// The container of the derived trace for each unit.
    derived_units: FxHashMap<ContainerId, ContainerId>,
    /// The unit for each container of the derived trace.
    inner_units: FxHashMap<ContainerId, ContainerId>,
    without_states: FxHashSet<ContainerId>,
    /// The state types that lose some or all of their states.
    changed_types: FxHashSet<TypeId>,
    /// The state types that lose all of their states.
    removed_types: FxHashSet<TypeId>,
    /// Whether the links of the derived trace replace those of the trace.
    has_links: bool,
    numbers: FirstFreeNumbers,
    derived_states: u32,
}

impl DiagramLayer {
    pub(super) fn new(
        inner: &Arc<dyn TimelineSource>,
        derived_source: Arc<dyn TimelineSource>,
        parts: LayerParts<'_>,
    ) -> Self {
        let (inner_model, derived_model) = (inner.model(), derived_source.model());
        let units_of_derived = leaves(derived_source.as_ref());
        let pairs = || parts.units.iter().copied().zip(units_of_derived.iter().copied());
        let is_shown = |ty: &&TypeInfo| matches!(ty.kind, PajeTypeKind::State | PajeTypeKind::Link { .. });
        let types: Vec<TypeId> = derived_model.types.iter().filter(is_shown).map(|ty| ty.id).collect();
        let is_link = |ty: &TypeId| matches!(derived_model.types[ty.index()].kind, PajeTypeKind::Link { .. });
        let (changed_types, removed_types) = changed_types(inner.as_ref(), &parts.without_states);
        let unit = parts.units.first().copied();
        let unit_type =
            inner.containers().iter().find(|info| Some(info.id) == unit).map_or(TypeId::ROOT, |info| info.ty);
        let model = joined_model(&inner_model, &derived_model, &types, unit_type, &parts);
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        Self {
            derived_units: pairs().collect(),
            inner_units: pairs().map(|(unit, derived_source)| (derived_source, unit)).collect(),
            has_links: types.iter().any(is_link),
            types,
            first_type: number(inner_model.types.len()),
            first_value: number(inner_model.values.len()),
            model: Arc::new(model),
            without_states: parts.without_states,
            changed_types,
            removed_types,
            numbers: inner.free_numbers(),
            derived_states: derived_source.free_numbers().state,
            inner: Arc::clone(inner),
            derived_source,
        }
    }

    /// The type of the derived trace, if the layer's type is one.
    fn derived_type(&self, ty: TypeId) -> Option<TypeId> {
        self.types.get(ty.0.checked_sub(self.first_type)? as usize).copied()
    }

    /// The lane of the derived trace. `None` if the container is no unit.
    fn derived_lane(&self, lane: StateLaneId, ty: TypeId) -> Option<StateLaneId> {
        let container = *self.derived_units.get(&lane.container)?;
        Some(StateLaneId { container, ty, depth: lane.depth })
    }

    fn is_removed(&self, lane: StateLaneId) -> bool {
        self.without_states.contains(&lane.container) && self.changed_types.contains(&lane.ty)
    }

    fn value(&self, value: ValueId) -> ValueId {
        ValueId(self.first_value.saturating_add(value.0))
    }

    fn container(&self, container: ContainerId) -> ContainerId {
        self.inner_units.get(&container).copied().unwrap_or(ContainerId::ROOT)
    }

    /// The id in the derived trace of an entity that the layer adds.
    fn derived_entity(&self, id: EntityId) -> Option<EntityId> {
        match id {
            EntityId::State(number) => number.checked_sub(self.numbers.state).map(EntityId::State),
            EntityId::Link(_) if self.has_links => Some(id),
            _ => None,
        }
    }

    fn own_entity(&self, entity: EntityId) -> Option<EntityId> {
        match entity {
            EntityId::State(number) => Some(EntityId::State(self.numbers.state.saturating_add(number))),
            EntityId::Link(_) => Some(entity),
            _ => None,
        }
    }

    fn is_link_type(&self, ty: TypeId) -> bool {
        self.model.types.get(ty.index()).is_some_and(|ty| matches!(ty.kind, PajeTypeKind::Link { .. }))
    }

    /// The links of a type come from the trace itself.
    fn keeps_links(&self) -> bool {
        !self.has_links
    }
}

/// The containers of a derived trace that stand for units, in order.
fn leaves(source: &dyn TimelineSource) -> Vec<ContainerId> {
    let containers = source.containers();
    let parents: FxHashSet<ContainerId> =
        containers.iter().filter(|info| info.parent != info.id).map(|info| info.parent).collect();
    let is_leaf = |id: &ContainerId| *id != ContainerId::ROOT && !parents.contains(id);
    let mut leaves: Vec<ContainerId> = containers.iter().map(|info| info.id).filter(is_leaf).collect();
    leaves.sort_unstable();
    leaves
}

/// The state types that lose states, and those that lose all of them.
fn changed_types(
    inner: &dyn TimelineSource,
    without_states: &FxHashSet<ContainerId>,
) -> (FxHashSet<TypeId>, FxHashSet<TypeId>) {
    let (model, containers) = (inner.model(), inner.containers());
    let (mut changed, mut kept) = (FxHashSet::default(), FxHashSet::default());
    for ty in model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State) {
        for info in containers.iter().filter(|info| inner.depths(info.id, ty.id) > 0) {
            if without_states.contains(&info.id) {
                changed.insert(ty.id)
            } else {
                kept.insert(ty.id)
            };
        }
    }
    let removed = changed.difference(&kept).copied().collect();
    (changed, removed)
}

/// The types and values of the trace, and then those of the derived trace.
fn joined_model(
    inner: &TypeModel,
    derived_model: &TypeModel,
    types: &[TypeId],
    unit_type: TypeId,
    parts: &LayerParts<'_>,
) -> TypeModel {
    let mut model = inner.clone();
    if let Some(color) = parts.state_color {
        let is_state =
            |value: &&mut ValueInfo| inner.types.get(value.ty.index()).is_some_and(|ty| ty.kind == PajeTypeKind::State);
        model.values.iter_mut().filter(is_state).for_each(|value| value.color = color(value.color));
    }
    let first = model.types.len();
    let id = |position: usize| TypeId(u32::try_from(first + position).unwrap_or(u32::MAX));
    for (position, ty) in types.iter().enumerate() {
        let info = &derived_model.types[ty.index()];
        let (kind, parent) = match info.kind {
            PajeTypeKind::Link { .. } => (PajeTypeKind::Link { start: unit_type, end: unit_type }, TypeId::ROOT),
            kind => (kind, unit_type),
        };
        model.types.push(TypeInfo { id: id(position), kind, parent, ..info.clone() });
    }
    let first_value = u32::try_from(model.values.len()).unwrap_or(u32::MAX);
    for value in &derived_model.values {
        let position = types.iter().position(|ty| *ty == value.ty);
        let mut added = ValueInfo { id: ValueId(first_value.saturating_add(value.id.0)), ..value.clone() };
        added.ty = position.map_or(TypeId::ROOT, id);
        let is_state = derived_model.types.get(value.ty.index()).is_some_and(|ty| ty.kind == PajeTypeKind::State);
        if let Some(height) = parts.state_height.filter(|_| is_state) {
            added.style.size = Some(height);
        }
        if let Some((color, width)) = parts.link_style.filter(|_| !is_state && added.style.size.is_none()) {
            added.color = color;
            added.style.size = Some(width);
        }
        model.values.push(added);
    }
    model
}

fn no_entities<T>() -> EntityList<T> {
    EntityList { total: 0, items: Vec::new() }
}

impl FilterLayer for DiagramLayer {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        self.derived_type(ty).is_none()
            && !self.changed_types.contains(&ty)
            && (self.keeps_links() || !self.is_link_type(ty))
    }

    fn summary(&self) -> TraceSummary {
        let (mut summary, derived) = (self.inner.summary(), self.derived_source.summary());
        summary.states += derived.states;
        if self.has_links {
            summary.links = derived.links;
        }
        summary
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::clone(&self.model)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        let lane = StateLaneId { container, ty, depth: 0 };
        match self.derived_type(ty) {
            Some(derived) => {
                self.derived_lane(lane, derived).map_or(0, |lane| self.derived_source.depths(lane.container, lane.ty))
            }
            None if self.is_removed(lane) => 0,
            None => self.inner.depths(container, ty),
        }
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        let is_of_trace = |lane: &StateLaneId| self.derived_type(lane.ty).is_none() && !self.is_removed(*lane);
        if lanes.iter().all(is_of_trace) {
            return self.inner.cells(lanes, time_range, columns);
        }
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            if is_of_trace(&lane) {
                cells.extend(self.inner.cells(&[lane], time_range, columns)?.cells);
                continue;
            }
            let derived = self.derived_type(lane.ty).and_then(|ty| self.derived_lane(lane, ty));
            let Some(derived) = derived else {
                cells.extend((0..columns).map(|_| MixtureCell::default()));
                continue;
            };
            let mut found = self.derived_source.cells(&[derived], time_range, columns)?.cells;
            for share in found.iter_mut().flat_map(|cell| cell.shares.iter_mut()) {
                share.0 = self.value(share.0);
            }
            cells.extend(found);
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let Some(ty) = self.derived_type(lane.ty) else {
            if self.is_removed(lane) {
                return Ok(no_entities());
            }
            return self.inner.states(lane, time_range, limit);
        };
        let Some(derived) = self.derived_lane(lane, ty) else { return Ok(no_entities()) };
        let mut listed = self.derived_source.states(derived, time_range, limit)?;
        for state in &mut listed.items {
            state.value = self.value(state.value);
            state.id = self.own_entity(state.id).unwrap_or(state.id);
        }
        Ok(listed)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        let Some(derived) = self.derived_type(ty) else {
            return if self.keeps_links() { self.inner.links(ty, time_range, limit) } else { Ok(no_entities()) };
        };
        let mut listed = self.derived_source.links(derived, time_range, limit)?;
        for link in &mut listed.items {
            let (start, end) = (self.container(link.start), self.container(link.end));
            *link = LinkEntity { ty, value: self.value(link.value), start, end, ..*link };
        }
        Ok(listed)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        let is_of_trace = self.derived_type(ty).is_none() && self.keeps_links();
        if is_of_trace { self.inner.open_links(ty, time_range) } else { Ok(Vec::new()) }
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        let Some(derived) = self.derived_type(ty) else {
            return if self.keeps_links() { self.inner.link_counts(ty, time_range, exponent, visit) } else { Ok(()) };
        };
        self.derived_source.link_counts(derived, time_range, exponent, &mut |count| {
            let (start, end) = (self.container(count.start), self.container(count.end));
            visit(&LinkCount { start, end, value: self.value(count.value), ..*count })
        })
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let Some(derived) = self.derived_entity(id) else { return self.inner.facts(id) };
        let facts = self.derived_source.facts(derived)?;
        let container = self.container(facts.container);
        let owner = self.inner.facts(EntityId::Container(container))?;
        let mut type_path = owner.type_path;
        type_path.extend(facts.type_path.last().cloned());
        Ok(EntityFacts { id, type_path, container_path: owner.container_path, container, ..facts })
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        if let Some(derived) = self.derived_entity(id) {
            let related = self.derived_source.related_entities(derived, limit)?;
            return Ok(related.into_iter().filter_map(|id| self.own_entity(id)).collect());
        }
        let mut related = self.inner.related_entities(id, limit)?;
        related.retain(|id| match id {
            EntityId::State(_) => self.without_states.is_empty(),
            EntityId::Link(_) | EntityId::OpenLink(_) => self.keeps_links(),
            _ => true,
        });
        Ok(related)
    }

    fn operation_parts(&self, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
        let is_of_trace = self.derived_entity(id).is_none() && self.without_states.is_empty();
        if is_of_trace { self.inner.operation_parts(id) } else { Ok(Vec::new()) }
    }

    fn shows(&self, value: ValueId) -> bool {
        if value.0 >= self.first_value {
            return true;
        }
        let ty = self.model.values.get(value.index()).map_or(TypeId::ROOT, |info| info.ty);
        let is_removed = self.removed_types.contains(&ty) || !self.keeps_links() && self.is_link_type(ty);
        !is_removed && self.inner.shows(value)
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        match self.derived_type(lane.ty) {
            Some(ty) => self
                .derived_lane(lane, ty)
                .map_or(Ok(false), |derived| self.derived_source.is_dense(derived, time_range, limit)),
            None if self.is_removed(lane) => Ok(false),
            None => self.inner.is_dense(lane, time_range, limit),
        }
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        FirstFreeNumbers { state: self.numbers.state.saturating_add(self.derived_states), ..self.numbers }
    }
}
