//! Sums of a few terms for each point of a step: loops that become their terms.
//!
//! A stencil of many points is often written as a loop over its offsets, `for r in 1:4; s += c[r] * (A[i-r, j] + A[i+r, j]); end`. As its
//! terms, one after the other and in the same order, it is one value of the point, as if it had been written out: statements of one point take
//! part in tilings of time, where a variable that is updated in a loop of its own does not.

use super::check::Checker;
use super::tree::{Expr, Role};
use super::value::Value;
use super::walk::mentions;
use crate::ast;

/// Points have this many terms at most: a box of 3 x 3 x 3 points has 27.
const MOST_TERMS: i64 = 32;

/// The statements that a term has at most.
const MOST_STATEMENTS: usize = 4;

impl Checker<'_> {
    /// The values of an iterator over terms of a point, if they are few and constants. The loops are those of a step where a loop
    /// around them says nothing about the terms, only repeats them: elsewhere, sums stay loops, which orders may share out among threads.
    pub(super) fn offsets_of_terms(
        &self,
        iteration: &ast::Iteration,
        rest: &[ast::Iteration],
        body: &[ast::Expr],
    ) -> Option<Vec<Value>> {
        let mut count: i64 = 1;
        for it in std::iter::once(iteration).chain(rest) {
            let (first, step, last) = constant_range(&it.range)?;
            let length = (last.checked_sub(first)?.checked_div(step)?.checked_add(1)?).max(0);
            count = count.checked_mul(length)?;
        }
        if !(1..=MOST_TERMS).contains(&count) || !self.are_terms(body) {
            return None;
        }
        let says = |name: &str| body.iter().any(|statement| mentions(statement, &[name]));
        let around = self.locals.iter().filter(|it| matches!(it.role, Role::Iterator(id) if self.loops.contains(&id)));
        let (telling, repeating): (Vec<&str>, Vec<&str>) =
            around.map(|it| it.name.as_str()).partition(|name| says(name));
        if telling.is_empty() || repeating.is_empty() {
            return None;
        }
        let (first, step, last) = constant_range(&iteration.range)?;
        let values = std::iter::successors(Some(first), |value| value.checked_add(step));
        let values = values.take_while(|&value| if step > 0 { value <= last } else { value >= last });
        Some(values.map(|value| Value::Scalar(Expr::int64(value, iteration.range.span))).collect())
    }

    /// Whether the statements only set variables, one of them known before.
    fn are_terms(&self, body: &[ast::Expr]) -> bool {
        let variable = |statement: &ast::Expr| match &statement.kind {
            ast::ExprKind::Assign { broadcast: ast::Broadcast::No, target, .. } => match &target.kind {
                ast::ExprKind::Name(name) => Some(self.lookup(name).is_some()),
                _ => None,
            },
            _ => None,
        };
        let known: Option<Vec<bool>> = body.iter().map(variable).collect();
        known.is_some_and(|known| known.len() <= MOST_STATEMENTS && known.contains(&true))
    }
}

/// First value, step and last value of a range of written integers.
fn constant_range(range: &ast::Expr) -> Option<(i64, i64, i64)> {
    let ast::ExprKind::Range { start, step, stop } = &range.kind else { return None };
    let step = step.as_deref().map_or(Some(1), constant)?;
    Some((constant(start)?, step, constant(stop)?)).filter(|_| step != 0)
}

/// An integer as it is written.
fn constant(expr: &ast::Expr) -> Option<i64> {
    match &expr.kind {
        ast::ExprKind::Integer(text) => text.parse().ok(),
        ast::ExprKind::Prefix { operator, operand } if operator.value.symbol == "-" => constant(operand)?.checked_neg(),
        _ => None,
    }
}
