//! Memory of the first GPU that callers hold on to: arrays that stay there between calls.

use super::c_string;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tessella_codegen::plan::Queue;
use tessella_diagnostics::{IntoDiagnostic, SourceMap, Style, render};
use tessella_runtime::RuntimeError;
use tessella_runtime::cuda::{CudaError, Device, DeviceBuffer, Gpu, default_device};

/// What `tessella_memory` points to.
pub struct Memory {
    buffer: DeviceBuffer,
    device: Arc<Device>,
}

/// The bytes of all memory that is held now.
static HELD: AtomicU64 = AtomicU64::new(0);

impl Memory {
    /// # Errors
    /// Where there is no GPU, or not so much memory.
    pub(super) fn allocate(bytes: u64) -> Result<Memory, CudaError> {
        let device = default_device()?;
        // More than addresses count is more than there is memory. What programs keep for their next calls makes room.
        let buffer = match device.alloc(size(bytes)) {
            Err(CudaError::OutOfMemory { .. }) => {
                drop(device.pools().drain());
                device.alloc(size(bytes))?
            }
            other => other?,
        };
        HELD.fetch_add(bytes, Ordering::Relaxed);
        Ok(Memory { buffer, device })
    }

    pub(super) fn address(&self) -> u64 {
        self.buffer.address()
    }

    /// Copies bytes to the beginning.
    pub(super) fn write(&self, from: &[u8]) -> Result<(), CudaError> {
        self.device.copy_in(Queue::Kernels, &self.buffer, 0, from)
    }

    /// Copies bytes from the beginning.
    pub(super) fn read(&self, to: &mut [u8]) -> Result<(), CudaError> {
        self.device.copy_out(Queue::Kernels, to, &self.buffer, 0)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        HELD.fetch_sub(self.buffer.bytes() as u64, Ordering::Relaxed);
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs the body of an exported function; what fails is remembered for `tessella_memory_failure`.
fn guarded<T>(body: impl FnOnce() -> Result<T, CudaError>) -> Option<T> {
    let text = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Some(value),
        Ok(Err(error)) => render(&SourceMap::default(), &[RuntimeError::from(error).into_diagnostic()], Style::Plain),
        Err(_) => "error: internal error of Tessella: a panic in the runtime\n".to_owned(),
    };
    LAST.with(|last| *last.borrow_mut() = c_string(&text));
    None
}

#[unsafe(no_mangle)]
pub extern "C" fn tessella_memory_allocate(bytes: u64) -> *mut Memory {
    guarded(|| Memory::allocate(bytes)).map_or(ptr::null_mut(), |memory| Box::into_raw(Box::new(memory)))
}

/// # Safety
/// `memory` is null or came from [`tessella_memory_allocate`] and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_free(memory: *mut Memory) {
    if memory.is_null() {
        return;
    }
    // SAFETY: promised by the caller; it was made by `Box::into_raw`.
    let memory = unsafe { Box::from_raw(memory) };
    // A panic while freeing has nobody to go to.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(memory)));
}

/// # Safety
/// As for [`tessella_memory_free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_address(memory: *const Memory) -> u64 {
    // SAFETY: promised by the caller.
    unsafe { memory.as_ref() }.map_or(0, Memory::address)
}

/// # Safety
/// As for [`tessella_memory_free`]; there are so many readable bytes at `from`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_write(
    memory: *const Memory,
    offset: u64,
    from: *const c_void,
    bytes: u64,
) -> i32 {
    // SAFETY: promised by the caller.
    let Some(memory) = (unsafe { memory.as_ref() }) else { return -1 };
    let (offset, bytes) = (size(offset), size(bytes));
    if bytes == 0 {
        return 0;
    }
    let done = guarded(|| {
        // SAFETY: promised by the caller.
        memory
            .device
            .copy_in(Queue::Kernels, &memory.buffer, offset, unsafe { std::slice::from_raw_parts(from.cast(), bytes) })
    });
    if done.is_some() { 0 } else { -1 }
}

/// # Safety
/// As for [`tessella_memory_free`]; there are so many writable bytes at `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_read(memory: *const Memory, offset: u64, to: *mut c_void, bytes: u64) -> i32 {
    // SAFETY: promised by the caller.
    let Some(memory) = (unsafe { memory.as_ref() }) else { return -1 };
    let (offset, bytes) = (size(offset), size(bytes));
    if bytes == 0 {
        return 0;
    }
    let done = guarded(|| {
        // SAFETY: promised by the caller.
        memory.device.copy_out(
            Queue::Kernels,
            unsafe { std::slice::from_raw_parts_mut(to.cast(), bytes) },
            &memory.buffer,
            offset,
        )
    });
    if done.is_some() { 0 } else { -1 }
}

/// # Safety
/// As for [`tessella_memory_free`], for both.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_copy(to: *const Memory, from: *const Memory, bytes: u64) -> i32 {
    // SAFETY: promised by the caller.
    let (Some(to), Some(from)) = (unsafe { (to.as_ref(), from.as_ref()) }) else { return -1 };
    let done = guarded(|| {
        to.device.copy_on_device(Queue::Kernels, &to.buffer, &from.buffer, size(bytes))?;
        to.device.synchronize()
    });
    if done.is_some() { 0 } else { -1 }
}

/// # Safety
/// Each pointer is null or to a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessella_memory_state(held: *mut u64, free: *mut u64, total: *mut u64) -> i32 {
    let Some((free_now, in_all)) = guarded(|| default_device()?.memory()) else { return -1 };
    for (place, value) in [(held, HELD.load(Ordering::Relaxed)), (free, free_now), (total, in_all)] {
        if !place.is_null() {
            // SAFETY: promised by the caller.
            unsafe { place.write(value) };
        }
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn tessella_memory_failure() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// More than addresses count lies outside every buffer.
fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn memory_keeps_what_is_written_or_the_reason_why_there_is_none_is_told() {
        let memory = tessella_memory_allocate(16);
        if memory.is_null() {
            // SAFETY: the text is this thread's, and no call comes between.
            let reason = unsafe { CStr::from_ptr(tessella_memory_failure()) }.to_str().unwrap();
            assert!(reason.starts_with("error[E07"), "{reason}");
            return println!("skipped: {reason}");
        }
        let (values, mut back) = ([1.5f64, 2.5], [0.0f64; 2]);
        // SAFETY: the memory is alive, and all places have 16 bytes.
        unsafe {
            assert_eq!(tessella_memory_write(memory, 0, values.as_ptr().cast(), 16), 0);
            assert_eq!(tessella_memory_read(memory, 0, back.as_mut_ptr().cast(), 16), 0);
            assert_eq!(tessella_memory_read(memory, 8, back.as_mut_ptr().cast(), 16), -1);
            tessella_memory_free(memory);
        }
        assert_eq!(back, values);
    }

    #[test]
    fn null_memory_is_harmless() {
        // SAFETY: null is allowed.
        unsafe {
            assert_eq!(tessella_memory_address(ptr::null()), 0);
            assert_eq!(tessella_memory_read(ptr::null(), 0, ptr::null_mut(), 8), -1);
            tessella_memory_free(ptr::null_mut());
        }
    }
}
