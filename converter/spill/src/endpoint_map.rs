//! [`Waiting`]: halves that wait for their other halves, more of them than fit in memory.
//!
//! A program that lost the other ends of its links, or whose links last as long as it does, may leave any number waiting.

use std::io;
use std::marker::PhantomData;

pub use super::map::{Far, Overflow, spread};

/// What waits, as words.
pub trait Half<const N: usize>: Sized {
    /// Whether it is the first half, or the second one: the other half is of the other kind.
    fn starts(&self) -> bool;

    /// All of it.
    fn words(&self) -> [u64; N];

    /// Of its words.
    fn of(words: [u64; N]) -> Self;
}

/// Halves by key, those of one key in order of arrival. All that wait under one key are of one kind.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Waiting<T, const N: usize> {
    first: Far<N>,
    /// Those behind the first: by key, the number of the next one and the number behind the last,
    queued: Far<2>,
    /// and by key and number, themselves.
    behind: Far<N>,
    of: PhantomData<T>,
}

impl<T, const N: usize> Default for Waiting<T, N> {
    fn default() -> Self {
        Self::new(Overflow::default())
    }
}

/// What a half met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meeting<T> {
    /// The other half, which waits no more. `is_last`: nothing else waits under this key.
    Other {
        /// The other half.
        other: T,
        /// Whether nothing else waits under this key.
        is_last: bool,
    },
    /// It waits itself now.
    Nothing,
    /// It waits itself now, behind others of its kind.
    Alike,
    /// It does not wait either.
    Refused,
}

/// The key of one that is not the first under its key.
fn behind(key: u128, number: u64) -> u128 {
    spread(key.wrapping_add(u128::from(number)))
}

impl<T, const N: usize> Waiting<T, N> {
    /// None.
    #[must_use]
    pub fn new(overflow: Overflow) -> Self {
        let queued = Far::new(overflow.clone());
        Self { first: Far::new(overflow.clone()), queued, behind: Far::new(overflow), of: PhantomData }
    }

    /// From now on, those that have no room go there.
    pub fn overflow_to(&mut self, overflow: Overflow) {
        self.first.overflow_to(overflow.clone());
        self.queued.overflow_to(overflow.clone());
        self.behind.overflow_to(overflow);
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.first.len() + self.behind.len()
    }

    /// Whether none do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Half<N>, const N: usize> Waiting<T, N> {
    /// Gives back the other half, if it waits; if not, this one waits if it is to. The key must be such as [`spread`] makes.
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    #[inline]
    pub fn meet(&mut self, key: u128, starts: bool, wait: impl FnOnce() -> Option<T>) -> io::Result<Meeting<T>> {
        enum Met<T, W> {
            Alike(W),
            Done(Meeting<T>),
        }
        let met = self.first.change(key, |found| match found {
            None => match wait() {
                Some(half) => (Some(half.words()), Met::Done(Meeting::Nothing)),
                None => (None, Met::Done(Meeting::Refused)),
            },
            Some(words) => match T::of(words) {
                other if other.starts() == starts => (Some(words), Met::Alike(wait)),
                other => (None, Met::Done(Meeting::Other { other, is_last: true })),
            },
        })?;
        match met {
            Met::Alike(wait) => match wait() {
                Some(half) => self.queue(key, &half).map(|()| Meeting::Alike),
                None => Ok(Meeting::Refused),
            },
            Met::Done(Meeting::Other { other, .. }) if !self.queued.is_empty() => {
                Ok(Meeting::Other { other, is_last: !self.advance(key)? })
            }
            Met::Done(meeting) => Ok(meeting),
        }
    }

    #[cold]
    fn queue(&mut self, key: u128, half: &T) -> io::Result<()> {
        let number = self.queued.change(key, |queue| {
            let [next, end] = queue.unwrap_or([0, 0]);
            (Some([next, end + 1]), end)
        })?;
        self.behind.change(behind(key, number), |_| (Some(half.words()), ()))
    }

    /// The next one under this key is the first; `false` when there is none.
    fn advance(&mut self, key: u128) -> io::Result<bool> {
        let next = self.queued.change(key, |queue| match queue {
            Some([next, end]) => ((next + 1 < end).then_some([next + 1, end]), Some(next)),
            None => (None, None),
        })?;
        let Some(number) = next else { return Ok(false) };
        let words = self.behind.change(behind(key, number), |words| (None, words))?;
        self.first.change(key, |_| (words, ()))?;
        Ok(true)
    }

    /// Gives all that wait, in an order that depends on their keys alone.
    ///
    /// # Errors
    /// As [`Self::meet`]; and those of `give`.
    pub fn each(&self, mut give: impl FnMut(T) -> io::Result<()>) -> io::Result<()> {
        self.first.each(|_, words| give(T::of(words)))?;
        self.behind.each(|_, words| give(T::of(words)))
    }

    /// None wait any more.
    pub fn clear(&mut self) {
        self.first.clear();
        self.queued.clear();
        self.behind.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Numbered(bool, u64);

    impl Half<1> for Numbered {
        fn starts(&self) -> bool {
            self.0
        }

        fn words(&self) -> [u64; 1] {
            [self.1 << 1 | u64::from(self.0)]
        }

        fn of([word]: [u64; 1]) -> Self {
            Self(word & 1 == 1, word >> 1)
        }
    }

    proptest! {
        #[test]
        fn first_come_first_served(steps in prop::collection::vec((0_u128..6, any::<bool>(), 0..9), 0..300), most in 1_usize..9) {
            let mut waiting = Waiting::<Numbered, 1>::new(Overflow { most, ..Overflow::default() });
            let mut model: BTreeMap<u128, VecDeque<Numbered>> = BTreeMap::new();
            for (number, (key, starts, willing)) in (0..).zip(steps) {
                let half = (willing > 0).then_some(Numbered(starts, number));
                let queue = model.entry(key).or_default();
                let expected = match (queue.front(), half) {
                    (Some(first), _) if first.0 != starts => {
                        let other = *first;
                        queue.pop_front();
                        Meeting::Other { other, is_last: queue.is_empty() }
                    }
                    (_, None) => Meeting::Refused,
                    (first, Some(half)) => {
                        let meeting = if first.is_some() { Meeting::Alike } else { Meeting::Nothing };
                        queue.push_back(half);
                        meeting
                    }
                };
                prop_assert_eq!(waiting.meet(spread(key), starts, || half).unwrap(), expected);
                prop_assert_eq!(waiting.len(), model.values().map(|queue| queue.len() as u64).sum::<u64>());
            }
            let mut left = Vec::new();
            waiting.each(|half| { left.push(half.1); Ok(()) }).unwrap();
            left.sort_unstable();
            let mut expected: Vec<u64> = model.into_values().flatten().map(|half| half.1).collect();
            expected.sort_unstable();
            prop_assert_eq!(left, expected);
        }
    }
}
