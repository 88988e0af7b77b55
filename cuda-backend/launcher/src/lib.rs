//! Tessella's hands on the GPU: `cust`, behind a C interface.
//!
//! `cust` links the driver (`libcuda.so.1`), which most machines do not have. So this crate is a library of its own,
//! `libtessella_cuda.so`, that the crate `runtime` opens when a GPU is asked for; where there is no driver, opening
//! fails, and nothing else is hurt. It decides nothing: it makes the context current, calls the driver, and turns what
//! comes back into a status. The interface is described in `abi.rs`, which `runtime` compiles too.
//!
//! Pointers come in over a C interface, so this crate is one of the places of the workspace where `unsafe` is allowed.

pub mod abi;
mod event;
mod failure;
mod graph;

use crate::failure::{Failure, Named, guarded, last_failure};
use cust::CudaFlags;
use cust::context::CurrentContext;
use cust::device::{Device, DeviceAttribute};
use cust::memory::DevicePointer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use std::ffi::{CString, c_char, c_void};
use std::{ptr, slice, str};

#[unsafe(no_mangle)]
pub extern "C" fn tessella_cuda_abi_version() -> u32 {
    abi::VERSION
}

#[unsafe(no_mangle)]
pub extern "C" fn tessella_cuda_api() -> *const abi::Api {
    &API
}

static API: abi::Api = abi::Api {
    last_error,
    device_count,
    open,
    close,
    device_name,
    device_properties,
    memory,
    synchronize,
    module_load,
    module_unload,
    module_function,
    function_properties,
    function_variable,
    allow_shared,
    occupancy,
    allocate,
    free,
    copy_in,
    copy_out,
    allocate_pinned,
    free_pinned,
    begin_copy_in,
    begin_copy_out,
    copy_on_device,
    copy_box,
    fill,
    stream_create,
    stream_destroy,
    stream_synchronize,
    stream_wait: event::hold,
    launch,
    launch_together,
    graph_create: graph::create,
    graph_destroy: graph::destroy,
    graph_add: graph::add,
    graph_close: graph::close,
    graph_launch: graph::launch,
    event_create: event::create,
    event_destroy: event::destroy,
    event_record: event::record,
    event_wait: event::wait,
    event_elapsed: event::elapsed,
};

/// What a context handle points to.
struct Opened {
    device: Device,
    context: cust::context::Context,
}

// --- errors and devices ----------------------------------------------------------------------------------------------

unsafe extern "C" fn last_error(part: u32, text: *mut c_char, capacity: usize) -> usize {
    let words = last_failure(part);
    // SAFETY: the caller gives `capacity` writable bytes at `text`.
    unsafe { write_text(&words, text, capacity) }
}

unsafe extern "C" fn device_count(count: *mut u32) -> i32 {
    guarded("device_count", || {
        cust::init(CudaFlags::empty()).named("cuInit")?;
        let devices = Device::num_devices().named("cuDeviceGetCount")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store(count, devices) }
    })
}

unsafe extern "C" fn open(device: u32, context: *mut *mut abi::Context) -> i32 {
    guarded("open", || {
        cust::init(CudaFlags::empty()).named("cuInit")?;
        let device = Device::get_device(device).named("cuDeviceGet")?;
        let opened = Opened { device, context: cust::context::Context::new(device).named("cuDevicePrimaryCtxRetain")? };
        // SAFETY: the caller gives a place for the result.
        unsafe { store_handle(context, opened) }
    })
}

unsafe extern "C" fn close(context: *mut abi::Context) -> i32 {
    guarded("close", || {
        // SAFETY: the handle is from `open`, and the caller gives it up.
        let opened = unsafe { take_handle::<Opened, _>(context) }?;
        cust::context::Context::drop(opened.context)
            .map_err(|(error, context)| {
                // Dropped, it would be released again.
                std::mem::forget(context);
                error
            })
            .named("cuDevicePrimaryCtxRelease")
    })
}

unsafe extern "C" fn device_name(
    context: *mut abi::Context,
    text: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    in_context("device_name", context, |opened| {
        let name = opened.device.name().named("cuDeviceGetName")?;
        // SAFETY: the caller gives `capacity` writable bytes at `text`, and a place for the length.
        unsafe { store(length, write_text(&name, text, capacity)) }
    })
}

