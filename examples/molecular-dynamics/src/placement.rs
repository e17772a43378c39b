//! The placement of cells on nodes, and its consequences: the pairs of cells that each node works
//! on, and the cells with coordinates that are sent.

use crate::cells::Grid;
use crate::machine::cost;
use crate::physics::{SplitMix64, System, Vec3};

/// Nodes that work. Node 0 only controls; these are nodes 1 to 4.
pub(crate) const WORKERS: usize = 4;
/// Every working node is a neighbour of every other.
pub(crate) const NEIGHBOURS: usize = WORKERS - 1;

/// How cells are given to nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Placement {
    /// Random blocks of cells for each node: some nodes get too much of the droplet
    Random,
    /// Recursive bisection into parts of equal work
    Balanced,
}

/// Side of the blocks that are dealt at random, in cells.
const BLOCK: usize = 4;

/// The cost of a step for each atom in addition to its pairs: it is moved twice, and its force is
/// added up about a dozen times.
const PER_ATOM: f64 = 2.0 * cost::MOVE as f64 + 16.0 * cost::ADD as f64;

/// The working node (0 to 3) of each cell.
pub(crate) fn owners(placement: Placement, grid: &Grid, system: &System, seed: u64) -> Vec<usize> {
    match placement {
        Placement::Random => deal_blocks(grid, seed),
        Placement::Balanced => {
            let work = expected_work(grid, system);
            let mut owners = vec![0; grid.len()];
            bisect(grid, &work, (0..grid.len()).collect(), 0..WORKERS, &mut owners);
            owners
        }
    }
}

/// Deals blocks of cells, the same number (except for the remainder) to each node.
fn deal_blocks(grid: &Grid, seed: u64) -> Vec<usize> {
    let per_side = grid.per_side.div_ceil(BLOCK);
    let mut cards: Vec<usize> = (0..per_side.pow(3)).map(|card| card % WORKERS).collect();
    let mut random = SplitMix64::new(seed);
    for last in (1..cards.len()).rev() {
        cards.swap(last, random.below(last + 1));
    }
    let block_of = |cell| {
        let [x, y, z] = grid.coordinates(cell).map(|at| at / BLOCK);
        (x * per_side + y) * per_side + z
    };
    (0..grid.len()).map(|cell| cards[block_of(cell)]).collect()
}

/// The expected cost of each cell, in tests of a pair: the pairs among its own atoms, half of those
/// shared with its neighbours, and the work for each atom.
fn expected_work(grid: &Grid, system: &System) -> Vec<f64> {
    let mut population = vec![0.0; grid.len()];
    for atom in &system.atoms {
        population[grid.cell_of(grid.wrap(atom.position))] += 1.0;
    }
    let mut work: Vec<f64> = population.iter().map(|n| 0.5 * n * n + PER_ATOM * n).collect();
    for cell in 0..grid.len() {
        for (other, _) in grid.forward_neighbours(cell) {
            let shared = population[cell] * population[other];
            work[cell] += 0.5 * shared;
            work[other] += 0.5 * shared;
        }
    }
    work
}

/// Gives `cells` to `nodes`: cuts them into two halves of equal work across their longest axis, and
/// each half again.
fn bisect(grid: &Grid, work: &[f64], mut cells: Vec<usize>, nodes: std::ops::Range<usize>, owners: &mut [usize]) {
    if nodes.len() == 1 {
        for cell in cells {
            owners[cell] = nodes.start;
        }
        return;
    }
    let axis = longest_axis(grid, work, &cells);
    // A cut between whole layers of cells would be too coarse: within the cut layer, the other axes
    // decide.
    cells.sort_by_key(|&cell| {
        let at = grid.coordinates(cell);
        [at[axis], at[(axis + 1) % 3], at[(axis + 2) % 3]]
    });
    let half = cells.iter().map(|&cell| work[cell]).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let cut = cells.iter().position(|&cell| {
        sum += work[cell];
        sum > half
    });
    let upper = cells.split_off(cut.unwrap_or(cells.len() / 2));
    let middle = nodes.start + nodes.len() / 2;
    bisect(grid, work, cells, nodes.start..middle, owners);
    bisect(grid, work, upper, middle..nodes.end, owners);
}

/// The axis along which the work of these cells has the largest spread.
fn longest_axis(grid: &Grid, work: &[f64], cells: &[usize]) -> usize {
    let total: f64 = cells.iter().map(|&cell| work[cell]).sum();
    let spread = |axis: usize| {
        let at = |cell| grid.coordinates(cell)[axis] as f64;
        let mean = cells.iter().map(|&cell| work[cell] * at(cell)).sum::<f64>() / total;
        cells.iter().map(|&cell| work[cell] * (at(cell) - mean).powi(2)).sum::<f64>()
    };
    (0..3).max_by(|&a, &b| spread(a).total_cmp(&spread(b))).unwrap_or(0)
}

