//! What executing a plan asks of a GPU.

use super::{CudaError, DeviceProperties, FunctionProperties, Pools};
use std::time::Duration;
use tessella_codegen::plan::Queue;
use tessella_codegen::program::Blocks;

/// A GPU with queues: what one queue does, happens in the order in which it was asked for; of two queues, only what
/// [`Gpu::wait`] says is in order. Fills, launches and marks go to that of the kernels.
pub trait Gpu {
    /// Device memory; freed when dropped.
    type Buffer;
    /// Compiled code; unloaded when it and its kernels are dropped.
    type Module;
    type Kernel;
    /// A moment in a queue.
    type Event;
    /// Launches, one after the other, that can be made again.
    type Graph;

    fn properties(&self) -> &DeviceProperties;

    /// The memory that its programs keep between calls.
    fn pools(&self) -> &Pools<Self::Buffer>;

    /// Free bytes, and bytes in all.
    fn memory(&self) -> Result<(u64, u64), CudaError>;

    /// Loads PTX or a cubin.
    fn load(&self, image: &[u8]) -> Result<Self::Module, CudaError>;

    fn kernel(&self, module: &Self::Module, name: &str) -> Result<Self::Kernel, CudaError>;

    /// Allocates device memory, whose content is undefined. No bytes are allowed.
    fn alloc(&self, bytes: usize) -> Result<Self::Buffer, CudaError>;

    /// Device memory that belongs to somebody else. Dropping it frees nothing.
    ///
    /// # Safety
    /// There are so many bytes of this GPU's memory at the address, and they outlive the buffer.
    unsafe fn borrow(&self, address: u64, bytes: usize) -> Self::Buffer;

    /// The variable of this name that is declared with a kernel. Dropping it frees nothing.
    fn variable(&self, kernel: &Self::Kernel, name: &str) -> Result<Self::Buffer, CudaError>;

    /// Copies from the host, to the bytes of `to` that begin at `offset`.
    fn copy_in(&self, queue: Queue, to: &Self::Buffer, offset: usize, from: &[u8]) -> Result<(), CudaError>;

    /// Copies to the host, from the bytes of `from` that begin at `offset`, when all that was asked of the queue before is done.
    fn copy_out(&self, queue: Queue, to: &mut [u8], from: &Self::Buffer, offset: usize) -> Result<(), CudaError>;

    /// Copies the first `bytes` of one buffer to another.
    fn copy_on_device(
        &self,
        queue: Queue,
        to: &Self::Buffer,
        from: &Self::Buffer,
        bytes: usize,
    ) -> Result<(), CudaError>;

    /// Copies a box of bytes from the host, to the bytes of `to` that begin at `offset`. What lies between its rows may come along where
    /// they lie apart alike.
    fn copy_box_in(
        &self,
        queue: Queue,
        to: &Self::Buffer,
        offset: usize,
        from: &[u8],
        shape: BoxShape,
    ) -> Result<(), CudaError>;

    /// Copies a box of bytes to the host, from the bytes of `from` that begin at `offset`, when all that was asked of the queue
    /// before is done.
    fn copy_box_out(
        &self,
        queue: Queue,
        to: &mut [u8],
        from: &Self::Buffer,
        offset: usize,
        shape: BoxShape,
    ) -> Result<(), CudaError>;

    /// Copies a box of bytes of one buffer to another; the offsets are where it begins in either.
    fn copy_box_on_device(
        &self,
        queue: Queue,
        to: (&Self::Buffer, usize),
        from: (&Self::Buffer, usize),
        shape: BoxShape,
    ) -> Result<(), CudaError>;

    /// Sets every byte of a buffer.
    fn fill(&self, to: &Self::Buffer, value: u8) -> Result<(), CudaError>;

    /// Has the caches hold what this buffer has, if it is larger than they are, and nothing that is yet to be written to memory.
    fn clear_caches(&self, scratch: &Self::Buffer) -> Result<(), CudaError>;

