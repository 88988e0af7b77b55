//! Nests on a GPU in which every loop carries a dependence, or all but one: the host goes through one loop, or through diagonals of
//! several, and what waits for nothing in between runs on threads. An estimate of cycles chooses.
//!
//! ```text
//! for k { for j { for i { S; R } } } -> for k { @gpu for i { S }; @gpu for j, i { R } }
//! for i { for j { S } } -> for wave = i + j { @gpu for i { S } }
//! for i { for j { S } } -> for wave = i0 + j0 { @block for i0 { for step = i1 + j1 { @thread for i1 { S } } } }
//! for t { for j { for i { S } } } -> for wave = 4t + 2j + i { @gpu for j, t { S } }
//! ```
//!
//! Loops lean first as far as lets no dependence go backwards along one of them, so that sweeps in place run along diagonals, too.
//!
//! # Source
//! Wolf and Lam, *A loop transformation theory and an algorithm to maximize parallelism*, TPDS 2(4), 1991.

use super::asked::WORTH;
use super::chooser::{Chooser, has_loop, loop_at};
use super::cost::iterator_in;
use super::gpu_storage::moves;
use super::profile::iterator_of;
use super::regroup::{self, Grain, loops_above};
use super::wavefront::permutable_band;
use crate::affine::{Affine, Atom};
use crate::algorithm::ComputationId;
use crate::default_order::Tilings;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_mut, loop_names, put_chain, take_chain};
use std::collections::{BTreeMap, BTreeSet};

/// How many loops of a chain make diagonals.
const LOOPS: [usize; 2] = [3, 2];

/// The most statements that run along diagonals of three loops: the bounds of the grid are those of all of them.
const MOST_IN_THREE: usize = 2;

/// Points of a tile along both of its axes: a warp of threads.
pub(super) const TILE: u32 = 32;

/// Cycles that the start of a kernel takes.
const START: f64 = 5000.0;
/// Values of an iterator without constant bounds.
const TYPICAL: i64 = 1000;
/// Nothing is faster step by step that takes less than so many starts.
const STEPS: f64 = 1000.0;
/// Cycles of an instance of a computation that the next one waits for: the way to memory and back.
const LATENCY: f64 = 400.0;
/// Iterations of an unrolled loop of a thread that wait for memory together, at most.
const TOGETHER: u32 = 8;
/// Instances that all threads together finish in a cycle.
const RATE: f64 = 500.0;

/// What a loop runs through, for each computation.
pub(super) type Leaning = BTreeMap<ComputationId, Affine>;

