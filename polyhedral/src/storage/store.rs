//! `store_in`: an array in a buffer by an affine map, remainders included, proved to lose no value.
//!
//! Rewrite: `tmp[t, i] -> b[t % 2, i]`
//!
//! A value is safe where no other write into its element can come between the write and any read of it. For each
//! value-based flow dependence `W[x] -> R[y]` and each write `Z[z]` into the buffer, the map is refused if some `z`
//! reaches the element of `x` for another array element, without being certain to run before `x` or after `y`. Loops
//! without an order make nothing certain, so two of their iterations never share an element.

use super::error::{Overwrite, StorageError};
use super::order::certainly_before;
use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::dependence::{self, Dependence, DependenceKind};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Map, Set};
use crate::layers::{BufferId, Placed, Placement};
use crate::magnitude;
use crate::place::{Side, bound, is_bound};
use crate::relation;

/// Whether the user may choose the array's storage, by a map of so many subscripts.
pub(super) fn check_own(algorithm: &Algorithm, id: ArrayId, given: usize) -> Result<(), StorageError> {
    let array = algorithm.array(id);
    let computed =
        |at: &crate::algorithm::AccessRef| algorithm.access(*at).array == id && !algorithm.access(*at).is_affine();
    if algorithm.accesses().any(|at| computed(&at)) {
        return Err(StorageError::Untold { array: array.name.clone() });
    }
    match array.kind {
        ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => {
            Err(StorageError::CallersMemory { array: array.name.clone() })
        }
        ArrayKind::Private | ArrayKind::Local { .. } if array.rank as usize != given => {
            Err(StorageError::AxisCount { array: array.name.clone(), axes: array.rank as usize, given })
        }
        ArrayKind::Private | ArrayKind::Local { .. } => Ok(()),
    }
}

/// Whether a buffer of this name can hold the array besides others.
pub(super) fn check_buffer<'a>(
    algorithm: &Algorithm,
    buffer: &str,
    id: ArrayId,
    map: &[Affine],
    others: impl Iterator<Item = &'a (ArrayId, Vec<Affine>)>,
) -> Result<(), StorageError> {
    let array = algorithm.array(id);
    let taken =
        |reason| Err(StorageError::BufferTaken { buffer: buffer.to_string(), array: array.name.clone(), reason });
    if algorithm.arrays.iter().any(|it| it.name == buffer && it.name != array.name) {
        return taken("an array has this name");
    }
    for (other, other_map) in others.filter(|(other, _)| *other != id) {
        if algorithm.array(*other).element != array.element {
            return taken("the elements are of another type");
        }
        if other_map.len() != map.len() {
            return taken("it has another number of axes");
        }
    }
    Ok(())
}

/// Places arrays in one buffer, which gets the smallest box that holds all their elements.
pub(super) fn place(
    ctx: &Ctx,
    placed: &mut Placed,
    name: &str,
    arrays: &[(ArrayId, Vec<Affine>)],
) -> Result<(), Error> {
    let algorithm = &placed.scheduled.algorithm;
    let mut reached: Option<Set> = None;
    for (array, map) in arrays {
        map.iter().try_for_each(magnitude::check_sizes)?;
        for at in algorithm.accesses().filter(|&at| algorithm.access(at).array == *array) {
            let elements = in_buffer(ctx, algorithm, at.computation, algorithm.access(at), map)?.range()?;
            reached = Some(match reached {
                None => elements,
                Some(others) => others.union(&elements)?,
            });
        }
    }
    let (first, axes) = (arrays[0].0, arrays[0].1.len() as u32);
    let Some(reached) = reached else {
        let array = algorithm.array(first).name.clone();
        let reason = "another command keeps all of its values elsewhere";
        return Err(StorageError::BufferTaken { buffer: name.to_string(), array, reason }.into());
    };
    let (mut extents, mut lows) = (vec![], vec![]);
    for axis in 0..axes {
        let no_box = || Error::from(StorageError::NoBox { array: algorithm.array(first).name.clone(), axis });
        let low = limit(ctx, algorithm, &reached, arrays, axis, Side::Low)?.ok_or_else(no_box)?;
        let high = limit(ctx, algorithm, &reached, arrays, axis, Side::High)?.ok_or_else(no_box)?;
        extents.push(high.sub(&low)?.add_constant(1)?);
        lows.push(low);
    }
    extents.iter().try_for_each(magnitude::check_sizes)?;
    let buffer = super::call_buffer(name, algorithm.array(first), extents, placed.scheduled.target);
    // The buffer takes the place of the first array's own.
    let id = placed.layout.placement(first).buffer;
    placed.layout.buffers[id.0 as usize] = buffer;
    for (array, map) in arrays {
        let map: Vec<Affine> = map.iter().zip(&lows).map(|(place, low)| place.sub(low)).collect::<Result<_, _>>()?;
        map.iter().try_for_each(magnitude::check_sizes)?;
        let own = placed.layout.placement(*array).buffer;
        if own != id {
            placed.layout.buffers[own.0 as usize].extents = vec![Affine::constant(0)];
        }
        placed.layout.placements.insert(*array, Placement { buffer: id, map });
    }
    Ok(())
}

