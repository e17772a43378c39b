//! The C back end: one self-contained header in C99, which is also valid C++11. It contains the
//! recorder and a function for each record of the spec.
//!
//! ```
//! use tumit::codegen::{Backend, CodegenOptions, c::{CBackend, CReader}};
//!
//! let text = "trace hello; level APP { event greeting { n: u32 } }";
//! let (spec, _) = tumit::compile_text("hello.tumit", text);
//! let spec = spec.expect("the spec is correct");
//! let header = CBackend.generate(&spec, &CodegenOptions::default())?;
//! assert!(header.0[0].text.contains("void hello_greeting(uint32_t n_)"));
//! let reader = CReader.generate(&spec, &CodegenOptions::default())?;
//! assert_eq!(reader.0[0].name, "hello_read.h");
//! # Ok::<(), tumit::codegen::UnsupportedFeature>(())
//! ```

mod c_text;
mod format_constants;
mod header;
mod names;
mod reader_backend;
mod record_function;
mod recorder_tables;
mod runtime;
mod scope_guard;
mod type_declarations;

use std::fmt::Write as _;

use tracer_format::checksum::crc32c;

use super::backend::{Backend, CodegenOptions, GeneratedFile, GeneratedFiles, UnsupportedFeature};
use crate::Spec;
use crate::spec::RecordId;
use header::CHeader;
pub(in crate::codegen) use names::CNames;
pub use reader_backend::CReader;

/// Generates C headers.
#[derive(Clone, Copy, Debug, Default)]
pub struct CBackend;

impl Backend for CBackend {
    fn generate(&self, spec: &Spec, options: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature> {
        let names = CNames::new(spec)?;
        let schema = spec.schema().encode();
        let header = CHeader { spec, options, names: &names, hash: crc32c(0, &schema) };
        let mut out = header.banner();
        out.push_str(&runtime::text());
        let guard = format!("TUMIT_TRACE_{}", names.trace);
        header.guard(&mut out, &guard);
        header.switches(&mut out);
        type_declarations::write(&mut out, spec, &names);
        recorder_tables::write(&mut out, &header, &schema);
        for record in (0..).map(RecordId).take(spec.first_absent_end()) {
            record_function::write(&mut out, &header, record.index())?;
            let span = spec.span_of(record).filter(|span| span.end == record);
            if let Some(absent) = span.and_then(|span| span.absent_end) {
                record_function::write(&mut out, &header, absent.index())?;
            }
        }
        scope_guard::write(&mut out, &header);
        let _ = write!(out, "\n#endif /* {guard} */\n");
        Ok(GeneratedFiles(vec![GeneratedFile { name: format!("{}_trace.h", names.trace), text: out }]))
    }
}

#[cfg(test)]
mod tests;
