//! Generators: from a [`Spec`](crate::spec::Spec) to the text of tracing functions. They read only
//! the `Spec`. Their output is deterministic.
//!
//! ```
//! use tumit::codegen::{Backend, CodegenOptions, c::CBackend};
//!
//! let text = "trace hello; level APP { event greeting { n: u32 } }";
//! let (spec, _) = tumit::compile_text("hello.tumit", text);
//! let spec = spec.expect("the spec is correct");
//! let mut options = CodegenOptions::default();
//! options.removed_levels = vec!["DEBUG".to_owned()];
//! let files = CBackend.generate(&spec, &options)?;
//! assert_eq!(files.0[0].name, "hello_trace.h");
//! # Ok::<(), tumit::codegen::UnsupportedFeature>(())
//! ```

mod backend;
pub mod c;
pub mod doc;
pub mod fortran;
pub mod rust;

pub use backend::{Backend, CodegenOptions, GeneratedFile, GeneratedFiles, UnsupportedFeature};
