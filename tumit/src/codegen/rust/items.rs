//! Declarations other than events: enums, constants, the version of the spec.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::code_context::lints;
use super::names;
use crate::spec::{Constant, Enum, Expr, PatternPiece, Spec, UnaryOp};

/// An enum of Rust with the numbers of the spec.
pub(super) fn enumeration(item: &Enum, visibility: &TokenStream) -> TokenStream {
    let name = names::type_name(&item.name);
    let doc = names::doc(&names::text(&item.doc, || format!("Values of the spec's enum `{}`.", item.name)));
    let lints = lints();
    let repr = if item.is_wide() { quote!(u16) } else { quote!(u8) };
    let values = item.values.iter().map(|value| {
        let doc = names::doc(&names::text(&value.doc, || format!("`{}`", value.name)));
        let (ident, number) = (names::type_name(&value.name), Literal::u16_unsuffixed(value.number));
        quote!(#doc #ident = #number)
    });
    quote! {
        #doc
        #lints
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(#repr)]
        #visibility enum #name { #(#values),* }

        impl ::tracer_rt::private::EnumField for #name {
            type Number = #repr;

            #[allow(clippy::inline_always, reason = "a part of the hot path")]
            #[inline(always)]
            fn number(self) -> #repr {
                self as #repr
            }
        }
    }
}

/// The constants of the spec, and its version if it has one.
pub(super) fn constants(spec: &Spec, visibility: &TokenStream) -> TokenStream {
    let lints = lints();
    let constants = spec.constants.iter().filter_map(|constant| {
        let ConstantValue { ty, value } = value(&constant.value)?;
        let name = names::constant(&constant.name);
        let doc = names::doc(&names::text(&constant.doc, || format!("The spec's constant `{}`.", constant.name)));
        Some(quote!(#doc #lints #visibility const #name: #ty = #value;))
    });
    let version = (spec.version > 0).then(|| {
        let (name, number) = (names::version(spec), Literal::u32_unsuffixed(spec.version));
        let doc = names::doc(&format!("The version of the spec `{}`.", spec.name));
        quote!(#doc #lints #visibility const #name: u32 = #number;)
    });
    quote!(#version #(#constants)*)
}

/// Whether a constant has a value that Rust code can express.
pub(super) fn is_stated(constant: &Constant) -> bool {
    value(&constant.value).is_some()
}

/// The type and the value of a constant.
struct ConstantValue {
    ty: TokenStream,
    value: TokenStream,
}

fn value(value: &Expr) -> Option<ConstantValue> {
    Some(match value {
        Expr::Integer(number) => {
            let number = Literal::i64_unsuffixed(*number);
            ConstantValue { ty: quote!(i64), value: quote!(#number) }
        }
        Expr::Float(number) if number.is_finite() => {
            let number = Literal::f64_unsuffixed(*number);
            ConstantValue { ty: quote!(f64), value: quote!(#number) }
        }
        Expr::Bool(truth) => ConstantValue { ty: quote!(bool), value: quote!(#truth) },
        Expr::Text(pattern) => {
            let texts = pattern.0.iter().map(|piece| match piece {
                PatternPiece::Text(text) => Some(text.as_str()),
                _ => None,
            });
            let text = texts.collect::<Option<String>>()?;
            ConstantValue { ty: quote!(&str), value: quote!(#text) }
        }
        Expr::Unary(UnaryOp::Minus, operand) => {
            let ConstantValue { ty, value: operand } = self::value(operand)?;
            ConstantValue { ty, value: quote!(-#operand) }
        }
        // An expression over a record is not a constant.
        _ => return None,
    })
}
