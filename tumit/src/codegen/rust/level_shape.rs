//! The data that all functions of one level share, and the functions of events.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{fields, names};
use crate::spec::{RecordDecl, Spec};

/// Data that all functions of one level share.
pub(super) struct LevelShape<'a> {
    pub(super) spec: &'a Spec,
    pub(super) is_compiled: bool,
    pub(super) visibility: &'a TokenStream,
}

impl LevelShape<'_> {
    pub(super) fn event(&self, position: usize, record: &RecordDecl) -> TokenStream {
        let doc = names::record_doc(record, || format!("Records event `{}`.", record.name));
        let (visibility, caller) = (self.visibility, caller(record));
        let name = names::event(record);
        let parameters = fields::parameters(self.spec, record);
        if !self.is_compiled {
            return quote! {
                #doc
                #[inline(always)]
                #visibility fn #name(#parameters) {}
            };
        }
        let (id, values) = (id(position), fields::values(record));
        quote! {
            #doc
            #[inline(always)]
            #caller
            #visibility fn #name(#parameters) {
                let __base = LEVEL.base();
                if __base != 0 {
                    __rt::record(__base + #id, #values);
                }
            }
        }
    }
}

/// The attribute with which a located event records the position of its caller.
pub(super) fn caller(record: &RecordDecl) -> Option<TokenStream> {
    record.layout.has_location.then(|| quote!(#[track_caller]))
}

pub(super) fn id(position: usize) -> Literal {
    // `provider` checks that ids have at most 16 bits.
    Literal::u16_unsuffixed(u16::try_from(position).unwrap_or(u16::MAX))
}
