//! [`derived_trace`]: a trace made of the results of the views: categories, tasks, messages, series
//! and the critical path as states, links and variables.
//!
//! The diagram, filters, statistics and exports work on it as on any trace. In this way the
//! utilization and task Gantt charts, the space-time diagram and the critical path are modes of the
//! diagram, and the series are variables.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, KeyId, PajeEvent, PajeTypeKind, RgbColor, ValueId, VariableOp};
use tumit_viewer::query::{ContainerId, ContainerInfo, GlobalNanos, TimelineSource, TypeId};
use tumit_viewer::store::TraceStore;
use tumit_viewer::style::theme::{ThemeKind, mix, rgb};

use crate::analysis::critical_path::{CriticalPath, PathSegment};
use crate::chart::{ChartPaint, LegendItem};
use crate::draw::chart_palette::ChartPalette;
use crate::draw::size_scale::SizeScale;
use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::execution::step_function::StepFunction;
use crate::execution::tasks::ExecutionTask;

/// The contents of a derived trace.
#[derive(Clone, Copy, Debug, Default)]
pub struct DerivedParts<'a> {
    /// The title, which follows the name of the trace.
    pub title: &'a str,
    /// The category of each unit as states. Idle times are left out if `hides_idle` is set.
    pub categories: bool,
    /// Whether idle times have no states.
    pub hides_idle: bool,
    /// The innermost task of each unit as states.
    pub tasks: bool,
    /// The messages between units as links, with sizes as values.
    pub messages: bool,
    /// The numbers of units per category, and of pending messages and bytes, as variables of the
    /// root.
    pub series: bool,
    /// The critical path as emphasised states and links. All others are pale.
    pub path: Option<&'a CriticalPath>,
    /// Whether times off the critical path have no states.
    pub only_path: bool,
}

/// The weight of a colour beside the critical path, mixed with white. The path stands out, and the
/// categories remain distinguishable.
const PALE_WEIGHT: f32 = 0.55;

/// The colours of a trace are those of the light theme. The diagram adapts them to other themes.
fn palette() -> ChartPalette {
    ChartPalette::new(ThemeKind::Light, false)
}

/// The width of the arrows of the critical path, relative to other arrows, so that they stand out.
const PATH_ARROW_SIZE: f32 = 3.0;

/// A colour beside the critical path.
fn pale(color: RgbColor) -> RgbColor {
    mix([(color, PALE_WEIGHT), (rgb(0x00ff_ffff), 1.0 - PALE_WEIGHT)]).unwrap_or(color)
}

/// The events of a derived trace. Names are kept apart, because events borrow them.
#[derive(Default)]
struct TraceBuilder {
    names: Vec<String>,
    /// Definitions in order: the events that are not timed.
    definitions: Vec<Definition>,
    /// Time, rank and operation. At equal times, the rank decides.
    operations: Vec<(i64, u8, Operation)>,
    types: u32,
    values: u32,
    keys: u64,
}

#[derive(Clone, Copy)]
enum Definition {
    Type { ty: TypeId, kind: PajeTypeKind, parent: TypeId, name: usize },
    Value { value: ValueId, ty: TypeId, name: usize, color: RgbColor, style: DrawStyle },
}

#[derive(Clone, Copy)]
enum Operation {
    Create { container: ContainerId, ty: TypeId, parent: ContainerId, name: usize },
    Destroy(ContainerId),
    Set { container: ContainerId, ty: TypeId, value: ValueId },
    Reset { container: ContainerId, ty: TypeId },
    Number { container: ContainerId, ty: TypeId, number: f64 },
    Start { ty: TypeId, value: ValueId, unit: ContainerId, key: KeyId },
    End { ty: TypeId, value: ValueId, unit: ContainerId, key: KeyId },
}

impl TraceBuilder {
    fn name(&mut self, name: &str) -> usize {
        self.names.push(name.to_owned());
        self.names.len() - 1
    }

    fn define_type(&mut self, kind: PajeTypeKind, parent: TypeId, name: &str) -> TypeId {
        self.types += 1;
        let (ty, name) = (TypeId(self.types), self.name(name));
        self.definitions.push(Definition::Type { ty, kind, parent, name });
        ty
    }

