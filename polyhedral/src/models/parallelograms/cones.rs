//! Shapes that follow from the dependences: no dependence crosses a side of a tile backwards, so sides lie on hyperplanes that have all
//! dependences on one side. Those of small numbers are tried.

use super::Problem;
use super::matrix::{Matrix, gcd};
use crate::random::Random;

/// Normals of hyperplanes have entries up to this.
const LARGEST: i64 = 2;
/// With more choices of hyperplanes than this, so many are drawn.
const CHOICES: usize = 20_000;

/// Tiles between as many hyperplanes as there are axes, with the shortest edges on the grid, in an order that is random by a seed.
pub fn shapes(problem: &Problem, random: &mut Random) -> Vec<Matrix> {
    let axes = problem.space.size();
    let normals = normals(problem, axes);
    let mut choices = choices(normals.len(), axes, random);
    for at in 0..choices.len() {
        let other = at + random.below(choices.len() - at);
        choices.swap(at, other);
    }
    let rows = |choice: &[usize]| choice.iter().map(|&at| normals[at].clone()).collect();
    choices.iter().filter_map(|choice| between(&Matrix { rows: rows(choice) })).collect()
}

/// The normals that look forward along all dependences, without common divisors.
fn normals(problem: &Problem, axes: usize) -> Vec<Vec<i64>> {
    let mut found = vec![];
    let mut normal = vec![-LARGEST; axes];
    loop {
        let along = |it: &[i64]| it.iter().zip(&normal).map(|(&a, &b)| i128::from(a) * i128::from(b)).sum::<i128>();
        let divisor = normal.iter().fold(0, |divisor, &it| gcd(divisor, i128::from(it)));
        if divisor == 1 && problem.dependences.iter().all(|it| along(it) >= 0) {
            found.push(normal.clone());
        }
        let Some(at) = (0..axes).find(|&at| normal[at] < LARGEST) else { return found };
        normal[at] += 1;
        normal[..at].fill(-LARGEST);
    }
}

/// Choices of so many among so many: all, or some that are drawn.
fn choices(among: usize, many: usize, random: &mut Random) -> Vec<Vec<usize>> {
    if among < many {
        return vec![];
    }
    let count = (0..many).fold(1.0, |count, at| count * (among - at) as f64 / (at + 1) as f64);
    if count > CHOICES as f64 {
        return (0..CHOICES).map(|_| (0..many).map(|_| random.below(among)).collect()).collect();
    }
    let mut found = vec![];
    let mut chosen: Vec<usize> = (0..many).collect();
    loop {
        found.push(chosen.clone());
        let Some(at) = (0..many).rev().find(|&at| chosen[at] < among - many + at) else { return found };
        chosen[at] += 1;
        for later in at + 1..many {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
}

/// The shortest edges along the lines where all hyperplanes but one meet, each to the side to which the last one looks.
fn between(normals: &Matrix) -> Option<Matrix> {
    let inverse = normals.inverse()?;
    let edge = |column: usize| -> Option<Vec<i64>> {
        let edge: Vec<i128> = inverse.numerators.iter().map(|row| row[column]).collect();
        let divisor = edge.iter().fold(0, |divisor, &it| gcd(divisor, it)) * inverse.denominator.signum();
        edge.iter().map(|it| i64::try_from(it / divisor).ok()).collect()
    };
    Some(Matrix { rows: (0..normals.size()).map(edge).collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::parallelograms::{Invalid, validate};

    /// The pyramid of the 2D Jacobi stencil's dependences lies in the cone of the edges of each shape.
    #[test]
    fn no_dependence_leaves_the_cone_of_the_edges() {
        let dependences = [[1, 0, 0], [1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1]].map(|it| it.to_vec()).to_vec();
        let problem = Problem {
            space: Matrix::diagonal(3, 100),
            dependences,
            iteration: 1.0,
            overhead: vec![1.0],
            largest: vec![],
        };
        let found = shapes(&problem, &mut Random::new(1));
        let times = |shape: &Matrix, factor: i64| Matrix {
            rows: shape.rows.iter().map(|row| row.iter().map(|it| it * factor).collect()).collect(),
        };
        assert!(found.len() > 1000, "{}", found.len());
        for shape in &found {
            // Eight times as large, so that a dependence reaches at most into the next tile.
            assert_eq!(validate(&problem, &[times(shape, 8)]), Ok(()), "{shape:?}");
            let turned = Matrix { rows: times(shape, -8).rows };
            assert!(matches!(validate(&problem, &[turned]), Err(Invalid::Dependence { .. })), "{shape:?}");
        }
    }
}
