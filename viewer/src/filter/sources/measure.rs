//! [`OrderKey`]: the sort key of containers: a name, a timestamp, or a statistic of the contents of
//! a container and the containers below it.
//!
//! Cost: time, shares and variables come from sums; numbers without values come from counts.
//! Durations and fields read each entity within the time range ([`entity_values`]); fields also
//! read all its facts, some microseconds each. A median or quantile stores 8 bytes per entity.

mod entity_values;
mod subtrees;

use std::sync::Arc;

use crate::filter::language::ast::{Measure, OrderKey};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePattern, NamePatterns};
use crate::query::{
    ContainerInfo, GlobalNanos, NestedTime, PajeTypeKind, QueryError, StateLaneId, TimeRange, TimelineSource, TypeId,
    TypeInfo, TypeModel, ValueId,
};
use crate::query::{container_tree, entity_walk};

/// Only states have a time in a container.
fn is_state_type(ty: &TypeInfo) -> bool {
    ty.kind == PajeTypeKind::State
}

/// The containers of a source, and the time range in which their contents are measured.
struct MeasuredTree<'a> {
    source: &'a Arc<dyn TimelineSource>,
    model: Arc<TypeModel>,
    list: Arc<Vec<ContainerInfo>>,
    time_range: TimeRange,
}

/// One number per container; `None` if there is nothing to measure.
pub(crate) fn numbers(source: &Arc<dyn TimelineSource>, key: &OrderKey) -> Result<Vec<Option<f64>>, FilterError> {
    let extent = source.extent();
    let time_range = match key.time_range {
        Some(time_range) => time_range.intersection(extent)?,
        // A trace without duration may still have entities, so the time range is at least 1 ns.
        None => TimeRange { to: GlobalNanos(extent.to.0.max(extent.from.0.saturating_add(1))), ..extent },
    };
    MeasuredTree { source, model: source.model(), list: source.containers(), time_range }.numbers(&key.measure)
}

