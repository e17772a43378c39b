//! K-way merge by date: of equal dates, the one from the earlier stream comes first, and each stream keeps its order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is read in order of date.
pub(crate) trait Dated {
    /// Why it could not be read.
    type Error;

    /// Date of the current item; `None` at the end.
    fn date(&self) -> Option<i64>;

    /// Goes on to the next item, whose date is not before the current one's.
    fn advance(&mut self) -> Result<(), Self::Error>;
}

/// Visits the items of all sources in order of date. O(log sources) per change of source, O(1) within a source.
pub(crate) fn merge<S: Dated, E: From<S::Error>>(
    sources: &mut [S],
    mut visit: impl FnMut(usize, &S) -> Result<(), E>,
) -> Result<(), E> {
    let mut heap: BinaryHeap<Reverse<(i64, usize)>> =
        sources.iter().enumerate().filter_map(|(number, source)| Some(Reverse((source.date()?, number)))).collect();
    while let Some(Reverse((_, number))) = heap.pop() {
        let source = &mut sources[number];
        // Most often the next item is from the same source: it goes on until another one is earlier.
        let other = heap.peek().map(|Reverse(key)| *key);
        loop {
            visit(number, source)?;
            source.advance()?;
            let Some(date) = source.date() else { break };
            if other.is_some_and(|other| other < (date, number)) {
                heap.push(Reverse((date, number)));
                break;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    struct Slice {
        dates: Vec<i64>,
        at: usize,
    }

    impl Dated for Slice {
        type Error = Infallible;

        fn date(&self) -> Option<i64> {
            self.dates.get(self.at).copied()
        }

        fn advance(&mut self) -> Result<(), Infallible> {
            self.at += 1;
            Ok(())
        }
    }

    proptest! {
        #[test]
        fn sorts_and_loses_nothing(mut dates in prop::collection::vec(prop::collection::vec(-5i64..50, 0..40), 0..12)) {
            dates.iter_mut().for_each(|stream| stream.sort_unstable());
            let mut sources: Vec<Slice> = dates.iter().map(|dates| Slice { dates: dates.clone(), at: 0 }).collect();
            let mut merged = Vec::new();
            merge::<_, Infallible>(&mut sources, |number, source| {
                merged.push((source.dates[source.at], number, source.at));
                Ok(())
            }).unwrap();
            let mut expected: Vec<_> = dates.iter().enumerate()
                .flat_map(|(number, stream)| stream.iter().enumerate().map(move |(at, date)| (*date, number, at)))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(merged, expected);
        }
    }
}
