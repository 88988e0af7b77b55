//! Promotion of whole boxes, for statements in tiles of time whose iteration domains were split.
//!
//! What a hexagon needs, and what is still missing in it when a statement reads it, are sets of many pieces, which isl does
//! not get through in seconds. So a tile takes in all of a box of constant size around what it touches, and gives back all of
//! the box around what it writes, as far as they lie inside of the array. In the order that has been proved, one tile after the
//! other, that leaves every element as it was; tiles that run in no order may not reach into one another's boxes, which the legality of
//! the copies says.
//!
//! The box is found from the functions of the loops: `j` is `16*j0` and a rest, whose bounds isl finds.

use super::footprint::{Footprint, Hull, Keys, accesses, elements};
use crate::affine::{Affine, Atom};
use crate::algorithm::{AccessRef, Algorithm, ArrayId, ComputationId, Which};
use crate::dependence::{Dependence, Keeps, Lifts, Renewed, between, kind, located};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Set};
use crate::reduction::updates;
use crate::relation;

/// The boxes of an array that tiles touch and write; `None` where the statements are not all pieces of split ones, or where a
/// box is not found.
pub(super) fn boxes(
    ctx: &Ctx,
    algorithm: &Algorithm,
    known: &[Dependence],
    array: ArrayId,
    keys: &Keys,
) -> Result<Option<(Footprint, Hull)>, Error> {
    let free = |it: &Dependence| {
        let ends = [it.source.computation, it.sink.computation];
        it.keeps == Keeps::Apart && ends.iter().any(|id| keys.contains_key(id))
    };
    if !keys.keys().all(|&id| is_piece(algorithm, id)) || known.iter().any(free) {
        return Ok(None);
    }
    let all: Vec<AccessRef> = keys
        .keys()
        .flat_map(|&computation| {
            let all = accesses(algorithm, computation, array).into_iter();
            all.map(move |which| AccessRef { computation, which })
        })
        .collect();
    let writes: Vec<AccessRef> = all.iter().copied().filter(|at| at.which == Which::Write).collect();
    let Some(hull) = hull(ctx, algorithm, array, keys, &all)? else { return Ok(None) };

    let count = keys.values().next().map_or(0, Vec::len);
    let inside = relation::index_set(ctx, algorithm, array)?;
    let tiles = tiles(ctx, algorithm, keys)?;
    let in_box = |hull: &Hull| -> Result<_, Error> {
        let all = elements(ctx, algorithm, array, count, hull)?;
        Ok(all.intersect_domain(&tiles)?.intersect_range(&inside)?)
    };
    let needed = in_box(&hull)?;
    let written = match writes.is_empty() {
        true => needed.subtract(&needed)?,
        false => match self::hull(ctx, algorithm, array, keys, &writes)? {
            Some(hull) => in_box(&hull)?,
            None => return Ok(None),
        },
    };
    Ok(Some((Footprint { all: needed.clone(), needed, written }, hull)))
}

/// The values of the keys that tiles have, or more: `{ [k] }`.
fn tiles(ctx: &Ctx, algorithm: &Algorithm, keys: &Keys) -> Result<Set, Error> {
    let whole = algorithm.whole.as_ref().expect("a piece is one of something");
    let mut found: Option<Set> = None;
    for (id, key) in keys {
        let of = whole.piece_of[id.0 as usize];
        let key = relation::functions(ctx, &whole.algorithm, of, key)?;
        let tiles = relation::domain(&whole.algorithm, of)?.apply(&key)?.remove_divs()?;
        found = Some(match found {
            None => tiles,
            Some(others) => others.union(&tiles)?,
        });
    }
    let found = found.expect("a promoted array is accessed").coalesce()?;
    Ok(Set::from_basic_set(&found.simple_hull()?)?)
}

/// The box around what some accesses touch.
fn hull(
    ctx: &Ctx,
    algorithm: &Algorithm,
    array: ArrayId,
    keys: &Keys,
    accesses: &[AccessRef],
) -> Result<Option<Hull>, Error> {
    let axes = algorithm.array(array).rank as usize;
    let mut hull = Hull::of_neighbours(axes);
    for axis in 0..axes {
        // What the corner follows, and the least and the greatest distance from it.
        let mut found: Option<(Affine, i64, i64)> = None;
        let mut seen: Vec<(ComputationId, Affine, Affine)> = vec![];
        for at in accesses {
            let Some(subscript) = algorithm.access(*at).subscripts[axis].as_affine() else { return Ok(None) };
            let key = &keys[&at.computation];
            let corner = over_keys(subscript, key)?;
            let rest = subscript.sub(&corner.substitute(key)?)?;
            let this = (at.computation, corner.clone(), rest.clone());
            if seen.contains(&this) {
                continue;
            }
            seen.push(this);
            let Some((low, high)) = bounds(ctx, algorithm, at.computation, &rest)? else { return Ok(None) };
            found = Some(match found {
                None => (corner, low, high),
                Some((known, least, most)) if known == corner => (known, least.min(low), most.max(high)),
                Some(_) => return Ok(None),
            });
        }
        let Some((corner, low, high)) = found else { return Ok(None) };
        let Some(apart) = high.checked_sub(low).and_then(|apart| apart.checked_add(1)) else { return Ok(None) };
        hull.low.push(corner.add_constant(low)?);
        hull.size.push(apart);
    }
    Ok(Some(hull))
}

