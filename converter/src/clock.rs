//! Maps the clocks of the processes to one time line.
//!
//! Processes that read one hardware clock form a *domain*, which has one rate and one map. The
//! reference domain is that of the first process (the lowest rank). Exchanges of messages between
//! domains (*sync samples*) give the offsets of the others. Without sync samples, the readings of
//! the real-time clock give them.
//!
//! ```
//! # use tumit_test_support::synthetic_run::{SyntheticFile, SyntheticProcess, SyntheticRecords};
//! # let folder = tempfile::tempdir()?;
//! # let text = "trace heat; level APP { event step { n: u32 } }";
//! # let spec = tumit::compile_text("heat.tumit", text).0.expect("correct");
//! # let mut file = SyntheticFile::new(&SyntheticProcess::rank(0), &spec.schema());
//! # file.thread(0, 1, "main");
//! # let mut records = SyntheticRecords::default();
//! # records.record(0, 1_000, &5u32.to_le_bytes());
//! # records.record(0, 2_000, &6u32.to_le_bytes());
//! # file.records(0, 0, &records);
//! # file.end();
//! # file.save(folder.path(), "0.tmt");
//! # let path = folder.path();
//! use tumit_converter::clock::{CorrectionMethod, RunClocks, TimestampSource};
//! use tumit_converter::run::OpenRun;
//!
//! let clocks = RunClocks::new(&OpenRun::open(path)?, CorrectionMethod::Bursts);
//! assert_eq!(clocks.domains[0].status, TimestampSource::Reference);
//! assert_eq!(clocks.domain_of, [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod burst;
pub(crate) mod clock_diagnostics;
pub(crate) mod controlled_logical_clock;
pub(crate) mod correction;
mod domain;
pub(crate) mod envelope;
pub(crate) mod error_bounds;
pub(crate) mod fit;
mod graph;
pub(crate) mod least_squares;
mod limits;
mod link_log;
pub(crate) mod min_delays;
mod outliers;
pub(crate) mod part_counts;
mod run_clocks;
mod samples;
mod steps;
mod time_constants;

pub use controlled_logical_clock::CausalityReport;
pub(crate) use controlled_logical_clock::{restore_order, usual_reversal};
pub(crate) use domain::stream_extent::StreamExtent;
pub use domain::tick_map::ClockMap;
pub(crate) use domain::timestamp_map::{LineLeap, TimestampMap};
pub use domain::{ClockDeviation, ClockDomain, TimelineStep, TimestampSource};
pub(crate) use fit::uncorrected_clocks::{LoggedEndpoint, UncorrectedClocks};
pub(crate) use link_log::{LinkEndpoint, LinkLog};
pub(crate) use part_counts::PartEndpoint;
pub use run_clocks::{CorrectionMethod, RunClocks};

use std::io;
use std::sync::Arc;

use crate::run::OpenRun;
use burst::SyncBurst;
use clock_diagnostics::{correction_diagnostics, repeated_timestamps};
use correction::CorrectionPoint;
use domain::stream_extent::TickRange;
use domain::tick_map::MapKnot;
use domain::{ProcessDomains, domains_of};
use fit::DomainCorrections;
use fit::refinement::{DeviationPoint, DomainFit};
use min_delays::RunSpan;
use outliers::drift_consistency::USUAL_WANDER;
use run_clocks::leap;
use samples::SyncSamples;
use steps::from_messages::OF_TICKS;
use tumit_paje::TraceDiagnostic;

/// Up to this number, reversed links between processes of one clock are no evidence of different
/// clocks.
const MIN_REVERSED: u64 = 3;

