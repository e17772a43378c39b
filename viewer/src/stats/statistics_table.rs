//! All statistics of a source as rows of one table, for CSV, JSON and a page.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use super::{
    ContinuationTypes, Durations, LinkTrafficKey, VariableExtreme, durations, link_traffic, size_field, tasks_of,
    times_of, variable,
};
use crate::query::{
    ContainerId, ContainerInfo, ContainersByType, PajeTypeKind, QueryError, TimeRange, TimelineSource, TypeInfo,
    TypeModel, ValueId,
};
use crate::query::{container_tree, entity_walk};
use crate::text::csv_cell;

/// Which entities one row of the table sums up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowGrouping {
    /// One row per value of each type, over all containers.
    #[default]
    Value,
    /// One row per value and container. For links, one per pair of containers.
    Container,
    /// One row per type, over all values and containers.
    Type,
}

/// A row. Timestamps and durations are in seconds. Fields that do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StatsRow {
    /// `state`, `task`, `event`, `link` or `variable`.
    pub kind: &'static str,
    /// Name of the type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Path of the container. For links, of the start container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Path of the end container of links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Name of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Number of states, events or links that overlap the time range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Total time in states within the time range. Nested states of the same value count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Share of the lifetime of the containers within the time range, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Self time: a state of the value is the innermost state of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_time: Option<f64>,
    /// Self time as a share of the same lifetime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_share: Option<f64>,
    /// Shortest whole duration of states or links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_min: Option<f64>,
    /// Mean whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_mean: Option<f64>,
    /// Median whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_median: Option<f64>,
    /// 99th percentile of the whole durations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_p99: Option<f64>,
    /// Longest whole duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_max: Option<f64>,
    /// Sum of the links' size field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Time-weighted mean of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Smallest value of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The first timestamp of the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_at: Option<f64>,
    /// The container with the smallest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_in: Option<String>,
    /// Largest value of a variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The first timestamp of the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_at: Option<f64>,
    /// The container with the largest value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in: Option<String>,
}

/// Names of the columns, in the order of [`StatsRow`].
const COLUMNS: [&str; 23] = [
    "kind",
    "type",
    "container",
    "to",
    "value",
    "count",
    "time",
    "share",
    "self_time",
    "self_share",
    "duration_min",
    "duration_mean",
    "duration_median",
    "duration_p99",
    "duration_max",
    "size",
    "mean",
    "min",
    "min_at",
    "min_in",
    "max",
    "max_at",
    "max_in",
];

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
    by: RowGrouping,
    field: Option<&str>,
) -> Result<Vec<StatsRow>, QueryError> {
    let (model, list) = (source.model(), source.containers());
    let positions = container_tree::positions(&list);
    let by_type = ContainersByType::new(source, &list);
    let continuations = ContinuationTypes::find(source)?;
    let maker =
        StatsTableBuilder { source, model: &model, list: &list, positions, by_type, continuations, time_range, by };
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
    Ok(rows)
}

/// Formats the rows as comma-separated values (RFC 4180, with LF), with a header line.
#[must_use]
pub fn to_csv(rows: &[StatsRow]) -> String {
    to_csv_with(rows, None)
}

