//! A GPU made of host memory runs plans, keeps account of its memory, and fails when told to.

use super::*;
use crate::cuda::{
    Apart, Argument, BoxShape, CudaError, Device, DeviceProperties, FunctionProperties, LaunchShape, Nvrtc, Pools,
    compile_cuda,
};
use std::collections::BTreeSet;
use std::ffi::c_void;
use std::sync::Weak;
use std::time::Duration;
use tessella_codegen::Entry;
use tessella_codegen::entry::{Check, EntryParameter, STATUS_GRID_TOO_LARGE};
use tessella_codegen::int_expr::{Cond, IntExpr, VariableId};
use tessella_codegen::plan::{Padded, PaddedAxis, PlanArgument, PlannedKernel, Queue, Queues, Step};
use tessella_codegen::program::{Blocks, BufferAccess, KernelParam, Part, PartAxis, Width};
use tessella_polyhedral::affine::ParamId;
use tessella_polyhedral::algorithm::{ArrayId, ParamOrigin, ScalarId};
use tessella_polyhedral::layers::Direction;
use tessella_scalar::{CompareOp, Constant, ScalarType};

#[derive(Default)]
pub struct State {
    /// The memory of buffers.
    allocated: Vec<Weak<Mutex<Vec<u8>>>>,
    log: Vec<String>,
    /// Buffers that are not dropped.
    live: usize,
    used: u64,
    /// Calls so far, and the one that is to fail.
    calls: usize,
    fail_at: Option<usize>,
    /// Another process has taken what blocks that run at once would need.
    is_crowded: bool,
    /// A kernel may be running.
    busy: bool,
    /// The variables that kernels see by name.
    variables: BTreeMap<String, Arc<Mutex<Vec<u8>>>>,
    /// Memory of the caller's on the GPU, by address.
    lent: Vec<Arc<Mutex<Vec<u8>>>>,
    /// What was asked of the queues, in that order.
    pub asked: Vec<Asked>,
    /// What another caller does between two steps: after so many events were recorded.
    pub between: Option<(usize, Box<dyn FnOnce() + Send>)>,
    /// The numbers of what is done before whatever comes next to a queue.
    before: BTreeMap<Queue, BTreeSet<usize>>,
}

/// A copy, a fill or a launch.
pub struct Asked {
    pub what: String,
    /// The memory that it uses, and whether it writes it.
    uses: Vec<(usize, bool)>,
    /// The numbers of those that are surely done when it begins. That the host waits for copies does not count.
    before: BTreeSet<usize>,
}

impl State {
    fn ask(&mut self, queue: Queue, what: &str, uses: Vec<(usize, bool)>) {
        let before = self.before.entry(queue).or_default();
        let asked = Asked { what: what.to_owned(), uses, before: before.clone() };
        before.insert(self.asked.len());
        self.asked.push(asked);
    }

    /// The pairs that use the same memory, which one of them writes, and may run at once.
    pub fn races(&self) -> Vec<(&str, &str)> {
        let conflict = |one: &Asked, other: &Asked| {
            one.uses.iter().any(|(a, writes)| other.uses.iter().any(|(b, too)| a == b && (*writes || *too)))
        };
        self.at_once().into_iter().filter(|(a, b)| conflict(a, b)).map(|(a, b)| (&*a.what, &*b.what)).collect()
    }

    /// The pairs that may run at once.
    pub fn at_once(&self) -> Vec<(&Asked, &Asked)> {
        let pairs = self.asked.iter().enumerate().flat_map(|(number, later)| {
            self.asked[..number].iter().enumerate().map(move |(earlier, it)| (earlier, it, later))
        });
        pairs.filter(|(earlier, _, later)| !later.before.contains(earlier)).map(|(_, it, later)| (it, later)).collect()
    }
}

pub struct FakeGpu {
    properties: DeviceProperties,
    capacity: u64,
    state: Arc<Mutex<State>>,
    pools: Pools<FakeBuffer>,
}

pub struct FakeBuffer {
    content: Arc<Mutex<Vec<u8>>>,
    /// `None`: somebody else's memory.
    state: Option<Arc<Mutex<State>>>,
}

/// An argument of a launch that is made again.
pub enum FakeArgument {
    Memory(Arc<Mutex<Vec<u8>>>),
    Value([u8; 8]),
}

impl Drop for FakeBuffer {
    fn drop(&mut self) {
        let Some(state) = &self.state else { return };
        let mut state = state.lock().unwrap();
        state.live -= 1;
        state.used -= self.content.lock().unwrap().len() as u64;
        assert!(!state.busy, "freed while a kernel may be running");
    }
}

impl FakeGpu {
    pub fn new() -> Arc<FakeGpu> {
        FakeGpu::with(DeviceProperties::default(), u64::MAX)
    }

    pub fn with(properties: DeviceProperties, capacity: u64) -> Arc<FakeGpu> {
        Arc::new(FakeGpu { properties, capacity, state: Arc::default(), pools: Pools::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Buffers that are not dropped, and their bytes.
    pub fn held(&self) -> (usize, u64) {
        let state = self.state();
        (state.live, state.used)
    }

    /// The log since the last time.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.state().log)
    }

    /// Puts an array into the GPU's memory, at an address that is given back.
    pub fn lend(&self, values: &[f64]) -> u64 {
        let content = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let mut state = self.state();
        state.lent.push(Arc::new(Mutex::new(content)));
        (state.lent.len() as u64 - 1) << 20
    }

    pub fn lent(&self, address: u64) -> Vec<f64> {
        let content = self.state().lent[(address >> 20) as usize].clone();
        let content = content.lock().unwrap();
        content.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
    }

    fn call(&self, what: String) -> Result<MutexGuard<'_, State>, CudaError> {
        let mut state = self.state();
        state.calls += 1;
        if state.fail_at == Some(state.calls) {
            return Err(driver_error());
        }
        state.log.push(what);
        Ok(state)
    }
}

fn move_box((to, to_offset): (&mut [u8], usize), (from, from_offset): (&[u8], usize), shape: BoxShape) {
    let [bytes, rows, planes] = shape.size;
    for (plane, row) in (0..planes).flat_map(|plane| (0..rows).map(move |row| (plane, row))) {
        let at = |apart: Apart, offset: usize| {
            let start = offset + (plane * apart.plane + row) * apart.row;
            start..start + bytes
        };
        to[at(shape.to, to_offset)].copy_from_slice(&from[at(shape.from, from_offset)]);
    }
}

/// Memory by its address.
fn memory(of: &FakeBuffer) -> usize {
    Arc::as_ptr(&of.content).addr()
}

fn driver_error() -> CudaError {
    CudaError::Driver { call: "fake".into(), code: 700, name: "FAKE".into(), detail: "as told".into() }
}

impl Gpu for FakeGpu {
    type Buffer = FakeBuffer;
    type Module = ();
    type Kernel = String;
    /// The number of calls so far, and what is done by then.
    type Event = (usize, BTreeSet<usize>);
    type Graph = Vec<(String, LaunchShape, Vec<FakeArgument>)>;

    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn pools(&self) -> &Pools<FakeBuffer> {
        &self.pools
    }

    fn memory(&self) -> Result<(u64, u64), CudaError> {
        let state = self.state();
        Ok((self.capacity - state.used, self.capacity))
    }

    fn load(&self, _image: &[u8]) -> Result<(), CudaError> {
        self.call("load".into()).map(|_| ())
    }

    fn kernel(&self, _module: &(), name: &str) -> Result<String, CudaError> {
        self.call(format!("kernel {name}")).map(|_| name.to_owned())
    }

    fn alloc(&self, bytes: usize) -> Result<FakeBuffer, CudaError> {
        let mut state = self.call(format!("alloc {bytes}"))?;
        if state.used.saturating_add(bytes as u64) > self.capacity {
            let (free, total) = (self.capacity - state.used, self.capacity);
            return Err(CudaError::OutOfMemory { requested: bytes as u64, free, total });
        }
        state.live += 1;
        state.used += bytes as u64;
        let content = Arc::new(Mutex::new(vec![0xee; bytes]));
        state.allocated.push(Arc::downgrade(&content));
        Ok(FakeBuffer { content, state: Some(self.state.clone()) })
    }

    /// The address says which of the arrays it is that `lend` made, or that was allocated.
    unsafe fn borrow(&self, address: u64, bytes: usize) -> FakeBuffer {
        let state = self.state();
        let allocated = state.allocated.iter().filter_map(Weak::upgrade);
        let own = allocated.into_iter().find(|content| address_of(content) == address);
        let content = own.unwrap_or_else(|| state.lent[(address >> 20) as usize].clone());
        drop(state);
        assert_eq!(content.lock().unwrap().len(), bytes);
        FakeBuffer { content, state: None }
    }

