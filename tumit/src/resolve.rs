//! From names to ids: collects the declarations of all files into the arenas of a
//! [`Spec`](crate::spec::Spec), and records the span of each declaration.

mod categories;
pub(crate) mod constants;
mod declared_names;
mod events;
mod type_tree;
mod types;

pub(crate) use declared_names::check_name;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::SpecModel;
use crate::load::ParsedFile;
use crate::source_text::SourceSpan;
use crate::syntax::ast::Item;

/// Collects all declarations.
pub(crate) fn resolve(files: &[ParsedFile], diagnostics: &mut Diagnostics) -> SpecModel {
    let mut model = SpecModel::default();
    for loaded in files {
        model.unparsed.extend(loaded.tree.unparsed.iter().cloned());
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
            // Unused aliases are checked, too: a cycle or an unknown name is a mistake in any case.
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
    for item in items() {
        if let Item::Paje(members) = item {
            model.categories_of(members, None, diagnostics);
        }
    }
    model.assign_categories();
    model
}

impl SpecModel {
    fn trace_name(&mut self, files: &[ParsedFile], diagnostics: &mut Diagnostics) {
        // The root is the last file, because each file comes after the files that it uses.
        let Some(root) = files.last() else { return };
        self.spec.doc.clone_from(&root.tree.doc);
        let mut names = root.tree.items.iter().filter_map(|item| match item {
            Item::Trace(name) => Some(name),
            _ => None,
        });
        let Some(first) = names.next() else {
            let unread = diagnostics.has_errors() && (root.tree.items.is_empty() || !root.tree.unparsed.is_empty());
            if !unread {
                diagnostics.push(
                    Diagnostic::error(Code::NoTrace, "the spec has no name")
                        .with_location(SourceSpan::new(root.file, 0..0), "no `trace NAME;` in this file")
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
                Diagnostic::error(Code::NoTrace, "the spec has two names")
                    .with_location(second.span, "a second name")
                    .with_label(first.span, "the first one"),
            );
        }
    }

    /// Sets the version to that of the root. The versions of used files are not relevant.
    fn version(&mut self, files: &[ParsedFile], diagnostics: &mut Diagnostics) {
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
                    .with_location(second, "a second version")
                    .with_label(first, "the first one"),
            );
        }
    }
}
