//! Sums for each iteration of a loop: `privatize` of an array that statements update at places of data.

use super::find::loop_mut;
use super::rfactor::{in_keys, named};
use super::tree::{names_around, simplify};
use crate::affine::Affine;
use crate::algorithm::{
    Access, AccessRef, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId, Subscript,
};
use crate::condition::known;
use crate::dependence::{Dependence, Keeps, dependences};
use crate::error::{Error, PrivateObstacle, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::fresh::fresh_among;
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::reduction::{Operator, UpdateOrder, reduction};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::footprint::accesses;
use crate::storage::private::{in_order, nest};
use tessella_scalar::Constant;

/// What is made private, and where.
pub(super) struct Wanted<'a> {
    pub array: ArrayId,
    /// The loop's name.
    pub at: &'a str,
    /// Of the loop, and of those around it, outermost first.
    pub paths: &'a [Path],
    pub around: Vec<Loop>,
    /// The statements in the loop that use the array, for some of the sizes that the named one has instances for.
    pub users: Vec<ComputationId>,
}

/// Those of several statements that have instances for some of the sizes that one has any for: not its pieces for others.
pub(super) fn beside(
    algorithm: &Algorithm,
    all: &[ComputationId],
    anchor: ComputationId,
) -> Result<Vec<ComputationId>, Error> {
    let sizes = relation::domain(algorithm, anchor)?.params()?.intersect(&known(algorithm)?)?;
    let mut beside = vec![];
    for &id in all {
        if !relation::domain(algorithm, id)?.params()?.intersect(&sizes)?.is_empty()? {
            beside.push(id);
        }
    }
    Ok(beside)
}

/// Has each iteration of a loop add up what it updates in an array of its own, whose elements then update those of the array.
///
/// Rewrite: `for i { for p { S: a[x[p]] += e(p) } } -> for i { for k { P[i, k] = -0.0 }; for p { S: P[i, x[p]] += e(p) };
/// for k { a[k] += P[i, k] } }`. Axes along which the loops tell the place have one element.
///
/// # Errors
/// [`ScheduleError::CannotPrivatize`] unless all statements in the loop that use the array update it by one operator, in an order that the source leaves
/// free, and sizes say how many elements there are at most.
pub(super) fn private_updates(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences_now: &[Dependence],
    wanted: &Wanted<'_>,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let algorithm = &scheduled.algorithm;
    let of = algorithm.array(wanted.array).clone();
    let refuse = |obstacle: PrivateObstacle| -> Error {
        ScheduleError::CannotPrivatize { array: of.name.clone(), at: wanted.at.to_string(), obstacle }.into()
    };
    if wanted.users.is_empty() {
        // It never runs.
        return Ok((scheduled.clone(), dependences_now.to_vec()));
    }
    let operator = operator(algorithm, wanted).map_err(refuse)?;
    let neutral =
        operator.neutral(of.element).ok_or_else(|| refuse(PrivateObstacle::Updates { of: wanted.users[0] }))?;
    if let Some(at) = ended_by_data(algorithm, &wanted.around, &wanted.users) {
        return Err(refuse(PrivateObstacle::EndedByData { at }));
    }
    if (0..of.rank).any(|axis| of.first(axis).as_constant() != Some(1)) {
        return Err(refuse(PrivateObstacle::First));
    }
    check_alone(ctx, scheduled, dependences_now, wanted)?.map_err(refuse)?;
    let mut parts = Parts {
        ctx,
        algorithm: algorithm.clone(),
        of: wanted.array,
        own: ArrayId(0),
        around: wanted.around.clone(),
        places: vec![],
    };
    parts.places = parts.places(&wanted.users)?;
    let mut sizes = vec![];
    let executions = parts.executions(&wanted.users)?;
    for axis in parts.own_axes() {
        sizes.push(parts.most(axis, &executions)?.ok_or_else(|| refuse(PrivateObstacle::Size { axis }))?);
    }
    parts.add_array(&of, &sizes);
    for &user in &wanted.users {
        parts.redirect(user)?;
    }
    let user = wanted.users[0];
    let start = parts.start(user, &executions, neutral)?;
    let total = parts.total(user, &executions, operator)?;

    let mut next = Scheduled { algorithm: parts.algorithm.clone(), ..scheduled.clone() };
    next.scratch.insert(parts.own);
    parts.stand(&mut next, wanted.paths, start, total);
    next.algorithm.source_order = Schedule { root: in_order(&next.schedule.root) };
    let all = dependences(ctx, &next.algorithm)?;
    legality::check(ctx, &next.algorithm, &next.schedule, &all)?;
    Ok((next, all))
}

