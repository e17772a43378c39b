//! The place of generated code, and the lints that are disabled in it.

use proc_macro2::TokenStream;
use quote::quote;

/// The place of the generated code.
#[derive(Clone, Debug)]
pub struct CodeContext<'a> {
    /// Visibility of the functions: `pub` or `pub(crate)`.
    pub visibility: TokenStream,
    /// Expressions for the paths of the spec's files. Cargo rebuilds the crate when one of them
    /// changes.
    pub watched_files: &'a [TokenStream],
}

/// Attributes that disable lints in generated code. Programs can enable any lint, and need not call
/// all functions.
pub(super) fn lints() -> TokenStream {
    quote! {
        #[allow(dead_code, unreachable_pub, clippy::all, clippy::pedantic, rustdoc::all, reason = "generated")]
    }
}
