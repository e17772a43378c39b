//! The main thread of a node: it owns and moves the atoms, and leads the other threads in each
//! step.

use std::sync::Arc;

use super::NodeContext;
use crate::cells::CellBlock;
use crate::machine::cost;
use crate::message::{Inbox, NeighbourTask, Order, Port, Report, WorkMessage};
use crate::physics::{Atom, Balance, Vec3};
use crate::placement::NEIGHBOURS;
use crate::trace::{Phase, ThreadAddress};

/// The atoms of a node, and the channels to its other threads.
#[derive(Debug)]
pub(crate) struct Integrator {
    place: ThreadAddress,
    shared: Arc<NodeContext>,
    /// The index of this working node.
    index: usize,
    /// The working node of every cell, and the slot of the cell there.
    owners: Arc<[usize]>,
    slots: Arc<[usize]>,
    /// The atoms, sorted by cell, and the index of the first atom of each cell.
    atoms: Vec<Atom>,
    start: Vec<u32>,
    /// The displacement of each atom since it was sorted.
    moved: Vec<Vec3>,
    ports: Ports,
}

/// The channels between the main thread and the other threads of its node.
#[derive(Debug)]
pub(crate) struct Ports {
    pub(crate) orders: Inbox<Order>,
    pub(crate) reports: Port<Report>,
    /// To the thread of the local forces, and to those of the forces with each neighbour.
    pub(crate) work: Vec<Port<WorkMessage>>,
    /// To the threads that exchange with each neighbour, with the index of that working node.
    pub(crate) tasks: Vec<(usize, Port<NeighbourTask>)>,
}

impl Integrator {
    /// The main thread of the `index`-th working node, before it runs.
    pub(crate) fn new(
        (place, index): (ThreadAddress, usize),
        shared: Arc<NodeContext>,
        owners: Arc<[usize]>,
        slots: Arc<[usize]>,
        atoms: Vec<Atom>,
        ports: Ports,
    ) -> Self {
        let (start, moved) = (Vec::new(), Vec::new());
        let mut integrator = Self { place, shared, index, owners, slots, atoms, start, moved, ports };
        integrator.sort();
        integrator
    }

    /// Serves until there are no more orders; returns the atoms.
    pub(crate) fn run(mut self) -> Vec<Atom> {
        while let Some(order) = self.ports.orders.receive(self.place) {
            match order {
                Order::Begin => {}
                Order::Step { redistribute } => {
                    if redistribute {
                        self.redistribute();
                    }
                    self.drift();
                }
            }
            self.gather_forces();
            let report = self.complete(order);
            self.ports.reports.post(self.place, report);
        }
        self.atoms
    }

    /// Sends atoms that have left this node's cells to their new owners, receives those of others,
    /// and sorts.
    fn redistribute(&mut self) {
        let place = self.place;
        let Self { shared, atoms, owners, index, .. } = self;
        let mut leaving: Vec<Vec<Atom>> = shared.plan.neighbours.iter().map(|_| Vec::new()).collect();
        shared.machine.run(place, Phase::Sort, || {
            let units = atoms.len() as u64 * cost::SORT;
            atoms.retain_mut(|atom| {
                atom.position = shared.grid.wrap(atom.position);
                let owner = owners[shared.grid.cell_of(atom.position)];
                if owner != *index {
                    leaving[owner].push(*atom);
                }
                owner == *index
            });
            ((), units)
        });
        for (peer, port) in &mut self.ports.tasks {
            port.post(place, NeighbourTask::Move(std::mem::take(&mut leaving[*peer])));
        }
        self.wait_for(NEIGHBOURS);
        let arrivals = std::mem::take(&mut self.shared.sums.lock(place).arrivals);
        let shared = Arc::clone(&self.shared);
        shared.machine.run(place, Phase::Sort, || {
            self.atoms.extend(arrivals);
            self.sort();
            ((), self.atoms.len() as u64 * cost::SORT)
        });
    }

    /// Puts the atoms in the order of their cells. Within a cell they are in the order of their
    /// numbers, so that sums do not depend on the order of arrival.
    fn sort(&mut self) {
        let Self { shared, atoms, slots, start, moved, .. } = self;
        let slot_of = |atom: &Atom| slots[shared.grid.cell_of(atom.position)];
        atoms.sort_by_cached_key(|atom| (slot_of(atom), atom.id));
        *start = vec![0; shared.plan.cells.len() + 1];
        for atom in &*atoms {
            start[slot_of(atom) + 1] += 1;
        }
        for slot in 1..start.len() {
            start[slot] += start[slot - 1];
        }
        *moved = vec![Vec3::default(); atoms.len()];
    }

    /// First part of the step: atoms get new positions.
    fn drift(&mut self) {
        let Self { shared, atoms, moved, .. } = self;
        shared.machine.run(self.place, Phase::Integrate, || {
            for (atom, moved) in atoms.iter_mut().zip(moved) {
                *moved += atom.drift();
            }
            ((), atoms.len() as u64 * cost::MOVE)
        });
    }

    /// Lets the other threads compute the forces at the new positions, and waits for all of them.
    fn gather_forces(&mut self) {
        let place = self.place;
        let mut sums = self.shared.sums.lock(place);
        sums.forces = vec![Vec3::default(); self.atoms.len()];
        sums.potential = 0.0;
        drop(sums);
        let positions = self.atoms.iter().map(|atom| atom.position).collect();
        let block = Arc::new(CellBlock::from_parts(self.start.clone(), positions));
        for (_, port) in &mut self.ports.tasks {
            port.post(place, NeighbourTask::Forces(Arc::clone(&block)));
        }
        for port in &mut self.ports.work {
            port.post(place, WorkMessage(Arc::clone(&block)));
        }
        self.wait_for(self.ports.tasks.len() + self.ports.work.len());
    }

    /// Second part of the step: velocities follow the new forces.
    fn complete(&mut self, order: Order) -> Report {
        let Self { shared, atoms, moved, .. } = self;
        let mut sums = shared.sums.lock(self.place);
        let (forces, potential) = (std::mem::take(&mut sums.forces), sums.potential);
        drop(sums);
        let mut report = Report { balance: Balance { potential, ..Balance::default() }, displacement: 0.0 };
        shared.machine.run(self.place, Phase::Integrate, || {
            for ((atom, force), moved) in atoms.iter_mut().zip(forces).zip(moved) {
                atom.force = force;
                if order != Order::Begin {
                    atom.kick();
                }
                report.balance.count(atom);
                report.displacement = report.displacement.max(moved.norm());
            }
            ((), atoms.len() as u64 * cost::MOVE)
        });
        report
    }

    /// Waits for the semaphore `parts` times: once for each part of the work.
    fn wait_for(&self, parts: usize) {
        for _ in 0..parts {
            self.shared.done.down(self.place);
        }
    }
}
