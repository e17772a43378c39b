//! The macros of `tracer-rt`.
//! It re-exports them as `tracer_rt::events!`, `tracer_rt::records!` and `#[tracer_rt::traced]`.

#![forbid(unsafe_code)]

mod compiler_error;
mod events;
mod records;
mod traced_attribute;

use proc_macro::TokenStream;

/// Generates the tracing functions of a spec.
/// There is one module per level (in snake case), one function per event or span, and the spec's
/// enums.
///
/// The forms of a call, with a path relative to the package's folder:
///
/// - `events!("taktuk.tumit")` generates the functions: `com::post(node, thread)` records an
///   event, and `let _span = app::iteration(n)` records a span until the guard is dropped.
/// - `events!(pub "taktuk.tumit")` generates them for other crates, too. The default is
///   `pub(crate)`.
/// - `events!("taktuk.tumit", off = [APP])` compiles calls of level `APP` to nothing.
/// - `events!("taktuk.tumit", mod = trace)` puts all into a module: `trace::com::post(node,
///   thread)`.
///
/// Each level becomes a module next to the macro call.
/// If a level `DB` and a module `db` of the program collide, the compiler reports "the name `db` is
/// defined multiple times". `mod = trace` puts all modules of levels into a module `trace`.
///
/// The macro is called at item level. Errors in the spec are reported at the path, with the
/// messages of `tumit check`. A change of the spec rebuilds the crate.
#[proc_macro]
pub fn events(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|input| events::expand(&input)).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Turns a function into a span: `#[tracer_rt::traced(app::iteration(n))]`.
/// The span ends when the function returns or unwinds.
///
/// The arguments are expressions over the function's parameters, including `self`.
/// They are evaluated before the body. `app::iteration` is the path of the span's function from
/// `events!` (or `tumit-build`). Without arguments, the path is sufficient. The attribute applies
/// to functions and methods with a body, also generic, `unsafe` and `extern` ones, in traits and
/// `impl`s. A `const` function cannot record.
///
/// # Async functions
///
/// On an `async fn` each poll is a span, which shows when the function really ran and on which
/// thread. The arguments are evaluated once, when the function begins to run, and kept without
/// borrowing. Only texts and lists allocate for that. A call that begins while the level is off is
/// not recorded. The future may move between threads and may be dropped at any time.
///
/// The same applies to functions that end with an `async` block or `Box::pin(async …)`, and to
/// functions that are declared to return `impl Future`. Their arguments are evaluated at the call.
///
/// # Tasks
///
/// If the span is declared `async`, the parts of one call belong together: each call takes a number
/// from `tracer_rt::new_task()`, and all its parts record it as `task`. This number is not one of
/// the arguments. `#[traced(net::fetch(url), task = self.task)]` sets another number.
#[proc_macro_attribute]
pub fn traced(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let (attribute, item) = (attribute, proc_macro2::TokenStream::from(item));
    let result = traced_attribute::expand(attribute.into(), item.clone());
    // The function stays if the attribute is wrong, so that its callers cause no further errors.
    let result = result.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote::quote!(#error #item)
    });
    result.into()
}

/// Generates the types of a spec's records, for programs that read, filter and write runs.
/// The result is a module with the name of the trace. It contains a struct per event, the enum
/// `Record` of all events, and the spec's enums.
///
/// The path is relative to the package's folder. `records!(pub "taktuk.tumit")` generates the
/// module for other crates, too. The default is `pub(crate)`. `tumit_converter::tools::records`
/// reads and writes runs with these types.
#[proc_macro]
pub fn records(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|input| records::expand(&input)).unwrap_or_else(syn::Error::into_compile_error).into()
}
