//! Partial results of a reduction.

use super::find::{find_computation, find_loop, loop_mut};
use super::tiles::split_at;
use super::tree::simplify;
use crate::affine::Affine;
use crate::algorithm::{
    Access, AccessRef, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId, ScanCheck, Subscript, Which,
};
use crate::dependence::{Dependence, Keeps, dependences};
use crate::error::{Error, FactorObstacle, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::fresh::fresh_among;
use crate::isl::{Ctx, DimType, Id, Map, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::reduction::{Reduction, UpdateOrder, reduction};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::BTreeMap;
use tessella_scalar::{BinaryOp, Constant};

/// Reads of the statement that adds up partial results: of the result, and of one partial result. What its guard reads follows.
const OWN_READS: u32 = 2;

/// Splits a loop and has each of its points update a partial result of its own.
///
/// Rewrite: `for k { S: a = a + e(k) } -> for k1 in 0..n { P[k1] = -0.0 }; for k0 { for k1 in 0..n { S: P[k1] = P[k1] + e(k) } };
/// for k1 in 0..n { a = a + P[k1] }`. Two statements are added, `S_start` and `S_total`, and an array that lives for one
/// execution of the loop. The partial results are combined in their order, so the result is the same in every run. With `n` one there
/// is no loop over them.
///
/// # Source
/// Suriana, Adams, Kamil, *Parallel associative reductions in Halide*, CGO 2017.
///
/// # Errors
/// [`ScheduleError::CannotFactor`] unless `S` is a reduction, the source lets the order of its updates go, one execution of the
/// loop updates one element, and no other statement uses that element meanwhile.
pub fn rfactor(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences_now: &[Dependence],
    computation: &str,
    at: &str,
    size: u32,
) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let id = find_computation(algorithm, computation)?;
    let (path, it) = find_loop(scheduled, computation, at)?;
    let refuse = |obstacle: FactorObstacle| -> Error {
        let (computation, at) = (computation.to_string(), at.to_string());
        ScheduleError::CannotFactor { computation, at, obstacle }.into()
    };
    let update = updates(algorithm, id).map_err(refuse)?;
    let neutral = update
        .operator
        .neutral(algorithm.array(update.array).element)
        .ok_or_else(|| refuse(FactorObstacle::NoReduction))?;
    let around = scheduled.schedule.loops_around(id).into_iter().filter(|(other, _)| other.0.len() < path.0.len());
    let (outer, around): (Vec<Path>, Vec<Loop>) = around.map(|(path, it)| (path, it.clone())).unzip();
    let functions: Vec<Affine> = around.iter().map(|it| it.at[&id].clone()).collect();
    let keys = keys(ctx, algorithm, id, &functions)?.ok_or_else(|| refuse(FactorObstacle::ManyElements))?;
    let inside = it.body.computations();
    check_alone(ctx, scheduled, dependences_now, (id, update.array), around.len(), &inside)?.map_err(refuse)?;

    let mut schedule = scheduled.schedule.clone();
    if size > 1 {
        split_at(ctx, algorithm, &mut schedule, &path, size)?;
    }
    let (algorithm_now, array) = (algorithm.clone(), ArrayId(0));
    let mut partial = Partial { ctx, id, algorithm: algorithm_now, keys, around, array, size, point: String::new() };
    partial.add_array(algorithm.array(update.array))?;
    if size > 1 {
        let points = loop_mut(&mut schedule, &path.child(0));
        partial.point = points.name.clone();
        let place = points.at.remove(&id).expect("the loop stands around the computation");
        let place = partial.redirect(&place)?;
        loop_mut(&mut schedule, &path.child(0)).at.insert(id, place);
    } else {
        partial.point = format!("{at}1");
        partial.redirect(&Affine::constant(0))?;
    }
    let start = partial.start(neutral)?;
    let guard = guard(algorithm, (id, &partial.keys), &inside)?;
    let total = partial.total(algorithm, update, guard)?;
    partial.stand(&mut schedule, &path, &outer, start, total)?;
    let array = partial.array;
    let mut algorithm = partial.algorithm;
    algorithm.source_order = in_order(&schedule);
    let all = dependences(ctx, &algorithm)?;
    legality::check(ctx, &algorithm, &schedule, &all)?;
    let mut next = Scheduled { algorithm, schedule, ..scheduled.clone() };
    // A single one is a variable of the thread that runs the loop.
    next.scratch.extend((size == 1).then_some(array));
    Ok(next)
}

/// The reduction that a computation is, if it updates an element that its iterators tell.
fn updates(algorithm: &Algorithm, id: ComputationId) -> Result<Reduction, FactorObstacle> {
    let update = reduction(algorithm, id).ok_or(FactorObstacle::NoReduction)?;
    if !algorithm.computation(id).write.is_affine() {
        return Err(FactorObstacle::Subscripts);
    }
    if update.order == UpdateOrder::Source {
        return Err(FactorObstacle::Order);
    }
    Ok(update)
}

/// What tells one execution of the reduction's loop from another, as functions of the reduction's iterators: those iterators and
/// subscripts that the loops around it tell, and the values of loops that these do not tell, as those of tiles. `None` unless
/// the keys tell the element.
fn keys(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, around: &[Affine]) -> Result<Option<Vec<Affine>>, Error> {
    let it = algorithm.computation(id);
    let by_loops = relation::functions(ctx, algorithm, id, around)?
        .intersect_domain(&relation::domain(algorithm, id)?)?
        .reverse()?;
    let is_told = |function: &Affine| -> Result<bool, Error> {
        Ok(by_loops.apply_range(&relation::function(ctx, algorithm, id, function)?)?.is_single_valued()?)
    };
    let mut keys: Vec<Affine> = vec![];
    for iterator in (0..it.iterators.len() as u32).filter(|&it| around.iter().any(|at| at.involves_iterator(it))) {
        if is_told(&Affine::iterator(iterator))? {
            keys.push(Affine::iterator(iterator));
        }
    }
    for subscript in it.write.subscripts.iter().filter_map(Subscript::as_affine) {
        if in_keys(subscript, &keys)?.is_none() {
            if !is_told(subscript)? {
                return Ok(None);
            }
            keys.push(subscript.clone());
        }
    }
    for function in around {
        if in_keys(function, &keys)?.is_none() {
            keys.push(function.clone());
        }
    }
    Ok(Some(keys))
}

/// A function of a computation's iterators as one of its keys, each an iterator; `None` where they do not spell it.
pub(super) fn in_keys(function: &Affine, keys: &[Affine]) -> Result<Option<Affine>, Error> {
    let place = |wanted: &Affine| keys.iter().position(|key| key == wanted).map(|at| Affine::iterator(at as u32));
    if let Some(whole) = place(function) {
        return Ok(Some(whole));
    }
    let by: Option<Vec<Affine>> = (0..function.iterator_count())
        .map(|iterator| match place(&Affine::iterator(iterator)) {
            None if !function.involves_iterator(iterator) => Some(Affine::constant(0)),
            key => key,
        })
        .collect();
    Ok(by.map(|by| function.substitute(&by)).transpose()?)
}

/// Whether one execution of the loop does nothing with the element but updates whose order is free.
fn check_alone(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    (id, array): (ComputationId, ArrayId),
    outer: usize,
    inside: &[ComputationId],
) -> Result<Result<(), FactorObstacle>, Error> {
    for dependence in dependences.iter().filter(|it| it.array == array) {
        let (source, sink) = (dependence.source.computation, dependence.sink.computation);
        let other = match (source == id, sink == id) {
            (true, true) if dependence.keeps == Keeps::Order => id,
            (true, false) if inside.contains(&sink) => sink,
            (false, true) if inside.contains(&source) => source,
            (true | false, true | false) => continue,
        };
        let together = legality::together(ctx, &scheduled.algorithm, &scheduled.schedule, dependence, outer)?;
        if !together.is_empty()? {
            return Ok(Err(if other == id { FactorObstacle::Order } else { FactorObstacle::Used { by: other } }));
        }
    }
    Ok(Ok(()))
}

/// A condition, and the reads that it names.
type Guard = (Option<Expr>, Vec<Access>);

/// What the condition of an update says of a whole execution of the loop: its leading parts that the keys tell, and that nothing in
/// the loop changes. The reads of the guard come after those of the statement that adds up.
fn guard(
    algorithm: &Algorithm,
    (id, keys): (ComputationId, &[Affine]),
    inside: &[ComputationId],
) -> Result<Guard, Error> {
    let it = algorithm.computation(id);
    let (mut guard, mut reads): Guard = (None, vec![]);
    let Some(predicate) = it.predicate.as_ref().filter(|_| it.ranged.is_empty()) else { return Ok((guard, reads)) };
    let is_changed = |array: ArrayId| inside.iter().any(|&id| algorithm.computation(id).write.array == array);
    for part in leading_parts(predicate) {
        let mut part = part.clone();
        let mut own = reads.clone();
        let mut told = Ok(true);
        part.walk_mut(&mut |expr| {
            let next = match &expr.kind {
                ExprKind::Index(affine) => in_keys(affine, keys).map(|it| it.map(ExprKind::Index)),
                ExprKind::Read(at) => {
                    let access = &it.reads[*at as usize];
                    by_keys(access, keys).map(|it| {
                        it.filter(|access| !is_changed(access.array)).map(|access| {
                            own.push(access);
                            ExprKind::Read(OWN_READS + own.len() as u32 - 1)
                        })
                    })
                }
                ExprKind::Let(_) => Ok(None),
                other => Ok(Some(other.clone())),
            };
            match next {
                Ok(Some(kind)) => expr.kind = kind,
                Ok(None) if told.is_ok() => told = Ok(false),
                Ok(None) => {}
                Err(error) => told = Err(error),
            }
        });
        if !told? {
            break;
        }
        reads = own;
        guard = Some(match guard {
            None => part,
            Some(before) => {
                let ty = before.ty;
                Expr { kind: ExprKind::Binary(BinaryOp::AndAlso, Box::new(before), Box::new(part)), ty }
            }
        });
    }
    Ok((guard, reads))
}

/// The parts of a condition that are tested one after the other.
fn leading_parts(condition: &Expr) -> Vec<&Expr> {
    match &condition.kind {
        ExprKind::Binary(BinaryOp::AndAlso, left, right) => [leading_parts(left), leading_parts(right)].concat(),
        _ => vec![condition],
    }
}

/// A read that happens in every instance, as one of a statement whose iterators are the keys.
fn by_keys(access: &Access, keys: &[Affine]) -> Result<Option<Access>, Error> {
    if access.within.is_some() || access.checked {
        return Ok(None);
    }
    let mut next = access.clone();
    for subscript in &mut next.subscripts {
        let Some(affine) = subscript.as_affine() else { return Ok(None) };
        let Some(told) = in_keys(affine, keys)? else { return Ok(None) };
        *subscript = told.into();
    }
    Ok(Some(next))
}

/// An algorithm on its way to partial results.
struct Partial<'a> {
    ctx: &'a Ctx,
    id: ComputationId,
    algorithm: Algorithm,
    /// What tells one execution of the loop from another, as functions of the iterators that the reduction had.
    keys: Vec<Affine>,
    /// The loops around the reduction's.
    around: Vec<Loop>,
    /// The partial results.
    array: ArrayId,
    size: u32,
    /// The name of the loop over partial results.
    point: String,
}

