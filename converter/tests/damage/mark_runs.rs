//! The spec of the runs of these tests, and their records.

use std::ops::Range;

use tracer_format::Schema;
use tumit_test_support::synthetic_run::SyntheticRecords;

const SPEC: &str = "trace small; level L { event mark { n: u32 } event named { what: interned } }";

/// The schema without the text of the spec: record 0 is `mark`, record 1 is `named`.
pub(crate) fn schema() -> Schema {
    let mut schema = tumit::compile_text("small.tumit", SPEC).0.expect("the spec is correct").schema();
    schema.sources.clear();
    schema
}

/// Records `mark` with these numbers, each 10 ticks after the one before.
pub(crate) fn marks(numbers: Range<u32>) -> SyntheticRecords {
    let mut records = SyntheticRecords::default();
    for n in numbers {
        records.record(0, 1000 + u64::from(n) * 10, &n.to_le_bytes());
    }
    records
}
