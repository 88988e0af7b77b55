//! Layer III by default: arguments where the caller has them, private variables in registers where one element at a
//! time is alive, in a scratch array otherwise.

use crate::affine::{Affine, Atom, ParamId};
use crate::algorithm::{Algorithm, Array, ArrayId, ArrayKind, ComputationId};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, DimType, Map, PwAff, Set};
use crate::layers::{
    Buffer, BufferId, Layout, Lifetime, MemorySpace, Placed, Placement, Scheduled, Target,
};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::BTreeMap;

/// Chooses a buffer for every array.
///
/// # Errors
/// [`LayoutError::NoBox`] where a private variable needs an array whose shape is not a box of parameters.
pub fn place(ctx: &Ctx, scheduled: Scheduled) -> Result<Placed, Error> {
    let mut layout = Layout { buffers: vec![], placements: BTreeMap::new() };
    for at in 0..scheduled.algorithm.arrays.len() as u32 {
        let array = ArrayId(at);
        let (buffer, map) = choose(ctx, &scheduled, array)?;
        let id = BufferId(layout.buffers.len() as u32);
        layout.buffers.push(buffer);
        layout.placements.insert(array, Placement { buffer: id, map });
    }
    Ok(Placed { scheduled, layout })
}

fn choose(ctx: &Ctx, scheduled: &Scheduled, id: ArrayId) -> Result<(Buffer, Vec<Affine>), Error> {
    let array = scheduled.algorithm.array(id);
    let space = match scheduled.target {
        Target::Cpu => MemorySpace::Host,
        Target::Gpu => MemorySpace::Global,
    };
    let buffer = |extents: Vec<Affine>, space: MemorySpace, lifetime: Lifetime| Buffer {
        name: array.name.clone(),
        element: array.element,
        extents,
        space,
        lifetime,
    };
    match array.kind {
        ArrayKind::Argument | ArrayKind::Result => {
            let map = (0..array.rank).map(|axis| Affine::iterator(axis).add_constant(-1)).collect::<Result<_, _>>()?;
            Ok((buffer(array.extents.clone(), space, Lifetime::Argument(id)), map))
        }
        ArrayKind::Private => {
            let users = users(&scheduled.algorithm, id);
            let Some(node) = common_node(&scheduled.schedule, &users) else {
                return Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(Path::default())), vec![]));
            };
            let inside_kernel = !has_gpu_loop(&scheduled.schedule, &node);
            let one_alive = one_element_each(ctx, scheduled, id, &users, &node)?;
            match (one_alive, scheduled.target == Target::Cpu || inside_kernel) {
                (true, true) => Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(node)), vec![])),
                (true, false) => Ok((buffer(vec![], space, Lifetime::Call), vec![])),
                (false, _) => {
                    let (extents, map) = bounding_box(ctx, scheduled, id, array)?;
                    Ok((buffer(extents, space, Lifetime::Call), map))
                }
            }
        }
    }
}

/// The computations that access an array.
fn users(algorithm: &Algorithm, array: ArrayId) -> Vec<ComputationId> {
    let uses = |id: &ComputationId| {
        let computation = algorithm.computation(*id);
        computation.reads.iter().chain([&computation.write]).any(|access| access.array == array)
    };
    algorithm.ids().filter(uses).collect()
}

/// The deepest node that holds all of the computations; the body of a loop rather than the loop.
fn common_node(schedule: &Schedule, computations: &[ComputationId]) -> Option<Path> {
    let mut paths = computations.iter().map(|&id| schedule.path_of(id));
    let mut common = paths.next()??.0;
    for path in paths {
        let path = path?.0;
        let shared = common.iter().zip(&path).take_while(|(a, b)| a == b).count();
        common.truncate(shared);
    }
    Some(Path(common))
}

/// Whether a loop below `path` or one that only encloses part of a kernel's threads is mapped to the GPU.
fn has_gpu_loop(schedule: &Schedule, path: &Path) -> bool {
    let below = schedule.node(path).is_some_and(any_gpu);
    let around = (0..path.0.len()).any(|depth| match schedule.node(&Path(path.0[..depth].to_vec())) {
        Some(Node::Loop(it)) => is_gpu(it.tag),
        _ => false,
    });
    // Nothing mapped around: the users may lie in several kernels, even if none has a mapped loop.
    below || !around
}

