//! The modules of each package are in layers: a module imports from lower layers only.
//! The file `LAYERS` next to a package's `Cargo.toml` lists them, one layer per line, lowest first.
//! `[clock]` begins the layers of the files in the folder `clock`, and `[clock/graph]` those of a
//! folder in it. In no folder do a module and its inner module use each other (see `nesting`), and
//! the files of a folder without layers import each other without cycles (see `cycles`).
//!
//! `allow a -> b` names a known violation of the layers, and `allow a/b -> a` one of the inner
//! module `b` of `a`. The test fails if such a violation no longer exists, until its line is
//! deleted.

#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

mod layers {
    pub(crate) mod cargo_targets;
    pub(crate) mod cycles;
    pub(crate) mod imports;
    pub(crate) mod modules;
    pub(crate) mod nesting;
    pub(crate) mod order;
    pub(crate) mod packages;
    pub(crate) mod scripts;
    pub(crate) mod tokens;
    pub(crate) mod type_names;
}

use std::fs;
use std::path::{Path, PathBuf};

use layers::order::{graph, violations};
use layers::packages::packages;
use layers::{cycles, scripts, type_names};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

#[test]
fn modules_import_from_lower_layers_only() {
    let violations_found: Vec<String> = packages(&workspace()).iter().flat_map(|package| violations(package)).collect();
    assert!(violations_found.is_empty(), "{} violations:\n{}", violations_found.len(), violations_found.join("\n"));
}

#[test]
fn names_of_types_are_unique() {
    let root = workspace();
    let is_product =
        |package: &PathBuf| !["tests", "examples"].iter().any(|folder| package.starts_with(root.join(folder)));
    let sources: Vec<PathBuf> =
        packages(&root).into_iter().filter(is_product).map(|package| package.join("src")).collect();
    let duplicates = type_names::duplicates(&root, &sources);
    assert!(duplicates.is_empty(), "{} names of several types:\n{}", duplicates.len(), duplicates.join("\n"));
}

#[test]
fn files_of_a_folder_import_each_other_without_cycles() {
    let cycle_texts: Vec<String> =
        packages(&workspace()).iter().flat_map(|package| cycles::violations(package)).collect();
    assert!(cycle_texts.is_empty(), "{} cycles:\n{}", cycle_texts.len(), cycle_texts.join("\n"));
}

#[test]
fn scripts_of_the_page_import_from_lower_layers_only() {
    let script_violations = scripts::violations(&workspace().join("viewer/server/ui"));
    assert!(script_violations.is_empty(), "{} violations:\n{}", script_violations.len(), script_violations.join("\n"));
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
    let changed = |name: &str| more.iter().any(|(file_name, _)| *file_name == name);
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
        let mistakes = planted(source, &[]);
        let expected = format!("src/low.rs:1: `{path}` is an import from `low` upward to `high`");
        assert!(mistakes.contains(&expected), "{source}: {mistakes}");
    }
    let mistakes = planted("use crate::beside::beside;", &[]);
    assert_eq!(mistakes, "src/low.rs:1: `crate::beside::beside` is an import from `low` sideways to `beside`");
    let mistakes = planted("use crate::Root;", &[]);
    assert_eq!(mistakes, "src/low.rs:1: `crate::Root` is an import from `low` upward to `lib`");
}

#[test]
fn imports_by_another_name_of_the_crate_are_found() {
    let root = ("src/lib.rs", "extern crate self as own; mod low; mod beside; mod high; pub struct Root;");
    for (source, path) in [
        ("use own::high::High;", "own::high::High"),
        ("use ::own::high::High;", "::own::high::High"),
        ("fn f(a: &own::high::High) {}", "own::high::High"),
        ("impl ::own::high::High { }", "::own::high::High"),
        ("fn f() { ::own::high::inner::deep() }", "::own::high::inner::deep"),
    ] {
        let expected = format!("src/low.rs:1: `{path}` is an import from `low` upward to `high`");
        assert_eq!(planted(source, &[root]), expected, "{source}");
        assert_eq!(planted(source, &[]), "", "another crate: {source}");
    }
    // Names of the module come first, and `::` begins a path only outside of paths.
    assert_eq!(planted("mod own { pub(crate) mod high { } } use own::high::High;", &[root]), "");
    assert_eq!(planted("fn f() { Vec::<u8>::own::high::High; <u8 as T>::own::high(); }", &[root]), "");
}

