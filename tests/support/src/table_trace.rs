//! A trace in plain tables that answers queries by scanning everything: a replacement for the
//! store, and its oracle.

use std::collections::BTreeMap;
use std::sync::Arc;

use tumit_viewer::query::*;

mod example_program;

pub use example_program::{DiceRoller, example_program};

/// A trace as plain lists. Its queries search the lists.
#[derive(Debug, Default)]
pub struct TableTrace {
    /// Name of the trace.
    pub name: String,
    /// Types and values.
    pub model: TypeModel,
    /// Containers, depth first.
    pub containers: Vec<ContainerInfo>,
    /// States of all containers.
    pub states: Vec<(ContainerId, TypeId, StateEntity)>,
    /// Point events of all containers.
    pub events: Vec<(ContainerId, TypeId, EventEntity)>,
    /// Links of all types.
    pub links: Vec<LinkEntity>,
    /// Values of variables of all containers.
    pub samples: Vec<(ContainerId, TypeId, VariableSample)>,
    /// End of the trace in nanoseconds.
    pub end: i64,
}

/// A timestamp.
#[must_use]
pub fn at(nanos: i64) -> GlobalNanos {
    GlobalNanos(nanos)
}

/// A half-open time range in nanoseconds.
#[must_use]
pub fn time_range_of(from: i64, to: i64) -> TimeRange {
    TimeRange { from: at(from), to: at(to) }
}

impl TableTrace {
    /// A trace with only a root container.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let root = TypeInfo {
            id: TypeId::ROOT,
            kind: PajeTypeKind::Container,
            parent: TypeId::ROOT,
            name: "Root".into(),
            color: None,
            style: DrawStyle::NONE,
        };
        let mut tables = Self { name: name.into(), ..Self::default() };
        tables.model.types.push(root);
        tables.containers.push(ContainerInfo {
            id: ContainerId::ROOT,
            ty: TypeId::ROOT,
            parent: ContainerId::ROOT,
            depth: 0,
            name: name.into(),
            life: time_range_of(0, 0),
        });
        tables
    }

    /// Adds a type.
    pub fn ty(&mut self, kind: PajeTypeKind, parent: TypeId, name: &str, color: Option<u32>) -> TypeId {
        let id = TypeId(self.model.types.len() as u32);
        self.model.types.push(TypeInfo {
            id,
            kind,
            parent,
            name: name.into(),
            color: color.map(tumit_viewer::style::theme::rgb),
            style: DrawStyle::NONE,
        });
        id
    }

    /// Adds a value of a type.
    pub fn value(&mut self, ty: TypeId, name: &str, color: u32) -> ValueId {
        let id = ValueId(self.model.values.len() as u32);
        self.model.values.push(ValueInfo {
            id,
            ty,
            name: name.into(),
            color: tumit_viewer::style::theme::rgb(color),
            style: DrawStyle::NONE,
            category: None,
        });
        id
    }

    /// Adds a container. Must be called in depth-first order.
    pub fn container(&mut self, ty: TypeId, parent: ContainerId, name: &str) -> ContainerId {
        let id = ContainerId(self.containers.len() as u32);
        let depth = self.containers[parent.index()].depth + 1;
        self.containers.push(ContainerInfo { id, ty, parent, depth, name: name.into(), life: time_range_of(0, 0) });
        id
    }

    /// Adds a state.
    pub fn state(&mut self, container: ContainerId, ty: TypeId, value: ValueId, depth: u32, from: i64, to: i64) {
        let id = EntityId::State(self.states.len() as u32);
        self.end = self.end.max(to);
        self.states.push((container, ty, StateEntity { id, value, life: time_range_of(from, to), depth }));
    }

    /// Adds a point event.
    pub fn event(&mut self, container: ContainerId, ty: TypeId, value: ValueId, time: i64) {
        let id = EntityId::Event(self.events.len() as u32);
        self.events.push((container, ty, EventEntity { id, value, time: at(time) }));
    }

    /// Adds a link.
    pub fn link(&mut self, ty: TypeId, value: ValueId, from: (ContainerId, i64), to: (ContainerId, i64)) {
        let id = EntityId::Link(self.links.len() as u32);
        self.links.push(LinkEntity {
            id,
            ty,
            value,
            start_time: at(from.1),
            end_time: at(to.1),
            start: from.0,
            end: to.0,
        });
    }

    /// Adds the values of a variable. Each lasts until the next, and the last until the end.
    pub fn curve(&mut self, container: ContainerId, ty: TypeId, values: &[(i64, f64)]) {
        for (index, &(from, value)) in values.iter().enumerate() {
            let to = values.get(index + 1).map_or(self.end, |next| next.0);
            let id = EntityId::Sample(self.samples.len() as u32);
            self.samples.push((container, ty, VariableSample { id, life: time_range_of(from, to), value }));
        }
    }

    fn path(&self, mut id: ContainerId) -> Vec<String> {
        let mut names = vec![self.containers[id.index()].name.clone()];
        while id != ContainerId::ROOT {
            id = self.containers[id.index()].parent;
            names.push(self.containers[id.index()].name.clone());
        }
        names.reverse();
        names
    }
}

fn overlap(a: TimeRange, b: TimeRange) -> i64 {
    (a.to.0.min(b.to.0) - a.from.0.max(b.from.0)).max(0)
}

