//! Runs a launch plan on a GPU.

mod ahead;
mod boxes;
mod replay;
mod run;

use super::arguments::{Arguments, Packed, byte_size, parameter_types};
use super::gpu::Gpu;
use super::padded::part_boxes;
use super::pool::{Pool, locked};
use super::watch::Watcher;
use crate::call::{ArgumentValue, ParamType, with_pointers};
use crate::error::RuntimeError;
use replay::{Graphs, Replay};
use run::Run;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::sync::{Arc, Mutex, MutexGuard};
use tessella_codegen::LaunchPlan;
use tessella_codegen::entry::{STATUS_FAILED_LATER, STATUS_OK};
use tessella_codegen::int_expr::Environment;
use tessella_codegen::plan::{DeviceBuffer, DeviceMemory, HostSide, PlannedKernel, Queue, Required, Step};
use tessella_codegen::program::{KernelId, Part};
use tessella_polyhedral::layers::BufferId;
use tessella_polyhedral::machine::MAX_THREADS;

/// A GPU program, loaded. It may be run by several threads at once.
pub struct CudaProgram<G: Gpu> {
    plan: LaunchPlan,
    types: Vec<ParamType>,
    /// The position of each buffer in the plan.
    positions: BTreeMap<BufferId, usize>,
    /// By `KernelId`.
    kernels: Vec<G::Kernel>,
    /// The variables in constant memory, by the buffer's position in the plan.
    constants: BTreeMap<usize, G::Buffer>,
    /// Held by a call that uses them, or kernels whose blocks wait for each other: there is one of each for all calls.
    turn: Mutex<()>,
    /// The kernels whose blocks must all run at once.
    required: Vec<Required>,
    /// Kernels whose blocks ask for shared memory, and when a call comes to them.
    sharing: Vec<Required>,
    /// Keeps the kernels' code; `None` if there are none.
    _module: Option<G::Module>,
    pool: Arc<Mutex<Pool<G::Buffer>>>,
    graphs: Mutex<Graphs<G::Graph>>,
    /// Calls that copy fewer bytes use one queue.
    overlaps_from: u64,
    /// By position, the parts of the buffers that are never copied whole.
    parts: BTreeMap<usize, Vec<Part>>,
    gpu: Arc<G>,
}

impl<G: Gpu> CudaProgram<G> {
    /// Loads what [`compile_cuda`](super::compile_cuda) made of the kernels of this plan.
    pub fn load(gpu: Arc<G>, image: &[u8], plan: LaunchPlan) -> Result<CudaProgram<G>, RuntimeError> {
        let properties = gpu.properties();
        for kernel in &plan.kernels {
            let too_large =
                |limit| RuntimeError::BlockTooLarge { kernel: kernel.name.clone(), block: kernel.block, limit };
            let threads: u64 = kernel.block.iter().map(|&threads| u64::from(threads)).product();
            let limit = limit_of(properties.max_threads_per_block, MAX_THREADS).unsigned_abs();
            if threads > limit {
                return Err(too_large(limit));
            }
            for (&threads, &most) in kernel.block.iter().zip(&properties.max_block) {
                let limit = limit_of(most, MAX_THREADS);
                if i64::from(threads) > limit {
                    return Err(too_large(limit.unsigned_abs()));
                }
            }
        }
        let module = if plan.kernels.is_empty() { None } else { Some(gpu.load(image)?) };
        let mut kernels = vec![];
        if let Some(module) = &module {
            for kernel in &plan.kernels {
                kernels.push(gpu.kernel(module, &kernel.name)?);
            }
        }
        let mut constants = BTreeMap::new();
        for (position, buffer) in plan.buffers.iter().enumerate() {
            match (buffer.memory, kernels.first()) {
                (DeviceMemory::Constant, Some(kernel)) => {
                    constants.insert(position, gpu.variable(kernel, &buffer.name)?);
                }
                // Without kernels, nothing reads it.
                (DeviceMemory::Constant, None) | (DeviceMemory::Allocated, _) => {}
            }
        }
        let types = parameter_types(&plan)?;
        let positions = plan.buffers.iter().enumerate().map(|(position, buffer)| (buffer.id, position)).collect();
        let (required, sharing) = (plan.required(), plan.sharing());
        let (pool, turn, graphs) = (gpu.pools().make(), Mutex::new(()), Mutex::default());
        let asked = env::var(OVERLAP_VARIABLE).ok().and_then(|text| text.trim().parse().ok());
        let overlaps_from = asked.unwrap_or(OVERLAPS_FROM);
        let parts = parts_of(&plan.steps, &positions);
        Ok(CudaProgram {
            plan,
            types,
            positions,
            kernels,
            constants,
            turn,
            required,
            sharing,
            _module: module,
            pool,
            graphs,
            overlaps_from,
            parts,
            gpu,
        })
    }

