//! Points of a GPU's thread that share what they load, and axes of a few elements.
//!
//! ```text
//! for o, j, i { s = 0; for c, p { s += x[i+p, j, c]*w[p, c, o] }; y[i, j, o] = s }
//!   -> @block o0, j0, i0 { @thread j1, i1 { for c, p { @unroll j2, o1 { s[o1, j2] += .. } } } }
//! for j, i in 1:3 { y[i, j] = x[i, j] } -> @block j0 { @unroll j1 { @thread j2, i { .. } } }
//! ```
//!
//! An element that stays along a loop is loaded once for all points of a thread along it, so that a sum loads less than an element for
//! each product. Where the contiguous axis has a few elements, threads along it alone would leave most of a warp idle: a warp takes
//! neighbours along the next axis, too, or each thread all of the few, where they share what they load.
//!
//! # Source
//! Volkov, *Better performance at lower occupancy*, GTC 2010.

use super::chooser::{Chooser, has_loop, loop_at};
use super::gpu::{AXES, POINTS, TILE};
use super::profile::{Step, iterator_of, operations, step};
use super::regroup::loops_above;
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{put_chain, sink};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Threads of a block, and those of one whose threads have several results each.
const THREADS: u32 = 256;
const THREADS_OF_SEVERAL: u32 = 128;
/// Results of a thread: along the loop where most of what is loaded stays, and in all.
const ALONG: u32 = 8;
const RESULTS: u32 = 16;
/// The most operations that a thread does for a term of each of its results: all of them are written out.
const OPERATIONS: u32 = 256;
/// The most threads along z.
const DEEP: u32 = 64;
const AXES_FROM_X: [ProcessorAxis; AXES] = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];

/// What becomes of one of the parallel loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    level: usize,
    /// Its iterations, if they are few and none of it is left to blocks.
    whole: Option<u32>,
    threads: u32,
    /// Points of a thread: neighbours where they share what they load, else a block's threads apart.
    points: u32,
    shares: bool,
}

impl Part {
    fn splits(self) -> Vec<u32> {
        match (self.whole, self.threads, self.points) {
            (Some(_), ..) | (None, 1, 1) => vec![],
            (None, 1, points) => vec![points],
            (None, threads, 1) => vec![threads],
            (None, threads, points) if self.shares => vec![threads * points, points],
            (None, threads, points) => vec![threads * points, threads],
        }
    }
}

