//! `allocate` and `free`: how long the memory of a buffer is there.
//!
//! Rewrite of `allocate(b, t)`: `allocate b; for t { ... }; free b -> for t { allocate b; ...; free b }`
//!
//! The memory lives for one execution of some children of a sequence, or of a body, that follow one another. All accesses
//! lie below these, and no value goes from one execution to another.

use super::error::{ConnectError, Freed};
use super::event::{loops_around, smallest};
use super::place::Found;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ComputationId};
use crate::dependence::{self, Dependence, DependenceKind};
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{BufferId, Lifetime, MemorySpace, Placed, Target};
use crate::relation;
use crate::schedule::{Node, Path, Schedule, Tag};

/// Children of a node, from the first to the last; of a node that is no sequence, the node itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) parent: Path,
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Where the memory of one buffer begins and ends, as far as commands say.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    pub(super) allocate: Option<(String, Found)>,
    pub(super) free: Option<(String, Found)>,
}

/// What one end speaks of.
fn span(schedule: &Schedule, node: &Path) -> Span {
    let within = |path: &Path| match schedule.node(path) {
        Some(Node::Sequence(children)) => Some(children.len()),
        Some(Node::Loop(_) | Node::Computation(_)) | None => None,
    };
    if let Some(count) = within(node) {
        return Span { parent: node.clone(), first: 0, last: count - 1 };
    }
    if let Some((&child, above)) = node.0.split_last() {
        let parent = Path(above.to_vec());
        if within(&parent).is_some() {
            return Span { parent, first: child, last: child };
        }
    }
    Span { parent: node.clone(), first: 0, last: 0 }
}

/// The children that the memory lives for: from where it is allocated, else from the first, to where it is freed, else
/// to the last.
pub(super) fn join(schedule: &Schedule, ends: &Ends) -> Result<Span, ConnectError> {
    let count = |path: &Path| children(schedule, path);
    match (&ends.allocate, &ends.free) {
        (Some((_, allocate)), None) => {
            let begin = span(schedule, &allocate.node);
            Ok(Span { last: count(&begin.parent) - 1, ..begin })
        }
        (None, Some((_, free))) => Ok(Span { first: 0, ..span(schedule, &free.node) }),
        (Some((first, allocate)), Some((second, free))) => {
            let (begin, end) = (span(schedule, &allocate.node), span(schedule, &free.node));
            let apart = |reason| ConnectError::Lifetimes { first: first.clone(), second: second.clone(), reason };
            if begin.parent != end.parent {
                return Err(apart("they stand in the bodies of different loops"));
            }
            if begin.first > end.last {
                return Err(apart("the memory would be freed before it is allocated"));
            }
            Ok(Span { parent: begin.parent, first: begin.first, last: end.last })
        }
        (None, None) => Ok(Span { parent: Path::default(), first: 0, last: count(&Path::default()) - 1 }),
    }
}

/// Gives a buffer the lifetime, if that is legal.
pub(super) fn place(
    ctx: &Ctx,
    placed: &mut Placed,
    dependences: &[Dependence],
    id: BufferId,
    span: &Span,
) -> Result<(), Error> {
    let Placed { scheduled, layout, .. } = &*placed;
    let (algorithm, schedule) = (&scheduled.algorithm, &scheduled.schedule);
    let buffer = layout.buffer(id);
    let around = loops_around(schedule, &span.parent);
    match scheduled.target {
        Target::Gpu => {
            let innermost = around.last().map_or("", |it| it.name.as_str());
            super::place::check_host(schedule, &span.parent, innermost)?;
        }
        Target::Cpu => {
            let parallel = around.iter().find(|it| !it.tag.keeps_order()).filter(|_| !buffer.fits_stack());
            if let Some(it) = parallel {
                return Err(ConnectError::InParallel { buffer: buffer.name.clone(), at: it.name.clone() }.into());
            }
        }
    }
    let arrays: Vec<ArrayId> =
        layout.placements.iter().filter(|(_, it)| it.buffer == id).map(|(&array, _)| array).collect();
    check_inside(ctx, algorithm, schedule, &buffer.name, &arrays, span)?;
    let flows = |it: &Dependence| it.kind == DependenceKind::Flow && arrays.contains(&it.array);
    let assumed = algorithm.assumed()?;
    for flow in dependence::direct_of(ctx, algorithm, dependences, &flows)? {
        let (writer, reader) = (flow.source.computation, flow.sink.computation);
        let values = |id: ComputationId| {
            let each: Vec<Affine> = around.iter().map(|it| it.at[&id].clone()).collect();
            relation::functions(ctx, algorithm, id, &each)
        };
        let together = values(writer)?.apply_range(&values(reader)?.reverse()?)?;
        let mut wrong = flow.relation.subtract(&together)?;
        if let Some(assumed) = &assumed {
            wrong = wrong.intersect_params(assumed)?;
        }
        if wrong.is_empty()? {
            continue;
        }
        let pair = smallest(ctx, algorithm, &wrong, algorithm.computation(writer).iterators.len())?;
        return Err(ConnectError::FreedBeforeUse(Box::new(Freed {
            buffer: buffer.name.clone(),
            writer,
            reader: flow.sink,
            written: pair.first,
            read: pair.second,
            params: pair.params,
        }))
        .into());
    }
    let whole = span.first == 0 && span.last + 1 == children(schedule, &span.parent);
    let lifetime = match (whole, span.parent.0.is_empty()) {
        (true, true) => Lifetime::Call,
        (true, false) => Lifetime::Node(span.parent.clone()),
        (false, _) => Lifetime::Children { of: span.parent.clone(), first: span.first, last: span.last },
    };
    placed.layout.buffers[id.0 as usize].lifetime = lifetime;
    Ok(())
}

