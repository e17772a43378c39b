//! Least squares over differences: positions of nodes from measured differences between pairs of
//! them.

/// A measured difference `to - from`. If its error is twice as large as that of others, its weight
/// should be a quarter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OffsetDifference {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) difference: f64,
    pub(crate) weight: f64,
}

/// Positions that fit the edges best. Node 0 is at 0. `None` for nodes that no path joins to node
/// 0.
///
/// Conjugate gradients on the graph's Laplacian. Each step is O(edges). The number of steps is at
/// most twice the number of nodes.
pub(crate) fn positions(nodes: usize, edges: &[OffsetDifference]) -> Vec<Option<f64>> {
    let mut positions = along_a_tree(nodes, edges);
    let is_known: Vec<bool> = positions.iter().map(Option::is_some).collect();
    let used: Vec<OffsetDifference> = edges.iter().copied().filter(|edge| is_known[edge.from]).collect();
    // The tree fits its own edges exactly. The solver then distributes the residuals of all edges.
    let position_of = |positions: &[Option<f64>], node: usize| positions[node].unwrap_or(0.0);
    let mut residuals = vec![0.0; nodes];
    for edge in &used {
        let missing =
            edge.weight * (edge.difference - (position_of(&positions, edge.to) - position_of(&positions, edge.from)));
        residuals[edge.to] += missing;
        residuals[edge.from] -= missing;
    }
    residuals[0] = 0.0;
    for (position, correction) in positions.iter_mut().zip(conjugate_gradients(nodes, &used, residuals)) {
        *position = position.map(|position| position + correction);
    }
    positions
}

fn along_a_tree(nodes: usize, edges: &[OffsetDifference]) -> Vec<Option<f64>> {
    let mut positions = vec![None; nodes];
    positions[0] = Some(0.0);
    loop {
        let mut grown = false;
        for edge in edges {
            match (positions[edge.from], positions[edge.to]) {
                (Some(from), None) => positions[edge.to] = Some(from + edge.difference),
                (None, Some(to)) => positions[edge.from] = Some(to - edge.difference),
                _ => continue,
            }
            grown = true;
        }
        if !grown {
            return positions;
        }
    }
}

fn conjugate_gradients(nodes: usize, edges: &[OffsetDifference], rest: Vec<f64>) -> Vec<f64> {
    let mut solution = vec![0.0; nodes];
    let mut residual = rest;
    let mut direction = residual.clone();
    let mut size = dot_product(&residual, &residual);
    for _ in 0..2 * nodes {
        if size < 1e-12 {
            break;
        }
        let mut image = vec![0.0; nodes];
        for edge in edges {
            let difference = edge.weight * (direction[edge.to] - direction[edge.from]);
            image[edge.to] += difference;
            image[edge.from] -= difference;
        }
        image[0] = 0.0;
        let step = size / dot_product(&direction, &image);
        if !step.is_finite() {
            break;
        }
        for node in 0..nodes {
            solution[node] += step * direction[node];
            residual[node] -= step * image[node];
        }
        let next = dot_product(&residual, &residual);
        for node in 0..nodes {
            direction[node] = residual[node] + next / size * direction[node];
        }
        size = next;
    }
    solution
}

fn dot_product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redundant_pairs_are_averaged() {
        let edge = |from, to, difference| OffsetDifference { from, to, difference, weight: 0.3 };
        let positions_of_nodes = positions(4, &[edge(0, 1, 10.0), edge(1, 2, 10.0), edge(0, 2, 23.0)]);
        let expected = [Some(0.0), Some(11.0), Some(22.0), None];
        for (position, expected) in positions_of_nodes.iter().zip(expected) {
            assert_eq!(position.is_some(), expected.is_some());
            assert!((position.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-9, "{position:?}");
        }
    }

    #[test]
    fn small_weights_have_a_small_effect() {
        let edge = |from, to, difference, weight| OffsetDifference { from, to, difference, weight };
        let positions_of_nodes =
            positions(3, &[edge(0, 1, 1010.0, 1e-4), edge(1, 2, 10.0, 1.0), edge(0, 2, 20.0, 1.0)]);
        let [_, Some(first_position), Some(second_position)] = positions_of_nodes[..] else {
            panic!("{positions_of_nodes:?}")
        };
        assert!(
            (first_position - 10.2).abs() < 0.01 && (second_position - 20.1).abs() < 0.01,
            "{positions_of_nodes:?}"
        );
    }
}
