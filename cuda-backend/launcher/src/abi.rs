//! The C interface between the crate `runtime` and `libtessella_cuda.so`.
//!
//! Both sides compile this very file, so they cannot disagree on a signature; [`VERSION`] tells apart libraries of
//! different builds. The library exports two symbols:
//!
//! ```c
//! uint32_t tessella_cuda_abi_version(void);   // VERSION
//! const struct Api *tessella_cuda_api(void);  // the table below, valid for ever
//! ```
//!
//! Rules that hold for every function of the table:
//!
//! * It returns a status: 0 is success, a positive number is the driver's own (`CUresult`), a negative one is ours
//!   ([`INVALID_ARGUMENT`], [`PANICKED`]). After any other status than 0, `last_error` has the words, on that thread.
//! * It never unwinds, and writes to its out-pointers only on success.
//! * It may be called from any thread: it makes the context current first.
//! * Handles are opaque, never null when returned, and belong to the context that made them: release all of them
//!   before `close`. A function belongs to its module and ends with it.
//! * Device memory is a plain address, so an offset into it is a sum.
//! * Work goes to a stream and is done in the order given; what is in different streams may be done at once, unless
//!   `stream_wait` says otherwise. `copy_in` and `copy_out` return when the copy is complete;
//!   `begin_copy_in`, `begin_copy_out`, `copy_on_device`, `fill`, `launch`, `event_record` and `stream_wait` return at once, and an
//!   error of a kernel shows up in a later call.

use std::ffi::{c_char, c_void};

pub const VERSION: u32 = 6;

pub const OK: i32 = 0;
/// A null pointer where none may be, or text that is not UTF-8.
pub const INVALID_ARGUMENT: i32 = -1;
/// The library panicked; its state is unknown.
pub const PANICKED: i32 = -2;

/// The symbols to look up.
pub const VERSION_SYMBOL: &[u8] = b"tessella_cuda_abi_version\0";
pub const API_SYMBOL: &[u8] = b"tessella_cuda_api\0";

pub type VersionFn = unsafe extern "C" fn() -> u32;
pub type ApiFn = unsafe extern "C" fn() -> *const Api;

#[repr(C)]
pub struct Context {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Module {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Function {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Stream {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Event {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Graph {
    _opaque: [u8; 0],
}

/// What is fixed about a device.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceProperties {
    pub compute_capability_major: i32,
    pub compute_capability_minor: i32,
    pub multiprocessors: i32,
    pub warp_size: i32,
    pub max_threads_per_block: i32,
    pub max_threads_per_multiprocessor: i32,
    pub max_block: [i32; 3],
    pub max_grid: [i32; 3],
    pub registers_per_block: i32,
    pub registers_per_multiprocessor: i32,
    /// Bytes that a block gets without asking.
    pub shared_bytes_per_block: i32,
    /// Bytes that a block can get when its function asks (`allow_shared`).
    pub shared_bytes_per_block_opt_in: i32,
    pub shared_bytes_per_multiprocessor: i32,
    pub constant_bytes: i32,
    pub l2_bytes: i32,
    pub clock_khz: i32,
    pub memory_clock_khz: i32,
    pub memory_bus_bits: i32,
    /// 1 if the device runs kernels whose blocks wait for each other (`launch_together`).
    pub launches_together: i32,
    /// The CUDA version that the driver supports: 1000 * major + 10 * minor.
    pub driver_version: i32,
    pub memory_bytes: u64,
}

/// What the compiler decided about a function.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionProperties {
    pub registers: i32,
    /// Bytes of shared memory that the function declares with a fixed size.
    pub shared_bytes: i32,
    /// Bytes per thread that spilled registers and addressed arrays take.
    pub local_bytes: i32,
    pub constant_bytes: i32,
    pub max_threads_per_block: i32,
}

/// The parts of the last error: the driver's call, the status by name, and all that is known in words.
pub const ERROR_CALL: u32 = 0;
pub const ERROR_NAME: u32 = 1;
pub const ERROR_DETAIL: u32 = 2;

/// Rows of bytes to copy, a distance apart on either side.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedBox {
    pub to: BoxSide,
    pub from: BoxSide,
    /// Bytes of a row, rows of a plane, planes; none of them is 0.
    pub size: [usize; 3],
}

/// Where a box begins, and how its rows lie.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxSide {
    /// Of the host's memory, or of the device's.
    pub address: u64,
    pub on_host: u32,
    /// Bytes from one row to the next, at most 2^31 - 1 if there is more than one row, and rows from one plane to the next.
    pub apart: [usize; 2],
}

#[repr(C)]
pub struct Api {
    /// Writes at most `capacity` bytes of a part of this thread's last error; returns how many bytes it has in all.
    pub last_error: unsafe extern "C" fn(part: u32, text: *mut c_char, capacity: usize) -> usize,

