//! Parts of trees that all shapes have.

use super::stencil::{Nest, Stencil};
use crate::affine::{Affine, AffineOverflow};
use crate::algorithm::{Algorithm, ComputationId};
use crate::layers::{Scheduled, Target};
use crate::machine::{MAX_THREADS, MAX_THREADS_Z, Machine};
use crate::schedule::{Loop, Node, ProcessorAxis, Tag};
use std::collections::BTreeMap;

/// A loop around `body` whose function is given for each computation below.
pub(super) fn around(name: &str, tag: Tag, functions: &BTreeMap<ComputationId, Affine>, body: Node) -> Node {
    let at = body.computations().into_iter().map(|id| (id, functions[&id].clone())).collect();
    Node::Loop(Loop { name: name.to_string(), tag, at, body: Box::new(body) })
}

/// The tree with other computations in place of its own; loops take over their functions.
pub(super) fn with_pieces(node: &Node, pieces: &BTreeMap<ComputationId, ComputationId>) -> Node {
    match node {
        Node::Computation(id) => Node::Computation(pieces[id]),
        Node::Sequence(children) => Node::Sequence(children.iter().map(|child| with_pieces(child, pieces)).collect()),
        Node::Loop(it) => Node::Loop(Loop {
            name: it.name.clone(),
            tag: it.tag,
            at: it
                .at
                .iter()
                .filter(|(id, _)| pieces.contains_key(id))
                .map(|(id, at)| (pieces[id], at.clone()))
                .collect(),
            body: Box::new(with_pieces(&it.body, pieces)),
        }),
    }
}

/// A nest's statements inside its loops that are no dimension of space.
pub(super) fn inner(nest: &Nest) -> Node {
    nest.rest.iter().rev().fold(nest.body.clone(), |body, it| {
        let at = body.computations().into_iter().map(|id| (id, it.at[&id].clone())).collect();
        Node::Loop(Loop { name: it.name.clone(), tag: it.tag, at, body: Box::new(body) })
    })
}

/// What a time step runs, nest by nest.
pub(super) fn steps(nests: Vec<Node>) -> Node {
    match <[Node; 1]>::try_from(nests) {
        Ok([one]) => one,
        Err(several) => Node::Sequence(several),
    }
}

/// Threads along a dimension that has no tiles, by whether it is the last one.
const THREADS_ACROSS: [i64; 2] = [4, 32];

/// A position along a dimension that is not tiled, on a GPU: the thread, and its turn. On a CPU the position itself.
pub(super) fn untiled(
    target: Target,
    is_last: bool,
    position: &Affine,
) -> Result<(Affine, Option<Affine>), AffineOverflow> {
    let threads = THREADS_ACROSS[usize::from(is_last)];
    Ok(match target {
        Target::Cpu => (position.clone(), None),
        Target::Gpu => (position.modulo(threads)?, Some(position.floor_div(threads))),
    })
}

/// How many threads share the points of a tile along each dimension, where they take turns: tiles may have more points than a block may have
/// threads. `extents` are those of tiles, `None` for dimensions without any. Outer dimensions come first, so that threads stay neighbours
/// along the last one.
pub(super) fn sharing(target: Target, extents: &[Option<i64>]) -> Vec<Option<i64>> {
    let mut threads: Vec<Option<i64>> = vec![None; extents.len()];
    if target == Target::Cpu {
        return threads;
    }
    let last = extents.len().saturating_sub(1);
    // Loops around the last three are run by each thread.
    let along = last.saturating_sub(2)..extents.len();
    let usual = |dim: usize| extents[dim].unwrap_or(THREADS_ACROSS[usize::from(dim == last)]);
    for dim in along.clone() {
        let Some(extent) = extents[dim] else { continue };
        let others = along.clone().filter(|other| *other != dim).map(|other| threads[other].unwrap_or(usual(other)));
        let others = others.fold(1i64, i64::saturating_mul);
        let deep = if dim + 2 == last { MAX_THREADS_Z } else { MAX_THREADS };
        let most = (MAX_THREADS / others.max(1)).clamp(1, deep);
        if extent > most {
            let turns = (extent - 1) / most + 1;
            threads[dim] = Some((extent - 1) / turns + 1);
        }
    }
    threads
}

/// A place within a tile, counted from 0, as the thread and its turn.
pub(super) fn shared(place: Affine, threads: Option<i64>) -> Result<(Affine, Option<Affine>), AffineOverflow> {
    Ok(match threads {
        None => (place, None),
        Some(threads) => (place.modulo(threads)?, Some(place.floor_div(threads))),
    })
}

/// Loops through the turns of threads, around `body`; along dimensions where each thread has one point of a tile there are none.
pub(super) fn turns(stencil: &Stencil, rounds: &[BTreeMap<ComputationId, Affine>], body: Node) -> Node {
    let named = rounds.iter().zip(&stencil.dims).filter(|(at, _)| !at.is_empty());
    named.rev().fold(body, |body, (at, name)| around(&stencil.fresh(&format!("{name}2")), Tag::Sequential, at, body))
}

/// How loops over points of tiles are executed: on the GPU by threads, the last three of them; on the CPU the last one in
/// vectors if `contiguous`.
pub(super) fn point_tags(scheduled: &Scheduled, count: usize, width: Option<u32>) -> Vec<Tag> {
    let axes = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];
    let mut tags = vec![Tag::Sequential; count];
    match scheduled.target {
        Target::Gpu => {
            for (tag, axis) in tags.iter_mut().rev().zip(axes) {
                *tag = Tag::GpuThread(axis);
            }
        }
        Target::Cpu => {
            if let (Some(last), Some(width)) = (tags.last_mut(), width) {
                *last = Tag::Vector(width);
            }
        }
    }
    tags
}

/// The lanes for the innermost loop over space, where statements stand right inside it and each of them goes along an
/// array there.
pub(super) fn lanes(algorithm: &Algorithm, machine: Machine, stencil: &Stencil, nest: &Nest) -> Option<u32> {
    if !nest.rest.is_empty() {
        return None;
    }
    let bytes = nest.body.computations().into_iter().map(|id| {
        let it = algorithm.computation(id);
        let position = stencil.space[&id].last()?;
        let ahead = it.write.subscripts.first()?.as_affine()?.sub(position).ok()?;
        (it.predicate.is_none() && ahead.as_constant().is_some())
            .then(|| algorithm.array(it.write.array).element.bytes())
    });
    let widest = bytes.collect::<Option<Vec<u32>>>()?.into_iter().max()?;
    Some(machine.vector_bytes / widest).filter(|lanes| *lanes > 1)
}
