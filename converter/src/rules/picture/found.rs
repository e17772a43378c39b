//! What was found last: the container that a stream's records had for a target before, and the values of types by name. Nearly always
//! it is the same again, and nothing has to be looked up.

use smallvec::SmallVec;

use super::super::compile::Target;
use super::super::eval::{Code, Scope};
use super::super::model::Model;
use super::super::value::{KeyPart, Symbols};
use crate::paje::{TypeId, ValueId};
use tumit::spec::Builtin;

/// Numbers of texts below this are looked up by index.
const MOST_TEXTS: usize = 1 << 16;
/// Streams times targets for which something is kept, at most.
const MOST_PLACES: usize = 1 << 20;

/// A memory of containers and values. What it does not know is found elsewhere.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// By stream, by target.
    places: Vec<Vec<Place>>,
    kept: usize,
    /// The keys that were asked for last.
    asked: Keys,
    /// By type, by text: 0, or one more than the value.
    values: Vec<Vec<u32>>,
}

type Keys = SmallVec<[KeyPart; 4]>;

#[derive(Clone, Debug, Default)]
struct Place {
    keys: Keys,
    /// How many containers had ended then, and the instance.
    last: Option<(u64, usize)>,
    /// Its keys are the same for all records of the stream.
    is_constant: bool,
}

impl Found {
    /// The instance that the stream's records had for this target before, if its keys are still the same and no container has ended
    /// meanwhile.
    #[inline]
    pub(super) fn last(
        &mut self,
        scope: &Scope<'_>,
        target: &Target,
        ended: u64,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> Option<usize> {
        let place = self.places.get(scope.stream.number).and_then(|places| places.get(target.number));
        if let Some(Place { last: Some((then, instance)), is_constant: true, .. }) = place
            && *then == ended
        {
            return Some(*instance);
        }
        self.asked.clear();
        for code in target.steps.iter().flat_map(|(_, keys)| keys) {
            let key = scope.eval(code, scratch, symbols).key(scratch, symbols);
            self.asked.push(key);
        }
        let place = place?;
        let (then, instance) = place.last?;
        (then == ended && place.keys == self.asked).then_some(instance)
    }

    /// The instance that was found for the target that was asked for last.
    pub(super) fn note(&mut self, stream: usize, target: &Target, ended: u64, instance: usize) {
        let wanted = target.number + 1;
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
        place.keys.clone_from(&self.asked);
        place.last = Some((ended, instance));
        place.is_constant = target.steps.iter().flat_map(|(_, keys)| keys).all(is_constant);
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
            matches!(builtin, Builtin::Pid | Builtin::Tid | Builtin::Rank | Builtin::Host | Builtin::ThreadName)
        }
        _ => false,
    }
}
