//! Expressions: resolution of their names, and checks of their types.

pub(crate) mod constant_folding;
mod expr_function;
mod expr_scope;

use crate::diagnostics::{Code, Diagnostic, Diagnostics, did_you_mean};
use crate::draft::list_candidates;
use crate::source_text::SourceSpan;
use crate::spec::{BinaryOp, Builtin, Expr, PatternPiece, TextPattern, UnaryOp};
use crate::syntax::ast::{self, ExprKind, Ident, Path, Text, TextPiece};
use crate::value_type::ValueType;

use expr_function::check_format;
pub(crate) use expr_function::is_function;
pub(crate) use expr_scope::ExprScope;
use expr_scope::error_value;

const BUILTINS: [(&str, Builtin, ValueType); 11] = [
    ("date", Builtin::Date, ValueType::Date),
    ("pid", Builtin::Pid, ValueType::Integer),
    ("tid", Builtin::Tid, ValueType::Integer),
    ("rank", Builtin::Rank, ValueType::Integer),
    ("host", Builtin::Host, ValueType::Text),
    ("thread_name", Builtin::ThreadName, ValueType::Text),
    ("stream_label", Builtin::StreamLabel, ValueType::Text),
    ("file", Builtin::File, ValueType::Text),
    ("line", Builtin::Line, ValueType::Integer),
    ("event", Builtin::Event, ValueType::Text),
    ("level", Builtin::Level, ValueType::Text),
];

/// The built-ins that are available at the end of a thread or process.
const AT_ENDS: &str = "date pid tid rank host thread_name stream_label";