impl MeasuredTree<'_> {
    fn numbers(&self, measure: &Measure) -> Result<Vec<Option<f64>>, FilterError> {
        let &Self { source, ref list, time_range, .. } = self;
        match measure {
            Measure::Name => Ok(vec![None; list.len()]),
            #[expect(clippy::cast_precision_loss, reason = "the order needs no full precision")]
            Measure::Start => Ok(list.iter().map(|info| Some(info.life.from.0 as f64)).collect()),
            #[expect(clippy::cast_precision_loss, reason = "the order needs no full precision")]
            Measure::End => Ok(list.iter().map(|info| Some(info.life.to.0 as f64)).collect()),
            Measure::Share { values, types } => self.shares(values, types.as_ref(), false),
            Measure::SelfShare { values, types: of } => self.shares(values, of.as_ref(), true),
            Measure::Duration { statistic, values, types: of } => {
                entity_values::durations(source, list, *statistic, values, of.as_ref(), time_range)
            }
            Measure::Field { operation, field, types: of } => {
                entity_values::fields(source, list, *operation, field, of, time_range)
            }
            Measure::Sent { field, types: of } => {
                entity_values::links(source, list, true, field.as_deref(), of.as_ref(), time_range)
            }
            Measure::Received { field, types: of } => {
                entity_values::links(source, list, false, field.as_deref(), of.as_ref(), time_range)
            }
            Measure::Integral { types: of } => {
                Ok(self.sums(&entity_values::integrals(source, list, &self.variable_types(of)?, time_range)?))
            }
            Measure::Time { values, types: of } => self.total_times(values, of.as_ref(), false),
            Measure::SelfTime { values, types: of } => self.total_times(values, of.as_ref(), true),
            Measure::Number { values, types: of } => self.entity_counts(values, of.as_ref()),
            Measure::Mean { types: of } => self.variable_statistic(of, VariableStatistic::Mean),
            Measure::Min { types: of } => self.variable_statistic(of, VariableStatistic::Min),
            Measure::Max { types: of } => self.variable_statistic(of, VariableStatistic::Max),
        }
    }

    /// The sum of the numbers of each container and the containers below it.
    fn sums(&self, own_values: &[Option<f64>]) -> Vec<Option<f64>> {
        subtrees::combine(&self.list, own_values, |a, b| a + b)
    }

    /// Time in states of these values, total or self.
    fn total_times(
        &self,
        values: &NamePatterns,
        type_pattern: Option<&NamePattern>,
        is_self: bool,
    ) -> Result<Vec<Option<f64>>, FilterError> {
        let (types, value_ids) =
            pattern::values_of(&self.model, values, type_pattern, "type of states", is_state_type)?;
        Ok(self.sums(&times(self.source.as_ref(), &self.list, &types, &value_ids, is_self, self.time_range)?))
    }

    /// Time in states of these values as a share of the time for which the containers exist.
    fn shares(
        &self,
        values: &NamePatterns,
        type_pattern: Option<&NamePattern>,
        is_self: bool,
    ) -> Result<Vec<Option<f64>>, FilterError> {
        let (types, value_ids) =
            pattern::values_of(&self.model, values, type_pattern, "type of states", is_state_type)?;
        let direct = times(self.source.as_ref(), &self.list, &types, &value_ids, is_self, self.time_range)?;
        // Each type separately, because a container may represent others for one type but not for
        // another.
        let mut existence: Vec<Option<f64>> = vec![None; self.list.len()];
        for (existence, info) in existence.iter_mut().zip(self.list.iter()) {
            for &ty in types.iter().filter(|ty| self.source.depths(info.id, **ty) > 0) {
                #[expect(clippy::cast_precision_loss, reason = "a share")]
                let nanos = crate::stats::existence_nanos(self.source.as_ref(), info, ty, self.time_range) as f64;
                *existence = Some(existence.unwrap_or(0.0) + nanos);
            }
        }
        let share = |(time, existence): (Option<f64>, Option<f64>)| {
            Some(time? / existence.filter(|existence| *existence > 0.0)?)
        };
        Ok(self.sums(&direct).into_iter().zip(self.sums(&existence)).map(share).collect())
    }

    /// Number of entities of these values.
    fn entity_counts(
        &self,
        values: &NamePatterns,
        type_pattern: Option<&NamePattern>,
    ) -> Result<Vec<Option<f64>>, FilterError> {
        let (types, value_ids) = pattern::values(&self.model, values, type_pattern)?;
        let selected_values = (!values.is_any()).then_some(value_ids.as_slice());
        let mut counts = vec![0_i64; self.list.len()];
        for ty in types {
            self.add_counts(ty, selected_values, &mut counts)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "an order by number")]
        let direct: Vec<_> = counts.into_iter().map(|number| Some(number as f64)).collect();
        Ok(self.sums(&direct))
    }

    /// Adds the number of entities of a type in each container. A link counts at both endpoints,
    /// but only once for a container with both endpoints below it.
    fn add_counts(&self, ty: TypeId, values: Option<&[ValueId]>, counts: &mut [i64]) -> Result<(), QueryError> {
        let (source, list, time_range) = (self.source.as_ref(), self.list.as_slice(), self.time_range);
        let fits = |value: ValueId| i64::from(values.is_none_or(|values| values.contains(&value)));
        let count_of = |total: u64| i64::try_from(total).unwrap_or(i64::MAX);
        match self.model.types[ty.index()].kind {
            PajeTypeKind::State => {
                for (count, info) in counts.iter_mut().zip(list) {
                    for depth in 0..source.depths(info.id, ty) {
                        let lane = StateLaneId { container: info.id, ty, depth };
                        if values.is_none() {
                            *count += count_of(source.states(lane, time_range, 0)?.total);
                            continue;
                        }
                        entity_walk::states(source, lane, time_range, |state| {
                            *count += fits(state.value);
                            Ok(())
                        })?;
                    }
                }
            }
            PajeTypeKind::Event => {
                for (count, info) in counts.iter_mut().zip(list) {
                    if values.is_none() {
                        *count += count_of(source.events(info.id, ty, time_range, 0)?.total);
                        continue;
                    }
                    entity_walk::events(source, (info.id, ty), time_range, |mark| {
                        *count += fits(mark.value);
                        Ok(())
                    })?;
                }
            }
            PajeTypeKind::Link { .. } => {
                let positions = container_tree::positions(list);
                entity_walk::links(source, ty, time_range, |link| {
                    let (Some(&start), Some(&end)) = (positions.get(&link.start), positions.get(&link.end)) else {
                        return Ok(());
                    };
                    let number = fits(link.value);
                    counts[start] += number;
                    counts[end] += number;
                    counts[subtrees::common_ancestor(list, &positions, start, end)] -= number;
                    Ok(())
                })?;
            }
            PajeTypeKind::Container | PajeTypeKind::Variable => {}
        }
        Ok(())
    }

    fn variable_types(&self, type_pattern: &NamePattern) -> Result<Vec<TypeId>, FilterError> {
        let type_pattern = NamePatterns::new(vec![type_pattern.clone()]);
        pattern::types(&self.model, &type_pattern, "variable", |ty| ty.kind == PajeTypeKind::Variable)
    }

    fn variable_statistic(
        &self,
        type_pattern: &NamePattern,
        statistic: VariableStatistic,
    ) -> Result<Vec<Option<f64>>, FilterError> {
        let types = self.variable_types(type_pattern)?;
        let mut direct: Vec<Option<PartialMean>> = vec![None; self.list.len()];
        for (direct, info) in direct.iter_mut().zip(self.list.iter()) {
            for &ty in &types {
                let column = self.source.series(info.id, ty, self.time_range, 1)?.pop().flatten();
                let Some(column) = column else { continue };
                let sum = match statistic {
                    VariableStatistic::Mean => column.mean,
                    VariableStatistic::Min => column.min,
                    VariableStatistic::Max => column.max,
                };
                let sample = PartialMean { sum, count: 1.0 };
                *direct = Some(direct.map_or(sample, |before| statistic.join(before, sample)));
            }
        }
        let partial_means = subtrees::combine(&self.list, &direct, |a, b| statistic.join(a, b));
        Ok(partial_means.into_iter().map(|all| all.map(|part| part.sum / part.count)).collect())
    }
}

