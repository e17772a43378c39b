//! [`Simulation`]: the data of a simulation in progress.

use tumit_paje::{DrawStyle, ExtraField, PajeTypeKind, SourcePosition, TraceDiagnostic, TypeId, ValueId};

use super::collector::EntityGatherer;
use super::containers::ContainerTable;
use super::entity_sink::EntitySink;
use super::entity_slot::MarkList;
use super::faults::{Fault, FaultCounts, SimFault};
use super::pending_links::PendingLinks;
use super::recent_stacks::RecentStacks;
use super::states::OpenStates;
use super::variables::VariableState;
use crate::query::entity_facts::operation_number;
use crate::query::{RawValue, TypeInfo};

/// A simulation in progress. With [`EntityGatherer`], it is converted to a
/// [`TraceStore`](crate::store::TraceStore) at its end.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Simulation<E = EntityGatherer> {
    pub(super) name: String,
    pub(super) types: Vec<TypeInfo>,
    pub(super) values: Vec<RawValue>,
    /// The type of each value, in a compact list because each operation reads it.
    pub(super) value_types: Vec<TypeId>,
    pub(super) containers: ContainerTable,
    pub(super) stacks: Vec<OpenStates>,
    #[serde(skip)]
    pub(super) recent: RecentStacks,
    pub(super) variables: Vec<VariableState>,
    /// One entry per place of point events.
    pub(super) marks: Vec<MarkList>,
    pub(super) links: PendingLinks,
    pub(super) entities: E,
    pub(super) faults: FaultCounts,
    pub(super) first: i64,
    pub(super) last: i64,
    /// The timestamp of the last operation that had one.
    pub(super) last_timestamp: i64,
    /// Whether to be as inexact as `pj_dump`.
    pub(super) mimics_pj_dump: bool,
    /// Whether the numbers are those that `pj_dump` reads.
    pub(super) has_pj_dump_text: bool,
    /// Number of states, events, links and samples so far.
    pub(super) entity_count: u64,
    /// Diagnostics from outside of the simulation.
    pub(super) diagnostics: Vec<TraceDiagnostic>,
    /// As [`TraceSummary::wall_clock`](crate::query::TraceSummary::wall_clock).
    pub(super) wall_clock: Option<i64>,
}

impl Simulation {
    /// Creates an empty simulation that collects entities. `name` is the name of the trace in
    /// titles.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self::into_entities(name, EntityGatherer::default())
    }
}

impl<E: EntitySink> Simulation<E> {
    /// Creates an empty simulation that passes entities to a receiver. `name` is the name of the
    /// trace in titles.
    pub fn into_entities(name: &str, mut entities: E) -> Self {
        let root = TypeInfo {
            id: TypeId::ROOT,
            kind: PajeTypeKind::Container,
            parent: TypeId::ROOT,
            name: name.to_owned(),
            color: None,
            style: DrawStyle::NONE,
        };
        let containers = ContainerTable::new(name);
        entities.define_type(&root);
        entities.create(containers.root());
        Self {
            name: name.to_owned(),
            types: vec![root],
            values: Vec::new(),
            value_types: Vec::new(),
            containers,
            stacks: Vec::new(),
            recent: RecentStacks::new(),
            variables: Vec::new(),
            marks: Vec::new(),
            links: PendingLinks::new(entities.overflow()),
            entities,
            faults: FaultCounts::default(),
            first: i64::MAX,
            last: i64::MIN,
            last_timestamp: i64::MIN,
            mimics_pj_dump: false,
            has_pj_dump_text: false,
            entity_count: 0,
            diagnostics: Vec::new(),
            wall_clock: None,
        }
    }

    /// Imitates `pj_dump` where it deviates from the format. Values of variables are rounded to 32
    /// bits and may become infinite. Open entities end at the timestamp of the last operation, not
    /// at the largest one. The end of a container never moves. `of_text` states that the input is
    /// text in the reading of `pj_dump`
    /// ([`PajeReader::as_pj_dump`](tumit_paje::read::PajeReader::as_pj_dump)). Then any number is a
    /// value, and the reader determines the end.
    pub(crate) fn mimicking_pj_dump(mut self, of_text: bool) -> Self {
        (self.mimics_pj_dump, self.has_pj_dump_text) = (true, of_text);
        self
    }

    /// The receiver of the entities.
    pub fn entities(&self) -> &E {
        &self.entities
    }

    /// Number of kinds of errors so far.
    #[must_use]
    pub fn kinds_of_faults(&self) -> usize {
        self.faults.kinds
    }

    /// The errors so far, one entry per kind.
    #[must_use]
    pub fn faults(&self) -> Vec<SimFault> {
        self.faults.faults().collect()
    }

    /// Adds diagnostics from outside of the simulation, such as those of the reader.
    pub fn report(&mut self, diagnostics: impl IntoIterator<Item = TraceDiagnostic>) {
        self.diagnostics.extend(diagnostics);
    }

    /// Sets the wall clock at trace time 0, in nanoseconds since 1970.
    pub(crate) fn set_wall_clock(&mut self, nanos: Option<i64>) {
        self.wall_clock = nanos;
    }

    /// Records the timestamp of an operation.
    #[inline]
    pub(super) fn advance_to(&mut self, time: i64) {
        self.first = self.first.min(time);
        self.last = self.last.max(time);
        self.last_timestamp = time;
        self.faults.time = time;
    }

    /// Whether the maximum number of entities is reached. Counts the rejected ones.
    #[inline]
    pub(super) fn is_full(&mut self) -> bool {
        let is_full = self.entity_count >= E::MOST;
        if is_full {
            self.faults.count(Fault::TooMany);
        }
        is_full
    }

    /// The number of an entity's details; 0 for most entities, which have none.
    #[inline]
    pub(super) fn detail(&mut self, extra: &[ExtraField<'_>], source: Option<SourcePosition<'_>>) -> u32 {
        if extra.is_empty() && source.is_none() { 0 } else { self.entities.detail(extra, source) }
    }

    /// As [`Self::detail`], for a state. Notes the values of parts of collective operations.
    #[inline]
    pub(super) fn state_detail(
        &mut self,
        value: ValueId,
        extra: &[ExtraField<'_>],
        source: Option<SourcePosition<'_>>,
    ) -> u32 {
        let field = |name: &str| extra.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        let operation = operation_number(|name| field(name).map(|field| field.value.into()));
        let detail = self.detail(extra, source);
        if let Some(operation) = operation {
            if let Some(info) = self.values.get_mut(value.index()) {
                info.is_collective = true;
            }
            self.entities.part(detail, operation);
        }
        detail
    }
}
