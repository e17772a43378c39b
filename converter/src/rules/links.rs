//! Pairing the ends of links by their keys, first come, first served; memory is that of the links in flight.

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use super::compile::End;
use super::value::KeyPart;

/// What pairs a start with an end: link type, keys of the holder, keys of the link.
pub(crate) type LinkKey = (u32, SmallVec<[KeyPart; 4]>);

/// Ends that wait for their other end. All that wait under one key are the same end.
///
/// A program that lost the other ends may leave millions: the map keeps its entries in one dense list.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    open: IndexMap<LinkKey, (End, SmallVec<[T; 1]>), FxBuildHasher>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { open: IndexMap::default() }
    }
}

impl<T> Waiting<T> {
    /// The other end, if it waits.
    pub(crate) fn take(&mut self, key: &LinkKey, end: End) -> Option<T> {
        let (side, waiting) = self.open.get_mut(key)?;
        if *side == end || waiting.is_empty() {
            return None;
        }
        let found = waiting.remove(0);
        if waiting.is_empty() {
            self.open.swap_remove(key);
        }
        Some(found)
    }

    /// This end has to wait.
    pub(crate) fn wait(&mut self, key: LinkKey, end: End, what: T) {
        self.open.entry(key).or_insert_with(|| (end, SmallVec::new())).1.push(what);
    }

    /// All that still wait, in an order that depends on the calls alone.
    pub(crate) fn into_rest(self) -> impl Iterator<Item = (End, T)> {
        self.open.into_values().flat_map(|(end, waiting)| waiting.into_iter().map(move |what| (end, what)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_come_first_served_in_either_order() {
        let key = |n| (0, SmallVec::from_slice(&[KeyPart::Int(n)]));
        let mut waiting = Waiting::default();
        assert_eq!(waiting.take(&key(1), End::Start), None);
        waiting.wait(key(1), End::Start, 'a');
        assert_eq!(waiting.take(&key(1), End::Start), None);
        waiting.wait(key(1), End::Start, 'b');
        assert_eq!(waiting.take(&key(2), End::Finish), None);
        waiting.wait(key(2), End::Finish, 'z');
        assert_eq!(waiting.take(&key(1), End::Finish), Some('a'));
        assert_eq!(waiting.take(&key(1), End::Finish), Some('b'));
        assert_eq!(waiting.take(&key(2), End::Start), Some('z'));
        assert_eq!(waiting.into_rest().count(), 0);
    }
}
