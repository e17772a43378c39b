//! Elements of lists, functions, and formats of holes.

use tracer_format::schema::{FieldType, Scalar};

use super::expr_scope::{ExprScope, error_value};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::source_text::SourceSpan;
use crate::spec::{Expr, ExprFunction, NumberNotation, PatternPiece, TextPattern, ValueFormat};
use crate::syntax::ast::{self, Ident};
use crate::value_type::ValueType;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FunctionArguments {
    /// One text, list or value of type `bytes`.
    Long,
    Number,
    /// Two numbers, or two timestamps.
    TwoOrdered,
    /// One value of a type that numbers represent.
    Numbered,
}

const FUNCTIONS: [(&str, ExprFunction, FunctionArguments); 8] = [
    ("len", ExprFunction::Len, FunctionArguments::Long),
    ("abs", ExprFunction::Abs, FunctionArguments::Number),
    ("min", ExprFunction::Min, FunctionArguments::TwoOrdered),
    ("max", ExprFunction::Max, FunctionArguments::TwoOrdered),
    ("floor", ExprFunction::Floor, FunctionArguments::Number),
    ("ceil", ExprFunction::Ceil, FunctionArguments::Number),
    ("round", ExprFunction::Round, FunctionArguments::Number),
    ("number", ExprFunction::Number, FunctionArguments::Numbered),
];

impl FunctionArguments {
    fn count(self) -> usize {
        if self == Self::TwoOrdered { 2 } else { 1 }
    }

    fn accepts(self, ty: ValueType) -> bool {
        ty == ValueType::Any
            || match self {
                Self::Long => matches!(ty, ValueType::Text | ValueType::Enum(_) | ValueType::List),
                Self::Number => ty.is_number(),
                Self::TwoOrdered => ty.is_number() || ty == ValueType::Date,
                Self::Numbered => matches!(ty, ValueType::Enum(_) | ValueType::Pointer | ValueType::Bool),
            }
    }

    fn description(self) -> &'static str {
        match self {
            Self::Long => "a text, an array or bytes",
            Self::Number => "a number",
            Self::TwoOrdered => "two numbers or two dates",
            Self::Numbered => "an enum value, a pointer or a bool",
        }
    }
}

