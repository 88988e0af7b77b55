//! Which parallelograms to tile with, at each level of a machine: the critical path decides.
//!
//! An iteration space is tiled, its tiles are tiled again, and so on; at each level tiles run as soon as what they wait for
//! has run, on as many processors as there can be use for. [`predict`] tells the time of a choice of shapes, with the
//! longest paths by linear programs (their limit for large tiles), [`count`] with the longest paths over the points
//! themselves, for small spaces; [`search`](fn@search) looks for the best shapes.
//!
//! # Source
//! Zhou, Garzarán, Padua, *Optimal parallelogram selection for hierarchical tiling*, TACO 11(4), 2014.

mod cones;
mod edges;
pub mod gpu;
pub mod matrix;
mod path;
mod points;
pub mod program;
mod quick;
pub mod schemes;
mod search;

pub use edges::{extents, has_tilings, reach};
pub use path::longest;
pub use points::{Counted, count};
pub use search::{Found, Progress, search};

use matrix::{Matrix, Rational};

/// What is to be tiled, on what machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// `E`: the edges of the iteration space, one a row.
    pub space: Matrix,
    /// `D`: the dependences, one a row: an iteration runs before the one that lies this much further.
    pub dependences: Vec<Vec<i64>>,
    /// `t_c`: the time of one iteration.
    pub iteration: f64,
    /// `t_s`: what starting a tile costs, from the innermost level on; as many as there are levels.
    pub overhead: Vec<f64>,
    /// How many points (of the level below) a tile of each level may have; what a level's memory holds. Without such a
    /// limit one tile as large as the space is best where starting tiles costs anything.
    pub largest: Vec<u64>,
}

impl Problem {
    /// Whether nothing waits along some direction, since the dependences do not span the space: iterations there run at once, whatever
    /// the shape of tiles, and paths by linear programs count steps that no dependence makes.
    pub fn has_free_direction(&self) -> bool {
        let mut rows: Vec<Vec<i128>> =
            self.dependences.iter().map(|it| it.iter().map(|&at| i128::from(at)).collect()).collect();
        for axis in 0..self.space.size() {
            let Some(pivot) = rows.iter().position(|row| row[axis] != 0) else { return true };
            let pivot = rows.swap_remove(pivot);
            for row in &mut rows {
                let factors = (pivot[axis], row[axis]);
                for (entry, above) in row.iter_mut().zip(&pivot) {
                    *entry = entry.saturating_mul(factors.0).saturating_sub(above.saturating_mul(factors.1));
                }
                let divisor = row.iter().fold(0, |divisor, &it| matrix::gcd(divisor, it)).max(1);
                row.iter_mut().for_each(|it| *it /= divisor);
            }
        }
        false
    }
}

/// `T_0, T_1, ...`: the edges of a tile at each level, one a row, in units of tiles of the level below.
pub type Shapes = Vec<Matrix>;

/// Why shapes are no tiling.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("there are {has} shapes for {needs} levels")]
    Levels { has: usize, needs: usize },
    #[error("the shape of level {level} is no {needs} by {needs} matrix")]
    Size { level: usize, needs: usize },
    #[error("the edges of a tile of level {level} are not independent")]
    Flat { level: usize },
    #[error("the dependence {dependence:?} leaves the cone of the edges at level {level}, or the next tile")]
    Dependence { level: usize, dependence: Vec<i64> },
    #[error("a tile of level {level} has more than {most} points")]
    Large { level: usize, most: u64 },
    #[error("numbers pass 128 bits")]
    Overflow,
}

/// Time by equation (19), level by level.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Of one tile of each level, without its start.
    pub tiles: Vec<f64>,
    /// The longest paths: within a tile of each level from 1 on, and of tiles of the highest level through the space.
    pub paths: Vec<Rational>,
    pub time: f64,
}

/// Predicts the time of a tiling.
///
/// # Errors
/// Shapes that the dependences do not allow: constraint (3) at each level.
pub fn predict(problem: &Problem, shapes: &[Matrix]) -> Result<Prediction, Invalid> {
    validate(problem, shapes)?;
    let mut time = problem.iteration * shapes[0].determinant().ok_or(Invalid::Overflow)?.unsigned_abs() as f64;
    let mut prediction = Prediction { tiles: vec![time], paths: vec![], time };
    for (level, shape) in shapes.iter().enumerate().skip(1) {
        let path = longest(&shape.inverse().ok_or(Invalid::Flat { level })?, path::Start::Corner);
        let path = at_least_one(path.ok_or(Invalid::Overflow)?);
        time = (time + problem.overhead[level - 1]) * path.to_f64();
        prediction.tiles.push(time);
        prediction.paths.push(path);
    }
    // E_l^-1 = T_(l-1) ... T_0 E^-1
    let mut whole = problem.space.inverse().ok_or(Invalid::Overflow)?;
    for shape in shapes {
        whole = whole.after(shape).ok_or(Invalid::Overflow)?;
    }
    let path = at_least_one(longest(&whole, path::Start::Anywhere).ok_or(Invalid::Overflow)?);
    prediction.time = (time + problem.overhead[shapes.len() - 1]) * path.to_f64();
    prediction.paths.push(path);
    Ok(prediction)
}

/// A path has at least one point; the linear programs know no points.
fn at_least_one(path: Rational) -> Rational {
    if path.numerator < path.denominator { Rational { numerator: 1, denominator: 1 } } else { path }
}

/// Whether tiles of these shapes wait for one another without cycles, and only for neighbours.
pub fn validate(problem: &Problem, shapes: &[Matrix]) -> Result<(), Invalid> {
    let needs = problem.space.size();
    if shapes.len() != problem.overhead.len() || shapes.is_empty() {
        return Err(Invalid::Levels { has: shapes.len(), needs: problem.overhead.len() });
    }
    let mut dependences = problem.dependences.clone();
    for (level, shape) in shapes.iter().enumerate() {
        if shape.size() != needs || dependences.iter().any(|it| it.len() != needs) {
            return Err(Invalid::Size { level, needs });
        }
        let inverse = shape.inverse().ok_or(Invalid::Flat { level })?;
        let points = shape.determinant().ok_or(Invalid::Overflow)?.unsigned_abs();
        if let Some(&most) = problem.largest.get(level).filter(|&&most| points > u128::from(most)) {
            return Err(Invalid::Large { level, most });
        }
        dependences = between_tiles(&inverse, &dependences, level)?;
    }
    Ok(())
}

/// `D_(k+1)`: the dependences between tiles, by (4) and (5), of those between what the tiles hold: steps of 0 or 1 along
/// each axis that a dependence has a part of.
fn between_tiles(inverse: &matrix::Inverse, dependences: &[Vec<i64>], level: usize) -> Result<Vec<Vec<i64>>, Invalid> {
    let mut found: Vec<Vec<i64>> = vec![];
    for dependence in dependences {
        let parts = inverse.coordinates(dependence).ok_or(Invalid::Overflow)?;
        if parts.iter().any(|&part| part < 0 || part > inverse.denominator) {
            return Err(Invalid::Dependence { level, dependence: dependence.clone() });
        }
        for choice in 1..1_usize << parts.len() {
            let step: Vec<i64> = (0..parts.len()).map(|at| (choice >> at & 1) as i64).collect();
            let fits = step.iter().zip(&parts).all(|(&step, &part)| step == 0 || part > 0);
            if fits && !found.contains(&step) {
                found.push(step);
            }
        }
    }
    Ok(found)
}
