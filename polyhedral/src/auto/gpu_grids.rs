//! One kernel for a nest and one beside it that reads the same array on a coarser grid, such as the colours of every second
//! pixel beside the brightness of each.
//!
//! ```text
//! for j, i { R: y[i, j] = f(a[i, j]) }; for j, i { S: u[i, j] = g(a[2i, 2j]) }
//!   -> for tiles of a { for j, i of R in the tile { R }; for j, i of S in half as large a tile { S } }
//! ```
//!
//! A thread takes a few neighbouring points of the finer grid and those of the coarser one that lie among them, so that what both read is
//! loaded once, into its registers. Only nests whose threads move vectors are joined: there the loads decide.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::gpu::TILE;
use super::profile::{Step, iterator_of, step};
use super::vectors::{accesses, is_movable};
use crate::affine::Affine;
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::default_order::Memory;
use crate::error::Error;
use crate::fresh::fresh_among;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::{loop_names, smallest_value};
use std::collections::BTreeMap;

/// The most points of the finer grid for one of the coarser one, along an axis.
const COARSEST: i64 = 4;
/// Bytes of a row that a thread has of the widest array; twice as many leave room for half as many threads.
const ROW_BYTES: u32 = 8;
/// The most points of the finer grid that a thread has.
const POINTS: i64 = 16;
/// Points of the finer grid in a row of a block.
const ROW_POINTS: i64 = 128;
/// Rows of threads in a block whose rows are warps: blocks of 128 threads leave fewer multiprocessors idle at the end than those of 256.
const ROWS: i64 = 4;

/// Two nests of two loops each, by their places in a sequence.
struct Pair {
    fine: usize,
    coarse: usize,
}

/// How the coarse grid lies in the fine one along a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio {
    /// Points of the fine grid for each of the coarse one.
    factor: i64,
    /// What is added to an iterator of each so that tiles begin at zero.
    origins: [i64; 2],
}