    /// All variables have 64 bytes.
    fn variable(&self, kernel: &String, name: &str) -> Result<FakeBuffer, CudaError> {
        let mut state = self.call(format!("variable {name} of {kernel}"))?;
        state.live += 1;
        state.used += 64;
        let content = state.variables.entry(name.to_owned()).or_insert_with(|| Arc::new(Mutex::new(vec![0xee; 64])));
        Ok(FakeBuffer { content: content.clone(), state: Some(self.state.clone()) })
    }

    fn copy_in(&self, queue: Queue, to: &FakeBuffer, offset: usize, from: &[u8]) -> Result<(), CudaError> {
        let mut state = self.call(format!("in {}", from.len()))?;
        state.ask(queue, "in", vec![(memory(to), true), (from.as_ptr().addr(), false)]);
        to.content.lock().unwrap()[offset..offset + from.len()].copy_from_slice(from);
        Ok(())
    }

    fn copy_out(&self, queue: Queue, to: &mut [u8], from: &FakeBuffer, offset: usize) -> Result<(), CudaError> {
        let mut state = self.call(format!("out {}", to.len()))?;
        state.busy &= queue != Queue::Kernels;
        state.ask(queue, "out", vec![(to.as_ptr().addr(), true), (memory(from), false)]);
        to.copy_from_slice(&from.content.lock().unwrap()[offset..offset + to.len()]);
        Ok(())
    }

    fn copy_on_device(&self, queue: Queue, to: &FakeBuffer, from: &FakeBuffer, bytes: usize) -> Result<(), CudaError> {
        let mut state = self.call(format!("copy {bytes}"))?;
        state.ask(queue, "copy", vec![(memory(to), true), (memory(from), false)]);
        to.content.lock().unwrap()[..bytes].copy_from_slice(&from.content.lock().unwrap()[..bytes]);
        Ok(())
    }

    fn copy_box_in(
        &self,
        queue: Queue,
        to: &FakeBuffer,
        offset: usize,
        from: &[u8],
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        let mut state = self.call(format!("box in {:?}", shape.size))?;
        state.ask(queue, "in", vec![(memory(to), true), (from.as_ptr().addr(), false)]);
        move_box((&mut to.content.lock().unwrap(), offset), (from, 0), shape);
        Ok(())
    }

    fn copy_box_out(
        &self,
        queue: Queue,
        to: &mut [u8],
        from: &FakeBuffer,
        offset: usize,
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        let mut state = self.call(format!("box out {:?}", shape.size))?;
        state.busy &= queue != Queue::Kernels;
        state.ask(queue, "out", vec![(to.as_ptr().addr(), true), (memory(from), false)]);
        move_box((to, 0), (&from.content.lock().unwrap(), offset), shape);
        Ok(())
    }

    fn copy_box_on_device(
        &self,
        queue: Queue,
        (to, to_offset): (&FakeBuffer, usize),
        (from, from_offset): (&FakeBuffer, usize),
        shape: BoxShape,
    ) -> Result<(), CudaError> {
        let mut state = self.call(format!("box copy {:?}", shape.size))?;
        state.ask(queue, "copy", vec![(memory(to), true), (memory(from), false)]);
        move_box((&mut to.content.lock().unwrap(), to_offset), (&from.content.lock().unwrap(), from_offset), shape);
        Ok(())
    }

    fn fill(&self, to: &FakeBuffer, value: u8) -> Result<(), CudaError> {
        let mut state = self.call("fill".into())?;
        state.ask(Queue::Kernels, "fill", vec![(memory(to), true)]);
        to.content.lock().unwrap().fill(value);
        Ok(())
    }

    fn clear_caches(&self, scratch: &FakeBuffer) -> Result<(), CudaError> {
        self.call("clear".into())?.ask(Queue::Kernels, "clear", vec![(memory(scratch), true)]);
        Ok(())
    }

    /// Runs `update(A, B, n, a, t)`: `A[i] += a * B[i] + t`; `update_constant(A, n, a, t)`, the same with `B_constant`;
    /// `sum(R, B, n)`; `touch_rw...`, which adds what it reads to what it writes: a letter for each buffer; and `beside(B, A, n, first, last)`: `B[i] += A[i - 1] + A[i + 1]` for a slice of `2:n-1`.
    unsafe fn launch(
        &self,
        kernel: &String,
        shape: LaunchShape,
        arguments: &[Argument<'_, FakeBuffer>],
    ) -> Result<(), CudaError> {
        let mut state = self.call(format!("launch {kernel} {:?} {:?}", shape.grid, shape.block))?;
        if state.is_crowded && shape.blocks.wait() {
            let (name, detail) = ("TOO_LARGE".into(), "crowded".into());
            return Err(CudaError::Driver { call: "fake".into(), code: 720, name, detail });
        }
        state.busy = true;
        let is_touch = kernel.strip_prefix("touch_");
        let writes = |at: usize| is_touch.is_none_or(|letters| letters.as_bytes()[at] == b'w');
        let buffers = arguments.iter().enumerate().filter_map(|(at, argument)| match argument {
            Argument::Buffer(buffer) | Argument::Displaced(buffer, _) => Some((memory(buffer), writes(at))),
            Argument::Value(_) => None,
        });
        let named = state.variables.values().map(|content| (Arc::as_ptr(content).addr(), false));
        let uses = buffers.chain(named).collect();
        state.ask(Queue::Kernels, kernel, uses);
        if is_touch.is_some() {
            let contents: Vec<Arc<Mutex<Vec<u8>>>> = arguments
                .iter()
                .map(|argument| match argument {
                    Argument::Buffer(buffer) => buffer.content.clone(),
                    Argument::Displaced(..) | Argument::Value(_) => panic!("a buffer"),
                })
                .collect();
            let sum = |at: usize| contents.iter().map(|it| it.lock().unwrap()[at]).fold(1, u8::wrapping_add);
            let sums: Vec<u8> = (0..8).map(sum).collect();
            for (at, content) in contents.iter().enumerate().filter(|(at, _)| writes(*at)) {
                let mut content = content.lock().unwrap();
                content
                    .iter_mut()
                    .zip(&sums)
                    .for_each(|(to, sum)| *to = to.wrapping_mul(3).wrapping_add(sum ^ at as u8));
            }
            return Ok(());
        }
        let doubles = |bytes: &[u8]| -> Vec<f64> {
            bytes.chunks_exact(8).map(|bytes| f64::from_ne_bytes(bytes.try_into().unwrap())).collect()
        };
        match (kernel.as_str(), arguments) {
            (
                "update",
                [
                    Argument::Buffer(to),
                    Argument::Buffer(from),
                    Argument::Value(n),
                    Argument::Value(a),
                    Argument::Value(t),
                ],
            ) => {
                let from = doubles(&from.content.lock().unwrap());
                let (n, a, t) = (i64::from_ne_bytes(*n), f64::from_ne_bytes(*a), i64::from_ne_bytes(*t));
                assert_eq!(from.len() as i64, n);
                let mut to = to.content.lock().unwrap();
                for (to, from) in to.chunks_exact_mut(8).zip(from) {
                    let old = f64::from_ne_bytes(to.try_into().unwrap());
                    to.copy_from_slice(&(old + a * from + t as f64).to_ne_bytes());
                }
            }
            ("update_constant", [Argument::Buffer(to), Argument::Value(_), Argument::Value(a), Argument::Value(t)]) => {
                let from = doubles(&state.variables["B_constant"].lock().unwrap());
                let (a, t) = (f64::from_ne_bytes(*a), i64::from_ne_bytes(*t));
                let mut to = to.content.lock().unwrap();
                for (to, from) in to.chunks_exact_mut(8).zip(from) {
                    let old = f64::from_ne_bytes(to.try_into().unwrap());
                    to.copy_from_slice(&(old + a * from + t as f64).to_ne_bytes());
                }
            }
            (
                "update_32",
                [
                    Argument::Buffer(to),
                    Argument::Buffer(_),
                    Argument::Value([n0, n1, n2, n3, 0, 0, 0, 0]),
                    Argument::Value(_),
                    Argument::Value([t0, t1, t2, t3, 0, 0, 0, 0]),
                ],
            ) => {
                let (n, t) = (i32::from_ne_bytes([*n0, *n1, *n2, *n3]), i32::from_ne_bytes([*t0, *t1, *t2, *t3]));
                let mut to = to.content.lock().unwrap();
                assert_eq!(to.len() as i32, 8 * n);
                for to in to.chunks_exact_mut(8) {
                    let old = f64::from_ne_bytes(to.try_into().unwrap());
                    to.copy_from_slice(&(old + f64::from(t)).to_ne_bytes());
                }
            }
            ("sum", [Argument::Buffer(to), Argument::Buffer(from), Argument::Value(_)]) => {
                let sum: f64 = doubles(&from.content.lock().unwrap()).iter().sum();
                to.content.lock().unwrap().copy_from_slice(&sum.to_ne_bytes());
            }
            ("note", [Argument::Buffer(failed), Argument::Value(steps)]) => {
                if i64::from_ne_bytes(*steps) == 2 {
                    failed.content.lock().unwrap()[0] = 1;
                }
            }
            ("beside", [to, from, Argument::Value(n), Argument::Value(first), Argument::Value(last)]) => {
                let [n, first, last] = [n, first, last].map(|bytes| i64::from_ne_bytes(*bytes));
                // Where element `i`, from 1, is in the buffer.
                let place = |of: &Argument<'_, FakeBuffer>, i: i64| match of {
                    Argument::Buffer(buffer) => (buffer.content.clone(), 8 * (i - 1)),
                    Argument::Displaced(buffer, bytes) => {
                        assert_eq!(bytes % 256, 0, "the whole would not begin at an aligned address");
                        (buffer.content.clone(), bytes + 8 * (i - 1))
                    }
                    Argument::Value(_) => panic!("a buffer"),
                };
                let read = |of, i| {
                    let (content, at) = place(of, i);
                    let at = usize::try_from(at).expect("inside the buffer");
                    f64::from_ne_bytes(content.lock().unwrap()[at..at + 8].try_into().unwrap())
                };
                for i in first.max(2)..=last.min(n - 1) {
                    let value = read(to, i) + read(from, i - 1) + read(from, i + 1);
                    let (content, at) = place(to, i);
                    content.lock().unwrap()[at as usize..at as usize + 8].copy_from_slice(&value.to_ne_bytes());
                }
            }
            other => panic!("no such kernel: {other:?}", other = other.0),
        }
        Ok(())
    }

