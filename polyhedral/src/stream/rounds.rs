//! Axes that go round: beside the first point of a row lies its last one.
//!
//! A periodic stencil reads `u[mod1(i - 1, m), j]`, `u[i == 1 ? m : i - 1, j]` or `circshift(u, (1, 0))`: an element that lies a fixed distance away in steps of
//! the array's extent, which is not the same subscript for all instances. With `V` a version of a field and `m` its period, a stream computes
//! `E[x] = V[(x - 1) mod m + 1]` for all whole numbers `x` that it needs, rows and columns before the first and behind the last one too: there
//! `E'[x] = f(E[x + c])` holds with `c` the fixed distance. It loads what it needs from where the subscript goes round to, and stores the points of the array.

use super::recognise::{Nest, shifted};
use super::{Obstacle, Source, Stage, Stream, THIN};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, Computation, ComputationId, Subscript};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, Set};
use crate::place::{Side, bound};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::BinaryOp;

/// The most periods that a subscript of an array may lie away from the point to which it belongs, as arrays of one element have them.
const MOST_TIMES: i64 = 8;

/// How far away reads lie along each axis, where that is no fixed number of subscripts but goes round; by their computation and position.
pub(super) type Distances = BTreeMap<(ComputationId, usize), [Option<i64>; 3]>;

/// The subscripts of each axis that goes round, and those distances.
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
        let is_read = |at: &usize| written.contains(&computation.reads[*at].array) && !nest.unused.contains(at);
        let groups = groups(computation).into_iter().map(|all| all.into_iter().filter(is_read).collect::<Vec<_>>());
        for (axis, along) in axes.iter().enumerate() {
            let Some((along, iterator)) = along.zip(nest.iterators[axis]) else { continue };
            if nest.limits[axis].0.as_constant() != Some(1) {
                continue;
            }
            let own = Affine::iterator(iterator).add_constant(nest.shift[axis])?;
            let at = Along { id: nest.computation, axis: along as usize, iterator, own, period: &nest.limits[axis].1 };
            for group in groups.clone() {
                let mut found = at.around(ctx, algorithm, &group)?;
                // What does not belong together may go round each by itself.
                if found.is_none() && group.len() > 1 {
                    for read in &group {
                        let own = at.around(ctx, algorithm, std::slice::from_ref(read))?;
                        found = found.into_iter().chain(own).reduce(|all, own| [all, own].concat());
                    }
                }
                for (read, distance) in found.into_iter().flatten() {
                    rounds[axis] = Some(at.period.clone());
                    distances.entry((nest.computation, read)).or_default()[axis] = Some(distance);
                }
            }
        }
    }
    for axis in 0..3 {
        let Some(period) = &rounds[axis] else { continue };
        if !all_inside(ctx, algorithm, nests, axes[axis], period)? {
            rounds[axis] = None;
            distances.values_mut().for_each(|it| it[axis] = None);
        }
    }
    Ok((rounds, distances))
}

