//! Names of 63 letters everywhere.

tracer_rt::events!("cases/long-names/spec.tumit");

use EnumAbcdefghijAbcdefghijAbcdefghijAbcdefghijAbcdefghijAbn as Value;
use level_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an as level;

pub fn main() {
    let _span = level::span_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abn(7);
    level::event_abcdefghij_abcdefghij_abcdefghij_abcdefghij_abcdefghij_an(
        1,
        Value::ValueAbcdefghijAbcdefghijAbcdefghijAbcdefghijAbcdefghijAn,
        &[Value::ValueAbcdefghijAbcdefghijAbcdefghijAbcdefghijAbcdefghijAo],
    );
}