    fn address(&self, buffer: &FakeBuffer) -> u64 {
        address_of(&buffer.content)
    }

    fn graph(&self) -> Result<Self::Graph, CudaError> {
        self.call("graph".into()).map(|_| vec![])
    }

    fn add(
        &self,
        graph: &mut Self::Graph,
        kernel: &String,
        shape: LaunchShape,
        arguments: &[Argument<'_, FakeBuffer>],
    ) -> Result<(), CudaError> {
        assert_eq!(shape.blocks, Blocks::Apart);
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Buffer(buffer) => FakeArgument::Memory(buffer.content.clone()),
            Argument::Displaced(..) => panic!("parts of arrays are not in graphs"),
            Argument::Value(value) => FakeArgument::Value(*value),
        });
        graph.push((kernel.clone(), shape, arguments.collect()));
        Ok(())
    }

    fn close(&self, graph: &mut Self::Graph) -> Result<(), CudaError> {
        self.call(format!("close {}", graph.len())).map(|_| ())
    }

    unsafe fn launch_graph(&self, graph: &Self::Graph) -> Result<(), CudaError> {
        drop(self.call(format!("launch {} from a graph", graph.len()))?);
        for (kernel, shape, arguments) in graph {
            let buffers: Vec<Option<FakeBuffer>> = arguments
                .iter()
                .map(|argument| match argument {
                    FakeArgument::Memory(content) => Some(FakeBuffer { content: content.clone(), state: None }),
                    FakeArgument::Value(_) => None,
                })
                .collect();
            let arguments: Vec<Argument<'_, FakeBuffer>> = arguments
                .iter()
                .zip(&buffers)
                .map(|(argument, buffer)| match (argument, buffer) {
                    (FakeArgument::Value(value), _) => Argument::Value(*value),
                    (FakeArgument::Memory(_), buffer) => Argument::Buffer(buffer.as_ref().expect("made above")),
                })
                .collect();
            // SAFETY: the memory is kept by the graph.
            unsafe { self.launch(kernel, *shape, &arguments) }?;
            // What the launch has logged is no call of its own.
            self.state().log.pop();
        }
        Ok(())
    }

    fn record(&self, queue: Queue) -> Result<Self::Event, CudaError> {
        let between = {
            let mut state = self.state();
            let is_now = state.between.as_ref().is_some_and(|(records, _)| *records == 0);
            if let Some((records, _)) = state.between.as_mut().filter(|_| !is_now) {
                *records -= 1;
            }
            if is_now { state.between.take() } else { None }
        };
        if let Some((_, call)) = between {
            call();
        }
        let state = self.call("record".into())?;
        Ok((state.calls, state.before.get(&queue).cloned().unwrap_or_default()))
    }

    fn wait(&self, queue: Queue, event: &Self::Event) -> Result<(), CudaError> {
        let mut state = self.call("wait".into())?;
        state.before.entry(queue).or_default().extend(&event.1);
        Ok(())
    }

    fn synchronize(&self) -> Result<(), CudaError> {
        // Even a call that fails has waited.
        let mut state = self.state();
        state.busy = false;
        let all: BTreeSet<usize> = (0..state.asked.len()).collect();
        state.before = Queue::ALL.map(|queue| (queue, all.clone())).into();
        drop(state);
        self.call("synchronize".into()).map(|_| ())
    }

    fn kernel_properties(&self, _kernel: &String) -> Result<FunctionProperties, CudaError> {
        Ok(FunctionProperties { registers: 40, shared_bytes: 1024, local_bytes: 8, ..FunctionProperties::default() })
    }

    /// A multiprocessor has room for 640 threads, and 20,000 bytes of shared memory.
    fn occupancy(&self, _kernel: &String, threads: u32, shared_bytes: u32) -> Result<u32, CudaError> {
        Ok((640 / threads).min(20_000 / shared_bytes.max(1)))
    }

    fn mark(&self) -> Result<Self::Event, CudaError> {
        self.call("mark".into()).map(|state| (state.calls, BTreeSet::new()))
    }

    /// A microsecond for each launch between the two.
    fn between(&self, (start, _): &Self::Event, (end, _): &Self::Event) -> Result<Duration, CudaError> {
        Ok(Duration::from_micros((end - start) as u64 - 1))
    }
}

const A: ArrayId = ArrayId(0);
const B: ArrayId = ArrayId(1);
const R: ArrayId = ArrayId(2);
const N: ParamId = ParamId(0);
const T: VariableId = VariableId(0);

pub fn array(array: ArrayId, name: &str) -> PlanArgument {
    PlanArgument::Array { array, name: name.into(), element: ScalarType::F64, rank: 1 }
}

pub fn extent(array: ArrayId) -> EntryParameter {
    EntryParameter::Extent { array, axis: 0, param: None }
}

pub fn buffer(id: u32, name: &str, extents: Vec<IntExpr>, host: HostSide) -> DeviceBuffer {
    DeviceBuffer {
        id: BufferId(id),
        name: name.into(),
        element: ScalarType::F64,
        extents,
        host,
        memory: DeviceMemory::Allocated,
        padded: None,
    }
}

pub fn kernel_buffer(id: u32, access: BufferAccess) -> KernelParam {
    KernelParam::Buffer { buffer: BufferId(id), access }
}

