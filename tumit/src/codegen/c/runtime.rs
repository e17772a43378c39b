//! The fixed part of every header: `runtime.h` with its parts put in, and the constants of the byte format.

use std::fmt::Write as _;

use tracer_format::checksum::crc32c;
use tracer_format::tags::tag;
use tracer_format::{BlockKind, ClockKind, Codec, cause};

const RUNTIME: &str = include_str!("runtime.h");

/// The parts, by the name in their include line.
const PARTS: [(&str, &str); 16] = [
    ("platform", include_str!("runtime/platform.h")),
    ("off", include_str!("runtime/off.h")),
    ("hot", include_str!("runtime/hot.h")),
    ("state", include_str!("runtime/state.h")),
    ("bytes", include_str!("runtime/bytes.h")),
    ("checksum", include_str!("runtime/checksum.h")),
    ("lz4", include_str!("runtime/lz4.h")),
    ("clock", include_str!("runtime/clock.h")),
    ("file", include_str!("runtime/file.h")),
    ("session", include_str!("runtime/session.h")),
    ("names", include_str!("runtime/names.h")),
    ("seal", include_str!("runtime/seal.h")),
    ("fork", include_str!("runtime/fork.h")),
    ("thread", include_str!("runtime/thread.h")),
    ("process", include_str!("runtime/process.h")),
    ("record", include_str!("runtime/record.h")),
];
const MPI: &str = include_str!("runtime/mpi.h");

/// The text of the runtime.
pub(super) fn text() -> String {
    let mut out = String::new();
    for line in RUNTIME.lines() {
        match line.strip_prefix("#include \"runtime/").and_then(|rest| rest.strip_suffix(".h\"")) {
            Some("format") => out.push_str(&constants()),
            Some("mpi") => out.push_str(MPI),
            Some(part) => {
                let text = PARTS.iter().find(|(name, _)| *name == part).map(|(_, text)| *text);
                out.push_str(text.expect("every include line of runtime.h names a part"));
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    // Two headers in one file share the runtime of the first.
    let hash = crc32c(0, out.as_bytes());
    let other = "made by different versions of tumit: make all headers of a program with the same one";
    out.replacen(
        "#ifndef TUMIT1_RUNTIME\n#define TUMIT1_RUNTIME\n",
        &format!(
            "#if defined TUMIT1_RUNTIME && TUMIT1_RUNTIME != 0x{hash:08x}\n#error \"tumit: the headers in this file were {other}\"\n\
             #endif\n#ifndef TUMIT1_RUNTIME\n#define TUMIT1_RUNTIME 0x{hash:08x}\n"
        ),
        1,
    )
}

/// The numbers of the byte format, from the crate that defines it.
fn constants() -> String {
    let mut out = String::from("/* ---- The byte format ---- */\n\n");
    for (name, magic) in [("FILE_MAGIC", tracer_format::FILE_MAGIC), ("BLOCK_MAGIC", tracer_format::BLOCK_MAGIC)] {
        let octal: String = magic.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let _ = writeln!(out, "#define TUMIT1_{name} \"{octal}\"");
    }
    let _ = writeln!(out, "#define TUMIT1_WRITER_VERSION \"{}\"", super::VERSION);
    let numbers = [
        ("FORMAT_VERSION", u64::from(tracer_format::FORMAT_VERSION)),
        ("PREAMBLE_BYTES", tracer_format::PREAMBLE_BYTES as u64),
        ("HEADER_BYTES", tracer_format::HEADER_BYTES as u64),
        ("RECORD_HEAD_BYTES", tracer_format::RECORD_HEAD_BYTES as u64),
        ("PROCESS_STREAM", u64::from(tracer_format::PROCESS_STREAM)),
        ("ID_WIDE_DATE", u64::from(tracer_format::ID_WIDE_DATE)),
        ("ID_LOST", u64::from(tracer_format::ID_LOST)),
        ("FIRST_RESERVED_ID", u64::from(tracer_format::FIRST_RESERVED_ID)),
        ("KIND_PROCESS", BlockKind::Process as u64),
        ("KIND_SCHEMA", BlockKind::Schema as u64),
        ("KIND_STREAM", BlockKind::Stream as u64),
        ("KIND_STRINGS", BlockKind::Strings as u64),
        ("KIND_SITES", BlockKind::Sites as u64),
        ("KIND_RECORDS", BlockKind::Records as u64),
        ("KIND_SYNC", BlockKind::Sync as u64),
        ("KIND_ANCHORS", BlockKind::Anchors as u64),
        ("KIND_END", BlockKind::End as u64),
        ("CODEC_RAW", Codec::Raw as u64),
        ("CODEC_LZ4", Codec::Lz4 as u64),
        ("CLOCK_TSC", ClockKind::Tsc as u64),
        ("CLOCK_ARM", ClockKind::ArmCounter as u64),
        ("CLOCK_MONOTONIC_RAW", ClockKind::MonotonicRaw as u64),
        ("CLOCK_MONOTONIC", ClockKind::Monotonic as u64),
        ("CLOCK_USER", ClockKind::User as u64),
        ("CAUSE_OVERSIZE", u64::from(cause::OVERSIZE)),
        ("CAUSE_NESTED", u64::from(cause::NESTED)),
        ("CAUSE_WRITE_FAILED", u64::from(cause::WRITE_FAILED)),
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
        ("TAG_TID", u64::from(tag::TID)),
        ("TAG_THREAD_NAME", u64::from(tag::THREAD_NAME)),
        ("TAG_RECORDS_WRITTEN", u64::from(tag::RECORDS_WRITTEN)),
        ("TAG_RECORDS_DROPPED", u64::from(tag::RECORDS_DROPPED)),
        ("CRC_POLYNOMIAL", 0x82F6_3B78),
    ];
    for (name, number) in numbers {
        let _ = writeln!(out, "#define TUMIT1_{name} {number:#X}u");
    }
    out.push('\n');
    out
}
