//! Updates of few elements, where data say of which, on a GPU: blocks add up in shared memory.
//!
//! ```text
//! for i { h[x[i]] += 1 }
//!   -> if length(h) <= 4096 && 1024*length(h) <= n { @block b { P = 0; for i0 { @thread t { P[x[i]] += 1 } }; h += P } } else { the same }
//! ```
//!
//! All updates are made in one piece ([`crate::transform::atomic`]). Where they meet at few elements, those in the memory of the GPU wait for one
//! another; in shared memory a multiprocessor makes hundreds of times as many. An array for each block ([`crate::transform::privatize`]) is started and
//! added up by it, so a block has to make many updates, and there are as many blocks as run at a time.
//!
//! # Source
//! Podlozhnyuk, *Histogram calculation in CUDA*, NVIDIA 2007; Gómez-Luna et al., *An optimized approach to histogram computation on GPU*, 2013.

use super::few_sums::root;
use super::partial_sums::{Parted, in_half};
use crate::affine::Affine;
use crate::algorithm::{ArrayId, ComputationId, Subscript};
use crate::command::Command;
use crate::condition::{Comparison, Condition, at_most, known, resolve};
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::schedule::{Loop, Path, ProcessorAxis, Tag};
use crate::transform::most;
use std::collections::BTreeSet;

/// Threads of a block: with four blocks on a multiprocessor it is full, and each has a fourth of its shared memory.
const THREADS: u32 = 512;
/// Threads in all: as many as a large GPU runs at a time.
const ALL: u32 = 1 << 18;
/// Blocks along a loop whose neighbouring iterations no threads share.
const BLOCKS: u32 = 1 << 8;
/// Bytes of all arrays of a block: more do not pay, even where there is room.
const BYTES: i64 = 32 << 10;
/// So many updates for each element are worth it.
const UPDATES: i64 = 1 << 10;
/// Of more loops than one: the product of their lengths is no affine function of sizes, so their sum has to be so many times the elements.
const SIDES: i64 = 4;
/// A loop with a constant number of iterations below this has not enough of them for the threads of a block.
const SHORT: i64 = 256;
/// Axes of the grid, for loops from the innermost one outwards.
const AXES: [ProcessorAxis; 3] = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];

/// A nest that updates arrays where data say.
struct Updates {
    path: Path,
    /// How many loops there are around it, and how many parallel ones it begins with.
    outer: usize,
    count: usize,
    arrays: BTreeSet<ArrayId>,
    all: Vec<ComputationId>,
}

/// What becomes of a parallel loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Threads share neighbouring iterations, and blocks what is left.
    Threads,
    /// A block for each iteration.
    Blocks,
    /// Blocks take turns.
    Turns,
}

impl Parted {
    /// Has blocks add up what they update where that is worth it.
    pub(super) fn bins(&mut self, ctx: &Ctx) -> Result<(), Error> {
        let Scheduled { algorithm, .. } = &self.scheduled;
        let is_wanted = |id: &ComputationId| {
            let it = algorithm.computation(*id);
            it.atomic && !it.write.is_affine() && it.ranged.is_empty()
        };
        let names: Vec<String> =
            algorithm.ids().filter(is_wanted).map(|id| algorithm.computation(id).name.clone()).collect();
        for name in names {
            let mut trial = self.clone();
            // Else it stays as it is.
            if let Ok(true) = in_half(ctx, || trial.bins_of(ctx, &name)) {
                *self = trial;
            }
        }
        Ok(())
    }