impl ExprScope<'_> {
    /// The lowered expression with its type. After an error, the type is [`ValueType::Any`].
    pub(crate) fn expr(&self, expr: &ast::Expr, diagnostics: &mut Diagnostics) -> (Expr, ValueType) {
        match &expr.kind {
            ExprKind::Integer(value) => (Expr::Integer(*value), ValueType::Integer),
            ExprKind::Float(value) => (Expr::Float(*value), ValueType::Float),
            ExprKind::Bool(value) => (Expr::Bool(*value), ValueType::Bool),
            ExprKind::Text(text) => (Expr::Text(self.text(text, diagnostics)), ValueType::Text),
            ExprKind::Path(path) => self.path(path, diagnostics),
            ExprKind::Element(name, index) => self.element(name, index, diagnostics),
            ExprKind::Call(name, arguments) => self.call(name, arguments, expr.span, diagnostics),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner, diagnostics),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, diagnostics),
            ExprKind::Bad => error_value(),
        }
    }

    /// The lowered expression, which must have this type. `subject` names it in diagnostics.
    pub(super) fn expect(
        &self,
        expr: &ast::Expr,
        expected: ValueType,
        subject: &str,
        diagnostics: &mut Diagnostics,
    ) -> Expr {
        let (lowered, ty) = self.expr(expr, diagnostics);
        if ty != expected && ty != ValueType::Any {
            let mut diagnostic = Diagnostic::error(Code::WrongType, format!("{subject} must be {}", expected.name()))
                .with_location(expr.span, format!("this is {}", ty.name()));
            if expected == ValueType::Bool {
                diagnostic = diagnostic.help("compare it, for example with `!= 0`");
            }
            diagnostics.push(diagnostic);
        }
        lowered
    }

    fn text(&self, text: &Text, diagnostics: &mut Diagnostics) -> TextPattern {
        let piece = |piece: &TextPiece, diagnostics: &mut Diagnostics| match piece {
            TextPiece::Literal(literal) => PatternPiece::Text(literal.clone()),
            TextPiece::Hole(expr, format) => {
                let (value, ty) = self.expr(expr, diagnostics);
                check_format(*format, ty, expr.span, diagnostics);
                PatternPiece::Expr(value, *format)
            }
        };
        TextPattern(text.pieces.iter().map(|part| piece(part, diagnostics)).collect())
    }

    fn parameter(&self, name: &Ident) -> Option<(Expr, ValueType)> {
        let record = self.model.spec.records.get(self.record.index())?;
        let index = record.layout.fields.iter().position(|field| field.name == name.text)?;
        let ty = ValueType::of_field(record.layout.fields[index].ty);
        Some((Expr::Field(crate::draft::index(index)), ty))
    }

    fn path(&self, path: &Path, diagnostics: &mut Diagnostics) -> (Expr, ValueType) {
        if let Some(part) = &path.part {
            return self.enum_value(&path.name, part, diagnostics);
        }
        let name = &path.name;
        if let Some(expr) = self.parameter(name) {
            return expr;
        }
        if let Some(expr) = self.model.constants.get(&name.text) {
            return expr.clone();
        }
        if let Some((_, builtin, ty)) = BUILTINS.iter().find(|(builtin, ..)| *builtin == name.text) {
            if self.is_of_ends() && AT_ENDS.split(' ').all(|builtin| builtin != name.text) {
                diagnostics.push(self.unknown_at_end(name));
                return error_value();
            }
            if self.is_of_constants() {
                diagnostics.push(
                    Diagnostic::error(Code::UnknownName, format!("`{}` is known in rules only", name.text))
                        .with_location(name.span, "not a constant")
                        .help("use it in the expressions of rules"),
                );
                return error_value();
            }
            self.check_located(*builtin, name, diagnostics);
            return (Expr::Builtin(*builtin), *ty);
        }
        if !self.model.unparsed.contains(&name.text) {
            diagnostics.push(self.unknown_name(name));
        }
        error_value()
    }

    fn check_located(&self, builtin: Builtin, name: &Ident, diagnostics: &mut Diagnostics) {
        let Some(record) = self.model.spec.records.get(self.record.index()) else { return };
        if matches!(builtin, Builtin::File | Builtin::Line) && !record.layout.has_location {
            diagnostics.push(
                Diagnostic::error(Code::NotLocated, format!("`{}` does not record its source position", record.name))
                    .with_location(name.span, "not recorded")
                    .with_label(self.model.record_spans[self.record.index()], "declared without `located`")
                    .help(format!("declare it as `event {} located {{ … }}`", record.name)),
            );
        }
    }

    fn unknown_at_end(&self, name: &Ident) -> Diagnostic {
        Diagnostic::error(Code::EndRule, format!("`{}` is unknown at the end of a thread or process", name.text))
            .with_location(name.span, "no record with parameters")
            .help(format!("write one of `{}`, or a constant", AT_ENDS.replace(' ', "`, `")))
    }

    fn unknown_name(&self, name: &Ident) -> Diagnostic {
        let model = self.model;
        if self.is_of_ends() && !is_function(&name.text) {
            return self.unknown_at_end(name);
        }
        let constants = || model.constants.keys().map(String::as_str);
        if model.spec.records.get(self.record.index()).is_none() {
            return Diagnostic::error(Code::UnknownName, format!("there is no constant `{}`", name.text))
                .with_location(name.span, "not declared")
                .maybe_help(did_you_mean(&name.text, constants()));
        }
        if is_function(&name.text) {
            return Diagnostic::error(Code::UnknownName, format!("`{}` is a function", name.text))
                .with_location(name.span, "arguments are missing")
                .help(format!("write `{}(…)`", name.text));
        }
        let record = model.record_name(self.record);
        let parameters = self.parameters();
        let diagnostic = Diagnostic::error(Code::UnknownName, format!("`{}` is unknown here", name.text))
            .with_location(name.span, format!("neither a parameter of `{record}` nor a built-in"));
        if let Some(span) = model.spec.span_of(self.record)
            && let Some(help) = self.other_end(span, &name.text)
        {
            let at_end = span.end == self.record;
            let note = if at_end {
                "it is recorded at the begin of the span only"
            } else {
                "it is recorded at the end of the span only"
            };
            return diagnostic.note(note).help(help);
        }
        let of_enum = model.spec.enums.iter().find(|item| item.values.iter().any(|value| value.name == name.text));
        if let Some(item) = of_enum {
            return diagnostic
                .with_label(model.record_spans[self.record.index()], "the event")
                .help(format!("write the value with its enum: `{}.{}`", item.name, name.text));
        }
        let builtins = BUILTINS.iter().map(|(builtin, ..)| *builtin);
        let help =
            did_you_mean(&name.text, parameters.iter().copied().chain(builtins).chain(constants())).or_else(|| {
                let fields = list_candidates(&parameters)?;
                Some(format!("as parameters, {fields}"))
            });
        let help = help.or_else(|| {
            let span = model.spec.span_of(self.record).filter(|span| span.end == self.record)?;
            Some(format!("declare it as known at the end: `span {} {{ … }} end {{ {}: TYPE }}`", span.name, name.text))
        });
        diagnostic.with_label(model.record_spans[self.record.index()], "the event").maybe_help(help)
    }

    /// A help text for a rule for one end of a span that uses a parameter of the other end.
    fn other_end(&self, span: &crate::spec::SpanType, name: &str) -> Option<String> {
        let at_end = span.end == self.record;
        let (opposite_record, end) = if at_end { (span.begin, "begin") } else { (span.end, "end") };
        let record = &self.model.spec.records[opposite_record.index()];
        let index = record.layout.fields.iter().position(|field| field.name == name)?;
        let advice = format!("use it in `rule {}.{end}`", span.name);
        if !at_end {
            return Some(advice);
        }
        let written = record.fields.get(index).map_or("TYPE", |text| text.type_text.as_str());
        Some(format!(
            "{advice}, or record it at the end as well: `span {} {{ … }} end {{ {name}: {written} }}`",
            span.name
        ))
    }

    /// Names of the parameters of the record.
    pub(super) fn parameters(&self) -> Vec<&str> {
        let record = self.model.spec.records.get(self.record.index());
        record.map_or(Vec::new(), |record| record.layout.fields.iter().map(|field| field.name.as_str()).collect())
    }

    fn enum_value(&self, name: &Ident, part: &Ident, diagnostics: &mut Diagnostics) -> (Expr, ValueType) {
        let model = self.model;
        let Some(index) = model.enums.get(&name.text).copied() else {
            model.report_unknown(Code::UnknownType, "enum", name, model.enums.keys().map(String::as_str), diagnostics);
            return error_value();
        };
        let values = || model.spec.enums[index as usize].values.iter().map(|value| value.name.as_str());
        if !values().any(|value| value == part.text) {
            let noun = format!("value of enum `{}` called", name.text);
            model.report_unknown(Code::UnknownValue, &noun, part, values(), diagnostics);
            return error_value();
        }
        (Expr::Text(TextPattern(vec![PatternPiece::Text(part.text.clone())])), ValueType::Enum(index))
    }

    /// Reports a comparison of an enum with a text that is not one of its values.
    fn report_unknown_value(&self, item: u32, text: &str, span: SourceSpan, diagnostics: &mut Diagnostics) {
        let Some(item) = self.model.spec.enums.get(item as usize) else { return };
        let values: Vec<&str> = item.values.iter().map(|value| value.name.as_str()).collect();
        if !values.contains(&text) && !diagnostics.is_full() {
            diagnostics.push(
                Diagnostic::error(Code::UnknownValue, format!("enum `{}` has no value `{text}`", item.name))
                    .with_location(span, "not one of its values")
                    .maybe_help(did_you_mean(text, values.iter().copied()).or_else(|| list_candidates(&values))),
            );
        }
    }

    fn unary(&self, operator: UnaryOp, inner: &ast::Expr, diagnostics: &mut Diagnostics) -> (Expr, ValueType) {
        let (operand, ty) = self.expr(inner, diagnostics);
        let (fits, result) = match operator {
            UnaryOp::Minus => (ty.is_number(), ty),
            UnaryOp::Not => (matches!(ty, ValueType::Bool | ValueType::Any), ValueType::Bool),
        };
        if !fits {
            let (sign, needs) = if operator == UnaryOp::Minus { ("-", "a number") } else { ("not", "a bool") };
            diagnostics.push(
                Diagnostic::error(Code::WrongType, format!("`{sign}` needs {needs}"))
                    .with_location(inner.span, format!("this is {}", ty.name())),
            );
            return error_value();
        }
        match (operator, &operand) {
            (UnaryOp::Minus, Expr::Integer(value)) => (Expr::Integer(value.wrapping_neg()), ty),
            (UnaryOp::Minus, Expr::Float(value)) => (Expr::Float(-value), ty),
            _ => (Expr::Unary(operator, Box::new(operand)), result),
        }
    }

    fn binary(
        &self,
        operator: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        diagnostics: &mut Diagnostics,
    ) -> (Expr, ValueType) {
        let (left_value, left_type) = self.expr(left, diagnostics);
        let (right_value, right_type) = self.expr(right, diagnostics);
        let Some(result) = result_type(operator, left_type, right_type) else {
            if left_type == ValueType::Any || right_type == ValueType::Any {
                return error_value();
            }
            diagnostics.push(type_mismatch(operator, (left.span, left_type), (right.span, right_type)));
            return error_value();
        };
        for (side, ty, text) in [(right, left_type, &right_value), (left, right_type, &left_value)] {
            if let (ValueType::Enum(item), Expr::Text(TextPattern(pieces))) = (ty, text)
                && let [PatternPiece::Text(text)] = pieces.as_slice()
            {
                self.report_unknown_value(item, text, side.span, diagnostics);
            }
        }
        if matches!(operator, BinaryOp::Divide | BinaryOp::Remainder) && is_zero(&right_value) {
            diagnostics.push(
                Diagnostic::error(Code::DivisionByZero, "division by zero")
                    .with_location(right.span, "this is zero")
                    .help("divide by another value"),
            );
        }
        (Expr::Binary(operator, Box::new(left_value), Box::new(right_value)), result)
    }
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Integer(0)) || matches!(expr, Expr::Float(value) if *value == 0.0)
}

