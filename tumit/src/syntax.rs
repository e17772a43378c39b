//! From text to a syntax tree: the grammar, and the builders of the tree with one file per
//! construct.

pub(crate) mod ast;
mod css;
mod literal;
mod parse_event;
mod parse_expr;
mod parse_item;
mod parse_paje;
mod parse_rule;
mod recover;
mod scan;

use pest::Parser as _;
use pest::iterators::Pair;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::{FileId, SourceSpan};

mod grammar {
    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/grammar.pest"]
    pub(crate) struct SpecGrammar;
}
pub(crate) use grammar::Rule;
use grammar::SpecGrammar;

/// A node of the tree that the grammar yields.
pub(crate) type ParseNode<'i> = Pair<'i, Rule>;

/// Data of the builders: the file, the position in it, and the destination of diagnostics.
struct AstBuilder<'d> {
    file: FileId,
    /// Offset of the parsed text in the file. Holes of texts are parsed separately.
    offset: usize,
    diagnostics: &'d mut Diagnostics,
    unparsed: Vec<String>,
    /// Offsets of blocks already reported as unclosed. Nested blocks have the same offset.
    unclosed: Vec<usize>,
    /// Number of operators so far in the current expression. `None` outside of expressions.
    operators: Option<usize>,
}

/// Parses a file. Errors go to `diagnostics`. The tree has the items that could be parsed.
pub(crate) fn parse(file: FileId, diagnostics: &mut Diagnostics) -> ast::File {
    let text = diagnostics.sources.get(file).map(|source| source.text.clone()).unwrap_or_default();
    let Some(text) = scan::repair_quotes(file, &text, diagnostics) else { return ast::File::default() };
    match SpecGrammar::parse(Rule::file, &text) {
        Ok(mut pairs) => {
            let mut builder = AstBuilder {
                file,
                offset: 0,
                diagnostics,
                unparsed: Vec::new(),
                unclosed: Vec::new(),
                operators: None,
            };
            pairs.next().map(|node| builder.file(node)).unwrap_or_default()
        }
        Err(error) => {
            let at = recover::offset(&error);
            diagnostics.push(
                Diagnostic::error(Code::Syntax, "the file cannot be read as a spec")
                    .at(SourceSpan::new(file, at..at), recover::expectation(&error)),
            );
            ast::File::default()
        }
    }
}

/// The grammar's own tree of a text, for the formatter, which needs every token.
///
/// `None` when the text cannot be parsed at all. Pieces that match no rule are in the tree as
/// `bad_…`.
pub(crate) fn tree(text: &str) -> Option<ParseNode<'_>> {
    let mut diagnostics = Diagnostics::default();
    scan::repair_quotes(FileId(0), text, &mut diagnostics)?;
    SpecGrammar::parse(Rule::file, text).ok().filter(|_| diagnostics.is_empty())?.next()
}

impl AstBuilder<'_> {
    /// The span of a node, without the blanks and comments that the parser skipped at its end.
    fn span(&self, node: &ParseNode<'_>) -> SourceSpan {
        SourceSpan::new(self.file, self.offset + node.as_span().start()..self.offset + end(node.clone()))
    }

    fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn ident(&self, node: &ParseNode<'_>) -> ast::Ident {
        let text = node.as_str();
        let bare = text.trim_matches('`');
        ast::Ident { text: bare.to_owned(), span: self.span(node), raw: bare.len() != text.len() }
    }
}

/// The end of the last token of a node.
fn end(node: ParseNode<'_>) -> usize {
    let end = node.as_span().end();
    let mut last = None;
    let mut inner = node.into_inner();
    while let Some(child) = inner.next_back() {
        if child.as_rule() != Rule::EOI {
            last = Some(child);
            break;
        }
    }
    last.map_or(end, self::end)
}

/// The children of a node, without the punctuation.
fn children<'i>(node: ParseNode<'i>) -> impl Iterator<Item = ParseNode<'i>> {
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
fn doc_line(node: &ParseNode<'_>) -> String {
    let text = node.as_str()[3..].trim_end();
    text.strip_prefix(' ').unwrap_or(text).to_owned()
}

/// The documentation before a declaration.
fn docs(node: &ParseNode<'_>) -> String {
    let mut doc = String::new();
    for line in node.clone().into_inner().take_while(|child| child.as_rule() == Rule::doc) {
        add_line(&mut doc, &doc_line(&line));
    }
    doc
}

fn add_line(doc: &mut String, line: &str) {
    if !doc.is_empty() {
        doc.push('\n');
    }
    doc.push_str(line);
}
