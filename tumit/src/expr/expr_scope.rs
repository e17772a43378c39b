//! The context of an expression.

use crate::draft::SpecModel;
use crate::spec::{Expr, RecordId};
use crate::value_type::ValueType;

/// The context of an expression: the record type on which it is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExprScope<'m> {
    pub(crate) model: &'m SpecModel,
    pub(crate) record: RecordId,
}

/// Stands for a missing record type: constants are evaluated without a record.
const OF_CONSTANTS: RecordId = RecordId(u32::MAX);
/// Stands for a missing record type: the end of a thread or process has no record.
const OF_ENDS: RecordId = RecordId(u32::MAX - 1);

impl<'m> ExprScope<'m> {
    /// The scope of constants: there is no record.
    pub(crate) fn of_constants(model: &'m SpecModel) -> Self {
        Self { model, record: OF_CONSTANTS }
    }

    /// The scope of the end of a thread or process: it has a stream, but no record.
    pub(crate) fn of_ends(model: &'m SpecModel) -> Self {
        Self { model, record: OF_ENDS }
    }

    /// Whether this is the scope of constants.
    pub(super) fn is_of_constants(&self) -> bool {
        self.record == OF_CONSTANTS
    }

    /// Whether this is the scope of the end of a thread or process.
    pub(crate) fn is_of_ends(&self) -> bool {
        self.record == OF_ENDS
    }
}

pub(super) fn error_value() -> (Expr, ValueType) {
    (Expr::Integer(0), ValueType::Any)
}
