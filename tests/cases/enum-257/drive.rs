//! An enum of 257 values takes two bytes.

tracer_rt::events!("cases/enum-257/spec.tumit");

pub fn main() {
    for value in [Value::V0, Value::V1, Value::V254, Value::V255, Value::V256] {
        all::chosen(value);
    }
    all::several(1, &[Value::V256, Value::V0, Value::V255], 2);
}
