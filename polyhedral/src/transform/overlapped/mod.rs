//! Time tiling by redundant computation: `overlapped`.

mod build;
mod gpu;
mod halo;
mod region;
mod sizes;
mod stencil;

use super::find::{find_computation, find_loop, loop_mut};
use super::tree::{names_around, simplify};
use crate::algorithm::{Algorithm, ComputationId};
use crate::dependence::{Dependence, dependences};
use crate::effort;
use crate::error::{Error, OverlapObstacle, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::recompute::{Recomputation, Role, prove};
use crate::relation;
use crate::schedule::{Loop, Node, Path, Schedule, Tag};
use crate::storage::private::in_order;
use crate::verify::EntryCheck;
use build::{Built, build};
use halo::halos;
use region::{extents, regions, within};
use sizes::{Sizes, end_with_arrays};
use stencil::recognise;

/// The most steps of a block: how far the region of each reaches is a row of a table.
const MOST_STEPS: u32 = 100_000;

/// Runs several time steps at once in tiles that overlap.
///
/// Rewrite of `overlapped(S, t, (j, i), h, (bj, bi))`: `for t { nests } -> for t0 { for j0, i0 in parallel { load tile and halo; for t in
/// block t0 { nests, on a region that shrinks towards the tile }; store tile } }`. Each tile computes what its steps need of its
/// neighbours' values itself, in arrays of its own, so that tiles need nothing from one another within a block of `h` steps. A tile
/// reads what the block before it left: blocks read an array and write another of its shape, in turns. Arrays of which a step only
/// reads what the same step wrote are stored by the last block alone.
///
/// How far regions reach beyond the tile follows from the distances of the dependences, exactly, for each statement, side and
/// number of steps that are left.
///
/// # Errors
/// [`ScheduleError::CannotOverlap`]; [`ScheduleError::OtherValues`] where what would be computed cannot be proved to be the source's;
/// [`crate::storage::StorageError::NoConstantSize`] and [`crate::storage::StorageError::TooLarge`] of a tile's arrays.
///
/// # Source
/// Ding, He, *A ghost cell expansion method for reducing communications in solving PDE problems*, SC 2001; Holewinski, Pouchet,
/// Sadayappan, *High-performance code generation for stencil computations on GPU architectures*, ICS 2012.
pub fn overlapped(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    time: &str,
    loops: &[String],
    steps: u32,
    sizes: &[u32],
) -> Result<Scheduled, Error> {
    Ok(overlapped_and_renewed(ctx, scheduled, computation, time, loops, steps, sizes)?.0)
}

/// [`overlapped`], and the dependences of the program that it makes.
pub(super) fn overlapped_and_renewed(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    time: &str,
    loops: &[String],
    steps: u32,
    sizes: &[u32],
) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let request = Request::new(scheduled, computation, time, loops, steps, sizes)?;
    if steps > MOST_STEPS {
        return Err(request.refuse(OverlapObstacle::ManySteps { most: MOST_STEPS }));
    }
    let (path, _) = find_loop(scheduled, computation, time)?;
    let met = Sizes::new(ctx, &scheduled.algorithm, &loop_at(scheduled, &path).body.computations())?;
    if !met.are_exact {
        match attempt(ctx, &request, &met, Which::Around) {
            // Around the sizes that count may lie others for which there are no such tiles.
            Err(error) if !error.is_quota() => {}
            done => return done,
        }
    }
    attempt(ctx, &request, &met, Which::Exactly)
}

/// What was asked for.
struct Request<'a> {
    scheduled: &'a Scheduled,
    computation: &'a str,
    time: &'a str,
    loops: &'a [String],
    steps: i64,
    sizes: Vec<i64>,
}

