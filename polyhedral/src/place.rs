//! Layer III by default: arguments where the caller has them, private variables in registers where one element at a
//! time is alive, in a scratch array otherwise; local arrays in memory of the call, one copy for all iterations of the
//! loops around them where one at a time is alive.

use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::error::{Error, LayoutError};
use crate::isl::{Ctx, DimType, Map, PwAff, Set};
use crate::layers::{
    Buffer, BufferId, Layout, Lifetime, MemorySpace, Placed, PlacedStream, Placement, Scheduled, Target,
};
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::storage::{self, Limit, SharedBuffer, StorageError};
use crate::stream;
use std::collections::{BTreeMap, BTreeSet};

/// Chooses a buffer for every array.
///
/// # Errors
/// [`LayoutError::NoBox`] where a private variable needs an array whose shape is not a box of parameters.
pub fn place(ctx: &Ctx, scheduled: Scheduled) -> Result<Placed, Error> {
    place_with(ctx, scheduled, BTreeMap::new())
}

/// Chooses a buffer for every array but those that are given one.
pub(crate) fn place_with(
    ctx: &Ctx,
    scheduled: Scheduled,
    mut given: BTreeMap<ArrayId, (Buffer, Vec<Affine>)>,
) -> Result<Placed, Error> {
    let mut layout = Layout { buffers: vec![], placements: BTreeMap::new(), streams: vec![], ahead: vec![] };
    for at in 0..scheduled.algorithm.arrays.len() as u32 {
        let array = ArrayId(at);
        let (buffer, map) = match given.remove(&array) {
            Some(given) => given,
            None => choose(ctx, &scheduled, array)?,
        };
        let id = BufferId(layout.buffers.len() as u32);
        layout.buffers.push(buffer);
        layout.placements.insert(array, Placement { buffer: id, map });
    }
    add_streams(ctx, &scheduled, &mut layout)?;
    check_shared(&scheduled.schedule, &layout)?;
    Ok(Placed { scheduled, layout, source: None, constants: BTreeSet::new() })
}

/// Time loops that stream: a second buffer for each array that goes from step to step. It holds nothing before such a loop and after it, so
/// all loops over an array have the same one.
fn add_streams(ctx: &Ctx, scheduled: &Scheduled, layout: &mut Layout) -> Result<(), Error> {
    let mut made: BTreeMap<(ArrayId, &str), BufferId> = BTreeMap::new();
    for (path, stream) in stream::streams(ctx, &scheduled.algorithm, &scheduled.schedule)? {
        let (mut copies, mut sets) = (BTreeMap::new(), BTreeMap::new());
        for field in stream.fields.iter().filter(|field| field.carried) {
            let own = layout.buffer(layout.placement(field.array).buffer).clone();
            let mut copy = |what: &'static str| {
                *made.entry((field.array, what)).or_insert_with(|| {
                    let name = format!("{}_{what}", own.name);
                    layout.buffers.push(Buffer { name, lifetime: Lifetime::Call, ..own.clone() });
                    BufferId(layout.buffers.len() as u32 - 1)
                })
            };
            if stream.hexagon.is_some() {
                let set = ["even", "odd", "other_even", "other_odd"].map(&mut copy);
                copies.insert(field.array, set[0]);
                sets.insert(field.array, set);
            } else {
                copies.insert(field.array, copy("next"));
            }
        }
        layout.streams.push(PlacedStream { path, stream, copies, sets });
    }
    Ok(())
}

/// Whether the buffers that each kernel keeps in shared memory fit together.
pub(crate) fn check_shared(schedule: &Schedule, layout: &Layout) -> Result<(), StorageError> {
    shared_of_kernels(schedule, layout).into_values().try_for_each(storage::check_together)
}

/// The most bytes of shared memory that a kernel keeps in buffers.
pub fn most_shared(schedule: &Schedule, layout: &Layout) -> i64 {
    shared_of_kernels(schedule, layout).values().map(|all| SharedBuffer::total(all)).max().unwrap_or(0)
}

