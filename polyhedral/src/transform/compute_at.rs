//! Computing values where they are used: `compute_at`.

use super::find::{find_computation, find_loop, loop_mut};
use super::tree::{names_around, remove, simplify};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, Array, ArrayId, ArrayKind, Computation, ComputationId};
use crate::bounds;
use crate::dependence::dependences;
use crate::error::{AtObstacle, Error, ScheduleError};
use crate::isl::{Ctx, DimType, Id, Map};
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::recompute::{Flows, Recomputation, Role, is_seen, prove, written_by};
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::storage::footprint::{Hull, hull};
use crate::storage::private::{Short, fresh, in_order, nest, redirect, thread_count, walk_box};
use crate::storage::{Limit, check_limit};
use std::collections::BTreeMap;

/// Computes in each iteration of a loop what that iteration reads of an array.
///
/// Rewrite: `for x { R: T[x] = f(x) }; for i { for j { S reads T[x(i, j)] } } -> for i { for x in X(i) { R: T_local[x - low(i)] = f(x) };
/// for j { S reads T_local } }`, where `X(i)` is what iteration `i` reads. Values that several iterations read are computed in
/// each. Where nobody else needs `T`, the nest of `R` is gone; else it stays, and the new statement is called `R_local`.
///
/// # Errors
/// [`ScheduleError::CannotComputeAt`] unless `R` alone writes `T`, without a condition and without reading it, and wrote all that
/// is read; [`ScheduleError::OtherValues`] where `f` would see other values than before;
/// [`crate::storage::StorageError::NoConstantSize`] and [`crate::storage::StorageError::TooLarge`].
///
/// # Source
/// Ragan-Kelley et al., *Halide: a language and compiler for optimizing parallelism, locality, and recomputation in image
/// processing pipelines*, PLDI 2013.
pub fn compute_at(
    ctx: &Ctx,
    scheduled: &Scheduled,
    producer: &str,
    reader: &str,
    at: &str,
) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let id = find_computation(algorithm, producer)?;
    let anchor = find_computation(algorithm, reader)?;
    let refuse = |obstacle: AtObstacle| -> Error {
        ScheduleError::CannotComputeAt { computation: producer.to_string(), at: at.to_string(), obstacle }.into()
    };
    let (path, it) = find_loop(scheduled, reader, at)?;
    let around: Vec<Loop> = loops_to(&scheduled.schedule, anchor, &path);
    let array = algorithm.computation(id).write.array;
    check_producer(algorithm, id).map_err(refuse)?;
    let below = it.body.computations();
    if below.contains(&id) {
        return Err(refuse(AtObstacle::Inside));
    }
    let reads = |user: &ComputationId| algorithm.computation(*user).reads.iter().any(|read| read.array == array);
    let users: Vec<ComputationId> = below.into_iter().filter(reads).collect();
    if !users.contains(&anchor) {
        return Err(refuse(AtObstacle::NotRead { reader: anchor }));
    }
    let keys: BTreeMap<ComputationId, Vec<Affine>> =
        users.iter().map(|&user| (user, around.iter().map(|it| it.at[&user].clone()).collect())).collect();
    let needed = match needed(ctx, algorithm, id, &keys)? {
        Ok(needed) => needed,
        Err(obstacle) => return Err(refuse(obstacle)),
    };
    let elements = relation::access(ctx, algorithm, id, &algorithm.computation(id).write)?;
    let touched = needed.apply_range(&elements)?.coalesce()?;
    // { [k, y] -> [k, e] }: the places in the box tell the instances apart.
    let to_elements = needed.domain()?.identity()?.product(&elements)?.intersect_domain(&needed.wrap()?)?;
    if !to_elements.is_injective()? {
        return Err(refuse(AtObstacle::ManyInstances));
    }
    let hull = hull(algorithm, array, at, &touched)?;
    let team = team(ctx, scheduled, &around, &users, anchor).map_err(|failed| match failed {
        Ok(obstacle) => refuse(obstacle),
        Err(error) => error,
    })?;
    let limit = match (scheduled.target, team.is_empty()) {
        (Target::Cpu, _) => Limit::Stack,
        (Target::Gpu, false) => Limit::Shared,
        (Target::Gpu, true) => Limit::Registers,
    };
    check_limit(algorithm, array, &hull.size, limit)?;

    let others = algorithm.ids().any(|other| !users.contains(&other) && reads(&other));
    let stays = others || is_seen(algorithm.array(array).kind);
    let own = scheduled.schedule.loops_around(id).into_iter().filter(|(_, it)| it.body.computations() == [id]);
    if let Some((_, it)) = own.into_iter().find(|(_, it)| !stays && it.tag != Tag::Sequential) {
        let (computation, at) = (producer.to_string(), it.name.clone());
        return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() }.into());
    }
    let plan = Plan { ctx, id, array, keys: around.len(), hull, needed };
    let mut next = scheduled.clone();
    let new_array = plan.add_array(&mut next.algorithm);
    next.scratch.insert(new_array);
    for (user, key) in &keys {
        redirect(ctx, &mut next.algorithm, *user, key, (&plan.hull, None), (array, new_array), None)?;
    }
    let mut roles: Vec<Role> = algorithm.ids().map(Role::Repeats).collect();
    let made = plan.computation(algorithm, &next.algorithm, &around, new_array)?;
    let made_id = if stays {
        let made_id = ComputationId(next.algorithm.computations.len() as u32);
        let name = fresh(&format!("{producer}_local"), |name| algorithm.find(name).is_some());
        next.algorithm.computations.push(Computation { name, ..made });
        roles.push(Role::Repeats(id));
        made_id
    } else {
        keep_checks(ctx, algorithm, id, &mut next.algorithm)?;
        next.algorithm.computations[id.0 as usize] = made;
        remove(&mut next.schedule.root, id);
        simplify(&mut next.schedule.root);
        id
    };
    plan.set_domain(&mut next.algorithm, made_id)?;
    plan.stand(&mut next, made_id, (anchor, at), &users, &team)?;
    next.algorithm.source_order = Schedule { root: in_order(&next.schedule.root) };

    let recomputation = Recomputation { original: algorithm, new: &next.algorithm, roles: &roles };
    if let Err(mismatch) = prove(ctx, &recomputation)? {
        return Err(ScheduleError::OtherValues(mismatch).into());
    }
    let all = dependences(ctx, &next.algorithm)?;
    legality::check(ctx, &next.algorithm, &next.schedule, &all)?;
    super::check_gpu(&next, &next.schedule)?;
    Ok(next)
}

