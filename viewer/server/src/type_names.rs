//! Names of types and values. They are the same in every run of a program.

use serde::{Deserialize, Serialize};
use tumit_paje::TypeId;
use tumit_viewer::query::{TypeModel, ValueId, ValueInfo};

/// A value, identified by its type and its name. In JSON it is the list `[path of the type, name]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(Vec<String>, String)", into = "(Vec<String>, String)")]
pub(crate) struct ValuePath {
    /// The names on the path from below the root to the type.
    pub(crate) ty: Vec<String>,
    pub(crate) name: String,
}

impl From<(Vec<String>, String)> for ValuePath {
    fn from((ty, name): (Vec<String>, String)) -> Self {
        Self { ty, name }
    }
}

impl From<ValuePath> for (Vec<String>, String) {
    fn from(path: ValuePath) -> Self {
        (path.ty, path.name)
    }
}

impl ValuePath {
    /// The path of a value. Returns `None` if the value is unknown.
    pub(crate) fn of(model: &TypeModel, id: ValueId) -> Option<Self> {
        let value = model.values.get(id.index())?;
        Some(Self { ty: type_path(model, value.ty)?, name: value.name.clone() })
    }

    /// The first value with this path.
    pub(crate) fn find<'a>(&self, model: &'a TypeModel) -> Option<&'a ValueInfo> {
        let has_type = |ty: TypeId| type_path(model, ty).as_ref() == Some(&self.ty);
        model.values.iter().find(|value| value.name == self.name && has_type(value.ty))
    }
}

/// The names on the path from below the root to the type.
pub(crate) fn type_path(model: &TypeModel, id: TypeId) -> Option<Vec<String>> {
    let mut path = Vec::new();
    let mut ty = model.types.get(id.index())?;
    // The limit ends the loop if the parents form a cycle.
    while ty.id != TypeId::ROOT && path.len() < model.types.len() {
        path.push(ty.name.clone());
        ty = model.types.get(ty.parent.index())?;
    }
    path.reverse();
    Some(path)
}
