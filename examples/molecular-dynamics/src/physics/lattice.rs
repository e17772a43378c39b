//! The system at time zero: a dense droplet outside the centre of a box of thin gas, so that equal
//! parts of the box are unequal amounts of work.

use super::random::SplitMix64;
use super::{Atom, System, Vec3};

/// Atoms per unit of volume in the droplet (a liquid near its triple point) and in the surrounding
/// gas.
const DROPLET_DENSITY: f64 = 0.8;
const GAS_DENSITY: f64 = 0.02;
/// The number of atoms in the droplet, of ten.
const DROPLET_TENTHS: usize = 8;
/// The least distance between the gas and the droplet's surface.
const CLEARANCE: f64 = 1.3;
/// Temperature of the random velocities.
const TEMPERATURE: f64 = 0.7;
/// The centre of the droplet, as fractions of the box's side.
const CENTRE: Vec3 = Vec3::new(0.42, 0.56, 0.47);

/// `count` atoms with total momentum zero. The droplet is cut out of a face-centred cubic crystal,
/// and the gas is on a simple cubic lattice around it. The same seed gives the same system.
pub(crate) fn droplet_in_gas(count: usize, seed: u64) -> System {
    let in_droplet = count * DROPLET_TENTHS / 10;
    let in_gas = count - in_droplet;
    let radius = (in_droplet as f64 / DROPLET_DENSITY * 3.0 / (4.0 * std::f64::consts::PI)).cbrt() + CLEARANCE;
    let excluded = 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
    let side = (excluded + in_gas as f64 / GAS_DENSITY).cbrt();
    let centre = CENTRE * side;

    let mut positions = ball(in_droplet, centre);
    positions.extend(surroundings(in_gas, side, centre, radius));
    let velocities = velocities(positions.len(), seed);
    let atoms = (0..).zip(positions).zip(velocities).map(|((id, position), velocity)| Atom {
        id,
        position: position.map(|x| x.rem_euclid(side)),
        velocity,
        force: Vec3::default(),
    });
    System { atoms: atoms.collect(), side }
}

/// The `count` sites of a face-centred cubic crystal that are closest to `centre`.
fn ball(count: usize, centre: Vec3) -> Vec<Vec3> {
    let spacing = (4.0 / DROPLET_DENSITY).cbrt();
    let reach = (count as f64 / 4.0).cbrt().ceil() as i32 + 1;
    let mut sites = Vec::new();
    for (x, y, z) in cube(-reach..reach) {
        for (dx, dy, dz) in [(0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)] {
            sites.push(Vec3::new(f64::from(x) + dx, f64::from(y) + dy, f64::from(z) + dz) * spacing);
        }
    }
    sites.sort_by(|a, b| a.norm_squared().total_cmp(&b.norm_squared()));
    sites.truncate(count);
    sites.into_iter().map(|site| site + centre).collect()
}

/// `count` sites outside the ball of this radius, spread evenly over a simple cubic lattice that
/// fills the box.
fn surroundings(count: usize, side: f64, centre: Vec3, radius: f64) -> Vec<Vec3> {
    let mut per_side = (count as f64).cbrt() as i32;
    let sites = loop {
        let spacing = side / f64::from(per_side.max(1));
        let sites: Vec<Vec3> = cube(0..per_side)
            .map(|(x, y, z)| Vec3::new(f64::from(x), f64::from(y), f64::from(z)) * spacing)
            .filter(|&site| {
                let difference = (site - centre).map(|d| d - side * (d / side).round());
                difference.norm() > radius
            })
            .collect();
        if sites.len() >= count {
            break sites;
        }
        per_side += 1;
    };
    (0..count).map(|n| sites[n * sites.len() / count]).collect()
}

/// All triples of numbers of a range, the last varying fastest.
fn cube(range: std::ops::Range<i32>) -> impl Iterator<Item = (i32, i32, i32)> {
    let (ys, zs) = (range.clone(), range.clone());
    range.flat_map(move |x| {
        let zs = zs.clone();
        ys.clone().flat_map(move |y| zs.clone().map(move |z| (x, y, z)))
    })
}

/// Normally distributed velocities with sum zero.
fn velocities(count: usize, seed: u64) -> Vec<Vec3> {
    let mut random = SplitMix64::new(seed);
    let scale = TEMPERATURE.sqrt();
    let mut velocities: Vec<Vec3> =
        (0..count).map(|_| Vec3::new(random.normal(), random.normal(), random.normal()) * scale).collect();
    let mean = velocities.iter().fold(Vec3::default(), |sum, &v| sum + v) * (1.0 / count.max(1) as f64);
    for velocity in &mut velocities {
        *velocity -= mean;
    }
    velocities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_atoms_asked_for_and_none_too_close() {
        for count in [300, 1000, 1537] {
            let system = droplet_in_gas(count, 7);
            assert_eq!(system.atoms.len(), count);
            for (n, a) in system.atoms.iter().enumerate() {
                for b in &system.atoms[..n] {
                    let difference = (a.position - b.position).map(|d| d - system.side * (d / system.side).round());
                    assert!(difference.norm() > 1.0, "{a:?} and {b:?} of {count}");
                }
            }
        }
    }

    #[test]
    fn stands_still_as_a_whole_and_depends_on_the_seed_alone() {
        let system = droplet_in_gas(500, 3);
        let momentum = system.atoms.iter().fold(Vec3::default(), |sum, atom| sum + atom.velocity);
        assert!(momentum.norm() < 1e-10);
        assert_eq!(system.atoms, droplet_in_gas(500, 3).atoms);
        assert_ne!(system.atoms, droplet_in_gas(500, 4).atoms);
    }
}