unsafe extern "C" fn device_properties(context: *mut abi::Context, properties: *mut abi::DeviceProperties) -> i32 {
    in_context("device_properties", context, |opened| {
        let get = |attribute| opened.device.get_attribute(attribute).named("cuDeviceGetAttribute");
        // cust's own list of attributes ends before these.
        let raw = |attribute| {
            let mut value = 0;
            // SAFETY: `value` outlives the call.
            unsafe { sys::cuDeviceGetAttribute(&mut value, attribute, opened.device.as_raw()) }
                .named("cuDeviceGetAttribute")
                .map(|()| value)
        };
        let opt_in = raw(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let driver = cust::CudaApiVersion::get().named("cuDriverGetVersion")?;
        let found = abi::DeviceProperties {
            compute_capability_major: get(DeviceAttribute::ComputeCapabilityMajor)?,
            compute_capability_minor: get(DeviceAttribute::ComputeCapabilityMinor)?,
            multiprocessors: get(DeviceAttribute::MultiprocessorCount)?,
            warp_size: get(DeviceAttribute::WarpSize)?,
            max_threads_per_block: get(DeviceAttribute::MaxThreadsPerBlock)?,
            max_threads_per_multiprocessor: get(DeviceAttribute::MaxThreadsPerMultiprocessor)?,
            max_block: [
                get(DeviceAttribute::MaxBlockDimX)?,
                get(DeviceAttribute::MaxBlockDimY)?,
                get(DeviceAttribute::MaxBlockDimZ)?,
            ],
            max_grid: [
                get(DeviceAttribute::MaxGridDimX)?,
                get(DeviceAttribute::MaxGridDimY)?,
                get(DeviceAttribute::MaxGridDimZ)?,
            ],
            registers_per_block: get(DeviceAttribute::MaxRegistersPerBlock)?,
            registers_per_multiprocessor: get(DeviceAttribute::MaxRegistersPerMultiprocessor)?,
            shared_bytes_per_block: get(DeviceAttribute::MaxSharedMemoryPerBlock)?,
            shared_bytes_per_block_opt_in: opt_in,
            shared_bytes_per_multiprocessor: get(DeviceAttribute::MaxSharedMemoryPerMultiprocessor)?,
            constant_bytes: get(DeviceAttribute::TotalConstantMemory)?,
            l2_bytes: get(DeviceAttribute::L2CacheSize)?,
            clock_khz: get(DeviceAttribute::ClockRate)?,
            memory_clock_khz: get(DeviceAttribute::MemoryClockRate)?,
            memory_bus_bits: get(DeviceAttribute::GlobalMemoryBusWidth)?,
            launches_together: raw(sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)?,
            driver_version: driver.major() * 1000 + driver.minor() * 10,
            memory_bytes: opened.device.total_memory().named("cuDeviceTotalMem")? as u64,
        };
        // SAFETY: the caller gives a place for the result.
        unsafe { store(properties, found) }
    })
}

unsafe extern "C" fn memory(context: *mut abi::Context, free: *mut u64, total: *mut u64) -> i32 {
    in_context("memory", context, |_| {
        let (free_now, in_all) = cust::memory::mem_get_info().named("cuMemGetInfo")?;
        // SAFETY: the caller gives two places for the results.
        unsafe { store(free, free_now as u64).and_then(|()| store(total, in_all as u64)) }
    })
}

unsafe extern "C" fn synchronize(context: *mut abi::Context) -> i32 {
    in_context("synchronize", context, |_| CurrentContext::synchronize().named("cuCtxSynchronize"))
}

// --- modules and functions -------------------------------------------------------------------------------------------

unsafe extern "C" fn module_load(
    context: *mut abi::Context,
    image: *const c_void,
    bytes: usize,
    module: *mut *mut abi::Module,
) -> i32 {
    in_context("module_load", context, |_| {
        not_null("module_load", image)?;
        // SAFETY: the caller gives `bytes` readable bytes at `image`.
        let image = unsafe { slice::from_raw_parts(image.cast::<u8>(), bytes) };
        // The driver tells PTX from a cubin by itself; cust appends the nul that PTX must end with.
        let loaded = Module::from_cubin(image, &[])
            .named("cuModuleLoadDataEx")
            .map_err(|failure| explain_failed_load(image).unwrap_or(failure))?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store_handle(module, loaded) }
    })
}