fn entity_list<T>(items: impl Iterator<Item = T>, limit: usize) -> Result<EntityList<T>, QueryError> {
    let mut items: Vec<T> = items.collect();
    let total = items.len() as u64;
    items.truncate(limit);
    Ok(EntityList { total, items })
}

impl TimelineSource for TableTrace {
    fn summary(&self) -> TraceSummary {
        TraceSummary {
            name: self.name.clone(),
            extent: time_range_of(0, self.end),
            containers: self.containers.len() as u64 - 1,
            states: self.states.len() as u64,
            events: self.events.len() as u64,
            links: self.links.len() as u64,
            samples: self.samples.len() as u64,
            diagnostics: Vec::new(),
            wall_clock: None,
            generation: 1,
        }
    }

    fn model(&self) -> Arc<TypeModel> {
        Arc::new(self.model.clone())
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::new(self.containers.clone())
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        self.states.iter().filter(|s| s.0 == container && s.1 == ty).map(|s| s.2.depth + 1).max().unwrap_or(0)
    }

    fn cells(&self, lanes: &[StateLaneId], of: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        let mut cells = Vec::new();
        let (from, length) = (i128::from(of.from.0), i128::from(of.to.0 - of.from.0));
        let edge = |column: u32| (from + length * i128::from(column) / i128::from(columns)) as i64;
        for lane in lanes {
            let states = self.states(*lane, of, usize::MAX)?.items;
            for column in 0..columns {
                let mut shares = BTreeMap::new();
                for state in &states {
                    *shares.entry(state.value).or_insert(0) +=
                        overlap(state.life, time_range_of(edge(column), edge(column + 1)));
                }
                let mut shares: Vec<_> = shares.into_iter().filter(|share| share.1 > 0).collect();
                shares.sort_by_key(|share| -share.1);
                cells.push(MixtureCell { shares: shares.into(), unlisted_time: 0 });
            }
        }
        Ok(MixtureCells { columns, cells })
    }

    fn states(&self, lane: StateLaneId, of: TimeRange, limit: usize) -> Result<EntityList<StateEntity>, QueryError> {
        let mine = |s: &&(ContainerId, TypeId, StateEntity)| {
            s.0 == lane.container && s.1 == lane.ty && s.2.depth == lane.depth
        };
        entity_list(self.states.iter().filter(mine).map(|s| s.2).filter(|s| overlap(s.life, of) > 0), limit)
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        of: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        let mine = self.events.iter().filter(|e| e.0 == container && e.1 == ty).map(|e| e.2);
        entity_list(mine.filter(|e| e.time >= of.from && e.time < of.to), limit)
    }

    fn links(&self, ty: TypeId, of: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        entity_list(
            self.links.iter().copied().filter(|l| l.ty == ty && l.start_time < of.to && l.end_time >= of.from),
            limit,
        )
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        of: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        let mine = self.samples.iter().filter(|s| s.0 == container && s.1 == ty).map(|s| s.2);
        entity_list(mine.filter(|s| overlap(s.life, of) > 0), limit)
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        of: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        let step = ((of.to.0 - of.from.0) / i64::from(columns)).max(1);
        let column = |place: u32| {
            let from = of.from.0 + i64::from(place) * step;
            let samples = self.samples(container, ty, time_range_of(from, from + step), usize::MAX).unwrap().items;
            let values = samples.iter().map(|sample| sample.value);
            let (min, max) = (values.clone().fold(f64::MAX, f64::min), values.clone().fold(f64::MIN, f64::max));
            let mean = values.sum::<f64>() / samples.len() as f64;
            (!samples.is_empty()).then_some(SeriesColumn { min, max, mean })
        };
        Ok((0..columns).map(column).collect())
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        let values = self.samples.iter().filter(|s| s.1 == ty).map(|s| s.2.value);
        let none = ValueRange { min: f64::MAX, max: f64::MIN };
        let join = |range: ValueRange, value: f64| ValueRange { min: range.min.min(value), max: range.max.max(value) };
        let range = values.fold(none, join);
        (range.min <= range.max).then_some(range)
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        let unknown = QueryError::Unknown { kind: "entity" };
        let (container, ty, life, value) = match id {
            EntityId::State(number) => {
                let (container, ty, state) = self.states.get(number as usize).ok_or(unknown)?;
                (*container, *ty, state.life, Some(state.value))
            }
            EntityId::Link(number) => {
                let link = self.links.get(number as usize).ok_or(unknown)?;
                (link.start, link.ty, TimeRange { from: link.start_time, to: link.end_time }, Some(link.value))
            }
            EntityId::Container(id) => {
                let info = self.containers.get(id.index()).ok_or(unknown)?;
                (id, info.ty, info.life, None)
            }
            _ => return Err(unknown),
        };
        let container_name = || self.containers[container.index()].name.clone();
        Ok(EntityFacts {
            id,
            name: value.map_or_else(container_name, |value| self.model.values[value.index()].name.clone()),
            type_path: vec![self.model.types[ty.index()].name.clone()],
            container_path: self.path(container),
            container,
            life,
            fields: vec![("Bytes".into(), "4096".into())],
            source: None,
        })
    }

    fn related_entities(&self, _: EntityId, _: usize) -> Result<Vec<EntityId>, QueryError> {
        Ok(Vec::new())
    }
}
