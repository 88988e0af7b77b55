//! Kernels.

use std::collections::{BTreeMap, BTreeSet};
use tessella_codegen::c_family::{LoopHooks, OfKernel, Printer, Writer, c_type};
use tessella_codegen::int_expr::IntExpr;
use tessella_codegen::program::{Blocks, BufferAccess, For, Kernel, KernelParam, Node, Width};
use tessella_codegen::shared::{Place, places};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::expr::{Expr, ExprKind};
use tessella_polyhedral::layers::{Buffer, BufferId, MemorySpace};
use tessella_polyhedral::machine::Gpu;
use tessella_polyhedral::schedule::Tag;

/// The declarations of the buffers in constant memory.
pub fn constants(printer: &Printer<'_>) -> Vec<String> {
    let all = printer.input.layout.buffers.iter().zip(&printer.program.names.buffers);
    let declare = |(buffer, name): (&Buffer, &String)| match buffer.space {
        MemorySpace::Constant { elements } => {
            Some(format!("__constant__ {} {name}[{elements}];", c_type(buffer.element)))
        }
        MemorySpace::Host | MemorySpace::Global | MemorySpace::Shared | MemorySpace::Register => None,
    };
    all.filter_map(declare).collect()
}

/// Prints one kernel.
pub fn print(printer: &mut Printer<'_>, kernel: &Kernel, out: &mut Writer) {
    printer.width = kernel.width;
    printer.threads_of_block = kernel.block;
    printer.in_warps = kernel.warps;
    printer.rows = OfKernel::new(&printer.input, kernel);
    text(printer, kernel, out);
    // The host, and macros for all kernels, count in 64 bits.
    printer.width = Width::Wide;
    printer.in_warps = false;
}

fn text(printer: &mut Printer<'_>, kernel: &Kernel, out: &mut Writer) {
    let cache = read_only_cache(printer, kernel);
    let params: Vec<String> =
        kernel.params.iter().map(|param| parameter(printer, kernel.blocks, cache, *param)).collect();
    let streaming = match kernel.body.as_slice() {
        [Node::Streaming(it)] => Some(it),
        _ => None,
    };
    if let Some(it) = streaming {
        printer.strip(&kernel.name, &params, it, out);
    }
    let threads: u32 = kernel.block.iter().product();
    let bounds = match streaming {
        Some(it) => {
            let algorithm = printer.input.algorithm;
            let blocks = match it.hexagons() {
                Some((hexagon, _)) => hexagon.blocks(algorithm, &it.stream, &Gpu::HOPPER),
                None if it.residing.is_some() => 1,
                None if it.rest.is_some() => it.stream.blocks_of_rest(algorithm, &Gpu::HOPPER),
                None => it.stream.blocks(algorithm, &Gpu::HOPPER),
            };
            format!("{threads}, {blocks}")
        }
        None => match blocks_at_least(kernel, threads) {
            Some(blocks) => format!("{threads}, {blocks}"),
            None => threads.to_string(),
        },
    };
    let head = format!("extern \"C\" __global__ void __launch_bounds__({bounds}) {}", kernel.name);
    let line = format!("{head}({})", params.join(", "));
    if line.len() <= 110 {
        out.open(line);
    } else {
        out.line(format!("{head}("));
        for (at, param) in params.iter().enumerate() {
            let comma = if at + 1 == params.len() { "" } else { "," };
            out.line(format!("    {param}{comma}"));
        }
        out.open(")");
    }
    shared(printer, kernel, out);
    match streaming {
        Some(it) => {
            let arguments: Vec<String> = kernel.params.iter().map(|param| name(printer, *param)).collect();
            printer.streaming(&kernel.name, &arguments, it, out);
        }
        None => {
            let mut body = Writer::default();
            printer.block(&kernel.body, &mut Pragmas, &mut body);
            if let Some(declaration) = printer.rows_declaration() {
                out.line(declaration);
            }
            out.text(&body.finish());
        }
    }
    out.close();
}

