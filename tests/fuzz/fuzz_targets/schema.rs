//! Interprets any bytes as a schema, or reports an error. A decoded schema is encoded to the same
//! schema.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracer_format::Schema;

fuzz_target!(|data: &[u8]| {
    if let Ok(schema) = Schema::decode(data) {
        assert_eq!(Schema::decode(&schema.encode()).as_ref(), Ok(&schema));
    }
});
