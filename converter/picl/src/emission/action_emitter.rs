//! [`ActionEmitter`]: sends actions in order of time.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, PajeEvent, PajeSink, ValueId, VariableOp};

use super::definitions::EntityTypes;
use super::entity_output::{EmitError, EntityOutput, PROGRAM_CONTAINER};
use super::message_links::MessageLinks;
use super::node_containers::NodeContainers;
use super::state_extras::{NodeOperation, StateExtras};
use super::state_nesting::{EndEffect, StackedState, StateNesting};
use crate::model::action_log::kind_of;
use crate::model::collective_counts::{ALL_NODES, CollectiveNumbers};
use crate::model::trace_units::HOST;
use crate::model::{ActionLog, Statistic, TraceAction, TraceActionKind, TraceUnit, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::picl_faults::PiclFaultKind;

/// The values that are not read from a record.
#[derive(Clone, Copy, Debug)]
struct DerivedValues {
    /// `None` for Alog, which has no activity outside of its states, and for the host, which only
    /// starts the program.
    compute_value: Option<u32>,
    finished_value: u32,
    unknown_value: u32,
}

impl DerivedValues {
    const NONE: Self = Self { compute_value: None, finished_value: u32::MAX, unknown_value: u32::MAX };

    /// The values of the activities of some units.
    fn new(log: &mut ActionLog, slot: TypeSlot, computes: bool) -> Self {
        let mut value = |activity| log.values.number(slot, ValueKey::Activity(activity), None);
        Self {
            compute_value: computes.then(|| value(Activity::Compute)),
            finished_value: value(Activity::Finished),
            unknown_value: value(Activity::Unknown),
        }
    }
}

/// A unit that has a container.
#[derive(Debug)]
struct LiveUnit {
    container: ContainerId,
    activities: StateNesting,
    tasks: StateNesting,
    /// Whether it has ended, or its trace memory is full.
    is_over: bool,
}

/// Sends actions as Pajé operations.
pub(crate) struct ActionEmitter<'a> {
    out: EntityOutput<'a>,
    links: MessageLinks,
    collectives: CollectiveNumbers,
    derived_values: DerivedValues,
    host_values: DerivedValues,
    /// By number of the unit.
    live: Vec<Option<LiveUnit>>,
    /// Units with states that are not sent yet, in order of their first state. These states began
    /// at `now`.
    unsent: Vec<u32>,
    end: i64,
    text: Vec<u8>,
}

impl<'a> ActionEmitter<'a> {
    /// Sends the definitions, and creates the container of the program.
    pub(crate) fn new(
        log: &'a mut ActionLog,
        containers: NodeContainers,
        is_alog: bool,
        sink: &'a mut dyn PajeSink,
    ) -> Result<Self, EmitError> {
        let end = log.extent.unwrap_or_default().1;
        let derived = if is_alog { DerivedValues::NONE } else { DerivedValues::new(log, TypeSlot::Activity, true) };
        let host_values = if log.units.has_host() && !is_alog {
            DerivedValues::new(log, TypeSlot::HostActivity, false)
        } else {
            DerivedValues::NONE
        };
        let links = MessageLinks::new(std::mem::take(&mut log.messages).pair(&log.units));
        let is_complete = log.complete_units();
        let collectives = std::mem::take(&mut log.collectives).number(&log.units, &log.values, &is_complete);
        let types = EntityTypes::new(log, is_alog);
        let out = EntityOutput::new(log, containers, types, sink)?;
        for unequal in &collectives.unequal_parts {
            let (shortest, longest) = unequal.parts;
            let text = format!("{}: {shortest} and {longest} parts", out.name_of(unequal.value));
            out.log.faults.count(PiclFaultKind::UnequalParts, unequal.line, text.as_bytes())?;
        }
        let live = out.log.units.units.iter().map(|_| None).collect();
        let (unsent, text) = (Vec::new(), Vec::new());
        Ok(Self { out, links, collectives, derived_values: derived, host_values, live, unsent, end, text })
    }

    /// Number of operations that were sent, without definitions.
    pub(crate) fn sent_count(&self) -> u64 {
        self.out.sent_count
    }

    pub(crate) fn send(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        if action.time > self.out.time {
            self.send_unsent()?;
            self.out.time = action.time;
        }
        let unit = self.out.unit(action.unit);
        if !unit.is_node() {
            return if action.kind == TraceActionKind::Event { self.event(action, PROGRAM_CONTAINER) } else { Ok(()) };
        }
        if matches!(action.kind, TraceActionKind::Start | TraceActionKind::Finish | TraceActionKind::Stop)
            && let Some(processes) = self.out.log.units.processes_of(unit)
        {
            return processes.into_iter().try_for_each(|unit| self.send_of(&TraceAction { unit, ..*action }));
        }
        let unit = self.out.canonical_number(action.unit);
        self.send_of(&TraceAction { unit, ..*action })
    }

