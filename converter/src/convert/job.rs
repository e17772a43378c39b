//! [`ConversionJob`]: a conversion in progress, with its passes over the records.

use std::sync::Arc;

use super::columns::evaluate::PassKind;
use super::first_pass::FirstPassVisitor;
use super::first_pass::collective_parts::PartCollector;
use super::first_pass::survey::{FirstPassCollector, FirstPassResult, SurveyOutcome};
use super::merge_pass::RecordVisitor;
use super::options::{ConvertError, ConvertOptions};
use super::planning::plan::{ConversionPlan, RequiredColumns};
use super::read_ahead::{MergePass, MinTimestamps, PassSelection, PassStats};
use super::time_order::ordered_item::ItemSelection;
use crate::clock::{
    CausalityReport, CorrectionMethod, LineLeap, LinkLog, RunClocks, UncorrectedClocks, restore_order, usual_reversal,
};
use crate::report::{ConversionCounts, ConversionReport};
use crate::rules::{RecordProgram, RuleModel, Symbols};
use crate::run::OpenRun;
use tumit_paje::time::GlobalNanos;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// A conversion in progress: its clocks, counters and diagnostics.
pub(crate) struct ConversionJob<'o> {
    pub(crate) run: &'o OpenRun,
    pub(crate) options: &'o ConvertOptions,
    pub(crate) clocks: RunClocks,
    /// Warnings and notes.
    pub(crate) diagnostics: Vec<TraceDiagnostic>,
    /// An error for each ambiguous reference.
    pub(crate) ambiguous: Vec<TraceDiagnostic>,
    pub(crate) counts: ConversionCounts,
    pub(crate) reversed_by_samples: Option<u64>,
    pub(crate) causality: Option<CausalityReport>,
    /// Reversed links by the raw clocks. Counted only if no second pass follows.
    pub(crate) reversed_raw: Option<u64>,
    pub(crate) converted_records: u64,
    pub(crate) total: u64,
}

struct FirstPassOutcome {
    result: FirstPassResult,
    floors: MinTimestamps,
    /// The log of link endpoints, if one was required.
    log: Option<LinkLog>,
}

impl<'o> ConversionJob<'o> {
    pub(crate) fn new(run: &'o OpenRun, options: &'o ConvertOptions) -> Self {
        let clocks = RunClocks::new(run, options.clock);
        Self {
            run,
            options,
            clocks,
            diagnostics: Vec::new(),
            ambiguous: Vec::new(),
            counts: ConversionCounts::default(),
            reversed_by_samples: None,
            causality: None,
            reversed_raw: None,
            converted_records: 0,
            total: 0,
        }
    }

