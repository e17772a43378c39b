//! [`UnitSet`]: the containers of one level whose utilization and communication the views show,
//! such as nodes, processes or threads.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let units = execution.units();
//! let names: Vec<&str> = units.list().iter().map(|unit| unit.name.as_str()).collect();
//! assert_eq!(names, ["a", "b"]);
//! assert_eq!(units.owner(units.list()[1].container), Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::{FilterError, NamePattern, NamePatterns};
use tumit_viewer::query::{
    ContainerId, ContainerInfo, NestedLaneGroup, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeId,
    TypeModel, ValueId, container_tree,
};

use crate::error::PerspectiveError;
use crate::execution::categories::CategoryTable;

/// The states of one type in one container, over all nesting depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateGroup {
    /// The container.
    pub container: ContainerId,
    /// The state type.
    pub ty: TypeId,
    /// Number of nesting depths, at least 1.
    pub depths: u32,
    /// The time range in which the container exists.
    pub life: TimeRange,
}

/// A container whose activity is one row, spoke or bar of a view.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Unit {
    /// The container.
    pub container: ContainerId,
    /// Its name. It contains the names of enclosing containers if it is not unique without them.
    pub name: String,
    /// The time range in which it exists.
    pub life: TimeRange,
    /// The states that determine its category: its own ones, or those of the containers below it.
    pub groups: Vec<StateGroup>,
}

/// The units of a trace, in natural order.
#[derive(Debug)]
pub struct UnitSet {
    /// The container type of the units.
    pub ty: TypeId,
    /// The state types that determine categories.
    pub state_types: Vec<TypeId>,
    units: Vec<Unit>,
    /// The number of units of the level, whether chosen or not.
    level_count: usize,
    /// The unit that contains each container.
    owners: FxHashMap<ContainerId, u32>,
}

/// The choice of units and of state types by name.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UnitChoice {
    /// The container type of the units.
    pub level: Option<String>,
    /// The state types that determine categories.
    pub states: Option<NamePattern>,
    /// Names of containers. Only these containers, their ancestors and their descendants can be
    /// units.
    pub names: Option<NamePatterns>,
    /// Ids of containers, which restrict the units in the same way. If it is empty, all units
    /// remain.
    pub containers: Vec<ContainerId>,
}

impl UnitSet {
    /// Finds the units of a trace.
    ///
    /// Without a choice, the units are the containers that links connect, if states are in them or
    /// below them, otherwise those that have states that are not ignored. If a container has
    /// several state types, the categories of a unit are those of the first type whose values have
    /// different categories.
    ///
    /// # Errors
    /// If a chosen type does not exist, or the source fails.
    pub(crate) fn new(
        source: &dyn TimelineSource,
        categories: &CategoryTable,
        choice: &UnitChoice,
    ) -> Result<Self, PerspectiveError> {
        let (model, containers) = (source.model(), source.containers());
        let positions = container_tree::positions(&containers);
        let state_groups = StateGroups::new(source, &containers, &positions);
        let ty = match &choice.level {
            Some(level) => chosen_level(&model, &containers, level)?,
            None => {
                let activity_types = activity_types(&model, categories);
                default_level(source, &model, (&containers, &positions), &state_groups, &activity_types)?
            }
        };
        let (mut units, owners) = units_and_owners(&containers, ty);
        let state_types = match &choice.states {
            Some(pattern) => chosen_states(&model, pattern)?,
            None => {
                let within_units = state_groups.list.iter().filter(|group| owners.contains_key(&group.container));
                default_states(&model, categories, within_units.map(|group| group.ty).collect())
            }
        };
        for info in containers.iter() {
            let Some(unit) = owners.get(&info.id) else { continue };
            let counted = state_groups.of(info.id).iter().filter(|group| state_types.contains(&group.ty));
            units[*unit as usize].groups.extend(counted);
        }
        distinguish_names(&mut units, &containers, &positions);
        let level_count = units.len();
        let mut set = Self { ty, state_types, units, level_count, owners };
        set.choose(&model, &containers, choice)?;
        Ok(set)
    }