impl RunClocks {
    /// The model of a run by its sync samples alone. Its timestamps do not yet count from the start
    /// of the run.
    ///
    /// Only the rules know the messages between processes. A conversion by
    /// [`CorrectionMethod::Graph`] refines the model with them.
    #[must_use]
    pub fn new(run: &OpenRun, method: CorrectionMethod) -> Self {
        let ProcessDomains { mut domains, domain_of } = domains_of(run);
        let readings = first_readings(run, &domain_of, domains.len());
        let mut data_errors: Vec<TraceDiagnostic> = repeated_timestamps(run).collect();
        if method == CorrectionMethod::None {
            if domains.len() > 1 {
                domains.iter_mut().for_each(|domain| domain.status = TimestampSource::Off);
            }
        } else {
            remove_observed_steps(run, &mut domains, &domain_of);
            let without_steps = |domain: usize, ticks: u64| domains[domain].observed_steps.without_steps(ticks);
            let SyncSamples { bursts, errors, samples_of_absent, .. } =
                samples::collect(run, &domain_of, &domains, without_steps, USUAL_WANDER);
            domains.iter_mut().zip(samples_of_absent).for_each(|(domain, absent)| domain.absent_samples = absent);
            data_errors.extend(errors);
            data_errors.extend(apply_bursts(&mut domains, &bursts, &readings));
            domains.iter_mut().for_each(ClockDomain::set_steps);
        }
        let diagnostics = correction_diagnostics(&domains, false);
        Self { diagnostics, domains, domain_of, data_errors, wander: None }
    }

    /// Gives separate domains to processes of one named clock if too many links between them end
    /// before they start. `processes` contains the process of each stream. Returns the number of
    /// all links that end before they start.
    ///
    /// # Errors
    /// If the temporary file of the log cannot be read.
    pub(crate) fn split(&mut self, run: &OpenRun, log: &LinkLog, processes: &[usize]) -> io::Result<u64> {
        let mut counts_in_domains = vec![LinkCounts::default(); self.domains.len()];
        let mut all_reversed = 0;
        log.pairs(|start, finish| {
            let reversed = u64::from(finish.timestamp < start.timestamp);
            all_reversed += reversed;
            let (from, to) = (processes[start.stream as usize], processes[finish.stream as usize]);
            if from != to && self.domain_of[from] == self.domain_of[to] {
                let counts = &mut counts_in_domains[self.domain_of[from]];
                counts.links += 1;
                counts.reversals += reversed;
            }
        })?;
        for (domain, counts) in counts_in_domains.into_iter().enumerate() {
            if counts.reversals <= MIN_REVERSED.max(counts.links / 1000) {
                continue;
            }
            let mut members = (0..self.domain_of.len()).filter(|process| self.domain_of[*process] == domain);
            let first = members.next();
            for process in members.collect::<Vec<usize>>() {
                self.domain_of[process] = self.domains.len();
                let name = format!("{} of process {}", self.domains[domain].name, run.processes[process].pid);
                // It follows the clock of the first process, until messages determine its own.
                let status = if domain == 0 { TimestampSource::RealTime } else { self.domains[domain].status };
                self.domains.push(ClockDomain { name, processes: 1, status, ..self.domains[domain].clone() });
            }
            if first.is_some() {
                self.domains[domain].processes = 1;
                self.domains[domain].was_split = true;
            }
        }
        Ok(all_reversed)
    }