    fn bins_of(&mut self, ctx: &Ctx, name: &str) -> Result<bool, Error> {
        if !self.runs_in_parallel(ctx, name)? {
            self.stand_apart(ctx, name)?;
        }
        let Some(nest) = self.nest(ctx, name)? else { return Ok(false) };
        let Some(parts) = self.parts(ctx, name, &nest)? else { return Ok(false) };
        let Some(condition) = self.worth(ctx, name, &nest, &parts)? else { return Ok(false) };
        if !condition.comparisons.is_empty() && self.cut(ctx, &nest.path, &condition)?.is_none() {
            return Ok(false);
        }
        let arrays: Vec<String> =
            nest.arrays.iter().map(|&id| self.scheduled.algorithm.array(id).name.clone()).collect();
        let users: Vec<String> = nest.arrays.iter().filter_map(|&array| self.user(&nest, array)).collect();
        let (blocks, thread) = self.on_blocks(ctx, name, &nest, &parts)?;
        let Some(last) = blocks.last() else { return Ok(false) };
        let (mut added, mut bytes) = (vec![], 0_i64);
        for (array, computation) in arrays.into_iter().zip(users) {
            self.carry_out(ctx, Command::Privatize { array, computation, at: last.clone() })?;
            let Scheduled { algorithm, .. } = &self.scheduled;
            let Some(own) = algorithm.arrays.last() else { return Ok(false) };
            let sizes: Vec<i64> = own.extents.iter().filter_map(Affine::as_constant).collect();
            let elements = sizes.iter().fold(1, |all: i64, size| all.saturating_mul(*size));
            bytes = bytes.saturating_add(elements.saturating_mul(own.element.bytes().into()));
            added.extend(algorithm.computations.iter().rev().take(2).map(|it| (it.name.clone(), sizes.clone())));
        }
        if bytes > BYTES {
            return Ok(false);
        }
        for (at, axis) in blocks.iter().rev().zip(AXES) {
            self.tag(name, at, Tag::GpuBlock(axis));
        }
        self.tag(name, &thread, Tag::GpuThread(ProcessorAxis::X));
        for (added, sizes) in added {
            self.share_elements(ctx, &added, &sizes)?;
        }
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        legality::is_legal(ctx, algorithm, schedule, &self.dependences)
    }

