//! Pinned memory of the driver's.

use super::super::error::CudaError;
use super::super::launcher::check;
use super::super::staging::{self, Pinned};
use super::{Context, Event, Stream, Timing};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Memory of the host that stays where it is, and a transfer that uses it.
pub(super) struct PinnedBuffer {
    memory: *mut c_void,
    /// The end of the transfer.
    arrival: Event,
    is_used: bool,
    stream: Arc<Stream>,
    context: Arc<Context>,
}

impl PinnedBuffer {
    pub(super) fn new(context: &Arc<Context>, stream: &Arc<Stream>) -> Result<PinnedBuffer, CudaError> {
        let arrival = Event::new(context, Timing::None)?;
        let mut memory = ptr::null_mut();
        // SAFETY: the context is open, and the place outlives the call.
        check(context.api, unsafe { (context.api.allocate_pinned)(context.handle, staging::CHUNK, &mut memory) })?;
        // SAFETY: the memory was allocated with so many bytes.
        unsafe { memory.cast::<u8>().write_bytes(0, staging::CHUNK) };
        Ok(PinnedBuffer { memory, arrival, is_used: false, stream: stream.clone(), context: context.clone() })
    }

    /// Transfers go to this stream from now on. None is under way: each copy waits for its own.
    pub(super) fn turn_to(&mut self, stream: &Arc<Stream>) {
        self.stream = stream.clone();
    }

    /// Notes that a transfer begins.
    fn mark(&mut self, status: i32) -> Result<(), CudaError> {
        // Should only the mark fail, all that the stream has is waited for.
        check(self.context.api, status)?;
        if let Err(error) = self.arrival.record(&self.stream) {
            return self.stream.synchronize().and(Err(error));
        }
        self.is_used = true;
        Ok(())
    }
}

impl Pinned for PinnedBuffer {
    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the memory has so many bytes, all of which have been written, and only this refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.memory.cast(), staging::CHUNK) }
    }

    fn begin_in(&mut self, to: u64, bytes: usize) -> Result<(), CudaError> {
        let Context { api, handle } = *self.context;
        let bytes = bytes.min(staging::CHUNK);
        // SAFETY: context and stream are alive, the memory has so many bytes and stays until `wait`; the range of the
        // device's memory is a part of one that was checked.
        let status = unsafe { (api.begin_copy_in)(handle, self.stream.handle, to, self.memory, bytes) };
        self.mark(status)
    }

    fn begin_out(&mut self, from: u64, bytes: usize) -> Result<(), CudaError> {
        let Context { api, handle } = *self.context;
        let bytes = bytes.min(staging::CHUNK);
        // SAFETY: as for `begin_in`.
        let status = unsafe { (api.begin_copy_out)(handle, self.stream.handle, self.memory, from, bytes) };
        self.mark(status)
    }

    fn wait(&mut self) -> Result<(), CudaError> {
        if !std::mem::take(&mut self.is_used) {
            return Ok(());
        }
        self.arrival.wait()
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        // SAFETY: the context is open, every copy has waited for its transfers, and this is the memory's last use.
        unsafe { (self.context.api.free_pinned)(self.context.handle, self.memory) };
    }
}

// SAFETY: the memory belongs to the buffer alone.
unsafe impl Send for PinnedBuffer {}
