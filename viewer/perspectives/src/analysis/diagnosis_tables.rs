//! [`DiagnosisSection`]: the sections of a diagnosis as tables.
//!
//! ```
//! use std::sync::Arc;
//!
//! use tumit_perspectives::analysis::diagnosis::Diagnosis;
//! use tumit_perspectives::analysis::diagnosis_tables::DiagnosisSection;
//! use tumit_perspectives::execution::{Execution, ExecutionSettings};
//! use tumit_viewer::store::TraceStore;
//!
//! # let trace = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/two_threads.paje"));
//! let source = TraceStore::from_paje("example", trace.as_bytes())?;
//! let execution = Execution::new(Arc::new(source), ExecutionSettings::default())?;
//! let diagnosis = Diagnosis::new(&execution, execution.extent(), &[], &[])?;
//! // The sum of all waits, then the waits of each kind.
//! let table = DiagnosisSection::Waits.table(&diagnosis);
//! assert_eq!(table.rows.len(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tumit_viewer::query::{GlobalNanos, TimeRange};

use crate::analysis::collective_groups::UnitShare;
use crate::analysis::diagnosis::{Diagnosis, PhaseEfficiency, WaitGroup, WaitOfUnit};
use crate::analysis::efficiency::Efficiency;
use crate::analysis::path_shares::path_table;
use crate::chart::{AxisUnit, ChartTable, TableValue};

/// A section of a diagnosis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names explain the variants")]
pub enum DiagnosisSection {
    Overview,
    Efficiency,
    Phases,
    Imbalance,
    Waits,
    Collectives,
    CriticalPath,
    WhatIf,
}

impl DiagnosisSection {
    /// All sections, in the order of the report.
    pub const ALL: [Self; 8] = [
        Self::Overview,
        Self::Efficiency,
        Self::Phases,
        Self::Imbalance,
        Self::Waits,
        Self::Collectives,
        Self::CriticalPath,
        Self::WhatIf,
    ];

    /// The name on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Efficiency => "efficiency",
            Self::Phases => "phases",
            Self::Imbalance => "imbalance",
            Self::Waits => "waits",
            Self::Collectives => "collectives",
            Self::CriticalPath => "critical-path",
            Self::WhatIf => "what-if",
        }
    }

    /// The members of the section in the JSON report.
    pub const fn json_members(self) -> &'static [&'static str] {
        match self {
            Self::Overview => &["from", "to", "level", "units", "stateless_share", "guessed_values"],
            Self::Efficiency => &["efficiency"],
            Self::Phases => &["phases"],
            Self::Imbalance => &["imbalances"],
            Self::Waits => &["waits", "wait_nanos"],
            Self::Collectives => &["collectives", "unmatched_collectives"],
            Self::CriticalPath => {
                &["path_nanos", "path_transit", "path_end", "path_values", "path_units", "path_categories"]
            }
            Self::WhatIf => &["what_ifs"],
        }
    }

    /// The section of a diagnosis as a table.
    pub fn table(self, diagnosis: &Diagnosis) -> ChartTable {
        match self {
            Self::Overview => overview(diagnosis),
            Self::Efficiency => efficiency(diagnosis),
            Self::Phases => phases(diagnosis),
            Self::Imbalance => imbalance(diagnosis),
            Self::Waits => waits(diagnosis),
            Self::Collectives => collectives(diagnosis),
            Self::CriticalPath => {
                let Diagnosis { path_nanos, path_transit, path_values, path_units, path_categories, .. } = diagnosis;
                path_table(*path_nanos, *path_transit, [path_values, path_units, path_categories])
            }
            Self::WhatIf => what_ifs(diagnosis),
        }
    }
}

const TEXT: AxisUnit = AxisUnit::Count;

fn text(text: &str) -> TableValue {
    TableValue::Text(text.to_owned())
}

#[expect(clippy::cast_precision_loss, reason = "a table has floating-point numbers")]
fn nanos(nanos: i128) -> TableValue {
    TableValue::Number(nanos as f64)
}

#[expect(clippy::cast_precision_loss, reason = "a table has floating-point numbers")]
fn count(count: u64) -> TableValue {
    TableValue::Number(count as f64)
}

fn percent(part: f64) -> TableValue {
    TableValue::Number(part * 100.0)
}

/// A unit and its part, or two empty cells.
fn unit_and_part(unit: Option<&UnitShare>) -> [TableValue; 2] {
    unit.map_or([TableValue::Absent, TableValue::Absent], |unit| [text(&unit.unit), percent(unit.share)])
}

fn overview(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("from, s", AxisUnit::Nanos),
        ("to, s", AxisUnit::Nanos),
        ("level", TEXT),
        ("units", AxisUnit::Count),
        ("time without a state, %", AxisUnit::Percent),
        ("states with a guessed category", AxisUnit::Count),
    ]);
    table.rows.push(vec![
        nanos(diagnosis.from.into()),
        nanos(diagnosis.to.into()),
        text(&diagnosis.level),
        count(diagnosis.units as u64),
        diagnosis.stateless_share.map_or(TableValue::Absent, percent),
        count(diagnosis.guessed_values as u64),
    ]);
    table
}

fn efficiency(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[("factor", TEXT), ("efficiency, %", AxisUnit::Percent)]);
    let Some(Efficiency { parallel, load_balance, communication, transfer, serialisation, .. }) = diagnosis.efficiency
    else {
        return table;
    };
    let factors = [
        ("parallel efficiency", Some(parallel)),
        ("load balance", Some(load_balance)),
        ("communication efficiency", Some(communication)),
        ("serialisation", serialisation),
        ("transfer", transfer),
    ];
    table.rows.extend(factors.into_iter().filter_map(|(name, factor)| Some(vec![text(name), percent(factor?)])));
    table
}

