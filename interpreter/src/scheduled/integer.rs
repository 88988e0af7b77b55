//! Bounds, guards and subscripts.

use super::error::ScheduledError;
use tessella_codegen::int_expr::{Cond, IntExpr};
use tessella_polyhedral::affine::{Affine, Atom};
use tessella_scalar::CompareOp;

const OVERFLOW: ScheduledError = ScheduledError::NoValue { reason: "it passes 64 bits" };

fn fits(value: i128) -> Result<i64, ScheduledError> {
    i64::try_from(value).map_err(|_| OVERFLOW)
}

fn floor(dividend: i64, divisor: i64) -> i64 {
    let rest = dividend % divisor;
    if rest < 0 { dividend / divisor - 1 } else { dividend / divisor }
}

/// The value of an expression over parameters and variables.
pub(super) fn value(expr: &IntExpr, params: &[i64], variables: &[Option<i64>]) -> Result<i64, ScheduledError> {
    let of = |expr: &IntExpr| value(expr, params, variables);
    let wide = |expr: &IntExpr| of(expr).map(i128::from);
    match expr {
        IntExpr::Const(value) => Ok(*value),
        IntExpr::Param(param) => {
            params.get(param.0 as usize).copied().ok_or(ScheduledError::NoValue { reason: "a parameter has no value" })
        }
        IntExpr::Variable(variable) => variables
            .get(variable.0 as usize)
            .copied()
            .flatten()
            .ok_or(ScheduledError::NoValue { reason: "a variable has no value" }),
        IntExpr::Add(a, b) => fits(wide(a)? + wide(b)?),
        IntExpr::Sub(a, b) => fits(wide(a)? - wide(b)?),
        IntExpr::Mul(a, b) => fits(wide(a)? * wide(b)?),
        IntExpr::Neg(a) => fits(-wide(a)?),
        IntExpr::FloorDiv(a, divisor) => Ok(floor(of(a)?, *divisor)),
        IntExpr::Div(a, divisor) => match of(a)? {
            dividend if dividend < 0 && dividend % divisor != 0 => {
                Err(ScheduledError::NoValue { reason: "a division that must be exact is not" })
            }
            dividend => Ok(dividend / divisor),
        },
        IntExpr::Mod(a, divisor) => Ok(of(a)? % divisor),
        IntExpr::Min(all) => extremum(all.iter().map(of), i64::min),
        IntExpr::Max(all) => extremum(all.iter().map(of), i64::max),
        IntExpr::Select(condition, yes, no) => match holds(condition, params, variables)? {
            true => of(yes),
            false => of(no),
        },
        IntExpr::Quotient(a, b) => match of(b)? {
            divisor if divisor > 0 => Ok(of(a)? / divisor),
            _ => Err(ScheduledError::NoValue { reason: "a division by a number that is not positive" }),
        },
        IntExpr::Parts(parts, columns, rows) => Ok(parts.number(of(columns)?, of(rows)?)),
    }
}

fn extremum(
    mut all: impl Iterator<Item = Result<i64, ScheduledError>>,
    choose: fn(i64, i64) -> i64,
) -> Result<i64, ScheduledError> {
    let first = all.next().ok_or(ScheduledError::NoValue { reason: "an extremum of nothing" })??;
    all.try_fold(first, |sofar, next| Ok(choose(sofar, next?)))
}

/// Whether a condition holds.
pub(super) fn holds(condition: &Cond, params: &[i64], variables: &[Option<i64>]) -> Result<bool, ScheduledError> {
    match condition {
        Cond::Const(value) => Ok(*value),
        Cond::Compare(operator, a, b) => {
            let (a, b) = (value(a, params, variables)?, value(b, params, variables)?);
            Ok(match operator {
                CompareOp::Eq => a == b,
                CompareOp::Ne => a != b,
                CompareOp::Lt => a < b,
                CompareOp::Le => a <= b,
                CompareOp::Gt => a > b,
                CompareOp::Ge => a >= b,
            })
        }
        Cond::And(all) => {
            for part in all {
                if !holds(part, params, variables)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Cond::Or(all) => {
            for part in all {
                if holds(part, params, variables)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

/// The value of an affine expression; `None` where it needs an iterator that has none.
pub(super) fn affine(expr: &Affine, iterators: &[Option<i64>], params: &[i64]) -> Result<Option<i64>, ScheduledError> {
    let mut sum = i128::from(expr.constant_term());
    for (atom, factor) in expr.terms() {
        let value = match atom {
            Atom::Iterator(position) => iterators.get(*position as usize).copied().flatten(),
            Atom::Param(param) => params.get(param.0 as usize).copied(),
            Atom::FloorDiv(inner, divisor) => affine(inner, iterators, params)?.map(|inner| floor(inner, *divisor)),
        };
        let Some(value) = value else { return Ok(None) };
        sum += i128::from(value) * i128::from(*factor);
    }
    fits(sum).map(Some)
}
