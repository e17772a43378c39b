//! Reads a `LAYERS` file and compares the imports of a crate with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports::{Import, imports};
use super::modules::{Module, modules};

/// The layers of the top-level modules of a crate, or of the files of one of its folders.
#[derive(Debug, Default)]
struct LayerSection {
    /// The folder, such as `clock`; empty for the crate.
    folder: String,
    /// The number of the layer of each module, from the bottom.
    layers: BTreeMap<String, usize>,
    /// Imports that are allowed although they run upward or sideways.
    allowed: BTreeSet<(String, String)>,
}

/// The violations of the `LAYERS` file in the folder of a crate, each as a sentence.
pub(crate) fn violations(package: &Path) -> Vec<String> {
    let file = package.join("LAYERS");
    let name = file.display();
    let root = ["src/lib.rs", "src/main.rs"].map(|root| package.join(root)).into_iter().find(|root| root.is_file());
    let Some(root) = root else { return vec![format!("{}: neither src/lib.rs nor src/main.rs", package.display())] };
    let modules = match modules(&root) {
        Ok(modules) => modules,
        Err(error) => return vec![error],
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => return vec![format!("{name}: {error}; it lists the modules, one layer per line, lowest first")],
    };
    let (sections, mut found) = sections(&text, &name.to_string());
    let imports = imports(&modules);
    for section in &sections {
        found.extend(section.violations(&modules, &imports, &name.to_string()));
    }
    found
}

/// The sections of a file, and its mistakes.
fn sections(text: &str, file: &str) -> (Vec<LayerSection>, Vec<String>) {
    let (mut sections, mut mistakes) = (vec![LayerSection::default()], Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if let Some(folder) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            sections.push(LayerSection { folder: folder.to_owned(), ..LayerSection::default() });
            continue;
        }
        let Some(section) = sections.last_mut() else { continue };
        if let Some(allowed) = line.strip_prefix("allow ") {
            match allowed.split_once(" -> ") {
                Some((from, to)) => {
                    section.allowed.insert((from.trim().to_owned(), to.trim().to_owned()));
                }
                None => mistakes.push(format!("{file}:{}: expected `allow FROM -> TO`, found `{line}`", number + 1)),
            }
            continue;
        }
        for module in line.split_whitespace() {
            if section.layers.insert(module.to_owned(), number).is_some() {
                mistakes.push(format!("{file}:{}: module `{module}` is listed twice", number + 1));
            }
        }
    }
    (sections, mistakes)
}

impl LayerSection {
    fn violations(&self, modules: &[Module], imports: &[Import], file: &str) -> Vec<String> {
        let mut found = Vec::new();
        let members: BTreeSet<String> = modules.iter().filter_map(|module| self.member(module)).collect();
        let listed: BTreeSet<String> = self.layers.keys().cloned().collect();
        let place = if self.folder.is_empty() { "the crate" } else { &self.folder };
        found
            .extend(members.difference(&listed).map(|name| format!("{file}: module `{name}` of {place} has no layer")));
        found.extend(listed.difference(&members).map(|name| format!("{file}: {place} has no module `{name}`")));
        let mut needed = BTreeSet::new();
        for import in imports {
            let pair = (self.member(&modules[import.from]), self.member(&modules[import.to]));
            let (Some(from), Some(to)) = pair else { continue };
            let (Some(layer), Some(other)) = (self.layers.get(&from), self.layers.get(&to)) else { continue };
            if from == to || other < layer {
                continue;
            }
            let pair = (from, to);
            if !self.allowed.contains(&pair) {
                let direction = if other > layer { "upward" } else { "sideways" };
                let (from, to) = &pair;
                let (at, path) = (format!("{}:{}", import.file.display(), import.line), import.path.join("::"));
                found.push(format!("{at}: `{path}` is an import from `{from}` {direction} to `{to}`"));
            }
            needed.insert(pair);
        }
        let idle = self.allowed.difference(&needed);
        found
            .extend(idle.map(|(from, to)| format!("{file}: `allow {from} -> {to}` is not needed any more: delete it")));
        found
    }

    /// The member of the section that contains a module: the top-level module, or the file of the
    /// folder.
    fn member(&self, module: &Module) -> Option<String> {
        let folder: Vec<&str> = self.folder.split('/').filter(|name| !name.is_empty()).collect();
        let inside = module.path.iter().zip(&folder).all(|(name, folder)| name == folder);
        if !inside || module.path.len() < folder.len() {
            return None;
        }
        // The file of the crate is `lib`, that of a folder `mod`.
        let layer = if folder.is_empty() { "lib" } else { "mod" };
        Some(module.path.get(folder.len()).map_or_else(|| layer.to_owned(), Clone::clone))
    }
}

/// The imports between the members of a folder, or of the crate. They help to arrange the layers.
pub(crate) fn graph(package: &Path, folder: &str) -> BTreeMap<(String, String), Vec<String>> {
    let root = ["src/lib.rs", "src/main.rs"].map(|root| package.join(root)).into_iter().find(|root| root.is_file());
    let modules = root.and_then(|root| modules(&root).ok()).unwrap_or_default();
    let section = LayerSection { folder: folder.to_owned(), ..LayerSection::default() };
    let mut found: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for import in imports(&modules) {
        let pair = (section.member(&modules[import.from]), section.member(&modules[import.to]));
        if let (Some(from), Some(to)) = pair
            && from != to
        {
            let place = format!("{}:{} {}", import.file.display(), import.line, import.path.join("::"));
            found.entry((from, to)).or_default().push(place);
        }
    }
    found
}
