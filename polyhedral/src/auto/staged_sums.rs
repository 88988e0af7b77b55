//! Sums on a GPU that each have a thread of their own, which adds in the source's order: tiles of their terms pass through shared
//! memory, some of them under way while one is added up.
//!
//! ```text
//! for j, i { s[j] += A[i, j]*r[i] }             -> @block j0 { for i0 { @thread j1 { for i1 { S } } } }
//! for r, j, l, i { s[j, r] += A[j, i, l]*C[i, r] } -> @block r0, j0 { for l { for i0 { @thread r1, j1 { for i1 { S } } } } }
//! ```
//!
//! So loads coalesce whichever axis of the matrix is contiguous, and many are in flight while each thread adds.

use super::chooser::{Chooser, chain_length, loop_at};
use super::gpu_storage::moves;
use super::padding;
use super::profile::{Profiled, Step, iterator_of, step};
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::put_chain;
use std::collections::BTreeSet;

/// Sums along the contiguous axis of the results that a block has: a warp of threads, each with one, so that many blocks run beside
/// one another.
const SUMS: u32 = 32;
/// Such warps of a block, where all have the matrix in common: one for each of a multiprocessor's schedulers.
const WARPS: u32 = 4;
/// Bytes of a tile's rows, whose elements are neighbours: rows that begin and end inside of sectors of memory have two in part.
const ROW_BYTES: u32 = 256;
/// Bytes of rows that are copied in vectors wherever they begin ([`padding::of_shifted`]), where there are sums enough.
const LONG_ROW_BYTES: u32 = 512;
/// So many sums for each multiprocessor: fewer, in larger tiles, have too few bytes under way. In Float32 on an H200, 8192 sums
/// of as many terms took 1.1 times as long in rows of 512 bytes, and 16384 sums less time than in rows of 256.
const ENOUGH: u32 = 96;
/// Terms of a sum that are read from shared memory before they are added.
const TERMS: u32 = 16;

/// Levels of a nest whose threads each have a sum over elements of a matrix.
pub(super) struct Sums {
    /// Sums of a warp.
    j: usize,
    /// Sums of the warps of a block, which all add up products of the same matrix.
    across: Option<usize>,
    /// Sums of other blocks.
    blocks: Vec<usize>,
    /// Loops over terms, the innermost aside.
    outer: Vec<usize>,
    /// The innermost loop over terms, which goes through the matrix tile by tile.
    i: usize,
}

