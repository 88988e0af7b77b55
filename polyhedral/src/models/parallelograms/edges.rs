//! How far tiles reach: one that is longer than the space along an axis is cut off there, and the formulas count what is cut off.

use super::matrix::Matrix;
use microlp::{ComparisonOp, OptimizationDirection};

/// How far edges of tiles of all levels reach along each axis at most, in points; `None` where numbers pass 128 bits.
pub fn reach(shapes: &[Matrix]) -> Option<Vec<u128>> {
    let axes = shapes.first().map_or(0, Matrix::size);
    let unit = |row: usize| (0..axes).map(|at| i128::from(at == row)).collect();
    // T_k ... T_0
    let mut edges: Vec<Vec<i128>> = (0..axes).map(unit).collect();
    let mut most = vec![0_u128; axes];
    for shape in shapes {
        let mut tile = vec![];
        for row in &shape.rows {
            let mut edge = vec![0_i128; axes];
            for (&factor, below) in row.iter().zip(&edges) {
                for (sum, it) in edge.iter_mut().zip(below) {
                    *sum = sum.checked_add(it.checked_mul(i128::from(factor))?)?;
                }
            }
            most.iter_mut().zip(&edge).for_each(|(most, it)| *most = (*most).max(it.unsigned_abs()));
            tile.push(edge);
        }
        edges = tile;
    }
    Some(most)
}

/// How far the space extends along each axis.
pub fn extents(space: &Matrix) -> Vec<u128> {
    let along = |at: usize| space.rows.iter().map(|row| u128::from(row[at].unsigned_abs())).sum();
    (0..space.size()).map(along).collect()
}

/// Whether no edge is longer than a limit along its axis.
pub fn is_within(shapes: &[Matrix], limits: &[u128]) -> bool {
    reach(shapes).is_some_and(|reach| reach.iter().zip(limits).all(|(it, limit)| it <= limit))
}

/// How much an axis grows along each dependence at most, for the solver.
const MOST: f64 = 1e9;

/// Whether some tiling keeps the dependences: whether all of them lead to one side of a plane through 0.
pub fn has_tilings(dependences: &[Vec<i64>]) -> bool {
    let mut program = microlp::Problem::new(OptimizationDirection::Minimize);
    let axes = dependences.first().map_or(0, Vec::len);
    let normal: Vec<_> = (0..axes).map(|_| program.add_var(0.0, (-MOST, MOST))).collect();
    for dependence in dependences {
        let sum: Vec<_> = normal.iter().zip(dependence).map(|(&axis, &by)| (axis, by as f64)).collect();
        program.add_constraint(sum.as_slice(), ComparisonOp::Ge, 1.0);
    }
    program.solve().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependences_on_one_side_have_tilings() {
        assert!(has_tilings(&[vec![1, -1], vec![1, 1]]));
        assert!(has_tilings(&[vec![1, -1000], vec![0, 1]]));
        assert!(has_tilings(&[vec![-1, 0], vec![0, -1]]));
        assert!(!has_tilings(&[vec![1, 0], vec![-1, 0]]));
        assert!(!has_tilings(&[vec![1, 1], vec![-1, 0], vec![0, -1]]));
        assert!(has_tilings(&[vec![1, 0, 0], vec![0, 1, -5], vec![0, 0, 1]]));
    }
}
