//! Launches that are made again and again.

use crate::failure::Named;
use crate::{Launch, abi, borrow_handle, in_context, invalid, not_null, on_stream, store_handle, take_handle};
use cust::sys;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// What a graph handle points to.
struct Graph {
    graph: sys::CUgraph,
    /// The launch that was added last; null before the first.
    last: Cell<sys::CUgraphNode>,
    /// Null until the graph is closed.
    closed: Cell<sys::CUgraphExec>,
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: both are the driver's own handles, and this is their last use; what still runs, the driver keeps.
        unsafe {
            if !self.closed.get().is_null() {
                sys::cuGraphExecDestroy(self.closed.get());
            }
            sys::cuGraphDestroy(self.graph);
        }
    }
}

pub unsafe extern "C" fn create(context: *mut abi::Context, graph: *mut *mut abi::Graph) -> i32 {
    in_context("graph_create", context, |_| {
        let mut created = ptr::null_mut();
        // SAFETY: `created` outlives the call.
        unsafe { sys::cuGraphCreate(&mut created, 0) }.named("cuGraphCreate")?;
        let created = Graph { graph: created, last: Cell::new(ptr::null_mut()), closed: Cell::new(ptr::null_mut()) };
        // SAFETY: the caller gives a place for the result.
        unsafe { store_handle(graph, created) }
    })
}

pub unsafe extern "C" fn destroy(context: *mut abi::Context, graph: *mut abi::Graph) -> i32 {
    in_context("graph_destroy", context, |_| {
        // SAFETY: the handle is from `create`, and the caller gives it up.
        drop(unsafe { take_handle::<Graph, _>(graph) }?);
        Ok(())
    })
}

pub unsafe extern "C" fn add(
    context: *mut abi::Context,
    graph: *mut abi::Graph,
    function: *mut abi::Function,
    grid: *const [u32; 3],
    block: *const [u32; 3],
    shared_bytes: u32,
    arguments: *const *mut c_void,
    argument_count: usize,
) -> i32 {
    in_context("graph_add", context, |_| {
        // SAFETY: the caller gives what the function says that it gives.
        let Launch { grid, block, arguments } =
            unsafe { Launch::read(function, grid, block, arguments, argument_count) }?;
        // SAFETY: the handle is from `create` and not yet destroyed.
        let it = unsafe { borrow_handle::<Graph, _>("graph_add", graph) }?;
        let launch = sys::CUDA_KERNEL_NODE_PARAMS {
            func: function.cast(),
            gridDimX: grid[0],
            gridDimY: grid[1],
            gridDimZ: grid[2],
            blockDimX: block[0],
            blockDimY: block[1],
            blockDimZ: block[2],
            sharedMemBytes: shared_bytes,
            kernelParams: arguments,
            extra: ptr::null_mut(),
        };
        let before = it.last.get();
        let count = usize::from(!before.is_null());
        let mut added = ptr::null_mut();
        // SAFETY: the graph is the driver's own handle; the function is one of a module not yet unloaded; the caller
        // gives a pointer to a value of the right type for each of its parameters; the driver reads the values, and the
        // one launch before, before it returns.
        unsafe { sys::cuGraphAddKernelNode(&mut added, it.graph, &before, count, &launch) }
            .named("cuGraphAddKernelNode")?;
        it.last.set(added);
        Ok(())
    })
}

pub unsafe extern "C" fn close(context: *mut abi::Context, graph: *mut abi::Graph) -> i32 {
    in_context("graph_close", context, |_| {
        // SAFETY: the handle is from `create` and not yet destroyed.
        let it = unsafe { borrow_handle::<Graph, _>("graph_close", graph) }?;
        if !it.closed.get().is_null() {
            return Err(invalid("graph_close"));
        }
        let mut closed = ptr::null_mut();
        // SAFETY: the graph is the driver's own handle; no text is asked for.
        unsafe { sys::cuGraphInstantiate_v2(&mut closed, it.graph, ptr::null_mut(), ptr::null_mut(), 0) }
            .named("cuGraphInstantiate")?;
        it.closed.set(closed);
        Ok(())
    })
}

pub unsafe extern "C" fn launch(context: *mut abi::Context, stream: *mut abi::Stream, graph: *mut abi::Graph) -> i32 {
    on_stream("graph_launch", context, stream, |stream| {
        // SAFETY: the handle is from `create` and not yet destroyed.
        let it = unsafe { borrow_handle::<Graph, _>("graph_launch", graph) }?;
        not_null("graph_launch", it.closed.get())?;
        // SAFETY: both are the driver's own handles; what the launches use, the caller keeps until the stream is done.
        unsafe { sys::cuGraphLaunch(it.closed.get(), stream.as_inner()) }.named("cuGraphLaunch")
    })
}
