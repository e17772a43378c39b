//! G22: the state, the task and the pending messages of each unit, as grids.

use tumit_paje::category::ActivityCategory;
use tumit_viewer::parallel_map::{SEARCHES_PER_THREAD, map_indexes};
use tumit_viewer::text::time_display::group_digits;

use crate::chart::{
    AxisUnit, ChartPaint, ChartPanel, ChartTable, LegendItem, StatusCell, StatusGrid, TableValue, TitledPanel,
    ViewChart,
};
use crate::draw::axis_numbers::bytes_text;
use crate::draw::size_scale::SizeScale;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::messages::{BYTES, MESSAGES, PendingSteps, UnitMessages};
use crate::options::MessageMeasure;
use crate::view::{PerspectiveView, TimeMode, ViewGroup, ViewInfo, ViewRequest};
use crate::views::unit_bundles::{UnitBundle, UnitBundles};
use crate::views::{captions, category_legend};

/// Maximum number of cells of a grid.
const MAX_CELLS: usize = 1024;
/// Maximum number of tasks in the legend.
const MAX_TASKS: usize = 12;

/// Four grids of units: the state, the task, and the messages that are being sent and that await
/// receipt.
pub(crate) struct ProcessorStatus;

/// A grid, and a column of the table with a value per unit.
struct StatusPart {
    title: String,
    unit: AxisUnit,
    cells: Vec<StatusCell>,
    /// Empty if the chart needs no table.
    values: Vec<TableValue>,
    legend: Vec<LegendItem>,
}

impl PerspectiveView for ProcessorStatus {
    fn info(&self) -> ViewInfo<'_> {
        ViewInfo {
            name: "processor-status",
            number: Some(22),
            title: "Processor status",
            group: ViewGroup::Utilization,
            summary: "The state, the task, and the pending messages of each unit, as grids.",
            required_data: "states, tasks or links",
            modes: &[TimeMode::At],
            options: &["order", "measure", "bins"],
        }
    }

    fn chart(&self, execution: &Execution, request: &ViewRequest) -> Result<ViewChart, PerspectiveError> {
        let bundles = UnitBundles::new(execution, request, MAX_CELLS)?;
        let (mut parts, mut notes) = (Vec::new(), Vec::new());
        let of_data = [
            category_part(execution, request, &bundles).map(|part| vec![part]),
            task_part(execution, request, &bundles).map(|part| vec![part]),
            message_parts(execution, request, &bundles),
        ];
        for part in of_data {
            match part {
                Ok(part) => parts.extend(part),
                Err(PerspectiveError::NoData { missing_data, remedy }) => {
                    notes.push(format!("A grid is left out, because the trace has no {missing_data}; {remedy}."));
                }
                Err(error) => return Err(error),
            }
        }
        if parts.is_empty() {
            return Err(PerspectiveError::NoData {
                missing_data: "states, tasks or links".to_owned(),
                remedy: "choose another level by `--option level=TYPE`".to_owned(),
            });
        }
        notes.extend((bundles.size() > 1).then(|| {
            let size = bundles.size();
            format!("Each cell stands for {size} adjacent units: the most common state and task, the largest number.")
        }));
        notes.extend(category_legend::guess_note(execution));
        let table = request.table(|| table(execution, &bundles, &parts));
        let legend = parts.iter().flat_map(|part| part.legend.clone()).collect();
        Ok(ViewChart {
            title: self.info().title.to_owned(),
            subtitle: captions::subtitle(&[captions::time_caption(request), captions::order_caption(request)]),
            panels: parts.into_iter().map(|part| panel(part, &bundles)).collect(),
            legend,
            table,
            notes,
        })
    }
}

fn panel(part: StatusPart, bundles: &UnitBundles) -> TitledPanel {
    let columns = part.cells.len().isqrt();
    let columns = if columns * columns < part.cells.len() { columns + 1 } else { columns.max(1) };
    TitledPanel {
        title: part.title,
        panel: ChartPanel::Grid(StatusGrid { columns, cells: part.cells, unit_lists: bundles.lists() }),
    }
}

