//! [`UnitLists`]: the units that the marks of a chart stand for.

use std::sync::Arc;

/// A list of units per mark, stored one after another. A mark of several units is one bundle of
/// adjacent units. Copies share their memory, because a chart is made anew at each time.
///
/// ```
/// use tumit_perspectives::unit_lists::UnitLists;
///
/// let lists: UnitLists = [vec![3], vec![0, 1]].into_iter().collect();
/// assert_eq!((lists.get(1), lists.get(2)), (&[0, 1][..], &[][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitLists {
    units: Arc<Vec<u32>>,
    /// The end of each list.
    ends: Arc<Vec<usize>>,
}

impl UnitLists {
    /// The units of a mark. Empty if the mark does not exist.
    #[must_use]
    pub fn get(&self, mark: usize) -> &[u32] {
        let start = mark.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied());
        match (start, self.ends.get(mark)) {
            (Some(start), Some(end)) => &self.units[start..*end],
            _ => &[],
        }
    }

    /// The number of lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no lists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The lists in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len()).map(|mark| self.get(mark))
    }

    /// Adds a list.
    pub fn push(&mut self, units: impl IntoIterator<Item = u32>) {
        Arc::make_mut(&mut self.units).extend(units);
        Arc::make_mut(&mut self.ends).push(self.units.len());
    }
}

impl<L: IntoIterator<Item = u32>> FromIterator<L> for UnitLists {
    fn from_iter<I: IntoIterator<Item = L>>(lists: I) -> Self {
        let mut all = Self::default();
        lists.into_iter().for_each(|list| all.push(list));
        all
    }
}