/// `for t in 1:steps; A .+= a .* B .+ t; end`, in blocks of 32 threads.
pub fn update_plan() -> LaunchPlan {
    let n = || IntExpr::Param(N);
    let at_most = |param: u32| Cond::Compare(CompareOp::Le, IntExpr::Param(ParamId(param)), IntExpr::Const(1 << 30));
    LaunchPlan {
        entry: Entry {
            parameters: vec![
                EntryParameter::Pointer(A),
                extent(A),
                EntryParameter::Pointer(B),
                extent(B),
                EntryParameter::Scalar(ScalarId(0)),
                EntryParameter::Scalar(ScalarId(1)),
            ],
            aliases: vec![],
            widened: vec![],
            derived: vec![],
            context: Cond::And(vec![at_most(0), at_most(1), at_most(2)]),
            apart: vec![(A, B)],
            unfolded: vec![],
            checks: vec![Check {
                number: 3,
                holds: Cond::Compare(CompareOp::Le, n(), IntExpr::Param(ParamId(1))),
                about: "S reads B[i]".into(),
            }],
            sizes: vec![],
        },
        arguments: vec![
            array(A, "A"),
            array(B, "B"),
            PlanArgument::Scalar { name: "a".into(), ty: ScalarType::F64 },
            PlanArgument::Scalar { name: "steps".into(), ty: ScalarType::I64 },
        ],
        params: vec![
            ParamOrigin::Extent { array: A, axis: 0 },
            ParamOrigin::Extent { array: B, axis: 0 },
            ParamOrigin::Argument(ScalarId(1)),
        ],
        results: vec![],
        buffers: vec![
            buffer(0, "A", vec![n()], HostSide::Argument(A)),
            buffer(1, "B", vec![IntExpr::Param(ParamId(1))], HostSide::Argument(B)),
        ],
        kernels: vec![PlannedKernel {
            name: "update".into(),
            grid: [n().plus(IntExpr::Const(31)).floor_div(32), IntExpr::Const(1), IntExpr::Const(1)],
            block: [32, 1, 1],
            width: Width::Wide,
            blocks: Blocks::Apart,
            dynamic: 0,
            arguments: vec![
                kernel_buffer(0, BufferAccess::Write),
                kernel_buffer(1, BufferAccess::Read),
                KernelParam::Param(N),
                KernelParam::Scalar(ScalarId(0)),
                KernelParam::Variable(T),
            ],
        }],
        queues: Queues::One,
        failed: None,
        steps: vec![
            Step::Allocate(BufferId(0)),
            Step::Allocate(BufferId(1)),
            Step::CopyIn(BufferId(0)),
            Step::CopyIn(BufferId(1)),
            Step::For {
                variable: T,
                lower: IntExpr::Const(1),
                upper: IntExpr::Param(ParamId(2)),
                step: 1,
                going: vec![],
                body: vec![Step::Launch(KernelId(0))],
            },
            Step::CopyOut(BufferId(0)),
            Step::Free(BufferId(1)),
            Step::Free(BufferId(0)),
        ],
    }
}

/// Where memory of the GPU lies: at no address of the host, and further from other memory than any test has of it.
fn address_of(content: &Arc<Mutex<Vec<u8>>>) -> u64 {
    (Arc::as_ptr(content).addr() as u64) << 12
}

/// The arguments of an update of these arrays.
pub fn update_arguments(a: f64, to: &mut [f64], from: &[f64], steps: i64) -> [ArgumentValue; 6] {
    let length = |of: &[f64]| ArgumentValue::Scalar(Constant::i64(of.len() as i64));
    [
        ArgumentValue::Pointer(to.as_mut_ptr().cast()),
        length(to),
        ArgumentValue::Pointer(from.as_ptr().cast_mut().cast()),
        length(from),
        ArgumentValue::Scalar(Constant::f64(a)),
        ArgumentValue::Scalar(Constant::i64(steps)),
    ]
}

/// Calls the update with these arrays.
fn update<G: Gpu>(
    program: &CudaProgram<G>,
    a: f64,
    to: &mut [f64],
    from: &[f64],
    steps: i64,
) -> Result<i32, RuntimeError> {
    // SAFETY: the arrays are as long as said, and `from` is only read.
    unsafe { program.call(&update_arguments(a, to, from, steps)) }
}

fn load(gpu: &Arc<FakeGpu>) -> CudaProgram<FakeGpu> {
    let program = CudaProgram::load(gpu.clone(), b"", update_plan()).unwrap();
    gpu.log();
    program
}

#[test]
fn inputs_are_copied_once_in_and_outputs_once_out_around_the_hosts_loop() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let mut a = vec![1.0; 40];
    assert_eq!(update(&program, 0.5, &mut a, &[2.0; 40], 2).unwrap(), 0);
    assert_eq!(a, [1.0 + (1.0 + 1.0) + (1.0 + 2.0); 40]);
    let launch = "launch update [2, 1, 1] [32, 1, 1]";
    assert_eq!(gpu.log(), ["alloc 320", "alloc 320", "in 320", "in 320", launch, launch, "out 320", "synchronize"]);
}

#[test]
fn launches_that_are_made_again_with_the_same_arguments_come_from_a_graph() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let call = |a: f64, length: usize, steps: i64| {
        let mut to = vec![1.0; length];
        assert_eq!(update(&program, a, &mut to, &vec![2.0; length], steps).unwrap(), 0);
        let sum = (1..=steps).map(|t| 2.0 * a + t as f64).sum::<f64>();
        assert_eq!(to, vec![1.0 + sum; length]);
        let calls = gpu.log().into_iter().filter(|call| !call.starts_with("alloc") && !call.contains(" 320"));
        calls.collect::<Vec<_>>()
    };
    let launches = vec!["launch update [2, 1, 1] [32, 1, 1]"; 16];
    let from_graph = "launch 16 from a graph";
    assert_eq!(call(0.5, 40, 16), [launches.clone(), vec!["synchronize"]].concat());
    assert_eq!(call(0.5, 40, 16), ["graph", "close 16", from_graph, "synchronize"]);
    assert_eq!(call(0.5, 40, 16), [from_graph, "synchronize"]);
    assert_eq!(call(0.25, 40, 16).len(), 17, "another scalar");
    assert_eq!(call(0.5, 40, 15).len(), 16, "too few launches");
    assert_eq!(call(0.5, 40, 15).len(), 16, "and they are not remembered");
    assert_eq!(call(0.5, 40, 16), [from_graph, "synchronize"]);
    call(0.5, 3, 1);
    assert_eq!(call(0.5, 40, 16).last().unwrap(), "synchronize");
}

#[test]
fn a_graph_that_the_driver_refuses_leaves_the_launches() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    update(&program, 0.5, &mut [1.0; 4], &[2.0; 4], 16).unwrap();
    gpu.log();
    // The calls are two copies, then the graph.
    let calls = gpu.state().calls;
    gpu.state().fail_at = Some(calls + 3);
    let mut to = [1.0; 4];
    assert_eq!(update(&program, 0.5, &mut to, &[2.0; 4], 16).unwrap(), 0);
    assert_eq!(to, [1.0 + 16.0 + 136.0; 4]);
    assert_eq!(gpu.log().iter().filter(|call| call.starts_with("launch update")).count(), 16);
}

/// The update with a kernel for all steps: one block for each element at most, and it adds the number of steps once.
fn together_plan() -> LaunchPlan {
    let mut plan = update_plan();
    let mut all = plan.kernels[0].clone();
    all.grid = [IntExpr::Param(N), IntExpr::Const(1), IntExpr::Const(1)];
    all.arguments[4] = KernelParam::Param(ParamId(2));
    all.blocks = Blocks::Together;
    plan.kernels.push(all);
    let apart = plan.steps.remove(4);
    plan.steps.insert(4, Step::Together { kernel: KernelId(1), apart: vec![apart] });
    plan
}

#[test]
fn blocks_that_wait_for_each_other_are_as_many_as_the_device_holds() {
    // 20 blocks of 32 threads on each of two multiprocessors.
    let launches = |together: i32, is_crowded: bool, n: usize| {
        let properties =
            DeviceProperties { launches_together: together, multiprocessors: 2, ..DeviceProperties::default() };
        let gpu = FakeGpu::with(properties, u64::MAX);
        gpu.state().is_crowded = is_crowded;
        let program = CudaProgram::load(gpu.clone(), b"", together_plan()).unwrap();
        let mut a = vec![1.0; n];
        assert_eq!(update(&program, 0.5, &mut a, &vec![2.0; n], 2).unwrap(), 0);
        let launches: Vec<String> = gpu.log().into_iter().filter(|call| call.starts_with("launch")).collect();
        // Once the sum, plus two; or twice, plus one and two.
        let grids = launches.iter().map(|call| call["launch update ".len()..].replace(" [32, 1, 1]", ""));
        (grids.collect::<Vec<_>>().join(" "), a.first().copied())
    };
    assert_eq!(launches(1, false, 30), ("[30, 1, 1]".to_string(), Some(4.0)));
    assert_eq!(launches(1, false, 640), ("[40, 1, 1]".to_string(), Some(4.0)));
    assert_eq!(launches(1, false, 641), ("[21, 1, 1] [21, 1, 1]".to_string(), Some(6.0)), "too many turns");
    assert_eq!(launches(0, false, 30), ("[1, 1, 1] [1, 1, 1]".to_string(), Some(6.0)), "no such device");
    assert_eq!(launches(1, true, 30), ("[30, 1, 1] [1, 1, 1] [1, 1, 1]".to_string(), Some(6.0)), "no room");
    assert_eq!(launches(1, false, 0), (String::new(), None));
}