/// A statistic of a variable over time.
#[derive(Clone, Copy)]
enum VariableStatistic {
    Mean,
    Min,
    Max,
}

/// A sum of numbers and their count. For minimum and maximum, `sum` is that number, and the count
/// is 1.
#[derive(Clone, Copy)]
struct PartialMean {
    sum: f64,
    count: f64,
}

impl VariableStatistic {
    fn join(self, a: PartialMean, b: PartialMean) -> PartialMean {
        match self {
            Self::Mean => PartialMean { sum: a.sum + b.sum, count: a.count + b.count },
            Self::Min => PartialMean { sum: a.sum.min(b.sum), count: 1.0 },
            Self::Max => PartialMean { sum: a.sum.max(b.sum), count: 1.0 },
        }
    }
}

/// Nanoseconds in states of these values directly in each container, from the sums: total or self
/// time.
#[expect(clippy::cast_precision_loss, reason = "an order by time")]
fn times(
    source: &dyn TimelineSource,
    list: &[ContainerInfo],
    types: &[TypeId],
    values: &[ValueId],
    is_self: bool,
    time_range: TimeRange,
) -> Result<Vec<Option<f64>>, QueryError> {
    let mut direct = vec![None; list.len()];
    for (direct, info) in direct.iter_mut().zip(list) {
        for &ty in types.iter().filter(|&&ty| source.depths(info.id, ty) > 0) {
            let all = crate::stats::nested_times(source, &[info.id], ty, time_range)?;
            let time = |time: &NestedTime| if is_self { time.self_time } else { time.total };
            let sum = all.iter().filter(|time_of_value| values.contains(&time_of_value.value)).map(time).sum::<i128>();
            *direct = Some(direct.unwrap_or(0.0) + sum as f64);
        }
    }
    Ok(direct)
}
