//! Spans: a function that returns a guard, and the functions that `#[traced]` calls.
//!
//! The attribute does not know the spec. It calls functions of a type with the name of the span.
//! Types have a name space of their own, so one `use` imports both the function and the type.
//! `span` begins a span around a function. `parts` stores the arguments for the polls of an async
//! function. For an `async` span these two take a new task number, and `span_of_task` and
//! `parts_of_task` get a number as argument.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::fields::{self, OwnedValues};
use super::level_shape::{LevelShape, caller, id};
use super::names::{self, raw_identifier};
use crate::codegen::backend::UnsupportedFeature;
use crate::spec::{RecordDecl, RecordId};

/// The two ends of a span.
pub(super) struct SpanEnds<'a> {
    shape: &'a LevelShape<'a>,
    position: usize,
    begin: &'a RecordDecl,
    /// Position of the record that a guard writes when it is dropped: the end, or the absent end if
    /// the end has parameters.
    end_position: usize,
    end: &'a RecordDecl,
    /// Position and record of the end with its parameters, if it has any.
    declared_end: Option<(usize, &'a RecordDecl)>,
    is_async: bool,
}

/// The type that stores the arguments of a span, and the expression that creates its value.
struct ArgumentStorage {
    ty: TokenStream,
    value: TokenStream,
}

impl<'a> SpanEnds<'a> {
    /// The span with its begin at this position.
    pub(super) fn of(shape: &'a LevelShape<'a>, position: usize) -> Result<Self, UnsupportedFeature> {
        let spec = shape.spec;
        let begin = &spec.records[position];
        let span = spec.spans.iter().find(|span| span.begin.index() == position);
        let record = |id: RecordId| Some((id.index(), spec.records.get(id.index())?));
        let span_records = span.and_then(|span| {
            let declared_end = if span.absent_end.is_some() { Some(record(span.end)?) } else { None };
            let (end_position, end) = record(span.absent_end.unwrap_or(span.end))?;
            Some(Self { shape, position, begin, end_position, end, declared_end, is_async: span.is_async })
        });
        span_records.ok_or_else(|| UnsupportedFeature {
            reason: format!("span `{}` has no end, which is a bug of tumit", begin.name),
        })
    }

    /// All functions of the span.
    pub(super) fn functions(&self) -> TokenStream {
        let (visibility, name) = (self.shape.visibility, names::event(self.begin));
        let (guard, entries) = (self.guard(), self.entries());
        if let Some((position, end)) = self.declared_end {
            let ending = self.end_guard(position, end);
            return quote! {
                #guard

                #ending
            };
        }
        quote! {
            #guard

            #[doc(hidden)]
            #visibility enum #name {}

            impl #name { #entries }
        }
    }

