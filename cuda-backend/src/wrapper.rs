//! The host wrapper: the launch plan as C++ with the CUDA runtime.

use crate::copies_rows;
use std::collections::BTreeMap;
use tessella_codegen::c_family::{Printer, Writer, c_type};
use tessella_codegen::entry::{
    MAX_GRID, STATUS_DEVICE_FAILED, STATUS_FAILED_LATER, STATUS_GRID_TOO_LARGE, STATUS_OUT_OF_MEMORY,
};
use tessella_codegen::int_expr::{Cond, IntExpr};
use tessella_codegen::plan::{
    DeviceMemory, Event, Flag, HostSide, LaunchPlan, Padded, PlannedKernel, Queue, Queues, Required, Step,
};
use tessella_codegen::program::{KernelParam, Part, PartAxis, Width};
use tessella_polyhedral::layers::{BufferId, Direction, Lifetime};

/// Prints the helpers of the host and the entry function.
pub fn print(printer: &mut Printer<'_>, plan: &LaunchPlan, out: &mut Writer) {
    let way = Dispatch::of(plan);
    host_helpers(way, printer.program.kernels.iter().any(copies_rows), out);
    if let Queues::Apart { .. } = plan.queues {
        stream_helpers(out);
    }
    if plan.buffers.iter().any(|it| it.padded.is_some()) || plan.steps.iter().any(copies_parts) {
        box_helper(way, out);
    }
    if plan.kernels.iter().any(|it| it.blocks.wait()) {
        out.blank();
        together_helpers(way, out);
    }
    let sharing = sharing(plan);
    if !sharing.is_empty() {
        out.blank();
        sharing_helper(out);
    }
    let mut namer = printer.program.names.namer();
    plan.kernels.iter().for_each(|kernel| namer.reserve(&kernel.name));
    let device = plan.buffers.iter().map(|it| (it.id, namer.fresh(&format!("{}_device", it.name)))).collect();
    let mut wrapper = Wrapper { printer, plan, way, device };
    out.blank();
    out.line(
        "// Returns 0; k > 0 if the k-th condition on subscripts fails; -1 if arrays overlap; -2 if memory runs out;",
    );
    let required = plan.required();
    let mut or = if required.is_empty() { "" } else { ", or more blocks had to run at once than do" }.to_string();
    if !sharing.is_empty() {
        or.push_str(",\n// or a block needs more shared memory than the GPU gives");
    }
    out.text(&format!(
        "// -3 if an argument is out of range; -4 if the GPU fails; -5 if a grid would be too large{or}."
    ));
    if plan.failed.is_some() {
        out.line(format!(
            "// {STATUS_FAILED_LATER} if a subscript or value failed that could only be tested on the way."
        ));
    }
    wrapper.printer.missing_comment(out);
    out.line(
        "// Unless it is 0, nothing has been written; with -4, arrays copied back before the failure may have been.",
    );
    wrapper.printer.results_comment(out);
    out.open(format!("extern \"C\" {}", wrapper.printer.signature("__restrict__ ")));
    wrapper.printer.entry_checks(out);
    wrapper.printer.sizes_answer(out);
    if plan.takes_turns() {
        let together = plan.kernels.iter().any(|it| it.blocks.wait());
        let what = if together { "What blocks wait at" } else { "Constant memory" };
        out.line(format!("// {what} is shared by all calls: one at a time."));
        out.line("static std::mutex tessella_calls;");
        out.line("const std::lock_guard<std::mutex> tessella_turn(tessella_calls);");
    }
    for it in plan.buffers.iter().filter(|it| it.memory == DeviceMemory::Allocated) {
        out.line(format!("tessella_buffer<{}> {};", c_type(it.element), wrapper.device[&it.id]));
    }
    for (number, kernel) in plan.kernels.iter().enumerate().filter(|(_, it)| it.dynamic > 0 && it.blocks.wait()) {
        if plan.kernels[..number].iter().any(|it| it.name == kernel.name) {
            continue;
        }
        // Where a block may not have so much, others do its work.
        let attribute = "cudaFuncAttributeMaxDynamicSharedMemorySize";
        let allow = format!("cudaFuncSetAttribute({}, {attribute}, {})", kernel.name, kernel.dynamic);
        out.line(format!("if ({allow} != cudaSuccess) (void)cudaGetLastError();"));
    }
    sharing.iter().for_each(|it| wrapper.ask_for_shared(it, out));
    required.iter().for_each(|it| wrapper.check_required(it, out));
    if let Queues::Apart { events } = plan.queues {
        // Behind the buffers, so that all is done before one of them goes.
        out.line(format!("tessella_streams<{}> tessella_queues;", events.max(1)));
        out.line("TESSELLA_TRY(tessella_queues.open());");
        for (number, queue) in Queue::ALL.into_iter().enumerate() {
            out.line(format!("const cudaStream_t {} = tessella_queues.stream[{number}];", stream(queue)));
        }
    }
    wrapper.steps(&plan.steps, out);
    match plan.queues {
        Queues::Apart { .. } => out.line("TESSELLA_TRY(tessella_queues.close());"),
        Queues::One if !plan.steps.iter().any(|step| matches!(step, Step::CopyOut(_))) => {
            out.line("TESSELLA_TRY(cudaDeviceSynchronize());");
        }
        // A copy back waits for all before it.
        Queues::One => {}
    }
    for it in plan.buffers.iter().filter(|it| it.memory == DeviceMemory::Allocated) {
        out.line(format!("TESSELLA_TRY({}.release());", wrapper.device[&it.id]));
    }
    out.line("return 0;");
    out.close();
}

