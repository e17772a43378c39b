//! The events of the tests.

use tumit_paje::time::GlobalNanos;
use tumit_paje::{
    ContainerId, DrawStyle, ExtraField, ExtraValue, KeyId, PajeEvent, PajeSink, PajeTypeKind, SourcePosition, TypeId,
    ValueId, VariableOp,
};
use tumit_test_support::xorshift::XorshiftGenerator;

pub(crate) fn define_type(ty: TypeId, kind: PajeTypeKind, parent: TypeId) -> PajeEvent<'static> {
    PajeEvent::DefineType { ty, kind, parent, name: "type", color: None, style: DrawStyle::NONE }
}

pub(crate) fn define_value(value: u32, ty: TypeId) -> PajeEvent<'static> {
    PajeEvent::DefineValue {
        value: ValueId(value),
        ty,
        name: "value",
        color: None,
        style: DrawStyle::NONE,
        category: None,
    }
}

/// Creates a container in the root at time 0.
pub(crate) fn create_container(number: u32, ty: TypeId) -> PajeEvent<'static> {
    let (time, container, parent) = (GlobalNanos(0), ContainerId(number), ContainerId::ROOT);
    PajeEvent::CreateContainer { time, container, ty, parent, name: "thread", extra: &[] }
}

pub(crate) const THREADS: u32 = 5;

const THREAD: TypeId = TypeId(1);
const CALLS: TypeId = TypeId(2);
const PHASES: TypeId = TypeId(3);
const LOAD: TypeId = TypeId(4);
const NOTE: TypeId = TypeId(5);
const MESSAGE: TypeId = TypeId(6);

/// Five threads with nested states of few and of 300 values, with gaps, fields, source locations
/// and references; unordered events; variables; crossing links.
pub(crate) fn send_events(states: u64, sink: &mut dyn PajeSink) {
    send_definitions(sink);
    let mut random = XorshiftGenerator(88_172_645_463_325_252);
    let (mut now, mut depths) = (10_i64, [0_u32; THREADS as usize + 1]);
    for step in 0..states {
        now += random.below(40) as i64 * random.below(3) as i64;
        // The first thread has most of the states.
        let number =
            (1 + random.below(2 * u64::from(THREADS)) as u32).checked_sub(THREADS).filter(|&at| at > 0).unwrap_or(1);
        let text = format!("text {}", step % 50);
        let extra = [
            ExtraField { name: "on", value: ExtraValue::Container(ContainerId(1 + number % THREADS)) },
            ExtraField { name: "what", value: ExtraValue::Text(&text) },
            ExtraField { name: "share", value: ExtraValue::Float(step as f64 / 7.0) },
        ];
        let extra: &[ExtraField<'_>] = if step % 5 == 0 { &extra } else { &[] };
        send_step(step, now, number, extra, (&mut random, &mut depths[number as usize]), sink);
    }
    sink.finish(GlobalNanos(now)).expect("it can be written");
}

fn send_definitions(sink: &mut dyn PajeSink) {
    let mut send = |event: PajeEvent<'_>| sink.event(&event).expect("it can be written");
    for (ty, kind, parent) in [
        (THREAD, PajeTypeKind::Container, TypeId::ROOT),
        (CALLS, PajeTypeKind::State, THREAD),
        (PHASES, PajeTypeKind::State, THREAD),
        (LOAD, PajeTypeKind::Variable, THREAD),
        (NOTE, PajeTypeKind::Event, THREAD),
        (MESSAGE, PajeTypeKind::Link { start: THREAD, end: THREAD }, TypeId::ROOT),
    ] {
        let name = &format!("type {}", ty.0);
        send(PajeEvent::DefineType { ty, kind, parent, name, color: None, style: DrawStyle::NONE });
    }
    for value in 0..306 {
        let ty =
            [CALLS, PHASES, NOTE, MESSAGE][(value >= 300) as usize + (value >= 304) as usize + (value >= 305) as usize];
        let (value, name) = (ValueId(value), &format!("value {value}"));
        send(PajeEvent::DefineValue { value, ty, name, color: None, style: DrawStyle::NONE, category: None });
    }
    for number in 1..=THREADS {
        send(PajeEvent::CreateContainer {
            time: GlobalNanos(i64::from(number)),
            container: ContainerId(number),
            ty: THREAD,
            parent: ContainerId::ROOT,
            name: &format!("thread {number}"),
            extra: &[ExtraField { name: "core", value: ExtraValue::Integer(i64::from(number) - 3) }],
        });
    }
}

/// Sends the random operation of one step on a thread. `depth` is the number of its open calls.
fn send_step(
    step: u64,
    now: i64,
    number: u32,
    extra: &[ExtraField<'_>],
    (random, depth): (&mut XorshiftGenerator, &mut u32),
    sink: &mut dyn PajeSink,
) {
    let mut send = |event: PajeEvent<'_>| sink.event(&event).expect("it can be written");
    let (time, container) = (GlobalNanos(now), ContainerId(number));
    let source = step.is_multiple_of(3).then_some(SourcePosition { file: "main.c", line: (step % 11) as u32 });
    match random.below(10) {
        0..4 if *depth < 6 => {
            *depth += 1;
            let value = ValueId(random.below(1 + random.0 % 300) as u32);
            send(PajeEvent::PushState { time, container, ty: CALLS, value, extra, source });
        }
        0..6 if *depth > 0 => {
            *depth -= 1;
            send(PajeEvent::PopState { time, container, ty: CALLS });
        }
        6 | 7 => {
            let value = ValueId(300 + random.below(4) as u32);
            send(PajeEvent::SetState { time, container, ty: PHASES, value, extra, source });
        }
        8 => {
            let value = random.below(1000) as f64 - 300.0;
            send(PajeEvent::Variable { time, container, ty: LOAD, op: VariableOp::Set, value });
            let time = GlobalNanos(now - random.below(100) as i64);
            send(PajeEvent::NewEvent { time, container, ty: NOTE, value: ValueId(304), extra, source });
        }
        _ => {
            let (holder, ty, value, key) = (ContainerId::ROOT, MESSAGE, ValueId(305), KeyId(step));
            let end_time = GlobalNanos(now + random.below(5_000) as i64 - 100);
            let (start, end) = (container, ContainerId(1 + number % THREADS));
            send(PajeEvent::StartLink { time, container: holder, ty, value, start, key, extra, source });
            send(PajeEvent::EndLink { time: end_time, container: holder, ty, value, end, key, extra, source: None });
        }
    }
}
