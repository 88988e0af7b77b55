//! Axes that go round: beside the first point of a row lies its last one.
//!
//! A periodic stencil reads `u[mod1(i - 1, m), j]`, `u[i == 1 ? m : i - 1, j]` or `circshift(u, (1, 0))`: an element that lies a fixed distance away in steps of
//! the array's extent, which is not the same subscript for all instances. With `V` a version of a field and `m` its period, a stream computes
//! `E[x] = V[(x - 1) mod m + 1]` for all whole numbers `x` that it needs, rows and columns before the first and behind the last one too: there
//! `E'[x] = f(E[x + c])` holds with `c` the fixed distance. It loads what it needs from where the subscript goes round to, and stores the points of the array.

use super::recognise::{Nest, shifted, where_there_are};
use super::{Obstacle, Source, Stage, Stream, THIN};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, Computation, ComputationId, Subscript};
use crate::error::Error;
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, Set};
use crate::place::{Side, bound};
use crate::relation;
use std::collections::{BTreeMap, BTreeSet};
use tessella_scalar::BinaryOp;

/// The most periods that a subscript of an array may lie away from the point to which it belongs, as arrays of one element have them.
const MOST_TIMES: i64 = 8;

/// Which axes of some nests go round.
#[derive(Debug, Clone, Default)]
pub(super) struct Rounds {
    /// How many subscripts there are along each that does.
    pub(super) periods: [Option<Affine>; 3],
    /// How far away reads lie along each axis, where that is no fixed number of subscripts but goes round; by their computation and position.
    distances: BTreeMap<(ComputationId, usize), [Option<i64>; 3]>,
}

impl Rounds {
    /// What goes round in some nests.
    ///
    /// # Errors
    /// Where isl fails; that nests do not fit together is an answer.
    pub(super) fn of(
        ctx: &Ctx,
        algorithm: &Algorithm,
        nests: &[Nest],
        axes: &[Option<u32>; 3],
    ) -> Result<Result<Rounds, Obstacle>, Error> {
        let written = nests.iter().map(|nest| algorithm.computation(nest.computation).write.array).collect();
        let known = Known { ctx, algorithm, nests, axes, written, assumed: algorithm.assumed()? };
        let mut rounds = Rounds::default();
        known.find(&mut rounds)?;
        for axis in 0..3 {
            let Some(period) = rounds.periods[axis].clone() else { continue };
            if !known.all_inside(axis, &period)? {
                rounds.periods[axis] = None;
                rounds.distances.values_mut().for_each(|it| it[axis] = None);
            } else if let Some(obstacle) = known.obstacle(axis, &period)? {
                return Ok(Err(obstacle));
            }
        }
        Ok(Ok(rounds))
    }

    /// How far away a read lies that goes round an axis.
    pub(super) fn distance(&self, id: ComputationId, read: usize, axis: usize) -> Option<i64> {
        self.distances.get(&(id, read))?[axis]
    }

    /// A distance without what goes round: where that ends nothing is beside the array.
    pub(super) fn straight(&self, offset: [i64; 3]) -> [i64; 3] {
        [0, 1, 2].map(|axis| if self.periods[axis].is_some() { 0 } else { offset[axis] })
    }
}

/// What is known of the nests of a time loop.
struct Known<'a> {
    ctx: &'a Ctx,
    algorithm: &'a Algorithm,
    nests: &'a [Nest],
    axes: &'a [Option<u32>; 3],
    /// The arrays that they write.
    written: BTreeSet<ArrayId>,
    /// The sizes for which a call goes on, as far as that is known.
    assumed: Option<Set>,
}