/// The buffers in shared memory, by the outermost loop over blocks around them.
fn shared_of_kernels(schedule: &Schedule, layout: &Layout) -> BTreeMap<Path, Vec<SharedBuffer>> {
    let mut kernels: BTreeMap<Path, Vec<SharedBuffer>> = BTreeMap::new();
    for buffer in &layout.buffers {
        let (MemorySpace::Shared, Lifetime::Node(node)) = (buffer.space, &buffer.lifetime) else { continue };
        let kernel = outermost_around(schedule, node, is_block);
        kernels.entry(kernel.unwrap_or_default()).or_default().push(SharedBuffer::of(buffer));
    }
    kernels
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
        ArrayKind::Argument | ArrayKind::Result | ArrayKind::Returned => {
            let map = (0..array.rank).map(|axis| Affine::iterator(axis).sub(&array.first(axis)));
            let map = map.collect::<Result<_, _>>()?;
            Ok((buffer(array.extents.clone(), space, Lifetime::Argument(id)), map))
        }
        ArrayKind::Private => {
            let users = users(&scheduled.algorithm, id);
            if users.is_empty() {
                return Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(Path::default())), vec![]));
            }
            match home(ctx, scheduled, id, &users, 0)? {
                Some(node) if scheduled.target == Target::Cpu || !has_gpu_loop(&scheduled.schedule, &node) => {
                    Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(node)), vec![]))
                }
                Some(node) if !is_around(&scheduled.schedule, &node, is_gpu) => {
                    Ok((buffer(vec![], space, Lifetime::Call), vec![]))
                }
                Some(node) if users.iter().all(|&user| in_one_thread(&scheduled.schedule, &node, user)) => {
                    Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(node)), vec![]))
                }
                // Threads share what their blocks do not: an element for each iteration.
                Some(_) | None if nothing_uses(ctx, &scheduled.algorithm, id, &users)? => {
                    Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(Path::default())), vec![]))
                }
                Some(_) | None => {
                    let told = told_in_memory(ctx, scheduled, id, array.rank, &users)?;
                    let axes = fastest_first(scheduled, id, &users, (told..array.rank).collect());
                    let (extents, map) = box_of(ctx, &scheduled.algorithm, id, &axes)?;
                    Ok((buffer(extents, space, Lifetime::Call), map))
                }
            }
        }
        ArrayKind::Local { outer } => {
            if scheduled.scratch.contains(&id)
                && let Some(found) = at_home(ctx, scheduled, id, outer)?
            {
                return Ok(found);
            }
            if scheduled.target == Target::Cpu
                && let Some(found) = on_thread(ctx, scheduled, id, outer)?
            {
                return Ok(found);
            }
            if nothing_uses(ctx, &scheduled.algorithm, id, &users(&scheduled.algorithm, id))? {
                return Ok((buffer(vec![], MemorySpace::Register, Lifetime::Node(Path::default())), vec![]));
            }
            let (extents, map) = local_box(ctx, scheduled, id, outer)?;
            Ok((buffer(extents, space, Lifetime::Call), map))
        }
    }
}

/// A place for an array of constant size where the iteration that has it for itself runs: on the stack of a CPU thread, in
/// the shared memory of a thread block, in the registers of a GPU thread. `None` where no node of the tree has one such
/// array in each execution, or where it runs on no processor of the GPU.
///
/// # Errors
/// [`StorageError::TooLarge`].
fn at_home(ctx: &Ctx, scheduled: &Scheduled, id: ArrayId, outer: u32) -> Result<Option<(Buffer, Vec<Affine>)>, Error> {
    let array = scheduled.algorithm.array(id);
    let users = users(&scheduled.algorithm, id);
    let sizes: Option<Vec<i64>> = array.extents.iter().map(Affine::as_constant).collect();
    let node = if users.is_empty() { None } else { home(ctx, scheduled, id, &users, array.rank - outer)? };
    let (Some(sizes), Some(node)) = (sizes, node.filter(|node| !node.0.is_empty())) else { return Ok(None) };
    let schedule = &scheduled.schedule;
    let (space, limit) = match scheduled.target {
        Target::Cpu => (MemorySpace::Host, Limit::Stack),
        Target::Gpu if is_around(schedule, &node, is_thread) => (MemorySpace::Register, Limit::Registers),
        Target::Gpu if is_around(schedule, &node, is_block) => (MemorySpace::Shared, Limit::Shared),
        Target::Gpu => return Ok(None),
    };
    storage::check_limit(&scheduled.algorithm, id, &sizes, limit)?;
    let variable = space != MemorySpace::Shared && sizes.iter().all(|&size| size == 1);
    let axes = if variable { outer..outer } else { outer..array.rank };
    let buffer = Buffer {
        name: array.name.clone(),
        element: array.element,
        extents: if variable { vec![] } else { array.extents.clone() },
        space,
        lifetime: Lifetime::Node(node),
    };
    let map = axes.map(|axis| Affine::iterator(axis).add_constant(-1)).collect::<Result<_, _>>()?;
    Ok(Some((buffer, map)))
}

