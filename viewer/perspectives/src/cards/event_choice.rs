//! [`EntityChoice`]: the entities of a trace that a card shows, chosen by names.

use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{ContainerId, PajeTypeKind, TypeId, ValueId};

use super::card_fault::CardFault;
use super::card_table::CardTable;
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The keys of a choice.
pub(super) const CHOICE_KEYS: [&str; 3] = ["type", "value", "container"];

/// Entities, chosen by the names of their type, value and container. Without a pattern, all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EntityChoice {
    pub(super) ty: Option<NamePattern>,
    pub(super) value: Option<NamePattern>,
    pub(super) container: Option<NamePattern>,
}

/// A container and a type of entities in it.
pub(super) type ListId = (ContainerId, TypeId);

/// The lists with the chosen entities, and the chosen values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ChosenLists {
    pub(super) lists: Vec<ListId>,
    /// For each value of the trace, whether it is chosen. `None`: all are.
    values: Option<Vec<bool>>,
}

impl ChosenLists {
    pub(super) fn contains(&self, value: ValueId) -> bool {
        self.values.as_ref().is_none_or(|values| values.get(value.index()).copied().unwrap_or(false))
    }

    /// Whether all values are chosen.
    pub(super) fn has_all_values(&self) -> bool {
        self.values.is_none()
    }
}

impl EntityChoice {
    /// Reads the keys `type`, `value` and `container`.
    pub(super) fn read(table: &CardTable<'_>) -> Result<Self, CardFault> {
        Ok(Self { ty: table.pattern("type")?, value: table.pattern("value")?, container: table.pattern("container")? })
    }

    /// The chosen lists of a kind of entities.
    ///
    /// # Errors
    /// If a pattern matches no name of the trace.
    pub(super) fn lists(
        &self,
        execution: &Execution,
        kind: (&'static str, PajeTypeKind),
    ) -> Result<ChosenLists, PerspectiveError> {
        let (source, model) = (execution.source(), execution.model());
        let of_kind: Vec<TypeId> = model.types.iter().filter(|ty| ty.kind == kind.1).map(|ty| ty.id).collect();
        let names = |ty: &TypeId| model.types[ty.index()].name.as_str();
        let types = matching_items(kind.0, self.ty.as_ref(), of_kind, names)?;
        let values = match &self.value {
            None => None,
            Some(pattern) => {
                let of_types = model.values.iter().filter(|value| types.contains(&value.ty)).map(|value| value.id);
                let names = |value: &ValueId| model.values[value.index()].name.as_str();
                let chosen = matching_items("value", Some(pattern), of_types.collect(), names)?;
                let mut flags = vec![false; model.values.len()];
                chosen.iter().for_each(|value| flags[value.index()] = true);
                Some(flags)
            }
        };
        let all = source.containers();
        let containers =
            matching_items("container", self.container.as_ref(), (0..all.len()).collect(), |index: &usize| {
                all[*index].name.as_str()
            })?;
        let mut lists = Vec::new();
        for index in containers {
            let container = all[index].id;
            let container_types = source.types_in(container);
            let is_in_container = |ty: &&TypeId| container_types.as_ref().is_none_or(|list| list.contains(ty));
            lists.extend(types.iter().filter(is_in_container).map(|ty| (container, *ty)));
        }
        Ok(ChosenLists { lists, values })
    }
}

/// The items with names that match a pattern. Without a match, upper and lower case are equal.
fn matching_items<'a, T: Copy>(
    kind: &'static str,
    pattern: Option<&NamePattern>,
    items: Vec<T>,
    name: impl Fn(&T) -> &'a str,
) -> Result<Vec<T>, PerspectiveError> {
    let Some(pattern) = pattern else { return Ok(items) };
    let exact: Vec<T> = items.iter().copied().filter(|item| pattern.fits(name(item))).collect();
    if !exact.is_empty() {
        return Ok(exact);
    }
    let lower = NamePattern::new(pattern.as_str().to_lowercase());
    let folded: Vec<T> = items.iter().copied().filter(|item| lower.fits(&name(item).to_lowercase())).collect();
    if !folded.is_empty() {
        return Ok(folded);
    }
    let names: Vec<&str> = items.iter().map(name).collect();
    Err(PerspectiveError::no_match(kind, pattern.as_str(), &names))
}
