//! [`derived_trace`]: a trace made of the results of the views: categories, tasks, messages, series
//! and the critical path as states, links and variables.
//!
//! The diagram, filters, statistics and exports work on it as on any trace. In this way the
//! utilization and task Gantt charts, the space-time diagram and the critical path are modes of the
//! diagram, and the series are variables.

mod category_states;
mod fractions;
mod trace_builder;

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, KeyId, PajeTypeKind, RgbColor, ValueId};
use tumit_viewer::query::{ContainerId, ContainerInfo, TimeRange, TimelineSource, TypeId};
use tumit_viewer::style::theme::{mix, rgb};

use crate::analysis::critical_path::{CriticalPath, PathSegment};
use crate::chart::{ChartPaint, LegendItem};
use crate::draw::PaletteKind;
use crate::draw::size_scale::SizeScale;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::step_function::StepFunction;
use crate::execution::tasks::ExecutionTask;
use crate::message_scale::MessageScale;
use category_states::{CategoryStates, CategoryValues, LaneOrigin};
use trace_builder::{DerivedContainers, Operation, TraceBuilder, light_palette};

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
    // Categories determine the path and the series.
    let base = match parts.path.is_none() && !parts.series {
        true => execution.derived_without_categories(&format!("{parts:?}"), || base_trace(execution, &parts))?,
        false => Arc::new(base_trace(execution, &parts)?),
    };
    let (units, has_fractions) = (base.units.clone(), base.has_fractions);
    let Some((values, lanes)) = &base.states else {
        return Ok(DerivedTrace { source: Arc::clone(&base.source), units, has_fractions });
    };
    let path = parts.path.map_or_else(Vec::new, |path| path_times(execution, path));
    let source = CategoryStates::new(execution, Arc::clone(&base.source), *values, lanes, &path)?;
    Ok(DerivedTrace { source: Arc::new(source), units, has_fractions })
}

fn base_trace(execution: &Execution, parts: &DerivedParts<'_>) -> Result<BaseTrace, PerspectiveError> {
    let mut builder = TraceBuilder::default();
    // The time before the begin of a unit and after its end is idle, as in the other views.
    let is_whole = parts.categories || parts.path.is_some();
    let containers = add_containers(execution, is_whole.then(|| execution.extent()), &mut builder);
    let has_fractions = parts.fractions && fractions::are_needed(execution.activity()?);
    let states = if has_fractions {
        Some(fractions::add(execution, parts.palette, &containers, &mut builder)?)
    } else if is_whole {
        let lanes = containers.units.iter().enumerate().map(|(unit, container)| (*container, LaneOrigin::Unit(unit)));
        Some((define_categories(parts, &containers, &mut builder), lanes.collect()))
    } else {
        None
    };
    if parts.tasks {
        add_tasks(execution, parts.palette, &containers, &mut builder)?;
    }
    if parts.messages {
        add_messages(execution, parts, &containers, &mut builder)?;
    }
    if parts.series {
        add_series(execution, &mut builder)?;
    }
    let name = execution.source().summary().name;
    let name = if parts.title.is_empty() { name } else { format!("{name}: {}", parts.title) };
    Ok(BaseTrace { source: Arc::new(builder.build(&name)), units: containers.units, states, has_fractions })
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

/// The times of the path in each unit, by time.
fn path_times(execution: &Execution, path: &CriticalPath) -> Vec<Vec<(i64, i64)>> {
    let mut times: Vec<Vec<(i64, i64)>> = vec![Vec::new(); execution.units().count()];
    for segment in &path.segments {
        if let PathSegment::Unit { unit, from, to } = *segment {
            times[unit as usize].push((from, to));
        }
    }
    times
}

fn add_tasks(
    execution: &Execution,
    palette: PaletteKind,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let (tasks, palette) = (execution.tasks()?, light_palette(palette));
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, "Task");
    let define = |(task, number): (&ExecutionTask, u32)| {
        builder.define_value(ty, &task.name, palette.color(ChartPaint::Task(number)))
    };
    let values: Vec<ValueId> = tasks.list().iter().zip(0..).map(define).collect();
    for (unit, &container) in containers.units.iter().enumerate() {
        for piece in tasks.pieces(unit, execution.extent()) {
            builder.add(piece.from, 2, Operation::Set { container, ty, value: values[piece.task as usize] });
            builder.add(piece.to, 1, Operation::Reset { container, ty });
        }
    }
    Ok(())
}

fn add_messages(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let (path, palette) = (parts.path, light_palette(parts.palette));
    let messages = match execution.messages() {
        Ok(messages) => messages,
        // A diagram without messages shows the units.
        Err(PerspectiveError::NoData { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let kind = PajeTypeKind::Link { start: containers.unit_type, end: containers.unit_type };
    let ty = builder.define_type(kind, TypeId::ROOT, "Message");
    let usual_scale = SizeScale::new(messages.size_extremes.into_iter().flatten()).map(MessageScale::Sizes);
    let scale = parts.message_scale.or(usual_scale.as_ref()).filter(|_| path.is_none());
    let mut define = |item: LegendItem| builder.define_value(ty, &item.label, palette.color(item.paint));
    let bins: Vec<ValueId> = scale.iter().flat_map(|scale| scale.legend()).map(&mut define).collect();
    let faint = palette.color(ChartPaint::Faint);
    let default_value = builder.define_value(ty, "message", if path.is_some() { pale_color(faint) } else { faint });
    let on_path = path.map(|path| {
        let links = path.segments.iter().filter_map(|segment| match segment {
            PathSegment::Message { link, .. } => Some(*link),
            _ => None,
        });
        (
            builder.define_styled_value(
                ty,
                "critical path",
                palette.color(ChartPaint::Emphasis),
                DrawStyle { size: Some(PATH_ARROW_SIZE), ..DrawStyle::NONE },
            ),
            links.collect::<std::collections::BTreeSet<_>>(),
        )
    });
    for message in messages.list() {
        let size = scale.and_then(|scale| bins.get(scale.bin(message)? as usize).copied());
        let of_path = on_path.as_ref().filter(|(_, links)| links.contains(&message.id)).map(|(value, _)| *value);
        let value = of_path.or(size).unwrap_or(default_value);
        builder.keys += 1;
        let key = KeyId(builder.keys);
        let unit = |index: u32| containers.units[index as usize];
        builder.add(message.sent, 4, Operation::Start { ty, value, unit: unit(message.from), key });
        builder.add(message.received, 5, Operation::End { ty, value, unit: unit(message.to), key });
    }
    Ok(())
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