impl Known<'_> {
    fn find(&self, rounds: &mut Rounds) -> Result<(), Error> {
        for nest in self.stages() {
            let computation = self.algorithm.computation(nest.computation);
            let groups = groups(computation)
                .into_iter()
                .map(|all| all.into_iter().filter(|read| self.is_of_field(nest, *read)).collect::<Vec<_>>());
            for (axis, along) in self.axes.iter().enumerate() {
                let Some((along, iterator)) = along.zip(nest.iterators[axis]) else { continue };
                if nest.limits[axis].0.as_constant() != Some(1) {
                    continue;
                }
                let own = Affine::iterator(iterator).add_constant(nest.shift[axis])?;
                let (id, axis_of_array, period) = (nest.computation, along as usize, &nest.limits[axis].1);
                let at = Along { known: self, id, axis: axis_of_array, iterator, own, period };
                for group in groups.clone() {
                    let mut found = at.around(&group)?;
                    // What does not belong together may go round each by itself.
                    if found.is_empty() && group.len() > 1 {
                        for read in &group {
                            found.extend(at.around(std::slice::from_ref(read))?);
                        }
                    }
                    for (read, distance) in found {
                        rounds.periods[axis] = Some(period.clone());
                        rounds.distances.entry((id, read)).or_default()[axis] = Some(distance);
                    }
                }
            }
        }
        Ok(())
    }

    /// The nests but those that write down what others compute.
    fn stages(&self) -> impl Iterator<Item = &Nest> {
        self.nests.iter().filter(|nest| nest.place.is_none())
    }

    /// Whether a read is performed, and of what the nests write.
    fn is_of_field(&self, nest: &Nest, read: usize) -> bool {
        let array = self.algorithm.computation(nest.computation).reads[read].array;
        self.written.contains(&array) && !nest.unused.contains(&read)
    }

    fn assumed(&self, instances: Set) -> Result<Set, Error> {
        Ok(match &self.assumed {
            Some(assumed) => instances.intersect_params(assumed)?,
            None => instances,
        })
    }

    /// Whether all reads of what the nests write lie within 1..period along an axis, straight ones too: what lies beyond it, in an array that is longer,
    /// is no point that goes round.
    fn all_inside(&self, axis: usize, period: &Affine) -> Result<bool, Error> {
        let Some(along) = self.axes[axis] else { return Ok(true) };
        let names = self.algorithm.param_names();
        for nest in self.stages() {
            let id = nest.computation;
            let space = relation::domain_space(self.ctx, self.algorithm, id)?;
            let (first, last) = (Affine::constant(1).to_isl(&space, &names)?, period.to_isl(&space, &names)?);
            let reads = &self.algorithm.computation(id).reads;
            for read in (0..reads.len()).filter(|read| self.is_of_field(nest, *read)) {
                let subscript = reads[read].subscripts.get(along as usize);
                let Some(place) = subscript.and_then(Subscript::as_affine) else { return Ok(false) };
                let place = place.to_isl(&space, &names)?;
                let inside = place.ge_set(&first)?.intersect(&place.le_set(&last)?)?;
                if !self.assumed(instances(self.algorithm, id, read)?)?.is_subset(&inside)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Why nests do not stream beside others that go round an axis.
    fn obstacle(&self, axis: usize, period: &Affine) -> Result<Option<Obstacle>, Error> {
        let name = |nest: &Nest| &self.algorithm.computation(nest.computation).name;
        if let Some(nest) = self.nests.iter().find(|it| it.place.is_some()) {
            let name = name(nest);
            return Ok(Some(Obstacle(format!("`{name}` writes down points beside nests that go round an axis"))));
        }
        for nest in self.nests {
            let (first, last) = &nest.limits[axis];
            if first.as_constant() != Some(1) || !self.is_same(last, period)? {
                let name = name(nest);
                let text = format!("`{name}` has some of the points along an axis that others go round");
                return Ok(Some(Obstacle(text)));
            }
        }
        Ok(None)
    }

    /// Whether two numbers are the same for all sizes for which a call goes on.
    fn is_same(&self, one: &Affine, other: &Affine) -> Result<bool, Error> {
        let apart = one.sub(other)?;
        if let Some(apart) = apart.as_constant() {
            return Ok(apart == 0);
        }
        let both = [apart.scale(-1)?, apart];
        let same = where_there_are(self.ctx, self.algorithm, &both)?;
        Ok(self.assumed(self.algorithm.context.clone())?.is_subset(&same)?)
    }
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
    known: &'a Known<'a>,
    id: ComputationId,
    axis: usize,
    iterator: u32,
    /// The subscript of what an instance writes.
    own: Affine,
    /// The last one that any writes; the first one is 1.
    period: &'a Affine,
}

impl Along<'_> {
    fn read(&self, read: usize) -> Option<&Subscript> {
        self.known.algorithm.computation(self.id).reads[read].subscripts.get(self.axis)
    }

    /// How far away a read is that does not go round.
    fn straight(&self, read: usize) -> Option<i64> {
        let place = self.read(read)?;
        shifted(place).filter(|it| it.0 == self.iterator)?;
        place.as_affine()?.sub(&self.own).ok()?.as_constant()
    }

    /// Those of some reads that go round, if they all lie so far away, the others straight; none if they do not.
    fn around(&self, reads: &[usize]) -> Result<Vec<(usize, i64)>, Error> {
        let known: BTreeSet<i64> = reads.iter().filter_map(|read| self.straight(*read)).collect();
        let away: Vec<usize> = reads.iter().copied().filter(|read| self.straight(*read).is_none()).collect();
        if away.is_empty() || known.len() > 1 {
            return Ok(vec![]);
        }
        let distance = self.distance(&away, known.first().copied())?;
        Ok(distance.map(|distance| away.into_iter().map(|read| (read, distance)).collect()).unwrap_or_default())
    }

    /// The number of subscripts by which all these reads lie away in all instances that perform them, but for whole periods.
    fn distance(&self, reads: &[usize], known: Option<i64>) -> Result<Option<i64>, Error> {
        let Known { ctx, algorithm, .. } = *self.known;
        let space = relation::domain_space(ctx, algorithm, self.id)?;
        let names = algorithm.param_names();
        let zero = Affine::constant(0).to_isl(&space, &names)?;
        let (mut parts, mut some) = (vec![], BTreeSet::from_iter(known));
        for read in reads {
            let Some(place) = self.read(*read).and_then(Subscript::as_affine) else { return Ok(None) };
            let apart = place.sub(&self.own)?;
            for part in instances(algorithm, self.id, *read)?.basic_sets()? {
                let part = Set::from_basic_set(&part)?;
                if known.is_none() {
                    some.extend(self.candidates(&part, &apart)?);
                }
                // Sizes that are the same may have ends named by either: so only now.
                parts.push((apart.clone(), self.known.assumed(part)?));
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
                for times in (0..=MOST_TIMES).flat_map(|times| [times, -times]).skip(1) {
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
    fn candidates(&self, part: &Set, apart: &Affine) -> Result<Vec<i64>, Error> {
        let Known { ctx, algorithm, .. } = *self.known;
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
