//! Records the events of a Rust program at hardly more than the cost of reading the clock.
//!
//! ```ignore
//! tracer_rt::events!("taktuk.tumit");            // one module per level, one function per event
//!
//! com::post(node, thread, stamp, bytes);         // an event
//! let _span = app::iteration(n);                 // a span: until the guard is dropped
//!
//! #[tracer_rt::traced(app::iteration(n))]        // a span around a function
//! fn iterate(n: u32) {}
//!
//! #[tracer_rt::traced(com::fetch(&url))]         // around each poll of an async one
//! async fn fetch(url: String) {}
//! ```
//!
//! Those who want to see the functions make them in a build script, by the package `tumit-build`, and take them in by
//! [`include_events!`].
//!
//! Recording starts by itself at the first record, in the folder that `TUMIT_TRACE` names, else in
//! `./PROGRAM-DATE-PID.tmt`, both from where the program began; it ends when the process does. `TUMIT_LEVELS=COM=on,APP=off` switches levels at the start,
//! [`set_level`] later; `TUMIT_MEMORY=64M` bounds the buffers, and `TUMIT_POLICY=COM=block` makes threads wait where records
//! of a level would else be dropped, `TUMIT_POLICY=APP=overwrite` keeps the newest ones until [`dump`] or the end. Nothing of it can fail or panic: what cannot be recorded
//! is dropped and counted in the file. (After [`finish`] nothing is recorded any more, nor in children that are forked later. Where a program has used up all memory that it may have, a new name or a block to be packed ends it, as any
//! allocation of Rust does; the slots are there from the beginning.) A signal handler may record and fork; what it records before anything else of the same spec was recorded
//! is counted alone, as it may have interrupted the allocator. So may an allocator, from its first call on. A handler may be left
//! by a jump or by unwinding: the record that it interrupted is then no more. Not where it interrupted the recorder's slow path (a full slot, a new
//! name): then what its thread records from there on is dropped and counted. What a killed process had recorded is in its *live file*, beside the other one, unless
//! `TUMIT_BUFFERS=private`; `TUMIT_LIVE` puts it elsewhere. With `TUMIT_START=1` recording begins with the first event of all, even of a level that is
//! off: `tumit level` can then switch levels on. A child that a signal handler forks begins its own file once it has left the handler: what it records
//! before is lost, and told only if it records later. Make children by `fork`: one that is made by `_Fork` or a raw `clone` must `exec` before it
//! records, as its first records would go where its parent's are; it does not end its parent's trace.
//!
//! # How it works
//!
//! A thread writes packed records into a slot of its own, in a mapped file ([`record`](private::record): no lock, no atomic
//! read-modify-write, no system call, no allocation). Full slots go by pointer to a helper thread, which compresses,
//! checksums and appends them to the process's file. When the helper cannot follow, the newest records are dropped, and
//! the file says how many, and between which dates.

extern crate self as tracer_rt;

mod api;
mod clock;
pub mod clock_sync;
mod config;
mod cursor;
mod diagnostics;
mod fault_injection;
mod fields;
mod files;
mod levels;
mod live_file;
mod locks;
mod names;
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
mod writer;

pub use api::intern::Intern;
pub use api::levels::{pause, resume, set_level};
pub use api::private;
pub use api::span::{Span, new_task};
pub use api::stats::{Stats, stats};
pub use api::thread_names::{set_stream_label, set_thread_name};
pub use clock::{now, set_clock};
pub use config::Config;
pub use fields::{Date, Interned, Pointer};
pub use levels::overflow_policy::Policy;
pub use live_file::Buffers;
pub use session::{Counts, Session, StartError, counts, dump, finish, flush, start};
pub use tracer_format as format;
pub use tracer_macros::{events, records, traced};

/// Takes in the tracing functions that a build script made with the package `tumit-build`: `include_events!("app")` for
/// `specs/app.tumit`. The macro [`events!`] does without a build script.
#[macro_export]
macro_rules! include_events {
    ($name:literal) => {
        ::core::include!(::core::concat!(::core::env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
