//! Reductions in a free order of which a GPU has few beside one another: a block adds up each, where a thread would be alone with its terms.
//!
//! ```text
//! for j { R: a = 0; for i { S: a += A[i, j] }; T: out[j] = a }
//!   -> if n > limit { the same } else { @block j { R; @combine t { P = -0.0; for i0 { P += A[.., j] }; a += P }; T } }
//! ```
//!
//! The statements are cut by the condition ([`crate::transform::pieces_by_size`]), so that both kernels are proved like any other two.
//! Where many sums run beside one another, a thread each is better: nothing is combined, and no block idles over a few terms.
//! Only sums over elements of an array that each belong to one term have blocks: products and filters have orders of their own.

use super::partial_sums::{Parted, THREADS, ahead};
use crate::affine::Affine;
use crate::algorithm::{ArrayKind, ComputationId};
use crate::command::Command;
use crate::condition::{Condition, greater};
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::reduction::{UpdateOrder, reduction};
use crate::relation;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Tag};
use crate::transform::{Pieces, of_pieces, simplify};
use std::collections::BTreeSet;

/// Sums that have a block each, however few terms they have: a large GPU runs as many blocks at a time.
const BLOCKS: i64 = 1 << 10;
/// Where the threads of a block read neighbours, so many more blocks are worth it for each further term.
const MORE: i64 = 16;
/// A known number of terms below this is not worth a block.
const TERMS: i64 = 4 * THREADS as i64;
/// Axes of the grid, for loops from the innermost one outwards.
const AXES: [ProcessorAxis; 3] = [ProcessorAxis::X, ProcessorAxis::Y, ProcessorAxis::Z];

/// Sums beside one another.
struct Sums {
    path: Path,
    /// The loops whose iterations have sums of their own, outermost first; the first stands at `path`.
    loops: Vec<String>,
    /// What adds up, by nests.
    of: Vec<Vec<ComputationId>>,
}

/// The lengths of loops inside one another.
struct Lengths {
    /// The product of those that are numbers.
    known: i64,
    /// How many others there are.
    unknown: u32,
    /// The sum of these.
    sum: Affine,
}

/// How many sums there are.
enum Count {
    Few,
    Many,
    /// Many where this is above that.
    Varies(Affine, i64),
}

impl Parted {
    /// Gives a block to each of the sums that a reduction is one of, for sizes that make few of them. Gives the names of all that
    /// add up in the same loops; `None` if they have no such form.
    pub(super) fn few_sums(&mut self, ctx: &Ctx, name: &str) -> Result<Option<Vec<String>>, Error> {
        self.sums_outside(ctx, name)?;
        let Some(sums) = self.sums(ctx, name)? else { return Ok(None) };
        let of = match self.count(ctx, &sums)? {
            Count::Few => sums.of.clone(),
            Count::Many => return Ok(None),
            Count::Varies(all, most) => {
                let condition = greater(&self.scheduled.algorithm, &all, most);
                let Some(pieces) = self.cut(ctx, &sums.path, &condition)? else { return Ok(None) };
                let of_few = |nest: &Vec<ComputationId>| nest.iter().map(|id| pieces[id]).collect();
                sums.of.iter().map(of_few).collect()
            }
        };
        for nest in &of {
            if !self.share(ctx, nest, &sums.loops)? {
                return Ok(None);
            }
        }
        let name = |id: ComputationId| self.scheduled.algorithm.computation(id).name.clone();
        let (done, own) = (sums.of.concat().into_iter().map(name).collect(), name(of[0][0]));
        for (at, axis) in sums.loops.iter().rev().zip(AXES) {
            self.tag(&own, at, Tag::GpuBlock(axis));
        }
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        Ok(legality::is_legal(ctx, algorithm, schedule, &self.dependences)?.then_some(done))
    }