/// How the calls of CUDA are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dispatch {
    /// One after the other.
    InOrder,
    /// Each names its stream.
    OnStreams,
}

impl Dispatch {
    fn of(plan: &LaunchPlan) -> Dispatch {
        match plan.queues {
            Queues::One => Dispatch::InOrder,
            Queues::Apart { .. } => Dispatch::OnStreams,
        }
    }

    /// One of two texts.
    fn pick<'t>(self, in_order: &'t str, on_streams: &'t str) -> &'t str {
        match self {
            Dispatch::InOrder => in_order,
            Dispatch::OnStreams => on_streams,
        }
    }
}

/// The variable that has the stream of a queue.
fn stream(queue: Queue) -> &'static str {
    match queue {
        Queue::In => "tessella_in",
        Queue::Kernels => "tessella_kernels",
        Queue::Out => "tessella_out",
    }
}

struct Wrapper<'p, 'a> {
    printer: &'p mut Printer<'a>,
    plan: &'p LaunchPlan,
    way: Dispatch,
    /// The variables that own the buffers' copies on the device.
    device: BTreeMap<BufferId, String>,
}

impl Wrapper<'_, '_> {
    fn steps(&mut self, steps: &[Step], out: &mut Writer) {
        for step in steps {
            match step {
                Step::Allocate(buffer) => {
                    let Some(it) = self.plan.buffer(*buffer) else { continue };
                    let bytes = self.printer.bytes_of(it.element, &it.extents);
                    out.line(format!("TESSELLA_TRY({}.allocate({bytes}));", self.device[buffer]));
                }
                // What lives as long as the call is freed at its end, or when its owner goes, whichever way the function is left.
                Step::Free(buffer) => match self.printer.input.layout.buffer(*buffer).lifetime {
                    Lifetime::Argument(_) | Lifetime::Call => {}
                    Lifetime::Node(_) | Lifetime::Children { .. } => {
                        out.line(format!("TESSELLA_TRY({}.release());", self.device[buffer]))
                    }
                },
                Step::CopyIn(buffer) => {
                    let Some(host) = self.host(*buffer) else { continue };
                    if self.copy_padded(*buffer, &host, Direction::HostToDevice, out) {
                        continue;
                    }
                    match self.plan.buffer(*buffer).map(|it| (it.memory, &it.name)) {
                        Some((DeviceMemory::Constant, name)) => {
                            let bytes = self.printer.buffer_bytes(*buffer);
                            let call = match self.way {
                                Dispatch::InOrder => format!("cudaMemcpyToSymbol({name}, {host}, (size_t){bytes})"),
                                Dispatch::OnStreams => format!(
                                    "cudaMemcpyToSymbolAsync({name}, {host}, (size_t){bytes}, 0, cudaMemcpyHostToDevice, {})",
                                    stream(Queue::In)
                                ),
                            };
                            out.line(format!("TESSELLA_TRY({call});"));
                        }
                        Some((DeviceMemory::Allocated, _)) | None => {
                            let on = self.on(Queue::In);
                            out.line(format!("TESSELLA_TRY({}.copy_in({host}{on}));", self.device[buffer]));
                        }
                    }
                }
                Step::CopyOut(buffer) => {
                    let Some(host) = self.host(*buffer) else { continue };
                    if !self.copy_padded(*buffer, &host, Direction::DeviceToHost, out) {
                        let on = self.on(Queue::Out);
                        out.line(format!("TESSELLA_TRY({}.copy_out({host}{on}));", self.device[buffer]));
                    }
                }
                Step::CopyPart { buffer, direction, part } => {
                    let Some(host) = self.host(*buffer) else { continue };
                    self.copy_part(*buffer, &host, *direction, part, out);
                }
                Step::Synchronize => out.line("TESSELLA_TRY(cudaDeviceSynchronize());"),
                Step::Record { event: Event(number), queue } => out.line(format!(
                    "TESSELLA_TRY(cudaEventRecord(tessella_queues.event[{number}], {}));",
                    stream(*queue)
                )),
                Step::Wait { queue, event: Event(number) } => out.line(format!(
                    "TESSELLA_TRY(cudaStreamWaitEvent({}, tessella_queues.event[{number}], 0));",
                    stream(*queue)
                )),
                Step::Clear(buffer) => {
                    let device = &self.device[buffer];
                    out.line(format!("TESSELLA_TRY(cudaMemset({device}.at, 0, {device}.bytes));"));
                }
                Step::LeaveIf(buffer) => {
                    let device = &self.device[buffer];
                    out.open("");
                    out.line("uint8_t tessella_failed = 0;");
                    let copy = format!("cudaMemcpy(&tessella_failed, {device}.at, 1, cudaMemcpyDeviceToHost)");
                    out.line(format!("TESSELLA_TRY({copy});"));
                    out.line(format!("if (tessella_failed) return {STATUS_FAILED_LATER};"));
                    out.close();
                }
                Step::Launch(kernel) => self.launch(&self.plan.kernels[kernel.0 as usize], out),
                Step::Together { kernel, apart } => {
                    self.together(&self.plan.kernels[kernel.0 as usize], apart, out);
                }
                Step::For { variable, lower, upper, step, going, body } => {
                    let name = self.printer.program.names.variables[variable.0 as usize].clone();
                    let head = self.printer.for_head(&name, lower, upper, *step, None);
                    match going.as_slice() {
                        [] => out.open(head),
                        flags => {
                            out.open("");
                            out.line("int64_t tessella_done = 0, tessella_ask = 0;");
                            out.open(head);
                            self.ask(flags, out);
                        }
                    }
                    self.steps(body, out);
                    out.close();
                    if !going.is_empty() {
                        out.close();
                    }
                }
                Step::If { condition, then, otherwise } => {
                    let condition = self.printer.cond(condition);
                    out.open(format!("if ({condition})"));
                    self.steps(then, out);
                    if !otherwise.is_empty() {
                        out.reopen("else");
                        self.steps(otherwise, out);
                    }
                    out.close();
                }
                Step::Let { variable, value } => {
                    let value = self.printer.int(value);
                    let name = &self.printer.program.names.variables[variable.0 as usize];
                    out.line(format!("const int64_t {name} = {value};"));
                }
            }
        }
    }

