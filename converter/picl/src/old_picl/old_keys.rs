//! The record types of old PICL.

use crate::node_activity::Activity;

/// A record type: its number, its name, and the smallest and largest number of values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OldKey {
    pub(crate) number: i64,
    pub(crate) name: &'static str,
    pub(crate) min_values: usize,
    pub(crate) max_values: usize,
}

const fn key(number: i64, name: &'static str, (min_values, max_values): (usize, usize)) -> OldKey {
    OldKey { number, name, min_values, max_values }
}

const ANY: (usize, usize) = (0, usize::MAX);

pub(crate) const TRACE_START: i64 = 1;
pub(crate) const SEND: i64 = 4;
pub(crate) const PROBE: i64 = 5;
pub(crate) const RECV: i64 = 6;
pub(crate) const RECV_BLOCKING: i64 = 7;
pub(crate) const RECV_WAKING: i64 = 8;
pub(crate) const SYNC: i64 = 10;
pub(crate) const COMPSTATS: i64 = 11;
pub(crate) const COMMSTATS: i64 = 12;
pub(crate) const CLOSE: i64 = 13;
pub(crate) const TRACE_LEVEL: i64 = 14;
pub(crate) const TRACE_MARK: i64 = 15;
pub(crate) const TRACE_MESSAGE: i64 = 16;
pub(crate) const TRACE_STOP: i64 = 17;
pub(crate) const TRACE_FLUSH: i64 = 18;
pub(crate) const TRACE_EXIT: i64 = 19;
pub(crate) const BLOCK_BEGIN: i64 = 20;
pub(crate) const BLOCK_END: i64 = 21;
pub(crate) const TRACE_MARKS: i64 = 22;
pub(crate) const TRACE_FILES: i64 = 24;

/// All record types.
pub(crate) const OLD_KEYS: &[OldKey] = &[
    key(TRACE_START, "trace_start", (0, 3)),
    key(2, "open", ANY),
    key(3, "load", ANY),
    key(SEND, "send", (3, 3)),
    key(PROBE, "probe", (0, 1)),
    key(RECV, "recv", (3, 3)),
    key(RECV_BLOCKING, "recv_blocking", (0, 1)),
    key(RECV_WAKING, "recv_waking", (3, 3)),
    key(9, "message", ANY),
    key(SYNC, "sync", (0, 0)),
    key(COMPSTATS, "compstats", (2, 4)),
    key(COMMSTATS, "commstats", (5, 5)),
    key(CLOSE, "close", ANY),
    key(TRACE_LEVEL, "trace_level", (0, 3)),
    key(TRACE_MARK, "trace_mark", (1, 1)),
    key(TRACE_MESSAGE, "trace_message", ANY),
    key(TRACE_STOP, "trace_stop", ANY),
    key(TRACE_FLUSH, "trace_flush", (2, 2)),
    key(TRACE_EXIT, "trace_exit", (0, 1)),
    key(BLOCK_BEGIN, "block_begin", (1, 3)),
    key(BLOCK_END, "block_end", (1, 3)),
    key(TRACE_MARKS, "trace_marks", ANY),
    key(23, "clock_sync", ANY),
    key(TRACE_FILES, "trace_files", (2, 2)),
];

/// The record type with a number.
pub(crate) fn key_of_number(number: i64) -> Option<&'static OldKey> {
    OLD_KEYS.iter().find(|key| key.number == number)
}

/// The record type with a name.
pub(crate) fn key_of_name(name: &[u8]) -> Option<&'static OldKey> {
    // The verbose name of one type differs.
    let name = if name == b"trace_mark_array" { b"trace_marks" } else { name };
    OLD_KEYS.iter().find(|key| key.name.as_bytes() == name)
}

/// The activity of a block with a negative type: a collective operation.
pub(crate) const fn activity_of_block(block: i64) -> Activity {
    match block {
        -1 => Activity::Barrier,
        -2 | -3 => Activity::Broadcast,
        -5 => Activity::Gather,
        _ => Activity::GlobalOperation,
    }
}

/// The usual type of the block of a collective operation. `None` for other activities.
pub(crate) const fn block_of(activity: Activity) -> Option<i64> {
    use Activity::{Allgather, Allreduce, Alltoall, Reduce, ReduceScatter, Scan, Scatter};
    match activity {
        Activity::Barrier => Some(-1),
        Activity::Broadcast => Some(-2),
        Activity::Gather => Some(-5),
        Activity::GlobalOperation | Allgather | Allreduce | Alltoall | Reduce | ReduceScatter | Scan | Scatter => {
            Some(-4)
        }
        _ => None,
    }
}
