//! Types: built-in types, enums, type aliases, and constants as lengths of arrays.

use std::collections::BTreeMap;

use tracer_format::schema::{FieldType, Scalar};

use super::declared_names::{check_name, duplicate};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::{SpecModel, index};
use crate::record_layout::MAX_ELEMENTS;
use crate::source_text::SourceSpan;
use crate::spec::{self, Expr};
use crate::syntax::ast::{self, Count, Ident, TypeKind, TypeRef};

/// The built-in types.
pub(crate) const BUILTIN_TYPES: [(&str, Scalar); 16] = [
    ("u8", Scalar::U8),
    ("u16", Scalar::U16),
    ("u32", Scalar::U32),
    ("u64", Scalar::U64),
    ("i8", Scalar::I8),
    ("i16", Scalar::I16),
    ("i32", Scalar::I32),
    ("i64", Scalar::I64),
    ("f32", Scalar::F32),
    ("f64", Scalar::F64),
    ("bool", Scalar::Bool),
    ("date", Scalar::Date),
    ("pointer", Scalar::Pointer),
    ("interned", Scalar::Interned),
    ("string", Scalar::String),
    ("bytes", Scalar::Bytes),
];

/// Names of types in other languages, with the built-in types that replace them.
const FOREIGN_TYPES: [(&str, &str); 16] = [
    ("int", "i32"),
    ("uint", "u32"),
    ("long", "i64"),
    ("short", "i16"),
    ("char", "u8"),
    ("byte", "u8"),
    ("float", "f32"),
    ("double", "f64"),
    ("usize", "u64"),
    ("isize", "i64"),
    ("str", "string"),
    ("String", "string"),
    ("boolean", "bool"),
    ("time", "date"),
    ("uint64_t", "u64"),
    ("uint32_t", "u32"),
];

/// Maximum length of a chain of `type` declarations.
const MAX_ALIASES: usize = 32;
const MAX_ENUM_VALUES: usize = 65_536;

impl SpecModel {
    pub(super) fn enumeration(&mut self, ast_enum: &ast::Enum, diagnostics: &mut Diagnostics) {
        self.check_type_name(&ast_enum.name, diagnostics);
        let values = enum_values(&ast_enum.values, diagnostics);
        if values.is_empty() {
            diagnostics.push(
                Diagnostic::error(Code::EmptyEnum, format!("enum `{}` has no value", ast_enum.name.text))
                    .with_location(ast_enum.name.span, "has no value")
                    .help(format!("write `enum {} {{ first, second }}`", ast_enum.name.text)),
            );
        }
        if values.len() > MAX_ENUM_VALUES {
            diagnostics.push(
                Diagnostic::error(Code::TooMany, format!("enum `{}` has {} values", ast_enum.name.text, values.len()))
                    .with_location(ast_enum.name.span, format!("at most {MAX_ENUM_VALUES} are possible")),
            );
        }
        if let Some(first) = self.enums.get(&ast_enum.name.text) {
            return duplicate("enum", &ast_enum.name, self.enum_spans[*first as usize], diagnostics);
        }
        self.enums.insert(ast_enum.name.text.clone(), index(self.spec.enums.len()));
        self.enum_spans.push(ast_enum.name.span);
        self.spec.enums.push(spec::Enum { name: ast_enum.name.text.clone(), doc: ast_enum.doc.clone(), values });
    }

    fn check_type_name(&self, name: &Ident, diagnostics: &mut Diagnostics) {
        check_name(name, diagnostics);
        if BUILTIN_TYPES.iter().any(|(builtin, _)| *builtin == name.text) {
            diagnostics.push(
                Diagnostic::error(Code::ReservedName, format!("`{}` is a built-in type", name.text))
                    .with_location(name.span, "cannot be declared again")
                    .help("choose another name"),
            );
        }
    }

    pub(super) fn alias(&mut self, alias: &ast::Alias, diagnostics: &mut Diagnostics) {
        self.check_type_name(&alias.name, diagnostics);
        if let Some(first) = self.aliases.get(&alias.name.text) {
            return duplicate("type", &alias.name, first.span, diagnostics);
        }
        if let Some(first) = self.enums.get(&alias.name.text) {
            return duplicate("type", &alias.name, self.enum_spans[*first as usize], diagnostics);
        }
        self.aliases.insert(alias.name.text.clone(), alias.ty.clone());
        let text = type_text(&alias.ty);
        self.spec.aliases.push(spec::Alias { name: alias.name.text.clone(), doc: alias.doc.clone(), text });
    }

