//! How nests run on the blocks and threads of a GPU.
//!
//! Neighbours along the contiguous axis run on neighbouring threads. A thread gets several points where nothing else keeps
//! enough loads in flight. Products keep a tile of results in the registers of each thread while tiles of both operands pass
//! through shared memory; sums over a matrix pass its tiles through shared memory, some of them under way while one is added
//! up, so that loads coalesce and many are in flight while each thread adds in the source's order. [`super::gpu_storage`] says what goes to shared memory and registers.
//!
//! # Source
//! Volkov, *Better performance at lower occupancy*, GTC 2010, for several points a thread and register tiles; Baghdadi et al.,
//! *Tiramisu*, CGO 2019, section 4.3, for the memory of a block.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::profile::{Profiled, Step, iterator_of, profile, step_of_whole};
use super::regroup::{self, Grain, loops_above};
use super::vectors::Points;
use crate::algorithm::{Access, ArrayKind, ComputationId, Subscript};
use crate::default_order::Memory;
use crate::error::Error;
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{put_chain, sink, split_from, take_chain};
use std::collections::BTreeSet;

/// Threads along x and y of a block, for nests with two parallel loops; one loop gets `LINE` along x.
pub(super) const TILE: [u32; 2] = [32, 8];
const LINE: u32 = 256;
/// Steps above are those of blocks that threads have to themselves.
const LONGEST_STEP: u32 = 64;
/// Points of a thread, whose loads are in flight together.
pub(super) const POINTS: u32 = 4;
/// Loads of one point that keep memory busy by themselves; more points a thread would only leave fewer blocks.
const MANY_LOADS: usize = 32;
/// Threads of a block that each compute a sum of their own: few, so that sums spread over all multiprocessors.
const SUMS: u32 = 64;
/// Terms of a sum that are loaded before they are added.
const IN_FLIGHT: u32 = 32;
/// The most points of short loops inside of a thread that are written out.
const WRITTEN_OUT: i64 = 64;

/// Axes of a GPU's grid.
pub(super) const AXES: usize = 3;

