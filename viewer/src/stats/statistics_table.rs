//! All statistics of a source as rows of one table, for CSV, JSON and a page.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::operation_groups::operation_groups;
use super::statistics_rows::{RowGrouping, StatsRow};
use super::{
    ContinuationTypes, Durations, LinkTrafficKey, VariableExtreme, durations, link_traffic, size_field, tasks_of,
    times_of, variable,
};
use crate::query::{
    ContainerId, ContainerInfo, ContainersByType, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeInfo,
    TypeModel, ValueId,
};
use crate::query::{container_tree, entity_walk};

/// The rows of all entities in a time range. `field` is the size field of links. Without it, the
/// field is found by its name.
///
/// Times come from stored sums. Counts and durations require reading each state, event and link of
/// the time range.
///
/// # Errors
/// As the queries of [`TimelineSource`].
pub fn table(
    source: &dyn TimelineSource,
    time_range: TimeRange,
    grouping: RowGrouping,
    field: Option<&str>,
) -> Result<Vec<StatsRow>, QueryError> {
    let (model, list) = (source.model(), source.containers());
    let positions = container_tree::positions(&list);
    let by_type = ContainersByType::new(source, &list);
    let continuations = ContinuationTypes::find(source)?;
    let maker = StatsTableBuilder {
        source,
        model: &model,
        list: &list,
        positions,
        by_type,
        continuations,
        time_range,
        grouping,
    };
    let mut rows = Vec::new();
    for ty in &model.types {
        match ty.kind {
            PajeTypeKind::State => {
                maker.states(ty, &mut rows)?;
                maker.tasks(ty, &mut rows)?;
            }
            PajeTypeKind::Event => maker.events(ty, &mut rows)?,
            PajeTypeKind::Link { .. } => maker.links(ty, field, &mut rows)?,
            PajeTypeKind::Variable => maker.variables(ty, &mut rows)?,
            PajeTypeKind::Container => {}
        }
    }
    maker.collectives(&mut rows)?;
    Ok(rows)
}

#[expect(clippy::cast_precision_loss, reason = "seconds to be displayed")]
fn seconds(nanos: impl Into<i128>) -> f64 {
    nanos.into() as f64 / 1e9
}

struct StatsTableBuilder<'a> {
    source: &'a dyn TimelineSource,
    model: &'a TypeModel,
    list: &'a [ContainerInfo],
    positions: FxHashMap<ContainerId, usize>,
    by_type: ContainersByType<'a>,
    continuations: ContinuationTypes,
    time_range: TimeRange,
    grouping: RowGrouping,
}

