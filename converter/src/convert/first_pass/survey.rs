//! The first pass. It finds the facts that the first line of output needs:
//! - link endpoints without a partner,
//! - computed values,
//! - the names of containers that are used before they are created,
//! - for each block, the timestamps that actions set themselves.

use std::io;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;

use super::action_notes::{ActionPosition, NoteTable, NoteWriter};
use super::collective_parts::{ActionTime, PartCollector, PartTables};
use crate::clock::LinkLog;
use crate::convert::columns::ops::OpTemplate;
use crate::convert::columns::ops::PendingOp;
use crate::convert::columns::single_records::RecordPlace;
use crate::convert::columns::stream_cursor::{FirstRecord, FirstValues};
use crate::convert::planning::plan::{ConversionPlan, RecordOrigin};
use crate::convert::planning::thread_ends::EndEvents;
use crate::convert::template_lines::append_line;
use crate::rules::container_instances::{PathNode, PathTrie};
use crate::rules::eval::RecordScope;
use crate::rules::link_keys::LinkKey;
use crate::rules::program::{ActionOp, LinkSide, ProgramAction, ValueCode};
use crate::rules::rule_model::{LinkModel, RuleModel};
use crate::rules::rule_value::{KeyPart, Symbols};
use tumit_paje::TypeId;
use tumit_spill::endpoint_map::{Endpoint, EndpointMap, EndpointMatch};

/// The note for an endpoint without a partner. No container type has this number.
const UNMATCHED: u16 = u16::MAX;

/// The partner of a link endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndpointState {
    /// There is none.
    Missing,
    /// In the only container type that the rules allow.
    InOnlyType,
    /// In a container of this type, which is one of several that the rules allow.
    InType(usize),
}

/// The result of a survey of all records.
#[derive(Debug)]
pub(crate) struct SurveyOutcome {
    pub(crate) result: FirstPassResult,
    /// The log of links, if the survey wrote one.
    pub(crate) log: Option<LinkLog>,
}

#[derive(Debug, Default)]
pub(crate) struct FirstPassResult {
    /// Endpoints without a partner, which are left out. Also the container type of the partner, for
    /// links whose type depends on both containers.
    ends: NoteTable,
    /// Fields given by `create … with`, by path.
    pub(crate) names: FxHashMap<PathNode, Vec<(String, KeyPart)>>,
    pub(crate) paths: PathTrie,
    /// Lines of a text output that are written once, in the order of their first records.
    pub(crate) unique_lines: IndexSet<String, FxBuildHasher>,
    pub(crate) unmatched_starts: u64,
    pub(crate) unmatched_ends: u64,
    pub(crate) links: u64,
}

impl FirstPassResult {
    /// The partner of the link endpoint of this action. O(log of the number of noted endpoints).
    ///
    /// # Errors
    /// If the temporary file cannot be read.
    pub(crate) fn partner(&mut self, position: ActionPosition) -> io::Result<EndpointState> {
        Ok(match self.ends.find(position)? {
            Some(UNMATCHED) => EndpointState::Missing,
            Some(container) => EndpointState::InType(container.into()),
            None => EndpointState::InOnlyType,
        })
    }

    /// The fields given by each `create`, one entry per container, in a fixed order.
    pub(crate) fn names_in_order(&self) -> Vec<&[(String, KeyPart)]> {
        let mut nodes: Vec<PathNode> = self.names.keys().copied().collect();
        nodes.sort_unstable();
        nodes.into_iter().map(|node| self.names[&node].as_slice()).collect()
    }
}

/// The state of the first pass.
#[derive(Debug)]
pub(crate) struct FirstPassCollector {
    survey: FirstPassResult,
    notes: NoteWriter,
    unpaired_endpoints: EndpointMap<UnpairedEndpoint, 4>,
    failure: Option<io::Error>,
    /// The log of link endpoints, if required.
    log: Option<LinkLog>,
    /// Values that are not declared, each with its first record.
    first_records: FxHashMap<(TypeId, KeyPart), ValueRecord>,
    scratch: String,
    /// The parts of collective operations, if they are required.
    parts: Option<PartCollector>,
}

/// The first action with a value. The fields are in the order of comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ValueRecord {
    time: i64,
    position: ActionPosition,
    /// The variant of its link type.
    variant: u16,
}

/// An endpoint whose partner is not known yet.
#[derive(Clone, Copy, Debug)]
struct UnpairedEndpoint {
    end: LinkSide,
    position: ActionPosition,
    time: i64,
    container: u16,
    is_partial: bool,
    /// The number of the endpoint in the log.
    link: u64,
}

