//! Counts records that the slow path drops.

use tracer_format::cause;

use crate::cursor::ThreadCursor;
use crate::local_clock;
use crate::slots::MAX_RECORD_BYTES;
use crate::stream::count_stray_drop;

/// Counts a record of a signal handler that cannot be written.
#[cold]
#[inline(never)]
pub(crate) fn count_nested_drop(cursor: &ThreadCursor, bytes: usize) {
    let now = local_clock::read_nested(cursor);
    // The stream for signal handlers first: another stream may be sealing its slot now, and would
    // report this record too early.
    for stream in cursor.streams.iter().rev() {
        // SAFETY: a stream lives as long as its thread's cursor points to it.
        if let Some(stream) = unsafe { stream.get().as_ref() } {
            let now = now.unwrap_or_else(|| stream.latest_timestamp());
            return stream.count_dropped(1, bytes as u64, (now, now), cause::NESTED);
        }
    }
    count_stray_drop();
}

/// Counts a record that is too long even after truncation, because its fields of fixed size exceed
/// the limit.
pub(crate) fn count_uncut_drop(cursor: &ThreadCursor, class: usize, bytes: usize, now: u64) {
    // SAFETY: a stream lives as long as its thread's cursor points to it.
    match unsafe { cursor.streams[class].get().as_ref() } {
        Some(stream) => {
            let cause = if bytes > MAX_RECORD_BYTES { cause::OVERSIZE } else { cause::NO_BUFFER };
            stream.count_dropped(1, bytes as u64, (now, now), cause);
        }
        None => count_stray_drop(),
    }
}
