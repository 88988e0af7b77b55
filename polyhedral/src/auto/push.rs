//! Tiles whose results are passed on as soon as they are there, instead of being fetched where they are needed.
//!
//! ```text
//! for i { for j { R(i, j); for k { S(i, j, k) } } }
//!   -> for wave { parallel for i0 { for j { for k { R(k, j); for i { S(i, j, k) } } } } }
//! ```
//!
//! `S` gathers in `T[i, j]` what other iterations left in `T[k, j]`. Here an iteration of the new loop finishes `T[k, j]`, then gives it to
//! all `T[i, j]` of the tile that need it: these lie side by side, and run on lanes. That changes the order in which an element gathers
//! its parts, which is legal where updates may change places.

use super::chooser::{Chooser, chain_length, loop_at};
use super::profile::iterator_of;
use super::regroup::loops_above;
use crate::affine::Affine;
use crate::algorithm::{AccessRef, ComputationId};
use crate::dependence::{Dependence, Keeps};
use crate::error::Error;
use crate::legality::{self, Progress};
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use std::collections::{BTreeMap, BTreeSet};

/// Iterations of a tile along the loop on lanes, and along the other one.
pub(super) const ON_LANES: u32 = 128;
pub(super) const IN_ORDER: u32 = 64;

/// What an access costs at least that jumps.
const JUMP: i64 = 8;

/// How far an iterator may be from the iteration whose result it names.
const FARTHEST: i64 = 1;

/// What stands in the inner one of two loops: statements, and statements in loops of their own.
struct Parts {
    plain: Vec<ComputationId>,
    /// Each with the function of its loop.
    inner: Vec<(ComputationId, Loop)>,
}

impl Parts {
    fn of(body: &Node) -> Option<Parts> {
        let Node::Sequence(children) = body else { return None };
        let mut parts = Parts { plain: vec![], inner: vec![] };
        for child in children {
            match child {
                Node::Computation(id) => parts.plain.push(*id),
                Node::Loop(it) => match *it.body {
                    Node::Computation(id) if it.tag == Tag::Sequential => parts.inner.push((id, it.clone())),
                    _ => return None,
                },
                Node::Sequence(_) => return None,
            }
        }
        (!parts.plain.is_empty() && !parts.inner.is_empty()).then_some(parts)
    }
}

