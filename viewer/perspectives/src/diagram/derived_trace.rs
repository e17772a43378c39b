//! [`derived_trace`]: a trace made of the results of the views: categories, tasks, messages and the
//! critical path as states and links.
//!
//! The diagram, filters, statistics and exports work on it as on any trace. In this way the
//! utilization and task Gantt charts, the space-time diagram and the critical path are modes of the
//! diagram.

mod column_sums;
mod fractions;
mod message_link_layer;
mod state_lanes;
mod timeline_states;
mod touching_links;
mod trace_builder;

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
use crate::execution::tasks::{ExecutionTask, TaskSet};
use crate::execution::units::Unit;
use crate::message_scale::MessageScale;
use crate::span_label::span_label;
use crate::unit_lists::UnitLists;
use message_link_layer::{MessageLinkLayer, MessageValues};
use state_lanes::{LaneTable, StateLanes};
use timeline_states::{CategoryTimelines, DerivedStates, TimelineSet};
use trace_builder::{DerivedContainers, TraceBuilder, light_palette};

/// The contents of a derived trace.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DerivedParts<'a> {
    /// The title, which follows the name of the trace.
    pub(crate) title: &'a str,
    /// The category of each unit as states. Idle times are left out if `hides_idle` is set.
    pub(crate) categories: bool,
    /// Whether idle times have no states.
    pub(crate) hides_idle: bool,
    /// The innermost task of each unit as states, in a trace without categories.
    pub(crate) tasks: bool,
    /// The messages between units as links, with sizes as values.
    pub(crate) messages: bool,
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

impl DerivedParts<'_> {
    fn shows_categories(&self) -> bool {
        self.categories || self.path.is_some()
    }

    fn shows_fractions(&self, execution: &Execution) -> Result<bool, PerspectiveError> {
        Ok(self.fractions && fractions::are_needed(execution.activity()?))
    }

    /// The time range in which all units exist. The time before the begin of a unit and after its
    /// end is idle, as in the other views. `None` if idle times are not shown.
    fn whole_life(&self, execution: &Execution) -> Option<TimeRange> {
        self.shows_categories().then(|| execution.extent())
    }
}

/// Maximum number of units that each have a row. With more, rows may be bundles of units.
const MAX_UNIT_ROWS: usize = 1024;

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

/// A derived trace without its states, which depend on categories.
struct BaseTrace {
    source: Arc<dyn TimelineSource>,
    units: Vec<ContainerId>,
    has_fractions: bool,
    units_per_row: usize,
    states: Option<BaseStates>,
}

/// The lanes of the states, and their values.
struct BaseStates {
    table: Arc<LaneTable>,
    /// The value of each category or task that is shown.
    values: Arc<Vec<Option<ValueId>>>,
    /// The unit and the number of each timeline if units have several. Empty without fractions.
    parts: Arc<Vec<(usize, usize)>>,
}

/// Makes a trace of parts of an execution, with the containers of the units.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub(super) fn trace_of_units(execution: &Execution, parts: DerivedParts<'_>) -> Result<DerivedTrace, PerspectiveError> {
    let add_rows = |builder: &mut TraceBuilder| add_containers(execution, parts.whole_life(execution), builder);
    // Categories determine the path.
    let base = match parts.path {
        None => {
            execution.derived_without_categories(&format!("{parts:?}"), || base_trace(execution, &parts, add_rows))?
        }
        Some(_) => Arc::new(base_trace(execution, &parts, add_rows)?),
    };
    with_states(execution, &parts, &base)
}

