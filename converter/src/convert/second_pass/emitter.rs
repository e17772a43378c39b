//! [`Emitter`]: the state of the second pass, with its begin and its end.

use std::borrow::Cow;
use std::io;

use super::ambiguous_references::AmbiguousReferences;
use super::container_cache::ContainerCache;
use super::end_table::EndTable;
use super::failures::EvaluationFailures;
use super::open_link::OpenLink;
use super::single_pass_state::SinglePassState;
use super::stream_gaps::StreamGaps;
use super::template_table::TemplateTable;
use crate::convert::first_pass::survey::FirstPassResult;
use crate::convert::operation_numbers::OperationNumbers;
use crate::convert::planning::labels::LabelSuffixes;
use crate::convert::planning::plan::ConversionPlan;
use crate::report::ConversionCounts;
use crate::rules::container_instances::ContainerInstances;
use crate::rules::program::{ExprCode, RecordProgram};
use crate::rules::rule_model::RuleModel;
use crate::rules::rule_value::Symbols;
use crate::rules::value_cache::KnownValues;
use crate::rules::value_table::ValueTable;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{PajeEvent, PajeSink, TraceDiagnostic};
use tumit_spill::endpoint_map::EndpointMap;

/// The state of the second pass.
pub(crate) struct Emitter<'p> {
    pub(crate) plan: &'p ConversionPlan<'p>,
    pub(super) model: &'p RuleModel,
    pub(super) survey: &'p mut FirstPassResult,
    pub(super) symbols: &'p mut Symbols,
    pub(super) sink: &'p mut dyn PajeSink,
    pub(super) instances: ContainerInstances,
    pub(super) open_links: EndpointMap<OpenLink, 4>,
    pub(super) next_key: u64,
    pub(super) operations: OperationNumbers,
    pub(super) time: GlobalNanos,
    pub(super) scratch: String,
    pub(super) gaps: StreamGaps,
    pub(super) container_cache: ContainerCache,
    pub(super) failures: EvaluationFailures,
    pub(super) ambiguous: AmbiguousReferences,
    /// The values of the model. In a single pass, also the values found so far.
    pub(super) values: Cow<'p, ValueTable>,
    pub(super) known_values: KnownValues,
    pub(super) templates: TemplateTable<'p>,
    /// Suffixes of labels that would be equal.
    pub(super) label_suffixes: LabelSuffixes,
    pub(super) ends: EndTable,
    /// Set in a single pass.
    pub(super) single_pass: Option<SinglePassState>,
    /// Whether the sink keeps the starts of links that never end.
    pub(crate) keeps_open_links: bool,
    pub(super) counts: ConversionCounts,
}

/// Diagnostics about omitted actions and values.
#[derive(Debug, Default)]
pub(crate) struct OmissionReport {
    /// Values that could not be computed.
    pub(crate) failures: Vec<TraceDiagnostic>,
    /// Ambiguous references.
    pub(crate) ambiguous: Vec<TraceDiagnostic>,
}

impl<'p> Emitter<'p> {
    /// Sends the definitions and creates the containers of types with exactly one container.
    ///
    /// If records may be missing, values for unknown states are defined as well. `once` is set in a
    /// single pass.
    pub(crate) fn begin(
        plan: &'p ConversionPlan<'p>,
        model: &'p RuleModel,
        survey: &'p mut FirstPassResult,
        symbols: &'p mut Symbols,
        sink: &'p mut dyn PajeSink,
        single_pass: Option<SinglePassState>,
    ) -> io::Result<Self> {
        let events = model.define(sink)?;
        let mut emitter = Self {
            plan,
            model,
            survey,
            symbols,
            sink,
            instances: ContainerInstances::default(),
            open_links: EndpointMap::default(),
            next_key: 0,
            operations: OperationNumbers::default(),
            time: GlobalNanos(0),
            scratch: String::new(),
            gaps: StreamGaps::default(),
            container_cache: ContainerCache::default(),
            failures: EvaluationFailures::default(),
            ambiguous: AmbiguousReferences::default(),
            values: Cow::Borrowed(&model.values),
            known_values: KnownValues::default(),
            templates: TemplateTable::default(),
            label_suffixes: LabelSuffixes::default(),
            ends: EndTable::of(plan),
            single_pass,
            keeps_open_links: false,
            counts: ConversionCounts { paje_events: events, ..ConversionCounts::default() },
        };
        emitter.label_suffixes = LabelSuffixes::of(plan, model, emitter.symbols);
        if plan.run().may_have_gaps() {
            for ty in model.containers.iter().flat_map(|container| &container.states) {
                emitter.unknown_value(*ty)?;
            }
        }
        for (container, kind) in model.containers.iter().enumerate() {
            if kind.is_single {
                emitter.create_keyless(container)?;
            }
        }
        Ok(emitter)
    }

    /// Ends all open containers at `end`, children first. Returns the counts and their
    /// explanations, or `None` if a single pass is void.
    pub(crate) fn finish(mut self, end: i64) -> io::Result<Option<(ConversionCounts, OmissionReport)>> {
        if !self.settle_unpaired()? {
            return Ok(None);
        }
        self.end_before(end.saturating_add(1))?;
        self.time = GlobalNanos(end);
        for top in self.instances.top_instances().into_iter().rev() {
            self.destroy(top)?;
        }
        self.sink.finish(self.time)?;
        let explanations = OmissionReport {
            failures: self.failures.diagnostics(self.symbols),
            ambiguous: self.ambiguous.diagnostics(),
        };
        Ok(Some((self.counts, explanations)))
    }

    pub(super) fn emit(&mut self, event: &PajeEvent<'_>) -> io::Result<()> {
        self.counts.paje_events += 1;
        self.sink.event(event)
    }

    /// Notes a value that cannot be computed.
    #[cold]
    pub(super) fn note_failure(&mut self, program: &RecordProgram, code: &ExprCode) {
        self.counts.not_computable += 1;
        self.failures.add(program, code);
    }
}