/// The buffers that the threads of a block share: for vector loads, their addresses are multiples of 16 bytes.
fn shared(printer: &mut Printer<'_>, kernel: &Kernel, out: &mut Writer) {
    if kernel.shared.is_empty() || kernel.dynamic == 0 {
        for &buffer in &kernel.shared {
            let declaration = printer.declaration(buffer);
            out.line(format!("__shared__ __align__(16) {declaration}"));
        }
        return;
    }
    let memory = printer.program.names.namer().fresh("shared");
    out.line(format!("extern __shared__ __align__(16) unsigned char {memory}[];"));
    let (places, _) = places(&printer.input, &kernel.shared);
    for Place { buffer, first } in places {
        let element = c_type(printer.input.layout.buffer(buffer).element);
        let name = &printer.program.names.buffers[buffer.0 as usize];
        let from = if first == 0 { memory.clone() } else { format!("({memory} + {first})") };
        out.line(format!("{element} *const {name} = ({element} *){from};"));
    }
}

/// Threads of a multiprocessor of which each has the loads of many terms in flight.
const THREADS_IN_FLIGHT: u32 = 512;
/// Loops that are unrolled at least so far load ahead.
const TERMS: u32 = 16;
/// The same where blocks combine what their threads add up: elements are of up to eight bytes, of two arrays and more.
const FEW_TERMS: u32 = 2;
/// Threads of a multiprocessor where blocks combine: there are no more of these blocks than a GPU runs with 64 registers a thread.
const THREADS_COMBINING: u32 = 1024;

/// How many blocks of a kernel a multiprocessor is to hold, if its threads add up long sums by themselves. Unless it is told, the CUDA
/// compiler makes room for as many threads as a multiprocessor can hold, 32 registers each, and has a few loads of each under way.
fn blocks_at_least(kernel: &Kernel, threads: u32) -> Option<u32> {
    let is_spread = threads > 1 && kernel.shared.is_empty() && kernel.dynamic == 0;
    let in_flight = match (kernel.body.iter().any(combines), kernel.body.iter().any(|node| adds_up(node, TERMS))) {
        (true, _) => kernel.body.iter().any(|node| adds_up(node, FEW_TERMS)).then_some(THREADS_COMBINING),
        (false, true) => Some(THREADS_IN_FLIGHT),
        (false, false) => None,
    };
    in_flight.filter(|_| is_spread).map(|all| (all / threads).clamp(1, 16))
}

/// Whether blocks combine what their threads add up.
fn combines(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= matches!(node, Node::Spread(it) if !it.combined.is_empty()));
    found
}

/// Whether a thread goes through a loop of no fixed length, unrolled at least so far, whose loads run ahead.
fn adds_up(node: &Node, terms: u32) -> bool {
    let inside = |body: &[Node]| body.iter().any(|node| adds_up(node, terms));
    match node {
        Node::For(it) => {
            let is_fixed = matches!((&it.lower, &it.upper), (IntExpr::Const(_), IntExpr::Const(_)));
            matches!(it.tag, Tag::Unroll(times) if times >= terms) && !is_fixed || inside(&it.body)
        }
        Node::Spread(it) => inside(&it.body),
        Node::If { then, otherwise, .. } => inside(then) || inside(otherwise),
        Node::Declare { body, .. } | Node::OneThread { body, .. } => inside(body),
        Node::Turns(it) => inside(&it.body),
        Node::Let { .. }
        | Node::Statement(_)
        | Node::Launch(_)
        | Node::Together { .. }
        | Node::Copy { .. }
        | Node::Barrier
        | Node::GridBarrier
        | Node::Await(_)
        | Node::Tile(_)
        | Node::Streaming(_) => false,
    }
}

/// Whether what a kernel only reads may come through the cache for data that nothing changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadOnlyCache {
    Yes,
    /// The CUDA compiler (13.0) makes one load of two that stand in the branches of a condition, `c ? t[i] : x[i]`, and sends it through that cache
    /// if one of the two arrays is `const __restrict__`, although the kernel has written the other: the load finds what was there before.
    /// Where an array has no `__restrict__`, its loads go the usual way.
    No,
}

