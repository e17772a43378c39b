//! Maps the clocks of the processes to one time line.
//!
//! Processes that read one hardware clock form a *domain*, which has one rate and one map. The
//! reference domain is that of the first process (the lowest rank). Exchanges of messages between
//! domains (*sync samples*) give the offsets of the others. Without sync samples, the readings of
//! the real-time clock give them.

mod burst;
pub(crate) mod controlled_logical_clock;
pub(crate) mod correction;
pub(crate) mod diagnostics;
mod domain;
pub(crate) mod envelope;
pub(crate) mod error_bounds;
pub(crate) mod fit;
mod graph;
pub(crate) mod least_squares;
mod limits;
mod link_log;
pub(crate) mod min_delays;
mod model;
mod outliers;
mod samples;
mod steps;
mod units;

pub use controlled_logical_clock::CausalityReport;
pub(crate) use controlled_logical_clock::{restore_order, usual_reversal};
pub(crate) use domain::extent::StreamExtent;
pub use domain::map::ClockMap;
pub(crate) use domain::timestamp_map::{LineLeap, TimestampMap};
pub use domain::{ClockDomain, TimestampSource};
pub(crate) use fit::uncorrected::UncorrectedClocks;
pub(crate) use link_log::{LinkEndpoint, LinkLog};
pub use model::{CorrectionMethod, RunClocks};

use std::io;
use std::sync::Arc;

use crate::run::OpenRun;
use burst::SyncBurst;
use correction::TimestampCorrection;
use diagnostics::{correction_diagnostics, repeated_dates};
use domain::domains_of;
use domain::map::MapKnot;
use model::leap;
use outliers::drift_consistency::USUAL_WANDER;
use samples::SyncSamples;
use steps::from_messages::OF_TICKS;
use tumit_paje::TraceDiagnostic;

/// Up to this number, reversed links between processes of one clock are no evidence of different
/// clocks.
const MIN_REVERSED: u64 = 3;

