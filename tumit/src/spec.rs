//! `Spec`: all that the language says, checked and resolved. Generators, the converter and the printer of documentation
//! read this and nothing else; they never see syntax.
//!
//! Names have become typed indexes into the arenas of [`Spec`]. Rules for levels, spans and defaults have been lowered:
//! every record type has its own list of actions.

mod expr;

use tracer_format::schema::{RecordKind, RecordType, Schema};

pub use expr::{Align, BinaryOp, Builtin, Expr, Format, Function, Notation, Pattern, Piece, UnaryOp};

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in its arena.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

id! {
    /// Index into [`Spec::levels`].
    LevelId
    /// Index into [`Spec::records`]: an event, or one end of a span.
    RecordId
    /// Index into [`Spec::containers`].
    ContainerTypeId
    /// Index into [`Spec::entities`].
    EntityTypeId
    /// Index into [`EntityType::values`] of its type.
    ValueId
}

/// A compiled spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// `trace NAME;`
    pub name: String,
    /// The `//!` text.
    pub doc: String,
    /// `version NUMBER;` of the spec; 0 if it says none.
    pub version: u32,
    /// Constants in declared order.
    pub constants: Vec<Constant>,
    /// `type NAME = TYPE;` in declared order.
    pub aliases: Vec<Alias>,
    /// Levels in declared order.
    pub levels: Vec<Level>,
    /// Named enums of integers with names.
    pub enums: Vec<Enum>,
    /// Record types. A span has two consecutive ones, `NAME.begin` and `NAME.end`. The [absent
    /// ends](Span::absent_end) follow after all others. Each has the name of the end that it
    /// represents.
    pub records: Vec<Record>,
    /// Spans, as pairs of record types.
    pub spans: Vec<Span>,
    /// Numbers of the spans with [absent ends](Span::absent_end), in the order of these at the end
    /// of `records`.
    pub absent_ends: Vec<u32>,
    /// Container types; a parent stands before its children.
    pub containers: Vec<ContainerType>,
    /// State, event, variable and link types, in declared order.
    pub entities: Vec<EntityType>,
    /// What each record does to the picture: `rules[r]` belongs to `records[r]`. Empty: nothing was said about it, and the
    /// default holds (see [`Spec::has_rules`]).
    pub rules: Vec<Vec<Action>>,
    /// Actions at the ends of threads and processes: `rule thread.end`, `rule process.end`.
    pub end_rules: EndRules,
    /// Rules as they were written, in their order: for documentation.
    pub rule_texts: Vec<RuleText>,
    /// Text outputs made by template rules.
    pub outputs: Vec<TextOutput>,
    /// The files it was compiled from; the first is the root.
    pub sources: Vec<SourceFile>,
}

/// Actions at the ends of threads and processes. These have neither parameters nor links.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EndRules {
    /// At the end of each thread.
    pub thread: Vec<Action>,
    /// At the end of each process, after its threads have ended.
    pub process: Vec<Action>,
}

/// A group of events that is switched on and off together.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// On at the start of a program unless its environment says otherwise.
    pub enabled: bool,
}

/// An enum type of the spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Enum {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Its values, in declared order.
    pub values: Vec<EnumValue>,
}

impl Enum {
    /// Some number needs two bytes in a record.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.values.iter().any(|value| value.number > 0xFF)
    }
}

/// A value of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Stands for it in records. Unique in its enum.
    pub number: u16,
}

/// `const NAME = VALUE;`
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// A literal: computed when the spec was compiled.
    pub value: Expr,
}

/// `type NAME = TYPE;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The type, as it was written.
    pub text: String,
}

/// A rule as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its `///` text.
    pub doc: String,
    /// From `rule` or `also` to its `;`.
    pub text: String,
    /// The records on which it acts; empty if it never does.
    pub records: Vec<RecordId>,
}

/// An event, or one end of a span: what is recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The name that users wrote: of the event, or of the span without `.begin`.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Its level.
    pub level: LevelId,
    /// Layout of its bytes, with its full name (`iteration.begin`).
    pub layout: RecordType,
    /// What was written about each field of the layout, in the same order.
    pub fields: Vec<FieldText>,
}

/// What a spec says about a field beside its name and layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldText {
    /// Its `///` text.
    pub doc: String,
    /// The type as it was written: `[rank; 4]`.
    pub written: String,
}

