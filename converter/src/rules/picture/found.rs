//! What was found last: the container that a stream's records had for a target before, and the values of types by name. Nearly always
//! it is the same again, and nothing has to be looked up.

use super::super::compile::Target;
use super::super::eval::{Code, Scope};
use super::super::model::Model;
use super::super::value::{KeyPart, Symbols};
use crate::paje::{TypeId, ValueId};
use tumit::spec::Builtin;

/// Numbers of texts below this are looked up by index.
const MOST_TEXTS: usize = 1 << 16;
/// A target with more keys is not kept.
const MOST_KEYS: usize = 4;
/// Streams times targets for which something is kept, at most.
const MOST_PLACES: usize = 1 << 18;

/// A memory of containers and values. What it does not know is found elsewhere.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By stream, by target.
    places: Vec<Vec<Place>>,
    kept: usize,
    /// By type, by text: 0, or one more than the value.
    values: Vec<Vec<u32>>,
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
    pub(super) fn last(
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
    pub(super) fn note(
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
            self.places[stream].resize_with(wanted, Place::default);
        }
        let place = &mut self.places[stream][target.number];
        for (code, key) in target.keys.iter().zip(&mut place.keys) {
            *key = scope.key(code, scratch, symbols);
        }
        place.last = Some((ended, instance));
        place.is_constant = target.keys.iter().all(is_constant);
    }

    /// The value of a type that was declared or met as `name`.
    #[inline]
    pub(super) fn value(&mut self, model: &Model, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        let KeyPart::Sym(text) = name else { return model.value(ty, name) };
        let known = self.values.get(ty.index()).and_then(|values| values.get(text.0 as usize));
        match known.and_then(|value| value.checked_sub(1)) {
            Some(value) => Some(ValueId(value)),
            None => self.look_up(model, ty, name, text.0 as usize),
        }
    }

    #[cold]
    fn look_up(&mut self, model: &Model, ty: TypeId, name: KeyPart, text: usize) -> Option<ValueId> {
        let value = model.value(ty, name)?;
        if text < MOST_TEXTS {
            self.values.resize_with(self.values.len().max(ty.index() + 1), Vec::new);
            let values = &mut self.values[ty.index()];
            values.resize(values.len().max(text + 1), 0);
            values[text] = value.0.saturating_add(1);
        }
        Some(value)
    }
}

/// Whether a key is the same for all records of a stream.
fn is_constant(code: &Code) -> bool {
    match code {
        Code::Const(_) => true,
        Code::Builtin(builtin) => {
            use Builtin::{Host, Pid, Rank, StreamLabel, ThreadName, Tid};
            matches!(builtin, Pid | Tid | Rank | Host | ThreadName | StreamLabel)
        }
        _ => false,
    }
}