    fn define_value(&mut self, ty: TypeId, name: &str, color: RgbColor) -> ValueId {
        self.define_styled_value(ty, name, color, DrawStyle::NONE)
    }

    fn define_styled_value(&mut self, ty: TypeId, name: &str, color: RgbColor, style: DrawStyle) -> ValueId {
        let (value, name) = (ValueId(self.values), self.name(name));
        self.values += 1;
        self.definitions.push(Definition::Value { value, ty, name, color, style });
        value
    }

    fn add(&mut self, time: i64, rank: u8, operation: Operation) {
        self.operations.push((time, rank, operation));
    }

    fn build(mut self, name: &str) -> TraceStore {
        // The sort is stable: operations at one time keep their order.
        self.operations.sort_by_key(|operation| (operation.0, operation.1));
        let (names, extra) = (&self.names, &[]);
        let definitions = self.definitions.iter().map(|definition| match *definition {
            Definition::Type { ty, kind, parent, name } => {
                PajeEvent::DefineType { ty, kind, parent, name: &names[name], color: None, style: DrawStyle::NONE }
            }
            Definition::Value { value, ty, name, color, style } => {
                PajeEvent::DefineValue { value, ty, name: &names[name], color: Some(color), style, category: None }
            }
        });
        let holder = ContainerId::ROOT;
        let operations = self.operations.iter().map(|(time, _, operation)| {
            let time = GlobalNanos(*time);
            match *operation {
                Operation::Create { container, ty, parent, name } => {
                    PajeEvent::CreateContainer { time, container, ty, parent, name: &names[name], extra }
                }
                Operation::Destroy(container) => PajeEvent::DestroyContainer { time, container },
                Operation::Set { container, ty, value } => {
                    PajeEvent::SetState { time, container, ty, value, extra, source: None }
                }
                Operation::Reset { container, ty } => PajeEvent::ResetState { time, container, ty },
                Operation::Number { container, ty, number } => {
                    PajeEvent::Variable { time, container, ty, op: VariableOp::Set, value: number }
                }
                Operation::Start { ty, value, unit, key } => {
                    PajeEvent::StartLink { time, container: holder, ty, value, start: unit, key, extra, source: None }
                }
                Operation::End { ty, value, unit, key } => {
                    PajeEvent::EndLink { time, container: holder, ty, value, end: unit, key, extra, source: None }
                }
            }
        });
        TraceStore::from_events(name, definitions.chain(operations))
    }
}

/// The units and their ancestors in a derived trace.
struct DerivedContainers {
    /// For each unit, its container.
    units: Vec<ContainerId>,
    unit_type: TypeId,
}

/// Makes a trace of parts of an execution.
///
/// # Errors
/// If the execution lacks data of a part, or the source fails.
pub fn derived_trace(
    execution: &Execution,
    parts: DerivedParts<'_>,
) -> Result<Arc<dyn TimelineSource>, PerspectiveError> {
    let mut builder = TraceBuilder::default();
    let containers = add_containers(execution, &mut builder);
    if parts.categories || parts.path.is_some() {
        add_categories(execution, &parts, &containers, &mut builder)?;
    }
    if parts.tasks {
        add_tasks(execution, &containers, &mut builder)?;
    }
    if parts.messages {
        add_messages(execution, parts.path, &containers, &mut builder)?;
    }
    if parts.series {
        add_series(execution, &mut builder)?;
    }
    let name = execution.source().summary().name;
    let name = if parts.title.is_empty() { name } else { format!("{name}: {}", parts.title) };
    Ok(Arc::new(builder.build(&name)))
}

