//! Kernel extraction: the outermost GPU loop becomes a launch, the loops that it spreads over the GPU disappear.
//!
//! Inside a kernel the block loops come first, one directly below the other. Below them, what stands between the block
//! loops and the thread loops runs in step on all threads of a block: sequential loops and conditions are the same for
//! all of them, statements run on the first thread, and barriers keep the order (see [`crate::barriers`]). The thread loops then stand one
//! directly below the other, and what is below them belongs to one thread. Work without any GPU loop becomes a kernel
//! of one thread, so that data never leaves the device within a call.

mod combine;
mod cover;
mod grid_sync;
mod parts;

use crate::ahead::find_row_copies;
use crate::barriers::{self, Origin, Reach};
use crate::edges;
use crate::error::{CodegenError, Level, ThreadExtent};
use crate::extent::{HostLoop, most_iterations, value_range};
use crate::input::Input;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::lanes::{LANES, are_warps};
use crate::names::{Namer, Names};
use crate::params::kernel_params;
use crate::program::{Blocks, For, Guard, Kernel, KernelId, Node, Over, Spread, Statement, Width};
use crate::shared::asked_of_launch;
use crate::stream;
use crate::whole_tiles;
use parts::Part;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::algorithm::ComputationId;
use tessella_polyhedral::isl::Set;
use tessella_polyhedral::layers::{BufferId, MemorySpace};
use tessella_polyhedral::machine::{MAX_THREADS, MAX_THREADS_Z};
use tessella_polyhedral::schedule::{Path, ProcessorAxis, Tag};
use tessella_scalar::CompareOp;

/// Splits a program into host code and kernels.
pub struct Extract<'a> {
    pub input: &'a Input<'a>,
    /// What holds of the parameters.
    pub context: &'a Set,
    pub names: &'a mut Names,
    /// Names of the whole file.
    pub namer: &'a mut Namer,
    /// The loop of the schedule behind each iterator.
    pub loops: &'a BTreeMap<VariableId, Path>,
    pub kernels: Vec<Kernel>,
    /// Along each axis, what holds how many blocks earlier launches of a kernel ran.
    pub first_blocks: BTreeMap<ProcessorAxis, VariableId>,
    /// The host loops around the current place.
    pub host: Vec<HostLoop>,
    /// Of the kernels that are made now. Blocks that run together take turns, and no launch has to share them with others.
    pub blocks: Blocks,
}

