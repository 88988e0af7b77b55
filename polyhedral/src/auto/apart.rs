//! Taking nests apart, and giving their statements an outermost loop in common.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::register_tile;
use super::regroup::{self, Grain, loops_above, widest};
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::legality;
use crate::place;
use crate::schedule::{Node, Path, Schedule};
use crate::transform::distribute_at;
use std::collections::BTreeSet;

impl Chooser<'_> {
    /// Takes an imperfect nest apart of which a part accumulates: its results can then stay in registers.
    pub(crate) fn take_sums_apart(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let Some(Node::Sequence(children)) = schedule.node(&path.down(depth)) else { return Ok(false) };
        if !children.iter().any(has_loop) {
            return Ok(false);
        }
        for grain in [Grain::Neighbours, Grain::Statements] {
            let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
            let Some(trial) = apart else { continue };
            let Some(Node::Sequence(parts)) = trial.node(path) else { continue };
            let needs_memory = self.shares_private(parts);
            for part in (0..parts.len()).map(|at| path.child(at)) {
                let Some((shape, _)) = self.shape(&trial, &part)? else { continue };
                let wanted = !needs_memory || (register_tile::is_product(&shape) && self.has_place(&trial)?);
                if wanted && self.is_legal(&trial, path)? {
                    *schedule = trial;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Gives the statements of a nest without a parallel loop an outermost loop that leaves each a parallel nest;
    /// statements that dependences allow to come first or last are taken out of it before, where that helps.
    pub(crate) fn align(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let imperfect = schedule.node(&path.down(depth)).is_some_and(has_loop);
        if !imperfect || !self.parallel_loops(schedule, path, depth)?.is_empty() {
            return Ok(false);
        }
        if let Some(trial) = self.aligned(schedule, path)? {
            *schedule = trial;
            self.node(schedule, &path.down(1))?;
            return Ok(true);
        }
        let grain = Grain::Statements;
        let apart = regroup::take_apart(self.ctx, self.algorithm, schedule, self.dependences, path, grain)?;
        let Some(mut trial) = apart else { return Ok(false) };
        let Some(Node::Sequence(parts)) = trial.node(path) else { return Ok(false) };
        let mut helped = false;
        for part in (0..parts.len()).map(|at| path.child(at)) {
            let imperfect = trial.node(&part.down(chain_length(&trial, &part))).is_some_and(has_loop);
            if imperfect && let Some(aligned) = self.aligned(&trial, &part)? {
                trial = aligned;
                helped = true;
            }
        }
        if !helped || !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
            return Ok(false);
        }
        *schedule = trial;
        self.node(schedule, path)?;
        Ok(true)
    }

    /// The best alignment of the statements at `path`.
    pub(crate) fn aligned(&self, schedule: &Schedule, path: &Path) -> Result<Option<Schedule>, Error> {
        let mut best: Option<(i64, Schedule)> = None;
        for trial in regroup::align(self.ctx, self.algorithm, schedule, self.dependences, path)? {
            if !self.is_legal(&trial, path)? || !self.has_place(&trial)? {
                continue;
            }
            let Some(score) = self.score(&trial, path)? else { continue };
            if best.as_ref().is_none_or(|(most, _)| score > *most) {
                best = Some((score, trial));
            }
        }
        Ok(best.map(|(_, trial)| trial))
    }

    /// How well the statements inside an aligned loop run: parallel loops count, most of all a contiguous one. `None`
    /// if one of the deepest statements has none.
    pub(crate) fn score(&self, schedule: &Schedule, path: &Path) -> Result<Option<i64>, Error> {
        let body = path.down(1);
        let Some(Node::Sequence(children)) = schedule.node(&body) else { return Ok(None) };
        let depths: Vec<usize> = (0..children.len()).map(|at| chain_length(schedule, &body.child(at))).collect();
        let deepest = depths.iter().copied().max().unwrap_or(0);
        let mut score = 0;
        for (at, &depth) in depths.iter().enumerate() {
            let child = body.child(at);
            let weight = if depth == deepest { 10 } else { 1 };
            let parallel = self.parallel_loops(schedule, &child, depth)?;
            let ids = schedule.node(&child).map(Node::computations).unwrap_or_default();
            let cost =
                |level: usize| self.stride_cost(&ids, |id| loop_at(schedule, &child.down(level))?.at.get(&id).cloned());
            let contiguous = parallel.iter().any(|&level| (0..depth).all(|other| cost(level) <= cost(other)));
            if depth == deepest && !contiguous {
                return Ok(None);
            }
            score += weight * (parallel.len() as i64 + 2 * i64::from(contiguous));
        }
        Ok(Some(score))
    }

    /// Distributes an imperfect nest where its parts then reach their contiguous axis.
    pub(crate) fn distribute(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let body_path = path.down(depth);
        let Some(Node::Sequence(children)) = schedule.node(&body_path) else { return Ok(false) };
        let has_loops = children.iter().any(|child| matches!(child, Node::Loop(_)));
        let blocked = children.iter().any(|child| {
            let leaf = child.computations();
            matches!(child, Node::Loop(_))
                && leaf.iter().any(|&id| self.wants_outer_loop_inside(schedule, id, depth, path))
        });
        if !has_loops || !blocked {
            return Ok(false);
        }
        let needs_memory = self.shares_private(children);
        let mut trial = schedule.clone();
        for level in (0..depth).rev() {
            distribute_at(&mut trial, &path.down(level));
        }
        if !self.is_legal(&trial, path)? || (needs_memory && !self.has_place(&trial)?) {
            return Ok(false);
        }
        *schedule = trial;
        Ok(true)
    }

    /// Whether the contiguous axis of a computation is one of the `depth` loops at `path`, not a deeper one.
    pub(crate) fn wants_outer_loop_inside(
        &self,
        schedule: &Schedule,
        id: ComputationId,
        depth: usize,
        path: &Path,
    ) -> bool {
        let around = schedule.loops_around(id);
        let outer = around.iter().filter(|(at, _)| at.0.len() < path.0.len() + depth).count();
        let costs: Vec<i64> =
            around.iter().map(|(_, it)| self.stride_cost(&[id], |id| it.at.get(&id).cloned())).collect();
        let Some(best) = costs.iter().min() else { return false };
        costs[outer..].iter().all(|cost| cost > best)
    }

    /// Whether a private variable is used by more than one of the children.
    pub(crate) fn shares_private(&self, children: &[Node]) -> bool {
        !self.shared_private(children).is_empty()
    }

    /// Whether the children of the sequence at `path` share a private variable whose values do not outlive an iteration of the loops
    /// around as it is, and of which there are as many as of the elements of arrays beside it: it would need as much memory as these. A
    /// variable of each column, say, takes little beside the matrix.
    pub(crate) fn shares_wide_variables(
        &self,
        schedule: &Schedule,
        path: &Path,
        children: &[Node],
    ) -> Result<bool, Error> {
        let outer = loops_above(schedule, path);
        let ids: Vec<ComputationId> = children.iter().flat_map(Node::computations).collect();
        let widest = widest(self.algorithm, &ids);
        for array in self.shared_private(children) {
            if self.algorithm.array(array).rank < widest {
                continue;
            }
            let mut outlives = false;
            for it in self.dependences.iter().filter(|it| it.array == array) {
                // All pairs, for the sizes that the source asserts.
                let all = legality::together(self.ctx, self.algorithm, schedule, it, 0)?;
                let same = legality::together(self.ctx, self.algorithm, schedule, it, outer)?;
                outlives = outlives || !all.is_subset(&same)?;
            }
            if !outlives {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a variable at `path` has memory for more than the arrays beside it have axes: for each time step, say, of a program whose arrays
    /// hold one. Sizes that leave room for the arrays need not leave any for it.
    pub(crate) fn has_wide_variables(&self, schedule: &Schedule, path: &Path) -> Result<bool, Error> {
        let ids = schedule.node(path).map(Node::computations).unwrap_or_default();
        let arrays = |id: ComputationId| {
            let it = self.algorithm.computation(id);
            it.reads.iter().chain([&it.write]).map(|access| access.array)
        };
        // What starts a variable may stand alone.
        let most = |array: ArrayId| {
            let users: Vec<ComputationId> =
                self.algorithm.ids().filter(|&id| arrays(id).any(|it| it == array)).collect();
            widest(self.algorithm, &users)
        };
        let is_wide = |id: &ArrayId| {
            let array = self.algorithm.array(*id);
            array.kind == ArrayKind::Private && array.rank > most(*id)
        };
        let variables: BTreeSet<ArrayId> = ids.iter().flat_map(|&id| arrays(id)).filter(is_wide).collect();
        if variables.is_empty() {
            return Ok(false);
        }
        let scheduled = self.scheduled(schedule);
        for id in variables {
            if place::rank_in_memory(self.ctx, &scheduled, id)? > most(id) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The private variables that more than one of the children uses.
    pub(super) fn shared_private(&self, children: &[Node]) -> BTreeSet<ArrayId> {
        let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for child in children {
            let mut used = BTreeSet::new();
            for id in child.computations() {
                let computation = self.algorithm.computation(id);
                // Of a value that is computed in place, nothing is read any more.
                let is_dead = |it: &&Access| it.within.as_ref().is_some_and(|it| it.is_empty().unwrap_or(false));
                let accesses = computation.reads.iter().filter(|it| !is_dead(it)).chain([&computation.write]);
                let arrays = accesses.map(|access| access.array);
                used.extend(arrays.filter(|&array| self.algorithm.array(array).kind == ArrayKind::Private));
            }
            shared.extend(used.intersection(&seen).copied());
            seen.extend(used);
        }
        shared
    }
}