    /// The nest that a statement is of, with the parallel loops that it begins with.
    fn nest(&self, ctx: &Ctx, name: &str) -> Result<Option<Updates>, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(None) };
        let parallel = self.parallel(ctx, name)?;
        let Some(outer) = parallel.iter().position(|it| *it) else { return Ok(None) };
        let around = schedule.loops_around(id);
        let path = around[outer].0.clone();
        let stands_inside = |at: &usize| around[*at].0 == path.down(at - outer);
        let count = (outer..parallel.len()).take_while(|at| parallel[*at] && stands_inside(at)).count();
        let Some(node) = schedule.node(&path) else { return Ok(None) };
        if count > AXES.len() || node.has_loop(&|tag| tag != Tag::Sequential) {
            return Ok(None);
        }
        let all = node.computations();
        let at_data = |id: &&ComputationId| {
            let it = algorithm.computation(**id);
            it.atomic && !it.write.is_affine()
        };
        let arrays = all.iter().filter(at_data).map(|&id| algorithm.computation(id).write.array).collect();
        let is_told = all.iter().all(|&id| algorithm.computation(id).ranged.is_empty());
        Ok(is_told.then_some(Updates { path, outer, count, arrays, all }))
    }

    /// The first statement that updates an array at data.
    fn user(&self, nest: &Updates, array: ArrayId) -> Option<String> {
        let algorithm = &self.scheduled.algorithm;
        let mut all = nest.all.iter().map(|&id| algorithm.computation(id));
        all.find(|it| it.write.array == array && !it.write.is_affine()).map(|it| it.name.clone())
    }

    /// What becomes of each of the parallel loops.
    fn parts(&self, ctx: &Ctx, name: &str, nest: &Updates) -> Result<Option<Vec<Part>>, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(None) };
        let chooser = self.chooser(ctx);
        let around = &schedule.loops_around(id)[nest.outer..nest.outer + nest.count];
        let (mut costs, mut lengths) = (vec![], vec![]);
        for (_, it) in around {
            costs.push(chooser.stride_cost(&nest.all, |id| it.at.get(&id).cloned()));
            lengths.push(chooser.extent_of(id, &it.at[&id])?);
        }
        let is_long = |at: &usize| lengths[*at].is_none_or(|length| length >= SHORT);
        let Some(threads) = (0..nest.count).rev().filter(is_long).min_by_key(|&at| costs[at]) else { return Ok(None) };
        let is_place = |at: usize| {
            nest.all.iter().filter(|&&id| nest.arrays.contains(&algorithm.computation(id).write.array)).any(|&id| {
                let mut subscripts = algorithm.computation(id).write.subscripts.iter().filter_map(Subscript::as_affine);
                let iterator = around[at].1.at[&id].as_iterator();
                iterator.is_some_and(|iterator| subscripts.any(|it| it.involves_iterator(iterator)))
            })
        };
        let part = |at: usize| match lengths[at] {
            _ if at == threads => Part::Threads,
            _ if is_place(at) => Part::Blocks,
            Some(length) if length <= i64::from(BLOCKS) => Part::Blocks,
            Some(_) | None => Part::Turns,
        };
        Ok((!is_place(threads)).then(|| (0..nest.count).map(part).collect()))
    }

    /// For which sizes there are few elements, and many updates of each, with no comparison for all; `None` if that is not known, or for none.
    fn worth(&self, ctx: &Ctx, name: &str, nest: &Updates, parts: &[Part]) -> Result<Option<Condition>, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(None) };
        let (mut comparisons, mut some) = (vec![], vec![]);
        let room = BYTES / nest.arrays.len().max(1) as i64;
        let mut elements: Vec<Affine> = vec![];
        for &array in &nest.arrays {
            let of = algorithm.array(array);
            let (mut known, mut open) = (1_i64, vec![]);
            for axis in self.own_axes(nest, parts, array) {
                let extent = &of.extents[axis];
                match extent.as_constant() {
                    Some(extent) => known = known.saturating_mul(extent.max(1)),
                    None => open.push(extent),
                }
            }
            // Each of several unknown sides is that of a square, or a cube, with room for it.
            let sides = open.len() as u32;
            let room = room / i64::from(of.element.bytes()) / known;
            if room == 0 {
                return Ok(None);
            }
            let limit = root(room, sides.max(1));
            let mut sum = Affine::constant(0);
            for extent in open {
                if most(ctx, algorithm, extent, &algorithm.context)?.is_none_or(|most| most > limit) {
                    comparisons.push(at_most(algorithm, extent, &Affine::constant(limit))?);
                }
                some.push(at_most(algorithm, &Affine::constant(1), extent)?);
                sum = sum.add(extent)?;
            }
            // No box has more elements than one whose sides are as long as theirs are on average, and none of its sides is longer than the limit.
            elements.push(match sides {
                0 => Affine::constant(known),
                1 => sum.scale(known)?,
                sides => sum.scale(known.saturating_mul(limit.pow(sides - 1)) / i64::from(sides))?,
            });
        }
        let chooser = self.chooser(ctx);
        let around = &schedule.loops_around(id)[nest.outer..nest.outer + nest.count];
        let mut length = Affine::constant(0);
        for (_, it) in around.iter().zip(parts).filter(|(_, part)| **part != Part::Blocks).map(|(it, _)| it) {
            let Some(own) = chooser.length(id, &it.at[&id])? else { return Ok(None) };
            length = length.add(&own)?;
        }
        let counting = parts.iter().filter(|part| **part != Part::Blocks).count();
        let scale = if counting == 1 { UPDATES } else { SIDES };
        for elements in elements {
            let least = elements.scale(scale)?;
            match least.sub(&length)?.as_constant() {
                Some(missing) if missing > 0 => return Ok(None),
                Some(_) => {}
                None => comparisons.push(at_most(algorithm, &least, &length)?),
            }
        }
        let mut all: Vec<Comparison> = vec![];
        comparisons.into_iter().for_each(|it| {
            if !all.contains(&it) {
                all.push(it)
            }
        });
        // Only for arrays without elements it would be for nothing.
        let condition = Condition { comparisons: all };
        let with_some = Condition { comparisons: [condition.comparisons.clone(), some].concat() };
        let holds = match resolve(ctx, algorithm, &with_some) {
            Err(Error::Schedule(ScheduleError::NeverHolds { .. })) => return Ok(None),
            other => other.and_then(|_| resolve(ctx, algorithm, &condition))?,
        };
        let is_told = known(algorithm)?.is_subset(&holds)?;
        Ok(Some(if is_told { Condition { comparisons: vec![] } } else { condition }))
    }

    /// The axes along which the blocks do not tell the place, one for all statements.
    fn own_axes(&self, nest: &Updates, parts: &[Part], array: ArrayId) -> Vec<usize> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        // By the number of the loop whose iterations have a block each.
        let told = |id: ComputationId, axis: usize| -> Option<Affine> {
            let around = &schedule.loops_around(id)[nest.outer..nest.outer + nest.count];
            let at = algorithm.computation(id).write.subscripts[axis].as_affine()?;
            let by = |iterator: u32| {
                let is_here = |((_, it), part): (&(Path, &Loop), &Part)| {
                    *part == Part::Blocks && it.at[&id].as_iterator() == Some(iterator)
                };
                let place = around.iter().zip(parts).position(is_here);
                match place {
                    Some(place) => Some(Affine::iterator(place as u32)),
                    None => (!at.involves_iterator(iterator)).then(|| Affine::constant(0)),
                }
            };
            at.substitute(&(0..at.iterator_count()).map(by).collect::<Option<Vec<_>>>()?).ok()
        };
        let is_told = |axis: &usize| {
            let users = nest.all.iter().filter(|&&id| algorithm.computation(id).write.array == array);
            let mut all = users.map(|&id| told(id, *axis));
            let first = all.next().flatten();
            first.is_some() && all.all(|other| other == first)
        };
        (0..algorithm.array(array).rank as usize).filter(|axis| !is_told(axis)).collect()
    }

    /// Splits the parallel loops: blocks outermost, then what they repeat, then threads. Gives the names of the loops of blocks, and of that of threads.
    fn on_blocks(
        &mut self,
        ctx: &Ctx,
        name: &str,
        nest: &Updates,
        parts: &[Part],
    ) -> Result<(Vec<String>, String), Error> {
        let loops = self.loops(name)[nest.outer..nest.outer + nest.count].to_vec();
        let (mut blocks, mut turns, mut last) = (vec![], vec![], None);
        for (part, at) in parts.iter().zip(loops) {
            match part {
                Part::Blocks => blocks.push(at),
                Part::Turns => {
                    let (turn, block) = self.split(ctx, name, &at, BLOCKS)?;
                    blocks.push(block);
                    turns.push(turn);
                }
                Part::Threads => {
                    let (turn, all) = self.split(ctx, name, &at, ALL)?;
                    turns.push(turn);
                    last = Some(self.split(ctx, name, &all, THREADS)?);
                }
            }
        }
        let (block, thread) = last.expect("threads share one of the loops");
        blocks.push(block);
        for (place, at) in (nest.outer..).zip(blocks.iter().chain(&turns).chain([&thread])) {
            loop {
                let loops = self.loops(name);
                let Some(now) = loops.iter().position(|it| it == at).filter(|now| *now > place) else { break };
                self.exchange(ctx, name, &loops[now - 1], at)?;
            }
        }
        Ok((blocks, thread))
    }

    /// Has the threads of a block share the elements that a statement runs through, by the longest axis.
    fn share_elements(&mut self, ctx: &Ctx, name: &str, sizes: &[i64]) -> Result<(), Error> {
        let loops = self.loops(name);
        let Some(longest) = (0..sizes.len()).max_by_key(|&at| (sizes[at], std::cmp::Reverse(at))) else {
            return Ok(());
        };
        let at = loops[loops.len() - 1 - longest].clone();
        let thread = if sizes[longest] > i64::from(THREADS) { self.split(ctx, name, &at, THREADS)?.1 } else { at };
        self.tag(name, &thread, Tag::GpuThread(ProcessorAxis::X));
        Ok(())
    }
}
