//! [`UnitGroups`]: adjacent units that share a bar, a row or a node.

use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::topology::GridShape;
use crate::view::ViewRequest;

/// Adjacent units, in groups.
#[derive(Clone, Debug)]
pub(crate) struct UnitGroups {
    /// The units, group by group.
    order: Vec<usize>,
    /// The group of each unit.
    groups: Vec<u32>,
    /// The position of the first unit of each group, and the number of units.
    starts: Vec<usize>,
}

impl UnitGroups {
    /// Groups the units in the requested order into at most `most` groups of equal size. The last
    /// group may be smaller.
    pub(crate) fn new(execution: &Execution, request: &ViewRequest, most: usize) -> Result<Self, PerspectiveError> {
        let order = execution.order(&request.options.order, request.range)?;
        let size = order.len().div_ceil(most.max(1)).max(1);
        Ok(Self::of_size(order, size))
    }

    /// Groups the units in natural order into at most `most` groups. Their size is a power of two,
    /// so that the groups of a hypercube are a hypercube.
    pub(crate) fn power_of_two(count: usize, most: usize) -> Self {
        Self::of_size((0..count).collect(), count.div_ceil(most.max(1)).next_power_of_two())
    }

    /// Groups the places of a grid into at most `most` squares, row by row.
    pub(crate) fn tiles(count: usize, shape: GridShape, most: usize) -> Self {
        let GridShape { rows, columns } = shape;
        let tiles = |edge: usize| rows.div_ceil(edge) * columns.div_ceil(edge);
        let edge = (1..).find(|edge| tiles(*edge) <= most.max(1)).unwrap_or(1);
        let tile = |unit: &usize| (unit / columns / edge, unit % columns / edge);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(tile);
        let lengths = order.chunk_by(|one, next| tile(one) == tile(next)).map(<[usize]>::len).collect();
        Self::of_lengths(order, lengths)
    }

    fn of_size(order: Vec<usize>, size: usize) -> Self {
        let lengths = order.chunks(size).map(<[usize]>::len).collect();
        Self::of_lengths(order, lengths)
    }

    fn of_lengths(order: Vec<usize>, lengths: Vec<usize>) -> Self {
        let (mut groups, mut starts) = (vec![0; order.len()], vec![0]);
        for (group, length) in (0..).zip(lengths) {
            let start = starts[starts.len() - 1];
            order[start..start + length].iter().for_each(|unit| groups[*unit] = group);
            starts.push(start + length);
        }
        Self { order, groups, starts }
    }

    /// The number of groups.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of units of the largest group, at least 1.
    pub(crate) fn size(&self) -> usize {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(1)
    }

    /// The group of a unit.
    pub(crate) fn group(&self, unit: u32) -> u32 {
        self.groups[unit as usize]
    }

    /// The units of a group.
    pub(crate) fn units(&self, group: usize) -> &[usize] {
        &self.order[self.starts[group]..self.starts[group + 1]]
    }

    /// The first unit of a group.
    pub(crate) fn first(&self, group: usize) -> u32 {
        u32::try_from(self.order[self.starts[group]]).unwrap_or(u32::MAX)
    }

    /// The unit of a group, if it has only one.
    pub(crate) fn single(&self, group: usize) -> Option<u32> {
        (self.units(group).len() == 1).then(|| self.first(group))
    }

    /// The name of the unit of a group, or of its first and last one.
    pub(crate) fn label(&self, execution: &Execution, group: usize) -> String {
        let name = |unit: &usize| execution.units().list()[*unit].name.as_str();
        match self.units(group) {
            [] => String::new(),
            [unit] => name(unit).to_owned(),
            [first, .., last] => format!("{} … {}", name(first), name(last)),
        }
    }

    /// The names of all groups.
    pub(crate) fn labels(&self, execution: &Execution) -> Vec<String> {
        (0..self.count()).map(|group| self.label(execution, group)).collect()
    }

    /// A note about the size of the groups, if they have several units: `each row stands for`.
    pub(crate) fn note(&self, execution: &Execution, beginning: &str) -> Option<String> {
        let level = &execution.model().types[execution.units().ty.index()].name;
        (self.size() > 1).then(|| format!("{beginning} {} adjacent containers of the type {level}.", self.size()))
    }
}
