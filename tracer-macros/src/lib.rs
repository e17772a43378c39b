//! The macros of `tracer-rt`, which re-exports them: use them as `tracer_rt::events!` and `#[tracer_rt::traced]`.

#![forbid(unsafe_code)]

mod events;
mod report;
mod traced;

use proc_macro::TokenStream;

/// Makes the tracing functions of a spec: one module per level, in snake case, one function per event or span, and the
/// spec's enums.
///
/// ```ignore
/// tracer_rt::events!("taktuk.tumit");                     // the path is relative to the package's folder
/// tracer_rt::events!("taktuk.tumit", off = [APP]);        // calls of level APP are compiled to nothing
/// tracer_rt::events!(pub "taktuk.tumit");                 // for other crates too; else pub(crate)
///
/// com::post(node, thread, stamp, bytes);                  // an event
/// let _span = app::iteration(n);                          // a span, until the guard is dropped
/// ```
///
/// It stands at the level of items. Mistakes in the spec are shown at the path, as `tumit check` shows them. A change of
/// the spec builds the crate again.
#[proc_macro]
pub fn events(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|input| events::expand(&input)).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a span: `#[tracer_rt::traced(app::iteration(n))]`. The arguments are expressions over the function's
/// parameters, `self` included; the span ends when the function returns or unwinds.
#[proc_macro_attribute]
pub fn traced(attribute: TokenStream, item: TokenStream) -> TokenStream {
    traced::expand(attribute.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