/// By what all of these statements update the array, which they use for nothing else.
fn operator(algorithm: &Algorithm, wanted: &Wanted<'_>) -> Result<Operator, PrivateObstacle> {
    let mut all = None;
    for &of in &wanted.users {
        let update = reduction(algorithm, of).filter(|it| it.array == wanted.array && it.order == UpdateOrder::Any);
        let Some(operator) = update.map(|it| it.operator).filter(|it| all.is_none_or(|all| all == *it)) else {
            return Err(PrivateObstacle::Updates { of });
        };
        all = Some(operator);
    }
    Ok(all.expect("some statement uses the array"))
}

/// A loop of these whose ends are data.
fn ended_by_data(algorithm: &Algorithm, around: &[Loop], users: &[ComputationId]) -> Option<String> {
    let is_ended = |it: &&Loop| {
        users.iter().any(|id| algorithm.computation(*id).ranged.iter().any(|&at| it.at[id].involves_iterator(at)))
    };
    around.iter().find(is_ended).map(|it| it.name.clone())
}

/// Whether an iteration of the loop does nothing with the array but these updates.
fn check_alone(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    wanted: &Wanted<'_>,
) -> Result<Result<(), PrivateObstacle>, Error> {
    for dependence in dependences.iter().filter(|it| it.array == wanted.array && it.keeps == Keeps::Order) {
        let ends = [dependence.source.computation, dependence.sink.computation];
        if !ends.iter().any(|end| wanted.users.contains(end)) {
            continue;
        }
        let is_inside = |id: ComputationId| {
            let around = scheduled.schedule.loops_around(id);
            wanted.paths.last().is_some_and(|path| around.iter().any(|(other, _)| other == path))
        };
        let together =
            legality::together(ctx, &scheduled.algorithm, &scheduled.schedule, dependence, wanted.around.len())?;
        if ends.iter().all(|&end| is_inside(end)) && !together.is_empty()? {
            let by = ends.into_iter().find(|end| !wanted.users.contains(end)).unwrap_or(ends[0]);
            return Ok(Err(PrivateObstacle::Updates { of: by }));
        }
    }
    Ok(Ok(()))
}

/// An algorithm on its way to private sums.
struct Parts<'a> {
    ctx: &'a Ctx,
    algorithm: Algorithm,
    of: ArrayId,
    own: ArrayId,
    /// The loop and those around it.
    around: Vec<Loop>,
    /// For each axis of the array, the place that the loops tell, as a function of their values; `None` where they do not tell it.
    places: Vec<Option<Affine>>,
}

