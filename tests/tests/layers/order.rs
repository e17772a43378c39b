//! Reads a `LAYERS` file and compares the imports of a crate with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::imports::{Import, imports};
use super::modules::{Module, modules};
use super::nesting;

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

/// The contents of a `LAYERS` file.
#[derive(Debug, Default)]
struct LayerList {
    sections: Vec<LayerSection>,
    /// Inner modules and outer modules that are allowed to use each other.
    allowed_cycles: BTreeSet<(String, String)>,
    mistakes: Vec<String>,
}

/// The violations of the `LAYERS` file in the folder of a package, each as a sentence.
pub(crate) fn violations(package: &Path) -> Vec<String> {
    let file = package.join("LAYERS");
    let name = file.display().to_string();
    let Some(root) = root_file(package) else {
        // A package of benchmarks has no modules.
        if !package.join("src").exists() && package.join("benches").exists() {
            return Vec::new();
        }
        return vec![format!("{}: neither src/lib.rs nor src/main.rs", package.display())];
    };
    let modules = match modules(&root) {
        Ok(modules) => modules,
        Err(error) => return vec![error],
    };
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(_) if modules.len() == 1 => return Vec::new(),
        Err(error) => {
            return vec![format!(
                "{name}: {error}; create it: it lists the modules of `src`, one layer per line, lowest first, and `lib` or `main` at last"
            )];
        }
    };
    let list = LayerList::parse(&text, &name);
    let imports = imports(&modules);
    let mut mistakes = list.mistakes;
    for section in &list.sections {
        mistakes.extend(section.violations(&modules, &imports, &name));
    }
    mistakes.extend(nesting::violations(&modules, &imports, &list.allowed_cycles, &name));
    mistakes
}

/// The file that contains the crate's module: `lib.rs`, or `main.rs` if there is no library.
pub(crate) fn root_file(package: &Path) -> Option<PathBuf> {
    ["src/lib.rs", "src/main.rs"].map(|root| package.join(root)).into_iter().find(|root| root.is_file())
}

/// The folders with a section in the `LAYERS` file of a package. The crate's own section is empty.
pub(crate) fn folders(package: &Path) -> BTreeSet<String> {
    let Ok(text) = std::fs::read_to_string(package.join("LAYERS")) else { return BTreeSet::new() };
    LayerList::parse(&text, "LAYERS").sections.into_iter().map(|section| section.folder).collect()
}

impl LayerList {
    fn parse(text: &str, file: &str) -> Self {
        let mut list = Self { sections: vec![LayerSection::default()], ..Self::default() };
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if let Some(folder) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                list.sections.push(LayerSection { folder: folder.to_owned(), ..LayerSection::default() });
                continue;
            }
            let Some(section) = list.sections.last_mut() else { continue };
            if let Some(allowed) = line.strip_prefix("allow ") {
                let Some((from, to)) = allowed.split_once(" -> ") else {
                    list.mistakes.push(format!("{file}:{}: expected `allow FROM -> TO`, found `{line}`", number + 1));
                    continue;
                };
                let pair = (from.trim().to_owned(), to.trim().to_owned());
                // Members of a section are single names, and inner modules are paths.
                let allowed = if from.contains('/') { &mut list.allowed_cycles } else { &mut section.allowed };
                allowed.insert(pair);
                continue;
            }
            for module in line.split_whitespace() {
                if section.layers.insert(module.to_owned(), number).is_some() {
                    list.mistakes.push(format!("{file}:{}: module `{module}` is listed twice", number + 1));
                }
            }
        }
        list
    }
}

impl LayerSection {
    fn violations(&self, modules: &[Module], imports: &[Import], file: &str) -> Vec<String> {
        let mut mistakes = Vec::new();
        let members: BTreeSet<String> = modules.iter().filter_map(|module| self.member(module)).collect();
        let listed: BTreeSet<String> = self.layers.keys().cloned().collect();
        let place = if self.folder.is_empty() { "the crate" } else { &self.folder };
        mistakes
            .extend(members.difference(&listed).map(|name| format!("{file}: module `{name}` of {place} has no layer")));
        mistakes.extend(listed.difference(&members).map(|name| format!("{file}: {place} has no module `{name}`")));
        let mut needed = BTreeSet::new();
        for import in imports {
            let pair = (self.member(&modules[import.from]), self.member(&modules[import.to]));
            let (Some(from), Some(to)) = pair else { continue };
            let (Some(layer), Some(target_layer)) = (self.layers.get(&from), self.layers.get(&to)) else { continue };
            if from == to || target_layer < layer {
                continue;
            }
            let pair = (from, to);
            if !self.allowed.contains(&pair) {
                let direction = if target_layer > layer { "upward" } else { "sideways" };
                let (from, to) = &pair;
                let (location, path) = (format!("{}:{}", import.file.display(), import.line), import.path.join("::"));
                mistakes.push(format!("{location}: `{path}` is an import from `{from}` {direction} to `{to}`"));
            }
            needed.insert(pair);
        }
        let idle = self.allowed.difference(&needed);
        mistakes
            .extend(idle.map(|(from, to)| format!("{file}: `allow {from} -> {to}` is not needed any more: delete it")));
        mistakes
    }

    /// The member of the section that contains a module: the top-level module, or the file of the
    /// folder.
    fn member(&self, module: &Module) -> Option<String> {
        let folder: Vec<&str> = self.folder.split('/').filter(|name| !name.is_empty()).collect();
        let inside = module.path.iter().zip(&folder).all(|(name, folder)| name == folder);
        if !inside || module.path.len() < folder.len() {
            return None;
        }
        if let Some(member) = module.path.get(folder.len()) {
            return Some(member.clone());
        }
        // The file of the crate is `lib` or `main`, that of a folder `mod`.
        let is_program = module.file.ends_with("src/main.rs");
        let layer = if !folder.is_empty() {
            "mod"
        } else if is_program {
            "main"
        } else {
            "lib"
        };
        Some(layer.to_owned())
    }
}

/// The imports between the members of a folder, or of the crate. They help to arrange the layers.
pub(crate) fn graph(package: &Path, folder: &str) -> BTreeMap<(String, String), Vec<String>> {
    let modules = root_file(package).and_then(|root| modules(&root).ok()).unwrap_or_default();
    let section = LayerSection { folder: folder.to_owned(), ..LayerSection::default() };
    let mut counts: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for import in imports(&modules) {
        let pair = (section.member(&modules[import.from]), section.member(&modules[import.to]));
        if let (Some(from), Some(to)) = pair
            && from != to
        {
            let place = format!("{}:{} {}", import.file.display(), import.line, import.path.join("::"));
            counts.entry((from, to)).or_default().push(place);
        }
    }
    counts
}