/// A place that belongs to the thread, for arrays that the source makes in a loop, where that loop runs on threads: all of
/// its arrays that one iteration on a thread needs together. `None` where no iteration has them for itself.
fn on_thread(
    ctx: &Ctx,
    scheduled: &Scheduled,
    id: ArrayId,
    outer: u32,
) -> Result<Option<(Buffer, Vec<Affine>)>, Error> {
    let algorithm = &scheduled.algorithm;
    let array = algorithm.array(id);
    let users = users(algorithm, id);
    let is_on_thread = |node: &Path| {
        let tags =
            (0..node.0.len()).filter_map(|depth| match scheduled.schedule.node(&Path(node.0[..depth].to_vec())) {
                Some(Node::Loop(it)) => Some(it.tag),
                Some(Node::Sequence(_) | Node::Computation(_)) | None => None,
            });
        let tags: Vec<Tag> = tags.collect();
        tags.contains(&Tag::Parallel)
            && tags.iter().all(|tag| matches!(tag, Tag::Parallel | Tag::Sequential | Tag::Separate))
    };
    let common = if users.is_empty() { None } else { common_node(&scheduled.schedule, &users) };
    if !common.is_some_and(|node| is_on_thread(&node)) {
        return Ok(None);
    }
    // The iterators after the first `told` ones tell arrays of one iteration apart.
    for told in (1..=outer).rev() {
        let node = home(ctx, scheduled, id, &users, array.rank - told)?;
        let Some(node) = node.filter(&is_on_thread) else { continue };
        let (extents, map) = box_of_several(ctx, algorithm, id, (told, outer))?;
        let lifetime = Lifetime::Node(node);
        let buffer =
            Buffer { name: array.name.clone(), element: array.element, extents, space: MemorySpace::Host, lifetime };
        return Ok(Some((buffer, map)));
    }
    Ok(None)
}

/// The extents and the map of a local array: its own axes first, then the iterators of those loops around it whose
/// iterations need an array each.
fn local_box(ctx: &Ctx, scheduled: &Scheduled, id: ArrayId, outer: u32) -> Result<(Vec<Affine>, Vec<Affine>), Error> {
    let algorithm = &scheduled.algorithm;
    let array = algorithm.array(id);
    let users = users(algorithm, id);
    if users.is_empty() {
        return Ok((vec![Affine::constant(0); array.rank as usize], (0..array.rank).map(Affine::iterator).collect()));
    }
    let told = told_in_memory(ctx, scheduled, id, outer, &users)?;
    let (mut extents, mut map) = box_of_several(ctx, algorithm, id, (told, outer))?;
    // Its own axes come first, unless neighbouring threads have arrays of their own.
    let axes: Vec<u32> = (outer..array.rank).chain(told..outer).collect();
    let fastest = fastest_first(scheduled, id, &users, axes.clone()).first().copied();
    if scheduled.target == Target::Gpu
        && let Some(at) = axes.iter().position(|&axis| Some(axis) == fastest && axis < outer)
    {
        extents[..=at].rotate_right(1);
        map[..=at].rotate_right(1);
    }
    Ok((extents, map))
}

/// These axes of an array, so that those come first along which neighbouring threads, or iterations of the innermost loops, have neighbours.
fn fastest_first(scheduled: &Scheduled, id: ArrayId, users: &[ComputationId], axes: Vec<u32>) -> Vec<u32> {
    let is_x = |tag: Tag| tag == Tag::GpuThread(ProcessorAxis::X);
    let in_order = |user: ComputationId| -> Vec<u32> {
        let computation = scheduled.algorithm.computation(user);
        let around = scheduled.schedule.loops_around(user);
        let (threads, others): (Vec<_>, Vec<_>) = around.iter().rev().partition(|(_, it)| is_x(it.tag));
        let accesses = computation.reads.iter().chain([&computation.write]);
        let Some(access) = accesses.into_iter().find(|access| access.array == id) else { return vec![] };
        let mut found: Vec<u32> = vec![];
        for (_, it) in threads.into_iter().chain(others) {
            let iterators: Vec<u32> =
                (0..computation.iterators.len() as u32).filter(|&at| it.at[&user].involves_iterator(at)).collect();
            let moves = |axis: &u32| {
                let subscript = &access.subscripts[*axis as usize];
                iterators.iter().any(|&iterator| computation.involves_iterator(subscript, iterator))
            };
            found.extend(axes.iter().copied().filter(|axis| !found.contains(axis)).find(moves));
        }
        found
    };
    let is_whole = |order: &Vec<u32>| order.len() == axes.len();
    users.iter().map(|&user| in_order(user)).find(is_whole).unwrap_or(axes.clone())
}

