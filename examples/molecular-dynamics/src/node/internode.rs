//! The thread that computes the forces between its node's cells and those of one neighbour.

use super::NodeContext;
use crate::cells::forces_between;
use crate::message::{Forces, Inbox, NeighbourMessage, Port, WorkMessage};
use crate::physics::Vec3;
use crate::trace::{Phase, ThreadAddress};

/// The neighbour, and the channels to it and to the main thread.
#[derive(Debug)]
pub(crate) struct Internode {
    /// The working node of the neighbour.
    pub(crate) peer: usize,
    pub(crate) messages: Inbox<NeighbourMessage>,
    /// The forces on its atoms, returned to it.
    pub(crate) forces: Port<Forces>,
    /// This node's own positions.
    pub(crate) work: Inbox<WorkMessage>,
}

impl Internode {
    /// Serves until the neighbour's thread has ended.
    pub(crate) fn run(mut self, place: ThreadAddress, shared: &NodeContext) {
        while let Some(message) = self.messages.receive(place) {
            match message {
                NeighbourMessage::Atoms(atoms) => {
                    shared.accumulate(place, atoms.len(), |sums| sums.arrivals.extend(atoms));
                    shared.done.up(place);
                }
                NeighbourMessage::Coordinates(theirs) => {
                    let Some(WorkMessage(own)) = self.work.receive(place) else { return };
                    let mut back = vec![Vec3::default(); theirs.len()];
                    let pairs = &shared.plan.neighbours[self.peer].pairs;
                    shared.compute_forces(place, Phase::InternodeForces, &own, pairs, |pair, forces| {
                        let (here, there) = (own.range(pair.own).start, theirs.range(pair.other).start);
                        let (cell, other) = (own.cell(pair.own), theirs.cell(pair.other));
                        forces_between(&shared.potential, cell, other, pair.shift, |i, j, force| {
                            forces[here + i] += force;
                            back[there + j] -= force;
                        })
                    });
                    self.forces.post(place, Forces(back));
                    shared.done.up(place);
                }
            }
        }
    }
}
