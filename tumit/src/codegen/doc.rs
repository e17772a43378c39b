//! The reference of a spec for those who read its traces: one page of HTML, or Markdown.
//!
//! `facts` says what there is to tell, in the order of the spec; `calls` finds what the generators make of each event; `html`
//! and `markdown` write it down. Pages are the same on every run, and hold no reference to anything outside.

mod calls;
mod expr;
mod facts;
mod html;
mod markdown;

use super::{Backend, File, Files, Options, Unsupported};
use crate::Spec;
use crate::names::snake_case;

/// Writes one self-contained HTML page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Html;

/// Writes one Markdown file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Markdown;

impl Backend for Html {
    fn generate(&self, spec: &Spec, options: &Options) -> Result<Files, Unsupported> {
        let text = html::page(&facts::Facts::new(spec, options));
        Ok(Files(vec![File { name: format!("{}.html", snake_case(&spec.name)), text }]))
    }
}

impl Backend for Markdown {
    fn generate(&self, spec: &Spec, options: &Options) -> Result<Files, Unsupported> {
        let text = markdown::page(&facts::Facts::new(spec, options));
        Ok(Files(vec![File { name: format!("{}.md", snake_case(&spec.name)), text }]))
    }
}

#[cfg(test)]
mod tests;