impl Extract<'_> {
    /// A block of host code.
    pub fn host_block(&mut self, nodes: Vec<Node>) -> Result<Vec<Node>, CodegenError> {
        let mut block = vec![];
        let mut single: Vec<Node> = vec![];
        for node in nodes {
            if matches!(node, Node::Let { .. }) {
                block.push(node);
                continue;
            }
            if !needs_host(self.input, &node) || is_combined(&node) {
                single.push(node);
                continue;
            }
            self.flush(&mut single, &mut block)?;
            match node {
                Node::For(it) if gpu(it.tag).is_some() => {
                    let launch = self.kernel(vec![Node::For(it)])?;
                    block.push(launch);
                }
                Node::For(it) if matches!(it.tag, Tag::Stream(_)) => {
                    let launches = self.stream(&it)?;
                    block.extend(launches);
                }
                Node::For(it) if it.tag == Tag::GridSync => {
                    let together = self.grid_sync(it)?;
                    block.push(together);
                }
                Node::For(it) => {
                    let it = self.host_loop(it)?;
                    block.push(Node::For(it));
                }
                Node::If { condition, then, otherwise } => block.push(Node::If {
                    condition,
                    then: self.host_block(then)?,
                    otherwise: self.host_block(otherwise)?,
                }),
                Node::Declare { buffer, body } => {
                    if is_of_kernel(self.input, buffer) {
                        return Err(self.shared_register(buffer));
                    }
                    block.push(Node::Declare { buffer, body: self.host_block(body)? });
                }
                other => block.push(other),
            }
        }
        self.flush(&mut single, &mut block)?;
        Ok(block)
    }

    /// A loop that the host runs.
    fn host_loop(&mut self, mut it: For) -> Result<For, CodegenError> {
        let around = self.loops.get(&it.variable).map(|path| (path.clone(), it.variable));
        let is_known = around.is_some();
        self.host.extend(around);
        it.body = self.host_block(it.body)?;
        if is_known {
            self.host.pop();
        }
        Ok(it)
    }

    /// The launches that a time loop becomes.
    fn stream(&mut self, it: &For) -> Result<Vec<Node>, CodegenError> {
        let path = self.loops.get(&it.variable);
        let placed = self.input.layout.streams.iter().find(|placed| Some(&placed.path) == path);
        let Some(placed) = placed else {
            return Err(CodegenError::LoopsApart { outer: it.name.clone(), inner: it.name.clone(), between: vec![] });
        };
        let name = self.kernel_name(std::slice::from_ref(&Node::For(it.clone())));
        Ok(stream::launches(self.input, self.names, placed, it, name, &mut self.kernels))
    }

    /// Makes a kernel of one block out of what was gathered: of one thread, unless it combines updates.
    fn flush(&mut self, single: &mut Vec<Node>, block: &mut Vec<Node>) -> Result<(), CodegenError> {
        if !single.is_empty() {
            let launch = self.kernel(std::mem::take(single))?;
            block.push(launch);
        }
        Ok(())
    }

    fn kernel(&mut self, body: Vec<Node>) -> Result<Node, CodegenError> {
        let name = self.kernel_name(&body);
        let mut shape = Shape { threads: threads_below(&body), ..Shape::default() };
        collect_bound(&body, &mut shape.inside);
        self.check_inside(&body)?;
        let mut shared = vec![];
        let body = self.take_shared(body, &mut shared);
        shape.origin = self.origins(&body, &shape)?;
        self.thread_extents(&body, &name, &mut shape)?;
        let body = self.grid_level(body, &mut shape, &mut vec![])?;
        let threads = shape.block.map(|extent| extent.unwrap_or(1));
        let parts: Vec<(VariableId, IntExpr)> = shape.parts.iter().map(|it| (it.first, it.last())).collect();
        let body = match shape.threads.is_empty() {
            true => body,
            false => {
                let body = whole_tiles::split(self.input, self.context, (&self.host, &parts), threads, body)?;
                edges::run_whole(self.input, self.context, body)?
            }
        };
        let host = self.host_variables();
        let origin = Origin { loops: self.loops, host: &host };
        let body = match shape.threads.is_empty() {
            true => body,
            false => barriers::place(self.input, origin, Reach::Block, body)?,
        };
        self.check_registers(&body)?;
        barriers::check(self.input, origin, &name, &body)?;
        let mut block = shape.block.map(|extent| extent.unwrap_or(1));
        let threads: u32 = block.iter().product();
        let warps = i64::from(threads * LANES) <= MAX_THREADS && are_warps(self.input, &shape.threads, &body);
        if warps {
            block[ProcessorAxis::X as usize] = LANES;
        }
        let body = if warps { body } else { find_row_copies(self.input, body)? };
        let params = kernel_params(self.input, self.names, &body)?;
        let id = KernelId(self.kernels.len() as u32);
        let mut grid = shape.grid.map(|extent| extent.unwrap_or(IntExpr::Const(1)));
        shape.parts.iter().for_each(|it| grid[it.axis as usize] = it.blocks());
        let (same_as, width, blocks) = (None, Width::Wide, Blocks::Apart);
        let dynamic = asked_of_launch(self.input, &name, &shared, block, &body)?;
        self.kernels.push(Kernel { name, grid, block, params, shared, body, same_as, width, blocks, dynamic, warps });
        Ok(parts::launches(&shape.parts, id))
    }

    /// The iterators of the host loops around the current place.
    fn host_variables(&self) -> Vec<VariableId> {
        self.host.iter().map(|(_, variable)| *variable).collect()
    }

    /// `heat2d_S`, or `heat2d_kernel` where many statements meet.
    fn kernel_name(&mut self, body: &[Node]) -> String {
        let mut inside = BTreeSet::new();
        for node in body {
            node.walk(&mut |node| {
                if let Node::Statement(it) = node {
                    inside.insert(it.computation);
                }
            });
        }
        let all: Vec<_> = inside.iter().map(|&id| self.input.algorithm.computation(id).name.as_str()).collect();
        let what = if all.len() <= 3 { all.join("_") } else { "kernel".to_string() };
        self.namer.fresh(&format!("{}_{what}", self.names.function))
    }

    /// Nodes under which all block loops of the kernel lie.
    fn grid_level(
        &mut self,
        nodes: Vec<Node>,
        shape: &mut Shape,
        chain: &mut Vec<(ProcessorAxis, String)>,
    ) -> Result<Vec<Node>, CodegenError> {
        let Some(inner) = nodes.iter().find_map(first_block_loop) else {
            return self.block_level(nodes, shape);
        };
        let apart = |chain: &[(ProcessorAxis, String)], here: &str| CodegenError::LoopsApart {
            outer: chain.last().map_or(here, |(_, name)| name).to_string(),
            inner: inner.clone(),
            between: vec![],
        };
        if nodes.iter().filter(|node| !matches!(node, Node::Let { .. })).count() > 1 {
            return Err(apart(chain, "the kernel"));
        }
        let mut block = vec![];
        for node in nodes {
            block.push(match node {
                Node::For(it) => {
                    let Tag::GpuBlock(axis) = it.tag else { return Err(apart(chain, &it.name)) };
                    if let Some((_, outer)) = chain.iter().find(|(other, _)| *other == axis) {
                        let (outer, inner) = (outer.clone(), it.name);
                        return Err(CodegenError::AxisTwice { outer, inner, axis, level: Level::Grid });
                    }
                    let exact = ![&it.lower, &it.upper].iter().any(|bound| shape.is_inside(bound));
                    let (it, extent) = if exact {
                        let last = it.upper.clone().minus(it.lower.clone());
                        let extent = last.floor_div(it.step).plus(IntExpr::Const(1));
                        self.blocks_with_work(it, extent)?
                    } else {
                        self.covered_by_blocks(it, &shape.blocks)?
                    };
                    shape.blocks.push(For { body: vec![], ..it.clone() });
                    let it = match self.blocks == Blocks::Apart && self.passes_grid(&it, axis, &extent)? {
                        true => self.in_parts(it, axis, &extent, shape),
                        false => it,
                    };
                    shape.grid[axis as usize] = Some(extent);
                    chain.push((axis, it.name.clone()));
                    let body = self.grid_level(it.body, shape, chain)?;
                    chain.pop();
                    let guard = if exact { Guard::Unneeded } else { Guard::Needed };
                    spread(For { body, ..it }, Over::Blocks, axis, guard, vec![])
                }
                Node::If { condition, then, otherwise } if otherwise.is_empty() => {
                    Node::If { condition, then: self.grid_level(then, shape, chain)?, otherwise }
                }
                Node::Let { variable, value } => {
                    let (name, tag) = (String::new(), Tag::Sequential);
                    let (lower, upper) = (value.clone(), value.clone());
                    shape.blocks.push(For {
                        variable,
                        name,
                        tag,
                        lower,
                        upper,
                        step: 1,
                        clip: None,
                        going: None,
                        asked: None,
                        wide: None,
                        stores_last: false,
                        body: vec![],
                    });
                    Node::Let { variable, value }
                }
                _ => return Err(apart(chain, "the kernel")),
            });
        }
        Ok(block)
    }

    /// Nodes that all threads of a block run in step.
    fn block_level(&mut self, nodes: Vec<Node>, shape: &Shape) -> Result<Vec<Node>, CodegenError> {
        let mut block: Vec<Node> = vec![];
        let mut single: Vec<Node> = vec![];
        for node in nodes {
            if matches!(node, Node::Let { .. }) {
                block.push(node);
            } else if !contains(&node, |node| is_thread_loop(node) || *node == Node::Barrier) {
                single.push(node);
            } else {
                self.one_thread(&mut single, &mut block, shape);
                let node = match node {
                    Node::For(it) if it.tag.thread().is_some() => self.thread_level(it, shape)?,
                    Node::For(mut it) => {
                        it.body = self.block_level(it.body, shape)?;
                        let ahead = self.loops.get(&it.variable).and_then(|path| self.input.layout.ahead_in(path));
                        // What the next iteration uses was asked for `ahead` iterations before it.
                        it.body.extend(ahead.into_iter().flat_map(|ahead| [Node::Await(ahead - 1), Node::Barrier]));
                        Node::For(it)
                    }
                    Node::If { condition, then, otherwise } => Node::If {
                        condition,
                        then: self.block_level(then, shape)?,
                        otherwise: self.block_level(otherwise, shape)?,
                    },
                    Node::Declare { buffer, body } => Node::Declare { buffer, body: self.block_level(body, shape)? },
                    other => other,
                };
                block.push(node);
            }
        }
        self.one_thread(&mut single, &mut block, shape);
        Ok(block)
    }

    fn one_thread(&self, single: &mut Vec<Node>, block: &mut Vec<Node>, shape: &Shape) {
        if single.is_empty() {
            return;
        }
        let body = std::mem::take(single);
        if shape.threads.is_empty() {
            block.extend(body);
        } else {
            block.push(Node::OneThread { axes: shape.threads.iter().copied().collect(), body });
        }
    }

    /// A thread loop and those directly below it.
    fn thread_level(&self, outermost: For, shape: &Shape) -> Result<Node, CodegenError> {
        let mut chain = vec![];
        let node = self.thread_chain(outermost, shape, &mut chain)?;
        let missing: Vec<_> =
            shape.threads.iter().copied().filter(|axis| chain.iter().all(|(used, _)| used != axis)).collect();
        Ok(if missing.is_empty() { node } else { Node::OneThread { axes: missing, body: vec![node] } })
    }

    fn thread_chain(
        &self,
        it: For,
        shape: &Shape,
        chain: &mut Vec<(ProcessorAxis, String)>,
    ) -> Result<Node, CodegenError> {
        let Some(axis) = it.tag.thread() else {
            let outer = chain.last().map_or(String::new(), |(_, name)| name.clone());
            let inner = first_thread_loop(&Node::For(it)).unwrap_or_default();
            return Err(CodegenError::LoopsApart { outer, inner, between: vec![] });
        };
        if let Some((_, outer)) = chain.iter().find(|(other, _)| *other == axis) {
            let (outer, inner) = (outer.clone(), it.name);
            return Err(CodegenError::AxisTwice { outer, inner, axis, level: Level::Block });
        }
        chain.push((axis, it.name.clone()));
        let mut it = it;
        let mut body = self.below_thread(std::mem::take(&mut it.body), shape, chain)?;
        let combined = match it.tag {
            Tag::Combine => combine::offer(self, &it, &mut body, shape)?,
            _ => vec![],
        };
        if let Some(&origin) = shape.origin.get(&axis) {
            // One value belongs to one thread, whatever part of the loop runs.
            if it.lower.as_const() != Some(origin) {
                let from = Cond::compare(CompareOp::Ge, IntExpr::Variable(it.variable), it.lower.clone());
                body = vec![Node::If { condition: from, then: body, otherwise: vec![] }];
                it.lower = IntExpr::Const(origin);
            }
        }
        let threads = i64::from(shape.block[axis as usize].unwrap_or(1));
        let (it, guard) = self.covered_by_threads(it, threads)?;
        let alone = shape.spread_over_threads.get(&axis) == Some(&1);
        let exact = match (it.lower.as_const(), it.upper.as_const()) {
            (Some(lower), Some(upper)) => {
                let count = (upper - lower).div_euclid(it.step) + 1;
                alone && threads == count
            }
            _ => false,
        };
        let guard = if exact { Guard::Unneeded } else { guard };
        if !combined.is_empty() && guard == Guard::Turns {
            return Err(combine::refused(&it, "it may have more iterations than the block has threads"));
        }
        Ok(spread(For { body, ..it }, Over::Threads, axis, guard, combined))
    }

    fn below_thread(
        &self,
        nodes: Vec<Node>,
        shape: &Shape,
        chain: &mut Vec<(ProcessorAxis, String)>,
    ) -> Result<Vec<Node>, CodegenError> {
        let Some(inner) = nodes.iter().find_map(first_thread_loop) else { return Ok(nodes) };
        let between: Vec<String> = outside_of_thread_loops(&nodes)
            .into_iter()
            .map(|id| self.input.algorithm.computation(id).name.clone())
            .collect();
        let apart = |chain: &[(ProcessorAxis, String)]| CodegenError::LoopsApart {
            outer: chain.last().map_or(String::new(), |(_, name)| name.clone()),
            inner: inner.clone(),
            between: between.clone(),
        };
        let loops: BTreeSet<&Path> = outermost_loops(&nodes).iter().map(|it| &self.loops[it]).collect();
        // Parts of one loop, which isl cut where other statements take part: no iteration waits for another.
        if loops.len() > 1 {
            return Err(apart(chain));
        }
        let before = chain.clone();
        let mut parts: Vec<Vec<(ProcessorAxis, String)>> = vec![];
        let part = |nodes: Vec<Node>, parts: &mut Vec<_>| -> Result<Vec<Node>, CodegenError> {
            let mut inner = before.clone();
            let done = self.below_thread(nodes, shape, &mut inner)?;
            if !done.is_empty() {
                parts.push(inner);
            }
            Ok(done)
        };
        let mut block = vec![];
        for node in nodes {
            block.push(match node {
                Node::For(it) => {
                    let mut inner = before.clone();
                    let done = self.thread_chain(it, shape, &mut inner)?;
                    parts.push(inner);
                    done
                }
                Node::If { condition, then, otherwise } => {
                    let then = part(then, &mut parts)?;
                    Node::If { condition, then, otherwise: part(otherwise, &mut parts)? }
                }
                Node::Let { .. } => node,
                _ => return Err(apart(chain)),
            });
        }
        // What lies below fewer loops belongs to one thread, not to all.
        if parts.windows(2).any(|pair| pair[0] != pair[1]) {
            return Err(apart(chain));
        }
        chain.extend(parts.pop().unwrap_or_default().into_iter().skip(before.len()));
        Ok(block)
    }

    /// The block's size: for each axis the most iterations that any of its loops ever has.
    fn thread_extents(&self, body: &[Node], kernel: &str, shape: &mut Shape) -> Result<(), CodegenError> {
        let mut found: Vec<(ProcessorAxis, &For)> = vec![];
        for node in body {
            node.walk(&mut |node| {
                if let Node::For(it) = node
                    && let Some(axis) = it.tag.thread()
                {
                    found.push((axis, it));
                }
            });
        }
        let mut widest: BTreeMap<ProcessorAxis, ThreadExtent> = BTreeMap::new();
        let found_combined = found.iter().any(|(_, it)| it.tag == Tag::Combine);
        for (axis, it) in found {
            let count = match (it.lower.as_const(), it.upper.as_const()) {
                _ if shape.origin.contains_key(&axis) => {
                    let range = value_range(self.input, self.context, &self.loops[&it.variable])?;
                    range.map(|(_, most)| most - shape.origin[&axis] + 1)
                }
                (Some(lower), Some(upper)) => Some((upper - lower).div_euclid(it.step) + 1),
                _ => most_iterations(self.input, self.context, &self.loops[&it.variable], it.step)?,
            };
            let next = ThreadExtent { name: it.name.clone(), iterations: count };
            *shape.spread_over_threads.entry(axis).or_default() += 1;
            match widest.get_mut(&axis) {
                Some(sofar) if rank(sofar) >= rank(&next) => {}
                Some(sofar) => *sofar = next,
                None => {
                    widest.insert(axis, next);
                }
            }
        }
        // The tree goes through all warps of the block, those of wider loops beside it too.
        if found_combined && let Some(widest) = widest.get_mut(&ProcessorAxis::X) {
            widest.iterations = widest.iterations.map(combine::threads);
        }
        let product = widest.values().try_fold(1i64, |all, it| all.checked_mul(it.iterations?.max(1)));
        let deep = widest.get(&ProcessorAxis::Z).and_then(|it| it.iterations).unwrap_or(1);
        if product.is_none_or(|threads| threads > MAX_THREADS) {
            let loops = widest.into_values().collect();
            return Err(CodegenError::BlockTooLarge { kernel: kernel.to_string(), loops });
        }
        if deep > MAX_THREADS_Z {
            return Err(CodegenError::BlockTooDeep { kernel: kernel.to_string(), threads: deep });
        }
        for (axis, extent) in widest {
            let count = extent.iterations.unwrap_or(1).max(1);
            shape.block[axis as usize] = Some(u32::try_from(count).expect("at most the threads of a block"));
        }
        Ok(())
    }

    /// Kernels neither copy nor allocate.
    fn check_inside(&self, body: &[Node]) -> Result<(), CodegenError> {
        let mut problem = None;
        for node in body {
            node.walk(&mut |node| match node {
                Node::Copy { buffer, .. } => {
                    let buffer = self.input.layout.buffer(*buffer).name.clone();
                    problem.get_or_insert(CodegenError::CopyInKernel { buffer });
                }
                Node::Declare { buffer, .. } if !is_of_kernel(self.input, *buffer) => {
                    let buffer = self.input.layout.buffer(*buffer).name.clone();
                    problem.get_or_insert(CodegenError::AllocationInside { buffer });
                }
                _ => {}
            });
        }
        problem.map_or(Ok(()), Err)
    }

    /// Takes shared buffers out of the nodes: they live as long as the kernel.
    fn take_shared(&self, nodes: Vec<Node>, shared: &mut Vec<BufferId>) -> Vec<Node> {
        let mut block = vec![];
        for node in nodes {
            match node {
                Node::Declare { buffer, body } if self.input.layout.buffer(buffer).space == MemorySpace::Shared => {
                    if !shared.contains(&buffer) {
                        shared.push(buffer);
                    }
                    block.extend(self.take_shared(body, shared));
                }
                Node::Declare { buffer, body } => {
                    block.push(Node::Declare { buffer, body: self.take_shared(body, shared) });
                }
                Node::For(mut it) => {
                    it.body = self.take_shared(it.body, shared);
                    block.push(Node::For(it));
                }
                Node::If { condition, then, otherwise } => block.push(Node::If {
                    condition,
                    then: self.take_shared(then, shared),
                    otherwise: self.take_shared(otherwise, shared),
                }),
                other => block.push(other),
            }
        }
        block
    }

    /// Where threads keep registers from one nest of thread loops to the next: the value of such a loop that belongs to
    /// the first thread of each axis.
    fn origins(&self, body: &[Node], shape: &Shape) -> Result<BTreeMap<ProcessorAxis, i64>, CodegenError> {
        let Some(buffer) = body.iter().find_map(kept_register) else { return Ok(BTreeMap::new()) };
        let mut origins: BTreeMap<ProcessorAxis, i64> = BTreeMap::new();
        let mut found = vec![];
        for node in body {
            node.walk(&mut |node| {
                if let Node::For(For { tag, variable, step, .. }) = node
                    && let Some(axis) = tag.thread()
                {
                    found.push((axis, *variable, *step));
                }
            });
        }
        for (axis, variable, step) in found {
            let range = value_range(self.input, self.context, &self.loops[&variable])?;
            let Some((least, _)) = range.filter(|_| step == 1) else { return Err(self.shared_register(buffer)) };
            let origin = origins.entry(axis).or_insert(least);
            *origin = least.min(*origin);
        }
        debug_assert!(origins.keys().eq(&shape.threads));
        Ok(origins)
    }

    /// All statements that use a register which outlives a nest of thread loops are spread over the same axes.
    fn check_registers(&self, body: &[Node]) -> Result<(), CodegenError> {
        let mut spread: BTreeMap<BufferId, BTreeSet<ProcessorAxis>> = BTreeMap::new();
        let mut kept = vec![];
        body.iter().for_each(|node| collect_kept(node, &mut kept));
        for node in body {
            self.check_spread(node, &kept, &mut BTreeSet::new(), &mut spread)?;
        }
        Ok(())
    }

    fn check_spread(
        &self,
        node: &Node,
        kept: &[BufferId],
        axes: &mut BTreeSet<ProcessorAxis>,
        spread: &mut BTreeMap<BufferId, BTreeSet<ProcessorAxis>>,
    ) -> Result<(), CodegenError> {
        let added = match node {
            Node::Spread(Spread { over: Over::Threads, axis, .. }) => axes.insert(*axis).then_some(*axis),
            _ => None,
        };
        if let Node::Statement(it) = node {
            for access in self.input.used_accesses(it.computation) {
                let buffer = self.input.buffer_of(access.array);
                if kept.contains(&buffer) && spread.entry(buffer).or_insert_with(|| axes.clone()) != axes {
                    return Err(self.shared_register(buffer));
                }
            }
        }
        for block in node.blocks() {
            for inner in block {
                self.check_spread(inner, kept, axes, spread)?;
            }
        }
        if let Some(axis) = added {
            axes.remove(&axis);
        }
        Ok(())
    }

    fn shared_register(&self, buffer: BufferId) -> CodegenError {
        CodegenError::SharedRegister { buffer: self.input.layout.buffer(buffer).name.clone() }
    }
}

