//! Reports the diagnostics of a spec as a compiler error at the macro's string literal.

use syn::LitStr;
use tumit::Diagnostics;

/// The diagnostics, rendered as plain text.
pub(crate) fn error(literal: &LitStr, diagnostics: &Diagnostics) -> syn::Error {
    let text = diagnostics.render(false);
    syn::Error::new(literal.span(), format!("mistakes in `{}`\n{}", literal.value(), text.trim_end()))
}
