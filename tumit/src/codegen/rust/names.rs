//! Names of a spec as identifiers of Rust, with their documentation.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use tracer_format::schema::RecordKind;

use crate::names::{rust_name, rust_type_name};
use crate::spec::{RecordDecl, Spec};

/// Names of types that are available in Rust without `use`.
const PRIMITIVE_TYPES: &[&str] = &[
    "bool", "char", "f128", "f16", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];

/// An identifier without conversion of its name.
pub(super) fn raw_identifier(name: &str) -> Ident {
    // A name without letters becomes a lone underscore, which is not an identifier in Rust.
    Ident::new(if name == "_" { "__" } else { name }, Span::call_site())
}

/// The identifier of a function, module or parameter.
pub(super) fn function(name: &str) -> Ident {
    raw_identifier(&rust_name(name))
}

/// The identifier of an enum or one of its values: `dark_red` becomes `DarkRed`.
pub(super) fn type_name(name: &str) -> Ident {
    raw_identifier(&rust_type_name(name))
}

/// The identifier of an event or span.
///
/// A span with the name of a primitive type gets an underscore, because `#[traced]` needs a type
/// with its name.
pub(super) fn event(record: &RecordDecl) -> Ident {
    raw_identifier(&event_name(record))
}

pub(super) fn event_name(record: &RecordDecl) -> String {
    let mut name = rust_name(&record.name);
    if record.layout.kind != RecordKind::Event && PRIMITIVE_TYPES.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

/// The identifier of a constant.
pub(super) fn constant(name: &str) -> Ident {
    raw_identifier(&constant_name(name))
}

pub(super) fn constant_name(name: &str) -> String {
    rust_name(name).to_ascii_uppercase()
}

/// The constant for the version of the spec.
pub(super) fn version(spec: &Spec) -> Ident {
    constant(&version_name(spec))
}

pub(super) fn version_name(spec: &Spec) -> String {
    format!("{}_VERSION", spec.name)
}

/// The documentation of the spec. If it is empty, the text of `default`.
pub(super) fn text(text: &str, default: impl FnOnce() -> String) -> String {
    if text.trim().is_empty() { default() } else { text.trim_end().to_owned() }
}

/// Documentation as attributes.
pub(super) fn doc(text: &str) -> TokenStream {
    let lines = doc_lines(text).into_iter().map(|line| if line.is_empty() { line } else { format!(" {line}") });
    quote!(#(#[doc = #lines])*)
}

/// Lines for `rustdoc`, which would run code blocks without a language as Rust tests.
pub(super) fn doc_lines(text: &str) -> Vec<String> {
    let mut fenced = false;
    let line = |line: &str| {
        let content = line.trim_start();
        if content.starts_with("```") {
            fenced = !fenced;
            return if fenced && content == "```" { "```text".to_owned() } else { content.to_owned() };
        }
        let indent = line.len() - content.len();
        // Four blanks would start a code block, too.
        format!("{}{content}", " ".repeat(if fenced { indent } else { indent.min(3) }))
    };
    text.lines().map(line).collect()
}

/// Documentation of a function: that of the event, and that of its parameters if there is any.
pub(super) fn record_doc(record: &RecordDecl, default: impl FnOnce() -> String) -> TokenStream {
    let words = text(&record.doc, default);
    fields_doc(record, 0, &words)
}

/// Documentation of a function with the fields of the record from position `first` on.
pub(super) fn fields_doc(record: &RecordDecl, first: usize, words: &str) -> TokenStream {
    let mut words = words.to_owned();
    let fields = record.layout.fields.iter().enumerate().skip(first);
    let field_docs = fields.filter_map(|(index, field)| {
        let declared = record.fields.get(index).filter(|declared| !declared.doc.trim().is_empty())?;
        let doc = doc_lines(declared.doc.trim()).join("\n  ");
        Some(format!("- `{}`: {doc}", rust_name(&field.name)))
    });
    let field_docs: Vec<String> = field_docs.collect();
    if !field_docs.is_empty() {
        words.push_str("\n\n# Parameters\n");
        words.push_str(&field_docs.join("\n"));
    }
    doc(&words)
}
