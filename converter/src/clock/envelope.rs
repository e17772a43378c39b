//! A line per domain: offset and drift, from the corridor between what goes to and fro.
//!
//! The messages from A to B lie above the line of B's clock over A's, those from B to A below it. The line in the middle of
//! the widest corridor is taken, pair by pair, and lines are composed along the tree of the narrowest corridors. A message
//! that waited does no harm: only the fastest touch the corridor.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::min_delays::{Edge, Point};

/// Real clocks are within this of each other.
const MAX_DRIFT: f64 = 500e-6;
/// Most are within this. A slope of this size must make a corridor twice as wide, so that a few messages which leave the slope open do
/// not settle on the steepest.
const USUAL_DRIFT: f64 = 50e-6;
/// A corridor is taken to be at least so wide for that, nanoseconds.
const LEAST_WIDTH: f64 = 1000.0;
/// One-way messages within this of a line confirm it, nanoseconds, if there are so many
const NEAR: f64 = 10_000.0;
const CONFIRMED: usize = 5;
/// Steps of the search for a slope; each leaves 0.62 of the interval.
const STEPS: usize = 70;

/// What has to be added to a date: `offset` at the start of the run, and `slope` per nanosecond after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub(crate) offset: f64,
    pub(crate) slope: f64,
}

/// How a domain is joined to the reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Joined {
    /// The domain that the line leads to: 0, or the first of a component that no message joins to it.
    pub(crate) root: usize,
    pub(crate) line: Line,
    /// Pairs on the way to the reference.
    pub(crate) hops: usize,
    /// Some pair on the way was heard in one direction only.
    pub(crate) one_way: bool,
    /// How wide the corridors on the way are together, nanoseconds.
    pub(crate) width: f64,
}

/// What a pair of domains says: the line that brings `b` to `a`.
#[derive(Clone, Copy, Debug)]
struct Pair {
    a: usize,
    b: usize,
    line: Line,
    /// The corridor's width at the worse end of the run; nanoseconds.
    width: f64,
    one_way: bool,
}

/// A line for each domain that messages join to another: to the reference, which is domain 0, where there is a way, else to
/// the first domain of its component. O(edges × points + edges log edges).
///
/// `rates` gives for two domains within which bounds the second one's clock runs faster, as far as it is known; where messages go one way only,
/// they tell less than that.
pub(crate) fn lines(
    domains: usize,
    edges: &[Edge],
    span: f64,
    rates: impl Fn(usize, usize) -> Option<(f64, f64)>,
) -> Vec<Option<Joined>> {
    let mut pairs = Vec::new();
    for group in edges.chunk_by(|a, b| (a.from.min(a.to), a.from.max(a.to)) == (b.from.min(b.to), b.from.max(b.to))) {
        let (a, b) = (group[0].from.min(group[0].to), group[0].from.max(group[0].to));
        // Above the line of b - a, and below it.
        let mut above: Vec<(f64, f64)> = Vec::new();
        let mut below: Vec<(f64, f64)> = Vec::new();
        for edge in group {
            let points = edge.points.iter();
            if edge.from == a {
                above.extend(points.map(|&Point { sent, took }| (sent, took)));
            } else {
                // Both sides by a's dates.
                below.extend(points.map(|&Point { sent, took }| (sent + took, -took)));
            }
        }
        let rates = rates(a, b).unwrap_or((-MAX_DRIFT, MAX_DRIFT));
        pairs.extend(corridor(&mut above, &mut below, span, rates).map(|(line, width, one_way)| Pair {
            a,
            b,
            line,
            width,
            one_way,
        }));
    }
    join(domains, &pairs)
}

