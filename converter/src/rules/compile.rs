//! Compiles a [`Spec`] to the programs of its record types and its part of the [`RuleModel`].

mod actions;
mod type_tree;

use std::sync::Arc;

use tracer_format::Schema;
use tracer_format::schema::EnumInfo;
use tumit::Spec;
use tumit::spec;

use super::columnar_actions::{columnar_actions, columnar_links};
use super::program::{EnumNames, ProgramAction, RecordProgram, ValueColumn};
use super::rule_model::RuleModel;
use super::rule_value::Symbols;
use actions::{ActionCompiler, MissingField};
use tumit_paje::{DiagnosticKind, TraceDiagnostic};
use type_tree::{TypeTree, add_tree};

/// The programs of a spec.
#[derive(Debug, Default)]
pub(crate) struct CompiledRules {
    /// For each record type of the schema: its program. `None` if it has no rule.
    pub(crate) records: Vec<Option<RecordProgram>>,
    /// The program that runs at the end of a thread.
    pub(crate) thread_end: Option<RecordProgram>,
    /// The program that runs at the end of a process.
    pub(crate) process_end: Option<RecordProgram>,
}

/// Adds the types of `spec` to `model` and compiles its rules for the records of `schema`.
///
/// Records and fields are matched by name, so that the rules may come from another spec than the
/// schema. If a rule needs a field that the schema does not have, its action is left out and
/// a warning reports it.
pub(crate) fn compile_spec(
    spec: &Spec,
    schema: &Schema,
    output: Option<usize>,
    model: &mut RuleModel,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<TraceDiagnostic>,
) -> CompiledRules {
    let tree = if output.is_some() { TypeTree::default() } else { add_tree(spec, model, symbols) };
    let mut names =
        |e: &EnumInfo| EnumNames::of(e.values.iter().map(|value| (value.number, symbols.intern(&value.name))));
    let enums: Arc<[EnumNames]> = schema.enums.iter().map(&mut names).collect();
    let mut compiler = SpecCompiler { spec, schema, output, tree: &tree, enums, model, symbols, diagnostics };
    CompiledRules {
        records: (0..schema.records.len()).map(|record| compiler.record(record)).collect(),
        thread_end: compiler.end(&spec.end_rules.thread, "thread.end"),
        process_end: compiler.end(&spec.end_rules.process, "process.end"),
    }
}

/// Compiles the rules of a spec for one schema.
struct SpecCompiler<'c> {
    spec: &'c Spec,
    schema: &'c Schema,
    /// The text output to compile. `None` compiles the rules of the Pajé output.
    output: Option<usize>,
    tree: &'c TypeTree,
    enums: Arc<[EnumNames]>,
    model: &'c mut RuleModel,
    symbols: &'c mut Symbols,
    diagnostics: &'c mut Vec<TraceDiagnostic>,
}

