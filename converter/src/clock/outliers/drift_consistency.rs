//! Bursts of samples that the other bursts of the same two clocks prove wrong.
//!
//! Between two bursts the offset of two clocks changes by what they drift, which is the same all the time but for a little. The longest chain of
//! bursts that agree so, each with the next one of the chain, is believed; what is beside it is not. Only neighbours are compared, so clocks may
//! wander far in a long run. A clock that was set looks different: from there on all bursts agree with each other.

use std::collections::BTreeMap;

use crate::clock::Domain;
use crate::clock::burst::{Burst, Exchange};

/// Of fewer bursts it cannot be known which one is wrong.
const FEWEST: usize = 3;
/// From so many on the drift is that of most of them, and a single one at an end can be told to be wrong.
pub(crate) const MANY: usize = 5;
/// Neighbours may depart from the usual drift by this, nanoseconds,
const LEAST: f64 = 20_000.0;
/// so many times what they usually do,
const MUCH: f64 = 20.0;
/// but not by more than this part of the time between them.
const RATE: f64 = 200e-6;
/// Of fewer bursts than these the drift is the one that most of them agree on, if some do,
const SEVERAL: usize = 6;
/// within this part of the time between two: what the temperature does to a clock.
const AGREED_RATE: f64 = 5e-7;
/// The wander of honest clocks per square root of a second, unless messages show a larger one.
pub(crate) const USUAL_WANDER: f64 = 2e-8;
/// Standard deviations of the wander that are allowed for.
const SIGMAS: f64 = 5.0;
/// A burst is compared with so many before it,
const BACK: usize = 64;
/// and with so many next to it for the drift.
const NEXT: usize = 2;

/// Samples that were left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Odd {
    pub(crate) pair: (usize, usize),
    pub(crate) bursts: usize,
    pub(crate) samples: u64,
    /// How far the worst of them is off, nanoseconds.
    pub(crate) nanos: f64,
}

/// What a burst says of a pair: the offset of the second clock is within bounds, by dates and offsets from those of the pair's first exchange on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Said {
    burst: u32,
    at: f64,
    least: f64,
    most: f64,
}

impl Said {
    fn middle(&self) -> f64 {
        f64::midpoint(self.least, self.most)
    }

    /// By how much another, later one is outside of what this one allows with a drift.
    fn away(&self, later: &Self, drift: f64) -> f64 {
        let by = drift * (later.at - self.at);
        (later.least - self.most - by).max(self.least + by - later.most).max(0.0)
    }
}

/// Takes the samples out of the bursts that other bursts prove wrong, for clocks that wander by `wander` per square root of
/// a second. O(bursts of a pair × 64 + exchanges).
pub(crate) fn leave_out_odd(bursts: &mut BTreeMap<u32, Burst>, domains: &[Domain], wander: f64) -> Vec<Odd> {
    let mut found = Vec::new();
    let ticks = |pair: (usize, usize)| domains[pair.0].granularity_nanos + domains[pair.1].granularity_nanos;
    // A burst that took long says the less the more its clocks drift meanwhile, until it is known how much they do.
    let mut drifts = BTreeMap::new();
    for (pair, said) in said(bursts, domains, &drifts) {
        let drift = drift(&said, ticks(pair)).1;
        drifts.insert(pair, if drift_can_be(drift) { drift } else { 0.0 });
    }
    for (pair, said) in said(bursts, domains, &drifts) {
        let tick = ticks(pair);
        let (odd, nanos) = odd(&said, tick, wander);
        let mut samples = 0;
        for at in &odd {
            let Some(burst) = bursts.get_mut(&said[*at].burst) else { continue };
            let before = burst.exchanges.len();
            burst.exchanges.retain(|exchange| pair_of(exchange) != pair);
            samples += (before - burst.exchanges.len()) as u64;
        }
        if samples > 0 {
            found.push(Odd { pair, bursts: odd.len(), samples, nanos });
        }
    }
    found
}

fn pair_of(exchange: &Exchange) -> (usize, usize) {
    (exchange.a.min(exchange.b), exchange.a.max(exchange.b))
}

