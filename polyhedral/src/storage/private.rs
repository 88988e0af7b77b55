//! Arrays that an iteration of a loop has for itself: how statements come to use them.

use super::error::StorageError;
use super::footprint::{Groups, Hull, accesses};
use crate::affine::Affine;
use crate::algorithm::{AccessRef, Algorithm, ArrayId, ComputationId, Subscript, Which};
use crate::error::Error;
pub(crate) use crate::fresh::fresh;
use crate::isl::{Ctx, DimType, Id, Set};
use crate::relation;
use crate::schedule::{Loop, Node, ProcessorAxis, Tag};
use std::collections::BTreeMap;

/// Makes a statement access the buffer. Offsets in it become iterators of the statement, each with one value, so that
/// generated code computes them from the loops; so does the key of which the buffer has `stages`. With a `part`, only reads with these
/// subscripts do.
pub(crate) fn redirect(
    ctx: &Ctx,
    algorithm: &mut Algorithm,
    id: ComputationId,
    key: &[Affine],
    (hull, part): (&Hull, Option<&[Subscript]>),
    (from, new): (ArrayId, ArrayId),
    stages: Option<usize>,
) -> Result<(), Error> {
    let old = algorithm.computation(id).clone();
    let count = old.iterators.len();
    let low: Vec<Affine> = hull.low.iter().map(|low| low.substitute(key)).collect::<Result<_, _>>()?;
    let mut offsets: Vec<Affine> = vec![];
    let mut names = old.iterators.clone();
    let mut changed: Vec<(Which, Vec<Affine>)> = vec![];
    let mut key = key.to_vec();
    if let Some(staged) = stages.and_then(|at| key.get_mut(at)).filter(|it| it.as_iterator().is_none()) {
        names.push(fresh("stage", |name| names.iter().any(|it| it == name)));
        offsets.push(std::mem::replace(staged, Affine::iterator(count as u32)));
    }
    for which in accesses(algorithm, id, from) {
        let subscripts = match which {
            Which::Write => &old.write.subscripts,
            Which::Read(at) => &old.reads[at as usize].subscripts,
        };
        if part.is_some_and(|part| subscripts != part) {
            continue;
        }
        let mut local = key.clone();
        for (axis, subscript) in subscripts.iter().enumerate() {
            let subscript = subscript.as_affine().expect("computed subscripts were refused");
            for offset in in_buffer(hull, axis, subscript.sub(&low[axis])?)? {
                let constant = offset.constant_term();
                let linear = offset.add_constant(-constant)?;
                if linear.as_constant().is_some() {
                    local.push(Affine::constant(constant).add_constant(1)?);
                    continue;
                }
                let position = match offsets.iter().position(|known| *known == linear) {
                    Some(known) => known,
                    None => {
                        let about = (0..count as u32).find(|&at| subscript.coefficient(at) != 0);
                        let about =
                            about.map_or_else(|| format!("x{}", axis + 1), |at| old.iterators[at as usize].clone());
                        let array = &algorithm.array(from).name;
                        names.push(fresh(&format!("{about}_{array}"), |name| names.iter().any(|it| it == name)));
                        offsets.push(linear);
                        offsets.len() - 1
                    }
                };
                local.push(Affine::iterator((count + position) as u32).add_constant(constant)?.add_constant(1)?);
            }
        }
        changed.push((which, local));
    }

    // { S[x] -> S[x, offsets] }
    let all: Vec<Affine> = (0..count as u32).map(Affine::iterator).chain(offsets).collect();
    let tuple = Id::new(ctx, &old.name)?;
    let longer = relation::functions(ctx, algorithm, id, &all)?.set_tuple_id(DimType::Out, &tuple)?;
    let lengthen = |set: &Set| -> Result<Set, Error> {
        let mut set = set.apply(&longer)?;
        for (at, name) in names.iter().enumerate() {
            set = set.set_dim_name(DimType::Set, at as u32, name)?;
        }
        Ok(set)
    };
    let mut next = old.clone();
    next.domain = lengthen(&old.domain)?;
    for access in next.reads.iter_mut().chain([&mut next.write]) {
        access.within = access.within.as_ref().map(&lengthen).transpose()?;
    }
    next.iterators = names.clone();
    algorithm.computations[id.0 as usize] = next;
    for (which, subscripts) in changed {
        let subscripts = subscripts.into_iter().map(Subscript::from).collect();
        algorithm.redirect(AccessRef { computation: id, which }, new, subscripts);
    }
    Ok(())
}

