//! Nests of loops whose iterations tiles are made of.

use super::count::Program;
use super::thin;
use crate::affine::Affine;
use crate::algorithm::ComputationId;
use crate::error::Error;
use crate::isl::Ctx;
use crate::relation;
use crate::schedule::Node;
use std::collections::BTreeMap;

/// More dimensions of space than this are not tiled: the innermost stay whole.
pub(super) const MOST_DIMENSIONS: usize = 3;

/// Computations with their coordinates: time, if it is tiled, and space.
#[derive(Debug, Clone)]
pub(super) struct Band {
    pub(super) computations: Vec<ComputationId>,
    /// For each computation what the loops around it run through: time where there is any, then space.
    pub(super) coordinates: BTreeMap<ComputationId, Vec<Affine>>,
    /// The names of the loops of space.
    pub(super) names: Vec<String>,
    pub(super) has_time: bool,
    /// Computations of which nothing lies in the middle: boundaries.
    pub(super) thin: Vec<ComputationId>,
}

impl Band {
    /// The computations that fill the middle.
    pub(super) fn main(&self) -> impl Iterator<Item = ComputationId> {
        self.computations.iter().copied().filter(|id| !self.thin.contains(id))
    }

    /// Some of the computations, with their coordinates.
    fn of(&self, computations: Vec<ComputationId>) -> Band {
        let coordinates = computations.iter().map(|id| (*id, self.coordinates[id].clone())).collect();
        Band { computations, coordinates, ..self.clone() }
    }
}

/// The bands that stand one after the other at the top of the source's order.
pub(super) fn bands(ctx: &Ctx, program: &Program) -> Result<Vec<Band>, Error> {
    let mut tops = vec![];
    let mut open = vec![&program.algorithm.source_order.root];
    while let Some(node) = open.pop() {
        match node {
            Node::Sequence(children) => open.extend(children.iter().rev()),
            Node::Loop(_) => tops.push(computations(node)),
            Node::Computation(_) => {}
        }
    }
    let mut found = vec![];
    for all in tops {
        let shared = shared_loops(program, &all);
        let fewest = all.iter().map(|&id| loops(program, id).len()).min().unwrap_or(0);
        let timed = fewest >= 2 && carries(program, &all)?;
        let deep = if timed { thin::deep(ctx, program, &all)? } else { None };
        let depth = if timed { fewest } else { shared };
        found.push(deep.unwrap_or_else(|| band(program, all, depth, timed)));
    }
    Ok(found)
}

/// The parts of a band that run one after the other in each time step, each by itself: sweeps over space. Boundaries are left out.
pub(super) fn sweeps(program: &Program, whole: &Band) -> Vec<Band> {
    if !whole.has_time {
        return vec![whole.clone()];
    }
    let mut parts: Vec<(Option<usize>, Vec<ComputationId>)> = vec![];
    for &id in &whole.computations {
        // What comes after the loop over time on the way to the computation: a place in a sequence, or a loop.
        let time = program.algorithm.source_order.loops_around(id)[0].0.child(0);
        let place = match program.algorithm.source_order.node(&time) {
            Some(Node::Sequence(_)) => {
                program.algorithm.source_order.path_of(id).and_then(|path| path.0.get(time.0.len()).copied())
            }
            Some(Node::Loop(_) | Node::Computation(_)) | None => None,
        };
        match parts.iter_mut().find(|(at, _)| *at == place) {
            Some((_, ids)) => ids.push(id),
            None => parts.push((place, vec![id])),
        }
    }
    let sweeps = parts.into_iter().map(|(_, ids)| whole.of(ids));
    sweeps.filter(|sweep| sweep.main().next().is_some()).collect()
}

/// Whether the outermost loop carries a value from one iteration to the next.
fn carries(program: &Program, ids: &[ComputationId]) -> Result<bool, Error> {
    for flow in &program.flows {
        let (from, to) = (flow.source.computation, flow.sink.computation);
        if !ids.contains(&from) || !ids.contains(&to) {
            continue;
        }
        let ctx = flow.relation.ctx();
        let outer = |id| relation::function(ctx, &program.algorithm, id, &loops(program, id)[0].1);
        let distance = flow.relation.apply_domain(&outer(from)?)?.apply_range(&outer(to)?)?.deltas()?;
        if distance.dim_max_val(0)?.is_pos()? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn band(program: &Program, computations: Vec<ComputationId>, depth: usize, has_time: bool) -> Band {
    let depth = depth.min(MOST_DIMENSIONS + usize::from(has_time));
    let names = names(program, computations[0], depth, has_time);
    let coordinates =
        computations.iter().map(|&id| (id, loops(program, id).into_iter().take(depth).map(|(_, at)| at).collect()));
    Band { coordinates: coordinates.collect(), computations, names, has_time, thin: vec![] }
}

/// The names of the first loops around a computation, time left out.
pub(super) fn names(program: &Program, id: ComputationId, depth: usize, has_time: bool) -> Vec<String> {
    loops(program, id).into_iter().take(depth).skip(usize::from(has_time)).map(|(name, _)| name).collect()
}

/// The loops of a band's computations that its tiles leave whole, each name once.
pub(super) fn whole(program: &Program, band: &Band) -> Vec<String> {
    let depth = band.names.len() + usize::from(band.has_time);
    let mut whole: Vec<String> = vec![];
    for id in band.main() {
        for (name, _) in loops(program, id).into_iter().skip(depth) {
            if !whole.contains(&name) {
                whole.push(name);
            }
        }
    }
    whole
}

/// The loops around a computation: their names and what they run through.
pub(super) fn loops(program: &Program, id: ComputationId) -> Vec<(String, Affine)> {
    let around = program.algorithm.source_order.loops_around(id);
    around.into_iter().map(|(_, it)| (it.name.clone(), it.at[&id].clone())).collect()
}

/// How many loops all of them share.
fn shared_loops(program: &Program, ids: &[ComputationId]) -> usize {
    let order = &program.algorithm.source_order;
    let paths = |id| order.loops_around(id).into_iter().map(|(path, _)| path).collect::<Vec<_>>();
    let first = ids.first().map(|&id| paths(id)).unwrap_or_default();
    let shared = |id: &ComputationId| paths(*id).iter().zip(&first).take_while(|(mine, theirs)| mine == theirs).count();
    ids.iter().map(shared).min().unwrap_or(0)
}

fn computations(node: &Node) -> Vec<ComputationId> {
    match node {
        Node::Sequence(children) => children.iter().flat_map(computations).collect(),
        Node::Loop(it) => it.at.keys().copied().collect(),
        Node::Computation(id) => vec![*id],
    }
}