    /// Corrects the clocks further by the messages of the run. Returns the correction that each
    /// domain adds to its raw timestamps.
    ///
    /// # Errors
    /// If the temporary file of the log cannot be read.
    pub(crate) fn refine(
        &mut self,
        run: &OpenRun,
        log: &LinkLog,
        streams: &[StreamExtent],
    ) -> io::Result<DomainCorrections> {
        // The ticks need no correction here, because the map of the domain includes the known clock
        // steps.
        let collect = |wander| samples::collect(run, &self.domain_of, &self.domains, |_, ticks| ticks, wander);
        let mut samples = collect(USUAL_WANDER);
        // Bursts also contradict each other if clock rates change. Messages show the size of these
        // changes.
        let fitted = if samples.has_outliers { fit::refinement::wander_by_messages(self, log, streams)? } else { None };
        let larger_wander = fitted.filter(|wander| *wander > USUAL_WANDER);
        if let Some(wander) = larger_wander {
            samples = collect(wander);
        }
        let SyncSamples { bursts, errors, .. } = samples;
        let Some(mut refined) = fit::refinement::refine(self, &bursts, log, streams)? else {
            self.judge_bursts(&bursts, streams);
            return Ok(vec![None; self.domains.len()]);
        };
        self.data_errors = repeated_timestamps(run).chain(errors).collect();
        self.data_errors.extend(fit::causality_bounds::diagnostics(&refined.contradictions, &self.domains));
        let counts = refined.bursts.take().or_else(|| larger_wander.map(|_| fit::rebase::rebase(self, &bursts).bursts));
        for (domain, bursts) in self.domains.iter_mut().zip(counts.into_iter().flatten()) {
            domain.bursts = bursts;
        }
        let mut corrections = std::mem::take(&mut refined.corrections);
        let first = start_at_first_record(&mut corrections, streams);
        let span = RunSpan { start: refined.span.start - first, end: refined.span.end - first };
        self.wander = Some(refined.wander);
        for (number, fit) in refined.fits.iter().enumerate() {
            self.apply_corrections(number, &refined.steps[number], &corrections);
            self.apply_fit(number, fit, span);
        }
        self.measure(run);
        self.diagnostics = correction_diagnostics(&self.domains, true);
        Ok(corrections)
    }

    /// Applies the corrections to the map, the clock steps and the leaps of a domain. `steps` are
    /// the clock steps that messages show.
    fn apply_corrections(&mut self, number: usize, steps: &[CorrectionPoint], corrections: &DomainCorrections) {
        let corrected = |raw: i64| fit::apply_correction(corrections, number, raw);
        let domain = &mut self.domains[number];
        domain.map = domain.map.with_correction(corrections[number].clone());
        // The raw timestamps already include the clock steps that the processes observed.
        for step in &mut domain.clock_steps {
            step.timestamp = corrected(step.timestamp);
        }
        let from_messages =
            |step: &CorrectionPoint| TimelineStep { timestamp: corrected(step.raw), size: -step.correction };
        domain.clock_steps.extend(steps.iter().map(from_messages));
        domain.clock_steps.sort_unstable();
        let backward = steps.iter().filter(|step| step.correction > 0);
        domain.leaps = backward.filter_map(|step| leap(corrected, step.raw)).collect();
    }

