//! Constants: evaluated by the compiler, each after the constants that it needs.

use std::collections::BTreeMap;

use super::declared_names::check_name;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::draft::SpecModel;
use crate::expr::ExprScope;
use crate::expr::constant_folding::{FoldError, MAX_TEXT, fold};
use crate::spec::{self, Expr};
use crate::syntax::ast::{self, Const, ExprKind, Item, TextPiece, TypeRef};
use crate::value_type::ValueType;

impl SpecModel {
    /// Declares and evaluates all constants.
    pub(super) fn constants_of<'a>(&mut self, items: impl Iterator<Item = &'a Item>, diagnostics: &mut Diagnostics) {
        let mut constants: Vec<&Const> = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for item in items {
            let Item::Const(constant) = item else { continue };
            check_name(&constant.name, diagnostics);
            if let Some(first) = places.get(constant.name.text.as_str()) {
                super::declared_names::duplicate("constant", &constant.name, constants[*first].name.span, diagnostics);
                continue;
            }
            places.insert(&constant.name.text, constants.len());
            constants.push(constant);
        }
        let needs: Vec<Vec<usize>> = constants
            .iter()
            .map(|constant| {
                let mut names = Vec::new();
                names_in(&constant.value, &mut names);
                names.iter().filter_map(|name| places.get(name.as_str()).copied()).collect()
            })
            .collect();
        for constant in order(&needs, |constant| self.report_circular(constants[constant], diagnostics)) {
            self.constant(constants[constant], diagnostics);
        }
        for constant in constants {
            let Some((value, _)) = self.constants.get(&constant.name.text) else { continue };
            let (name, doc) = (constant.name.text.clone(), constant.doc.clone());
            self.spec.constants.push(spec::Constant { name, doc, value: value.clone() });
        }
    }

    fn report_circular(&mut self, constant: &Const, diagnostics: &mut Diagnostics) {
        diagnostics.push(
            Diagnostic::error(Code::Circular, format!("constant `{}` depends on itself", constant.name.text))
                .with_location(constant.value.span, "refers to its own declaration")
                .help("write a value into one constant of the cycle"),
        );
        self.unparsed.insert(constant.name.text.clone());
    }

    fn constant(&mut self, constant: &Const, diagnostics: &mut Diagnostics) {
        let name = &constant.name.text;
        if self.unparsed.contains(name) {
            return;
        }
        let (value, ty) = ExprScope::of_constants(self).expr(&constant.value, diagnostics);
        let folded = if ty == ValueType::Any { Err(None) } else { fold(&value, &self.spec).map_err(Some) };
        match folded {
            Ok(value) => {
                if let Some(declared) = &constant.ty {
                    self.check_constant_type(declared, &value, ty, diagnostics);
                }
                self.constants.insert(name.clone(), (value, ty));
            }
            Err(error) => {
                if let Some(reason) = error {
                    diagnostics.push(no_value(constant, reason));
                }
                self.unparsed.insert(name.clone());
            }
        }
    }

    fn check_constant_type(&self, ty: &TypeRef, value: &Expr, value_type: ValueType, diagnostics: &mut Diagnostics) {
        let Some(field_type) = self.field_type(ty, diagnostics) else { return };
        let expected = ValueType::of_field(field_type);
        if expected != value_type && !(expected == ValueType::Float && value_type == ValueType::Integer) {
            diagnostics.push(
                Diagnostic::error(Code::WrongType, "the constant has another type")
                    .with_location(ty.span, format!("the value is {}", value_type.name())),
            );
        }
        let tracer_format::FieldType::One(scalar) = field_type else { return };
        if let (Expr::Integer(value), Some((minimum, maximum))) = (value, crate::draft::integer_range(scalar))
            && !(minimum..=maximum).contains(&i128::from(*value))
        {
            diagnostics.push(
                Diagnostic::error(Code::OutOfRange, format!("{value} is out of range for the type of the constant"))
                    .with_location(ty.span, format!("expected {minimum} to {maximum}")),
            );
        }
    }
}

fn no_value(constant: &Const, error: FoldError) -> Diagnostic {
    if error == FoldError::TooLong {
        let title = format!("constant `{}` is a text with more than {MAX_TEXT} bytes", constant.name.text);
        return Diagnostic::error(Code::TooLarge, title)
            .with_location(constant.value.span, "too long")
            .help("write long texts directly at their use");
    }
    let label = match error {
        FoldError::NoValue | FoldError::TooLong => {
            "out of 64 bits, not finite, a division by zero, or not a value of the enum"
        }
        FoldError::Depends => "unknown when the spec is compiled",
    };
    Diagnostic::error(Code::NoValue, format!("constant `{}` has no value", constant.name.text))
        .with_location(constant.value.span, label)
}

/// All names in an expression. The parser limits the depth of the recursion.
pub(crate) fn names_in(expr: &ast::Expr, names: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Path(path) => names.push(path.name.text.clone()),
        ExprKind::Element(name, index) => {
            names.push(name.text.clone());
            names_in(index, names);
        }
        ExprKind::Call(name, arguments) => {
            names.push(name.text.clone());
            arguments.iter().for_each(|argument| names_in(argument, names));
        }
        ExprKind::Unary(_, operand) => names_in(operand, names),
        ExprKind::Binary(_, left, right) => {
            names_in(left, names);
            names_in(right, names);
        }
        ExprKind::Text(text) => {
            for piece in &text.pieces {
                if let TextPiece::Hole(hole, _) = piece {
                    names_in(hole, names);
                }
            }
        }
        ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Bad => {}
    }
}

/// A topological order: every node comes after the nodes that it needs.
///
/// The search is depth first, without recursion, and linear in nodes and needs. It calls `circular`
/// with each node that closes a cycle.
fn order(dependencies: &[Vec<usize>], mut circular: impl FnMut(usize)) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum ConstantState {
        New,
        Open,
        Done,
    }
    let mut states = vec![ConstantState::New; dependencies.len()];
    let mut out = Vec::new();
    for root in 0..dependencies.len() {
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            if next == 0 && states[node] != ConstantState::New {
                continue;
            }
            states[node] = ConstantState::Open;
            match dependencies[node].get(next) {
                Some(needed) => {
                    stack.push((node, next + 1));
                    match states[*needed] {
                        ConstantState::New => stack.push((*needed, 0)),
                        ConstantState::Open => circular(*needed),
                        ConstantState::Done => {}
                    }
                }
                None => {
                    states[node] = ConstantState::Done;
                    out.push(node);
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn what_is_needed_comes_first() {
        assert_eq!(order(&[vec![1, 2], vec![2], vec![]], |_| panic!("no circle")), [2, 1, 0]);
        let mut circles = Vec::new();
        assert_eq!(order(&[vec![1], vec![0], vec![0]], |constant| circles.push(constant)).len(), 3);
        assert_eq!(circles, [0]);
        let chain: Vec<Vec<usize>> =
            (0..100_000).map(|constant| if constant == 0 { vec![] } else { vec![constant - 1] }).rev().collect();
        assert_eq!(chain.len(), 100_000);
    }
}
