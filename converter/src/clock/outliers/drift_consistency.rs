//! Bursts of samples that the other bursts of the same two clocks prove wrong.
//!
//! Between two bursts, the offset of two clocks changes by their drift, which is almost constant.
//! The longest chain of bursts that agree, each with the next one of the chain, is kept. The other
//! bursts are removed. Only neighbours are compared, so clocks may wander far in a long run. A
//! clock step is different: all bursts after it agree with each other.

use std::collections::BTreeMap;

use crate::clock::ClockDomain;
use crate::clock::burst::{OffsetPoint, SyncBurst, TickExchange};

/// Minimum number of bursts. With fewer, it is unknown which one is wrong.
const MIN_BURSTS: usize = 3;
/// From this number on, the drift is that of most bursts. A single burst at an end can then be
/// found to be wrong.
pub(crate) const MAJORITY_BURSTS: usize = 5;
/// Constant part of the allowed deviation of neighbours from the usual drift, nanoseconds.
const BASE_ALLOWANCE: f64 = 20_000.0;
/// Further part of the allowed deviation with many bursts: this many times the usual deviation.
const USUAL_DEVIATIONS: f64 = 20.0;
/// Limit of the variable part of the allowed deviation, as a fraction of the time between the
/// bursts.
const RATE: f64 = 200e-6;
/// With fewer bursts than this, the drift is the one that most of them agree on, if some do.
const SEVERAL: usize = 6;
/// Maximum deviation from an agreed drift, as a fraction of the time between two bursts: the effect
/// of temperature on a clock.
const AGREED_RATE: f64 = 5e-7;
/// The wander of normal clocks per square root of a second, unless messages show a larger one.
pub(crate) const USUAL_WANDER: f64 = 2e-8;
/// Number of allowed standard deviations of the wander.
const SIGMAS: f64 = 5.0;
/// Number of earlier bursts with which a burst is compared.
const BACK: usize = 64;
/// Number of following bursts with which a burst is compared to find the drift.
const NEXT: usize = 2;

/// Samples of a pair that were removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OmittedSamples {
    pub(crate) pair: (usize, usize),
    pub(crate) bursts: usize,
    pub(crate) samples: u64,
    /// The largest error of these samples, nanoseconds.
    pub(crate) nanos: f64,
}

/// The result of a burst for a pair: bounds on the offset of the second clock. Times and offsets
/// are relative to the pair's first exchange, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BurstBounds {
    burst: u32,
    timestamp: f64,
    lower: f64,
    upper: f64,
}

impl BurstBounds {
    fn midpoint(&self) -> f64 {
        f64::midpoint(self.lower, self.upper)
    }

    /// The distance between the bounds of a later burst and those of this one, for a drift.
    /// Nanoseconds.
    fn distance(&self, later: &Self, drift: f64) -> f64 {
        let drifted_nanos = drift * (later.timestamp - self.timestamp);
        (later.lower - self.upper - drifted_nanos).max(self.lower + drifted_nanos - later.upper).max(0.0)
    }
}

/// Removes samples that other bursts prove wrong. The clocks wander by `wander` per square root of
/// a second. O(bursts of a pair × 64 + exchanges).
pub(crate) fn remove_outliers(
    bursts: &mut BTreeMap<u32, SyncBurst>,
    domains: &[ClockDomain],
    wander: f64,
) -> Vec<OmittedSamples> {
    let mut diagnostics = Vec::new();
    let ticks = |pair: (usize, usize)| domains[pair.0].resolution_nanos + domains[pair.1].resolution_nanos;
    // Drift within a long burst widens its bounds. So the drift is estimated first, without this
    // correction.
    let mut drifts = BTreeMap::new();
    for (pair, bounds) in burst_bounds(bursts, domains, &drifts) {
        let drift = drift(&bounds, ticks(pair)).estimate;
        drifts.insert(pair, if drift_can_be(drift) { drift } else { 0.0 });
    }
    for (pair, bounds) in burst_bounds(bursts, domains, &drifts) {
        let tick = ticks(pair);
        let WrongBursts { bursts: wrong, nanos } = wrong_bursts(&bounds, tick, wander);
        let mut samples = 0;
        for index in &wrong {
            let Some(burst) = bursts.get_mut(&bounds[*index].burst) else { continue };
            let old_count = burst.exchanges.len();
            burst.exchanges.retain(|exchange| pair_of(exchange) != pair);
            samples += (old_count - burst.exchanges.len()) as u64;
        }
        if samples > 0 {
            diagnostics.push(OmittedSamples { pair, bursts: wrong.len(), samples, nanos });
        }
    }
    diagnostics
}