/// What each burst says of each pair, in order of date, if they drift so.
fn said(
    bursts: &BTreeMap<u32, Burst>,
    domains: &[Domain],
    drifts: &BTreeMap<(usize, usize), f64>,
) -> BTreeMap<(usize, usize), Vec<Said>> {
    let mut origins: BTreeMap<(usize, usize), (u64, u64)> = BTreeMap::new();
    let mut all: BTreeMap<(usize, usize), Vec<Said>> = BTreeMap::new();
    for (number, burst) in bursts {
        for exchange in &burst.exchanges {
            let pair = pair_of(exchange);
            let Exchange { a, t1, t2, t3, t4, .. } = *exchange;
            // From the first clock to the second one and back, whoever asked: left, came, left, came.
            let (there, back) = if a == pair.0 { ((t1, t2), (t3, t4)) } else { ((t3, t4), (t1, t2)) };
            let origin = *origins.entry(pair).or_insert(there);
            let first = |ticks: u64| domains[pair.0].nanos_between(origin.0, ticks);
            let second = |ticks: u64| domains[pair.1].nanos_between(origin.1, ticks);
            let at = first(there.0);
            let said = all.entry(pair).or_default();
            let begun = said.last().filter(|said| said.burst == *number).map_or(at, |said| said.at);
            let drifted = |date: f64| drifts.get(&pair).map_or(0.0, |drift| drift * (date - begun));
            let most = second(there.1) - first(there.0) - drifted(first(there.0));
            let least = second(back.0) - first(back.1) - drifted(first(back.1));
            match said.last_mut().filter(|said| said.burst == *number) {
                Some(said) => (said.least, said.most) = (said.least.max(least), said.most.min(most)),
                None => said.push(Said { burst: *number, at, least, most }),
            }
        }
    }
    for said in all.values_mut() {
        // Within a burst clocks drift a little.
        let wrong_way = said.iter_mut().filter(|said| said.least > said.most);
        wrong_way.for_each(|said| (said.least, said.most) = (said.most, said.least));
        said.sort_by(|a, b| a.at.total_cmp(&b.at));
    }
    all
}

/// The drift that a few bursts agree on, if they do, and the likeliest one.
fn drift(said: &[Said], tick: f64) -> (Option<f64>, f64) {
    let middles: Vec<(f64, f64)> = said.iter().map(|said| (said.at, said.middle())).collect();
    let widths: Vec<f64> = said.iter().map(|said| (said.most - said.least) / 2.0).collect();
    let agreed = agreed_drift(&middles, &widths, tick);
    (agreed, agreed.unwrap_or_else(|| usual_drift(&middles)))
}

/// Which of a pair's bursts are wrong, and how far the worst is off. `tick` is what the two clocks cannot tell apart.
fn odd(said: &[Said], tick: f64, wander: f64) -> (Vec<usize>, f64) {
    let none = (Vec::new(), 0.0);
    if said.len() < FEWEST {
        return none;
    }
    let (agreed, drift) = drift(said, tick);
    let apart = |one: &Said, other: &Said| (other.middle() - one.middle() - drift * (other.at - one.at)).abs();
    let mut usual: Vec<f64> = said.windows(2).map(|pair| apart(&pair[0], &pair[1])).collect();
    usual.sort_by(f64::total_cmp);
    let usual = usual[usual.len() / 2];
    let agree = |one: usize, other: usize| {
        let (one, other) = (&said[one], &said[other]);
        let by_itself = by_itself(other.at - one.at, agreed.is_some(), said.len(), usual, wander);
        one.away(other, drift) <= LEAST + 2.0 * tick + by_itself
    };
    let chain = longest_chain(said.len(), agree);
    let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { return none };
    if chain.len() * 2 <= said.len() {
        return none;
    }
    let is_in = |at: &usize| chain.binary_search(at).is_ok();
    let mut odd: Vec<usize> = (0..said.len()).filter(|at| !is_in(at)).collect();
    // Several at an end that agree with each other: the clock was set there. One of few may as well be.
    for end in [0..first, last + 1..said.len()] {
        let in_step = end.len() > 1 && end.clone().zip(end.start + 1..end.end).all(|(one, next)| agree(one, next));
        if in_step || (said.len() < MANY && !end.is_empty()) {
            odd.retain(|at| !end.contains(at));
        }
    }
    let off = |at: &usize| {
        let before = chain[..chain.partition_point(|kept| kept < at)].last();
        let behind = chain.get(chain.partition_point(|kept| kept < at));
        before.or(behind).map_or(0.0, |kept| apart(&said[*kept], &said[*at]))
    };
    let nanos = odd.iter().map(off).fold(0.0, f64::max);
    (odd, nanos)
}

