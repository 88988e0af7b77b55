//! Time tiling by redundant computation: `overlapped`.

mod build;
mod gpu;
mod halo;
mod region;
mod stencil;

use super::find::{find_computation, find_loop, loop_mut};
use super::tree::{names_around, simplify};
use crate::algorithm::{Algorithm, ComputationId, Requirement};
use crate::bounds;
use crate::dependence::dependences;
use crate::error::{Error, OverlapObstacle, ScheduleError};
use crate::isl::{Ctx, Set};
use crate::layers::Scheduled;
use crate::legality;
use crate::print;
use crate::recompute::{Recomputation, Role, prove};
use crate::relation;
use crate::schedule::{Schedule, Tag};
use crate::storage::private::in_order;
use build::{Built, build};
use halo::halos;
use region::regions;
use stencil::recognise;

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
    let Unproved { mut next, plain, roles } = unproved(ctx, scheduled, computation, time, loops, steps, sizes)?;
    next.algorithm.source_order = plain;
    let mut original = scheduled.algorithm.clone();
    original.context = next.algorithm.context.clone();
    if let Err(mismatch) = prove(ctx, &Recomputation { original: &original, new: &next.algorithm, roles: &roles })? {
        return Err(ScheduleError::OtherValues(mismatch).into());
    }
    next.algorithm.context = scheduled.algorithm.context.clone();
    let all = dependences(ctx, &next.algorithm)?;
    match legality::check(ctx, &next.algorithm, &next.schedule, &all) {
        Err(Error::Schedule(ScheduleError::Illegal(_))) => {
            // Its threads meet in a tile's copy of the array, which the source has no name for.
            let id = find_computation(&scheduled.algorithm, computation)?;
            let array = scheduled.algorithm.computation(id).write.array;
            let (computation, at) = (computation.to_string(), time.to_string());
            let obstacle = OverlapObstacle::InPlace { array };
            return Err(ScheduleError::CannotOverlap { computation, at, obstacle }.into());
        }
        checked => checked?,
    }
    super::check_gpu(&next, &next.schedule)?;
    Ok(next)
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
    let Unproved { mut next, plain, roles } = unproved(ctx, scheduled, computation, time, loops, steps, sizes)?;
    next.algorithm.source_order = plain;
    Ok((next, roles))
}

struct Unproved {
    next: Scheduled,
    /// The order with no loop mapped to threads.
    plain: Schedule,
    roles: Vec<Role>,
}

fn unproved(
    ctx: &Ctx,
    scheduled: &Scheduled,
    computation: &str,
    time: &str,
    loops: &[String],
    steps: u32,
    sizes: &[u32],
) -> Result<Unproved, Error> {
    if loops.len() != sizes.len() || loops.is_empty() {
        return Err(ScheduleError::SizeCount { loops: loops.len(), sizes: sizes.len() }.into());
    }
    let id = find_computation(&scheduled.algorithm, computation)?;
    let (path, it) = find_loop(scheduled, computation, time)?;
    for inner in loops {
        find_loop(scheduled, computation, inner)?;
    }
    if it.tag != Tag::Sequential {
        let (computation, at) = (computation.to_string(), time.to_string());
        return Err(ScheduleError::AlreadyTagged { computation, at, tag: it.tag.adjective() }.into());
    }
    let refuse = |obstacle: OverlapObstacle| -> Error {
        ScheduleError::CannotOverlap { computation: computation.to_string(), at: time.to_string(), obstacle }.into()
    };
    let sizes: Vec<i64> = sizes.iter().map(|&size| i64::from(size)).collect();
    let steps = i64::from(steps);
    let sizes_met = sizes_met(ctx, scheduled, &it.body.computations())?;
    let mut start = scheduled.clone();
    start.algorithm.context = sizes_met.context.clone();
    let stencil = recognise(ctx, &start, id, &path, loops)?.map_err(refuse)?;
    let halos = halos(ctx, &stencil, steps)?.map_err(refuse)?;
    let regions = regions(ctx, &stencil, halos, steps, &sizes)?;
    let Built { mut next, plain, copies } = build(ctx, &start, &stencil, &regions, time, loops)?;
    keep_checks(ctx, &scheduled.algorithm, &stencil.statements, &mut next.algorithm)?;
    // Sizes that do not pass need no code.
    let made = start.algorithm.computations.len()..next.algorithm.computations.len();
    for at in stencil.statements.iter().map(|id| id.0 as usize).chain(made) {
        let it = &mut next.algorithm.computations[at];
        let simple = it.domain.gist_params(&start.algorithm.context)?.intersect_params(&sizes_met.runs)?;
        it.domain = simple.intersect_params(&scheduled.algorithm.context)?;
    }
    let mut roles: Vec<Role> = start.algorithm.ids().map(Role::Repeats).collect();
    roles.extend(copies.into_iter().map(Role::Copies));
    Ok(Unproved { next, plain: Schedule { root: in_order(&plain.root) }, roles })
}

/// The sizes that matter.
struct Sizes {
    /// Those for which the loop runs at all: it has no statement for others, before and after.
    runs: Set,
    /// Those among them that pass the tests at entry.
    context: Set,
}

fn sizes_met(ctx: &Ctx, scheduled: &Scheduled, statements: &[ComputationId]) -> Result<Sizes, Error> {
    let algorithm = &scheduled.algorithm;
    let mut runs: Option<Set> = None;
    for &id in statements {
        let own = relation::domain(algorithm, id)?.params()?;
        runs = Some(match runs {
            None => own,
            Some(others) => others.union(&own)?,
        });
    }
    let runs = runs.expect("a loop holds at least one computation").coalesce()?;
    let runs = Set::from_basic_set(&runs.simple_hull()?)?;
    let mut context = algorithm.context.intersect(&runs)?;
    for requirement in &algorithm.requirements {
        context = context.intersect(&requirement.holds)?;
    }
    for check in bounds::entry_checks(ctx, algorithm)? {
        context = context.intersect(&check.holds)?;
    }
    Ok(Sizes { runs, context: context.coalesce()? })
}

/// Keeps the conditions on sizes under which subscripts are inside, which the repeated statements no longer tell.
fn keep_checks(ctx: &Ctx, algorithm: &Algorithm, all: &[ComputationId], next: &mut Algorithm) -> Result<(), Error> {
    for check in bounds::entry_checks(ctx, algorithm)?.into_iter().filter(|it| all.contains(&it.access.computation)) {
        let of = algorithm.computation(check.access.computation);
        let text = format!("`{}` is outside", print::access(algorithm, of, algorithm.access(check.access)));
        next.requirements.push(Requirement { error: check.error(algorithm), holds: check.holds, text });
    }
    Ok(())
}