fn pair_of(exchange: &TickExchange) -> (usize, usize) {
    (exchange.a.min(exchange.b), exchange.a.max(exchange.b))
}

/// The results of all bursts for each pair, in order of time, for known drifts.
fn burst_bounds(
    bursts: &BTreeMap<u32, SyncBurst>,
    domains: &[ClockDomain],
    drifts: &BTreeMap<(usize, usize), f64>,
) -> BTreeMap<(usize, usize), Vec<BurstBounds>> {
    /// Ticks of the first clock of a pair, and those of the second at the other end of a message.
    #[derive(Clone, Copy)]
    struct MessageTicks {
        first_clock: u64,
        second_clock: u64,
    }
    let mut origins: BTreeMap<(usize, usize), MessageTicks> = BTreeMap::new();
    let mut bounds_by_pair: BTreeMap<(usize, usize), Vec<BurstBounds>> = BTreeMap::new();
    for (number, burst) in bursts {
        for exchange in &burst.exchanges {
            let pair = pair_of(exchange);
            let TickExchange { a, t1, t2, t3, t4, .. } = *exchange;
            // A message from the first clock to the second and one back, for either requester.
            let (forth, back) = if a == pair.0 {
                (MessageTicks { first_clock: t1, second_clock: t2 }, MessageTicks { first_clock: t4, second_clock: t3 })
            } else {
                (MessageTicks { first_clock: t3, second_clock: t4 }, MessageTicks { first_clock: t2, second_clock: t1 })
            };
            let origin = *origins.entry(pair).or_insert(forth);
            let first = |ticks: u64| domains[pair.0].nanos_between(origin.first_clock, ticks);
            let second = |ticks: u64| domains[pair.1].nanos_between(origin.second_clock, ticks);
            let begin_timestamp = first(forth.first_clock);
            let bounds = bounds_by_pair.entry(pair).or_default();
            let begin =
                bounds.last().filter(|last| last.burst == *number).map_or(begin_timestamp, |last| last.timestamp);
            let drifted = |timestamp: f64| drifts.get(&pair).map_or(0.0, |drift| drift * (timestamp - begin));
            let upper = second(forth.second_clock) - first(forth.first_clock) - drifted(first(forth.first_clock));
            let lower = second(back.second_clock) - first(back.first_clock) - drifted(first(back.first_clock));
            match bounds.last_mut().filter(|last| last.burst == *number) {
                Some(last) => (last.lower, last.upper) = (last.lower.max(lower), last.upper.min(upper)),
                None => bounds.push(BurstBounds { burst: *number, timestamp: begin_timestamp, lower, upper }),
            }
        }
    }
    for bounds in bounds_by_pair.values_mut() {
        // Bounds can be in the wrong order, because clocks drift a little within a burst.
        let swapped = bounds.iter_mut().filter(|burst| burst.lower > burst.upper);
        swapped.for_each(|burst| (burst.lower, burst.upper) = (burst.upper, burst.lower));
        bounds.sort_by(|a, b| a.timestamp.total_cmp(&b.timestamp));
    }
    bounds_by_pair
}

/// The drift between bursts of a pair.
fn drift(bursts: &[BurstBounds], tick: f64) -> DriftEstimate {
    let middles: Vec<OffsetPoint> =
        bursts.iter().map(|burst| OffsetPoint { timestamp: burst.timestamp, offset: burst.midpoint() }).collect();
    let widths: Vec<f64> = bursts.iter().map(|burst| (burst.upper - burst.lower) / 2.0).collect();
    DriftEstimate::of(&middles, &widths, tick)
}