impl Chooser<'_> {
    /// The schedule with the child `at` of the sequence at `path` and the next one as one kernel over two grids.
    pub(super) fn joined_grids(&self, schedule: &Schedule, path: &Path, at: usize) -> Result<Option<Schedule>, Error> {
        if self.means.memory != Memory::Vectors {
            return Ok(None);
        }
        for pair in [Pair { fine: at, coarse: at + 1 }, Pair { fine: at + 1, coarse: at }] {
            let nests = [path.child(pair.fine), path.child(pair.coarse)];
            let Some(ratios) = self.ratios(schedule, &nests)? else { continue };
            let Some(points) = self.points(schedule, &nests, &ratios)? else { continue };
            let joined = self.over_both(schedule, &nests, (&ratios, points), pair.fine < pair.coarse)?;
            let mut trial = schedule.clone();
            let Some(Node::Sequence(children)) = trial.node_mut(path) else { return Ok(None) };
            children.remove(at + 1);
            children[at] = joined;
            if self.is_legal(&trial, &path.child(at))? && self.has_place(&trial)? {
                return Ok(Some(trial));
            }
        }
        Ok(None)
    }

    /// How the second nest's grid lies in the first one's along both loops, outermost first, if it is coarser.
    fn ratios(&self, schedule: &Schedule, nests: &[Path; 2]) -> Result<Option<[Ratio; 2]>, Error> {
        let mut below: Vec<Vec<ComputationId>> = vec![];
        for nest in nests {
            let (Some(outermost), Some(body)) = (loop_at(schedule, nest), schedule.node(&nest.down(2))) else {
                return Ok(None);
            };
            let is_open = !self.is_settled(outermost) && !self.is_tagged(outermost) && !self.is_ranged(schedule, nest);
            if chain_length(schedule, nest) != 2 || has_loop(body) || !is_open {
                return Ok(None);
            }
            below.push(body.computations());
        }
        let (fine, coarse) = (&below[0], &below[1]);
        let shared = coarse.iter().flat_map(|&id| accesses(self.algorithm.computation(id))).map(|it| it.array);
        for array in shared.filter(|&array| self.algorithm.array(array).kind != ArrayKind::Private) {
            let levels = |nest: &Path, ids: &[ComputationId]| -> Option<[(i64, i64); 2]> {
                let [y, x] = [0, 1].map(|level| self.along(schedule, &nest.down(level), ids, array));
                // Neighbours along the inner loop are neighbours in memory.
                Some([y.filter(|y| y.axis != 0)?, x.filter(|x| x.axis == 0)?].map(|it| (it.factor, it.middle())))
            };
            let (Some(one), Some(other)) = (levels(&nests[0], fine), levels(&nests[1], coarse)) else { continue };
            let in_range = |factor: i64| (1..=COARSEST).contains(&factor) && factor & (factor - 1) == 0;
            let is_coarser = other.iter().any(|it| it.0 > 1) && other.iter().all(|it| in_range(it.0));
            if one.iter().any(|it| it.0 != 1) || !is_coarser {
                continue;
            }
            let mut ratios = vec![];
            for level in 0..2 {
                let Some(it) = loop_at(schedule, &nests[0].down(level)) else { return Ok(None) };
                let Some(first) = smallest_value(self.ctx, self.algorithm, it)? else { return Ok(None) };
                let ((_, from), (factor, to)) = (one[level], other[level]);
                ratios.push(Ratio { factor, origins: [-first, (to - from - first).div_euclid(factor)] });
            }
            return Ok(ratios.try_into().ok());
        }
        Ok(None)
    }

    /// How all accesses to an array move along a loop. `None` if they do not do so alike.
    fn along(&self, schedule: &Schedule, at: &Path, ids: &[ComputationId], array: ArrayId) -> Option<Moves> {
        let it = loop_at(schedule, at)?;
        let mut found: Option<Moves> = None;
        for &id in ids {
            let (iterator, factor) = iterator_of(&it.at[&id])?;
            if factor != 1 || it.at[&id] != Affine::iterator(iterator) {
                return None;
            }
            let computation = self.algorithm.computation(id);
            for access in accesses(computation).filter(|access| access.array == array) {
                let moving = |axis: &usize| computation.involves_iterator(&access.subscripts[*axis], iterator);
                let mut axes = (0..access.subscripts.len()).filter(moving);
                let (axis, None) = (axes.next()?, axes.next()) else { return None };
                let subscript = access.subscripts[axis].as_affine()?;
                let factor = subscript.coefficient(iterator);
                if *subscript
                    != Affine::iterator(iterator).scale(factor).ok()?.add_constant(subscript.constant_term()).ok()?
                {
                    return None;
                }
                let offset = subscript.constant_term();
                found = Some(match found {
                    None => Moves { axis, factor, offsets: [offset; 2] },
                    Some(known) if known.is_along(axis, factor) => {
                        let [low, high] = known.offsets;
                        Moves { axis, factor, offsets: [low.min(offset), high.max(offset)] }
                    }
                    Some(_) => return None,
                });
            }
        }
        found
    }

    /// The points of a thread along both loops of the fine grid, outermost first, where vectors pay there and the coarse nest has nothing
    /// in the way of them.
    fn points(&self, schedule: &Schedule, nests: &[Path; 2], ratios: &[Ratio; 2]) -> Result<Option<[i64; 2]>, Error> {
        let [fine, coarse] = nests;
        if self.vector_points(schedule, (Some(fine), &fine.down(1)), &fine.down(2))?.is_none() {
            return Ok(None);
        }
        let below = |nest: &Path| schedule.node(nest).map(Node::computations).unwrap_or_default();
        let written = |nest: &Path| -> Vec<ArrayId> {
            below(nest).into_iter().map(|id| self.algorithm.computation(id).write.array).collect()
        };
        let is_array = |access: &&Access| self.algorithm.array(access.array).kind != ArrayKind::Private;
        let touches = |nest: &Path, arrays: &[ArrayId]| {
            let ids = below(nest);
            let mut all = ids.iter().flat_map(|&id| accesses(self.algorithm.computation(id)).filter(is_array));
            all.any(|access| arrays.contains(&access.array))
        };
        let own = written(coarse);
        if touches(fine, &own) || touches(coarse, &written(fine)) {
            return Ok(None);
        }
        let Some(x) = loop_at(schedule, &coarse.down(1)) else { return Ok(None) };
        for id in below(coarse) {
            let computation = self.algorithm.computation(id);
            let Some((along, 1)) = iterator_of(&x.at[&id]) else { return Ok(None) };
            let moves =
                |it: &Access| is_movable(self.algorithm, it) && step(self.algorithm, id, it, along) == Step::Next;
            let mut stored = accesses(computation).filter(is_array).filter(|it| own.contains(&it.array));
            if computation.predicate.is_some() || !stored.all(moves) {
                return Ok(None);
            }
        }
        let all = [fine, coarse].into_iter().flat_map(below);
        let moved = all.flat_map(|id| accesses(self.algorithm.computation(id)).filter(is_array));
        let moved = moved.map(|it| self.algorithm.array(it.array).element.bytes());
        let widest = moved.max().unwrap_or(u32::MAX);
        let along = i64::from((ROW_BYTES / widest).max(1)).max(ratios[1].factor);
        let few = ratios[0].factor * along <= POINTS;
        Ok((widest < ROW_BYTES && few).then_some([ratios[0].factor, along]))
    }

    /// Both nests below the blocks and threads of one kernel.
    fn over_both(
        &self,
        schedule: &Schedule,
        nests: &[Path; 2],
        (ratios, points): (&[Ratio; 2], [i64; 2]),
        fine_first: bool,
    ) -> Result<Node, Error> {
        let mut names = vec![];
        schedule.node(&nests[0]).iter().for_each(|nest| loop_names(nest, &mut names));
        let mut fresh = |suffix: &str, level: usize| {
            let base = loop_at(schedule, &nests[0].down(level)).map_or("x", |it| it.name.as_str());
            let name = fresh_among(&format!("{base}{suffix}"), &names);
            names.push(name.clone());
            name
        };
        // As for one nest, a row of a block has 128 points at most.
        let lanes = (ROW_POINTS / points[1]).clamp(1, i64::from(TILE[0]));
        let threads = [ROWS * i64::from(TILE[0]) / lanes, lanes];
        // For each level the functions of blocks, threads and points, of both nests.
        let mut functions: [[BTreeMap<ComputationId, Affine>; 3]; 2] = Default::default();
        for (which, nest) in nests.iter().enumerate() {
            for level in 0..2 {
                let Some(it) = loop_at(schedule, &nest.down(level)) else { continue };
                let factor = if which == 0 { 1 } else { ratios[level].factor };
                let (of_thread, of_block) = (points[level] / factor, points[level] / factor * threads[level]);
                for (&id, at) in &it.at {
                    let counted = at.add_constant(ratios[level].origins[which])?;
                    let inside = counted.modulo(of_block)?;
                    let [blocks, threads, points] = &mut functions[level];
                    blocks.insert(id, counted.floor_div(of_block));
                    threads.insert(id, inside.floor_div(of_thread));
                    points.insert(id, counted.modulo(of_thread)?);
                }
            }
        }
        let mut bodies = vec![];
        for (which, nest) in nests.iter().enumerate() {
            let mut body = schedule.node(&nest.down(2)).cloned().unwrap_or(Node::Sequence(vec![]));
            for level in [1, 0] {
                let factor = if which == 0 { 1 } else { ratios[level].factor };
                let count = points[level] / factor;
                if count == 1 {
                    continue;
                }
                let inside = body.computations();
                let all = &functions[level][2];
                let at = all.iter().filter(|(id, _)| inside.contains(id)).map(|(id, at)| (*id, at.clone())).collect();
                let tag = Tag::Unroll(u32::try_from(count).unwrap_or(1));
                body = Node::Loop(Loop {
                    name: fresh(if which == 0 { "2" } else { "3" }, level),
                    tag,
                    at,
                    body: Box::new(body),
                });
            }
            bodies.push(body);
        }
        if !fine_first {
            bodies.reverse();
        }
        let mut joined = Node::Sequence(bodies);
        let axes = [ProcessorAxis::Y, ProcessorAxis::X];
        for (part, suffix) in [(1, "1"), (0, "0")] {
            for level in [1, 0] {
                let tag = if part == 1 { Tag::GpuThread(axes[level]) } else { Tag::GpuBlock(axes[level]) };
                let at = functions[level][part].clone();
                joined = Node::Loop(Loop { name: fresh(suffix, level), tag, at, body: Box::new(joined) });
            }
        }
        Ok(joined)
    }
}

/// How accesses move along a loop: the axis, the factor, and the least and the greatest offset.
#[derive(Debug, Clone, Copy)]
struct Moves {
    axis: usize,
    factor: i64,
    offsets: [i64; 2],
}

impl Moves {
    fn is_along(&self, axis: usize, factor: i64) -> bool {
        (self.axis, self.factor) == (axis, factor)
    }

    fn middle(&self) -> i64 {
        (self.offsets[0] + self.offsets[1]).div_euclid(2)
    }
}