impl StatsTableBuilder<'_> {
    fn path(&self, container: ContainerId) -> String {
        let position = self.positions.get(&container);
        position
            .map(|&position| container_tree::path(self.list, &self.positions, position).join("/"))
            .unwrap_or_default()
    }

    fn value(&self, value: ValueId) -> Option<String> {
        self.model.values.get(value.index()).map(|value| value.name.clone())
    }

    /// The sets of containers that share rows: each container alone, or all together.
    fn parts(&self, containers: Vec<ContainerId>) -> Vec<(Option<String>, Vec<ContainerId>)> {
        match self.grouping {
            RowGrouping::Container => containers.into_iter().map(|id| (Some(self.path(id)), vec![id])).collect(),
            RowGrouping::Value | RowGrouping::Type if containers.is_empty() => Vec::new(),
            RowGrouping::Value | RowGrouping::Type => vec![(None, containers)],
        }
    }

    fn row(kind: &'static str, ty: &TypeInfo, container: Option<String>) -> StatsRow {
        StatsRow { kind, ty: ty.name.clone(), container, ..StatsRow::default() }
    }

    fn states(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let containers = self.by_type.of(ty.id).into_iter().filter(|&id| self.source.depths(id, ty.id) > 0).collect();
        for (container, part) in self.parts(containers) {
            let infos = part.iter().map(|id| self.positions.get(id).map(|&position| &self.list[position]));
            let times = times_of(self.source, infos, ty.id, self.time_range)?;
            let mut durations_by_value = durations(self.source, &part, ty.id, self.time_range)?;
            if self.grouping == RowGrouping::Type {
                let all: Durations = durations_by_value.into_values().flat_map(Durations::into_nanos).collect();
                // The time in any state of the type. Self times never overlap.
                let time = Some(seconds(times.values.iter().map(|value| value.self_nanos).sum::<i128>()));
                let share = Some(times.values.iter().map(|value| value.self_share).sum());
                let (self_time, self_share) = (time, share);
                let row = StatsRow { time, share, self_time, self_share, ..Self::row("state", ty, container) };
                rows.push(row.with_durations(&all));
                continue;
            }
            for value in &times.values {
                let value_durations = durations_by_value.remove(&value.value).unwrap_or_default();
                let base_row = StatsRow {
                    time: Some(seconds(value.nanos)),
                    share: Some(value.share),
                    self_time: Some(seconds(value.self_nanos)),
                    self_share: Some(value.self_share),
                    value: self.value(value.value),
                    ..Self::row("state", ty, container.clone())
                };
                rows.push(base_row.with_durations(&value_durations));
            }
            // States without duration take no time, but have rows.
            for (value, value_durations) in durations_by_value {
                let none = Some(0.0);
                let (time, share, self_time, self_share) = (none, none, none, none);
                let value = self.value(value);
                let of =
                    StatsRow { time, share, self_time, self_share, value, ..Self::row("state", ty, container.clone()) };
                rows.push(of.with_durations(&value_durations));
            }
        }
        Ok(())
    }

    /// Tasks that consist of states of a type.
    fn tasks(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let mut groups: BTreeMap<_, (Vec<Durations>, i128)> = BTreeMap::new();
        for ((container, value), tasks) in tasks_of(self.source, ty.id, self.time_range, &self.continuations)? {
            let key = match self.grouping {
                RowGrouping::Container => (Some(container), Some(value)),
                RowGrouping::Value => (None, Some(value)),
                RowGrouping::Type => (None, None),
            };
            let all = groups.entry(key).or_default();
            all.0.push(tasks.latencies);
            all.1 += tasks.active_time;
        }
        for ((container, value), (latencies, active_time)) in groups {
            let all: Durations = latencies.into_iter().flat_map(Durations::into_nanos).collect();
            let row = StatsRow {
                value: value.and_then(|value| self.value(value)),
                time: Some(seconds(active_time)),
                ..Self::row("task", ty, container.map(|container| self.path(container)))
            };
            rows.push(row.with_durations(&all));
        }
        Ok(())
    }

    /// Collective operations of all types.
    fn collectives(&self, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        for (key, sums) in operation_groups(self.source, self.time_range, self.grouping)? {
            let Some(ty) = self.model.types.get(key.ty.index()) else { continue };
            #[expect(clippy::cast_precision_loss, reason = "a size to be displayed")]
            let size = sums.bytes.map(|bytes| bytes as f64);
            rows.push(StatsRow {
                value: key.value.and_then(|value| self.value(value)),
                count: Some(sums.operations),
                size,
                max_at: sums.longest_wait.map(|longest| seconds(longest.enter)),
                max_in: sums
                    .longest_wait
                    .filter(|_| key.container.is_none())
                    .map(|longest| self.path(longest.container)),
                operation: Some(key.kind.word()),
                communicator: Some(key.communicator).filter(|name| !name.is_empty()),
                parts: Some(sums.parts),
                wait: Some(seconds(sums.wait)),
                wait_mean: Some(sums.mean_wait() / 1e9),
                wait_max: Some(seconds(sums.longest_wait.map_or(0, |longest| longest.nanos))),
                ..Self::row("collective", ty, key.container.map(|container| self.path(container)))
            });
        }
        Ok(())
    }

    fn events(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let mut containers = Vec::new();
        for id in self.by_type.of(ty.id) {
            if self.source.events(id, ty.id, self.time_range, 0)?.total > 0 {
                containers.push(id);
            }
        }
        for (container, part) in self.parts(containers) {
            let mut counts: BTreeMap<Option<ValueId>, u64> = BTreeMap::new();
            for id in part {
                entity_walk::events(self.source, (id, ty.id), self.time_range, |mark| {
                    *counts.entry((self.grouping != RowGrouping::Type).then_some(mark.value)).or_default() += 1;
                    Ok(())
                })?;
            }
            let row = |(value, count): (Option<ValueId>, u64)| StatsRow {
                count: Some(count),
                value: value.and_then(|value| self.value(value)),
                ..Self::row("event", ty, container.clone())
            };
            rows.extend(counts.into_iter().map(row));
        }
        Ok(())
    }

    fn links(&self, ty: &TypeInfo, field: Option<&str>, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let field = match field {
            Some(field) => Some(field.to_owned()),
            None => size_field(self.source, ty.id, self.time_range)?,
        };
        let mut groups: BTreeMap<_, (Vec<Durations>, Option<f64>)> = BTreeMap::new();
        for (of, traffic) in link_traffic(self.source, ty.id, self.time_range, field.as_deref())? {
            let LinkTrafficKey { start, end, value } = of;
            let key = match self.grouping {
                RowGrouping::Container => (Some((start, end)), Some(value)),
                RowGrouping::Value => (None, Some(value)),
                RowGrouping::Type => (None, None),
            };
            let all = groups.entry(key).or_default();
            all.0.push(traffic.durations);
            all.1 = all.1.map_or(traffic.size, |sum| Some(sum + traffic.size.unwrap_or(0.0)));
        }
        for ((ends, value), (nanos, size)) in groups {
            let all: Durations = nanos.into_iter().flat_map(Durations::into_nanos).collect();
            let row = StatsRow {
                to: ends.map(|ends| self.path(ends.1)),
                value: value.and_then(|value| self.value(value)),
                size,
                ..Self::row("link", ty, ends.map(|ends| self.path(ends.0)))
            };
            rows.push(row.with_durations(&all));
        }
        Ok(())
    }

    fn variables(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let mut statistics = Vec::new();
        for id in self.by_type.of(ty.id) {
            statistics.extend(variable(self.source, id, ty.id, self.time_range)?.map(|stats| (id, stats)));
        }
        let row = |container, mean, min: PlacedExtreme, max: PlacedExtreme| StatsRow {
            mean: Some(mean),
            min: Some(min.extreme.value),
            min_at: Some(seconds(min.extreme.timestamp.0)),
            min_in: Some(self.path(min.container)),
            max: Some(max.extreme.value),
            max_at: Some(seconds(max.extreme.timestamp.0)),
            max_in: Some(self.path(max.container)),
            ..Self::row("variable", ty, container)
        };
        let place_extreme = |&container: &ContainerId, extreme: VariableExtreme| PlacedExtreme { container, extreme };
        if self.grouping == RowGrouping::Container {
            rows.extend(
                statistics.iter().map(|(id, s)| {
                    row(Some(self.path(*id)), s.mean, place_extreme(id, s.min), place_extreme(id, s.max))
                }),
            );
            return Ok(());
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean of means")]
        let mean = statistics.iter().map(|entry| entry.1.mean).sum::<f64>() / statistics.len() as f64;
        // Of equal values, the earliest counts.
        let best = |is_better: fn(f64, f64) -> bool| {
            move |a: PlacedExtreme, b: PlacedExtreme| {
                let is_earlier = b.extreme.value == a.extreme.value && b.extreme.timestamp < a.extreme.timestamp;
                if is_better(b.extreme.value, a.extreme.value) || is_earlier { b } else { a }
            }
        };
        let min = statistics.iter().map(|(id, s)| place_extreme(id, s.min)).reduce(best(|b, a| b < a));
        let max = statistics.iter().map(|(id, s)| place_extreme(id, s.max)).reduce(best(|b, a| b > a));
        rows.extend(min.zip(max).map(|(min, max)| row(None, mean, min, max)));
        Ok(())
    }
}

/// The smallest or largest value of a variable, and its container.
#[derive(Clone, Copy)]
struct PlacedExtreme {
    container: ContainerId,
    extreme: VariableExtreme,
}

impl StatsRow {
    /// Fills in the statistics of durations.
    fn with_durations(self, durations: &Durations) -> Self {
        Self {
            count: Some(durations.count()),
            duration_min: durations.quantile(0.0).map(seconds),
            duration_mean: durations.mean().map(|nanos| nanos / 1e9),
            duration_median: durations.quantile(0.5).map(seconds),
            duration_p99: durations.quantile(0.99).map(seconds),
            duration_max: durations.quantile(1.0).map(seconds),
            ..self
        }
    }
}