    /// Removes the units that are not chosen. Names and state types stay those of the whole level.
    fn choose(
        &mut self,
        model: &TypeModel,
        containers: &[ContainerInfo],
        choice: &UnitChoice,
    ) -> Result<(), PerspectiveError> {
        let mut is_chosen = vec![true; self.units.len()];
        let mut restrict = |set: &Self, chosen: &FxHashSet<ContainerId>| {
            let near = set.units_near(containers, chosen);
            is_chosen.iter_mut().zip(near).for_each(|(all, near)| *all &= near);
        };
        if let Some(names) = &choice.names {
            let matches = names.containers(containers).map_err(|error| match error {
                FilterError::NoMatch { pattern: name, help, .. } => PerspectiveError::NoContainer { name, help },
                error => PerspectiveError::NoContainer { name: String::new(), help: error.to_string() },
            })?;
            restrict(self, &matches.into_iter().map(|index| containers[index].id).collect());
        }
        if !choice.containers.is_empty() {
            restrict(self, &choice.containers.iter().copied().collect());
        }
        if is_chosen.iter().all(|chosen| *chosen) {
            return Ok(());
        }
        if !is_chosen.contains(&true) {
            return Err(PerspectiveError::NoChosenUnit { level: model.types[self.ty.index()].name.clone() });
        }
        let mut number = 0;
        let numbers: Vec<Option<u32>> = is_chosen
            .iter()
            .map(|chosen| {
                let chosen_unit = chosen.then_some(number);
                number += u32::from(*chosen);
                chosen_unit
            })
            .collect();
        self.owners.retain(|_, unit| match numbers[*unit as usize] {
            Some(number) => {
                *unit = number;
                true
            }
            None => false,
        });
        let mut chosen = is_chosen.into_iter();
        self.units.retain(|_| chosen.next() == Some(true));
        Ok(())
    }

    /// For each unit, whether it is one of some containers, around or below one.
    fn units_near(&self, containers: &[ContainerInfo], containers_chosen: &FxHashSet<ContainerId>) -> Vec<bool> {
        let mut is_near = vec![false; self.units.len()];
        // The depth of the chosen container that the present one is in. The list is depth first.
        let mut top: Option<u32> = None;
        for info in containers {
            top = top.filter(|depth| info.depth > *depth);
            if top.is_none() && containers_chosen.contains(&info.id) {
                top = Some(info.depth);
            }
            if let Some(unit) = self.owner(info.id).filter(|_| top.is_some()) {
                is_near[unit as usize] = true;
            }
        }
        is_near
    }

    /// The number of units of the level, whether chosen or not.
    pub fn level_count(&self) -> usize {
        self.level_count
    }

    /// Whether another set has the same units with the same state types.
    pub(crate) fn has_same_states(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&Unit, &Unit)| (one.container, &one.groups) == (other.container, &other.groups);
        self.ty == other.ty && self.units.len() == other.units.len() && self.units.iter().zip(&other.units).all(is_same)
    }

    /// The units in natural order, the order of the trace.
    pub fn list(&self) -> &[Unit] {
        &self.units
    }

    /// The number of units.
    pub fn count(&self) -> usize {
        self.units.len()
    }

    /// The index of the unit that contains a container, itself included.
    pub fn owner(&self, container: ContainerId) -> Option<u32> {
        self.owners.get(&container).copied()
    }

    /// Whether only some units of the level are chosen.
    pub(crate) fn is_restricted(&self) -> bool {
        self.units.len() < self.level_count
    }

    /// Whether a unit has states of the chosen types.
    pub(crate) fn has_states(&self) -> bool {
        self.units.iter().any(|unit| !unit.groups.is_empty())
    }
}