/// A span: a begin and an end from one declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Name as declared.
    pub name: String,
    /// Holds the parameters.
    pub begin: RecordId,
    /// Holds `task` of an `async` span, and the parameters declared after `end`.
    pub end: RecordId,
    /// A second record type with the name of the end. It represents an end without its parameters,
    /// and holds only `task`. Only spans with `end { … }` have it. The rules of the end apply to
    /// it.
    pub absent_end: Option<RecordId>,
    /// Declared `async`: it may leave its thread and go on elsewhere, in parts. Both ends have `task: u64` as their first
    /// field, which says what belongs together.
    pub is_async: bool,
}

/// A type of container.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerType {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The type it is inside, if any.
    pub parent: Option<ContainerTypeId>,
    /// Names of its own keys (those of its parents come first in a path).
    pub keys: Vec<String>,
    /// How an instance is named on the screen.
    pub pattern: Pattern,
    /// `= stream`: spans without rules appear here; every key of the path is a stream built-in.
    pub stream: Option<Vec<Expr>>,
}

/// What a container type or an entity is shown by.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityType {
    /// Name as declared.
    pub name: String,
    /// Label on the screen.
    pub label: String,
    /// Its `///` text.
    pub doc: String,
    /// State, event, variable or link.
    pub nature: Nature,
    /// The container type that holds it; for a link, the common ancestor.
    pub container: ContainerTypeId,
    /// Declared values (states, events, links).
    pub values: Vec<Value>,
    /// Colour of a variable, or of undeclared values.
    pub color: Option<Color>,
    /// Shape and size, when declared.
    pub look: Look,
    /// A link whose ends may stay alone: a pause of an `async` span that is its end.
    pub is_partial: bool,
}

/// The four natures of Pajé's entities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nature {
    /// A state that lasts.
    State,
    /// A point in time.
    Event,
    /// A number that varies.
    Variable,
    /// From one container to another.
    Link {
        /// Types of container where it may start.
        from: Vec<ContainerTypeId>,
        /// Types of container where it may end.
        to: Vec<ContainerTypeId>,
    },
}

/// A declared value of a state, event or link type.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Label on the screen; the name unless said otherwise.
    pub label: String,
    /// Its colour, if declared.
    pub color: Option<Color>,
    /// Shape and size, when declared.
    pub look: Look,
}

/// Shape and size on the screen (Pajé papers, S41).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Shape of a mark.
    pub shape: Option<Shape>,
    /// Size relative to the default 1.0.
    pub size: Option<f64>,
}

/// Shapes that a spec can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum Shape {
    Triangle,
    Diamond,
    Circle,
    Square,
    Line,
}

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after what they are")]
pub struct Color {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Spec {
    /// All actions of rules, for records and for ends.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.rules.iter().flatten().chain(&self.end_rules.thread).chain(&self.end_rules.process)
    }
}

/// One arrow of a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// What it does.
    pub verb: Verb,
    /// Another date than the record's own.
    pub at: Option<Expr>,
    /// Only when this holds.
    pub when: Option<Expr>,
    /// Extra fields: name and value.
    pub with: Vec<(String, Expr)>,
    /// Related containers: how, and which (`waits for semaphore[s]` gives `("waits for", …)`).
    pub related: Vec<(String, Instance)>,
}

/// What an action does.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub enum Verb {
    /// A container begins.
    Create { container: Instance },
    /// A container ends.
    Destroy { container: Instance },
    /// The state becomes this one, whatever was stacked.
    SetState { ty: EntityTypeId, value: ValueExpr, on: Instance },
    /// A nested state begins.
    PushState { ty: EntityTypeId, value: ValueExpr, on: Instance },
    /// The innermost state ends; with a value, all down to the innermost one of that value.
    PopState { ty: EntityTypeId, value: Option<ValueExpr>, on: Instance },
    /// All states of the type end.
    ResetState { ty: EntityTypeId, on: Instance },
    /// A variable is set, increased or decreased.
    Variable { op: VariableOp, ty: EntityTypeId, value: Expr, on: Instance },
    /// A point event.
    Mark { ty: EntityTypeId, value: ValueExpr, on: Instance },
    /// A link starts. `value` is the default value of its type when not said.
    StartLink { ty: EntityTypeId, value: Option<ValueExpr>, key: Vec<Expr>, from: Instance },
    /// A link ends.
    EndLink { ty: EntityTypeId, value: Option<ValueExpr>, key: Vec<Expr>, to: Instance },
    /// Nothing is shown, not even by default.
    Ignore,
}

/// What happens to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum VariableOp {
    Set,
    Add,
    Subtract,
}

/// A container: its type and the keys of its whole path, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Its type.
    pub ty: ContainerTypeId,
    /// One expression per key of the path.
    pub keys: Vec<Expr>,
    /// `existing`: where there is no such container, the action is left out; otherwise it makes one.
    pub existing: bool,
    /// Its place in [`Spec::sources`]; `None` if no rule says it, as in the default picture.
    pub span: Option<crate::source::Span>,
}