impl RunClocks {
    /// The model of a run by its sync samples alone. Its timestamps do not yet count from the start
    /// of the run (see [`RunClocks::start_at`]).
    ///
    /// Only the rules know the messages between processes. A conversion by [`CorrectionMethod::Graph`]
    /// refines the model with them.
    #[must_use]
    pub fn new(run: &OpenRun, method: CorrectionMethod) -> Self {
        let (mut domains, domain_of) = domains_of(run);
        let anchors: Vec<Option<(u64, u64)>> = first_anchors(run, &domain_of, domains.len());
        let mut data_errors: Vec<TraceDiagnostic> = repeated_dates(run).collect();
        if method == CorrectionMethod::None {
            if domains.len() > 1 {
                domains.iter_mut().for_each(|domain| domain.status = TimestampSource::Off);
            }
        } else {
            remove_observed_steps(run, &mut domains, &domain_of);
            let unset = |domain: usize, ticks: u64| domains[domain].told_sets.without_steps(ticks);
            let SyncSamples { bursts, errors, absent, .. } =
                samples::collect(run, &domain_of, &domains, unset, USUAL_WANDER);
            domains.iter_mut().zip(absent).for_each(|(domain, absent)| domain.absent_samples = absent);
            data_errors.extend(errors);
            data_errors.extend(apply_bursts(&mut domains, &bursts, &anchors));
            domains.iter_mut().for_each(ClockDomain::date_sets);
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
        let mut within = vec![(0u64, 0u64); self.domains.len()];
        let mut all = 0;
        log.pairs(|start, finish| {
            let reversed = u64::from(finish.date < start.date);
            all += reversed;
            let (from, to) = (processes[start.stream as usize], processes[finish.stream as usize]);
            if from != to && self.domain_of[from] == self.domain_of[to] {
                let counts = &mut within[self.domain_of[from]];
                *counts = (counts.0 + 1, counts.1 + reversed);
            }
        })?;
        for (domain, (links, reversed)) in within.into_iter().enumerate() {
            if reversed <= MIN_REVERSED.max(links / 1000) {
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
        Ok(all)
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
    ) -> io::Result<Vec<Option<Arc<TimestampCorrection>>>> {
        // The ticks need no correction here, because the map of the domain includes the known clock
        // steps.
        let collect = |wander| samples::collect(run, &self.domain_of, &self.domains, |_, ticks| ticks, wander);
        let mut samples = collect(USUAL_WANDER);
        // Bursts also contradict each other if clock rates change. Messages show the size of these
        // changes.
        let shown = if samples.has_odd { fit::refinement::wander_by_messages(self, log, streams)? } else { None };
        let shown = shown.filter(|wander| *wander > USUAL_WANDER);
        if let Some(wander) = shown {
            samples = collect(wander);
        }
        let SyncSamples { bursts, errors, .. } = samples;
        let Some(refined) = fit::refinement::refine(self, &bursts, log, streams)? else {
            self.judge_bursts(&bursts, streams);
            return Ok(vec![None; self.domains.len()]);
        };
        self.data_errors = repeated_dates(run).chain(errors).collect();
        self.data_errors.extend(fit::causality_bounds::diagnostics(&refined.contradictions, &self.domains));
        let counted = refined.bursts.or_else(|| shown.map(|_| fit::rebase::of(self, &bursts).1));
        for (domain, bursts) in self.domains.iter_mut().zip(counted.into_iter().flatten()) {
            domain.bursts = bursts;
        }
        let mut bends = refined.bends;
        let date = |bends: &[Option<Arc<TimestampCorrection>>], domain: usize, coarse: i64| {
            bends[domain].as_ref().map_or(coarse, |bend| bend.date(coarse))
        };
        // Timestamps continue to count from the first record.
        let first = streams.iter().map(|stream| date(&bends, stream.domain, stream.first)).min().unwrap_or(0);
        for bend in bends.iter_mut().filter(|_| first != 0) {
            let mut shifted = bend.as_deref().cloned().unwrap_or_default();
            shifted.shift(-first);
            *bend = Some(Arc::new(shifted));
        }
        self.wander = Some(refined.wander);
        for (number, found) in refined.found.iter().enumerate() {
            let domain = &mut self.domains[number];
            domain.map = domain.map.with_correction(bends[number].clone());
            (domain.edges, domain.messages) = (found.edges, found.messages);
            let of_sets = refined.sets[number].iter();
            let told = std::mem::take(&mut domain.sets);
            // The raw timestamps already include the clock steps that the processes observed.
            let told = told.into_iter().map(|(coarse, by)| (date(&bends, number, coarse), by));
            domain.sets = told.chain(of_sets.map(|&(coarse, more)| (date(&bends, number, coarse), -more))).collect();
            domain.sets.sort_unstable();
            let back = refined.sets[number].iter().filter(|(_, more)| *more > 0);
            domain.leaps = back.filter_map(|(coarse, _)| leap(|at| date(&bends, number, at), *coarse)).collect();
            let Some(root) = found.root else { continue };
            domain.hops = found.hops;
            (domain.residual_nanos, domain.residual_p95_nanos) = found.residuals;
            domain.corridor_nanos = found.width;
            domain.certified_nanos = Some(found.certified).filter(|width| width.is_finite());
            let (start, end) = (refined.dates.0 - first, refined.dates.1 - first);
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the nanoseconds are only displayed"
            )]
            let at = |place: f64| start + ((end - start) as f64 * place) as i64;
            domain.curve = found.curve.iter().map(|&(place, away)| (at(place), away)).collect();
            domain.departure_nanos = found.curve.iter().map(|(_, away)| away.abs()).fold(0.0, f64::max);
            let of_root = self.domains[root].status;
            let domain = &mut self.domains[number];
            domain.status = match domain.status {
                TimestampSource::Reference => TimestampSource::Reference,
                // The domain is connected to others, but not to the reference.
                _ if root > 0 => of_root,
                // A cycle of messages constrains the offset in both directions.
                _ if found.one_way && !found.certified.is_finite() => TimestampSource::OneWay,
                _ if found.samples > 0 => TimestampSource::BurstsAndMessages,
                _ => TimestampSource::Messages,
            };
        }
        self.measure(run);
        self.diagnostics = correction_diagnostics(&self.domains, true);
        Ok(bends)
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
        let found = fit::sample_bounds::quality(self, bursts, streams);
        for (domain, found) in self.domains.iter_mut().zip(found) {
            domain.edges = found.edges;
            (domain.residual_nanos, domain.residual_p95_nanos) = found.residuals;
            domain.certified_nanos = Some(found.certified).filter(|width| width.is_finite());
        }
    }

    /// Computes the offset of each domain at its first record and its drift over the run, from the
    /// maps.
    fn measure(&mut self, run: &OpenRun) {
        let mut ends: Vec<Option<(u64, u64)>> = vec![None; self.domains.len()];
        for (process, &domain) in run.processes.iter().zip(&self.domain_of) {
            for stream in &process.streams {
                let (Some(first), Some(last)) = (stream.blocks.first(), stream.blocks.last()) else { continue };
                let (first, last) = (first.header.first_ticks, last.header.last_ticks);
                let both = ends[domain].map_or((first, last), |ends| (ends.0.min(first), ends.1.max(last)));
                ends[domain] = Some(both);
            }
        }
        // The difference between the reference clock's reading and its timestamps.
        let show = |domain: &ClockDomain, ticks: u64| {
            ClockMap::linear(domain.hz).wide_from_ticks(domain.told_sets.without_steps(ticks))
        };
        let dated = |domain: &ClockDomain, ticks: u64| domain.map.wide_from_ticks(ticks);
        let Some((ticks, _)) = ends[0] else { return };
        let more = show(&self.domains[0], ticks) - dated(&self.domains[0], ticks);
        let of_ticks = OF_TICKS * self.granularity();
        for (domain, ends) in self.domains.iter_mut().zip(ends).skip(1) {
            let Some((first, last)) = ends else { continue };
            let shown = (show(domain, first), show(domain, last));
            let true_dates = (dated(domain, first), dated(domain, last));
            #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
            {
                domain.offset_nanos = (shown.0 - true_dates.0 - more) as f64;
                let (shown, taken) = ((shown.1 - shown.0) as f64, (true_dates.1 - true_dates.0) as f64);
                domain.drift_ppm = if taken > 0.0 { (shown / taken - 1.0) * 1e6 } else { 0.0 };
                domain.drift_shows = (shown - taken).abs() > of_ticks;
            }
        }
    }
}

/// Finds the clock steps that the processes observed.
fn remove_observed_steps(run: &OpenRun, domains: &mut [ClockDomain], domain_of: &[usize]) {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); domains.len()];
    domain_of.iter().enumerate().for_each(|(process, domain)| members[*domain].push(process));
    for (domain, members) in domains.iter_mut().zip(members) {
        domain.told_sets = steps::observed::find(run, &members, domain);
        // Readings are compared within one process, so that one bad process does not spoil the
        // others.
        let longest = members.iter().filter_map(|member| {
            let anchors = run.processes[*member].anchors.iter();
            domain::rate::bounds(anchors, |ticks| domain.told_sets.without_steps(ticks), domain.hz)
        });
        domain.rates = longest.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
        domain.map = domain.map.after(&domain.told_sets);
    }
}