impl<'a> Request<'a> {
    fn new(
        scheduled: &'a Scheduled,
        computation: &'a str,
        time: &'a str,
        loops: &'a [String],
        steps: u32,
        sizes: &[u32],
    ) -> Result<Request<'a>, Error> {
        if loops.len() != sizes.len() || loops.is_empty() {
            return Err(ScheduleError::SizeCount { loops: loops.len(), sizes: sizes.len() }.into());
        }
        let (path, it) = find_loop(scheduled, computation, time)?;
        for (at, inner) in loops.iter().enumerate() {
            // Of an edge, which has no loop of the name, another statement's loops say what the dimensions are.
            let below = |id: ComputationId| {
                let around = scheduled.schedule.loops_around(id);
                around.into_iter().any(|(other, it)| path.contains(&other) && it.name == *inner)
            };
            if !it.body.computations().into_iter().any(below) {
                find_loop(scheduled, computation, inner)?;
            }
            if inner == time || loops[..at].contains(inner) {
                return Err(ScheduleError::SameLoop { at: inner.clone() }.into());
            }
        }
        if it.tag != Tag::Sequential {
            let (computation, at) = (computation.to_string(), time.to_string());
            return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() }.into());
        }
        let sizes = sizes.iter().map(|&size| i64::from(size)).collect();
        Ok(Request { scheduled, computation, time, loops, steps: i64::from(steps), sizes })
    }

    fn refuse(&self, obstacle: OverlapObstacle) -> Error {
        let (computation, at) = (self.computation.to_string(), self.time.to_string());
        ScheduleError::CannotOverlap { computation, at, obstacle }.into()
    }
}

/// The sizes that tiles are made for.
#[derive(Clone, Copy)]
enum Which {
    /// Those that count, and what lies around them.
    Around,
    /// Those that count.
    Exactly,
}

/// Makes the tiles, and proves them for the sizes that count.
fn attempt(ctx: &Ctx, request: &Request<'_>, met: &Sizes, sizes: Which) -> Result<(Scheduled, Vec<Dependence>), Error> {
    let scheduled = request.scheduled;
    let context = match sizes {
        Which::Around => of_loops(scheduled, &met.around)?,
        Which::Exactly => met.exactly()?,
    };
    let Unproved { original, mut next, plain, roles } = unproved(ctx, request, met, &context)?;
    next.algorithm.source_order = plain;
    let proved = || prove(ctx, &Recomputation { original: &original, new: &next.algorithm, roles: &roles });
    if let Err(mismatch) = ctx.with_budget(proof_budget(ctx, scheduled), proved)? {
        return Err(match uneven(ctx, request)? {
            Some(obstacle) => request.refuse(obstacle),
            None => ScheduleError::OtherValues(mismatch).into(),
        });
    }
    end_with_arrays(ctx, met, &scheduled.algorithm, &roles, &mut next.algorithm)?;
    next.algorithm.context = scheduled.algorithm.context.clone();
    let all = dependences(ctx, &next.algorithm)?;
    match legality::check(ctx, &next.algorithm, &next.schedule, &all) {
        Err(Error::Schedule(ScheduleError::Illegal(_))) => {
            // Its threads meet in a tile's copy of the array, which the source has no name for.
            let id = find_computation(&scheduled.algorithm, request.computation)?;
            let array = scheduled.algorithm.computation(id).write.array;
            return Err(request.refuse(OverlapObstacle::InPlace { array }));
        }
        checked => checked?,
    }
    super::check_gpu(&next, &next.schedule)?;
    Ok((next, all))
}

/// What tells the steps of a loop apart, for which tiles compute other values: they are made for steps that are all alike.
fn uneven(ctx: &Ctx, request: &Request<'_>) -> Result<Option<OverlapObstacle>, Error> {
    let scheduled = request.scheduled;
    let id = find_computation(&scheduled.algorithm, request.computation)?;
    let (path, _) = find_loop(scheduled, request.computation, request.time)?;
    match recognise(ctx, scheduled, id, &path, request.loops)? {
        Ok(stencil) => stencil.uneven(ctx),
        Err(_) => Ok(None),
    }
}

/// How much work the proof may take: as much as all that is left, each operation counting once. It has most of the arrays' elements
/// and loops twice, but few unknowns at a time: an operation took less than half a microsecond in the stencils of `tests/stencils`, whatever
/// [`effort::weight`] says of the program. Domains that shrink from step to step take longer, up to half a
/// minute until it gives up; dozens of statements get more work, and may take longer still.
fn proof_budget(ctx: &Ctx, scheduled: &Scheduled) -> u64 {
    let weight = effort::weight(&scheduled.algorithm, &scheduled.schedule);
    ctx.operations_left().map_or(0, |left| left.saturating_mul(weight).max(1))
}

fn loop_at<'a>(scheduled: &'a Scheduled, path: &Path) -> &'a Loop {
    match scheduled.schedule.node(path) {
        Some(Node::Loop(it)) => it,
        Some(Node::Sequence(_) | Node::Computation(_)) | None => panic!("the path was just found and names a loop"),
    }
}

