//! Carrying out commands: each rewrites the tree, then one legality check accepts or refuses the whole.
//!
//! Every primitive takes the schedule apart from its proof: it returns a new tree, and [`apply`] asks
//! [`legality::check`]. The input is never touched.

mod find;
mod tree;

pub mod atomic;
mod compute_at;
mod fitting;
mod inline;
mod join;
mod linear;
mod overlapped;
pub mod owners;
mod partial;
mod pieces;
mod private_updates;
mod privatize;
mod rfactor;
mod search;
mod sizes;
mod small_sizes;
mod split_domain;
mod tags;
mod tiles;
mod webs;

pub use atomic::atomic;
pub use compute_at::compute_at;
pub use inline::inline;
pub use join::{between, distribute, fuse};
pub use linear::{interchange, reverse, shift, skew};
use overlapped::overlapped_and_renewed;
pub use overlapped::{overlapped, overlapped_unproved};
pub use owners::owners;
pub use partial::spelled_out;
pub(crate) use pieces::{Pieces, of_pieces};
pub use pieces::{pieces, pieces_by_size};
pub(crate) use private_updates::most;
pub use privatize::privatize;
pub use rfactor::rfactor;
pub use search::{fuse_shifted, skew_auto};
pub use sizes::{assume, specialize};
pub use small_sizes::legal_above;
pub use split_domain::{split_dependences, split_domain};
pub use tags::{check_gpu, check_rows, check_unrolled, gpu, resident, separate, stream, tag};
pub(crate) use tiles::tile_loops;
pub use tiles::{collapse, constant_range, parallelogram, split, tile, unroll_and_jam};

pub(crate) use find::{find_computation, find_loop, loop_mut, repeated};
pub(crate) use tiles::{smallest_value, split_at, split_from};
pub(crate) use tree::{distribute_at, has_loop, loop_names, nests_apart, put_chain, simplify, sink, take_chain};