    pub fn plan(&self) -> &LaunchPlan {
        &self.plan
    }

    pub(super) fn gpu(&self) -> &G {
        &self.gpu
    }

    /// The kernel of this position in the plan.
    pub(super) fn kernel(&self, number: usize) -> &G::Kernel {
        &self.kernels[number]
    }

    /// The types of the parameters of the entry, in order: the same as those of the C entry.
    pub fn parameters(&self) -> &[ParamType] {
        &self.types
    }

    /// The status of the checks at entry alone, in the order of the C entry: 0 if all hold.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub unsafe fn check(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        // SAFETY: promised by the caller.
        unsafe { Arguments::read(&self.plan, &self.types, call) }?.check(&self.plan)
    }

    /// Copies of the arrays that are in the GPU's memory, each with the position of its parameter.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub unsafe fn host_copies(&self, call: Packed<'_>) -> Result<Vec<(usize, Vec<u8>)>, RuntimeError> {
        // SAFETY: promised by the caller.
        let arguments = unsafe { Arguments::read(&self.plan, &self.types, call) }?;
        let mut copies = vec![];
        for (position, address, bytes) in arguments.all_resident(&self.plan)? {
            let mut copy = vec![0; address_size(bytes)];
            // SAFETY: the caller promises that the array is there, and as large as its extents say.
            let buffer = unsafe { self.gpu.borrow(address, copy.len()) };
            self.gpu.copy_out(Queue::Kernels, &mut copy, &buffer, 0)?;
            copies.push((position, copy));
        }
        Ok(copies)
    }

    /// Runs the program. Arrays in the GPU's memory are used where they are: nothing is copied to or from them. The status is that of the checks at
    /// entry, in the order of the C entry: 0 if all hold. A failure on the way is an error, whose
    /// [`status`](RuntimeError::status) a C entry would return.
    ///
    /// # Safety
    /// Each argument points to a value of its parameter's type; arrays are as large as their extents say, whichever
    /// memory they are in, and nobody else writes them meanwhile; image and plan belong together.
    pub unsafe fn run(&self, call: Packed<'_>) -> Result<i32, RuntimeError> {
        // SAFETY: promised by the caller.
        unsafe { self.run_watched(call, None) }
    }

    /// The values of the plan's parameters in a call with these arguments.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn params(&self, call: Packed<'_>) -> Result<Vec<i64>, RuntimeError> {
        // SAFETY: promised by the caller.
        Ok(unsafe { Arguments::read(&self.plan, &self.types, call) }?.environment.params)
    }

    /// Like [`CudaProgram::run`]; what is measured goes to the watcher.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub(super) unsafe fn run_watched(
        &self,
        call: Packed<'_>,
        watcher: Option<&mut Watcher<'_, G>>,
    ) -> Result<i32, RuntimeError> {
        // SAFETY: promised by the caller.
        let arguments = unsafe { Arguments::read(&self.plan, &self.types, call) }?;
        match arguments.check(&self.plan)? {
            STATUS_OK => {}
            status => return Ok(status),
        }
        // SAFETY: promised by the caller.
        if unsafe { arguments.answer_sizes(&self.plan) }? {
            return Ok(STATUS_OK);
        }
        // SAFETY: promised by the caller.
        unsafe { self.run_checked(&arguments, &BTreeMap::new(), watcher) }
    }

    /// The bytes of each buffer, by position, for these values of the parameters.
    pub(super) fn sizes(&self, environment: &Environment) -> Result<Vec<u64>, RuntimeError> {
        self.plan.buffers.iter().map(|buffer| buffer_bytes(buffer, environment)).collect()
    }

    /// The address of the argument at a position that is in the GPU's memory already.
    fn resident_argument(&self, arguments: &Arguments, at: usize) -> Option<u64> {
        match self.plan.buffers[at].host {
            HostSide::Argument(array) => arguments.resident(array),
            HostSide::None | HostSide::Result(_) => None,
        }
    }

    /// The same where kernels use it as it lies.
    pub(super) fn resident(&self, arguments: &Arguments, at: usize) -> Option<u64> {
        self.resident_argument(arguments, at).filter(|_| self.plan.buffers[at].padded.is_none())
    }

    /// The bytes of all buffers that are not in the GPU's memory already, of buffers of these sizes.
    pub(super) fn needed(&self, arguments: &Arguments, sizes: &[u64]) -> u64 {
        let sizes = sizes.iter().enumerate().filter(|(at, _)| self.resident(arguments, *at).is_none());
        sizes.map(|(_, &bytes)| bytes).fold(0, u64::saturating_add)
    }

    /// The bytes of the arrays that may be copied, of buffers of these sizes.
    fn copied(&self, arguments: &Arguments, sizes: &[u64]) -> u64 {
        let sizes = sizes.iter().enumerate().filter(|(at, _)| {
            self.plan.buffers[*at].host != HostSide::None && self.resident_argument(arguments, *at).is_none()
        });
        let copied = |(at, &whole): (usize, &u64)| match self.parts.get(&at) {
            None => whole,
            Some(parts) => {
                let element = self.plan.buffers[at].element.bytes();
                let bytes = parts.iter().filter_map(|part| part_boxes(part, element, &arguments.environment));
                bytes.map(|boxes| boxes.bytes as u64).max().unwrap_or(whole)
            }
        };
        sizes.map(copied).fold(0, u64::saturating_add)
    }

    /// Frees the memory that is kept for further calls, of all programs.
    pub(super) fn release(&self) {
        self.graphs().clear();
        drop(self.gpu.pools().drain());
    }

    /// Runs the steps for arguments that were checked, with only parts of the buffers that have a window. The status is that of the tests on
    /// the way: 0 if none fails.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`]; the kernels use nothing of a buffer outside of its window.
    pub(super) unsafe fn run_checked(
        &self,
        arguments: &Arguments,
        windows: &BTreeMap<usize, Window>,
        watcher: Option<&mut Watcher<'_, G>>,
    ) -> Result<i32, RuntimeError> {
        self.check_required(&arguments.environment)?;
        self.check_sharing(&arguments.environment)?;
        let mut sizes = self.sizes(&arguments.environment)?;
        for (&at, window) in windows {
            sizes[at] = window.room;
        }
        let is_short = self.copied(arguments, &sizes) < self.overlaps_from;
        let mut run = Run {
            program: self,
            environment: arguments.environment.clone(),
            held: self.plan.buffers.iter().map(|_| None).collect(),
            spare: Pool::new(),
            events: BTreeMap::new(),
            is_short,
            replay: Replay::default(),
            before: BTreeMap::new(),
            has_failed: false,
            arguments,
            sizes,
            windows,
            watcher,
        };
        // Until `synchronize` has waited: what a kernel reads must not change under it.
        let _turn = self.plan.takes_turns().then(|| self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        // SAFETY: promised by the caller.
        let done = unsafe { run.steps(&self.plan.steps) };
        let done = done.and(run.watcher.as_mut().map_or(Ok(()), |watcher| watcher.end()).map_err(RuntimeError::from));
        // A kernel that failed is reported here at the latest; and all queues must end before memory is freed, or kept for others.
        let ended = self.gpu.synchronize();
        let result = done.and(ended.map_err(RuntimeError::from));
        let borrowed: Vec<bool> = (0..run.held.len()).map(|at| run.resident(at).is_some()).collect();
        let status = if run.has_failed { STATUS_FAILED_LATER } else { STATUS_OK };
        let Run { held, sizes, before, mut spare, .. } = run;
        before.into_iter().for_each(|(at, copy)| spare.put(address_size(sizes[at]), copy));
        let mut pool = self.pool();
        if result.is_ok() {
            let sizes: Vec<usize> = sizes.into_iter().map(address_size).collect();
            for ((&bytes, buffer), borrowed) in sizes.iter().zip(held).zip(borrowed) {
                if let (Some(buffer), false) = (buffer, borrowed) {
                    pool.put(bytes, buffer);
                }
            }
            spare.drain().into_iter().for_each(|(bytes, buffer)| pool.put(bytes, buffer));
            pool.keep_sizes(&sizes);
        } else {
            // All memory of a call that failed is freed.
            pool.drain();
            self.graphs().clear();
        }
        result.map(|()| status)
    }

    /// Like [`CudaProgram::run`], with values, whose number and types are checked.
    ///
    /// # Safety
    /// As for [`CudaProgram::run`].
    pub unsafe fn call(&self, arguments: &[ArgumentValue]) -> Result<i32, RuntimeError> {
        for (position, (argument, &expected)) in arguments.iter().zip(&self.types).enumerate() {
            if !argument.fits(expected) {
                return Err(RuntimeError::ArgumentType { position, expected, found: argument.kind() });
            }
        }
        // SAFETY: types were checked, `run` checks the number; the rest is promised by the caller.
        with_pointers(arguments, |pointers| unsafe { self.run(Packed::on_host(pointers)) })
    }

    fn pool(&self) -> MutexGuard<'_, Pool<G::Buffer>> {
        locked(&self.pool)
    }

    fn graphs(&self) -> MutexGuard<'_, Graphs<G::Graph>> {
        locked(&self.graphs)
    }

    fn planned(&self, id: KernelId) -> Result<(&PlannedKernel, &G::Kernel), RuntimeError> {
        let at = id.0 as usize;
        let found = self.plan.kernels.get(at).zip(self.kernels.get(at));
        found.ok_or_else(|| malformed(format!("there is no kernel {}", id.0)))
    }

    /// How many blocks of a kernel run at once; 0 where the device runs no blocks that wait for each other.
    fn held_at_once(&self, id: KernelId) -> Result<i64, RuntimeError> {
        let (planned, kernel) = self.planned(id)?;
        let properties = self.gpu.properties();
        if properties.launches_together == 0 {
            return Ok(0);
        }
        let each = self.gpu.occupancy(kernel, planned.block.iter().product(), planned.dynamic)?;
        Ok(i64::from(each) * i64::from(properties.multiprocessors))
    }

    /// Whether blocks can have the shared memory that they ask for, with these parameters.
    fn check_sharing(&self, environment: &Environment) -> Result<(), RuntimeError> {
        let properties = self.gpu.properties();
        let limit = properties.shared_bytes_per_block.max(properties.shared_bytes_per_block_opt_in);
        // A device that does not say lets launches fail.
        let Some(limit) = u32::try_from(limit).ok().filter(|&limit| limit > 0) else { return Ok(()) };
        for it in &self.sharing {
            let (planned, kernel) = self.planned(it.kernel)?;
            let comes = it.when.evaluate(environment);
            let comes = comes.ok_or_else(|| malformed(format!("whether `{}` runs cannot be told", planned.name)))?;
            if comes {
                let declared = self.gpu.kernel_properties(kernel)?.shared_bytes.unsigned_abs();
                let bytes = planned.dynamic.saturating_add(declared);
                if bytes > limit {
                    return Err(RuntimeError::SharedTooLarge { kernel: planned.name.clone(), bytes, limit });
                }
            }
        }
        Ok(())
    }

    /// Whether the blocks run at once that have to, with these parameters.
    fn check_required(&self, environment: &Environment) -> Result<(), RuntimeError> {
        for it in &self.required {
            let (planned, _) = self.planned(it.kernel)?;
            let comes = it.when.evaluate(environment);
            let blocks = comes.and_then(|comes| if comes { planned.grid[0].evaluate(environment) } else { Some(0) });
            let blocks =
                blocks.ok_or_else(|| malformed(format!("the blocks of `{}` cannot be counted", planned.name)))?;
            if blocks > 0 {
                let held = self.held_at_once(it.kernel)?;
                if blocks > held {
                    return Err(too_many_together(planned, blocks, held));
                }
            }
        }
        Ok(())
    }

    fn position(&self, buffer: BufferId) -> Result<usize, RuntimeError> {
        self.positions
            .get(&buffer)
            .copied()
            .ok_or_else(|| malformed(format!("buffer {} is not on the device", buffer.0)))
    }
}