/// What is known of a kernel while it is made.
#[derive(Default)]
struct Shape {
    grid: [Option<IntExpr>; 3],
    block: [Option<u32>; 3],
    /// Axes that some loop of the kernel spreads over threads.
    threads: BTreeSet<ProcessorAxis>,
    /// How many loops share each.
    spread_over_threads: BTreeMap<ProcessorAxis, u32>,
    /// The block loops around the current place, without their bodies.
    blocks: Vec<For>,
    /// Block loops that several launches share, outermost first.
    parts: Vec<Part>,
    /// The loop value of each axis's first thread, where registers outlive thread loops.
    origin: BTreeMap<ProcessorAxis, i64>,
    /// Variables bound in the kernel.
    inside: BTreeSet<VariableId>,
}

impl Shape {
    fn is_inside(&self, expr: &IntExpr) -> bool {
        expr.involves(&|variable| self.inside.contains(&variable))
    }
}

/// A buffer in registers that thread loops lie inside of.
fn kept_register(node: &Node) -> Option<BufferId> {
    let mut kept = vec![];
    collect_kept(node, &mut kept);
    kept.first().copied()
}

fn collect_kept(node: &Node, kept: &mut Vec<BufferId>) {
    node.walk(&mut |node| {
        let spread =
            |node: &Node| is_thread_loop(node) || matches!(node, Node::Spread(Spread { over: Over::Threads, .. }));
        if let Node::Declare { buffer, body } = node
            && body.iter().any(|node| contains(node, spread))
        {
            kept.push(*buffer);
        }
    });
}

