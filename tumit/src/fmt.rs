//! The formatter: one usual form for every spec, without options.
//!
//! Four columns per level, at most [`MAX_WIDTH`] columns, one declaration per line. A list stands on one line if it fits
//! and has one element per line if it does not; a rule has one arrow per line. Arrows of neighbouring rules, the columns
//! of listed values and comments at the ends of neighbouring lines stand below each other. At most one blank line is kept
//! in a row. Only blanks, commas before a closing bracket, optional semicolons and the case of colours change: comments,
//! texts, numbers and names stay as they were written.
//!
//! It works on the leaves of the grammar's tree, which are the tokens (`token`), with what stands between them, comments
//! and blank lines, attached to the token that follows. Spacing follows from tokens, line breaks from brackets
//! (`print`), so most additions to the grammar need no change here. Time is linear in the length of the text: whether
//! something fits is known from sums over the tokens, and each token is printed once.

mod action;
mod align;
mod out;
mod print;
mod token;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::source::Span;
use crate::syntax;

/// Most columns of a line. Only texts and comments, which are never broken, and what cannot be broken go beyond.
pub const MAX_WIDTH: usize = 100;

/// Columns of one level.
const INDENT: usize = 4;

/// Formats a spec. `path` is its name in diagnostics. A spec with other mistakes than those of syntax is formatted, too.
///
/// ```
/// let text = "trace  hello;level APP{event greeting{whom:string,}}";
/// let formatted = "trace hello;\n\nlevel APP {\n    event greeting { whom: string }\n}\n";
/// assert_eq!(tumit::fmt::format("hello.tumit", text).as_deref().ok(), Some(formatted));
/// ```
///
/// # Errors
/// When the text has syntax errors: the diagnostics say which.
pub fn format(path: &str, text: &str) -> Result<String, Diagnostics> {
    let tree = syntax::tree(text).and_then(|root| token::read(text, root));
    tree.map(|tree| print::print(&tree)).ok_or_else(|| mistakes(path, text))
}

/// The diagnostics of a text that is no spec.
fn mistakes(path: &str, text: &str) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    let file = diagnostics.sources.add(path, text);
    syntax::parse(file, &mut diagnostics);
    if !diagnostics.has_errors() {
        let title = "the file cannot be read as a spec";
        diagnostics.push(Diagnostic::error(Code::Syntax, title).at(Span::new(file, 0..0), "nothing was changed"));
    }
    diagnostics.sort();
    diagnostics
}
