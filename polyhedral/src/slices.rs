//! Programs that run in slices: some iterations of an outer parallel loop at a time, with only that part of the arrays.
//!
//! One iterator of each computation is sliced. Two instances of which one depends on the other have the same value of theirs,
//! so instances of different slices do not depend on one another at all, and slices run one after the other compute what
//! the whole does. An instance whose iterator is `x` touches of each array that is sliced, too, the elements whose last subscript is
//! `x + c` for some constants `c`: a slice needs only those, which are contiguous in memory.
//!
//! Rewrite: `for x in a:b { S[x] } -> for slices first:last of a:b { for x in max(a, first):min(b, last) { S[x] } }`
//!
//! The loop over slices is the caller's: the sliced algorithm takes `first` and `last` as two more arguments.

use crate::affine::{Affine, ParamId};
use crate::algorithm::{
    Access, Algorithm, Argument, ArrayId, ArrayKind, ComputationId, Param, ParamOrigin, Scalar, ScalarId, Which,
};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::fresh::fresh;
use crate::isl::{Aff, Ctx, DimType, Set, Val};
use crate::relation;
use crate::verify::Verified;
use tessella_scalar::ScalarType;

/// A program that can run in slices.
#[derive(Debug, Clone)]
pub struct Slices {
    /// The algorithm with two more arguments, its last ones: the first and the last iteration of the slice. What is looked at
    /// before the whole runs is not looked at again.
    pub algorithm: Algorithm,
    /// The arrays of which a slice needs a part only; of the others it needs all.
    pub parts: Vec<Part>,
}

/// What a slice needs of an array whose subscripts count from 1: the elements whose last subscript is from `first` iteration
/// plus `before` to `last` iteration plus `after`, as far as there are any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub array: ArrayId,
    pub before: i64,
    pub after: i64,
    /// The least and the greatest distance of the source's own accesses, which lie inside of the array.
    pub accessed: (i64, i64),
    /// Where it writes, if it does: the last subscript is the iteration plus this.
    pub written: Option<i64>,
}

/// Why a program does not run in slices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// Bounds of loops that data decide.
    Computed,
    /// The last subscript of what this computation writes is no iterator plus a constant.
    Write(ComputationId),
    /// Nothing says which of its iterators to slice: what it writes stays inside of the function, or is a number.
    Apart(ComputationId),
    /// These iterations depend on one another; the position of the dependence.
    Carried(usize),
    /// Instances write the array at different distances from their iteration, or read it by other subscripts, too.
    Columns(ArrayId),
    /// Every array is needed whole.
    Whole,
    /// The order that was chosen or asked for accesses other parts of arrays than the source's.
    Order,
}

/// What a finished program of a slice needs of arrays: copies to faster memory may take more than the source's accesses do, whole tiles.
/// `None` if that has no bound, if it writes more, or if the arrays do not lie in memory as the caller has them.
pub fn needed_parts(ctx: &Ctx, slice: &Verified, parts: &[Part]) -> Result<Option<Vec<Part>>, Error> {
    let (algorithm, layout) = (slice.algorithm(), slice.layout());
    if !layout.streams.is_empty() {
        return Ok(None);
    }
    let first = ParamId(slice.source().params.len() as u32 - 2);
    let last = ParamId(first.0 + 1);
    let params = algorithm.param_names();
    let mut needed = parts.to_vec();
    for part in &mut needed {
        let (array, placement) = (algorithm.array(part.array), layout.placement(part.array));
        let identity: Vec<Affine> = (0..array.rank).map(Affine::iterator).collect();
        if layout.buffer(placement.buffer).extents != array.extents || !is_identity(&placement.map, &identity) {
            return Ok(None);
        }
        for at in algorithm.accesses().filter(|&at| algorithm.access(at).array == part.array) {
            let touched = relation::access(ctx, algorithm, at.computation, algorithm.access(at))?;
            let touched = touched.intersect_domain(&relation::domain(algorithm, at.computation)?)?.range()?;
            if touched.is_empty()? {
                continue;
            }
            let space = touched.space()?;
            // How far the last subscript is from an end of the slice.
            let distance = |param: ParamId| -> Result<Aff, Error> {
                let end = Affine::param(param).to_isl(&space, &params)?;
                Ok(Aff::set_dim_on(&space, array.rank - 1)?.sub(&end)?)
            };
            let before = touched.min_val(&distance(first)?)?.to_i64();
            let after = touched.max_val(&distance(last)?)?.to_i64();
            let (Some(before), Some(after)) = (before, after) else { return Ok(None) };
            if at.which == Which::Write && part.written.is_none_or(|it| before < it || after > it) {
                return Ok(None);
            }
            (part.before, part.after) = (part.before.min(before), part.after.max(after));
        }
    }
    Ok(Some(needed))
}

