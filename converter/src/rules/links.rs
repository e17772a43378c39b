//! Pairing the ends of links by their keys, first come, first served; memory is that of the links in flight.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::compile::End;
use super::value::KeyPart;

/// What pairs a start with an end: link type, keys of the holder, keys of the link.
pub(crate) type LinkKey = (u32, SmallVec<[KeyPart; 4]>);

/// Ends that wait for their other end. All that wait under one key are the same end.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<T> {
    open: FxHashMap<LinkKey, SmallVec<[(End, T); 1]>>,
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Self { open: FxHashMap::default() }
    }
}

impl<T> Waiting<T> {
    /// The other end, if it waits.
    pub(crate) fn take(&mut self, key: &LinkKey, end: End) -> Option<T> {
        let waiting = self.open.get_mut(key)?;
        if waiting.first().is_none_or(|(side, _)| *side == end) {
            return None;
        }
        let (_, found) = waiting.remove(0);
        if waiting.is_empty() {
            self.open.remove(key);
        }
        Some(found)
    }

    /// This end has to wait.
    pub(crate) fn wait(&mut self, key: LinkKey, end: End, what: T) {
        self.open.entry(key).or_default().push((end, what));
    }

    /// All that still wait, in no certain order.
    pub(crate) fn into_rest(self) -> impl Iterator<Item = (End, T)> {
        self.open.into_values().flatten()
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
