//! The longest path of dependences through a parallelogram, as the optimum of a linear program, exactly.

use super::matrix::{Inverse, Rational, determinant};

/// Where paths may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At one corner: all dependences point away from it. Program (13): `0 <= c M <= 1`.
    Corner,
    /// Anywhere. Program (15): `-1 <= c M <= 1`.
    Anywhere,
}

/// The greatest `c_0 + c_1 + ...` with `c >= 0` and `c M` within the limits: how many unit steps fit.
///
/// A linear program in so few unknowns is solved by looking at all corners of its polytope. `None` where it is unbounded or
/// numbers pass 128 bits.
pub fn longest(matrix: &Inverse, start: Start) -> Option<Rational> {
    let size = matrix.numerators.len();
    let low = match start {
        Start::Corner => 0,
        Start::Anywhere => -matrix.denominator,
    };
    // normal . c <= bound
    let mut sides: Vec<(Vec<i128>, i128)> = vec![];
    for at in 0..size {
        let column: Vec<i128> = matrix.numerators.iter().map(|row| row[at]).collect();
        let opposite = column.iter().map(|it| -it).collect();
        for (side, bound) in [(column, matrix.denominator), (opposite, -low)] {
            // Without a positive factor it follows from the coordinates being none below 0.
            if side.iter().any(|&it| it > 0) || bound < 0 {
                sides.push((side, bound));
            }
        }
    }
    for at in 0..size {
        sides.push(((0..size).map(|other| if other == at { -1 } else { 0 }).collect(), 0));
    }
    if sides.len() < size {
        return None;
    }
    let mut best: Option<Rational> = None;
    let mut chosen: Vec<usize> = (0..size).collect();
    loop {
        if let Some(sum) = corner(&sides, &chosen)? {
            best = match best {
                Some(best) if !best.is_less(sum)? => Some(best),
                Some(_) | None => Some(sum),
            };
        }
        // The next choice of sides in lexicographic order.
        let Some(at) = (0..size).rev().find(|&at| chosen[at] < sides.len() - size + at) else { break };
        chosen[at] += 1;
        for later in at + 1..size {
            chosen[later] = chosen[later - 1] + 1;
        }
    }
    best
}

/// The sum of the coordinates of the point where some sides meet, if there is one and it is within all others.
fn corner(sides: &[(Vec<i128>, i128)], chosen: &[usize]) -> Option<Option<Rational>> {
    let rows: Vec<Vec<i128>> = chosen.iter().map(|&side| sides[side].0.clone()).collect();
    let denominator = determinant(&rows)?;
    if denominator == 0 {
        return Some(None);
    }
    let mut point = vec![];
    for at in 0..rows.len() {
        let mut replaced = rows.clone();
        for (row, &side) in replaced.iter_mut().zip(chosen) {
            row[at] = sides[side].1;
        }
        point.push(determinant(&replaced)?);
    }
    let sign = denominator.signum();
    for (normal, bound) in sides {
        let mut products = normal.iter().zip(&point);
        let value = products.try_fold(0_i128, |sum, (a, b)| sum.checked_add(a.checked_mul(*b)?))?;
        if value.checked_mul(sign)? > bound.checked_mul(denominator)?.checked_mul(sign)? {
            return Some(None);
        }
    }
    let sum = point.iter().try_fold(0_i128, |sum, it| sum.checked_add(*it))?;
    Some(Rational::new(sum, denominator))
}