    /// Leaves a loop whose iterations do nothing any more.
    fn ask(&mut self, flags: &[Flag], out: &mut Writer) {
        out.open("if (tessella_done++ == tessella_ask)");
        out.line("tessella_ask += 1 + tessella_ask / 8;");
        out.line("uint8_t tessella_flag = 0;");
        for flag in flags {
            let it = &self.device[&flag.buffer];
            out.line(format!("TESSELLA_TRY(cudaMemcpy(&tessella_flag, {it}.at, 1, cudaMemcpyDeviceToHost));"));
            out.line(format!("if ({}tessella_flag) break;", if flag.holds { "!" } else { "" }));
        }
        out.close();
    }

    /// The argument that says where a call goes.
    fn on(&self, queue: Queue) -> String {
        match self.way {
            Dispatch::InOrder => String::new(),
            Dispatch::OnStreams => format!(", {}", stream(queue)),
        }
    }

    /// Copies an array to or from a buffer with room between its elements; whether the buffer is one.
    fn copy_padded(&mut self, buffer: BufferId, host: &str, direction: Direction, out: &mut Writer) -> bool {
        let plan = self.plan;
        let Some(Padded { before, axes }) = plan.buffer(buffer).and_then(|it| it.padded.as_ref()) else { return false };
        let whole = axes.iter().map(|axis| PartAxis {
            first: IntExpr::Const(0),
            count: axis.elements.clone(),
            elements: axis.elements.clone(),
            room: axis.room.clone(),
        });
        self.copy_part(buffer, host, direction, &Part { before: *before, axes: whole.collect() }, out);
        true
    }

