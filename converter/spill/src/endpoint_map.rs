//! [`EndpointMap`]: link endpoints that wait for their partner endpoints. Their number may exceed
//! memory.
//!
//! Any number of endpoints may wait, if the other endpoints of the links of a program are missing,
//! or if its links last as long as the program.
//!
//! ```
//! use tumit_spill::endpoint_map::{Endpoint, EndpointMap, EndpointMatch, OverflowStore, spread};
//!
//! /// A send or receive event, and its timestamp.
//! struct MessageEnd {
//!     is_send: bool,
//!     time: u64,
//! }
//!
//! impl Endpoint<2> for MessageEnd {
//!     fn starts(&self) -> bool {
//!         self.is_send
//!     }
//!     fn words(&self) -> [u64; 2] {
//!         [u64::from(self.is_send), self.time]
//!     }
//!     fn of([is_send, time]: [u64; 2]) -> Self {
//!         Self { is_send: is_send == 1, time }
//!     }
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let mut waiting = EndpointMap::new(OverflowStore::default());
//! let key = spread(7);
//! waiting.match_or_insert(key, true, || Some(MessageEnd { is_send: true, time: 100 }))?;
//! let endpoint =
//!     waiting.match_or_insert(key, false, || Some(MessageEnd { is_send: false, time: 150 }))?;
//! let EndpointMatch::Other { partner, is_last: true } = endpoint else { panic!("no partner") };
//! assert_eq!(partner.time, 100);
//! assert!(waiting.is_empty());
//! # Ok(())
//! # }
//! ```

use std::io;
use std::marker::PhantomData;

pub use super::map::{OverflowStore, SpillMap, spread};

/// A waiting endpoint, convertible to words.
pub trait Endpoint<const N: usize>: Sized {
    /// Whether it is the start or the end of a link. Its partner is of the other kind.
    fn starts(&self) -> bool;

    /// The words that encode the endpoint in a file.
    fn words(&self) -> [u64; N];

    /// The endpoint that these words encode.
    fn of(words: [u64; N]) -> Self;
}

/// Waiting endpoints by key. Those of one key are of one kind and in order of arrival.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct EndpointMap<T, const N: usize> {
    first: SpillMap<N>,
    /// The queue after the first endpoint of a key: number of the next endpoint, and number after
    /// the last one.
    queues: SpillMap<2>,
    /// The endpoints of the queue, by key and number.
    queued_endpoints: SpillMap<N>,
    endpoint_type: PhantomData<T>,
}

impl<T, const N: usize> Default for EndpointMap<T, N> {
    fn default() -> Self {
        Self::new(OverflowStore::default())
    }
}

/// The result of the arrival of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndpointMatch<T> {
    /// The partner endpoint was waiting. It is removed.
    Other {
        /// The partner endpoint.
        partner: T,
        /// Whether no other endpoint waits under this key.
        is_last: bool,
    },
    /// No endpoint waits under this key. The new one waits now.
    Nothing,
    /// Endpoints of the same kind wait under this key. The new one waits now after them.
    Alike,
    /// No partner endpoint waits. The new one does not wait either.
    Refused,
}

/// The key of an endpoint that is not the first under its key.
fn later_key(key: u128, number: u64) -> u128 {
    spread(key.wrapping_add(u128::from(number)))
}

impl<T, const N: usize> EndpointMap<T, N> {
    /// An empty map.
    #[must_use]
    pub fn new(overflow: OverflowStore) -> Self {
        let queues = SpillMap::new(overflow.clone());
        Self {
            first: SpillMap::new(overflow.clone()),
            queues,
            queued_endpoints: SpillMap::new(overflow),
            endpoint_type: PhantomData,
        }
    }

    /// Changes the destination of endpoints that exceed memory.
    pub fn overflow_to(&mut self, overflow: OverflowStore) {
        self.first.overflow_to(overflow.clone());
        self.queues.overflow_to(overflow.clone());
        self.queued_endpoints.overflow_to(overflow);
    }

