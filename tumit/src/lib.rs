//! The Tumit language: from the text of a spec to a [`Spec`], and from a [`Spec`] to tracing code.
//!
//! The library does no I/O. [`compile`] requests the files that a spec uses from a [`Loader`].
//!
//! ```
//! let text = "trace hello;\nlevel APP { event greeting { whom: string } }\n";
//! let (spec, diagnostics) = tumit::compile_text("hello.tumit", text);
//! assert!(diagnostics.is_empty());
//! assert_eq!(spec.expect("the spec is correct").records[0].name, "greeting");
//! ```

#![forbid(unsafe_code)]

mod check;
pub mod codegen;
mod compile;
pub mod diagnostics;
mod draft;
pub mod explain;
mod expr;
pub mod fmt;
mod growth;
pub mod load;
pub mod names;
mod record_layout;
mod resolve;
pub mod source_text;
pub mod spec;
mod syntax;
mod value_type;

pub use compile::{compile, compile_since, compile_sources, compile_text};
pub use diagnostics::{Code, Diagnostic, Diagnostics};
pub use load::{Loader, SpecLoadError};
pub use spec::Spec;