impl Chooser<'_> {
    /// The level of the two loops at `path` along which the statements of inner loops could run on lanes, if what they find there lies
    /// side by side.
    pub(super) fn lanes_of_push(&self, schedule: &Schedule, path: &Path) -> Option<usize> {
        if chain_length(schedule, path) != 2 {
            return None;
        }
        let parts = Parts::of(schedule.node(&path.down(2))?)?;
        let ids: Vec<ComputationId> = parts.inner.iter().map(|(id, _)| *id).collect();
        let cost = |level: usize| {
            let at = |id: ComputationId| loop_at(schedule, &path.down(level))?.at.get(&id).cloned();
            ids.iter().all(|id| at(*id).is_some()).then(|| self.stride_cost(&ids, at))
        };
        let costs = (0..2).filter_map(|level| Some((cost(level)?, level)));
        costs.filter(|(cost, _)| *cost < JUMP).min().map(|(_, level)| level)
    }

    /// The tiled order with another one inside of the tiles: the loop of `lanes` innermost. `tiled` is a wave, tiles and
    /// points of the two loops at `path` of `schedule`.
    pub(super) fn push(
        &self,
        schedule: &Schedule,
        tiled: &Schedule,
        path: &Path,
        lanes: usize,
    ) -> Result<Option<Schedule>, Error> {
        let Some(parts) = schedule.node(&path.down(2)).and_then(Parts::of) else { return Ok(None) };
        let (Some(order), Some(lanes)) =
            (loop_at(schedule, &path.down(1 - lanes)), loop_at(schedule, &path.down(lanes)))
        else {
            return Ok(None);
        };
        // The loops of the points are just those of the source, outside of all others.
        let points = path.down(2);
        let mut skeleton = tiled.clone();
        let (Some(node), Some(body)) = (skeleton.node_mut(&points), schedule.node(&path.down(2))) else {
            return Ok(None);
        };
        *node = with_body(order, with_body(lanes, body.clone()));
        let waits = self.waits_inside(&skeleton, &points)?;
        let mut chosen: BTreeMap<ComputationId, Affine> = BTreeMap::new();
        for id in &parts.plain {
            chosen.insert(*id, lanes.at[id].clone());
        }
        for (id, inner) in &parts.inner {
            match self.passing(&waits, &chosen, *id, inner)? {
                Some(at) => chosen.insert(*id, at),
                None => return Ok(None),
            };
        }
        let plain = parts.plain.iter().map(|id| Node::Computation(*id));
        let mut inner = vec![];
        for (id, _) in &parts.inner {
            let Some((iterator, _)) = iterator_of(&lanes.at[id]) else { return Ok(None) };
            let written = self.algorithm.computation(*id).write.array;
            let tag = Tag::Vector((self.machine.vector_bytes / self.algorithm.array(written).element.bytes()).max(1));
            let at = BTreeMap::from([(*id, Affine::iterator(iterator))]);
            inner.push(Node::Loop(Loop { name: lanes.name.clone(), tag, at, body: Box::new(Node::Computation(*id)) }));
        }
        let body = Box::new(Node::Sequence(plain.chain(inner).collect()));
        let name = parts.inner[0].1.name.clone();
        let mut trial = skeleton.clone();
        *trial.node_mut(&points).expect("the skeleton has it") =
            with_body(order, Node::Loop(Loop { name, tag: Tag::Sequential, at: chosen, body }));
        Ok((self.is_legal(&trial, path)? && self.has_place(&trial)?).then_some(trial))
    }

    /// What must keep its order in one iteration of the loop at `path`.
    fn waits_inside(&self, schedule: &Schedule, path: &Path) -> Result<Vec<Dependence>, Error> {
        let below: BTreeSet<ComputationId> =
            schedule.node(path).map(Node::computations).unwrap_or_default().into_iter().collect();
        let inside = |at: AccessRef| below.contains(&at.computation);
        let outer = loops_above(schedule, path) + 1;
        let mut found = vec![];
        for it in self.dependences.iter().filter(|it| it.keeps == Keeps::Order && inside(it.source) && inside(it.sink))
        {
            let relation = legality::together(self.ctx, self.algorithm, schedule, it, outer)?;
            if !relation.is_empty()? {
                found.push(Dependence { relation, ..it.clone() });
            }
        }
        Ok(found)
    }

    /// The function of the common loop for a statement of an inner loop, such that no result that it needs comes later; the one that
    /// begins earliest after.
    fn passing(
        &self,
        waits: &[Dependence],
        chosen: &BTreeMap<ComputationId, Affine>,
        id: ComputationId,
        inner: &Loop,
    ) -> Result<Option<Affine>, Error> {
        let Some((iterator, _)) = iterator_of(&inner.at[&id]) else { return Ok(None) };
        for (factor, by) in [1, -1].into_iter().flat_map(|factor| (-FARTHEST..=FARTHEST).map(move |by| (factor, by))) {
            let at = Affine::iterator(iterator).scale(factor)?.add_constant(by)?;
            let function = |of: ComputationId| if of == id { Some(&at) } else { chosen.get(&of) };
            let mut fits = true;
            for it in waits {
                // Others of the inner loops are not chosen yet.
                let ends = function(it.source.computation).zip(function(it.sink.computation));
                let Some((source, sink)) = ends.filter(|_| fits) else { continue };
                fits = legality::progress(self.ctx, self.algorithm, it, source, sink)? != Progress::Backwards;
            }
            if fits {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }
}

fn with_body(it: &Loop, body: Node) -> Node {
    Node::Loop(Loop { body: Box::new(body), ..it.clone() })
}