/// Two cells with atoms that are tested against each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellPair {
    /// Slot of a cell of this node.
    pub(crate) own: usize,
    /// Slot of the other cell: of this node too, or among those that a neighbour sends.
    pub(crate) other: usize,
    /// The shift for the positions in the other cell.
    pub(crate) shift: Vec3,
}

/// The work of a node with one neighbour.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeighbourPlan {
    /// Slots of the own cells that the neighbour needs, in the order in which they are sent.
    pub(crate) exports: Vec<usize>,
    /// Pairs of an own cell and one sent by the neighbour that this node works on.
    pub(crate) pairs: Vec<CellPair>,
}

/// The work of a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodePlan {
    /// Its cells; a position here is a slot.
    pub(crate) cells: Vec<usize>,
    /// Pairs of its own cells (a cell with itself too).
    pub(crate) local: Vec<CellPair>,
    /// By working node; its own entry is empty.
    pub(crate) neighbours: Vec<NeighbourPlan>,
}

/// The work of all nodes. A pair of cells of two nodes is assigned to one of them, alternately;
/// that node sends the forces on the other's atoms back.
pub(crate) fn plan(grid: &Grid, owners: &[usize]) -> Vec<NodePlan> {
    let mut plans =
        vec![NodePlan { neighbours: vec![NeighbourPlan::default(); WORKERS], ..Default::default() }; WORKERS];
    let mut slots = vec![0; grid.len()];
    for (cell, &owner) in owners.iter().enumerate() {
        slots[cell] = plans[owner].cells.len();
        plans[owner].cells.push(cell);
    }
    // Slots of foreign cells at the nodes that import them.
    let mut imported = vec![vec![None; grid.len()]; WORKERS];
    for (cell, &owner) in owners.iter().enumerate() {
        let slot = slots[cell];
        plans[owner].local.push(CellPair { own: slot, other: slot, shift: Vec3::default() });
        for (there, shift) in grid.forward_neighbours(cell) {
            if owners[there] == owner {
                plans[owner].local.push(CellPair { own: slot, other: slots[there], shift });
                continue;
            }
            let here_works = grid.coordinates(cell).iter().sum::<usize>() % 2 == 0;
            let (own, remote, shift) = if here_works { (cell, there, shift) } else { (there, cell, -shift) };
            let (worker, peer) = (owners[own], owners[remote]);
            let exports = &mut plans[peer].neighbours[worker].exports;
            let other = *imported[worker][remote].get_or_insert_with(|| {
                exports.push(slots[remote]);
                exports.len() - 1
            });
            plans[worker].neighbours[peer].pairs.push(CellPair { own: slots[own], other, shift });
        }
    }
    plans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::physics::droplet_in_gas;

    /// Largest share of the expected work of one node, 0.25 at best.
    fn largest_share(placement: Placement, seed: u64) -> f64 {
        let system = droplet_in_gas(4000, 1);
        let grid = Grid::new(system.side, 2.5).unwrap();
        let owners = owners(placement, &grid, &system, seed);
        let mut loads = [0.0; WORKERS];
        for (work, owner) in expected_work(&grid, &system).iter().zip(owners) {
            loads[owner] += work;
        }
        loads.iter().copied().fold(0.0, f64::max) / loads.iter().sum::<f64>()
    }

    #[test]
    fn bisection_balances_better_than_random_placement() {
        assert!(largest_share(Placement::Balanced, 1) < 0.27);
        let mean = (0..20).map(|seed| largest_share(Placement::Random, seed)).sum::<f64>() / 20.0;
        assert!(mean > 0.33, "{mean}");
    }

    #[test]
    fn every_pair_of_cells_is_worked_on_by_one_node() {
        let system = droplet_in_gas(1000, 1);
        let grid = Grid::new(system.side, 2.5).unwrap();
        for placement in [Placement::Random, Placement::Balanced] {
            let plans = plan(&grid, &owners(placement, &grid, &system, 2));
            let neighbour_pairs = |plan: &NodePlan| plan.neighbours.iter().map(|n| n.pairs.len()).sum::<usize>();
            let pairs: usize = plans.iter().map(|plan| plan.local.len() + neighbour_pairs(plan)).sum();
            assert_eq!(pairs, grid.len() * 14);
            assert_eq!(plans.iter().map(|plan| plan.cells.len()).sum::<usize>(), grid.len());
        }
    }
}