/// The wrong bursts of a pair.
#[derive(Default)]
struct WrongBursts {
    /// The indices of the bursts.
    bursts: Vec<usize>,
    /// The largest error, nanoseconds.
    nanos: f64,
}

/// The wrong bursts of a pair. `tick` is the sum of the resolutions of the two clocks.
fn wrong_bursts(bounds: &[BurstBounds], tick: f64, wander: f64) -> WrongBursts {
    if bounds.len() < MIN_BURSTS {
        return WrongBursts::default();
    }
    let DriftEstimate { agreement, estimate: drift } = drift(bounds, tick);
    let deviation = |burst: &BurstBounds, other_burst: &BurstBounds| {
        (other_burst.midpoint() - burst.midpoint() - drift * (other_burst.timestamp - burst.timestamp)).abs()
    };
    let mut usual: Vec<f64> = bounds.windows(2).map(|pair| deviation(&pair[0], &pair[1])).collect();
    usual.sort_by(f64::total_cmp);
    let usual = usual[usual.len() / 2];
    let agree = |index: usize, other_index: usize| {
        let (burst, other_burst) = (&bounds[index], &bounds[other_index]);
        let gap = other_burst.timestamp - burst.timestamp;
        let allowed = allowed_departure(gap, agreement.is_some(), bounds.len(), usual, wander);
        burst.distance(other_burst, drift) <= BASE_ALLOWANCE + 2.0 * tick + allowed
    };
    let chain = longest_chain(bounds.len(), agree);
    let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return WrongBursts::default() };
    if chain.len() * 2 <= bounds.len() {
        return WrongBursts::default();
    }
    let is_in = |index: &usize| chain.binary_search(index).is_ok();
    let mut wrong: Vec<usize> = (0..bounds.len()).filter(|index| !is_in(index)).collect();
    // Several bursts at an end that agree with each other indicate a clock step. With few bursts, a
    // single one may also be a step.
    for end in [0..first, last + 1..bounds.len()] {
        let in_step = end.len() > 1
            && end.clone().zip(end.start + 1..end.end).all(|(index, next_index)| agree(index, next_index));
        if in_step || (bounds.len() < MAJORITY_BURSTS && !end.is_empty()) {
            wrong.retain(|index| !end.contains(index));
        }
    }
    let distance = |index: &usize| {
        let previous_member = chain[..chain.partition_point(|member| member < index)].last();
        let next_member = chain.get(chain.partition_point(|member| member < index));
        previous_member.or(next_member).map_or(0.0, |member| deviation(&bounds[*member], &bounds[*index]))
    };
    let nanos = wrong.iter().map(distance).fold(0.0, f64::max);
    WrongBursts { bursts: wrong, nanos }
}

/// The allowed deviation from the drift between two correct bursts, nanoseconds.
///
/// `elapsed` is the time between them in nanoseconds. `is_agreed` means that some of the bursts
/// agree on the drift. `bursts` is their number, `typical_departure` the usual deviation of
/// neighbours in nanoseconds, and `wander` the wander of the clocks per square root of a second.
pub(crate) fn allowed_departure(
    elapsed: f64,
    is_agreed: bool,
    bursts: usize,
    typical_departure: f64,
    wander: f64,
) -> f64 {
    let by_rate = RATE * elapsed;
    let wandered = SIGMAS * wander * 1e9 * (elapsed * 1e-9).powf(1.5);
    let expected = match is_agreed {
        true => AGREED_RATE * elapsed,
        false if bursts < MAJORITY_BURSTS => by_rate,
        false => USUAL_DEVIATIONS * typical_departure,
    };
    by_rate.min(expected.max(wandered))
}

/// The drift of a clock, from its bursts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriftEstimate {
    /// The drift that a few bursts agree on, if they do.
    pub(crate) agreement: Option<f64>,
    pub(crate) estimate: f64,
}

impl DriftEstimate {
    /// `widths` contains half of the round trip of each burst, nanoseconds.
    pub(crate) fn of(bursts: &[OffsetPoint], widths: &[f64], tick: f64) -> Self {
        let agreement = agreed_drift(bursts, widths, tick);
        Self { agreement, estimate: agreement.unwrap_or_else(|| usual_drift(bursts)) }
    }
}

