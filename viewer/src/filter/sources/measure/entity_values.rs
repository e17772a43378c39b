//! Statistics that read each entity: durations, fields, links sent and received.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::subtrees;
use crate::filter::language::ast::{DurationStatistic, ReduceOperation};
use crate::filter::language::entity_fields;
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, FieldUse, NamePattern, NamePatterns};
use crate::query::{
    ContainerId, ContainerInfo, EntityId, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId,
    TypeInfo, TypeModel, ValueId,
};
use crate::query::{container_tree, entity_walk};
use crate::stats::Durations;

/// An entity: the position of its container (for links: of both endpoints), its value and its
/// duration in nanoseconds.
struct MeasuredEntity {
    places: [Option<usize>; 2],
    id: EntityId,
    value: ValueId,
    nanos: i64,
}

fn with_values(ty: &TypeInfo) -> bool {
    matches!(ty.kind, PajeTypeKind::State | PajeTypeKind::Event | PajeTypeKind::Link { .. })
}

impl MeasuredEntity {
    /// The lowest container with both endpoints of a link in it or below it. The sums of this
    /// container and of those above it count the link twice.
    fn common_ancestor(&self, list: &[ContainerInfo], positions: &FxHashMap<ContainerId, usize>) -> Option<usize> {
        let [Some(mut first), Some(mut second)] = self.places else { return None };
        while first != second {
            let lower = if list[first].depth >= list[second].depth { &mut first } else { &mut second };
            let above = positions.get(&list[*lower].parent).copied()?;
            if above == *lower {
                return None;
            }
            *lower = above;
        }
        Some(first)
    }
}

/// Visits the states, events and links of some types that overlap a time range.
fn visit(
    source: &dyn TimelineSource,
    list: &[ContainerInfo],
    model: &TypeModel,
    types: &[TypeId],
    time_range: TimeRange,
    mut visit: impl FnMut(MeasuredEntity) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    let positions: FxHashMap<ContainerId, usize> = container_tree::positions(list);
    for &ty in types {
        let kind = model.types.get(ty.index()).map_or(PajeTypeKind::Container, |ty| ty.kind);
        if matches!(kind, PajeTypeKind::Link { .. }) {
            entity_walk::links(source, ty, time_range, |link| {
                let places = [link.start, link.end].map(|end| positions.get(&end).copied());
                let nanos = link.end_time.0.saturating_sub(link.start_time.0);
                visit(MeasuredEntity { places, id: link.id, value: link.value, nanos })
            })?;
            continue;
        }
        for (index, info) in list.iter().enumerate() {
            let places = [Some(index), None];
            if kind == PajeTypeKind::Event {
                entity_walk::events(source, (info.id, ty), time_range, |mark| {
                    visit(MeasuredEntity { places, id: mark.id, value: mark.value, nanos: 0 })
                })?;
            }
            for depth in 0..if kind == PajeTypeKind::State { source.depths(info.id, ty) } else { 0 } {
                entity_walk::states(source, StateLaneId { container: info.id, ty, depth }, time_range, |state| {
                    let nanos = state.life.to.0.saturating_sub(state.life.from.0);
                    visit(MeasuredEntity { places, id: state.id, value: state.value, nanos })
                })?;
            }
        }
    }
    Ok(())
}

/// A statistic of the durations in a container and all containers below it.
pub(crate) fn durations(
    source: &Arc<dyn TimelineSource>,
    list: &[ContainerInfo],
    statistic: DurationStatistic,
    values: &NamePatterns,
    type_pattern: Option<&NamePattern>,
    time_range: TimeRange,
) -> Result<Vec<Option<f64>>, FilterError> {
    let model = source.model();
    let has_duration = |ty: &TypeInfo| matches!(ty.kind, PajeTypeKind::State | PajeTypeKind::Link { .. });
    let (types, value_ids) = pattern::values_of(&model, values, type_pattern, "type of states or links", has_duration)?;
    let positions = container_tree::positions(list);
    let (mut direct, mut counted_twice) = (vec![Vec::new(); list.len()], vec![Vec::new(); list.len()]);
    visit(source.as_ref(), list, &model, &types, time_range, |entity| {
        if values.is_any() || value_ids.contains(&entity.value) {
            entity.places.into_iter().flatten().for_each(|index| direct[index].push(entity.nanos));
            entity
                .common_ancestor(list, &positions)
                .into_iter()
                .for_each(|index| counted_twice[index].push(entity.nanos));
        }
        Ok(())
    })?;
    #[expect(clippy::cast_precision_loss, reason = "an order by duration")]
    let statistic = |durations: Vec<i64>| {
        let all = durations.into_iter().collect::<Durations>();
        let quantile = |share| all.quantile(share).map(|nanos| nanos as f64);
        match statistic {
            DurationStatistic::Mean => all.mean(),
            DurationStatistic::Shortest => quantile(0.0),
            DurationStatistic::Median => quantile(0.5),
            DurationStatistic::P90 => quantile(0.9),
            DurationStatistic::P95 => quantile(0.95),
            DurationStatistic::P99 => quantile(0.99),
            DurationStatistic::Longest => quantile(1.0),
        }
    };
    let once = subtree_numbers(list, &direct)
        .zip(subtree_numbers(list, &counted_twice))
        .map(|(all, counted_twice)| multiset_difference(all, counted_twice));
    Ok(once.map(statistic).collect())
}

