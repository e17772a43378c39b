//! Sync samples of a run, by burst. Samples that cannot be true are removed.
//!
//! A sample holds clock readings of two processes. The readings of the answering process are
//! checked against its own file. It cannot answer at a time at which it does not run. The time from
//! request to reply at the answering process cannot exceed the whole round trip.

pub(crate) mod burst_offsets;

use std::collections::BTreeMap;

use super::ClockDomain;
use super::burst::{SyncBurst, TickExchange};
use super::domain::lifetime::lifetime;
use super::domain::stream_extent::TickRange;
use super::outliers::drift_consistency::{self, OmittedSamples};
use crate::run::{OpenRun, ProcessInRun};
use tracer_format::entries::SyncSample;
use tumit_paje::{DiagnosticKind, TraceDiagnostic};

/// Largest difference between the rates of two clocks.
const RATES: f64 = 1e-3;
/// Samples of a burst contradict each other if they differ by more than this plus the possible
/// drift. Nanoseconds.
const CONTRADICTION: f64 = 10_000.0;

/// A burst is slow if its fastest round trip is longer than `SLOW` times the shortest one of the
/// pair, plus `SLOW_NANOS`. A slow burst gives a poor offset.
const SLOW: f64 = 2.0;
/// See [`SLOW`]. Nanoseconds.
const SLOW_NANOS: f64 = 3000.0;

/// The samples of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct SyncSamples {
    pub(crate) bursts: Vec<SyncBurst>,
    /// Reasons for samples that were left out.
    pub(crate) errors: Vec<TraceDiagnostic>,
    /// Some bursts were left out because they contradict other bursts.
    pub(crate) has_outliers: bool,
    /// By domain: the number of samples that involve a process that is not in the run.
    pub(crate) samples_of_absent: Vec<u64>,
}

/// The samples of a process with another one.
#[derive(Clone, Copy, Debug, Default)]
struct SampleCounts {
    total: u64,
    /// The samples that are left out, because they cannot be true.
    rejections: u64,
}

/// The samples that can be true, by burst.
struct PossibleSamples {
    bursts: BTreeMap<u32, SyncBurst>,
    /// By requesting and answering process.
    counts: BTreeMap<(usize, usize), SampleCounts>,
    /// By domain: the number of samples that involve a process that is not in the run.
    samples_of_absent: Vec<u64>,
}

/// Sorts the run's sync samples into bursts. `without_steps` removes the steps of a domain's clock
/// from its ticks. `wander` is the wander of the clocks per square root of a second. The larger it
/// is, the more bursts may differ.
pub(crate) fn collect(
    run: &OpenRun,
    domain_of: &[usize],
    domains: &[ClockDomain],
    without_steps: impl Fn(usize, u64) -> u64,
    wander: f64,
) -> SyncSamples {
    let PossibleSamples { mut bursts, counts, samples_of_absent } =
        possible_samples(run, domain_of, domains, without_steps);
    let mut contradicting: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for burst in bursts.values_mut() {
        for (pair, left_out) in keep_consistent(&mut burst.exchanges, domains) {
            *contradicting.entry(pair).or_default() += left_out;
        }
    }
    let outliers = drift_consistency::remove_outliers(&mut bursts, domains, wander);
    let has_outliers = !outliers.is_empty();
    leave_out_slow(&mut bursts, domains);
    let contradicting = contradicting.into_iter().map(|((a, b), samples)| {
        let (a, b) = (&domains[a].name, &domains[b].name);
        sample_error(format!(
            "{samples} sync samples between clocks `{a}` and `{b}` contradict the others of their burst: not used"
        ))
    });
    let outliers = outliers.into_iter().map(|omitted| outlier_error(omitted, domains));
    let errors = impossible_errors(run, counts).chain(contradicting).chain(outliers).collect();
    SyncSamples { bursts: bursts.into_values().collect(), errors, has_outliers, samples_of_absent }
}

