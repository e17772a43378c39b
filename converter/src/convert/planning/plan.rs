//! The data that a conversion needs before it reads a record: the programs of the record types of
//! each process, the facts of each stream, and the clocks.

use std::fs::File;
use std::io;
use std::sync::Arc;

use tracer_format::Schema;
use tumit::Spec;

use super::rule_match::mismatch_warnings;
use super::shared_facts::{first_timestamp, process_facts, stream_facts};
use crate::clock::{RunClocks, StreamExtent, TimestampMap};
use crate::convert::options::{ConvertError, ConvertOptions};
use crate::rules::{
    CompiledRules, ExprCode, KeyPart, ProcessFacts, RecordProgram, RecordScope, ReferentTable, RuleModel, StreamFacts,
    Symbols, ValueColumn, compile_spec, layouts, spec_of, to_u32, with_default_rules,
};
use crate::run::OpenRun;
use crate::run::{ProcessInRun, RunReadError, RunStreamReader, StreamInRun, open_shared};
use tumit_paje::{TraceDiagnostic, TypeId};

/// Marks a record type without a program.
const NO_PROGRAM: u32 = u32::MAX;

/// The source position of a record, and its position in its stream.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordOrigin {
    /// The id of the source position.
    pub(crate) site: u32,
    /// The position in the stream, from 0.
    pub(crate) ordinal: u64,
}

/// The data of a conversion that do not change while records are read.
#[derive(Debug)]
pub(crate) struct ConversionPlan<'r> {
    pub(crate) programs: Vec<RecordProgram>,
    /// The prologues of text outputs.
    pub(crate) prologues: Vec<String>,
    /// For each process and record id: the number of the program.
    table: Vec<Vec<u32>>,
    /// For each process: the programs that run at the ends of its threads and at its own end.
    ends: Vec<EndProgramNumbers>,
    facts: Vec<ProcessFacts>,
    pub(crate) streams: Arc<[StreamFacts]>,
    run: &'r OpenRun,
    /// For each stream: the conversion from raw to corrected timestamps.
    pub(crate) timestamp_maps: Vec<TimestampMap>,
    sources: Vec<(&'r ProcessInRun, &'r StreamInRun)>,
}

/// Numbers of the programs that run when a process or one of its threads ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndProgramNumbers {
    /// At the end of each thread.
    pub(crate) thread: Vec<u32>,
    /// At the end of the process.
    pub(crate) process: Vec<u32>,
}

/// The data that a pass needs of the records of one type.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypeColumns {
    /// The number of its program.
    pub(crate) program: u32,
    /// Whether the records themselves are needed.
    pub(crate) rows: bool,
    /// The columns with required values.
    pub(crate) columns: Vec<ValueColumn>,
}

impl TypeColumns {
    /// Whether a field of the records is needed.
    pub(crate) fn has(&self, part: usize) -> bool {
        self.rows || self.columns.iter().any(|column| column.part == part)
    }
}

/// A value in a column from which an action computes its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ColumnValue {
    pub(crate) program: u32,
    pub(crate) action: u16,
    /// The process, which determines the meaning of the word.
    pub(crate) process: u32,
    /// The word in the column.
    pub(crate) value: u64,
}

/// For each process and record id: the data that a pass needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequiredColumns(Vec<Vec<TypeColumns>>);

impl RequiredColumns {
    /// The needs of a process, by record id.
    pub(crate) fn of(&self, process: usize) -> &[TypeColumns] {
        self.0.get(process).map_or(&[], |needs| needs)
    }
}

/// The plan of a conversion, the type tree of its rules, and the texts of the run.
pub(crate) struct ConversionSetup<'r> {
    pub(crate) plan: ConversionPlan<'r>,
    pub(crate) model: RuleModel,
    pub(crate) symbols: Symbols,
}

/// Builds the plan, the type tree and the texts of a run.
pub(crate) fn plan<'r>(
    run: &'r OpenRun,
    options: &ConvertOptions,
    clocks: &mut RunClocks,
    diagnostics: &mut Vec<TraceDiagnostic>,
) -> Result<ConversionSetup<'r>, ConvertError> {
    if let Some(rules) = &options.rules {
        diagnostics.extend(mismatch_warnings(rules, options.output.as_deref(), run)?);
    }
    let ranked = run.processes.iter().all(|process| process.rank.is_some());
    build(run, clocks, |schema, model, symbols| programs_of(schema, options, ranked, model, symbols, diagnostics))
}

