//! Facts of entities and relations between them. They need only the few look-ups that both the
//! store in memory and the index have.

use tumit_paje::collective::{CollectiveKind, KIND, OPERATION};
use tumit_paje::time::GlobalNanos;
use tumit_paje::time_range::TimeRange;
use tumit_paje::{ContainerId, ExtraValue, TypeId, ValueId};

use crate::query::{
    ContainerInfo, DESTINATION, EntityFacts, EntityId, LinkRow, OpenLinkEntity, OpenLinkRow, OperationPart, QueryError,
    SourceLine, TimestampExtent, TypeModel, effective_end,
};

/// An entity, looked up by its number.
#[derive(Debug)]
pub(crate) struct FoundEntity {
    pub(crate) name: String,
    pub(crate) ty: TypeId,
    pub(crate) container: ContainerId,
    pub(crate) life: TimeRange,
    /// Row of its extra fields; 0 if it has none.
    pub(crate) detail: u32,
}

/// Value of an extra field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DetailValue {
    Text(String),
    Integer(i64),
    Float(f64),
    Container(ContainerId),
}

impl From<ExtraValue<'_>> for DetailValue {
    fn from(value: ExtraValue<'_>) -> Self {
        match value {
            ExtraValue::Text(text) => Self::Text(text.to_owned()),
            ExtraValue::Integer(number) => Self::Integer(number),
            ExtraValue::Float(number) => Self::Float(number),
            ExtraValue::Container(container) => Self::Container(container),
        }
    }
}

/// Properties of an entity besides its value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EntityDetail {
    pub fields: Vec<(String, DetailValue)>,
    pub(crate) source: Option<SourceLine>,
}

impl EntityDetail {
    /// The containers to which it refers.
    fn references(&self) -> impl Iterator<Item = ContainerId> {
        self.fields.iter().filter_map(|(_, value)| match value {
            DetailValue::Container(container) => Some(*container),
            _ => None,
        })
    }
}

