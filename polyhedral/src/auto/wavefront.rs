//! Wavefronts: nests in which every loop carries a dependence.
//!
//! Loops are skewed until any order of them is legal, tiled, and the tiles of one diagonal run on threads:
//!
//! ```text
//! for i { for j { S } } -> for wave = i0 + j0 { parallel for i0 { for i1 { for j1 { S } } } }
//! ```
//!
//! Within a tile the order follows diagonals, too, where a statement computes so long with what the instance before it left
//! that it would mostly wait: the last two loops exchange places, the last one skewed so far that the other is free. Instances that
//! follow one another then need nothing of one another, and the processor overlaps them. What a statement computes from
//! other values does not count, since that need not wait; and diagonals touch another line of every array in each instance.
//!
//! # Source
//! Wolf and Lam, *A loop transformation theory and an algorithm to maximize parallelism*, TPDS 2(4), 1991: skewing to
//! permutable nests, and wavefronts over their tiles.

use super::chooser::{Chooser, any_loop, chain_length, has_loop, loop_at};
use super::profile::{iterator_of, operations, operations_after};
use super::push;
use super::regroup::loops_above;
use crate::affine::Affine;
use crate::algorithm::{Access, ComputationId};
use crate::default_order::Tilings;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Set;
use crate::legality;
use crate::models::tiles::Approach;
use crate::models::tiles::fit::{Nest, Nests, Sizes, fit_for};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::transform::{loop_mut, put_chain, split_at, take_chain};
use std::collections::BTreeMap;

/// More tiles along a loop are those of one that only data end.
const LONGEST: i64 = 1 << 24;
/// The most that the factors of one skewed loop add up to.
const LARGEST_SKEW: i64 = 4;
/// What a loop is taken to run for, where its iterations depend on sizes.
const TYPICAL: i64 = 1000;
/// Iterations of a tile along the innermost loop of the band, along the others, and along all where loops remain inside.
const INNERMOST: u32 = 256;
const OTHERS: u32 = 32;
const AROUND_LOOPS: u32 = 16;
/// No side of a tile is shorter.
const LEAST: u32 = 4;
/// What isl may count for the sizes of tiles.
const COUNTING: u64 = 2_000_000;

/// Where each instance waits for the one before, an operation takes as long as in so many instances of a vectorized loop.
const LATENCY: i64 = 4;
/// Operations on floats from which on an instance counts as long: each takes about four cycles before the next can use
/// its result, while the processor could begin two in every cycle.
const LONG: u32 = 4;