/// The places along the buffer's axes for one of the array's: of an element so far from the box's corner.
fn in_buffer(hull: &Hull, axis: usize, offset: Affine) -> Result<Vec<Affine>, Error> {
    let step = hull.step[axis];
    let inside = |offset: Affine| if step > 1 { offset.floor_div(step) } else { offset };
    let Groups { count, apart } = hull.groups[axis];
    if count == 1 {
        return Ok(vec![inside(offset)]);
    }
    let group = offset.floor_div(apart);
    Ok(vec![inside(offset.sub(&group.scale(apart)?)?), group])
}

/// How many iterations a thread loop can have.
///
/// # Errors
/// [`StorageError::NoThreadCount`].
pub(crate) fn thread_count(ctx: &Ctx, algorithm: &Algorithm, it: &Loop) -> Result<i64, Error> {
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    for (&id, at) in &it.at {
        let values = relation::domain(algorithm, id)?.apply(&relation::function(ctx, algorithm, id, at)?)?;
        if values.is_empty()? {
            continue;
        }
        let values = values.project_out_all_params()?;
        let bounds = (values.dim_min_val(0)?.to_i64(), values.dim_max_val(0)?.to_i64());
        let (Some(low), Some(high)) = bounds else {
            return Err(StorageError::NoThreadCount { at: it.name.clone() }.into());
        };
        (least, most) = (least.min(low), most.max(high));
    }
    match most.checked_sub(least) {
        Some(apart @ 0..=1023) => Ok(apart + 1),
        _ => Err(StorageError::NoThreadCount { at: it.name.clone() }.into()),
    }
}

/// A loop of one computation: its name, its tag and what it runs through.
pub(crate) type LoopHead = (String, Tag, Affine);

/// What becomes of loops of at most 64 iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Short {
    Looped,
    Unrolled,
    /// What a thread copies from one place to another: so many loads are in flight together.
    InFlight,
}

/// Loads of a thread that are in flight together.
const IN_FLIGHT: u32 = 32;

/// The tag of a loop over so many places that one thread runs through.
fn own(short: Short, size: i64) -> Tag {
    match (short, u32::try_from(size)) {
        (Short::Unrolled, Ok(size @ ..=64)) => Tag::Unroll(size),
        (Short::InFlight, Ok(size @ 2..=64)) => Tag::Unroll(size.min(IN_FLIGHT)),
        (Short::Looped | Short::Unrolled | Short::InFlight, _) => Tag::Sequential,
    }
}

/// The loops through the places of a box, outermost first: the first axis, whose elements are neighbours in memory, is
/// innermost. Each axis comes with a name, its place from 0 and the number of places. Threads of a `team`, with so many
/// along each axis, share the places along the axis of the same number; where the team has no such axis, those along the axes with several
/// places, in order.
pub(crate) fn walk_box(
    axes: Vec<(String, Affine, i64)>,
    team: &BTreeMap<ProcessorAxis, i64>,
    short: Short,
) -> Result<Vec<LoopHead>, Error> {
    let (mut outer, mut inner) = (vec![], vec![]);
    let threads = threads_of(&axes, team);
    for (axis, (name, place, size)) in axes.into_iter().enumerate().rev() {
        if size == 1 {
            continue;
        }
        match threads[axis].and_then(|it| Some((it, *team.get(&it)?))) {
            Some((it, count)) if size <= count => outer.push((name, Tag::GpuThread(it), place)),
            Some((it, count)) => {
                outer.push((format!("{name}1"), Tag::GpuThread(it), place.modulo(count)?));
                let each = size.div_euclid(count) + i64::from(size % count != 0);
                inner.push((format!("{name}0"), own(short, each), place.floor_div(count)));
            }
            None => inner.push((name, own(short, size), place)),
        }
    }
    outer.extend(inner);
    Ok(outer)
}