/// Of kernels nothing may in which a value can be one of two that are loaded, one of them from an array that the kernel only reads, the other one
/// from one that it has written or that its threads share: where an expression chooses, or two statements store at one place.
fn read_only_cache(printer: &Printer<'_>, kernel: &Kernel) -> ReadOnlyCache {
    let input = &printer.input;
    let is_only_read = |buffer: BufferId| {
        kernel.params.iter().any(
            |param| matches!(param, KernelParam::Buffer { buffer: it, access: BufferAccess::Read } if *it == buffer),
        )
    };
    let mut statements = BTreeSet::new();
    for node in &kernel.body {
        node.walk(&mut |node| {
            if let Node::Statement(it) = node {
                statements.insert(it.computation);
            }
        });
    }
    // By what is written: whether some statement loads what is only read, and whether some loads other memory.
    let mut loaded: BTreeMap<BufferId, [BTreeSet<ComputationId>; 2]> = BTreeMap::new();
    for &id in &statements {
        let it = input.algorithm.computation(id);
        let mut kinds = [false; 2];
        for read in &it.reads {
            kinds[usize::from(is_only_read(input.buffer_of(read.array)))] = true;
        }
        let values = it.lets.iter().map(|it| &it.value);
        let mut all = it.predicate.iter().chain(values).chain([&it.value]);
        let mut chooses = false;
        all.by_ref().for_each(|expr| expr.walk(&mut |part| chooses |= is_choice(part)));
        if chooses && kinds == [true; 2] {
            return ReadOnlyCache::No;
        }
        let known = loaded.entry(input.buffer_of(it.write.array)).or_default();
        for (found, loads) in known.iter_mut().zip(kinds) {
            found.extend(loads.then_some(id));
        }
    }
    let differ = |[other, only]: &[BTreeSet<ComputationId>; 2]| only.iter().any(|id| other.iter().any(|it| it != id));
    if loaded.values().any(differ) { ReadOnlyCache::No } else { ReadOnlyCache::Yes }
}

fn is_choice(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Select { .. } | ExprKind::IfElse { .. })
}

fn parameter(printer: &Printer<'_>, blocks: Blocks, cache: ReadOnlyCache, param: KernelParam) -> String {
    let names = &printer.program.names;
    match param {
        KernelParam::Buffer { buffer, access } => {
            let constant = match access {
                BufferAccess::Read => "const ",
                BufferAccess::Write => "",
            };
            let element = c_type(printer.input.layout.buffer(buffer).element);
            // What other blocks write between barriers must be read again after them.
            let alone = match (blocks, access, cache) {
                (Blocks::Together | Blocks::Resident, BufferAccess::Write, _) => "",
                (_, BufferAccess::Read, ReadOnlyCache::No) => "",
                (Blocks::Apart, BufferAccess::Write, _) | (_, BufferAccess::Read, ReadOnlyCache::Yes) => {
                    "__restrict__ "
                }
            };
            format!("{constant}{element} *{alone}{}", names.buffers[buffer.0 as usize])
        }
        KernelParam::Param(param) => format!("{} {}", printer.width.c_type(), names.params[param.0 as usize]),
        KernelParam::Scalar(scalar) => {
            let ty = c_type(printer.input.algorithm.scalar(scalar).ty);
            format!("{ty} {}", names.scalars[scalar.0 as usize])
        }
        KernelParam::Variable(variable) => {
            format!("{} {}", printer.width.c_type(), names.variables[variable.0 as usize])
        }
    }
}

/// What a parameter is called.
fn name(printer: &Printer<'_>, param: KernelParam) -> String {
    let names = &printer.program.names;
    match param {
        KernelParam::Buffer { buffer, .. } => names.buffers[buffer.0 as usize].clone(),
        KernelParam::Param(param) => names.params[param.0 as usize].clone(),
        KernelParam::Scalar(scalar) => names.scalars[scalar.0 as usize].clone(),
        KernelParam::Variable(variable) => names.variables[variable.0 as usize].clone(),
    }
}

/// Only unrolling has a meaning inside of a kernel.
struct Pragmas;

impl LoopHooks for Pragmas {
    fn enter(&mut self, it: &For, _: &mut Printer<'_>, out: &mut Writer) {
        match it.tag {
            Tag::Unroll(times) => out.line(format!("#pragma unroll {times}")),
            Tag::Sequential
            | Tag::Parallel
            | Tag::Vector(_)
            | Tag::Rows
            | Tag::Separate
            | Tag::GpuBlock(_)
            | Tag::GpuThread(_)
            | Tag::Combine
            | Tag::Stream(_)
            | Tag::GridSync => {}
        }
    }

    fn leave(&mut self, _: &For) {}
}
