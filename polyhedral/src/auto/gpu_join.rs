//! One kernel for neighbouring nests that touch the same elements at the same points.
//!
//! ```text
//! for j, i { R: a[i, j] = f(b[i, j]) }; for j, i { S: c[i, j] = g(a[i, j]) }  ->  for j, i { R; S }
//! ```
//!
//! What the second nest would read again is in a thread's registers then. Nests are joined only if all their loops are the same, but for
//! [`BORDER`] iterations at each end, and run in any order, before and after, so that no thread is lost. Where their loops stand in different
//! orders, each is first brought into the one that the choice would give it alone.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use crate::affine::Affine;
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::isl::{Map, Set};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule};
use std::collections::BTreeSet;

/// The most statements, and the most arrays, of what is joined: a thread has a value of each at a time.
const LIMIT: usize = 16;

/// So many iterations at the ends of a loop one nest may have and the other one not: the borders of an array.
const BORDER: i64 = 4;

/// An element as a function of the loops around.
type Place = (ArrayId, Vec<Affine>);

impl Chooser<'_> {
    /// Joins children of the sequence at `path` for a GPU.
    pub(crate) fn join_kernels(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let mut at = 0;
        while let Some(Node::Sequence(children)) = schedule.node(path)
            && at + 1 < children.len()
        {
            let joined = match self.joined_kernels(schedule, path, at)? {
                None => self.joined_grids(schedule, path, at)?,
                joined => joined,
            };
            match joined {
                Some(joined) => *schedule = joined,
                None => at += 1,
            }
        }
        Ok(())
    }

    /// The schedule with the child `at` of the sequence at `path` and the next one as one nest.
    fn joined_kernels(&self, schedule: &Schedule, path: &Path, at: usize) -> Result<Option<Schedule>, Error> {
        let (first, second) = (path.child(at), path.child(at + 1));
        let depth = chain_length(schedule, &first);
        if depth == 0 || depth != chain_length(schedule, &second) {
            return Ok(None);
        }
        let mut below: Vec<Vec<ComputationId>> = vec![];
        for nest in [&first, &second] {
            let (Some(outermost), Some(body)) = (loop_at(schedule, nest), schedule.node(&nest.down(depth))) else {
                return Ok(None);
            };
            if self.is_settled(outermost)
                || self.is_tagged(outermost)
                || has_loop(body)
                || self.is_ranged(schedule, nest)
            {
                return Ok(None);
            }
            below.push(body.computations());
        }
        if let Some(joined) = self.as_one(schedule, path, at, (&below[0], &below[1]))? {
            return Ok(Some(joined));
        }
        if !self.share_arrays(&below[0], &below[1]) {
            return Ok(None);
        }
        let mut turned = schedule.clone();
        self.permute(&mut turned, &first, depth)?;
        self.permute(&mut turned, &second, depth)?;
        if turned == *schedule {
            return Ok(None);
        }
        self.as_one(&turned, path, at, (&below[0], &below[1]))
    }

    /// The same for loops that are the first one's and the second one's in order.
    fn as_one(
        &self,
        schedule: &Schedule,
        path: &Path,
        at: usize,
        below: (&[ComputationId], &[ComputationId]),
    ) -> Result<Option<Schedule>, Error> {
        if !self.saves_bytes(schedule, path, below) || !self.near_instances(schedule, &[below.0, below.1].concat())? {
            return Ok(None);
        }
        let (first, second) = (path.child(at), path.child(at + 1));
        let depth = chain_length(schedule, &first);
        let mut trial = schedule.clone();
        let Some(Node::Sequence(children)) = trial.node_mut(path) else { return Ok(None) };
        let next = children.remove(at + 1);
        let joined = merged(std::mem::replace(&mut children[at], Node::Sequence(vec![])), next);
        children[at] = joined;
        let fits = self.parallel_loops(&trial, &first, depth)?.len() == depth
            && self.keeps_vectors((schedule, [&first, &second]), (&trial, &first), depth)?
            && self.has_place(&trial)?;
        Ok(fits.then_some(trial))
    }

    /// Whether both nests touch an array that is no variable.
    fn share_arrays(&self, first: &[ComputationId], second: &[ComputationId]) -> bool {
        let arrays = |ids: &[ComputationId]| -> BTreeSet<ArrayId> {
            let all = ids.iter().map(|&id| self.algorithm.computation(id));
            let all = all.flat_map(|it| it.reads.iter().chain([&it.write])).map(|it| it.array);
            all.filter(|&array| self.algorithm.array(array).kind != ArrayKind::Private).collect()
        };
        !arrays(first).is_disjoint(&arrays(second))
    }

    /// Whether both nests touch the same elements of an array that is as large as any of theirs.
    fn saves_bytes(
        &self,
        schedule: &Schedule,
        path: &Path,
        (first, second): (&[ComputationId], &[ComputationId]),
    ) -> bool {
        let places = |ids: &[ComputationId]| -> Option<BTreeSet<Place>> {
            let each: Option<Vec<Vec<Place>>> = ids.iter().map(|&id| self.places(schedule, id)).collect();
            each.map(|it| it.concat().into_iter().collect())
        };
        let (Some(one), Some(other)) = (places(first), places(second)) else { return false };
        let outer = schedule.loops_around(first[0]).iter().filter(|(at, _)| at.0.len() < path.0.len()).count() as u32;
        let axes = |(_, place): &Place| {
            let deepest = place.iter().map(Affine::iterator_count).max().unwrap_or(0);
            (outer..deepest).filter(|&level| place.iter().any(|it| it.involves_iterator(level))).count()
        };
        let most = one.iter().chain(&other).map(axes).max().unwrap_or(0);
        let arrays: BTreeSet<ArrayId> = one.iter().chain(&other).map(|(array, _)| *array).collect();
        let few = first.len() + second.len() <= LIMIT && arrays.len() <= LIMIT;
        few && most > 0 && one.intersection(&other).any(|it| axes(it) == most)
    }

    /// The elements of arrays that an instance touches; `None` if loops are more than its iterators, or a subscript is computed.
    fn places(&self, schedule: &Schedule, id: ComputationId) -> Option<Vec<Place>> {
        let computation = self.algorithm.computation(id);
        let around = schedule.loops_around(id);
        let level = |iterator: usize| {
            let at = around.iter().position(|(_, it)| it.at[&id] == Affine::iterator(iterator as u32))?;
            Some(Affine::iterator(at as u32))
        };
        let levels: Vec<Affine> = (0..computation.iterators.len()).map(level).collect::<Option<_>>()?;
        if levels.len() != around.len() {
            return None;
        }
        let is_array = |it: &&Access| self.algorithm.array(it.array).kind != ArrayKind::Private;
        let place = |access: &Access| {
            let subscripts = access.subscripts.iter().map(|it| it.as_affine()?.substitute(&levels).ok());
            Some((access.array, subscripts.collect::<Option<Vec<_>>>()?))
        };
        computation.reads.iter().chain([&computation.write]).filter(is_array).map(place).collect()
    }

    /// Whether the loops around all of these computations take the same values, but for some at their ends.
    fn near_instances(&self, schedule: &Schedule, ids: &[ComputationId]) -> Result<bool, Error> {
        let mut all: Option<Set> = None;
        for &id in ids {
            let each: Vec<Affine> = schedule.loops_around(id).iter().map(|(_, it)| it.at[&id].clone()).collect();
            let domain = relation::domain(self.algorithm, id)?;
            let next = relation::functions(self.ctx, self.algorithm, id, &each)?.intersect_domain(&domain)?.range()?;
            match &all {
                Some(known) if !known.is_equal(&next)? && !self.are_near(known, &next, each.len())? => {
                    return Ok(false);
                }
                Some(_) => {}
                None => all = Some(next),
            }
        }
        Ok(true)
    }

    /// Whether each place of one set has one of the other next to it, along all axes, where both have places. Every other place of a line,
    /// and all others, are not near: threads would do one or the other.
    fn are_near(&self, one: &Set, other: &Set, axes: usize) -> Result<bool, Error> {
        if one.involves_locals()? || other.involves_locals()? {
            return Ok(false);
        }
        let names = |mark: &str| (0..axes).map(|axis| format!("i{axis}{mark}")).collect::<Vec<_>>().join(", ");
        let near = (0..axes).map(|axis| format!("-{BORDER} <= i{axis} - i{axis}_ <= {BORDER}"));
        let near = near.collect::<Vec<_>>().join(" and ");
        let around = Map::from_text(self.ctx, &format!("{{ [{}] -> [{}] : {near} }}", names(""), names("_")))?;
        let (one, other) = (one.intersect_params(&other.params()?)?, other.intersect_params(&one.params()?)?);
        Ok(one.is_subset(&other.apply(&around)?)? && other.is_subset(&one.apply(&around)?)?)
    }

    /// Whether threads move vectors in the joined nest if they do in one of the two.
    fn keeps_vectors(
        &self,
        (schedule, nests): (&Schedule, [&Path; 2]),
        (trial, joined): (&Schedule, &Path),
        depth: usize,
    ) -> Result<bool, Error> {
        let moves = |schedule: &Schedule, nest: &Path| -> Result<bool, Error> {
            let (x, y) = (nest.down(depth - 1), depth.checked_sub(2).map(|level| nest.down(level)));
            Ok(self.vector_points(schedule, (y.as_ref(), &x), &nest.down(depth))?.is_some())
        };
        Ok(moves(trial, joined)? || !(moves(schedule, nests[0])? || moves(schedule, nests[1])?))
    }
}

/// Two chains of as many loops as one.
fn merged(first: Node, second: Node) -> Node {
    match (first, second) {
        (Node::Loop(first), Node::Loop(second)) => {
            let at = first.at.into_iter().chain(second.at).collect();
            Node::Loop(Loop { at, body: Box::new(merged(*first.body, *second.body)), ..first })
        }
        (first, second) => {
            let parts = |node: Node| match node {
                Node::Sequence(children) => children,
                other @ (Node::Loop(_) | Node::Computation(_)) => vec![other],
            };
            Node::Sequence(parts(first).into_iter().chain(parts(second)).collect())
        }
    }
}