/// Whether an array's subscripts are those of its buffer, but for a constant each.
pub(crate) fn is_identity(map: &[Affine], identity: &[Affine]) -> bool {
    let apart = |(mine, own): (&Affine, &Affine)| mine.sub(own).ok().and_then(|it| it.as_constant()).is_some();
    map.len() == identity.len() && map.iter().zip(identity).all(apart)
}

/// Finds the iterators to slice of an algorithm as the source has it; `dependences` are its own.
///
/// # Errors
/// Failures of isl's. What stands against slices is an [`Obstacle`], no error.
pub fn slices(ctx: &Ctx, algorithm: &Algorithm, dependences: &[Dependence]) -> Result<Result<Slices, Obstacle>, Error> {
    let sliced = match iterators(algorithm, dependences)? {
        Ok(sliced) => sliced,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    for (at, it) in dependences.iter().enumerate() {
        if !keeps_iteration(it, sliced[source(it)], sliced[sink(it)])? {
            return Ok(Err(Obstacle::Carried(at)));
        }
    }
    let parts = match parts(algorithm, &sliced) {
        Ok(parts) if parts.is_empty() => return Ok(Err(Obstacle::Whole)),
        Ok(parts) => parts,
        Err(obstacle) => return Ok(Err(obstacle)),
    };
    match unbounded(algorithm, &sliced, &parts)? {
        Some(id) => Ok(Err(Obstacle::Apart(id))),
        None => Ok(Ok(Slices { algorithm: restricted(ctx, algorithm, &sliced)?, parts })),
    }
}

fn source(dependence: &Dependence) -> usize {
    dependence.source.computation.0 as usize
}

fn sink(dependence: &Dependence) -> usize {
    dependence.sink.computation.0 as usize
}

/// The iterator of each computation that is sliced, by position: the last subscript of what it writes for the caller, and for
/// other computations the one that dependences tie to such an iterator.
fn iterators(algorithm: &Algorithm, dependences: &[Dependence]) -> Result<Result<Vec<u32>, Obstacle>, Error> {
    if algorithm.computations.iter().any(|it| !it.ranged.is_empty()) {
        return Ok(Err(Obstacle::Computed));
    }
    let mut known: Vec<Option<u32>> = vec![];
    for id in algorithm.ids() {
        let write = &algorithm.computation(id).write;
        known.push(match (is_the_callers(algorithm, write.array), column(write)) {
            (true, Some((iterator, _))) => Some(iterator),
            (true, None) => return Ok(Err(Obstacle::Write(id))),
            (false, _) => None,
        });
    }
    // What is known of one end of a dependence says which iterator is its like at the other.
    while let Some(unknown) = known.iter().position(Option::is_none) {
        let mut found = None;
        'search: for (id, _) in known.iter().enumerate().filter(|(_, it)| it.is_none()) {
            for it in dependences.iter().filter(|it| (source(it) == id) != (sink(it) == id)) {
                let other = if source(it) == id { sink(it) } else { source(it) };
                let Some(like) = known[other] else { continue };
                for mine in 0..algorithm.computations[id].iterators.len() as u32 {
                    let (from, to) = if source(it) == id { (mine, like) } else { (like, mine) };
                    if keeps_iteration(it, from, to)? {
                        found = Some((id, mine));
                        break 'search;
                    }
                }
            }
        }
        match found {
            Some((id, iterator)) => known[id] = Some(iterator),
            None => return Ok(Err(Obstacle::Apart(ComputationId(unknown as u32)))),
        }
    }
    Ok(Ok(known.into_iter().flatten().collect()))
}

