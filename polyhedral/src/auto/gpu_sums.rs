//! Sums that are started, added up and used at one point, on a GPU: one kernel for all three.
//!
//! ```text
//! for j, i { R: a = 0; for k { S: a += A[i, k]*B[k, j] }; T: C[i, j] = a }
//!   -> @block j0, i0 { @thread { R }; for k0 { @thread { for k1 { S } } }; @thread { T } }
//! ```
//!
//! What is added to may be a variable or an element. The loops of `R` and `T` are those of `S` but for the ones that it sums
//! over, so each thread starts and uses the sums that it adds up, which never leave its registers.

use super::chooser::{Chooser, chain_length, has_loop, loop_at};
use super::profile::{Profiled, Step, iterator_of, step};
use crate::affine::Affine;
use crate::algorithm::{Access, Algorithm, ArrayId, ArrayKind, ComputationId, Subscript};
use crate::error::Error;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::uses;
use std::collections::{BTreeMap, BTreeSet};

impl Chooser<'_> {
    /// Tiles a nest with one product or sum in it, where the product or sum by itself is one that tiles of shared memory suit.
    pub(super) fn whole_sums(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let depth = chain_length(schedule, path);
        let Some(Node::Sequence(children)) = schedule.node(&path.down(depth)) else { return Ok(false) };
        let loops: Vec<usize> = (0..children.len()).filter(|&at| matches!(children[at], Node::Loop(_))).collect();
        let (&[at], true) = (loops.as_slice(), depth > 0) else { return Ok(false) };
        let ids = |nodes: &[Node]| nodes.iter().flat_map(Node::computations).collect::<Vec<ComputationId>>();
        let (before, sums, mut after) = (ids(&children[..at]), ids(&children[at..=at]), ids(&children[at + 1..]));
        let around: Vec<Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level)).cloned()).collect();
        let alike = |it: &Loop| it.at.values().all(|at| it.at.values().next() == Some(at));
        let Some(&first) = sums.first() else { return Ok(false) };
        let Some(own) = iterators_of(&around, self.algorithm, (first, &sums)) else { return Ok(false) };
        // What needs the results of other points comes in a nest of its own.
        let with = after.iter().take_while(|&&id| self.uses_alike(&sums, id, own.get(&id))).count();
        let rest: BTreeSet<ComputationId> = after.split_off(with).into_iter().collect();
        let others: Vec<ComputationId> = before.iter().chain(&after).copied().collect();
        if !before.iter().all(|&id| self.uses_alike(&sums, id, own.get(&id)))
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
        let Some(body) = alone.node(&path.down(tiled)) else { return Ok(false) };
        let count = self.algorithm.computation(first).iterators.len() as u32;
        let shared = |iterator: u32| around.iter().any(|it| it.at[&first].involves_iterator(iterator));
        let is_shared =
            |it: &Loop| (0..count).all(|iterator| shared(iterator) || !it.at[&first].involves_iterator(iterator));
        let blocks = chain.iter().take_while(|it| matches!(it.tag, Tag::GpuBlock(_))).count();
        if !chain[..blocks].iter().all(is_shared) || !chain.iter().all(alike) {
            return Ok(false);
        }
        let with = |it: &Loop, ids: &[ComputationId], body: Node| -> Result<Node, Error> {
            let at = |&id: &ComputationId| match own.get(&id) {
                Some(own) => Ok((id, it.at[&first].substitute(own)?)),
                None => Ok((id, it.at[&first].clone())),
            };
            let at = ids.iter().map(at).collect::<Result<_, Error>>()?;
            Ok(Node::Loop(Loop { at, body: Box::new(body), ..it.clone() }))
        };
        let of_threads = |ids: &[ComputationId]| {
            let body = Node::Sequence(ids.iter().copied().map(Node::Computation).collect());
            chain[blocks..].iter().rev().filter(|it| is_shared(it)).try_fold(body, |body, it| with(it, ids, body))
        };
        let nest = chain[blocks..].iter().rev().try_fold(body.clone(), |body, it| with(it, &sums, body))?;
        let parts = [(&before, of_threads(&before)?), (&sums, nest), (&after, of_threads(&after)?)];
        let parts = parts.into_iter().filter(|(ids, _)| !ids.is_empty()).map(|(_, node)| node).collect();
        let all: Vec<ComputationId> = before.iter().chain(&sums).chain(&after).copied().collect();
        let kernel = chain[..blocks].iter().rev().try_fold(Node::Sequence(parts), |body, it| with(it, &all, body))?;
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

    /// Brings nests that start sums, such as `q .= 0`, into the nest after them that adds these up, at the sequence at `path`:
    ///
    /// ```text
    /// for i { R: q[i] = 0 }; for j, i { S: q[i] += A[i, j]*p[j] }  ->  for i { R; for j { S } }
    /// ```
    ///
    /// where [`Self::whole_sums`] then makes one kernel of both.
    pub(crate) fn join_starts(&self, schedule: &mut Schedule, path: &Path) -> Result<(), Error> {
        let mut at = 0;
        while let Some(Node::Sequence(children)) = schedule.node(path)
            && at + 1 < children.len()
        {
            match self.started(schedule, path, at)? {
                Some(joined) => *schedule = joined,
                None => at += 1,
            }
        }
        Ok(())
    }

    /// The schedule with the child `at` of the sequence at `path`, which starts the sums of the next one, in the nest of these.
    fn started(&self, schedule: &Schedule, path: &Path, at: usize) -> Result<Option<Schedule>, Error> {
        let (short, nest) = (path.child(at), path.child(at + 1));
        let (Some(starts), Some(sums)) = (self.open_chain(schedule, &short), self.open_chain(schedule, &nest)) else {
            return Ok(None);
        };
        let &[sum] = sums.1.as_slice() else { return Ok(None) };
        let result = &self.algorithm.computation(sum).write;
        // By loop of the sums: that of the statements which start them.
        let mut shared: Vec<Option<usize>> = vec![None; sums.0.len()];
        for &id in &starts.1 {
            let write = &self.algorithm.computation(id).write;
            if write.array != result.array || self.algorithm.computation(id).predicate.is_some() {
                return Ok(None);
            }
            for (own, other) in write.subscripts.iter().zip(&result.subscripts) {
                let moved = |it: &Subscript| it.as_affine().and_then(Affine::as_iterator).map(Affine::iterator);
                let level =
                    |chain: &[Loop], id: ComputationId, it: Affine| chain.iter().position(|at| at.at[&id] == it);
                let Some((own, other)) = moved(own).zip(moved(other)) else { return Ok(None) };
                let Some((own, other)) = level(&starts.0, id, own).zip(level(&sums.0, sum, other)) else {
                    return Ok(None);
                };
                if *shared[other].get_or_insert(own) != own {
                    return Ok(None);
                }
            }
        }
        let (of_sums, of_terms): (Vec<usize>, Vec<usize>) = (0..sums.0.len()).partition(|&it| shared[it].is_some());
        if of_sums.len() != starts.0.len() || of_terms.is_empty() {
            return Ok(None);
        }
        let around = |it: usize| &starts.0[shared[it].expect("these loops are shared")];
        let terms = of_terms
            .iter()
            .rev()
            .fold(Node::Computation(sum), |body, &it| Node::Loop(Loop { body: Box::new(body), ..sums.0[it].clone() }));
        let all = starts.1.iter().copied().map(Node::Computation).chain([terms]).collect();
        let joined = of_sums.iter().rev().fold(Node::Sequence(all), |body, &it| {
            let at = around(it).at.iter().chain(&sums.0[it].at).map(|(id, at)| (*id, at.clone())).collect();
            Node::Loop(Loop { at, body: Box::new(body), ..sums.0[it].clone() })
        });
        let mut trial = schedule.clone();
        let Some(Node::Sequence(children)) = trial.node_mut(path) else { return Ok(None) };
        children[at] = joined;
        children.remove(at + 1);
        let suits = self.is_legal(&trial, path)? && self.whole_sums(&mut trial.clone(), &short)?;
        Ok(suits.then_some(trial))
    }

    /// The loops of a chain that nothing has ordered, and the statements below, which have no loops of their own.
    fn open_chain(&self, schedule: &Schedule, path: &Path) -> Option<(Vec<Loop>, Vec<ComputationId>)> {
        let depth = chain_length(schedule, path);
        let chain: Vec<Loop> = (0..depth).filter_map(|level| loop_at(schedule, &path.down(level)).cloned()).collect();
        let body = schedule.node(&path.down(depth))?;
        let is_open = |it: &Loop| it.tag == Tag::Sequential && !self.is_settled(it) && !self.is_tagged(it);
        let is_plain = !chain.is_empty() && chain.iter().all(is_open) && !has_loop(body);
        (is_plain && !self.is_ranged(schedule, path)).then(|| (chain, body.computations()))
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

    /// Whether a statement accesses just those results of the sums that belong to its own point; `own` is what iterators of the sums are
    /// for it, if they are not the same.
    fn uses_alike(&self, sums: &[ComputationId], id: ComputationId, own: Option<&Vec<Affine>>) -> bool {
        let it = self.algorithm.computation(id);
        let accesses = || it.reads.iter().chain([&it.write]);
        let is_own = |access: &Subscript, result: &Subscript| match (own, access.as_affine(), result.as_affine()) {
            (Some(own), Some(access), Some(result)) => result.substitute(own).is_ok_and(|result| result == *access),
            (_, _, _) => access == result,
        };
        sums.iter().map(|&sum| &self.algorithm.computation(sum).write).all(|result| {
            accesses().filter(|access| access.array == result.array).all(|access| {
                access.subscripts.iter().zip(&result.subscripts).all(|(access, result)| is_own(access, result))
            })
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

/// By statement beside the sums, in loops that it has in common with them: what the iterators of the first sum are for it. `None` where a loop
/// runs over something else than one of these, and not alike.
fn iterators_of(
    around: &[Loop],
    algorithm: &Algorithm,
    (first, sums): (ComputationId, &[ComputationId]),
) -> Option<BTreeMap<ComputationId, Vec<Affine>>> {
    if around.iter().all(|it| it.at.values().all(|at| *at == it.at[&first])) {
        return Some(BTreeMap::new());
    }
    if !around.iter().all(|it| sums.iter().all(|id| it.at[id] == it.at[&first])) {
        return None;
    }
    let mut all = BTreeMap::new();
    for it in around {
        let iterator = it.at[&first].as_iterator()? as usize;
        for (&id, at) in it.at.iter().filter(|(id, _)| !sums.contains(id)) {
            let count = algorithm.computation(first).iterators.len();
            // Loops over terms are around the sums alone.
            let own = all.entry(id).or_insert_with(|| vec![Affine::constant(0); count]);
            own[iterator] = at.clone();
        }
    }
    Some(all)
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