/// Builds a plan that ignores the specs. Every record type has one action with all its fields.
pub(crate) fn plan_of_layouts<'r>(
    run: &'r OpenRun,
    clocks: &mut RunClocks,
) -> Result<(ConversionPlan<'r>, Symbols), ConvertError> {
    let ConversionSetup { plan, symbols, .. } = build(run, clocks, |schema, model, symbols| {
        let spec = with_default_rules(&layouts(schema), false);
        let rules = compile_spec(&spec, schema, None, model, symbols, &mut Vec::new());
        Ok(SchemaPrograms { rules, prologue: None })
    })?;
    Ok((plan, symbols))
}

struct SchemaPrograms {
    rules: CompiledRules,
    /// The prologue of a text output.
    prologue: Option<String>,
}

/// The numbers of the programs of a schema.
struct CompiledSchema<'r> {
    schema: &'r Schema,
    /// By record type.
    programs: Vec<u32>,
    ends: EndProgramNumbers,
}

fn build<'r>(
    run: &'r OpenRun,
    clocks: &mut RunClocks,
    mut programs_of: impl FnMut(&Schema, &mut RuleModel, &mut Symbols) -> Result<SchemaPrograms, ConvertError>,
) -> Result<ConversionSetup<'r>, ConvertError> {
    let mut symbols = Symbols::default();
    let mut model = RuleModel::default();
    clocks.start_at(first_timestamp(run, clocks));
    let facts = process_facts(run, clocks, &mut symbols);
    let streams = stream_facts(run, &facts, &mut symbols);
    model.referents = Arc::new(ReferentTable::new(Arc::clone(&streams)));
    let sources = run.processes.iter().flat_map(|process| process.streams.iter().map(move |stream| (process, stream)));
    let mut plan = ConversionPlan {
        programs: Vec::new(),
        prologues: Vec::new(),
        table: Vec::new(),
        ends: Vec::new(),
        facts,
        timestamp_maps: vec![TimestampMap::default(); streams.len()],
        streams,
        run,
        sources: sources.collect(),
    };
    let mut compiled: Vec<CompiledSchema<'_>> = Vec::new();
    for process in &run.processes {
        let (mut table, mut ends) = (Vec::new(), EndProgramNumbers::default());
        for provider in &process.providers {
            let index = match compiled.iter().position(|known| *known.schema == provider.schema) {
                Some(index) => index,
                None => {
                    let SchemaPrograms { rules, prologue } = programs_of(&provider.schema, &mut model, &mut symbols)?;
                    plan.prologues.extend(prologue);
                    let CompiledRules { records, thread_end, process_end } = rules;
                    let numbers = plan.add(records);
                    let mut of_end = |program: Option<RecordProgram>| plan.add(program.map(Some).into_iter().collect());
                    let ends = EndProgramNumbers { thread: of_end(thread_end), process: of_end(process_end) };
                    compiled.push(CompiledSchema { schema: &provider.schema, programs: numbers, ends });
                    compiled.len() - 1
                }
            };
            let base = usize::from(provider.base);
            let CompiledSchema { programs, ends: schema_ends, .. } = &compiled[index];
            table.resize(table.len().max(base + programs.len()), NO_PROGRAM);
            table[base..base + programs.len()].copy_from_slice(programs);
            ends.thread.extend(&schema_ends.thread);
            ends.process.extend(&schema_ends.process);
        }
        plan.table.push(table);
        plan.ends.push(ends);
    }
    survey_collectives(&mut plan.programs);
    Ok(ConversionSetup { plan, model, symbols })
}

/// Makes the first pass read the records that change states of types with parts of collective
/// operations.
fn survey_collectives(programs: &mut [RecordProgram]) {
    let actions = programs.iter().flat_map(|program| &program.actions);
    let types: Vec<TypeId> =
        actions.filter(|action| action.collective.is_some()).filter_map(|action| action.op.state_type()).collect();
    if types.is_empty() {
        return;
    }
    let has_state = |program: &RecordProgram| {
        program.actions.iter().any(|action| action.op.state_type().is_some_and(|ty| types.contains(&ty)))
    };
    for program in programs.iter_mut().filter(|program| has_state(program)) {
        program.surveyed = true;
        program.columnar_links = None;
    }
}

impl<'r> ConversionPlan<'r> {
    fn add(&mut self, programs: Vec<Option<RecordProgram>>) -> Vec<u32> {
        let mut numbers = Vec::new();
        for program in programs {
            let Some(program) = program else {
                numbers.push(NO_PROGRAM);
                continue;
            };
            numbers.push(u32::try_from(self.programs.len()).unwrap_or(NO_PROGRAM));
            self.programs.push(program);
        }
        numbers
    }