    /// Copies a box of an array to or from its buffer.
    fn copy_part(&mut self, buffer: BufferId, host: &str, direction: Direction, part: &Part, out: &mut Writer) {
        let number = |value: i64| IntExpr::Const(value);
        let one = PartAxis { first: number(0), count: number(1), elements: number(1), room: number(1) };
        let (inner, outer) = part.axes.split_at(part.axes.len().min(3));
        // A row alone is as long as it is.
        let alone =
            |axis: &PartAxis| PartAxis { elements: axis.count.clone(), room: axis.count.clone(), ..axis.clone() };
        let constant = self.plan.buffer(buffer).filter(|it| it.memory == DeviceMemory::Constant);
        let device = match constant {
            None => self.device[&buffer].clone() + ".at",
            Some(it) => {
                out.open("");
                out.line(format!("{} *tessella_symbol;", c_type(it.element)));
                out.line(format!("TESSELLA_TRY(cudaGetSymbolAddress((void **)&tessella_symbol, {}));", it.name));
                "tessella_symbol".to_string()
            }
        };
        let alone: Vec<PartAxis> = inner.iter().map(alone).collect();
        let inner = if part.axes.len() == 1 { &alone } else { inner };
        let axis = |at: usize| inner.get(at).unwrap_or(&one).clone();
        let (mut on_device, mut on_host) = (vec![device], vec![host.to_string()]);
        if part.before != 0 {
            on_device.push(self.printer.int(&number(i64::from(part.before))));
        }
        // What lies from one place to the next along an axis.
        let mut step = one.clone();
        for axis in inner {
            if axis.first != number(0) {
                on_device.push(self.printer.int(&axis.first.clone().times(step.room.clone())));
                on_host.push(self.printer.int(&axis.first.clone().times(step.elements.clone())));
            }
            step = beyond(&step, axis);
        }
        for (at, axis) in outer.iter().enumerate() {
            let name = format!("tessella_at{}", at + 1);
            let (mut lower, mut upper) = ("0".to_string(), self.printer.int(&axis.count));
            if axis.first != number(0) {
                lower = self.printer.int(&axis.first);
                upper = self.printer.int(&axis.first.clone().plus(axis.count.clone()));
            }
            out.open(format!("for (int64_t {name} = {lower}; {name} < {upper}; {name}++)"));
            on_device.push(format!("{name} * ({})", self.printer.int(&step.room)));
            on_host.push(format!("{name} * ({})", self.printer.int(&step.elements)));
            step = beyond(&step, axis);
        }
        let mut numbers = |all: &[IntExpr]| all.iter().map(|it| self.printer.int(it)).collect::<Vec<_>>().join(", ");
        let size = numbers(&[axis(0).count, axis(1).count, axis(2).count]);
        let of_device = format!("{}, {}", on_device.join(" + "), numbers(&[axis(0).room, axis(1).room]));
        let of_host = format!("{}, {}", on_host.join(" + "), numbers(&[axis(0).elements, axis(1).elements]));
        let (to, from, kind, queue) = match direction {
            Direction::HostToDevice => (of_device, of_host, "cudaMemcpyHostToDevice", Queue::In),
            Direction::DeviceToHost => (of_host, of_device, "cudaMemcpyDeviceToHost", Queue::Out),
        };
        let on = self.on(queue);
        out.line(format!("TESSELLA_TRY(tessella_copy_box({to}, {from}, {size}, {kind}{on}));"));
        outer.iter().for_each(|_| out.close());
        if constant.is_some() {
            out.close();
        }
    }