/// How many of the first `outer` subscripts, iterators of loops, need no memory: those after them tell apart what is there at one time.
fn told_in_memory(
    ctx: &Ctx,
    scheduled: &Scheduled,
    id: ArrayId,
    outer: u32,
    users: &[ComputationId],
) -> Result<u32, Error> {
    let mut told = outer;
    while told > 0 && !one_iteration_at_a_time(ctx, scheduled, id, told, users)? {
        told -= 1;
    }
    Ok(told)
}

/// The axes of the memory that a private variable has: none for one in a register.
pub(crate) fn rank_in_memory(ctx: &Ctx, scheduled: &Scheduled, id: ArrayId) -> Result<u32, Error> {
    let users = users(&scheduled.algorithm, id);
    if users.is_empty() || home(ctx, scheduled, id, &users, 0)?.is_some() {
        return Ok(0);
    }
    let rank = scheduled.algorithm.array(id).rank;
    Ok(rank - told_in_memory(ctx, scheduled, id, rank, &users)?)
}

/// The same for arrays that the iterators after the first `told` ones, of `outer`, tell apart.
fn box_of_several(
    ctx: &Ctx,
    algorithm: &Algorithm,
    id: ArrayId,
    (told, outer): (u32, u32),
) -> Result<(Vec<Affine>, Vec<Affine>), Error> {
    let (mut extents, mut map) = own_box(ctx, algorithm, id, outer)?;
    if told < outer {
        let (others, their_map) = box_of(ctx, algorithm, id, &(told..outer).collect::<Vec<_>>())?;
        extents.extend(others);
        map.extend(their_map);
    }
    Ok((extents, map))
}

/// The extents of a local array's own axes, those after the first `outer` ones, and its subscripts along them from 0.
fn own_box(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId, outer: u32) -> Result<(Vec<Affine>, Vec<Affine>), Error> {
    let array = algorithm.array(id);
    let depends = |extent: &Affine| (0..outer).any(|iterator| extent.involves_iterator(iterator));
    if array.extents.iter().any(depends) {
        return box_of(ctx, algorithm, id, &(outer..array.rank).collect::<Vec<_>>());
    }
    let (mut extents, mut map) = (vec![], vec![]);
    for (axis, extent) in (outer..).zip(&array.extents) {
        extents.push(extent.clone());
        map.push(Affine::iterator(axis).add_constant(-1)?);
    }
    Ok((extents, map))
}

/// Whether the iterations of the loops around a local array's users run one after the other, and each of them is alone
/// with those of the arrays that the source makes whose first `told` iterators agree.
fn one_iteration_at_a_time(
    ctx: &Ctx,
    scheduled: &Scheduled,
    id: ArrayId,
    told: u32,
    users: &[ComputationId],
) -> Result<bool, Error> {
    let own = scheduled.algorithm.array(id).rank - told;
    let Some(node) = home(ctx, scheduled, id, users, own)? else { return Ok(false) };
    Ok((0..node.0.len()).all(|depth| match scheduled.schedule.node(&Path(node.0[..depth].to_vec())) {
        Some(Node::Loop(it)) => matches!(it.tag, Tag::Sequential | Tag::Unroll(_) | Tag::Rows | Tag::Separate),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => true,
    }))
}

/// The computations that access an array.
fn users(algorithm: &Algorithm, array: ArrayId) -> Vec<ComputationId> {
    let uses = |id: &ComputationId| {
        let computation = algorithm.computation(*id);
        computation.reads.iter().chain([&computation.write]).any(|access| access.array == array)
    };
    algorithm.ids().filter(uses).collect()
}

