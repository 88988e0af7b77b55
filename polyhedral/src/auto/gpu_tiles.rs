//! Decompositions and other nests of three loops on a GPU in tiles: a kernel for each diagonal of tiles, where one of the loops would
//! start a kernel, or several, in each of its iterations.
//!
//! ```text
//! for k { @gpu for i { S }; @gpu for j, i { R } }
//!   -> for wave = k0 + j0 + i0 { @block for j0, i0 { for k { @thread for j1, i1 { S }; @thread for j1, i1 { R } } } }
//! ```
//!
//! A block goes through the steps of its tile one after the other, with barriers where its threads need what others have computed. An
//! element is updated in the same order as before.
//!
//! # Source
//! Wolf and Lam, *A loop transformation theory and an algorithm to maximize parallelism*, TPDS 2(4), 1991, for tiles of loops that may be
//! exchanged, and their diagonals.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::gpu_waves::TILE;
use super::profile::iterator_of;
use super::regroup::{self, Grain};
use super::wavefront::{carries_nothing, permutable_band};
use crate::affine::Affine;
use crate::algorithm::{Access, ComputationId};
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_mut, loop_names, put_chain, smallest_value, take_chain};
use std::collections::{BTreeMap, BTreeSet};

/// Loops of a nest: one through the steps of a tile, and two through its elements.
const LOOPS: usize = 3;

/// Elements of a thread: their loads are in flight together.
const POINTS: u32 = 2;

/// What the three loops run through.
struct Roles {
    /// Along which elements stay where they are.
    steps: usize,
    /// Along which neighbours are not neighbours in memory, and along which they are.
    across: usize,
    along: usize,
}