/// What [`overlapped`] makes before it is proved, and what its computations are; for those who try the proof. Its context
/// has only the sizes for which the loop runs.
pub fn overlapped_unproved(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    time: &str,
    loops: &[String],
    steps: u32,
    sizes: &[u32],
) -> Result<(Scheduled, Vec<Role>), Error> {
    let request = Request::new(scheduled, computation, time, loops, steps, sizes)?;
    let (path, _) = find_loop(scheduled, computation, time)?;
    let met = Sizes::new(ctx, &scheduled.algorithm, &loop_at(scheduled, &path).body.computations())?;
    let Unproved { mut next, plain, roles, .. } = unproved(ctx, &request, &met, &met.exactly()?)?;
    next.algorithm.source_order = plain;
    Ok((next, roles))
}

struct Unproved {
    /// What the source does for the sizes that it was made for.
    original: Algorithm,
    next: Scheduled,
    /// The order with no loop mapped to threads.
    plain: Schedule,
    roles: Vec<Role>,
}

fn unproved(ctx: &Ctx, request: &Request<'_>, met: &Sizes, context: &Set) -> Result<Unproved, Error> {
    let Request { scheduled, computation, time, loops, steps, ref sizes } = *request;
    let id = find_computation(&scheduled.algorithm, computation)?;
    let (path, _) = find_loop(scheduled, computation, time)?;
    let mut start = scheduled.clone();
    start.algorithm.context = context.clone();
    let plain = recognise(ctx, &start, id, &path, loops)?.map_err(|obstacle| request.refuse(obstacle))?;
    let extents = extents(ctx, &plain, met)?;
    let mut domains = vec![];
    for &id in &plain.statements {
        let domain = &plain.algorithm.computation(id).domain;
        domains.push(match &extents {
            Some(extents) => (id, within(&plain, extents, id, domain)?),
            None => (id, met.counting(&domain.intersect_params(context)?)?),
        });
    }
    for (id, domain) in domains {
        start.algorithm.computations[id.0 as usize].domain = domain;
    }
    let stencil = recognise(ctx, &start, id, &path, loops)?.map_err(|obstacle| request.refuse(obstacle))?;
    let halos = halos(ctx, &stencil, &start.schedule, steps)?.map_err(|obstacle| request.refuse(obstacle))?;
    let regions = regions(ctx, &stencil, halos, steps, sizes)?;
    if let Some(&array) = stencil.arrays.iter().find(|&&it| stencil.is_at_one_place(it) && !regions.stays(&stencil, it))
    {
        return Err(request.refuse(OverlapObstacle::NoAxis { array }));
    }
    let Built { mut next, plain, copies } = build(ctx, &start, &stencil, &regions, time, loops)?;
    keep_checks(&scheduled.algorithm, &met.checks, &stencil.statements, &mut next.algorithm);
    // Sizes that do not pass need no code.
    let (runs, known) = (of_loops(scheduled, &met.runs)?, of_loops(scheduled, &scheduled.algorithm.context)?);
    let made = start.algorithm.computations.len()..next.algorithm.computations.len();
    for at in stencil.statements.iter().map(|id| id.0 as usize).chain(made) {
        let it = &mut next.algorithm.computations[at];
        let simple = it.domain.gist_params(&start.algorithm.context)?;
        it.domain = simple.intersect_params(&runs)?.intersect_params(&known)?;
    }
    let mut roles: Vec<Role> = start.algorithm.ids().map(Role::Repeats).collect();
    roles.extend(copies.into_iter().map(Role::Copies));
    let plain = Schedule { root: in_order(&plain.root) };
    Ok(Unproved { original: start.algorithm, next, plain, roles })
}

/// What these sizes say of those that loops and subscripts depend on. Of many, the others make conjunctions of dozens of constraints, with
/// which a proof takes several times as long.
fn of_loops(scheduled: &Scheduled, sizes: &Set) -> Result<Set, Error> {
    let algorithm = &scheduled.algorithm;
    match relation::has_many_params(algorithm) {
        true => Ok(relation::of_these(sizes, &effort::involved(algorithm, &scheduled.schedule))?),
        false => Ok(sizes.clone()),
    }
}

/// Keeps the conditions on sizes under which subscripts are inside, which the repeated statements no longer tell.
fn keep_checks(algorithm: &Algorithm, checks: &[EntryCheck], all: &[ComputationId], next: &mut Algorithm) {
    for check in checks.iter().filter(|it| all.contains(&it.access.computation)) {
        next.requirements.push(check.clone().kept(algorithm));
    }
}