/// The parts of each buffer that steps copy, by its position, where none copies all of it.
fn parts_of(steps: &[Step], positions: &BTreeMap<BufferId, usize>) -> BTreeMap<usize, Vec<Part>> {
    let (mut all, mut whole): (BTreeMap<usize, Vec<Part>>, BTreeSet<usize>) = Default::default();
    for step in steps {
        step.walk(&mut |step| match step {
            Step::CopyPart { buffer, part, .. } => {
                if let Some(&at) = positions.get(buffer) {
                    all.entry(at).or_default().push(part.clone());
                }
            }
            Step::CopyIn(buffer) | Step::CopyOut(buffer) => whole.extend(positions.get(buffer)),
            _ => {}
        });
    }
    all.retain(|at, _| !whole.contains(at));
    all
}

/// The part of an argument's or a result's memory that its buffer holds. Kernels get the address at which the whole would begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    /// The buffer's bytes: those of the part, and up to `ALIGNMENT` before it, so that the whole would begin at an aligned address.
    pub(super) room: u64,
    /// The bytes of the whole that the buffer has.
    pub(super) part: (u64, u64),
    /// Those that are copied back.
    pub(super) result: Option<(u64, u64)>,
    /// Whether the part is overwritten before it is read, so that it need not be copied in.
    pub(super) is_overwritten: bool,
}

