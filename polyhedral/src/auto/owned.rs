//! Statements on a GPU that store where data say, in the source's order: warps that own elements.
//!
//! ```text
//! for p { y[k[p]] += x[p] }  ->  @block x, @thread y for o in 0..1024 { for p { if k[p] mod 1024 == o { y[k[p]] += x[p] } } }
//! ```
//!
//! Any iteration may store into any element, so the loop carries a dependence, and one thread would go through it. With owners
//! ([`crate::transform::owners`]) all multiprocessors have some, and what an owner does keeps its order. The lanes of a warp look at iterations
//! together, as few of them are the owner's (`lanes.rs` of code generation).
//!
//! All owners look at all iterations. So where loops around run in parallel, over columns say, and are long, their threads go through the iterations instead, by
//! themselves: which, sizes tell when the kernel is launched.

use super::by_size::Apart;
use super::chooser::{Chooser, chain_length, loop_at, tagged};
use super::ranged::{is_endless, keeps_ends};
use crate::algorithm::{ArrayId, ComputationId};
use crate::command::Command;
use crate::condition::greater;
use crate::default_order::Means;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::schedule::{Loop, Node, Path, ProcessorAxis, Schedule, Tag};
use crate::transform::owners::{obstacle, place_of};
use crate::transform::{apply_and_renew, of_pieces, put_chain, simplify, split_at, take_chain};
use std::collections::BTreeSet;

/// Warps: eight on each multiprocessor of a large GPU, whose loads are under way together.
const OWNERS: u32 = 1024;
/// Of a block.
const WARPS: u32 = 8;
/// So many columns that threads go through by themselves take less time than for owners to look at all of their iterations.
const COLUMNS: i64 = 512;

impl Chooser<'_> {
    /// Notes a nest whose statements all store where data say, in the source's order.
    pub(super) fn note_owned(&self, schedule: &Schedule, path: &Path) {
        let below = schedule.node(path).map(Node::computations).unwrap_or_default();
        let ids: BTreeSet<ComputationId> = below.into_iter().collect();
        // With all loops that hold them alone.
        let Some(nest) = place_of(schedule, &ids).and_then(|place| schedule.node(&place)) else { return };
        let written = ids.iter().map(|&id| self.algorithm.computation(id).write.array).collect();
        let is_plain = !nest.has_loop(&|tag| tag != Tag::Sequential);
        if is_plain && ids.iter().all(|&id| self.may_be_owned(id, &written)) {
            self.owned.borrow_mut().push(nest.clone());
        }
    }

    /// Whether an element that a statement stores into may have an owner, where statements store into these arrays.
    fn may_be_owned(&self, id: ComputationId, written: &BTreeSet<ArrayId>) -> bool {
        let it = self.algorithm.computation(id);
        it.stored_constant().is_none() && obstacle(it, written).is_none()
    }

    /// Takes statements that store where data say out of a nest, none of whose loops is parallel as it stands, and orders both parts. Loops that data end
    /// stay whole.
    pub(super) fn take_owned_apart(&self, schedule: &mut Schedule, path: &Path) -> Result<bool, Error> {
        let Some(nest) = schedule.node(path) else { return Ok(false) };
        let ids = nest.computations();
        let is_owned =
            |id: &ComputationId| self.may_be_owned(*id, &BTreeSet::from([self.algorithm.computation(*id).write.array]));
        let (owned, others): (BTreeSet<ComputationId>, BTreeSet<ComputationId>) = ids.into_iter().partition(is_owned);
        let (Some(first), Some(last)) = (nest.restricted(&others), nest.restricted(&owned)) else { return Ok(false) };
        let apart = Node::Sequence(vec![first, last]);
        if is_endless(self.algorithm, nest)? || !keeps_ends(self.algorithm, nest, &apart) {
            return Ok(false);
        }
        let mut trial = schedule.clone();
        if let Some(node) = trial.node_mut(path) {
            *node = apart;
        }
        if !self.is_legal(&trial, path)? {
            return Ok(false);
        }
        *schedule = trial;
        self.note_owned(schedule, &path.child(1));
        self.node(schedule, &path.child(0))?;
        Ok(true)
    }
}

/// The program with owners for nests that were noted; `None` if they are better off without.
pub(crate) fn apart(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    means: Means,
    noted: &[Node],
) -> Result<Option<Apart>, Error> {
    let mut seen = BTreeSet::new();
    let first = noted.iter().filter(|nest| seen.insert(nest.computations()));
    let one = |now: &Apart, nest: &Node| {
        let share = ctx.operations_left().map_or(0, |left| (left / 2).max(1));
        match ctx.with_budget(share, || one_apart(ctx, now, means, nest)) {
            // It stays as it is.
            Err(error) if error.is_quota() => Ok(None),
            other => other,
        }
    };
    Apart::each(scheduled, dependences, first, one)
}