fn table(execution: &Execution, bundles: &UnitBundles, parts: &[StatusPart]) -> ChartTable {
    let columns = parts.iter().map(|part| (part.title.as_str(), part.unit));
    let mut table = ChartTable::new(&[("unit", AxisUnit::Count)].into_iter().chain(columns).collect::<Vec<_>>());
    table.rows.extend(bundles.order().iter().map(|unit| {
        let mut row = vec![TableValue::Text(execution.units().list()[*unit].name.clone())];
        row.extend(parts.iter().map(|part| part.values[*unit].clone()));
        row
    }));
    table
}

/// The cells of a column of the table.
fn table_values<T: Copy>(request: &ViewRequest, units: &[T], value_of: impl Fn(T) -> TableValue) -> Vec<TableValue> {
    units.iter().filter(|_| request.needs_table).map(|unit| value_of(*unit)).collect()
}

/// The most common item of a list, and its number. Of several, the smallest.
fn most_common<T: Copy + Ord>(items: impl Iterator<Item = T>) -> Option<(T, usize)> {
    let mut sorted: Vec<T> = items.collect();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|one, next| one == next);
    runs.map(|run| (run[0], run.len())).max_by_key(|(item, count)| (*count, std::cmp::Reverse(*item)))
}

/// A status in words: `busy`, or `busy (61 of 100)` for several units.
fn status(word: &str, count: usize, bundle: &UnitBundle<'_>) -> String {
    match bundle.members.len() {
        1 => word.to_owned(),
        all => format!("{word} ({count} of {all})"),
    }
}

fn category_part(
    execution: &Execution,
    request: &ViewRequest,
    bundles: &UnitBundles,
) -> Result<StatusPart, PerspectiveError> {
    let activity = execution.activity()?;
    let categories = map_indexes(activity.units(), SEARCHES_PER_THREAD, |unit| activity.at(unit, request.time.0));
    let cells = bundles.iter(execution).map(|bundle| {
        let common = most_common(bundle.members.iter().map(|unit| categories[*unit]));
        let (category, count) = common.unwrap_or((ActivityCategory::Idle, 0));
        let status = status(category.word(), count, &bundle);
        StatusCell { label: bundle.label, unit: bundle.unit, paint: ChartPaint::Category(category), status }
    });
    Ok(StatusPart {
        title: "state".to_owned(),
        unit: AxisUnit::Count,
        cells: cells.collect(),
        values: table_values(request, &categories, |category| category.word().into()),
        legend: category_legend::legend(),
    })
}

fn task_part(
    execution: &Execution,
    request: &ViewRequest,
    bundles: &UnitBundles,
) -> Result<StatusPart, PerspectiveError> {
    let tasks = execution.tasks()?;
    let current = map_indexes(execution.units().count(), SEARCHES_PER_THREAD, |unit| tasks.at(unit, request.time.0));
    let name = |task: u32| tasks.list().get(task as usize).map_or("", |task| task.name.as_str());
    let cells: Vec<StatusCell> = bundles
        .iter(execution)
        .map(|bundle| match most_common(bundle.members.iter().filter_map(|unit| current[*unit])) {
            Some((task, count)) => {
                let status = status(name(task), count, &bundle);
                StatusCell { label: bundle.label, unit: bundle.unit, paint: tasks.paint(task), status }
            }
            None => StatusCell {
                label: bundle.label,
                unit: bundle.unit,
                paint: ChartPaint::Absent,
                status: "no task".to_owned(),
            },
        })
        .collect();
    let mut shown: Vec<u32> = current.iter().copied().flatten().collect();
    shown.sort_unstable_by_key(|task| tasks.order_key(*task));
    shown.dedup();
    let item = |task: u32| LegendItem { paint: tasks.paint(task), label: name(task).to_owned() };
    Ok(StatusPart {
        title: "task".to_owned(),
        unit: AxisUnit::Count,
        cells,
        values: table_values(request, &current, |task| task.map_or(TableValue::Absent, |task| name(task).into())),
        legend: shown.into_iter().take(MAX_TASKS).map(item).collect(),
    })
}

