//! Elements of lists, functions, and formats of holes.

use tracer_format::schema::{FieldType, Scalar};

use super::{Scope, bad};
use crate::diag::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::source::Span;
use crate::spec::{Expr, Format, Function, Notation, Pattern, Piece};
use crate::syntax::ast::{self, Ident};
use crate::value_type::Type;

/// What a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// Text, a list or bytes.
    Long,
    Number,
    /// Two numbers, or two dates.
    TwoOrdered,
    /// Something that a number stands for.
    Numbered,
}

const FUNCTIONS: [(&str, Function, Takes); 8] = [
    ("len", Function::Len, Takes::Long),
    ("abs", Function::Abs, Takes::Number),
    ("min", Function::Min, Takes::TwoOrdered),
    ("max", Function::Max, Takes::TwoOrdered),
    ("floor", Function::Floor, Takes::Number),
    ("ceil", Function::Ceil, Takes::Number),
    ("round", Function::Round, Takes::Number),
    ("number", Function::Number, Takes::Numbered),
];

impl Takes {
    fn count(self) -> usize {
        if self == Self::TwoOrdered { 2 } else { 1 }
    }

    fn accepts(self, ty: Type) -> bool {
        ty == Type::Any
            || match self {
                Self::Long => matches!(ty, Type::Text | Type::Enum(_) | Type::List),
                Self::Number => ty.is_number(),
                Self::TwoOrdered => ty.is_number() || ty == Type::Date,
                Self::Numbered => matches!(ty, Type::Enum(_) | Type::Pointer | Type::Bool),
            }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Long => "a text, an array or bytes",
            Self::Number => "a number",
            Self::TwoOrdered => "two numbers or two dates",
            Self::Numbered => "an enum value, a pointer or a bool",
        }
    }
}

