//! Tags for CPUs: threads outside, SIMD lanes inside, register tiles where a nest accumulates.

use super::cache_blocks;
use super::chooser::{Chooser, any_loop, chain_length, has_loop, loop_at};
use super::cuts::has_threads;
use super::register_tile::{self, Nest, Shape};
use super::regroup::{self, Grain};
use super::wavefront::Inside;
use crate::algorithm::ComputationId;
use crate::error::Error;
use crate::schedule::{Node, Path, Schedule, Tag};
use crate::transform::{loop_mut, put_chain, split_at, take_chain};

/// A thread takes this part of the first cache of a row at least, and four times as much where there are only a few threads: memory
/// is slower where every row begins anew ([`Machine::restart_bytes`](crate::machine::Machine::restart_bytes)), but strips must be enough for the threads.
const STRIP: u64 = 16;
const FEW_THREADS: u64 = 4;

/// No strip is made shorter for the sake of threads.
const SHORTEST_STRIP: u32 = 256;

/// Iterations of a strip of a single loop.
pub(crate) const LINE_STRIP: u32 = 4096;

/// Whether a loop further out already runs on threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Threads {
    Free,
    Taken,
}

impl Chooser<'_> {
    /// The register tile that suits the perfect nest at `path`, and that nest.
    pub(crate) fn shape<'n>(&'n self, schedule: &Schedule, path: &'n Path) -> Result<Option<(Shape, Nest<'n>)>, Error> {
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

    /// Gives a perfect nest a register tile, where it has one that is legal.
    pub(crate) fn tile_registers(&self, schedule: &mut Schedule, path: &Path, threads: Threads) -> Result<bool, Error> {
        let Some((shape, nest)) = self.shape(schedule, path)? else { return Ok(false) };
        for blocks in [cache_blocks::blocks(&nest, schedule, &shape)?, None] {
            let mut trial = register_tile::apply(&nest, schedule, &shape, blocks)?;
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

    pub(crate) fn cpu_tags(
        &self,
        schedule: &mut Schedule,
        path: &Path,
        depth: usize,
        parallel: &[usize],
    ) -> Result<(), Error> {
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
            None => return self.in_order(schedule, path, &body),
        }
        if !is_leaf {
            self.vectors_below(schedule, &body)?;
        }
        Ok(())
    }

    /// A chain without a parallel loop, `body` below it: threads run loops further in, else the diagonals of its tiles.
    fn in_order(&self, schedule: &mut Schedule, path: &Path, body: &Path) -> Result<(), Error> {
        let mut inside = schedule.clone();
        self.node(&mut inside, body)?;
        let on_threads = inside.node(body).is_some_and(|node| any_loop(node, &|it| !it.tag.keeps_order()));
        if on_threads {
            *schedule = inside;
            return Ok(());
        }
        match self.apart_inside(schedule, path)? {
            Some(apart) => *schedule = apart,
            None if self.wavefront(schedule, path, Inside::Diagonals)? => {}
            None => *schedule = inside,
        }
        Ok(())
    }

    /// The statements of a perfect nest taken apart inside the loops that carry what keeps them together, if each then runs
    /// on threads.
    ///
    /// Rewrite: `for k { for j { R; S } } -> for k { parallel for j { R }; parallel for j { S } }`
    fn apart_inside(&self, schedule: &Schedule, path: &Path) -> Result<Option<Schedule>, Error> {
        let depth = chain_length(schedule, path);
        if schedule.node(&path.down(depth)).is_none_or(|body| body.computations().len() < 2 || has_loop(body)) {
            return Ok(None);
        }
        for inside in (1..depth).map(|level| path.down(level)) {
            let grain = Grain::Statements;
            let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, &inside, grain)?;
            let Some(mut trial) = apart else { continue };
            if !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
                continue;
            }
            self.node(&mut trial, &inside)?;
            let members = trial.node(&inside).map(Node::computations).unwrap_or_default();
            if members.iter().all(|&id| has_threads(&trial, id)) {
                return Ok(Some(trial));
            }
        }
        Ok(None)
    }

    /// A single parallel loop: strips on threads, their points in vectors.
    ///
    /// Rewrite: `for i { S } -> for i0 { for i1 { S } }`
    pub(crate) fn line(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
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
    pub(crate) fn strip(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<bool, Error> {
        let mut trial = schedule.clone();
        let innermost = path.down(depth - 1);
        let width = self.vector_width(schedule, &innermost);
        let below = schedule.node(&innermost).map(Node::computations).unwrap_or_default();
        let mut size = self.strip_elements(below.into_iter());
        let extent = self.extents(schedule, path, depth)?[depth - 1].unwrap_or(i64::MAX);
        // Where it is known, there is a strip for each thread.
        while size > SHORTEST_STRIP && i64::from(size).saturating_mul(self.machine.threads.into()) > extent {
            size /= 2;
        }
        split_at(self.ctx, self.algorithm, &mut trial, &innermost, size)?;
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

    /// Bytes of a row of an array that a thread takes.
    pub(crate) fn strip_bytes(&self) -> u64 {
        self.machine.l1_bytes / u64::from(self.machine.threads).clamp(FEW_THREADS, STRIP)
    }

    /// Elements of such a strip of what computations write.
    pub(crate) fn strip_elements(&self, computations: impl Iterator<Item = ComputationId>) -> u32 {
        let written = computations.map(|id| self.algorithm.computation(id).write.array);
        let widest = written.map(|array| u64::from(self.algorithm.array(array).element.bytes())).max().unwrap_or(8);
        u32::try_from(self.strip_bytes() / widest.max(1)).unwrap_or(u32::MAX).max(1)
    }

    /// Vectorizes innermost loops below a parallel one.
    pub(crate) fn vectors_below(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
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
                let depth = self.tile_crossing(schedule, path, depth)?;
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

    pub(crate) fn vector_width(&self, schedule: &Schedule, path: &Path) -> u32 {
        let body = schedule.node(path).map(Node::computations).unwrap_or_default();
        let bytes = body.iter().map(|&id| {
            let written = self.algorithm.computation(id).write.array;
            self.algorithm.array(written).element.bytes()
        });
        self.machine.vector_bytes / bytes.max().unwrap_or(8)
    }
}
