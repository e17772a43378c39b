//! The thread that sends coordinates to one neighbour and receives the forces on them.

use super::Shared;
use crate::cells::CellBlock;
use crate::machine::cost;
use crate::message::{Errand, Forces, Inbox, Parcel, Port};
use crate::trace::{Phase, Place};

/// The neighbour, and the channels to it and to the main thread.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The working node of the neighbour.
    pub(crate) peer: usize,
    /// The main thread's requests to send.
    pub(crate) errands: Inbox<Errand>,
    /// To the neighbour.
    pub(crate) parcels: Port<Parcel>,
    /// The neighbour's answers to coordinates.
    pub(crate) forces: Inbox<Forces>,
}

impl Exchange {
    /// Serves until the main thread has ended.
    pub(crate) fn run(mut self, place: Place, shared: &Shared) {
        let exports = &shared.plan.neighbours[self.peer].exports;
        while let Some(errand) = self.errands.receive(place) {
            match errand {
                Errand::Move(atoms) => self.parcels.post(place, Parcel::Atoms(atoms)),
                Errand::Forces(own) => {
                    let packed = shared.machine.run(place, Phase::Pack, || {
                        let packed = CellBlock::from_cells(exports.iter().map(|&slot| own.cell(slot)));
                        let units = packed.len() as u64 * cost::PACK;
                        (packed, units)
                    });
                    self.parcels.post(place, Parcel::Coordinates(packed));
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