/// As [`to_csv`], with timestamps as times of day. `wall_clock` is the wall clock at trace time 0,
/// in nanoseconds since 1970.
#[must_use]
pub fn to_csv_with(rows: &[StatsRow], wall_clock: Option<i64>) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for row in rows {
        // A row has only texts and numbers, so the conversion cannot fail.
        let value = serde_json::to_value(row).unwrap_or_default();
        let cells = COLUMNS.map(|column| match &value[column] {
            Value::Null => String::new(),
            Value::String(text) => {
                let mut cell = Vec::new();
                csv_cell::append(text, &mut cell);
                String::from_utf8(cell).unwrap_or_default()
            }
            Value::Number(seconds) if DATES.contains(&column) && wall_clock.is_some() => {
                time_of_day(seconds.as_f64().unwrap_or_default(), wall_clock.unwrap_or_default())
            }
            other => other.to_string(),
        });
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// The columns with timestamps.
pub const DATES: [&str; 2] = ["min_at", "max_at"];

/// The time of day of a timestamp in seconds, in UTC in ISO 8601.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "the seconds were computed from nanoseconds")]
pub fn time_of_day(seconds: f64, wall_clock: i64) -> String {
    tumit_converter::convert::wall_clock::text(wall_clock.saturating_add((seconds * 1e9).round() as i64))
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
    by: RowGrouping,
}

impl StatsTableBuilder<'_> {
    fn path(&self, container: ContainerId) -> String {
        let at = self.positions.get(&container);
        at.map(|&at| container_tree::path(self.list, &self.positions, at).join("/")).unwrap_or_default()
    }

    fn value(&self, value: ValueId) -> Option<String> {
        self.model.values.get(value.index()).map(|value| value.name.clone())
    }

    /// The sets of containers that share rows: each container alone, or all together.
    fn parts(&self, having: Vec<ContainerId>) -> Vec<(Option<String>, Vec<ContainerId>)> {
        match self.by {
            RowGrouping::Container => having.into_iter().map(|id| (Some(self.path(id)), vec![id])).collect(),
            RowGrouping::Value | RowGrouping::Type if having.is_empty() => Vec::new(),
            RowGrouping::Value | RowGrouping::Type => vec![(None, having)],
        }
    }

    fn row(kind: &'static str, ty: &TypeInfo, container: Option<String>) -> StatsRow {
        StatsRow { kind, ty: ty.name.clone(), container, ..StatsRow::default() }
    }

    fn states(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let having = self.by_type.of(ty.id).into_iter().filter(|&id| self.source.depths(id, ty.id) > 0).collect();
        for (container, part) in self.parts(having) {
            let infos = part.iter().map(|id| self.positions.get(id).map(|&at| &self.list[at]));
            let times = times_of(self.source, infos, ty.id, self.time_range)?;
            let mut durations_by_value = durations(self.source, &part, ty.id, self.time_range)?;
            if self.by == RowGrouping::Type {
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
                let of = StatsRow {
                    time: Some(seconds(value.nanos)),
                    share: Some(value.share),
                    self_time: Some(seconds(value.self_nanos)),
                    self_share: Some(value.self_share),
                    value: self.value(value.value),
                    ..Self::row("state", ty, container.clone())
                };
                rows.push(of.with_durations(&value_durations));
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
        let mut joined: BTreeMap<_, (Vec<Durations>, i128)> = BTreeMap::new();
        for ((container, value), one) in tasks_of(self.source, ty.id, self.time_range, &self.continuations)? {
            let key = match self.by {
                RowGrouping::Container => (Some(container), Some(value)),
                RowGrouping::Value => (None, Some(value)),
                RowGrouping::Type => (None, None),
            };
            let all = joined.entry(key).or_default();
            all.0.push(one.latencies);
            all.1 += one.active;
        }
        for ((container, value), (latencies, active)) in joined {
            let all: Durations = latencies.into_iter().flat_map(Durations::into_nanos).collect();
            let row = StatsRow {
                value: value.and_then(|value| self.value(value)),
                time: Some(seconds(active)),
                ..Self::row("task", ty, container.map(|container| self.path(container)))
            };
            rows.push(row.with_durations(&all));
        }
        Ok(())
    }

    fn events(&self, ty: &TypeInfo, rows: &mut Vec<StatsRow>) -> Result<(), QueryError> {
        let mut having = Vec::new();
        for id in self.by_type.of(ty.id) {
            if self.source.events(id, ty.id, self.time_range, 0)?.total > 0 {
                having.push(id);
            }
        }
        for (container, part) in self.parts(having) {
            let mut counts: BTreeMap<Option<ValueId>, u64> = BTreeMap::new();
            for id in part {
                entity_walk::events(self.source, (id, ty.id), self.time_range, |mark| {
                    *counts.entry((self.by != RowGrouping::Type).then_some(mark.value)).or_default() += 1;
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
        let mut joined: BTreeMap<_, (Vec<Durations>, Option<f64>)> = BTreeMap::new();
        for (of, one) in link_traffic(self.source, ty.id, self.time_range, field.as_deref())? {
            let LinkTrafficKey { start, end, value } = of;
            let key = match self.by {
                RowGrouping::Container => (Some((start, end)), Some(value)),
                RowGrouping::Value => (None, Some(value)),
                RowGrouping::Type => (None, None),
            };
            let all = joined.entry(key).or_default();
            all.0.push(one.durations);
            all.1 = all.1.map_or(one.size, |sum| Some(sum + one.size.unwrap_or(0.0)));
        }
        for ((ends, value), (nanos, size)) in joined {
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
        let mut found = Vec::new();
        for id in self.by_type.of(ty.id) {
            found.extend(variable(self.source, id, ty.id, self.time_range)?.map(|stats| (id, stats)));
        }
        let row = |container, mean, min: PlacedExtreme, max: PlacedExtreme| StatsRow {
            mean: Some(mean),
            min: Some(min.extreme.value),
            min_at: Some(seconds(min.extreme.at.0)),
            min_in: Some(self.path(min.container)),
            max: Some(max.extreme.value),
            max_at: Some(seconds(max.extreme.at.0)),
            max_in: Some(self.path(max.container)),
            ..Self::row("variable", ty, container)
        };
        let placed = |&container: &ContainerId, extreme: VariableExtreme| PlacedExtreme { container, extreme };
        if self.by == RowGrouping::Container {
            rows.extend(
                found.iter().map(|(id, s)| row(Some(self.path(*id)), s.mean, placed(id, s.min), placed(id, s.max))),
            );
            return Ok(());
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean of means")]
        let mean = found.iter().map(|one| one.1.mean).sum::<f64>() / found.len() as f64;
        // Of equal values, the earliest counts.
        let best = |is_better: fn(f64, f64) -> bool| {
            move |a: PlacedExtreme, b: PlacedExtreme| {
                let is_earlier = b.extreme.value == a.extreme.value && b.extreme.at < a.extreme.at;
                if is_better(b.extreme.value, a.extreme.value) || is_earlier { b } else { a }
            }
        };
        let min = found.iter().map(|(id, s)| placed(id, s.min)).reduce(best(|b, a| b < a));
        let max = found.iter().map(|(id, s)| placed(id, s.max)).reduce(best(|b, a| b > a));
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
    fn with_durations(self, all: &Durations) -> Self {
        Self {
            count: Some(all.count()),
            duration_min: all.quantile(0.0).map(seconds),
            duration_mean: all.mean().map(|nanos| nanos / 1e9),
            duration_median: all.quantile(0.5).map(seconds),
            duration_p99: all.quantile(0.99).map(seconds),
            duration_max: all.quantile(1.0).map(seconds),
            ..self
        }
    }
}
