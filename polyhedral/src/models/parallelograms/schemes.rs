//! Shapes that people choose by hand.

use super::edges::{extents, is_within};
use super::matrix::Matrix;
use super::{Prediction, Problem, Shapes, predict};

/// A common shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    Square,
    /// Of two axes only.
    Diamond,
    /// The first axis runs against all others.
    Skewing1,
    /// The second axis runs against the first; of two axes only.
    Skewing2,
}

impl Scheme {
    pub const ALL: [Scheme; 4] = [Scheme::Square, Scheme::Diamond, Scheme::Skewing1, Scheme::Skewing2];

    pub fn name(self) -> &'static str {
        match self {
            Scheme::Square => "Square",
            Scheme::Diamond => "Diamond",
            Scheme::Skewing1 => "Skewing-1",
            Scheme::Skewing2 => "Skewing-2",
        }
    }

    pub fn from_name(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name().eq_ignore_ascii_case(name))
    }

    /// The tile of this shape with sides of `side`, along so many axes.
    pub fn matrix(self, axes: usize, side: i64) -> Option<Matrix> {
        let mut matrix = Matrix::diagonal(axes, side);
        match self {
            Scheme::Square => {}
            Scheme::Diamond if axes == 2 => matrix.rows = vec![vec![side, -side], vec![side, side]],
            Scheme::Skewing1 => (1..axes).for_each(|at| matrix.rows[0][at] = -side),
            Scheme::Skewing2 if axes == 2 => matrix.rows[1][0] = -side,
            Scheme::Diamond | Scheme::Skewing2 => return None,
        }
        Some(matrix)
    }
}

/// The tile of side 1 whose axes lean as little as the dependences allow: along each axis the least multiples of those before it
/// are added that let no dependence go backwards. What [`Scheme::Skewing1`] is for dependences of one step, this is for others.
///
/// `None` where some dependence goes backwards along the first axis that it has a part of, or would need a factor above
/// [`STEEPEST`].
pub fn least_skew(dependences: &[Vec<i64>], axes: usize) -> Option<Matrix> {
    // Rows are normals: coordinates in which all dependences are non-negative.
    let mut normals: Vec<Vec<i64>> = vec![];
    for axis in 0..axes {
        let mut factors = vec![0; axis];
        let row = loop {
            let mut row = vec![0; axes];
            row[axis] = 1;
            for (factor, before) in factors.iter().zip(&normals) {
                row.iter_mut().zip(before).for_each(|(sum, it)| *sum += factor * it);
            }
            let backwards = |it: &&Vec<i64>| it.iter().zip(&row).map(|(a, b)| a * b).sum::<i64>() < 0;
            let Some(wrong) = dependences.iter().find(backwards) else { break row };
            // The innermost of the axes before that the dependence goes forward along: adding it turns fewest others.
            let along = |at: &usize| wrong.iter().zip(&normals[*at]).map(|(a, b)| a * b).sum::<i64>() > 0;
            let at = (0..axis).rev().find(along)?;
            factors[at] += 1;
            if factors[at] > STEEPEST {
                return None;
            }
        };
        normals.push(row);
    }
    // Coordinates are `x T^-1`, so the normals are the columns of the inverse of `T`.
    let columns = Matrix { rows: (0..axes).map(|row| normals.iter().map(|it| it[row]).collect()).collect() };
    let inverse = columns.inverse()?;
    let whole = |it: &i128| i64::try_from(*it).ok().filter(|_| inverse.denominator == 1);
    let rows =
        inverse.numerators.iter().map(|row| row.iter().map(whole).collect()).collect::<Option<Vec<Vec<i64>>>>()?;
    Some(Matrix { rows })
}

/// Steeper tiles are thin.
pub const STEEPEST: i64 = 8;

/// The best sizes of one scheme for each level, and what they take; `None` where the dependences allow none of them.
pub fn best(problem: &Problem, schemes: &[Scheme]) -> Option<(Shapes, Prediction)> {
    let axes = problem.space.size();
    best_sides(problem, schemes.len(), &|level, side| schemes[level].matrix(axes, side))
}

/// The best sizes of tiles of least skew at the innermost level and square ones above, and what they take.
pub fn best_skewed(problem: &Problem) -> Option<(Shapes, Prediction)> {
    let axes = problem.space.size();
    let unit = least_skew(&problem.dependences, axes)?;
    let scaled = |side: i64| {
        let row = |row: &Vec<i64>| row.iter().map(|it| it.checked_mul(side)).collect::<Option<Vec<i64>>>();
        Some(Matrix { rows: unit.rows.iter().map(row).collect::<Option<_>>()? })
    };
    best_sides(problem, problem.overhead.len(), &|level, side| match level {
        0 => scaled(side),
        _ => Scheme::Square.matrix(axes, side),
    })
}

/// The best sides of shapes that have one at each level: without edges longer than the space, if there are any.
fn best_sides(
    problem: &Problem,
    levels: usize,
    shape: &dyn Fn(usize, i64) -> Option<Matrix>,
) -> Option<(Shapes, Prediction)> {
    let mut beyond = false;
    let inside = best_sides_within(problem, levels, shape, &mut |shapes| {
        let fits = is_within(shapes, &extents(&problem.space));
        beyond |= !fits;
        fits
    });
    inside.or_else(|| beyond.then(|| best_sides_within(problem, levels, shape, &mut |_| true))?)
}

/// The best sides among the tilings that `wanted` takes.
fn best_sides_within(
    problem: &Problem,
    levels: usize,
    shape: &dyn Fn(usize, i64) -> Option<Matrix>,
    wanted: &mut dyn FnMut(&[Matrix]) -> bool,
) -> Option<(Shapes, Prediction)> {
    let mut best: Option<(Shapes, Prediction)> = None;
    let largest = problem.space.rows.iter().flatten().map(|it| it.abs()).max().unwrap_or(1);
    let mut sides = vec![1_i64; levels];
    // From sides of 1, 2, 3, 4, 6, 8, 12, ... at all levels on, step by step to the best near by.
    let coarse: Vec<i64> = (0..62).flat_map(|at| [1_i64 << at, 3_i64 << at]).filter(|&it| it <= largest).collect();
    let mut at = vec![0; levels];
    let mut shapes_of = |sides: &[i64]| -> Option<f64> {
        let shapes: Option<Shapes> = sides.iter().enumerate().map(|(level, &side)| shape(level, side)).collect();
        let shapes = shapes?;
        let prediction = predict(problem, &shapes).ok().filter(|_| wanted(&shapes))?;
        let time = prediction.time;
        if best.as_ref().is_none_or(|(_, best)| time < best.time) {
            best = Some((shapes, prediction));
        }
        Some(time)
    };
    let mut least: Option<f64> = None;
    loop {
        let here: Vec<i64> = at.iter().map(|&place: &usize| coarse[place]).collect();
        if let Some(time) = shapes_of(&here)
            && least.is_none_or(|least| time < least)
        {
            (least, sides) = (Some(time), here);
        }
        let Some(level) = (0..at.len()).find(|&level| at[level] + 1 < coarse.len()) else { break };
        at[level] += 1;
        at[..level].fill(0);
    }
    let mut least = least?;
    let mut step = largest;
    while step > 0 {
        let mut improved = false;
        for level in 0..sides.len() {
            for change in [step, -step] {
                let mut tried = sides.clone();
                tried[level] += change;
                if (1..=largest).contains(&tried[level])
                    && let Some(time) = shapes_of(&tried).filter(|&time| time < least)
                {
                    (least, sides, improved) = (time, tried, true);
                }
            }
        }
        if !improved {
            step /= 2;
        }
    }
    best
}
