//! A mesh-adaptive direct search over integer matrices.
//!
//! From the best shape so far, points of a mesh around it are tried: along the columns of a reflection in a random
//! direction and against them, so that in the course of time all directions come up. A success makes the mesh coarser, a
//! round of failures finer; the search ends when the finest mesh, that of the integers themselves, fails along all axes.
//! The mesh of each entry is as fine as the entry is small: tiles of 8 and of 8192 are searched at once. Before, rows are
//! tried to be stretched as wholes. Shapes that are no tiling are no candidates. A quarter of the evaluations goes to descents from
//! shapes that follow from the dependences. As long as there are some left, the end of a descent is shaken and the search goes down
//! again, since most ends are not the best; such walks begin at the best ends, in turns.
//!
//! # Source
//! Abramson, Audet, Dennis, Le Digabel, *OrthoMADS*, SIAM J. Optim. 20(2), 2009.

use super::edges::{extents, is_within, reach};
use super::matrix::Matrix;
use super::{Prediction, Problem, Shapes, predict};
use super::{cones, quick};
use crate::random::Random;

/// What the search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub shapes: Shapes,
    pub prediction: Prediction,
    /// How many shapes were looked at.
    pub evaluations: u64,
}

/// Told after each round: how many shapes were looked at, and the best time so far.
pub type Progress<'a> = &'a mut dyn FnMut(u64, f64);

/// The finest mesh is 2^0, the coarsest an entry itself.
const LEVELS: i32 = 12;

/// How many shapes a walk looks at before another begins: one alone may stay in a valley.
const WALK: u64 = 20_000;
/// How many shapes are looked at on the way down from one that was shaken.
const DESCENT: u64 = 250;
/// And it goes on where the best time is that near.
const PROMISING: f64 = 1.1;
/// The next one is shaken from where a descent ended if its time is that near.
const NEAR: f64 = 1.25;
/// How many ends walks begin at.
const ORIGINS: usize = 4;
/// How many shapes that follow from the dependences are gone down from.
const DESCENTS: usize = 8;
/// A shape that was shaken takes at most this many times the best one's time.
const WORSE: f64 = 3.0;

/// Entries beyond this are no tiles.
const LARGEST: i64 = 1 << 32;

/// The best shapes that are found from the given ones on, within so many evaluations; `None` if none of them is a tiling.
/// The same seed finds the same. No edge is longer than the space along an axis, unless one of the given shapes has such an edge.
pub fn search(
    problem: &Problem,
    starts: &[Shapes],
    seed: u64,
    evaluations: u64,
    progress: Progress<'_>,
) -> Option<Found> {
    let mut limits = extents(&problem.space);
    for most in starts.iter().filter(|it| predict(problem, it).is_ok()).filter_map(|it| reach(it)) {
        limits.iter_mut().zip(most).for_each(|(limit, it)| *limit = (*limit).max(it));
    }
    let mut state = State { problem, limits, used: 0, random: Random::new(seed) };
    let mut best: Option<(Vec<i64>, f64)> = None;
    let share = evaluations / starts.len().max(1) as u64;
    for (number, start) in starts.iter().enumerate() {
        let entries: Vec<i64> = start.iter().flat_map(|shape| shape.rows.iter().flatten().copied()).collect();
        let Some(time) = state.time(&entries) else { continue };
        let until = share * (number as u64 + 1);
        let (entries, time) = descend(&mut state, entries, time, until, progress);
        if best.as_ref().is_none_or(|(_, least)| time < *least) {
            best = Some((entries, time));
        }
    }
    let (entries, time) = best?;
    let mut origins = vec![descend(&mut state, entries, time, evaluations, progress)];
    origins.extend(scattered(&mut state, evaluations, progress));
    keep_best(&mut origins, ORIGINS);
    let (mut entries, mut time) = origins[0].clone();
    for from in origins.iter().cycle() {
        if state.used >= evaluations {
            break;
        }
        let until = evaluations.min(state.used + WALK);
        let (other, other_time) =
            walk(&mut state, from.clone(), until, &mut |used, least| progress(used, least.min(time)));
        if other_time < time {
            (entries, time) = (other, other_time);
        }
    }
    let shapes = shapes(problem, &entries);
    let prediction = predict(problem, &shapes).ok()?;
    Some(Found { shapes, prediction, evaluations: state.used })
}