/// Sorts the samples that can be true into bursts, and counts the others.
fn possible_samples(
    run: &OpenRun,
    domain_of: &[usize],
    domains: &[ClockDomain],
    without_steps: impl Fn(usize, u64) -> u64,
) -> PossibleSamples {
    let id = |process: &ProcessInRun| process.id.first_chunk().map_or(0, |id| u64::from_le_bytes(*id));
    let peers: BTreeMap<u64, usize> =
        run.processes.iter().enumerate().map(|(number, process)| (id(process), number)).collect();
    let lifetimes: Vec<Option<TickRange>> =
        run.processes.iter().zip(domain_of).map(|(process, domain)| lifetime(process, domains[*domain].hz)).collect();
    let existed = |process: usize, from: u64, to: u64| {
        lifetimes[process].is_none_or(|lifetime| from >= lifetime.first && to <= lifetime.last)
    };
    let mut samples =
        PossibleSamples { bursts: BTreeMap::new(), counts: BTreeMap::new(), samples_of_absent: vec![0; domains.len()] };
    for (number, process) in run.processes.iter().enumerate() {
        for sample in &process.sync {
            let Some(&peer) = peers.get(&sample.peer) else {
                samples.samples_of_absent[domain_of[number]] += 1;
                continue;
            };
            let (a, b) = (domain_of[number], domain_of[peer]);
            if a == b {
                continue;
            }
            let counts = samples.counts.entry((number, peer)).or_default();
            counts.total += 1;
            let both_existed = existed(number, sample.t1, sample.t4) && existed(peer, sample.t2, sample.t3);
            if !both_existed || !is_in_time(sample, &domains[a], &domains[b]) {
                counts.rejections += 1;
                continue;
            }
            let [t1, t4] = [sample.t1, sample.t4].map(|ticks| without_steps(a, ticks));
            let [t2, t3] = [sample.t2, sample.t3].map(|ticks| without_steps(b, ticks));
            let exchange = TickExchange { a, b, t1, t2, t3, t4 };
            samples.bursts.entry(sample.burst).or_default().exchanges.push(exchange);
        }
    }
    samples
}

/// Whether the answering process took no longer than the whole round trip.
fn is_in_time(sample: &SyncSample, requester: &ClockDomain, answerer: &ClockDomain) -> bool {
    let nanos = |from, to, domain: &ClockDomain| (from <= to).then(|| domain.nanos_between(from, to));
    let (all, answering) = (nanos(sample.t1, sample.t4, requester), nanos(sample.t2, sample.t3, answerer));
    // The resolution of a clock may be microseconds.
    let ticks = requester.resolution_nanos + answerer.resolution_nanos;
    all.zip(answering).is_some_and(|(all, answering)| answering <= all * (1.0 + RATES) + ticks)
}

/// An error for each pair of processes with impossible samples.
fn impossible_errors(
    run: &OpenRun,
    counts: BTreeMap<(usize, usize), SampleCounts>,
) -> impl Iterator<Item = TraceDiagnostic> {
    let impossible = counts.into_iter().filter(|(_, counts)| counts.rejections > 0);
    impossible.map(|((requester, answerer), SampleCounts { total, rejections })| {
        let (requester, answerer) = (run.process_name(requester), run.process_name(answerer));
        sample_error(format!(
            "{rejections} of the {total} sync samples that {requester} took with {answerer} are impossible: not used (one of the processes did not run at these times, or the reply of {answerer} took longer than the whole exchange)"
        ))
        .of_process(&requester)
    })
}

/// The error of a pair with bursts that differ from the others.
fn outlier_error(omitted: OmittedSamples, domains: &[ClockDomain]) -> TraceDiagnostic {
    let OmittedSamples { pair: (a, b), bursts, samples, nanos } = omitted;
    let (a, b, micros) = (&domains[a].name, &domains[b].name, nanos * 1e-3);
    let of = if bursts == 1 { "one burst".to_owned() } else { format!("{bursts} bursts") };
    sample_error(format!(
        "{samples} sync samples of {of} between clocks `{a}` and `{b}` differ by up to {micros:.1} us from the other bursts: not used"
    ))
}

fn sample_error(text: String) -> TraceDiagnostic {
    TraceDiagnostic::error(DiagnosticKind::Clock, text)
}

