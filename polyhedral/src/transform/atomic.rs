//! Updates that the threads of a GPU make at one time, each in one piece.

use super::find::find_computation;
use crate::algorithm::{Algorithm, ComputationId};
use crate::error::{AtomicObstacle, Error, ScheduleError};
use crate::expr::{Expr, ExprKind};
use crate::layers::{Scheduled, Target};
use crate::reduction::{Operator, UpdateOrder, reduction};
use tessella_scalar::{BinaryOp, ScalarType};

/// What an atomic update does to its element: `a = a op e`.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    /// A sum, a difference, a minimum or a maximum.
    pub operator: BinaryOp,
    /// `e`
    pub operand: &'a Expr,
}

/// Has a reduction update its element in one piece, so that loops which carry nothing but its updates may run on blocks
/// and threads. Integers wrap around, so the result does not depend on who comes first; that of floats does, in the last bits, which the source
/// has to permit.
///
/// # Errors
/// [`ScheduleError::CannotBeAtomic`] unless `S` is `a = a op e` with `+`, `-`, `min` or `max` on integers of 32 or 64 bits, or with `+` or `-`
/// on floats under `@fastmath`, and [`ScheduleError::NeedsGpu`] on a CPU.
pub fn atomic(scheduled: &Scheduled, computation: &str) -> Result<Scheduled, Error> {
    let id = find_computation(&scheduled.algorithm, computation)?;
    if scheduled.target != Target::Gpu {
        return Err(ScheduleError::NeedsGpu.into());
    }
    update(&scheduled.algorithm, id).map_err(|obstacle| {
        let computation = computation.to_string();
        ScheduleError::CannotBeAtomic { computation, obstacle }
    })?;
    let mut next = scheduled.clone();
    next.algorithm.computations[id.0 as usize].atomic = true;
    Ok(next)
}

/// The update that a computation is, if a GPU has an instruction for it.
pub fn update(algorithm: &Algorithm, id: ComputationId) -> Result<Update<'_>, AtomicObstacle> {
    let it = algorithm.computation(id);
    let found = reduction(algorithm, id).ok_or(AtomicObstacle::NoReduction)?;
    let has_instruction = match it.value.ty {
        ScalarType::I32 | ScalarType::U32 | ScalarType::I64 | ScalarType::U64 => true,
        ScalarType::F32 | ScalarType::F64 => found.operator == Operator::Sum,
        ScalarType::Bool | ScalarType::I8 | ScalarType::U8 | ScalarType::I16 | ScalarType::U16 => false,
    };
    if !has_instruction {
        return Err(AtomicObstacle::Type);
    }
    if found.order != UpdateOrder::Any {
        return Err(AtomicObstacle::Order);
    }
    let ExprKind::Binary(operator, left, right) = &it.value.kind else { return Err(AtomicObstacle::NoReduction) };
    let is_old = |expr: &Expr| matches!(expr.kind, ExprKind::Read(at) if it.reads[at as usize].array == it.write.array);
    let operand = match operator {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Min | BinaryOp::Max if is_old(left) => right,
        BinaryOp::Add | BinaryOp::Min | BinaryOp::Max if is_old(right) => left,
        _ => return Err(AtomicObstacle::NoReduction),
    };
    Ok(Update { operator: *operator, operand })
}
