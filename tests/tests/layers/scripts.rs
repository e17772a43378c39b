//! Reads the `LAYERS` file of the page's scripts and compares their imports with it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The violations of the `LAYERS` file in a folder of scripts, each as a sentence.
/// A script imports from a lower layer or from the same folder, and no imports form a cycle.
pub(crate) fn violations(folder: &Path) -> Vec<String> {
    let file = folder.join("LAYERS");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) => {
            return vec![format!("{}: {error}; it lists the folders, one layer per line", file.display())];
        }
    };
    let mut mistakes = Vec::new();
    let mut layers = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        for name in line.split('#').next().unwrap_or_default().split_whitespace() {
            if layers.insert(name, number).is_some() {
                mistakes.push(format!("LAYERS:{}: `{name}` is listed twice", number + 1));
            }
        }
    }
    let mut graph = BTreeMap::new();
    read(folder, "", &mut graph);
    let members: BTreeSet<&str> = graph.keys().map(|script| unit(script)).collect();
    mistakes.extend(
        members.iter().filter(|name| !layers.contains_key(*name)).map(|name| format!("LAYERS: `{name}` has no layer")),
    );
    mistakes.extend(
        layers.keys().filter(|name| !members.contains(*name)).map(|name| format!("LAYERS: there is no `{name}`")),
    );
    for (script, imports) in &graph {
        for import in imports {
            let (from, to) = (unit(script), unit(import));
            if from != to && layers.get(from) <= layers.get(to) {
                mistakes.push(format!("{script}: `{import}` is an import from `{from}` to `{to}`, which is not lower"));
            }
        }
    }
    let mut checked_scripts = BTreeSet::new();
    for script in graph.keys() {
        find_cycle(script, &graph, &mut Vec::new(), &mut checked_scripts, &mut mistakes);
    }
    mistakes
}

/// The folder of a script, or the name of a script that is in no folder.
fn unit(path: &str) -> &str {
    path.split_once('/').map_or_else(|| path.trim_end_matches(".js"), |(folder, _)| folder)
}

/// Adds the scripts of a folder and its subfolders with their imports, as paths below the root.
fn read(folder: &Path, prefix: &str, graph: &mut BTreeMap<String, Vec<String>>) {
    let entries = fs::read_dir(folder).expect("the folder of the page can be read");
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            read(&entry.path(), &format!("{prefix}{name}/"), graph);
        } else if name.ends_with(".js") {
            let text = fs::read_to_string(entry.path()).expect("a script is readable text");
            let imports = imports(&text).map(|path| resolved(prefix, path)).collect();
            graph.insert(format!("{prefix}{name}"), imports);
        }
    }
}

/// The paths in the `import` and `export … from` statements of a script.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("import ").chain(text.match_indices("export "));
    starts.filter_map(move |(start, _)| {
        let begins_line = start == 0 || text[..start].ends_with('\n');
        let statement = text[start..].split(';').next().filter(|_| begins_line)?;
        let is_path =
            statement.starts_with("import ") || statement.contains("} from ") || statement.contains("* from ");
        let (before, _) = statement.trim_end().strip_suffix('"')?.rsplit_once('"').filter(|_| is_path)?;
        statement[before.len() + 1..].trim_end().strip_suffix('"')
    })
}

/// A relative path of an import, as a path below the root. `prefix` is the folder of the script.
fn resolved(prefix: &str, path: &str) -> String {
    let mut parts: Vec<&str> = prefix.split_terminator('/').collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Follows the imports of a script, and reports those that lead back to it.
fn find_cycle<'a>(
    script: &'a str,
    graph: &'a BTreeMap<String, Vec<String>>,
    path: &mut Vec<&'a str>,
    done: &mut BTreeSet<&'a str>,
    found: &mut Vec<String>,
) {
    if let Some(start) = path.iter().position(|one| *one == script) {
        found.push(format!("{} -> {script} is a cycle of imports", path[start..].join(" -> ")));
        return;
    }
    if !done.insert(script) {
        return;
    }
    path.push(script);
    for import in graph.get(script).into_iter().flatten() {
        find_cycle(import, graph, path, done, found);
    }
    path.pop();
}