#[test]
fn blocks_that_keep_their_tiles_take_no_turns() {
    let launches = |shared: u32, n: usize| {
        let properties = DeviceProperties { launches_together: 1, multiprocessors: 2, ..DeviceProperties::default() };
        let gpu = FakeGpu::with(properties, u64::MAX);
        let mut plan = together_plan();
        (plan.kernels[1].blocks, plan.kernels[1].dynamic) = (Blocks::Resident, shared);
        let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
        assert_eq!(update(&program, 0.5, &mut vec![1.0; n], &vec![2.0; n], 2).unwrap(), 0);
        gpu.log().into_iter().filter(|call| call.starts_with("launch")).collect::<Vec<_>>()
    };
    assert_eq!(launches(1000, 40), ["launch update [40, 1, 1] [32, 1, 1]"]);
    assert_eq!(launches(1000, 41).len(), 2, "one block too many");
    assert_eq!(launches(10_000, 4), ["launch update [4, 1, 1] [32, 1, 1]"]);
    assert_eq!(launches(10_000, 5).len(), 2, "two blocks a multiprocessor have room for their memory");
    assert_eq!(launches(20_001, 1).len(), 2, "no block may have so much memory");
}

#[test]
fn blocks_that_need_more_shared_memory_than_the_gpu_gives_them_are_refused_before_anything_is_done() {
    let run = |opt_in: i32, steps: i64| {
        let properties = DeviceProperties {
            shared_bytes_per_block: 49_152,
            shared_bytes_per_block_opt_in: opt_in,
            ..DeviceProperties::default()
        };
        let gpu = FakeGpu::with(properties, u64::MAX);
        let mut plan = update_plan();
        plan.kernels[0].dynamic = 132_096;
        // Where a call does not come to the kernel, it asks for nothing.
        let condition = Cond::compare(CompareOp::Ge, IntExpr::Param(ParamId(2)), IntExpr::Const(2));
        let then = vec![plan.steps.remove(4)];
        plan.steps.insert(4, Step::If { condition, then, otherwise: vec![] });
        let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
        gpu.log();
        let mut a = vec![1.0; 4];
        let ended = update(&program, 0.5, &mut a, &[2.0; 4], steps);
        let ended = ended.map_err(|error| (error.status(), error.to_string()));
        program.pool().drain();
        assert_eq!(gpu.held(), (0, 0));
        (ended, gpu.log().iter().any(|call| call.starts_with("launch")), a[0])
    };
    let text = "the blocks of kernel `update` need 133120 bytes of shared memory each; the GPU gives a block 101376";
    assert_eq!(run(101_376, 2), (Err((-5, text.to_string())), false, 1.0));
    assert_eq!(run(101_376, 1), (Ok(0), false, 1.0));
    assert_eq!(run(232_448, 2), (Ok(0), true, 6.0));
    // What the kernel declares by itself counts, too.
    assert!(run(132_096, 2).0.is_err() && run(133_119, 2).0.is_err());
    assert_eq!(run(133_120, 2), (Ok(0), true, 6.0));
    // One that knows of no more than what kernels may declare.
    assert!(run(0, 2).0.is_err());
}

/// The kernel for all steps and nothing else, where there are this many steps or more.
fn required_plan(steps: i64) -> LaunchPlan {
    let mut plan = together_plan();
    (plan.kernels[1].blocks, plan.kernels[1].dynamic) = (Blocks::Resident, 1000);
    let Step::Together { kernel, apart } = plan.steps.remove(4) else { panic!("all steps are one") };
    let condition = Cond::compare(CompareOp::Ge, IntExpr::Param(ParamId(2)), IntExpr::Const(steps));
    let then = vec![Step::Together { kernel, apart: vec![] }];
    plan.steps.insert(4, Step::If { condition, then, otherwise: apart });
    plan
}

#[test]
fn blocks_that_nothing_stands_in_for_run_at_once_or_the_call_is_refused() {
    let run = |together: i32, is_crowded: bool, n: usize| {
        let properties =
            DeviceProperties { launches_together: together, multiprocessors: 2, ..DeviceProperties::default() };
        let gpu = FakeGpu::with(properties, u64::MAX);
        gpu.state().is_crowded = is_crowded;
        let program = CudaProgram::load(gpu.clone(), b"", required_plan(2)).unwrap();
        gpu.log();
        let mut a = vec![1.0; n];
        let ended = update(&program, 0.5, &mut a, &vec![2.0; n], 2);
        let ended = ended.map_err(|error| (error.status(), error.to_string()));
        assert!(ended.is_ok() || a.iter().all(|it| *it == 1.0), "something was written");
        (ended, gpu.log())
    };
    let refused = |blocks: usize, held: usize| {
        Err((
            STATUS_GRID_TOO_LARGE,
            format!(
                "kernel `update` keeps its domain in {blocks} blocks with 1000 bytes of shared memory each, which have to run at once; \
                 the GPU runs {held}"
            ),
        ))
    };
    assert_eq!(run(1, false, 40).0, Ok(0));
    assert_eq!(run(1, false, 0).0, Ok(0));
    // Before anything is allocated or copied.
    let (ended, calls) = run(1, false, 41);
    assert_eq!(ended, refused(41, 40));
    assert!(calls.iter().all(|call| !["alloc", "in", "launch"].iter().any(|it| call.starts_with(it))), "{calls:?}");
    assert_eq!(run(0, false, 4).0, refused(4, 0), "no such device");
    assert_eq!(run(1, true, 30).0, refused(30, 40), "another process");
}

#[test]
fn blocks_are_required_where_a_call_comes_to_them() {
    let properties = DeviceProperties { launches_together: 1, multiprocessors: 2, ..DeviceProperties::default() };
    let gpu = FakeGpu::with(properties, u64::MAX);
    let program = CudaProgram::load(gpu.clone(), b"", required_plan(3)).unwrap();
    let mut a = [1.0; 41];
    assert!(update(&program, 0.5, &mut a, &[2.0; 41], 3).is_err());
    assert_eq!(update(&program, 0.5, &mut a, &[2.0; 41], 2).unwrap(), 0);
    assert_ne!(a, [1.0; 41]);
}

/// The update with `B` in constant memory.
fn constant_plan() -> LaunchPlan {
    let mut plan = update_plan();
    plan.buffers[1].name = "B_constant".into();
    plan.buffers[1].memory = DeviceMemory::Constant;
    plan.kernels[0].name = "update_constant".into();
    plan.kernels[0].arguments.remove(1);
    plan.steps.retain(|step| !matches!(step, Step::Allocate(BufferId(1)) | Step::Free(BufferId(1))));
    plan
}

#[test]
fn a_buffer_with_room_takes_and_gives_the_elements_of_its_array() {
    let gpu = FakeGpu::new();
    let mut plan = update_plan();
    // Three more elements for each column, of which there is one.
    let room = IntExpr::Param(N).plus(IntExpr::Const(3));
    plan.buffers[0].extents = vec![room.clone()];
    let axes = vec![PaddedAxis { elements: IntExpr::Param(N), room }];
    plan.buffers[0].padded = Some(Padded { before: 0, axes });
    let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    gpu.log();
    let mut a = vec![1.0; 40];
    assert_eq!(update(&program, 0.5, &mut a, &[2.0; 40], 1).unwrap(), 0);
    assert_eq!(a, [3.0; 40]);
    let launch = "launch update [2, 1, 1] [32, 1, 1]";
    let calls = gpu.log();
    assert_eq!(calls, ["alloc 344", "alloc 320", "in 320", "in 320", launch, "out 320", "synchronize"]);
    // An array that is on the GPU keeps its layout: it is copied there, both ways.
    let address = gpu.lend(&[1.0; 40]);
    let arguments = update_arguments(0.5, &mut [], &[2.0; 40], 1);
    let [_, _, rest @ ..] = arguments;
    let length = ArgumentValue::Scalar(Constant::i64(40));
    let arguments: Vec<ArgumentValue> =
        [ArgumentValue::Pointer(address as *mut _), length].into_iter().chain(rest).collect();
    let status = with_pointers(&arguments, |pointers| {
        let call = Packed { arguments: pointers, on_device: &[true] };
        // SAFETY: the fake GPU has the array at that address.
        unsafe { program.run(call) }
    });
    assert_eq!((status.unwrap(), gpu.lent(address)), (0, vec![3.0; 40]));
    let calls = gpu.log();
    assert!(calls.contains(&"box copy [320, 1, 1]".to_string()), "{calls:?}");
    assert!(!calls.iter().any(|call| call.starts_with("box in") || call.starts_with("box out")), "{calls:?}");
}

