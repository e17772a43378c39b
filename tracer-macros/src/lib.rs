//! The macros of `tracer-rt`, which re-exports them: use them as `tracer_rt::events!` and `#[tracer_rt::traced]`.

#![forbid(unsafe_code)]

mod events;
mod records;
mod report;
mod traced;

use proc_macro::TokenStream;

/// Makes the tracing functions of a spec: one module per level, in snake case, one function per event or span, and the
/// spec's enums.
///
/// ```ignore
/// tracer_rt::events!("taktuk.tumit");                     // the path is relative to the package's folder
/// tracer_rt::events!("taktuk.tumit", off = [APP]);        // calls of level APP are compiled to nothing
/// tracer_rt::events!("taktuk.tumit", mod = trace);        // all in a module: trace::com::post(…)
/// tracer_rt::events!(pub "taktuk.tumit");                 // for other crates too; else pub(crate)
///
/// com::post(node, thread, stamp, bytes);                  // an event
/// let _span = app::iteration(n);                          // a span, until the guard is dropped
/// ```
///
/// Each level becomes a module where the macro stands, so a level `DB` and a module `db` of the program collide there: the
/// compiler says "the name `db` is defined multiple times". `mod = trace` puts all modules of levels into a module `trace`.
///
/// It stands at the level of items. Mistakes in the spec are shown at the path, as `tumit check` shows them. A change of
/// the spec builds the crate again.
#[proc_macro]
pub fn events(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|input| events::expand(&input)).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a function a span: `#[tracer_rt::traced(app::iteration(n))]`. The span ends when the function returns or unwinds.
///
/// The arguments are expressions over the function's parameters, `self` included, evaluated before the body. `app::iteration`
/// is the path of the span's function as `events!` (or `tumit-build`) made it; without arguments it may stand alone. The
/// attribute stands on functions and methods with a body: generic, `unsafe`, `extern` ones, in traits and `impl`s. A `const`
/// function cannot record.
///
/// # Async functions
///
/// On an `async fn` each poll is a span: it says when the function really ran, and on which thread. The arguments are
/// evaluated once, when the function begins to run, and kept without borrowing; that allocates only for texts and lists.
/// A call that begins while the level is off is not recorded. The future may be moved between threads and dropped at any time.
///
/// The same holds for functions that end with an `async` block or `Box::pin(async …)`, and for those that are declared to
/// return `impl Future`; there the arguments are evaluated at the call.
///
/// # Tasks
///
/// Parts of one call belong together when the span is declared `async`: each call takes a number from
/// `tracer_rt::new_task()`, and all its parts record it as `task`. It is not among the arguments.
/// `#[traced(net::fetch(url), task = self.task)]` gives a number of your own.
#[proc_macro_attribute]
pub fn traced(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let (given, item) = (attribute, proc_macro2::TokenStream::from(item));
    let result = traced::expand(given.into(), item.clone());
    // The function stays when the attribute is wrong: its users need not complain, too.
    let result = result.unwrap_or_else(|error| {
        let error = error.into_compile_error();
        quote::quote!(#error #item)
    });
    result.into()
}

/// Makes the types of a spec's records, for programs that read, filter and write runs: a module named after the trace, with
/// a struct per event, the enum `Record` of all, and the spec's enums.
///
/// ```ignore
/// tracer_rt::records!("taktuk.tumit");                    // `mod taktuk`; the path is relative to the package's folder
/// tracer_rt::records!(pub "taktuk.tumit");                // for other crates too; else pub(crate)
///
/// let mut reader = tumit_converter::records::Reader::<taktuk::Trace>::new(&run, 0)?;
/// while let Some(recorded) = reader.next()? {
///     if let taktuk::Record::Post(post) = &recorded.record { println!("{} {post}", recorded.head.ticks); }
/// }
/// ```
#[proc_macro]
pub fn records(input: TokenStream) -> TokenStream {
    syn::parse(input).and_then(|input| records::expand(&input)).unwrap_or_else(syn::Error::into_compile_error).into()
}
