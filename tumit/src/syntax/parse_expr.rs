//! Expressions.

use pest::Parser as _;

use super::ast::{Expr, ExprKind, Path};
use super::ast_builder::{AstBuilder, ParseNode, children};
use super::grammar::{Rule, SpecGrammar};
use super::{brackets_and_quotes, recover};
use crate::diagnostics::{Code, Diagnostic};
use crate::source_text::SourceSpan;
use crate::spec::{BinaryOp, UnaryOp};

/// Maximum number of operators in one expression, including its brackets and holes.
///
/// Functions recurse over the tree of an expression, so its height must be limited.
const MAX_OPERATORS: usize = 200;

impl AstBuilder<'_> {
    /// An expression with all its brackets and holes. Their operators are counted together.
    pub(super) fn expr(&mut self, node: ParseNode<'_>) -> Expr {
        if self.operators.is_some() {
            return self.part(node);
        }
        let span = self.span(&node);
        self.operators = Some(0);
        let expr = self.part(node);
        let total = self.operators.take().unwrap_or_default();
        if total > MAX_OPERATORS { self.too_long(span) } else { expr }
    }

    /// Adds to the number of operators. Returns whether the number is still within the limit.
    fn count(&mut self, operators: usize) -> bool {
        let total = self.operators.unwrap_or_default() + operators;
        self.operators = Some(total);
        total <= MAX_OPERATORS
    }

    /// A whole expression, or one in the brackets or holes of another.
    fn part(&mut self, node: ParseNode<'_>) -> Expr {
        let span = self.span(&node);
        let parts: Vec<ParseNode<'_>> = node.into_inner().collect();
        if !self.count(parts.len() / 2) {
            return Expr { kind: ExprKind::Bad, span };
        }
        let mut operators: Vec<(BinaryOp, u8)> = Vec::new();
        let mut operands: Vec<Expr> = Vec::new();
        for part in parts {
            if part.as_rule() == Rule::unary {
                let operand = self.unary(part);
                operands.push(operand);
                continue;
            }
            let (operator, strength) = self.binary_operator(&part);
            while operators.last().is_some_and(|(_, before)| *before >= strength) {
                reduce(&mut operators, &mut operands);
            }
            operators.push((operator, strength));
        }
        while !operators.is_empty() {
            reduce(&mut operators, &mut operands);
        }
        operands.pop().unwrap_or(Expr { kind: ExprKind::Bad, span })
    }

    fn too_long(&mut self, span: SourceSpan) -> Expr {
        self.push(
            Diagnostic::error(Code::TooDeep, "the expression is too long")
                .with_location(span, format!("more than {MAX_OPERATORS} operators"))
                .help("record parts of it as parameters, or compute them in constants"),
        );
        Expr { kind: ExprKind::Bad, span }
    }

    fn binary_operator(&mut self, node: &ParseNode<'_>) -> (BinaryOp, u8) {
        let instead = match node.as_str() {
            "&&" => "and",
            "||" => "or",
            _ => "",
        };
        if !instead.is_empty() {
            let span = self.span(node);
            self.push(
                Diagnostic::error(Code::Syntax, format!("`{}` is not an operator", node.as_str()))
                    .with_location(span, "unknown operator")
                    .help(format!("write `{instead}`")),
            );
        }
        operator(node.as_str())
    }

    fn unary(&mut self, node: ParseNode<'_>) -> Expr {
        let span = self.span(&node);
        let is_prefix = |child: &ParseNode<'_>| child.as_rule() == Rule::unary_op;
        if !self.count(node.clone().into_inner().filter(is_prefix).count()) {
            return Expr { kind: ExprKind::Bad, span };
        }
        let mut prefixes: Vec<(UnaryOp, SourceSpan)> = Vec::new();
        let mut operand = Expr { kind: ExprKind::Bad, span };
        for child in children(node) {
            if is_prefix(&child) {
                prefixes.push((self.unary_operator(&child), self.span(&child)));
            } else {
                operand = self.primary_expr(child);
            }
        }
        for (operator, offset) in prefixes.into_iter().rev() {
            let span = offset.joined_with(operand.span);
            operand = Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span };
        }
        operand
    }

    fn unary_operator(&mut self, node: &ParseNode<'_>) -> UnaryOp {
        match node.as_str() {
            "-" => UnaryOp::Minus,
            "!" => {
                let span = self.span(node);
                self.push(
                    Diagnostic::error(Code::Syntax, "`!` is not an operator")
                        .with_location(span, "unknown operator")
                        .help("write `not`"),
                );
                UnaryOp::Not
            }
            _ => UnaryOp::Not,
        }
    }

    fn primary_expr(&mut self, node: ParseNode<'_>) -> Expr {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::paren => {
                let inner = children(node).next();
                return inner.map_or(Expr { kind: ExprKind::Bad, span }, |inner| self.expr(inner));
            }
            Rule::string => ExprKind::Text(self.text_with_holes(&node)),
            Rule::float => ExprKind::Float(self.float(&node)),
            Rule::integer => ExprKind::Integer(self.integer(&node)),
            Rule::boolean => ExprKind::Bool(node.as_str() == "true"),
            _ => self.named_expr(node).unwrap_or(ExprKind::Bad),
        };
        Expr { kind, span }
    }

    /// A name with its suffix: `name`, `enum.value`, `list[0]`, `function(x)`.
    fn named_expr(&mut self, node: ParseNode<'_>) -> Option<ExprKind> {
        let mut parts = children(node);
        let name = self.ident(&parts.next()?);
        let Some(next) = parts.next() else { return Some(ExprKind::Path(Path { name, part: None })) };
        Some(match next.as_rule() {
            Rule::call => ExprKind::Call(name, self.expressions(next)),
            Rule::element => ExprKind::Element(name, Box::new(self.expressions(next).pop()?)),
            _ => ExprKind::Path(Path { name, part: Some(self.ident(&next)) }),
        })
    }

    pub(super) fn path(&mut self, node: ParseNode<'_>) -> Option<Path> {
        let mut names = children(node).filter(|child| child.as_rule() == Rule::name).map(|child| self.ident(&child));
        let name = names.next()?;
        Some(Path { name, part: names.next() })
    }

    /// The expression in a hole of a text. `start` is its offset in the file.
    pub(super) fn hole(&mut self, text: &str, start: usize) -> Expr {
        let span = SourceSpan::new(self.file, start..start + text.len());
        if brackets_and_quotes::is_too_deep(text) {
            self.push(
                Diagnostic::error(Code::TooDeep, "brackets are nested too deeply")
                    .with_location(span, "in this hole of a text")
                    .help("write a simpler expression"),
            );
            return Expr { kind: ExprKind::Bad, span };
        }
        match SpecGrammar::parse(Rule::only_expr, text) {
            Ok(mut pairs) => {
                let old_offset = std::mem::replace(&mut self.offset, start);
                let node = pairs.next().and_then(|only| only.into_inner().next());
                let expr = node.map_or(Expr { kind: ExprKind::Bad, span }, |node| self.expr(node));
                self.offset = old_offset;
                expr
            }
            Err(error) => {
                let offset = recover::offset(&error).min(text.len());
                let position = start + offset;
                let length = text[offset..].chars().next().map_or(0, char::len_utf8);
                self.push(
                    Diagnostic::error(Code::Syntax, "a hole of a text does not contain an expression")
                        .with_location(
                            SourceSpan::new(self.file, position..position + length),
                            recover::expectation(&error).replace(recover::END, "an operator, `:` or `}`"),
                        )
                        .help("write `{{` and `}}` for braces in the text"),
                );
                Expr { kind: ExprKind::Bad, span }
            }
        }
    }
}

/// Combines the two last operands with the last operator.
fn reduce(operators: &mut Vec<(BinaryOp, u8)>, operands: &mut Vec<Expr>) {
    if let (Some((operator, _)), Some(right), Some(left)) = (operators.pop(), operands.pop(), operands.pop()) {
        let span = left.span.joined_with(right.span);
        operands.push(Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span });
    }
}

/// An operator and its precedence.
fn operator(text: &str) -> (BinaryOp, u8) {
    match text {
        "or" | "||" => (BinaryOp::Or, 1),
        "and" | "&&" => (BinaryOp::And, 2),
        "==" => (BinaryOp::Equal, 3),
        "!=" => (BinaryOp::NotEqual, 3),
        "<" => (BinaryOp::Less, 3),
        "<=" => (BinaryOp::LessEqual, 3),
        ">" => (BinaryOp::Greater, 3),
        ">=" => (BinaryOp::GreaterEqual, 3),
        "-" => (BinaryOp::Subtract, 4),
        "*" => (BinaryOp::Multiply, 5),
        "/" => (BinaryOp::Divide, 5),
        "%" => (BinaryOp::Remainder, 5),
        _ => (BinaryOp::Add, 4),
    }
}
