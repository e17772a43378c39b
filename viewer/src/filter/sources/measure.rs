//! [`OrderKey`]: the sort key of containers: a name, a timestamp, or a statistic of the contents of a
//! container and the containers below it.
//!
//! Cost: time, shares and variables come from sums; numbers without values come from counts.
//! Durations and fields read each entity within the interval ([`single`]); fields also read all its
//! facts, some microseconds each. A median or quantile stores 8 bytes per entity.

mod single;

use std::sync::Arc;

use crate::filter::language::ast::{Measure, OrderKey};
use crate::filter::language::error::FilterError;
use crate::filter::language::pattern::{self, NamePatterns};
use crate::query::{
    ContainerId, ContainerInfo, GlobalNanos, NestedTime, PajeTypeKind, QueryError, StateLaneId, TimeRange,
    TimelineSource, TypeId, TypeInfo, ValueId,
};
use crate::query::{tree, walk};

/// Only states have a time in a container.
const STATES: (&str, &dyn Fn(&TypeInfo) -> bool) = ("type of states", &|ty| ty.kind == PajeTypeKind::State);

/// One number per container; `None` if there is nothing to measure.
pub(crate) fn numbers(source: &Arc<dyn TimelineSource>, key: &OrderKey) -> Result<Vec<Option<f64>>, FilterError> {
    let (model, list) = (source.model(), source.containers());
    let extent = source.extent();
    let interval = match key.during {
        Some(part) => part.within(extent)?,
        // A trace without duration may still have entities, so the interval is at least 1 ns.
        None => TimeRange { to: GlobalNanos(extent.to.0.max(extent.from.0.saturating_add(1))), ..extent },
    };
    let sums = |own: Vec<Option<f64>>| combine_subtrees(&list, &own, |a, b| a + b);
    Ok(match &key.measure {
        Measure::Name => vec![None; list.len()],
        #[expect(clippy::cast_precision_loss, reason = "the order needs no full precision")]
        Measure::Start => list.iter().map(|info| Some(info.life.from.0 as f64)).collect(),
        #[expect(clippy::cast_precision_loss, reason = "the order needs no full precision")]
        Measure::End => list.iter().map(|info| Some(info.life.to.0 as f64)).collect(),
        Measure::Share { values, of } | Measure::SelfShare { values, of } => {
            let (types, named) = pattern::values_of(&model, values, of.as_ref(), STATES)?;
            let is_self = matches!(key.measure, Measure::SelfShare { .. });
            let own = times(source.as_ref(), &list, &types, &named, is_self, interval)?;
            // Each type separately, because a container may represent others for one type but not
            // for another.
            let mut existence: Vec<Option<f64>> = vec![None; list.len()];
            for (existence, info) in existence.iter_mut().zip(list.iter()) {
                for &ty in types.iter().filter(|ty| source.depths(info.id, **ty) > 0) {
                    #[expect(clippy::cast_precision_loss, reason = "a share")]
                    let own = crate::stats::existence_nanos(source.as_ref(), info, ty, interval) as f64;
                    *existence = Some(existence.unwrap_or(0.0) + own);
                }
            }
            let existence = sums(existence);
            let share = |(time, existence): (Option<f64>, Option<f64>)| {
                Some(time? / existence.filter(|existence| *existence > 0.0)?)
            };
            sums(own).into_iter().zip(existence).map(share).collect()
        }
        Measure::Duration { which, values, of } => {
            single::durations(source, &list, *which, values, of.as_ref(), interval)?
        }
        Measure::Field { operation, field, of } => single::fields(source, &list, *operation, field, of, interval)?,
        Measure::Sent { field, of } => single::links(source, &list, true, field.as_deref(), of.as_ref(), interval)?,
        Measure::Received { field, of } => {
            single::links(source, &list, false, field.as_deref(), of.as_ref(), interval)?
        }
        Measure::Integral { of } => {
            let of = NamePatterns::new(vec![of.clone()]);
            let types = pattern::types(&model, &of, "variable", |ty| ty.kind == PajeTypeKind::Variable)?;
            sums(single::integrals(source, &list, &types, interval)?)
        }
        Measure::Time { values, of } | Measure::SelfTime { values, of } => {
            let (types, named) = pattern::values_of(&model, values, of.as_ref(), STATES)?;
            let is_self = matches!(key.measure, Measure::SelfTime { .. });
            sums(times(source.as_ref(), &list, &types, &named, is_self, interval)?)
        }
        Measure::Number { values, of } => {
            let (types, named) = pattern::values(&model, values, of.as_ref())?;
            let chosen = (!values.is_any()).then_some(named.as_slice());
            let mut own = vec![0_i64; list.len()];
            for ty in types {
                count(source.as_ref(), &list, (ty, model.types[ty.index()].kind), (chosen, interval), &mut own)?;
            }
            #[expect(clippy::cast_precision_loss, reason = "an order by number")]
            sums(own.into_iter().map(|number| Some(number as f64)).collect())
        }
        Measure::Mean { of } | Measure::Min { of } | Measure::Max { of } => {
            let of = NamePatterns::new(vec![of.clone()]);
            let types = pattern::types(&model, &of, "variable", |ty| ty.kind == PajeTypeKind::Variable)?;
            let mut own: Vec<Option<(f64, f64)>> = vec![None; list.len()];
            for (own, info) in own.iter_mut().zip(list.iter()) {
                for &ty in &types {
                    let column = source.series(info.id, ty, interval, 1)?.pop().flatten();
                    let Some(column) = column else { continue };
                    *own = Some(match (&key.measure, *own) {
                        (Measure::Min { .. }, before) => (before.map_or(column.min, |b| b.0.min(column.min)), 1.0),
                        (Measure::Max { .. }, before) => (before.map_or(column.max, |b| b.0.max(column.max)), 1.0),
                        (_, before) => before.map_or((column.mean, 1.0), |b| (b.0 + column.mean, b.1 + 1.0)),
                    });
                }
            }
            let joined = combine_subtrees(&list, &own, |a, b| match &key.measure {
                Measure::Min { .. } => (a.0.min(b.0), 1.0),
                Measure::Max { .. } => (a.0.max(b.0), 1.0),
                _ => (a.0 + b.0, a.1 + b.1),
            });
            joined.into_iter().map(|all| all.map(|(sum, count)| sum / count)).collect()
        }
    })
}

