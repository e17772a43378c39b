//! `Spec`: the complete contents of a spec, checked and resolved.
//!
//! The generators, the converter and the generator of documentation read only `Spec`, never syntax.
//! Names are resolved to typed indexes into the arenas of [`Spec`]. Rules for levels, spans and
//! defaults are lowered: every record type has its own list of actions.
//!
//! ```
//! use tumit::spec::RecordId;
//!
//! let text = "trace hello; level APP { event greeting { n: u32 } span work; }";
//! let spec = tumit::compile_text("hello.tumit", text).0.expect("the spec is correct");
//! let names: Vec<_> = spec.records.iter().map(|record| record.layout.name.as_str()).collect();
//! assert_eq!(names, ["greeting", "work.begin", "work.end"]);
//! assert_eq!(spec.span_of(RecordId(2)).map(|span| span.name.as_str()), Some("work"));
//! assert!(!spec.has_rules(RecordId(0)));
//! ```

mod action;
mod category;
mod expr;
mod ids;

use tracer_format::schema::{RecordKind, RecordType, Schema};

pub use action::{
    Action, ActionVerb, CollectiveClause, Instance, OperationKind, TemplateLine, TextOutput, ValueExpr, VariableChange,
};
pub use category::{CategoryStatement, SpecCategory, pattern_fits};
pub use expr::{
    BinaryOp, Builtin, Expr, ExprFunction, NumberNotation, PatternPiece, TextAlign, TextPattern, UnaryOp, ValueFormat,
};
pub use ids::{ContainerTypeId, EntityTypeId, LevelId, RecordId, ValueId};

/// A piece of the source text of a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceExcerpt<'s> {
    /// Path of the file.
    pub path: &'s str,
    /// Number of the line, from 1.
    pub line: usize,
    /// The bytes of the span, unchanged.
    pub text: &'s str,
}

/// A compiled spec.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spec {
    /// `trace NAME;`
    pub name: String,
    /// Its `//!` text.
    pub doc: String,
    /// The `version NUMBER;` of the spec. 0 if there is none.
    pub version: u32,
    /// Constants in declared order.
    pub constants: Vec<Constant>,
    /// `type NAME = TYPE;` in declared order.
    pub aliases: Vec<Alias>,
    /// Levels in declared order.
    pub levels: Vec<Level>,
    /// Enums, in declared order.
    pub enums: Vec<Enum>,
    /// Record types. A span has two consecutive ones, `NAME.begin` and `NAME.end`. The [absent
    /// ends](SpanType::absent_end) follow after all others. Each has the name of the end that it
    /// represents.
    pub records: Vec<RecordDecl>,
    /// Spans, each with its record types.
    pub spans: Vec<SpanType>,
    /// Numbers of the spans with [absent ends](SpanType::absent_end), in the order of these at the
    /// end of `records`.
    pub absent_ends: Vec<u32>,
    /// Container types; a parent stands before its children.
    pub containers: Vec<ContainerType>,
    /// State, event, variable and link types, in declared order.
    pub entities: Vec<EntityType>,
    /// `category` statements, in declared order. The last one that fits decides.
    pub categories: Vec<CategoryStatement>,
    /// Actions of each record: `rules[r]` belongs to `records[r]`. A record with an empty list has
    /// no rule, and the default applies (see [`Spec::has_rules`]).
    pub rules: Vec<Vec<Action>>,
    /// Actions at the ends of threads and processes: `rule thread.end`, `rule process.end`.
    pub end_rules: EndRules,
    /// Rules as written, in the order of the text. Documentation shows them.
    pub rule_texts: Vec<RuleText>,
    /// Text outputs made by template rules.
    pub outputs: Vec<TextOutput>,
    /// The files of the spec. The first is the root.
    pub sources: Vec<SourceFile>,
}

/// Actions at the ends of threads and processes. They have neither parameters nor links.
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
    /// Whether the level is on when a program starts. The environment of the program can override
    /// it.
    pub is_enabled: bool,
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
    /// Whether a number of the enum needs two bytes in a record.
    #[must_use]
    pub fn is_wide(&self) -> bool {
        self.values.iter().any(|value| value.number > 0xFF)
    }
}

/// A named number of an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The number of the value in records. It is unique in its enum.
    pub number: u16,
}

/// `const NAME = VALUE;`
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// A literal, because the compiler evaluates the constant.
    pub value: Expr,
}

