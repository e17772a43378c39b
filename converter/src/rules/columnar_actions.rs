//! Determines the actions that can be evaluated by columns, a block at a time.
//!
//! The container, value, keys and fields of such an action must each be a number, text or name at a
//! constant position of the record, or constant in a stream. All other actions are evaluated record
//! by record.
//!
//! This module contains only the positions of the data. [`RecordScope::key`] and
//! [`RecordScope::eval`] define the keys and values of columns, which are their simple cases. The
//! two passes define the effects of operations.

use std::ops::Range;

use tracer_format::schema::{FieldType, Scalar};
use tumit::spec::Builtin;

use super::eval::RecordScope;
use super::link_keys::LinkKey;
use super::program::{
    ActionOp, ColumnarAction, ColumnarValue, ContainerTarget, EnumNames, ExprCode, FieldCell, FieldRead, LinkValue,
    OperandSource, ProgramAction, ValueCode, WideWords,
};
use super::rule_model::RuleModel;
use super::rule_value::{KeyPart, RuleValue, SymbolId, Symbols};
use super::stream_facts::ProcessFacts;
use tumit_paje::TypeId;

/// The actions of a record type, if all with an effect can be evaluated by columns.
pub(crate) fn columnar_actions(
    actions: &[ProgramAction],
    has_location: bool,
    model: &RuleModel,
) -> Option<Box<[ColumnarAction]>> {
    let columnar_actions = (0u16..).zip(actions).filter(|(_, action)| !matches!(action.op, ActionOp::Nothing));
    columnar_actions.map(|(number, action)| columnar_action(number, action, has_location, model)).collect()
}

/// The link endpoints of a record type for the first pass, if it needs nothing else of the records.
pub(crate) fn columnar_links(
    actions: &[ProgramAction],
    has_location: bool,
    model: &RuleModel,
) -> Option<Box<[ColumnarAction]>> {
    let surveyed = |action: &ProgramAction| action.is_surveyed() && action.plain_value().is_none();
    let actions = (0u16..).zip(actions).filter(|(_, action)| surveyed(action));
    let link = |(number, action): (u16, &ProgramAction)| {
        let ActionOp::Link { link, value, key, target, .. } = &action.op else { return None };
        if action.timestamp.is_some() || action.condition.is_some() || matches!(value, Some(LinkValue::Computed(_))) {
            return None;
        }
        let keys = link_parts(*link, key, target, has_location, model)?;
        let wide = WideWords { site: false, value: false, keys, link: *link, fields: Vec::new() };
        Some(ColumnarAction {
            action: number,
            container_keys: Vec::new(),
            value: ColumnarValue::Declared,
            wide_words: Some(wide),
        })
    };
    actions.map(link).collect()
}

