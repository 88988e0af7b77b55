//! One run of a program.

use super::super::arguments::Arguments;
use super::super::error::CudaError;
use super::super::gpu::{Argument, Gpu, LaunchShape};
use super::super::pool::Pool;
use super::super::watch::{Results, Watcher};
use super::replay::Replay;
use super::{CudaProgram, TOO_MANY_TOGETHER, Window, address_size, held, limit_of, malformed, too_many_together};
use crate::error::RuntimeError;
use std::collections::BTreeMap;
use tessella_codegen::entry::MAX_GRID;
use tessella_codegen::int_expr::{Environment, IntExpr};
use tessella_codegen::plan::{Event, Flag, HostSide, Queue, Step};
use tessella_codegen::program::{BufferAccess, KernelId, KernelParam, Width};
use tessella_polyhedral::layers::BufferId;

/// One run of a program.
pub(super) struct Run<'a, 'w, G: Gpu> {
    pub(super) program: &'a CudaProgram<G>,
    pub(super) arguments: &'a Arguments,
    /// Parameters, and the variables of the host's loops.
    pub(super) environment: Environment,
    /// The bytes of each buffer, by position; of a window, its room.
    pub(super) sizes: Vec<u64>,
    /// The parts of buffers that stand for the whole, by position.
    pub(super) windows: &'a BTreeMap<usize, Window>,
    /// The buffers that are allocated now, by position.
    pub(super) held: Vec<Option<G::Buffer>>,
    /// The buffers that were freed on the way. Only this call may have them again: its queues may still use them, in the
    /// order that its plan gives.
    pub(super) spare: Pool<G::Buffer>,
    /// The events that were recorded, by number.
    pub(super) events: BTreeMap<Event, G::Event>,
    /// The queues are one, whatever the plan says.
    pub(super) is_short: bool,
    pub(super) replay: Replay<G>,
    /// Of plans whose tests may fail, what written arguments that are in the GPU's memory held before, by position.
    pub(super) before: BTreeMap<usize, G::Buffer>,
    /// A test has failed: no further step is taken.
    pub(super) has_failed: bool,
    pub(super) watcher: Option<&'a mut Watcher<'w, G>>,
}

impl<G: Gpu> Run<'_, '_, G> {
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn steps(&mut self, steps: &[Step]) -> Result<(), RuntimeError> {
        for step in steps {
            if self.has_failed {
                break;
            }
            match step {
                Step::Allocate(buffer) => {
                    let at = self.program.position(*buffer)?;
                    if self.held[at].is_some() {
                        return Err(malformed(format!("buffer {} is allocated twice", buffer.0)));
                    }
                    let bytes = address_size(self.sizes[at]);
                    self.held[at] = Some(match self.resident(at) {
                        // SAFETY: the caller promises that the array is there, and as large as its extents say.
                        Some(address) => unsafe { self.program.gpu.borrow(address, bytes) },
                        None => self.allocate(bytes)?,
                    });
                    self.keep_before(*buffer, at, bytes)?;
                }
                Step::Free(buffer) => {
                    let at = self.program.position(*buffer)?;
                    let is_resident = self.resident(at).is_some();
                    if let (Some(held), false) = (self.held[at].take(), is_resident) {
                        self.spare.put(address_size(self.sizes[at]), held);
                    }
                }
                // SAFETY: promised by the caller.
                Step::CopyIn(buffer) => unsafe { self.copy_in(*buffer) }?,
                // SAFETY: promised by the caller.
                Step::CopyOut(buffer) => unsafe { self.copy_out(*buffer) }?,
                // SAFETY: promised by the caller.
                Step::CopyPart { buffer, direction, part } => unsafe { self.copy_part(*buffer, *direction, part) }?,
                Step::Clear(buffer) => {
                    self.program.gpu.fill(held(self.program, &self.held, *buffer)?, 0)?;
                }
                Step::LeaveIf(buffer) => self.leave_if(*buffer)?,
                // SAFETY: promised by the caller.
                Step::Launch(kernel) => unsafe { self.launch(*kernel) }?,
                // SAFETY: promised by the caller.
                Step::Together { kernel, apart } => unsafe { self.together(*kernel, apart) }?,
                Step::Synchronize => self.program.gpu.synchronize()?,
                Step::Record { .. } | Step::Wait { .. } if self.is_short => {}
                Step::Record { event, queue } => {
                    self.events.insert(*event, self.program.gpu.record(*queue)?);
                }
                Step::Wait { queue, event } => {
                    if let Some(event) = self.events.get(event) {
                        self.program.gpu.wait(*queue, event)?;
                    }
                }
                // SAFETY: promised by the caller.
                Step::For { .. } => unsafe { self.host_loop(step) }?,
                Step::If { condition, then, otherwise } => {
                    let holds = condition.evaluate(&self.environment);
                    let holds = holds.ok_or_else(|| malformed("a condition cannot be evaluated".to_owned()))?;
                    // SAFETY: promised by the caller.
                    unsafe { self.steps(if holds { then } else { otherwise }) }?;
                }
                Step::Let { variable, value } => {
                    let value = self.value(value)?;
                    self.environment.set(*variable, value);
                }
            }
        }
        Ok(())
    }

