//! Messages between threads: typed channels whose envelopes carry a stamp, which joins sending and receiving in the trace.

use std::sync::Arc;
use std::sync::mpsc;

use crate::cells::CellBlock;
use crate::physics::{Atom, Balance, Vec3};
use crate::trace::{self, Kind, Place};

/// What can be sent.
pub(crate) trait Payload {
    /// What it is, for the trace.
    fn kind(&self) -> Kind;
    /// What it would weigh on a network.
    fn bytes(&self) -> usize;
}

/// Node 0 to a node: what to do next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Order {
    /// Compute the forces of the initial positions.
    Begin,
    /// Do one time step.
    Step {
        /// First send atoms to the nodes into whose cells they have moved.
        redistribute: bool,
    },
}

/// A node to node 0: how a step went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    /// Energies and momentum of the node's atoms.
    pub(crate) balance: Balance,
    /// How far one of its atoms moved, at most, since it was sorted into its cell.
    pub(crate) displacement: f64,
}

/// Main thread to the threads of its node that work on its own cells.
#[derive(Clone, Debug)]
pub(crate) struct Work(pub(crate) Arc<CellBlock>);

/// Main thread to a thread that talks to a neighbour.
#[derive(Clone, Debug)]
pub(crate) enum Errand {
    /// Send these coordinates, and bring the forces back.
    Forces(Arc<CellBlock>),
    /// These atoms now live there.
    Move(Vec<Atom>),
}

/// A node to its neighbour.
#[derive(Clone, Debug)]
pub(crate) enum Parcel {
    /// Positions in cells along the border.
    Coordinates(CellBlock),
    /// Atoms that moved.
    Atoms(Vec<Atom>),
}

/// The answer to [`Parcel::Coordinates`].
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

impl Payload for Work {
    fn kind(&self) -> Kind {
        Kind::Work
    }
    /// Only a reference changes hands.
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for Errand {
    fn kind(&self) -> Kind {
        Kind::Work
    }
    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

impl Payload for Parcel {
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

/// Gives every channel a number, so that stamps are unique.
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

    /// One more way into a channel.
    pub(crate) fn another<T>(&mut self, port: &Port<T>) -> Port<T> {
        self.port(port.sender.clone())
    }

    fn port<T>(&mut self, sender: mpsc::Sender<Envelope<T>>) -> Port<T> {
        self.channels += 1;
        Port { sender, next_stamp: u64::from(self.channels) << 32 }
    }
}

/// The end of a channel where messages go in.
#[derive(Debug)]
pub(crate) struct Port<T> {
    sender: mpsc::Sender<Envelope<T>>,
    next_stamp: u64,
}

impl<T: Payload> Port<T> {
    /// Sends a message. It never waits. A message to a thread that has ended is lost, and no arrow.
    #[track_caller]
    pub(crate) fn post(&mut self, place: Place, payload: T) {
        let stamp = self.next_stamp;
        self.next_stamp += 1;
        trace::post(place, stamp, payload.kind(), payload.bytes());
        // An error means that the receiver has ended, which it does only when there is nothing left to do.
        let _ = self.sender.send(Envelope { stamp, payload });
    }
}

/// The end of a channel where messages come out.
#[derive(Debug)]
pub(crate) struct Inbox<T> {
    receiver: mpsc::Receiver<Envelope<T>>,
}

impl<T: Payload> Inbox<T> {
    /// Waits for a message; `None` when no one is left who could send one.
    #[track_caller]
    pub(crate) fn receive(&self, place: Place) -> Option<T> {
        let since = trace::now();
        let Envelope { stamp, payload } = self.receiver.recv().ok()?;
        trace::received(place, stamp, payload.kind(), since);
        Some(payload)
    }
}