    /// Number of waiting endpoints.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.first.len() + self.queued_endpoints.len()
    }

    /// Whether no endpoint waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Endpoint<N>, const N: usize> EndpointMap<T, N> {
    /// Removes and returns the partner endpoint, if it waits. If not, the new endpoint waits, if
    /// `wait` returns it. The key has to be a result of [`spread`].
    ///
    /// # Errors
    /// When a temporary file cannot be written or read.
    #[inline]
    pub fn match_or_insert(
        &mut self,
        key: u128,
        starts: bool,
        wait: impl FnOnce() -> Option<T>,
    ) -> io::Result<EndpointMatch<T>> {
        enum InsertOutcome<T, W> {
            Alike(W),
            Done(EndpointMatch<T>),
        }
        let pairing = self.first.change(key, |value| match value {
            None => match wait() {
                Some(half) => (Some(half.words()), InsertOutcome::Done(EndpointMatch::Nothing)),
                None => (None, InsertOutcome::Done(EndpointMatch::Refused)),
            },
            Some(words) => match T::of(words) {
                other if other.starts() == starts => (Some(words), InsertOutcome::Alike(wait)),
                partner => (None, InsertOutcome::Done(EndpointMatch::Other { partner, is_last: true })),
            },
        })?;
        match pairing {
            InsertOutcome::Alike(wait) => match wait() {
                Some(half) => self.queue(key, &half).map(|()| EndpointMatch::Alike),
                None => Ok(EndpointMatch::Refused),
            },
            InsertOutcome::Done(EndpointMatch::Other { partner: other, .. }) if !self.queues.is_empty() => {
                Ok(EndpointMatch::Other { partner: other, is_last: !self.advance(key)? })
            }
            InsertOutcome::Done(meeting) => Ok(meeting),
        }
    }

    #[cold]
    fn queue(&mut self, key: u128, endpoint: &T) -> io::Result<()> {
        let number = self.queues.change(key, |queue| {
            let [next, end] = queue.unwrap_or([0, 0]);
            (Some([next, end + 1]), end)
        })?;
        self.queued_endpoints.change(later_key(key, number), |_| (Some(endpoint.words()), ()))
    }

    /// Makes the next endpoint under this key the first. `false` when there is none.
    fn advance(&mut self, key: u128) -> io::Result<bool> {
        let next = self.queues.change(key, |queue| match queue {
            Some([next, end]) => ((next + 1 < end).then_some([next + 1, end]), Some(next)),
            None => (None, None),
        })?;
        let Some(number) = next else { return Ok(false) };
        let words = self.queued_endpoints.change(later_key(key, number), |words| (None, words))?;
        self.first.change(key, |_| (words, ()))?;
        Ok(true)
    }

    /// Gives all waiting endpoints, in an order that depends on their keys only.
    ///
    /// # Errors
    /// As [`Self::match_or_insert`], and those of `visit`.
    pub fn for_each(&self, mut visit: impl FnMut(T) -> io::Result<()>) -> io::Result<()> {
        self.first.for_each(|_, words| visit(T::of(words)))?;
        self.queued_endpoints.for_each(|_, words| visit(T::of(words)))
    }

    /// Removes all endpoints.
    pub fn clear(&mut self) {
        self.first.clear();
        self.queues.clear();
        self.queued_endpoints.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, VecDeque};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct TestEndpoint(bool, u64);

    impl Endpoint<1> for TestEndpoint {
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
        fn endpoints_are_paired_in_order(steps in prop::collection::vec((0_u128..6, any::<bool>(), 0..9), 0..300), max_entries in 1_usize..9) {
            let mut waiting = EndpointMap::<TestEndpoint, 1>::new(OverflowStore { max_entries, ..OverflowStore::default() });
            let mut model: BTreeMap<u128, VecDeque<TestEndpoint>> = BTreeMap::new();
            for (number, (key, starts, willing)) in (0..).zip(steps) {
                let half = (willing > 0).then_some(TestEndpoint(starts, number));
                let queue = model.entry(key).or_default();
                let expected = match (queue.front(), half) {
                    (Some(first), _) if first.0 != starts => {
                        let partner = *first;
                        queue.pop_front();
                        EndpointMatch::Other { partner, is_last: queue.is_empty() }
                    }
                    (_, None) => EndpointMatch::Refused,
                    (first, Some(half)) => {
                        let meeting = if first.is_some() { EndpointMatch::Alike } else { EndpointMatch::Nothing };
                        queue.push_back(half);
                        meeting
                    }
                };
                prop_assert_eq!(waiting.match_or_insert(spread(key), starts, || half).unwrap(), expected);
                prop_assert_eq!(waiting.len(), model.values().map(|queue| queue.len() as u64).sum::<u64>());
            }
            let mut left = Vec::new();
            waiting.for_each(|half| { left.push(half.1); Ok(()) }).unwrap();
            left.sort_unstable();
            let mut expected: Vec<u64> = model.into_values().flatten().map(|half| half.1).collect();
            expected.sort_unstable();
            prop_assert_eq!(left, expected);
        }
    }
}
