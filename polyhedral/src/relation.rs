//! isl relations of an algorithm: spaces, accesses, schedule functions.

use crate::affine::Affine;
use crate::algorithm::{Access, AccessRef, Algorithm, ArrayId, ArrayKind, ComputationId, Owner, Subscript};
use crate::error::Error;
use crate::isl::{Ctx, DimType, Id, IslError, Map, Set, Space};
use crate::reduction::is_old;
use crate::schedule::{Node, Path, Schedule};

/// The parameter space: `[params] -> { : }`.
pub fn param_space(ctx: &Ctx, algorithm: &Algorithm) -> Result<Space, Error> {
    let universe = ctx.remembered_set(&format!("params {:?}", algorithm.param_names()), || {
        let mut space = Space::unit(ctx)?;
        for param in &algorithm.params {
            space = space.add_param(&Id::new(ctx, &param.name)?)?;
        }
        Set::universe(&space)
    });
    Ok(universe?.space()?)
}

/// `[params] -> { S[iterators] }`, with all parameters of the algorithm.
pub fn domain_space(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId) -> Result<Space, Error> {
    let computation = algorithm.computation(id);
    let names = (algorithm.param_names(), &computation.name, &computation.iterators);
    let universe = ctx.remembered_set(&format!("instances {names:?}"), || {
        let tuple = Id::new(ctx, &computation.name)?;
        let mut space = param_space(ctx, algorithm)?.add_named_tuple(&tuple, computation.iterators.len() as u32)?;
        for (at, name) in computation.iterators.iter().enumerate() {
            space = space.set_dim_name(DimType::Set, at as u32, name)?;
        }
        Ok::<_, Error>(Set::universe(&space)?)
    });
    Ok(universe?.space()?)
}

/// The instances that exist for the parameters of the context: `{ S[iterators] }`.
pub fn domain(algorithm: &Algorithm, id: ComputationId) -> Result<Set, Error> {
    Ok(algorithm.computation(id).domain.intersect_params(&algorithm.context)?)
}

/// With more parameters, relations of accesses leave out what the context says of those that have nothing to do with an access: each
/// is a row of every relation, and isl takes its time for dozens of them. With fewer, what they say serves to simplify.
const MANY_PARAMS: usize = 24;

/// Whether an algorithm has so many parameters that what has nothing to do with an object is left out.
pub fn has_many_params(algorithm: &Algorithm) -> bool {
    algorithm.params.len() > MANY_PARAMS
}

/// The same; of [`MANY_PARAMS`], without those that have nothing to do with the domain.
fn instances(algorithm: &Algorithm, id: ComputationId) -> Result<Set, Error> {
    if !has_many_params(algorithm) {
        return domain(algorithm, id);
    }
    let domain = &algorithm.computation(id).domain;
    let ctx = domain.ctx();
    let question = format!("domain {} {}", ctx.number_of_set(domain), ctx.number_of_set(&algorithm.context));
    ctx.remembered_set(&question, || Ok(domain.intersect_params(&concerning(&algorithm.context, &involved(domain)?)?)?))
}

/// The same relation, of an algorithm with many parameters without those that it does not involve: each step of isl's goes through their columns.
/// isl lines parameters up by name where it meets others.
pub(crate) fn lean(algorithm: &Algorithm, map: Map) -> Result<Map, IslError> {
    match has_many_params(algorithm) {
        true => map.drop_unused_params(),
        false => Ok(map),
    }
}

/// Of each parameter, whether a constraint of a set involves it.
pub fn involved(set: &Set) -> Result<Vec<bool>, IslError> {
    (0..set.dim(DimType::Param)?).map(|at| set.involves_dims(DimType::Param, at, 1)).collect()
}

/// The constraints of a context on these parameters, and on all others that constraints link with them.
pub fn concerning(context: &Set, concerned: &[bool]) -> Result<Set, IslError> {
    let mut concerned = concerned.to_vec();
    // Alternatives may link other parameters each.
    if context.basic_set_count()? != 1 || context.dim(DimType::Param)? as usize != concerned.len() {
        return Ok(context.clone());
    }
    let mut found = Set::universe(&context.space()?)?;
    let mut asked = vec![false; concerned.len()];
    while let Some(at) = (0..concerned.len()).find(|&at| concerned[at] && !asked[at]) {
        asked[at] = true;
        let own = context.drop_constraints_not_involving_dims(DimType::Param, at as u32, 1)?;
        for (other, is_concerned) in concerned.iter_mut().enumerate() {
            *is_concerned = *is_concerned || own.involves_dims(DimType::Param, other as u32, 1)?;
        }
        found = found.intersect(&own)?;
    }
    Ok(found)
}

