//! Functions that return a future: their detection, the expression that creates the future, and the
//! type of the body.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, ReturnType, Stmt, Type, TypeParamBound, parse_quote};

/// Wraps the future of a function that is not `async` but returns a future, so that each poll is a
/// part of the span.
/// These are functions that end with an async block, also in `Box::pin`, and functions that are
/// declared to return `impl Future`.
pub(super) fn polled(output: &ReturnType, block: &mut Block, parts: &Ident) -> Option<TokenStream> {
    if let Some(future) = block.stmts.last_mut().and_then(async_block) {
        *future = parse_quote!(::tracer_rt::private::TracedFuture::new(#parts, #future));
        let statements = &block.stmts;
        return Some(quote!(#(#statements)*));
    }
    let ReturnType::Type(_, ty) = output else { return None };
    let statements = &block.stmts;
    is_future(ty).then(|| quote!(::tracer_rt::private::TracedFuture::new(#parts, { #(#statements)* })))
}

/// The async block at the end of a function, alone or in `Box::pin(…)`.
fn async_block(last: &mut Stmt) -> Option<&mut Expr> {
    let Stmt::Expr(expression, None) = last else { return None };
    match expression {
        Expr::Async(_) => Some(expression),
        Expr::Call(call) if call.args.len() == 1 && is_box_pin(&call.func) => {
            call.args.first_mut().filter(|argument| matches!(argument, Expr::Async(_)))
        }
        _ => None,
    }
}

fn is_box_pin(function: &Expr) -> bool {
    let Expr::Path(function) = function else { return false };
    let mut names = function.path.segments.iter().rev().map(|segment| &segment.ident);
    names.next().is_some_and(|name| name == "pin") && names.next().is_some_and(|name| name == "Box")
}

/// Whether the type is `impl Future<…>`, possibly with further bounds.
fn is_future(ty: &Type) -> bool {
    let Type::ImplTrait(opaque) = ty else { return false };
    opaque.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|last| last.ident == "Future"),
        _ => false,
    })
}

/// A statement that gives an async block its type, as the function's signature would.
pub(super) fn type_annotation(output: &ReturnType) -> TokenStream {
    let mut ty = match output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    };
    if matches!(ty, Type::Never(_)) {
        return TokenStream::new();
    }
    OpaqueTypeEraser.visit_type_mut(&mut ty);
    quote! {
        if false {
            return ::tracer_rt::private::uncalled::<#ty>();
        }
    }
}

/// Replaces types that have no name by `_`.
struct OpaqueTypeEraser;

impl VisitMut for OpaqueTypeEraser {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::ImplTrait(_) => *ty = Type::Infer(parse_quote!(_)),
            other => visit_mut::visit_type_mut(self, other),
        }
    }
}