/// The update, which takes and gives back `steps` elements of `A` from the second one on.
fn part_plan() -> LaunchPlan {
    let mut plan = update_plan();
    let (one, n) = (IntExpr::Const(1), IntExpr::Param(N));
    let axis = PartAxis { first: one, count: IntExpr::Param(ParamId(2)), elements: n.clone(), room: n };
    let part = Part { before: 0, axes: vec![axis] };
    for step in &mut plan.steps {
        let (buffer, direction) = match step {
            Step::CopyIn(buffer @ BufferId(0)) => (*buffer, Direction::HostToDevice),
            Step::CopyOut(buffer) => (*buffer, Direction::DeviceToHost),
            _ => continue,
        };
        *step = Step::CopyPart { buffer, direction, part: part.clone() };
    }
    plan
}

#[test]
fn a_part_of_an_array_moves_and_the_rest_stays_as_it_was() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", part_plan()).unwrap();
    gpu.log();
    let mut a = vec![1.0; 40];
    assert_eq!(update(&program, 0.5, &mut a, &[2.0; 40], 3).unwrap(), 0);
    let changed = 1.0 + 2.0 + 3.0 + 4.0;
    assert_eq!(a[..5], [1.0, changed, changed, changed, 1.0]);
    assert!(a[5..].iter().all(|&it| it == 1.0));
    let log = gpu.log();
    assert_eq!(log[2..4], ["in 24", "in 320"]);
    assert_eq!(log[log.len() - 2..], ["out 24", "synchronize"]);
    // None of it.
    assert_eq!(update(&program, 0.5, &mut a, &[2.0; 40], 0).unwrap(), 0);
    assert_eq!(gpu.log(), ["in 320", "synchronize"]);
    // More than there is.
    let error = update(&program, 0.5, &mut a, &[2.0; 40], 40).unwrap_err();
    assert_eq!(error.to_string(), "the launch plan is malformed: a part of `A` is not inside of it");
}

#[test]
fn a_part_of_an_array_on_the_device_stays_there() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", part_plan()).unwrap();
    let address = gpu.lend(&[1.0; 4]);
    gpu.log();
    assert_eq!(update_mixed(&program, &mut [0.0; 4], [Some(address), None], &[2.0; 4]), 0);
    let log = gpu.log();
    assert_eq!(log.iter().filter(|it| it.contains("in ") || it.contains("out ")).collect::<Vec<_>>(), ["in 32"]);
    assert!(gpu.lent(address).iter().all(|&it| it != 1.0));
}

#[test]
fn a_profile_counts_the_bytes_of_parts() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", part_plan()).unwrap();
    let mut a = vec![1.0; 40];
    let b = [2.0; 40];
    let arguments = update_arguments(0.5, &mut a, &b, 3);
    // SAFETY: the arrays are as long as said, and `b` is only read.
    let profile = with_pointers(&arguments, |it| unsafe { program.profile(Packed::on_host(it), 2) }).unwrap().unwrap();
    assert_eq!((profile.copied_in.bytes, profile.copied_out.bytes), (24 + 320, 24));
}

#[test]
fn a_constant_is_found_when_the_program_is_loaded_and_filled_by_each_call() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", constant_plan()).unwrap();
    assert_eq!(gpu.log(), ["load", "kernel update_constant", "variable B_constant of update_constant"]);
    for value in [2.0, 3.0] {
        let mut a = vec![1.0; 4];
        assert_eq!(update(&program, 0.5, &mut a, &[value; 4], 1).unwrap(), 0);
        assert_eq!(a, [1.0 + (0.5 * value + 1.0); 4]);
        let launch = "launch update_constant [1, 1, 1] [32, 1, 1]";
        let calls: Vec<String> = gpu.log().into_iter().filter(|call| !call.starts_with("alloc")).collect();
        assert_eq!(calls, ["in 32", "in 32", launch, "out 32", "synchronize"]);
    }
    drop(program);
    assert_eq!(gpu.state().live, 0);
}

#[test]
fn calls_that_share_a_constant_take_turns() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", constant_plan()).unwrap();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let program = &program;
            scope.spawn(move || {
                let value = f64::from(number);
                for _ in 0..200 {
                    let mut a = vec![1.0; 8];
                    update(program, 1.0, &mut a, &[value; 8], 20).unwrap();
                    assert_eq!(a, [1.0 + 20.0 * value + 210.0; 8]);
                }
            });
        }
    });
}

/// What another program keeps for its next call makes room.
#[test]
fn memory_that_no_call_uses_is_freed_where_a_call_needs_it() {
    let gpu = FakeGpu::with(DeviceProperties::default(), 1000);
    let (first, second) = (load(&gpu), load(&gpu));
    // Two arrays of 400 bytes each stay, and two of 480 bytes need nearly all.
    update(&first, 0.5, &mut [1.0; 50], &[2.0; 50], 1).unwrap();
    assert_eq!((gpu.held().1, gpu.pools().bytes()), (800, 800));
    let (mut a, mut alone) = ([1.0; 60], [1.0; 60]);
    update(&second, 0.5, &mut a, &[2.0; 60], 1).unwrap();
    update(&load(&FakeGpu::new()), 0.5, &mut alone, &[2.0; 60], 1).unwrap();
    assert_eq!((a, first.pool().bytes(), gpu.held().1), (alone, 0, 960));
    update(&first, 0.5, &mut [1.0; 50], &[2.0; 50], 1).unwrap();
    drop((first, second));
    assert_eq!((gpu.held(), gpu.pools().bytes()), ((0, 0), 0));
}

#[test]
fn device_memory_is_kept_for_arrays_of_the_same_size_and_freed_with_the_program() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    update(&program, 0.5, &mut [1.0; 40], &[2.0; 40], 1).unwrap();
    gpu.log();
    update(&program, 0.5, &mut [1.0; 40], &[2.0; 40], 1).unwrap();
    assert!(!gpu.log().iter().any(|call| call.starts_with("alloc")));
    update(&program, 0.5, &mut [1.0; 3], &[2.0; 3], 1).unwrap();
    assert_eq!((gpu.state().live, program.pool().bytes()), (2, 48), "memory of another size is not kept");
    drop(program);
    assert_eq!(gpu.state().live, 0);
}

#[test]
fn checks_at_entry_come_in_the_order_of_the_c_entry() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let mut all = vec![1.0; 10];
    let pointer = all.as_mut_ptr();
    let call = |a: usize, m: i64, b: usize, n: i64, steps: i64| {
        let scalar = |value| ArgumentValue::Scalar(Constant::i64(value));
        let at = |offset: usize| ArgumentValue::Pointer(pointer.wrapping_add(offset).cast());
        let arguments = [at(a), scalar(m), at(b), scalar(n), ArgumentValue::Scalar(Constant::f64(0.0)), scalar(steps)];
        // SAFETY: every call that is not refused at entry stays inside.
        unsafe { program.call(&arguments) }.unwrap()
    };
    assert_eq!(call(0, 4, 1, 2, 1 << 40), -3, "the range comes before the overlap");
    assert_eq!(call(0, 4, 3, 2, 1), -1, "the overlap comes before the bounds");
    assert_eq!(call(0, 4, 4, 3, 1), 3);
    assert_eq!(gpu.log(), Vec::<String>::new(), "nothing ran");
    assert_eq!(call(0, 4, 4, 4, 1), 0);
    assert_eq!(call(0, 0, 0, 4, 1), 0, "an empty array overlaps nothing");
}

#[test]
fn empty_arrays_launch_and_copy_nothing() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    assert_eq!(update(&program, 0.5, &mut [], &[], 3).unwrap(), 0);
    assert!(gpu.log().iter().all(|call| call == "alloc 0" || call == "synchronize"));
    let mut a = vec![1.0; 2];
    assert_eq!(update(&program, 0.5, &mut a, &[1.0; 2], 0).unwrap(), 0);
    assert_eq!(a, [1.0; 2]);
    assert!(!gpu.log().iter().any(|call| call.starts_with("launch")));
}

#[test]
fn a_grid_that_the_gpu_does_not_allow_is_refused_with_its_size() {
    let gpu = FakeGpu::with(DeviceProperties { max_grid: [2, 1, 1], ..DeviceProperties::default() }, u64::MAX);
    let program = load(&gpu);
    assert_eq!(update(&program, 0.0, &mut [1.0; 64], &[1.0; 64], 1).unwrap(), 0);
    let mut a = vec![1.0; 65];
    let error = update(&program, 1.0, &mut a, &[1.0; 65], 1).unwrap_err();
    assert_eq!(error.to_string(), "kernel `update` needs 3 blocks along x; the GPU allows 2");
    assert_eq!(error.status(), -5);
    assert_eq!(a, [1.0; 65]);
    assert_eq!(gpu.state().live, 0);
}

