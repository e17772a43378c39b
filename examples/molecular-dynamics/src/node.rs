//! A working node: the shared data and the roles of its threads. Each role has a module of its own.

pub(crate) mod exchange;
pub(crate) mod integrator;
pub(crate) mod internode;
pub(crate) mod local_forces;
pub(crate) mod orders;

use crate::cells::{CellBlock, Grid, PairWork};
use crate::locks::{Mutex, Semaphore};
use crate::machine::{Machine, SLICE, cost};
use crate::physics::{Atom, LennardJones, Vec3};
use crate::placement::{CellPair, NEIGHBOURS, NodePlan};
use crate::trace::{Phase, ThreadAddress};

/// The threads of a working node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Moves the atoms, and leads the other threads through each step.
    Main,
    /// Computes the forces among the node's own cells.
    Local,
    /// Computes the forces between own cells and those that one neighbour sends. The field is the
    /// neighbour's number: 0, 1 or 2.
    Internode(usize),
    /// Sends coordinates to one neighbour and receives the forces that it computed.
    Exchange(usize),
    /// Communicates with node 0.
    Control,
}

impl Role {
    /// All roles of a node, in the order of their rows.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let pairs = (0..NEIGHBOURS).map(Self::Internode).chain((0..NEIGHBOURS).map(Self::Exchange));
        [Self::Main, Self::Local].into_iter().chain(pairs).chain([Self::Control])
    }

    /// The thread's number in its node.
    pub(crate) const fn number(self) -> u16 {
        match self {
            Self::Main => 0,
            Self::Local => 1,
            Self::Internode(which) => 2 + which as u16,
            Self::Exchange(which) => (2 + NEIGHBOURS + which) as u16,
            Self::Control => 2 + 2 * NEIGHBOURS as u16,
        }
    }
}

/// The sums to which all threads of a node contribute; their mutex protects them.
#[derive(Debug, Default)]
pub(crate) struct NodeSums {
    /// The force on each atom of the node, as computed so far.
    pub(crate) forces: Vec<Vec3>,
    /// Potential energy of the pairs that this node worked on.
    pub(crate) potential: f64,
    /// Atoms that moved here.
    pub(crate) arrivals: Vec<Atom>,
}

/// The data that the threads of a node share.
#[derive(Debug)]
pub(crate) struct NodeContext {
    pub(crate) plan: NodePlan,
    pub(crate) grid: Grid,
    pub(crate) potential: LennardJones,
    pub(crate) machine: Machine,
    pub(crate) sums: Mutex<NodeSums>,
    /// Raised by every thread that has completed its part of a step; the main thread waits for all
    /// of them.
    pub(crate) done: Semaphore,
}

impl NodeContext {
    /// Adds to the sums under their lock; the work is that for `atoms` atoms.
    #[track_caller]
    fn accumulate(&self, place: ThreadAddress, atoms: usize, add: impl FnOnce(&mut NodeSums)) {
        let mut sums = self.sums.lock(place);
        self.machine.run(place, Phase::Accumulate, || {
            add(&mut sums);
            ((), atoms as u64 * cost::ADD)
        });
    }

    /// Works on all pairs of cells, one time slice after the other; after each slice, accumulates
    /// the forces on the node's own atoms.
    #[track_caller]
    fn compute_forces(
        &self,
        place: ThreadAddress,
        phase: Phase,
        own: &CellBlock,
        pairs: &[CellPair],
        mut compute: impl FnMut(&CellPair, &mut [Vec3]) -> PairWork,
    ) {
        let mut rest = pairs.iter();
        while !rest.as_slice().is_empty() {
            let (forces, potential) = self.machine.run(place, phase, || {
                let mut forces = vec![Vec3::default(); own.len()];
                let mut work = PairWork::default();
                while work.tests < SLICE
                    && let Some(pair) = rest.next()
                {
                    work += compute(pair, &mut forces);
                }
                ((forces, work.potential), work.tests)
            });
            self.accumulate(place, own.len(), |sums| {
                sums.potential += potential;
                for (sum, force) in sums.forces.iter_mut().zip(forces) {
                    *sum += force;
                }
            });
        }
    }
}
