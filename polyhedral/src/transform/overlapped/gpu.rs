//! Tiles as thread blocks: the time loop runs inside of the kernel, and its statements' places are shared by the threads.

use super::region::Regions;
use super::stencil::{Place, Stencil};
use crate::affine::Affine;
use crate::error::Error;
use crate::schedule::{Loop, Node, ProcessorAxis, Tag};
use crate::storage::private::LoopHead;
use std::collections::BTreeMap;

const AXES: [ProcessorAxis; 3] = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];

/// The threads that a block has at most.
const THREADS: i64 = 256;

/// The threads along each axis: as many as the widest region along the first one, up to a limit, and so on.
pub(super) fn team(stencil: &Stencil<'_>, regions: &Regions) -> BTreeMap<ProcessorAxis, i64> {
    let mut widths: BTreeMap<u32, i64> = BTreeMap::new();
    for places in stencil.places.values() {
        for (place, &size) in places.iter().zip(&regions.sizes) {
            if let Place::Axis(axis) = place {
                widths.insert(*axis, size);
            }
        }
    }
    let (mut team, mut left) = (BTreeMap::new(), THREADS);
    for (number, (axis, width)) in widths.into_iter().enumerate() {
        let Some(processor) = AXES.get(axis as usize) else { continue };
        let most = if number == 0 { 64.min(left) } else { left };
        let count = width.clamp(1, most.max(1));
        left /= count;
        team.insert(*processor, count);
    }
    team
}

/// The tag of a tile loop, counted from the innermost.
pub(super) fn block(from_innermost: usize) -> Tag {
    AXES.get(from_innermost).map_or(Tag::Sequential, |axis| Tag::GpuBlock(*axis))
}

/// The loops through an array, all of its elements shared by blocks of threads.
pub(super) fn walk(axes: &[(String, Affine)], team: &BTreeMap<ProcessorAxis, i64>) -> Result<Vec<LoopHead>, Error> {
    let (mut blocks, mut threads, mut rest) = (vec![], vec![], vec![]);
    for (axis, (name, place)) in axes.iter().enumerate().rev() {
        match AXES.get(axis).and_then(|it| Some((*it, *team.get(it)?))) {
            Some((it, count)) => {
                blocks.push((format!("{name}0"), Tag::GpuBlock(it), place.floor_div(count)));
                threads.push((format!("{name}1"), Tag::GpuThread(it), place.modulo(count)?));
            }
            None => rest.push((name.clone(), Tag::Sequential, place.clone())),
        }
    }
    blocks.extend(threads);
    blocks.extend(rest);
    Ok(blocks)
}

/// The time loop with the places of each step shared by the threads.
pub(super) fn spread(
    stencil: &Stencil<'_>,
    regions: &Regions,
    team: &BTreeMap<ProcessorAxis, i64>,
    mut time: Loop,
) -> Result<Loop, Error> {
    *time.body = spread_node(stencil, regions, team, *time.body)?;
    Ok(time)
}

fn spread_node(
    stencil: &Stencil<'_>,
    regions: &Regions,
    team: &BTreeMap<ProcessorAxis, i64>,
    node: Node,
) -> Result<Node, Error> {
    let mut chain: Vec<Loop> = vec![];
    let mut node = node;
    while let Node::Loop(mut it) = node {
        node = std::mem::replace(&mut *it.body, Node::Sequence(vec![]));
        chain.push(it);
    }
    if chain.is_empty() {
        return match node {
            Node::Sequence(children) => {
                let all = children.into_iter().map(|child| spread_node(stencil, regions, team, child));
                Ok(Node::Sequence(all.collect::<Result<_, _>>()?))
            }
            other @ (Node::Loop(_) | Node::Computation(_)) => Ok(other),
        };
    }
    let (mut threads, mut rounds, mut rest) = (vec![], vec![], vec![]);
    for it in chain {
        match dimension_of(stencil, &it) {
            None => rest.push(it),
            Some(dimension) => {
                let [below, above] = regions.widest(dimension);
                let width = regions.sizes[dimension] + below + above;
                let axis = stencil.axis(dimension).unwrap_or(0) as usize;
                let Some((processor, count)) = AXES.get(axis).and_then(|it| Some((*it, *team.get(it)?))) else {
                    rest.push(it);
                    continue;
                };
                let (mut turns, mut own) = (BTreeMap::new(), BTreeMap::new());
                for &id in it.at.keys() {
                    let tile = stencil.algorithm.computation(id).iterators.len() + 1 + dimension;
                    let low = regions.low(dimension, tile as u32)?.add_constant(-below)?;
                    let place = stencil.position(id, dimension).sub(&low)?;
                    own.insert(id, if width <= count { place.clone() } else { place.modulo(count)? });
                    turns.insert(id, place.floor_div(count));
                }
                let body = || Box::new(Node::Sequence(vec![]));
                let split = width > count;
                let name = if split { format!("{}1", it.name) } else { it.name.clone() };
                threads.push((processor, Loop { name, tag: Tag::GpuThread(processor), at: own, body: body() }));
                if split {
                    // `i0` is the loop over tiles.
                    rounds.push(Loop { name: format!("{}2", it.name), tag: Tag::Sequential, at: turns, body: body() });
                }
            }
        }
    }
    threads.sort_by_key(|(processor, _)| std::cmp::Reverse(*processor));
    let heads = threads.into_iter().map(|(_, it)| it).chain(rounds).chain(rest);
    Ok(heads
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .fold(node, |body, it| Node::Loop(Loop { body: Box::new(body), ..it })))
}

/// The dimension of space that a loop runs through, for all statements below.
fn dimension_of(stencil: &Stencil<'_>, it: &Loop) -> Option<usize> {
    (0..stencil.dimensions()).find(|&dimension| {
        it.at
            .iter()
            .all(|(&id, at)| stencil.position(id, dimension).sub(at).is_ok_and(|apart| apart.as_constant().is_some()))
    })
}