impl Chooser<'_> {
    /// Makes a wavefront of the nest at `path`, in whose chain no loop is parallel, where that promises to pay.
    ///
    /// Tiles are passed through along diagonals only where that is `wanted` and their instances take long.
    pub(crate) fn wavefront(&self, schedule: &mut Schedule, path: &Path, wanted: Inside) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        if depth < 2 || self.means.tilings != Tilings::Wanted {
            return Ok(false);
        }
        let Some(distances) = self.distances(schedule, path, depth)? else { return Ok(false) };
        let mut band = permutable_band(&distances, depth)?;
        if band.len() < 2 {
            return Ok(false);
        }
        let around_loops = schedule.node(&path.down(depth)).is_some_and(has_loop) || band.len() < depth;
        let mut inside = Inside::Rows;
        if !around_loops
            && wanted == Inside::Diagonals
            && self.is_long(schedule, path, depth)
            && let Some(row) = free_before(&distances, &band)?
        {
            *band.last_mut().expect("the band has loops") = row;
            inside = Inside::Diagonals;
        }
        let size = |level: usize| match (around_loops, level + 1 == band.len()) {
            (true, _) => AROUND_LOOPS,
            (false, true) => INNERMOST,
            (false, false) => OTHERS,
        };
        let sizes: Vec<u32> = (0..band.len()).map(size).collect();
        let sizes = if around_loops { sizes } else { self.fitting(schedule, path, sizes)? };
        let extents = self.extents(schedule, path, depth)?;
        let work = self.operations_below(schedule, path).max(1) * LATENCY;
        let is_plain = |(level, row): (usize, &Vec<i64>)| (0..depth).all(|at| row[at] == i64::from(at == level));
        if band.iter().enumerate().all(is_plain)
            && let Some(lanes) = self.lanes_of_push(schedule, path)
        {
            let sizes = [0, 1].map(|level| if level == lanes { push::ON_LANES } else { push::IN_ORDER });
            if self.pays(&sizes, &extents, around_loops, work) {
                let tiled = self.tiled_wave(schedule, path, &band, &sizes, Inside::Rows)?;
                if let Some(trial) = self.push(schedule, &tiled, path, lanes)? {
                    *schedule = trial;
                    return Ok(true);
                }
            }
        }
        if inside == Inside::Rows && !self.pays(&sizes, &extents, around_loops, work) {
            return Ok(false);
        }
        let trial = self.tiled_wave(schedule, path, &band, &sizes, inside)?;
        if !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
            return Ok(false);
        }
        *schedule = trial;
        Ok(true)
    }

    /// Sizes of tiles of which a core holds all that they need in its second-level cache: the given ones where these do, else of
    /// smaller ones those that the model of tiles likes best. Where it has no counts, the given ones stand.
    fn fitting(&self, schedule: &Schedule, path: &Path, sizes: Vec<u32>) -> Result<Vec<u32>, Error> {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let accesses = || {
            below.iter().flat_map(|&id| {
                let it = self.algorithm.computation(id);
                it.reads.iter().chain([&it.write]).map(|access| access.array)
            })
        };
        let element = accesses().map(|id| self.algorithm.array(id).element.bytes()).max().unwrap_or(8);
        let room = self.machine.l2_bytes / u64::from(element);
        // No array has more elements in a tile than its space has points, the skew along all steps included.
        let arrays = accesses().collect::<std::collections::BTreeSet<_>>().len() as u64;
        let skewed = |&size: &u32| u64::from(size) + LARGEST_SKEW as u64 * u64::from(sizes[0]);
        if loops_above(schedule, path) > 0 || arrays * sizes[1..].iter().map(skewed).product::<u64>() <= room {
            return Ok(sizes);
        }
        let share = self.ctx.operations_left().map_or(COUNTING, |left| (left / 4).clamp(1, COUNTING));
        let counted = || fit_for(self.ctx, self.algorithm, Nests::Stencils, Sizes::FromFour, &[Approach::Skewed]);
        let nests = match self.ctx.with_budget(share, counted) {
            Ok(nests) => nests,
            Err(error) if error.is_quota() => return Ok(sizes),
            Err(other) => return Err(other),
        };
        let same = |nest: &&Nest| nest.computations == below && nest.space.len() + 1 == sizes.len();
        let Some(fit) = nests.iter().find(same).and_then(|nest| nest.fits.first()) else { return Ok(sizes) };
        let mut best: Option<(f64, Vec<u32>)> = None;
        for tried in smaller(&sizes) {
            // Space first, then steps.
            let tile: Vec<u64> = tried[1..].iter().chain(&tried[..1]).map(|&it| u64::from(it)).collect();
            let cost = fit.cost(&tile);
            if cost.memory > room || cost.useful == 0 {
                continue;
            }
            if tried == sizes {
                return Ok(sizes);
            }
            let worth = cost.useful as f64 / cost.transfers().max(1) as f64;
            if best.as_ref().is_none_or(|(most, _)| worth > *most) {
                best = Some((worth, tried));
            }
        }
        Ok(best.map_or(sizes, |(_, tried)| tried))
    }

    /// The operations of one instance of each computation below.
    fn operations_below(&self, schedule: &Schedule, path: &Path) -> i64 {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        below.iter().map(|&id| i64::from(operations(self.algorithm, id))).sum()
    }

    /// Whether instances below take long enough to be overlapped: of a single statement, from what the instance before it along
    /// the innermost of the `depth` loops left to its own value.
    fn is_long(&self, schedule: &Schedule, path: &Path, depth: usize) -> bool {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let taken = |&id: &ComputationId| match below.as_slice() {
            [_] => operations_after(self.algorithm.computation(id), &|read| {
                self.may_be_of_the_one_before(schedule, path, depth, id, read)
            }),
            _ => Some(operations(self.algorithm, id)),
        };
        let is_float = |id: &&ComputationId| self.algorithm.computation(**id).value.ty.is_float();
        below.iter().filter(is_float).filter_map(taken).any(|taken| taken >= LONG)
    }

    /// Whether a read of a statement may be of what the same statement wrote earlier in the innermost of the `depth` loops at `path`,
    /// in the same iteration of the loops around that.
    fn may_be_of_the_one_before(
        &self,
        schedule: &Schedule,
        path: &Path,
        depth: usize,
        id: ComputationId,
        read: &Access,
    ) -> bool {
        let write = &self.algorithm.computation(id).write;
        if write.array != read.array {
            return false;
        }
        let of_level =
            |level: usize| loop_at(schedule, &path.down(level)).and_then(|it| it.at.get(&id)).and_then(iterator_of);
        let levels: Option<Vec<(u32, i64)>> = (0..depth).map(of_level).collect();
        let Some(levels) = levels else { return true };
        // How many iterations of each loop lie between.
        for (written, taken) in write.subscripts.iter().zip(&read.subscripts) {
            let (Some(written), Some(taken)) = (written.as_affine(), taken.as_affine()) else { return true };
            let (Some(one), Some(other)) = (iterator_of(written), iterator_of(taken)) else { return true };
            let level = levels.iter().position(|(iterator, _)| *iterator == one.0);
            let (true, Some(level)) = (one == other, level) else { return true };
            let apart = (written.constant_term() - taken.constant_term()) * one.1 * levels[level].1;
            if level + 1 < depth && apart != 0 || level + 1 == depth && apart <= 0 {
                return false;
            }
        }
        true
    }

    /// Sink minus source along the `depth` loops at `path`, for all dependences inside one iteration of the loops
    /// around them: `{ [distances] }`. `None` if there are none.
    pub(super) fn distances(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Option<Set>, Error> {
        let chain: Vec<&Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let outer = loops_above(schedule, path);
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let inside = |it: &&Dependence| below.contains(&it.source.computation) && below.contains(&it.sink.computation);
        let mut all: Option<Set> = None;
        for dependence in self.dependences.iter().filter(inside) {
            let pairs = legality::together(self.ctx, self.algorithm, schedule, dependence, outer)?;
            let values = |id| {
                let each: Vec<Affine> = chain.iter().map(|it| it.at[&id].clone()).collect();
                relation::functions(self.ctx, self.algorithm, id, &each)
            };
            let (from, to) = (values(dependence.source.computation)?, values(dependence.sink.computation)?);
            let next = pairs.apply_domain(&from)?.apply_range(&to)?.deltas()?.project_out_all_params()?;
            all = Some(match all {
                None => next,
                Some(all) => all.union(&next)?.coalesce()?,
            });
        }
        Ok(all)
    }

    /// Whether the diagonals take clearly less time than the nest in order. Time is counted in instances of a vectorized
    /// loop, as [`worth_threads`](crate::machine::Machine::worth_threads) is; every diagonal starts the threads once, and
    /// keeps them all at work but for its last round.
    fn pays(&self, sizes: &[u32], extents: &[Option<i64>], around_loops: bool, work: i64) -> bool {
        let tiles = |level: usize| {
            let extent = extents[level].unwrap_or(TYPICAL).max(1);
            (extent + i64::from(sizes[level]) - 1) / i64::from(sizes[level])
        };
        let inside = if around_loops { TYPICAL } else { 1 };
        let tile = sizes.iter().map(|&size| i64::from(size)).product::<i64>().saturating_mul(inside * work);
        let column = (2..sizes.len()).map(tiles).product::<i64>().saturating_mul(tile);
        let (first, second) = (tiles(0), tiles(1));
        // Of what only data end, nobody knows how much there is.
        if first.max(second) > LONGEST {
            return false;
        }
        let diagonals = first + second - 1;
        let threads = i64::from(self.machine.threads);
        let rounds = |width: i64| (width + threads - 1) / threads;
        let all_rounds: i64 =
            (0..diagonals).map(|at| rounds((at + 1).min(first).min(second).min(diagonals - at))).sum();
        let in_order = (first * second).saturating_mul(column);
        let in_waves = all_rounds.saturating_mul(column).saturating_add(diagonals * self.machine.worth_threads);
        in_waves.saturating_mul(5) < in_order.saturating_mul(4)
    }

    /// The first loops of the chain skewed as `band` says and tiled, with the tiles of a diagonal on threads.
    fn tiled_wave(
        &self,
        schedule: &Schedule,
        path: &Path,
        band: &[Vec<i64>],
        sizes: &[u32],
        inside: Inside,
    ) -> Result<Schedule, Error> {
        let mut tree = schedule.clone();
        let chain: Vec<BTreeMap<_, Affine>> =
            (0..band.len()).map(|level| loop_mut(&mut tree, &path.down(level)).at.clone()).collect();
        for (level, factors) in band.iter().enumerate() {
            for (id, at) in &mut loop_mut(&mut tree, &path.down(level)).at {
                let mut sum = Affine::constant(0);
                for (factor, functions) in factors.iter().zip(&chain) {
                    sum = sum.add(&functions[id].scale(*factor)?)?;
                }
                *at = sum;
            }
        }
        for level in (0..band.len()).rev() {
            split_at(self.ctx, self.algorithm, &mut tree, &path.down(level), sizes[level])?;
        }
        let split = take_chain(&mut tree, path, 2 * band.len());
        let (mut tiles, mut points) = (vec![], vec![]);
        for (at, it) in split.into_iter().enumerate() {
            if at % 2 == 0 { tiles.push(it) } else { points.push(it) }
        }
        if inside == Inside::Diagonals {
            let last = points.len() - 1;
            points.swap(last - 1, last);
        }
        let mut wave = tiles[0].clone();
        for (id, at) in &mut wave.at {
            *at = at.add(&tiles[1].at[id])?;
        }
        wave.name = "wave".to_string();
        while any_loop(&tree.root, &|it| it.name == wave.name) {
            wave.name.push('_');
        }
        tiles[0].tag = Tag::Parallel;
        tiles.remove(1);
        put_chain(&mut tree, path, [vec![wave], tiles, points].concat());
        Ok(tree)
    }
}

