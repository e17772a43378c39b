//! Finds cycles of imports between the files of one folder.
//!
//! The folders with a section in a `LAYERS` file are left out, because their layers exclude cycles.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use super::cargo_targets::root_files;
use super::imports::{Import, imports};
use super::modules::{Module, PathNames, modules};
use super::order::{folders, root_file};

/// The first import of each pair of files: the one that imports, and the imported one.
type FileImports<'i> = BTreeMap<(&'i str, &'i str), &'i Import>;

/// The cycles of all targets of a package, each as a sentence.
pub(crate) fn violations(package: &Path) -> Vec<String> {
    let (listed, main) = (folders(package), root_file(package));
    let mut cycles = BTreeSet::new();
    for root in root_files(package) {
        let modules = match modules(&root) {
            Ok(modules) => modules,
            Err(error) => {
                cycles.insert(error);
                continue;
            }
        };
        let imports = imports(&modules);
        for folder in &modules {
            if Some(&root) != main.as_ref() || !listed.contains(&folder.path.join("/")) {
                cycles.extend(cycles_in(&modules, &imports, folder));
            }
        }
    }
    cycles.into_iter().collect()
}

fn cycles_in(modules: &[Module], imports: &[Import], folder: &Module) -> Vec<String> {
    let mut edges = FileImports::new();
    for import in imports {
        let pair = (member(modules, folder, import.from), member(modules, folder, import.to));
        if let (Some(from), Some(to)) = pair
            && from != to
        {
            edges.entry((from, to)).or_insert(import);
        }
    }
    // The shortest cycle with each import, once.
    let cycles = edges.keys().filter_map(|&(from, to)| {
        let mut cycle = shortest_way(&edges, to, from)?;
        let first = (0..cycle.len()).min_by_key(|index| cycle[*index])?;
        cycle.rotate_left(first);
        Some(cycle)
    });
    let cycles: BTreeSet<Vec<&str>> = cycles.collect();
    cycles.iter().map(|cycle| sentence(&edges, &folder.path, cycle)).collect()
}

/// The file of a folder that contains a module.
fn member<'m>(modules: &'m [Module], folder: &Module, module: usize) -> Option<&'m str> {
    let path: &PathNames = &modules[module].path;
    let name = path.strip_prefix(folder.path.as_slice())?.first()?;
    // A module in the braces of its parent is no file of the folder.
    let file = &modules[*folder.children.get(name)?].file;
    (*file != folder.file).then_some(name.as_str())
}

/// The files on the shortest way of imports from a file to another, with both.
fn shortest_way<'i>(edges: &FileImports<'i>, from: &'i str, to: &'i str) -> Option<Vec<&'i str>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut visited = BTreeSet::from([from]);
    while let Some(way) = ways.pop_front() {
        let last = *way.last()?;
        if last == to {
            return Some(way);
        }
        for (_, next) in edges.keys().filter(|(file, _)| *file == last) {
            if visited.insert(*next) {
                ways.push_back([way.as_slice(), &[*next]].concat());
            }
        }
    }
    None
}

fn sentence(edges: &FileImports<'_>, folder: &PathNames, cycle: &[&str]) -> String {
    let next = cycle.iter().cycle().skip(1);
    let uses = cycle.iter().zip(next).map(|(from, to)| {
        let import = edges[&(*from, *to)];
        format!("`{from}` uses `{}` ({}:{})", import.path.join("::"), import.file.display(), import.line)
    });
    let uses: Vec<String> = uses.collect();
    let place = if folder.is_empty() { "the crate".to_owned() } else { format!("`{}`", folder.join("/")) };
    format!("the files of {place} import each other in a cycle: {}", uses.join(", "))
}
