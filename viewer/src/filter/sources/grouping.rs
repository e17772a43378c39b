//! Grouping: one container replaces several. The contents of the members become those of the group.
//! Containers below the members lie below the group, and links lead to and from the group. Removing
//! the group from the chain, or switching it off, is the *burst*.
//!
//! A cell of the group is the sum of the members' cells. Its total time can be a multiple of its
//! width: the number of members that live at once. Lists are merged by timestamp. A variable of a
//! group is the sum of the members' variables.
//!
//! Cost: a query of the group is one query per member. A variable that several members have is
//! summed when the filter is made, in O(n log n) for n samples.

mod group_cells;
mod group_source;
mod group_variable;
mod variable_sums;

use std::sync::{Arc, OnceLock};

use rustc_hash::{FxHashMap, FxHashSet};

use self::group_source::{ContainerGroup, GroupSource};
use super::layer::FilterLayer;
use super::variable_range::{self, VariableRanges};
use super::{entity_filter, filtered_summary, hide};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::NamePatterns;
use crate::query::entity_facts::number_of_facts;
use crate::query::nested_times::NestedTotals;
use crate::query::{
    ContainerId, ContainerInfo, EntityFacts, EntityId, EntityList, EventCount, EventEntity, FirstFreeNumbers,
    LinkCount, LinkEntity, LinkVisitor, MixtureCells, NestedTime, OpenLinkEntity, QueryError, SeriesColumn,
    StateEntity, StateLaneId, TimeRange, TimelineSource, TraceSummary, TypeId, ValueRange, VariableSample,
    container_tree,
};

/// A group to be made: its name, and the positions of its members.
pub(crate) struct GroupPlan {
    pub(crate) name: String,
    pub(crate) members: Vec<usize>,
}

/// Groups the containers that match the patterns.
pub(crate) fn apply(
    inner: &Arc<dyn TimelineSource>,
    patterns: &NamePatterns,
    name: &str,
) -> Result<Arc<dyn TimelineSource>, FilterError> {
    let list = inner.containers();
    let mut members = patterns.containers(&list)?;
    // Containers below a member belong to the member, and are not members themselves.
    let mut end = 0;
    members.retain(|&index| {
        let is_outermost = index >= end;
        end = if is_outermost { container_tree::end(&list, index) } else { end };
        is_outermost
    });
    Ok(make_groups(inner, vec![GroupPlan { name: name.to_owned(), members }])?)
}

/// Makes groups. No container may be in two groups, and none may lie below another one in a group.
pub(crate) fn make_groups(
    inner: &Arc<dyn TimelineSource>,
    plans: Vec<GroupPlan>,
) -> Result<Arc<dyn TimelineSource>, QueryError> {
    let list = inner.containers();
    let mut next = list.iter().map(|info| info.id.0).max().unwrap_or(0);
    let mut groups = FxHashMap::default();
    let mut group_of_member = FxHashMap::default();
    for plan in plans {
        let members: Vec<ContainerInfo> = plan.members.iter().map(|&index| list[index].clone()).collect();
        let Some(first) = members.first() else { continue };
        next = next.saturating_add(1);
        let id = ContainerId(next);
        let from = members.iter().map(|info| info.life.from).min().unwrap_or(first.life.from);
        let to = members.iter().map(|info| info.life.to).max().unwrap_or(first.life.to);
        let info = ContainerInfo { id, name: plan.name, life: TimeRange { from, to }, ..first.clone() };
        group_of_member.extend(members.iter().map(|member| (member.id, id)));
        groups.insert(id, ContainerGroup { info, members });
    }
    let mut placed_groups = FxHashSet::default();
    let mut grouped_list = Vec::with_capacity(list.len());
    for info in list.iter() {
        match group_of_member.get(&info.id) {
            Some(group) if placed_groups.insert(*group) => grouped_list.push(groups[group].info.clone()),
            Some(_) => {}
            None => {
                let parent = group_of_member.get(&info.parent).copied().unwrap_or(info.parent);
                grouped_list.push(ContainerInfo { parent, ..info.clone() });
            }
        }
    }
    let list = container_tree::rebuild_tree(grouped_list);
    let mut source = GroupSource {
        model: inner.model(),
        free_numbers: inner.free_numbers(),
        positions: container_tree::positions(&list),
        list: Arc::new(list),
        inner: Arc::clone(inner),
        groups,
        group_of_member,
        sums: Vec::new(),
        summary: OnceLock::new(),
        ranges: VariableRanges::default(),
    };
    source.sum_variables()?;
    Ok(Arc::new(source))
}

