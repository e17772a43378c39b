//! Reads the modules of a crate: their files, the names that they define and import, and the paths
//! that they use. Items for tests only are left out, because a test may import from any layer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::tokens::{Token, TokenKind, tokens};

/// A path of names. The first one is `crate`, `self`, `super`, a name of the module, or another
/// crate. It is empty in a path such as `::std::fs`.
pub(crate) type PathNames = Vec<String>;

/// Words before which no path ends, so that `::` after them begins one.
const WORDS_BEFORE_PATHS: [&str; 14] =
    ["as", "const", "dyn", "else", "for", "if", "impl", "in", "match", "mut", "return", "use", "where", "while"];

/// A path that a module uses.
#[derive(Clone, Debug)]
pub(crate) struct UsePath {
    pub(crate) path: PathNames,
    pub(crate) line: usize,
    /// The name under which the module re-exports the path; `*` for all names of a module.
    pub(crate) reexported_as: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Module {
    /// The names from the crate to the module; empty for the crate itself.
    pub(crate) path: PathNames,
    pub(crate) file: PathBuf,
    pub(crate) children: BTreeMap<String, usize>,
    /// Names that the module defines.
    pub(crate) items: BTreeSet<String>,
    /// Names that the module imports, with the path of each.
    pub(crate) imports: BTreeMap<String, PathNames>,
    /// Modules from which all names are imported.
    pub(crate) globs: Vec<PathNames>,
    pub(crate) uses: Vec<UsePath>,
    /// Names that the module mentions outside its imports.
    pub(crate) mentioned: BTreeSet<String>,
    /// Names of the types that get methods or traits in the module.
    pub(crate) implemented: BTreeSet<String>,
}

/// The modules of a crate; the first one is the crate itself.
///
/// # Errors
/// When a file cannot be read or a module has no file.
pub(crate) fn modules(root: &Path) -> Result<Vec<Module>, String> {
    let mut modules = Vec::new();
    let folder = root.parent().unwrap_or(root).to_path_buf();
    read_file(&mut modules, Vec::new(), root, &folder)?;
    Ok(modules)
}

/// Reads a file as a module; the files of its children are in `folder`.
fn read_file(modules: &mut Vec<Module>, path: PathNames, file: &Path, folder: &Path) -> Result<usize, String> {
    let source = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    read_tokens(modules, path, file, folder, &tokens(&source))
}

fn read_tokens(
    modules: &mut Vec<Module>,
    path: PathNames,
    file: &Path,
    folder: &Path,
    tokens: &[Token],
) -> Result<usize, String> {
    let number = modules.len();
    modules.push(Module {
        path,
        file: file.to_path_buf(),
        children: BTreeMap::new(),
        items: BTreeSet::new(),
        imports: BTreeMap::new(),
        globs: Vec::new(),
        uses: Vec::new(),
        mentioned: BTreeSet::new(),
        implemented: BTreeSet::new(),
    });
    let mut reader =
        ModuleReader { modules, number, folder, tokens, at: 0, depth: 0, path_attribute: None, is_reexport: false };
    while reader.at < tokens.len() {
        reader.step()?;
    }
    Ok(number)
}

struct ModuleReader<'r> {
    modules: &'r mut Vec<Module>,
    number: usize,
    folder: &'r Path,
    tokens: &'r [Token],
    at: usize,
    /// The number of open braces: 0 at the level of the module's items.
    depth: usize,
    /// The file of the attribute `#[path = "…"]` before a module.
    path_attribute: Option<String>,
    /// The current import is public.
    is_reexport: bool,
}

