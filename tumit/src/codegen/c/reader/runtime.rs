//! The fixed part of every reading header: `reader.h` with its parts put in, and the constants of the byte format.

use std::fmt::Write as _;

use tracer_format::schema::{SCHEMA_VERSION, Scalar};
use tracer_format::tags::tag;
use tracer_format::{BlockKind, ClockKind, Codec};

const RUNTIME: &str = include_str!("../reader.h");

/// The parts, by the name in their include line.
const PARTS: [(&str, &str); 17] = [
    ("platform", include_str!("platform.h")),
    ("bytes", include_str!("bytes.h")),
    ("columns", include_str!("columns.h")),
    ("shown", include_str!("shown.h")),
    ("text", include_str!("text.h")),
    ("schema", include_str!("schema.h")),
    ("file", include_str!("file.h")),
    ("tables", include_str!("tables.h")),
    ("streams", include_str!("streams.h")),
    ("parts", include_str!("parts.h")),
    ("process", include_str!("process.h")),
    ("run", include_str!("run.h")),
    ("read", include_str!("read.h")),
    ("own", include_str!("own.h")),
    ("print", include_str!("print.h")),
    ("write", include_str!("write.h")),
    ("put", include_str!("put.h")),
];

/// The text of the runtime.
pub(super) fn text() -> String {
    let mut out = String::new();
    for line in RUNTIME.lines() {
        match line.strip_prefix("#include \"reader/").and_then(|rest| rest.strip_suffix(".h\"")) {
            Some("format") => out.push_str(&constants()),
            Some(part) => {
                let text = PARTS.iter().find(|(name, _)| *name == part).map(|(_, text)| *text);
                out.push_str(text.expect("every include line of reader.h names a part"));
                out.push('\n');
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// The constant that stands for a scalar type.
pub(super) fn scalar_name(scalar: Scalar) -> &'static str {
    SCALARS[scalar_number(scalar)]
}

/// Names of the scalar types, in the order of their numbers in a schema.
pub(super) const SCALARS: [&str; 17] = [
    "TUMIT1R_U8",
    "TUMIT1R_U16",
    "TUMIT1R_U32",
    "TUMIT1R_U64",
    "TUMIT1R_I8",
    "TUMIT1R_I16",
    "TUMIT1R_I32",
    "TUMIT1R_I64",
    "TUMIT1R_F32",
    "TUMIT1R_F64",
    "TUMIT1R_BOOL",
    "TUMIT1R_DATE",
    "TUMIT1R_POINTER",
    "TUMIT1R_ENUM",
    "TUMIT1R_INTERNED",
    "TUMIT1R_STRING",
    "TUMIT1R_BYTES",
];

/// The number of a scalar type in a schema.
pub(super) fn scalar_number(scalar: Scalar) -> usize {
    match scalar {
        Scalar::U8 => 0,
        Scalar::U16 => 1,
        Scalar::U32 => 2,
        Scalar::U64 => 3,
        Scalar::I8 => 4,
        Scalar::I16 => 5,
        Scalar::I32 => 6,
        Scalar::I64 => 7,
        Scalar::F32 => 8,
        Scalar::F64 => 9,
        Scalar::Bool => 10,
        Scalar::Date => 11,
        Scalar::Pointer => 12,
        Scalar::Enum { .. } => 13,
        Scalar::Interned => 14,
        Scalar::String => 15,
        Scalar::Bytes => 16,
    }
}

/// The numbers of the byte format, from the crate that defines it.
fn constants() -> String {
    let mut out = String::from("/* ---- The byte format ---- */\n\n");
    for (name, magic) in [("FILE_MAGIC", tracer_format::FILE_MAGIC), ("BLOCK_MAGIC", tracer_format::BLOCK_MAGIC)] {
        let octal: String = magic.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let _ = writeln!(out, "#define TUMIT1R_{name} \"{octal}\"");
    }
    let _ = writeln!(out, "#define TUMIT1R_WRITER_VERSION \"{}\"", super::VERSION);
    let numbers = [
        ("FORMAT_VERSION", u64::from(tracer_format::FORMAT_VERSION)),
        ("SCHEMA_VERSION", u64::from(SCHEMA_VERSION)),
        ("PREAMBLE_BYTES", tracer_format::PREAMBLE_BYTES as u64),
        ("HEADER_BYTES", tracer_format::HEADER_BYTES as u64),
        ("MAX_PAYLOAD_BYTES", tracer_format::MAX_PAYLOAD_BYTES as u64),
        ("RECORD_HEAD_BYTES", tracer_format::RECORD_HEAD_BYTES as u64),
        ("LOST_BYTES", tracer_format::record::Lost::BYTES as u64),
        ("ANCHOR_BYTES", tracer_format::entries::ANCHOR_BYTES as u64),
        ("PROCESS_STREAM", u64::from(tracer_format::PROCESS_STREAM)),
        ("MAX_PROCESSES", u64::from(tracer_format::MAX_PROCESSES)),
        ("ID_WIDE_DATE", u64::from(tracer_format::ID_WIDE_DATE)),
        ("ID_LOST", u64::from(tracer_format::ID_LOST)),
        ("FIRST_RESERVED_ID", u64::from(tracer_format::FIRST_RESERVED_ID)),
        ("KIND_PROCESS", BlockKind::Process as u64),
        ("KIND_SCHEMA", BlockKind::Schema as u64),
        ("KIND_STREAM", BlockKind::Stream as u64),
        ("KIND_STRINGS", BlockKind::Strings as u64),
        ("KIND_SITES", BlockKind::Sites as u64),
        ("KIND_RECORDS", BlockKind::Records as u64),
        ("KIND_ANCHORS", BlockKind::Anchors as u64),
        ("KIND_END", BlockKind::End as u64),
        ("CODEC_RAW", Codec::Raw as u64),
        ("CODEC_LZ4", Codec::Lz4 as u64),
        ("CODEC_COLUMNS", Codec::Columns as u64),
        ("FLAG_OVERWRITTEN", u64::from(tracer_format::block::flag::OVERWRITTEN)),
        ("CLOCK_USER", ClockKind::User as u64),
        ("TAG_PROCESS_ID", u64::from(tag::PROCESS_ID)),
        ("TAG_PARENT_ID", u64::from(tag::PARENT_ID)),
        ("TAG_HOST", u64::from(tag::HOST)),
        ("TAG_PID", u64::from(tag::PID)),
        ("TAG_RANK", u64::from(tag::RANK)),
        ("TAG_RANKS", u64::from(tag::RANKS)),
        ("TAG_CLOCK_KIND", u64::from(tag::CLOCK_KIND)),
        ("TAG_CLOCK_HZ", u64::from(tag::CLOCK_HZ)),
        ("TAG_CLOCK_DOMAIN", u64::from(tag::CLOCK_DOMAIN)),
        ("TAG_COMMAND", u64::from(tag::COMMAND)),
        ("TAG_WRITER", u64::from(tag::WRITER)),
        ("TAG_JOB", u64::from(tag::JOB)),
        ("TAG_SORTED", u64::from(tag::SORTED)),
        ("TAG_STREAM_PROCESS", u64::from(tag::STREAM_PROCESS)),
        ("TAG_TID", u64::from(tag::TID)),
        ("TAG_THREAD_NAME", u64::from(tag::THREAD_NAME)),
        ("TAG_SIGNAL_STREAM", u64::from(tag::SIGNAL_STREAM)),
        ("TAG_RECORDS_WRITTEN", u64::from(tag::RECORDS_WRITTEN)),
        ("TAG_RECORDS_DROPPED", u64::from(tag::RECORDS_DROPPED)),
        ("CRC_POLYNOMIAL", 0x82F6_3B78),
        // Forms of fields, and how much is read or written at once.
        ("ONE", 0),
        ("FIXED", 1),
        ("VARIABLE", 2),
        ("CHUNK", 1 << 20),
        ("OUT_BLOCK", 1 << 16),
    ];
    for (name, number) in numbers {
        let _ = writeln!(out, "#define TUMIT1R_{name} {number:#X}u");
    }
    for (number, name) in SCALARS.iter().enumerate() {
        let _ = writeln!(out, "#define {name} {number}u");
    }
    out.push('\n');
    out
}
