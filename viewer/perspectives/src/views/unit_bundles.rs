//! [`UnitBundles`]: adjacent units that share a bar, a row or a node, because a view has no place
//! for each.

use std::sync::Arc;

use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::network::topology::GridShape;
use crate::span_label::span_label;
use crate::unit_lists::UnitLists;
use crate::view::ViewRequest;
use crate::views::captions::unit_type;

/// Adjacent units that a view shows together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitBundle<'a> {
    /// The name of the unit, or of the first and last one.
    pub(crate) label: String,
    /// The index of the unit, if the bundle has only one.
    pub(crate) unit: Option<u32>,
    pub(crate) members: &'a [usize],
}

/// Units in bundles of adjacent ones.
#[derive(Clone, Debug)]
pub(crate) struct UnitBundles {
    /// The units, bundle by bundle.
    order: Vec<usize>,
    bundles: Vec<u32>,
    /// The position of the first unit of each bundle, and the number of units.
    starts: Vec<usize>,
    /// The units of all bundles.
    lists: UnitLists,
}

impl UnitBundles {
    /// Bundles the units in the requested order into at most `max_bundles` bundles of equal size.
    /// The last bundle may be smaller. The bundles do not depend on the time cursor, so they are
    /// made once.
    pub(crate) fn new(
        execution: &Execution,
        request: &ViewRequest,
        max_bundles: usize,
    ) -> Result<Arc<Self>, PerspectiveError> {
        let order = &request.options.order;
        execution.derived(&format!("{order:?} {:?} {max_bundles}", request.range), || {
            let order = execution.order(order, request.range)?;
            let size = order.len().div_ceil(max_bundles.max(1)).max(1);
            Ok(Self::of_size(order, size))
        })
    }

    /// Bundles the units in natural order into at most `max_bundles` bundles. Their size is a power
    /// of two, so that the bundles of a hypercube are a hypercube.
    pub(crate) fn power_of_two(count: usize, max_bundles: usize) -> Self {
        Self::of_size((0..count).collect(), count.div_ceil(max_bundles.max(1)).next_power_of_two())
    }

    /// Bundles the places of a grid into at most `max_bundles` squares, row by row.
    pub(crate) fn tiles(count: usize, shape: GridShape, max_bundles: usize) -> Self {
        let GridShape { rows, columns } = shape;
        let tiles = |edge: usize| rows.div_ceil(edge) * columns.div_ceil(edge);
        let edge = (1..).find(|edge| tiles(*edge) <= max_bundles.max(1)).unwrap_or(1);
        let tile = |unit: &usize| (unit / columns / edge, unit % columns / edge);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(tile);
        let lengths = order.chunk_by(|a, b| tile(a) == tile(b)).map(<[usize]>::len).collect();
        Self::of_lengths(order, lengths)
    }

    fn of_size(order: Vec<usize>, size: usize) -> Self {
        let lengths = order.chunks(size).map(<[usize]>::len).collect();
        Self::of_lengths(order, lengths)
    }

    fn of_lengths(order: Vec<usize>, lengths: Vec<usize>) -> Self {
        let (mut bundles, mut starts) = (vec![0; order.len()], vec![0]);
        for (bundle, length) in (0..).zip(lengths) {
            let start = starts[starts.len() - 1];
            order[start..start + length].iter().for_each(|unit| bundles[*unit] = bundle);
            starts.push(start + length);
        }
        let unit = |unit: &usize| u32::try_from(*unit).unwrap_or(u32::MAX);
        let lists = starts.windows(2).map(|pair| order[pair[0]..pair[1]].iter().map(unit)).collect();
        Self { order, bundles, starts, lists }
    }

    /// The same bundles with other units: the unit at each place becomes that of `order` at this
    /// place.
    pub(crate) fn with_units(&self, order: &[usize]) -> Self {
        let units = self.order.iter().map(|place| order[*place]).collect();
        Self::of_lengths(units, self.starts.windows(2).map(|pair| pair[1] - pair[0]).collect())
    }

    pub(crate) fn iter<'a>(&'a self, execution: &'a Execution) -> impl Iterator<Item = UnitBundle<'a>> {
        (0..self.count()).map(|bundle| UnitBundle {
            label: self.label(execution, bundle),
            unit: self.only_unit(bundle),
            members: self.units(bundle),
        })
    }

    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of units of the largest bundle, at least 1.
    pub(crate) fn size(&self) -> usize {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(1)
    }

    pub(crate) fn bundle(&self, unit: u32) -> u32 {
        self.bundles[unit as usize]
    }

    pub(crate) fn units(&self, bundle: usize) -> &[usize] {
        &self.order[self.starts[bundle]..self.starts[bundle + 1]]
    }

    pub(crate) fn first_unit(&self, bundle: usize) -> u32 {
        u32::try_from(self.order[self.starts[bundle]]).unwrap_or(u32::MAX)
    }

    /// The unit of a bundle, if it has only one.
    pub(crate) fn only_unit(&self, bundle: usize) -> Option<u32> {
        (self.units(bundle).len() == 1).then(|| self.first_unit(bundle))
    }

    /// The name of the unit of a bundle, or of its first and last one.
    pub(crate) fn label(&self, execution: &Execution, bundle: usize) -> String {
        let name = |unit: &usize| execution.units().list()[*unit].name.as_str();
        match self.units(bundle) {
            [] => String::new(),
            [unit] => name(unit).to_owned(),
            [first, .., last] => span_label(name(first), name(last)),
        }
    }

    pub(crate) fn lists(&self) -> UnitLists {
        self.lists.clone()
    }

    /// The names of all bundles.
    pub(crate) fn labels(&self, execution: &Execution) -> Vec<String> {
        (0..self.count()).map(|bundle| self.label(execution, bundle)).collect()
    }

    /// A note about bundles of several units. `prefix` is a sentence without its end, such as
    /// `Each bar is the mean of`.
    pub(crate) fn note(&self, execution: &Execution, prefix: &str) -> Option<String> {
        let level = unit_type(execution);
        (self.size() > 1).then(|| format!("{prefix} {} adjacent containers of the type {level}.", self.size()))
    }
}