/// The loops around a computation down to the one at `path`.
fn loops_to(schedule: &Schedule, id: ComputationId, path: &Path) -> Vec<Loop> {
    let around = schedule.loops_around(id).into_iter();
    around.filter(|(here, _)| here.0.len() <= path.0.len()).map(|(_, it)| it.clone()).collect()
}

/// What can be told from the computation alone.
fn check_producer(algorithm: &Algorithm, id: ComputationId) -> Result<(), AtObstacle> {
    let it = algorithm.computation(id);
    if it.predicate.is_some() || it.write.within.is_some() {
        return Err(AtObstacle::Conditional);
    }
    if algorithm.array(it.write.array).kind == ArrayKind::Result || !it.write.is_affine() {
        return Err(AtObstacle::Subscripts);
    }
    if it.reads.iter().any(|read| read.array == it.write.array) {
        return Err(AtObstacle::ReadsItself);
    }
    let writes = |other: &ComputationId| algorithm.computation(*other).write.array == it.write.array;
    match algorithm.ids().find(|other| *other != id && writes(other)) {
        Some(other) => Err(AtObstacle::OtherWriter { other }),
        None => Ok(()),
    }
}

/// The instances of the producer whose values the users of each key read: `{ [k] -> R[y] }`.
fn needed(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    keys: &BTreeMap<ComputationId, Vec<Affine>>,
) -> Result<Result<Map, AtObstacle>, Error> {
    let array = algorithm.computation(id).write.array;
    let flows = Flows::new(ctx, algorithm)?;
    let mut needed: Option<Map> = None;
    for (&user, key) in keys {
        let of_key = relation::functions(ctx, algorithm, user, key)?.reverse()?;
        for read in algorithm.computation(user).reads.iter().filter(|read| read.array == array) {
            if !read.is_affine() {
                return Ok(Err(AtObstacle::Subscripts));
            }
            let values = flows.values(array, &flows.read(user, read)?)?;
            let (written, rest) = written_by(ctx, algorithm, user, &values, id)?;
            if !rest.is_empty()? {
                return Ok(Err(AtObstacle::NotWritten { reader: user }));
            }
            let instances = of_key.apply_range(&written)?;
            needed = Some(match needed {
                None => instances,
                Some(others) => others.union(&instances)?,
            });
        }
    }
    let needed = needed.expect("the reader that the command names reads the array");
    // One simple shape: what lies between is computed, too.
    let around = Map::from_basic_map(&needed.coalesce()?.simple_hull()?)?;
    let around = around.intersect_domain(&needed.domain()?)?.intersect_range(&relation::domain(algorithm, id)?)?;
    Ok(Ok(around.coalesce()?))
}