/// Merges lists by timestamp: counts all items, and keeps the first ones.
fn merge_by_time<T>(
    lists: impl Iterator<Item = Result<EntityList<T>, QueryError>>,
    limit: usize,
    key: impl Fn(&T) -> i64,
) -> Result<EntityList<T>, QueryError> {
    let mut entities = EntityList { total: 0, items: Vec::new() };
    for list in lists {
        let list = list?;
        entities.total += list.total;
        entities.items.extend(list.items);
        // This bounds the memory, because a group can have a hundred thousand members, each with a
        // list.
        if entities.items.len() / 4 > limit {
            entities.items.sort_by_key(&key);
            entities.items.truncate(limit);
        }
    }
    entities.items.sort_by_key(key);
    entities.items.truncate(limit);
    Ok(entities)
}

impl FilterLayer for GroupSource {
    fn inner_source(&self) -> &dyn TimelineSource {
        self.inner.as_ref()
    }

    fn summary(&self) -> TraceSummary {
        self.summary.get_or_init(|| filtered_summary::summary(self, self.inner.summary())).clone()
    }

    fn containers(&self) -> Arc<Vec<ContainerInfo>> {
        Arc::clone(&self.list)
    }

    fn depths(&self, container: ContainerId, ty: TypeId) -> u32 {
        match self.members_of(container) {
            Ok([]) => self.inner.depths(container, ty),
            Ok(members) => members.iter().map(|member| self.inner.depths(member.id, ty)).max().unwrap_or(0),
            Err(_) => 0,
        }
    }

    fn cells(&self, lanes: &[StateLaneId], time_range: TimeRange, columns: u32) -> Result<MixtureCells, QueryError> {
        let mut cells = Vec::with_capacity(lanes.len().saturating_mul(columns as usize));
        for &lane in lanes {
            let members = self.members_of(lane.container)?;
            if members.is_empty() {
                cells.extend(self.inner.cells(&[lane], time_range, columns)?.cells);
            } else {
                cells.extend(self.group_cells(members, lane, time_range, columns)?);
            }
        }
        Ok(MixtureCells { columns, cells })
    }

    fn nested_times(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
    ) -> Result<Vec<NestedTime>, QueryError> {
        let members = self.members_of(container)?;
        if members.is_empty() {
            return self.inner.nested_times(container, ty, time_range);
        }
        let mut totals = NestedTotals::default();
        for member in members {
            totals.add(self.inner.nested_times(member.id, ty, time_range)?);
        }
        Ok(totals.finish())
    }

