//! Pairing the ends of links by their keys, first come, first served; memory is that of the links in flight.

use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use indexmap::map::Entry;
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};

use super::compile::End;
use super::value::KeyPart;
use crate::paje::TypeId;

/// What pairs a start with an end: link type, keys of the holder, keys of the link.
///
/// Each key is a word; which kind of key it is, is told apart from them, so that what is compared and hashed is short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkKey {
    /// The link type and the kinds of the first keys.
    head: u64,
    words: SmallVec<[u64; 4]>,
}

/// Bits that tell the kind of a key.
const KIND_BITS: u32 = 3;
/// So many keys have their kinds in the head, the kinds of others stand before them.
const KINDS: u32 = 32 / KIND_BITS;

impl LinkKey {
    /// So many keys are a word each.
    pub(crate) const SHORT: usize = KINDS as usize;

    /// Of a link type and keys.
    pub(crate) fn new(link: usize, keys: impl Iterator<Item = KeyPart>) -> Self {
        let mut made = Self { head: u64::try_from(link).unwrap_or(u64::MAX) << 32, words: SmallVec::new() };
        for (at, key) in (0..).zip(keys) {
            let (kind, word) = key.word();
            if at < KINDS {
                made.head |= kind << (KIND_BITS * at);
            } else {
                made.words.push(kind);
            }
            made.words.push(word);
        }
        made
    }

    /// Of the words of keys that have the kinds of this one's, which has as many.
    pub(crate) fn with_words(&self, words: &[u64]) -> Self {
        Self { head: self.head, words: SmallVec::from_slice(words) }
    }

    /// The same for a link of a certain Pajé type.
    pub(crate) fn of_type(mut self, ty: TypeId) -> Self {
        self.words.push(ty.0.into());
        self
    }
}

impl Hash for LinkKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.head);
        self.words.iter().for_each(|word| state.write_u64(*word));
    }
}

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

/// What an end of a link met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meeting<T> {
    /// The other end, which waits no more.
    Other(T),
    /// It waits itself now.
    Nothing,
    /// It does not wait either.
    Refused,
}

impl<T> Waiting<T> {
    /// Gives back the other end, if it waits; if not, this one waits if it is to.
    pub(crate) fn meet(&mut self, key: LinkKey, end: End, wait: impl FnOnce() -> Option<T>) -> Meeting<T> {
        match self.open.entry(key) {
            Entry::Vacant(place) => match wait() {
                Some(what) => {
                    place.insert((end, smallvec![what]));
                    Meeting::Nothing
                }
                None => Meeting::Refused,
            },
            Entry::Occupied(mut place) if place.get().0 != end => {
                let waiting = &mut place.get_mut().1;
                match waiting.len() {
                    1 => place.swap_remove().1.pop().map_or(Meeting::Refused, Meeting::Other),
                    _ => Meeting::Other(waiting.remove(0)),
                }
            }
            Entry::Occupied(mut place) => match wait() {
                Some(what) => {
                    place.get_mut().1.push(what);
                    Meeting::Nothing
                }
                None => Meeting::Refused,
            },
        }
    }

    /// All that still wait, in an order that depends on the calls alone.
    pub(crate) fn into_rest(self) -> impl Iterator<Item = (End, T)> {
        self.open.into_values().flat_map(|(end, waiting)| waiting.into_iter().map(move |what| (end, what)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::Sym;
    use super::*;
    use proptest::prelude::*;

    fn any_key() -> impl Strategy<Value = KeyPart> {
        prop_oneof![
            Just(KeyPart::None),
            (-1i64..3).prop_map(KeyPart::Int),
            (0u64..3).prop_map(KeyPart::Unsigned),
            (0u64..3).prop_map(KeyPart::Float),
            any::<bool>().prop_map(KeyPart::Bool),
            (0u32..3).prop_map(|number| KeyPart::Sym(Sym(number))),
        ]
    }

    proptest! {
        #[test]
        fn keys_are_equal_when_their_parts_are(
            links in (0usize..2, 0usize..2),
            ours in prop::collection::vec(any_key(), 0..14),
            changed in prop::option::of((any::<prop::sample::Index>(), any_key())),
            count in prop::option::of(0usize..14),
        ) {
            let mut theirs = ours.clone();
            if let Some((at, key)) = changed && !theirs.is_empty() {
                let at = at.index(theirs.len());
                theirs[at] = key;
            }
            theirs.truncate(count.unwrap_or(theirs.len()));
            let (a, b) = (LinkKey::new(links.0, ours.iter().copied()), LinkKey::new(links.1, theirs.iter().copied()));
            prop_assert_eq!(a == b, links.0 == links.1 && ours == theirs);
            if ours.len() == theirs.len() && ours.iter().zip(&theirs).all(|(a, b)| a.word().0 == b.word().0) && ours.len() <= LinkKey::SHORT {
                let words: Vec<u64> = theirs.iter().map(|key| key.word().1).collect();
                prop_assert_eq!(a.with_words(&words), LinkKey::new(links.0, theirs.iter().copied()));
            }
        }
    }

    #[test]
    fn first_come_first_served_in_either_order() {
        let key = |n| LinkKey::new(0, [KeyPart::Int(n)].into_iter());
        let mut waiting = Waiting::default();
        let mut meet = |of: i64, end: End, name: Option<char>| waiting.meet(key(of), end, || name);
        assert_eq!(meet(1, End::Finish, None), Meeting::Refused);
        assert_eq!(meet(1, End::Start, Some('a')), Meeting::Nothing);
        assert_eq!(meet(1, End::Start, Some('b')), Meeting::Nothing);
        assert_eq!(meet(1, End::Start, None), Meeting::Refused);
        assert_eq!(meet(2, End::Finish, Some('z')), Meeting::Nothing);
        assert_eq!(meet(1, End::Finish, Some('y')), Meeting::Other('a'));
        assert_eq!(meet(1, End::Finish, Some('x')), Meeting::Other('b'));
        assert_eq!(meet(2, End::Start, None), Meeting::Other('z'));
        assert_eq!(waiting.into_rest().count(), 0);
    }
}
