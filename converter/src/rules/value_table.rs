//! The values of all types: declared values, then values from records in the order of their first
//! occurrence.

use std::io;

use rustc_hash::FxHashMap;

use super::rule_value::{KeyPart, Symbols};
use tumit::spec::CategoryStatement;
use tumit_paje::category::ActivityCategory;
use tumit_paje::{DrawStyle, PajeEvent, PajeSink, RgbColor, TypeId, ValueId};

/// Values by number and by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTable {
    definitions: Vec<ValueDefinition>,
    by_name: FxHashMap<(TypeId, KeyPart), ValueId>,
    /// The last category that fits the name of a value applies.
    categories: FxHashMap<TypeId, Vec<UndeclaredCategory>>,
}

#[derive(Clone, Debug)]
struct ValueDefinition {
    ty: TypeId,
    name: String,
    color: Option<RgbColor>,
    style: DrawStyle,
    category: Option<ActivityCategory>,
}

/// The category of the values of a type that the spec does not declare.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UndeclaredCategory {
    pub(crate) category: ActivityCategory,
    pub(crate) statement: CategoryStatement,
}

impl ValueTable {
    /// Adds a value. Expressions refer to it by `name`. `label` is displayed.
    pub(crate) fn add(
        &mut self,
        ty: TypeId,
        name: KeyPart,
        label: &str,
        (color, style): (Option<RgbColor>, DrawStyle),
        category: Option<ActivityCategory>,
    ) -> ValueId {
        let value = ValueId(u32::try_from(self.definitions.len()).unwrap_or(u32::MAX));
        self.definitions.push(ValueDefinition { ty, name: label.to_owned(), color, style, category });
        self.by_name.entry((ty, name)).or_insert(value);
        value
    }

    /// Adds a category for the values of a type that are defined later.
    pub(crate) fn add_category(&mut self, ty: TypeId, category: UndeclaredCategory) {
        let list = self.categories.entry(ty).or_default();
        // Several specs of a run share a type.
        if !list.contains(&category) {
            list.push(category);
        }
    }

    fn category(&self, ty: TypeId, name: &str) -> Option<ActivityCategory> {
        let list = self.categories.get(&ty)?;
        list.iter().rfind(|rule| rule.statement.fits_value(name)).map(|rule| rule.category)
    }

    /// The declared or defined value of a type with this name.
    pub(crate) fn get(&self, ty: TypeId, name: KeyPart) -> Option<ValueId> {
        self.by_name.get(&(ty, name)).copied()
    }

    /// The value of a type with this name. It is defined if it does not exist.
    pub(crate) fn find_or_define(&mut self, ty: TypeId, name: KeyPart, symbols: &mut Symbols) -> ValueId {
        if let Some(value) = self.get(ty, name) {
            return value;
        }
        let mut text = String::new();
        name.value().append(&mut text, symbols);
        // A number may be the name of a declared value.
        let named = KeyPart::Sym(symbols.intern(&text));
        let value = self.get(ty, named).unwrap_or_else(|| {
            let category = self.category(ty, &text);
            self.add(ty, named, &text, (None, DrawStyle::NONE), category)
        });
        self.by_name.insert((ty, name), value);
        value
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.definitions.len()
    }

    /// Sends the definitions of the values from this number on. Returns their number.
    ///
    /// # Errors
    /// The errors of the sink.
    pub(crate) fn define(&self, from: usize, sink: &mut dyn PajeSink) -> io::Result<u64> {
        let mut count = 0;
        for (number, defined) in self.definitions.iter().enumerate().skip(from) {
            let value = ValueId(u32::try_from(number).unwrap_or(u32::MAX));
            let ValueDefinition { ty, name, color, style, category } = defined;
            let (ty, color, style, category) = (*ty, *color, *style, *category);
            sink.event(&PajeEvent::DefineValue { value, ty, name, color, style, category })?;
            count += 1;
        }
        Ok(count)
    }
}
