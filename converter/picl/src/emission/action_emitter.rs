//! [`ActionEmitter`]: sends actions in order of time.

use std::io;

use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, ValueId, VariableOp};

use super::definitions::{EntityTypes, PROGRAM};
use super::node_containers::NodeContainers;
use super::state_nesting::{EndEffect, StackedState, StateNesting};
use crate::model::message_pairs::MessagePairs;
use crate::model::trace_units::HOST;
use crate::model::{ActionLog, PiclEndpoint, Statistic, TraceAction, TraceActionKind, TraceUnit, TypeSlot, ValueKey};
use crate::node_activity::Activity;
use crate::picl_faults::{PiclFaultKind, StrictFault};

/// The reason why an action was not sent.
#[derive(Debug)]
pub(crate) enum EmitError {
    /// The sink or a temporary file failed.
    Io(io::Error),
    /// A fault in strict mode.
    Strict(StrictFault),
}

impl From<io::Error> for EmitError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<StrictFault> for EmitError {
    fn from(fault: StrictFault) -> Self {
        Self::Strict(fault)
    }
}

const PROGRAM_CONTAINER: ContainerId = ContainerId(1);

/// The values that are not read from a record.
#[derive(Clone, Copy, Debug)]
struct DerivedValues {
    /// `None` for Alog, which has no activity outside of its states.
    compute: Option<u32>,
    finished: u32,
    unknown: u32,
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
    sink: &'a mut dyn PajeSink,
    types: EntityTypes,
    log: &'a mut ActionLog,
    pairs: MessagePairs,
    derived: DerivedValues,
    containers: NodeContainers,
    /// By number of the unit.
    live: Vec<Option<LiveUnit>>,
    /// Units with states that are not sent yet, in order of their first state. These states began
    /// at `now`.
    unsent: Vec<u32>,
    now: i64,
    end: i64,
    text: Vec<u8>,
    /// Number of messages that are not received and that the sink keeps.
    open_links: u64,
    pub(crate) sent: u64,
}

impl<'a> ActionEmitter<'a> {
    /// Sends the definitions, and creates the container of the program.
    pub(crate) fn new(
        log: &'a mut ActionLog,
        containers: NodeContainers,
        is_alog: bool,
        sink: &'a mut dyn PajeSink,
    ) -> Result<Self, EmitError> {
        let (start, end) = log.extent.unwrap_or_default();
        let mut value = |activity| log.values.number(TypeSlot::Activity, ValueKey::Activity(activity), None);
        let derived = if is_alog {
            DerivedValues { compute: None, finished: u32::MAX, unknown: u32::MAX }
        } else {
            let compute = Some(value(Activity::Compute));
            DerivedValues { compute, finished: value(Activity::Finished), unknown: value(Activity::Unknown) }
        };
        let types = EntityTypes::new(log, is_alog);
        types.define(log, sink)?;
        sink.event(&PajeEvent::CreateContainer {
            time: GlobalNanos(start),
            container: PROGRAM_CONTAINER,
            ty: PROGRAM,
            parent: ContainerId::ROOT,
            name: "program",
            extra: &[],
        })?;
        let pairs = std::mem::take(&mut log.messages).pair(&log.units);
        let live = log.units.units.iter().map(|_| None).collect();
        let (unsent, text) = (Vec::new(), Vec::new());
        let (now, open_links, sent) = (start, 0, 0);
        Ok(Self { sink, types, log, pairs, derived, containers, live, unsent, now, end, text, open_links, sent })
    }

    pub(crate) fn send(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        if action.time > self.now {
            self.send_unsent()?;
            self.now = action.time;
        }
        let unit = self.log.units.units.get(action.unit as usize).copied().unwrap_or(TraceUnit::PROGRAM);
        if !unit.is_node() {
            return if action.kind == TraceActionKind::Event { self.event(action, PROGRAM_CONTAINER) } else { Ok(()) };
        }
        let container = self.open_unit(action, unit)?;
        match action.kind {
            TraceActionKind::Start => self.resume(action),
            TraceActionKind::Begin => self.begin(action),
            TraceActionKind::End => self.end(action),
            TraceActionKind::Event => self.event(action, container),
            TraceActionKind::Send => self.start_links(action, container, unit),
            TraceActionKind::Receive => self.end_link(action, container, unit),
            TraceActionKind::Value => self.value(action, container),
            TraceActionKind::Finish => self.finish_unit(action, self.derived.finished),
            TraceActionKind::Stop => self.finish_unit(action, self.derived.unknown),
        }
    }

    fn emit(&mut self, event: &PajeEvent<'_>) -> Result<(), EmitError> {
        self.sent += 1;
        Ok(self.sink.event(event)?)
    }

