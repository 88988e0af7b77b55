//! A real GPU, through the launcher's C interface. Everything here is released when it is dropped, and keeps alive
//! what it belongs to.

mod caches;
mod graph;
mod pinned;

use super::abi::{self, Api, DeviceProperties, FunctionProperties};
use super::error::CudaError;
use super::gpu::{Apart, Argument, BoxShape, Gpu, LaunchShape};
use super::launcher::{self, check, read_text};
use super::pool::Pools;
use super::staging::{self, Lane, Rows};
pub use graph::Graph;
use pinned::PinnedBuffer;
use std::ffi::c_void;
use std::num::NonZero;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;
use tessella_codegen::plan::Queue;
use tessella_codegen::program::Blocks;

/// An open GPU, with streams of its own that its copies, fills and launches go to.
pub struct Device {
    name: String,
    properties: DeviceProperties,
    streams: Streams,
    /// What large arrays are copied through; made by the first such copy.
    stage: Mutex<Option<Vec<Lane<PinnedBuffer>>>>,
    pools: Pools<DeviceBuffer>,
    /// What [`Gpu::clear_caches`] reads with, made when it is first called.
    reader: OnceLock<Option<Function>>,
    context: Arc<Context>,
}

/// A stream for each queue.
struct Streams {
    copies_in: Arc<Stream>,
    kernels: Arc<Stream>,
    copies_out: Arc<Stream>,
}

impl Streams {
    fn new(context: &Arc<Context>) -> Result<Streams, CudaError> {
        let new = || Stream::new(context).map(Arc::new);
        Ok(Streams { copies_in: new()?, kernels: new()?, copies_out: new()? })
    }

    fn of(&self, queue: Queue) -> &Arc<Stream> {
        match queue {
            Queue::In => &self.copies_in,
            Queue::Kernels => &self.kernels,
            Queue::Out => &self.copies_out,
        }
    }
}

impl Device {
    /// How many GPUs the driver lists. With the driver's library there and no GPU, that is 0.
    pub fn count() -> Result<u32, CudaError> {
        let api = launcher::api()?;
        let mut count = 0;
        // SAFETY: the place outlives the call.
        match unsafe { (api.device_count)(&mut count) } {
            NO_DEVICE => Ok(0),
            status => check(api, status).map(|()| count),
        }
    }

    pub fn open(index: u32) -> Result<Device, CudaError> {
        let count = Device::count()?;
        if index >= count {
            return Err(CudaError::NoDevice { index, count });
        }
        let api = launcher::api()?;
        let mut handle = ptr::null_mut();
        // SAFETY: the place outlives the call.
        check(api, unsafe { (api.open)(index, &mut handle) })?;
        let context = Arc::new(Context { api, handle });

        let name = read_text(|text, capacity| {
            let mut length = 0;
            // SAFETY: the context is open; `read_text` gives as many writable bytes as it says.
            check(api, unsafe { (api.device_name)(handle, text, capacity, &mut length) }).map(|()| length)
        })?;
        let mut properties = DeviceProperties::default();
        // SAFETY: the context is open, and the place outlives the call.
        check(api, unsafe { (api.device_properties)(handle, &mut properties) })?;
        let streams = Streams::new(&context)?;
        let (stage, pools, reader) = (Mutex::new(None), Pools::default(), OnceLock::new());
        Ok(Device { name, properties, streams, stage, pools, reader, context })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// The compute capability, as 10 * major + minor.
    pub fn capability(&self) -> u32 {
        let DeviceProperties { compute_capability_major: major, compute_capability_minor: minor, .. } = self.properties;
        u32::try_from(10 * major + minor).unwrap_or(0)
    }

    /// The stream that fills and launches go to.
    pub fn stream(&self) -> &Stream {
        &self.streams.kernels
    }

    /// The pinned memory for a copy of so many bytes, for this copy alone; none where it would not pay, or there is none.
    fn stage(&self, queue: Queue, bytes: usize) -> Option<MutexGuard<'_, Option<Vec<Lane<PinnedBuffer>>>>> {
        if bytes < staging::WORTH {
            return None;
        }
        // A panic leaves it as whole as it was.
        let mut stage = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        stage.get_or_insert_with(|| {
            let cores = thread::available_parallelism().map_or(1, NonZero::get);
            let buffer = || PinnedBuffer::new(&self.context, self.streams.of(queue));
            // As many as there is memory for.
            (0..staging::lanes(cores)).map_while(|_| Some([buffer().ok()?, buffer().ok()?])).collect()
        });
        stage.iter_mut().flatten().flatten().for_each(|buffer| buffer.turn_to(self.streams.of(queue)));
        stage.as_ref().is_some_and(|lanes| !lanes.is_empty()).then_some(stage)
    }

