//! [`EventList`]: the chosen events of a trace, with columns of their fields.

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_viewer::query::{ContainerId, EntityId, PajeTypeKind, QueryError, ValueId, entity_walk};

use super::event_choice::EntityChoice;
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// Events per request for fields, so that the fields of few events are in memory at a time.
const AT_ONCE: usize = 1 << 14;
/// Maximum number of events of a list. They take about 2 GB.
const MAX_EVENTS: u64 = 1 << 26;
/// Number of events that an error reads for its list of fields. Events of a type usually have the
/// same fields.
const EXAMINED: usize = 16;

/// The chosen events of the whole trace, by time.
#[derive(Debug, Default)]
pub(super) struct EventList {
    pub(super) times: Vec<i64>,
    pub(super) containers: Vec<ContainerId>,
    pub(super) values: Vec<ValueId>,
    ids: Vec<EntityId>,
    key: String,
}

/// A field with few different values, as indexes of their texts.
#[derive(Debug, Default)]
pub(super) struct KeyColumn {
    /// The index of the text of each event. `None`: the event has no such field.
    pub(super) keys: Vec<Option<u32>>,
    pub(super) names: Vec<String>,
}

/// The order of names: numbers by value, before all others.
pub(super) fn by_name(a: &str, b: &str) -> Ordering {
    let number = |name: &str| name.parse().unwrap_or(f64::INFINITY);
    number(a).total_cmp(&number(b)).then_with(|| a.cmp(b))
}

impl KeyColumn {
    /// Sorts the texts by name.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.names.len()).collect();
        order.sort_by(|a, b| by_name(&self.names[*a], &self.names[*b]));
        let mut places = vec![0; order.len()];
        (0..).zip(&order).for_each(|(place, key)| places[*key] = place);
        self.keys.iter_mut().flatten().for_each(|key| *key = places[*key as usize]);
        self.names = order.into_iter().map(|key| std::mem::take(&mut self.names[key])).collect();
    }
}

impl EventList {
    /// The chosen events.
    ///
    /// # Errors
    /// If a pattern matches no name, or the trace has none of these events.
    pub(super) fn of(execution: &Execution, choice: &EntityChoice) -> Result<Arc<Self>, PerspectiveError> {
        let key = format!("{choice:?}");
        let list = execution.derived(&key, || Self::read(execution, choice, key.clone()))?;
        if list.times.is_empty() {
            return Err(PerspectiveError::NoData {
                missing_data: "the events that the card names".to_owned(),
                remedy: "record them, or remove filters that hide them".to_owned(),
            });
        }
        Ok(list)
    }

    fn read(execution: &Execution, choice: &EntityChoice, key: String) -> Result<Self, PerspectiveError> {
        let chosen = choice.lists(execution, ("event type", PajeTypeKind::Event))?;
        let extent = execution.extent();
        let mut range = extent;
        range.to.0 = extent.to.0.saturating_add(1);
        let mut count = 0;
        for (container, ty) in &chosen.lists {
            count += execution.source().events(*container, *ty, range, 0)?.total;
        }
        if count > MAX_EVENTS {
            return Err(PerspectiveError::TooManyEvents { count, limit: MAX_EVENTS });
        }
        let mut found: Vec<(i64, ContainerId, ValueId, EntityId)> = Vec::new();
        for (container, ty) in &chosen.lists {
            entity_walk::events(execution.source(), (*container, *ty), range, |event| {
                if chosen.contains(event.value) {
                    found.push((event.time.0, *container, event.value, event.id));
                }
                Ok(())
            })?;
        }
        // Events with equal timestamps keep the order of their containers.
        found.sort_by_key(|event| event.0);
        let mut list = Self { key, ..Self::default() };
        for (time, container, value, id) in found {
            list.times.push(time);
            list.containers.push(container);
            list.values.push(value);
            list.ids.push(id);
        }
        Ok(list)
    }

    /// An event for further queries.
    pub(super) fn entity(&self, index: usize) -> EntityId {
        self.ids[index]
    }

    /// The number of events at or before a time.
    pub(super) fn count_until(&self, time: i64) -> usize {
        self.times.partition_point(|event| *event <= time)
    }

    /// The number in a field of each event. It is not a number if the event has no such field.
    ///
    /// # Errors
    /// If no event has a number in the field.
    pub(super) fn numbers(&self, execution: &Execution, field: &str) -> Result<Arc<Vec<f64>>, PerspectiveError> {
        execution.derived(&format!("{} {field}", self.key), || {
            let mut numbers = Vec::with_capacity(self.ids.len());
            for some in self.ids.chunks(AT_ONCE) {
                let found = execution.source().number_fields(some, field)?;
                numbers.extend(found.into_iter().map(|number| number.filter(|n| n.is_finite()).unwrap_or(f64::NAN)));
            }
            if numbers.iter().all(|number| number.is_nan()) {
                return Err(self.no_field(execution, field)?);
            }
            Ok(numbers)
        })
    }

    /// The text of a field of each event.
    ///
    /// # Errors
    /// If no event has the field.
    pub(super) fn keys(&self, execution: &Execution, field: &str) -> Result<Arc<KeyColumn>, PerspectiveError> {
        execution.derived(&format!("{} {field}", self.key), || {
            let (mut column, mut known) = (KeyColumn::default(), FxHashMap::default());
            for id in &self.ids {
                let facts = execution.source().facts_without_paths(*id)?;
                let text = facts.fields.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(field));
                let key = text.map(|(_, text)| {
                    let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
                    *known.entry(text).or_insert_with_key(|text| {
                        column.names.push(text.clone());
                        next
                    })
                });
                column.keys.push(key);
            }
            if column.names.is_empty() {
                return Err(self.no_field(execution, field)?);
            }
            column.sort();
            Ok(column)
        })
    }

    /// The error of a field that no event has.
    fn no_field(&self, execution: &Execution, field: &str) -> Result<PerspectiveError, QueryError> {
        let mut names: Vec<String> = Vec::new();
        for id in self.ids.iter().take(EXAMINED) {
            names.extend(execution.source().facts(*id)?.fields.into_iter().map(|(name, _)| name));
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Ok(PerspectiveError::no_match("field of these events", field, &names))
    }
}
