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

/// What `slot` stands on; its test puts the checker's atomics in this place.
mod atomic {
    pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
}
mod beginning;
mod buffer;
mod clock;
mod config;
mod elsewhere;
mod fault;
mod fields;
mod fork;
mod handler;
mod helper;
mod intern;
mod known;
mod later;
mod launch;
mod level;
mod live;
mod losses;
mod nested;
mod own;
mod policy;
mod polled;
mod pool;
pub mod private;
mod process;
mod processors;
mod ring;
pub mod samples;
mod session;
mod sink;
mod slot;
mod span;
mod state;
mod stats;
mod stream;
mod sync;
mod thread;

pub use clock::{Date, now, set_clock};
pub use config::Config;
pub use fields::Pointer;
pub use intern::{Intern, Interned};
pub use level::{pause, resume, set_level};
pub use live::Buffers;
pub use policy::Policy;
pub use session::{Counts, Session, StartError, counts, dump, finish, flush, start};
pub use span::{Span, new_task};
pub use stats::{Stats, stats};
pub use thread::{set_stream_label, set_thread_name};
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
