//! The end of a thread: a destructor of the system releases its streams.

use crate::cursor::{CURSOR, KEPT, NESTED, RING, work_state};
use crate::local_clock;
use crate::state::STATE;

/// Creates the key whose destructor ends the streams of a thread.
/// Key destructors run after those of thread-local variables, so that records of the latter are
/// kept. A record in the destructor of another key starts a new stream.
pub(crate) fn thread_key() -> Option<libc::pthread_key_t> {
    let mut key = 0;
    // SAFETY: the pointer is to a local of the right type.
    let failed = unsafe { libc::pthread_key_create(&raw mut key, Some(retire)) };
    (failed == 0).then_some(key)
}

extern "C" fn retire(_: *mut libc::c_void) {
    CURSOR.with(|cursor| {
        let previous_state = cursor.begin_work();
        if previous_state != work_state::IDLE {
            return cursor.end_work(previous_state);
        }
        cursor.is_ending.set(true);
        let streams = [KEPT, RING, NESTED].map(|class| {
            cursor.point_nowhere(class);
            cursor.streams[class].replace(std::ptr::null())
        });
        let now = local_clock::read_late();
        let mut state = STATE.lock();
        for stream in streams {
            // SAFETY: streams are freed only after they are marked as ended, which happens here.
            let Some(stream) = (unsafe { stream.as_ref() }) else { continue };
            state.end_stream(stream, now);
        }
        let writer_thread = state.writer_thread.clone().filter(|_| state.is_urgent());
        drop(state);
        if let Some(writer_thread) = writer_thread {
            writer_thread.unpark();
        }
        cursor.end_work(previous_state);
    });
}