/// The type of `left operator right`. `None` when the operator does not support these types.
fn result_type(operator: BinaryOp, left: ValueType, right: ValueType) -> Option<ValueType> {
    use BinaryOp::{
        Add, And, Divide, Equal, Greater, GreaterEqual, Less, LessEqual, Multiply, NotEqual, Or, Remainder, Subtract,
    };
    let are_both = |a: ValueType| [left, right].iter().all(|ty| *ty == a || *ty == ValueType::Any);
    let any = left == ValueType::Any || right == ValueType::Any;
    match operator {
        And | Or => are_both(ValueType::Bool).then_some(ValueType::Bool),
        Equal | NotEqual => (any || are_comparable(left, right)).then_some(ValueType::Bool),
        Less | LessEqual | Greater | GreaterEqual => {
            let ordered = !matches!(left, ValueType::Bool | ValueType::Enum(_) | ValueType::Pointer);
            (any || (ordered && are_comparable(left, right))).then_some(ValueType::Bool)
        }
        Add | Subtract if left == ValueType::Date && right == ValueType::Integer => Some(ValueType::Date),
        Add if left == ValueType::Integer && right == ValueType::Date => Some(ValueType::Date),
        Subtract if left == ValueType::Date && right == ValueType::Date => Some(ValueType::Integer),
        Add | Subtract | Multiply | Divide | Remainder => {
            if any {
                Some(ValueType::Any)
            } else if are_both(ValueType::Integer) {
                Some(ValueType::Integer)
            } else {
                (left.is_number() && right.is_number()).then_some(ValueType::Float)
            }
        }
    }
}

