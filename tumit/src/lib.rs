//! The Tumit language: from the text of a spec to a [`Spec`], and from a [`Spec`] to tracing code.
//!
//! The library does no I/O: `compile` asks a `Loader` for the files that a spec uses.

#![forbid(unsafe_code)]

pub mod codegen;
pub mod spec;

pub use spec::Spec;
