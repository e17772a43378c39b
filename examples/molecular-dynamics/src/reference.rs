//! The same system on one thread, without nodes, cells or messages: every atom is tested against
//! every other. It shares only the pair potential with the parallel program, and serves to check
//! that.

use crate::cluster::Outcome;
use crate::physics::{Balance, LennardJones, System, Vec3};

/// The accepted difference of the parallel run: positions and momentum absolute, energies relative
/// to the total. The order of summation differs, and so does the rounding; the motion amplifies it.
const TOLERANCE: f64 = 1e-8;
/// The accepted change of the total energy during the run, as a fraction of it.
const DRIFT: f64 = 1e-3;

/// Steps the system, and returns it with its balance at the start and after each step.
pub(crate) fn run(mut system: System, cutoff: f64, steps: u32) -> (System, Vec<Balance>) {
    let potential = LennardJones::new(cutoff);
    let mut balances = Vec::new();
    for step in 0..=steps {
        if step > 0 {
            for atom in &mut system.atoms {
                atom.drift();
            }
        }
        let mut balance = Balance { potential: forces(&mut system, &potential), ..Balance::default() };
        for atom in &mut system.atoms {
            if step > 0 {
                atom.kick();
            }
            balance.count(atom);
        }
        balances.push(balance);
    }
    (system, balances)
}

/// Forces on all atoms; returns the potential energy.
fn forces(system: &mut System, potential: &LennardJones) -> f64 {
    let side = system.side;
    let positions: Vec<Vec3> = system.atoms.iter().map(|atom| atom.position.map(|x| x.rem_euclid(side))).collect();
    let mut forces = vec![Vec3::default(); positions.len()];
    let mut energy = 0.0;
    // Positions are inside the box, so that the nearest image is at most one side away.
    let nearest = |d: f64| {
        if d > 0.5 * side {
            d - side
        } else if d < -0.5 * side {
            d + side
        } else {
            d
        }
    };
    for (i, &here) in positions.iter().enumerate() {
        for (j, &there) in positions[..i].iter().enumerate() {
            if let Some((force, pair)) = potential.pair((here - there).map(nearest)) {
                forces[i] += force;
                forces[j] -= force;
                energy += pair;
            }
        }
    }
    for (atom, force) in system.atoms.iter_mut().zip(forces) {
        atom.force = force;
    }
    energy
}

/// The agreement of a run with the reference, and its conservation of energy and momentum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreement {
    /// Largest distance of an atom from its position in the reference.
    pub(crate) position: f64,
    /// Largest difference of the energies after any step, relative to the total energy.
    pub(crate) energy: f64,
    /// Largest change of the total energy since the start, relative to it.
    pub(crate) drift: f64,
    /// Largest total momentum.
    pub(crate) momentum: f64,
}

impl Agreement {
    /// Whether all values are within the limits that rounding and the time step explain.
    pub(crate) fn is_good(&self) -> bool {
        self.position < TOLERANCE && self.energy < TOLERANCE && self.drift < DRIFT && self.momentum < TOLERANCE
    }
}

/// Compares a run of `system` with the reference.
pub(crate) fn compare(outcome: &Outcome, system: System, cutoff: f64) -> Agreement {
    let balances = &outcome.history.balances;
    let (reference, expected) = run(system, cutoff, balances.len().saturating_sub(1) as u32);
    let side = reference.side;
    let distance = |a: Vec3, b: Vec3| (a - b).map(|d| d - side * (d / side).round()).norm();
    let largest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, f64::max);
    let total = expected[0].energy();
    Agreement {
        position: largest(
            &mut outcome.atoms.iter().zip(&reference.atoms).map(|(a, b)| distance(a.position, b.position)),
        ),
        energy: largest(
            &mut balances
                .iter()
                .zip(&expected)
                .map(|(a, b)| (a.kinetic - b.kinetic).abs().max((a.potential - b.potential).abs()) / total.abs()),
        ),
        drift: largest(&mut balances.iter().map(|balance| ((balance.energy() - total) / total).abs())),
        momentum: largest(&mut balances.iter().map(|balance| balance.momentum.norm())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::Grid;
    use crate::cluster::{self, Setup};
    use crate::physics::droplet_in_gas;
    use crate::placement::{Placement, owners};
    use std::time::Duration;

    fn check(placement: Placement, atoms: usize, steps: u32) {
        let system = droplet_in_gas(atoms, 5);
        let grid = Grid::new(system.side, 2.5).unwrap();
        let owners = owners(placement, &grid, &system, 5);
        let setup =
            Setup { system: system.clone(), grid, owners, cutoff: 2.5, steps, processors: 2, unit: Duration::ZERO };
        let outcome = cluster::run(setup).unwrap();
        assert_eq!(outcome.atoms.len(), atoms);
        assert!(outcome.history.is_complete());
        let agreement = compare(&outcome, system, 2.5);
        assert!(agreement.is_good(), "{agreement:?}");
    }

    #[test]
    fn nodes_with_a_random_placement_compute_what_one_thread_computes() {
        check(Placement::Random, 800, 40);
    }

    #[test]
    fn nodes_with_a_balanced_placement_compute_what_one_thread_computes() {
        check(Placement::Balanced, 800, 40);
    }

    #[test]
    fn a_node_may_own_very_few_atoms() {
        check(Placement::Random, 300, 10);
    }

    #[test]
    fn a_wrong_run_differs_from_a_right_one() {
        let system = droplet_in_gas(300, 5);
        let (moved, balances) = run(system.clone(), 2.5, 5);
        let history = crate::controller::RunHistory { balances, displacement: 0.0 };
        let mut outcome = Outcome { history, atoms: moved.atoms, usage: Vec::new() };
        assert!(compare(&outcome, system.clone(), 2.5).is_good());
        outcome.atoms[17].position.y += 1e-6;
        assert!(!compare(&outcome, system, 2.5).is_good());
    }
}