/// An expression of parameters that bounds all places along an axis. Where isl's has divisions, that of one of the maps is taken if it
/// bounds those of the others, too.
fn limit(
    ctx: &Ctx,
    algorithm: &Algorithm,
    reached: &Set,
    arrays: &[(ArrayId, Vec<Affine>)],
    axis: u32,
    side: Side,
) -> Result<Option<Affine>, Error> {
    if let Some(found) = bound(ctx, algorithm, reached, axis, side)? {
        return Ok(Some(found));
    }
    for (array, map) in arrays {
        let mut touched: Option<Set> = None;
        for at in algorithm.accesses().filter(|&at| algorithm.access(at).array == *array) {
            let elements = relation::access(ctx, algorithm, at.computation, algorithm.access(at))?.range()?;
            touched = Some(match touched {
                None => elements,
                Some(others) => others.union(&elements)?,
            });
        }
        let Some(touched) = touched else { continue };
        let of_subscript = |subscript: u32, side: Side| bound(ctx, algorithm, &touched, subscript, side);
        let Some(found) = reach(&map[axis as usize], &of_subscript, side)? else { continue };
        if is_bound(ctx, algorithm, reached, axis, side, &found)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// How far an expression of subscripts reaches, by the bounds of these: a quotient grows with what is divided.
fn reach(
    place: &Affine,
    of_subscript: &dyn Fn(u32, Side) -> Result<Option<Affine>, Error>,
    side: Side,
) -> Result<Option<Affine>, Error> {
    let mut sum = Affine::constant(place.constant_term());
    for (atom, factor) in place.terms() {
        let side = match (side, *factor < 0) {
            (Side::Low, false) | (Side::High, true) => Side::Low,
            (Side::High, false) | (Side::Low, true) => Side::High,
        };
        let value = match atom {
            Atom::Iterator(subscript) => of_subscript(*subscript, side)?,
            Atom::Param(param) => Some(Affine::param(*param)),
            Atom::FloorDiv(inner, divisor) => reach(inner, of_subscript, side)?.map(|inner| inner.floor_div(*divisor)),
        };
        let Some(value) = value else { return Ok(None) };
        sum = sum.add(&value.scale(*factor)?)?;
    }
    Ok(Some(sum))
}

/// `{ S[x] -> [place in the buffer] }` of an access.
fn in_buffer(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ComputationId,
    access: &crate::algorithm::Access,
    map: &[Affine],
) -> Result<Map, Error> {
    let subscripts: Vec<Affine> = access.subscripts.iter().filter_map(|it| it.as_affine().cloned()).collect();
    let places = map.iter().map(|place| place.substitute(&subscripts)).collect::<Result<Vec<_>, _>>()?;
    let elements = relation::functions(ctx, algorithm, id, &places)?;
    Ok(elements.intersect_domain(&relation::access(ctx, algorithm, id, access)?.domain()?)?)
}

/// Proves that no value is overwritten before its last use.
///
/// # Errors
/// [`StorageError::Overwritten`] with a witness.
pub(super) fn check(
    ctx: &Ctx,
    placed: &Placed,
    dependences: &[Dependence],
    arrays: &[(ArrayId, Vec<Affine>)],
) -> Result<(), Error> {
    let algorithm = &placed.scheduled.algorithm;
    let schedule = &placed.scheduled.schedule;
    let buffer: BufferId = placed.layout.placement(arrays[0].0).buffer;
    let here = |array: ArrayId| placed.layout.placement(array).buffer == buffer;
    let flows = |it: &Dependence| it.kind == DependenceKind::Flow && here(it.array);
    for flow in dependence::direct_of(ctx, algorithm, dependences, &flows)? {
        let writer = flow.source.computation;
        let stored = element(ctx, placed, writer)?;
        for clobber in algorithm.ids().filter(|&id| here(algorithm.computation(id).write.array)) {
            // { W[x] -> Z[z] }: another array element in the same place
            let mut same = stored.apply_range(&element(ctx, placed, clobber)?.reverse()?)?;
            let write = &algorithm.computation(clobber).write;
            if write.array == flow.array {
                let from = relation::access(ctx, algorithm, writer, algorithm.access(flow.source))?;
                let to = relation::access(ctx, algorithm, clobber, write)?;
                same = same.subtract(&from.apply_range(&to.reverse()?)?)?;
            }
            if same.is_empty()? {
                continue;
            }
            let earlier = certainly_before(ctx, algorithm, schedule, (clobber, writer), &same.reverse()?)?;
            let open = same.subtract(&earlier.reverse()?)?;
            // { W[x] -> [R[y] -> Z[z]] }
            let triples = flow.relation.range_product(&open)?;
            let pairs = triples.range()?.unwrap()?;
            let reader = flow.sink.computation;
            let mut wrong = pairs.subtract(&certainly_before(ctx, algorithm, schedule, (reader, clobber), &pairs)?)?;
            if reader == clobber {
                // An instance reads before it writes.
                wrong = wrong.subtract(&relation::domain(algorithm, reader)?.identity()?)?;
            }
            if wrong.is_empty()? {
                continue;
            }
            let triples = triples.intersect_range(&wrong.wrap()?)?;
            let lengths = [writer, reader, clobber].map(|id| algorithm.computation(id).iterators.len());
            let (params, [written, read, clobbered]) = sample(&triples, lengths)?;
            return Err(StorageError::Overwritten(Box::new(Overwrite {
                array: flow.array,
                reader: flow.sink,
                writer,
                clobber,
                written,
                read,
                clobbered,
                params,
            }))
            .into());
        }
    }
    check_together(ctx, placed, arrays)
}

/// Proves that no two writes reach one place at one time: values that nobody reads must not race, either.
fn check_together(ctx: &Ctx, placed: &Placed, arrays: &[(ArrayId, Vec<Affine>)]) -> Result<(), Error> {
    let algorithm = &placed.scheduled.algorithm;
    let schedule = &placed.scheduled.schedule;
    let buffer: BufferId = placed.layout.placement(arrays[0].0).buffer;
    let written = |id: ComputationId| algorithm.computation(id).write.array;
    let writers: Vec<ComputationId> =
        algorithm.ids().filter(|&id| placed.layout.placement(written(id)).buffer == buffer).collect();
    for (position, &second) in writers.iter().enumerate() {
        for &first in &writers[..=position] {
            let mut same = element(ctx, placed, first)?.apply_range(&element(ctx, placed, second)?.reverse()?)?;
            if first == second {
                same = same.subtract(&relation::domain(algorithm, first)?.identity()?)?;
            }
            let earlier = certainly_before(ctx, algorithm, schedule, (first, second), &same)?;
            let later = certainly_before(ctx, algorithm, schedule, (second, first), &same.reverse()?)?;
            if same.subtract(&earlier)?.subtract(&later.reverse()?)?.is_empty()? {
                continue;
            }
            return Err(StorageError::BufferTaken {
                buffer: placed.layout.buffers[buffer.0 as usize].name.clone(),
                array: algorithm.array(written(second)).name.clone(),
                reason: "iterations that run in no order would store into one element",
            }
            .into());
        }
    }
    Ok(())
}

/// `{ S[x] -> [place in its buffer] }` of what a computation writes.
fn element(ctx: &Ctx, placed: &Placed, id: ComputationId) -> Result<Map, Error> {
    let algorithm = &placed.scheduled.algorithm;
    let write = &algorithm.computation(id).write;
    in_buffer(ctx, algorithm, id, write, &placed.layout.placement(write.array).map)
}

/// The smallest of some triples, with parameters.
#[allow(clippy::type_complexity)]
fn sample(triples: &Map, lengths: [usize; 3]) -> Result<(Vec<(String, i64)>, [Vec<i64>; 3]), Error> {
    let triples = triples.drop_unused_params()?;
    let count = triples.dim(DimType::Param)?;
    let mut names = vec![];
    for at in 0..count {
        names.push(triples.dim_name(DimType::Param, at)?.unwrap_or_default());
    }
    let all = triples.wrap()?.flatten()?.reset_tuple_id()?;
    let all = all.move_dims(DimType::Set, 0, DimType::Param, 0, count)?;
    let point = match all.lexmin().and_then(|least| least.sample_point()) {
        Ok(point) => point,
        Err(_) => all.sample_point()?,
    };
    let values = point.coordinates()?;
    let (params, mut rest) = values.split_at(count as usize);
    let parts = lengths.map(|length| {
        let (part, others) = rest.split_at(length);
        rest = others;
        part.to_vec()
    });
    Ok((names.into_iter().zip(params.iter().copied()).collect(), parts))
}
