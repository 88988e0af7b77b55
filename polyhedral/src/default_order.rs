//! The order that Tessella chooses when the user gives none.
//!
//! Nests keep their source order but for a few moves, each tried only where it promises to pay and kept only where it is
//! legal. On a CPU, a nest of which a part accumulates is taken apart along its dependences, what accumulates gets a
//! register tile, and statements of different depth that run in no parallel loop get an outermost loop in common. On both
//! targets, loops that mix statements with inner loops are distributed when that frees the contiguous axis, perfectly
//! nested loops are permuted so that the contiguous axis is innermost (CPU) or on thread axis x (GPU), and loops without
//! carried dependences run in parallel, the outermost one on CPU threads.

use crate::affine::{Affine, Atom};
use crate::algorithm::{AccessRef, Algorithm, ArrayKind, ComputationId};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::{Aff, Ctx, Set};
use crate::auto::regroup::{self, Grain};
use crate::auto::register_tile::{self, Nest, Shape};
use crate::layers::{Scheduled, Target};
use crate::machine::Machine;
use crate::place;
use crate::relation;
use crate::legality;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{distribute_at, loop_mut, put_chain, simplify, split_at, take_chain};
use std::collections::BTreeSet;

/// Threads along x and y of a block, for nests with two parallel loops; one loop gets `LINE` along x.
const TILE: [u32; 2] = [32, 8];
const LINE: u32 = 256;

/// Iterations of a strip of an innermost parallel loop: long enough for vectors, short enough for the first cache.
const STRIP: u32 = 256;

/// Iterations of a strip of a single loop.
const LINE_STRIP: u32 = 4096;

/// Chooses an order for the whole program, from its present one.
pub fn schedule(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence]) -> Result<Scheduled, Error> {
    let chooser = Chooser { ctx, machine: &scheduled.machine, algorithm: &scheduled.algorithm, target: scheduled.target, dependences };
    let mut schedule = scheduled.schedule.clone();
    chooser.node(&mut schedule, &Path::default())?;
    simplify(&mut schedule.root);
    legality::check(ctx, &scheduled.algorithm, &schedule, dependences)?;
    Ok(Scheduled { schedule, ..scheduled.clone() })
}

/// Whether a loop further out already runs on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Threads {
    Free,
    Taken,
}

struct Chooser<'a> {
    ctx: &'a Ctx,
    machine: &'a Machine,
    algorithm: &'a Algorithm,
    target: Target,
    dependences: &'a [Dependence],
}