/// The sum of multiples of keys that a subscript follows, over keys as iterators. Each key counts an iterator of its own in
/// steps; what this leaves may be bounded or not.
fn over_keys(subscript: &Affine, key: &[Affine]) -> Result<Affine, Error> {
    let mut rest = subscript.clone();
    let mut found = Affine::constant(0);
    for (at, value) in key.iter().enumerate().rev() {
        let (divided, by) = match (value.constant_term(), value.terms()) {
            (0, [(Atom::FloorDiv(inner, by), 1)]) => ((**inner).clone(), *by),
            _ => (value.clone(), 1),
        };
        let own = divided.terms().iter().find_map(|(atom, factor)| match atom {
            Atom::Iterator(it) if !key[..at].iter().any(|outer| outer.involves_iterator(*it)) => Some((*it, *factor)),
            Atom::Iterator(_) | Atom::Param(_) | Atom::FloorDiv(..) => None,
        });
        let itself = Affine::iterator(at as u32);
        if let Some((iterator, factor)) = own
            && rest.coefficient(iterator) % factor == 0
        {
            let times = rest.coefficient(iterator) / factor;
            rest = rest.sub(&divided.scale(times)?)?;
            found = found.add(&itself.scale(times.saturating_mul(by))?)?;
        }
        // The key in what the functions of inner loops left.
        if let [(atom @ Atom::FloorDiv(..), 1)] = value.terms()
            && let Some((_, times)) = rest.terms().iter().find(|(other, _)| other == atom).cloned()
        {
            rest = rest.sub(&value.scale(times)?)?;
            found = found.add(&itself.scale(times)?)?;
        }
    }
    Ok(found)
}

/// The least and the greatest value of a function on the instances of a computation, whatever the parameters are; `None` where
/// there is none.
fn bounds(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, function: &Affine) -> Result<Option<(i64, i64)>, Error> {
    let domain = &algorithm.computation(id).domain;
    let domain = domain.drop_constraints_involving_dims(DimType::Param, 0, domain.dim(DimType::Param)?)?;
    let values = domain.apply(&relation::function(ctx, algorithm, id, function)?)?.project_out_all_params()?;
    if values.is_empty()? {
        return Ok(None);
    }
    Ok(values.dim_min_val(0)?.to_i64().zip(values.dim_max_val(0)?.to_i64()))
}

/// What a promotion of boxes moved.
pub(super) struct Moved<'a> {
    pub(super) from: ArrayId,
    pub(super) to: ArrayId,
    pub(super) keys: &'a Keys,
    pub(super) load: Option<ComputationId>,
    pub(super) store: Option<ComputationId>,
}

/// The dependences of a program in which the accesses of tiles to an array were moved to a buffer, and which of them are new.
///
/// Those between moved accesses are kept as they were: an order that keeps them keeps those that are left within a tile. In a tile
/// everything that was moved comes after the load and before the store. What copies and other statements do to the array is looked
/// at anew.
pub(super) fn renewed(
    ctx: &Ctx,
    (before, known): (&Algorithm, &[Dependence]),
    after: &Algorithm,
    moved: &Moved<'_>,
) -> Result<Renewed, Error> {
    let accesses = located(ctx, after)?;
    let updates = updates(after);
    let lifts = Lifts::new(ctx, before, after)?;
    let is_copy = |at: AccessRef| at.computation.0 as usize >= before.computations.len();
    let is_moved =
        |at: AccessRef| !is_copy(at) && after.access(at).array == moved.to && before.access(at).array == moved.from;
    let mut all = Renewed { dependences: vec![], is_new: vec![] };
    for source in &accesses {
        for sink in &accesses {
            let array = after.access(source.0).array;
            if array != after.access(sink.0).array {
                continue;
            }
            if !is_copy(source.0) && !is_copy(sink.0) {
                for it in known.iter().filter(|it| it.source == source.0 && it.sink == sink.0) {
                    let array = if is_moved(source.0) { moved.to } else { it.array };
                    all.dependences.push(Dependence { array, ..lifts.lift(it)? });
                    all.is_new.push(false);
                }
                continue;
            }
            let found = match array == moved.to {
                true => within_tile(ctx, after, moved, source.0, sink.0)?.into_iter().collect(),
                false => between(ctx, after, source, sink, &updates)?,
            };
            all.is_new.extend(found.iter().map(|_| true));
            all.dependences.extend(found);
        }
    }
    Ok(all)
}

/// From the load of a tile to all in it, and from all in it to its store.
fn within_tile(
    ctx: &Ctx,
    algorithm: &Algorithm,
    moved: &Moved<'_>,
    source: AccessRef,
    sink: AccessRef,
) -> Result<Option<Dependence>, Error> {
    let forwards = Some(source.computation) == moved.load || Some(sink.computation) == moved.store;
    let Some(kind) = kind(source.which, sink.which).filter(|_| forwards && source.computation != sink.computation)
    else {
        return Ok(None);
    };
    let keys = moved.keys.values().next().map_or(0, Vec::len) as u32;
    let of_copy: Vec<Affine> = (0..keys).map(Affine::iterator).collect();
    let key = |id: ComputationId| -> Result<_, Error> {
        let key = moved.keys.get(&id).unwrap_or(&of_copy);
        Ok(relation::functions(ctx, algorithm, id, key)?.intersect_domain(&relation::domain(algorithm, id)?)?)
    };
    let relation = key(source.computation)?.apply_range(&key(sink.computation)?.reverse()?)?;
    Ok(Some(Dependence { kind, array: moved.to, source, sink, relation, keeps: Keeps::Order }))
}

/// Whether a computation is one of several that another one was split into, and not of one that a command added.
fn is_piece(algorithm: &Algorithm, id: ComputationId) -> bool {
    let Some(whole) = &algorithm.whole else { return false };
    let is_known = |of: &&ComputationId| (of.0 as usize) < whole.algorithm.computations.len();
    let of = whole.piece_of.get(id.0 as usize).filter(is_known);
    of.is_some_and(|of| whole.piece_of.iter().filter(|it| *it == of).count() > 1)
}
