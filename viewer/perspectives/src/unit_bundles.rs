//! [`UnitBundles`]: adjacent units that a view shows together, because it has no place for each.

use crate::error::PerspectiveError;
use crate::execution::Execution;
use crate::view::ViewRequest;

/// Adjacent units of an order, in bundles of equal size.
#[derive(Debug)]
pub(crate) struct UnitBundles {
    order: Vec<usize>,
    size: usize,
}

/// Adjacent units that a view shows together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnitBundle<'a> {
    /// The name of the unit, or of the first and last one.
    pub(crate) label: String,
    /// The index of the unit, if the bundle has one.
    pub(crate) unit: Option<u32>,
    /// The indexes of the units.
    pub(crate) members: &'a [usize],
}

impl UnitBundles {
    /// Forms at most `most` bundles of the units in the order of a request. Measures are those of
    /// the whole time range, so that the order does not depend on the present time.
    ///
    /// # Errors
    /// If the trace lacks the data of the order.
    pub(crate) fn new(execution: &Execution, request: &ViewRequest, most: usize) -> Result<Self, PerspectiveError> {
        let order = execution.order(&request.options.order, request.range)?;
        let size = order.len().div_ceil(most.max(1)).max(1);
        Ok(Self { order, size })
    }

    /// The number of units in each bundle but the last one.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The indexes of all units in order.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The bundles in order.
    pub(crate) fn iter<'a>(&'a self, execution: &'a Execution) -> impl Iterator<Item = UnitBundle<'a>> {
        let name = |unit: &usize| execution.units().list().get(*unit).map_or("", |unit| unit.name.as_str());
        self.order.chunks(self.size).map(move |members| {
            let (first, last) = (members.first().map_or("", name), members.last().map_or("", name));
            let (label, unit) = match members {
                [unit] => (first.to_owned(), u32::try_from(*unit).ok()),
                _ => (format!("{first} … {last}"), None),
            };
            UnitBundle { label, unit, members }
        })
    }

    /// A note about bundles of several units. `meaning` is a sentence without its end, such as `Each
    /// bar is the mean`.
    pub(crate) fn note(&self, meaning: &str) -> Option<String> {
        (self.size > 1).then(|| format!("{meaning} of {} adjacent units.", self.size))
    }
}