/// The median drift between bursts that are near each other (after H. Theil, 1950, and P. K. Sen,
/// 1968).
///
/// Distant bursts are not compared, because most such pairs have the clock's step between them.
/// With few bursts, one wrong burst changes the median. In this case the smallest drift is the most
/// likely one.
fn usual_drift(bursts: &[OffsetPoint]) -> f64 {
    let pairs = bursts.iter().enumerate().flat_map(|(index, burst)| {
        let others = bursts[index + 1..].iter().take(NEXT).filter(|other| other.timestamp > burst.timestamp);
        others.map(|other| burst.drift_to(*other))
    });
    let mut drifts: Vec<f64> = pairs.collect();
    drifts.sort_by(f64::total_cmp);
    if bursts.len() >= MAJORITY_BURSTS {
        return drifts.get(drifts.len() / 2).copied().unwrap_or(0.0);
    }
    drifts.into_iter().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// With few bursts, the drift that most pairs of them agree on, if more than one pair does.
/// `widths` contains half of the round trip of each burst, nanoseconds. A wrong burst or a step
/// still leaves others that agree.
fn agreed_drift(bursts: &[OffsetPoint], widths: &[f64], tick: f64) -> Option<f64> {
    if bursts.len() >= SEVERAL {
        return None;
    }
    let min_width = widths.iter().copied().fold(f64::INFINITY, f64::min);
    let pairs = || {
        let pairs_from = |index: usize| (index + 1..bursts.len()).map(move |other_index| (index, other_index));
        (0..bursts.len())
            .flat_map(pairs_from)
            .filter(|&(index, other_index)| bursts[other_index].timestamp > bursts[index].timestamp)
    };
    let drift = |(index, other_index): (usize, usize)| bursts[index].drift_to(bursts[other_index]);
    let agreeing = |drift: f64| {
        let agrees = |&(one, other): &(usize, usize)| {
            let between = bursts[other].timestamp - bursts[one].timestamp;
            let allowed =
                BASE_ALLOWANCE + 2.0 * tick + AGREED_RATE * between + widths[one] + widths[other] - 2.0 * min_width;
            (bursts[other].offset - bursts[one].offset - drift * between).abs() <= allowed
        };
        pairs().filter(agrees).count()
    };
    let drifts = pairs().map(|pair| (agreeing(drift(pair)), drift(pair)));
    let best = drifts.max_by(|a, b| a.0.cmp(&b.0).then(b.1.abs().total_cmp(&a.1.abs())))?;
    // With three bursts, two agreeing pairs imply that all agree.
    (best.0 > 1 && drift_can_be(best.1)).then_some(best.1)
}

/// Whether real clocks can have this drift.
pub(crate) fn drift_can_be(drift: f64) -> bool {
    drift.abs() <= RATE
}

/// The longest chain of `count` ordered items, each of which agrees with the next. If several
/// chains have this length, the items of the chain are as close together as possible.
fn longest_chain(count: usize, agree: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    /// The longest chain that ends with an item.
    struct ChainEnd {
        length: usize,
        predecessor: Option<usize>,
    }
    let mut chain_ends: Vec<ChainEnd> = Vec::with_capacity(count);
    for index in 0..count {
        let mut longest = ChainEnd { length: 1, predecessor: None };
        for predecessor in (index.saturating_sub(BACK)..index).rev() {
            let length = chain_ends[predecessor].length + 1;
            if length > longest.length && agree(predecessor, index) {
                longest = ChainEnd { length, predecessor: Some(predecessor) };
            }
        }
        chain_ends.push(longest);
    }
    let mut next = (0..count).rev().max_by_key(|index| chain_ends[*index].length);
    let mut chain = Vec::new();
    while let Some(index) = next {
        chain.push(index);
        next = chain_ends[index].predecessor;
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts 0.3 s apart, of clocks that drift by 40 ppm. Each has the given error in
    /// microseconds.
    fn bounds(deviations: &[f64]) -> Vec<BurstBounds> {
        let burst = |(number, deviations): (usize, &f64)| {
            let timestamp = number as f64 * 3e8;
            let offset = 40e-6 * timestamp + deviations * 1e3 + (number * 7919 % 13) as f64 * 100.0;
            BurstBounds {
                burst: u32::try_from(number).unwrap(),
                timestamp,
                lower: offset - 3000.0,
                upper: offset + 4000.0,
            }
        };
        deviations.iter().enumerate().map(burst).collect()
    }

    fn outliers_of(deviations: &[f64]) -> Vec<usize> {
        wrong_bursts(&bounds(deviations), 1.0, USUAL_WANDER).bursts
    }

    #[test]
    fn a_wrong_burst_is_found_wherever_it_is() {
        for number in 0..10 {
            for off in [200.0, -200.0, 1000.0, 5e6] {
                let mut bursts = [0.0; 10];
                bursts[number] = off;
                let WrongBursts { bursts: burst_indexes, nanos } = wrong_bursts(&bounds(&bursts), 1.0, USUAL_WANDER);
                assert_eq!(burst_indexes, [number]);
                assert!((nanos / off.abs() / 1e3 - 1.0).abs() < 0.05, "{nanos}");
            }
        }
        assert_eq!(outliers_of(&[0.0, 0.0, 300.0, 300.0, 0.0, 0.0, 0.0, -500.0, 0.0]), [2, 3, 7]);
        assert_eq!(outliers_of(&[0.0, 300.0, 0.0]), [1]);
    }

    #[test]
    fn the_agreeing_bursts_of_four_or_five_are_used() {
        for burst_count in [4, 5] {
            for number in 1..burst_count - 1 {
                for off in [500.0, -1000.0] {
                    let mut bursts = vec![0.0; burst_count];
                    bursts[number] = off;
                    let mut bounds = bounds(&bursts);
                    // The same distances as in a run of minutes.
                    bounds.iter_mut().enumerate().for_each(|(number, burst)| {
                        let drift_offset = 40e-6 * (number as f64 * 2e10 - burst.timestamp);
                        (burst.timestamp, burst.lower, burst.upper) =
                            (number as f64 * 2e10, burst.lower + drift_offset, burst.upper + drift_offset);
                    });
                    assert_eq!(wrong_bursts(&bounds, 1.0, USUAL_WANDER).bursts, [number], "{burst_count} {off}");
                }
            }
        }
    }

    #[test]
    fn usual_drift_is_no_outlier() {
        assert_eq!(outliers_of(&[0.0; 10]), []);
        // A clock step.
        assert_eq!(outliers_of(&[0.0, 0.0, 0.0, 0.0, 0.0, 900.0, 900.0, 900.0]), []);
        assert_eq!(outliers_of(&[900.0, 900.0, 0.0, 0.0, 0.0, 0.0, 0.0]), []);
        // It is unknown which burst is wrong.
        assert_eq!(outliers_of(&[900.0, 0.0, 0.0]), []);
        assert_eq!(outliers_of(&[0.0, 900.0]), []);
        assert_eq!(outliers_of(&[0.0, 900.0, 100.0, -300.0, 2000.0, 5000.0]), []);
        // A clock that wanders.
        let walk: Vec<f64> = (0..200).map(|n| (f64::from(n) / 9.0).sin() * 300.0).collect();
        assert_eq!(outliers_of(&walk), []);
    }

    #[test]
    fn bursts_of_clocks_that_wander_much_are_no_outliers() {
        let mut bursts = bounds(&[0.0, 0.0, 800.0, 0.0, 0.0]);
        bursts.iter_mut().enumerate().for_each(|(number, burst)| {
            let more = 40e-6 * (number as f64 * 1.5e11 - burst.timestamp);
            (burst.timestamp, burst.lower, burst.upper) =
                (number as f64 * 1.5e11, burst.lower + more, burst.upper + more);
        });
        assert_eq!(wrong_bursts(&bursts, 1.0, USUAL_WANDER).bursts, [2]);
        assert_eq!(wrong_bursts(&bursts, 1.0, 3e-6).bursts, []);
    }
}