/// The look-ups. Lists contain at most `max_count` entities.
pub(crate) trait EntityLookup {
    fn types(&self) -> &TypeModel;
    fn container(&self, id: ContainerId) -> Result<&ContainerInfo, QueryError>;
    /// Finds an entity by its number. For a container, returns itself.
    fn find(&self, id: EntityId) -> Result<FoundEntity, QueryError>;
    /// Finds a link by its number.
    fn link(&self, number: u32) -> Option<LinkRow>;
    /// Finds a link that never ends by its number.
    fn open_link(&self, number: u32) -> Option<OpenLinkRow>;
    /// The last timestamp of the trace.
    fn end(&self) -> GlobalNanos;
    fn detail(&self, row: u32) -> EntityDetail;
    /// The first field of a row with this name, in upper or lower case.
    fn field(&self, row: u32, name: &str) -> Option<DetailValue>;
    /// The text of a link's key.
    fn key(&self, key: u64) -> String;
    /// States in a container that overlap a time range, lane by lane.
    fn states_during(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId>;
    /// States in a container that exist at a timestamp, or end or begin at it.
    fn states_at(&self, container: ContainerId, timestamp: i64, max_count: usize) -> Vec<EntityId>;
    /// States that refer to a container and overlap a time range, by start.
    fn referring_states(&self, container: ContainerId, time_range: TimeRange, max_count: usize) -> Vec<EntityId>;
    /// Links that start or end in a container at a timestamp of an extent, by that timestamp.
    fn link_ends(&self, container: ContainerId, extent: TimestampExtent, max_count: usize) -> Vec<EntityId>;
    /// All parts of a collective operation, by the time at which they enter.
    fn operation_parts(&self, operation: u64) -> Vec<OperationPart>;
}

/// Finds a link that never ends, for facts.
pub(crate) fn find_open_link(
    tables: &impl EntityLookup,
    number: u32,
    name: impl FnOnce(ValueId) -> String,
) -> Result<FoundEntity, QueryError> {
    let row = tables.open_link(number).ok_or(QueryError::Unknown { kind: "link" })?;
    let life = TimeRange { from: GlobalNanos(row.start_time), to: tables.end().max(GlobalNanos(row.start_time)) };
    Ok(FoundEntity { name: name(row.value), ty: row.ty, container: row.holder, life, detail: row.detail })
}

pub(crate) fn open_link(tables: &impl EntityLookup, number: u32, row: &OpenLinkRow) -> OpenLinkEntity {
    let destination = match tables.field(row.detail, DESTINATION) {
        Some(DetailValue::Container(container)) => Some(container),
        _ => None,
    };
    let (ty, value, start) = (row.ty, row.value, row.start);
    let (id, start_time) = (EntityId::OpenLink(number), GlobalNanos(row.start_time));
    OpenLinkEntity { id, ty, value, start_time, start, destination }
}

/// Implements [`crate::query::TimelineSource::facts`] or
/// [`facts_without_paths`](crate::query::TimelineSource::facts_without_paths).
pub(crate) fn facts(tables: &impl EntityLookup, id: EntityId, with_paths: bool) -> Result<EntityFacts, QueryError> {
    let entity = tables.find(id)?;
    let path = |container| if with_paths { container_path(tables, container) } else { Vec::new() };
    let mut fields = Vec::new();
    if let EntityId::Link(number) = id
        && let Some(row) = tables.link(number)
    {
        fields.push(("from".to_owned(), path(row.start).join(" › ")));
        fields.push(("to".to_owned(), path(row.end).join(" › ")));
        fields.push(("key".to_owned(), tables.key(row.key)));
    }
    if let EntityId::OpenLink(number) = id
        && let Some(row) = tables.open_link(number)
    {
        fields.push(("from".to_owned(), path(row.start).join(" › ")));
        fields.push(("key".to_owned(), tables.key(row.key)));
    }
    let EntityDetail { fields: extra, source } = tables.detail(entity.detail);
    fields.extend(extra.into_iter().map(|(name, value)| {
        let text = match value {
            DetailValue::Text(text) => text,
            DetailValue::Integer(number) => number.to_string(),
            DetailValue::Float(number) => number.to_string(),
            DetailValue::Container(container) => name_of(tables, container),
        };
        (name, text)
    }));
    Ok(EntityFacts {
        id,
        type_path: if with_paths { type_path(tables.types(), entity.ty) } else { Vec::new() },
        container_path: path(entity.container),
        name: entity.name,
        container: entity.container,
        life: entity.life,
        fields,
        source,
    })
}

/// The number in the first field with this name, in upper or lower case.
pub(crate) fn number_of_facts(facts: &EntityFacts, field: &str) -> Option<f64> {
    let text = facts.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
    text.and_then(|(_, text)| text.trim().parse().ok())
}

/// Implements [`crate::query::TimelineSource::number_fields`] without texts: it reads only the
/// requested field of each row.
pub(crate) fn number_fields(
    tables: &impl EntityLookup,
    ids: &[EntityId],
    field: &str,
) -> Result<Vec<Option<f64>>, QueryError> {
    let number = |id: &EntityId| {
        let row = match *id {
            EntityId::Link(_) | EntityId::OpenLink(_) if is_own_link_field(field) => {
                return Ok(number_of_facts(&facts(tables, *id, true)?, field));
            }
            EntityId::Link(number) => tables.link(number).ok_or(QueryError::Unknown { kind: "link" })?.detail,
            _ => tables.find(*id)?.detail,
        };
        Ok(tables.field(row, field).and_then(|value| number_of_value(tables, value)))
    };
    ids.iter().map(number).collect()
}

/// Whether a field of links is not stored as an extra field.
pub(crate) fn is_own_link_field(name: &str) -> bool {
    ["from", "to", "key"].iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// The number that the text of a value is.
pub(crate) fn number_of_value(tables: &impl EntityLookup, value: DetailValue) -> Option<f64> {
    match value {
        DetailValue::Text(text) => text.trim().parse().ok(),
        DetailValue::Integer(number) => Some(number as f64),
        DetailValue::Float(number) => Some(number),
        DetailValue::Container(container) => name_of(tables, container).trim().parse().ok(),
    }
}

fn name_of(tables: &impl EntityLookup, container: ContainerId) -> String {
    let name = tables.container(container).map(|info| info.name.clone());
    name.unwrap_or_else(|_| "an omitted container".to_owned())
}

/// The names on the path from the root. The root's name is left out unless it is the only one.
fn type_path(model: &TypeModel, ty: TypeId) -> Vec<String> {
    let mut path = Vec::new();
    let mut ancestor = ty;
    while let Some(info) = model.types.get(ancestor.index()) {
        if ancestor == TypeId::ROOT && !path.is_empty() {
            break;
        }
        path.push(info.name.clone());
        if info.parent >= ancestor {
            break;
        }
        ancestor = info.parent;
    }
    path.reverse();
    path
}

fn container_path(tables: &impl EntityLookup, container: ContainerId) -> Vec<String> {
    let mut path = Vec::new();
    let mut ancestor = container;
    while let Ok(info) = tables.container(ancestor) {
        if ancestor == ContainerId::ROOT && !path.is_empty() {
            break;
        }
        path.push(info.name.clone());
        if info.parent >= ancestor {
            break;
        }
        ancestor = info.parent;
    }
    path.reverse();
    path
}

/// Implements [`crate::query::TimelineSource::related_entities`], by these rules:
///
/// - a state or event that refers to containers: these containers, and their states that overlap
///   it;
/// - a state: the states that refer to its container and overlap it, and the links that start or
///   end in its container between its first and last timestamp, both included. The other parts of
///   its collective operation are an answer of their own ([`operation_parts`]);
/// - a link: the states of its two containers at its two timestamps, including states that end or
///   begin there; a link that never ends has one of each;
/// - an event: the states of its container at its timestamp, likewise;
/// - a container: the states that refer to it.
pub(crate) fn related_entities(
    tables: &impl EntityLookup,
    id: EntityId,
    limit: usize,
) -> Result<Vec<EntityId>, QueryError> {
    let entity = tables.find(id)?;
    let (from, to) = (entity.life.from, entity.life.to);
    let low = from.min(to);
    let time_range = TimeRange { from: low, to: GlobalNanos(effective_end(low.0, from.max(to).0)) };
    let mut collector = EntityCollector { entities: Vec::new(), limit, origin: id };
    // A list may contain an entity twice, and entities that were found before.
    let max_count = limit.saturating_add(1).saturating_mul(2);
    // A reference may point to a container that the simulation left out.
    let detail = tables.detail(entity.detail);
    for container in detail.references().filter(|&container| tables.container(container).is_ok()) {
        collector.add(vec![EntityId::Container(container)]);
        collector.add(tables.states_during(container, time_range, max_count));
    }
    match id {
        EntityId::Container(container) => collector.add(tables.referring_states(container, time_range, max_count)),
        EntityId::State(_) => {
            collector.add(tables.referring_states(entity.container, time_range, max_count));
            collector.add(tables.link_ends(entity.container, TimestampExtent { first: from.0, last: to.0 }, max_count));
        }
        EntityId::Link(link) => {
            if let Some(row) = tables.link(link) {
                collector.add(tables.states_at(row.start, row.start_time, max_count));
                collector.add(tables.states_at(row.end, row.end_time, max_count));
            }
        }
        EntityId::OpenLink(number) => {
            if let Some(row) = tables.open_link(number) {
                collector.add(tables.states_at(row.start, row.start_time, max_count));
            }
        }
        EntityId::Event(_) => collector.add(tables.states_at(entity.container, from.0, max_count)),
        EntityId::Sample(_) => {}
    }
    Ok(collector.entities)
}

/// Implements [`crate::query::TimelineSource::operation_parts`].
pub(crate) fn operation_parts(tables: &impl EntityLookup, id: EntityId) -> Result<Vec<OperationPart>, QueryError> {
    let row = tables.find(id)?.detail;
    if !matches!(id, EntityId::State(_)) || row == 0 {
        return Ok(Vec::new());
    }
    let operation = operation_number(|name| tables.field(row, name));
    Ok(operation.map_or_else(Vec::new, |operation| tables.operation_parts(operation)))
}

/// The operation of a state with these fields. `None` if it is no part of a known operation.
pub(crate) fn operation_number(field: impl Fn(&str) -> Option<DetailValue>) -> Option<u64> {
    let Some(DetailValue::Text(kind)) = field(KIND) else { return None };
    CollectiveKind::of_word(&kind)?;
    match field(OPERATION)? {
        DetailValue::Integer(number) => u64::try_from(number).ok(),
        DetailValue::Text(text) => text.parse().ok(),
        DetailValue::Float(_) | DetailValue::Container(_) => None,
    }
}

/// Collects entities without repetition, up to a limit.
struct EntityCollector {
    entities: Vec<EntityId>,
    limit: usize,
    origin: EntityId,
}

impl EntityCollector {
    fn add(&mut self, entities: Vec<EntityId>) {
        for entity in entities {
            if self.entities.len() >= self.limit {
                break;
            }
            if entity != self.origin && !self.entities.contains(&entity) {
                self.entities.push(entity);
            }
        }
    }
}
