//! Types with equal names in different places of the workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::tokens::{Token, TokenKind, tokens};

/// Folders and files whose names of types may occur again: nodes of the syntax tree, and names in
/// generated code.
const EXCEPTIONS: [&str; 3] = ["tumit/src/syntax/ast.rs", "tracer-rt/format/src/record_values", "tracer-rt/src/fields"];
/// Names that may occur again: the arguments of each subcommand, and names in generated code.
const EXCEPT_NAMES: [&str; 2] = ["Args", "Level"];

/// The types of the source folders of packages that have the same name as another one.
pub(crate) fn duplicates(root: &Path, sources: &[PathBuf]) -> Vec<String> {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in sources.iter().flat_map(|folder| rust_files(folder)) {
        let file = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if EXCEPTIONS.iter().any(|exception| file.starts_with(exception)) || is_test(Path::new(&file)) {
            continue;
        }
        for (name, line) in types(&fs::read_to_string(&path).unwrap_or_default()) {
            places.entry(name).or_default().push(format!("{file}:{line}"));
        }
    }
    places.retain(|name, places| places.len() > 1 && !EXCEPT_NAMES.contains(&name.as_str()));
    places.into_iter().map(|(name, places)| format!("`{name}` is at {}", places.join(" and "))).collect()
}

/// The names of the types that a source text defines outside its tests, with their lines.
fn types(source: &str) -> Vec<(String, usize)> {
    let tokens = tokens(source);
    let mut type_list = Vec::new();
    let mut position = 0;
    while let [first, second, rest @ ..] = &tokens[position..] {
        if first.is_name("mod") && second.is_name("tests") && rest.first().is_some_and(|token| token.is_mark('{')) {
            position += 2 + length_of_block(rest);
            continue;
        }
        let is_type = ["struct", "enum", "trait", "union"].iter().any(|keyword| first.is_name(keyword));
        if let (true, TokenKind::Name(name)) = (is_type, &second.kind)
            && name.starts_with(char::is_uppercase)
        {
            type_list.push((name.clone(), second.line));
        }
        position += 1;
    }
    type_list
}

/// The number of tokens of a block in braces.
fn length_of_block(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        depth += i32::from(token.is_mark('{')) - i32::from(token.is_mark('}'));
        if depth == 0 {
            return index + 1;
        }
    }
    tokens.len()
}

/// Whether a file has only tests, or code for them.
fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests") || path.file_stem().is_some_and(|stem| stem == "tests")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()).collect());
    let entries: Vec<PathBuf> = entries.unwrap_or_default();
    let inner = entries.iter().filter(|path| path.is_dir()).flat_map(|folder| rust_files(folder));
    let files = entries.iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")).cloned();
    let mut all: Vec<PathBuf> = inner.chain(files).collect();
    all.sort();
    all
}

#[cfg(test)]
mod examples {
    use super::types;

    #[test]
    fn types_are_found_outside_tests_comments_and_texts() {
        let source = "pub struct One; enum Two { A } // struct Three;\n\
            #[cfg(test)]\nmod tests { struct One; mod inner { enum Two {} } }\n\
            impl One { const TEXT: &str = \"struct Four\"; }\nunion Five { a: u8 }";
        let type_list = types(source);
        let expected = [("One", 1), ("Two", 1), ("Five", 5)].map(|(name, line)| (name.to_owned(), line));
        assert_eq!(type_list, expected);
    }
}
