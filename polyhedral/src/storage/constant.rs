//! `constant`: a small argument that is only read lies in the GPU's constant memory.
//!
//! Rewrite: `w[x], w in global memory -> w[x], w in constant memory`
//!
//! Constant memory is declared with the kernels, so its size is a constant: the most elements that the conditions tested
//! at entry leave room for. Then the elements lie as they do in the caller's memory, and the copy is one of the whole array. Where nothing bounds
//! an extent, the size is that of the box from the first element to the last one that statements read, which are all that is copied:
//!
//! ```text
//! for q in 1:5, p in 1:5; s += w[p, q] * image[i + p - 3, j + q - 3]; end, w of any size -> w in constant memory, 5 x 5
//! ```

use super::error::StorageError;
use super::find;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::error::Error;
use crate::isl::{Ctx, Set};
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
    // Copies of promotions, which take whole tiles, read it, too.
    let now = &placed.scheduled.algorithm;
    let room = room(ctx, now, id)?;
    let elements = room.elements();
    let bytes = total_bytes(source, id, elements);
    let mut total = bytes;
    for &other in placed.constants.iter().filter(|&&other| other != id) {
        total = total.saturating_add(total_bytes(source, other, self::room(ctx, now, other)?.elements()));
    }
    let elements = u32::try_from(elements).ok().filter(|_| total <= CONSTANT_BYTES);
    let too_large = StorageError::ConstantTooLarge { array: name.to_string(), bytes, total };
    let elements = elements.ok_or(too_large)?;
    placed.constants.insert(id);
    match placed.scheduled.target {
        Target::Cpu => {}
        Target::Gpu => {
            let buffer = placed.layout.placement(id).buffer;
            let buffer = &mut placed.layout.buffers[buffer.0 as usize];
            buffer.space = MemorySpace::Constant { elements };
            if let Room::Box(extents) = room {
                buffer.extents = extents.into_iter().map(Affine::constant).collect();
            }
        }
    }
    Ok(())
}

/// The size with what aligns the next array.
pub(crate) fn total_bytes(algorithm: &Algorithm, array: ArrayId, elements: i64) -> i64 {
    let size = i64::from(algorithm.array(array).element.bytes());
    elements.saturating_mul(size).saturating_add(7) / 8 * 8
}

/// What constant memory holds of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Room {
    /// All of it: so many elements at most.
    Whole(i64),
    /// The elements from the first one up to so many along each axis.
    Box(Vec<i64>),
}

impl Room {
    fn elements(&self) -> i64 {
        match self {
            Room::Whole(elements) => *elements,
            Room::Box(extents) => product(extents),
        }
    }
}

/// The most elements of an argument that constant memory holds in a call that passes the tests at entry, at least 1; `None` where nothing bounds
/// them.
pub(crate) fn most_elements(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId) -> Result<Option<i64>, Error> {
    match room(ctx, algorithm, id) {
        Ok(room) => Ok(Some(room.elements())),
        Err(Error::Storage(StorageError::Unbounded { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

fn room(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId) -> Result<Room, Error> {
    let mut known = algorithm.context.clone();
    for requirement in &algorithm.requirements {
        known = known.intersect(&requirement.holds)?;
    }
    let inside = relation::index_set(ctx, algorithm, id)?.intersect_params(&known)?;
    match greatest(&inside, algorithm, id)? {
        Greatest::Known(extents) => Ok(Room::Whole(product(&extents))),
        Greatest::Unbounded(axis) => {
            let unbounded = || StorageError::Unbounded { array: algorithm.array(id).name.clone(), axis };
            let extents = read_box(ctx, algorithm, id, &inside)?.ok_or_else(unbounded)?;
            Ok(Room::Box(extents))
        }
    }
}

/// The box up to the last element along each axis that statements read of those that are `inside`; `None` where nothing bounds it.
fn read_box(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId, inside: &Set) -> Result<Option<Vec<i64>>, Error> {
    let array = algorithm.array(id);
    // Elsewhere subscripts say nothing of places.
    let counts_from_one = (0..array.rank).all(|axis| array.first(axis) == Affine::constant(1));
    if !counts_from_one || !array.strided.is_empty() {
        return Ok(None);
    }
    let mut read = Set::empty(&inside.space()?)?;
    for at in algorithm.accesses().filter(|at| algorithm.access(*at).array == id) {
        let access = algorithm.access(at);
        if !access.is_affine() {
            return Ok(None);
        }
        read = read.union(&relation::access(ctx, algorithm, at.computation, access)?.range()?)?;
    }
    Ok(match greatest(&read.intersect(inside)?, algorithm, id)? {
        Greatest::Known(extents) => Some(extents),
        Greatest::Unbounded(_) => None,
    })
}

fn product(extents: &[i64]) -> i64 {
    extents.iter().fold(1, |product: i64, extent| product.saturating_mul(*extent))
}

enum Greatest {
    /// The greatest subscript along each axis, at least 1.
    Known(Vec<i64>),
    /// Nothing bounds it along this axis.
    Unbounded(u32),
}

fn greatest(elements: &Set, algorithm: &Algorithm, id: ArrayId) -> Result<Greatest, Error> {
    let mut all = vec![];
    if elements.is_empty()? {
        return Ok(Greatest::Known(vec![1; algorithm.array(id).rank as usize]));
    }
    for axis in 0..algorithm.array(id).rank {
        let most = elements.dim_max_val(axis as i32)?.to_i64().filter(|most| *most < LARGEST);
        match most {
            Some(most) => all.push(most.max(1)),
            None => return Ok(Greatest::Unbounded(axis)),
        }
    }
    Ok(Greatest::Known(all))
}