/// Whether the sliced iterators of both ends of a dependence have one value.
fn keeps_iteration(dependence: &Dependence, from: u32, to: u32) -> Result<bool, Error> {
    let relation = &dependence.relation;
    let alike = relation.equate(DimType::In, from as i32, DimType::Out, to as i32)?;
    Ok(relation.is_subset(&alike)?)
}

/// Arguments, and arrays that are given back.
fn is_the_callers(algorithm: &Algorithm, array: ArrayId) -> bool {
    match algorithm.array(array).kind {
        ArrayKind::Argument | ArrayKind::Returned => true,
        ArrayKind::Private | ArrayKind::Local { .. } | ArrayKind::Result => false,
    }
}

/// The last subscript of an access where it is an iterator plus a constant.
fn column(access: &Access) -> Option<(u32, i64)> {
    let last = access.subscripts.last()?.as_affine()?;
    let constant = last.constant_term();
    let iterator = last.add_constant(constant.checked_neg()?).ok()?.as_iterator()?;
    Some((iterator, constant))
}

/// The distances from the iteration at which an array is accessed; `None` if some access is none of that kind.
fn distances(algorithm: &Algorithm, sliced: &[u32], array: ArrayId) -> Option<(Vec<i64>, Vec<i64>)> {
    let (mut all, mut written) = (vec![], vec![]);
    for (computation, &iterator) in algorithm.computations.iter().zip(sliced) {
        let reads = computation.reads.iter().map(|read| (read, false));
        for (access, writes) in reads.chain([(&computation.write, true)]).filter(|(it, _)| it.array == array) {
            let (_, distance) = column(access).filter(|&(it, _)| it == iterator)?;
            all.push(distance);
            if writes {
                written.push(distance);
            }
        }
    }
    Some((all, written))
}

fn parts(algorithm: &Algorithm, sliced: &[u32]) -> Result<Vec<Part>, Obstacle> {
    let mut parts = vec![];
    for at in 0..algorithm.arrays.len() as u32 {
        let (id, array) = (ArrayId(at), algorithm.array(ArrayId(at)));
        if !is_the_callers(algorithm, id) {
            continue;
        }
        let is_plain = array.rank > 0 && array.firsts.is_empty() && array.strided.is_empty();
        let part = distances(algorithm, sliced, id).filter(|_| is_plain).and_then(|(all, mut written)| {
            written.dedup();
            let (&before, &after) = (all.iter().min()?, all.iter().max()?);
            (written.len() <= 1).then(|| Part {
                array: id,
                before,
                after,
                accessed: (before, after),
                written: written.first().copied(),
            })
        });
        match part {
            Some(part) => parts.push(part),
            None if algorithm.is_written(id) => return Err(Obstacle::Columns(id)),
            None => {}
        }
    }
    Ok(parts)
}

