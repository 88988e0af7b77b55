//! What a kernel needs from the host, found by reading its body.

use crate::error::CodegenError;
use crate::input::Input;
use crate::int_expr::{IntExpr, VariableId};
use crate::names::Names;
use crate::program::{BufferAccess, KernelParam, Node};
use crate::stream::Streaming;
use std::collections::{BTreeMap, BTreeSet};
use tessella_polyhedral::affine::{Affine, Atom, ParamId};
use tessella_polyhedral::algorithm::{ArrayId, ComputationId, ScalarId, Subscript};
use tessella_polyhedral::expr::ExprKind;
use tessella_polyhedral::layers::{BufferId, Lifetime, MemorySpace};

/// The parameters of a kernel with this body: buffers, then integers, then scalars, then host iterators.
pub fn kernel_params(input: &Input<'_>, names: &Names, body: &[Node]) -> Result<Vec<KernelParam>, CodegenError> {
    let mut used = Used::default();
    for node in body {
        node.walk(&mut |node| {
            used.bound.extend(node.bound());
            node.expressions(&mut |expr| match expr {
                IntExpr::Param(param) => {
                    used.params.insert(*param);
                }
                IntExpr::Variable(variable) => {
                    used.variables.insert(*variable);
                }
                _ => {}
            });
            match node {
                Node::Statement(it) => {
                    used.variables.extend(it.iterators.iter().flatten());
                    used.statement(input, it.computation);
                }
                Node::Declare { buffer, .. } => {
                    used.declared.insert(*buffer);
                }
                _ => {}
            }
        });
    }
    let mut params = vec![];
    for (buffer, access) in used.buffers {
        if used.declared.contains(&buffer) {
            continue;
        }
        let it = input.layout.buffer(buffer);
        // Declared by the kernel, or with the kernels.
        if matches!(it.space, MemorySpace::Shared | MemorySpace::Constant { .. }) {
            continue;
        }
        if it.space == MemorySpace::Register {
            return Err(CodegenError::SharedRegister { buffer: it.name.clone() });
        }
        params.push(KernelParam::Buffer { buffer, access });
    }
    let param_names: BTreeSet<&str> = used.params.iter().map(|it| names.params[it.0 as usize].as_str()).collect();
    params.extend(used.params.iter().copied().map(KernelParam::Param));
    // An integer argument may be both; it is passed once.
    let scalars =
        used.scalars.iter().copied().filter(|it| !param_names.contains(names.scalars[it.0 as usize].as_str()));
    params.extend(scalars.map(KernelParam::Scalar));
    let free = used.variables.difference(&used.bound).copied();
    params.extend(free.map(KernelParam::Variable));
    Ok(params)
}

/// The parameters of a kernel that streams, but for its fields' buffers: other buffers, integers, scalars, and what each
/// launch is told.
pub fn params_of_stream(input: &Input<'_>, names: &Names, it: &Streaming) -> Vec<KernelParam> {
    let mut used = Used::default();
    for stage in it.stream.nests() {
        used.statement(input, stage.computation);
        let limits = stage.limits.iter().flat_map(|(low, high)| [low, high]);
        limits.for_each(|limit| params_of(limit, &mut used.params));
    }
    for field in &it.stream.fields {
        input.algorithm.array(field.array).extents.iter().for_each(|extent| params_of(extent, &mut used.params));
    }
    let own: Vec<BufferId> = it.stream.fields.iter().map(|field| input.buffer_of(field.array)).collect();
    let constant = |buffer| matches!(input.layout.buffer(buffer).space, MemorySpace::Constant { .. });
    let others = used.buffers.iter().filter(|(buffer, _)| !own.contains(buffer) && !constant(**buffer));
    let mut params: Vec<KernelParam> =
        others.map(|(&buffer, &access)| KernelParam::Buffer { buffer, access }).collect();
    let param_names: BTreeSet<&str> = used.params.iter().map(|it| names.params[it.0 as usize].as_str()).collect();
    params.extend(used.params.iter().copied().map(KernelParam::Param));
    let scalars =
        used.scalars.iter().copied().filter(|it| !param_names.contains(names.scalars[it.0 as usize].as_str()));
    params.extend(scalars.map(KernelParam::Scalar));
    params.push(KernelParam::Variable(it.first));
    params.extend(it.parts.map(KernelParam::Variable));
    params.extend(it.rest.iter().flat_map(|rest| [rest.steps, rest.last]).map(KernelParam::Variable));
    params.extend(it.rest.and_then(|rest| rest.turns).map(KernelParam::Variable));
    params.extend(
        it.residing.iter().flat_map(|it| [it.count, it.rows].into_iter().chain(it.turns)).map(KernelParam::Variable),
    );
    params.extend(it.halves.iter().flat_map(|it| [it.half, it.last, it.steps]).map(KernelParam::Variable));
    params
}

#[derive(Default)]
struct Used {
    params: BTreeSet<ParamId>,
    scalars: BTreeSet<ScalarId>,
    variables: BTreeSet<VariableId>,
    bound: BTreeSet<VariableId>,
    declared: BTreeSet<BufferId>,
    buffers: BTreeMap<BufferId, BufferAccess>,
}

impl Used {
    fn statement(&mut self, input: &Input<'_>, id: ComputationId) {
        for expr in input.expressions(id) {
            expr.walk(&mut |expr| match &expr.kind {
                ExprKind::Index(affine) => params_of(affine, &mut self.params),
                ExprKind::Scalar(scalar) => {
                    self.scalars.insert(*scalar);
                }
                _ => {}
            });
        }
        let written = input.algorithm.computation(id).write.array;
        for access in input.used_accesses(id) {
            // What computed subscripts need is among the expressions.
            let affine = access.subscripts.iter().filter_map(Subscript::as_affine);
            affine.for_each(|subscript| params_of(subscript, &mut self.params));
            self.array(input, access.array);
        }
        self.buffers.insert(input.buffer_of(written), BufferAccess::Write);
    }

    fn array(&mut self, input: &Input<'_>, array: ArrayId) {
        let placement = input.layout.placement(array);
        self.buffers.entry(placement.buffer).or_insert(BufferAccess::Read);
        placement.map.iter().for_each(|place| params_of(place, &mut self.params));
        let extents = &input.layout.buffer(placement.buffer).extents;
        let strides = extents.len().saturating_sub(1);
        extents[..strides].iter().for_each(|extent| params_of(extent, &mut self.params));
    }
}

/// Adds the parameters that occur in an affine expression.
pub fn params_of(affine: &Affine, into: &mut BTreeSet<ParamId>) {
    for (atom, _) in affine.terms() {
        match atom {
            Atom::Iterator(_) => {}
            Atom::Param(param) => {
                into.insert(*param);
            }
            Atom::FloorDiv(inner, _) => params_of(inner, into),
        }
    }
}

/// Whether a buffer is the caller's memory.
pub fn argument_of(input: &Input<'_>, buffer: BufferId) -> Option<ArrayId> {
    match &input.layout.buffer(buffer).lifetime {
        Lifetime::Argument(array) => Some(*array),
        Lifetime::Call | Lifetime::Node(_) | Lifetime::Children { .. } => None,
    }
}