    /// Sends an action of a unit with a container.
    fn send_of(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        let unit = self.out.unit(action.unit);
        let container = self.open_unit(action, unit)?;
        match action.kind {
            TraceActionKind::Start => self.resume(action),
            TraceActionKind::Begin => self.begin(action),
            TraceActionKind::End => self.end(action),
            TraceActionKind::Event => self.event(action, container),
            TraceActionKind::Send => self.links.start(&mut self.out, action, container),
            TraceActionKind::Receive => self.links.end(&mut self.out, action, container),
            TraceActionKind::Value => self.value(action, container, unit),
            TraceActionKind::Finish => self.finish_unit(action, self.derived_of(unit).finished_value),
            TraceActionKind::Stop => self.finish_unit(action, self.derived_of(unit).unknown_value),
        }
    }

    fn derived_of(&self, unit: TraceUnit) -> DerivedValues {
        if unit.node == HOST { self.host_values } else { self.derived_values }
    }

    fn derived_of_number(&self, unit: u32) -> DerivedValues {
        self.derived_of(self.out.unit(unit))
    }

    /// The container of the unit of an action. The first action begins its first state.
    fn open_unit(&mut self, action: &TraceAction, unit: TraceUnit) -> Result<ContainerId, EmitError> {
        let index = action.unit as usize;
        if let Some(Some(live)) = self.live.get(index) {
            return Ok(live.container);
        }
        let container = self.out.container_of(action.unit)?;
        let (activities, tasks) = Default::default();
        self.live[index] = Some(LiveUnit { container, activities, tasks, is_over: false });
        if let Some(compute) = self.derived_of(unit).compute_value {
            self.push(action.unit, StackedState::new(compute, action.line, [0; 3], false));
        }
        Ok(container)
    }

    fn states(&mut self, unit: u32, value: u32) -> Option<&mut StateNesting> {
        let is_task = self.out.log.values.values.get(value as usize).is_some_and(|value| value.slot.is_task());
        let live = self.live.get_mut(unit as usize)?.as_mut()?;
        Some(if is_task { &mut live.tasks } else { &mut live.activities })
    }

    fn push(&mut self, unit: u32, state: StackedState) {
        if let Some(states) = self.states(unit, state.value) {
            states.begin(state);
            self.unsent.push(unit);
        }
    }

    fn begin(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        let is_message = matches!(
            self.out.log.values.values.get(action.value as usize).map(|value| &value.key),
            Some(ValueKey::Activity(activity)) if activity.is_message()
        );
        // A state without a duration is kept for the data of its records.
        let is_message = is_message && !self.out.fields_of(action.words)?.has_data();
        self.push(action.unit, StackedState::new(action.value, action.line, action.words, is_message));
        Ok(())
    }

    /// The extra fields of a state of a unit.
    fn extras_of(&mut self, unit: u32, state: &StackedState) -> Result<StateExtras, EmitError> {
        let fields = self.out.fields_of(state.words)?;
        let kind = self.out.log.values.values.get(state.value as usize).and_then(|value| kind_of(&value.key));
        let Some(kind) = kind else { return Ok(StateExtras::new(fields, None)) };
        let subset = fields.subset.unwrap_or(ALL_NODES);
        let root = match fields.root {
            Some(root) if kind.has_root() => {
                let root = self.collectives.node_of_root(subset, state.value, unit, root);
                self.root_of(unit, root)?
            }
            _ => None,
        };
        let operation = self.collectives.next(subset, state.value, unit);
        Ok(StateExtras::new(fields, Some(NodeOperation { kind, operation, root })))
    }

    /// The container of the unit of a root, and whether it is that of `unit`.
    fn root_of(&mut self, unit: u32, node: i64) -> Result<Option<(ContainerId, bool)>, EmitError> {
        // The first node sends and receives the data for the host.
        let node = if node == HOST { 0 } else { node };
        let of_part = self.out.unit(unit);
        let Some(root) = self.out.number_of(TraceUnit { node, ..of_part }) else { return Ok(None) };
        Ok(Some((self.out.container_of(root)?, root == unit)))
    }

    /// Sends the states that began at the current time.
    fn send_unsent(&mut self) -> Result<(), EmitError> {
        let units = std::mem::take(&mut self.unsent);
        for unit in &units {
            self.send_states_of(*unit)?;
        }
        self.unsent = units;
        self.unsent.clear();
        Ok(())
    }

