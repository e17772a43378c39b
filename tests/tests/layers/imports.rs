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
}

/// The most re-exports that a search follows: more can only be a cycle.
const MOST_STEPS: usize = 32;

/// All uses of modules of the crate by others. Paths to other crates are left out.
pub(crate) fn imports(modules: &[Module]) -> Vec<Import> {
    let mut found = Vec::new();
    for (from, module) in modules.iter().enumerate() {
        for used in &module.uses {
            let Some(to) = definition(modules, from, &used.path, MOST_STEPS) else { continue };
            if to != from {
                let (file, path) = (module.file.clone(), used.path.clone());
                found.push(Import { from, to, file, line: used.line, path });
            }
        }
    }
    found
}

/// The module that defines a path, as seen from a module. `None` if it is of another crate.
fn definition(modules: &[Module], from: usize, path: &[String], steps: usize) -> Option<usize> {
    let steps = steps.checked_sub(1)?;
    let (first, rest) = path.split_first()?;
    match first.as_str() {
        "crate" => descend(modules, 0, rest, steps),
        "self" => descend(modules, from, rest, steps),
        "super" => descend(modules, parent(modules, from)?, rest, steps),
        _ => {
            let module = &modules[from];
            let is_known =
                module.children.contains_key(first) || module.imports.get(first).is_some_and(|to| to != path);
            if is_known { descend(modules, from, path, steps) } else { None }
        }
    }
}

fn parent(modules: &[Module], of: usize) -> Option<usize> {
    let (_, path) = modules[of].path.split_last()?;
    modules.iter().position(|module| module.path == path)
}

/// The module that defines a path which begins in a module.
fn descend(modules: &[Module], module: usize, path: &[String], steps: usize) -> Option<usize> {
    let steps = steps.checked_sub(1)?;
    let Some((first, rest)) = path.split_first() else { return Some(module) };
    if first == "super" {
        return descend(modules, parent(modules, module)?, rest, steps);
    }
    let here = &modules[module];
    if let Some(child) = here.children.get(first) {
        return descend(modules, *child, rest, steps);
    }
    if here.items.contains(first) {
        return Some(module);
    }
    if let Some(import) = here.imports.get(first) {
        let full = [import, rest].concat();
        return definition(modules, module, &full, steps).or(Some(module));
    }
    let globs = here.globs.iter().filter_map(|glob| definition(modules, module, glob, steps));
    globs
        .filter(|glob| has_name(modules, *glob, first))
        .find_map(|glob| descend(modules, glob, path, steps))
        .or(Some(module))
}

fn has_name(modules: &[Module], module: usize, name: &String) -> bool {
    let module = &modules[module];
    module.children.contains_key(name) || module.items.contains(name) || module.imports.contains_key(name)
}
