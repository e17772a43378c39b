//! The fixed part of every header: `runtime.h` with its parts inserted, and the constants of the
//! byte format.

use tracer_format::checksum::crc32c;

use super::format::constants;

const RUNTIME: &str = include_str!("runtime.h");

/// The parts, by the names in their include lines.
const PARTS: [(&str, &str); 31] = [
    ("platform", include_str!("runtime/platform.h")),
    ("off", include_str!("runtime/off.h")),
    ("hot", include_str!("runtime/hot.h")),
    ("extern", include_str!("runtime/extern.h")),
    ("state", include_str!("runtime/state.h")),
    ("bytes", include_str!("runtime/bytes.h")),
    ("checksum", include_str!("runtime/checksum.h")),
    ("lz4", include_str!("runtime/lz4.h")),
    ("columns", include_str!("runtime/columns.h")),
    ("clock", include_str!("runtime/clock.h")),
    ("file", include_str!("runtime/file.h")),
    ("readings", include_str!("runtime/readings.h")),
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
    ("link", include_str!("runtime/link.h")),
    ("sync", include_str!("runtime/sync.h")),
    ("record", include_str!("runtime/record.h")),
];
const MPI: &str = include_str!("runtime/mpi.h");

/// The text of the runtime.
pub(super) fn text() -> String {
    let mut out = String::new();
    for line in RUNTIME.lines() {
        match line.strip_prefix("#include \"runtime/").and_then(|rest| rest.strip_suffix(".h\"")) {
            Some("format") => out.push_str(&constants("TUMIT1_", &[])),
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

#[cfg(test)]
mod tests {
    /// Names that the runtime uses without a `_` at the end: keywords, and declarations of the
    /// system headers. No program can redefine these before it includes the headers.
    const KNOWN: &str = "
        auto bool break case char const continue default define defined do double elif else endif enum error extern float for if
        ifdef ifndef include int long return sizeof static struct switch typedef unsigned void while
        F_DUPFD_CLOEXEC madvise pid_t st_dev st_ino st_size
        access clock_gettime clockid_t close errno f_type fcntl fprintf free fstat ftruncate getcwd getegid getenv geteuid getgid gethostname getpid getppid getrlimit getuid linkat localtime_r
        malloc memchr memcmp memcpy memmove memset mkdir mmap munmap nanosleep off_t open posix_fallocate prctl pread pwrite read readlink rename
        rlim_cur rlimit setenv size_t snprintf ssize_t st_nlink stat statfs stderr strchr strcmp strcspn strerror
        strftime strlen strncasecmp strncmp strrchr strtol strtoul strtoull syscall thread_sanitizer time time_t timespec tm tv_nsec tv_sec int32_t uint16_t
        uint32_t uint64_t uint8_t uintptr_t unlink volatile LZ4_compress_default";
    const FAMILIES: [&str; 24] = [
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
        "PR_",
        "PROT_",
        "PATH_MAX",
        "RLIM",
        "SIG_",
        "SYS_",
        "UINT64_C",
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
            // After escaped quotes are removed, every second piece is outside of strings and
            // characters.
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
