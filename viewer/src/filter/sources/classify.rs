//! Classification: values by a field. The entities of a type get the class of a field as their
//! value. The class gives them a colour, an entry in the legend and a row of statistics. For
//! example, links are classified by the size of their messages, and states by their duration.
//!
//! Cost: a list reads the facts of each listed entity, some microseconds each. Aggregates (cells of
//! states, dense events and links) read each entity in the time range. The class of an entity is
//! looked up once. Durations need no facts, because the lists contain them.

mod classes;
mod memo;

use std::sync::Arc;

use tumit_paje::DrawStyle;

use self::classes::FieldClasses;
use self::memo::ClassMemo;
use super::entity_filter::{StateColumns, check, type_of};
use super::layer::FilterLayer;
use crate::filter::language::ast::is_duration;
use crate::filter::language::entity_fields;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, FieldUse, NamePattern, NamePatterns};
use crate::query::entity_walk;
use crate::query::{
    ContainerId, EntityFacts, EntityId, EntityList, EventEntity, LinkEntity, MixtureCells, OpenLinkEntity,
    PajeTypeKind, QueryError, StateEntity, StateLaneId, TimeRange, TimelineSource, TypeId, TypeInfo, TypeModel,
    ValueId, ValueInfo,
};

struct ClassifySource {
    inner: Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    field: String,
    classes: FieldClasses,
    /// By type: the value of its first class, or `None` if the type is not classified.
    first: Vec<Option<ValueId>>,
    /// The first new value.
    first_value: ValueId,
    memo: ClassMemo,
}

/// Replaces the values of entities of some types by the class of a field. Without edges, the
/// classes are chosen from the contents of the trace.
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    type_pattern: &NamePattern,
    field: &str,
    edges: &[f64],
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let is_duration_field = is_duration(field);
    let has_field = |ty: &TypeInfo| match ty.kind {
        PajeTypeKind::State | PajeTypeKind::Link { .. } => true,
        PajeTypeKind::Event => !is_duration_field,
        PajeTypeKind::Variable | PajeTypeKind::Container => false,
    };
    let description = if is_duration_field { "type of states or links" } else { "type of states, events or links" };
    let types = pattern::types(&model, &NamePatterns::new(vec![type_pattern.clone()]), description, has_field)?;
    if !is_duration_field {
        entity_fields::check(inner.as_ref(), FieldUse::Classes, field, &types)?;
    }
    let classes = if edges.is_empty() {
        FieldClasses::from_sample(inner.as_ref(), field, &types)?
    } else {
        FieldClasses::from_edges(edges.to_vec())
    };
    let first_value = ValueId(model.values.len() as u32);
    let mut first = vec![None; model.types.len()];
    for ty in types {
        first[ty.index()] = Some(ValueId(model.values.len() as u32));
        let mut names_and_colors = classes.names_and_colors(field);
        // For the field `duration`, only states and links are classified. All of them have a
        // duration, so the class "no duration", which is the last one, is removed.
        names_and_colors.truncate(names_and_colors.len() - usize::from(is_duration_field));
        for (name, color) in names_and_colors {
            let (id, style) = (ValueId(model.values.len() as u32), model.types[ty.index()].style);
            model.values.push(ValueInfo {
                id,
                ty,
                name,
                color,
                style: DrawStyle { shape: style.shape, size: style.size },
                category: None,
            });
        }
    }
    Ok(Arc::new(ClassifySource {
        inner: Arc::clone(inner),
        model: Arc::new(model),
        field: field.to_owned(),
        classes,
        first,
        first_value,
        memo: ClassMemo::default(),
    }))
}

impl ClassifySource {
    fn first(&self, ty: TypeId) -> Option<ValueId> {
        self.first.get(ty.index()).copied().flatten()
    }

    /// The value of an entity. The classes of its type begin at `first`.
    fn value(&self, first: ValueId, id: EntityId, nanos: i64) -> Result<ValueId, QueryError> {
        if is_duration(&self.field) {
            return Ok(ValueId(first.0 + u32::from(self.classes.of_nanos(nanos))));
        }
        let class = self.memo.of(id, || {
            let facts = self.inner.facts(id)?;
            Ok(self.classes.of(entity_fields::field(&facts, &self.field).as_deref()))
        })?;
        Ok(ValueId(first.0 + u32::from(class)))
    }

    fn of_state(&self, first: ValueId, state: &StateEntity) -> Result<ValueId, QueryError> {
        self.value(first, state.id, state.life.to.0.saturating_sub(state.life.from.0))
    }
}

impl FilterLayer for ClassifySource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::clone(&self.model)
    }

    fn keeps_entities(&self, ty: TypeId) -> bool {
        self.first(ty).is_none()
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        check(time_range, columns)?;
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            let Some(first) = self.first(lane.ty) else {
                cells.extend(self.inner.cells(&[lane], time_range, columns)?.cells);
                continue;
            };
            let mut output = StateColumns::new(time_range, columns);
            entity_walk::states(self.inner_source(), lane, time_range, |state| {
                output.add(self.of_state(first, state)?, state.life);
                Ok(())
            })?;
            cells.extend(output.finish());
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        let mut list = self.inner.states(lane, time_range, limit)?;
        if let Some(first) = self.first(lane.ty) {
            for state in &mut list.items {
                state.value = self.of_state(first, state)?;
            }
        }
        Ok(list)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        let mut list = self.inner.events(container, ty, time_range, limit)?;
        if let Some(first) = self.first(ty) {
            for mark in &mut list.items {
                mark.value = self.value(first, mark.id, 0)?;
            }
        }
        Ok(list)
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        let mut list = self.inner.links(ty, time_range, limit)?;
        if let Some(first) = self.first(ty) {
            for link in &mut list.items {
                link.value = self.value(first, link.id, link.end_time.0.saturating_sub(link.start_time.0))?;
            }
        }
        Ok(list)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        let mut links = self.inner.open_links(ty, time_range)?;
        if let Some(first) = self.first(ty) {
            let end = self.inner.extent().to.0;
            for link in &mut links {
                link.value = self.value(first, link.id, end.saturating_sub(link.start_time.0))?;
            }
        }
        Ok(links)
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let mut facts = self.inner.facts(id)?;
        if let Some(first) = type_of(&self.model, &facts).and_then(|ty| self.first(ty)) {
            let nanos = facts.life.to.0.saturating_sub(facts.life.from.0);
            let value = self.value(first, id, nanos)?;
            let name = self.model.values.get(value.index()).map_or_else(String::new, |value| value.name.clone());
            let was = std::mem::replace(&mut facts.name, name);
            if !was.is_empty() {
                facts.fields.push(("value before".to_owned(), was));
            }
        }
        Ok(facts)
    }

    fn shows(&self, value: ValueId) -> bool {
        if value >= self.first_value {
            return true;
        }
        let ty = self.model.values.get(value.index()).map(|value| value.ty);
        ty.is_none_or(|ty| self.keeps_entities(ty)) && self.inner.shows(value)
    }
}