    /// For each stream: a lower bound of its timestamps.
    pub(crate) fn lower_bounds(&self, floors: &[Option<Vec<i64>>]) -> Vec<i64> {
        // Records that are missing at the beginning of a stream are placed before its first record.
        if self.run.may_have_gaps() {
            return vec![i64::MIN; self.streams.len()];
        }
        let begin = |(number, facts): (usize, &StreamFacts)| {
            let timestamp_map = &self.timestamp_maps[number];
            let min_raw = match floors.get(number) {
                _ if self.sources[number].1.blocks.is_empty() => None,
                Some(None) => Some(facts.begin),
                // Timestamps of actions are corrected like those of records at other positions.
                Some(Some(floors)) if timestamp_map.is_identity() => {
                    floors.first().map(|min_raw| facts.begin.min(*min_raw))
                }
                _ => None,
            };
            min_raw.map_or(i64::MIN, |min_raw| timestamp_map.correct(min_raw, 0))
        };
        self.streams.iter().enumerate().map(begin).collect()
    }

    pub(crate) fn source(&self, stream: usize) -> (&'r ProcessInRun, &'r StreamInRun) {
        self.sources[stream]
    }

    /// The run that is converted.
    pub(crate) const fn run(&self) -> &'r OpenRun {
        self.run
    }

    /// Opens the files of the streams. Returns one file per stream, and opens each file once.
    pub(crate) fn files(&self) -> Result<Vec<Arc<File>>, RunReadError> {
        let mut files: Vec<Arc<File>> = Vec::new();
        let mut open = None;
        for (facts, (process, _)) in self.streams.iter().zip(&self.sources) {
            let file = match files.last().filter(|_| open == Some(facts.process)) {
                Some(file) => Arc::clone(file),
                None => {
                    let error = |source: io::Error| RunReadError { file: process.path.clone(), offset: 0, source };
                    open_shared(&process.path).map_err(error)?
                }
            };
            open = Some(facts.process);
            files.push(file);
        }
        Ok(files)
    }

    /// Creates a reader for a stream of an open file.
    pub(crate) fn reader(&self, stream: usize, file: Arc<File>) -> RunStreamReader<'r> {
        let (process, stream) = self.sources[stream];
        RunStreamReader::new(process, stream, file)
    }

    /// Whether a process has several files.
    pub(crate) fn has_shared_processes(&self) -> bool {
        self.streams.iter().any(|stream| stream.identity.process != to_u32(stream.process))
    }

    /// Whether there are rules for the ends of threads or processes.
    pub(crate) fn has_end_rules(&self) -> bool {
        self.ends.iter().any(|ends| !ends.thread.is_empty() || !ends.process.is_empty())
    }

    /// The programs that run at the end of a stream's thread or process.
    pub(crate) fn end_programs(&self, stream: usize, is_process: bool) -> impl Iterator<Item = &RecordProgram> {
        let ends = &self.ends[self.streams[stream].process];
        let numbers = if is_process { &ends.process } else { &ends.thread };
        numbers.iter().filter_map(|number| self.programs.get(*number as usize))
    }

    pub(crate) fn program(&self, stream: usize, id: u16) -> Option<&RecordProgram> {
        self.programs.get(self.program_number(stream, id)?)
    }

    /// Whether a record is of interest. A record without a program always is, because its type may
    /// be unknown.
    pub(crate) fn is_wanted(&self, stream: usize, id: u16, selects: fn(&RecordProgram) -> bool) -> bool {
        self.program(stream, id).is_none_or(selects)
    }

    /// The numbers of the programs of a stream's records, by id.
    pub(crate) fn table_of(&self, stream: usize) -> &[u32] {
        &self.table[self.streams[stream].process]
    }

    /// The facts that the records of a stream's process share.
    pub(crate) fn facts_of(&self, stream: usize) -> &ProcessFacts {
        &self.facts[self.streams[stream].process]
    }

    /// The program of a record. `table` is the table of its stream.
    #[inline]
    pub(crate) fn program_in(&self, table: &[u32], id: u16) -> Option<&RecordProgram> {
        self.programs.get(*table.get(usize::from(id))? as usize)
    }

    /// The data that a pass reads: whole records of the types for which `selects` is true and, if
    /// `values` is set, also the value columns ([`RecordProgram::columns`]) of every type.
    pub(crate) fn needs(&self, selects: fn(&RecordProgram) -> bool, values: bool) -> RequiredColumns {
        let need = |number: &u32| {
            let Some(program) = self.programs.get(*number as usize) else { return TypeColumns::default() };
            let rows = selects(program);
            let columns = if values { program.columns.clone() } else { Vec::new() };
            TypeColumns { program: *number, rows, columns }
        };
        RequiredColumns(self.table.iter().map(|table| table.iter().map(need).collect()).collect())
    }

    /// The value type and the key of a column value, for an action of a program.
    pub(crate) fn value_of(
        &self,
        value: &ColumnValue,
        stream: usize,
        symbols: &mut Symbols,
    ) -> Option<(TypeId, KeyPart)> {
        let program = self.programs.get(value.program as usize)?;
        let (ty, read) = program.actions.get(usize::from(value.action))?.plain_value()?;
        let mut body = vec![0; read.range.as_ref()?.start];
        body.extend_from_slice(&value.value.to_le_bytes());
        let (facts, stream, timestamp_map) =
            (self.facts.get(value.process as usize)?, self.streams.get(stream)?, self.timestamp_maps.get(stream)?);
        let (time, site, ordinal) = (0, 0, 0);
        let scope = RecordScope {
            program,
            facts,
            stream,
            raw: time,
            site,
            ordinal,
            body: &body,
            timestamp_map,
            is_shown: false,
        };
        let mut scratch = String::new();
        let key = scope.eval(&ExprCode::Field(read.clone()), &mut scratch, symbols).key(&scratch, symbols);
        Some((ty, key))
    }

    /// The number of the program of a record id. `NO_PROGRAM` if its type has none, which is no
    /// valid index.
    pub(crate) fn program_number(&self, stream: usize, id: u16) -> Option<usize> {
        self.table[self.streams[stream].process].get(usize::from(id)).map(|number| *number as usize)
    }

    /// The evaluation context of a record.
    pub(crate) fn scope<'a>(
        &'a self,
        stream: usize,
        program: &'a RecordProgram,
        time: i64,
        origin: RecordOrigin,
        body: &'a [u8],
    ) -> RecordScope<'a> {
        let (stream, timestamp_map) = (&self.streams[stream], &self.timestamp_maps[stream]);
        let facts = &self.facts[stream.process];
        let RecordOrigin { site, ordinal } = origin;
        RecordScope { program, facts, stream, raw: time, site, ordinal, body, timestamp_map, is_shown: false }
    }

    /// The raw timestamp of a tick of a stream's process.
    pub(crate) fn raw_timestamp(&self, stream: usize, ticks: u64) -> i64 {
        self.facts[self.streams[stream].process].clock.global_from_ticks(ticks)
    }

    /// Fills `timestamps` with raw timestamps. `ticks` are relative to `first`.
    pub(crate) fn raw_timestamps(&self, stream: usize, first: u64, ticks: &[u64], timestamps: &mut Vec<i64>) {
        self.facts[self.streams[stream].process].clock.global_from_many(first, ticks, timestamps);
    }

    /// The clock domain and the first and last raw timestamp of each stream.
    pub(crate) fn extents(&self, clocks: &RunClocks) -> Vec<StreamExtent> {
        let extent = |(number, (_, stream)): (usize, &(&ProcessInRun, &StreamInRun))| {
            let timestamp = |ticks: Option<u64>| self.raw_timestamp(number, ticks.unwrap_or(0));
            let first = timestamp(stream.blocks.first().map(|block| block.header.first_ticks));
            let last = timestamp(stream.blocks.last().map(|block| block.header.last_ticks));
            StreamExtent { domain: clocks.domain_of[self.streams[number].process], first, last }
        };
        self.sources.iter().enumerate().map(extent).collect()
    }

    /// Number of records in the blocks of the run.
    pub(crate) fn records(&self) -> u64 {
        self.sources.iter().map(|(_, stream)| stream.records()).sum()
    }
}

fn programs_of(
    schema: &Schema,
    options: &ConvertOptions,
    ranked: bool,
    model: &mut RuleModel,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<TraceDiagnostic>,
) -> Result<SchemaPrograms, ConvertError> {
    let embedded_spec;
    let spec: &Spec = match &options.rules {
        Some(rules) => rules,
        None => {
            embedded_spec = spec_of(schema, diagnostics);
            &embedded_spec
        }
    };
    if let Some(name) = &options.output {
        let output = spec.outputs.iter().position(|output| output.name == *name);
        let Some(output) = output else {
            let output_names: Vec<String> = spec.outputs.iter().map(|output| format!("`{}`", output.name)).collect();
            return Err(ConvertError::NoOutput { name: name.clone(), output_names: output_names.join(", ") });
        };
        let rules = compile_spec(spec, schema, Some(output), model, symbols, diagnostics);
        return Ok(SchemaPrograms { rules, prologue: Some(spec.outputs[output].prologue.clone()) });
    }
    let spec = with_default_rules(spec, ranked);
    let rules = compile_spec(&spec, schema, None, model, symbols, diagnostics);
    Ok(SchemaPrograms { rules, prologue: None })
}
