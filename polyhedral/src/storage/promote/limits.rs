//! Whether buffers of promoted parts fit: each, those of a kernel together, and the threads that fill them.

use super::super::error::{Filled, Limit, SharedBuffer, StorageError};
use super::super::private::thread_count;
use super::{Promotion, Team};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{MemorySpace, Placed, Scheduled};
use crate::machine::{MAX_THREADS, MAX_THREADS_Z};
use crate::place;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Tag};
use std::collections::BTreeMap;

/// Whether a buffer with so many elements along each axis fits.
pub(crate) fn check_limit(algorithm: &Algorithm, of: ArrayId, size: &[i64], limit: Limit) -> Result<(), StorageError> {
    let array = algorithm.array(of);
    let bytes = size.iter().try_fold(array.element.bytes() as i64, |all, &next| all.checked_mul(next));
    match bytes {
        Some(bytes) if bytes <= limit.bytes() => Ok(()),
        _ => Err(StorageError::TooLarge {
            array: array.name.clone(),
            extents: size.to_vec(),
            bytes: bytes.unwrap_or(i64::MAX),
            limit,
        }),
    }
}

/// Whether the shared buffers of each kernel fit together.
pub(in crate::storage) fn check_shared_total(
    scheduled: &Scheduled,
    promotions: &[Promotion],
) -> Result<(), StorageError> {
    let mut kernels: BTreeMap<Path, Vec<SharedBuffer>> = BTreeMap::new();
    for it in promotions.iter().filter(|it| it.space == MemorySpace::Shared) {
        let around = scheduled.schedule.loops_around(it.anchor);
        let kernel = around.into_iter().find(|(_, it)| matches!(it.tag, Tag::GpuBlock(_))).map(|(path, _)| path);
        let (buffer, _) = it.buffer(scheduled);
        kernels.entry(kernel.unwrap_or_default()).or_default().push(SharedBuffer::of(&buffer));
    }
    kernels.into_values().try_for_each(check_together)
}

/// Whether a block can have a thread for each element of all buffers of its kernel that ask for it, and those of the kernel's statements.
pub(in crate::storage) fn check_threads_together(
    ctx: &Ctx,
    scheduled: &Scheduled,
    promotions: &[Promotion],
) -> Result<(), Error> {
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let mut kernels: BTreeMap<Path, Vec<&Promotion>> = BTreeMap::new();
    for it in promotions.iter().filter(|it| !it.one_each.0.is_empty()) {
        let around = schedule.loops_around(it.anchor);
        let kernel = around.into_iter().find(|(_, it)| matches!(it.tag, Tag::GpuBlock(_))).map(|(path, _)| path);
        kernels.entry(kernel.unwrap_or_default()).or_default().push(it);
    }
    for (kernel, filled) in kernels {
        let copies: Vec<ComputationId> = filled.iter().flat_map(|it| it.one_each.0.clone()).collect();
        let statements = schedule.node(&kernel).map(Node::computations).unwrap_or_default();
        let others = statements.into_iter().filter(|id| !copies.contains(id));
        let around: BTreeMap<Path, &Loop> = others.flat_map(|id| schedule.loops_around(id)).collect();
        let mut loops: Team = BTreeMap::new();
        for it in around.into_values() {
            let Tag::GpuThread(axis) = it.tag else { continue };
            match thread_count(ctx, algorithm, it) {
                Ok(count) => widen(&mut loops, axis, count),
                // Code generation says so, with all loops over threads.
                Err(Error::Storage(StorageError::NoThreadCount { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let mut all = loops.clone();
        filled.iter().flat_map(|it| &it.one_each.1).for_each(|(&axis, &count)| widen(&mut all, axis, count));
        if is_too_large(&all) {
            let filled = filled.into_iter().map(|it| Filled {
                name: algorithm.array(it.array).name.clone(),
                extents: it.levels.iter().map(|level| level.size).collect(),
            });
            let (filled, loops, threads) =
                (filled.collect(), loops.into_values().collect(), all.into_values().collect());
            return Err(StorageError::ManyThreadsTogether { filled, loops, threads }.into());
        }
    }
    Ok(())
}

/// Gives a block at least so many threads along an axis.
pub(super) fn widen(team: &mut Team, axis: ProcessorAxis, count: i64) {
    let most = team.entry(axis).or_insert(1);
    *most = count.max(*most);
}

/// Whether no block can have so many threads along each axis.
pub(super) fn is_too_large(threads: &Team) -> bool {
    let all = threads.values().fold(1i64, |all, &next| all.saturating_mul(next));
    let deep = threads.get(&ProcessorAxis::Z).copied().unwrap_or(1);
    all > MAX_THREADS || deep > MAX_THREADS_Z
}

/// Whether each buffer fits, and those of each kernel together, once extents are final.
pub(in crate::storage) fn check_sizes(placed: &Placed, promotions: &[Promotion]) -> Result<(), StorageError> {
    for it in promotions {
        let buffer = placed.layout.buffer(placed.layout.placement(it.array).buffer);
        let size: Vec<i64> = buffer.extents.iter().filter_map(Affine::as_constant).collect();
        let limit = match it.space {
            MemorySpace::Shared => Limit::Shared,
            MemorySpace::Register => Limit::Registers,
            MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => Limit::Stack,
        };
        check_limit(&placed.scheduled.algorithm, it.of, &size, limit)?;
    }
    place::check_shared(&placed.scheduled.schedule, &placed.layout)
}

/// Whether the buffers of one kernel fit in the shared memory of a block.
pub(crate) fn check_together(buffers: Vec<SharedBuffer>) -> Result<(), StorageError> {
    if SharedBuffer::total(&buffers) > Limit::Shared.bytes() {
        return Err(StorageError::TooLargeTogether { buffers });
    }
    Ok(())
}
