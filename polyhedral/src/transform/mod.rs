//! Carrying out commands: each rewrites the tree, then one legality check accepts or refuses the whole.
//!
//! Every primitive takes the schedule apart from its proof: it returns a new tree, and [`apply`] asks
//! [`legality::check`]. The input is never touched.

mod find;
mod tree;

mod linear;
mod tiles;
mod join;
mod tags;
mod search;
mod sizes;
mod inline;
mod compute_at;
mod overlapped;
mod rfactor;

pub use compute_at::compute_at;
pub use overlapped::{overlapped, overlapped_unproved};
pub use inline::inline;
pub use join::{between, distribute, fuse};
pub use rfactor::rfactor;
pub use linear::{interchange, reverse, shift, skew};
pub use search::{fuse_shifted, skew_auto};
pub use sizes::{assume, specialize};
pub use tags::{check_gpu, gpu, separate, tag};
pub use tiles::{collapse, constant_range, split, tile, unroll_and_jam};

pub(crate) use find::{find_computation, loop_mut};
pub(crate) use tiles::split_at;
pub(crate) use tree::{distribute_at, put_chain, simplify, take_chain};

use crate::command::Command;
use crate::dependence::Dependence;
use crate::error::{Error, ScheduleError};
use crate::isl::Ctx;
use crate::layers::{Scheduled, Target};
use crate::legality;
use crate::order;
use crate::schedule::Tag;
use join::{Side, place};

/// Carries out one command on a scheduled program, whose dependences are given. After a command that
/// [changes accesses](Command::changes_accesses) they are those of the new algorithm.
///
/// # Errors
/// [`ScheduleError`] where names, nesting or tags do not fit, or where the new order breaks a dependence.
pub fn apply(
    ctx: &Ctx,
    scheduled: &Scheduled,
    dependences: &[Dependence],
    command: &Command,
) -> Result<Scheduled, Error> {
    let algorithm = &scheduled.algorithm;
    let schedule = match command {
        Command::UnrollAndJam { computation, at, factor } => unroll_and_jam(ctx, scheduled, computation, at, *factor)?,
        Command::Collapse { computation, outer, inner } => collapse(ctx, scheduled, computation, outer, inner)?,
        Command::Interchange { computation, outer, inner } => interchange(scheduled, computation, outer, inner)?,
        Command::Split { computation, at, size } => split(ctx, scheduled, computation, at, *size)?,
        Command::Tile { computation, loops, sizes } => tile(ctx, scheduled, computation, loops, sizes)?,
        Command::Skew { computation, outer, inner, factor } => skew(scheduled, computation, outer, inner, *factor)?,
        Command::SkewAuto { computation, outer, inner } => {
            skew_auto(ctx, scheduled, dependences, computation, outer, inner)?
        }
        Command::Shift { computation, at, by } => shift(scheduled, computation, at, *by)?,
        Command::Reverse { computation, at } => reverse(scheduled, computation, at)?,
        Command::Parallel { computation, at } => {
            if scheduled.target == Target::Gpu {
                return Err(ScheduleError::NeedsCpu.into());
            }
            tag(scheduled, computation, at, Tag::Parallel)?
        }
        Command::Separate { computation, loops } => {
            if scheduled.target == Target::Gpu {
                return Err(ScheduleError::NeedsCpu.into());
            }
            separate(scheduled, computation, loops)?
        }
        Command::Vectorize { computation, at, width } => tag(scheduled, computation, at, Tag::Vector(*width))?,
        Command::Unroll { computation, at, factor } => tag(scheduled, computation, at, Tag::Unroll(*factor))?,
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
        Command::ComputeAt { computation, reader, at } => return compute_at(ctx, scheduled, computation, reader, at),
        Command::Overlapped { computation, time, loops, steps, sizes } => {
            return overlapped(ctx, scheduled, computation, time, loops, *steps, sizes);
        }
        Command::Inline { computation } => return inline(ctx, scheduled, computation),
        Command::Rfactor { computation, at, size } => {
            return rfactor(ctx, scheduled, dependences, computation, at, *size);
        }
        Command::Assume(condition) => return assume(ctx, scheduled, condition),
        Command::Specialize(condition) => return specialize(ctx, scheduled, condition),
        Command::Order(tree) => order::build(ctx, scheduled, tree)?,
        Command::Auto => return crate::default_order::schedule(ctx, scheduled, dependences),
        // Carried out by `crate::storage`, on the finished order.
        Command::StoreIn { .. }
        | Command::CacheShared { .. }
        | Command::CacheRegister { .. }
        | Command::Pad { .. }
        | Command::Constant { .. } => {
            return Ok(scheduled.clone());
        }
    };
    legality::check(ctx, algorithm, &schedule, dependences)?;
    Ok(Scheduled { schedule, ..scheduled.clone() })
}
