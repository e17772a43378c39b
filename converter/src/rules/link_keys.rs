//! The keys that pair the endpoints of links.

use smallvec::SmallVec;

use super::rule_value::{KeyPart, KeyWord};
use tumit_paje::TypeId;
use tumit_spill::endpoint_map::spread;

/// The key that pairs a start with an end: link type, keys of the holder, keys of the link.
///
/// Each key is one word. The kinds of the keys are stored separately, so that comparing and hashing
/// are short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkKey {
    /// The link type and the kinds of the first [`KINDS`] keys.
    head: u64,
    words: SmallVec<[u64; 4]>,
}

/// Number of bits of a kind.
const KIND_BITS: u32 = 3;
/// Number of keys with their kinds in the head. The kinds of the other keys precede them as words.
const KINDS: u32 = 32 / KIND_BITS;

impl LinkKey {
    /// Maximum number of keys that use one word each.
    pub(crate) const SHORT: usize = KINDS as usize;

    /// Creates the key of a link type and its keys.
    pub(crate) fn new(link: usize, keys: impl Iterator<Item = KeyPart>) -> Self {
        let mut link_key = Self { head: u64::try_from(link).unwrap_or(u64::MAX) << 32, words: SmallVec::new() };
        for (index, key) in (0..).zip(keys) {
            let KeyWord { kind, value } = key.word();
            if index < KINDS {
                link_key.head |= kind << (KIND_BITS * index);
            } else {
                link_key.words.push(kind);
            }
            link_key.words.push(value);
        }
        link_key
    }

    /// The key with other words. `words` must have the kinds and the number of this key's words.
    pub(crate) fn with_words(&self, words: &[u64]) -> Self {
        Self { head: self.head, words: SmallVec::from_slice(words) }
    }

    /// A hash that replaces the key: among 10^9 keys, two have equal hashes once in 10^20 runs.
    pub(crate) fn hash(&self) -> u128 {
        let length = self.words.len() as u128;
        self.words.iter().fold(spread(u128::from(self.head) << 64 | length), |hash, word| {
            // A word changes the half with the greater effect on the next multiplication.
            spread(hash.rotate_left(64) ^ u128::from(*word))
        })
    }

    /// The key restricted to links of one Pajé type.
    pub(crate) fn of_type(mut self, ty: TypeId) -> Self {
        self.words.push(ty.0.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule_value::SymbolId;
    use super::*;
    use proptest::prelude::*;

    fn any_key() -> impl Strategy<Value = KeyPart> {
        prop_oneof![
            Just(KeyPart::None),
            (-1i64..3).prop_map(KeyPart::Int),
            (0u64..3).prop_map(KeyPart::Unsigned),
            (0u64..3).prop_map(KeyPart::Float),
            any::<bool>().prop_map(KeyPart::Bool),
            (0u32..3).prop_map(|number| KeyPart::Sym(SymbolId(number))),
        ]
    }

    proptest! {
        #[test]
        fn keys_are_equal_when_their_parts_are(
            links in (0usize..2, 0usize..2),
            keys in prop::collection::vec(any_key(), 0..14),
            changed in prop::option::of((any::<prop::sample::Index>(), any_key())),
            count in prop::option::of(0usize..14),
        ) {
            let mut others = keys.clone();
            if let Some((index, key)) = changed && !others.is_empty() {
                let index = index.index(others.len());
                others[index] = key;
            }
            others.truncate(count.unwrap_or(others.len()));
            let (a, b) = (LinkKey::new(links.0, keys.iter().copied()), LinkKey::new(links.1, others.iter().copied()));
            prop_assert_eq!(a == b, a.hash() == b.hash());
            prop_assert_eq!(a == b, links.0 == links.1 && keys == others);
            if keys.len() == others.len() && keys.iter().zip(&others).all(|(a, b)| a.word().kind == b.word().kind) && keys.len() <= LinkKey::SHORT {
                let words: Vec<u64> = others.iter().map(|key| key.word().value).collect();
                prop_assert_eq!(a.with_words(&words), LinkKey::new(links.0, others.iter().copied()));
            }
        }
    }

    #[test]
    fn keys_that_differ_a_little_have_other_hashes() {
        let mut hashes = std::collections::BTreeSet::new();
        for a in 0..100 {
            for b in -50..50 {
                for link in 0..3 {
                    let parts = [KeyPart::Int(a), KeyPart::Int(b)];
                    hashes.insert(LinkKey::new(link, parts.into_iter()).hash());
                    hashes.insert(
                        LinkKey::new(link, [KeyPart::Unsigned(a as u64), parts[1], KeyPart::None].into_iter()).hash(),
                    );
                }
            }
        }
        assert_eq!(hashes.len(), 60_000);
        // Parts of the hashes differ as well.
        for part in [0, 32, 64, 96] {
            let halves: std::collections::BTreeSet<u32> = hashes.iter().map(|hash| (hash >> part) as u32).collect();
            assert!(halves.len() > 59_990, "{} from bit {part}", halves.len());
        }
    }
}
