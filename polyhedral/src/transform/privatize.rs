//! An array for each iteration of a loop: `privatize`.

use super::find::{find_computation, find_loop, loop_mut};
use super::private_updates::{Wanted, beside, private_updates};
use super::split_domain::keep_whole;
use super::tree::names_around;
use crate::affine::Affine;
use crate::algorithm::{
    Access, AccessRef, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId, Subscript,
};
use crate::bounds;
use crate::dependence::{Dependence, dependences};
use crate::error::{Error, PrivateObstacle, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::fresh::{fresh, fresh_among};
use crate::isl::{Ctx, Id, Map, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::recompute::{Mismatch, Mistake, Recomputation, Role, Snapshot, is_seen, prove};
use crate::reduction::updates_by;
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::find::array;
use crate::storage::footprint::accesses;
use crate::storage::private::{in_order, nest};

/// What a proof may take that is tried again for sizes that pass at entry, about a third of a second.
const AGAIN: u64 = 300_000;

/// Gives each iteration of a loop an array of its own in place of one that all of them use.
///
/// Rewrite: `for i { for x { R: T[x] = .. }; for x { S reads T[x] } } -> for i { for x { R: T_own[i, x] = .. }; for x { S reads
/// T_own[i, x] }; for x { if i is the last that writes T[x] { store_T: T[x] = T_own[i, x] } } }`. Nothing is stored of an array that
/// nobody sees afterwards. An array that `S` updates where data say is added up for each iteration ([`private_updates`]).
///
/// Also gives the dependences of the new algorithm.
///
/// # Errors
/// [`ScheduleError::CannotPrivatize`] where it is not known what is read and written; [`ScheduleError::OtherValues`] where an iteration
/// reads what another one, or the caller, wrote.
///
/// # Source
/// Feautrier, *Array expansion*, ICS 1988; the proof is that of [`crate::recompute`].
pub fn privatize(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences_now: &[Dependence],
    name: &str,
    computation: &str,
    at: &str,
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let algorithm = &scheduled.algorithm;
    let anchor = find_computation(algorithm, computation)?;
    let (path, it) = find_loop(scheduled, computation, at)?;
    let of = array(algorithm, name)?;
    let refuse = |obstacle: PrivateObstacle| -> Error {
        ScheduleError::CannotPrivatize { array: name.to_string(), at: at.to_string(), obstacle }.into()
    };
    let uses = |id: &ComputationId| !accesses(algorithm, *id, of).is_empty();
    let users: Vec<ComputationId> = it.body.computations().into_iter().filter(uses).collect();
    check(algorithm, of, anchor, &users).map_err(refuse)?;
    let paths: Vec<Path> = scheduled.schedule.loops_around(anchor).into_iter().map(|(path, _)| path).collect();
    let paths: Vec<Path> = paths.into_iter().filter(|here| here.0.len() <= path.0.len()).collect();
    let around: Vec<Loop> = paths.iter().filter_map(|path| loop_at(&scheduled.schedule, path)).cloned().collect();
    if let Some(tagged) = around.iter().find(|it| it.tag != Tag::Sequential) {
        return Err(refuse(PrivateObstacle::Tagged { at: tagged.name.clone() }));
    }
    let it = algorithm.computation(anchor);
    if it.write.array == of && !it.write.is_affine() && updates_by(it).is_some() {
        let users = beside(algorithm, &users, anchor)?;
        let wanted = Wanted { array: of, at, paths: &paths, around, users };
        return private_updates(ctx, scheduled, dependences_now, &wanted);
    }
    check_users(algorithm, of, &users).map_err(refuse)?;

    let mut next = scheduled.clone();
    keep_whole(&mut next.algorithm);
    let own = add_array(&mut next.algorithm, of, around.len());
    for &user in &users {
        redirect(&mut next.algorithm, user, &key(&around, user), of, own)?;
    }
    let mut roles: Vec<Role> = algorithm.ids().map(Role::Repeats).collect();
    let mut before =
        Algorithm { source_order: Schedule { root: in_order(&scheduled.schedule.root) }, ..algorithm.clone() };
    // What a copy stands for is the value at the end of an iteration: after the last of its steps.
    let end = as_steps(loop_mut(&mut before.source_order, &path));
    let is_seen_later =
        is_seen(algorithm.array(of).kind) || algorithm.ids().any(|id| uses(&id) && !users.contains(&id));
    let written = written(ctx, algorithm, &around, of, &users)?;
    if let (true, Some(written)) = (is_seen_later, written) {
        let axes = algorithm.array(of).rank as usize;
        let copy = add_copy(ctx, &mut next.algorithm, (of, own), &around, &written)?;
        stand(&mut next, copy, &paths, axes);
        let snapshot = Snapshot {
            array: of,
            subscripts: (0..axes).map(|axis| Affine::iterator((around.len() + axis) as u32)).collect(),
            moment: moment(&before.source_order, &path, end),
        };
        roles.push(Role::Copies(snapshot));
        keep_whole(&mut next.algorithm);
    }
    next.algorithm.source_order = Schedule { root: in_order(&next.schedule.root) };

    if let Err(mismatch) = prove(ctx, &Recomputation { original: &before, new: &next.algorithm, roles: &roles })? {
        // Where a subscript is outside, nothing runs: `x[n] = w[n]` reads what no iteration has stored if there are no elements.
        let again = || -> Result<bool, Error> {
            let passing = bounds::passing(ctx, algorithm)?;
            let passes = |algorithm: &Algorithm| -> Result<Algorithm, Error> {
                Ok(Algorithm { context: algorithm.context.intersect(&passing)?, ..algorithm.clone() })
            };
            let (before, new) = (passes(&before)?, passes(&next.algorithm)?);
            Ok(prove(ctx, &Recomputation { original: &before, new: &new, roles: &roles })?.is_ok())
        };
        let budget = ctx.operations_left().map_or(AGAIN, |left| left.clamp(1, AGAIN));
        let is_proved = || match ctx.with_budget(budget, again) {
            Err(error) if error.is_quota() => Ok(false),
            done => done,
        };
        if !is_outside(algorithm, &mismatch) || !is_proved()? {
            return Err(ScheduleError::OtherValues(mismatch).into());
        }
    }
    let all = dependences(ctx, &next.algorithm)?;
    legality::check(ctx, &next.algorithm, &next.schedule, &all)?;
    Ok((next, all))
}

/// Whether a statement that reads another value touches an element there that its array does not have.
fn is_outside(algorithm: &Algorithm, mismatch: &Mismatch) -> bool {
    let Mistake::Value { computation, .. } = &mismatch.mistake else { return false };
    let Some(it) = algorithm.find(computation).map(|id| algorithm.computation(id)) else { return false };
    // Sizes that do not matter are as large as need be.
    let size =
        |name: &String| mismatch.params.iter().find(|(known, _)| known == name).map_or(1 << 40, |(_, size)| *size);
    let params: Vec<i64> = algorithm.params.iter().map(|param| size(&param.name)).collect();
    let value = |affine: &Affine| affine.evaluate(&mismatch.at, &params);
    it.reads.iter().chain([&it.write]).any(|access| {
        let array = algorithm.array(access.array);
        let mut axes = (0..).zip(access.subscripts.iter().zip(&array.extents));
        axes.any(|(axis, (subscript, extent))| {
            let place = subscript.as_affine().and_then(|it| value(&it.sub(&array.first(axis)).ok()?));
            let size = value(extent);
            place.zip(size).is_some_and(|(place, size)| !(0..size).contains(&place))
        })
    })
}

/// Whether the array may be another one in each iteration, and the computation uses it.
fn check(
    algorithm: &Algorithm,
    of: ArrayId,
    anchor: ComputationId,
    users: &[ComputationId],
) -> Result<(), PrivateObstacle> {
    match algorithm.array(of).kind {
        ArrayKind::Argument | ArrayKind::Returned | ArrayKind::Local { outer: 0 } => {}
        ArrayKind::Private | ArrayKind::Result => return Err(PrivateObstacle::Variable),
        ArrayKind::Local { .. } => return Err(PrivateObstacle::Already),
    }
    if !users.contains(&anchor) {
        return Err(PrivateObstacle::NotUsed { by: anchor });
    }
    Ok(())
}

/// Whether what is read and written is known.
fn check_users(algorithm: &Algorithm, of: ArrayId, users: &[ComputationId]) -> Result<(), PrivateObstacle> {
    for &user in users {
        let it = algorithm.computation(user);
        let affine = accesses(algorithm, user, of)
            .into_iter()
            .all(|which| algorithm.access(AccessRef { computation: user, which }).is_affine());
        if !affine {
            return Err(PrivateObstacle::Subscripts { of: user });
        }
        if it.write.array == of && !it.writes_for_certain() {
            return Err(PrivateObstacle::Conditional { of: user });
        }
    }
    Ok(())
}

fn loop_at<'a>(schedule: &'a Schedule, path: &Path) -> Option<&'a Loop> {
    match schedule.node(path) {
        Some(Node::Loop(it)) => Some(it),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
    }
}