fn phases(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("phase", TEXT),
        ("from, s", AxisUnit::Nanos),
        ("to, s", AxisUnit::Nanos),
        ("parallel efficiency, %", AxisUnit::Percent),
        ("load balance, %", AxisUnit::Percent),
        ("communication efficiency, %", AxisUnit::Percent),
        ("serialisation, %", AxisUnit::Percent),
        ("transfer, %", AxisUnit::Percent),
        ("waits, s", AxisUnit::Nanos),
    ]);
    for PhaseEfficiency { name, from, to, efficiency, wait_nanos } in &diagnosis.phases {
        let factor =
            |of: fn(&Efficiency) -> Option<f64>| efficiency.as_ref().and_then(of).map_or(TableValue::Absent, percent);
        table.rows.push(vec![
            text(name),
            nanos((*from).into()),
            nanos((*to).into()),
            factor(|all| Some(all.parallel)),
            factor(|all| Some(all.load_balance)),
            factor(|all| Some(all.communication)),
            factor(|all| all.serialisation),
            factor(|all| all.transfer),
            nanos(*wait_nanos),
        ]);
    }
    table
}

fn imbalance(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("level", TEXT),
        ("parent", TEXT),
        ("busiest", TEXT),
        ("least busy", TEXT),
        ("above the mean, %", AxisUnit::Percent),
        ("above the mean, s", AxisUnit::Nanos),
    ]);
    for imbalance in &diagnosis.imbalances {
        table.rows.push(vec![
            text(&imbalance.level),
            imbalance.parent.as_deref().map_or(TableValue::Absent, text),
            text(&imbalance.busiest),
            text(&imbalance.least_busy),
            percent(imbalance.excess),
            nanos(imbalance.nanos.into()),
        ]);
    }
    table
}

/// The first row has all waits together.
fn waits(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("wait", TEXT),
        ("state", TEXT),
        ("waits", AxisUnit::Count),
        ("sum, s", AxisUnit::Nanos),
        ("share of the time of all units, %", AxisUnit::Percent),
        ("cause", TEXT),
        ("caused by this unit, %", AxisUnit::Percent),
        ("state of the cause", TEXT),
        ("line of the cause", TEXT),
        ("longest waiting unit", TEXT),
        ("waited by this unit, %", AxisUnit::Percent),
        ("unit of the longest wait", TEXT),
        ("longest, s", AxisUnit::Nanos),
        ("longest from, s", AxisUnit::Nanos),
        ("longest to, s", AxisUnit::Nanos),
        ("line of the longest", TEXT),
    ]);
    let total = diagnosis.waits.iter().map(|group| group.count).sum();
    let share = diagnosis.waits.iter().map(|group| group.share).sum();
    table.rows.push(vec![text("all"), TableValue::Absent, count(total), nanos(diagnosis.wait_nanos), percent(share)]);
    let line = |line: &Option<String>| line.as_deref().map_or(TableValue::Absent, text);
    for group in &diagnosis.waits {
        let WaitGroup { kind, state, cause, longest_wait: WaitOfUnit { range, unit, .. }, .. } = group;
        let TimeRange { from: GlobalNanos(from), to: GlobalNanos(to) } = range;
        let mut row = vec![text(kind), text(state), count(group.count), nanos(group.nanos), percent(group.share)];
        row.extend(unit_and_part(group.main_cause.as_ref()));
        row.extend([text(cause), line(&group.causing_line)]);
        row.extend(unit_and_part(group.main_waiter.as_ref()));
        row.extend([text(unit), nanos((*to - *from).into()), nanos((*from).into()), nanos((*to).into())]);
        row.push(line(&group.waiting_line));
        table.rows.push(row);
    }
    let columns = table.columns.len();
    table.rows.iter_mut().for_each(|row| row.resize(columns, TableValue::Absent));
    table
}

fn collectives(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("state", TEXT),
        ("kind", TEXT),
        ("communicator", TEXT),
        ("operations", AxisUnit::Count),
        ("parts", AxisUnit::Count),
        ("parts without operation", AxisUnit::Count),
        ("mean wait, s", AxisUnit::Nanos),
        ("longest wait, s", AxisUnit::Nanos),
        ("awaited most", TEXT),
        ("awaited, %", AxisUnit::Percent),
        ("bytes", AxisUnit::Bytes),
        ("origin", TEXT),
    ]);
    for group in &diagnosis.collectives {
        let wait = |time: i64| if group.has_unknown_roots { TableValue::Absent } else { nanos(time.into()) };
        let mut row = vec![
            text(&group.state),
            text(group.kind.word()),
            text(&group.communicator),
            count(group.operations),
            count(group.parts),
            count(group.parts_without_operation),
            wait(group.mean_wait()),
            wait(group.longest_wait),
        ];
        row.extend(unit_and_part(group.main_cause.as_ref()));
        row.push(group.bytes.map_or(TableValue::Absent, count));
        row.push(text(if group.is_guess { "guessed" } else { "recorded" }));
        table.rows.push(row);
    }
    table
}

fn what_ifs(diagnosis: &Diagnosis) -> ChartTable {
    let mut table = ChartTable::new(&[
        ("states", TEXT),
        ("less time, %", AxisUnit::Percent),
        ("on the path, s", AxisUnit::Nanos),
        ("gain at most, s", AxisUnit::Nanos),
        ("gain with fixed waits, s", AxisUnit::Nanos),
    ]);
    for what_if in &diagnosis.what_ifs {
        table.rows.push(vec![
            text(&what_if.name),
            TableValue::Number(what_if.percent),
            nanos(what_if.path_nanos.into()),
            nanos(what_if.gain.into()),
            nanos(what_if.gain_with_fixed_waits.into()),
        ]);
    }
    table
}
