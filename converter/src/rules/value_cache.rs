//! A memory of the values of types by the texts that name them: nearly always the same are looked for again.

use super::value::KeyPart;
use super::values::Values;
use tumit_paje::{TypeId, ValueId};

/// Numbers of texts below this are looked up by index.
const MOST_TEXTS: usize = 1 << 16;

/// What [`Values::get`] said before.
#[derive(Debug, Default)]
pub(crate) struct KnownValues {
    /// By type, by text: 0, or one more than the value.
    values: Vec<Vec<u32>>,
}

impl KnownValues {
    /// The value of a type that is named by the text with this number, if that was asked for before.
    #[inline]
    pub(crate) fn of_text(&self, ty: TypeId, text: u32) -> Option<ValueId> {
        let known = self.values.get(ty.index())?.get(text as usize)?;
        known.checked_sub(1).map(ValueId)
    }

    /// The value of a type that was declared or met as `name`.
    #[inline]
    pub(crate) fn value(&mut self, values: &Values, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        let KeyPart::Sym(text) = name else { return values.get(ty, name) };
        match self.of_text(ty, text.0) {
            Some(value) => Some(value),
            None => self.look_up(values, ty, name, text.0 as usize),
        }
    }

    #[cold]
    fn look_up(&mut self, all: &Values, ty: TypeId, name: KeyPart, text: usize) -> Option<ValueId> {
        let value = all.get(ty, name)?;
        if text < MOST_TEXTS {
            self.values.resize_with(self.values.len().max(ty.index() + 1), Vec::new);
            let values = &mut self.values[ty.index()];
            values.resize(values.len().max(text + 1), 0);
            values[text] = value.0.saturating_add(1);
        }
        Some(value)
    }
}
