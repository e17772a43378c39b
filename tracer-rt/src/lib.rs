//! Records the events of a Rust program.
//! A record costs little more than one reading of the clock.
//!
//! ```
//! tracer_rt::events!("tests/doc.tumit");        // one module per level, one function per event
//!
//! #[tracer_rt::traced(app::iteration(n))]       // a span around a function
//! fn iterate(n: u32) {
//!     com::post(n, 4096);                       // an event
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let mut config = tracer_rt::RecorderConfig::default();
//! config.folder = Some(folder.path().join("run.tmt"));
//! let session = tracer_rt::start(config)?;      // optional
//!
//! iterate(1);
//! let span = app::iteration(2);                 // a span: until the guard is dropped
//! drop(span);
//!
//! tracer_rt::flush();
//! assert_eq!(tracer_rt::counts().written, 5);
//! session.finish();
//! # Ok(())
//! # }
//! ```
//!
//! To read the generated functions, generate them in a build script with the package `tumit-build`
//! and include them with [`include_events!`].
//!
//! # Recording
//!
//! Recording starts at the first record and ends with the process. The run folder is that of
//! `TUMIT_TRACE`, otherwise `./PROGRAM-DATE-PID.tmt`. Relative paths start from the working
//! directory of the program at its start.
//!
//! - `TUMIT_LEVELS=COM=on,APP=off` switches levels at the start, [`set_level`] switches them later.
//! - `TUMIT_MEMORY=64M` limits the buffers.
//! - `TUMIT_POLICY=COM=block` makes threads wait instead of dropping records of a level.
//!   `TUMIT_POLICY=APP=overwrite` keeps the newest records until [`dump`] or the end.
//! - `TUMIT_START=1` starts recording at the first event, even if its level is off. `tumit level`
//!   can then switch levels on.
//!
//! Recording never fails and never panics: a record that cannot be written is dropped and counted
//! in the file. After [`finish`] the process records nothing, and neither do children that it forks
//! later. The slots are allocated at the start. If the program has used all its memory, a new name
//! or a block that must be compressed ends it, as any failed allocation in Rust does.
//!
//! # Signal handlers and allocators
//!
//! A signal handler may record and fork. Its records are only counted before the first other record
//! of the same spec, because it may have interrupted the allocator. The same applies to an
//! allocator, from its first call on.
//!
//! A handler may be left by a jump or by unwinding. The record that it interrupted is then
//! discarded. If it interrupted the slow path of the recorder (a full slot, a new name), all later
//! records of its thread are dropped and counted.
//!
//! # Killed processes and children
//!
//! The records of a killed process are in its *live file*, in the run folder, unless
//! `TUMIT_BUFFERS=private`. `TUMIT_LIVE` names another folder for it.
//!
//! A child that a signal handler forks begins its own file after it has left the handler. Its
//! earlier records are dropped, and reported only if it records later. Create children with `fork`.
//! A child of `_Fork` or of a raw `clone` must call `exec` before it records, because its first
//! records would go to the slots of its parent. The exit of such a child does not end the recording
//! of its parent.
//!
//! # How it works
//!
//! A thread writes packed records into its own slot in a mapped file ([`record`](private::record)).
//! This needs no lock, no atomic read-modify-write, no system call and no allocation. Full slots go
//! by pointer to a writer thread, which compresses them, adds checksums and appends them to the
//! file of the process. If the writer thread is too slow, the newest records are dropped. The file
//! contains their number and the timestamps between which they were dropped.

extern crate self as tracer_rt;

mod api;
pub mod clock_sync;
mod config;
mod cursor;
mod fault_injection;
mod fields;
mod files;
mod intern_tables;
mod levels;
mod live_file;
mod local_clock;
mod locks;
mod process;
mod record;
mod reentrancy;
mod self_trace;
mod session;
mod signal;
mod slots;
mod slow_path;
mod state;
mod stream;
mod threads;
mod user_messages;
mod writer;

pub use api::intern::Intern;
pub use api::level_switches::{pause, resume, set_level};
pub use api::private;
pub use api::recorder_stats::{RecorderStats, stats};
pub use api::runtime_specs;
pub use api::span::{Span, new_task};
pub use api::thread_names::{set_stream_label, set_thread_name};
pub use config::RecorderConfig;
pub use fields::{Date, InternedText, Pointer};
pub use levels::overflow_policy::OverflowPolicy;
pub use live_file::SlotLocation;
pub use local_clock::{now, set_clock};
pub use session::{RecordCounts, Session, StartError, counts, dump, finish, flush, start};
pub use tracer_format as format;
/// # Example
///
/// ```
/// tracer_rt::events!("tests/doc.tumit", mod = trace);
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let mut config = tracer_rt::RecorderConfig::default();
/// # config.folder = Some(folder.path().join("run.tmt"));
/// # tracer_rt::start(config)?;
/// trace::com::post(3, 4096);
/// tracer_rt::flush();
/// assert_eq!(tracer_rt::counts().written, 1);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use tracer_macros::events;
/// # Example
///
/// ```
/// tracer_rt::records!("tests/doc.tumit");
///
/// # fn main() {
/// // `missing` lists the fields that are not in the file, because it was recorded with another
/// // version of the spec.
/// let post = doc::Post { peer: 3, bytes: 4096, missing: &[] };
/// assert_eq!(post.to_string(), "post  peer=3 bytes=4096");
/// # }
/// ```
#[doc(inline)]
pub use tracer_macros::records;
/// # Example
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Waker};
///
/// tracer_rt::events!("tests/doc.tumit");
///
/// #[tracer_rt::traced(app::iteration(n))]
/// fn iterate(n: u32) -> u32 {
///     n + 1
/// }
///
/// #[tracer_rt::traced(com::fetch(url))]          // a span around each poll
/// async fn fetch(url: &str) -> usize {
///     url.len()
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let mut config = tracer_rt::RecorderConfig::default();
/// # config.folder = Some(folder.path().join("run.tmt"));
/// # tracer_rt::start(config)?;
/// assert_eq!(iterate(1), 2);
/// let result = pin!(fetch("/index")).poll(&mut Context::from_waker(Waker::noop()));
/// assert!(result.is_ready());
/// tracer_rt::flush();
/// assert_eq!(tracer_rt::counts().written, 4);    // a begin and an end for each span
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use tracer_macros::traced;

/// Includes the tracing functions that a build script generated with the package `tumit-build`.
/// `include_events!("app")` includes the functions of `specs/app.tumit`. The macro [`events!`]
/// needs no build script.
#[macro_export]
macro_rules! include_events {
    ($name:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