/// Adds the units and the containers around them.
fn add_containers(execution: &Execution, builder: &mut TraceBuilder) -> DerivedContainers {
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
                let name = builder.name(&info.name);
                builder.add(
                    info.life.from.0,
                    0,
                    Operation::Create { container: number, ty: parent_type, parent, name },
                );
                builder.add(info.life.to.0, 9, Operation::Destroy(number));
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

fn add_categories(
    execution: &Execution,
    parts: &DerivedParts<'_>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let activity = execution.activity()?;
    let name = if parts.path.is_some() { "Critical path" } else { "Utilization" };
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, name);
    let mut define = |category: ActivityCategory| {
        let color = palette().color(ChartPaint::Category(category));
        let color = if parts.path.is_some() { pale(color) } else { color };
        builder.define_value(ty, category.word(), color)
    };
    let shown = if parts.only_path { &[][..] } else { &ActivityCategory::COUNTED[..] };
    let values: Vec<ValueId> = shown.iter().copied().map(&mut define).collect();
    let on_path =
        parts.path.map(|path| (builder.define_value(ty, "critical path", palette().color(ChartPaint::Emphasis)), path));
    for (unit, &container) in containers.units.iter().enumerate() {
        let mut path_times: Vec<(i64, i64)> = Vec::new();
        if let Some((_, path)) = on_path {
            path_times.extend(path.segments.iter().filter_map(|segment| match *segment {
                PathSegment::Unit { unit: path_unit, from, to } if path_unit as usize == unit => Some((from, to)),
                _ => None,
            }));
        }
        for timeline in activity.timelines(unit).iter().take(1) {
            for piece in timeline.pieces(execution.extent()) {
                // The end of a part of the path restores the category of this time.
                let before = path_times.partition_point(|(from, _)| *from <= piece.from);
                let covered = before.checked_sub(1).is_some_and(|index| piece.from < path_times[index].1);
                if !covered {
                    builder.add(
                        piece.from,
                        2,
                        category_operation(container, ty, piece.category, parts.hides_idle, &values),
                    );
                }
            }
            for (index, &(from, to)) in path_times.iter().enumerate() {
                if let Some((value, _)) = on_path {
                    builder.add(from, 3, Operation::Set { container, ty, value });
                }
                if path_times.get(index + 1).is_none_or(|next| next.0 != to) {
                    builder.add(to, 2, category_operation(container, ty, timeline.at(to), parts.hides_idle, &values));
                }
            }
        }
    }
    Ok(())
}

/// Sets the state of a category, or no state.
fn category_operation(
    container: ContainerId,
    ty: TypeId,
    category: ActivityCategory,
    hides_idle: bool,
    values: &[ValueId],
) -> Operation {
    let value = values.get(category as usize).filter(|_| !(hides_idle && category == ActivityCategory::Idle));
    value.map_or(Operation::Reset { container, ty }, |value| Operation::Set { container, ty, value: *value })
}

fn add_tasks(
    execution: &Execution,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let tasks = execution.tasks()?;
    let ty = builder.define_type(PajeTypeKind::State, containers.unit_type, "Task");
    let define = |(task, number): (&ExecutionTask, u32)| {
        builder.define_value(ty, &task.name, palette().color(ChartPaint::Task(number)))
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
    path: Option<&CriticalPath>,
    containers: &DerivedContainers,
    builder: &mut TraceBuilder,
) -> Result<(), PerspectiveError> {
    let messages = match execution.messages() {
        Ok(messages) => messages,
        // A diagram without messages shows the units.
        Err(PerspectiveError::NoData { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let kind = PajeTypeKind::Link { start: containers.unit_type, end: containers.unit_type };
    let ty = builder.define_type(kind, TypeId::ROOT, "Message");
    let scale = SizeScale::new(messages.size_extremes.into_iter().flatten()).filter(|_| path.is_none());
    let mut define = |item: LegendItem| builder.define_value(ty, &item.label, palette().color(item.paint));
    let sizes: Vec<ValueId> = scale.iter().flat_map(SizeScale::legend).map(&mut define).collect();
    let faint = palette().color(ChartPaint::Faint);
    let default_value = builder.define_value(ty, "message", if path.is_some() { pale(faint) } else { faint });
    let on_path = path.map(|path| {
        let links = path.segments.iter().filter_map(|segment| match segment {
            PathSegment::Message { link, .. } => Some(*link),
            _ => None,
        });
        (
            builder.define_styled_value(
                ty,
                "critical path",
                palette().color(ChartPaint::Emphasis),
                DrawStyle { size: Some(PATH_ARROW_SIZE), ..DrawStyle::NONE },
            ),
            links.collect::<std::collections::BTreeSet<_>>(),
        )
    });
    for message in messages.list() {
        let size = scale.and_then(|scale| sizes.get(scale.bin(message.bytes?) as usize).copied());
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