#[test]
fn thread_blocks_that_the_gpu_does_not_allow_are_refused_when_loading() {
    let mut plan = update_plan();
    plan.kernels[0].block = [32, 33, 1];
    let error = CudaProgram::load(FakeGpu::new(), b"", plan).err().unwrap();
    assert!(matches!(error, RuntimeError::BlockTooLarge { block: [32, 33, 1], limit: 1024, .. }), "{error}");
}

#[test]
fn whatever_fails_nothing_is_leaked_and_no_result_is_half_written() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let before = gpu.state().calls;
    update(&program, 0.5, &mut [1.0; 40], &[2.0; 40], 2).unwrap();
    let calls = gpu.state().calls - before;
    program.pool().drain();
    for k in 1..=calls {
        let fail_at = gpu.state().calls + k;
        gpu.state().fail_at = Some(fail_at);
        let mut a = vec![1.0; 40];
        let error = update(&program, 0.5, &mut a, &[2.0; 40], 2).unwrap_err();
        assert!(matches!(error, RuntimeError::Cuda(CudaError::Driver { .. })), "{error}");
        assert_eq!(error.status(), -4);
        assert_eq!(gpu.held(), (0, 0), "call {k} of {calls}");
        // Only the last call, which waits, comes after the copy.
        assert_eq!(a == [1.0; 40], k < calls, "call {k} of {calls}");
    }
    gpu.state().fail_at = None;
    assert_eq!(update(&program, 0.5, &mut [1.0; 40], &[2.0; 40], 2).unwrap(), 0);
}

#[test]
fn too_little_memory_is_an_error_that_says_how_much_is_needed() {
    let gpu = FakeGpu::with(DeviceProperties::default(), 700);
    let program = load(&gpu);
    let error = update(&program, 0.5, &mut [1.0; 60], &[2.0; 60], 1).unwrap_err();
    assert_eq!(error.to_string(), "the arrays take 960 bytes of GPU memory; 220 of its 700 bytes are free");
    assert_eq!((error.status(), gpu.state().live), (-2, 0));
    // Memory kept for other sizes makes room.
    assert_eq!(update(&program, 0.5, &mut [1.0; 40], &[2.0; 40], 1).unwrap(), 0);
    assert_eq!(update(&program, 0.5, &mut [1.0; 43], &[2.0; 43], 1).unwrap(), 0);
    assert_eq!(gpu.state().used, 688);
}

#[test]
fn arguments_of_another_number_or_type_are_refused() {
    let program = load(&FakeGpu::new());
    // SAFETY: nothing is read of what is refused.
    let call = |arguments: &[ArgumentValue]| unsafe { program.call(arguments) };
    assert!(matches!(call(&[]), Err(RuntimeError::ArgumentCount { expected: 6, found: 0 })));
    let number = ArgumentValue::Scalar(Constant::i64(0));
    assert!(matches!(call(&[number]), Err(RuntimeError::ArgumentType { position: 0, .. })));
}

/// `sum(B)`, through memory that is allocated in each iteration of a loop.
fn sum_plan() -> LaunchPlan {
    let mut plan = update_plan();
    let n = IntExpr::Param(N);
    plan.entry.parameters = vec![EntryParameter::Pointer(B), extent(B), EntryParameter::Result(R)];
    plan.entry.context = Cond::Const(true);
    (plan.entry.apart, plan.entry.checks) = (vec![], vec![]);
    plan.arguments = vec![array(B, "B")];
    plan.params = vec![ParamOrigin::Extent { array: B, axis: 0 }];
    plan.results = vec![ScalarType::F64];
    plan.buffers = vec![
        buffer(4, "result", vec![], HostSide::Result(R)),
        buffer(7, "B", vec![n.clone()], HostSide::Argument(B)),
        buffer(9, "spare", vec![IntExpr::Const(100)], HostSide::None),
    ];
    plan.kernels = vec![PlannedKernel {
        name: "sum".into(),
        grid: [IntExpr::Const(1), IntExpr::Const(1), IntExpr::Const(1)],
        block: [1, 1, 1],
        width: Width::Wide,
        blocks: Blocks::Apart,
        dynamic: 0,
        arguments: vec![
            kernel_buffer(4, BufferAccess::Write),
            kernel_buffer(7, BufferAccess::Read),
            KernelParam::Param(N),
        ],
    }];
    let large = Cond::Compare(CompareOp::Gt, IntExpr::Variable(VariableId(1)), IntExpr::Const(2));
    plan.steps = vec![
        Step::Allocate(BufferId(4)),
        Step::Allocate(BufferId(7)),
        Step::CopyIn(BufferId(7)),
        Step::For {
            variable: T,
            lower: IntExpr::Const(5),
            upper: IntExpr::Const(11),
            step: 3,
            going: vec![],
            body: vec![
                Step::Allocate(BufferId(9)),
                Step::Let { variable: VariableId(1), value: n.plus(IntExpr::Const(0)) },
                Step::If { condition: large, then: vec![Step::Launch(KernelId(0))], otherwise: vec![] },
                Step::Free(BufferId(9)),
            ],
        },
        Step::CopyOut(BufferId(4)),
        Step::Free(BufferId(7)),
        Step::Free(BufferId(4)),
    ];
    plan
}

#[test]
fn a_scalar_result_reaches_the_caller_and_memory_of_a_loop_is_allocated_once() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", sum_plan()).unwrap();
    gpu.log();
    let (values, mut result) = ([1.0, 2.0, 4.5], 0.0f64);
    let arguments = [
        ArgumentValue::Pointer(values.as_ptr().cast_mut().cast()),
        ArgumentValue::Scalar(Constant::i64(3)),
        ArgumentValue::Pointer((&raw mut result).cast()),
    ];
    // SAFETY: the array has three elements, which are only read.
    assert_eq!(unsafe { program.call(&arguments) }.unwrap(), 0);
    assert_eq!(result, 7.5);
    let log = gpu.log();
    assert_eq!(log.iter().filter(|call| *call == "alloc 800").count(), 1);
    assert_eq!(log.iter().filter(|call| call.starts_with("launch")).count(), 3, "t is 5, 8, 11");
}

#[test]
fn a_plan_that_contradicts_itself_is_an_error() {
    let mut plan = update_plan();
    plan.steps.remove(0);
    let program = CudaProgram::load(FakeGpu::new(), b"", plan).unwrap();
    let error = update(&program, 0.5, &mut [1.0; 4], &[2.0; 4], 1).unwrap_err();
    assert_eq!(error.to_string(), "the launch plan is malformed: buffer 0 is used before it is allocated");
}

#[test]
fn a_kernel_that_counts_in_32_bits_gets_such_integers() {
    let mut plan = update_plan();
    plan.kernels[0].name = "update_32".into();
    plan.kernels[0].width = Width::Narrow;
    for (first, expected) in [(-2, Ok(0)), (1 << 31, Err(()))] {
        for step in &mut plan.steps {
            if let Step::For { lower, upper, .. } = step {
                (*lower, *upper) = (IntExpr::Const(first), IntExpr::Const(first));
            }
        }
        let program = CudaProgram::load(FakeGpu::new(), b"", plan.clone()).unwrap();
        let mut a = [1.0; 4];
        let done = update(&program, 0.5, &mut a, &[2.0; 4], 1);
        match expected {
            Ok(status) => {
                assert_eq!(done.unwrap(), status);
                assert_eq!(a, [-1.0; 4]);
            }
            Err(()) => {
                let said = done.unwrap_err().to_string();
                assert_eq!(said, "the launch plan is malformed: 2147483648 does not fit in 32 bits");
            }
        }
    }
}

/// Calls the update with arrays of which some are in the GPU's memory.
pub fn update_mixed(program: &CudaProgram<FakeGpu>, a: &mut [f64], resident: [Option<u64>; 2], b: &[f64]) -> i32 {
    let mut arguments = update_arguments(0.5, a, b, 2);
    let mut on_device = [false; 6];
    for (array, address) in resident.into_iter().enumerate() {
        if let Some(address) = address {
            arguments[2 * array] = ArgumentValue::Pointer(address as *mut c_void);
            on_device[2 * array] = true;
        }
    }
    // SAFETY: as in `update`; the fake GPU has arrays of these sizes at the addresses.
    let run = |pointers: &[*mut c_void]| unsafe { program.run(Packed { arguments: pointers, on_device: &on_device }) };
    with_pointers(&arguments, run).unwrap()
}