/// What a context says of these parameters alone: their values for which there are values of the others.
pub fn of_these(context: &Set, wanted: &[bool]) -> Result<Set, IslError> {
    let others = (0..).zip(wanted).filter(|(_, is_wanted)| !**is_wanted);
    others.map(|(at, _)| at).try_fold(context.clone(), |left, at| left.eliminate(DimType::Param, at, 1))
}

/// A conjunction around those of these sizes for which all of the others hold. What tells when subscripts of dozens of statements are inside is a
/// union of dozens of pieces, and what is computed with one takes isl thousands of times longer than with a conjunction.
pub fn conjunction_around<'a>(sizes: &Set, holds: impl Iterator<Item = &'a Set> + Clone) -> Result<Set, IslError> {
    let mut around = hull(&sizes.coalesce()?)?;
    // What the later ones say makes conjunctions of the earlier ones.
    for it in holds.clone().chain(holds) {
        around = around.intersect(&hull(&near(&around, it)?.intersect(it)?.coalesce()?)?)?;
    }
    Ok(around)
}

/// What constraints say of the sizes that others speak of, and of nothing else.
fn near(sizes: &Set, others: &Set) -> Result<Set, IslError> {
    let mut near = sizes.clone();
    for (at, is_involved) in (0..).zip(involved(others)?) {
        if !is_involved {
            near = near.drop_constraints_involving_dims(DimType::Param, at, 1)?;
        }
    }
    Ok(near)
}

/// A conjunction around a union, made of constraints of its pieces.
pub fn hull(set: &Set) -> Result<Set, IslError> {
    match set.basic_set_count()? {
        0 | 1 => Ok(set.clone()),
        _ => Set::from_basic_set(&set.simple_hull()?),
    }
}

/// The instances of a computation as far as what they access is inside: with others, no call gets past the checks at entry. Nests with
/// bounds of their own have arrays in common, and so a bound that holds for all.
pub fn inside(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId) -> Result<Set, Error> {
    let computation = algorithm.computation(id);
    let mut instances = domain(algorithm, id)?;
    for access in computation.reads.iter().chain([&computation.write]) {
        let is_argument = algorithm.array(access.array).kind == ArrayKind::Argument;
        let is_certain = access.checked && !access.conditional && access.within.is_none();
        if !is_argument || !is_certain || !access.is_affine() {
            continue;
        }
        let elements = index_set(ctx, algorithm, access.array)?;
        // The subscripts of all instances: what touches an element is one conjunction then, and its part of the instances no more pieces.
        let subscripts: Vec<Affine> = access.subscripts.iter().filter_map(Subscript::as_affine).cloned().collect();
        let touched = functions(ctx, algorithm, id, &subscripts)?;
        let touched = touched.set_tuple_id(DimType::Out, &elements.tuple_id()?)?.intersect_range(&elements)?;
        instances = instances.intersect(&touched.domain()?)?;
    }
    Ok(instances.coalesce()?)
}

/// `{ S[x] -> [function(x)] }`, over all of the space.
pub fn function(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, function: &Affine) -> Result<Map, Error> {
    let space = domain_space(ctx, algorithm, id)?;
    Ok(Map::from_aff(&function.to_isl(&space, &algorithm.param_names())?)?)
}

/// `{ S[x] -> [functions(x)...] }`, over all of the space; the range has no name.
pub fn functions(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, each: &[Affine]) -> Result<Map, Error> {
    let space = domain_space(ctx, algorithm, id)?;
    let origin = Set::universe(&param_space(ctx, algorithm)?.add_unnamed_tuple(0)?)?;
    let mut map = Map::from_domain_and_range(&Set::universe(&space)?, &origin)?;
    for affine in each {
        map = map.flat_range_product(&function(ctx, algorithm, id, affine)?)?;
    }
    Ok(map)
}

/// `{ S[x] -> [time] }`: the order of a schedule tree as a lexicographic one, one dimension for each step down the tree
/// and zeros at the end, `depth` dimensions in all.
pub fn time(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    id: ComputationId,
    depth: usize,
) -> Result<Map, Error> {
    let path = schedule.path_of(id).expect("every computation has a leaf in the schedule tree");
    let mut steps = vec![];
    for (level, &child) in path.0.iter().enumerate() {
        steps.push(match schedule.node(&Path(path.0[..level].to_vec())) {
            Some(Node::Loop(it)) => it.at[&id].clone(),
            Some(Node::Sequence(_) | Node::Computation(_)) | None => Affine::constant(child as i64),
        });
    }
    steps.resize(depth, Affine::constant(0));
    functions(ctx, algorithm, id, &steps)
}

