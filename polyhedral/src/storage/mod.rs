//! Layer III by command: where values lie, beyond what [`crate::place`] chooses.
//!
//! The commands speak of the finished order, so they are carried out after all commands on it. Promotions come first:
//! they add an array and the statements that fill it and write it back, and what results is proved like any program.
//! Then every array gets a place, the user's maps are checked ([`store`]), arguments go to constant memory ([`constant`]),
//! and extents are padded.

mod constant;
pub mod error;
pub(crate) mod find;
pub(crate) mod footprint;
mod order;
mod pad;
pub(crate) mod private;
mod promote;
mod shift;
mod store;
mod tiles;

pub use constant::CONSTANT_BYTES;
pub(crate) use constant::{most_elements, total_bytes};
pub use error::{Filled, Limit, Overwrite, SharedBuffer, StorageError};
pub(crate) use footprint::uses;
pub use shift::Lead;

use crate::affine::{Affine, Atom};
use crate::algorithm::{Algorithm, ArrayId};
use crate::command::{AxisOrder, Command};
use crate::dependence::Dependence;
use crate::error::Error;
use crate::isl::Ctx;
use crate::layers::{Buffer, Lifetime, MemorySpace, Placed, Scheduled, Target};
use crate::legality;
use crate::place;
use crate::transform;
use promote::{Promotion, Where};
pub(crate) use promote::{check_limit, check_together};
use std::collections::BTreeMap;

/// A program with storage, and what its statements now depend on.
#[derive(Debug, Clone)]
pub struct Stored {
    pub placed: Placed,
    /// All memory-based dependences of the program as it is placed.
    pub dependences: Vec<Dependence>,
}

/// A failure, and the position of the command that caused it.
#[derive(Debug, Clone)]
pub struct Failure {
    pub command: Option<usize>,
    pub error: Box<Error>,
    /// What the error's statements and arrays belong to: promotions add some.
    pub algorithm: Box<Algorithm>,
}

impl Command {
    /// Whether the command is about storage: those are carried out after all others.
    pub fn is_storage(&self) -> bool {
        matches!(
            self,
            Command::StoreIn { .. }
                | Command::CacheShared { .. }
                | Command::CacheRegister { .. }
                | Command::Pad { .. }
                | Command::Constant { .. }
        )
    }

    /// Whether the command is about copies, barriers and the lives of buffers: those come last.
    pub fn is_communication(&self) -> bool {
        matches!(
            self,
            Command::CopyIn { .. }
                | Command::CopyOut { .. }
                | Command::Synchronize { .. }
                | Command::Prefetch { .. }
                | Command::Allocate { .. }
                | Command::Free { .. }
        )
    }
}

/// Places a scheduled program: by the storage commands among `commands`, by default where none speaks.
///
/// # Errors
/// [`StorageError`], and [`crate::error::ScheduleError::Illegal`] where a promotion would run into parallel loops.
pub fn carry_out(
    ctx: &Ctx,
    scheduled: Scheduled,
    dependences: &[Dependence],
    commands: &[Command],
) -> Result<Stored, Failure> {
    let source = scheduled.algorithm.clone();
    // With the copies of promotions in place, this could no longer be asked.
    let mapped = transform::check_gpu(&scheduled, &scheduled.schedule);
    mapped.map_err(|error| Failure {
        command: None,
        error: Box::new(error.into()),
        algorithm: Box::new(source.clone()),
    })?;
    let mut scheduled = scheduled;
    let mut dependences = dependences.to_vec();
    let mut promotions: Vec<Promotion> = vec![];
    // The order itself is the user's: it is proved before anything is added.
    let first =
        commands.iter().position(|it| matches!(it, Command::CacheShared { .. } | Command::CacheRegister { .. }));
    if let Some(position) = first {
        let proved = legality::check(ctx, &source, &scheduled.schedule, &dependences);
        proved.map_err(|error| failure(position, error, &source))?;
    }
    for (position, command) in commands.iter().enumerate() {
        let (array, computation, at, to) = match command {
            Command::CacheShared { array, computation, at, ahead, axes, filling } => {
                (array, computation, at, (Where::Shared { ahead: *ahead, filling: *filling }, axes))
            }
            Command::CacheRegister { array, computation, at } => {
                (array, computation, at, (Where::Register, &AxisOrder::default()))
            }
            _ => continue,
        };
        let done = promote::promote(ctx, (&scheduled, &dependences), array, computation, at, to);
        let (next, promotion, renewed) = done.map_err(|refused| {
            let algorithm = refused.algorithm.unwrap_or_else(|| Box::new(scheduled.algorithm.clone()));
            Failure { command: Some(position), error: refused.error, algorithm }
        })?;
        scheduled = next;
        dependences = renewed;
        promotions.push(promotion);
        let limit = promote::check_shared_total(&scheduled, &promotions);
        limit.map_err(|error| failure(position, error.into(), &scheduled.algorithm))?;
        let limit = promote::check_threads_together(ctx, &scheduled, &promotions);
        limit.map_err(|error| failure(position, error, &scheduled.algorithm))?;
    }
    let algorithm = Box::new(scheduled.algorithm.clone());
    let unplaced = |error| Failure { command: None, error: Box::new(error), algorithm };
    let chosen = promotions.iter().map(|it| (it.array, it.buffer(&scheduled))).collect();
    let promoted = !promotions.is_empty();
    let mut placed = place::place_with(ctx, scheduled, chosen).map_err(unplaced)?;
    if promoted {
        placed.source = Some(source.clone());
    }
    store(ctx, &source, &mut placed, &dependences, commands)?;
    for it in &promotions {
        let proved = it.check_ahead(ctx, &placed, &dependences);
        proved.map_err(|error| Failure {
            command: None,
            error: Box::new(error),
            algorithm: Box::new(placed.scheduled.algorithm.clone()),
        })?;
    }
    for (position, command) in commands.iter().enumerate() {
        if let Command::Constant { array } = command {
            constant::place(ctx, &source, &mut placed, array).map_err(|error| failure(position, error, &source))?;
        }
    }
    // Whatever stands before or behind it, what lies in constant memory is known by now.
    for (position, command) in commands.iter().enumerate() {
        if let Command::Pad { array, by, columns } = command {
            pad::carry_out(&source, &mut placed, &promotions, array, by, *columns)
                .map_err(|error| failure(position, error.into(), &source))?;
        }
    }
    // Rows are shifted within their padding.
    placed.layout.ahead = promotions.iter().filter_map(|it| it.ahead(&placed)).collect();
    Ok(Stored { placed, dependences })
}