impl Endpoint<4> for UnpairedEndpoint {
    fn starts(&self) -> bool {
        self.end == LinkSide::Start
    }

    fn words(&self) -> [u64; 4] {
        let ActionPosition { stream, ordinal, action } = self.position;
        let packed = u64::from(stream) << 32 | u64::from(action) << 16 | u64::from(self.container);
        let flags = u64::from(self.is_partial) << 1 | u64::from(self.starts());
        [packed, ordinal, self.time.cast_unsigned(), self.link << 2 | flags]
    }

    fn of([note, ordinal, time, link]: [u64; 4]) -> Self {
        Self {
            end: if link & 1 == 1 { LinkSide::Start } else { LinkSide::Finish },
            position: ActionPosition { stream: (note >> 32) as u32, ordinal, action: (note >> 16) as u16 },
            time: time.cast_signed(),
            container: note as u16,
            is_partial: link & 2 == 2,
            link: link >> 2,
        }
    }
}

/// The endpoint of a link in a container of this type.
#[derive(Clone, Copy, Debug)]
struct SurveyedEndpoint {
    end: LinkSide,
    link: usize,
    container: usize,
}

impl FirstPassCollector {
    /// Creates a first pass, which also notes link endpoints in `log`. Its own notes go to a file
    /// beyond `memory` bytes.
    pub(crate) fn new(log: Option<LinkLog>, parts: Option<PartCollector>, memory: usize) -> Self {
        let notes = NoteWriter::with_memory(memory);
        Self {
            survey: FirstPassResult::default(),
            notes,
            unpaired_endpoints: EndpointMap::default(),
            failure: None,
            log,
            first_records: FxHashMap::default(),
            scratch: String::new(),
            parts,
        }
    }

    /// Processes a record. `note_timestamp` receives each timestamp that an action sets itself.
    pub(crate) fn record(
        &mut self,
        scope: &RecordScope<'_>,
        RecordPlace { stream, ordinal }: RecordPlace,
        model: &RuleModel,
        symbols: &mut Symbols,
        mut note_timestamp: impl FnMut(i64),
    ) {
        for (number, action) in scope.program.actions.iter().enumerate() {
            self.scratch.clear();
            let mut time = scope.raw;
            if let Some(timestamp) = &action.timestamp
                && let Some(timestamp) = scope.eval(timestamp, &mut self.scratch, symbols).integer()
            {
                time = i64::try_from(timestamp).unwrap_or(time).max(0);
                note_timestamp(time);
            }
            if action.condition.as_ref().is_some_and(|when| !scope.is_true(when, &mut self.scratch, symbols)) {
                continue;
            }
            let number = u16::try_from(number).unwrap_or(u16::MAX);
            let position = ActionPosition { stream, ordinal, action: number };
            if self.parts.is_some() {
                self.follow_parts(scope, action, ActionTime { position, time }, model, symbols);
            }
            self.action(scope, action, position, time, model, symbols);
        }
    }

    /// Follows the states that can be parts of collective operations.
    fn follow_parts(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        time: ActionTime,
        model: &RuleModel,
        symbols: &mut Symbols,
    ) {
        let Self { parts: Some(parts), log: Some(log), survey, scratch, failure, .. } = self else { return };
        let mut tables = PartTables { paths: &mut survey.paths, model, scratch, symbols };
        if let Err(error) = parts.action(scope, action, time, log, &mut tables) {
            failure.get_or_insert(error);
        }
    }

    /// Notes that records of a stream are missing.
    pub(crate) fn handle_gap(&mut self, stream: u32) {
        if let Some(parts) = &mut self.parts {
            parts.handle_gap(stream);
        }
    }

    /// Evaluates the rules for the ends of threads and processes.
    pub(crate) fn ends(&mut self, plan: &ConversionPlan<'_>, model: &RuleModel, symbols: &mut Symbols) {
        if !plan.has_end_rules() {
            return;
        }
        for end in EndEvents::of(plan).events {
            let stream = end.stream as usize;
            let ordinal = plan.source(stream).1.records();
            for program in plan.end_programs(stream, end.is_process).filter(|program| program.is_surveyed()) {
                let scope = plan.scope(stream, program, end.raw, RecordOrigin { site: 0, ordinal }, &[]);
                self.record(&scope, RecordPlace { stream: end.stream, ordinal }, model, symbols, |_| {});
            }
        }
    }

