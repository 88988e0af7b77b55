//! Owners of elements that data name: `owners`.

use super::find::find_computation;
use crate::affine::Affine;
use crate::algorithm::{Access, ArrayId, Computation, ComputationId, Owner, Subscript};
use crate::dependence::{Dependence, with_changed};
use crate::error::{Error, OwnerObstacle, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::fresh::fresh_among;
use crate::isl::{Ctx, DimType, Id, Set, Val};
use crate::layers::Scheduled;
use crate::legality;
use crate::reduction::is_old;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::BTreeSet;
use tessella_scalar::{BinaryOp, CompareOp, Constant, ScalarType};

/// The most owners.
pub const MOST: u32 = 1 << 16;

/// Has each element that statements store into belong to one of `count` owners, a loop over whom comes around: the owner alone runs what is
/// stored there, in the order of before. So other owners may run at once, though only data say which elements these are.
///
/// Rewrite: `for p { S: y[k[p]] += x[p] } -> for o in 0..n { for p { S: if k[p] mod n == o { y[k[p]] += x[p] } } }`. Of several axes, the
/// subscripts are added up, each times a power of [`Owner::FACTOR`].
///
/// Also gives the dependences of the new algorithm.
///
/// # Source
/// The owner-computes rule: Rogers, Pingali, *Process decomposition through locality of reference*, PLDI 1989.
///
/// # Errors
/// [`ScheduleError::NoOwners`] unless data say which element each of the statements stores into, and they read no other element of what any of them
/// stores into; or if `count` is no power of two up to [`MOST`].
pub fn owners(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    computations: &[String],
    count: u32,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let algorithm = &scheduled.algorithm;
    let ids = computations.iter().map(|name| find_computation(algorithm, name)).collect::<Result<Vec<_>, _>>()?;
    let written: BTreeSet<ArrayId> = ids.iter().map(|&id| algorithm.computation(id).write.array).collect();
    for (&id, computation) in ids.iter().zip(computations) {
        let obstacle = if !(2..=MOST).contains(&count) || !count.is_power_of_two() {
            Some(OwnerObstacle::Count)
        } else {
            obstacle(algorithm.computation(id), &written)
        };
        if let Some(obstacle) = obstacle {
            return Err(ScheduleError::NoOwners { computation: computation.clone(), obstacle }.into());
        }
    }
    let together: BTreeSet<ComputationId> = ids.iter().copied().collect();
    let mut next = scheduled.clone();
    let name = {
        let around = ids.iter().flat_map(|&id| scheduled.schedule.loops_around(id)).map(|(_, it)| it.name.clone());
        let iterators = ids.iter().flat_map(|&id| algorithm.computation(id).iterators.iter().cloned());
        fresh_among("owner", &around.chain(iterators).chain(algorithm.param_names()).collect::<Vec<_>>())
    };
    let over_owners = |ids: &BTreeSet<ComputationId>, body: Node| {
        let iterator = |id: ComputationId| algorithm.computation(id).iterators.len() as u32;
        let at = ids.iter().map(|&id| (id, Affine::iterator(iterator(id)))).collect();
        Node::Loop(Loop { name: name.clone(), tag: Tag::Sequential, at, body: Box::new(body) })
    };
    for &id in &together {
        let it = &mut next.algorithm.computations[id.0 as usize];
        *it = owned(ctx, it, &name, count)?;
        // Of the owners' instances one runs, so it does not matter where in the source they are.
        wrap(&mut next.algorithm.source_order.root, id, &|body| over_owners(&BTreeSet::from([id]), body));
    }
    // In loops that others share, each has owners by itself.
    let alone = |id: &ComputationId| BTreeSet::from([*id]);
    let groups = match place_of(&scheduled.schedule, &together) {
        Some(_) => vec![together.clone()],
        None => together.iter().map(alone).collect(),
    };
    for group in groups {
        if let Some(node) = place_of(&next.schedule, &group).and_then(|place| next.schedule.node_mut(&place)) {
            let body = std::mem::replace(node, Node::Sequence(vec![]));
            *node = over_owners(&group, body);
        }
    }
    let all = with_changed(ctx, &next.algorithm, dependences, &together)?;
    legality::check(ctx, &next.algorithm, &next.schedule, &all)?;
    Ok((next, all))
}

/// Why the elements that a statement stores into cannot have owners, where statements store into these arrays.
pub fn obstacle(it: &Computation, written: &BTreeSet<ArrayId>) -> Option<OwnerObstacle> {
    if it.write.is_affine() || it.atomic || it.owner.is_some() {
        return Some(OwnerObstacle::Subscripts);
    }
    // The condition would need names before there are any.
    let places = it.write.subscripts.iter().filter_map(Subscript::as_computed);
    if places.map(|place| spelled_out(it, place)).any(|place| !it.lets_below([&place]).is_empty()) {
        return Some(OwnerObstacle::Steps);
    }
    let reads_others = it.reads.iter().any(|read| written.contains(&read.array) && !is_old(it, read));
    // All owners look at what decides.
    (reads_others || !it.decided_by().is_disjoint(written)).then_some(OwnerObstacle::Reads)
}

/// A statement with an instance for each owner.
fn owned(ctx: &Ctx, it: &Computation, name: &str, count: u32) -> Result<Computation, Error> {
    let iterator = it.iterators.len() as u32;
    let mut next = it.clone();
    next.iterators.push(name.to_string());
    let tuple = Id::new(ctx, &it.name)?;
    let (first, last) = (Val::from_i64(ctx, 0)?, Val::from_i64(ctx, i64::from(count) - 1)?);
    let with_owner = |set: &Set| -> Result<Set, Error> {
        let set = set.add_dims(DimType::Set, 1)?.set_tuple_id(&tuple)?;
        let set =
            (0..).zip(&next.iterators).try_fold(set, |set, (at, name)| set.set_dim_name(DimType::Set, at, name))?;
        Ok(set.lower_bound(DimType::Set, iterator, &first)?.upper_bound(DimType::Set, iterator, &last)?)
    };
    let access = |access: &Access| -> Result<Access, Error> {
        Ok(Access { within: access.within.as_ref().map(&with_owner).transpose()?, ..access.clone() })
    };
    let (domain, write) = (with_owner(&it.domain)?, access(&it.write)?);
    let reads = it.reads.iter().map(access).collect::<Result<_, _>>()?;
    let owner = Owner { array: it.write.array, iterator, count };
    let test = is_owner(it, owner);
    let predicate = match it.predicate.clone() {
        None => test,
        Some(before) => {
            Expr { kind: ExprKind::Binary(BinaryOp::AndAlso, Box::new(before), Box::new(test)), ty: ScalarType::Bool }
        }
    };
    Ok(Computation { domain, write, reads, predicate: Some(predicate), owner: Some(owner), ..next })
}

/// Whether it is the owner's turn: `(i + 61 j) & (n - 1) == o`. Conditions come before values have names, so these are spelled out.
fn is_owner(it: &Computation, owner: Owner) -> Expr {
    let integer = |value: i64| Expr {
        kind: ExprKind::Constant(Constant::integer(ScalarType::I64, value.into())),
        ty: ScalarType::I64,
    };
    let binary = |operator, left: Expr, right: Expr| Expr {
        kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
        ty: ScalarType::I64,
    };
    let index = |affine: &Affine| Expr { kind: ExprKind::Index(affine.clone()), ty: ScalarType::I64 };
    let terms = it.write.subscripts.iter().zip(owner.factors()).map(|(subscript, factor)| {
        let subscript = match subscript {
            Subscript::Affine(affine) => index(affine),
            Subscript::Computed(value) => spelled_out(it, value),
        };
        if factor == 1 { subscript } else { binary(BinaryOp::Mul, integer(factor), subscript) }
    });
    let number = terms.reduce(|sum, term| binary(BinaryOp::Add, sum, term)).unwrap_or_else(|| integer(0));
    let remainder = binary(BinaryOp::BitAnd, number, integer(i64::from(owner.count) - 1));
    let own = index(&Affine::iterator(owner.iterator));
    Expr { kind: ExprKind::Compare(CompareOp::Eq, Box::new(remainder), Box::new(own)), ty: ScalarType::Bool }
}

/// An expression with the values in place of their names.
fn spelled_out(it: &Computation, expr: &Expr) -> Expr {
    let mut all = expr.clone();
    all.walk_mut(&mut |part| {
        while let ExprKind::Let(at) = part.kind {
            *part = it.lets[at as usize].value.clone();
        }
    });
    all
}

/// Puts something around the leaf of a computation.
fn wrap(node: &mut Node, id: ComputationId, around: &dyn Fn(Node) -> Node) {
    match node {
        Node::Computation(it) if *it == id => *node = around(Node::Computation(id)),
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter_mut().for_each(|child| wrap(child, id, around)),
        Node::Loop(it) => wrap(&mut it.body, id, around),
    }
}

/// The outermost node of just these computations.
pub(crate) fn place_of(schedule: &Schedule, ids: &BTreeSet<ComputationId>) -> Option<Path> {
    let path = schedule.path_of(*ids.first()?)?;
    let mut above = (0..=path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above.find(|it| {
        schedule.node(it).is_some_and(|node| node.computations().into_iter().collect::<BTreeSet<_>>() == *ids)
    })
}
