//! From text to a syntax tree: the grammar, and the builders of the tree with one file per
//! construct.

pub(crate) mod ast;
mod ast_builder;
mod brackets_and_quotes;
mod css;
mod grammar;
mod literal;
mod parse_event;
mod parse_expr;
mod parse_item;
mod parse_paje;
mod parse_rule;
mod recover;

use ast_builder::AstBuilder;
pub(crate) use ast_builder::ParseNode;
pub(crate) use grammar::Rule;
use grammar::SpecGrammar;

use pest::Parser as _;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source_text::{FileId, SourceSpan};

/// Parses a file. Errors go to `diagnostics`. The tree has the items that could be parsed.
pub(crate) fn parse(file: FileId, diagnostics: &mut Diagnostics) -> ast::File {
    let text = diagnostics.sources.get(file).map(|source| source.text.clone()).unwrap_or_default();
    let Some(text) = brackets_and_quotes::repair_quotes(file, &text, diagnostics) else { return ast::File::default() };
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
            let offset = recover::offset(&error);
            diagnostics.push(
                Diagnostic::error(Code::Syntax, "the file cannot be read as a spec")
                    .with_location(SourceSpan::new(file, offset..offset), recover::expectation(&error)),
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
    brackets_and_quotes::repair_quotes(FileId(0), text, &mut diagnostics)?;
    SpecGrammar::parse(Rule::file, text).ok().filter(|_| diagnostics.is_empty())?.next()
}