    /// A launch of all blocks at once, or the other steps.
    fn together(&mut self, kernel: &PlannedKernel, apart: &[Step], out: &mut Writer) {
        let arguments = self.arguments(kernel);
        let [x, y, z] = kernel.block;
        let name = &kernel.name;
        let most = self.printer.int(&kernel.grid[0]);
        out.open("");
        let shared = kernel.dynamic;
        out.line(format!("const unsigned int tessella_all = {};", self.all_at_once(kernel, &most)));
        out.open("if (tessella_all > 0)");
        out.line(format!(
            "TESSELLA_TRY(tessella_launch_together({name}, tessella_all, dim3({x}, {y}, {z}), {shared}{}, {arguments}));",
            self.on(Queue::Kernels)
        ));
        if !apart.is_empty() {
            out.reopen("else");
            self.steps(apart, out);
        }
        out.close();
        out.close();
    }

    /// Leaves the function where blocks do not run at once that have to.
    fn check_required(&mut self, required: &Required, out: &mut Writer) {
        let kernel = &self.plan.kernels[required.kernel.0 as usize];
        let mut blocks = self.printer.int(&kernel.grid[0]);
        if required.when != Cond::Const(true) {
            blocks = format!("{} ? {blocks} : 0", self.printer.cond(&required.when));
        }
        out.open("");
        out.line(format!("const int64_t tessella_most = {blocks};"));
        let all = self.all_at_once(kernel, "tessella_most");
        out.line(format!("if (tessella_most > 0 && {all} == 0) return {STATUS_GRID_TOO_LARGE};"));
        out.close();
    }

    /// Lets the blocks of a kernel have the shared memory that they need, or leaves the function.
    fn ask_for_shared(&mut self, sharing: &Required, out: &mut Writer) {
        let kernel = &self.plan.kernels[sharing.kernel.0 as usize];
        let asks = format!("tessella_share((const void *){}, {})", kernel.name, kernel.dynamic);
        let asks = match sharing.when {
            Cond::Const(true) => asks,
            _ => format!("{} ? {asks} : 0", self.printer.cond(&sharing.when)),
        };
        out.line(format!("if (const int tessella_status = {asks}) return tessella_status;"));
    }

    /// How many blocks of a kernel to launch at once, of so many at most.
    fn all_at_once(&self, kernel: &PlannedKernel, most: &str) -> String {
        let [x, y, z] = kernel.block;
        let (name, turns, shared) = (&kernel.name, kernel.blocks.most_turns(), kernel.dynamic);
        format!("tessella_together((const void *){name}, {}, {shared}, {most}, {turns})", x * y * z)
    }

    /// What a kernel is called with.
    fn arguments(&self, kernel: &PlannedKernel) -> String {
        let names = &self.printer.program.names;
        let integer = |name: &String| match kernel.width {
            Width::Wide => name.clone(),
            Width::Narrow => format!("(int32_t){name}"),
        };
        let arguments = kernel.arguments.iter().map(|argument| match argument {
            KernelParam::Buffer { buffer, .. } => format!("{}.at", self.device[buffer]),
            KernelParam::Param(param) => integer(&names.params[param.0 as usize]),
            KernelParam::Scalar(scalar) => names.scalars[scalar.0 as usize].clone(),
            KernelParam::Variable(variable) => integer(&names.variables[variable.0 as usize]),
        });
        arguments.collect::<Vec<_>>().join(", ")
    }