    /// Which of the loops around a reduction are parallel, outermost first.
    pub(super) fn parallel(&self, ctx: &Ctx, name: &str) -> Result<Vec<bool>, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        let is_parallel = |path: &Path| -> Result<bool, Error> {
            let mut trial = schedule.clone();
            if let Some(Node::Loop(it)) = trial.node_mut(path) {
                it.tag = Tag::Parallel;
            }
            self.chooser(ctx).is_legal(&trial, path)
        };
        around.iter().map(|(path, _)| is_parallel(path)).collect()
    }

    /// Brings parallel loops out of those that add up.
    fn sums_outside(&mut self, ctx: &Ctx, name: &str) -> Result<(), Error> {
        let mut parallel = self.parallel(ctx, name)?;
        let own = parallel.len() - self.own(name).len();
        while let Some(at) = (own + 1..parallel.len()).find(|&at| parallel[at] && !parallel[at - 1]) {
            let loops = self.loops(name);
            self.exchange(ctx, name, &loops[at - 1], &loops[at])?;
            parallel.swap(at - 1, at);
        }
        Ok(())
    }

    /// The sums that a reduction is one of: parallel loops around statements, and around nests that each add up one of them.
    fn sums(&self, ctx: &Ctx, name: &str) -> Result<Option<Sums>, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let Some(id) = algorithm.find(name) else { return Ok(None) };
        let parallel = self.parallel(ctx, name)?;
        let Some(first) = parallel.iter().position(|it| *it) else { return Ok(None) };
        let count = parallel[first..].iter().take_while(|it| **it).count();
        let around = schedule.loops_around(id);
        let path = around[first].0.clone();
        let body = path.down(count);
        let is_plain = around[first..].iter().all(|(_, it)| it.tag == Tag::Sequential);
        if !is_plain
            || count > AXES.len()
            || around.len() == first + count
            || around[first + count - 1].0.child(0) != body
        {
            return Ok(None);
        }
        let children = match schedule.node(&body) {
            Some(Node::Sequence(children)) => children.as_slice(),
            Some(node @ Node::Loop(_)) => std::slice::from_ref(node),
            Some(Node::Computation(_)) | None => return Ok(None),
        };
        let mut of = vec![];
        for child in children {
            match child {
                Node::Computation(_) => {}
                Node::Loop(_) => {
                    let nest = child.computations();
                    // Sums that share a loop are combined together where they have the same terms.
                    let terms = relation::domain(algorithm, nest[0])?.reset_tuple_id()?;
                    for &id in &nest {
                        let is_alike = schedule.loops_around(id).len() == schedule.loops_around(nest[0]).len()
                            && relation::domain(algorithm, id)?.reset_tuple_id()?.is_equal(&terms)?;
                        if !is_alike || !self.is_sum(ctx, id, first, first + count)? {
                            return Ok(None);
                        }
                    }
                    of.push(nest);
                }
                Node::Sequence(_) => return Ok(None),
            }
        }
        // A variable of a thread needs memory where a block adds up: as much as all steps of the loops around have of it.
        let is_variable =
            |id: &ComputationId| algorithm.array(algorithm.computation(*id).write.array).kind == ArrayKind::Private;
        if first > 0 && of.iter().flatten().any(is_variable) {
            return Ok(None);
        }
        let loops = around[first..first + count].iter().map(|(_, it)| it.name.clone()).collect();
        Ok(Some(Sums { path, loops, of }))
    }

    /// Whether a statement adds up elements of an array, each once in a step of the `first` loops, in an order that is free among the loops
    /// inside of the `outer` ones.
    fn is_sum(&self, ctx: &Ctx, id: ComputationId, first: usize, outer: usize) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let it = algorithm.computation(id);
        let Some(order) = reduction(algorithm, id).map(|it| it.order) else { return Ok(false) };
        if !it.write.is_affine() || !it.ranged.is_empty() {
            return Ok(false);
        }
        let around = schedule.loops_around(id);
        let (host, inner) = (&around[..first], &around[outer..]);
        let is_free = |at: &Affine| match order {
            UpdateOrder::Any => true,
            UpdateOrder::Within(first) => (0..first).all(|outer| !at.involves_iterator(outer)),
            UpdateOrder::Source => false,
        };
        if !inner.iter().all(|(_, it)| it.tag == Tag::Sequential && is_free(&it.at[&id])) {
            return Ok(false);
        }
        let domain = relation::domain(algorithm, id)?;
        let steps: Vec<Affine> = host.iter().map(|(_, it)| it.at[&id].clone()).collect();
        let step = relation::functions(ctx, algorithm, id, &steps)?;
        for read in it.reads.iter().filter(|read| read.array != it.write.array && read.is_affine()) {
            let lies_in_memory = algorithm.array(read.array).kind != ArrayKind::Private;
            let element = relation::access(ctx, algorithm, id, read)?.intersect_domain(&domain)?;
            if lies_in_memory && step.range_product(&element)?.is_injective()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many sums there are, and whether these are few.
    fn count(&self, ctx: &Ctx, sums: &Sums) -> Result<Count, Error> {
        let chooser = self.chooser(ctx);
        let schedule = &self.scheduled.schedule;
        let (mut reads_neighbours, mut are_few) = (false, true);
        for &id in sums.of.iter().flatten() {
            let around = schedule.loops_around(id);
            let outer = around.iter().position(|(path, _)| *path == sums.path).unwrap_or_default();
            let (beside, along) = around[outer..].split_at(sums.loops.len());
            let cost = |(_, it): &(Path, &Loop)| chooser.stride_cost(&[id], |id| it.at.get(&id).cloned());
            reads_neighbours |= along.iter().map(cost).min() <= beside.iter().map(cost).min();
            are_few &= self.lengths(ctx, id, along)?.is_some_and(|it| it.unknown == 0 && it.known < TERMS);
        }
        let Some(&id) = sums.of.iter().flatten().next().filter(|_| !are_few) else { return Ok(Count::Many) };
        let around = schedule.loops_around(id);
        let outer = around.iter().position(|(path, _)| *path == sums.path).unwrap_or_default();
        let (beside, along) = around[outer..].split_at(sums.loops.len());
        let Some(beside) = self.lengths(ctx, id, beside)? else { return Ok(Count::Many) };
        let limit = BLOCKS / beside.known;
        let terms = match self.lengths(ctx, id, along)? {
            Some(it) if reads_neighbours => it.sum.add_constant(if it.known > 1 { it.known } else { 0 })?,
            Some(_) | None => Affine::constant(0),
        };
        // Sides of a square, or a cube, of so many: no others with that sum have more.
        let sides = beside.unknown;
        let (scale, terms, most) = match sides {
            0 if limit > 0 || reads_neighbours && beside.known <= MORE / 2 * BLOCKS => return Ok(Count::Few),
            _ if limit == 0 => return Ok(Count::Many),
            1 => (1, terms.scale(MORE)?, limit),
            2 => (4, terms, 4 * 2 * root(limit, 2)),
            _ => (8, terms, 8 * i64::from(sides) * root(limit, sides)),
        };
        let all = beside.sum.scale(scale)?.sub(&terms)?;
        let grows = all.terms().iter().any(|(_, factor)| *factor > 0);
        Ok(if grows { Count::Varies(all, most) } else { Count::Few })
    }

    /// How long loops around a statement are; `None` where sizes do not tell.
    fn lengths(&self, ctx: &Ctx, id: ComputationId, loops: &[(Path, &Loop)]) -> Result<Option<Lengths>, Error> {
        let chooser = self.chooser(ctx);
        let mut all = Lengths { known: 1, unknown: 0, sum: Affine::constant(0) };
        for (_, it) in loops {
            if let Some(extent) = chooser.extent_of(id, &it.at[&id])? {
                all.known = all.known.saturating_mul(extent.max(1));
            } else {
                let Some(length) = chooser.length(id, &it.at[&id])? else { return Ok(None) };
                all.sum = all.sum.add(&length)?;
                all.unknown += 1;
            }
        }
        Ok(Some(all))
    }

    /// Cuts all statements of a nest, and puts those for sizes of which the condition does not hold in loops of their own. Gives these pieces; `None` if
    /// it holds for all sizes, or for none.
    pub(super) fn cut(&mut self, ctx: &Ctx, path: &Path, condition: &Condition) -> Result<Option<Pieces>, Error> {
        let Some(nest) = self.scheduled.schedule.node(path).cloned() else { return Ok(None) };
        let all: BTreeSet<ComputationId> = nest.computations().into_iter().collect();
        let mut pieces = Pieces::new();
        for &id in &all {
            let piece = ComputationId(self.scheduled.algorithm.computations.len() as u32);
            let computation = self.scheduled.algorithm.computation(id).name.clone();
            match self.carry_out(ctx, Command::PiecesBySize { computation, condition: condition.clone() }) {
                Ok(()) => pieces.insert(id, piece),
                Err(Error::Schedule(ScheduleError::OneSize { .. } | ScheduleError::NeverHolds { .. })) => {
                    return Ok(None);
                }
                Err(other) => return Err(other),
            };
        }
        let schedule = &mut self.scheduled.schedule;
        let Some(node) = schedule.node_mut(path) else { return Ok(None) };
        *node = Node::Sequence(vec![nest.clone(), of_pieces(&nest, &pieces)]);
        simplify(&mut schedule.root);
        Ok(Some(pieces))
    }

    /// Has the threads of a block add up the sums of a nest in an iteration of loops; `false` if its loops have no such form.
    fn share(&mut self, ctx: &Ctx, nest: &[ComputationId], beside: &[String]) -> Result<bool, Error> {
        let name = &self.scheduled.algorithm.computation(nest[0]).name.clone();
        let along = |it: &Parted| -> Vec<String> {
            let loops = it.loops(name);
            let last = beside.last().and_then(|last| loops.iter().position(|it| it == last));
            last.map_or(vec![], |last| loops[last + 1..].to_vec())
        };
        // Threads go along the terms that are neighbours in memory.
        let loops = along(self);
        let costs: Vec<i64> = {
            let chooser = self.chooser(ctx);
            let around = self.scheduled.schedule.loops_around(nest[0]);
            let inner = &around[around.len() - loops.len()..];
            inner.iter().map(|(_, it)| chooser.stride_cost(nest, |id| it.at.get(&id).cloned())).collect()
        };
        let Some(closest) = (0..loops.len()).rev().min_by_key(|&at| costs[at]) else { return Ok(false) };
        for further in &loops[closest + 1..] {
            self.exchange(ctx, name, &loops[closest], further)?;
        }
        let loops = along(self);
        let Some((inner, lines)) = loops.split_last() else { return Ok(false) };
        let (steps, thread) = self.split(ctx, name, inner, THREADS)?;
        self.exchange_all(ctx, name, lines, (&steps, &thread))?;
        let loops = along(self);
        let [thread, first, ..] = loops.as_slice() else { return Ok(false) };
        let mut totals = vec![];
        for &id in nest {
            let name = self.scheduled.algorithm.computation(id).name.clone();
            totals.push(self.factor(ctx, &name, first, 1)?);
        }
        self.tag(name, thread, Tag::Combine);
        let ahead = ahead(&self.scheduled.algorithm, nest);
        if ahead > 1 {
            self.tag(name, &steps, Tag::Unroll(ahead));
        }
        for total in &totals {
            if !self.is_combined(ctx, total, thread)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The largest side of a square, cube, ... of so many points.
pub(super) fn root(points: i64, sides: u32) -> i64 {
    (1..=points).take_while(|side| side.checked_pow(sides).is_some_and(|all| all <= points)).last().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_box_with_the_sides_of_a_square_has_more_points() {
        assert_eq!((root(8192, 1), root(8192, 2), root(8192, 3), root(1, 2)), (8192, 90, 20, 1));
    }
}