fn are_comparable(left: ValueType, right: ValueType) -> bool {
    left == right && left != ValueType::List
        || left.is_number() && right.is_number()
        || matches!((left, right), (ValueType::Enum(_), ValueType::Text) | (ValueType::Text, ValueType::Enum(_)))
        || matches!((left, right), (ValueType::Pointer, ValueType::Integer) | (ValueType::Integer, ValueType::Pointer))
}

fn type_mismatch(operator: BinaryOp, left: (SourceSpan, ValueType), right: (SourceSpan, ValueType)) -> Diagnostic {
    let sign = operator.symbol();
    let diagnostic = Diagnostic::error(
        Code::WrongType,
        format!("`{sign}` is not possible for {} and {}", left.1.name(), right.1.name()),
    )
    .with_location(left.0, format!("this is {}", left.1.name()))
    .with_label(right.0, format!("this is {}", right.1.name()));
    let text = left.1 == ValueType::Text || right.1 == ValueType::Text;
    match operator {
        BinaryOp::Add if text => diagnostic.help("join texts by holes: `\"{a} and {b}\"`"),
        _ if [left.1, right.1].iter().any(|ty| matches!(ty, ValueType::Enum(_) | ValueType::Pointer))
            && (left.1 == ValueType::Integer || right.1 == ValueType::Integer || left.1 == right.1) =>
        {
            diagnostic.help("write `number(…)` for the number of an enum value or a pointer")
        }
        BinaryOp::And | BinaryOp::Or => diagnostic.help("both sides must be bool, such as comparisons"),
        _ => diagnostic,
    }
}

/// Whether this is the name of a built-in.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.iter().any(|(builtin, ..)| *builtin == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ValueType::{Any, Bool, Date, Enum, Float, Integer, List, Pointer, Text};

    #[test]
    fn result_types_depend_on_operator_and_operands() {
        for (operator, left, right, result) in [
            (BinaryOp::Add, Integer, Integer, Some(Integer)),
            (BinaryOp::Multiply, Integer, Float, Some(Float)),
            (BinaryOp::Add, Text, Text, None),
            (BinaryOp::Subtract, Date, Integer, Some(Date)),
            (BinaryOp::Subtract, Integer, Date, None),
            (BinaryOp::Subtract, Date, Date, Some(Integer)),
            (BinaryOp::Add, Date, Date, None),
            (BinaryOp::Less, Text, Text, Some(Bool)),
            (BinaryOp::Less, Bool, Bool, None),
            (BinaryOp::Equal, Enum(0), Text, Some(Bool)),
            (BinaryOp::Equal, Enum(0), Enum(1), None),
            (BinaryOp::Equal, Pointer, Integer, Some(Bool)),
            (BinaryOp::Equal, List, List, None),
            (BinaryOp::And, Bool, Integer, None),
            (BinaryOp::And, Bool, Any, Some(Bool)),
            (BinaryOp::Remainder, Any, Integer, Some(Any)),
        ] {
            assert_eq!(result_type(operator, left, right), result, "{left:?} {} {right:?}", operator.symbol());
        }
    }
}
