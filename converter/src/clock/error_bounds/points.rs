//! Bounds by single messages: a fast one bounds the error of its receiver at its arrival, and that of its sender at its
//! departure. Between two of these points the bound is the chord, and what a clock can wander away from it.

use super::{Bounds, Clocks, Seen};

/// A bound at a date.
#[derive(Clone, Copy, Debug)]
struct Point {
    date: f64,
    bound: f64,
    /// What the fit added there.
    bent: f64,
}

/// Lowers the bounds at all moments to those that messages give. O(points log moments + domains × moments²).
pub(crate) fn lower_to_points(
    clocks: &Clocks,
    messages: &[(usize, usize, Vec<Seen>)],
    bent: impl Fn(usize, f64) -> f64,
    bounds: &mut [Bounds],
) {
    let segments = clocks.moments.len() - 1;
    for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
        // By clock and segment between two moments, the least bound.
        let mut points: Vec<Vec<Option<Point>>> = vec![vec![None; segments]; bounds.len()];
        for (from, to, seen) in messages {
            for Seen { sent, received, took } in seen {
                // The receiver is ahead by no more than the sender, and the sender behind by no more than the receiver.
                let ends = ((*from, *sent), (*to, *received));
                let (known, (domain, date)) = if side == 0 { ends } else { (ends.1, ends.0) };
                let bound = clocks.bound_at(known.0, &bounds[known.0][side], known.1) + took.max(0.0);
                let least = &mut points[domain][clocks.segment(date)];
                if bound.is_finite() && least.is_none_or(|least| bound < least.bound) {
                    *least = Some(Point { date, bound, bent: bent(domain, date) });
                }
            }
        }
        for (domain, points) in points.iter().enumerate().skip(1) {
            for (at, bound) in bounds[domain][side].iter_mut().enumerate() {
                let least = least_chord(clocks, points, (at, clocks.bent[domain][at]), sign);
                *bound = bound.min(least).max(0.0);
            }
        }
    }
}

/// The least bound at a moment by chords between points before it and after it. What the fit added at the moment is given.
fn least_chord(clocks: &Clocks, points: &[Option<Point>], (at, bent): (usize, f64), sign: f64) -> f64 {
    let date = clocks.moments[at];
    let before = of_distances(points[..at].iter().rev());
    let after = of_distances(points[at..].iter());
    let mut least = f64::INFINITY;
    for one in before.iter().flatten().filter(|one| one.date <= date) {
        for other in after.iter().flatten().filter(|other| other.date > one.date) {
            let place = (date - one.date) / (other.date - one.date);
            let chord = |from: f64, to: f64| from + (to - from) * place;
            let departure = sign * (bent - chord(one.bent, other.bent));
            let wander = clocks.wander.off_chord(date - one.date, other.date - date);
            least = least.min(chord(one.bound, other.bound) + departure + wander);
        }
    }
    least
}

/// The least point of the nearest segment, of the next two, of the next four, and so on.
fn of_distances<'p>(mut points: impl Iterator<Item = &'p Option<Point>>) -> Vec<Option<Point>> {
    let mut found = Vec::new();
    let mut many = 1;
    loop {
        let mut is_any = false;
        let mut least: Option<Point> = None;
        for point in points.by_ref().take(many) {
            is_any = true;
            least = match (least, *point) {
                (Some(least), Some(point)) if point.bound >= least.bound => Some(least),
                (least, point) => point.or(least),
            };
        }
        if !is_any {
            return found;
        }
        found.push(least);
        many *= 2;
    }
}