/// `type NAME = TYPE;`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alias {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The type as written.
    pub text: String,
}

/// A rule as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    /// Its `///` text.
    pub doc: String,
    /// The text from `rule` or `also` to its `;`.
    pub text: String,
    /// The records on which the rule acts. Empty if there are none.
    pub records: Vec<RecordId>,
}

/// The record type of an event, or of one end of a span.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordDecl {
    /// The name in the spec: of the event, or of the span without `.begin`.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// The level that switches its recording on and off.
    pub level: LevelId,
    /// Layout of its bytes, with its full name (`iteration.begin`).
    pub layout: RecordType,
    /// Declared text of each field of the layout, in the same order.
    pub fields: Vec<FieldText>,
}

/// Properties of a field that its layout does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldText {
    /// Its `///` text.
    pub doc: String,
    /// The type as written: `[rank; 4]`.
    pub type_text: String,
}

/// A span: a begin and an end from one declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanType {
    /// Name as declared.
    pub name: String,
    /// The record type with the parameters.
    pub begin: RecordId,
    /// The record type with the `task` of an `async` span, and the parameters declared after `end`.
    pub end: RecordId,
    /// A second record type with the name of the end. It represents an end without its parameters,
    /// and contains only `task`. Only spans with `end { … }` have it. The rules of the end apply to
    /// it.
    pub absent_end: Option<RecordId>,
    /// Whether the span is declared `async`: it can move to other threads, with pauses. Both record
    /// types then have `task: u64` as their first field. It identifies the records of one span.
    pub is_async: bool,
}

/// A node of the tree that rules fill with container instances.
#[derive(Clone, Debug, PartialEq)]
pub struct ContainerType {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// `None` for a type at the root of the tree.
    pub parent: Option<ContainerTypeId>,
    /// Names of the keys that it declares itself. In a path, the keys of its parents precede them.
    pub keys: Vec<String>,
    /// The displayed name of an instance.
    pub pattern: TextPattern,
    /// `= stream`: spans without rules appear here. Every key of the path is a built-in of streams.
    pub stream: Option<Vec<Expr>>,
}

/// A type of state, event, variable or link.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityType {
    /// Name as declared.
    pub name: String,
    /// Displayed label.
    pub label: String,
    /// Its `///` text.
    pub doc: String,
    /// State, event, variable or link.
    pub kind: EntityTypeKind,
    /// The container type that contains it. For a link, the common ancestor of its endpoints.
    pub container: ContainerTypeId,
    /// Declared values (states, events, links).
    pub values: Vec<DeclaredValue>,
    /// Colour of a variable, or of undeclared values.
    pub color: Option<SpecColor>,
    /// Shape and size, if declared.
    pub style: SpecStyle,
    /// Whether a link may have only one endpoint: a pause of an `async` span can also be its end.
    pub is_partial: bool,
}

/// The four kinds of entities in Pajé.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntityTypeKind {
    /// A state with a duration.
    State,
    /// A point in time.
    Event,
    /// A number that changes over time.
    Variable,
    /// A connection from one container to another.
    Link {
        /// Container types where the link can start.
        from: Vec<ContainerTypeId>,
        /// Container types where the link can end.
        to: Vec<ContainerTypeId>,
    },
}

/// A declared value of a state, event or link type.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredValue {
    /// Name as declared.
    pub name: String,
    /// Its `///` text.
    pub doc: String,
    /// Displayed label. The name, unless the spec declares another label.
    pub label: String,
    /// Its colour, if declared.
    pub color: Option<SpecColor>,
    /// Shape and size, if declared.
    pub style: SpecStyle,
    /// The category of a state: its own one, or that of a `category` statement.
    pub category: Option<SpecCategory>,
}

/// Displayed shape and size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpecStyle {
    /// Shape of a mark.
    pub shape: Option<SpecShape>,
    /// Size relative to the default 1.0.
    pub size: Option<f64>,
}

/// The shapes that the language knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after what they are")]
pub enum SpecShape {
    Triangle,
    Diamond,
    Circle,
    Square,
    Line,
}

/// An sRGB colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named after what they are")]
pub struct SpecColor {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
}

impl Spec {
    /// All actions of rules, for records and for the ends of threads and processes.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.rules.iter().flatten().chain(&self.end_rules.thread).chain(&self.end_rules.process)
    }
}