/// Sorts by time; of those that take the same time one remains.
fn keep_best(found: &mut Vec<(Vec<i64>, f64)>, most: usize) {
    found.sort_by(|a, b| a.1.total_cmp(&b.1));
    found.dedup_by(|later, earlier| later.1 <= earlier.1 * (1.0 + 1e-9));
    found.truncate(most);
}

/// The ends of descents from shapes that follow from the dependences, with plain tiles of them at the levels above.
fn scattered(state: &mut State<'_>, evaluations: u64, progress: Progress<'_>) -> Vec<(Vec<i64>, f64)> {
    let until = evaluations.min(state.used + evaluations / 4);
    let size = state.problem.space.size();
    let reach = extents(&state.problem.space).into_iter().max().unwrap_or(1) as f64;
    let mut above = vec![];
    for level in 1..state.problem.overhead.len() {
        let most = state.problem.largest.get(level).map_or(reach, |&it| (it as f64).powf(1.0 / size as f64));
        above.extend(Matrix::diagonal(size, most.min(reach).max(1.0) as i64).rows.into_iter().flatten());
    }
    let mut found = vec![];
    for shape in cones::shapes(state.problem, &mut state.random) {
        if state.used >= until {
            break;
        }
        let entries: Vec<i64> = shape.rows.iter().flatten().chain(&above).copied().collect();
        if let Some(time) = state.time(&entries) {
            found.push(with_longer_edges(state, entries, time));
        }
    }
    keep_best(&mut found, DESCENTS);
    let ends = found.into_iter().map(|(entries, time)| {
        let soon = evaluations.min(state.used + 4 * DESCENT);
        descend(state, entries, time, soon, progress)
    });
    ends.collect()
}

/// Makes one edge of the innermost level longer after the other, the one that gains most first.
fn with_longer_edges(state: &mut State<'_>, mut entries: Vec<i64>, mut time: f64) -> (Vec<i64>, f64) {
    let size = state.problem.space.size();
    loop {
        let mut best = None;
        for row in 0..size {
            for (up, down) in [(2, 1), (3, 2)] {
                let mut tried = entries.clone();
                tried[row * size..(row + 1) * size].iter_mut().for_each(|it| *it = *it * up / down);
                if let Some(less) = state.better(&tried, time) {
                    (time, best) = (less, Some(tried));
                }
            }
        }
        match best {
            Some(longer) => entries = longer,
            None => return (entries, time),
        }
    }
}

/// From a point where no neighbour is better: shakes it, goes down again, and so on; the best point on the way.
fn walk(state: &mut State<'_>, from: (Vec<i64>, f64), until: u64, progress: Progress<'_>) -> (Vec<i64>, f64) {
    let mut here = from.0.clone();
    let (mut best, mut least) = from;
    while let Some((shaken, time)) = shaken(state, &here, least, until) {
        let mut told = |used: u64, time: f64| progress(used, time.min(least));
        let soon = until.min(state.used + DESCENT);
        let (mut found, mut time) = descend(state, shaken, time, soon, &mut told);
        if time < PROMISING * least {
            (found, time) = descend(state, found, time, until, &mut told);
        }
        if time < NEAR * least {
            here.clone_from(&found);
        }
        if time < least {
            (best, least) = (found, time);
        }
    }
    (best, least)
}

struct State<'a> {
    problem: &'a Problem,
    /// How far edges may reach along each axis.
    limits: Vec<u128>,
    used: u64,
    random: Random,
}

