//! What the iterations of a loop touch of an array, and the box around it.

use super::error::StorageError;
use super::order::certainly_before;
use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::{Access, Algorithm, ArrayId, ComputationId, Subscript, Which};
use crate::error::Error;
use crate::isl::{Aff, Ctx, DimType, Id, Map, PwAff, Set};
use crate::relation;
use crate::schedule::Schedule;
use std::collections::BTreeMap;

/// A larger size says no more than that arguments are within their range.
const LARGEST: i64 = i32::MAX as i64;

/// What isl may do for the number of elements in an error.
const WORDING: u64 = 20_000;

/// What isl may do to find groups in a footprint.
const GROUPS: u64 = 50_000;

/// The statements that share a promoted buffer: for each, the values that tell the buffers apart.
pub(crate) type Keys = BTreeMap<ComputationId, Vec<Affine>>;

/// Relations from keys to elements of the array, `{ [k] -> A[x] }`.
pub(crate) struct Footprint {
    pub(crate) all: Map,
    /// What must be there before: read without a certain write before it, or perhaps not written.
    pub(crate) needed: Map,
    pub(crate) written: Map,
}

/// A box of constant size: `x = low(k) + step * p + apart * q` with `0 <= p < size` and `0 <= q < count` on each axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hull {
    /// Over the keys, as iterators, and parameters.
    pub(crate) low: Vec<Affine>,
    /// Places along each axis, of one group.
    pub(crate) size: Vec<i64>,
    /// How far apart the elements of neighbouring places are.
    pub(crate) step: Vec<i64>,
    pub(crate) groups: Vec<Groups>,
}

/// Places along an axis that stand in groups: so many, whose first elements are so far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) count: i64,
    pub(crate) apart: i64,
}

/// An axis of a buffer: along an axis of the array, so many places for elements so far apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) axis: usize,
    pub(crate) size: i64,
    pub(crate) step: i64,
}

impl Groups {
    pub(crate) const ONE: Groups = Groups { count: 1, apart: 1 };
}

impl Hull {
    /// Of no axis yet, for so many.
    pub(crate) fn of_neighbours(axes: usize) -> Hull {
        Hull { low: vec![], size: vec![], step: vec![1; axes], groups: vec![Groups::ONE; axes] }
    }

    /// The axes of the buffer: where an axis of the array has groups, first along one of them, then from one to the next.
    pub(crate) fn levels(&self) -> Vec<Level> {
        let mut levels = vec![];
        for (axis, &Groups { count, apart }) in self.groups.iter().enumerate() {
            levels.push(Level { axis, size: self.size[axis], step: self.step[axis] });
            if count > 1 {
                levels.push(Level { axis, size: count, step: apart });
            }
        }
        levels
    }

    /// The buffer's extents.
    pub(crate) fn extents(&self) -> Vec<i64> {
        self.levels().iter().map(|level| level.size).collect()
    }
}

/// What the statements touch of the array: by all accesses, or by those reads alone that have some subscripts.
pub(crate) fn footprint(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (array, part): (ArrayId, Option<&[Subscript]>),
    keys: &Keys,
) -> Result<Footprint, Error> {
    let (mut all, mut needed, mut written, mut certain): (Option<Map>, Option<Map>, Option<Map>, Option<Map>) =
        (None, None, None, None);
    let add = |to: &mut Option<Map>, map: &Map| -> Result<(), Error> {
        *to = Some(match to.take() {
            None => map.clone(),
            Some(others) => others.union(map)?,
        });
        Ok(())
    };
    for (&id, key) in keys {
        let of_key = relation::functions(ctx, algorithm, id, key)?;
        let computation = algorithm.computation(id);
        if computation.write.array == array {
            let elements = relation::access(ctx, algorithm, id, &computation.write)?;
            let touched = of_key.reverse()?.apply_range(&elements)?;
            add(&mut all, &touched)?;
            add(&mut written, &touched)?;
            if computation.predicate.is_none() {
                add(&mut certain, &touched)?;
            }
        }
        let taken = |read: &&Access| read.array == array && part.is_none_or(|part| read.subscripts == part);
        for read in computation.reads.iter().filter(taken) {
            let elements = relation::access(ctx, algorithm, id, read)?;
            add(&mut all, &of_key.reverse()?.apply_range(&elements)?)?;
            let exposed = elements.subtract_domain(&covered(ctx, algorithm, schedule, (id, read), keys)?.domain()?)?;
            add(&mut needed, &of_key.reverse()?.apply_range(&exposed)?)?;
        }
    }
    let all = all.expect("a promoted array is accessed").coalesce()?;
    let none = all.subtract(&all)?;
    let written = written.unwrap_or_else(|| none.clone());
    let unsure = written.subtract(&certain.unwrap_or_else(|| none.clone()))?;
    let needed = needed.unwrap_or(none).union(&unsure)?.coalesce()?;
    Ok(Footprint { all, needed, written: written.coalesce()? })
}