/// The grids of the messages that are being sent by each unit, and that await receipt.
fn message_parts(
    execution: &Execution,
    request: &ViewRequest,
    bundles: &UnitBundles,
) -> Result<Vec<StatusPart>, PerspectiveError> {
    let messages = match request.options.measure {
        Some(MessageMeasure::Bytes) => execution.sized_messages()?,
        _ => execution.messages()?,
    };
    let counts_bytes = match request.options.measure {
        Some(measure) => measure == MessageMeasure::Bytes,
        None => messages.has_sizes(),
    };
    let key = format!("processor-status {:?} {counts_bytes}", request.range);
    let largest = *execution.derived(&key, || Ok(largest_pending(messages, request, counts_bytes)))?;
    let by_unit = messages.by_unit();
    let largest = largest.with_bins(&request.options.bins);
    let part = |title: &str, steps: &[PendingSteps]| pending_part(execution, request, bundles, (title, steps), largest);
    let mut parts = if counts_bytes {
        vec![part("bytes being sent", &by_unit.outgoing), part("bytes awaiting receipt", &by_unit.incoming_steps)]
    } else {
        vec![part("messages being sent", &by_unit.outgoing), part("messages awaiting receipt", &by_unit.incoming_steps)]
    };
    parts[0].legend = largest.legend();
    Ok(parts)
}

/// The largest number of a unit in the whole time range, in messages or bytes.
#[derive(Clone, Copy)]
struct LargestPending {
    /// The component of [`PendingSteps`].
    component: usize,
    value: i64,
    /// The smallest number of a unit with pending messages.
    minimum: u64,
    /// The scale that the user chose.
    size_scale: Option<SizeScale>,
}

fn largest_pending(messages: &UnitMessages, request: &ViewRequest, counts_bytes: bool) -> LargestPending {
    let component = if counts_bytes { BYTES } else { MESSAGES };
    let by_unit = messages.by_unit();
    let all = by_unit.outgoing.iter().chain(&by_unit.incoming_steps);
    let value = all.map(|steps| steps.maximum(request.range)[component]).max().unwrap_or(0);
    let minimum = if counts_bytes { messages.smallest_size.unwrap_or(1) } else { 1 };
    LargestPending { component, value, minimum, size_scale: None }
}

impl LargestPending {
    /// The same with the chosen limits of bins, if there are any. They are limits of bytes.
    fn with_bins(self, limits: &[u64]) -> Self {
        let is_chosen = self.component == BYTES && !limits.is_empty();
        Self { size_scale: is_chosen.then(|| SizeScale::with_limits(limits)), ..self }
    }

    fn text(self, value: i64) -> String {
        let value = value.unsigned_abs();
        if self.component == BYTES { bytes_text(value) } else { format!("{} messages", group_digits(value)) }
    }

    /// The scale from the smallest to the largest number.
    fn scale(self) -> Option<SizeScale> {
        let largest = u64::try_from(self.value).ok().filter(|largest| *largest > 0)?;
        self.size_scale.or_else(|| SizeScale::new([self.minimum.min(largest), largest]))
    }

    fn paint(self, value: i64) -> ChartPaint {
        let number = u64::try_from(value).ok().filter(|number| *number > 0);
        let paint = number.and_then(|number| Some(self.scale()?.paint(number)));
        paint.unwrap_or(ChartPaint::Absent)
    }

    /// The paints of no messages and of each class of numbers.
    fn legend(self) -> Vec<LegendItem> {
        let none = LegendItem { paint: ChartPaint::Absent, label: self.text(0) };
        let classes = self.scale().map(|scale| match self.component {
            BYTES => scale.legend(),
            _ => scale.legend_with(group_digits),
        });
        [none].into_iter().chain(classes.into_iter().flatten()).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "CSV has decimal numbers")]
fn pending_part(
    execution: &Execution,
    request: &ViewRequest,
    bundles: &UnitBundles,
    (title, steps): (&str, &[PendingSteps]),
    scale: LargestPending,
) -> StatusPart {
    let values = map_indexes(steps.len(), SEARCHES_PER_THREAD, |unit| steps[unit].at(request.time.0)[scale.component]);
    let cells = bundles.iter(execution).map(|bundle| {
        let value = bundle.members.iter().map(|unit| values[*unit]).max().unwrap_or(0);
        StatusCell { label: bundle.label, unit: bundle.unit, paint: scale.paint(value), status: scale.text(value) }
    });
    StatusPart {
        title: title.to_owned(),
        unit: if scale.component == BYTES { AxisUnit::Bytes } else { AxisUnit::Count },
        cells: cells.collect(),
        values: table_values(request, &values, |value| TableValue::Number(value as f64)),
        legend: Vec::new(),
    }
}