impl Chooser<'_> {
    /// Orders what is at `path`, none of whose outer loops is parallel.
    fn node(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.node(schedule, &path.child(child)))
            }
            Some(Node::Loop(_)) => self.nest(schedule, path),
        }
    }

    fn nest(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        if self.target == Target::Cpu {
            if self.take_sums_apart(schedule, path)? {
                return self.node(schedule, path);
            }
            if self.tile_registers(schedule, path, Threads::Free)? {
                return Ok(());
            }
            if self.align(schedule, path)? {
                return Ok(());
            }
        }
        if self.distribute(schedule, path)? {
            return self.node(schedule, path);
        }
        let depth = chain_length(schedule, path);
        self.permute(schedule, path, depth)?;
        let parallel = self.parallel_loops(schedule, path, depth)?;
        match self.target {
            Target::Cpu => self.cpu_tags(schedule, path, depth, &parallel),
            Target::Gpu => self.gpu_tags(schedule, path, &parallel),
        }
    }

    /// Takes an imperfect nest apart of which a part accumulates: its results can then stay in registers.
    fn take_sums_apart(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let Some(Node::Sequence(children)) = schedule.node(&path.down(depth)) else { return Ok(false) };
        if !children.iter().any(has_loop) {
            return Ok(false);
        }
        for grain in [Grain::Neighbours, Grain::Statements] {
            let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
            let Some(trial) = apart else { continue };
            let Some(Node::Sequence(parts)) = trial.node(path) else { continue };
            let needs_memory = self.shares_private(parts);
            for part in (0..parts.len()).map(|at| path.child(at)) {
                let Some((shape, _)) = self.shape(&trial, &part)? else { continue };
                let wanted = !needs_memory || (register_tile::is_product(&shape) && self.has_place(&trial)?);
                if wanted && self.is_legal(&trial, path)? {
                    *schedule = trial;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Gives the statements of a nest without a parallel loop an outermost loop that leaves each a parallel nest;
    /// statements that dependences allow to come first or last are taken out of it before, where that helps.
    fn align(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let imperfect = schedule.node(&path.down(depth)).is_some_and(has_loop);
        if !imperfect || !self.parallel_loops(schedule, path, depth)?.is_empty() {
            return Ok(false);
        }
        if let Some(trial) = self.aligned(schedule, path)? {
            *schedule = trial;
            self.node(schedule, &path.down(1))?;
            return Ok(true);
        }
        let grain = Grain::Statements;
        let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
        let Some(mut trial) = apart else { return Ok(false) };
        let Some(Node::Sequence(parts)) = trial.node(path) else { return Ok(false) };
        let mut helped = false;
        for part in (0..parts.len()).map(|at| path.child(at)) {
            let imperfect = trial.node(&part.down(chain_length(&trial, &part))).is_some_and(has_loop);
            if imperfect && let Some(aligned) = self.aligned(&trial, &part)? {
                trial = aligned;
                helped = true;
            }
        }
        if !helped || !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
            return Ok(false);
        }
        *schedule = trial;
        self.node(schedule, path)?;
        Ok(true)
    }

    /// The best alignment of the statements at `path`.
    fn aligned(&self, schedule: &Schedule, path: &Path) -> Result<Option<Schedule>, Error> {
        let mut best: Option<(i64, Schedule)> = None;
        for trial in regroup::align(self.ctx, self.algorithm, schedule, self.dependences, path)? {
            if !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
                continue;
            }
            let Some(score) = self.score(&trial, path)? else { continue };
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, trial));
            }
        }
        Ok(best.map(|(_, trial)| trial))
    }

    /// Whether every array finds a buffer under this order.
    fn has_place(&self, schedule: &Schedule) -> Result<bool, Error> {
        let scheduled = Scheduled {
            algorithm: self.algorithm.clone(),
            schedule: schedule.clone(),
            target: self.target,
            machine: *self.machine,
            versions: vec![],
            scratch: BTreeSet::new(),
        };
        match place::place(self.ctx, scheduled) {
            Ok(_) => Ok(true),
            Err(Error::Layout(_)) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// How well the statements inside an aligned loop run: parallel loops count, most of all a contiguous one. `None`
    /// if one of the deepest statements has none.
    fn score(&self, schedule: &Schedule, path: &Path) -> Result<Option<i64>, Error> {
        let body = path.down(1);
        let Some(Node::Sequence(children)) = schedule.node(&body) else { return Ok(None) };
        let depths: Vec<usize> = (0..children.len()).map(|at| chain_length(schedule, &body.child(at))).collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let mut score = 0;
        for (at, &depth) in depths.iter().enumerate() {
            let child = body.child(at);
            let weight = if depth == deepest { 10 } else { 1 };
            let parallel = self.parallel_loops(schedule, &child, depth)?;
            let ids = schedule.node(&child).map(Node::computations).unwrap_or_default();
            let cost = |level: usize| {
                self.stride_cost(&ids, |id| loop_at(schedule, &child.down(level))?.at.get(&id).cloned())
            };
            let contiguous = parallel.iter().any(|&level| (0..depth).all(|other| cost(level) <= cost(other)));
            if depth == deepest && !contiguous {
                return Ok(None);
            }
            score += weight * (parallel.len() as i64 + 2 * i64::from(contiguous));
        }
        Ok(Some(score))
    }

    /// The register tile that suits the perfect nest at `path`, and that nest.
    fn shape<'n>(&'n self, schedule: &Schedule, path: &'n Path) -> Result<Option<(Shape, Nest<'n>)>, Error> {
        let depth = chain_length(schedule, path);
        if depth == 0 || schedule.node(&path.down(depth)).is_none_or(has_loop) {
            return Ok(None);
        }
        let parallel = self.parallel_loops(schedule, path, depth)?;
        let nest = Nest {
            ctx: self.ctx,
            algorithm: self.algorithm,
            machine: self.machine,
            path,
            depth,
            parallel,
            extents: self.extents(schedule, path, depth)?,
        };
        Ok(register_tile::choose(&nest, schedule).map(|shape| (shape, nest)))
    }

    /// The iterations of each loop of the nest at `path`, where that is a number.
    fn extents(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Vec<Option<i64>>, Error> {
        let extent = |level: usize| -> Result<Option<i64>, Error> {
            let Some(it) = loop_at(schedule, &path.down(level)) else { return Ok(None) };
            let Some((&id, at)) = it.at.iter().next() else { return Ok(None) };
            let values = relation::function(self.ctx, self.algorithm, id, at)?
                .intersect_domain(&relation::domain(self.algorithm, id)?)?
                .range()?;
            let (low, high) = (values.dim_min(0)?.pieces()?, values.dim_max(0)?.pieces()?);
            let number = |pieces: &[(Set, Aff)]| match pieces {
                [(_, aff)] if aff.is_constant().unwrap_or(false) => aff.constant().ok()?.to_i64(),
                _ => None,
            };
            Ok(number(&low).zip(number(&high)).map(|(low, high)| high - low + 1))
        };
        (0..depth).map(extent).collect()
    }

    /// Gives a perfect nest a register tile, where it has one that is legal.
    fn tile_registers(&self, schedule: &mut Schedule, path: &Path, threads: Threads) -> Result<bool, Error> {
        let Some((shape, nest)) = self.shape(schedule, path)? else { return Ok(false) };
        for blocked in [true, false] {
            let mut trial = register_tile::apply(&nest, schedule, &shape, blocked)?;
            if !self.is_legal(&trial, path)? {
                continue;
            }
            if threads == Threads::Free {
                for level in 0..chain_length(&trial, path) {
                    let at = path.down(level);
                    if loop_at(&trial, &at).is_none_or(|it| it.tag != Tag::Sequential) {
                        break;
                    }
                    let mut parallel = trial.clone();
                    loop_mut(&mut parallel, &at).tag = Tag::Parallel;
                    if self.is_legal(&parallel, path)? {
                        trial = parallel;
                        break;
                    }
                }
            }
            *schedule = trial;
            return Ok(true);
        }
        Ok(false)
    }

    /// Distributes an imperfect nest where its parts then reach their contiguous axis.
    fn distribute(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let body_path = path.down(depth);
        let Some(Node::Sequence(children)) = schedule.node(&body_path) else { return Ok(false) };
        let has_loops = children.iter().any(|child| matches!(child, Node::Loop(_)));
        let blocked = children.iter().any(|child| {
            let leaf = child.computations();
            matches!(child, Node::Loop(_)) && leaf.iter().any(|&id| self.wants_outer_loop_inside(schedule, id, depth, path))
        });
        if !has_loops || !blocked {
            return Ok(false);
        }
        let needs_memory = self.shares_private(children);
        let mut trial = schedule.clone();
        for level in (0..depth).rev() {
            distribute_at(&mut trial, &path.down(level));
        }
        if !self.is_legal(&trial, path)? || (needs_memory && !self.has_place(&trial)?) {
            return Ok(false);
        }
        *schedule = trial;
        Ok(true)
    }

    /// Whether the contiguous axis of a computation is one of the `depth` loops at `path`, not a deeper one.
    fn wants_outer_loop_inside(&self, schedule: &Schedule, id: ComputationId, depth: usize, path: &Path) -> bool {
        let around = schedule.loops_around(id);
        let outer = around.iter().filter(|(at, _)| at.0.len() < path.0.len() + depth).count();
        let costs: Vec<i64> = around.iter().map(|(_, it)| self.stride_cost(&[id], |id| it.at.get(&id).cloned())).collect();
        let Some(best) = costs.iter().min() else { return false };
        costs[outer..].iter().all(|cost| cost > best)
    }

    /// Whether a private variable is used by more than one of the children.
    fn shares_private(&self, children: &[Node]) -> bool {
        let mut seen = BTreeSet::new();
        children.iter().any(|child| {
            let mut used = BTreeSet::new();
            for id in child.computations() {
                let computation = self.algorithm.computation(id);
                let arrays = computation.reads.iter().chain([&computation.write]).map(|access| access.array);
                used.extend(arrays.filter(|&array| self.algorithm.array(array).kind == ArrayKind::Private));
            }
            let shared = used.iter().any(|array| seen.contains(array));
            seen.extend(used);
            shared
        })
    }

    /// Brings the loop with the most contiguous accesses innermost and parallel loops outermost, where legal.
    fn permute(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<(), Error> {
        if depth < 2 || !matches!(schedule.node(&path.down(depth)), Some(Node::Computation(_) | Node::Sequence(_))) {
            return Ok(());
        }
        let body = schedule.node(&path.down(depth)).map(Node::computations).unwrap_or_default();
        let leaf_only = match schedule.node(&path.down(depth)) {
            Some(Node::Sequence(children)) => children.iter().all(|child| matches!(child, Node::Computation(_))),
            _ => true,
        };
        let parallel: BTreeSet<usize> = self.parallel_loops(schedule, path, depth)?.into_iter().collect();
        let mut order: Vec<usize> = (0..depth).collect();
        if leaf_only {
            let costs: Vec<i64> = (0..depth)
                .map(|level| self.stride_cost(&body, |id| loop_at(schedule, &path.down(level))?.at.get(&id).cloned()))
                .collect();
            let best = (0..depth).rev().min_by_key(|&level| costs[level]).expect("the nest has loops");
            let (serial, free): (Vec<usize>, Vec<usize>) =
                (0..depth).filter(|&level| level != best).partition(|level| !parallel.contains(level));
            let contiguous_outside = self.target == Target::Gpu && parallel.contains(&best);
            order = match contiguous_outside {
                true => free.into_iter().chain([best]).chain(serial).collect(),
                false => free.into_iter().chain(serial).chain([best]).collect(),
            };
        } else if let Some(&first) = parallel.iter().next() {
            order.remove(first);
            order.insert(0, first);
        }
        let identity: Vec<usize> = (0..depth).collect();
        // A full reordering first; then just the contiguous axis inwards.
        let mut inward = identity.clone();
        if let Some(&last) = order.last() {
            inward.retain(|&level| level != last);
            inward.push(last);
        }
        for candidate in [order, inward] {
            if candidate == identity {
                return Ok(());
            }
            let mut trial = schedule.clone();
            let chain = take_chain(&mut trial, path, depth);
            let moved = candidate.iter().map(|&level| chain[level].clone()).collect();
            put_chain(&mut trial, path, moved);
            if self.is_legal(&trial, path)? {
                *schedule = trial;
                return Ok(());
            }
        }
        Ok(())
    }

    /// How badly accesses stride when a loop runs innermost: 0 for contiguous or invariant, 1 and up for jumps.
    fn stride_cost(
        &self,
        body: &[ComputationId],
        at: impl Fn(ComputationId) -> Option<Affine>,
    ) -> i64 {
        let mut cost = 0;
        for &id in body {
            let Some(iterator) = at(id).and_then(|affine| single_iterator(&affine)) else { continue };
            let computation = self.algorithm.computation(id);
            for (access, weight) in computation.reads.iter().map(|read| (read, 2)).chain([(&computation.write, 3)]) {
                if self.algorithm.array(access.array).kind == ArrayKind::Private {
                    continue;
                }
                let involved: Vec<usize> = (0..access.subscripts.len())
                    .filter(|&axis| computation.involves_iterator(&access.subscripts[axis], iterator))
                    .collect();
                match involved.as_slice() {
                    [] => cost += 1,
                    [axis] if *axis == self.algorithm.array(access.array).kind.outer() as usize
                        && access.subscripts[*axis].as_affine().is_some_and(|it| it.coefficient(iterator).abs() == 1) => {}
                    _ => cost += 4 * weight,
                }
            }
        }
        cost
    }

    /// The levels of the `depth` loops at `path` that may run in any order, each taken alone.
    fn parallel_loops(&self, schedule: &Schedule, path: &Path, depth: usize) -> Result<Vec<usize>, Error> {
        let mut found = vec![];
        for level in 0..depth {
            let mut trial = schedule.clone();
            loop_mut(&mut trial, &path.down(level)).tag = Tag::Parallel;
            if self.is_legal(&trial, path)? {
                found.push(level);
            }
        }
        Ok(found)
    }

    fn cpu_tags(&self, schedule: &mut Schedule, path: &Path, depth: usize, parallel: &[usize]) -> Result<(), Error> {
        let body = path.down(depth);
        let innermost = depth - 1;
        let is_leaf = !schedule.node(&body).is_some_and(has_loop);
        let outer = parallel.first().copied();
        if is_leaf && depth == 1 && outer == Some(0) {
            return self.line(schedule, path);
        }
        if is_leaf && depth > 1 && outer == Some(innermost) && self.strip(schedule, path, depth)? {
            return Ok(());
        }
        if is_leaf && parallel.contains(&innermost) && (outer != Some(innermost)) {
            let width = self.vector_width(schedule, &path.down(innermost));
            loop_mut(schedule, &path.down(innermost)).tag = Tag::Vector(width);
        }
        match outer {
            Some(level) => loop_mut(schedule, &path.down(level)).tag = Tag::Parallel,
            None => return self.node(schedule, &body),
        }
        if !is_leaf {
            self.vectors_below(schedule, &body)?;
        }
        Ok(())
    }

    /// A single parallel loop: strips on threads, their points in vectors.
    ///
    /// Rewrite: `for i { S } -> for i0 { for i1 { S } }`
    fn line(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let width = self.vector_width(schedule, path);
        split_at(self.ctx, self.algorithm, schedule, path, LINE_STRIP)?;
        loop_mut(schedule, path).tag = Tag::Parallel;
        loop_mut(schedule, &path.down(1)).tag = Tag::Vector(width);
        Ok(())
    }

    /// Where only the innermost loop runs in parallel: strips of it go outermost, on threads, and their points stay
    /// innermost, in vectors.
    ///
    /// Rewrite: `for j { for i { S } } -> for i0 { for j { for i1 { S } } }`
    fn strip(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let mut trial = schedule.clone();
        let innermost = path.down(depth - 1);
        let width = self.vector_width(schedule, &innermost);
        split_at(self.ctx, self.algorithm, &mut trial, &innermost, STRIP)?;
        let mut chain = take_chain(&mut trial, path, depth + 1);
        let mut tiles = chain.remove(depth - 1);
        tiles.tag = Tag::Parallel;
        chain.insert(0, tiles);
        chain[depth].tag = Tag::Vector(width);
        put_chain(&mut trial, path, chain);
        let legal = self.is_legal(&trial, path)?;
        if legal {
            *schedule = trial;
        }
        Ok(legal)
    }

    /// Vectorizes innermost loops below a parallel one.
    fn vectors_below(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        match schedule.node(path) {
            None | Some(Node::Computation(_)) => Ok(()),
            Some(Node::Sequence(children)) => {
                (0..children.len()).try_for_each(|child| self.vectors_below(schedule, &path.child(child)))
            }
            Some(Node::Loop(_)) => {
                if self.tile_registers(schedule, path, Threads::Taken)? {
                    return Ok(());
                }
                if self.distribute(schedule, path)? {
                    return self.vectors_below(schedule, path);
                }
                let depth = chain_length(schedule, path);
                self.permute(schedule, path, depth)?;
                let innermost = path.down(depth - 1);
                if schedule.node(&path.down(depth)).is_some_and(has_loop) {
                    return self.vectors_below(schedule, &path.down(depth));
                }
                let mut trial = schedule.clone();
                let width = self.vector_width(schedule, &innermost);
                loop_mut(&mut trial, &innermost).tag = Tag::Vector(width);
                if self.is_legal(&trial, path)? {
                    *schedule = trial;
                }
                Ok(())
            }
        }
    }

    fn vector_width(&self, schedule: &Schedule, path: &Path) -> u32 {
        let body = schedule.node(path).map(Node::computations).unwrap_or_default();
        let bytes = body.iter().map(|&id| {
            let written = self.algorithm.computation(id).write.array;
            self.algorithm.array(written).element.bytes()
        });
        self.machine.vector_bytes / bytes.max().unwrap_or(8)
    }

    /// Maps up to three parallel loops that stand outermost to blocks and threads; else goes inside.
    ///
    /// Of three, the outermost becomes block axis z alone; the others are tiled.
    fn gpu_tags(&self, schedule: &mut Schedule, path: &Path, parallel: &[usize]) -> Result<(), Error> {
        let leading = parallel.iter().enumerate().take_while(|(at, level)| at == *level).count().min(3);
        if leading == 0 {
            let depth = chain_length(schedule, path);
            return match parallel.is_empty() {
                true => self.node(schedule, &path.down(depth)),
                false => self.nest(schedule, &path.down(1)),
            };
        }
        let mut tiled = path.clone();
        if leading == 3 {
            loop_mut(schedule, path).tag = Tag::GpuBlock(ProcessorAxis::Z);
            tiled = path.down(1);
        }
        let sizes: &[u32] = if leading == 1 { &[LINE] } else { &[TILE[1], TILE[0]] };
        for (at, size) in sizes.iter().enumerate() {
            split_at(self.ctx, self.algorithm, schedule, &tiled.down(2 * at), *size)?;
        }
        let chain = take_chain(schedule, &tiled, 2 * sizes.len());
        let (tiles, points): (Vec<_>, Vec<_>) = chain.into_iter().enumerate().partition(|(at, _)| at % 2 == 0);
        let mut ordered: Vec<Loop> = tiles.into_iter().chain(points).map(|(_, it)| it).collect();
        let axes = [ProcessorAxis::X, ProcessorAxis::Y];
        for (at, it) in ordered.iter_mut().enumerate() {
            let axis = axes[sizes.len() - 1 - at % sizes.len()];
            it.tag = if at < sizes.len() { Tag::GpuBlock(axis) } else { Tag::GpuThread(axis) };
        }
        put_chain(schedule, &tiled, ordered);
        Ok(())
    }

    /// Whether the order is legal, if only what is below `path` was changed.
    fn is_legal(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        let below: BTreeSet<ComputationId> =
            schedule.node(path).map(Node::computations).unwrap_or_default().into_iter().collect();
        let inside = |end: AccessRef| below.contains(&end.computation);
        let all = self.dependences.iter().filter(|it| inside(it.source) && inside(it.sink)).cloned();
        legality::is_legal(self.ctx, self.algorithm, schedule, &all.collect::<Vec<_>>())
    }
}

/// How many loops stand directly inside one another at `path`.
fn chain_length(schedule: &Schedule, path: &Path) -> usize {
    let mut depth = 0;
    while let Some(Node::Loop(_)) = schedule.node(&path.down(depth)) {
        depth += 1;
    }
    depth
}

fn loop_at<'a>(schedule: &'a Schedule, path: &Path) -> Option<&'a Loop> {
    match schedule.node(path) {
        Some(Node::Loop(it)) => Some(it),
        _ => None,
    }
}

fn has_loop(node: &Node) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Loop(_) => true,
        Node::Sequence(children) => children.iter().any(has_loop),
    }
}

/// The iterator that a loop runs through, forwards or backwards.
fn single_iterator(at: &Affine) -> Option<u32> {
    match at.terms() {
        [(Atom::Iterator(position), 1 | -1)] => Some(*position),
        _ => None,
    }
}
