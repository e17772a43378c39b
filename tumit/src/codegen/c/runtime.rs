//! The fixed part of every header: `runtime.h` with its parts put in, and the constants of the byte format.

use std::fmt::Write as _;

use tracer_format::block::flag;
use tracer_format::checksum::crc32c;
use tracer_format::live;
use tracer_format::tags::tag;
use tracer_format::{BlockKind, ClockKind, Codec, cause};

const RUNTIME: &str = include_str!("runtime.h");

/// The parts, by the name in their include line.
const PARTS: [(&str, &str); 27] = [
    ("platform", include_str!("runtime/platform.h")),
    ("off", include_str!("runtime/off.h")),
    ("hot", include_str!("runtime/hot.h")),
    ("state", include_str!("runtime/state.h")),
    ("bytes", include_str!("runtime/bytes.h")),
    ("checksum", include_str!("runtime/checksum.h")),
    ("lz4", include_str!("runtime/lz4.h")),
    ("columns", include_str!("runtime/columns.h")),
    ("clock", include_str!("runtime/clock.h")),
    ("file", include_str!("runtime/file.h")),
    ("live", include_str!("runtime/live.h")),
    ("pool", include_str!("runtime/pool.h")),
    ("names", include_str!("runtime/names.h")),
    ("session", include_str!("runtime/session.h")),
    ("losses", include_str!("runtime/losses.h")),
    ("ring", include_str!("runtime/ring.h")),
    ("seal", include_str!("runtime/seal.h")),
    ("levels", include_str!("runtime/levels.h")),
    ("control", include_str!("runtime/control.h")),
    ("helper", include_str!("runtime/helper.h")),
    ("handler", include_str!("runtime/handler.h")),
    ("end", include_str!("runtime/end.h")),
    ("thread", include_str!("runtime/thread.h")),
    ("fork", include_str!("runtime/fork.h")),
    ("process", include_str!("runtime/process.h")),
    ("own", include_str!("runtime/own.h")),
    ("record", include_str!("runtime/record.h")),
];
const MPI: &str = include_str!("runtime/mpi.h");