/// What allocated memory is aligned to, in bytes.
pub(super) const ALIGNMENT: u64 = 256;

impl Window {
    /// Where the part begins in the buffer.
    fn pad(&self) -> u64 {
        self.part.0 % ALIGNMENT
    }
}

/// The memory of a buffer.
fn held<'a, G: Gpu>(
    program: &'a CudaProgram<G>,
    held: &'a [Option<G::Buffer>],
    buffer: BufferId,
) -> Result<&'a G::Buffer, RuntimeError> {
    let at = program.position(buffer)?;
    let held = held[at].as_ref().or_else(|| program.constants.get(&at));
    held.ok_or_else(|| malformed(format!("buffer {} is used before it is allocated", buffer.0)))
}

fn buffer_bytes(buffer: &DeviceBuffer, environment: &Environment) -> Result<u64, RuntimeError> {
    let extents: Option<Vec<i64>> = buffer.extents.iter().map(|extent| extent.evaluate(environment)).collect();
    let extents = extents.ok_or_else(|| malformed(format!("the size of `{}` cannot be evaluated", buffer.name)))?;
    Ok(byte_size(buffer.element, &extents))
}

/// A size as addresses count; more than there are addresses is more than there is memory.
fn address_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Names a number of bytes: calls that copy fewer do one thing after the other.
pub const OVERLAP_VARIABLE: &str = "TESSELLA_GPU_OVERLAP";
/// A bus takes some twenty microseconds for so many bytes: waiting for events of other queues takes a part of that.
const OVERLAPS_FROM: u64 = 1 << 19;

/// The driver's status for more blocks than run at once.
const TOO_MANY_TOGETHER: i32 = 720;

/// A kernel has so many blocks, and the device runs no more of them at once than these.
fn too_many_together(planned: &PlannedKernel, blocks: i64, held: i64) -> RuntimeError {
    RuntimeError::TooManyTogether { kernel: planned.name.clone(), blocks, shared_bytes: planned.dynamic, held }
}

/// What the device says, or what all devices allow if it does not.
fn limit_of(device: i32, all: i64) -> i64 {
    if device > 0 { i64::from(device) } else { all }
}

pub(super) fn malformed(what: String) -> RuntimeError {
    RuntimeError::MalformedPlan(what)
}

#[cfg(test)]
#[path = "execute_tests.rs"]
pub(super) mod tests;

#[cfg(test)]
#[path = "failure_tests.rs"]
mod failure_tests;

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod ahead_tests;