#[test]
fn imports_in_attributes_are_found() {
    for (source, path) in [
        ("struct A { #[serde(with = \"crate::high\")] a: u8 }", "crate::high"),
        ("#[serde(serialize_with = \"super::high::inner::deep\")] struct A;", "super::high::inner::deep"),
        ("#[arg(value_parser = crate::high::inner::deep)] struct A;", "crate::high::inner::deep"),
        ("#[derive(Clone, crate::high::High)] struct A;", "crate::high::High"),
    ] {
        let expected = format!("src/low.rs:1: `{path}` is an import from `low` upward to `high`");
        assert_eq!(planted(source, &[]), expected, "{source}");
    }
    let prose = "#[expect(dead_code, reason = \"see crate::high::High\")] #[serde(with = \"high::own\")] struct A;";
    assert_eq!(planted(prose, &[]), "");
}

#[test]
fn items_after_tests_and_items_of_other_builds_are_checked() {
    let upward = "src/low.rs:1: `crate::high::High` is an import from `low` upward to `high`";
    let import = "use crate::high::High;";
    for source in [
        "#[cfg(test)] mod tests { use crate::beside; } fn f() { let a = crate::high::High; }",
        "#[cfg(test)] mod tests { use crate::beside; } use crate::high::High;",
        "#[cfg(test)] pub(crate) mod tests { use crate::beside; } use crate::high::High;",
        "#[test] fn t() { use crate::beside; } use crate::high::High;",
        "#[cfg(test)] fn t() -> impl Sized + use<> { } use crate::high::High;",
        "#[cfg(test)] pub(crate) use crate::high::{inner, other}; use crate::high::High;",
    ] {
        assert_eq!(planted(source, &[]), upward, "{source}");
    }
    for condition in [
        "any(test, feature = \"more\")",
        "not(test)",
        "not(all(test, unix))",
        "any(all(test, unix), not(test))",
        "feature = \"test\"",
        "all(unix, any(test, windows))",
    ] {
        assert_eq!(planted(&format!("#[cfg({condition})] {import}"), &[]), upward, "{condition}");
    }
    for condition in ["all(test, not(miri))", "any(test, all(unix, test))", "not(not(test))", "not(any(not(test)))"] {
        assert_eq!(planted(&format!("#[cfg({condition})] {import}"), &[]), "", "{condition}");
    }
}

#[test]
fn a_reexport_counts_for_the_file_that_defines_the_name() {
    // `high` re-exports a function of the module `beside`.
    let mistakes = planted("use crate::high::beside;", &[]);
    assert_eq!(mistakes, "src/low.rs:1: `crate::high::beside` is an import from `low` sideways to `beside`");
    let glob = [("src/high.rs", "pub use inner::*; mod inner;")];
    let mistakes = planted("use crate::high::deep;", &glob);
    assert!(mistakes.contains("`crate::high::deep` is an import from `low` upward to `high`"), "{mistakes}");
    // The crate re-exports a struct of `high`.
    let root = [("src/lib.rs", "mod low; mod beside; mod high; pub use high::High as Renamed;")];
    let mistakes = planted("fn f(a: crate::Renamed) {}", &root);
    assert_eq!(mistakes, "src/low.rs:1: `crate::Renamed` is an import from `low` upward to `high`");
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
    let mistakes = planted("", &[layers, upward]);
    assert_eq!(mistakes, "src/high/inner.rs:1: `super::High` is an import from `inner` upward to `mod`");
}

#[test]
fn nested_folders_have_layers_of_their_own() {
    let layers = ("LAYERS", "low beside\nhigh\nlib\n[high/inner]\nfirst\nsecond third\nmod\n");
    let inner = ("src/high/inner.rs", "mod first; mod second; mod third; pub(crate) fn deep() {} fn f() { g() }");
    let planted_in = |first: &'static str, second: &'static str| {
        let files = [("src/high/inner/first.rs", first), ("src/high/inner/second.rs", second)];
        planted("", &[&files[..], &[("src/high/inner/third.rs", "pub(crate) fn third() {}"), layers, inner]].concat())
    };
    assert_eq!(planted_in("pub(crate) fn first() {}", "use super::first::first;"), "");
    let upward = planted_in("use super::second::second;", "pub(crate) fn second() {}");
    let place = "src/high/inner/first.rs:1: `super::second::second`";
    assert_eq!(upward, format!("{place} is an import from `first` upward to `second`"));
    let sideways = planted_in("", "use crate::high::inner::third::third;");
    let place = "src/high/inner/second.rs:1: `crate::high::inner::third::third`";
    assert_eq!(sideways, format!("{place} is an import from `second` sideways to `third`"));
    let to_parent = planted_in("use super::deep;", "");
    assert_eq!(to_parent, "src/high/inner/first.rs:1: `super::deep` is an import from `first` upward to `mod`");
    let listed = planted("", &[("LAYERS", "low beside\nhigh\nlib\n[high/inner]\nmod gone\n")]);
    assert!(listed.contains("high/inner has no module `gone`"), "{listed}");
}

