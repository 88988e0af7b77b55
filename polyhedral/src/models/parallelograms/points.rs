//! The longest paths over the points themselves, for spaces small enough to be walked through.
//!
//! A tile waits for another where some point of it waits for a point of the other. By (4) and (5), which [`validate`] goes by, every
//! part of a dependence takes tiles to the next one, also where no two whole points are that far from one another: between the
//! hyperplanes of `(8, -1; 0, 1)` lie eight points in a row, and of `(1, 0) = (1/8, 1/8)` both parts pass the next tile at once.

use super::matrix::{Inverse, Matrix};
use super::{Invalid, Problem, validate};
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
    let mut dependences = problem.dependences.clone();
    let mut paths = vec![];
    for (level, shapes) in shapes.windows(2).enumerate() {
        // Within a tile all tiles of the level below are whole, and whole tiles are alike.
        dependences = between_whole(&shapes[0], &dependences, level)?;
        let path = within(&inside(&shapes[1])?, &dependences);
        time = (time + problem.overhead[level]) * path as f64;
        paths.push(path);
    }
    let path = through(problem, shapes)?;
    paths.push(path);
    Ok(Some(Counted { paths, time: (time + problem.overhead[shapes.len() - 1]) * path as f64 }))
}

/// How much further tiles lie that wait for a tile, of which none is cut off.
fn between_whole(shape: &Matrix, dependences: &[Vec<i64>], level: usize) -> Result<Vec<Vec<i64>>, Invalid> {
    let inverse = shape.inverse().ok_or(Invalid::Flat { level })?;
    let coordinates = |it: &Vec<i64>| inverse.coordinates(it).ok_or(Invalid::Overflow);
    let points = inside(shape)?.iter().map(coordinates).collect::<Result<Vec<_>, _>>()?;
    let mut steps = BTreeSet::new();
    for dependence in dependences {
        let parts = coordinates(dependence)?;
        for point in &points {
            let passes = |(at, part): (&i128, &i128)| at + part >= inverse.denominator;
            let choice = point.iter().zip(&parts).map(passes).enumerate();
            steps.insert(choice.fold(0_u32, |all, (at, passes)| all | u32::from(passes) << at));
        }
    }
    let step = |choice: &u32| (0..shape.size()).map(|at| i64::from(choice >> at & 1)).collect();
    Ok(steps.iter().filter(|&&choice| choice != 0).map(step).collect())
}

/// The longest path of such steps over these places.
fn within(places: &[Vec<i64>], steps: &[Vec<i64>]) -> u64 {
    let numbers: BTreeMap<&[i64], usize> =
        places.iter().enumerate().map(|(number, it)| (it.as_slice(), number)).collect();
    let mut edges = BTreeSet::new();
    for (number, place) in places.iter().enumerate() {
        for step in steps {
            let further: Vec<i64> = place.iter().zip(step).map(|(a, b)| a + b).collect();
            edges.extend(numbers.get(further.as_slice()).map(|&other| (number, other)));
        }
    }
    longest(places, &edges)
}

/// The longest path of tiles of the highest level through the space, whose points alone wait for one another.
fn through(problem: &Problem, shapes: &[Matrix]) -> Result<u64, Invalid> {
    let points = inside(&problem.space)?;
    // Of each point its tile's number, level by level, and of the tiles the places.
    let mut tiles: Vec<usize> = (0..points.len()).collect();
    let mut places = points.clone();
    for (level, shape) in shapes.iter().enumerate() {
        let inverse = shape.inverse().ok_or(Invalid::Flat { level })?;
        let mut known: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
        let mut next = vec![];
        for place in &places {
            let many = known.len();
            next.push(*known.entry(tile_of(&inverse, place)?).or_insert(many));
        }
        tiles.iter_mut().for_each(|tile| *tile = next[*tile]);
        places = vec![vec![]; known.len()];
        known.into_iter().for_each(|(place, number)| places[number] = place);
    }
    let grid = Grid::of(&points);
    let mut at = vec![None; grid.size];
    for (point, &tile) in points.iter().zip(&tiles) {
        at[grid.index(point).expect("it lies in the grid")] = Some(tile);
    }
    let mut edges = BTreeSet::new();
    for dependence in &problem.dependences {
        // Neighbours mostly say the same.
        let mut last = None;
        for (point, &tile) in points.iter().zip(&tiles) {
            let edge = grid.index_from(point, dependence).and_then(|index| at[index]).map(|other| (tile, other));
            if let Some((from, to)) = edge.filter(|(from, to)| from != to)
                && last != edge
            {
                edges.insert((from, to));
                last = edge;
            }
        }
    }
    Ok(longest(&places, &edges))
}

/// The least box around points, as places in a row.
struct Grid {
    low: Vec<i64>,
    extents: Vec<i64>,
    size: usize,
}

impl Grid {
    fn of(points: &[Vec<i64>]) -> Grid {
        let axes = points.first().map_or(0, Vec::len);
        let along = |at: usize| points.iter().map(move |point| point[at]);
        let low: Vec<i64> = (0..axes).map(|at| along(at).min().unwrap_or(0)).collect();
        let extents: Vec<i64> = (0..axes).map(|at| along(at).max().map_or(0, |it| it - low[at] + 1)).collect();
        let size = extents.iter().product::<i64>() as usize;
        Grid { low, extents, size }
    }

    fn index(&self, point: &[i64]) -> Option<usize> {
        self.index_from(point, &[])
    }

    /// Of the place that lies so much further.
    fn index_from(&self, point: &[i64], by: &[i64]) -> Option<usize> {
        let mut index = 0;
        for (at, (&low, &extent)) in self.low.iter().zip(&self.extents).enumerate() {
            let along = point[at] + by.get(at).copied().unwrap_or(0) - low;
            if !(0..extent).contains(&along) {
                return None;
            }
            index = index * extent + along;
        }
        Some(index as usize)
    }
}

/// The number of places on the longest path. Edges go forward or stay along each axis, so a path goes up the sum of coordinates.
fn longest(places: &[Vec<i64>], edges: &BTreeSet<(usize, usize)>) -> u64 {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&number| places[number].iter().sum::<i64>());
    let mut length = vec![1; places.len()];
    for from in order {
        for &(_, to) in edges.range((from, 0)..=(from, usize::MAX)) {
            length[to] = length[to].max(length[from] + 1);
        }
    }
    length.into_iter().max().unwrap_or(0)
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