/// Combines the value of each container with the values of all containers below it. O(n).
fn combine_subtrees<T: Copy>(list: &[ContainerInfo], own: &[Option<T>], join: impl Fn(T, T) -> T) -> Vec<Option<T>> {
    let positions = tree::positions(list);
    let mut all = own.to_vec();
    // Children come after their parents. So in reverse order, each container is complete when it is
    // added to its parent.
    for at in (1..list.len()).rev() {
        let Some(&parent) = positions.get(&list[at].parent).filter(|&&parent| parent < at) else { continue };
        all[parent] = match (all[parent], all[at]) {
            (Some(a), Some(b)) => Some(join(a, b)),
            (a, b) => a.or(b),
        };
    }
    all
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
    interval: TimeRange,
) -> Result<Vec<Option<f64>>, QueryError> {
    let mut own = vec![None; list.len()];
    for (own, info) in own.iter_mut().zip(list) {
        for &ty in types.iter().filter(|&&ty| source.depths(info.id, ty) > 0) {
            let all = crate::stats::nested_times(source, &[info.id], ty, interval)?;
            let time = |time: &NestedTime| if is_self { time.self_time } else { time.total };
            let sum = all.iter().filter(|one| values.contains(&one.value)).map(time).sum::<i128>();
            *own = Some(own.unwrap_or(0.0) + sum as f64);
        }
    }
    Ok(own)
}

/// Adds the number of entities of a type in each container. A link counts at both endpoints, but
/// only once for a container with both endpoints below it.
fn count(
    source: &dyn TimelineSource,
    list: &[ContainerInfo],
    (ty, kind): (TypeId, PajeTypeKind),
    (values, interval): (Option<&[ValueId]>, TimeRange),
    own: &mut [i64],
) -> Result<(), QueryError> {
    let fits = |value: ValueId| i64::from(values.is_none_or(|values| values.contains(&value)));
    let whole = |total: u64| i64::try_from(total).unwrap_or(i64::MAX);
    match kind {
        PajeTypeKind::State => {
            for (own, info) in own.iter_mut().zip(list) {
                for depth in 0..source.depths(info.id, ty) {
                    let lane = StateLaneId { container: info.id, ty, depth };
                    if values.is_none() {
                        *own += whole(source.states(lane, interval, 0)?.total);
                        continue;
                    }
                    walk::states(source, lane, interval, |state| {
                        *own += fits(state.value);
                        Ok(())
                    })?;
                }
            }
        }
        PajeTypeKind::Event => {
            for (own, info) in own.iter_mut().zip(list) {
                if values.is_none() {
                    *own += whole(source.events(info.id, ty, interval, 0)?.total);
                    continue;
                }
                walk::events(source, (info.id, ty), interval, |mark| {
                    *own += fits(mark.value);
                    Ok(())
                })?;
            }
        }
        PajeTypeKind::Link { .. } => {
            let positions = tree::positions(list);
            walk::links(source, ty, interval, |link| {
                let (Some(&start), Some(&end)) = (positions.get(&link.start), positions.get(&link.end)) else {
                    return Ok(());
                };
                let number = fits(link.value);
                own[start] += number;
                own[end] += number;
                own[common(list, &positions, start, end)] -= number;
                Ok(())
            })?;
        }
        PajeTypeKind::Container | PajeTypeKind::Variable => {}
    }
    Ok(())
}

/// The position of the lowest container that contains both. O(depth).
fn common(
    list: &[ContainerInfo],
    positions: &rustc_hash::FxHashMap<ContainerId, usize>,
    mut a: usize,
    mut b: usize,
) -> usize {
    let above = |at: usize| positions.get(&list[at].parent).copied().filter(|&parent| parent < at).unwrap_or(0);
    while a != b {
        if a != 0 && list[a].depth >= list[b].depth {
            a = above(a);
        } else {
            b = above(b);
        }
    }
    a
}