    /// The type of a field. `None` after an error.
    pub(crate) fn field_type(&self, ty: &TypeRef, diagnostics: &mut Diagnostics) -> Option<FieldType> {
        let ty = self.resolve_alias(ty, diagnostics)?;
        match &ty.kind {
            TypeKind::Named(name) => self.scalar(name, diagnostics).map(FieldType::One),
            TypeKind::Variable(element) => self.element(element, diagnostics).map(FieldType::Variable),
            TypeKind::Fixed(element, count) => {
                let element = self.element(element, diagnostics);
                let count = self.count(count, diagnostics)?;
                Some(FieldType::Fixed(element?, count))
            }
        }
    }

    /// Follows `type` declarations.
    fn resolve_alias<'a>(&'a self, ty: &'a TypeRef, diagnostics: &mut Diagnostics) -> Option<&'a TypeRef> {
        let mut alias = ty;
        for _ in 0..MAX_ALIASES {
            match self.next_alias(alias) {
                Some(next) => alias = next,
                None => return Some(alias),
            }
        }
        let is_circle = std::iter::successors(self.next_alias(alias), |alias| self.next_alias(alias))
            .take(MAX_ALIASES)
            .any(|next| next.span == alias.span);
        diagnostics.push(if is_circle {
            Diagnostic::error(Code::Circular, "the type is declared by itself")
                .with_location(ty.span, "its `type` declarations form a cycle")
        } else {
            Diagnostic::error(
                Code::Circular,
                format!("the type leads through more than {MAX_ALIASES} `type` declarations"),
            )
            .with_location(ty.span, "not resolved")
            .help("write the final type")
        });
        None
    }

    /// The type for which this name is an alias.
    fn next_alias(&self, ty: &TypeRef) -> Option<&TypeRef> {
        let TypeKind::Named(name) = &ty.kind else { return None };
        self.aliases.get(&name.text)
    }

    fn scalar(&self, name: &Ident, diagnostics: &mut Diagnostics) -> Option<Scalar> {
        if let Some((_, scalar)) = BUILTIN_TYPES.iter().find(|(builtin, _)| *builtin == name.text) {
            return Some(*scalar);
        }
        if let Some(index) = self.enums.get(&name.text) {
            let is_wide = self.spec.enums[*index as usize].is_wide();
            return Some(Scalar::Enum { index: *index, is_wide });
        }
        if self.unparsed.contains(&name.text) {
            return None;
        }
        let other_language = FOREIGN_TYPES.iter().find(|(other_language, _)| *other_language == name.text);
        let help = match other_language {
            Some((_, replacement)) => Some(format!("write `{replacement}`")),
            None => {
                let builtin = BUILTIN_TYPES.iter().map(|(builtin, _)| *builtin);
                let declared = self.enums.keys().chain(self.aliases.keys()).map(String::as_str);
                did_you_mean(&name.text, builtin.chain(declared))
            }
        };
        let builtin: Vec<&str> = BUILTIN_TYPES.iter().map(|(builtin, _)| *builtin).collect();
        let mut diagnostic = Diagnostic::error(Code::UnknownType, format!("there is no type `{}`", name.text))
            .with_location(name.span, "neither a built-in type nor an enum");
        if help.is_none() {
            diagnostic = diagnostic.note(format!("the built-in types are {}", builtin.join(", ")));
        }
        diagnostics.push(diagnostic.maybe_help(help));
        None
    }

