//! Sums that are started, added up and used at one point, on a GPU: one kernel for all three.
//!
//! ```text
//! for j, i { R: a = 0; for k { S: a += A[i, k]*B[k, j] }; T: C[i, j] = a }
//!   -> @block j0, i0 { @thread { R }; for k0 { @thread { for k1 { S } } }; @thread { T } }
//! ```
//!
//! What is added to may be a variable or an element. The loops of `R` and `T` are those of `S` but for the ones that it sums
//! over, so each thread starts and uses the sums that it adds up, which never leave its registers.

use super::chooser::{Chooser, chain_length, loop_at};
use super::profile::{Profiled, Step, iterator_of, step};
use crate::algorithm::{Access, ArrayId, ArrayKind, ComputationId};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::uses;
use std::collections::BTreeSet;

impl Chooser<'_> {
    /// Tiles a nest with one product or sum in it, where the product or sum by itself is one that tiles of shared memory suit.
    pub(super) fn whole_sums(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let Some(Node::Sequence(children)) = schedule.node(&path.down(depth)) else { return Ok(false) };
        let loops: Vec<usize> = (0..children.len()).filter(|&at| matches!(children[at], Node::Loop(_))).collect();
        let (&[at], true) = (loops.as_slice(), depth > 0) else { return Ok(false) };
        let ids = |nodes: &[Node]| nodes.iter().flat_map(Node::computations).collect::<Vec<ComputationId>>();
        let (before, sums, mut after) = (ids(&children[..at]), ids(&children[at..=at]), ids(&children[at + 1..]));
        // What needs the results of other points comes in a nest of its own.
        let with = after.iter().take_while(|&&id| self.uses_alike(&sums, id)).count();
        let rest: BTreeSet<ComputationId> = after.split_off(with).into_iter().collect();
        let others: Vec<ComputationId> = before.iter().chain(&after).copied().collect();
        let around: Vec<Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level)).cloned()).collect();
        let alike = |it: &Loop| it.at.values().all(|at| it.at.values().next() == Some(at));
        if !around.iter().all(alike)
            || !before.iter().all(|&id| self.uses_alike(&sums, id))
            || self.writes_operands(&sums, &others)
            || self.is_variable_of(&sums, &rest)
        {
            return Ok(false);
        }
        // The sums by themselves.
        let only: BTreeSet<ComputationId> = sums.iter().copied().collect();
        let mut alone = schedule.clone();
        let (Some(node), Some(whole)) = (alone.node_mut(path), schedule.node(path)) else { return Ok(false) };
        let (Some(part), apart) = (whole.restricted(&only), whole.restricted(&rest)) else { return Ok(false) };
        *node = part;
        let levels = chain_length(&alone, path);
        self.permute(&mut alone, path, levels)?;
        let parallel = self.parallel_loops(&alone, path, levels)?;
        if !self.tile_product(&mut alone, path, &parallel)? && !self.stage_sums(&mut alone, path, &parallel)? {
            return Ok(false);
        }
        // The others with the same loops around.
        let tiled = chain_length(&alone, path);
        let chain: Vec<Loop> = (0..tiled).filter_map(|level| loop_at(&alone, &path.down(level)).cloned()).collect();
        let (Some(&first), Some(body)) = (sums.first(), alone.node(&path.down(tiled))) else { return Ok(false) };
        let count = self.algorithm.computation(first).iterators.len() as u32;
        let shared = |iterator: u32| around.iter().any(|it| it.at[&first].involves_iterator(iterator));
        let is_shared =
            |it: &Loop| (0..count).all(|iterator| shared(iterator) || !it.at[&first].involves_iterator(iterator));
        let blocks = chain.iter().take_while(|it| matches!(it.tag, Tag::GpuBlock(_))).count();
        if !chain[..blocks].iter().all(is_shared) || !chain.iter().all(alike) {
            return Ok(false);
        }
        let with = |it: &Loop, ids: &[ComputationId], body: Node| {
            let at = ids.iter().map(|&id| (id, it.at[&first].clone())).collect();
            Node::Loop(Loop { at, body: Box::new(body), ..it.clone() })
        };
        let of_threads = |ids: &[ComputationId]| {
            let body = Node::Sequence(ids.iter().copied().map(Node::Computation).collect());
            chain[blocks..].iter().rev().filter(|it| is_shared(it)).fold(body, |body, it| with(it, ids, body))
        };
        let nest = chain[blocks..].iter().rev().fold(body.clone(), |body, it| with(it, &sums, body));
        let parts = [(&before, of_threads(&before)), (&sums, nest), (&after, of_threads(&after))];
        let parts = parts.into_iter().filter(|(ids, _)| !ids.is_empty()).map(|(_, node)| node).collect();
        let all: Vec<ComputationId> = before.iter().chain(&sums).chain(&after).copied().collect();
        let kernel = chain[..blocks].iter().rev().fold(Node::Sequence(parts), |body, it| with(it, &all, body));
        let mut trial = schedule.clone();
        let is_split = apart.is_some();
        if let Some(node) = trial.node_mut(path) {
            *node = match apart {
                Some(apart) => Node::Sequence(vec![kernel, apart]),
                None => kernel,
            };
        }
        if !self.is_legal(&trial, path)? {
            return Ok(false);
        }
        *schedule = trial;
        if is_split {
            self.node(schedule, &path.child(1))?;
        }
        Ok(true)
    }

    /// The parts of what was one nest at `path`, with statements that start the results of `sums`, or use them for their own points, in the
    /// nests of these where that is legal: no kernel is for them alone then.
    pub(super) fn with_starts(&self, apart: Schedule, path: &Path, sums: &[ComputationId]) -> Result<Schedule, Error> {
        let mut joined = apart;
        for (&sum, comes_first) in sums.iter().flat_map(|sum| [(sum, true), (sum, false)]) {
            let Some(Node::Sequence(parts)) = joined.node(path) else { break };
            let own = parts.iter().position(|it| it.computations().contains(&sum));
            let Some(own) = own.filter(|_| parts.len() > 2) else { break };
            let belongs = |at: &usize| self.belongs(&joined, &parts[*at], &parts[own], comes_first);
            let other = if comes_first { (0..own).rev().find(belongs) } else { (own + 1..parts.len()).find(belongs) };
            let Some(other) = other else { continue };
            let Some(node) = inside(&parts[other], &parts[own], comes_first) else { continue };
            let mut all = parts.clone();
            all[own] = node;
            all.remove(other);
            let mut trial = joined.clone();
            if let Some(node) = trial.node_mut(path) {
                *node = Node::Sequence(all);
            }
            if self.is_legal(&trial, path)? {
                joined = trial;
            }
        }
        Ok(joined)
    }

    /// Whether a part with fewer loops than that of sums starts their results, or uses them.
    fn belongs(&self, schedule: &Schedule, part: &Node, sums: &Node, starts: bool) -> bool {
        let (ids, own) = (part.computations(), sums.computations());
        let depth = |ids: &[ComputationId]| ids.iter().map(|&id| schedule.loops_around(id).len()).max();
        let result = |array: ArrayId| own.iter().any(|&id| self.algorithm.computation(id).write.array == array);
        let concerns = |id: &ComputationId| {
            let it = self.algorithm.computation(*id);
            if starts { result(it.write.array) } else { it.reads.iter().any(|read| result(read.array)) }
        };
        depth(&ids) < depth(&own) && ids.iter().all(concerns)
    }

    /// Whether a statement accesses just those results of the sums that belong to its own point.
    fn uses_alike(&self, sums: &[ComputationId], id: ComputationId) -> bool {
        let it = self.algorithm.computation(id);
        let accesses = || it.reads.iter().chain([&it.write]);
        sums.iter().map(|&sum| &self.algorithm.computation(sum).write).all(|result| {
            accesses().filter(|access| access.array == result.array).all(|it| it.subscripts == result.subscripts)
        })
    }

    /// Whether the sums are those of a variable that some of the statements use.
    fn is_variable_of(&self, sums: &[ComputationId], users: &BTreeSet<ComputationId>) -> bool {
        let variables = sums.iter().map(|&sum| self.algorithm.computation(sum).write.array);
        let mut variables = variables.filter(|&array| self.algorithm.array(array).kind == ArrayKind::Private);
        variables.any(|array| users.iter().any(|&id| uses(self.algorithm, id, array)))
    }

    /// Whether the other statements write what the sums read but do not write.
    fn writes_operands(&self, sums: &[ComputationId], others: &[ComputationId]) -> bool {
        let written = |ids: &[ComputationId]| -> BTreeSet<ArrayId> {
            ids.iter().map(|&id| self.algorithm.computation(id).write.array).collect()
        };
        let (results, others) = (written(sums), written(others));
        let reads = sums.iter().flat_map(|&id| &self.algorithm.computation(id).reads).map(|it| it.array);
        reads.filter(|array| !results.contains(array)).any(|array| others.contains(&array))
    }

    /// Where the sums of a variable go in the end, by the loops of the chain at `path` that adds them up: the element that a
    /// statement writes which reads the variable. None if no variable is added to.
    pub(super) fn stored_sums(&self, schedule: &Schedule, path: &Path, depth: usize) -> Option<Profiled<'_>> {
        let body = schedule.node(&path.down(depth))?.computations();
        let &[id] = body.as_slice() else { return None };
        let variable = self.algorithm.computation(id).write.array;
        if self.algorithm.array(variable).kind != ArrayKind::Private {
            return None;
        }
        let (reader, access): (ComputationId, &Access) = self.algorithm.ids().find_map(|reader| {
            let it = self.algorithm.computation(reader);
            let is_last = reader != id && it.reads.iter().any(|read| read.array == variable);
            let is_array = self.algorithm.array(it.write.array).kind != ArrayKind::Private;
            (is_last && is_array).then_some((reader, &it.write))
        })?;
        // The loops around a variable's declaration are the first ones of all statements that use it.
        let shared = self.algorithm.array(variable).rank;
        let steps = (0..depth).map(|level| {
            let (iterator, _) = iterator_of(loop_at(schedule, &path.down(level))?.at.get(&id)?)?;
            Some(if iterator < shared { step(self.algorithm, reader, access, iterator) } else { Step::Stays })
        });
        Some(Profiled { access, is_write: true, steps: steps.collect::<Option<_>>()? })
    }
}

/// A nest with another one, of the first of its loops, inside: before or behind what these loops hold.
fn inside(short: &Node, nest: &Node, comes_first: bool) -> Option<Node> {
    let (Node::Loop(one), Node::Loop(other)) = (short, nest) else { return None };
    let runs_alike = one.at.values().chain(other.at.values()).all(|at| other.at.values().next() == Some(at));
    if one.tag != other.tag || !runs_alike {
        return None;
    }
    let body = match &*one.body {
        Node::Loop(_) => inside(&one.body, &other.body, comes_first)?,
        Node::Sequence(children) if !children.iter().all(|it| matches!(it, Node::Computation(_))) => return None,
        Node::Sequence(_) | Node::Computation(_) => {
            let [first, last] = if comes_first { [&one.body, &other.body] } else { [&other.body, &one.body] };
            let children = |it: &Node| match it {
                Node::Sequence(children) => children.clone(),
                Node::Loop(_) | Node::Computation(_) => vec![it.clone()],
            };
            Node::Sequence([children(first), children(last)].concat())
        }
    };
    let at = one.at.iter().chain(&other.at).map(|(id, at)| (*id, at.clone())).collect();
    Some(Node::Loop(Loop { at, body: Box::new(body), ..other.clone() }))
}
