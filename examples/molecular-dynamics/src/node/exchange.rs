//! The thread that sends coordinates to one neighbour and receives the forces on them.

use super::NodeContext;
use crate::cells::CellBlock;
use crate::machine::cost;
use crate::message::{Forces, Inbox, NeighbourMessage, NeighbourTask, Port};
use crate::trace::{Phase, ThreadAddress};

/// The neighbour, and the channels to it and to the main thread.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The working node of the neighbour.
    pub(crate) peer: usize,
    /// The main thread's requests to send.
    pub(crate) tasks: Inbox<NeighbourTask>,
    pub(crate) messages: Port<NeighbourMessage>,
    /// The neighbour's answers to coordinates.
    pub(crate) forces: Inbox<Forces>,
}

impl Exchange {
    /// Serves until the main thread has ended.
    pub(crate) fn run(mut self, place: ThreadAddress, shared: &NodeContext) {
        let exports = &shared.plan.neighbours[self.peer].exports;
        while let Some(task) = self.tasks.receive(place) {
            match task {
                NeighbourTask::Move(atoms) => self.messages.post(place, NeighbourMessage::Atoms(atoms)),
                NeighbourTask::Forces(own) => {
                    let packed = shared.machine.run(place, Phase::Pack, || {
                        let packed = CellBlock::from_cells(exports.iter().map(|&slot| own.cell(slot)));
                        let units = packed.len() as u64 * cost::PACK;
                        (packed, units)
                    });
                    self.messages.post(place, NeighbourMessage::Coordinates(packed));
                    let Some(Forces(forces)) = self.forces.receive(place) else { return };
                    shared.accumulate(place, forces.len(), |sums| {
                        let atoms = exports.iter().flat_map(|&slot| own.range(slot));
                        for (atom, force) in atoms.zip(forces) {
                            sums.forces[atom] += force;
                        }
                    });
                    shared.done.up(place);
                }
            }
        }
    }
}
