//! Moments of streams. `cust` destroys an event that a stream waits for, so these are the driver's own.

use crate::failure::{Failure, Named};
use crate::{abi, borrow_handle, in_context, on_stream, store, store_handle, take_handle};
use cust::sys;
use std::ptr;

/// What an event handle points to.
struct Event(sys::CUevent);

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the event is the driver's own handle, and this is its last use; what still waits for it, the driver keeps.
        unsafe { sys::cuEventDestroy_v2(self.0) };
    }
}

impl Event {
    fn wait(&self) -> Result<(), Failure> {
        // SAFETY: the event is the driver's own handle.
        unsafe { sys::cuEventSynchronize(self.0) }.named("cuEventSynchronize")
    }
}

pub unsafe extern "C" fn create(context: *mut abi::Context, timed: u32, event: *mut *mut abi::Event) -> i32 {
    in_context("event_create", context, |_| {
        let flags = match timed {
            0 => sys::CUevent_flags::CU_EVENT_DISABLE_TIMING,
            _ => sys::CUevent_flags::CU_EVENT_DEFAULT,
        };
        let mut created = ptr::null_mut();
        // SAFETY: `created` outlives the call.
        unsafe { sys::cuEventCreate(&mut created, flags as u32) }.named("cuEventCreate")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store_handle(event, Event(created)) }
    })
}

pub unsafe extern "C" fn destroy(context: *mut abi::Context, event: *mut abi::Event) -> i32 {
    in_context("event_destroy", context, |_| {
        // SAFETY: the handle is from `create`, and the caller gives it up.
        drop(unsafe { take_handle::<Event, _>(event) }?);
        Ok(())
    })
}

pub unsafe extern "C" fn record(context: *mut abi::Context, event: *mut abi::Event, stream: *mut abi::Stream) -> i32 {
    on_stream("event_record", context, stream, |stream| {
        // SAFETY: the handle is from `create` and not yet destroyed.
        let event = unsafe { borrow_handle::<Event, _>("event_record", event) }?;
        // SAFETY: both are the driver's own handles.
        unsafe { sys::cuEventRecord(event.0, stream.as_inner()) }.named("cuEventRecord")
    })
}

/// Lets a stream wait.
pub unsafe extern "C" fn hold(context: *mut abi::Context, stream: *mut abi::Stream, event: *mut abi::Event) -> i32 {
    on_stream("stream_wait", context, stream, |stream| {
        // SAFETY: the handle is from `create` and not yet destroyed.
        let event = unsafe { borrow_handle::<Event, _>("stream_wait", event) }?;
        // SAFETY: both are the driver's own handles.
        unsafe { sys::cuStreamWaitEvent(stream.as_inner(), event.0, 0) }.named("cuStreamWaitEvent")
    })
}

/// Lets the host wait.
pub unsafe extern "C" fn wait(context: *mut abi::Context, event: *mut abi::Event) -> i32 {
    in_context("event_wait", context, |_| {
        // SAFETY: the handle is from `create` and not yet destroyed.
        unsafe { borrow_handle::<Event, _>("event_wait", event) }?.wait()
    })
}

pub unsafe extern "C" fn elapsed(
    context: *mut abi::Context,
    start: *mut abi::Event,
    end: *mut abi::Event,
    milliseconds: *mut f32,
) -> i32 {
    in_context("event_elapsed", context, |_| {
        // SAFETY: the handles are from `create` and not yet destroyed.
        let (start, end) = unsafe {
            (borrow_handle::<Event, _>("event_elapsed", start)?, borrow_handle::<Event, _>("event_elapsed", end)?)
        };
        end.wait()?;
        let mut found = 0.0;
        // SAFETY: both are the driver's own handles, and `found` outlives the call.
        unsafe { sys::cuEventElapsedTime(&mut found, start.0, end.0) }.named("cuEventElapsedTime")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store(milliseconds, found) }
    })
}