    /// Sets the properties of a domain by the result of the fit. `span` is the time range of the
    /// fit, from the first record.
    fn apply_fit(&mut self, number: usize, fit: &DomainFit, span: RunSpan) {
        let domain = &mut self.domains[number];
        (domain.edges, domain.messages) = (fit.edges, fit.messages);
        let Some(root) = fit.root else { return };
        domain.hops = fit.hops;
        (domain.residual_nanos, domain.residual_p95_nanos) = (fit.residuals.median, fit.residuals.p95);
        domain.corridor_nanos = fit.width;
        domain.error_bound_nanos = Some(fit.error_bound).filter(|width| width.is_finite());
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            reason = "the nanoseconds are only displayed"
        )]
        let timestamp = |fraction: f64| span.start + ((span.end - span.start) as f64 * fraction) as i64;
        let deviation =
            |point: &DeviationPoint| ClockDeviation { timestamp: timestamp(point.fraction), nanos: point.nanos };
        domain.deviations = fit.deviations.iter().map(deviation).collect();
        domain.deviation_nanos = fit.deviations.iter().map(|point| point.nanos.abs()).fold(0.0, f64::max);
        let status_of_root = self.domains[root].status;
        let domain = &mut self.domains[number];
        domain.status = match domain.status {
            TimestampSource::Reference => TimestampSource::Reference,
            // The domain is connected to others, but not to the reference.
            _ if root > 0 => status_of_root,
            // A cycle of messages constrains the offset in both directions.
            _ if fit.one_way && !fit.error_bound.is_finite() => TimestampSource::OneWay,
            _ if fit.samples > 0 => TimestampSource::BurstsAndMessages,
            _ => TimestampSource::Messages,
        };
    }

    /// Computes the quality of the timestamps from the samples alone. `streams` contains the time
    /// ranges of the streams.
    pub(crate) fn judge_samples(&mut self, run: &OpenRun, streams: &[StreamExtent]) {
        let SyncSamples { bursts, .. } =
            samples::collect(run, &self.domain_of, &self.domains, |_, ticks| ticks, USUAL_WANDER);
        self.judge_bursts(&bursts, streams);
    }

    fn judge_bursts(&mut self, bursts: &[SyncBurst], streams: &[StreamExtent]) {
        if bursts.is_empty() {
            return;
        }
        let qualities = fit::sample_bounds::quality(self, bursts, streams);
        for (domain, quality) in self.domains.iter_mut().zip(qualities) {
            domain.edges = quality.edges;
            (domain.residual_nanos, domain.residual_p95_nanos) = (quality.residuals.median, quality.residuals.p95);
            domain.error_bound_nanos = Some(quality.error_bound).filter(|width| width.is_finite());
        }
    }

    /// Computes the offset of each domain at its first record and its drift over the run, from the
    /// maps.
    fn measure(&mut self, run: &OpenRun) {
        let mut ranges: Vec<Option<TickRange>> = vec![None; self.domains.len()];
        for (process, &domain) in run.processes.iter().zip(&self.domain_of) {
            for stream in &process.streams {
                let (Some(first), Some(last)) = (stream.blocks.first(), stream.blocks.last()) else { continue };
                let range = TickRange { first: first.header.first_ticks, last: last.header.last_ticks };
                ranges[domain] = Some(ranges[domain].map_or(range, |others| others.join(range)));
            }
        }
        let by_clock = |domain: &ClockDomain, ticks: u64| {
            ClockMap::linear(domain.hz).wide_from_ticks(domain.observed_steps.without_steps(ticks))
        };
        let corrected = |domain: &ClockDomain, ticks: u64| domain.map.wide_from_ticks(ticks);
        let Some(TickRange { first, .. }) = ranges[0] else { return };
        // The difference between the reference clock's reading and its timestamps.
        let of_reference = by_clock(&self.domains[0], first) - corrected(&self.domains[0], first);
        let of_ticks = OF_TICKS * self.granularity();
        for (domain, range) in self.domains.iter_mut().zip(ranges).skip(1) {
            let Some(TickRange { first, last }) = range else { continue };
            let elapsed_by_clock = by_clock(domain, last) - by_clock(domain, first);
            let elapsed = corrected(domain, last) - corrected(domain, first);
            #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
            {
                domain.offset_nanos = (by_clock(domain, first) - corrected(domain, first) - of_reference) as f64;
                let (by_clock, elapsed) = (elapsed_by_clock as f64, elapsed as f64);
                domain.drift_ppm = if elapsed > 0.0 { (by_clock / elapsed - 1.0) * 1e6 } else { 0.0 };
                domain.drift_shows = (by_clock - elapsed).abs() > of_ticks;
            }
        }
    }
}

/// Links between processes of one domain.
#[derive(Clone, Copy, Debug, Default)]
struct LinkCounts {
    links: u64,
    reversals: u64,
}

/// Shifts the corrections so that the first record has timestamp 0. Returns its timestamp before.
fn start_at_first_record(corrections: &mut DomainCorrections, streams: &[StreamExtent]) -> i64 {
    let first_timestamps = streams.iter().map(|stream| fit::apply_correction(corrections, stream.domain, stream.first));
    let first = first_timestamps.min().unwrap_or(0);
    for correction in corrections.iter_mut().filter(|_| first != 0) {
        let mut shifted = correction.as_deref().cloned().unwrap_or_default();
        shifted.shift(-first);
        *correction = Some(Arc::new(shifted));
    }
    first
}