impl State<'_> {
    fn time(&mut self, entries: &[i64]) -> Option<f64> {
        self.better(entries, f64::INFINITY)
    }

    /// The time of a tiling that takes less than so much.
    fn better(&mut self, entries: &[i64], least: f64) -> Option<f64> {
        self.used += 1;
        if entries.iter().any(|it| it.abs() > LARGEST) {
            return None;
        }
        let shapes = shapes(self.problem, entries);
        if !is_within(&shapes, &self.limits) {
            return None;
        }
        if quick::estimate(self.problem, &shapes).is_some_and(|it| it > least * (1.0 + 1e-9)) {
            return None;
        }
        let time = predict(self.problem, &shapes).ok()?.time;
        (time < least).then_some(time)
    }
}

/// One or two random changes of the best shape that give a tiling; `None` once the evaluations are used up.
fn shaken(state: &mut State<'_>, best: &[i64], least: f64, until: u64) -> Option<(Vec<i64>, f64)> {
    while state.used < until {
        let mut tried = best.to_vec();
        for _ in 0..1 + state.random.below(2) {
            shake(state, &mut tried);
        }
        if state.random.below(2) == 0 {
            keep_outer_tiles(best, &mut tried, state.problem.space.size());
        }
        if tried != best
            && let Some(time) = state.better(&tried, WORSE * least)
        {
            return Some((tried, time));
        }
    }
    None
}

/// Turns a row into a direction of small numbers, adds a part of one row to another of its level, or makes a row longer and another
/// one shorter.
fn shake(state: &mut State<'_>, entries: &mut [i64]) {
    let size = state.problem.space.size();
    let rows = entries.len() / size;
    let (row, kind) = (state.random.below(rows), state.random.below(3));
    let row_of = |entries: &[i64], row: usize| entries[row * size..(row + 1) * size].to_vec();
    let scale = |entries: &mut [i64], row: usize, factor: f64| {
        for entry in &mut entries[row * size..(row + 1) * size] {
            *entry = (*entry as f64 * factor).round() as i64;
        }
    };
    match kind {
        0 => {
            let longest = row_of(entries, row).iter().map(|it| it.abs()).max().unwrap_or(1);
            for entry in &mut entries[row * size..(row + 1) * size] {
                *entry = longest * (state.random.below(3) as i64 - 1);
            }
        }
        1 => {
            let level = row / size * size;
            let other = row_of(entries, level + state.random.below(size));
            let part = state.random.uniform();
            for (entry, more) in entries[row * size..(row + 1) * size].iter_mut().zip(&other) {
                *entry += (part * *more as f64).round() as i64;
            }
        }
        _ => {
            let factor = 2.0_f64.powf(state.random.uniform());
            let other = state.random.below(rows);
            scale(entries, row, factor);
            if other != row {
                scale(entries, other, 1.0 / factor);
            }
        }
    }
}

/// Where the shape of a level was changed, gives the tiles of the level above, as exactly as whole numbers allow, the edges in space
/// that they had.
fn keep_outer_tiles(before: &[i64], changed: &mut [i64], size: usize) {
    let matrix = |entries: &[i64]| Matrix { rows: entries.chunks(size).map(<[i64]>::to_vec).collect() };
    let area = size * size;
    for at in (area..changed.len()).step_by(area) {
        let (below, shape) = (matrix(&before[at - area..at]), matrix(&before[at..at + area]));
        let Some(inverse) = matrix(&changed[at - area..at]).inverse() else { return };
        for (row, edge) in shape.rows.iter().enumerate() {
            let along = |column: usize| {
                edge.iter()
                    .zip(&below.rows)
                    .map(|(&factor, it)| factor.saturating_mul(it[column]))
                    .fold(0, i64::saturating_add)
            };
            let Some(parts) = inverse.coordinates(&(0..size).map(along).collect::<Vec<_>>()) else { return };
            for (entry, part) in changed[at + row * size..].iter_mut().zip(parts) {
                *entry = (part as f64 / inverse.denominator as f64).round() as i64;
            }
        }
    }
}

fn shapes(problem: &Problem, entries: &[i64]) -> Shapes {
    let size = problem.space.size();
    entries
        .chunks(size * size)
        .map(|shape| Matrix { rows: shape.chunks(size).map(<[i64]>::to_vec).collect() })
        .collect()
}