/// Shortest ways from the reference, pairs that were heard both ways first.
fn join(domains: usize, pairs: &[Pair]) -> Vec<Option<Joined>> {
    let mut by_domain: Vec<Vec<usize>> = vec![Vec::new(); domains];
    for (number, pair) in pairs.iter().enumerate() {
        by_domain[pair.a].push(number);
        by_domain[pair.b].push(number);
    }
    let mut joined: Vec<Option<Joined>> = vec![None; domains];
    let mut best = vec![(usize::MAX, f64::INFINITY); domains];
    let mut heap = BinaryHeap::new();
    for root in 0..domains {
        if joined[root].is_some() || (root > 0 && by_domain[root].is_empty()) {
            continue;
        }
        best[root] = (0, 0.0);
        // Bits of non-negative floats are in their order.
        heap.push(Reverse((0usize, 0f64.to_bits(), root, None::<(usize, usize)>)));
        from_root(root, pairs, &by_domain, &mut joined, &mut best, &mut heap);
    }
    joined
}

/// Waiting domains: pairs on the way that were heard one way, width of the way, domain, and by which pair from where.
type Frontier = BinaryHeap<Reverse<(usize, u64, usize, Option<(usize, usize)>)>>;

/// Dijkstra's algorithm from one domain.
fn from_root(
    root: usize,
    pairs: &[Pair],
    by_domain: &[Vec<usize>],
    joined: &mut [Option<Joined>],
    best: &mut [(usize, f64)],
    heap: &mut Frontier,
) {
    while let Some(Reverse((one_ways, width, domain, by))) = heap.pop() {
        if joined[domain].is_some() {
            continue;
        }
        joined[domain] = Some(match by.and_then(|(from, pair)| Some((joined[from]?, &pairs[pair]))) {
            Some((from, pair)) => {
                let own = if domain == pair.b { pair.line } else { inverse(pair.line) };
                Joined {
                    root,
                    line: compose(from.line, own),
                    hops: from.hops + 1,
                    one_way: from.one_way || pair.one_way,
                    width: from.width + pair.width,
                }
            }
            None => Joined { root, line: Line::default(), hops: 0, one_way: false, width: 0.0 },
        });
        for &number in &by_domain[domain] {
            let pair = &pairs[number];
            let other = if pair.a == domain { pair.b } else { pair.a };
            let key = (one_ways + usize::from(pair.one_way), f64::from_bits(width) + pair.width);
            if joined[other].is_none() && key < best[other] {
                best[other] = key;
                heap.push(Reverse((key.0, key.1.to_bits(), other, Some((domain, number)))));
            }
        }
    }
}

/// What brings a clock to the line of a second one, which `outer` brings to that of a third.
fn compose(outer: Line, inner: Line) -> Line {
    Line {
        offset: inner.offset + outer.offset + inner.offset * outer.slope,
        slope: inner.slope + outer.slope + inner.slope * outer.slope,
    }
}

fn inverse(line: Line) -> Line {
    Line { offset: -line.offset / (1.0 + line.slope), slope: -line.slope / (1.0 + line.slope) }
}