/// Finds the clock steps that the processes observed.
fn remove_observed_steps(run: &OpenRun, domains: &mut [ClockDomain], domain_of: &[usize]) {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); domains.len()];
    domain_of.iter().enumerate().for_each(|(process, domain)| members[*domain].push(process));
    for (domain, members) in domains.iter_mut().zip(members) {
        domain.observed_steps = steps::from_readings::find(run, &members, domain);
        // Readings are compared within one process, so that one bad process does not spoil the
        // others.
        let bounds = members.iter().filter_map(|member| {
            let anchors = run.processes[*member].anchors.iter();
            domain::rate::bounds(anchors, |ticks| domain.observed_steps.without_steps(ticks), domain.hz)
        });
        domain.rates = bounds.min_by(|a, b| a.width().total_cmp(&b.width()));
        domain.map = domain.map.with_steps(&domain.observed_steps);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RealTimeReading {
    ticks: u64,
    real_nanos: u64,
}

fn first_readings(run: &OpenRun, domain_of: &[usize], domains: usize) -> Vec<Option<RealTimeReading>> {
    let mut first: Vec<Option<RealTimeReading>> = vec![None; domains];
    for (process, &domain) in run.processes.iter().zip(domain_of) {
        for anchor in &process.anchors {
            let reading = RealTimeReading { ticks: anchor.ticks, real_nanos: anchor.real_nanos };
            first[domain] = Some(first[domain].map_or(reading, |before| before.min(reading)));
        }
    }
    first
}

/// Gives each domain except the reference its knots. Returns the errors of the samples.
fn apply_bursts(
    domains: &mut [ClockDomain],
    bursts: &[SyncBurst],
    readings: &[Option<RealTimeReading>],
) -> Vec<TraceDiagnostic> {
    let fit = samples::burst_offsets::fit(domains, bursts);
    let wrong_samples = clock_diagnostics::wrong_samples(&fit, domains);
    let tick = domains.iter().map(|domain| domain.resolution_nanos).fold(0.0, f64::max);
    let (reference, later_domains) = domains.split_at_mut(1);
    let reference = &reference[0];
    for (number, domain) in later_domains.iter_mut().enumerate() {
        let number = number + 1;
        let offsets = &fit.offsets[number];
        if offsets.is_empty() {
            by_real_time(reference, domain, readings[0], readings[number]);
            continue;
        }
        let knots: Vec<MapKnot> = offsets.iter().map(|offset| fit.knot(number, offset)).collect();
        domain.map = ClockMap::from_knots(domain.hz, &knots).with_steps(&domain.observed_steps);
        domain.bursts = knots.len();
        domain.knots.clone_from(&knots);
        domain.status = if knots.len() > 1 { TimestampSource::Bursts } else { TimestampSource::OneBurst };
        domain.residual_nanos = fit.residuals[number];
        let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
        domain.offset_nanos = fit.absolute_offset(number, &first);
        if last.local > first.local {
            domain.drift_ppm = (last.offset - first.offset) / (last.local - first.local) * 1e6;
            domain.drift_shows = (last.offset - first.offset).abs() > OF_TICKS * tick;
        }
    }
    wrong_samples
}

/// Relates a domain to the reference by readings of the real-time clock in both.
fn by_real_time(
    reference: &ClockDomain,
    domain: &mut ClockDomain,
    reference_reading: Option<RealTimeReading>,
    reading: Option<RealTimeReading>,
) {
    let (Some(reference_reading), Some(reading)) = (reference_reading, reading) else { return };
    let between = i128::from(reading.real_nanos) - i128::from(reference_reading.real_nanos);
    let expected = between + reference.map.wide_from_ticks(reference_reading.ticks);
    let uncorrected = domain.map.wide_from_ticks(reading.ticks);
    domain.map.shift(expected - uncorrected);
    #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
    {
        domain.offset_nanos = (uncorrected - expected) as f64;
    }
    domain.status = TimestampSource::RealTime;
}
