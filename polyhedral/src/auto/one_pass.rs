//! Reductions over the same instances in one pass over what they read: kernels that [`super::partial_sums`] makes become one.
//!
//! ```text
//! @block b { Q = ..; @combine t { P = ..; nest: P op= x; Q op= P } }; @block b { R = ..; @combine t { O = ..; nest: O op= x; R op= O } }
//!   -> @block b { Q = ..; R = ..; @combine t { P = ..; O = ..; nest: { P op= x; O op= x }; Q op= P; R op= O } }
//! a = ..; @combine b { a op= Q }; c = ..; @combine b { c op= R }
//!   -> a = ..; c = ..; @combine b { a op= Q; c op= R }
//! ```
//!
//! Each reduction keeps its own partial results, and the order in which these are combined, so its result has the same bits as in a
//! kernel of its own.

use super::partial_sums::{Parted, ahead};
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::isl::{Ctx, Set};
use crate::legality;
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use std::collections::BTreeSet;

/// Reductions of a kernel: each has a register or two for its partial result.
const TOGETHER: usize = 8;

/// Has the reductions of a program that may share passes do so.
pub(super) fn share_passes(ctx: &Ctx, parted: &mut Parted) -> Result<(), Error> {
    while let Some(next) = step(ctx, parted)? {
        parted.scheduled.schedule = next;
    }
    Ok(())
}

/// The schedule with two kernels as one; `None` where no two have anything left to share.
fn step(ctx: &Ctx, parted: &Parted) -> Result<Option<Schedule>, Error> {
    let algorithm = &parted.scheduled.algorithm;
    for path in sequences(&parted.scheduled.schedule) {
        let Some(Node::Sequence(children)) = parted.scheduled.schedule.node(&path) else { continue };
        for (first, second) in pairs(children.len()) {
            let Some(children) = joined(algorithm, children, first, second)? else { continue };
            let mut trial = parted.scheduled.schedule.clone();
            *trial.node_mut(&path).expect("it was just found") = Node::Sequence(children);
            if legality::is_legal(ctx, algorithm, &trial, &parted.dependences)? {
                return Ok(Some(trial));
            }
        }
    }
    Ok(None)
}

/// The places of all sequences outside of kernels.
fn sequences(schedule: &Schedule) -> Vec<Path> {
    fn collect(node: &Node, path: &Path, found: &mut Vec<Path>) {
        match node {
            Node::Computation(_) => {}
            Node::Sequence(children) => {
                found.push(path.clone());
                children.iter().enumerate().for_each(|(at, child)| collect(child, &path.child(at), found));
            }
            Node::Loop(it) if it.tag.keeps_order() => collect(&it.body, &path.child(0), found),
            Node::Loop(_) => {}
        }
    }
    let mut found = vec![];
    collect(&schedule.root, &Path::default(), &mut found);
    found
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |second| (0..second).map(move |first| (first, second)))
}

/// A sequence in which two of its children are one, if they are kernels of reductions that have something to share.
fn joined(algorithm: &Algorithm, children: &[Node], first: usize, second: usize) -> Result<Option<Vec<Node>>, Error> {
    let (one, other) = (&children[first], &children[second]);
    let mut joined = children.to_vec();
    if let (Some(terms), Some(further)) = (terms(one), terms(other)) {
        let all = [terms.as_slice(), further.as_slice()].concat();
        let share = all.len() <= TOGETHER && read_alike(algorithm, &terms, &further);
        if share && same_instances(algorithm, terms[0], further[0])? {
            let Some(mut both) = merged(one, other) else { return Ok(None) };
            load_ahead(algorithm, &mut both, &all);
            joined[first] = both;
            joined.remove(second);
            return Ok(Some(joined));
        }
    } else if let (Some(totals), Some(further)) = (totals(one), totals(other)) {
        // What starts the results comes before.
        let is_start = |node: &Node| matches!(node, Node::Computation(_));
        if children[first + 1..second].iter().all(is_start) && same_instances(algorithm, totals[0], further[0])? {
            let Some(both) = merged(one, other) else { return Ok(None) };
            joined[second] = both;
            joined.remove(first);
            return Ok(Some(joined));
        }
    }
    Ok(None)
}

/// The statements that a pass runs for each element: those of the nest in a loop that blocks combine, in a loop over blocks.
fn terms(node: &Node) -> Option<Vec<ComputationId>> {
    let Node::Loop(Loop { tag: Tag::GpuBlock(ProcessorAxis::X), body, .. }) = node else { return None };
    let threads = inner_loop(body).filter(|it| it.tag == Tag::Combine)?;
    Some(inner_loop(&threads.body)?.body.computations())
}

