//! Text to [`Spec`], on one screen: load and parse, resolve names, check rules.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::load::{self, LoadError, Loader};
use crate::spec::{SourceFile, Spec};
use crate::{check, growth, resolve};

/// Compiles the spec whose root file is `root`; `loader` gives its text and those of the files that it uses.
///
/// There is a `Spec` unless a diagnostic is an error; there may be warnings beside one.
pub fn compile(root: &str, loader: &mut dyn Loader) -> (Option<Spec>, Diagnostics) {
    compile_with(root, loader, None)
}

/// Compiles a spec and also says what of an older one it no longer understands: see [`crate::growth`]. What does not fit
/// is an error, unless the new spec has a higher `version`.
pub fn compile_since(root: &str, loader: &mut dyn Loader, older: &Spec) -> (Option<Spec>, Diagnostics) {
    compile_with(root, loader, Some(older))
}

fn compile_with(root: &str, loader: &mut dyn Loader, older: Option<&Spec>) -> (Option<Spec>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let files = load::load(root, loader, &mut diagnostics);
    let mut model = resolve::resolve(&files, &mut diagnostics);
    check::check(&files, &mut model, &mut diagnostics);
    if let Some(older) = older.filter(|_| !diagnostics.has_errors()) {
        growth::check(older, &model, &model.spec.rules, &mut diagnostics);
    }
    diagnostics.sort();
    let mut spec = model.spec;
    spec.sources = diagnostics
        .sources
        .iter()
        .map(|source| SourceFile { path: source.path.clone(), text: source.text.clone() })
        .collect();
    ((!diagnostics.has_errors()).then_some(spec), diagnostics)
}

/// Compiles a spec of one file.
#[must_use]
pub fn compile_text(path: &str, text: &str) -> (Option<Spec>, Diagnostics) {
    compile_sources(&[SourceFile { path: path.to_owned(), text: text.to_owned() }])
}

/// Compiles a spec from texts at hand, the root first: what [`Spec::sources`] holds, or the schema of a run.
#[must_use]
pub fn compile_sources(sources: &[SourceFile]) -> (Option<Spec>, Diagnostics) {
    let Some(root) = sources.first() else {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::error(Code::CannotRead, "there is no source text to compile"));
        return (None, diagnostics);
    };
    compile(&root.path, &mut Given(sources))
}

/// Texts at hand, by their paths.
struct Given<'a>(&'a [SourceFile]);

impl Loader for Given<'_> {
    fn load(&mut self, path: &str) -> Result<String, LoadError> {
        let found = self.0.iter().find(|source| source.path == path);
        found.map(|source| source.text.clone()).ok_or_else(|| LoadError::new("no such file is at hand"))
    }
}