impl ModuleReader<'_> {
    fn token(&self, offset: usize) -> Option<&Token> {
        self.tokens.get(self.at + offset)
    }

    fn name(&self, offset: usize) -> Option<&str> {
        self.token(offset)?.name()
    }

    fn is_mark(&self, offset: usize, mark: char) -> bool {
        self.token(offset).is_some_and(|token| token.is_mark(mark))
    }

    fn is_separator(&self, offset: usize) -> bool {
        self.token(offset).is_some_and(|token| token.kind == TokenKind::PathSeparator)
    }

    fn module(&mut self) -> &mut Module {
        &mut self.modules[self.number]
    }

    fn step(&mut self) -> Result<(), String> {
        if self.is_mark(0, '#') && (self.is_mark(1, '[') || self.is_mark(1, '!') && self.is_mark(2, '[')) {
            self.attribute();
            return Ok(());
        }
        let token = &self.tokens[self.at];
        match &token.kind {
            TokenKind::Mark('{') => self.depth += 1,
            TokenKind::Mark('}') => self.depth = self.depth.saturating_sub(1),
            TokenKind::Name(name) => return self.word(&name.clone()),
            _ => {}
        }
        self.at += 1;
        Ok(())
    }

    /// An attribute with the paths in it. Skips the item after it if the item is for tests only.
    fn attribute(&mut self) {
        let open = self.at + if self.is_mark(1, '!') { 2 } else { 1 };
        let end = closing(self.tokens, open);
        let inside = &self.tokens[open..end];
        let is_test = inside.get(1).is_some_and(|token| token.is_name("cfg")) && is_for_tests(&inside[2..]);
        if inside.get(1).is_some_and(|token| token.is_name("path"))
            && let Some(TokenKind::Text(file)) = inside.get(3).map(|token| &token.kind)
        {
            self.path_attribute = Some(file.clone());
        }
        if is_test || inside.get(1).is_some_and(|token| token.is_name("test")) {
            self.at = end;
            self.skip_item();
            return;
        }
        while self.at < end {
            self.attribute_token();
        }
    }

    /// A token of an attribute, such as the path in `#[serde(with = "crate::part")]`.
    fn attribute_token(&mut self) {
        match self.token(0).map(|token| &token.kind) {
            Some(TokenKind::Name(_)) if self.is_path_start() => return self.path(),
            Some(TokenKind::Text(text)) => {
                if let Some(path) = path_of_text(text) {
                    let line = self.tokens[self.at].line;
                    self.module().uses.push(UsePath { path, line, reexported_as: None });
                }
            }
            _ => {}
        }
        self.at += 1;
    }

    fn skip_item(&mut self) {
        while self.is_mark(0, '#') && self.is_mark(1, '[') {
            self.at = closing(self.tokens, self.at + 1);
        }
        let visibility = match (self.name(0), self.is_mark(1, '(')) {
            (Some("pub"), true) => closing(self.tokens, self.at + 1) - self.at,
            (Some("pub"), false) => 1,
            _ => 0,
        };
        let is_use = self.name(visibility) == Some("use");
        while let Some(token) = self.token(0) {
            match token.kind {
                TokenKind::Mark(';' | ',') => {
                    self.at += 1;
                    return;
                }
                TokenKind::Mark('}') => return,
                TokenKind::Mark('{') => {
                    self.at = closing(self.tokens, self.at);
                    if !is_use {
                        return;
                    }
                }
                TokenKind::Mark('(' | '[') => self.at = closing(self.tokens, self.at),
                _ => self.at += 1,
            }
        }
    }

    fn word(&mut self, word: &str) -> Result<(), String> {
        let is_path_end = self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::PathSeparator;
        let next = self.name(1).map(str::to_owned);
        match (word, next) {
            ("use", _) if !is_path_end => self.import(),
            // The path of a visibility is no import.
            ("pub", None) if self.is_mark(1, '(') => self.at = closing(self.tokens, self.at + 1),
            ("mod", Some(name)) if self.depth == 0 => return self.child(&name),
            ("fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "union", Some(name)) => {
                if self.depth == 0 {
                    let name = if name == "mut" { self.name(2).unwrap_or_default().to_owned() } else { name };
                    // `const fn name`, `unsafe fn name`: the next word defines it.
                    if !matches!(name.as_str(), "fn" | "unsafe" | "extern" | "async") {
                        self.module().items.insert(name);
                    }
                }
                self.at += 1;
            }
            ("extern", Some(next)) if next == "crate" => self.extern_crate(),
            ("macro_rules", _) if self.is_mark(1, '!') => {
                if let Some(name) = self.name(2).map(str::to_owned) {
                    self.module().items.insert(name);
                }
                self.at += 3;
            }
            ("impl", _) if self.depth == 0 => {
                let implemented = self.implemented_type();
                self.module().implemented.extend(implemented);
                self.at += 1;
            }
            _ if self.is_path_start() => self.path(),
            _ => {
                self.module().mentioned.insert(word.to_owned());
                self.at += 1;
            }
        }
        Ok(())
    }

    /// Whether a path of several names begins here.
    fn is_path_start(&self) -> bool {
        self.is_separator(1) && (self.is_global() || !self.is_after_separator())
    }

    fn is_after_separator(&self) -> bool {
        self.at > 0 && self.tokens[self.at - 1].kind == TokenKind::PathSeparator
    }

    /// Whether the name here is the first one of a path such as `::std::fs`.
    fn is_global(&self) -> bool {
        let before = self.at.checked_sub(2).map(|index| &self.tokens[index]);
        self.is_after_separator()
            && before.is_none_or(|token| match &token.kind {
                TokenKind::Name(name) => WORDS_BEFORE_PATHS.contains(&name.as_str()),
                TokenKind::Mark(mark) => !matches!(mark, '>' | ')' | ']' | '}'),
                _ => true,
            })
    }

    /// `extern crate self as name`: another name of the crate, in all modules.
    fn extern_crate(&mut self) {
        if let (Some("self"), Some("as"), Some(name)) = (self.name(2), self.name(3), self.name(4)) {
            let name = name.to_owned();
            self.module().imports.insert(name, vec!["crate".to_owned()]);
        }
        self.at += 3;
    }

    /// The name of the type of an `impl` block, which begins here.
    fn implemented_type(&self) -> Option<String> {
        let (mut name, mut depth) = (None, 0_usize);
        let tokens = &self.tokens[self.at + 1..];
        for (index, token) in tokens.iter().enumerate() {
            match &token.kind {
                TokenKind::Mark('<') => depth += 1,
                // The `>` of `->` closes nothing.
                TokenKind::Mark('>') if !tokens[index - 1].is_mark('-') => depth = depth.saturating_sub(1),
                TokenKind::Mark('{') => break,
                TokenKind::Name(word) if depth == 0 && word == "where" => break,
                TokenKind::Name(word) if depth == 0 => name = Some(word.clone()),
                _ => {}
            }
        }
        name
    }

    /// A child module, in a file or in braces.
    fn child(&mut self, name: &str) -> Result<(), String> {
        let mut path = self.module().path.clone();
        path.push(name.to_owned());
        let folder = self.folder.join(name);
        let attribute = self.path_attribute.take();
        let child = if self.is_mark(2, '{') {
            let end = closing(self.tokens, self.at + 2);
            let inside = &self.tokens[self.at + 3..end - 1];
            self.at = end;
            let file = self.module().file.clone();
            read_tokens(self.modules, path, &file, &folder, inside)?
        } else {
            self.at += 3;
            let candidates = match attribute {
                Some(file) => vec![self.module().file.with_file_name(file)],
                None => vec![folder.with_extension("rs"), folder.join("mod.rs")],
            };
            let file = candidates.iter().find(|file| file.is_file());
            let file = file.ok_or_else(|| format!("module `{}` has no file {candidates:?}", path.join("::")))?;
            read_file(self.modules, path, file, &folder)?
        };
        self.module().children.insert(name.to_owned(), child);
        Ok(())
    }

    /// A path outside an import.
    fn path(&mut self) {
        let line = self.tokens[self.at].line;
        let mut path = if self.is_global() { vec![String::new()] } else { Vec::new() };
        while let Some(name) = self.name(0) {
            path.push(name.to_owned());
            self.at += 1;
            if !self.is_separator(0) || self.name(1).is_none() {
                break;
            }
            self.at += 1;
        }
        self.module().uses.push(UsePath { path, line, reexported_as: None });
    }

    fn import(&mut self) {
        let before = self.at.checked_sub(1).map(|index| &self.tokens[index]);
        self.is_reexport = before.is_some_and(|token| token.is_name("pub") || token.is_mark(')'));
        self.at += 1;
        let mut prefix = Vec::new();
        if self.is_separator(0) {
            prefix.push(String::new());
            self.at += 1;
        }
        self.tree(&prefix);
    }

    /// One tree of an import after the names of `prefix`, up to the token after it.
    fn tree(&mut self, prefix: &PathNames) {
        let line = self.token(0).map_or(0, |token| token.line);
        let mut path = prefix.clone();
        loop {
            if self.is_mark(0, '{') {
                return self.list(&path);
            }
            if self.is_mark(0, '*') {
                self.at += 1;
                let reexported_as = self.is_reexport.then(|| "*".to_owned());
                self.module().uses.push(UsePath { path: path.clone(), line, reexported_as });
                self.module().globs.push(path);
                return;
            }
            let Some(name) = self.name(0).map(str::to_owned) else { return };
            self.at += 1;
            // `a::{self}` imports `a`.
            if name != "self" || path.is_empty() {
                path.push(name);
            }
            if !self.is_separator(0) {
                break;
            }
            self.at += 1;
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.name(0) == Some("as") {
            name = self.name(1).unwrap_or("_").to_owned();
            self.at += 2;
        }
        let reexported_as = self.is_reexport.then(|| name.clone());
        self.module().uses.push(UsePath { path: path.clone(), line, reexported_as });
        self.module().imports.insert(name, path);
    }

    fn list(&mut self, prefix: &PathNames) {
        let end = closing(self.tokens, self.at);
        self.at += 1;
        while self.at + 1 < end {
            self.tree(prefix);
            if self.is_mark(0, ',') {
                self.at += 1;
            }
        }
        self.at = end;
    }
}