/// The sizes, and those with some of them halved, not below an eighth and not below what fills a vector or two.
fn smaller(sizes: &[u32]) -> Vec<Vec<u32>> {
    let halves = |&size: &u32| (0..4).map(move |by| size >> by).filter(|&it| it >= LEAST);
    sizes.iter().fold(vec![vec![]], |all: Vec<Vec<u32>>, size| {
        all.iter().flat_map(|begun| halves(size).map(|it| [begun.as_slice(), &[it]].concat())).collect()
    })
}

/// The order of instances in a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inside {
    /// That of the loops.
    Rows,
    /// The last two loops exchanged: the innermost one is free.
    Diagonals,
}

/// Factors of the chain's loops, one row for each loop of the band: the outermost loops, each with the smallest multiples
/// of those before it added that let it never run against a dependence.
pub(super) fn permutable_band(distances: &Set, depth: usize) -> Result<Vec<Vec<i64>>, Error> {
    let mut band: Vec<Vec<i64>> = vec![];
    for level in 0..depth {
        match smallest(&band, level, depth, &|row| Ok(some(distances, row, At::Most(-1))?.is_empty()?))? {
            Some(row) => band.push(row),
            None => break,
        }
    }
    Ok(band)
}

/// Whether no dependence goes along a row of a band.
pub(super) fn carries_nothing(distances: &Set, row: &[i64]) -> Result<bool, Error> {
    Ok(some(distances, row, At::Least(1))?.is_empty()?)
}