    /// The first pass, if a rule needs it, and the clock correction by its links. Returns the
    /// minimum timestamps of the streams that have actions with timestamps of their own.
    pub(crate) fn survey(
        &mut self,
        plan: &mut ConversionPlan<'_>,
        model: &mut RuleModel,
        symbols: &mut Symbols,
    ) -> Result<(FirstPassResult, MinTimestamps), ConvertError> {
        let FirstPassOutcome { result: survey, floors, log } = self.first_pass(plan, model, symbols)?;
        self.counts.links = survey.links;
        self.counts.unmatched_starts = survey.unmatched_starts;
        self.counts.unmatched_ends = survey.unmatched_ends;
        let Some(log) = log.filter(|log| !log.is_empty()) else {
            self.judge_samples(plan);
            return Ok((survey, floors));
        };
        let raw = self.reversed_raw.map(|_| UncorrectedClocks::new(self.run, &self.clocks));
        if self.options.clock == CorrectionMethod::Graph && self.clocks.domain_of.len() > 1 {
            let processes: Vec<usize> = plan.streams.iter().map(|stream| stream.process).collect();
            let reversed = self.clocks.split(self.run, &log, &processes).map_err(ConvertError::Links)?;
            self.reversed_by_samples = Some(reversed);
        }
        if self.options.clock == CorrectionMethod::Graph && self.clocks.domains.len() > 1 {
            let extents = plan.extents(&self.clocks);
            let corrections = self.clocks.refine(self.run, &log, &extents).map_err(ConvertError::Links)?;
            for (fine, extent) in plan.timestamp_maps.iter_mut().zip(extents) {
                fine.correction.clone_from(&corrections[extent.domain]);
            }
        } else {
            self.judge_samples(plan);
        }
        if self.options.has_causal_pass {
            #[expect(clippy::cast_possible_truncation, reason = "far below 2^53")]
            let mut tick = (self.clocks.granularity().ceil() as i64 - 1).max(0);
            if self.options.clock == CorrectionMethod::Graph && self.clocks.claim_all() {
                tick = tick.max(usual_reversal(&log, &plan.timestamp_maps).map_err(ConvertError::Links)?);
            }
            let leaps: Vec<Option<Arc<Vec<LineLeap>>>> = (0..self.clocks.domains.len())
                .map(|domain| Some(self.clocks.leaps(domain)).filter(|leaps| !leaps.is_empty()).map(Arc::new))
                .collect();
            for (number, fine) in plan.timestamp_maps.iter_mut().enumerate() {
                fine.tick = tick;
                fine.leaps.clone_from(&leaps[self.clocks.domain_of[plan.streams[number].process]]);
            }
            let report = restore_order(&log, &mut plan.timestamp_maps).map_err(ConvertError::Links)?;
            self.diagnostics.extend(report.warning(&self.clocks));
            self.causality = Some(report);
        }
        if let Some(raw) = raw {
            self.count_reversed(&log, plan, &raw)?;
        }
        Ok((survey, floors))
    }

    /// Judges the clocks without messages.
    pub(crate) fn judge_samples(&mut self, plan: &ConversionPlan<'_>) {
        if self.options.clock != CorrectionMethod::None && self.clocks.domains.len() > 1 {
            let extents = plan.extents(&self.clocks);
            self.clocks.judge_samples(self.run, &extents);
        }
    }

    fn first_pass(
        &mut self,
        plan: &ConversionPlan<'_>,
        model: &mut RuleModel,
        symbols: &mut Symbols,
    ) -> Result<FirstPassOutcome, ConvertError> {
        let floors: MinTimestamps = vec![None; plan.streams.len()];
        self.total = plan.records();
        if !plan.programs.iter().any(RecordProgram::is_surveyed) {
            return Ok(FirstPassOutcome { result: FirstPassResult::default(), floors, log: None });
        }
        if self.reversed_raw.is_none() {
            self.total *= 2;
        }
        let sets_timestamps = plan.programs.iter().any(|program| program.sets_timestamps);
        let needs_log = self.options.has_causal_pass
            || self.options.clock == CorrectionMethod::Graph
            || self.reversed_raw.is_some();
        let parts = needs_log.then(|| PartCollector::new(&plan.programs)).flatten();
        let gaps = parts.is_some();
        let surveyor = FirstPassCollector::new(
            needs_log.then(|| LinkLog::with_memory(self.options.memory / 4)),
            parts,
            self.options.memory / 4 * 3,
        );
        let empty_columns = vec![None; plan.streams.len()];
        // If actions have timestamps of their own, any record can have the minimum timestamp of its
        // block, so all records are visited.
        let selects_all: fn(&RecordProgram) -> bool = |_| true;
        let item_selection =
            ItemSelection { selects: if sets_timestamps { selects_all } else { RecordProgram::is_surveyed }, gaps };
        let needs = plan.needs(if sets_timestamps { selects_all } else { |program| program.surveyed }, true);
        let pass_kind = if sets_timestamps || self.options.by_record { PassKind::Records } else { PassKind::FirstPass };
        let blocks = vec![Vec::new(); plan.streams.len()];
        let mut first =
            FirstPassVisitor { plan, model, symbols, surveyor, sets_timestamps, blocks, floors, templates: Vec::new() };
        let passed =
            self.pass(plan, PassSelection { floors: empty_columns, item_selection, pass_kind }, needs, &mut first)?;
        let FirstPassVisitor { mut surveyor, blocks, mut floors, .. } = first;
        surveyor.take_columns(passed.values, plan, model, symbols);
        surveyor.ends(plan, model, symbols);
        for (floors, mut blocks) in floors.iter_mut().zip(blocks) {
            let mut min_timestamp = i64::MAX;
            for block in blocks.iter_mut().rev() {
                min_timestamp = min_timestamp.min(*block);
                *block = min_timestamp;
            }
            if let Some(floors) = floors {
                *floors = blocks;
            }
        }
        let SurveyOutcome { result, log } = surveyor.finish(model, symbols).map_err(ConvertError::Links)?;
        Ok(FirstPassOutcome { result, floors, log })
    }