/// The statements that one block's threads combine, where a loop has no others.
fn totals(node: &Node) -> Option<Vec<ComputationId>> {
    let Node::Loop(Loop { tag: Tag::Combine, body, .. }) = node else { return None };
    inner_loop(body).is_none().then(|| body.computations())
}

/// The only loop of a sequence.
fn inner_loop(body: &Node) -> Option<&Loop> {
    let Node::Sequence(children) = body else { return None };
    let mut loops = children.iter().filter_map(|node| match node {
        Node::Loop(it) => Some(it),
        Node::Sequence(_) | Node::Computation(_) => None,
    });
    loops.next().filter(|_| loops.next().is_none())
}

/// Whether statements of two passes read an array in common.
fn read_alike(algorithm: &Algorithm, terms: &[ComputationId], further: &[ComputationId]) -> bool {
    let read = |ids: &[ComputationId]| -> BTreeSet<ArrayId> {
        let written: Vec<ArrayId> = ids.iter().map(|&id| algorithm.computation(id).write.array).collect();
        let reads = ids.iter().flat_map(|&id| &algorithm.computation(id).reads).map(|it| it.array);
        let lies_in_memory = |array: ArrayId| match algorithm.array(array).kind {
            ArrayKind::Argument | ArrayKind::Local { .. } | ArrayKind::Returned => !written.contains(&array),
            ArrayKind::Private | ArrayKind::Result => false,
        };
        reads.filter(|&array| lies_in_memory(array)).collect()
    };
    !read(terms).is_disjoint(&read(further))
}

/// Whether two statements run for the same values of their iterators.
fn same_instances(algorithm: &Algorithm, one: ComputationId, other: ComputationId) -> Result<bool, Error> {
    let unnamed = |id: ComputationId| -> Result<Set, Error> { Ok(relation::domain(algorithm, id)?.reset_tuple_id()?) };
    Ok(unnamed(one)?.is_equal(&unnamed(other)?)?)
}

/// Two nests of one shape as one, in which the statements of the first come before those of the second.
fn merged(one: &Node, other: &Node) -> Option<Node> {
    match (one, other) {
        (Node::Loop(one), Node::Loop(other)) => {
            let functions = |it: &Loop| -> BTreeSet<Affine> { it.at.values().cloned().collect() };
            let is_unrolled = |it: &Loop| matches!(it.tag, Tag::Sequential | Tag::Unroll(_));
            let alike = one.tag == other.tag || is_unrolled(one) && is_unrolled(other);
            if !alike || functions(one) != functions(other) {
                return None;
            }
            let at = one.at.iter().chain(&other.at).map(|(id, at)| (*id, at.clone())).collect();
            Some(Node::Loop(Loop { at, body: Box::new(merged(&one.body, &other.body)?), ..one.clone() }))
        }
        (Node::Sequence(_) | Node::Computation(_), Node::Sequence(_) | Node::Computation(_)) => {
            let (before, inner, after) = around_loop(one);
            let (further, nest, last) = around_loop(other);
            let middle = match (inner, nest) {
                (Some(inner), Some(nest)) => Some(merged(inner, nest)?),
                (None, None) => None,
                (Some(_), None) | (None, Some(_)) => return None,
            };
            let plain = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Computation(_)));
            let all = [before, further, middle.as_slice(), after, last];
            let outside = [before, further, after, last];
            outside.iter().all(|nodes| plain(nodes)).then(|| Node::Sequence(all.concat()))
        }
        (Node::Loop(_), _) | (_, Node::Loop(_)) => None,
    }
}

/// What stands before a sequence's first loop, that loop, and what stands after it.
fn around_loop(node: &Node) -> (&[Node], Option<&Node>, &[Node]) {
    let children = match node {
        Node::Sequence(children) => children.as_slice(),
        Node::Loop(_) | Node::Computation(_) => std::slice::from_ref(node),
    };
    match children.iter().position(|node| matches!(node, Node::Loop(_))) {
        Some(at) => (&children[..at], Some(&children[at]), &children[at + 1..]),
        None => (children, None, &[]),
    }
}

/// Has a thread ask for as many elements at a time as suits all statements of a pass.
fn load_ahead(algorithm: &Algorithm, pass: &mut Node, terms: &[ComputationId]) {
    match pass {
        Node::Computation(_) => {}
        Node::Sequence(children) => children.iter_mut().for_each(|child| load_ahead(algorithm, child, terms)),
        Node::Loop(it) => {
            if let Tag::Unroll(_) = it.tag {
                let count = ahead(algorithm, terms);
                it.tag = if count > 1 { Tag::Unroll(count) } else { Tag::Sequential };
            }
            load_ahead(algorithm, &mut it.body, terms);
        }
    }
}
