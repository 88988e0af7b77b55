//! Copies of parts of arrays, and of arrays that lie otherwise in the memory of the GPU.

use super::run::Run;
use super::{held, malformed};
use crate::cuda::gpu::Gpu;
use crate::cuda::padded::{self, Boxes};
use crate::cuda::watch::{Results, Watcher};
use crate::error::RuntimeError;
use tessella_codegen::plan::Queue;
use tessella_codegen::program::Part;
use tessella_polyhedral::layers::{BufferId, Direction};

impl<G: Gpu> Run<'_, '_, G> {
    /// How the array of the buffer at a position is copied, if it lies otherwise in there.
    pub(super) fn boxes(&self, at: usize) -> Result<Option<Boxes>, RuntimeError> {
        let buffer = &self.program.plan.buffers[at];
        let Some(padded) = &buffer.padded else { return Ok(None) };
        let boxes = padded::boxes(padded, buffer.element.bytes(), &self.environment);
        boxes.map(Some).ok_or_else(|| malformed(format!("the size of `{}` cannot be evaluated", buffer.name)))
    }

    /// Copies a part of an argument.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn copy_part(
        &mut self,
        buffer: BufferId,
        direction: Direction,
        part: &Part,
    ) -> Result<(), RuntimeError> {
        let (at, host) = self.sides(buffer)?;
        let planned = &self.program.plan.buffers[at];
        if self.windows.contains_key(&at) {
            return Err(malformed(format!("a slice copies a part of `{}`", planned.name)));
        }
        if self.resident(at).is_some() {
            return Ok(());
        }
        let boxes = padded::part_boxes(part, planned.element.bytes(), &self.environment);
        let boxes = boxes.ok_or_else(|| malformed(format!("a part of `{}` is not inside of it", planned.name)))?;
        if boxes.bytes == 0 {
            return Ok(());
        }
        match direction {
            // SAFETY: promised by the caller.
            Direction::HostToDevice => unsafe { self.copy_in_boxes(buffer, at, host, &boxes) },
            // SAFETY: promised by the caller.
            Direction::DeviceToHost => unsafe { self.copy_out_boxes(buffer, at, host, &boxes) },
        }
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn copy_in_boxes(
        &mut self,
        buffer: BufferId,
        at: usize,
        host: *mut u8,
        boxes: &Boxes,
    ) -> Result<(), RuntimeError> {
        let (gpu, queue) = (&*self.program.gpu, self.queue(Queue::In));
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.end()?;
        }
        let to = held(self.program, &self.held, buffer)?;
        if let Some(address) = self.program.resident_argument(self.arguments, at) {
            // SAFETY: the caller promises that the array is there, and as large as its extents say.
            let from = unsafe { gpu.borrow(address, boxes.array_bytes) };
            return Ok(boxes.copy_from_array(gpu, queue, to, &from)?);
        }
        // SAFETY: the caller promises that an argument is as large as its extents say, which the plan repeats.
        let from = unsafe { std::slice::from_raw_parts(host, boxes.array_bytes) };
        Ok(match self.watcher.as_mut() {
            Some(watcher) => {
                Watcher::<G>::copied(&mut watcher.copied_in, boxes.bytes, || boxes.copy_in(gpu, queue, to, from))
            }
            None => boxes.copy_in(gpu, queue, to, from),
        }?)
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn copy_out_boxes(
        &mut self,
        buffer: BufferId,
        at: usize,
        host: *mut u8,
        boxes: &Boxes,
    ) -> Result<(), RuntimeError> {
        let (gpu, queue) = (&*self.program.gpu, self.queue(Queue::Out));
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.end()?;
        }
        let from = held(self.program, &self.held, buffer)?;
        if let Some(address) = self.program.resident_argument(self.arguments, at) {
            let is_left = self.watcher.as_ref().is_some_and(|watcher| watcher.results == Results::Left);
            // SAFETY: as for `copy_in_boxes`; and nobody else uses the memory meanwhile.
            let to = unsafe { gpu.borrow(address, boxes.array_bytes) };
            return if is_left { Ok(()) } else { Ok(boxes.copy_to_array(gpu, queue, &to, from)?) };
        }
        // SAFETY: as for `copy_in_boxes`; and nobody else uses the memory meanwhile.
        let to = unsafe { std::slice::from_raw_parts_mut(host, boxes.array_bytes) };
        Ok(match self.watcher.as_mut() {
            Some(watcher) => match watcher.results {
                Results::Left => Ok(()),
                Results::CopiedOut => {
                    gpu.synchronize()?;
                    Watcher::<G>::copied(&mut watcher.copied_out, boxes.bytes, || boxes.copy_out(gpu, queue, to, from))
                }
            },
            None => boxes.copy_out(gpu, queue, to, from),
        }?)
    }
}