impl Chooser<'_> {
    /// The levels of a nest whose threads each have a sum over elements of a matrix: `s[j] += A[i, j] * ..`, or the same with
    /// `A[j, i]`; there may be more loops over sums, and more over terms.
    pub(super) fn sums(&self, schedule: &Schedule, path: &Path, parallel: &[usize]) -> Result<Option<Sums>, Error> {
        let Some(accesses) = self.accesses(schedule, path) else { return Ok(None) };
        let depth = chain_length(schedule, path);
        let (mut blocks, mut outer): (Vec<usize>, Vec<usize>) = (0..depth).partition(|level| parallel.contains(level));
        let (Some(i), 1..=3) = (outer.pop(), blocks.len()) else { return Ok(None) };
        let is_sum =
            |it: &Profiled<'_>| (0..depth).all(|level| parallel.contains(&level) != (it.steps[level] == Step::Stays));
        if !accesses.iter().filter(|it| it.is_write).all(is_sum) || !Self::read_alike(&accesses) {
            return Ok(None);
        }
        let extents = self.extents(schedule, path, depth)?;
        let long = |level: usize| extents[level].is_none_or(|extent| extent >= 2 * i64::from(SUMS));
        let along = |&j: &usize| long(j) && long(i) && !self.matrices(schedule, path, (j, i)).is_empty();
        let Some(at) = blocks.iter().rposition(along) else { return Ok(None) };
        // With one tile, nothing is under way while another is added up.
        if !self.may_reach(schedule, path, i, 2 * i64::from(SUMS) + 1)? {
            return Ok(None);
        }
        if Self::coalesce_elsewhere(&accesses, &blocks, blocks[at]) {
            return Ok(None);
        }
        let j = blocks.remove(at);
        let matrices = self.matrices(schedule, path, (j, i));
        let is_common = |&level: &usize| matrices.iter().all(|(_, steps)| steps[level] == Step::Stays);
        let across = blocks.iter().rposition(is_common).map(|at| blocks.remove(at));
        Ok(Some(Sums { j, across, blocks, outer, i }))
    }

    /// Whether threads along another parallel loop than `j`, along which tiles would have them, find neighbours in all that they read and
    /// write, or the same elements, and threads along `j` do not: as the pixels of a layer do, where `j` counts its filters. On an H100, 64
    /// filters of 32 channels were 3.2 times as fast with threads along pixels.
    fn coalesce_elsewhere(accesses: &[Profiled<'_>], parallel: &[usize], j: usize) -> bool {
        let coalesces = |level: usize| {
            let steps = || accesses.iter().map(|it| it.steps[level]);
            steps().all(|step| matches!(step, Step::Next | Step::Stays)) && steps().any(|step| step == Step::Next)
        };
        !coalesces(j) && parallel.iter().any(|&level| coalesces(level))
    }

    /// Whether all accesses to an array that is read are reads of one element, by affine subscripts.
    fn read_alike(accesses: &[Profiled<'_>]) -> bool {
        let alike = |it: &Profiled<'_>, other: &Profiled<'_>| {
            !other.is_write && other.access.subscripts == it.access.subscripts
        };
        let all = |it: &Profiled<'_>| {
            accesses.iter().filter(|other| other.access.array == it.access.array).all(|other| alike(it, other))
        };
        accesses.iter().filter(|it| !it.is_write).all(|it| all(it) && it.access.is_affine())
    }

    /// What a nest reads, with its steps along the levels, that has an axis for each of two levels, one of them contiguous. An axis along
    /// which other levels move, too, as in a filter, is none: the tiles of such an array overlap.
    fn matrices(&self, schedule: &Schedule, path: &Path, (j, i): (usize, usize)) -> Vec<(&Access, Vec<Step>)> {
        let depth = chain_length(schedule, path);
        let chain: Vec<&Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level))).collect();
        let below = schedule.node(&path.down(depth)).map(Node::computations).unwrap_or_default();
        let of = |id: ComputationId| -> Option<Vec<(&Access, Vec<Step>)>> {
            let computation = self.algorithm.computation(id);
            let iterators: Vec<u32> =
                chain.iter().map(|it| Some(iterator_of(it.at.get(&id)?)?.0)).collect::<Option<_>>()?;
            let mut found = vec![];
            for read in &computation.reads {
                let has_axis = |level: usize| {
                    read.subscripts.iter().any(|axis| {
                        (0..depth).all(|it| computation.involves_iterator(axis, iterators[it]) == (it == level))
                    })
                };
                let steps: Vec<Step> = iterators.iter().map(|&it| step(self.algorithm, id, read, it)).collect();
                if self.algorithm.array(read.array).kind == ArrayKind::Private {
                    continue;
                }
                if has_axis(j) && has_axis(i) && [steps[j], steps[i]].contains(&Step::Next) {
                    found.push((read, steps));
                }
            }
            Some(found)
        };
        below.into_iter().filter_map(of).flatten().collect()
    }

    /// Lets a block go through its sums tile by tile, so that the tiles can pass through shared memory.
    ///
    /// Rewrite: `for u, j, l, i { S } -> @block for u0, j0 { for l { for i0 { @thread for u1, j1 { for i1 { S } } } } }`
    pub(super) fn stage_sums(&self, schedule: &mut Schedule, path: &Path, parallel: &[usize]) -> Result<bool, Error> {
        let Some(Sums { j, across, blocks, outer, i }) = self.sums(schedule, path, parallel)? else { return Ok(false) };
        let level = j;
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let bytes = |id: &ComputationId| {
            let reads = &self.algorithm.computation(*id).reads;
            reads.iter().map(|read| self.algorithm.array(read.array).element.bytes()).max()
        };
        let widest = below.iter().filter_map(bytes).max().unwrap_or(8);
        let mut sizes = vec![vec![]; chain_length(schedule, path)];
        let most = i64::from(ENOUGH) * i64::from(self.machine.multiprocessors);
        // Tiles are copied ahead where each thread has one sum alone.
        let terms = loop_at(schedule, &path.down(i));
        let one_sum = |id: &ComputationId| {
            let computation = self.algorithm.computation(*id);
            terms.is_some_and(|terms| !moves(computation, &computation.write, *id, terms))
        };
        let in_vectors = across.is_none()
            && below.iter().all(one_sum)
            && self.is_copied_in_vectors(schedule, path, (j, i))
            && !below.iter().any(|id| self.small.contains(id))
            && self.may_reach(schedule, path, j, most + 1)?;
        // No fewer terms than threads of a warp: all of them load.
        let long = match in_vectors {
            true => (LONG_ROW_BYTES / widest).clamp(SUMS, 4 * SUMS),
            false => (ROW_BYTES / widest).clamp(SUMS, 2 * SUMS),
        };
        // Where neighbours are terms of neighbouring sums, rows of the tile are longer along these. Warps that share a tile are threads enough.
        let are_sums =
            across.is_none() && self.matrices(schedule, path, (j, i)).iter().any(|(_, it)| it[j] == Step::Next);
        let (of_block, of_tile) = if are_sums { (long, SUMS) } else { (SUMS, long) };
        sizes[j] = vec![of_block];
        sizes[i] = vec![of_tile];
        if let Some(across) = across {
            sizes[across] = vec![WARPS];
        }
        let (mut trial, mut parts) = self.split_levels(schedule, path, &sizes)?;
        let mut take = |level: usize| std::mem::take(&mut parts[level]);
        let tagged = |it: Loop, tag: Tag| Loop { tag, ..it };
        let [j, i, across] = [Some(j), Some(i), across].map(|level| level.map(&mut take).unwrap_or_default());
        let mut parts_of = [across, j, i].map(Vec::into_iter);
        let [[across0, j0, i0], [across1, j1, i1]] = [(); 2].map(|()| parts_of.each_mut().map(Iterator::next));
        let grid: Vec<Loop> = blocks.into_iter().flat_map(&mut take).chain(across0).chain(j0).collect();
        let axes = [ProcessorAxis::Z, ProcessorAxis::Y, ProcessorAxis::X];
        let axes = &axes[axes.len() - grid.len()..];
        let mut chain: Vec<Loop> =
            grid.into_iter().zip(axes).map(|(it, axis)| tagged(it, Tag::GpuBlock(*axis))).collect();
        chain.extend(outer.into_iter().flat_map(&mut take).chain(i0));
        chain.extend(across1.map(|it| tagged(it, Tag::GpuThread(ProcessorAxis::Y))));
        chain.extend(j1.map(|it| tagged(it, Tag::GpuThread(ProcessorAxis::X))));
        chain.extend(i1.map(|it| tagged(it, Tag::Unroll(TERMS))));
        put_chain(&mut trial, path, chain);
        let legal = self.is_legal(&trial, path)?;
        if legal {
            if let Some(&id) = below.first().filter(|_| in_vectors) {
                self.weigh_blocks(schedule, path, id, &[(level, ENOUGH)])?;
            }
            *schedule = trial;
        }
        Ok(legal)
    }

    /// Whether sums along `j` read one matrix, whose tiles are copied in vectors wherever they begin. Tiles of several take so much shared memory that few
    /// are under way: two matrices of 16384 columns in Float32 took 1.18 times as long in rows of 512 bytes as in rows of 256 on an H200.
    fn is_copied_in_vectors(&self, schedule: &Schedule, path: &Path, levels: (usize, usize)) -> bool {
        let matrices = self.matrices(schedule, path, levels);
        let arrays: BTreeSet<ArrayId> = matrices.iter().map(|(access, _)| access.array).collect();
        arrays.len() == 1 && matrices.iter().all(|(access, _)| padding::shifted_lanes(self.algorithm, access).is_some())
    }
}