    fn launch(&mut self, kernel: &PlannedKernel, out: &mut Writer) {
        let arguments = self.arguments(kernel);
        let [x, y, z] = kernel.block;
        let on = match (self.way, kernel.dynamic) {
            (Dispatch::InOrder, 0) => String::new(),
            (Dispatch::InOrder, shared) => format!(", {shared}"),
            (Dispatch::OnStreams, shared) => format!(", {shared}, {}", stream(Queue::Kernels)),
        };
        if kernel.grid.iter().all(|extent| extent.as_const() == Some(1)) {
            out.line(format!("{}<<<1, dim3({x}, {y}, {z}){on}>>>({arguments});", kernel.name));
            out.line("TESSELLA_TRY(cudaGetLastError());");
            return;
        }
        let grid: Vec<String> = kernel.grid.iter().map(|extent| self.printer.int(extent)).collect();
        out.open("");
        out.line(format!("const tessella_grid tessella_blocks = {{{}}};", grid.join(", ")));
        out.line(format!("if (tessella_blocks.is_too_large()) return {STATUS_GRID_TOO_LARGE};"));
        out.open("if (!tessella_blocks.is_empty())");
        out.line(format!("{}<<<tessella_blocks.dims(), dim3({x}, {y}, {z}){on}>>>({arguments});", kernel.name));
        out.line("TESSELLA_TRY(cudaGetLastError());");
        out.close();
        out.close();
    }

    /// The host's side of a buffer.
    fn host(&self, buffer: BufferId) -> Option<String> {
        let names = &self.printer.program.names;
        match self.plan.buffer(buffer)?.host {
            HostSide::None => None,
            HostSide::Argument(array) => Some(names.arrays[array.0 as usize].clone()),
            HostSide::Result(array) => names.results.get(&array).cloned(),
        }
    }
}

/// What lies from one place to the next along the axis after this one.
fn beyond(step: &PartAxis, axis: &PartAxis) -> PartAxis {
    PartAxis {
        elements: step.elements.clone().times(axis.elements.clone()),
        room: step.room.clone().times(axis.room.clone()),
        ..axis.clone()
    }
}

fn copies_parts(step: &Step) -> bool {
    step.any(&|step| matches!(step, Step::CopyPart { .. }))
}

/// What copies parts of arrays, and arrays whose columns lie further apart on the device.
fn box_helper(way: Dispatch, out: &mut Writer) {
    let parameter = way.pick("", ",\n    cudaStream_t stream");
    let copy_box = way.pick("cudaMemcpy3D(&box)", "cudaMemcpy3DAsync(&box, stream)");
    let copy = way.pick(
        "cudaMemcpy(row_to, row_from, elements * sizeof(T), kind)",
        "cudaMemcpyAsync(row_to, row_from, elements * sizeof(T), kind, stream)",
    );
    out.blank();
    out.text(&format!(
        "// Copies elements in rows and planes. A row of either side takes so many elements, a plane so many rows.\n\
         template <typename T>\n\
         static cudaError_t tessella_copy_box(T *to, int64_t to_row, int64_t to_plane, const T *from, int64_t from_row,\n    \
             int64_t from_plane, int64_t elements, int64_t rows, int64_t planes, cudaMemcpyKind kind{parameter}) {{\n    \
             if (elements <= 0 || rows <= 0 || planes <= 0) return cudaSuccess;\n    \
             const int64_t longest = INT32_MAX / (int64_t)sizeof(T);\n    \
             if (to_row <= longest && from_row <= longest) {{\n        \
                 cudaMemcpy3DParms box = {{}};\n        \
                 box.srcPtr = make_cudaPitchedPtr((void *)from, from_row * sizeof(T), from_row, from_plane);\n        \
                 box.dstPtr = make_cudaPitchedPtr((void *)to, to_row * sizeof(T), to_row, to_plane);\n        \
                 box.extent = make_cudaExtent(elements * sizeof(T), rows, planes);\n        \
                 box.kind = kind;\n        \
                 return {copy_box};\n    \
             }}\n    \
             // The driver takes no longer distance between rows.\n    \
             for (int64_t at = 0; at < rows * planes; at++) {{\n        \
                 T *row_to = to + (at / rows * to_plane + at % rows) * to_row;\n        \
                 const T *row_from = from + (at / rows * from_plane + at % rows) * from_row;\n        \
                 const cudaError_t error = {copy};\n        \
                 if (error != cudaSuccess) return error;\n    \
             }}\n    \
             return cudaSuccess;\n\
         }}"
    ));
}

