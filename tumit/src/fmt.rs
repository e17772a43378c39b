//! The formatter: one form for every spec, without options.
//!
//! - Each level is indented by four columns. Lines have at most [`MAX_WIDTH`] columns, with one
//!   declaration per line.
//! - A list is on one line if it fits. Otherwise it has one element per line. A rule has one action
//!   per line.
//! - The `->` of neighbouring rules, the columns of listed values, and the comments at the ends of
//!   neighbouring lines are aligned.
//! - Of consecutive blank lines, one is kept.
//! - Only blanks, commas before a closing bracket, optional semicolons and the case of colours
//!   change. Comments, texts, numbers and names do not change.
//!
//! The formatter works on the leaves of the grammar's tree, which are the tokens (`token`). The
//! comments and blank lines between two tokens are attached to the second one. Tokens determine the
//! spacing and brackets the line breaks (`print`), so most additions to the grammar need no change
//! here. Time is linear in the length of the text: sums over the tokens show whether a piece fits,
//! and each token is printed once.

mod action;
mod align;
mod out;
mod print;
mod token;
mod width;

pub use width::MAX_WIDTH;

use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::source_text::SourceSpan;
use crate::syntax;

/// Formats a spec. `path` is its name in diagnostics.
///
/// Only syntax errors prevent formatting. A spec with other mistakes is formatted.
///
/// ```
/// let text = "trace  hello;level APP{event greeting{whom:string,}}";
/// let formatted = "trace hello;\n\nlevel APP {\n    event greeting { whom: string }\n}\n";
/// assert_eq!(tumit::fmt::format("hello.tumit", text).as_deref().ok(), Some(formatted));
/// ```
///
/// # Errors
/// When the text has syntax errors. The diagnostics describe them.
pub fn format(path: &str, text: &str) -> Result<String, Diagnostics> {
    let tree = syntax::tree(text).and_then(|root| token::read(text, root));
    tree.map(|tree| print::print(&tree)).ok_or_else(|| syntax_errors(path, text))
}

fn syntax_errors(path: &str, text: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let file = diagnostics.sources.add(path, text);
    syntax::parse(file, &mut diagnostics);
    if !diagnostics.has_errors() {
        let title = "the file cannot be read as a spec";
        diagnostics.push(
            Diagnostic::error(Code::Syntax, title)
                .with_location(SourceSpan::new(file, 0..0), "the file is not changed"),
        );
    }
    diagnostics.sort();
    diagnostics
}