/// The line in the middle of the widest corridor, as what has to be added to b's dates; the corridor's width at the worse
/// end of the run; and whether there is one side of it only. Then the slope is within `rates`.
fn corridor(
    above: &mut Vec<(f64, f64)>,
    below: &mut Vec<(f64, f64)>,
    span: f64,
    rates: (f64, f64),
) -> Option<(Line, f64, bool)> {
    let all = if below.is_empty() { above.clone() } else { below.iter().map(|(x, y)| (*x, -y)).collect() };
    lower_hull(above);
    below.iter_mut().for_each(|point| point.1 = -point.1);
    lower_hull(below);
    below.iter_mut().for_each(|point| point.1 = -point.1);
    let middle = span / 2.0;
    // Of a line with this slope, the highest and the lowest that touch a side; at the middle of the run.
    let least = |slope: f64| above.iter().map(|(x, y)| y - slope * (x - middle)).fold(f64::INFINITY, f64::min);
    let most = |slope: f64| below.iter().map(|(x, y)| y - slope * (x - middle)).fold(f64::NEG_INFINITY, f64::max);
    let added = |slope: f64, at_middle: f64| inverse(Line { offset: at_middle - slope * middle, slope });
    match (above.is_empty(), below.is_empty()) {
        (true, true) => None,
        // One side: the line along its longest side. The fastest message seems to take no time.
        (false, true) => {
            let slope = longest_slope(above, &all, rates);
            Some((added(slope, least(slope)), span * MAX_DRIFT, true))
        }
        (true, false) => {
            let mirrored: Vec<(f64, f64)> = below.iter().map(|(x, y)| (*x, -y)).collect();
            let slope = -longest_slope(&mirrored, &all, (-rates.1, -rates.0));
            Some((added(slope, most(slope)), span * MAX_DRIFT, true))
        }
        (false, false) => {
            let gap = |slope: f64| least(slope) - most(slope);
            let worth = gap(highest(gap, -MAX_DRIFT, MAX_DRIFT)).max(LEAST_WIDTH);
            let best = highest(|slope| gap(slope) - worth * (slope / USUAL_DRIFT).powi(2), -MAX_DRIFT, MAX_DRIFT);
            let widest = gap(best);
            // Where even the widest has messages on the wrong side, all are allowed to be as wrong.
            let relaxed = |slope: f64| gap(slope) - widest.min(0.0) + 1.0;
            let (low, high) = (zero(relaxed, best, -MAX_DRIFT), zero(relaxed, best, MAX_DRIFT));
            let lever = |end: f64| {
                let reach = |slope: f64| least(slope) + slope * end;
                let top = reach(highest(reach, low, high));
                let reach = |slope: f64| -(most(slope) + slope * end);
                top + reach(highest(reach, low, high)) - widest.min(0.0)
            };
            let width = lever(-middle).max(lever(middle)).max(1.0);
            Some((added(best, f64::midpoint(least(best), most(best))), width, false))
        }
    }
}

/// The slope of the longest side of a hull that is within bounds and that messages confirm: a good part of the fastest of each piece
/// lie near it. The middle of the bounds, where they don't: a few late messages have any slope.
fn longest_slope(hull: &[(f64, f64)], all: &[(f64, f64)], (low, high): (f64, f64)) -> f64 {
    let sides =
        hull.windows(2).map(|side| (side[0], side[1].0 - side[0].0, (side[1].1 - side[0].1) / (side[1].0 - side[0].0)));
    let sides = sides.filter(|(_, _, slope)| (low..=high).contains(slope));
    let unknown = f64::midpoint(low, high);
    let Some((start, _, slope)) = sides.max_by(|a, b| a.1.total_cmp(&b.1)) else { return unknown };
    let near = all.iter().filter(|(x, y)| y - start.1 - slope * (x - start.0) <= NEAR).count();
    if near >= CONFIRMED && near * 10 >= all.len() { slope } else { unknown }
}

/// Leaves the points that lines below all of them can touch (monotone chain).
fn lower_hull(points: &mut Vec<(f64, f64)>) {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points.dedup_by_key(|point| point.0);
    let mut kept = 0;
    for at in 0..points.len() {
        let c = points[at];
        while kept >= 2 {
            let (a, b) = (points[kept - 2], points[kept - 1]);
            if (b.1 - a.1) * (c.0 - a.0) < (c.1 - a.1) * (b.0 - a.0) {
                break;
            }
            kept -= 1;
        }
        points[kept] = c;
        kept += 1;
    }
    points.truncate(kept);
}