/// The value of a state, event or link.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueExpr {
    /// A declared value of its type.
    Declared(ValueId),
    /// Computed; its text is the value's name, declared or not.
    Computed(Expr),
}

/// A text output, made by template rules.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOutput {
    /// Its name.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Written first.
    pub prologue: String,
    /// Lines of each record: `rules[r]` belongs to `records[r]`.
    pub rules: Vec<Vec<TemplateLine>>,
}

/// One arrow of a template rule: one line of output.
#[derive(Clone, Debug, PartialEq)]
pub struct TemplateLine {
    /// Written once, however many records ask for the same line, before all lines that have a date.
    pub once: bool,
    /// Text between the `@`: always one piece more than there are arguments.
    pub text: Vec<String>,
    /// What replaces each `@`.
    pub arguments: Vec<Expr>,
    /// Only when this holds.
    pub when: Option<Expr>,
    /// Index of the argument that dates the line; the record's own date if none.
    pub date: Option<u32>,
}

/// One file of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path as given or as `use` wrote it.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Spec {
    /// The span of which this record is an end. O(log spans).
    #[must_use]
    pub fn span_of(&self, record: RecordId) -> Option<&Span> {
        if let Some(place) = record.index().checked_sub(self.first_absent_end()) {
            return self.spans.get(*self.absent_ends.get(place)? as usize);
        }
        // Spans and their records were numbered in one order.
        let after = self.spans.partition_point(|span| span.begin <= record);
        self.spans.get(after.checked_sub(1)?).filter(|span| span.begin == record || span.end == record)
    }

    /// Position of the first [absent end](Span::absent_end) in `records`.
    #[must_use]
    pub const fn first_absent_end(&self) -> usize {
        self.records.len() - self.absent_ends.len()
    }

    /// Whether the record type is an [absent end](Span::absent_end).
    #[must_use]
    pub const fn is_absent_end(&self, record: RecordId) -> bool {
        record.index() >= self.first_absent_end()
    }

    /// Number of events, without spans.
    #[must_use]
    pub fn events(&self) -> usize {
        self.records.iter().filter(|record| record.layout.kind == RecordKind::Event).count()
    }

    /// Whether anything was said about the picture of this record. If not, the default holds: a span is a state, and an
    /// event a mark, on the thread that recorded it (an implicit tree `process` / `thread`, or the `= stream` container).
    #[must_use]
    pub fn has_rules(&self, record: RecordId) -> bool {
        let acts = |record: RecordId| self.rules.get(record.index()).is_some_and(|actions| !actions.is_empty());
        // The default needs both ends of a span: a rule for one of them switches it off for both.
        self.span_of(record).map_or_else(|| acts(record), |span| acts(span.begin) || acts(span.end))
    }

    /// The file, the line from 1 and the text of a place in [`sources`](Self::sources).
    #[must_use]
    pub fn source_at(&self, span: crate::source::Span) -> Option<(&str, usize, &str)> {
        let file = self.sources.get(span.file.0 as usize)?;
        let before = file.text.get(..span.start as usize)?;
        Some((&file.path, before.matches('\n').count() + 1, file.text.get(span.range())?))
    }

    /// Types from the root to `ty`, itself included.
    #[must_use]
    pub fn path(&self, ty: ContainerTypeId) -> Vec<ContainerTypeId> {
        let mut path = vec![ty];
        let mut at = ty;
        while let Some(parent) = self.containers.get(at.index()).and_then(|container| container.parent) {
            path.push(parent);
            at = parent;
        }
        path.reverse();
        path
    }

    /// The schema that generators embed and files carry.
    #[must_use]
    pub fn schema(&self) -> Schema {
        use tracer_format::schema::{LevelInfo, SCHEMA_VERSION, SourceText};
        Schema {
            version: SCHEMA_VERSION,
            name: self.name.clone(),
            spec_version: self.version,
            levels: self.levels.iter().map(|l| LevelInfo { name: l.name.clone(), enabled: l.enabled }).collect(),
            enums: self.enums.iter().map(enum_info).collect(),
            records: self.records.iter().map(|record| record.layout.clone()).collect(),
            sources: self.sources.iter().map(|s| SourceText { path: s.path.clone(), text: s.text.clone() }).collect(),
        }
    }
}

fn enum_info(item: &Enum) -> tracer_format::schema::EnumInfo {
    use tracer_format::schema::{EnumInfo, EnumValueInfo};
    let values = item.values.iter().map(|value| EnumValueInfo { name: value.name.clone(), number: value.number });
    EnumInfo { name: item.name.clone(), values: values.collect() }
}
