//! Expressions as the language spells them.

use crate::spec::{BinaryOp, Builtin, Expr, Pattern, Piece, Record, UnaryOp};

/// The text of an expression over `record`. Every part that has operators stands in parentheses.
pub(super) fn text(expr: &Expr, record: Option<&Record>) -> String {
    match expr {
        Expr::Integer(value) => value.to_string(),
        Expr::Float(value) => format!("{value:?}"),
        Expr::Bool(value) => value.to_string(),
        Expr::Text(pattern) => format!("\"{}\"", pattern_text(pattern, record)),
        Expr::Field(index) => {
            let field = record.and_then(|record| record.layout.fields.get(*index as usize));
            field.map_or_else(|| format!("parameter {index}"), |field| field.name.clone())
        }
        Expr::Builtin(builtin) => builtin_name(*builtin).to_owned(),
        Expr::Unary(UnaryOp::Minus, inner) => format!("-{}", inside(inner, record)),
        Expr::Unary(UnaryOp::Not, inner) => format!("not {}", inside(inner, record)),
        Expr::Binary(op, left, right) => {
            format!("{} {} {}", inside(left, record), operator(*op), inside(right, record))
        }
    }
}

fn inside(expr: &Expr, record: Option<&Record>) -> String {
    let text = text(expr, record);
    if matches!(expr, Expr::Binary(..) | Expr::Unary(..)) { format!("({text})") } else { text }
}

fn pattern_text(pattern: &Pattern, record: Option<&Record>) -> String {
    let pieces = pattern.0.iter().map(|piece| match piece {
        Piece::Text(piece) => piece.escape_debug().to_string().replace('{', "{{").replace('}', "}}"),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Expr(expr) => format!("{{{}}}", text(expr, record)),
    });
    pieces.collect()
}

fn builtin_name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Date => "date",
        Builtin::Pid => "pid",
        Builtin::Tid => "tid",
        Builtin::Rank => "rank",
        Builtin::Host => "host",
        Builtin::ThreadName => "thread_name",
        Builtin::File => "file",
        Builtin::Line => "line",
        Builtin::Event => "event",
        Builtin::Level => "level",
    }
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}