    fn element(&self, element: &TypeRef, diagnostics: &mut Diagnostics) -> Option<Scalar> {
        let resolved = self.resolve_alias(element, diagnostics)?;
        let TypeKind::Named(name) = &resolved.kind else {
            diagnostics.push(
                Diagnostic::error(Code::BadArray, "an array cannot contain arrays")
                    .with_location(element.span, "an array inside an array")
                    .help("record one long array, and the length of its rows as another parameter"),
            );
            return None;
        };
        let scalar = self.scalar(name, diagnostics)?;
        if scalar.bytes().is_none() {
            diagnostics.push(
                Diagnostic::error(Code::BadArray, format!("an array cannot contain `{}`", name.text))
                    .with_location(element.span, "its values differ in size")
                    .help(if scalar == Scalar::String {
                        "write `interned` instead"
                    } else {
                        "write `bytes` without brackets"
                    }),
            );
            return None;
        }
        Some(scalar)
    }

    fn count(&self, count: &Count, diagnostics: &mut Diagnostics) -> Option<u32> {
        let (value, span) = match count {
            Count::Literal(value, span) => (*value, *span),
            Count::Named(name) => match self.constants.get(&name.text) {
                Some((Expr::Integer(value), _)) => (u64::try_from(*value).unwrap_or(0), name.span),
                Some(_) => {
                    diagnostics.push(
                        Diagnostic::error(Code::WrongType, format!("`{}` is not an integer", name.text))
                            .with_location(name.span, "the length of an array is an integer"),
                    );
                    return None;
                }
                None => {
                    let constants = self.constants.keys().map(String::as_str);
                    self.report_unknown(Code::UnknownName, "constant", name, constants, diagnostics);
                    return None;
                }
            },
        };
        if value == 0 || value > MAX_ELEMENTS {
            diagnostics.push(bad_length(value, span));
            return None;
        }
        u32::try_from(value).ok()
    }
}

/// A type in its usual notation, independent of the blanks and comments in the spec.
pub(super) fn type_text(ty: &TypeRef) -> String {
    match &ty.kind {
        TypeKind::Named(name) => name.text.clone(),
        TypeKind::Variable(element) => format!("[{}]", type_text(element)),
        TypeKind::Fixed(element, Count::Literal(count, _)) => format!("[{}; {count}]", type_text(element)),
        TypeKind::Fixed(element, Count::Named(name)) => format!("[{}; {}]", type_text(element), name.text),
    }
}

/// Values with their numbers: the declared number, or one more than that of the value before.
fn enum_values(ast_values: &[ast::EnumValue], diagnostics: &mut Diagnostics) -> Vec<spec::EnumValue> {
    let mut values: Vec<spec::EnumValue> = Vec::new();
    let mut names = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    let mut next = 0;
    for value in ast_values {
        check_name(&value.name, diagnostics);
        if let Some(first) = names.insert(&value.name.text, value.name.span) {
            duplicate("enum value", &value.name, first, diagnostics);
            continue;
        }
        let (number, span) = value.number.unwrap_or((next, value.name.span));
        let Ok(small) = u16::try_from(number) else {
            // Values past the last possible number are not reported one by one, but together as too
            // many.
            if value.number.is_some()
                || numbers.is_empty()
                || next == u64::from(u16::MAX) + 1 && values.len() < MAX_ENUM_VALUES
            {
                diagnostics.push(
                    Diagnostic::error(
                        Code::EnumNumber,
                        format!("`{}` cannot have the number {number}", value.name.text),
                    )
                    .with_location(span, format!("numbers of enum values are from 0 to {}", u16::MAX)),
                );
            }
            next = number.saturating_add(1);
            values.push(spec::EnumValue { name: value.name.text.clone(), doc: value.doc.clone(), number: u16::MAX });
            continue;
        };
        if let Some((first, previous_name)) = numbers.insert(small, (span, &value.name.text)) {
            diagnostics.push(
                Diagnostic::error(
                    Code::EnumNumber,
                    format!("`{previous_name}` and `{}` have the same number", value.name.text),
                )
                .with_location(span, format!("second use of {number}"))
                .with_label(first, format!("`{previous_name}` has the number {number}")),
            );
        }
        next = number + 1;
        values.push(spec::EnumValue { name: value.name.text.clone(), doc: value.doc.clone(), number: small });
    }
    values
}

fn bad_length(value: u64, span: SourceSpan) -> Diagnostic {
    Diagnostic::error(Code::BadArray, format!("an array cannot have {value} elements"))
        .with_location(span, format!("a length is from 1 to {MAX_ELEMENTS}"))
        .help("write `[T]` for an array whose length differs between records")
}