/// Loads an image that cust could not load once more, with a buffer for the driver's log, which cust has no way to ask
/// for. `None` if it loads now.
fn explain_failed_load(image: &[u8]) -> Option<Failure> {
    let mut image = image.to_vec();
    image.push(0);
    let mut log = vec![0u8; 16 * 1024];
    let mut options =
        [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
    let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
    let mut module = ptr::null_mut();
    // SAFETY: the image ends with a nul; there are as many options as values, of the kinds that the driver documents
    // (a pointer, and a size in place of one); all of it outlives the call.
    let status = unsafe {
        sys::cuModuleLoadDataEx(
            &mut module,
            image.as_ptr().cast(),
            options.len() as u32,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    let Err(mut failure) = status.named("cuModuleLoadDataEx") else {
        // SAFETY: the module was loaded just above, and nothing else knows of it. It is not needed.
        unsafe { sys::cuModuleUnload(module) };
        return None;
    };
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    failure.log = String::from_utf8_lossy(&log[..end]).trim().to_owned();
    Some(failure)
}

unsafe extern "C" fn module_unload(context: *mut abi::Context, module: *mut abi::Module) -> i32 {
    in_context("module_unload", context, |_| {
        // SAFETY: the handle is from `module_load`, and the caller gives it up.
        let module = unsafe { take_handle::<Module, _>(module) }?;
        Module::drop(*module)
            .map_err(|(error, module)| {
                // Dropped, it would be unloaded again.
                std::mem::forget(module);
                error
            })
            .named("cuModuleUnload")
    })
}

unsafe extern "C" fn module_function(
    context: *mut abi::Context,
    module: *mut abi::Module,
    name: *const c_char,
    length: usize,
    function: *mut *mut abi::Function,
) -> i32 {
    in_context("module_function", context, |_| {
        not_null("module_function", name)?;
        // SAFETY: the caller gives `length` readable bytes at `name`.
        let name = unsafe { slice::from_raw_parts(name.cast::<u8>(), length) };
        let name = str::from_utf8(name).map_err(|_| invalid("module_function"))?;
        if name.contains('\0') {
            return Err(invalid("module_function"));
        }
        // SAFETY: the handle is from `module_load` and not yet unloaded.
        let module = unsafe { borrow_handle::<Module, _>("module_function", module) }?;
        let found = module.get_function(name).named("cuModuleGetFunction")?;
        // The driver owns functions, together with their module: the handle is the driver's own.
        // SAFETY: the caller gives a place for the result.
        unsafe { store(function, found.to_raw().cast()) }
    })
}

unsafe extern "C" fn function_variable(
    context: *mut abi::Context,
    function: *mut abi::Function,
    name: *const c_char,
    length: usize,
    address: *mut u64,
    bytes: *mut usize,
) -> i32 {
    in_context("function_variable", context, |_| {
        not_null("function_variable", function)?;
        not_null("function_variable", name)?;
        // SAFETY: the caller gives `length` readable bytes at `name`.
        let name = unsafe { slice::from_raw_parts(name.cast::<u8>(), length) };
        let name = CString::new(name).map_err(|_| invalid("function_variable"))?;
        let mut module = ptr::null_mut();
        // SAFETY: the function is the driver's own handle, of a module not yet unloaded; the place outlives the call.
        unsafe { sys::cuFuncGetModule(&mut module, function.cast()) }.named("cuFuncGetModule")?;
        let (mut found, mut size) = (0, 0);
        // SAFETY: the module is the driver's own handle, the name ends with a nul, and both places outlive the call.
        unsafe { sys::cuModuleGetGlobal_v2(&mut found, &mut size, module, name.as_ptr()) }
            .named("cuModuleGetGlobal")?;
        // SAFETY: the caller gives places for the results.
        unsafe {
            store(address, found)?;
            store(bytes, size)
        }
    })
}

unsafe extern "C" fn function_properties(
    context: *mut abi::Context,
    function: *mut abi::Function,
    properties: *mut abi::FunctionProperties,
) -> i32 {
    use sys::CUfunction_attribute as Attribute;
    in_context("function_properties", context, |_| {
        not_null("function_properties", function)?;
        let get = |attribute| {
            let mut value = 0;
            // SAFETY: the function is the driver's own handle, of a module not yet unloaded; `value` outlives the call.
            unsafe { sys::cuFuncGetAttribute(&mut value, attribute, function.cast()) }
                .named("cuFuncGetAttribute")
                .map(|()| value)
        };
        let found = abi::FunctionProperties {
            registers: get(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            shared_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            constant_bytes: get(Attribute::CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            max_threads_per_block: get(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        };
        // SAFETY: the caller gives a place for the result.
        unsafe { store(properties, found) }
    })
}

unsafe extern "C" fn allow_shared(context: *mut abi::Context, function: *mut abi::Function, bytes: u32) -> i32 {
    in_context("allow_shared", context, |_| {
        not_null("allow_shared", function)?;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).map_err(|_| invalid("allow_shared"))?;
        // SAFETY: the function is the driver's own handle, of a module not yet unloaded.
        unsafe { sys::cuFuncSetAttribute(function.cast(), attribute, bytes) }.named("cuFuncSetAttribute")
    })
}

unsafe extern "C" fn occupancy(
    context: *mut abi::Context,
    function: *mut abi::Function,
    threads_per_block: u32,
    shared_bytes: usize,
    blocks: *mut u32,
) -> i32 {
    in_context("occupancy", context, |_| {
        not_null("occupancy", function)?;
        let threads = i32::try_from(threads_per_block).map_err(|_| invalid("occupancy"))?;
        let mut found = 0;
        // SAFETY: the function is the driver's own handle, of a module not yet unloaded; `found` outlives the call.
        unsafe { sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut found, function.cast(), threads, shared_bytes) }
            .named("cuOccupancyMaxActiveBlocksPerMultiprocessor")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store(blocks, found.unsigned_abs()) }
    })
}

// --- memory ----------------------------------------------------------------------------------------------------------

unsafe extern "C" fn allocate(context: *mut abi::Context, bytes: usize, address: *mut u64) -> i32 {
    in_context("allocate", context, |_| {
        not_null("allocate", address)?;
        // Kernels may name the 16 bytes around the last element, to copy those of them that are there.
        let whole = bytes.checked_next_multiple_of(16).unwrap_or(bytes);
        // SAFETY: the bytes have no content yet, and this library never reads them as anything else than bytes.
        let memory = unsafe { cust::memory::cuda_malloc::<u8>(whole) }.named("cuMemAlloc")?;
        if whole > bytes {
            // Nothing uses what is behind the last element, but tools that look for reads of what has no value report such copies.
            // SAFETY: the bytes belong to the memory that was just allocated, and nothing else knows of it.
            let cleared = unsafe { sys::cuMemsetD8_v2(memory.as_raw() + bytes as u64, 0, whole - bytes) };
            if let Err(failure) = cleared.named("cuMemsetD8") {
                // SAFETY: the memory is from the call above, and nobody else has it.
                let _ = unsafe { cust::memory::cuda_free(memory) };
                return Err(failure);
            }
        }
        // SAFETY: the caller gives a place for the result.
        unsafe { store(address, memory.as_raw()) }
    })
}

unsafe extern "C" fn free(context: *mut abi::Context, address: u64) -> i32 {
    in_context("free", context, |_| {
        // SAFETY: the address is from `allocate`, and the caller gives it up.
        unsafe { cust::memory::cuda_free(DevicePointer::<u8>::from_raw(address)) }.named("cuMemFree")
    })
}

unsafe extern "C" fn copy_in(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: u64,
    from: *const c_void,
    bytes: usize,
) -> i32 {
    on_stream("copy_in", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` readable bytes at `from` and as many of device memory at `to`; both last
        // until the copy is complete, which is awaited.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream.as_inner()) }.named("cuMemcpyHtoDAsync")?;
        stream.synchronize().named("cuStreamSynchronize")
    })
}

unsafe extern "C" fn copy_out(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: *mut c_void,
    from: u64,
    bytes: usize,
) -> i32 {
    on_stream("copy_out", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` writable bytes at `to` and as many of device memory at `from`; both last
        // until the copy is complete, which is awaited.
        unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream.as_inner()) }.named("cuMemcpyDtoHAsync")?;
        stream.synchronize().named("cuStreamSynchronize")
    })
}

