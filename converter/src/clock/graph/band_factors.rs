//! The block-diagonal preconditioner of the conjugate gradients: per domain, an
//! `L D Lᵀ` factorisation of its own matrix. This matrix contains the domain's observations and its
//! smoothness, and has bandwidth 2.
//!
//! Each row of a solution depends on the row before it, so the solution of one domain is limited by
//! the latency of the processor's arithmetic. Therefore several domains are solved at once.

use super::system::NormalEquations;

/// Number of domains that are solved at once.
const SIDE_BY_SIDE: usize = 4;

/// Factors of each domain's own part of the matrix, by row: one over D, and two elements of L
/// before the diagonal.
pub(crate) struct BandFactors {
    rows: Vec<[f64; 3]>,
    knots: usize,
}

impl BandFactors {
    /// O(pairs × knots).
    pub(crate) fn new(system: &NormalEquations<'_>) -> Self {
        let shape = &system.shape;
        let knots = shape.knots;
        let mut rows = vec![[1e-9, 0.0, 0.0]; shape.domains * knots];
        for pair in &system.pairs {
            for domain in [pair.from, pair.to] {
                let rows = &mut rows[domain * knots..][..knots];
                for (row, diagonal) in rows.iter_mut().zip(&pair.diagonal) {
                    row[0] += diagonal;
                }
                for (row, off_diagonal) in rows[1..].iter_mut().zip(&pair.off_diagonal) {
                    row[1] += off_diagonal;
                }
            }
        }
        for rows in rows.chunks_mut(knots) {
            for row in 1..knots - 1 {
                let smoothness = shape.prior.smoothness;
                rows[row - 1][0] += smoothness;
                rows[row][0] += 4.0 * smoothness;
                rows[row + 1][0] += smoothness;
                rows[row][1] -= 2.0 * smoothness;
                rows[row + 1][1] -= 2.0 * smoothness;
                rows[row + 1][2] += smoothness;
            }
            rows[0][0] += shape.prior.ends;
            rows[knots - 1][0] += shape.prior.ends;
            factorise(rows);
        }
        Self { rows, knots }
    }

    pub(crate) fn apply(&self, residual: &[f64], out: &mut [f64]) {
        out.copy_from_slice(residual);
        let size = SIDE_BY_SIDE * self.knots;
        let (mut rows, mut out) = (self.rows.chunks_exact(size), out.chunks_exact_mut(size));
        for (rows, out) in rows.by_ref().zip(out.by_ref()) {
            substitute::<SIDE_BY_SIDE>(rows, out);
        }
        let others = rows.remainder().chunks(self.knots).zip(out.into_remainder().chunks_mut(self.knots));
        others.for_each(|(rows, out)| substitute::<1>(rows, out));
    }
}

/// The factors of a symmetric matrix with two bands before the diagonal, in place. Row i holds
/// (i,i), (i,i-1), (i,i-2).
fn factorise(rows: &mut [[f64; 3]]) {
    for row in 0..rows.len() {
        let [mut diagonal, mut one, mut two] = rows[row];
        if row >= 2 {
            let previous_row = rows[row - 2];
            one -= two * rows[row - 1][1];
            diagonal -= two * two * previous_row[0];
            two *= previous_row[0];
        }
        if row >= 1 {
            let inverse = rows[row - 1][0];
            diagonal -= one * one * inverse;
            one *= inverse;
        }
        rows[row] = [1.0 / diagonal.max(1e-24), one, two];
    }
}

/// Solves with the factors of `N` matrices of one size, forwards and backwards.
fn substitute<const N: usize>(rows: &[[f64; 3]], x: &mut [f64]) {
    let size = x.len() / N;
    let (mut one, mut two) = ([0.0; N], [0.0; N]);
    for row in 0..size {
        for lane in 0..N {
            let [_, a, b] = rows[lane * size + row];
            let x = &mut x[lane * size + row];
            *x = (*x - b * two[lane]) - a * one[lane];
            (two[lane], one[lane]) = (one[lane], *x);
        }
    }
    // The contributions of the next two rows to this one.
    let (mut one, mut two, mut two_later) = ([0.0; N], [0.0; N], [0.0; N]);
    for row in (0..size).rev() {
        for lane in 0..N {
            let [inverse, a, b] = rows[lane * size + row];
            let x = &mut x[lane * size + row];
            *x = (*x * inverse - two[lane]) - one[lane];
            (one[lane], two[lane], two_later[lane]) = (a * *x, two_later[lane], b * *x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banded_system_is_solved() {
        // Rows of a symmetric matrix: 4 on the diagonal, -1 next to it, 0.5 two places from it.
        let mut rows = vec![[4.0, -1.0, 0.5]; 6];
        rows[0] = [4.0, 0.0, 0.0];
        rows[1] = [4.0, -1.0, 0.0];
        let expected = [1.0, -2.0, 3.0, 0.5, 0.0, 7.0];
        let element = |a: i32, b: i32| match (a - b).abs() {
            0 => 4.0,
            1 => -1.0,
            2 => 0.5,
            _ => 0.0,
        };
        let mut x: Vec<f64> =
            (0..6).map(|a| (0..6).map(|b| element(a, b) * expected[usize::try_from(b).unwrap()]).sum()).collect();
        factorise(&mut rows);
        let mut columns = [x.clone(), x.iter().map(|x| 2.0 * x).collect()].concat();
        substitute::<1>(&rows, &mut x);
        substitute::<2>(&[rows.clone(), rows].concat(), &mut columns);
        for (index, expected) in expected.into_iter().enumerate() {
            let values = [x[index], columns[index], columns[6 + index] / 2.0];
            assert!(values.iter().all(|value| (value - expected).abs() < 1e-12), "{values:?} {expected}");
        }
    }
}
