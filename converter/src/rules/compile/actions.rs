//! Compiles the actions of a rule to the [`ProgramAction`]s of a program.

use std::sync::Arc;

use tracer_format::schema::FieldInfo;
use tumit::Spec;
use tumit::spec::{
    self, ActionVerb, CollectiveClause, Expr, ExprFunction, Instance, OperationKind, PatternPiece, ValueExpr,
    ValueFormat, VariableChange,
};

use super::type_tree::{TreeEntity, TypeTree};
use crate::rules::action_properties::distinguishing_keys;
use crate::rules::program::{
    ActionOp, CollectivePattern, ContainerTarget, LinkSide, LinkValue, ProgramAction, TargetStep, ValueCode,
    WrittenReference,
};
use crate::rules::program::{ExprCode, FieldRead, PathReferent, TextPart};
use crate::rules::referent_table::{Distinctness, builtin_key};
use crate::rules::rule_model::RuleModel;
use crate::rules::rule_value::{RuleValue, Symbols};
use tumit_paje::{self, TypeId, collective};

/// The name of a field that a rule needs and the run does not have.
pub(crate) struct MissingField(pub(crate) String);

/// Fields, and the pattern of a part of a collective operation.
type CollectiveCode = (Vec<(String, ExprCode)>, Option<Box<CollectivePattern>>);

/// The stack of a state type.
struct StateSlot {
    /// The position of the stack in its container.
    slot: usize,
    ty: TypeId,
}

/// Compiles the actions of one record type.
pub(crate) struct ActionCompiler<'c> {
    pub(crate) spec: &'c Spec,
    pub(crate) tree: &'c TypeTree,
    pub(crate) model: &'c mut RuleModel,
    pub(crate) symbols: &'c mut Symbols,
    /// The recorded fields.
    pub(crate) fields: &'c [FieldInfo],
    /// The fields in the spec of the rules.
    pub(crate) record: &'c [FieldInfo],
    /// The record is the end of a span without its parameters. Fields of `with` clauses that need
    /// them are left out.
    pub(crate) is_absent_end: bool,
}