/// A computation with iterations outside of those that the extents of the sliced arrays allow, if there may be one.
fn unbounded(algorithm: &Algorithm, sliced: &[u32], parts: &[Part]) -> Result<Option<ComputationId>, Error> {
    let projected = |id: ComputationId| -> Result<Set, Error> {
        let (domain, iterator) = (relation::domain(algorithm, id)?, sliced[id.0 as usize]);
        let behind = algorithm.computation(id).iterators.len() as u32 - iterator - 1;
        let domain = domain.project_out(DimType::Set, iterator + 1, behind)?;
        Ok(domain.project_out(DimType::Set, 0, iterator)?.reset_tuple_id()?)
    };
    // An access that happens in every instance is inside its array: so are the iterations. Of accesses that are not checked
    // nothing tells whether data decide about them, but for what a statement without a condition writes.
    let is_bounded = |id: &ComputationId| {
        let computation = algorithm.computation(*id);
        let writes = computation.predicate.is_none().then_some(&computation.write);
        let reads = computation.reads.iter().filter(|it| it.checked && !it.conditional);
        let mut certain = reads.chain(writes).filter(|it| it.within.is_none());
        certain.any(|it| parts.iter().any(|part| part.array == it.array))
    };
    let bounded: Vec<Set> = algorithm.ids().filter(is_bounded).map(projected).collect::<Result<_, _>>()?;
    for id in algorithm.ids().filter(|id| !is_bounded(id)) {
        let mine = projected(id)?;
        let mut inside = false;
        for other in &bounded {
            inside |= mine.is_subset(other)?;
        }
        // Such as a sum that begins for each column, of columns that may have no rows.
        for part in parts {
            inside |= mine.is_subset(&with_elements(algorithm, &mine, part)?)?;
        }
        if !inside {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The iterations for which a sliced array may have an element.
fn with_elements(algorithm: &Algorithm, like: &Set, part: &Part) -> Result<Set, Error> {
    let (space, params) = (like.space()?, algorithm.param_names());
    let extent = algorithm.array(part.array).extents.last().expect("sliced arrays have an axis");
    let (before, after) = part.accessed;
    let iteration = Aff::set_dim_on(&space, 0)?;
    let first = Affine::constant(1 - after).to_isl(&space, &params)?;
    let last = extent.add_constant(-before)?.to_isl(&space, &params)?;
    Ok(iteration.ge_set(&first)?.intersect(&iteration.le_set(&last)?)?)
}

/// The algorithm with domains limited to the slice.
fn restricted(ctx: &Ctx, algorithm: &Algorithm, sliced: &[u32]) -> Result<Algorithm, Error> {
    // Computed subscripts are looked at once, for the whole.
    let mut result = Algorithm { scan: None, ..algorithm.clone() };
    let mut bounds = vec![];
    for wanted in ["first_of_slice", "last_of_slice"] {
        let name = fresh(wanted, |name| {
            result.params.iter().any(|it| it.name == name)
                || result.arrays.iter().any(|it| it.name == name)
                || result.scalars.iter().any(|it| it.name == name)
                || result.computations.iter().any(|it| it.name == name || it.iterators.iter().any(|it| it == name))
        });
        let (scalar, param) = (ScalarId(result.scalars.len() as u32), ParamId(result.params.len() as u32));
        result.scalars.push(Scalar { name: name.clone(), ty: ScalarType::I64 });
        result.arguments.push(Argument::Scalar(scalar));
        result.params.push(Param { name, origin: ParamOrigin::Argument(scalar) });
        bounds.push(param);
    }
    let space = relation::param_space(ctx, &result)?;
    let aligned = |set: &Set| set.align_params(&space);
    result.context = aligned(&result.context)?;
    for param in &bounds {
        let limit = 1_i64 << 40;
        result.context = result
            .context
            .lower_bound(DimType::Param, param.0, &Val::from_i64(ctx, -limit)?)?
            .upper_bound(DimType::Param, param.0, &Val::from_i64(ctx, limit)?)?;
    }
    for requirement in &mut result.requirements {
        requirement.holds = aligned(&requirement.holds)?;
    }
    let params = result.param_names();
    for (at, &position) in sliced.iter().enumerate() {
        let space = relation::domain_space(ctx, &result, ComputationId(at as u32))?;
        let iteration = Aff::set_dim_on(&space, position)?;
        let limit = |param: ParamId| Affine::param(param).to_isl(&space, &params);
        let inside = iteration.ge_set(&limit(bounds[0])?)?.intersect(&iteration.le_set(&limit(bounds[1])?)?)?;
        let computation = &mut result.computations[at];
        computation.domain = aligned(&computation.domain)?.intersect(&inside)?;
        for access in computation.reads.iter_mut().chain([&mut computation.write]) {
            if let Some(within) = &access.within {
                access.within = Some(aligned(within)?);
            }
        }
    }
    Ok(result)
}
