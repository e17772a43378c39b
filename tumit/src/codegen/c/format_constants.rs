//! The numbers of the byte format for the recorder and the reader in C, taken from the crate that
//! defines them.

use std::fmt::Write as _;

use tracer_format::block::flag;
use tracer_format::entries::ANCHOR_BYTES;
use tracer_format::live_file;
use tracer_format::record::DroppedRecords;
use tracer_format::schema::SCHEMA_VERSION;
use tracer_format::tags::tag;
use tracer_format::{BlockKind, ClockKind, PayloadCodec, cause};

/// Macros for the numbers, and for the additional ones in `extra_constants`. Their names start with
/// `prefix`.
pub(super) fn constants(prefix: &str, extra_constants: &[(&str, u64)]) -> String {
    let mut out = String::from("/* ---- The byte format ---- */\n\n");
    for (name, magic) in [
        ("FILE_MAGIC", tracer_format::FILE_MAGIC),
        ("BLOCK_MAGIC", tracer_format::BLOCK_MAGIC),
        ("LIVE_MAGIC", live_file::LIVE_MAGIC),
    ] {
        let octal: String = magic.iter().map(|byte| format!("\\{byte:03o}")).collect();
        let _ = writeln!(out, "#define {prefix}{name} \"{octal}\"");
    }
    let _ = writeln!(out, "#define {prefix}WRITER_VERSION \"{}\"", super::c_text::VERSION);
    for (name, number) in numbers().iter().chain(extra_constants) {
        let _ = writeln!(out, "#define {prefix}{name} {number:#X}u");
    }
    out.push('\n');
    out
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn numbers() -> [(&'static str, u64); 84] {
    [
        ("FORMAT_VERSION", u64::from(tracer_format::FORMAT_VERSION)),
        ("SCHEMA_VERSION", u64::from(SCHEMA_VERSION)),
        ("PREAMBLE_BYTES", tracer_format::PREAMBLE_BYTES as u64),
        ("HEADER_BYTES", tracer_format::HEADER_BYTES as u64),
        ("MAX_PAYLOAD_BYTES", tracer_format::MAX_PAYLOAD_BYTES as u64),
        ("RECORD_HEAD_BYTES", tracer_format::RECORD_HEAD_BYTES as u64),
        ("DROPPED_BODY_BYTES", DroppedRecords::BYTES as u64),
        ("ANCHOR_BYTES", ANCHOR_BYTES as u64),
        ("PROCESS_STREAM", u64::from(tracer_format::PROCESS_STREAM)),
        ("MAX_PROCESSES", u64::from(tracer_format::MAX_PROCESSES)),
        ("ID_WIDE_TIMESTAMP", u64::from(tracer_format::ID_WIDE_TIMESTAMP)),
        ("ID_DROPPED", u64::from(tracer_format::ID_DROPPED)),
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
        ("CODEC_RAW", PayloadCodec::Raw as u64),
        ("CODEC_LZ4", PayloadCodec::Lz4 as u64),
        ("CODEC_COLUMNS", PayloadCodec::Columns as u64),
        ("FLAG_OVERWRITTEN", u64::from(flag::OVERWRITTEN)),
        ("CLOCK_TSC", ClockKind::Tsc as u64),
        ("CLOCK_ARM", ClockKind::ArmCounter as u64),
        ("CLOCK_MONOTONIC_RAW", ClockKind::MonotonicRaw as u64),
        ("CLOCK_MONOTONIC", ClockKind::Monotonic as u64),
        ("CLOCK_USER", ClockKind::User as u64),
        ("CAUSE_NO_BUFFER", u64::from(cause::NO_BUFFER)),
        ("CAUSE_TRUNCATED", u64::from(cause::TRUNCATED)),
        ("CAUSE_OVERSIZE", u64::from(cause::OVERSIZE)),
        ("CAUSE_NESTED", u64::from(cause::NESTED)),
        ("CAUSE_WRITE_FAILED", u64::from(cause::WRITE_FAILED)),
        ("CAUSE_OVERWRITTEN", u64::from(cause::OVERWRITTEN)),
        ("TAG_PROCESS_ID", u64::from(tag::PROCESS_ID)),
        ("TAG_PARENT_ID", u64::from(tag::PARENT_ID)),
        ("TAG_HOST", u64::from(tag::HOST)),
        ("TAG_PID", u64::from(tag::PID)),
        ("TAG_PARENT_PID", u64::from(tag::PARENT_PID)),
        ("TAG_RANK", u64::from(tag::RANK)),
        ("TAG_RANKS", u64::from(tag::RANKS)),
        ("TAG_CLOCK_KIND", u64::from(tag::CLOCK_KIND)),
        ("TAG_CLOCK_HZ", u64::from(tag::CLOCK_HZ)),
        ("TAG_CLOCK_DOMAIN", u64::from(tag::CLOCK_DOMAIN)),
        ("TAG_COMMAND", u64::from(tag::COMMAND)),
        ("TAG_WRITER", u64::from(tag::WRITER)),
        ("TAG_JOB", u64::from(tag::JOB)),
        ("TAG_LIVE_PATH", u64::from(tag::LIVE_PATH)),
        ("TAG_BUFFERS", u64::from(tag::BUFFERS)),
        ("TAG_LAUNCH", u64::from(tag::LAUNCH)),
        ("TAG_TID", u64::from(tag::TID)),
        ("TAG_OVERWRITTEN", u64::from(tag::OVERWRITTEN)),
        ("TAG_THREAD_NAME", u64::from(tag::THREAD_NAME)),
        ("TAG_STREAM_LABEL", u64::from(tag::STREAM_LABEL)),
        ("TAG_THREAD_END", u64::from(tag::THREAD_END)),
        ("TAG_PROCESS_END", u64::from(tag::PROCESS_END)),
        ("TAG_RECORDS_TRUNCATED", u64::from(tag::RECORDS_TRUNCATED)),
        ("TAG_RECORDS_WRITTEN", u64::from(tag::RECORDS_WRITTEN)),
        ("TAG_RECORDS_DROPPED", u64::from(tag::RECORDS_DROPPED)),
        ("TAG_REPEATED_TIMESTAMPS", u64::from(tag::REPEATED_TIMESTAMPS)),
        ("TAG_CLOCK_WRAPS", u64::from(tag::CLOCK_WRAPS)),
        ("TAG_SORTED", u64::from(tag::SORTED)),
        ("TAG_STREAM_PROCESS", u64::from(tag::STREAM_PROCESS)),
        ("TAG_SIGNAL_STREAM", u64::from(tag::SIGNAL_STREAM)),
        ("BUFFERS_PRIVATE", 0),
        ("BUFFERS_MAPPED", 1),
        ("BUFFERS_FAILED", 2),
        ("LIVE_VERSION", u64::from(live_file::LIVE_VERSION)),
        ("LIVE_LOG", live_file::LIVE_HEAD_BYTES as u64),
        ("LIVE_OVERWRITTEN", live_file::head::OVERWRITTEN as u64),
        ("LIVE_PROCESS_END", live_file::head::PROCESS_END as u64),
        ("LIVE_LAST_READING", live_file::head::LAST_READING as u64),
        ("LIVE_TRUNCATED", live_file::head::TRUNCATED as u64),
        ("LIVE_DROP_COUNTERS", live_file::head::DROP_COUNTERS as u64),
        ("LIVE_COUNTERS", live_file::DROP_COUNTERS as u64),
        ("TAKEN_YES", u64::from(live_file::slot_use::YES)),
        ("TAKEN_OVERWRITES", u64::from(live_file::slot_use::OVERWRITES)),
        ("TAKEN_BEING_OVERWRITTEN", u64::from(live_file::slot_use::BEING_OVERWRITTEN)),
        ("TAKEN_DIVIDED", u64::from(live_file::slot_use::DIVIDED)),
        ("PART", live_file::PART_BYTES as u64),
        ("CRC_POLYNOMIAL", 0x82F6_3B78),
    ]
}