    pub fn new_stream(&self) -> Result<Stream, CudaError> {
        Stream::new(&self.context)
    }

    pub fn new_event(&self) -> Result<Event, CudaError> {
        Event::new(&self.context, Timing::Measured)
    }

    /// Like [`Gpu::launch`], on any stream of this device.
    ///
    /// # Safety
    /// As for [`Gpu::launch`]; besides, the stream is ordered against others that use the same buffers.
    pub unsafe fn launch_on(
        &self,
        stream: &Stream,
        function: &Function,
        shape: LaunchShape,
        arguments: &[Argument<'_, DeviceBuffer>],
    ) -> Result<(), CudaError> {
        if shape.grid.contains(&0) {
            return Ok(());
        }
        function.allow_shared(shape.shared_bytes)?;
        let mut values = values_of(arguments);
        let pointers = pointers_to(&mut values);
        let Context { api, handle } = *self.context;
        let launch = match shape.blocks {
            Blocks::Apart => api.launch,
            Blocks::Together | Blocks::Resident => api.launch_together,
        };
        // SAFETY: context, stream and function are alive; the pointers are to as many values as there are; the caller
        // vouches for their types and for the kernel.
        let status = unsafe {
            launch(
                handle,
                stream.handle,
                function.handle,
                &shape.grid,
                &shape.block,
                shape.shared_bytes,
                pointers.as_ptr(),
                pointers.len(),
            )
        };
        check(api, status)
    }
}

impl Gpu for Device {
    type Buffer = DeviceBuffer;
    type Module = Module;
    type Kernel = Function;
    type Event = Event;
    type Graph = Graph;

    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn pools(&self) -> &Pools<DeviceBuffer> {
        &self.pools
    }

    fn memory(&self) -> Result<(u64, u64), CudaError> {
        self.context.memory()
    }

    fn load(&self, image: &[u8]) -> Result<Module, CudaError> {
        let Context { api, handle: context } = *self.context;
        let mut handle = ptr::null_mut();
        // SAFETY: the context is open, the image has as many bytes as said, and the place outlives the call.
        check(api, unsafe { (api.module_load)(context, image.as_ptr().cast(), image.len(), &mut handle) })?;
        Ok(Module { loaded: Arc::new(Loaded { handle, context: self.context.clone() }) })
    }

    fn kernel(&self, module: &Module, name: &str) -> Result<Function, CudaError> {
        module.function(name)
    }

    fn alloc(&self, bytes: usize) -> Result<DeviceBuffer, CudaError> {
        let Context { api, handle } = *self.context;
        let mut address = 0;
        if bytes > 0 {
            // SAFETY: the context is open, and the place outlives the call.
            match unsafe { (api.allocate)(handle, bytes, &mut address) } {
                OUT_OF_MEMORY => {
                    let (free, total) = self.memory()?;
                    return Err(CudaError::OutOfMemory { requested: bytes as u64, free, total });
                }
                status => check(api, status)?,
            }
        }
        Ok(DeviceBuffer { address, bytes, owner: Owner::Allocation(self.context.clone()) })
    }

