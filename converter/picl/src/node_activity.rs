//! [`Activity`]: the activities of a node. They are the values of the state type `Activity`.

use tumit_paje::RgbColor;
use tumit_paje::category::ActivityCategory;
use tumit_paje::collective::CollectiveKind;

const GREEN: RgbColor = RgbColor { red: 76, green: 160, blue: 76 };
const YELLOW: RgbColor = RgbColor { red: 232, green: 190, blue: 60 };
const ORANGE: RgbColor = RgbColor { red: 224, green: 140, blue: 50 };
const RED: RgbColor = RgbColor { red: 205, green: 72, blue: 66 };
const GREY: RgbColor = RgbColor { red: 160, green: 160, blue: 160 };

macro_rules! activities {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $color:ident, $category:ident;)*) => {
        /// An activity of a node.
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

            /// The effect on the utilization of the node. `docs/picl.md` lists it.
            pub(crate) const fn category(self) -> ActivityCategory {
                match self {
                    $(Self::$variant => ActivityCategory::$category,)*
                }
            }
        }
    };
}

activities! {
    Compute = "compute", GREEN, Busy;
    Send = "send", YELLOW, Overhead;
    /// Starts a send that is completed later.
    SendBegin = "send begin", YELLOW, Overhead;
    /// Completes a send that needs no wait.
    SendEnd = "send end", YELLOW, Overhead;
    /// Waits until a send is complete.
    SendWait = "send wait", ORANGE, Overhead;
    Receive = "receive", YELLOW, Overhead;
    /// Starts a receive that is completed later.
    ReceiveBegin = "receive begin", YELLOW, Overhead;
    /// Completes a receive after the message has arrived.
    ReceiveEnd = "receive end", YELLOW, Overhead;
    /// Waits for a message that has not arrived.
    Wait = "wait", RED, Idle;
    Probe = "probe", YELLOW, Overhead;
    /// Waits for a message without receiving it.
    ProbeWait = "probe wait", RED, Idle;
    Sync = "sync", ORANGE, Overhead;
    Barrier = "barrier", ORANGE, Overhead;
    Broadcast = "broadcast", ORANGE, Overhead;
    GlobalOperation = "global operation", ORANGE, Overhead;
    Allgather = "allgather", ORANGE, Overhead;
    Allreduce = "allreduce", ORANGE, Overhead;
    Alltoall = "alltoall", ORANGE, Overhead;
    Gather = "gather", ORANGE, Overhead;
    Reduce = "reduce", ORANGE, Overhead;
    ReduceScatter = "reduce-scatter", ORANGE, Overhead;
    Scan = "scan", ORANGE, Overhead;
    Scatter = "scatter", ORANGE, Overhead;
    Pack = "pack", YELLOW, Overhead;
    Unpack = "unpack", YELLOW, Overhead;
    /// Sets up or queries communication.
    Setup = "communication setup", YELLOW, Overhead;
    File = "file access", YELLOW, Overhead;
    ClockSync = "clock synchronisation", GREY, Overhead;
    Processors = "processor allocation", YELLOW, Overhead;
    Idle = "idle", RED, Idle;
    SystemOverhead = "system overhead", YELLOW, Overhead;
    UserOverhead = "user overhead", YELLOW, Overhead;
    /// Writes or collects the trace. This disturbs the program.
    TraceFlush = "trace flush", GREY, Overhead;
    Finished = "finished", RED, Idle;
    /// Follows when the memory of the trace library is full.
    Unknown = "unknown (trace memory full)", GREY, Ignored;
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

    /// The dependences between the nodes that are in a collective operation. `None` for other
    /// activities, and for a scan, in which a node waits only for the nodes before it.
    pub(crate) const fn collective_kind(self) -> Option<CollectiveKind> {
        use Activity::{
            Allgather, Allreduce, Alltoall, Barrier, Broadcast, Gather, GlobalOperation, Reduce, ReduceScatter,
            Scatter, Sync,
        };
        Some(match self {
            Sync | Barrier => CollectiveKind::Barrier,
            Broadcast | Scatter => CollectiveKind::OneToAll,
            GlobalOperation | Gather | Reduce => CollectiveKind::AllToOne,
            Allgather | Allreduce | Alltoall | ReduceScatter => CollectiveKind::AllToAll,
            _ => return None,
        })
    }

    /// The activity with a name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|activity| activity.name() == name)
    }
}
