//! An enum of 256 values still takes one byte.

tracer_rt::events!("cases/enum-256/spec.tumit");

pub fn main() {
    for value in [Value::V0, Value::V1, Value::V254, Value::V255, Value::V255] {
        all::chosen(value);
    }
    all::several(1, &[Value::V255, Value::V0, Value::V255], 2);
}
