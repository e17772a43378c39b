//! Names of types that are the same in every run of a program.

use tumit_paje::TypeId;
use tumit_viewer::query::Model;

/// The names of a type and all above it, without the root.
pub(crate) fn type_path(model: &Model, id: TypeId) -> Option<Vec<String>> {
    let mut path = Vec::new();
    let mut ty = model.types.get(id.index())?;
    // No longer than there are types.
    while ty.id != TypeId::ROOT && path.len() < model.types.len() {
        path.push(ty.name.clone());
        ty = model.types.get(ty.parent.index())?;
    }
    path.reverse();
    Some(path)
}