    fn states(
        &self,
        lane: StateLaneId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<StateEntity>, QueryError> {
        match self.members_of(lane.container)? {
            [] => self.inner.states(lane, time_range, limit),
            members => {
                let of = |member: &ContainerInfo| {
                    self.inner.states(StateLaneId { container: member.id, ..lane }, time_range, limit)
                };
                merge_by_time(members.iter().map(of), limit, |state| state.life.from.0)
            }
        }
    }

    fn events(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<EventEntity>, QueryError> {
        match self.members_of(container)? {
            [] => self.inner.events(container, ty, time_range, limit),
            members => {
                let of = |member: &ContainerInfo| self.inner.events(member.id, ty, time_range, limit);
                merge_by_time(members.iter().map(of), limit, |mark| mark.time.0)
            }
        }
    }

    fn links(&self, ty: TypeId, time_range: TimeRange, limit: usize) -> Result<EntityList<LinkEntity>, QueryError> {
        let mut list = self.inner.links(ty, time_range, limit)?;
        for link in &mut list.items {
            (link.start, link.end) = (self.group_of(link.start), self.group_of(link.end));
        }
        Ok(list)
    }

    fn open_links(&self, ty: TypeId, time_range: TimeRange) -> Result<Vec<OpenLinkEntity>, QueryError> {
        let mut links = self.inner.open_links(ty, time_range)?;
        for link in &mut links {
            link.start = self.group_of(link.start);
            link.destination = link.destination.map(|destination| self.group_of(destination));
        }
        Ok(links)
    }

    fn event_counts(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
        limit: usize,
    ) -> Result<Vec<EventCount>, QueryError> {
        let members = self.members_of(container)?;
        if members.is_empty() {
            return self.inner.event_counts(container, ty, time_range, columns, limit);
        }
        entity_filter::check(time_range, columns)?;
        // The query returns all values of each member, because a value that is rare in each member
        // may be frequent in the sum.
        let mut sums = vec![Vec::new(); columns as usize];
        for member in members {
            let counts = self.inner.event_counts(member.id, ty, time_range, columns, usize::MAX)?;
            sums.iter_mut().zip(counts).for_each(|(sum, count)| sum.extend(count.values));
        }
        Ok(sums.into_iter().map(|sum| EventCount::of(sum, limit)).collect())
    }

    fn link_counts(
        &self,
        ty: TypeId,
        time_range: TimeRange,
        exponent: u8,
        visit: &mut LinkVisitor<'_>,
    ) -> Result<(), QueryError> {
        self.inner.link_counts(ty, time_range, exponent, &mut |count| {
            visit(&LinkCount { start: self.group_of(count.start), end: self.group_of(count.end), ..*count })
        })
    }

    fn samples(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        limit: usize,
    ) -> Result<EntityList<VariableSample>, QueryError> {
        let members = self.members_of(container)?;
        if let Some(sum) = self.sum(container, ty) {
            return sum.samples(time_range, limit);
        }
        let of = if members.is_empty() { Some(container) } else { self.only_member(members, ty) };
        of.map_or_else(|| Ok(hide::empty_list()), |of| self.inner.samples(of, ty, time_range, limit))
    }

    fn series(
        &self,
        container: ContainerId,
        ty: TypeId,
        time_range: TimeRange,
        columns: u32,
    ) -> Result<Vec<Option<SeriesColumn>>, QueryError> {
        let members = self.members_of(container)?;
        if let Some(sum) = self.sum(container, ty) {
            entity_filter::check(time_range, columns)?;
            return sum.steps.columns(time_range, columns);
        }
        let of = if members.is_empty() { Some(container) } else { self.only_member(members, ty) };
        of.map_or_else(|| Ok(vec![None; columns as usize]), |of| self.inner.series(of, ty, time_range, columns))
    }

    fn value_range(&self, ty: TypeId) -> Option<ValueRange> {
        let mut sums = self.sums.iter().filter(|sum| sum.ty == ty).peekable();
        if sums.peek().is_none() {
            return self.inner.value_range(ty);
        }
        // Members that were summed are no longer visible, so the inner range does not apply.
        self.ranges.of(ty, || variable_range::value_range(self, &self.list, ty, self.inner.extent()))
    }

    fn facts(&self, id: EntityId) -> Result<EntityFacts, QueryError> {
        match id {
            EntityId::Container(container) => {
                let Some(group) = self.groups.get(&container) else {
                    self.members_of(container)?;
                    let mut facts = self.inner.facts(id)?;
                    facts.container_path = self.path(container);
                    return Ok(facts);
                };
                let first = self.inner.facts(EntityId::Container(group.members[0].id))?;
                let names: Vec<&str> = group.members.iter().map(|member| member.name.as_str()).collect();
                Ok(EntityFacts {
                    id,
                    name: group.info.name.clone(),
                    type_path: first.type_path,
                    container_path: self.path(container),
                    container,
                    life: group.info.life,
                    fields: vec![("group of".to_owned(), names.join(", "))],
                    source: None,
                })
            }
            EntityId::Sample(number) if self.sums.iter().any(|sum| sum.base <= number) => {
                self.facts_of_sum(number).ok_or(QueryError::Unknown { kind: "sample" })
            }
            _ => {
                let mut facts = self.inner.facts(id)?;
                if matches!(id, EntityId::Sample(_)) && self.is_summed_sample(&facts) {
                    return Err(QueryError::Unknown { kind: "sample" });
                }
                let member = facts.container_path.last().cloned();
                let group = self.group_of(facts.container);
                facts.container_path = self.path(group);
                if group != facts.container {
                    facts.container_path.extend(member);
                    facts.container = group;
                }
                Ok(facts)
            }
        }
    }

    fn number_fields(&self, ids: &[EntityId], field: &str) -> Result<Vec<Option<f64>>, QueryError> {
        if ids
            .iter()
            .all(|id| matches!(id, EntityId::State(_) | EntityId::Event(_) | EntityId::Link(_) | EntityId::OpenLink(_)))
        {
            return self.inner.number_fields(ids, field);
        }
        ids.iter().map(|id| Ok(number_of_facts(&FilterLayer::facts(self, *id)?, field))).collect()
    }

    fn related_entities(&self, id: EntityId, limit: usize) -> Result<Vec<EntityId>, QueryError> {
        FilterLayer::facts(self, id)?;
        let mut ids = match id {
            EntityId::Container(container) => match self.members_of(container)? {
                [] => self.inner.related_entities(id, limit)?,
                members => {
                    let mut all = Vec::new();
                    for member in members {
                        all.extend(self.inner.related_entities(EntityId::Container(member.id), limit)?);
                    }
                    all
                }
            },
            EntityId::Sample(number) if self.facts_of_sum(number).is_some() => Vec::new(),
            _ => self.inner.related_entities(id, limit)?,
        };
        for id in &mut ids {
            if let EntityId::Container(container) = id {
                *container = self.group_of(*container);
            }
        }
        let mut distinct = FxHashSet::default();
        ids.retain(|id| distinct.insert(*id));
        ids.truncate(limit);
        Ok(ids)
    }

    fn members(&self, container: ContainerId) -> Vec<ContainerInfo> {
        let Some(group) = self.groups.get(&container) else { return self.inner.members(container) };
        let of = |member: &ContainerInfo| {
            let within = self.inner.members(member.id);
            if within.is_empty() { vec![member.clone()] } else { within }
        };
        group.members.iter().flat_map(of).collect()
    }

    fn members_with(&self, container: ContainerId, ty: TypeId) -> Vec<ContainerInfo> {
        let Some(group) = self.groups.get(&container) else { return self.inner.members_with(container, ty) };
        let of = |member: &ContainerInfo| {
            let within = self.inner.members_with(member.id, ty);
            if within.is_empty() { vec![member.clone()] } else { within }
        };
        group.members.iter().flat_map(of).collect()
    }

    fn is_dense(&self, lane: StateLaneId, time_range: TimeRange, limit: usize) -> Result<bool, QueryError> {
        let members = self.members_of(lane.container)?;
        if members.is_empty() {
            return self.inner.is_dense(lane, time_range, limit);
        }
        for member in members {
            if self.inner.is_dense(StateLaneId { container: member.id, ..lane }, time_range, limit)? {
                return Ok(true);
            }
        }
        Ok(FilterLayer::states(self, lane, time_range, 0)?.total > limit as u64)
    }

    fn free_numbers(&self) -> FirstFreeNumbers {
        self.free_numbers
    }
}
