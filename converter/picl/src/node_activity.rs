//! [`Activity`]: the activities of a node. They are the values of the state type `Activity`.

use tumit_paje::RgbColor;

const GREEN: RgbColor = RgbColor { red: 76, green: 160, blue: 76 };
const YELLOW: RgbColor = RgbColor { red: 232, green: 190, blue: 60 };
const ORANGE: RgbColor = RgbColor { red: 224, green: 140, blue: 50 };
const RED: RgbColor = RgbColor { red: 205, green: 72, blue: 66 };
const GREY: RgbColor = RgbColor { red: 160, green: 160, blue: 160 };

macro_rules! activities {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $color:ident;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Activity {
            $($(#[$doc])* $variant,)*
        }

        impl Activity {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name of the value.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Green for busy, yellow or orange for overhead, red for idle.
            pub(crate) const fn color(self) -> RgbColor {
                match self {
                    $(Self::$variant => $color,)*
                }
            }
        }
    };
}

activities! {
    Compute = "compute", GREEN;
    Send = "send", YELLOW;
    /// Starts a send that is completed later.
    SendBegin = "send begin", YELLOW;
    /// Completes a send that needs no wait.
    SendEnd = "send end", YELLOW;
    /// Waits until a send is complete.
    SendWait = "send wait", ORANGE;
    Receive = "receive", YELLOW;
    /// Starts a receive that is completed later.
    ReceiveBegin = "receive begin", YELLOW;
    /// Completes a receive after the message has arrived.
    ReceiveEnd = "receive end", YELLOW;
    /// Waits for a message that has not arrived.
    Wait = "wait", RED;
    Probe = "probe", YELLOW;
    /// Waits for a message without receiving it.
    ProbeWait = "probe wait", RED;
    Sync = "sync", ORANGE;
    Barrier = "barrier", ORANGE;
    Broadcast = "broadcast", ORANGE;
    GlobalOperation = "global operation", ORANGE;
    Allgather = "allgather", ORANGE;
    Allreduce = "allreduce", ORANGE;
    Alltoall = "alltoall", ORANGE;
    Gather = "gather", ORANGE;
    Reduce = "reduce", ORANGE;
    ReduceScatter = "reduce-scatter", ORANGE;
    Scan = "scan", ORANGE;
    Scatter = "scatter", ORANGE;
    Pack = "pack", YELLOW;
    Unpack = "unpack", YELLOW;
    /// Sets up or queries communication.
    Setup = "communication setup", YELLOW;
    File = "file access", YELLOW;
    ClockSync = "clock synchronisation", GREY;
    Processors = "processor allocation", YELLOW;
    Idle = "idle", RED;
    SystemOverhead = "system overhead", YELLOW;
    UserOverhead = "user overhead", YELLOW;
    /// Writes or collects the trace. This disturbs the program.
    TraceFlush = "trace flush", GREY;
    Finished = "finished", RED;
    /// Follows when the memory of the trace library is full.
    Unknown = "unknown (trace memory full)", GREY;
}

impl Activity {
    /// Whether an event of this kind is only a message if it has no duration. It then has no state.
    pub(crate) const fn is_message(self) -> bool {
        use Activity::{Receive, ReceiveBegin, ReceiveEnd, Send, SendBegin, SendEnd, SendWait, Wait};
        matches!(self, Send | SendBegin | SendEnd | SendWait | Receive | ReceiveBegin | ReceiveEnd | Wait)
    }

    /// Whether an event of this kind can send a message when it begins.
    pub(crate) const fn sends(self) -> bool {
        matches!(self, Self::Send | Self::SendBegin)
    }

    /// Whether an event of this kind can receive a message when it ends.
    pub(crate) const fn receives(self) -> bool {
        matches!(self, Self::Receive | Self::ReceiveEnd | Self::Wait)
    }

    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|activity| activity.name() == name)
    }
}
