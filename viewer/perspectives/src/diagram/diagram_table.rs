//! The numbers of the modes of the diagram: their states and messages as rows of a table.

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_viewer::query::{ContainerId, GlobalNanos, TimeRange};
use tumit_viewer::text::time_display::group_digits;

use crate::analysis::critical_path::PathTimes;
use crate::analysis::diagnosis::path_with_times;
use crate::chart::{AxisUnit, ChartTable, TableValue, ViewChart};
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::unit_message::NEVER;
use crate::view::ViewRequest;

/// The rows of a table.
type TableRows<'a> = Box<dyn Iterator<Item = Vec<TableValue>> + 'a>;

/// The columns and rows of a mode in the visible time range.
pub(super) struct DiagramRows<'a> {
    columns: Vec<(&'static str, AxisUnit)>,
    rows: TableRows<'a>,
}

impl<'a> DiagramRows<'a> {
    /// The categories of the units.
    pub(super) fn of_categories(execution: &'a Execution, request: &ViewRequest) -> Result<Self, PerspectiveError> {
        let (order, count) = (execution.order(&request.options.order, request.range)?, AxisUnit::Count);
        let has_parts = has_parts(execution)?;
        let part = has_parts.then_some(("part", count));
        let columns = [("unit", count)].into_iter().chain(part).chain([("category", count)]).collect();
        Ok(Self { columns, rows: category_rows(execution, order, request.visible_range(), has_parts)? })
    }

    /// The times that are not idle, and the messages.
    pub(super) fn of_space_time(execution: &'a Execution, request: &ViewRequest) -> Result<Self, PerspectiveError> {
        let (order, count) = (execution.order(&request.options.order, request.range)?, AxisUnit::Count);
        let columns = vec![("unit", count), ("activity", count), ("receiver", count), ("size, bytes", AxisUnit::Bytes)];
        Ok(Self { columns, rows: space_time_rows(execution, order, request.visible_range())? })
    }

    /// The tasks of the units.
    pub(super) fn of_tasks(execution: &'a Execution, request: &ViewRequest) -> Result<Self, PerspectiveError> {
        let (order, count) = (execution.order(&request.options.order, request.range)?, AxisUnit::Count);
        let columns = vec![("unit", count), ("task", count)];
        Ok(Self { columns, rows: task_rows(execution, order, request.visible_range())? })
    }

    /// The first rows as a chart without panels.
    pub(super) fn chart(mut self, title: &str, most_rows: usize) -> ViewChart {
        let times = [("start", AxisUnit::Nanos), ("end", AxisUnit::Nanos), ("duration", AxisUnit::Nanos)];
        self.columns.extend(times);
        let mut table = ChartTable::new(&self.columns);
        table.rows.extend(self.rows.by_ref().take(most_rows));
        let is_cut = self.rows.next().is_some();
        let digits = group_digits(most_rows as u64);
        let note = format!("The table has the first {digits} rows. A CSV file of `tumit view` has all.");
        ViewChart {
            title: title.to_owned(),
            table,
            notes: is_cut.then_some(note).into_iter().collect(),
            ..ViewChart::default()
        }
    }
}

/// Whether a unit has several timelines.
fn has_parts(execution: &Execution) -> Result<bool, PerspectiveError> {
    let activity = execution.activity()?;
    Ok((0..activity.units()).any(|unit| activity.timelines(unit).len() > 1))
}

/// The start, the end and the duration of a row.
#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
fn times(from: i64, to: i64) -> [TableValue; 3] {
    [from, to, to.saturating_sub(from)].map(|nanos| TableValue::Number(nanos as f64))
}

fn name(execution: &Execution, unit: usize) -> TableValue {
    execution.units().list()[unit].name.as_str().into()
}

/// A row per time of constant category. With several timelines, each has its rows.
fn category_rows<'a>(
    execution: &'a Execution,
    order: Vec<usize>,
    range: TimeRange,
    has_parts: bool,
) -> Result<TableRows<'a>, PerspectiveError> {
    let activity = execution.activity()?;
    let containers = execution.source().containers();
    let part_names: FxHashMap<ContainerId, String> =
        containers.iter().filter(|_| has_parts).map(|info| (info.id, info.name.clone())).collect();
    Ok(Box::new(order.into_iter().flat_map(move |unit| {
        let groups = &execution.units().list()[unit].groups;
        let mut rows = Vec::new();
        for (part, timeline) in activity.timelines(unit).iter().enumerate() {
            let part_name = groups.get(part).and_then(|group| part_names.get(&group.container));
            for piece in timeline.pieces(range) {
                let mut row = vec![name(execution, unit)];
                row.extend(has_parts.then(|| part_name.map_or(TableValue::Absent, |name| name.as_str().into())));
                row.push(piece.category.word().into());
                row.extend(times(piece.from, piece.to));
                rows.push(row);
            }
        }
        rows
    })))
}

