//! The syntax tree of a file, before names are resolved.

use crate::source_text::SourceSpan;
use crate::spec::{BinaryOp, OperationKind, SpecColor, UnaryOp, ValueFormat};

/// A name, without backquotes.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub(crate) text: String,
    pub(crate) span: SourceSpan,
    /// Whether the name is in backquotes.
    pub(crate) raw: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) doc: String,
    pub(crate) items: Vec<Item>,
    /// Names that an unparsable piece of the file seems to declare. Uses of them are not reported
    /// as unknown.
    pub(crate) unparsed: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Trace(Ident),
    /// `version NUMBER;`
    Version(u32, SourceSpan),
    Use(Use),
    Level(Level),
    Enum(Enum),
    /// `type NAME = TYPE;`
    Alias(Alias),
    /// `const NAME = EXPR;`
    Const(Const),
    Paje(Vec<TreeMember>),
    Rule(Rule),
    Output(Output),
}

#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) path: String,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) struct Level {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) is_enabled: bool,
    pub(crate) events: Vec<Event>,
}

/// An event or a span.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) doc: String,
    pub(crate) is_span: bool,
    pub(crate) is_async: Option<SourceSpan>,
    pub(crate) name: Ident,
    pub(crate) has_location: bool,
    pub(crate) fields: Vec<Field>,
    /// `end { … }`: parameters that a span records at its end.
    pub(crate) end_fields: Vec<Field>,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) ty: TypeRef,
}

#[derive(Clone, Debug)]
pub(crate) struct TypeRef {
    pub(crate) kind: TypeKind,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) enum TypeKind {
    Named(Ident),
    /// `[T; N]`
    Fixed(Box<TypeRef>, Count),
    /// `[T]`
    Variable(Box<TypeRef>),
}

#[derive(Clone, Debug)]
pub(crate) enum Count {
    Literal(u64, SourceSpan),
    Named(Ident),
}

#[derive(Clone, Debug)]
pub(crate) struct Enum {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) values: Vec<EnumValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct EnumValue {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    /// `= NUMBER`
    pub(crate) number: Option<(u64, SourceSpan)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Alias {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) ty: TypeRef,
}

#[derive(Clone, Debug)]
pub(crate) struct Const {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) ty: Option<TypeRef>,
    pub(crate) value: Expr,
}

#[derive(Clone, Debug)]
pub(crate) enum TreeMember {
    Container(Container),
    Entity(Entity),
    Category(CategoryDeclaration),
}

/// `category CATEGORY PATTERN, … of TYPE`
#[derive(Clone, Debug)]
pub(crate) struct CategoryDeclaration {
    pub(crate) category: Ident,
    /// Empty: all values.
    pub(crate) values: Vec<NamePatternText>,
    pub(crate) type_pattern: Option<NamePatternText>,
}

/// A name in which `*` stands for any text and `?` for any character.
#[derive(Clone, Debug)]
pub(crate) struct NamePatternText {
    pub(crate) text: String,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) struct Container {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) keys: Vec<Field>,
    pub(crate) label: Option<Text>,
    /// Span of `= stream`.
    pub(crate) stream: Option<SourceSpan>,
    pub(crate) members: Vec<TreeMember>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntityKind {
    State,
    Event,
    Variable,
    Link,
}

#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) doc: String,
    pub(crate) kind: EntityKind,
    pub(crate) name: Ident,
    pub(crate) label: Option<String>,
    pub(crate) color: Option<SpecColor>,
    pub(crate) style: Vec<StyleClause>,
    pub(crate) from: Vec<Ident>,
    pub(crate) to: Vec<Ident>,
    pub(crate) values: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(crate) enum StyleClause {
    Shape(Ident),
    Size(f64, SourceSpan),
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) doc: String,
    pub(crate) name: Ident,
    pub(crate) label: Option<String>,
    pub(crate) color: Option<SpecColor>,
    pub(crate) style: Vec<StyleClause>,
    pub(crate) category: Option<Ident>,
}

#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) doc: String,
    /// The whole item, without its documentation.
    pub(crate) span: SourceSpan,
    pub(crate) is_additional: bool,
    pub(crate) target: Target,
    pub(crate) actions: Vec<Action>,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Level(Ident),
    Default(SourceSpan),
    Event(Path),
}

/// `name` or `name.part`.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) name: Ident,
    pub(crate) part: Option<Ident>,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub(crate) kind: ActionKind,
    pub(crate) clauses: Vec<Clause>,
    pub(crate) verb: SourceSpan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignVerb {
    Set,
    Push,
    Add,
    Subtract,
    Mark,
}

#[derive(Clone, Debug)]
pub(crate) enum ActionKind {
    Create(Instance),
    Destroy(Instance),
    Assign {
        verb: AssignVerb,
        ty: Ident,
        value: Expr,
        instance: Instance,
    },
    Pop {
        ty: Ident,
        value: Option<Expr>,
        instance: Instance,
    },
    Reset {
        ty: Ident,
        instance: Instance,
    },
    Start {
        ty: Ident,
        value: Option<Expr>,
        key: Key,
        instance: Instance,
    },
    End {
        ty: Ident,
        value: Option<Expr>,
        key: Key,
        instance: Instance,
    },
    /// `ignore`: nothing is shown.
    Ignore,
    Template {
        is_unique: bool,
        text: String,
        arguments: Vec<Expr>,
        span: SourceSpan,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) values: Vec<Expr>,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) existing_span: Option<SourceSpan>,
    pub(crate) name: Ident,
    pub(crate) keys: Vec<Expr>,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) kind: ClauseKind,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) enum ClauseKind {
    /// `waits for C`
    Related(String, Instance),
    Collective(Box<WrittenCollective>),
    At(Expr),
    When(Expr),
    With(Vec<WithField>),
}

/// `collective KIND of (…) key (…) root C bytes E`
#[derive(Clone, Debug)]
pub(crate) struct WrittenCollective {
    pub(crate) kind: OperationKind,
    /// The keyword and the kind.
    pub(crate) head: SourceSpan,
    pub(crate) communicator: Option<Key>,
    pub(crate) key: Option<Key>,
    pub(crate) root: Option<Instance>,
    pub(crate) bytes: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct WithField {
    pub(crate) name: Ident,
    pub(crate) value: Option<Expr>,
}

#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) doc: String,
    pub(crate) name: String,
    pub(crate) span: SourceSpan,
    pub(crate) prologue: String,
    pub(crate) rules: Vec<Rule>,
}

/// Text with holes.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) pieces: Vec<TextPiece>,
}

#[derive(Clone, Debug)]
pub(crate) enum TextPiece {
    Literal(String),
    Hole(Expr, ValueFormat),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: SourceSpan,
}

#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(Text),
    Path(Path),
    /// `values[0]`
    Element(Ident, Box<Expr>),
    /// `len(values)`, `color(2)`
    Call(Ident, Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// An expression with an error that is already reported.
    Bad,
}
