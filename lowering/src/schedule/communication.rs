//! Communication commands: `copy_in(A, i)`, `allocate(b, i; once=true)` and the like.

use super::error::{CommandError, Expected};
use super::reader::{Call, name};
use tessella_frontend::ast::{Expr, ExprKind};
use tessella_polyhedral::command::{Command, Place, Times};

pub(super) fn copy_in(call: &Call<'_>) -> Result<Command, CommandError> {
    let (array, place) = placed(call, Expected::Array)?;
    Ok(Command::CopyIn { array, place })
}

pub(super) fn copy_out(call: &Call<'_>) -> Result<Command, CommandError> {
    let (array, place) = placed(call, Expected::Array)?;
    Ok(Command::CopyOut { array, place })
}

pub(super) fn allocate(call: &Call<'_>) -> Result<Command, CommandError> {
    let (buffer, place) = placed(call, Expected::Buffer)?;
    Ok(Command::Allocate { buffer, place })
}

pub(super) fn free(call: &Call<'_>) -> Result<Command, CommandError> {
    let (buffer, place) = placed(call, Expected::Buffer)?;
    Ok(Command::Free { buffer, place })
}

pub(super) fn synchronize(call: &Call<'_>) -> Result<Command, CommandError> {
    let [computation, at] = call.exactly()?;
    Ok(Command::Synchronize { computation: call.computation(computation)?, at: call.loop_name(at)? })
}

pub(super) fn prefetch(call: &Call<'_>) -> Result<Command, CommandError> {
    let [array, computation, at, distance] = call.exactly()?;
    Ok(Command::Prefetch {
        array: call.array(array)?,
        computation: call.computation(computation)?,
        at: call.loop_name(at)?,
        distance: call.size(distance)?.into(),
    })
}

/// `(A, i)` or `(A, S, i)`, perhaps with `once=true`.
fn placed(call: &Call<'_>, expected: Expected) -> Result<(String, Place), CommandError> {
    let (what, computation, at) = match call.arguments.as_slice() {
        &[what, computation, at] => (what, Some(computation), at),
        _ => {
            let [what, at] = call.exactly()?;
            (what, None, at)
        }
    };
    let what = name(what).ok_or_else(|| call.wrong(expected, what))?;
    let computation = computation.map(|computation| call.computation(computation)).transpose()?;
    let times = match call.keyword("once") {
        None => Times::Each,
        Some(value) => match flag(value) {
            Some(true) => Times::Once,
            Some(false) => Times::Each,
            None => return Err(call.wrong(Expected::Flag, value)),
        },
    };
    Ok((what, Place { computation, at: call.loop_name(at)?, times }))
}

fn flag(expr: &Expr) -> Option<bool> {
    match expr.kind {
        ExprKind::Bool(value) => Some(value),
        _ => None,
    }
}
