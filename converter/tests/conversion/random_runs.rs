//! Runs and rules for random tests: record types with the same fields, and streams of records.

use std::fmt::Write as _;
use std::path::Path;

use tracer_format::{PayloadCodec, Schema};
use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};

/// Number of record types. Every second one contains its source position.
pub(crate) const TYPES: u16 = 6;

/// A record: its type, ticks after the record before it, and a number that determines its fields.
pub(crate) type RandomRecord = (u16, u8, u32);

/// A stream: whether all its records belong to one thread, and its blocks.
pub(crate) type RandomStream = (bool, Vec<Vec<RandomRecord>>);

/// The start of a spec: the record types `e0`, `e1`, … with these fields, and the tree of
/// containers.
pub(crate) fn declarations(trace: &str, fields: &str, tree: &str) -> String {
    let mut text = format!("trace {trace};\nenum phase {{ start, compute, end }}\nlevel L {{\n");
    for number in 0..TYPES {
        let located = if number % 2 == 1 { "located " } else { "" };
        writeln!(text, "    event e{number} {located}{{ {fields} }}").expect("a string accepts all text");
    }
    text.push_str("}\n");
    text.push_str(tree);
    text
}

/// Writes a run of one process.
///
/// `encode` gives the fields of a record of this thread. It receives the number of the record and
/// the ids of `texts`.
pub(crate) fn write_run(
    folder: &Path,
    schema: &Schema,
    texts: &[&str],
    streams: &[RandomStream],
    encode: impl Fn(u32, u8, &[u32]) -> Vec<u8>,
) {
    let mut file = SyntheticFile::new(&SyntheticProcess::new(1), schema);
    let strings: Vec<u32> = texts.iter().map(|text| file.string(text)).collect();
    file.codec = PayloadCodec::Columns;
    for (stream, (is_one, blocks)) in (0u32..).zip(streams) {
        file.thread(stream, stream.into(), "worker");
        let mut ticks = 1_000;
        for (sequence, block) in (0..).zip(blocks) {
            let mut records = SyntheticRecords::default();
            for &(kind, delay, number) in block {
                ticks += u64::from(delay);
                let thread = if *is_one { stream as u8 } else { (number % 3) as u8 };
                let mut body = if kind % 2 == 1 { (number % 3).to_le_bytes().to_vec() } else { Vec::new() };
                body.extend(encode(number, thread, &strings));
                records.record(kind, ticks, &body);
            }
            file.records(stream, sequence, &records);
        }
    }
    file.end();
    file.save(folder, "a.tmt");
}
