//! Names of a spec as names of Rust: case, keywords, collisions.

use std::collections::HashMap;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::plain;
use crate::codegen::Unsupported;
use crate::spec::Spec;

/// `RecvDone` and `RECV_DONE` become `recv_done`.
pub(super) fn snake(name: &str) -> String {
    words(name).join("_")
}

/// A function, module or parameter.
pub(super) fn function(name: &str) -> Ident {
    escaped(&snake(name))
}

/// An enum or one of its values: `dark_red` becomes `DarkRed`.
pub(super) fn type_name(name: &str) -> Ident {
    let pascal: String = words(name)
        .iter()
        .map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
        })
        .collect();
    if pascal.starts_with(|c: char| c.is_ascii_digit()) { escaped(&format!("_{pascal}")) } else { escaped(&pascal) }
}

/// The spec's own words, or what we say without them.
pub(super) fn doc(text: &str, otherwise: impl FnOnce() -> String) -> TokenStream {
    let text = if text.trim().is_empty() { otherwise() } else { text.trim_end().to_owned() };
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {}", line.trim_start()) });
    quote!(#(#[doc = #lines])*)
}

/// Finds two names of one scope that become the same.
pub(super) fn check(spec: &Spec) -> Result<(), Unsupported> {
    distinct("levels", spec.levels.iter().map(|level| (level.name.as_str(), snake(&level.name))))?;
    distinct("enums", spec.enums.iter().map(|item| (item.name.as_str(), type_name(&item.name).to_string())))?;
    for item in &spec.enums {
        let values = item.values.iter().map(|value| (value.as_str(), type_name(value).to_string()));
        distinct(&format!("values of enum `{}`", item.name), values)?;
    }
    for (index, level) in spec.levels.iter().enumerate() {
        let own = spec.records.iter().filter(|record| record.level.index() == index);
        let own = own.filter(|record| record.layout.kind != tracer_format::schema::RecordKind::End);
        let events = own.map(|record| (record.name.as_str(), snake(&record.name)));
        distinct(&format!("events of level `{}`", level.name), events)?;
    }
    for record in &spec.records {
        let parameters = record.layout.fields.iter().map(|field| (field.name.as_str(), snake(&field.name)));
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

/// Words in small letters: split at `_` and where a capital follows a small letter, or begins a word after capitals.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        if letter == '_' {
            words.push(String::new());
            continue;
        }
        let before = at.checked_sub(1).map(|at| letters[at]);
        let starts = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase()))
            });
        if starts {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn escaped(name: &str) -> Ident {
    match name {
        // These four cannot be raw.
        "self" | "Self" | "super" | "crate" => plain(&format!("{name}_")),
        "" => plain("__"),
        _ if syn::parse_str::<Ident>(name).is_ok() => plain(name),
        _ => Ident::new_raw(name, Span::call_site()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_rust() {
        for (name, expected) in
            [("COM", "com"), ("RecvDone", "recv_done"), ("recv_done", "recv_done"), ("MPIInit2D", "mpi_init2_d"), ("X", "x")]
        {
            assert_eq!(snake(name), expected);
        }
        assert_eq!(function("type").to_string(), "r#type");
        assert_eq!(function("self").to_string(), "self_");
        assert_eq!(type_name("dark_red").to_string(), "DarkRed");
        assert_eq!(type_name("self").to_string(), "Self_");
    }
}