/// The values of the loops for an instance of a computation.
fn key(around: &[Loop], id: ComputationId) -> Vec<Affine> {
    around.iter().map(|it| it.at[&id].clone()).collect()
}

fn add_array(algorithm: &mut Algorithm, of: ArrayId, keys: usize) -> ArrayId {
    let source = algorithm.array(of).clone();
    let id = ArrayId(algorithm.arrays.len() as u32);
    let name = fresh(&format!("{}_own", source.name), |name| algorithm.arrays.iter().any(|it| it.name == name));
    let rank = keys as u32 + source.rank;
    let kind = ArrayKind::Local { outer: keys as u32 };
    algorithm.arrays.push(Array { name, rank, kind, firsts: vec![], strided: 0..0, ..source });
    id
}

/// Makes a statement access the array of its iteration; whether subscripts are inside is asked of the statement as it was.
fn redirect(
    algorithm: &mut Algorithm,
    id: ComputationId,
    key: &[Affine],
    of: ArrayId,
    own: ArrayId,
) -> Result<(), Error> {
    for which in accesses(algorithm, id, of) {
        let at = AccessRef { computation: id, which };
        let subscripts = own_subscripts(algorithm, of, key, algorithm.access(at))?;
        algorithm.redirect(at, own, subscripts);
    }
    Ok(())
}

