//! [`EntityGatherer`]: stores all entities, for a [`TraceStore`](crate::store::TraceStore).

use std::collections::BTreeMap;
use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, SourcePosition, TypeId, ValueId};
use tumit_spill::endpoint_map::OverflowStore;

use super::entity_sink::{EndedLink, EndedState, EntityPlace, EntitySink, OpenLinkStart};
use crate::query::TimeRange;
use crate::query::{LinkRow, OpenLinkRow};
use crate::store::{DetailTable, RawLane, RawMarks, RawStates, RawVariable};

/// Entities by place.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct EntityGatherer {
    pub(crate) states: Vec<RawStates>,
    pub(crate) marks: Vec<RawMarks>,
    pub(crate) variables: Vec<RawVariable>,
    /// Types in order of first use, with their links.
    pub(crate) links: Vec<(TypeId, Vec<LinkRow>)>,
    /// Index in `links` by type.
    places_of_links: BTreeMap<TypeId, u32>,
    pub(crate) open_links: Vec<OpenLinkRow>,
    pub(crate) details: DetailTable,
}

/// The list of a place. Empty lists are added for places before it.
fn list<T>(lists: &mut Vec<T>, number: u32, make_empty: impl Fn() -> T) -> &mut T {
    let index = number as usize;
    if lists.len() <= index {
        lists.resize_with(index + 1, make_empty);
    }
    &mut lists[index]
}

impl EntitySink for EntityGatherer {
    /// Entity numbers have 32 bits.
    const MOST: u64 = u32::MAX as u64;

    /// All endpoints stay in memory.
    fn overflow(&self) -> OverflowStore {
        OverflowStore { max_entries: usize::MAX, ..OverflowStore::default() }
    }

    fn can_restart(&self) -> bool {
        true
    }

    fn restart(&mut self) -> io::Result<()> {
        *self = Self::default();
        Ok(())
    }

    fn detail(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        self.details.add(extra, source)
    }

    fn join(&mut self, start: u32, end: u32) -> u32 {
        self.details.join(start, end)
    }

    fn name_key(&mut self, key: u64, text: &str) {
        self.details.name_key(key, text);
    }

    fn state(&mut self, place: EntityPlace, state: EndedState) {
        let none = || RawStates { container: ContainerId::ROOT, ty: TypeId::ROOT, lanes: Vec::new() };
        let states = list(&mut self.states, place.number, none);
        (states.container, states.ty) = (place.container, place.ty);
        let lane = list(&mut states.lanes, state.depth, RawLane::default);
        lane.push(state.life.from.0, state.life.to.0, state.value, state.detail);
    }

    fn event(&mut self, place: EntityPlace, time: GlobalNanos, value: ValueId, detail: u32) {
        let none = || RawMarks::new(ContainerId::ROOT, TypeId::ROOT);
        let marks = list(&mut self.marks, place.number, none);
        (marks.container, marks.ty) = (place.container, place.ty);
        marks.push(time.0, value, detail);
    }

    fn sample(&mut self, place: EntityPlace, life: TimeRange, value: f64) {
        let none = || RawVariable::new(ContainerId::ROOT, TypeId::ROOT);
        let variable = list(&mut self.variables, place.number, none);
        (variable.container, variable.ty, variable.end) = (place.container, place.ty, life.to.0);
        variable.timestamps.push(life.from.0);
        variable.values.push(value);
    }

    fn link(&mut self, link: &EndedLink) {
        let next = self.links.len() as u32;
        let place = *self.places_of_links.entry(link.ty).or_insert(next);
        list(&mut self.links, place, || (link.ty, Vec::new())).1.push(link.row());
    }

    fn keeps_open_links(&self) -> bool {
        true
    }

    fn open_link(&mut self, link: &OpenLinkStart) {
        self.open_links.push(link.row());
    }
}