/// Goes down from one point until no neighbour on the finest mesh is better, or the evaluations are used up.
fn descend(state: &mut State<'_>, start: Vec<i64>, time: f64, until: u64, progress: Progress<'_>) -> (Vec<i64>, f64) {
    let (mut best, mut least) = (start, time);
    let mut mesh = LEVELS / 2;
    let mut exhausted = false;
    // Rows of a point are stretched once; polls are different each time.
    let mut stretched = false;
    while state.used < until && !exhausted {
        let found = if stretched { None } else { stretch(state, &best, least) };
        stretched = found.is_none();
        match found.or_else(|| poll(state, &best, least, mesh)) {
            Some((entries, time)) => {
                (best, least) = (entries, time);
                stretched = false;
                mesh = (mesh + 1).min(LEVELS);
            }
            None if mesh > 0 => mesh -= 1,
            None => match unit_steps(state, &best, least) {
                Some((entries, time)) => {
                    (best, least) = (entries, time);
                    stretched = false;
                    mesh = LEVELS / 2;
                }
                None => exhausted = true,
            },
        }
        progress(state.used, least);
    }
    (best, least)
}

/// Makes one row longer or shorter as a whole, or one shorter and another longer.
fn stretch(state: &mut State<'_>, best: &[i64], least: f64) -> Option<(Vec<i64>, f64)> {
    const FACTORS: [(i64, i64); 6] = [(2, 1), (1, 2), (5, 4), (4, 5), (33, 32), (31, 32)];
    let size = state.problem.space.size();
    let rows = best.len() / size;
    let scaled = |entries: &mut [i64], row: usize, (up, down): (i64, i64)| {
        for entry in &mut entries[row * size..(row + 1) * size] {
            *entry = (*entry * up + entry.signum() * (down / 2)) / down;
        }
    };
    for row in 0..rows {
        for factor in FACTORS {
            let mut tried = best.to_vec();
            scaled(&mut tried, row, factor);
            if tried != best
                && let Some(time) = state.better(&tried, least)
            {
                return Some((tried, time));
            }
            for other in (0..rows).filter(|&other| other != row) {
                let mut both = tried.clone();
                scaled(&mut both, other, (factor.1, factor.0));
                if both != best
                    && let Some(time) = state.better(&both, least)
                {
                    return Some((both, time));
                }
            }
        }
    }
    None
}

/// Tries the mesh around a point, along and against the columns of a random reflection.
fn poll(state: &mut State<'_>, best: &[i64], least: f64, mesh: i32) -> Option<(Vec<i64>, f64)> {
    let direction: Vec<f64> = best.iter().map(|_| state.random.uniform()).collect();
    let square: f64 = direction.iter().map(|it| it * it).sum();
    let fine = 2.0_f64.powi(mesh - LEVELS);
    for column in 0..best.len() {
        let reflected: Vec<f64> = direction
            .iter()
            .enumerate()
            .map(|(row, it)| f64::from(u8::from(row == column)) - 2.0 * it * direction[column] / square)
            .collect();
        let longest = reflected.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        for sign in [1.0, -1.0] {
            let tried: Vec<i64> = best
                .iter()
                .zip(&reflected)
                .map(|(&entry, part)| {
                    let reach = (entry.abs() as f64 * fine).max(1.0);
                    entry + (sign * part / longest * reach).round() as i64
                })
                .collect();
            if tried != best
                && let Some(time) = state.better(&tried, least)
            {
                return Some((tried, time));
            }
        }
    }
    None
}

/// Tries the neighbours along each axis.
fn unit_steps(state: &mut State<'_>, best: &[i64], least: f64) -> Option<(Vec<i64>, f64)> {
    for at in 0..best.len() {
        for change in [1, -1] {
            let mut tried = best.to_vec();
            tried[at] += change;
            if let Some(time) = state.better(&tried, least) {
                return Some((tried, time));
            }
        }
    }
    None
}