unsafe extern "C" fn allocate_pinned(context: *mut abi::Context, bytes: usize, memory: *mut *mut c_void) -> i32 {
    in_context("allocate_pinned", context, |_| {
        not_null("allocate_pinned", memory)?;
        let mut found = ptr::null_mut();
        // SAFETY: `found` outlives the call.
        unsafe { sys::cuMemHostAlloc(&mut found, bytes, 0) }.named("cuMemHostAlloc")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store(memory, found) }
    })
}

unsafe extern "C" fn free_pinned(context: *mut abi::Context, memory: *mut c_void) -> i32 {
    in_context("free_pinned", context, |_| {
        // SAFETY: the memory is from `allocate_pinned`, and the caller gives it up.
        unsafe { sys::cuMemFreeHost(memory) }.named("cuMemFreeHost")
    })
}

unsafe extern "C" fn begin_copy_in(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: u64,
    from: *const c_void,
    bytes: usize,
) -> i32 {
    on_stream("begin_copy_in", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` readable bytes at `from` and as many of device memory at `to`; both last
        // until the stream is done with them.
        unsafe { sys::cuMemcpyHtoDAsync_v2(to, from, bytes, stream.as_inner()) }.named("cuMemcpyHtoDAsync")
    })
}

unsafe extern "C" fn begin_copy_out(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: *mut c_void,
    from: u64,
    bytes: usize,
) -> i32 {
    on_stream("begin_copy_out", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` writable bytes at `to` and as many of device memory at `from`; both last
        // until the stream is done with them.
        unsafe { sys::cuMemcpyDtoHAsync_v2(to, from, bytes, stream.as_inner()) }.named("cuMemcpyDtoHAsync")
    })
}