    fn action(
        &mut self,
        scope: &RecordScope<'_>,
        action: &ProgramAction,
        position: ActionPosition,
        time: i64,
        model: &RuleModel,
        symbols: &mut Symbols,
    ) {
        match &action.op {
            ActionOp::SetState { ty, value: ValueCode::Computed(code), .. }
            | ActionOp::PushState { ty, value: ValueCode::Computed(code), .. }
            | ActionOp::Mark { ty, value: ValueCode::Computed(code), .. } => {
                self.value(scope, *ty, code, ValueRecord { time: scope.raw, position, variant: 0 }, model, symbols);
            }
            ActionOp::Create { target } if !action.fields.is_empty() => {
                if target.is_ambiguous(scope, &mut self.scratch, symbols) {
                    return;
                }
                let node = self.survey.paths.node(target, scope, &mut self.scratch, symbols);
                let fields = action.fields.iter().map(|(name, code)| {
                    let key = scope.eval(code, &mut self.scratch, symbols).key(&self.scratch, symbols);
                    (name.clone(), key)
                });
                let fields = fields.collect();
                self.survey.names.entry(node).or_insert(fields);
            }
            ActionOp::Link { end, link, value, key, target: on } => {
                if let Some(crate::rules::program::LinkValue::Computed(code)) = value {
                    for variant in 0..model.links[*link].variants.len() {
                        let ty = model.links[*link].variants[variant].ty;
                        let variant = u16::try_from(variant).unwrap_or(u16::MAX);
                        let record = ValueRecord { time: scope.raw, position, variant };
                        self.value(scope, ty, code, record, model, symbols);
                    }
                }
                if on.is_ambiguous(scope, &mut self.scratch, symbols) {
                    return;
                }
                let link_key = link_key(scope, *link, key, on, model, &mut self.scratch, symbols);
                let endpoint = SurveyedEndpoint { end: *end, link: *link, container: on.container() };
                self.end_of(&link_key, endpoint, position, time, model);
            }
            ActionOp::Line { is_unique: true, text, arguments } => {
                let mut line = String::new();
                append_line(scope, text, arguments, &mut self.scratch, symbols, &mut line);
                self.survey.unique_lines.insert(line);
            }
            _ => {}
        }
    }

    /// Processes a link endpoint that was evaluated from columns.
    pub(crate) fn add_evaluated_endpoint(
        &mut self,
        plan: &ConversionPlan<'_>,
        template: &OpTemplate,
        op: PendingOp,
        keys: &[u64],
        model: &RuleModel,
    ) {
        let program = plan.programs.get(template.program as usize);
        let columnar = program.and_then(|program| program.columnar_links.as_ref()?.get(usize::from(template.position)));
        let action =
            program.zip(columnar).and_then(|(program, columnar)| program.actions.get(usize::from(columnar.action)));
        let (Some(columnar), Some(ProgramAction { op: ActionOp::Link { end, link, target, .. }, .. })) =
            (columnar, action)
        else {
            return;
        };
        let position = ActionPosition { stream: op.stream, ordinal: op.bits, action: columnar.action };
        let endpoint = SurveyedEndpoint { end: *end, link: *link, container: target.container() };
        self.end_of(&template.key.with_words(keys), endpoint, position, op.corrected_time, model);
    }

    /// Processes a link endpoint in a container of this type.
    fn end_of(
        &mut self,
        key: &LinkKey,
        SurveyedEndpoint { end, link, container }: SurveyedEndpoint,
        position: ActionPosition,
        time: i64,
        model: &RuleModel,
    ) {
        let container = u16::try_from(container).unwrap_or(u16::MAX);
        let LinkModel { variants, is_partial, .. } = &model.links[link];
        let (several, is_partial) = (variants.len() > 1, *is_partial);
        self.link(key, UnpairedEndpoint { end, position, time, container, is_partial, link: 0 }, several);
    }

    fn value(
        &mut self,
        scope: &RecordScope<'_>,
        ty: TypeId,
        code: &crate::rules::program::ExprCode,
        record: ValueRecord,
        model: &RuleModel,
        symbols: &mut Symbols,
    ) {
        let key = scope.key(code, &mut self.scratch, symbols);
        self.note_value(ty, key, record, model);
    }

    fn note_value(&mut self, ty: TypeId, key: KeyPart, record: ValueRecord, model: &RuleModel) {
        if key != KeyPart::None && model.value(ty, key).is_none() {
            let first = self.first_records.entry((ty, key)).or_insert(record);
            *first = record.min(*first);
        }
    }