impl Parts<'_> {
    fn keys(&self, id: ComputationId) -> Vec<Affine> {
        self.around.iter().map(|it| it.at[&id].clone()).collect()
    }

    fn places(&self, users: &[ComputationId]) -> Result<Vec<Option<Affine>>, Error> {
        let axes = self.algorithm.array(self.of).rank as usize;
        let told = |id: ComputationId, axis: usize| -> Result<Option<Affine>, Error> {
            match &self.algorithm.computation(id).write.subscripts[axis] {
                Subscript::Affine(at) => in_keys(at, &self.keys(id)),
                Subscript::Computed(_) => Ok(None),
            }
        };
        let mut all = vec![];
        for axis in 0..axes {
            let mut by_users = users.iter().map(|&id| told(id, axis)).collect::<Result<Vec<_>, _>>()?.into_iter();
            let first = by_users.next().flatten();
            all.push(first.filter(|first| by_users.all(|other| other.as_ref() == Some(first))));
        }
        Ok(all)
    }

    /// The axes that private elements have, too.
    fn own_axes(&self) -> Vec<u32> {
        (0..).zip(&self.places).filter(|(_, place)| place.is_none()).map(|(axis, _)| axis).collect()
    }

    /// How many elements there are at most along an axis, for sizes for which there are such executions.
    fn most(&self, axis: u32, executions: &Set) -> Result<Option<i64>, Error> {
        let extent = &self.algorithm.array(self.of).extents[axis as usize];
        most(self.ctx, &self.algorithm, extent, &executions.params()?)
    }

    fn add_array(&mut self, of: &Array, sizes: &[i64]) {
        self.own = ArrayId(self.algorithm.arrays.len() as u32);
        let taken: Vec<String> = self.algorithm.arrays.iter().map(|it| it.name.clone()).collect();
        let outer = self.around.len() as u32;
        self.algorithm.arrays.push(Array {
            name: fresh_among(&format!("{}_own", of.name), &taken),
            element: of.element,
            extents: sizes.iter().map(|&size| Affine::constant(size)).collect(),
            rank: outer + sizes.len() as u32,
            firsts: vec![],
            strided: 0..0,
            kind: ArrayKind::Local { outer },
        });
    }

    /// The iterations of the loops in which some of these statements run.
    fn executions(&self, users: &[ComputationId]) -> Result<Set, Error> {
        let mut all: Option<Set> = None;
        for &id in users {
            let values = relation::functions(self.ctx, &self.algorithm, id, &self.keys(id))?;
            let own = relation::domain(&self.algorithm, id)?.apply(&values)?;
            all = Some(match all {
                None => own,
                Some(others) => others.union(&own)?,
            });
        }
        Ok(all.expect("some statement uses the array").coalesce()?)
    }

    /// Has a statement update the elements of its iteration.
    fn redirect(&mut self, id: ComputationId) -> Result<(), Error> {
        let keys = self.keys(id);
        for which in accesses(&self.algorithm, id, self.of) {
            let at = AccessRef { computation: id, which };
            let given = &self.algorithm.access(at).subscripts;
            let own = self.own_axes().into_iter().map(|axis| given[axis as usize].clone());
            let subscripts = keys.iter().cloned().map(Subscript::from).chain(own).collect();
            self.algorithm.redirect(at, self.own, subscripts);
        }
        Ok(())
    }

    /// The element of its own that a statement which was added uses: its iterators are the loops, and the axes.
    fn own_access(&self) -> Access {
        let count = self.algorithm.array(self.own).rank;
        let subscripts = (0..count).map(|at| Affine::iterator(at).into()).collect();
        Access { array: self.own, subscripts, within: None, checked: false, conditional: false }
    }

    /// Adds `P[k] = neutral`.
    fn start(&mut self, user: ComputationId, executions: &Set, neutral: Constant) -> Result<ComputationId, Error> {
        let value = Expr { kind: ExprKind::Constant(neutral), ty: neutral.ty };
        self.add("start", user, value, self.own_access(), vec![], executions)
    }

    /// Adds `a[k] = a[k] op P[k]`.
    fn total(&mut self, user: ComputationId, executions: &Set, operator: Operator) -> Result<ComputationId, Error> {
        let mut own = (self.around.len() as u32..).map(Affine::iterator);
        let mut subscripts: Vec<Subscript> = vec![];
        for place in &self.places {
            let place = place.clone().or_else(|| own.next());
            subscripts.extend(place.map(Subscript::from));
        }
        let write = Access { array: self.of, subscripts, within: None, checked: false, conditional: false };
        let ty = self.algorithm.array(self.of).element;
        let read = |at| Box::new(Expr { kind: ExprKind::Read(at), ty });
        let value = Expr { kind: ExprKind::Binary(operator.combines(), read(0), read(1)), ty };
        let reads = vec![write.clone(), self.own_access()];
        let id = self.add("total", user, value, write, reads, executions)?;
        self.algorithm.computations[id.0 as usize].atomic = self.algorithm.computation(user).atomic;
        Ok(id)
    }

    /// Adds a statement with one instance for each element of an iteration.
    fn add(
        &mut self,
        role: &str,
        user: ComputationId,
        value: Expr,
        write: Access,
        reads: Vec<Access>,
        executions: &Set,
    ) -> Result<ComputationId, Error> {
        let of = self.algorithm.array(self.of);
        let taken: Vec<String> = self.algorithm.computations.iter().map(|it| it.name.clone()).collect();
        let mut iterators: Vec<String> = vec![];
        let axes = self.own_axes();
        let names = axes.iter().map(|axis| format!("x{}", axis + 1));
        for wanted in self.around.iter().map(|it| it.name.clone()).chain(names) {
            iterators.push(fresh_among(&wanted, &iterators));
        }
        // Where a condition on data keeps all updates away, a place that the loops tell need not be inside.
        let mut own = (self.around.len() as u32..).map(Affine::iterator);
        let mut limits: Vec<(Affine, (Affine, Affine))> = vec![];
        for (axis, place) in (0..).zip(&self.places) {
            let place = place.clone().or_else(|| own.next());
            limits.extend(place.map(|place| (place, of.limits(axis))));
        }
        let id = ComputationId(self.algorithm.computations.len() as u32);
        let it = self.algorithm.computation(user);
        let name = fresh_among(&format!("{role}_{}", of.name), &taken);
        let fastmath = it.fastmath;
        self.algorithm.computations.push(Computation {
            name,
            iterators: iterators.clone(),
            domain: self.algorithm.context.clone(),
            predicate: None,
            lets: vec![],
            value,
            write,
            reads,
            fastmath,
            simd: None,
            ranged: vec![],
            atomic: false,
            owner: None,
        });
        let keys: Vec<Affine> = (0..self.around.len() as u32).map(Affine::iterator).collect();
        let mut domain =
            relation::functions(self.ctx, &self.algorithm, id, &keys)?.intersect_range(executions)?.domain()?;
        let space = relation::domain_space(self.ctx, &self.algorithm, id)?;
        let names = self.algorithm.param_names();
        let value = |affine: Affine| affine.to_isl(&space, &names);
        for (place, (first, last)) in limits {
            let place = value(place)?;
            domain = domain.intersect(&place.ge_set(&value(first)?)?)?.intersect(&place.le_set(&value(last)?)?)?;
        }
        self.algorithm.computations[id.0 as usize].domain = named(domain.coalesce()?, &iterators)?;
        Ok(id)
    }

    /// Puts the added statements first and last in the body of the loop.
    fn stand(&self, next: &mut Scheduled, paths: &[Path], start: ComputationId, total: ComputationId) {
        let innermost = paths.last().expect("the command names a loop").clone();
        let mut taken = names_around(&next.schedule, &innermost);
        let keys = paths.len();
        let mut loops = vec![];
        for at in (keys..keys + self.own_axes().len()).rev() {
            let name = fresh_among(&next.algorithm.computation(start).iterators[at], &taken);
            taken.push(name.clone());
            loops.push((name, Tag::Sequential, Affine::iterator(at as u32)));
        }
        for (level, path) in (0..).zip(paths) {
            let at = &mut loop_mut(&mut next.schedule, path).at;
            at.extend([start, total].map(|id| (id, Affine::iterator(level))));
        }
        let it = loop_mut(&mut next.schedule, &innermost);
        let steps = std::mem::replace(&mut *it.body, Node::Sequence(vec![]));
        *it.body = Node::Sequence(vec![nest(start, loops.clone()), steps, nest(total, loops)]);
        simplify(&mut next.schedule.root);
    }
}

/// The largest value that an expression of sizes has within these sizes, if there is one.
pub(crate) fn most(ctx: &Ctx, algorithm: &Algorithm, size: &Affine, within: &Set) -> Result<Option<i64>, Error> {
    let space = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(1)?;
    let names = algorithm.param_names();
    let value = size.to_isl(&space, &names)?;
    let at = Affine::iterator(0).to_isl(&space, &names)?;
    let within = within.intersect(&known(algorithm)?)?;
    let values = at.eq_set(&value)?.intersect_params(&within)?.project_out_all_params()?;
    Ok(if values.is_empty()? { None } else { values.dim_max_val(0)?.to_i64() })
}
