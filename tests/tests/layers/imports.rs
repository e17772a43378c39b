//! Finds the module that defines each path that a module uses.

use std::path::PathBuf;

use super::modules::{Module, PathNames};

/// A use of another module.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    /// Index of the module that uses a path.
    pub(crate) from: usize,
    /// Index of the module that defines it.
    pub(crate) to: usize,
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    pub(crate) path: PathNames,
    /// The name of the item. Empty if the path is a module, or a macro defines the item.
    pub(crate) item: String,
    /// The module only re-exports the path, and does not use it.
    pub(crate) is_reexport: bool,
}

/// The module that defines an item, and the name of the item there.
struct Definition {
    module: usize,
    item: String,
}

impl Definition {
    fn of_module(module: usize) -> Self {
        Self { module, item: String::new() }
    }
}

/// The most re-exports that a search follows: more can only be a cycle.
const MAX_STEPS: usize = 32;

/// All uses of modules of the crate by others. Paths to other crates are left out.
pub(crate) fn imports(modules: &[Module]) -> Vec<Import> {
    let mut imports = Vec::new();
    for (from, module) in modules.iter().enumerate() {
        for used in &module.uses {
            let Some(definition) = definition(modules, from, &used.path, MAX_STEPS) else { continue };
            if definition.module != from {
                let is_reexport = used.reexported_as.as_ref().is_some_and(|name| !module.mentioned.contains(name));
                imports.push(Import {
                    from,
                    to: definition.module,
                    file: module.file.clone(),
                    line: used.line,
                    path: used.path.clone(),
                    item: definition.item,
                    is_reexport,
                });
            }
        }
    }
    imports
}

/// The definition of a path, as seen from a module. `None` if it is of another crate.
fn definition(modules: &[Module], from: usize, path: &[String], steps: usize) -> Option<Definition> {
    let steps = steps.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => descend(modules, 0, rest, steps),
        "self" => descend(modules, from, rest, steps),
        "super" => descend(modules, parent(modules, from)?, rest, steps),
        "" => {
            let (first, rest) = rest.split_first()?;
            if is_crate(modules, first) { descend(modules, 0, rest, steps) } else { None }
        }
        _ => {
            let module = &modules[from];
            let is_known =
                module.children.contains_key(first) || module.imports.get(first).is_some_and(|to| to != path);
            match is_known {
                true => descend(modules, from, path, steps),
                false if is_crate(modules, first) => descend(modules, 0, rest, steps),
                false => None,
            }
        }
    }
}

/// Whether all modules can use a name for the crate: `extern crate self as name`.
fn is_crate(modules: &[Module], name: &str) -> bool {
    modules[0].imports.get(name).is_some_and(|path| *path == ["crate"])
}

fn parent(modules: &[Module], of: usize) -> Option<usize> {
    let (_, path) = modules[of].path.split_last()?;
    modules.iter().position(|module| module.path == path)
}

/// The definition of a path which begins in a module.
fn descend(modules: &[Module], module: usize, path: &[String], steps: usize) -> Option<Definition> {
    let steps = steps.checked_sub(1)?;
    let Some((first, rest)) = path.split_first() else { return Some(Definition::of_module(module)) };
    if first == "super" {
        return descend(modules, parent(modules, module)?, rest, steps);
    }
    let here = &modules[module];
    if let Some(child) = here.children.get(first) {
        return descend(modules, *child, rest, steps);
    }
    if here.items.contains(first) {
        return Some(Definition { module, item: first.clone() });
    }
    if let Some(import) = here.imports.get(first) {
        let full = [import, rest].concat();
        return definition(modules, module, &full, steps).or(Some(Definition::of_module(module)));
    }
    let globs = here.globs.iter().filter_map(|glob| definition(modules, module, glob, steps));
    globs
        .map(|glob| glob.module)
        .filter(|glob| has_name(modules, *glob, first))
        .find_map(|glob| descend(modules, glob, path, steps))
        .or(Some(Definition::of_module(module)))
}

fn has_name(modules: &[Module], module: usize, name: &String) -> bool {
    let module = &modules[module];
    module.children.contains_key(name) || module.items.contains(name) || module.imports.contains_key(name)
}