    /// Takes the values that occur in columns.
    pub(crate) fn take_columns(
        &mut self,
        values: FirstValues,
        plan: &ConversionPlan<'_>,
        model: &RuleModel,
        symbols: &mut Symbols,
    ) {
        let mut values: Vec<_> = values.into_iter().collect();
        values.sort_unstable();
        for (found, FirstRecord { time, stream, ordinal }) in values {
            if let Some((ty, key)) = plan.value_of(&found, stream as usize, symbols) {
                let position = ActionPosition { stream, ordinal, action: found.action };
                self.note_value(ty, key, ValueRecord { time, position, variant: 0 }, model);
            }
        }
    }

    /// Declares the values, in the order of their first records.
    fn declare(&mut self, model: &mut RuleModel, symbols: &mut Symbols) {
        let mut first_records: Vec<_> =
            std::mem::take(&mut self.first_records).into_iter().map(|(value, record)| (record, value)).collect();
        first_records.sort_unstable_by_key(|(record, (ty, _))| (*record, *ty));
        for (_, (ty, key)) in first_records {
            model.values.find_or_define(ty, key, symbols);
        }
    }

    fn link(&mut self, key: &LinkKey, mut endpoint: UnpairedEndpoint, has_variants: bool) {
        let ActionPosition { stream, ordinal, .. } = endpoint.position;
        let is_finish = endpoint.end == LinkSide::Finish;
        let Self { unpaired_endpoints, notes, log, .. } = self;
        let pairing = unpaired_endpoints.match_or_insert(key.hash(), !is_finish, || {
            if endpoint.is_partial && is_finish {
                // The first endpoint of a chain: nothing comes before it.
                notes.note(endpoint.position, UNMATCHED);
                return None;
            }
            if let Some(log) = log {
                endpoint.link = log.add_first_endpoint(stream, endpoint.time, ordinal, is_finish);
            }
            Some(endpoint)
        });
        let other = match pairing {
            Ok(EndpointMatch::Other { partner, .. }) => partner,
            Ok(_) => return,
            Err(error) => return self.failure = Some(error),
        };
        if let Some(log) = &mut self.log {
            log.add_second_endpoint((other.link, other.time), stream, endpoint.time, ordinal, is_finish);
        }
        self.survey.links += 1;
        let (start, finish) = if !is_finish { (endpoint, other) } else { (other, endpoint) };
        if has_variants {
            self.notes.note(start.position, finish.container);
            self.notes.note(finish.position, start.container);
        }
    }

    /// Returns the result after all records.
    ///
    /// # Errors
    /// If the log or another temporary file could not be written.
    pub(crate) fn finish(mut self, model: &mut RuleModel, symbols: &mut Symbols) -> io::Result<SurveyOutcome> {
        self.declare(model, symbols);
        let Self { mut survey, mut notes, unpaired_endpoints, failure, mut log, .. } = self;
        failure.map_or(Ok(()), Err)?;
        let mut unpaired_links = Vec::new();
        unpaired_endpoints.for_each(|endpoint| {
            match endpoint.end {
                _ if endpoint.is_partial => {}
                LinkSide::Start => survey.unmatched_starts += 1,
                LinkSide::Finish => survey.unmatched_ends += 1,
            }
            notes.note(endpoint.position, UNMATCHED);
            unpaired_links.push(endpoint.link);
            Ok(())
        })?;
        survey.ends = notes.finish()?;
        if let Some(log) = &mut log {
            log.finish(unpaired_links)?;
        }
        Ok(SurveyOutcome { result: survey, log })
    }
}

/// The key that pairs the endpoints of a link: its type, the keys of the container that holds it,
/// and its own keys.
pub(crate) fn link_key(
    scope: &RecordScope<'_>,
    link: usize,
    key: &[crate::rules::program::ExprCode],
    target: &crate::rules::program::ContainerTarget,
    model: &RuleModel,
    scratch: &mut String,
    symbols: &mut Symbols,
) -> LinkKey {
    let mut keys: SmallVec<[KeyPart; 8]> = SmallVec::new();
    for step in target.holder_steps(model.links[link].holder) {
        for code in step {
            let key = scope.key(code, scratch, symbols);
            keys.push(key);
            if key.is_whole() {
                break;
            }
        }
    }
    keys.extend(key.iter().map(|code| scope.key(code, scratch, symbols)));
    LinkKey::new(link, keys.into_iter())
}
