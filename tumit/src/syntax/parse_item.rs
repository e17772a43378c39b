//! A file and its items.

use super::ast::{Alias, Const, File, Item, Use};
use super::ast_builder::{AstBuilder, ParseNode, add_line, children, doc_line, docs};
use super::grammar::Rule;
use crate::diagnostics::{Code, Diagnostic};

impl AstBuilder<'_> {
    pub(super) fn file(&mut self, node: ParseNode<'_>) -> File {
        let mut doc = String::new();
        let mut items = Vec::new();
        for child in children(node) {
            match child.as_rule() {
                Rule::inner_doc => add_line(&mut doc, &doc_line(&child)),
                Rule::bad_item => self.report_unparsable(&child, Rule::only_item, "expected a declaration"),
                _ => items.extend(self.item(child)),
            }
        }
        File { doc, items, unparsed: std::mem::take(&mut self.unparsed) }
    }

    fn item(&mut self, node: ParseNode<'_>) -> Option<Item> {
        Some(match node.as_rule() {
            Rule::trace_decl => Item::Trace(self.first_name(node)?),
            Rule::use_decl => Item::Use(self.use_decl(node)?),
            Rule::level_decl => Item::Level(self.level(node)?),
            Rule::enum_decl => Item::Enum(self.enumeration(node)?),
            Rule::type_decl => Item::Alias(self.alias(node)?),
            Rule::const_decl => Item::Const(self.constant(node)?),
            Rule::paje_decl => Item::Paje(self.paje(node)),
            Rule::rule_decl => Item::Rule(self.rule(node)?),
            Rule::output_decl => Item::Output(self.output(node)?),
            Rule::version_decl => self.version(node)?,
            _ => return None,
        })
    }

    fn first_name(&self, node: ParseNode<'_>) -> Option<super::ast::Ident> {
        children(node).find(|child| child.as_rule() == Rule::name).map(|child| self.ident(&child))
    }

    fn version(&mut self, node: ParseNode<'_>) -> Option<Item> {
        let number = children(node).find(|child| !matches!(child.as_rule(), Rule::doc | Rule::kw_version))?;
        let span = self.span(&number);
        let parsed = (number.as_rule() == Rule::integer).then(|| self.unsigned_integer(&number));
        match parsed.and_then(|number| u32::try_from(number).ok()).filter(|number| *number > 0) {
            Some(number) => Some(Item::Version(number, span)),
            None => {
                self.push(
                    Diagnostic::error(Code::BadVersion, "this is not a version of a spec")
                        .with_location(span, "not an integer from 1 to 4294967295")
                        .help("write `version 1;`, and `version 2;` for the next version"),
                );
                None
            }
        }
    }

    fn use_decl(&mut self, node: ParseNode<'_>) -> Option<Use> {
        let child = children(node).find(|child| child.as_rule() == Rule::string)?;
        Some(Use { path: self.plain_text(&child), span: self.span(&child) })
    }

    fn alias(&mut self, node: ParseNode<'_>) -> Option<Alias> {
        let doc = docs(&node);
        let (mut name, mut ty) = (None, None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                Rule::type_ref => ty = self.type_ref(child),
                _ => {}
            }
        }
        Some(Alias { doc, name: name?, ty: ty? })
    }

    fn constant(&mut self, node: ParseNode<'_>) -> Option<Const> {
        let doc = docs(&node);
        let (mut name, mut ty, mut value) = (None, None, None);
        for child in children(node) {
            match child.as_rule() {
                Rule::name => name = Some(self.ident(&child)),
                Rule::type_ref => ty = self.type_ref(child),
                Rule::expr => value = Some(self.expr(child)),
                _ => {}
            }
        }
        Some(Const { doc, name: name?, ty, value: value? })
    }
}
