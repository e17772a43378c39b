//! Facts about this process at the start of its file.

mod identity;
pub(crate) mod launch_id;
pub(crate) mod start_dir;

use identity::text_of;
pub(crate) use identity::{new_id, rank};

use std::path::{Path, PathBuf};

use tracer_format::ClockKind;
use tracer_format::tags::{append_integer, append_tag, tag};

use crate::local_clock;

/// Name and version of the recorder.
const WRITER: &str = concat!("rust ", env!("CARGO_PKG_VERSION"));

/// `./PROGRAM-JOB.tmt` if all processes of the job know its name, so that they share one folder.
/// Otherwise `./PROGRAM-DATE-PID.tmt`, with the local time.
pub(crate) fn default_folder() -> PathBuf {
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy().into_owned());
    let program = program.unwrap_or_else(|| "program".to_owned());
    let name = match shared_job() {
        Some(job) => format!("{program}-{}.tmt", file_name_characters(&job)),
        None => format!("{program}-{}-{}.tmt", local_date(), std::process::id()),
    };
    start_dir::path(Path::new(&name))
}

/// Replaces characters that are not safe in a file name by `_`.
fn file_name_characters(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_') { c } else { '_' }).collect()
}

/// A random process id, and the name of the process's file, which contains this id.
#[derive(Clone, Debug)]
pub(crate) struct ProcessName {
    pub(crate) id: [u8; 16],
    pub(crate) file_name: String,
}

/// A new process id for file names. The folder contains no file with this name yet.
pub(crate) fn new_name(folder: &Path) -> ProcessName {
    const MAX_TRIES: u32 = 64;
    let mut tries = 0;
    loop {
        let id = new_id();
        let file_name = file_name(&id);
        tries += 1;
        if tries >= MAX_TRIES || !folder.join(&file_name).exists() {
            return ProcessName { id, file_name };
        }
    }
}

/// `r00003-HOST-PID-xxxxxxxx.tmt`, without the rank if it is unknown.
fn file_name(id: &[u8; 16]) -> String {
    let rank = rank().map_or_else(String::new, |job| format!("r{:05}-", job.rank));
    let [a, b, c, d, ..] = *id;
    format!("{rank}{}-{}-{a:02x}{b:02x}{c:02x}{d:02x}.tmt", file_name_characters(&host()), std::process::id())
}

/// The tagged fields of the `process` block.
pub(crate) fn tags(id: &[u8; 16], parent: Option<&[u8; 16]>, clock_domain: &str) -> Vec<u8> {
    let mut out = Vec::new();
    append_tag(&mut out, tag::PROCESS_ID, id);
    if let Some(parent) = parent {
        append_tag(&mut out, tag::PARENT_ID, parent);
    }
    append_tag(&mut out, tag::HOST, host().as_bytes());
    append_integer(&mut out, tag::PID, u64::from(std::process::id()));
    append_integer(&mut out, tag::PARENT_PID, u64::from(std::os::unix::process::parent_id()));
    if let Some(job) = rank() {
        append_integer(&mut out, tag::RANK, job.rank);
        if let Some(ranks) = job.ranks {
            append_integer(&mut out, tag::RANKS, ranks);
        }
    }
    append_integer(&mut out, tag::CLOCK_KIND, local_clock::kind() as u64);
    append_integer(&mut out, tag::CLOCK_HZ, local_clock::hz());
    append_tag(&mut out, tag::CLOCK_DOMAIN, clock_domain.as_bytes());
    append_tag(&mut out, tag::COMMAND, &command());
    append_tag(&mut out, tag::WRITER, WRITER.as_bytes());
    if let Some(job) = job() {
        append_tag(&mut out, tag::JOB, job.as_bytes());
    }
    append_tag(&mut out, tag::LAUNCH, launch_id::id().as_bytes());
    out
}

/// The clock domain: processes with equal texts read one clock.
/// A user's clock belongs to one process, unless the program names a domain. The domain of the
/// machine's clock is known.
pub(crate) fn clock_domain(id: &[u8; 16], user_domain: Option<String>) -> String {
    if local_clock::kind() == ClockKind::User {
        if let Some(domain) = user_domain {
            return domain;
        }
        let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        return format!("user-{hex}");
    }
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| host());
    let name_space = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    format!("{} {}", boot.trim(), name_space.display()).trim_end().to_owned()
}

/// A hash of a text, equal in all processes and languages (FNV-1a).
pub(crate) fn hash_text(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn job() -> Option<String> {
    if let Some(name_space) = text_of("PMIX_NAMESPACE") {
        return Some(name_space);
    }
    let job = text_of("SLURM_JOB_ID").or_else(|| text_of("PBS_JOBID"))?;
    Some(text_of("SLURM_STEP_ID").map_or(job.clone(), |step| format!("{job}.{step}")))
}

/// The name of the launch that all its processes share, if there is one.
/// A job may contain several launches. So may a launch of one process, if that process is a shell.
fn shared_job() -> Option<String> {
    let is_launch = text_of("PMIX_NAMESPACE").is_some() || text_of("SLURM_STEP_ID").is_some();
    let is_one = rank().is_some_and(|job| job.ranks == Some(1));
    job().filter(|_| is_launch && !is_one)
}

fn host() -> String {
    let mut name = [0u8; 256];
    // SAFETY: pointer and length are those of one live array. The last byte stays zero.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let name = String::from_utf8_lossy(name.split(|byte| *byte == 0).next().unwrap_or(&[])).into_owned();
    if name.is_empty() { "host".to_owned() } else { name }
}

/// The command line. Spaces separate its arguments.
fn command() -> Vec<u8> {
    let mut line = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    while line.last() == Some(&0) {
        line.pop();
    }
    for byte in &mut line {
        if *byte == 0 {
            *byte = b' ';
        }
    }
    String::from_utf8_lossy(&line).into_owned().into_bytes()
}

fn local_date() -> String {
    // SAFETY: with a null argument the call only returns the value.
    let now = unsafe { libc::time(std::ptr::null_mut()) };
    let mut parts = std::mem::MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are to live locals of the right types.
    unsafe { libc::localtime_r(&raw const now, parts.as_mut_ptr()) };
    // SAFETY: all fields may be zero, and the call filled them.
    let tm = unsafe { parts.assume_init() };
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}",
        tm.tm_year + 1900,
        tm.tm_mon + 1,
        tm.tm_mday,
        tm.tm_hour,
        tm.tm_min,
        tm.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "the test needs the host name of the system")]
    fn ids_differ_and_names_are_plain() {
        let id = new_id();
        assert_ne!(id, new_id());
        let name = file_name(&id);
        assert!(
            !name.contains('/') && name.ends_with(".tmt") && name.contains(&format!("-{:02x}{:02x}", id[0], id[1])),
            "{name}"
        );
        // A folder that contains one file name. The next name has another number.
        let folder = tempfile::tempdir().unwrap();
        let first = new_name(folder.path());
        std::fs::write(folder.path().join(first.file_name), "").unwrap();
        assert_ne!(new_name(folder.path()).id, first.id);
        let folder = default_folder();
        assert!(folder.to_string_lossy().contains("-20"), "{folder:?} contains a date");
    }
}
