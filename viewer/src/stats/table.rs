//! All statistics of a source as rows of one table, for CSV, JSON and a page.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use super::{Continuations, Durations, Extreme, durations, exchanges, size_field, tasks_of, times_of, variable};
use crate::query::{
    ContainerId, ContainerInfo, ContainersByType, Interval, Model, QueryError, TimelineSource, TypeInfo, TypeKind,
    ValueId,
};
use crate::query::{tree, walk};
use crate::text::csv_cell;

/// What has a row of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Each value of each type, over all containers.
    #[default]
    Value,
    /// The same in each container; links from each container to each.
    Container,
    /// Each type, over all values and containers.
    Type,
}

/// A row. Dates and durations are in seconds. What does not apply is not there.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    /// `state`, `task`, `event`, `link` or `variable`.
    pub kind: &'static str,
    /// Name of the type.
    #[serde(rename = "type")]
    pub ty: String,
    /// Path of the container, or of the one where links start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Path of the container where links end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Name of the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// How many states, events or links overlap the interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Total time in states within the interval. Nested states of the same value count once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Share of the lifetime of the containers within the interval, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Self time: a state of the value is the innermost state of its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_time: Option<f64>,
    /// Self time as a share of the same lifetime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub self_share: Option<f64>,
    /// Whole durations of states and links: the least,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_min: Option<f64>,
    /// the mean,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_mean: Option<f64>,
    /// the median,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_median: Option<f64>,
    /// what 99 of 100 do not exceed,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_p99: Option<f64>,
    /// and the largest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_max: Option<f64>,
    /// Sum of the field of links that tells sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<f64>,
    /// Mean of a variable over time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Least value of a variable,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// the date at which it is first reached,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_at: Option<f64>,
    /// and the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_in: Option<String>,
    /// Largest value of a variable,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// the date at which it is first reached,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_at: Option<f64>,
    /// and the container.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in: Option<String>,
}

/// Names of the columns, in the order of [`Row`].
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

/// The rows of everything that is in an interval. Sizes of links are in `field`; without one, it is found by its name.
///
/// Time comes from sums; counts and durations read each state, event and link of the interval.
///
/// # Errors
/// As the queries of [`TimelineSource`].
pub fn table(
    source: &dyn TimelineSource,
    interval: Interval,
    by: By,
    field: Option<&str>,
) -> Result<Vec<Row>, QueryError> {
    let (model, list) = (source.model(), source.containers());
    let positions = tree::positions(&list);
    let by_type = ContainersByType::new(source, &list);
    let continuations = Continuations::find(source)?;
    let maker = Maker { source, model: &model, list: &list, positions, by_type, continuations, interval, by };
    let mut rows = Vec::new();
    for ty in &model.types {
        match ty.kind {
            TypeKind::State => {
                maker.states(ty, &mut rows)?;
                maker.tasks(ty, &mut rows)?;
            }
            TypeKind::Event => maker.events(ty, &mut rows)?,
            TypeKind::Link { .. } => maker.links(ty, field, &mut rows)?,
            TypeKind::Variable => maker.variables(ty, &mut rows)?,
            TypeKind::Container => {}
        }
    }
    Ok(rows)
}

/// The rows as comma-separated values (RFC 4180, with LF), with a line of names.
#[must_use]
pub fn to_csv(rows: &[Row]) -> String {
    to_csv_with(rows, None)
}