    unsafe fn borrow(&self, address: u64, bytes: usize) -> DeviceBuffer {
        DeviceBuffer { address, bytes, owner: Owner::Caller }
    }

    fn variable(&self, kernel: &Function, name: &str) -> Result<DeviceBuffer, CudaError> {
        let Context { api, handle: context } = *self.context;
        let (mut address, mut bytes) = (0, 0);
        // SAFETY: context and function are alive, the name has as many bytes as said, and both places outlive the call.
        let status = unsafe {
            (api.function_variable)(context, kernel.handle, name.as_ptr().cast(), name.len(), &mut address, &mut bytes)
        };
        check(api, status)?;
        Ok(DeviceBuffer { address, bytes, owner: Owner::Module(kernel.loaded.clone()) })
    }

    fn copy_in(&self, queue: Queue, to: &DeviceBuffer, offset: usize, from: &[u8]) -> Result<(), CudaError> {
        let Some(address) = to.range(offset, from.len())? else { return Ok(()) };
        if let Some(mut stage) = self.stage(queue, from.len()) {
            return staging::copy_in(stage.as_deref_mut().unwrap_or_default(), address, from);
        }
        let Context { api, handle } = *self.context;
        // SAFETY: context, stream and buffer are alive; both ranges have that many bytes.
        let status =
            unsafe { (api.copy_in)(handle, self.streams.of(queue).handle, address, from.as_ptr().cast(), from.len()) };
        check(api, status)
    }

    fn copy_out(&self, queue: Queue, to: &mut [u8], from: &DeviceBuffer, offset: usize) -> Result<(), CudaError> {
        let Some(address) = from.range(offset, to.len())? else { return Ok(()) };
        if let Some(mut stage) = self.stage(queue, to.len()) {
            return staging::copy_out(stage.as_deref_mut().unwrap_or_default(), to, address);
        }
        let Context { api, handle } = *self.context;
        // SAFETY: context, stream and buffer are alive; both ranges have that many bytes.
        let status =
            unsafe { (api.copy_out)(handle, self.streams.of(queue).handle, to.as_mut_ptr().cast(), address, to.len()) };
        check(api, status)
    }

    fn copy_on_device(
        &self,
        queue: Queue,
        to: &DeviceBuffer,
        from: &DeviceBuffer,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let (Some(to), Some(from)) = (to.range(0, bytes)?, from.range(0, bytes)?) else { return Ok(()) };
        let Context { api, handle } = *self.context;
        // SAFETY: context, stream and buffers are alive; both ranges have that many bytes. A buffer that is dropped
        // before the copy is done is freed only then: the driver waits before it frees.
        check(api, unsafe { (api.copy_on_device)(handle, self.streams.of(queue).handle, to, from, bytes) })
    }

    fn copy_box_in(
        &self,
        queue: Queue,
        to: &DeviceBuffer,
        offset: usize,
        from: &[u8],
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        within(from.len(), shape.from.span(shape.size))?;
        let rows = Rows { size: shape.size, apart: shape.from };
        // What lies between rows comes along: nothing of the buffer is there yet.
        if shape.from == shape.to && rows.are_dense() && self.stage(queue, rows.span()).is_some() {
            return self.copy_in(queue, to, offset, &from[..rows.span()]);
        }
        self.copy_box(queue, to.side(offset, shape.to, shape.size)?, on_host(from.as_ptr(), shape.from), shape.size)
    }

    fn copy_box_out(
        &self,
        queue: Queue,
        to: &mut [u8],
        from: &DeviceBuffer,
        offset: usize,
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        within(to.len(), shape.to.span(shape.size))?;
        let rows = Rows { size: shape.size, apart: shape.from };
        if shape.from == shape.to
            && rows.are_dense()
            && let Some(address) = from.range(offset, rows.span())?
            && let Some(mut stage) = self.stage(queue, rows.span())
        {
            return staging::copy_rows_out(stage.as_deref_mut().unwrap_or_default(), to, address, &rows);
        }
        self.copy_box(queue, on_host(to.as_mut_ptr(), shape.to), from.side(offset, shape.from, shape.size)?, shape.size)
    }