/// Keeps those exchanges of a burst that agree with the most others, for each ordered pair of
/// clocks. Returns the number of removed exchanges by pair.
///
/// Each exchange bounds the offset of the two clocks, because the request is sent before it is
/// received, and the reply too. If no offset satisfies all bounds, the one that satisfies the most
/// is used (K. Marzullo, 1984).
fn keep_consistent(exchanges: &mut Vec<TickExchange>, domains: &[ClockDomain]) -> BTreeMap<(usize, usize), u64> {
    let mut pairs: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (index, exchange) in exchanges.iter().enumerate() {
        pairs.entry((exchange.a, exchange.b)).or_default().push(index);
    }
    let mut is_wrong = vec![false; exchanges.len()];
    let mut left_out = BTreeMap::new();
    for (pair, members) in pairs {
        let first = exchanges[members[0]];
        let nanos_since = |ticks: u64, from: u64, domain: usize| domains[domain].nanos_between(from, ticks);
        // Bounds of b's clock minus a's clock, relative to their readings at the first exchange.
        let bounds = members.iter().map(|index| {
            let TickExchange { a, b, t1, t2, t3, t4 } = exchanges[*index];
            let ticks = domains[a].resolution_nanos + domains[b].resolution_nanos;
            let drifted = CONTRADICTION / 2.0 + ticks + nanos_since(t4, first.t1, a).abs() * RATES / 2.0;
            OffsetBounds {
                lower: nanos_since(t3, first.t2, b) - nanos_since(t4, first.t1, a) - drifted,
                upper: nanos_since(t2, first.t2, b) - nanos_since(t1, first.t1, a) + drifted,
            }
        });
        let bounds: Vec<OffsetBounds> = bounds.collect();
        let Some(best) = consensus_offset(&bounds) else { continue };
        let contradicting = members.iter().zip(&bounds).filter(|(_, bounds)| !bounds.contains(best));
        let count = contradicting.map(|(index, _)| is_wrong[*index] = true).count() as u64;
        if count > 0 {
            left_out.insert(pair, count);
        }
    }
    let mut wrong = is_wrong.into_iter();
    exchanges.retain(|_| wrong.next() == Some(false));
    left_out
}

/// Removes the exchanges of a pair in a burst if the fastest round trip there is much longer than
/// in the best burst of the pair. The error of an offset is up to half of the round trip. The first
/// and the last burst of each pair are kept.
fn leave_out_slow(bursts: &mut BTreeMap<u32, SyncBurst>, domains: &[ClockDomain]) {
    let pair = |exchange: &TickExchange| (exchange.a.min(exchange.b), exchange.a.max(exchange.b));
    let took = |&TickExchange { a, b, t1, t2, t3, t4 }: &TickExchange| {
        (domains[a].nanos_between(t1, t4) - domains[b].nanos_between(t2, t3)).max(0.0)
    };
    // By pair: its bursts in order, and the fastest answer of each.
    let mut trips: BTreeMap<(usize, usize), BTreeMap<u32, f64>> = BTreeMap::new();
    for (number, burst) in &*bursts {
        for exchange in &burst.exchanges {
            let shortest = trips.entry(pair(exchange)).or_default().entry(*number).or_insert(f64::INFINITY);
            *shortest = shortest.min(took(exchange));
        }
    }
    for (number, burst) in bursts {
        burst.exchanges.retain(|exchange| {
            let TickExchange { a, b, .. } = *exchange;
            let trips = &trips[&pair(exchange)];
            let ends = [trips.first_key_value(), trips.last_key_value()];
            let is_end = ends.iter().flatten().any(|(end, _)| *end == number);
            let best = trips.values().copied().fold(f64::INFINITY, f64::min);
            let ticks = domains[a].resolution_nanos + domains[b].resolution_nanos;
            is_end || trips[number] <= SLOW * best + SLOW_NANOS + ticks
        });
    }
}

/// Bounds on the offset of two clocks, nanoseconds.
#[derive(Clone, Copy)]
struct OffsetBounds {
    lower: f64,
    upper: f64,
}

impl OffsetBounds {
    fn contains(self, offset: f64) -> bool {
        self.lower <= offset && offset <= self.upper
    }
}

/// A value that satisfies the most of these bounds. O(bounds log bounds).
fn consensus_offset(bounds: &[OffsetBounds]) -> Option<f64> {
    struct BoundEdge {
        offset: f64,
        is_end: bool,
    }
    let starts = bounds.iter().map(|bounds| BoundEdge { offset: bounds.lower, is_end: false });
    let ends = bounds.iter().map(|bounds| BoundEdge { offset: bounds.upper, is_end: true });
    let mut edges: Vec<BoundEdge> = starts.chain(ends).collect();
    // At equal values, starts sort before ends.
    edges.sort_by(|a, b| a.offset.total_cmp(&b.offset).then(a.is_end.cmp(&b.is_end)));
    let (mut inside, mut most_inside, mut best) = (0i64, 0i64, None);
    for BoundEdge { offset, is_end } in edges {
        inside += if is_end { -1 } else { 1 };
        if inside > most_inside {
            (most_inside, best) = (inside, Some(offset));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_agreed_value_is_in_the_most_bounds() {
        let bounds = |lower: f64, upper: f64| OffsetBounds { lower, upper };
        assert_eq!(consensus_offset(&[bounds(1.0, 5.0), bounds(2.0, 6.0), bounds(100.0, 101.0)]), Some(2.0));
        assert_eq!(consensus_offset(&[bounds(3.0, 3.0)]), Some(3.0));
        assert_eq!(consensus_offset(&[]), None);
    }
}
