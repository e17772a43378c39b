//! Expressions as the language spells them.

use crate::spec::{BinaryOp, Builtin, Expr, Function, Pattern, Piece, Record, Spec, UnaryOp};

/// The text of an expression over `record`. Every part that has operators stands in parentheses.
pub(super) fn text(expr: &Expr, record: Option<&Record>, spec: &Spec) -> String {
    match expr {
        Expr::Integer(value) => value.to_string(),
        Expr::Float(value) => format!("{value:?}"),
        Expr::Bool(value) => value.to_string(),
        Expr::Text(pattern) => format!("\"{}\"", pattern_text(pattern, record, spec)),
        Expr::Field(index) => {
            let field = record.and_then(|record| record.layout.fields.get(*index as usize));
            field.map_or_else(|| format!("parameter {index}"), |field| field.name.clone())
        }
        Expr::Element(index, place) => {
            let list = Expr::Field(*index);
            format!("{}[{}]", text(&list, record, spec), text(place, record, spec))
        }
        Expr::Call(called, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(|argument| text(argument, record, spec)).collect();
            format!("{}({})", function(*called, spec), arguments.join(", "))
        }
        Expr::Builtin(builtin) => builtin_name(*builtin).to_owned(),
        Expr::Unary(UnaryOp::Minus, inner) => format!("-{}", inside(inner, record, spec)),
        Expr::Unary(UnaryOp::Not, inner) => format!("not {}", inside(inner, record, spec)),
        Expr::Binary(op, left, right) => {
            format!("{} {} {}", inside(left, record, spec), operator(*op), inside(right, record, spec))
        }
    }
}

fn inside(expr: &Expr, record: Option<&Record>, spec: &Spec) -> String {
    let text = text(expr, record, spec);
    if matches!(expr, Expr::Binary(..) | Expr::Unary(..)) { format!("({text})") } else { text }
}

fn pattern_text(pattern: &Pattern, record: Option<&Record>, spec: &Spec) -> String {
    let pieces = pattern.0.iter().map(|piece| match piece {
        Piece::Text(piece) => piece.escape_debug().to_string().replace('{', "{{").replace('}', "}}"),
        Piece::Name(name, format) => format!("{{{name}{format}}}"),
        Piece::Expr(expr, format) => format!("{{{}{format}}}", text(expr, record, spec)),
    });
    pieces.collect()
}

fn function(called: Function, spec: &Spec) -> &str {
    match called {
        Function::Len => "len",
        Function::Abs => "abs",
        Function::Min => "min",
        Function::Max => "max",
        Function::Floor => "floor",
        Function::Ceil => "ceil",
        Function::Round => "round",
        Function::Number => "number",
        Function::Lookup(index) => spec.enums.get(index as usize).map_or("enum", |item| item.name.as_str()),
    }
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