fn one_apart(ctx: &Ctx, before: &Apart, means: Means, nest: &Node) -> Result<Option<Apart>, Error> {
    let ids = nest.computations();
    let all: BTreeSet<ComputationId> = ids.iter().copied().collect();
    let Some(place) = place_of(&before.scheduled.schedule, &all) else { return Ok(None) };
    let mut schedule = before.scheduled.schedule.clone();
    let Some(node) = schedule.node_mut(&place) else { return Ok(None) };
    *node = nest.clone();
    let merged = legality::merged(&before.dependences)?;
    let chooser = Chooser::of(ctx, &before.scheduled, &merged, means);
    let depth = chain_length(&schedule, &place);
    if depth == 0 {
        return Ok(None);
    }
    let columns = chooser.parallel_loops(&schedule, &place, depth)?;
    let (mut now, mut ids, mut place) = (before.clone(), ids, place);
    match columns[..] {
        [] => now.scheduled.schedule = schedule,
        [column] if depth > 1 => {
            let Some(at) = loop_at(&schedule, &place.down(column)).and_then(|it| it.at.get(&ids[0])) else {
                return Ok(None);
            };
            let Some(length) = chooser.length(ids[0], at)? else { return Ok(None) };
            match length.as_constant() {
                Some(length) if length > COLUMNS => return Ok(None),
                Some(_) => now.scheduled.schedule = schedule,
                None => {
                    let many = greater(&before.scheduled.algorithm, &length, COLUMNS);
                    let Some((cut, pieces)) = before.cut(ctx, &ids, &many)? else { return Ok(None) };
                    now = cut;
                    let Some(node) = now.scheduled.schedule.node_mut(&place) else { return Ok(None) };
                    let Some(first) = node.restricted(&all) else { return Ok(None) };
                    *node = Node::Sequence(vec![first, of_pieces(nest, &pieces)]);
                    ids = pieces.values().copied().collect();
                    place = place.child(1);
                }
            }
        }
        [_, ..] => return Ok(None),
    }
    let computations = ids.iter().map(|&id| now.scheduled.algorithm.computation(id).name.clone()).collect();
    let command = Command::Owners { computations, count: OWNERS };
    let (scheduled, renewed) = match apply_and_renew(ctx, &now.scheduled, &now.dependences, &command) {
        Err(Error::Schedule(_)) => return Ok(None),
        other => other?,
    };
    let dependences = renewed.unwrap_or(now.dependences);
    let mut commands = now.commands;
    commands.push(command);
    let columns: Vec<usize> = columns.iter().map(|level| level + 1).collect();
    let schedule = on_warps(ctx, &scheduled, &place, depth + 1, &columns)?;
    let merged = legality::merged(&dependences)?;
    if tagged(&schedule).is_empty() || !legality::is_legal(ctx, &scheduled.algorithm, &schedule, &merged)? {
        return Ok(None);
    }
    Ok(Some(Apart { scheduled: Scheduled { schedule, ..scheduled }, commands, dependences }))
}

/// The order in which owners are warps: columns have a grid axis, and what is left of the `depth` loops at `place` runs inside.
fn on_warps(
    ctx: &Ctx,
    scheduled: &Scheduled,
    place: &Path,
    depth: usize,
    columns: &[usize],
) -> Result<Schedule, Error> {
    let mut schedule = scheduled.schedule.clone();
    let (mut owner, mut along, mut inside) = (vec![], vec![], vec![]);
    for (at, it) in take_chain(&mut schedule, place, depth).into_iter().enumerate() {
        match at {
            0 => owner.push(it),
            at if columns.contains(&at) => along.push(Loop { tag: Tag::GpuBlock(ProcessorAxis::Y), ..it }),
            _ => inside.push(it),
        }
    }
    let levels = along.len();
    put_chain(&mut schedule, place, [along, owner, inside].concat());
    let at = place.down(levels);
    split_at(ctx, &scheduled.algorithm, &mut schedule, &at, WARPS)?;
    for (level, tag) in [Tag::GpuBlock(ProcessorAxis::X), Tag::GpuThread(ProcessorAxis::Y)].into_iter().enumerate() {
        if let Some(Node::Loop(it)) = schedule.node_mut(&at.down(level)) {
            it.tag = tag;
        }
    }
    simplify(&mut schedule.root);
    Ok(schedule)
}
