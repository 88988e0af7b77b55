//! Rows of tiles that begin as far inside of 16 bytes as the columns of the matrix that copies ahead fill them from.
//!
//! Rewrite: `buffer[x, y] -> buffer[x + (first + column * (y + row)) mod lanes, y]`, where the padding of the buffer's columns has room for it.
//!
//! Both sides of a copy then have vectors of 16 bytes at the same places, whatever the size of the matrix is.

use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, Algorithm, ComputationId};
use crate::layers::{BufferId, Layout, MemorySpace};
use crate::machine::VECTOR_BYTES;

/// By how many elements the rows of a tile are shifted: each as far as its first element lies behind a multiple of 16 bytes in the matrix
/// that it is copied from. Row `y` of the tile begins with element `first + column * (y + row)` of the matrix, but for whole vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// The matrix.
    pub of: BufferId,
    /// Elements of a vector.
    pub lanes: i64,
    pub first: i64,
    /// How long the columns of the matrix are.
    pub column: Affine,
    pub row: i64,
    /// Elements of a row that copies fill; what it has beyond them is padding.
    pub filled: i64,
}

/// How the rows are shifted that a copy ahead fills, so many elements of each, once buffers have their padding; `None` if they are not.
pub(super) fn lead(algorithm: &Algorithm, layout: &Layout, copy: ComputationId, filled: i64) -> Option<Lead> {
    let (write, read) = (&algorithm.computation(copy).write, algorithm.copied_by(copy)?);
    let (own, other) = (layout.placement(write.array), layout.placement(read.array));
    let (tile, matrix) = (layout.buffer(own.buffer), layout.buffer(other.buffer));
    let loads = matrix.space == MemorySpace::Global && tile.space == MemorySpace::Shared;
    let array = algorithm.array(read.array);
    let lanes = VECTOR_BYTES / i64::from(array.element.bytes());
    if !loads || !array.strided.is_empty() || lanes < 2 {
        return None;
    }
    // A row, a column and a stage.
    let is_tile = tile.extents.len() == 3 && own.map.first()?.constant_term() == -1;
    let pitch = tile.extents.first()?.as_constant()?;
    let fits = pitch % lanes == 0 && filled % lanes == 0 && pitch - filled >= lanes - 1;
    if !is_tile || matrix.extents.len() != 2 || !fits {
        return None;
    }
    let (to, from) = (places(layout, write)?, places(layout, read)?);
    // Whatever tile it is, its place in the matrix is one that many vectors fit into.
    let apart = |axis: usize| -> Option<i64> {
        let apart = from[axis].sub(&to[axis]).ok()?;
        let is_whole = |(atom, factor): &(Atom, i64)| matches!(atom, Atom::Iterator(_)) && factor % lanes == 0;
        apart.terms().iter().all(is_whole).then(|| apart.constant_term())
    };
    let (first, row, column) = (apart(0)?, apart(1)?, matrix.extents[0].clone());
    Some(Lead { of: other.buffer, lanes, first, column, row, filled })
}

/// Where an access lies in its buffer, over the iterators of its computation.
fn places(layout: &Layout, access: &Access) -> Option<Vec<Affine>> {
    let subscripts: Vec<Affine> = access.subscripts.iter().map(|it| it.as_affine().cloned()).collect::<Option<_>>()?;
    layout.placement(access.array).map.iter().map(|place| place.substitute(&subscripts).ok()).collect()
}