    /// The container of a unit. The first action creates it.
    fn open_unit(&mut self, action: &TraceAction, unit: TraceUnit) -> Result<ContainerId, EmitError> {
        let index = action.unit as usize;
        if let Some(Some(live)) = self.live.get(index) {
            return Ok(live.container);
        }
        let time = GlobalNanos(action.time);
        let types = self.types;
        let (created, container) = self.containers.open(unit, types, PROGRAM_CONTAINER);
        for new in created {
            let (container, ty, parent, name, extra) = (new.container, new.ty, new.parent, &*new.name, &[][..]);
            self.emit(&PajeEvent::CreateContainer { time, container, ty, parent, name, extra })?;
        }
        let (activities, tasks) = Default::default();
        self.live[index] = Some(LiveUnit { container, activities, tasks, is_over: false });
        // The host only starts the program.
        if let Some(compute) = self.derived.compute.filter(|_| unit.node != HOST) {
            self.push(action.unit, StackedState::new(compute, action.line, [0; 3], false));
        }
        Ok(container)
    }

    fn states(&mut self, unit: u32, value: u32) -> Option<&mut StateNesting> {
        let is_task = self.log.values.values.get(value as usize).is_some_and(|value| value.slot == TypeSlot::Task);
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
            self.log.values.values.get(action.value as usize).map(|value| &value.key),
            Some(ValueKey::Activity(activity)) if activity.is_message()
        );
        self.push(action.unit, StackedState::new(action.value, action.line, action.words, is_message));
        Ok(())
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
        let mut states: Vec<(TypeSlot, StackedState)> = Vec::new();
        live.activities.take_unsent(|state| states.push((TypeSlot::Activity, *state)));
        live.tasks.take_unsent(|state| states.push((TypeSlot::Task, *state)));
        for (slot, state) in states {
            let [location, parameter, has_fields] = state.words;
            let field = |name, value| ExtraField { name, value: ExtraValue::Integer(value) };
            let fields = [field("location", location), field("parameter", parameter)];
            let extra = if has_fields == 1 { &fields[..] } else { &[] };
            let (time, ty, value) = (GlobalNanos(self.now), self.types.of_slot(slot), ValueId(state.value));
            self.emit(&PajeEvent::PushState { time, container, ty, value, extra, source: None })?;
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
                let name = self.name_of(action.value);
                Ok(self.log.faults.count(PiclFaultKind::EndWithoutBegin, action.line, name.as_bytes())?)
            }
        }
    }

    fn name_of(&self, value: u32) -> String {
        self.log.values.values.get(value as usize).map_or_else(String::new, |value| self.log.values.name(value))
    }

    fn slot_of(&self, value: u32) -> TypeSlot {
        self.log.values.values.get(value as usize).map_or(TypeSlot::Activity, |value| value.slot)
    }

    /// Pops a state of the type of a value.
    fn pop(&mut self, action: &TraceAction, value: u32) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get(action.unit as usize) else { return Ok(()) };
        let container = live.container;
        let (time, ty) = (GlobalNanos(action.time), self.types.of_slot(self.slot_of(value)));
        self.emit(&PajeEvent::PopState { time, container, ty })
    }

    fn event(&mut self, action: &TraceAction, container: ContainerId) -> Result<(), EmitError> {
        let slot = self.slot_of(action.value);
        let [offset, length, has_text] = action.words;
        let mut text = std::mem::take(&mut self.text);
        text.resize(if has_text == 1 { length as usize } else { 0 }, 0);
        self.log.texts.read_exact_at(&mut text, offset.cast_unsigned())?;
        let shown = String::from_utf8_lossy(&text);
        let name = if slot == TypeSlot::Text { "text" } else { "data" };
        let field = [ExtraField { name, value: ExtraValue::Text(&shown) }];
        let extra = if text.is_empty() { &[] } else { &field[..] };
        let (time, ty, value) = (GlobalNanos(action.time), self.types.of_slot(slot), ValueId(action.value));
        self.emit(&PajeEvent::NewEvent { time, container, ty, value, extra, source: None })?;
        self.text = text;
        Ok(())
    }

    fn start_links(&mut self, action: &TraceAction, start: ContainerId, unit: TraceUnit) -> Result<(), EmitError> {
        let endpoint = PiclEndpoint::of_words(action.words);
        let mut keys = Vec::new();
        self.pairs.send(unit, endpoint, |target, key| keys.push((target, key)));
        for (target, key) in keys {
            match key.map(KeyId) {
                Some(key) => self.start_link(action, (start, None), key, endpoint)?,
                None => {
                    self.unmatched(PiclFaultKind::UnmatchedSend, action, endpoint)?;
                    self.start_open_link(action, start, target, endpoint)?;
                }
            }
        }
        Ok(())
    }

    /// Sends the start of a message that is not received, if the sink keeps it.
    fn start_open_link(
        &mut self,
        action: &TraceAction,
        start: ContainerId,
        target: TraceUnit,
        endpoint: PiclEndpoint,
    ) -> Result<(), EmitError> {
        if !self.sink.keeps_open_links() {
            return Ok(());
        }
        // Keys of pairs are numbered from 0.
        let key = KeyId(u64::MAX - self.open_links);
        self.open_links += 1;
        let of_unit = |number: u32| Some(self.live.get(number as usize)?.as_ref()?.container);
        let destination = if self.types.has_processes {
            self.log.units.find(target).and_then(of_unit)
        } else {
            self.containers.of_node(target.node)
        };
        self.start_link(action, (start, destination), key, endpoint)
    }

    /// Sends the start of a message. The destination is given if the message has no end.
    fn start_link(
        &mut self,
        action: &TraceAction,
        (start, destination): (ContainerId, Option<ContainerId>),
        key: KeyId,
        endpoint: PiclEndpoint,
    ) -> Result<(), EmitError> {
        let field = |name, value| ExtraField { name, value };
        let fields = [
            field("bytes", ExtraValue::Integer(endpoint.bytes)),
            field("type", ExtraValue::Integer(endpoint.tag)),
            field("sent to", ExtraValue::Container(destination.unwrap_or(ContainerId::ROOT))),
        ];
        let extra = if destination.is_some() { &fields[..] } else { &fields[..2] };
        let (time, ty, value) =
            (GlobalNanos(action.time), self.types.of_slot(TypeSlot::Message), ValueId(action.value));
        let (container, source) = (PROGRAM_CONTAINER, None);
        self.emit(&PajeEvent::StartLink { time, container, ty, value, start, key, extra, source })
    }

    fn end_link(&mut self, action: &TraceAction, end: ContainerId, unit: TraceUnit) -> Result<(), EmitError> {
        let endpoint = PiclEndpoint::of_words(action.words);
        let Some(key) = self.pairs.receive(unit, endpoint) else {
            return self.unmatched(PiclFaultKind::UnmatchedReceive, action, endpoint);
        };
        let (time, ty, value) =
            (GlobalNanos(action.time), self.types.of_slot(TypeSlot::Message), ValueId(action.value));
        let (container, key, extra, source) = (PROGRAM_CONTAINER, KeyId(key), &[][..], None);
        self.emit(&PajeEvent::EndLink { time, container, ty, value, end, key, extra, source })
    }

    fn unmatched(
        &mut self,
        kind: PiclFaultKind,
        action: &TraceAction,
        endpoint: PiclEndpoint,
    ) -> Result<(), EmitError> {
        let side = if kind == PiclFaultKind::UnmatchedSend { "to" } else { "from" };
        let found = format!("type {} {side} node {}", endpoint.tag, endpoint.peer.node);
        Ok(self.log.faults.count(kind, action.line, found.as_bytes())?)
    }

    fn value(&mut self, action: &TraceAction, container: ContainerId) -> Result<(), EmitError> {
        let [number, value, _] = action.words;
        let Some(statistic) = Statistic::ALL.get(number as usize).copied() else { return Ok(()) };
        let (time, ty) = (GlobalNanos(action.time), self.types.of_statistic(statistic));
        let value = statistic.value(value);
        self.emit(&PajeEvent::Variable { time, container, ty, op: VariableOp::Set, value })
    }

    /// Begins the first state of a unit again if the unit has ended.
    fn resume(&mut self, action: &TraceAction) -> Result<(), EmitError> {
        let Some(Some(live)) = self.live.get_mut(action.unit as usize) else { return Ok(()) };
        if !std::mem::take(&mut live.is_over) {
            return Ok(());
        }
        self.close_states(action)?;
        if let Some(compute) = self.derived.compute {
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
        let DerivedValues { compute, finished, unknown } = self.derived;
        for state in open {
            let is_derived = [compute.unwrap_or(u32::MAX), finished, unknown].contains(&state.value);
            if !is_derived && !state.is_ended() {
                let name = self.name_of(state.value);
                self.log.faults.count(PiclFaultKind::BeginWithoutEnd, state.line, name.as_bytes())?;
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
        if self.sink.keeps_open_links() {
            self.sink.settle_unpaired_endpoints()?;
        }
        self.sink.finish(GlobalNanos(end))?;
        Ok(end)
    }
}
