//! The preconditioner for each domain alone: its data and its smoothness, by a Cholesky factorisation of bandwidth 2.

use super::system::System;

/// Factors of each domain's own part of the matrix: diagonal, and two below it.
pub(super) struct Bands {
    rows: Vec<[f64; 3]>,
    knots: usize,
}

impl Bands {
    /// O(cells + unknowns).
    pub(super) fn new(system: &System<'_>) -> Self {
        let shape = &system.shape;
        let knots = shape.knots;
        let mut rows = vec![[1e-9, 0.0, 0.0]; shape.domains * knots];
        for (edge, range) in shape.edges.iter().zip(&system.ranges) {
            for cell in &system.cells[range.clone()] {
                for domain in [edge.from, edge.to] {
                    let first = domain * knots + cell.knot;
                    rows[first][0] += cell.own[0];
                    rows[first + 1][0] += cell.own[2];
                    rows[first + 1][1] += cell.own[1];
                }
            }
        }
        for own in rows.chunks_mut(knots) {
            for at in 1..knots - 1 {
                let smooth = shape.prior.smooth;
                own[at - 1][0] += smooth;
                own[at][0] += 4.0 * smooth;
                own[at + 1][0] += smooth;
                own[at][1] -= 2.0 * smooth;
                own[at + 1][1] -= 2.0 * smooth;
                own[at + 1][2] += smooth;
            }
            own[0][0] += shape.prior.ends;
            own[knots - 1][0] += shape.prior.ends;
            factorise(own);
        }
        Self { rows, knots }
    }

    pub(super) fn apply(&self, rest: &[f64], out: &mut [f64]) {
        out.copy_from_slice(rest);
        for (own, out) in self.rows.chunks(self.knots).zip(out.chunks_mut(self.knots)) {
            substitute(own, out);
        }
    }
}

/// Cholesky's factor of a symmetric matrix with two bands below the diagonal, in place: row i holds (i,i), (i,i-1), (i,i-2).
fn factorise(rows: &mut [[f64; 3]]) {
    for at in 0..rows.len() {
        let [mut diagonal, mut one, mut two] = rows[at];
        if at >= 2 {
            two /= rows[at - 2][0];
            one -= two * rows[at - 1][1];
        }
        if at >= 1 {
            one /= rows[at - 1][0];
        }
        diagonal = (diagonal - one * one - two * two).max(1e-12).sqrt();
        rows[at] = [diagonal, one, two];
    }
}

/// Solves with the factor, forwards and backwards.
fn substitute(rows: &[[f64; 3]], x: &mut [f64]) {
    for at in 0..x.len() {
        let one = if at >= 1 { rows[at][1] * x[at - 1] } else { 0.0 };
        let two = if at >= 2 { rows[at][2] * x[at - 2] } else { 0.0 };
        x[at] = (x[at] - one - two) / rows[at][0];
    }
    for at in (0..x.len()).rev() {
        let one = if at + 1 < x.len() { rows[at + 1][1] * x[at + 1] } else { 0.0 };
        let two = if at + 2 < x.len() { rows[at + 2][2] * x[at + 2] } else { 0.0 };
        x[at] = (x[at] - one - two) / rows[at][0];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banded_system_is_solved() {
        // Rows of a symmetric matrix: 4 on the diagonal, -1 beside it, 0.5 two beside it.
        let mut rows = vec![[4.0, -1.0, 0.5]; 6];
        rows[0] = [4.0, 0.0, 0.0];
        rows[1] = [4.0, -1.0, 0.0];
        let wanted = [1.0, -2.0, 3.0, 0.5, 0.0, 7.0];
        let at = |a: i32, b: i32| match (a - b).abs() {
            0 => 4.0,
            1 => -1.0,
            2 => 0.5,
            _ => 0.0,
        };
        let mut x: Vec<f64> =
            (0..6).map(|a| (0..6).map(|b| at(a, b) * wanted[usize::try_from(b).unwrap()]).sum()).collect();
        factorise(&mut rows);
        substitute(&rows, &mut x);
        for (x, wanted) in x.iter().zip(wanted) {
            assert!((x - wanted).abs() < 1e-12, "{x} {wanted}");
        }
    }
}