/// The threads of a block that compute together; none on the CPU, and where each thread computes for itself.
#[allow(clippy::type_complexity)]
fn team(
    ctx: &Ctx,
    scheduled: &Scheduled,
    around: &[Loop],
    users: &[ComputationId],
    anchor: ComputationId,
) -> Result<BTreeMap<ProcessorAxis, i64>, Result<AtObstacle, Error>> {
    let mut team = BTreeMap::new();
    if scheduled.target == Target::Cpu || around.iter().any(|it| it.tag.thread().is_some()) {
        return Ok(team);
    }
    for &user in users {
        for (_, it) in scheduled.schedule.loops_around(user).into_iter().skip(around.len()) {
            match it.tag {
                Tag::GpuBlock(_) => return Err(Ok(AtObstacle::OutsideOfBlocks)),
                Tag::GpuThread(axis) => {
                    let count = thread_count(ctx, &scheduled.algorithm, it).map_err(Err)?;
                    let widest = team.entry(axis).or_insert(count);
                    *widest = count.max(*widest);
                }
                Tag::Sequential
                | Tag::Parallel
                | Tag::Vector(_)
                | Tag::Unroll(_)
                | Tag::Rows
                | Tag::Separate
                | Tag::Combine
                | Tag::Stream(_)
                | Tag::GridSync => {}
            }
        }
    }
    let in_block = around.iter().any(|it| matches!(it.tag, Tag::GpuBlock(_)));
    match in_block && !team.is_empty() {
        true => Ok(team),
        false => Err(Ok(AtObstacle::NoKernel { reader: anchor })),
    }
}

/// Keeps the conditions on sizes under which the subscripts of a computation are inside, which tells them no more.
fn keep_checks(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, next: &mut Algorithm) -> Result<(), Error> {
    for check in bounds::entry_checks(ctx, algorithm)?.into_iter().filter(|it| it.access.computation == id) {
        next.requirements.push(check.kept(algorithm));
    }
    Ok(())
}

/// What is computed where.
struct Plan<'a> {
    ctx: &'a Ctx,
    id: ComputationId,
    array: ArrayId,
    /// The number of loops around that tell the local arrays apart.
    keys: usize,
    hull: Hull,
    /// `{ [k] -> R[y] }`
    needed: Map,
}