/// Whether none of an array's users has an instance that accesses it, since its values were substituted.
fn nothing_uses(ctx: &Ctx, algorithm: &Algorithm, array: ArrayId, users: &[ComputationId]) -> Result<bool, Error> {
    for &user in users {
        let computation = algorithm.computation(user);
        for access in computation.reads.iter().chain([&computation.write]).filter(|access| access.array == array) {
            if !relation::access(ctx, algorithm, user, access)?.is_empty()? {
                return Ok(false);
            }
        }
    }
    Ok(true)
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
    // Nothing mapped around: the users may lie in several kernels, even if none has a mapped loop.
    schedule.node(path).is_some_and(any_gpu) || !is_around(schedule, path, is_gpu)
}

/// Whether a loop around the node is of a kind.
fn is_around(schedule: &Schedule, path: &Path, wanted: fn(Tag) -> bool) -> bool {
    outermost_around(schedule, path, wanted).is_some()
}

/// Whether one thread runs all instances of a computation in one execution of a node inside of block loops.
fn in_one_thread(schedule: &Schedule, node: &Path, id: ComputationId) -> bool {
    let around = schedule.loops_around(id);
    let mut below = around.iter().filter(|(path, _)| path.0.len() >= node.0.len());
    is_around(schedule, node, is_block)
        && below.all(|(_, it)| !is_gpu(it.tag) || is_thread(it.tag) && it.at[&id].as_constant() == Some(0))
}

/// The outermost loop of a kind around a node.
fn outermost_around(schedule: &Schedule, path: &Path, wanted: fn(Tag) -> bool) -> Option<Path> {
    let mut above = (0..path.0.len()).map(|depth| Path(path.0[..depth].to_vec()));
    above.find(|here| match schedule.node(here) {
        Some(Node::Loop(it)) => wanted(it.tag),
        Some(Node::Sequence(_) | Node::Computation(_)) | None => false,
    })
}

fn any_gpu(node: &Node) -> bool {
    match node {
        Node::Computation(_) => false,
        Node::Loop(it) => is_gpu(it.tag) || any_gpu(&it.body),
        Node::Sequence(children) => children.iter().any(any_gpu),
    }
}

fn is_gpu(tag: Tag) -> bool {
    is_block(tag) || is_thread(tag)
}

fn is_block(tag: Tag) -> bool {
    matches!(tag, Tag::GpuBlock(_))
}

fn is_thread(tag: Tag) -> bool {
    tag.thread().is_some()
}

/// The deepest node each execution of which touches just one element, and that alone: another execution never comes
/// back to it. So the element lives and dies with the execution. The last `own` subscripts do not tell elements apart.
fn home(
    ctx: &Ctx,
    scheduled: &Scheduled,
    array: ArrayId,
    users: &[ComputationId],
    own: u32,
) -> Result<Option<Path>, Error> {
    let Some(mut node) = common_node(&scheduled.schedule, users) else { return Ok(Some(Path::default())) };
    let first = scheduled.algorithm.array(array).rank - own;
    loop {
        let Some(touched) = touched(ctx, scheduled, array, users, &node)? else { return Ok(Some(node)) };
        let touched = touched.project_out(DimType::Out, first, own)?;
        if !touched.is_single_valued()? {
            return Ok(None);
        }
        if touched.is_injective()? {
            return Ok(Some(node));
        }
        // The element is needed again, in an execution of the next loop around.
        if node.0.pop().is_none() {
            return Ok(None);
        }
    }
}

/// The elements that each execution of the node touches, by the values of the loops around it.
fn touched(
    ctx: &Ctx,
    scheduled: &Scheduled,
    array: ArrayId,
    users: &[ComputationId],
    node: &Path,
) -> Result<Option<Map>, Error> {
    let algorithm = &scheduled.algorithm;
    let mut touched: Vec<Map> = vec![];
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
            let elements = relation::lean(algorithm, elements)?;
            // Dozens of statements touch the same.
            let is_known = |known: &Map| known.is_plainly_equal(&elements);
            if !touched.iter().map(is_known).collect::<Result<Vec<_>, _>>()?.contains(&true) {
                touched.push(elements);
            }
        }
    }
    Ok(if touched.is_empty() { None } else { Some(Map::union_all(touched)?.coalesce()?) })
}

