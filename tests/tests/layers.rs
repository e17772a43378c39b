//! The modules of each crate are in layers: a module imports from lower layers only.
//! The file `LAYERS` next to a crate's `Cargo.toml` lists them, one layer per line, lowest first.
//! `[clock]` begins the layers of the files in the folder `clock`. `allow a -> b` names a known
//! violation; the test fails if such a violation no longer exists, until its line is deleted.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

mod layers {
    pub(crate) mod imports;
    pub(crate) mod modules;
    pub(crate) mod order;
    pub(crate) mod scripts;
    pub(crate) mod tokens;
}

use std::fs;
use std::path::{Path, PathBuf};

use layers::order::{graph, violations};
use layers::scripts;

const PACKAGES: [&str; 13] = [
    "tumit",
    "tumit/build",
    "tumit/cli",
    "tracer-macros",
    "tracer-rt",
    "tracer-rt/format",
    "converter",
    "converter/paje",
    "converter/spill",
    "viewer",
    "viewer/server",
    "tests",
    "tests/support",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

#[test]
fn modules_import_from_lower_layers_only() {
    let found: Vec<String> = PACKAGES.iter().flat_map(|package| violations(&workspace().join(package))).collect();
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

#[test]
fn scripts_of_the_page_import_from_lower_layers_only() {
    let found = scripts::violations(&workspace().join("viewer/server/ui"));
    assert!(found.is_empty(), "{} violations:\n{}", found.len(), found.join("\n"));
}

/// Prints the imports of a package, `LAYERS_OF=converter`, or of a folder,
/// `LAYERS_OF=converter:clock`.
#[test]
#[ignore = "prints the imports; it checks nothing"]
fn show() {
    let chosen = std::env::var("LAYERS_OF").unwrap_or_default();
    let (package, folder) = chosen.split_once(':').unwrap_or((&chosen, ""));
    for ((from, to), places) in graph(&workspace().join(package), folder) {
        println!("{from} -> {to}: {} times, first {}", places.len(), places[0]);
    }
}

/// Writes a package with these files, and returns its violations.
fn of(files: &[(&str, &str)]) -> String {
    checked(files, violations)
}

/// Writes a folder with these files, and returns the violations that a function finds in it.
fn checked(files: &[(&str, &str)], violations: fn(&Path) -> Vec<String>) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let prefix = format!("{}/", folder.path().display());
    violations(folder.path()).join("\n").replace(&prefix, "")
}

/// The crate of the tests below: the modules `low` and `beside` are one layer, `high` is above
/// them.
fn planted(low: &str, more: &[(&str, &str)]) -> String {
    let files = [
        ("LAYERS", "low beside\nhigh\nlib\n"),
        ("src/lib.rs", "mod low; mod beside; mod high; pub struct Root;"),
        ("src/low.rs", low),
        ("src/beside.rs", "pub(crate) fn beside() {}"),
        ("src/high.rs", "pub(crate) mod inner; pub(crate) struct High; pub(crate) use crate::beside::beside;"),
        ("src/high/inner.rs", "pub(crate) fn deep() {}"),
    ];
    let changed = |name: &str| more.iter().any(|(other, _)| *other == name);
    let all: Vec<(&str, &str)> =
        files.into_iter().filter(|(name, _)| !changed(name)).chain(more.iter().copied()).collect();
    of(&all)
}

#[test]
fn imports_upward_and_sideways_are_found() {
    assert_eq!(planted("fn free() {}", &[]), "");
    for (source, path) in [
        ("use crate::high::High;", "crate::high::High"),
        ("use super::high::{self as other, inner};", "super::high"),
        ("use {crate::high::inner::{deep}};", "crate::high::inner::deep"),
        ("fn f() { crate::high::inner::deep() }", "crate::high::inner::deep"),
        ("fn f(a: &[super::high::High]) {}", "super::high::High"),
        ("mod own { use super::super::high::High; }", "super::super::high::High"),
        ("macro_rules! m { () => { $crate::high::High } }", "crate::high::High"),
        ("pub use crate::high::*;", "crate::high"),
    ] {
        let found = planted(source, &[]);
        let expected = format!("src/low.rs:1: `{path}` is an import from `low` upward to `high`");
        assert!(found.contains(&expected), "{source}: {found}");
    }
    let found = planted("use crate::beside::beside;", &[]);
    assert_eq!(found, "src/low.rs:1: `crate::beside::beside` is an import from `low` sideways to `beside`");
    let found = planted("use crate::Root;", &[]);
    assert_eq!(found, "src/low.rs:1: `crate::Root` is an import from `low` upward to `lib`");
}

#[test]
fn a_reexport_counts_for_the_file_that_defines_the_name() {
    // `high` re-exports a function of the module `beside`.
    let found = planted("use crate::high::beside;", &[]);
    assert_eq!(found, "src/low.rs:1: `crate::high::beside` is an import from `low` sideways to `beside`");
    let glob = [("src/high.rs", "pub use inner::*; mod inner;")];
    let found = planted("use crate::high::deep;", &glob);
    assert!(found.contains("`crate::high::deep` is an import from `low` upward to `high`"), "{found}");
    // The crate re-exports a struct of `high`.
    let root = [("src/lib.rs", "mod low; mod beside; mod high; pub use high::High as Renamed;")];
    let found = planted("fn f(a: crate::Renamed) {}", &root);
    assert_eq!(found, "src/low.rs:1: `crate::Renamed` is an import from `low` upward to `high`");
    assert_eq!(planted("use crate::beside as _;", &[("src/beside.rs", "")]).matches("sideways").count(), 1);
}

#[test]
fn tests_comments_and_other_crates_are_no_violations() {
    for source in [
        "#[cfg(test)] mod tests { use crate::high::High; }",
        "#[cfg(test)] use crate::high::{High, inner};",
        "#[test] fn t() { crate::high::inner::deep() }",
        "pub(in crate::high) fn f() {} pub (in crate::high::inner) struct S;",
        "// use crate::high::High;\n/* crate::high::High */ const TEXT: &str = \"crate::high::High\";",
        "use high::High; fn f() { std::high::inner() }",
    ] {
        assert_eq!(planted(source, &[]), "", "{source}");
    }
}

#[test]
fn folders_have_layers_of_their_own() {
    let layers = ("LAYERS", "low beside\nhigh\nlib\n[high]\ninner\nmod\n");
    assert_eq!(planted("", &[layers]), "");
    let upward = ("src/high/inner.rs", "use super::High;");
    let found = planted("", &[layers, upward]);
    assert_eq!(found, "src/high/inner.rs:1: `super::High` is an import from `inner` upward to `mod`");
}

#[test]
fn the_list_of_allowed_violations_only_shrinks() {
    let upward = "use crate::high::High;";
    let allow = ("LAYERS", "low beside\nhigh\nlib\nallow low -> high\n");
    assert_eq!(planted(upward, &[allow]), "");
    let found = planted("", &[allow]);
    assert!(found.contains("`allow low -> high` is not needed any more: delete it"), "{found}");
    let missing = planted("", &[("LAYERS", "low beside\nlib gone\n")]);
    assert!(missing.contains("module `high` of the crate has no layer"), "{missing}");
    assert!(missing.contains("the crate has no module `gone`"), "{missing}");
    let mistakes = planted("", &[("LAYERS", "low beside low\nhigh\nlib\nallow low to high\n")]);
    assert!(mistakes.contains("listed twice") && mistakes.contains("expected `allow FROM -> TO`"), "{mistakes}");
}

#[test]
fn scripts_have_layers_without_cycles() {
    let planted = |layers: &str, low: &str, beside: &str| {
        let high = "import { low } from \"../low/a.js\";\n";
        let main = "import {\n  high,\n} from \"./high/c.js\";\nimport \"./low/b.js\";\n";
        let files =
            [("LAYERS", layers), ("low/a.js", low), ("low/b.js", beside), ("high/c.js", high), ("main.js", main)];
        checked(&files, scripts::violations)
    };
    let layers = "low # the lowest\nhigh\nmain\n";
    let comment = "// import { high } from \"../high/c.js\";\n/** @type {import(\"../high/c.js\").High} */\n";
    assert_eq!(planted(layers, comment, "import { a } from \"./a.js\";"), "");
    let upward = "low/b.js: `high/c.js` is an import from `low` to `high`, which is not lower";
    assert_eq!(planted(layers, "", "import \"../high/c.js\";"), upward);
    assert_eq!(planted(layers, "", "export * from \"../high/c.js\";"), upward);
    assert_eq!(planted(layers, "", "export { high } from \"../high/c.js\";"), upward);
    assert_eq!(
        planted("low high\nmain", "", ""),
        "high/c.js: `low/a.js` is an import from `high` to `low`, which is not lower"
    );
    let cycle = planted(layers, "import \"./b.js\";", "import \"./a.js\";");
    assert_eq!(cycle, "low/a.js -> low/b.js -> low/a.js is a cycle of imports");
    let lists = planted("low low gone\nmain\n", "", "");
    assert!(lists.contains("`low` is listed twice") && lists.contains("there is no `gone`"), "{lists}");
    assert!(lists.contains("`high` has no layer"), "{lists}");
}
