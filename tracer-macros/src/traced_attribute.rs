//! `#[traced(…)]`: a span around a function, or around each poll of an async one.
//!
//! The attribute does not read the spec.
//! It calls the functions that `events!` generates for it next to the span (`span`, `parts`), by
//! the path in the program. Generated code has the user's source spans where a user error can
//! occur, and hygienic names elsewhere.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, Expr, ExprPath, Ident, Item, ItemFn, Path, Token, TraitItemFn};

mod returned_future;

/// `level::span(arguments) [, task = EXPRESSION]`
struct TracedAttribute {
    span: Path,
    arguments: Punctuated<Expr, Token![,]>,
    task: Option<(Ident, Expr)>,
}

impl Parse for TracedAttribute {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        const EXPECTED: &str = "expected the path of a span: `#[traced(level::span(arguments))]`";
        if input.is_empty() {
            return Err(syn::Error::new(Span::call_site(), EXPECTED));
        }
        let (span, arguments) = match input.parse()? {
            Expr::Call(call) => match *call.func {
                Expr::Path(ExprPath { path, qself: None, .. }) => (path, call.args),
                other => return Err(syn::Error::new_spanned(other, EXPECTED)),
            },
            Expr::Path(ExprPath { path, qself: None, .. }) => (path, Punctuated::new()),
            other => return Err(syn::Error::new_spanned(other, EXPECTED)),
        };
        let mut task = None;
        if input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let option: Ident = input.parse()?;
            if option != "task" {
                let message = "unknown option; the only option is `task = NUMBER`, and arguments are written in the brackets of the span";
                return Err(syn::Error::new(option.span(), message));
            }
            input.parse::<Token![=]>()?;
            task = Some((option, input.parse()?));
            input.parse::<Option<Token![,]>>()?;
        }
        if !input.is_empty() {
            return Err(input.error("unexpected input; expected the end of the attribute"));
        }
        Ok(Self { span, arguments, task })
    }
}

impl TracedAttribute {
    /// A call of a generated function of the span.
    fn call(&self, entry: &str) -> TokenStream {
        let (span, arguments) = (&self.span, &self.arguments);
        let (entry, task) = match &self.task {
            Some((option, task)) => (Ident::new(&format!("{entry}_of_task"), option.span()), Some(quote!(#task,))),
            None => (Ident::new(entry, last_identifier(span).span()), None),
        };
        // The call has the location of the span. There the compiler reports missing arguments and
        // spans that cannot be traced.
        let call = quote_spanned!(span.span()=> (#task #arguments));
        quote_spanned!(span.span()=> ::tracer_rt::private::ends_when_dropped(#span::#entry #call))
    }
}

fn last_identifier(path: &Path) -> &Ident {
    path.segments.last().map_or_else(|| unreachable!("a path has segments"), |segment| &segment.ident)
}

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let traced: TracedAttribute = syn::parse2(attribute)?;
    let mut function = function(item)?;
    if let Some(keyword) = function.sig.constness.as_ref() {
        return Err(syn::Error::new(
            keyword.span(),
            "a `const` function cannot record, because it may run in the compiler: trace its callers",
        ));
    }
    if let Some(naked) = function.attrs.iter().find(|attribute| attribute.path().is_ident("naked")) {
        return Err(syn::Error::new_spanned(naked, "a naked function cannot contain a span: trace its callers"));
    }
    let body = if function.sig.asyncness.is_some() {
        async_body(&traced, &function)
    } else {
        let parts = Ident::new("parts", Span::mixed_site());
        match returned_future::polled(&function.sig.output, &mut function.block, &parts) {
            Some(future) => {
                let call = traced.call("parts");
                quote!(let #parts = #call; #future)
            }
            None => plain_body(&traced, &function),
        }
    };
    let ItemFn { attrs, vis, sig, block, .. } = &function;
    let is_inner = |attribute: &&Attribute| matches!(attribute.style, AttrStyle::Inner(_));
    let (inner, outer): (Vec<_>, Vec<_>) = attrs.iter().partition(is_inner);
    let mut tokens = quote!(#(#outer)* #vis #sig);
    block.brace_token.surround(&mut tokens, |inside| inside.extend(quote!(#(#inner)* #body)));
    Ok(tokens)
}

/// Parses the function with the attribute.
fn function(item: TokenStream) -> syn::Result<ItemFn> {
    let error = match syn::parse2(item.clone()) {
        Ok(function) => return Ok(function),
        Err(error) => error,
    };
    if let Ok(method) = syn::parse2::<TraitItemFn>(item.clone())
        && method.default.is_none()
    {
        let message = "this function has no body to trace: write `#[traced]` on its implementations";
        return Err(syn::Error::new_spanned(method.sig, message));
    }
    match syn::parse2::<Item>(item) {
        Ok(Item::Impl(other)) => Err(misplaced_keyword(other.impl_token, "its functions")),
        Ok(Item::Mod(other)) => Err(misplaced_keyword(other.mod_token, "its functions")),
        Ok(Item::Trait(other)) => Err(misplaced_keyword(other.trait_token, "its functions with bodies")),
        Ok(other) => Err(syn::Error::new_spanned(other, "`#[traced]` needs a function or method with a body")),
        Err(_) => Err(error),
    }
}

fn misplaced_keyword(keyword: impl ToTokens, where_else: &str) -> syn::Error {
    syn::Error::new_spanned(keyword, format!("`#[traced]` needs a function: write it on {where_else}"))
}

/// The guard is the first local variable, so it is dropped last.
fn plain_body(traced: &TracedAttribute, function: &ItemFn) -> TokenStream {
    let guard = Ident::new("_span", Span::mixed_site());
    let (call, statements) = (traced.call("span"), &function.block.stmts);
    quote! {
        let #guard = #call;
        #(#statements)*
    }
}

/// Wraps the body in a future. Each poll of this future is a part of the span.
fn async_body(traced: &TracedAttribute, function: &ItemFn) -> TokenStream {
    let parts = Ident::new("parts", Span::mixed_site());
    let (call, statements) = (traced.call("parts"), &function.block.stmts);
    let typed = returned_future::type_annotation(&function.sig.output);
    quote! {
        let #parts = #call;
        ::tracer_rt::private::TracedFuture::new(#parts, async move {
            #typed
            #(#statements)*
        })
        .await
    }
}