    fn copy_box_on_device(
        &self,
        queue: Queue,
        (to, to_offset): (&DeviceBuffer, usize),
        (from, from_offset): (&DeviceBuffer, usize),
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        let to = to.side(to_offset, shape.to, shape.size)?;
        self.copy_box(queue, to, from.side(from_offset, shape.from, shape.size)?, shape.size)
    }

    fn fill(&self, to: &DeviceBuffer, value: u8) -> Result<(), CudaError> {
        let Some(address) = to.range(0, to.bytes)? else { return Ok(()) };
        let Context { api, handle } = *self.context;
        // SAFETY: context, stream and buffer are alive; the range has that many bytes. A buffer that is dropped before
        // the fill is done is freed only then: the driver waits before it frees.
        check(api, unsafe { (api.fill)(handle, self.stream().handle, address, value, to.bytes) })
    }

    fn clear_caches(&self, scratch: &DeviceBuffer) -> Result<(), CudaError> {
        caches::clear(self, self.reader.get_or_init(|| caches::reader(self)).as_ref(), scratch)
    }

    unsafe fn launch(
        &self,
        kernel: &Function,
        shape: LaunchShape,
        arguments: &[Argument<'_, DeviceBuffer>],
    ) -> Result<(), CudaError> {
        // SAFETY: the caller vouches for the arguments and the kernel, and orders the queues by what they use.
        unsafe { self.launch_on(self.stream(), kernel, shape, arguments) }
    }

    fn address(&self, buffer: &DeviceBuffer) -> u64 {
        buffer.address
    }

    fn graph(&self) -> Result<Graph, CudaError> {
        Graph::new(&self.context)
    }

    fn add(
        &self,
        graph: &mut Graph,
        kernel: &Function,
        shape: LaunchShape,
        arguments: &[Argument<'_, DeviceBuffer>],
    ) -> Result<(), CudaError> {
        kernel.allow_shared(shape.shared_bytes)?;
        graph.add(kernel, shape, arguments)
    }

    fn close(&self, graph: &mut Graph) -> Result<(), CudaError> {
        graph.close()
    }

    unsafe fn launch_graph(&self, graph: &Graph) -> Result<(), CudaError> {
        graph.launch(self.stream())
    }

    fn record(&self, queue: Queue) -> Result<Event, CudaError> {
        let event = Event::new(&self.context, Timing::None)?;
        event.record(self.streams.of(queue))?;
        Ok(event)
    }

    fn wait(&self, queue: Queue, event: &Event) -> Result<(), CudaError> {
        self.streams.of(queue).wait(event)
    }

    fn synchronize(&self) -> Result<(), CudaError> {
        // All are waited for, whichever fails.
        let all = Queue::ALL.map(|queue| self.streams.of(queue).synchronize());
        all.into_iter().collect()
    }

    fn kernel_properties(&self, kernel: &Function) -> Result<FunctionProperties, CudaError> {
        kernel.properties()
    }

    fn occupancy(&self, kernel: &Function, threads: u32, shared_bytes: u32) -> Result<u32, CudaError> {
        let properties = &self.properties;
        let most = properties.shared_bytes_per_block.max(properties.shared_bytes_per_block_opt_in);
        if i64::from(shared_bytes) > i64::from(most) {
            return Ok(0);
        }
        kernel.allow_shared(shared_bytes)?;
        kernel.occupancy(threads, shared_bytes)
    }

    fn mark(&self) -> Result<Event, CudaError> {
        let event = self.new_event()?;
        event.record(self.stream())?;
        Ok(event)
    }

    fn between(&self, start: &Event, end: &Event) -> Result<Duration, CudaError> {
        end.elapsed_since(start)
    }
}

impl Device {
    fn copy_box(&self, queue: Queue, to: abi::BoxSide, from: abi::BoxSide, size: [usize; 3]) -> Result<(), CudaError> {
        let Context { api, handle } = *self.context;
        let copied = abi::CopiedBox { to, from, size };
        // SAFETY: context, stream and buffers are alive; both sides were found to hold the box. A buffer that is dropped before
        // a copy on the device is done is freed only then: the driver waits before it frees.
        check(api, unsafe { (api.copy_box)(handle, self.streams.of(queue).handle, &copied) })
    }
}

/// A side of a box in the host's memory.
fn on_host(address: *const u8, apart: Apart) -> abi::BoxSide {
    abi::BoxSide { address: address as u64, on_host: 1, apart: [apart.row, apart.plane] }
}

/// Refuses a box that the host's memory does not hold.
fn within(bytes: usize, span: usize) -> Result<(), CudaError> {
    if span <= bytes { Ok(()) } else { Err(CudaError::OutsideBuffer { offset: 0, length: span, bytes }) }
}

/// The values of arguments. The driver wants a pointer to each: eight bytes, suitably aligned, hold a value of any type we pass.
fn values_of(arguments: &[Argument<'_, DeviceBuffer>]) -> Vec<u64> {
    let value = |argument: &Argument<'_, DeviceBuffer>| match argument {
        Argument::Buffer(buffer) => buffer.address,
        Argument::Displaced(buffer, bytes) => buffer.address.wrapping_add_signed(*bytes),
        Argument::Value(bytes) => u64::from_ne_bytes(*bytes),
    };
    arguments.iter().map(value).collect()
}

fn pointers_to(values: &mut [u64]) -> Vec<*mut c_void> {
    values.iter_mut().map(|value| ptr::from_mut(value).cast()).collect()
}

/// Bytes of device memory.
pub struct DeviceBuffer {
    address: u64,
    bytes: usize,
    owner: Owner,
}

/// What a buffer's memory belongs to.
enum Owner {
    /// The buffer itself.
    Allocation(Arc<Context>),
    /// A module, whose variable it is; kept alive.
    Module(#[expect(dead_code, reason = "only held")] Arc<Loaded>),
    /// Whoever passed it.
    Caller,
}

impl DeviceBuffer {
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    /// A side of a box in this buffer, which begins at `offset`.
    fn side(&self, offset: usize, apart: Apart, size: [usize; 3]) -> Result<abi::BoxSide, CudaError> {
        let address = self.range(offset, apart.span(size))?.unwrap_or(self.address);
        Ok(abi::BoxSide { address, on_host: 0, apart: [apart.row, apart.plane] })
    }

    /// The address of a range of bytes; `None` for one that has no byte.
    fn range(&self, offset: usize, length: usize) -> Result<Option<u64>, CudaError> {
        match offset.checked_add(length) {
            Some(end) if end <= self.bytes => Ok((length > 0).then(|| self.address + offset as u64)),
            Some(_) | None => Err(CudaError::OutsideBuffer { offset, length, bytes: self.bytes }),
        }
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        match &self.owner {
            Owner::Allocation(context) if self.bytes > 0 => {
                // SAFETY: the context is open, the address is from `allocate`, and this is its last use.
                unsafe { (context.api.free)(context.handle, self.address) };
            }
            Owner::Allocation(_) | Owner::Module(_) | Owner::Caller => {}
        }
    }
}

/// Compiled code on the GPU.
pub struct Module {
    loaded: Arc<Loaded>,
}

impl Module {
    /// Finds a kernel by its name.
    pub fn function(&self, name: &str) -> Result<Function, CudaError> {
        let Context { api, handle: context } = *self.loaded.context;
        let mut handle = ptr::null_mut();
        // SAFETY: context and module are alive, the name has as many bytes as said, and the place outlives the call.
        let status = unsafe {
            (api.module_function)(context, self.loaded.handle, name.as_ptr().cast(), name.len(), &mut handle)
        };
        check(api, status)?;
        Ok(Function { handle, allowed_shared_bytes: AtomicU32::new(0), loaded: self.loaded.clone() })
    }
}

/// A kernel.
pub struct Function {
    handle: *mut abi::Function,
    /// The most dynamic shared memory that the driver was told to allow.
    allowed_shared_bytes: AtomicU32,
    loaded: Arc<Loaded>,
}

impl Function {
    pub fn properties(&self) -> Result<FunctionProperties, CudaError> {
        let Context { api, handle: context } = *self.loaded.context;
        let mut properties = FunctionProperties::default();
        // SAFETY: context and function are alive, and the place outlives the call.
        check(api, unsafe { (api.function_properties)(context, self.handle, &mut properties) })?;
        Ok(properties)
    }

    /// How many blocks of so many threads one multiprocessor holds at once.
    pub fn occupancy(&self, threads_per_block: u32, shared_bytes: u32) -> Result<u32, CudaError> {
        let Context { api, handle: context } = *self.loaded.context;
        let mut blocks = 0;
        // SAFETY: context and function are alive, and the place outlives the call.
        let status =
            unsafe { (api.occupancy)(context, self.handle, threads_per_block, shared_bytes as usize, &mut blocks) };
        check(api, status)?;
        Ok(blocks)
    }

    /// Asks for more dynamic shared memory than a block has by default, once.
    fn allow_shared(&self, bytes: u32) -> Result<(), CudaError> {
        if bytes <= self.allowed_shared_bytes.load(Ordering::Relaxed) {
            return Ok(());
        }
        let Context { api, handle: context } = *self.loaded.context;
        // SAFETY: context and function are alive.
        check(api, unsafe { (api.allow_shared)(context, self.handle, bytes) })?;
        self.allowed_shared_bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }
}

/// A queue of work.
pub struct Stream {
    handle: *mut abi::Stream,
    context: Arc<Context>,
}

impl Stream {
    fn new(context: &Arc<Context>) -> Result<Stream, CudaError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the context is open, and the place outlives the call.
        check(context.api, unsafe { (context.api.stream_create)(context.handle, &mut handle) })?;
        Ok(Stream { handle, context: context.clone() })
    }

    /// Waits until all work in the queue is done.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context and stream are alive.
        check(api, unsafe { (api.stream_synchronize)(context, self.handle) })
    }
}

impl Stream {
    /// Waits, when it comes to that, for a moment of another queue. The event may be dropped then.
    fn wait(&self, event: &Event) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context, stream and event are alive.
        check(api, unsafe { (api.stream_wait)(context, self.handle, event.handle) })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: the context is open, and this is the stream's last use.
        unsafe { (self.context.api.stream_destroy)(self.context.handle, self.handle) };
    }
}

/// A moment in a stream.
pub struct Event {
    handle: *mut abi::Event,
    context: Arc<Context>,
}

/// Whether an event knows its time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timing {
    None,
    Measured,
}

