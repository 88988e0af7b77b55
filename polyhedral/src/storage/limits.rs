//! How much room promoted buffers may take.

use super::error::{Limit, StorageError};
use super::promote::Promotion;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId};
use crate::layers::{MemorySpace, Placed, Scheduled};
use crate::schedule::{Path, Tag};
use std::collections::BTreeMap;

pub(super) fn check_limit(algorithm: &Algorithm, of: ArrayId, size: &[i64], limit: Limit) -> Result<(), StorageError> {
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
pub(super) fn check_shared_total(scheduled: &Scheduled, promotions: &[Promotion]) -> Result<(), StorageError> {
    let sizes: Vec<Vec<i64>> = promotions.iter().map(|it| it.size.clone()).collect();
    shared_total(scheduled, promotions, &sizes)
}

/// The same, and each buffer alone, once extents are final.
pub(super) fn check_sizes(placed: &Placed, promotions: &[Promotion]) -> Result<(), StorageError> {
    let mut sizes = vec![];
    for it in promotions {
        let buffer = placed.layout.buffer(placed.layout.placement(it.array).buffer);
        let size: Vec<i64> = buffer.extents.iter().filter_map(Affine::as_constant).collect();
        let limit = match it.space {
            MemorySpace::Shared => Limit::Shared,
            MemorySpace::Register => Limit::Registers,
            MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => Limit::Stack,
        };
        check_limit(&placed.scheduled.algorithm, it.of, &size, limit)?;
        sizes.push(size);
    }
    shared_total(&placed.scheduled, promotions, &sizes)
}

fn shared_total(scheduled: &Scheduled, promotions: &[Promotion], sizes: &[Vec<i64>]) -> Result<(), StorageError> {
    let mut kernels: BTreeMap<Path, i64> = BTreeMap::new();
    for (it, size) in promotions.iter().zip(sizes).filter(|(it, _)| it.space == MemorySpace::Shared) {
        let around = scheduled.schedule.loops_around(it.anchor);
        let kernel = around.into_iter().find(|(_, it)| matches!(it.tag, Tag::GpuBlock(_))).map(|(path, _)| path);
        let element = scheduled.algorithm.array(it.of).element.bytes() as i64;
        let total = kernels.entry(kernel.unwrap_or_default()).or_default();
        *total = total.saturating_add(size.iter().fold(element, |all, &next| all.saturating_mul(next)));
        if *total > Limit::Shared.bytes() {
            let array = scheduled.algorithm.array(it.of).name.clone();
            return Err(StorageError::TooLarge { array, extents: size.clone(), bytes: *total, limit: Limit::Shared });
        }
    }
    Ok(())
}