/// Whether a nest is the work of one block that combines updates: what comes before and after it is done by the block's first thread.
fn is_combined(node: &Node) -> bool {
    match node {
        Node::For(it) => it.tag == Tag::Combine,
        Node::If { then, otherwise, .. } => otherwise.is_empty() && !then.is_empty() && then.iter().all(is_combined),
        _ => false,
    }
}

/// Whether kernels have memory of their own for the buffer.
fn is_of_kernel(input: &Input<'_>, buffer: BufferId) -> bool {
    matches!(input.layout.buffer(buffer).space, MemorySpace::Register | MemorySpace::Shared)
}

fn spread(it: For, over: Over, axis: ProcessorAxis, guard: Guard, combined: Vec<Statement>) -> Node {
    let For { variable, name, lower, upper, step, body, .. } = it;
    Node::Spread(Spread { variable, name, over, axis, lower, upper, step, guard, body, combined, rows: None })
}

/// Loops of unknown length are the widest.
fn rank(extent: &ThreadExtent) -> i64 {
    extent.iterations.unwrap_or(i64::MAX)
}

fn gpu(tag: Tag) -> Option<ProcessorAxis> {
    match tag {
        Tag::GpuBlock(axis) | Tag::GpuThread(axis) => Some(axis),
        Tag::Combine => tag.thread(),
        Tag::Sequential
        | Tag::Parallel
        | Tag::Vector(_)
        | Tag::Unroll(_)
        | Tag::Rows
        | Tag::Separate
        | Tag::Stream(_)
        | Tag::GridSync => None,
    }
}

