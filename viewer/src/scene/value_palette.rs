//! [`ValuePalette`]: small numbers for the values of one primitive, in order of the values.

use crate::query::ValueId;

/// The palette is a table of all values if at least one in this number of values is shown.
/// Otherwise, it is a sorted list.
const TABLE_PART: usize = 4;

/// The values that are shown. All ids outside of the trace share the last number.
#[derive(Debug)]
pub(crate) enum ValuePalette {
    /// Indexed by value: the place of each shown value.
    Table(Vec<Option<(ValueId, u16)>>),
    /// The values in order, and the number of values of the trace.
    Search(Vec<ValueId>, usize),
}

impl ValuePalette {
    /// Creates a palette of some values, which may repeat. The trace has `count` values.
    pub(crate) fn new(values_shown: impl ExactSizeIterator<Item = ValueId>, count: usize) -> Self {
        if values_shown.len().saturating_mul(TABLE_PART) < count {
            let mut values: Vec<ValueId> = values_shown.collect();
            let number = |value: &ValueId| value.index().min(count);
            values.sort_by_key(number);
            // As in the table, the last of the ids outside of the trace counts.
            values.reverse();
            values.dedup_by_key(|value| number(value));
            values.reverse();
            return Self::Search(values, count);
        }
        let mut table = vec![None; count + 1];
        values_shown.for_each(|value| table[value.index().min(count)] = Some((value, 0)));
        for (place, entry) in table.iter_mut().flatten().enumerate() {
            entry.1 = u16::try_from(place).unwrap_or(u16::MAX);
        }
        Self::Table(table)
    }

    /// The values in order of their places.
    pub(crate) fn values(&self) -> Vec<ValueId> {
        match self {
            Self::Table(table) => table.iter().flatten().map(|entry| entry.0).collect(),
            Self::Search(values, _) => values.clone(),
        }
    }

    /// The place of a value that is shown.
    pub(crate) fn place(&self, value: ValueId) -> u16 {
        match self {
            Self::Table(table) => table[value.index().min(table.len() - 1)].map_or(0, |entry| entry.1),
            Self::Search(values, count) => {
                let number = value.index().min(*count);
                let search_result = values.binary_search_by_key(&number, |value| value.index().min(*count));
                search_result.map_or(0, |place| u16::try_from(place).unwrap_or(u16::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_depend_on_the_number_of_values() {
        let values_shown = [ValueId(9), ValueId(2), ValueId(9), ValueId(u32::MAX), ValueId(0)];
        let expected = [ValueId(0), ValueId(2), ValueId(9), ValueId(u32::MAX)];
        for count in [10, 1000] {
            let palette = ValuePalette::new(values_shown.into_iter(), count);
            assert_eq!(palette.values(), expected, "of {count} values");
            assert_eq!(expected.map(|value| palette.place(value)), [0, 1, 2, 3], "of {count} values");
        }
    }
}
