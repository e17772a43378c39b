//! The fields of entities: extra fields and the fields that every entity can have.

use std::collections::BTreeSet;

pub use super::error::FilterError;
pub use super::pattern::FieldUse;
use crate::query::{
    EntityFacts, EntityId, GlobalNanos, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId,
};

/// Maximum number of entities that are searched for a field. If none has it, others still can.
const MAX_EXAMINED: usize = 20_000;

/// Returns an error if no entity of these types has the field.
pub fn check(source: &dyn TimelineSource, usage: FieldUse, name: &str, types: &[TypeId]) -> Result<(), FilterError> {
    if COMMON_FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let search = FieldSearch::run(source, types, &|facts| field(facts, name).is_some())?;
    // Without entities, the fields are unknown.
    if search.has_match || search.examined == 0 || search.examined >= MAX_EXAMINED {
        return Ok(());
    }
    let names: Vec<&str> = search.names.iter().map(String::as_str).chain(COMMON_FIELDS).collect();
    Err(FilterError::no_field(usage, name, &names))
}

/// Whether one of the first entities has an extra field of this name. Links have fields `from` and
/// `to`, so links only count if `with_links`.
pub(crate) fn has_own(
    source: &dyn TimelineSource,
    name: &str,
    types: &[TypeId],
    with_links: bool,
) -> Result<bool, FilterError> {
    let model = source.model();
    let is_link =
        |ty: &TypeId| model.types.get(ty.index()).is_some_and(|ty| matches!(ty.kind, PajeTypeKind::Link { .. }));
    let types: Vec<TypeId> = types.iter().copied().filter(|ty| with_links || !is_link(ty)).collect();
    let has = |facts: &EntityFacts| facts.fields.iter().any(|field| field.0.eq_ignore_ascii_case(name));
    Ok(FieldSearch::run(source, &types, &has)?.has_match)
}

/// The search for a field among the first entities of some types.
#[derive(Default)]
struct FieldSearch {
    has_match: bool,
    /// Number of entities that were searched.
    examined: usize,
    /// The names of the extra fields of these entities.
    names: BTreeSet<String>,
}

impl FieldSearch {
    fn run(
        source: &dyn TimelineSource,
        types: &[TypeId],
        has_field: &dyn Fn(&EntityFacts) -> bool,
    ) -> Result<Self, FilterError> {
        let (model, list, extent) = (source.model(), source.containers(), source.extent());
        let time_range = TimeRange { to: GlobalNanos(extent.to.0.saturating_add(1)), ..extent };
        let mut search = Self::default();
        for &ty in types {
            let kind = model.types.get(ty.index()).map_or(PajeTypeKind::Container, |ty| ty.kind);
            if matches!(kind, PajeTypeKind::Link { .. }) {
                let links = source.links(ty, time_range, MAX_EXAMINED)?;
                if search.ends(source, &mut links.items.iter().map(|link| link.id), links.total, has_field)? {
                    return Ok(search);
                }
            }
            for info in list.iter() {
                let depths = if kind == PajeTypeKind::State { source.depths(info.id, ty) } else { 0 };
                for depth in 0..depths {
                    let states =
                        source.states(StateLaneId { container: info.id, ty, depth }, time_range, MAX_EXAMINED)?;
                    if search.ends(source, &mut states.items.iter().map(|state| state.id), states.total, has_field)? {
                        return Ok(search);
                    }
                }
                if kind == PajeTypeKind::Event {
                    let events = source.events(info.id, ty, time_range, MAX_EXAMINED)?;
                    if search.ends(source, &mut events.items.iter().map(|mark| mark.id), events.total, has_field)? {
                        return Ok(search);
                    }
                }
            }
        }
        Ok(search)
    }

    /// Searches some entities. Returns whether the search is over.
    fn ends(
        &mut self,
        source: &dyn TimelineSource,
        ids: &mut dyn Iterator<Item = EntityId>,
        total: u64,
        has_field: &dyn Fn(&EntityFacts) -> bool,
    ) -> Result<bool, QueryError> {
        self.examined += usize::try_from(total).unwrap_or(usize::MAX).min(MAX_EXAMINED);
        for id in ids {
            let facts = source.facts(id)?;
            if has_field(&facts) {
                self.has_match = true;
                return Ok(true);
            }
            self.names.extend(facts.fields.into_iter().map(|field| field.0));
        }
        Ok(self.examined >= MAX_EXAMINED)
    }
}

/// The fields that every entity can have.
const COMMON_FIELDS: [&str; 4] = ["file", "line", "value", "container"];

/// A field of an entity as text: an extra field of this name, or `file`, `line`, `value` or
/// `container`. Case is ignored.
///
/// ```
/// use tumit_viewer::filter::language::entity_fields::field;
/// use tumit_viewer::query::{EntityId, TimelineSource};
///
/// # let header = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/header.paje"));
/// # let body = "0 T 0 Thread\n2 S T Activity\n5 w S work \"0 1 0\"\n6 0 t 0 T main\n\
/// #             11 0 t S w\n14 2 t S\n7 3 T t\n";
/// # let trace = format!("{header}{body}");
/// # let store = tumit_viewer::store::TraceStore::from_paje("example", trace.as_bytes())?;
/// let facts = store.facts(EntityId::State(0))?;
/// assert_eq!(field(&facts, "Value").as_deref(), Some("work"));
/// assert_eq!(field(&facts, "bytes"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn field(facts: &EntityFacts, name: &str) -> Option<String> {
    let exact = facts.fields.iter().find(|field| field.0 == name);
    if let Some((_, text)) = exact.or_else(|| facts.fields.iter().find(|field| field.0.eq_ignore_ascii_case(name))) {
        return Some(text.clone());
    }
    match name.to_ascii_lowercase().as_str() {
        "file" => facts.source.as_ref().map(|source| source.file.clone()),
        "line" => facts.source.as_ref().map(|source| source.line.to_string()),
        "value" => Some(facts.name.clone()),
        "container" => Some(facts.container_path.join("/")),
        _ => None,
    }
}
