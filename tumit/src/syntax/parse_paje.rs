//! The `paje` block: containers, and the types of their entities.

use super::ast::{
    CategoryDeclaration, Container, Entity, EntityKind, Ident, NamePatternText, StyleClause, TreeMember, Value,
};
use super::ast_builder::{AstBuilder, ParseNode, add_line, children, doc_line, docs};
use super::grammar::Rule;

const MEMBERS: &str = "the tree contains containers, states, events, variables, links and categories";

impl AstBuilder<'_> {
    pub(super) fn paje(&mut self, node: ParseNode<'_>) -> Vec<TreeMember> {
        let opening = self.opening(&node);
        let mut members = Vec::new();
        for child in children(node) {
            match child.as_rule() {
                Rule::bad_tree_member => self.report_unparsable(&child, Rule::only_tree_member, MEMBERS),
                Rule::missing_close => self.report_unclosed(opening, &child, "paje"),
                _ => members.extend(self.tree_member(child)),
            }
        }
        members
    }

    fn tree_member(&mut self, node: ParseNode<'_>) -> Option<TreeMember> {
        match node.as_rule() {
            Rule::container_decl => self.container(node).map(TreeMember::Container),
            Rule::state_decl => self.entity(node, EntityKind::State).map(TreeMember::Entity),
            Rule::mark_decl => self.entity(node, EntityKind::Event).map(TreeMember::Entity),
            Rule::variable_decl => self.entity(node, EntityKind::Variable).map(TreeMember::Entity),
            Rule::link_decl => self.entity(node, EntityKind::Link).map(TreeMember::Entity),
            Rule::category_decl => self.category_declaration(node).map(TreeMember::Category),
            _ => None,
        }
    }

    fn container(&mut self, node: ParseNode<'_>) -> Option<Container> {
        let opening = self.opening(&node);
        let (mut doc, mut name, mut keys, mut label) = (String::new(), None, Vec::new(), None);
        let (mut stream, mut members) = (None, Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::doc => add_line(&mut doc, &doc_line(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::keys => keys = children(child).filter_map(|key| self.field(key)).collect(),
                Rule::string => label = Some(self.text_with_holes(&child)),
                Rule::stream_mark => stream = Some(self.span(&child)),
                Rule::bad_tree_member => self.report_unparsable(&child, Rule::only_tree_member, MEMBERS),
                Rule::missing_close => self.report_unclosed(opening, &child, "container"),
                _ => members.extend(self.tree_member(child)),
            }
        }
        Some(Container { doc, name: name?, keys, label, stream, members })
    }

    fn entity(&mut self, node: ParseNode<'_>, kind: EntityKind) -> Option<Entity> {
        let (mut doc, mut name, mut label, mut color) = (String::new(), None, None, None);
        let (mut style, mut from, mut to, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::doc => add_line(&mut doc, &doc_line(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::string => label = Some(self.plain_text(&child)),
                Rule::color => color = self.color(child),
                Rule::style => style.extend(self.style_clause(child)),
                Rule::link_from => from = self.names(child),
                Rule::link_to => to = self.names(child),
                Rule::values => values = children(child).filter_map(|value| self.value(value)).collect(),
                _ => {}
            }
        }
        Some(Entity { doc, kind, name: name?, label, color, style, from, to, values })
    }

    fn names(&self, node: ParseNode<'_>) -> Vec<Ident> {
        children(node).filter(|child| child.as_rule() == Rule::name).map(|child| self.ident(&child)).collect()
    }

    fn value(&mut self, node: ParseNode<'_>) -> Option<Value> {
        if node.as_rule() == Rule::bad_value {
            self.bad_part(&node, Rule::only_value);
            return None;
        }
        let doc = docs(&node);
        let (mut name, mut label, mut color, mut style, mut category) = (None, None, None, Vec::new(), None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                Rule::string => label = Some(self.plain_text(&child)),
                Rule::color => color = self.color(child),
                Rule::style => style.extend(self.style_clause(child)),
                Rule::value_category => category = self.names(child).pop(),
                _ => {}
            }
        }
        Some(Value { doc, name: name?, label, color, style, category })
    }

    fn category_declaration(&mut self, node: ParseNode<'_>) -> Option<CategoryDeclaration> {
        let (mut category, mut values, mut type_pattern) = (None, Vec::new(), None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => category = Some(self.ident(&child)),
                Rule::value_patterns => values = children(child).filter_map(|value| self.name_pattern(value)).collect(),
                Rule::category_type => type_pattern = self.name_pattern(child),
                _ => {}
            }
        }
        Some(CategoryDeclaration { category: category?, values, type_pattern })
    }

    fn name_pattern(&mut self, node: ParseNode<'_>) -> Option<NamePatternText> {
        let child = children(node).find(|child| matches!(child.as_rule(), Rule::name_pattern | Rule::string))?;
        let is_quoted = child.as_rule() == Rule::string;
        let text = if is_quoted { self.plain_text(&child) } else { child.as_str().to_owned() };
        Some(NamePatternText { text, span: self.span(&child) })
    }

    fn style_clause(&mut self, node: ParseNode<'_>) -> Option<StyleClause> {
        children(node).find_map(|child| match child.as_rule() {
            Rule::name => Some(StyleClause::Shape(self.ident(&child))),
            Rule::float | Rule::integer => Some(StyleClause::Size(self.float(&child), self.span(&child))),
            _ => None,
        })
    }
}
