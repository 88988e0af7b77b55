//! A loop over steps as one kernel: what would be launches are parts of it, one after the other, between barriers of the whole
//! grid.
//!
//! Rewrite: `for t { launch S; launch R } -> launch all blocks at once { for t { turns of S; barrier; turns of R; barrier } }`
//!
//! The launches stay, for devices that do not hold the blocks and for sizes at which they pay. They are made a second time
//! for the kernel, where the limits of a grid mean nothing.

use super::{Extract, collect_bound};
use crate::ahead::find_row_copies;
use crate::barriers::{self, Origin, Reach};
use crate::error::CodegenError;
use crate::int_expr::{Cond, IntExpr, VariableId};
use crate::params::kernel_params;
use crate::program::{Blocks, For, Guard, Kernel, KernelId, Node, Over, Spread, Turns, Width};
use crate::shared::asked_of_launch;
use std::collections::BTreeSet;
use tessella_polyhedral::machine::MAX_THREADS;
use tessella_polyhedral::schedule::ProcessorAxis;
use tessella_scalar::CompareOp;

const AXES: [ProcessorAxis; 3] = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];

impl Extract<'_> {
    /// The launches of a loop over steps, and the kernel that stands for all of them.
    pub(super) fn grid_sync(&mut self, it: For) -> Result<Node, CodegenError> {
        let refused = |reason: String| CodegenError::GridSync { at: it.name.clone(), reason };
        let apart = Node::For(self.host_loop(it.clone())?);
        let first = self.kernels.len();
        self.blocks = Blocks::Together;
        let whole = self.host_loop(it.clone());
        self.blocks = Blocks::Apart;
        let mut parts = self.kernels.split_off(first);
        parts.iter_mut().flat_map(|part| &mut part.grid).for_each(|extent| *extent = within(&it, extent));
        let whole = vec![Node::For(whole?)];

        let mut bound = BTreeSet::new();
        collect_bound(&whole, &mut bound);
        let extents = || parts.iter().flat_map(|part| &part.grid);
        let changes = |variable: VariableId| extents().any(|extent| extent.involves(&|other| other == variable));
        if changes(it.variable) {
            return Err(refused("the number of blocks differs from step to step".to_string()));
        }
        if let Some(variable) = bound.iter().find(|variable| changes(**variable)) {
            let name = &self.names.variables[variable.0 as usize];
            return Err(refused(format!("within a step, the number of blocks differs with `{name}`")));
        }
        let mut block = [1; 3];
        for part in &parts {
            block.iter_mut().zip(part.block).for_each(|(most, threads)| *most = threads.max(*most));
        }
        if block.iter().map(|&threads| i64::from(threads)).product::<i64>() > MAX_THREADS {
            return Err(refused(
                "its kernels have blocks of other shapes, and one block for all would have too many threads"
                    .to_string(),
            ));
        }
        let mut shared = vec![];
        for &buffer in parts.iter().flat_map(|part| &part.shared) {
            if !shared.contains(&buffer) {
                shared.push(buffer);
            }
        }
        let body = self.in_turns(whole, (first, &parts), block)?;
        let host = self.host_variables();
        let origin = Origin { loops: self.loops, host: &host };
        let body = barriers::place(self.input, origin, Reach::Grid, body)?;
        let name = self.kernel_name(&body);
        barriers::check_grid(self.input, origin, &name, &body)?;
        // Threads that only some of the parts have come to none of their copies.
        let body = find_row_copies(self.input, body)?;
        let params = kernel_params(self.input, self.names, &body)?;
        let most = IntExpr::max_of(parts.iter().map(|part| blocks_in_all(&part.grid)));
        let grid = [most, IntExpr::Const(1), IntExpr::Const(1)];
        let kernel = KernelId(self.kernels.len() as u32);
        let (same_as, width, blocks, warps) = (None, Width::Wide, Blocks::Together, false);
        let dynamic = asked_of_launch(self.input, &name, &shared, block, &body)?;
        self.kernels.push(Kernel { name, grid, block, params, shared, body, same_as, width, blocks, dynamic, warps });
        Ok(Node::Together { kernel, apart: vec![apart] })
    }

    /// Host nodes as a part of a kernel. The kernels that they launch follow those that were there `before`.
    fn in_turns(
        &self,
        nodes: Vec<Node>,
        (before, parts): (usize, &[Kernel]),
        block: [u32; 3],
    ) -> Result<Vec<Node>, CodegenError> {
        let all = |nodes: Vec<Node>| self.in_turns(nodes, (before, parts), block);
        let named = |buffer| self.input.layout.buffer(buffer).name.clone();
        let mut turns = vec![];
        for node in nodes {
            turns.push(match node {
                Node::For(mut it) => {
                    it.body = all(it.body)?;
                    Node::For(it)
                }
                Node::If { condition, then, otherwise } => {
                    Node::If { condition, then: all(then)?, otherwise: all(otherwise)? }
                }
                Node::Launch(id) => {
                    let part = &parts[id.0 as usize - before];
                    let mut body = widened(part, block);
                    if !part.shared.is_empty() {
                        // The next turn uses the same memory.
                        body.push(Node::Barrier);
                    }
                    Node::Turns(Box::new(Turns { grid: part.grid.clone(), body }))
                }
                // The host waits for what it launched; here all wait for each other.
                Node::Barrier => continue,
                Node::Copy { buffer, .. } => return Err(CodegenError::CopyInKernel { buffer: named(buffer) }),
                Node::Declare { buffer, .. } => return Err(CodegenError::AllocationInside { buffer: named(buffer) }),
                other => other,
            });
        }
        Ok(turns)
    }
}