    pub device_count: unsafe extern "C" fn(count: *mut u32) -> i32,
    /// Opens a device's primary context, which every library of the process shares.
    pub open: unsafe extern "C" fn(device: u32, context: *mut *mut Context) -> i32,
    pub close: unsafe extern "C" fn(context: *mut Context) -> i32,
    /// Writes at most `capacity` bytes of the device's name, and its whole length.
    pub device_name:
        unsafe extern "C" fn(context: *mut Context, text: *mut c_char, capacity: usize, length: *mut usize) -> i32,
    pub device_properties: unsafe extern "C" fn(context: *mut Context, properties: *mut DeviceProperties) -> i32,
    pub memory: unsafe extern "C" fn(context: *mut Context, free: *mut u64, total: *mut u64) -> i32,
    pub synchronize: unsafe extern "C" fn(context: *mut Context) -> i32,

    /// Loads PTX or a cubin. `last_error` has the driver's own log when it compiles PTX and fails.
    pub module_load: unsafe extern "C" fn(
        context: *mut Context,
        image: *const c_void,
        bytes: usize,
        module: *mut *mut Module,
    ) -> i32,
    pub module_unload: unsafe extern "C" fn(context: *mut Context, module: *mut Module) -> i32,
    /// Finds a kernel by its name, which is UTF-8 of `length` bytes without a nul.
    pub module_function: unsafe extern "C" fn(
        context: *mut Context,
        module: *mut Module,
        name: *const c_char,
        length: usize,
        function: *mut *mut Function,
    ) -> i32,
    pub function_properties: unsafe extern "C" fn(
        context: *mut Context,
        function: *mut Function,
        properties: *mut FunctionProperties,
    ) -> i32,
    /// Finds a variable of a kernel's module by its name: its address and size. It ends with the module.
    pub function_variable: unsafe extern "C" fn(
        context: *mut Context,
        function: *mut Function,
        name: *const c_char,
        length: usize,
        address: *mut u64,
        bytes: *mut usize,
    ) -> i32,
    /// Allows launches with up to `bytes` of dynamic shared memory.
    pub allow_shared: unsafe extern "C" fn(context: *mut Context, function: *mut Function, bytes: u32) -> i32,
    /// How many blocks of so many threads one multiprocessor holds at once.
    pub occupancy: unsafe extern "C" fn(
        context: *mut Context,
        function: *mut Function,
        threads_per_block: u32,
        shared_bytes: usize,
        blocks: *mut u32,
    ) -> i32,