    /// Copies an argument that is in the GPU's memory and that kernels write, if it may have to hold again what it holds now.
    fn keep_before(&mut self, buffer: BufferId, at: usize, bytes: usize) -> Result<(), RuntimeError> {
        let plan = &self.program.plan;
        let written = KernelParam::Buffer { buffer, access: BufferAccess::Write };
        let is_written = || plan.kernels.iter().any(|kernel| kernel.arguments.contains(&written));
        if plan.failed.is_none() || self.resident(at).is_none() || bytes == 0 || !is_written() {
            return Ok(());
        }
        let copy = self.allocate(bytes)?;
        let from = held(self.program, &self.held, buffer)?;
        self.program.gpu.copy_on_device(Queue::Kernels, &copy, from, bytes)?;
        self.before.insert(at, copy);
        Ok(())
    }

    /// Whether a loop goes on that data may end.
    pub(super) fn goes_on(&mut self, going: &[Flag]) -> Result<bool, RuntimeError> {
        for flag in going {
            if self.flag(flag.buffer)? != flag.holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The `Bool` in a buffer, when all is done that was asked for before.
    fn flag(&mut self, buffer: BufferId) -> Result<bool, RuntimeError> {
        let (gpu, mut flag) = (&*self.program.gpu, [0]);
        gpu.synchronize()?;
        gpu.copy_out(Queue::Kernels, &mut flag, held(self.program, &self.held, buffer)?, 0)?;
        gpu.synchronize()?;
        Ok(flag != [0])
    }

    /// Ends the call where a test has failed, and puts back what was kept for that.
    fn leave_if(&mut self, buffer: BufferId) -> Result<(), RuntimeError> {
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.end()?;
        }
        if !self.flag(buffer)? {
            return Ok(());
        }
        self.has_failed = true;
        let gpu = &*self.program.gpu;
        for (&at, before) in &self.before {
            let to = self.held[at].as_ref().ok_or_else(|| malformed("an argument was freed too early".to_owned()))?;
            gpu.copy_on_device(Queue::Kernels, to, before, address_size(self.sizes[at]))?;
        }
        Ok(gpu.synchronize()?)
    }

    /// The queue for copies that are meant for this one.
    pub(super) fn queue(&self, meant: Queue) -> Queue {
        if self.is_short { Queue::Kernels } else { self.program.plan.queue(meant) }
    }

    /// Device memory: spare memory of that size, or new; if there is none left, the spare memory of all programs makes room.
    fn allocate(&mut self, bytes: usize) -> Result<G::Buffer, RuntimeError> {
        let kept = self.spare.take(bytes);
        if let Some(buffer) = kept.or_else(|| self.program.pool().take(bytes)) {
            return Ok(buffer);
        }
        let full = match self.program.gpu.alloc(bytes) {
            Err(full @ CudaError::OutOfMemory { .. }) => full,
            other => return Ok(other?),
        };
        let (own, kept) = (self.spare.drain(), self.program.gpu.pools().drain());
        let again = if own.is_empty() && kept.is_empty() {
            Err(full)
        } else {
            // A step before may still use what it gave back.
            let waited = self.program.gpu.synchronize();
            drop((own, kept));
            waited.and_then(|()| self.program.gpu.alloc(bytes))
        };
        again.map_err(|error| match error {
            CudaError::OutOfMemory { free, total, .. } => {
                RuntimeError::DeviceMemory { needed: self.needed(), free, total }
            }
            other => other.into(),
        })
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn copy_in(&mut self, buffer: BufferId) -> Result<(), RuntimeError> {
        let (at, host) = self.sides(buffer)?;
        if let Some(boxes) = self.boxes(at)? {
            // SAFETY: promised by the caller.
            return unsafe { self.copy_in_boxes(buffer, at, host, &boxes) };
        }
        let (skipped, bytes, offset) = match self.windows.get(&at) {
            None => (0, address_size(self.sizes[at]), 0),
            Some(window) if window.is_overwritten => return Ok(()),
            Some(Window { part: (from, to), .. }) => {
                let pad = self.windows[&at].pad();
                (address_size(*from), address_size(to - from), address_size(pad))
            }
        };
        if bytes == 0 {
            return Ok(());
        }
        if let Some(address) = self.resident(at) {
            return match self.program.constants.get(&at) {
                None => Ok(()),
                Some(constant) => {
                    // SAFETY: the caller promises that the array is there, and as large as its extents say.
                    let from = unsafe { self.program.gpu.borrow(address, bytes) };
                    Ok(self.program.gpu.copy_on_device(self.queue(Queue::In), constant, &from, bytes)?)
                }
            };
        }
        // SAFETY: the caller promises that an argument is as large as its extents say, which the plan repeats; a window is
        // part of it.
        let from = unsafe { std::slice::from_raw_parts(host.add(skipped), bytes) };
        let (gpu, queue) = (&*self.program.gpu, self.queue(Queue::In));
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.end()?;
        }
        let to = held(self.program, &self.held, buffer)?;
        Ok(match self.watcher.as_mut() {
            Some(watcher) => {
                Watcher::<G>::copied(&mut watcher.copied_in, bytes, || gpu.copy_in(queue, to, offset, from))
            }
            None => gpu.copy_in(queue, to, offset, from),
        }?)
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn copy_out(&mut self, buffer: BufferId) -> Result<(), RuntimeError> {
        let (at, host) = self.sides(buffer)?;
        if let Some(boxes) = self.boxes(at)? {
            // SAFETY: promised by the caller.
            return unsafe { self.copy_out_boxes(buffer, at, host, &boxes) };
        }
        let (skipped, bytes, offset) = match self.windows.get(&at) {
            None => (0, address_size(self.sizes[at]), 0),
            Some(window) => {
                let unknown = || malformed(format!("buffer {} is copied back and not written", buffer.0));
                let (from, to) = window.result.ok_or_else(unknown)?;
                (address_size(from), address_size(to - from), address_size(window.pad() + from - window.part.0))
            }
        };
        if bytes == 0 || self.resident(at).is_some() {
            return Ok(());
        }
        // SAFETY: as for `copy_in`; and nobody else uses the memory meanwhile.
        let to = unsafe { std::slice::from_raw_parts_mut(host.add(skipped), bytes) };
        let (gpu, queue) = (&*self.program.gpu, self.queue(Queue::Out));
        let from = held(self.program, &self.held, buffer)?;
        Ok(match self.watcher.as_mut() {
            Some(watcher) => {
                watcher.end()?;
                match watcher.results {
                    Results::Left => Ok(()),
                    Results::CopiedOut => {
                        gpu.synchronize()?;
                        Watcher::<G>::copied(&mut watcher.copied_out, bytes, || gpu.copy_out(queue, to, from, offset))
                    }
                }
            }
            None => gpu.copy_out(queue, to, from, offset),
        }?)
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn launch(&mut self, id: KernelId) -> Result<(), RuntimeError> {
        let (planned, _) = self.program.planned(id)?;
        let mut blocks = [0; 3];
        for (blocks, extent) in blocks.iter_mut().zip(&planned.grid) {
            *blocks = self.value(extent)?;
        }
        if blocks.iter().any(|&blocks| blocks <= 0) {
            return Ok(());
        }
        let mut grid = [0; 3];
        for (number, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            let limit = limit_of(self.program.gpu.properties().max_grid[number], MAX_GRID[number]);
            let blocks = blocks[number];
            grid[number] = u32::try_from(blocks)
                .ok()
                .filter(|_| blocks <= limit)
                .ok_or_else(|| RuntimeError::GridTooLarge { kernel: planned.name.clone(), axis, blocks, limit })?;
        }
        // SAFETY: promised by the caller.
        unsafe { self.launch_grid(id, grid) }
    }

    /// Launches all blocks at once, or runs the steps that do the same, if there are any.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn together(&mut self, id: KernelId, apart: &[Step]) -> Result<(), RuntimeError> {
        let (planned, _) = self.program.planned(id)?;
        let most = self.value(&planned.grid[0])?;
        let held = self.program.held_at_once(id)?;
        if most > 0 && most <= held.saturating_mul(planned.blocks.most_turns()) {
            let blocks = u32::try_from(most.min(held)).unwrap_or(u32::MAX);
            // SAFETY: promised by the caller.
            match unsafe { self.launch_grid(id, [blocks, 1, 1]) } {
                // Another process may hold a part of the device.
                Err(RuntimeError::Cuda(CudaError::Driver { code: TOO_MANY_TOGETHER, .. })) => {}
                other => return other,
            }
        }
        if most > 0 && apart.is_empty() {
            return Err(too_many_together(planned, most, held));
        }
        // SAFETY: promised by the caller.
        unsafe { self.steps(apart) }
    }

    /// # Safety
    /// As for [`CudaProgram::run`].
    unsafe fn launch_grid(&mut self, id: KernelId, grid: [u32; 3]) -> Result<(), RuntimeError> {
        let program = self.program;
        let (planned, kernel) = program.planned(id)?;
        if let Some(watcher) = self.watcher.as_mut() {
            watcher.begin()?;
        }
        self.replay.launches += 1;
        let mut recording = self.replay.recording.take();
        let arguments: Result<Vec<Argument<'_, G::Buffer>>, RuntimeError> =
            planned.arguments.iter().map(|param| self.kernel_argument(param, planned.width)).collect();
        let shape = LaunchShape { grid, block: planned.block, shared_bytes: planned.dynamic, blocks: planned.blocks };
        let launched = arguments.and_then(|arguments| match recording.as_mut() {
            Some(graph) => Ok(program.gpu.add(graph, kernel, shape, &arguments)?),
            // SAFETY: the arguments are those that the plan lists for the kernel, and buffers as large as it says;
            // `run` waits for the kernel before any of them is freed.
            None => Ok(unsafe { program.gpu.launch(kernel, shape, &arguments) }?),
        });
        self.replay.recording = recording;
        launched?;
        match self.watcher.as_mut() {
            Some(watcher) => Ok(watcher.launched(id.0 as usize, grid)?),
            None => Ok(()),
        }
    }

    fn kernel_argument(&self, param: &KernelParam, width: Width) -> Result<Argument<'_, G::Buffer>, RuntimeError> {
        match *param {
            KernelParam::Buffer { buffer, access: _ } => {
                let held = held(self.program, &self.held, buffer)?;
                Ok(match self.windows.get(&self.program.position(buffer)?) {
                    None => Argument::Buffer(held),
                    Some(window) => Argument::Displaced(held, window.pad() as i64 - window.part.0 as i64),
                })
            }
            KernelParam::Param(param) => self.integer(&IntExpr::Param(param), width),
            KernelParam::Variable(variable) => self.integer(&IntExpr::Variable(variable), width),
            KernelParam::Scalar(scalar) => self
                .arguments
                .scalar(scalar)
                .map(Argument::Value)
                .ok_or_else(|| malformed(format!("scalar {} is no argument", scalar.0))),
        }
    }

    /// An integer of a kernel's width.
    fn integer(&self, expr: &IntExpr, width: Width) -> Result<Argument<'_, G::Buffer>, RuntimeError> {
        let value = self.value(expr)?;
        match width {
            Width::Wide => Ok(Argument::from(value)),
            Width::Narrow => match i32::try_from(value) {
                Ok(value) => Ok(Argument::from(value)),
                Err(_) => Err(malformed(format!("{value} does not fit in 32 bits"))),
            },
        }
    }

    /// The address of the buffer at a position, if it is an argument that is in the GPU's memory already.
    pub(super) fn resident(&self, at: usize) -> Option<u64> {
        self.program.resident(self.arguments, at)
    }

    /// The bytes of all buffers that are not in the GPU's memory already.
    fn needed(&self) -> u64 {
        self.program.needed(self.arguments, &self.sizes)
    }

    /// The position of a buffer, and the host's memory that it is copied from and to.
    pub(super) fn sides(&self, buffer: BufferId) -> Result<(usize, *mut u8), RuntimeError> {
        let at = self.program.position(buffer)?;
        let host = match self.program.plan.buffers[at].host {
            HostSide::None => None,
            HostSide::Argument(array) | HostSide::Result(array) => self.arguments.pointer(array),
        };
        Ok((at, host.ok_or_else(|| malformed(format!("buffer {} has no memory on the host", buffer.0)))?))
    }

    pub(super) fn value(&self, expr: &IntExpr) -> Result<i64, RuntimeError> {
        expr.evaluate(&self.environment).ok_or_else(|| malformed(format!("{expr:?} cannot be evaluated")))
    }
}