/// The first reading of the real-time clock in each domain: ticks and nanoseconds.
fn first_anchors(run: &OpenRun, domain_of: &[usize], domains: usize) -> Vec<Option<(u64, u64)>> {
    let mut first: Vec<Option<(u64, u64)>> = vec![None; domains];
    for (process, &domain) in run.processes.iter().zip(domain_of) {
        for anchor in &process.anchors {
            let point = (anchor.ticks, anchor.real_nanos);
            first[domain] = Some(first[domain].map_or(point, |before| before.min(point)));
        }
    }
    first
}

/// Gives each domain except the reference its knots. Returns the errors of the samples.
fn apply_bursts(
    domains: &mut [ClockDomain],
    bursts: &[SyncBurst],
    anchors: &[Option<(u64, u64)>],
) -> Vec<TraceDiagnostic> {
    let fit = samples::burst_offsets::fit(domains, bursts);
    let wrong = diagnostics::wrong_samples(&fit, domains);
    let tick = domains.iter().map(|domain| domain.granularity_nanos).fold(0.0, f64::max);
    let (reference, others) = domains.split_at_mut(1);
    let reference = &reference[0];
    for (number, domain) in others.iter_mut().enumerate() {
        let number = number + 1;
        let offsets = &fit.offsets[number];
        if offsets.is_empty() {
            by_real_time(reference, domain, anchors[0], anchors[number]);
            continue;
        }
        let knots: Vec<MapKnot> = offsets.iter().map(|offset| fit.knot(number, offset)).collect();
        domain.map = ClockMap::from_knots(domain.hz, &knots).after(&domain.told_sets);
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
    wrong
}

fn by_real_time(
    reference: &ClockDomain,
    domain: &mut ClockDomain,
    ours: Option<(u64, u64)>,
    theirs: Option<(u64, u64)>,
) {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
    let there = i128::from(theirs.1) - i128::from(ours.1) + reference.map.wide_from_ticks(ours.0);
    let here = domain.map.wide_from_ticks(theirs.0);
    domain.map.shift(there - here);
    #[expect(clippy::cast_precision_loss, reason = "the number is only displayed")]
    {
        domain.offset_nanos = (here - there) as f64;
    }
    domain.status = TimestampSource::RealTime;
}
