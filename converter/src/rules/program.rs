//! Compiled rules as data: programs, actions, expressions and references.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tracer_format::schema::{FieldInfo, FieldType, Scalar};
use tumit::spec::{BinaryOp, Builtin, ExprFunction, OperationKind, UnaryOp, ValueFormat};

use super::referent_table::{Distinctness, ReferentTable};
use super::rule_value::{RuleValue, SymbolId};
use tumit_paje::{self, TypeId, ValueId};

/// An action that takes its value from one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValueColumn {
    /// The number of the action in its program.
    pub(crate) action: u16,
    /// The column: its position among the parts of the record. The source position can be one.
    pub(crate) part: usize,
}

/// The compiled rules of a record type.
#[derive(Clone, Debug)]
pub(crate) struct RecordProgram {
    /// The spec of the rules.
    pub(crate) spec: SymbolId,
    pub(crate) name: SymbolId,
    /// The name with the end of the span, such as `wait.end`.
    pub(crate) full_name: SymbolId,
    pub(crate) level: SymbolId,
    pub(crate) fields: Vec<FieldInfo>,
    /// The names of the enum values of the schema, by number.
    pub(crate) enums: Arc<[EnumNames]>,
    pub(crate) actions: Vec<ProgramAction>,
    /// Whether its records have a source position.
    pub(crate) has_location: bool,
    /// Whether an action has a timestamp of its own (`at`).
    pub(crate) sets_timestamps: bool,
    /// Whether the first pass needs the records.
    pub(crate) surveyed: bool,
    /// Actions whose values are those of one column. The first pass needs the values of the column,
    /// not their records.
    pub(crate) columns: Vec<ValueColumn>,
    /// The actions, if they can be evaluated by columns.
    pub(crate) columnar_actions: Option<Box<[ColumnarAction]>>,
    /// The link actions that the first pass needs, if they can be evaluated by columns and suffice.
    pub(crate) columnar_links: Option<Box<[ColumnarAction]>>,
}

/// An action of a rule.
#[derive(Clone, Debug)]
pub(crate) struct ProgramAction {
    pub(crate) op: ActionOp,
    pub(crate) timestamp: Option<ExprCode>,
    pub(crate) condition: Option<ExprCode>,
    pub(crate) fields: Vec<(String, ExprCode)>,
    pub(crate) related_targets: Vec<(String, ContainerTarget)>,
    /// Set if the state that it begins is a part of a collective operation.
    pub(crate) collective: Option<Box<CollectivePattern>>,
    /// Whether it names its container by values that several processes or threads can have.
    pub(crate) is_by_value: bool,
}

/// How the part of a container in a collective operation is found.
#[derive(Clone, Debug)]
pub(crate) struct CollectivePattern {
    pub(crate) kind: OperationKind,
    /// Distinguishes the state types and kinds.
    pub(crate) group: usize,
    /// The communicator, and the key of the operation if there is one.
    pub(crate) keys: Vec<ExprCode>,
    /// Whether the keys identify an operation. Otherwise the n-th parts of all containers belong
    /// together.
    pub(crate) has_key: bool,
    pub(crate) root: Option<ContainerTarget>,
}

/// The operation of an action.
#[derive(Clone, Debug)]
pub(crate) enum ActionOp {
    Create {
        target: ContainerTarget,
    },
    Destroy {
        target: ContainerTarget,
    },
    SetState {
        slot: usize,
        ty: TypeId,
        value: ValueCode,
        target: ContainerTarget,
    },
    PushState {
        slot: usize,
        ty: TypeId,
        value: ValueCode,
        target: ContainerTarget,
    },
    PopState {
        slot: usize,
        ty: TypeId,
        value: Option<ValueCode>,
        target: ContainerTarget,
    },
    ResetState {
        slot: usize,
        ty: TypeId,
        target: ContainerTarget,
    },
    Variable {
        op: tumit_paje::VariableOp,
        ty: TypeId,
        value: ExprCode,
        target: ContainerTarget,
    },
    Mark {
        ty: TypeId,
        value: ValueCode,
        target: ContainerTarget,
    },
    Link {
        end: LinkSide,
        link: usize,
        value: Option<LinkValue>,
        key: Vec<ExprCode>,
        target: ContainerTarget,
    },
    /// No operation.
    Nothing,
    /// A line of a text output.
    Line {
        is_unique: bool,
        text: Vec<String>,
        arguments: Vec<ExprCode>,
    },
}

/// An endpoint of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkSide {
    Start,
    Finish,
}

/// The value of a state or event.
#[derive(Clone, Debug)]
pub(crate) enum ValueCode {
    Declared(ValueId),
    Computed(ExprCode),
}

/// The value of a link. Both endpoints together determine its Pajé type.
#[derive(Clone, Debug)]
pub(crate) enum LinkValue {
    Declared(usize),
    Computed(ExprCode),
}

/// A step of the path to a container.
#[derive(Clone, Debug)]
pub(crate) struct TargetStep {
    /// The container type.
    pub(crate) container: usize,
    pub(crate) keys: Vec<ExprCode>,
}

/// A container: the own keys of each container type on its path.
#[derive(Clone, Debug)]
pub(crate) struct ContainerTarget {
    /// The number of the target among all programs, from 0.
    pub(crate) number: usize,
    pub(crate) steps: Vec<TargetStep>,
    /// The keys of all steps that distinguish its container, concatenated.
    pub(crate) keys: Vec<ExprCode>,
    /// Whether the action is skipped if the container does not exist.
    pub(crate) must_exist: bool,
    /// Set if it names a process or thread by values. Several processes or threads may have them.
    pub(crate) by_value: Option<Arc<WrittenReference>>,
}

