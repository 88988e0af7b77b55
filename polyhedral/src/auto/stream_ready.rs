//! Time loops that stream once their nests hold one statement each, and numbers that one iteration hands to its next statements are
//! computed where they are read.
//!
//! ```text
//! for t { for j, i { r = f(U[i, j]); V[i, j] = g(r, U..); W[i, j] = h(r, ..) }; .. }
//!   -> stream t { for j, i { V[i, j] = g(f(U[i, j]), U..) }; for j, i { W[i, j] = h(f(U[i, j]), ..) }; .. }
//! ```
//!
//! All of it are steps that a user may take, too (`inline`, `distribute`), and proved as those are. A value that is computed in two
//! nests costs nothing in a stream: their points lie in the same registers at the same time.

use super::step_numbers;
use super::stream;
use crate::affine::Affine;
use crate::algorithm::{Algorithm, ArrayKind, ComputationId, Subscript};
use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::Scheduled;
use crate::legality;
use crate::machine::Gpu;
use crate::schedule::{Loop, Node, Path, Tag};
use crate::transform::{loop_mut, nests_apart};
use std::collections::BTreeSet;

/// A program some of whose time loops stream.
pub(crate) struct Ready {
    pub(crate) scheduled: Scheduled,
    /// What substitutes values.
    pub(crate) commands: Vec<Command>,
    pub(crate) dependences: Vec<Dependence>,
}

/// More statements are no stencil that registers hold.
const MOST_STATEMENTS: usize = 24;

/// The program with those time loops streaming that do so once their nests are apart; `None` if there are none.
///
/// # Errors
/// Where isl fails, or gives up.
pub(crate) fn ready(
    ctx: &Ctx,
    gpu: &Gpu,
    scheduled: &Scheduled,
    dependences: &[Dependence],
) -> Result<Option<Ready>, Error> {
    let mut now = Ready { scheduled: scheduled.clone(), commands: vec![], dependences: dependences.to_vec() };
    let mut is_new = false;
    for path in scheduled.schedule.host_loops() {
        if let Some(next) = one_ready(ctx, gpu, &now, &path)? {
            (now, is_new) = (next, true);
        }
    }
    Ok(is_new.then_some(now))
}

/// The program with the loop at a path as a stream; `None` if it is none, or streams as it is.
fn one_ready(ctx: &Ctx, gpu: &Gpu, before: &Ready, path: &Path) -> Result<Option<Ready>, Error> {
    let algorithm = &before.scheduled.algorithm;
    let Some(Node::Loop(it)) = before.scheduled.schedule.node(path) else { return Ok(None) };
    let below = it.body.computations();
    let outer = before.scheduled.schedule.around(path);
    let is_of_host = outer.iter().all(|(_, it)| it.tag == Tag::Sequential);
    if it.tag != Tag::Sequential || !is_of_host || below.len() > MOST_STATEMENTS {
        return Ok(None);
    }
    let outer = outer.len();
    let passed: Vec<ComputationId> = below.iter().copied().filter(|id| is_passed_on(algorithm, *id)).collect();
    let is_stencil = below.iter().filter(|id| !passed.contains(id)).all(|id| writes_a_point(algorithm, *id, outer));
    let is_apart = nests_apart(&it.body).len() == children(&it.body).len();
    let Some(&stays) = below.iter().find(|id| !passed.contains(id)) else { return Ok(None) };
    if !is_stencil || (passed.is_empty() && is_apart) {
        return Ok(None);
    }
    let mut now = Ready {
        scheduled: before.scheduled.clone(),
        commands: before.commands.clone(),
        dependences: before.dependences.clone(),
    };
    if !passed.is_empty() {
        let Some(placed) = step_numbers::all_of(ctx, &before.scheduled, &passed)? else { return Ok(None) };
        (now.scheduled, now.dependences) = (placed.scheduled, placed.dependences);
        now.commands.extend(placed.commands);
    }
    // A loop that was all of the program stands beside what was inlined now.
    let around = now.scheduled.schedule.loops_around(stays);
    let (path, it) = around.into_iter().nth(outer).expect("the statement stands in the loop");
    let apart = Loop { body: Box::new(Node::Sequence(nests_apart(&it.body))), ..it.clone() };
    let best = stream::candidates(ctx, gpu, &now.scheduled.algorithm, &apart)?.into_iter().next();
    let Some(size) = best.and_then(|best| best.size) else { return Ok(None) };
    let mut trial = now.scheduled.schedule.clone();
    *trial.node_mut(&path).expect("the path was just found") = Node::Loop(apart);
    if !legality::is_legal(ctx, &now.scheduled.algorithm, &trial, &now.dependences)? {
        return Ok(None);
    }
    loop_mut(&mut trial, &path).tag = Tag::Stream(size);
    now.scheduled.schedule = trial;
    Ok(Some(now))
}

/// Whether a computation makes a number for the statements after it in the same iteration: an array that nobody else sees has an element
/// for each of its instances.
pub(super) fn is_passed_on(algorithm: &Algorithm, id: ComputationId) -> bool {
    let computation = algorithm.computation(id);
    let iterators: BTreeSet<u32> =
        computation.write.subscripts.iter().filter_map(|it| it.as_affine().and_then(Affine::as_iterator)).collect();
    let is_private =
        matches!(algorithm.array(computation.write.array).kind, ArrayKind::Private | ArrayKind::Local { .. });
    is_private
        && computation.iterators.len() == iterators.len()
        && computation.write.subscripts.len() == iterators.len()
}

/// Whether a statement may be one of a stencil, given the number of loops around its time loop: it writes a point that is not one of its own for
/// each time step.
fn writes_a_point(algorithm: &Algorithm, id: ComputationId, outer: usize) -> bool {
    let computation = algorithm.computation(id);
    let rank = computation.write.subscripts.len();
    computation.predicate.is_none()
        && (1..=3).contains(&rank)
        && computation.iterators.len() <= rank + 1 + outer
        && computation.write.subscripts.iter().all(|it: &Subscript| it.as_affine().is_some())
}

fn children(body: &Node) -> &[Node] {
    match body {
        Node::Sequence(children) => children,
        Node::Loop(_) | Node::Computation(_) => std::slice::from_ref(body),
    }
}