#[test]
fn a_module_and_its_inner_module_do_not_use_each_other() {
    let planted_in =
        |outer: &'static str, inner: &'static str| planted("", &[("src/high.rs", outer), ("src/high/inner.rs", inner)]);
    let cycle = "src/high/inner.rs:1: `high/inner` uses `super::High` of `high`, which uses `inner::deep` of \
                 `high/inner`: move the items of `high` to an inner module of their own";
    let outer = "mod inner; pub(crate) struct High; fn f() { inner::deep() }";
    assert_eq!(planted_in(outer, "use super::High; pub(crate) fn deep() {}"), cycle);
    let by_path = planted_in(outer, "pub(crate) fn deep(h: crate::high::High) {}");
    assert!(by_path.contains("`high/inner` uses `crate::high::High` of `high`"), "{by_path}");
    let nested = planted_in(outer, "pub(crate) fn deep() {} mod part { use super::super::High; }");
    assert!(nested.contains("`high/inner/part` uses `super::super::High` of `high`"), "{nested}");
    // A re-export is a use only if the code of the module mentions the name.
    let reexport = "mod inner; pub(crate) use inner::deep; pub(crate) struct High; fn f() { deep() }";
    assert_eq!(planted_in(reexport, "use super::High; pub(crate) fn deep() {}"), cycle);

    let only_reexported = "mod inner; pub(crate) use inner::{deep, other}; pub(crate) struct High;";
    assert_eq!(planted_in(only_reexported, "use super::High; pub(crate) fn deep() {}"), "");
    let item_of_other_module = "mod inner; pub(crate) use crate::beside::beside; fn f() { inner::deep() }";
    let upward = planted_in(item_of_other_module, "use super::beside; pub(crate) fn deep() {}");
    assert_eq!(upward, "");
    for inner in [
        "use super::High; impl High { fn deep(&self) -> u8 { 0 } }",
        "use super::High; impl<F: Fn(u8) -> u8> Deep<F> for High where F: Copy { }",
        "#[cfg(test)] mod tests { use super::super::High; }",
    ] {
        assert_eq!(planted_in(outer, inner), "", "{inner}");
    }
    assert_eq!(
        planted_in("mod inner { use super::High; pub(crate) fn deep() {} } struct High; fn f() { inner::deep() }", ""),
        ""
    );
}

#[test]
fn cycles_of_inner_modules_are_allowed_only_while_they_exist() {
    let layers = ("LAYERS", "low beside\nhigh\nlib\nallow high/inner -> high\n");
    let outer = ("src/high.rs", "mod inner; pub(crate) struct High; fn f() { inner::deep() }");
    let inner = ("src/high/inner.rs", "use super::High; pub(crate) fn deep() {}");
    assert_eq!(planted("", &[layers, outer, inner]), "");
    let idle = planted("", &[layers, outer]);
    assert!(idle.contains("`allow high/inner -> high` is not needed any more: delete it"), "{idle}");
}

/// The cycles in the folder `outer` of a target with the root file `root`. The folder has the files
/// `first`, `second` and `third`.
fn planted_cycles(root: &str, layers: &str, [first, second, third]: [&str; 3]) -> String {
    let outer = "mod first; mod second; mod third; pub(crate) use self::second::deep;";
    let folder = root.rsplit_once('/').unwrap().0;
    let paths = ["outer.rs", "outer/first.rs", "outer/second.rs", "outer/third.rs"];
    let paths = paths.map(|path| format!("{folder}/{path}"));
    let texts = [outer, first, second, third];
    let files = paths.iter().map(String::as_str).zip(texts);
    let manifest = "[[bin]]\nname = \"tool\"\npath = \"more/tool.rs\"\n";
    let others = [("LAYERS", layers), ("Cargo.toml", manifest), (root, "mod outer;")];
    let files: Vec<(&str, &str)> = others.into_iter().chain(files).collect();
    checked(&files, cycles::violations)
}

