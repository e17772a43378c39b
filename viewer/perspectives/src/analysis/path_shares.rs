//! [`PathShares`]: the critical path by state, unit and category, and the largest possible gains.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::path_shares::PathShares;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let shares = PathShares::of_range(&execution, execution.extent())?;
//! // Most of the path is work, and half a second is the message.
//! assert_eq!((shares.values[0].name.as_str(), shares.transit), ("work", 500_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::filter::NamePattern;
use tumit_viewer::query::{TimeRange, ValueId};

use crate::analysis::collectives::CollectiveSet;
use crate::analysis::critical_path::{CriticalPath, PathTimes};
use crate::analysis::gain::{AssumedChange, GainBounds, GainModel};
use crate::chart::{AxisUnit, ChartTable, TableValue};
use crate::error::PerspectiveError;
use crate::execution::Execution;

/// The decrease in percent for which the gain of each state is given.
pub const USUAL_DECREASE: f64 = 10.0;
/// Number of states with a gain, those with the most time on the path. Each gain needs a pass over
/// all dependences.
const STATES_WITH_GAIN: usize = 32;

/// A part of the critical path.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PathShare {
    /// The name of the value or unit.
    pub name: String,
    /// Time in nanoseconds.
    pub nanos: i64,
    /// Part of the path from 0 to 1.
    pub share: f64,
    /// The largest possible gain in nanoseconds, if the states took [`USUAL_DECREASE`] percent less
    /// time. `None` for units and categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<i64>,
    /// The same if the waits of unknown cause keep their duration ([`GainBounds`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_with_fixed_waits: Option<i64>,
}

/// The critical path by purpose.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PathShares {
    /// The length of the path, in nanoseconds.
    pub nanos: i64,
    /// Its part in messages, in nanoseconds.
    pub transit: i64,
    /// The path by value, the largest first.
    pub values: Vec<PathShare>,
    /// The path by unit, the largest first.
    pub units: Vec<PathShare>,
    /// The path by category, the largest first.
    pub categories: Vec<PathShare>,
}

/// An assumed change: states of matching names take less time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ShorterStates {
    /// The names of the values.
    pub values: NamePattern,
    /// The decrease of their duration in percent, from 0 to 100.
    pub percent: f64,
}

impl ShorterStates {
    /// States of these names take `percent` less time.
    #[must_use]
    pub const fn new(values: NamePattern, percent: f64) -> Self {
        Self { values, percent }
    }
}

/// The largest possible gain of an assumed change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WhatIf {
    /// The pattern of the names of the values.
    pub name: String,
    /// The decrease of their duration in percent.
    pub percent: f64,
    /// Their time on the critical path, in nanoseconds.
    pub path_nanos: i64,
    /// The largest possible gain in nanoseconds. Another chain may become the longest, so the
    /// program can gain less.
    pub gain: i64,
    /// The same if the waits of unknown cause keep their duration ([`GainBounds`]).
    pub gain_with_fixed_waits: i64,
}

/// Computes the largest gains of some changes.
///
/// # Errors
/// If no state has a matching name, or the source fails.
pub fn what_ifs(
    execution: &Execution,
    changes: &[ShorterStates],
    times: &PathTimes,
    gains: &GainModel<'_>,
) -> Result<Vec<WhatIf>, PerspectiveError> {
    let of_units = execution.model().values.iter();
    let of_units = of_units.filter(|value| execution.units().state_types.contains(&value.ty));
    let mut all = Vec::new();
    for ShorterStates { values, .. } in changes {
        let named = of_units.clone().filter(|value| values.fits(&value.name));
        let fits: BTreeSet<ValueId> = named.map(|value| value.id).collect();
        if fits.is_empty() {
            let (name, known_names) = (values.as_str().to_owned(), of_units.map(|value| value.name.clone()).collect());
            return Err(PerspectiveError::NoState { name, known_names });
        }
        all.push(fits);
    }
    let assumed: Vec<AssumedChange> = changes
        .iter()
        .zip(&all)
        .map(|(change, values)| AssumedChange { percent: change.percent, values: values.clone() })
        .collect();
    let what_if = |((change, fits), gain): ((&ShorterStates, &BTreeSet<ValueId>), GainBounds)| {
        let on_path = times.by_value.iter().filter(|(value, _)| value.is_some_and(|value| fits.contains(&value)));
        WhatIf {
            name: change.values.as_str().to_owned(),
            percent: change.percent,
            path_nanos: on_path.map(|(_, nanos)| nanos).sum(),
            gain: gain.largest,
            gain_with_fixed_waits: gain.with_fixed_waits,
        }
    };
    Ok(changes.iter().zip(&all).zip(gains.gains(&assumed)?).map(what_if).collect())
}

