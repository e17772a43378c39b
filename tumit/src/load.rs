//! The files of a spec: the root and all files that it uses. Each file occurs once, before the
//! files that use it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source_text::{FileId, SourceSpan};
use crate::syntax::{self, ast};

/// Loads the texts of files. The compiler itself does no I/O.
///
/// ```
/// use tumit::{Loader, SpecLoadError};
///
/// struct Folder(std::path::PathBuf);
///
/// impl Loader for Folder {
///     fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
///         let text = std::fs::read_to_string(self.0.join(path));
///         text.map_err(|error| SpecLoadError::new(error.to_string()))
///     }
/// }
///
/// let (spec, diagnostics) = tumit::compile("missing.tumit", &mut Folder(std::env::temp_dir()));
/// assert!(spec.is_none());
/// assert!(diagnostics.render(false).contains("cannot read `missing.tumit`"));
/// ```
pub trait Loader {
    /// The text of the file at `path`.
    ///
    /// `path` is the root as the caller names it, or a path relative to the root with `/` as
    /// separator.
    ///
    /// # Errors
    /// When there is no such file or it is not UTF-8 text.
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError>;
}

/// The reason why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecLoadError {
    message: String,
}

impl SpecLoadError {
    /// Creates an error with a message for the user, such as the message of the operating system.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for SpecLoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SpecLoadError {}

/// The prefix of the paths of standard specs.
pub const STANDARD: &str = "std:";

/// The specs that come with the language. `use "std:NAME";` includes one, and each can be a root.
///
/// `std:counters` describes the counters of the processor and the system that `tumit record` reads.
/// `std:functions` describes the calls of functions that it records.
/// `std:io` describes the calls for files that it records.
/// `std:mpi` describes the calls of MPI that it records.
/// `std:openmp` describes the regions, tasks and waits of OpenMP that it records.
/// `std:paje` contains the operations of Pajé, for programs without a spec of their own.
/// `std:threads` describes the waits of threads that it records.
/// `std:tokio` describes the tasks of the runtime `tokio`, as `tumit-tracing` records them.
/// `std:tracer` describes the records that recorders write about themselves.
/// `std:tracing` describes the spans and events of the crate `tracing`, as `tumit-tracing` records
/// them.
///
/// ```
/// let text = tumit::load::standard("std:tracer").expect("a standard spec");
/// assert!(tumit::compile_text("std:tracer", text).0.is_some());
/// assert_eq!(tumit::load::standard("std:other"), None);
/// ```
#[must_use]
pub fn standard(path: &str) -> Option<&'static str> {
    match path.strip_prefix(STANDARD)? {
        "counters" => Some(include_str!("../std/counters.tumit")),
        "functions" => Some(include_str!("../std/functions.tumit")),
        "io" => Some(include_str!("../std/io.tumit")),
        "mpi" => Some(include_str!("../std/mpi.tumit")),
        "mpi-procedures" => Some(include_str!("../std/mpi-procedures.tumit")),
        "openmp" => Some(include_str!("../std/openmp.tumit")),
        "paje" => Some(include_str!("../std/paje.tumit")),
        "threads" => Some(include_str!("../std/threads.tumit")),
        "tokio" => Some(include_str!("../std/tokio.tumit")),
        "tracer" => Some(include_str!("../std/tracer.tumit")),
        "tracing" => Some(include_str!("../std/tracing.tumit")),
        _ => None,
    }
}

pub(crate) struct ParsedFile {
    pub(crate) file: FileId,
    pub(crate) tree: ast::File,
}

/// Maximum number of bytes of all files together. The schema of each run carries the files, and its
/// size is limited.
const MAX_BYTES: usize = 8 << 20;
/// Maximum number of files in a chain of files that use each other.
const MAX_CHAIN: usize = 32;

/// Loads and parses the root and all files that it uses.
pub(crate) fn load(root: &str, loader: &mut dyn Loader, diagnostics: &mut Diagnostics) -> Vec<ParsedFile> {
    let mut walk = UseWalk {
        loader,
        diagnostics,
        visited_files: BTreeSet::new(),
        chain: Vec::new(),
        too_large: false,
        files: Vec::new(),
    };
    walk.visit(root, None);
    walk.files
}

struct UseWalk<'a> {
    loader: &'a mut dyn Loader,
    diagnostics: &'a mut Diagnostics,
    visited_files: BTreeSet<String>,
    chain: Vec<String>,
    too_large: bool,
    files: Vec<ParsedFile>,
}

