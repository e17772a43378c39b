//! From the actions of a rule to the [`Arrow`]s of a program.

use std::sync::Arc;

use tracer_format::schema::Field;
use tumit::Spec;
use tumit::spec::{self, Expr, Function, Instance, Piece, ValueExpr, VariableOp, Verb};

use super::super::model::Model;
use super::super::program::{Code, FieldRead, Referent, TextPiece};
use super::super::referent_table::{Distinct, builtin_key};
use super::super::value::{Symbols, Val};
use super::distinguishing;
use super::tree::{Entity, Tree};
use crate::rules::program::{Arrow, End, LinkValue, Op, Reference, Target, ValueCode};
use tumit_paje::{self, TypeId};

/// The name of a field that a rule asks for and the run does not have.
pub(crate) struct Missing(pub(crate) String);

/// Compiles the actions of one record type.
pub(crate) struct Compiler<'c> {
    pub(crate) spec: &'c Spec,
    pub(crate) tree: &'c Tree,
    pub(crate) model: &'c mut Model,
    pub(crate) symbols: &'c mut Symbols,
    /// As recorded.
    pub(crate) fields: &'c [Field],
    /// As the rules know them.
    pub(crate) record: &'c [Field],
    /// The record is the end of a span without its parameters. Fields of `with` clauses that need
    /// them are left out.
    pub(crate) is_absent_end: bool,
}

