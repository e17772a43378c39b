//! Names of types. They are the same in every run of a program.

use tumit_paje::TypeId;
use tumit_viewer::query::TypeModel;

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
