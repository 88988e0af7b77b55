//! Nests on a GPU in which every loop carries a dependence: the host goes through one loop, or through diagonals of several, and
//! what waits for nothing in between runs on threads.
//!
//! ```text
//! for k { for j { for i { S; R } } } -> for k { @gpu for i { S }; @gpu for j, i { R } }
//! for i { for j { S } } -> for wave = i + j { @gpu for i { S } }
//! for i { for j { S } } -> for wave = i0 + j0 { @block for i0 { for step = i1 + j1 { @thread for i1 { S } } } }
//! ```
//!
//! # Source
//! Wolf and Lam, *A loop transformation theory and an algorithm to maximize parallelism*, TPDS 2(4), 1991.

use super::chooser::{Chooser, has_loop};
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::default_order::Tilings;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_names, put_chain, take_chain};
use std::collections::BTreeMap;

/// How many loops of a chain make diagonals. With factors other than 1 the bounds of the grid would take isl tens of seconds.
const LOOPS: [usize; 2] = [3, 2];

/// Points of a tile along both of its axes: a warp of threads.
pub(super) const TILE: u32 = 32;

/// Cycles that the start of a kernel takes.
const START: f64 = 5000.0;
/// Cycles of an instance of a computation that the next one waits for: the way to memory and back.
const LATENCY: f64 = 400.0;
/// Instances that all threads together finish in a cycle.
const RATE: f64 = 500.0;

impl Chooser<'_> {
    /// Orders the nest at `path`, none of whose `depth` loops is parallel: one of its loops step by step where that leaves the deepest
    /// statements parallel loops, else along diagonals.
    pub(super) fn steps_or_diagonals(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        if depth < 2 || self.means.tilings == Tilings::Avoided {
            return Ok(false);
        }
        for level in 0..depth {
            let mut trial = schedule.clone();
            let mut chain = take_chain(&mut trial, path, depth);
            chain[..=level].rotate_right(1);
            put_chain(&mut trial, path, chain);
            if level > 0 && !self.is_legal(&trial, path)? {
                continue;
            }
            self.gpu_nest(&mut trial, &path.down(1))?;
            if self.has_threads_soon(&trial, path) {
                *schedule = trial;
                return Ok(true);
            }
        }
        if self.diagonals_of_tiles(schedule, path, depth)? {
            return Ok(true);
        }
        for count in LOOPS.into_iter().filter(|&count| count <= depth) {
            if self.diagonals(schedule, path, count)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the statements at `path` with the most iterators have threads, inside of one loop at most.
    fn has_threads_soon(&self, schedule: &Schedule, path: &Path) -> bool {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let rank = |id: &ComputationId| self.algorithm.computation(*id).iterators.len();
        let deepest = below.iter().map(rank).max();
        let mut all = below.iter().filter(|id| Some(rank(id)) == deepest);
        all.all(|&id| !self.is_short_of_threads(schedule, path, id))
    }

    /// Runs the first `count` loops of the chain at `path` along diagonals, where threads may then run through all of them but the last.
    fn diagonals(&self, schedule: &mut Schedule, path: &Path, count: usize) -> Result<bool, Error> {
        let kept = count - 1;
        let mut trial = schedule.clone();
        let mut names = vec![];
        loop_names(&trial.root, &mut names);
        let mut chain = take_chain(&mut trial, path, count);
        let mut at: BTreeMap<ComputationId, Affine> = BTreeMap::new();
        for (id, value) in chain.iter().flat_map(|it| &it.at) {
            let so_far = at.remove(id).unwrap_or_else(|| Affine::constant(0));
            at.insert(*id, so_far.add(value)?);
        }
        let wave = Loop { name: fresh_among("wave", &names), tag: Tag::Sequential, at, body: chain[0].body.clone() };
        chain.truncate(kept);
        chain.insert(0, wave);
        put_chain(&mut trial, path, chain);
        if self.parallel_loops(&trial, path, kept + 1)? != (1..=kept).collect::<Vec<_>>() || !self.has_place(&trial)? {
            return Ok(false);
        }
        self.gpu_nest(&mut trial, &path.down(1))?;
        let threads = self.has_threads_soon(&trial, path) && self.is_legal(&trial, path)?;
        if threads {
            *schedule = trial;
        }
        Ok(threads)
    }

    /// Runs a nest of two loops along diagonals of tiles, a block for each tile, and its threads along the diagonals inside: as many steps
    /// follow one another as along diagonals of points, but most of them in a block.
    fn diagonals_of_tiles(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let is_plain = schedule.node(&path.down(depth)).is_some_and(|body| !has_loop(body));
        if depth != 2 || !is_plain {
            return Ok(false);
        }
        let (mut trial, mut parts) = self.split_levels(schedule, path, &[vec![TILE], vec![TILE]])?;
        let (inner, outer) = (parts.pop(), parts.pop());
        let (Some([i0, i1]), Some([j0, j1])) = (inner.as_deref(), outer.as_deref()) else { return Ok(false) };
        let mut names = vec![];
        loop_names(&schedule.root, &mut names);
        let mut diagonal = |a: &Loop, b: &Loop, wanted: &str| -> Result<Loop, Error> {
            let sum = |(id, value): (&ComputationId, &Affine)| Ok((*id, value.add(&b.at[id])?));
            let at = a.at.iter().map(sum).collect::<Result<_, Error>>()?;
            let name = fresh_among(wanted, &names);
            names.push(name.clone());
            Ok(Loop { name, tag: Tag::Sequential, at, body: a.body.clone() })
        };
        let x = ProcessorAxis::X;
        let chain = vec![
            diagonal(j0, i0, "wave")?,
            Loop { tag: Tag::GpuBlock(x), ..j0.clone() },
            diagonal(j1, i1, "step")?,
            Loop { tag: Tag::GpuThread(x), ..j1.clone() },
        ];
        put_chain(&mut trial, path, chain);
        let fits = self.is_legal(&trial, path)? && self.has_place(&trial)?;
        if fits {
            *schedule = trial;
        }
        Ok(fits)
    }

    /// What the order at `path` is estimated to take on a GPU, in cycles, for one iteration of the loops around it.
    pub(super) fn gpu_cycles(&self, schedule: &Schedule, path: &Path) -> Result<f64, Error> {
        let mut sum = 0.0;
        for id in schedule.node(path).map(Node::computations).unwrap_or_default() {
            let around = schedule.loops_around(id);
            let inside: Vec<&Loop> = around.iter().filter(|(at, _)| path.contains(at)).map(|(_, it)| *it).collect();
            let (mut starts, mut in_order, mut all) = (1.0, 1.0, 1.0);
            let first = inside.iter().position(|it| is_gpu(it));
            for (level, it) in inside.iter().enumerate() {
                let iterations = self.iterations(id, &it.at[&id])?;
                all *= iterations;
                match first {
                    Some(first) if level < first => starts *= iterations,
                    _ if !is_gpu(it) => in_order *= iterations,
                    _ => {}
                }
            }
            sum += starts * (START + in_order * LATENCY) + all / RATE;
        }
        Ok(sum)
    }

    /// Whether a statement has no threads at all, or starts of kernels in two loops and more below `path`.
    pub(super) fn is_short_of_threads(&self, schedule: &Schedule, path: &Path, id: ComputationId) -> bool {
        let around = schedule.loops_around(id);
        let mut inside = around.iter().filter(|(at, _)| path.contains(at));
        inside.position(|(_, it)| is_gpu(it)).is_none_or(|at| at > 1)
    }
}

fn is_gpu(it: &Loop) -> bool {
    matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_))
}