impl ActionCompiler<'_> {
    pub(crate) fn compile(&mut self, action: &spec::Action) -> Result<ProgramAction, MissingField> {
        let op = match &action.verb {
            ActionVerb::Create { container } => ActionOp::Create { target: self.target(container)? },
            ActionVerb::Destroy { container } => ActionOp::Destroy { target: self.target(container)? },
            ActionVerb::SetState { ty, value, instance } => {
                let (StateSlot { slot, ty }, value) = (self.slot(*ty), self.state_value(*ty, value)?);
                ActionOp::SetState { slot, ty, value, target: self.target(instance)? }
            }
            ActionVerb::PushState { ty, value, instance: container } => {
                let (StateSlot { slot, ty }, value) = (self.slot(*ty), self.state_value(*ty, value)?);
                ActionOp::PushState { slot, ty, value, target: self.target(container)? }
            }
            ActionVerb::PopState { ty, value, instance: container } => {
                let value = value.as_ref().map(|value| self.state_value(*ty, value)).transpose()?;
                let StateSlot { slot, ty } = self.slot(*ty);
                ActionOp::PopState { slot, ty, value, target: self.target(container)? }
            }
            ActionVerb::ResetState { ty, instance: container } => {
                let StateSlot { slot, ty } = self.slot(*ty);
                ActionOp::ResetState { slot, ty, target: self.target(container)? }
            }
            ActionVerb::Variable { op, ty, value, instance: container } => {
                let TreeEntity::Variable { ty } = self.tree.entities[ty.index()] else {
                    unreachable!("the language has checked the kinds of types")
                };
                let op = match op {
                    VariableChange::Set => tumit_paje::VariableOp::Set,
                    VariableChange::Add => tumit_paje::VariableOp::Add,
                    VariableChange::Subtract => tumit_paje::VariableOp::Subtract,
                };
                ActionOp::Variable { op, ty, value: self.code(value)?, target: self.target(container)? }
            }
            ActionVerb::Mark { ty, value, instance: container } => {
                let TreeEntity::Event { ty, values } = &self.tree.entities[ty.index()] else {
                    unreachable!("the language has checked the kinds of types")
                };
                let value = match value {
                    ValueExpr::Declared(id) => ValueCode::Declared(values[id.index()]),
                    ValueExpr::Computed(expr) => ValueCode::Computed(self.code(expr)?),
                };
                ActionOp::Mark { ty: *ty, value, target: self.target(container)? }
            }
            ActionVerb::StartLink { ty, value, key, from } => {
                self.link(LinkSide::Start, *ty, value.as_ref(), key, from)?
            }
            ActionVerb::Ignore => ActionOp::Nothing,
            ActionVerb::EndLink { ty, value, key, to } => self.link(LinkSide::Finish, *ty, value.as_ref(), key, to)?,
        };
        let (mut fields, collective) = match &action.collective {
            Some(clause) => self.collective(clause, &op)?,
            None => (Vec::new(), None),
        };
        self.add_fields(action, &mut fields)?;
        let related = action
            .related_instances
            .iter()
            .map(|(how, whom)| Ok((how.clone(), self.target(whom)?)))
            .collect::<Result<_, _>>()?;
        let is_by_value = op.container().is_some_and(|container| container.by_value.is_some());
        let (timestamp, condition) = (self.option(action.timestamp.as_ref())?, self.option(action.condition.as_ref())?);
        Ok(ProgramAction { op, timestamp, condition, fields, related_targets: related, collective, is_by_value })
    }

    /// Adds the fields of the clause `with`.
    fn add_fields(&mut self, action: &spec::Action, fields: &mut Vec<(String, ExprCode)>) -> Result<(), MissingField> {
        for (name, expr) in &action.fields {
            match self.code(expr) {
                Ok(code) => fields.push((name.clone(), code)),
                Err(_) if self.is_absent_end => {}
                Err(missing) => return Err(missing),
            }
        }
        Ok(())
    }

    pub(crate) fn line(&mut self, line: &spec::TemplateLine) -> Result<ProgramAction, MissingField> {
        let arguments: Vec<ExprCode> = line.arguments.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?;
        let date =
            line.timestamp.filter(|_| !line.is_unique).and_then(|timestamp| line.arguments.get(timestamp as usize));
        // The timestamp of the record itself needs no evaluation.
        let date = date.filter(|expr| !matches!(expr, Expr::Builtin(spec::Builtin::Date)));
        let date = self.option(date)?;
        Ok(ProgramAction {
            op: ActionOp::Line { is_unique: line.is_unique, text: line.text.clone(), arguments },
            timestamp: date,
            condition: self.option(line.condition.as_ref())?,
            fields: Vec::new(),
            related_targets: Vec::new(),
            collective: None,
            is_by_value: false,
        })
    }

    fn link(
        &mut self,
        end: LinkSide,
        ty: spec::EntityTypeId,
        value: Option<&ValueExpr>,
        key: &[Expr],
        instance: &Instance,
    ) -> Result<ActionOp, MissingField> {
        let TreeEntity::Link { link } = self.tree.entities[ty.index()] else {
            unreachable!("the language has checked the kinds of types")
        };
        let value = match value {
            None => None,
            Some(ValueExpr::Declared(id)) => Some(LinkValue::Declared(id.index())),
            Some(ValueExpr::Computed(expr)) => Some(LinkValue::Computed(self.code(expr)?)),
        };
        let mut key: Vec<ExprCode> = key.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?;
        if self.model.links[link].is_partial {
            // Tasks of different processes may have equal numbers.
            key.push(ExprCode::Referent(Box::new(PathReferent::new(
                Distinctness::Process,
                &[],
                &self.model.referents,
            ))));
        }
        Ok(ActionOp::Link { end, link, value, key, target: self.target(instance)? })
    }

    /// The pattern of a part of a collective operation, and the fields that describe it.
    fn collective(&mut self, clause: &CollectiveClause, op: &ActionOp) -> Result<CollectiveCode, MissingField> {
        let mut fields = Vec::new();
        let word = self.symbols.intern(clause.kind.word());
        fields.push((collective::KIND.to_owned(), ExprCode::Const(RuleValue::Sym(word))));
        let communicator: Vec<ExprCode> =
            clause.communicator.iter().map(|expr| self.code(expr)).collect::<Result<_, _>>()?;
        let shown = match &communicator[..] {
            [] => None,
            [code] => Some(code.clone()),
            _ => Some(list_text(&communicator)),
        };
        fields.extend(shown.map(|code| (collective::COMMUNICATOR.to_owned(), code)));
        if let Some(bytes) = self.option(clause.bytes.as_ref())? {
            fields.push((collective::BYTES.to_owned(), bytes));
        }
        let mut keys = communicator;
        for expr in clause.key.iter().flatten() {
            keys.push(self.code(expr)?);
        }
        let root = clause.root.as_ref().map(|root| self.target(root)).transpose()?;
        let (ActionOp::SetState { ty, .. } | ActionOp::PushState { ty, .. }) = op else { return Ok((fields, None)) };
        // Keys with and without an explicit key differ in number or in this bit.
        let group =
            (ty.0 as usize * OperationKind::ALL.len() + clause.kind as usize) * 2 + usize::from(clause.key.is_some());
        let pattern = CollectivePattern { kind: clause.kind, group, keys, has_key: clause.key.is_some(), root };
        Ok((fields, Some(Box::new(pattern))))
    }

    fn slot(&self, ty: spec::EntityTypeId) -> StateSlot {
        match &self.tree.entities[ty.index()] {
            TreeEntity::State { slot, ty, .. } => StateSlot { slot: *slot, ty: *ty },
            _ => unreachable!("the language has checked the kinds of types"),
        }
    }

    fn state_value(&mut self, ty: spec::EntityTypeId, value: &ValueExpr) -> Result<ValueCode, MissingField> {
        match (value, &self.tree.entities[ty.index()]) {
            (ValueExpr::Declared(id), TreeEntity::State { values, .. }) => Ok(ValueCode::Declared(values[id.index()])),
            (ValueExpr::Declared(_), _) => unreachable!("the language has checked the kinds of types"),
            (ValueExpr::Computed(expr), _) => Ok(ValueCode::Computed(self.code(expr)?)),
        }
    }

    /// Gives each type of the path its share of the keys. A type whose containers are distinct per
    /// process or thread gets a referent in front of its keys.
    fn target(&mut self, instance: &Instance) -> Result<ContainerTarget, MissingField> {
        let mut keys = instance.keys.iter();
        let mut steps: Vec<TargetStep> = Vec::new();
        let mut builtins = Vec::new();
        for ty in self.spec.path(instance.ty) {
            let container = self.tree.containers[ty.index()];
            let names = self.model.containers[container].keys.clone();
            let mut step_keys = Vec::new();
            for (name, key) in names.iter().zip(keys.by_ref()) {
                let code = self.code(key)?;
                builtins.extend(builtin_key(name).map(|builtin| (builtin, code.clone())));
                step_keys.push(code);
            }
            steps.push(TargetStep { container, keys: step_keys });
        }
        let mut is_by_value = false;
        for step in &mut steps {
            if let Some(distinct) = self.model.containers[step.container].distinctness {
                let referent = PathReferent::new(distinct, &builtins, &self.model.referents);
                is_by_value |= !referent.is_own();
                step.keys.insert(0, ExprCode::Referent(Box::new(referent)));
            }
        }
        let keys = steps.iter().flat_map(|step| distinguishing_keys(&step.keys)).cloned().collect();
        let by_value = is_by_value.then(|| Arc::new(self.reference(instance)));
        Ok(ContainerTarget { number: self.model.next_target(), steps, keys, must_exist: instance.must_exist, by_value })
    }

    /// A reference by value as written in its rule.
    fn reference(&self, instance: &Instance) -> WrittenReference {
        let container = self.spec.containers[instance.ty.index()].name.clone();
        let (location, text) = match instance.span.and_then(|span| self.spec.source_at(span)) {
            Some(source) => (format!("{}:{}", source.path, source.line), source.text.to_owned()),
            None => (format!("spec `{}`", self.spec.name), container.clone()),
        };
        WrittenReference { location, text, container }
    }

    fn option(&mut self, expr: Option<&Expr>) -> Result<Option<ExprCode>, MissingField> {
        expr.map(|expr| self.code(expr)).transpose()
    }

    fn code(&mut self, expr: &Expr) -> Result<ExprCode, MissingField> {
        Ok(match expr {
            Expr::Integer(value) => ExprCode::Const(RuleValue::Int(*value)),
            Expr::Float(value) => ExprCode::Const(RuleValue::Float(*value)),
            Expr::Bool(value) => ExprCode::Const(RuleValue::Bool(*value)),
            Expr::Text(pattern) => self.text(&pattern.0)?,
            Expr::Field(index) => ExprCode::Field(self.field(*index)?),
            Expr::Element(index, position) => ExprCode::Element(self.field(*index)?, Box::new(self.code(position)?)),
            Expr::Call(ExprFunction::Lookup(index), arguments) => {
                let values = self.spec.enums.get(*index as usize).map_or(&[][..], |item| &item.values);
                let names = values.iter().map(|value| (value.number, self.symbols.intern(&value.name))).collect();
                let number =
                    arguments.first().map_or(Ok(ExprCode::Const(RuleValue::None)), |number| self.code(number))?;
                ExprCode::Lookup(Arc::new(names), Box::new(number))
            }
            Expr::Call(function, arguments) => {
                let arguments: Vec<ExprCode> =
                    arguments.iter().map(|argument| self.code(argument)).collect::<Result<_, _>>()?;
                ExprCode::Call(*function, arguments.into())
            }
            Expr::Builtin(builtin) => ExprCode::Builtin(*builtin),
            Expr::Unary(op, operand) => ExprCode::Unary(*op, Box::new(self.code(operand)?)),
            Expr::Binary(op, left, right) => ExprCode::Binary(*op, Box::new((self.code(left)?, self.code(right)?))),
        })
    }

    /// Finds a field of the rules' record in the record of the run.
    fn field(&self, index: u32) -> Result<FieldRead, MissingField> {
        let name = &self.record[index as usize].name;
        let position = self.fields.iter().position(|field| field.name == *name);
        position.map(|index| FieldRead::new(self.fields, index)).ok_or_else(|| MissingField(name.clone()))
    }

    fn text(&mut self, pieces: &[PatternPiece]) -> Result<ExprCode, MissingField> {
        if let [] | [PatternPiece::Text(_)] = pieces {
            let text = if let [PatternPiece::Text(text)] = pieces { text } else { "" };
            return Ok(ExprCode::Const(RuleValue::Sym(self.symbols.intern(text))));
        }
        let pieces: Vec<TextPart> = pieces
            .iter()
            .map(|piece| {
                Ok(match piece {
                    PatternPiece::Text(text) => TextPart::Text(text.clone()),
                    PatternPiece::Name(name, _) => TextPart::Text(format!("{{{name}}}")),
                    PatternPiece::Expr(expr, format) => TextPart::Hole(self.code(expr)?, *format),
                })
            })
            .collect::<Result<_, _>>()?;
        Ok(ExprCode::Text(pieces.into()))
    }
}

/// The text of several values, separated by commas.
fn list_text(codes: &[ExprCode]) -> ExprCode {
    let mut pieces = Vec::new();
    for code in codes {
        if !pieces.is_empty() {
            pieces.push(TextPart::Text(", ".to_owned()));
        }
        pieces.push(TextPart::Hole(code.clone(), ValueFormat::default()));
    }
    ExprCode::Text(pieces.into())
}