/// The subscripts of an element among those of all iterations: the iteration, then where it lies, counted from 1.
fn own_subscripts(
    algorithm: &Algorithm,
    of: ArrayId,
    key: &[Affine],
    access: &Access,
) -> Result<Vec<Subscript>, Error> {
    let mut all: Vec<Subscript> = key.iter().cloned().map(Subscript::from).collect();
    for (axis, subscript) in (0..).zip(&access.subscripts) {
        let subscript = subscript.as_affine().expect("computed subscripts were refused");
        let from_first = subscript.sub(&algorithm.array(of).first(axis))?;
        all.push(from_first.add_constant(1)?.into());
    }
    Ok(all)
}

/// The elements that each iteration writes: `{ [k] -> A[e] }`.
fn written(
    ctx: &Ctx,
    algorithm: &Algorithm,
    around: &[Loop],
    of: ArrayId,
    users: &[ComputationId],
) -> Result<Option<Map>, Error> {
    let mut all: Option<Map> = None;
    for &id in users.iter().filter(|&&id| algorithm.computation(id).write.array == of) {
        let when = relation::functions(ctx, algorithm, id, &key(around, id))?;
        let elements = relation::access(ctx, algorithm, id, &algorithm.computation(id).write)?;
        let next = when.reverse()?.apply_range(&elements)?;
        all = Some(match all {
            None => next,
            Some(others) => others.union(&next)?,
        });
    }
    Ok(all)
}