impl PathShares {
    /// Sums the parts of a path.
    ///
    /// # Errors
    /// If the source fails.
    pub fn new(
        execution: &Execution,
        path: &CriticalPath,
        times: &PathTimes,
        gains: &GainModel<'_>,
    ) -> Result<Self, PerspectiveError> {
        let nanos = path.nanos();
        let mut by_value: Vec<(&Option<ValueId>, &i64)> = times.by_value.iter().collect();
        by_value.sort_by_key(|(_, nanos)| std::cmp::Reverse(**nanos));
        let with_gain: Vec<ValueId> = by_value.iter().filter_map(|(value, _)| **value).take(STATES_WITH_GAIN).collect();
        let change = |value: &ValueId| AssumedChange { percent: USUAL_DECREASE, values: BTreeSet::from([*value]) };
        let changes: Vec<AssumedChange> = with_gain.iter().map(change).collect();
        let by_gain: BTreeMap<ValueId, GainBounds> = with_gain.iter().copied().zip(gains.gains(&changes)?).collect();
        let share = |(value, time): (&Option<ValueId>, &i64)| {
            let gain = value.and_then(|value| by_gain.get(&value));
            PathShare {
                gain: gain.map(|gain| gain.largest),
                gain_with_fixed_waits: gain.map(|gain| gain.with_fixed_waits),
                ..path_share(value_name(execution, *value), *time, nanos)
            }
        };
        let values = by_value.into_iter().map(share).collect();
        let by_category: BTreeMap<&str, i64> = ActivityCategory::COUNTED
            .map(ActivityCategory::word)
            .into_iter()
            .zip(times.by_category)
            .filter(|part| part.1 > 0)
            .collect();
        Ok(Self {
            nanos,
            transit: times.transit,
            values,
            units: path_shares(&times.by_unit, nanos, |unit| unit_name(execution, *unit)),
            categories: path_shares(&by_category, nanos, |word| (*word).to_owned()),
        })
    }

    /// The parts as a table.
    pub fn table(&self) -> ChartTable {
        path_table(self.nanos, self.transit, [&self.values, &self.units, &self.categories])
    }

    /// The critical path of a time range.
    ///
    /// # Errors
    /// If the trace has no states, or the source fails.
    pub fn of_range(execution: &Execution, range: TimeRange) -> Result<Self, PerspectiveError> {
        let collectives = CollectiveSet::new(execution)?;
        let path = CriticalPath::new(execution, &collectives, range)?;
        let times = path.times(execution)?;
        let gains = GainModel::new(execution, &collectives, &path, range)?;
        Self::new(execution, &path, &times, &gains)
    }
}

/// The table of a critical path: the whole path, its time in messages, and its parts by value, unit
/// and category.
#[expect(clippy::cast_precision_loss, reason = "a table has floating-point numbers")]
pub(crate) fn path_table(nanos: i64, transit: i64, parts: [&[PathShare]; 3]) -> ChartTable {
    let gain = format!("gain at most, if {USUAL_DECREASE} % shorter, s");
    let mut table = ChartTable::new(&[
        ("part", AxisUnit::Count),
        ("name", AxisUnit::Count),
        ("on the path, s", AxisUnit::Nanos),
        ("share, %", AxisUnit::Percent),
        (&gain, AxisUnit::Nanos),
        ("gain with fixed waits, s", AxisUnit::Nanos),
    ]);
    let mut add = |part: &str, PathShare { name, nanos, share, gain, gain_with_fixed_waits }: &PathShare| {
        table.rows.push(vec![
            part.into(),
            TableValue::Text(name.clone()),
            (*nanos as f64).into(),
            (share * 100.0).into(),
            gain.map(|gain| gain as f64).into(),
            gain_with_fixed_waits.map(|gain| gain as f64).into(),
        ]);
    };
    add("path", &path_share(String::new(), nanos, nanos));
    add("messages", &path_share(String::new(), transit, nanos));
    for (part, shares) in ["state", "unit", "category"].into_iter().zip(parts) {
        shares.iter().for_each(|share| add(part, share));
    }
    table
}

/// The name of a value, for tables.
pub(crate) fn value_name(execution: &Execution, value: Option<ValueId>) -> String {
    let info = value.and_then(|value| execution.model().values.get(value.index()));
    info.map_or_else(|| "(no state)".to_owned(), |info| info.name.clone())
}

/// The name of a unit, for tables.
pub(crate) fn unit_name(execution: &Execution, unit: u32) -> String {
    execution.units().list().get(unit as usize).map_or_else(String::new, |unit| unit.name.clone())
}

#[expect(clippy::cast_precision_loss, reason = "a part is rounded")]
fn path_share(name: String, nanos: i64, length: i64) -> PathShare {
    let share = if length > 0 { nanos as f64 / length as f64 } else { 0.0 };
    PathShare { name, nanos, share, gain: None, gain_with_fixed_waits: None }
}

fn path_shares<K>(times: &BTreeMap<K, i64>, length: i64, name: impl Fn(&K) -> String) -> Vec<PathShare> {
    let mut shares: Vec<PathShare> = times.iter().map(|(key, nanos)| path_share(name(key), *nanos, length)).collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.nanos));
    shares
}
