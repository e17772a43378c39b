//! [`derived_trace`]: a trace made of the results of the views: categories, tasks, messages, series
//! and the critical path as states, links and variables.
//!
//! The diagram, filters, statistics and exports work on it as on any trace. In this way the
//! utilization and task Gantt charts, the space-time diagram and the critical path are modes of the
//! diagram, and the series are variables.

mod category_states;
mod column_sums;
mod fractions;
mod message_links;
mod state_lanes;
mod touching_links;
mod trace_builder;
mod unit_states;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, PajeTypeKind, RgbColor, ValueId};
use tumit_viewer::query::{ContainerId, ContainerInfo, TimeRange, TimelineSource, TypeId};
use tumit_viewer::style::theme::{mix, rgb};

use crate::analysis::critical_path::{CriticalPath, PathSegment};
use crate::chart::{ChartPaint, LegendItem};
use crate::draw::PaletteKind;
use crate::draw::size_scale::SizeScale;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::step_function::StepFunction;
use crate::execution::tasks::{ExecutionTask, TaskSet};
use crate::execution::units::Unit;
use crate::message_scale::MessageScale;
use crate::span_label::span_label;
use crate::unit_lists::UnitLists;
use category_states::{CategoryStates, CategoryValues, LaneOrigin};
use message_links::{MessageLinks, MessageValues};
use state_lanes::StateLanes;
use trace_builder::{DerivedContainers, Operation, TraceBuilder, light_palette};
use unit_states::{UnitStates, UnitTimelines};

/// The contents of a derived trace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DerivedParts<'a> {
    /// The title, which follows the name of the trace.
    pub(crate) title: &'a str,
    /// The category of each unit as states. Idle times are left out if `hides_idle` is set.
    pub(crate) categories: bool,
    /// Whether idle times have no states.
    pub(crate) hides_idle: bool,
    /// The innermost task of each unit as states.
    pub(crate) tasks: bool,
    /// The messages between units as links, with sizes as values.
    pub(crate) messages: bool,
    /// The numbers of units per category, and of pending messages and bytes, as variables of the
    /// root.
    pub(crate) series: bool,
    /// The critical path as emphasised states and links. All others are pale.
    pub(crate) path: Option<&'a CriticalPath>,
    /// Whether times off the critical path have no states.
    pub(crate) only_path: bool,
    /// Whether a unit with several timelines has a container per timeline.
    pub fractions: bool,
    /// The colours.
    pub palette: PaletteKind,
    /// The colours of messages. Without them, those of the sizes of the trace.
    pub message_scale: Option<&'a MessageScale>,
}

/// Units above which a trace has no stored states. It reads them from the timelines of the
/// execution, so that it is ready at once.
const MAX_STORED_UNITS: usize = 1024;

/// The weight of a colour outside of the critical path, mixed with white. The path stands out, and
/// the categories remain distinguishable.
const PALE_WEIGHT: f32 = 0.55;

/// The width of the arrows of the critical path, relative to other arrows, so that they stand out.
const PATH_ARROW_SIZE: f32 = 3.0;

/// A colour beside the critical path.
fn pale_color(color: RgbColor) -> RgbColor {
    mix([(color, PALE_WEIGHT), (rgb(0x00ff_ffff), 1.0 - PALE_WEIGHT)]).unwrap_or(color)
}

/// A trace that the diagram shows.
#[derive(Clone)]
pub(super) struct DerivedTrace {
    /// The trace.
    pub(super) source: Arc<dyn TimelineSource>,
    /// For each unit, its container.
    pub(super) units: Vec<ContainerId>,
    /// Whether containers below the units have the states. Together, they are the fractions of a
    /// unit. A folded row of the unit shows them.
    pub(super) has_fractions: bool,
    /// The number of units of the largest row: 1 unless the rows are bundles of units.
    pub(super) units_per_row: usize,
}

/// Makes a trace of parts of an execution.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub(crate) fn derived_trace(
    execution: &Execution,
    parts: DerivedParts<'_>,
) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
    Ok(trace_of_units(execution, parts)?.source)
}

/// The parts of a derived trace that are stored as entities.
struct BaseTrace {
    source: Arc<dyn TimelineSource>,
    units: Vec<ContainerId>,
    /// The type and values of categories, and the timeline of each container with states of it.
    states: Option<(CategoryValues, Vec<(ContainerId, LaneOrigin)>)>,
    has_fractions: bool,
}