/// Adds the statement that stores each element from the array of the last iteration that wrote it: `{ store_A[k, e] }`.
fn add_copy(
    ctx: &Ctx,
    algorithm: &mut Algorithm,
    (of, own): (ArrayId, ArrayId),
    around: &[Loop],
    written: &Map,
) -> Result<ComputationId, Error> {
    let array = algorithm.array(of).clone();
    let name = fresh(&format!("store_{}", array.name), |name| algorithm.find(name).is_some());
    let mut iterators: Vec<String> = vec![];
    let axes = (1..=array.rank).map(|axis| format!("x{axis}"));
    for wanted in around.iter().map(|it| it.name.clone()).chain(axes) {
        iterators.push(fresh_among(&wanted, &iterators));
    }
    let last = written.reverse()?.lexmax()?.reverse()?.coalesce()?;
    let instances =
        last.wrap()?.flatten()?.intersect_params(&algorithm.context)?.set_tuple_id(&Id::new(ctx, &name)?)?;
    let domain = (0..)
        .zip(&iterators)
        .try_fold(instances, |set: Set, (at, name)| set.set_dim_name(crate::isl::DimType::Set, at, name))?;
    let keys: Vec<Affine> = (0..around.len() as u32).map(Affine::iterator).collect();
    let element = (0..array.rank).map(|axis| Affine::iterator(around.len() as u32 + axis).into()).collect();
    let write = Access { array: of, subscripts: element, within: None, checked: false, conditional: false };
    let read = Access { array: own, subscripts: own_subscripts(algorithm, of, &keys, &write)?, ..write.clone() };
    algorithm.computations.push(Computation {
        name,
        iterators,
        domain,
        predicate: None,
        lets: vec![],
        value: Expr { kind: ExprKind::Read(0), ty: array.element },
        write,
        reads: vec![read],
        fastmath: false,
        simd: None,
        ranged: vec![],
        atomic: false,
        owner: None,
    });
    Ok(ComputationId(algorithm.computations.len() as u32 - 1))
}

/// Puts the copy at the end of the loop's body: loops through the elements, the first axis innermost.
fn stand(next: &mut Scheduled, copy: ComputationId, paths: &[Path], axes: usize) {
    let innermost = paths.last().expect("the command names a loop").clone();
    let keys = paths.len();
    let mut taken = names_around(&next.schedule, &innermost);
    let mut loops = vec![];
    for axis in (0..axes).rev() {
        let at = keys + axis;
        let name = fresh_among(&next.algorithm.computation(copy).iterators[at], &taken);
        taken.push(name.clone());
        loops.push((name, Tag::Sequential, Affine::iterator(at as u32)));
    }
    for (level, path) in (0..).zip(paths) {
        loop_mut(&mut next.schedule, path).at.insert(copy, Affine::iterator(level));
    }
    let innermost = loop_mut(&mut next.schedule, &innermost);
    as_steps(innermost);
    if let Node::Sequence(children) = &mut *innermost.body {
        children.push(nest(copy, loops));
    }
}

/// Makes the body of a loop a sequence; gives the number of its steps.
fn as_steps(it: &mut Loop) -> usize {
    let steps = match std::mem::replace(&mut *it.body, Node::Sequence(vec![])) {
        Node::Sequence(children) => children,
        one @ (Node::Loop(_) | Node::Computation(_)) => vec![one],
    };
    let count = steps.len();
    *it.body = Node::Sequence(steps);
    count
}

/// The way down to the end of an iteration of the loop at `path`, by the iterators of the copy.
fn moment(order: &Schedule, path: &Path, end: usize) -> Vec<Affine> {
    let (mut level, mut steps) = (0, vec![]);
    for depth in 0..=path.0.len() {
        match order.node(&Path(path.0[..depth].to_vec())) {
            Some(Node::Loop(_)) => {
                steps.push(Affine::iterator(level));
                level += 1;
            }
            Some(Node::Sequence(_)) => steps.push(Affine::constant(path.0[depth] as i64)),
            Some(Node::Computation(_)) | None => {}
        }
    }
    steps.push(Affine::constant(end as i64));
    steps
}