impl Chooser<'_> {
    /// Maps the `leading` parallel loops at `path`, where points share what they load or the contiguous axis has a few elements.
    pub(super) fn map_sharing(&self, schedule: &mut Schedule, path: &Path, leading: usize) -> Result<bool, Error> {
        let Some(order) = self.by_neighbours(schedule, path, leading) else { return Ok(false) };
        let extents = self.extents(schedule, path, leading)?;
        let few = |level: usize| {
            extents[level].and_then(|extent| u32::try_from(extent).ok()).filter(|extent| (1..TILE[0]).contains(extent))
        };
        let body = path.down(leading);
        let is_short = self.short_loops(schedule, &body)?.is_some();
        let own = match self.keeps_private(schedule, &body) {
            true => vec![1; leading],
            false => self.shared_points(schedule, path, &order, &few, is_short),
        };
        let shares = own.iter().any(|&points| points > 1);
        if !shares && few(order[0]).is_none() {
            return Ok(false);
        }
        let apart = if is_short && !shares && !self.loads_many(schedule, &body) { POINTS } else { 1 };
        let parts = parts(&order, &own, &few, apart);
        let long = parts.iter().filter(|part| part.whole.is_none()).count();
        if !(1..=AXES).contains(&long) || parts.iter().all(|part| part.threads == 1) {
            return Ok(false);
        }
        let mut trial = schedule.clone();
        if is_short {
            self.write_out(&mut trial, &body)?;
        } else if !shares {
            self.load_ahead(&mut trial, &body);
        }
        let trial = self.in_parts(&trial, path, &parts)?;
        if !self.is_legal(&trial, path)? {
            return Ok(false);
        }
        let is_shared = |part: &Part| part.shares && part.whole.is_none();
        if parts.iter().any(is_shared)
            && let Some(&sum) = self.deepest(schedule, &body).first()
        {
            let tiles = parts.iter().filter(|part| part.whole.is_none());
            let tiles: Vec<(usize, u32)> = tiles.map(|part| (part.level, part.threads * part.points)).collect();
            self.weigh_blocks(schedule, path, sum, &tiles)?;
        }
        *schedule = trial;
        Ok(true)
    }

    /// The computations below that have the most loops around.
    pub(super) fn deepest(&self, schedule: &Schedule, path: &Path) -> Vec<ComputationId> {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let depth = |id: &ComputationId| schedule.loops_around(*id).len();
        let deepest = below.iter().map(depth).max().unwrap_or(0);
        below.into_iter().filter(|id| depth(id) == deepest).collect()
    }

    /// The tree with the loops at `path` split into blocks, threads and points, those along the contiguous axis first.
    fn in_parts(&self, schedule: &Schedule, path: &Path, parts: &[Part]) -> Result<Schedule, Error> {
        let mut sizes = vec![vec![]; parts.len()];
        parts.iter().for_each(|part| sizes[part.level] = part.splits());
        let (mut tree, mut loops) = self.split_levels(schedule, path, &sizes)?;
        let (mut blocks, mut threads, mut points): (Vec<Loop>, Vec<Loop>, Vec<Loop>) = Default::default();
        for part in parts {
            let mut rest = std::mem::take(&mut loops[part.level]).into_iter();
            if part.whole.is_none() {
                let tag = Tag::GpuBlock(AXES_FROM_X[blocks.len()]);
                blocks.extend(rest.next().map(|it| Loop { tag, ..it }));
            }
            let tag = |is_thread: bool| match is_thread {
                true => Tag::GpuThread(AXES_FROM_X[threads.len()]),
                false => Tag::Unroll(part.points),
            };
            let kinds: &[bool] = match (part.threads > 1, part.points > 1) {
                (true, true) if part.shares => &[true, false],
                (true, true) => &[false, true],
                // A loop with one iteration is a thread, or a point.
                (true, false) => &[true],
                (false, _) => &[false],
            };
            let tagged: Vec<(bool, Loop)> = kinds
                .iter()
                .zip(rest)
                .map(|(&is_thread, it)| (is_thread, Loop { tag: tag(is_thread), ..it }))
                .collect();
            for (is_thread, it) in tagged {
                if is_thread { &mut threads } else { &mut points }.push(it);
            }
        }
        // Those along which the most is shared go innermost.
        for point in points {
            if let Some(body) = tree.node_mut(path) {
                sink(body, &point);
            }
        }
        let chain = blocks.into_iter().rev().chain(threads.into_iter().rev()).collect();
        put_chain(&mut tree, path, chain);
        Ok(tree)
    }

    /// The parallel loops, first the one along which neighbours are neighbours in memory, then those along further axes of what is written.
    fn by_neighbours(&self, schedule: &Schedule, path: &Path, leading: usize) -> Option<Vec<usize>> {
        let chain: Vec<&Loop> = (0..leading).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let below = schedule.node(&path.down(leading))?.computations();
        let iterator = |level: usize, id: ComputationId| {
            let it = chain.get(level)?.at.get(&id).and_then(iterator_of)?;
            (it.1 == 1).then_some(it.0)
        };
        if !(0..leading).all(|level| below.iter().all(|&id| iterator(level, id).is_some())) {
            return None;
        }
        let cost = |level: usize| self.stride_cost(&below, |id| chain[level].at.get(&id).cloned());
        let contiguous = (0..leading).rev().min_by_key(|&level| cost(level))?;
        let axis = |level: usize| {
            let written = below.iter().filter_map(|&id| {
                let computation = self.algorithm.computation(id);
                let iterator = iterator(level, id)?;
                let is_stored = self.algorithm.array(computation.write.array).kind != ArrayKind::Private;
                let mut subscripts = computation.write.subscripts.iter();
                subscripts.position(|it| computation.involves_iterator(it, iterator)).filter(|_| is_stored)
            });
            written.min().unwrap_or(usize::MAX)
        };
        let mut order: Vec<usize> = (0..leading).collect();
        order.sort_by_key(|&level| (level != contiguous, axis(level), Reverse(level)));
        Some(order)
    }

    /// How many points of a thread along each of the parallel loops share what the sums below load.
    fn shared_points(
        &self,
        schedule: &Schedule,
        path: &Path,
        order: &[usize],
        few: &dyn Fn(usize) -> Option<u32>,
        is_short: bool,
    ) -> Vec<u32> {
        let mut points = vec![1; order.len()];
        let body = path.down(order.len());
        let sums = self.deepest(schedule, &body);
        if !schedule.node(&body).is_some_and(has_loop) || sums.iter().any(|id| self.small.contains(id)) {
            return points;
        }
        let outer = loops_above(schedule, path);
        // What stays along each loop, of what changes with the terms.
        let mut stays = vec![0; order.len()];
        let mut results: BTreeSet<ArrayId> = BTreeSet::new();
        let written: BTreeSet<ArrayId> = schedule
            .node(path)
            .map(Node::computations)
            .unwrap_or_default()
            .into_iter()
            .map(|id| self.algorithm.computation(id).write.array)
            .collect();
        for &id in &sums {
            let computation = self.algorithm.computation(id);
            let around = schedule.loops_around(id);
            let inner = &around[around.len().min(outer + order.len())..];
            let terms: Vec<u32> = inner.iter().filter_map(|(_, it)| Some(iterator_of(it.at.get(&id)?)?.0)).collect();
            let moves = |access: &Access, iterator: u32| {
                access.subscripts.iter().any(|it| computation.involves_iterator(it, iterator))
            };
            if terms.len() != inner.len() || terms.iter().any(|&term| moves(&computation.write, term)) {
                return vec![1; order.len()];
            }
            results.insert(computation.write.array);
            for read in &computation.reads {
                let is_loaded =
                    read.is_affine() && !written.contains(&read.array) && terms.iter().any(|&term| moves(read, term));
                if !is_loaded {
                    continue;
                }
                for &level in order {
                    let iterator =
                        loop_at(schedule, &path.down(level)).and_then(|it| it.at.get(&id)).and_then(iterator_of);
                    if let Some((iterator, _)) = iterator
                        && step(self.algorithm, id, read, iterator) == Step::Stays
                    {
                        stays[level] += 1;
                    }
                }
            }
        }
        let work = sums.iter().map(|&id| operations(self.algorithm, id)).sum::<u32>().max(1);
        let mut left = (RESULTS / results.len().max(1) as u32).min(OPERATIONS / work);
        let mut rest = order.to_vec();
        // All of a few neighbours.
        if let Some(extent) = few(order[0]).filter(|extent| *extent <= ALONG.min(left))
            && stays[order[0]] > 0
            && order.len() > 1
        {
            points[order[0]] = extent;
            left /= extent;
            rest.remove(0);
        }
        if is_short {
            return points;
        }
        // Threads go along the first one that is left.
        let mut others: Vec<usize> = rest.into_iter().skip(1).filter(|&level| stays[level] > 0).collect();
        // Of equals, the last: neighbours of what moves along it lie furthest apart.
        others.reverse();
        others.sort_by_key(|&level| Reverse(stays[level]));
        for level in others {
            let most = few(level).map_or(ALONG, |extent| extent.min(ALONG)).min(left);
            if most > 1 {
                points[level] = if few(level) == Some(most) { most } else { power_of_two(most) };
                left /= points[level];
            }
        }
        points
    }
}

