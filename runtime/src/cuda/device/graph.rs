//! Graphs of the driver's.

use super::super::abi;
use super::super::error::CudaError;
use super::super::gpu::{Argument, LaunchShape};
use super::super::launcher::check;
use super::{Context, DeviceBuffer, Function, Loaded, Stream, pointers_to, values_of};
use std::ptr;
use std::sync::Arc;

/// Launches, one after the other, that can be made again.
pub struct Graph {
    handle: *mut abi::Graph,
    /// The code of the kernels, each once.
    modules: Vec<Arc<Loaded>>,
    context: Arc<Context>,
}

impl Graph {
    pub(super) fn new(context: &Arc<Context>) -> Result<Graph, CudaError> {
        let mut handle = ptr::null_mut();
        // SAFETY: the context is open, and the place outlives the call.
        check(context.api, unsafe { (context.api.graph_create)(context.handle, &mut handle) })?;
        Ok(Graph { handle, modules: vec![], context: context.clone() })
    }

    pub(super) fn add(
        &mut self,
        kernel: &Function,
        shape: LaunchShape,
        arguments: &[Argument<'_, DeviceBuffer>],
    ) -> Result<(), CudaError> {
        if shape.grid.contains(&0) {
            return Ok(());
        }
        let mut values = values_of(arguments);
        let pointers = pointers_to(&mut values);
        let Context { api, handle: context } = *self.context;
        // SAFETY: context, graph and function are alive; the pointers are to as many values as there are. Nothing runs yet.
        let status = unsafe {
            (api.graph_add)(
                context,
                self.handle,
                kernel.handle,
                &shape.grid,
                &shape.block,
                shape.shared_bytes,
                pointers.as_ptr(),
                pointers.len(),
            )
        };
        check(api, status)?;
        if !self.modules.iter().any(|known| Arc::ptr_eq(known, &kernel.loaded)) {
            self.modules.push(kernel.loaded.clone());
        }
        Ok(())
    }

    pub(super) fn close(&mut self) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context and graph are alive.
        check(api, unsafe { (api.graph_close)(context, self.handle) })
    }

    pub(super) fn launch(&self, stream: &Stream) -> Result<(), CudaError> {
        let Context { api, handle: context } = *self.context;
        // SAFETY: context, stream and graph are alive; the caller of `launch_graph` vouches for what the launches use.
        check(api, unsafe { (api.graph_launch)(context, stream.handle, self.handle) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: the context is open, and this is the graph's last use.
        unsafe { (self.context.api.graph_destroy)(self.context.handle, self.handle) };
    }
}

// SAFETY: the launcher makes the context current in every call, and the driver's functions may be called from any thread;
// a graph changes only by `add` and `close`, which have it alone.
unsafe impl Send for Graph {}
// SAFETY: as above.
unsafe impl Sync for Graph {}
