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

/// The sides that a tile of least skew has at least along each axis: no dependence reaches beyond the next tile.
pub fn least_sides(unit: &Matrix, dependences: &[Vec<i64>]) -> Option<Vec<i64>> {
    let inverse = unit.inverse()?;
    let mut least = vec![1_i64; unit.size()];
    for dependence in dependences {
        for (side, part) in least.iter_mut().zip(inverse.coordinates(dependence)?) {
            *side = (*side).max(i64::try_from(part.div_euclid(inverse.denominator)).ok()?);
        }
    }
    Some(least)
}

/// The best sizes of one scheme for each level, and what they take; `None` where the dependences allow none of them.
pub fn best(problem: &Problem, schemes: &[Scheme]) -> Option<(Shapes, Prediction)> {
    let axes = problem.space.size();
    let shapes = |sides: &[i64]| schemes.iter().zip(sides).map(|(it, &side)| it.matrix(axes, side)).collect();
    best_sides(problem, &Sized { levels: schemes.len(), begin: &<[i64]>::to_vec, shapes: &shapes, traded: 1 })
}

/// The best sizes of tiles of least skew at the innermost level, with a side for each axis, and square ones above, and what they take.
pub fn best_skewed(problem: &Problem) -> Option<(Shapes, Prediction)> {
    let axes = problem.space.size();
    let unit = least_skew(&problem.dependences, axes)?;
    let least = least_sides(&unit, &problem.dependences)?;
    let scaled = |sides: &[i64]| {
        let row = |(row, &side): (&Vec<i64>, &i64)| row.iter().map(|it| it.checked_mul(side)).collect();
        Some(Matrix { rows: unit.rows.iter().zip(sides).map(row).collect::<Option<_>>()? })
    };
    let shapes = |sides: &[i64]| {
        let (inner, outer) = sides.split_at(axes);
        std::iter::once(scaled(inner)).chain(outer.iter().map(|&side| Scheme::Square.matrix(axes, side))).collect()
    };
    let begin = |sides: &[i64]| {
        let inner = least.iter().map(|&least| least.max(sides[0]));
        inner.chain(sides[1..].iter().copied()).collect()
    };
    best_sides(problem, &Sized { levels: problem.overhead.len(), begin: &begin, shapes: &shapes, traded: axes })
}

/// The usual shapes with the sides that are best, the fastest first: what a search begins with.
pub fn usual(problem: &Problem) -> Vec<Shapes> {
    let named = Scheme::ALL.into_iter().filter_map(|scheme| best(problem, &[scheme]));
    let mut found: Vec<_> = named.chain(best_skewed(problem)).collect();
    found.sort_by(|a, b| a.1.time.total_cmp(&b.1.time));
    found.into_iter().map(|(shapes, _)| shapes).collect()
}

/// Shapes that have sizes.
struct Sized<'a> {
    levels: usize,
    /// The sizes to begin with for a side of each level.
    begin: &'a dyn Fn(&[i64]) -> Vec<i64>,
    shapes: &'a dyn Fn(&[i64]) -> Option<Shapes>,
    /// Of the first so many sizes one may grow while another shrinks.
    traded: usize,
}

/// The best sizes of shapes that have some: without edges longer than the space, if there are any.
fn best_sides(problem: &Problem, sized: &Sized<'_>) -> Option<(Shapes, Prediction)> {
    let mut beyond = false;
    let inside = best_sides_within(problem, sized, &mut |shapes| {
        let fits = is_within(shapes, &extents(&problem.space));
        beyond |= !fits;
        fits
    });
    inside.or_else(|| beyond.then(|| best_sides_within(problem, sized, &mut |_| true))?)
}

/// The best sizes among the tilings that `wanted` takes: from the best of those to begin with on, step by step to the best near by.
fn best_sides_within(
    problem: &Problem,
    sized: &Sized<'_>,
    wanted: &mut dyn FnMut(&[Matrix]) -> bool,
) -> Option<(Shapes, Prediction)> {
    let mut best: Option<(Shapes, Prediction)> = None;
    let mut time_of = |sides: &[i64]| -> Option<f64> {
        let shapes = (sized.shapes)(sides)?;
        let prediction = predict(problem, &shapes).ok().filter(|_| wanted(&shapes))?;
        let time = prediction.time;
        if best.as_ref().is_none_or(|(_, best)| time < best.time) {
            best = Some((shapes, prediction));
        }
        Some(time)
    };
    let mut least: Option<(f64, Vec<i64>)> = None;
    let largest = problem.space.rows.iter().flatten().map(|it| it.abs()).max().unwrap_or(1);
    // Sides of 1, 2, 3, 4, 6, 8, 12, ... at all levels.
    let coarse: Vec<i64> = (0..62).flat_map(|at| [1_i64 << at, 3_i64 << at]).filter(|&it| it <= largest).collect();
    let mut at = vec![0_usize; sized.levels];
    loop {
        let sides = (sized.begin)(&at.iter().map(|&place| coarse[place]).collect::<Vec<_>>());
        if let Some(time) = time_of(&sides)
            && least.as_ref().is_none_or(|(least, _)| time < *least)
        {
            least = Some((time, sides));
        }
        let Some(level) = (0..at.len()).find(|&level| at[level] + 1 < coarse.len()) else { break };
        at[level] += 1;
        at[..level].fill(0);
    }
    let (mut least, mut sides) = least?;
    let mut step = largest;
    while step > 0 {
        let mut improved = false;
        for at in 0..sides.len() {
            for change in [step, -step] {
                let others = (0..sized.traded).filter(|&other| other != at && at < sized.traded).map(Some);
                for other in std::iter::once(None).chain(others) {
                    let mut tried = sides.clone();
                    tried[at] += change;
                    if !(1..=largest).contains(&tried[at]) {
                        continue;
                    }
                    if let Some(other) = other {
                        tried[other] = (sides[other].saturating_mul(sides[at]) / tried[at]).clamp(1, largest);
                    }
                    if let Some(time) = time_of(&tried).filter(|&time| time < least) {
                        (least, sides, improved) = (time, tried, true);
                    }
                }
            }
        }
        if !improved {
            step /= 2;
        }
    }
    best
}