/// For kernels whose blocks wait for each other.
fn together_helpers(way: Dispatch, out: &mut Writer) {
    let (parameter, argument) = (way.pick("", ", cudaStream_t stream"), way.pick("", ", stream"));
    let stream = way.pick("0", "stream");
    out.text(&format!(
        "// The blocks of a kernel that run at once, and no more than `most`; 0 where launches apart are better or must be.\n\
         static unsigned int tessella_together(const void *kernel, int threads, int shared, int64_t most, int turns)\n{{\n    \
             int device = 0, able = 0, processors = 0, each = 0;\n    \
             if (cudaGetDevice(&device) != cudaSuccess\n        \
                 || cudaDeviceGetAttribute(&able, cudaDevAttrCooperativeLaunch, device) != cudaSuccess\n        \
                 || cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess\n        \
                 || cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared) != cudaSuccess) return 0;\n    \
             const int64_t held = (int64_t)processors * each;\n    \
             if (!able || most <= 0 || most > turns * held) return 0;\n    \
             return (unsigned int)(most < held ? most : held);\n}}\n\
         \n\
         template <typename... T> struct tessella_cooperative {{\n    \
             static cudaError_t launch(void (*kernel)(T...), unsigned int blocks, dim3 threads, unsigned int shared{parameter}, T... arguments)\n    {{\n        \
                 void *all[] = {{(void *)&arguments...}};\n        \
                 return cudaLaunchCooperativeKernel((const void *)kernel, dim3(blocks), threads, all, shared, {stream});\n    }}\n\
         }};\n\
         \n\
         template <typename... T, typename... U>\n\
         static cudaError_t tessella_launch_together(void (*kernel)(T...), unsigned int blocks, dim3 threads, unsigned int shared{parameter}, U... arguments)\n{{\n    \
             return tessella_cooperative<T...>::launch(kernel, blocks, threads, shared{argument}, arguments...);\n}}"
    ));
}

/// The launches that ask for shared memory: of those of one kernel the first, where all come at once.
fn sharing(plan: &LaunchPlan) -> Vec<Required> {
    let mut all: Vec<Required> = vec![];
    for it in plan.sharing() {
        let name = |it: &Required| &plan.kernels[it.kernel.0 as usize].name;
        if !all.iter().any(|other| name(other) == name(&it) && other.when == it.when) {
            all.push(it);
        }
    }
    all
}

/// For kernels that need more shared memory than they may declare.
fn sharing_helper(out: &mut Writer) {
    out.text(&format!(
        "// Lets each block of a kernel have so many bytes of shared memory; 0, or the status with which the function is left.\n\
         static int tessella_share(const void *kernel, int bytes)\n{{\n    \
             int device = 0, most = 0;\n    \
             cudaFuncAttributes own;\n    \
             if (cudaGetDevice(&device) != cudaSuccess || cudaFuncGetAttributes(&own, kernel) != cudaSuccess\n        \
                 || cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess) return {STATUS_DEVICE_FAILED};\n    \
             if (bytes + (int)own.sharedSizeBytes > most) return {STATUS_GRID_TOO_LARGE};\n    \
             const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n    \
             return error == cudaSuccess ? 0 : {STATUS_DEVICE_FAILED};\n}}"
    ));
}