impl Plan<'_> {
    fn add_array(&self, algorithm: &mut Algorithm) -> ArrayId {
        let source = algorithm.array(self.array).clone();
        let id = ArrayId(algorithm.arrays.len() as u32);
        let taken = |name: &str| algorithm.arrays.iter().any(|it| it.name == name);
        let name = fresh(&format!("{}_local", source.name), taken);
        algorithm.arrays.push(Array {
            name,
            element: source.element,
            extents: self.hull.size.iter().map(|&size| Affine::constant(size)).collect(),
            rank: (self.keys + self.hull.size.len()) as u32,
            firsts: vec![],
            strided: 0..0,
            kind: ArrayKind::Local { outer: self.keys as u32 },
        });
        id
    }

    /// Where an instance of the new computation writes along an axis of the box, from 0.
    fn place(&self, algorithm: &Algorithm, axis: usize) -> Result<Affine, Error> {
        let producer = algorithm.computation(self.id);
        let count = producer.iterators.len();
        let keys: Vec<Affine> = (0..self.keys).map(|at| Affine::iterator((count + at) as u32)).collect();
        let subscript = producer.write.subscripts[axis].as_affine().expect("computed subscripts were refused");
        Ok(subscript.sub(&self.hull.low[axis].substitute(&keys)?)?)
    }

    /// The producer with the keys as further iterators; its domain is set once it is part of the algorithm.
    fn computation(
        &self,
        algorithm: &Algorithm,
        next: &Algorithm,
        around: &[Loop],
        new: ArrayId,
    ) -> Result<Computation, Error> {
        let mut it = algorithm.computation(self.id).clone();
        let count = it.iterators.len();
        for outer in around {
            let name = fresh(&outer.name, |name| it.iterators.iter().any(|known| known == name));
            it.iterators.push(name);
        }
        let mut subscripts: Vec<Affine> = (0..self.keys).map(|at| Affine::iterator((count + at) as u32)).collect();
        for axis in 0..self.hull.size.len() {
            subscripts.push(self.place(algorithm, axis)?.add_constant(1)?);
        }
        let subscripts = subscripts.into_iter().map(Into::into).collect();
        it.write = Access { array: new, subscripts, within: None, checked: false, conditional: false };
        // { R[y, k] -> R[y] }
        let longer = self.instances(next, &it)?.identity()?;
        let shorter = longer.project_out(DimType::Out, count as u32, self.keys as u32)?;
        let shorter = shorter.set_tuple_id(DimType::Out, &Id::new(self.ctx, &algorithm.computation(self.id).name)?)?;
        for read in &mut it.reads {
            read.checked = false;
            if let Some(within) = &read.within {
                read.within = Some(shorter.intersect_range(within)?.domain()?);
            }
        }
        it.domain = self.instances(next, &it)?;
        it.simd = None;
        Ok(it)
    }

    /// `{ R[y, k] }`, under the name of a computation.
    fn instances(&self, algorithm: &Algorithm, it: &Computation) -> Result<crate::isl::Set, Error> {
        let all = self.needed.reverse()?.wrap()?.flatten()?.intersect_params(&algorithm.context)?;
        let mut all = all.set_tuple_id(&Id::new(self.ctx, &it.name)?)?;
        for (at, name) in (0..).zip(&it.iterators) {
            all = all.set_dim_name(DimType::Set, at, name)?;
        }
        Ok(all)
    }

    fn set_domain(&self, algorithm: &mut Algorithm, id: ComputationId) -> Result<(), Error> {
        let it = algorithm.computation(id).clone();
        let name = Id::new(self.ctx, &it.name)?;
        let domain = self.instances(algorithm, &it)?;
        let it = &mut algorithm.computations[id.0 as usize];
        it.domain = domain;
        for read in &mut it.reads {
            read.within = read.within.as_ref().map(|within| within.set_tuple_id(&name)).transpose()?;
        }
        Ok(())
    }

    /// Puts the new computation into the loop, before what first reads it.
    fn stand(
        &self,
        next: &mut Scheduled,
        id: ComputationId,
        (anchor, at): (ComputationId, &str),
        users: &[ComputationId],
        team: &BTreeMap<ProcessorAxis, i64>,
    ) -> Result<(), Error> {
        let around = next.schedule.loops_around(anchor);
        let paths: Vec<Path> = around.into_iter().take(self.keys).map(|(path, _)| path).collect();
        let innermost = paths.last().expect("the command names a loop").clone();
        debug_assert!(matches!(next.schedule.node(&innermost), Some(Node::Loop(it)) if it.name == at));
        let producer = next.algorithm.computation(id).clone();
        let count = producer.iterators.len() - self.keys;
        let mut taken = names_around(&next.schedule, &innermost);
        let mut axes = vec![];
        for (axis, &size) in self.hull.size.iter().enumerate() {
            let own = producer.write.subscripts[self.keys + axis].as_affine().expect("the write is affine");
            let about = (0..count as u32).find(|&at| own.coefficient(at) != 0);
            let wanted = about.map_or_else(|| format!("x{}", axis + 1), |at| producer.iterators[at as usize].clone());
            // Threads take the places of an axis in turns, `i1`, and several times, `i0`.
            let name = fresh(&wanted, |name| {
                let parts = [name.to_string(), format!("{name}0"), format!("{name}1")];
                parts.iter().take(if team.is_empty() { 1 } else { 3 }).any(|part| taken.contains(part))
            });
            taken.push(name.clone());
            axes.push((name, own.add_constant(-1)?, size));
        }
        let loops = walk_box(axes, team, Short::Looped)?;
        let made = nest(id, loops);
        for (level, path) in paths.iter().enumerate() {
            loop_mut(&mut next.schedule, path).at.insert(id, Affine::iterator((count + level) as u32));
        }
        let body = &mut loop_mut(&mut next.schedule, &innermost).body;
        let there = match std::mem::replace(&mut **body, Node::Sequence(vec![])) {
            Node::Sequence(children) => children,
            other @ (Node::Loop(_) | Node::Computation(_)) => vec![other],
        };
        let first = there.iter().position(|child| child.computations().iter().any(|one| users.contains(one)));
        let mut all = there;
        all.insert(first.unwrap_or(0), made);
        **body = Node::Sequence(all);
        Ok(())
    }
}
