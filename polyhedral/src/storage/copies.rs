//! The statements that fill a promoted buffer and bring it back, and the loops around them.

use super::promote::Plan;
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, Computation, ComputationId, Subscript};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::fresh::fresh;
use crate::isl::Map;
use crate::layers::MemorySpace;
use crate::relation;
use crate::schedule::{Loop, Node, ProcessorAxis, Tag};
use std::collections::BTreeMap;

/// Adds the statement that copies elements to the buffer or back: one instance for each key and place in the buffer.
pub(super) fn copy(
    plan: &Plan<'_>,
    algorithm: &mut Algorithm,
    moves: &Map,
    verb: &str,
    new: ArrayId,
) -> Result<ComputationId, Error> {
    let id = ComputationId(algorithm.computations.len() as u32);
    let source = algorithm.array(plan.array).clone();
    let mut iterators: Vec<String> = plan.around.iter().map(|(_, it)| it.name.clone()).collect();
    iterators.extend(plan.own_threads.iter().map(|(_, name)| name.clone()));
    let keys = iterators.len() as u32;
    let axes = plan.hull.size.len() as u32;
    for axis in 0..axes {
        let wanted = ["x", "y", "z"].get(axis as usize).map_or_else(|| format!("x{}", axis + 1), |it| it.to_string());
        iterators.push(fresh(&wanted, |name| iterators.iter().any(|it| it == name)));
    }
    let place = |axis: u32| Affine::iterator(keys + axis);
    let outside: Vec<Affine> =
        (0..axes).map(|axis| plan.hull.low[axis as usize].add(&place(axis))).collect::<Result<_, _>>()?;
    let mut inside: Vec<Affine> = (0..keys).map(Affine::iterator).collect();
    for axis in 0..axes {
        inside.push(place(axis).add_constant(1)?);
    }
    let access = |array, subscripts: Vec<Affine>| {
        let subscripts = subscripts.into_iter().map(Subscript::from).collect();
        Access { array, subscripts, within: None, checked: false }
    };
    let (read, write) = match verb {
        "load" => (access(plan.array, outside.clone()), access(new, inside)),
        _ => (access(new, inside), access(plan.array, outside.clone())),
    };
    let name = fresh(&format!("{verb}_{}", source.name), |name| algorithm.find(name).is_some());
    algorithm.computations.push(Computation {
        name,
        iterators,
        domain: algorithm.context.clone(),
        predicate: None,
        lets: vec![],
        value: Expr { kind: ExprKind::Read(0), ty: source.element },
        write,
        reads: vec![read],
        fastmath: false,
        simd: None,
    });
    // { load[k, x] -> [k, element] }
    let element: Vec<Affine> = (0..keys).map(Affine::iterator).chain(outside).collect();
    let element = relation::functions(plan.ctx, algorithm, id, &element)?;
    let wanted = moves.wrap()?.flatten()?.reset_tuple_id()?;
    let domain = element.intersect_range(&wanted)?.domain()?.coalesce()?;
    algorithm.computations[id.0 as usize].domain = domain;
    Ok(id)
}

/// The loops of a copy below the loop that has the buffer.
pub(super) fn copy_nest(plan: &Plan<'_>, algorithm: &Algorithm, id: ComputationId) -> Result<Node, Error> {
    let names = &algorithm.computation(id).iterators;
    let keys = plan.around.len() + plan.own_threads.len();
    let place = |axis: usize| Affine::iterator((keys + axis) as u32);
    let make = |name: String, tag: Tag, at: Affine| (name, tag, at);
    let (mut outer, mut inner) = (vec![], vec![]);
    for (at, (axis, name)) in plan.own_threads.iter().enumerate().rev() {
        outer.push(make(name.clone(), Tag::GpuThread(*axis), Affine::iterator((plan.around.len() + at) as u32)));
    }
    let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    for axis in (0..plan.hull.size.len()).rev() {
        let (size, name) = (plan.hull.size[axis], names[keys + axis].clone());
        if size == 1 {
            continue;
        }
        let team = axes.get(axis).and_then(|it| Some((*it, *plan.team.get(it)?)));
        match team {
            Some((it, count)) if size <= count => outer.push(make(name, Tag::GpuThread(it), place(axis))),
            Some((it, count)) => {
                outer.push(make(format!("{name}1"), Tag::GpuThread(it), place(axis).modulo(count)?));
                inner.push(make(format!("{name}0"), Tag::Sequential, place(axis).floor_div(count)));
            }
            None if plan.space == MemorySpace::Register && size <= 64 => {
                inner.push(make(name, Tag::Unroll(size as u32), place(axis)));
            }
            None => inner.push(make(name, Tag::Sequential, place(axis))),
        }
    }
    let loops = outer.into_iter().chain(inner).collect::<Vec<_>>();
    Ok(loops.into_iter().rev().fold(Node::Computation(id), |body, (name, tag, at)| {
        Node::Loop(Loop { name, tag, at: BTreeMap::from([(id, at)]), body: Box::new(body) })
    }))
}