impl Event {
    fn new(context: &Arc<Context>, timing: Timing) -> Result<Event, CudaError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the context is open, and the place outlives the call.
        check(context.api, unsafe {
            (context.api.event_create)(context.handle, u32::from(timing == Timing::Measured), &mut handle)
        })?;
        Ok(Event { handle, context: context.clone() })
    }

    /// Marks the moment when all work now in the queue is done.
    pub fn record(&self, stream: &Stream) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context, event and stream are alive.
        check(api, unsafe { (api.event_record)(context, self.handle, stream.handle) })
    }

    /// Waits for this moment.
    fn wait(&self) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context and event are alive.
        check(api, unsafe { (api.event_wait)(context, self.handle) })
    }

    /// Waits for this moment, and tells how long after `start` it came, on the GPU's own clock.
    pub fn elapsed_since(&self, start: &Event) -> Result<Duration, CudaError> {
        let Context { api, handle: context } = *self.context;
        let mut milliseconds = 0.0;
        // SAFETY: context and events are alive, and the place outlives the call.
        check(api, unsafe { (api.event_elapsed)(context, start.handle, self.handle, &mut milliseconds) })?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1e3))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: the context is open, and this is the event's last use.
        unsafe { (self.context.api.event_destroy)(self.context.handle, self.handle) };
    }
}

