//! Categories: the statements of the tree, and the categories of declared values.

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::{SpecModel, list_candidates};
use crate::spec::{CategoryStatement, ContainerTypeId, EntityTypeKind, SpecCategory, pattern_fits};
use crate::syntax::ast::{CategoryDeclaration, EntityKind, Ident, NamePatternText, TreeMember};

impl SpecModel {
    /// Collects the category statements. All types are declared before.
    pub(super) fn categories_of(
        &mut self,
        members: &[TreeMember],
        within: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) {
        for member in members {
            match member {
                TreeMember::Container(container) => {
                    if let Some(id) = self.containers.get(&container.name.text).copied() {
                        self.categories_of(&container.members, Some(id), diagnostics);
                    }
                }
                TreeMember::Category(declaration) => self.category(declaration, within, diagnostics),
                TreeMember::Entity(_) => {}
            }
        }
    }

    fn category(
        &mut self,
        declaration: &CategoryDeclaration,
        container: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) {
        let category = category(&declaration.category, diagnostics);
        if let Some(of) = &declaration.type_pattern
            && !self.is_state_type(of, container, diagnostics)
        {
            return;
        }
        let Some(category) = category else { return };
        let (mut patterns, mut spans) = (Vec::new(), Vec::new());
        for NamePatternText { text, span } in &declaration.values {
            patterns.push(text.clone());
            spans.push(*span);
        }
        if patterns.is_empty() {
            patterns.push("*".to_owned());
            spans.push(declaration.category.span);
        }
        let type_pattern = declaration.type_pattern.as_ref().map(|of| of.text.clone());
        self.spec.categories.push(CategoryStatement { category, patterns, type_pattern, container });
        self.pattern_spans.push(spans);
    }

    /// Whether a pattern matches a state type of a container or of those below it. Reports the
    /// error.
    fn is_state_type(
        &self,
        pattern: &NamePatternText,
        within: Option<ContainerTypeId>,
        diagnostics: &mut Diagnostics,
    ) -> bool {
        let fits = |names: [&str; 2]| names.iter().any(|name| pattern_fits(&pattern.text, name));
        let named = || self.spec.entities.iter().filter(|entity| fits([&entity.name, &entity.label]));
        let is_inside = |container| within.is_none_or(|within| self.spec.path(container).contains(&within));
        if named().any(|entity| entity.kind == EntityTypeKind::State && is_inside(entity.container)) {
            return true;
        }
        // Spans without rules are states of a type that the converter adds.
        let has_spans_without_rules = within.is_none() && fits(["span", "Span"]);
        if has_spans_without_rules || self.unparsed.contains(&pattern.text) {
            return true;
        }
        let (label, help) = match named().next() {
            None => {
                let states = self.spec.entities.iter().filter(|entity| entity.kind == EntityTypeKind::State);
                let names: Vec<&str> = states.map(|entity| entity.name.as_str()).collect();
                ("not declared", did_you_mean(&pattern.text, names.iter().copied()).or_else(|| list_candidates(&names)))
            }
            Some(entity) if entity.kind == EntityTypeKind::State => {
                let place = "a statement applies to the states of its container and of the containers in it";
                ("declared outside of this container", Some(format!("{place}; move it to `paje {{ … }}`")))
            }
            Some(_) => ("not a type of states", Some("only states have categories".to_owned())),
        };
        diagnostics.push(
            Diagnostic::error(Code::UnknownEntity, format!("no state type `{}` is declared here", pattern.text))
                .with_location(pattern.span, label)
                .maybe_help(help),
        );
        false
    }

    /// Assigns the categories of the statements to the declared values that have none of their own.
    pub(super) fn assign_categories(&mut self) {
        for index in 0..self.spec.entities.len() {
            let entity = &self.spec.entities[index];
            let assigned = entity.values.iter().map(|value| {
                value.category.or_else(|| self.spec.assigned_category(entity, &[&value.name, &value.label]))
            });
            let assigned: Vec<Option<SpecCategory>> = assigned.collect();
            for (value, category) in self.spec.entities[index].values.iter_mut().zip(assigned) {
                value.category = category;
            }
        }
    }
}

/// The category of a word. Reports an unknown word.
fn category(word: &Ident, diagnostics: &mut Diagnostics) -> Option<SpecCategory> {
    if let Some((_, category)) = SpecCategory::WORDS.iter().find(|(known, _)| *known == word.text) {
        return Some(*category);
    }
    let words = SpecCategory::WORDS.map(|(word, _)| word);
    diagnostics.push(
        Diagnostic::error(Code::UnknownCategory, format!("there is no category `{}`", word.text))
            .with_location(word.span, "unknown category")
            .maybe_help(did_you_mean(&word.text, words).or_else(|| list_candidates(&words))),
    );
    None
}

/// The category that a declared value gives. Reports an unknown word, and a value that is no state.
/// The values of links can be `ignored`: their receivers do not wait for them.
pub(super) fn own_category(word: &Ident, kind: EntityKind, diagnostics: &mut Diagnostics) -> Option<SpecCategory> {
    let category_value = category(word, diagnostics)?;
    if kind == EntityKind::State || kind == EntityKind::Link && category_value == SpecCategory::Ignored {
        return Some(category_value);
    }
    let (kind, label) = match kind {
        EntityKind::Event => ("an event", "only states have categories"),
        _ => ("a link", "a link can only be `ignored`"),
    };
    diagnostics.push(
        Diagnostic::error(Code::UnknownCategory, format!("{kind} has no category"))
            .with_location(word.span, label)
            .help("remove it"),
    );
    None
}
