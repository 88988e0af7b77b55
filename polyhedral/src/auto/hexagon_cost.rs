//! What hexagons move, by the counts of the model of tiles ([`crate::models::tiles`]).

use crate::algorithm::{Algorithm, ComputationId};
use crate::error::Error;
use crate::isl::Ctx;
use crate::models::tiles::rows::rows;
use crate::time_tiling::{Found, Hexagon};

/// What isl may count for one stencil.
const COUNTING: u64 = 500_000;
/// Rows of a step by itself that are counted: so many that the first and the last do not.
const MANY: i64 = 64;

/// Elements that move for each result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moved {
    pub(crate) hexagons: f64,
    /// Where each sweep over space is a pass of its own.
    pub(crate) steps: f64,
}

/// What hexagons along the outermost dimension of a stencil move, and what its steps move without; `None` where points are not all
/// alike, where hexagons are larger than the model looks, or where counting takes too long.
pub(crate) fn moved(
    ctx: &Ctx,
    algorithm: &Algorithm,
    found: &Found,
    (height, width): (u32, u32),
) -> Result<Option<Moved>, Error> {
    let Some([delta0, delta1]) = found.slopes.as_ref().and_then(|slopes| slopes.first().copied()) else {
        return Ok(None);
    };
    let ids: Vec<ComputationId> = found.stencil.step.keys().copied().collect();
    let share = ctx.operations_left().map_or(COUNTING, |left| (left / 8).clamp(1, COUNTING));
    let counted = match ctx.with_budget(share, || rows(ctx, algorithm, &ids)) {
        Ok(Some(counted)) => counted,
        Ok(None) => return Ok(None),
        Err(error) if error.is_quota() => return Ok(None),
        Err(other) => return Err(other),
    };
    let hexagon = Hexagon { height: i64::from(height), width: i64::from(width), delta0, delta1 };
    let all: Vec<Option<(i64, i64)>> = (0..hexagon.steps()).map(|step| hexagon.row(step)).collect();
    // `u = sweeps * t + k`: which of the hexagon's steps a computation runs in an iteration of the time loop.
    let step = |id: ComputationId, iteration: i64| -> Option<i64> {
        let u = found.stencil.step.get(&id)?;
        let [(_, sweeps)] = u.terms() else { return None };
        Some(sweeps * iteration + u.constant_term().rem_euclid(*sweeps))
    };
    let row = |id: ComputationId, iteration: i64| {
        let at = step(id, iteration).and_then(|at| usize::try_from(at).ok())?;
        all.get(at).copied().flatten()
    };
    let Some(hexagons) = counted.cost(hexagon.steps(), &row) else { return Ok(None) };
    let mut sum = (0, 0);
    for &one in &ids {
        let sweep = |id: ComputationId, _: i64| (id == one).then_some((0, MANY - 1));
        let Some(cost) = counted.cost(1, &sweep) else { return Ok(None) };
        sum = (sum.0 + cost.loads + cost.stores, sum.1 + cost.useful);
    }
    Ok(Some(Moved { hexagons: hexagons.moved(), steps: sum.0 as f64 / sum.1.max(1) as f64 }))
}
