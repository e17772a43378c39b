//! Properties of compiled actions and of the containers that they name.

use tracer_format::schema::FieldType;

use super::eval::RecordScope;
use super::program::{ActionOp, ContainerTarget, ExprCode, FieldRead, PathReferent, ProgramAction, ValueCode};
use super::rule_value::{KeyPart, Symbols};
use tumit_paje::TypeId;

impl ContainerTarget {
    /// The container type of the target.
    pub(crate) fn container(&self) -> usize {
        self.steps.last().map_or(0, |step| step.container)
    }

    /// The steps down to the container that holds a link (see `LinkModel::holder`), each with the
    /// keys that distinguish its containers.
    pub(crate) fn holder_steps(&self, holder: usize) -> impl Iterator<Item = &[ExprCode]> {
        let length = self.steps.iter().position(|step| step.container == holder).map_or(0, |index| index + 1);
        self.steps[..length].iter().map(|step| distinguishing_keys(&step.keys))
    }

    /// Whether the target names a process or thread by values that several have.
    pub(crate) fn is_ambiguous(&self, scope: &RecordScope<'_>, scratch: &mut String, symbols: &mut Symbols) -> bool {
        self.by_value.is_some() && self.ambiguous_referent(scope, scratch, symbols).is_some()
    }

    /// The referent that matches several processes or threads.
    pub(crate) fn ambiguous_referent(
        &self,
        scope: &RecordScope<'_>,
        scratch: &mut String,
        symbols: &mut Symbols,
    ) -> Option<&PathReferent> {
        self.keys.iter().find_map(|code| match code {
            ExprCode::Referent(referent) if referent.key(scope, scratch, symbols) == KeyPart::None => Some(&**referent),
            _ => None,
        })
    }
}

/// The keys of a step that distinguish its containers. If all records of a stream belong to one
/// process or thread, its referent alone is sufficient.
pub(crate) fn distinguishing_keys(keys: &[ExprCode]) -> &[ExprCode] {
    match keys.first() {
        Some(ExprCode::Referent(referent)) if referent.is_fixed() => &keys[..1],
        _ => keys,
    }
}

impl ActionOp {
    /// The container of the operation, if the operation is skipped when that container does not
    /// exist.
    pub(crate) fn target(&self) -> Option<&ContainerTarget> {
        match self {
            Self::Destroy { target }
            | Self::SetState { target, .. }
            | Self::PushState { target, .. }
            | Self::PopState { target, .. }
            | Self::ResetState { target, .. }
            | Self::Variable { target, .. }
            | Self::Mark { target, .. } => Some(target),
            Self::Create { .. } | Self::Link { .. } | Self::Nothing | Self::Line { .. } => None,
        }
    }

    /// The type of the state that the operation begins or ends.
    pub(crate) fn state_type(&self) -> Option<TypeId> {
        match self {
            Self::SetState { ty, .. }
            | Self::PushState { ty, .. }
            | Self::PopState { ty, .. }
            | Self::ResetState { ty, .. } => Some(*ty),
            _ => None,
        }
    }

    /// The container of the operation.
    pub(crate) fn container(&self) -> Option<&ContainerTarget> {
        match self {
            Self::Create { target } | Self::Link { target, .. } => Some(target),
            op => op.target(),
        }
    }
}

impl ProgramAction {
    /// The type and field of the value, if the value is computed from one field alone, independent
    /// of the rest of the record.
    pub(crate) fn plain_value(&self) -> Option<(TypeId, &FieldRead)> {
        let (ActionOp::SetState { ty, value, .. }
        | ActionOp::PushState { ty, value, .. }
        | ActionOp::Mark { ty, value, .. }) = &self.op
        else {
            return None;
        };
        let ValueCode::Computed(ExprCode::Field(read)) = value else { return None };
        let is_plain = self.timestamp.is_none() && self.condition.is_none() && read.range.is_some();
        (is_plain && matches!(read.ty, FieldType::One(_))).then_some((*ty, read))
    }

    /// Whether the first pass needs the action: because it may be omitted, names a container,
    /// computes a value or has a timestamp of its own.
    pub(crate) fn is_surveyed(&self) -> bool {
        self.timestamp.is_some()
            || match &self.op {
                ActionOp::Link { .. } | ActionOp::Line { is_unique: true, .. } => true,
                ActionOp::Create { .. } => !self.fields.is_empty(),
                ActionOp::SetState { value, .. } | ActionOp::PushState { value, .. } | ActionOp::Mark { value, .. } => {
                    matches!(value, ValueCode::Computed(_))
                }
                _ => false,
            }
    }
}