/// Makes a trace of parts of an execution, with the containers of the units.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub(super) fn trace_of_units(execution: &Execution, parts: DerivedParts<'_>) -> Result<DerivedTrace, PerspectiveError> {
    let has_fractions = parts.fractions && fractions::are_needed(execution.activity()?);
    if !has_fractions && execution.units().count() > MAX_STORED_UNITS {
        let mut builder = TraceBuilder::default();
        let containers = add_containers(execution, whole_life(execution, &parts), &mut builder);
        let lanes = (containers.units.clone(), (0..).take(containers.units.len()).map(|unit| [unit]).collect());
        return trace_of_lanes(execution, &parts, (containers, lanes), builder);
    }
    // Categories determine the path and the series.
    let base = match parts.path.is_none() && !parts.series {
        true => execution.derived_without_categories(&format!("{parts:?}"), || base_trace(execution, &parts))?,
        false => Arc::new(base_trace(execution, &parts)?),
    };
    let (units, has_fractions, units_per_row) = (base.units.clone(), base.has_fractions, 1);
    let Some((values, lanes)) = &base.states else {
        return Ok(DerivedTrace { source: Arc::clone(&base.source), units, has_fractions, units_per_row });
    };
    let path = parts.path.map_or_else(Vec::new, |path| path_times(path, execution.units().count()));
    let source = CategoryStates::new(execution, Arc::clone(&base.source), *values, lanes, &path)?;
    Ok(DerivedTrace { source: Arc::new(source), units, has_fractions, units_per_row })
}

fn base_trace(execution: &Execution, parts: &DerivedParts<'_>) -> Result<BaseTrace, PerspectiveError> {
    let mut builder = TraceBuilder::default();
    let containers = add_containers(execution, whole_life(execution, parts), &mut builder);
    let has_fractions = parts.fractions && fractions::are_needed(execution.activity()?);
    let states = if has_fractions {
        Some(fractions::add(execution, parts.palette, &containers, &mut builder)?)
    } else if parts.categories || parts.path.is_some() {
        let lanes = containers.units.iter().enumerate().map(|(unit, container)| (*container, LaneOrigin::Unit(unit)));
        Some((define_categories(parts, &containers, &mut builder), lanes.collect()))
    } else {
        None
    };
    if parts.tasks {
        add_tasks(execution, parts.palette, &containers, &mut builder)?;
    }
    let source = build_trace(execution, parts, &containers, builder)?;
    Ok(BaseTrace { source, units: containers.units, states, has_fractions })
}

/// Makes a trace of parts of an execution whose rows are bundles of adjacent units in an order, at
/// most `max_rows`. A row has the states of all its units. Without too many units, or with
/// fractions of units, each unit has its row.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub(super) fn trace_of_bundles(
    execution: &Execution,
    parts: DerivedParts<'_>,
    order: &[usize],
    max_rows: usize,
) -> Result<DerivedTrace, PerspectiveError> {
    if order.len() <= MAX_STORED_UNITS || parts.fractions && fractions::are_needed(execution.activity()?) {
        return trace_of_units(execution, parts);
    }
    bundles(execution, &parts, order, max_rows)
}

fn bundles(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    order: &[usize],
    max_rows: usize,
) -> Result<DerivedTrace, PerspectiveError> {
    let mut builder = TraceBuilder::default();
    let (units, model) = (execution.units(), execution.model());
    let name = model.types.get(units.ty.index()).map_or("unit", |ty| ty.name.as_str());
    let unit_type = builder.define_type(PajeTypeKind::Container, TypeId::ROOT, name);
    let mut containers = DerivedContainers { units: vec![ContainerId::ROOT; order.len()], unit_type };
    let (mut rows, mut lists) = (Vec::new(), UnitLists::default());
    let name = |unit: usize| units.list()[unit].name.as_str();
    for (bundle, number) in order.chunks(order.len().div_ceil(max_rows.max(1))).zip(1..) {
        let container = ContainerId(number);
        let label = match bundle {
            [unit] => name(*unit).to_owned(),
            _ => span_label(name(bundle[0]), name(bundle[bundle.len() - 1])),
        };
        builder.add_container(container, (ContainerId::ROOT, unit_type), &label, execution.extent());
        bundle.iter().for_each(|unit| containers.units[*unit] = container);
        lists.push(bundle.iter().map(|unit| u32::try_from(*unit).unwrap_or(u32::MAX)));
        rows.push(container);
    }
    trace_of_lanes(execution, parts, (containers, (rows, lists)), builder)
}

