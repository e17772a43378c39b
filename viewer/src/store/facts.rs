//! Everything about one entity.

use converter::paje::{ContainerId, TypeId};

use super::details::FieldValue;
use super::links::LinkTable;
use super::marks::MarkLane;
use super::states::StateLane;
use super::variables::VariableLane;
use super::{Store, life};
use crate::query::{EntityId, Facts, Interval, QueryError};

/// An entity found by its number.
pub(super) struct Found {
    pub(super) name: String,
    pub(super) ty: TypeId,
    pub(super) container: ContainerId,
    pub(super) life: Interval,
    pub(super) detail: u32,
}

/// A list of entities with consecutive numbers.
pub(super) trait Numbered {
    /// The first number.
    fn base(&self) -> u32;
    /// How many.
    fn len(&self) -> usize;
}

macro_rules! numbered {
    ($($lane:ty),*) => {$(
        impl Numbered for $lane {
            fn base(&self) -> u32 {
                self.base
            }

            fn len(&self) -> usize {
                self.len()
            }
        }
    )*};
}

numbered!(StateLane, MarkLane, LinkTable, VariableLane);

/// The lane whose numbers include `number`, and the position in it. `lanes` are by base; empty ones share it.
pub(super) fn locate<L: Numbered>(lanes: &[L], number: u32) -> Option<(&L, usize)> {
    let after = lanes.partition_point(|lane| lane.base() <= number);
    let lane = &lanes[after.checked_sub(1)?];
    let index = (number - lane.base()) as usize;
    (index < lane.len()).then_some((lane, index))
}

impl Store {
    pub(super) fn facts_of(&self, id: EntityId) -> Result<Facts, QueryError> {
        let found = self.find(id)?;
        let mut fields = Vec::new();
        if let EntityId::Link(number) = id
            && let Some((table, index)) = locate(&self.links, number)
        {
            let row = &table.rows[index];
            fields.push(("from".to_owned(), self.container_path(row.start).join(" › ")));
            fields.push(("to".to_owned(), self.container_path(row.end).join(" › ")));
            fields.push(("key".to_owned(), self.details.key(row.key)));
        }
        for (name, value) in self.details.fields(found.detail) {
            let text = match value {
                FieldValue::Text(text) => self.details.text(text).to_owned(),
                FieldValue::Integer(number) => number.to_string(),
                FieldValue::Float(number) => number.to_string(),
                FieldValue::Container(container) => self.name_of(container),
            };
            fields.push((name.to_owned(), text));
        }
        Ok(Facts {
            id,
            type_path: self.type_path(found.ty),
            container_path: self.container_path(found.container),
            name: found.name,
            container: found.container,
            life: found.life,
            fields,
            source: self.details.source(found.detail),
        })
    }

    pub(super) fn find(&self, id: EntityId) -> Result<Found, QueryError> {
        match id {
            EntityId::Container(container) => {
                let info = self.container(container)?;
                let detail = self.container_details.get(container.index()).copied().unwrap_or(0);
                Ok(Found { name: info.name.clone(), ty: info.ty, container, life: info.life, detail })
            }
            EntityId::State(number) => {
                let (lane, index) = locate(&self.states, number).ok_or(QueryError::Unknown { what: "state" })?;
                Ok(Found {
                    name: self.value_name(lane.value(index)),
                    ty: lane.ty,
                    container: lane.container,
                    life: life(lane.start(index), lane.end(index)),
                    detail: lane.detail(index),
                })
            }
            EntityId::Event(number) => {
                let (lane, index) = locate(&self.marks, number).ok_or(QueryError::Unknown { what: "event" })?;
                Ok(Found {
                    name: self.value_name(lane.value(index)),
                    ty: lane.ty,
                    container: lane.container,
                    life: life(lane.date(index), lane.date(index)),
                    detail: lane.detail(index),
                })
            }
            EntityId::Link(number) => {
                let (table, index) = locate(&self.links, number).ok_or(QueryError::Unknown { what: "link" })?;
                let row = &table.rows[index];
                Ok(Found {
                    name: self.value_name(row.value),
                    ty: table.ty,
                    container: row.holder,
                    life: life(row.start_time, row.end_time),
                    detail: row.detail,
                })
            }
            EntityId::Sample(number) => {
                let (lane, index) = locate(&self.variables, number).ok_or(QueryError::Unknown { what: "sample" })?;
                Ok(Found {
                    name: lane.value(index).to_string(),
                    ty: lane.ty,
                    container: lane.container,
                    life: life(lane.start(index), lane.end(index)),
                    detail: 0,
                })
            }
        }
    }

    pub(super) fn value_name(&self, value: converter::paje::ValueId) -> String {
        self.model.values.get(value.index()).map(|value| value.name.clone()).unwrap_or_default()
    }

    pub(super) fn name_of(&self, container: ContainerId) -> String {
        self.container(container).map_or_else(|_| "a container that was left out".to_owned(), |info| info.name.clone())
    }

    /// Names from the root, which is left out unless it is all there is.
    fn type_path(&self, ty: TypeId) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = ty;
        while let Some(info) = self.model.types.get(at.index()) {
            if at == TypeId::ROOT && !path.is_empty() {
                break;
            }
            path.push(info.name.clone());
            if info.parent >= at {
                break;
            }
            at = info.parent;
        }
        path.reverse();
        path
    }

    fn container_path(&self, container: ContainerId) -> Vec<String> {
        let mut path = Vec::new();
        let mut at = container;
        while let Ok(info) = self.container(at) {
            if at == ContainerId::ROOT && !path.is_empty() {
                break;
            }
            path.push(info.name.clone());
            if info.parent >= at {
                break;
            }
            at = info.parent;
        }
        path.reverse();
        path
    }
}
