//! Small arguments that a GPU reads from constant memory.
//!
//! A read from there costs as little as one of a register where all threads of a warp read one element, and takes as many steps as they read
//! elements. So an argument goes there if the function only reads it, no subscript depends on the threads' loops, and what is tested at
//! entry leaves it few elements, or constants bound what is read of it.

use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::command::Command;
use crate::error::Error;
use crate::isl::Ctx;
use crate::schedule::{Loop, Schedule, Tag};
use crate::storage::{most_elements, total_bytes};
use std::collections::BTreeSet;

/// Bytes of all such arrays of a program: what a multiprocessor's cache for them holds, so that they stay there.
const MOST_BYTES: i64 = 2048;

/// The commands for a mapped order, smallest arrays first; none for arrays that other commands already move.
pub(crate) fn commands(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    moved: &[Command],
) -> Result<Vec<Command>, Error> {
    let is_moved = |name: &str| {
        moved.iter().any(|command| match command {
            Command::CacheShared { array, .. } | Command::CacheRegister { array, .. } | Command::Pad { array, .. } => {
                array == name
            }
            _ => false,
        })
    };
    let mut found: Vec<(i64, ArrayId)> = vec![];
    for id in (0..algorithm.arrays.len() as u32).map(ArrayId) {
        let array = algorithm.array(id);
        let plain = array.kind == ArrayKind::Argument && array.strided.is_empty() && !algorithm.is_written(id);
        if !plain || is_moved(&array.name) || !is_uniform(algorithm, schedule, id) {
            continue;
        }
        if let Some(elements) = most_elements(ctx, algorithm, id)? {
            found.push((total_bytes(algorithm, id, elements), id));
        }
    }
    found.sort();
    let mut total = 0i64;
    let fit = found.into_iter().take_while(|(bytes, _)| {
        total = total.saturating_add(*bytes);
        total <= MOST_BYTES
    });
    Ok(fit.map(|(_, id)| Command::Constant { array: algorithm.array(id).name.clone() }).collect())
}

/// Whether threads read an array, and all threads of a block one element of it at a time.
fn is_uniform(algorithm: &Algorithm, schedule: &Schedule, array: ArrayId) -> bool {
    let mut by_threads = false;
    for id in algorithm.ids() {
        let reads: Vec<&Access> = algorithm.computation(id).reads.iter().filter(|read| read.array == array).collect();
        if reads.is_empty() {
            continue;
        }
        let around: Vec<&Loop> = schedule.loops_around(id).into_iter().map(|(_, it)| it).collect();
        let threads = of_threads(algorithm, id, &around);
        by_threads |= around.iter().any(|it| it.tag.thread().is_some());
        let streams = around.iter().any(|it| matches!(it.tag, Tag::Stream(_)));
        let varies = |read: &&Access| {
            !read.is_affine()
                || read.subscripts.iter().any(|subscript| {
                    threads.iter().any(|&iterator| algorithm.computation(id).involves_iterator(subscript, iterator))
                })
        };
        if streams || reads.iter().any(varies) {
            return false;
        }
    }
    by_threads
}

/// The iterators that the loops over threads run through.
fn of_threads(algorithm: &Algorithm, id: ComputationId, around: &[&Loop]) -> BTreeSet<u32> {
    let count = algorithm.computation(id).iterators.len() as u32;
    let threads = around.iter().filter(|it| it.tag.thread().is_some());
    threads.flat_map(|it| (0..count).filter(|&iterator| it.at[&id].involves_iterator(iterator))).collect()
}
