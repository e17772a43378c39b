//! The physics: atoms of argon-like matter in a periodic box, in reduced units (mass, length,
//! energy and Boltzmann's constant are 1). The Lennard-Jones potential is truncated at a cut-off
//! and shifted to be zero there.

mod lattice;
mod random;
mod vector;

pub(crate) use lattice::droplet_in_gas;
pub(crate) use random::SplitMix64;
pub(crate) use vector::Vec3;

/// Time step, in reduced units.
pub(crate) const TIME_STEP: f64 = 0.004;

/// One atom, independent of its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    /// Its number, the same in every placement.
    pub(crate) id: u32,
    pub(crate) position: Vec3,
    pub(crate) velocity: Vec3,
    pub(crate) force: Vec3,
}

impl Atom {
    /// Velocity Verlet, first half: half a kick, then a drift by a whole step. Returns the
    /// displacement of the atom.
    pub(crate) fn drift(&mut self) -> Vec3 {
        self.kick();
        let path = self.velocity * TIME_STEP;
        self.position += path;
        path
    }

    /// Velocity Verlet, second half, with the forces at the new position. The first half uses the
    /// same kick.
    pub(crate) fn kick(&mut self) {
        self.velocity += self.force * (0.5 * TIME_STEP);
    }

    /// Kinetic energy.
    pub(crate) fn kinetic(&self) -> f64 {
        0.5 * self.velocity.norm_squared()
    }
}

/// Atoms in a cubic periodic box.
#[derive(Clone, Debug)]
pub(crate) struct System {
    /// All atoms, in the order of their numbers.
    pub(crate) atoms: Vec<Atom>,
    /// Side of the box.
    pub(crate) side: f64,
}

/// The conserved quantities, measured after a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Balance {
    pub(crate) kinetic: f64,
    pub(crate) potential: f64,
    pub(crate) momentum: Vec3,
}

impl Balance {
    /// Kinetic plus potential energy.
    pub(crate) fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Adds an atom's kinetic energy and momentum.
    pub(crate) fn count(&mut self, atom: &Atom) {
        self.kinetic += atom.kinetic();
        self.momentum += atom.velocity;
    }
}

impl std::ops::AddAssign for Balance {
    fn add_assign(&mut self, other: Self) {
        self.kinetic += other.kinetic;
        self.potential += other.potential;
        self.momentum += other.momentum;
    }
}

/// The pair potential.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LennardJones {
    cutoff_squared: f64,
    /// The value of the bare potential at the cut-off. It is subtracted everywhere, so that the
    /// energy has no step there.
    shift: f64,
}

impl LennardJones {
    /// The potential truncated at this distance.
    pub(crate) fn new(cutoff: f64) -> Self {
        let sixth = cutoff.powi(-6);
        Self { cutoff_squared: cutoff * cutoff, shift: 4.0 * sixth * (sixth - 1.0) }
    }

    /// Force on the first of two atoms with this difference of positions, and the energy of the
    /// pair; `None` beyond the cut-off.
    #[inline]
    pub(crate) fn pair(&self, difference: Vec3) -> Option<(Vec3, f64)> {
        let squared = difference.norm_squared();
        if squared >= self.cutoff_squared {
            return None;
        }
        let inverse = 1.0 / squared;
        let sixth = inverse * inverse * inverse;
        let force = 24.0 * inverse * sixth * (2.0 * sixth - 1.0);
        Some((difference * force, 4.0 * sixth * (sixth - 1.0) - self.shift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn force_is_minus_the_slope_of_the_energy() {
        let potential = LennardJones::new(2.5);
        let step = 1e-6;
        for tenths in 9..25 {
            let distance = f64::from(tenths) / 10.0;
            let energy = |r: f64| potential.pair(Vec3::new(r, 0.0, 0.0)).unwrap().1;
            let slope = (energy(distance + step) - energy(distance - step)) / (2.0 * step);
            let (force, _) = potential.pair(Vec3::new(distance, 0.0, 0.0)).unwrap();
            assert!((force.x + slope).abs() <= 1e-5 * slope.abs().max(1.0), "at {distance}: {} and {slope}", force.x);
        }
    }

    #[test]
    fn energy_is_zero_at_the_cut_off_and_force_at_the_minimum() {
        let potential = LennardJones::new(2.5);
        let (_, energy) = potential.pair(Vec3::new(0.0, 2.5 - 1e-9, 0.0)).unwrap();
        assert!(energy.abs() < 1e-9);
        assert!(potential.pair(Vec3::new(0.0, 2.5, 0.0)).is_none());
        let (force, _) = potential.pair(Vec3::new(0.0, 0.0, 2.0_f64.powf(1.0 / 6.0))).unwrap();
        assert!(force.z.abs() < 1e-12);
    }
}
