//! `pad`: elements of a buffer that nothing uses, so that columns begin where memory is read fastest.
//!
//! Rewrite: `buffer[m, n], A[i, j] -> buffer[i, j]  ->  buffer[c * ceil((b + m) / c) + p, n + q], A[i, j] -> buffer[b + i, j]`
//! for `pad(A, (p, q); before=b, multiple=c)`.
//!
//! Numbers are those of the array's axes, columns those of the buffer: they differ under `axes=(2, 1)`.
//!
//! A copy of an argument on the GPU is a buffer like any other; copies to and from it move the argument's own elements only. On a
//! CPU, arguments lie where the caller has them.

use super::error::StorageError;
use super::find;
use super::promote::{self, Promotion};
use crate::affine::{Affine, AffineOverflow};
use crate::algorithm::{Algorithm, ArrayId, ArrayKind};
use crate::command::Columns;
use crate::layers::{BufferId, Placed, Target};

/// Pads the promoted parts of an array; where there are none, its own buffer.
///
/// # Errors
/// [`StorageError::CallersMemory`], [`StorageError::NotPadded`], [`StorageError::AxisCount`], [`StorageError::TooLarge`].
pub(super) fn carry_out(
    source: &Algorithm,
    placed: &mut Placed,
    promotions: &[Promotion],
    name: &str,
    by: &[u32],
    columns: Columns,
) -> Result<(), StorageError> {
    let array = find::array(source, name)?;
    let mut buffers: Vec<(BufferId, Option<&Promotion>)> = vec![];
    for it in promotions.iter().filter(|it| it.of == array) {
        buffers.push((placed.layout.placement(it.array).buffer, Some(it)));
    }
    if buffers.is_empty() {
        check_own(source, placed, array)?;
        buffers.push((placed.layout.placement(array).buffer, None));
    }
    for (id, promotion) in buffers {
        let buffer = &mut placed.layout.buffers[id.0 as usize];
        let axes = match promotion {
            Some(it) if !buffer.extents.is_empty() => it.rank(),
            Some(_) | None => buffer.extents.len(),
        };
        if axes != by.len() {
            return Err(StorageError::AxisCount { array: name.to_string(), axes, given: by.len() });
        }
        let too_large = |_: AffineOverflow| StorageError::TooLargeNumber;
        if let Some(first) = buffer.extents.first_mut() {
            *first = length(first, columns).map_err(too_large)?;
        }
        for (axis, more) in by.iter().enumerate() {
            let place = promotion.map_or(Some(axis), |it| it.place_of(axis));
            let Some(extent) = place.and_then(|it| buffer.extents.get_mut(it)) else { continue };
            *extent = extent.add_constant(i64::from(*more)).map_err(too_large)?;
        }
        for placement in placed.layout.placements.values_mut().filter(|it| it.buffer == id) {
            if let Some(first) = placement.map.first_mut() {
                *first = first.add_constant(i64::from(columns.before)).map_err(too_large)?;
            }
        }
    }
    promote::check_sizes(placed, promotions)
}

/// The length of a column of so many elements, with what stands before them.
fn length(elements: &Affine, columns: Columns) -> Result<Affine, AffineOverflow> {
    let multiple = i64::from(columns.multiple);
    let with = elements.add_constant(i64::from(columns.before))?;
    if multiple == 1 {
        return Ok(with);
    }
    with.add_constant(multiple - 1)?.floor_div(multiple).scale(multiple)
}

/// Whether an array's own buffer may have another shape than the array.
fn check_own(source: &Algorithm, placed: &Placed, array: ArrayId) -> Result<(), StorageError> {
    let name = source.array(array).name.clone();
    match (source.array(array).kind, placed.scheduled.target) {
        (ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned, Target::Cpu) => {
            return Err(StorageError::CallersMemory { array: name });
        }
        (ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned, Target::Gpu) => {}
        (ArrayKind::Private | ArrayKind::Local { .. }, Target::Cpu | Target::Gpu) => {}
    }
    let reason = if placed.constants.contains(&array) {
        "it is copied to constant memory as it lies"
    } else if placed.layout.streams.iter().any(|it| it.stream.fields.iter().any(|field| field.array == array)) {
        "a loop over time streams it"
    } else {
        return Ok(());
    };
    Err(StorageError::NotPadded { array: name, reason })
}
