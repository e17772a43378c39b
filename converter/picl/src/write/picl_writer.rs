//! [`PiclWriter`]: collects the records of a trace, and writes them in order of time.
//!
//! The record of a send names its receiver, which a Pajé link names only at its end. So the
//! records are collected and sorted. Records that exceed a memory budget are in temporary files.

use std::fmt;
use std::io::{self, Write};

use rustc_hash::{FxHashMap, FxHashSet};
use tumit_paje::category::ActivityCategory;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{ContainerId, ExtraField, PajeEvent, PajeSink, PajeTypeKind, TypeId, ValueId, collective};
use tumit_spill::spool::Spool;

use super::action_sorter::ActionSorter;
use super::message_ends::{LinkEnd, LinkIdentity, MessageEnds};
use super::new_records::NewRecords;
use super::node_numbers::NodeNumbers;
use super::old_records::OldRecords;
use super::omitted_entities::OmittedEntities;
use super::record_output::RecordOutput;
use super::state_words::{container_of, integer_of, operation_of, text_of};
use super::subset_numbers::SubsetNumbers;
use super::unit_categories::{CategoryChange, UnitCategories};
use super::unit_records::{PiclRecordWriter, PiclStyle};
use super::written_meanings::{StateMeaning, WrittenMeaning, WrittenMeanings};
use super::written_types::WrittenTypes;
use crate::model::state_fields::{BLOCK, DATA, END_DATA};
use crate::model::{PiclEndpoint, StateFields, TraceAction, TraceActionKind, TraceUnit};
use crate::node_activity::Activity;

/// A state that has begun.
#[derive(Clone, Copy, Debug)]
struct OpenRecord {
    meaning: StateMeaning,
    /// The words of its actions.
    words: [i64; 3],
}

/// Writes PICL.
///
/// ```
/// use tumit_paje::read::read;
/// use tumit_picl::{PiclStyle, PiclWriter};
///
/// let paje = b"\
/// %EventDef PajeDefineContainerType 0
/// % Alias string
/// % Type string
/// % Name string
/// %EndEventDef
/// %EventDef PajeCreateContainer 1
/// % Time date
/// % Alias string
/// % Type string
/// % Container string
/// % Name string
/// %EndEventDef
/// 0 P 0 Process
/// 1 0.5 p P 0 first
/// ";
/// let mut text = Vec::new();
/// read(&paje[..], &mut PiclWriter::new(&mut text, PiclStyle::New))?;
/// // The container has no entity.
/// assert_eq!(text, b"");
/// # Ok::<(), tumit_paje::read::PajeReadError>(())
/// ```
pub struct PiclWriter<W: Write> {
    out: W,
    records: Box<dyn PiclRecordWriter>,
    types: WrittenTypes,
    meanings: WrittenMeanings,
    categories: UnitCategories,
    subsets: SubsetNumbers,
    nodes: NodeNumbers,
    actions: ActionSorter,
    /// The open states of each container and type.
    open_records: FxHashMap<(ContainerId, TypeId), Vec<OpenRecord>>,
    links: MessageEnds,
    texts: Spool,
    /// The units with an end of their trace.
    finished_units: FxHashSet<TraceUnit>,
    omitted_entities: OmittedEntities,
}

impl<W: Write> fmt::Debug for PiclWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PiclWriter").field("omitted_entities", &self.omitted_entities).finish_non_exhaustive()
    }
}

impl<W: Write> PiclWriter<W> {
    /// Creates a writer. `out` needs no buffer. All records are written when the trace ends.
    pub fn new(out: W, style: PiclStyle) -> Self {
        let records: Box<dyn PiclRecordWriter> = match style {
            PiclStyle::New => Box::new(NewRecords),
            PiclStyle::OldCompact => Box::new(OldRecords::new(false)),
            PiclStyle::OldVerbose => Box::new(OldRecords::new(true)),
        };
        Self {
            out,
            records,
            types: WrittenTypes::default(),
            meanings: WrittenMeanings::default(),
            categories: UnitCategories::default(),
            subsets: SubsetNumbers::default(),
            nodes: NodeNumbers::default(),
            actions: ActionSorter::new(),
            open_records: FxHashMap::default(),
            links: MessageEnds::default(),
            texts: Spool::default(),
            finished_units: FxHashSet::default(),
            omitted_entities: OmittedEntities::default(),
        }
    }