/// Where a concave function is highest (golden section).
fn highest(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..STEPS {
        if at_a < at_b {
            low = a;
            (a, at_a) = (b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = f(b);
        } else {
            high = b;
            (b, at_b) = (a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = f(a);
        }
    }
    f64::midpoint(low, high)
}

/// Where a function that is positive at `inside` and falls towards `outside` becomes 0 (bisection).
fn zero(f: impl Fn(f64) -> f64, mut inside: f64, mut outside: f64) -> f64 {
    if f(outside) >= 0.0 {
        return outside;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(inside, outside);
        if f(middle) >= 0.0 { inside = middle } else { outside = middle }
    }
    inside
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::min_delays::Class;

    const SPAN: f64 = 1e11;

    /// Messages between clocks that are `offset + slope * date` ahead.
    fn edge(from: usize, to: usize, ahead: impl Fn(f64) -> f64, delay: f64) -> Edge {
        let points = (0..50).map(|n| {
            let sent = f64::from(n) / 50.0 * SPAN;
            Point { sent, took: ahead(sent) + delay + f64::from(n * 7919 % 13) * 1e4 }
        });
        Edge { from, to, class: Class::Message, points: points.collect(), count: 50 }
    }

    #[test]
    fn a_chain_of_pairs_is_composed() {
        // Clock 1 is 1 s ahead and fast; clock 2 is behind clock 1 by 3 s and slow; clock 3 talks to nobody.
        let one = |t: f64| 1e9 + 40e-6 * t;
        let two = |t: f64| -3e9 - 70e-6 * t;
        let mut edges = vec![edge(0, 1, one, 2000.0), edge(1, 0, |t| -one(t), 2000.0)];
        edges.extend([edge(1, 2, two, 3000.0), edge(2, 1, |t| -two(t), 3000.0)]);
        // Clocks 4 and 5 talk to each other.
        edges.extend([edge(4, 5, one, 2000.0), edge(5, 4, |t| -one(t), 2000.0)]);
        let joined = lines(6, &edges, SPAN, |_, _| None);
        assert_eq!(joined[0].unwrap().line, Line::default());
        assert_eq!(joined[1].unwrap().hops, 1);
        let two = joined[2].unwrap();
        assert_eq!((two.hops, two.one_way), (2, false));
        // What the clocks were off is taken away.
        let slope = 1.0 / ((1.0 + 40e-6) * (1.0 - 70e-6)) - 1.0;
        assert!((two.line.slope - slope).abs() < 2e-7, "{two:?} {slope}");
        assert!((two.line.offset - 2e9).abs() < 4e5, "{two:?}");
        assert!(joined[3].is_none());
        assert_eq!([joined[4].unwrap(), joined[5].unwrap()].map(|joined| (joined.root, joined.hops)), [(4, 0), (4, 1)]);
    }

    #[test]
    fn one_direction_gives_a_line_that_reverses_nothing() {
        let ahead = |t: f64| -5e6 + 30e-6 * t;
        let edges = [edge(0, 1, ahead, 2000.0)];
        let joined = lines(2, &edges, SPAN, |_, _| None)[1].unwrap();
        assert!(joined.one_way);
        for point in &edges[0].points {
            let received = point.sent + point.took;
            let corrected = received + joined.line.offset + joined.line.slope * received;
            assert!(corrected >= point.sent - 500.0, "{point:?}");
        }
        assert!((joined.line.slope + 30e-6).abs() < 1e-6, "{joined:?}");
    }

    #[test]
    fn readings_bound_what_one_direction_says() {
        // A queue that drains by 3 ms per second.
        for (from, to) in [(0, 1), (1, 0)] {
            let edges = [edge(from, to, |t| 1e9 - 3e-3 * t, 2000.0)];
            let joined = lines(2, &edges, SPAN, |_, _| Some((-70e-6, 30e-6)))[1].unwrap();
            assert!((joined.line.slope - 20e-6).abs() < 1e-8, "{joined:?}");
        }
    }

    #[test]
    fn an_inverse_undoes() {
        let line = Line { offset: 1e9, slope: 5e-5 };
        let both = compose(inverse(line), line);
        assert!(both.offset.abs() < 1e-3 && both.slope.abs() < 1e-15, "{both:?}");
    }
}
