//! What was found last: the container that a stream's records had for a target before. Nearly always it is the same again, and nothing has
//! to be looked up.

use crate::rules::eval::Scope;
use crate::rules::program::{Code, Target};
use crate::rules::value::{KeyPart, Symbols};
use tumit::spec::Builtin;

/// A target with more keys is not kept.
const MOST_KEYS: usize = 4;
/// Streams times targets for which something is kept, at most: 10 MB.
const MOST_PLACES: usize = 1 << 16;

/// A memory of containers. What it does not know is found elsewhere.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// By stream, by target.
    places: Vec<Vec<Place>>,
    kept: usize,
}

#[derive(Clone, Debug)]
struct Place {
    keys: [KeyPart; MOST_KEYS],
    /// How many containers had ended then, and the instance.
    last: Option<(u64, usize)>,
    /// Its keys are the same for all records of the stream.
    is_constant: bool,
}

impl Default for Place {
    fn default() -> Self {
        Self { keys: [KeyPart::None; MOST_KEYS], last: None, is_constant: false }
    }
}

impl Found {
    /// The instance that the stream's records had for this target before, if its keys are still the same and no container has ended
    /// meanwhile.
    #[inline]
    pub(crate) fn last(
        &self,
        scope: &Scope<'_>,
        target: &Target,
        ended: u64,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> Option<usize> {
        let place = self.places.get(scope.stream.number)?.get(target.number)?;
        let (then, instance) = place.last?;
        let is_same =
            |(code, known): (&Code, &KeyPart)| place.is_constant || scope.key(code, scratch, symbols) == *known;
        (then == ended && target.keys.iter().zip(&place.keys).all(is_same)).then_some(instance)
    }

    /// The instance that was found for a target.
    pub(crate) fn note(
        &mut self,
        scope: &Scope<'_>,
        target: &Target,
        (ended, instance): (u64, usize),
        scratch: &mut String,
        symbols: &mut Symbols,
    ) {
        let (stream, wanted) = (scope.stream.number, target.number + 1);
        if target.keys.len() > MOST_KEYS {
            return;
        }
        let room = self.places.get(stream).map_or(0, Vec::len);
        if room < wanted {
            if self.kept + wanted - room > MOST_PLACES {
                return;
            }
            self.kept += wanted - room;
            self.places.resize_with(self.places.len().max(stream + 1), Vec::new);
            // Exact, because a run may have a million streams and most have few targets.
            self.places[stream].reserve_exact(wanted - room);
            self.places[stream].resize_with(wanted, Place::default);
        }
        let place = &mut self.places[stream][target.number];
        for (code, key) in target.keys.iter().zip(&mut place.keys) {
            *key = scope.key(code, scratch, symbols);
        }
        place.last = Some((ended, instance));
        place.is_constant = target.keys.iter().all(is_constant);
    }
}

/// Whether a key is the same for all records of a stream.
fn is_constant(code: &Code) -> bool {
    match code {
        Code::Const(_) => true,
        Code::Referent(referent) => referent.is_own(),
        Code::Builtin(builtin) => {
            use Builtin::{Host, Pid, Rank, StreamLabel, ThreadName, Tid};
            matches!(builtin, Pid | Tid | Rank | Host | ThreadName | StreamLabel)
        }
        _ => false,
    }
}