/// Makes a trace with lanes that read their states when they are needed.
fn trace_of_lanes(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    (containers, lanes): (DerivedContainers, (Vec<ContainerId>, UnitLists)),
    mut builder: TraceBuilder,
) -> Result<DerivedTrace, PerspectiveError> {
    let units_per_row = lanes.1.iter().map(<[u32]>::len).max().unwrap_or(1);
    let states = if parts.categories || parts.path.is_some() {
        let activity = execution.shared_activity()?;
        let UnitLaneValues { ty, values, on_path } = define_lane_values(parts, &containers, &mut builder);
        let is_shown = |category: ActivityCategory| !(parts.hides_idle && category == ActivityCategory::Idle);
        let shown = ActivityCategory::COUNTED
            .into_iter()
            .map(|category| values.get(category as usize).copied().filter(|_| is_shown(category)));
        let states = UnitStates::new(UnitTimelines::Categories(activity, shown.collect()), execution.extent());
        let states = match on_path {
            Some((value, path)) => {
                let times = path_times(path, execution.units().count());
                let times = times.into_iter().enumerate().filter(|(_, times)| !times.is_empty());
                states.with_path(times.collect(), value)
            }
            None => states,
        };
        Some((ty, states))
    } else if parts.tasks {
        let tasks = execution.shared_tasks()?;
        let (ty, values) = define_tasks(&tasks, parts.palette, &containers, &mut builder);
        Some((ty, UnitStates::new(UnitTimelines::Tasks(tasks, values), execution.extent())))
    } else {
        None
    };
    let inner = build_trace(execution, parts, &containers, builder)?;
    let source = match states {
        None => inner,
        Some((ty, states)) => {
            let life = whole_life(execution, parts);
            let members = if units_per_row > 1 { unit_members(execution, life) } else { Vec::new() };
            Arc::new(StateLanes::new(inner, ty, states, lanes, members))
        }
    };
    Ok(DerivedTrace { source, units: containers.units, has_fractions: false, units_per_row })
}

/// The containers of all units. `life` is the time range in which all of them exist. Without it,
/// they exist as in the trace.
fn unit_members(execution: &Execution, life: Option<TimeRange>) -> Vec<ContainerInfo> {
    let ty = execution.units().ty;
    let member = |unit: &Unit| ContainerInfo {
        id: unit.container,
        ty,
        parent: ContainerId::ROOT,
        depth: 1,
        name: unit.name.clone(),
        life: life.unwrap_or(unit.life),
    };
    execution.units().list().iter().map(member).collect()
}

/// The time range in which all units exist. The time before the begin of a unit and after its end
/// is idle, as in the other views. `None` if idle times are not shown.
fn whole_life(execution: &Execution, parts: &DerivedParts<'_>) -> Option<TimeRange> {
    (parts.categories || parts.path.is_some()).then(|| execution.extent())
}

fn trace_name(execution: &Execution, parts: &DerivedParts<'_>) -> String {
    let name = execution.source().summary().name;
    if parts.title.is_empty() { name } else { format!("{name}: {}", parts.title) }
}

/// Adds the units and the containers around them. `life` is the time range in which all of them
/// exist. Without it, they exist as in the trace.
fn add_containers(execution: &Execution, life: Option<TimeRange>, builder: &mut TraceBuilder) -> DerivedContainers {
    let all = execution.source().containers();
    let by_id: FxHashMap<ContainerId, &ContainerInfo> = all.iter().map(|info| (info.id, info)).collect();
    let mut types: FxHashMap<TypeId, TypeId> = FxHashMap::from_iter([(TypeId::ROOT, TypeId::ROOT)]);
    let mut numbers: FxHashMap<ContainerId, ContainerId> = FxHashMap::default();
    let mut add = |info: &ContainerInfo, builder: &mut TraceBuilder| {
        // From the root to the container.
        let mut path = vec![info];
        while let Some(parent) =
            path.last().and_then(|last| by_id.get(&last.parent)).filter(|parent| parent.parent != parent.id)
        {
            path.push(parent);
        }
        let (mut parent, mut parent_type) = (ContainerId::ROOT, TypeId::ROOT);
        for info in path.into_iter().rev().filter(|info| info.parent != info.id) {
            let model = execution.model();
            parent_type = *types.entry(info.ty).or_insert_with(|| {
                builder.define_type(PajeTypeKind::Container, parent_type, &model.types[info.ty.index()].name)
            });
            let next = ContainerId(u32::try_from(numbers.len() + 1).unwrap_or(u32::MAX));
            let number = *numbers.entry(info.id).or_insert(next);
            if number == next {
                builder.add_container(number, (parent, parent_type), &info.name, life.unwrap_or(info.life));
            }
            parent = number;
        }
        (parent, parent_type)
    };
    let mut units = Vec::with_capacity(execution.units().count());
    let mut unit_type = TypeId::ROOT;
    for unit in execution.units().list() {
        let Some(info) = by_id.get(&unit.container) else { continue };
        let (number, ty) = add(info, builder);
        units.push(number);
        unit_type = ty;
    }
    DerivedContainers { units, unit_type }
}

