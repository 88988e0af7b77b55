//! The time of a tiling in floating point: what the search asks before it asks for the exact time.

use super::Problem;
use super::matrix::Matrix;

/// Problems of more axes are predicted exactly only.
pub const AXES: usize = 4;

type Square = [[f64; AXES]; AXES];

/// The estimate of `predict`'s time for a tiling that is valid; `None` where the axes are too many or a matrix has no inverse.
pub fn estimate(problem: &Problem, shapes: &[Matrix]) -> Option<f64> {
    let size = problem.space.size();
    if size > AXES {
        return None;
    }
    let first = square(shapes.first()?);
    let mut time = problem.iteration * determinant(&first, size).abs();
    for (shape, overhead) in shapes.iter().skip(1).zip(&problem.overhead) {
        time = (time + overhead) * longest(&inverse(&square(shape), size)?, size, 0.0).max(1.0);
    }
    let mut whole = inverse(&square(&problem.space), size)?;
    for shape in shapes {
        whole = product(&square(shape), &whole, size);
    }
    Some((time + problem.overhead[shapes.len() - 1]) * longest(&whole, size, 1.0).max(1.0))
}

fn square(matrix: &Matrix) -> Square {
    let mut all = [[0.0; AXES]; AXES];
    for (row, from) in all.iter_mut().zip(&matrix.rows) {
        for (place, &entry) in row.iter_mut().zip(from) {
            *place = entry as f64;
        }
    }
    all
}

fn product(a: &Square, b: &Square, size: usize) -> Square {
    let mut all = [[0.0; AXES]; AXES];
    for row in 0..size {
        for column in 0..size {
            all[row][column] = (0..size).map(|at| a[row][at] * b[at][column]).sum();
        }
    }
    all
}

/// Gauss-Jordan with the largest pivots; the determinant stands beside.
fn eliminated(matrix: &Square, size: usize) -> (Square, f64) {
    let (mut left, mut right, mut determinant) = (*matrix, [[0.0; AXES]; AXES], 1.0);
    (0..size).for_each(|at| right[at][at] = 1.0);
    for at in 0..size {
        let pivot = (at..size).max_by(|&a, &b| left[a][at].abs().total_cmp(&left[b][at].abs())).unwrap_or(at);
        if pivot != at {
            left.swap(at, pivot);
            right.swap(at, pivot);
            determinant = -determinant;
        }
        let factor = left[at][at];
        determinant *= factor;
        if factor == 0.0 {
            return (right, 0.0);
        }
        for column in 0..size {
            left[at][column] /= factor;
            right[at][column] /= factor;
        }
        for row in (0..size).filter(|&row| row != at) {
            let factor = left[row][at];
            for column in 0..size {
                left[row][column] -= factor * left[at][column];
                right[row][column] -= factor * right[at][column];
            }
        }
    }
    (right, determinant)
}

fn determinant(matrix: &Square, size: usize) -> f64 {
    eliminated(matrix, size).1
}

fn inverse(matrix: &Square, size: usize) -> Option<Square> {
    let (inverse, determinant) = eliminated(matrix, size);
    (determinant != 0.0).then_some(inverse)
}

/// As `path::longest`: the greatest sum of the coordinates `c >= 0` with `-below <= c M <= 1`.
fn longest(matrix: &Square, size: usize, below: f64) -> f64 {
    // The simplex method from the corner 0, where all slacks are positive or 0; by Bland's rule it ends.
    const ROWS: usize = 2 * AXES;
    let rows = 2 * size;
    let mut table = [[0.0; AXES + 1]; ROWS + 1];
    let mut basic = [0; ROWS];
    let mut free = [0; AXES];
    for column in 0..size {
        let scale = (0..size).map(|row| matrix[row][column].abs()).fold(f64::MIN_POSITIVE, f64::max);
        for row in 0..size {
            table[column][row] = matrix[row][column] / scale;
            table[size + column][row] = -matrix[row][column] / scale;
        }
        (table[column][size], table[size + column][size]) = (1.0 / scale, below / scale);
        free[column] = column;
    }
    for (at, it) in basic.iter_mut().enumerate().take(rows) {
        *it = size + at;
    }
    (0..size).for_each(|at| table[rows][at] = -1.0);
    for _ in 0..200 {
        let entering = (0..size).filter(|&at| table[rows][at] < -1e-9).min_by_key(|&at| free[at]);
        let Some(entering) = entering else { return table[rows][size] };
        let ratio = |row: usize| table[row][size] / table[row][entering];
        let leaving = (0..rows)
            .filter(|&row| table[row][entering] > 1e-12)
            .min_by(|&a, &b| ratio(a).total_cmp(&ratio(b)).then(basic[a].cmp(&basic[b])));
        let Some(leaving) = leaving else { return f64::INFINITY };
        let pivot = table[leaving][entering];
        table[leaving].iter_mut().for_each(|entry| *entry /= pivot);
        table[leaving][entering] = 1.0 / pivot;
        let above = table[leaving];
        for (_, line) in table.iter_mut().enumerate().filter(|(row, _)| *row != leaving) {
            let factor = std::mem::take(&mut line[entering]);
            line.iter_mut().zip(&above).for_each(|(entry, above)| *entry -= factor * above);
        }
        std::mem::swap(&mut basic[leaving], &mut free[entering]);
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parallelograms::{Shapes, predict};
    use crate::random::Random;

    /// Of random shapes that are tilings, over two and three axes and on two levels.
    #[test]
    fn estimates_are_the_exact_times_but_for_rounding() {
        let two = vec![vec![1, 0], vec![1, 1], vec![1, -1]];
        let three = [[1, 0, 0], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1]].map(|it| it.to_vec()).to_vec();
        let mut random = Random::new(5);
        for (axes, dependences) in [(2, two), (3, three)] {
            let space = Matrix::diagonal(axes, 4096);
            let problem =
                Problem { space, dependences, iteration: 1.6e-6, overhead: vec![18e-6, 0.1], largest: vec![] };
            let mut shape = |side: usize| {
                let mut matrix = Matrix::diagonal(axes, 1);
                for (at, row) in matrix.rows.iter_mut().enumerate() {
                    for (column, entry) in row.iter_mut().enumerate() {
                        *entry = match at == column {
                            true => 1 + random.below(side) as i64,
                            false => random.below(2) as i64 * (random.below(side) as i64 - side as i64 / 2),
                        };
                    }
                }
                matrix
            };
            let mut count = 0;
            while count < 300 {
                let shapes: Shapes = vec![shape(9), shape(100)];
                let Ok(exact) = predict(&problem, &shapes) else { continue };
                let estimate = estimate(&problem, &shapes).unwrap();
                assert!((estimate / exact.time - 1.0).abs() < 1e-9, "{shapes:?}: {estimate} and {}", exact.time);
                count += 1;
            }
        }
    }
}
