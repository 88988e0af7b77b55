//! Axes that go round: beside the first point of a row lies its last one.
//!
//! A periodic stencil reads `u[mod1(i - 1, m), j]`, `u[i == 1 ? m : i - 1, j]` or `circshift(u, (1, 0))`: an element that lies a fixed distance away in steps of
//! the array's extent, which is not the same subscript for all instances. With `V` a version of a field and `m` its period, a stream computes
//! `E[x] = V[(x - 1) mod m + 1]` for all whole numbers `x` that it needs, rows and columns before the first and behind the last one too: there
//! `E'[x] = f(E[x + c])` holds with `c` the fixed distance. It loads what it needs from where the subscript goes round to, and stores the points of the array.

use super::recognise::{Nest, shifted};
use super::{Obstacle, Source, Stage, Stream, THIN};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, Set};
use crate::place::{Side, bound};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::BinaryOp;

/// The most periods that a subscript of an array may lie away from the point to which it belongs, as arrays of one element have them.
const MOST_TIMES: i64 = 3;

/// How far away reads lie along each axis, where that is no fixed number of subscripts but goes round; by their computation and position.
pub(super) type Distances = BTreeMap<(ComputationId, usize), [Option<i64>; 3]>;

/// The subscripts of each axis that goes round, and those distances. `is_field` says which reads count.
///
/// # Errors
/// Where isl fails.
pub(super) fn of_nests(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nests: &[Nest],
    axes: &[Option<u32>; 3],
) -> Result<([Option<Affine>; 3], Distances), Error> {
    let (mut rounds, mut distances) = ([None, None, None], Distances::new());
    let written: BTreeSet<_> = nests.iter().map(|nest| algorithm.computation(nest.computation).write.array).collect();
    for nest in nests.iter().filter(|nest| nest.place.is_none()) {
        let computation = algorithm.computation(nest.computation);
        for (at, read) in computation.reads.iter().enumerate() {
            if !written.contains(&read.array) || nest.unused.contains(&at) {
                continue;
            }
            for (axis, along) in axes.iter().enumerate() {
                let Some((along, iterator)) = along.zip(nest.iterators[axis]) else { continue };
                let Some(subscript) = read.subscripts.get(along as usize) else { continue };
                let (Some(place), true) = (subscript.as_affine(), shifted(subscript).map(|it| it.0) != Some(iterator))
                else {
                    continue;
                };
                let (first, last) = &nest.limits[axis];
                if first.as_constant() != Some(1) {
                    continue;
                }
                let own = Affine::iterator(iterator).add_constant(nest.shift[axis])?;
                let instances = relation::domain(algorithm, nest.computation)?;
                let instances = match &read.within {
                    Some(within) => instances.intersect(within)?,
                    None => instances,
                };
                let found = distance(ctx, algorithm, (nest.computation, iterator), &instances, [place, &own, last])?;
                if let Some(distance) = found {
                    rounds[axis] = Some(last.clone());
                    distances.entry((nest.computation, at)).or_default()[axis] = Some(distance);
                }
            }
        }
    }
    Ok((rounds, distances))
}

/// The number of subscripts by which a place lies away from an instance's own one in all of these instances, but for whole periods.
fn distance(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (id, iterator): (ComputationId, u32),
    instances: &Set,
    [place, own, period]: [&Affine; 3],
) -> Result<Option<i64>, Error> {
    let space = relation::domain_space(ctx, algorithm, id)?;
    let names = algorithm.param_names();
    let apart = place.sub(own)?;
    let (mut parts, mut some) = (vec![], BTreeSet::new());
    for part in instances.basic_sets()? {
        let part = Set::from_basic_set(&part)?;
        // An edge is one subscript: `u[m, j]` where `i` is 1.
        let ends = [Side::Low, Side::High].map(|side| bound(ctx, algorithm, &part, iterator, side));
        let there = match ends {
            [Ok(Some(low)), Ok(Some(high))] if low == high => {
                let missing = Affine::iterator(iterator).sub(&low)?;
                Some(apart.sub(&missing.scale(apart.coefficient(iterator))?)?)
            }
            _ => None,
        };
        for (apart, times) in
            std::iter::once(&apart).chain(&there).flat_map(|it| (-1..=1).map(move |times| (it, times)))
        {
            some.extend(apart.add(&period.scale(times)?)?.as_constant().filter(|it| it.abs() <= THIN));
        }
        parts.push(part);
    }
    let mut some: Vec<i64> = some.into_iter().collect();
    some.sort_by_key(|it| it.abs());
    'candidates: for distance in some {
        let is_so = |part: &Set, times: i64| -> Result<bool, Error> {
            let apart = apart.add_constant(-distance)?.add(&period.scale(times)?)?.to_isl(&space, &names)?;
            Ok(part.is_subset(&apart.eq_set(&Affine::constant(0).to_isl(&space, &names)?)?)?)
        };
        for part in &parts {
            let mut found = false;
            for times in -MOST_TIMES..=MOST_TIMES {
                found = found || is_so(part, times)?;
            }
            if !found {
                continue 'candidates;
            }
        }
        return Ok(Some(distance));
    }
    Ok(None)
}

impl Stream {
    /// That no axis goes round, as tiles that are kept, and hexagons, need it.
    pub(super) fn ends(&self) -> Result<(), Obstacle> {
        match self.rounds.iter().all(Option::is_none) {
            true => Ok(()),
            false => {
                Err(Obstacle("it reads neighbours at the other end of an axis, which `stream` alone takes".to_string()))
            }
        }
    }
}

/// The read that an expression of a stage is whatever its conditions say: which element a subscript that goes round means. All of them are the same
/// point of the stream.
pub fn chosen(stage: &Stage, expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Read(read) => matches!(stage.reads[*read as usize], Source::Field { .. }).then_some(*read),
        ExprKind::Select { condition, yes, no } if asks_for_place(condition) => {
            let (yes, no) = (chosen(stage, yes)?, chosen(stage, no)?);
            (stage.reads[yes as usize] == stage.reads[no as usize]).then_some(yes)
        }
        _ => None,
    }
}

/// Calls `visit` on an expression of a stage and all below it, but for conditions that choose between elements that are the same point.
pub fn walk(stage: &Stage, expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    if chosen(stage, expr).is_some() && !matches!(expr.kind, ExprKind::Read(_)) {
        return;
    }
    visit(expr);
    expr.operands().into_iter().for_each(|operand| walk(stage, operand, visit));
}

/// Whether a condition compares subscripts alone.
fn asks_for_place(condition: &Expr) -> bool {
    match &condition.kind {
        ExprKind::Compare(_, left, right) => {
            [left, right].iter().all(|it| matches!(it.kind, ExprKind::Index(_) | ExprKind::Constant(_)))
        }
        ExprKind::Binary(BinaryOp::AndAlso | BinaryOp::OrElse | BinaryOp::BitAnd | BinaryOp::BitOr, left, right) => {
            asks_for_place(left) && asks_for_place(right)
        }
        ExprKind::Unary(_, operand) => asks_for_place(operand),
        _ => false,
    }
}