/// By how much honest bursts that are so far apart, nanoseconds, may depart from the drift: of so many, some of which agree on it or not, and
/// neighbours of which usually depart so much. The clocks have this `wander`.
pub(crate) fn by_itself(apart: f64, is_agreed: bool, bursts: usize, usual: f64, wander: f64) -> f64 {
    let by_rate = RATE * apart;
    let wandered = SIGMAS * wander * 1e9 * (apart * 1e-9).powf(1.5);
    let expected = match is_agreed {
        true => AGREED_RATE * apart,
        false if bursts < MANY => by_rate,
        false => MUCH * usual,
    };
    by_rate.min(expected.max(wandered))
}

/// The middle one of the drifts between bursts that are near each other, of which each has a date and an offset (after H. Theil, 1950, and P. K. Sen,
/// 1968): of those that are far apart, most would have a clock's step between them. Of few, one odd burst moves the middle: there the least drift
/// is the likeliest.
pub(crate) fn usual_drift(bursts: &[(f64, f64)]) -> f64 {
    let pairs = bursts.iter().enumerate().flat_map(|(at, one)| {
        let others = bursts[at + 1..].iter().take(NEXT).filter(|other| other.0 > one.0);
        others.map(|other| (other.1 - one.1) / (other.0 - one.0))
    });
    let mut drifts: Vec<f64> = pairs.collect();
    drifts.sort_by(f64::total_cmp);
    if bursts.len() >= MANY {
        return drifts.get(drifts.len() / 2).copied().unwrap_or(0.0);
    }
    drifts.into_iter().min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

/// Of few bursts, the drift that most pairs of them agree on, if more than one pair does: each with the half of what its messages took, nanoseconds.
/// One that lies, or a step, leaves others that agree.
pub(crate) fn agreed_drift(bursts: &[(f64, f64)], widths: &[f64], tick: f64) -> Option<f64> {
    if bursts.len() >= SEVERAL {
        return None;
    }
    let least = widths.iter().copied().fold(f64::INFINITY, f64::min);
    let pairs = || {
        let later = |one: usize| (one + 1..bursts.len()).map(move |other| (one, other));
        (0..bursts.len()).flat_map(later).filter(|&(one, other)| bursts[other].0 > bursts[one].0)
    };
    let drift = |(one, other): (usize, usize)| (bursts[other].1 - bursts[one].1) / (bursts[other].0 - bursts[one].0);
    let agreeing = |drift: f64| {
        let agrees = |&(one, other): &(usize, usize)| {
            let between = bursts[other].0 - bursts[one].0;
            let allowed = LEAST + 2.0 * tick + AGREED_RATE * between + widths[one] + widths[other] - 2.0 * least;
            (bursts[other].1 - bursts[one].1 - drift * between).abs() <= allowed
        };
        pairs().filter(agrees).count()
    };
    let all = pairs().map(|pair| (agreeing(drift(pair)), drift(pair)));
    let best = all.max_by(|a, b| a.0.cmp(&b.0).then(b.1.abs().total_cmp(&a.1.abs())))?;
    // Of three bursts, any two pairs that agree are all.
    (best.0 > 1 && drift_can_be(best.1)).then_some(best.1)
}

/// Whether clocks may drift so.
pub(crate) fn drift_can_be(drift: f64) -> bool {
    drift.abs() <= RATE
}

/// The longest chain of `count` things in order of which each agrees with the next one; of equally long ones the one whose links are nearest.
fn longest_chain(count: usize, agree: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut best: Vec<(usize, Option<usize>)> = Vec::with_capacity(count);
    for at in 0..count {
        let mut own = (1, None);
        for before in (at.saturating_sub(BACK)..at).rev() {
            if best[before].0 + 1 > own.0 && agree(before, at) {
                own = (best[before].0 + 1, Some(before));
            }
        }
        best.push(own);
    }
    let mut next = (0..count).rev().max_by_key(|at| best[*at].0);
    let mut chain = Vec::new();
    while let Some(at) = next {
        chain.push(at);
        next = best[at].1;
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bursts 0.3 s apart of clocks that drift by 40 ppm, each off by so many microseconds.
    fn said(off: &[f64]) -> Vec<Said> {
        let burst = |(number, off): (usize, &f64)| {
            let at = number as f64 * 3e8;
            let offset = 40e-6 * at + off * 1e3 + (number * 7919 % 13) as f64 * 100.0;
            Said { burst: u32::try_from(number).unwrap(), at, least: offset - 3000.0, most: offset + 4000.0 }
        };
        off.iter().enumerate().map(burst).collect()
    }

    fn odd_of(off: &[f64]) -> Vec<usize> {
        odd(&said(off), 1.0, USUAL_WANDER).0
    }

    #[test]
    fn a_wrong_burst_is_found_wherever_it_is() {
        for at in 0..10 {
            for off in [200.0, -200.0, 1000.0, 5e6] {
                let mut bursts = [0.0; 10];
                bursts[at] = off;
                let (found, nanos) = odd(&said(&bursts), 1.0, USUAL_WANDER);
                assert_eq!(found, [at]);
                assert!((nanos / off.abs() / 1e3 - 1.0).abs() < 0.05, "{nanos}");
            }
        }
        assert_eq!(odd_of(&[0.0, 0.0, 300.0, 300.0, 0.0, 0.0, 0.0, -500.0, 0.0]), [2, 3, 7]);
        assert_eq!(odd_of(&[0.0, 300.0, 0.0]), [1]);
    }

    #[test]
    fn of_four_and_five_bursts_those_that_agree_are_believed() {
        for many in [4, 5] {
            for at in 1..many - 1 {
                for off in [500.0, -1000.0] {
                    let mut bursts = vec![0.0; many];
                    bursts[at] = off;
                    let mut said = said(&bursts);
                    // As far apart as they are in a run of minutes.
                    said.iter_mut().enumerate().for_each(|(number, said)| {
                        let more = 40e-6 * (number as f64 * 2e10 - said.at);
                        (said.at, said.least, said.most) = (number as f64 * 2e10, said.least + more, said.most + more);
                    });
                    assert_eq!(odd(&said, 1.0, USUAL_WANDER).0, [at], "{many} {off}");
                }
            }
        }
    }

    #[test]
    fn what_clocks_do_is_not_odd() {
        assert_eq!(odd_of(&[0.0; 10]), []);
        // It was set.
        assert_eq!(odd_of(&[0.0, 0.0, 0.0, 0.0, 0.0, 900.0, 900.0, 900.0]), []);
        assert_eq!(odd_of(&[900.0, 900.0, 0.0, 0.0, 0.0, 0.0, 0.0]), []);
        // Nobody knows.
        assert_eq!(odd_of(&[900.0, 0.0, 0.0]), []);
        assert_eq!(odd_of(&[0.0, 900.0]), []);
        assert_eq!(odd_of(&[0.0, 900.0, 100.0, -300.0, 2000.0, 5000.0]), []);
        // It wanders.
        let walk: Vec<f64> = (0..200).map(|n| (f64::from(n) / 9.0).sin() * 300.0).collect();
        assert_eq!(odd_of(&walk), []);
    }

    #[test]
    fn bursts_of_clocks_that_wander_much_are_not_odd() {
        let mut bursts = said(&[0.0, 0.0, 800.0, 0.0, 0.0]);
        bursts.iter_mut().enumerate().for_each(|(number, said)| {
            let more = 40e-6 * (number as f64 * 1.5e11 - said.at);
            (said.at, said.least, said.most) = (number as f64 * 1.5e11, said.least + more, said.most + more);
        });
        assert_eq!(odd(&bursts, 1.0, USUAL_WANDER).0, [2]);
        assert_eq!(odd(&bursts, 1.0, 3e-6).0, []);
    }
}
