//! Random traces, and the store of each.

use std::sync::Arc;

use proptest::prelude::*;
use tumit_viewer::query::{ContainerId, GlobalNanos, PajeTypeKind, TimelineSource, TypeId, ValueId};
use tumit_viewer::store::TraceStore;

use tumit_paje::{DrawStyle, ExtraField, ExtraValue, KeyId, PajeEvent, VariableOp};

use crate::trace_model::{END, ModelContainer, ModelEvent, ModelLink, ModelSample, ModelState, ModelTrace};

/// The names of all values.
pub const VALUES: [&str; 3] = ["work", "wait", "idle"];

const NODE: TypeId = TypeId(1);
const THREAD: TypeId = TypeId(2);
const ACTIVITY: TypeId = TypeId(3);
const LOAD: TypeId = TypeId(4);
const MESSAGE: TypeId = TypeId(5);
const MARK: TypeId = TypeId(6);

/// A random thread: its life; gap, duration and value of its states, and whether one is nested
/// inside; steps of its variable; timestamps of its events.
#[derive(Clone, Debug)]
pub struct ThreadPlan {
    life: (i64, i64),
    states: Vec<(i64, i64, usize, bool)>,
    load: Vec<(i64, i32)>,
    events: Vec<i64>,
}

fn plan() -> impl Strategy<Value = ThreadPlan> {
    let state = (
        prop_oneof![3 => Just(0_i64), 1 => 0_i64..60],
        prop_oneof![1 => Just(0_i64), 9 => 1_i64..120],
        0..3_usize,
        any::<bool>(),
    );
    (
        (0_i64..400, 100_i64..700),
        prop::collection::vec(state, 0..14),
        prop::collection::vec((0_i64..150, -20..20_i32), 0..8),
        prop::collection::vec(0_i64..END, 0..6),
    )
        .prop_map(|((from, length), states, load, events)| ThreadPlan {
            life: (from, (from + length).min(END - 1)),
            states,
            load,
            events,
        })
}

/// Threads of two nodes, and messages: from, to, start and duration.
pub type TracePlans = (Vec<(usize, ThreadPlan)>, Vec<(usize, usize, i64, i64, i64)>);

/// Random plans.
pub fn plans() -> impl Strategy<Value = TracePlans> {
    let link = (0..6_usize, 0..6_usize, 0..END, -40_i64..300, 0..5_i64);
    (prop::collection::vec((0..2_usize, plan()), 1..6), prop::collection::vec(link, 0..20))
}

impl ThreadPlan {
    fn of(&self, container: &str, trace: &mut ModelTrace) {
        let (first, last) = self.life;
        let mut now = first;
        for &(gap, length, value, nested) in &self.states {
            let life = ((now + gap).min(last), (now + gap + length).min(last));
            now = life.1;
            let state = |depth, life, value: usize| ModelState {
                container: container.to_owned(),
                ty: "Activity".to_owned(),
                depth,
                life,
                value: VALUES[value % 3].to_owned(),
            };
            trace.states.push(state(0, life, value));
            if nested {
                let third = (life.1 - life.0) / 3;
                trace.states.push(state(1, (life.0 + third, life.1 - third), value + 1));
            }
        }
        let mut now = first;
        let mut samples: Vec<(i64, f64)> = Vec::new();
        for &(step, value) in &self.load {
            now = (now + step).min(last);
            samples.retain(|sample| sample.0 != now);
            samples.push((now, f64::from(value)));
        }
        for (place, &(from, value)) in samples.iter().enumerate() {
            let to = samples.get(place + 1).map_or(last, |next| next.0);
            trace.samples.push(ModelSample {
                container: container.to_owned(),
                ty: "Load".to_owned(),
                life: (from, to),
                value,
            });
        }
        for &timestamp in self.events.iter().filter(|&&timestamp| timestamp >= first && timestamp < last) {
            trace.events.push(ModelEvent {
                container: container.to_owned(),
                timestamp,
                value: VALUES[timestamp as usize % 3].to_owned(),
            });
        }
    }
}

/// The trace of some plans. Rows are in the order of the store: by name.
#[must_use]
pub fn planned_trace((threads, links): &TracePlans) -> ModelTrace {
    let mut trace = ModelTrace { extent: (0, END), ..ModelTrace::default() };
    let place = |name: &str, parent: &str, ty, life| ModelContainer {
        name: name.to_owned(),
        parent: parent.to_owned(),
        ty,
        life,
    };
    trace.places.push(place("world", "world", "world", (0, END)));
    for node in 0..2 {
        trace.places.push(place(&format!("node {node}"), "world", "Node", (0, END)));
        for (index, (_, plan)) in threads.iter().enumerate().filter(|(_, (of, _))| *of == node) {
            let name = format!("thread {index}");
            trace.places.push(place(&name, &format!("node {node}"), "Thread", plan.life));
            plan.of(&name, &mut trace);
        }
    }
    let lives: Vec<(i64, i64)> = threads.iter().map(|(_, plan)| plan.life).collect();
    for &(from, to, start, length, bytes) in links {
        let (from, to) = (from % lives.len(), to % lives.len());
        // Within both lives, and inside the trace.
        let (first, last) = (lives[from].0.max(lives[to].0), lives[from].1.min(lives[to].1));
        if first + 1 < last {
            let start = first + start % (last - first);
            let end = (start + length).clamp(first, last);
            let ends = (format!("thread {from}"), format!("thread {to}"));
            trace.links.push(ModelLink { ends, life: (start, end), bytes });
        }
    }
    trace
}