    fn send_states_of(&mut self, unit: u32) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get_mut(unit as usize) else { return Ok(()) };
        // The next state of this unit is after those of the other units.
        self.unsent.retain(|unsent| *unsent != unit);
        let container = live.container;
        let mut states: Vec<StackedState> = Vec::new();
        live.activities.take_unsent(|state| states.push(*state));
        live.tasks.take_unsent(|state| states.push(*state));
        for state in states {
            let extras = self.extras_of(unit, &state)?;
            let extra = &extras.list();
            let ty = self.out.types.of_slot(self.out.slot_of(state.value));
            let (time, value) = (GlobalNanos(self.out.time), ValueId(state.value));
            self.out.emit(&PajeEvent::PushState { time, container, ty, value, extra, source: None })?;
        }
        Ok(())
    }

    fn end(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        let Some(mut effect) = self.states(action.unit, action.value).map(|states| states.end(action.value)) else {
            return Ok(());
        };
        if effect == EndEffect::SendFirst {
            self.send_states_of(action.unit)?;
            effect = self.states(action.unit, action.value).map_or(effect, |states| states.end(action.value));
        }
        match effect {
            EndEffect::Pops(count) => (0..count).try_for_each(|_| self.pop(action, action.value)),
            EndEffect::Missing | EndEffect::SendFirst => {
                let name = self.out.name_of(action.value);
                Ok(self.out.log.faults.count(PiclFaultKind::EndWithoutBegin, action.line, name.as_bytes())?)
            }
        }
    }

    /// Pops a state of the type of a value.
    fn pop(&mut self, action: &TraceAction, value: u32) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get(action.unit as usize) else { return Ok(()) };
        let container = live.container;
        let (time, ty) = (GlobalNanos(action.time), self.out.types.of_slot(self.out.slot_of(value)));
        self.out.emit(&PajeEvent::PopState { time, container, ty })
    }

    fn event(&mut self, action: &TraceAction, container: ContainerId) -> Result<(), EmitError> {
        let slot = self.out.slot_of(action.value);
        let [offset, length, has_text] = action.words;
        let mut text = std::mem::take(&mut self.text);
        text.resize(if has_text == 1 { length as usize } else { 0 }, 0);
        self.out.log.texts.read_exact_at(&mut text, offset.cast_unsigned())?;
        let shown = String::from_utf8_lossy(&text);
        let name = if matches!(slot, TypeSlot::Text | TypeSlot::HostText) { "text" } else { "data" };
        let field = [ExtraField { name, value: ExtraValue::Text(&shown) }];
        let extra = if text.is_empty() { &[] } else { &field[..] };
        let (time, ty, value) = (GlobalNanos(action.time), self.out.types.of_slot(slot), ValueId(action.value));
        self.out.emit(&PajeEvent::NewEvent { time, container, ty, value, extra, source: None })?;
        self.text = text;
        Ok(())
    }

    fn value(&mut self, action: &TraceAction, container: ContainerId, unit: TraceUnit) -> Result<(), EmitError> {
        let [number, value, _] = action.words;
        let Some(statistic) = Statistic::ALL.get(number as usize).copied() else { return Ok(()) };
        let (time, ty) = (GlobalNanos(action.time), self.out.types.of_statistic(statistic, unit));
        let value = statistic.value(value);
        self.out.emit(&PajeEvent::Variable { time, container, ty, op: VariableOp::Set, value })
    }

    /// Begins the first state of a unit again if the unit has ended.
    fn resume(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get_mut(action.unit as usize) else { return Ok(()) };
        if !std::mem::take(&mut live.is_over) {
            return Ok(());
        }
        self.close_states(action)?;
        if let Some(compute) = self.derived_of_number(action.unit).compute_value {
            self.push(action.unit, StackedState::new(compute, action.line, [0; 3], false));
        }
        Ok(())
    }

    /// Ends a unit. `state` lasts until the end of the trace.
    fn finish_unit(&mut self, action: &TraceAction, state: u32) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get_mut(action.unit as usize) else { return Ok(()) };
        if std::mem::replace(&mut live.is_over, true) {
            return Ok(());
        }
        self.close_states(action)?;
        if action.time < self.end {
            self.push(action.unit, StackedState::new(state, action.line, [0; 3], false));
        }
        Ok(())
    }

    /// Ends all states of a unit.
    fn close_states(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        self.send_states_of(action.unit)?;
        let Some(Some(live)) = self.live.get_mut(action.unit as usize) else { return Ok(()) };
        let open: Vec<StackedState> = live.tasks.drain().chain(live.activities.drain()).collect();
        let DerivedValues { compute_value, finished_value, unknown_value } = self.derived_of_number(action.unit);
        for state in open {
            let is_derived = [compute_value.unwrap_or(u32::MAX), finished_value, unknown_value].contains(&state.value);
            if !is_derived && !state.is_ended() {
                let name = self.out.name_of(state.value);
                self.out.log.faults.count(PiclFaultKind::BeginWithoutEnd, state.line, name.as_bytes())?;
            }
            self.pop(action, state.value)?;
        }
        Ok(())
    }

    /// Ends all states, and finishes the sink. Returns the last time.
    pub(crate) fn finish(mut self) -> Result<i64, EmitError> {
        self.send_unsent()?;
        let end = self.end;
        for unit in 0..self.live.len() as u32 {
            let (kind, value, words) = (TraceActionKind::Finish, 0, [0; 3]);
            self.close_states(&TraceAction { time: end, line: 0, kind, unit, value, words })?;
        }
        if self.out.sink.keeps_open_links() {
            self.out.sink.settle_unpaired_endpoints()?;
        }
        self.out.sink.finish(GlobalNanos(end))?;
        Ok(end)
    }
}