impl Chooser<'_> {
    /// Orders the nest at `path`, none of whose outer loops is parallel.
    pub(crate) fn gpu_nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        self.note_owned(schedule, path);
        let nest = schedule.node(path).cloned();
        let note = || nest.iter().for_each(|nest| self.note_nest(nest));
        if self.means.memory != Memory::Plain && self.whole_sums(schedule, path)? {
            note();
            return Ok(());
        }
        if self.take_apart_for_threads(schedule, path)? {
            return self.node(schedule, path);
        }
        let mut depth = chain_length(schedule, path);
        if !self.reaches_contiguous(schedule, path, depth)? {
            if self.distribute(schedule, path)? {
                return self.node(schedule, path);
            }
            depth = chain_length(schedule, path);
        }
        self.permute(schedule, path, depth)?;
        let parallel = self.parallel_loops(schedule, path, depth)?;
        let staged = self.means.memory != Memory::Plain
            && (self.tile_product(schedule, path, &parallel)? || self.stage_sums(schedule, path, &parallel)?);
        if staged {
            note();
            return Ok(());
        }
        let leading = parallel.iter().enumerate().take_while(|(at, level)| at == *level).count();
        if self.means.memory != Memory::Plain
            && leading > 0
            && (self.stage_columns(schedule, path, leading)? || self.map_sharing(schedule, path, leading)?)
        {
            note();
            return Ok(());
        }
        if leading > AXES {
            self.contiguous_among_axes(schedule, path, leading)?;
        }
        let leading = leading.min(AXES);
        if leading == AXES {
            self.turned_beside(schedule, path)?;
        }
        let before = schedule.clone();
        if parallel.is_empty() && self.take_owned_apart(schedule, path)? {
            return Ok(());
        }
        match (leading, parallel.is_empty()) {
            (0, true) if self.steps_or_diagonals(schedule, path, depth)? => return Ok(()),
            (0, true) => return self.node(schedule, &path.down(depth)),
            (0, false) if self.parallelograms(schedule, path, depth)? => return Ok(()),
            (0, false) => self.gpu_nest(schedule, &path.down(1))?,
            (leading, _) => self.map_to_threads(schedule, path, leading)?,
        }
        if leading < 2
            && let Some(faster) = self.faster_by_steps(&before, schedule, path, depth)?
        {
            *schedule = faster;
        }
        Ok(())
    }

    /// Whether threads can run along the contiguous axis of all statements that have the most loops around them.
    fn reaches_contiguous(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let parallel = self.parallel_loops(schedule, path, depth)?;
        let reached = |id: ComputationId| {
            let around = schedule.loops_around(id);
            let outer = around.iter().filter(|(at, _)| at.0.len() < path.0.len()).count();
            let cost = |at: usize| self.stride_cost(&[id], |id| around[at].1.at.get(&id).cloned());
            let least = (outer..around.len()).map(cost).min();
            parallel.iter().any(|&level| outer + level < around.len() && Some(cost(outer + level)) == least)
        };
        Ok(self.deepest(schedule, path).into_iter().all(reached))
    }

    /// Takes a nest apart along its dependences where its deepest statements then have more parallel loops, or become a
    /// product or sums through shared memory.
    fn take_apart_for_threads(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        if below.len() < 2 {
            return Ok(false);
        }
        let deepest = below.iter().map(|&id| schedule.loops_around(id).len()).max().unwrap_or(0);
        let before = self.parallel_loops(schedule, path, depth)?.len().min(2);
        for grain in [Grain::Neighbours, Grain::Statements, Grain::Variables, Grain::Elements] {
            let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
            let Some(trial) = apart else { continue };
            let Some(Node::Sequence(parts)) = trial.node(path) else { continue };
            if self.shares_wide_variables(schedule, path, parts)? {
                continue;
            }
            let (keeps_variables, count) = (!self.shares_private(parts), parts.len());
            let (mut gains, mut has_more_loops, mut loses) = (false, false, false);
            let mut sums = vec![];
            for part in (0..count).map(|at| path.child(at)) {
                let ids = trial.node(&part).map(Node::computations).unwrap_or_default();
                let is_deepest = ids.iter().any(|&id| trial.loops_around(id).len() == deepest);
                let mut tried = trial.clone();
                let depth = chain_length(&tried, &part);
                if !is_deepest && depth < 2 {
                    continue;
                }
                self.permute(&mut tried, &part, depth)?;
                let parallel = self.parallel_loops(&tried, &part, depth)?;
                let in_tiles = self.means.memory != Memory::Plain;
                let are_sums = in_tiles && self.sums(&tried, &part, &parallel)?.is_some();
                sums.extend(ids.first().filter(|_| are_sums));
                if !is_deepest {
                    continue;
                }
                has_more_loops |= parallel.len().min(2) > before;
                gains |= are_sums || in_tiles && self.product(&tried, &part, &parallel)?.is_some();
                loses |= parallel.len().min(2) < before;
                // A variable in memory is for what fills warps.
                let is_long = |extent: &Option<i64>| extent.is_none_or(|extent| extent >= i64::from(TILE[0]));
                loses |= !keeps_variables && !self.extents(&tried, &part, depth)?.iter().all(is_long);
            }
            // Where there are threads enough, each reads once what it adds up and uses.
            gains &= keeps_variables;
            if (gains || has_more_loops) && !loses && self.is_legal(&trial, path)? {
                *schedule = self.with_starts(trial, path, &sums)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The accesses below the chain at `path`, of statements that have no loops of their own.
    pub(super) fn accesses(&self, schedule: &Schedule, path: &Path) -> Option<Vec<Profiled<'_>>> {
        let depth = chain_length(schedule, path);
        let body = schedule.node(&path.down(depth))?;
        if has_loop(body) {
            return None;
        }
        let chain: Vec<Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level)).cloned()).collect();
        profile(self.algorithm, &chain, &body.computations())
    }

    /// The tree without the chain at `path`, and the loops that each of its levels became.
    pub(super) fn split_levels(
        &self,
        schedule: &Schedule,
        path: &Path,
        sizes: &[Vec<u32>],
    ) -> Result<(Schedule, Vec<Vec<Loop>>), Error> {
        self.split_levels_from(schedule, path, sizes, 0)
    }

    /// The same, the last level's tiles beginning so many iterations before its first one.
    fn split_levels_from(
        &self,
        schedule: &Schedule,
        path: &Path,
        sizes: &[Vec<u32>],
        before: u32,
    ) -> Result<(Schedule, Vec<Vec<Loop>>), Error> {
        let mut tree = schedule.clone();
        for level in (0..sizes.len()).rev() {
            for (part, size) in sizes[level].iter().enumerate() {
                let before = if (level + 1, part) == (sizes.len(), 0) { before } else { 0 };
                split_from(self.ctx, self.algorithm, &mut tree, &path.down(level + part), *size, before)?;
            }
        }
        let total = sizes.len() + sizes.iter().map(Vec::len).sum::<usize>();
        let mut chain = take_chain(&mut tree, path, total).into_iter();
        let parts = sizes.iter().map(|sizes| chain.by_ref().take(sizes.len() + 1).collect()).collect();
        Ok((tree, parts))
    }

    /// Maps the `leading` parallel loops at `path` to blocks and threads; of three, the outermost is block axis z alone.
    fn map_to_threads(&self, schedule: &mut Schedule, path: &Path, leading: usize) -> Result<(), Error> {
        let tiled = if leading == 3 { path.down(1) } else { path.clone() };
        let levels = leading.min(2);
        let body = tiled.down(levels);
        if levels == 2 {
            self.contiguous_last(schedule, &tiled, &body)?;
        }
        let points = match self.short_loops(schedule, &body)? {
            Some(_) if !self.keeps_private(schedule, &body) && !self.loads_many(schedule, &body) => POINTS,
            Some(_) | None => 1,
        };
        let vectors = match self.means.memory {
            Memory::Vectors if points > 1 => {
                let (y, x) = ((levels == 2).then_some(&tiled), tiled.down(levels - 1));
                self.vector_points(schedule, (y, &x), &body)?
            }
            Memory::Vectors | Memory::Blocks | Memory::Plain => None,
        };
        // Of a loop with a step, each thread has one of the iterations that there are.
        let steps = match vectors {
            None => self.steps_along(schedule, &tiled, levels)?,
            Some(_) => vec![1; levels],
        };
        let points = if steps.iter().any(|&step| step > 1) { 1 } else { points };
        if points > 1 {
            self.write_out(schedule, &body)?;
        } else {
            self.load_ahead(schedule, &body);
        }
        let alone = if points == 1 { SUMS } else { LINE };
        // Of a line, a thread's points lie a block apart, so that threads stay neighbours; of a tile, they are neighbours.
        let mut sizes = match (levels, points) {
            (levels, _) if let Some(Points { along, across, .. }) = vectors => {
                // A row of a block has no more points than with the usual number for a thread: few columns of an image fill more of them.
                let lanes = (TILE[0] * POINTS / along).clamp(1, TILE[0]);
                let rows = TILE[0] * TILE[1] / lanes;
                let x = vec![if levels == 1 { LINE } else { lanes } * along, along];
                let y = if across == 1 { vec![rows] } else { vec![rows * across, across] };
                if levels == 1 { vec![x] } else { vec![y, x] }
            }
            (1, 1) => vec![vec![alone]],
            (1, points) => vec![vec![alone * points, alone]],
            (_, 1) => vec![vec![TILE[1]], vec![TILE[0]]],
            (_, points) => vec![vec![TILE[1] * points, points], vec![TILE[0]]],
        };
        for (size, &step) in sizes.iter_mut().zip(&steps).filter(|(_, step)| **step > 1) {
            *size = vec![size[0] * step, step];
        }
        let mut tags: Vec<Vec<Option<Tag>>> = match levels {
            1 => vec![vec![Some(Tag::GpuBlock(ProcessorAxis::X))]],
            _ => vec![vec![Some(Tag::GpuBlock(ProcessorAxis::Y))], vec![Some(Tag::GpuBlock(ProcessorAxis::X))]],
        };
        let mut stepped: Vec<bool> = steps.iter().map(|&step| step > 1).collect();
        if leading == 3 {
            sizes.insert(0, vec![]);
            stepped.insert(0, false);
            tags.insert(0, vec![Some(Tag::GpuBlock(ProcessorAxis::Z))]);
        }
        let before = vectors.map_or(0, |points| points.before);
        let (mut tree, parts) = self.split_levels_from(schedule, path, &sizes, before)?;
        let mut blocks = vec![];
        let mut threads = vec![];
        let mut points_below: Vec<Loop> = vec![];
        for (level, loops) in parts.into_iter().enumerate() {
            let mut loops = loops.into_iter();
            blocks.extend(loops.next().zip(tags[level][0]).map(|(it, tag)| Loop { tag, ..it }));
            let rest: Vec<Loop> = loops.collect();
            let axis = if level + 1 == sizes.len() { ProcessorAxis::X } else { ProcessorAxis::Y };
            let thread = |it: Loop| Loop { tag: Tag::GpuThread(axis), ..it };
            let unrolled = |it: Loop, points: u32| Loop { tag: Tag::Unroll(points), ..it };
            match (<[Loop; 2]>::try_from(rest.clone()), levels) {
                (Ok([outer, only]), _) if stepped[level] => {
                    points_below.push(only);
                    threads.push(thread(outer));
                }
                // Parts of a line, then threads.
                (Ok([part, inner]), 1) if vectors.is_none() => {
                    points_below.push(unrolled(part, POINTS));
                    threads.push(thread(inner));
                }
                (Ok([outer, part]), _) => {
                    points_below.push(unrolled(part, sizes[level][1]));
                    threads.push(thread(outer));
                }
                (Err(_), _) => threads.extend(rest.into_iter().map(thread)),
            }
        }
        let chain: Vec<Loop> = blocks.into_iter().chain(threads).collect();
        for point in points_below {
            if let Some(body) = tree.node_mut(path) {
                sink(body, &point);
            }
        }
        put_chain(&mut tree, path, chain);
        *schedule = tree;
        Ok(())
    }

    /// The steps of the loops of a chain, as far as all statements below have the same: iterators from one iteration to the next.
    fn steps_along(&self, schedule: &Schedule, path: &Path, levels: usize) -> Result<Vec<u32>, Error> {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let step_of = |id: &ComputationId, level: usize| -> Result<u32, Error> {
            let it = loop_at(schedule, &path.down(level)).and_then(|it| it.at.get(id));
            let Some((iterator, _)) = it.and_then(iterator_of) else { return Ok(1) };
            let step = relation::domain(self.algorithm, *id)?.stride(iterator.cast_signed())?.to_i64();
            let step = step.and_then(|step| u32::try_from(step).ok());
            Ok(step.filter(|step| (2..=LONGEST_STEP).contains(step)).unwrap_or(1))
        };
        (0..levels)
            .map(|level| {
                let steps = below.iter().map(|id| step_of(id, level)).collect::<Result<BTreeSet<u32>, Error>>()?;
                Ok(if steps.len() == 1 { steps.into_iter().next().unwrap_or(1) } else { 1 })
            })
            .collect()
    }

    /// Brings that of the `leading` parallel loops along which neighbours are neighbours in memory among those which get an axis
    /// of the grid; the others run inside of each thread.
    fn contiguous_among_axes(&self, schedule: &mut Schedule, path: &Path, leading: usize) -> Result<(), Error> {
        let below = schedule.node(&path.down(leading)).map(Node::computations).unwrap_or_default();
        let cost =
            |level: usize| self.stride_cost(&below, |id| loop_at(schedule, &path.down(level))?.at.get(&id).cloned());
        let Some(least) = (0..leading).rev().min_by_key(|&level| cost(level)).filter(|&level| level >= AXES) else {
            return Ok(());
        };
        let mut trial = schedule.clone();
        let mut chain = take_chain(&mut trial, path, leading);
        let contiguous = chain.remove(least);
        chain.insert(AXES - 1, contiguous);
        put_chain(&mut trial, path, chain);
        if self.is_legal(&trial, path)? {
            *schedule = trial;
        }
        Ok(())
    }

    /// Exchanges the first two of three parallel loops where neighbours that are read, and not written, lie along the outer one: tiles
    /// of it and of the innermost one then pass through shared memory.
    fn turned_beside(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let chain: Vec<&Loop> = (0..AXES).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let below = schedule.node(&path.down(AXES)).map(Node::computations).unwrap_or_default();
        let along = |id: ComputationId, read: &Access, level: usize| {
            let iterator = chain[level].at.get(&id).and_then(iterator_of);
            iterator.map(|(iterator, _)| step_of_whole(self.algorithm, id, read, iterator))
        };
        let is_beside = |level: usize| {
            let mut reads =
                below.iter().flat_map(|&id| self.algorithm.computation(id).reads.iter().map(move |it| (id, it)));
            reads.any(|(id, it)| {
                along(id, it, level) == Some(Step::Next) && along(id, it, AXES - 1) == Some(Step::Jumps)
            })
        };
        if chain.len() < AXES || !is_beside(0) || is_beside(1) {
            return Ok(());
        }
        let mut trial = schedule.clone();
        let mut chain = take_chain(&mut trial, path, AXES);
        chain.swap(0, 1);
        put_chain(&mut trial, path, chain);
        if self.is_legal(&trial, path)? {
            *schedule = trial;
        }
        Ok(())
    }

    /// Exchanges two parallel loops where neighbours are then neighbours along the inner one.
    fn contiguous_last(&self, schedule: &mut Schedule, path: &Path, body: &Path) -> Result<(), Error> {
        let below = schedule.node(body).map(Node::computations).unwrap_or_default();
        let cost =
            |level: usize| self.stride_cost(&below, |id| loop_at(schedule, &path.down(level))?.at.get(&id).cloned());
        if cost(0) >= cost(1) {
            return Ok(());
        }
        let mut trial = schedule.clone();
        let mut chain = take_chain(&mut trial, path, 2);
        chain.reverse();
        put_chain(&mut trial, path, chain);
        if self.is_legal(&trial, path)? {
            *schedule = trial;
        }
        Ok(())
    }

    /// Whether variables of the source live through loops below: several points at a time need several of each. Those that belong to
    /// a point can have them in registers.
    pub(super) fn keeps_private(&self, schedule: &Schedule, path: &Path) -> bool {
        let Some(body) = schedule.node(path) else { return false };
        let around = loops_above(schedule, path) as u32;
        let is_kept = |id: ComputationId| {
            let computation = self.algorithm.computation(id);
            let arrays = computation.reads.iter().chain([&computation.write]).map(|access| access.array);
            let mut arrays = arrays.map(|array| self.algorithm.array(array));
            let belongs = |rank: u32| self.means.memory != Memory::Plain && rank == around;
            arrays.any(|array| array.kind == ArrayKind::Private && !belongs(array.rank))
        };
        has_loop(body) && body.computations().into_iter().any(is_kept)
    }

    /// Whether one point of what stands below loads many elements of its own.
    pub(super) fn loads_many(&self, schedule: &Schedule, path: &Path) -> bool {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let mut loads: Vec<&Access> = vec![];
        for access in below.iter().flat_map(|&id| &self.algorithm.computation(id).reads) {
            let affine = |it: &Subscript| it.as_affine().is_some_and(|it| !it.involves_any_iterator());
            let is_new = || loads.iter().all(|it| it.array != access.array || it.subscripts != access.subscripts);
            if !access.subscripts.iter().all(affine) && is_new() {
                loads.push(access);
            }
        }
        loads.len() > MANY_LOADS
    }

    /// The points of all loops below, if each has a few iterations and a thread may take several points of the nest.
    pub(super) fn short_loops(&self, schedule: &Schedule, path: &Path) -> Result<Option<i64>, Error> {
        match schedule.node(path) {
            None => Ok(None),
            Some(Node::Computation(_)) => Ok(Some(1)),
            Some(Node::Sequence(children)) => {
                let mut all = 0;
                for child in 0..children.len() {
                    let Some(points) = self.short_loops(schedule, &path.child(child))? else { return Ok(None) };
                    all += points;
                }
                Ok(Some(all).filter(|&all| all <= WRITTEN_OUT))
            }
            Some(Node::Loop(_)) => {
                let Some(extent) = self.extents(schedule, path, 1)?[0] else { return Ok(None) };
                let inner = self.short_loops(schedule, &path.child(0))?;
                Ok(inner.and_then(|inner| inner.checked_mul(extent)).filter(|&all| all <= WRITTEN_OUT))
            }
        }
    }

    /// Unrolls all loops below, which are short.
    pub(super) fn write_out(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.write_out(schedule, &path.child(child)))
            }
            Some(Node::Loop(_)) => {
                let extent = self.extents(schedule, path, 1)?[0].and_then(|extent| u32::try_from(extent).ok());
                if let Some(Node::Loop(it)) = schedule.node_mut(path)
                    && let Some(extent @ 2..) = extent
                {
                    it.tag = Tag::Unroll(extent);
                }
                self.write_out(schedule, &path.child(0))
            }
        }
    }

    /// Unrolls the innermost loops below, whose loads then run ahead of the sums that use them.
    pub(super) fn load_ahead(&self, schedule: &mut Schedule, path: &Path) {
        match schedule.node_mut(path) {
            None | Some(Node::Computation(_)) => {}
            Some(Node::Sequence(children)) => {
                (0..children.len()).for_each(|child| self.load_ahead(schedule, &path.child(child)));
            }
            Some(Node::Loop(it)) if !has_loop(&it.body) => it.tag = Tag::Unroll(IN_FLIGHT),
            Some(Node::Loop(_)) => self.load_ahead(schedule, &path.child(0)),
        }
    }
}
