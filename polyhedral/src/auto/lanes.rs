//! Partial results for sums and products of floats on a CPU, whose order the source leaves open: one chain of additions waits for each
//! of them.
//!
//! ```text
//! for i { a += x[i] }       -> P[0:15] = -0.0; for i0 { unrolled for i1 in 0:15 { P[i1] += x[16i0 + i1] } }; for i1 { a += P[i1] }
//! for j, i { a += A[i, j] } -> the same, with one P for all j
//! ```
//!
//! What each partial result takes, and the order in which they are combined, depend on nothing but the sizes, so the result has the same
//! bits in every run; fewer than 64 terms are added up in the source's order. Each step is a command that a user could give, and is proved
//! like one.

use super::gpu_storage::moves;
use super::partial_sums::{Parted, in_half};
use crate::algorithm::{Algorithm, ComputationId};
use crate::command::Command;
use crate::condition::greater;
use crate::default_order::{Chosen, Rewritten};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::reduction::{Operator, Reduction, UpdateOrder, reduction, reductions};
use crate::schedule::{Loop, Schedule, Tag};

/// Partial results: as many additions are under way as two vectors for each of two units have elements.
const LANES: u32 = 16;
/// A loop with fewer iterations is not worth it: a constant number tells, or sizes do when the function is called.
const LONG: i64 = 64;

/// The choice with partial results for the sums that are left in order, of the program that it was made for.
pub(crate) fn in_lanes(
    ctx: &Ctx,
    source: &Scheduled,
    mut chosen: Chosen,
    dependences: &[Dependence],
) -> Result<Chosen, Error> {
    let dependences = chosen.rewritten.as_ref().map_or(dependences, |it| it.dependences.as_slice());
    let mut now = Parted { scheduled: chosen.scheduled.clone(), dependences: dependences.to_vec(), commands: vec![] };
    for it in reductions(&chosen.scheduled.algorithm) {
        let algorithm = &chosen.scheduled.algorithm;
        let name = &algorithm.computation(it.computation).name;
        if !is_chain(algorithm, &it) || !stands_as_before(source, &now.scheduled.schedule, algorithm, it.computation) {
            continue;
        }
        let mut trial = now.clone();
        match in_half(ctx, || trial.lanes(ctx, name)) {
            Ok(true) => now = trial,
            // It stays as it is.
            Ok(false) => {}
            Err(error) if error.is_quota() => break,
            Err(_) => {}
        }
    }
    if now.commands.is_empty() {
        return Ok(chosen);
    }
    let mut commands = chosen.rewritten.take().map_or(vec![], |it| it.commands);
    commands.extend(now.commands);
    chosen.rewritten = Some(Rewritten { commands, dependences: now.dependences });
    chosen.scheduled = now.scheduled;
    Ok(chosen)
}

/// Whether each update of a sum or product of floats waits for the one before, and need not.
pub(super) fn is_free_sum(algorithm: &Algorithm, id: ComputationId) -> bool {
    reduction(algorithm, id).is_some_and(|it| is_chain(algorithm, &it))
}

fn is_chain(algorithm: &Algorithm, it: &Reduction) -> bool {
    let computation = algorithm.computation(it.computation);
    it.order != UpdateOrder::Source
        && matches!(it.operator, Operator::Sum | Operator::Product)
        && algorithm.array(it.array).element.is_float()
        && computation.predicate.is_none()
        && computation.ranged.is_empty()
        && !computation.atomic
        && computation.reads.iter().chain([&computation.write]).all(|access| access.is_affine())
}

/// The loops that only this statement stands in, and that update the same element, outermost first.
fn sums(algorithm: &Algorithm, schedule: &Schedule, id: ComputationId) -> Vec<Loop> {
    let it = algorithm.computation(id);
    let around = schedule.loops_around(id).into_iter().rev().map(|(_, around)| around.clone());
    let is_own = |around: &Loop| around.body.computations() == [id] && !moves(it, &it.write, id, around);
    let mut found: Vec<Loop> = around.take_while(is_own).collect();
    found.reverse();
    found
}

/// Whether these loops are those of the source, in order.
fn stands_as_before(source: &Scheduled, schedule: &Schedule, algorithm: &Algorithm, id: ComputationId) -> bool {
    if source.algorithm.find(&algorithm.computation(id).name) != Some(id) {
        return false;
    }
    let (before, now) = (sums(algorithm, &source.schedule, id), sums(algorithm, schedule, id));
    let same = before.len() == now.len()
        && before.iter().zip(&now).all(|(a, b)| a.name == b.name && a.at.get(&id) == b.at.get(&id));
    same && now.iter().all(|it| it.tag == Tag::Sequential)
}

impl Parted {
    /// Gives a reduction partial results; `false` if that is not worth it.
    fn lanes(&mut self, ctx: &Ctx, name: &str) -> Result<bool, Error> {
        let Scheduled { algorithm, schedule, .. } = &self.scheduled;
        let around = algorithm.find(name).map(|id| schedule.loops_around(id)).unwrap_or_default();
        let (Some(id), Some((_, innermost))) = (algorithm.find(name), around.last()) else { return Ok(false) };
        let own: Vec<String> = sums(algorithm, schedule, id).into_iter().map(|it| it.name).collect();
        let Some((inner, planes)) = own.split_last() else { return Ok(false) };
        let computation = name.to_string();
        let Some(terms) = self.chooser(ctx).length(id, &innermost.at[&id])? else { return Ok(false) };
        match terms.as_constant() {
            Some(terms) if terms < LONG => return Ok(false),
            Some(_) => {}
            // Few terms are added up before partial results are.
            None => {
                let condition = greater(algorithm, &terms, LONG - 1);
                self.carry_out(ctx, Command::PiecesBySize { computation: computation.clone(), condition })?;
                for at in own.iter().rev() {
                    let (computation, at) = (computation.clone(), at.clone());
                    self.carry_out(ctx, Command::Distribute { computation, at })?;
                }
            }
        }
        let lane = match planes.first() {
            None => {
                self.factor(ctx, name, inner, LANES)?;
                self.loops(name).pop().unwrap_or_default()
            }
            Some(outermost) => {
                let (steps, lane) = self.split(ctx, name, inner, LANES)?;
                self.exchange_all(ctx, name, planes, (&steps, &lane))?;
                let total = self.factor(ctx, name, outermost, 1)?;
                self.carry_out(ctx, Command::Distribute { computation: total, at: lane.clone() })?;
                for at in planes.iter().chain([&steps]) {
                    self.exchange(ctx, name, &lane, at)?;
                }
                lane
            }
        };
        self.carry_out(ctx, Command::Unroll { computation, at: lane, factor: LANES })?;
        Ok(true)
    }
}