    /// The function that users call.
    fn guard(&self) -> TokenStream {
        let doc = names::record_doc(self.begin, || {
            let part = if self.is_async { "a part of " } else { "" };
            format!("Begins {part}span `{}`, which ends when the guard is dropped.", self.begin.name)
        });
        let (visibility, caller, name) = (self.shape.visibility, caller(self.begin), names::event(self.begin));
        let parameters = fields::parameters(self.shape.spec, self.begin);
        let untraced = fields::untraced_guard_values(self.end);
        let guard = if self.declared_end.is_some() { quote!(#name) } else { self.guard_type() };
        let guarding =
            |span: TokenStream| if self.declared_end.is_some() { quote!(#name { __span: #span }) } else { span };
        let no_span = guarding(quote!(::tracer_rt::Span::until_dropped(0, #untraced)));
        if !self.shape.is_compiled {
            return quote! {
                #doc
                #[inline(always)]
                #visibility fn #name(#parameters) -> #guard {
                    #no_span
                }
            };
        }
        let (begin, end) = (id(self.position), id(self.end_position));
        let (values, at_end) = (fields::values(self.begin), fields::guard_values(self.end));
        let open_span = guarding(quote!(::tracer_rt::Span::until_dropped(__base + #end, #at_end)));
        quote! {
            #doc
            #[inline(always)]
            #caller
            #visibility fn #name(#parameters) -> #guard {
                let __base = LEVEL.base();
                if __base == 0 {
                    return #no_span;
                }
                __rt::record(__base + #begin, #values);
                #open_span
            }
        }
    }

    /// The guard of a span with parameters at its end: a type with the name of the span, with a
    /// method that takes these parameters.
    fn end_guard(&self, position: usize, end: &RecordDecl) -> TokenStream {
        let (visibility, name) = (self.shape.visibility, names::event(self.begin));
        let first = usize::from(self.is_async);
        let parameters = fields::parameters_from(self.shape.spec, end, first);
        let guard = self.guard_type();
        let about = names::doc(&format!(
            "A span `{}` that has begun. [`end`](Self::end) ends it. If the guard is dropped without this call, the parameters \
             of the end are absent from the trace.",
            self.begin.name
        ));
        let doc = names::fields_doc(
            end,
            first,
            &format!("Ends the span `{}`, with the parameters of its end.", self.begin.name),
        );
        let body = self.shape.is_compiled.then(|| {
            let values = fields::values_from(end, first);
            // The guard stores the id of the absent end. Absent ends have higher ids than all other
            // records.
            let offset = Literal::u32_unsuffixed(u32::try_from(self.end_position - position).unwrap_or(0));
            quote!(self.__span.end_with(#offset, #values);)
        });
        let entries = self.traced_attribute_functions();
        let refusal = quote! {
            impl __rt::SpanParts for #name {
                type Guard = ();

                fn begin_part(&self) {}
            }
        };
        quote! {
            #about
            #[derive(Debug)]
            #[must_use = "a span ends when its guard is dropped: bind the guard, and call `end` on it"]
            #visibility struct #name {
                __span: #guard,
            }

            impl #name {
                #doc
                #[inline(always)]
                #visibility fn end(self, #parameters) {
                    #body
                }

                #entries
            }

            #refusal
        }
    }

    /// The functions that `#[traced]` calls for a span with parameters at its end.
    ///
    /// Such a span does not support `#[traced]`. The return type of these functions is not the one
    /// that the attribute requires, so the compiler rejects the call.
    fn traced_attribute_functions(&self) -> TokenStream {
        let (visibility, name, spec) = (self.shape.visibility, names::event(self.begin), self.shape.spec);
        let all = fields::parameters(spec, self.begin);
        let without_task = fields::parameters_from(spec, self.begin, usize::from(self.is_async));
        let entry = |entry: &str, parameters: &TokenStream| {
            let entry = raw_identifier(entry);
            let lint = quote!(#[allow(unused_variables, reason = "it is never called")]);
            quote! {
                #[doc(hidden)]
                #lint
                #visibility fn #entry(#parameters) -> #name {
                    ::core::unreachable!()
                }
            }
        };
        let mut entries = vec![entry("span", &without_task), entry("parts", &without_task)];
        if self.is_async {
            entries.extend([entry("span_of_task", &all), entry("parts_of_task", &all)]);
        }
        quote!(#(#entries)*)
    }

    /// `Span`, or `Span<FIELDS>` when the end has fields.
    fn guard_type(&self) -> TokenStream {
        let at_end = fields::flat_type(self.end);
        if at_end.is_empty() { quote!(::tracer_rt::Span) } else { quote!(::tracer_rt::Span<#at_end>) }
    }

    /// The functions that `#[traced]` calls.
    fn entries(&self) -> TokenStream {
        let (visibility, caller, name) = (self.shape.visibility, caller(self.begin), names::event(self.begin));
        let spec = self.shape.spec;
        let parameters = fields::parameters(spec, self.begin);
        let arguments = fields::arguments(self.begin, 0);
        // A parameter can have the name of the span. The path is used only then, because strict
        // lints report an unnecessary path.
        let hidden = self.begin.layout.fields.iter().any(|field| names::function(&field.name) == name);
        let call = if hidden { quote!(self::#name) } else { quote!(#name) };
        let guard = self.guard_type();
        let ArgumentStorage { ty: storage_type, value: storage } = self.argument_storage();
        if !self.is_async {
            return quote! {
                #[inline(always)]
                #caller
                #visibility fn span(#parameters) -> #guard {
                    #call(#arguments)
                }

                #[inline]
                #caller
                #visibility fn parts(#parameters) -> #storage_type {
                    #storage
                }
            };
        }
        let without_task = fields::parameters_from(spec, self.begin, 1);
        let rest = fields::arguments(self.begin, 1);
        let untraced = fields::untraced_guard_values(self.end);
        // A span that is not recorded takes no task number.
        let is_compiled = self.shape.is_compiled;
        let unless_on = |nothing| is_compiled.then(|| quote!(if LEVEL.base() == 0 { return #nothing; }));
        let no_span = unless_on(quote!(::tracer_rt::Span::until_dropped(0, #untraced)));
        let no_parts = unless_on(quote!(__rt::SpanArguments::unrecorded_span(&LEVEL, #untraced)));
        let task = if is_compiled { quote!(::tracer_rt::new_task()) } else { quote!(0) };
        quote! {
            #[inline]
            #caller
            #visibility fn span(#without_task) -> #guard {
                #no_span
                #call(#task, #rest)
            }

            #[inline(always)]
            #caller
            #visibility fn span_of_task(#parameters) -> #guard {
                #call(#arguments)
            }

            #[inline]
            #caller
            #visibility fn parts(#without_task) -> #storage_type {
                #no_parts
                Self::parts_of_task(#task, #rest)
            }

            #[inline]
            #caller
            #visibility fn parts_of_task(#parameters) -> #storage_type {
                #storage
            }
        }
    }

    fn argument_storage(&self) -> ArgumentStorage {
        if !self.shape.is_compiled {
            return ArgumentStorage { ty: quote!(__rt::NoSpanParts), value: quote!(__rt::NoSpanParts) };
        }
        let OwnedValues { values, ty: value_type } = fields::owned_values(self.shape.spec, self.begin);
        let at_end_type = match fields::flat_type(self.end) {
            nothing if nothing.is_empty() => quote!(()),
            fields => fields,
        };
        let (at_end, untraced) = (fields::guard_values(self.end), fields::untraced_guard_values(self.end));
        let (begin, end) = (id(self.position), id(self.end_position));
        let body = quote! {
            if LEVEL.base() == 0 {
                return __rt::SpanArguments::unrecorded_span(&LEVEL, #untraced);
            }
            __rt::SpanArguments::new(&LEVEL, #begin, #end, #values, #at_end)
        };
        ArgumentStorage { ty: quote!(__rt::SpanArguments<#value_type, #at_end_type>), value: body }
    }
}
