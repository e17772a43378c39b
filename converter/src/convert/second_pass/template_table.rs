//! [`TemplateTable`]: the common data of operations that were evaluated by columns.

use crate::convert::columns::ops::OpTemplate;
use crate::rules::program::{
    ActionOp, ColumnarAction, ColumnarValue, OperandSource, ProgramAction, RecordProgram, ValueCode,
};
use tumit_paje::{ContainerId, TypeId, ValueId, VariableOp};

/// The common data of operations, by template number.
#[derive(Debug, Default)]
pub(crate) struct TemplateTable<'p> {
    /// The data that each operation needs. Small, so that the entries of all streams fit into the
    /// cache.
    pub(super) heads: Vec<TemplateHead>,
    pub(super) bodies: Vec<TemplateBody<'p>>,
}

/// The data that each operation needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct TemplateHead {
    pub(super) effect: TemplateEffect,
    pub(super) value: ValueSource,
    /// The container or stack that was found last: its number, and the id of the container.
    pub(super) stack: u32,
    pub(super) container: ContainerId,
    /// The Pajé type of the action.
    pub(super) ty: TypeId,
    pub(super) declared_value: ValueId,
}

/// The data that few operations need.
#[derive(Debug)]
pub(super) struct TemplateBody<'p> {
    pub(super) program: &'p RecordProgram,
    pub(super) action: &'p ProgramAction,
    pub(super) columnar_action: &'p ColumnarAction,
    pub(super) template: OpTemplate,
}

/// The effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TemplateEffect {
    /// None, because the template is unknown.
    Nothing,
    Push,
    /// Ends the innermost state.
    Pop,
    /// Ends the states down to the innermost one with this value, and that one.
    PopTo,
    Set,
    Reset,
    Mark,
    Variable(VariableOp),
    /// Creates the container, if it does not exist.
    Create,
    Destroy,
}

/// The source of the value of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueSource {
    /// The action itself declares the value.
    Declared,
    /// The operation contains the number of the value.
    Number,
    /// The operation contains the number of the text that names the value (single pass only).
    Text,
    /// The value has another name (single pass only).
    Name,
}

impl TemplateEffect {
    /// Whether the operation changes a stack.
    pub(super) const fn is_of_stack(self) -> bool {
        matches!(self, Self::Push | Self::Pop | Self::PopTo | Self::Set | Self::Reset)
    }
}

impl TemplateHead {
    pub(super) const NOTHING: Self = Self {
        effect: TemplateEffect::Nothing,
        value: ValueSource::Declared,
        stack: NOWHERE,
        container: ContainerId::ROOT,
        ty: TypeId::ROOT,
        declared_value: ValueId(0),
    };

    pub(super) fn new(op: &ActionOp, columnar_action: &ColumnarAction, is_once: bool) -> Self {
        let (effect, ty, code) = match op {
            ActionOp::SetState { ty, value, .. } => (TemplateEffect::Set, *ty, Some(value)),
            ActionOp::PushState { ty, value, .. } => (TemplateEffect::Push, *ty, Some(value)),
            ActionOp::PopState { ty, value: None, .. } => (TemplateEffect::Pop, *ty, None),
            ActionOp::PopState { ty, value, .. } => (TemplateEffect::PopTo, *ty, value.as_ref()),
            ActionOp::ResetState { ty, .. } => (TemplateEffect::Reset, *ty, None),
            ActionOp::Variable { op, ty, .. } => (TemplateEffect::Variable(*op), *ty, None),
            ActionOp::Mark { ty, value, .. } => (TemplateEffect::Mark, *ty, Some(value)),
            ActionOp::Destroy { .. } => (TemplateEffect::Destroy, TypeId::ROOT, None),
            ActionOp::Create { .. } | ActionOp::Link { .. } | ActionOp::Nothing | ActionOp::Line { .. } => {
                (TemplateEffect::Create, TypeId::ROOT, None)
            }
        };
        let (value, declared_value) = match (code, &columnar_action.value) {
            (Some(ValueCode::Declared(value)), _) => (ValueSource::Declared, *value),
            (_, ColumnarValue::Named(_, OperandSource::Cell(cell))) if is_once && cell.is_name() => {
                (ValueSource::Text, ValueId(0))
            }
            (_, ColumnarValue::Named(..)) if is_once => (ValueSource::Name, ValueId(0)),
            _ => (ValueSource::Number, ValueId(0)),
        };
        Self { effect, value, ty, declared_value, ..Self::NOTHING }
    }
}

/// No instance has this number.
pub(super) const NOWHERE: u32 = u32::MAX;
