//! Arrays of the host that are copied to the GPU ahead of a run, so that another program can look at them there first.

use super::super::arguments::{Arguments, Packed};
use super::super::error::CudaError;
use super::super::gpu::Gpu;
use super::super::padded::part_boxes;
use super::{CudaProgram, address_size};
use crate::error::RuntimeError;
use std::ffi::c_void;
use tessella_codegen::entry::EntryParameter;
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::{DeviceBuffer, DeviceMemory, HostSide, Queue, Step};
use tessella_codegen::program::{BufferAccess, KernelParam, Part};
use tessella_polyhedral::algorithm::ArrayId;
use tessella_polyhedral::layers::{BufferId, Direction};

/// Copies of arguments on the GPU. Dropping it frees them.
pub struct Ahead<'a, G: Gpu> {
    program: &'a CudaProgram<G>,
    copies: Vec<Copied<G::Buffer>>,
}

struct Copied<Buffer> {
    /// The position of the array's parameter.
    position: usize,
    bytes: usize,
    buffer: Buffer,
}

impl<G: Gpu> CudaProgram<G> {
    /// Copies the arrays whose pointers have these positions among the parameters to the GPU, where they are not there yet. `None` if this would
    /// be for nothing: they have fewer bytes than `from`, or a run does not want one of them as it lies and to read alone, or there is no room.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub unsafe fn bring(
        &self,
        call: Packed<'_>,
        positions: &[usize],
        from: u64,
    ) -> Result<Option<Ahead<'_, G>>, RuntimeError> {
        // SAFETY: promised by the caller.
        let arguments = unsafe { Arguments::read(&self.plan, &self.types, call) }?;
        let mut wanted = vec![];
        for &position in positions {
            let Some(&EntryParameter::Pointer(array)) = self.plan.entry.parameters.get(position) else {
                return Ok(None);
            };
            if arguments.resident(array).is_some() {
                continue;
            }
            let (address, bytes) = arguments.range(&self.plan, array)?;
            if !self.is_read_as_it_lies(array, bytes, &arguments.environment) {
                return Ok(None);
            }
            wanted.push((position, address as *const u8, bytes));
        }
        if wanted.iter().map(|(.., bytes)| bytes).fold(0, |sum: u64, &bytes| sum.saturating_add(bytes)) < from {
            return Ok(None);
        }
        let mut ahead = Ahead { program: self, copies: vec![] };
        let done = wanted.into_iter().try_for_each(|(position, address, bytes)| {
            let bytes = address_size(bytes);
            let buffer = self.room(bytes)?;
            if bytes > 0 {
                // SAFETY: the caller promises that the array is there, and as large as its extents say.
                let values = unsafe { std::slice::from_raw_parts(address, bytes) };
                self.gpu.copy_in(Queue::Kernels, &buffer, 0, values)?;
            }
            ahead.copies.push(Copied { position, bytes, buffer });
            Ok(())
        });
        // Dropping the copies must find none under way.
        let ended = self.gpu.synchronize();
        match done {
            Err(CudaError::OutOfMemory { .. }) => Ok(None),
            done => Ok(done.and(ended).map(|()| Some(ahead))?),
        }
    }

    /// Device memory: kept memory of that size, or new; if there is none left, the spare memory of all programs makes room.
    fn room(&self, bytes: usize) -> Result<G::Buffer, CudaError> {
        let kept = self.pool().take(bytes);
        match kept.map_or_else(|| self.gpu.alloc(bytes), Ok) {
            Err(CudaError::OutOfMemory { .. }) => {
                drop(self.gpu.pools().drain());
                self.gpu.alloc(bytes)
            }
            other => other,
        }
    }

    /// Whether a run copies at least half of an argument of so many bytes to memory that is allocated for it, lays it out as on the host, and only
    /// reads it.
    fn is_read_as_it_lies(&self, array: ArrayId, bytes: u64, environment: &Environment) -> bool {
        let of_array = |buffer: &DeviceBuffer| buffer.host == HostSide::Argument(array);
        let Some(at) = self.plan.buffers.iter().position(of_array) else { return false };
        let buffer = &self.plan.buffers[at];
        let written = KernelParam::Buffer { buffer: buffer.id, access: BufferAccess::Write };
        let part = |part: &Part| part_boxes(part, buffer.element.bytes(), environment).map_or(0, |it| it.bytes as u64);
        let copied = self.parts.get(&at).map_or(bytes, |parts| parts.iter().map(part).max().unwrap_or(0));
        buffer.memory == DeviceMemory::Allocated
            && buffer.padded.is_none()
            && comes_only_in(&self.plan.steps, buffer.id)
            && copied >= bytes.div_ceil(2)
            && !self.plan.kernels.iter().any(|kernel| kernel.arguments.contains(&written))
    }
}

/// Whether steps copy the buffer in, or parts of it, and never back.
fn comes_only_in(steps: &[Step], buffer: BufferId) -> bool {
    let (mut comes, mut goes) = (false, false);
    for step in steps {
        step.walk(&mut |step| match step {
            Step::CopyIn(it) => comes |= *it == buffer,
            Step::CopyOut(it) => goes |= *it == buffer,
            Step::CopyPart { buffer: it, direction, .. } if *it == buffer => match direction {
                Direction::HostToDevice => comes = true,
                Direction::DeviceToHost => goes = true,
            },
            _ => {}
        });
    }
    comes && !goes
}

impl<G: Gpu> Ahead<'_, G> {
    /// What `run` makes of the call in which these arrays are on the GPU.
    pub fn with<T>(&self, call: Packed<'_>, run: impl FnOnce(Packed<'_>) -> T) -> T {
        let mut arguments = call.arguments.to_vec();
        let mut on_device: Vec<bool> =
            (0..arguments.len()).map(|position| call.on_device.get(position) == Some(&true)).collect();
        let mut addresses: Vec<u64> = self.copies.iter().map(|it| self.program.gpu.address(&it.buffer)).collect();
        for (copied, address) in self.copies.iter().zip(&mut addresses) {
            arguments[copied.position] = (&raw mut *address).cast::<c_void>();
            on_device[copied.position] = true;
        }
        run(Packed { arguments: &arguments, on_device: &on_device })
    }

    /// Leaves the memory to further calls of the program.
    pub fn keep(self) {
        let mut pool = self.program.pool();
        self.copies.into_iter().for_each(|it| pool.put(it.bytes, it.buffer));
    }
}
