//! `constant`: a small argument that is only read lies in the GPU's constant memory.
//!
//! Rewrite: `w[x], w in global memory -> w[x], w in constant memory`
//!
//! Constant memory is declared with the kernels, so its size is a constant: the most elements that the conditions tested
//! at entry leave room for. The elements lie as they do in the caller's memory, so the copy is one of the whole array.

use super::error::StorageError;
use super::find;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{MemorySpace, Placed, Target};
use crate::relation;

/// Bytes of constant memory that one module of kernels may declare.
pub const CONSTANT_BYTES: i64 = 64 * 1024;

/// A larger bound says no more than that extents are within their range.
const LARGEST: i64 = i32::MAX as i64;

/// Puts an argument into constant memory; on the CPU only the wish is noted.
///
/// # Errors
/// [`StorageError::NotConstant`], [`StorageError::Unbounded`], [`StorageError::ConstantTooLarge`].
pub(super) fn place(ctx: &Ctx, source: &Algorithm, placed: &mut Placed, name: &str) -> Result<(), Error> {
    let id = find::array(source, name)?;
    let reason = match source.array(id).kind {
        ArrayKind::Result | ArrayKind::Returned | ArrayKind::Private | ArrayKind::Local { .. } => {
            Some("the function makes it itself")
        }
        ArrayKind::Argument if source.is_written(id) => Some("the function writes it"),
        ArrayKind::Argument => None,
    };
    if let Some(reason) = reason {
        return Err(StorageError::NotConstant { array: name.to_string(), reason }.into());
    }
    let elements = largest(ctx, source, id)?;
    let bytes = total_bytes(source, id, elements);
    let mut total = bytes;
    for &other in placed.constants.iter().filter(|&&other| other != id) {
        total = total.saturating_add(total_bytes(source, other, largest(ctx, source, other)?));
    }
    let elements = u32::try_from(elements).ok().filter(|_| total <= CONSTANT_BYTES);
    let too_large = StorageError::ConstantTooLarge { array: name.to_string(), bytes, total };
    let elements = elements.ok_or(too_large)?;
    placed.constants.insert(id);
    match placed.scheduled.target {
        Target::Cpu => {}
        Target::Gpu => {
            let buffer = placed.layout.placement(id).buffer;
            placed.layout.buffers[buffer.0 as usize].space = MemorySpace::Constant { elements };
        }
    }
    Ok(())
}

/// The size with what aligns the next array.
pub(crate) fn total_bytes(algorithm: &Algorithm, array: ArrayId, elements: i64) -> i64 {
    let size = i64::from(algorithm.array(array).element.bytes());
    elements.saturating_mul(size).saturating_add(7) / 8 * 8
}

/// The most elements that an argument has in a call that passes the tests at entry, at least 1; `None` where nothing bounds them.
pub(crate) fn most_elements(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId) -> Result<Option<i64>, Error> {
    match largest(ctx, algorithm, id) {
        Ok(elements) => Ok(Some(elements)),
        Err(Error::Storage(StorageError::Unbounded { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

fn largest(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId) -> Result<i64, Error> {
    let mut known = algorithm.context.clone();
    for requirement in &algorithm.requirements {
        known = known.intersect(&requirement.holds)?;
    }
    let inside = relation::index_set(ctx, algorithm, id)?.intersect_params(&known)?;
    if inside.is_empty()? {
        return Ok(1);
    }
    let mut elements = 1i64;
    for axis in 0..algorithm.array(id).rank {
        // The last subscript is the extent.
        let most = inside.dim_max_val(axis as i32)?.to_i64().filter(|most| *most < LARGEST);
        let unbounded = || StorageError::Unbounded { array: algorithm.array(id).name.clone(), axis };
        elements = elements.saturating_mul(most.ok_or_else(unbounded)?.max(1));
    }
    Ok(elements)
}
