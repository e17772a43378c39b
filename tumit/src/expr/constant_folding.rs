//! The value of an expression that is independent of records. The rules of evaluation are those of
//! the converter.

use std::fmt::Write as _;

use crate::spec::{BinaryOp, Expr, ExprFunction, PatternPiece, Spec, TextPattern, UnaryOp, ValueFormat};

/// The reason why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldError {
    /// The expression depends on a record.
    Depends,
    /// The value exceeds 64 bits, is not finite, or is the result of a division by zero.
    NoValue,
    /// The value is a text of more than [`MAX_TEXT`] bytes. Texts that contain other texts can grow
    /// fast.
    TooLong,
}

/// Maximum number of bytes of a constant text.
pub(crate) const MAX_TEXT: usize = 4096;

type FoldResult = Result<Expr, FoldError>;

/// The literal that is equal to `expr`.
pub(crate) fn fold(expr: &Expr, spec: &Spec) -> FoldResult {
    match expr {
        Expr::Integer(_) | Expr::Float(_) | Expr::Bool(_) => Ok(expr.clone()),
        Expr::Text(TextPattern(pieces)) => text(pieces, spec),
        Expr::Field(_) | Expr::Element(..) | Expr::Builtin(_) => Err(FoldError::Depends),
        Expr::Call(function, arguments) => {
            let arguments: Vec<Expr> =
                arguments.iter().map(|argument| fold(argument, spec)).collect::<Result<_, _>>()?;
            call(*function, &arguments, spec)
        }
        Expr::Unary(operator, operand) => match (operator, fold(operand, spec)?) {
            (UnaryOp::Not, Expr::Bool(value)) => Ok(Expr::Bool(!value)),
            (UnaryOp::Minus, Expr::Integer(value)) => integer(value.checked_neg()),
            (UnaryOp::Minus, Expr::Float(value)) => Ok(Expr::Float(-value)),
            _ => Err(FoldError::NoValue),
        },
        Expr::Binary(operator, left, right) => binary(*operator, left, right, spec),
    }
}

fn integer(value: Option<i64>) -> FoldResult {
    value.map(Expr::Integer).ok_or(FoldError::NoValue)
}

fn float(value: f64) -> FoldResult {
    if value.is_finite() { Ok(Expr::Float(value)) } else { Err(FoldError::NoValue) }
}

fn text(pieces: &[PatternPiece], spec: &Spec) -> FoldResult {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            PatternPiece::Text(text) | PatternPiece::Name(text, _) => out.push_str(text),
            PatternPiece::Expr(expr, format) => match fold(expr, spec)? {
                // Formats are applied when records are evaluated. A constant with a format stays an
                // expression.
                _ if *format != ValueFormat::default() => return Err(FoldError::Depends),
                Expr::Integer(value) => drop(write!(out, "{value}")),
                Expr::Float(value) => drop(write!(out, "{value}")),
                Expr::Bool(value) => drop(write!(out, "{value}")),
                Expr::Text(TextPattern(inner)) => out.push_str(literal(&inner)),
                _ => return Err(FoldError::Depends),
            },
        }
        if out.len() > MAX_TEXT {
            return Err(FoldError::TooLong);
        }
    }
    Ok(Expr::Text(TextPattern(vec![PatternPiece::Text(out)])))
}

/// The text of a folded pattern.
fn literal(pieces: &[PatternPiece]) -> &str {
    match pieces {
        [PatternPiece::Text(text)] => text,
        _ => "",
    }
}

fn number(expr: &Expr) -> Option<f64> {
    match expr {
        #[expect(clippy::cast_precision_loss, reason = "an integer beside a float becomes one")]
        Expr::Integer(value) => Some(*value as f64),
        Expr::Float(value) => Some(*value),
        _ => None,
    }
}

