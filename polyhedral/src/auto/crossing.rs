//! Tiles where some accesses lie side by side along one loop and others along another.
//!
//! ```text
//! for i { for j { B[j, i] = A[i, j] } } -> for i0 { for j0 { for i1 { for j1 { B[j, i] = A[i, j] } } } }
//! ```
//!
//! Whichever loop runs innermost, some accesses go from line to line, and each line has left the cache when the next iteration of
//! the other loop needs its neighbour. A tile uses up its lines while the first cache holds them.

use super::chooser::{Chooser, has_loop, loop_at};
use super::profile::{Step, iterator_of, step};
use crate::algorithm::{Access, ArrayKind, ComputationId};
use crate::error::Error;
use crate::schedule::{Node, Path, Schedule};
use crate::transform::{put_chain, split_at, take_chain};

/// Bytes of a line of the cache.
const LINE: u32 = 64;
/// The shortest side of a tile: long enough for vectors.
const SIDE: u32 = 16;

impl Chooser<'_> {
    /// Tiles the innermost of the `depth` loops at `path` together with the one along which most of the accesses lie side by side
    /// that jump in the innermost one, if there is such a loop. Says how many loops there are then.
    pub(crate) fn tile_crossing(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<usize, Error> {
        if depth < 2 || schedule.node(&path.down(depth)).is_none_or(has_loop) {
            return Ok(depth);
        }
        let Some((level, side)) = self.crossed(schedule, path, depth) else { return Ok(depth) };
        let extents = self.extents(schedule, path, depth)?;
        let is_short = |level: usize| extents[level].is_some_and(|extent| extent <= i64::from(side));
        let is_free = |schedule: &Schedule, depth: usize, outermost: usize| -> Result<bool, Error> {
            Ok(self.parallel_loops(schedule, path, depth)?.first().is_some_and(|&first| first <= outermost))
        };
        // Threads come first.
        if is_short(level) || is_short(depth - 1) || !is_free(schedule, depth, level)? {
            return Ok(depth);
        }
        let mut trial = schedule.clone();
        for level in [depth - 1, level] {
            split_at(self.ctx, self.algorithm, &mut trial, &path.down(level), side)?;
        }
        let mut chain = take_chain(&mut trial, path, depth + 2);
        let point = chain.remove(level + 1);
        chain.insert(depth, point);
        put_chain(&mut trial, path, chain);
        if !self.is_legal(&trial, path)? || !is_free(&trial, depth + 2, level)? {
            return Ok(depth);
        }
        *schedule = trial;
        Ok(depth + 2)
    }

    /// The loop along which most accesses lie side by side of those that jump in the innermost one, and the side of a tile, some
    /// whole lines of each of these.
    fn crossed(&self, schedule: &Schedule, path: &Path, depth: usize) -> Option<(usize, u32)> {
        let innermost = path.down(depth - 1);
        let below = schedule.node(&innermost).map(Node::computations)?;
        let iterator = |level: usize, id: ComputationId| {
            loop_at(schedule, &path.down(level))?.at.get(&id).and_then(iterator_of).map(|(iterator, _)| iterator)
        };
        let mut counts = vec![0; depth - 1];
        let mut narrowest = LINE;
        for &id in &below {
            let computation = self.algorithm.computation(id);
            let along = iterator(depth - 1, id)?;
            let stored = |access: &&Access| self.algorithm.array(access.array).kind != ArrayKind::Private;
            for access in computation.reads.iter().chain([&computation.write]).filter(stored) {
                if step(self.algorithm, id, access, along) != Step::Jumps {
                    continue;
                }
                for (level, count) in counts.iter_mut().enumerate() {
                    let other = iterator(level, id)?;
                    if matches!(step(self.algorithm, id, access, other), Step::Next | Step::Back) {
                        *count += 1;
                        narrowest = narrowest.min(self.algorithm.array(access.array).element.bytes());
                    }
                }
            }
        }
        // The one furthest in of those with most.
        let level = (0..counts.len()).filter(|&level| counts[level] > 0).max_by_key(|&level| counts[level])?;
        Some((level, (LINE / narrowest.max(1)).max(SIDE)))
    }
}