/// `{ S[x] -> A[subscripts(x)] }` for the instances that may perform the access. Along the axis of a computed subscript
/// that is every element that the axis has.
pub fn access(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, access: &Access) -> Result<Map, Error> {
    if !access.is_affine() {
        return located(ctx, algorithm, id, access);
    }
    let computation = algorithm.computation(id);
    let instances = [&computation.domain, &algorithm.context].into_iter().chain(&access.within);
    let question = format!(
        "access {:?} {:?} {:?} {:?} {:?}",
        algorithm.param_names(),
        (&computation.name, &computation.iterators),
        instances.map(|set| ctx.number_of_set(set)).collect::<Vec<_>>(),
        algorithm.array(access.array).name,
        access.subscripts,
    );
    ctx.remembered_map(&question, || located(ctx, algorithm, id, access))
}

fn located(ctx: &Ctx, algorithm: &Algorithm, id: ComputationId, access: &Access) -> Result<Map, Error> {
    let space = domain_space(ctx, algorithm, id)?;
    let params = param_space(ctx, algorithm)?;
    let anything = |axes: u32| -> Result<Map, Error> {
        let range = Set::universe(&params.add_unnamed_tuple(axes)?)?;
        Ok(Map::from_domain_and_range(&Set::universe(&space)?, &range)?)
    };
    let mut map = anything(0)?;
    for subscript in &access.subscripts {
        let next = match subscript {
            Subscript::Affine(affine) => function(ctx, algorithm, id, affine)?,
            Subscript::Computed(_) => anything(1)?,
        };
        map = map.flat_range_product(&next)?;
    }
    let array = Id::new(ctx, &algorithm.array(access.array).name)?;
    let mut map = map.set_tuple_id(DimType::Out, &array)?.intersect_domain(&instances(algorithm, id)?)?;
    if !access.is_affine() {
        map = map.intersect_range(&computed_axes(ctx, algorithm, access)?)?;
    }
    match &access.within {
        Some(within) => Ok(map.intersect_domain(within)?),
        None => Ok(map),
    }
}

/// `{ S[x] -> R[y] : the owners are the same }`, of two accesses to elements with owners: no two of these own one element. `None` of others.
pub fn same_owner(ctx: &Ctx, algorithm: &Algorithm, source: AccessRef, sink: AccessRef) -> Result<Option<Map>, Error> {
    let owner = |at: AccessRef| {
        let it = algorithm.computation(at.computation);
        it.owner.filter(|owner| it.write.array == owner.array && is_old(it, algorithm.access(at)))
    };
    let (Some(one), Some(other)) = (owner(source), owner(sink)) else { return Ok(None) };
    if one.array != other.array || one.count != other.count {
        return Ok(None);
    }
    let of = |id: ComputationId, owner: Owner| function(ctx, algorithm, id, &Affine::iterator(owner.iterator));
    Ok(Some(of(source.computation, one)?.apply_range(&of(sink.computation, other)?.reverse()?)?))
}

/// `{ A[x] : first <= x < first + extent }`: the subscripts that are inside; iterators among a local array's may have
/// any value.
pub fn index_set(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId) -> Result<Set, Error> {
    axes_set(ctx, algorithm, array, &|_| true)
}

/// The same, looking only at the axes whose subscript is computed.
fn computed_axes(ctx: &Ctx, algorithm: &Algorithm, access: &Access) -> Result<Set, Error> {
    axes_set(ctx, algorithm, access.array, &|axis| access.subscripts[axis as usize].as_computed().is_some())
}

/// The same along some axes.
fn axes_set(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId, wanted: &dyn Fn(u32) -> bool) -> Result<Set, Error> {
    let array = algorithm.array(array);
    let tuple = Id::new(ctx, &array.name)?;
    let space = param_space(ctx, algorithm)?.add_named_tuple(&tuple, array.rank)?;
    let names = algorithm.param_names();
    let mut inside = Set::universe(&space)?;
    for axis in 0..array.extents.len() as u32 {
        let place = array.kind.outer() + axis;
        if !wanted(place) {
            continue;
        }
        let subscript = Affine::iterator(place).to_isl(&space, &names)?;
        let (first, last) = array.limits(axis);
        let lower = subscript.ge_set(&first.to_isl(&space, &names)?)?;
        let upper = subscript.le_set(&last.to_isl(&space, &names)?)?;
        inside = inside.intersect(&lower)?.intersect(&upper)?;
    }
    Ok(inside)
}