fn failure(position: usize, error: Error, algorithm: &Algorithm) -> Failure {
    Failure { command: Some(position), error: Box::new(error), algorithm: Box::new(algorithm.clone()) }
}

/// Carries out all `store_in` commands, those of one buffer together.
fn store(
    ctx: &Ctx,
    source: &Algorithm,
    placed: &mut Placed,
    dependences: &[Dependence],
    commands: &[Command],
) -> Result<(), Failure> {
    let mut buffers: BTreeMap<&str, Vec<(ArrayId, Vec<Affine>)>> = BTreeMap::new();
    for (position, command) in commands.iter().enumerate() {
        let Command::StoreIn { computation, buffer, iterators, map } = command else { continue };
        let now = placed.scheduled.algorithm.clone();
        let fail = |error: Error| failure(position, error, &now);
        let id = find::computation(source, computation).map_err(|error| fail(error.into()))?;
        let array = source.computation(id).write.array;
        let own = store::check_own(source, array, iterators.len()).and_then(|()| {
            let others = buffers.get(buffer.as_str()).into_iter().flatten();
            store::check_buffer(source, buffer, array, map, others)
        });
        own.map_err(|error| fail(error.into()))?;
        let together = buffers.entry(buffer).or_default();
        together.retain(|(known, _)| *known != array);
        together.push((array, map.clone()));
        store::place(ctx, placed, buffer, together).map_err(fail)?;
        store::check(ctx, placed, dependences, together).map_err(fail)?;
    }
    Ok(())
}

/// An expression of iterators as `store_in` reads it: remainders as `%`, other divisions as `fld`.
pub fn julia(place: &Affine, iterators: &[String]) -> String {
    for (atom, factor) in place.terms() {
        let Atom::FloorDiv(inner, divisor) = atom else { continue };
        // `c*e - c*d*floor(e/d)` is `c*(e % d)`.
        let times = -factor / divisor;
        let whole = inner.scale(times).and_then(|scaled| {
            let part = scaled.sub(&Affine::atom(atom.clone()).scale(times.saturating_mul(*divisor))?)?;
            place.sub(&part)
        });
        let Ok(rest) = whole else { continue };
        if times == 0 || factor % divisor != 0 || rest.terms().len() >= place.terms().len() {
            continue;
        }
        let times = if times == 1 { String::new() } else { format!("{times}*") };
        let part = format!("{times}(({}) % {divisor})", julia(inner, iterators));
        return match rest.as_constant() {
            Some(0) => part,
            Some(_) | None => format!("{part} + {}", julia(&rest, iterators)),
        };
    }
    let mut parts = vec![];
    for (atom, factor) in place.terms() {
        let name = match atom {
            Atom::Iterator(position) => iterators[*position as usize].clone(),
            Atom::FloorDiv(inner, divisor) => format!("fld({}, {divisor})", julia(inner, iterators)),
            Atom::Param(param) => format!("parameter {}", param.0),
        };
        parts.push(if *factor == 1 { name } else { format!("{factor}*{name}") });
    }
    if place.constant_term() != 0 || parts.is_empty() {
        parts.push(place.constant_term().to_string());
    }
    parts.join(" + ")
}

/// The memory that holds what the program allocates for a whole call.
fn call_space(target: Target) -> MemorySpace {
    match target {
        Target::Cpu => MemorySpace::Host,
        Target::Gpu => MemorySpace::Global,
    }
}

/// A buffer for a whole call.
fn call_buffer(name: &str, like: &crate::algorithm::Array, extents: Vec<Affine>, target: Target) -> Buffer {
    Buffer {
        name: name.to_string(),
        element: like.element,
        extents,
        space: call_space(target),
        lifetime: Lifetime::Call,
    }
}