/// Whether all reads of what the nests write lie within 1..period along an axis, straight ones too: what lies beyond it, in an array that is longer, is
/// no point that goes round.
fn all_inside(
    ctx: &Ctx,
    algorithm: &Algorithm,
    nests: &[Nest],
    along: Option<u32>,
    period: &Affine,
) -> Result<bool, Error> {
    let Some(along) = along else { return Ok(true) };
    let names = algorithm.param_names();
    let written: BTreeSet<_> = nests.iter().map(|nest| algorithm.computation(nest.computation).write.array).collect();
    let assumed = algorithm.assumed()?;
    for nest in nests.iter().filter(|nest| nest.place.is_none()) {
        let space = relation::domain_space(ctx, algorithm, nest.computation)?;
        let [first, last] = [&Affine::constant(1), period].map(|end| end.to_isl(&space, &names));
        let (first, last) = (first?, last?);
        for (at, read) in algorithm.computation(nest.computation).reads.iter().enumerate() {
            if !written.contains(&read.array) || nest.unused.contains(&at) {
                continue;
            }
            let Some(place) = read.subscripts.get(along as usize).and_then(Subscript::as_affine) else {
                return Ok(false);
            };
            let place = place.to_isl(&space, &names)?;
            let inside = place.ge_set(&first)?.intersect(&place.le_set(&last)?)?;
            let mut instances = instances(algorithm, nest.computation, at)?;
            if let Some(assumed) = &assumed {
                instances = instances.intersect_params(assumed)?;
            }
            if !instances.is_subset(&inside)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The instances of a computation that may perform a read.
fn instances(algorithm: &Algorithm, id: ComputationId, read: usize) -> Result<Set, Error> {
    let instances = relation::domain(algorithm, id)?;
    Ok(match &algorithm.computation(id).reads[read].within {
        Some(within) => instances.intersect(within)?,
        None => instances,
    })
}

/// The reads of a computation: together those that conditions on subscripts alone choose between.
fn groups(computation: &Computation) -> Vec<Vec<usize>> {
    fn leaves(expr: &Expr) -> Option<Vec<usize>> {
        match &expr.kind {
            ExprKind::Read(read) => Some(vec![*read as usize]),
            ExprKind::Select { condition, yes, no } if asks_for_place(condition) => {
                Some([leaves(yes)?, leaves(no)?].concat())
            }
            _ => None,
        }
    }
    fn find(expr: &Expr, found: &mut Vec<Vec<usize>>) {
        match leaves(expr) {
            Some(all) => found.push(all),
            None => expr.operands().into_iter().for_each(|operand| find(operand, found)),
        }
    }
    let mut found = vec![];
    let lets = computation.lets.iter().map(|it| &it.value);
    lets.chain([&computation.value]).for_each(|expr| find(expr, &mut found));
    found
}

/// The subscripts of a computation along an axis.
struct Along<'a> {
    id: ComputationId,
    axis: usize,
    iterator: u32,
    /// The subscript of what an instance writes.
    own: Affine,
    /// The last one that any writes; the first one is 1.
    period: &'a Affine,
}

impl Along<'_> {
    fn read<'b>(&self, algorithm: &'b Algorithm, read: usize) -> Option<&'b Subscript> {
        algorithm.computation(self.id).reads[read].subscripts.get(self.axis)
    }

    /// How far away a read is that does not go round.
    fn straight(&self, algorithm: &Algorithm, read: usize) -> Option<i64> {
        let place = self.read(algorithm, read)?;
        shifted(place).filter(|it| it.0 == self.iterator)?;
        place.as_affine()?.sub(&self.own).ok()?.as_constant()
    }

    /// Those of some reads that go round, if they all lie so far away, the others straight; `None` if they do not, or none does.
    fn around(&self, ctx: &Ctx, algorithm: &Algorithm, reads: &[usize]) -> Result<Option<Vec<(usize, i64)>>, Error> {
        let straight = |read: &usize| self.straight(algorithm, *read);
        let known: BTreeSet<i64> = reads.iter().filter_map(straight).collect();
        let away: Vec<usize> = reads.iter().copied().filter(|read| straight(read).is_none()).collect();
        if away.is_empty() || known.len() > 1 {
            return Ok(None);
        }
        let distance = self.distance(ctx, algorithm, &away, known.first().copied())?;
        Ok(distance.map(|distance| away.into_iter().map(|read| (read, distance)).collect()))
    }

    /// The number of subscripts by which all these reads lie away in all instances that perform them, but for whole periods.
    fn distance(
        &self,
        ctx: &Ctx,
        algorithm: &Algorithm,
        reads: &[usize],
        known: Option<i64>,
    ) -> Result<Option<i64>, Error> {
        let space = relation::domain_space(ctx, algorithm, self.id)?;
        let names = algorithm.param_names();
        let zero = Affine::constant(0).to_isl(&space, &names)?;
        let (mut parts, mut some) = (vec![], BTreeSet::from_iter(known));
        let assumed = algorithm.assumed()?;
        for read in reads {
            let Some(place) = self.read(algorithm, *read).and_then(Subscript::as_affine) else { return Ok(None) };
            let apart = place.sub(&self.own)?;
            for part in instances(algorithm, self.id, *read)?.basic_sets()? {
                let mut part = Set::from_basic_set(&part)?;
                if known.is_none() {
                    some.extend(self.candidates(ctx, algorithm, &part, &apart)?);
                }
                // Sizes that are the same may have ends named by either: so only now.
                if let Some(assumed) = &assumed {
                    part = part.intersect_params(assumed)?;
                }
                parts.push((apart.clone(), part));
            }
        }
        let mut some: Vec<i64> = some.into_iter().collect();
        some.sort_by_key(|it| it.abs());
        'candidates: for distance in some {
            let is_so = |apart: &Affine, part: &Set, times: i64| -> Result<bool, Error> {
                let apart = apart.add_constant(-distance)?.add(&self.period.scale(times)?)?;
                Ok(part.is_subset(&apart.to_isl(&space, &names)?.eq_set(&zero)?)?)
            };
            for (apart, part) in &parts {
                let mut found = false;
                for times in (0..=MOST_TIMES).flat_map(|times| [times, -times]) {
                    found = found || is_so(apart, part, times)?;
                }
                if !found {
                    continue 'candidates;
                }
            }
            return Ok(Some(distance));
        }
        Ok(None)
    }

    /// Such numbers as a part of the instances suggests.
    fn candidates(&self, ctx: &Ctx, algorithm: &Algorithm, part: &Set, apart: &Affine) -> Result<Vec<i64>, Error> {
        // An edge is one subscript: `u[m, j]` where `i` is 1.
        let ends = [Side::Low, Side::High].map(|side| bound(ctx, algorithm, part, self.iterator, side));
        let there = match ends {
            [Ok(Some(low)), Ok(Some(high))] if low == high => {
                let missing = Affine::iterator(self.iterator).sub(&low)?;
                Some(apart.sub(&missing.scale(apart.coefficient(self.iterator))?)?)
            }
            _ => None,
        };
        let mut found = vec![];
        for apart in std::iter::once(apart).chain(&there) {
            for times in -1..=1 {
                found.extend(apart.add(&self.period.scale(times)?)?.as_constant().filter(|it| it.abs() <= THIN));
            }
        }
        Ok(found)
    }
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