impl Chooser<'_> {
    /// Orders the nest at `path`, none of whose `depth` loops is parallel: one of its loops step by step where that leaves the deepest
    /// statements parallel loops, else along diagonals.
    pub(super) fn steps_or_diagonals(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        if depth < 2 || self.means.tilings != Tilings::Wanted || self.all_meet(schedule, path, depth) {
            return Ok(false);
        }
        let steps = self.steps(schedule, path, depth)?;
        let mut tiles = schedule.clone();
        // Inside of another loop of the host either starts too often for that to be worth a proof.
        let compares = steps.is_none() || loops_above(schedule, path) == 0;
        if compares && self.diagonals_of_tiles(&mut tiles, path, depth)? {
            let most = steps.as_ref().map_or(f64::INFINITY, |(cycles, _)| cycles * WORTH);
            if self.gpu_cycles(&tiles, path)? <= most {
                *schedule = tiles;
                return Ok(true);
            }
        }
        if let Some((_, steps)) = steps {
            *schedule = steps;
            return Ok(true);
        }
        let statements = schedule.node(path).map_or(0, |node| node.computations().len());
        let fits = |count: &usize| *count <= depth && (*count == 2 || statements <= MOST_IN_THREE);
        for count in LOOPS.into_iter().filter(fits) {
            if self.diagonals(schedule, path, count)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether all instances of a nest without further loops update one element, or variable: none has another one beside it, however loops
    /// lean.
    fn all_meet(&self, schedule: &Schedule, path: &Path, depth: usize) -> bool {
        let chain: Vec<&Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let stays = |id: ComputationId| {
            let computation = self.algorithm.computation(id);
            !chain.iter().any(|it| moves(computation, &computation.write, id, it))
        };
        let body = schedule.node(&path.down(depth)).filter(|body| !has_loop(body));
        body.is_some_and(|body| body.computations().into_iter().all(stays))
    }

    /// The nest at `path` with that of its `depth` loops on the host, step by step, which is estimated to take the fewest cycles; `None`
    /// where no loop leaves the deepest statements parallel ones.
    fn steps(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Option<(f64, Schedule)>, Error> {
        let mut best: Option<(f64, Schedule)> = None;
        for level in 0..depth {
            let mut trial = schedule.clone();
            let mut chain = take_chain(&mut trial, path, depth);
            chain[..=level].rotate_right(1);
            put_chain(&mut trial, path, chain);
            if level > 0 && !self.is_legal(&trial, path)? {
                continue;
            }
            self.gpu_nest(&mut trial, &path.down(1))?;
            if !self.has_threads_soon(&trial, path) || (level > 0 && !self.has_place(&trial)?) {
                continue;
            }
            let cycles = self.gpu_cycles(&trial, path)?;
            if best.as_ref().is_none_or(|(least, _)| cycles < *least) {
                best = Some((cycles, trial));
            }
        }
        Ok(best)
    }

    /// An order for the nest at `path` of `before` that goes step by step and promises to be faster than `own`, in which threads have much
    /// to do one after the other, or kernels start very often.
    pub(super) fn faster_by_steps(
        &self,
        before: &Schedule,
        own: &Schedule,
        path: &Path,
        depth: usize,
    ) -> Result<Option<Schedule>, Error> {
        let cycles = self.gpu_cycles(own, path)?;
        if self.means.tilings != Tilings::Wanted || cycles * WORTH < STEPS * START {
            return Ok(None);
        }
        let mut best = self.steps(before, path, depth)?;
        for grain in [Grain::Neighbours, Grain::Statements] {
            if best.as_ref().is_some_and(|(steps, _)| *steps <= cycles * WORTH) {
                break;
            }
            let apart = regroup::take_apart(self.ctx, self.algorithm, before, self.dependences, path, grain)?;
            let Some(mut trial) = apart else { continue };
            if self.is_legal(&trial, path)? && self.has_place(&trial)? {
                let parts = trial.clone();
                self.node(&mut trial, path)?;
                let steps = self.gpu_cycles(&trial, path)?;
                let outgrows = match before.node(path).filter(|_| steps <= cycles * WORTH) {
                    Some(nest) => self.outgrows_results(&parts, path, (nest, grain))?,
                    None => false,
                };
                if !outgrows {
                    best = Some((steps, trial));
                }
            }
        }
        Ok(best.filter(|(steps, _)| *steps <= cycles * WORTH).map(|(_, trial)| trial))
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
        let Some(skewed) = self.skewed(schedule, path, count)? else { return Ok(false) };
        let mut trial = schedule.clone();
        let mut names = vec![];
        loop_names(&trial.root, &mut names);
        let mut chain = take_chain(&mut trial, path, count);
        let mut at = Leaning::new();
        for (id, value) in skewed.iter().flatten() {
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

    /// What the first `count` loops of the chain at `path` run through once each leans as far as lets no dependence go backwards along
    /// it; `None` where a loop would lean too far.
    fn skewed(&self, schedule: &Schedule, path: &Path, count: usize) -> Result<Option<Vec<Leaning>>, Error> {
        let Some(distances) = self.distances(schedule, path, count)? else { return Ok(None) };
        let band = permutable_band(&distances, count)?;
        if band.len() < count {
            return Ok(None);
        }
        self.leaning(schedule, path, &band).map(Some)
    }

    /// What the loops at `path` run through under the rows of a band, each of which adds up multiples of them.
    pub(super) fn leaning(&self, schedule: &Schedule, path: &Path, band: &[Vec<i64>]) -> Result<Vec<Leaning>, Error> {
        let loops: Vec<&Loop> = (0..band.len()).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let mut skewed = vec![];
        for row in band {
            let mut at = Leaning::new();
            for id in loops[0].at.keys() {
                let mut sum = Affine::constant(0);
                for (factor, it) in row.iter().zip(&loops) {
                    sum = sum.add(&it.at[id].scale(*factor)?)?;
                }
                at.insert(*id, sum);
            }
            skewed.push(at);
        }
        Ok(skewed)
    }

    /// Runs a nest of two loops along diagonals of tiles, a block for each tile, and its threads along the diagonals inside: as many steps
    /// follow one another as along diagonals of points, but most of them in a block.
    fn diagonals_of_tiles(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let is_plain = schedule.node(&path.down(depth)).is_some_and(|body| !has_loop(body));
        if depth != 2 || !is_plain {
            return Ok(false);
        }
        let Some(skewed) = self.skewed(schedule, path, depth)? else { return Ok(false) };
        let mut leaning = schedule.clone();
        for (level, at) in skewed.into_iter().enumerate() {
            loop_mut(&mut leaning, &path.down(level)).at = at;
        }
        let (mut trial, mut parts) = self.split_levels(&leaning, path, &[vec![TILE], vec![TILE]])?;
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
        // How often each kernel starts, by where its loops are, or each statement that has no threads.
        let mut kernels: BTreeMap<Path, f64> = BTreeMap::new();
        for id in schedule.node(path).map(Node::computations).unwrap_or_default() {
            let around = schedule.loops_around(id);
            let (inside, outside): (Vec<_>, Vec<_>) = around.iter().partition(|(at, _)| path.contains(at));
            let (mut starts, mut in_order, mut all) = (1.0, 1.0, 1.0);
            let mut fixed: BTreeSet<u32> = outside.iter().filter_map(|(_, it)| iterator_in(&it.at[&id])).collect();
            let iterators = 0..self.algorithm.computation(id).iterators.len() as u32;
            for iterator in iterators.filter(|iterator| !fixed.contains(iterator)) {
                all *= self.extent(id, &Affine::iterator(iterator))?;
            }
            let first = inside.iter().position(|(_, it)| is_gpu(it));
            for (level, (_, it)) in inside.iter().enumerate() {
                let at = &it.at[&id];
                // Loops around that leave an iterator one value leave such a loop one iteration.
                let iterations = match iterator_of(at).map(|(iterator, _)| iterator) {
                    Some(iterator) if !fixed.insert(iterator) => 1.0,
                    Some(iterator) => {
                        let outside = around.iter().map(|(_, it)| &it.at[&id]).take(outside.len() + level);
                        let all = self.extent(id, at)?;
                        tile_around(outside, iterator).map_or(all, |size| all.min(size as f64))
                    }
                    None => self.extent(id, at)?,
                };
                match first {
                    Some(first) if level < first => starts *= iterations,
                    _ if !is_gpu(it) => in_order *= iterations / loads_together(it, level + 1 == inside.len()),
                    _ => {}
                }
            }
            sum += starts * in_order * LATENCY + all / RATE;
            let alone = || schedule.path_of(id);
            if let Some(kernel) = first.map(|first| inside[first].0.clone()).or_else(alone) {
                let most = kernels.entry(kernel).or_insert(0.0);
                *most = most.max(starts);
            }
        }
        Ok(sum + START * kernels.values().sum::<f64>())
    }

    /// How many values a loop passes through where iterators without constant bounds pass through typical ones, one after the other.
    fn extent(&self, id: ComputationId, at: &Affine) -> Result<f64, Error> {
        if let Some(extent) = self.extent_of(id, at)? {
            return Ok(extent.max(1) as f64);
        }
        let params = vec![TYPICAL; self.algorithm.params.len()];
        let middle = vec![TYPICAL / 2; self.algorithm.computation(id).iterators.len()];
        let mut steps = 0;
        for iterator in (0..middle.len()).filter(|&it| at.involves_iterator(it as u32)) {
            let value = |value: i64| {
                let mut point = middle.clone();
                point[iterator] = value;
                at.evaluate(&point, &params)
            };
            let values = || (1..=TYPICAL).filter_map(value);
            steps += values().max().unwrap_or(0) - values().min().unwrap_or(0);
        }
        Ok((steps + 1) as f64)
    }

    /// Whether a statement has no threads at all, or starts of kernels in two loops and more below `path`.
    pub(super) fn is_short_of_threads(&self, schedule: &Schedule, path: &Path, id: ComputationId) -> bool {
        let around = schedule.loops_around(id);
        let mut inside = around.iter().filter(|(at, _)| path.contains(at));
        inside.position(|(_, it)| is_gpu(it)).is_none_or(|at| at > 1)
    }
}

/// The size of the smallest tile along an iterator that loops of these values around leave a computation.
pub(super) fn tile_around<'a>(outside: impl Iterator<Item = &'a Affine>, iterator: u32) -> Option<i64> {
    let outside: Vec<&Affine> = outside.collect();
    let mut fixed: BTreeSet<&Atom> = BTreeSet::new();
    // Of a sum, too, the last part is fixed once all others are: that of a diagonal by the tiles along its other axes.
    loop {
        let open = |at: &&'a Affine| -> Vec<&'a Atom> {
            let moves = |atom: &&Atom| !matches!(atom, Atom::Param(_)) && !fixed.contains(*atom);
            at.terms().iter().map(|(atom, _)| atom).filter(moves).collect()
        };
        let Some(&[last]) = outside.iter().map(open).find(|open| open.len() == 1).as_deref() else { break };
        fixed.insert(last);
    }
    let size = |atom: &&Atom| match atom {
        Atom::FloorDiv(inner, size) => iterator_of(inner).is_some_and(|(it, _)| it == iterator).then_some(*size),
        Atom::Iterator(_) | Atom::Param(_) => None,
    };
    fixed.iter().filter_map(size).min()
}

/// How many iterations of a loop in a thread have their loads under way together: of the innermost one, which is unrolled in the end, and
/// of those that are already.
fn loads_together(it: &Loop, is_innermost: bool) -> f64 {
    match it.tag {
        Tag::Unroll(times) => f64::from(times.clamp(1, TOGETHER)),
        Tag::Sequential if is_innermost => f64::from(TOGETHER),
        Tag::Sequential
        | Tag::Parallel
        | Tag::Vector(_)
        | Tag::Rows
        | Tag::Separate
        | Tag::GpuBlock(_)
        | Tag::GpuThread(_)
        | Tag::Combine
        | Tag::Stream(_)
        | Tag::GridSync => 1.0,
    }
}

fn is_gpu(it: &Loop) -> bool {
    matches!(it.tag, Tag::GpuBlock(_) | Tag::GpuThread(_) | Tag::Combine)
}
