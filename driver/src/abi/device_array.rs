//! Arrays in the GPU's memory, for calls from Rust.

use super::memory::Memory;
use super::slices::{CallError, Element, shape};
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_runtime::RuntimeError;
use tessella_runtime::cuda::CudaError;
use tessella_scalar::ScalarType;

/// A column-major array in the memory of the first GPU, which stays there between calls.
pub struct DeviceArray {
    memory: Memory,
    element: ScalarType,
    extents: Vec<usize>,
}

impl DeviceArray {
    /// Copies an array to the GPU.
    ///
    /// # Errors
    /// [`CallError::Shape`] unless `data` has as many elements as the extents say; [`CallError::Device`] where there is no
    /// GPU, or not so much memory.
    pub fn from_slice<T: Element>(data: &[T], extents: &[usize]) -> Result<DeviceArray, CallError> {
        shape(extents, data.len())?;
        let bytes = std::mem::size_of_val(data);
        let memory = Memory::allocate(bytes as u64).map_err(failed)?;
        // SAFETY: a slice of elements, which have no padding, seen as the bytes that it is.
        memory.write(unsafe { std::slice::from_raw_parts(data.as_ptr().cast(), bytes) }).map_err(failed)?;
        Ok(DeviceArray { memory, element: T::TYPE, extents: extents.to_vec() })
    }

    /// Copies the elements back to the host.
    ///
    /// # Errors
    /// [`CallError::Element`] or [`CallError::Shape`] where `to` has elements of another type or another number of them;
    /// [`CallError::Device`] where the GPU fails.
    pub fn read_into<T: Element>(&self, to: &mut [T]) -> Result<(), CallError> {
        if T::TYPE != self.element {
            return Err(CallError::Element { expected: self.element, given: T::TYPE });
        }
        shape(&self.extents, to.len())?;
        let bytes = std::mem::size_of_val(to);
        // SAFETY: a slice of elements, which have no padding; what is copied there are values of the element type, since
        // nothing else is ever written to the array.
        self.memory.read(unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast(), bytes) }).map_err(failed)
    }

    pub fn element(&self) -> ScalarType {
        self.element
    }

    pub fn extents(&self) -> &[usize] {
        &self.extents
    }

    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }
}

fn failed(error: CudaError) -> CallError {
    let diagnostic = RuntimeError::from(error).into_diagnostic();
    CallError::Device { text: render(&SourceMap::default(), &[diagnostic], Style::Plain) }
}
