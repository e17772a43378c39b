//! Finds modules and inner modules that use each other.
//!
//! The code of a module (`x.rs`) may use its inner modules (`x/y.rs`), or they may use its items,
//! but not both. Otherwise, a reader can understand neither file before the other. Two uses do not
//! count. A module may re-export items of an inner module. An inner module may add methods and
//! traits to a type of its module.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::Import;
use super::modules::Module;

/// The paths of an inner module and of a module around it.
type NestedPair = (String, String);

/// The violations, each as a sentence. `allowed` contains the pairs of the lines `allow x/y -> x`
/// of a `LAYERS` file.
pub(crate) fn violations(
    modules: &[Module],
    imports: &[Import],
    allowed: &BTreeSet<NestedPair>,
    file: &str,
) -> Vec<String> {
    let mut cycles: BTreeMap<NestedPair, Vec<&Import>> = BTreeMap::new();
    for import in imports.iter().filter(|import| is_upward(modules, import)) {
        let pair = [import.from, import.to].map(|module| modules[module].path.join("/"));
        if downward(modules, imports, import).is_some() {
            cycles.entry(pair.into()).or_default().push(import);
        }
    }
    let idle = allowed.iter().filter(|pair| !cycles.contains_key(*pair));
    let idle: Vec<String> = idle
        .map(|(inner, outer)| format!("{file}: `allow {inner} -> {outer}` is not needed any more: delete it"))
        .collect();
    let violations = cycles.iter().filter(|(pair, _)| !allowed.contains(pair));
    violations.map(|((inner, outer), uses)| sentence(modules, imports, inner, outer, uses)).chain(idle).collect()
}

/// Whether an inner module uses an item that a module around it defines.
fn is_upward(modules: &[Module], import: &Import) -> bool {
    let (inner, outer) = (&modules[import.from], &modules[import.to]);
    let is_inside =
        !outer.path.is_empty() && inner.path.len() > outer.path.len() && inner.path.starts_with(&outer.path);
    is_inside && inner.file != outer.file && !inner.implemented.contains(&import.item)
}

/// A use in the opposite direction: of the inner module that contains the import, by the outer one.
fn downward<'i>(modules: &[Module], imports: &'i [Import], upward: &Import) -> Option<&'i Import> {
    let child = &modules[upward.from].path[..=modules[upward.to].path.len()];
    imports
        .iter()
        .find(|import| import.from == upward.to && !import.is_reexport && modules[import.to].path.starts_with(child))
}

fn sentence(modules: &[Module], imports: &[Import], inner: &str, outer: &str, uses: &[&Import]) -> String {
    let paths: BTreeSet<String> = uses.iter().map(|import| format!("`{}`", import.path.join("::"))).collect();
    let paths: Vec<String> = paths.into_iter().collect();
    let back = downward(modules, imports, uses[0]).map(|import| format!("`{}`", import.path.join("::")));
    format!(
        "{}:{}: `{inner}` uses {} of `{outer}`, which uses {} of `{inner}`: move the items of `{outer}` to an inner module of their own",
        uses[0].file.display(),
        uses[0].line,
        paths.join(", "),
        back.unwrap_or_default(),
    )
}
