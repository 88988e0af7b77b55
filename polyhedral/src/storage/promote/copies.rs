//! The statements that fill a buffer and bring back what was written to it.

use super::super::footprint::Groups;
use super::super::private::{LoopHead, Short, fresh, nest, walk_box};
use super::Plan;
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, Computation, ComputationId, Subscript};
use crate::dependence::{DependenceKind, Renewed};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Aff, DimType, Map};
use crate::layers::MemorySpace;
use crate::relation;
use crate::schedule::{Node, Tag};

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
    let levels = plan.hull.levels();
    let mut outside = plan.hull.low.clone();
    let mut inside: Vec<Affine> = (0..keys).map(Affine::iterator).collect();
    for (at, level) in levels.iter().enumerate() {
        let axis = level.axis;
        let wanted = ["x", "y", "z"].get(axis).map_or_else(|| format!("x{}", axis + 1), |it| it.to_string());
        // Groups, and places in them.
        let is_group = at > 0 && levels[at - 1].axis == axis;
        let wanted = match (is_group, levels.get(at + 1).is_some_and(|next| next.axis == axis)) {
            (true, _) => format!("{wanted}0"),
            (false, true) => format!("{wanted}1"),
            (false, false) => wanted,
        };
        iterators.push(fresh(&wanted, |name| iterators.iter().any(|it| it == name)));
        let place = Affine::iterator(keys + at as u32);
        outside[axis] = outside[axis].add(&place.scale(level.step)?)?;
        inside.push(place.add_constant(1)?);
    }
    let access = |array, subscripts: Vec<Affine>| {
        let subscripts = subscripts.into_iter().map(Subscript::from).collect();
        Access { array, subscripts, within: None, checked: false, conditional: false }
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
        ranged: vec![],
        atomic: false,
        owner: None,
    });
    // { load[k, x] -> [k, element] }
    let element: Vec<Affine> = (0..keys).map(Affine::iterator).chain(outside).collect();
    let element = relation::functions(plan.ctx, algorithm, id, &element)?;
    let wanted = moves.wrap()?.flatten()?.reset_tuple_id()?;
    let mut domain = element.intersect_range(&wanted)?.domain()?.coalesce()?;
    // Of places in groups, several would stand for one element.
    for (at, level) in levels.iter().enumerate().filter(|(_, it)| plan.hull.groups[it.axis] != Groups::ONE) {
        let space = domain.space()?;
        let place = Aff::var_on(&space, DimType::Set, keys + at as u32)?;
        let (first, last) = (Aff::constant_on(&space, 0)?, Aff::constant_on(&space, level.size - 1)?);
        domain = domain.intersect(&place.ge_set(&first)?)?.intersect(&place.le_set(&last)?)?;
    }
    algorithm.computations[id.0 as usize].domain = domain;
    Ok(id)
}

/// The loops of a copy below the loop that has the buffer.
pub(super) fn copy_nest(plan: &Plan<'_>, algorithm: &Algorithm, id: ComputationId) -> Result<Node, Error> {
    let names = &algorithm.computation(id).iterators;
    let keys = plan.around.len() + plan.own_threads.len();
    let place = |at: usize| Affine::iterator((keys + at) as u32);
    let mut loops: Vec<LoopHead> = vec![];
    for (at, (axis, name)) in plan.own_threads.iter().enumerate().rev() {
        loops.push((name.clone(), Tag::GpuThread(*axis), Affine::iterator((plan.around.len() + at) as u32)));
    }
    let levels = plan.hull.extents().into_iter().enumerate();
    let axes = levels.map(|(at, size)| (names[keys + at].clone(), place(at), size));
    let short = match plan.space {
        MemorySpace::Register => Short::Unrolled,
        MemorySpace::Shared => Short::InFlight,
        MemorySpace::Host | MemorySpace::Global | MemorySpace::Constant { .. } => Short::Looped,
    };
    loops.extend(walk_box(axes.collect(), &plan.team, short)?);
    Ok(nest(id, loops))
}

/// Takes from a load those elements of an array of the function's own that nothing may have stored before.
pub(super) fn load_what_is_stored(
    algorithm: &mut Algorithm,
    load: ComputationId,
    after: &mut Renewed,
) -> Result<(), Error> {
    let from = algorithm.computation(load).reads[0].array;
    match algorithm.array(from).kind {
        ArrayKind::Argument => return Ok(()),
        ArrayKind::Private | ArrayKind::Local { .. } | ArrayKind::Result | ArrayKind::Returned => {}
    }
    let all = relation::domain(algorithm, load)?;
    let mut stored = all.subtract(&all)?;
    for it in &after.dependences {
        if it.kind == DependenceKind::Flow && it.sink.computation == load {
            stored = stored.union(&it.relation.range()?)?;
        }
    }
    if all.is_subset(&stored)? {
        return Ok(());
    }
    let stored = stored.coalesce()?;
    algorithm.computations[load.0 as usize].domain = stored.clone();
    let known = std::mem::replace(after, Renewed { dependences: vec![], is_new: vec![] });
    for (mut it, is_new) in known.dependences.into_iter().zip(known.is_new) {
        if it.source.computation == load {
            it.relation = it.relation.intersect_domain(&stored)?;
        }
        if it.sink.computation == load {
            it.relation = it.relation.intersect_range(&stored)?;
        }
        if !it.relation.is_empty()? {
            after.dependences.push(it);
            after.is_new.push(is_new);
        }
    }
    Ok(())
}