fn columnar_action(
    number: u16,
    action: &ProgramAction,
    has_location: bool,
    model: &RuleModel,
) -> Option<ColumnarAction> {
    if action.timestamp.is_some()
        || action.condition.is_some()
        || !action.related_targets.is_empty()
        || action.collective.is_some()
    {
        return None;
    }
    let (on, value) = match &action.op {
        ActionOp::Create { target } | ActionOp::Destroy { target } | ActionOp::ResetState { target, .. } => {
            (target, ColumnarValue::Declared)
        }
        ActionOp::SetState { ty, value, target: on, .. }
        | ActionOp::PushState { ty, value, target: on, .. }
        | ActionOp::Mark { ty, value, target: on } => (on, named_value(*ty, Some(value), has_location)?),
        ActionOp::PopState { ty, value, target: on, .. } => (on, named_value(*ty, value.as_ref(), has_location)?),
        ActionOp::Variable { value, target: on, .. } => {
            (on, ColumnarValue::Number(part(value, has_location).filter(OperandSource::is_number)?))
        }
        ActionOp::Link { value, target: on, .. } if !matches!(value, Some(LinkValue::Computed(_))) => {
            (on, ColumnarValue::Declared)
        }
        ActionOp::Link { .. } | ActionOp::Nothing | ActionOp::Line { .. } => return None,
    };
    // The thread of a reference by value may depend on the time of the record.
    if on.by_value.is_some()
        && on.keys.iter().any(|key| matches!(key, ExprCode::Referent(referent) if referent.is_of_thread()))
    {
        return None;
    }
    let is_key = |key: &&ExprCode| !matches!(key, ExprCode::Referent(_));
    let sources =
        on.keys.iter().filter(is_key).map(|key| part(key, has_location)).collect::<Option<Vec<OperandSource>>>()?;
    let container_keys = sources.into_iter().filter_map(OperandSource::cell).collect();
    let has_details = matches!(
        action.op,
        ActionOp::SetState { .. } | ActionOp::PushState { .. } | ActionOp::Mark { .. } | ActionOp::Link { .. }
    );
    let (link, keys) = match &action.op {
        ActionOp::Link { link, key, target: on, .. } => (Some(*link), link_parts(*link, key, on, has_location, model)?),
        _ => (None, Vec::new()),
    };
    if link.is_none() && (!has_details || action.fields.is_empty() && !has_location) {
        return Some(ColumnarAction { action: number, container_keys, value, wide_words: None });
    }
    let fields =
        action.fields.iter().map(|(_, code)| part(code, has_location)).collect::<Option<Vec<OperandSource>>>()?;
    let fields = fields.into_iter().filter_map(OperandSource::cell).collect();
    let is_valued = !matches!(value, ColumnarValue::Declared);
    let wide = WideWords { site: has_location, value: is_valued, keys, link: link.unwrap_or(0), fields };
    Some(ColumnarAction { action: number, container_keys, value, wide_words: Some(wide) })
}

fn named_value(ty: TypeId, value: Option<&ValueCode>, has_location: bool) -> Option<ColumnarValue> {
    Some(match value {
        None | Some(ValueCode::Declared(_)) => ColumnarValue::Declared,
        Some(ValueCode::Computed(code)) => ColumnarValue::Named(ty, part(code, has_location)?),
    })
}

fn link_parts(
    link: usize,
    key: &[ExprCode],
    target: &ContainerTarget,
    has_location: bool,
    model: &RuleModel,
) -> Option<Vec<OperandSource>> {
    if target.by_value.is_some() {
        return None;
    }
    let codes = target.holder_steps(model.links[link].holder).flatten().chain(key);
    let parts = codes.map(|code| part(code, has_location)).collect::<Option<Vec<OperandSource>>>()?;
    (parts.len() <= LinkKey::SHORT).then_some(parts)
}

fn part(code: &ExprCode, has_location: bool) -> Option<OperandSource> {
    match code {
        ExprCode::Const(_) => Some(OperandSource::Fixed(code.clone())),
        ExprCode::Builtin(
            Builtin::Pid
            | Builtin::Tid
            | Builtin::Rank
            | Builtin::Host
            | Builtin::ThreadName
            | Builtin::Event
            | Builtin::Level,
        ) => Some(OperandSource::Fixed(code.clone())),
        ExprCode::Field(read) => FieldCell::of(read, has_location).map(OperandSource::Cell),
        ExprCode::Referent(referent) => referent.is_own().then(|| OperandSource::Fixed(code.clone())),
        _ => None,
    }
}

impl OperandSource {
    fn cell(self) -> Option<FieldCell> {
        match self {
            Self::Cell(cell) => Some(cell),
            Self::Fixed(_) => None,
        }
    }

    fn is_number(&self) -> bool {
        !matches!(self, Self::Cell(cell) if cell.is_name())
    }
}

