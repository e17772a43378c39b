//! The consumer receives the operations of the producer.

use super::*;
use crate::category::ActivityCategory;
use crate::{
    DrawStyle, EventOperation, ExtraField, ExtraFieldKind, ExtraValue, MarkShape, PajeTypeKind, RgbColor,
    SourcePosition, TypeId, ValueId, VariableOp,
};
use proptest::prelude::*;

/// Keeps all calls of a sink as text.
#[derive(Debug, Default)]
struct CallLog(Vec<String>, Option<usize>);

impl CallLog {
    fn log_call(&mut self, call: String) -> io::Result<()> {
        if self.1 == Some(self.0.len()) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.push(call);
        Ok(())
    }
}

impl PajeSink for CallLog {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.log_call(format!("{event:?}"))
    }

    fn name_key(&mut self, key: KeyId, text: &str) -> io::Result<()> {
        self.log_call(format!("{key:?} {text}"))
    }

    fn announce(&mut self, shape: &FieldSet<'_>) -> io::Result<()> {
        self.log_call(format!("{shape:?}"))
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.log_call(format!("end {end:?}"))
    }
}

/// Makes a call of a sink from a few numbers: all operations, with and without fields and
/// positions.
fn send_operation(sink: &mut dyn PajeSink, kind: u8, number: u32, text: &str) -> io::Result<()> {
    let nanos = match number {
        36 => i64::MIN,
        37 => i64::MAX,
        38 => 5_000_000_000,
        number => i64::from(number) - 7,
    };
    let (time, value) = (GlobalNanos(nanos), ValueId(number));
    let (container, ty) = (ContainerId(number / 3), TypeId(if number == 35 { u32::MAX } else { number % 5 }));
    let color = number.is_multiple_of(2).then_some(RgbColor { red: 1, green: 2, blue: 3 });
    let style = DrawStyle { shape: color.map(|_| MarkShape::Circle), size: number.is_multiple_of(3).then_some(1.5) };
    let all = [
        ExtraField { name: "text", value: ExtraValue::Text(text) },
        ExtraField { name: text, value: ExtraValue::Integer(-5) },
        ExtraField { name: "x", value: ExtraValue::Float(0.5) },
        ExtraField { name: "waits for", value: ExtraValue::Container(container) },
    ];
    let extra = &all[..number as usize % 5];
    let file = if number.is_multiple_of(3) { text } else { "one.c" };
    let source = (!number.is_multiple_of(4)).then_some(SourcePosition { file, line: number });
    let key = KeyId(u64::MAX - u64::from(number));
    sink.event(&match kind {
        0 => {
            let kind =
                if color.is_some() { PajeTypeKind::State } else { PajeTypeKind::Link { start: ty, end: TypeId(9) } };
            PajeEvent::DefineType { ty, kind, parent: TypeId::ROOT, name: text, color, style }
        }
        1 => PajeEvent::DefineValue {
            value,
            ty,
            name: text,
            color,
            style,
            category: color.map(|_| ActivityCategory::Idle),
        },
        2 => PajeEvent::CreateContainer { time, container, ty, parent: ContainerId::ROOT, name: text, extra },
        3 => PajeEvent::DestroyContainer { time, container },
        4 => PajeEvent::SetState { time, container, ty, value, extra, source },
        5 => PajeEvent::PushState { time, container, ty, value, extra, source },
        6 => PajeEvent::PopState { time, container, ty },
        7 => PajeEvent::ResetState { time, container, ty },
        8 => PajeEvent::Variable { time, container, ty, op: VariableOp::Subtract, value: f64::from(number) },
        9 => PajeEvent::NewEvent { time, container, ty, value, extra, source },
        10 => PajeEvent::StartLink { time, container, ty, value, start: container, key, extra, source },
        11 => PajeEvent::EndLink { time, container, ty, value, end: container, key, extra, source },
        12 => return sink.name_key(key, text),
        _ => {
            let fields = [(text, ExtraFieldKind::Integer), ("y", ExtraFieldKind::Container)];
            let (operation, source) = (EventOperation::PushState, number.is_multiple_of(2));
            return sink.announce(&FieldSet { operation, fields: &fields[..number as usize % 3], source });
        }
    })
}

fn operation_lists() -> impl Strategy<Value = Vec<(u8, u32, String)>> {
    let text = prop_oneof![Just(String::new()), Just("one.c".to_owned()), "[a-zä\"\n]{0,9}"];
    prop::collection::vec((0..14u8, 0..40u32, text), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn operations_pass_through_the_channel_unchanged(operations in operation_lists(), times in prop_oneof![Just(1usize), Just(200)]) {
        let mut expected = CallLog::default();
        let send_all = |sink: &mut dyn PajeSink| -> io::Result<()> {
            for (kind, number, text) in operations.iter().cycle().take(operations.len() * times) {
                send_operation(sink, *kind, *number, text)?;
            }
            sink.finish(GlobalNanos(99))
        };
        send_all(&mut expected).unwrap();
        let (mut sender, receiver) = relay();
        let mut received = CallLog::default();
        std::thread::scope(|scope| {
            let producer = scope.spawn(move || send_all(&mut sender));
            receiver.run(&mut received).unwrap();
            producer.join().unwrap().unwrap();
        });
        prop_assert_eq!(received.0, expected.0);
    }
}

#[test]
fn senders_receive_the_error_of_the_sink() {
    let (mut sender, receiver) = relay();
    let (sent, result) = std::thread::scope(|scope| {
        let producer =
            scope.spawn(move || (0..u32::MAX).try_for_each(|number| send_operation(&mut sender, 3, number, "")));
        let result = receiver.run(&mut CallLog(Vec::new(), Some(10)));
        (producer.join().unwrap(), result)
    });
    assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(sent.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
}
