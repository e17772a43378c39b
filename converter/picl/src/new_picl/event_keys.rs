//! The events of new PICL. MPICL has added the events of MPI.

use crate::node_activity::Activity;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventMeaning {
    /// Sends a message when it begins. Its data are bytes, type, node and process.
    Send(Activity),
    /// Has received a message when it ends. Its data are bytes, type, node and process.
    Receive(Activity),
    /// Has a duration, and no message.
    State(Activity),
    /// Begins or ends the trace of a node or process.
    Session,
    /// A text of the program.
    Text,
    /// The memory of the trace library is full.
    Full,
    /// Other records.
    Record,
}

use Activity as A;
use EventMeaning::{Full, Receive, Record, Send, Session, State, Text};

/// All events with their names.
const EVENT_KEYS: &[(i64, &str, EventMeaning)] = &[
    (-11, "open", State(A::Setup)),
    (-12, "close", State(A::Setup)),
    (-13, "who", State(A::Setup)),
    (-14, "receive info", State(A::Setup)),
    (-15, "buffer", State(A::Setup)),
    (-16, "communication check", State(A::Setup)),
    (-21, "send", Send(A::Send)),
    (-22, "buffered send", Send(A::Send)),
    (-23, "synchronous send", Send(A::Send)),
    (-24, "ready send", Send(A::Send)),
    (-27, "send begin", Send(A::SendBegin)),
    (-28, "send done", State(A::SendEnd)),
    (-29, "send not done", State(A::SendEnd)),
    (-30, "send end", State(A::SendEnd)),
    (-31, "send end, blocked", State(A::SendWait)),
    (-32, "send cancelled", State(A::SendEnd)),
    (-33, "buffered send begin", Send(A::SendBegin)),
    (-34, "buffered send done", State(A::SendEnd)),
    (-35, "buffered send not done", State(A::SendEnd)),
    (-36, "buffered send end", State(A::SendEnd)),
    (-37, "buffered send end, blocked", State(A::SendWait)),
    (-38, "buffered send cancelled", State(A::SendEnd)),
    (-39, "synchronous send begin", Send(A::SendBegin)),
    (-40, "synchronous send done", State(A::SendEnd)),
    (-41, "synchronous send not done", State(A::SendEnd)),
    (-42, "synchronous send end", State(A::SendEnd)),
    (-43, "synchronous send end, blocked", State(A::SendWait)),
    (-44, "synchronous send cancelled", State(A::SendEnd)),
    (-45, "ready send begin", Send(A::SendBegin)),
    (-46, "ready send done", State(A::SendEnd)),
    (-47, "ready send not done", State(A::SendEnd)),
    (-48, "ready send end", State(A::SendEnd)),
    (-49, "ready send end, blocked", State(A::SendWait)),
    (-50, "ready send cancelled", State(A::SendEnd)),
    (-51, "receive", Receive(A::Receive)),
    (-52, "receive, blocked", Receive(A::Wait)),
    (-53, "probe found", State(A::Probe)),
    (-54, "probe not found", State(A::Probe)),
    (-55, "probe", State(A::Probe)),
    (-56, "probe, blocked", State(A::ProbeWait)),
    (-57, "receive begin", State(A::ReceiveBegin)),
    (-58, "receive done", Receive(A::ReceiveEnd)),
    (-59, "receive not done", State(A::ReceiveEnd)),
    (-60, "receive end", Receive(A::ReceiveEnd)),
    (-61, "receive end, blocked", Receive(A::Wait)),
    (-62, "receive cancelled", State(A::ReceiveEnd)),
    (-201, "file open", State(A::File)),
    (-202, "file close", State(A::File)),
    (-221, "file write", State(A::File)),
    (-251, "file read", State(A::File)),
    (-401, "clock synchronisation", State(A::ClockSync)),
    (-402, "barrier", State(A::Barrier)),
    (-501, "processors allocated", State(A::Processors)),
    (-502, "processors released", State(A::Processors)),
    (-503, "process started", State(A::Processors)),
    (-601, "idle", State(A::Idle)),
    (-602, "system overhead", State(A::SystemOverhead)),
    (-603, "user overhead", State(A::UserOverhead)),
    (-756, "pack", State(A::Pack)),
    (-773, "unpack", State(A::Unpack)),
    (-780, "allgather", State(A::Allgather)),
    (-782, "allreduce", State(A::Allreduce)),
    (-783, "alltoall", State(A::Alltoall)),
    (-785, "broadcast", State(A::Broadcast)),
    (-786, "gather", State(A::Gather)),
    (-790, "reduce", State(A::Reduce)),
    (-791, "reduce-scatter", State(A::ReduceScatter)),
    (-792, "scan", State(A::Scan)),
    (-793, "scatter", State(A::Scatter)),
    (-804, "communicator create", State(A::Setup)),
    (-805, "communicator duplicate", State(A::Setup)),
    (-806, "communicator free", State(A::Setup)),
    (-812, "communicator split", State(A::Setup)),
    (-826, "intercommunicator create", State(A::Setup)),
    (-827, "intercommunicator merge", State(A::Setup)),
    (-841, "cartesian topology create", State(A::Setup)),
    (-846, "cartesian topology split", State(A::Setup)),
    (-849, "graph topology create", State(A::Setup)),
    (-901, "trace", Session),
    (-902, "trace statistics", State(A::TraceFlush)),
    (-903, "trace files", State(A::TraceFlush)),
    (-904, "trace level", Record),
    (-905, "trace info", Record),
    (-911, "trace message", Text),
    (-912, "trace flush", State(A::TraceFlush)),
    (-913, "trace memory full", Full),
    (-914, "trace overwritten", State(A::TraceFlush)),
];

/// The name and meaning of an event. `None` for an unknown event, and for an event of the program,
/// which has no negative number.
pub(crate) fn event_key(event: i64) -> Option<(&'static str, EventMeaning)> {
    EVENT_KEYS.iter().find(|(key, ..)| *key == event).map(|(_, name, meaning)| (*name, *meaning))
}

/// The event with a name.
pub(crate) fn event_of_name(name: &str) -> Option<i64> {
    EVENT_KEYS.iter().find(|(_, event_name, _)| *event_name == name).map(|(event, ..)| *event)
}

/// The event that is written for an activity. `None` if none corresponds to it.
pub(crate) fn event_of(activity: Activity) -> Option<i64> {
    Some(match activity {
        A::Sync => -402,
        // Several events have one of these activities. The usual event is written.
        A::Wait => -52,
        A::ReceiveEnd => -60,
        A::SendEnd => -30,
        A::Probe => -55,
        A::Setup => -16,
        A::File => -221,
        A::Processors => -501,
        A::TraceFlush => -912,
        A::GlobalOperation => -790,
        A::Compute | A::Finished | A::Unknown => return None,
        other => {
            let has_activity = |meaning: &EventMeaning| matches!(meaning, Send(activity) | Receive(activity) | State(activity) if *activity == other);
            EVENT_KEYS.iter().find(|(_, _, meaning)| has_activity(meaning))?.0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_activity_with_an_event_is_read_again() {
        for activity in Activity::ALL {
            let Some(event) = event_of(*activity) else { continue };
            let (_, meaning) = event_key(event).expect("the event is in the table");
            let (Send(found) | Receive(found) | State(found)) = meaning else {
                panic!("{activity:?} has an event without a state");
            };
            let expected = match activity {
                A::Sync => A::Barrier,
                A::GlobalOperation => A::Reduce,
                other => *other,
            };
            assert_eq!(found, expected);
        }
    }
}
