//! The reference of a spec for readers of its traces: one page of HTML, or Markdown.
//!
//! `contents` collects the contents in the order of the spec. `calls` finds the generated functions
//! of each event. `html` and `markdown` write the text. The output is deterministic, and has no
//! references to external resources.
//!
//! ```
//! use tumit::codegen::{Backend, CodegenOptions, doc::MarkdownBackend};
//!
//! let text = "trace hello; level APP { event greeting { n: u32 } }";
//! let (spec, _) = tumit::compile_text("hello.tumit", text);
//! let spec = spec.expect("the spec is correct");
//! let files = MarkdownBackend.generate(&spec, &CodegenOptions::default())?;
//! assert!(files.0[0].text.contains("### Event `greeting`"));
//! # Ok::<(), tumit::codegen::UnsupportedFeature>(())
//! ```

mod calls;
mod contents;
mod expr;
mod html;
mod markdown;

use super::backend::{Backend, CodegenOptions, GeneratedFile, GeneratedFiles, UnsupportedFeature};
use crate::Spec;
use crate::names::snake_case;

/// Writes one self-contained HTML page.
#[derive(Clone, Copy, Debug, Default)]
pub struct HtmlBackend;

/// Writes one Markdown file.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkdownBackend;

impl Backend for HtmlBackend {
    fn generate(&self, spec: &Spec, options: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature> {
        let text = html::page(&contents::ReferenceFacts::new(spec, options));
        Ok(GeneratedFiles(vec![GeneratedFile { name: format!("{}.html", snake_case(&spec.name)), text }]))
    }
}

impl Backend for MarkdownBackend {
    fn generate(&self, spec: &Spec, options: &CodegenOptions) -> Result<GeneratedFiles, UnsupportedFeature> {
        let text = markdown::page(&contents::ReferenceFacts::new(spec, options));
        Ok(GeneratedFiles(vec![GeneratedFile { name: format!("{}.md", snake_case(&spec.name)), text }]))
    }
}

#[cfg(test)]
mod tests;
