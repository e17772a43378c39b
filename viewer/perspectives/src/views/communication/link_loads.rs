//! [`LinkLoads`]: the messages that pass each physical link of a network.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::network::topology::Topology;
use crate::views::measured_messages::{MessageSum, SumsByPair};
use crate::views::unit_bundles::UnitBundles;

/// The messages on the physical links of a network, in each direction.
#[derive(Debug, Default)]
pub(crate) struct LinkLoads {
    /// The sums by the node at the start of a link and the node at its end.
    pub(crate) by_link: SumsByPair,
    unsorted: FxHashMap<(u32, u32), MessageSum>,
    /// The number of messages times the links that each of them passes.
    pub(crate) hops: u64,
    /// The number of messages.
    pub(crate) messages: u64,
}

impl LinkLoads {
    /// Routes messages between units. Units are grouped into nodes; links within a node are left
    /// out.
    ///
    /// A route in a line or ring of many units is long. There it visits the bundles instead of the
    /// units.
    pub(crate) fn new(topology: Topology, units: usize, bundles: &UnitBundles, sums: &SumsByPair) -> Self {
        let mut loads = Self::default();
        for ((from, to), sum) in sums {
            let (from, to) = (*from as usize, *to as usize);
            loads.messages += sum.count;
            loads.hops += sum.count * u64::from(topology.distance(units, from, to));
            match topology {
                Topology::Mesh1 | Topology::Torus1 => loads.add_along_line(topology, units, bundles, (from, to), *sum),
                _ => {
                    let route = topology.route(units, from, to);
                    let nodes: Vec<u32> = route.into_iter().map(|unit| node(bundles, unit)).collect();
                    nodes.windows(2).for_each(|link| loads.add(link[0], link[1], *sum));
                }
            }
        }
        loads.by_link = std::mem::take(&mut loads.unsorted).into_iter().collect();
        loads
    }

    /// The bundles of a line or ring are a line or ring themselves.
    fn add_along_line(
        &mut self,
        topology: Topology,
        units: usize,
        bundles: &UnitBundles,
        (from, to): (usize, usize),
        sum: MessageSum,
    ) {
        let forward = (to + units - from) % units;
        let ascends = if topology == Topology::Torus1 { 2 * forward <= units } else { from <= to };
        let (mut current, last) = (node(bundles, from) as usize, node(bundles, to) as usize);
        // The route may leave a bundle and come back to it around the ring.
        let mut remains = current != last || (from <= to) != ascends;
        while remains {
            let count = bundles.count();
            let next = if ascends { (current + 1) % count } else { (current + count - 1) % count };
            self.add(number(current), number(next), sum);
            current = next;
            remains = current != last;
        }
    }

    fn add(&mut self, first: u32, second: u32, sum: MessageSum) {
        if first != second {
            self.unsorted.entry((first, second)).or_default().combine(sum);
        }
    }
}

fn node(bundles: &UnitBundles, unit: usize) -> u32 {
    bundles.bundle(number(unit))
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// All links between nodes, including those without messages, by their nodes, the smaller one
/// first.
pub(crate) fn physical_links(topology: Topology, units: usize, bundles: &UnitBundles) -> Vec<(u32, u32)> {
    let mut links: FxHashSet<(u32, u32)> = FxHashSet::default();
    for unit in 0..units {
        for neighbour in topology.later_neighbours(units, unit) {
            let (first, second) = (node(bundles, unit), node(bundles, neighbour));
            if first != second {
                links.insert((first.min(second), first.max(second)));
            }
        }
    }
    let mut links: Vec<(u32, u32)> = links.into_iter().collect();
    links.sort_unstable();
    links
}
