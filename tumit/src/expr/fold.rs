//! The value of an expression that depends on no record. It follows what the converter computes for records.

use std::fmt::Write as _;

use crate::spec::{BinaryOp, Expr, Format, Function, Pattern, Piece, Spec, UnaryOp};

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoFold {
    /// It depends on a record.
    Depends,
    /// It is beyond 64 bits, not finite, or a division by zero.
    NoValue,
    /// It is a text of more than [`MAX_TEXT`] bytes: texts of texts grow fast.
    TooLong,
}

/// Most bytes of a constant text.
pub(crate) const MAX_TEXT: usize = 4096;

type Folded = Result<Expr, NoFold>;

/// The literal that `expr` is equal to.
pub(crate) fn fold(expr: &Expr, spec: &Spec) -> Folded {
    match expr {
        Expr::Integer(_) | Expr::Float(_) | Expr::Bool(_) => Ok(expr.clone()),
        Expr::Text(Pattern(pieces)) => text(pieces, spec),
        Expr::Field(_) | Expr::Element(..) | Expr::Builtin(_) => Err(NoFold::Depends),
        Expr::Call(function, arguments) => {
            let arguments: Vec<Expr> =
                arguments.iter().map(|argument| fold(argument, spec)).collect::<Result<_, _>>()?;
            call(*function, &arguments, spec)
        }
        Expr::Unary(operator, operand) => match (operator, fold(operand, spec)?) {
            (UnaryOp::Not, Expr::Bool(value)) => Ok(Expr::Bool(!value)),
            (UnaryOp::Minus, Expr::Integer(value)) => integer(value.checked_neg()),
            (UnaryOp::Minus, Expr::Float(value)) => Ok(Expr::Float(-value)),
            _ => Err(NoFold::NoValue),
        },
        Expr::Binary(operator, left, right) => binary(*operator, left, right, spec),
    }
}

fn integer(value: Option<i64>) -> Folded {
    value.map(Expr::Integer).ok_or(NoFold::NoValue)
}

fn float(value: f64) -> Folded {
    if value.is_finite() { Ok(Expr::Float(value)) } else { Err(NoFold::NoValue) }
}

fn text(pieces: &[Piece], spec: &Spec) -> Folded {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) | Piece::Name(text, _) => out.push_str(text),
            Piece::Expr(expr, format) => match fold(expr, spec)? {
                // Formats are applied where records are; a constant with one stays an expression.
                _ if *format != Format::default() => return Err(NoFold::Depends),
                Expr::Integer(value) => drop(write!(out, "{value}")),
                Expr::Float(value) => drop(write!(out, "{value}")),
                Expr::Bool(value) => drop(write!(out, "{value}")),
                Expr::Text(Pattern(inner)) => out.push_str(literal(&inner)),
                _ => return Err(NoFold::Depends),
            },
        }
        if out.len() > MAX_TEXT {
            return Err(NoFold::TooLong);
        }
    }
    Ok(Expr::Text(Pattern(vec![Piece::Text(out)])))
}

/// The text of a folded pattern.
fn literal(pieces: &[Piece]) -> &str {
    match pieces {
        [Piece::Text(text)] => text,
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

fn call(function: Function, arguments: &[Expr], spec: &Spec) -> Folded {
    match (function, arguments) {
        (Function::Len, [Expr::Text(Pattern(pieces))]) => integer(i64::try_from(literal(pieces).chars().count()).ok()),
        (Function::Abs, [Expr::Integer(value)]) => integer(value.checked_abs()),
        (Function::Abs, [Expr::Float(value)]) => float(value.abs()),
        (Function::Floor | Function::Ceil | Function::Round, [Expr::Integer(value)]) => Ok(Expr::Integer(*value)),
        (Function::Floor, [Expr::Float(value)]) => whole(value.floor()),
        (Function::Ceil, [Expr::Float(value)]) => whole(value.ceil()),
        (Function::Round, [Expr::Float(value)]) => whole(value.round()),
        (Function::Number, [Expr::Bool(value)]) => Ok(Expr::Integer((*value).into())),
        (Function::Min, [Expr::Integer(a), Expr::Integer(b)]) => Ok(Expr::Integer(*a.min(b))),
        (Function::Max, [Expr::Integer(a), Expr::Integer(b)]) => Ok(Expr::Integer(*a.max(b))),
        (Function::Min | Function::Max, [a, b]) => {
            let (Some(a), Some(b)) = (number(a), number(b)) else { return Err(NoFold::Depends) };
            float(if function == Function::Min { a.min(b) } else { a.max(b) })
        }
        (Function::Lookup(index), [Expr::Integer(wanted)]) => {
            let values = spec.enums.get(index as usize).map_or(&[][..], |item| &item.values);
            let found = values.iter().find(|value| i64::from(value.number) == *wanted).ok_or(NoFold::NoValue)?;
            Ok(Expr::Text(Pattern(vec![Piece::Text(found.name.clone())])))
        }
        _ => Err(NoFold::Depends),
    }
}

/// A float without a fraction, as an integer.
fn whole(value: f64) -> Folded {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if !(-LIMIT..LIMIT).contains(&value) {
        return Err(NoFold::NoValue);
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is within 64 bits and has no fraction")]
    let value = value as i64;
    Ok(Expr::Integer(value))
}

fn binary(operator: BinaryOp, left: &Expr, right: &Expr, spec: &Spec) -> Folded {
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

fn arithmetic(operator: BinaryOp, left: &Expr, right: &Expr) -> Folded {
    if let (Expr::Integer(a), Expr::Integer(b)) = (left, right) {
        return integer(match operator {
            BinaryOp::Add => a.checked_add(*b),
            BinaryOp::Subtract => a.checked_sub(*b),
            BinaryOp::Multiply => a.checked_mul(*b),
            BinaryOp::Divide => a.checked_div(*b),
            _ => a.checked_rem(*b),
        });
    }
    let (Some(a), Some(b)) = (number(left), number(right)) else { return Err(NoFold::Depends) };
    float(match operator {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a * b,
        BinaryOp::Divide => a / b,
        _ => a % b,
    })
}

fn compare(operator: BinaryOp, left: &Expr, right: &Expr) -> Folded {
    let ordering = match (left, right) {
        (Expr::Integer(a), Expr::Integer(b)) => a.cmp(b),
        (Expr::Bool(a), Expr::Bool(b)) => a.cmp(b),
        (Expr::Text(a), Expr::Text(b)) => literal(&a.0).cmp(literal(&b.0)),
        (a, b) => {
            let (Some(a), Some(b)) = (number(a), number(b)) else { return Err(NoFold::Depends) };
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