/// The times that are not idle of each unit, and the messages that it sends.
fn space_time_rows<'a>(
    execution: &'a Execution,
    order: Vec<usize>,
    range: TimeRange,
) -> Result<TableRows<'a>, PerspectiveError> {
    let (activity, messages) = (execution.activity()?, execution.messages()?);
    Ok(Box::new(order.into_iter().flat_map(move |unit| {
        let timeline = activity.timeline(unit);
        let mut rows: Vec<(i64, Vec<TableValue>)> = Vec::new();
        let shown = timeline.pieces(range).filter(|piece| piece.category != ActivityCategory::Idle);
        for piece in shown {
            let mut row =
                vec![name(execution, unit), piece.category.word().into(), TableValue::Absent, TableValue::Absent];
            row.extend(times(piece.from, piece.to));
            rows.push((piece.from, row));
        }
        for message in messages.sent_by(unit, TimeRange { from: GlobalNanos(i64::MIN), to: range.to }) {
            if message.receive_time == NEVER || message.receive_time < range.from.0 {
                continue;
            }
            #[expect(clippy::cast_precision_loss, reason = "a table shows about 15 digits")]
            let bytes = message.bytes.map(|bytes| bytes as f64);
            let mut row =
                vec![name(execution, unit), "message".into(), name(execution, message.to as usize), bytes.into()];
            row.extend(times(message.send_time, message.receive_time));
            rows.push((message.send_time, row));
        }
        rows.sort_by_key(|row| row.0);
        rows.into_iter().map(|(_, row)| row)
    })))
}

/// A row per time in a task.
fn task_rows<'a>(
    execution: &'a Execution,
    order: Vec<usize>,
    range: TimeRange,
) -> Result<TableRows<'a>, PerspectiveError> {
    let tasks = execution.tasks()?;
    Ok(Box::new(order.into_iter().flat_map(move |unit| {
        tasks.pieces(unit, range).map(move |piece| {
            let task = tasks.list()[piece.task as usize].name.as_str();
            let mut row = vec![name(execution, unit), task.into()];
            row.extend(times(piece.from.max(range.from.0), piece.to.min(range.to.0)));
            row
        })
    })))
}

/// The times of the critical path by state, by unit and by category, the longest first.
#[expect(clippy::cast_precision_loss, reason = "CSV has times as decimal numbers")]
pub(super) fn path_numbers(
    title: &str,
    execution: &Execution,
    request: &ViewRequest,
) -> Result<ViewChart, PerspectiveError> {
    let (path, times) = path_with_times(execution, request.visible_range())?;
    let PathTimes { by_unit, by_value, by_category, transit } = times;
    let (model, units) = (execution.model(), execution.units());
    let level = model.types.get(units.ty.index()).map_or("unit", |ty| ty.name.as_str());
    let of_values = by_value.iter().map(|(value, nanos)| {
        let value = value.and_then(|value| model.values.get(value.index()));
        (value.map_or("no state", |value| value.name.as_str()), *nanos)
    });
    let of_units = by_unit.iter().map(|(unit, nanos)| (units.list()[*unit as usize].name.as_str(), *nanos));
    let of_categories = ["busy", "overhead", "idle"].into_iter().zip(by_category);
    let whole = path.nanos().max(1) as f64;
    let percent = AxisUnit::Percent;
    let mut table = ChartTable::new(&[
        ("by", AxisUnit::Count),
        ("name", AxisUnit::Count),
        ("time", AxisUnit::Nanos),
        ("time, %", percent),
    ]);
    let groups: [(&str, Vec<(&str, i64)>); 3] =
        [("state", of_values.collect()), (level, of_units.collect()), ("category", of_categories.collect())];
    for (group, mut list) in groups {
        list.push(("in messages", transit));
        list.retain(|(_, nanos)| *nanos > 0);
        list.sort_by_key(|(_, nanos)| std::cmp::Reverse(*nanos));
        table.rows.extend(list.into_iter().map(|(name, nanos)| {
            let nanos = nanos as f64;
            vec![group.into(), name.into(), nanos.into(), (100.0 * nanos / whole).into()]
        }));
    }
    Ok(ViewChart { title: title.to_owned(), table, ..ViewChart::default() })
}
