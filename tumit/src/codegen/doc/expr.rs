//! Expressions in the notation of the language.

use crate::Spec;
use crate::spec::{
    Builtin, Expr, ExprFunction, NumberNotation, PatternPiece, RecordDecl, TextAlign, TextPattern, UnaryOp, ValueFormat,
};

/// The text of an expression over `record`. Every part with operators is in parentheses.
pub(super) fn text(expr: &Expr, spec: &Spec, record: Option<&RecordDecl>) -> String {
    ExprPrinter { spec, record }.text(expr)
}

/// The context of the names in an expression.
#[derive(Clone, Copy)]
struct ExprPrinter<'a> {
    spec: &'a Spec,
    record: Option<&'a RecordDecl>,
}

impl ExprPrinter<'_> {
    fn text(self, expr: &Expr) -> String {
        match expr {
            Expr::Integer(value) => value.to_string(),
            Expr::Float(value) => format!("{value:?}"),
            Expr::Bool(value) => value.to_string(),
            Expr::Text(pattern) => format!("\"{}\"", self.pattern(pattern)),
            Expr::Field(index) => self.field(*index),
            Expr::Builtin(builtin) => builtin_name(*builtin).to_owned(),
            Expr::Element(index, element) => format!("{}[{}]", self.field(*index), self.text(element)),
            Expr::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|argument| self.text(argument)).collect();
                format!("{}({})", self.function(*function), arguments.join(", "))
            }
            Expr::Unary(UnaryOp::Minus, inner) => format!("-{}", self.print_nested(inner)),
            Expr::Unary(UnaryOp::Not, inner) => format!("not {}", self.print_nested(inner)),
            Expr::Binary(op, left, right) => {
                format!("{} {} {}", self.print_nested(left), op.symbol(), self.print_nested(right))
            }
        }
    }

    fn print_nested(self, expr: &Expr) -> String {
        let text = self.text(expr);
        if matches!(expr, Expr::Binary(..) | Expr::Unary(..)) { format!("({text})") } else { text }
    }

    fn field(self, index: u32) -> String {
        let field = self.record.and_then(|record| record.layout.fields.get(index as usize));
        field.map_or_else(|| format!("parameter {index}"), |field| field.name.clone())
    }

    fn function(self, function: ExprFunction) -> String {
        let name = match function {
            ExprFunction::Len => "len",
            ExprFunction::Abs => "abs",
            ExprFunction::Min => "min",
            ExprFunction::Max => "max",
            ExprFunction::Floor => "floor",
            ExprFunction::Ceil => "ceil",
            ExprFunction::Round => "round",
            ExprFunction::Number => "number",
            ExprFunction::Lookup(index) => {
                self.spec.enums.get(index as usize).map_or("enum", |item| item.name.as_str())
            }
        };
        name.to_owned()
    }

    fn pattern(self, pattern: &TextPattern) -> String {
        let pieces = pattern.0.iter().map(|piece| match piece {
            PatternPiece::Text(piece) => piece.escape_debug().to_string().replace('{', "{{").replace('}', "}}"),
            PatternPiece::Name(name, format) => hole(name, format),
            PatternPiece::Expr(expr, format) => hole(&self.text(expr), format),
        });
        pieces.collect()
    }
}

/// `{value:>08.3x}`
pub(super) fn hole(value: &str, format: &ValueFormat) -> String {
    let align = match format.align {
        None => "",
        Some(TextAlign::Left) => "<",
        Some(TextAlign::Right) => ">",
        Some(TextAlign::Center) => "^",
    };
    let zeros = if format.zeros { "0" } else { "" };
    let width = if format.width > 0 { format.width.to_string() } else { String::new() };
    let precision = format.precision.map_or(String::new(), |digits| format!(".{digits}"));
    let notation = match format.notation {
        NumberNotation::Usual => "",
        NumberNotation::Hexadecimal => "x",
        NumberNotation::UpperHexadecimal => "X",
        NumberNotation::Binary => "b",
        NumberNotation::Exponent => "e",
    };
    let format = [align, zeros, &width, &precision, notation].concat();
    if format.is_empty() { format!("{{{value}}}") } else { format!("{{{value}:{format}}}") }
}

fn builtin_name(builtin: Builtin) -> &'static str {
    match builtin {
        Builtin::Date => "date",
        Builtin::Pid => "pid",
        Builtin::Tid => "tid",
        Builtin::Rank => "rank",
        Builtin::Host => "host",
        Builtin::ThreadName => "thread_name",
        Builtin::StreamLabel => "stream_label",
        Builtin::File => "file",
        Builtin::Line => "line",
        Builtin::Event => "event",
        Builtin::Level => "level",
    }
}
