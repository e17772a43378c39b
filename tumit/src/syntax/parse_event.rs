//! Levels, events, spans, fields, enums.

use super::ast::{Count, Enum, EnumValue, Event, Field, Level, TypeKind, TypeRef};
use super::ast_builder::{AstBuilder, ParseNode, add_line, children, doc_line, docs};
use super::grammar::Rule;

impl AstBuilder<'_> {
    pub(super) fn level(&mut self, node: ParseNode<'_>) -> Option<Level> {
        let opening = self.opening(&node);
        let (mut doc, mut name, mut is_enabled, mut events) = (String::new(), None, true, Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::doc => add_line(&mut doc, &doc_line(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::kw_off => is_enabled = false,
                Rule::event_decl | Rule::span_decl => events.extend(self.event(child)),
                Rule::bad_member => {
                    self.report_unparsable(&child, Rule::only_member, "a level contains events and spans");
                }
                Rule::missing_close => self.report_unclosed(opening, &child, "level"),
                _ => {}
            }
        }
        Some(Level { doc, name: name?, is_enabled, events })
    }

    fn event(&mut self, node: ParseNode<'_>) -> Option<Event> {
        let is_span = node.as_rule() == Rule::span_decl;
        let (mut doc, mut name, mut has_location) = (String::new(), None, false);
        let (mut fields, mut end_fields) = (Vec::new(), Vec::new());
        let mut is_async = None;
        for child in children(node) {
            match child.as_rule() {
                Rule::doc => add_line(&mut doc, &doc_line(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::kw_located => has_location = true,
                Rule::span_mark => match child.as_str().starts_with("async") {
                    true => is_async = Some(self.span(&child)),
                    false => has_location = true,
                },
                Rule::fields => fields = self.fields(child),
                Rule::end_fields => {
                    let lists = children(child).filter(|part| part.as_rule() == Rule::fields);
                    end_fields = lists.flat_map(|list| self.fields(list)).collect();
                }
                _ => {}
            }
        }
        Some(Event { doc, is_span, is_async, name: name?, has_location, fields, end_fields })
    }

    fn fields(&mut self, node: ParseNode<'_>) -> Vec<Field> {
        children(node).filter_map(|field| self.field_of_list(field)).collect()
    }

    fn field_of_list(&mut self, node: ParseNode<'_>) -> Option<Field> {
        if node.as_rule() == Rule::bad_field {
            self.bad_part(&node, Rule::only_field);
            return None;
        }
        self.field(node)
    }

    /// `name: type`, of a field or of a key.
    pub(super) fn field(&mut self, node: ParseNode<'_>) -> Option<Field> {
        let doc = docs(&node);
        let (mut name, mut ty) = (None, None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                Rule::type_ref => ty = self.type_ref(child),
                _ => {}
            }
        }
        Some(Field { doc, name: name?, ty: ty? })
    }

    pub(super) fn type_ref(&mut self, node: ParseNode<'_>) -> Option<TypeRef> {
        let span = self.span(&node);
        let inner = node.into_inner().next()?;
        if inner.as_rule() == Rule::name {
            return Some(TypeRef { kind: TypeKind::Named(self.ident(&inner)), span });
        }
        let mut element = None;
        let mut count = None;
        for child in children(inner) {
            match child.as_rule() {
                Rule::type_ref => element = self.type_ref(child),
                Rule::integer => count = Some(Count::Literal(self.unsigned_integer(&child), self.span(&child))),
                Rule::name => count = Some(Count::Named(self.ident(&child))),
                _ => {}
            }
        }
        let element = Box::new(element?);
        let kind = match count {
            Some(count) => TypeKind::Fixed(element, count),
            None => TypeKind::Variable(element),
        };
        Some(TypeRef { kind, span })
    }

    pub(super) fn enumeration(&mut self, node: ParseNode<'_>) -> Option<Enum> {
        let (mut doc, mut name, mut values) = (String::new(), None, Vec::new());
        for child in children(node) {
            match child.as_rule() {
                Rule::doc => add_line(&mut doc, &doc_line(&child)),
                Rule::name => name = Some(self.ident(&child)),
                Rule::enum_value => values.extend(self.enum_value(child)),
                Rule::bad_enum_value => self.bad_part(&child, Rule::only_enum_value),
                _ => {}
            }
        }
        Some(Enum { doc, name: name?, values })
    }

    fn enum_value(&mut self, node: ParseNode<'_>) -> Option<EnumValue> {
        let (doc, mut name, mut number) = (docs(&node), None, None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                Rule::integer => number = Some((self.unsigned_integer(&child), self.span(&child))),
                _ => {}
            }
        }
        Some(EnumValue { doc, name: name?, number })
    }
}