/// As [`to_csv`], with timestamps as times of day. `wall_clock` is the real time of trace time 0,
/// nanoseconds since 1970.
#[must_use]
pub fn to_csv_with(rows: &[Row], wall_clock: Option<i64>) -> String {
    let mut text = COLUMNS.join(",");
    text.push('\n');
    for row in rows {
        // A row has only texts and numbers, and can always be made a value.
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

/// The columns that hold timestamps.
pub const DATES: [&str; 2] = ["min_at", "max_at"];

/// The time of day of a timestamp in seconds, in UTC in ISO 8601.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "back to the nanoseconds that they came from")]
pub fn time_of_day(seconds: f64, wall_clock: i64) -> String {
    tumit_converter::convert::wall_clock::text(wall_clock.saturating_add((seconds * 1e9).round() as i64))
}

#[expect(clippy::cast_precision_loss, reason = "seconds for people and their tools")]
fn seconds(nanos: impl Into<i128>) -> f64 {
    nanos.into() as f64 / 1e9
}

struct Maker<'a> {
    source: &'a dyn TimelineSource,
    model: &'a Model,
    list: &'a [ContainerInfo],
    positions: FxHashMap<ContainerId, usize>,
    by_type: ContainersByType<'a>,
    continuations: Continuations,
    interval: Interval,
    by: By,
}

impl Maker<'_> {
    fn path(&self, container: ContainerId) -> String {
        let at = self.positions.get(&container);
        at.map(|&at| tree::path(self.list, &self.positions, at).join("/")).unwrap_or_default()
    }

    fn value(&self, value: ValueId) -> Option<String> {
        self.model.values.get(value.index()).map(|value| value.name.clone())
    }

    /// The containers that share rows: each alone, or all.
    fn parts(&self, having: Vec<ContainerId>) -> Vec<(Option<String>, Vec<ContainerId>)> {
        match self.by {
            By::Container => having.into_iter().map(|id| (Some(self.path(id)), vec![id])).collect(),
            By::Value | By::Type if having.is_empty() => Vec::new(),
            By::Value | By::Type => vec![(None, having)],
        }
    }

    fn row(kind: &'static str, ty: &TypeInfo, container: Option<String>) -> Row {
        Row { kind, ty: ty.name.clone(), container, ..Row::default() }
    }

    fn states(&self, ty: &TypeInfo, rows: &mut Vec<Row>) -> Result<(), QueryError> {
        let having = self.by_type.of(ty.id).into_iter().filter(|&id| self.source.depths(id, ty.id) > 0).collect();
        for (container, part) in self.parts(having) {
            let infos = part.iter().map(|id| self.positions.get(id).map(|&at| &self.list[at]));
            let times = times_of(self.source, infos, ty.id, self.interval)?;
            let mut lasting = durations(self.source, &part, ty.id, self.interval)?;
            if self.by == By::Type {
                let all: Durations = lasting.into_values().flat_map(Durations::into_nanos).collect();
                // Time in any state of the type: self times never overlap.
                let time = Some(seconds(times.values.iter().map(|value| value.self_nanos).sum::<i128>()));
                let share = Some(times.values.iter().map(|value| value.self_share).sum());
                let (self_time, self_share) = (time, share);
                let row = Row { time, share, self_time, self_share, ..Self::row("state", ty, container) };
                rows.push(row.lasting(&all));
                continue;
            }
            for value in &times.values {
                let lasting = lasting.remove(&value.value).unwrap_or_default();
                let of = Row {
                    time: Some(seconds(value.nanos)),
                    share: Some(value.share),
                    self_time: Some(seconds(value.self_nanos)),
                    self_share: Some(value.self_share),
                    value: self.value(value.value),
                    ..Self::row("state", ty, container.clone())
                };
                rows.push(of.lasting(&lasting));
            }
            // States without duration take no time, but are there.
            for (value, lasting) in lasting {
                let none = Some(0.0);
                let (time, share, self_time, self_share) = (none, none, none, none);
                let value = self.value(value);
                let of = Row { time, share, self_time, self_share, value, ..Self::row("state", ty, container.clone()) };
                rows.push(of.lasting(&lasting));
            }
        }
        Ok(())
    }

    /// Tasks whose parts are states of a type.
    fn tasks(&self, ty: &TypeInfo, rows: &mut Vec<Row>) -> Result<(), QueryError> {
        let mut joined: BTreeMap<_, (Vec<Durations>, i128)> = BTreeMap::new();
        for ((container, value), one) in tasks_of(self.source, ty.id, self.interval, &self.continuations)? {
            let key = match self.by {
                By::Container => (Some(container), Some(value)),
                By::Value => (None, Some(value)),
                By::Type => (None, None),
            };
            let all = joined.entry(key).or_default();
            all.0.push(one.latencies);
            all.1 += one.active;
        }
        for ((container, value), (latencies, active)) in joined {
            let all: Durations = latencies.into_iter().flat_map(Durations::into_nanos).collect();
            let row = Row {
                value: value.and_then(|value| self.value(value)),
                time: Some(seconds(active)),
                ..Self::row("task", ty, container.map(|container| self.path(container)))
            };
            rows.push(row.lasting(&all));
        }
        Ok(())
    }

    fn events(&self, ty: &TypeInfo, rows: &mut Vec<Row>) -> Result<(), QueryError> {
        let mut having = Vec::new();
        for id in self.by_type.of(ty.id) {
            if self.source.events(id, ty.id, self.interval, 0)?.total > 0 {
                having.push(id);
            }
        }
        for (container, part) in self.parts(having) {
            let mut counts: BTreeMap<Option<ValueId>, u64> = BTreeMap::new();
            for id in part {
                walk::events(self.source, (id, ty.id), self.interval, |mark| {
                    *counts.entry((self.by != By::Type).then_some(mark.value)).or_default() += 1;
                    Ok(())
                })?;
            }
            let row = |(value, count): (Option<ValueId>, u64)| Row {
                count: Some(count),
                value: value.and_then(|value| self.value(value)),
                ..Self::row("event", ty, container.clone())
            };
            rows.extend(counts.into_iter().map(row));
        }
        Ok(())
    }

    fn links(&self, ty: &TypeInfo, field: Option<&str>, rows: &mut Vec<Row>) -> Result<(), QueryError> {
        let field = match field {
            Some(field) => Some(field.to_owned()),
            None => size_field(self.source, ty.id, self.interval)?,
        };
        let mut joined: BTreeMap<_, (Vec<Durations>, Option<f64>)> = BTreeMap::new();
        for ((start, end, value), one) in exchanges(self.source, ty.id, self.interval, field.as_deref())? {
            let key = match self.by {
                By::Container => (Some((start, end)), Some(value)),
                By::Value => (None, Some(value)),
                By::Type => (None, None),
            };
            let all = joined.entry(key).or_default();
            all.0.push(one.durations);
            all.1 = all.1.map_or(one.size, |sum| Some(sum + one.size.unwrap_or(0.0)));
        }
        for ((ends, value), (lasting, size)) in joined {
            let all: Durations = lasting.into_iter().flat_map(Durations::into_nanos).collect();
            let row = Row {
                to: ends.map(|ends| self.path(ends.1)),
                value: value.and_then(|value| self.value(value)),
                size,
                ..Self::row("link", ty, ends.map(|ends| self.path(ends.0)))
            };
            rows.push(row.lasting(&all));
        }
        Ok(())
    }

    fn variables(&self, ty: &TypeInfo, rows: &mut Vec<Row>) -> Result<(), QueryError> {
        let mut found = Vec::new();
        for id in self.by_type.of(ty.id) {
            found.extend(variable(self.source, id, ty.id, self.interval)?.map(|stats| (id, stats)));
        }
        let row = |container, mean, min: (ContainerId, Extreme), max: (ContainerId, Extreme)| Row {
            mean: Some(mean),
            min: Some(min.1.value),
            min_at: Some(seconds(min.1.at.0)),
            min_in: Some(self.path(min.0)),
            max: Some(max.1.value),
            max_at: Some(seconds(max.1.at.0)),
            max_in: Some(self.path(max.0)),
            ..Self::row("variable", ty, container)
        };
        if self.by == By::Container {
            rows.extend(found.iter().map(|(id, s)| row(Some(self.path(*id)), s.mean, (*id, s.min), (*id, s.max))));
            return Ok(());
        }
        #[expect(clippy::cast_precision_loss, reason = "a mean of means")]
        let mean = found.iter().map(|one| one.1.mean).sum::<f64>() / found.len() as f64;
        // Among equal ones, the first that is reached.
        let best = |is_better: fn(f64, f64) -> bool| {
            move |a: (ContainerId, Extreme), b: (ContainerId, Extreme)| {
                let is_earlier = b.1.value == a.1.value && b.1.at < a.1.at;
                if is_better(b.1.value, a.1.value) || is_earlier { b } else { a }
            }
        };
        let min = found.iter().map(|(id, s)| (*id, s.min)).reduce(best(|b, a| b < a));
        let max = found.iter().map(|(id, s)| (*id, s.max)).reduce(best(|b, a| b > a));
        rows.extend(min.zip(max).map(|(min, max)| row(None, mean, min, max)));
        Ok(())
    }
}

impl Row {
    /// With what durations come to.
    fn lasting(self, all: &Durations) -> Self {
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
