//! Values by attribute (thesis P62): entities of a type get the class of a field as their value, and with it a colour, a place in the legend and a
//! row of statistics. Arrows go by the size of their messages, states by how long they take.
//!
//! Cost: listing costs the facts of each entity that is listed, some microseconds; what is asked of many at once (cells of states, dense events
//! and links) looks at each entity in the interval. Each class is looked up once. Of durations the lists tell enough.

mod classes;
mod memo;

use crate::filter::language::ast::is_duration;
use std::sync::Arc;

use tumit_paje::Look;

use self::classes::Classes;
use self::memo::Memo;
use super::entity_filter::{Columns, check, type_of};
use super::layer::Layer;
use crate::filter::language::error::FilterError;
use crate::filter::language::fields;
use crate::filter::language::pattern::{self, FieldUse, Pattern, Patterns};
use crate::query::walk;
use crate::query::{
    Cells, ContainerId, EntityId, Facts, Interval, Lane, Link, Listed, Mark, Model, QueryError, State, TimelineSource,
    TypeId, TypeInfo, TypeKind, ValueId, ValueInfo,
};

struct Classified {
    inner: Arc<dyn TimelineSource>,
    model: Arc<Model>,
    field: String,
    classes: Classes,
    /// By type: the value of its first class, if it is classified.
    first: Vec<Option<ValueId>>,
    /// The first of all new values.
    new: ValueId,
    known: Memo,
}

/// Gives entities of some types the class of a field as their value. Without edges, classes are chosen by what the trace has.
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    of: &Pattern,
    field: &str,
    edges: &[f64],
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let mut model = inner.model().as_ref().clone();
    let lasting = is_duration(field);
    let wanted = |ty: &TypeInfo| match ty.kind {
        TypeKind::State | TypeKind::Link { .. } => true,
        TypeKind::Event => !lasting,
        TypeKind::Variable | TypeKind::Container => false,
    };
    let what = if lasting { "type of states or links" } else { "type of states, events or links" };
    let types = pattern::types(&model, &Patterns::new(vec![of.clone()]), what, wanted)?;
    if !lasting {
        fields::check(inner.as_ref(), FieldUse::Classes, field, &types)?;
    }
    let classes = if edges.is_empty() {
        Classes::found(inner.as_ref(), field, &types)?
    } else {
        Classes::between(edges.to_vec())
    };
    let new = ValueId(model.values.len() as u32);
    let mut first = vec![None; model.types.len()];
    for ty in types {
        first[ty.index()] = Some(ValueId(model.values.len() as u32));
        let mut named = classes.named(field);
        // All have one.
        named.truncate(named.len() - usize::from(lasting));
        for (name, color) in named {
            let (id, look) = (ValueId(model.values.len() as u32), model.types[ty.index()].look);
            model.values.push(ValueInfo { id, ty, name, color, look: Look { shape: look.shape, size: look.size } });
        }
    }
    let (model, known) = (Arc::new(model), Memo::default());
    Ok(Arc::new(Classified { inner: Arc::clone(inner), model, field: field.to_owned(), classes, first, new, known }))
}

impl Classified {
    fn first(&self, ty: TypeId) -> Option<ValueId> {
        self.first.get(ty.index()).copied().flatten()
    }

    /// The value of an entity of a type whose classes begin at `first`.
    fn value(&self, first: ValueId, id: EntityId, nanos: i64) -> Result<ValueId, QueryError> {
        if is_duration(&self.field) {
            return Ok(ValueId(first.0 + u32::from(self.classes.of_nanos(nanos))));
        }
        let class = self.known.of(id, || {
            let facts = self.inner.facts(id)?;
            Ok(self.classes.of(fields::field(&facts, &self.field).as_deref()))
        })?;
        Ok(ValueId(first.0 + u32::from(class)))
    }

    fn of_state(&self, first: ValueId, state: &State) -> Result<ValueId, QueryError> {
        self.value(first, state.id, state.life.to.0.saturating_sub(state.life.from.0))
    }
}

impl Layer for Classified {
    fn inner(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    fn keeps(&self, ty: TypeId) -> bool {
        self.first(ty).is_none()
    }

    fn cells(&self, lanes: &[Lane], interval: Interval, columns: u32) -> Result<Cells, QueryError> {
        check(interval, columns)?;
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            let Some(first) = self.first(lane.ty) else {
                cells.extend(self.inner.cells(&[lane], interval, columns)?.cells);
                continue;
            };
            let mut of = Columns::new(interval, columns);
            walk::states(self.inner(), lane, interval, |state| {
                of.add(self.of_state(first, state)?, state.life);
                Ok(())
            })?;
            cells.extend(of.finish());
        }
        Ok(Cells { columns, cells })
    }

    fn states(&self, lane: Lane, interval: Interval, limit: usize) -> Result<Listed<State>, QueryError> {
        let mut listed = self.inner.states(lane, interval, limit)?;
        if let Some(first) = self.first(lane.ty) {
            for state in &mut listed.items {
                state.value = self.of_state(first, state)?;
            }
        }
        Ok(listed)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        interval: Interval,
        limit: usize,
    ) -> Result<Listed<Mark>, QueryError> {
        let mut listed = self.inner.events(container, ty, interval, limit)?;
        if let Some(first) = self.first(ty) {
            for mark in &mut listed.items {
                mark.value = self.value(first, mark.id, 0)?;
            }
        }
        Ok(listed)
    }

    fn links(&self, ty: TypeId, interval: Interval, limit: usize) -> Result<Listed<Link>, QueryError> {
        let mut listed = self.inner.links(ty, interval, limit)?;
        if let Some(first) = self.first(ty) {
            for link in &mut listed.items {
                link.value = self.value(first, link.id, link.end_time.0.saturating_sub(link.start_time.0))?;
            }
        }
        Ok(listed)
    }

    fn facts(&self, id: EntityId) -> Result<Facts, QueryError> {
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
        if value >= self.new {
            return true;
        }
        let ty = self.model.values.get(value.index()).map(|value| value.ty);
        ty.is_none_or(|ty| self.keeps(ty)) && self.inner.shows(value)
    }
}
