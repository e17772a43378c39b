//! The thread that computes the forces among its node's own cells.

use super::NodeContext;
use crate::cells::{forces_between, forces_within};
use crate::message::{Inbox, WorkMessage};
use crate::trace::{Phase, ThreadAddress};

/// Serves until the main thread has ended.
pub(crate) fn run(place: ThreadAddress, shared: &NodeContext, work: &Inbox<WorkMessage>) {
    while let Some(WorkMessage(block)) = work.receive(place) {
        shared.compute_forces(place, Phase::LocalForces, &block, &shared.plan.local, |pair, forces| {
            let (own, other) = (block.range(pair.own).start, block.range(pair.other).start);
            let add = |i: usize, j: usize, force| {
                forces[own + i] += force;
                forces[other + j] -= force;
            };
            let cell = block.cell(pair.own);
            if pair.own == pair.other {
                forces_within(&shared.potential, cell, add)
            } else {
                forces_between(&shared.potential, cell, block.cell(pair.other), pair.shift, add)
            }
        });
        shared.done.up(place);
    }
}
