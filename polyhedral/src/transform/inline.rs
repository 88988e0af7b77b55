//! Substituting a computation's value into its readers.

use super::find::find_computation;
use crate::affine::{Affine, Atom};
use crate::algorithm::{Access, Algorithm, ArrayKind, Computation, ComputationId};
use crate::bounds;
use crate::dependence::{DependenceKind, dependences};
use crate::error::{Error, InlineObstacle, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::isl::{Ctx, Map, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::relation;

/// Computes a value where it is read instead of storing it.
///
/// Rewrite: `for i { S: T[i] = f(A[i]) }; for i { R: B[i] = g(T[i], T[i+1]) } -> for i { R: B[i] = g(f(A[i]), f(A[i+1])) }`
///
/// `S` stays as a computation without instances, which stands in no loop any more. The order of the other computations is unchanged;
/// since they read what `S` read, it has to be judged anew.
///
/// # Errors
/// [`ScheduleError::CannotInline`] unless every element that is read was written by one instance of `S` before, what that
/// instance read is still there, and nobody outside sees the array.
pub fn inline(ctx: &Ctx, scheduled: &Scheduled, computation: &str) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let id = find_computation(algorithm, computation)?;
    let refuse = |obstacle: InlineObstacle| -> Error {
        ScheduleError::CannotInline { computation: computation.to_string(), obstacle }.into()
    };
    let producer = algorithm.computation(id);
    check_producer(algorithm, id).map_err(refuse)?;
    let inverse = inverse(producer).ok_or_else(|| refuse(InlineObstacle::Subscripts))?;
    let readers: Vec<ComputationId> = algorithm.ids().filter(|&reader| reads(algorithm, reader, id)).collect();
    if readers.is_empty() {
        return Err(refuse(InlineObstacle::NoReader));
    }
    for &reader in &readers {
        if !has_affine_accesses(algorithm.computation(reader)) {
            return Err(refuse(InlineObstacle::Subscripts));
        }
        if algorithm.computation(reader).fastmath && !producer.fastmath {
            return Err(refuse(InlineObstacle::Fastmath { reader }));
        }
        check_reader(ctx, algorithm, id, reader)?.map_err(refuse)?;
    }
    let mut changed = scheduled.clone();
    for check in bounds::entry_checks(ctx, algorithm)?.into_iter().filter(|it| it.access.computation == id) {
        changed.algorithm.requirements.push(check.kept(algorithm));
    }
    for reader in readers {
        changed.algorithm.computations[reader.0 as usize] = substituted(ctx, algorithm, id, reader, &inverse)?;
    }
    let gone = &mut changed.algorithm.computations[id.0 as usize];
    gone.domain = Set::empty(&gone.domain.space()?)?;
    changed.schedule.stand_last(id);
    let all = dependences(ctx, &changed.algorithm)?;
    legality::check(ctx, &changed.algorithm, &changed.schedule, &all)?;
    Ok(changed)
}

/// What can be told from the computation alone.
fn check_producer(algorithm: &Algorithm, id: ComputationId) -> Result<(), InlineObstacle> {
    let it = algorithm.computation(id);
    let array = algorithm.array(it.write.array);
    match array.kind {
        ArrayKind::Private | ArrayKind::Local { .. } => {}
        ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => return Err(InlineObstacle::Output),
    }
    if it.predicate.is_some() || it.write.within.is_some() {
        return Err(InlineObstacle::Conditional);
    }
    if it.reads.iter().any(|read| read.array == it.write.array) {
        return Err(InlineObstacle::ReadsItself);
    }
    let writes = |other: &ComputationId| algorithm.computation(*other).write.array == it.write.array;
    if let Some(other) = algorithm.ids().find(|other| *other != id && writes(other)) {
        return Err(InlineObstacle::OtherWriter { other });
    }
    if it.value.ty != array.element || !has_affine_accesses(it) {
        return Err(InlineObstacle::Subscripts);
    }
    Ok(())
}

/// Whether no subscript is computed.
fn has_affine_accesses(computation: &Computation) -> bool {
    computation.reads.iter().chain([&computation.write]).all(Access::is_affine)
}

fn reads(algorithm: &Algorithm, reader: ComputationId, producer: ComputationId) -> bool {
    let array = algorithm.computation(producer).write.array;
    algorithm.computation(reader).reads.iter().any(|read| read.array == array)
}

/// The producer's iterators by the subscripts of its write, which [`Atom::Iterator`] stands for; `None` unless each iterator
/// is a subscript, but for its sign and a constant.
fn inverse(producer: &Computation) -> Option<Vec<Affine>> {
    (0..producer.iterators.len() as u32)
        .map(|iterator| {
            producer.write.subscripts.iter().enumerate().find_map(|(axis, subscript)| {
                let [(Atom::Iterator(position), sign @ (1 | -1))] = subscript.as_affine()?.terms() else { return None };
                if *position != iterator {
                    return None;
                }
                let axis = Affine::iterator(axis as u32);
                axis.add_constant(subscript.as_affine()?.constant_term().checked_neg()?).ok()?.scale(*sign).ok()
            })
        })
        .collect()
}

/// Whether each element that a reader sees was written by an instance before it, whose own reads still see the same.
fn check_reader(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    reader: ComputationId,
) -> Result<Result<(), InlineObstacle>, Error> {
    let order = &algorithm.source_order;
    let write = relation::access(ctx, algorithm, id, &algorithm.computation(id).write)?;
    let all = dependences(ctx, algorithm)?;
    for read in
        algorithm.computation(reader).reads.iter().filter(|read| read.array == algorithm.computation(id).write.array)
    {
        let read = relation::access(ctx, algorithm, reader, read)?;
        if !read.range()?.is_subset(&write.range()?)? {
            return Ok(Err(InlineObstacle::NotWritten { reader }));
        }
        // { S[x] -> R[y] }: one x for each y.
        let pairs = write.apply_range(&read.reverse()?)?;
        let earlier = legality::before(ctx, algorithm, order, id, reader, &pairs)?;
        if !pairs.is_subset(&earlier)? {
            return Ok(Err(InlineObstacle::NotWritten { reader }));
        }
        for anti in all.iter().filter(|it| it.kind == DependenceKind::Anti && it.source.computation == id) {
            let other = anti.sink.computation;
            // { T[z] -> R[y] }: T overwrites what S[x] read.
            let overwritten = anti.relation.reverse()?.apply_range(&pairs)?;
            if !legality::before(ctx, algorithm, order, other, reader, &overwritten)?.is_empty()? {
                return Ok(Err(InlineObstacle::Overwritten { array: anti.array, by: other, reader }));
            }
        }
    }
    Ok(Ok(()))
}

/// The reader with the producer's value in place of its reads. Those stay in the list, but nothing performs them.
fn substituted(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    reader: ComputationId,
    inverse: &[Affine],
) -> Result<Computation, Error> {
    let producer = algorithm.computation(id);
    let mut it = algorithm.computation(reader).clone();
    let mut values: Vec<(u32, Expr)> = vec![];
    for at in 0..it.reads.len() {
        let read = it.reads[at].clone();
        if read.array != producer.write.array {
            continue;
        }
        // The producer's iterators by the reader's.
        let subscripts: Vec<Affine> = read.subscripts.iter().filter_map(|it| it.as_affine().cloned()).collect();
        let by: Vec<Affine> = inverse.iter().map(|of| of.substitute(&subscripts)).collect::<Result<_, _>>()?;
        let first = it.reads.len() as u32;
        for theirs in &producer.reads {
            it.reads.push(moved(ctx, algorithm, (id, theirs), (reader, &read), &by)?);
        }
        values.push((at as u32, carried(producer, &producer.value, &by, first)?));
        let nothing = Set::empty(&relation::domain_space(ctx, algorithm, reader)?)?;
        it.reads[at].within = Some(nothing);
    }
    let replace = |expr: &Expr| {
        rebuilt(expr, &mut |expr| match &expr.kind {
            ExprKind::Read(at) => values.iter().find(|(position, _)| position == at).map(|(_, value)| value.clone()),
            _ => None,
        })
    };
    it.predicate = it.predicate.as_ref().map(replace);
    it.lets.iter_mut().for_each(|item| item.value = replace(&item.value));
    it.value = replace(&it.value);
    Ok(it)
}

/// A read of the producer as one of the reader.
fn moved(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (producer, theirs): (ComputationId, &Access),
    (reader, read): (ComputationId, &Access),
    by: &[Affine],
) -> Result<Access, Error> {
    let affine = theirs.subscripts.iter().filter_map(|it| it.as_affine());
    let subscripts = affine.map(|it| Ok(it.substitute(by)?.into())).collect::<Result<_, Error>>()?;
    let mut within = read.within.clone();
    if let Some(theirs) = &theirs.within {
        // { R[y] -> S[x] }
        let names = algorithm.computation(producer).name.clone();
        let to: Map = relation::functions(ctx, algorithm, reader, by)?;
        let to = to.set_tuple_id(crate::isl::DimType::Out, &crate::isl::Id::new(ctx, &names)?)?;
        let own = to.intersect_range(theirs)?.domain()?;
        within = Some(match within {
            None => own,
            Some(within) => within.intersect(&own)?,
        });
    }
    Ok(Access { array: theirs.array, subscripts, within, checked: theirs.checked, conditional: theirs.conditional })
}

/// An expression of the producer in the reader's iterators, its lets spelled out, its reads counted from `first`.
fn carried(producer: &Computation, expr: &Expr, by: &[Affine], first: u32) -> Result<Expr, Error> {
    let mut failed = None;
    let carried = rebuilt(expr, &mut |expr| {
        let kind = match &expr.kind {
            ExprKind::Read(at) => ExprKind::Read(first + at),
            ExprKind::Index(affine) => match affine.substitute(by) {
                Ok(affine) => ExprKind::Index(affine),
                Err(error) => {
                    failed.get_or_insert(Error::from(error));
                    return Some(expr.clone());
                }
            },
            ExprKind::Let(at) => {
                return match carried(producer, &producer.lets[*at as usize].value, by, first) {
                    Ok(value) => Some(value),
                    Err(error) => {
                        failed.get_or_insert(error);
                        Some(expr.clone())
                    }
                };
            }
            _ => return None,
        };
        Some(Expr { kind, ty: expr.ty })
    });
    failed.map_or(Ok(carried), Err)
}

/// The expression with what `replace` gives in place of some parts, outside in.
fn rebuilt(expr: &Expr, replace: &mut dyn FnMut(&Expr) -> Option<Expr>) -> Expr {
    if let Some(other) = replace(expr) {
        return other;
    }
    let mut of = |operand: &Expr| Box::new(rebuilt(operand, replace));
    let kind = match &expr.kind {
        leaf @ (ExprKind::Constant(_)
        | ExprKind::Index(_)
        | ExprKind::Scalar(_)
        | ExprKind::Let(_)
        | ExprKind::Read(_)) => leaf.clone(),
        ExprKind::Unary(op, operand) => ExprKind::Unary(*op, of(operand)),
        ExprKind::Convert(operand) => ExprKind::Convert(of(operand)),
        ExprKind::Wrap(operand) => ExprKind::Wrap(of(operand)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, of(left), of(right)),
        ExprKind::Compare(op, left, right) => ExprKind::Compare(*op, of(left), of(right)),
        ExprKind::Call(intrinsic, operands) => ExprKind::Call(*intrinsic, operands.iter().map(|it| *of(it)).collect()),
        ExprKind::Select { condition, yes, no } => {
            ExprKind::Select { condition: of(condition), yes: of(yes), no: of(no) }
        }
        ExprKind::IfElse { condition, yes, no } => {
            ExprKind::IfElse { condition: of(condition), yes: of(yes), no: of(no) }
        }
    };
    Expr { kind, ty: expr.ty }
}