/// The containers of a type with their own names, and the unit that contains each container.
fn units_and_owners(containers: &[ContainerInfo], ty: TypeId) -> (Vec<Unit>, FxHashMap<ContainerId, u32>) {
    let (mut units, mut owners) = (Vec::<Unit>::new(), FxHashMap::default());
    owners.reserve(containers.len());
    for info in containers {
        let parent_unit = owners.get(&info.parent).copied().filter(|_| info.parent != info.id);
        let unit = match parent_unit {
            Some(unit) => unit,
            None if info.ty == ty => {
                units.push(Unit { container: info.id, name: info.name.clone(), life: info.life, groups: Vec::new() });
                u32::try_from(units.len() - 1).unwrap_or(u32::MAX)
            }
            None => continue,
        };
        owners.insert(info.id, unit);
    }
    (units, owners)
}

/// The state groups of all containers.
struct StateGroups {
    /// By container and type.
    list: Vec<StateGroup>,
    /// The place of the first group of each container.
    first: FxHashMap<ContainerId, usize>,
}

impl StateGroups {
    fn new(
        source: &dyn TimelineSource,
        containers: &[ContainerInfo],
        positions: &FxHashMap<ContainerId, usize>,
    ) -> Self {
        let group = |NestedLaneGroup { container, ty, depths }| {
            let life = containers[*positions.get(&container)?].life;
            Some(StateGroup { container, ty, depths, life })
        };
        let mut list: Vec<StateGroup> = source.state_lane_groups().into_iter().filter_map(group).collect();
        list.sort_by_key(|group| (group.container, group.ty));
        let mut first = FxHashMap::default();
        for (at, group) in list.iter().enumerate() {
            first.entry(group.container).or_insert(at);
        }
        Self { list, first }
    }

    /// The groups of a container, by type.
    fn of(&self, container: ContainerId) -> &[StateGroup] {
        let groups = self.first.get(&container).map_or(&[][..], |first| &self.list[*first..]);
        &groups[..groups.iter().take_while(|group| group.container == container).count()]
    }
}

/// The container type of a given name, or of a level of the tree given by its number from 0.
fn chosen_level(model: &TypeModel, containers: &[ContainerInfo], level: &str) -> Result<TypeId, PerspectiveError> {
    let is_used = |ty: TypeId| containers.iter().any(|info| info.ty == ty);
    let container_types =
        || model.types.iter().skip(1).filter(|ty| ty.kind == PajeTypeKind::Container && is_used(ty.id));
    let exact = container_types().find(|ty| ty.name == level);
    if let Some(ty) = exact.or_else(|| container_types().find(|ty| ty.name.eq_ignore_ascii_case(level))) {
        return Ok(ty.id);
    }
    let by_depth = level
        .parse::<u32>()
        .ok()
        .and_then(|depth| containers.iter().find(|info| info.depth.checked_sub(1) == Some(depth)).map(|info| info.ty));
    by_depth.ok_or_else(|| PerspectiveError::NoUnitType {
        name: level.to_owned(),
        known_names: container_types().map(|ty| ty.name.clone()).collect(),
    })
}

/// The type of the containers that the first links connect, if states are in them or below them.
/// Otherwise the type with the most containers that have states.
fn default_level(
    source: &dyn TimelineSource,
    model: &TypeModel,
    (containers, positions): (&[ContainerInfo], &FxHashMap<ContainerId, usize>),
    state_groups: &StateGroups,
    activity_types: &BTreeSet<TypeId>,
) -> Result<TypeId, PerspectiveError> {
    // Number of links of each type that are examined. Links of a type usually connect containers of
    // the same types.
    const EXAMINED: usize = 256;
    let type_of = |container: ContainerId| positions.get(&container).map(|at| containers[*at].ty);
    let mut by_links: BTreeMap<TypeId, u64> = BTreeMap::new();
    let extent = source.extent();
    for ty in model.types.iter().filter(|ty| matches!(ty.kind, PajeTypeKind::Link { .. })) {
        for link in source.links(ty.id, extent, EXAMINED)?.items {
            for end in [link.start, link.end].into_iter().filter_map(type_of) {
                *by_links.entry(end).or_default() += 1;
            }
        }
    }
    let (mut by_states, mut above_states): (BTreeMap<TypeId, u64>, BTreeSet<TypeId>) = Default::default();
    let has_activity =
        |info: &&ContainerInfo| state_groups.of(info.id).iter().any(|group| activity_types.contains(&group.ty));
    for info in containers.iter().filter(has_activity) {
        *by_states.entry(info.ty).or_default() += 1;
        let mut ancestor = info;
        while above_states.insert(ancestor.ty) {
            let parent = positions.get(&ancestor.parent).map(|&index| &containers[index]);
            let Some(parent) = parent.filter(|parent| parent.id != ancestor.id) else { break };
            ancestor = parent;
        }
    }
    let largest = |counts: &BTreeMap<TypeId, u64>| {
        counts.iter().max_by_key(|(ty, count)| (**count, std::cmp::Reverse(**ty))).map(|(ty, _)| *ty)
    };
    let leaf = || containers.iter().max_by_key(|info| info.depth).map(|info| info.ty);
    let mut with_states = by_links.clone();
    with_states.retain(|ty, _| above_states.contains(ty));
    let level = largest(&with_states).or_else(|| largest(&by_states)).or_else(|| largest(&by_links));
    level.or_else(leaf).ok_or(PerspectiveError::NoContainers)
}