/// The text of the runtime.
pub(super) fn text() -> String {
    let mut out = String::new();
    for line in RUNTIME.lines() {
        match line.strip_prefix("#include \"runtime/").and_then(|rest| rest.strip_suffix(".h\"")) {
            Some("format") => out.push_str(&constants()),
            Some("spec") => super::tables::own(&mut out),
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
    for (name, magic) in [
        ("FILE_MAGIC", tracer_format::FILE_MAGIC),
        ("BLOCK_MAGIC", tracer_format::BLOCK_MAGIC),
        ("LIVE_MAGIC", live::LIVE_MAGIC),
    ] {
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
        ("CODEC_COLUMNS", Codec::Columns as u64),
        ("CLOCK_TSC", ClockKind::Tsc as u64),
        ("CLOCK_ARM", ClockKind::ArmCounter as u64),
        ("CLOCK_MONOTONIC_RAW", ClockKind::MonotonicRaw as u64),
        ("CLOCK_MONOTONIC", ClockKind::Monotonic as u64),
        ("CLOCK_USER", ClockKind::User as u64),
        ("CAUSE_NO_BUFFER", u64::from(cause::NO_BUFFER)),
        ("CAUSE_OVERSIZE", u64::from(cause::OVERSIZE)),
        ("CAUSE_NESTED", u64::from(cause::NESTED)),
        ("CAUSE_WRITE_FAILED", u64::from(cause::WRITE_FAILED)),
        ("CAUSE_OVERWRITTEN", u64::from(cause::OVERWRITTEN)),
        ("FLAG_OVERWRITTEN", u64::from(flag::OVERWRITTEN)),
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
        ("TAG_LIVE_PATH", u64::from(tag::LIVE_PATH)),
        ("TAG_BUFFERS", u64::from(tag::BUFFERS)),
        ("BUFFERS_PRIVATE", 0),
        ("BUFFERS_MAPPED", 1),
        ("BUFFERS_FAILED", 2),
        ("LIVE_VERSION", u64::from(live::LIVE_VERSION)),
        ("LIVE_LOG", live::LIVE_HEAD_BYTES as u64),
        ("LIVE_OVERWRITTEN", live::head::OVERWRITTEN as u64),
        ("TAKEN_YES", u64::from(live::taken::YES)),
        ("TAKEN_OVERWRITES", u64::from(live::taken::OVERWRITES)),
        ("TAKEN_BEING_OVERWRITTEN", u64::from(live::taken::BEING_OVERWRITTEN)),
        ("TAKEN_DIVIDED", u64::from(live::taken::DIVIDED)),
        ("PART", live::PART_BYTES as u64),
        ("LIVE_LOSSES", live::head::LOSSES as u64),
        ("LIVE_COUNTERS", live::LOSS_COUNTERS as u64),
        ("TAG_TID", u64::from(tag::TID)),
        ("TAG_OVERWRITTEN", u64::from(tag::OVERWRITTEN)),
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

#[cfg(test)]
mod tests {
    /// What the runtime may name without a `_` at the end: keywords, and what the system headers declare, which no program
    /// can give another meaning before it includes them.
    const KNOWN: &str = "
        auto bool break case char const continue default define defined do double elif else endif enum error extern float for if
        ifdef ifndef include int long return sizeof static struct switch typedef unsigned void while
        access clock_gettime clockid_t close errno f_type fprintf free fstat ftruncate getcwd getenv gethostname getpid getrlimit id_t linkat localtime_r
        malloc memchr memcmp memcpy memmove memset mkdir mmap munmap nanosleep off_t open posix_fallocate prctl pread pwrite read readlink rename
        rlim_cur rlimit setpriority size_t snprintf ssize_t st_nlink stat statfs stderr strchr strcmp strcspn strerror
        strftime strlen strncasecmp strncmp strrchr strtol strtoull syscall thread_sanitizer time time_t timespec tm tv_nsec tv_sec int32_t uint16_t
        uint32_t uint64_t uint8_t uintptr_t unlink volatile LZ4_compress_default";
    const FAMILIES: [&str; 21] = [
        "tumit1_",
        "TUMIT",
        "__",
        "_GNU",
        "_DEFAULT",
        "_FEATURES",
        "MPI_",
        "pthread_",
        "PTHREAD_",
        "sched_",
        "CLOCK_",
        "AT_",
        "F_OK",
        "MAP_",
        "O_",
        "PR",
        "PATH_MAX",
        "RLIM",
        "SYS_",
        "UINT64_MAX",
        "NULL",
    ];

    #[test]
    fn no_macro_or_global_of_a_program_can_meet_a_name_of_the_runtime() {
        let mut text = super::text();
        while let Some(start) = text.find("/*") {
            let end = start + text[start..].find("*/").expect("comments end") + 2;
            text.replace_range(start..end, " ");
        }
        let lines = text.lines().filter(|line| !line.starts_with("#include") && !line.starts_with("#pragma"));
        for line in lines {
            // Texts and characters: every second piece, once escaped quotes are gone.
            let plain = line.replace("\\\"", "").replace("'\"'", "");
            let code: String = plain.split('"').step_by(2).collect();
            let words = code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            for word in words.filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_'))
            {
                let fine = word.ends_with('_')
                    || FAMILIES.iter().any(|family| word.starts_with(family))
                    || KNOWN.split_whitespace().any(|known| known == word)
                    || (word.starts_with('E') && word.chars().all(|c| c.is_ascii_uppercase()))
                    || (word.len() == 1
                        && code.split('\'').skip(1).step_by(2).any(|sign| sign.trim_start_matches('\\') == word))
                    || word == "INT_MAX";
                assert!(fine, "`{word}` in `{line}` needs a `_` at its end");
            }
        }
    }
}
