//! The values of all types: those that are declared, and those that records tell, in the order in which they were met.

use std::io;

use rustc_hash::FxHashMap;

use super::value::{KeyPart, Symbols};
use tumit_paje::{Color, Look, PajeEvent, Sink, TypeId, ValueId};

/// Values by number, and by the names by which expressions reach them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    all: Vec<Definition>,
    by_name: FxHashMap<(TypeId, KeyPart), ValueId>,
}

#[derive(Clone, Debug)]
struct Definition {
    ty: TypeId,
    name: String,
    color: Option<Color>,
    look: Look,
}

impl Values {
    /// Adds a value that expressions reach by `name` and that is shown as `label`.
    pub(crate) fn add(
        &mut self,
        ty: TypeId,
        name: KeyPart,
        label: &str,
        (color, look): (Option<Color>, Look),
    ) -> ValueId {
        let value = ValueId(u32::try_from(self.all.len()).unwrap_or(u32::MAX));
        self.all.push(Definition { ty, name: label.to_owned(), color, look });
        self.by_name.entry((ty, name)).or_insert(value);
        value
    }

    /// The value of a type that was declared or met as `name`.
    pub(crate) fn get(&self, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        self.by_name.get(&(ty, name)).copied()
    }

    /// The value of a type that was declared or met as `name`; else it is met now.
    pub(crate) fn meet(&mut self, ty: TypeId, name: KeyPart, symbols: &mut Symbols) -> ValueId {
        if let Some(value) = self.get(ty, name) {
            return value;
        }
        let mut text = String::new();
        name.value().append(&mut text, symbols);
        // A number may be the name of a declared value.
        let named = KeyPart::Sym(symbols.intern(&text));
        let value = self.get(ty, named).unwrap_or_else(|| self.add(ty, named, &text, (None, Look::NONE)));
        self.by_name.insert((ty, name), value);
        value
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// Sends the definitions of those from this number on; how many they are.
    ///
    /// # Errors
    /// The sink's.
    pub(crate) fn define(&self, from: usize, sink: &mut dyn Sink) -> io::Result<u64> {
        let mut count = 0;
        for (number, Definition { ty, name, color, look }) in self.all.iter().enumerate().skip(from) {
            let value = ValueId(u32::try_from(number).unwrap_or(u32::MAX));
            sink.event(&PajeEvent::DefineValue { value, ty: *ty, name, color: *color, look: *look })?;
            count += 1;
        }
        Ok(count)
    }
}