/// The type and the values of categories.
struct UnitLaneValues<'a> {
    ty: TypeId,
    /// The value of each shown category.
    values: Vec<ValueId>,
    /// The value of the times on the critical path.
    on_path: Option<(ValueId, &'a CriticalPath)>,
}

fn define_lane_values<'a>(
    parts: &DerivedParts<'a>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> UnitLaneValues<'a> {
    let palette = light_palette(parts.palette);
    let name = if parts.path.is_some() { "Critical path" } else { "Utilization" };
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, name);
    let mut define = |category: ActivityCategory| {
        let color = palette.color(ChartPaint::Category(category));
        let color = if parts.path.is_some() { pale_color(color) } else { color };
        builder.define_value(ty, category.word(), color)
    };
    let shown = if parts.only_path { &[][..] } else { &ActivityCategory::COUNTED[..] };
    let values: Vec<ValueId> = shown.iter().copied().map(&mut define).collect();
    let on_path =
        parts.path.map(|path| (builder.define_value(ty, "critical path", palette.color(ChartPaint::Emphasis)), path));
    UnitLaneValues { ty, values, on_path }
}

/// The times of a path in each unit, by time.
fn path_times(path: &CriticalPath, units: usize) -> Vec<Vec<(i64, i64)>> {
    let mut times: Vec<Vec<(i64, i64)>> = vec![Vec::new(); units];
    for segment in &path.segments {
        if let PathSegment::Unit { unit, from, to } = *segment {
            times[unit as usize].push((from, to));
        }
    }
    times
}

/// Defines the type and the values of categories and of the critical path.
fn define_categories(
    parts: &DerivedParts<'_>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> CategoryValues {
    let palette = light_palette(parts.palette);
    let name = if parts.path.is_some() { "Critical path" } else { "Utilization" };
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, name);
    let mut values = [None; 4];
    if !parts.only_path {
        for category in ActivityCategory::COUNTED {
            let color = palette.color(ChartPaint::Category(category));
            let color = if parts.path.is_some() { pale_color(color) } else { color };
            let value = builder.define_value(ty, category.word(), color);
            values[category as usize] =
                Some(value).filter(|_| !(parts.hides_idle && category == ActivityCategory::Idle));
        }
    }
    if parts.path.is_some() {
        let value = builder.define_value(ty, "critical path", palette.color(ChartPaint::Emphasis));
        values[ActivityCategory::Ignored as usize] = Some(value);
    }
    CategoryValues { ty, values }
}

/// Defines the type and the values of tasks.
fn define_tasks(
    tasks: &TaskSet,
    palette: PaletteKind,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> (TypeId, Vec<ValueId>) {
    let palette = light_palette(palette);
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, "Task");
    let define = |(task, number): (&ExecutionTask, u32)| {
        builder.define_value(ty, &task.name, palette.color(ChartPaint::Task(number)))
    };
    let values = tasks.list().iter().zip(0..).map(define).collect();
    (ty, values)
}

fn add_tasks(
    execution: &Execution,
    palette: PaletteKind,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let tasks = execution.tasks()?;
    let (ty, values) = define_tasks(tasks, palette, containers, builder);
    for (unit, &container) in containers.units.iter().enumerate() {
        for piece in tasks.pieces(unit, execution.extent()) {
            builder.add(piece.from, 2, Operation::Set { container, ty, value: values[piece.task as usize] });
            builder.add(piece.to, 1, Operation::Reset { container, ty });
        }
    }
    Ok(())
}

