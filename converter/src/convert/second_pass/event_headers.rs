//! The shapes of the events that programs will make, told to the sink before the first of them.
//!
//! A wrong guess does no harm: a sink may meet a shape that was not announced.

use std::io;

use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::{BinaryOp, Builtin, Function, UnaryOp};

use crate::convert::first_pass::survey::Survey;
use crate::rules::program::{Arrow, Code, End, Op, Program};
use crate::rules::value::{KeyPart, Val};
use tumit_paje::{FieldKind, Operation, Shape, Sink};

/// Announces the shapes of all arrows that have fields, related containers or a source position.
pub(crate) fn announce(programs: &[Program], survey: &Survey, sink: &mut dyn Sink) -> io::Result<()> {
    for program in programs {
        for arrow in &program.arrows {
            let Some(operation) = operation(&arrow.op) else { continue };
            let mut fields: Vec<(&str, FieldKind)> = Vec::new();
            fields.extend(arrow.with.iter().map(|(name, code)| (name.as_str(), kind(code))));
            fields.extend(related(arrow));
            let source = program.located && operation != Operation::CreateContainer;
            if !fields.is_empty() || source {
                sink.announce(&Shape { operation, fields: &fields, source })?;
            }
        }
    }
    // What `create` was given is known exactly; a container may also be made by its first use.
    for given in survey.names_in_order() {
        let fields: Vec<(&str, FieldKind)> =
            given.iter().map(|(name, key)| (name.as_str(), kind_of_key(*key))).collect();
        sink.announce(&Shape { operation: Operation::CreateContainer, fields: &fields, source: false })?;
    }
    Ok(())
}

fn related(arrow: &Arrow) -> impl Iterator<Item = (&str, FieldKind)> {
    arrow.related.iter().map(|(how, _)| (how.as_str(), FieldKind::Container))
}

fn operation(op: &Op) -> Option<Operation> {
    Some(match op {
        Op::SetState { .. } => Operation::SetState,
        Op::PushState { .. } => Operation::PushState,
        Op::Mark { .. } => Operation::NewEvent,
        Op::Link { end: End::Start, .. } => Operation::StartLink,
        Op::Link { end: End::Finish, .. } => Operation::EndLink,
        _ => return None,
    })
}

/// What an expression will most likely give.
fn kind(code: &Code) -> FieldKind {
    match code {
        Code::Const(Val::Int(_)) => FieldKind::Integer,
        Code::Const(Val::Float(_)) => FieldKind::Float,
        Code::Const(_) | Code::Text(_) | Code::Unary(UnaryOp::Not, _) => FieldKind::Text,
        Code::Field(read) => match read.ty {
            FieldType::One(scalar) if scalar != Scalar::Bytes => kind_of_scalar(scalar),
            FieldType::One(_) | FieldType::Fixed(..) | FieldType::Variable(_) => FieldKind::Text,
        },
        Code::Builtin(Builtin::Pid | Builtin::Tid | Builtin::Rank | Builtin::Line) => FieldKind::Integer,
        Code::Builtin(_) => FieldKind::Text,
        Code::Unary(UnaryOp::Minus, operand) => kind(operand),
        Code::Binary(
            BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder,
            operands,
        ) => match (kind(&operands.0), kind(&operands.1)) {
            (FieldKind::Integer, FieldKind::Integer) => FieldKind::Integer,
            (FieldKind::Float, _) | (_, FieldKind::Float) => FieldKind::Float,
            _ => FieldKind::Text,
        },
        Code::Call(Function::Abs | Function::Min | Function::Max, arguments) => {
            arguments.first().map_or(FieldKind::Text, kind)
        }
        Code::Call(..) => FieldKind::Integer,
        Code::Element(list, _) => match list.ty {
            FieldType::Fixed(scalar, _) | FieldType::Variable(scalar) | FieldType::One(scalar) => {
                kind_of_scalar(scalar)
            }
        },
        Code::Lookup(..) | Code::Binary(..) | Code::Referent(_) => FieldKind::Text,
    }
}

fn kind_of_scalar(scalar: Scalar) -> FieldKind {
    match scalar {
        Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::Bytes => FieldKind::Integer,
        Scalar::F64 => FieldKind::Float,
        _ => FieldKind::Text,
    }
}

fn kind_of_key(key: KeyPart) -> FieldKind {
    match key {
        KeyPart::Int(_) => FieldKind::Integer,
        KeyPart::Float(_) => FieldKind::Float,
        _ => FieldKind::Text,
    }
}
