//! Julia's arrays, tracked by jlrs, as arguments of calls.
//!
//! Tracking is jlrs's borrow checking at run time: an array that is tracked exclusively is tracked by nobody else, so two
//! arguments of a call cannot share memory that the call writes.

use crate::{Argument, CallError, Element};
use jlrs::data::layout::is_bits::IsBits;
use jlrs::data::layout::valid_layout::ValidField;
use jlrs::data::managed::array::ArrayBase;
use jlrs::data::managed::array::dimensions::Dims;
use jlrs::data::managed::array::tracked::{TrackedArrayBase, TrackedArrayBaseMut};
use jlrs::data::types::construct_type::ConstructType;

/// An array that the call only reads.
///
/// # Errors
/// None that an array of Julia's can cause: its extents fit its elements.
pub fn read<'a, T, const N: isize>(array: &'a TrackedArrayBase<'_, '_, T, N>) -> Result<Argument<'a>, CallError>
where
    T: Element + ConstructType + ValidField + IsBits,
{
    let extents = extents(array);
    Argument::read(array.bits_data().into_slice(), &extents)
}

/// An array that the call may write.
///
/// # Errors
/// As for [`read`].
///
/// # Safety
/// As jlrs has it for `bits_data_mut`: nothing that Julia runs meanwhile uses the array.
pub unsafe fn write<'a, T, const N: isize>(
    array: &'a mut TrackedArrayBaseMut<'_, '_, T, N>,
) -> Result<Argument<'a>, CallError>
where
    T: Element + ConstructType + ValidField + IsBits,
{
    let extents = extents(array);
    // SAFETY: promised by the caller.
    Argument::write(unsafe { array.bits_data_mut() }.into_mut_slice(), &extents)
}

/// The extents of an array, one for each axis.
pub fn extents<T, const N: isize>(array: &ArrayBase<'_, '_, T, N>) -> Vec<usize> {
    let dimensions = array.dimensions();
    (0..dimensions.rank()).map(|axis| dimensions.n_elements(axis).unwrap_or(1)).collect()
}