/// Defines the type and the values of messages. `None` if there are no messages: a diagram without
/// them shows the units.
fn define_messages(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<Option<MessageValues>, PerspectiveError> {
    let (path, palette) = (parts.path, light_palette(parts.palette));
    let messages = match execution.messages() {
        Ok(messages) => messages,
        Err(PerspectiveError::NoData { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let kind = PajeTypeKind::Link { start: containers.unit_type, end: containers.unit_type };
    let ty = builder.define_type(kind, TypeId::ROOT, "Message");
    let usual_scale = SizeScale::new(messages.size_extremes.into_iter().flatten()).map(MessageScale::Sizes);
    let scale = parts.message_scale.copied().or(usual_scale).filter(|_| path.is_none());
    let mut define = |item: LegendItem| builder.define_value(ty, &item.label, palette.color(item.paint));
    let bins: Vec<ValueId> = scale.iter().flat_map(MessageScale::legend).map(&mut define).collect();
    let faint = palette.color(ChartPaint::Faint);
    let default_value = builder.define_value(ty, "message", if path.is_some() { pale_color(faint) } else { faint });
    let on_path = path.map(|path| {
        let links = path.segments.iter().filter_map(|segment| match segment {
            PathSegment::Message { link, .. } => Some(*link),
            _ => None,
        });
        let style = DrawStyle { size: Some(PATH_ARROW_SIZE), ..DrawStyle::NONE };
        let color = palette.color(ChartPaint::Emphasis);
        (builder.define_styled_value(ty, "critical path", color, style), links.collect())
    });
    Ok(Some(MessageValues { ty, scale, bins, default_value, on_path }))
}

/// Builds the trace of the definitions and events, with the messages and series.
fn build_trace(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    containers: &DerivedContainers,
    mut builder: TraceBuilder,
) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
    let messages = if parts.messages { define_messages(execution, parts, containers, &mut builder)? } else { None };
    if parts.series {
        add_series(execution, &mut builder)?;
    }
    let inner: Arc<dyn TimelineSource> = Arc::new(builder.build(&trace_name(execution, parts)));
    let Some(values) = messages else { return Ok(inner) };
    let (trace, messages) = (execution.shared_source(), execution.shared_messages()?);
    Ok(Arc::new(MessageLinks::new(inner, trace, messages, values, containers.units.clone())))
}

#[expect(clippy::cast_precision_loss, reason = "variables are floating-point numbers")]
fn add_series(execution: &Execution, builder: &mut TraceBuilder) -> Result<(), PerspectiveError> {
    let extent = execution.extent();
    let mut add = |names: &[&str], steps: &dyn Fn(usize) -> Vec<(i64, f64)>| {
        for (component, name) in names.iter().enumerate() {
            let ty = builder.define_type(PajeTypeKind::Variable, TypeId::ROOT, name);
            for (time, number) in steps(component) {
                builder.add(time, 1, Operation::Number { container: ContainerId::ROOT, ty, number });
            }
        }
    };
    if execution.units().has_states() {
        let counts = execution.activity()?.counts();
        let numbers = |component| step_numbers(&counts.steps, component, counts.denominator as f64, extent.from.0);
        add(&["busy units", "overhead units", "idle units"], &numbers);
    }
    match execution.messages() {
        Ok(messages) => {
            let names: &[&str] =
                if messages.has_sizes() { &["pending messages", "pending bytes"] } else { &["pending messages"] };
            add(names, &|component| step_numbers(messages.pending(), component, 1.0, extent.from.0));
        }
        Err(PerspectiveError::NoData { .. }) => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// The changes of a component.
#[expect(clippy::cast_precision_loss, reason = "variables are floating-point numbers")]
fn step_numbers<const K: usize>(steps: &StepFunction<K>, component: usize, divisor: f64, from: i64) -> Vec<(i64, f64)> {
    let start = steps.at(from)[component];
    let mut numbers = vec![(from, start as f64 / divisor)];
    let mut before = start;
    for &time in steps.timestamps().iter().filter(|time| **time > from) {
        let number = steps.at(time)[component];
        if number != before {
            numbers.push((time, number as f64 / divisor));
            before = number;
        }
    }
    numbers
}

#[cfg(test)]
mod tests;
