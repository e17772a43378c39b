//! Messages between threads: typed channels with stamped envelopes; the stamp connects sending and
//! receiving in the trace.

use std::sync::Arc;
use std::sync::mpsc;

use crate::cells::CellBlock;
use crate::physics::{Atom, Balance, Vec3};
use crate::trace::{self, Kind, ThreadAddress};

/// The contents of a message.
pub(crate) trait Payload {
    /// The kind, for the trace.
    fn kind(&self) -> Kind;
    /// The size that it would have on a network.
    fn bytes(&self) -> usize;
}

/// From node 0 to a node: the next action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// Compute the forces of the initial positions.
    Begin,
    /// Do one time step.
    Step {
        /// First send atoms to the nodes that own their present cells.
        redistribute: bool,
    },
}

/// From a node to node 0: the result of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Energies and momentum of the node's atoms.
    pub(crate) balance: Balance,
    /// The largest displacement of one of its atoms since it was sorted into its cell.
    pub(crate) displacement: f64,
}

/// From the main thread to the threads of its node that work on its own cells.
#[derive(Clone, Debug)]
pub(crate) struct WorkMessage(pub(crate) Arc<CellBlock>);

/// From the main thread to a thread that communicates with a neighbour.
#[derive(Clone, Debug)]
pub(crate) enum NeighbourTask {
    /// Send these coordinates, and receive the forces.
    Forces(Arc<CellBlock>),
    /// These atoms now belong to the neighbour.
    Move(Vec<Atom>),
}

/// From a node to its neighbour.
#[derive(Clone, Debug)]
pub(crate) enum NeighbourMessage {
    /// Positions in cells along the border.
    Coordinates(CellBlock),
    /// Atoms that moved.
    Atoms(Vec<Atom>),
}

/// The answer to [`NeighbourMessage::Coordinates`].
#[derive(Clone, Debug)]
pub(crate) struct Forces(pub(crate) Vec<Vec3>);

impl Payload for Order {
    fn kind(&self) -> Kind {
        Kind::Order
    }
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for Report {
    fn kind(&self) -> Kind {
        Kind::Report
    }
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for WorkMessage {
    fn kind(&self) -> Kind {
        Kind::Work
    }
    /// Only a reference is sent.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for NeighbourTask {
    fn kind(&self) -> Kind {
        Kind::Work
    }
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for NeighbourMessage {
    fn kind(&self) -> Kind {
        match self {
            Self::Coordinates(_) => Kind::Coordinates,
            Self::Atoms(_) => Kind::Atoms,
        }
    }
    fn bytes(&self) -> usize {
        match self {
            Self::Coordinates(block) => block.bytes(),
            Self::Atoms(atoms) => size_of_val(&**atoms),
        }
    }
}

impl Payload for Forces {
    fn kind(&self) -> Kind {
        Kind::Forces
    }
    fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

#[derive(Debug)]
struct Envelope<T> {
    stamp: u64,
    payload: T,
}

/// Numbers the channels, so that stamps are unique.
#[derive(Debug, Default)]
pub(crate) struct Switchboard {
    channels: u32,
}

impl Switchboard {
    /// A new channel.
    pub(crate) fn channel<T>(&mut self) -> (Port<T>, Inbox<T>) {
        let (sender, receiver) = mpsc::channel();
        (self.port(sender), Inbox { receiver })
    }

    /// One more sender of a channel.
    pub(crate) fn new_port<T>(&mut self, port: &Port<T>) -> Port<T> {
        self.port(port.sender.clone())
    }

    fn port<T>(&mut self, sender: mpsc::Sender<Envelope<T>>) -> Port<T> {
        self.channels += 1;
        Port { sender, next_stamp: u64::from(self.channels) << 32 }
    }
}

/// The sending end of a channel.
#[derive(Debug)]
pub(crate) struct Port<T> {
    sender: mpsc::Sender<Envelope<T>>,
    next_stamp: u64,
}

impl<T: Payload> Port<T> {
    /// Sends a message. It never waits. A message to a thread that has ended is discarded, and the
    /// trace shows no arrow.
    #[track_caller]
    pub(crate) fn post(&mut self, place: ThreadAddress, payload: T) {
        let stamp = self.next_stamp;
        self.next_stamp += 1;
        trace::post(place, stamp, payload.kind(), payload.bytes());
        // An error means that the receiver has ended, and it ends only when no work is left.
        let _ = self.sender.send(Envelope { stamp, payload });
    }
}

/// The receiving end of a channel.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    receiver: mpsc::Receiver<Envelope<T>>,
}

impl<T: Payload> Inbox<T> {
    /// Waits for a message; `None` when no sender remains.
    #[track_caller]
    pub(crate) fn receive(&self, place: ThreadAddress) -> Option<T> {
        let since = trace::now();
        let Envelope { stamp, payload } = self.receiver.recv().ok()?;
        trace::record_receipt(place, stamp, payload.kind(), since);
        Some(payload)
    }
}
