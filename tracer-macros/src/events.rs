//! `events!`: from the path of a spec to its tracing functions.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::token::Bracket;
use syn::{Ident, LitStr, Token, Visibility, bracketed};
use tumit::codegen::{CodegenOptions, rust};
use tumit::{Loader, SpecLoadError};

use crate::compiler_error;

/// `[pub | pub(crate)] "PATH" [, off = [LEVEL, …]] [, mod = NAME]`
pub(crate) struct EventsInput {
    visibility: Visibility,
    path: LitStr,
    levels_off: Vec<Ident>,
    module: Option<Ident>,
}

impl Parse for EventsInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let visibility: Visibility = input.parse()?;
        let visibility_text = quote!(#visibility).to_string().replace(' ', "");
        if !["", "pub", "pub(crate)"].contains(&visibility_text.as_str()) {
            return Err(syn::Error::new_spanned(visibility, "expected `pub`, `pub(crate)` or no visibility"));
        }
        let path = input
            .parse()
            .map_err(|error| syn::Error::new(error.span(), "expected the path of a spec: `events!(\"NAME.tumit\")`"))?;
        let (mut off, mut module) = (None, None);
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            if input.peek(LitStr) {
                return Err(input.error("unexpected input; expected the end of the macro call"));
            }
            let option = input.call(Ident::parse_any)?;
            let is_second = if option == "off" { off.is_some() } else { option == "mod" && module.is_some() };
            if is_second {
                return Err(syn::Error::new(option.span(), format!("`{option} = …` is given twice")));
            }
            if option == "off" {
                off = Some(levels(input)?);
            } else if option == "mod" {
                module = Some(module_name(input)?);
            } else {
                let message = "unknown option; the options are `off = [LEVEL, …]` and `mod = NAME`";
                return Err(syn::Error::new(option.span(), message));
            }
        }
        if !input.is_empty() {
            return Err(input.error("unexpected input; expected the end of the macro call"));
        }
        Ok(Self { visibility, path, levels_off: off.unwrap_or_default(), module })
    }
}

/// `= [LEVEL, …]`
fn levels(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    input.parse::<Token![=]>()?;
    if !input.peek(Bracket) {
        return Err(input.error("expected a list of levels: `off = [LEVEL, …]`"));
    }
    let list;
    bracketed!(list in input);
    Ok(Punctuated::<Ident, Token![,]>::parse_terminated(&list)?.into_iter().collect())
}

/// `= NAME`
fn module_name(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse::<Token![=]>()?;
    input.parse().map_err(|error| syn::Error::new(error.span(), "expected the name of a new module: `mod = trace`"))
}

pub(crate) fn expand(input: &EventsInput) -> syn::Result<TokenStream> {
    let package = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let mut files = PackageFiles { package, loaded_files: Vec::new() };
    let (spec, diagnostics) = tumit::compile(&input.path.value(), &mut files);
    let Some(spec) = spec.filter(|_| !diagnostics.has_errors()) else {
        return Err(compiler_error::error(&input.path, &diagnostics));
    };
    let unknown = input.levels_off.iter().find(|off| !spec.levels.iter().any(|level| **off == level.name));
    let mut options = CodegenOptions::default();
    options.removed_levels = input.levels_off.iter().map(ToString::to_string).collect();
    options.module = input.module.as_ref().map(ToString::to_string);
    let visibility = match &input.visibility {
        Visibility::Inherited => quote!(pub(crate)),
        given => quote!(#given),
    };
    let watched: Vec<TokenStream> = files.loaded_files.iter().map(|path| include_bytes_path(path)).collect();
    match rust::tokens(&spec, &options, &rust::CodeContext { visibility, watched_files: &watched }) {
        Ok(tokens) => Ok(with_spec_location(tokens, input.path.span())),
        Err(unsupported) => {
            let place = unknown.map_or_else(|| input.path.span(), Ident::span);
            Err(syn::Error::new(place, unsupported.reason))
        }
    }
}

/// The path of a file for `include_bytes!`.
/// It is not absolute, so that expansions are equal on all machines.
pub(crate) fn include_bytes_path(path: &str) -> TokenStream {
    if Path::new(path).is_absolute() { quote!(#path) } else { quote!(concat!(env!("CARGO_MANIFEST_DIR"), "/", #path)) }
}

fn reason(file: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => {
            format!("the file `{}` does not exist; paths are relative to the folder of the package", file.display())
        }
        ErrorKind::InvalidData => format!("`{}` is not UTF-8 text", file.display()),
        _ => format!("{error} (`{}`)", file.display()),
    }
}

/// Gives all tokens the location of the spec's path.
/// The compiler then reports "defined here" at the path, and editors jump to it. Names are resolved
/// as before.
pub(crate) fn with_spec_location(tokens: TokenStream, place: Span) -> TokenStream {
    let located = tokens.into_iter().map(|mut token| {
        if let TokenTree::Group(group) = &token {
            let mut relocated_group = Group::new(group.delimiter(), with_spec_location(group.stream(), place));
            relocated_group.set_span(group.span().located_at(place));
            return TokenTree::Group(relocated_group);
        }
        token.set_span(token.span().located_at(place));
        token
    });
    located.collect()
}

/// Reads files below the package's folder and stores their paths.
pub(crate) struct PackageFiles {
    pub(crate) package: PathBuf,
    pub(crate) loaded_files: Vec<String>,
}

impl Loader for PackageFiles {
    fn load(&mut self, path: &str) -> Result<String, SpecLoadError> {
        let file = self.package.join(path);
        let text = std::fs::read_to_string(&file).map_err(|error| SpecLoadError::new(reason(&file, &error)))?;
        self.loaded_files.push(path.to_owned());
        Ok(text)
    }
}