fn host_helpers(way: Dispatch, copies_rows: bool, out: &mut Writer) {
    let parameter = way.pick("", ", cudaStream_t stream");
    let body = |to: &str, from: &str, kind: &str| match way {
        Dispatch::InOrder => format!(" return cudaMemcpy({to}, {from}, bytes, {kind}); "),
        Dispatch::OnStreams => format!("\n        return cudaMemcpyAsync({to}, {from}, bytes, {kind}, stream);\n    "),
    };
    let body_in = body("at", "host", "cudaMemcpyHostToDevice");
    let body_out = body("host", "at", "cudaMemcpyDeviceToHost");
    let [x, y, z] = MAX_GRID;
    // Copies of rows name the 16 bytes around the last element.
    let whole = if copies_rows { "(bytes + 15) / 16 * 16" } else { "bytes" };
    out.text(&format!(
        "// Leaves the function with a status if a call of CUDA fails.\n\
         #define TESSELLA_TRY(call) \\\n    \
             do {{ \\\n        \
                 const cudaError_t tessella_error = (call); \\\n        \
                 if (tessella_error == cudaErrorMemoryAllocation) return {STATUS_OUT_OF_MEMORY}; \\\n        \
                 if (tessella_error != cudaSuccess) return {STATUS_DEVICE_FAILED}; \\\n    \
             }} while (0)\n\
         \n\
         // Memory of the device, freed whichever way the function is left.\n\
         template <typename T> struct tessella_buffer {{\n    \
             T *at = nullptr;\n    \
             size_t bytes = 0;\n    \
             ~tessella_buffer() {{ (void)release(); }}\n    \
             cudaError_t allocate(int64_t size) {{\n        \
                 bytes = (size_t)size;\n        \
                 return cudaMalloc((void **)&at, {whole});\n    }}\n    \
             cudaError_t copy_in(const T *host{parameter}) {{{body_in}}}\n    \
             cudaError_t copy_out(T *host{parameter}) {{{body_out}}}\n    \
             cudaError_t release() {{\n        \
                 T *const before = at;\n        \
                 at = nullptr;\n        \
                 return cudaFree(before);\n    }}\n\
         }};\n\
         \n\
         // The number of blocks along each axis.\n\
         struct tessella_grid {{\n    \
             int64_t x, y, z;\n    \
             bool is_empty() const {{ return x <= 0 || y <= 0 || z <= 0; }}\n    \
             bool is_too_large() const {{ return !is_empty() && (x > {x} || y > {y} || z > {z}); }}\n    \
             dim3 dims() const {{ return dim3((unsigned)x, (unsigned)y, (unsigned)z); }}\n\
         }};"
    ));
}

fn stream_helpers(out: &mut Writer) {
    out.blank();
    out.text(
        "// Streams for copies to the device, kernels and copies back, and moments that they wait for. Whichever way the function\n\
         // is left, all is done then.\n\
         template <int events> struct tessella_streams {\n    \
             cudaStream_t stream[3] = {};\n    \
             cudaEvent_t event[events] = {};\n    \
             cudaError_t open() {\n        \
                 for (cudaStream_t &it : stream) {\n            \
                     const cudaError_t error = cudaStreamCreate(&it);\n            \
                     if (error != cudaSuccess) return error;\n        \
                 }\n        \
                 for (cudaEvent_t &it : event) {\n            \
                     const cudaError_t error = cudaEventCreateWithFlags(&it, cudaEventDisableTiming);\n            \
                     if (error != cudaSuccess) return error;\n        \
                 }\n        \
                 return cudaSuccess;\n    \
             }\n    \
             // Waits for all that was asked for, too.\n    \
             cudaError_t close() {\n        \
                 cudaError_t first = cudaSuccess;\n        \
                 for (cudaStream_t &it : stream) {\n            \
                     if (it) keep(first, cudaStreamSynchronize(it));\n        \
                 }\n        \
                 for (cudaEvent_t &it : event) {\n            \
                     if (it) keep(first, cudaEventDestroy(it));\n            \
                     it = nullptr;\n        \
                 }\n        \
                 for (cudaStream_t &it : stream) {\n            \
                     if (it) keep(first, cudaStreamDestroy(it));\n            \
                     it = nullptr;\n        \
                 }\n        \
                 return first;\n    \
             }\n    \
             ~tessella_streams() { (void)close(); }\n\n  \
             private:\n    \
             static void keep(cudaError_t &first, cudaError_t error) {\n        \
                 if (first == cudaSuccess) first = error;\n    \
             }\n\
         };",
    );
}