/// The numbers in `values` without those in `removed_values`, with multiplicity. O(n log n).
fn multiset_difference(mut values: Vec<i64>, mut removed_values: Vec<i64>) -> Vec<i64> {
    if removed_values.is_empty() {
        return values;
    }
    values.sort_unstable();
    removed_values.sort_unstable();
    let mut some = removed_values.into_iter().peekable();
    values.retain(|number| some.next_if_eq(number).is_none());
    values
}

/// For each container, the numbers of it and of all containers below it. In the list, a container
/// is followed directly by all containers below it.
fn subtree_numbers<'a>(list: &'a [ContainerInfo], own_numbers: &'a [Vec<i64>]) -> impl Iterator<Item = Vec<i64>> + 'a {
    list.iter().enumerate().map(move |(index, info)| {
        let last = list[index + 1..]
            .iter()
            .position(|next| next.depth <= info.depth)
            .map_or(list.len(), |offset| index + 1 + offset);
        own_numbers[index..last].concat()
    })
}

/// The statistics of a field.
#[derive(Clone, Copy, Debug)]
struct FieldSums {
    count: f64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

impl FieldSums {
    fn combine(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            minimum: self.minimum.min(other.minimum),
            maximum: self.maximum.max(other.maximum),
        }
    }
}

fn number(source: &dyn TimelineSource, id: EntityId, field: &str) -> Result<Option<f64>, QueryError> {
    let text = entity_fields::field(&source.facts(id)?, field);
    Ok(text.and_then(|text| text.trim().parse().ok()).filter(|number: &f64| number.is_finite()))
}

/// A statistic of a field.
pub(crate) fn fields(
    source: &Arc<dyn TimelineSource>,
    list: &[ContainerInfo],
    operation: ReduceOperation,
    field: &str,
    type_pattern: &NamePattern,
    time_range: TimeRange,
) -> Result<Vec<Option<f64>>, FilterError> {
    let model = source.model();
    let types = pattern::types(
        &model,
        &NamePatterns::new(vec![type_pattern.clone()]),
        "type of states, events or links",
        with_values,
    )?;
    entity_fields::check(source.as_ref(), FieldUse::Key, field, &types)?;
    let positions = container_tree::positions(list);
    let mut direct: Vec<Option<FieldSums>> = vec![None; list.len()];
    visit(source.as_ref(), list, &model, &types, time_range, |entity| {
        if let Some(number) = number(source.as_ref(), entity.id, field)? {
            let sums = FieldSums { count: 1.0, sum: number, minimum: number, maximum: number };
            let (minimum, maximum) = (f64::INFINITY, f64::NEG_INFINITY);
            let once_less = FieldSums { count: -1.0, sum: -number, minimum, maximum };
            let correction = entity.common_ancestor(list, &positions).map(|index| (index, once_less));
            for (index, sum) in entity.places.into_iter().flatten().map(|index| (index, sums)).chain(correction) {
                direct[index] = Some(direct[index].map_or(sum, |direct: FieldSums| direct.combine(sum)));
            }
        }
        Ok(())
    })?;
    let statistic = |sums: Option<FieldSums>| {
        sums.map(|FieldSums { count, sum, minimum, maximum }| match operation {
            ReduceOperation::Count => count,
            ReduceOperation::Sum => sum,
            ReduceOperation::Mean => sum / count,
            ReduceOperation::Min => minimum,
            ReduceOperation::Max => maximum,
        })
    };
    Ok(subtrees::combine(list, &direct, FieldSums::combine).into_iter().map(statistic).collect())
}

/// Number of links that start (or end) in each container and below it, or the sum of one of their
/// fields.
pub(crate) fn links(
    source: &Arc<dyn TimelineSource>,
    list: &[ContainerInfo],
    counts_starts: bool,
    field: Option<&str>,
    type_pattern: Option<&NamePattern>,
    time_range: TimeRange,
) -> Result<Vec<Option<f64>>, FilterError> {
    let model = source.model();
    let type_pattern = NamePatterns::new(type_pattern.cloned().into_iter().collect());
    let types =
        pattern::types(&model, &type_pattern, "type of links", |ty| matches!(ty.kind, PajeTypeKind::Link { .. }))?;
    if let Some(field) = field {
        entity_fields::check(source.as_ref(), FieldUse::Key, field, &types)?;
    }
    let mut direct = vec![Some(0.0); list.len()];
    visit(source.as_ref(), list, &model, &types, time_range, |entity| {
        let amount = field.map_or(Ok(Some(1.0)), |field| number(source.as_ref(), entity.id, field))?;
        if let (Some(index), Some(amount)) = (entity.places[usize::from(!counts_starts)], amount) {
            direct[index] = direct[index].map(|sum| sum + amount);
        }
        Ok(())
    })?;
    Ok(subtrees::combine(list, &direct, |a, b| a + b))
}

/// Values of variables times their duration in seconds, in each container without those below it.
pub(crate) fn integrals(
    source: &Arc<dyn TimelineSource>,
    list: &[ContainerInfo],
    types: &[TypeId],
    time_range: TimeRange,
) -> Result<Vec<Option<f64>>, QueryError> {
    let mut direct = vec![None; list.len()];
    for (direct, info) in direct.iter_mut().zip(list) {
        for &ty in types {
            entity_walk::samples(source.as_ref(), (info.id, ty), time_range, |sample| {
                let nanos =
                    sample.life.to.0.min(time_range.to.0).saturating_sub(sample.life.from.0.max(time_range.from.0));
                #[expect(clippy::cast_precision_loss, reason = "seconds")]
                let part = sample.value * nanos.max(0) as f64 * 1e-9;
                *direct = Some(direct.unwrap_or(0.0) + part);
                Ok(())
            })?;
        }
    }
    Ok(direct)
}