    /// Starts a kernel and does not wait for it. A grid with no block in it starts nothing.
    ///
    /// # Safety
    /// The arguments are the kernel's parameters, in number, order and type; the kernel stays inside its buffers; and
    /// none of them is dropped before the kernel is done (`synchronize` waits).
    unsafe fn launch(
        &self,
        kernel: &Self::Kernel,
        shape: LaunchShape,
        arguments: &[Argument<'_, Self::Buffer>],
    ) -> Result<(), CudaError>;

    /// Where a buffer begins.
    fn address(&self, buffer: &Self::Buffer) -> u64;

    /// A graph without launches, to which [`Gpu::add`] adds them until [`Gpu::close`].
    fn graph(&self) -> Result<Self::Graph, CudaError>;

    /// Adds what [`Gpu::launch`] would do, for blocks apart.
    fn add(
        &self,
        graph: &mut Self::Graph,
        kernel: &Self::Kernel,
        shape: LaunchShape,
        arguments: &[Argument<'_, Self::Buffer>],
    ) -> Result<(), CudaError>;

    fn close(&self, graph: &mut Self::Graph) -> Result<(), CudaError>;

    /// Starts the launches of a graph, and does not wait for them.
    ///
    /// # Safety
    /// As for [`Gpu::launch`], of each launch that was added; the graph is dropped no sooner than the buffers.
    unsafe fn launch_graph(&self, graph: &Self::Graph) -> Result<(), CudaError>;

    /// The moment when all that was asked of a queue so far is done. It has no time.
    fn record(&self, queue: Queue) -> Result<Self::Event, CudaError>;

    /// What is asked of a queue from now on is done after this moment. The host does not wait, and may drop the moment.
    fn wait(&self, queue: Queue, event: &Self::Event) -> Result<(), CudaError>;

    /// Waits until all that was asked of any queue is done, and tells whether a kernel failed. Even where that fails, nothing is
    /// under way any more.
    fn synchronize(&self) -> Result<(), CudaError>;

    /// What the compiler decided about a kernel.
    fn kernel_properties(&self, kernel: &Self::Kernel) -> Result<FunctionProperties, CudaError>;

    /// How many blocks of so many threads, to each of which the launch gives so many bytes of shared memory, one multiprocessor holds at
    /// once; 0 where no block may have so much.
    fn occupancy(&self, kernel: &Self::Kernel, threads: u32, shared_bytes: u32) -> Result<u32, CudaError>;

    /// Marks the moment when all that has been asked of the kernels' queue so far is done.
    fn mark(&self) -> Result<Self::Event, CudaError>;

    /// Waits for the moment `end`, and tells how long after `start` it came, on the GPU's own clock.
    fn between(&self, start: &Self::Event, end: &Self::Event) -> Result<Duration, CudaError>;
}

/// Rows of bytes, in planes, and how they lie where they come from and where they go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxShape {
    /// Bytes of a row, rows of a plane, planes; none of them is 0.
    pub size: [usize; 3],
    pub from: Apart,
    pub to: Apart,
}

/// How far rows and planes of a box lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Apart {
    /// Bytes from one row to the next.
    pub row: usize,
    /// Rows from one plane to the next.
    pub plane: usize,
}

impl Apart {
    /// The bytes from the first of a box of this size to the last, that one included.
    pub fn span(self, [bytes, rows, planes]: [usize; 3]) -> usize {
        let rows = planes.saturating_sub(1).saturating_mul(self.plane).saturating_add(rows.saturating_sub(1));
        rows.saturating_mul(self.row).saturating_add(bytes)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block. More than a block has by default is asked for by `launch`.
    pub shared_bytes: u32,
    /// Whether the blocks wait for each other. More of them than the device holds at once are refused.
    pub blocks: Blocks,
}

/// One argument of a kernel.
#[derive(Debug)]
pub enum Argument<'a, Buffer> {
    /// Passed as a pointer to the buffer's first byte.
    Buffer(&'a Buffer),
    /// Passed as a pointer that many bytes behind the buffer's first byte, or before it. The kernel stays inside the buffer all the same.
    Displaced(&'a Buffer, i64),
    /// A scalar: its bytes as the machine stores them, then zeros. Made by `Argument::from`.
    Value([u8; 8]),
}

impl<Buffer> Clone for Argument<'_, Buffer> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Buffer> Copy for Argument<'_, Buffer> {}

macro_rules! argument_from {
    ($($scalar:ty),*) => {
        $(impl<Buffer> From<$scalar> for Argument<'_, Buffer> {
            fn from(value: $scalar) -> Self {
                let mut bytes = [0; 8];
                bytes[..size_of::<$scalar>()].copy_from_slice(&value.to_ne_bytes());
                Argument::Value(bytes)
            }
        })*
    };
}

argument_from!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl<Buffer> From<bool> for Argument<'_, Buffer> {
    fn from(value: bool) -> Self {
        Argument::from(u8::from(value))
    }
}
