//! Whether a launch runs all iterations of a loop that it spreads over the GPU.
//!
//! The number of threads and blocks comes from the values that a loop takes; threads count from the lower bound that isl
//! printed. isl promises that no value lies outside of the printed bounds, not that the bounds are reached: they may
//! hold for several parts of a domain together. Here that is proved, or mended.

use super::Extract;
use crate::error::CodegenError;
use crate::extent::{Hull, hull, iterations, rough_hull, value_range, values_fill_bounds};
use crate::int_expr::{Cond, IntExpr};
use crate::program::{For, Guard, Node};
use crate::whole_tiles::{Values, affine, parts};
use tessella_polyhedral::affine::Affine;
use tessella_scalar::CompareOp;

/// What isl may do for the exact values of a loop over blocks: some hundred times what plain tiles take. Beyond, where bounds are
/// divided by factors of a skew, rough values do, and blocks too many find nothing to do.
const OPERATIONS: u64 = 40_000;
/// So many blocks take longer to start and to end than to count.
const MANY_BLOCKS: i64 = 64;

impl Extract<'_> {
    /// A thread loop that so many threads can share, and whether they take turns.
    ///
    /// Rewrite, where nothing bounds the distance of its bounds: `for x in l:u -> for x in max(l, 0):min(u, 7)`, with the
    /// values that the loop ever takes.
    pub(super) fn covered_by_threads(&self, it: For, threads: i64) -> Result<(For, Guard), CodegenError> {
        if are_within(&it.lower, &it.upper, threads.saturating_mul(it.step)) {
            return Ok((it, Guard::Needed));
        }
        // With another step, a bound in the lower one's place could start between two values.
        if it.step == 1
            && let Some((low, high)) = value_range(self.input, self.context, &self.loops[&it.variable])?
            && high - low < threads
        {
            let lower = IntExpr::max_of([IntExpr::Const(low), it.lower]);
            let upper = IntExpr::min_of([IntExpr::Const(high), it.upper]);
            return Ok((For { lower, upper, ..it }, Guard::Needed));
        }
        Ok((it, Guard::Turns))
    }

    /// A block loop below the block loops `around`, and the number of blocks along its axis.
    ///
    /// Rewrite: `for b in l(a):u(a) { S } -> for b in low:high { if l(a) <= b <= u(a) { S } }`, where the values for one `a` may
    /// be fewer than the distance of the bounds; `low` and `high` hold for all `a`.
    pub(super) fn covered_by_blocks(&self, it: For, around: &[For]) -> Result<(For, IntExpr), CodegenError> {
        let path = &self.loops[&it.variable];
        let filled = || -> Result<Option<IntExpr>, CodegenError> {
            let fills = values_fill_bounds(self.input, self.context, path, &self.host, around, &it)?;
            fills.then(|| iterations(self.input, self.context, path, it.step, &self.host)).transpose()
        };
        if let Some(count) = self.within(filled)?.flatten() {
            return Ok((it, count));
        }
        let exact = || hull(self.input, self.context, path, &self.host);
        let found = match self.within(exact)? {
            Some(hull) => Some(hull),
            None => rough_hull(self.input, self.context, path, &self.host)?,
        };
        let Hull { low, high, exists } = found.map_or_else(exact, Ok)?;
        let here = IntExpr::Variable(it.variable);
        let mut inside = vec![
            Cond::compare(CompareOp::Ge, here.clone(), it.lower.clone()),
            Cond::compare(CompareOp::Le, here.clone(), it.upper),
        ];
        if it.step != 1 {
            let rest = IntExpr::Mod(Box::new(here.minus(it.lower)), it.step);
            inside.push(Cond::compare(CompareOp::Eq, rest, IntExpr::Const(0)));
        }
        let body = vec![Node::If { condition: Cond::all_of(inside), then: it.body, otherwise: vec![] }];
        let count = high.clone().minus(low.clone()).plus(IntExpr::Const(1));
        Ok((For { lower: low, upper: high, step: 1, body, ..it }, where_any(exists, count)))
    }

    /// A block loop whose body asks which blocks have something to do, and the number of blocks: no more than up to the last one that does,
    /// where isl tells that.
    pub(super) fn blocks_with_work(&self, it: For, blocks: IntExpr) -> Result<(For, IntExpr), CodegenError> {
        let asks = matches!(it.body.as_slice(), [Node::If { .. }]);
        if !asks || !matches!(blocks, IntExpr::Const(MANY_BLOCKS..)) {
            return Ok((it, blocks));
        }
        let path = &self.loops[&it.variable];
        let Some(Hull { high, exists, .. }) = self.within(|| hull(self.input, self.context, path, &self.host))? else {
            return Ok((it, blocks));
        };
        let count = high.clone().minus(it.lower.clone()).floor_div(it.step).plus(IntExpr::Const(1));
        Ok((For { upper: high, ..it }, where_any(exists, count)))
    }

    /// Does isl's work with so many operations, or a quarter of those left if they are fewer; `None` where that is not enough.
    fn within<T>(&self, work: impl FnOnce() -> Result<T, CodegenError>) -> Result<Option<T>, CodegenError> {
        let ctx = self.context.ctx();
        let most = ctx.operations_left().map_or(OPERATIONS, |left| OPERATIONS.min(left / 4).max(1));
        match ctx.with_budget(most, work) {
            Ok(done) => Ok(Some(done)),
            Err(CodegenError::Isl(error)) if error.is_quota() => Ok(None),
            Err(other) => Err(other),
        }
    }
}

/// A number of blocks that is none where nothing exists.
fn where_any(exists: Cond, count: IntExpr) -> IntExpr {
    match exists {
        Cond::Const(true) => count,
        exists => IntExpr::Select(Box::new(exists), Box::new(count), Box::new(IntExpr::Const(0))),
    }
}

/// Whether a loop's last value is surely less than `reach` above its first.
fn are_within(lower: &IntExpr, upper: &IntExpr, reach: i64) -> bool {
    let (low, high) = (parts(lower, true), parts(upper, false));
    // The lower bound is no less than each of its parts, the upper one no more.
    low.iter().any(|low| high.iter().any(|high| distance(low, high).is_some_and(|distance| distance < reach)))
}

/// `high - low`, if that is the same everywhere.
fn distance(low: &IntExpr, high: &IntExpr) -> Option<i64> {
    let mut variables = Values::new();
    for expr in [low, high] {
        expr.walk(&mut |expr| {
            if let IntExpr::Variable(variable) = expr {
                variables.insert(*variable, Affine::iterator(variable.0));
            }
        });
    }
    match (affine(low, &variables), affine(high, &variables)) {
        (Some(low), Some(high)) => high.sub(&low).ok()?.as_constant(),
        _ => high.clone().minus(low.clone()).as_const(),
    }
}
