//! Names of a spec as identifiers of Rust: documentation and collisions.

use std::collections::HashMap;

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::plain;
use crate::codegen::Unsupported;
use crate::names::{rust_name, rust_type_name};
use crate::spec::Spec;

/// A function, module or parameter.
pub(super) fn function(name: &str) -> Ident {
    plain(&rust_name(name))
}

/// An enum or one of its values: `dark_red` becomes `DarkRed`.
pub(super) fn type_name(name: &str) -> Ident {
    plain(&rust_type_name(name))
}

/// The spec's own words, or what we say without them.
pub(super) fn doc(text: &str, otherwise: impl FnOnce() -> String) -> TokenStream {
    let text = if text.trim().is_empty() { otherwise() } else { text.trim_end().to_owned() };
    let lines =
        text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {}", line.trim_start()) });
    quote!(#(#[doc = #lines])*)
}

/// Finds two names of one scope that become the same.
pub(super) fn check(spec: &Spec) -> Result<(), Unsupported> {
    distinct("levels", spec.levels.iter().map(|level| (level.name.as_str(), rust_name(&level.name))))?;
    distinct("enums", spec.enums.iter().map(|item| (item.name.as_str(), rust_type_name(&item.name))))?;
    for item in &spec.enums {
        let values = item.values.iter().map(|value| (value.name.as_str(), rust_type_name(&value.name)));
        distinct(&format!("values of enum `{}`", item.name), values)?;
    }
    for (index, level) in spec.levels.iter().enumerate() {
        let own = spec.records.iter().filter(|record| record.level.index() == index);
        let own = own.filter(|record| record.layout.kind != tracer_format::schema::RecordKind::End);
        let events = own.map(|record| (record.name.as_str(), rust_name(&record.name)));
        distinct(&format!("events of level `{}`", level.name), events)?;
    }
    for record in &spec.records {
        let parameters = record.layout.fields.iter().map(|field| (field.name.as_str(), rust_name(&field.name)));
        distinct(&format!("parameters of `{}`", record.name), parameters)?;
    }
    Ok(())
}

fn distinct<'a>(what: &str, names: impl Iterator<Item = (&'a str, String)>) -> Result<(), Unsupported> {
    let mut seen = HashMap::new();
    for (name, rust) in names {
        if let Some(other) = seen.insert(rust.clone(), name) {
            return Err(Unsupported {
                reason: format!("the {what} `{other}` and `{name}` are both `{rust}` in Rust: rename one of them"),
            });
        }
    }
    Ok(())
}