/// Places along an axis that each thread goes through where there are not enough axes of threads, such as the halves of complex numbers.
const FEW: i64 = 4;

/// The threads that share the places along each axis of a box.
fn threads_of(axes: &[(String, Affine, i64)], team: &BTreeMap<ProcessorAxis, i64>) -> Vec<Option<ProcessorAxis>> {
    let all = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    let mut long: Vec<usize> = (0..axes.len()).filter(|&at| axes[at].2 > 1).collect();
    while long.len() > team.len()
        && let Some(least) =
            (0..long.len()).rev().filter(|&it| axes[long[it]].2 <= FEW).min_by_key(|&it| axes[long[it]].2)
    {
        long.remove(least);
    }
    let own = |at: usize| all.get(at).copied().filter(|it| team.contains_key(it));
    if long.iter().any(|&at| own(at).is_none()) {
        let with = long.iter().copied().zip(team.keys().copied()).collect::<BTreeMap<usize, ProcessorAxis>>();
        return (0..axes.len()).map(|at| with.get(&at).copied()).collect();
    }
    (0..axes.len()).map(|at| own(at).filter(|_| long.contains(&at))).collect()
}

/// Loops, outermost first, around a computation.
pub(crate) fn nest(id: ComputationId, loops: Vec<LoopHead>) -> Node {
    loops.into_iter().rev().fold(Node::Computation(id), |body, (name, tag, at)| {
        Node::Loop(Loop { name, tag, at: BTreeMap::from([(id, at)]), body: Box::new(body) })
    })
}

/// The tree with all loops in order.
pub(crate) fn in_order(node: &Node) -> Node {
    match node {
        Node::Computation(id) => Node::Computation(*id),
        Node::Sequence(children) => Node::Sequence(children.iter().map(in_order).collect()),
        Node::Loop(it) => Node::Loop(Loop { tag: Tag::Sequential, body: Box::new(in_order(&it.body)), ..it.clone() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_share_the_axes_that_have_several_places() {
        let shared = |sizes: &[i64], threads: &[(ProcessorAxis, i64)]| {
            let axes: Vec<_> =
                (0..).zip(sizes).map(|(at, &size)| (String::new(), Affine::iterator(at), size)).collect();
            threads_of(&axes, &threads.iter().copied().collect())
        };
        let (x, y, z) = ((ProcessorAxis::X, 32), (ProcessorAxis::Y, 8), (ProcessorAxis::Z, 4));
        let [of_x, of_y, of_z] = [x, y, z].map(|(axis, _)| Some(axis));
        assert_eq!(shared(&[34, 10], &[x, y]), [of_x, of_y]);
        assert_eq!(shared(&[1, 10], &[x, y]), [None, of_y]);
        assert_eq!(shared(&[34, 10, 6], &[x, y, z]), [of_x, of_y, of_z]);
        assert_eq!(shared(&[32, 1, 32], &[x, y]), [of_x, None, of_y], "a plane across");
        assert_eq!(shared(&[2, 32, 32], &[x, y]), [None, of_x, of_y], "halves of complex numbers");
        assert_eq!(shared(&[34, 10, 3], &[x, y]), [of_x, of_y, None]);
        assert_eq!(shared(&[34, 10, 8], &[x, y]), [of_x, of_y, None], "more axes than threads have");
        assert_eq!(shared(&[34, 10], &[]), [None, None]);
    }
}