/// The state types with a value that is not ignored. The states of other types, such as those of
/// non-blocking operations, are no activity.
fn activity_types(model: &TypeModel, categories: &CategoryTable) -> BTreeSet<TypeId> {
    let is_activity = |value: ValueId| categories.category(value) != ActivityCategory::Ignored;
    model.values.iter().filter(|value| is_activity(value.id)).map(|value| value.ty).collect()
}

fn chosen_states(model: &TypeModel, pattern: &NamePattern) -> Result<Vec<TypeId>, PerspectiveError> {
    let states = || model.types.iter().filter(|ty| ty.kind == PajeTypeKind::State);
    let types: Vec<TypeId> = states().filter(|ty| pattern.fits(&ty.name)).map(|ty| ty.id).collect();
    if types.is_empty() {
        let known_names = states().map(|ty| ty.name.clone()).collect();
        return Err(PerspectiveError::NoStateType { name: pattern.as_str().to_owned(), known_names });
    }
    Ok(types)
}

/// For each container type, the first of the used state types whose values have different
/// categories, otherwise the first one.
fn default_states(model: &TypeModel, categories: &CategoryTable, mut types: Vec<TypeId>) -> Vec<TypeId> {
    types.sort_unstable();
    types.dedup();
    let mut by_parent: BTreeMap<TypeId, TypeId> = BTreeMap::new();
    for ty in types {
        let parent = model.types[ty.index()].parent;
        let best = by_parent.entry(parent).or_insert(ty);
        if !categories.distinguishes(model, *best) && categories.distinguishes(model, ty) {
            *best = ty;
        }
    }
    let distinguishing: Vec<TypeId> =
        by_parent.values().copied().filter(|ty| categories.distinguishes(model, *ty)).collect();
    if distinguishing.is_empty() { by_parent.into_values().collect() } else { distinguishing }
}

/// If the names of some units are equal, adds the names of the enclosing containers, without the
/// leading names that all units share.
fn distinguish_names(units: &mut [Unit], containers: &[ContainerInfo], positions: &FxHashMap<ContainerId, usize>) {
    let mut names = FxHashSet::default();
    names.reserve(units.len());
    if units.iter().all(|unit| names.insert(unit.name.as_str())) {
        return;
    }
    for unit in units.iter_mut() {
        if let Some(position) = positions.get(&unit.container) {
            unit.name = container_tree::path(containers, positions, *position).join("/");
        }
    }
    let (Some(first), Some(last)) =
        (units.iter().map(|unit| &unit.name).min(), units.iter().map(|unit| &unit.name).max())
    else {
        return;
    };
    // The names between the first and the last one share what these two share.
    let shared = first.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
    let prefix = first.as_bytes()[..shared].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    units.iter_mut().for_each(|unit| _ = unit.name.drain(..prefix));
}

impl From<QueryError> for PerspectiveError {
    fn from(error: QueryError) -> Self {
        Self::Query(error)
    }
}