impl Scope<'_> {
    /// `values[index]`
    pub(super) fn element(&self, name: &Ident, index: &ast::Expr, diagnostics: &mut Diagnostics) -> (Expr, Type) {
        let place = self.expect(index, Type::Integer, "the place of an element", diagnostics);
        let path = ast::Path { name: name.clone(), part: None };
        let (list, _) = self.path(&path, diagnostics);
        let Expr::Field(field) = list else {
            if !matches!(list, Expr::Integer(0)) {
                diagnostics.push(not_a_list(name, "a value that is no list"));
            }
            return bad();
        };
        let ty = self.model.spec.records[self.record.index()].layout.fields[field as usize].ty;
        let (scalar, length) = match ty {
            FieldType::One(Scalar::Bytes) => (Scalar::U8, None),
            FieldType::One(_) => {
                diagnostics.push(not_a_list(name, Type::of_field(ty).name()));
                return bad();
            }
            FieldType::Fixed(scalar, length) => (scalar, Some(length)),
            FieldType::Variable(scalar) => (scalar, None),
        };
        if let Expr::Integer(at) = place
            && (at < 0 || length.is_some_and(|length| at >= i64::from(length)))
        {
            let label = match length {
                Some(length) => format!("elements are counted from 0 to {}", length - 1),
                None => "elements are counted from 0".to_owned(),
            };
            diagnostics.push(
                Diagnostic::error(Code::BeyondEnd, format!("`{}` has no element {at}", name.text))
                    .at(index.span, label),
            );
        }
        (Expr::Element(field, Box::new(place)), Type::of_field(FieldType::One(scalar)))
    }

    /// `len(values)`, `color(2)`
    pub(super) fn call(
        &self,
        name: &Ident,
        arguments: &[ast::Expr],
        whole: Span,
        diagnostics: &mut Diagnostics,
    ) -> (Expr, Type) {
        let lowered: Vec<(Expr, Type)> = arguments.iter().map(|argument| self.expr(argument, diagnostics)).collect();
        let types: Vec<Type> = lowered.iter().map(|(_, ty)| *ty).collect();
        if let Some(index) = self.model.enums.get(&name.text).copied() {
            let fits = matches!(types.as_slice(), [Type::Integer | Type::Any]);
            if !fits {
                diagnostics.push(
                    Diagnostic::error(Code::BadArguments, format!("`{}` looks a number up in an enum", name.text))
                        .at(whole, "needs one integer")
                        .help(format!("write `{}(NUMBER)`", name.text)),
                );
                return bad();
            }
            let arguments = lowered.into_iter().map(|(value, _)| value).collect();
            return (Expr::Call(Function::Lookup(index), arguments), Type::Enum(index));
        }
        let Some((_, function, takes)) = FUNCTIONS.iter().find(|(known, ..)| *known == name.text) else {
            let known = FUNCTIONS.iter().map(|(known, ..)| *known);
            let help = did_you_mean(&name.text, known.chain(self.model.enums.keys().map(String::as_str)));
            diagnostics.push(
                Diagnostic::error(Code::UnknownFunction, format!("there is no function `{}`", name.text))
                    .at(name.span, "neither a function nor an enum")
                    .maybe_help(help),
            );
            return bad();
        };
        let dates = types.iter().filter(|ty| **ty == Type::Date).count();
        let mixed = dates == 1 && !types.contains(&Type::Any);
        if types.len() != takes.count() || !types.iter().all(|ty| takes.accepts(*ty)) || mixed {
            let found: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
            let found = if found.is_empty() { "nothing".to_owned() } else { found.join(" and ") };
            diagnostics.push(
                Diagnostic::error(Code::BadArguments, format!("`{}` takes {}", name.text, takes.says()))
                    .at(whole, format!("{found} given")),
            );
            return bad();
        }
        let result = match function {
            Function::Len | Function::Floor | Function::Ceil | Function::Round | Function::Number => Type::Integer,
            _ if types.contains(&Type::Float) => Type::Float,
            _ => types.first().copied().unwrap_or(Type::Any),
        };
        if let (Function::Number, [(Expr::Text(Pattern(pieces)), Type::Enum(index))]) = (function, lowered.as_slice())
            && let [Piece::Text(value)] = pieces.as_slice()
        {
            let values = &self.model.spec.enums[*index as usize].values;
            let number = values.iter().find(|known| known.name == *value).map_or(0, |known| known.number);
            return (Expr::Integer(number.into()), Type::Integer);
        }
        (Expr::Call(*function, lowered.into_iter().map(|(value, _)| value).collect()), result)
    }
}

fn not_a_list(name: &Ident, what: &str) -> Diagnostic {
    Diagnostic::error(Code::NotAList, format!("`{}` has no elements", name.text))
        .at(name.span, format!("this is {what}"))
        .help("only arrays and `bytes` have elements")
}

/// Whether a value of this type can be written so.
pub(super) fn check_format(format: Format, ty: Type, span: Span, diagnostics: &mut Diagnostics) {
    let integer = matches!(ty, Type::Integer | Type::Pointer | Type::Any);
    let (wrong, what) = match format.notation {
        Notation::Hexadecimal | Notation::UpperHexadecimal | Notation::Binary if !integer => {
            (true, "`x`, `X` and `b` are notations of integers")
        }
        Notation::Exponent if !ty.is_number() => (true, "`e` is a notation of numbers"),
        _ if format.zeros && !(integer || ty.is_number() || ty == Type::Date) => {
            (true, "only numbers are filled up with zeros")
        }
        _ if format.precision.is_some() && matches!(ty, Type::Integer | Type::Pointer | Type::Bool) => {
            (true, "a precision is for floats, dates and texts")
        }
        _ => (false, ""),
    };
    if wrong {
        diagnostics
            .push(Diagnostic::error(Code::BadFormat, format!("{} cannot be written so", ty.name())).at(span, what));
    }
}

/// Whether this is the name of a function.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.iter().any(|(known, ..)| *known == name)
}