fn call(function: ExprFunction, arguments: &[Expr], spec: &Spec) -> FoldResult {
    match (function, arguments) {
        (ExprFunction::Len, [Expr::Text(TextPattern(pieces))]) => {
            integer(i64::try_from(literal(pieces).chars().count()).ok())
        }
        (ExprFunction::Abs, [Expr::Integer(value)]) => integer(value.checked_abs()),
        (ExprFunction::Abs, [Expr::Float(value)]) => float(value.abs()),
        (ExprFunction::Floor | ExprFunction::Ceil | ExprFunction::Round, [Expr::Integer(value)]) => {
            Ok(Expr::Integer(*value))
        }
        (ExprFunction::Floor, [Expr::Float(value)]) => whole_number(value.floor()),
        (ExprFunction::Ceil, [Expr::Float(value)]) => whole_number(value.ceil()),
        (ExprFunction::Round, [Expr::Float(value)]) => whole_number(value.round()),
        (ExprFunction::Number, [Expr::Bool(value)]) => Ok(Expr::Integer((*value).into())),
        (ExprFunction::Min, [Expr::Integer(a), Expr::Integer(b)]) => Ok(Expr::Integer(*a.min(b))),
        (ExprFunction::Max, [Expr::Integer(a), Expr::Integer(b)]) => Ok(Expr::Integer(*a.max(b))),
        (ExprFunction::Min | ExprFunction::Max, [a, b]) => {
            let (Some(a), Some(b)) = (number(a), number(b)) else { return Err(FoldError::Depends) };
            float(if function == ExprFunction::Min { a.min(b) } else { a.max(b) })
        }
        (ExprFunction::Lookup(index), [Expr::Integer(wanted)]) => {
            let values = spec.enums.get(index as usize).map_or(&[][..], |item| &item.values);
            let found = values.iter().find(|value| i64::from(value.number) == *wanted).ok_or(FoldError::NoValue)?;
            Ok(Expr::Text(TextPattern(vec![PatternPiece::Text(found.name.clone())])))
        }
        _ => Err(FoldError::Depends),
    }
}

/// Converts a float without a fraction to an integer.
fn whole_number(value: f64) -> FoldResult {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if !(-LIMIT..LIMIT).contains(&value) {
        return Err(FoldError::NoValue);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within 64 bits and has no fraction")]
    let value = value as i64;
    Ok(Expr::Integer(value))
}

fn binary(operator: BinaryOp, left: &Expr, right: &Expr, spec: &Spec) -> FoldResult {
    let left = fold(left, spec);
    match (operator, &left) {
        (BinaryOp::And, Ok(Expr::Bool(false))) | (BinaryOp::Or, Ok(Expr::Bool(true))) => return left,
        _ => {}
    }
    let (left, right) = (left?, fold(right, spec)?);
    match operator {
        BinaryOp::And | BinaryOp::Or => Ok(right),
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            arithmetic(operator, &left, &right)
        }
        _ => compare(operator, &left, &right),
    }
}

fn arithmetic(operator: BinaryOp, left: &Expr, right: &Expr) -> FoldResult {
    if let (Expr::Integer(a), Expr::Integer(b)) = (left, right) {
        return integer(match operator {
            BinaryOp::Add => a.checked_add(*b),
            BinaryOp::Subtract => a.checked_sub(*b),
            BinaryOp::Multiply => a.checked_mul(*b),
            BinaryOp::Divide => a.checked_div(*b),
            _ => a.checked_rem(*b),
        });
    }
    let (Some(a), Some(b)) = (number(left), number(right)) else { return Err(FoldError::Depends) };
    float(match operator {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

fn compare(operator: BinaryOp, left: &Expr, right: &Expr) -> FoldResult {
    let ordering = match (left, right) {
        (Expr::Integer(a), Expr::Integer(b)) => a.cmp(b),
        (Expr::Bool(a), Expr::Bool(b)) => a.cmp(b),
        (Expr::Text(a), Expr::Text(b)) => literal(&a.0).cmp(literal(&b.0)),
        (a, b) => {
            let (Some(a), Some(b)) = (number(a), number(b)) else { return Err(FoldError::Depends) };
            a.total_cmp(&b)
        }
    };
    Ok(Expr::Bool(match operator {
        BinaryOp::Equal => ordering.is_eq(),
        BinaryOp::NotEqual => ordering.is_ne(),
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    }))
}