use crate::command::Command;
use crate::dependence::Dependence;
use crate::effort;
use crate::error::{Error, OnGpu, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::order;
use crate::schedule::{Schedule, Tag};
use crate::time_tiling::{grid_sync, hexagonal, space, time_skew};
use join::{Side, place};

/// Whether a command changed what computations access, so that dependences have to be found anew.
pub fn changed_accesses(command: &Command, before: &Scheduled, after: &Scheduled) -> bool {
    command.changes_accesses() || before.algorithm.computations.len() != after.algorithm.computations.len()
}

/// [`apply_and_renew`] for those who ask for nothing of what it makes that follows from dependences: after a command that
/// [changed accesses](changed_accesses), those that are given are none of the new algorithm's.
pub(crate) fn apply(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<Scheduled, Error> {
    let error = match apply_to_all(ctx, scheduled, dependences, command) {
        Err(error) => error,
        done => return done,
    };
    let apart = small_sizes::carry_out(ctx, scheduled, dependences, command, &error)?;
    apart.map(|(done, _)| done).ok_or(error)
}

/// The same for all sizes alike.
fn apply_to_all(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let schedule = match made(ctx, scheduled, dependences, command)? {
        Made::Order(schedule) => schedule,
        Made::Program(done) => return Ok(*done),
    };
    if matches!(command, Command::Unroll { .. } | Command::UnrollAndJam { .. } | Command::Order(_)) {
        check_unrolled(algorithm, &schedule)?;
    }
    if matches!(command, Command::ShareRows { .. } | Command::Order(_)) {
        check_rows(algorithm, &schedule)?;
    }
    match legality::check(ctx, algorithm, &schedule, dependences) {
        Ok(()) => Ok(Scheduled { schedule, ..scheduled.clone() }),
        Err(Error::Schedule(ScheduleError::Illegal(violation))) => {
            match partial::carry_out(ctx, scheduled, dependences, command, &violation) {
                Some((done, _)) => Ok(done),
                None => Err(ScheduleError::Illegal(violation).into()),
            }
        }
        Err(other) => Err(other),
    }
}

/// What a command makes of a program.
enum Made {
    /// An order that is to be judged yet.
    Order(Schedule),
    /// A program that its primitive has judged.
    Program(Box<Scheduled>),
}

fn made(ctx: &Ctx, scheduled: &Scheduled, dependences: &[Dependence], command: &Command) -> Result<Made, Error> {
    let judged = |done: Scheduled| Ok(Made::Program(Box::new(done)));
    let schedule = match command {
        Command::UnrollAndJam { computation, at, factor } => unroll_and_jam(ctx, scheduled, computation, at, *factor)?,
        Command::Collapse { computation, outer, inner } => collapse(ctx, scheduled, computation, outer, inner)?,
        Command::Interchange { computation, outer, inner } => interchange(scheduled, computation, outer, inner)?,
        Command::Split { computation, at, size } => split(ctx, scheduled, computation, at, *size)?,
        Command::Tile { computation, loops, sizes } => tile(ctx, scheduled, computation, loops, sizes)?,
        Command::Parallelogram { computation, loops, edges } => parallelogram(scheduled, computation, loops, edges)?,
        Command::Skew { computation, outer, inner, factor } => skew(scheduled, computation, outer, inner, *factor)?,
        Command::SkewAuto { computation, outer, inner } => {
            skew_auto(ctx, scheduled, dependences, computation, outer, inner)?
        }
        Command::Shift { computation, at, by } => shift(scheduled, computation, at, *by)?,
        Command::Reverse { computation, at } => reverse(scheduled, computation, at)?,
        Command::Parallel { computation, at } => {
            if scheduled.target == Target::Gpu {
                return Err(ScheduleError::NeedsCpu { on_gpu: OnGpu::Grid }.into());
            }
            tag(scheduled, computation, at, Tag::Parallel)?
        }
        Command::Separate { computation, loops } => {
            if scheduled.target == Target::Gpu {
                return Err(ScheduleError::NeedsCpu { on_gpu: OnGpu::WholeTiles }.into());
            }
            separate(scheduled, computation, loops)?
        }
        Command::Vectorize { computation, at, width } => tag(scheduled, computation, at, Tag::Vector(*width))?,
        Command::Unroll { computation, at, factor } => tag(scheduled, computation, at, Tag::Unroll(*factor))?,
        Command::ShareRows { computation, at } => {
            if scheduled.target != Target::Gpu {
                return Err(ScheduleError::NeedsGpu.into());
            }
            tag(scheduled, computation, at, Tag::Rows)?
        }
        Command::Fuse { first, second, at } => fuse(scheduled, first, second, at)?,
        Command::FuseShifted { first, second, at } => fuse_shifted(ctx, scheduled, dependences, first, second, at)?,
        Command::Distribute { computation, at } => distribute(scheduled, computation, at)?,
        Command::After { computation, other, at } => place(scheduled, computation, other, at.as_deref(), Side::After)?,
        Command::Before { computation, other, at } => {
            place(scheduled, computation, other, at.as_deref(), Side::Before)?
        }
        Command::Between { computation, first, first_at, second, second_at } => {
            between(scheduled, computation, (first, first_at), (second, second_at))?
        }
        Command::Gpu { computation, blocks, threads } => gpu(scheduled, computation, blocks, threads)?,
        Command::Stream { computation, at, size } => stream(ctx, scheduled, computation, at, *size)?,
        Command::Resident { computation, at, size } => resident(ctx, scheduled, computation, at, *size)?,
        Command::ComputeAt { computation, reader, at } => {
            return judged(compute_at(ctx, scheduled, computation, reader, at)?);
        }
        Command::Overlapped { computation, time, loops, steps, sizes } => {
            return judged(overlapped(ctx, scheduled, computation, time, loops, *steps, sizes)?);
        }
        Command::Inline { computation } => return judged(inline(ctx, scheduled, computation)?),
        Command::Rfactor { computation, at, size } => {
            return judged(rfactor(ctx, scheduled, dependences, computation, at, *size)?);
        }
        Command::Atomic { computation } => return judged(atomic(scheduled, computation)?),
        Command::Owners { computations, count } => {
            return judged(owners(ctx, scheduled, dependences, computations, *count)?.0);
        }
        Command::Hexagonal { computations, time, loops, height, widths } => {
            return judged(hexagonal(ctx, scheduled, dependences, computations, time, loops, *height, widths)?.0);
        }
        Command::Pieces { computation, first, second } => {
            return judged(pieces(ctx, scheduled, dependences, computation, first, second)?.0);
        }
        Command::PiecesBySize { computation, condition } => {
            return judged(pieces_by_size(ctx, scheduled, dependences, computation, condition)?.0);
        }
        Command::Privatize { array, computation, at } => {
            return judged(privatize(ctx, scheduled, dependences, array, computation, at)?.0);
        }
        Command::TimeSkew { computations, time, loops, steps, widths } => {
            time_skew(ctx, scheduled, dependences, computations, time, loops, *steps, widths)?
        }
        Command::Space { computations, time, loops, widths } => {
            space(ctx, scheduled, dependences, computations, time, loops, widths)?
        }
        Command::GridSync { computations, time, loops, widths } => {
            grid_sync(ctx, scheduled, dependences, computations, time, loops, widths)?
        }
        Command::Assume(condition) => return judged(assume(ctx, scheduled, condition)?),
        Command::Specialize(condition) => return judged(specialize(ctx, scheduled, condition)?),
        Command::Order(tree) => order::build(ctx, scheduled, tree)?,
        Command::Auto => return judged(crate::default_order::schedule(ctx, scheduled, dependences)?),
        // Carried out by `crate::storage` and `crate::connect`, on the finished order.
        Command::StoreIn { .. }
        | Command::CacheShared { .. }
        | Command::CacheRegister { .. }
        | Command::Pad { .. }
        | Command::Constant { .. }
        | Command::CopyIn { .. }
        | Command::CopyOut { .. }
        | Command::Synchronize { .. }
        | Command::Prefetch { .. }
        | Command::Allocate { .. }
        | Command::Free { .. } => {
            return judged(scheduled.clone());
        }
    };
    Ok(Made::Order(schedule))
}

/// Carries out one command on a scheduled program, whose dependences are given; also gives the dependences of the new algorithm after a
/// command that changes them.
///
/// # Errors
/// [`ScheduleError`] where names, nesting or tags do not fit, or where the new order breaks a dependence.
pub fn apply_and_renew(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<(Scheduled, Option<Vec<Dependence>>), Error> {
    let error = match renew_all(ctx, scheduled, dependences, command) {
        Err(error) => error,
        done => return done,
    };
    let apart = small_sizes::carry_out(ctx, scheduled, dependences, command, &error)?;
    apart.map(|(done, all)| (done, Some(all))).ok_or(error)
}

fn renew_all(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<(Scheduled, Option<Vec<Dependence>>), Error> {
    if let Command::Hexagonal { computations, time, loops, height, widths } = command {
        let (tiled, all) = hexagonal(ctx, scheduled, dependences, computations, time, loops, *height, widths)?;
        return Ok((tiled, Some(all)));
    }
    if let Command::Pieces { computation, first, second } = command {
        let (cut, all) = pieces(ctx, scheduled, dependences, computation, first, second)?;
        return Ok((cut, Some(all)));
    }
    if let Command::PiecesBySize { computation, condition } = command {
        let (cut, all) = pieces_by_size(ctx, scheduled, dependences, computation, condition)?;
        return Ok((cut, Some(all)));
    }
    if let Command::Owners { computations, count } = command {
        let (owned, all) = owners(ctx, scheduled, dependences, computations, *count)?;
        return Ok((owned, Some(all)));
    }
    if let Command::Overlapped { computation, time, loops, steps, sizes } = command {
        let (tiled, all) = overlapped_and_renewed(ctx, scheduled, computation, time, loops, *steps, sizes)?;
        return Ok((tiled, Some(all)));
    }
    if let Command::Privatize { array, computation, at } = command {
        let (own, all) = privatize(ctx, scheduled, dependences, array, computation, at)?;
        return Ok((own, Some(all)));
    }
    let changed = apply_to_all(ctx, scheduled, dependences, command)?;
    let renew = || {
        let weight = effort::weight(&changed.algorithm, &changed.schedule);
        ctx.weighed(weight, || crate::dependence::dependences(ctx, &changed.algorithm))
    };
    let renewed = command.changes_accesses().then(renew).transpose()?;
    Ok((changed, renewed))
}