impl Chooser<'_> {
    /// The order of the chain of three loops at `path` of `start` in tiles, diagonals of which are kernels, with the cycles that it is
    /// estimated to take; `None` where it has none.
    pub(super) fn in_blocks(&self, start: &Schedule, path: &Path) -> Result<Option<(f64, Schedule)>, Error> {
        let is_plain = start.node(&path.down(LOOPS)).is_some_and(|body| !has_loop(body));
        if chain_length(start, path) != LOOPS || !is_plain {
            return Ok(None);
        }
        let Some(roles) = self.roles(start, path) else { return Ok(None) };
        let Some(distances) = self.distances(start, path, LOOPS)? else { return Ok(None) };
        let band = permutable_band(&distances, LOOPS)?;
        let mut free = vec![];
        for row in &band {
            free.push(carries_nothing(&distances, row)?);
        }
        // Loops without dependences want no diagonals.
        if band.len() < LOOPS || free[roles.steps] || (free[roles.across] && free[roles.along]) {
            return Ok(None);
        }
        let mut trial = start.clone();
        for (level, at) in self.leaning(start, path, &band)?.into_iter().enumerate() {
            loop_mut(&mut trial, &path.down(level)).at = at;
        }
        let points = take_chain(&mut trial, path, LOOPS);
        let mut names = vec![];
        loop_names(&start.root, &mut names);
        // All loops have tiles from one origin on, so that those on the diagonal are squares.
        let mut origins = vec![];
        for it in &points {
            origins.extend(smallest_value(self.ctx, self.algorithm, it)?);
        }
        let origin = origins.into_iter().min().unwrap_or(0);
        let mut tiles = vec![];
        for it in &points {
            tiles.push(quotient(it, origin, TILE, &mut names)?);
        }
        let mut wave = tiles[roles.steps].clone();
        wave.name = fresh_among("wave", &names);
        for level in [roles.across, roles.along].into_iter().filter(|&level| !free[level]) {
            for (id, at) in &mut wave.at {
                *at = at.add(&tiles[level].at[id])?;
            }
        }
        let block = |level: usize, axis| Loop { tag: Tag::GpuBlock(axis), ..tiles[level].clone() };
        let chain = vec![
            wave,
            block(roles.across, ProcessorAxis::Y),
            block(roles.along, ProcessorAxis::X),
            points[roles.steps].clone(),
            points[roles.across].clone(),
            points[roles.along].clone(),
        ];
        put_chain(&mut trial, path, chain);
        let threads = self.on_threads_of_tiles(&mut trial, &path.down(LOOPS + 1), origin)?;
        if !threads || !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
            return Ok(None);
        }
        Ok(Some((self.gpu_cycles(&trial, path)?, trial)))
    }

    /// Whether a statement in three loops updates elements of an array from others of it along one of the loops, as decompositions and
    /// solutions of triangular systems do.
    pub(super) fn is_eliminated(&self, id: ComputationId) -> bool {
        let computation = self.algorithm.computation(id);
        let involves = |access: &Access, iterator: u32| {
            access.subscripts.iter().any(|at| computation.involves_iterator(at, iterator))
        };
        let write = &computation.write;
        let others = |read: &Access| (0..LOOPS as u32).any(|it| involves(read, it) && !involves(write, it));
        let mut reads = computation.reads.iter().filter(|read| read.array == write.array);
        computation.iterators.len() == LOOPS && reads.any(others)
    }

    /// Which of the three loops at `path`, which run through iterators, is which; `None` unless the elements that statements write stay
    /// where they are along one alone.
    fn roles(&self, schedule: &Schedule, path: &Path) -> Option<Roles> {
        let chain: Vec<&Loop> = (0..LOOPS).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        // Code for tiles that lean takes long.
        let is_upright = |at: &Affine| at.terms().is_empty() || iterator_of(at).is_some();
        if !chain.iter().all(|it| it.at.values().all(is_upright)) {
            return None;
        }
        let stays = |level: &usize| self.results_stay(chain[*level]);
        let (steps, others): (Vec<usize>, Vec<usize>) = (0..LOOPS).partition(stays);
        let ([steps], [one, other]) = (steps.as_slice(), others.as_slice()) else { return None };
        let ids = schedule.node(path).map(Node::computations).unwrap_or_default();
        let cost = |level: usize| self.stride_cost(&ids, |id| chain[level].at.get(&id).cloned());
        let (across, along) = if cost(*one) < cost(*other) { (*other, *one) } else { (*one, *other) };
        Some(Roles { steps: *steps, across, along })
    }

    /// Runs the elements of a step of a tile, at `path`, on threads: in nests one after the other where dependences are in the way, as few
    /// as possible. `false` where threads would wait for one another even so.
    fn on_threads_of_tiles(&self, schedule: &mut Schedule, path: &Path, origin: i64) -> Result<bool, Error> {
        for nest in &self.nests_of_step(schedule, path)? {
            if !self.is_free(schedule, nest)? {
                return Ok(false);
            }
            let mut names = vec![];
            loop_names(&schedule.root, &mut names);
            let [across, along] = [0, 1].map(|level| loop_mut(schedule, &nest.down(level)).clone());
            let within = |it: &Loop, names: &mut Vec<String>| remainder(it, origin, TILE, names);
            let (across, along) = (within(&across, &mut names)?, within(&along, &mut names)?);
            let rows = quotient(&across, 0, POINTS, &mut names)?;
            let points = remainder(&across, 0, POINTS, &mut names)?;
            let chain = vec![
                Loop { tag: Tag::GpuThread(ProcessorAxis::Y), ..rows },
                Loop { tag: Tag::GpuThread(ProcessorAxis::X), ..along },
                Loop { tag: Tag::Unroll(POINTS), ..points },
            ];
            take_chain(schedule, nest, 2);
            put_chain(schedule, nest, chain);
        }
        Ok(true)
    }

    /// Takes the two loops at `path` apart along dependences, and puts neighbours together again where both loops stay free. Where the
    /// nests are then.
    fn nests_of_step(&self, schedule: &mut Schedule, path: &Path) -> Result<Vec<Path>, Error> {
        let grain = Grain::Statements;
        let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
        let Some(Node::Sequence(parts)) = apart.as_ref().and_then(|apart| apart.node(path)) else {
            return Ok(vec![path.clone()]);
        };
        let whole = schedule.node(path).cloned();
        let nest = |ids: &BTreeSet<ComputationId>| whole.as_ref().and_then(|whole| whole.restricted(ids));
        let mut groups: Vec<BTreeSet<ComputationId>> = vec![];
        for part in parts {
            let ids: BTreeSet<ComputationId> = part.computations().into_iter().collect();
            if let Some(last) = groups.last_mut() {
                let joined: BTreeSet<ComputationId> = last.union(&ids).copied().collect();
                let mut trial = schedule.clone();
                if self.stay_alike(schedule, path, &joined)
                    && let (Some(node), Some(nest)) = (trial.node_mut(path), nest(&joined))
                {
                    *node = nest;
                    if self.is_free(&trial, path)? {
                        *last = joined;
                        continue;
                    }
                }
            }
            groups.push(ids);
        }
        if let Some(node) = schedule.node_mut(path) {
            *node = Node::Sequence(groups.iter().filter_map(nest).collect());
        }
        Ok((0..groups.len()).map(|at| path.child(at)).collect())
    }

    /// Whether the statements all move along the same of the two loops at `path` in one iteration of the loop around them: a row and a column
    /// together would make threads of different shapes.
    fn stay_alike(&self, schedule: &Schedule, path: &Path, ids: &BTreeSet<ComputationId>) -> bool {
        let Some((_, steps)) = ids.first().and_then(|id| schedule.loops_around(*id).into_iter().rev().nth(2)) else {
            return false;
        };
        let iterator =
            |it: &Loop, id: &ComputationId| it.at.get(id).and_then(iterator_of).map(|(iterator, _)| iterator);
        let stays = |id: &ComputationId| {
            let step = iterator(steps, id);
            [0, 1].map(|level| loop_at(schedule, &path.down(level)).is_none_or(|it| iterator(it, id) == step))
        };
        ids.iter().map(stays).collect::<BTreeSet<_>>().len() < 2
    }

    /// Whether both of the loops at `path` carry no dependences.
    fn is_free(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        Ok(self.parallel_loops(schedule, path, 2)? == [0, 1])
    }
}

/// The loop through the tiles of a loop, from `origin` on.
fn quotient(it: &Loop, origin: i64, size: u32, names: &mut Vec<String>) -> Result<Loop, Error> {
    let tile = |at: &Affine| Ok(at.add_constant(-origin)?.floor_div(i64::from(size)));
    mapped(it, "0", names, &tile)
}

/// The loop through the points of a tile.
fn remainder(it: &Loop, origin: i64, size: u32, names: &mut Vec<String>) -> Result<Loop, Error> {
    let point = |at: &Affine| Ok(at.add_constant(-origin)?.modulo(i64::from(size))?);
    mapped(it, "1", names, &point)
}

fn mapped(
    it: &Loop,
    suffix: &str,
    names: &mut Vec<String>,
    by: &dyn Fn(&Affine) -> Result<Affine, Error>,
) -> Result<Loop, Error> {
    let name = fresh_among(&format!("{}{suffix}", it.name), names);
    names.push(name.clone());
    let at = it.at.iter().map(|(id, at)| Ok((*id, by(at)?))).collect::<Result<BTreeMap<_, _>, Error>>()?;
    Ok(Loop { name, at, ..it.clone() })
}
