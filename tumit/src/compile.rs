//! Compilation of a text to a [`Spec`]: load and parse, resolve names, check rules.

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::load::{self, Loader, SpecLoadError};
use crate::spec::{SourceFile, Spec};
use crate::{check, growth, resolve};

/// Compiles the spec with the root file `root`. `loader` loads the root and the files that it uses.
///
/// The result has a `Spec` unless a diagnostic is an error. Warnings can accompany a `Spec`.
/// [`Loader`] has an example.
pub fn compile(root: &str, loader: &mut dyn Loader) -> (Option<Spec>, Diagnostics) {
    compile_with(root, loader, None)
}

/// Compiles a spec and compares it with an older one.
///
/// Rules of the new spec match the events and parameters of older runs by name. Additions are
/// compatible. A removal or a change of meaning is an error, unless the new spec has a higher
/// `version`.
///
/// ```
/// use tumit::{Code, Loader, SpecLoadError, compile_since, compile_text};
///
/// struct Text(&'static str);
///
/// impl Loader for Text {
///     fn load(&mut self, _path: &str) -> Result<String, SpecLoadError> {
///         Ok(self.0.to_owned())
///     }
/// }
///
/// let (older, _) = compile_text("a.tumit", "trace a; level APP { event tick { n: u32 } }");
/// let older = older.expect("the spec is correct");
/// let mut newer = Text("trace a; level APP { event tick; }");
/// let (spec, diagnostics) = compile_since("a.tumit", &mut newer, &older);
/// assert!(spec.is_none());
/// assert!(diagnostics.iter().any(|diagnostic| diagnostic.code == Code::Removed));
/// ```
pub fn compile_since(root: &str, loader: &mut dyn Loader, older_spec: &Spec) -> (Option<Spec>, Diagnostics) {
    compile_with(root, loader, Some(older_spec))
}

fn compile_with(root: &str, loader: &mut dyn Loader, older_spec: Option<&Spec>) -> (Option<Spec>, Diagnostics) {
    let mut diagnostics = Diagnostics::default();
    let files = load::load(root, loader, &mut diagnostics);
    let mut model = resolve::resolve(&files, &mut diagnostics);
    check::check(&files, &mut model, &mut diagnostics);
    if let Some(older) = older_spec.filter(|_| !diagnostics.has_errors()) {
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

/// Compiles a spec from texts in memory, the root first: [`Spec::sources`], or the schema of a run.
///
/// ```
/// let (spec, _) = tumit::compile_text("a.tumit", "trace a; use \"std:paje\";");
/// let spec = spec.expect("the spec is correct");
/// assert_eq!(tumit::compile_sources(&spec.sources).0, Some(spec));
/// ```
#[must_use]
pub fn compile_sources(sources: &[SourceFile]) -> (Option<Spec>, Diagnostics) {
    let Some(root) = sources.first() else {
        let mut diagnostics = Diagnostics::default();
        diagnostics.push(Diagnostic::error(Code::CannotRead, "the spec has no source text"));
        return (None, diagnostics);
    };
    compile(&root.path, &mut TextLoader(sources))
}

/// Texts in memory, found by their paths.
struct TextLoader<'a>(&'a [SourceFile]);

impl Loader for TextLoader<'_> {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        let found = self.0.iter().find(|source| source.path == path);
        found.map(|source| source.text.clone()).ok_or_else(|| SpecLoadError::new("the file is not among the sources"))
    }
}
