//! A cache of values by type and name. Nearly all lookups repeat an earlier one.

use super::rule_value::KeyPart;
use super::value_table::ValueTable;
use tumit_paje::{TypeId, ValueId};

/// Only texts with smaller numbers are cached.
const MAX_TEXTS: usize = 1 << 16;

/// A cache of the results of [`ValueTable::get`].
#[derive(Debug, Default)]
pub(crate) struct KnownValues {
    /// For each type and text: 0, or the number of the value plus one.
    values: Vec<Vec<u32>>,
}

impl KnownValues {
    /// The cached value of a type with the name of this text number.
    #[inline]
    pub(crate) fn of_text(&self, ty: TypeId, text: u32) -> Option<ValueId> {
        let value = self.values.get(ty.index())?.get(text as usize)?;
        value.checked_sub(1).map(ValueId)
    }

    /// The declared or defined value of a type with this name.
    #[inline]
    pub(crate) fn value(&mut self, values: &ValueTable, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        let KeyPart::Sym(text) = name else { return values.get(ty, name) };
        match self.of_text(ty, text.0) {
            Some(value) => Some(value),
            None => self.look_up(values, ty, name, text.0 as usize),
        }
    }

    #[cold]
    fn look_up(&mut self, table: &ValueTable, ty: TypeId, name: KeyPart, text: usize) -> Option<ValueId> {
        let value = table.get(ty, name)?;
        if text < MAX_TEXTS {
            self.values.resize_with(self.values.len().max(ty.index() + 1), Vec::new);
            let values = &mut self.values[ty.index()];
            values.resize(values.len().max(text + 1), 0);
            values[text] = value.0.saturating_add(1);
        }
        Some(value)
    }
}