/// The instances of a read that a certain write with the same key comes before, as `{ S[x] -> W[y] }`.
fn covered(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    (id, read): (ComputationId, &Access),
    keys: &Keys,
) -> Result<Map, Error> {
    let elements = relation::access(ctx, algorithm, id, read)?;
    let key = relation::functions(ctx, algorithm, id, &keys[&id])?;
    let mut found: Option<Set> = None;
    for (&writer, writer_key) in keys {
        let source = algorithm.computation(writer);
        if source.write.array != read.array || source.predicate.is_some() {
            continue;
        }
        let stored = relation::access(ctx, algorithm, writer, &source.write)?;
        let same = stored.apply_range(&elements.reverse()?)?;
        let writer_key = relation::functions(ctx, algorithm, writer, writer_key)?;
        let same = same.intersect(&writer_key.apply_range(&key.reverse()?)?)?;
        let readers = certainly_before(ctx, algorithm, schedule, (writer, id), &same)?.range()?;
        found = Some(match found {
            None => readers,
            Some(others) => others.union(&readers)?,
        });
    }
    match found {
        Some(readers) => Ok(elements.intersect_domain(&readers)?),
        None => Ok(elements.subtract(&elements)?),
    }
}

/// The smallest box of constant size around the footprint.
///
/// # Errors
/// [`StorageError::NoConstantSize`] with the number of elements along the first axis that has none.
pub(crate) fn hull(algorithm: &Algorithm, array: ArrayId, at: &str, all: &Map) -> Result<Hull, Error> {
    let found = all.range_simple_fixed_box_hull()?;
    let axes = algorithm.array(array).rank;
    let mut hull = Hull::of_neighbours(axes as usize);
    if found.is_valid()? {
        let (offset, size) = (found.offset()?, found.size()?);
        for axis in 0..axes as i32 {
            let size = size.at(axis)?.to_i64().filter(|size| *size <= LARGEST);
            let (Some(low), Some(size)) = (over_keys(algorithm, &offset.at(axis)?)?, size) else { break };
            hull.low.push(low);
            hull.size.push(size);
        }
        if hull.low.len() == axes as usize {
            return Ok(hull);
        }
    }
    // How far two elements of one key can be apart, if that is soon said: a promotion that was only tried tells nobody.
    let widest = all.ctx().with_budget(WORDING, || -> Result<_, Error> {
        let apart = all.reverse()?.apply_range(all)?.deltas()?;
        for axis in 0..axes {
            let most = apart.dim_max_val(axis as i32)?;
            if most.to_i64().is_none_or(|most| most >= LARGEST) {
                let most = apart.dim_max(axis as i32)?.gist_params(&algorithm.context)?.coalesce()?;
                return Ok(Some((axis, in_words(algorithm, &most)?)));
            }
        }
        Ok(None)
    });
    let widest = match widest {
        Err(error) if !error.is_quota() => return Err(error),
        found => found.ok().flatten().unwrap_or((0, "an unknown number".to_string())),
    };
    let array = algorithm.array(array).name.clone();
    let (axis, apart) = widest;
    Err(StorageError::NoConstantSize { array, at: at.to_string(), axis, apart }.into())
}

