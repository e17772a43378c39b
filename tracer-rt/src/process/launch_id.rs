//! The launch id: processes of one launch have equal ids, so that readers can separate two runs in
//! one folder.
//!
//! The id is determined before `main`, while the process has one thread. It then goes into the
//! environment, where programs started by this process find it. Forked children have it in memory.

use std::ffi::CStr;
use std::fmt::Write as _;
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use tracer_format::tags::MAX_LAUNCH_BYTES;

use super::identity::{new_id, rank};
use crate::files;

/// The environment variable that passes the launch id to children.
/// A script can set it to join several programs to one launch.
const VARIABLE: &CStr = c"TUMIT_LAUNCH_ID";

/// A text of limited length.
/// It needs no memory, because an allocator that records is not ready before `main`.
#[derive(Clone, Copy)]
struct LaunchText {
    bytes: [u8; MAX_LAUNCH_BYTES],
    length: usize,
}

impl LaunchText {
    const fn new() -> Self {
        Self { bytes: [0; MAX_LAUNCH_BYTES], length: 0 }
    }

    fn of(parts: std::fmt::Arguments<'_>) -> Self {
        let mut text = Self::new();
        // Writing never fails.
        let _ = text.write_fmt(parts);
        text
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }
}

impl std::fmt::Write for LaunchText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let text = files::cut(text, MAX_LAUNCH_BYTES - self.length);
        self.bytes[self.length..self.length + text.len()].copy_from_slice(text.as_bytes());
        self.length += text.len();
        Ok(())
    }
}

static LAUNCH: OnceLock<LaunchText> = OnceLock::new();
/// Whether this process inherited the launch id from its parent.
static IS_INHERITED: AtomicBool = AtomicBool::new(false);

/// The launch id of this process.
pub(crate) fn id() -> &'static str {
    LAUNCH.get_or_init(find).as_str()
}

/// Whether this process started the launch or is the first rank of it.
pub(crate) fn is_first() -> bool {
    !IS_INHERITED.load(Ordering::Relaxed) && rank().is_none_or(|job| job.rank == 0)
}

/// Determines the launch id. The system calls this before `main`.
extern "C" fn note() {
    let launch = find();
    let is_inherited = variable(VARIABLE) == Some(launch.as_str());
    IS_INHERITED.store(is_inherited, Ordering::Relaxed);
    if LAUNCH.set(launch).is_ok() && !is_inherited && has_one_thread() {
        share(&launch);
    }
}

#[used]
// SAFETY: the function has the type that the system expects in this section.
#[unsafe(link_section = ".init_array")]
static NOTE: extern "C" fn() = note;

/// Puts the launch id into the environment.
fn share(launch: &LaunchText) {
    let mut value = [0; MAX_LAUNCH_BYTES + 1];
    value[..launch.length].copy_from_slice(&launch.bytes[..launch.length]);
    // SAFETY: both texts end with a zero, and no other thread reads the environment.
    unsafe { libc::setenv(VARIABLE.as_ptr(), value.as_ptr().cast(), 1) };
}

/// Whether the calling thread is the only one.
/// `/proc/self/task` has one folder per thread and therefore three links.
fn has_one_thread() -> bool {
    let mut file_status = MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the path ends with a zero, and the pointer is to a local of the right type.
    let failed = unsafe { libc::stat(c"/proc/self/task".as_ptr(), file_status.as_mut_ptr()) };
    // SAFETY: all fields of the structure may be zero.
    let file_status = unsafe { file_status.assume_init() };
    failed == 0 && file_status.st_nlink == 3
}

/// Finds the launch id.
fn find() -> LaunchText {
    if let Some(name) = variable(c"PMIX_NAMESPACE") {
        return family(name);
    }
    if let Some((job, step)) = variable(c"SLURM_JOB_ID").zip(variable(c"SLURM_STEP_ID"))
        && variable(c"SLURM_NTASKS") != Some("1")
    {
        return LaunchText::of(format_args!("slurm:{job}.{step}"));
    }
    if let Some(launch) = variable(VARIABLE) {
        return LaunchText::of(format_args!("{launch}"));
    }
    const RANKS: [&CStr; 4] = [c"OMPI_COMM_WORLD_RANK", c"PMIX_RANK", c"PMI_RANK", c"MV2_COMM_WORLD_RANK"];
    let launch = if RANKS.iter().any(|rank| variable(rank).is_some()) { of_launcher() } else { None };
    launch.unwrap_or_else(|| LaunchText::of(format_args!("{:032x}", u128::from_be_bytes(new_id()))))
}

/// The launch id for a `PMIX_NAMESPACE`.
/// All jobs of one `mpirun` of Open MPI belong to one launch, also those started by
/// `MPI_Comm_spawn`. In version 4 their names are numbers with a common upper half. In version 5
/// they are `prterun-HOST-PID@1`, `@2` and so on.
fn family(name: &str) -> LaunchText {
    let number = name.parse::<u32>().ok().filter(|_| variable(c"OMPI_COMM_WORLD_RANK").is_some());
    if let Some(number) = number {
        return LaunchText::of(format_args!("pmix:{}", number & 0xFFFF_0000));
    }
    let family = name.rsplit_once('@').map(|(family, _)| family).filter(|family| family.starts_with("prterun-"));
    LaunchText::of(format_args!("pmix:{}", family.unwrap_or(name)))
}

/// The launch id for launchers that provide a rank but no job id (Hydra).
/// It identifies the parent process, which started the ranks of this machine.
fn of_launcher() -> Option<LaunchText> {
    let parent = std::os::unix::process::parent_id();
    let mut boot = [0; 64];
    let boot = read_start(c"/proc/sys/kernel/random/boot_id", &mut boot);
    let path = LaunchText::of(format_args!("/proc/{parent}/stat\0"));
    let mut buffer = [0; 1024];
    let stat = read_start(CStr::from_bytes_until_nul(&path.bytes).ok()?, &mut buffer);
    // After the process name come the state and, 19 fields later, the start time.
    let started = stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?;
    Some(LaunchText::of(format_args!("launcher:{}:{parent}:{started}", boot.trim())))
}

/// The start of a file. Empty if it is not UTF-8 text.
fn read_start<'b>(path: &CStr, bytes: &'b mut [u8]) -> &'b str {
    let read = files::read_start(path, bytes);
    std::str::from_utf8(&bytes[..read]).unwrap_or_default()
}

/// The text of an environment variable. `None` if it is missing, empty, or not UTF-8.
fn variable(name: &CStr) -> Option<&'static str> {
    // SAFETY: the name ends with a zero. Before `main` no thread changes the environment. Later
    // this is as safe as in C.
    let text = unsafe { libc::getenv(name.as_ptr()) };
    if text.is_null() {
        return None;
    }
    // SAFETY: the text ends with a zero.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    std::str::from_utf8(text).ok().filter(|text| !text.is_empty())
}