impl FieldCell {
    /// A field with simple values: integers, 64-bit floats, pointers, interned texts, enum names.
    fn of(read: &FieldRead, has_location: bool) -> Option<Self> {
        let (Some(Range { start, .. }), FieldType::One(scalar)) = (read.range.clone(), read.ty) else { return None };
        let is_plain = match scalar {
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 => true,
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => true,
            Scalar::F64 | Scalar::Pointer | Scalar::Enum { .. } | Scalar::Interned => true,
            Scalar::F32 | Scalar::Bool | Scalar::Date | Scalar::String | Scalar::Bytes => false,
        };
        is_plain.then_some(Self { part: read.index + usize::from(has_location), scalar, start })
    }

    /// Appends the values of a column as words: numbers as 64 bits, texts and names as the numbers
    /// of their symbols. `None` if a value is not simple: a number above the largest
    /// [`RuleValue::Int`], a missing text, an enum number without a name. Linear in the number of
    /// values.
    pub(crate) fn words(
        &self,
        column: &[u8],
        facts: &ProcessFacts,
        enums: &[EnumNames],
        out: &mut Vec<u64>,
    ) -> Option<()> {
        match self.scalar {
            Scalar::U8 => out.extend(column.iter().map(|byte| u64::from(*byte))),
            Scalar::U16 => extend(column, out, |bytes| u16::from_le_bytes(bytes).into()),
            Scalar::U32 => extend(column, out, |bytes| u32::from_le_bytes(bytes).into()),
            Scalar::I8 => extend(column, out, |bytes| i64::from(i8::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I16 => extend(column, out, |bytes| i64::from(i16::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I32 => extend(column, out, |bytes| i64::from(i32::from_le_bytes(bytes)).cast_unsigned()),
            Scalar::I64 | Scalar::F64 => extend(column, out, u64::from_le_bytes),
            Scalar::U64 | Scalar::Pointer => {
                let from = out.len();
                extend(column, out, u64::from_le_bytes);
                let union = out[from..].iter().fold(0, |union, word| union | word);
                i64::try_from(union).ok()?;
            }
            Scalar::Interned => {
                let string_of = |id: [u8; 4]| facts.strings.get(u32::from_le_bytes(id) as usize).copied().flatten();
                for id in column.as_chunks().0 {
                    out.push(string_of(*id)?.0.into());
                }
            }
            Scalar::Enum { index, is_wide } => {
                let names = enums.get(index as usize)?;
                if is_wide {
                    for number in column.as_chunks().0 {
                        out.push(names.get(u16::from_le_bytes(*number))?.0.into());
                    }
                } else {
                    for number in column {
                        out.push(names.get(u16::from(*number))?.0.into());
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether the values are texts or names. Their numbers have 32 bits.
    pub(crate) fn is_name(&self) -> bool {
        matches!(self.scalar, Scalar::Interned | Scalar::Enum { .. })
    }

    /// The value of a word of this column.
    pub(crate) fn val(&self, word: u64) -> RuleValue {
        match self.scalar {
            Scalar::Interned | Scalar::Enum { .. } => RuleValue::Sym(SymbolId(u32::try_from(word).unwrap_or(u32::MAX))),
            Scalar::F64 => RuleValue::Float(f64::from_bits(word)),
            Scalar::Pointer => RuleValue::Pointer(word),
            _ => RuleValue::Int(word.cast_signed()),
        }
    }

    /// The key of a word of this column.
    pub(crate) fn key(&self, word: u64) -> KeyPart {
        match self.scalar {
            Scalar::Interned | Scalar::Enum { .. } => KeyPart::Sym(SymbolId(u32::try_from(word).unwrap_or(u32::MAX))),
            Scalar::F64 => KeyPart::Float(word),
            _ => KeyPart::Int(word.cast_signed()),
        }
    }
}

fn extend<const N: usize>(column: &[u8], out: &mut Vec<u64>, word: impl Fn([u8; N]) -> u64) {
    out.extend(column.as_chunks().0.iter().map(|bytes| word(*bytes)));
}

/// The value of code that is constant in a stream.
pub(crate) fn constant_value(code: &ExprCode, scope: &RecordScope<'_>, symbols: &Symbols) -> RuleValue {
    scope.eval(code, &mut String::new(), symbols)
}
