//! Fields as parameters of functions, and as the values that the recorder packs.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use tracer_format::schema::{FieldType, Scalar};

use super::names;
use crate::spec::{RecordDecl, Spec};

/// Maximum number of values in a tuple that the recorder packs. Longer tuples are nested.
const TUPLE: usize = 8;

/// The parameters of a function: `node: u16, what: &str`.
pub(super) fn parameters(spec: &Spec, record: &RecordDecl) -> TokenStream {
    parameters_from(spec, record, 0)
}

/// The parameters from position `first` on.
pub(super) fn parameters_from(spec: &Spec, record: &RecordDecl, first: usize) -> TokenStream {
    let parameters = record.layout.fields.iter().skip(first).map(|field| {
        let (name, ty) = (names::function(&field.name), parameter_type(spec, field.ty));
        quote!(#name: #ty)
    });
    quote!(#(#parameters),*)
}

/// The parameters from position `first` on, as arguments of a call.
pub(super) fn arguments(record: &RecordDecl, first: usize) -> TokenStream {
    let parameters = record.layout.fields.iter().skip(first).map(|field| names::function(&field.name));
    quote!(#(#parameters),*)
}

/// The tuple with the values of the record, in the order of its bytes.
pub(super) fn values(record: &RecordDecl) -> TokenStream {
    let site = record.layout.has_location.then(site);
    let fields = record.layout.fields.iter().map(|field| value(&names::function(&field.name), field.ty));
    nest(&site.into_iter().chain(fields).collect::<Vec<_>>())
}

/// The tuple of values without source position and without the first fields.
pub(super) fn values_from(record: &RecordDecl, first: usize) -> TokenStream {
    let fields = record.layout.fields.iter().skip(first);
    nest(&fields.map(|field| value(&names::function(&field.name), field.ty)).collect::<Vec<_>>())
}

/// The tuple of the values of a record as expressions that own their data, and the tuple's type.
pub(super) struct OwnedValues {
    pub(super) values: TokenStream,
    pub(super) ty: TokenStream,
}

pub(super) fn owned_values(spec: &Spec, record: &RecordDecl) -> OwnedValues {
    let site = record.layout.has_location.then(|| (site(), quote!(__rt::SourceSite)));
    let fields = record.layout.fields.iter().map(|field| {
        let name = names::function(&field.name);
        let value = value(&name, field.ty);
        let scalar_text = |scalar| scalar_type(spec, scalar);
        match field.ty {
            FieldType::One(Scalar::String) => (quote!(__rt::KeptText::new(#name.as_bytes())), quote!(__rt::KeptText)),
            FieldType::One(Scalar::Bytes) => (quote!(__rt::KeptBytes::new(#name)), quote!(__rt::KeptBytes)),
            FieldType::One(scalar @ Scalar::Enum { .. }) => {
                let ty = scalar_text(scalar);
                (value, quote!(__rt::Choice<#ty>))
            }
            FieldType::One(scalar) => (value, scalar_text(scalar)),
            FieldType::Fixed(scalar @ Scalar::Enum { .. }, count) => {
                let (ty, count) = (scalar_text(scalar), Literal::u32_unsuffixed(count));
                (value, quote!([__rt::Choice<#ty>; #count]))
            }
            FieldType::Fixed(scalar, count) => {
                let (ty, count) = (scalar_text(scalar), Literal::u32_unsuffixed(count));
                (value, quote!([#ty; #count]))
            }
            FieldType::Variable(scalar) => {
                let (ty, kind) = (scalar_text(scalar), kept_list(scalar));
                (quote!(#kind::new(#name)), quote!(#kind<#ty>))
            }
        }
    });
    let (values, types): (Vec<_>, Vec<_>) = site.into_iter().chain(fields).unzip();
    OwnedValues { values: nest(&values), ty: nest(&types) }
}

fn kept_list(scalar: Scalar) -> TokenStream {
    match scalar {
        Scalar::Enum { .. } => quote!(__rt::KeptChoices),
        _ => quote!(__rt::KeptSlice),
    }
}

/// The values that a guard stores for the end of its span: `()`, one value, or a tuple.
pub(super) fn guard_values(record: &RecordDecl) -> TokenStream {
    let site = record.layout.has_location.then(site);
    let fields = record.layout.fields.iter().map(|field| value(&names::function(&field.name), field.ty));
    tuple_or_value(&site.into_iter().chain(fields).collect::<Vec<_>>())
}

/// The type of [`guard_values`]; empty for `()`.
pub(super) fn flat_type(record: &RecordDecl) -> TokenStream {
    let site = record.layout.has_location.then(|| quote!(__rt::SourceSite));
    // Besides the position, a guard stores only the task, which the end of an `async` span has.
    let task = record.layout.fields.iter().map(|_| quote!(u64));
    let types: Vec<TokenStream> = site.into_iter().chain(task).collect();
    if types.is_empty() { TokenStream::new() } else { tuple_or_value(&types) }
}

/// The value in place of [`guard_values`] in a guard that records nothing.
pub(super) fn untraced_guard_values(record: &RecordDecl) -> TokenStream {
    let site = record.layout.has_location.then(|| quote!(__rt::SourceSite::UNKNOWN));
    let task = record.layout.fields.iter().map(|_| quote!(0));
    tuple_or_value(&site.into_iter().chain(task).collect::<Vec<_>>())
}

fn tuple_or_value(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// The position of the caller.
fn site() -> TokenStream {
    quote!(__rt::site(::core::panic::Location::caller()))
}

fn nest(values: &[TokenStream]) -> TokenStream {
    if values.len() <= TUPLE {
        return quote!((#(#values,)*));
    }
    let chunk = values.len().div_ceil(TUPLE).max(TUPLE);
    nest(&values.chunks(chunk).map(nest).collect::<Vec<_>>())
}

fn parameter_type(spec: &Spec, ty: FieldType) -> TokenStream {
    match ty {
        FieldType::One(Scalar::Interned) => quote!(impl ::tracer_rt::Intern),
        FieldType::One(Scalar::Pointer) => quote!(impl ::core::convert::Into<::tracer_rt::Pointer>),
        FieldType::One(scalar) => scalar_type(spec, scalar),
        FieldType::Fixed(scalar, count) => {
            let (ty, count) = (scalar_type(spec, scalar), Literal::u32_unsuffixed(count));
            quote!([#ty; #count])
        }
        FieldType::Variable(scalar) => {
            let ty = scalar_type(spec, scalar);
            quote!(&[#ty])
        }
    }
}

fn scalar_type(spec: &Spec, scalar: Scalar) -> TokenStream {
    match scalar {
        Scalar::U8 => quote!(u8),
        Scalar::U16 => quote!(u16),
        Scalar::U32 => quote!(u32),
        Scalar::U64 => quote!(u64),
        Scalar::I8 => quote!(i8),
        Scalar::I16 => quote!(i16),
        Scalar::I32 => quote!(i32),
        Scalar::I64 => quote!(i64),
        Scalar::F32 => quote!(f32),
        Scalar::F64 => quote!(f64),
        Scalar::Bool => quote!(bool),
        Scalar::Date => quote!(::tracer_rt::Date),
        Scalar::Pointer => quote!(::tracer_rt::Pointer),
        Scalar::Enum { index, .. } => {
            let name = spec.enums.get(index as usize).map_or("unknown", |item| item.name.as_str());
            let ident = names::type_name(name);
            quote!(super::#ident)
        }
        Scalar::Interned => quote!(::tracer_rt::InternedText),
        Scalar::String => quote!(&str),
        Scalar::Bytes => quote!(&[u8]),
    }
}

fn value(name: &proc_macro2::Ident, ty: FieldType) -> TokenStream {
    match ty {
        FieldType::One(Scalar::Enum { .. }) => quote!(__rt::Choice(#name)),
        FieldType::One(Scalar::Interned) => quote!(::tracer_rt::Intern::intern(#name)),
        FieldType::One(Scalar::Pointer) => quote!(::core::convert::Into::<::tracer_rt::Pointer>::into(#name)),
        FieldType::One(Scalar::String) => quote!(__rt::Text(#name.as_bytes())),
        FieldType::One(Scalar::Bytes) => quote!(__rt::CountedBytes(#name)),
        FieldType::One(_) => quote!(#name),
        FieldType::Fixed(Scalar::Enum { .. }, _) => quote!(#name.map(__rt::Choice)),
        FieldType::Fixed(..) => quote!(#name),
        FieldType::Variable(Scalar::Enum { .. }) => quote!(__rt::Choices(#name)),
        FieldType::Variable(_) => quote!(__rt::Slice(#name)),
    }
}
