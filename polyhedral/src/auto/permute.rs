//! The order of loops directly inside one another.

use super::chooser::{Chooser, loop_at};
use super::profile::{Step, iterator_of, step_along_axes, step_of_whole};
use crate::affine::Affine;
use crate::algorithm::{ArrayKind, ComputationId};
use crate::error::Error;
use crate::layers::Target;
use crate::schedule::{Node, Path, Schedule};
use crate::transform::{put_chain, take_chain};
use std::collections::BTreeSet;

impl Chooser<'_> {
    /// Brings the loop with the most contiguous accesses innermost and parallel loops outermost, where legal.
    pub(crate) fn permute(&self, schedule: &mut Schedule, path: &Path, depth: usize) -> Result<(), Error> {
        if depth < 2 || !matches!(schedule.node(&path.down(depth)), Some(Node::Computation(_) | Node::Sequence(_))) {
            return Ok(());
        }
        let body = schedule.node(&path.down(depth)).map(Node::computations).unwrap_or_default();
        let leaf_only = match schedule.node(&path.down(depth)) {
            Some(Node::Sequence(children)) => children.iter().all(|child| matches!(child, Node::Computation(_))),
            _ => true,
        };
        let parallel: BTreeSet<usize> = self.parallel_loops(schedule, path, depth)?.into_iter().collect();
        let mut order: Vec<usize> = (0..depth).collect();
        if leaf_only {
            let costs: Vec<i64> = (0..depth)
                .map(|level| self.stride_cost(&body, |id| loop_at(schedule, &path.down(level))?.at.get(&id).cloned()))
                .collect();
            let best = (0..depth).rev().min_by_key(|&level| costs[level]).expect("the nest has loops");
            let (serial, free): (Vec<usize>, Vec<usize>) =
                (0..depth).filter(|&level| level != best).partition(|level| !parallel.contains(level));
            let contiguous_outside = self.target == Target::Gpu && parallel.contains(&best);
            order = match contiguous_outside {
                true => free.into_iter().chain([best]).chain(serial).collect(),
                false => free.into_iter().chain(serial).chain([best]).collect(),
            };
        } else if let Some(&first) = parallel.iter().next() {
            order.remove(first);
            order.insert(0, first);
        }
        let identity: Vec<usize> = (0..depth).collect();
        // A full reordering first; then just the contiguous axis inwards.
        let mut inward = identity.clone();
        if let Some(&last) = order.last() {
            inward.retain(|&level| level != last);
            inward.push(last);
        }
        for candidate in [order, inward] {
            if candidate == identity {
                return Ok(());
            }
            let mut trial = schedule.clone();
            let chain = take_chain(&mut trial, path, depth);
            let moved = candidate.iter().map(|&level| chain[level].clone()).collect();
            put_chain(&mut trial, path, moved);
            if self.is_legal(&trial, path)? {
                *schedule = trial;
                return Ok(());
            }
        }
        Ok(())
    }

    /// How badly accesses stride when a loop runs innermost: 0 for contiguous or invariant, 1 and up for jumps.
    pub(crate) fn stride_cost(&self, body: &[ComputationId], at: impl Fn(ComputationId) -> Option<Affine>) -> i64 {
        let mut cost = 0;
        for &id in body {
            let Some((iterator, _)) = at(id).and_then(|affine| iterator_of(&affine)) else { continue };
            let computation = self.algorithm.computation(id);
            for (access, weight) in computation.reads.iter().map(|read| (read, 2)).chain([(&computation.write, 3)]) {
                if self.algorithm.array(access.array).kind == ArrayKind::Private {
                    continue;
                }
                cost += match step_along_axes(self.algorithm, id, access, iterator) {
                    Step::Next | Step::Back => 0,
                    Step::Stays => 1,
                    // From one complex number to the next.
                    Step::Jumps if step_of_whole(self.algorithm, id, access, iterator) == Step::Next => weight,
                    Step::Jumps => 4 * weight,
                };
            }
        }
        cost
    }
}