fn is_thread_loop(node: &Node) -> bool {
    matches!(node, Node::For(it) if it.tag.thread().is_some())
}

fn contains(node: &Node, test: fn(&Node) -> bool) -> bool {
    let mut found = false;
    node.walk(&mut |node| found |= test(node));
    found
}

/// Whether the node holds a launch, a copy, an allocation, or a barrier for the host.
fn needs_host(input: &Input<'_>, node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |node| {
        found |= match node {
            Node::For(it) => gpu(it.tag).is_some() || matches!(it.tag, Tag::Stream(_) | Tag::GridSync),
            // Inside of a kernel there are loops of the GPU around it.
            Node::Copy { .. } | Node::Barrier => true,
            Node::Declare { buffer, .. } => !is_of_kernel(input, *buffer),
            _ => false,
        }
    });
    found
}

fn first_block_loop(node: &Node) -> Option<String> {
    first_loop(node, |tag| matches!(tag, Tag::GpuBlock(_)))
}

/// The iterators of the outermost loops in nodes.
fn outermost_loops(nodes: &[Node]) -> Vec<VariableId> {
    let of = |node: &Node| match node {
        Node::For(it) => vec![it.variable],
        Node::If { then, otherwise, .. } => [outermost_loops(then), outermost_loops(otherwise)].concat(),
        _ => vec![],
    };
    nodes.iter().flat_map(of).collect()
}