    pub(crate) fn note_reversed(&mut self, reversals: u64) {
        self.counts.reversed_links = reversals;
        if reversals > 0 {
            let links = self.counts.links;
            let text = format!("{reversals} of {links} links end before they start");
            self.diagnostics.push(TraceDiagnostic::warning(DiagnosticKind::Link, text));
        }
    }

    /// One pass over all known records and gaps. Counts the records and returns the last timestamp.
    pub(crate) fn records(
        &mut self,
        plan: &ConversionPlan<'_>,
        selection: PassSelection<'_>,
        visit: &mut impl RecordVisitor,
    ) -> Result<i64, ConvertError> {
        let needs = plan.needs(selection.item_selection.selects, false);
        let pass_stats = self.pass(plan, selection, needs, visit)?;
        for tally in &pass_stats.tallies {
            self.counts.backward_records += tally.backward_records;
            self.counts.early_timestamps += tally.early_actions;
            self.counts.unknown_records += tally.damaged_records;
            self.counts.records += tally.records;
        }
        Ok(pass_stats.tallies.iter().map(|tally| tally.end).max().unwrap_or(0))
    }

    /// One pass over the required records in order of time.
    pub(crate) fn pass(
        &mut self,
        plan: &ConversionPlan<'_>,
        selection: PassSelection<'_>,
        required_columns: RequiredColumns,
        visit: &mut impl RecordVisitor,
    ) -> Result<PassStats, ConvertError> {
        let (reads_ahead, readers) = (self.options.may_use(2), self.options.readers(plan.records()));
        let report_progress = |records: u64| {
            self.converted_records += records;
            if let Some(progress) = &self.options.progress {
                progress(self.converted_records.min(self.total), self.total);
            }
        };
        MergePass { plan, selection, required_columns, reads_ahead, readers }.run(report_progress, visit)
    }

    pub(crate) fn report(self, counts: ConversionCounts, end: i64) -> ConversionReport {
        let Self { run, clocks, .. } = self;
        let diagnostics = run
            .launch_diagnostic()
            .into_iter()
            .chain(run.truncation_diagnostic())
            .chain(clocks.diagnostics.iter().cloned())
            .chain(self.diagnostics)
            .collect();
        let dropped = run.processes.iter().fold(0, |sum: u64, process| sum.saturating_add(process.dropped_records()));
        let counts = ConversionCounts {
            paje_events: counts.paje_events,
            lines: counts.lines,
            containers: counts.containers,
            pops_of_nothing: counts.pops_of_nothing,
            unmatched_parts: counts.unmatched_parts,
            unknown_states: counts.unknown_states,
            not_computable: counts.not_computable,
            without_container: counts.without_container,
            ambiguous: counts.ambiguous,
            dropped_records: dropped,
            ..self.counts
        };
        let (reversed_by_samples, causality, losses) = (self.reversed_by_samples, self.causality, run.losses());
        ConversionReport {
            counts,
            end: GlobalNanos(end),
            losses,
            diagnostics,
            ambiguous: self.ambiguous,
            clocks,
            reversed_by_samples,
            causality,
            text_errors: Vec::new(),
        }
    }
}