// --- what is shared --------------------------------------------------------------------------------------------------

// Statuses of the driver that mean more than "failed".
const OUT_OF_MEMORY: i32 = 2;
const NO_DEVICE: i32 = 100;

struct Context {
    api: &'static Api,
    handle: *mut abi::Context,
}

impl Context {
    fn memory(&self) -> Result<(u64, u64), CudaError> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the context is open, and both places outlive the call.
        check(self.api, unsafe { (self.api.memory)(self.handle, &mut free, &mut total) })?;
        Ok((free, total))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: everything that belongs to the context holds it, so this is the last use.
        unsafe { (self.api.close)(self.handle) };
    }
}

struct Loaded {
    handle: *mut abi::Module,
    context: Arc<Context>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the context is open, and the module's functions hold it, so this is its last use.
        unsafe { (self.context.api.module_unload)(self.context.handle, self.handle) };
    }
}

// SAFETY: the launcher makes the context current in every call, and the driver's functions may be called from any
// thread and from several at once; handles are only passed to them.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}
// SAFETY: as above.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}
// SAFETY: as above.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}
// SAFETY: as above.
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}
// SAFETY: as above.
unsafe impl Send for Event {}
// SAFETY: as above.
unsafe impl Sync for Event {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Nvrtc;

    /// The first GPU, or why there is none.
    fn device() -> Option<Device> {
        match Device::open(0) {
            Ok(device) => Some(device),
            Err(error @ (CudaError::NoLauncher { .. } | CudaError::NoDriver { .. } | CudaError::NoDevice { .. })) => {
                println!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    #[test]
    fn a_kernel_runs_and_its_result_comes_back() {
        let Some(device) = device() else { return };
        let Ok(nvrtc) = Nvrtc::get() else {
            println!("skipped: no NVRTC (TESSELLA_NVRTC)");
            return;
        };
        let text = "extern \"C\" __global__ void scale(double a, double *x, long long n) {
            long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) x[i] *= a;
        }";
        let compiled = nvrtc.compile(text, "scale.cu", nvrtc.target_for(device.capability()), &[]).unwrap();
        let kernel = device.load(&compiled.image).unwrap().function("scale").unwrap();
        let values: Vec<u8> = (0..1000).flat_map(|i| f64::from(i).to_ne_bytes()).collect();
        let buffer = device.alloc(values.len()).unwrap();
        device.copy_in(Queue::Kernels, &buffer, 0, &values).unwrap();
        let shape = LaunchShape { grid: [8, 1, 1], block: [128, 1, 1], shared_bytes: 0, blocks: Blocks::Apart };
        // SAFETY: the arguments are the parameters of `scale`, which stays below `n`.
        unsafe { device.launch(&kernel, shape, &[2.0.into(), Argument::Buffer(&buffer), 1000i64.into()]) }.unwrap();
        let mut result = vec![0; values.len()];
        device.copy_out(Queue::Kernels, &mut result, &buffer, 0).unwrap();
        let expected: Vec<u8> = (0..1000).flat_map(|i| f64::from(2 * i).to_ne_bytes()).collect();
        assert!(result == expected);
    }

    #[test]
    fn a_request_for_too_much_memory_says_how_much_there_is() {
        let Some(device) = device() else { return };
        let error = device.alloc(1 << 50).err().unwrap();
        assert!(matches!(error, CudaError::OutOfMemory { requested, .. } if requested == 1 << 50), "{error}");
    }

    #[test]
    fn a_copy_outside_a_buffer_is_refused() {
        let Some(device) = device() else { return };
        let buffer = device.alloc(8).unwrap();
        assert!(matches!(device.copy_in(Queue::Kernels, &buffer, 4, &[0; 8]), Err(CudaError::OutsideBuffer { .. })));
    }
}