/// An extent in an iteration of a loop: what asks whether the iteration is one of the loop's is left out.
fn within(it: &For, extent: &IntExpr) -> IntExpr {
    let IntExpr::Select(condition, yes, no) = extent else { return extent.clone() };
    let asked = match &**condition {
        Cond::And(all) => all.clone(),
        one => vec![one.clone()],
    };
    let here = IntExpr::Variable(it.variable);
    let known = [(&here, &it.lower), (&it.upper, &here)];
    let is_known = |asked: &Cond| match asked {
        Cond::Compare(CompareOp::Ge, large, small) => known.contains(&(large, small)),
        Cond::Compare(CompareOp::Le, small, large) => known.contains(&(large, small)),
        _ => false,
    };
    match Cond::all_of(asked.into_iter().filter(|asked| !is_known(asked))) {
        Cond::Const(true) => (**yes).clone(),
        left => IntExpr::Select(Box::new(left), yes.clone(), no.clone()),
    }
}

/// The blocks of a grid; none if an extent is not positive, whatever the others are then.
fn blocks_in_all(grid: &[IntExpr; 3]) -> IntExpr {
    let unknown = grid.iter().filter(|extent| extent.as_const().is_none_or(|extent| extent < 1));
    let some = unknown.map(|extent| Cond::compare(CompareOp::Ge, extent.clone(), IntExpr::Const(1)));
    let product = grid.iter().cloned().reduce(IntExpr::times).expect("there are three");
    match Cond::all_of(some) {
        Cond::Const(true) => product,
        some => IntExpr::Select(Box::new(some), Box::new(product), Box::new(IntExpr::Const(0))),
    }
}

/// A kernel's body for blocks with more threads, of which those that it has no use for do nothing.
fn widened(part: &Kernel, block: [u32; 3]) -> Vec<Node> {
    let mut spread = BTreeSet::new();
    for node in &part.body {
        node.walk(&mut |node| match node {
            Node::Spread(Spread { over: Over::Threads, axis, .. }) => {
                spread.insert(*axis);
            }
            Node::OneThread { axes, .. } => spread.extend(axes.iter().copied()),
            _ => {}
        });
    }
    let idle = |axis: &ProcessorAxis| block[*axis as usize] > 1 && !spread.contains(axis);
    let idle: Vec<ProcessorAxis> = AXES.into_iter().filter(idle).collect();
    if spread.is_empty() && !idle.is_empty() {
        // One thread needs no barriers of its own.
        return vec![Node::OneThread { axes: idle, body: part.body.clone() }];
    }
    let wider = Wider {
        idle,
        grown: AXES.into_iter().filter(|&axis| block[axis as usize] > part.block[axis as usize]).collect(),
    };
    wider.block(part.body.clone())
}

/// The axes along which a kernel's body gets more threads.
struct Wider {
    /// Those that it does not use at all.
    idle: Vec<ProcessorAxis>,
    grown: BTreeSet<ProcessorAxis>,
}

impl Wider {
    /// Nodes that all threads of a block run in step.
    fn block(&self, nodes: Vec<Node>) -> Vec<Node> {
        let one = |node: Node| match node {
            Node::For(mut it) => {
                it.body = self.block(it.body);
                Node::For(it)
            }
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: self.block(then), otherwise: self.block(otherwise) }
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: self.block(body) },
            Node::Spread(mut it) if it.over == Over::Blocks => {
                it.body = self.block(it.body);
                Node::Spread(it)
            }
            Node::Spread(_) | Node::OneThread { .. } => {
                let node = self.guarded(node);
                match self.idle.is_empty() {
                    true => node,
                    false => Node::OneThread { axes: self.idle.clone(), body: vec![node] },
                }
            }
            other => other,
        };
        nodes.into_iter().map(one).collect()
    }

    /// Thread loops that ask whether there is an iteration for the thread.
    fn guarded(&self, node: Node) -> Node {
        let all = |nodes: Vec<Node>| nodes.into_iter().map(|node| self.guarded(node)).collect();
        match node {
            Node::Spread(mut it) => {
                if it.guard == Guard::Unneeded && it.over == Over::Threads && self.grown.contains(&it.axis) {
                    it.guard = Guard::Needed;
                }
                it.body = all(it.body);
                Node::Spread(it)
            }
            Node::OneThread { axes, body } => Node::OneThread { axes, body: all(body) },
            Node::If { condition, then, otherwise } => {
                Node::If { condition, then: all(then), otherwise: all(otherwise) }
            }
            Node::For(mut it) => {
                it.body = all(it.body);
                Node::For(it)
            }
            Node::Declare { buffer, body } => Node::Declare { buffer, body: all(body) },
            other => other,
        }
    }
}