fn any_gpu(node: &Node) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Loop(it) => is_gpu(it.tag) || any_gpu(&it.body),
        Node::Sequence(children) => children.iter().any(any_gpu),
    }
}

fn is_gpu(tag: Tag) -> bool {
    matches!(tag, Tag::GpuBlock(_) | Tag::GpuThread(_))
}

/// Whether each execution of the node touches at most one element of a private array.
fn one_element_each(
    ctx: &Ctx,
    scheduled: &Scheduled,
    array: ArrayId,
    users: &[ComputationId],
    node: &Path,
) -> Result<bool, Error> {
    let algorithm = &scheduled.algorithm;
    let mut touched: Option<Map> = None;
    for &id in users {
        let around = scheduled.schedule.loops_around(id);
        let outer: Vec<Affine> = around
            .iter()
            .filter(|(path, _)| path.0.len() < node.0.len())
            .map(|(_, it): &(Path, &Loop)| it.at[&id].clone())
            .collect();
        let when = relation::functions(ctx, algorithm, id, &outer)?;
        let computation = algorithm.computation(id);
        for access in computation.reads.iter().chain([&computation.write]).filter(|access| access.array == array) {
            let elements = when.reverse()?.apply_range(&relation::access(ctx, algorithm, id, access)?)?;
            touched = Some(match touched {
                None => elements,
                Some(others) => others.union(&elements)?,
            });
        }
    }
    match touched {
        None => Ok(true),
        Some(touched) => Ok(touched.is_single_valued()?),
    }
}

/// The extents and the map of the smallest box that holds all elements written, lower corner at 0.
fn bounding_box(
    ctx: &Ctx,
    scheduled: &Scheduled,
    id: ArrayId,
    array: &Array,
) -> Result<(Vec<Affine>, Vec<Affine>), Error> {
    let algorithm = &scheduled.algorithm;
    let mut elements: Option<Set> = None;
    for user in users(algorithm, id) {
        let computation = algorithm.computation(user);
        for access in computation.reads.iter().chain([&computation.write]).filter(|access| access.array == id) {
            let range = relation::access(ctx, algorithm, user, access)?.range()?;
            elements = Some(match elements {
                None => range,
                Some(others) => others.union(&range)?,
            });
        }
    }
    let elements = elements.expect("a private array that nothing uses holds one element");
    let (mut extents, mut map) = (vec![], vec![]);
    for axis in 0..array.rank {
        let no_box = || Error::from(LayoutError::NoBox { array: id, axis });
        let low = as_affine(algorithm, &elements.dim_min(axis as i32)?)?.ok_or_else(no_box)?;
        let high = as_affine(algorithm, &elements.dim_max(axis as i32)?)?.ok_or_else(no_box)?;
        extents.push(high.sub(&low)?.add_constant(1)?);
        map.push(Affine::iterator(axis).sub(&low)?);
    }
    Ok((extents, map))
}

/// A piecewise expression of parameters as plain data, if one piece covers all and has no divisions.
fn as_affine(algorithm: &Algorithm, expression: &PwAff) -> Result<Option<Affine>, Error> {
    let expression = expression.coalesce()?;
    let pieces = expression.pieces()?;
    let [(_, aff)] = pieces.as_slice() else { return Ok(None) };
    if aff.dim(DimType::Div)? > 0 || aff.denominator()?.to_i64() != Some(1) {
        return Ok(None);
    }
    let Some(constant) = aff.constant()?.to_i64() else { return Ok(None) };
    let mut result = Affine::constant(constant);
    let space = aff.domain_space()?;
    for (at, param) in algorithm.params.iter().enumerate() {
        let Some(position) = space.find_dim_by_name(DimType::Param, &param.name)? else { continue };
        let Some(factor) = aff.coefficient(DimType::Param, position as i32)?.to_i64() else { return Ok(None) };
        result = result.add(&Affine::atom(Atom::Param(ParamId(at as u32))).scale(factor)?)?;
    }
    Ok(Some(result))
}
