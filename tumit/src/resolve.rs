//! Names to ids: collects the declarations of all files into the arenas of a [`Spec`](crate::spec::Spec), and remembers where each was declared.

pub(crate) mod constants;
mod events;
mod tree;
mod types;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::load::STANDARD;
use crate::model::Model;
use crate::source::Span;
use crate::syntax::ast::{Ident, Item};

/// Collects all declarations.
pub(crate) fn resolve(files: &[Loaded], diagnostics: &mut Diagnostics) -> Model {
    let mut model = Model::default();
    for loaded in files {
        model.broken.extend(loaded.tree.broken.iter().cloned());
    }
    model.trace_name(files, diagnostics);
    model.version(files, diagnostics);
    let items = || files.iter().flat_map(|loaded| &loaded.tree.items);
    for item in items() {
        match item {
            Item::Enum(declared) => model.enumeration(declared, diagnostics),
            Item::Alias(alias) => model.alias(alias, diagnostics),
            _ => {}
        }
    }
    model.constants_of(items(), diagnostics);
    for item in items() {
        if let Item::Alias(alias) = item {
            // Also of those that nothing uses: a circle or an unknown name is a mistake anyway.
            model.field_type(&alias.ty, diagnostics);
        }
    }
    for item in items() {
        if let Item::Level(level) = item {
            model.level(level, diagnostics);
        }
    }
    model.absent_ends();
    for item in items() {
        if let Item::Paje(members) = item {
            model.containers_of(members, None, diagnostics);
        }
    }
    for item in items() {
        if let Item::Paje(members) = item {
            model.entities_of(members, None, diagnostics);
        }
    }
    model
}

impl Model {
    fn trace_name(&mut self, files: &[Loaded], diagnostics: &mut Diagnostics) {
        // The root is the last to be finished.
        let Some(root) = files.last() else { return };
        self.spec.doc.clone_from(&root.tree.doc);
        let mut names = root.tree.items.iter().filter_map(|item| match item {
            Item::Trace(name) => Some(name),
            _ => None,
        });
        let Some(first) = names.next() else {
            let unread = diagnostics.has_errors() && (root.tree.items.is_empty() || !root.tree.broken.is_empty());
            if !unread {
                diagnostics.push(
                    Diagnostic::error(Code::NoTrace, "the spec has no name")
                        .at(Span::new(root.file, 0..0), "no `trace NAME;` in this file")
                        .help("write `trace my_program;` as the first declaration"),
                );
            }
            return;
        };
        self.spec.name.clone_from(&first.text);
        self.version_span = first.span;
        check_name(first, diagnostics);
        for second in names {
            diagnostics.push(
                Diagnostic::error(Code::NoTrace, "the spec is named twice")
                    .at(second.span, "a second name")
                    .also(first.span, "the first one"),
            );
        }
    }

    /// The root's version; that of used files is theirs.
    fn version(&mut self, files: &[Loaded], diagnostics: &mut Diagnostics) {
        let Some(root) = files.last() else { return };
        let mut versions = root.tree.items.iter().filter_map(|item| match item {
            Item::Version(number, span) => Some((*number, *span)),
            _ => None,
        });
        let Some((number, first)) = versions.next() else { return };
        self.spec.version = number;
        self.version_span = first;
        for (_, second) in versions {
            diagnostics.push(
                Diagnostic::error(Code::BadVersion, "the spec has two versions")
                    .at(second, "a second version")
                    .also(first, "the first one"),
            );
        }
    }
}

/// Complains about names that cannot be used anywhere.
pub(crate) fn check_name(name: &Ident, diagnostics: &mut Diagnostics) {
    const MAX_NAME: usize = 63;
    const OPERATORS: [&str; 5] = ["and", "or", "not", "true", "false"];
    if name.text.len() > MAX_NAME {
        diagnostics.push(
            Diagnostic::error(Code::NameTooLong, format!("a name has {} characters", name.text.len()))
                .at(name.span, format!("at most {MAX_NAME} are accepted")),
        );
    }
    if OPERATORS.contains(&name.text.as_str()) && !name.raw {
        diagnostics.push(
            Diagnostic::error(Code::ReservedName, format!("`{}` is an operator of expressions", name.text))
                .at(name.span, "cannot be a name")
                .help(format!("put it in backquotes, `` `{}` ``, here and wherever it is used", name.text)),
        );
    }
    let lower = name.text.to_ascii_lowercase();
    // What comes with the language knows what generated code needs.
    let ours = diagnostics.sources.get(name.span.file).is_some_and(|source| source.path.starts_with(STANDARD));
    if lower.starts_with("tumit") && !ours || name.text.starts_with("__") || name.text.chars().all(|c| c == '_') {
        diagnostics.push(
            Diagnostic::error(Code::ReservedName, format!("`{}` is kept for generated code", name.text))
                .at(name.span, "reserved")
                .note("names that start with `tumit` or `__`, and `_`, are reserved"),
        );
    }
}

/// Complains that a name is declared a second time.
pub(crate) fn duplicate(what: &str, name: &Ident, first: Span, diagnostics: &mut Diagnostics) {
    diagnostics.push(
        Diagnostic::error(Code::Duplicate, format!("{what} `{}` is declared twice", name.text))
            .at(name.span, "declared again")
            .also(first, "first declared here"),
    );
}
