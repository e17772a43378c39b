//! Announces the field sets of operations to the sink before the first operation. They are guessed
//! from the rules.
//!
//! A wrong guess is harmless, because a sink accepts field sets that were not announced.

use std::io;

use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::{BinaryOp, Builtin, ExprFunction, UnaryOp};

use crate::convert::first_pass::survey::FirstPassResult;
use crate::rules::program::{ActionOp, ExprCode, LinkSide, ProgramAction, RecordProgram};
use crate::rules::rule_value::{KeyPart, RuleValue};
use tumit_paje::collective;
use tumit_paje::{EventOperation, ExtraFieldKind, FieldSet, PajeSink};

/// Announces the field sets of all actions that have fields, related containers or a source
/// position.
pub(crate) fn announce(
    programs: &[RecordProgram],
    survey: &FirstPassResult,
    sink: &mut dyn PajeSink,
) -> io::Result<()> {
    for program in programs {
        for action in &program.actions {
            let Some(operation) = operation(&action.op) else { continue };
            let mut fields: Vec<(&str, ExtraFieldKind)> = Vec::new();
            if let Some(pattern) = &action.collective {
                fields.push((collective::OPERATION, ExtraFieldKind::Integer));
                fields.extend(pattern.root.iter().map(|_| (collective::IS_ROOT, ExtraFieldKind::Integer)));
            }
            fields.extend(action.fields.iter().map(|(name, code)| (name.as_str(), kind(code))));
            let root = action.collective.as_ref().and_then(|pattern| pattern.root.as_ref());
            fields.extend(root.map(|_| (collective::ROOT, ExtraFieldKind::Container)));
            fields.extend(related_fields(action));
            let source = program.has_location && operation != EventOperation::CreateContainer;
            if !fields.is_empty() || source {
                sink.announce(&FieldSet { operation, fields: &fields, source })?;
            }
        }
    }
    // The fields of each `create` are known exactly. The first use may also create a container.
    for given in survey.names_in_order() {
        let fields: Vec<(&str, ExtraFieldKind)> =
            given.iter().map(|(name, key)| (name.as_str(), kind_of_key(*key))).collect();
        sink.announce(&FieldSet { operation: EventOperation::CreateContainer, fields: &fields, source: false })?;
    }
    Ok(())
}

fn related_fields(action: &ProgramAction) -> impl Iterator<Item = (&str, ExtraFieldKind)> {
    action.related_targets.iter().map(|(how, _)| (how.as_str(), ExtraFieldKind::Container))
}

fn operation(op: &ActionOp) -> Option<EventOperation> {
    Some(match op {
        ActionOp::SetState { .. } => EventOperation::SetState,
        ActionOp::PushState { .. } => EventOperation::PushState,
        ActionOp::Mark { .. } => EventOperation::NewEvent,
        ActionOp::Link { end: LinkSide::Start, .. } => EventOperation::StartLink,
        ActionOp::Link { end: LinkSide::Finish, .. } => EventOperation::EndLink,
        _ => return None,
    })
}

/// The most likely type of the value of an expression.
fn kind(code: &ExprCode) -> ExtraFieldKind {
    match code {
        ExprCode::Const(RuleValue::Int(_)) => ExtraFieldKind::Integer,
        ExprCode::Const(RuleValue::Float(_)) => ExtraFieldKind::Float,
        ExprCode::Const(_) | ExprCode::Text(_) | ExprCode::Unary(UnaryOp::Not, _) => ExtraFieldKind::Text,
        ExprCode::Field(read) => match read.ty {
            FieldType::One(scalar) if scalar != Scalar::Bytes => kind_of_scalar(scalar),
            FieldType::One(_) | FieldType::Fixed(..) | FieldType::Variable(_) => ExtraFieldKind::Text,
        },
        ExprCode::Builtin(Builtin::Pid | Builtin::Tid | Builtin::Rank | Builtin::Line) => ExtraFieldKind::Integer,
        ExprCode::Builtin(_) => ExtraFieldKind::Text,
        ExprCode::Unary(UnaryOp::Minus, operand) => kind(operand),
        ExprCode::Binary(
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder,
            operands,
        ) => match (kind(&operands.0), kind(&operands.1)) {
            (ExtraFieldKind::Integer, ExtraFieldKind::Integer) => ExtraFieldKind::Integer,
            (ExtraFieldKind::Float, _) | (_, ExtraFieldKind::Float) => ExtraFieldKind::Float,
            _ => ExtraFieldKind::Text,
        },
        ExprCode::Call(ExprFunction::Abs | ExprFunction::Min | ExprFunction::Max, arguments) => {
            arguments.first().map_or(ExtraFieldKind::Text, kind)
        }
        ExprCode::Call(..) => ExtraFieldKind::Integer,
        ExprCode::Element(list, _) => match list.ty {
            FieldType::Fixed(scalar, _) | FieldType::Variable(scalar) | FieldType::One(scalar) => {
                kind_of_scalar(scalar)
            }
        },
        ExprCode::Lookup(..) | ExprCode::Binary(..) | ExprCode::Referent(_) => ExtraFieldKind::Text,
    }
}

fn kind_of_scalar(scalar: Scalar) -> ExtraFieldKind {
    match scalar {
        Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::Bytes => ExtraFieldKind::Integer,
        Scalar::F64 => ExtraFieldKind::Float,
        _ => ExtraFieldKind::Text,
    }
}

fn kind_of_key(key: KeyPart) -> ExtraFieldKind {
    match key {
        KeyPart::Int(_) => ExtraFieldKind::Integer,
        KeyPart::Float(_) => ExtraFieldKind::Float,
        _ => ExtraFieldKind::Text,
    }
}