/// The values of an expression of parameters, in the source's words where they are sums.
fn in_words(algorithm: &Algorithm, expression: &PwAff) -> Result<String, Error> {
    let names = algorithm.param_names();
    let spelt = algorithm.params.iter().map(|param| algorithm.spelling(param).unwrap_or_else(|| param.name.clone()));
    let spelt: Vec<String> = spelt.collect();
    let mut values: Vec<String> = vec![];
    for (_, piece) in expression.pieces()? {
        let Some(value) = Affine::from_isl(&piece, &names)? else {
            return Ok(super::promote::inside(&expression.to_string()));
        };
        let value = value.display(&[], &spelt);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Ok(values.join(" or "))
}

/// A box with places only for those elements that every so many steps lead to, where a footprint has no others; where these stand in
/// groups with wide gaps between, only for those.
pub(crate) fn without_gaps(
    ctx: &Ctx,
    algorithm: &Algorithm,
    array: ArrayId,
    (all, keys): (&Map, usize),
    hull: Hull,
) -> Result<Hull, Error> {
    let mut closer = hull.clone();
    for axis in 0..hull.size.len() {
        let found = all.range_stride_info(axis as i32)?;
        let Some(step) = found.stride()?.to_i64().filter(|&step| step > 1 && hull.size[axis] > 1) else { continue };
        let Some(offset) = over_keys(algorithm, &found.offset()?)? else { continue };
        // The first element that whole steps lead to, if this is less than a step.
        let behind = offset.sub(&hull.low[axis])?;
        let mut rest = Affine::constant(behind.constant_term().rem_euclid(step));
        for (atom, factor) in behind.terms() {
            rest = rest.add(&Affine::atom(atom.clone()).scale(factor.rem_euclid(step))?)?;
        }
        closer.low[axis] = hull.low[axis].add(&rest)?;
        closer.step[axis] = step;
        closer.size[axis] = (hull.size[axis] - 1) / step + 1;
    }
    // What was guessed holds if the new box has all elements.
    let known = all.intersect_params(&algorithm.context)?;
    let holds =
        |guess: &Hull| -> Result<bool, Error> { Ok(known.is_subset(&elements(ctx, algorithm, array, keys, guess)?)?) };
    let closer = if closer == hull || holds(&closer)? { closer } else { hull };
    let mut grouped = closer.clone();
    for axis in 0..closer.size.len() {
        // Two groups of two places, with two between.
        if closer.size[axis] < 6 {
            continue;
        }
        let found = ctx.with_budget(GROUPS, || groups(ctx, algorithm, (all, keys), axis, &closer));
        match found {
            Ok(Some((low, size, groups))) => {
                (grouped.low[axis], grouped.size[axis], grouped.groups[axis]) = (low, size, groups);
            }
            Err(error) if !error.is_quota() => return Err(error),
            Ok(None) | Err(_) => {}
        }
    }
    Ok(if grouped != closer && holds(&grouped)? { grouped } else { closer })
}

/// A guess at groups along an axis, if these take at most half of the places: where the first one begins, the places of one group, and
/// the groups. Their size is told by how far apart elements of one key are, which does not depend on where the array ends.
fn groups(
    ctx: &Ctx,
    algorithm: &Algorithm,
    (all, keys): (&Map, usize),
    axis: usize,
    hull: &Hull,
) -> Result<Option<(Affine, i64, Groups)>, Error> {
    let (places, step) = (hull.size[axis], hull.step[axis]);
    let axes = hull.size.len();
    let along = all.project_out(DimType::Out, axis as u32 + 1, (axes - axis - 1) as u32)?;
    let along = along.project_out(DimType::Out, 0, axis as u32)?;
    let apart = along.reverse()?.apply_range(&along)?.deltas()?.project_out_all_params()?;
    let space = apart.space()?;
    let (distance, zero) = (Aff::var_on(&space, DimType::Set, 0)?, Aff::constant_on(&space, 0)?);
    let steps = |least: i64| -> Result<Set, Error> {
        let beyond = distance.ge_set(&Aff::constant_on(&space, least)?)?;
        Ok(beyond.intersect(&distance.modulo(step)?.eq_set(&zero)?)?)
    };
    let Some(gap) = steps(1)?.subtract(&apart)?.dim_min_val(0)?.to_i64() else { return Ok(None) };
    let Some(next) = apart.intersect(&steps(gap)?)?.dim_min_val(0)?.to_i64() else { return Ok(None) };
    let (size, apart) = (gap / step, next + gap - step);
    let count = (places - 1) * step / apart + 1;
    if count == 1 || 2 * size * count > places {
        return Ok(None);
    }
    // { [k, x, r] : r = (x - low(k)) mod apart }: where in a stretch of so many elements those of a key begin
    let params = relation::param_space(ctx, algorithm)?;
    let both = params.add_unnamed_tuple(keys as u32 + 2)?;
    let aff = |it: &Affine| it.to_isl(&both, &algorithm.param_names());
    let offset = Affine::iterator(keys as u32).sub(&hull.low[axis])?.modulo(apart)?;
    let rest = aff(&Affine::iterator(keys as u32 + 1))?.eq_set(&aff(&offset)?)?;
    let part = |first: usize, count: usize| rest.project_onto_map(DimType::Set, first as u32, count as u32);
    let touched = along.reset_tuple_id(DimType::Out)?;
    let touched = part(0, keys)?.apply_range(&touched)?.intersect(&part(keys, 1)?)?.domain()?;
    let rests = part(0, keys)?.reverse()?.apply_range(&part(keys + 1, 1)?.intersect_domain(&touched)?)?;
    let found = rests.range_simple_fixed_box_hull()?;
    if !found.is_valid()? || found.size()?.at(0)?.to_i64() != Some((size - 1) * step + 1) {
        return Ok(None);
    }
    let Some(first) = over_keys(algorithm, &found.offset()?.at(0)?)? else { return Ok(None) };
    Ok(Some((hull.low[axis].add(&first)?, size, Groups { count, apart })))
}

/// The elements that a box has places for: `{ [k] -> A[low(k) + step * p + apart * q] : 0 <= p < size, 0 <= q < count }`.
pub(crate) fn elements(
    ctx: &Ctx,
    algorithm: &Algorithm,
    array: ArrayId,
    keys: usize,
    hull: &Hull,
) -> Result<Map, Error> {
    let params = relation::param_space(ctx, algorithm)?;
    let names = algorithm.param_names();
    let axes = hull.size.len();
    let both = params.add_unnamed_tuple((keys + axes) as u32)?;
    let aff = |it: &Affine| it.to_isl(&both, &names);
    let zero = aff(&Affine::constant(0))?;
    let mut inside = Set::universe(&both)?;
    for (axis, (low, (&size, &step))) in hull.low.iter().zip(hull.size.iter().zip(&hull.step)).enumerate() {
        let mut offset = Affine::iterator((keys + axis) as u32).sub(low)?;
        let Groups { count, apart } = hull.groups[axis];
        if count > 1 {
            let group = offset.floor_div(apart);
            let last = aff(&Affine::constant(count - 1))?;
            inside = inside.intersect(&aff(&group)?.ge_set(&zero)?)?.intersect(&aff(&group)?.le_set(&last)?)?;
            offset = offset.sub(&group.scale(apart)?)?;
        }
        let last = aff(&Affine::constant((size - 1) * step))?;
        inside = inside.intersect(&aff(&offset)?.ge_set(&zero)?)?.intersect(&aff(&offset)?.le_set(&last)?)?;
        if step > 1 {
            let between = offset.sub(&offset.floor_div(step).scale(step)?)?;
            inside = inside.intersect(&aff(&between)?.eq_set(&zero)?)?;
        }
    }
    let map = inside.project_onto_map(DimType::Set, keys as u32, axes as u32)?;
    // { [k, x] -> [x] } back to { [k] -> A[x] }
    let key = inside.project_onto_map(DimType::Set, 0, keys as u32)?;
    let array = Id::new(ctx, &algorithm.array(array).name)?;
    Ok(key.reverse()?.apply_range(&map)?.set_tuple_id(DimType::Out, &array)?)
}

/// An expression of keys and parameters as plain data, if it has no divisions.
fn over_keys(algorithm: &Algorithm, aff: &Aff) -> Result<Option<Affine>, Error> {
    if aff.dim(DimType::Div)? > 0 || aff.denominator()?.to_i64() != Some(1) {
        return Ok(None);
    }
    let Some(constant) = aff.constant()?.to_i64() else { return Ok(None) };
    let mut result = Affine::constant(constant);
    let space = aff.domain_space()?;
    for at in 0..space.dim(DimType::Set)? {
        let Some(factor) = aff.coefficient(DimType::In, at as i32)?.to_i64() else { return Ok(None) };
        result = result.add(&Affine::iterator(at).scale(factor)?)?;
    }
    for (at, param) in algorithm.params.iter().enumerate() {
        let Some(position) = space.find_dim_by_name(DimType::Param, &param.name)? else { continue };
        let Some(factor) = aff.coefficient(DimType::Param, position as i32)?.to_i64() else { return Ok(None) };
        result = result.add(&Affine::atom(Atom::Param(ParamId(at as u32))).scale(factor)?)?;
    }
    Ok(Some(result))
}

/// Whether the statement accesses the array.
pub(crate) fn uses(algorithm: &Algorithm, id: ComputationId, array: ArrayId) -> bool {
    let computation = algorithm.computation(id);
    let mut all = computation.reads.iter().chain([&computation.write]);
    all.any(|access| access.array == array)
}

/// The accesses of a statement to the array.
pub(crate) fn accesses(algorithm: &Algorithm, id: ComputationId, array: ArrayId) -> Vec<Which> {
    let computation = algorithm.computation(id);
    let reads = computation.reads.iter().enumerate().filter(|(_, read)| read.array == array);
    let reads = reads.map(|(at, _)| Which::Read(at as u32));
    let write = (computation.write.array == array).then_some(Which::Write);
    write.into_iter().chain(reads).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{Array, ArrayKind, Outcome, Param, ParamOrigin};
    use tessella_scalar::ScalarType;

    /// The box of the elements of a vector of `n` that keys touch, without gaps.
    fn closest(keys: usize, all: &str) -> Hull {
        let ctx = Ctx::new();
        let vector = Array {
            name: "A".to_string(),
            element: ScalarType::F32,
            extents: vec![Affine::param(ParamId(0))],
            rank: 1,
            kind: ArrayKind::Argument,
            firsts: vec![],
            strided: 0..0,
        };
        let algorithm = Algorithm {
            name: "test".to_string(),
            params: vec![Param { name: "n".to_string(), origin: ParamOrigin::Extent { array: ArrayId(0), axis: 0 } }],
            scalars: vec![],
            arrays: vec![vector],
            arguments: vec![],
            computations: vec![],
            context: Set::from_text(&ctx, "[n] -> { : 0 <= n <= 1099511627776 }").unwrap(),
            source_order: Schedule { root: crate::schedule::Node::Sequence(vec![]) },
            scan: None,
            whole: None,
            redirected: BTreeMap::new(),
            limits: BTreeMap::new(),
            requirements: vec![],
            result: Outcome::Nothing,
            failed: None,
        };
        let all = Map::from_text(&ctx, &format!("[n] -> {{ {all} }}")).unwrap();
        let hull = hull(&algorithm, ArrayId(0), "i", &all).unwrap();
        without_gaps(&ctx, &algorithm, ArrayId(0), (&all, keys), hull).unwrap()
    }

    fn groups_of(hull: &Hull) -> (i64, i64, i64, i64) {
        (hull.size[0], hull.step[0], hull.groups[0].count, hull.groups[0].apart)
    }

    /// `offset + factor_b * b + factor_t * t`.
    fn corner(offset: i64, [b, t]: [i64; 2]) -> Affine {
        let scaled = |at: u32, factor: i64| Affine::iterator(at).scale(factor).unwrap();
        scaled(0, b).add(&scaled(1, t)).unwrap().add_constant(offset).unwrap()
    }

    #[test]
    fn groups_of_neighbours_have_no_places_between() {
        let all = "[b, t] -> A[x] : exists p, q : x = 1 + 32b + 16q + 4t + p and 0 <= p < 4 and 0 <= q < 2 and 0 <= t < 4 \
                   and 1 <= x <= n";
        let found = closest(2, all);
        assert_eq!(groups_of(&found), (4, 1, 2, 16));
        assert_eq!(found.low[0], corner(1, [32, 4]));
        assert_eq!(found.extents(), [4, 2]);
    }

    #[test]
    fn groups_are_found_from_divisions_as_loops_have_them() {
        let all = "[b, t] -> A[x] : b = floor((x - 1)/32) and t = floor(((x - 1) mod 16)/4) and 1 <= x <= n";
        let found = closest(2, all);
        assert_eq!((groups_of(&found), &found.low[0]), ((4, 1, 2, 16), &corner(1, [32, 4])));
    }

    #[test]
    fn groups_may_begin_anywhere_and_end_in_part_of_one() {
        // The last of three groups has two elements only.
        let all = "[b, t] -> A[x] : exists p, q : x = 100b - 7 + 30q + 5t + p and 0 <= p < 5 and 0 <= q and 0 <= t < 6 \
                   and 30q + p < 62 and 1 <= x <= n";
        let found = closest(2, all);
        assert_eq!((groups_of(&found), &found.low[0]), ((5, 1, 3, 30), &corner(-7, [100, 5])));
    }

    #[test]
    fn groups_of_every_second_element_have_steps_inside() {
        let all = "[b, t] -> A[x] : exists p, q : x = 1 + 64b + 32q + 8t + 2p and 0 <= p < 4 and 0 <= q < 2 and 0 <= t < 4 \
                   and 1 <= x <= n";
        let found = closest(2, all);
        assert_eq!((groups_of(&found), &found.low[0]), ((4, 2, 2, 32), &corner(1, [64, 8])));
    }

    #[test]
    fn what_stands_in_no_even_groups_keeps_its_box() {
        // Three groups, the last one out of place.
        let uneven = "[b] -> A[x] : exists p, q : x = 1 + 64b + q + p and 0 <= p < 4 and 1 <= x <= n and \
                      (q = 0 or q = 16 or q = 40)";
        let found = closest(1, uneven);
        assert_eq!(found.groups, [Groups::ONE]);
        // Gaps that are less than half of all.
        let dense = "[b] -> A[x] : exists p, q : x = 1 + 64b + 7q + p and 0 <= p < 4 and 0 <= q < 4 and 1 <= x <= n";
        assert_eq!(closest(1, dense).groups, [Groups::ONE]);
    }
}