impl SpecCompiler<'_> {
    /// The program of a record type of the schema. `None` if it has no rule.
    fn record(&mut self, index: usize) -> Option<RecordProgram> {
        let (spec, layout) = (self.spec, &self.schema.records[index]);
        let record = self.ruled_record(index)?;
        let declaration = &spec.records[record];
        let actions = self.actions(index, record);
        if actions.is_empty() {
            return None;
        }
        let level = self.schema.levels.get(layout.level as usize).map_or("", |level| level.name.as_str());
        Some(RecordProgram {
            level: self.symbols.intern(level),
            fields: layout.fields.clone(),
            enums: self.enums.clone(),
            has_location: layout.has_location,
            columns: columns(&actions, layout.has_location),
            columnar_actions: columnar_actions(&actions, layout.has_location, self.model),
            columnar_links: columnar_links(&actions, layout.has_location, self.model),
            ..RecordProgram::new([&spec.name, &declaration.name, &layout.name], actions, self.symbols)
        })
    }

    /// The record of the spec with the rules for a record type of the schema.
    fn ruled_record(&self, index: usize) -> Option<usize> {
        let spec = self.spec;
        let name = &self.schema.records[index].name;
        let record = spec.records.iter().position(|record| record.layout.name == *name)?;
        // The rules of an end hold for an absent end, too. The default rules have separate actions
        // for it.
        let is_absent_end = self.output.is_none() && self.schema.is_absent_end(index);
        let span = spec.spans.iter().find(|span| is_absent_end && span.end.index() == record);
        let absent_end = span.and_then(|span| span.absent_end).map(spec::RecordId::index);
        let absent_end = absent_end.filter(|end| spec.rules.get(*end).is_some_and(|actions| !actions.is_empty()));
        Some(absent_end.unwrap_or(record))
    }

    /// The actions for a record type of the schema, by the rules of a record of the spec.
    fn actions(&mut self, rule: usize, record: usize) -> Vec<ProgramAction> {
        let (spec, layout) = (self.spec, &self.schema.records[rule]);
        let is_absent_end = self.schema.is_absent_end(rule);
        let mut compiler = ActionCompiler {
            spec,
            tree: self.tree,
            model: self.model,
            symbols: self.symbols,
            fields: &layout.fields,
            record: &spec.records[record].layout.fields,
            is_absent_end,
        };
        let compiled: Vec<Result<ProgramAction, MissingField>> = match self.output {
            Some(output) => {
                spec.outputs[output].rules.get(record).into_iter().flatten().map(|line| compiler.line(line)).collect()
            }
            None => spec.rules.get(record).into_iter().flatten().map(|action| compiler.compile(action)).collect(),
        };
        let mut actions = Vec::new();
        for action in compiled {
            match action {
                Ok(action) => actions.push(action),
                // An absent end has no parameters: this is no error.
                Err(MissingField(_)) if is_absent_end => {}
                Err(MissingField(field)) => {
                    let text = format!(
                        "a rule of `{}` needs its field `{field}`, which is not in this run: the rule is not used",
                        layout.name
                    );
                    self.diagnostics.push(TraceDiagnostic::warning(DiagnosticKind::Rule, text));
                }
            }
        }
        actions
    }

    /// The program of an end rule. `None` if it has no actions, or for a text output.
    fn end(&mut self, actions: &[spec::Action], name: &str) -> Option<RecordProgram> {
        if self.output.is_some() {
            return None;
        }
        let mut compiler = ActionCompiler {
            spec: self.spec,
            tree: self.tree,
            model: self.model,
            symbols: self.symbols,
            fields: &[],
            record: &[],
            is_absent_end: false,
        };
        // These rules have no record fields, so no field can be missing.
        let actions: Vec<ProgramAction> = actions.iter().filter_map(|action| compiler.compile(action).ok()).collect();
        (!actions.is_empty()).then(|| RecordProgram::new([&self.spec.name, name, name], actions, self.symbols))
    }
}

impl RecordProgram {
    /// The program of a record type without fields, from its spec, name, full name and actions.
    fn new([spec, name, full_name]: [&str; 3], actions: Vec<ProgramAction>, symbols: &mut Symbols) -> Self {
        Self {
            spec: symbols.intern(spec),
            name: symbols.intern(name),
            full_name: symbols.intern(full_name),
            level: symbols.intern(""),
            fields: Vec::new(),
            enums: Arc::new([]),
            has_location: false,
            sets_timestamps: actions.iter().any(|action| action.timestamp.is_some()),
            surveyed: actions.iter().any(|action| action.is_surveyed() && action.plain_value().is_none()),
            columns: Vec::new(),
            columnar_actions: None,
            columnar_links: None,
            actions,
        }
    }

    /// Whether the first pass needs its records or their columns.
    pub(crate) fn is_surveyed(&self) -> bool {
        self.surveyed || !self.columns.is_empty()
    }
}

/// The actions with values from one field of the records, each with its column.
fn columns(actions: &[ProgramAction], has_location: bool) -> Vec<ValueColumn> {
    let column = |(number, action): (usize, &ProgramAction)| {
        let (_, read) = action.plain_value()?;
        // The source position is also a column.
        Some(ValueColumn { action: u16::try_from(number).ok()?, part: read.index + usize::from(has_location) })
    };
    actions.iter().enumerate().filter_map(column).collect()
}