impl Partial<'_> {
    fn add_array(&mut self, of: &Array) -> Result<(), Error> {
        let taken: Vec<String> = self.algorithm.arrays.iter().map(|it| it.name.clone()).collect();
        self.array = ArrayId(self.algorithm.arrays.len() as u32);
        let outer = self.keys.len() as u32;
        self.algorithm.arrays.push(Array {
            name: fresh_among(&format!("{}_partial", of.name), &taken),
            element: of.element,
            extents: vec![Affine::constant(self.size.into())],
            rank: outer + 1,
            firsts: vec![],
            strided: 0..0,
            kind: ArrayKind::Local { outer },
        });
        Ok(())
    }

    /// `P[keys..., place + 1]`.
    fn access(&self, keys: Vec<Affine>, place: u32) -> Result<Access, Error> {
        let mut subscripts: Vec<Subscript> = keys.into_iter().map(Subscript::from).collect();
        subscripts.push(Affine::iterator(place).add_constant(1)?.into());
        Ok(Access { array: self.array, subscripts, within: None, checked: false, conditional: false })
    }

    /// The same, in the statements that are added: their iterators are the keys and the place.
    fn own_access(&self) -> Result<Access, Error> {
        let keys = self.keys.len() as u32;
        self.access((0..keys).map(Affine::iterator).collect(), keys)
    }

    /// Has the reduction update partial results. The number of the one becomes an iterator of one value, and so does each key
    /// that is no iterator. Gives that of the number.
    fn redirect(&mut self, place: &Affine) -> Result<Affine, Error> {
        let old = self.algorithm.computation(self.id).clone();
        let mut names = old.iterators.clone();
        let mut all: Vec<Affine> = (0..names.len() as u32).map(Affine::iterator).collect();
        let mut keys = vec![];
        for (key, name) in self.keys.iter().zip(self.names(&old)) {
            let has_iterator = key.as_iterator().is_some();
            keys.push(if has_iterator { key.clone() } else { Affine::iterator(all.len() as u32) });
            if !has_iterator {
                names.push(fresh_among(&name, &names));
                all.push(key.clone());
            }
        }
        let position = all.len() as u32;
        names.push(fresh_among(&self.point, &names));
        all.push(place.clone());
        let tuple = Id::new(self.ctx, &old.name)?;
        let longer: Map =
            relation::functions(self.ctx, &self.algorithm, self.id, &all)?.set_tuple_id(DimType::Out, &tuple)?;
        let lengthen = |set: &Set| -> Result<Set, Error> { named(set.apply(&longer)?, &names) };
        let access = self.access(keys, position)?;
        let mut next = old.clone();
        next.domain = lengthen(&old.domain)?;
        for read in &mut next.reads {
            if read.array == old.write.array {
                *read = access.clone();
            } else {
                read.within = read.within.as_ref().map(&lengthen).transpose()?;
            }
        }
        next.write = access;
        next.iterators = names;
        self.algorithm.computations[self.id.0 as usize] = next;
        Ok(Affine::iterator(position))
    }

    /// What the keys are called: as the iterators, or the loops around, that they are.
    fn names(&self, of: &Computation) -> Vec<String> {
        let loops = |key: &Affine| self.around.iter().find(|it| it.at[&self.id] == *key).map(|it| it.name.clone());
        let named = |key: &Affine| match key.as_iterator() {
            Some(iterator) => of.iterators[iterator as usize].clone(),
            None => loops(key).unwrap_or_else(|| "element".to_string()),
        };
        self.keys.iter().map(named).collect()
    }

    /// Adds `P[k1] = neutral`.
    fn start(&mut self, neutral: Constant) -> Result<ComputationId, Error> {
        let value = Expr { kind: ExprKind::Constant(neutral), ty: neutral.ty };
        let write = self.own_access()?;
        let executions = self.executions(&self.algorithm, &relation::domain(&self.algorithm, self.id)?)?;
        self.add("start", value, write, vec![], None, &executions)
    }

    /// Adds `a = a op P[k1]`, in executions that may update the element, if the guard holds.
    fn total(
        &mut self,
        before: &Algorithm,
        update: Reduction,
        (guard, guarded): Guard,
    ) -> Result<ComputationId, Error> {
        let old = before.computation(self.id);
        let mut updated = relation::access(self.ctx, before, self.id, &old.write)?;
        if old.predicate.is_some() && !old.write.checked {
            // Where no update happens the element need not be there.
            updated = updated.intersect_range(&relation::index_set(self.ctx, before, update.array)?)?;
        }
        let executions = self.executions(before, &updated.domain()?)?;
        let keys = self.keys.len() as u32;
        let mut write = Access { within: None, ..old.write.clone() };
        for subscript in &mut write.subscripts {
            let affine = subscript.as_affine().expect("computed subscripts were refused");
            *subscript = in_keys(affine, &self.keys)?.expect("the keys tell the element").into();
        }
        let ty = self.algorithm.array(update.array).element;
        let read = |at| Box::new(Expr { kind: ExprKind::Read(at), ty });
        let value = Expr { kind: ExprKind::Binary(update.operator.combines(), read(0), read(1)), ty };
        let reads = [vec![write.clone(), self.own_access()?], guarded].concat();
        // What may be added up in any order may be in parts, too: where the keys begin with the iterators outside of the loop that leaves
        // the order open, all of that loop's parts, else those of one execution.
        let begins = |outer: u32| (0..outer).all(|it| self.keys.get(it as usize) == Some(&Affine::iterator(it)));
        let free = match update.order {
            UpdateOrder::Within(outer) if begins(outer) => Some(outer),
            UpdateOrder::Within(_) => Some(keys),
            UpdateOrder::Any | UpdateOrder::Source => None,
        };
        let total = self.add("total", value, write, reads, free, &executions)?;
        self.algorithm.computations[total.0 as usize].predicate = guard;
        self.move_searches(before, update.array, total);
        Ok(total)
    }

    /// What was found out at entry of the element that the reduction updates now belongs to the statement that updates it.
    fn move_searches(&mut self, before: &Algorithm, array: ArrayId, total: ComputationId) {
        let Some(scan) = &mut self.algorithm.scan else { return };
        for check in &mut scan.checks {
            let ScanCheck::Inside { access, .. } = check else { continue };
            if access.computation == self.id && before.access(*access).array == array {
                let which = match access.which {
                    Which::Write => Which::Write,
                    Which::Read(_) => Which::Read(0),
                };
                *access = AccessRef { computation: total, which };
            }
        }
    }

    /// The executions of the loop, by their keys, in which some instances of the reduction run.
    fn executions(&self, algorithm: &Algorithm, instances: &Set) -> Result<Set, Error> {
        Ok(instances.apply(&relation::functions(self.ctx, algorithm, self.id, &self.keys)?)?)
    }

    /// Adds a statement with one instance for each partial result of each of these executions of the loop.
    fn add(
        &mut self,
        role: &str,
        value: Expr,
        write: Access,
        reads: Vec<Access>,
        simd: Option<u32>,
        executions: &Set,
    ) -> Result<ComputationId, Error> {
        let of = self.algorithm.computation(self.id);
        let taken: Vec<String> = self.algorithm.computations.iter().map(|it| it.name.clone()).collect();
        let mut iterators: Vec<String> = vec![];
        for name in self.names(of) {
            iterators.push(fresh_among(&name, &iterators));
        }
        iterators.push(fresh_among(&self.point, &iterators));
        let is_ranged = |key: &Affine| key.as_iterator().is_some_and(|iterator| of.ranged.contains(&iterator));
        let id = ComputationId(self.algorithm.computations.len() as u32);
        self.algorithm.computations.push(Computation {
            name: fresh_among(&format!("{}_{role}", of.name), &taken),
            iterators: iterators.clone(),
            domain: self.algorithm.context.clone(),
            predicate: None,
            lets: vec![],
            value,
            write,
            reads,
            fastmath: of.fastmath,
            simd,
            ranged: (0..).zip(&self.keys).filter(|(_, key)| is_ranged(key)).map(|(at, _)| at).collect(),
            atomic: false,
            owner: None,
        });
        let own: Vec<Affine> = (0..self.keys.len() as u32).map(Affine::iterator).collect();
        let domain = relation::functions(self.ctx, &self.algorithm, id, &own)?.intersect_range(executions)?.domain()?;
        let space = relation::domain_space(self.ctx, &self.algorithm, id)?;
        let names = self.algorithm.param_names();
        let value = |affine: Affine| affine.to_isl(&space, &names);
        let place = value(Affine::iterator(self.keys.len() as u32))?;
        let domain = domain
            .intersect(&place.ge_set(&value(Affine::constant(0))?)?)?
            .intersect(&place.le_set(&value(Affine::constant(i64::from(self.size) - 1))?)?)?;
        self.algorithm.computations[id.0 as usize].domain = named(domain.coalesce()?, &iterators)?;
        Ok(id)
    }

    /// Puts the added statements before and after the loop.
    fn stand(
        &self,
        schedule: &mut Schedule,
        path: &Path,
        outer: &[Path],
        start: ComputationId,
        total: ComputationId,
    ) -> Result<(), Error> {
        for path in outer {
            let at = &mut loop_mut(schedule, path).at;
            let function = in_keys(&at[&self.id], &self.keys)?.expect("the keys tell the loops around");
            at.extend([(start, function.clone()), (total, function)]);
        }
        let nest = |id: ComputationId| {
            if self.size == 1 {
                return Node::Computation(id);
            }
            let at = BTreeMap::from([(id, Affine::iterator(self.keys.len() as u32))]);
            let body = Box::new(Node::Computation(id));
            Node::Loop(Loop { name: self.point.clone(), tag: Tag::Sequential, at, body })
        };
        let node = schedule.node_mut(path).expect("the loop was just split");
        let middle = std::mem::replace(node, Node::Sequence(vec![]));
        *node = Node::Sequence(vec![nest(start), middle, nest(total)]);
        simplify(&mut schedule.root);
        Ok(())
    }
}

pub(super) fn named(set: Set, names: &[String]) -> Result<Set, Error> {
    let set = (0..).zip(names).try_fold(set, |set, (at, name)| set.set_dim_name(DimType::Set, at, name))?;
    Ok(set)
}

/// The order with all loops in sequence.
fn in_order(schedule: &Schedule) -> Schedule {
    fn plain(node: &mut Node) {
        match node {
            Node::Computation(_) => {}
            Node::Sequence(children) => children.iter_mut().for_each(plain),
            Node::Loop(it) => {
                it.tag = Tag::Sequential;
                plain(&mut it.body);
            }
        }
    }
    let mut schedule = schedule.clone();
    plain(&mut schedule.root);
    schedule
}
