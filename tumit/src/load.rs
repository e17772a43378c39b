//! The files of a spec: the root and all that it uses, each once, a used file before its user.

use std::collections::BTreeMap;
use std::fmt;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, Span};
use crate::syntax::{self, ast};

/// Gives the texts of files. The compiler itself does no I/O.
pub trait Loader {
    /// The text of the file at `path`: the root as the caller named it, or a path relative to it with `/` between its parts.
    ///
    /// # Errors
    /// When there is no such file or it is not UTF-8 text.
    fn load(&mut self, path: &str) -> Result<String, LoadError>;
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    message: String,
}

impl LoadError {
    /// With a message for the user, such as the operating system's.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

/// What paths of standard specs start with.
pub const STANDARD: &str = "std:";

/// The specs that come with the language, which `use "std:NAME";` takes in and which can be roots themselves.
///
/// `std:paje` has Pajé's own instructions, for programs that want no spec of their own; `std:tracer` is what recorders record of themselves.
#[must_use]
pub fn standard(path: &str) -> Option<&'static str> {
    match path.strip_prefix(STANDARD)? {
        "paje" => Some(include_str!("../std/paje.tumit")),
        "tracer" => Some(include_str!("../std/tracer.tumit")),
        _ => None,
    }
}

/// A parsed file.
pub(crate) struct Loaded {
    pub(crate) file: FileId,
    pub(crate) tree: ast::File,
}

/// Most bytes of all files together: they travel in the schema of each run, which has a limit of its own.
const MAX_BYTES: usize = 8 << 20;
/// Deepest chain of files that use each other.
const MAX_CHAIN: usize = 32;

/// Loads and parses the root and all that it uses.
pub(crate) fn load(root: &str, loader: &mut dyn Loader, diagnostics: &mut Diagnostics) -> Vec<Loaded> {
    let mut walk =
        Walk { loader, diagnostics, known: BTreeMap::new(), chain: Vec::new(), too_large: false, done: Vec::new() };
    walk.visit(root, None);
    walk.done
}

struct Walk<'a> {
    loader: &'a mut dyn Loader,
    diagnostics: &'a mut Diagnostics,
    known: BTreeMap<String, ()>,
    chain: Vec<String>,
    too_large: bool,
    done: Vec<Loaded>,
}

impl Walk<'_> {
    fn visit(&mut self, path: &str, from: Option<Span>) {
        if let Some(start) = self.chain.iter().position(|open| open == path) {
            return self.cycle(start, path, from);
        }
        if self.known.contains_key(path) {
            return;
        }
        self.known.insert(path.to_owned(), ());
        // The caller comes first: a run carries the standard specs as they were when it was recorded.
        let text = match self.loader.load(path).or_else(|error| standard(path).map(str::to_owned).ok_or(error)) {
            Ok(text) => text,
            Err(error) => {
                let mut diagnostic = Diagnostic::error(Code::CannotRead, format!("cannot read `{path}`: {error}"));
                if let Some(span) = from {
                    diagnostic = diagnostic.at(span, "used here").note(if path.starts_with(STANDARD) {
                        "the standard specs are `std:paje` and `std:tracer`"
                    } else {
                        "the path counts from the file that uses it"
                    });
                }
                return self.diagnostics.push(diagnostic);
            }
        };
        let file = self.diagnostics.sources.add(path, text);
        self.size(file, path);
        let tree = if self.too_large { ast::File::default() } else { syntax::parse(file, self.diagnostics) };
        self.chain.push(path.to_owned());
        let mut used_here: BTreeMap<String, Span> = BTreeMap::new();
        for item in &tree.items {
            if let ast::Item::Use(used) = item {
                if self.chain.len() >= MAX_CHAIN {
                    self.diagnostics.push(
                        Diagnostic::error(
                            Code::UseCycle,
                            format!("more than {MAX_CHAIN} files use each other in a chain"),
                        )
                        .at(used.span, "not followed any further"),
                    );
                    break;
                }
                let target = joined(path, &used.path);
                if let Some(first) = used_here.insert(target.clone(), used.span) {
                    self.diagnostics.push(
                        Diagnostic::warning(Code::RepeatedUse, format!("`{}` is used twice", used.path))
                            .at(used.span, "again")
                            .also(first, "already used here")
                            .help("leave one of them out"),
                    );
                }
                self.visit(&target, Some(used.span));
            }
        }
        self.chain.pop();
        self.done.push(Loaded { file, tree });
    }

    /// Complains once when the texts together are larger than what a run can carry.
    fn size(&mut self, file: FileId, path: &str) {
        let bytes: usize = self.diagnostics.sources.iter().map(|source| source.text.len()).sum();
        if bytes > MAX_BYTES && !self.too_large {
            self.too_large = true;
            self.diagnostics.push(
                Diagnostic::error(Code::SpecTooLarge, format!("the files of the spec have {bytes} bytes"))
                    .at(Span::new(file, 0..0), format!("`{path}` goes beyond the limit of {MAX_BYTES}"))
                    .help("make several specs: a program can use more than one"),
            );
        }
    }

    fn cycle(&mut self, start: usize, path: &str, from: Option<Span>) {
        let mut round: Vec<&str> = self.chain[start..].iter().map(String::as_str).collect();
        round.push(path);
        let mut diagnostic = Diagnostic::error(Code::UseCycle, format!("`{path}` uses itself"));
        if let Some(span) = from {
            diagnostic = diagnostic.at(span, "this closes the circle");
        }
        self.diagnostics.push(
            diagnostic
                .note(format!("the circle is {}", round.join(" -> ")))
                .help("move what both files need into a third one"),
        );
    }
}

/// The path of a used file, seen from where the root's path counts from.
fn joined(user: &str, used: &str) -> String {
    if used.starts_with('/') || used.starts_with(STANDARD) {
        return used.to_owned();
    }
    let folder = user.rfind('/').map_or("", |slash| &user[..=slash]);
    let (root, folder) = folder.strip_prefix('/').map_or(("", folder), |rest| ("/", rest));
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(used.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_count_from_the_user() {
        assert_eq!(joined("a.tumit", "b.tumit"), "b.tumit");
        assert_eq!(joined("specs/a.tumit", "b.tumit"), "specs/b.tumit");
        assert_eq!(joined("specs/a.tumit", "../b.tumit"), "b.tumit");
        assert_eq!(joined("specs/a.tumit", "./../../b.tumit"), "../b.tumit");
        assert_eq!(joined("/abs/a.tumit", "b.tumit"), "/abs/b.tumit");
        assert_eq!(joined("/abs/a.tumit", "/b.tumit"), "/b.tumit");
    }
}