unsafe extern "C" fn copy_on_device(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: u64,
    from: u64,
    bytes: usize,
) -> i32 {
    on_stream("copy_on_device", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` of device memory at either address, which last until the stream is done.
        unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.as_inner()) }.named("cuMemcpyDtoDAsync")
    })
}

unsafe extern "C" fn copy_box(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    copied: *const abi::CopiedBox,
) -> i32 {
    on_stream("copy_box", context, stream, |stream| {
        not_null("copy_box", copied)?;
        // SAFETY: the caller gives a readable box.
        let abi::CopiedBox { to, from, size: [bytes, rows, planes] } = unsafe { *copied };
        let is_on_host = |side: &abi::BoxSide| side.on_host != 0;
        let kind = |side: &abi::BoxSide| match is_on_host(side) {
            true => sys::CUmemorytype::CU_MEMORYTYPE_HOST,
            false => sys::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        };
        // An address is given both ways; the kind says which one is read.
        let driver = sys::CUDA_MEMCPY3D {
            srcXInBytes: 0,
            srcY: 0,
            srcZ: 0,
            srcLOD: 0,
            srcMemoryType: kind(&from),
            srcHost: from.address as *const c_void,
            srcDevice: from.address,
            srcArray: std::ptr::null_mut(),
            reserved0: std::ptr::null_mut(),
            srcPitch: from.apart[0],
            srcHeight: from.apart[1],
            dstXInBytes: 0,
            dstY: 0,
            dstZ: 0,
            dstLOD: 0,
            dstMemoryType: kind(&to),
            dstHost: to.address as *mut c_void,
            dstDevice: to.address,
            dstArray: std::ptr::null_mut(),
            reserved1: std::ptr::null_mut(),
            dstPitch: to.apart[0],
            dstHeight: to.apart[1],
            WidthInBytes: bytes,
            Height: rows,
            Depth: planes,
        };
        // SAFETY: the caller gives memory of that shape at either address; both last until the copy is complete, which is
        // awaited where the host's memory is one of them, else until the stream is done.
        unsafe { sys::cuMemcpy3DAsync_v2(&driver, stream.as_inner()) }.named("cuMemcpy3DAsync")?;
        match is_on_host(&to) || is_on_host(&from) {
            true => stream.synchronize().named("cuStreamSynchronize"),
            false => Ok(()),
        }
    })
}

unsafe extern "C" fn fill(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    to: u64,
    value: u8,
    bytes: usize,
) -> i32 {
    on_stream("fill", context, stream, |stream| {
        // SAFETY: the caller gives `bytes` of device memory at `to`, which last until the stream is done.
        unsafe { sys::cuMemsetD8Async(to, value, bytes, stream.as_inner()) }.named("cuMemsetD8Async")
    })
}

// --- streams, launches -----------------------------------------------------------------------------------------------

unsafe extern "C" fn stream_create(context: *mut abi::Context, stream: *mut *mut abi::Stream) -> i32 {
    in_context("stream_create", context, |_| {
        let created = Stream::new(StreamFlags::DEFAULT, None).named("cuStreamCreateWithPriority")?;
        // SAFETY: the caller gives a place for the result.
        unsafe { store_handle(stream, created) }
    })
}

unsafe extern "C" fn stream_destroy(context: *mut abi::Context, stream: *mut abi::Stream) -> i32 {
    in_context("stream_destroy", context, |_| {
        // SAFETY: the handle is from `stream_create`, and the caller gives it up.
        let stream = unsafe { take_handle::<Stream, _>(stream) }?;
        Stream::drop(*stream)
            .map_err(|(error, stream)| {
                // Dropped, it would be destroyed again.
                std::mem::forget(stream);
                error
            })
            .named("cuStreamDestroy")
    })
}

unsafe extern "C" fn stream_synchronize(context: *mut abi::Context, stream: *mut abi::Stream) -> i32 {
    on_stream("stream_synchronize", context, stream, |stream| stream.synchronize().named("cuStreamSynchronize"))
}

unsafe extern "C" fn launch(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    function: *mut abi::Function,
    grid: *const [u32; 3],
    block: *const [u32; 3],
    shared_bytes: u32,
    arguments: *const *mut c_void,
    argument_count: usize,
) -> i32 {
    on_stream("launch", context, stream, |stream| {
        // SAFETY: the caller gives what the function says that it gives.
        let Launch { grid, block, arguments } =
            unsafe { Launch::read(function, grid, block, arguments, argument_count) }?;
        // SAFETY: the function is the driver's own handle, of a module not yet unloaded; the caller gives a pointer to
        // a value of the right type for each of its parameters; the driver reads the values before it returns.
        unsafe {
            sys::cuLaunchKernel(
                function.cast(),
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared_bytes,
                stream.as_inner(),
                arguments,
                ptr::null_mut(),
            )
        }
        .named("cuLaunchKernel")
    })
}

unsafe extern "C" fn launch_together(
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    function: *mut abi::Function,
    grid: *const [u32; 3],
    block: *const [u32; 3],
    shared_bytes: u32,
    arguments: *const *mut c_void,
    argument_count: usize,
) -> i32 {
    on_stream("launch_together", context, stream, |stream| {
        // SAFETY: the caller gives what the function says that it gives.
        let Launch { grid, block, arguments } =
            unsafe { Launch::read(function, grid, block, arguments, argument_count) }?;
        // SAFETY: as for `launch`.
        unsafe {
            sys::cuLaunchCooperativeKernel(
                function.cast(),
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                shared_bytes,
                stream.as_inner(),
                arguments,
            )
        }
        .named("cuLaunchCooperativeKernel")
    })
}

/// How a kernel is launched.
struct Launch {
    grid: [u32; 3],
    block: [u32; 3],
    arguments: *mut *mut c_void,
}

impl Launch {
    /// # Safety
    /// `grid` and `block` are null or can be read.
    unsafe fn read(
        function: *mut abi::Function,
        grid: *const [u32; 3],
        block: *const [u32; 3],
        arguments: *const *mut c_void,
        argument_count: usize,
    ) -> Result<Launch, Failure> {
        not_null("launch", function)?;
        not_null("launch", grid)?;
        not_null("launch", block)?;
        if argument_count > 0 {
            not_null("launch", arguments)?;
        }
        // SAFETY: not null, so they can be read.
        let (grid, block) = unsafe { (*grid, *block) };
        Ok(Launch { grid, block, arguments: arguments.cast_mut() })
    }
}

// --- handles and places ----------------------------------------------------------------------------------------------

/// Runs `body` with the context current on this thread. The handle must be from `open` and not yet closed: every
/// exported function demands that of its caller.
fn in_context(
    call: &'static str,
    context: *mut abi::Context,
    body: impl FnOnce(&Opened) -> Result<(), Failure>,
) -> i32 {
    guarded(call, || {
        // SAFETY: the caller of the exported function gives a handle from `open` that is not yet closed.
        let opened = unsafe { borrow_handle::<Opened, _>(call, context) }?;
        CurrentContext::set_current(&opened.context).named("cuCtxSetCurrent")?;
        body(opened)
    })
}

/// Like [`in_context`], with a stream, which must be from `stream_create` and not yet destroyed.
fn on_stream(
    call: &'static str,
    context: *mut abi::Context,
    stream: *mut abi::Stream,
    body: impl FnOnce(&Stream) -> Result<(), Failure>,
) -> i32 {
    in_context(call, context, |_| {
        // SAFETY: the caller of the exported function gives a handle from `stream_create` that is not yet destroyed.
        let stream = unsafe { borrow_handle::<Stream, _>(call, stream) }?;
        body(stream)
    })
}

fn invalid(call: &'static str) -> Failure {
    Failure { status: abi::INVALID_ARGUMENT, call, log: String::new() }
}

fn not_null<T>(call: &'static str, pointer: *const T) -> Result<(), Failure> {
    if pointer.is_null() { Err(invalid(call)) } else { Ok(()) }
}

/// # Safety
/// `place` is null or can be written.
unsafe fn store<T>(place: *mut T, value: T) -> Result<(), Failure> {
    not_null("result", place)?;
    // SAFETY: not null, so it can be written.
    unsafe { place.write(value) };
    Ok(())
}

/// Gives `value` to the caller as an opaque handle.
///
/// # Safety
/// `place` is null or can be written.
unsafe fn store_handle<T, Handle>(place: *mut *mut Handle, value: T) -> Result<(), Failure> {
    not_null("result", place)?;
    // SAFETY: not null, so it can be written.
    unsafe { place.write(Box::into_raw(Box::new(value)).cast()) };
    Ok(())
}

/// Takes back what [`store_handle`] gave away.
///
/// # Safety
/// `handle` is null or was made by `store_handle` from a `T`, and is not used again.
unsafe fn take_handle<T, Handle>(handle: *mut Handle) -> Result<Box<T>, Failure> {
    not_null("handle", handle)?;
    // SAFETY: not null, so it is a box of this type that nobody else owns any more.
    Ok(unsafe { Box::from_raw(handle.cast()) })
}

/// # Safety
/// `handle` is null or was made by [`store_handle`] from a `T`, and is not taken back while the borrow lasts.
unsafe fn borrow_handle<'a, T, Handle>(call: &'static str, handle: *mut Handle) -> Result<&'a T, Failure> {
    not_null(call, handle)?;
    // SAFETY: not null, so it is a box of this type, and lives long enough.
    Ok(unsafe { &*handle.cast::<T>() })
}

/// Writes as much of `words` as fits, and returns its whole length.
///
/// # Safety
/// `text` has room for `capacity` bytes.
unsafe fn write_text(words: &str, text: *mut c_char, capacity: usize) -> usize {
    if !text.is_null() {
        // SAFETY: no more than `capacity` bytes are written, from a text of at least that length that is not there.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), text.cast(), words.len().min(capacity)) };
    }
    words.len()
}