/// Another last row for the band: one that also carries every dependence that the row before it carries and those
/// further out do not.
fn free_before(distances: &Set, band: &[Vec<i64>]) -> Result<Option<Vec<i64>>, Error> {
    let (level, depth) = (band.len() - 1, band[0].len());
    let mut carried = some(distances, &band[level - 1], At::Least(1))?;
    for row in &band[..level - 1] {
        carried = some(&some(&carried, row, At::Most(0))?, row, At::Least(0))?;
    }
    smallest(&band[..level], level, depth, &|row| {
        Ok(some(distances, row, At::Most(-1))?.is_empty()? && some(&carried, row, At::Most(0))?.is_empty()?)
    })
}

/// The first row that will do: the loop of a level with multiples of rows before it added, small ones first.
fn smallest(
    before: &[Vec<i64>],
    level: usize,
    depth: usize,
    will_do: &dyn Fn(&[i64]) -> Result<bool, Error>,
) -> Result<Option<Vec<i64>>, Error> {
    for sum in 0..=LARGEST_SKEW {
        for factors in of_sum(before.len(), sum) {
            let mut row = vec![0; depth];
            row[level] = 1;
            for (factor, other) in factors.iter().zip(before) {
                row.iter_mut().zip(other).for_each(|(value, other)| *value += factor * other);
            }
            if will_do(&row)? {
                return Ok(Some(row));
            }
        }
    }
    Ok(None)
}

#[derive(Clone, Copy)]
enum At {
    Most(i64),
    Least(i64),
}

/// The distances along which a row has such a value.
fn some(distances: &Set, row: &[i64], value: At) -> Result<Set, Error> {
    let space = distances.space()?;
    let sum = row
        .iter()
        .enumerate()
        .try_fold(Affine::constant(0), |sum, (at, &factor)| sum.add(&Affine::iterator(at as u32).scale(factor)?))?;
    let sum = sum.to_isl(&space, &[])?;
    let limit = |value: i64| Affine::constant(value).to_isl(&space, &[]);
    let half = match value {
        At::Most(value) => sum.le_set(&limit(value)?)?,
        At::Least(value) => sum.ge_set(&limit(value)?)?,
    };
    Ok(distances.intersect(&half)?)
}

/// All ways to write a sum with `count` numbers from 0 on.
fn of_sum(count: usize, sum: i64) -> Vec<Vec<i64>> {
    match count {
        0 if sum == 0 => vec![vec![]],
        0 => vec![],
        _ => (0..=sum)
            .flat_map(|last| {
                let before = of_sum(count - 1, sum - last).into_iter();
                before.map(move |mut all| {
                    all.push(last);
                    all
                })
            })
            .collect(),
    }
}