impl Compiler<'_> {
    pub(crate) fn arrow(&mut self, action: &spec::Action) -> Result<Arrow, Missing> {
        let op = match &action.verb {
            Verb::Create { container } => Op::Create { on: self.target(container)? },
            Verb::Destroy { container } => Op::Destroy { on: self.target(container)? },
            Verb::SetState { ty, value, on } => {
                let (slot, ty, value) = self.state(*ty, value)?;
                Op::SetState { slot, ty, value, on: self.target(on)? }
            }
            Verb::PushState { ty, value, on } => {
                let (slot, ty, value) = self.state(*ty, value)?;
                Op::PushState { slot, ty, value, on: self.target(on)? }
            }
            Verb::PopState { ty, value, on } => {
                let (slot, paje) = self.slot(*ty);
                let value = value.as_ref().map(|value| self.state(*ty, value)).transpose()?.map(|(_, _, value)| value);
                Op::PopState { slot, ty: paje, value, on: self.target(on)? }
            }
            Verb::ResetState { ty, on } => {
                let (slot, ty) = self.slot(*ty);
                Op::ResetState { slot, ty, on: self.target(on)? }
            }
            Verb::Variable { op, ty, value, on } => {
                let Entity::Variable { ty } = self.tree.entities[ty.index()] else {
                    unreachable!("the language checks natures")
                };
                let op = match op {
                    VariableOp::Set => tumit_paje::VariableOp::Set,
                    VariableOp::Add => tumit_paje::VariableOp::Add,
                    VariableOp::Subtract => tumit_paje::VariableOp::Subtract,
                };
                Op::Variable { op, ty, value: self.code(value)?, on: self.target(on)? }
            }
            Verb::Mark { ty, value, on } => {
                let Entity::Event { ty, values } = &self.tree.entities[ty.index()] else {
                    unreachable!("the language checks natures")
                };
                let value = match value {
                    ValueExpr::Declared(id) => ValueCode::Declared(values[id.index()]),
                    ValueExpr::Computed(expr) => ValueCode::Computed(self.code(expr)?),
                };
                Op::Mark { ty: *ty, value, on: self.target(on)? }
            }
            Verb::StartLink { ty, value, key, from } => self.link(End::Start, *ty, value.as_ref(), key, from)?,
            Verb::Ignore => Op::Nothing,
            Verb::EndLink { ty, value, key, to } => self.link(End::Finish, *ty, value.as_ref(), key, to)?,
        };
        let mut with = Vec::with_capacity(action.with.len());
        for (name, expr) in &action.with {
            match self.code(expr) {
                Ok(code) => with.push((name.clone(), code)),
                Err(_) if self.is_absent_end => {}
                Err(missing) => return Err(missing),
            }
        }
        let related =
            action.related.iter().map(|(how, whom)| Ok((how.clone(), self.target(whom)?))).collect::<Result<_, _>>()?;
        let is_by_value = op.container().is_some_and(|on| on.by_value.is_some());
        let (at, when) = (self.option(action.at.as_ref())?, self.option(action.when.as_ref())?);
        Ok(Arrow { op, at, when, with, related, is_by_value })
    }

    pub(crate) fn line(&mut self, line: &spec::TemplateLine) -> Result<Arrow, Missing> {
        let arguments: Vec<Code> = line.arguments.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?;
        let at = line.date.filter(|_| !line.once).and_then(|date| line.arguments.get(date as usize));
        // The record's own date needs no evaluation.
        let at = at.filter(|expr| !matches!(expr, Expr::Builtin(spec::Builtin::Date)));
        let at = self.option(at)?;
        Ok(Arrow {
            op: Op::Line { once: line.once, text: line.text.clone(), arguments },
            at,
            when: self.option(line.when.as_ref())?,
            with: Vec::new(),
            related: Vec::new(),
            is_by_value: false,
        })
    }

    fn link(
        &mut self,
        end: End,
        ty: spec::EntityTypeId,
        value: Option<&ValueExpr>,
        key: &[Expr],
        on: &Instance,
    ) -> Result<Op, Missing> {
        let Entity::Link { link } = self.tree.entities[ty.index()] else { unreachable!("the language checks natures") };
        let value = match value {
            None => None,
            Some(ValueExpr::Declared(id)) => Some(LinkValue::Declared(id.index())),
            Some(ValueExpr::Computed(expr)) => Some(LinkValue::Computed(self.code(expr)?)),
        };
        let mut key: Vec<Code> = key.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?;
        if self.model.links[link].is_partial {
            // Tasks of different processes may have equal numbers.
            key.push(Code::Referent(Box::new(Referent::new(Distinct::Process, &[], &self.model.referents))));
        }
        Ok(Op::Link { end, link, value, key, on: self.target(on)? })
    }

    fn slot(&self, ty: spec::EntityTypeId) -> (usize, TypeId) {
        match &self.tree.entities[ty.index()] {
            Entity::State { slot, ty, .. } => (*slot, *ty),
            _ => unreachable!("the language checks natures"),
        }
    }

    fn state(&mut self, ty: spec::EntityTypeId, value: &ValueExpr) -> Result<(usize, TypeId, ValueCode), Missing> {
        let (slot, paje) = self.slot(ty);
        let value = match (value, &self.tree.entities[ty.index()]) {
            (ValueExpr::Declared(id), Entity::State { values, .. }) => ValueCode::Declared(values[id.index()]),
            (ValueExpr::Declared(_), _) => unreachable!("the language checks natures"),
            (ValueExpr::Computed(expr), _) => ValueCode::Computed(self.code(expr)?),
        };
        Ok((slot, paje, value))
    }

    /// Gives each type of the path its share of the keys. A type whose containers are distinct per
    /// process or thread gets a referent in front of its keys.
    fn target(&mut self, instance: &Instance) -> Result<Target, Missing> {
        let mut keys = instance.keys.iter();
        let mut steps: Vec<(usize, Vec<Code>)> = Vec::new();
        let mut builtins = Vec::new();
        for ty in self.spec.path(instance.ty) {
            let container = self.tree.containers[ty.index()];
            let names = self.model.containers[container].keys.clone();
            let mut own = Vec::new();
            for (name, key) in names.iter().zip(keys.by_ref()) {
                let code = self.code(key)?;
                builtins.extend(builtin_key(name).map(|builtin| (builtin, code.clone())));
                own.push(code);
            }
            steps.push((container, own));
        }
        let mut is_by_value = false;
        for (container, own) in &mut steps {
            if let Some(distinct) = self.model.containers[*container].distinct {
                let referent = Referent::new(distinct, &builtins, &self.model.referents);
                is_by_value |= !referent.is_own();
                own.insert(0, Code::Referent(Box::new(referent)));
            }
        }
        let keys = steps.iter().flat_map(|(_, keys)| distinguishing(keys)).cloned().collect();
        let by_value = is_by_value.then(|| Arc::new(self.reference(instance)));
        Ok(Target { number: self.model.next_target(), steps, keys, existing: instance.existing, by_value })
    }

    /// A reference by value as its rule has it.
    fn reference(&self, instance: &Instance) -> Reference {
        let container = self.spec.containers[instance.ty.index()].name.clone();
        let (place, text) = match instance.span.and_then(|span| self.spec.source_at(span)) {
            Some((file, line, text)) => (format!("{file}:{line}"), text.to_owned()),
            None => (format!("spec `{}`", self.spec.name), container.clone()),
        };
        Reference { place, text, container }
    }

    fn option(&mut self, expr: Option<&Expr>) -> Result<Option<Code>, Missing> {
        expr.map(|expr| self.code(expr)).transpose()
    }

    fn code(&mut self, expr: &Expr) -> Result<Code, Missing> {
        Ok(match expr {
            Expr::Integer(value) => Code::Const(Val::Int(*value)),
            Expr::Float(value) => Code::Const(Val::Float(*value)),
            Expr::Bool(value) => Code::Const(Val::Bool(*value)),
            Expr::Text(pattern) => self.text(&pattern.0)?,
            Expr::Field(index) => Code::Field(self.field(*index)?),
            Expr::Element(index, place) => Code::Element(self.field(*index)?, Box::new(self.code(place)?)),
            Expr::Call(Function::Lookup(index), arguments) => {
                let values = self.spec.enums.get(*index as usize).map_or(&[][..], |item| &item.values);
                let names = values.iter().map(|value| (value.number, self.symbols.intern(&value.name))).collect();
                let number = arguments.first().map_or(Ok(Code::Const(Val::None)), |number| self.code(number))?;
                Code::Lookup(Arc::new(names), Box::new(number))
            }
            Expr::Call(function, arguments) => {
                let arguments: Vec<Code> =
                    arguments.iter().map(|argument| self.code(argument)).collect::<Result<_, _>>()?;
                Code::Call(*function, arguments.into())
            }
            Expr::Builtin(builtin) => Code::Builtin(*builtin),
            Expr::Unary(op, operand) => Code::Unary(*op, Box::new(self.code(operand)?)),
            Expr::Binary(op, left, right) => Code::Binary(*op, Box::new((self.code(left)?, self.code(right)?))),
        })
    }

    /// How the field of the rules' record is found in the run's.
    fn field(&self, index: u32) -> Result<FieldRead, Missing> {
        let name = &self.record[index as usize].name;
        let found = self.fields.iter().position(|field| field.name == *name);
        found.map(|index| FieldRead::new(self.fields, index)).ok_or_else(|| Missing(name.clone()))
    }

    fn text(&mut self, pieces: &[Piece]) -> Result<Code, Missing> {
        if let [] | [Piece::Text(_)] = pieces {
            let text = if let [Piece::Text(text)] = pieces { text } else { "" };
            return Ok(Code::Const(Val::Sym(self.symbols.intern(text))));
        }
        let pieces: Vec<TextPiece> = pieces
            .iter()
            .map(|piece| {
                Ok(match piece {
                    Piece::Text(text) => TextPiece::Text(text.clone()),
                    Piece::Name(name, _) => TextPiece::Text(format!("{{{name}}}")),
                    Piece::Expr(expr, format) => TextPiece::Hole(self.code(expr)?, *format),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(Code::Text(pieces.into()))
    }
}
