//! `records!`: from the path of a spec to the types of its records.

use std::path::PathBuf;

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{LitStr, Visibility};
use tumit::codegen::rust::{self, reader_backend};

use crate::compiler_error;
use crate::events::{PackageFiles, include_bytes_path, with_spec_location};

/// `[pub | pub(crate)] "PATH"`
pub(crate) struct RecordsInput {
    visibility: Visibility,
    path: LitStr,
}

impl Parse for RecordsInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let visibility: Visibility = input.parse()?;
        let path = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "expected the path of a spec: `records!(\"NAME.tumit\")`")
        })?;
        if !input.is_empty() {
            return Err(input.error("unexpected input; expected the end of the macro call"));
        }
        Ok(Self { visibility, path })
    }
}

pub(crate) fn expand(input: &RecordsInput) -> syn::Result<TokenStream> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let mut files = PackageFiles { package, loaded_files: Vec::new() };
    let (spec, diagnostics) = tumit::compile(&input.path.value(), &mut files);
    let Some(spec) = spec.filter(|_| !diagnostics.has_errors()) else {
        return Err(compiler_error::error(&input.path, &diagnostics));
    };
    let visibility = match &input.visibility {
        Visibility::Inherited => quote!(pub(crate)),
        explicit => quote!(#explicit),
    };
    let watched: Vec<TokenStream> = files.loaded_files.iter().map(|path| include_bytes_path(path)).collect();
    let tokens = reader_backend::tokens(&spec, &rust::CodeContext { visibility, watched_files: &watched });
    let tokens = tokens.map_err(|unsupported| syn::Error::new(input.path.span(), unsupported.reason))?;
    Ok(with_spec_location(tokens, input.path.span()))
}