impl ExprScope<'_> {
    /// `values[index]`
    pub(super) fn element(&self, name: &Ident, index: &ast::Expr, diagnostics: &mut Diagnostics) -> (Expr, ValueType) {
        let place = self.expect(index, ValueType::Integer, "the index of an element", diagnostics);
        let path = ast::Path { name: name.clone(), part: None };
        let (list, _) = self.path(&path, diagnostics);
        let Expr::Field(field) = list else {
            if !matches!(list, Expr::Integer(0)) {
                diagnostics.push(not_a_list(name, "not an array"));
            }
            return error_value();
        };
        let ty = self.model.spec.records[self.record.index()].layout.fields[field as usize].ty;
        let (scalar, length) = match ty {
            FieldType::One(Scalar::Bytes) => (Scalar::U8, None),
            FieldType::One(_) => {
                diagnostics.push(not_a_list(name, ValueType::of_field(ty).name()));
                return error_value();
            }
            FieldType::Fixed(scalar, length) => (scalar, Some(length)),
            FieldType::Variable(scalar) => (scalar, None),
        };
        if let Expr::Integer(element) = place
            && (element < 0 || length.is_some_and(|length| element >= i64::from(length)))
        {
            let label = match length {
                Some(length) => format!("elements are counted from 0 to {}", length - 1),
                None => "elements are counted from 0".to_owned(),
            };
            diagnostics.push(
                Diagnostic::error(Code::BeyondEnd, format!("`{}` has no element {element}", name.text))
                    .with_location(index.span, label),
            );
        }
        (Expr::Element(field, Box::new(place)), ValueType::of_field(FieldType::One(scalar)))
    }

    /// `len(values)`, `color(2)`
    pub(super) fn call(
        &self,
        name: &Ident,
        arguments: &[ast::Expr],
        call_span: SourceSpan,
        diagnostics: &mut Diagnostics,
    ) -> (Expr, ValueType) {
        let lowered: Vec<(Expr, ValueType)> =
            arguments.iter().map(|argument| self.expr(argument, diagnostics)).collect();
        let types: Vec<ValueType> = lowered.iter().map(|(_, ty)| *ty).collect();
        if let Some(index) = self.model.enums.get(&name.text).copied() {
            let fits = matches!(types.as_slice(), [ValueType::Integer | ValueType::Any]);
            if !fits {
                diagnostics.push(
                    Diagnostic::error(
                        Code::BadArguments,
                        format!("`{}` converts a number to an enum value", name.text),
                    )
                    .with_location(call_span, "needs one integer")
                    .help(format!("write `{}(NUMBER)`", name.text)),
                );
                return error_value();
            }
            let arguments = lowered.into_iter().map(|(value, _)| value).collect();
            return (Expr::Call(ExprFunction::Lookup(index), arguments), ValueType::Enum(index));
        }
        let Some((_, function, parameters)) = FUNCTIONS.iter().find(|(known, ..)| *known == name.text) else {
            let functions = FUNCTIONS.iter().map(|(function, ..)| *function);
            let help = did_you_mean(&name.text, functions.chain(self.model.enums.keys().map(String::as_str)));
            diagnostics.push(
                Diagnostic::error(Code::UnknownFunction, format!("there is no function `{}`", name.text))
                    .with_location(name.span, "neither a function nor an enum")
                    .maybe_help(help),
            );
            return error_value();
        };
        let dates = types.iter().filter(|ty| **ty == ValueType::Date).count();
        let mixed = dates == 1 && !types.contains(&ValueType::Any);
        if types.len() != parameters.count() || !types.iter().all(|ty| parameters.accepts(*ty)) || mixed {
            let type_names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            let type_names = if type_names.is_empty() { "nothing".to_owned() } else { type_names.join(" and ") };
            diagnostics.push(
                Diagnostic::error(Code::BadArguments, format!("`{}` takes {}", name.text, parameters.description()))
                    .with_location(call_span, format!("{type_names} given")),
            );
            return error_value();
        }
        let result = match function {
            ExprFunction::Len
            | ExprFunction::Floor
            | ExprFunction::Ceil
            | ExprFunction::Round
            | ExprFunction::Number => ValueType::Integer,
            _ if types.contains(&ValueType::Float) => ValueType::Float,
            _ => types.first().copied().unwrap_or(ValueType::Any),
        };
        if let (ExprFunction::Number, [(Expr::Text(TextPattern(pieces)), ValueType::Enum(index))]) =
            (function, lowered.as_slice())
            && let [PatternPiece::Text(value)] = pieces.as_slice()
        {
            let values = &self.model.spec.enums[*index as usize].values;
            let number = values.iter().find(|item| item.name == *value).map_or(0, |item| item.number);
            return (Expr::Integer(number.into()), ValueType::Integer);
        }
        (Expr::Call(*function, lowered.into_iter().map(|(value, _)| value).collect()), result)
    }
}

fn not_a_list(name: &Ident, type_name: &str) -> Diagnostic {
    Diagnostic::error(Code::NotAList, format!("`{}` has no elements", name.text))
        .with_location(name.span, format!("this is {type_name}"))
        .help("only arrays and `bytes` have elements")
}

/// Checks whether a value of this type can have this format.
pub(super) fn check_format(format: ValueFormat, ty: ValueType, span: SourceSpan, diagnostics: &mut Diagnostics) {
    let integer = matches!(ty, ValueType::Integer | ValueType::Pointer | ValueType::Any);
    let (is_wrong, reason) = match format.notation {
        NumberNotation::Hexadecimal | NumberNotation::UpperHexadecimal | NumberNotation::Binary if !integer => {
            (true, "`x`, `X` and `b` are notations of integers")
        }
        NumberNotation::Exponent if !ty.is_number() => (true, "`e` is a notation of numbers"),
        _ if format.zeros && !(integer || ty.is_number() || ty == ValueType::Date) => {
            (true, "only numbers are padded with zeros")
        }
        _ if format.precision.is_some() && matches!(ty, ValueType::Integer | ValueType::Pointer | ValueType::Bool) => {
            (true, "a precision is for floats, dates and texts")
        }
        _ => (false, ""),
    };
    if is_wrong {
        diagnostics.push(
            Diagnostic::error(Code::BadFormat, format!("{} cannot have this format", ty.name()))
                .with_location(span, reason),
        );
    }
}

/// Whether this is the name of a function.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(function_name, ..)| *function_name == name)
}