/// Whether a condition in parentheses, such as that of `cfg`, can be true in tests only.
fn is_for_tests(condition: &[Token]) -> bool {
    value_without_tests(condition) == Some(false)
}

/// The value of `(condition)` outside of tests, or of the last of several conditions. `None` if it
/// depends on more than that.
fn value_without_tests(condition: &[Token]) -> Option<bool> {
    let inside = condition.get(1..)?;
    let (first, rest) = inside.split_first()?;
    if !rest.first().is_some_and(|token| token.is_mark('(')) {
        return first.is_name("test").then_some(false);
    }
    let parts = || conditions(rest).map(value_without_tests);
    match first.name()? {
        "not" => parts().next()?.map(|value| !value),
        "all" if parts().any(|value| value == Some(false)) => Some(false),
        "all" => parts().all(|value| value == Some(true)).then_some(true),
        "any" if parts().any(|value| value == Some(true)) => Some(true),
        "any" => parts().all(|value| value == Some(false)).then_some(false),
        _ => None,
    }
}

/// The conditions in a list such as `(test, not(miri))`, each after the mark before it.
fn conditions(list: &[Token]) -> impl Iterator<Item = &[Token]> {
    let end = closing(list, 0).saturating_sub(1);
    let mut depth = 0_usize;
    let starts = list[..end].iter().enumerate().filter_map(move |(at, token)| {
        match token.kind {
            TokenKind::Mark('(') => depth += 1,
            TokenKind::Mark(')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        (at == 0 || depth == 1 && token.is_mark(',')).then_some(at)
    });
    starts.map(move |index| &list[index..end])
}

/// The path of names that a text is, such as `crate::part::function`.
fn path_of_text(text: &str) -> Option<PathNames> {
    let mut path = Vec::new();
    for (index, part) in text.split("::").enumerate() {
        let is_name = part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if !(is_name || index == 0 && part.is_empty()) {
            return None;
        }
        path.push(part.to_owned());
    }
    (path.len() > 1).then_some(path)
}

/// The position after the bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match token.kind {
            TokenKind::Mark('{' | '[' | '(') => depth += 1,
            TokenKind::Mark('}' | ']' | ')') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return index + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}