/// Shares out the threads of a block among the loops, which are in the order of their neighbours in memory, with so many points of each
/// thread along them that share what they load; of the first one that is left to blocks, a thread has `apart` points.
fn parts(order: &[usize], own: &[u32], few: &dyn Fn(usize) -> Option<u32>, apart: u32) -> Vec<Part> {
    let shares = own.iter().any(|&points| points > 1);
    let mut left = if shares { THREADS_OF_SEVERAL } else { THREADS };
    let (mut axes, mut is_first_long) = (0, true);
    let mut parts: Vec<Part> = vec![];
    for (at, &level) in order.iter().enumerate() {
        let points = own[level];
        let mut part = Part { level, whole: None, threads: 1, points, shares: points > 1 };
        match few(level) {
            Some(extent) if extent == points => part.whole = Some(extent),
            Some(extent) if points == 1 && axes < AXES && extent <= left => {
                (part.whole, part.threads) = (Some(extent), extent);
                (left, axes) = (left / extent, axes + 1);
            }
            Some(_) | None if axes < AXES && left > 1 => {
                let others = order[at + 1..].iter().any(|&other| few(other).is_none());
                let most = if axes == 0 && others { TILE[0] } else { left };
                part.threads = power_of_two(if axes + 1 == AXES { most.min(DEEP) } else { most });
                if is_first_long && points == 1 {
                    part.points = apart;
                }
                is_first_long = false;
                (left, axes) = (left / part.threads, axes + 1);
            }
            Some(_) | None => {}
        }
        parts.push(part);
    }
    parts
}

fn power_of_two(most: u32) -> u32 {
    1 << most.max(1).ilog2()
}
