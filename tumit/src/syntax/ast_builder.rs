//! The state of the builders of the tree, and functions on nodes that all of them use.

use pest::iterators::Pair;

use super::ast;
use super::grammar::Rule;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::source_text::{FileId, SourceSpan};

/// A node of the tree that the grammar yields.
pub(crate) type ParseNode<'i> = Pair<'i, Rule>;

/// Data of the builders: the file, the position in it, and the destination of diagnostics.
pub(super) struct AstBuilder<'d> {
    pub(super) file: FileId,
    /// Offset of the parsed text in the file. Holes of texts are parsed separately.
    pub(super) offset: usize,
    pub(super) diagnostics: &'d mut Diagnostics,
    pub(super) unparsed: Vec<String>,
    /// Offsets of blocks already reported as unclosed. Nested blocks have the same offset.
    pub(super) unclosed: Vec<usize>,
    /// Number of operators so far in the current expression. `None` outside of expressions.
    pub(super) operators: Option<usize>,
}

impl AstBuilder<'_> {
    /// The span of a node, without the blanks and comments that the parser skipped at its end.
    pub(super) fn span(&self, node: &ParseNode<'_>) -> SourceSpan {
        SourceSpan::new(self.file, self.offset + node.as_span().start()..self.offset + node_end(node.clone()))
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(super) fn ident(&self, node: &ParseNode<'_>) -> ast::Ident {
        let text = node.as_str();
        let name = text.trim_matches('`');
        ast::Ident { text: name.to_owned(), span: self.span(node), raw: name.len() != text.len() }
    }
}

/// The end of the last token of a node.
fn node_end(node: ParseNode<'_>) -> usize {
    let end = node.as_span().end();
    let mut last = None;
    let mut inner = node.into_inner();
    while let Some(child) = inner.next_back() {
        if child.as_rule() != Rule::EOI {
            last = Some(child);
            break;
        }
    }
    last.map_or(end, node_end)
}

/// The children of a node, without the punctuation.
pub(super) fn children<'i>(node: ParseNode<'i>) -> impl Iterator<Item = ParseNode<'i>> {
    node.into_inner().filter(|child| !is_punctuation(child.as_rule()))
}

fn is_punctuation(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::open
            | Rule::close
            | Rule::open_bracket
            | Rule::close_bracket
            | Rule::open_paren
            | Rule::call_open
            | Rule::element_open
            | Rule::close_paren
            | Rule::comma
            | Rule::colon
            | Rule::semicolon
            | Rule::dot
            | Rule::equals
            | Rule::arrow
            | Rule::EOI
    )
}

/// The text of a doc comment, without its `///` and the one space after it.
pub(super) fn doc_line(node: &ParseNode<'_>) -> String {
    let text = node.as_str()[3..].trim_end();
    text.strip_prefix(' ').unwrap_or(text).to_owned()
}

/// The documentation before a declaration.
pub(super) fn docs(node: &ParseNode<'_>) -> String {
    let mut doc = String::new();
    for line in node.clone().into_inner().take_while(|child| child.as_rule() == Rule::doc) {
        add_line(&mut doc, &doc_line(&line));
    }
    doc
}

pub(super) fn add_line(doc: &mut String, line: &str) {
    if !doc.is_empty() {
        doc.push('\n');
    }
    doc.push_str(line);
}