impl Spec {
    /// Whether a category statement applies to the values of a type.
    #[must_use]
    pub fn concerns(&self, statement: &CategoryStatement, entity: &EntityType) -> bool {
        entity.kind == EntityTypeKind::State
            && statement
                .type_pattern
                .as_ref()
                .is_none_or(|of| pattern_fits(of, &entity.name) || pattern_fits(of, &entity.label))
            && statement.container.is_none_or(|within| self.path(entity.container).contains(&within))
    }

    /// The category statements that apply to the values of a type, in declared order.
    pub fn categories_of<'s>(&'s self, entity: &'s EntityType) -> impl Iterator<Item = &'s CategoryStatement> {
        self.categories.iter().filter(|statement| self.concerns(statement, entity))
    }

    /// The category of a value of a type by the statements of the spec. The value has these names:
    /// its declared name and its label.
    #[must_use]
    pub fn assigned_category(&self, entity: &EntityType, names: &[&str]) -> Option<SpecCategory> {
        let fits = |statement: &&CategoryStatement| names.iter().any(|name| statement.fits_value(name));
        self.categories_of(entity).filter(fits).last().map(|statement| statement.category)
    }
}

/// One file of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Path of the root as given, or path as written after `use`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

impl Spec {
    /// The span of a record that is one of its ends. O(log spans).
    #[must_use]
    pub fn span_of(&self, record: RecordId) -> Option<&SpanType> {
        if let Some(place) = record.index().checked_sub(self.first_absent_end()) {
            return self.spans.get(*self.absent_ends.get(place)? as usize);
        }
        // Spans and their records are numbered in the same order.
        let after = self.spans.partition_point(|span| span.begin <= record);
        self.spans.get(after.checked_sub(1)?).filter(|span| span.begin == record || span.end == record)
    }

    /// Position of the first [absent end](SpanType::absent_end) in `records`.
    #[must_use]
    pub const fn first_absent_end(&self) -> usize {
        self.records.len() - self.absent_ends.len()
    }

    /// Whether the record type is an [absent end](SpanType::absent_end).
    #[must_use]
    pub const fn is_absent_end(&self, record: RecordId) -> bool {
        record.index() >= self.first_absent_end()
    }

    /// Number of events, without spans.
    #[must_use]
    pub fn events(&self) -> usize {
        self.records.iter().filter(|record| record.layout.kind == RecordKind::Event).count()
    }

    /// Whether the record or its span has a rule. Otherwise the default applies.
    ///
    /// By default a span is a state and an event a mark. Both appear on the thread that recorded
    /// them, in an implicit tree `process` / `thread`, or in the `= stream` container.
    #[must_use]
    pub fn has_rules(&self, record: RecordId) -> bool {
        let acts = |record: RecordId| self.rules.get(record.index()).is_some_and(|actions| !actions.is_empty());
        // The default needs both ends of a span, so a rule for one end disables it for both.
        self.span_of(record).map_or_else(|| acts(record), |span| acts(span.begin) || acts(span.end))
    }

    /// The place and the text of a span in [`sources`](Self::sources).
    #[must_use]
    pub fn source_at(&self, span: crate::source_text::SourceSpan) -> Option<SourceExcerpt<'_>> {
        let file = self.sources.get(span.file.0 as usize)?;
        let before = file.text.get(..span.start as usize)?;
        let line = before.matches('\n').count() + 1;
        Some(SourceExcerpt { path: &file.path, line, text: file.text.get(span.range())? })
    }

    /// Types from the root to `ty`, including `ty`.
    #[must_use]
    pub fn path(&self, ty: ContainerTypeId) -> Vec<ContainerTypeId> {
        let mut path = vec![ty];
        let mut alias = ty;
        while let Some(parent) = self.containers.get(alias.index()).and_then(|container| container.parent) {
            path.push(parent);
            alias = parent;
        }
        path.reverse();
        path
    }

    /// The schema that generators embed and that trace files carry.
    #[must_use]
    pub fn schema(&self) -> Schema {
        use tracer_format::schema::{LevelInfo, SCHEMA_VERSION, SourceText};
        Schema {
            version: SCHEMA_VERSION,
            name: self.name.clone(),
            spec_version: self.version,
            levels: self.levels.iter().map(|l| LevelInfo { name: l.name.clone(), is_enabled: l.is_enabled }).collect(),
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
