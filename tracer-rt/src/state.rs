//! The state shared by the threads and the writer thread: slots, streams and names, from the first
//! record to the end.

pub(crate) mod flight_recorder;
mod kept_slots;
mod recorder_state;
pub(crate) mod stream_entry;
mod stream_lifecycle;

pub(crate) use recorder_state::{RecorderState, STATE, SYNC_EXCHANGES, SYNC_INTERVAL, SessionPhase};
