//! The longest paths over the points themselves, for spaces small enough to be walked through.

use super::matrix::{Inverse, Matrix};
use super::{Invalid, Problem, between_tiles, validate};
use std::collections::{BTreeMap, BTreeSet};

/// Time with the longest paths counted point by point.
#[derive(Debug, Clone, PartialEq)]
pub struct Counted {
    /// Within a tile of each level from 1 on, and of tiles of the highest level through the space.
    pub paths: Vec<u64>,
    pub time: f64,
}

/// More points than this are not walked through.
const MOST: i128 = 1 << 20;

/// Counts the time of a tiling; `None` for a space or a tile of too many points.
///
/// # Errors
/// Shapes that the dependences do not allow.
pub fn count(problem: &Problem, shapes: &[Matrix]) -> Result<Option<Counted>, Invalid> {
    validate(problem, shapes)?;
    let too_large = |matrix: &Matrix| matrix.determinant().is_none_or(|it| it.abs() > MOST);
    if too_large(&problem.space) || shapes.iter().any(too_large) {
        return Ok(None);
    }
    let mut time = problem.iteration * shapes[0].determinant().ok_or(Invalid::Overflow)?.unsigned_abs() as f64;
    let mut tiles: BTreeSet<Vec<i64>> = inside(&problem.space)?.into_iter().collect();
    let mut dependences = problem.dependences.clone();
    let mut paths = vec![];
    for (level, shape) in shapes.iter().enumerate() {
        let inverse = shape.inverse().ok_or(Invalid::Flat { level })?;
        if level > 0 {
            let path = walk(&inside(shape)?.into_iter().collect(), &dependences);
            time = (time + problem.overhead[level - 1]) * path as f64;
            paths.push(path);
        }
        dependences = between_tiles(&inverse, &dependences, level)?;
        tiles = tiles.iter().map(|point| tile_of(&inverse, point)).collect::<Result<_, _>>()?;
    }
    let path = walk(&tiles, &dependences);
    paths.push(path);
    Ok(Some(Counted { paths, time: (time + problem.overhead[shapes.len() - 1]) * path as f64 }))
}

fn tile_of(inverse: &Inverse, point: &[i64]) -> Result<Vec<i64>, Invalid> {
    let parts = inverse.coordinates(point).ok_or(Invalid::Overflow)?;
    Ok(parts.iter().map(|part| part.div_euclid(inverse.denominator) as i64).collect())
}

/// The integer points of the half-open parallelogram.
fn inside(matrix: &Matrix) -> Result<Vec<Vec<i64>>, Invalid> {
    let inverse = matrix.inverse().ok_or(Invalid::Overflow)?;
    let size = matrix.size();
    let range = |at: usize| {
        let column = matrix.rows.iter().map(|row| row[at]);
        let (low, high) = (column.clone().filter(|it| *it < 0).sum::<i64>(), column.filter(|it| *it > 0).sum::<i64>());
        low..=high
    };
    let ranges: Vec<_> = (0..size).map(range).collect();
    if ranges
        .iter()
        .try_fold(1_i128, |all, it| all.checked_mul(i128::from(it.end() - it.start() + 1)))
        .is_none_or(|all| all > 16 * MOST)
    {
        return Err(Invalid::Overflow);
    }
    let mut points = vec![];
    let mut point: Vec<i64> = ranges.iter().map(|it| *it.start()).collect();
    loop {
        if tile_of(&inverse, &point)?.iter().all(|&it| it == 0) {
            points.push(point.clone());
        }
        let Some(at) = (0..size).rev().find(|&at| point[at] < *ranges[at].end()) else { break };
        point[at] += 1;
        for later in at + 1..size {
            point[later] = *ranges[later].start();
        }
    }
    Ok(points)
}

/// The number of points on the longest path. All steps are non-negative, so a path goes up the sum of coordinates.
fn walk(points: &BTreeSet<Vec<i64>>, steps: &[Vec<i64>]) -> u64 {
    let mut order: Vec<&Vec<i64>> = points.iter().collect();
    order.sort_by_key(|point| point.iter().sum::<i64>());
    let mut length: BTreeMap<&[i64], u64> = BTreeMap::new();
    let mut most = 0;
    for point in order {
        let before = steps.iter().filter_map(|step| {
            let from: Vec<i64> = point.iter().zip(step).map(|(a, b)| a - b).collect();
            length.get(from.as_slice()).copied()
        });
        let here = before.max().unwrap_or(0) + 1;
        length.insert(point, here);
        most = most.max(here);
    }
    most
}