/// The store of a trace, built from its operations in order of time.
///
/// # Panics
/// If names in the trace are unknown.
#[must_use]
pub fn store(trace: &ModelTrace) -> Arc<dyn TimelineSource> {
    // Extra fields are borrowed.
    let bytes: Vec<[ExtraField<'_>; 1]> =
        trace.links.iter().map(|link| [ExtraField { name: "Bytes", value: ExtraValue::Integer(link.bytes) }]).collect();
    let containers = || trace.places.iter().skip(1);
    let mut events: Vec<(GlobalNanos, PajeEvent<'_>)> = Vec::new();
    for place in containers() {
        let (container, parent) = (container_id(trace, &place.name), container_id(trace, &place.parent));
        let (time, ty) = (GlobalNanos(place.life.0), if place.ty == "Node" { NODE } else { THREAD });
        events.push((time, PajeEvent::CreateContainer { time, container, ty, parent, name: &place.name, extra: &[] }));
    }
    append_links(trace, &bytes, &mut events);
    for place in containers() {
        append_states(trace, place, &mut events);
        append_samples_and_events(trace, place, &mut events);
    }
    for place in containers().rev() {
        let (time, container) = (GlobalNanos(place.life.1), container_id(trace, &place.name));
        events.push((time, PajeEvent::DestroyContainer { time, container }));
    }
    events.sort_by_key(|event| event.0);
    let values = [ACTIVITY, MARK, MESSAGE].into_iter().flat_map(|ty| VALUES.map(|name| (ty, name)));
    let values = values.map(|(ty, name)| PajeEvent::DefineValue {
        value: value_id(ty, name),
        ty,
        name,
        color: None,
        style: DrawStyle::NONE,
        category: None,
    });
    let all = types().into_iter().chain(values).chain(events.into_iter().map(|event| event.1));
    Arc::new(TraceStore::from_events("world", all))
}

fn container_id(trace: &ModelTrace, name: &str) -> ContainerId {
    let index = trace.places.iter().position(|place| place.name == name).expect("a container of the trace");
    ContainerId(index as u32)
}

fn value_id(ty: TypeId, name: &str) -> ValueId {
    let first = match ty {
        ACTIVITY => 0,
        MARK => 3,
        _ => 6,
    };
    ValueId(first + VALUES.iter().position(|value| *value == name).expect("one of the values") as u32)
}

/// Both endpoints of each link. The start has the extra fields of the link.
fn append_links<'t>(
    trace: &ModelTrace,
    extra: &'t [[ExtraField<'t>; 1]],
    events: &mut Vec<(GlobalNanos, PajeEvent<'t>)>,
) {
    let (container, ty, value, source) = (ContainerId::ROOT, MESSAGE, value_id(MESSAGE, "work"), None);
    for ((key, link), extra) in (0..).map(KeyId).zip(&trace.links).zip(extra) {
        let (start, end) = (container_id(trace, &link.ends.0), container_id(trace, &link.ends.1));
        let (from, to) = (GlobalNanos(link.life.0), GlobalNanos(link.life.1));
        let first = PajeEvent::StartLink { time: from, container, ty, value, start, key, extra, source };
        let second = PajeEvent::EndLink { time: to, container, ty, value, end, key, extra: &[], source };
        events.extend([(from, first), (to, second)]);
    }
}

/// The states of a container. The nested ones follow their outer ones in the trace.
fn append_states(trace: &ModelTrace, place: &ModelContainer, events: &mut Vec<(GlobalNanos, PajeEvent<'_>)>) {
    let container = container_id(trace, &place.name);
    let push = |state: &ModelState| {
        let (time, value) = (GlobalNanos(state.life.0), value_id(ACTIVITY, &state.value));
        (time, PajeEvent::PushState { time, container, ty: ACTIVITY, value, extra: &[], source: None })
    };
    let pop = |state: &ModelState| {
        let time = GlobalNanos(state.life.1);
        (time, PajeEvent::PopState { time, container, ty: ACTIVITY })
    };
    let mut states = trace.states.iter().filter(|state| state.container == place.name).peekable();
    while let Some(state) = states.next() {
        events.push(push(state));
        if let Some(inner) = states.next_if(|next| next.depth == 1) {
            events.extend([push(inner), pop(inner)]);
        }
        events.push(pop(state));
    }
}

fn append_samples_and_events(
    trace: &ModelTrace,
    place: &ModelContainer,
    events: &mut Vec<(GlobalNanos, PajeEvent<'_>)>,
) {
    let container = container_id(trace, &place.name);
    for sample in trace.samples.iter().filter(|sample| sample.container == place.name) {
        let (time, op, value) = (GlobalNanos(sample.life.0), VariableOp::Set, sample.value);
        events.push((time, PajeEvent::Variable { time, container, ty: LOAD, op, value }));
    }
    for event in trace.events.iter().filter(|event| event.container == place.name) {
        let (time, value) = (GlobalNanos(event.timestamp), value_id(MARK, &event.value));
        events.push((time, PajeEvent::NewEvent { time, container, ty: MARK, value, extra: &[], source: None }));
    }
}

/// The types of all traces.
fn types() -> [PajeEvent<'static>; 6] {
    let types = [
        (NODE, PajeTypeKind::Container, TypeId::ROOT, "Node"),
        (THREAD, PajeTypeKind::Container, NODE, "Thread"),
        (ACTIVITY, PajeTypeKind::State, THREAD, "Activity"),
        (LOAD, PajeTypeKind::Variable, THREAD, "Load"),
        (MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, TypeId::ROOT, "Message"),
        (MARK, PajeTypeKind::Event, THREAD, "Mark"),
    ];
    let define = |(ty, kind, parent, name)| PajeEvent::DefineType {
        ty,
        kind,
        parent,
        name,
        color: None,
        style: DrawStyle::NONE,
    };
    types.map(define)
}