const FIRST: &str = "use super::second::deep; pub(crate) fn start() {}";
const SECOND: &str = "use super::first::start; pub(crate) fn deep() {}";

#[test]
fn cycles_between_the_files_of_a_folder_are_found() {
    let cycle = |path: &str| {
        format!(
            "the files of `outer` import each other in a cycle: `first` uses `{path}` (src/outer/first.rs:1), \
             `second` uses `super::first::start` (src/outer/second.rs:1)"
        )
    };
    let planted = |first, second, third| planted_cycles("src/lib.rs", "outer\nlib\n", [first, second, third]);
    assert_eq!(planted(FIRST, SECOND, ""), cycle("super::second::deep"));
    for (first, path) in [
        ("use crate::outer::second::deep;", "crate::outer::second::deep"),
        ("fn f() { super::second::deep() }", "super::second::deep"),
        // The folder's module re-exports the function by `self::second::deep`.
        ("use super::deep;", "super::deep"),
        ("use self::super::deep;", "self::super::deep"),
        ("use self::super::second::deep;", "self::super::second::deep"),
        ("use self::inner::deep; mod inner { pub(crate) use super::super::second::deep; }", "self::inner::deep"),
        ("fn f() { self::super::super::outer::deep() }", "self::super::super::outer::deep"),
        ("mod inner { use self::super::super::second::deep; }", "self::super::super::second::deep"),
    ] {
        assert_eq!(planted(first, SECOND, ""), cycle(path), "{first}");
    }
    let three = planted(FIRST, "use super::third::back;", "use super::first::start; pub(crate) fn back() {}");
    let parts = ["`first` uses", "`second` uses `super::third::back` (src/outer/second.rs:1), `third` uses"];
    assert!(parts.iter().all(|part| three.contains(part)), "{three}");

    for (first, second) in [
        (FIRST, "pub(crate) fn deep() {}"),
        (FIRST, "#[cfg(test)] mod tests { use super::super::first::start; }"),
        ("mod one { use super::two::Two; } mod two { use super::one::One; }", ""),
    ] {
        assert_eq!(planted(first, second, ""), "", "{first} {second}");
    }
}

#[test]
fn cycles_are_found_in_all_targets_and_in_folders_without_layers() {
    let layers = "outer\nlib\n[outer]\nsecond\nfirst third\nmod\n";
    assert_eq!(planted_cycles("src/lib.rs", layers, [FIRST, SECOND, ""]), "");
    for root in ["more/tool.rs", "src/bin/tool.rs", "tests/tool.rs", "benches/tool/main.rs", "examples/tool.rs"] {
        let mistakes = planted_cycles(root, layers, [FIRST, SECOND, ""]);
        assert!(mistakes.contains("`second` uses `super::first::start`"), "{root}: {mistakes}");
    }
}

#[test]
fn packages_with_several_modules_need_a_list() {
    assert_eq!(of(&[("src/lib.rs", "pub fn alone() {}")]), "");
    assert_eq!(of(&[("src/main.rs", "mod part;"), ("src/part.rs", ""), ("LAYERS", "part\nmain\n")]), "");
    let missing = of(&[("src/main.rs", "mod part;"), ("src/part.rs", "")]);
    assert!(missing.starts_with("LAYERS: ") && missing.contains("create it"), "{missing}");
    assert_eq!(of(&[("benches/only.rs", "")]), "");
    assert!(of(&[("sources/lib.rs", "")]).contains("neither src/lib.rs nor src/main.rs"));
}

#[test]
fn packages_are_found_in_all_folders_but_build_outputs() {
    let package = "[package]\nname = \"a\"\n";
    let files = [
        ("Cargo.toml", "[workspace]\n"),
        ("one/Cargo.toml", package),
        ("one/inner/Cargo.toml", package),
        ("target/package/Cargo.toml", package),
        (".hidden/Cargo.toml", package),
    ];
    let folders = checked(&files, |root| packages(root).iter().map(|folder| folder.display().to_string()).collect());
    assert_eq!(folders, "one\none/inner");
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