/// Makes a trace of parts of an execution with at most `max_rows` rows. Each row is a bundle of
/// units that are adjacent in an order, and has the states of all its units. If there are not more
/// units than rows, or with fractions of units, each unit has its own row.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub(super) fn trace_of_bundles(
    execution: &Execution,
    parts: DerivedParts<'_>,
    order: &[usize],
    max_rows: usize,
) -> Result<DerivedTrace, PerspectiveError> {
    if order.len() <= MAX_UNIT_ROWS || parts.shows_fractions(execution)? {
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
    let base = base_trace(execution, parts, |builder| add_bundles(execution, order, max_rows, builder))?;
    with_states(execution, parts, &base)
}

/// Makes the trace without states. `add_rows` adds the rows of the units.
fn base_trace(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    add_rows: impl FnOnce(&mut TraceBuilder) -> DerivedContainers,
) -> Result<BaseTrace, PerspectiveError> {
    let mut builder = TraceBuilder::default();
    let containers = add_rows(&mut builder);
    let units_per_row = containers.units_of_rows.iter().map(<[u32]>::len).max().unwrap_or(1);
    let has_fractions = parts.shows_fractions(execution)?;
    let life = parts.whole_life(execution);
    let states = if has_fractions {
        let fractions = fractions::add(execution, &containers, &mut builder)?;
        let (ty, values) = define_categories(parts, fractions.ty, &mut builder);
        let timelines = (0..).take(fractions.containers.len()).map(|timeline| [timeline]).collect();
        Some((LaneTable::new(ty, fractions.containers, timelines, Vec::new()), values, fractions.parts))
    } else if parts.shows_categories() || parts.tasks {
        let (ty, values) = match parts.shows_categories() {
            true => define_categories(parts, containers.unit_type, &mut builder),
            false => define_tasks(execution.tasks()?, parts.palette, &containers, &mut builder),
        };
        let (rows, units) = (containers.rows.clone(), containers.units_of_rows.clone());
        let members = if units_per_row > 1 { unit_members(execution, life) } else { Vec::new() };
        Some((LaneTable::new(ty, rows, units, members), values, Vec::new()))
    } else {
        None
    };
    let messages = if parts.messages { define_messages(execution, parts, &containers, &mut builder)? } else { None };
    let states = states.map(|(table, values, parts)| BaseStates {
        table: Arc::new(table),
        values: Arc::new(values),
        parts: Arc::new(parts),
    });
    let definitions: Arc<dyn TimelineSource> = Arc::new(builder.build(&trace_name(execution, parts)));
    let source = match messages {
        Some(values) => {
            let (trace, messages) = (execution.shared_source(), execution.shared_messages()?);
            Arc::new(MessageLinkLayer::new(definitions, trace, messages, values, containers.units.clone()))
        }
        None => definitions,
    };
    Ok(BaseTrace { source, units: containers.units, has_fractions, units_per_row, states })
}

/// Adds the states to a trace.
fn with_states(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    base: &BaseTrace,
) -> Result<DerivedTrace, PerspectiveError> {
    let inner = Arc::clone(&base.source);
    let source = match &base.states {
        None => inner,
        Some(BaseStates { table, values, parts: timelines }) => {
            let timelines = if base.has_fractions {
                let activity = execution.shared_activity()?;
                TimelineSet::Categories(CategoryTimelines::of_parts(activity, Arc::clone(timelines)))
            } else if parts.shows_categories() {
                let activity = execution.shared_activity()?;
                let path = parts.path.map_or_else(Vec::new, |path| path_times(path, execution.units().count()));
                TimelineSet::Categories(CategoryTimelines::of_units(activity, &path, execution.extent()))
            } else {
                TimelineSet::Tasks(execution.shared_tasks()?)
            };
            let states = DerivedStates::new(timelines, Arc::clone(values), execution.extent());
            Arc::new(StateLanes::new(inner, Arc::clone(table), states))
        }
    };
    let BaseTrace { units, has_fractions, units_per_row, .. } = base;
    Ok(DerivedTrace { source, units: units.clone(), has_fractions: *has_fractions, units_per_row: *units_per_row })
}

/// Adds a row per bundle of adjacent units in an order, at most `max_rows`.
fn add_bundles(
    execution: &Execution,
    order: &[usize],
    max_rows: usize,
    builder: &mut TraceBuilder,
) -> DerivedContainers {
    let (units, model) = (execution.units(), execution.model());
    let name = model.types.get(units.ty.index()).map_or("unit", |ty| ty.name.as_str());
    let unit_type = builder.define_type(PajeTypeKind::Container, TypeId::ROOT, name);
    let mut containers = DerivedContainers {
        units: vec![ContainerId::ROOT; order.len()],
        unit_type,
        rows: Vec::new(),
        units_of_rows: UnitLists::default(),
    };
    let name = |unit: usize| units.list()[unit].name.as_str();
    for (bundle, number) in order.chunks(order.len().div_ceil(max_rows.max(1))).zip(1..) {
        let container = ContainerId(number);
        let label = match bundle {
            [unit] => name(*unit).to_owned(),
            _ => span_label(name(bundle[0]), name(bundle[bundle.len() - 1])),
        };
        builder.add_container(container, (ContainerId::ROOT, unit_type), &label, execution.extent());
        bundle.iter().for_each(|unit| containers.units[*unit] = container);
        containers.units_of_rows.push(bundle.iter().map(|unit| u32::try_from(*unit).unwrap_or(u32::MAX)));
        containers.rows.push(container);
    }
    containers
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
    let units_of_rows = (0..).take(units.len()).map(|unit| [unit]).collect();
    DerivedContainers { rows: units.clone(), units_of_rows, units, unit_type }
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

/// Defines the type and the values of categories and of the critical path, for states in containers
/// of a type.
fn define_categories(
    parts: &DerivedParts<'_>,
    container_type: TypeId,
    builder: &mut TraceBuilder,
) -> (TypeId, Vec<Option<ValueId>>) {
    let palette = light_palette(parts.palette);
    let name = if parts.path.is_some() { "Critical path" } else { "Utilization" };
    let ty = builder.define_type(PajeTypeKind::State, container_type, name);
    let mut values = vec![None; 4];
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
    (ty, values)
}

/// Defines the type and the values of tasks.
fn define_tasks(
    tasks: &TaskSet,
    palette: PaletteKind,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> (TypeId, Vec<Option<ValueId>>) {
    let palette = light_palette(palette);
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, "Task");
    let define = |task: &ExecutionTask| Some(builder.define_value(ty, &task.name, palette.color(task.paint())));
    let values = tasks.list().iter().map(define).collect();
    (ty, values)
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

#[cfg(test)]
mod tests;