/// All accesses lie below the children.
fn check_inside(
    ctx: &Ctx,
    algorithm: &Algorithm,
    schedule: &Schedule,
    buffer: &str,
    arrays: &[ArrayId],
    span: &Span,
) -> Result<(), Error> {
    let is_inside = |path: &Path| {
        span.parent.contains(path)
            && match schedule.node(&span.parent) {
                Some(Node::Sequence(_)) => {
                    path.0.get(span.parent.0.len()).is_some_and(|child| (span.first..=span.last).contains(child))
                }
                Some(Node::Loop(_) | Node::Computation(_)) | None => true,
            }
    };
    for at in algorithm.accesses() {
        let access = algorithm.access(at);
        let path = schedule.path_of(at.computation).expect("every computation has a leaf in the schedule tree");
        if !arrays.contains(&access.array) || is_inside(&path) {
            continue;
        }
        let instances = relation::access(ctx, algorithm, at.computation, access)?.domain()?;
        if instances.is_empty()? {
            continue;
        }
        let length = algorithm.computation(at.computation).iterators.len();
        let pair = smallest(ctx, algorithm, &instances.identity()?, length)?;
        let (buffer, instance, params) = (buffer.to_string(), pair.first, pair.params);
        return Err(ConnectError::Outside { buffer, access: at, instance, params }.into());
    }
    Ok(())
}

fn children(schedule: &Schedule, path: &Path) -> usize {
    match schedule.node(path) {
        Some(Node::Sequence(children)) => children.len(),
        Some(Node::Loop(_) | Node::Computation(_)) | None => 1,
    }
}

/// Refuses lifetimes of which one begins during another and ends after it: memory is freed in the reverse order.
pub(super) fn check_nested(placed: &Placed) -> Result<(), ConnectError> {
    let spans: Vec<(&str, &Path, usize, usize)> = placed
        .layout
        .buffers
        .iter()
        .filter_map(|buffer| match &buffer.lifetime {
            Lifetime::Children { of, first, last } => Some((buffer.name.as_str(), of, *first, *last)),
            Lifetime::Argument(_) | Lifetime::Call | Lifetime::Node(_) => None,
        })
        .collect();
    for &(one, of, first, last) in &spans {
        for &(other, also_of, begin, end) in &spans {
            if of == also_of && first < begin && begin <= last && last < end {
                let reason = "the second is allocated while the first is there, and freed after it";
                return Err(ConnectError::Lifetimes { first: one.to_string(), second: other.to_string(), reason });
            }
        }
    }
    Ok(())
}

/// The buffer of this name, if the program allocates it for a whole call.
pub(super) fn buffer(placed: &Placed, name: &str) -> Result<BufferId, Error> {
    let layout = &placed.layout;
    let array = placed.scheduled.algorithm.arrays.iter().position(|it| it.name == name);
    let of_array = || Some(layout.placement(ArrayId(array? as u32)).buffer.0 as usize);
    let Some(at) = layout.buffers.iter().position(|it| it.name == name).or_else(of_array) else {
        let known = layout.buffers.iter().map(|it| it.name.clone()).collect();
        return Err(crate::storage::StorageError::UnknownArray { name: name.to_string(), known }.into());
    };
    let it = &layout.buffers[at];
    let fixed = |reason| Err(ConnectError::FixedLifetime { buffer: name.to_string(), reason }.into());
    match (&it.lifetime, it.space, placed.scheduled.target) {
        (Lifetime::Argument(_), _, Target::Cpu) => fixed("it lies in the caller's memory"),
        (Lifetime::Argument(_), _, Target::Gpu) => {
            fixed("it is the copy of the caller's memory, which lives as long as the call")
        }
        (_, MemorySpace::Register, _) => fixed("it is a variable, new in each iteration"),
        (Lifetime::Node(node), MemorySpace::Host, Target::Cpu)
            if !it.fits_stack()
                && loops_around(&placed.scheduled.schedule, node).iter().any(|it| it.tag == Tag::Parallel) =>
        {
            fixed("each thread has memory of its own for it")
        }
        (Lifetime::Node(_) | Lifetime::Children { .. }, _, _) => fixed("it holds a part of an array for one iteration"),
        (Lifetime::Call, _, _) => Ok(BufferId(at as u32)),
    }
}