impl UseWalk<'_> {
    fn visit(&mut self, path: &str, from: Option<SourceSpan>) {
        if let Some(start) = self.chain.iter().position(|open| open == path) {
            return self.cycle(start, path, from);
        }
        if !self.visited_files.insert(path.to_owned()) {
            return;
        }
        // The loader takes precedence, because a run carries the standard specs of its recording.
        let text = match self.loader.load(path).or_else(|error| standard(path).map(str::to_owned).ok_or(error)) {
            Ok(text) => text,
            Err(error) => {
                let mut diagnostic = Diagnostic::error(Code::CannotRead, format!("cannot read `{path}`: {error}"));
                if let Some(span) = from {
                    diagnostic = diagnostic.with_location(span, "used here").note(if path.starts_with(STANDARD) {
                        "the standard specs are `std:counters`, `std:functions`, `std:io`, `std:mpi`, `std:openmp`, `std:paje`, `std:threads`, `std:tokio`, `std:tracer` and `std:tracing`"
                    } else {
                        "the path is relative to the file that uses it"
                    });
                }
                return self.diagnostics.push(diagnostic);
            }
        };
        let file = self.diagnostics.sources.add(path, text);
        self.size(file, path);
        let tree = if self.too_large { ast::File::default() } else { syntax::parse(file, self.diagnostics) };
        self.chain.push(path.to_owned());
        let mut used_here: BTreeMap<String, SourceSpan> = BTreeMap::new();
        for item in &tree.items {
            if let ast::Item::Use(used) = item {
                if self.chain.len() >= MAX_CHAIN {
                    self.diagnostics.push(
                        Diagnostic::error(
                            Code::UseCycle,
                            format!("more than {MAX_CHAIN} files use each other in a chain"),
                        )
                        .with_location(used.span, "not read"),
                    );
                    break;
                }
                let target = join_paths(path, &used.path);
                if let Some(first) = used_here.insert(target.clone(), used.span) {
                    self.diagnostics.push(
                        Diagnostic::warning(Code::RepeatedUse, format!("`{}` is used twice", used.path))
                            .with_location(used.span, "again")
                            .with_label(first, "already used here")
                            .help("remove one of them"),
                    );
                }
                self.visit(&target, Some(used.span));
            }
        }
        self.chain.pop();
        self.files.push(ParsedFile { file, tree });
    }

    /// Reports once when the texts together exceed [`MAX_BYTES`].
    fn size(&mut self, file: FileId, path: &str) {
        let bytes: usize = self.diagnostics.sources.iter().map(|source| source.text.len()).sum();
        if bytes > MAX_BYTES && !self.too_large {
            self.too_large = true;
            self.diagnostics.push(
                Diagnostic::error(Code::SpecTooLarge, format!("the files of the spec have {bytes} bytes"))
                    .with_location(
                        SourceSpan::new(file, 0..0),
                        format!("`{path}` exceeds the limit of {MAX_BYTES} bytes"),
                    )
                    .help("write several specs: a program can use more than one"),
            );
        }
    }

    fn cycle(&mut self, start: usize, path: &str, from: Option<SourceSpan>) {
        let mut round: Vec<&str> = self.chain[start..].iter().map(String::as_str).collect();
        round.push(path);
        let mut diagnostic = Diagnostic::error(Code::UseCycle, format!("`{path}` uses itself"));
        if let Some(span) = from {
            diagnostic = diagnostic.with_location(span, "this closes the cycle");
        }
        self.diagnostics.push(
            diagnostic
                .note(format!("the cycle is {}", round.join(" -> ")))
                .help("move common declarations into a third file"),
        );
    }
}

/// The path of a used file, relative to the same folder as the path of the root.
fn join_paths(user: &str, used_path: &str) -> String {
    if used_path.starts_with('/') || used_path.starts_with(STANDARD) {
        return used_path.to_owned();
    }
    let folder = user.rfind('/').map_or("", |slash| &user[..=slash]);
    let (root, folder) = folder.strip_prefix('/').map_or(("", folder), |rest| ("/", rest));
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(used_path.split('/')) {
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
        assert_eq!(join_paths("a.tumit", "b.tumit"), "b.tumit");
        assert_eq!(join_paths("specs/a.tumit", "b.tumit"), "specs/b.tumit");
        assert_eq!(join_paths("specs/a.tumit", "../b.tumit"), "b.tumit");
        assert_eq!(join_paths("specs/a.tumit", "./../../b.tumit"), "../b.tumit");
        assert_eq!(join_paths("/abs/a.tumit", "b.tumit"), "/abs/b.tumit");
        assert_eq!(join_paths("/abs/a.tumit", "/b.tumit"), "/b.tumit");
    }
}