/// The extents and the map of the smallest box that holds all elements that are accessed, lower corner at 0: of these axes, in the order
/// given.
fn box_of(ctx: &Ctx, algorithm: &Algorithm, id: ArrayId, axes: &[u32]) -> Result<(Vec<Affine>, Vec<Affine>), Error> {
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
    for &axis in axes {
        let no_box = || Error::from(LayoutError::NoBox { array: id, axis });
        let low = bound(ctx, algorithm, &elements, axis, Side::Low)?.ok_or_else(no_box)?;
        let high = bound(ctx, algorithm, &elements, axis, Side::High)?.ok_or_else(no_box)?;
        // Subscripts with a step lie side by side.
        let step = elements.stride(axis.cast_signed())?.to_i64().filter(|&step| step > 1).unwrap_or(1);
        let places = |from_low: Affine| if step == 1 { from_low } else { from_low.floor_div(step) };
        extents.push(places(high.sub(&low)?).add_constant(1)?);
        map.push(places(Affine::iterator(axis).sub(&low)?));
    }
    Ok((extents, map))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Low,
    High,
}

/// An expression of parameters that is at most (at least) each element's subscript of an axis: the nearest one where
/// it is one expression, else one of those that it is made of (`m` of `min(m, n)`), also of those that steps are left out of (`n` of
/// `2 * fld(n - 1, 2) + 1`, the last of `1:2:n`). `None` where there is none, or no constraint of a
/// hull of the elements says what it is (`max(m, 1)`).
pub(crate) fn bound(
    ctx: &Ctx,
    algorithm: &Algorithm,
    elements: &Set,
    axis: u32,
    side: Side,
) -> Result<Option<Affine>, Error> {
    let has_bound = match side {
        Side::Low => elements.dim_has_lower_bound(DimType::Set, axis)?,
        Side::High => elements.dim_has_upper_bound(DimType::Set, axis)?,
    };
    if !has_bound {
        return Ok(None);
    }
    let names = algorithm.param_names();
    let along = along(elements, axis)?;
    let nearest = |within: &Set| match side {
        Side::Low => within.dim_min(0),
        Side::High => within.dim_max(0),
    };
    let exact = nearest(&along)?;
    for nearest in [exact.clone(), nearest(&along.remove_divs()?)?] {
        if let Some(value) = as_affine(algorithm, &nearest)? {
            return Ok(Some(value));
        }
        for (_, piece) in nearest.pieces()? {
            let Some(value) = Affine::from_isl(&piece, &names)? else { continue };
            if is_bound(ctx, algorithm, elements, axis, side, &value)? {
                return Ok(Some(value));
            }
        }
    }
    // `n ÷ 8` of a loop over whole blocks of eight.
    for (_, piece) in exact.coalesce()?.pieces()? {
        let Some(value) = Affine::from_isl_with_divisions(&piece, &names)? else { continue };
        if is_bound(ctx, algorithm, elements, axis, side, &value)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// The subscripts of an axis.
fn along(elements: &Set, axis: u32) -> Result<Set, Error> {
    let behind = elements.space()?.dim(DimType::Set)? - axis - 1;
    Ok(elements.project_out(DimType::Set, axis + 1, behind)?.project_out(DimType::Set, 0, axis)?)
}

/// Whether an expression of parameters is at most (at least) each element's subscript of an axis.
pub(crate) fn is_bound(
    ctx: &Ctx,
    algorithm: &Algorithm,
    elements: &Set,
    axis: u32,
    side: Side,
    value: &Affine,
) -> Result<bool, Error> {
    let space = relation::param_space(ctx, algorithm)?.add_unnamed_tuple(1)?;
    let names = algorithm.param_names();
    let subscript = Affine::iterator(0).to_isl(&space, &names)?;
    let limit = value.to_isl(&space, &names)?;
    let within = match side {
        Side::Low => subscript.ge_set(&limit)?,
        Side::High => subscript.le_set(&limit)?,
    };
    Ok(along(elements, axis)?.is_subset(&within)?)
}

/// A piecewise expression of parameters as plain data, if one piece covers all and has no divisions.
fn as_affine(algorithm: &Algorithm, expression: &PwAff) -> Result<Option<Affine>, Error> {
    let expression = expression.coalesce()?;
    let pieces = expression.pieces()?;
    match pieces.as_slice() {
        [(_, aff)] => Ok(Affine::from_isl(aff, &algorithm.param_names())?),
        _ => Ok(None),
    }
}