    /// Sets the categories of the states of other traces than PICL to which the trace gives none.
    /// Without this, such a state becomes a task, during which the node computes.
    #[must_use]
    pub fn with_category_guess(mut self, guess: fn(&str) -> ActivityCategory) -> Self {
        self.meanings.guess = Some(guess);
        self
    }

    /// Numbers of entities that PICL cannot represent, by kind.
    pub fn omitted_entities(&self) -> OmittedEntities {
        self.omitted_entities
    }

    /// The unit of a container. Its first record is the start of its trace.
    fn unit(&mut self, container: ContainerId, time: GlobalNanos) -> io::Result<TraceUnit> {
        let (unit, is_new) = self.nodes.unit(container);
        if is_new {
            let start = self.actions.action(time, TraceActionKind::Start, 0, [0; 3]);
            self.actions.push(unit, start)?;
            if self.writes_categories() {
                self.categories.start(self.actions.number(unit), time.0);
            }
        }
        Ok(unit)
    }

    /// The unit of an endpoint of a message. If states are only below its container, it is that of
    /// the first container with states, so that the messages and the states have the same node.
    fn message_unit(&mut self, container: ContainerId, time: GlobalNanos) -> io::Result<TraceUnit> {
        let has_states = self.types.of_container(container).is_some_and(|ty| self.types.has_states(ty));
        let below = self.nodes.container_below(container).filter(|_| !has_states);
        self.unit(below.unwrap_or(container), time)
    }

    fn is_deciding(&mut self, container: ContainerId, ty: TypeId) -> bool {
        self.meanings.is_picl || self.types.is_deciding(container, ty, &self.meanings)
    }