#[test]
fn arrays_on_the_device_stay_there_and_only_those_of_the_host_are_copied() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    gpu.lend(&[]);
    let (to, from) = (gpu.lend(&[1.0; 40]), gpu.lend(&[2.0; 40]));
    let launch = "launch update [2, 1, 1] [32, 1, 1]";
    let mut a = vec![1.0; 40];

    assert_eq!(update_mixed(&program, &mut a, [Some(to), Some(from)], &[0.0; 40]), 0);
    assert_eq!(gpu.log(), [launch, launch, "synchronize"]);
    assert_eq!(gpu.lent(to), [6.0; 40]);
    assert_eq!(a, [1.0; 40], "the host's array is not the argument");

    assert_eq!(update_mixed(&program, &mut a, [None, Some(from)], &[0.0; 40]), 0);
    assert_eq!(gpu.log(), ["alloc 320", "in 320", launch, launch, "out 320", "synchronize"]);
    assert_eq!(a, [6.0; 40]);

    assert_eq!(update_mixed(&program, &mut a, [Some(to), None], &[4.0; 40]), 0);
    assert_eq!(gpu.log(), ["in 320", launch, launch, "synchronize"], "memory of the call before is used again");
    assert_eq!(gpu.lent(to), [6.0 + 2.0 + 2.0 + 1.0 + 2.0; 40]);
    assert_eq!(gpu.lent(from), [2.0; 40]);
    drop(program);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn a_constant_is_filled_from_an_array_on_the_device() {
    let gpu = FakeGpu::new();
    let program = CudaProgram::load(gpu.clone(), b"", constant_plan()).unwrap();
    gpu.log();
    gpu.lend(&[]);
    let from = gpu.lend(&[2.0; 8]);
    let mut a = vec![1.0; 8];
    assert_eq!(update_mixed(&program, &mut a, [None, Some(from)], &[0.0; 8]), 0);
    assert_eq!(a, [6.0; 8]);
    assert!(gpu.log().contains(&"copy 64".to_owned()));
}

#[test]
fn one_array_on_the_device_for_two_arguments_overlaps() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    gpu.lend(&[]);
    let both = gpu.lend(&[1.0; 4]);
    assert_eq!(update_mixed(&program, &mut [1.0; 4], [Some(both), Some(both)], &[0.0; 4]), -1);
    assert_eq!(gpu.lent(both), [1.0; 4]);
}

#[test]
fn copies_of_arrays_on_the_device_come_with_their_places() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    gpu.lend(&[]);
    let from = gpu.lend(&[1.5, 2.5]);
    let mut arguments = update_arguments(0.5, &mut [1.0; 2], &[0.0; 2], 2);
    arguments[2] = ArgumentValue::Pointer(from as *mut c_void);
    let on_device = [false, false, true];
    // SAFETY: as in `update_mixed`.
    let copies = with_pointers(&arguments, |pointers| unsafe {
        program.host_copies(Packed { arguments: pointers, on_device: &on_device })
    });
    let expected: Vec<u8> = [1.5f64, 2.5].iter().flat_map(|value| value.to_ne_bytes()).collect();
    assert_eq!(copies.unwrap(), [(2, expected)]);
}

#[test]
fn a_profile_measures_kernels_apart_from_copies_and_leaves_the_results_of_one_call() {
    let properties = DeviceProperties { max_threads_per_multiprocessor: 2048, ..DeviceProperties::default() };
    let gpu = FakeGpu::with(properties, u64::MAX);
    let mut plan = update_plan();
    plan.kernels[0].dynamic = 2_000;
    let program = CudaProgram::load(gpu.clone(), b"", plan).unwrap();
    let mut a = vec![1.0; 40];
    let arguments = update_arguments(0.5, &mut a, &[2.0; 40], 2);
    // SAFETY: as in `update`.
    let profile = with_pointers(&arguments, |pointers| unsafe { program.profile(Packed::on_host(pointers), 3) })
        .unwrap()
        .unwrap();
    assert_eq!(a, [1.0 + (1.0 + 1.0) + (1.0 + 2.0); 40]);
    assert_eq!(profile.params, [40, 40, 2]);
    assert_eq!(profile.kernels_time, Duration::from_micros(2), "both launches in one span");
    assert_eq!((profile.copied_in.count, profile.copied_in.bytes), (2, 640));
    assert_eq!((profile.copied_out.count, profile.copied_out.bytes), (1, 320));
    let [kernel] = profile.kernels.as_slice() else { panic!("{profile:?}") };
    assert_eq!((kernel.name.as_str(), kernel.launches, kernel.time), ("update", 2, Duration::from_micros(2)));
    assert_eq!((kernel.grid, kernel.block), ([2, 1, 1], [32, 1, 1]));
    assert_eq!((kernel.registers, kernel.shared_bytes, kernel.local_bytes), (40, 3024, 8));
    assert_eq!((kernel.blocks, kernel.occupancy), (10, 0.15625));
    let log = gpu.log();
    let times = |it: &str| log.iter().filter(|call| *call == it).count();
    assert_eq!(
        (times("out 320"), times("clear")),
        (1, 7),
        "a first call, three for the span, and three for each launch"
    );
    program.pool().drain();
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn a_profile_of_a_call_that_is_refused_is_its_status() {
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    let arguments = update_arguments(0.5, &mut [1.0; 4], &[2.0; 3], 1);
    // SAFETY: as in `update`.
    let refused =
        with_pointers(&arguments, |pointers| unsafe { program.profile(Packed::on_host(pointers), 1) }).unwrap();
    assert_eq!(refused.unwrap_err(), 3);
    assert_eq!(gpu.held(), (0, 0));
}

#[test]
fn a_profile_goes_without_scratch_memory_where_there_is_none() {
    let gpu = FakeGpu::with(DeviceProperties::default(), 1000);
    let program = load(&gpu);
    let mut a = vec![1.0; 40];
    let arguments = update_arguments(0.5, &mut a, &[2.0; 40], 1);
    // SAFETY: as in `update`.
    with_pointers(&arguments, |pointers| unsafe { program.profile(Packed::on_host(pointers), 1) }).unwrap().unwrap();
    assert!(!gpu.log().iter().any(|call| call == "clear"));
    assert_eq!(a, [3.0; 40]);
}

#[test]
fn several_threads_run_one_program() {
    fn is_shared<T: Send + Sync>(_: &T) {}
    let gpu = FakeGpu::new();
    let program = load(&gpu);
    is_shared(&program);
    std::thread::scope(|scope| {
        for thread in 1..=4u32 {
            let program = &program;
            scope.spawn(move || {
                for _ in 0..50 {
                    let mut a = vec![0.0; 10];
                    update(program, f64::from(thread), &mut a, &[1.0; 10], 1).unwrap();
                    assert_eq!(a, [f64::from(thread) + 1.0; 10]);
                }
            });
        }
    });
    drop(program);
    assert_eq!(gpu.state().live, 0);
}

#[test]
fn a_real_gpu_runs_the_same_plan() {
    let device = match Device::open(0) {
        Ok(device) => Arc::new(device),
        Err(error) => return println!("skipped: {error}"),
    };
    if Nvrtc::get().is_err() {
        return println!("skipped: no NVRTC (TESSELLA_NVRTC)");
    }
    let text = "extern \"C\" __global__ void update(double *A, const double *B, long long n, double a, long long t) {
        long long i = (long long)blockIdx.x * 32 + threadIdx.x;
        if (i < n) A[i] += a * B[i] + t;
    }";
    let folder = std::env::temp_dir().join(format!("tessella-test-execute-{}", std::process::id()));
    let cache = crate::Cache::at(&folder).unwrap();
    let image = compile_cuda(&cache, text, "update.cu", device.capability(), &["-fmad=false"]).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let program = CudaProgram::load(device, &image, update_plan()).unwrap();
    for n in [0, 1, 31, 1000] {
        let from: Vec<f64> = (0..n).map(|i| f64::from(i) * 0.1).collect();
        let (mut a, mut expected) = (from.clone(), from.clone());
        assert_eq!(update(&program, 0.7, &mut a, &from, 3).unwrap(), 0);
        for t in 1..=3 {
            expected.iter_mut().zip(&from).for_each(|(a, b)| *a += 0.7 * b + f64::from(t));
        }
        assert!(a == expected, "n = {n}");
    }
}

#[path = "queues_tests.rs"]
mod queues;