    pub allocate: unsafe extern "C" fn(context: *mut Context, bytes: usize, address: *mut u64) -> i32,
    pub free: unsafe extern "C" fn(context: *mut Context, address: u64) -> i32,
    pub copy_in: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        to: u64,
        from: *const c_void,
        bytes: usize,
    ) -> i32,
    pub copy_out: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        to: *mut c_void,
        from: u64,
        bytes: usize,
    ) -> i32,
    /// Memory of the host that stays where it is, so that the device moves it by itself.
    pub allocate_pinned: unsafe extern "C" fn(context: *mut Context, bytes: usize, memory: *mut *mut c_void) -> i32,
    pub free_pinned: unsafe extern "C" fn(context: *mut Context, memory: *mut c_void) -> i32,
    /// Like `copy_in`, from pinned memory, and does not wait.
    pub begin_copy_in: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        to: u64,
        from: *const c_void,
        bytes: usize,
    ) -> i32,
    /// Like `copy_out`, to pinned memory, and does not wait.
    pub begin_copy_out: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        to: *mut c_void,
        from: u64,
        bytes: usize,
    ) -> i32,
    pub copy_on_device:
        unsafe extern "C" fn(context: *mut Context, stream: *mut Stream, to: u64, from: u64, bytes: usize) -> i32,
    /// Returns when the copy is complete if either side is the host's memory, else at once.
    pub copy_box: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream, copied: *const CopiedBox) -> i32,
    pub fill: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream, to: u64, value: u8, bytes: usize) -> i32,

    pub stream_create: unsafe extern "C" fn(context: *mut Context, stream: *mut *mut Stream) -> i32,
    pub stream_destroy: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream) -> i32,
    pub stream_synchronize: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream) -> i32,
    /// What is asked of the stream from now on is done after what the event marks now.
    pub stream_wait: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream, event: *mut Event) -> i32,
    /// `arguments` has one pointer for each parameter of the kernel, to a value of that parameter's type; the values
    /// are read before it returns.
    pub launch: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        function: *mut Function,
        grid: *const [u32; 3],
        block: *const [u32; 3],
        shared_bytes: u32,
        arguments: *const *mut c_void,
        argument_count: usize,
    ) -> i32,

    /// Like `launch`, for a kernel whose blocks all run at once. The driver refuses more blocks than the device holds.
    pub launch_together: unsafe extern "C" fn(
        context: *mut Context,
        stream: *mut Stream,
        function: *mut Function,
        grid: *const [u32; 3],
        block: *const [u32; 3],
        shared_bytes: u32,
        arguments: *const *mut c_void,
        argument_count: usize,
    ) -> i32,

    /// Launches that are made again and again, one after the other: empty at first, then as `graph_add` says, until
    /// `graph_close`.
    pub graph_create: unsafe extern "C" fn(context: *mut Context, graph: *mut *mut Graph) -> i32,
    pub graph_destroy: unsafe extern "C" fn(context: *mut Context, graph: *mut Graph) -> i32,
    /// Adds what `launch` would do.
    pub graph_add: unsafe extern "C" fn(
        context: *mut Context,
        graph: *mut Graph,
        function: *mut Function,
        grid: *const [u32; 3],
        block: *const [u32; 3],
        shared_bytes: u32,
        arguments: *const *mut c_void,
        argument_count: usize,
    ) -> i32,
    pub graph_close: unsafe extern "C" fn(context: *mut Context, graph: *mut Graph) -> i32,
    pub graph_launch: unsafe extern "C" fn(context: *mut Context, stream: *mut Stream, graph: *mut Graph) -> i32,

    /// With `timed` 0, `event_elapsed` does not know it, and waiting for it takes the device less.
    pub event_create: unsafe extern "C" fn(context: *mut Context, timed: u32, event: *mut *mut Event) -> i32,
    pub event_destroy: unsafe extern "C" fn(context: *mut Context, event: *mut Event) -> i32,
    pub event_record: unsafe extern "C" fn(context: *mut Context, event: *mut Event, stream: *mut Stream) -> i32,
    /// Waits until what the event marks is done.
    pub event_wait: unsafe extern "C" fn(context: *mut Context, event: *mut Event) -> i32,
    /// Waits for `end`, then tells how long after `start` it came.
    pub event_elapsed:
        unsafe extern "C" fn(context: *mut Context, start: *mut Event, end: *mut Event, milliseconds: *mut f32) -> i32,
}
