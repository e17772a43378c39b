//! `#[traced(…)]`: a span around a function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr, ItemFn};

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if attribute.is_empty() {
        let place = proc_macro2::Span::call_site();
        return Err(syn::Error::new(place, "a span is expected: `#[traced(level::span(arguments))]`"));
    }
    let span: Expr = syn::parse2(attribute)?;
    if !matches!(span, Expr::Call(_)) {
        return Err(syn::Error::new_spanned(span, "a call is expected: `#[traced(level::span(arguments))]`"));
    }
    let function: ItemFn = syn::parse2(item).map_err(|error| {
        syn::Error::new(error.span(), format!("`#[traced]` stands on a function or method with a body ({error})"))
    })?;
    let ItemFn { attrs, vis, sig, block, .. } = function;
    if let Some(keyword) = sig.asyncness.as_ref() {
        return Err(syn::Error::new(
            keyword.span,
            "`#[traced]` on an async function is not supported yet: the function may be moved between threads while a \
             span belongs to one; put the span around the parts without `.await`",
        ));
    }
    if let Some(keyword) = sig.constness.as_ref() {
        return Err(syn::Error::new(keyword.span, "a `const` function cannot record"));
    }
    let statements = &block.stmts;
    Ok(quote! {
        #(#attrs)*
        #vis #sig {
            let __span: ::tracer_rt::Span<_> = #span;
            #(#statements)*
        }
    })
}