/// A reference by value as written in its rule, for messages.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrittenReference {
    /// File and line: `app.tumit:12`.
    pub(crate) location: String,
    /// For example `thread[sender]`.
    pub(crate) text: String,
    /// The container type to which it refers.
    pub(crate) container: String,
}

/// An expression whose names are replaced by numbers.
#[derive(Clone, Debug)]
pub(crate) enum ExprCode {
    Const(RuleValue),
    Field(FieldRead),
    Builtin(Builtin),
    Unary(UnaryOp, Box<ExprCode>),
    Binary(BinaryOp, Box<(ExprCode, ExprCode)>),
    Element(FieldRead, Box<ExprCode>),
    Call(ExprFunction, Box<[ExprCode]>),
    /// The value of an enum by its number.
    Lookup(Arc<BTreeMap<u16, SymbolId>>, Box<ExprCode>),
    Text(Box<[TextPart]>),
    /// The process and thread of a container. Only before the keys of the container.
    Referent(Box<PathReferent>),
}

/// A piece of text with placeholders.
#[derive(Clone, Debug)]
pub(crate) enum TextPart {
    Text(String),
    Hole(ExprCode, ValueFormat),
}

/// The names of the values of an enum, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnumNames {
    /// The names of small numbers.
    pub(crate) first: Vec<Option<SymbolId>>,
    pub(crate) sparse_names: BTreeMap<u16, SymbolId>,
}

/// Numbers below this are small.
const FIRST: u16 = 256;

impl EnumNames {
    /// From pairs of number and name. The last name of a number counts.
    pub(crate) fn of(names: impl Iterator<Item = (u16, SymbolId)>) -> Self {
        let (mut first, mut sparse_names) = (Vec::new(), BTreeMap::new());
        for (number, name) in names {
            if number >= FIRST {
                sparse_names.insert(number, name);
                continue;
            }
            let index = usize::from(number);
            first.resize(first.len().max(index + 1), None);
            first[index] = Some(name);
        }
        Self { first, sparse_names }
    }

    #[inline]
    pub(crate) fn get(&self, number: u16) -> Option<SymbolId> {
        match self.first.get(usize::from(number)) {
            Some(name) => *name,
            None => self.sparse_names.get(&number).copied(),
        }
    }
}

/// A field. Its position is constant if all fields before it have constant sizes.
#[derive(Clone, Debug)]
pub(crate) struct FieldRead {
    pub(crate) index: usize,
    pub(crate) ty: FieldType,
    /// The bytes of the field, if they are at a constant position.
    pub(crate) range: Option<Range<usize>>,
}

impl FieldRead {
    pub(crate) fn new(fields: &[FieldInfo], index: usize) -> Self {
        let ty = fields[index].ty;
        let start = fields[..index].iter().try_fold(0usize, |sum, field| Some(sum + field.ty.bytes()?));
        let range = start.and_then(|start| Some(start..start + ty.bytes()?));
        Self { index, ty, range }
    }
}

/// The part of a container's path that makes it distinct per process or thread. It precedes the
/// keys.
#[derive(Clone, Debug)]
pub(crate) struct PathReferent {
    pub(crate) distinctness: Distinctness,
    /// The built-in keys of the path with their values. `None` if each value is the built-in
    /// itself.
    pub(crate) by_value: Option<Box<[(Builtin, ExprCode)]>>,
    pub(crate) table: Arc<ReferentTable>,
}

/// An action that is evaluated by columns.
#[derive(Clone, Debug)]
pub(crate) struct ColumnarAction {
    /// The position in its program.
    pub(crate) action: u16,
    /// The keys of its container.
    pub(crate) container_keys: Vec<FieldCell>,
    pub(crate) value: ColumnarValue,
    /// Set if the operation needs more than a value: source position, link keys or fields.
    pub(crate) wide_words: Option<WideWords>,
}

/// The words of a wide operation, in this order.
#[derive(Clone, Debug)]
pub(crate) struct WideWords {
    /// The id of its source position.
    pub(crate) site: bool,
    /// The value, if there is one.
    pub(crate) value: bool,
    /// The keys of a link and of its container, and the link.
    pub(crate) keys: Vec<OperandSource>,
    pub(crate) link: usize,
    /// The fields that are columns. The other fields are constant in a stream.
    pub(crate) fields: Vec<FieldCell>,
}

impl WideWords {
    /// Number of words.
    pub(crate) fn width(&self) -> usize {
        usize::from(self.site) + usize::from(self.value) + self.keys.len() + self.fields.len()
    }
}

/// The value of an operation.
#[derive(Clone, Debug)]
pub(crate) enum ColumnarValue {
    /// The value of the action, or none.
    Declared,
    /// A value of a type, by its name.
    Named(TypeId, OperandSource),
    Number(OperandSource),
}

/// A key, value or field of an operation.
#[derive(Clone, Debug)]
pub(crate) enum OperandSource {
    /// Constant in a stream.
    Fixed(ExprCode),
    Cell(FieldCell),
}

/// A field at a constant place of the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldCell {
    /// The column: its position among the parts of the record. The source position can be one.
    pub(crate) part: usize,
    pub(crate) scalar: Scalar,
    /// The offset among the bytes of the fields.
    pub(crate) start: usize,
}
