//! Any bytes are a schema or an error, and a schema that was read is written as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tracer_format::Schema;

fuzz_target!(|data: &[u8]| {
    if let Ok(schema) = Schema::decode(data) {
        assert_eq!(Schema::decode(&schema.encode()).as_ref(), Ok(&schema));
    }
});