    /// The data of the records of a state.
    fn fields_of(
        &mut self,
        (node, time): (i64, GlobalNanos),
        meaning: StateMeaning,
        extra: &[ExtraField<'_>],
    ) -> io::Result<StateFields> {
        let mut fields = StateFields {
            location: integer_of(extra, &["location"]),
            parameter: integer_of(extra, &["parameter"]),
            block: integer_of(extra, &[BLOCK]),
            ..StateFields::default()
        };
        // Data of other traces would be read as values of the event.
        if self.meanings.is_picl || meaning.activity.is_none() {
            fields.data = text_of(extra, &[DATA]).into_bytes();
            fields.end_data = text_of(extra, &[END_DATA]).into_bytes();
        }
        if meaning.activity.is_some_and(|(activity, _)| activity.collective_kind().is_some()) {
            fields.bytes = integer_of(extra, &[collective::BYTES]);
            let communicator = text_of(extra, &[collective::COMMUNICATOR]);
            fields.subset = Some(self.subsets.number(&communicator, node));
            fields.root = match container_of(extra, collective::ROOT) {
                Some(root) => Some(self.unit(root, time)?.node),
                None => integer_of(extra, &[collective::IS_ROOT]).filter(|is_root| *is_root == 1).map(|_| node),
            };
        }
        Ok(fields)
    }

    fn words_of(&mut self, fields: &StateFields) -> io::Result<[i64; 3]> {
        if fields.is_empty() {
            return Ok([0; 3]);
        }
        let bytes = fields.to_bytes();
        Ok([self.texts.append(&bytes)?.cast_signed(), bytes.len() as i64, 1])
    }

    fn begin(
        &mut self,
        time: GlobalNanos,
        container: ContainerId,
        (ty, value): (TypeId, ValueId),
        extra: &[ExtraField<'_>],
    ) -> io::Result<()> {
        let unit = self.unit(container, time)?;
        let is_deciding = self.is_deciding(container, ty);
        let meaning = self.meanings.state(value, is_deciding, operation_of(extra));
        let fields = self.fields_of((unit.node, time), meaning, extra)?;
        let words = self.words_of(&fields)?;
        self.open_records.entry((container, ty)).or_default().push(OpenRecord { meaning, words });
        let kind = match meaning.activity {
            Some((Activity::Finished, _)) => TraceActionKind::Finish,
            Some((Activity::Unknown, _)) => TraceActionKind::Stop,
            Some((Activity::Compute, _)) => return Ok(()),
            _ => TraceActionKind::Begin,
        };
        if kind != TraceActionKind::Begin {
            self.finished_units.insert(unit);
        }
        if is_deciding && self.writes_categories() {
            self.advance(unit, time)?;
            let number = self.actions.number(unit);
            let ended = self.categories.begin(number, time.0, meaning.category, meaning.activity.is_some());
            self.change_category(unit, ended)?;
        }
        if let Some((_, index)) = meaning.activity {
            let action = self.actions.action(time, kind, index, words);
            self.actions.push(unit, action)?;
        }
        if let Some(task) = meaning.task {
            let words = if meaning.activity.is_none() { words } else { [0; 3] };
            let action = self.actions.action(time, kind, task, words);
            self.actions.push(unit, action)?;
        }
        Ok(())
    }

    fn end(&mut self, time: GlobalNanos, container: ContainerId, ty: TypeId) -> io::Result<bool> {
        let Some(OpenRecord { meaning, words }) = self.open_records.get_mut(&(container, ty)).and_then(Vec::pop) else {
            return Ok(false);
        };
        let unit = self.unit(container, time)?;
        let is_derived = |activity| matches!(activity, Activity::Compute | Activity::Finished | Activity::Unknown);
        if meaning.activity.is_some_and(|(activity, _)| is_derived(activity)) {
            return Ok(true);
        }
        let is_deciding = self.is_deciding(container, ty);
        if is_deciding && self.writes_categories() {
            self.advance(unit, time)?;
            let number = self.actions.number(unit);
            let ended = self.categories.end(number, time.0, meaning.activity.is_some());
            self.change_category(unit, ended)?;
        }
        if let Some((_, index)) = meaning.activity {
            let action = self.actions.action(time, TraceActionKind::End, index, words);
            self.actions.push(unit, action)?;
        }
        if let Some(task) = meaning.task {
            let words = if meaning.activity.is_none() { words } else { [0; 3] };
            let action = self.actions.action(time, TraceActionKind::End, task, words);
            self.actions.push(unit, action)?;
        }
        Ok(true)
    }

    /// Whether events for categories are written. A trace of PICL has them already.
    fn writes_categories(&self) -> bool {
        !self.meanings.is_picl && self.records.has_categories()
    }

    /// Settles the category of a unit before a time.
    fn advance(&mut self, unit: TraceUnit, time: GlobalNanos) -> io::Result<()> {
        let number = self.actions.number(unit);
        let begun = self.categories.advance(number, time.0);
        self.change_category(unit, begun)
    }

    fn change_category(&mut self, unit: TraceUnit, change: Option<CategoryChange>) -> io::Result<()> {
        let Some(CategoryChange { time, activity, begins }) = change else { return Ok(()) };
        let index = self.meanings.of_activity(activity);
        let kind = if begins { TraceActionKind::Begin } else { TraceActionKind::End };
        let action = self.actions.action(GlobalNanos(time), kind, index, [0; 3]);
        self.actions.push(unit, action)
    }

    /// Ends the states of a container, and the trace of its unit.
    fn destroy(&mut self, time: GlobalNanos, container: ContainerId) -> io::Result<()> {
        let Some(unit) = self.nodes.known_unit(container) else { return Ok(()) };
        let mut types: Vec<TypeId> =
            self.open_records.keys().filter(|(of, _)| *of == container).map(|(_, ty)| *ty).collect();
        types.sort_unstable();
        for ty in types {
            while self.end(time, container, ty)? {}
            self.open_records.remove(&(container, ty));
        }
        self.finish_category(unit, time)?;
        if !self.finished_units.insert(unit) {
            return Ok(());
        }
        let action = self.actions.action(time, TraceActionKind::Finish, 0, [0; 3]);
        self.actions.push(unit, action)
    }

    fn finish_category(&mut self, unit: TraceUnit, time: GlobalNanos) -> io::Result<()> {
        self.advance(unit, time)?;
        let number = self.actions.number(unit);
        let ended = self.categories.finish(number, time.0);
        self.change_category(unit, ended)
    }

    fn event_of(
        &mut self,
        time: GlobalNanos,
        container: ContainerId,
        value: ValueId,
        extra: &[ExtraField<'_>],
    ) -> io::Result<()> {
        let index = self.meanings.of_event(value);
        let meaning = self.meanings.get(index);
        if meaning == WrittenMeaning::Nothing {
            self.omitted_entities.events += 1;
            return Ok(());
        }
        let is_of_program = self.meanings.is_of_program(value);
        let unit = if is_of_program { TraceUnit::PROGRAM } else { self.unit(container, time)? };
        let text = text_of(extra, &["text", "data"]);
        let words = [self.texts.append(text.as_bytes())?.cast_signed(), text.len() as i64, 1];
        let action = self.actions.action(time, TraceActionKind::Event, index, words);
        self.actions.push(unit, action)
    }

    /// Adds an endpoint of a link. With the second one, both records of the message are known.
    fn link(&mut self, link: LinkIdentity, end: LinkEnd) -> io::Result<()> {
        let Some((start, end)) = self.links.add(link, end) else { return Ok(()) };
        self.push_endpoint(start, (TraceActionKind::Send, start), end.unit)?;
        self.push_endpoint(start, (TraceActionKind::Receive, end), start.unit)
    }

    /// Adds the record of an endpoint of a message. `start` has the data of the message.
    fn push_endpoint(
        &mut self,
        start: LinkEnd,
        (kind, end): (TraceActionKind, LinkEnd),
        peer: TraceUnit,
    ) -> io::Result<()> {
        let tag = start.tag.or_else(|| self.meanings.name(start.value).parse().ok());
        let tag = tag.unwrap_or(start.value.0.into());
        let words = PiclEndpoint { peer, tag, bytes: start.bytes }.to_words();
        let (time, line, unit) = (end.time, end.sequence, 0);
        self.actions.push(end.unit, TraceAction { time, line, kind, unit, value: 0, words })
    }

    /// Writes messages that are not received as sends. Their peer is the container at which they
    /// should end.
    fn push_open_sends(&mut self) -> io::Result<()> {
        for end in self.links.take_unpaired() {
            if !end.is_start {
                self.omitted_entities.link_ends += 1;
                continue;
            }
            let peer = match end.destination {
                Some(destination) => self.message_unit(destination, GlobalNanos(end.time))?,
                None => self.nodes.absent_unit(),
            };
            self.push_endpoint(end, (TraceActionKind::Send, end), peer)?;
        }
        Ok(())
    }

    /// Ends the states that are still open.
    fn end_states(&mut self, end: GlobalNanos) -> io::Result<()> {
        let mut open: Vec<(ContainerId, TypeId, usize)> =
            self.open_records.iter().map(|((container, ty), states)| (*container, *ty, states.len())).collect();
        open.sort_unstable();
        for (container, ty, depth) in open {
            for _ in 0..depth {
                self.end(end, container, ty)?;
            }
        }
        Ok(())
    }

    /// Writes all records in order of time.
    fn write_all(&mut self, end: GlobalNanos) -> io::Result<()> {
        let mut buffer = Vec::new();
        for (number, name) in std::mem::take(&mut self.meanings.labels) {
            if !self.records.label(number, &name, &mut buffer) {
                self.omitted_entities.names += 1;
            }
        }
        for (subset, nodes) in self.subsets.definitions() {
            if !self.records.subset(subset, &nodes, &mut buffer) {
                self.omitted_entities.names += 1;
            }
        }
        let rows = self.actions.take()?;
        let units = self.actions.units();
        let mut output = RecordOutput {
            records: &mut *self.records,
            meanings: &self.meanings,
            units,
            texts: &self.texts,
            is_finished: vec![false; units.units.len()],
            omitted_entities: self.omitted_entities,
        };
        let result = output.write(rows, end, &mut self.out, buffer);
        self.omitted_entities = output.omitted_entities;
        result?;
        self.out.flush()
    }
}

/// The names of fields with the size of a message.
const SIZE_FIELDS: &[&str] = &["bytes", "size", "length", "lth"];
/// The names of fields with the type of a message.
const TAG_FIELDS: &[&str] = &["type", "tag"];
/// The field of a link start with the container at which it should end.
const DESTINATION_FIELD: &str = "sent to";

impl<W: Write> PajeSink for PiclWriter<W> {
    fn event(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        match *event {
            PajeEvent::DefineType { ty, name, kind, parent, .. } => {
                self.types.define(ty, name, parent, kind == PajeTypeKind::State);
            }
            PajeEvent::DefineValue { value, ty, name, category, .. } => {
                self.meanings.define(value, (ty, self.types.name(ty)), name, category);
            }
            PajeEvent::CreateContainer { container, ty, parent, name, .. } => {
                self.types.create(container, ty);
                let names = (self.types.name(ty), name);
                self.nodes.is_picl = self.meanings.is_picl;
                self.nodes.create((container, parent), names, self.types.has_states(ty));
            }
            PajeEvent::DestroyContainer { time, container, .. } => self.destroy(time, container)?,
            PajeEvent::SetState { time, container, ty, value, extra, .. } => {
                while self.end(time, container, ty)? {}
                self.begin(time, container, (ty, value), extra)?;
            }
            PajeEvent::PushState { time, container, ty, value, extra, .. } => {
                self.begin(time, container, (ty, value), extra)?;
            }
            PajeEvent::PopState { time, container, ty } => _ = self.end(time, container, ty)?,
            PajeEvent::ResetState { time, container, ty } => while self.end(time, container, ty)? {},
            PajeEvent::Variable { .. } => self.omitted_entities.variable_values += 1,
            PajeEvent::NewEvent { time, container, value, extra, .. } => {
                self.event_of(time, container, value, extra)?;
            }
            PajeEvent::StartLink { time, container, ty, value, start, key, extra, .. } => {
                let unit = self.message_unit(start, time)?;
                let (bytes, tag) = (integer_of(extra, SIZE_FIELDS).unwrap_or(0), integer_of(extra, TAG_FIELDS));
                let (time, sequence, is_start, destination) =
                    (time.0, self.actions.next_position(), true, container_of(extra, DESTINATION_FIELD));
                let start = LinkEnd { is_start, unit, time, sequence, bytes, tag, value, destination };
                self.link((container, ty, key), start)?;
            }
            PajeEvent::EndLink { time, container, ty, value, end, key, .. } => {
                let unit = self.message_unit(end, time)?;
                let (time, sequence, is_start, destination) = (time.0, self.actions.next_position(), false, None);
                let end = LinkEnd { is_start, unit, time, sequence, bytes: 0, tag: None, value, destination };
                self.link((container, ty, key), end)?;
            }
        }
        Ok(())
    }

    fn keeps_open_links(&self) -> bool {
        true
    }

    fn settle_unpaired_endpoints(&mut self) -> io::Result<()> {
        // `finish` writes them, because Pajé text can also have links without an end.
        Ok(())
    }

    fn finish(&mut self, end: GlobalNanos) -> io::Result<()> {
        self.push_open_sends()?;
        self.end_states(end)?;
        for unit in self.actions.units().units.clone() {
            self.finish_category(unit, end)?;
        }
        // All nodes are idle after their last records, until the end of the trace.
        if self.actions.is_before(end) && self.writes_categories() {
            let index = self.meanings.end_of_trace();
            let action = self.actions.action(end, TraceActionKind::Event, index, [0; 3]);
            self.actions.push(TraceUnit::PROGRAM, action)?;
        }
        self.write_all(end)
    }
}
