//! The session: start and end of recording, and the calls of programs in between.

mod control;
mod end;
mod fork;
mod start;
mod start_error;
mod thread_end;

pub use control::{RecordCounts, Session, counts, dump, finish, flush};
pub use start::start;
pub(crate) use start::{begin, start_if_requested};
pub use start_error::StartError;
