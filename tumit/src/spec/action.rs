//! Actions of rules, and lines of text outputs.

use super::expr::Expr;
use super::ids::{ContainerTypeId, EntityTypeId, ValueId};
use crate::source_text::SourceSpan;

/// One action of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The effect of the action.
    pub verb: ActionVerb,
    /// The timestamp of the action, instead of that of the record.
    pub timestamp: Option<Expr>,
    /// The condition under which the action is performed.
    pub condition: Option<Expr>,
    /// Extra fields: name and value.
    pub fields: Vec<(String, Expr)>,
    /// Related containers, each with the name of the relation. `waits for semaphore[s]` gives
    /// `("waits for", …)`.
    pub related_instances: Vec<(String, Instance)>,
    /// The part of the container in a collective operation.
    pub collective: Option<CollectiveClause>,
}

/// The part of a container in a collective operation. The state that the action begins lasts as
/// long as the part.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveClause {
    /// The dependences of the operation.
    pub kind: OperationKind,
    /// The communicator. Parts of different communicators belong to different operations.
    pub communicator: Vec<Expr>,
    /// The key of the operation. Without it, the n-th parts of all containers belong together.
    pub key: Option<Vec<Expr>>,
    /// The container that sends to all others, or receives from them.
    pub root: Option<Instance>,
    /// The number of bytes that the container sends or receives.
    pub bytes: Option<Expr>,
}

/// The dependences of a collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperationKind {
    /// No part ends before all have begun.
    Barrier,
    /// No part ends before that of the root has begun.
    OneToAll,
    /// The part of the root does not end before all have begun.
    AllToOne,
    /// As a barrier, and each container sends data to all others.
    AllToAll,
}

impl OperationKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Barrier, Self::OneToAll, Self::AllToOne, Self::AllToAll];

    /// The word in specs and in traces.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::OneToAll => "one-to-all",
            Self::AllToOne => "all-to-one",
            Self::AllToAll => "all-to-all",
        }
    }

    /// Whether one container has another role than the others.
    #[must_use]
    pub const fn has_root(self) -> bool {
        matches!(self, Self::OneToAll | Self::AllToOne)
    }
}

/// The effect of an action.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the field names explain it")]
pub enum ActionVerb {
    /// A container begins.
    Create { container: Instance },
    /// A container ends.
    Destroy { container: Instance },
    /// Replaces all states of the stack with this one.
    SetState { ty: EntityTypeId, value: ValueExpr, instance: Instance },
    /// A nested state begins.
    PushState { ty: EntityTypeId, value: ValueExpr, instance: Instance },
    /// The innermost state ends. With a value, all states end down to the innermost one with this
    /// value.
    PopState { ty: EntityTypeId, value: Option<ValueExpr>, instance: Instance },
    /// All states of the type end.
    ResetState { ty: EntityTypeId, instance: Instance },
    /// A variable is set, increased or decreased.
    Variable { op: VariableChange, ty: EntityTypeId, value: Expr, instance: Instance },
    /// A point event.
    Mark { ty: EntityTypeId, value: ValueExpr, instance: Instance },
    /// A link starts. Without `value`, the link has the default value of its type.
    StartLink { ty: EntityTypeId, value: Option<ValueExpr>, key: Vec<Expr>, from: Instance },
    /// Ends the link of this type with this key.
    EndLink { ty: EntityTypeId, value: Option<ValueExpr>, key: Vec<Expr>, to: Instance },
    /// Shows nothing, not even the default.
    Ignore,
}

/// The operation on a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum VariableChange {
    Set,
    Add,
    Subtract,
}

/// A container: its type and the keys of its whole path, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The declared type, which determines the number of keys.
    pub ty: ContainerTypeId,
    /// One expression per key of the path.
    pub keys: Vec<Expr>,
    /// Whether the rule has `existing`: the action is dropped if the container does not exist.
    /// Without it, the action creates the container.
    pub must_exist: bool,
    /// Its span in [`Spec::sources`](super::Spec::sources). `None` if no rule contains it, as for
    /// the default rules.
    pub span: Option<SourceSpan>,
}

/// The value of a state, event or link.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueExpr {
    /// A declared value of its type.
    Declared(ValueId),
    /// Computed. Its text is the name of the value, declared or undeclared.
    Computed(Expr),
}

/// A text output that template rules produce.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOutput {
    /// The name by which `tumit convert` selects it.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Text at the start of the output.
    pub prologue: String,
    /// Lines of each record: `rules[r]` belongs to `records[r]`.
    pub rules: Vec<Vec<TemplateLine>>,
}

/// One line of output: one action of a template rule.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateLine {
    /// Whether identical lines are written only once. Such lines precede all lines with a
    /// timestamp.
    pub is_unique: bool,
    /// Text between the `@` signs. There is always one piece more than there are arguments.
    pub text: Vec<String>,
    /// The replacement of each `@`.
    pub arguments: Vec<Expr>,
    /// The condition under which the line is written.
    pub condition: Option<Expr>,
    /// Index of the argument with the timestamp of the line. `None`: the timestamp of the record.
    pub timestamp: Option<u32>,
}