/// The computations of which an instance stands in no loop over threads among these.
fn outside_of_thread_loops(nodes: &[Node]) -> BTreeSet<ComputationId> {
    let mut found = BTreeSet::new();
    for node in nodes {
        match node {
            Node::Statement(it) => {
                found.insert(it.computation);
            }
            Node::If { then, otherwise, .. } => {
                found.extend(outside_of_thread_loops(then));
                found.extend(outside_of_thread_loops(otherwise));
            }
            Node::For(it) if it.tag.thread().is_none() => found.extend(outside_of_thread_loops(&it.body)),
            _ => {}
        }
    }
    found
}

fn first_thread_loop(node: &Node) -> Option<String> {
    first_loop(node, |tag| tag.thread().is_some())
}

fn first_loop(node: &Node, test: fn(Tag) -> bool) -> Option<String> {
    let mut found = None;
    node.walk(&mut |node| {
        if let Node::For(it) = node
            && found.is_none()
            && test(it.tag)
        {
            found = Some(it.name.clone());
        }
    });
    found
}

fn threads_below(nodes: &[Node]) -> BTreeSet<ProcessorAxis> {
    let mut axes = BTreeSet::new();
    for node in nodes {
        node.walk(&mut |node| {
            if let Node::For(it) = node {
                axes.extend(it.tag.thread());
            }
        });
    }
    axes
}

fn collect_bound(nodes: &[Node], bound: &mut BTreeSet<VariableId>) {
    for node in nodes {
        node.walk(&mut |node| bound.extend(node.bound()));
    }
}
